//! Transposition against its definition, on every tier and capability.

use hushwire_block::transpose::{bits, bits_with};
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
