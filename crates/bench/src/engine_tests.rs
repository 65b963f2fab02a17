use std::{
    cell::RefCell,
    fs,
    io::{self, Write},
    path::Path,
    rc::Rc,
};

use super::*;
use crate::Measurement;

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

fn row(median: f64) -> BenchRow {
    let measured = Measurement { median, min: median, max: median, runs: 3 };
    BenchRow::new("throughput", Unit::BLOCKS_PER_S, measured).limit("peak")
}

fn everything() -> BenchOptions {
    BenchOptions { all: true, ..BenchOptions::default() }
}

fn rows_in(path: &Path) -> usize {
    let report: Report = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    report.rows.len()
}

#[test]
fn the_file_is_whole_after_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let seen = RefCell::new(Vec::new());
    let measured = RefCell::new(0);
    let cases = (0..4).map(|i| {
        let (path, seen, measured) = (&path, &seen, &measured);
        Case::new("encrypt", Params::new().with("blocks", i), move |ctx| {
            seen.borrow_mut().push(rows_in(path));
            ctx.limit("peak", Unit::BLOCKS_PER_S, |_| {
                *measured.borrow_mut() += 1;
                Ok(100.0)
            })?;
            Ok(row(f64::from(i) + 1.0))
        })
    });
    let (out, progress) = (Shared::default(), Shared::default());
    let mut reporter = Reporter::with_outputs(
        Report::new("aes"),
        Some(path.clone()),
        Box::new(out.clone()),
        Some(Box::new(progress.clone())),
    );
    run_cases(&mut reporter, cases.collect(), &everything()).unwrap();
    let report = reporter.finish().unwrap();
    assert_eq!(*seen.borrow(), [0, 1, 2, 3]);
    assert_eq!(*measured.borrow(), 1, "a limit is measured once");
    assert_eq!(rows_in(&path), 4);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    assert_eq!(report.rows[3].fraction_of_limit, Some(0.04));
    assert_eq!(report.rows[3].params.integer("blocks"), Some(3));
    assert_eq!(out.text().lines().filter(|line| line.starts_with("| encrypt")).count(), 4);
    assert!(out.text().contains("- peak: 100 blocks/s"), "{}", out.text());
    assert!(progress.text().contains("[3/4] encrypt blocks=2"));
}

#[test]
fn a_failure_names_the_case_and_keeps_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let case = |n: i32| {
        Case::new("encrypt", Params::new().with("n", n), move |ctx| {
            if n == 1 {
                return Err("no route to party 2".into());
            }
            ctx.limit("peak", Unit::BLOCKS_PER_S, |_| Ok(5.0))?;
            Ok(row(1.0))
        })
    };
    let options = BenchOptions { json: Some(path.clone()), ..everything() };
    let error = run("aes", vec![case(0), case(1), case(2)], &options).unwrap_err();
    assert_eq!(error.to_string(), "case `encrypt` (n=1) failed: no route to party 2");
    assert_eq!(rows_in(&path), 1);
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent").join("report.json");
    let case =
        Case::new("encrypt", Params::new(), |_| -> Result<BenchRow, BoxError> { panic!("measured in vain") });
    let options = BenchOptions { json: Some(path), ..everything() };
    let error = run("aes", vec![case], &options).unwrap_err().to_string();
    assert!(error.starts_with("writing ") && error.contains("absent"), "{error}");
}

#[test]
fn a_refused_selection_leaves_the_old_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    fs::write(&path, "old").unwrap();
    for (only, all) in [("n=9", false), ("m=1", false), ("case=b,n=1", true)] {
        let case = |name: &str, n: i32| Case::new(name, Params::new().with("n", n), |_| Ok(row(1.0)));
        let only = only.split(',').map(|part| part.parse().unwrap()).collect();
        let options = BenchOptions { json: Some(path.clone()), only, all, ..everything() };
        assert!(run("aes", vec![case("a", 1), case("b", 2)], &options).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}

#[test]
fn time_is_shared_among_the_cases_that_are_left() {
    let quick = BenchOptions { quick: true, ..BenchOptions::default() };
    assert_eq!(share(&quick, Duration::ZERO, 10), Duration::from_millis(250));
    assert_eq!(share(&quick, Duration::from_secs(15), 10), Duration::from_millis(100));
    assert_eq!(share(&quick, Duration::from_secs(60), 10), Duration::from_millis(5));
    assert_eq!(share(&everything(), Duration::from_secs(6000), 10), Duration::from_secs(1));
}
