//! The agreement on an intersection, and what its run comes to.

use super::{CSV, PsiJob, PsiPart, RESULT};
use crate::{
    Agreement, Field, Forecast, InputPlace, JobError, Member, MemberConfig, OutputPlace, Protocol, Task,
    as_text, protocol::by_name, suggest,
};
use hushwire_psi::{Method, Reveal, Side, Terms};
use serde::{Deserialize, Serialize};

/// AGREEMENT: the meaning of the fields, and of the bytes that a run sends.
const PLAN_VERSION: u32 = 1;

/// A party's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Common {
    /// The number of keys in both files.
    Size(u64),
    /// The keys in both files, in the order of this party's.
    Items(Vec<String>),
    /// For each row of this party's file, whether its key is in both.
    Flags(Vec<bool>),
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
    /// Different keys of party 0 and of party 1.
    pub keys: [usize; 2],
    /// The circuit that compared sets.
    #[serde(with = "by_name::one")]
    pub circuit: Method,
    /// Bits of a value.
    pub width: usize,
    /// AND gates.
    pub ands: u64,
}

/// An intersection, planned.
#[derive(Clone, Debug)]
pub struct PsiTask {
    pub(super) job: PsiJob,
    /// As [`hushwire_psi`] has them.
    pub(super) terms: Terms,
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

    /// Plans an intersection.
    ///
    /// # Errors
    /// The protocol has not two parties, or cannot reveal that to those.
    pub fn new(job: &PsiJob) -> Result<Self, JobError> {
        let protocol = match job.protocol {
            Protocol::Yao => hushwire_psi::Protocol::Yao,
            Protocol::Gmw => hushwire_psi::Protocol::Gmw,
            Protocol::Rep3 => {
                return Err(wrong(
                    "an intersection has two parties, and protocol rep3 three",
                    "take yao or gmw",
                ));
            }
        };
        let (scheme, ot) = (job.protocol.scheme(job.scheme)?, job.protocol.extension(job.ot)?);
        for member in &job.to {
            job.protocol.admits(member).map_err(|(cause, _)| wrong(cause, "name party0, party1 or both"))?;
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
        // Items that one party learns are flags in another form.
        let revealed = if to.len() == 1 { Reveal::Flags } else { job.reveal };
        let terms = Terms {
            protocol,
            circuit: job.circuit,
            scheme: scheme.unwrap_or_default(),
            ot: ot.unwrap_or(hushwire_ot::Protocol::SoftSpoken4),
            ..Terms::new(revealed)
        };
        Ok(Self { job: job.clone(), terms, scheme, to })
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
        let [a, b] = &self.job.columns;
        if a == b { format!("psi of {a}") } else { format!("psi of {a} and {b}") }
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
        let PsiJob { protocol, reveal, circuit, columns: [a, b], .. } = &self.job;
        let scheme = self.scheme.map(|s| format!(", scheme {}", s.agreed())).unwrap_or_default();
        let to: Vec<_> = self.to.iter().map(Member::key).collect();
        Agreement {
            kind: "psi",
            title: self.title(),
            protocol: *protocol,
            clients: vec![],
            fields: vec![
                Field::new(
                    "protocol",
                    format!("{protocol}{scheme}, ot {}, psi version {PLAN_VERSION}", self.terms.ot),
                ),
                Field::new("reveal", reveal.name()),
                Field::new("to", to.join(" and ")),
                Field::new("circuit", circuit.map_or("that with fewer ANDs", Method::name)),
                Field::new("columns", format!("{a:?} and {b:?}")),
            ],
            lanes: 2,
            client_lanes: 1,
        }
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        ands.map(|ands| Forecast::of_two(self.scheme, ands, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PsiPart, JobError> {
        PsiPart::open(self, config)
    }
}
