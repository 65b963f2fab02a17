//! Results that follow from the signs and carries of numbers, in few rounds: the machine of
//! [`Rectify`], [`Greatest`], [`TruncateInFew`] and [`NegativeInFew`].
//!
//! ```text
//! dealing      bits and words                                   dealer → R
//! digits …     masked signs and carries (`carries`)             R ⇄ L
//! words        the masked result that follows from them         R ⇄ L
//! ```
//!
//! Each party is the dealer of a third of the rows, so that all send equally much.
//!
//! **Security.** Semi-honest, one corrupted party. R receives shares that are masked by words of
//! the key that the dealer and L share, and L's messages, which are masked by other words of the
//! same key. L receives R's messages, masked by words of the key that the dealer and R share.
//! SECURITY: a word of a key masks one message. **Constant time.** Loops depend on lengths alone.
//!
//! [`Rectify`]: super::Rectify
//! [`Greatest`]: super::Greatest
//! [`TruncateInFew`]: super::TruncateInFew
//! [`NegativeInFew`]: super::NegativeInFew

use super::{
    Word,
    carries::{CarriesPart, Seat, WordsAfter},
    carries_shape::CarriesShape,
    column::Column,
    gate::{TwoWayGate, two_way},
};
use crate::{
    Batch, Role, ShareError,
    pool::{self, Scratch},
};
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};
use std::{ops::Range, sync::Arc};

/// The dealer's knowledge of some rows: u of all numbers, and the masks of signs and carries.
pub(super) struct OfDealer<'a, W> {
    pub(super) rows: usize,
    pub(super) bits: &'a Range<usize>,
    pub(super) u: &'a [W],
    pub(super) sign: &'a [W],
    pub(super) carry: &'a [W],
}

/// R's or L's knowledge of some rows: v of all numbers, its shares of u and of dealt words, and
/// masked signs and carries.
pub(super) struct OfOthers<'a, W> {
    pub(super) rows: usize,
    pub(super) bits: &'a Range<usize>,
    /// 1 at R, which adds the terms that R and L both know, and 0 at L.
    pub(super) adds: W,
    pub(super) v: &'a [W],
    pub(super) u: &'a [W],
    pub(super) sign: &'a [W],
    pub(super) carry: &'a [W],
    words: &'a [W],
}

impl<'a, W> OfOthers<'a, W> {
    /// A column of dealt words.
    pub(super) fn dealt(&self, k: usize) -> &'a [W] {
        &self.words[k * self.rows..(k + 1) * self.rows]
    }
}

/// A result that is computed from signs and carries.
pub(super) trait Ending<W: Word>: Send + Sync {
    /// The step's name in errors.
    const STEP: &'static str;
    /// Whether the result is words; otherwise it is the signs.
    const HAS_WORDS: bool = true;

    /// The number of words that are dealt per row.
    fn words(&self) -> usize;

    /// Appends these words, column after column.
    fn deal(&self, of: &OfDealer<'_, W>, words: &mut Scratch<W>);

    /// This party's share of the result.
    fn share(&self, of: &OfOthers<'_, W>) -> Scratch<W>;
}

/// A bit of a number.
pub(super) fn bit<W: Word>(word: W, at: usize) -> W {
    W::of(word.number() >> at & 1)
}

/// 2^at modulo the ring's size, so 0 for a bit that the ring lacks.
pub(super) fn power<W: Word>(at: usize) -> W {
    W::of(1u64.checked_shl(at as u32).unwrap_or(0))
}

/// The lowest `bits` bits of a number.
pub(super) fn low<W: Word>(word: W, bits: usize) -> W {
    W::of(word.number() & if bits >= 64 { u64::MAX } else { (1 << bits) - 1 })
}

/// 1 − 2 m, the factor that applies the mask of a bit.
pub(super) fn turned<W: Word>(m: W) -> W {
    W::of(1).minus(m).minus(m)
}

/// A part of the rows, at one of its three parties.
struct FewPart<W: Word> {
    carries: CarriesPart<W>,
    rows: usize,
    /// The word that R and L hold, after the run.
    last: Scratch<W>,
}

/// The rows of each dealer.
fn thirds(rows: usize) -> [Range<usize>; 3] {
    let third = rows / 3 / 8 * 8;
    [0..third, third..2 * third, 2 * third..rows]
}

/// One party's endpoint of results from signs and carries, for all three parts of the rows.
pub struct FewRounds<W: Word, E> {
    shape: Arc<CarriesShape>,
    ending: E,
    parts: Vec<FewPart<W>>,
    rows: usize,
    /// The current round; the dealing is round 0.
    round: usize,
    cost: Cost,
    gate: TwoWayGate,
}

#[expect(private_bounds, reason = "all of its public functions are of one ending each")]
impl<W: Word, E: Ending<W>> FewRounds<W, E> {
    /// Takes the columns of numbers that the ending expects, and the range of their bits that is
    /// kept.
    pub(super) fn of(
        batch: &mut Batch,
        columns: &[&Column<W>],
        bits: Range<usize>,
        ending: E,
    ) -> Result<Self, ShareError> {
        let rows = super::summand::rows(columns)?;
        if !(bits.start + 1..=W::BITS).contains(&bits.end) {
            let what = "the end of a number's bits";
            return Err(ShareError::Operand { what, expected: (W::BITS, rows), found: (bits.end, rows) });
        }
        let shape = Arc::new(CarriesShape::new(&bits));
        let part = |(dealer, rows): (Role, Range<usize>)| {
            let share = |share: fn(&Column<W>) -> &[W]| {
                let mut all = Scratch::room(columns.len() * rows.len());
                columns.iter().for_each(|column| all.extend_from_slice(&share(column)[rows.clone()]));
                all
            };
            let [own, next] = [share(|column| &column.own), share(|column| &column.next)];
            let rows = rows.len();
            let masks = if E::HAS_WORDS { rows } else { 0 };
            let after = WordsAfter { dealt: ending.words() * rows, masks };
            let mut carries = CarriesPart::new(batch.context(), dealer, &shape, [&own, &next], after);
            if carries.seat == Seat::Dealer {
                let mut words = Scratch::room(after.dealt);
                if E::HAS_WORDS {
                    let sign = carries.masks_of(shape.sign);
                    let carry = shape.carry.map(|at| carries.masks_of(at)).unwrap_or_default();
                    let (u, bits) = (&carries.known, &shape.bits);
                    ending.deal(&OfDealer { rows, bits, u, sign: &sign, carry: &carry }, &mut words);
                }
                carries.deal(&shape, &words);
            }
            FewPart { carries, rows, last: Scratch::default() }
        };
        let parts: Vec<FewPart<W>> = Role::ALL.into_iter().zip(thirds(rows)).map(part).collect();
        let (cost, gate) = (Cost::default(), TwoWayGate::default());
        let mut machine = FewRounds { shape, ending, parts, rows, round: 0, cost, gate };
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
        self.shape.rounds.len() + usize::from(E::HAS_WORDS)
    }

    /// The part of the rows for which this party has the role `seat`.
    fn part(&self, seat: Seat) -> &FewPart<W> {
        self.parts.iter().find(|part| part.carries.seat == seat).expect("a party has each seat once")
    }

    fn part_mut(&mut self, seat: Seat) -> &mut FewPart<W> {
        self.parts.iter_mut().find(|part| part.carries.seat == seat).expect("a party has each seat once")
    }

    fn rounds_at(&self, round: usize) -> [Round; 2] {
        let bytes = |seat: Seat| {
            let part = self.part(seat);
            let height = part.carries.height();
            match round {
                0 => self.shape.dealt() * height + self.ending.words() * part.rows * W::BYTES,
                _ => match self.shape.rounds.get(round - 1) {
                    Some(outputs) => outputs.len() * height,
                    None => part.rows * W::BYTES,
                },
            }
        };
        let name = E::STEP;
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
        let seat = match (self.round, slot) {
            (0, 0) => return,
            (0, _) => Seat::Dealer,
            (_, 0) => Seat::Left,
            _ => Seat::Right,
        };
        out.copy_from_slice(self.part(seat).carries.message());
    }

    /// Makes the words of the last round, at R or L.
    fn speak_words(&mut self, seat: Seat) {
        let part = self.part(seat);
        let (carries, bits) = (&part.carries, &self.shape.bits);
        let sign = carries.masked_of(self.shape.sign);
        let carry = self.shape.carry.map(|at| carries.masked_of(at)).unwrap_or_default();
        let mut last = self.ending.share(&OfOthers {
            rows: part.rows,
            bits,
            adds: W::of(u64::from(seat == Seat::Right)),
            v: &carries.known,
            u: &carries.summand,
            sign: &sign,
            carry: &carry,
            words: &carries.words,
        });
        let masks = if seat == Seat::Right { &carries.of_right } else { &carries.of_left };
        let mut message = Scratch::zeros(part.rows * W::BYTES);
        for (out, (own, mask)) in message.chunks_exact_mut(W::BYTES).zip(last.iter_mut().zip(masks.iter())) {
            *own = own.minus(*mask);
            own.write(out);
        }
        let part = self.part_mut(seat);
        part.carries.set_message(message);
        part.last = last;
    }

    fn hear(&mut self, [ring, back]: [Exchanged<'_>; 2]) {
        let (shape, round) = (self.shape.clone(), self.round);
        let signs = shape.rounds.len();
        match round {
            0 => {
                self.part_mut(Seat::Right).carries.take(&shape, back.heard);
                self.part_mut(Seat::Dealer).carries.set_message(Scratch::default());
            }
            _ => {
                for (seat, heard) in [(Seat::Right, ring.heard), (Seat::Left, back.heard)] {
                    let part = self.part_mut(seat);
                    if round <= signs {
                        part.carries.hear(heard);
                        continue;
                    }
                    let words = heard.chunks_exact(W::BYTES).map(W::read);
                    part.last.iter_mut().zip(words).for_each(|(own, word)| *own = own.plus(word));
                }
            }
        }
        if round < self.last() {
            for seat in [Seat::Right, Seat::Left] {
                match round < signs {
                    true => self.part_mut(seat).carries.speak(&shape, round),
                    false => self.speak_words(seat),
                }
            }
        }
        self.round += 1;
    }

    /// Shares of the words, after the run, and the ending.
    pub(super) fn into_words(self) -> (Column<W>, E) {
        assert!(self.exchange().is_none(), "finish comes after the last round");
        let mut out = Column { own: pool::room(self.rows), next: pool::room(self.rows) };
        for FewPart { carries, last, .. } in &self.parts {
            let [own, next] = match carries.seat {
                Seat::Dealer => [&carries.of_left, &carries.of_right],
                Seat::Right => [&carries.of_right, last],
                Seat::Left => [last, &carries.of_left],
            };
            out.own.extend_from_slice(own);
            out.next.extend_from_slice(next);
        }
        (out, self.ending)
    }

    /// Shares of the signs, a plane over all rows, after the run: 1 if a number is not below 0.
    pub(super) fn into_signs(self) -> ([Vec<u8>; 2], E) {
        assert!(self.exchange().is_none(), "finish comes after the last round");
        let mut out = [vec![], vec![]];
        for part in &self.parts {
            let shares =
                if self.rows > 0 { part.carries.shares_of(self.shape.sign) } else { Default::default() };
            out.iter_mut().zip(&shares).for_each(|(out, share)| out.extend_from_slice(share));
        }
        (out, self.ending)
    }
}

two_way!([W: Word, E: Ending<W>] FewRounds<W, E>;
    fn cost(&self) -> Option<Cost> {
        Some(self.cost)
    }
);
