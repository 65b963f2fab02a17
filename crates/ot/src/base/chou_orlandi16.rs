//! Chou–Orlandi out of sixteen: random OT for parties that follow the protocol, four OTs for one multiplication of a point.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Chou, Orlandi, "The Simplest Protocol for Oblivious Transfer", Latincrypt 2015, figure 1, which is 1 out of n; n = 16.
//!
//! ```text
//! S → R   A = a G
//! R → S   B_g = β_g G + c_g A                     c_g = Σ 2^l b_{4g+l}, l < 4: the choices of four OTs
//! S → R   e_{g,c} = H(g, A, B_g, a B_g − c a A) ⊕ (m_{4g,c_0}, m_{4g+1,c_1}, m_{4g+2,c_2}, m_{4g+3,c_3})        c < 16, c_l its bits
//! R       m_{4g+l,b} of e_{g,c_g} ⊕ H(g, A, B_g, β_g A)
//! ```
//!
//! Deviations: every hash takes the session's name and g. n is filled up to a multiple of four with OTs that are thrown away.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session, 512 bits); κ = 128. B_g is uniform whatever c_g is. R
//! knows the point of c_g; with any other, which is (c_g − c) a A from it, it would have a A, and c_g − c has an inverse. So the keys of other choices stay under
//! H of a point that nobody asked for. S draws all keys. It is not UC, as [`super::ChouOrlandi`] is not.
//!
//! Notation: a, β scalars; `half` marks halves: batches of encodings come out doubled.
//!
//! Rounds and bytes: 3 messages; with N = ⌈n / 4⌉: 32, 32 N, 1024 N. Scalar multiplications for four OTs: R one of a fixed and one of a variable
//! point, S one of a variable point; 16 additions and encodings beside.
//!
//! Constant time: a, β, b, m and the points that H is of.

use core::iter::zip;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_prg::Seed;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{
    Context, Machine, OtError, Passive, Round,
    machine::{Guarded, Latch, guarded},
};

/// AGREEMENT: OTs of a group, and its choices.
const OTS: usize = 4;
const CHOICES: usize = 1 << OTS;
/// AGREEMENT: separates the hash from others.
const DOMAIN: &str = "hushwire 2026 ot chou-orlandi16 key v1";

/// Chou–Orlandi out of sixteen.
pub struct ChouOrlandi16;

impl BaseProtocol for ChouOrlandi16 {
    type Level = Passive;
    type Sender = Sender16;
    type Receiver = Receiver16;

    const NAME: &'static str = "chou-orlandi16";

    fn sender(context: &Context, count: usize, seed: &Seed) -> Sender16 {
        let mut prg = group::randomness(context, seed, "ot base chou-orlandi16 sender");
        let mut keys = vec![[Block::ZERO; 2]; count.next_multiple_of(OTS)];
        prg.fill_blocks(keys.as_flattened_mut());
        Sender16 {
            hash: Oracle::new(DOMAIN, &context.sid),
            count,
            at: 0,
            latch: Latch::new(),
            half_a: group::scalar(&mut prg),
            sent: [0; POINT],
            keys,
            message: Vec::new(),
        }
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> Receiver16 {
        let mut prg = group::randomness(context, seed, "ot base chou-orlandi16 receiver");
        let mut groups = Vec::with_capacity(choices.len().div_ceil(OTS));
        groups.extend(
            choices.chunks(OTS).map(|bits| zip(0.., bits).fold(0, |c: u8, (l, b)| c | u8::from(*b) << l)),
        );
        Receiver16 {
            hash: Oracle::new(DOMAIN, &context.sid),
            at: 0,
            latch: Latch::new(),
            half_betas: group::scalars(&mut prg, groups.len()),
            choices,
            groups,
            sent: [0; POINT],
            points: Vec::new(),
            secrets: Zeroizing::default(),
            keys: Vec::new(),
        }
    }
}

/// The three messages as S sees them.
fn rounds(groups: usize) -> [Round; 3] {
    [
        Round { name: "base OT point", out: POINT, into: 0 },
        Round { name: "base OT points", out: 0, into: POINT * groups },
        Round { name: "base OT keys", out: 16 * OTS * CHOICES * groups, into: 0 },
    ]
}

/// H of a group, as long as its keys.
fn pad(hash: &Oracle, group: usize, parts: [&[u8; POINT]; 3]) -> Zeroizing<[Block; OTS]> {
    let mut pad = Zeroizing::new([Block::ZERO; OTS]);
    hash.fill(group, parts, hushwire_block::as_bytes_mut(&mut *pad));
    pad
}

/// [`ChouOrlandi16`]'s sender.
#[derive(ZeroizeOnDrop)]
pub struct Sender16 {
    #[zeroize(skip)]
    hash: Oracle,
    count: usize,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_a: Scalar,
    /// A.
    sent: [u8; POINT],
    keys: Vec<[Block; 2]>,
    message: Vec<u8>,
}

impl Sender16 {
    /// Makes the third message.
    fn entries(&mut self, points: &[u8]) -> Result<(), OtError> {
        let decoded = group::decode_all(points, "base OT points")?;
        let half_a = &self.half_a;
        // Half of −a A.
        let step = Zeroizing::new(-((RISTRETTO_BASEPOINT_TABLE * &(half_a + half_a)) * half_a));
        let secrets = group::shared(decoded.len(), |part| {
            let mut halves = Zeroizing::new(Vec::with_capacity(CHOICES * part.len()));
            for point in &decoded[part] {
                let mut half = point * half_a;
                for _ in 0..CHOICES {
                    halves.push(half);
                    half += *step;
                }
            }
            group::secret_doubles(&halves)
        });
        self.message.reserve_exact(16 * OTS * secrets.len());
        let groups =
            zip(self.keys.chunks_exact(OTS), zip(points.as_chunks().0, secrets.as_chunks::<CHOICES>().0));
        for (g, (keys, (point, secrets))) in groups.enumerate() {
            for (c, secret) in secrets.iter().enumerate() {
                let mut entry = pad(&self.hash, g, [&self.sent, point, secret]);
                for (l, (block, keys)) in zip(entry.iter_mut(), keys).enumerate() {
                    *block ^= keys[c >> l & 1];
                }
                self.message.extend_from_slice(as_bytes(&*entry));
            }
        }
        Ok(())
    }
}

guarded!([] Sender16);

impl Guarded for Sender16 {
    fn exchange(&self) -> Option<Round> {
        rounds(self.keys.len() / OTS).get(self.at).copied()
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        match self.at {
            0 => {
                let half = RISTRETTO_BASEPOINT_TABLE * &self.half_a;
                group::encode_doubles(&[half], core::slice::from_mut(&mut self.sent));
                out.copy_from_slice(&self.sent);
            }
            2 => out.copy_from_slice(&self.message),
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if self.at == 1 {
            self.entries(message)?;
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl SendBase<Passive> for Sender16 {
    fn finish(mut self) -> BaseSender<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        self.keys.truncate(self.count);
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

/// [`ChouOrlandi16`]'s receiver.
#[derive(ZeroizeOnDrop)]
pub struct Receiver16 {
    #[zeroize(skip)]
    hash: Oracle,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_betas: Vec<Scalar>,
    choices: Vec<bool>,
    /// c of each group.
    groups: Vec<u8>,
    /// A.
    sent: [u8; POINT],
    /// The second message.
    points: Vec<[u8; POINT]>,
    /// β A.
    secrets: Zeroizing<Vec<[u8; POINT]>>,
    keys: Vec<Block>,
}

impl Receiver16 {
    /// Makes the second message.
    fn points(&mut self, a: &RistrettoPoint) {
        let half = a * Scalar::ONE.div_by_2();
        let mut multiples = [RistrettoPoint::identity(); CHOICES];
        for c in 1..CHOICES {
            multiples[c] = multiples[c - 1] + half;
        }
        let (betas, groups) = (&self.half_betas, &self.groups);
        let made = group::shared(groups.len(), |part| {
            let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
            for (beta, group) in zip(&betas[part.clone()], &groups[part]) {
                // Every multiple is read.
                let mut blind = RistrettoPoint::identity();
                for (c, multiple) in zip(0u8.., &multiples) {
                    blind.conditional_assign(multiple, c.ct_eq(group));
                }
                halves.push(RISTRETTO_BASEPOINT_TABLE * beta + blind);
            }
            group::secret_doubles(&halves)
        });
        self.points.extend_from_slice(&made);
    }

    /// While S is at work.
    fn secrets(&mut self) -> Result<(), OtError> {
        let (a, betas) = (group::decode(&self.sent, "base OT point")?, &self.half_betas);
        self.secrets = group::shared(betas.len(), |part| {
            let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
            halves.extend(betas[part].iter().map(|beta| a * beta));
            group::secret_doubles(&halves)
        });
        Ok(())
    }

    /// Opens the third message.
    fn open(&mut self, message: &[u8]) {
        let entries: &[[[Block; OTS]; CHOICES]] = from_bytes(message).as_chunks().0.as_chunks().0;
        self.keys.reserve_exact(OTS * self.groups.len());
        for (g, (entries, (group, (point, secret)))) in
            zip(entries, zip(&self.groups, zip(&self.points, &*self.secrets))).enumerate()
        {
            let mut keys = pad(&self.hash, g, [&self.sent, point, secret]);
            // Every entry is read.
            for (c, entry) in zip(0u8.., entries) {
                let is_it = c.ct_eq(group).unwrap_u8() == 1;
                for (key, block) in zip(keys.iter_mut(), entry) {
                    *key ^= block.and_bit(is_it);
                }
            }
            self.keys.extend_from_slice(&*keys);
        }
        self.keys.truncate(self.choices.len());
    }
}

guarded!([] Receiver16);

impl Guarded for Receiver16 {
    fn exchange(&self) -> Option<Round> {
        rounds(self.groups.len()).get(self.at).copied().map(group::mirrored)
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 1 {
            out.copy_from_slice(self.points.as_flattened());
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        match self.at {
            0 => {
                self.sent = *message.first_chunk().expect("a point");
                self.points(&group::decode(&self.sent, "base OT point")?);
            }
            // After the points were sent: S is at work now.
            1 => self.secrets()?,
            _ => self.open(message),
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl ReceiveBase<Passive> for Receiver16 {
    fn finish(mut self) -> BaseReceiver<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut self.keys))
    }
}
