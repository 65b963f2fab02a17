//! Keyed BLAKE3 for many short messages: sixteen at a time, with one word of each message in a
//! vector.
//!
//! A message of up to 64 bytes is one block, and so one call of the compression function (BLAKE3's
//! paper, sections 2.2 and 2.4). A single call spends most of its time waiting for its own results.
//! Longer messages go to [`blake3`].
//!
//! **Constant time.** The function takes constant time. The time reveals whether a message is
//! longer than a block.

use hushwire_aes::Backend;
use hushwire_simd::{Kernel, Lanes};
use zeroize::Zeroize;

/// LOCAL: the number of messages that are hashed together.
const ABREAST: usize = 16;
/// The bytes of a block.
const BLOCK: usize = 64;

/// One word of every message.
type LaneWords = [u32; ABREAST];

const IV: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
/// The order of a round's words, relative to the round before.
const ORDER: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const ROUNDS: usize = 7;
/// The flags of the first and last block of the only chunk, the root, under a key.
const FLAGS: u32 = 1 | 1 << 1 | 1 << 3 | 1 << 4;

/// The hash under one key.
#[derive(Clone)]
pub(crate) struct Hashes {
    backend: Backend,
    key: [u8; 32],
}

impl Hashes {
    pub(crate) fn new(backend: Backend, key: [u8; 32]) -> Self {
        Hashes { backend, key }
    }

    /// Calls `take` with the number and the hash of every message, in order.
    pub(crate) fn each<M: AsRef<[u8]>>(
        &self,
        messages: impl IntoIterator<Item = M>,
        mut take: impl FnMut(usize, &[u8; 32]),
    ) {
        let mut batch = Batch { message: [[0; ABREAST]; 16], lens: [0; ABREAST], hashes: [[0; ABREAST]; 8] };
        let mut long = [None; ABREAST];
        let key = self.key.as_chunks::<4>().0;
        let key: [u32; 8] = core::array::from_fn(|i| u32::from_le_bytes(key[i]));
        let mut messages = messages.into_iter();
        let mut first = 0;
        loop {
            let mut count = 0;
            for message in messages.by_ref().take(ABREAST) {
                long[count] = batch
                    .put(count, message.as_ref())
                    .err()
                    .map(|TooLong| *blake3::keyed_hash(&self.key, message.as_ref()).as_bytes());
                count += 1;
            }
            if count == 0 {
                break;
            }
            self.backend.run(Compress { key: &key, batch: &mut batch });
            for (i, long) in long[..count].iter().enumerate() {
                take(first + i, &long.unwrap_or_else(|| batch.hash(i)));
            }
            first += count;
        }
        batch.message.zeroize();
    }
}

struct TooLong;

/// Messages and their hashes.
struct Batch {
    message: [LaneWords; 16],
    lens: LaneWords,
    hashes: [LaneWords; 8],
}

impl Batch {
    #[inline(always)]
    fn put(&mut self, at: usize, message: &[u8]) -> Result<(), TooLong> {
        if message.len() > BLOCK {
            return Err(TooLong);
        }
        let (words, rest) = message.as_chunks::<4>();
        for (to, word) in self.message.iter_mut().zip(words) {
            to[at] = u32::from_le_bytes(*word);
        }
        if words.len() < 16 {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            self.message[words.len()][at] = u32::from_le_bytes(last);
            self.message[words.len() + 1..].iter_mut().for_each(|to| to[at] = 0);
        }
        self.lens[at] = message.len() as u32;
        Ok(())
    }

    #[inline(always)]
    fn hash(&self, at: usize) -> [u8; 32] {
        let mut hash = [0; 32];
        for (bytes, words) in hash.as_chunks_mut::<4>().0.iter_mut().zip(&self.hashes) {
            *bytes = words[at].to_le_bytes();
        }
        hash
    }
}

struct Compress<'a> {
    key: &'a [u32; 8],
    batch: &'a mut Batch,
}

impl Kernel for Compress<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Compress { key, batch } = self;
        let mut v = [[0; ABREAST]; 16];
        for i in 0..8 {
            v[i] = [key[i]; ABREAST];
        }
        for i in 0..4 {
            v[8 + i] = [IV[i]; ABREAST];
        }
        (v[14], v[15]) = (batch.lens, [FLAGS; ABREAST]);
        let mut order: [usize; 16] = core::array::from_fn(|i| i);
        for _ in 0..ROUNDS {
            let m = |i: usize| &batch.message[order[i]];
            mix(&mut v, [0, 4, 8, 12], m(0), m(1));
            mix(&mut v, [1, 5, 9, 13], m(2), m(3));
            mix(&mut v, [2, 6, 10, 14], m(4), m(5));
            mix(&mut v, [3, 7, 11, 15], m(6), m(7));
            mix(&mut v, [0, 5, 10, 15], m(8), m(9));
            mix(&mut v, [1, 6, 11, 12], m(10), m(11));
            mix(&mut v, [2, 7, 8, 13], m(12), m(13));
            mix(&mut v, [3, 4, 9, 14], m(14), m(15));
            order = ORDER.map(|i| order[i]);
        }
        let (low, high) = v.split_at(8);
        for (out, (low, high)) in batch.hashes.iter_mut().zip(low.iter().zip(high)) {
            *out = core::array::from_fn(|i| low[i] ^ high[i]);
        }
    }
}

/// BLAKE3's function G on four words of the state, for every message.
#[inline(always)]
fn mix(v: &mut [LaneWords; 16], [a, b, c, d]: [usize; 4], x: &LaneWords, y: &LaneWords) {
    for i in 0..ABREAST {
        let [mut p, mut q, mut r, mut s] = [v[a][i], v[b][i], v[c][i], v[d][i]];
        p = p.wrapping_add(q).wrapping_add(x[i]);
        s = (s ^ p).rotate_right(16);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_right(12);
        p = p.wrapping_add(q).wrapping_add(y[i]);
        s = (s ^ p).rotate_right(8);
        r = r.wrapping_add(s);
        q = (q ^ r).rotate_right(7);
        (v[a][i], v[b][i], v[c][i], v[d][i]) = (p, q, r, s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn hashes_are_those_of_the_library(
            key in any::<[u8; 32]>(),
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..40),
        ) {
            for backend in Backend::all() {
                let mut found = vec![];
                Hashes::new(backend, key).each(&messages, |i, hash| found.push((i, *hash)));
                let all = messages.iter().enumerate();
                let expected: Vec<_> = all.map(|(i, m)| (i, *blake3::keyed_hash(&key, m).as_bytes())).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn every_length_of_a_block_is_hashed() {
        let bytes: Vec<u8> = (0..=200).collect();
        let messages: Vec<&[u8]> = (0..=130).map(|len| &bytes[..len]).collect();
        let mut count = 0;
        Hashes::new(Backend::best(), [7; 32]).each(&messages, |i, hash| {
            assert_eq!(hash, blake3::keyed_hash(&[7; 32], messages[i]).as_bytes(), "{i} bytes");
            count += 1;
        });
        assert_eq!(count, 131);
    }
}
