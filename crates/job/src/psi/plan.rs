//! The agreement on an intersection, and what its run comes to.

use super::{CSV, PsiJob, PsiMethod, PsiPart, PsiSecurity, RESULT};
use crate::{
    Agreement, Field, Forecast, InputPlace, JobError, Member, MemberConfig, OutputPlace, Protocol, Task,
    as_text, protocol::by_name, suggest,
};
use hushwire_psi::{Method, Reveal, Side, Terms};
use serde::{Deserialize, Serialize};

/// AGREEMENT: the meaning of the fields, and of the bytes that a run sends.
const PLAN_VERSION: u32 = 3;

/// A party's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Common {
    /// The number of keys in both files.
    Size(u64),
    /// The keys in both files, in the order of this party's; fields of a key of several columns as a line of CSV.
    Items(Vec<String>),
    /// For each row of this party's file, whether its key is in both.
    Flags(Vec<bool>),
    /// Rows of this party's file that are in the place that was named for them, and nowhere else.
    Filed,
    /// Nothing, as agreed.
    Nothing,
}

/// The end of an intersection at one party.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intersection {
    /// This party's result.
    pub common: Common,
    /// The same as the text of a file, where none was named: a number, or CSV.
    #[serde(with = "as_text::maybe_bytes")]
    pub text: Option<Vec<u8>>,
    /// Keys in both files; `None` where nothing is learnt.
    pub found: Option<u64>,
    /// Rows of this party's file whose key is in both; `None` where no more than a size is learnt.
    pub rows: Option<u64>,
    /// Different keys of party 0 and of party 1.
    pub keys: [usize; 2],
    /// The method that found it.
    #[serde(with = "by_name::one")]
    pub method: PsiMethod,
    /// Bits of a value.
    pub width: usize,
    /// AND gates, of circuits.
    pub ands: u64,
}

/// An intersection, planned.
#[derive(Clone, Debug)]
pub struct PsiTask {
    pub(super) job: PsiJob,
    /// Of circuits; `None` for the method vole.
    pub(super) terms: Option<Terms>,
    protocol: Protocol,
    scheme: Option<hushwire_garble::Scheme>,
    to: Vec<Member>,
}

const PARTIES: [Member; 2] = [Member::Party(0), Member::Party(1)];

fn wrong(cause: impl std::fmt::Display, remedy: &str) -> JobError {
    JobError::usage("planning the job", cause, remedy)
}

impl PsiTask {
    /// The name that member files have for a party's rows.
    pub const CSV: &str = CSV;
    /// The name that member files have for a party's result.
    pub const RESULT: &str = RESULT;

    /// Plans an intersection.
    ///
    /// # Errors
    /// The protocol has not two parties, or cannot reveal that to those.
    pub fn new(job: &PsiJob) -> Result<Self, JobError> {
        let chosen = job.protocol.unwrap_or(Protocol::Yao);
        let protocol = match chosen {
            Protocol::Yao => hushwire_psi::Protocol::Yao,
            Protocol::Gmw => hushwire_psi::Protocol::Gmw,
            Protocol::Rep3 | Protocol::Authgarble(_) => {
                return Err(wrong(
                    "an intersection has two parties, and no protocol of more",
                    "take yao or gmw",
                ));
            }
        };
        let of_circuits = job.protocol.is_some() || job.scheme.is_some() || job.ot.is_some();
        let vole = match job.method {
            Some(PsiMethod::Vole) if of_circuits => {
                let cause = "`protocol`, `scheme` and `ot` are of circuits, and the method is vole";
                return Err(wrong(cause, "leave them out, or take the method phasing or scs"));
            }
            Some(PsiMethod::Vole) if job.reveal == Reveal::Size => {
                let cause = "the method vole tells which items are common, and not their number alone";
                return Err(wrong(cause, "take the method phasing or scs, or reveal items"));
            }
            Some(PsiMethod::Vole) => true,
            Some(PsiMethod::Circuit(_)) => false,
            None => !of_circuits && job.reveal != Reveal::Size,
        };
        if !vole && job.security == PsiSecurity::Malicious {
            let cause = "circuits withstand semi-honest parties alone";
            return Err(wrong(cause, "take the method vole, which reveals items or flags"));
        }
        let (scheme, ot) =
            if vole { (None, None) } else { (chosen.scheme(job.scheme)?, chosen.extension(job.ot)?) };
        for member in &job.to {
            chosen.admits(member).map_err(|(cause, _)| wrong(cause, "name party0, party1 or both"))?;
        }
        let to = match (job.to.as_slice(), job.reveal) {
            ([], Reveal::Flags) => vec![Member::Party(0)],
            ([], _) => PARTIES.to_vec(),
            (given, _) => given.to_vec(),
        };
        match (job.reveal, to.len()) {
            (Reveal::Size, 1) => {
                return Err(wrong(
                    "a size is learnt by both parties",
                    "leave `to` out, or reveal items or flags",
                ));
            }
            (Reveal::Flags, 2) => {
                return Err(wrong(
                    "flags are learnt by one party",
                    "name one party in `to`, or reveal items",
                ));
            }
            _ => {}
        }
        for index in 0..2 {
            job.key(index)
                .map_err(|cause| wrong(cause, "give one form for all columns of the key, or one for each"))?;
        }
        if job.columns[0].len() != job.columns[1].len() {
            let [a, b] = job.columns.each_ref().map(Vec::len);
            let cause = format!("the key has {a} columns in party 0's file and {b} in party 1's");
            return Err(wrong(cause, "name as many for both, in one order"));
        }
        // Items that one party learns are flags in another form.
        let revealed = if to.len() == 1 { Reveal::Flags } else { job.reveal };
        let circuit = job.method.and_then(|method| match method {
            PsiMethod::Circuit(circuit) => Some(circuit),
            PsiMethod::Vole => None,
        });
        let terms = Terms {
            protocol,
            circuit,
            scheme: scheme.unwrap_or_default(),
            ot: ot.unwrap_or(hushwire_ot::Protocol::SoftSpoken4),
            ..Terms::new(revealed)
        };
        Ok(Self { job: job.clone(), terms: (!vole).then_some(terms), protocol: chosen, scheme, to })
    }

    /// The protocol of the circuits, where there are any.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        self.terms.map(|_| self.protocol)
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &PsiJob {
        &self.job
    }

    /// The garbling scheme, where the protocol garbles.
    #[must_use]
    pub fn scheme(&self) -> Option<hushwire_garble::Scheme> {
        self.scheme
    }

    /// Whether `member` learns the result.
    #[must_use]
    pub fn learns(&self, member: &Member) -> bool {
        self.to.contains(member)
    }

    /// Everybody who learns the result.
    #[must_use]
    pub fn recipients(&self) -> &[Member] {
        &self.to
    }

    /// The number of the party whose set goes into the store, of sets of these sizes: who learns alone, or has fewer items.
    pub(super) fn receiver(&self, [a, b]: [usize; 2]) -> u8 {
        match self.to.as_slice() {
            [Member::Party(one)] => *one,
            _ => u8::from(b < a),
        }
    }

    /// Side A is who learns flags, and party 0 where both learn.
    pub(super) fn side(&self, index: u8) -> Side {
        let a = if let [Member::Party(one)] = self.to.as_slice() { *one } else { 0 };
        if index == a { Side::A } else { Side::B }
    }

    /// Names the runs that may replace each other's file.
    pub(super) fn writer(&self) -> String {
        format!("output {RESULT} of {}", self.title())
    }

    fn title(&self) -> String {
        let [a, b] = self.job.columns.each_ref().map(|columns| columns.join(", "));
        if a == b { format!("psi of {a}") } else { format!("psi of {a} and {b}") }
    }

    /// The forms of the key's columns, as both have agreed.
    fn forms(&self) -> String {
        let key = self.job.key(0).map(|key| key.columns().iter().map(|c| c.normal.agreed()).collect());
        key.unwrap_or_else(|_| vec![]).join("; ")
    }

    /// The place of the party's rows.
    pub(super) fn csv<'a>(&self, config: &'a MemberConfig) -> Result<&'a InputPlace, JobError> {
        let reading = |cause: String, remedy: &str| Err(JobError::usage("reading inputs", cause, remedy));
        if let Some(odd) = config.inputs.keys().find(|name| *name != CSV) {
            let cause = format!("{} does not bring an input called `{odd}`", config.me);
            return reading(cause, &suggest::remedy(odd, &[CSV]));
        }
        match config.inputs.get(CSV) {
            Some(place @ (InputPlace::File(_) | InputPlace::Memory(_))) => Ok(place),
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
    pub(super) fn result(&self, config: &MemberConfig) -> Result<OutputPlace, JobError> {
        let preparing =
            |cause: String, remedy: &str| Err(JobError::usage("preparing outputs", cause, remedy));
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
        let (protocol, method) = match &self.terms {
            None => (self.job.security.to_string(), PsiMethod::Vole.name()),
            Some(terms) => {
                let method = terms.circuit.map_or("that with fewer ANDs", Method::name);
                (format!("{}{scheme}, ot {}", self.protocol, terms.ot), method)
            }
        };
        Agreement {
            kind: "psi",
            title: self.title(),
            protocol: self.protocol,
            clients: vec![],
            fields: vec![
                Field::new("protocol", format!("{protocol}, psi version {PLAN_VERSION}")),
                Field::new("method", method),
                Field::new("reveal", reveal.name()),
                Field::new("to", to.join(" and ")),
                Field::new("columns", format!("{a} and {b}")),
                Field::new("normalise", self.forms()),
            ],
            lanes: 2,
            client_lanes: 1,
        }
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        // What vole does takes seconds for millions of items.
        ands.filter(|_| self.terms.is_some())
            .map(|ands| Forecast::of_two(self.scheme, ands, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PsiPart, JobError> {
        PsiPart::open(self, config)
    }
}
