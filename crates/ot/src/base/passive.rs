//! Both parties of the two-message protocols for semi-honest parties.
//!
//! ```text
//! S → R   S = s G, and T where it is another point
//! R → S   P_i, of β_i G and b_i T                 i < n
//! S       m_{i,j} of s P_i, and of that and s T
//! R       m_{i,b_i} of β_i S
//! ```
//!
//! Rounds and bytes: 2 messages; 32 or 64, 32 n. Scalar multiplications for each OT: R two of fixed
//! points, S one of a variable point. Notation: s, β scalars; `half` marks halves, because the
//! batched encoding doubles its inputs.

use core::{iter::zip, marker::PhantomData};

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::{RistrettoPoint, Scalar};
use hushwire_block::Block;
use hushwire_machine::{
    drive::{Line, Talk},
    passed_on,
};
use hushwire_prg::{Prg, Seed};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{self, Oracle, POINT};
use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{Context, OtError, Passive, Sid};

/// The parts in which these protocols differ.
pub(super) trait TwoMessages: Send + 'static {
    /// The name that users write.
    const NAME: &'static str;
    /// The name of the first message.
    const FIRST: &'static str;
    /// The number of points in the first message; the first is T, and the last S.
    const POINTS: usize;

    /// Half of T, if it differs from S.
    fn half_t(prg: &mut Prg, sid: &Sid) -> Option<RistrettoPoint>;

    /// Half of P_i, computed in constant time from half of β_i G and half of T.
    fn blind(half: RistrettoPoint, half_t: &RistrettoPoint, choice: bool) -> RistrettoPoint;

    /// Half of the point that is hashed to m_{i,1}, computed from half of s P_i and half of s T.
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
        let half_t = half_t.unwrap_or_else(|| RISTRETTO_BASEPOINT_TABLE * &half_s);
        let (hash, secrets) = (hash::<P>(&context.sid), HalfSecrets { half_t, half_s });
        PassiveSender(Line::new(|talk| send::<P>(talk, hash, secrets, count)), PhantomData)
    }

    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> PassiveReceiver<P> {
        let mut prg = group::randomness(context, seed, &format!("ot base {} receiver", P::NAME));
        let half_betas = group::scalars(&mut prg, choices.len());
        let (hash, secrets) = (hash::<P>(&context.sid), Choices { half_betas, choices });
        PassiveReceiver(Line::new(|talk| receive::<P>(talk, hash, secrets)), PhantomData)
    }
}

/// H.
fn hash<P: TwoMessages>(sid: &Sid) -> Oracle {
    Oracle::new(&format!("hushwire 2026 ot {} key v1", P::NAME), sid)
}

/// The sender's secrets.
#[derive(ZeroizeOnDrop)]
struct HalfSecrets {
    half_t: RistrettoPoint,
    half_s: Scalar,
}

/// The receiver's secrets.
#[derive(ZeroizeOnDrop)]
struct Choices {
    half_betas: Vec<Scalar>,
    choices: Vec<bool>,
}

/// The sender of [`ChouOrlandi`](super::ChouOrlandi) or [`NaorPinkas`](super::NaorPinkas).
pub struct PassiveSender<P>(Line<'static, BaseSender<Passive>, OtError>, PhantomData<P>);

passed_on!([P: TwoMessages] PassiveSender<P>, OtError, self => self.0);

/// The line wipes everything that it holds.
impl<P> ZeroizeOnDrop for PassiveSender<P> {}

async fn send<P: TwoMessages>(
    talk: Talk,
    hash: Oracle,
    secrets: HalfSecrets,
    count: usize,
) -> Result<BaseSender<Passive>, OtError> {
    talk.ready(P::FIRST, P::POINTS * POINT, 0).await;
    let mut sent = [[0; POINT]; 2];
    group::encode_doubles(&[secrets.half_t, RISTRETTO_BASEPOINT_TABLE * &secrets.half_s], &mut sent);
    talk.exchange(P::FIRST, sent[2 - P::POINTS..].as_flattened().to_vec(), 0).await;

    let message = talk.exchange("base OT points", Vec::new(), POINT * count).await;
    let points = message.as_chunks().0;
    let decoded = group::decode_all(&message, "base OT points")?;
    let rhos = group::sender_secrets(&decoded, &secrets.half_s, &secrets.half_t, P::other);
    let mut keys = Zeroizing::new(Vec::with_capacity(points.len()));
    for (i, (point, [zero, one])) in zip(points, rhos.as_chunks().0).enumerate() {
        let key = |j, secret| P::key(&hash, (i, j), [&sent[1], point], secret);
        keys.push([key(0, zero), key(1, one)]);
    }
    Ok(BaseSender::new(core::mem::take(&mut *keys)))
}

impl<P: TwoMessages> SendBase<Passive> for PassiveSender<P> {
    fn finish(self) -> BaseSender<Passive> {
        self.0.finish()
    }
}

/// The receiver of [`ChouOrlandi`](super::ChouOrlandi) or [`NaorPinkas`](super::NaorPinkas).
pub struct PassiveReceiver<P>(Line<'static, BaseReceiver<Passive>, OtError>, PhantomData<P>);

passed_on!([P: TwoMessages] PassiveReceiver<P>, OtError, self => self.0);

/// The line wipes everything that it holds.
impl<P> ZeroizeOnDrop for PassiveReceiver<P> {}

async fn receive<P: TwoMessages>(
    talk: Talk,
    hash: Oracle,
    mut secrets: Choices,
) -> Result<BaseReceiver<Passive>, OtError> {
    let message = talk.exchange(P::FIRST, Vec::new(), P::POINTS * POINT).await;
    let points: &[[u8; POINT]] = message.as_chunks().0;
    let sent = points[P::POINTS - 1];
    let s = group::decode(&sent, P::FIRST)?;
    let half_t: RistrettoPoint = group::decode(&points[0], P::FIRST)? * Scalar::ONE.div_by_2();
    let mut points = vec![[0; POINT]; secrets.choices.len()];
    let blind = |half, choice| P::blind(half, &half_t, choice);
    group::blinded(&secrets.half_betas, &secrets.choices, blind, &mut points);
    talk.exchange("base OT points", points.as_flattened().to_vec(), 0).await;

    // This comes after the points were sent, so that S works at the same time.
    let rhos = group::receiver_secrets(&secrets.half_betas, &s);
    let mut keys = Zeroizing::new(Vec::with_capacity(rhos.len()));
    for (i, (choice, (point, rho))) in zip(&secrets.choices, zip(&points, &*rhos)).enumerate() {
        keys.push(P::key(&hash, (i, u8::from(*choice)), [&sent, point], rho));
    }
    Ok(BaseReceiver::new(core::mem::take(&mut secrets.choices), core::mem::take(&mut *keys)))
}

impl<P: TwoMessages> ReceiveBase<Passive> for PassiveReceiver<P> {
    fn finish(self) -> BaseReceiver<Passive> {
        self.0.finish()
    }
}
