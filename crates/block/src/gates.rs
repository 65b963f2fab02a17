//! XOR gates over wires that are blocks: the free gates of garbled circuits.

use crate::{Block, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes, Tier, dispatch};

/// Gates that are checked at a time: they stay in the first cache until they run.
const GATES: usize = 256;

/// XORs in order, of `strip` copies each: copy `i` of gate `[a, b, out]` reads wires `a strip + i` and `b strip + i` and
/// writes `out strip + i`; `out` may be `a` or `b`.
///
/// # Panics
/// If a gate names a wire that does not exist (the caller's bug).
pub fn xor_gates(tier: Tier, wires: &mut [Block], strip: usize, gates: &[[u32; 3]]) {
    match strip {
        0 => {}
        1 => gates.chunks(GATES).for_each(|gates| single(wires, gates)),
        _ => dispatch(tier, false, Strips { bytes: as_bytes_mut(wires), strip, gates }),
    }
}

/// Gates on single wires, whose numbers are checked before the first of them runs.
fn single(wires: &mut [Block], gates: &[[u32; 3]]) {
    let last = wires.len().min(1 << 31) as u32;
    // The top bit of a difference says that a number below 2^31 is too large; one above has it in itself.
    let beyond = |w: u32| last.wrapping_sub(1).wrapping_sub(w) | w;
    let any = gates.as_flattened().iter().fold(0, |any, w| any | beyond(*w));
    assert!(last > 0 && any >> 31 == 0, "a gate names a wire that does not exist");
    let wires = wires.as_mut_ptr().cast::<[u64; 2]>();
    for [a, b, out] in gates {
        let [a, b, out] = [a, b, out].map(|w| *w as usize);
        // SAFETY: every number was checked to be less than the number of wires; a block is two words, of any alignment,
        // and every bit pattern is one.
        unsafe {
            let (a, b) = (wires.add(a).read_unaligned(), wires.add(b).read_unaligned());
            wires.add(out).write_unaligned([a[0] ^ b[0], a[1] ^ b[1]]);
        }
    }
}

/// Gates on several copies of every wire.
struct Strips<'a> {
    bytes: &'a mut [u8],
    strip: usize,
    gates: &'a [[u32; 3]],
}

impl Kernel for Strips<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Strips { bytes, strip, gates } = self;
        let len = 16 * strip;
        let whole = len / L::BYTES * L::BYTES;
        for gate in gates {
            let [a, b, out] = gate.map(|w| w as usize * len);
            assert!(a.max(b).max(out) + len <= bytes.len(), "a gate names a wire that does not exist");
            // Wires are the same or apart, so that a vector may be written before the next is read.
            for i in (0..whole).step_by(L::BYTES) {
                let x = l.xor(l.load(&bytes[a + i..]), l.load(&bytes[b + i..]));
                l.store(x, &mut bytes[out + i..]);
            }
            for i in (whole..len).step_by(16) {
                let block = |at: usize| Block(*bytes[at + i..].first_chunk().expect("it was checked"));
                let sum = block(a) ^ block(b);
                bytes[out + i..][..16].copy_from_slice(&sum.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_simd::cpu;

    fn naive(wires: &mut [Block], strip: usize, gates: &[[u32; 3]]) {
        for [a, b, out] in gates {
            for i in 0..strip {
                wires[*out as usize * strip + i] =
                    wires[*a as usize * strip + i] ^ wires[*b as usize * strip + i];
            }
        }
    }

    #[test]
    fn every_strip_and_tier_gives_what_single_gates_do() {
        let n = 23u32;
        // Sums of a wire with itself, into itself, and chains.
        let gates: Vec<[u32; 3]> =
            (0..600u32).map(|k| [k * 7 % n, (k * k + 3) % n, (k * 5 + k / 9) % n]).collect();
        for strip in [0, 1, 2, 3, 4, 5, 8, 9, 31, 64] {
            let wires: Vec<Block> = (0..u128::from(n) * strip as u128)
                .map(|i| (i * 0x1_0000_0000_0000_0067 + 1).into())
                .collect();
            let mut expected = wires.clone();
            naive(&mut expected, strip, &gates);
            for tier in cpu().tiers() {
                let mut found = wires.clone();
                xor_gates(*tier, &mut found, strip, &gates);
                assert!(found == expected, "{strip} copies, {tier}");
            }
        }
    }

    #[test]
    fn wires_that_do_not_exist_are_refused() {
        for strip in [1, 3] {
            for bad in [7, 8, 1 << 31, u32::MAX] {
                for place in 0..3 {
                    let mut gate = [6; 3];
                    gate[place] = bad;
                    let mut wires = vec![Block::ONES; 7 * strip];
                    let run = std::panic::AssertUnwindSafe(|| {
                        xor_gates(cpu().best(), &mut wires, strip, &[[0, 1, 2], gate]);
                    });
                    assert!(std::panic::catch_unwind(run).is_err(), "wire {bad} of 7, {strip} copies");
                }
            }
        }
        xor_gates(cpu().best(), &mut [], 1, &[]);
    }
}
