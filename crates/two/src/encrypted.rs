//! Convolutions by weights that one party has, under encryption.
//!
//! The weights' party holds x_E and w, the other x_C of x = x_E + x_C: x_E * w is local, x_C goes encrypted, and the answer is x_C * w less a mask, which
//! is a share of it. Two messages; the first one of a kind has the public key before it.

use crate::{Party, TwoError, play::Play, ring::mask};
use hushwire_aes::Backend;
use hushwire_bfv::{Encryptor, Evaluator, Linear, Set};
use hushwire_prg::Seed;
use hushwire_wire::Channel;
use std::collections::BTreeMap;

/// Parameters, ring, and the party that has weights.
type Name = (Set, u32, usize);

/// Keys of a session. Each pair serves one party as evaluator.
#[derive(Default)]
pub(crate) struct Keys(BTreeMap<Name, Side>);

/// A party's side of a pair of keys.
pub(crate) enum Side {
    Encrypts(Box<Encryptor>),
    Evaluates(Box<Evaluator>),
}

/// A layer to be computed.
pub(crate) struct Job<'a> {
    pub(crate) linear: &'a Linear,
    pub(crate) evaluator: usize,
    pub(crate) weights: &'a [i64],
    pub(crate) x: &'a [u64],
}

/// This party's side of the keys, for the next layer, and its share.
type Made = (Side, Vec<u64>);

impl<'a> Job<'a> {
    fn name(&self) -> Name {
        (self.linear.set(), self.linear.ring(), self.evaluator)
    }

    /// The layer as a machine of party `index`. Its keys come with the result.
    pub(crate) fn begin(
        &self,
        index: usize,
        backend: Backend,
        seed: &Seed,
        keys: &mut Keys,
    ) -> Result<Play<'a, Made>, TwoError> {
        let Job { linear, evaluator, weights, x } = *self;
        let (set, ring, name) = (linear.set(), linear.ring(), self.name());
        let kept = keys.0.remove(&name);
        let seed = seed.derive("two keys", &[ring as u8, evaluator as u8, set.primes() as u8]);
        let key_bytes = if kept.is_none() { Evaluator::key_bytes(set) } else { 0 };
        if index != evaluator {
            return Play::new(|talk| async move {
                let mut own = match kept {
                    Some(Side::Encrypts(own)) => own,
                    _ => Box::new(Encryptor::new(backend, set, ring, &seed)),
                };
                let mut said = if key_bytes > 0 { own.public_key() } else { vec![] };
                said.extend(own.upload(linear, x));
                talk.exchange("encrypted numbers", said, 0).await;
                let into = own.answer_bytes(linear);
                let answer = talk.exchange("products of encrypted numbers", vec![], into).await;
                let share = own.open(linear, &answer)?;
                Ok((Side::Encrypts(own), share))
            });
        }
        Play::new(|talk| async move {
            let into = key_bytes + linear.upload_bytes();
            let heard = talk.exchange("encrypted numbers", vec![], into).await;
            let mut own = match kept {
                Some(Side::Evaluates(own)) => own,
                _ => Box::new(Evaluator::new(backend, set, ring, &heard[..key_bytes], &seed)?),
            };
            let (answer, share) = own.answer(linear, &heard[key_bytes..], weights)?;
            talk.exchange("products of encrypted numbers", answer, 0).await;
            let words: Vec<u64> = weights.iter().map(|w| w.cast_unsigned()).collect();
            let plain = linear.conv().plain(x, &words);
            let sum = share.iter().zip(plain).map(|(a, b)| a.wrapping_add(b) & mask(ring)).collect();
            Ok((Side::Evaluates(own), sum))
        })
    }

    /// The share that it leaves; keys are kept.
    pub(crate) fn end(&self, play: Play<'_, Made>, keys: &mut Keys) -> Vec<u64> {
        let (side, share) = play.finish();
        keys.0.insert(self.name(), side);
        share
    }
}

impl Party {
    /// A convolution of numbers, of which `x` is this party's share, by weights that party `evaluator` has and brings; the other brings none. Gives this party's
    /// share of the results. Both parties call it alike, with the same layer, whose count of coefficients is that of all layers which the session runs.
    ///
    /// # Errors
    /// A weight is greater than the layer says; a message of the peer's is malformed; the channel failed; a run before failed.
    ///
    /// # Panics
    /// If shares or weights are not of the layer's shape, or there is no such party (the caller's bug).
    pub fn convolve(
        &mut self,
        channel: &mut Channel,
        linear: &Linear,
        evaluator: usize,
        weights: &[i64],
        x: &[u64],
    ) -> Result<Vec<u64>, TwoError> {
        assert!(evaluator < 2, "parties are 0 and 1");
        self.encrypted(channel, &Job { linear, evaluator, weights, x })
    }
}
