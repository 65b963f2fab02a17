//! The sums and products of a rectifier: which bits are masked in which round, and which products
//! of masks are dealt.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// AGREEMENT: digits of a group, and groups from which b and c are computed.
const GROUP: usize = 4;
const LAST: usize = 5;

/// A masked bit of each row.
#[derive(Clone, Debug)]
pub(super) enum Masked {
    /// Whether a digit carries.
    Carries(usize),
    /// Whether a digit hands a carry on.
    HandsOn(usize),
    /// A sum of products of masked bits.
    Sum(Vec<Vec<usize>>),
    /// Whether the number is not below 0: the same, and the highest bits.
    Sign(Vec<Vec<usize>>),
}

/// A digit or a group of digits: the masked bits that say whether it carries, and whether it hands
/// a carry on. The lowest has no carry to hand on.
#[derive(Clone, Copy)]
struct Digit {
    carries: usize,
    hands_on: Option<usize>,
}

/// The sums and products of a rectifier, which follow from its bits alone.
#[derive(Debug)]
pub(super) struct RectifyShape {
    pub(super) bits: Range<usize>,
    pub(super) digits: Vec<Range<usize>>,
    /// The masked bits of each round of R and L, by the first one's number.
    pub(super) rounds: Vec<Vec<Masked>>,
    /// Sets of masked bits whose masks' products are dealt, and their numbers.
    pub(super) products: BTreeMap<Vec<usize>, usize>,
    pub(super) sign: usize,
    pub(super) carry: Option<usize>,
}

/// The terms of a group's carry: of each digit, with all above that hand it on.
fn carry_of(group: &[Digit]) -> Vec<Vec<usize>> {
    let term = |at: usize| {
        let above = group[at + 1..].iter().filter_map(|digit| digit.hands_on);
        let mut all: Vec<usize> = above.chain([group[at].carries]).collect();
        all.sort_unstable();
        all
    };
    (0..group.len()).map(term).collect()
}

impl RectifyShape {
    pub(super) fn new(bits: &Range<usize>) -> RectifyShape {
        let top = bits.end - 1;
        let pairs = |range: Range<usize>| {
            range.clone().step_by(2).map(move |at| at..range.end.min(at + 2)).collect::<Vec<_>>()
        };
        let low = pairs(0..bits.start);
        let mut split = low.len();
        let digits = [low, pairs(bits.start..top)].concat();
        let (mut count, mut rounds) = (0, vec![]);
        let mut masked = |all: &mut Vec<Masked>, of: Masked| {
            all.push(of);
            count += 1;
            count - 1
        };
        let mut all = vec![];
        let mut left: Vec<Digit> = (0..digits.len())
            .map(|digit| Digit {
                carries: masked(&mut all, Masked::Carries(digit)),
                hands_on: (digit > 0).then(|| masked(&mut all, Masked::HandsOn(digit))),
            })
            .collect();
        rounds.push(all);
        while left.len() > LAST {
            let (mut all, mut groups) = (vec![], vec![]);
            for part in [&left[..split], &left[split..]] {
                for group in part.chunks(GROUP) {
                    groups.push(match group {
                        [one] => *one,
                        _ => {
                            let hands_on: Option<Vec<usize>> =
                                group.iter().map(|digit| digit.hands_on).collect();
                            let carries = masked(&mut all, Masked::Sum(carry_of(group)));
                            let hands_on = hands_on.map(|term| masked(&mut all, Masked::Sum(vec![term])));
                            Digit { carries, hands_on }
                        }
                    });
                }
            }
            split = if split == 0 { 0 } else { left[..split].chunks(GROUP).len() };
            left = groups;
            rounds.push(all);
        }
        let mut all = vec![];
        let sign = masked(&mut all, Masked::Sign(carry_of(&left)));
        let carry = (bits.start > 0).then(|| masked(&mut all, Masked::Sum(carry_of(&left[..split]))));
        rounds.push(all);
        let mut sets = BTreeSet::new();
        for of in rounds.iter().flatten() {
            if let Masked::Sum(terms) | Masked::Sign(terms) = of {
                terms.iter().for_each(|term| subsets(term, &mut vec![], &mut sets));
            }
        }
        let products = sets.into_iter().enumerate().map(|(at, set)| (set, at)).collect();
        RectifyShape { bits: bits.clone(), digits, rounds, products, sign, carry }
    }

    /// Masked bits of a row.
    pub(super) fn masked(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Bits that are dealt for a row: products of u's digits, its highest bit, products of masks.
    pub(super) fn dealt(&self) -> usize {
        self.digits.iter().map(|digit| (1 << digit.len()) - 1).sum::<usize>() + 1 + self.products.len()
    }

    /// Words that are dealt for a row.
    pub(super) fn words(&self) -> usize {
        if self.carry.is_some() { 7 } else { 5 }
    }
}

/// The sets of two and more of some masked bits.
fn subsets(of: &[usize], taken: &mut Vec<usize>, all: &mut BTreeSet<Vec<usize>>) {
    match of {
        [] if taken.len() > 1 => {
            all.insert(taken.clone());
        }
        [] => {}
        [first, rest @ ..] => {
            subsets(rest, taken, all);
            taken.push(*first);
            subsets(rest, taken, all);
            taken.pop();
        }
    }
}
