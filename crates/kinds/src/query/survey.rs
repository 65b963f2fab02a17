//! A survey of a table's files: the narrowest types of its columns, the reasons, and the rows that
//! do not fit the type of most others.

use super::{
    source::{Fields, TableFile},
    trials::{Trial, trials},
};
use hushwire_fault::code;
use hushwire_files::{FoundForm, outline};
use hushwire_session::{Dialect, Fault, InputPlace};
use hushwire_sql::schema::{self, Inferred, Looks, Spelt};
use hushwire_tables::algebra::{Column, ColumnType, MAX_TEXT};
use std::{borrow::Cow, path::Path};

/// The name in messages of a table that does not come from a file.
const STREAM: &str = "on standard input";

/// LOCAL: the number of misfits whose places are kept.
const KEPT: usize = 10;

/// Words with which a row of totals begins.
const TOTALS: [&str; 9] =
    ["total", "totals", "grand total", "sum", "subtotal", "gesamt", "summe", "insgesamt", "totale"];

/// LOCAL: characters that may separate fields, and that are not tried by default.
const RARE_SEPARATORS: [char; 4] = ['^', '~', ':', '\u{1}'];

/// Words that often mean NULL in files, NaN and infinities among them.
const NULL_WORDS: [&str; 25] = [
    "NA",
    "N/A",
    "n/a",
    "na",
    "#N/A",
    "#NA",
    "NULL",
    "Null",
    "null",
    "None",
    "none",
    "NaN",
    "nan",
    "NAN",
    "\\N",
    "-",
    "--",
    ".",
    "?",
    "missing",
    "inf",
    "-inf",
    "Inf",
    "Infinity",
    "-Infinity",
];

/// The columns of a table that its files suggest.
#[derive(Clone, Debug)]
pub struct InferredTable {
    /// The columns, with the narrowest types that take their fields.
    pub columns: Vec<Column>,
    /// The number of rows of each place.
    pub rows: Vec<u64>,
    /// The names of columns without any value, which fit every type.
    pub guessed: Vec<String>,
    /// The findings for each column.
    pub found: Vec<ColumnSurvey>,
    /// Remarks for the owner on how the files are read.
    pub remarks: Vec<String>,
    /// Remarks on the rows: a row of totals, text in another encoding.
    pub notes: Vec<String>,
    /// Whether a name or a field is not UTF-8.
    pub is_garbled: bool,
    /// The form that was found in the first file.
    pub form: Option<FoundForm>,
}

/// The kinds of values, other than text, that a column may have.
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

    /// The name of the kind, in the plural.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Family::Numbers => "numbers",
            Family::Moments => "dates or times",
            Family::Truths => "true or false",
        }
    }
}

/// A value that is not of a family. The value itself is not kept.
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
    /// The number of values that do not fit and are common words for NULL.
    words: u64,
}

/// The findings for a column.
#[derive(Clone, Debug)]
pub struct ColumnSurvey {
    /// The column.
    pub column: Column,
    /// The number of values that are not NULL.
    pub values: u64,
    /// The number of NULLs.
    pub nulls: u64,
    /// Whether a file declares its type.
    pub declared: bool,
    /// The first text that is longer than any string type: its place, and its bytes.
    long: Option<(String, usize)>,
    /// The number of numbers that begin with zeros or a plus.
    codes: u64,
    /// The most digits behind the point of a number, including codes.
    scale: usize,
    tallies: [Tally; 3],
    /// Common words for NULL among values that are not numbers, dates or truth values.
    words: Vec<&'static str>,
    /// Spellings that fit more values, if the survey looks for them.
    spellings: Vec<Spelling>,
}

/// Options of a dialect with which more values of a column have a type.
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
    /// The common words for NULL among values that do not fit, and their number.
    pub(super) words: (Vec<&'static str>, u64),
}

/// A column of text, most of whose values have another type.
#[derive(Clone, Debug)]
pub struct Doubt<'s> {
    /// The kind of most values.
    pub family: Family,
    /// The number of values that are not of it.
    pub others: u64,
    /// The first of them.
    pub misfits: &'s [Misfit],
    /// The words for NULL among the other values, if all of these are such words.
    pub words: Vec<&'static str>,
}

impl Spelling {
    /// The words for NULL among the values that do not fit, if all of these are such words.
    #[must_use]
    pub fn null_words(&self, values: u64) -> &[&'static str] {
        if self.fits + self.words.1 == values { &self.words.0 } else { &[] }
    }
}

impl ColumnSurvey {
    /// The doubt about a column that is text although most of its values are something else.
    #[must_use]
    pub fn doubt(&self) -> Option<Doubt<'_>> {
        if self.declared || self.has_codes() || !matches!(self.column.ty, ColumnType::Varchar(_)) {
            return None;
        }
        let best = Family::ALL.into_iter().zip(&self.tallies).max_by_key(|(_, tally)| tally.fits)?;
        let (family, tally) = best;
        let others = self.values - tally.fits;
        let words = if tally.words == others { self.words.clone() } else { vec![] };
        let is_most =
            tally.fits > 0 && (2 * tally.fits >= self.values || tally.words == others) && others > 0;
        is_most.then_some(Doubt { family, others, misfits: &tally.misfits, words })
    }

    /// The spellings with which at least half of the values, and more than now, have a type.
    /// Several may fit equally, if it cannot be known which one is meant.
    #[must_use]
    pub fn spellings(&self) -> &[Spelling] {
        if matches!(self.column.ty, ColumnType::Varchar(_)) { &self.spellings } else { &[] }
    }

    /// The reason for the column's type.
    #[must_use]
    pub fn reason(&self) -> String {
        let numbers = match self.column.ty {
            _ if self.values == 0 && !self.declared => return "no value: any type fits".to_owned(),
            _ if self.long.is_some() => self.long_text().unwrap_or_default(),
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

    /// A remark on a text that is longer than any string type, if the column has one.
    #[must_use]
    pub fn long_text(&self) -> Option<String> {
        let (place, bytes) = self.long.as_ref()?;
        Some(format!(
            "text of {bytes} bytes ({place}), and VARCHAR has {MAX_TEXT}: its digest is compared, counted and joined, and never shown"
        ))
    }

    /// Tests whether it is text whose values are all numbers or codes of digits.
    #[must_use]
    pub fn has_codes(&self) -> bool {
        let is_text = matches!(self.column.ty, ColumnType::Varchar(_));
        is_text && self.codes > 0 && self.codes + self.tallies[0].fits == self.values
    }

    /// The type that its values would have as numbers, if it is text only because of codes.
    #[must_use]
    pub fn as_numbers(&self) -> Option<String> {
        let decimal = || format!("DECIMAL(18, {})", self.scale.min(18));
        self.has_codes().then(|| if self.scale == 0 { "INTEGER".to_owned() } else { decimal() })
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
                let is = if others == 1 { "that value is not" } else { "those values are not" };
                format!("{} but for {others} of {}: {is}", family.words(), self.values)
            }
            None => format!("text of {most} bytes at most"),
        }
    }
}

impl Doubt<'_> {
    /// Describes the first values that do not fit.
    #[must_use]
    pub fn misfits(&self) -> String {
        let all = self.misfits.iter().take(3).map(|m| format!("{} (its form: {})", m.place, m.form));
        let all = all.collect::<Vec<_>>().join(", ");
        if self.others > 3 { format!("{all} and {} more", self.others - 3) } else { all }
    }

    /// The remedy.
    #[must_use]
    pub fn remedy(&self) -> String {
        if self.words.is_empty() {
            "mend these values, or name the words that mean NULL with --null WORD,WORD".to_owned()
        } else {
            format!("add --null {}", self.words.join(","))
        }
    }
}

/// A field of a file, in its owner's dialect.
pub(super) struct Field<'f> {
    /// The text, without blanks around it if the dialect drops them.
    pub(super) text: &'f str,
    dialect: &'f Dialect,
}

impl<'f> Field<'f> {
    /// Takes a field of a text file, or an unchanged field of another file.
    pub(super) fn new(text: &'f str, dialect: &'f Dialect, is_text: bool) -> Self {
        Self { text: if is_text { dialect.trimmed(text) } else { text }, dialect }
    }

    pub(super) fn is_null_word(&self) -> bool {
        self.dialect.is_null_word(self.text)
    }

    /// The field in this project's spelling of a type; `None` if it does not have that type.
    pub(super) fn spelt(&self, ty: ColumnType) -> Option<Cow<'f, str>> {
        match ty {
            ColumnType::Date | ColumnType::Timestamp => Some(self.dialect.moment(self.text)),
            ty if ty.is_numeric() => self.dialect.number(self.text),
            _ => Some(Cow::Borrowed(self.text)),
        }
    }
}

/// A column during the survey of its values.
struct Seen {
    inferred: Inferred,
    declared: bool,
    values: u64,
    nulls: u64,
    codes: u64,
    scale: usize,
    tallies: [Tally; 3],
    words: Vec<&'static str>,
    /// Spellings to try, if the survey looks for them.
    trials: Vec<Trial>,
    /// The place of the first number that does not fit in any type.
    odd: Option<String>,
    /// The first text that is longer than any string type.
    long: Option<(String, usize)>,
}

impl Seen {
    fn new(thorough: bool) -> Self {
        Self {
            inferred: Inferred::default(),
            declared: false,
            values: 0,
            nulls: 0,
            codes: 0,
            scale: 0,
            tallies: <[Tally; 3]>::default(),
            words: vec![],
            trials: if thorough { trials() } else { vec![] },
            odd: None,
            long: None,
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
        if field.text.contains('\0') {
            let cause = format!("column {name}: a field has a zero byte");
            let remedy = "take it out, or set the encoding if the file is UTF-16";
            return Err(Fault::new(code::ROWS, record.step(), cause, remedy).whole());
        }
        self.values += 1;
        let number = field.dialect.number(field.text);
        let moment = field.dialect.moment(field.text);
        let spelt = Spelt { text: field.text, number: number.as_deref(), moment: &moment };
        if field.text.len() > usize::from(MAX_TEXT) {
            self.long.get_or_insert_with(|| (placed(record), field.text.len()));
        } else if !field.text.is_empty() {
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
        if let (true, Some(number)) = (looks.code || looks.number, &number) {
            let behind = number.trim().split_once('.').map_or("", |(_, behind)| behind);
            self.scale = self.scale.max(behind.len());
        }
        let is_text = !(looks.number || looks.moment || looks.truth);
        let word = NULL_WORDS.into_iter().find(|word| is_text && *word == field.text);
        if let Some(word) = word.filter(|word| !self.words.contains(word)) {
            self.words.push(word);
        }
        let misfit = || Misfit { place: placed(record), form: outline(field.text) };
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
        let mut column = self.inferred.column(name).map_err(|e| of_column(odd, name, &e))?;
        if self.long.is_some() {
            // No string type can hold the text, but joins and counts need only its digest.
            column.ty = ColumnType::Digest { bits: 64 };
        }
        let plain = self.tallies.iter().map(|tally| tally.fits).max().unwrap_or(0);
        let most = self.trials.iter().map(|trial| trial.spelling.fits).max().unwrap_or(0);
        let is_better = most > plain && 2 * most >= self.values;
        let best =
            self.trials.into_iter().map(|trial| trial.spelling).filter(|s| is_better && s.fits == most);
        // A spelling with fewer options means the same. Spellings with as many options are other
        // readings.
        let mut spellings: Vec<Spelling> = best.collect();
        let fewest = spellings.iter().map(|s| s.options.len()).min().unwrap_or(0);
        spellings.retain(|spelling| spelling.options.len() == fewest);
        let guess = self.inferred.is_a_guess() && self.long.is_none();
        let survey = ColumnSurvey {
            column,
            values: self.values,
            nulls: self.nulls,
            declared: self.declared,
            long: self.long,
            codes: self.codes,
            scale: self.scale,
            tallies: self.tallies,
            words: self.words,
            spellings,
        };
        Ok((survey, guess))
    }
}

fn placed(record: &Fields<'_>) -> String {
    format!("{}, {}", record.path().display(), record.place())
}

/// Remarks on a file that depend on its rows.
#[derive(Default)]
struct RowNotes {
    /// The first field that is not UTF-8: its place and column.
    garbled: Option<(String, String)>,
    /// The place of the last row, if it begins as a row of totals does.
    total: Option<String>,
    /// Characters that occur as often in each line as in the first one, in a file with one column.
    separators: Vec<(char, usize)>,
}

impl RowNotes {
    fn new(names: &[String]) -> Self {
        let [name] = names else { return Self::default() };
        let often = |c: char| name.chars().filter(|of| *of == c).count();
        let separators = RARE_SEPARATORS.map(|c| (c, often(c))).into_iter().filter(|(_, n)| *n > 0);
        Self { separators: separators.collect(), ..Self::default() }
    }

    fn see(&mut self, record: &Fields<'_>, names: &[String]) {
        if !record.is_text() {
            return;
        }
        let mut fields = names.iter().enumerate().filter_map(|(at, name)| Some((name, record.get(at)?)));
        if self.garbled.is_none()
            && let Some((name, _)) = fields.clone().find(|(_, bytes)| std::str::from_utf8(bytes).is_err())
        {
            self.garbled = Some((placed(record), name.clone()));
        }
        let first = fields.find_map(|(_, bytes)| Some(bytes.trim_ascii()).filter(|b| !b.is_empty()));
        let first = first.unwrap_or_default();
        let first = first.strip_suffix(b":").unwrap_or(first);
        let is_total = TOTALS.iter().any(|word| first.eq_ignore_ascii_case(word.as_bytes()));
        self.total = is_total.then(|| placed(record));
        if !self.separators.is_empty() {
            let text = String::from_utf8_lossy(record.get(0).unwrap_or_default()).into_owned();
            self.separators.retain(|(c, often)| text.chars().filter(|of| of == c).count() == *often);
        }
    }

    /// The remarks as text. `is_whole` tells whether the file was read to its end.
    fn notes(self, rows: u64, is_whole: bool) -> Vec<String> {
        let garbled = self.garbled.map(|(place, name)| {
            format!("{place}: column {name} is not UTF-8; set --encoding latin1, or windows-1252, which Excel on Windows writes")
        });
        let total = self.total.filter(|_| is_whole && rows > 1).map(|place| {
            format!("{place}: this last row begins with a word for a total; if it is one, delete the line: sums would count all values twice")
        });
        let separator = self.separators.first().filter(|_| rows > 0).map(|(c, _)| {
            // This is how a shell writes a control character.
            let (shown, given) = match *c {
                '\u{1}' => ("the character U+0001".to_owned(), "$'\\x01'".to_owned()),
                c => (format!("\"{c}\""), format!("\"{c}\"")),
            };
            format!("there is one column, and each line has {shown} as often as the first one; if it is between columns, set --separator {given}")
        });
        garbled.into_iter().chain(total).chain(separator).collect()
    }
}

fn of_column(step: String, name: &str, e: &Fault) -> Fault {
    Fault::new(code::ROWS, step, format!("column {name}: {}", e.cause()), e.remedy()).whole()
}

/// The depth of a survey.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depth {
    /// The number of first rows of each place to read; all if it is not set.
    pub sample: Option<u64>,
    /// Whether to look for spellings of numbers and dates in columns of text.
    pub spellings: bool,
}

/// The columns of a table's files with the narrowest types that take their fields, and the number
/// of rows of each place. The declarations of a Parquet file bound the choice: its strings stay
/// strings. The files of one table are read one after another.
///
/// # Errors
/// A file cannot be read, the files have different column names, or a number of a column of numbers
/// does not fit in any type.
pub fn infer(files: &[&InputPlace]) -> Result<InferredTable, Fault> {
    survey(files, Depth::default())
}

/// Like [`infer`], with this depth.
///
/// # Errors
/// The same as [`infer`].
pub fn survey(files: &[&InputPlace], depth: Depth) -> Result<InferredTable, Fault> {
    let (mut names, mut seen): (Vec<String>, Vec<Seen>) = (vec![], vec![]);
    let (mut counts, mut remarks, mut notes) = (vec![], vec![], vec![]);
    let (mut form, mut empty, mut is_garbled) = (None, None, false);
    for place in files {
        let mut file = TableFile::open(STREAM, place, &Dialect::default())?;
        if file.is_empty() {
            // The table's other files may have columns. This one has no rows.
            empty = empty.or_else(|| Some(file.path().to_owned()));
            counts.push(0);
            continue;
        }
        form = form.or_else(|| Some(file.found()));
        if names.is_empty() {
            names = file.names();
            notes.extend(unread(&file, &names)?);
            different(&names, file.path())?;
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
        let (mut rows, mut is_whole, mut watch) = (0, false, RowNotes::new(&names));
        while depth.sample.is_none_or(|most| rows < most) {
            let Some(record) = file.read()? else {
                is_whole = true;
                break;
            };
            rows += 1;
            watch.see(&record, &names);
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
        is_garbled |= watch.garbled.is_some() || !file.names_are_text();
        notes.extend(watch.notes(rows, is_whole));
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
    Ok(InferredTable { columns, rows: counts, guessed, found, remarks, notes, is_garbled, form })
}

/// Returns a note on the columns of a file that queries cannot read, if there are any.
fn unread(file: &TableFile<'_>, names: &[String]) -> Result<Option<String>, Fault> {
    let unread = file.unread();
    let remedy = "save them as numbers, text, dates or timestamps, each part of a list or struct in a column of its own";
    match (unread.is_empty(), names.is_empty()) {
        (true, _) => Ok(None),
        (false, true) => {
            let cause = format!("all its columns are of types that are not read: {}", unread.join(", "));
            Err(Fault::file("read", file.path(), cause, remedy))
        }
        (false, false) => Ok(Some(format!(
            "queries do not see columns of {} whose types are not read: {}; to use them, {remedy}",
            file.path().display(),
            unread.join(", ")
        ))),
    }
}

/// Refuses columns that queries would not tell apart: they tell no capitals from small letters.
fn different(names: &[String], path: &Path) -> Result<(), Fault> {
    let alike = |a: &str, b: &str| a != b && a.to_lowercase() == b.to_lowercase();
    for (at, name) in names.iter().enumerate() {
        if let Some(other) = names[..at].iter().find(|other| alike(other, name)) {
            let cause = format!("columns {other} and {name} differ in capital letters alone");
            return Err(Fault::file("read", path, cause, "rename one of them"));
        }
    }
    Ok(())
}

fn is_empty(path: &Path) -> Fault {
    let remedy = "its first line must name the columns, or a schema must declare them";
    Fault::file("read", path, "it is empty", remedy)
}

/// The number of rows of a table's place, and remarks for the owner on how its files are read.
///
/// # Errors
/// The place cannot be read.
pub fn count(place: &InputPlace) -> Result<(u64, Vec<String>), Fault> {
    let mut file = TableFile::open(STREAM, place, &Dialect::default())?;
    file.choose([].into_iter())?;
    let mut rows = 0;
    while file.read()?.is_some() {
        rows += 1;
    }
    Ok((rows, file.remarks().to_vec()))
}
