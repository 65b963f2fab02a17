//! The words and figures of each kind of job in `party` and `client`.

#[cfg(feature = "sql")]
mod query;

#[cfg(feature = "sql")]
pub(crate) use query::aligned;

use crate::{run_report, size};
use hushwire::job::{
    Agreement, Common, ComputeTask, Computed, Fault, FromDisk, Intersection, Phase, Preparable, Preparation,
    Prepared, Protocol, PsiReveal, PsiTask, Shown, Task,
    aes_ctr::{AesCtrJob, Iv, KeyMode, Learnt},
};
use hushwire_compute::Scalar;
use hushwire_garble::Scheme;
use serde::Serialize;
use std::collections::BTreeMap;

/// The words and figures of a kind of job at its members.
pub(crate) trait Told: Task + Clone + Send + Sync + 'static {
    /// Its own fields of a member's `--json`.
    type Report: Serialize;

    /// The end of the progress bar and its unit; 0 where only the run tells.
    fn extent(&self) -> (u64, &'static str);

    /// The parts of a run, in turn, in words, each with the progress from which on it is under way: nothing where that has no parts.
    ///
    /// # Errors
    /// It is too large to be run.
    fn course(&self) -> Result<Vec<(u64, String)>, Fault> {
        Ok(vec![])
    }

    /// The work of a run, as `5 instances of less:32`.
    fn work(&self, learnt: &Self::Learnt) -> String;

    /// Results as they are printed.
    fn printed(&self, learnt: &Self::Learnt) -> Vec<u8>;

    /// Results and what they are of, for programs.
    fn report(&self, learnt: &Self::Learnt) -> Self::Report;
}

/// Fields of a circuit's job in a member's report.
#[derive(Serialize)]
pub(crate) struct CircuitReport {
    pub(crate) circuit: String,
    protocol: Protocol,
    /// The scheme of yao's gates.
    scheme: Option<&'static str>,
    /// The OT extension of two parties.
    ot: Option<&'static str>,
    pub(crate) instances: u64,
    /// Hexadecimal digits by the output's name; outputs that went to files are not here.
    outputs: BTreeMap<String, String>,
    /// AND gates of one instance.
    pub(crate) ands: u64,
    /// Threads that took phases of authgarble from disk; of a party that has a directory for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_disk: Option<FromDisk>,
}

impl Told for Prepared {
    type Report = CircuitReport;

    fn extent(&self) -> (u64, &'static str) {
        (self.plan.instances, "instances")
    }

    fn work(&self, _: &Self::Learnt) -> String {
        let plural = if self.plan.instances == 1 { "" } else { "s" };
        format!("{} instance{plural} of {}", self.plan.instances, self.plan.circuit)
    }

    fn printed(&self, learnt: &Self::Learnt) -> Vec<u8> {
        run_report::lines(&run_report::with_names(&self.plan, learnt.digits.iter().map(|(j, hex)| (j, hex))))
    }

    fn report(&self, learnt: &Self::Learnt) -> CircuitReport {
        let plan = &self.plan;
        let outputs = run_report::with_names(plan, learnt.digits.iter().map(|(j, hex)| (j, hex)));
        CircuitReport {
            circuit: plan.circuit.clone(),
            protocol: plan.protocol,
            scheme: plan.scheme.map(Scheme::name),
            ot: plan.ot.map(hushwire_ot::Protocol::name),
            instances: plan.instances,
            outputs: outputs.into_iter().collect(),
            ands: self.program.ands(),
            from_disk: learnt.from_disk,
        }
    }
}

/// Fields of preprocessing in a member's report.
#[derive(Serialize)]
pub(crate) struct PreparationReport {
    /// The circuit of a circuit's job.
    #[serde(skip_serializing_if = "Option::is_none")]
    circuit: Option<String>,
    /// The computation of any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    computation: Option<String>,
    protocol: Protocol,
    /// The last phase that was made.
    up_to: &'static str,
    /// Runs that it serves.
    runs: u32,
    /// Files that were made.
    stocks: u64,
}

impl<T: Preparable + Clone + Send + Sync + 'static> Told for Preparation<T> {
    type Report = PreparationReport;

    fn extent(&self) -> (u64, &'static str) {
        (1, "stocks")
    }

    fn work(&self, _: &u64) -> String {
        let plural = if self.times == 1 { "" } else { "s" };
        let (times, what) = (self.times, self.job.agreement().title);
        match self.up_to {
            Phase::FunctionIndependent => format!("preprocessing for {times} run{plural} of {what}"),
            Phase::FunctionDependent => format!("garbled circuits for {times} run{plural} of {what}"),
        }
    }

    fn printed(&self, _: &u64) -> Vec<u8> {
        vec![]
    }

    fn report(&self, learnt: &u64) -> PreparationReport {
        let Agreement { kind, title, protocol, .. } = self.job.agreement();
        let (circuit, computation) =
            if kind == "circuit" { (Some(title), None) } else { (None, Some(title)) };
        let (up_to, runs, stocks) = (self.up_to.name(), self.times, *learnt);
        PreparationReport { circuit, computation, protocol, up_to, runs, stocks }
    }
}

/// Fields of an intersection in a member's report.
#[derive(Serialize)]
pub(crate) struct PsiReport {
    pub(crate) reveal: String,
    pub(crate) method: &'static str,
    pub(crate) security: &'static str,
    /// The kind of store, where the method has one.
    pub(crate) store: Option<&'static str>,
    /// That of the method's circuits, where it has any.
    pub(crate) protocol: Option<Protocol>,
    pub(crate) scheme: Option<&'static str>,
    /// Different keys of party 0 and of party 1.
    pub(crate) keys: [usize; 2],
    /// The columns of a key in this party's file are of one form each.
    normalise: Vec<String>,
    /// Who learns it.
    to: Vec<String>,
    /// The number of common keys; with flags, rows of this party's. None where it learns nothing.
    pub(crate) found: Option<u64>,
    /// Rows of this party's file with a common key, where it learns which.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// Of a column, over the rows with a common key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<i64>,
    /// Of the other party's file, where one party learns them; and the bytes of text that a row of them has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) columns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_bytes: Option<usize>,
    /// With items that are in no file: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<String>>,
    /// Of each of these the other party's fields in `columns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Vec<String>>>,
    /// With flags that are in no file: of each of this party's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Vec<bool>>,
    pub(crate) value_bits: usize,
    pub(crate) ands: u64,
}

impl Told for PsiTask {
    type Report = PsiReport;

    fn extent(&self) -> (u64, &'static str) {
        (0, if self.protocol().is_some() { "ANDs" } else { "messages" })
    }

    fn work(&self, learnt: &Intersection) -> String {
        let [a, b] = learnt.keys;
        format!("{a} different keys at party 0 and {b} at party 1 intersected")
    }

    fn printed(&self, learnt: &Intersection) -> Vec<u8> {
        learnt.text.clone().unwrap_or_default()
    }

    fn report(&self, learnt: &Intersection) -> PsiReport {
        let (items, flags, values) = match &learnt.common {
            Common::Items(items) => (Some(items.clone()), None, None),
            Common::Columns { keys, fields } => (Some(keys.clone()), None, Some(fields.clone())),
            Common::Flags(flags) => (None, Some(flags.clone()), None),
            Common::Size(_) | Common::Sum { .. } | Common::Filed | Common::Nothing => (None, None, None),
        };
        let carried = self.carried();
        let sum = if let Common::Sum { sum, .. } = learnt.common { Some(sum) } else { None };
        let rows = self.job().reveal == PsiReveal::Flags;
        let found = if rows { learnt.rows } else { learnt.found };
        PsiReport {
            reveal: self.job().reveal.to_string(),
            method: learnt.method.name(),
            security: self.job().security.name(),
            store: self.store().map(hushwire_psi::Store::name),
            protocol: self.protocol(),
            scheme: self.scheme().map(Scheme::name),
            keys: learnt.keys,
            normalise: self
                .job()
                .key(0)
                .map(|key| key.columns().iter().map(|column| column.normal.to_string()).collect())
                .unwrap_or_default(),
            to: self.recipients().iter().map(hushwire::job::Member::key).collect(),
            found,
            rows: learnt.rows,
            sum,
            columns: carried.map(|carried| carried.names().to_vec()),
            payload_bytes: carried.map(hushwire_psi::Carried::bytes),
            items,
            values,
            flags,
            value_bits: learnt.width,
            ands: learnt.ands,
        }
    }
}

/// Fields of a computation in a member's report.
#[derive(Serialize)]
pub(crate) struct ComputeReport {
    pub(crate) computation: String,
    digest: String,
    protocol: Protocol,
    /// The scheme of yao's gates.
    scheme: Option<&'static str>,
    /// The OT extension of two parties.
    ot: Option<&'static str>,
    /// Lengths.
    pub(crate) symbols: BTreeMap<String, u64>,
    /// Elements by the output's name; outputs that went to files are not here.
    outputs: BTreeMap<String, serde_json::Value>,
    /// AND gates, where it ran as a circuit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ands: Option<u64>,
    /// Phases of authgarble that came from disk, as a circuit's report has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_disk: Option<FromDisk>,
    /// Remarks on public values and on this member's inputs, such as numbers that were rounded.
    pub(crate) remarks: Vec<String>,
}

/// An output for programs: truth values, integers of up to 64 bits as numbers, everything else as text, in lists as its axes
/// are.
pub(crate) fn json(shown: &Shown) -> serde_json::Value {
    let kind = Scalar::parse(&shown.scalar);
    let one = |text: &String| match kind {
        Some(Scalar::Bool) => serde_json::Value::from(text == "true"),
        Some(Scalar::Int { bits: ..=64, .. } | Scalar::Place) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        }
        _ => text.clone().into(),
    };
    fn lists(lengths: &[usize], elements: &mut dyn Iterator<Item = serde_json::Value>) -> serde_json::Value {
        match lengths.split_first() {
            None => elements.next().unwrap_or_default(),
            Some((n, inner)) => (0..*n).map(|_| lists(inner, elements)).collect::<Vec<_>>().into(),
        }
    }
    lists(&shown.lengths, &mut shown.elements.iter().map(one))
}

/// An output as it is printed.
pub(crate) fn output_line(name: &str, shown: &Shown) -> String {
    format!("{name}={shown}\n")
}

impl Told for ComputeTask {
    type Report = ComputeReport;

    /// How much there is shows when lengths are known: ANDs of two parties, steps of three.
    fn extent(&self) -> (u64, &'static str) {
        (0, "steps")
    }

    fn work(&self, learnt: &Computed) -> String {
        let symbols = learnt.symbols.iter().map(|(name, n)| format!("{name} = {n}"));
        let symbols: Vec<_> = symbols.collect();
        let of = if symbols.is_empty() { String::new() } else { format!(" of {}", symbols.join(", ")) };
        format!("{}{of}", self.computation().name())
    }

    fn printed(&self, learnt: &Computed) -> Vec<u8> {
        let name = |j: usize| &self.computation().outputs()[j].name;
        learnt.shown.iter().map(|(j, shown)| output_line(name(*j), shown)).collect::<String>().into_bytes()
    }

    fn report(&self, learnt: &Computed) -> ComputeReport {
        let name = |j: usize| self.computation().outputs()[j].name.clone();
        let chosen = self.chosen();
        ComputeReport {
            computation: self.computation().name().to_owned(),
            digest: hex::encode(self.computation().digest()),
            protocol: chosen.protocol,
            scheme: chosen.scheme.map(Scheme::name),
            ot: chosen.ot.map(hushwire_ot::Protocol::name),
            symbols: learnt.symbols.clone(),
            outputs: learnt.shown.iter().map(|(j, shown)| (name(*j), json(shown))).collect(),
            ands: Some(learnt.ands).filter(|ands| *ands > 0),
            from_disk: learnt.from_disk,
            remarks: self.notes().iter().chain(&learnt.remarks).cloned().collect(),
        }
    }
}

/// Fields of an encryption in a member's report.
#[derive(Serialize)]
pub(crate) struct AesCtrReport {
    job: String,
    bytes: u64,
    iv: Option<Iv>,
    key: Option<KeyMode>,
    key_id: Option<String>,
    sbox: &'static str,
    batch: u32,
    threads: u16,
    lanes_per_thread: u16,
}

impl Told for AesCtrJob {
    type Report = AesCtrReport;

    /// Only the owner knows how long its file is, and says so when all are connected.
    fn extent(&self) -> (u64, &'static str) {
        (0, "bytes")
    }

    fn work(&self, learnt: &Learnt) -> String {
        let bytes = learnt.terms.as_ref().map_or(0, |terms| terms.bytes);
        format!("{} with {}", size::show(bytes), self.agreement().title)
    }

    fn printed(&self, _: &Learnt) -> Vec<u8> {
        vec![]
    }

    fn report(&self, learnt: &Learnt) -> AesCtrReport {
        let terms = learnt.terms.as_ref();
        AesCtrReport {
            job: self.agreement().title,
            bytes: terms.map_or(0, |terms| terms.bytes),
            iv: terms.map(|terms| terms.iv),
            key: terms.map(|terms| terms.key),
            key_id: terms.and_then(|terms| terms.key_id.clone()),
            sbox: self.cut.sbox.name(),
            batch: self.cut.chunk_blocks,
            threads: self.cut.threads,
            lanes_per_thread: self.cut.lanes,
        }
    }
}
