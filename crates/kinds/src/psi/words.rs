//! The texts and report fields of an intersection.

use super::{Common, Intersection, PsiJob, PsiReveal, PsiTask};
use crate::kind::{JobKind, Runs, Words};
use hushwire_garble::Scheme;
use hushwire_session::{Fault, Member, Protocol, toml_file::Section};
use serde::Serialize;

impl JobKind for PsiJob {
    const NAME: &'static str = "psi";
    const WHOSE: &'static str = "an intersection's";

    fn from_section(top: Section<'_>) -> Result<Self, Fault> {
        Self::from_section(top)
    }

    fn command(_: &str) -> String {
        "`hushwire local psi --a A.csv --b B.csv …`".to_owned()
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        vec![format!("\n[inputs]\ncsv = {{ file = \"{}.csv\" }}", me.key())]
    }
}

impl Runs for PsiJob {
    type Task = PsiTask;

    fn task(&self) -> Result<PsiTask, Fault> {
        PsiTask::new(self)
    }
}

/// Fields of an intersection in a member's report.
#[derive(Serialize)]
pub struct PsiReport {
    reveal: String,
    method: &'static str,
    security: &'static str,
    /// The kind of store, if the method has one.
    store: Option<&'static str>,
    /// The protocol of the method's circuits, if it has any.
    protocol: Option<Protocol>,
    scheme: Option<&'static str>,
    /// The numbers of different keys of party 0 and of party 1.
    keys: [usize; 2],
    /// The normal form of each column of a key in this party's file.
    normalise: Vec<String>,
    /// The parties that learn the result.
    to: Vec<String>,
    /// The number of common keys; with flags, the number of this party's rows that have one. `None`
    /// if it learns nothing.
    found: Option<u64>,
    /// The number of rows of this party's file with a common key, if it learns which.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// The sum of a column, over the rows with a common key.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<i64>,
    /// The columns of the other party's file, if one party learns them; and the most bytes of text
    /// that a row has in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_bytes: Option<usize>,
    /// With items that did not go to a file: the items.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<String>>,
    /// The other party's fields in `columns`, for each of these items.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Vec<String>>>,
    /// With flags that did not go to a file: the flag of each of this party's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Vec<bool>>,
    value_bits: usize,
    ands: u64,
}

impl Words for PsiTask {
    type Report = PsiReport;

    fn extent(&self) -> (u64, &'static str) {
        (0, if self.protocol().is_some() { "ANDs" } else { "messages" })
    }

    fn beside_terms(&self) -> (Vec<String>, serde_json::Map<String, serde_json::Value>) {
        let Some(tries) = self.tries() else { return Default::default() };
        let lines = tries.iter().map(|tries| format!("tries: {tries}")).collect();
        let json = serde_json::to_value(&tries).unwrap_or_default();
        (lines, [("tries".to_owned(), json)].into_iter().collect())
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
            to: self.recipients().iter().map(Member::key).collect(),
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

impl PsiReport {
    /// Two lines: the result, and how parties A and B computed it. `of_b` tells whether it is about
    /// B's rows.
    #[must_use]
    pub fn lines(&self, of_b: bool) -> [String; 2] {
        let PsiReport {
            reveal,
            method,
            security,
            store,
            protocol,
            scheme,
            keys: [a, b],
            found,
            sum,
            columns,
            value_bits,
            ands,
            ..
        } = self;
        let what = match (reveal.as_str(), found.unwrap_or_default()) {
            ("flags", found) => {
                let side = if of_b { "B" } else { "A" };
                format!("{found} of party {side}'s rows have a key that is in both files")
            }
            (_, found) if sum.is_some() => {
                format!("{found} keys are in both files, and their rows come to {}", sum.unwrap_or_default())
            }
            (_, 1) => "1 key is in both files".to_owned(),
            (_, found) => format!("{found} keys are in both files"),
        };
        let what = columns.as_ref().map_or(what.clone(), |columns| {
            let other = if of_b { "A" } else { "B" };
            format!("{what}, with party {other}'s {}", columns.join(", "))
        });
        let with = scheme.map_or_else(String::new, |scheme| format!(" ({scheme})"));
        let how = match protocol {
            Some(protocol) => {
                format!(
                    "{protocol}{with} and the circuit {method}: {ands} ANDs on values of {value_bits} bits"
                )
            }
            None => {
                let store = store.map_or_else(String::new, |store| format!(", {store} store"));
                format!("{method} ({security}{store}), values of {value_bits} bits")
            }
        };
        [format!("{what}: {a} different keys at A, {b} at B"), how]
    }
}
