//! Compares two private numbers: digits by 1-of-16 OT, then a tree of ANDs.
//!
//! Party S holds a, party R holds b. A digit has at most four bits. For each digit, and for every
//! value m that R's digit may have, S masks the two bits (a > m, a = m). R receives those of its
//! own digit. Neighbouring digits are joined: `gt = gt_hi ⊕ eq_hi·gt_lo`, `eq = eq_hi·eq_lo`.
//!
//! **Source.** D. Rathee et al., "CrypTFlow2", CCS 2020, section 3.1. Deviations: an OT of 16 comes
//! from four correlated OTs by eight hashes at the sender and two at the receiver
//! ([`crate::digits`]). An AND of one bit with two takes two correlated OTs with random choices, as
//! a triple, and a round. In half of the rows the roles are swapped, so that both parties have the
//! same work. **Cost of a row.** One OT for each bit. A digit of d bits sends d + 2·2^d bits. A
//! join takes 2 OTs and sends 2 + 2·2 bits, or 2 + 2 bits if equality is not needed.

use crate::{
    digits::DIGIT,
    kit::{Kit, OtRun},
    ring::packed,
};
use hushwire_block::Wiped;

/// The number of rows, out of `rows`, in which party 0 is the sender: the first ones. Party 1 is
/// the sender in the others.
pub(crate) fn half(rows: usize) -> usize {
    rows.div_ceil(2)
}

/// A range of bits of the numbers, and whether their equality there is needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparePart {
    pub(crate) from: u32,
    pub(crate) bits: u32,
    pub(crate) equal: bool,
}

impl ComparePart {
    /// The first bits of numbers, for which only the order is needed.
    pub(crate) fn order(bits: u32) -> Self {
        ComparePart { from: 0, bits, equal: false }
    }

    /// The digits, lowest first: the start of each, its bits, and whether its equality is needed.
    pub(crate) fn digits(self) -> Vec<(u32, u32, bool)> {
        let digit = |k: u32| {
            let at = k * DIGIT;
            (self.from + at, DIGIT.min(self.bits - at), self.equal || k > 0)
        };
        (0..self.bits.div_ceil(DIGIT)).map(digit).collect()
    }
}

/// Shares of a > b and, if needed, of a = b, with one bit in each byte.
#[derive(Clone, Default)]
pub(crate) struct ComparedPart {
    pub(crate) greater: Wiped<Vec<u8>>,
    pub(crate) equal: Option<Wiped<Vec<u8>>>,
}

/// The bytes of the tables for `rows` rows. Each digit begins a byte.
pub(crate) fn table_bytes<'a>(rows: usize, digits: impl Iterator<Item = &'a (u32, u32, bool)>) -> usize {
    digits.map(|(_, d, _)| packed(rows, 2 << d)).sum()
}

impl Kit {
    /// Compares the parties' own numbers, which have been reduced to the parts' bits. In the first
    /// [`half`] of the rows a is party 0's number, in the others party 1's. Returns an order for
    /// each part.
    pub(crate) async fn compare(&mut self, own: &[u64], parts: &[ComparePart]) -> Vec<ComparedPart> {
        self.compare_limbs(&[own], parts).await
    }

    /// The same for numbers with their lower 64 bits first, then the upper ones. Parts of several
    /// words begin at bit 0.
    async fn compare_limbs(&mut self, own: &[&[u64]], parts: &[ComparePart]) -> Vec<ComparedPart> {
        let rows = own[0].len();
        let mut trees = self.leaves(own, parts).await;
        while trees.iter().any(|tree| tree.len() > 1) {
            trees = self.level(trees).await;
        }
        let nothing = |tree: Vec<ComparedPart>| {
            let all = |bit: u8| Wiped::new(vec![bit; rows]);
            let equal = u8::from(self.index == 0);
            tree.into_iter()
                .next()
                .unwrap_or_else(|| ComparedPart { greater: all(0), equal: Some(all(equal)) })
        };
        trees.into_iter().map(nothing).collect()
    }

    /// Compares the digits of all parts. Two rounds.
    async fn leaves(&mut self, limbs: &[&[u64]], parts: &[ComparePart]) -> Vec<Vec<ComparedPart>> {
        let (h, n) = (half(limbs[0].len()), limbs[0].len());
        let (sent, received) = if self.index == 0 { (0..h, h..n) } else { (h..n, 0..h) };
        let all: Vec<_> = parts.iter().flat_map(|part| part.digits()).collect();
        let bits: u32 = all.iter().map(|(_, d, _)| d).sum();
        let mut choices = Vec::with_capacity(received.len() * bits as usize);
        for (from, d, _) in &all {
            for b in &limbs[*from as usize / 64][received.clone()] {
                choices.extend((0..*d).map(|j| (b >> (from % 64 + j) & 1) as u8));
            }
        }
        let choices = Wiped::new(choices);
        let (q, t) = self.choose(&choices, sent.len() * bits as usize).await;
        let mut message = Vec::with_capacity(table_bytes(sent.len(), all.iter()));
        let (mut shares, mut at) = (vec![], 0);
        for (from, d, _) in &all {
            let own = &limbs[*from as usize / 64][sent.clone()];
            shares.push(self.say_digits(&q, at, own, [from % 64, *d], &mut message));
            at += sent.len() * *d as usize;
        }
        let heard = self.talk.exchange("digits", message, table_bytes(received.len(), all.iter())).await;
        let (mut heard, mut at) = (&heard[..], 0);
        let mut leaves = vec![];
        for ((from, d, equal), said) in all.into_iter().zip(shares) {
            let t = &t[at..at + received.len() * d as usize];
            at += t.len();
            let own = &limbs[from as usize / 64][received.clone()];
            let (taken, rest) = self.hear_digits(t, own, [from % 64, d], heard);
            heard = rest;
            let both = if self.index == 0 { [&said[..], &taken] } else { [&taken[..], &said] };
            let both = Wiped::new(both.concat());
            leaves.push(ComparedPart {
                greater: Wiped::new(both.iter().map(|x| x & 1).collect()),
                equal: equal.then(|| Wiped::new(both.iter().map(|x| x >> 1).collect())),
            });
        }
        let mut leaves = leaves.into_iter();
        parts.iter().map(|part| leaves.by_ref().take(part.digits().len()).collect()).collect()
    }

    /// Joins neighbours. One round.
    async fn level(&mut self, trees: Vec<Vec<ComparedPart>>) -> Vec<Vec<ComparedPart>> {
        let pairs = || trees.iter().flat_map(|tree| tree.chunks_exact(2));
        let rows = pairs().map(|two| two[1].greater.len()).sum();
        let [mut u, mut v] = [(); 2].map(|()| Wiped::new(Vec::with_capacity(rows)));
        let mut runs = vec![];
        for two in pairs() {
            let (low, high) = (&two[0], &two[1]);
            let above = high.equal.as_ref().expect("what is not lowest has its equality");
            u.extend_from_slice(above);
            match &low.equal {
                Some(equal) => v.extend(low.greater.iter().zip(&equal[..]).map(|(g, e)| g | e << 1)),
                None => v.extend_from_slice(&low.greater),
            }
            runs.push(OtRun { count: above.len(), width: 1 + u32::from(low.equal.is_some()) });
        }
        let products = self.and(&u, &v, &runs).await;
        let mut at = 0;
        let mut join = |two: &[ComparedPart]| {
            let made = &products[at..at + two[0].greater.len()];
            at += made.len();
            ComparedPart {
                greater: Wiped::new(two[1].greater.iter().zip(made).map(|(g, x)| g ^ x & 1).collect()),
                equal: two[0].equal.as_ref().map(|_| Wiped::new(made.iter().map(|x| x >> 1).collect())),
            }
        };
        let mut up = |mut tree: Vec<ComparedPart>| {
            let odd = (tree.len() % 2 == 1).then(|| tree.pop()).flatten();
            tree.chunks_exact(2).map(&mut join).chain(odd).collect()
        };
        trees.into_iter().map(&mut up).collect()
    }

    /// Shares of the carry: whether the sum of both parties' numbers of `bits` bits reaches 2^bits.
    pub(crate) async fn carries(&mut self, own: &[u64], parts: &[ComparePart]) -> Vec<ComparedPart> {
        self.carries_of(&[own], parts).await
    }

    /// The same for numbers of several words.
    pub(crate) async fn carries_of(&mut self, limbs: &[&[u64]], parts: &[ComparePart]) -> Vec<ComparedPart> {
        // x_S + x_R ≥ 2^w if and only if x_S > 2^w − 1 − x_R.
        let h = half(limbs[0].len());
        let turned = |(i, x): (usize, &u64)| if (i < h) == (self.index == 0) { *x } else { !x };
        let turned = |own: &&[u64]| Wiped::new(own.iter().enumerate().map(turned).collect::<Vec<u64>>());
        let turned: Vec<Wiped<Vec<u64>>> = limbs.iter().map(turned).collect();
        let turned: Vec<&[u64]> = turned.iter().map(|limb| &limb[..]).collect();
        self.compare_limbs(&turned, parts).await
    }
}
