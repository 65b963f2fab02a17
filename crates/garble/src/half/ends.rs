//! Half gates at both endpoints: the keys, and the kernels of each hash.

use super::forms::filled;
use super::hash::{Hash, Hashes};
use super::kernel::{EvaluateAnds, GarbleAnds};
use super::work::KernelWork;
use crate::{
    Format, Scheme, SessionNonce, Stretch,
    free::{Ands, At, End, Evaluating, Garbling, Gates, RolePart},
    gates::{EVALUATED, GARBLED, one_by_one},
};
use hushwire_aes::Backend;
use hushwire_block::Tagged;
use hushwire_circuit::Woven;
use hushwire_prg::Seed;
use std::ops::Range;

/// The hash of a session's gates.
pub struct HalfAnds(Hash);

/// A role's kernels.
pub trait Works<P: RolePart> {
    /// Runs `n` gates under one key.
    #[doc(hidden)]
    fn work(&mut self, at: &At<'_, P>, n: usize, work: KernelWork<'_>, tables: P::Bytes<'_>);
}

impl<P: RolePart> Ands<P> for HalfAnds
where
    HalfAnds: Works<P>,
{
    const FORMAT: Format = Format::HALF_GATES;
    const SUMS: bool = true;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, _: Option<&Seed>) -> Self {
        HalfAnds(Hash::new(backend, scheme, public))
    }

    fn serve(&mut self, backend: Backend, gate: u64) -> usize {
        self.0.serve(backend, gate)
    }

    fn run(&mut self, at: &At<'_, P>, gates: Gates<'_>, bytes: P::Bytes<'_>, _: P::Bytes<'_>) {
        let Gates { wires, pairs, out } = gates;
        let work = KernelWork::gates(wires, pairs, out, !at.backend.is_batched());
        let at = At { backend: filled(at.backend, pairs.len()), ..*at };
        self.work(&at, pairs.len(), work, bytes);
    }

    fn layers(
        end: &mut End<P, Self>,
        wires: &mut [Tagged<P::LabelKind>],
        woven: &Woven,
        mut layers: Range<usize>,
        mut tables: P::Bytes<'_>,
    ) {
        while !layers.is_empty() {
            let served = Ands::<P>::serve(&mut end.ands, end.backend, end.gate);
            let (now, n) = served_layers(woven, &layers, served);
            let some = tables.take(32 * n);
            layers.start = now.end;
            if n > served || !end.backend.is_batched() {
                one_by_one(end, wires, woven, now, some);
            } else {
                let at = At { backend: end.backend, first: end.gate, part: &end.part };
                let work = KernelWork::Layers { wires: Tagged::blocks_mut(wires), woven, layers: now };
                end.ands.work(&at, n, work, some);
                end.gate += n as u64;
            }
        }
    }
}

/// The first of `layers` whose gates the current key serves, but at least one layer, and the number
/// of their gates.
fn served_layers(woven: &Woven, layers: &Range<usize>, served: usize) -> (Range<usize>, usize) {
    let all = &woven.layers()[layers.clone()];
    let start = all.first().map_or(0, |layer| layer.ands.start);
    let now = all.partition_point(|layer| layer.ands.end - start <= served).max(1);
    let gates = all.get(now - 1).map_or(0, |layer| layer.ands.end - start);
    (layers.start..layers.start + now, gates)
}

impl Works<Garbling> for HalfAnds {
    fn work(&mut self, at: &At<'_, Garbling>, n: usize, work: KernelWork<'_>, tables: &mut [u8]) {
        /// Runs the work in groups of at most `M` vectors of labels.
        fn run<H: Hashes, const M: usize>(
            hash: &H,
            at: &At<'_, Garbling>,
            work: KernelWork<'_>,
            tables: &mut [u8],
        ) {
            let (delta, first) = (at.part.delta.0, at.first);
            at.backend.run(GarbleAnds::<H, M> { hash, delta, first, work, tables });
        }
        self.0.used(GARBLED, at.first, n);
        match &self.0 {
            Hash::Prp { key, .. } => run::<_, 4>(key, at, work, tables),
            Hash::Mi4(keys) => run::<_, 4>(&**keys, at, work, tables),
            // Two groups of keys fill the time in which one waits for its key schedule. With CIRC a
            // label has two keys.
            Hash::Mi(start) => run::<_, 8>(start, at, work, tables),
            Hash::Circ(circ) => run::<_, 4>(circ, at, work, tables),
        }
    }
}

impl Works<Evaluating> for HalfAnds {
    fn work(&mut self, at: &At<'_, Evaluating>, n: usize, work: KernelWork<'_>, tables: &[u8]) {
        fn run<H: Hashes>(hash: &H, at: &At<'_, Evaluating>, work: KernelWork<'_>, tables: &[u8]) {
            at.backend.run(EvaluateAnds::<H, 8> { hash, first: at.first, work, tables });
        }
        self.0.used(EVALUATED, at.first, n);
        match &self.0 {
            Hash::Prp { key, .. } => run(key, at, work, tables),
            Hash::Mi(start) => run(start, at, work, tables),
            Hash::Mi4(keys) => run(&**keys, at, work, tables),
            Hash::Circ(circ) => run(circ, at, work, tables),
        }
    }
}
