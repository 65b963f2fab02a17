//! Permutation networks in place. The places of the switches follow from the number of values
//! alone.
//!
//! ```text
//! columns   0, 1, …, D − 1, D − 2, …, 0     D = ⌈log2 n⌉; column d swaps values 2^d apart, x and
//!                                           x + 2^d with bit d of x = 0
//! switches  about n log2 n − n / 2
//! ```
//!
//! **Source.** V. Beneš, "Mathematical Theory of Connecting Networks and Telephone Traffic", 1965,
//! with the looping algorithm of D. Opferman and N. Tsao-Wu, 1971. Deviations: any number of
//! values, as in B. Beauquier and É. Darrot, PPL 12 (2002); the halves are the even and the odd
//! places, so that a column is a walk through the values.
//!
//! SECURITY: the party that sets the network knows the permutation, and addresses memory by it. A
//! process that shares its caches can see that.

use hushwire_block::Wiped;
use hushwire_prg::Prg;

/// A switch: its column, and the first of its two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) column: u8,
    pub(crate) place: u32,
}

/// The network of `n` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetworkShape {
    n: usize,
}

impl NetworkShape {
    pub(crate) const fn new(n: usize) -> Self {
        NetworkShape { n }
    }

    /// D, the number of columns in each half.
    fn depth(self) -> usize {
        if self.n < 2 { 0 } else { self.n.next_power_of_two().ilog2() as usize }
    }

    fn columns(self) -> usize {
        (2 * self.depth()).saturating_sub(1)
    }

    /// The distance of a column's places.
    pub(crate) fn stride(self, column: usize) -> usize {
        1 << column.min(self.columns() - 1 - column)
    }

    /// Whether a switch has this first place in a column. A network of two values has one switch,
    /// in the first half.
    fn has(self, column: usize, place: usize) -> bool {
        let stride = self.stride(column);
        let is_pair = place & stride == 0 && place + stride < self.n;
        is_pair && (column < self.depth() || place % stride + 2 * stride < self.n)
    }

    /// The number of switches in a column.
    fn count(self, column: usize) -> usize {
        let (n, s) = (self.n, self.stride(column));
        let pairs = n / (2 * s) * s + (n % (2 * s)).saturating_sub(s);
        let lone = s.min(n - s).saturating_sub(n.saturating_sub(2 * s));
        if column < self.depth() { pairs } else { pairs - lone }
    }

    /// The number of switches in all columns.
    pub(crate) fn switches(self) -> usize {
        (0..self.columns()).map(|column| self.count(column)).sum()
    }

    /// All switches, from the first column on or from the last one on.
    pub(crate) fn walk(self, backward: bool) -> impl Iterator<Item = Switch> {
        let columns = self.columns();
        (0..columns).flat_map(move |k| {
            let column = if backward { columns - 1 - k } else { k };
            let places = (0..self.n).filter(move |place| self.has(column, *place));
            places.map(move |place| Switch { column: column as u8, place: place as u32 })
        })
    }
}

/// A network with its switches set.
pub(crate) struct Network {
    shape: NetworkShape,
    /// A bit for each place of each column.
    bits: Wiped<Vec<u8>>,
}

impl Network {
    /// A uniformly random permutation, as a network.
    pub(crate) fn random(prg: &mut Prg, n: usize) -> Network {
        let mut from = Wiped::new((0..n as u32).collect::<Vec<u32>>());
        for last in (1..n as u64).rev() {
            from.swap(last as usize, below(prg, last + 1) as usize);
        }
        Network::route(from)
    }

    /// The network that moves value `from[i]` to place `i`.
    pub(crate) fn route(mut from: Wiped<Vec<u32>>) -> Network {
        let n = from.len();
        let shape = NetworkShape::new(n);
        let height = n.div_ceil(8);
        let mut network = Network { shape, bits: Wiped::new(vec![0; shape.columns() * height]) };
        let [mut inverse, mut next] = [(); 2].map(|()| Wiped::new(vec![0u32; n]));
        let mut odd = Wiped::new(vec![UNSET; n]);
        for depth in 0..shape.depth() {
            let stride = 1 << depth;
            odd.fill(UNSET);
            (0..stride.min(n)).for_each(|first| {
                let part = NetworkPart { first, stride, n: (n - first).div_ceil(stride) };
                part.halve(&from, &mut inverse, &mut odd);
                network.set(depth, &part, &from, &inverse, &odd, &mut next);
            });
            std::mem::swap(&mut from, &mut next);
        }
        network
    }

    fn set(
        &mut self,
        depth: usize,
        part: &NetworkPart,
        from: &[u32],
        inverse: &[u32],
        odd: &[u8],
        next: &mut [u32],
    ) {
        let last = self.shape.columns() - 1 - depth;
        for i in 0..part.n {
            let at = part.at(i);
            if i % 2 == 0 && i + 1 < part.n {
                self.put(depth, at, odd[inverse[at] as usize]);
                if part.n > 2 {
                    self.put(last, at, odd[at]);
                }
            }
            // Value i / 2 of a half is value `from / 2` of the same half.
            next[part.at(i / 2 * 2) + part.stride * usize::from(odd[at])] = from[at] / 2;
        }
    }

    fn put(&mut self, column: usize, place: usize, bit: u8) {
        let height = self.shape.n.div_ceil(8);
        self.bits[column * height + place / 8] |= bit << (place % 8);
    }

    /// Whether a switch swaps its values.
    pub(crate) fn bit(&self, switch: Switch) -> u8 {
        let (height, place) = (self.shape.n.div_ceil(8), switch.place as usize);
        self.bits[usize::from(switch.column) * height + place / 8] >> (place % 8) & 1
    }
}

const UNSET: u8 = 2;

/// The values of a part of the network: `n` of them, `stride` apart.
struct NetworkPart {
    first: usize,
    stride: usize,
    n: usize,
}

impl NetworkPart {
    fn at(&self, i: usize) -> usize {
        self.first + i * self.stride
    }

    /// Sends each value through the even or the odd half. The two values of a switch take different
    /// halves, on both sides. Afterwards `inverse` has the output's place for each input, and `odd`
    /// has the half for each output.
    fn halve(&self, from: &[u32], inverse: &mut [u32], odd: &mut [u8]) {
        (0..self.n).for_each(|i| inverse[self.at(from[self.at(i)] as usize)] = self.at(i) as u32);
        if self.n % 2 == 1 {
            // The last value of an odd number has no switch, and is in the even half.
            self.chain(self.n - 1, from, inverse, odd);
        }
        for i in (0..self.n).step_by(2) {
            if odd[self.at(i)] == UNSET {
                self.chain(i, from, inverse, odd);
            }
        }
    }

    fn chain(&self, mut i: usize, from: &[u32], inverse: &[u32], odd: &mut [u8]) {
        loop {
            odd[self.at(i)] = 0;
            let beside = from[self.at(i)] as usize ^ 1;
            if beside >= self.n {
                return;
            }
            let other = inverse[self.at(beside)] as usize;
            odd[other] = 1;
            i = ((other - self.first) / self.stride) ^ 1;
            if odd[self.at(i)] != UNSET {
                return;
            }
        }
    }
}

/// A uniform number below `n`. The generator's discarded numbers are independent of those kept.
fn below(prg: &mut Prg, n: u64) -> u64 {
    let most = u64::MAX - u64::MAX % n;
    loop {
        let drawn = prg.next_u64();
        if drawn < most {
            return drawn % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_prg::Seed;

    fn run(network: &Network, backward: bool) -> Vec<usize> {
        let shape = network.shape;
        let mut values: Vec<usize> = (0..shape.n).collect();
        for switch in shape.walk(backward) {
            if network.bit(switch) == 1 {
                let place = switch.place as usize;
                values.swap(place, place + shape.stride(usize::from(switch.column)));
            }
        }
        values
    }

    fn permutations(n: usize) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![vec![]];
        }
        let shorter = permutations(n - 1);
        shorter.iter().flat_map(|p| (0..n).map(|at| [&p[..at], &[n as u32 - 1], &p[at..]].concat())).collect()
    }

    fn check(from: &[u32]) {
        let network = Network::route(Wiped::new(from.to_vec()));
        let there = run(&network, false);
        assert!(there.iter().zip(from).all(|(got, from)| *got == *from as usize), "{from:?}: {there:?}");
        let back = run(&network, true);
        assert!(
            back.iter().enumerate().all(|(i, got)| from[*got] as usize == i),
            "{from:?} backward: {back:?}"
        );
    }

    #[test]
    fn every_permutation_of_few_values_has_its_network() {
        for n in 0..8 {
            permutations(n).iter().for_each(|from| check(from));
        }
    }

    #[test]
    fn random_permutations_of_more_values() {
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([1; 16]), "test");
        for n in (8..140).chain([255, 256, 257, 1000, 4097]) {
            let mut from: Vec<u32> = (0..n as u32).collect();
            (1..n).rev().for_each(|i| from.swap(i, below(&mut prg, i as u64 + 1) as usize));
            check(&from);
        }
    }

    #[test]
    fn switches_are_counted() {
        for n in (0..300).chain([1 << 12, (1 << 12) + 1]) {
            let shape = NetworkShape::new(n);
            for column in 0..shape.columns() {
                let found = (0..n).filter(|place| shape.has(column, *place)).count();
                assert_eq!(shape.count(column), found, "{n} values, column {column}");
            }
            assert_eq!(shape.walk(true).count(), shape.switches());
        }
        let million = NetworkShape::new(1_000_000).switches();
        assert!(million < 1_000_000 * 20 - 400_000, "{million}");
    }

    /// All orders of three values are about equally frequent.
    #[test]
    fn random_networks_are_uniform() {
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([2; 16]), "test");
        let mut found = std::collections::BTreeMap::new();
        (0..6000).for_each(|_| *found.entry(run(&Network::random(&mut prg, 3), false)).or_insert(0) += 1);
        assert!(found.len() == 6 && found.values().all(|n| (800..1200).contains(n)), "{found:?}");
    }
}
