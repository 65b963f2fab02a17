//! All sizes of a run, from the agreed parameters.

use hushwire_machine::Cost;
use hushwire_ot::{
    Level,
    vole::{self, Base, Field, Full128, Pair64},
};

use super::close::{DIGEST, MASK, OPENING};
use super::list::ListShape;
use super::payload::Pieces;
use crate::{PsiError, Store, okvs::Layout};

/// The largest number of a party's items.
pub const MOST_ITEMS: usize = 1 << 28;
/// SECURITY: the largest number of the sender's items for which 64-bit elements leave 40 bits of
/// security against a chance hit.
const MOST_PAIR64: usize = 1 << 24;

/// The terms of one intersection. AGREEMENT.
///
/// The memory follows from the sizes. Check a size that the peer reports with [`Most`](crate::Most)
/// first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// The number of the receiver's items, or a bound on it.
    pub receiver_items: usize,
    /// The number of the sender's items, or a bound on it.
    pub sender_items: usize,
    /// The adversary that the run withstands.
    pub security: Level,
    /// Whether the sender learns the intersection too.
    pub both_learn: bool,
    /// The bytes of the [payload](super::Payloads) of each of the sender's items; 0 for none.
    pub payload_bytes: usize,
    /// The kind of the receiver's store.
    pub store: Store,
}

impl Parameters {
    /// Whether no message is needed, since one set is known to be empty.
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
    pub(super) fn shape(&self) -> ListShape {
        let bits = match self.security {
            Level::SemiHonest => 40 + ceil_log2(self.receiver_items) + ceil_log2(self.sender_items),
            Level::Malicious => 128,
        };
        ListShape::new(self.sender_items, bits)
    }

    /// The bytes of the receiver's answer if both learn.
    pub(super) fn answer_bytes(&self) -> usize {
        if self.has_tags() { 8 * self.sender_items } else { self.sender_items.div_ceil(8) }
    }

    /// Whether the answer has a proof for each value instead of a bit. A corrupted receiver can
    /// then leave out items, but not add them.
    pub(super) fn has_tags(&self) -> bool {
        self.both_learn && self.security == Level::Malicious
    }

    /// Refuses sizes that this machine cannot handle, and a set larger than agreed.
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

/// The costs for the receiver and the sender, without the set-up of the OTs.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PsiError, plain::Receiver};
    use hushwire_aes::Backend;
    use hushwire_machine::drive::{Lockstep, Machine};
    use hushwire_ot::{Context, Sid};
    use hushwire_prg::Seed;

    fn parameters(sizes: [usize; 2], security: Level) -> Parameters {
        let [receiver_items, sender_items] = sizes;
        let (both_learn, payload_bytes, store) = (true, 0, Store::Clustered);
        Parameters { receiver_items, sender_items, security, both_learn, payload_bytes, store }
    }

    /// The a · b pairs of different items collide with probability a · b · 2^−bits, at most 2^−40.
    /// The malicious mode sends whole outputs.
    #[test]
    fn values_have_40_bits_beside_both_sizes() {
        for [a, b] in
            [[1, 1], [1, 2], [3, 5], [1000, 1], [1 << 20, 1 << 20], [(1 << 20) + 1, 7], [1 << 28, 1 << 28]]
        {
            let shape = parameters([a, b], Level::SemiHonest).shape();
            let chance = (a as f64).log2() + (b as f64).log2() - f64::from(shape.bits());
            assert!((-42.0..=-40.0).contains(&chance), "{a}, {b}: 2^{chance}");
            assert_eq!(shape.mask().count_ones(), shape.bits());
            assert_eq!(parameters([a, b], Level::Malicious).shape().bits(), 128);
        }
    }

    /// The probability that the sender's items are evaluated as if the receiver had them is |Y| ·
    /// 2^−64: below 2^−40 for up to 2^24 items.
    #[test]
    fn elements_are_long_where_the_sender_has_many_items_or_is_malicious() {
        for (items, is_short) in [(1, true), (1 << 24, true), ((1 << 24) + 1, false), (1 << 28, false)] {
            for receiver in [5, 300, 10_000, 1 << 28] {
                let of = |security| parameters([receiver, items], security);
                assert_eq!(of(Level::SemiHonest).is_short(), is_short, "{items}");
                assert!(!of(Level::Malicious).is_short());
                if is_short {
                    assert!((items as f64).log2() - 64.0 <= -40.0);
                }
            }
        }
    }

    /// The parties run in the field that follows from the sizes: A' has 8 or 16 bytes an entry.
    #[test]
    fn stores_travel_in_elements_of_the_field() {
        let context = Context { sid: Sid([7; 32]), backend: Backend::best() };
        let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
        for (sender_items, security, bytes) in [
            (1 << 24, Level::SemiHonest, 8),
            ((1 << 24) + 1, Level::SemiHonest, 16),
            (3, Level::Malicious, 16),
        ] {
            let parameters = parameters([150, sender_items], security);
            let mut r = Receiver::new(&context, &parameters, vec![[3; 32]], &seeds[0]).expect("few items");
            let mut s =
                crate::plain::Sender::new(&context, &parameters, vec![], &seeds[1]).expect("few items");
            // The run ends with A', before 2^24 values are made.
            let mut stores = vec![];
            let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
            let end = Lockstep::new().run_edited(&mut parties, |place, message| {
                if place.party == 0 && [8 * 150, 16 * 150].contains(&message.len()) {
                    stores.push(message.len());
                    message.clear();
                }
            });
            assert!(end.is_err());
            assert_eq!(stores, [bytes * 150], "{sender_items}, {security:?}");
        }
    }
}
