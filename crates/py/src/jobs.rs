//! Jobs with all members in this process: intersections, encryptions, networks, oblivious
//! transfers.

use crate::{
    errors::{raised, result},
    running::{self, Events},
};
use hushwire::{
    Fault, Local, LocalJob,
    block::Block,
    job::{
        Cancel, Common, InputPlace, OutputPlace, PsiJob, PsiTask,
        aes_ctr::{AesCtrJob, Iv, KeySource},
    },
    local_pair,
    nn::Array,
    ot,
    psi::{Formed, Normal},
};
use hushwire_block::Wiped;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::path::PathBuf;

/// The request of an intersection. It has the names of key columns, the result to reveal, the forms
/// of keys, the security, and the parties that learn the result.
#[derive(FromPyObject)]
pub(crate) struct Wanted([Vec<String>; 2], String, Vec<String>, String, Vec<String>);

fn wrong(step: &str, cause: impl ToString, remedy: &str) -> Fault {
    Fault::usage(step.to_owned(), cause.to_string(), remedy.to_owned())
}

impl Wanted {
    fn job(self) -> Result<PsiJob, Fault> {
        const STEP: &str = "planning the intersection";
        let Self(columns, reveal, forms, security, to) = self;
        let remedy = "write items, flags, size, sum:COLUMN,count or columns:NAME,NAME";
        let reveal: hushwire::job::PsiReveal = reveal.parse().map_err(|e: String| wrong(STEP, e, remedy))?;
        let mut job = PsiJob::new(reveal, "key");
        job.columns = columns;
        if !forms.is_empty() {
            let form = |form: &String| {
                form.parse::<Normal>().map_err(|e| wrong(STEP, e, "docs/psi.md has the forms"))
            };
            job.forms = forms.iter().map(form).collect::<Result<_, _>>()?;
        }
        job.security = security.parse().map_err(|e: String| wrong(STEP, e, "write malicious"))?;
        let party = |name: &String| name.parse().map_err(|e: String| wrong(STEP, e, "write party0"));
        job.to = to.iter().map(party).collect::<Result<_, _>>()?;
        Ok(job)
    }
}

/// Runs an intersection of two tables, as CSV. Returns for each party its number of rows with keys,
/// and a sum, items, flags or columns.
#[pyfunction]
#[pyo3(signature = (rows, wanted, told = None))]
pub(crate) fn psi<'py>(
    py: Python<'py>,
    rows: [Vec<u8>; 2],
    wanted: Wanted,
    told: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (cancel, events) = (Cancel::new(), Events::default());
    let (handle, observer) = (cancel.clone(), events.observer());
    let learnt = running::run(
        py,
        || cancel.cancel(),
        (&events, told.as_ref()),
        move || {
            let task = PsiTask::new(&wanted.job()?)?;
            let run = LocalJob::new(&task).cancelled_by(handle).observer(observer);
            let ended = run.rows(rows.map(InputPlace::memory)).run()?;
            Ok([0, 1].map(|index| ended.common(index).cloned().unwrap_or(Common::Nothing)))
        },
    )?;
    let one = |common: Common| {
        let all = PyDict::new(py);
        match common {
            Common::Size(size) => all.set_item("size", size)?,
            Common::Sum { count, sum } => {
                all.set_item("size", count)?;
                all.set_item("sum", sum)?;
            }
            Common::Items(items) => all.set_item("items", items)?,
            Common::Flags(flags) => all.set_item("flags", flags)?,
            Common::Columns { keys, fields } => {
                all.set_item("items", keys)?;
                all.set_item("fields", fields)?;
            }
            Common::Filed | Common::Nothing => {}
        }
        Ok(all)
    };
    learnt.into_iter().map(one).collect()
}

/// Returns the fields of keys in their normal forms; None for a row that is in no set.
#[pyfunction]
pub(crate) fn psi_keys(
    py: Python<'_>,
    rows: Vec<Vec<Option<String>>>,
    forms: Vec<String>,
) -> PyResult<Vec<Option<Vec<String>>>> {
    let form = |form: &String| {
        form.parse::<Normal>().map_err(|e| wrong("reading keys", e, "docs/psi.md has the forms"))
    };
    let forms: Vec<Normal> = result(py, forms.iter().map(form).collect())?;
    let normal = |(at, field): (usize, &Option<String>)| {
        let form = forms.get(at).or(forms.first()).copied().unwrap_or_default();
        let mut made = String::new();
        match form.apply(field.as_deref()?, &mut made) {
            Formed::Text => Some(made),
            Formed::Empty | Formed::Malformed => None,
        }
    };
    Ok(rows.iter().map(|row| row.iter().enumerate().map(normal).collect()).collect())
}

/// Encrypts or decrypts with AES in counter mode among three parties. The key is in a directory, or
/// given.
#[pyfunction]
#[pyo3(signature = (data, decrypt, keys = None, key = None, iv = None, told = None))]
pub(crate) fn aes<'py>(
    py: Python<'py>,
    data: Vec<u8>,
    decrypt: bool,
    keys: Option<PathBuf>,
    key: Option<Vec<u8>>,
    iv: Option<u128>,
    told: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (cancel, events) = (Cancel::new(), Events::default());
    let (handle, observer) = (cancel.clone(), events.observer());
    let made = running::run(
        py,
        || cancel.cancel(),
        (&events, told.as_ref()),
        move || {
            let mut job = AesCtrJob::new("owner");
            if decrypt {
                job = job.decrypting();
            }
            if let Some(key) = &key {
                (job.key, job.key_bits) = (KeySource::Given, 8 * key.len());
            }
            let mut run = LocalJob::new(&job).cancelled_by(handle).observer(observer);
            if let Some(keys) = &keys {
                run = run.keys(keys);
            }
            if let Some(key) = key.map(Wiped::new) {
                let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
                run = run.key(InputPlace::Hex(Wiped::new(digits)));
            }
            if let Some(iv) = iv {
                run = run.iv(Iv(iv));
            }
            let ended = run.data(InputPlace::memory(data)).result(OutputPlace::Memory).run()?;
            let missing = || Fault::internal("reading the result", "the owner did not learn it");
            ended.bytes().map(<[u8]>::to_vec).ok_or_else(missing)
        },
    )?;
    Ok(PyBytes::new(py, &made))
}

/// Runs a network on an input, and returns the shape and elements of the output.
#[pyfunction]
#[pyo3(signature = (onnx, lengths, elements, two, told = None))]
pub(crate) fn model<'py>(
    py: Python<'py>,
    onnx: Vec<u8>,
    lengths: Vec<usize>,
    elements: &[u8],
    two: bool,
    told: Option<Py<PyAny>>,
) -> PyResult<(Vec<usize>, Bound<'py, PyBytes>)> {
    let data: Vec<f32> = elements
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap_or_default()))
        .collect();
    if lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length)) != Some(data.len()) {
        let fault = wrong("reading the input", "its bytes are not those of its shape", "bring a whole array");
        return Err(raised(py, &fault));
    }
    let (cancel, events) = (Cancel::new(), Events::default());
    let (handle, observer) = (cancel.clone(), events.observer());
    let output = running::run(
        py,
        || cancel.cancel(),
        (&events, told.as_ref()),
        move || {
            let input = Array::new(&lengths, data);
            input.check_finite("the input")?;
            let run = Local::model(&onnx, &input).cancelled_by(handle).observer(observer);
            if two { run.two().run() } else { run.run() }
        },
    )?;
    let bytes: Vec<u8> = output.data.iter().flat_map(|x| x.to_le_bytes()).collect();
    Ok((output.lengths, PyBytes::new(py, &bytes)))
}

/// Runs oblivious transfers of pairs of 16 bytes between two parties.
#[pyfunction]
pub(crate) fn transfer<'py>(
    py: Python<'py>,
    pairs: Vec<[[u8; 16]; 2]>,
    choices: Vec<bool>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let cancel = Cancel::new();
    let received = running::run(
        py,
        || cancel.cancel(),
        (&Events::default(), None),
        move || {
            let pairs: Vec<[Block; 2]> = pairs
                .iter()
                .map(|pair| pair.map(|message| Block::from_u128(u128::from_le_bytes(message))))
                .collect();
            let both =
                local_pair(|channel| ot::send(channel, &pairs), |channel| ot::receive(channel, &choices));
            both.map(|((), received)| received)
        },
    )?;
    Ok(received.iter().map(|block| PyBytes::new(py, &block.to_u128().to_le_bytes())).collect())
}

/// Returns the digest of a job file's terms, which operators allow.
#[pyfunction]
pub(crate) fn job_digest(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = py.detach(|| {
        let job = hushwire::job::Job::read(&path)?;
        job.terms().map(|(terms, _)| terms.digest().to_string())
    });
    read.map_err(|fault| raised(py, &fault))
}
