//! Computes the values of digests.

use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes};
use hushwire_simd::{Kernel, Lanes};

use super::rows::{BATCH, Band, GROUP, Makes, Sum, WORDS, plane, seed};
use crate::okvs::Digest;

/// The number of groups of eight entries that a band overlaps.
const REACH: usize = 8 * WORDS + 1;

/// The values of one bin's digests. This is fast if neighbouring digests start near each other.
pub(crate) fn decode<'a>(
    backend: Backend,
    band: &Band,
    bin: &[Block],
    digests: impl Iterator<Item = &'a Digest>,
    out: &mut [Block],
) {
    let makes = Makes::new(backend);
    let half =
        |half: fn(u128) -> u64| plane(bin.iter().map(|entry| half(entry.to_u128())), bin.len(), 8 * REACH);
    let planes = [half(|entry| entry as u64), half(|entry| (entry >> 64) as u64)];
    let mut digests = digests.map(|digest| (band.start(digest), seed(digest)));
    let (mut starts, mut seeds, mut bands) = ([0; BATCH], [Block::ZERO; BATCH], [[0; WORDS]; BATCH]);
    for out in out.chunks_mut(BATCH) {
        for (i, (start, seed)) in digests.by_ref().take(out.len()).enumerate() {
            (starts[i], seeds[i]) = (start, seed);
        }
        let bands = &mut bands[..out.len()];
        band.rows(&makes, seeds.into_iter(), bands);
        backend.run(Sums {
            planes: planes.each_ref().map(|plane| as_bytes(plane)),
            starts: &starts,
            bands,
            out,
        });
    }
}

/// The sums of the entries that bands select.
struct Sums<'a> {
    planes: [&'a [u8]; 2],
    starts: &'a [u32],
    bands: &'a [[u64; WORDS]],
    out: &'a mut [Block],
}

impl Kernel for Sums<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for ((start, band), out) in self.starts.iter().zip(self.bands).zip(self.out) {
            let (first, shift) = (*start as usize / 8 * GROUP, start % 8);
            let (mut bits, mut carry) = ([0; 8 * WORDS + 8], 0);
            for (word, bits) in band.iter().zip(bits.chunks_exact_mut(8)) {
                bits.copy_from_slice(&(word << shift | carry).to_le_bytes());
                carry = word >> 1 >> (63 - shift);
            }
            bits[REACH - 1] = carry as u8;
            let [low, high] =
                self.planes.map(|plane| plane[first..first + GROUP * REACH].chunks_exact(GROUP));
            let mut sum = [Sum::new(l); 2];
            for ((bits, low), high) in bits[..REACH].iter().zip(low).zip(high) {
                sum[0].add(l, low, *bits);
                sum[1].add(l, high, *bits);
            }
            let [low, high] = sum.map(|sum| sum.total(l));
            *out = Block::from_u128(u128::from(high) << 64 | u128::from(low));
        }
    }
}
