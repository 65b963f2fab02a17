//! Splits a batch into kernels of different widths.

use hushwire_aes::{Backend, Tier};
use std::ops::Range;

/// LOCAL: the number of vectors of labels in a group of half gates on the portable tier, where key
/// schedules are computed four vectors at a time. This tier has groups of only one size, here and
/// in the other schemes: bit slices do not run faster in parallel.
pub(crate) const SOFT_VECTORS: usize = 4;

/// The gates of a batch that one kernel runs, in groups of `vectors` vectors of labels, on this
/// backend.
pub(crate) struct KernelGates {
    pub(crate) backend: Backend,
    pub(crate) vectors: usize,
    pub(crate) gates: Range<usize>,
}

/// Splits `n` gates, each with `P` hashed labels, into full groups of `most` vectors and a rest.
/// The rest runs in the smallest group that holds it, on vectors as narrow as possible. Without
/// batching, every gate is a group on single blocks.
pub(crate) fn forms<const P: usize>(backend: Backend, n: usize, most: usize) -> [KernelGates; 2] {
    if !backend.is_batched() {
        let none = KernelGates { backend, vectors: P, gates: n..n };
        return [KernelGates { backend: backend.narrowed(1), vectors: P, gates: 0..n }, none];
    }
    if backend.tier() == Tier::Portable {
        let none = KernelGates { backend, vectors: most, gates: n..n };
        return [KernelGates { backend, vectors: most, gates: 0..n }, none];
    }
    let room = |vectors: usize| vectors / P * backend.lanes();
    let rest = n % room(most);
    let mut vectors = P;
    while room(vectors) < rest {
        vectors *= 2;
    }
    // A rest that needs the largest group is padded, and runs in the same call.
    let cut = if vectors >= most { n } else { n - rest };
    let narrow = if vectors == P { backend.narrowed(rest) } else { backend };
    [
        KernelGates { backend, vectors: most, gates: 0..cut },
        KernelGates { backend: narrow, vectors, gates: cut..n },
    ]
}

/// The backend for a batch of `n` half gates, with vectors only as wide as the batch fills.
pub(crate) fn filled(backend: Backend, n: usize) -> Backend {
    if !backend.is_batched() {
        return backend.narrowed(1);
    }
    backend.narrowed(if n == 3 { 2 } else { n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_cover_every_gate_once_and_waste_less_than_half_a_group() {
        for backend in Backend::all().into_iter().filter(|b| b.tier() != Tier::Portable) {
            for most in [4, 8] {
                for n in 1..70 {
                    let [a, b] = forms::<2>(backend, n, most);
                    assert_eq!((a.gates.start, a.gates.end, b.gates.end), (0, b.gates.start, n));
                    for form in [a, b].into_iter().filter(|f| !f.gates.is_empty()) {
                        let group = form.vectors / 2 * form.backend.lanes();
                        let rest = form.gates.len() % group;
                        let least = group == form.backend.lanes();
                        assert!(rest == 0 || 2 * rest > group || least, "{n} gates, {rest} in {group}");
                    }
                }
            }
        }
    }

    #[test]
    fn batches_fill_a_vector_where_vectors_can_be_narrow() {
        for b in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
            for n in 1..70 {
                let backend = filled(b, n);
                let narrow = backend.lanes() == backend.narrowed(1).lanes();
                assert!(backend.lanes() <= n || narrow, "{b:?}: {n} gates");
                assert!(!b.is_batched() || n < 4 || backend == b, "{b:?}: {n} gates");
            }
        }
    }

    #[test]
    fn unbatched_gates_stand_alone() {
        for backend in Backend::all().into_iter().filter(|b| b.tier() != Tier::Portable) {
            let [a, b] = forms::<2>(backend.unbatched(), 9, 8);
            assert!(a.gates == (0..9) && b.gates.is_empty() && a.vectors == 2);
            assert_eq!(a.backend.lanes(), backend.narrowed(1).lanes());
        }
    }

    #[test]
    fn the_portable_tier_has_one_group() {
        let b = Backend::forced(Tier::Portable).unwrap();
        for n in 1..70 {
            let [all, none] = forms::<2>(b, n, 8);
            assert!(all.gates == (0..n) && all.vectors == 8 && all.backend == b && none.gates.is_empty());
        }
    }
}
