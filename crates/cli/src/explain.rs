//! `hushwire explain`: the entry of the table of errors for a code.

use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file},
    out,
};
use clap::Args;
use hushwire_fault::{Code, Entry, Kind, TABLE};
use serde::Serialize;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Examples:
  hushwire explain HW0115                            what an error of that code means, and what to do
  hushwire explain                                   all codes, a line each
  hushwire explain HW0115 --json -                   for programs";

/// The code to look up.
#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// The code behind an error, as HW0115 [default: list all of them]
    #[arg(value_name = "CODE")]
    code: Option<Code>,
    /// Write the same for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// An entry of the table, for programs.
#[derive(Serialize)]
struct Explained {
    code: Code,
    kind: Kind,
    exit_code: u8,
    name: &'static str,
    text: &'static str,
    remedy: &'static str,
    page: String,
}

impl From<&Entry> for Explained {
    fn from(entry: &Entry) -> Self {
        let Entry { code, kind, name, text, remedy } = *entry;
        Self { code, kind, exit_code: kind.exit_code(), name, text, remedy, page: page(entry) }
    }
}

fn page(entry: &Entry) -> String {
    format!("docs/troubleshooting.md#{}", entry.anchor())
}

/// Prints the entry, or the whole table.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Error> {
    let entries: Vec<&Entry> = match args.code {
        Some(code) => vec![code.entry()],
        None => TABLE.iter().collect(),
    };
    let text = match entries[..] {
        [entry] => format!("{}: {}\n\n{}\n\n{}\n", entry.code, entry.name, entry.explanation(), page(entry)),
        _ => entries.iter().map(|entry| format!("{}  {}\n", entry.code, entry.name)).collect(),
    };
    let Some(path) = &args.json else { return out::text(text) };
    let all: Vec<Explained> = entries.into_iter().map(Explained::from).collect();
    let json = match &all[..] {
        [one] => out::pretty(one)?,
        all => out::pretty(&all)?,
    };
    let mut files = RunFiles::new(args.replace.force);
    match json_file(&mut files, Some(path), "explain", 0o666)? {
        Some(file) => {
            file.write(json.as_bytes())?;
            out::text(text)
        }
        None => out::text(json),
    }
}
