//! The agreement of all members before anything is computed, whatever kind of job it is.
//!
//! The handshake compares two 32-byte digests. The first is eight tags of four bytes, one for each
//! field, so that both sides can say *what* differs; the second is one BLAKE3 digest of all fields,
//! which is what binds.

use crate::{Fault, Member, Protocol};
use hushwire_fault::{Who, code};
use hushwire_wire::PartyId;

/// Tags that the handshake has room for.
const TAGS: usize = 8;

/// One line of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreedField {
    /// The field's name in messages.
    pub name: &'static str,
    /// Its value, which binds.
    pub text: String,
    /// Its value as people are shown it, where that is another text.
    pub shown: Option<String>,
    /// The text of it among the job's [`Terms`](crate::Terms); none of sizes and of how the work is
    /// cut.
    pub term: Option<String>,
}

impl AgreedField {
    /// A field that is shown as it is, and is a term of the job.
    pub fn new(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { name, term: Some(text.clone()), text, shown: None }
    }

    /// A size, or a part of how the work is cut: no term of the job.
    pub fn size(name: &'static str, text: impl Into<String>) -> Self {
        Self { term: None, ..Self::new(name, text) }
    }

    /// The same field as another text among the terms: without versions, which change with
    /// releases.
    #[must_use]
    pub fn meaning(self, term: impl Into<String>) -> Self {
        Self { term: Some(term.into()), ..self }
    }

    /// In a message of what differs.
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

/// AGREEMENT: the kind, before everything else. Circuits, the first kind, go without, as in
/// releases that had no other.
fn prefix(kind: &str) -> Option<&str> {
    (kind != "circuit").then_some(kind)
}

/// The part of a plan that members of any kind of job compare, and the links that they make for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Its name in job files, as `circuit`.
    pub kind: &'static str,
    /// The job in a few words, as `less:32`; no part of the digests.
    pub title: String,
    /// The protocol of the parties, which says how many there are.
    pub protocol: Protocol,
    /// Clients in the order of their numbers.
    pub clients: Vec<String>,
    /// Everything that binds. The first eight are named where they differ.
    pub fields: Vec<AgreedField>,
    /// Lanes between each two parties. The last one is for control: session keys, and the word that
    /// all is done.
    pub lanes: u16,
    /// Lanes between a client and each party.
    pub client_lanes: u16,
}

impl Agreement {
    /// Four bytes for each of the first eight fields: names what differs. Jobs of two kinds differ
    /// in all of them.
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

    /// The kind and all fields, each with its length before it: binds what is computed.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire plan v1");
        for text in prefix(self.kind).into_iter().chain(self.fields.iter().map(|field| field.text.as_str())) {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        *hash.finalize().as_bytes()
    }

    /// Our fields where tags differ, as `instances (ours: 8)`; empty when none does. If theirs is
    /// another job altogether, the only entry says which job ours is.
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

    /// Our fields that have no tags: where digests differ and tags do not, it is some of these.
    #[must_use]
    pub fn untagged(&self) -> Vec<String> {
        self.fields.iter().skip(TAGS).map(AgreedField::ours).collect()
    }

    /// The same for one shard: shards of other numbers, and runs on another number of them, are
    /// refused.
    #[must_use]
    pub fn of_shard(mut self, shard: usize, shards: usize) -> Self {
        // Few fields are named where members differ.
        self.fields.insert(0, AgreedField::size("shard", format!("{shard} of {shards}")));
        self
    }

    /// The last lane between parties.
    #[must_use]
    pub fn control_lane(&self) -> u16 {
        self.lanes.saturating_sub(1)
    }

    /// The number of computing parties, 2 or 3.
    #[must_use]
    pub fn parties(&self) -> u8 {
        self.protocol.parties()
    }

    /// The parties, then the clients.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        let parties = (0..self.parties()).map(Member::Party);
        parties.chain(self.clients.iter().cloned().map(Member::Client)).collect()
    }

    /// The name of a client, as messages have it. Parties have none but their numbers.
    pub fn name(&self, id: PartyId) -> Option<String> {
        let at = id.0.checked_sub(PartyId::FIRST_CLIENT + 1)?;
        self.clients.get(usize::from(at)).map(|name| Member::Client(name.clone()).to_string())
    }

    /// The member of this number, by its name.
    pub fn who(&self, id: PartyId) -> Who {
        Who::from(id).with_names(&|id| self.name(id))
    }

    /// Whether `member` has a place in it.
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
