//! The 10-local code with coefficients in GF(2^128).

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Gf128};
use hushwire_simd::clmul::Clmul;

/// Table entries of an output. SECURITY.
const LOCAL: usize = 10;
/// Blocks of the public stream for an output: 12 words, of which ten are indices, and ten coefficients.
const STREAM: usize = 3 + LOCAL;
/// Outputs whose stream is made at once. LOCAL.
const PIECE: usize = 64;

/// Adds to output j of every column the same combination of that column's table: ten entries, at words of blocks 13 j to
/// 13 j + 2 of the stream modulo the table's length, times blocks 13 j + 3 to 13 j + 12. The first output is number
/// `first`.
///
/// The places of the entries are public. The length of the tables is a power of two.
pub(super) fn accumulate(
    backend: Backend,
    key: &Aes128,
    first: u128,
    tables: &[&[Block]],
    columns: &mut [&mut [Block]],
) {
    let clmul = Clmul::best();
    let mut stream = [Block::ZERO; PIECE * STREAM];
    let len = columns.first().map_or(0, |column| column.len());
    for start in (0..len).step_by(PIECE) {
        let end = len.min(start + PIECE);
        let stream = &mut stream[..(end - start) * STREAM];
        backend.counter_blocks(key, (first + start as u128) * STREAM as u128, stream);
        for (j, code) in (start..end).zip(stream.chunks_exact(STREAM)) {
            let coefficients: [Gf128; LOCAL] = core::array::from_fn(|i| Gf128::from(code[3 + i]));
            for (table, column) in tables.iter().zip(columns.iter_mut()) {
                let entries: [Block; LOCAL] =
                    core::array::from_fn(|i| table[word(code, i) as usize & (table.len() - 1)]);
                column[j] ^= Gf128::inner_blocks(&coefficients, &entries, clmul).into();
            }
        }
    }
}

/// Word `i` of the blocks.
fn word(blocks: &[Block], i: usize) -> u32 {
    (blocks[i / 4].to_u128() >> (32 * (i % 4))) as u32
}
