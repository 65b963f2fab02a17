//! Rectifiers in few rounds: max(⌊x / 2^f⌋, 0) of numbers of k bits in two's complement.
//!
//! ```text
//! x = u + v          u = x_p + x_{p+1} is party p's, the dealer's; v = x_{p+2} is known to its
//!                    right neighbour R and to its left one L
//! b = x ≥ 0          1 ⊕ u_t ⊕ v_t ⊕ the carry into the highest bit t = k − 1
//! c                  the carry into bit f
//! x ≥ 0:             ⌊x / 2^f⌋ = (u ≫ f) + (v ≫ f) + c − 2^(k−f) (u_t ∨ v_t)
//!
//! digits of two bits      g = u_1 v_1 ⊕ u_1 u_0 v_0 ⊕ u_0 v_1 v_0     the digit carries
//!                         p = u_1 u_0 ⊕ u_1 v_0 ⊕ u_0 v_1 ⊕ v_1 v_0   it hands a carry on
//! up to four digits       g = g_3 ⊕ p_3 g_2 ⊕ p_3 p_2 g_1 ⊕ …         p = p_3 p_2 p_1 p_0
//!
//! round 1    the dealer deals R and L shares of u's products, of products of masks, and of words
//! round 2    R and L tell each other digits under masks: m = g ⊕ λ, λ = λ_R ⊕ λ_L
//! …          groups of digits, until five or fewer are left, and then b and c under masks
//! last       b ((u ≫ f) + …) + b c under masks: the word that R and L share
//! ```
//!
//! The masks are words of the keys that the dealer shares with R and with L, so that the dealer
//! knows all of them before anything is computed: it deals shares of their products at once, and a
//! product of any number of masked bits takes no message but that of its result. A third of the
//! rows has each party for its dealer, so that all send equally much. The dealer hears nothing.
//!
//! **Rounds.** Five for 32 bits of which 13 are cut, six for 64. **Bytes.** `RectifyShape` counts
//! them: for k = 32 and f = 13 each party about 22 a row. **Source.** The plan of this module;
//! after H. Chaudhari, A. Choudhury, A. Patra, A. Suresh, "ASTRA", CCSW 2019 (masks that a third
//! party knows), and A. Patra, T. Schneider, A. Suresh, H. Yalame, "ABY2.0", USENIX Security 2021
//! (products of several factors in a round), from which this deviates: sums of two numbers that
//! parties know, in digits of two bits. **Security.** Semi-honest, one corrupted party. R hears
//! shares that words of the dealer's and L's key mask, and L's messages, which other words of the
//! same key mask; L hears R's messages under words of the dealer's and R's key. SECURITY: a word of
//! a key masks one message. **Time.** Loops depend on lengths alone.

use super::{
    Word,
    column::Column,
    gate::{TwoWayGate, two_way},
    planes::to_planes,
    rectify_shape::{Masked, RectifyShape},
    summand::{numbers, rows as rows_of},
};
use crate::{
    Batch, Context, Role, ShareError,
    pool::{self, Scratch},
    xor_into,
};
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};
use std::{ops::Range, sync::Arc};

/// The place of a party in a part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Dealer,
    Right,
    Left,
}

impl Seat {
    fn of(role: Role, dealer: Role) -> Seat {
        match (role.index() + 3 - dealer.index()) % 3 {
            0 => Seat::Dealer,
            1 => Seat::Right,
            _ => Seat::Left,
        }
    }
}

/// Bytes of a key's stream, each of which serves once.
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

/// A part of the rows, at one of its three parties.
struct RectifyPart<W: Word> {
    seat: Seat,
    cx: Context,
    rows: usize,
    /// The dealer's message to the right in the first round.
    dealt: Scratch<u8>,
    /// The word that both of R and L know.
    known: Scratch<W>,
    /// Its planes.
    planes: Scratch<u8>,
    /// R's and L's shares of dealt bits and words.
    bits: Scratch<u8>,
    words: Scratch<W>,
    /// This party's shares of masks, all rounds' planes.
    masks: Scratch<u8>,
    /// Masked bits, those of rounds that are over.
    masked: Scratch<u8>,
    /// The message of this round.
    message: Scratch<u8>,
    /// The words that the dealer shares with R and with L, where this party has them.
    of_right: Scratch<W>,
    of_left: Scratch<W>,
    /// The word of R and L, after the run.
    last: Scratch<W>,
}

fn bit<W: Word>(word: W, at: usize) -> W {
    W::of(word.number() >> at & 1)
}

/// 2^at, or 0 where the ring is no larger.
fn power<W: Word>(at: usize) -> W {
    W::of(1u64.checked_shl(at as u32).unwrap_or(0))
}

fn and(x: &[u8], y: &[u8]) -> Scratch<u8> {
    Scratch::new(pool::collect(x.iter().zip(y).map(|(x, y)| x & y)))
}

impl<W: Word> RectifyPart<W> {
    fn height(&self) -> usize {
        plane_bytes(self.rows)
    }

    /// Draws this party's masks, and at the dealer computes all that it deals.
    fn new(cx: Context, dealer: Role, shape: &RectifyShape, x: [&[W]; 2]) -> RectifyPart<W> {
        let (seat, rows) = (Seat::of(cx.role, dealer), x[0].len());
        let (height, top) = (plane_bytes(rows), shape.bits.end);
        let mask = if top >= W::BITS { u64::MAX } else { (1 << top) - 1 };
        let of = |word: W| W::of(word.number() & mask);
        let [own, next] = x;
        let known: Scratch<W> = Scratch::new(match seat {
            Seat::Dealer => pool::collect(own.iter().zip(next).map(|(x, y)| of(x.plus(*y)))),
            Seat::Right => pool::collect(next.iter().map(|x| of(*x))),
            Seat::Left => pool::collect(own.iter().map(|x| of(*x))),
        });
        let mut planes = Scratch::zeros(top * height);
        to_planes(cx.backend, &known, &mut planes);
        let (nothing, none) = (|| Scratch::<u8>::default(), || Scratch::<W>::default());
        let mut part = RectifyPart {
            seat,
            rows,
            dealt: nothing(),
            known,
            planes,
            bits: nothing(),
            words: none(),
            masks: nothing(),
            masked: nothing(),
            message: nothing(),
            of_right: none(),
            of_left: none(),
            last: none(),
            cx,
        };
        part.draw(shape);
        part
    }

    fn draw(&mut self, shape: &RectifyShape) {
        let (height, rows) = (self.height(), self.rows);
        let (masks, bits, words) = (shape.masked() * height, shape.dealt() * height, shape.words() * rows);
        // The key that the dealer shares with R is its own, and the one with L the last; R and L
        // have them the other way round.
        let stream = |of: Seat| {
            let has_own = (self.seat == Seat::Dealer) == (of == Seat::Right);
            Stream { cx: &self.cx, key: usize::from(!has_own), next: 0 }
        };
        let right = |stream: &mut Stream<'_>| (stream.bytes(masks), stream.words::<W>(rows));
        let left = |stream: &mut Stream<'_>| {
            let dealt = (stream.bytes(bits), stream.words::<W>(words));
            (dealt, stream.bytes(masks), stream.words::<W>(rows))
        };
        match self.seat {
            Seat::Right => (self.masks, self.of_right) = right(&mut stream(Seat::Right)),
            Seat::Left => {
                ((self.bits, self.words), self.masks, self.of_left) = left(&mut stream(Seat::Left));
            }
            Seat::Dealer => {
                let (of_right, first) = right(&mut stream(Seat::Right));
                let ((hidden, hidden_words), mut all, second) = left(&mut stream(Seat::Left));
                xor_into(&mut all, &of_right);
                (self.of_right, self.of_left) = (first, second);
                let (mut bits, words) = self.dealing(shape, &all);
                xor_into(&mut bits, &hidden);
                let mut dealt = Scratch::zeros(bits.len() + words.len() * W::BYTES);
                let (planes, rest) = dealt.split_at_mut(bits.len());
                planes.copy_from_slice(&bits);
                let words = words.iter().zip(hidden_words.iter());
                for (out, (word, mask)) in rest.chunks_exact_mut(W::BYTES).zip(words) {
                    word.minus(*mask).write(out);
                }
                self.dealt = dealt;
            }
        }
    }

    /// Plane `at` of some planes.
    fn plane<'p>(&self, of: &'p [u8], at: usize) -> &'p [u8] {
        &of[at * self.height()..(at + 1) * self.height()]
    }

    /// The bits and words that the dealer deals; `masks` are those of all rounds.
    fn dealing(&self, shape: &RectifyShape, masks: &[u8]) -> (Scratch<u8>, Scratch<W>) {
        let mut bits = Scratch::room(shape.dealt() * self.height());
        for digit in &shape.digits {
            let low = self.plane(&self.planes, digit.start);
            bits.extend_from_slice(low);
            if digit.len() == 2 {
                let high = self.plane(&self.planes, digit.start + 1);
                bits.extend_from_slice(high);
                bits.extend_from_slice(&and(low, high));
            }
        }
        bits.extend_from_slice(self.plane(&self.planes, shape.bits.end - 1));
        for set in shape.products.keys() {
            let mut product = and(self.plane(masks, set[0]), self.plane(masks, set[1]));
            for at in &set[2..] {
                product = and(&product, self.plane(masks, *at));
            }
            bits.extend_from_slice(&product);
        }
        let Range { start: cut, end } = shape.bits;
        let bits_of = |at: usize| numbers::<W>(self.cx.backend, self.plane(masks, at), self.rows);
        let (sign, carry) = (bits_of(shape.sign), shape.carry.map(bits_of));
        let whole = power::<W>(end - cut);
        let shifted = |u: &W| W::of(u.number() >> cut);
        let of_zero = |u: &W| shifted(u).minus(whole.times(bit(*u, end - 1)));
        let of_one = |u: &W| shifted(u).minus(whole);
        let mut words = Scratch::room(shape.words() * self.rows);
        words.extend(sign.iter().copied());
        if let Some(carry) = carry {
            words.extend(carry.iter().copied());
            words.extend(carry.iter().zip(sign.iter()).map(|(c, b)| c.times(*b)));
        }
        words.extend(self.known.iter().map(of_zero));
        words.extend(self.known.iter().map(of_one));
        words.extend(self.known.iter().zip(sign.iter()).map(|(u, b)| b.times(of_zero(u))));
        words.extend(self.known.iter().zip(sign.iter()).map(|(u, b)| b.times(of_one(u))));
        (bits, words)
    }

    /// Takes what the dealer dealt R.
    fn take(&mut self, shape: &RectifyShape, heard: &[u8]) {
        let (bits, words) = heard.split_at(shape.dealt() * self.height());
        self.bits = Scratch::new(pool::copy(bits));
        self.words = Scratch::new(pool::collect(words.chunks_exact(W::BYTES).map(W::read)));
    }

    /// Makes the message of a round of R and L.
    fn speak(&mut self, shape: &RectifyShape, round: usize) {
        let Some(outputs) = shape.rounds.get(round) else { return self.speak_last(shape) };
        let first: usize = shape.rounds[..round].iter().map(Vec::len).sum();
        let height = self.height();
        let mut message = Scratch::new(pool::copy(&self.masks[first * height..][..outputs.len() * height]));
        for (of, out) in outputs.iter().zip(message.chunks_exact_mut(height.max(1))) {
            match of {
                Masked::Carries(digit) => self.carries(shape, *digit, out),
                Masked::HandsOn(digit) => self.hands_on(shape, *digit, out),
                Masked::Sum(terms) | Masked::Sign(terms) => {
                    for term in terms {
                        self.product(shape, term, None, &mut vec![], out);
                    }
                }
            }
            if let Masked::Sign(_) = of {
                let highest = self.dealt_before(shape, shape.digits.len());
                xor_into(out, self.plane(&self.bits, highest));
                if self.seat == Seat::Right {
                    xor_into(out, self.plane(&self.planes, shape.bits.end - 1));
                    out.iter_mut().for_each(|byte| *byte = !*byte);
                }
            }
        }
        self.message = message;
    }

    /// Bits that are dealt before those of a digit.
    fn dealt_before(&self, shape: &RectifyShape, digit: usize) -> usize {
        shape.digits[..digit].iter().map(|digit| (1 << digit.len()) - 1).sum()
    }

    /// `out ⊕=` this party's share of whether a digit carries.
    fn carries(&self, shape: &RectifyShape, digit: usize, out: &mut [u8]) {
        let (at, first) = (&shape.digits[digit], self.dealt_before(shape, digit));
        let [v, u] = [self.plane(&self.planes, at.start), self.plane(&self.bits, first)];
        if at.len() == 1 {
            out.iter_mut().zip(u.iter().zip(v)).for_each(|(out, (u, v))| *out ^= u & v);
            return;
        }
        let high = self.plane(&self.planes, at.start + 1);
        let [u_1, both] = [1, 2].map(|k| self.plane(&self.bits, first + k));
        for (i, out) in out.iter_mut().enumerate() {
            *out ^= (u_1[i] & high[i]) ^ (both[i] & v[i]) ^ (u[i] & high[i] & v[i]);
        }
    }

    /// `out ⊕=` this party's share of whether a digit hands a carry on; R adds what R and L know.
    fn hands_on(&self, shape: &RectifyShape, digit: usize, out: &mut [u8]) {
        let (at, first) = (&shape.digits[digit], self.dealt_before(shape, digit));
        let adds = if self.seat == Seat::Right { u8::MAX } else { 0 };
        let [v, u] = [self.plane(&self.planes, at.start), self.plane(&self.bits, first)];
        if at.len() == 1 {
            out.iter_mut().zip(u.iter().zip(v)).for_each(|(out, (u, v))| *out ^= u ^ (v & adds));
            return;
        }
        let high = self.plane(&self.planes, at.start + 1);
        let [u_1, both] = [1, 2].map(|k| self.plane(&self.bits, first + k));
        for (i, out) in out.iter_mut().enumerate() {
            *out ^= both[i] ^ (u_1[i] & v[i]) ^ (u[i] & high[i]) ^ (high[i] & v[i] & adds);
        }
    }

    /// `out ⊕=` this party's share of a product of masked bits, times the masked ones that `known`
    /// has. For each set of factors whose masks are taken, the others are known as they are masked.
    fn product(
        &self,
        shape: &RectifyShape,
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
                let first = self.dealt_before(shape, shape.digits.len()) + 1;
                Some(self.plane(&self.bits, first + shape.products[masks]))
            }
        };
        match (share, known) {
            (Some(share), Some(known)) => {
                out.iter_mut().zip(share.iter().zip(known)).for_each(|(out, (x, y))| *out ^= x & y);
            }
            (Some(share), None) => xor_into(out, share),
            // R adds what both know.
            (None, Some(known)) if self.seat == Seat::Right => xor_into(out, known),
            (None, _) => {}
        }
    }

    /// The words of the last round: b times what the number is if it is not below 0.
    fn speak_last(&mut self, shape: &RectifyShape) {
        let rows = self.rows;
        let Range { start: cut, end } = shape.bits;
        let adds = W::of(u64::from(self.seat == Seat::Right));
        let column = |k: usize| &self.words[k * rows..(k + 1) * rows];
        let plane = |at: usize| numbers::<W>(self.cx.backend, self.plane(&self.masked, at), rows);
        let sign = plane(shape.sign);
        let carry = shape.carry.map(plane);
        let before = if carry.is_some() { 3 } else { 1 };
        let (of_sign, [u_0, u_1, b_0, b_1]) = (column(0), [0, 1, 2, 3].map(|k| column(before + k)));
        let masks = if self.seat == Seat::Right { &self.of_right } else { &self.of_left };
        let one = W::of(1);
        let turned = |m: W| one.minus(m).minus(m);
        let mut message = Scratch::zeros(rows * W::BYTES);
        let mut last = Scratch::room(rows);
        for (i, out) in message.chunks_exact_mut(W::BYTES).enumerate() {
            let (v, m) = (self.known[i], sign[i]);
            let (high, shifted, s) = (bit(v, end - 1), W::of(v.number() >> cut), turned(m));
            let choose = |zero: W, one: W| zero.plus(high.times(one.minus(zero)));
            let (u, b) = (choose(u_0[i], u_1[i]), choose(b_0[i], b_1[i]));
            let of_u = m.times(u.plus(adds.times(shifted))).plus(s.times(b.plus(shifted.times(of_sign[i]))));
            let of_carry = carry.as_ref().map_or(W::default(), |carry| {
                let (n, t) = (carry[i], turned(carry[i]));
                let both = adds.times(m.times(n)).plus(m.times(t).times(column(1)[i]));
                both.plus(n.times(s).times(of_sign[i])).plus(s.times(t).times(column(2)[i]))
            });
            let own = of_u.plus(of_carry).minus(masks[i]);
            own.write(out);
            last.push(own);
        }
        (self.message, self.last) = (message, last);
    }

    /// Takes the other's message of a round.
    fn hear(&mut self, shape: &RectifyShape, round: usize, heard: &[u8]) {
        if round < shape.rounds.len() {
            let mut both = std::mem::take(&mut self.message);
            xor_into(&mut both, heard);
            self.masked.extend_from_slice(&both);
        } else {
            let words = heard.chunks_exact(W::BYTES).map(W::read);
            self.last.iter_mut().zip(words).for_each(|(own, word)| *own = own.plus(word));
        }
    }

    /// Shares of the results.
    fn shares(&self) -> [&[W]; 2] {
        match self.seat {
            Seat::Dealer => [&self.of_left, &self.of_right],
            Seat::Right => [&self.of_right, &self.last],
            Seat::Left => [&self.last, &self.of_left],
        }
    }
}

/// One party's third of a rectifier of numbers, which become numbers.
pub struct Rectify<W: Word> {
    shape: Arc<RectifyShape>,
    parts: Vec<RectifyPart<W>>,
    rows: usize,
    /// The round under way; the dealing is the first.
    round: usize,
    cost: Cost,
    gate: TwoWayGate,
}

/// The rows of each dealer.
fn thirds(rows: usize) -> [Range<usize>; 3] {
    let third = rows / 3 / 8 * 8;
    [0..third, third..2 * third, 2 * third..rows]
}

impl<W: Word> Rectify<W> {
    /// max(⌊x / 2^from⌋, 0), row by row, of numbers of `to` bits in two's complement.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have as many rows, and the bits are a word's, the
    /// sign one of them.
    pub fn new(batch: &mut Batch, x: &Column<W>, bits: Range<usize>) -> Result<Self, ShareError> {
        let rows = rows_of(&[x])?;
        if !(bits.start + 1..=W::BITS).contains(&bits.end) {
            let what = "the end of a number's bits";
            return Err(ShareError::Operand { what, expected: (W::BITS, rows), found: (bits.end, rows) });
        }
        let shape = Arc::new(RectifyShape::new(&bits));
        let part = |(dealer, rows): (Role, Range<usize>)| {
            let cx = batch.context();
            RectifyPart::new(cx, dealer, &shape, [&x.own[rows.clone()], &x.next[rows]])
        };
        let parts: Vec<RectifyPart<W>> = Role::ALL.into_iter().zip(thirds(rows)).map(part).collect();
        let mut machine =
            Rectify { shape, parts, rows, round: 0, cost: Cost::default(), gate: TwoWayGate::default() };
        machine.cost = machine.declared();
        Ok(machine)
    }

    fn declared(&self) -> Cost {
        let all = 0..self.last() + 1;
        let sent =
            all.clone().map(|round| self.rounds_at(round).map(|round| round.out).iter().sum::<usize>());
        match self.rows {
            0 => Cost::default(),
            _ => Cost { rounds: all.len() as u64, bytes_sent: sent.sum::<usize>() as u64 },
        }
    }

    /// The number of the last round.
    fn last(&self) -> usize {
        self.shape.rounds.len() + 1
    }

    /// The part in which this party has a seat.
    fn part(&self, seat: Seat) -> &RectifyPart<W> {
        self.parts.iter().find(|part| part.seat == seat).expect("a party has each seat once")
    }

    fn part_mut(&mut self, seat: Seat) -> &mut RectifyPart<W> {
        self.parts.iter_mut().find(|part| part.seat == seat).expect("a party has each seat once")
    }

    fn rounds_at(&self, round: usize) -> [Round; 2] {
        let bytes = |seat: Seat| {
            let part = self.part(seat);
            match round {
                0 => self.shape.dealt() * part.height() + self.shape.words() * part.rows * W::BYTES,
                _ => match self.shape.rounds.get(round - 1) {
                    Some(outputs) => outputs.len() * part.height(),
                    None => part.rows * W::BYTES,
                },
            }
        };
        let name = "rectifiers";
        let [right, left] = [Seat::Right, Seat::Left].map(bytes);
        match round {
            0 => [Round::even(name, 0), Round { name, out: bytes(Seat::Dealer), into: right }],
            _ => [Round { name, out: left, into: right }, Round { name, out: right, into: left }],
        }
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        (self.rows > 0 && self.round <= self.last()).then(|| self.rounds_at(self.round))
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        match (self.round, slot) {
            (0, 0) => {}
            (0, _) => out.copy_from_slice(&self.part(Seat::Dealer).dealt),
            (_, 0) => out.copy_from_slice(&self.part(Seat::Left).message),
            _ => out.copy_from_slice(&self.part(Seat::Right).message),
        }
    }

    fn hear(&mut self, [ring, back]: [Exchanged<'_>; 2]) {
        let (shape, round) = (self.shape.clone(), self.round);
        if round == 0 {
            self.part_mut(Seat::Right).take(&shape, back.heard);
            self.part_mut(Seat::Dealer).dealt = Scratch::default();
        } else {
            self.part_mut(Seat::Right).hear(&shape, round - 1, ring.heard);
            self.part_mut(Seat::Left).hear(&shape, round - 1, back.heard);
        }
        if round < self.last() {
            [Seat::Right, Seat::Left].into_iter().for_each(|seat| self.part_mut(seat).speak(&shape, round));
        }
        self.round += 1;
    }

    /// Shares of the numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        assert!(self.exchange().is_none(), "finish comes after the last round");
        let mut out = Column { own: pool::room(self.rows), next: pool::room(self.rows) };
        for part in &self.parts {
            let [own, next] = part.shares();
            out.own.extend_from_slice(own);
            out.next.extend_from_slice(next);
        }
        out
    }
}

two_way!([W: Word] Rectify<W>;
    fn cost(&self) -> Option<Cost> {
        Some(self.cost)
    }
);
