//! Numbers of up to 128 bits: conversion from bits, and comparison.
//!
//! Both work for wide numbers as [`crate::ops`] and [`crate::compare`] do for words, with one block
//! of pads for each number.

use crate::{
    blocks::WipedBlocks,
    compare::{ComparePart, half},
    kit::{Kit, OtSide, STRIP},
    ring::{Packer, Unpacker, packed},
    tally::Tally,
};
use hushwire_block::{Wiped, registry};
use std::ops::Range;

/// The lower `bits` bits, at most 128.
pub(crate) const fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Appends a number of at most `bits` bits.
pub(crate) fn push(packer: &mut Packer, number: u128, bits: u32) {
    packer.push(number as u64 & crate::ring::mask(bits.min(64)), bits.min(64));
    if bits > 64 {
        packer.push((number >> 64) as u64 & crate::ring::mask(bits - 64), bits - 64);
    }
}

/// The reverse of [`push`].
pub(crate) fn pull(unpacker: &mut Unpacker<'_>, bits: u32) -> u128 {
    let low = u128::from(unpacker.pull(bits.min(64)));
    if bits > 64 { low | u128::from(unpacker.pull(bits - 64)) << 64 } else { low }
}

/// The numbers `x`: first their lower 64 bits, then their upper bits, if they have any.
fn limbs(x: &[u128], bits: u32) -> Vec<Wiped<Vec<u64>>> {
    let limb = |k: u32| Wiped::new(x.iter().map(|x| (x >> (64 * k)) as u64).collect::<Vec<u64>>());
    (0..bits.div_ceil(64).max(1)).map(limb).collect()
}

/// The cost of converting numbers from `bits` bits.
pub(crate) fn words_tally(rows: usize, bits: u32) -> Tally {
    let count = [half(rows), rows - half(rows)];
    let said: u32 = (1..=bits).sum();
    let cots = count.map(|n| n * bits as usize);
    Tally::choices(cots).then(Tally::message(count.map(|n| packed(n, said as usize))))
}

/// The cost of comparisons of numbers of `bits` bits.
pub(crate) fn less_tally(rows: usize, bits: u32) -> Tally {
    crate::tally::compare(rows, &[ComparePart::order(bits)])
}

impl Kit {
    /// Nonnegative numbers modulo 2^(bits + 1), from shares of their bits. Each bit takes an OT, in
    /// each direction for half of the rows. Two rounds.
    pub(crate) async fn wide_words_of(&mut self, x: &[u128], bits: u32) -> Wiped<Vec<u128>> {
        let (h, n, ring) = (half(x.len()), x.len(), bits + 1);
        let (sent, received) = if self.index == 0 { (0..h, h..n) } else { (h..n, 0..h) };
        let bit = |i: u32, row: usize| (x[row] >> i & 1) as u8;
        let mut choices = Wiped::new(Vec::with_capacity(received.len() * bits as usize));
        (0..bits).for_each(|i| choices.extend(received.clone().map(|row| bit(i, row))));
        let (q, t) = self.choose(&choices, sent.len() * bits as usize).await;
        // The product of both shares of bit i is needed only modulo 2^(bits − i).
        let mut out = Wiped::new(vec![0u128; n]);
        let mut add = |i: u32, row: usize, product: u128| {
            let number = u128::from(bit(i, row)).wrapping_sub(product << 1);
            out[row] = out[row].wrapping_add(number << i) & mask(ring);
        };
        let said: u32 = (1..=bits).sum();
        let mut packer = Packer::new(packed(sent.len(), said as usize));
        let room = sent.len().max(received.len()).min(STRIP);
        let [mut keys, mut zeros, mut ones] = [(); 3].map(|()| WipedBlocks::zeros(room));
        for i in 0..bits {
            for strip in strips(sent.len()) {
                let (n, first) = (strip.len(), i as usize * sent.len() + strip.start);
                let tweak = self.tweaks(OtSide::Sent, n);
                q.keys(first..first + n, &mut keys[..n]);
                self.hash(OtSide::Sent, tweak, &keys[..n], &mut zeros[..n]);
                keys[..n].iter_mut().for_each(|key| *key ^= self.delta());
                registry::strand(1, || self.hash(OtSide::Sent, tweak, &keys[..n], &mut ones[..n]));
                for (k, row) in strip.clone().enumerate() {
                    let [zero, one] = [&zeros, &ones].map(|pads| pads[k].to_u128());
                    let row = sent.start + row;
                    let number = zero.wrapping_sub(one).wrapping_add(u128::from(bit(i, row)));
                    push(&mut packer, number & mask(bits - i), bits - i);
                    add(i, row, zero.wrapping_neg() & mask(bits - i));
                }
            }
        }
        let heard =
            self.talk.exchange("payload", packer.finish(), packed(received.len(), said as usize)).await;
        let mut unpacker = Unpacker::new(&heard);
        for i in 0..bits {
            for strip in strips(received.len()) {
                let (n, first) = (strip.len(), i as usize * received.len() + strip.start);
                let tweak = self.tweaks(OtSide::Received, n);
                self.hash(OtSide::Received, tweak, &t[first..first + n], &mut zeros[..n]);
                for (k, row) in strip.enumerate() {
                    let chosen = u128::from(choices[first + k]).wrapping_neg();
                    let said = pull(&mut unpacker, bits - i) & chosen;
                    add(i, received.start + row, zeros[k].to_u128().wrapping_add(said) & mask(bits - i));
                }
            }
        }
        out
    }

    /// x < y of numbers of `bits` bits that are shared modulo 2^(bits + 1).
    pub(crate) async fn wide_less(&mut self, x: &[u128], y: &[u128], bits: u32) -> Wiped<Vec<u8>> {
        let apart = |(x, y): (&u128, &u128)| x.wrapping_sub(*y) & mask(bits + 1);
        let difference: Wiped<Vec<u128>> = Wiped::new(x.iter().zip(y).map(apart).collect());
        // The sign is the highest bit of the sum of both shares.
        let mut signs = self.wide_carries(&limbs(&difference, bits), bits).await;
        signs.iter_mut().zip(&difference[..]).for_each(|(sign, d)| *sign ^= (d >> bits & 1) as u8);
        signs
    }

    async fn wide_carries(&mut self, limbs: &[Wiped<Vec<u64>>], bits: u32) -> Wiped<Vec<u8>> {
        let limbs: Vec<&[u64]> = limbs.iter().map(|limb| &limb[..]).collect();
        self.carries_of(&limbs, &[ComparePart::order(bits)]).await.remove(0).greater
    }
}

/// Rows in strips.
pub(crate) fn strips(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(STRIP).map(move |start| start..rows.min(start + STRIP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::pair::{both, prg};

    fn random(label: &str, n: usize, bits: u32) -> Vec<u128> {
        let mut prg = prg(label);
        (0..n).map(|_| (u128::from(prg.next_u64()) << 64 | u128::from(prg.next_u64())) & mask(bits)).collect()
    }

    #[test]
    fn bits_become_numbers_and_numbers_compare() {
        for bits in [1, 5, 63, 64, 65, 84, 127] {
            for n in [1, 2, 7, 1100] {
                if n > 100 && bits != 84 {
                    continue;
                }
                let (x, share) = (random("x", n, bits), random("share", n, bits));
                let tally = words_tally(n, bits);
                let (made, spent) = both(tally.cots, |mut kit, i| {
                    let own: Vec<u128> =
                        x.iter().zip(&share).map(|(x, s)| if i == 0 { x ^ s } else { *s }).collect();
                    async move { Ok(kit.wide_words_of(&own, bits).await.into_inner()) }
                });
                let sums = made[0].iter().zip(&made[1]).map(|(a, b)| a.wrapping_add(*b) & mask(bits + 1));
                assert!(sums.eq(x.iter().copied()), "{n} numbers of {bits} bits");
                assert_eq!([spent.bytes, [spent.rounds; 2]], [tally.bytes, [tally.rounds; 2]]);
                let y = random("y", n, bits);
                let y: Vec<u128> = y
                    .iter()
                    .zip(&x)
                    .enumerate()
                    .map(|(i, (y, x))| if i % 3 == 0 { *x } else { *y })
                    .collect();
                let tally = less_tally(n, bits);
                let mine = random("mine", 2 * n, bits + 1);
                let (made, spent) = both(tally.cots, |mut kit, i| {
                    let of = |z: &[u128], s: &[u128]| -> Vec<u128> {
                        let one = |(z, s): (&u128, &u128)| {
                            if i == 0 { z.wrapping_sub(*s) & mask(bits + 1) } else { *s }
                        };
                        z.iter().zip(s).map(one).collect()
                    };
                    let (x, y) = (of(&x, &mine[..n]), of(&y, &mine[n..]));
                    async move { Ok(kit.wide_less(&x, &y, bits).await.into_inner()) }
                });
                for i in 0..n {
                    assert_eq!(made[0][i] ^ made[1][i] == 1, x[i] < y[i], "{bits} bits: {} {}", x[i], y[i]);
                }
                assert_eq!([spent.bytes, [spent.rounds; 2]], [tally.bytes, [tally.rounds; 2]]);
            }
        }
    }
}
