//! The parts that the protocols over ristretto255 share: scalars, batched encodings, and the hashes
//! of a session.

use core::{iter::zip, ops::Range};
use std::{sync::LazyLock, thread};

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::{Block, registry};
use hushwire_prg::{Prg, Seed};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use crate::{Context, OtError, Sid};

/// The number of bytes of a point.
pub(super) const POINT: usize = 32;
/// The number of bytes of a digest.
pub(super) const DIGEST: usize = 32;

/// A party's randomness in one session. The same seed gives another stream in another session.
pub(super) fn randomness(context: &Context, seed: &Seed, label: &str) -> Prg {
    Prg::new(context.backend, &seed.derive(label, &context.sid.0), label)
}

/// A uniform scalar; 512 bits are reduced, so that the bias is below 2^−250.
pub(super) fn scalar(prg: &mut Prg) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    prg.fill(&mut *wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

/// `count` uniform scalars.
pub(super) fn scalars(prg: &mut Prg, count: usize) -> Vec<Scalar> {
    // The capacity is set from the start, because a vector that grows leaves copies behind.
    let mut all = Vec::with_capacity(count);
    all.extend((0..count).map(|_| scalar(prg)));
    all
}

/// Writes the encodings of the doubles of `points`, with one inversion for all of them, where a
/// single encoding takes one each. For this reason protocols keep halves: half a scalar, half a
/// point.
pub(super) fn encode_doubles(points: &[RistrettoPoint], out: &mut [[u8; POINT]]) {
    assert_eq!(points.len(), out.len(), "an encoding for every point");
    let mut encoded = RistrettoPoint::double_and_compress_batch(points);
    for (out, encoded) in zip(out, &encoded) {
        *out = encoded.to_bytes();
    }
    encoded.zeroize();
}

/// The encodings of [`encode_doubles`]; zeroized on drop.
pub(super) fn secret_doubles(points: &[RistrettoPoint]) -> Zeroizing<Vec<[u8; POINT]>> {
    let mut out = Zeroizing::new(vec![[0; POINT]; points.len()]);
    encode_doubles(points, &mut out);
    out
}

/// Decodes a point that a peer sent.
///
/// # Errors
/// [`OtError::Malformed`] if the bytes are not a canonical encoding, or encode the identity. There
/// are no points of low order to reject, since the group has prime order.
pub(super) fn decode(bytes: &[u8; POINT], message: &'static str) -> Result<RistrettoPoint, OtError> {
    let point = CompressedRistretto(*bytes)
        .decompress()
        .ok_or_else(|| OtError::malformed(message, "not the encoding of a point"))?;
    if point == RistrettoPoint::identity() {
        return Err(OtError::malformed(message, "the identity"));
    }
    Ok(point)
}

/// `half`, plus `half_t` if `bit` is set; without a branch on `bit`.
pub(super) fn blind(half: RistrettoPoint, half_t: &RistrettoPoint, bit: bool) -> RistrettoPoint {
    let bit = Choice::from(u8::from(bit));
    half + RistrettoPoint::conditional_select(&RistrettoPoint::identity(), half_t, bit)
}

/// Writes R's points; `blind` makes each from half of β_i G.
pub(super) fn blinded(
    half_betas: &[Scalar],
    choices: &[bool],
    blind: impl Fn(RistrettoPoint, bool) -> RistrettoPoint + Sync,
    out: &mut [[u8; POINT]],
) {
    let all = shared(choices.len(), |part| {
        let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
        for (beta, choice) in zip(&half_betas[part.clone()], &choices[part]) {
            halves.push(blind(RISTRETTO_BASEPOINT_TABLE * beta, *choice));
        }
        secret_doubles(&halves)
    });
    out.copy_from_slice(&all);
}

/// For each of R's points P: the encodings of s P, and of the point that `other` computes from s P
/// and s T.
pub(super) fn sender_secrets(
    points: &[RistrettoPoint],
    half_s: &Scalar,
    half_t: &RistrettoPoint,
    other: impl Fn(&RistrettoPoint, &RistrettoPoint) -> RistrettoPoint + Sync,
) -> Zeroizing<Vec<[u8; POINT]>> {
    let half_st = Zeroizing::new((half_t + half_t) * half_s);
    shared(points.len(), |part| {
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * part.len()));
        for point in &points[part] {
            let half = point * half_s;
            halves.push(half);
            halves.push(other(&half, &half_st));
        }
        secret_doubles(&halves)
    })
}

/// The encodings of β_i S.
pub(super) fn receiver_secrets(half_betas: &[Scalar], s: &RistrettoPoint) -> Zeroizing<Vec<[u8; POINT]>> {
    let table = RistrettoBasepointTable::create(s);
    shared(half_betas.len(), |part| {
        let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
        for beta in &half_betas[part] {
            halves.push(&table * beta);
        }
        secret_doubles(&halves)
    })
}

/// LOCAL: the least number of OTs for which a further thread is worth starting.
const SHARE: usize = 16;
/// LOCAL: the largest number of threads, including the current one.
const THREADS: usize = 4;

/// The encodings that `work` makes of every part of 0 .. `count`, in order. Parts run at the same
/// time if there are processors for them, because the other party waits while one multiplies.
pub(super) fn shared(
    count: usize,
    work: impl Fn(Range<usize>) -> Zeroizing<Vec<[u8; POINT]>> + Sync,
) -> Zeroizing<Vec<[u8; POINT]>> {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    let threads = PROCESSORS.min(THREADS).min(count / SHARE).max(1);
    let mut parts = (0..threads).map(|i| count * i / threads..count * (i + 1) / threads);
    let (first, work) = (parts.next().unwrap_or(0..count), &work);
    let here = &registry::here();
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| {
                let own = part.clone();
                let work = move || {
                    let _here = here.enter();
                    work(own)
                };
                (part, thread::Builder::new().spawn_scoped(scope, work).ok())
            })
            .collect();
        let each = first.len();
        let first = work(first);
        // The capacity is set from the start, because a vector that grows leaves copies behind.
        let mut all = Zeroizing::new(Vec::with_capacity(first.len().checked_div(each).unwrap_or(0) * count));
        all.extend_from_slice(&first);
        for (part, thread) in others {
            // If the system provides no thread, the current one does that part.
            let made = thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| work(part));
            all.extend_from_slice(&made);
        }
        all
    })
}

/// Decodes the points of a message.
///
/// # Errors
/// As [`decode`].
pub(super) fn decode_all(points: &[u8], message: &'static str) -> Result<Vec<RistrettoPoint>, OtError> {
    points.as_chunks().0.iter().map(|point| decode(point, message)).collect()
}

/// A random oracle of one domain and session.
#[derive(Clone, Copy)]
pub(super) struct Oracle([u8; 32]);

impl Oracle {
    /// BLAKE3, keyed by its key derivation with the context `domain` and the session's name.
    pub(super) fn new(domain: &str, sid: &Sid) -> Self {
        Oracle(blake3::derive_key(domain, &sid.0))
    }

    /// The hash of a message.
    pub(super) fn digest(&self, message: &[u8]) -> [u8; DIGEST] {
        *blake3::keyed_hash(&self.0, message).as_bytes()
    }

    /// The 128-bit hash of `parts` in OT `index`. The parts of a domain always have the same
    /// lengths.
    pub(super) fn block<const N: usize>(&self, index: usize, parts: [&[u8]; N]) -> Block {
        let mut input = Zeroizing::new([0; 8 + 3 * POINT]);
        input[..8].copy_from_slice(&(index as u64).to_le_bytes());
        let mut len = 8;
        for part in parts {
            input[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        }
        let hash = Zeroizing::new(self.digest(&input[..len]));
        Block(*hash.first_chunk().expect("a digest is longer than a block"))
    }

    /// Fills `out` with bytes from the hash of `parts` in OT `index`.
    pub(super) fn fill<const N: usize>(&self, index: usize, parts: [&[u8; POINT]; N], out: &mut [u8]) {
        let mut input = Zeroizing::new([0; 9 + 3 * POINT]);
        let (head, points) = input.split_at_mut(9);
        head[..8].copy_from_slice(&(index as u64).to_le_bytes());
        for (room, part) in zip(points.chunks_exact_mut(POINT), parts) {
            room.copy_from_slice(part);
        }
        for (number, out) in zip(0.., out.chunks_mut(DIGEST)) {
            input[8] = number;
            out.copy_from_slice(&Zeroizing::new(self.digest(&input[..9 + N * POINT]))[..out.len()]);
        }
    }

    /// A point whose discrete logarithm nobody knows.
    pub(super) fn point(&self, message: &[u8]) -> RistrettoPoint {
        let mut wide = [0; 64];
        blake3::Hasher::new_keyed(&self.0).update(message).finalize_xof().fill(&mut wide);
        RistrettoPoint::from_uniform_bytes(&wide)
    }
}
