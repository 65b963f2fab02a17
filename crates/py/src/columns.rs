//! Tables from Python: of other libraries, of Python's lists, and of files. The type of a column
//! decides its SQL type. A column that SQL cannot represent exactly needs a declared type, or is
//! refused by name.

mod csv;
mod dictionary;
mod listed;
mod ready;

use crate::{
    arrow::{ArrowField, View, import},
    errors::result,
    running::aside,
};
use csv::csv;
use hushwire::{
    Fault,
    fault::code,
    job::{InputPlace, Member, QueryTask, Value, declaration, infer},
    sql::schema::parse_type,
    tables::{
        BitSlice,
        algebra::{Column, ColumnType, MAX_TEXT},
    },
};
use hushwire_columns::{NumberSlice, divided, multiplied, packed};
use listed::Listed;
use pyo3::prelude::*;
use std::{borrow::Cow, collections::BTreeMap, path::PathBuf, sync::Arc};

const READING: &str = "reading a table";
/// The most digits of a 128-bit decimal.
const DIGITS: u8 = 38;
const DAY_MILLIS: i128 = 86_400_000;

/// The kind of a column's values before the choice of an SQL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Whole {
        width: usize,
        signed: bool,
    },
    Real {
        width: usize,
    },
    Decimal {
        width: usize,
        precision: u8,
        scale: u8,
    },
    /// Days, in 4 bytes.
    Day,
    /// Milliseconds of whole days, in 8 bytes.
    DayMillis,
    /// A time in parts of a second, in 8 bytes.
    Moment {
        per_second: i128,
    },
    Text,
    /// Only NULL values.
    Nothing,
    /// Values of a type that this SQL does not have.
    Other,
}

/// The place of values.
enum HeldData {
    /// Values in buffers of another library, with a view of each batch.
    Views(Vec<View>, ArrowField),
    /// Values in this object, with a flag for each row that has a value. They are texts, numbers in
    /// records of the kind's width, or truth values in bytes.
    Own { numbers: Vec<u8>, texts: Vec<Vec<u8>>, valid: Vec<bool> },
}

struct Held {
    name: String,
    kind: Kind,
    data: HeldData,
}

enum Source {
    Held(Vec<Held>),
    File(InputPlace, Vec<Column>),
}

/// A table from Python. Its text form never contains its values.
#[pyclass(frozen, module = "hushwire._native", name = "Columns")]
pub(crate) struct FrameColumns {
    source: Arc<Source>,
    rows: usize,
}

/// A column in the form that a query takes. Borrowed parts belong to the other library.
struct Ready<'a> {
    numbers: Cow<'a, [u8]>,
    width: usize,
    signed: bool,
    truths: (Cow<'a, [u8]>, usize),
    texts: Vec<&'a [u8]>,
    valid: Option<(Cow<'a, [u8]>, usize)>,
    /// The number of steps of 1, if the numbers are floats.
    unit: Option<f64>,
    is_truth: bool,
    is_text: bool,
}

fn refused(cause: String, remedy: &str) -> Fault {
    Fault::usage(READING, cause, remedy)
}

/// Returns the kind of a format of the Arrow interface.
fn kind(format: &str) -> Option<Kind> {
    let whole = |width, signed| Some(Kind::Whole { width, signed });
    match format {
        "n" => Some(Kind::Nothing),
        "b" => Some(Kind::Truth),
        "c" => whole(1, true),
        "C" => whole(1, false),
        "s" => whole(2, true),
        "S" => whole(2, false),
        "i" => whole(4, true),
        "I" => whole(4, false),
        "l" => whole(8, true),
        "L" => whole(8, false),
        "f" => Some(Kind::Real { width: 4 }),
        "g" => Some(Kind::Real { width: 8 }),
        "u" | "U" | "vu" => Some(Kind::Text),
        "tdD" => Some(Kind::Day),
        "tdm" => Some(Kind::DayMillis),
        _ => {
            if let Some(digits) = format.strip_prefix("d:") {
                let numbers: Vec<i64> = digits.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
                let (precision, scale, bits) = match numbers[..] {
                    [precision, scale] => (precision, scale, 128),
                    [precision, scale, bits] => (precision, scale, bits),
                    _ => return None,
                };
                let width = usize::try_from(bits).ok().filter(|bits| matches!(bits, 32 | 64 | 128))? / 8;
                let scale = u8::try_from(scale).ok()?;
                return Some(Kind::Decimal { width, precision: u8::try_from(precision).ok()?, scale });
            }
            let (unit, zone) = format.strip_prefix("ts")?.split_once(':')?;
            let per_second = match unit {
                "s" => 1,
                "m" => 1000,
                "u" => 1_000_000,
                "n" => 1_000_000_000,
                _ => return None,
            };
            // Times with a time zone are stored as times in UTC.
            let _ = zone;
            Some(Kind::Moment { per_second })
        }
    }
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Kind::Truth | Kind::Text | Kind::Nothing | Kind::Other => 1,
            Kind::Whole { width, .. } | Kind::Real { width } | Kind::Decimal { width, .. } => width,
            Kind::Day => 4,
            Kind::DayMillis | Kind::Moment { .. } => 8,
        }
    }

    fn signed(self) -> bool {
        !matches!(self, Kind::Whole { signed: false, .. })
    }

    /// Describes the kind in words.
    fn words(self) -> &'static str {
        match self {
            Kind::Truth => "truth values",
            Kind::Whole { .. } => "whole numbers",
            Kind::Real { .. } => "floats",
            Kind::Decimal { .. } => "decimals",
            Kind::Day | Kind::DayMillis => "dates",
            Kind::Moment { .. } => "times",
            Kind::Text => "strings",
            Kind::Nothing => "nothing but nulls",
            Kind::Other => "values of a type that SQL here does not have",
        }
    }
}

impl Held {
    /// Returns whether some rows have no value.
    fn has_nulls(&self) -> bool {
        match &self.data {
            HeldData::Own { valid, .. } => valid.contains(&false),
            HeldData::Views(views, _) => views.iter().any(View::has_nulls) || self.kind == Kind::Nothing,
        }
    }

    /// Returns the texts of all rows; the text of a row without a value is arbitrary.
    fn texts(&self) -> Result<Vec<Cow<'_, [u8]>>, Fault> {
        let broken =
            || refused(format!("column {} has offsets that are none", self.name), "bring another copy");
        match &self.data {
            HeldData::Own { texts, .. } => Ok(texts.iter().map(|text| Cow::from(text.as_slice())).collect()),
            HeldData::Views(views, field) => {
                let mut all = vec![];
                for view in views {
                    match &field.dictionary {
                        None => all
                            .extend(view.texts(&field.format).ok_or_else(broken)?.into_iter().map(Cow::from)),
                        Some(format) => {
                            // Dictionaries are small.
                            let words = view.dictionary().ok_or_else(broken)?;
                            let words = words.texts(format).ok_or_else(broken)?;
                            let words: Vec<Vec<u8>> = words.into_iter().map(<[u8]>::to_vec).collect();
                            for place in dictionary::places(view, &field.format).ok_or_else(broken)? {
                                // The place in a row without a value may be any number.
                                let word = place.and_then(|at| words.get(at)).cloned().unwrap_or_default();
                                all.push(Cow::from(word));
                            }
                        }
                    }
                }
                Ok(all)
            }
        }
    }

    fn longest(&self) -> Result<usize, Fault> {
        Ok(self.texts()?.iter().map(|text| text.len()).max().unwrap_or_default())
    }

    /// Returns the SQL type of the column, if none is declared.
    fn ty(&self) -> Result<ColumnType, Fault> {
        let name = &self.name;
        Ok(match self.kind {
            Kind::Truth => ColumnType::Boolean,
            Kind::Whole { width: 1, .. } | Kind::Whole { width: 2, signed: true } => ColumnType::SmallInt,
            Kind::Whole { width: 2, .. } | Kind::Whole { width: 4, signed: true } => ColumnType::Integer,
            Kind::Whole { width: 4, .. } | Kind::Whole { signed: true, .. } => ColumnType::BigInt,
            Kind::Whole { .. } => ColumnType::Decimal { precision: 20, scale: 0 },
            Kind::Decimal { precision, scale, .. } => {
                let (precision, scale) = (precision.max(scale).min(DIGITS), scale);
                ColumnType::Decimal { precision, scale }
            }
            Kind::Day | Kind::DayMillis => ColumnType::Date,
            Kind::Moment { .. } => ColumnType::Timestamp,
            Kind::Text => {
                // All parties learn the length. A multiple of 4 reveals less.
                let bytes = self.longest()?.max(1).next_multiple_of(4);
                let Some(bytes) = u16::try_from(bytes).ok().filter(|bytes| *bytes <= MAX_TEXT) else {
                    let cause = format!("column {name} has strings of more than {MAX_TEXT} bytes");
                    let remedy =
                        "declare it, as columns={\"note\": \"DIGEST\"} to compare alone, or leave it out";
                    return Err(refused(cause, remedy));
                };
                ColumnType::Varchar(bytes)
            }
            Kind::Real { .. } => {
                let cause = format!("column {name} has floats, which SQL here has as fixed-point numbers");
                let remedy = format!(
                    "declare it: columns={{\"{name}\": hw.double(16)}} for steps of 2^-16, or \"DECIMAL(9, 2)\""
                );
                return Err(refused(cause, &remedy));
            }
            Kind::Nothing => {
                let cause = format!("column {name} has no values, and no type");
                let remedy = format!("declare it, as columns={{\"{name}\": \"INTEGER\"}}, or leave it out");
                return Err(refused(cause, &remedy));
            }
            Kind::Other => {
                let cause = format!("column {name} has {}", self.kind.words());
                let remedy = "leave it out, or convert it to numbers, decimals, dates, times or strings";
                return Err(refused(cause, remedy));
            }
        })
    }

    /// Returns a bit for each row that says whether it has a value, and the first row's bit
    /// position.
    fn valid(&self) -> Option<(Cow<'_, [u8]>, usize)> {
        match &self.data {
            HeldData::Own { valid, .. } => valid.contains(&false).then(|| (Cow::from(packed(valid)), 0)),
            HeldData::Views(views, _) => match &views[..] {
                [view] => view.valid().map(|(bits, start)| (Cow::from(bits), start)),
                _ if views.iter().all(|view| view.valid().is_none()) => None,
                _ => {
                    let mut flags = vec![];
                    for view in views {
                        match view.valid().and_then(|(bits, start)| BitSlice::new(bits, start, view.rows())) {
                            Some(bits) => bits.append_flags(&mut flags),
                            None => flags.resize(flags.len() + view.rows(), true),
                        }
                    }
                    Some((Cow::from(packed(&flags)), 0))
                }
            },
        }
    }

    fn numbers(&self) -> Cow<'_, [u8]> {
        match &self.data {
            HeldData::Own { numbers, .. } => Cow::from(numbers.as_slice()),
            HeldData::Views(views, _) => match &views[..] {
                [view] => Cow::from(view.numbers(self.kind.width())),
                _ => {
                    let mut all = vec![];
                    views.iter().for_each(|view| all.extend_from_slice(view.numbers(self.kind.width())));
                    Cow::from(all)
                }
            },
        }
    }

    fn truths(&self) -> (Cow<'_, [u8]>, usize) {
        match &self.data {
            HeldData::Own { numbers, .. } => {
                (Cow::from(packed(&numbers.iter().map(|byte| *byte == 1).collect::<Vec<_>>())), 0)
            }
            HeldData::Views(views, _) => match &views[..] {
                [view] => {
                    let (bits, start) = view.truths();
                    (Cow::from(bits), start)
                }
                _ => {
                    let mut flags = vec![];
                    for view in views {
                        let (bits, start) = view.truths();
                        match BitSlice::new(bits, start, view.rows()) {
                            Some(bits) => bits.append_flags(&mut flags),
                            None => flags.resize(flags.len() + view.rows(), false),
                        }
                    }
                    (Cow::from(packed(&flags)), 0)
                }
            },
        }
    }

    /// Converts the column to values of a type.
    fn ready<'a>(&'a self, ty: ColumnType, texts: &'a [Cow<'a, [u8]>]) -> Result<Ready<'a>, Fault> {
        let (kind, valid) = (self.kind, self.valid());
        if kind == Kind::Nothing {
            return Ok(self.nothing(ty));
        }
        let mut ready = Ready {
            numbers: Cow::from(&[][..]),
            width: kind.width(),
            signed: kind.signed(),
            truths: (Cow::from(&[][..]), 0),
            texts: vec![],
            valid,
            unit: None,
            is_truth: false,
            is_text: false,
        };
        let frac = |frac: u8| 1i128 << frac;
        let tens = |digits: u8| 10i128.pow(digits.into());
        match (kind, ty) {
            (Kind::Truth, ColumnType::Boolean) => {
                (ready.truths, ready.is_truth) = (self.truths(), true);
            }
            (Kind::Text, ColumnType::Varchar(_) | ColumnType::Digest { .. }) => {
                (ready.texts, ready.is_text) = (texts.iter().map(|text| &**text).collect(), true);
            }
            (Kind::Whole { .. }, ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt)
            | (Kind::Day, ColumnType::Date)
            | (Kind::Whole { .. }, ColumnType::Decimal { scale: 0, .. })
            | (Kind::Moment { per_second: 1_000_000 }, ColumnType::Timestamp) => {
                ready.numbers = self.numbers();
            }
            (Kind::Decimal { scale: from, .. }, ColumnType::Decimal { scale, .. }) if from == scale => {
                ready.numbers = self.numbers();
            }
            (Kind::Whole { .. }, ColumnType::Decimal { scale, .. }) => {
                self.times(&mut ready, ty, tens(scale))?;
            }
            (Kind::Decimal { scale: from, .. }, ColumnType::Decimal { scale, .. }) if from < scale => {
                self.times(&mut ready, ty, tens(scale - from))?;
            }
            (Kind::Decimal { scale: from, .. }, ColumnType::Decimal { scale, .. }) => {
                // The division fails if digits would be lost.
                self.over(&mut ready, ty, tens(from - scale))?;
            }
            (Kind::Whole { .. }, ColumnType::Double { frac: bits }) => {
                self.times(&mut ready, ty, frac(bits))?;
            }
            (Kind::DayMillis, ColumnType::Date) => self.over(&mut ready, ty, DAY_MILLIS)?,
            (Kind::Moment { per_second: 1_000_000_000 }, ColumnType::Timestamp) => {
                self.over(&mut ready, ty, 1000)?;
            }
            (Kind::Moment { per_second }, ColumnType::Timestamp) => {
                self.times(&mut ready, ty, 1_000_000 / per_second)?;
            }
            (Kind::Real { .. }, ColumnType::Double { frac: bits }) => {
                (ready.numbers, ready.unit) = (self.numbers(), Some(f64::from(bits).exp2()));
            }
            (Kind::Real { .. }, ColumnType::Decimal { scale, .. }) => {
                (ready.numbers, ready.unit) = (self.numbers(), Some(10f64.powi(scale.into())));
            }
            _ => {
                let cause = format!("column {} has {}, and is declared {ty}", self.name, kind.words());
                return Err(refused(cause, "declare a type of its values, or convert the column before"));
            }
        }
        Ok(ready)
    }

    fn unfit(&self, row: usize, ty: ColumnType) -> Fault {
        let cause = format!("column {}, row {row}: it is no value of {ty}", self.name);
        Fault::new(code::ROWS, READING, cause, "declare another type, or mend the column").whole()
    }

    /// Multiplies the column's numbers.
    fn times(&self, ready: &mut Ready<'_>, ty: ColumnType, by: i128) -> Result<(), Fault> {
        let numbers = self.numbers();
        let all = NumberSlice { bytes: &numbers, width: ready.width, signed: ready.signed };
        if let Some(made) = i64::try_from(by).ok().and_then(|by| multiplied(all, by)) {
            (ready.numbers, ready.width, ready.signed) = (made.into(), 8, true);
            return Ok(());
        }
        self.scaled(ready, ty, |n| n.checked_mul(by))
    }

    /// Divides the column's numbers. A remainder is an error.
    fn over(&self, ready: &mut Ready<'_>, ty: ColumnType, by: i128) -> Result<(), Fault> {
        if let (8, true, Ok(short)) = (ready.width, ready.signed, i64::try_from(by)) {
            let numbers = self.numbers();
            let made = divided(&numbers, ready.bits(numbers.len() / 8), short);
            ready.numbers = made.map_err(|row| self.unfit(row, ty))?.into();
            return Ok(());
        }
        self.scaled(ready, ty, |n| (n % by == 0).then(|| n / by))
    }

    /// Replaces the column's numbers by numbers of 16 bytes.
    fn scaled(
        &self,
        ready: &mut Ready<'_>,
        ty: ColumnType,
        to: impl Fn(i128) -> Option<i128>,
    ) -> Result<(), Fault> {
        let (width, signed) = (ready.width, ready.signed);
        let number = |bytes: &[u8]| {
            let negative = signed && bytes.last().is_some_and(|byte| byte >> 7 == 1);
            let mut all = [if negative { u8::MAX } else { 0 }; 16];
            all[..width].copy_from_slice(bytes);
            i128::from_le_bytes(all)
        };
        self.replaced(ready, ty, |bytes| to(number(bytes)))
    }

    fn replaced(
        &self,
        ready: &mut Ready<'_>,
        ty: ColumnType,
        to: impl Fn(&[u8]) -> Option<i128>,
    ) -> Result<(), Fault> {
        let numbers = self.numbers();
        let rows = numbers.len() / ready.width;
        let valid = ready.bits(rows);
        let mut made = Vec::with_capacity(16 * rows);
        for (row, bytes) in numbers.chunks_exact(ready.width).enumerate() {
            let number = match to(bytes) {
                Some(number) => number,
                None if valid.is_some_and(|valid| !valid.get(row)) => 0,
                None => return Err(self.unfit(row, ty)),
            };
            made.extend_from_slice(&number.to_le_bytes());
        }
        (ready.numbers, ready.width, ready.signed) = (made.into(), 16, true);
        Ok(())
    }
}

impl FrameColumns {
    /// Returns the same table, for another thread.
    pub(crate) fn again(&self) -> Self {
        Self { source: self.source.clone(), rows: self.rows }
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        self.rows
    }

    /// Returns the rows as an input file: the file itself, or CSV in memory.
    pub(crate) fn place(&self) -> Result<InputPlace, Fault> {
        let held = match &*self.source {
            Source::File(place, _) => return Ok(place.clone()),
            Source::Held(held) => held,
        };
        Ok(InputPlace::memory(csv(held, self.rows)?))
    }

    /// Returns the inputs of a query from the rows that `owner` brings to `table`.
    pub(crate) fn inputs(
        &self,
        task: &QueryTask,
        owner: &Member,
        table: &str,
    ) -> Result<BTreeMap<String, Value>, Fault> {
        let held = match &*self.source {
            Source::File(place, _) => return task.rows_of((owner, table), place),
            Source::Held(held) => held,
        };
        let tables = task.query().tables();
        let declared = tables.iter().find(|known| known.name == table);
        let ty = |name: &str| Some(declared?.schema.columns().iter().find(|column| column.name == name)?.ty);
        let wanted: Vec<(&Held, ColumnType)> =
            held.iter().filter_map(|held| Some((held, ty(&held.name)?))).collect();
        let texts =
            wanted.iter().map(|(held, _)| if held.kind == Kind::Text { held.texts() } else { Ok(vec![]) });
        let texts: Vec<Vec<Cow<'_, [u8]>>> = texts.collect::<Result<_, _>>()?;
        let ready = wanted.iter().zip(&texts).map(|((held, ty), texts)| held.ready(*ty, texts));
        let ready: Vec<Ready<'_>> = ready.collect::<Result<_, _>>()?;
        let mut slices = BTreeMap::new();
        for ((held, _), ready) in wanted.iter().zip(&ready) {
            let slice = ready.slice(self.rows).ok_or_else(|| {
                refused(format!("column {} is shorter than its table", held.name), "bring another copy")
            })?;
            slices.insert(held.name.as_str(), slice);
        }
        task.columns((owner, table), self.rows, &slices).map_err(|fault| {
            let is_value = fault.code() == code::ROW_VALUE;
            wanted.iter().filter(|_| is_value).fold(fault, |fault, (held, _)| held.clearer(fault))
        })
    }
}

#[pymethods]
impl FrameColumns {
    /// Reads the table of an object with `__arrow_c_stream__`.
    #[staticmethod]
    fn arrow(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let imported = import(table)?;
        let rows = imported.batches.iter().map(|(rows, _)| rows).sum();
        let mut views: Vec<Vec<View>> = imported.fields.iter().map(|_| vec![]).collect();
        for (_, columns) in imported.batches {
            views.iter_mut().zip(columns).for_each(|(views, view)| views.push(view));
        }
        let mut held = vec![];
        for (field, views) in imported.fields.into_iter().zip(views) {
            if let Some(format) = field.dictionary.clone() {
                held.push(result(table.py(), dictionary::held(field, views, &format))?);
                continue;
            }
            // A period of pandas travels as the number of periods since 1970, which is no value
            // that anybody means.
            let is_period = field.extension.as_deref() == Some("pandas.period");
            let kind = kind(&field.format).filter(|_| !is_period).unwrap_or(Kind::Other);
            held.push(Held { name: field.name.clone(), kind, data: HeldData::Views(views, field) });
        }
        Ok(Self { source: Arc::new(Source::Held(held)), rows })
    }

    /// Reads a table of lists.
    #[staticmethod]
    fn lists(rows: usize, columns: Vec<Listed<'_>>) -> PyResult<Self> {
        let held = columns.into_iter().map(Listed::held).collect::<PyResult<_>>()?;
        Ok(Self { source: Arc::new(Source::Held(held)), rows })
    }

    /// Opens the table of a CSV or Parquet file.
    #[staticmethod]
    fn file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        aside(py, move || {
            let place = InputPlace::File(path);
            let found = infer(&[&place])?;
            let rows = found.rows.iter().sum::<u64>() as usize;
            Ok(Self { source: Arc::new(Source::File(place, found.columns)), rows })
        })
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// The names of columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        match &*self.source {
            Source::Held(held) => held.iter().map(|held| held.name.clone()).collect(),
            Source::File(_, columns) => columns.iter().map(|column| column.name.clone()).collect(),
        }
    }

    /// Returns the declarations of columns in SQL, with the types of `types` where they are given.
    /// If `chosen` has columns, only these are returned.
    fn declared(
        &self,
        py: Python<'_>,
        types: BTreeMap<String, String>,
        chosen: Option<Vec<String>>,
    ) -> PyResult<Vec<String>> {
        result(py, py.detach(|| self.declarations(&types, chosen.as_deref())))
    }

    /// Returns the declarations of all columns that SQL can take. For every other column, returns
    /// its name, the reason and a remedy.
    fn usable(
        &self,
        py: Python<'_>,
        types: BTreeMap<String, String>,
    ) -> PyResult<(Vec<String>, Vec<(String, String, String)>)> {
        let sorted = || {
            // A type for a missing column is an error.
            self.declarations(&types, Some(&[]))?;
            let (mut declared, mut left_out) = (vec![], vec![]);
            for name in self.names() {
                let own = types.get_key_value(&name);
                let own = own.map(|(name, ty)| (name.clone(), ty.clone())).into_iter().collect();
                match self.declarations(&own, Some(std::slice::from_ref(&name))) {
                    Ok(one) => declared.extend(one),
                    // A column with a requested type is not left out.
                    Err(fault) if types.contains_key(&name) => return Err(fault),
                    Err(fault) => left_out.push((name, fault.cause(), fault.remedy())),
                }
            }
            Ok((declared, left_out))
        };
        result(py, py.detach(sorted))
    }

    fn __repr__(&self) -> String {
        format!("<hushwire table, {} rows>", self.rows)
    }
}

impl FrameColumns {
    fn declarations(
        &self,
        types: &BTreeMap<String, String>,
        chosen: Option<&[String]>,
    ) -> Result<Vec<String>, Fault> {
        let names = self.names();
        let mut asked = types.keys().chain(chosen.unwrap_or_default());
        if let Some(odd) = asked.find(|name| !names.contains(name)) {
            let remedy = format!("it has {}", names.join(", "));
            return Err(refused(format!("the table has no column {odd}"), &remedy));
        }
        let wanted = |name: &String| chosen.is_none_or(|chosen| chosen.contains(name));
        let given = |name: &str, nulls: bool| -> Result<Option<Column>, Fault> {
            let Some(text) = types.get(name) else { return Ok(None) };
            let words = text.to_ascii_uppercase();
            let (text, nullable) = match words.strip_suffix("NOT NULL") {
                Some(ty) => (ty.trim(), false),
                None => match words.strip_suffix("NULL") {
                    Some(ty) => (ty.trim(), true),
                    None => (words.trim(), nulls),
                },
            };
            let Some(ty) = parse_type(text) else {
                let cause = format!("column {name} is declared {text}, which is no type");
                let remedy = "write a type of SQL, as INTEGER, DECIMAL(9, 2), VARCHAR(8) or DATE";
                return Err(refused(cause, remedy));
            };
            Ok(Some(Column { nullable, ..Column::new(name, ty) }))
        };
        let mut declared = vec![];
        match &*self.source {
            Source::Held(held) => {
                for held in held.iter().filter(|held| wanted(&held.name)) {
                    let nulls = held.has_nulls();
                    let column = match given(&held.name, nulls)? {
                        Some(column) => column,
                        None => Column { nullable: nulls, ..Column::new(&held.name, held.ty()?) },
                    };
                    declared.push(declaration(&column));
                }
            }
            Source::File(_, columns) => {
                for column in columns.iter().filter(|column| wanted(&column.name)) {
                    let column = given(&column.name, column.nullable)?.unwrap_or_else(|| column.clone());
                    declared.push(declaration(&column));
                }
            }
        }
        Ok(declared)
    }
}
