//! The texts and report fields of an encryption.

use super::{AesCtrJob, AesCtrPart, Iv, KeyMode, KeySource, Learnt};
use crate::kind::{JobKind, Runs, Words};
use hushwire_machine::PartyId;
use hushwire_session::{Fault, Member, size, toml_file::Section};
use serde::Serialize;

impl JobKind for AesCtrJob {
    const NAME: &'static str = Self::KIND;
    const WHOSE: &'static str = "an encryption's";

    fn from_section(top: Section<'_>) -> Result<Self, Fault> {
        Self::from_section(top)
    }

    fn command(_: &str) -> String {
        "`hushwire local aes-ctr --in FILE`".to_owned()
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        let place = |name: &str, file: &str| format!("{name} = {{ file = \"{file}\" }}");
        let (data, result) = (Self::DATA, Self::RESULT);
        match me {
            Member::Party(_) if self.key == KeySource::Given => vec![],
            Member::Party(_) => vec!["\n[aes-ctr]".to_owned(), format!("key-share = \"{}.share\"", me.key())],
            Member::Client(name) => {
                let mut lines = vec!["\n[inputs]".to_owned(), place(data, &format!("{data}.bin"))];
                lines.extend(self.key.is_the_owners().then(|| place(Self::KEY, "key.bin")));
                lines.extend(["\n[outputs]".to_owned(), place(result, &format!("{data}.bin.enc"))]);
                lines.extend(["\n[aes-ctr]".to_owned(), format!("ledger = \"{name}.ledger\"")]);
                lines
            }
            Member::Data(_) | Member::Recipient(_) => vec![],
        }
    }
}

impl Runs for AesCtrJob {
    type Task = Self;

    fn task(&self) -> Result<Self, Fault> {
        Ok(self.clone())
    }

    fn key_id(part: &AesCtrPart) -> Option<String> {
        part.key_id().map(hex::encode)
    }

    fn local_name(member: PartyId) -> Option<String> {
        (member == Self::LOCAL.1).then(|| Self::LOCAL.0.to_owned())
    }
}

impl AesCtrJob {
    /// The one client if all members are on one machine: its name, and its number on the wire.
    pub const LOCAL: (&str, PartyId) = ("owner", PartyId(PartyId::FIRST_CLIENT + 1));
}

/// Fields of an encryption in a member's report.
#[derive(Serialize)]
pub struct AesCtrReport {
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

impl Words for AesCtrJob {
    type Report = AesCtrReport;

    /// Only the owner knows the length of its file, and tells it after all are connected.
    fn extent(&self) -> (u64, &'static str) {
        (0, "bytes")
    }

    fn work(&self, learnt: &Learnt) -> String {
        let bytes = learnt.terms.as_ref().map_or(0, |terms| terms.bytes);
        format!("{} with {}", size::show(bytes), self.agreement().title)
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
