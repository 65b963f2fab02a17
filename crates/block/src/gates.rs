//! XOR gates over wires that are blocks: the free gates of garbled circuits.

use crate::{Block, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes, Tier, dispatch};
use std::ops::Range;

/// The number of gates that are checked together: they stay in the first-level cache until they
/// run.
const GATES: usize = 256;

/// Runs XOR gates in order, each on `strip` copies: copy `i` of gate `[a, b, out]` reads blocks `a
/// strip + i` and `b strip + i` and writes block `out strip + i`. `out` may be `a` or `b`.
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

/// Runs gates on single wires; checks the wires' numbers of a batch before the batch runs.
fn single(wires: &mut [Block], gates: &[[u32; 3]]) {
    let last = wires.len().min(1 << 31) as u32;
    // The top bit of the result is set if `w` exceeds the last wire: for numbers below 2^31 the
    // difference has this bit, for larger ones `w` itself.
    let beyond = |w: u32| last.wrapping_sub(1).wrapping_sub(w) | w;
    let any = gates.as_flattened().iter().fold(0, |any, w| any | beyond(*w));
    assert!(last > 0 && any >> 31 == 0, "a gate names a wire that does not exist");
    let wires = wires.as_mut_ptr().cast::<[u64; 2]>();
    for [a, b, out] in gates {
        let [a, b, out] = [a, b, out].map(|w| *w as usize);
        // SAFETY: every number was checked to be less than the number of wires. A block is two
        // words of any alignment, and every bit pattern is a block.
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
        let rows = bytes.len() / 16 / strip;
        for gate in gates {
            let [a, b, out] = gate.map(|w| w as usize);
            assert!(a.max(b).max(out) < rows, "a gate names a wire that does not exist");
            // SAFETY: these are indices of rows that `bytes` has.
            unsafe { sum_rows(l, bytes.as_mut_ptr(), 16 * strip, [a, b], out) };
        }
    }
}

/// Writes the sum of the rows `from`, each of `len` bytes, to the row `out`, which may be one of
/// them. It does not check bounds, since a check for each vector would be most of the instructions.
///
/// # Safety
/// The bytes that `bytes` points to contain all these rows, and `len` is a multiple of 16.
#[inline(always)]
unsafe fn sum_rows<L: Lanes, const N: usize>(l: L, bytes: *mut u8, len: usize, from: [usize; N], out: usize) {
    const { assert!(N == 2 || N == 3, "sums of two or three") };
    let whole = len / L::BYTES * L::BYTES;
    // SAFETY: guaranteed by the caller. A vector or block is read before it is written, and no
    // reference to it exists then.
    unsafe {
        for i in (0..whole).step_by(L::BYTES) {
            let mut x = [l.zero(); N];
            for (x, row) in x.iter_mut().zip(from) {
                *x = l.load(std::slice::from_raw_parts(bytes.add(row * len + i), L::BYTES));
            }
            let sum = if N == 3 { l.xor3(x[0], x[1], x[N - 1]) } else { l.xor(x[0], x[1]) };
            l.store(sum, std::slice::from_raw_parts_mut(bytes.add(out * len + i), L::BYTES));
        }
        for i in (whole..len).step_by(16) {
            let block = |row: usize| bytes.add(row * len + i).cast::<[u64; 2]>();
            let sum = from.iter().fold([0; 2], |[low, high], row| {
                let x = block(*row).read_unaligned();
                [low ^ x[0], high ^ x[1]]
            });
            block(out).write_unaligned(sum);
        }
    }
}

/// A list of gates that add three wires, `[a, b, c, out]`, in order; `out` may be one of the
/// others. It is for lists that run many times: the wires' numbers are checked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TripleSums {
    gates: NumberedGates,
    /// One more than the largest number of a wire.
    wires: usize,
}

/// Twice the wires' numbers: the indices of their 64-bit words. A run reads a long list from beyond
/// the second-level cache, so that short numbers are faster.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NumberedGates {
    Short(Vec<[u16; 4]>),
    Long(Vec<[u32; 4]>),
}

impl TripleSums {
    /// Checks a list of gates.
    ///
    /// # Panics
    /// If a number is 2^31 or more (the caller's bug).
    #[must_use]
    pub fn new(mut gates: Vec<[u32; 4]>) -> TripleSums {
        let wires = gates.as_flattened().iter().max().map_or(0, |most| *most as usize + 1);
        assert!(wires <= 1 << 31, "wires have numbers below 2^31");
        gates.as_flattened_mut().iter_mut().for_each(|w| *w *= 2);
        if wires <= 1 << 15 {
            let gates = NumberedGates::Short(gates.iter().map(|gate| gate.map(|w| w as u16)).collect());
            return TripleSums { gates, wires };
        }
        TripleSums { gates: NumberedGates::Long(gates), wires }
    }

    /// Runs the gates in `range`, inlined into the caller's kernel.
    ///
    /// # Panics
    /// If a gate of the list names a wire that does not exist, or the list ends before `range` (the
    /// caller's bug).
    #[inline(always)]
    pub fn run_here(&self, range: Range<usize>, wires: &mut [Block]) {
        assert!(self.wires <= wires.len(), "a gate names a wire that does not exist");
        // SAFETY: half of every number is below `self.wires`, which is at most the number of wires.
        unsafe {
            match &self.gates {
                NumberedGates::Short(gates) => singles(&gates[range], wires),
                NumberedGates::Long(gates) => singles(&gates[range], wires),
            }
        }
    }

    /// Runs the gates in `range`, each on `strip` copies: copy `i` of wire `w` is block `w strip +
    /// i`.
    ///
    /// # Panics
    /// If a gate of the list names a wire that does not exist, or the list ends before `range` (the
    /// caller's bug).
    pub fn run(&self, tier: Tier, range: Range<usize>, wires: &mut [Block], strip: usize) {
        let room = self.wires.checked_mul(strip);
        assert!(room.is_some_and(|room| room <= wires.len()), "a gate names a wire that does not exist");
        // SAFETY: half of every number is below `self.wires`, and there are at least `strip` times
        // as many blocks.
        unsafe {
            match &self.gates {
                NumberedGates::Short(gates) => sums(tier, &gates[range], wires, strip),
                NumberedGates::Long(gates) => sums(tier, &gates[range], wires, strip),
            }
        }
    }
}

/// Runs gates on `strip` copies.
///
/// # Safety
/// Half of each number plus one, times `strip`, is at most the number of blocks.
unsafe fn sums<W: Copy + Into<u32>>(tier: Tier, gates: &[[W; 4]], wires: &mut [Block], strip: usize) {
    match strip {
        0 => {}
        // SAFETY: guaranteed by the caller.
        1 => unsafe { singles(gates, wires) },
        _ => dispatch(tier, false, StripSums { bytes: as_bytes_mut(wires), strip, gates }),
    }
}

/// Runs gates on single wires.
///
/// # Safety
/// Half of each number is less than the number of wires.
#[inline(always)]
unsafe fn singles<W: Copy + Into<u32>>(gates: &[[W; 4]], wires: &mut [Block]) {
    let words = wires.as_mut_ptr().cast::<u64>();
    for gate in gates {
        // SAFETY: the caller checked the numbers. A block is two words of any alignment, and every
        // bit pattern is a block.
        unsafe {
            let [a, b, c, out] = gate.map(|w| words.add(w.into() as usize).cast::<[u64; 2]>());
            let (a, b, c) = (a.read_unaligned(), b.read_unaligned(), c.read_unaligned());
            out.write_unaligned([a[0] ^ b[0] ^ c[0], a[1] ^ b[1] ^ c[1]]);
        }
    }
}

/// Sums on several copies of every wire.
struct StripSums<'a, W> {
    bytes: &'a mut [u8],
    strip: usize,
    gates: &'a [[W; 4]],
}

impl<W: Copy + Into<u32>> Kernel for StripSums<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let StripSums { bytes, strip, gates } = self;
        let rows = bytes.len() / 16 / strip;
        for gate in gates {
            let [a, b, c, out] = gate.map(|w| w.into() as usize / 2);
            assert!(a.max(b).max(c).max(out) < rows, "a gate names a wire that does not exist");
            // SAFETY: these are indices of rows that `bytes` has.
            unsafe { sum_rows(l, bytes.as_mut_ptr(), 16 * strip, [a, b, c], out) };
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
        // Sums of a wire with itself, sums into an operand, and chains.
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
    fn sums_are_two_gates_in_one() {
        let all = [0, 1, 2, 3, 4, 5, 8, 31].map(|strip| (23u32, strip));
        // The last numbers that are stored short, and the first that are not.
        for (n, strip) in
            all.into_iter().chain([(1 << 15, 1), (1 << 15, 3), ((1 << 15) + 1, 1), ((1 << 15) + 1, 3)])
        {
            let from_last = |w: u32| n - 1 - w % 23;
            let sums: Vec<[u32; 4]> =
                (0..300u32).map(|k| [k * 7, k * k + 3, k * 11, k * 5 + k / 9].map(from_last)).collect();
            let list = TripleSums::new(sums.clone());
            assert_eq!(matches!(list.gates, NumberedGates::Short(_)), n <= 1 << 15);
            let wires: Vec<Block> = (0..u128::from(n) * strip as u128)
                .map(|i| (i * 0x1_0000_0000_0000_0067 + 1).into())
                .collect();
            let mut expected = wires.clone();
            for [a, b, c, out] in &sums[40..] {
                for i in 0..strip {
                    let wire = |w: &u32| expected[*w as usize * strip + i];
                    expected[*out as usize * strip + i] = wire(a) ^ wire(b) ^ wire(c);
                }
            }
            for tier in cpu().tiers() {
                let mut found = wires.clone();
                list.run(*tier, 40..170, &mut found, strip);
                list.run(*tier, 170..300, &mut found, strip);
                assert!(found == expected, "{strip} copies, {tier}");
            }
            for range in [0..301, 300..301] {
                let run = std::panic::AssertUnwindSafe(|| {
                    list.run(cpu().best(), range.clone(), &mut wires.clone(), strip);
                });
                assert!(std::panic::catch_unwind(run).is_err(), "{range:?} of 300");
            }
            if strip > 0 {
                let run = std::panic::AssertUnwindSafe(|| {
                    let short = wires.len() - 1;
                    list.run(cpu().best(), 0..1, &mut wires.clone()[..short], strip);
                });
                assert!(std::panic::catch_unwind(run).is_err(), "a wire less");
            }
        }
        TripleSums::new(vec![]).run(cpu().best(), 0..0, &mut [], 1);
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
