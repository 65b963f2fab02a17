//! 1-of-N OT of short messages from log N random OTs each.
//!
//! Functionality: per instance the sender holds N = 2^bits messages of `width` bits, the receiver an index, and gets
//! that message. Random OT j of an instance has the index's bit j as choice and keys k_{j,0}, k_{j,1}; message x is
//! masked by H(instance, x, ⊕_j k_{j, bit j of x}), a tweakable circular correlation robust hash with its own tweak for
//! every x: a sum that the receiver does not know contains a key that it does not know.
//!
//! Cost: the random OTs, bits choice bits and N · width bits for each instance (Kolesnikov–Kumaresan's functionality
//! from cheap random OTs; log2 N + N ℓ bits). Rounds: one message after the random OTs, which are verified before it.
//! Constant time: index and messages.

use hushwire_aes::Aes128;
use hushwire_block::Block;
use zeroize::Zeroizing;

use crate::{
    Context, Exchanged, Machine, OtError, Receiver, Round, Security, Sender,
    bits::bytes,
    machine::{Guarded, Latch, guarded},
    owned::{OwnedKeys, OwnedPairs},
    pipeline::Pipeline,
};

/// SECURITY: tweaks under one fixed AES key.
const KEY_SPAN: usize = 1 << 20;

/// The shape, agreed: N = 2^bits messages of `width` bits in each of `count` instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneOfN {
    /// log2 N, from 1 to 8.
    pub bits: usize,
    /// Bits of a message, from 1 to 8.
    pub width: usize,
    /// Instances.
    pub count: usize,
}

impl OneOfN {
    /// N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.bits
    }

    fn ots(&self) -> usize {
        self.bits * self.count
    }

    /// Bytes of the masked messages.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        bytes(self.n() * self.width * self.count)
    }

    fn assert(&self, held: usize, wanted: usize) {
        let small = 1..=8;
        assert!(small.contains(&self.bits) && small.contains(&self.width), "{self:?} is beyond the limits");
        assert_eq!(held, wanted, "{self:?} has another number of them");
    }

    /// H of all sums of a call whose first OT has the number `first`, under public keys of the session.
    fn masks(context: &Context, first: u64, sums: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut masks = Zeroizing::new(vec![Block::ZERO; sums.len()]);
        let mut at = 0;
        while at < sums.len() {
            let tweak = OneOfN::tweak(first) + at as u128;
            let left = KEY_SPAN - (tweak % KEY_SPAN as u128) as usize;
            let end = sums.len().min(at + left);
            let name = context.sid.child("1 of n", (tweak / KEY_SPAN as u128) as u64);
            let key = Aes128::on(context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
            context.backend.tccr::<1>(&key, tweak, &sums[at..end], &mut masks[at..end]);
            at = end;
        }
        masks
    }

    /// Tweak of the first mask of a call whose first OT has the number `first`: calls never share one, since an
    /// instance takes at least as many OTs as 256 tweaks have room for.
    fn tweak(first: u64) -> u128 {
        u128::from(first) << 8
    }
}

/// The sender's machine.
#[must_use = "run its steps"]
pub struct SendOneOfN<'e, 'm, S: Security> {
    shape: OneOfN,
    messages: &'m [u8],
    context: Context,
    first: u64,
    ots: Option<Pipeline<'e, OwnedPairs, S>>,
    masked: Option<Vec<u8>>,
    latch: Latch,
}

impl<'e, 'm, S: Security> SendOneOfN<'e, 'm, S> {
    /// `messages[i N + x]` is message x of instance i, in the low `width` bits.
    ///
    /// # Panics
    /// If there are not N messages for every instance, or the shape is beyond its limits (the caller's bug).
    pub fn new(sender: &'e mut Sender<S>, context: &Context, shape: OneOfN, messages: &'m [u8]) -> Self {
        shape.assert(messages.len(), shape.n() * shape.count);
        let end = sender.end();
        let first = end.next;
        let ots = Pipeline::new(end, OwnedPairs::new(shape.ots()), true);
        let (ots, latch) = (Some(ots), Latch::new());
        let mut machine = Self { shape, messages, context: *context, first, ots, masked: None, latch };
        machine.go_on();
        machine
    }

    /// When the random OTs are there and verified, masks the messages.
    fn go_on(&mut self) {
        if let Some(ots) = self.ots.take_if(|ots| ots.round(0).is_none()) {
            let ots = ots.into_verified();
            let OneOfN { bits, width, .. } = self.shape;
            let mut sums = Zeroizing::new(Vec::with_capacity(self.messages.len()));
            for keys in ots.pairs.chunks_exact(bits) {
                for x in 0..self.shape.n() {
                    let sum =
                        keys.iter().enumerate().fold(Block::ZERO, |sum, (j, key)| sum ^ key[x >> j & 1]);
                    sums.push(sum);
                }
            }
            let masks = OneOfN::masks(&self.context, self.first, &sums);
            let mut masked = vec![0; self.shape.payload_bytes()];
            for (i, (message, mask)) in self.messages.iter().zip(&*masks).enumerate() {
                put(&mut masked, i * width, width, message ^ mask.0[0]);
            }
            self.masked = Some(masked);
        }
    }
}

/// Writes the low `width` bits of `value` at bit `at`, where zeros are.
fn put(out: &mut [u8], at: usize, width: usize, value: u8) {
    let value = (u16::from(value) & ((1 << width) - 1)) << (at % 8);
    let [low, high] = value.to_le_bytes();
    out[at / 8] |= low;
    if at % 8 + width > 8 {
        out[at / 8 + 1] |= high;
    }
}

/// The `width` bits at bit `at`.
fn get(bits: &[u8], at: usize, width: usize) -> u8 {
    let high = if at % 8 + width > 8 { bits[at / 8 + 1] } else { 0 };
    let both = u16::from_le_bytes([bits[at / 8], high]) >> (at % 8);
    both as u8 & ((1u16 << width) - 1) as u8
}

const NAME: &str = "1-of-N OT messages";

guarded!([S: Security] SendOneOfN<'_, '_, S>);

impl<S: Security> Guarded for SendOneOfN<'_, '_, S> {
    fn exchange(&self) -> Option<Round> {
        match &self.ots {
            Some(ots) => ots.round(0),
            None => self.masked.as_ref().map(|masked| Round { name: NAME, out: masked.len(), into: 0 }),
        }
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        match &mut self.ots {
            Some(ots) => ots.write(0, out)?,
            None => out.copy_from_slice(self.masked.as_deref().unwrap_or_default()),
        }
        Ok(())
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        match &mut self.ots {
            Some(ots) => ots.read(&[Exchanged::heard(message)])?,
            None => self.masked = None,
        }
        self.go_on();
        Ok(())
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
}

/// Pads that the receiver may unmask with.
pub(crate) type Masks = Zeroizing<Vec<u8>>;

/// The receiver's machine.
#[must_use = "run its steps"]
pub struct ReceiveOneOfN<'e, 'm, S: Security> {
    shape: OneOfN,
    indices: &'m [u8],
    out: &'m mut [u8],
    context: Context,
    first: u64,
    ots: Option<Pipeline<'e, OwnedKeys, S>>,
    masks: Option<Masks>,
    latch: Latch,
}

impl<'e, 'm, S: Security> ReceiveOneOfN<'e, 'm, S> {
    /// `out[i]` gets the message of instance i that `indices[i] < N` names.
    ///
    /// # Panics
    /// If there is not one index and one byte of output for every instance, an index is N or more, or the shape is
    /// beyond its limits (the caller's bug).
    pub fn new(
        receiver: &'e mut Receiver<S>,
        context: &Context,
        shape: OneOfN,
        indices: &'m [u8],
        out: &'m mut [u8],
    ) -> Self {
        shape.assert(indices.len(), shape.count);
        shape.assert(out.len(), shape.count);
        // One public bit, of what is true in every run that is no bug.
        let beyond = indices.iter().fold(0, |beyond, index| beyond | usize::from(*index) >> shape.bits);
        assert_eq!(beyond, 0, "every index is below {}", shape.n());
        let mut choices = vec![0; bytes(shape.ots())];
        for (i, index) in indices.iter().enumerate() {
            put(&mut choices, i * shape.bits, shape.bits, *index);
        }
        let end = receiver.end();
        let first = end.next;
        let ots = Pipeline::new(end, OwnedKeys::chosen(choices, shape.ots()), true);
        let (ots, latch) = (Some(ots), Latch::new());
        let mut machine = Self { shape, indices, out, context: *context, first, ots, masks: None, latch };
        machine.go_on();
        machine
    }

    /// When the random OTs are there, makes the mask of the message that it may read.
    fn go_on(&mut self) {
        if let Some(ots) = self.ots.take_if(|ots| ots.round(0).is_none()) {
            let ots = ots.into_verified();
            let n = self.shape.n();
            let mut sums = Zeroizing::new(Vec::with_capacity(n * self.shape.count));
            for keys in ots.messages.chunks_exact(self.shape.bits) {
                let sum = keys.iter().fold(Block::ZERO, |sum, key| sum ^ *key);
                // The tweak depends on the index: hash under all of them, keep one in constant time.
                sums.extend(core::iter::repeat_n(sum, n));
            }
            let masks = OneOfN::masks(&self.context, self.first, &sums);
            let kept = masks.chunks_exact(n).zip(self.indices);
            let kept = kept.map(|(masks, index)| select(*index, masks.iter().map(|mask| mask.0[0])));
            // Of a known length, so that collecting moves nothing.
            self.masks = Some(Zeroizing::new(kept.collect()));
        }
    }
}

/// Item `index`, in constant time.
fn select(index: u8, items: impl Iterator<Item = u8>) -> u8 {
    use subtle::ConstantTimeEq;
    items
        .enumerate()
        .fold(0, |kept, (x, item)| kept | item & 0u8.wrapping_sub((x as u8).ct_eq(&index).unwrap_u8()))
}

guarded!([S: Security] ReceiveOneOfN<'_, '_, S>);

impl<S: Security> Guarded for ReceiveOneOfN<'_, '_, S> {
    fn exchange(&self) -> Option<Round> {
        match &self.ots {
            Some(ots) => ots.round(0),
            None => {
                self.masks.as_ref().map(|_| Round { name: NAME, out: 0, into: self.shape.payload_bytes() })
            }
        }
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        self.ots.as_mut().map_or(Ok(()), |ots| ots.write(0, out))
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        match &mut self.ots {
            Some(ots) => ots.read(&[Exchanged::heard(message)])?,
            None => {
                let masks = self.masks.take().unwrap_or_default();
                let (n, width) = (self.shape.n(), self.shape.width);
                for (i, (out, index)) in self.out.iter_mut().zip(self.indices).enumerate() {
                    let masked = select(*index, (0..n).map(|x| get(message, (i * n + x) * width, width)));
                    *out = masked ^ masks[i] & ((1u16 << width) - 1) as u8;
                }
            }
        }
        self.go_on();
        Ok(())
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sid, bits::bit};
    use hushwire_aes::Backend;

    #[test]
    fn masks_change_their_key_and_do_not_depend_on_where_a_call_begins() {
        let context = Context { sid: Sid([1; 32]), backend: Backend::best() };
        // 4096 OTs have the tweaks of a key.
        let zeros = vec![Block::ZERO; 1024];
        let masks = OneOfN::masks(&context, 4094, &zeros);
        assert_eq!(OneOfN::masks(&context, 4096, &zeros[512..])[..], masks[512..]);
        let name = |index| context.sid.child("1 of n", index).0;
        for (index, part) in [(0, &masks[..512]), (1, &masks[512..])] {
            let key = Aes128::on(context.backend, name(index).first_chunk().expect("32 bytes hold 16"));
            let mut wanted = vec![Block::ZERO; 512];
            let first = OneOfN::tweak(if index == 0 { 4094 } else { 4096 });
            context.backend.tccr::<1>(&key, first, &zeros[..512], &mut wanted);
            assert_eq!(part, wanted, "key {index}");
        }
    }

    #[test]
    fn short_messages_lie_beside_each_other() {
        for width in 1..=8 {
            let values: Vec<u8> =
                (0..50u8).map(|i| i.wrapping_mul(37) & ((1u16 << width) - 1) as u8).collect();
            let mut packed = vec![0; bytes(50 * width)];
            for (i, value) in values.iter().enumerate() {
                put(&mut packed, i * width, width, *value);
            }
            for (i, value) in values.iter().enumerate() {
                assert_eq!(get(&packed, i * width, width), *value);
                assert_eq!(bit(&packed, i * width), value & 1);
            }
        }
    }
}
