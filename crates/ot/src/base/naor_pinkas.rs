//! Naor–Pinkas: random OT in two messages, for parties that follow the protocol.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Naor, Pinkas, "Efficient Oblivious Transfer Protocols", SODA 2001, with one r and one C for all OTs and
//! without the encryption at the end: the keys are the result.
//!
//! ```text
//! S → R   C of unknown discrete logarithm, R = r G
//! R → S   P_{i,0}, where P_{i,b_i} = k_i G and P_{i,0} + P_{i,1} = C          i < n
//! S       m_{i,0} = H(i, 0, R, r P_{i,0}), m_{i,1} = H(i, 1, R, r C − r P_{i,0})
//! R       m_{i,b_i} = H(i, b_i, R, k_i R)
//! ```
//!
//! Deviations: every hash takes the session's name and i. S makes C by hashing to the group; it does not prove that.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session); κ = 128.
//!
//! Notation: G, C, R, P points, 32 bytes; r, k scalars; m 16 bytes. `half` marks halves: batches of encodings come out
//! doubled.
//!
//! Rounds and bytes: 2 messages; 64, 32 n. Scalar multiplications per OT: R two of fixed points, S one of a variable
//! point.
//!
//! Constant time: r, k, b, m and the points that m is the hash of.

use core::iter::zip;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::Block;
use hushwire_prg::Seed;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{
    Context, Machine, OtError, Passive, Round, Sid,
    machine::{Guarded, Latch, guarded},
};

/// Naor–Pinkas.
pub struct NaorPinkas;

impl BaseProtocol for NaorPinkas {
    type Level = Passive;
    type Sender = NaorPinkasSender;
    type Receiver = NaorPinkasReceiver;

    const NAME: &'static str = "naor-pinkas";

    fn sender(context: &Context, count: usize, seed: &Seed) -> NaorPinkasSender {
        let mut prg = group::randomness(context, seed, "ot base naor-pinkas sender");
        let mut random = [0; 32];
        prg.fill(&mut random);
        NaorPinkasSender {
            hash: hash(&context.sid),
            count,
            at: 0,
            latch: Latch::new(),
            half_c: Oracle::new("hushwire 2026 ot naor-pinkas C v1", &context.sid).point(&random),
            half_r: group::scalar(&mut prg),
            points: [[0; POINT]; 2],
            keys: Vec::new(),
        }
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> NaorPinkasReceiver {
        let mut prg = group::randomness(context, seed, "ot base naor-pinkas receiver");
        NaorPinkasReceiver {
            hash: hash(&context.sid),
            at: 0,
            latch: Latch::new(),
            half_ks: group::scalars(&mut prg, choices.len()),
            choices,
            r: [0; POINT],
            point: RistrettoPoint::identity(),
            points: Vec::new(),
            keys: Vec::new(),
        }
    }
}

/// H.
fn hash(sid: &Sid) -> Oracle {
    Oracle::new("hushwire 2026 ot naor-pinkas key v1", sid)
}

/// The two messages as S sees them.
fn ticks(count: usize) -> [Round; 2] {
    [
        Round { name: "base OT parameters", out: 2 * POINT, into: 0 },
        Round { name: "base OT points", out: 0, into: POINT * count },
    ]
}

/// [`NaorPinkas`]'s sender.
#[derive(ZeroizeOnDrop)]
pub struct NaorPinkasSender {
    #[zeroize(skip)]
    hash: Oracle,
    count: usize,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_c: RistrettoPoint,
    half_r: Scalar,
    /// C and R as sent.
    points: [[u8; POINT]; 2],
    keys: Vec<[Block; 2]>,
}

impl NaorPinkasSender {
    fn keys(&mut self, message: &[u8]) -> Result<(), OtError> {
        let half_rc = Zeroizing::new((self.half_c + self.half_c) * self.half_r);
        let points = message.as_chunks().0;
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * points.len()));
        for point in points {
            let half = group::decode(point, "base OT points")? * self.half_r;
            halves.push(half);
            halves.push(*half_rc - half);
        }
        let secrets = group::secret_doubles(&halves);
        self.keys.reserve_exact(points.len());
        for (i, secrets) in secrets.as_chunks::<2>().0.iter().enumerate() {
            let key = |j: u8| self.hash.block(i, [&[j], &self.points[1], &secrets[usize::from(j)]]);
            self.keys.push([key(0), key(1)]);
        }
        Ok(())
    }
}

guarded!([] NaorPinkasSender);

impl Guarded for NaorPinkasSender {
    fn exchange(&self) -> Option<Round> {
        ticks(self.count).get(self.at).copied()
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 0 {
            let halves = [self.half_c, RISTRETTO_BASEPOINT_TABLE * &self.half_r];
            group::encode_doubles(&halves, &mut self.points);
            out.copy_from_slice(self.points.as_flattened());
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if self.at == 1 {
            self.keys(message)?;
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl SendBase<Passive> for NaorPinkasSender {
    fn finish(mut self) -> BaseSender<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

/// [`NaorPinkas`]'s receiver.
#[derive(ZeroizeOnDrop)]
pub struct NaorPinkasReceiver {
    #[zeroize(skip)]
    hash: Oracle,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_ks: Vec<Scalar>,
    choices: Vec<bool>,
    /// R as sent.
    r: [u8; POINT],
    /// R.
    point: RistrettoPoint,
    /// The second message.
    points: Vec<[u8; POINT]>,
    keys: Vec<Block>,
}

impl NaorPinkasReceiver {
    /// Makes the second message.
    fn points(&mut self, message: &[u8]) -> Result<(), OtError> {
        let name = "base OT parameters";
        let (c, r) = message.split_first_chunk().expect("the message begins with a point");
        self.r.copy_from_slice(r);
        self.point = group::decode(&self.r, name)?;
        let half_c: RistrettoPoint = group::decode(c, name)? * Scalar::ONE.div_by_2();
        let mut halves = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        for (k, choice) in zip(&self.half_ks, &self.choices) {
            let own = RISTRETTO_BASEPOINT_TABLE * k;
            let other = half_c - own;
            let choice = Choice::from(u8::from(*choice));
            halves.push(RistrettoPoint::conditional_select(&own, &other, choice));
        }
        self.points = vec![[0; POINT]; halves.len()];
        group::encode_doubles(&halves, &mut self.points);
        Ok(())
    }

    fn keys(&mut self) {
        let table = RistrettoBasepointTable::create(&self.point);
        let mut halves = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        for k in &self.half_ks {
            halves.push(&table * k);
        }
        let secrets = group::secret_doubles(&halves);
        self.keys.reserve_exact(halves.len());
        for (i, (choice, secret)) in zip(&self.choices, &*secrets).enumerate() {
            self.keys.push(self.hash.block(i, [&[u8::from(*choice)], &self.r, secret]));
        }
    }
}

guarded!([] NaorPinkasReceiver);

impl Guarded for NaorPinkasReceiver {
    fn exchange(&self) -> Option<Round> {
        ticks(self.choices.len()).get(self.at).copied().map(group::mirrored)
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 1 {
            out.copy_from_slice(self.points.as_flattened());
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        match self.at {
            0 => self.points(message)?,
            // After the points were sent: S is at work now.
            _ => self.keys(),
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl ReceiveBase<Passive> for NaorPinkasReceiver {
    fn finish(mut self) -> BaseReceiver<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut self.keys))
    }
}
