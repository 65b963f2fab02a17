//! The sizes of everything, from what both parties agree on.

use hushwire_ot::{
    Level,
    vole::{self, Base, Field, Full128, Pair64},
};
use hushwire_wire::Cost;

use super::close::{DIGEST, MASK, OPENING};
use super::list::Shape;
use super::payload::Pieces;
use crate::{PsiError, Store, okvs::Layout};

/// The most items of a party.
pub const MOST_ITEMS: usize = 1 << 28;
/// SECURITY: items of the sender up to which elements of 64 bits leave 40 bits against a chance hit.
const MOST_PAIR64: usize = 1 << 24;

/// The terms of one intersection. AGREEMENT.
///
/// Memory follows from the sizes: who takes the peer's from the peer looks at them with [`Most`](crate::Most) before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Items of the receiver, or a bound on them.
    pub receiver_items: usize,
    /// Items of the sender, or a bound on them.
    pub sender_items: usize,
    /// The adversary that the run withstands.
    pub security: Level,
    /// Whether the sender learns the intersection too.
    pub both_learn: bool,
    /// Bytes of the [payload](super::Payloads) that goes with each of the sender's items; 0 where none does.
    pub payload_bytes: usize,
    /// The kind of the receiver's store.
    pub store: Store,
}

impl Parameters {
    /// Whether nothing has to be sent: one set is empty, which both know.
    pub(super) fn is_empty(&self) -> bool {
        self.receiver_items == 0 || self.sender_items == 0
    }

    /// Whether elements of B have 64 bits.
    pub(super) fn is_short(&self) -> bool {
        self.security == Level::SemiHonest && self.sender_items <= MOST_PAIR64
    }

    /// The store.
    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.store, self.receiver_items)
    }

    /// The list of the sender's values.
    pub(super) fn shape(&self) -> Shape {
        let bits = match self.security {
            Level::SemiHonest => 40 + ceil_log2(self.receiver_items) + ceil_log2(self.sender_items),
            Level::Malicious => 128,
        };
        Shape::new(self.sender_items, bits)
    }

    /// Bytes of the answer where both learn.
    pub(super) fn answer_bytes(&self) -> usize {
        if self.has_tags() { 8 * self.sender_items } else { self.sender_items.div_ceil(8) }
    }

    /// Whether the answer is a proof for each value and not a bit: a receiver that lies can then leave out, but not add.
    pub(super) fn has_tags(&self) -> bool {
        self.both_learn && self.security == Level::Malicious
    }

    /// Refuses what does not fit this machine's numbers, and a set larger than agreed.
    pub(super) fn check(&self, own: usize, agreed: usize) -> Result<(), PsiError> {
        let too_large = |whose: &str, count: usize, most: usize, remedy| PsiError::TooLarge {
            whose: whose.to_owned(),
            count: count as u64,
            what: "this intersection",
            most: most as u64,
            remedy,
        };
        if own > agreed {
            return Err(too_large("this party has", own, agreed, "agree on a larger number"));
        }
        let most = self.receiver_items.max(self.sender_items);
        if most > MOST_ITEMS {
            let remedy = "split the sets by a first letter or another public rule, and intersect the parts";
            return Err(too_large("a party has", most, MOST_ITEMS, remedy));
        }
        Ok(())
    }
}

fn ceil_log2(n: usize) -> u32 {
    n.next_power_of_two().ilog2()
}

/// The cost for the receiver and the sender beside the set-up of the OTs.
#[must_use]
pub fn cost(parameters: &Parameters) -> [Cost; 2] {
    if parameters.is_empty() {
        return [Cost::default(); 2];
    }
    if parameters.is_short() { cost_in::<Pair64>(parameters) } else { cost_in::<Full128>(parameters) }
}

fn cost_in<F: Field>(parameters: &Parameters) -> [Cost; 2] {
    let (layout, shape) = (parameters.layout(), parameters.shape());
    let [of_sender, of_receiver] = vole::cost::<F>(parameters.security, layout.entries());
    let answer = if parameters.both_learn { parameters.answer_bytes() } else { 0 };
    let is_malicious = parameters.security == Level::Malicious;
    // Commitment, mask, opening and comparison.
    let more = if is_malicious { [MASK + DIGEST, DIGEST + OPENING + DIGEST] } else { [0, 0] };
    let payloads = Pieces::new(parameters);
    let rounds = layout.bins() + 1 + shape.pieces() + payloads.count() + usize::from(parameters.both_learn);
    let rounds = rounds + if is_malicious { 4 } else { 0 };
    let receiver = layout.entries() * F::Base::BYTES + answer + more[0];
    let low = (0..shape.pieces()).map(|piece| shape.low_bytes(piece));
    let sealed = (0..payloads.count()).map(|piece| payloads.bytes(piece));
    let sender = more[1] + shape.high_bytes() + low.chain(sealed).sum::<usize>();
    [(of_receiver, receiver), (of_sender, sender)].map(|(vole, bytes)| Cost {
        rounds: vole.rounds + rounds as u64,
        bytes_sent: vole.bytes_sent + bytes as u64,
    })
}
