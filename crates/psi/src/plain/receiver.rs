//! The receiver's half.

use core::marker::PhantomData;

use hushwire_block::Block;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, ReceiverEntries};
use hushwire_ot::{Context, SemiHonest};
use hushwire_prg::Seed;
use hushwire_simd::clmul::Clmul;
use hushwire_wire::drive::{Exchanged, Latch, Machine, Misstep, Round};
use hushwire_wire::gated;

use super::hash::OutputHash;
use super::list::{List, Shape};
use super::{ItemDigest, Parameters};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Encoder, Layout, Module, no_addition, tail};

/// The receiver, a [`Machine`] with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Receiver(Box<dyn Half>);

/// A half in one of the fields.
trait Half: Machine<Error = PsiError> + Send {
    fn finish(self: Box<Self>) -> Vec<u32>;
}

impl Receiver {
    /// With the digests of its items. `context` is agreed and of this run alone, `seed` this party's secret randomness, for
    /// this run alone.
    ///
    /// # Errors
    /// There are more items than agreed, or than an intersection takes.
    pub fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        parameters.check(digests.len(), parameters.receiver_items)?;
        Ok(Receiver(if parameters.is_short() {
            Box::new(State::<Pair64>::new(context, parameters, digests, seed)?)
        } else {
            Box::new(State::<Full128>::new(context, parameters, digests, seed)?)
        }))
    }

    /// The numbers of its items that the sender has too, rising.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Vec<u32> {
        self.0.finish()
    }
}

impl Machine for Receiver {
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
    Vole(Box<vole::Receiver<SemiHonest, F>>),
    /// A' of this bin.
    Store(usize),
    High,
    /// This message of low parts.
    Low(usize),
    Answer,
    Done,
}

struct State<F: Field> {
    parameters: Parameters,
    layout: Layout,
    shape: Shape,
    phase: Phase<F>,
    digests: Vec<ItemDigest>,
    binned: Binned,
    encoder: Encoder<F::Base, F::Base>,
    store: Vec<F::Base>,
    entries: Option<ReceiverEntries<F>>,
    hash: OutputHash,
    /// Item by item, cut to the bits that are sent.
    values: Vec<u128>,
    list: Option<List>,
    common: Vec<u32>,
    answer: Vec<u8>,
    latch: Latch,
}

impl<F: Field> State<F>
where
    F::Base: Module<F::Base>,
{
    fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        let layout = parameters.layout();
        let empty = parameters.is_empty();
        let count = if empty { 0 } else { layout.entries() };
        let vole = vole::Receiver::new(&context.child("psi", 0), count, seed)?;
        let binned = Binned::new(&layout, &digests);
        Ok(State {
            parameters: *parameters,
            layout,
            shape: if empty { Shape::new(1, 40) } else { parameters.shape() },
            phase: if empty { Phase::Done } else { Phase::Vole(Box::new(vole)) },
            binned,
            encoder: Encoder::new(&layout),
            store: vec![F::Base::default(); layout.bin_entries()],
            entries: None,
            hash: OutputHash::new(context),
            values: Vec::new(),
            list: None,
            common: Vec::new(),
            answer: Vec::new(),
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
            Phase::Store(_) => said("store of items", self.layout.bin_entries() * F::Base::BYTES),
            Phase::High => heard("values, high parts", self.shape.high_bytes()),
            Phase::Low(piece) => heard("values, low parts", self.shape.low_bytes(*piece)),
            Phase::Answer => said("items in common", self.parameters.answer_bytes()),
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), PsiError> {
        match &mut self.phase {
            Phase::Vole(vole) => vole.write(0, out)?,
            Phase::Store(bin) => {
                let bin = *bin;
                self.encode(bin, out)?;
            }
            // The sender needs its time for its values: ours are made now.
            Phase::High => self.evaluate(),
            Phase::Answer => out.copy_from_slice(&self.answer),
            Phase::Low(_) | Phase::Done => {}
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
                *bin += 1;
                if *bin == self.layout.bins() {
                    self.phase = Phase::High;
                }
            }
            Phase::High => {
                let list = List::new(&self.shape, message.heard);
                self.list = Some(list.ok_or(PsiError::Malformed {
                    peer: None,
                    message: "values, high parts",
                    what: "not as many values as agreed",
                })?);
                self.phase = Phase::Low(0);
            }
            Phase::Low(piece) => {
                self.list.as_mut().expect("the high part came").add_low(message.heard);
                *piece += 1;
                if *piece == self.shape.pieces() {
                    self.compare();
                    self.phase = if self.parameters.both_learn { Phase::Answer } else { Phase::Done };
                }
            }
            Phase::Answer => self.phase = Phase::Done,
            Phase::Done => {}
        }
        Ok(())
    }

    /// A' of a bin.
    fn encode(&mut self, bin: usize, out: &mut [u8]) -> Result<(), PsiError> {
        self.encoder.clear();
        for item in self.binned.bin(bin) {
            let digest = &self.digests[*item as usize];
            self.encoder.push(digest, F::Base::from_word(tail(digest)));
        }
        self.encoder.solve(&mut self.store, None).map_err(|_| PsiError::NoStore)?;
        let u = &self.entries.as_ref().expect("the VOLE is done").u[bin * self.store.len()..];
        for ((p, u), out) in self.store.iter().zip(u).zip(out.chunks_exact_mut(F::Base::BYTES)) {
            Base::plus(*p, *u).to_bytes(out);
        }
        Ok(())
    }

    /// The values of all items; what made them is forgotten.
    fn evaluate(&mut self) {
        let ReceiverEntries { u, t } = self.entries.take().expect("the VOLE is done");
        drop(u);
        let digests = core::mem::take(&mut self.digests);
        self.values = vec![0; digests.len()];
        let (mut inputs, mut outputs) = (vec![], vec![]);
        for (bin, t) in t.chunks_exact(self.layout.bin_entries()).enumerate() {
            let items = self.binned.bin(bin);
            inputs.resize(items.len(), Block::ZERO);
            outputs.resize(items.len(), Block::ZERO);
            Clmul::best().run(Decode::<F, _> {
                layout: &self.layout,
                bin: t,
                digests: &digests,
                items,
                delta: Block::ZERO,
                add: no_addition,
                out: &mut inputs,
                field: PhantomData,
            });
            self.hash.bin(bin, &inputs, &mut outputs);
            for (item, value) in items.iter().zip(&outputs) {
                self.values[*item as usize] = value.to_u128() & self.shape.mask();
            }
        }
    }

    fn compare(&mut self) {
        let list = self.list.take().expect("the list came");
        self.answer = vec![0; self.parameters.answer_bytes()];
        for (item, value) in core::mem::take(&mut self.values).into_iter().enumerate() {
            if let Some(at) = list.find(value) {
                self.common.push(item as u32);
                self.answer[at / 8] |= 1 << (at % 8);
            }
        }
    }
}

gated!([F: Field<Base: Module<<F as Field>::Base>>] State<F>, PsiError;);

impl<F: Field<Base: Module<<F as Field>::Base>>> Half for State<F> {
    fn finish(self: Box<Self>) -> Vec<u32> {
        assert!(self.round(0).is_none(), "finish comes after the last round");
        self.common
    }
}

impl From<Misstep> for PsiError {
    fn from(misstep: Misstep) -> Self {
        PsiError::Net(misstep.into())
    }
}
