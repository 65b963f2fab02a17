//! The agreement that all members of a session must share before anything is computed, for every
//! kind of job.
//!
//! The handshake compares two digests of 32 bytes. The first consists of eight tags of four bytes,
//! one for each field, so that both sides can say *what* differs. The second is one BLAKE3 digest
//! of all fields, and is the binding one.

use crate::{Fault, Member, Protocol};
use hushwire_fault::{Who, code};
use hushwire_wire::PartyId;

/// The number of tags that fit in the handshake.
const TAGS: usize = 8;

/// One field of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreedField {
    /// The field's name in error messages.
    pub name: &'static str,
    /// The field's value, which the digest covers.
    pub text: String,
    /// The value as it is shown to people, if that is a different text.
    pub shown: Option<String>,
    /// The field's text among the job's [`Terms`](crate::Terms). `None` for sizes, and for fields
    /// that only say how the work is divided.
    pub term: Option<String>,
}

impl AgreedField {
    /// Makes a field that is shown as it is, and is a term of the job.
    pub fn new(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { name, term: Some(text.clone()), text, shown: None }
    }

    /// Makes a field for a size, or for how the work is divided. It is no term of the job.
    pub fn size(name: &'static str, text: impl Into<String>) -> Self {
        Self { term: None, ..Self::new(name, text) }
    }

    /// Replaces the field's text among the terms. That text has no versions, since versions change
    /// with releases.
    #[must_use]
    pub fn meaning(self, term: impl Into<String>) -> Self {
        Self { term: Some(term.into()), ..self }
    }

    /// The field as a message about a difference shows it.
    fn ours(&self) -> String {
        format!("{} (ours: {})", self.name, self.shown.as_ref().unwrap_or(&self.text))
    }

    fn tag(&self, kind: &str) -> [u8; 4] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire plan field v1");
        if let Some(kind) = prefix(kind) {
            hash.update(kind.as_bytes()).update(b", ");
        }
        hash.update(self.name.as_bytes()).update(b": ").update(self.text.as_bytes());
        let mut tag = [0; 4];
        tag.copy_from_slice(&hash.finalize().as_bytes()[..4]);
        tag
    }
}

/// AGREEMENT: the kind comes before everything else. Circuits were the first kind and have no
/// prefix, for compatibility with releases that had no other kind.
fn prefix(kind: &str) -> Option<&str> {
    (kind != "circuit").then_some(kind)
}

/// The part of a plan that members compare for every kind of job, and the links that they make for
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The kind's name in job files, such as `circuit`.
    pub kind: &'static str,
    /// The job in a few words, such as `less:32`; not part of the digests.
    pub title: String,
    /// The protocol of the parties, which sets their number.
    pub protocol: Protocol,
    /// The clients, in the order of their numbers.
    pub clients: Vec<String>,
    /// All fields that the digest covers. A difference is named only in the first eight.
    pub fields: Vec<AgreedField>,
    /// The number of lanes between each two parties. The last lane is for control: session keys,
    /// and the message that all is done.
    pub lanes: u16,
    /// The number of lanes between a client and each party.
    pub client_lanes: u16,
}

impl Agreement {
    /// Returns four bytes for each of the first eight fields, by which members name what differs.
    /// Jobs of two kinds differ in all tags.
    #[must_use]
    pub fn tags(&self) -> [u8; 4 * TAGS] {
        let mut tags = [0; 4 * TAGS];
        let none = AgreedField::new("", "");
        let fields = self.fields.iter().chain(std::iter::repeat(&none));
        for (tag, field) in tags.chunks_exact_mut(4).zip(fields) {
            tag.copy_from_slice(&field.tag(self.kind));
        }
        tags
    }

    /// Hashes the kind and all fields, each preceded by its length. The digest binds what is
    /// computed.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire plan v1");
        for text in prefix(self.kind).into_iter().chain(self.fields.iter().map(|field| field.text.as_str())) {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        *hash.finalize().as_bytes()
    }

    /// Lists this member's fields whose tags differ, such as `instances (ours: 8)`; empty if none
    /// differs. If all tags differ, the peer has another job, and the only entry names this
    /// member's job.
    #[must_use]
    pub fn differences(&self, theirs: &[u8; 4 * TAGS]) -> Vec<String> {
        let ours = self.tags();
        let differs = |i: usize| ours[4 * i..4 * i + 4] != theirs[4 * i..4 * i + 4];
        if (0..TAGS).all(differs) {
            return vec![format!("everything (ours: {} of kind {})", self.title, self.kind)];
        }
        let named = self.fields.iter().take(TAGS).enumerate().filter(|(i, _)| differs(*i));
        named.map(|(_, field)| field.ours()).collect()
    }

    /// Lists the fields that have no tags. If the digests differ and the tags do not, one of these
    /// fields differs.
    #[must_use]
    pub fn untagged(&self) -> Vec<String> {
        self.fields.iter().skip(TAGS).map(AgreedField::ours).collect()
    }

    /// Returns the agreement for one shard. Shards with other numbers, and runs with another number
    /// of shards, are refused.
    #[must_use]
    pub fn of_shard(mut self, shard: usize, shards: usize) -> Self {
        // The field comes first, since only the first fields are named in a difference.
        self.fields.insert(0, AgreedField::size("shard", format!("{shard} of {shards}")));
        self
    }

    /// The number of the last lane between parties.
    #[must_use]
    pub fn control_lane(&self) -> u16 {
        self.lanes.saturating_sub(1)
    }

    /// The number of computing parties.
    #[must_use]
    pub fn parties(&self) -> u8 {
        self.protocol.parties()
    }

    /// All members: the parties, then the clients.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        let parties = (0..self.parties()).map(Member::Party);
        parties.chain(self.clients.iter().cloned().map(Member::Client)).collect()
    }

    /// The name of a client in messages. `None` for parties, which have only numbers.
    pub fn name(&self, id: PartyId) -> Option<String> {
        let at = id.0.checked_sub(PartyId::FIRST_CLIENT + 1)?;
        self.clients.get(usize::from(at)).map(|name| Member::Client(name.clone()).to_string())
    }

    /// The member with this number, with its name if it is a client.
    pub fn who(&self, id: PartyId) -> Who {
        Who::from(id).with_names(&|id| self.name(id))
    }

    /// Checks that the protocol has a place for `member`.
    ///
    /// # Errors
    /// The protocol has no place for it; the error has the remedy.
    pub fn admits(&self, member: &Member) -> Result<(), Fault> {
        self.protocol.admits(member).map_err(|(cause, _)| {
            Fault::new(
                code::MEMBER,
                "taking part",
                cause,
                "take part with the file of a party that the protocol has",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(kind: &'static str, fields: &[&str]) -> Agreement {
        Agreement {
            kind,
            title: "a test".into(),
            protocol: Protocol::Rep3,
            clients: vec![],
            fields: fields.iter().map(|text| AgreedField::new("size", *text)).collect(),
            lanes: 1,
            client_lanes: 1,
        }
    }

    #[test]
    fn kinds_differ_in_everything() {
        let (ours, theirs) = (agreement("circuit", &["1", "2"]), agreement("psi", &["1", "2"]));
        assert_ne!(ours.digest(), theirs.digest());
        assert_eq!(ours.differences(&theirs.tags()), ["everything (ours: a test of kind circuit)"]);
        assert!(ours.differences(&ours.tags()).is_empty());
    }

    #[test]
    fn fields_beyond_the_tags_bind() {
        let mut texts = ["x"; 9];
        let ours = agreement("circuit", &texts);
        texts[8] = "y";
        let theirs = agreement("circuit", &texts);
        assert_eq!(ours.tags(), theirs.tags());
        assert_ne!(ours.digest(), theirs.digest());
        assert_eq!(ours.untagged(), ["size (ours: x)"]);
    }
}
