//! The interface of a family of schemes to the engine: the two ends' wires and gates.

use crate::{Format, Scheme, Transfer, tables::Stretch};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, TripleSums};
use hushwire_circuit::{Slot, Woven};
use hushwire_prg::{Prg, Seed};
use std::ops::Range;
use zeroize::Zeroize;

/// One end of a garbled circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Makes the tables.
    Garbler,
    /// The party that uses the tables.
    Evaluator,
}

/// Uses of a session's hash by numbers of gates, in records of tests.
pub(crate) const GARBLED: &str = "gate to garble";
pub(crate) const EVALUATED: &str = "gate to evaluate";

/// Kind of the label that stands for truth value 0; the garbler's wires with free XOR. Bit 0 is the
/// permute bit: the signal that truth value 0 has.
pub enum TruthZero {}

/// Kind of the label that the evaluator holds. Bit 0 is its signal.
pub enum Active {}

/// The value that both ends know of a session before its first table: the hash's start point S or
/// its fixed key comes from it. The garbler draws it afresh, and sends it when nothing that the
/// evaluator chooses can depend on it any more.
#[derive(Clone, Copy, Debug)]
pub struct SessionNonce(pub Block);

/// Hash batches that ran, and gates in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// Calls of the AND kernel.
    pub calls: u64,
    /// ANDs in them.
    pub gates: u64,
}

impl Batches {
    /// Gates in a batch; 0 when none ran.
    #[must_use]
    pub fn mean(self) -> f64 {
        if self.calls == 0 { 0.0 } else { self.gates as f64 / self.calls as f64 }
    }
}

/// One end's half of a scheme.
///
/// An end numbers its gates: every gate that has a table takes the next number, in the order of the
/// tables, and no number serves twice in the life of an end, so that no tweak of its hash does.
pub trait GateBackend {
    /// This end's label or labels of a wire.
    type Wire: Copy + Default + Zeroize + Send;
    /// Tables in this end's hands: `&mut [u8]` at the garbler, which writes them, `&[u8]` at the
    /// evaluator.
    type Bytes<'t>: Stretch<'t>;
    /// The role of this end.
    const ROLE: Role;
    /// The lengths of its tables.
    const FORMAT: Format;

    /// The wires of the constants 0 and 1.
    fn constants(&self) -> [Self::Wire; 2];

    /// `n` independent ANDs: gate `k` reads wires `pairs[k]` and makes `out[k]`. The garbler writes
    /// `bytes`, [`Format::and_bytes`] a gate, and, where [`Format::and_bits`] is not 0, `bits`, a
    /// byte a gate of which the lower ones count; the evaluator reads them.
    ///
    /// # Panics
    /// If lengths do not fit, or a wire does not exist (the caller's bug).
    fn ands(
        &mut self,
        wires: &[Self::Wire],
        pairs: &[[Slot; 2]],
        out: &mut [Self::Wire],
        bytes: Self::Bytes<'_>,
        bits: Self::Bytes<'_>,
    );

    /// XORs in order, of `strip` copies each: copy `i` of gate `[a, b, out]` reads wires
    /// `a strip + i` and `b strip + i` and writes `out strip + i`; `out` may be `a` or `b`. Where
    /// XOR is not free, a gate that reads constant slots (below 2) has no table all the same; the
    /// others' tables, and nothing else, stand in `tables` gate by gate, copy by copy.
    ///
    /// # Panics
    /// If lengths do not fit (the caller's bug).
    fn xors(&mut self, wires: &mut [Self::Wire], strip: usize, gates: &[[Slot; 3]], tables: Self::Bytes<'_>);

    /// Whether it has [`GateBackend::sums`]: XOR is free, and of labels alone, and tables are whole
    /// bytes.
    const SUMS: bool = false;

    /// XORs without tables that were put together, see [`hushwire_circuit::Woven`].
    fn sums(&mut self, _wires: &mut [Self::Wire], _strip: usize, _sums: &TripleSums, _range: Range<usize>) {
        unreachable!("an end that has sums says so")
    }

    /// Layers of a single copy, where it has sums: the sums of every layer, and then its ANDs,
    /// whose products lie behind the cells. `tables` are the tables of the layers.
    ///
    /// # Panics
    /// If lengths do not fit (the caller's bug).
    fn layers(
        &mut self,
        wires: &mut [Self::Wire],
        woven: &Woven,
        layers: Range<usize>,
        tables: Self::Bytes<'_>,
    ) {
        one_by_one(self, wires, woven, layers, tables);
    }

    /// The number of the next gate.
    fn gates(&self) -> u64;
}

/// [`GateBackend::layers`], sums and ANDs by themselves.
pub(crate) fn one_by_one<E: GateBackend + ?Sized>(
    end: &mut E,
    wires: &mut [E::Wire],
    woven: &Woven,
    layers: Range<usize>,
    mut tables: E::Bytes<'_>,
) {
    for layer in &woven.layers()[layers] {
        end.sums(wires, 1, woven.sums(), layer.sums.clone());
        let (cells, products) = wires.split_at_mut(woven.cells());
        let (pairs, n) = (&woven.ands()[layer.ands.clone()], layer.ands.len());
        let bytes = tables.take(n * E::FORMAT.and_bytes);
        end.ands(cells, pairs, &mut products[..n], bytes, E::Bytes::default());
    }
}

/// The garbler's part alone.
pub trait Garble: for<'t> GateBackend<Bytes<'t> = &'t mut [u8]> {
    /// The OTs that it takes the evaluator's inputs from.
    type Transfer: Transfer;

    /// The garbler of a session. `delta` is the correlation of the OTs that bring the evaluator's
    /// inputs, bit 0 set; drawn from `seed` where there is none. PRF garbling has no correlation.
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, seed: &Seed, delta: Option<Block>)
    -> Self;
    /// An input of the evaluator's: what this end got of its OT.
    fn theirs(&mut self, sent: <Self::Transfer as Transfer>::Sent) -> Self::Wire;
    /// An input of this end's own: its value is `bit`, and the evaluator holds `active`, a fresh
    /// public block. Constant time in `bit`, which is 0 or 1.
    fn own(&mut self, active: Block, bit: u8) -> Self::Wire;
    /// The signal of truth value 0, 0 or 1.
    fn permute_bit(&self, wire: Self::Wire) -> u8;
}

/// The evaluator's part alone.
pub trait Evaluate: for<'t> GateBackend<Bytes<'t> = &'t [u8]> {
    /// The OTs that it takes its inputs from.
    type Transfer: Transfer;

    /// The evaluator of a session.
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self;
    /// An input of the garbler's: the public block of [`Garble::own`].
    fn label(&self, label: Block) -> Self::Wire;
    /// An input of this end's own: what it got of its OT for this choice, 0 or 1.
    fn own(&self, received: Block, choice: u8) -> Self::Wire;
    /// The signal of what it holds, 0 or 1.
    fn signal(&self, wire: Self::Wire) -> u8;
}

/// Two ends that fit each other.
pub trait Family {
    /// The party that makes the tables.
    type Garbler: Garble + Send;
    /// The party that uses the tables.
    type Evaluator: Evaluate + Send;
}

/// Δ: the one given, else drawn; bit 0 is set, so that a wire's two labels have different signals.
pub(crate) fn correlation(backend: Backend, seed: &Seed, given: Option<Block>) -> Block {
    let mut delta = given.unwrap_or_else(|| Prg::new(backend, seed, "garble delta").next_block());
    delta.0[0] |= 1;
    delta
}

/// The garbler's wires in families with free XOR.
#[cfg(test)]
pub(crate) type ZeroLabel = Tagged<TruthZero>;
/// The evaluator's.
pub(crate) type ActiveLabel = Tagged<Active>;
