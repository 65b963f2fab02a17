//! Runs of a bench's cases in its tests.

use std::{cell::RefCell, io, rc::Rc};

use crate::{BenchOptions, Case, Report, Reporter, Result, run_cases};

/// Options for these rows, as short as may be.
pub(crate) fn options(only: &[&str]) -> BenchOptions {
    let only = only.iter().map(|part| part.parse().unwrap()).collect();
    BenchOptions { only, row_seconds: Some(1e-3), ..BenchOptions::default() }
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

/// The result of a run with these options, its report, failed or not, and what was printed.
pub(crate) fn run(
    bench: &str,
    cases: Vec<Case<'_>>,
    options: &BenchOptions,
    below: impl FnOnce(&Report) -> String,
) -> (Result<()>, Report, String) {
    let text = Text::default();
    let mut reporter = Reporter::with_outputs(Report::new(bench), None, Box::new(text.clone()), None);
    let ran = run_cases(&mut reporter, cases, options);
    let report = reporter.finish_with(below).unwrap();
    let printed = String::from_utf8(text.0.borrow().clone()).unwrap();
    (ran, report, printed)
}
