//! The receiver's cuckoo table, and the digests of items under each hash function.

use hushwire_aes::Backend;
use hushwire_ot::Context;
use hushwire_prg::{Prg, Seed};

use crate::PsiError;
use crate::hashes::Hashes;
use crate::okvs::Digest;

/// The number of hash functions.
pub(super) const HASHES: usize = 3;
/// AGREEMENT: separates digests of (item, hash function) from any other use of BLAKE3.
const DOMAIN: &str = "hushwire psi item and function v1";
/// LOCAL: the number of evictions for an item before the table is tried again, and the number of
/// tries.
const EVICTIONS: usize = 2000;
const TRIES: u64 = 8;
/// The item number of an empty bin.
const EMPTY: u32 = u32::MAX;

/// The hash functions that place items.
pub(super) struct BinPlaces {
    bins: usize,
    key: [u8; 32],
}

impl BinPlaces {
    pub(super) fn new(context: &Context, bins: usize) -> Self {
        BinPlaces { bins, key: blake3::derive_key(DOMAIN, &context.sid.0) }
    }

    /// The item's bin under function `j`.
    pub(super) fn bin(&self, digest: &Digest, j: usize) -> usize {
        let mut word = [0; 8];
        word.copy_from_slice(&digest[8 * j..8 * j + 8]);
        ((u128::from(u64::from_le_bytes(word)) * self.bins as u128) >> 64) as usize
    }

    /// The digests of (item, j).
    pub(super) fn digests(
        &self,
        backend: Backend,
        items: impl ExactSizeIterator<Item = (Digest, u8)>,
    ) -> Vec<Digest> {
        let mut digests = Vec::with_capacity(items.len());
        let inputs = items.map(|(digest, j)| {
            let mut input = [0; 33];
            input[..32].copy_from_slice(&digest);
            input[32] = j;
            input
        });
        Hashes::new(backend, self.key).each(inputs, |_, digest| digests.push(*digest));
        digests
    }

    /// Puts different items into bins. Returns the item's number and function for each bin, or
    /// `None`.
    ///
    /// # Errors
    /// [`PsiError::NoStore`], with probability below 2^−40.
    pub(super) fn cuckoo(
        &self,
        context: &Context,
        digests: &[Digest],
        seed: &Seed,
    ) -> Result<Vec<Option<(u32, u8)>>, PsiError> {
        (0..TRIES).find_map(|attempt| self.attempt(context, digests, seed, attempt)).ok_or(PsiError::NoStore)
    }

    fn attempt(
        &self,
        context: &Context,
        digests: &[Digest],
        seed: &Seed,
        attempt: u64,
    ) -> Option<Vec<Option<(u32, u8)>>> {
        let seed = seed.derive("psi cuckoo", &attempt.to_le_bytes());
        let mut random = Prg::new(context.backend, &seed, "evictions");
        let mut table = vec![(EMPTY, 0); self.bins];
        for item in 0..digests.len() as u32 {
            let mut homeless = (item, EMPTY);
            for step in 0.. {
                let digest = &digests[homeless.0 as usize];
                let free = (0..HASHES).find(|j| table[self.bin(digest, *j)].0 == EMPTY);
                if let Some(j) = free {
                    table[self.bin(digest, j)] = (homeless.0, j as u8);
                    break;
                }
                if step == EVICTIONS {
                    return None;
                }
                let j = (random.next_u64() % HASHES as u64) as usize;
                let bin = self.bin(digest, j);
                homeless.0 = core::mem::replace(&mut table[bin], (homeless.0, j as u8)).0;
            }
        }
        Some(table.into_iter().map(|(item, j)| (item != EMPTY).then_some((item, j))).collect())
    }
}

/// The numbers of the different items, each at its first occurrence. Also, for every item, the
/// index among them of the item that equals it.
pub(super) fn distinct(digests: &[Digest]) -> (Vec<u32>, Vec<u32>) {
    // Items are sorted by their first bytes, which are stored next to the number. Whole digests
    // decide if those bytes are equal.
    let start = |digest: &Digest| u64::from_be_bytes(*digest.first_chunk().expect("32 bytes hold 8"));
    let mut order: Vec<(u64, u32)> = digests.iter().map(start).zip(0..).collect();
    order.sort_unstable();
    for run in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        run.sort_unstable_by_key(|(_, i)| (digests[*i as usize], *i));
    }
    let (mut firsts, mut like) = (Vec::with_capacity(order.len()), vec![0; order.len()]);
    for (at, (start, item)) in order.iter().enumerate() {
        let same = |(before, other): &(u64, u32)| {
            before == start && digests[*other as usize] == digests[*item as usize]
        };
        if at == 0 || !same(&order[at - 1]) {
            firsts.push(*item);
        }
        like[*item as usize] = firsts.len() as u32 - 1;
    }
    (firsts, like)
}
