//! The receiver's endpoint.

#[cfg(test)]
mod hostile;

use core::marker::PhantomData;
use std::thread;

use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer};
use hushwire_machine::drive::{Line, Misstep, Talk};
use hushwire_machine::passed_on;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, ReceiverEntries};
use hushwire_ot::{Context, Level, Malicious, Role, Security, SemiHonest};
use hushwire_prg::{Prg, Seed};

use super::close::{DIGEST, MASK, Mask, Noted, OPENING, Spoken, block};
use super::hash::Functions;
use super::list::{AHEAD, List, ListShape};
use super::payload::{Incoming, Pieces};
use super::{ItemDigest, Opened, Parameters};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Encoder, Layout, Module, no_addition};

/// The receiver, a [`Machine`](hushwire_machine::drive::Machine) with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Receiver(Line<'static, Opened, PsiError>);

impl Receiver {
    /// A receiver with the digests of its items. `context` is agreed and used for this run alone;
    /// `seed` is this party's secret randomness for this run alone.
    ///
    /// # Errors
    /// If there are more items than agreed, or than an intersection takes.
    pub fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        parameters.check(digests.len(), parameters.receiver_items)?;
        let line = match (parameters.security, parameters.is_short()) {
            (Level::SemiHonest, true) => ReceiverState::<Pair64>::begin::<SemiHonest>,
            (Level::SemiHonest, false) => ReceiverState::<Full128>::begin::<SemiHonest>,
            (Level::Malicious, _) => ReceiverState::<Full128>::begin::<Malicious>,
        };
        Ok(Receiver(line(context, parameters, digests, seed)?))
    }

    /// The indices of its items that the sender has too, ascending.
    ///
    /// # Panics
    /// If rounds remain (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Vec<u32> {
        self.open().common
    }

    /// The same result, with the sender's payload of each.
    ///
    /// # Panics
    /// As [`Receiver::finish`].
    #[must_use]
    pub fn open(self) -> Opened {
        self.0.finish()
    }
}

passed_on!([] Receiver, PsiError, self => self.0);

/// A receiver's items and the values computed from them.
struct ReceiverState<F: Field> {
    context: Context,
    parameters: Parameters,
    layout: Layout,
    shape: ListShape,
    /// The digests, in the order of bins.
    digests: Vec<ItemDigest>,
    binned: Binned,
    /// The working memory of each thread.
    bins: Vec<Bin<F>>,
    /// The messages A' of the next bins, the last one first.
    ahead: Vec<Buffer>,
    functions: Functions,
    /// The sum of both masks; only in the malicious mode.
    mask: Block,
    pads: Prg,
    /// The values in the order of bins, cut to the bits that are sent.
    values: Vec<u128>,
    tags: Vec<u64>,
    incoming: Option<Incoming>,
    common: Vec<u32>,
    #[cfg(test)]
    cheat: hostile::Cheat,
}

impl<F: Field> ReceiverState<F>
where
    F::Base: Module<F::Base>,
{
    fn begin<S: Security>(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Line<'static, Opened, PsiError>, PsiError> {
        ReceiverState::<F>::new::<S>(context, parameters, digests, seed).line::<S>(seed)
    }

    fn new<S: Security>(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Self {
        let layout = parameters.layout();
        let binned = Binned::new(&layout, &digests);
        let digests = binned.grouped(digests);
        ReceiverState {
            context: *context,
            parameters: *parameters,
            layout,
            shape: if parameters.is_empty() { ListShape::new(1, 40) } else { parameters.shape() },
            binned,
            bins: (0..threads(&layout)).map(|_| Bin::new(context.backend, &layout)).collect(),
            ahead: Vec::new(),
            functions: Functions::new::<S>(context),
            mask: Block::ZERO,
            pads: Prg::new(context.backend, &seed.derive("psi receiver", &context.sid.0), "psi masks"),
            values: Vec::new(),
            tags: Vec::new(),
            incoming: (parameters.payload_bytes > 0).then(|| Incoming::new(context, digests.len())),
            common: Vec::new(),
            digests,
            #[cfg(test)]
            cheat: hostile::Cheat::default(),
        }
    }

    fn line<S: Security>(self, seed: &Seed) -> Result<Line<'static, Opened, PsiError>, PsiError> {
        let count = if self.parameters.is_empty() { 0 } else { self.layout.entries() };
        let vole = vole::Receiver::<S, F>::new(&self.context.child("psi", 0), count, seed)?;
        Ok(Line::new(|talk| self.run(vole, talk)))
    }

    async fn run<S: Security>(
        mut self,
        mut vole: vole::Receiver<S, F>,
        talk: Talk,
    ) -> Result<Opened, PsiError> {
        if self.parameters.is_empty() {
            return Ok(self.opened());
        }
        let is_malicious = S::LEVEL == Level::Malicious;
        let spoken = Spoken::new(&self.context.sid, is_malicious);
        let mut talk = Noted::new(talk, spoken, Role::Receiver);
        let mut message = Buffer::new();
        let mut commitment = [0; DIGEST];
        if is_malicious {
            message = talk.hear("commitment to a mask", message, DIGEST).await;
            commitment.copy_from_slice(&message);
        }
        talk.talk().run(&mut vole).await?;
        let ReceiverEntries { u, t } = vole.finish();

        for bin in 0..self.layout.bins() {
            let store = self.encode(&u, bin, message)?;
            message = talk.say("store of items", store).await;
        }
        drop(u);
        self.bins = Vec::new();

        if is_malicious {
            message.set_len(MASK);
            self.pads.fill(&mut message);
            self.mask = block(&message);
            message = talk.say("mask", message).await;
            message = talk.hear("opening of a mask", message, OPENING).await;
            self.mask ^= Mask::open(&self.context.sid, &message, &commitment)?.value();
        }

        // Evaluates its own values while the sender computes.
        self.evaluate(&t);
        drop(t);
        message = talk.hear("values, high parts", message, self.shape.high_bytes()).await;
        let mut list = List::new(&self.shape, &message).ok_or(PsiError::Malformed {
            peer: None,
            message: "values, high parts",
            what: "not as many values as agreed",
        })?;
        for piece in 0..self.shape.pieces() {
            message = talk.hear("values, low parts", message, self.shape.low_bytes(piece)).await;
            list.add_low(&message);
        }
        let answer = self.compare(&list);

        let pieces = Pieces::new(&self.parameters);
        for piece in 0..pieces.count() {
            message = talk.hear("payloads", message, pieces.bytes(piece)).await;
            if let Some(incoming) = &mut self.incoming {
                incoming.hear(&pieces, piece, &message);
            }
        }
        if self.parameters.both_learn {
            talk.say("items in common", answer).await;
        }
        talk.close().await?;
        Ok(self.opened())
    }

    fn opened(self) -> Opened {
        let common = self.common;
        match self.incoming {
            Some(incoming) => incoming.open(common),
            None => Opened { common, ..Opened::default() },
        }
    }

    /// The message A' of a bin, in the memory of `out`. The threads make the following bins at the
    /// same time, one each.
    fn encode(&mut self, u: &[F::Base], bin: usize, mut out: Buffer) -> Result<Buffer, PsiError> {
        if let Some(message) = self.ahead.pop() {
            return Ok(message);
        }
        let len = self.layout.bin_entries();
        out.set_len(len * F::Base::BYTES);
        let (digests, binned, functions) = (&self.digests, &self.binned, &self.functions);
        let part = |bin: usize| (&digests[binned.span(bin)], &u[bin * len..(bin + 1) * len]);
        let [first, others @ ..] = &mut self.bins[..] else { return Ok(out) };
        let next = (bin + 1..self.layout.bins()).zip(others);
        self.ahead = thread::scope(|scope| {
            let mut running = vec![];
            for (bin, maker) in next {
                let (digests, u) = part(bin);
                let work = move || {
                    let mut message = Buffer::new();
                    message.set_len(len * F::Base::BYTES);
                    maker.message(functions, digests, u, &mut message).map(|()| message)
                };
                // If the system refuses a thread, its bin and the following ones are made later.
                let Ok(thread) = thread::Builder::new().spawn_scoped(scope, work) else { break };
                running.push(thread);
            }
            let (digests, u) = part(bin);
            let made = first.message(functions, digests, u, &mut out);
            let ahead = running.into_iter().map(|maker| maker.join().map_err(|_| PsiError::NoStore)?);
            let mut ahead = ahead.collect::<Result<Vec<_>, _>>()?;
            ahead.reverse();
            made.map(|()| ahead)
        })?;
        Ok(out)
    }

    /// Computes the values of all items, and drops their inputs.
    fn evaluate(&mut self, t: &[Block]) {
        #[cfg(test)]
        self.try_others();
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
        #[cfg(test)]
        self.note_keys();
    }

    /// Finds the items whose values are in the list; returns the answer for the sender.
    fn compare(&mut self, list: &List) -> Buffer {
        let mut answer = Buffer::new();
        answer.set_len(self.parameters.answer_bytes());
        if self.parameters.has_tags() {
            // The tag of a value that is not common is unknown.
            self.pads.fill(&mut answer);
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
                    Some(tag) => answer[8 * at..8 * at + 8].copy_from_slice(&tag.to_le_bytes()),
                    None => answer[at / 8] |= 1 << (at % 8),
                }
            }
        }
        self.common.sort_unstable();
        if let Some(incoming) = &mut self.incoming {
            incoming.want(wanted, self.parameters.payload_bytes);
        }
        answer
    }
}

/// The number of threads that make stores: at most the number of processors and of bins, and at
/// most two, since each takes the memory of a bin.
fn threads(layout: &Layout) -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    layout.bins().min(processors).clamp(1, 2)
}

/// The memory for making A' of a bin.
struct Bin<F: Field> {
    encoder: Encoder<F::Base, F::Base>,
    store: Vec<F::Base>,
    /// The h(x) of the bin's items.
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

impl From<Misstep> for PsiError {
    fn from(misstep: Misstep) -> Self {
        PsiError::Net(misstep.into())
    }
}
