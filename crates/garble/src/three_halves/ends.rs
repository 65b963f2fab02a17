//! Three halves at both endpoints.

use super::kernel::{EvaluateAnds, GarbleAnds, Grouped};
use crate::half::forms::{KernelGates, forms};
use crate::{
    Format, Scheme, SessionNonce,
    free::{Ands, At, Evaluating, Garbling, Gates},
    gates::{EVALUATED, GARBLED},
};
use hushwire_aes::Backend;
use hushwire_block::{as_bytes, as_bytes_mut, registry};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

/// LOCAL: the number of gates whose (r, r') are drawn at a time.
const BATCH: usize = 1024;

fn assert_scheme(scheme: Scheme) {
    assert!(scheme == Scheme::ThreeHalves, "{scheme} is not three halves");
}

/// Makes three halves.
pub struct ThreeHalvesAnds {
    public: SessionNonce,
    /// (r, r') for each gate, in bits 0 and 1 of a byte.
    coins: Option<Prg>,
    /// The coins of a batch, followed by a vector's bytes.
    drawn: Zeroizing<Vec<u8>>,
}

impl Ands<Garbling> for ThreeHalvesAnds {
    const FORMAT: Format = Format::THREE_HALVES;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, seed: Option<&Seed>) -> Self {
        assert_scheme(scheme);
        let coins = seed.map(|seed| Prg::new(backend, seed, "three halves coins"));
        ThreeHalvesAnds { public, coins, drawn: Zeroizing::new(vec![0; BATCH + 16]) }
    }

    fn run(&mut self, at: &At<'_, Garbling>, gates: Gates<'_>, bytes: &mut [u8], bits: &mut [u8]) {
        let Gates { wires, pairs, out } = gates;
        let wires = as_bytes(wires).as_chunks().0;
        let (out, tables) = (as_bytes_mut(out), bytes.as_chunks_mut().0);
        for first in (0..pairs.len()).step_by(BATCH) {
            let end = pairs.len().min(first + BATCH);
            if let Some(coins) = &mut self.coins {
                coins.fill(&mut self.drawn[..end - first]);
            }
            for KernelGates { backend, vectors, gates } in forms::<3>(at.backend, end - first, 12) {
                let (from, to) = (first + gates.start, first + gates.end);
                let number = at.first + from as u64;
                let kernel = GarbleAnds {
                    start: self.public.0.0,
                    delta: at.part.delta.0,
                    first: number,
                    wires,
                    pairs: &pairs[from..to],
                    coins: &self.drawn[gates.start..],
                    out: &mut out[16 * from..16 * to],
                    tables: &mut tables[from..to],
                    bits: &mut bits[from..to],
                };
                registry::used(GARBLED, &self.public.0.0, number.into(), gates.len());
                match vectors {
                    _ if gates.is_empty() => {}
                    12 => backend.run(Grouped::<_, 12>(kernel)),
                    _ => backend.run(Grouped::<_, 3>(kernel)),
                }
            }
        }
    }
}

/// Uses tables of three halves.
pub struct Used(SessionNonce);

impl Ands<Evaluating> for Used {
    const FORMAT: Format = Format::THREE_HALVES;

    fn new(_: Backend, scheme: Scheme, public: SessionNonce, _: Option<&Seed>) -> Self {
        assert_scheme(scheme);
        Used(public)
    }

    fn run(&mut self, at: &At<'_, Evaluating>, gates: Gates<'_>, bytes: &[u8], bits: &[u8]) {
        let Gates { wires, pairs, out } = gates;
        let (wires, out, start) = (as_bytes(wires).as_chunks().0, as_bytes_mut(out), self.0.0.0);
        for KernelGates { backend, vectors, gates } in forms::<3>(at.backend, pairs.len(), 12) {
            let (from, to) = (gates.start, gates.end);
            let first = at.first + from as u64;
            let kernel = EvaluateAnds {
                start,
                first,
                wires,
                pairs: &pairs[from..to],
                out: &mut out[16 * from..16 * to],
                tables: &bytes[24 * from..24 * to],
                bits: &bits[from..to],
            };
            registry::used(EVALUATED, &start, first.into(), gates.len());
            match vectors {
                _ if gates.is_empty() => {}
                12 => backend.run(Grouped::<_, 12>(kernel)),
                _ => backend.run(Grouped::<_, 3>(kernel)),
            }
        }
    }
}
