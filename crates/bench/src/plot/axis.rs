//! Axes: conversion of values to positions, and ticks.

/// A linear or logarithmic axis.
pub(super) struct Axis {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// A linear axis from `low` to `high`, at the positions `from` and `to`.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { log: false, low, high, from, to }
    }

    /// A logarithmic axis. Both ends are positive.
    pub(super) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, low * 2.0) };
        Self { log: true, low, high, from, to }
    }

    pub(super) fn is_log(&self) -> bool {
        self.log
    }

    /// The position of a value. A value outside has the position of the nearer end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The values to mark: powers of ten if there are enough of them, else round numbers.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if !self.log {
            return self.round_steps();
        }
        let decades = (self.high / self.low).log10();
        let parts: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut ticks = Vec::new();
        let mut power = 10f64.powf(self.low.log10().floor());
        while power <= self.high {
            let within = |tick: &f64| *tick >= self.low * 0.999 && *tick <= self.high * 1.001;
            ticks.extend(parts.iter().map(|part| part * power).filter(within));
            power *= 10.0;
        }
        if ticks.len() < 3 { self.round_steps() } else { ticks }
    }

    fn round_steps(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let mut ticks = Vec::new();
        let mut i = (self.low / step - 1e-9).ceil();
        while i * step <= self.high + step * 1e-9 {
            ticks.push(i * step);
            i += 1.0;
        }
        ticks
    }
}

/// The labels of a horizontal axis that fit. Each has centre, text and width. They are in order,
/// and a label that would touch its left neighbour is left out.
pub(super) fn with_room(labels: Vec<(f64, String, f64)>) -> Vec<(f64, String)> {
    let mut end = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (x, text, width) in labels {
        if x - width / 2.0 >= end + 8.0 {
            end = x + width / 2.0;
            kept.push((x, text));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Axis::linear(0.0, 9.0, 0.0, 1.0).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(Axis::log(1.0, 1e4, 0.0, 1.0).ticks(), [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert_eq!(Axis::log(1.5, 40.0, 0.0, 1.0).ticks(), [2.0, 5.0, 10.0, 20.0]);
        assert_eq!(Axis::log(30.0, 40.0, 0.0, 1.0).ticks().len(), 6);
    }

    #[test]
    fn places() {
        let axis = Axis::log(1.0, 100.0, 0.0, 200.0);
        assert!((axis.at(10.0) - 100.0).abs() < 1e-9);
        assert!((axis.at(0.0) - 0.0).abs() < 1e-9);
        assert!((Axis::linear(0.0, 4.0, 10.0, 20.0).at(9.0) - 20.0).abs() < 1e-9);
        assert!(Axis::linear(0.0, 0.0, 0.0, 1.0).at(0.0).is_finite());
    }

    #[test]
    fn labels_keep_apart() {
        let labels = |step: f64| (0..5).map(|i| (f64::from(i) * step, "x".to_owned(), 20.0)).collect();
        assert_eq!(with_room(labels(40.0)).len(), 5);
        assert_eq!(with_room(labels(20.0)).len(), 3);
    }
}
