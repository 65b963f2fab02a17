//! CSW20: random OT in three messages, for malicious parties, where a corrupted sender may guess
//! choice bits.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}. A
//! corrupted S chooses its keys, and may guess bits; a wrong guess aborts the protocol. A corrupted
//! R chooses nothing.
//!
//! Paper: Canetti, Sarkar, Wang, "Blazing Fast OT for Three-Round UC OT Extension", PKC 2020, the
//! base OT with selective failure.
//!
//! ```text
//! R → S   seed, B_i = α_i G + b_i T                                   T = H1(seed), i < n
//! S → R   z = r G
//!         per OT c_{i,0}, c_{i,1}, χ_i; Π
//!           ρ_{i,0} = r B_i, ρ_{i,1} = ρ_{i,0} − r T        p_{i,b} = H2(i, ρ_{i,b})
//!           c_{i,b} = p_{i,b} ⊕ m_{i,b}                     χ_i = H3(i, p_{i,0}) ⊕ H3(i, p_{i,1})
//!           otans = H4(H3(0, p_{0,0}), H3(1, p_{1,0}), …)   Π = H(otans, both messages)
//! R → S   otans' = H4(H3(i, p_i) ⊕ b_i χ_i, …)
//!         p_i = H2(i, α_i z), m_i = c_{i,b_i} ⊕ p_i
//! ```
//!
//! R checks Π before it answers, and S checks otans' = otans. Every hash takes the session's name.
//!
//! Deviations: Π also hashes R's message and z, c and χ, all of which are public. A changed byte in
//! any message therefore cannot leave the endpoints with different keys (the paper leaves c to the
//! channel). The proof needs [`MIN_BATCH`] OTs; a smaller batch is filled up with OTs of random
//! bits that are discarded. S sends z ahead of the rest of its message, so that R and S multiply at
//! the same time. R sends nothing in between, so that an adversary gains nothing: it could also
//! look at z first.
//!
//! Keys: S draws them and masks them with p, as in the paper, so that the proof applies directly.
//! They are uniform, and m_{i,1−b_i} is independent of R's view until R queries H2 at a point that
//! is hard to find (CDH).
//!
//! Security: malicious, static corruption, UC with selective failure; CDH in ristretto255, H1 to H4
//! observable random oracles (BLAKE3 keyed per domain and session); κ = 128. Each guess of a
//! corrupted S passes with probability 1/2.
//!
//! Notation: G, T, z, B, ρ points, 32 bytes; α, r scalars; p, c, χ, m and the hashes of H3 16
//! bytes; otans, Π 32 bytes. `half` marks halves, because the batched encoding doubles its inputs.
//!
//! Rounds and bytes: 3 messages; with N = max(n, 80): 32 + 32 N, 32 and 32 + 48 N, 32. Scalar
//! multiplications for each OT: R two of fixed points, S one of a variable point.
//!
//! Constant time: α, r, b, ρ, p, m, otans. Whether a check fails is public, because a failure
//! aborts the protocol.

use core::iter::zip;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::{RistrettoPoint, Scalar};
use hushwire_block::Block;
use hushwire_machine::{
    drive::{Line, Talk},
    passed_on,
};
use hushwire_prg::Seed;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::group::{self, DIGEST, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{Check, Context, OtError, SelectiveFailure, Sid};

/// SECURITY: the least number of OTs in a batch; with fewer, otans could be guessed.
pub const MIN_BATCH: usize = 80;
/// AGREEMENT: the number of bytes of R's seed.
const SEED: usize = 32;
/// AGREEMENT: the number of bytes of an OT in S's message: c_{i,0}, c_{i,1}, χ_i.
const ENTRY: usize = 48;

/// The base OTs of Canetti, Sarkar and Wang.
pub struct Csw;

impl BaseProtocol for Csw {
    type Level = SelectiveFailure;
    type Sender = CswSender;
    type Receiver = CswReceiver;

    const NAME: &'static str = "csw";

    fn sender(context: &Context, count: usize, seed: &Seed) -> CswSender {
        let mut prg = group::randomness(context, seed, "ot base csw sender");
        let batch = count.max(MIN_BATCH);
        let mut keys = vec![[Block::ZERO; 2]; batch];
        prg.fill_blocks(keys.as_flattened_mut());
        let half_r = group::scalar(&mut prg);
        let sender = Sender { hashes: Hashes::new(&context.sid), count, half_r, keys };
        CswSender(Line::new(|talk| sender.run(talk)))
    }

    fn receiver(context: &Context, mut choices: Vec<bool>, seed: &Seed) -> CswReceiver {
        let mut prg = group::randomness(context, seed, "ot base csw receiver");
        let count = choices.len();
        let batch = count.max(MIN_BATCH);
        let mut filled = Vec::with_capacity(batch);
        filled.extend_from_slice(&choices);
        choices.zeroize();
        filled.resize_with(batch, || prg.next_u64() & 1 == 1);
        let mut public = [0; SEED];
        prg.fill(&mut public);
        let receiver = Receiver {
            hashes: Hashes::new(&context.sid),
            count,
            seed: public,
            half_alphas: group::scalars(&mut prg, batch),
            choices: filled,
        };
        CswReceiver(Line::new(|talk| receiver.run(talk)))
    }
}

/// The paper's random oracles in one session.
struct Hashes {
    h1: Oracle,
    h2: Oracle,
    h3: Oracle,
    h4: Oracle,
    /// The hash of a party's message, an input of Π.
    said: Oracle,
    proof: Oracle,
}

impl Hashes {
    fn new(sid: &Sid) -> Self {
        Self {
            h1: Oracle::new("hushwire 2026 ot csw H1 v1", sid),
            h2: Oracle::new("hushwire 2026 ot csw H2 v1", sid),
            h3: Oracle::new("hushwire 2026 ot csw H3 v1", sid),
            h4: Oracle::new("hushwire 2026 ot csw H4 v1", sid),
            said: Oracle::new("hushwire 2026 ot csw said v1", sid),
            proof: Oracle::new("hushwire 2026 ot csw proof v1", sid),
        }
    }

    /// Half of T.
    fn half_t(&self, seed: &[u8]) -> RistrettoPoint {
        self.h1.point(seed)
    }

    fn otans(&self, answers: &[Block]) -> [u8; DIGEST] {
        self.h4.digest(hushwire_block::as_bytes(answers))
    }

    /// Π; `first` is the hash of R's message.
    fn proof(&self, otans: &[u8; 32], first: &[u8; 32], z: &[u8; 32], entries: &[u8]) -> [u8; DIGEST] {
        let input = Zeroizing::new([*otans, *first, *z, self.said.digest(entries)]);
        self.proof.digest(input.as_flattened())
    }
}

/// The names of the three messages; the second is sent in two parts.
const NAMES: [&str; 4] = ["base OT points", "base OT point", "base OT keys", "base OT answer"];

/// The sender of [`Csw`].
pub struct CswSender(Line<'static, BaseSender<SelectiveFailure>, OtError>);

passed_on!([] CswSender, OtError, self => self.0);

/// The line wipes everything that it holds.
impl ZeroizeOnDrop for CswSender {}

impl SendBase<SelectiveFailure> for CswSender {
    fn finish(self) -> BaseSender<SelectiveFailure> {
        self.0.finish()
    }
}

#[derive(ZeroizeOnDrop)]
struct Sender {
    #[zeroize(skip)]
    hashes: Hashes,
    count: usize,
    half_r: Scalar,
    keys: Vec<[Block; 2]>,
}

impl Sender {
    async fn run(mut self, talk: Talk) -> Result<BaseSender<SelectiveFailure>, OtError> {
        let (batch, [points, point, keys, answer]) = (self.keys.len(), NAMES);
        let message = talk.exchange(points, Vec::new(), SEED + POINT * batch).await;
        let said = self.hashes.said.digest(&message);
        let (seed, encoded) = message.split_at(SEED);
        let half_t = Zeroizing::new(self.hashes.half_t(seed));
        // The points B_i.
        let others = group::decode_all(encoded, points)?;
        let mut z = [0; POINT];
        let half_z = RISTRETTO_BASEPOINT_TABLE * &self.half_r;
        group::encode_doubles(&[half_z], core::slice::from_mut(&mut z));
        talk.exchange(point, z.to_vec(), 0).await;
        // This comes after z was sent, so that R works at the same time.
        let (message, otans) = self.entries(&others, &half_t, &[said, z]);
        talk.exchange(keys, message, 0).await;
        let theirs = talk.exchange(answer, Vec::new(), DIGEST).await;
        if !bool::from(otans.ct_eq(&theirs[..])) {
            return Err(OtError::abort(Check::BaseOt));
        }
        self.keys.truncate(self.count);
        Ok(BaseSender::new(core::mem::take(&mut self.keys)))
    }

    /// The rest of the second message, and otans; `said` has the hash of the first message, and z.
    fn entries(
        &self,
        points: &[RistrettoPoint],
        half_t: &RistrettoPoint,
        [said, z]: &[[u8; 32]; 2],
    ) -> (Vec<u8>, Zeroizing<[u8; DIGEST]>) {
        let rhos = group::sender_secrets(points, &self.half_r, half_t, |rho, rt| rho - rt);
        let mut message = Vec::with_capacity(ENTRY * self.keys.len() + DIGEST);
        let mut answers = Zeroizing::new(Vec::with_capacity(self.keys.len()));
        for (i, ([rho0, rho1], [m0, m1])) in zip(rhos.as_chunks().0, &self.keys).enumerate() {
            let [p0, p1] = [rho0, rho1].map(|rho| self.hashes.h2.block(i, [rho]));
            let [a0, a1] = [p0, p1].map(|p| self.hashes.h3.block(i, [&p.0]));
            answers.push(a0);
            for block in [p0 ^ *m0, p1 ^ *m1, a0 ^ a1] {
                message.extend_from_slice(&block.0);
            }
        }
        let otans = Zeroizing::new(self.hashes.otans(&answers));
        let proof = self.hashes.proof(&otans, said, z, &message);
        message.extend_from_slice(&proof);
        (message, otans)
    }
}

/// The receiver of [`Csw`].
pub struct CswReceiver(Line<'static, BaseReceiver<SelectiveFailure>, OtError>);

passed_on!([] CswReceiver, OtError, self => self.0);

/// The line wipes everything that it holds.
impl ZeroizeOnDrop for CswReceiver {}

impl ReceiveBase<SelectiveFailure> for CswReceiver {
    fn finish(self) -> BaseReceiver<SelectiveFailure> {
        self.0.finish()
    }
}

#[derive(ZeroizeOnDrop)]
struct Receiver {
    #[zeroize(skip)]
    hashes: Hashes,
    count: usize,
    seed: [u8; SEED],
    half_alphas: Vec<Scalar>,
    choices: Vec<bool>,
}

impl Receiver {
    async fn run(mut self, talk: Talk) -> Result<BaseReceiver<SelectiveFailure>, OtError> {
        let (batch, [points, point, keys, answer]) = (self.choices.len(), NAMES);
        talk.ready(points, SEED + POINT * batch, 0).await;
        let first = self.points();
        let said = self.hashes.said.digest(&first);
        talk.exchange(points, first, 0).await;
        let message = talk.exchange(point, Vec::new(), POINT).await;
        let z = *message.first_chunk().expect("a point");
        let masks = self.masks(&z)?;
        let message = talk.exchange(keys, Vec::new(), ENTRY * batch + DIGEST).await;
        let (mut all, otans) = self.keys(&message, &masks, &[said, z])?;
        talk.exchange(answer, otans.to_vec(), 0).await;
        self.choices.truncate(self.count);
        all.truncate(self.count);
        Ok(BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut *all)))
    }

    /// The first message.
    fn points(&self) -> Vec<u8> {
        let mut message = vec![0; SEED + POINT * self.choices.len()];
        let (seed, points) = message.split_at_mut(SEED);
        seed.copy_from_slice(&self.seed);
        let half_t = self.hashes.half_t(seed);
        let blind = |half, choice| group::blind(half, &half_t, choice);
        group::blinded(&self.half_alphas, &self.choices, blind, points.as_chunks_mut().0);
        message
    }

    /// The masks p_{i,b_i} of the keys, computed from z.
    fn masks(&self, z: &[u8; POINT]) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let rhos = group::receiver_secrets(&self.half_alphas, &group::decode(z, "base OT point")?);
        let mut masks = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        masks.extend(rhos.iter().enumerate().map(|(i, rho)| self.hashes.h2.block(i, [rho])));
        Ok(masks)
    }

    /// The keys from the rest of the second message, if its proof is right, and otans'.
    fn keys(
        &self,
        message: &[u8],
        masks: &[Block],
        [said, z]: &[[u8; 32]; 2],
    ) -> Result<(Zeroizing<Vec<Block>>, [u8; DIGEST]), OtError> {
        let (body, proof) = message.split_at(message.len() - DIGEST);
        let entries = hushwire_block::from_bytes(body).as_chunks::<3>().0;
        let mut answers = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        let mut keys = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        for (i, ([c0, c1, chi], (p, choice))) in zip(entries, zip(masks, &self.choices)).enumerate() {
            answers.push(self.hashes.h3.block(i, [&p.0]) ^ chi.and_bit(*choice));
            keys.push(Block::conditional_select(c0, c1, Choice::from(u8::from(*choice))) ^ *p);
        }
        let otans = self.hashes.otans(&answers);
        if bool::from(self.hashes.proof(&otans, said, z, body).ct_eq(proof)) {
            Ok((keys, otans))
        } else {
            Err(OtError::abort(Check::BaseOt))
        }
    }
}
