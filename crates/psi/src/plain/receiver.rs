//! The receiver's half.

#[cfg(test)]
mod hostile;

use core::marker::PhantomData;
use std::thread;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_machine::drive::{Exchanged, Latch, Machine, Misstep, Round};
use hushwire_machine::gated;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, ReceiverEntries};
use hushwire_ot::{Context, Level, Malicious, Role, Security, SemiHonest};
use hushwire_prg::{Prg, Seed};

use super::close::{DIGEST, MASK, Mask, OPENING, Spoken, block};
use super::hash::Functions;
use super::list::{AHEAD, List, Shape};
use super::payload::{Incoming, Pieces};
use super::{ItemDigest, Opened, Parameters};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Encoder, Layout, Module, no_addition};

/// The receiver, a [`Machine`] with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Receiver(Box<dyn Half>);

/// A half in one of the fields.
trait Half: Machine<Error = PsiError> + Send {
    fn open(self: Box<Self>) -> Opened;
    #[cfg(test)]
    fn inside(&mut self) -> (&mut Vec<ItemDigest>, Option<&Incoming>);
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
        Ok(Receiver(match (parameters.security, parameters.is_short()) {
            (Level::SemiHonest, true) => {
                Box::new(State::<SemiHonest, Pair64>::new(context, parameters, digests, seed)?)
            }
            (Level::SemiHonest, false) => {
                Box::new(State::<SemiHonest, Full128>::new(context, parameters, digests, seed)?)
            }
            (Level::Malicious, _) => {
                Box::new(State::<Malicious, Full128>::new(context, parameters, digests, seed)?)
            }
        }))
    }

    /// The numbers of its items that the sender has too, rising.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Vec<u32> {
        self.0.open().common
    }

    /// The same, with the sender's payload of each.
    ///
    /// # Panics
    /// As [`Receiver::finish`].
    #[must_use]
    pub fn open(self) -> Opened {
        self.0.open()
    }

    /// The digests that it evaluates, and what it has of payloads.
    #[cfg(test)]
    pub(super) fn inside(&mut self) -> (&mut Vec<ItemDigest>, Option<&Incoming>) {
        self.0.inside()
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
enum Phase<S: Security, F: Field> {
    /// The commitment to the sender's mask; then the VOLE.
    Commitment(Box<vole::Receiver<S, F>>),
    Vole(Box<vole::Receiver<S, F>>),
    /// A' of this bin.
    Store(usize),
    /// This party's mask, then the opening of the sender's.
    Mask,
    Opening,
    High,
    /// This message of low parts.
    Low(usize),
    /// This message of payloads.
    Payloads(usize),
    Answer,
    Close,
    Done,
}

struct State<S: Security, F: Field> {
    context: Context,
    parameters: Parameters,
    layout: Layout,
    shape: Shape,
    phase: Phase<S, F>,
    /// In the order of bins.
    digests: Vec<ItemDigest>,
    binned: Binned,
    /// One for each thread.
    bins: Vec<Bin<F>>,
    /// A' of the bins that come next, the last one first.
    ahead: Vec<Vec<u8>>,
    entries: Option<ReceiverEntries<F>>,
    functions: Functions,
    /// Words of malicious modes; the commitment that came; the sum of both masks.
    spoken: Spoken,
    commitment: [u8; DIGEST],
    mask: Block,
    pads: Prg,
    /// In the order of bins, cut to the bits that are sent.
    values: Vec<u128>,
    tags: Vec<u64>,
    incoming: Option<Incoming>,
    pieces: Pieces,
    list: Option<List>,
    common: Vec<u32>,
    answer: Vec<u8>,
    latch: Latch,
}

impl<S: Security, F: Field> State<S, F>
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
        let digests = binned.grouped(digests);
        Ok(State {
            context: *context,
            parameters: *parameters,
            layout,
            shape: if empty { Shape::new(1, 40) } else { parameters.shape() },
            phase: match S::LEVEL {
                _ if empty => Phase::Done,
                Level::SemiHonest => Phase::Vole(Box::new(vole)),
                Level::Malicious => Phase::Commitment(Box::new(vole)),
            },
            binned,
            bins: (0..threads(&layout)).map(|_| Bin::new(context.backend, &layout)).collect(),
            ahead: Vec::new(),
            entries: None,
            functions: Functions::new::<S>(context),
            spoken: Spoken::new(&context.sid, S::LEVEL == Level::Malicious),
            commitment: [0; DIGEST],
            mask: Block::ZERO,
            pads: Prg::new(context.backend, &seed.derive("psi receiver", &context.sid.0), "psi masks"),
            values: Vec::new(),
            tags: Vec::new(),
            incoming: (parameters.payload_bytes > 0).then(|| Incoming::new(context, digests.len())),
            pieces: Pieces::new(parameters),
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
            Phase::Commitment(_) => heard("commitment to a mask", DIGEST),
            Phase::Vole(vole) => vole.round(0),
            Phase::Mask => said("mask", MASK),
            Phase::Opening => heard("opening of a mask", OPENING),
            Phase::Close => Some(Round::even("comparing what was said", DIGEST)),
            Phase::Store(_) => said("store of items", self.layout.bin_entries() * F::Base::BYTES),
            Phase::High => heard("values, high parts", self.shape.high_bytes()),
            Phase::Low(piece) => heard("values, low parts", self.shape.low_bytes(*piece)),
            Phase::Payloads(piece) => heard("payloads", self.pieces.bytes(*piece)),
            Phase::Answer => said("items in common", self.parameters.answer_bytes()),
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), PsiError> {
        match &mut self.phase {
            Phase::Vole(vole) => return Ok(vole.write(0, out)?),
            Phase::Store(bin) => {
                let bin = *bin;
                self.encode(bin, out)?;
            }
            Phase::Mask => {
                self.pads.fill(out);
                self.mask = block(out);
            }
            // The sender needs its time for its values: ours are made now.
            Phase::High => self.evaluate(),
            Phase::Answer => out.copy_from_slice(&self.answer),
            Phase::Close => {
                out.copy_from_slice(&self.spoken.digest(Role::Receiver));
                return Ok(());
            }
            Phase::Commitment(_) | Phase::Opening | Phase::Low(_) | Phase::Payloads(_) | Phase::Done => {}
        }
        if !out.is_empty() {
            self.spoken.hear(Role::Receiver, out);
        }
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), PsiError> {
        if !matches!(self.phase, Phase::Vole(_) | Phase::Close) && !message.heard.is_empty() {
            self.spoken.hear(Role::Sender, message.heard);
        }
        let close = if S::LEVEL == Level::Malicious { Phase::Close } else { Phase::Done };
        let after_values = if self.parameters.both_learn { Phase::Answer } else { close };
        self.phase = match core::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Commitment(vole) => {
                self.commitment.copy_from_slice(message.heard);
                Phase::Vole(vole)
            }
            Phase::Vole(mut vole) => {
                vole.read(&[message])?;
                if vole.round(0).is_some() {
                    Phase::Vole(vole)
                } else {
                    self.entries = Some(vole.finish());
                    Phase::Store(0)
                }
            }
            Phase::Store(bin) if bin + 1 < self.layout.bins() => Phase::Store(bin + 1),
            Phase::Store(_) if S::LEVEL == Level::Malicious => Phase::Mask,
            Phase::Store(_) => Phase::High,
            Phase::Mask => Phase::Opening,
            Phase::Opening => {
                let theirs = Mask::open(&self.context.sid, message.heard, &self.commitment)?;
                self.mask ^= theirs.value();
                Phase::High
            }
            Phase::High => {
                let list = List::new(&self.shape, message.heard);
                self.list = Some(list.ok_or(PsiError::Malformed {
                    peer: None,
                    message: "values, high parts",
                    what: "not as many values as agreed",
                })?);
                Phase::Low(0)
            }
            Phase::Low(piece) => {
                self.list.as_mut().expect("the high part came").add_low(message.heard);
                if piece + 1 < self.shape.pieces() {
                    Phase::Low(piece + 1)
                } else {
                    self.compare();
                    if self.pieces.count() > 0 { Phase::Payloads(0) } else { after_values }
                }
            }
            Phase::Payloads(piece) => {
                if let Some(incoming) = &mut self.incoming {
                    incoming.hear(&self.pieces, piece, message.heard);
                }
                if piece + 1 < self.pieces.count() { Phase::Payloads(piece + 1) } else { after_values }
            }
            Phase::Answer if S::LEVEL == Level::Malicious => Phase::Close,
            Phase::Close => {
                self.spoken.compare(Role::Sender, message.heard)?;
                Phase::Done
            }
            Phase::Answer | Phase::Done => Phase::Done,
        };
        Ok(())
    }

    /// A' of a bin; those of the bins behind it are made meanwhile, one by each thread.
    fn encode(&mut self, bin: usize, out: &mut [u8]) -> Result<(), PsiError> {
        if let Some(message) = self.ahead.pop() {
            out.copy_from_slice(&message);
            return Ok(());
        }
        let len = self.layout.bin_entries();
        let u = &self.entries.as_ref().expect("the VOLE is done").u;
        let (digests, binned, functions) = (&self.digests, &self.binned, &self.functions);
        let part = |bin: usize| (&digests[binned.span(bin)], &u[bin * len..(bin + 1) * len]);
        let [first, others @ ..] = &mut self.bins[..] else { return Ok(()) };
        let next = (bin + 1..self.layout.bins()).zip(others);
        self.ahead = thread::scope(|scope| {
            let mut running = vec![];
            for (bin, maker) in next {
                let (digests, u) = part(bin);
                let work = move || {
                    let mut message = vec![0; len * F::Base::BYTES];
                    maker.message(functions, digests, u, &mut message).map(|()| message)
                };
                // A thread that the system does not give leaves its bin and those behind it for later.
                let Ok(thread) = thread::Builder::new().spawn_scoped(scope, work) else { break };
                running.push(thread);
            }
            let (digests, u) = part(bin);
            let made = first.message(functions, digests, u, out);
            let ahead = running.into_iter().map(|maker| maker.join().map_err(|_| PsiError::NoStore)?);
            let mut ahead = ahead.collect::<Result<Vec<_>, _>>()?;
            ahead.reverse();
            made.map(|()| ahead)
        })?;
        Ok(())
    }

    /// The values of all items; what made them is forgotten.
    fn evaluate(&mut self) {
        let ReceiverEntries { u, t } = self.entries.take().expect("the VOLE is done");
        drop(u);
        self.bins = Vec::new();
        let digests = core::mem::take(&mut self.digests);
        self.values.reserve_exact(digests.len());
        self.tags.reserve_exact(if self.parameters.has_tags() { digests.len() } else { 0 });
        let (mut inputs, mut scratch) = (vec![], vec![]);
        for (bin, t) in t.chunks_exact(self.layout.bin_entries()).enumerate() {
            let digests = &digests[self.binned.span(bin)];
            inputs.resize(digests.len(), Block::ZERO);
            Decode::<F, _, _> {
                layout: &self.layout,
                bin: t,
                digests: digests.iter(),
                delta: Block::ZERO,
                add: no_addition,
                out: &mut inputs,
                field: PhantomData,
            }
            .run_on(self.context.backend);
            self.functions.outputs(bin, self.mask, digests, &inputs, &mut scratch, |_, output| {
                self.values.push(output.value & self.shape.mask());
                if self.parameters.has_tags() {
                    self.tags.push(output.tag);
                }
            });
            if let Some(incoming) = &mut self.incoming {
                incoming.keys(self.mask, digests, &inputs);
            }
        }
    }

    fn compare(&mut self) {
        let list = self.list.take().expect("the list came");
        self.answer = vec![0; self.parameters.answer_bytes()];
        if self.parameters.has_tags() {
            // Of a value that is not common the tag is not known.
            self.pads.fill(&mut self.answer);
        }
        let mut wanted = vec![];
        let values = core::mem::take(&mut self.values);
        for (place, value) in values.iter().enumerate() {
            if place.is_multiple_of(AHEAD) {
                list.warm(&values[place..values.len().min(place + AHEAD)]);
            }
            if let Some(at) = list.find(*value) {
                let item = self.binned.item(place);
                self.common.push(item);
                if self.incoming.is_some() {
                    wanted.push([item, at as u32, place as u32]);
                }
                match self.tags.get(place) {
                    Some(tag) => self.answer[8 * at..8 * at + 8].copy_from_slice(&tag.to_le_bytes()),
                    None => self.answer[at / 8] |= 1 << (at % 8),
                }
            }
        }
        self.common.sort_unstable();
        if let Some(incoming) = &mut self.incoming {
            incoming.want(wanted, self.parameters.payload_bytes);
        }
    }
}

/// Threads that make stores: no more than processors, two at most, since each has the memory of a bin, and no more than bins.
fn threads(layout: &Layout) -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    layout.bins().min(processors).clamp(1, 2)
}

/// The memory for making A' of a bin.
struct Bin<F: Field> {
    encoder: Encoder<F::Base, F::Base>,
    store: Vec<F::Base>,
    /// h of the bin's items.
    of_items: Vec<F::Base>,
}

impl<F: Field<Base: Module<<F as Field>::Base>>> Bin<F> {
    fn new(backend: Backend, layout: &Layout) -> Self {
        let store = vec![F::Base::default(); layout.bin_entries()];
        Bin { encoder: Encoder::new(backend, layout), store, of_items: Vec::new() }
    }

    fn message(
        &mut self,
        functions: &Functions,
        digests: &[ItemDigest],
        u: &[F::Base],
        out: &mut [u8],
    ) -> Result<(), PsiError> {
        self.encoder.clear();
        functions.values(digests, &mut self.of_items);
        for (digest, value) in digests.iter().zip(&self.of_items) {
            self.encoder.push(digest, *value);
        }
        self.encoder.solve(&mut self.store, None).map_err(|_| PsiError::NoStore)?;
        for ((p, u), out) in self.store.iter().zip(u).zip(out.chunks_exact_mut(F::Base::BYTES)) {
            Base::plus(*p, *u).to_bytes(out);
        }
        Ok(())
    }
}

gated!([S: Security, F: Field<Base: Module<<F as Field>::Base>>] State<S, F>, PsiError;);

impl<S: Security, F: Field<Base: Module<<F as Field>::Base>>> Half for State<S, F> {
    fn open(self: Box<Self>) -> Opened {
        assert!(self.round(0).is_none(), "the end comes after the last round");
        let common = self.common;
        match self.incoming {
            Some(incoming) => incoming.open(common),
            None => Opened { common, ..Opened::default() },
        }
    }

    #[cfg(test)]
    fn inside(&mut self) -> (&mut Vec<ItemDigest>, Option<&Incoming>) {
        (&mut self.digests, self.incoming.as_ref())
    }
}

impl From<Misstep> for PsiError {
    fn from(misstep: Misstep) -> Self {
        PsiError::Net(misstep.into())
    }
}
