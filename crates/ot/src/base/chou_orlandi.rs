//! Chou–Orlandi: random OT in two messages, for parties that follow the protocol.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Chou, Orlandi, "The Simplest Protocol for Oblivious Transfer", Latincrypt 2015, figure 1, without the
//! encryption at the end: the keys are the result.
//!
//! ```text
//! S → R   A = a G
//! R → S   B_i = β_i G + b_i A                     i < n
//! S       m_{i,0} = H(i, A, B_i, a B_i), m_{i,1} = H(i, A, B_i, a B_i − a A)
//! R       m_{i,b_i} = H(i, A, B_i, β_i A)
//! ```
//!
//! Deviations: every hash takes the session's name and i.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session); κ = 128. It is not UC:
//! no corrupt receiver's choices can be extracted in time.
//!
//! Notation: G, A, B points, 32 bytes; a, β scalars; m 16 bytes. `half` marks halves: batches of encodings come out
//! doubled.
//!
//! Rounds and bytes: 2 messages; 32, 32 n. Scalar multiplications per OT: R two of fixed points, S one of a variable
//! point.
//!
//! Constant time: a, β, b, m and the points that m is the hash of.

use core::iter::zip;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::Block;
use hushwire_prg::Seed;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{
    Context, Machine, OtError, Passive, Round, Sid,
    machine::{Guarded, Latch, guarded},
};

/// Chou–Orlandi.
pub struct ChouOrlandi;

impl BaseProtocol for ChouOrlandi {
    type Level = Passive;
    type Sender = ChouOrlandiSender;
    type Receiver = ChouOrlandiReceiver;

    const NAME: &'static str = "chou-orlandi";

    fn sender(context: &Context, count: usize, seed: &Seed) -> ChouOrlandiSender {
        let mut prg = group::randomness(context, seed, "ot base chou-orlandi sender");
        ChouOrlandiSender {
            hash: hash(&context.sid),
            count,
            at: 0,
            latch: Latch::new(),
            half_a: group::scalar(&mut prg),
            point: [0; POINT],
            keys: Vec::new(),
        }
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> ChouOrlandiReceiver {
        let mut prg = group::randomness(context, seed, "ot base chou-orlandi receiver");
        ChouOrlandiReceiver {
            hash: hash(&context.sid),
            at: 0,
            latch: Latch::new(),
            half_betas: group::scalars(&mut prg, choices.len()),
            choices,
            a: [0; POINT],
            point: RistrettoPoint::identity(),
            points: Vec::new(),
            keys: Vec::new(),
        }
    }
}

/// H.
fn hash(sid: &Sid) -> Oracle {
    Oracle::new("hushwire 2026 ot chou-orlandi key v1", sid)
}

/// The two messages as S sees them.
fn ticks(count: usize) -> [Round; 2] {
    [
        Round { name: "base OT point", out: POINT, into: 0 },
        Round { name: "base OT points", out: 0, into: POINT * count },
    ]
}

/// [`ChouOrlandi`]'s sender.
#[derive(ZeroizeOnDrop)]
pub struct ChouOrlandiSender {
    #[zeroize(skip)]
    hash: Oracle,
    count: usize,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_a: Scalar,
    /// A as sent.
    point: [u8; POINT],
    keys: Vec<[Block; 2]>,
}

impl ChouOrlandiSender {
    fn keys(&mut self, message: &[u8]) -> Result<(), OtError> {
        let half_aa = RISTRETTO_BASEPOINT_TABLE * &(self.half_a * (self.half_a + self.half_a));
        let half_aa = Zeroizing::new(half_aa);
        let points = message.as_chunks().0;
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * points.len()));
        for point in points {
            let half_ab = group::decode(point, "base OT points")? * self.half_a;
            halves.push(half_ab);
            halves.push(half_ab - *half_aa);
        }
        let secrets = group::secret_doubles(&halves);
        self.keys.reserve_exact(points.len());
        for (i, (b, secrets)) in zip(points, secrets.as_chunks::<2>().0).enumerate() {
            self.keys.push([0, 1].map(|j| self.hash.block(i, [&self.point, b, &secrets[j]])));
        }
        Ok(())
    }
}

guarded!([] ChouOrlandiSender);

impl Guarded for ChouOrlandiSender {
    fn exchange(&self) -> Option<Round> {
        ticks(self.count).get(self.at).copied()
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 0 {
            let half = RISTRETTO_BASEPOINT_TABLE * &self.half_a;
            group::encode_doubles(&[half], core::slice::from_mut(&mut self.point));
            out.copy_from_slice(&self.point);
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

impl SendBase<Passive> for ChouOrlandiSender {
    fn finish(mut self) -> BaseSender<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

/// [`ChouOrlandi`]'s receiver.
#[derive(ZeroizeOnDrop)]
pub struct ChouOrlandiReceiver {
    #[zeroize(skip)]
    hash: Oracle,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_betas: Vec<Scalar>,
    choices: Vec<bool>,
    /// A as sent.
    a: [u8; POINT],
    /// A.
    point: RistrettoPoint,
    /// The second message.
    points: Vec<[u8; POINT]>,
    keys: Vec<Block>,
}

impl ChouOrlandiReceiver {
    /// Makes the second message.
    fn points(&mut self, message: &[u8]) -> Result<(), OtError> {
        self.a.copy_from_slice(message);
        self.point = group::decode(&self.a, "base OT point")?;
        let half_a: RistrettoPoint = self.point * Scalar::ONE.div_by_2();
        let mut halves = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        for (beta, choice) in zip(&self.half_betas, &self.choices) {
            halves.push(RISTRETTO_BASEPOINT_TABLE * beta + group::point_where(*choice, &half_a));
        }
        self.points = vec![[0; POINT]; halves.len()];
        group::encode_doubles(&halves, &mut self.points);
        Ok(())
    }

    fn keys(&mut self) {
        let table = RistrettoBasepointTable::create(&self.point);
        let mut halves = Zeroizing::new(Vec::with_capacity(self.choices.len()));
        for beta in &self.half_betas {
            halves.push(&table * beta);
        }
        let secrets = group::secret_doubles(&halves);
        self.keys.reserve_exact(halves.len());
        for (i, (b, secret)) in zip(&self.points, &*secrets).enumerate() {
            self.keys.push(self.hash.block(i, [&self.a, b, secret]));
        }
    }
}

guarded!([] ChouOrlandiReceiver);

impl Guarded for ChouOrlandiReceiver {
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

impl ReceiveBase<Passive> for ChouOrlandiReceiver {
    fn finish(mut self) -> BaseReceiver<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut self.keys))
    }
}
