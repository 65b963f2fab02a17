//! Times a closure within a budget, and measures peak memory.

use std::{
    convert::Infallible,
    fs,
    time::{Duration, Instant},
};

use crate::machine::kib_field;

/// The figures of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The median. For an even number of runs, it is the mean of the middle two.
    pub median: f64,
    /// The smallest figure.
    pub min: f64,
    /// The largest figure.
    pub max: f64,
    /// The number of runs.
    pub runs: u32,
}

impl Measurement {
    /// Returns the median, the least and the greatest of figures that were measured elsewhere;
    /// `None` if there are none.
    #[must_use]
    pub fn of(figures: &[f64]) -> Option<Self> {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Self { median, min, max, runs: u32::try_from(sorted.len()).unwrap_or(u32::MAX) })
    }
}

/// The end of the doubling for work that the compiler has removed completely.
const MOST_ITERATIONS: u64 = 1 << 48;

/// The time for a measurement: a budget for all of it, and the number of runs into which it is
/// divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The time for warming up and for all runs.
    pub budget: Duration,
    /// The number of runs to time.
    pub runs: u32,
}

impl Timer {
    /// Returns the rate of `work` in units per second, if one call does `units`.
    pub fn rate(&self, units: f64, mut work: impl FnMut()) -> Measurement {
        self.try_rate(units, || {
            work();
            Ok::<(), Infallible>(())
        })
        .unwrap_or_else(|never| match never {})
    }

    /// Returns the time of one call of `work`, in milliseconds.
    pub fn time_ms(&self, mut work: impl FnMut()) -> Measurement {
        self.try_time_ms(|| {
            work();
            Ok::<(), Infallible>(())
        })
        .unwrap_or_else(|never| match never {})
    }

    /// [`rate`](Self::rate) for work that can fail.
    pub fn try_rate<E>(&self, units: f64, work: impl FnMut() -> Result<(), E>) -> Result<Measurement, E> {
        Ok(figures(&self.durations(repeat(work))?, |seconds| units / seconds))
    }

    /// [`time_ms`](Self::time_ms) for work that can fail.
    pub fn try_time_ms<E>(&self, work: impl FnMut() -> Result<(), E>) -> Result<Measurement, E> {
        Ok(figures(&self.durations(repeat(work))?, |seconds| seconds * 1e3))
    }

    /// Returns the seconds per iteration of each run, for work that measures its own time. `run(n)`
    /// does `n` iterations and returns the time that they took. So it can exclude set-up, other
    /// threads and other processes.
    ///
    /// Iterations double until a run fills its slice of the budget. These attempts warm up and are
    /// dropped. If one iteration uses up the budget, the work is timed once, without a warm-up.
    pub fn durations<E>(&self, mut run: impl FnMut(u64) -> Result<Duration, E>) -> Result<Vec<f64>, E> {
        let runs = self.runs.max(1);
        let slice = self.budget / (runs + 2);
        let begin = Instant::now();
        let mut timed = Duration::ZERO;
        let mut iterations = 1u64;
        loop {
            let took = run(iterations)?;
            timed += took;
            if took.max(begin.elapsed()) >= self.budget && iterations == 1 {
                return Ok(vec![seconds(took, 1)]);
            }
            if took >= slice || timed.max(begin.elapsed()) >= slice * 2 {
                iterations = fitted(iterations, took, slice);
                break;
            }
            if iterations >= MOST_ITERATIONS {
                break;
            }
            iterations *= if took * 16 < slice { 8 } else { 2 };
        }
        let mut figures = Vec::new();
        for _ in 0..runs {
            let took = run(iterations)?;
            timed += took;
            figures.push(seconds(took, iterations));
            if timed.max(begin.elapsed()) + took > self.budget + slice {
                break;
            }
        }
        Ok(figures)
    }
}

/// The number of iterations that fill `slice`, estimated from a run that took `took`.
fn fitted(iterations: u64, took: Duration, slice: Duration) -> u64 {
    let per_iteration = seconds(took, iterations);
    let wanted = slice.as_secs_f64() / per_iteration;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let wanted = wanted.ceil() as u64;
    wanted.clamp(1, iterations * 8)
}

#[expect(clippy::cast_precision_loss, reason = "counts of iterations stay far below 2^52")]
fn seconds(took: Duration, iterations: u64) -> f64 {
    // A clock may be too coarse for a short run. A time of zero would give infinite rates.
    took.as_secs_f64().max(1e-9) / iterations as f64
}

fn figures(durations: &[f64], figure: impl Fn(f64) -> f64) -> Measurement {
    let figures: Vec<f64> = durations.iter().map(|seconds| figure(*seconds)).collect();
    Measurement::of(&figures).expect("at least one run is timed")
}

fn repeat<E>(mut work: impl FnMut() -> Result<(), E>) -> impl FnMut(u64) -> Result<Duration, E> {
    move |iterations| {
        let begin = Instant::now();
        for _ in 0..iterations {
            work()?;
        }
        Ok(begin.elapsed())
    }
}

/// The most memory this process has held, if the operating system reports it.
#[must_use]
pub fn peak_memory_bytes() -> Option<u64> {
    kib_field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM")
}

/// Restarts [`peak_memory_bytes`] from the memory that is held now. Without Linux, or without the
/// permission, it still counts from the start of the process.
pub fn reset_peak_memory() {
    drop(fs::write("/proc/self/clear_refs", "5"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulate(timer: Timer, per_iteration: Duration) -> (Vec<f64>, Vec<u64>) {
        let mut calls = Vec::new();
        let durations = timer.durations(|n| {
            calls.push(n);
            Ok::<_, Infallible>(per_iteration * u32::try_from(n).unwrap())
        });
        (durations.unwrap(), calls)
    }

    #[test]
    fn iterations_fill_the_slices() {
        let timer = Timer { budget: Duration::from_secs(700), runs: 5 };
        let (durations, calls) = simulate(timer, Duration::from_millis(500));
        assert_eq!(durations.len(), 5);
        assert!(durations.iter().all(|seconds| (seconds - 0.5).abs() < 1e-9));
        let timed = &calls[calls.len() - 5..];
        assert!(timed.iter().all(|n| *n == 200), "100 s a run: {calls:?}");
    }

    #[test]
    fn long_work_is_timed_once_and_middling_work_less_often() {
        let timer = Timer { budget: Duration::from_secs(700), runs: 5 };
        let (durations, calls) = simulate(timer, Duration::from_secs(900));
        assert_eq!((durations, calls), (vec![900.0], vec![1]));
        let (durations, _) = simulate(timer, Duration::from_secs(200));
        assert_eq!(durations, [200.0; 3]);
    }

    #[test]
    fn medians() {
        let odd = Measurement::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(odd, Measurement { median: 2.0, min: 1.0, max: 3.0, runs: 3 });
        assert!((Measurement::of(&[4.0, 1.0]).unwrap().median - 2.5).abs() < 1e-12);
        assert!(Measurement::of(&[]).is_none());
    }

    #[test]
    fn failures_end_the_measurement() {
        let timer = Timer { budget: Duration::from_millis(1), runs: 3 };
        assert_eq!(timer.try_rate(1.0, || Err("broken")), Err("broken"));
        assert!(timer.rate(1.0, || {}).median > 0.0);
        assert!(timer.time_ms(|| {}).median >= 0.0);
    }
}
