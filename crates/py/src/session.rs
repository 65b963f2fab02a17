//! Sessions: parties that meet once, and then run one thing after the other.

use crate::{
    compute::{Arrays, Computation, Raws, protocol_of, raws},
    errors::{raised, result},
    models::{self, Network, array},
    running::{self, Events},
};
use hushwire::{
    Fault, Local, Party,
    aes::Backend,
    compute::{self, Tensor},
    job::{Cancel, Chosen, Member, MemberConfig, PartyFile, Stats, TermsDigest},
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// LOCAL: the most bytes that a party tells the others at once.
const MOST_TOLD: usize = 1 << 24;

/// The members of a session in this process.
pub(crate) enum Held {
    /// All parties.
    All(Local),
    /// One party; the others are other processes.
    One(Box<Party>),
}

impl Held {
    fn cancel(&self) -> Cancel {
        match self {
            Held::All(local) => local.cancel(),
            Held::One(party) => party.cancel(),
        }
    }

    fn run(
        &mut self,
        computation: &compute::Computation,
        inputs: BTreeMap<String, Tensor>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let (names, tensors): (Vec<String>, Vec<Tensor>) = inputs.into_iter().unzip();
        let inputs = names.iter().map(String::as_str).zip(tensors);
        match self {
            Held::All(local) => local.run(computation, inputs),
            Held::One(party) => party.run(computation, inputs),
        }
    }

    fn stats(&self) -> Vec<Stats> {
        match self {
            Held::All(local) => local.stats(),
            Held::One(party) => vec![party.stats()],
        }
    }
}

/// The state of a session.
enum SessionState {
    /// It waits for work.
    Open(Held),
    /// A thread works on it.
    Busy,
    /// It ended with an error, or has not begun. All parties are in this process, and begin a new
    /// one.
    Gone,
    /// A party's session ended with an error.
    Lost,
    /// It was closed.
    Closed,
}

/// The parameters with which a session begins.
enum Begin {
    Local(Chosen, Option<u16>),
    Party(Box<PartyBegin>),
}

/// The settings of a party of a session.
struct PartyBegin {
    file: PathBuf,
    me: String,
    index: u8,
    label: String,
    allow: Vec<TermsDigest>,
    chosen: Chosen,
}

/// The part of a session that threads share.
struct SessionShared {
    begin: Begin,
    state: Mutex<SessionState>,
    /// The handle with which the open session, or the run under way, can be cancelled.
    cancel: Mutex<Cancel>,
    events: Events,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionShared {
    fn begun(&self) -> Result<Held, Fault> {
        let held = match &self.begin {
            Begin::Local(chosen, threads) => {
                Held::All(Local::open(*chosen, *threads, self.events.observer())?)
            }
            Begin::Party(begin) => {
                let file = PartyFile::read(&begin.file)?;
                let me = file.member.me.clone();
                let config = MemberConfig::of_party(file, &begin.label, Backend::best());
                let mut config = config.map_err(|e| e.by(&me))?;
                if !begin.allow.is_empty() {
                    config.allow(begin.allow.iter().copied());
                    // The party tells the others only the values that its program passes to `tell`.
                    config.allow([Party::terms_digest(begin.chosen, &telling(begin.chosen)?)?]);
                }
                config.cancel = lock(&self.cancel).clone();
                Held::One(Box::new(Party::connect_with(config, begin.chosen, None, &self.events.observer())?))
            }
        };
        *lock(&self.cancel) = held.cancel();
        Ok(held)
    }

    /// Takes the session for a run, or says why it is not available.
    fn take(&self) -> Result<Option<Held>, Fault> {
        let refused = |cause, remedy| Err(Fault::usage("starting the run", cause, remedy));
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, SessionState::Busy) {
            // The run was cancelled as it ended, and these parties cannot run again.
            SessionState::Open(Held::All(_)) if lock(&self.cancel).asked() => {
                *lock(&self.cancel) = Cancel::new();
                Ok(None)
            }
            SessionState::Open(held) => Ok(Some(held)),
            SessionState::Gone => {
                *lock(&self.cancel) = Cancel::new();
                Ok(None)
            }
            SessionState::Busy => refused(
                "another run is under way on this session",
                "wait for it, or open a session for each thread",
            ),
            SessionState::Lost => {
                *state = SessionState::Lost;
                refused("the session ended with the error of an earlier run", "open it again, at all parties")
            }
            SessionState::Closed => {
                *state = SessionState::Closed;
                refused("the session is closed", "open a new one")
            }
        }
    }

    /// Gives the session back after a run, unless it was closed meanwhile.
    fn give(&self, held: Option<Held>) {
        let mut state = lock(&self.state);
        if let SessionState::Busy = *state {
            let ended = match &self.begin {
                Begin::Local(..) => SessionState::Gone,
                Begin::Party(_) => SessionState::Lost,
            };
            *state = held.map_or(ended, SessionState::Open);
        }
    }
}

/// Gives the session its members back when the run is dropped, even if it panics.
struct Back(Arc<SessionShared>, Option<Held>);

impl Drop for Back {
    fn drop(&mut self) {
        self.0.give(self.1.take());
    }
}

/// Returns the computation by which each party tells all others a text, such as the columns of its
/// tables.
fn telling(chosen: Chosen) -> Result<compute::Computation, Fault> {
    let parties = 0..chosen.protocol.parties();
    let all = parties.clone().map(|i| format!("party{i}")).collect::<Vec<_>>().join(", ");
    let symbols = parties.clone().map(|i| format!("n{i}")).collect::<Vec<_>>().join(", ");
    let inputs = parties.clone().map(|i| format!("input t{i}: u8[n{i}] from party{i}\n"));
    let outputs = parties.map(|i| format!("output d{i} = t{i} to {all}\n"));
    let body: String = inputs.chain(outputs).collect();
    let text = format!("computation told\nmembers {all}\nsymbols {symbols}\n{body}");
    text.parse().map_err(|e: compute::ComputeError| e.fault().during("telling the others"))
}

/// A session: parties that met once. Users work with the package's `Session`.
#[pyclass(frozen, module = "hushwire._native")]
pub(crate) struct Session(Arc<SessionShared>);

impl Session {
    /// Works on the session on another thread. After an error, the parties meet anew before the
    /// next run.
    pub(crate) fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        told: Option<&Py<PyAny>>,
        work: impl FnOnce(&mut Held) -> Result<T, Fault> + Send + 'static,
    ) -> PyResult<T> {
        let shared = self.0.clone();
        let held = shared.take().map_err(|fault| raised(py, &fault))?;
        let worker = shared.clone();
        let body = move || {
            let mut back = Back(worker.clone(), None);
            let mut held = held.map_or_else(|| worker.begun(), Ok)?;
            let result = work(&mut held);
            back.1 = result.is_ok().then_some(held);
            result
        };
        let cancel = || lock(&shared.cancel).cancel();
        running::run(py, cancel, (&shared.events, told), body)
    }
}

#[pymethods]
impl Session {
    /// Begins with all parties of a protocol, as threads of this process.
    #[staticmethod]
    #[pyo3(signature = (protocol, threads = None))]
    fn local(py: Python<'_>, protocol: &str, threads: Option<u16>) -> PyResult<Self> {
        let chosen = protocol_of(protocol).and_then(|protocol| Chosen::new(protocol, None, None));
        let chosen = chosen.map_err(|fault| raised(py, &fault))?;
        Self::opened(py, Begin::Local(chosen, threads), None)
    }

    /// Begins as the party of a party file; the others are other processes.
    #[staticmethod]
    #[pyo3(signature = (file, label, allow, protocol, told = None))]
    fn connect(
        py: Python<'_>,
        file: PathBuf,
        label: String,
        allow: Vec<String>,
        protocol: &str,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let read = || {
            let chosen = protocol_of(protocol).and_then(|protocol| Chosen::new(protocol, None, None))?;
            let digest = |text: &String| {
                let remedy = "write blake3: and 64 hexadecimal digits, as `hushwire job digest` prints them";
                text.parse::<TermsDigest>().map_err(|_| {
                    Fault::usage("reading the digests that are allowed", "one is no digest", remedy)
                })
            };
            let me = PartyFile::read(&file)?.member.me;
            let Member::Party(index) = me else {
                let cause = format!("{} is the file of {me}, which is no party", file.display());
                return Err(Fault::usage("opening the session", cause, "name a party's file"));
            };
            let allow = allow.iter().map(digest).collect::<Result<_, Fault>>()?;
            let me = me.key();
            Ok(Begin::Party(Box::new(PartyBegin { file, me, index, label, allow, chosen })))
        };
        let begin = read().map_err(|fault: Fault| raised(py, &fault))?;
        Self::opened(py, begin, told.as_ref())
    }

    /// Runs a computation: arrays go in by name, and outputs come out.
    #[pyo3(signature = (computation, inputs, told = None))]
    fn run(
        &self,
        py: Python<'_>,
        computation: &Computation,
        inputs: Arrays<'_>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Raws> {
        let all = matches!(self.0.begin, Begin::Local(..));
        let (tensors, computation) = (computation.tensors(py, &inputs, all)?, computation.0.clone());
        let learnt = self.with(py, told.as_ref(), move |held| held.run(&computation, tensors))?;
        Ok(raws(&learnt))
    }

    /// Tells the other parties a text, which all of them learn, and returns the texts of all
    /// parties in turn. All parties call it at the same time.
    #[pyo3(signature = (text, told = None))]
    fn tell(&self, py: Python<'_>, text: &str, told: Option<Py<PyAny>>) -> PyResult<Vec<Vec<u8>>> {
        let Begin::Party(begin) = &self.0.begin else { return Ok(vec![text.as_bytes().to_vec()]) };
        let (chosen, index) = (begin.chosen, begin.index);
        if text.is_empty() || text.len() > MOST_TOLD {
            let cause = format!("it has {} bytes, and 1 to {MOST_TOLD} can be told", text.len());
            return Err(raised(py, &Fault::usage("telling the others", cause, "name less")));
        }
        let scalar = compute::Scalar::Int { signed: false, bits: 8 };
        let own = Tensor::from_records(scalar, &[text.len()], text.as_bytes());
        let texts = self.with(py, told.as_ref(), move |held| {
            let inputs = BTreeMap::from([(format!("t{index}"), own)]);
            let learnt = held.run(&telling(chosen)?, inputs)?;
            Ok((0..chosen.protocol.parties())
                .map(|i| learnt.get(&format!("d{i}")).map(Tensor::records).unwrap_or_default())
                .collect::<Vec<_>>())
        })?;
        Ok(texts)
    }

    /// Runs a network's computation. Its owner brings the model, and the client brings an input as
    /// its shape and floats of 4 bytes. Returns the shape and elements of the output, if this
    /// process learns it.
    #[pyo3(signature = (network, model = None, input = None, told = None))]
    fn infer<'py>(
        &self,
        py: Python<'py>,
        network: &Computation,
        model: Option<&Network>,
        input: Option<(Vec<usize>, Vec<u8>)>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Option<(Vec<usize>, Bound<'py, PyBytes>)>> {
        let (network, model) = (network.0.clone(), model.cloned());
        let input = input
            .map(|(lengths, bytes): (Vec<usize>, Vec<u8>)| result(py, array(lengths, &bytes)))
            .transpose()?;
        let inferred = self.with(py, told.as_ref(), move |held| {
            let inputs = models::inputs(&network, model.as_ref(), input.as_ref())?;
            Ok(models::output(&held.run(&network, inputs)?))
        })?;
        Ok(inferred.map(|array| {
            let bytes: Vec<u8> = array.data.iter().flat_map(|x| x.to_le_bytes()).collect();
            (array.lengths, PyBytes::new(py, &bytes))
        }))
    }

    /// The digest of the terms on which parties of this protocol run a computation. An operator
    /// allows it.
    fn digest_of(&self, py: Python<'_>, computation: &Computation) -> PyResult<String> {
        let chosen = match &self.0.begin {
            Begin::Local(chosen, _) => *chosen,
            Begin::Party(begin) => begin.chosen,
        };
        let digest = result(py, Party::terms_digest(chosen, &computation.0))?;
        Ok(digest.to_string())
    }

    /// The party that this process is, such as `party0`; None if it is all parties.
    #[getter]
    fn me(&self) -> Option<&str> {
        match &self.0.begin {
            Begin::Local(..) => None,
            Begin::Party(begin) => Some(&begin.me),
        }
    }

    /// Ends the run under way, from another thread.
    fn cancel(&self) {
        lock(&self.0.cancel).cancel();
    }

    /// Ends the session, and the run under way.
    fn close(&self, py: Python<'_>) {
        let held = std::mem::replace(&mut *lock(&self.0.state), SessionState::Closed);
        if matches!(held, SessionState::Busy) {
            self.cancel();
        }
        // Closing a link sends a goodbye.
        py.detach(move || drop(held));
    }

    /// Whether the session was closed.
    #[getter]
    fn closed(&self) -> bool {
        matches!(*lock(&self.0.state), SessionState::Closed)
    }

    /// The measurements of each party in this process, since it met the others.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let stats = match &*lock(&self.0.state) {
            SessionState::Open(held) => held.stats(),
            _ => vec![],
        };
        stats.iter().map(|stats| measured(py, stats)).collect()
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let cause = "a session cannot be pickled: its keys belong to this process";
        Err(raised(py, &Fault::usage("pickling", cause, "open a session where it is used")))
    }
}

/// Converts measurements for Python.
pub(crate) fn measured<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("seconds", stats.seconds)?;
    all.set_item("bytes_sent", stats.bytes_sent)?;
    all.set_item("bytes_received", stats.bytes_received)?;
    all.set_item("rounds", stats.rounds)?;
    Ok(all)
}

impl Session {
    fn opened(py: Python<'_>, begin: Begin, told: Option<&Py<PyAny>>) -> PyResult<Self> {
        let (state, cancel) = (Mutex::new(SessionState::Gone), Mutex::new(Cancel::new()));
        let session = Self(Arc::new(SessionShared { begin, state, cancel, events: Events::default() }));
        session.with(py, told, |_| Ok(()))?;
        Ok(session)
    }
}
