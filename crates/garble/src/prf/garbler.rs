//! The garbler of PRF garbling.

use super::end::{End, Gates};
use super::kernel::{GarbleAnds, PADDING};
use super::linear::GarbleXors;
use super::queue::Queue;
use super::{BATCH, CONSTANT, LabelPair, assert_scheme, signal, with_signal};
use crate::half::forms::{KernelGates, forms};
use crate::{Garble, Pairs, Role, Scheme, SessionNonce};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, as_bytes, as_bytes_mut};
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

/// Makes PRF-only gates.
pub type Garbler = End<Garbling>;

/// The garbler's gates.
pub struct Garbling {
    backend: Backend,
    /// The number of the next gate.
    gate: u64,
    /// The labels of the constants 0 and 1.
    constants: [LabelPair; 2],
    /// The stream of input labels.
    labels: Prg,
    /// The stream of permute bits of ANDs, a byte each.
    choices: Prg,
    /// The permute bits of a batch, and padding for vectors.
    permute: Zeroizing<Vec<u8>>,
}

impl Drop for Garbling {
    fn drop(&mut self) {
        self.constants.zeroize();
    }
}

impl Gates for Garbling {
    type Wire = LabelPair;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;

    fn constants(&self) -> [LabelPair; 2] {
        self.constants
    }

    fn and(
        &mut self,
        wires: &[LabelPair],
        pairs: &[[Slot; 2]],
        out: &mut [LabelPair],
        tables: &mut [u8],
        bits: &mut [u8],
    ) {
        let n = pairs.len();
        self.choices.fill(&mut self.permute[..n]);
        let (wires, out) = (bytes_of(wires).as_chunks().0, bytes_of_mut(out));
        for KernelGates { backend, vectors, gates } in forms::<1>(self.backend, n, 2) {
            let first = self.gate + gates.start as u64;
            let at = 32 * gates.start..32 * gates.end;
            let (made, tables) = (&mut out[at.clone()], &mut tables[at]);
            let (choices, pairs) = (&self.permute[gates.start..], &pairs[gates.clone()]);
            let bits = &mut bits[gates];
            match vectors {
                2 => backend.run(GarbleAnds::<2> { first, wires, pairs, choices, made, tables, bits }),
                _ => backend.run(GarbleAnds::<1> { first, wires, pairs, choices, made, tables, bits }),
            }
        }
        self.gate += n as u64;
    }

    fn not([zero, one]: LabelPair) -> LabelPair {
        [one, zero]
    }

    fn xor(&mut self, left: &[LabelPair], right: &[LabelPair], made: &mut [LabelPair], tables: &mut [u8]) {
        for KernelGates { backend, vectors, gates } in forms::<1>(self.backend, left.len(), 4) {
            let first = self.gate + gates.start as u64;
            let (left, right) = (bytes_of(&left[gates.clone()]), bytes_of(&right[gates.clone()]));
            let made = bytes_of_mut(&mut made[gates.clone()]);
            let tables = &mut tables[16 * gates.start..16 * gates.end];
            match vectors {
                4 => backend.run(GarbleXors::<4> { first, left, right, made, tables }),
                _ => backend.run(GarbleXors::<1> { first, left, right, made, tables }),
            }
        }
        self.gate += left.len() as u64;
    }

    fn next(&self) -> u64 {
        self.gate
    }
}

fn bytes_of(pairs: &[LabelPair]) -> &[u8] {
    as_bytes(Tagged::blocks(pairs.as_flattened()))
}

fn bytes_of_mut(pairs: &mut [LabelPair]) -> &mut [u8] {
    as_bytes_mut(Tagged::blocks_mut(pairs.as_flattened_mut()))
}

impl Garble for Garbler {
    type Transfer = Pairs;

    /// The nonce and Δ are not used.
    fn new(backend: Backend, scheme: Scheme, _: SessionNonce, seed: &Seed, _: Option<Block>) -> Self {
        assert_scheme(scheme);
        let mut labels = Prg::new(backend, seed, "garble labels");
        let constants = [0, 1].map(|value| own(CONSTANT, value, labels.next_block()));
        let choices = Prg::new(backend, seed, "garble permute bits");
        let permute = Zeroizing::new(vec![0; BATCH + PADDING]);
        let gates = Garbling { backend, gate: 0, constants, labels, choices, permute };
        End { gates, xors: Queue::new(backend) }
    }

    fn theirs(&mut self, [zero, one]: [Block; 2]) -> LabelPair {
        [with_signal(zero, 0), with_signal(one, 1)].map(Tagged::new)
    }

    fn own(&mut self, active: Block, bit: u8) -> LabelPair {
        own(active, bit, self.gates.labels.next_block())
    }

    fn permute_bit(&self, wire: LabelPair) -> u8 {
        signal(wire[0].block())
    }
}

/// The labels of a wire whose value the garbler knows. `active` is the label of `value`; `drawn`
/// becomes the label of the other value, with the other signal.
fn own(active: Block, value: u8, drawn: Block) -> LabelPair {
    let other = with_signal(drawn, signal(active) ^ 1);
    let is_one = Choice::from(value & 1);
    let select = |zero, one| Tagged::new(Block::conditional_select(zero, one, is_one));
    [select(&active, &other), select(&other, &active)]
}
