//! Both parties of the protocols of two messages, for parties that follow them.
//!
//! ```text
//! S → R   S = s G, and T where it is another point
//! R → S   P_i, of β_i G and b_i T                 i < n
//! S       m_{i,j} of s P_i, and of that and s T
//! R       m_{i,b_i} of β_i S
//! ```
//!
//! Rounds and bytes: 2 messages; 32 or 64, 32 n. Scalar multiplications per OT: R two of fixed points, S one of a variable
//! point. Notation: s, β scalars; `half` marks halves: batches of encodings come out doubled.

use core::{iter::zip, marker::PhantomData};

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::{RistrettoPoint, Scalar, traits::Identity};
use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};
use zeroize::ZeroizeOnDrop;

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{
    Context, Machine, OtError, Passive, Round, Sid,
    machine::{Guarded, Latch, guarded},
};

/// The part in which such protocols differ.
pub(super) trait TwoMessages: Send + 'static {
    /// As users write it.
    const NAME: &'static str;
    /// The name of the first message.
    const FIRST: &'static str;
    /// Points of the first message, of which the first is T and the last S.
    const POINTS: usize;

    /// Half of T, where it is another point than S.
    fn half_t(prg: &mut Prg, sid: &Sid) -> Option<RistrettoPoint>;

    /// Half of P_i, from half of β_i G and of T, in constant time.
    fn blind(half: RistrettoPoint, half_t: &RistrettoPoint, choice: bool) -> RistrettoPoint;

    /// The point that m_{i,1} is the hash of, from half of s P_i and of s T: a half as well.
    fn other(half: &RistrettoPoint, half_st: &RistrettoPoint) -> RistrettoPoint;

    /// m_{i,j}, from S, P_i and the secret point.
    fn key(hash: &Oracle, ot: (usize, u8), points: [&[u8; POINT]; 2], secret: &[u8; POINT]) -> Block;
}

impl<P: TwoMessages> BaseProtocol for P {
    type Level = Passive;
    type Sender = PassiveSender<P>;
    type Receiver = PassiveReceiver<P>;

    const NAME: &'static str = P::NAME;

    fn sender(context: &Context, count: usize, seed: &Seed) -> PassiveSender<P> {
        let mut prg = group::randomness(context, seed, &format!("ot base {} sender", P::NAME));
        let half_t = P::half_t(&mut prg, &context.sid);
        let half_s = group::scalar(&mut prg);
        PassiveSender {
            hash: hash::<P>(&context.sid),
            count,
            at: 0,
            latch: Latch::new(),
            half_t: half_t.unwrap_or_else(|| RISTRETTO_BASEPOINT_TABLE * &half_s),
            half_s,
            points: [[0; POINT]; 2],
            keys: Vec::new(),
            protocol: PhantomData,
        }
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> PassiveReceiver<P> {
        let mut prg = group::randomness(context, seed, &format!("ot base {} receiver", P::NAME));
        PassiveReceiver {
            hash: hash::<P>(&context.sid),
            at: 0,
            latch: Latch::new(),
            half_betas: group::scalars(&mut prg, choices.len()),
            choices,
            sent: [0; POINT],
            point: RistrettoPoint::identity(),
            points: Vec::new(),
            keys: Vec::new(),
            protocol: PhantomData,
        }
    }
}

/// H.
fn hash<P: TwoMessages>(sid: &Sid) -> Oracle {
    Oracle::new(&format!("hushwire 2026 ot {} key v1", P::NAME), sid)
}

/// The two messages as S sees them.
fn rounds<P: TwoMessages>(count: usize) -> [Round; 2] {
    [
        Round { name: P::FIRST, out: P::POINTS * POINT, into: 0 },
        Round { name: "base OT points", out: 0, into: POINT * count },
    ]
}

/// The sender of [`ChouOrlandi`](super::ChouOrlandi) or [`NaorPinkas`](super::NaorPinkas).
#[derive(ZeroizeOnDrop)]
pub struct PassiveSender<P> {
    #[zeroize(skip)]
    hash: Oracle,
    count: usize,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_t: RistrettoPoint,
    half_s: Scalar,
    /// T and S as sent.
    points: [[u8; POINT]; 2],
    keys: Vec<[Block; 2]>,
    #[zeroize(skip)]
    protocol: PhantomData<P>,
}

guarded!([P: TwoMessages] PassiveSender<P>);

impl<P: TwoMessages> Guarded for PassiveSender<P> {
    fn exchange(&self) -> Option<Round> {
        rounds::<P>(self.count).get(self.at).copied()
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 0 {
            group::encode_doubles(&[self.half_t, RISTRETTO_BASEPOINT_TABLE * &self.half_s], &mut self.points);
            out.copy_from_slice(self.points[2 - P::POINTS..].as_flattened());
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if self.at == 1 {
            let points = message.as_chunks().0;
            let decoded = group::decode_all(message, "base OT points")?;
            let secrets = group::sender_secrets(&decoded, &self.half_s, &self.half_t, P::other);
            self.keys.reserve_exact(points.len());
            for (i, (point, [zero, one])) in zip(points, secrets.as_chunks().0).enumerate() {
                let key = |j, secret| P::key(&self.hash, (i, j), [&self.points[1], point], secret);
                self.keys.push([key(0, zero), key(1, one)]);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl<P: TwoMessages> SendBase<Passive> for PassiveSender<P> {
    fn finish(mut self) -> BaseSender<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

/// The receiver of [`ChouOrlandi`](super::ChouOrlandi) or [`NaorPinkas`](super::NaorPinkas).
#[derive(ZeroizeOnDrop)]
pub struct PassiveReceiver<P> {
    #[zeroize(skip)]
    hash: Oracle,
    at: usize,
    #[zeroize(skip)]
    latch: Latch,
    half_betas: Vec<Scalar>,
    choices: Vec<bool>,
    /// S as sent.
    sent: [u8; POINT],
    /// S.
    point: RistrettoPoint,
    /// The second message.
    points: Vec<[u8; POINT]>,
    keys: Vec<Block>,
    #[zeroize(skip)]
    protocol: PhantomData<P>,
}

guarded!([P: TwoMessages] PassiveReceiver<P>);

impl<P: TwoMessages> Guarded for PassiveReceiver<P> {
    fn exchange(&self) -> Option<Round> {
        rounds::<P>(self.choices.len()).get(self.at).copied().map(group::mirrored)
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if self.at == 1 {
            out.copy_from_slice(self.points.as_flattened());
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if self.at == 0 {
            let sent: &[[u8; POINT]] = message.as_chunks().0;
            self.sent = sent[P::POINTS - 1];
            self.point = group::decode(&self.sent, P::FIRST)?;
            let half_t: RistrettoPoint = group::decode(&sent[0], P::FIRST)? * Scalar::ONE.div_by_2();
            self.points = vec![[0; POINT]; self.choices.len()];
            let blind = |half, choice| P::blind(half, &half_t, choice);
            group::blinded(&self.half_betas, &self.choices, blind, &mut self.points);
        } else {
            // After the points were sent: S is at work now.
            let secrets = group::receiver_secrets(&self.half_betas, &self.point);
            self.keys.reserve_exact(secrets.len());
            for (i, (choice, (point, secret))) in zip(&self.choices, zip(&self.points, &*secrets)).enumerate()
            {
                self.keys.push(P::key(&self.hash, (i, u8::from(*choice)), [&self.sent, point], secret));
            }
        }
        self.at += 1;
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl<P: TwoMessages> ReceiveBase<Passive> for PassiveReceiver<P> {
    fn finish(mut self) -> BaseReceiver<Passive> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut self.keys))
    }
}
