//! The endpoints of families whose XORs are free: everything except their ANDs.
//!
//! ```text
//! End<Garbling, A>     Δ, wires are labels of 0   ┐ numbers of gates, XORs, inputs, outputs here;
//! End<Evaluating, A>   wires are what it holds    ┘ A, a family's kernels, makes or uses tables
//! ```

use crate::{
    Correlated, Evaluate, Format, Garble, GateBackend, Role, Scheme, SessionNonce, Stretch,
    gates::{Active, TruthZero, correlation, one_by_one},
    half::free_xors_on,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, TripleSums, as_bytes};
use hushwire_circuit::{Slot, Woven};
use hushwire_prg::Seed;
use std::ops::Range;
use zeroize::Zeroize;

/// The parts of an endpoint that depend on its role, and not on the family.
pub trait RolePart: Send {
    /// The kind of its labels.
    type LabelKind;
    /// Tables in the hands of this endpoint.
    type Bytes<'t>: Stretch<'t>;
    /// The role.
    const ROLE: Role;

    /// The XOR of this endpoint's labels of the constants 0 and 1, in families where bit 0 is not
    /// the value.
    fn one(&self) -> Block;
}

/// The garbler's part.
pub struct Garbling {
    /// Δ.
    pub(crate) delta: Block,
}

impl Drop for Garbling {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl RolePart for Garbling {
    type LabelKind = TruthZero;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;

    fn one(&self) -> Block {
        self.delta
    }
}

/// The evaluator's part.
pub struct Evaluating;

impl RolePart for Evaluating {
    type LabelKind = Active;
    type Bytes<'t> = &'t [u8];
    const ROLE: Role = Role::Evaluator;

    // The evaluator holds the same label of both constants.
    fn one(&self) -> Block {
        Block::ZERO
    }
}

/// Independent ANDs; see [`GateBackend::ands`].
pub struct Gates<'a> {
    pub(crate) wires: &'a [Block],
    pub(crate) pairs: &'a [[Slot; 2]],
    pub(crate) out: &'a mut [Block],
}

/// The context in which gates run: the backend, and the number of the first gate.
pub struct At<'a, P> {
    pub(crate) backend: Backend,
    pub(crate) first: u64,
    pub(crate) part: &'a P,
}

/// A family's ANDs at one endpoint.
pub trait Ands<P: RolePart>: Sized + Send {
    /// The lengths of tables.
    const FORMAT: Format;
    /// See [`GateBackend::SUMS`].
    const SUMS: bool = false;
    /// Whether bit 0 of the evaluator's label is the wire's value, and bit 0 of labels of truth
    /// value 0 is clear.
    const VALUES: bool = false;

    /// The gates of a session. Only the garbler has a seed.
    ///
    /// # Panics
    /// If the scheme is another family's (the caller's bug).
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, seed: Option<&Seed>) -> Self;

    /// Prepares for gate `gate`, and returns the number of gates for which this holds.
    fn serve(&mut self, _: Backend, _gate: u64) -> usize {
        usize::MAX
    }

    /// Runs gates, at most as many as it is prepared for; the lengths fit.
    fn run(&mut self, at: &At<'_, P>, gates: Gates<'_>, bytes: P::Bytes<'_>, bits: P::Bytes<'_>);

    /// See [`GateBackend::layers`].
    fn layers(
        end: &mut End<P, Self>,
        wires: &mut [Tagged<P::LabelKind>],
        woven: &Woven,
        layers: Range<usize>,
        tables: P::Bytes<'_>,
    ) {
        one_by_one(end, wires, woven, layers, tables);
    }
}

/// One endpoint of a family.
pub struct End<P, A> {
    pub(crate) backend: Backend,
    pub(crate) part: P,
    pub(crate) ands: A,
    /// The number of the next gate.
    pub(crate) gate: u64,
}

#[cfg(test)]
impl<P, A> End<P, A> {
    /// Continues with gate number `gate`.
    pub(crate) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

impl<P: RolePart, A: Ands<P>> GateBackend for End<P, A> {
    type Wire = Tagged<P::LabelKind>;
    type Bytes<'t> = P::Bytes<'t>;
    const ROLE: Role = P::ROLE;
    const FORMAT: Format = A::FORMAT;
    const SUMS: bool = A::SUMS;

    fn constants(&self) -> [Self::Wire; 2] {
        [Block::ZERO, self.part.one() ^ Block::from_u128(A::VALUES.into())].map(Tagged::new)
    }

    fn ands(
        &mut self,
        wires: &[Self::Wire],
        mut pairs: &[[Slot; 2]],
        out: &mut [Self::Wire],
        mut bytes: P::Bytes<'_>,
        mut bits: P::Bytes<'_>,
    ) {
        let (wires, mut out) = (Tagged::blocks(wires), Tagged::blocks_mut(out));
        let Format { and_bytes, and_bits, .. } = A::FORMAT;
        let bits_of = |gates: usize| if and_bits > 0 { gates } else { 0 };
        let n = pairs.len();
        let fits = out.len() == n && bytes.bytes() == and_bytes * n && bits.bytes() >= bits_of(n);
        assert!(fits, "a table for every gate");
        while !pairs.is_empty() {
            let n = self.ands.serve(self.backend, self.gate).min(pairs.len());
            let (now, later) = pairs.split_at(n);
            let (made, later_out) = out.split_at_mut(n);
            let at = At { backend: self.backend, first: self.gate, part: &self.part };
            let gates = Gates { wires, pairs: now, out: made };
            self.ands.run(&at, gates, bytes.take(and_bytes * n), bits.take(bits_of(n)));
            self.gate += n as u64;
            (pairs, out) = (later, later_out);
        }
    }

    fn layers(
        &mut self,
        wires: &mut [Self::Wire],
        woven: &Woven,
        layers: Range<usize>,
        tables: P::Bytes<'_>,
    ) {
        A::layers(self, wires, woven, layers, tables);
    }

    fn xors(&mut self, wires: &mut [Self::Wire], strip: usize, gates: &[[Slot; 3]], _: P::Bytes<'_>) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    fn sums(&mut self, wires: &mut [Self::Wire], strip: usize, sums: &TripleSums, range: Range<usize>) {
        sums.run(self.backend.tier(), range, Tagged::blocks_mut(wires), strip);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl<A: Ands<Garbling>> Garble for End<Garbling, A> {
    type Transfer = Correlated;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        let part = Garbling { delta: correlation(backend, seed, delta) };
        End { backend, part, ands: A::new(backend, scheme, public, Some(seed)), gate: 0 }
    }

    /// In families where bit 0 is the value, bit 0 of q must be clear. This holds if bit 0 of the
    /// evaluator's label is its choice.
    fn theirs(&mut self, q: Block) -> Self::Wire {
        assert!(!A::VALUES || !q.lsb(), "bit 0 of the evaluator's label is its choice");
        Tagged::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> Self::Wire {
        let mut zero = active ^ self.part.delta.and_bit(bit & 1 == 1);
        zero.0[0] &= !u8::from(A::VALUES);
        Tagged::new(zero)
    }

    fn permute_bit(&self, wire: Self::Wire) -> u8 {
        as_bytes(&[wire.block()])[0] & 1
    }
}

impl<A: Ands<Evaluating>> Evaluate for End<Evaluating, A> {
    type Transfer = Correlated;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        End { backend, part: Evaluating, ands: A::new(backend, scheme, public, None), gate: 0 }
    }

    fn label(&self, label: Block) -> Self::Wire {
        Tagged::new(label)
    }

    fn own(&self, t: Block, _: u8) -> Self::Wire {
        Tagged::new(t)
    }

    fn signal(&self, wire: Self::Wire) -> u8 {
        wire.block().0[0] & 1
    }
}
