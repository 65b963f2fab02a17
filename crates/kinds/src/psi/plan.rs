//! The agreement on an intersection, and the result of its run.

use super::{
    CSV, PsiJob, PsiMethod, PsiPart, PsiReveal, PsiSecurity, RESULT,
    chosen::{Chosen, method, wrong},
    of_file,
};
use hushwire_fault::{PartyId, Text, code};
use hushwire_files::{check_output, is_parquet};
use hushwire_psi::{Carried, Method, Most, PsiSide, PsiTerms, Reveal, Store, circuit};
use hushwire_session::{
    AgreedField, Agreement, Fault, Forecast, InputPlace, Member, MemberConfig, OutputPlace, Protocol, Task,
    as_text, by_name, suggest,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// AGREEMENT: the version of the fields' meaning and of the bytes that a run sends.
const PLAN_VERSION: u32 = 13;
/// AGREEMENT: the default bytes of text of a row in the columns that the other party learns.
const PAYLOAD_BYTES: usize = 64;

/// A party's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Common {
    /// The number of keys in both files.
    Size(u64),
    /// The number of keys in both files, and the sum of a column over the rows that have one of
    /// them.
    Sum {
        /// The number of common keys.
        count: u64,
        /// The sum.
        sum: i64,
    },
    /// The keys in both files, in the order of this party's file. A key of several columns is a
    /// line of CSV.
    Items(Vec<String>),
    /// For each row of this party's file, whether its key is in both files.
    Flags(Vec<bool>),
    /// The keys in both files as in [`Common::Items`], and for each the other party's fields in the
    /// agreed columns.
    Columns {
        /// The keys.
        keys: Vec<String>,
        /// The other party's fields, key by key.
        fields: Vec<Vec<String>>,
    },
    /// Rows of this party's file, which are only in the output file.
    Filed,
    /// Nothing, as agreed.
    Nothing,
}

/// The result of an intersection at one party.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intersection {
    /// This party's result.
    pub common: Common,
    /// The contents of the result's file if no file was named: a number, or CSV.
    #[serde(with = "as_text::maybe_bytes")]
    pub text: Option<Vec<u8>>,
    /// The number of keys in both files; `None` if this party learns nothing.
    pub found: Option<u64>,
    /// The number of rows of this party's file whose key is in both files; `None` if it learns only
    /// a number.
    pub rows: Option<u64>,
    /// The numbers of different keys of party 0 and of party 1.
    pub keys: [usize; 2],
    /// The method that found it.
    #[serde(with = "by_name::one")]
    pub method: PsiMethod,
    /// The bits of a value.
    pub width: usize,
    /// The number of AND gates of circuits.
    pub ands: u64,
}

/// An intersection, planned.
#[derive(Clone, Debug)]
pub struct PsiTask {
    pub(super) job: PsiJob,
    pub(super) way: MethodPlan,
    protocol: Protocol,
    scheme: Option<hushwire_garble::Scheme>,
    /// The kind of store; `None` for circuits of whole sets.
    store: Option<Store>,
    to: Vec<Member>,
    /// The columns that the party without a result brings for the other one.
    carried: Option<Carried>,
}

/// A method, and its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum MethodPlan {
    Vole,
    Bins(circuit::Reveal),
    Circuit(PsiTerms),
}

/// The remedy if only one party can learn the result, in a job's file and on a command line.
const ONE: &str = "let one party learn it (`to = \"party0\"`, `--to a`)";

const PARTIES: [Member; 2] = [Member::Party(0), Member::Party(1)];

impl PsiTask {
    /// The name of a party's rows in member files.
    pub const CSV: &str = CSV;
    /// The name of a party's result in member files.
    pub const RESULT: &str = RESULT;

    /// Plans an intersection.
    ///
    /// # Errors
    /// The protocol is not for two parties, or cannot reveal this to these parties.
    pub fn new(job: &PsiJob) -> Result<Self, Fault> {
        let chosen = job.protocol.unwrap_or(Protocol::Yao);
        let protocol = match chosen {
            Protocol::Yao => hushwire_psi::CircuitProtocol::Yao,
            Protocol::Gmw => hushwire_psi::CircuitProtocol::Gmw,
            Protocol::Rep3 | Protocol::Two | Protocol::Authgarble(_) | Protocol::Ywz20(_) => {
                return Err(wrong(
                    "an intersection has two parties, and no protocol of more",
                    "take yao or gmw",
                ));
            }
        };
        let method = method(job)?;
        if method != Chosen::Vole && job.security == PsiSecurity::Malicious {
            let cause = "circuits withstand semi-honest parties alone";
            return Err(wrong(cause, "take the method vole, which reveals items, flags or columns"));
        }
        let (scheme, ot) = match method {
            Chosen::Circuit(_) => (chosen.scheme(job.scheme)?, chosen.extension(job.ot)?),
            _ => (None, None),
        };
        let store = match (method, job.store) {
            (Chosen::Circuit(_), Some(store)) => {
                let cause = format!("circuits of whole sets have no store, and `store` is {store}");
                return Err(wrong(cause, "leave it out, or take the method vole or circuit"));
            }
            (Chosen::Circuit(_), None) => None,
            (Chosen::Vole | Chosen::Bins, store) => Some(store.unwrap_or_default()),
        };
        for member in &job.to {
            chosen.admits(member).map_err(|(cause, _)| wrong(cause, "name party0, party1 or both"))?;
        }
        let to = match (job.to.as_slice(), &job.reveal) {
            ([], PsiReveal::Flags | PsiReveal::Columns { .. }) => vec![Member::Party(0)],
            ([], _) => PARTIES.to_vec(),
            (given, _) => given.to_vec(),
        };
        match (&job.reveal, to.len()) {
            (PsiReveal::Size | PsiReveal::Sum { .. }, 1) => {
                return Err(wrong(
                    "a number is learnt by both parties",
                    "leave out `to` (`--to`), or reveal items or flags",
                ));
            }
            (PsiReveal::Columns { .. }, 2) => {
                return Err(wrong(
                    "columns of the other party's file are learnt by one party",
                    &format!("{ONE}, or reveal items"),
                ));
            }
            (PsiReveal::Flags, 2) => {
                return Err(wrong("flags are learnt by one party", &format!("{ONE}, or reveal items")));
            }
            _ => {}
        }
        for index in 0..2 {
            job.key(index).map_err(|cause| {
                let forms = job.forms.len() > 1 && job.forms.len() != job.columns[usize::from(index)].len();
                let remedy = match forms {
                    true => "give one form for all columns of the key, or one for each",
                    false => "name one column or more, each once",
                };
                wrong(cause, remedy)
            })?;
        }
        if job.columns[0].len() != job.columns[1].len() {
            let [a, b] = job.columns.each_ref().map(Vec::len);
            let [first, second] = [0, 1].map(|party| Text::new().who(PartyId(party)));
            let cause = Text::new().words(format_args!("the key has {a} columns in ")).text(first);
            let cause = cause.words(format_args!("'s file and {b} in ")).text(second).words("'s");
            return Err(wrong(cause, "name as many for both, in one order"));
        }
        // Items that one party learns are flags in another form.
        let (one, both) = (to.len() == 1, job.reveal.of_sets());
        let [of_a, of_b] = job.most_items;
        let way = match (method, both) {
            (Chosen::Vole, _) => MethodPlan::Vole,
            (Chosen::Bins, None) => MethodPlan::Bins(circuit::Reveal::Sum),
            (Chosen::Bins, Some(Reveal::Size)) => MethodPlan::Bins(circuit::Reveal::Size),
            (Chosen::Bins, Some(_)) if one => MethodPlan::Bins(circuit::Reveal::Flags),
            (Chosen::Bins, Some(_)) => {
                let cause = "the method circuit tells one party which items are common, or both how many";
                return Err(wrong(cause, &format!("{ONE}, or take the method vole")));
            }
            (Chosen::Circuit(_), None) => {
                return Err(wrong("circuits of whole sets add nothing up", "take the method circuit"));
            }
            (Chosen::Circuit(circuit), Some(reveal)) => MethodPlan::Circuit(PsiTerms {
                protocol,
                circuit,
                scheme: scheme.unwrap_or_default(),
                ot: ot.unwrap_or(hushwire_ot::Protocol::SoftSpoken4),
                most: Most(if to == [Member::Party(1)] { [of_b, of_a] } else { [of_a, of_b] }),
                ..PsiTerms::new(if one { Reveal::Flags } else { reveal })
            }),
        };
        let protocol = if method == Chosen::Bins { Protocol::Gmw } else { chosen };
        let carried = match (&job.reveal, job.payload_bytes) {
            (PsiReveal::Columns { names }, bytes) => {
                let carried = Carried::new(names, bytes.unwrap_or(PAYLOAD_BYTES));
                Some(carried.map_err(|cause| {
                    wrong(cause, "name each column of the other party's file once, and few bytes of text")
                })?)
            }
            (_, None) => None,
            (_, Some(_)) => {
                let cause = "payload bytes are of columns of the other party's file, and none is revealed";
                return Err(wrong(cause, "leave them out, or reveal columns:NAME"));
            }
        };
        Ok(Self { job: job.clone(), way, protocol, scheme, store, to, carried })
    }

    /// The columns that one party brings and the other one learns, if there are any.
    #[must_use]
    pub fn carried(&self) -> Option<&Carried> {
        self.carried.as_ref()
    }

    /// The protocol of the circuits, if there are any.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        matches!(self.way, MethodPlan::Circuit(_)).then_some(self.protocol)
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &PsiJob {
        &self.job
    }

    /// The garbling scheme, if the protocol garbles.
    #[must_use]
    pub fn scheme(&self) -> Option<hushwire_garble::Scheme> {
        self.scheme
    }

    /// The kind of store for digests; `None` for circuits of whole sets.
    #[must_use]
    pub fn store(&self) -> Option<Store> {
        self.store
    }

    /// Tests whether `member` learns the result.
    #[must_use]
    pub fn learns(&self, member: &Member) -> bool {
        self.to.contains(member)
    }

    /// The members that learn the result.
    #[must_use]
    pub fn recipients(&self) -> &[Member] {
        &self.to
    }

    /// The number of the party whose set is stored, for sets of these sizes. This is the party that
    /// alone learns the result, that has the column to sum, or that has fewer items.
    pub(super) fn receiver(&self, [a, b]: [usize; 2]) -> u8 {
        match (self.to.as_slice(), &self.job.reveal) {
            ([Member::Party(one)], _) => *one,
            (_, PsiReveal::Sum { of, .. }) => *of,
            _ => u8::from(b < a),
        }
    }

    /// The column of party `index`'s file that is summed.
    pub(super) fn summed(&self, index: u8) -> Option<&str> {
        match &self.job.reveal {
            PsiReveal::Sum { column, of } if *of == index => Some(column),
            _ => None,
        }
    }

    /// The side of a party. Side A is the one that learns flags, or party 0 if both learn.
    pub(super) fn side(&self, index: u8) -> PsiSide {
        let a = if let [Member::Party(one)] = self.to.as_slice() { *one } else { 0 };
        if index == a { PsiSide::A } else { PsiSide::B }
    }

    /// Names the runs that may replace each other's result. These are the runs with the same terms,
    /// whatever their rows.
    #[must_use]
    pub fn writer(&self) -> String {
        format!("output {RESULT} of psi {}", self.terms().digest())
    }

    fn title(&self) -> String {
        let [a, b] = self.job.columns.each_ref().map(|columns| columns.join(", "));
        if a == b { format!("psi of {a}") } else { format!("psi of {a} and {b}") }
    }

    /// The normal forms of the key's columns, on which both parties agreed.
    fn forms(&self) -> String {
        let key = self.job.key(0).map(|key| key.columns().iter().map(|c| c.normal.agreed()).collect());
        key.unwrap_or_else(|_| vec![]).join("; ")
    }

    /// Tests whether rows of the parties' files are revealed, rather than a number.
    pub(super) fn tells_rows(&self) -> bool {
        matches!(self.job.reveal, PsiReveal::Items | PsiReveal::Flags | PsiReveal::Columns { .. })
    }

    /// Refuses a file for the result if its format cannot hold it.
    ///
    /// # Errors
    /// The file is named as Parquet, and the result is not a table, or this build has no Parquet.
    pub fn check_result(&self, path: &Path) -> Result<(), Fault> {
        check_output(path).map_err(of_file)?;
        if self.tells_rows() || !is_parquet(path) {
            return Ok(());
        }
        let cause = format!("{} is to be Parquet, and what is revealed is no table", path.display());
        Err(Fault::new(
            code::INTERSECTION,
            "preparing outputs",
            cause,
            "name a file with another ending, as result.csv",
        ))
    }

    /// The place of the party's rows.
    pub(super) fn csv<'a>(&self, config: &'a MemberConfig) -> Result<&'a InputPlace, Fault> {
        let reading = |cause: String, remedy: &str| {
            Err(Fault::new(code::INTERSECTION, "reading inputs", cause, remedy))
        };
        if let Some(odd) = config.inputs.keys().find(|name| *name != CSV) {
            let cause = format!("{} does not bring an input called `{odd}`", config.me);
            return reading(cause, &suggest::remedy(odd, &[CSV]));
        }
        match config.inputs.get(CSV) {
            Some(place @ (InputPlace::File(_) | InputPlace::Memory(_) | InputPlace::Table(..))) => Ok(place),
            Some(_) => reading(
                format!("input `{CSV}` of {} is no file", config.me),
                "write csv = { file = \"…\" } under [inputs]",
            ),
            None => reading(
                format!("{} has no file of keys", config.me),
                "add csv = { file = \"…\" } under [inputs]",
            ),
        }
    }

    /// The place of the party's result.
    pub(super) fn result(&self, config: &MemberConfig) -> Result<OutputPlace, Fault> {
        let preparing = |cause: String, remedy: &str| {
            Err(Fault::new(code::INTERSECTION, "preparing outputs", cause, remedy))
        };
        let names: &[&str] = if self.learns(&config.me) { &[RESULT] } else { &[] };
        if let Some(odd) = config.outputs.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("{} does not learn an output called `{odd}`", config.me);
            return preparing(cause, &suggest::remedy(odd, names));
        }
        match config.outputs.get(RESULT) {
            Some(OutputPlace::HexFile(_) | OutputPlace::Csv(_) | OutputPlace::Unnamed) => preparing(
                format!("output `{RESULT}` is text already"),
                "write result = { file = \"…\" } under [outputs]",
            ),
            Some(place) => Ok(place.clone()),
            None if names.is_empty() => Ok(OutputPlace::Discard),
            None => Ok(OutputPlace::Show),
        }
    }
}

impl Task for PsiTask {
    type Learnt = Intersection;
    type Part = PsiPart;

    fn agreement(&self) -> Agreement {
        let PsiJob { reveal, columns, .. } = &self.job;
        let names =
            |names: &Vec<String>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let [a, b] = columns.each_ref().map(names);
        let scheme = self.scheme.map(|s| format!(", scheme {}", s.agreed())).unwrap_or_default();
        let to: Vec<_> = self.to.iter().map(Member::key).collect();
        let payload_bytes = self.carried.as_ref().map_or("none".to_owned(), |c| c.bytes().to_string());
        let (protocol, method) = match &self.way {
            MethodPlan::Vole => (self.job.security.to_string(), PsiMethod::Vole.name()),
            MethodPlan::Bins(_) => (self.job.security.to_string(), PsiMethod::Bins.name()),
            MethodPlan::Circuit(terms) => {
                let method = terms.circuit.map_or("that with fewer ANDs", Method::name);
                (format!("{}{scheme}, ot {}", self.protocol, terms.ot), method)
            }
        };
        let store = self.store.map(|store| format!(", {store} store")).unwrap_or_default();
        Agreement {
            kind: "psi",
            title: self.title(),
            protocol: self.protocol,
            clients: vec![],
            fields: vec![
                AgreedField::new("protocol", format!("{protocol}, psi version {PLAN_VERSION}"))
                    .meaning(protocol),
                AgreedField::new("method", format!("{method}{store}")).meaning(method),
                AgreedField::new("reveal", reveal.to_string()),
                AgreedField::new("to", to.join(" and ")),
                AgreedField::new("columns", format!("{a} and {b}")),
                AgreedField::size("most items", Most(self.job.most_items).to_string()),
                AgreedField::new("normalise", self.forms()),
                AgreedField::new("payload-bytes", payload_bytes),
            ],
            lanes: 2,
            client_lanes: 1,
        }
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        // Other methods take seconds for millions of items.
        ands.filter(|_| matches!(self.way, MethodPlan::Circuit(_)))
            .map(|ands| Forecast::of_two(self.scheme, ands, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PsiPart, Fault> {
        PsiPart::open(self, config)
    }
}
