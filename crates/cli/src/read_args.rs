//! The options by which a command reads text files with tables.

use crate::error::Error;
use clap::Args;
use hushwire::job::{Dialect, InputPlace};
use hushwire_files::matching;
use std::path::PathBuf;

/// The options of a text file with a table. Each is for all files of the command, or for one table
/// or party: people=;
#[derive(Args, Default)]
#[command(next_help_heading = "Text files (each VALUE for all files, or NAME=VALUE for one table or party)")]
pub(crate) struct ReadArgs {
    /// The character between fields; auto finds , ; tab and | [default: auto]
    #[arg(long, value_name = "CHARACTER")]
    separator: Vec<String>,
    /// Whether the first line names the columns: yes, no (they are c1, c2 …) or auto [default: yes,
    /// with a note where the line looks like data]
    #[arg(long, value_name = "YES|NO|AUTO")]
    header: Vec<String>,
    /// The character around fields that have separators in them: ", ' or none [default: "]
    #[arg(long, value_name = "CHARACTER")]
    quote: Vec<String>,
    /// The decimal mark of numbers: a point or a comma [default: a point]
    #[arg(long, value_name = "MARK")]
    decimal: Vec<String>,
    /// The mark between groups of three digits: a point, a comma, space or apostrophe [default:
    /// none]
    #[arg(long, value_name = "MARK")]
    thousands: Vec<String>,
    /// Words that mean NULL, beside the empty field, as in NA,n/a,NULL
    #[arg(long, value_name = "WORD,…", allow_hyphen_values = true)]
    null: Vec<String>,
    /// Formats of dates and times, as %d.%m.%Y or "%m/%d/%Y %I:%M %p" [default: ISO 8601; Z and
    /// offsets are read as UTC]
    #[arg(long, value_name = "FORMAT,…")]
    date_format: Vec<String>,
    /// Whether blanks around fields are dropped [default: yes]
    #[arg(long, value_name = "YES|NO")]
    trim: Vec<String>,
    /// Drop currency and percent signs beside numbers; (3.50) and 3.50- are -3.50
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "yes")]
    units: Vec<String>,
    /// The encoding: utf-8, utf-16le, utf-16be, latin1 or windows-1252 [default: UTF-8, or UTF-16
    /// with a byte order mark]
    #[arg(long, value_name = "NAME")]
    encoding: Vec<String>,
}

impl ReadArgs {
    /// Returns the dialect of the files of `name`, which is one of `names`.
    ///
    /// # Errors
    /// An option has an invalid value.
    pub(crate) fn dialect(&self, name: &str, names: &[&str]) -> Result<Dialect, Error> {
        let options: [(&str, &[String]); 10] = [
            ("separator", &self.separator),
            ("header", &self.header),
            ("quote", &self.quote),
            ("decimal", &self.decimal),
            ("thousands", &self.thousands),
            ("null", &self.null),
            ("date-format", &self.date_format),
            ("trim", &self.trim),
            ("units", &self.units),
            ("encoding", &self.encoding),
        ];
        let mut dialect = Dialect::default();
        for (option, values) in options {
            let (mut general, mut own) = (vec![], vec![]);
            for value in values {
                match value.split_once('=') {
                    Some((of, value)) if of == name => own.push(value),
                    Some((of, _)) if names.contains(&of) => {}
                    _ => general.push(value.as_str()),
                }
            }
            let values = if own.is_empty() { general } else { own };
            // Lists may be given in pieces. For other options the last value counts.
            let value = match option {
                "null" | "date-format" if !values.is_empty() => values.join(","),
                _ => match values.last() {
                    Some(value) => (*value).to_owned(),
                    None => continue,
                },
            };
            dialect.set(option, &value).map_err(|e| Error::Usage(format!("--{option}: {e}")))?;
        }
        Ok(dialect)
    }
}

/// Returns the place of files that form one table: each path may contain `*` and `?` in its last
/// part.
///
/// # Errors
/// No file has a matching name.
pub(crate) fn table(paths: &[PathBuf], dialect: Dialect) -> Result<InputPlace, Error> {
    let mut files = vec![];
    for path in paths {
        files.extend(matching(path).map_err(|e| Error::Job(e.into()))?);
    }
    match &files[..] {
        [one] if dialect.is_default() => Ok(InputPlace::File(one.clone())),
        _ => Ok(InputPlace::Table(files.into_iter().map(InputPlace::File).collect(), dialect)),
    }
}
