//! Cases, and the runs of the chosen ones within the time budget. A case gets a timer, the run's
//! options and its limits. Its rows are reported as soon as they are measured.

use std::time::{Duration, Instant};

use crate::{
    BenchError, BenchOptions, BenchRow, BoxError, LimitBound, Limits, Params, Progress, Report, Reporter,
    Result, Spread, Timer, Unit, steal::Ticks, timing,
};

/// The closure of a case. It measures, and returns the case's rows.
type Measure<'a> = Box<dyn FnMut(&mut CaseContext<'_>) -> Result<Vec<BenchRow>, BoxError> + 'a>;

/// One point of a benchmark's grid.
pub struct Case<'a> {
    /// The name. Cases that differ only in parameters share it.
    pub name: String,
    /// The parameters. Every case of a benchmark has the same keys.
    pub params: Params,
    /// Whether a run without options measures it.
    pub core: bool,
    /// Whether `--quick` measures it.
    pub quick: bool,
    work: Measure<'a>,
}

impl<'a> Case<'a> {
    /// Makes a case of the grid. `work` returns a [`BenchRow`], or several rows with different
    /// metrics. Their case and parameters are filled in.
    pub fn new<R: Into<Vec<BenchRow>>>(
        name: &str,
        params: Params,
        mut work: impl FnMut(&mut CaseContext<'_>) -> Result<R, BoxError> + 'a,
    ) -> Self {
        let work: Measure<'a> = Box::new(move |context| work(context).map(Into::into));
        Self { name: name.to_owned(), params, core: false, quick: false, work }
    }

    /// Sets whether the case is in the core set.
    #[must_use]
    pub fn core(mut self, core: bool) -> Self {
        self.core = core;
        self
    }

    /// Sets whether the case is in the quick set.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }
}

/// The environment of a case's closure: its timer, and the run's options and limits.
pub struct CaseContext<'a> {
    options: &'a BenchOptions,
    limits: &'a mut Limits,
    timer: Timer,
}

impl CaseContext<'_> {
    /// Returns the timer for this case, with the time that the case may take.
    #[must_use]
    pub fn timer(&self) -> Timer {
        self.timer
    }

    /// Returns the options of the run.
    #[must_use]
    pub fn options(&self) -> &BenchOptions {
        self.options
    }

    /// Whether checks of results must fail, for a test.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests alone spoil results"))]
    pub(crate) fn spoiled(&self) -> bool {
        #[cfg(test)]
        return self.options.spoiled;
        #[cfg(not(test))]
        false
    }

    /// Returns the value of the limit `name`. The first case that needs it measures it.
    pub fn limit(
        &mut self,
        name: &str,
        unit: Unit,
        measure: impl FnOnce(Timer) -> Result<f64, BoxError>,
    ) -> Result<f64, BoxError> {
        if let Some(limit) = self.limits.get(name) {
            if limit.unit == unit {
                return Ok(limit.value);
            }
            let what = format!("is in {}, and was asked for in {unit}", limit.unit);
            return Err(BenchError::limit(name, &what).into());
        }
        let value = measure(self.timer)?;
        self.limits.add(name, value, unit)?;
        Ok(value)
    }

    /// Returns [`limit`](Self::limit) as a bound of this case's rows.
    pub fn bound(
        &mut self,
        name: &str,
        unit: Unit,
        measure: impl FnOnce(Timer) -> Result<f64, BoxError>,
    ) -> Result<LimitBound, BoxError> {
        let value = self.limit(name, unit, measure)?;
        Ok(LimitBound { name: name.to_owned(), value, spread: None })
    }

    /// Returns a bound that was measured around this case's rows. It belongs to them alone, and
    /// widens the report's limit `name`.
    pub fn taken(&mut self, name: &str, unit: &Unit, spread: Spread) -> Result<LimitBound, BoxError> {
        self.limits.widen(name, spread, unit)?;
        Ok(LimitBound { name: name.to_owned(), value: spread.value, spread: Some(spread) })
    }
}

/// Runs a benchmark on the standard streams, and returns its report.
pub fn run(bench: &str, cases: Vec<Case<'_>>, options: &BenchOptions) -> Result<Report> {
    run_with(bench, cases, options, |_| String::new())
}

/// [`run`], with text below the table that is made from the report. An example is a paper's own
/// table with the figures of this run.
pub fn run_with(
    bench: &str,
    cases: Vec<Case<'_>>,
    options: &BenchOptions,
    below: impl FnOnce(&Report) -> String,
) -> Result<Report> {
    let begin = Instant::now();
    let (cases, note) = options.chosen(cases)?;
    let mut reporter = Reporter::new(Report::new(bench), options);
    note.map_or(Ok(()), |note| reporter.say(&note))?;
    let ran = run_chosen(&mut reporter, cases, options, begin);
    // Rows that were measured before a failure are kept.
    let finished = reporter.finish_with(below);
    ran.and(finished)
}

/// Runs the cases that the options select.
///
/// If the options bound the whole run, each case gets an equal share of the remaining time, at most
/// the time of a row. A late run shortens its last rows, but never drops them.
pub fn run_cases(reporter: &mut Reporter, cases: Vec<Case<'_>>, options: &BenchOptions) -> Result<()> {
    let begin = Instant::now();
    let (cases, note) = options.chosen(cases)?;
    note.map_or(Ok(()), |note| reporter.say(&note))?;
    run_chosen(reporter, cases, options, begin)
}

fn run_chosen(
    reporter: &mut Reporter,
    cases: Vec<Case<'_>>,
    options: &BenchOptions,
    begin: Instant,
) -> Result<()> {
    reporter.begin(cases.iter().map(|case| (case.name.as_str(), &case.params)))?;
    let of = cases.len();
    for (done, mut case) in cases.into_iter().enumerate() {
        let now = Progress { number: done + 1, of, case: &case.name, params: &case.params };
        reporter.progress(&now);
        timing::reset_peak_memory();
        let timer = Timer {
            budget: share(options, begin.elapsed(), of - done),
            runs: if options.quick { 3 } else { 5 },
        };
        let limits = &mut reporter.report_mut().limits;
        let before = Ticks::now();
        let rows = (case.work)(&mut CaseContext { options, limits, timer });
        let stolen = before.and_then(|before| Ticks::now()?.stolen_since(&before));
        let peak = timing::peak_memory_bytes();
        let rows = rows.map_err(|e| BenchError::case(&case.name, &case.params, &e))?;
        for mut row in rows {
            row.case.clone_from(&case.name);
            row.params = case.params.clone();
            row.peak_memory_bytes = row.peak_memory_bytes.or(peak);
            reporter.row(row.stolen(stolen))?;
        }
    }
    Ok(())
}

/// The time for the next case, if `left` cases remain.
fn share(options: &BenchOptions, elapsed: Duration, left: usize) -> Duration {
    let row = options.row_time();
    let Some(total) = options.total() else { return row };
    let left = u32::try_from(left).unwrap_or(u32::MAX).max(1);
    let least = Duration::from_millis(5);
    row.min((total.saturating_sub(elapsed) / left).max(least))
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
