//! Queries: planned once, asked on sessions; and their results.

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
    simd::Tier,
    sql::cell,
    tables::algebra::{ColumnType, Value},
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict, PyTuple},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Instant,
};

/// A table of a query: name, columns as SQL declares them, key, its owners with their rows, and
/// whether these are padding too.
#[derive(FromPyObject)]
pub(crate) struct Declared(String, Vec<String>, Vec<String>, Vec<(String, u64)>, bool);

/// A query in SQL, planned.
#[pyclass(frozen, module = "hushwire._native")]
pub(crate) struct Query(Arc<QueryTask>);

/// The member that a name means: a party as `party0`, else a client.
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

/// The rows of the result; none at a party that does not learn it.
fn asked(
    task: &QueryTask,
    tables: &[(String, String, FrameColumns)],
    held: &mut Held,
) -> Result<Option<Vec<Vec<Value>>>, Fault> {
    let inputs = inputs(task, tables)?;
    let learnt = match held {
        Held::All(local) => local.ask(task, inputs)?,
        Held::One(party) => party.ask(task, &inputs)?,
    };
    // A party that does not learn the result has no outputs.
    if learnt.contains_key("valid") { task.result(&learnt).map(Some) } else { Ok(None) }
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
            let job = QueryJob { sql, to, min_group, join_bound, tag_joins, now, tables, parameters, values };
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

    /// Asks it on a session, with the tables that this process brings: name, owner, columns.
    #[pyo3(signature = (session, tables, told = None))]
    fn ask(
        &self,
        py: Python<'_>,
        session: &Session,
        tables: Vec<Brought<'_>>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<QueryResult> {
        let (task, tables) = (self.0.clone(), brought(tables));
        let rows = session.with(py, told.as_ref(), move |held| asked(&task, &tables, held))?;
        let columns = self.0.query().schema().columns().iter();
        let columns = columns.map(|column| (column.name.clone(), column.ty)).collect();
        Ok(QueryResult {
            columns,
            learns: rows.is_some(),
            rows: rows.unwrap_or_default(),
            arrow: OnceLock::new(),
        })
    }

    /// Converts tables to what a session takes, and gives its bytes: for measurements.
    fn convert(&self, py: Python<'_>, tables: Vec<Brought<'_>>) -> PyResult<usize> {
        let (task, tables) = (self.0.clone(), brought(tables));
        let inputs = aside(py, move || inputs(&task, &tables))?;
        let bytes = |value: &Input| if let Input::Records(records) = value { records.len() } else { 0 };
        Ok(inputs.values().map(bytes).sum())
    }

    /// Asks it, and gives the seconds that the library took: for measurements.
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
    rows: Vec<Vec<Value>>,
    arrow: OnceLock<Arc<Vec<Exported>>>,
}

/// The format of a type by the Arrow interface.
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

impl QueryResult {
    fn exported(&self) -> &Arc<Vec<Exported>> {
        self.arrow.get_or_init(|| {
            let column = |(k, (name, ty)): (usize, &(String, ColumnType))| {
                let cells = || self.rows.iter().map(move |row| &row[k]);
                let flags: Vec<bool> = cells().map(|value| !value.is_null()).collect();
                let valid = flags.contains(&false).then(|| bits(&flags));
                let number = |value: &Value| value.number().unwrap_or_default();
                let buffers = match ty {
                    ColumnType::Boolean => {
                        let truths: Vec<bool> = cells().map(|value| *value == Value::Boolean(true)).collect();
                        vec![bits(&truths)]
                    }
                    ColumnType::Varchar(_) | ColumnType::Digest { .. } => {
                        let (mut offsets, mut all) = (0u64.to_le_bytes().to_vec(), vec![]);
                        for value in cells() {
                            if let Value::Text(text) = value {
                                // Parts that SQL cut out may be no text.
                                all.extend_from_slice(String::from_utf8_lossy(text).as_bytes());
                            }
                            offsets.extend((all.len() as u64).to_le_bytes());
                        }
                        vec![offsets, all]
                    }
                    ColumnType::Double { frac } => {
                        vec![cells().flat_map(|value| real(number(value), *frac).to_le_bytes()).collect()]
                    }
                    _ => {
                        let width = match ty {
                            ColumnType::SmallInt => 2,
                            ColumnType::Integer | ColumnType::Date => 4,
                            ColumnType::Decimal { .. } => 16,
                            _ => 8,
                        };
                        vec![
                            cells()
                                .flat_map(|value| number(value).to_le_bytes().into_iter().take(width))
                                .collect(),
                        ]
                    }
                };
                Exported { name: name.clone(), format: format(*ty), valid, buffers }
            };
            Arc::new(self.columns.iter().enumerate().map(column).collect())
        })
    }
}

fn bits(flags: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag));
    flags.chunks(8).map(byte).collect()
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
        self.rows.len()
    }

    /// The rows: truth values, integers, floats and texts; intervals as microseconds; decimals,
    /// dates and times as text.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let cell = |(value, (_, ty)): (&Value, &(String, ColumnType))| -> PyResult<Bound<'py, PyAny>> {
            Ok(match (value, ty) {
                (Value::Null, _) => py.None().into_bound(py),
                (Value::Boolean(truth), _) => truth.into_pyobject(py)?.to_owned().into_any(),
                (
                    Value::Number(n),
                    ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt | ColumnType::Interval,
                ) => n.into_pyobject(py)?.into_any(),
                (Value::Number(n), ColumnType::Double { frac }) => {
                    real(*n, *frac).into_pyobject(py)?.into_any()
                }
                (value, ty) => cell::show(value, *ty).into_pyobject(py)?.into_any(),
            })
        };
        let row = |row: &Vec<Value>| {
            let cells = row.iter().zip(&self.columns).map(cell).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, cells)
        };
        self.rows.iter().map(row).collect()
    }

    /// The fields as text, as the command prints them; NULL is None.
    fn texts(&self) -> Vec<Vec<Option<String>>> {
        let one = |(value, (_, ty)): (&Value, &(String, ColumnType))| {
            (!value.is_null()).then(|| cell::show(value, *ty))
        };
        self.rows.iter().map(|row| row.iter().zip(&self.columns).map(one).collect()).collect()
    }

    /// The result for libraries of data frames.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may give another schema than a consumer asks for.
        drop(requested_schema);
        for (name, ty) in &self.columns {
            if let ColumnType::Decimal { .. } = ty {
                let k = self.columns.iter().position(|(known, _)| known == name).unwrap_or_default();
                if self.rows.iter().any(|row| !row[k].fits(*ty)) {
                    let cause = format!("column {name} has a number of more digits than {ty}");
                    let remedy = "take .rows(), or CAST the column to DOUBLE, or to a DECIMAL, which makes such numbers NULL";
                    return Err(raised(py, &Fault::usage("reading the result", cause, remedy)));
                }
            }
        }
        export(py, self.rows.len(), self.exported())
    }

    fn __repr__(&self) -> String {
        format!("<hushwire result, {} rows>", self.rows.len())
    }
}
