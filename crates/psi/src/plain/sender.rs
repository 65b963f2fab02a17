//! The sender's endpoint.

use core::marker::PhantomData;

use hushwire_block::{Block, Buffer};
use hushwire_machine::drive::{Line, Talk};
use hushwire_machine::passed_on;
use hushwire_ot::vole::{self, Base, Field, Full128, Pair64, SenderEntries};
use hushwire_ot::{Context, Level, Malicious, Role, Security, SemiHonest};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;

use super::close::{MASK, Mask, Noted, Spoken, block};
use super::hash::{Functions, OprfOutput};
use super::list::{self, ListShape};
use super::payload::{Outgoing, Pieces};
use super::{ItemDigest, Parameters, Payloads};
use crate::PsiError;
use crate::okvs::{Binned, Decode, Layout, Shift};

/// The sender, a [`Machine`](hushwire_machine::drive::Machine) with one slot.
#[must_use = "run its rounds, then finish"]
pub struct Sender(Line<'static, Option<Vec<u32>>, PsiError>);

impl Sender {
    /// A sender for a run without payloads; see [`super::Receiver::new`].
    ///
    /// # Errors
    /// As [`super::Receiver::new`].
    ///
    /// # Panics
    /// If the parameters have payloads (the caller's bug).
    pub fn new(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        let payloads = Payloads::default();
        Self::with_payloads(context, parameters, digests, payloads, seed)
    }

    /// A sender with a payload for each item. For repeated items, the first payload is sent.
    ///
    /// # Errors
    /// As [`Sender::new`].
    ///
    /// # Panics
    /// Unless there is one payload of the agreed length for each item (the caller's bug).
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
        let line = match (parameters.security, parameters.is_short()) {
            (Level::SemiHonest, true) => SenderState::<Pair64>::begin::<SemiHonest>,
            (Level::SemiHonest, false) => SenderState::<Full128>::begin::<SemiHonest>,
            (Level::Malicious, _) => SenderState::<Full128>::begin::<Malicious>,
        };
        Ok(Sender(line(context, parameters, digests, payloads, seed)?))
    }

    /// The indices of its items that the receiver has too, ascending; `None` if only the receiver
    /// learns.
    ///
    /// # Panics
    /// If rounds remain (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Option<Vec<u32>> {
        self.0.finish()
    }
}

passed_on!([] Sender, PsiError, self => self.0);

/// The number of bits of a key above the item's number.
const KEY: u32 = 96;

/// A sender's items and the values computed from them.
struct SenderState<F: Field> {
    context: Context,
    /// The number of items, including duplicates.
    items: usize,
    parameters: Parameters,
    layout: Layout,
    shape: ListShape,
    /// The digests, in the order of bins.
    digests: Vec<ItemDigest>,
    binned: Binned,
    /// The h(x) of a bin's items.
    of_items: Vec<F::Base>,
    functions: Functions,
    /// This party's mask, and the sum of both masks; only in the malicious mode.
    own_mask: Mask,
    mask: Block,
    pads: Prg,
    inputs: Vec<Block>,
    scratch: Vec<Block>,
    /// In the malicious mode: the inputs of the values' hashes, bin by bin, until both masks are
    /// known.
    unhashed: Vec<Block>,
    /// Values, or their first 96 bits, above the numbers of their items; sorted from the high part
    /// on. Numbers after the last item's belong to random values in place of missing items.
    keys: Vec<u128>,
    /// In the malicious mode: values, which are longer than a key can hold, by item, and sorted
    /// from the high part on; tags by item.
    values: Vec<u128>,
    tags: Vec<u64>,
    outgoing: Option<Outgoing>,
    /// For repeated values, all but the first: the value's index in the list, and the item.
    again: Vec<[u32; 2]>,
    #[cfg(test)]
    damages: bool,
}

impl<F: Field> SenderState<F> {
    fn begin<S: Security>(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Result<Line<'static, Option<Vec<u32>>, PsiError>, PsiError> {
        SenderState::<F>::new::<S>(context, parameters, digests, payloads, seed).line::<S>(seed)
    }

    fn new<S: Security>(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Self {
        let layout = parameters.layout();
        let binned = Binned::new(&layout, &digests);
        let digests = binned.grouped(digests);
        let mut pads = Prg::new(context.backend, &seed.derive("psi sender", &context.sid.0), "psi masks");
        let is_malicious = parameters.security == Level::Malicious;
        SenderState {
            context: *context,
            items: digests.len(),
            parameters: *parameters,
            layout,
            shape: if parameters.is_empty() { ListShape::new(1, 40) } else { parameters.shape() },
            binned,
            functions: Functions::new::<S>(context),
            of_items: Vec::new(),
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
            again: Vec::new(),
            digests,
            #[cfg(test)]
            damages: false,
        }
    }

    fn line<S: Security>(self, seed: &Seed) -> Result<Line<'static, Option<Vec<u32>>, PsiError>, PsiError> {
        let count = if self.parameters.is_empty() { 0 } else { self.layout.entries() };
        let vole = vole::Sender::<S, F>::new(&self.context.child("psi", 0), count, seed)?;
        Ok(Line::new(|talk| self.run(vole, talk)))
    }

    async fn run<S: Security>(
        mut self,
        mut vole: vole::Sender<S, F>,
        talk: Talk,
    ) -> Result<Option<Vec<u32>>, PsiError> {
        let both_learn = self.parameters.both_learn;
        if self.parameters.is_empty() {
            return Ok(both_learn.then(Vec::new));
        }
        let sid = self.context.sid;
        let mut talk = Noted::new(talk, Spoken::new(&sid, self.is_malicious()), Role::Sender);
        let mut message = Buffer::new();
        if self.is_malicious() {
            let commitment = self.own_mask.commitment(&sid);
            message = talk.say_these("commitment to a mask", &commitment, message).await;
        }
        talk.talk().run(&mut vole).await?;

        let mut entries = vole.finish();
        for bin in 0..self.layout.bins() {
            let bytes = self.layout.bin_entries() * F::Base::BYTES;
            message = talk.hear("store of items", message, bytes).await;
            self.evaluate(&mut entries, bin, &message);
        }
        drop(entries);

        if self.is_malicious() {
            message = talk.hear("mask", message, MASK).await;
            self.mask = block(&message) ^ self.own_mask.value();
            message = talk.say_these("opening of a mask", self.own_mask.opening(), message).await;
            self.hash_all();
        }
        self.order();

        message.set_len(self.shape.high_bytes());
        let values = (0..self.shape.count()).map(|i| self.value(i));
        list::write_high(&self.shape, values, &mut message);
        message = talk.say("values, high parts", message).await;
        for piece in 0..self.shape.pieces() {
            message.set_len(self.shape.low_bytes(piece));
            list::write_low(&self.shape, piece, |i| self.value(i), &mut message);
            message = talk.say("values, low parts", message).await;
        }

        let pieces = Pieces::new(&self.parameters);
        #[cfg(test)]
        self.damage();
        for piece in 0..pieces.count() {
            message.set_len(pieces.bytes(piece));
            let items = self.keys[pieces.range(piece)].iter().map(|key| *key as u32);
            if let Some(outgoing) = &self.outgoing {
                outgoing.write(items, &mut self.pads, &mut message);
            }
            message = talk.say("payloads", message).await;
        }
        let mut common = None;
        if both_learn {
            message = talk.hear("items in common", message, self.parameters.answer_bytes()).await;
            common = Some(self.learn(&message));
        }
        talk.close().await?;
        Ok(common)
    }

    fn is_malicious(&self) -> bool {
        self.parameters.security == Level::Malicious
    }

    /// The i-th value of the list.
    fn value(&self, i: usize) -> u128 {
        if self.is_malicious() { self.values[i] } else { self.keys[i] >> 32 }
    }

    /// Computes the inputs of a bin's hashes from its part of A' and, without masks, the values.
    fn evaluate(&mut self, entries: &mut SenderEntries, bin: usize, message: &[u8]) {
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
        if self.is_malicious() {
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
        let take = |i: usize, OprfOutput { value, tag }| {
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

    /// Sorts all values, each once, with random values in place of missing items.
    fn order(&mut self) {
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
                if self.is_malicious() {
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
        if self.is_malicious() {
            // This is done once, not for each part of the list, since they are far apart.
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

    /// The items whose bits are set, or whose tags the receiver sent.
    fn learn(&self, answer: &[u8]) -> Vec<u32> {
        let is_common = |at: usize| {
            if self.tags.is_empty() {
                return answer[at / 8] >> (at % 8) & 1 == 1;
            }
            answer[8 * at..8 * at + 8] == self.tags[self.keys[at] as u32 as usize].to_le_bytes()
        };
        let once = self.keys.iter().enumerate().filter(|(at, _)| is_common(*at)).map(|(_, key)| *key as u32);
        let again = self.again.iter().filter(|[at, _]| is_common(*at as usize)).map(|[_, item]| *item);
        let mut common: Vec<u32> = once.filter(|item| (*item as usize) < self.items).chain(again).collect();
        common.sort_unstable();
        common
    }
}

#[cfg(test)]
impl<F: Field> SenderState<F> {
    fn damaging<S: Security>(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Result<Line<'static, Option<Vec<u32>>, PsiError>, PsiError> {
        let mut state = SenderState::<F>::new::<S>(context, parameters, digests, payloads, seed);
        state.damages = true;
        state.line::<S>(seed)
    }

    fn damage(&mut self) {
        if self.damages {
            self.outgoing.as_mut().expect("it has payloads").damage(0);
        }
    }
}

#[cfg(test)]
impl Sender {
    /// A sender that damages its first payload after sealing it.
    pub(super) fn damaging(
        context: &Context,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
        seed: &Seed,
    ) -> Result<Self, PsiError> {
        Ok(Sender(match (parameters.security, parameters.is_short()) {
            (Level::SemiHonest, true) => SenderState::<Pair64>::damaging::<SemiHonest>,
            (Level::SemiHonest, false) => SenderState::<Full128>::damaging::<SemiHonest>,
            (Level::Malicious, _) => SenderState::<Full128>::damaging::<Malicious>,
        }(context, parameters, digests, payloads, seed)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use hushwire_aes::Backend;
    use hushwire_ot::Sid;

    /// A party that lacks an item does not know its tag; a single bit would have been believed.
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
            let payloads = Payloads::default();
            let items = vec![[0; 32]; 3];
            let mut state =
                SenderState::<Full128>::new::<Malicious>(&context, &parameters, items, payloads, &seed);
            // Items 2, 0, a missing one and 1, by their values; item number 3 does not exist.
            state.keys = [2, 0, 3, 1].iter().zip(1..).map(|(item, value)| value << 32 | item).collect();
            state.tags = vec![10, 11, 12, 13];
            state
        };
        let answer = |tags: [u64; 4]| tags.map(u64::to_le_bytes).concat();
        for (tags, common) in [
            ([12, 10, 13, 11], vec![0, 1, 2]),
            ([12, 0, 0, 0], vec![2]),
            ([0, 0, 0, 11], vec![1]),
            // Only a value's own tag counts, not another value's.
            ([10, 12, 11, 13], vec![]),
            ([u64::MAX; 4], vec![]),
            ([1; 4], vec![]),
        ] {
            assert_eq!(state().learn(&answer(tags)), common, "{tags:?}");
        }
    }

    /// If a receiver guessed the tag of a missing item, it could claim that it is common, and the
    /// sender would believe it.
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
            let mut state =
                SenderState::<Full128>::new::<Malicious>(&context, &parameters, vec![], payloads, &seed);
            state.order();
            state.tags
        });
        let ones: u32 = tags.iter().flatten().map(|tag| tag.count_ones()).sum();
        assert!(ones.abs_diff(100 * 64) < 400, "{ones} ones");
        assert_eq!(tags.iter().flatten().collect::<std::collections::HashSet<_>>().len(), 200);
    }
}
