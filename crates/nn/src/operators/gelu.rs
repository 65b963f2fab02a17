//! Gelu.

use super::prelude::*;

pub(super) const GELU: Operator = Operator {
    attributes: &["approximate"],
    error: Bound { off: 0.0005, ..Bound::steps(1.0) },
    ..Operator::new("Gelu", "x Φ(x); on shares also in place of its approximation with tanh.", read)
};

/// x Φ(x).
#[derive(Clone, Debug, PartialEq)]
pub struct Gelu {
    /// Whether Φ is approximated with tanh.
    pub(crate) near: bool,
}

/// The factor of the cube in the approximation of Φ.
const CUBE: f64 = 0.044_715;

impl Definition for Gelu {
    fn name(&self) -> &'static str {
        "Gelu"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| {
            let x = f64::from(x);
            let phi = if self.near {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + CUBE * x.powi(3));
                (1.0 + inner.tanh()) / 2.0
            } else {
                normal(x)
            };
            (x * phi) as f32
        })
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(Held::nominal(lower.at_nominal(site.reads[0], site.at).gelu()))
    }

    fn room(&self, room: &Room<'_>) -> f64 {
        room.own(0.0)
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    match &op.text("approximate", "none")?[..] {
        "none" => op.alike(import, Kind::Gelu(Gelu { near: false })),
        "tanh" => op.alike(import, Kind::Gelu(Gelu { near: true })),
        other => Err(op.error(format!("its approximate is {}", shown(other)), "take none or tanh")),
    }
}

/// The normal distribution function, by its series about 0; beyond 6 deviations it is 0 or 1 in a
/// float.
fn normal(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() && k < 400.0 {
        term *= x * x / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::checks::fixed;

    #[test]
    fn the_error_is_as_stated() {
        let Bound { steps, off, .. } = GELU.error;
        let all: Vec<f64> = (-200..200).map(|k| f64::from(k) / 10.0).collect();
        for numbers in [32, 40, 64].map(Numbers::of) {
            let step = 2f64.powi(-i32::from(numbers.frac));
            for near in [false, true] {
                let gelu = Gelu { near };
                let (given, made) = fixed(Kind::Gelu(gelu.clone()), &all, numbers);
                for (x, y) in given.iter().zip(made) {
                    let (exact, most) = (x * normal(*x), f64::from(steps) * step);
                    assert!((y - exact).abs() <= most, "{x}: {y}, not {exact}");
                    let own = gelu.value(&[Arc::new(Array::new(&[1], vec![*x as f32]))], &[]).data[0];
                    assert!((f64::from(own) - exact).abs() <= f64::from(off) + 1e-6, "{x}: {own}");
                }
            }
        }
    }
}
