//! The sender's part of a chunk's message: it adds the received row to the rows of each tree whose
//! bit of Δ is set.

use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

use super::delta::Delta;

/// `k` rows of `width` bytes for each tree, and a row of `sent` for each tree but the first.
struct Masked<'a> {
    delta: &'a Delta,
    k: usize,
    width: usize,
    sent: &'a [u8],
    rows: &'a mut [u8],
}

impl Kernel for Masked<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Masked { delta, k, width, sent, rows } = self;
        let whole = width - width % L::BYTES;
        for (i, row) in rows.chunks_exact_mut(width).enumerate().skip(k) {
            let tree = i / k - 1;
            let sent = &sent[tree * width..(tree + 1) * width];
            let mask = delta.mask(i).to_le_bytes();
            let wide = l.splat(&mask);
            let mut at = 0;
            while at < whole {
                let sum = l.xor(l.load(&row[at..]), l.and(wide, l.load(&sent[at..])));
                l.store(sum, &mut row[at..]);
                at += L::BYTES;
            }
            for at in whole..width {
                row[at] ^= mask[at % 16] & sent[at];
            }
        }
    }
}

/// Computes `row[i k + b] ⊕= Δ[i k + b] · sent[i − 1]` for every tree i ≥ 1, with masks.
pub(super) fn add_masked(backend: Backend, delta: &Delta, k: usize, sent: &[Block], rows: &mut [Block]) {
    let (sent, rows) = (as_bytes(sent), as_bytes_mut(rows));
    let width = rows.len() / delta.rows();
    backend.run(Masked { delta, k, width, sent, rows });
}
