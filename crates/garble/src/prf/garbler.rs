//! The garbler.

use super::queue::{Linear, Queue};
use super::{BATCH, CONSTANT, LABEL, Pair, Side, assert_scheme, tweak, with_signal};
use crate::{Batches, Encode, End, Format, GarbleError, Public, Role, Scheme, Tables};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, from_bytes_mut};
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

/// Makes PRF-only gates.
pub struct Garbler {
    gates: Gates,
    xors: Queue<Pair>,
    constants: [Pair; 2],
    /// Labels of inputs.
    labels: Prg,
}

/// What makes gates.
struct Gates {
    backend: Backend,
    gate: u64,
    /// Permute bits of ANDs, a byte each.
    choices: Prg,
    /// By gates of a batch: keys, and F's inputs and values.
    keys: Zeroizing<Vec<Block>>,
    values: Zeroizing<Vec<Block>>,
    permute: Zeroizing<Vec<u8>>,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.constants.zeroize();
    }
}

/// Labels by signal.
fn by_signal([zero, one]: Pair) -> [Block; 2] {
    let (zero, one) = (zero.block(), one.block());
    let swap = (zero ^ one).and_bit(zero.lsb());
    [zero ^ swap, one ^ swap]
}

/// `x` where `bit` is 1, `y` elsewhere.
fn select(bit: u8, x: Block, y: Block) -> Block {
    y ^ (x ^ y).and_bit(bit == 1)
}

fn bit(x: Block) -> u8 {
    x.0[0] & 1
}

impl Gates {
    fn and(
        &mut self,
        wires: &[Pair],
        pairs: &[[Slot; 2]],
        out: &mut [Pair],
        tables: &mut [Block],
        bits: &mut [u8],
    ) {
        let n = pairs.len();
        let (keys, values) = (&mut self.keys[..4 * n], &mut self.values[..8 * n]);
        for (k, [a, b]) in pairs.iter().enumerate() {
            let ([l0, l1], [r0, r1]) = (by_signal(wires[*a as usize]), by_signal(wires[*b as usize]));
            keys.as_chunks_mut::<4>().0[k] = [l0, l1, r0, r1];
            let (left, right) = (
                |r| tweak(self.gate + k as u64, r, Side::Left),
                |r| tweak(self.gate + k as u64, r, Side::Right),
            );
            values.as_chunks_mut::<8>().0[k] =
                [left(0), left(1), left(2), left(3), right(0), right(2), right(1), right(3)];
        }
        self.gate += n as u64;
        self.backend.rekeyed::<2>(keys, values);
        self.choices.fill(&mut self.permute[..n]);
        for (k, [a, b]) in pairs.iter().enumerate() {
            let [l0, l1, l2, l3, r0, r2, r1, r3] = self.values.as_chunks::<8>().0[k];
            let rows = [l0 ^ r0, l1 ^ r1, l2 ^ r2, l3 ^ r3];
            let (pl, pr) = (bit(wires[*a as usize][0].block()), bit(wires[*b as usize][0].block()));
            let t1 = select(pl, rows[2] ^ rows[3], rows[0] ^ rows[1]);
            let t2 = select(pr, rows[1] ^ rows[3], rows[0] ^ rows[2]);
            (tables[2 * k], tables[2 * k + 1]) = (t1 & LABEL, t2 & LABEL);
            let p = self.permute[k] & 1;
            // C^0 and C^1 trade places where both permute bits are 1.
            let (x, y) = (rows[0], rows[1] ^ rows[2] ^ rows[3]);
            let zero = select(pl & pr, y, x);
            out[k] = [with_signal(zero, p), with_signal(zero ^ x ^ y, p ^ 1)].map(Tagged::new);
            let ones = [pl & pr, pl & (pr ^ 1), (pl ^ 1) & pr, (pl ^ 1) & (pr ^ 1)];
            bits[k] = 0;
            for r in 0..4 {
                bits[k] |= (bit(rows[r]) ^ p ^ ones[r]) << r;
            }
        }
    }
}

impl Linear for Gates {
    type Wire = Pair;

    fn not([zero, one]: Pair) -> Pair {
        [one, zero]
    }

    fn xor(&mut self, left: &[Pair], right: &[Pair], made: &mut [Pair], tables: &mut [u8]) {
        let tables = from_bytes_mut(tables);
        for (((left, right), made), tables) in left
            .chunks(BATCH)
            .zip(right.chunks(BATCH))
            .zip(made.chunks_mut(BATCH))
            .zip(tables.chunks_mut(BATCH))
        {
            let n = left.len();
            let (keys, values) = (&mut self.keys[..3 * n], &mut self.values[..3 * n]);
            for (k, (left, right)) in left.iter().zip(right).enumerate() {
                keys.as_chunks_mut::<3>().0[k] = [left[0].block(), left[1].block(), by_signal(*right)[1]];
                let gate = self.gate + k as u64;
                let (l, r) = (tweak(gate, 0, Side::Left), tweak(gate, 0, Side::Right));
                values.as_chunks_mut::<3>().0[k] = [l, l, r];
            }
            self.gate += n as u64;
            self.backend.rekeyed::<1>(keys, values);
            for (k, (left, right)) in left.iter().zip(right).enumerate() {
                let [x, y, z] = values.as_chunks::<3>().0[k];
                let (d, low) = (x ^ y, by_signal(*right)[0]);
                tables[k] = (z ^ low ^ d) & LABEL;
                let zero = x ^ low ^ d.and_bit(right[0].block().lsb());
                let p = bit(left[0].block()) ^ bit(right[0].block());
                made[k] = [with_signal(zero, p), with_signal(zero ^ d, p ^ 1)].map(Tagged::new);
            }
        }
    }
}

impl Garbler {
    /// Batches of XORs so far; their gates are those with tables, copy by copy.
    #[must_use]
    pub fn xor_batches(&self) -> Batches {
        self.xors.batches()
    }
}

impl End for Garbler {
    type Wire = Pair;
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::PRF;

    fn constants(&self) -> [Pair; 2] {
        self.constants
    }

    fn ands(
        &mut self,
        wires: &[Pair],
        pairs: &[[Slot; 2]],
        out: &mut [Pair],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let tables = from_bytes_mut(bytes);
        let fits = [out.len(), bits.len(), tables.len() / 2].map(|n| n == pairs.len());
        assert!(fits == [true; 3] && tables.len().is_multiple_of(2), "room for every gate");
        for (((pairs, out), tables), bits) in pairs
            .chunks(BATCH)
            .zip(out.chunks_mut(BATCH))
            .zip(tables.chunks_mut(2 * BATCH))
            .zip(bits.chunks_mut(BATCH))
        {
            self.gates.and(wires, pairs, out, tables, bits);
        }
    }

    fn xors(
        &mut self,
        wires: &mut [Pair],
        strip: usize,
        gates: &[[Slot; 3]],
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        self.xors.run(&mut self.gates, wires, strip, gates, tables)
    }

    fn gates(&self) -> u64 {
        self.gates.gate
    }
}

impl Encode for Garbler {
    /// `public` and `delta` have no use here.
    fn new(backend: Backend, scheme: Scheme, _: Public, seed: &Seed, _: Option<Block>) -> Self {
        assert_scheme(scheme);
        let mut labels = Prg::new(backend, seed, "garble labels");
        let constants = [0, 1].map(|value| own(CONSTANT, value, labels.next_block()));
        let blocks = |n| Zeroizing::new(vec![Block::ZERO; n * BATCH]);
        let gates = Gates {
            backend,
            gate: 0,
            choices: Prg::new(backend, seed, "garble permute bits"),
            keys: blocks(4),
            values: blocks(8),
            permute: Zeroizing::new(vec![0; BATCH]),
        };
        Garbler { gates, xors: Queue::new(), constants, labels }
    }

    fn correlated(&mut self, _: Block) -> Pair {
        panic!("PRF garbling has no correlation, it takes pairs of messages")
    }

    fn pair(&mut self, [zero, one]: [Block; 2]) -> Pair {
        [with_signal(zero, 0), with_signal(one, 1)].map(Tagged::new)
    }

    fn own(&mut self, active: Block, bit: u8) -> Pair {
        own(active, bit, self.labels.next_block())
    }

    fn permute_bit(&self, wire: Pair) -> u8 {
        bit(wire[0].block())
    }
}

/// `active` stands for `value`, `drawn` for the other value, with the other signal.
fn own(active: Block, value: u8, drawn: Block) -> Pair {
    let other = with_signal(drawn, bit(active) ^ 1);
    let value = Choice::from(value & 1);
    let pick = |x, y| Tagged::new(Block::conditional_select(x, y, value));
    [pick(&active, &other), pick(&other, &active)]
}
