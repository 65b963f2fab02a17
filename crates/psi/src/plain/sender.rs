//! The sender's half.

use core::marker::PhantomData;

use hushwire_block::Block;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, SenderEntries};
use hushwire_ot::{Context, SemiHonest};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::{Clmul, WordKernel, Words};
use hushwire_wire::drive::{Exchanged, Latch, Machine, Round};
use hushwire_wire::gated;

use super::hash::OutputHash;
use super::list::{self, Shape};
use super::{ItemDigest, Parameters};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Layout, tail};

/// The sender, a [`Machine`] with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Sender(Box<dyn Half>);

/// A half in one of the fields.
trait Half: Machine<Error = PsiError> + Send {
    fn finish(self: Box<Self>) -> Option<Vec<u32>>;
}

impl Sender {
    /// As [`super::Receiver::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        parameters.check(digests.len(), parameters.sender_items)?;
        Ok(Sender(if parameters.is_short() {
            Box::new(State::<Pair64>::new(context, parameters, digests, seed)?)
        } else {
            Box::new(State::<Full128>::new(context, parameters, digests, seed)?)
        }))
    }

    /// The numbers of its items that the receiver has too, rising; `None` where the receiver alone learns.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Option<Vec<u32>> {
        self.0.finish()
    }
}

impl Machine for Sender {
    type Error = PsiError;

    fn round(&self, slot: usize) -> Option<Round> {
        self.0.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), PsiError> {
        self.0.write(slot, out)
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), PsiError> {
        self.0.read(messages)
    }
}

/// The next round.
enum Phase<F: Field> {
    Vole(Box<vole::Sender<SemiHonest, F>>),
    /// A' of this bin.
    Store(usize),
    High,
    /// This message of low parts.
    Low(usize),
    Answer,
    Done,
}

/// No item: a random value in its place.
const NOBODY: u32 = u32::MAX;

struct State<F: Field> {
    parameters: Parameters,
    layout: Layout,
    shape: Shape,
    phase: Phase<F>,
    digests: Vec<ItemDigest>,
    binned: Binned,
    entries: Option<SenderEntries>,
    hash: OutputHash,
    pads: Prg,
    inputs: Vec<Block>,
    outputs: Vec<Block>,
    /// Values above the numbers of their items; from the high part on in order.
    keys: Vec<u128>,
    /// Of values that come more than once, all but the first: the value's place in the list, and the item.
    again: Vec<[u32; 2]>,
    common: Vec<u32>,
    latch: Latch,
}

impl<F: Field> State<F> {
    fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        let layout = parameters.layout();
        let empty = parameters.is_empty();
        let count = if empty { 0 } else { layout.entries() };
        let vole = vole::Sender::new(&context.child("psi", 0), count, seed)?;
        Ok(State {
            parameters: *parameters,
            layout,
            shape: if empty { Shape::new(1, 40) } else { parameters.shape() },
            phase: if empty { Phase::Done } else { Phase::Vole(Box::new(vole)) },
            binned: Binned::new(&layout, &digests),
            entries: None,
            hash: OutputHash::new(context),
            pads: Prg::new(context.backend, &seed.derive("psi pads", &context.sid.0), "psi pads"),
            inputs: Vec::new(),
            outputs: Vec::new(),
            keys: Vec::with_capacity(digests.len()),
            again: Vec::new(),
            common: Vec::new(),
            digests,
            latch: Latch::new(),
        })
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        let heard = |name, into| Some(Round { name, out: 0, into });
        let said = |name, out| Some(Round { name, out, into: 0 });
        match &self.phase {
            Phase::Vole(vole) => vole.round(0),
            Phase::Store(_) => heard("store of items", self.layout.bin_entries() * F::Base::BYTES),
            Phase::High => said("values, high parts", self.shape.high_bytes()),
            Phase::Low(piece) => said("values, low parts", self.shape.low_bytes(*piece)),
            Phase::Answer => heard("items in common", self.parameters.answer_bytes()),
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), PsiError> {
        let value = |i: usize| self.keys[i] >> 32;
        match &mut self.phase {
            Phase::Vole(vole) => vole.write(0, out)?,
            Phase::High => list::write_high(&self.shape, (0..self.shape.count()).map(value), out),
            Phase::Low(piece) => list::write_low(&self.shape, *piece, value, out),
            Phase::Store(_) | Phase::Answer | Phase::Done => {}
        }
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), PsiError> {
        match &mut self.phase {
            Phase::Vole(vole) => {
                vole.read(&[message])?;
                if vole.round(0).is_none() {
                    let Phase::Vole(vole) = core::mem::replace(&mut self.phase, Phase::Store(0)) else {
                        unreachable!("it was the VOLE's")
                    };
                    self.entries = Some(vole.finish());
                }
            }
            Phase::Store(bin) => {
                let bin = *bin;
                self.evaluate(bin, message.heard);
                self.phase = Phase::Store(bin + 1);
                if bin + 1 == self.layout.bins() {
                    self.order();
                    self.phase = Phase::High;
                }
            }
            Phase::High => self.phase = Phase::Low(0),
            Phase::Low(piece) => {
                *piece += 1;
                if *piece == self.shape.pieces() {
                    self.phase = if self.parameters.both_learn { Phase::Answer } else { Phase::Done };
                }
            }
            Phase::Answer => {
                self.learn(message.heard);
                self.phase = Phase::Done;
            }
            Phase::Done => {}
        }
        Ok(())
    }

    /// The values of a bin's items, once its part of A' is there.
    fn evaluate(&mut self, bin: usize, message: &[u8]) {
        let entries = self.entries.as_mut().expect("the VOLE is done");
        let (len, delta) = (self.layout.bin_entries(), *entries.delta);
        let q = &mut entries.q[bin * len..(bin + 1) * len];
        let clmul = Clmul::best();
        clmul.run(Shift::<F> { q, message, delta, field: PhantomData });
        let items = self.binned.bin(bin);
        self.inputs.resize(items.len(), Block::ZERO);
        self.outputs.resize(items.len(), Block::ZERO);
        clmul.run(Decode::<F, _> {
            layout: &self.layout,
            bin: q,
            digests: &self.digests,
            items,
            delta,
            add: |digest: &ItemDigest| F::Base::from_word(tail(digest)),
            out: &mut self.inputs,
            field: PhantomData,
        });
        self.hash.bin(bin, &self.inputs, &mut self.outputs);
        let mask = self.shape.mask();
        let keys = items.iter().zip(&self.outputs);
        self.keys.extend(keys.map(|(item, value)| (value.to_u128() & mask) << 32 | u128::from(*item)));
    }

    /// All values in order, each once, and random ones in place of those that are missing.
    fn order(&mut self) {
        self.entries = None;
        self.digests = Vec::new();
        self.keys.sort_unstable();
        let mut again: Vec<u128> = vec![];
        self.keys.dedup_by(|key, kept| {
            let same = *key >> 32 == *kept >> 32;
            if same {
                again.push(*key);
            }
            same
        });
        while self.keys.len() < self.shape.count() {
            let missing = self.shape.count() - self.keys.len();
            let pad = |_| list::random(&self.shape, &mut self.pads) << 32 | u128::from(NOBODY);
            self.keys.extend((0..missing).map(pad));
            self.keys.sort_unstable();
            self.keys.dedup_by_key(|key| *key >> 32);
        }
        self.again = again
            .into_iter()
            .map(|key| {
                let at = self.keys.partition_point(|kept| *kept >> 32 < key >> 32);
                [at as u32, key as u32]
            })
            .collect();
    }

    /// The items of the values whose bits are set.
    fn learn(&mut self, answer: &[u8]) {
        let is_common = |at: usize| answer[at / 8] >> (at % 8) & 1 == 1;
        let once = self.keys.iter().enumerate().filter(|(at, _)| is_common(*at)).map(|(_, key)| *key as u32);
        let again = self.again.iter().filter(|[at, _]| is_common(*at as usize)).map(|[_, item]| *item);
        self.common = once.filter(|item| *item != NOBODY).chain(again).collect();
        self.common.sort_unstable();
    }
}

/// q += A'Δ.
struct Shift<'a, F> {
    q: &'a mut [Block],
    message: &'a [u8],
    delta: Block,
    field: PhantomData<F>,
}

impl<F: Field> WordKernel for Shift<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<W: Words>(self, words: W) {
        for (q, a) in self.q.iter_mut().zip(self.message.chunks_exact(F::Base::BYTES)) {
            *q ^= F::times(F::Base::from_bytes(a), self.delta, words);
        }
    }
}

gated!([F: Field] State<F>, PsiError;);

impl<F: Field> Half for State<F> {
    fn finish(self: Box<Self>) -> Option<Vec<u32>> {
        assert!(self.round(0).is_none(), "finish comes after the last round");
        self.parameters.both_learn.then_some(self.common)
    }
}
