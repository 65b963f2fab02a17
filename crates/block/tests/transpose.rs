//! Compares transposition with its definition, on every tier and capability.

use hushwire_block::transpose::{bits, bits_with, rows64, rows128};
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Tier, cpu};

fn noise(n: usize) -> Vec<u8> {
    let mut s = n as u64 | 0x1234_5678_9abc_def1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

fn naive(src: &[u8], rows: usize, cols: usize) -> Vec<u8> {
    let mut dst = vec![0; src.len()];
    for r in 0..rows {
        for c in 0..cols {
            let bit = src[r * cols / 8 + c / 8] >> (c % 8) & 1;
            dst[c * rows / 8 + r / 8] |= bit << (r % 8);
        }
    }
    dst
}

#[test]
fn every_shape_on_every_tier() {
    let narrow = [8, 16, 120, 128, 136, 264].into_iter().flat_map(|r| {
        [8, 64, 120, 128, 248, 256, 504, 512, 520, 1024, 1536].into_iter().map(move |c| (r, c))
    });
    let strips = [
        (128, 4096 + 8),
        (128, 16384),
        (128, 3 * 16384 + 520),
        (136, 40_000),
        (256, 8192 + 512),
        (1024, 128),
        (8, 5000),
    ];
    for (rows, cols) in narrow.chain(strips) {
        let src = noise(rows * cols / 8);
        let want = naive(&src, rows, cols);
        for &tier in cpu().tiers() {
            for gfni in [false, true] {
                let mut got = vec![0xff; src.len()];
                bits_with(tier, gfni, &src, rows, cols, &mut got);
                assert!(got == want, "{rows} × {cols} on {tier}, gfni={gfni}");
            }
        }
    }
}

#[test]
fn rows_of_blocks_to_columns() {
    for width in [1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 100, 257, 260] {
        let mut rows = vec![Block::ZERO; 128 * width];
        as_bytes_mut(&mut rows).copy_from_slice(&noise(2048 * width));
        let want = naive(as_bytes(&rows), 128, 128 * width);
        let half: Vec<u64> = naive(as_bytes(&rows[..64 * width]), 64, 128 * width)
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect();
        for &tier in cpu().tiers() {
            for gfni in [false, true] {
                let mut got = vec![Block::ONES; rows.len()];
                rows128(tier, gfni, &rows, &mut got);
                assert!(as_bytes(&got) == want, "128 rows of {width} blocks on {tier}, gfni={gfni}");
                let mut got = vec![7; half.len()];
                rows64(tier, gfni, &rows[..64 * width], &mut got);
                assert!(got == half, "64 rows of {width} blocks on {tier}, gfni={gfni}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "not 128 rows")]
fn ragged_rows_are_refused() {
    rows128(Tier::Portable, false, &[Block::ZERO; 130], &mut [Block::ZERO; 130]);
}

#[test]
fn twice_is_nothing_and_empty_is_allowed() {
    let src = noise(128 * 640 / 8);
    let (mut once, mut twice) = (vec![0; src.len()], vec![0; src.len()]);
    bits(cpu().best(), &src, 128, 640, &mut once);
    bits(cpu().best(), &once, 640, 128, &mut twice);
    assert_eq!(src, twice);
    bits(Tier::Portable, &[], 128, 0, &mut []);
}

#[test]
#[should_panic(expected = "whole bytes")]
fn partial_bytes_are_refused() {
    bits(Tier::Portable, &[0; 2], 4, 4, &mut [0; 2]);
}
