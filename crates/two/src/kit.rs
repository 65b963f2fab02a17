//! Products of one party's bits and the other party's numbers, from correlated OTs.
//!
//! ```text
//! made ahead   sender q, Δ        receiver r, t = q ⊕ rΔ           a block each
//! choices      c ⊕ r to the sender, who takes q' = q ⊕ (c ⊕ r)Δ    1 bit each
//! pads         H(q'), H(q' ⊕ Δ)   H(t), which is that of c
//! payload      H(q') − H(q' ⊕ Δ) + v to the receiver                ℓ bits each
//! shares       −H(q')             H(t) + c(payload)                 of c·v modulo 2^ℓ
//! ```
//!
//! **Source.** Correlated OT: G. Asharov, Y. Lindell, T. Schneider, M. Zohner, CCS 2013, section
//! 5.4; products from it: N. Gilboa, "Two party RSA key generation", Crypto 1999. An OT is used
//! once. Each block of pads has its own tweak under the key of its own allotment. So H has the
//! property of the `ot` crate's hash: tweakable circular correlation robustness.

use crate::{
    TwoError,
    blocks::{BlocksPart, WipedBlocks},
    lanes::{self, LANES},
    long::LONG,
    ring::{Packer, Unpacker, mask, pack_bits, pack_few, packed, unpack_bits, unpack_few},
};
use hushwire_aes::{Aes128, Backend, Taken};
use hushwire_block::{Block, Wiped, registry};
use hushwire_machine::drive::Talk;
use hushwire_ot::Context;
use std::ops::Range;

/// AGREEMENT: the number of OTs that are hashed at a time, so that their pads stay in the cache. It
/// is a multiple of eight, since the payload of a strip has whole bytes.
pub(crate) const STRIP: usize = 512;

/// AGREEMENT: the bits of payload in a message, unless a single vector has more.
const CHUNK: usize = 1 << 25;

/// One party's correlated OTs for one use: those that it sends, and those that it receives.
pub(crate) struct Cots {
    pub(crate) delta: Block,
    pub(crate) q: BlocksPart,
    pub(crate) t: BlocksPart,
}

/// The OTs that this party sends, with the choices of the peer.
pub(crate) struct SentOts {
    pub(crate) q: BlocksPart,
    /// c ⊕ r of each OT, one in each byte. It is the peer's message, and public.
    pub(crate) turned: Vec<u8>,
    delta: Block,
}

impl SentOts {
    /// q' of an OT.
    #[inline(always)]
    pub(crate) fn key(&self, g: usize) -> Block {
        let turned = u128::from(self.turned[g]).wrapping_neg();
        Block::from_u128(self.q[g].to_u128() ^ (turned & self.delta.to_u128()))
    }

    /// q' of several OTs.
    pub(crate) fn keys(&self, of: Range<usize>, out: &mut [Block]) {
        let delta = self.delta.to_u128();
        for ((out, q), turned) in out.iter_mut().zip(&self.q[of.clone()]).zip(&self.turned[of]) {
            *out = Block::from_u128(q.to_u128() ^ (u128::from(*turned).wrapping_neg() & delta));
        }
    }
}

/// OTs after the choices were exchanged: the OTs that this party sends, and the blocks t of those
/// that it receives.
pub(crate) type ChosenOts = (SentOts, BlocksPart);

/// The state of one party in a protocol, besides shares.
pub(crate) struct Kit {
    pub(crate) talk: Talk,
    pub(crate) index: usize,
    backend: Backend,
    cots: Cots,
    /// The numbers of used OTs, sent and received.
    used: [usize; 2],
    /// The keys of the pads of the OTs that party 0 and party 1 send, and the next tweak of each.
    keys: [Aes128; 2],
    tweaks: [u128; 2],
}

/// The direction of some OTs, from one party's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OtSide {
    Sent,
    Received,
}

/// Consecutive OTs whose payload has one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtRun {
    pub(crate) count: usize,
    pub(crate) width: u32,
}

/// The parts of a payload in one message: the first OT, the number of OTs, and their width.
pub(crate) type Chunk = Vec<(usize, usize, u32)>;

/// Splits a payload into messages. Each OT has a vector of `each` numbers.
pub(crate) fn chunks(runs: &[OtRun], each: usize) -> Vec<Chunk> {
    let (mut all, mut chunk, mut bits, mut at) = (vec![], vec![], 0, 0);
    let each = if each < LONG { each } else { each.next_multiple_of(LANES) };
    for run in runs {
        let one = each * run.width as usize;
        let mut left = run.count;
        while left > 0 && one > 0 {
            let fits = (CHUNK.saturating_sub(bits) / one).max(usize::from(bits == 0)).min(left);
            if fits > 0 {
                chunk.push((at, fits, run.width));
                (at, left, bits) = (at + fits, left - fits, bits + fits * one);
            }
            if left > 0 {
                all.push(std::mem::take(&mut chunk));
                bits = 0;
            }
        }
        at += left;
    }
    if !chunk.is_empty() {
        all.push(chunk);
    }
    all
}

/// The bytes of a message's payload.
pub(crate) fn chunk_bytes(chunk: &Chunk, each: usize) -> usize {
    let bits = chunk.iter().map(|(_, count, width)| count * *width as usize).sum();
    if each < LONG { packed(bits, each) } else { lanes::bytes(bits * each.div_ceil(LANES)) }
}

fn count(runs: &[OtRun]) -> usize {
    runs.iter().map(|run| run.count).sum()
}

impl Kit {
    /// `context` must be used for this allotment only.
    pub(crate) fn new(talk: Talk, index: usize, context: &Context, cots: Cots) -> Kit {
        let key = |sender: u64| {
            let name = context.sid.child("two pads", sender);
            Aes128::on(context.backend, name.0.first_chunk().expect("32 bytes hold 16"))
        };
        let keys = [key(0), key(1)];
        Kit { talk, index, backend: context.backend, cots, used: [0; 2], keys, tweaks: [0; 2] }
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    fn key(&self, side: OtSide) -> usize {
        if side == OtSide::Sent { self.index } else { 1 - self.index }
    }

    /// The first of `n` fresh tweaks for this direction. Both parties count in the same way.
    pub(crate) fn tweaks(&mut self, side: OtSide, n: usize) -> u128 {
        let next = &mut self.tweaks[if side == OtSide::Sent { self.index } else { 1 - self.index }];
        *next += n as u128;
        *next - n as u128
    }

    /// The pads of some blocks.
    pub(crate) fn hash(&self, side: OtSide, tweak: u128, x: &[Block], out: &mut [Block]) {
        self.backend.tccr::<1>(&self.keys[self.key(side)], tweak, x, out);
    }

    pub(crate) fn delta(&self) -> Block {
        self.cots.delta
    }

    /// Takes unused blocks that this party holds as the receiver.
    fn receive(&mut self, n: usize) -> BlocksPart {
        let from = self.used[1];
        self.used[1] += n;
        self.cots.t.part(from..from + n)
    }

    /// Takes unused blocks that this party holds as the sender.
    fn send(&mut self, n: usize) -> BlocksPart {
        let from = self.used[0];
        self.used[0] += n;
        self.cots.q.part(from..from + n)
    }

    /// Words with bits of the pads of some keys, as in [`Backend::tccr_tables`].
    pub(crate) fn tables(&self, side: OtSide, tweak: u128, x: &[Block], of: &[Taken], out: &mut [u32]) {
        self.backend.tccr_tables(&self.keys[self.key(side)], tweak, x, of, out);
    }

    /// The next OTs, for choices that each party gives, with one bit in each byte. Returns the
    /// `sends` OTs that this party sends, and t of the others. One round.
    pub(crate) async fn choose(&mut self, choices: &[u8], sends: usize) -> ChosenOts {
        let t = self.receive(choices.len());
        registry::once("correlated OT", &t);
        let said: Vec<u8> = choices.iter().zip(t.iter()).map(|(c, t)| c ^ u8::from(t.lsb())).collect();
        let heard = self.talk.exchange("choices", pack_bits(&said), packed(sends, 1)).await;
        let q = self.send(sends);
        registry::once("correlated OT", &q);
        (SentOts { q, turned: unpack_bits(&heard, sends), delta: self.cots.delta }, t)
    }

    /// The next OTs for two uses. One message has the choices of both.
    pub(crate) async fn choose_for_two(
        &mut self,
        [first, second]: [&[u8]; 2],
        [sends, more]: [usize; 2],
    ) -> [ChosenOts; 2] {
        let choices = Wiped::new([first, second].concat());
        let (mut sent, t) = self.choose(&choices, sends + more).await;
        let turned = sent.turned.split_off(sends);
        let rest = SentOts { q: sent.q.part(sends..sends + more), turned, delta: sent.delta };
        sent.q = sent.q.part(0..sends);
        let [of_first, of_second] = [0..first.len(), first.len()..choices.len()].map(|of| t.part(of));
        [(sent, of_first), (rest, of_second)]
    }

    /// Products of choices and vectors of `each` numbers. `corr(g, vector)` writes the vector of OT
    /// g that this party sends. `put(side, g, shares)` takes its shares, modulo 2^width. It takes
    /// one round, and one more for each message of payload.
    pub(crate) async fn products(
        &mut self,
        choices: &[u8],
        runs: [&[OtRun]; 2],
        each: usize,
        corr: impl Fn(usize, &mut [u64]),
        put: impl FnMut(OtSide, usize, &[u64]),
    ) -> Result<(), TwoError> {
        let chosen = self.choose(choices, count(runs[0])).await;
        self.products_of(chosen, choices, runs, each, corr, put).await
    }

    /// [`Kit::products`] with OTs after the exchange of choices. One round for each message.
    pub(crate) async fn products_of(
        &mut self,
        (q, t): ChosenOts,
        choices: &[u8],
        [sent, received]: [&[OtRun]; 2],
        each: usize,
        corr: impl Fn(usize, &mut [u64]),
        mut put: impl FnMut(OtSide, usize, &[u64]),
    ) -> Result<(), TwoError> {
        let mut out = chunks(sent, each).into_iter();
        let mut into = chunks(received, each).into_iter();
        loop {
            let (now, next) = (out.next(), into.next());
            if now.is_none() && next.is_none() {
                return Ok(());
            }
            let (now, next) = (now.unwrap_or_default(), next.unwrap_or_default());
            let (bytes, into) = (chunk_bytes(&now, each), chunk_bytes(&next, each));
            if each >= LONG {
                let said = self.say_long(&q, now, each, &corr, &mut put);
                let heard = self.talk.exchange("payload", said, into).await;
                self.hear_long(&t, choices, next, each, &mut put, &heard);
                continue;
            }
            let mut packer = Packer::new(bytes);
            for (first, count, width) in now {
                self.say_run(&q, [first, count, each], width, &corr, &mut put, &mut packer);
            }
            let heard = self.talk.exchange("payload", packer.finish(), into).await;
            let mut unpacker = Unpacker::new(&heard);
            for (first, count, width) in next {
                self.hear_run(&t, choices, [first, count, each], width, &mut put, &mut unpacker);
            }
        }
    }

    fn say_run(
        &mut self,
        q: &SentOts,
        [first, count, each]: [usize; 3],
        width: u32,
        corr: &impl Fn(usize, &mut [u64]),
        put: &mut impl FnMut(OtSide, usize, &[u64]),
        packer: &mut Packer,
    ) {
        let (held, delta) = (128 / width as usize, self.cots.delta);
        let blocks = each.div_ceil(held);
        let room = count.min(STRIP);
        let [mut keys, mut others] = [(); 2].map(|()| WipedBlocks::zeros(room));
        let [mut zeros, mut ones] = [(); 2].map(|()| WipedBlocks::zeros(blocks * room));
        let [mut vector, mut shares] = [(); 2].map(|()| Wiped::new(vec![0u64; each]));
        for start in (first..first + count).step_by(STRIP) {
            let n = STRIP.min(first + count - start);
            let (keys, others) = (&mut keys[..n], &mut others[..n]);
            q.keys(start..start + n, keys);
            others.iter_mut().zip(&*keys).for_each(|(other, key)| *other = *key ^ delta);
            for j in 0..blocks {
                let tweak = self.tweaks(OtSide::Sent, n);
                self.hash(OtSide::Sent, tweak, keys, &mut zeros[j * n..][..n]);
                registry::strand(1, || self.hash(OtSide::Sent, tweak, others, &mut ones[j * n..][..n]));
            }
            for g in 0..n {
                corr(start + g, &mut vector);
                for (j, (said, shares)) in vector.chunks_mut(held).zip(shares.chunks_mut(held)).enumerate() {
                    let [mut zero, mut one] = [&zeros, &ones].map(|pads| pads[j * n + g].to_u128());
                    for (said, share) in said.iter_mut().zip(shares) {
                        let number = (zero as u64).wrapping_sub(one as u64).wrapping_add(*said);
                        packer.push(number & mask(width), width);
                        *share = (zero as u64).wrapping_neg() & mask(width);
                        (zero, one) = (zero >> width, one >> width);
                    }
                }
                put(OtSide::Sent, start + g, &shares);
            }
        }
    }

    fn hear_run(
        &mut self,
        t: &[Block],
        choices: &[u8],
        [first, count, each]: [usize; 3],
        width: u32,
        put: &mut impl FnMut(OtSide, usize, &[u64]),
        unpacker: &mut Unpacker<'_>,
    ) {
        let held = 128 / width as usize;
        let blocks = each.div_ceil(held);
        let mut pads = WipedBlocks::zeros(blocks * count.min(STRIP));
        let mut shares = Wiped::new(vec![0u64; each]);
        for start in (first..first + count).step_by(STRIP) {
            let t = &t[start..(start + STRIP).min(first + count)];
            let n = t.len();
            for j in 0..blocks {
                let tweak = self.tweaks(OtSide::Received, n);
                self.hash(OtSide::Received, tweak, t, &mut pads[j * n..][..n]);
            }
            for g in 0..n {
                let chosen = u64::from(choices[start + g]).wrapping_neg();
                for (j, shares) in shares.chunks_mut(held).enumerate() {
                    let mut pad = pads[j * n + g].to_u128();
                    for share in shares {
                        *share = (pad as u64).wrapping_add(unpacker.pull(width) & chosen) & mask(width);
                        pad >>= width;
                    }
                }
                put(OtSide::Received, start + g, &shares);
            }
        }
    }

    /// Shares of u·v for shared bits u and shared strings v of 1 or 2 bits, one in each byte. All
    /// rows of a run have one width. It takes one round, and two OTs for each row, one in each
    /// direction.
    ///
    /// If the choice r of an OT is not corrected, H(q) and H(t) are shares of r·s. Here s = H(q) ⊕
    /// H(q ⊕ Δ) is the sender's. The r of both parties are shares of a random bit a, and their s
    /// are shares of a random string b. With the shares of both OTs, each party has a share of a·b.
    /// Then d = u ⊕ a and e = v ⊕ b are opened (D. Beaver, CRYPTO 1991). Both are random for each
    /// party.
    pub(crate) async fn and(&mut self, u: &[u8], v: &[u8], runs: &[OtRun]) -> Wiped<Vec<u8>> {
        let n = u.len();
        let t = self.receive(n);
        registry::once("correlated OT", &t);
        let q = self.send(n);
        registry::once("correlated OT", &q);
        let [sent, received] = [OtSide::Sent, OtSide::Received].map(|side| self.tweaks(side, n));
        let mut out = Wiped::new(vec![0; n]);
        // The two lowest bits come from H(q), and the next two from H(q ⊕ Δ).
        let both = [(Block::ZERO, 3), (self.cots.delta, 3 << 2)];
        let room = n.min(STRIP);
        let [mut pairs, mut pads] = [(); 2].map(|()| Wiped::new(vec![0u32; room]));
        // `random`: the first bit is the share of a, the next bits are the share of b. `opened`:
        // the shares of d and e.
        let [mut random, mut opened] = [(); 2].map(|()| Wiped::new(vec![0u8; n]));
        for (rows, width) in strips(runs) {
            let (at, most, count) = (rows.start as u128, mask(width) as u8, rows.len());
            let (pairs, pads) = (&mut pairs[..count], &mut pads[..count]);
            self.tables(OtSide::Sent, sent + at, &q[rows.clone()], &both, pairs);
            self.tables(OtSide::Received, received + at, &t[rows.clone()], &[(Block::ZERO, 15)], pads);
            for (i, row) in rows.enumerate() {
                let a = u8::from(t[row].lsb());
                let [zero, one, pad] = [pairs[i], pairs[i] >> 2, pads[i] >> (2 * a)].map(|x| x as u8);
                let b = (zero ^ one) & most;
                random[row] = a | b << 1;
                opened[row] = (u[row] ^ a) | (v[row] ^ b) << 1;
                out[row] = (zero ^ pad) & most ^ (a.wrapping_neg() & b);
            }
        }
        let mut message = pack_bits(&opened.iter().map(|x| x & 1).collect::<Vec<u8>>());
        let mut at = 0;
        for run in runs {
            let of: Vec<u8> = opened[at..at + run.count].iter().map(|x| x >> 1).collect();
            pack_few(&of, run.width, &mut message);
            at += run.count;
        }
        let length = packed(n, 1) + and_bytes(runs);
        let heard = self.talk.exchange("opened", message, length).await;
        let (bits, mut heard) = heard.split_at(packed(n, 1));
        let (bits, mut at) = (unpack_bits(bits, n), 0);
        let first = u8::from(self.index == 0).wrapping_neg();
        for run in runs {
            let (strings, rest) = unpack_few(heard, run.count, run.width);
            for (row, string) in (at..at + run.count).zip(&strings[..]) {
                let (a, b) = (random[row] & 1, random[row] >> 1);
                let (d, e) = ((opened[row] & 1 ^ bits[row]).wrapping_neg(), opened[row] >> 1 ^ string);
                out[row] ^= d & b ^ a.wrapping_neg() & e ^ first & d & e;
            }
            (heard, at) = (rest, at + run.count);
        }
        out
    }
}

/// The bytes of the payload of ANDs. Each run begins a byte.
pub(crate) fn and_bytes(runs: &[OtRun]) -> usize {
    runs.iter().map(|run| packed(run.count, run.width as usize)).sum()
}

/// The rows of each run and their width, strip by strip.
fn strips(runs: &[OtRun]) -> impl Iterator<Item = (Range<usize>, u32)> {
    let mut first = 0;
    runs.iter().flat_map(move |run| {
        let (from, to) = (first, first + run.count);
        first = to;
        (from..to).step_by(STRIP).map(move |at| (at..to.min(at + STRIP), run.width))
    })
}
