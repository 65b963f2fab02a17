//! Products of choices and long vectors, one OT at a time. Its pads stay in the first-level cache,
//! and eight numbers are computed at a time.

use crate::{
    blocks::WipedBlocks,
    kit::{Chunk, Kit, OtSide, SentOts, chunk_bytes},
    lanes::{self, LANES, Packer, Unpacker, bytes},
};
use hushwire_block::{Block, Wiped, as_bytes, registry};

/// AGREEMENT: the fewest numbers of a long vector, which is sent in whole rows of lanes.
pub(crate) const LONG: usize = 64;

/// AGREEMENT: the numbers whose pads are made at a time. In each lane they take as many whole words
/// as a number has bits.
const PIECE: usize = 64 * LANES;

/// The blocks for the pads of `n` numbers.
fn blocks(n: usize, width: u32) -> usize {
    bytes(n.div_ceil(LANES) * width as usize) / size_of::<Block>()
}

/// Memory for the pads of a piece, and for the key from which all of them are made.
struct Pads {
    keys: WipedBlocks,
    pads: WipedBlocks,
}

impl Pads {
    fn new(each: usize, width: u32) -> Self {
        let [keys, pads] = [(); 2].map(|()| WipedBlocks::zeros(blocks(each.min(PIECE), width)));
        Pads { keys, pads }
    }

    /// The pads of a key, with tweaks from `tweak` on.
    fn of(&mut self, kit: &Kit, side: OtSide, tweak: u128, key: Block, blocks: usize) -> &[u8] {
        let (keys, pads) = (&mut self.keys[..blocks], &mut self.pads[..blocks]);
        keys.fill(key);
        kit.hash(side, tweak, keys, pads);
        as_bytes(pads)
    }
}

impl Kit {
    /// The payload of some OTs that this party sends, with `corr` and `put` as in
    /// [`Kit::products`].
    pub(crate) fn say_long(
        &mut self,
        q: &SentOts,
        chunk: Chunk,
        each: usize,
        corr: &impl Fn(usize, &mut [u64]),
        put: &mut impl FnMut(OtSide, usize, &[u64]),
    ) -> Vec<u8> {
        let mut packer = Packer::new(chunk_bytes(&chunk, each));
        let [mut vector, mut shares] = [(); 2].map(|()| Wiped::new(vec![0; each.next_multiple_of(LANES)]));
        for (first, count, width) in chunk {
            let [mut zeros, mut ones] = [(); 2].map(|()| Pads::new(each, width));
            for g in first..first + count {
                corr(g, &mut vector[..each]);
                let key = q.key(g);
                for (vector, shares) in vector.chunks(PIECE).zip(shares.chunks_mut(PIECE)) {
                    let blocks = blocks(vector.len(), width);
                    let tweak = self.tweaks(OtSide::Sent, blocks);
                    let zeros = zeros.of(self, OtSide::Sent, tweak, key, blocks);
                    let ones = registry::strand(1, || {
                        ones.of(self, OtSide::Sent, tweak, key ^ self.delta(), blocks)
                    });
                    lanes::say(self.backend(), vector, [zeros, ones], width, shares, &mut packer);
                }
                put(OtSide::Sent, g, &shares[..each]);
            }
        }
        packer.finish()
    }

    /// The reverse, for OTs that this party receives.
    pub(crate) fn hear_long(
        &mut self,
        t: &[Block],
        choices: &[u8],
        chunk: Chunk,
        each: usize,
        put: &mut impl FnMut(OtSide, usize, &[u64]),
        heard: &[u8],
    ) {
        let mut unpacker = Unpacker::new(heard);
        let mut shares = Wiped::new(vec![0; each.next_multiple_of(LANES)]);
        for (first, count, width) in chunk {
            let mut pads = Pads::new(each, width);
            for (g, t) in (first..).zip(&t[first..first + count]) {
                let chosen = u64::from(choices[g]).wrapping_neg();
                for shares in shares.chunks_mut(PIECE) {
                    let blocks = blocks(shares.len(), width);
                    let tweak = self.tweaks(OtSide::Received, blocks);
                    let pads = pads.of(self, OtSide::Received, tweak, *t, blocks);
                    lanes::hear(self.backend(), pads, chosen, width, shares, &mut unpacker);
                }
                put(OtSide::Received, g, &shares[..each]);
            }
        }
    }
}
