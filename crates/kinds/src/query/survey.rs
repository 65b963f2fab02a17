//! A survey of a table's files: the narrowest types of its columns, why, and the rows that do not
//! fit what most of them are.

use super::source::{Fields, TableFile};
use hushwire_fault::code;
use hushwire_files::{FoundForm, outline};
use hushwire_session::{Dialect, Fault, InputPlace};
use hushwire_sql::schema::{self, Inferred, Looks, Spelt};
use hushwire_tables::algebra::{Column, ColumnType};
use std::{borrow::Cow, path::Path};

/// The name in messages of a table that is no file.
const STREAM: &str = "on standard input";

/// LOCAL: rows that do not fit, of which the place is kept.
const KEPT: usize = 10;

/// Words that mean NULL in files of this world.
const NULL_WORDS: [&str; 20] = [
    "NA", "N/A", "n/a", "na", "#N/A", "#NA", "NULL", "Null", "null", "None", "none", "NaN", "nan", "NAN",
    "\\N", "-", "--", ".", "?", "missing",
];

/// A table's columns, as its files suggest them.
#[derive(Clone, Debug)]
pub struct InferredTable {
    /// The columns, of the narrowest types that take their fields.
    pub columns: Vec<Column>,
    /// The rows of each place.
    pub rows: Vec<u64>,
    /// The names of columns without any value, to which any type would fit.
    pub guessed: Vec<String>,
    /// The findings for each column.
    pub found: Vec<ColumnSurvey>,
    /// Remarks for the owner on how the files are read.
    pub remarks: Vec<String>,
    /// The form that the first file turned out to have.
    pub form: Option<FoundForm>,
}

/// The kinds of values that a column may have beside text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Numbers.
    Numbers,
    /// Dates and times.
    Moments,
    /// True and false.
    Truths,
}

impl Family {
    const ALL: [Family; 3] = [Family::Numbers, Family::Moments, Family::Truths];

    fn of(self, looks: Looks) -> bool {
        match self {
            Family::Numbers => looks.number,
            Family::Moments => looks.moment,
            Family::Truths => looks.truth,
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Family::Numbers => "numbers",
            Family::Moments => "dates or times",
            Family::Truths => "true or false",
        }
    }
}

/// A value that is not of a family, without the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its file and place.
    pub place: String,
    /// Its form: `a` for a letter, `9` for a digit.
    pub form: String,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    fits: u64,
    misfits: Vec<Misfit>,
    /// Values that do not fit, and are words for NULL that everybody knows.
    words: u64,
}

/// The findings for a column.
#[derive(Clone, Debug)]
pub struct ColumnSurvey {
    /// The column.
    pub column: Column,
    /// Its values that are not NULL.
    pub values: u64,
    /// Its NULLs.
    pub nulls: u64,
    /// Whether a file declares its type.
    pub declared: bool,
    /// Numbers that begin with zeros or a plus.
    codes: u64,
    tallies: [Tally; 3],
    /// Words for NULL that everybody knows, among values that are no numbers, dates or truths.
    words: Vec<&'static str>,
    /// Spellings that fit more values, where these were looked for.
    spellings: Vec<Spelling>,
}

/// Options of a dialect in which more values of a column have a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The options, and their values.
    pub options: Vec<(&'static str, &'static str)>,
    /// The kind of its values.
    pub family: Family,
    /// The number of values that fit.
    pub fits: u64,
    /// The first values that do not.
    pub misfits: Vec<Misfit>,
    /// The words for NULL that everybody knows, among values that do not fit, and their number.
    words: (Vec<&'static str>, u64),
}

/// A column of text most of whose values are something else.
#[derive(Clone, Debug)]
pub struct Doubt<'s> {
    /// The kind of most values.
    pub family: Family,
    /// The number of values that are not.
    pub others: u64,
    /// The first of them.
    pub misfits: &'s [Misfit],
    /// The words for NULL that the others are, where all of them are such words.
    pub words: Vec<&'static str>,
}

impl Spelling {
    /// The words for NULL that all values are that do not fit, if they are such words.
    #[must_use]
    pub fn null_words(&self, values: u64) -> &[&'static str] {
        if self.fits + self.words.1 == values { &self.words.0 } else { &[] }
    }
}

impl ColumnSurvey {
    /// Whether it is text although most of its values are something else.
    #[must_use]
    pub fn doubt(&self) -> Option<Doubt<'_>> {
        if self.declared || self.has_codes() || !matches!(self.column.ty, ColumnType::Varchar(_)) {
            return None;
        }
        let best = Family::ALL.into_iter().zip(&self.tallies).max_by_key(|(_, tally)| tally.fits)?;
        let (family, tally) = best;
        let others = self.values - tally.fits;
        let words = if tally.words == others { self.words.clone() } else { vec![] };
        let is_most = tally.fits > 0 && 2 * tally.fits >= self.values && others > 0;
        is_most.then_some(Doubt { family, others, misfits: &tally.misfits, words })
    }

    /// Spellings in which at least half of the values, and more than in the present one, have a
    /// type. Several fit equally where nobody can tell which one is meant.
    #[must_use]
    pub fn spellings(&self) -> &[Spelling] {
        if matches!(self.column.ty, ColumnType::Varchar(_)) { &self.spellings } else { &[] }
    }

    /// Why the column has its type.
    #[must_use]
    pub fn reason(&self) -> String {
        let numbers = match self.column.ty {
            _ if self.values == 0 && !self.declared => return "no value: any type fits".to_owned(),
            _ if self.declared => "as the file declares".to_owned(),
            ColumnType::Boolean => "true or false".to_owned(),
            ColumnType::SmallInt | ColumnType::Integer => "whole numbers of 32 bits".to_owned(),
            ColumnType::BigInt => "whole numbers of 64 bits".to_owned(),
            ColumnType::Decimal { scale: 0, .. } => "whole numbers beyond 64 bits".to_owned(),
            ColumnType::Decimal { scale, .. } => format!("numbers, {scale} digits behind the point at most"),
            ColumnType::Double { .. } => {
                "numbers with exponents, or more digits than a decimal has".to_owned()
            }
            ColumnType::Date => "dates".to_owned(),
            ColumnType::Timestamp => "dates with a time, in UTC".to_owned(),
            ColumnType::Interval | ColumnType::Varchar(_) | ColumnType::Digest { .. } => self.text_reason(),
        };
        let nulls = match self.nulls {
            0 => "no NULL".to_owned(),
            1 => "1 NULL".to_owned(),
            n => format!("{n} NULLs"),
        };
        format!("{numbers}; {nulls}")
    }

    /// Whether all its values are digits, and some of them codes.
    fn has_codes(&self) -> bool {
        self.codes > 0 && self.codes + self.tallies[0].fits == self.values
    }

    fn text_reason(&self) -> String {
        if self.has_codes() {
            let (are, begin) = if self.codes == 1 { ("is a code", "begins") } else { ("are codes", "begin") };
            return format!(
                "digits, of which {} {are} that {begin} with 0 or +: their characters matter",
                self.codes
            );
        }
        let ColumnType::Varchar(most) = self.column.ty else { return "text".to_owned() };
        match self.doubt() {
            Some(Doubt { family, others, .. }) => {
                let is = if others == 1 { "value is not" } else { "values are not" };
                format!("{} but for {others} of {}: that {is}", family.words(), self.values)
            }
            None => format!("text of {most} bytes at most"),
        }
    }
}

impl Doubt<'_> {
    /// The first values that do not fit, in words.
    #[must_use]
    pub fn misfits(&self) -> String {
        let all = self.misfits.iter().take(3).map(|m| format!("{} (its form: {})", m.place, m.form));
        let all = all.collect::<Vec<_>>().join(", ");
        if self.others > 3 { format!("{all} and {} more", self.others - 3) } else { all }
    }

    /// The way out.
    #[must_use]
    pub fn remedy(&self) -> String {
        if self.words.is_empty() {
            "mend these values, or name the words that mean NULL with --null WORD,WORD".to_owned()
        } else {
            format!("add --null {}", self.words.join(","))
        }
    }
}

/// A field of a file as its owner's dialect has it.
pub(super) struct Field<'f> {
    /// Without blanks around it, where these are dropped.
    pub(super) text: &'f str,
    dialect: &'f Dialect,
}

impl<'f> Field<'f> {
    /// A field of text, or as it is where the file is not text.
    pub(super) fn new(text: &'f str, dialect: &'f Dialect, is_text: bool) -> Self {
        Self { text: if is_text { dialect.trimmed(text) } else { text }, dialect }
    }

    pub(super) fn is_null_word(&self) -> bool {
        self.dialect.is_null_word(self.text)
    }

    /// The field as a type is spelt in this project; `None` if it is none of that type.
    pub(super) fn spelt(&self, ty: ColumnType) -> Option<Cow<'f, str>> {
        match ty {
            ColumnType::Date | ColumnType::Timestamp => Some(self.dialect.moment(self.text)),
            ty if ty.is_numeric() => self.dialect.number(self.text),
            _ => Some(Cow::Borrowed(self.text)),
        }
    }
}

/// A spelling that is tried.
struct Trial {
    spelling: Spelling,
    dialect: Dialect,
}

/// The spellings that are tried, the plainer ones first.
fn trials() -> Vec<Trial> {
    const UNITS: (&str, &str) = ("units", "yes");
    let numbers: [&[(&str, &str)]; 10] = [
        &[("decimal", ",")],
        &[("thousands", ",")],
        &[("thousands", "'")],
        &[("thousands", "space")],
        &[("decimal", ","), ("thousands", ".")],
        &[("decimal", ","), ("thousands", "space")],
        &[UNITS],
        &[("decimal", ","), UNITS],
        &[("thousands", ","), UNITS],
        &[("decimal", ","), ("thousands", "."), UNITS],
    ];
    let formats = [
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d-%m-%Y",
        "%m-%d-%Y",
        "%Y/%m/%d",
        "%Y.%m.%d",
        "%d.%m.%y",
        "%d/%m/%y",
        "%m/%d/%y",
        "%d %b %Y",
        "%b %d, %Y",
        "%d.%m.%Y %H:%M",
        "%d.%m.%Y %H:%M:%S",
        "%d/%m/%Y %H:%M",
        "%d/%m/%Y %H:%M:%S",
        "%m/%d/%Y %H:%M",
        "%m/%d/%Y %H:%M:%S",
        "%m/%d/%Y %I:%M %p",
        "%m/%d/%Y %I:%M:%S %p",
    ];
    let trial = |options: Vec<(&'static str, &'static str)>, family| {
        let mut dialect = Dialect::default();
        // Each value is one that its option has.
        let is_set = options.iter().all(|(name, value)| dialect.set_list(name, &[value]).is_ok());
        let spelling = Spelling { options, family, fits: 0, misfits: vec![], words: (vec![], 0) };
        is_set.then_some(Trial { spelling, dialect })
    };
    let numbers = numbers.into_iter().map(|options| (options.to_vec(), Family::Numbers));
    let formats = formats.into_iter().map(|format| (vec![("date-format", format)], Family::Moments));
    numbers.chain(formats).filter_map(|(options, family)| trial(options, family)).collect()
}

/// A column while its values are seen.
struct Seen {
    inferred: Inferred,
    declared: bool,
    values: u64,
    nulls: u64,
    codes: u64,
    tallies: [Tally; 3],
    words: Vec<&'static str>,
    /// Spellings, where they are looked for.
    trials: Vec<Trial>,
    /// The place of the first number that no type holds.
    odd: Option<String>,
}

impl Seen {
    fn new(thorough: bool) -> Self {
        Self {
            inferred: Inferred::default(),
            declared: false,
            values: 0,
            nulls: 0,
            codes: 0,
            tallies: <[Tally; 3]>::default(),
            words: vec![],
            trials: if thorough { trials() } else { vec![] },
            odd: None,
        }
    }

    fn null(&mut self) {
        self.inferred.null();
        self.nulls += 1;
    }

    fn see(&mut self, field: &Field<'_>, record: &Fields<'_>, name: &str) -> Result<(), Fault> {
        if field.text.is_empty() && record.is_text() || field.is_null_word() {
            self.null();
            return Ok(());
        }
        self.values += 1;
        let number = field.dialect.number(field.text);
        let moment = field.dialect.moment(field.text);
        let spelt = Spelt { text: field.text, number: number.as_deref(), moment: &moment };
        if !field.text.is_empty() {
            self.inferred.see_spelt(spelt).map_err(|e| of_column(record.step(), name, &e))?;
        }
        if self.odd.is_none() && !self.inferred.has_double() {
            self.odd = Some(record.step());
        }
        if self.declared {
            return Ok(());
        }
        let looks = spelt.looks();
        self.codes += u64::from(looks.code);
        let is_text = !(looks.number || looks.moment || looks.truth);
        let word = NULL_WORDS.into_iter().find(|word| is_text && *word == field.text);
        if let Some(word) = word.filter(|word| !self.words.contains(word)) {
            self.words.push(word);
        }
        let misfit = || {
            let place = format!("{}, {}", record.path().display(), record.place());
            Misfit { place, form: outline(field.text) }
        };
        for (family, tally) in Family::ALL.into_iter().zip(&mut self.tallies) {
            if family.of(looks) {
                tally.fits += 1;
                continue;
            }
            tally.words += u64::from(word.is_some());
            if tally.misfits.len() < KEPT {
                tally.misfits.push(misfit());
            }
        }
        for Trial { spelling, dialect } in &mut self.trials {
            let number = dialect.number(field.text);
            let moment = dialect.moment(field.text);
            let looks = Spelt { text: field.text, number: number.as_deref(), moment: &moment }.looks();
            if spelling.family.of(looks) {
                spelling.fits += 1;
                continue;
            }
            spelling.words.1 += u64::from(word.is_some());
            if let Some(word) = word.filter(|word| !spelling.words.0.contains(word)) {
                spelling.words.0.push(word);
            }
            if spelling.misfits.len() < KEPT {
                spelling.misfits.push(misfit());
            }
        }
        Ok(())
    }

    fn column(self, name: &str) -> Result<(ColumnSurvey, bool), Fault> {
        let odd = self.odd.unwrap_or_default();
        let column = self.inferred.column(name).map_err(|e| of_column(odd, name, &e))?;
        let plain = self.tallies.iter().map(|tally| tally.fits).max().unwrap_or(0);
        let most = self.trials.iter().map(|trial| trial.spelling.fits).max().unwrap_or(0);
        let is_better = most > plain && 2 * most >= self.values;
        let best =
            self.trials.into_iter().map(|trial| trial.spelling).filter(|s| is_better && s.fits == most);
        // Fewer options say the same. Spellings with as many options are other readings.
        let mut spellings: Vec<Spelling> = best.collect();
        let fewest = spellings.iter().map(|s| s.options.len()).min().unwrap_or(0);
        spellings.retain(|spelling| spelling.options.len() == fewest);
        let guess = self.inferred.is_a_guess();
        let survey = ColumnSurvey {
            column,
            values: self.values,
            nulls: self.nulls,
            declared: self.declared,
            codes: self.codes,
            tallies: self.tallies,
            words: self.words,
            spellings,
        };
        Ok((survey, guess))
    }
}

fn of_column(step: String, name: &str, e: &Fault) -> Fault {
    Fault::new(code::ROWS, step, format!("column {name}: {}", e.cause()), e.remedy()).whole()
}

/// How much of a table's files is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depth {
    /// The first rows of each place; all where it is not set.
    pub sample: Option<u64>,
    /// Whether spellings of numbers and dates are looked for in columns of text.
    pub spellings: bool,
}

/// The columns of a table's files, with the narrowest types that take their fields, and the rows of
/// each place. What a Parquet file declares bounds the choice: its strings stay strings. The files
/// of one table are seen one after the other.
///
/// # Errors
/// A file cannot be read, or the files name other columns; a column is of numbers, one of which no
/// type holds.
pub fn infer(files: &[&InputPlace]) -> Result<InferredTable, Fault> {
    survey(files, Depth::default())
}

/// [`infer`], as deep as `depth` has it.
///
/// # Errors
/// As [`infer`].
pub fn survey(files: &[&InputPlace], depth: Depth) -> Result<InferredTable, Fault> {
    let (mut names, mut seen): (Vec<String>, Vec<Seen>) = (vec![], vec![]);
    let (mut counts, mut remarks, mut form, mut empty) = (vec![], vec![], None, None);
    for place in files {
        let mut file = TableFile::open(STREAM, place, &Dialect::default())?;
        if file.is_empty() {
            // Its partners may have columns; it has no rows.
            empty = empty.or_else(|| Some(file.path().to_owned()));
            counts.push(0);
            continue;
        }
        form = form.or_else(|| Some(file.found()));
        if names.is_empty() {
            names = file.names();
            seen = names.iter().map(|_| Seen::new(depth.spellings)).collect();
        }
        file.choose(names.iter().map(String::as_str))?;
        for (seen, declared) in seen.iter_mut().zip(file.declared(&names)) {
            if let Some(declared) = declared {
                seen.inferred.declare(schema::parse_type(&declared));
                seen.declared = true;
            }
        }
        let dialect = file.dialect().clone();
        let mut rows = 0;
        while depth.sample.is_none_or(|most| rows < most) {
            let Some(record) = file.read()? else { break };
            rows += 1;
            for (at, seen) in seen.iter_mut().enumerate() {
                match record.get(at) {
                    Some(bytes) => {
                        let text = String::from_utf8_lossy(bytes);
                        let field = Field::new(&text, &dialect, record.is_text());
                        seen.see(&field, &record, &names[at])?;
                    }
                    None => seen.null(),
                }
            }
        }
        counts.push(rows);
        remarks.extend(file.remarks().iter().cloned());
    }
    if let (true, Some(path)) = (names.is_empty(), &empty) {
        return Err(is_empty(path));
    }
    let (mut found, mut guessed) = (vec![], vec![]);
    for (name, seen) in names.iter().zip(seen) {
        let (survey, is_a_guess) = seen.column(name)?;
        if is_a_guess {
            guessed.push(name.clone());
        }
        found.push(survey);
    }
    let columns = found.iter().map(|survey| survey.column.clone()).collect();
    Ok(InferredTable { columns, rows: counts, guessed, found, remarks, form })
}

fn is_empty(path: &Path) -> Fault {
    let remedy = "its first line must name the columns, or a schema must declare them";
    Fault::file("read", path, "it is empty", remedy)
}

/// The rows of a table's place, and what the owner should know of how its files are read.
///
/// # Errors
/// It cannot be read.
pub fn count(place: &InputPlace) -> Result<(u64, Vec<String>), Fault> {
    let mut file = TableFile::open(STREAM, place, &Dialect::default())?;
    file.choose([].into_iter())?;
    let mut rows = 0;
    while file.read()?.is_some() {
        rows += 1;
    }
    Ok((rows, file.remarks().to_vec()))
}
