//! Compares many strings of bits at once, with the fewest ANDs and without copying a plane.
//!
//! ```text
//! c = 0; from the lowest bit on:  c ← c ⊕ (x ⊕ y)(y ⊕ c)
//! c becomes y if the bits differ, and stays if they do not
//! ```
//!
//! A round and ⌈rows/8⌉ bytes a bit. The messages and results are those of a
//! [`CircuitBatch`](crate::CircuitBatch) of `less`. In the wide levels of a sort, planes fill the
//! caches, and copying them would take most of a circuit's time.

use crate::{Context, Rep3, ShareError, Shares, pool};
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::{
    Cost, NetError,
    drive::{Exchanged, Latch, Round},
    gated,
};
use hushwire_simd::{Kernel, Lanes};

/// LOCAL: bytes of a message that are masked and computed at a time, so that masks stay in the
/// first-level cache.
const CHUNK: usize = 4096;

/// One party's endpoint of x < y, row by row, for strings without a sign.
pub(super) struct Below {
    cx: Context,
    width: usize,
    height: usize,
    /// The planes, lowest first.
    sides: [Shares; 2],
    below: Shares,
    /// The number of bits that are done.
    bit: usize,
    latch: Latch,
}

impl Below {
    /// Compares `rows` pairs of strings of `width` bits. `below` is memory for the result.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all shares have `width` planes of `rows` rows.
    pub(super) fn new(
        cx: Context,
        width: usize,
        rows: usize,
        sides: [Shares; 2],
        mut below: Shares,
    ) -> Result<Below, ShareError> {
        let height = plane_bytes(rows);
        for share in sides.iter().flat_map(Rep3::pair) {
            if share.len() != width * height {
                let what = "a side of a comparison";
                return Err(ShareError::Length { what, expected: width * height, found: share.len() });
            }
        }
        for share in [&mut below.own, &mut below.next] {
            share.clear();
            pool::set_len(share, height);
        }
        Ok(Below { cx, width, height, sides, below, bit: 0, latch: Latch::with_own() })
    }

    /// Whether x < y, as a plane, and the two operands again, after the run.
    pub(super) fn finish(self) -> (Shares, [Shares; 2]) {
        (self.below, self.sides)
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        (self.bit < self.width && self.height > 0).then(|| Round::even("order of rows", self.height))
    }

    fn say(&mut self, message: &mut [u8]) -> Result<(), NetError> {
        let first = (self.bit * self.height.div_ceil(16)) as u64;
        let [x, y] = self.sides.each_ref().map(|side| {
            side.pair().map(|share| &share[self.bit * self.height..(self.bit + 1) * self.height])
        });
        for (i, message) in message.chunks_mut(CHUNK).enumerate() {
            let at = i * CHUNK..i * CHUNK + message.len();
            self.cx.prss.zero_words(self.cx.address, first + (at.start / 16) as u64, message);
            let [x, y, c] = [x, y, self.below.pair()].map(|shares| shares.map(|share| &share[at.clone()]));
            self.cx.backend.run(Bit { x, y, c, message });
        }
        Ok(())
    }

    fn hear(&mut self, Exchanged { own, heard }: Exchanged<'_>) -> Result<(), NetError> {
        crate::xor_into(&mut self.below.own, own);
        crate::xor_into(&mut self.below.next, heard);
        self.bit += 1;
        Ok(())
    }
}

gated!([] Below, NetError;
    fn cost(&self) -> Option<Cost> {
        let rounds = if self.height > 0 { self.width as u64 } else { 0 };
        Some(Cost { rounds, bytes_sent: rounds * self.height as u64 })
    }
);

/// This party's part of `message += (x ⊕ y)(y ⊕ c)`.
struct Bit<'a> {
    x: [&'a [u8]; 2],
    y: [&'a [u8]; 2],
    c: [&'a [u8]; 2],
    message: &'a mut [u8],
}

impl Kernel for Bit<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let n = self.message.len();
        let [[x, x_next], [y, y_next], [c, c_next]] =
            [self.x, self.y, self.c].map(|shares| shares.map(|share| &share[..n]));
        for (i, message) in self.message.iter_mut().enumerate() {
            let (u, u_next) = (x[i] ^ y[i], x_next[i] ^ y_next[i]);
            let (v, v_next) = (y[i] ^ c[i], y_next[i] ^ c_next[i]);
            *message ^= (u & (v ^ v_next)) ^ (u_next & v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{planes::planes_of, test_support::parties};
    use hushwire_aes::Backend;
    use hushwire_machine::drive::Lockstep;
    use hushwire_prg::{Prg, Seed};

    #[test]
    fn strings_are_below_others_as_numbers_are() {
        let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
        for rows in [0, 1, 7, 8, 9, 1000, 40_000] {
            let edges = [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1];
            let mut word = || {
                let drawn = prg.next_u64();
                if drawn.is_multiple_of(2) { edges[drawn as usize / 2 % 6] } else { drawn }
            };
            let pairs: Vec<(u64, u64)> = (0..rows).map(|_| (word(), word())).collect();
            let sides = [0, 1].map(|side| {
                let words: Vec<u64> = pairs.iter().map(|p| if side == 0 { p.0 } else { p.1 }).collect();
                crate::share(&mut prg, &planes_of(Backend::best(), &words))
            });
            let mut machines: Vec<_> = parties()
                .into_iter()
                .enumerate()
                .map(|(p, mut party)| {
                    let cx = party.next_batch().unwrap().context();
                    let sides = sides.each_ref().map(|side| side[p].clone());
                    // Memory that was used before.
                    let used = Rep3 { own: vec![9; 3], next: vec![7; 100_000] };
                    Below::new(cx, 64, rows, sides, used).ok().unwrap()
                })
                .collect();
            Lockstep::new().run(&mut machines).unwrap();
            let below: Vec<Shares> = machines.into_iter().map(|m| m.finish().0).collect();
            (0..3).for_each(|p| assert_eq!(below[p].next, below[(p + 1) % 3].own));
            let plane = crate::open([&below[0].own, &below[1].own, &below[2].own]).unwrap();
            for (i, (x, y)) in pairs.iter().enumerate() {
                assert_eq!(plane[i / 8] >> (i % 8) & 1 == 1, x < y, "{x} < {y}");
            }
        }
    }

    /// A message is the local product plus a zero-share of its own words, so no two bits of a
    /// string share a mask.
    #[test]
    fn every_message_is_masked_by_words_of_its_own() {
        const ROWS: usize = 200;
        let (mut prg, parties) = (Prg::new(Backend::best(), &Seed::random(), "test"), &mut parties());
        let planes = [0; 2].map(|_| (0..3 * 25).map(|_| prg.next_u64() as u8).collect::<Vec<_>>());
        let sides = planes.each_ref().map(|planes| crate::share(&mut prg, planes));
        let batches = parties.each_mut().map(|party| party.next_batch().unwrap());
        let number = batches[0].number();
        let mut machines: Vec<_> = (batches.into_iter().enumerate())
            .map(|(p, mut batch)| {
                let sides = sides.each_ref().map(|side| side[p].clone());
                Below::new(batch.context(), 3, ROWS, sides, Rep3 { own: vec![], next: vec![] }).ok().unwrap()
            })
            .collect();
        let mut sent: [Vec<Vec<u8>>; 3] = Default::default();
        Lockstep::new().run_edited(&mut machines, |at, m| sent[at.party].push(m.clone())).unwrap();
        for p in 0..3 {
            let cx = crate::test_support::context(&parties[p], number, 0);
            let mut c = [vec![0; 25], vec![0; 25]];
            for bit in 0..3 {
                let mut mask = vec![0; 25];
                cx.prss.zero_words(cx.address, 2 * bit as u64, &mut mask);
                let plane = |side: usize, share: usize, i: usize| sides[side][p].pair()[share][25 * bit + i];
                for i in 0..25 {
                    let [u, u_next] = [0, 1].map(|share| plane(0, share, i) ^ plane(1, share, i));
                    let [v, v_next] = [0, 1].map(|share| plane(1, share, i) ^ c[share][i]);
                    let product = (u & v) ^ (u & v_next) ^ (u_next & v);
                    assert_eq!(sent[p][bit][i], product ^ mask[i], "party {p}, bit {bit}, byte {i}");
                }
                crate::xor_into(&mut c[0], &sent[p][bit]);
                crate::xor_into(&mut c[1], &sent[(p + 1) % 3][bit]);
            }
        }
    }

    #[test]
    fn sides_of_other_lengths_are_refused() {
        let [mut party, ..] = parties();
        let side = |bytes: usize| Rep3 { own: vec![0; 8], next: vec![0; bytes] };
        let sides = [side(8), side(7)];
        let error = Below::new(party.next_batch().unwrap().context(), 4, 9, sides, side(0)).err();
        let what = "a side of a comparison";
        assert_eq!(error, Some(ShareError::Length { what, expected: 8, found: 7 }));
    }
}
