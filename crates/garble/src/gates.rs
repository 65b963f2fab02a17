//! The interface between a family of schemes and the engine: the wires and gates of both endpoints.
//! [`GateBackend`] is common to both roles; [`Garble`] and [`Evaluate`] add the parts of one role;
//! [`Family`] is a pair of endpoints that match.

use crate::{Format, Scheme, Transfer, tables::Stretch};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, TripleSums};
use hushwire_circuit::{Slot, Woven};
use hushwire_prg::{Prg, Seed};
use std::ops::Range;
use zeroize::Zeroize;

/// A party's role in a garbled circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The party that makes the tables.
    Garbler,
    /// The party that uses the tables.
    Evaluator,
}

/// The name under which tests record the uses of a session's hash, by gate number.
pub(crate) const GARBLED: &str = "gate to garble";
pub(crate) const EVALUATED: &str = "gate to evaluate";

/// The kind of the label of truth value 0, which is the garbler's wire with free XOR. Bit 0 is the
/// permute bit: the signal of truth value 0.
pub enum TruthZero {}

/// The kind of the label that the evaluator holds. Bit 0 is its signal.
pub enum Active {}

/// The public value from which both endpoints derive the hash's start point S or its fixed key,
/// before the first table. The garbler draws it freshly for each session. It sends the value only
/// when the evaluator can no longer make a choice that depends on it.
#[derive(Clone, Copy, Debug)]
pub struct SessionNonce(pub Block);

/// The number of hash batches that ran, and of gates in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// Calls of the AND kernel.
    pub calls: u64,
    /// ANDs in them.
    pub gates: u64,
}

impl Batches {
    /// The mean number of gates in a batch; 0 if no batch ran.
    #[must_use]
    pub fn mean(self) -> f64 {
        if self.calls == 0 { 0.0 } else { self.gates as f64 / self.calls as f64 }
    }
}

/// One endpoint of a scheme.
///
/// An endpoint numbers its gates. Every gate with a table takes the next number, in the order of
/// the tables. No number occurs twice in the life of an endpoint, so that no tweak of its hash
/// does.
pub trait GateBackend {
    /// This endpoint's label or labels of a wire.
    type Wire: Copy + Default + Zeroize + Send;
    /// Tables in this endpoint's hands: `&mut [u8]` at the garbler, which writes them, `&[u8]` at
    /// the evaluator.
    type Bytes<'t>: Stretch<'t>;
    /// The role of this endpoint.
    const ROLE: Role;
    /// The lengths of its tables.
    const FORMAT: Format;

    /// The wires of the constants 0 and 1.
    fn constants(&self) -> [Self::Wire; 2];

    /// Runs `n` independent ANDs: gate `k` reads the wires `pairs[k]` and writes `out[k]`. The
    /// tables are `bytes`, with [`Format::and_bytes`] for each gate, and, if [`Format::and_bits`]
    /// is not 0, the lower bits of `bits`, one byte for each gate. The garbler writes them, and the
    /// evaluator reads them.
    ///
    /// # Panics
    /// If the lengths do not fit, or a wire does not exist (the caller's bug).
    fn ands(
        &mut self,
        wires: &[Self::Wire],
        pairs: &[[Slot; 2]],
        out: &mut [Self::Wire],
        bytes: Self::Bytes<'_>,
        bits: Self::Bytes<'_>,
    );

    /// Runs XORs in order, with `strip` copies of each: copy `i` of gate `[a, b, out]` reads the
    /// wires `a strip + i` and `b strip + i` and writes `out strip + i`; `out` may be `a` or `b`.
    /// If XOR is not free, `tables` has the tables, gate by gate, copy by copy. A gate that reads
    /// constant slots (below 2) has no table even then.
    ///
    /// # Panics
    /// If lengths do not fit (the caller's bug).
    fn xors(&mut self, wires: &mut [Self::Wire], strip: usize, gates: &[[Slot; 3]], tables: Self::Bytes<'_>);

    /// Whether this endpoint has [`GateBackend::sums`]. It requires that XOR is free and a XOR of
    /// labels alone, and that tables are whole bytes.
    const SUMS: bool = false;

    /// Computes XORs without tables that were grouped into sums; see [`hushwire_circuit::Woven`].
    fn sums(&mut self, _wires: &mut [Self::Wire], _strip: usize, _sums: &TripleSums, _range: Range<usize>) {
        unreachable!("an end that has sums says so")
    }

    /// Runs layers of a single copy, at an endpoint with sums: for every layer the sums, and then
    /// the ANDs, whose products lie behind the cells. `tables` are the tables of these layers.
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

/// [`GateBackend::layers`], with sums and ANDs run one after the other.
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

/// The garbler's part of a scheme.
pub trait Garble: for<'t> GateBackend<Bytes<'t> = &'t mut [u8]> {
    /// The OTs from which it takes the evaluator's inputs.
    type Transfer: Transfer;

    /// The garbler of a session. `delta` is the correlation of the OTs that bring the evaluator's
    /// inputs, with bit 0 set; without it, Δ is drawn from `seed`. PRF garbling has no correlation.
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, seed: &Seed, delta: Option<Block>)
    -> Self;
    /// The wire of an input of the evaluator, from the garbler's result of its OT.
    fn theirs(&mut self, sent: <Self::Transfer as Transfer>::Sent) -> Self::Wire;
    /// The wire of an input of the garbler: its value is `bit`, and the evaluator holds `active`, a
    /// fresh public block. Constant time in `bit`, which is 0 or 1.
    fn own(&mut self, active: Block, bit: u8) -> Self::Wire;
    /// The signal of truth value 0: 0 or 1.
    fn permute_bit(&self, wire: Self::Wire) -> u8;
}

/// The evaluator's part of a scheme.
pub trait Evaluate: for<'t> GateBackend<Bytes<'t> = &'t [u8]> {
    /// The OTs from which it takes its inputs.
    type Transfer: Transfer;

    /// The evaluator of a session.
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self;
    /// The wire of an input of the garbler, from the public block of [`Garble::own`].
    fn label(&self, label: Block) -> Self::Wire;
    /// The wire of an input of the evaluator, from its result of the OT for this choice, 0 or 1.
    fn own(&self, received: Block, choice: u8) -> Self::Wire;
    /// The signal of the label that it holds: 0 or 1.
    fn signal(&self, wire: Self::Wire) -> u8;
}

/// Two matching endpoints.
pub trait Family {
    /// The party that makes the tables.
    type Garbler: Garble + Send;
    /// The party that uses the tables.
    type Evaluator: Evaluate + Send;
}

/// Δ: the given block, or a drawn one. Bit 0 is set, so that a wire's two labels have different
/// signals.
pub(crate) fn correlation(backend: Backend, seed: &Seed, given: Option<Block>) -> Block {
    let mut delta = given.unwrap_or_else(|| Prg::new(backend, seed, "garble delta").next_block());
    delta.0[0] |= 1;
    delta
}

/// The garbler's wire in families with free XOR.
#[cfg(test)]
pub(crate) type ZeroLabel = Tagged<TruthZero>;
/// The evaluator's wire.
pub(crate) type ActiveLabel = Tagged<Active>;
