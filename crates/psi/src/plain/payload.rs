//! Payloads: bytes that accompany the sender's items, and that only a party with an item can read.
//!
//! ```text
//! x(y)     Decode + h(y)Δ (malicious: + w_R + w_S): the input of H, not its output
//! K(y)     BLAKE3 keyed by "payload key", of x(y) ‖ d(y): 32 bytes
//! sealed   p(y) ⊕ pad(K(y)), then the seal: BLAKE3 keyed by K(y) of these bytes, 8 bytes of it
//! pad(K)   BLAKE3 keyed by "payload pad", of K ‖ 0, K ‖ 1, …
//! ```
//!
//! **Security.** Value and key are two hashes of one input, in different domains. The value, which
//! everybody sees, reveals nothing about the key. For an item that the receiver does not have, the
//! input is a known term plus a nonzero multiple of Δ, as in [`super`]: T calls of BLAKE3, a random
//! oracle, find it with probability T · n_S / 2^127. A key seals one payload of one session.
//! Payloads have one length and the order of values, with random ones in place of missing items. So
//! messages depend on n_S and that length alone.
//!
//! **A payload that does not open** is the sender's fault, since the receiver has the keys of
//! common items alone. Ending a run because of it would tell a corrupted sender that the item is
//! common. Therefore it is counted ([`Opened::damaged`]), no message depends on it, and payloads
//! are opened after the last message.

use core::ops::Range;

use hushwire_block::Block;
use hushwire_ot::Context;
use hushwire_prg::Prg;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{ItemDigest, Parameters};
use crate::{PsiError, hashes::Hashes};

/// AGREEMENT: separate keys and pads of payloads from any other use of BLAKE3, and from each other.
const KEY_DOMAIN: &str = "hushwire psi payload key v1";
const PAD_DOMAIN: &str = "hushwire psi payload pad v1";
/// AGREEMENT: the bytes of a seal. A seal is checked once for an item, under the item's own key.
pub(super) const SEAL: usize = 8;
/// AGREEMENT: the bytes of a message, unless a single payload is longer.
const MESSAGE: usize = 1 << 20;
/// The bytes of a hash.
const HASH: usize = 32;

/// The key of an item's payload.
pub(super) type Key = [u8; HASH];

/// Payloads of one length, one for each item, in their order. Wiped when dropped.
///
/// ```text
/// record  payload, room for its seal 8
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payloads {
    width: usize,
    count: usize,
    bytes: Zeroizing<Vec<u8>>,
}

impl Payloads {
    /// An empty list with space for `items` payloads of `width` bytes.
    #[must_use]
    pub fn new(width: usize, items: usize) -> Self {
        let room = if width == 0 { 0 } else { items * (width + SEAL) };
        Self { width, count: 0, bytes: Zeroizing::new(Vec::with_capacity(room)) }
    }

    /// `items` payloads of zeros.
    fn zeros(width: usize, items: usize) -> Self {
        let mut all = Self::new(width, items);
        let bytes = items * all.record();
        all.bytes.resize(bytes, 0);
        all.count = items;
        all
    }

    /// Appends the payload of the next item, followed by zeros if it is shorter.
    ///
    /// # Panics
    /// If it is longer than a payload (the caller's bug).
    pub fn push(&mut self, payload: &[u8]) {
        assert!(payload.len() <= self.width, "a payload of the length agreed on");
        self.bytes.extend_from_slice(payload);
        self.count += 1;
        let bytes = self.count * self.record();
        self.bytes.resize(bytes, 0);
    }

    /// The number of payloads.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The payload of item `i`.
    ///
    /// # Panics
    /// If there are not that many (the caller's bug).
    #[must_use]
    pub fn get(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.record()..][..self.width]
    }

    /// The bytes of a payload.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    fn record(&self) -> usize {
        if self.width == 0 { 0 } else { self.width + SEAL }
    }

    fn sealed(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.record()..][..self.record()]
    }

    fn sealed_mut(&mut self, i: usize) -> &mut [u8] {
        let record = self.record();
        &mut self.bytes[i * record..][..record]
    }
}

/// The receiver's result of a run with payloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The indices of its items that the sender has too, ascending.
    pub common: Vec<u32>,
    /// The sender's payload of each; zeros if it did not open.
    pub payloads: Payloads,
    /// The number of payloads that did not open.
    ///
    /// SECURITY: nothing that the sender can see may depend on it. Otherwise the sender learns
    /// whether the receiver has the items whose payloads it damaged.
    pub damaged: usize,
}

impl Opened {
    /// Refuses damaged payloads. Call it when the sender no longer waits for anything.
    ///
    /// # Errors
    /// If a payload did not open.
    pub fn check(&self) -> Result<(), PsiError> {
        if self.damaged == 0 { Ok(()) } else { Err(PsiError::Abort { peer: None, check: "payload" }) }
    }
}

/// The split of sealed payloads into messages.
#[derive(Clone, Copy)]
pub(super) struct Pieces {
    items: usize,
    record: usize,
}

impl Pieces {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let bytes = parameters.payload_bytes;
        Pieces { items: parameters.sender_items, record: if bytes == 0 { 0 } else { bytes + SEAL } }
    }

    /// The number of messages; 0 without payloads.
    pub(super) fn count(&self) -> usize {
        if self.record == 0 { 0 } else { self.items.div_ceil(self.most()) }
    }

    fn most(&self) -> usize {
        (MESSAGE / self.record).max(1)
    }

    /// The range of values whose payloads are in message `piece`.
    pub(super) fn range(&self, piece: usize) -> Range<usize> {
        piece * self.most()..self.items.min((piece + 1) * self.most())
    }

    pub(super) fn bytes(&self, piece: usize) -> usize {
        self.range(piece).len() * self.record
    }
}

/// The functions of payload keys.
pub(super) struct Seals {
    keys: Hashes,
    pads: Hashes,
}

impl Seals {
    pub(super) fn new(context: &Context) -> Self {
        let name = context.child("psi payload", 0).sid;
        let keyed = |domain| Hashes::new(context.backend, blake3::derive_key(domain, &name.0));
        Seals { keys: keyed(KEY_DOMAIN), pads: keyed(PAD_DOMAIN) }
    }

    /// Appends K of each digest, for the inputs `x` of H, to which `mask` is added.
    pub(super) fn keys(&self, mask: Block, digests: &[ItemDigest], x: &[Block], keys: &mut Vec<Key>) {
        let inputs = digests.iter().zip(x).map(|(digest, x)| {
            let mut input = [0; 48];
            input[..16].copy_from_slice(&(*x ^ mask).0);
            input[16..].copy_from_slice(digest);
            input
        });
        self.keys.each(inputs, |_, key| keys.push(*key));
    }

    /// Encrypts or decrypts the payloads at these places, without their seals.
    fn pad(&self, keys: &[Key], places: impl Fn(usize) -> usize, payloads: &mut Payloads) {
        let width = payloads.width;
        for begin in (0..width).step_by(HASH) {
            let inputs = keys.iter().map(|key| {
                let mut input = [0; HASH + 8];
                input[..HASH].copy_from_slice(key);
                input[HASH..].copy_from_slice(&((begin / HASH) as u64).to_le_bytes());
                input
            });
            self.pads.each(inputs, |i, pad| {
                let payload = &mut payloads.sealed_mut(places(i))[begin..width.min(begin + HASH)];
                payload.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
            });
        }
    }

    fn seal(&self, keys: &[Key], items: &[u32], payloads: &mut Payloads) {
        self.pad(keys, |i| items[i] as usize, payloads);
        for (key, item) in keys.iter().zip(items) {
            let record = payloads.sealed_mut(*item as usize).split_last_chunk_mut();
            if let Some((payload, to)) = record {
                *to = seal(key, payload);
            }
        }
    }

    /// Returns the number of payloads with a wrong seal, which become zeros.
    fn open(&self, keys: &[Key], payloads: &mut Payloads) -> usize {
        let good = keys.iter().enumerate().map(|(i, key)| opens(key, payloads.sealed(i)));
        let good: Vec<bool> = good.collect();
        self.pad(keys, |i| i, payloads);
        let bad = good.iter().enumerate().filter(|(_, good)| !**good);
        bad.map(|(i, _)| payloads.sealed_mut(i).fill(0)).count()
    }
}

fn seal(key: &Key, payload: &[u8]) -> [u8; SEAL] {
    let hash = blake3::keyed_hash(key, payload);
    core::array::from_fn(|i| hash.as_bytes()[i])
}

/// Whether a sealed payload opens under that key.
pub(super) fn opens(key: &Key, record: &[u8]) -> bool {
    let parts = record.split_last_chunk::<SEAL>();
    parts.is_some_and(|(payload, said)| seal(key, payload).ct_eq(said).into())
}

/// The sender's payloads, which are sealed bin by bin.
pub(super) struct Outgoing {
    seals: Seals,
    payloads: Payloads,
    keys: Zeroizing<Vec<Key>>,
}

impl Outgoing {
    pub(super) fn new(context: &Context, payloads: Payloads) -> Self {
        Outgoing { seals: Seals::new(context), payloads, keys: Zeroizing::default() }
    }

    /// Seals the payloads of a bin's items, whose numbers are `items`.
    pub(super) fn seal(&mut self, mask: Block, digests: &[ItemDigest], x: &[Block], items: &[u32]) {
        self.keys.clear();
        self.seals.keys(mask, digests, x, &mut self.keys);
        self.seals.seal(&self.keys, items, &mut self.payloads);
    }

    #[cfg(test)]
    pub(super) fn damage(&mut self, item: usize) {
        self.payloads.sealed_mut(item)[0] ^= 1;
    }

    /// Writes a message: the payloads of the items with these numbers, and random bytes for numbers
    /// without an item.
    pub(super) fn write(&self, items: impl Iterator<Item = u32>, prg: &mut Prg, out: &mut [u8]) {
        for (item, to) in items.zip(out.chunks_exact_mut(self.payloads.record())) {
            match item as usize {
                item if item < self.payloads.count() => to.copy_from_slice(self.payloads.sealed(item)),
                _ => prg.fill(to),
            }
        }
    }
}

/// The receiver's state: keys, then sealed payloads.
pub(super) struct Incoming {
    seals: Seals,
    /// The keys in the order of bins; later those of common items alone, in the order of their
    /// numbers.
    keys: Zeroizing<Vec<Key>>,
    /// The index of each common item's value in the list, ascending, and its rank among common
    /// items.
    wanted: Vec<[u32; 2]>,
    payloads: Payloads,
}

impl Incoming {
    pub(super) fn new(context: &Context, items: usize) -> Self {
        Incoming {
            seals: Seals::new(context),
            keys: Zeroizing::new(Vec::with_capacity(items)),
            wanted: Vec::new(),
            payloads: Payloads::default(),
        }
    }

    /// The keys of the next bin's items.
    pub(super) fn keys(&mut self, mask: Block, digests: &[ItemDigest], x: &[Block]) {
        self.seals.keys(mask, digests, x, &mut self.keys);
    }

    /// Sets the common items: for each, its number, the index of its value in the list, and its
    /// place in the order of bins.
    pub(super) fn want(&mut self, mut common: Vec<[u32; 3]>, width: usize) {
        common.sort_unstable();
        let keys = common.iter().map(|[_, _, place]| self.keys[*place as usize]).collect();
        self.keys = Zeroizing::new(keys);
        self.payloads = Payloads::zeros(width, common.len());
        self.wanted = common.iter().zip(0..).map(|([_, at, _], rank)| [*at, rank]).collect();
        self.wanted.sort_unstable();
    }

    /// Keeps a message's payloads of common items.
    pub(super) fn hear(&mut self, pieces: &Pieces, piece: usize, message: &[u8]) {
        let range = pieces.range(piece);
        let begin = self.wanted.partition_point(|[at, _]| (*at as usize) < range.start);
        for [at, rank] in self.wanted[begin..].iter().take_while(|[at, _]| (*at as usize) < range.end) {
            let at = (*at as usize - range.start) * pieces.record;
            let record = &message[at..at + pieces.record];
            self.payloads.sealed_mut(*rank as usize).copy_from_slice(record);
        }
    }

    #[cfg(test)]
    pub(super) fn its_keys(&self) -> &[Key] {
        &self.keys
    }

    /// Opens the payloads.
    pub(super) fn open(mut self, common: Vec<u32>) -> Opened {
        let damaged = self.seals.open(&self.keys, &mut self.payloads);
        Opened { common, payloads: self.payloads, damaged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_ot::Sid;
    use std::collections::HashSet;

    fn seals(sid: u8) -> Seals {
        Seals::new(&Context { sid: Sid([sid; 32]), backend: Backend::best() })
    }

    /// The key K depends on the session, the whole input with the masks, and the whole digest.
    #[test]
    fn keys_are_of_the_session_the_input_and_the_digest() {
        let key = |sid: u8, mask: u128, digest: ItemDigest, x: u128| {
            let mut keys = vec![];
            seals(sid).keys(Block::from_u128(mask), &[digest], &[Block::from_u128(x)], &mut keys);
            keys[0]
        };
        let digests = (0..32).map(|at| {
            let mut digest = [7; 32];
            digest[at] ^= 1;
            digest
        });
        let inputs = (0..128).map(|bit| 5 ^ 1 << bit);
        let all: Vec<Key> = digests
            .map(|digest| key(1, 0, digest, 5))
            .chain(inputs.clone().map(|x| key(1, 0, [7; 32], x)))
            .chain([key(1, 0, [7; 32], 5), key(2, 0, [7; 32], 5)])
            .collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 32 + 128 + 2);
        for (mask, x) in inputs.enumerate().map(|(bit, x)| (1u128 << bit, x)) {
            assert_eq!(key(1, mask, [7; 32], x), key(1, 0, [7; 32], 5), "masks are added to inputs");
        }
    }

    /// Every 32 bytes of a payload have a different pad, and so have different keys. Otherwise the
    /// sum of two records would be that of two payloads.
    #[test]
    fn pads_and_seals_are_of_their_place_and_key() {
        const WIDTH: usize = 5 * HASH;
        let keys: Vec<Key> = (0..4u8).map(|i| [i; 32]).collect();
        let mut payloads = Payloads::zeros(WIDTH, keys.len());
        seals(1).seal(&keys, &[0, 1, 2, 3], &mut payloads);
        let records: Vec<_> = (0..4).map(|i| payloads.sealed(i).to_vec()).collect();
        let pads: HashSet<_> = records.iter().flat_map(|record| record[..WIDTH].chunks(HASH)).collect();
        let ends: HashSet<_> = records.iter().map(|record| &record[WIDTH..]).collect();
        assert_eq!((pads.len(), ends.len()), (4 * 5, 4));
        assert!(!pads.contains(&[0; HASH][..]) && !ends.contains(&[0; SEAL][..]));
        // A seal depends on every byte that it seals.
        assert!(opens(&keys[0], &records[0]) && !opens(&keys[1], &records[0]));
        for at in 0..WIDTH + SEAL {
            let mut changed = records[0].clone();
            changed[at] ^= 4;
            assert!(!opens(&keys[0], &changed), "byte {at}");
        }
    }
}
