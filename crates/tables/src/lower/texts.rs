//! Strings: patterns as circuits, and the order of bytes.

use super::{bytes::or, cell::Cell};
use crate::algebra::Token;
use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::{Comparison, Netlist, Op, Scalar, Val};

/// Parts of a string of at most 128 bits each, as numbers, the first bytes first. Comparing them in
/// turn compares the strings.
pub(crate) fn numbers(val: Val<'_>) -> Vec<Val<'_>> {
    let Some(ty) = val.ty() else { return vec![val] };
    let bits = ty.scalar.bits() as u16;
    let parts = (0..bits).step_by(128).map(|from| (bits.saturating_sub(from + 128), bits - from));
    parts.map(|(from, to)| val.part(from, to).cast(Scalar::unsigned((to - from) as u8))).collect()
}

/// Whether the comparison holds for two strings of one width.
pub(crate) fn compared<'b>(comparison: Comparison, a: Val<'b>, b: Val<'b>) -> Val<'b> {
    let less = |a: Val<'b>, b: Val<'b>| {
        let pairs = numbers(a).into_iter().zip(numbers(b)).rev();
        let one = |below: Option<Val<'b>>, (x, y): (Val<'b>, Val<'b>)| {
            let here = x.less(y);
            Some(below.map_or(here, |below| here | (x.equals(y) & below)))
        };
        pairs.fold(None, one).expect("a string has a byte")
    };
    match comparison {
        Comparison::Less => less(a, b),
        Comparison::Greater => less(b, a),
        Comparison::LessOrEqual => !less(b, a),
        Comparison::GreaterOrEqual => !less(a, b),
        _ => a.compare(comparison, b),
    }
}

/// Whether a string matches a pattern.
pub(crate) fn like<'b>(of: Cell<'b>, tokens: &[Token]) -> Val<'b> {
    let Some(ty) = of.val.ty() else { return of.val };
    let circuit = matcher(ty.scalar.bits() / 8, tokens);
    let b = of.val.builder();
    match circuit {
        Ok(circuit) => b.apply(Op::Circuit(circuit), &[of.val]).cast(Scalar::Bool),
        Err(known) => super::numbers::truth(b, known),
    }
}

/// A circuit that reads a padded string byte by byte and tracks which prefixes of the pattern may
/// end there. It is a truth value if the pattern alone decides. It has one AND per byte and prefix,
/// and seven per byte and distinct letter.
fn matcher(bytes: usize, tokens: &[Token]) -> Result<Netlist, bool> {
    let mut c = Circuits::new();
    let text = c.input(8 * bytes);
    let byte = |k: usize| &text[8 * (bytes - 1 - k)..8 * (bytes - k)];
    let some = |c: &mut Circuits, bits: &[Bit]| {
        let ends: Vec<Bit> = bits.iter().map(|bit| c.not(*bit)).collect();
        let none = all(c, ends);
        c.not(none)
    };
    // After a `%`, a prefix may end wherever the shorter prefix without it may end.
    let closed = |c: &mut Circuits, states: &mut [Bit]| {
        for (k, token) in tokens.iter().enumerate() {
            if *token == Token::Many {
                states[k + 1] = or(c, states[k + 1], states[k]);
            }
        }
    };
    let mut states = vec![Bit::ZERO; tokens.len() + 1];
    states[0] = Bit::ONE;
    closed(&mut c, &mut states);
    let mut accepted = Bit::ZERO;
    let mut within = Bit::ONE;
    for k in 0..bytes {
        let here = some(&mut c, byte(k));
        // The string ends before this byte.
        let no_more = c.not(here);
        let ends = c.and(within, no_more);
        let at_end = c.and(ends, states[tokens.len()]);
        accepted = c.xor(accepted, at_end);
        // In UTF-8, bytes 10…… continue a character.
        let continues = if tokens.contains(&Token::One) {
            let not = c.not(byte(k)[6]);
            c.and(byte(k)[7], not)
        } else {
            Bit::ZERO
        };
        // A continuation byte is not 0.
        let begins = c.xor(here, continues);
        let mut letters: Vec<(u8, Bit)> = vec![];
        let mut next = vec![Bit::ZERO; tokens.len() + 1];
        for (at, token) in tokens.iter().enumerate() {
            // The state after one character remains until the next character begins.
            if *token == Token::One && states[at + 1] != Bit::ZERO {
                next[at + 1] = or_and(&mut c, next[at + 1], states[at + 1], continues);
            }
            if states[at] == Bit::ZERO {
                continue;
            }
            match token {
                Token::Many => next[at] = or(&mut c, next[at], states[at]),
                Token::One => next[at + 1] = or_and(&mut c, next[at + 1], states[at], begins),
                Token::Byte(letter) => {
                    let known = letters.iter().find(|(l, _)| l == letter).map(|(_, bit)| *bit);
                    let is = known.unwrap_or_else(|| {
                        let bits = byte(k).iter().enumerate();
                        let same = bits.map(|(i, bit)| if letter >> i & 1 == 1 { *bit } else { c.not(*bit) });
                        let same = same.collect();
                        let is = all(&mut c, same);
                        letters.push((*letter, is));
                        is
                    });
                    next[at + 1] = or_and(&mut c, next[at + 1], states[at], is);
                }
            }
        }
        closed(&mut c, &mut next);
        (states, within) = (next, here);
    }
    let at_end = c.and(within, states[tokens.len()]);
    accepted = c.xor(accepted, at_end);
    if accepted == Bit::ZERO || accepted == Bit::ONE {
        return Err(accepted == Bit::ONE);
    }
    Ok(Netlist::new(c.finish(&[vec![accepted]])).expect("one input and one output"))
}

fn or_and(c: &mut Circuits, a: Bit, b: Bit, d: Bit) -> Bit {
    let both = c.and(b, d);
    or(c, a, both)
}

fn all(c: &mut Circuits, mut bits: Vec<Bit>) -> Bit {
    while bits.len() > 1 {
        bits =
            bits.chunks(2).map(|two| if two.len() == 2 { c.and(two[0], two[1]) } else { two[0] }).collect();
    }
    bits[0]
}
