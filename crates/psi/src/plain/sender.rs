//! The sender's half.

use core::marker::PhantomData;

use hushwire_block::Block;
use hushwire_machine::drive::{Exchanged, Latch, Machine, Round};
use hushwire_machine::gated;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, SenderEntries};
use hushwire_ot::{Context, Level, Malicious, Role, Security, SemiHonest};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;

use super::close::{DIGEST, MASK, Mask, OPENING, Spoken, block};
use super::hash::{Functions, Output};
use super::list::{self, Shape};
use super::payload::{Outgoing, Pieces};
use super::{ItemDigest, Parameters, Payloads};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Layout, Shift};

/// The sender, a [`Machine`] with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Sender(Box<dyn Half>);

/// A half in one of the fields.
trait Half: Machine<Error = PsiError> + Send {
    fn finish(self: Box<Self>) -> Option<Vec<u32>>;
    #[cfg(test)]
    fn outgoing(&mut self) -> Option<&mut Outgoing>;
}

impl Sender {
    /// As [`super::Receiver::new`], of a run without payloads.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// It has payloads (the caller's bug).
    pub fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        let payloads = Payloads::default();
        Self::with_payloads(context, parameters, digests, payloads, seed)
    }

    /// The same, with the payload of each item. Of items that come twice, that of the first is sent.
    ///
    /// # Errors
    /// As [`Sender::new`].
    ///
    /// # Panics
    /// There are not as many payloads as items, or they have another length than agreed (the caller's bug).
    pub fn with_payloads(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        parameters.check(digests.len(), parameters.sender_items)?;
        assert_eq!(payloads.width(), parameters.payload_bytes, "payloads of the length agreed on");
        assert!(payloads.width() == 0 || payloads.count() == digests.len(), "a payload for each item");
        Ok(Sender(match (parameters.security, parameters.is_short()) {
            (Level::SemiHonest, true) => {
                Box::new(State::<SemiHonest, Pair64>::new(context, parameters, digests, payloads, seed)?)
            }
            (Level::SemiHonest, false) => {
                Box::new(State::<SemiHonest, Full128>::new(context, parameters, digests, payloads, seed)?)
            }
            (Level::Malicious, _) => {
                Box::new(State::<Malicious, Full128>::new(context, parameters, digests, payloads, seed)?)
            }
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

    #[cfg(test)]
    pub(super) fn outgoing(&mut self) -> Option<&mut Outgoing> {
        self.0.outgoing()
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
enum Phase<S: Security, F: Field> {
    /// The commitment to this party's mask; then the VOLE.
    Commitment(Box<vole::Sender<S, F>>),
    Vole(Box<vole::Sender<S, F>>),
    /// A' of this bin.
    Store(usize),
    /// The receiver's mask, then the opening of this party's.
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

/// Bits of a key above the item's number.
const KEY: u32 = 96;

struct State<S: Security, F: Field> {
    context: Context,
    /// Items, duplicates among them.
    items: usize,
    parameters: Parameters,
    layout: Layout,
    shape: Shape,
    phase: Phase<S, F>,
    /// In the order of bins.
    digests: Vec<ItemDigest>,
    binned: Binned,
    /// h of a bin's items.
    of_items: Vec<F::Base>,
    entries: Option<SenderEntries>,
    functions: Functions,
    /// Words of malicious modes; this party's mask; the sum of both.
    spoken: Spoken,
    own_mask: Mask,
    mask: Block,
    pads: Prg,
    inputs: Vec<Block>,
    scratch: Vec<Block>,
    /// In malicious modes: what the values are hashed from, bin by bin, until both masks are known.
    unhashed: Vec<Block>,
    /// Values, or their first 96 bits, above the numbers of their items; from the high part on in order. Numbers beyond the
    /// last item's are nobody's: random values in the place of missing ones.
    keys: Vec<u128>,
    /// In malicious modes: values, which are longer than a key holds, item by item, from the high part on in order; tags, item by item.
    values: Vec<u128>,
    tags: Vec<u64>,
    outgoing: Option<Outgoing>,
    pieces: Pieces,
    /// Of values that come more than once, all but the first: the value's place in the list, and the item.
    again: Vec<[u32; 2]>,
    common: Vec<u32>,
    latch: Latch,
}

impl<S: Security, F: Field> State<S, F> {
    fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        let layout = parameters.layout();
        let empty = parameters.is_empty();
        let count = if empty { 0 } else { layout.entries() };
        let vole = vole::Sender::new(&context.child("psi", 0), count, seed)?;
        let binned = Binned::new(&layout, &digests);
        let digests = binned.grouped(digests);
        let mut pads = Prg::new(context.backend, &seed.derive("psi sender", &context.sid.0), "psi masks");
        let is_malicious = S::LEVEL == Level::Malicious;
        Ok(State {
            context: *context,
            items: digests.len(),
            parameters: *parameters,
            layout,
            shape: if empty { Shape::new(1, 40) } else { parameters.shape() },
            phase: match S::LEVEL {
                _ if empty => Phase::Done,
                Level::SemiHonest => Phase::Vole(Box::new(vole)),
                Level::Malicious => Phase::Commitment(Box::new(vole)),
            },
            binned,
            entries: None,
            functions: Functions::new::<S>(context),
            of_items: Vec::new(),
            spoken: Spoken::new(&context.sid, is_malicious),
            own_mask: Mask::new(&mut pads),
            mask: Block::ZERO,
            pads,
            inputs: Vec::new(),
            scratch: Vec::new(),
            unhashed: Vec::new(),
            values: vec![0; if is_malicious { digests.len() } else { 0 }],
            tags: vec![0; if parameters.has_tags() { digests.len() } else { 0 }],
            keys: Vec::with_capacity(digests.len()),
            outgoing: (payloads.width() > 0).then(|| Outgoing::new(context, payloads)),
            pieces: Pieces::new(parameters),
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
            Phase::Commitment(_) => said("commitment to a mask", DIGEST),
            Phase::Vole(vole) => vole.round(0),
            Phase::Store(_) => heard("store of items", self.layout.bin_entries() * F::Base::BYTES),
            Phase::Mask => heard("mask", MASK),
            Phase::Opening => said("opening of a mask", OPENING),
            Phase::High => said("values, high parts", self.shape.high_bytes()),
            Phase::Low(piece) => said("values, low parts", self.shape.low_bytes(*piece)),
            Phase::Payloads(piece) => said("payloads", self.pieces.bytes(*piece)),
            Phase::Answer => heard("items in common", self.parameters.answer_bytes()),
            Phase::Close => Some(Round::even("comparing what was said", DIGEST)),
            Phase::Done => None,
        }
    }

    /// The i-th value of the list.
    fn value(&self, i: usize) -> u128 {
        if S::LEVEL == Level::Malicious { self.values[i] } else { self.keys[i] >> 32 }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), PsiError> {
        match &mut self.phase {
            Phase::Vole(vole) => return Ok(vole.write(0, out)?),
            Phase::Commitment(_) => out.copy_from_slice(&self.own_mask.commitment(&self.context.sid)),
            Phase::Opening => out.copy_from_slice(self.own_mask.opening()),
            Phase::High => {
                let values = (0..self.shape.count()).map(|i| self.value(i));
                list::write_high(&self.shape, values, out);
            }
            Phase::Low(piece) => {
                let piece = *piece;
                list::write_low(&self.shape, piece, |i| self.value(i), out);
            }
            Phase::Payloads(piece) => {
                let items = self.keys[self.pieces.range(*piece)].iter().map(|key| *key as u32);
                if let Some(outgoing) = &self.outgoing {
                    outgoing.write(items, &mut self.pads, out);
                }
            }
            Phase::Close => {
                out.copy_from_slice(&self.spoken.digest(Role::Sender));
                return Ok(());
            }
            Phase::Store(_) | Phase::Mask | Phase::Answer | Phase::Done => {}
        }
        if !out.is_empty() {
            self.spoken.hear(Role::Sender, out);
        }
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), PsiError> {
        if !matches!(self.phase, Phase::Vole(_) | Phase::Close) && !message.heard.is_empty() {
            self.spoken.hear(Role::Receiver, message.heard);
        }
        let close = if S::LEVEL == Level::Malicious { Phase::Close } else { Phase::Done };
        self.phase = match core::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Commitment(vole) => Phase::Vole(vole),
            Phase::Vole(mut vole) => {
                vole.read(&[message])?;
                if vole.round(0).is_some() {
                    Phase::Vole(vole)
                } else {
                    self.entries = Some(vole.finish());
                    Phase::Store(0)
                }
            }
            Phase::Store(bin) => {
                self.evaluate(bin, message.heard);
                if bin + 1 < self.layout.bins() {
                    Phase::Store(bin + 1)
                } else if S::LEVEL == Level::Malicious {
                    Phase::Mask
                } else {
                    self.order();
                    Phase::High
                }
            }
            Phase::Mask => {
                self.mask = block(message.heard) ^ self.own_mask.value();
                Phase::Opening
            }
            Phase::Opening => {
                self.hash_all();
                self.order();
                Phase::High
            }
            Phase::High => Phase::Low(0),
            Phase::Low(piece) if piece + 1 < self.shape.pieces() => Phase::Low(piece + 1),
            Phase::Low(_) if self.pieces.count() > 0 => Phase::Payloads(0),
            Phase::Payloads(piece) if piece + 1 < self.pieces.count() => Phase::Payloads(piece + 1),
            Phase::Low(_) | Phase::Payloads(_) if self.parameters.both_learn => Phase::Answer,
            Phase::Low(_) | Phase::Payloads(_) => close,
            Phase::Answer => {
                self.learn(message.heard);
                close
            }
            Phase::Close => {
                self.spoken.compare(Role::Receiver, message.heard)?;
                Phase::Done
            }
            Phase::Done => Phase::Done,
        };
        Ok(())
    }

    /// Inputs of a bin's hashes, once its part of A' is there; and the values, where there are no masks.
    fn evaluate(&mut self, bin: usize, message: &[u8]) {
        let entries = self.entries.as_mut().expect("the VOLE is done");
        let (len, delta) = (self.layout.bin_entries(), *entries.delta);
        let q = &mut entries.q[bin * len..(bin + 1) * len];
        Clmul::best().run(Shift::<F> { q, message, delta, field: PhantomData });
        let digests = &self.digests[self.binned.span(bin)];
        self.functions.values(digests, &mut self.of_items);
        let of_items = &self.of_items;
        self.inputs.resize(digests.len(), Block::ZERO);
        Decode::<F, _, _> {
            layout: &self.layout,
            bin: q,
            digests: digests.iter(),
            delta,
            add: |i, _: &ItemDigest| of_items[i],
            out: &mut self.inputs,
            field: PhantomData,
        }
        .run_on(self.context.backend);
        if S::LEVEL == Level::Malicious {
            self.unhashed.extend_from_slice(&self.inputs);
        } else {
            let inputs = core::mem::take(&mut self.inputs);
            self.hash(bin, &inputs);
            self.inputs = inputs;
        }
    }

    fn hash_all(&mut self) {
        let (unhashed, mut at) = (core::mem::take(&mut self.unhashed), 0);
        for bin in 0..self.layout.bins() {
            let len = self.binned.bin(bin).len();
            self.hash(bin, &unhashed[at..at + len]);
            at += len;
        }
    }

    /// The values of a bin's items.
    fn hash(&mut self, bin: usize, inputs: &[Block]) {
        let (mask, cut) = (self.shape.mask(), self.shape.bits().saturating_sub(KEY));
        let (ours, items) = (&self.digests[self.binned.span(bin)], self.binned.bin(bin));
        let take = |i: usize, Output { value, tag }| {
            let (item, value) = (items[i], value & mask);
            self.keys.push(value >> cut << 32 | u128::from(item));
            if let Some(place) = self.values.get_mut(item as usize) {
                *place = value;
            }
            if let Some(place) = self.tags.get_mut(item as usize) {
                *place = tag;
            }
        };
        self.functions.outputs(bin, self.mask, ours, inputs, &mut self.scratch, take);
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.seal(self.mask, ours, inputs, items);
        }
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
        let cut = self.shape.bits().saturating_sub(KEY);
        let mut nobody = self.items as u128;
        while self.keys.len() < self.shape.count() {
            for _ in self.keys.len()..self.shape.count() {
                let value = list::random(&self.shape, &mut self.pads);
                self.keys.push(value >> cut << 32 | nobody);
                if S::LEVEL == Level::Malicious {
                    self.values.push(value);
                }
                if self.parameters.has_tags() {
                    self.tags.push(self.pads.next_u64());
                }
                nobody += 1;
            }
            self.keys.sort_unstable();
            self.keys.dedup_by_key(|key| *key >> 32);
        }
        if S::LEVEL == Level::Malicious {
            // Once, and not for each part of the list: they lie far apart.
            self.values = self.keys.iter().map(|key| self.values[*key as u32 as usize]).collect();
        }
        self.again = again
            .into_iter()
            .map(|key| {
                let at = self.keys.partition_point(|kept| *kept >> 32 < key >> 32);
                [at as u32, key as u32]
            })
            .collect();
    }

    /// The items of the values whose bits are set, or whose tags are given.
    fn learn(&mut self, answer: &[u8]) {
        let is_common = |at: usize| {
            if self.tags.is_empty() {
                return answer[at / 8] >> (at % 8) & 1 == 1;
            }
            answer[8 * at..8 * at + 8] == self.tags[self.keys[at] as u32 as usize].to_le_bytes()
        };
        let once = self.keys.iter().enumerate().filter(|(at, _)| is_common(*at)).map(|(_, key)| *key as u32);
        let again = self.again.iter().filter(|[at, _]| is_common(*at as usize)).map(|[_, item]| *item);
        self.common = once.filter(|item| (*item as usize) < self.items).chain(again).collect();
        self.common.sort_unstable();
    }
}

gated!([S: Security, F: Field] State<S, F>, PsiError;);

impl<S: Security, F: Field> Half for State<S, F> {
    fn finish(self: Box<Self>) -> Option<Vec<u32>> {
        assert!(self.round(0).is_none(), "finish comes after the last round");
        self.parameters.both_learn.then_some(self.common)
    }

    #[cfg(test)]
    fn outgoing(&mut self) -> Option<&mut Outgoing> {
        self.outgoing.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use hushwire_aes::Backend;
    use hushwire_ot::Sid;

    /// Whoever lacks an item cannot say its tag; a bit alone would have been believed.
    #[test]
    fn only_tags_prove_what_is_common() {
        let context = Context { sid: Sid([3; 32]), backend: Backend::best() };
        let security = Level::Malicious;
        let parameters = Parameters {
            receiver_items: 4,
            sender_items: 4,
            security,
            both_learn: true,
            payload_bytes: 0,
            store: Store::Clustered,
        };
        let state = || {
            let seed = Seed::from_bytes([1; 16]);
            let mut state = State::<Malicious, Full128>::new(
                &context,
                &parameters,
                vec![[0; 32]; 3],
                Payloads::default(),
                &seed,
            )
            .expect("few items");
            // Items 2, 0, nobody's and 1, by their values; item 3 is no item.
            state.keys = [2, 0, 3, 1].iter().zip(1..).map(|(item, value)| value << 32 | item).collect();
            state.tags = vec![10, 11, 12, 13];
            state
        };
        let answer = |tags: [u64; 4]| tags.map(u64::to_le_bytes).concat();
        for (tags, common) in [
            ([12, 10, 13, 11], vec![0, 1, 2]),
            ([12, 0, 0, 0], vec![2]),
            ([0, 0, 0, 11], vec![1]),
            // A value's own tag counts, not another one's.
            ([10, 12, 11, 13], vec![]),
            ([u64::MAX; 4], vec![]),
            ([1; 4], vec![]),
        ] {
            let mut state = state();
            state.learn(&answer(tags));
            assert_eq!(state.common, common, "{tags:?}");
        }
    }

    /// A receiver that guessed the tag of an item which the sender has not could claim that it is
    /// common, and the sender would take a missing item for it.
    #[test]
    fn missing_items_have_random_tags() {
        let context = Context { sid: Sid([3; 32]), backend: Backend::best() };
        let parameters = Parameters {
            receiver_items: 4,
            sender_items: 100,
            security: Level::Malicious,
            both_learn: true,
            payload_bytes: 0,
            store: Store::Clustered,
        };
        let tags = [1, 2].map(|seed| {
            let seed = Seed::from_bytes([seed; 16]);
            let payloads = Payloads::default();
            let state = State::<Malicious, Full128>::new(&context, &parameters, vec![], payloads, &seed);
            let mut state = state.expect("few items");
            state.order();
            state.tags
        });
        let ones: u32 = tags.iter().flatten().map(|tag| tag.count_ones()).sum();
        assert!(ones.abs_diff(100 * 64) < 400, "{ones} ones");
        assert_eq!(tags.iter().flatten().collect::<std::collections::HashSet<_>>().len(), 200);
    }
}
