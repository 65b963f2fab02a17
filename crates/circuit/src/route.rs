//! Control bits of [`crate::shuffle`] for a secret permutation. Steps and memory accesses depend
//! only on its length.
//!
//! The looping algorithm sends the two values of a switch to different halves, on both sides. It
//! follows chains of switches, and the chains reveal the permutation. Here all chains are followed
//! at once, as in D. J. Bernstein, "Verified fast formulas for control bits for permutation
//! networks", ePrint 2020/1493, Sec. 3 to 5. The paper's networks have 2^k values; these have any
//! number, and an even one has no last switch on the right.
//!
//! ```text
//! σ(j)    = to[from[j] ⊕ 1] ⊕ 1      the output that switches force into the half of output j
//! M(j)    = least label of j's cycle by doubling: M(j) ← min(M(j), M(σ(j))), σ ← σ ∘ σ
//! side(j) = last bit of M(j)          cycles come in pairs {j, j ⊕ 1} with least labels 2k, 2k + 1
//! ```
//! Labels count from the last output, which goes to the lower half. In an even network this output
//! has no switch. An odd network gets one more value next to it, which keeps its place. σ ∘ σ takes
//! two sorts, so that a route takes O(n log⁴ n) steps: 1.5 million exchanges for 1000 values.

use crate::{oblivious::sort, shuffle::switches};
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

/// The number of bits of a place.
const BITS: u32 = 21;
const PLACE: u64 = (1 << BITS) - 1;

/// The largest number of values whose permutation can be routed.
pub const MOST_ROUTED: usize = 1 << BITS;

type SecretWords = Zeroizing<Vec<u64>>;

/// The control bits with which output `j` of the network is input `permutation[j]`. Time and memory
/// accesses depend only on the length.
///
/// # Panics
/// If `permutation` is not a permutation, or has more than [`MOST_ROUTED`] values (the caller's
/// bug).
#[must_use]
pub fn route(permutation: &[usize]) -> Zeroizing<Vec<bool>> {
    let n = permutation.len();
    assert!(n <= MOST_ROUTED, "{n} values to route");
    let outside = permutation.iter().fold(false, |any, i| any | (*i >= n));
    assert!(!outside, "every input goes to one output");
    let from: SecretWords = words(n, |j| permutation[j] as u64);
    let mut sorted = from.clone();
    sort(&mut sorted);
    let wrong = sorted.iter().enumerate().fold(0, |wrong, (i, input)| wrong | (i as u64 ^ input));
    assert!(wrong == 0, "every input goes to one output");
    let mut bits = Zeroizing::new(Vec::with_capacity(switches(n)));
    halve(&from, &mut bits);
    bits
}

fn words(n: usize, word: impl Fn(usize) -> u64) -> SecretWords {
    // The capacity is final, because a vector that grows leaves copies behind.
    let mut all = Zeroizing::new(Vec::with_capacity(n));
    all.extend((0..n).map(word));
    all
}

/// The second numbers of pairs, in the order of the first numbers, which are a permutation of 0, 1,
/// ….
fn ordered(n: usize, pair: impl Fn(usize) -> (u64, u64)) -> SecretWords {
    let mut all = words(n, |k| {
        let (first, second) = pair(k);
        first << (2 * BITS) | second
    });
    sort(&mut all);
    all.iter_mut().for_each(|word| *word &= (1 << (2 * BITS)) - 1);
    all
}

/// Adds the control bits of a network's first switches, of its halves, and of its last switches.
fn halve(from: &[u64], bits: &mut Vec<bool>) {
    let n = from.len();
    if n < 2 {
        return;
    }
    let even = n.next_multiple_of(2);
    let from = words(even, |j| from.get(j).copied().unwrap_or(j as u64));
    let lower = sides(&from, n);
    let inputs = ordered(even, |j| (from[j], lower[j]));
    bits.extend((0..n / 2).map(|k| inputs[2 * k] == 1));
    // The output of switch k that the upper half makes, and the other output.
    let made = |k: usize| {
        let (mut upper, mut lower_one) = (from[2 * k] >> 1, from[2 * k + 1] >> 1);
        u64::conditional_swap(&mut upper, &mut lower_one, Choice::from(lower[2 * k] as u8));
        (upper, lower_one)
    };
    let upper = words(n / 2, |k| made(k).0);
    halve(&upper, bits);
    drop(upper);
    halve(&words(even / 2, |k| made(k).1), bits);
    bits.extend((0..n / 2 - usize::from(n == even)).map(|k| lower[2 * k] == 1));
}

/// For each output of a network of `n` values, 1 if the lower half makes it, else 0.
fn sides(from: &[u64], n: usize) -> SecretWords {
    let even = from.len();
    let to = ordered(even, |j| (from[j], j as u64));
    let mut next = ordered(even, |i| (to[i], to[i ^ 1] ^ 1));
    let mut least = words(even, |j| (even - 1 - j) as u64);
    let mut covered = 1;
    // A cycle and its mirror image have the same length.
    while covered < even / 2 {
        let before = ordered(even, |j| (next[j], j as u64));
        let there = ordered(even, |p| (before[p], least[p] << BITS | next[p]));
        for ((least, next), there) in least.iter_mut().zip(next.iter_mut()).zip(there.iter()) {
            let label = there >> BITS;
            least.conditional_assign(&label, Choice::from(u8::from(label < *least)));
            *next = there & PLACE;
        }
        covered *= 2;
    }
    // Label 0 is the last output or its neighbour.
    let first = u64::from(n == even);
    least.iter_mut().for_each(|label| *label = (*label & 1) ^ first);
    least
}
