//! Convolutions with the weights of one party, by homomorphic encryption.
//!
//! The weights' party holds x_E and w, and the other party x_C of x = x_E + x_C. x_E * w is local.
//! The other party sends x_C encrypted. The answer is x_C * w minus a mask, which is a share of it.
//! There are two messages. The public key precedes the first message of a kind.

use crate::{Tally, TwoError, ring::mask};
use hushwire_aes::Backend;
use hushwire_bfv::{BfvError, Encryptor, Evaluator, LayerWeights, Linear, Set, TransformedWeights};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_machine::drive::Line;
use hushwire_prg::Seed;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The parameters, the ring, and the party with the weights.
type Name = (Set, u32, usize);

/// A layer of a plan, with the weights of party `evaluator`.
pub(crate) struct EncryptedLayer {
    pub(crate) linear: Linear,
    pub(crate) evaluator: usize,
    /// Whether no earlier step has the same keys.
    pub(crate) first: bool,
}

impl EncryptedLayer {
    /// The cost of upload and answer, and of the key if the layer is the first to need it.
    pub(crate) fn tally(&self) -> Tally {
        let key = if self.first { Evaluator::key_bytes(self.linear.set()) } else { 0 };
        let (up, down) = (key + self.linear.upload_bytes(), self.linear.answer_bytes());
        let one = |said: [usize; 2]| {
            let [encryptor, evaluator] = said;
            Tally::message(if self.evaluator == 0 { [evaluator, encryptor] } else { [encryptor, evaluator] })
        };
        one([up, 0]).then(one([0, down]))
    }

    pub(crate) fn name(&self) -> Name {
        (self.linear.set(), self.linear.ring(), self.evaluator)
    }

    /// The bytes of its work: ciphertexts, their transforms, and weights.
    pub(crate) fn memory(&self) -> u64 {
        let messages = self.linear.upload_bytes() + self.linear.answer_bytes();
        8 * (messages + Evaluator::key_bytes(self.linear.set())) as u64
    }
}

/// Words of a ring as signed numbers.
pub(crate) fn signed(words: &[u64], ring: u32) -> Zeroizing<Vec<i64>> {
    Zeroizing::new(words.iter().map(|w| (w << (64 - ring)).cast_signed() >> (64 - ring)).collect())
}

/// Checks that all weights of a tensor are within the bound for which a layer was planned.
pub(crate) fn within(weights: &Tensor, linear: &Linear) -> Result<(), TwoError> {
    let numbers = Wiped::new(crate::form::numbers(weights, linear.ring()));
    // The maximum is over all weights, so that the time does not reveal which one is too large.
    let most = signed(&numbers, linear.ring()).iter().fold(0, |most, w| most.max(w.unsigned_abs()));
    if most <= linear.weight() {
        return Ok(());
    }
    let cause = format!("a weight is greater than {}, which the layer was planned for", linear.weight());
    Err(BfvError::Margin { cause }.into())
}

/// The keys of a session. Each pair serves one party as the evaluator.
#[derive(Default)]
pub(crate) struct LayerKeys(BTreeMap<Name, KeySide>);

/// A party's part of a pair of keys.
pub(crate) enum KeySide {
    Encrypts(Box<Encryptor>),
    Evaluates(Box<Evaluator>),
}

/// A layer that is to be computed.
pub(crate) struct LayerJob<'a> {
    pub(crate) linear: &'a Linear,
    pub(crate) evaluator: usize,
    /// The evaluator's weights modulo the ring, and transformed if these are kept.
    pub(crate) weights: &'a [u64],
    pub(crate) kept: Option<&'a TransformedWeights>,
    pub(crate) x: &'a [u64],
    /// LOCAL.
    pub(crate) threads: usize,
}

/// This party's part of the keys, for the next layer, and its share.
type LayerMade = (KeySide, Vec<u64>);

impl LayerKeys {
    /// The number of weight transforms in the session's answers.
    pub(crate) fn transforms(&self) -> u64 {
        let of = |side: &KeySide| if let KeySide::Evaluates(own) = side { own.transforms() } else { 0 };
        self.0.values().map(of).sum()
    }
}

impl<'a> LayerJob<'a> {
    fn name(&self) -> Name {
        (self.linear.set(), self.linear.ring(), self.evaluator)
    }

    /// The layer as a machine of party `index`. Its result includes the keys.
    pub(crate) fn begin(
        &self,
        index: usize,
        backend: Backend,
        seed: &Seed,
        keys: &mut LayerKeys,
    ) -> Line<'a, LayerMade, TwoError> {
        let LayerJob { linear, evaluator, weights, kept: transformed, x, threads } = *self;
        let (set, ring, name) = (linear.set(), linear.ring(), self.name());
        let kept = keys.0.remove(&name);
        let seed = seed.derive("two keys", &[ring as u8, evaluator as u8, set.primes() as u8]);
        let key_bytes = if kept.is_none() { Evaluator::key_bytes(set) } else { 0 };
        if index != evaluator {
            return Line::new(|talk| async move {
                let mut own = match kept {
                    Some(KeySide::Encrypts(own)) => own,
                    _ => Box::new(Encryptor::new(backend, set, ring, &seed)),
                };
                let mut said = if key_bytes > 0 { own.public_key() } else { vec![] };
                said.extend(own.upload(linear, x, threads));
                talk.exchange("encrypted numbers", said, 0).await;
                let into = linear.answer_bytes();
                let answer = talk.exchange("products of encrypted numbers", vec![], into).await;
                let share = own.open(linear, &answer, threads)?;
                Ok((KeySide::Encrypts(own), share))
            });
        }
        Line::new(|talk| async move {
            let into = key_bytes + linear.upload_bytes();
            let heard = talk.exchange("encrypted numbers", vec![], into).await;
            let mut own = match kept {
                Some(KeySide::Evaluates(own)) => own,
                _ => Box::new(Evaluator::new(backend, set, ring, &heard[..key_bytes], &seed)?),
            };
            let upload = &heard[key_bytes..];
            let (answer, share) = match transformed {
                Some(kept) => own.answer(linear, upload, LayerWeights::Transformed(kept), threads),
                None => own.answer(linear, upload, &signed(weights, ring)[..], threads),
            }?;
            talk.exchange("products of encrypted numbers", answer, 0).await;
            let [share, plain] = [share, linear.plain(backend, x, weights, threads)].map(Wiped::new);
            let sum = share.iter().zip(&plain[..]).map(|(a, b)| a.wrapping_add(*b) & mask(ring)).collect();
            Ok((KeySide::Evaluates(own), sum))
        })
    }

    /// Returns the share that the machine computed, and keeps the keys.
    pub(crate) fn end(&self, play: Line<'_, LayerMade, TwoError>, keys: &mut LayerKeys) -> Vec<u64> {
        let (side, share) = play.finish();
        keys.0.insert(self.name(), side);
        share
    }
}
