//! The client of the service.

use crate::{
    columns::FrameColumns,
    errors::{raised, result},
    running::{self, Events},
};
use hushwire::{Fault, job::StoredTable};
use hushwire_remote::{DataFile, Service as Remote, Submission, fetch, put, submit, wait};
use hushwire_seal::{PART_ROWS, Person, SchemaColumn, StoredColumn, dataset::DataDescription};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The parties of a group, from a file of the service.
#[pyclass(frozen, module = "hushwire._native")]
pub(crate) struct Service(Arc<Remote>);

/// A table that is sent to the parties. It has its name, the declarations of its columns in SQL,
/// its key, and the number of rows to which it is padded, if any.
#[derive(FromPyObject)]
struct SentTable(String, Vec<String>, Vec<String>, Option<u64>);

/// A result: the output's name, the result as JSON, and its tables as CSV.
type Fetched<'py> = (String, String, Bound<'py, PyDict>);

/// Converts a declaration such as `days SMALLINT NOT NULL` to a column of a manifest.
fn schema_column(declaration: &str) -> SchemaColumn {
    let (name, ty) = declaration.rsplit_once('"').map_or_else(
        || declaration.split_once(' ').unwrap_or((declaration, "")),
        |(name, ty)| (name.trim_matches('"'), ty.trim_start()),
    );
    let bare = ty.strip_suffix(" NOT NULL");
    let ty = bare.unwrap_or(ty).to_owned();
    SchemaColumn { name: name.to_owned(), ty, nullable: bare.is_none(), min: None, max: None, ascii: false }
}

impl Service {
    /// Runs a request on its own thread, which a signal does not cancel.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Remote) -> Result<T, Fault> + Send + 'static,
    ) -> PyResult<T> {
        let service = self.0.clone();
        running::aside(py, move || work(&service))
    }
}

#[pymethods]
impl Service {
    /// Reads the group of a file.
    #[new]
    fn new(py: Python<'_>, file: PathBuf) -> PyResult<Self> {
        Ok(Self(Arc::new(result(py, py.detach(|| Remote::read(&file)))?)))
    }

    /// The group's name.
    #[getter]
    fn group(&self) -> &str {
        self.0.group()
    }

    /// The answer of each party at a path, as JSON.
    fn get(&self, py: Python<'_>, path: String) -> PyResult<Vec<String>> {
        let views: Vec<Value> = self.ask(py, move |service| service.get(&path))?;
        Ok(views.iter().map(Value::to_string).collect())
    }

    /// Submits a job, and returns its id.
    #[pyo3(signature = (proposal, digest, data, parameters, recipients, priority, key))]
    fn submit(
        &self,
        py: Python<'_>,
        proposal: Option<String>,
        digest: Option<String>,
        data: BTreeMap<String, String>,
        parameters: BTreeMap<String, String>,
        recipients: BTreeMap<String, PathBuf>,
        priority: i64,
        key: String,
    ) -> PyResult<String> {
        self.ask(py, move |service| {
            let mut submission =
                Submission { proposal, digest, data, parameters, priority, ..Submission::default() };
            for (name, keys) in &recipients {
                submission.seal_to(name, &Person::read(keys)?.card("").seal_to);
            }
            submit(service, &submission, &key).map(|(id, _)| id)
        })
    }

    /// Waits for the end of a job, for at most `limit` seconds. Returns each party's state of the
    /// job, as JSON.
    #[pyo3(signature = (id, limit = None))]
    fn wait(&self, py: Python<'_>, id: String, limit: Option<f64>) -> PyResult<Vec<String>> {
        let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let views = self.ask(py, move |service| wait(service, &id, limit, |_| {}))?;
        Ok(views.iter().map(Value::to_string).collect())
    }

    /// Fetches a result with a person's keys.
    #[pyo3(signature = (id, keys, output = None))]
    fn fetch<'py>(
        &self,
        py: Python<'py>,
        id: String,
        keys: PathBuf,
        output: Option<String>,
    ) -> PyResult<Fetched<'py>> {
        let (output, json, csv) = self.ask(py, move |service| {
            let fetched = fetch(service, &id, output.as_deref(), &Person::read(&keys)?)?;
            Ok((fetched.output, fetched.opened.json.to_string(), fetched.opened.csv))
        })?;
        let all = PyDict::new(py);
        for (name, bytes) in csv {
            all.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok((output, json, all))
    }

    /// Cancels a job, and returns the party's state of it, as JSON.
    fn cancel(&self, py: Python<'_>, id: String) -> PyResult<String> {
        let view = self.ask(py, move |service| {
            let party = service.with_token()?[0];
            party.post(&format!("/v1/jobs/{id}/cancel"), &Value::Object(Map::new()), None)
        })?;
        Ok(String::from_utf8_lossy(&view.body).into_owned())
    }

    /// Encrypts a table for the parties in a new directory, uploads it, and returns the data set's
    /// id.
    fn put(
        &self,
        py: Python<'_>,
        table: &FrameColumns,
        sent: SentTable,
        keys: PathBuf,
        dir: PathBuf,
    ) -> PyResult<String> {
        let SentTable(name, columns, key, padded) = sent;
        let place = table.place().map_err(|fault| raised(py, &fault))?;
        let rows = padded.unwrap_or(table.count() as u64);
        let stop = Arc::new(AtomicBool::new(false));
        let (service, stopped) = (self.0.clone(), stop.clone());
        let work = move || {
            let person = Person::read(&keys)?;
            let table = StoredTable::new(&name, &columns, &key, padded.is_some())?;
            let layout = table.layout(rows).into_iter();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let description = DataDescription {
                name,
                line: None,
                version: 1,
                group: service.group().to_owned(),
                schema: table.declarations().iter().map(|text| schema_column(text)).collect(),
                keys: if key.is_empty() { vec![] } else { vec![key] },
                inputs: layout.map(|c| StoredColumn::of_table(c.name, c.bits)).collect(),
                created: now,
                expires: None,
            };
            let sealed = DataFile::seal(&dir, description, service.keys()?, person.sign(), |take| {
                let mut left = rows;
                let read = table.read(&place, rows, &mut |_, planes| {
                    if stopped.load(Ordering::SeqCst) {
                        return Err(Fault::usage(
                            "sealing the table",
                            "the program was interrupted",
                            "put it again",
                        ));
                    }
                    let here = left.min(PART_ROWS);
                    left -= here;
                    take(here, planes)
                })?;
                Ok(if padded.is_some() { rows } else { read })
            })?;
            let put = put(&service, &sealed, |_, _| {})?;
            sealed.remove()?;
            Ok(put.id.clone())
        };
        running::run(py, || stop.store(true, Ordering::SeqCst), (&Events::default(), None), work)
    }

    fn __repr__(&self) -> String {
        format!("<hushwire.Service of {}>", self.0.group())
    }
}
