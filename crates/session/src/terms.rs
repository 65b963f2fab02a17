//! The terms of a job, their digest, and the digests that a member allows.
//!
//! Terms are the part of an agreement that an operator approves once, for later runs. They say what
//! is computed, by which protocol, from whose data in which form, and which members learn what.
//! Sizes, lengths and the division of the work are not terms. Neither is anything of a single run:
//! addresses, labels, keys, fresh randomness.

use crate::{Agreement, Fault, open_input};
use hushwire_fault::code;
use hushwire_machine::printable;
use std::{collections::BTreeSet, fmt, io::Read, path::Path, str::FromStr};

/// AGREEMENT: the domain of the digest. Operators keep digests in files, so it outlives releases.
const CONTEXT: &str = "hushwire job terms v1";
/// The prefix of a digest's digits, so that a digest is not mistaken for a pin.
const PREFIX: &str = "blake3:";
/// LOCAL: no file of digests is longer than this.
const LONGEST: u64 = 1 << 20;

/// The terms of a job: its kind, and named texts in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    kind: &'static str,
    terms: Vec<(&'static str, String)>,
}

impl Terms {
    /// Makes the terms of a kind that lists its own.
    #[must_use]
    pub fn new(kind: &'static str, terms: Vec<(&'static str, String)>) -> Self {
        Self { kind, terms }
    }

    /// Takes the terms from the fields of an agreement.
    #[must_use]
    pub fn of(agreement: &Agreement) -> Self {
        let fields = agreement.fields.iter();
        let terms = fields.filter_map(|field| Some((field.name, field.term.clone()?)));
        Self::new(agreement.kind, terms.collect())
    }

    /// The kind of the job, as job files name it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The names and texts, in order. A name may occur several times.
    #[must_use]
    pub fn list(&self) -> &[(&'static str, String)] {
        &self.terms
    }

    /// The digest of the terms: BLAKE3 in its key derivation mode, in a context of its own. It
    /// covers the kind, then each name and text in order. Each is preceded by its length in bytes,
    /// as 64 bits with the least significant byte first.
    #[must_use]
    pub fn digest(&self) -> TermsDigest {
        let mut hash = blake3::Hasher::new_derive_key(CONTEXT);
        let terms = self.terms.iter().flat_map(|(name, text)| [*name, text.as_str()]);
        for text in std::iter::once(self.kind).chain(terms) {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        TermsDigest(*hash.finalize().as_bytes())
    }
}

/// The digest of a job's terms, as `blake3:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermsDigest([u8; 32]);

impl fmt::Display for TermsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for TermsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TermsDigest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut digest = [0; 32];
        let digits = text.trim().strip_prefix(PREFIX);
        match digits.map(|digits| hex::decode_to_slice(digits, &mut digest)) {
            Some(Ok(())) => Ok(Self(digest)),
            _ => Err(format!(
                "{:?} is not {PREFIX} and 64 hexadecimal digits, as `hushwire job digest` prints",
                text.trim()
            )),
        }
    }
}

/// The digests of the only jobs in which a member takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(BTreeSet<TermsDigest>);

impl Allowed {
    /// Reads a file with one digest in each line. Blank lines and text after `#` are ignored. `-`
    /// is standard input.
    ///
    /// # Errors
    /// The file cannot be read, or a line is no digest; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let mut text = String::new();
        let file = open_input(path).map_err(|e| Fault::io("read", path, &e))?;
        file.take(LONGEST + 1).read_to_string(&mut text).map_err(|e| Fault::io("read", path, &e))?;
        if text.len() as u64 > LONGEST {
            return Err(Fault::file("read", path, "it is longer than 1 MiB", "is it the right file?"));
        }
        let lines = text.lines().enumerate();
        let lines = lines.map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()));
        let digest = |(number, line): (usize, &str)| {
            line.parse().map_err(|cause: String| {
                let step = format!("{}, line {number}", path.display());
                Fault::new(
                    code::ALLOWED_FILE,
                    step,
                    cause,
                    "write one digest in a line, and remarks behind #",
                )
            })
        };
        lines.filter(|(_, line)| !line.is_empty()).map(digest).collect()
    }

    /// Adds the jobs of `more`.
    pub fn extend(&mut self, more: impl IntoIterator<Item = TermsDigest>) {
        self.0.extend(more);
    }

    /// Checks that the job with these terms is allowed.
    ///
    /// # Errors
    /// It is not; the error contains its digest.
    pub fn check(&self, terms: &Terms) -> Result<(), Fault> {
        let digest = terms.digest();
        if self.0.contains(&digest) {
            return Ok(());
        }
        let listed = match self.0.len() {
            0 => "none".to_owned(),
            1 => "one other".to_owned(),
            n => format!("{n} others"),
        };
        let cause =
            format!("this member takes part in jobs that it allows alone, {listed}, and not in {digest}");
        let remedy = "read its terms with `hushwire job show JOB.toml`, and if they are right add this digest to `allow` in this \
                      member's file, or give it with --allow";
        Err(Fault::new(code::NOT_ALLOWED, "refused", cause, remedy).whole())
    }
}

impl FromIterator<TermsDigest> for Allowed {
    fn from_iter<I: IntoIterator<Item = TermsDigest>>(digests: I) -> Self {
        Self(digests.into_iter().collect())
    }
}

impl IntoIterator for Allowed {
    type Item = TermsDigest;
    type IntoIter = std::collections::btree_set::IntoIter<TermsDigest>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Each term is on a line of its own, for people.
impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kind: {}", self.kind)?;
        self.terms.iter().try_for_each(|(name, text)| writeln!(f, "{name}: {}", printable(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(list: &[(&'static str, &str)]) -> Terms {
        Terms::new("query", list.iter().map(|(name, text)| (*name, (*text).to_owned())).collect())
    }

    #[test]
    fn a_digest_reads_as_it_is_written_and_is_pinned() {
        let digest = terms(&[("sql", "SELECT 1"), ("to", "party0")]).digest();
        // AGREEMENT: operators keep such digests in their files.
        assert_eq!(
            digest.to_string(),
            "blake3:6cc28ec80044f15c2af607a669e99804ebca70ab88d7f12cbdf8ae288a9982c3"
        );
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let digits = digest.to_string();
        for odd in ["", "blake3:", &digits[7..], &digits[..70], &format!("{digits}0"), "sha256:00"] {
            assert!(odd.parse::<TermsDigest>().is_err(), "{odd:?}");
        }
    }

    #[test]
    fn names_texts_and_their_borders_bind() {
        let all = [
            terms(&[("sql", "SELECT 1")]),
            terms(&[("sql", "SELECT 2")]),
            terms(&[("to", "SELECT 1")]),
            terms(&[("sql", "SELECT"), ("sql", " 1")]),
            terms(&[]),
            Terms::new("compute", vec![("sql", "SELECT 1".to_owned())]),
        ];
        let digests: BTreeSet<_> = all.iter().map(Terms::digest).collect();
        assert_eq!(digests.len(), all.len());
    }

    #[test]
    fn a_file_of_digests_has_remarks_and_names_a_wrong_line() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (path, ours) = (dir.path().join("allowed.txt"), terms(&[("sql", "SELECT 1")]));
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap_or_else(|e| panic!("{e}"));
            Allowed::read(&path)
        };
        let text = format!("# of March\n\n  {}  # the mean\n", ours.digest());
        assert_eq!(read(&text).and_then(|allowed| allowed.check(&ours)).err().map(|e| e.to_string()), None);
        let error = read("").and_then(|allowed| allowed.check(&ours)).err();
        let error = error.unwrap_or_else(|| panic!("an empty file allows nothing"));
        assert!(
            error.code() == code::NOT_ALLOWED && error.cause().contains(&ours.digest().to_string()),
            "{error}"
        );
        let error = read("\nblake3:12\n").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("line 2") && error.contains("blake3:12"), "{error}");
    }
}
