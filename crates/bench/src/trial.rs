//! Runs of benchmarks in tests.

use std::{cell::RefCell, io, rc::Rc};

use crate::{BENCHES, Bench, BenchAsked, BenchOptions, Case, Report, Reporter, Result, run_cases};

/// The benchmark with this name.
pub(crate) fn bench(name: &str) -> &'static Bench {
    BENCHES.iter().copied().flatten().find(|bench| bench.name == name).unwrap()
}

/// The options for these rows, as short as possible.
pub(crate) fn asked(only: &[&str]) -> BenchAsked {
    let only = only.iter().map(|part| part.parse().unwrap()).collect();
    let options = BenchOptions { only, row_seconds: Some(1e-3), ..BenchOptions::default() };
    BenchAsked { options, ..BenchAsked::default() }
}

#[derive(Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The result of a run, its report, whether it failed or not, and its printed text.
pub(crate) fn run(name: &str, asked: &BenchAsked) -> (Result<()>, Report, String) {
    let (bench, text) = (bench(name), Text::default());
    let mut reporter = Reporter::with_outputs(Report::new(name), None, Box::new(text.clone()), None);
    let ran = run_cases(&mut reporter, bench.marked(asked).unwrap(), &asked.options);
    let report = reporter.finish_with(|report| (bench.below)(asked, report)).unwrap();
    let printed = String::from_utf8(text.0.borrow().clone()).unwrap();
    (ran, report, printed)
}

/// The report of these rows, and the printed text.
pub(crate) fn measured(name: &str, only: &[&str]) -> (Report, String) {
    let (ran, report, printed) = run(name, &asked(only));
    ran.unwrap();
    (report, printed)
}

/// The error of a run whose results are spoiled. No row is reported.
pub(crate) fn refused(name: &str, only: &[&str]) -> String {
    let mut asked = asked(only);
    asked.options.spoiled = true;
    let (ran, report, _) = run(name, &asked);
    assert!(report.rows.is_empty());
    ran.unwrap_err().to_string()
}

/// The core and the quick set.
pub(crate) fn sets(name: &str, asked: &BenchAsked) -> [Vec<Case<'static>>; 2] {
    let of = |is: fn(&Case<'_>) -> bool| bench(name).marked(asked).unwrap().into_iter().filter(is).collect();
    [of(|case| case.core), of(|case| case.quick)]
}

/// Whether a case has all of these values, given as `key=value` separated by commas.
pub(crate) fn has(case: &Case<'_>, values: &str) -> bool {
    let mut pairs = values.split(',').map(|pair| pair.split_once('=').unwrap());
    pairs.all(|(key, value)| case.params.text(key).as_deref() == Some(value))
}
