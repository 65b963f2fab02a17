//! The structure of carries in few rounds: which bits are masked in which round, and which products
//! of masks are dealt.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// AGREEMENT: the bits of a digit, the digits of a group, and the number of groups from which signs
/// and carries are computed.
const DIGIT: usize = 3;
const GROUP: usize = 3;
const LAST: usize = 7;
/// AGREEMENT: the bits of a digit, and the number of digits, for numbers so short that signs and
/// carries are computed from digits directly, which saves a round.
const LONG_DIGIT: usize = 4;
const FEW: usize = 5;

/// A masked bit of each row.
#[derive(Clone, Debug)]
pub(super) enum Masked {
    /// Whether a digit carries.
    Carries(usize),
    /// Whether the digit before propagates a carry.
    HandsOn,
    /// A sum of products of masked bits.
    Sum(Vec<Vec<usize>>),
    /// Whether the number is not below 0: such a sum, plus the highest bits.
    Sign(Vec<Vec<usize>>),
}

/// A digit or a group of digits, given by the masked bits for whether it carries and whether it
/// propagates a carry. The lowest digit has no carry to propagate.
#[derive(Clone, Copy)]
struct Digit {
    carries: usize,
    hands_on: Option<usize>,
}

/// The structure of carries, which depends on the range of bits alone.
#[derive(Debug)]
pub(super) struct CarriesShape {
    /// The bits of a number that are kept; lower bits are cut off.
    pub(super) bits: Range<usize>,
    pub(super) digits: Vec<Range<usize>>,
    /// The masked bits of each round between R and L. They are numbered through all rounds.
    pub(super) rounds: Vec<Vec<Masked>>,
    /// Sets of masked bits for which the products of masks are dealt, and their numbers.
    pub(super) products: BTreeMap<Vec<usize>, usize>,
    pub(super) sign: usize,
    pub(super) carry: Option<usize>,
}

/// The terms of a group's carry: for each digit, its carry times the propagation of all digits
/// above.
fn carry_of(group: &[Digit]) -> Vec<Vec<usize>> {
    let term = |at: usize| {
        let above = group[at + 1..].iter().filter_map(|digit| digit.hands_on);
        let mut all: Vec<usize> = above.chain([group[at].carries]).collect();
        all.sort_unstable();
        all
    };
    (0..group.len()).map(term).collect()
}

/// Splits bits into digits of at most this many bits, as evenly as possible.
fn digits(bits: &Range<usize>, most: usize) -> Vec<Range<usize>> {
    let count = bits.len().div_ceil(most);
    let start = |k: usize| bits.start + (k * bits.len()).div_ceil(count);
    (0..count).map(|k| start(k)..start(k + 1)).collect()
}

impl CarriesShape {
    /// The shape for the sign of numbers that end with bit `bits.end`, and for the carry into bit
    /// `bits.start` unless that is 0.
    pub(super) fn new(bits: &Range<usize>) -> CarriesShape {
        let top = bits.end - 1;
        let [low, high] = [0..bits.start, bits.start..top];
        let in_digits = |most: usize| [digits(&low, most), digits(&high, most)];
        let at_once = in_digits(LONG_DIGIT);
        let is_short = at_once.iter().map(Vec::len).sum::<usize>() <= FEW;
        let parts = if is_short { at_once } else { in_digits(DIGIT) };
        let (mut split, digits) = (parts[0].len(), parts.concat());
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
                hands_on: (digit > 0).then(|| masked(&mut all, Masked::HandsOn)),
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
            split = left[..split].chunks(GROUP).len();
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
        CarriesShape { bits: bits.clone(), digits, rounds, products, sign, carry }
    }

    /// The number of masked bits per row.
    pub(super) fn masked(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// The number of bits that are dealt before those of a digit: all products of bits of the
    /// digits below.
    pub(super) fn dealt_before(&self, digit: usize) -> usize {
        self.digits[..digit].iter().map(|digit| (1 << digit.len()) - 1).sum()
    }

    /// The number of bits that are dealt per row: products of u's digits, u's highest bit, products
    /// of masks.
    pub(super) fn dealt(&self) -> usize {
        self.dealt_before(self.digits.len()) + 1 + self.products.len()
    }
}

/// Collects the sets of two or more of some masked bits.
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
