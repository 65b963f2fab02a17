//! Signs and carries of numbers in few rounds, for a part of the rows, at one of the three parties.
//!
//! ```text
//! x = u + v          u = x_p + x_{p+1} is known to party p, the dealer;
//!                    v = x_{p+2} is known to its right neighbour R and to its left one L
//! b = x ≥ 0          1 ⊕ u_t ⊕ v_t ⊕ the carry into the highest bit t = k − 1
//! c                  the carry into bit f
//!
//! a digit                g = ⊕_j u_j v_j ∏_{i>j} (u_i ⊕ v_i)        the digit carries
//!                        p = ∏_i (u_i ⊕ v_i)                        it propagates a carry
//!                        both are sums of products of u's bits, times bits that R and L know
//! several digits         g = g_2 ⊕ p_2 g_1 ⊕ p_2 p_1 g_0         p = p_2 p_1 p_0
//!
//! round 1    the dealer deals R and L shares of u's products, and of products of masks
//! round 2    R and L send each other masked digits: m = g ⊕ λ, λ = λ_R ⊕ λ_L
//! …          groups of digits, until few are left, and then b and c, masked
//! ```
//!
//! The masks are words of the keys that the dealer shares with R and with L, so the dealer knows
//! all of them before anything is computed. It deals shares of their products at once. A product of
//! any number of masked bits then takes no message but that of its result. The dealer receives
//! nothing.
//!
//! **Source.** The plan is this module's own. It follows H. Chaudhari, A. Choudhury, A. Patra, A.
//! Suresh, "ASTRA", CCSW 2019 (masks that a third party knows), and A. Patra, T. Schneider, A.
//! Suresh, H. Yalame, "ABY2.0", USENIX Security 2021 (products of several factors in a round).
//! Unlike them, it computes sums of two numbers that parties know, in digits of several bits.

use super::{
    Word,
    carries_shape::{CarriesShape, Masked},
    planes::to_planes,
    summand::numbers,
};
use crate::{
    Context, Role,
    pool::{self, Scratch},
    xor_into,
};
use hushwire_circuit::planes::plane_bytes;

/// The role of a party for a part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    Dealer,
    Right,
    Left,
}

impl Seat {
    pub(super) fn of(role: Role, dealer: Role) -> Seat {
        match (role.index() + 3 - dealer.index()) % 3 {
            0 => Seat::Dealer,
            1 => Seat::Right,
            _ => Seat::Left,
        }
    }
}

/// The bytes of a key's stream. Each byte is used once.
struct Stream<'c> {
    cx: &'c Context,
    key: usize,
    next: u64,
}

impl Stream<'_> {
    fn bytes(&mut self, bytes: usize) -> Scratch<u8> {
        let mut out = Scratch::zeros(bytes);
        let key = self.cx.prss.keys()[self.key];
        self.cx.backend.counter_bytes(key, self.cx.address.counter(self.next), &mut out);
        self.next += bytes.div_ceil(16) as u64;
        out
    }

    fn words<W: Word>(&mut self, rows: usize) -> Scratch<W> {
        let keyed = self.bytes(rows * W::BYTES);
        Scratch::new(pool::collect(keyed.chunks_exact(W::BYTES).map(W::read)))
    }
}

/// The numbers of words per row for the steps after signs and carries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordsAfter {
    /// The number of dealt words.
    pub(super) dealt: usize,
    /// The number of words that mask the result, for each of the dealer's keys.
    pub(super) masks: usize,
}

/// A party's secrets, and the messages that it has received.
pub(super) struct CarriesPart<W: Word> {
    pub(super) seat: Seat,
    cx: Context,
    /// The number of numbers whose signs are computed.
    count: usize,
    /// The known summand: u at the dealer, v at R and L.
    pub(super) known: Scratch<W>,
    /// R's and L's shares of u.
    pub(super) summand: Scratch<W>,
    /// The bit planes of the known summand.
    planes: Scratch<u8>,
    /// R's and L's shares of dealt bits and words.
    bits: Scratch<u8>,
    pub(super) words: Scratch<W>,
    /// Masks: this party's shares of them at R and L, and the masks themselves at the dealer.
    masks: Scratch<u8>,
    /// The masks that the dealer shares with R.
    masks_of_right: Scratch<u8>,
    /// The masked bits of the rounds that are over.
    masked: Scratch<u8>,
    /// The message of this round.
    message: Scratch<u8>,
    /// The words that the dealer shares with R and with L, if this party has them.
    pub(super) of_right: Scratch<W>,
    pub(super) of_left: Scratch<W>,
}

fn and(x: &[u8], y: &[u8]) -> Scratch<u8> {
    Scratch::new(pool::collect(x.iter().zip(y).map(|(x, y)| x & y)))
}

impl<W: Word> CarriesPart<W> {
    /// Draws this party's masks for all rounds and for `after`. `x` holds both shares of the
    /// numbers.
    pub(super) fn new(
        cx: Context,
        dealer: Role,
        shape: &CarriesShape,
        x: [&[W]; 2],
        after: WordsAfter,
    ) -> CarriesPart<W> {
        let (seat, count) = (Seat::of(cx.role, dealer), x[0].len());
        let [own, next] = x;
        let known: Scratch<W> = Scratch::new(match seat {
            Seat::Dealer => pool::collect(own.iter().zip(next).map(|(x, y)| x.plus(*y))),
            Seat::Right => pool::copy(next),
            Seat::Left => pool::copy(own),
        });
        let summand = Scratch::new(match seat {
            Seat::Dealer => vec![],
            Seat::Right => pool::copy(own),
            Seat::Left => pool::copy(next),
        });
        let mut planes = Scratch::zeros(shape.bits.end * plane_bytes(count));
        to_planes(cx.backend, &known, &mut planes);
        let (nothing, none) = (|| Scratch::<u8>::default(), || Scratch::<W>::default());
        let mut part = CarriesPart {
            seat,
            count,
            known,
            summand,
            planes,
            bits: nothing(),
            words: none(),
            masks: nothing(),
            masks_of_right: nothing(),
            masked: nothing(),
            message: nothing(),
            of_right: none(),
            of_left: none(),
            cx,
        };
        part.draw(shape, after);
        part
    }

    pub(super) fn height(&self) -> usize {
        plane_bytes(self.count)
    }

    fn draw(&mut self, shape: &CarriesShape, after: WordsAfter) {
        let (masks, bits) = (shape.masked() * self.height(), shape.dealt() * self.height());
        // The dealer shares its own key with R, and the previous key with L. R and L hold the same
        // keys in the opposite order.
        let stream = |of: Seat| {
            let has_own = (self.seat == Seat::Dealer) == (of == Seat::Right);
            Stream { cx: &self.cx, key: usize::from(!has_own), next: 0 }
        };
        let right = |stream: &mut Stream<'_>| (stream.bytes(masks), stream.words::<W>(after.masks));
        let left = |stream: &mut Stream<'_>| {
            let dealt = (stream.bytes(bits), stream.words::<W>(after.dealt));
            (dealt, stream.bytes(masks), stream.words::<W>(after.masks))
        };
        match self.seat {
            Seat::Right => (self.masks, self.of_right) = right(&mut stream(Seat::Right)),
            Seat::Left => {
                ((self.bits, self.words), self.masks, self.of_left) = left(&mut stream(Seat::Left));
            }
            Seat::Dealer => {
                let (of_right, first) = right(&mut stream(Seat::Right));
                let (hidden, mut all, second) = left(&mut stream(Seat::Left));
                xor_into(&mut all, &of_right);
                (self.of_right, self.of_left) = (first, second);
                ((self.bits, self.words), self.masks, self.masks_of_right) = (hidden, all, of_right);
            }
        }
    }

    /// The dealer's message: bits, then these words, each minus L's share of it.
    pub(super) fn deal(&mut self, shape: &CarriesShape, words: &[W]) {
        let mut bits = self.dealing(shape);
        xor_into(&mut bits, &self.bits);
        let mut dealt = Scratch::zeros(bits.len() + words.len() * W::BYTES);
        let (planes, rest) = dealt.split_at_mut(bits.len());
        planes.copy_from_slice(&bits);
        let words = words.iter().zip(self.words.iter());
        for (out, (word, mask)) in rest.chunks_exact_mut(W::BYTES).zip(words) {
            word.minus(*mask).write(out);
        }
        self.message = dealt;
    }

    /// Plane number `at` of `of`.
    fn plane<'p>(&self, of: &'p [u8], at: usize) -> &'p [u8] {
        &of[at * self.height()..(at + 1) * self.height()]
    }

    /// The mask of a bit, as words, at the dealer.
    pub(super) fn masks_of(&self, at: usize) -> Scratch<W> {
        numbers::<W>(self.cx.backend, self.plane(&self.masks, at), self.count)
    }

    /// A masked bit, as words, at R and L.
    pub(super) fn masked_of(&self, at: usize) -> Scratch<W> {
        numbers::<W>(self.cx.backend, self.plane(&self.masked, at), self.count)
    }

    /// This party's shares of a masked bit.
    pub(super) fn shares_of(&self, at: usize) -> [Scratch<u8>; 2] {
        let of = |planes: &[u8]| Scratch::new(pool::copy(self.plane(planes, at)));
        let masks = of(&self.masks);
        match self.seat {
            Seat::Dealer => {
                let (mut of_left, of_right) = (masks, of(&self.masks_of_right));
                xor_into(&mut of_left, &of_right);
                [of_left, of_right]
            }
            Seat::Right => [masks, of(&self.masked)],
            Seat::Left => [of(&self.masked), masks],
        }
    }

    /// Computes the bits that the dealer deals.
    fn dealing(&self, shape: &CarriesShape) -> Scratch<u8> {
        let mut bits = Scratch::room(shape.dealt() * self.height());
        for digit in &shape.digits {
            // The product of each set of bits: the lowest bit times the product of all others.
            let mut products: Vec<Scratch<u8>> = vec![];
            for set in 1usize..1 << digit.len() {
                let (lowest, others) = (set.trailing_zeros() as usize, set & (set - 1));
                let bit = self.plane(&self.planes, digit.start + lowest);
                products.push(match others {
                    0 => Scratch::new(pool::copy(bit)),
                    _ => and(bit, &products[others - 1]),
                });
            }
            products.iter().for_each(|product| bits.extend_from_slice(product));
        }
        bits.extend_from_slice(self.plane(&self.planes, shape.bits.end - 1));
        for set in shape.products.keys() {
            let mut product = and(self.plane(&self.masks, set[0]), self.plane(&self.masks, set[1]));
            for at in &set[2..] {
                product = and(&product, self.plane(&self.masks, *at));
            }
            bits.extend_from_slice(&product);
        }
        bits
    }

    /// Takes the dealer's message, at R.
    pub(super) fn take(&mut self, shape: &CarriesShape, heard: &[u8]) {
        let (bits, words) = heard.split_at(shape.dealt() * self.height());
        self.bits = Scratch::new(pool::copy(bits));
        self.words = Scratch::new(pool::collect(words.chunks_exact(W::BYTES).map(W::read)));
    }

    /// The message of this round.
    pub(super) fn message(&self) -> &[u8] {
        &self.message
    }

    /// Sets the message of a round that comes after signs and carries.
    pub(super) fn set_message(&mut self, message: Scratch<u8>) {
        self.message = message;
    }

    /// Makes the message of a round between R and L.
    pub(super) fn speak(&mut self, shape: &CarriesShape, round: usize) {
        let outputs = &shape.rounds[round];
        let first: usize = shape.rounds[..round].iter().map(Vec::len).sum();
        let height = self.height();
        let mut message = Scratch::new(pool::copy(&self.masks[first * height..][..outputs.len() * height]));
        let mut hands_on = Scratch::default();
        for (of, out) in outputs.iter().zip(message.chunks_exact_mut(height.max(1))) {
            match of {
                Masked::Carries(digit) => {
                    let [carries, then] = self.digit(shape, *digit);
                    xor_into(out, &carries);
                    hands_on = then;
                }
                Masked::HandsOn => xor_into(out, &hands_on),
                Masked::Sum(terms) | Masked::Sign(terms) => {
                    for term in terms {
                        self.product(shape, term, None, &mut vec![], out);
                    }
                }
            }
            if let Masked::Sign(_) = of {
                let highest = shape.dealt_before(shape.digits.len());
                xor_into(out, self.plane(&self.bits, highest));
                if self.seat == Seat::Right {
                    xor_into(out, self.plane(&self.planes, shape.bits.end - 1));
                    out.iter_mut().for_each(|byte| *byte = !*byte);
                }
            }
        }
        self.message = message;
    }

    /// This party's shares of whether a digit carries, and of whether it propagates a carry: sums
    /// of products of u's bits, times v's bits. The bits of v are substituted one by one, from the
    /// highest on.
    fn digit(&self, shape: &CarriesShape, digit: usize) -> [Scratch<u8>; 2] {
        let (at, first) = (&shape.digits[digit], shape.dealt_before(digit));
        let height = self.height();
        // A plane for each set of bits. The product of the empty set is 1, a known value, which R
        // adds.
        let mut sums = Scratch::zeros(height << at.len());
        if self.seat == Seat::Right {
            sums[..height].fill(u8::MAX);
        }
        sums[height..].copy_from_slice(&self.bits[first * height..][..((1 << at.len()) - 1) * height]);
        let mut carries = Scratch::zeros(height);
        for bit in (0..at.len()).rev() {
            let v = self.plane(&self.planes, at.start + bit);
            let (without, with) = sums.split_at_mut(height << bit);
            // The lowest bit of a carry is this bit, if both u and v have it.
            let each = carries.iter_mut().zip(with[..height].iter().zip(v));
            each.for_each(|(out, (x, v))| *out ^= x & v);
            for (without, with) in
                without.chunks_exact_mut(height.max(1)).zip(with.chunks_exact(height.max(1)))
            {
                let each = without.iter_mut().zip(with.iter().zip(v));
                each.for_each(|(out, (x, v))| *out = (*out & v) ^ x);
            }
        }
        sums.truncate(height);
        [carries, sums]
    }

    /// Computes `out ⊕=` this party's share of a product of masked bits, times the masked bits in
    /// `known`. It sums over all sets of factors that are replaced by their masks; the other
    /// factors are public in masked form.
    fn product(
        &self,
        shape: &CarriesShape,
        rest: &[usize],
        known: Option<&[u8]>,
        masks: &mut Vec<usize>,
        out: &mut [u8],
    ) {
        if let [first, rest @ ..] = rest {
            let masked = self.plane(&self.masked, *first);
            let with = known.map(|known| and(known, masked));
            self.product(shape, rest, Some(with.as_deref().map_or(masked, |with| with)), masks, out);
            masks.push(*first);
            self.product(shape, rest, known, masks, out);
            masks.pop();
            return;
        }
        let share = match masks[..] {
            [] => None,
            [one] => Some(self.plane(&self.masks, one)),
            _ => {
                let first = shape.dealt_before(shape.digits.len()) + 1;
                Some(self.plane(&self.bits, first + shape.products[masks]))
            }
        };
        match (share, known) {
            (Some(share), Some(known)) => {
                out.iter_mut().zip(share.iter().zip(known)).for_each(|(out, (x, y))| *out ^= x & y);
            }
            (Some(share), None) => xor_into(out, share),
            // R adds the terms that both know.
            (None, Some(known)) if self.seat == Seat::Right => xor_into(out, known),
            (None, _) => {}
        }
    }

    /// Takes the other party's message of a round.
    pub(super) fn hear(&mut self, heard: &[u8]) {
        let mut both = std::mem::take(&mut self.message);
        xor_into(&mut both, heard);
        self.masked.extend_from_slice(&both);
    }
}
