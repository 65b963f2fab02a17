//! The outputs of a report while its rows arrive: the table, the JSON file, and the progress.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use crate::{
    BenchOptions, BenchRow, Params, Report, Result,
    place::{self, is_stream},
    table,
    table::Table,
};

/// Writes a report while its rows arrive.
pub struct Reporter {
    report: Report,
    json: Option<PathBuf>,
    out: Box<dyn Write>,
    progress: Option<Box<dyn Write>>,
    table: Option<Table>,
}

/// The running case.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The number of the case, counted from 1.
    pub number: usize,
    /// The number of cases.
    pub of: usize,
    /// The case's name.
    pub case: &'a str,
    /// The case's parameters.
    pub params: &'a Params,
}

impl Reporter {
    /// Makes a reporter on the standard streams. The table goes to standard output, or to standard
    /// error if the JSON takes standard output. The progress goes to standard error if that is a
    /// terminal.
    #[must_use]
    pub fn new(report: Report, options: &BenchOptions) -> Self {
        let json_on_stdout = options.json.as_deref() == Some(Path::new("-"));
        let out: Box<dyn Write> =
            if json_on_stdout { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        let progress = io::stderr().is_terminal().then(|| Box::new(io::stderr()) as Box<dyn Write>);
        Self::with_outputs(report, options.json.clone(), out, progress)
    }

    /// Makes a reporter with the given streams.
    #[must_use]
    pub fn with_outputs(
        report: Report,
        json: Option<PathBuf>,
        out: Box<dyn Write>,
        progress: Option<Box<dyn Write>>,
    ) -> Self {
        Self { report, json, out, progress, table: None }
    }

    /// Returns the report so far, for adding limits.
    pub fn report_mut(&mut self) -> &mut Report {
        &mut self.report
    }

    /// Prints a note above the table.
    pub(crate) fn say(&mut self, remark: &str) -> Result<()> {
        Ok(writeln!(self.out, "{remark}\n")?)
    }

    /// Prints the table's head for these cases. Also checks that the JSON file can be written,
    /// before time is spent on measuring.
    pub fn begin<'a>(&mut self, cases: impl Iterator<Item = (&'a str, &'a Params)>) -> Result<()> {
        let table = Table::new(cases);
        write!(self.out, "# {}\n\n{}\n\n", self.report.bench, self.report.machine.summary())?;
        write!(self.out, "{}", table.head())?;
        self.out.flush()?;
        self.table = Some(table);
        if let Some(path) = &self.json {
            let known = |there: &[u8]| serde_json::from_slice::<Report>(there).is_ok();
            if let Err(e) = place::yields(path, "bench report", known) {
                // A run that ends writes its rows so far.
                self.json = None;
                return Err(e);
            }
        }
        self.save()
    }

    /// Shows the running case on the terminal.
    pub fn progress(&mut self, now: &Progress<'_>) {
        if let Some(progress) = &mut self.progress {
            let Progress { number, of, case, params } = now;
            let line = format!("[{number}/{of}] {case} {params}");
            let line: String = line.chars().filter(|c| !c.is_control()).take(78).collect();
            // A failed progress line must not fail a run.
            drop(write!(progress, "\r\x1b[2K{line}").and_then(|()| progress.flush()));
        }
    }

    fn clear_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            drop(write!(progress, "\r\x1b[2K").and_then(|()| progress.flush()));
        }
    }

    /// Adds a row: to the report, the table and the JSON file.
    pub fn row(&mut self, row: BenchRow) -> Result<()> {
        self.clear_progress();
        let row = self.report.push(row)?;
        let table = self.table.get_or_insert_with(|| Table::new([(&*row.case, &row.params)].into_iter()));
        self.out.write_all(table.row(row).as_bytes())?;
        self.out.flush()?;
        self.save()
    }

    /// Ends the table, writes JSON that goes to a stream, and returns the report.
    pub fn finish(self) -> Result<Report> {
        self.finish_with(|_| String::new())
    }

    /// [`finish`](Self::finish), with text below the table that is made from the report.
    pub fn finish_with(mut self, below: impl FnOnce(&Report) -> String) -> Result<Report> {
        self.clear_progress();
        self.out.write_all(table::limits(&self.report.limits, &self.report.rows).as_bytes())?;
        self.out.write_all(below(&self.report).as_bytes())?;
        self.out.flush()?;
        if let Some(path) = &self.json {
            let json = self.report.to_json()?;
            if path == Path::new("-") {
                let mut stdout = io::stdout().lock();
                stdout.write_all(json.as_bytes()).and_then(|()| stdout.flush())?;
            } else if is_stream(path) {
                place::put(path, &json)?;
            }
        }
        self.save()?;
        Ok(self.report)
    }

    /// Replaces the JSON file atomically: a reader finds the old file or the new one.
    fn save(&self) -> Result<()> {
        let Some(path) = self.json.as_deref().filter(|path| !is_stream(path)) else {
            return Ok(());
        };
        place::put(path, &self.report.to_json()?)
    }
}
