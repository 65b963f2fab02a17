//! Permutes rows by a permutation that one party knows.
//!
//! ```text
//! switch of rows x, y      t = s (y − x), x ← x + t, y ← y − t
//! shares of t              s is the chooser's, and it has its share of y − x; of the other party's
//!                          share a correlated OT
//!                          makes the product, with s as the choice and that share as the payload
//! ```
//!
//! The offering party knows the shares of all switches once it has received the choices. So a piece
//! of the network takes two messages, however many columns it has. Rows of bits are added by
//! exclusive OR. A switch sends as many bits as a row has, and one for the choice.
//!
//! **Source.** P. Mohassel, S. Sadeghian, "How to Hide Circuits in MPC", EUROCRYPT 2013: a network
//! of switches by OT. Deviation: OTs are correlated, and their pads are the shares behind a switch.

use crate::{
    blocks::WipedBlocks,
    kit::{Kit, OtSide},
    network::{Network, NetworkShape, Switch},
    ring::{Packer, Unpacker, packed},
    tally::Tally,
    wide::{mask, pull, push, strips},
};
use hushwire_block::{Wiped, registry};

/// AGREEMENT: the bits of payload of a piece, unless a single switch has more.
const PAYLOAD: usize = 1 << 25;

/// This party's share of rows. All rows have the same columns, of at most 128 bits each.
#[derive(Clone, Default)]
pub(crate) struct ShareRows {
    pub(crate) widths: Vec<u32>,
    /// Whether columns are bits, which add up by exclusive OR, or numbers.
    pub(crate) bits: bool,
    /// The shares, row after row.
    pub(crate) own: Wiped<Vec<u128>>,
}

impl ShareRows {
    /// The columns of rows of `bits` bits.
    pub(crate) fn columns_of(bits: usize) -> Vec<u32> {
        (0..bits.div_ceil(128)).map(|k| (bits - 128 * k).min(128) as u32).collect()
    }

    pub(crate) fn rows(&self) -> usize {
        self.own.len().checked_div(self.widths.len()).unwrap_or(0)
    }

    /// Rows picked by their places: row `i` is row `from[i]`.
    pub(crate) fn picked(&self, from: &[u32]) -> ShareRows {
        let each = self.widths.len();
        let mut own = Wiped::new(Vec::with_capacity(self.own.len()));
        from.iter().for_each(|row| own.extend_from_slice(&self.own[*row as usize * each..][..each]));
        ShareRows { widths: self.widths.clone(), bits: self.bits, own }
    }

    /// Applies a switch: `moved` is added to the first row and subtracted from the second.
    fn swap(&mut self, [x, y]: [usize; 2], column: usize, moved: u128) {
        let (each, width) = (self.widths.len(), self.widths[column]);
        let [x, y] = [x, y].map(|row| row * each + column);
        if self.bits {
            self.own[x] ^= moved;
            self.own[y] ^= moved;
        } else {
            self.own[x] = self.own[x].wrapping_add(moved) & mask(width);
            self.own[y] = self.own[y].wrapping_sub(moved) & mask(width);
        }
    }

    /// The difference y − x in a column.
    fn apart(&self, [x, y]: [usize; 2], column: usize) -> u128 {
        let each = self.widths.len();
        let [x, y] = [x, y].map(|row| self.own[row * each + column]);
        if self.bits { x ^ y } else { y.wrapping_sub(x) }
    }
}

/// AGREEMENT: the number of switches in a piece, for rows of `row` bits and at most `ots` OTs.
pub(crate) fn piece(row: usize, ots: usize) -> usize {
    (PAYLOAD / row.max(1)).clamp(1, ots)
}

/// The costs of the pieces of a walk.
pub(crate) fn walk_tallies(
    rows: usize,
    row: usize,
    chooser: usize,
    ots: usize,
) -> impl Iterator<Item = Tally> {
    let (switches, each) = (NetworkShape::new(rows).switches(), piece(row, ots));
    let tally = move |first: usize| piece_tally(each.min(switches - first), row, chooser);
    // Rows without bits do not move.
    let switches = if row == 0 { 0 } else { switches };
    (0..switches).step_by(each).map(tally)
}

pub(crate) fn piece_tally(switches: usize, row: usize, chooser: usize) -> Tally {
    let of = |n: usize| if chooser == 0 { [0, n] } else { [n, 0] };
    Tally::choices(of(switches)).then(Tally::message(of(packed(switches, row))))
}

fn places(shape: NetworkShape, switch: Switch) -> [usize; 2] {
    let x = switch.place as usize;
    [x, x + shape.stride(usize::from(switch.column))]
}

impl Kit {
    /// Applies some switches. This party knows the network.
    pub(crate) async fn chosen(&mut self, network: &Network, switches: &[Switch], rows: &mut ShareRows) {
        let shape = NetworkShape::new(rows.rows());
        let choices = Wiped::new(switches.iter().map(|s| network.bit(*s)).collect::<Vec<u8>>());
        let (_, t) = self.choose(&choices, 0).await;
        let row: usize = rows.widths.iter().map(|w| *w as usize).sum();
        let heard = self.talk.exchange("payload", vec![], packed(switches.len(), row)).await;
        let mut unpacker = Unpacker::new(&heard);
        let columns = rows.widths.len();
        let mut pads = WipedBlocks::zeros(columns * crate::kit::STRIP.min(switches.len()));
        for strip in strips(switches.len()) {
            let n = strip.len();
            for pads in pads.chunks_mut(n.max(1)).take(columns) {
                let tweak = self.tweaks(OtSide::Received, n);
                self.hash(OtSide::Received, tweak, &t[strip.clone()], pads);
            }
            for (k, at) in strip.enumerate() {
                let (places, chosen) = (places(shape, switches[at]), u128::from(choices[at]).wrapping_neg());
                for column in 0..columns {
                    let width = rows.widths[column];
                    let (pad, said) = (pads[column * n + k].to_u128(), pull(&mut unpacker, width));
                    let own = rows.apart(places, column);
                    let moved = if rows.bits {
                        pad ^ (chosen & (said ^ own))
                    } else {
                        pad.wrapping_add(chosen & said.wrapping_add(own))
                    };
                    rows.swap(places, column, moved & mask(width));
                }
            }
        }
    }

    /// Applies the same switches at the party that does not know the network.
    pub(crate) async fn offered(&mut self, switches: &[Switch], rows: &mut ShareRows) {
        let shape = NetworkShape::new(rows.rows());
        let (q, _) = self.choose(&[], switches.len()).await;
        let row: usize = rows.widths.iter().map(|w| *w as usize).sum();
        let mut packer = Packer::new(packed(switches.len(), row));
        let (columns, room) = (rows.widths.len(), crate::kit::STRIP.min(switches.len()));
        let [mut keys, mut others] = [(); 2].map(|()| WipedBlocks::zeros(room));
        let [mut zeros, mut ones] = [(); 2].map(|()| WipedBlocks::zeros(columns * room));
        for strip in strips(switches.len()) {
            let n = strip.len();
            q.keys(strip.clone(), &mut keys[..n]);
            let delta = self.delta();
            others[..n].iter_mut().zip(&keys[..n]).for_each(|(other, key)| *other = *key ^ delta);
            for column in 0..columns {
                let tweak = self.tweaks(OtSide::Sent, n);
                self.hash(OtSide::Sent, tweak, &keys[..n], &mut zeros[column * n..][..n]);
                let ones = &mut ones[column * n..][..n];
                registry::strand(1, || self.hash(OtSide::Sent, tweak, &others[..n], ones));
            }
            for (k, at) in strip.enumerate() {
                let places = places(shape, switches[at]);
                for column in 0..columns {
                    let width = rows.widths[column];
                    let [zero, one] = [&zeros, &ones].map(|pads| pads[column * n + k].to_u128());
                    let own = rows.apart(places, column);
                    let (said, moved) = if rows.bits {
                        (zero ^ one ^ own, zero)
                    } else {
                        (zero.wrapping_sub(one).wrapping_add(own), zero.wrapping_neg())
                    };
                    push(&mut packer, said & mask(width), width);
                    rows.swap(places, column, moved & mask(width));
                }
            }
        }
        self.talk.exchange("payload", packer.finish(), 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::pair::{both, prg};

    #[test]
    fn rows_move_as_one_party_says() {
        for (bits, widths) in
            [(true, vec![128, 7]), (true, vec![1]), (false, vec![64]), (false, vec![37, 37, 37])]
        {
            for (n, chooser, backward) in
                [(2, 0, false), (3, 1, false), (9, 0, true), (100, 1, true), (200, 0, false)]
            {
                let mut prg = prg("moves");
                let network = Network::random(&mut prg, n);
                let order: Vec<u32> = {
                    let mut order: Vec<u32> = (0..n as u32).collect();
                    let shape = NetworkShape::new(n);
                    for switch in shape.walk(backward).filter(|s| network.bit(*s) == 1) {
                        let [x, y] = places(shape, switch);
                        order.swap(x, y);
                    }
                    order
                };
                let columns = widths.len();
                let mut drawn = || -> Vec<u128> {
                    let mut one =
                        |w: &u32| (u128::from(prg.next_u64()) << 64 | u128::from(prg.next_u64())) & mask(*w);
                    (0..n).flat_map(|_| widths.iter().map(&mut one).collect::<Vec<_>>()).collect()
                };
                let shares = [drawn(), drawn()];
                let row: usize = widths.iter().map(|w| *w as usize).sum();
                let switches: Vec<Switch> = NetworkShape::new(n).walk(backward).collect();
                let tally = piece_tally(switches.len(), row, chooser);
                let (made, spent) = both(tally.cots, |mut kit, i| {
                    let mut rows =
                        ShareRows { widths: widths.clone(), bits, own: Wiped::new(shares[i].clone()) };
                    let (network, switches) = (&network, &switches);
                    async move {
                        if i == chooser {
                            kit.chosen(network, switches, &mut rows).await;
                        } else {
                            kit.offered(switches, &mut rows).await;
                        }
                        Ok(rows.own.into_inner())
                    }
                });
                let sum = |k: usize, [a, b]: [&[u128]; 2]| {
                    if bits { a[k] ^ b[k] } else { a[k].wrapping_add(b[k]) & mask(widths[k % columns]) }
                };
                for k in 0..n * columns {
                    let from = order[k / columns] as usize * columns + k % columns;
                    assert_eq!(
                        sum(k, [&made[0], &made[1]]),
                        sum(from, [&shares[0], &shares[1]]),
                        "{n} {widths:?} {bits}"
                    );
                }
                assert_eq!([spent.bytes, [spent.rounds; 2]], [tally.bytes, [tally.rounds; 2]]);
                assert_eq!(walk_tallies(n, row, chooser, 1 << 17).collect::<Vec<_>>(), [tally]);
            }
        }
    }
}
