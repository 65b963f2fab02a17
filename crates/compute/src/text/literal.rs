//! Converts written numbers to elements of a type.

use super::{
    arguments::Lowered,
    parse::{Expr, Item, What},
};
use crate::{
    Range, Scalar, TextPlace,
    error::wrong,
    tensor::{Literal, Unfit, number, parse_literal, parse_nearest},
};

/// `0..1000`: from the first number to just below the second.
pub(crate) fn range(scalar: Scalar, ends: &[Item; 2]) -> Lowered<Range> {
    // The end may be one more than the greatest number.
    let wider = match scalar {
        Scalar::Int { bits, .. } if scalar.is_signed() || bits < 128 => {
            Scalar::signed(bits.saturating_add(2).min(128))
        }
        Scalar::Fixed { bits: bits @ ..128, frac } => Scalar::Fixed { bits: bits + 1, frac },
        scalar if scalar.is_number() => scalar,
        scalar => {
            return Err(wrong(ends[0].place, format!("a range of {scalar}"), "numbers alone have one"));
        }
    };
    let end = |item: &Item| {
        let bits = literal(wider, &item.text, item.place)?;
        number(wider, bits).ok_or_else(|| {
            wrong(item.place, format!("{} is too large for a range", item.text), "take a smaller number")
        })
    };
    let [low, end] = [end(&ends[0])?, end(&ends[1])?];
    if low >= end {
        return Err(wrong(ends[1].place, "a range of nothing", "its end lies above its start"));
    }
    Ok(Range { low, high: end - 1 })
}

pub(crate) fn whole(expr: &Expr) -> Lowered<u64> {
    match &expr.what {
        What::Number(digits, false) => digits.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| wrong(expr.place, "no number stands here", "write a number from 0"))
}

pub(crate) fn literal(scalar: Scalar, text: &str, place: TextPlace) -> Lowered<u128> {
    if scalar == Scalar::Place || scalar.bits() > 128 {
        return Err(wrong(
            place,
            format!("{text} stands for a {scalar}"),
            "write const(…) for long strings of bits",
        ));
    }
    parse_literal(scalar, text).map_err(|unfit| match unfit {
        Unfit::Form => wrong(
            place,
            format!("{text} is no {scalar}"),
            "write numbers as 17, -3, 0.25 or 0x1f, bits as 0x1f",
        ),
        Unfit::Range => {
            wrong(place, format!("{text} does not fit {scalar}"), "take a wider type, or a smaller number")
        }
        Unfit::Inexact => {
            let nearest = parse_nearest(scalar, text).map(|(bits, _)| Literal(scalar, bits).to_string());
            let remedy = nearest.map_or_else(
                |_| "write a whole number, or take a fixed type".to_owned(),
                |nearest| {
                    format!(
                        "write {nearest}, the nearest that there is; more fractional bits have nearer ones"
                    )
                },
            );
            wrong(place, format!("{text} is not exact in {scalar}"), remedy)
        }
    })
}

/// A long string of bits, as 0x and digits.
pub(crate) fn wide(words: &mut [u64], scalar: Scalar, text: &str, place: TextPlace) -> Lowered<()> {
    let refuse = || wrong(place, format!("{text} is no {scalar}"), "write 0x and as many digits as it needs");
    let digits = text.strip_prefix("0x").filter(|d| !d.is_empty()).ok_or_else(refuse)?;
    for (i, digit) in digits.chars().rev().enumerate() {
        let digit = u64::from(digit.to_digit(16).ok_or_else(refuse)?);
        let room = scalar.bits().saturating_sub(4 * i).min(4);
        if digit >> room != 0 {
            return Err(refuse());
        }
        if digit != 0 {
            words[i / 16] |= digit << (4 * (i % 16));
        }
    }
    Ok(())
}
