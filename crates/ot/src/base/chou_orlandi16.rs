//! Chou–Orlandi with 1-out-of-16 OTs: random OT for semi-honest parties, with four OTs for one
//! multiplication of a point.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Chou, Orlandi, "The Simplest Protocol for Oblivious Transfer", Latincrypt 2015, figure 1,
//! which is 1-out-of-n; here n = 16.
//!
//! ```text
//! S → R   A = a G
//! R → S   B_g = β_g G + c_g A                     c_g = Σ 2^l b_{4g+l}, l < 4: the choices of four
//!                                                 OTs
//! S → R   e_{g,c} = H(g, A, B_g, a B_g − c a A) ⊕ (m_{4g,c_0}, m_{4g+1,c_1}, m_{4g+2,c_2},
//!         m_{4g+3,c_3})
//!                 c < 16, c_l its bits
//! R       m_{4g+l,b} of e_{g,c_g} ⊕ H(g, A, B_g, β_g A)
//! ```
//!
//! Deviations: every hash takes the session's name and g. n is rounded up to a multiple of four
//! with OTs that are discarded.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session, 512
//! bits); κ = 128. B_g is uniform for every c_g. R knows the point of c_g. The point of any other c
//! differs from it by (c_g − c) a A, and c_g − c has an inverse, so that knowing both would give a
//! A. The keys of other choices therefore stay hidden under H of a point that R does not know. S
//! draws all keys. Like [`super::ChouOrlandi`], the protocol is not UC.
//!
//! Notation: a, β scalars; `half` marks halves, because the batched encoding doubles its inputs.
//!
//! Rounds and bytes: 3 messages; with N = ⌈n / 4⌉: 32, 32 N, 1024 N. Scalar multiplications for
//! four OTs: R one of a fixed and one of a variable point, S one of a variable point; each also has
//! 16 additions and encodings.
//!
//! Constant time: a, β, b, m and the points that are inputs of H.

use core::iter::zip;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_machine::{
    drive::{Line, Talk},
    passed_on,
};
use hushwire_prg::Seed;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{Context, OtError, Passive};

/// AGREEMENT: the number of OTs in a group; `CHOICES` is the number of its combined choices.
const OTS: usize = 4;
const CHOICES: usize = 1 << OTS;
/// AGREEMENT: the hash's domain, which separates it from others.
const DOMAIN: &str = "hushwire 2026 ot chou-orlandi16 key v1";

/// The base OTs of Chou and Orlandi in groups of four.
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
        let half_a = group::scalar(&mut prg);
        let sender =
            Sender { hash: Oracle::new(DOMAIN, &context.sid), count, half_a, sent: [0; POINT], keys };
        Sender16(Line::new(|talk| sender.run(talk)))
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> Receiver16 {
        let mut prg = group::randomness(context, seed, "ot base chou-orlandi16 receiver");
        let mut groups = Vec::with_capacity(choices.len().div_ceil(OTS));
        groups.extend(
            choices.chunks(OTS).map(|bits| zip(0.., bits).fold(0, |c: u8, (l, b)| c | u8::from(*b) << l)),
        );
        let receiver = Receiver {
            hash: Oracle::new(DOMAIN, &context.sid),
            half_betas: group::scalars(&mut prg, groups.len()),
            choices,
            groups,
            sent: [0; POINT],
        };
        Receiver16(Line::new(|talk| receiver.run(talk)))
    }
}

/// The names of the three messages.
const NAMES: [&str; 3] = ["base OT point", "base OT points", "base OT keys"];
/// The number of bytes of a group in the third message.
const ENTRIES: usize = 16 * OTS * CHOICES;

/// H of a group, as long as the group's keys.
fn pad(hash: &Oracle, group: usize, parts: [&[u8; POINT]; 3]) -> Zeroizing<[Block; OTS]> {
    let mut pad = Zeroizing::new([Block::ZERO; OTS]);
    hash.fill(group, parts, hushwire_block::as_bytes_mut(&mut *pad));
    pad
}

/// The sender of [`ChouOrlandi16`].
pub struct Sender16(Line<'static, BaseSender<Passive>, OtError>);

passed_on!([] Sender16, OtError, self => self.0);

/// The line wipes everything that it holds.
impl ZeroizeOnDrop for Sender16 {}

impl SendBase<Passive> for Sender16 {
    fn finish(self) -> BaseSender<Passive> {
        self.0.finish()
    }
}

#[derive(ZeroizeOnDrop)]
struct Sender {
    #[zeroize(skip)]
    hash: Oracle,
    count: usize,
    half_a: Scalar,
    /// A.
    sent: [u8; POINT],
    keys: Vec<[Block; 2]>,
}

impl Sender {
    async fn run(mut self, talk: Talk) -> Result<BaseSender<Passive>, OtError> {
        let [point, points, keys] = NAMES;
        let groups = self.keys.len() / OTS;
        talk.ready(point, POINT, 0).await;
        let half = RISTRETTO_BASEPOINT_TABLE * &self.half_a;
        group::encode_doubles(&[half], core::slice::from_mut(&mut self.sent));
        talk.exchange(point, self.sent.to_vec(), 0).await;
        let message = talk.exchange(points, Vec::new(), POINT * groups).await;
        talk.exchange(keys, self.entries(&message)?, 0).await;
        self.keys.truncate(self.count);
        Ok(BaseSender::new(core::mem::take(&mut self.keys)))
    }

    /// Makes the third message.
    fn entries(&self, points: &[u8]) -> Result<Vec<u8>, OtError> {
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
        let mut message = Vec::with_capacity(16 * OTS * secrets.len());
        let groups =
            zip(self.keys.chunks_exact(OTS), zip(points.as_chunks().0, secrets.as_chunks::<CHOICES>().0));
        for (g, (keys, (point, secrets))) in groups.enumerate() {
            for (c, secret) in secrets.iter().enumerate() {
                let mut entry = pad(&self.hash, g, [&self.sent, point, secret]);
                for (l, (block, keys)) in zip(entry.iter_mut(), keys).enumerate() {
                    *block ^= keys[c >> l & 1];
                }
                message.extend_from_slice(as_bytes(&*entry));
            }
        }
        Ok(message)
    }
}

/// The receiver of [`ChouOrlandi16`].
pub struct Receiver16(Line<'static, BaseReceiver<Passive>, OtError>);

passed_on!([] Receiver16, OtError, self => self.0);

/// The line wipes everything that it holds.
impl ZeroizeOnDrop for Receiver16 {}

impl ReceiveBase<Passive> for Receiver16 {
    fn finish(self) -> BaseReceiver<Passive> {
        self.0.finish()
    }
}

#[derive(ZeroizeOnDrop)]
struct Receiver {
    #[zeroize(skip)]
    hash: Oracle,
    half_betas: Vec<Scalar>,
    choices: Vec<bool>,
    /// The combined choice c of each group.
    groups: Vec<u8>,
    /// A.
    sent: [u8; POINT],
}

impl Receiver {
    async fn run(mut self, talk: Talk) -> Result<BaseReceiver<Passive>, OtError> {
        let [point, points, keys] = NAMES;
        let message = talk.exchange(point, Vec::new(), POINT).await;
        self.sent = *message.first_chunk().expect("a point");
        let a = group::decode(&self.sent, point)?;
        let own = self.points(&a);
        talk.exchange(points, own.as_flattened().to_vec(), 0).await;
        // This comes after the points were sent, so that S works at the same time.
        let secrets = self.secrets(&a);
        let message = talk.exchange(keys, Vec::new(), ENTRIES * self.groups.len()).await;
        let mut keys = self.open(&message, &own, &secrets);
        Ok(BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut *keys)))
    }

    /// Makes the second message.
    fn points(&self, a: &RistrettoPoint) -> Vec<[u8; POINT]> {
        let half = a * Scalar::ONE.div_by_2();
        let mut multiples = [RistrettoPoint::identity(); CHOICES];
        for c in 1..CHOICES {
            multiples[c] = multiples[c - 1] + half;
        }
        let (betas, groups) = (&self.half_betas, &self.groups);
        let made = group::shared(groups.len(), |part| {
            let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
            for (beta, group) in zip(&betas[part.clone()], &groups[part]) {
                // Every multiple is read, for constant time.
                let mut blind = RistrettoPoint::identity();
                for (c, multiple) in zip(0u8.., &multiples) {
                    blind.conditional_assign(multiple, c.ct_eq(group));
                }
                halves.push(RISTRETTO_BASEPOINT_TABLE * beta + blind);
            }
            group::secret_doubles(&halves)
        });
        made.to_vec()
    }

    /// β A.
    fn secrets(&self, a: &RistrettoPoint) -> Zeroizing<Vec<[u8; POINT]>> {
        let betas = &self.half_betas;
        group::shared(betas.len(), |part| {
            let mut halves = Zeroizing::new(Vec::with_capacity(part.len()));
            halves.extend(betas[part].iter().map(|beta| a * beta));
            group::secret_doubles(&halves)
        })
    }

    /// Opens the third message.
    fn open(&self, message: &[u8], points: &[[u8; POINT]], secrets: &[[u8; POINT]]) -> Zeroizing<Vec<Block>> {
        let entries: &[[[Block; OTS]; CHOICES]] = from_bytes(message).as_chunks().0.as_chunks().0;
        let mut all = Zeroizing::new(Vec::with_capacity(OTS * self.groups.len()));
        for (g, (entries, (group, (point, secret)))) in
            zip(entries, zip(&self.groups, zip(points, secrets))).enumerate()
        {
            let mut keys = pad(&self.hash, g, [&self.sent, point, secret]);
            // Every entry is read, for constant time.
            for (c, entry) in zip(0u8.., entries) {
                let is_it = c.ct_eq(group).unwrap_u8() == 1;
                for (key, block) in zip(keys.iter_mut(), entry) {
                    *key ^= block.and_bit(is_it);
                }
            }
            all.extend_from_slice(&*keys);
        }
        all.truncate(self.choices.len());
        all
    }
}
