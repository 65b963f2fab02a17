//! The check of the malicious mode: one fold of a segment's leaves, with a challenge for every
//! chunk of trees.

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf128};
use hushwire_simd::clmul::Clmul;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::params::{SPARE, Set};
use super::weights::Weights;
use crate::{Check, CheckStep, Context, OtError, Role, Sid, Transcript};

/// Separates the digest from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot ferret digest v1";

/// The messages of a check.
pub(super) const STEPS: [CheckStep; 2] = [
    CheckStep { name: "ferret: places", from: Role::Receiver, bytes: 16 },
    CheckStep { name: "ferret: digest of leaves", from: Role::Sender, bytes: 32 },
];

/// A segment's sums.
#[derive(Default)]
struct Segment {
    /// Σ χ·leaf.
    fold: Gf128,
    trees: usize,
    /// The receiver's Σ χ at the places that only it knows.
    places: Gf128,
    /// 128 COTs that are spent on hiding `places`; `None` before the segment's first tree.
    spare: Option<Vec<Block>>,
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.fold.zeroize();
        self.places.zeroize();
        self.spare.zeroize();
    }
}

/// A closed segment: everything that its check still needs.
#[derive(Default)]
struct Closed {
    index: u64,
    /// Σ χ·leaf + Σ X^j·spare_j.
    value: Gf128,
    /// Σ χ at the secret places + Σ X^j·bit 0 of spare_j, which the receiver sends.
    masked: Gf128,
}

impl Drop for Closed {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// One endpoint's running check.
pub(super) struct LeafCheck {
    sid: Sid,
    backend: Backend,
    clmul: Clmul,
    transcript: Transcript,
    open: Segment,
    closed: Closed,
    segments: u64,
}

impl LeafCheck {
    pub(super) fn new(context: &Context, set: &Set) -> Self {
        Self {
            sid: context.sid,
            backend: context.backend,
            clmul: Clmul::best(),
            transcript: Transcript::new(&context.sid, set.name()),
            open: Segment::default(),
            closed: Closed::default(),
            segments: 0,
        }
    }

    /// Whether the next tree must leave 128 OTs here.
    pub(super) fn wants_spare(&self) -> bool {
        self.open.spare.is_none()
    }

    /// Takes 128 COTs that are used for nothing else.
    pub(super) fn give_spare(&mut self, spare: &[Block]) {
        assert_eq!(spare.len(), SPARE);
        self.open.spare = Some(spare.to_vec());
    }

    /// Folds a chunk of trees: their leaves before anything is added to them, their messages, and
    /// the places among these leaves that only the receiver knows, one for each tree.
    ///
    /// The coefficients come from a challenge that binds these messages and all earlier ones, so
    /// that no error in these trees can depend on the coefficients.
    pub(super) fn trees(&mut self, messages: &[u8], leaves: &[Block], places: &[usize]) {
        self.transcript.absorb(Role::Sender, messages);
        let weights = Weights::new(self.backend, &self.transcript.challenge("leaves"), leaves.len());
        self.open.fold += weights.sum(leaves);
        for place in places {
            self.open.places += weights.at(*place);
        }
        self.open.trees += places.len();
    }

    /// Closes the open segment, and opens the next.
    pub(super) fn close(&mut self) {
        let open = core::mem::take(&mut self.open);
        let (mut value, mut masked) = (open.fold, open.places);
        assert!(open.spare.is_some() || open.trees == 0, "what trees a segment has is hidden by 128 COTs");
        let (mut spare, mut bits) = (Gf128::ZERO, 0);
        for cot in open.spare.iter().flatten().rev() {
            spare = spare.mul_x() + Gf128::from(*cot);
            bits = bits << 1 | cot.to_u128() & 1;
        }
        value += spare;
        masked += Gf128(bits);
        self.closed = Closed { index: self.segments, value, masked };
        self.segments += 1;
    }

    /// Runs step `step` at the endpoint that holds `delta`, or at the other one.
    pub(super) fn step(
        &mut self,
        step: usize,
        delta: Option<Block>,
        heard: &[u8],
        said: &mut [u8],
    ) -> Result<(), OtError> {
        match (step, delta) {
            (0, None) => said.copy_from_slice(&self.closed.masked.0.to_le_bytes()),
            (0, Some(delta)) => {
                let masked = Gf128(u128::from_le_bytes(length(heard, STEPS[0].name)?));
                self.closed.value += masked.mul(delta.into(), self.clmul);
                self.closed.masked = masked;
            }
            (1, Some(_)) => said.copy_from_slice(&self.digest()),
            (1, None) => {
                let digest: [u8; 32] = length(heard, STEPS[1].name)?;
                if !bool::from(digest.ct_eq(&self.digest())) {
                    return Err(OtError::abort(Check::Leaves));
                }
            }
            _ => panic!("a check of two steps has no step {step}"),
        }
        Ok(())
    }

    /// Adds `by` to the sum before the digest, as a cheating sender can.
    #[cfg(test)]
    pub(super) fn shift(&mut self, by: Gf128) {
        self.closed.value += by;
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&self.sid.0);
        hasher.update(&self.closed.index.to_le_bytes());
        hasher.update(&self.closed.masked.0.to_le_bytes());
        hasher.update(&self.closed.value.0.to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Requires exactly `N` bytes.
fn length<const N: usize>(heard: &[u8], name: &'static str) -> Result<[u8; N], OtError> {
    heard.try_into().map_err(|_| OtError::malformed(name, format!("{} bytes instead of {N}", heard.len())))
}

#[cfg(test)]
mod tests {
    use super::super::rig::{TINY, WIDE, stream};
    use super::*;
    use hushwire_aes::Backend;

    const LEAVES: usize = 256;

    /// A check after trees with these messages, all with the same leaves and place.
    fn checked(sid: u8, set: &Set, trees: &[&[u8]]) -> LeafCheck {
        let context = Context { sid: Sid([sid; 32]), backend: Backend::best() };
        let mut leaves = vec![Block::ZERO; LEAVES];
        stream(9).fill_blocks(&mut leaves);
        let mut check = LeafCheck::new(&context, set);
        for message in trees {
            check.trees(message, &leaves, &[77]);
        }
        check
    }

    /// The receiver's message for a segment whose 128 COTs have these choice bits.
    fn said(bits: u128) -> u128 {
        let mut spare = vec![Block::ZERO; SPARE];
        stream(10).fill_blocks(&mut spare);
        for (j, block) in spare.iter_mut().enumerate() {
            block.0[0] = block.0[0] & 0xfe | (bits >> j & 1) as u8;
        }
        let mut check = checked(1, &TINY, &[b"one", b"two"]);
        check.give_spare(&spare);
        check.close();
        let mut said = [0; 16];
        check.step(0, None, &[], &mut said).expect("the receiver speaks first");
        u128::from_le_bytes(said)
    }

    #[test]
    fn what_the_receiver_says_is_masked_by_every_one_of_128_choices() {
        let places = checked(1, &TINY, &[b"one", b"two"]).open.places;
        assert_ne!(places.0, 0);
        for bits in [0, 1, 1 << 127, u128::MAX, 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210] {
            assert_eq!(said(bits) ^ places.0, bits);
        }
    }

    #[test]
    fn coefficients_bind_session_set_and_every_message_so_far() {
        let checks = [
            checked(1, &TINY, &[b"one", b"two"]),
            checked(2, &TINY, &[b"one", b"two"]),
            checked(1, &WIDE, &[b"one", b"two"]),
            checked(1, &TINY, &[b"one", b"twp"]),
            checked(1, &TINY, &[b"onf", b"two"]),
            checked(1, &TINY, &[b"two", b"one"]),
        ];
        let folds: Vec<_> = checks.iter().map(|check| (check.open.fold, check.open.places)).collect();
        for (i, (fold, places)) in folds.iter().enumerate() {
            assert!(folds[..i].iter().all(|other| other.0 != *fold && other.1 != *places), "check {i}");
        }
        // The second tree's coefficients differ from the first one's.
        assert_ne!(checked(1, &TINY, &[b"one"]).open.fold, folds[0].0);
        assert_ne!(folds[0].0, Gf128::ZERO);
    }

    #[test]
    fn the_digest_binds_session_segment_and_both_sums() {
        let digest = |sid, index, value, masked| {
            let mut check = checked(sid, &TINY, &[]);
            check.closed = Closed { index, value: Gf128(value), masked: Gf128(masked) };
            check.digest()
        };
        let digests = [
            digest(1, 2, 3, 4),
            digest(5, 2, 3, 4),
            digest(1, 5, 3, 4),
            digest(1, 2, 5, 4),
            digest(1, 2, 3, 5),
        ];
        for (i, digest) in digests.iter().enumerate() {
            assert!(!digests[..i].contains(digest), "digest {i}");
        }
        // Segments are numbered, so that equal segments have different challenges.
        let mut check = checked(1, &TINY, &[]);
        check.close();
        assert_eq!(check.closed.index, 0);
        check.close();
        assert_eq!(check.closed.index, 1);
    }

    /// Access for tests to the COTs that hide the open segment's places.
    impl LeafCheck {
        pub(crate) fn spare(&self) -> &[Block] {
            self.open.spare.as_deref().unwrap_or_default()
        }
    }
}
