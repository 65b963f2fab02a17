//! Pow.

use super::prelude::*;

pub(super) const POW: Operator = Operator {
    inputs: 2,
    error: Bound::share(2.0, 2.0).over("operands from 1/4 to 8, or whole exponents up to 3"),
    ..Operator::new(
        "Pow",
        "The power with one known exponent: by products if it is whole, by roots if it is ±0.5, else e^(y log x) of numbers above 0. The exponent decides what all members compute.",
        read,
    )
};

/// The greatest whole exponent that is computed by products.
const MOST: i32 = 64;

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let Known::Layer(_) = op.input(import, 1)? else {
        let exponents = op.weights(import, 1)?;
        let first = exponents.data.first().copied().unwrap_or(1.0);
        if exponents.data.len() > 1 {
            return match op.input(import, 1)? {
                Known::Ints(lengths, all) => by_places(op, import, &x, &lengths, &all),
                // Values of weights must not decide anything.
                y => by_logarithm(op, import, &x, &y),
            };
        }
        let lengths = import.lengths_of(&x);
        if crate::array::together(&lengths, &exponents.lengths) != Some(lengths) {
            return Err(
                op.error("its exponents have more axes than its value", "export it with one exponent")
            );
        }
        return power(op, import, &x, first);
    };
    let y = op.input(import, 1)?;
    by_logarithm(op, import, &x, &y)
}

/// The power with a known exponent.
fn power(op: &Reading<'_>, import: &mut Import, x: &Known, exponent: f32) -> Result<Known, Fault> {
    let whole = exponent as i32;
    if exponent == 0.5 {
        return op.call(import, "Sqrt", &[x], &[]);
    }
    if exponent == -0.5 {
        let root = op.call(import, "Sqrt", &[x], &[])?;
        return op.call(import, "Reciprocal", &[&root], &[]);
    }
    if whole as f32 == exponent && (1..=MOST).contains(&whole.abs()) {
        let power = products(op, import, x, whole.unsigned_abs())?;
        return if whole < 0 { op.call(import, "Reciprocal", &[&power], &[]) } else { Ok(power) };
    }
    let y = Known::Floats(Arc::new(Array::new(&[1], vec![exponent])));
    by_logarithm(op, import, x, &y)
}

/// The power with known integers as exponents. All elements are raised to each of the exponents,
/// and each place takes the power that it needs.
fn by_places(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    lengths: &[usize],
    all: &[i64],
) -> Result<Known, Fault> {
    let mut once = all.to_vec();
    once.sort_unstable();
    once.dedup();
    if once.len() > 16 {
        return Err(op.error("it has more than 16 exponents", "export it with one exponent"));
    }
    let mut made: Option<Known> = None;
    for exponent in once {
        let one = match exponent {
            0 => Known::floats(&[], vec![1.0]),
            n => power(op, import, x, n as f32)?,
        };
        made = Some(match made {
            None => one,
            Some(made) => {
                let is = all.iter().map(|n| i64::from(*n == exponent)).collect();
                op.call(import, "Where", &[&Known::Ints(lengths.to_vec(), is), &one, &made], &[])?
            }
        });
    }
    made.ok_or_else(|| op.error("it has no exponent", "save the model anew"))
}

/// Squares, and products of the squares that the exponent's bits select.
fn products(op: &Reading<'_>, import: &mut Import, x: &Known, exponent: u32) -> Result<Known, Fault> {
    let (mut square, mut made) = (x.clone(), None::<Known>);
    for bit in 0..=exponent.ilog2() {
        if bit > 0 {
            square = op.call(import, "Mul", &[&square, &square], &[])?;
        }
        if exponent >> bit & 1 == 1 {
            made = Some(match &made {
                Some(made) => op.call(import, "Mul", &[made, &square], &[])?,
                None => square.clone(),
            });
        }
    }
    Ok(made.unwrap_or(square))
}

fn by_logarithm(op: &Reading<'_>, import: &mut Import, x: &Known, y: &Known) -> Result<Known, Fault> {
    let log = op.call(import, "Log", &[x], &[])?;
    let product = op.call(import, "Mul", &[&log, y], &[])?;
    op.call(import, "Exp", &[&product], &[])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn powers_with_known_exponents() {
        for (exponent, steps) in
            [(2.0, 4.0), (3.0, 8.0), (1.0, 1.0), (-1.0, 4.0), (0.5, 2.0), (-0.5, 4.0), (1.5, 12.0)]
        {
            let mut w = Writer::new("pow", 1, &[1, 6]);
            // Roots and logarithms need numbers above 0.
            let two = w.weights(&[1], vec![2.0]);
            let x = w.op("Abs", &["input"], &[]);
            let x = w.op("Add", &[&x, &two], &[]);
            let y = w.weights(&[], vec![exponent]);
            let y = w.op("Pow", &[&x, &y], &[]);
            check(&w.finish(&y), 10.0 * steps, |x| {
                x.data.iter().map(|x| (x.abs() + 2.0).powf(exponent)).collect()
            });
        }
    }
}
