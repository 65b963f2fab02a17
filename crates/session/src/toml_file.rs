//! Strict reading of TOML files: every key is known, and every error names its line.
//!
//! A [`Section`] gives out the values of a table one by one, and refuses keys that were not taken.
//! An error about an unknown key suggests the nearest known one. Paths are relative to the file.

use crate::{
    Fault, open_input,
    suggest::{self, Misread},
};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_files::mark;
use std::{
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// LOCAL: no job or party file is longer than this.
const LONGEST: u64 = 1 << 20;

/// The text of a file, which may hold secrets, and the file's path.
pub struct Source {
    path: PathBuf,
    text: Wiped<String>,
}

impl Source {
    /// Reads a file. `-` is standard input, whose paths are relative to the current directory.
    ///
    /// # Errors
    /// The file cannot be read, is too long, or is not text.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let mut bytes = Wiped::new(vec![]);
        let file = open_input(path).map_err(|e| Fault::io("read", path, &e))?;
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| Fault::io("read", path, &e))?;
        if bytes.len() as u64 > LONGEST {
            return Err(Fault::file("read", path, "it is longer than 1 MiB", "is it the right file?"));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Self::new(path, text)),
            Err(_) => Err(Fault::file("read", path, "it is not text", "is it the right file?")),
        }
    }

    /// Makes a source from the text of a file with this path.
    #[must_use]
    pub fn new(path: &Path, text: &str) -> Self {
        Self { path: path.to_path_buf(), text: Wiped::new(mark::strip_str(text).to_owned()) }
    }

    /// The directory to which paths in the file are relative.
    pub fn dir(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).to_path_buf()
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Parses the whole file as one section.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn sections(&self) -> Result<Section<'_>, Fault> {
        let table = DeTable::parse(&self.text).map_err(|e| {
            let what = e.message().lines().next().unwrap_or("it is not TOML").to_owned();
            // The parser takes a word without quotes for the beginning of `true`, or of a number.
            let remedy = if what.starts_with("invalid") && !what.contains("string") {
                "put quotes around text, as in name = \"t\", or correct it; docs/jobs.md shows whole files"
            } else {
                "correct it; docs/jobs.md shows whole files"
            };
            self.error(&e.span().unwrap_or(0..0), what, remedy)
        })?;
        Ok(Section { source: self, table, known: vec![] })
    }

    /// An error at a position in the file.
    pub fn error(
        &self,
        span: &Range<usize>,
        cause: impl std::fmt::Display,
        remedy: impl std::fmt::Display,
    ) -> Fault {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Fault::new(code::JOB_FILE, format!("{}, line {line}", self.path.display()), cause, remedy)
    }
}

/// A table whose keys are taken one by one. Keys that remain at the end are unknown.
pub struct Section<'a> {
    source: &'a Source,
    table: Spanned<DeTable<'a>>,
    known: Vec<&'static str>,
}

/// A value and its position.
pub struct TomlValue<'a> {
    source: &'a Source,
    span: Range<usize>,
    key: String,
    value: DeValue<'a>,
}

impl<'a> Section<'a> {
    /// The path of the section's file.
    pub fn file(&self) -> &Path {
        self.source.path()
    }

    /// Takes the value of a key, if the key is present.
    pub fn take(&mut self, key: &'static str) -> Option<TomlValue<'a>> {
        self.known.push(key);
        let (name, value) = self.table.get_mut().remove_entry(key)?;
        let span = name.span();
        Some(TomlValue { source: self.source, span, key: key.to_owned(), value: value.into_inner() })
    }

    /// Takes the value of a key that must be present.
    ///
    /// # Errors
    /// The key is missing.
    pub fn need(&mut self, key: &'static str, example: &str) -> Result<TomlValue<'a>, Fault> {
        let span = self.table.span();
        // An error about a misspelt key is more helpful.
        let near = self.table.get_ref().keys().find(|k| suggest::nearest(k.get_ref(), [key]).is_some());
        let near = near.filter(|k| !self.known.contains(&&**k.get_ref())).cloned();
        self.take(key).ok_or_else(|| match near {
            Some(near) => self.source.error(
                &near.span(),
                format!("there is no key `{}` here", near.get_ref()),
                format!("did you mean `{key}`?"),
            ),
            None => {
                self.source.error(&span, format!("`{key}` is missing"), format!("add it, as in {example}"))
            }
        })
    }

    /// Reads the text of an optional key by `parse`.
    ///
    /// # Errors
    /// The value is not a text, or is invalid.
    pub fn parsed<T, E: Misread>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
        remedy: &str,
    ) -> Result<Option<T>, Fault> {
        self.take(key).map(|value| value.parsed(parse, remedy)).transpose()
    }

    /// Reads the whole number of an optional key.
    ///
    /// # Errors
    /// The value is not a number, or is out of range.
    pub fn number(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, Fault> {
        self.take(key).map(|value| value.number(range)).transpose()
    }

    /// Reads an optional flag, which is false by default.
    ///
    /// # Errors
    /// The value is neither true nor false.
    pub fn flag(&mut self, key: &'static str) -> Result<bool, Fault> {
        self.take(key).map_or(Ok(false), |value| value.flag())
    }

    /// Whether a key is present.
    pub fn has(&self, key: &str) -> bool {
        self.table.get_ref().contains_key(key)
    }

    /// The error of a section that lacks a required key. An unknown key in the section gives a more
    /// helpful error.
    pub fn lacks(self, key: &str, example: &str) -> Fault {
        let (source, span) = (self.source, self.table.span());
        let missing =
            || source.error(&span, format!("`{key}` is missing"), format!("add it, as in {example}"));
        self.finish().err().unwrap_or_else(missing)
    }

    /// An error about the section as a whole.
    pub fn error(&self, cause: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Fault {
        self.source.error(&self.table.span(), cause, remedy)
    }

    /// All remaining values, whatever their names: for tables whose keys are the user's.
    pub fn rest(mut self) -> Vec<(String, TomlValue<'a>)> {
        let source = self.source;
        let all = std::mem::take(self.table.get_mut()).into_iter();
        let all = all.map(|(name, value)| {
            let (span, key) = (name.span(), name.into_inner().into_owned());
            (key.clone(), TomlValue { source, span, key, value: value.into_inner() })
        });
        all.collect()
    }

    /// All remaining values in the order of the file.
    pub fn in_order(self) -> Vec<(String, TomlValue<'a>)> {
        let mut all = self.rest();
        all.sort_by_key(|(_, value)| value.span.start);
        all
    }

    /// Refuses the first key that was not taken.
    ///
    /// # Errors
    /// A key was not taken.
    pub fn finish(self) -> Result<(), Fault> {
        let first = self.table.get_ref().keys().min_by_key(|k| k.span().start);
        first.map_or(Ok(()), |key| {
            let cause = format!("there is no key `{}` here", key.get_ref());
            Err(self.source.error(&key.span(), cause, suggest::remedy(key.get_ref(), &self.known)))
        })
    }
}

impl<'a> TomlValue<'a> {
    /// An error about this value.
    pub fn error(&self, cause: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Fault {
        self.source.error(&self.span, format!("`{}` {cause}", self.key), remedy)
    }

    fn wrong(&self, wanted: &str) -> Fault {
        self.error(format!("is {}, where {wanted} is wanted", self.value.type_str()), "see docs/jobs.md")
    }

    /// The directory to which paths in the file are relative.
    pub fn dir(&self) -> PathBuf {
        self.source.dir()
    }

    /// The text, which must be in quotes.
    ///
    /// # Errors
    /// The value is something else.
    pub fn text(&self) -> Result<&str, Fault> {
        self.value.as_str().ok_or_else(|| self.wrong("text in quotes"))
    }

    /// A text in quotes, a whole number, a truth value or a date, as text.
    ///
    /// # Errors
    /// The value is something else.
    pub fn plain(&self) -> Result<String, Fault> {
        match &self.value {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix());
                number.map(|number| number.to_string()).map_err(|_| self.wrong("a number of 64 bits"))
            }
            DeValue::Boolean(truth) => Ok(truth.to_string()),
            DeValue::Datetime(date) => Ok(date.to_string()),
            _ => Err(self.wrong("a text, a whole number, a truth value or a date")),
        }
    }

    /// The value, which must be `true` or `false`.
    ///
    /// # Errors
    /// The value is something else.
    pub fn flag(&self) -> Result<bool, Fault> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// A value as text: the contents of a text in quotes, or a number, a truth value or a date as
    /// it is written.
    ///
    /// # Errors
    /// The value is a list or a table.
    pub fn written(&self) -> Result<String, Fault> {
        Ok(match &self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => {
                let number = i128::from_str_radix(number.as_str(), number.radix());
                number.map_err(|_| self.wrong("a whole number"))?.to_string()
            }
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Boolean(truth) => truth.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            _ => return Err(self.wrong("text in quotes, or a number")),
        })
    }

    /// Whether the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The whole number, which must be within `range`.
    ///
    /// # Errors
    /// The value is not a whole number, or is out of range.
    pub fn number(&self, range: std::ops::RangeInclusive<u64>) -> Result<u64, Fault> {
        let number = self.value.as_integer().ok_or_else(|| self.wrong("a whole number"))?;
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.error("is out of range", format!("give a whole number from {least} to {most}"))
        })
    }

    /// The duration: a number of seconds, or `500ms`, `60s`, `5m`.
    ///
    /// # Errors
    /// The value is not a duration.
    pub fn duration(&self) -> Result<Duration, Fault> {
        if self.value.is_integer() {
            return Ok(Duration::from_secs(self.number(1..=86_400)?));
        }
        let text = self.text()?;
        let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
        let found = units.iter().find_map(|(unit, ms)| {
            let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
            number.checked_mul(*ms)
        });
        let millis = found.filter(|ms| (1..=86_400_000).contains(ms));
        millis.map(Duration::from_millis).ok_or_else(|| {
            self.error("is not a time up to a day", "write seconds, or as in \"500ms\" or \"5m\"")
        })
    }

    /// The text, parsed by `parse`.
    ///
    /// # Errors
    /// The value is not a text, or `parse` refuses it.
    pub fn parsed<T, E: Misread>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
        remedy: &str,
    ) -> Result<T, Fault> {
        parse(self.text()?).map_err(|e| {
            let text = e.to_string();
            // One remedy is enough, and the nearest name is the better one.
            let (cause, remedy) = e.near().unwrap_or((&text, remedy));
            self.error(format!("cannot be used: {cause}"), remedy)
        })
    }

    /// The path, relative to the file.
    ///
    /// # Errors
    /// The value is not a text, or is empty.
    pub fn path(&self) -> Result<PathBuf, Fault> {
        let text = self.text()?;
        if text.is_empty() {
            return Err(self.error("is empty", "name a file"));
        }
        Ok(self.source.dir().join(text))
    }

    /// The elements of a list. A single text is a list of one.
    ///
    /// # Errors
    /// The value is neither a list nor a text.
    pub fn list(self) -> Result<Vec<TomlValue<'a>>, Fault> {
        let TomlValue { source, span, key, value } = self;
        match value {
            DeValue::Array(items) => {
                let items = items.into_iter();
                let items = items.map(|item| TomlValue {
                    source,
                    span: item.span(),
                    key: key.clone(),
                    value: item.into_inner(),
                });
                Ok(items.collect())
            }
            value @ DeValue::String(_) => Ok(vec![TomlValue { source, span, key, value }]),
            value => Err(TomlValue { source, span, key, value }.wrong("a list")),
        }
    }

    /// The value as a table.
    ///
    /// # Errors
    /// The value is not a table.
    pub fn section(self) -> Result<Section<'a>, Fault> {
        let TomlValue { source, span, key, value } = self;
        match value {
            DeValue::Table(table) => Ok(Section { source, table: Spanned::new(span, table), known: vec![] }),
            value => Err(TomlValue { source, span, key, value }.wrong("a table")),
        }
    }

    /// The tables of an array, such as `[[inputs]]`.
    ///
    /// # Errors
    /// The value is not an array of tables.
    pub fn sections(self) -> Result<Vec<Section<'a>>, Fault> {
        let source = self.source;
        let DeValue::Array(items) = self.value else { return Err(self.wrong("an array of tables")) };
        let key = &self.key;
        let items = items.into_iter().map(|item| {
            let span = item.span();
            TomlValue { source, span, key: key.clone(), value: item.into_inner() }.section()
        });
        items.collect()
    }
}
