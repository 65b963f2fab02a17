//! Queries, which are planned once and run on sessions, and their results.

use crate::{
    arrow::{Exported, export},
    columns::FrameColumns,
    compute::price,
    errors::raised,
    running::aside,
    session::{Held, Session},
};
use hushwire::{
    Fault,
    aes::Backend,
    job::{
        Dialect, Member, Parameter, QueryJob, QueryPartOf, QueryTable, QueryTask, RunValues, Task,
        Value as Input,
    },
    rep3::{Addition, Owner},
    simd::Tier,
    sql::cell,
    tables::{
        ResultColumn, ResultColumns, ResultValues,
        algebra::{ColumnType, Value},
    },
};
use hushwire_columns::packed as bits;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyCapsule, PyDict, PyTuple},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Instant,
};

/// A table of a query. It has its name, the declarations of its columns in SQL, its key, and its
/// owners with their numbers of rows. The flag says whether rows may be padding.
#[derive(FromPyObject)]
pub(crate) struct Declared(String, Vec<String>, Vec<String>, Vec<(String, u64)>, bool);

/// A query in SQL, planned.
#[pyclass(frozen, module = "hushwire._native")]
pub(crate) struct Query(Arc<QueryTask>);

/// Returns the member of a name: a party such as `party0`, else a client.
fn member(name: &str) -> Result<Member, Fault> {
    let text = if name.contains(':') || is_party(name) { name.to_owned() } else { format!("client:{name}") };
    text.parse().map_err(|e: String| Fault::usage("naming a member", e, "write a word, or party0"))
}

fn is_party(name: &str) -> bool {
    name.strip_prefix("party").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// A table that this process brings: its name, its owner, its columns.
type Brought<'py> = (String, String, Bound<'py, FrameColumns>);

fn brought(tables: Vec<Brought<'_>>) -> Vec<(String, String, FrameColumns)> {
    tables.into_iter().map(|(name, owner, columns)| (name, owner, columns.get().again())).collect()
}

fn inputs(
    task: &QueryTask,
    tables: &[(String, String, FrameColumns)],
) -> Result<BTreeMap<String, Input>, Fault> {
    let mut inputs = BTreeMap::new();
    for (name, owner, columns) in tables {
        inputs.extend(columns.inputs(task, &member(owner)?, name)?);
    }
    Ok(inputs)
}

/// Runs a query, and returns the columns of the result; `None` at a party that does not learn it.
fn asked(
    task: &QueryTask,
    tables: &[(String, String, FrameColumns)],
    held: &mut Held,
) -> Result<Option<ResultColumns>, Fault> {
    let inputs = inputs(task, tables)?;
    let learnt = match held {
        Held::All(local) => local.ask(task, inputs)?,
        Held::One(party) => party.ask(task, &inputs)?,
    };
    // A party that does not learn the result has no outputs.
    if learnt.contains_key("valid") { task.result_columns(&learnt).map(Some) } else { Ok(None) }
}

#[pymethods]
impl Query {
    /// Plans a query. `options` are `min_group`, `join_bound`, `tag_joins` and `now`.
    #[new]
    #[pyo3(signature = (sql, tables, to, parameters, min_group = 0, join_bound = None, tag_joins = false))]
    fn new(
        py: Python<'_>,
        sql: String,
        tables: Vec<Declared>,
        to: Vec<String>,
        parameters: Vec<String>,
        min_group: u64,
        join_bound: Option<u64>,
        tag_joins: bool,
    ) -> PyResult<Self> {
        let planned = move || {
            let to = to.iter().map(|name| member(name)).collect::<Result<_, _>>()?;
            let now = hushwire::job::query_now(&sql);
            let (values, parameters) = if parameters.is_empty() {
                (RunValues::default(), vec![])
            } else {
                Parameter::of_values(&parameters)?
            };
            let table = |Declared(name, columns, key, parts, padded): Declared| {
                let part = |(owner, rows): (String, u64)| Ok(QueryPartOf { owner: member(&owner)?, rows });
                let parts = parts.into_iter().map(part).collect::<Result<_, Fault>>()?;
                Ok(QueryTable { name, columns, key, parts, padded, dialect: Dialect::default() })
            };
            let tables = tables.into_iter().map(table).collect::<Result<_, Fault>>()?;
            let job = QueryJob {
                sql,
                to,
                min_group,
                join_bound,
                tag_joins,
                now,
                shards: 1,
                tables,
                parameters,
                values,
            };
            QueryTask::new(&job)
        };
        Ok(Self(Arc::new(aside(py, planned)?)))
    }

    /// The digest of the terms, which an operator allows.
    #[getter]
    fn digest(&self) -> String {
        self.0.terms().digest().to_string()
    }

    /// The tables that it reads.
    #[getter]
    fn tables(&self) -> Vec<String> {
        self.0.query().tables().iter().map(|table| table.name.clone()).collect()
    }

    /// Names and types of the result's columns.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let columns = self.0.query().schema().columns().iter();
        columns.map(|column| (column.name.clone(), column.ty.to_string())).collect()
    }

    /// The operators with their rows and sorts, and who learns what.
    fn explain(&self) -> String {
        self.0.query().explain(None)
    }

    /// The price of a run.
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let task = self.0.clone();
        let forecast = aside(py, move || task.price(Backend::best().tier() != Tier::Portable))?;
        price(py, &forecast)
    }

    /// Runs the query on a session, with the tables that this process brings: name, owner, columns.
    #[pyo3(signature = (session, tables, told = None))]
    fn ask(
        &self,
        py: Python<'_>,
        session: &Session,
        tables: Vec<Brought<'_>>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<QueryResult> {
        let (task, tables) = (self.0.clone(), brought(tables));
        let made = session.with(py, told.as_ref(), move |held| asked(&task, &tables, held))?;
        let (learns, columns) = (made.is_some(), self.0.query().schema().columns().iter());
        let columns = columns.map(|column| (column.name.clone(), column.ty)).collect();
        Ok(QueryResult { columns, learns, made: made.unwrap_or_default(), arrow: OnceLock::new() })
    }

    /// Converts tables to the inputs of a session, and returns their number of bytes, for
    /// measurements. With `share` it also makes the shares of each input that a client of three
    /// parties sends.
    #[pyo3(signature = (tables, share = false))]
    fn convert(&self, py: Python<'_>, tables: Vec<Brought<'_>>, share: bool) -> PyResult<usize> {
        let (task, tables) = (self.0.clone(), brought(tables));
        aside(py, move || {
            let owner = Owner::new(Backend::best());
            let inputs = inputs(&task, &tables)?.into_values().enumerate();
            let bytes = inputs.map(|(i, value)| match value {
                Input::Records(records) if share => {
                    let word = if records.len().is_multiple_of(8) { 8 } else { 1 };
                    owner.full(0, i, records.into(), Addition::Words(word)).0.len()
                }
                Input::Records(records) => records.len(),
                _ => 0,
            });
            Ok(bytes.sum())
        })
    }

    /// Runs the query, and returns the seconds that the library took, for measurements.
    fn timed(&self, py: Python<'_>, session: &Session, tables: Vec<Brought<'_>>) -> PyResult<f64> {
        let (task, tables) = (self.0.clone(), brought(tables));
        session.with(py, None, move |held| {
            let began = Instant::now();
            asked(&task, &tables, held).map(|_| began.elapsed().as_secs_f64())
        })
    }

    fn __repr__(&self) -> String {
        format!("<hushwire query {}>", self.digest())
    }
}

/// The result of a query at this process.
#[pyclass(frozen, module = "hushwire._native", name = "Answer")]
pub(crate) struct QueryResult {
    columns: Vec<(String, ColumnType)>,
    learns: bool,
    made: ResultColumns,
    arrow: OnceLock<Arc<Vec<Exported>>>,
}

/// Returns the format of a type in the Arrow interface.
fn format(ty: ColumnType) -> String {
    match ty {
        ColumnType::Boolean => "b".into(),
        ColumnType::SmallInt => "s".into(),
        ColumnType::Integer => "i".into(),
        ColumnType::BigInt => "l".into(),
        ColumnType::Decimal { precision, scale } => format!("d:{precision},{scale}"),
        ColumnType::Date => "tdD".into(),
        ColumnType::Timestamp => "tsu:".into(),
        ColumnType::Interval => "tDu".into(),
        ColumnType::Double { .. } => "g".into(),
        ColumnType::Varchar(_) | ColumnType::Digest { .. } => "U".into(),
    }
}

fn real(n: i128, frac: u8) -> f64 {
    n as f64 / f64::from(frac).exp2()
}

/// Returns the number of bytes of a number of this type in Arrow's buffers.
fn width(ty: ColumnType) -> usize {
    match ty {
        ColumnType::SmallInt => 2,
        ColumnType::Integer | ColumnType::Date => 4,
        ColumnType::Decimal { .. } => 16,
        _ => 8,
    }
}

/// Returns numbers as records of a width in bytes.
fn packed(values: &ResultValues, width: usize) -> Vec<u8> {
    let mut all = vec![];
    match values {
        ResultValues::Short(numbers) if width <= 8 => {
            all.reserve(numbers.len() * width);
            numbers.iter().for_each(|n| all.extend_from_slice(&n.to_le_bytes()[..width]));
        }
        ResultValues::Short(numbers) => {
            numbers.iter().for_each(|n| all.extend_from_slice(&i128::from(*n).to_le_bytes()[..width]));
        }
        ResultValues::Long(numbers) => {
            numbers.iter().for_each(|n| all.extend_from_slice(&n.to_le_bytes()[..width]));
        }
        _ => {}
    }
    all
}

/// Returns numbers as floats, where 1 is `unit` steps.
fn floats(values: &ResultValues, unit: f64) -> Vec<u8> {
    match values {
        ResultValues::Short(numbers) => {
            numbers.iter().flat_map(|n| (*n as f64 / unit).to_le_bytes()).collect()
        }
        ResultValues::Long(numbers) => {
            numbers.iter().flat_map(|n| (*n as f64 / unit).to_le_bytes()).collect()
        }
        _ => vec![],
    }
}

impl QueryResult {
    fn all(&self) -> impl Iterator<Item = (&str, ColumnType, &ResultColumn)> {
        self.columns.iter().zip(&self.made.columns).map(|((name, ty), column)| (name.as_str(), *ty, column))
    }

    fn exported(&self) -> &Arc<Vec<Exported>> {
        self.arrow.get_or_init(|| {
            let column = |(name, ty, column): (&str, ColumnType, &ResultColumn)| {
                let buffers = match (ty, &column.values) {
                    (_, ResultValues::Truths(truths)) => vec![bits(truths)],
                    (_, ResultValues::Texts { ends, .. }) => {
                        let (mut offsets, mut all) = (0u64.to_le_bytes().to_vec(), vec![]);
                        offsets.reserve(8 * ends.len());
                        for i in 0..ends.len() {
                            // A part that SQL cut out of a text may be invalid UTF-8.
                            all.extend_from_slice(String::from_utf8_lossy(column.text(i)).as_bytes());
                            offsets.extend((all.len() as u64).to_le_bytes());
                        }
                        vec![offsets, all]
                    }
                    (ColumnType::Digest { .. }, _) => {
                        let (mut offsets, mut all) = (0u64.to_le_bytes().to_vec(), vec![]);
                        for i in 0..self.made.rows {
                            all.extend_from_slice(cell::show(&column.value(i), ty).as_bytes());
                            offsets.extend((all.len() as u64).to_le_bytes());
                        }
                        vec![offsets, all]
                    }
                    (ColumnType::Double { frac }, values) => vec![floats(values, f64::from(frac).exp2())],
                    (ty, values) => vec![packed(values, width(ty))],
                };
                let valid = column.valid.as_deref().map(bits);
                Exported { name: name.to_owned(), format: format(ty), valid, buffers }
            };
            Arc::new(self.all().map(column).collect())
        })
    }
}

#[pymethods]
impl QueryResult {
    /// Whether this process learns the result.
    #[getter]
    fn learns(&self) -> bool {
        self.learns
    }

    /// Names and types of columns.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        self.columns.iter().map(|(name, ty)| (name.clone(), ty.to_string())).collect()
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.made.rows
    }

    /// The rows: truth values, integers, floats and texts; intervals as microseconds; decimals,
    /// dates and times as text.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let cell = |(value, ty): (&Value, ColumnType)| -> PyResult<Bound<'py, PyAny>> {
            Ok(match (value, ty) {
                (Value::Null, _) => py.None().into_bound(py),
                (Value::Boolean(truth), _) => truth.into_pyobject(py)?.to_owned().into_any(),
                (
                    Value::Number(n),
                    ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt | ColumnType::Interval,
                ) => n.into_pyobject(py)?.into_any(),
                (Value::Number(n), ColumnType::Double { frac }) => {
                    real(*n, frac).into_pyobject(py)?.into_any()
                }
                (value, ty) => cell::show(value, ty).into_pyobject(py)?.into_any(),
            })
        };
        let row = |i: usize| {
            let cells = self.all().map(|(_, ty, column)| cell((&column.value(i), ty)));
            PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)
        };
        (0..self.made.rows).map(row).collect()
    }

    /// The fields of at most `most` rows as text, as the command prints them; NULL is None.
    fn texts(&self, most: usize) -> Vec<Vec<Option<String>>> {
        let one = |i: usize| {
            self.all().map(move |(_, ty, column)| {
                let value = column.value(i);
                (!value.is_null()).then(|| cell::show(&value, ty))
            })
        };
        (0..self.made.rows.min(most)).map(|i| one(i).collect()).collect()
    }

    /// A column for NumPy: the type of its elements, their bytes, and which rows have a value, or
    /// None if all have one. Decimals become floats. Strings have no such form.
    fn elements<'py>(
        &self,
        py: Python<'py>,
        column: usize,
    ) -> Option<(&'static str, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
        let (_, ty, column) = self.all().nth(column)?;
        let (form, bytes) = match (ty, &column.values) {
            (_, ResultValues::Truths(truths)) => {
                ("|b1", truths.iter().map(|truth| u8::from(*truth)).collect())
            }
            (_, ResultValues::Texts { .. }) | (ColumnType::Digest { .. }, _) => return None,
            (ColumnType::Double { frac }, values) => ("<f8", floats(values, f64::from(frac).exp2())),
            (ColumnType::Decimal { scale, .. }, values) => ("<f8", floats(values, 10f64.powi(scale.into()))),
            (ColumnType::SmallInt, values) => ("<i2", packed(values, 2)),
            (ColumnType::Integer, values) => ("<i4", packed(values, 4)),
            (ColumnType::Date, values) => ("<M8[D]", packed(values, 8)),
            (ColumnType::Timestamp, values) => ("<M8[us]", packed(values, 8)),
            (ColumnType::Interval, values) => ("<m8[us]", packed(values, 8)),
            (_, values) => ("<i8", packed(values, 8)),
        };
        let valid = column
            .valid
            .as_ref()
            .map(|valid| PyBytes::new(py, &valid.iter().map(|valid| u8::from(*valid)).collect::<Vec<_>>()));
        Some((form, PyBytes::new(py, &bytes), valid))
    }

    /// The result for libraries of data frames.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may return another schema than the requested one.
        drop(requested_schema);
        for (name, ty, column) in self.all() {
            let fits = |n: i128| Value::Number(n).fits(ty);
            let wide = matches!(ty, ColumnType::Decimal { .. })
                && match &column.values {
                    ResultValues::Short(numbers) => {
                        !numbers.iter().enumerate().all(|(i, n)| fits((*n).into()) || !column.is_valid(i))
                    }
                    ResultValues::Long(numbers) => {
                        !numbers.iter().enumerate().all(|(i, n)| fits(*n) || !column.is_valid(i))
                    }
                    _ => false,
                };
            if wide {
                let cause = format!("column {name} has a number of more digits than {ty}");
                let remedy = "take .rows(), or CAST the column to DOUBLE, or to a DECIMAL, which makes such numbers NULL";
                return Err(raised(py, &Fault::usage("reading the result", cause, remedy)));
            }
        }
        export(py, self.made.rows, self.exported())
    }

    fn __repr__(&self) -> String {
        format!("<hushwire result, {} rows>", self.made.rows)
    }
}
