//! The garbler of three halves.

use super::kernel::{GarbleAnds, Grouped};
use crate::half::forms::{Form, forms};
use crate::half::free_xors_on;
use crate::{
    Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce,
    gates::{GARBLED, ZeroLabel, correlation},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut, registry};
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use zeroize::{Zeroize, Zeroizing};

/// LOCAL: gates whose (r, r') are drawn at a time.
const BATCH: usize = 1024;

/// Makes three halves.
pub struct Garbler {
    backend: Backend,
    public: SessionNonce,
    delta: Block,
    /// (r, r'): bits 0 and 1 of a byte a gate.
    coins: Prg,
    gate: u64,
    /// Those of a batch, and a vector's bytes behind them.
    drawn: Zeroizing<Vec<u8>>,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl GateBackend for Garbler {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::THREE_HALVES;

    fn constants(&self) -> [ZeroLabel; 2] {
        // The evaluator holds all zeros for both.
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(self.delta)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let n = pairs.len();
        assert!(out.len() == n && bytes.len() == 24 * n && bits.len() == n, "room for every gate");
        let wires = as_bytes(ZeroLabel::blocks(wires)).as_chunks().0;
        let (out, tables) = (as_bytes_mut(ZeroLabel::blocks_mut(out)), bytes.as_chunks_mut().0);
        for first in (0..n).step_by(BATCH) {
            let end = n.min(first + BATCH);
            self.coins.fill(&mut self.drawn[..end - first]);
            for Form { backend, vectors, gates } in forms::<3>(self.backend, end - first, 12) {
                let (from, to) = (first + gates.start, first + gates.end);
                let kernel = GarbleAnds {
                    start: self.public.0.0,
                    delta: self.delta.0,
                    first: self.gate,
                    wires,
                    pairs: &pairs[from..to],
                    coins: &self.drawn[gates.start..],
                    out: &mut out[16 * from..16 * to],
                    tables: &mut tables[from..to],
                    bits: &mut bits[from..to],
                };
                registry::used(GARBLED, &self.public.0.0, self.gate.into(), gates.len());
                match vectors {
                    _ if gates.is_empty() => {}
                    12 => backend.run(Grouped::<_, 12>(kernel)),
                    _ => backend.run(Grouped::<_, 3>(kernel)),
                }
                self.gate += gates.len() as u64;
            }
        }
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Garbler {
    type Transfer = Correlated;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        assert!(scheme == Scheme::ThreeHalves, "{scheme} is not three halves");
        let delta = correlation(backend, seed, delta);
        let coins = Prg::new(backend, seed, "three halves coins");
        Garbler { backend, public, delta, coins, gate: 0, drawn: Zeroizing::new(vec![0; BATCH + 16]) }
    }

    fn theirs(&mut self, q: Block) -> ZeroLabel {
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        ZeroLabel::new(active ^ self.delta.and_bit(bit & 1 == 1))
    }

    fn permute_bit(&self, wire: ZeroLabel) -> u8 {
        as_bytes(&[wire.block()])[0] & 1
    }
}
