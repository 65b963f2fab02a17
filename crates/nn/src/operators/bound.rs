//! Bounds on the errors of operators.

use core::fmt;

/// A bound on the error of an operator's value in fixed point, in steps of its scale, if its
/// operands are exact. The terms are added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// The number of steps; negative if no bound is stated.
    pub(crate) steps: f32,
    /// The number of steps for each unit of the value.
    pub(crate) value: f32,
    /// The number of steps for each unit of the greatest operand.
    pub(crate) operand: f32,
    /// The number of steps for each element from which a value is computed.
    pub(crate) element: f32,
    /// The number of weights' roundings for each element from which a value is computed: half a
    /// step of the weights, times the greatest operand.
    pub(crate) weights: f32,
    /// The part of √(n 2^−frac) that is added if the value is below 1, for roots of sums whose
    /// terms are rounded.
    pub(crate) root: f32,
    /// An absolute error that does not depend on the fractional bits.
    pub(crate) off: f32,
    /// The operands for which the bound holds, in words.
    pub(crate) over: &'static str,
}

impl Bound {
    /// No error.
    pub(crate) const EXACT: Self = Self::steps(0.0);
    /// A product with weights that is rounded to the nearest step.
    pub(crate) const ROUNDED: Self = Self { weights: 1.0, ..Self::steps(0.5) };
    /// Whole numbers are rounded to one of the two nearest.
    pub(crate) const WHOLE: Self = Self { off: 1.0, ..Self::steps(0.0) }.over("scales up to 1/32");
    /// A missing bound, which a test reports.
    pub(crate) const UNSTATED: Self = Self::steps(-1.0);

    /// A number of steps.
    pub(crate) const fn steps(steps: f32) -> Self {
        Self { steps, value: 0.0, operand: 0.0, element: 0.0, weights: 0.0, root: 0.0, off: 0.0, over: "" }
    }

    /// A number of steps, and of steps for each unit of the value.
    pub(crate) const fn share(steps: f32, value: f32) -> Self {
        Self { value, ..Self::steps(steps) }
    }

    /// A number of steps, and of steps for each unit of the greatest operand.
    pub(crate) const fn operand(steps: f32, operand: f32) -> Self {
        Self { operand, ..Self::steps(steps) }
    }

    /// A step, and 1/256 of a step for each element of a row.
    pub(crate) const ROW: Self = Self { element: 1.0 / 256.0, ..Self::steps(1.0) };

    /// The root of a sum of squares, each of which is rounded.
    pub(crate) const NORM: Self = Self { element: 0.5, root: 1.0, ..Self::share(1.0, 1.0 / 32.0) };

    /// The same bound, but only for some operands.
    pub(crate) const fn over(self, over: &'static str) -> Self {
        Self { over, ..self }
    }
}

/// A number of half-steps as text.
fn number(x: f32) -> String {
    if x == 0.5 { "½".into() } else { x.to_string() }
}

/// A multiple, or a whole part, of something, as text.
fn times(x: f32, of: &str) -> String {
    match x {
        1.0 => of.to_owned(),
        ..1.0 if (1.0 / x).fract() == 0.0 => format!("{of} / {}", 1.0 / x),
        _ => format!("{x} {of}"),
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms = vec![];
        if self.steps != 0.0 {
            terms.push(number(self.steps));
        }
        for (x, of) in [
            (self.value, "\\|y\\|"),
            (self.operand, "\\|x\\|"),
            (self.element, "n"),
            (self.weights, "r n \\|x\\|"),
        ] {
            if x != 0.0 {
                terms.push(times(x, of));
            }
        }
        let mut all = if terms.is_empty() { "none".to_owned() } else { terms.join(" + ") };
        if self.root != 0.0 {
            all = format!("{all}, and where \\|y\\| < 1 {} more", times(self.root, "√(n 2^−frac)"));
        }
        if self.off == 1.0 {
            all = "1 whole number".to_owned();
        } else if self.off != 0.0 {
            all = format!("{all}, and {}", self.off);
        }
        if !self.over.is_empty() {
            all = format!("{all}; {}", self.over);
        }
        f.write_str(&all)
    }
}
