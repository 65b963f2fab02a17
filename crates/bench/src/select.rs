//! The options that every bench has, and which rows they select.

use std::{path::PathBuf, str::FromStr, time::Duration};

use crate::{BenchError, Case, Result};

/// The options of every bench.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BenchOptions {
    /// Write the report as JSON to FILE, again after each row (`-`: to standard
    /// output at the end; the table then goes to standard error)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure a small set of rows briefly, within 20 seconds in total
    #[arg(long, conflicts_with = "all")]
    pub quick: bool,
    /// Measure the whole grid of rows, however long that takes
    #[arg(long)]
    pub all: bool,
    /// Measure only the rows of the grid that have these values; several values
    /// of one key are alternatives, several keys must all match
    #[arg(long, value_name = "KEY=VALUE,...", value_delimiter = ',')]
    pub only: Vec<Selection>,
    /// Compute threads per process
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Time per row in seconds [default: 1, less with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = row_seconds)]
    pub row_seconds: Option<f64>,
    /// Makes every check of a result fail.
    #[cfg(test)]
    #[arg(skip)]
    pub(crate) spoiled: bool,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of threads, at least 1".to_owned()),
        Ok(threads) => Ok(threads),
    }
}

fn row_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most a day".to_owned()),
    }
}

impl BenchOptions {
    /// The time for the whole run, if it is bounded.
    #[must_use]
    pub fn total(&self) -> Option<Duration> {
        // Some time is kept in reserve for set-up, and for the last row if it takes too long.
        match (self.quick, self.all || !self.only.is_empty()) {
            (true, _) => Some(Duration::from_secs(16)),
            (false, false) => Some(Duration::from_secs(330)),
            (false, true) => None,
        }
    }

    /// Returns the most time for one row.
    #[must_use]
    pub fn row_time(&self) -> Duration {
        let default = if self.quick { 0.25 } else { 1.0 };
        Duration::from_secs_f64(self.row_seconds.unwrap_or(default).clamp(1e-6, 86_400.0))
    }

    /// Refuses several threads, for benchmarks with a single thread.
    pub(crate) fn one_thread(&self) -> Result<()> {
        let Some(threads) = self.threads.filter(|n| *n != 1) else { return Ok(()) };
        Err(BenchError::Asked(format!("no row has threads={threads}; the values of `threads` are: 1")))
    }

    /// Returns the cases that these options select. `only` filters the grid, and `quick` then keeps
    /// those of its set. Without `only`, they are the whole grid, the quick set or the core set.
    pub fn select<'a>(&self, cases: Vec<Case<'a>>) -> Result<Vec<Case<'a>>> {
        self.chosen(cases).map(|(cases, _)| cases)
    }

    /// The same, with a note if the cases differ from the expected ones.
    pub(crate) fn chosen<'a>(&self, cases: Vec<Case<'a>>) -> Result<(Vec<Case<'a>>, Option<String>)> {
        same_keys(&cases)?;
        if !self.only.is_empty() {
            let mut cases = filter(cases, &self.only)?;
            if !self.quick {
                return Ok((cases, None));
            }
            let note = if cases.iter().any(|case| case.quick) {
                cases.retain(|case| case.quick);
                None
            } else {
                // Grids are in ascending order.
                cases.truncate(1);
                let asked = asked(&self.only);
                Some(format!("No row of the quick set has {asked}: this is the first one of the whole grid."))
            };
            return Ok((cases, note));
        }
        let (set, chosen): (_, fn(&Case<'_>) -> bool) = match (self.quick, self.all) {
            (true, _) => ("quick", |case| case.quick),
            (false, true) => ("whole", |_| true),
            (false, false) => ("core", |case| case.core),
        };
        let cases: Vec<_> = cases.into_iter().filter(chosen).collect();
        if cases.is_empty() {
            Err(BenchError::Asked(format!("the bench has no case in the {set} set")))
        } else {
            Ok((cases, None))
        }
    }
}

/// One `key=value` of `--only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// `case` or a parameter's name.
    pub key: String,
    /// The selected value.
    pub value: String,
}

impl FromStr for Selection {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err(BenchError::Asked(format!(
                "`{text}` is not of the form key=value (for example `--only blocks=1024`)"
            ))),
        }
    }
}

impl Selection {
    fn matches(&self, case: &Case<'_>) -> bool {
        let text = self.text_in(case);
        text.is_some_and(|text| same(&text, &self.value))
    }

    fn text_in(&self, case: &Case<'_>) -> Option<String> {
        if self.key == "case" { Some(case.name.clone()) } else { case.params.text(&self.key) }
    }
}

/// Whether a row's value is the selected one; `1_000_000` equals `1000000`.
fn same(row: &str, asked: &str) -> bool {
    let number = |text: &str| text.replace('_', "").parse::<i64>().ok();
    row == asked || number(asked).is_some_and(|asked| row.parse() == Ok(asked))
}

/// Readers of a report rely on every row having every parameter.
fn same_keys(cases: &[Case<'_>]) -> Result<()> {
    let keys = |case: &Case<'_>| case.params.keys().collect::<Vec<_>>().join(", ");
    let Some(expected) = cases.first().map(keys) else { return Ok(()) };
    match cases.iter().find(|case| keys(case) != expected) {
        None => Ok(()),
        Some(case) => Err(BenchError::Failed(format!(
            "case `{}` has the parameters [{}], the bench's are [{expected}]",
            case.name,
            keys(case)
        ))),
    }
}

fn filter<'a>(cases: Vec<Case<'a>>, only: &[Selection]) -> Result<Vec<Case<'a>>> {
    for selection in only {
        check(&cases, selection)?;
    }
    let wanted = |case: &Case<'a>| {
        only.iter().all(|asked| {
            let mut alternatives = only.iter().filter(|other| other.key == asked.key);
            alternatives.any(|alternative| alternative.matches(case))
        })
    };
    let chosen: Vec<_> = cases.into_iter().filter(wanted).collect();
    if chosen.is_empty() {
        let asked = asked(only);
        let remedy = "drop one of them or give a key more values";
        return Err(BenchError::Asked(format!("no row has all of {asked} at once; {remedy}")));
    }
    Ok(chosen)
}

fn asked(only: &[Selection]) -> String {
    only.iter().map(|s| format!("{}={}", s.key, s.value)).collect::<Vec<_>>().join(",")
}

/// Refuses a key or a value that no case has. The error lists the existing ones.
fn check(cases: &[Case<'_>], selection: &Selection) -> Result<()> {
    let Selection { key, value } = selection;
    let known: Vec<String> = unique(cases.iter().filter_map(|case| selection.text_in(case)));
    if known.is_empty() {
        let params = cases.iter().flat_map(|case| case.params.keys().map(str::to_owned));
        let known = unique(std::iter::once("case".to_owned()).chain(params));
        let (hint, known) = (hint(key, &known), known.join(", "));
        return Err(BenchError::Asked(format!("no row has a key `{key}`{hint}; the keys are: {known}")));
    }
    if known.iter().any(|known| same(known, value)) {
        return Ok(());
    }
    let (hint, known) = (hint(value, &known), known.join(", "));
    Err(BenchError::Asked(format!("no row has {key}={value}{hint}; the values of `{key}` are: {known}")))
}

fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

/// A suggestion if a known word is similar. Numbers are never similar to each other.
fn hint(asked: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .filter(|word| word.parse::<f64>().is_err())
        .map(|word| (strsim::levenshtein(&asked.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= word.chars().count().div_ceil(3))
        .min();
    near.map(|(_, word)| format!(" (did you mean `{word}`?)")).unwrap_or_default()
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
