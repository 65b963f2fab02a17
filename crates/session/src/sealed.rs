//! Sealed outputs, for recipients that are not connected. Each party keeps a share, which alone
//! tells nothing, and digests of the other two shares.
//!
//! ```text
//! a share   u32 length ‖ header ‖ x_i ‖ BLAKE3 of the previous party's share
//! next      BLAKE3 of the next party's share; digests are of everything before the last digest
//! header    JSON: the number of the party, the recipient; name, type, lengths and form of each
//!           output
//! ```
//!
//! Shares are masked by a zero-share, and each party tells both neighbours the digest of its share.
//! Two parties thus vouch for the share of the third: an error names the party that altered a share
//! or a digest.

use crate::Fault;
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_rep3::Addition;
use serde::{Deserialize, Serialize};

/// The size of a digest in bytes.
const DIGEST: usize = 32;
/// LOCAL: no header is longer than this.
const HEADER: usize = 1 << 20;
/// The step, as errors name it.
pub const OPENING: &str = "opening a sealed result";

/// A sink for the shares of a run's sealed outputs.
pub trait SealedSink: Send + Sync {
    /// Stores the share of everything that a recipient learns. It is called once a run, and the
    /// share is on disk when it returns. The end of the run is not decided yet.
    ///
    /// # Errors
    /// The share cannot be kept; the run fails.
    fn take(&self, recipient: &str, sealed: SealedShare) -> Result<(), Fault>;
}

/// One party's share of everything that a recipient learns. No `Debug`: three shares give the
/// result.
#[derive(Clone)]
pub struct SealedShare {
    /// The header, the share, and the digest of the previous party's share.
    pub share: Wiped<Vec<u8>>,
    /// The digest of the next party's share.
    pub next: [u8; DIGEST],
}

/// An output, and the value that its three shares add up to.
pub type SealedValue = (SealedOutput, Wiped<Vec<u8>>);

/// An output within a sealed share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedOutput {
    /// The output's name in the computation.
    pub name: String,
    /// The type of the output's elements, such as `u32`.
    pub scalar: String,
    /// The lengths of the output's axes.
    pub lengths: Vec<usize>,
    /// The size in bytes of the words in which shares add; `None` if shares are bit planes.
    pub word: Option<u8>,
    /// The size of a share in bytes.
    pub bytes: usize,
}

impl SealedOutput {
    /// The group in which the shares of this output add.
    #[must_use]
    pub fn addition(&self) -> Addition {
        self.word.map_or(Addition::Xor, Addition::Words)
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    party: u8,
    recipient: String,
    outputs: Vec<SealedOutput>,
}

/// The part of a share that its digest covers, at the party that makes it.
pub struct Unsealed(Wiped<Vec<u8>>);

impl Unsealed {
    /// Makes party `party`'s share of these outputs, one after the other.
    ///
    /// # Errors
    /// An internal error, which a caller cannot mend.
    pub fn new(party: u8, recipient: &str, outputs: Vec<SealedOutput>, share: &[u8]) -> Result<Self, Fault> {
        let header = Header { party, recipient: recipient.to_owned(), outputs };
        let header = serde_json::to_vec(&header).map_err(|e| Fault::internal("sealing outputs", e))?;
        let mut body = Wiped::new(Vec::with_capacity(4 + header.len() + share.len() + DIGEST));
        body.extend_from_slice(&(header.len() as u32).to_le_bytes());
        body.extend_from_slice(&header);
        body.extend_from_slice(share);
        Ok(Self(body))
    }

    /// The digest of the share, which both neighbours keep.
    #[must_use]
    pub fn digest(&self) -> [u8; DIGEST] {
        *blake3::hash(&self.0).as_bytes()
    }

    /// Adds the digests that both neighbours told.
    #[must_use]
    pub fn sealed(self, previous: &[u8; DIGEST], next: [u8; DIGEST]) -> SealedShare {
        let Self(mut share) = self;
        share.extend_from_slice(previous);
        SealedShare { share, next }
    }
}

fn odd(party: usize, cause: impl std::fmt::Display) -> Fault {
    let cause = format!("the share of party {party} {cause}");
    Fault::new(code::SEALED_DIFFERS, OPENING, cause, "fetch it from that party again, and see its log")
}

/// A share that was parsed.
struct ReadShare<'s> {
    body: &'s [u8],
    header: Header,
    share: &'s [u8],
    previous: [u8; DIGEST],
    next: [u8; DIGEST],
}

impl<'s> ReadShare<'s> {
    fn new(party: usize, SealedShare { share, next }: &'s SealedShare) -> Result<Self, Fault> {
        let short = || odd(party, "is cut short, or is no share");
        let at = share.len().checked_sub(DIGEST).ok_or_else(short)?;
        let (body, last) = share.split_at(at);
        let (length, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (header, share) = rest.split_at_checked(length).filter(|_| length <= HEADER).ok_or_else(short)?;
        let header: Header = serde_json::from_slice(header).map_err(|_| short())?;
        let mut previous = [0; DIGEST];
        previous.copy_from_slice(last);
        Ok(ReadShare { body, header, share, previous, next: *next })
    }
}

/// Opens the outputs from the shares of parties 0, 1 and 2. Returns the name, form and value of
/// each.
///
/// # Errors
/// A share is not the one for which the other two parties vouch. The error names the party that
/// altered a share or a digest, if a single party did.
pub fn open_shares(recipient: &str, shares: &[SealedShare; 3]) -> Result<Vec<SealedValue>, Fault> {
    let read = |party: usize| ReadShare::new(party, &shares[party]);
    let read = [read(0)?, read(1)?, read(2)?];
    let digests = read.each_ref().map(|read| *blake3::hash(read.body).as_bytes());
    // For each party's share, whether each neighbour vouches for it.
    let vouched = [0, 1, 2].map(|i: usize| {
        [read[(i + 2) % 3].next, read[(i + 1) % 3].previous].map(|digest| digest == digests[i])
    });
    let altered: Vec<usize> = (0..3).filter(|i| vouched[*i] == [false; 2]).collect();
    match altered[..] {
        [] => {}
        [party] => {
            return Err(odd(party, "is not the one that it made in the run, as both other parties say"));
        }
        _ => {
            let cause = "shares are of different runs, or more than one party altered what it keeps";
            return Err(Fault::new(code::SEALED_DIFFERS, OPENING, cause, "fetch all three anew, of one run"));
        }
    }
    for (i, [left, right]) in vouched.into_iter().enumerate() {
        if !left {
            return Err(odd((i + 2) % 3, format!("has another digest of party {i}'s than party {i} made")));
        }
        if !right {
            return Err(odd((i + 1) % 3, format!("has another digest of party {i}'s than party {i} made")));
        }
    }
    let outputs = &read[0].header.outputs;
    let bytes = outputs.iter().map(|output| output.bytes).fold(0, usize::saturating_add);
    for (party, read) in read.iter().enumerate() {
        let Header { party: own, recipient: of, outputs: own_outputs } = &read.header;
        if usize::from(*own) != party || of != recipient {
            return Err(odd(party, format!("is that of party {own} for {of}, and not for {recipient}")));
        }
        if own_outputs != outputs || read.share.len() != bytes {
            return Err(odd(party, "has other outputs than that of party 0"));
        }
    }
    let (mut at, mut opened) = (0, vec![]);
    for output in outputs {
        if matches!(output.word, Some(word) if !matches!(word, 1 | 2 | 4 | 8)) {
            return Err(odd(0, "has words of a size that no share has"));
        }
        let place = at..at + output.bytes;
        at = place.end;
        let mut sum = Wiped::new(read[0].share[place.clone()].to_vec());
        for read in &read[1..] {
            output.addition().add(&mut sum, &read.share[place.clone()]);
        }
        opened.push((output.clone(), sum));
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(values: [u8; 3]) -> [SealedShare; 3] {
        let output =
            SealedOutput { name: "y".into(), scalar: "u8".into(), lengths: vec![1], word: Some(1), bytes: 1 };
        let unsealed = [0, 1, 2].map(|p: u8| {
            Unsealed::new(p, "anna", vec![output.clone()], &[values[usize::from(p)]])
                .unwrap_or_else(|e| panic!("{e}"))
        });
        let digests = unsealed.each_ref().map(Unsealed::digest);
        let mut at = 0;
        unsealed.map(|share| {
            let i = at;
            at += 1;
            share.sealed(&digests[(i + 2) % 3], digests[(i + 1) % 3])
        })
    }

    #[test]
    fn three_shares_open() {
        let opened = open_shares("anna", &shares([200, 100, 7])).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*opened[0].1, [51], "modulo 256");
        let error = open_shares("bob", &shares([1, 2, 3])).err().unwrap_or_else(|| panic!("opened"));
        assert!(error.cause().contains("for anna, and not for bob"), "{error}");
    }

    /// The test alters every byte of every share, and every digest.
    #[test]
    fn whoever_alters_a_share_or_a_digest_is_named() {
        let whole = shares([200, 100, 7]);
        for party in 0..3 {
            for byte in 0..whole[party].share.len() + DIGEST {
                let mut altered = whole.clone();
                match byte.checked_sub(whole[party].share.len()) {
                    None => altered[party].share[byte] ^= 4,
                    Some(byte) => altered[party].next[byte] ^= 4,
                }
                let error = open_shares("anna", &altered).err().unwrap_or_else(|| panic!("byte {byte}"));
                assert_eq!(error.code(), code::SEALED_DIFFERS, "{error}");
                assert!(
                    error.cause().starts_with(&format!("the share of party {party} ")),
                    "{party}, byte {byte}: {error}"
                );
            }
            let mut swapped = whole.clone();
            swapped.swap(party, (party + 1) % 3);
            assert!(open_shares("anna", &swapped).is_err());
            let mut older = whole.clone();
            older[party] = shares([1, 2, 3])[party].clone();
            let error = open_shares("anna", &older).err().unwrap_or_else(|| panic!("{party}"));
            assert_eq!(error.code(), code::SEALED_DIFFERS, "{error}");
        }
    }
}
