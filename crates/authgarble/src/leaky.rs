//! Leaky ANDs: z = x y of shared bits, right or caught, where a corrupt party may learn an honest one's share of x and is
//! caught with probability 1/2 each time (WRK17b Π_LaAND, in the form of KRRW18 Figure 5 for n parties).
//!
//! ```text
//! C_i = y_i Δ_i ⊕ Σ_j (K_i[y_j] ⊕ M_j[y_i])                                 Σ_i C_i = y Δ,  Δ = Σ Δ_i
//! i → j: U_ij = H(K_i[x_j]) ⊕ H(K_i[x_j] ⊕ Δ_i) ⊕ C_i;    E_ji = H(M_i[x_j]) ⊕ x_j U_ij at j
//! S_i = x_i C_i ⊕ Σ_j (H(K_i[x_j]) ⊕ E_ij) ⊕ r_i Δ_i ⊕ Σ_j (K_i[r_j] ⊕ M_j[r_i])      Σ_i S_i = (x y ⊕ r) Δ
//! all say bit 1 of S_i: as bit 1 of Δ is 1, the sum d is x y ⊕ r;  z = r ⊕ d
//! check   Σ_i Σ_k χ_k (S_i ⊕ d Δ_i)_k = 0 in GF(2^128), χ from a coin tossed now, the parties' sums said under commitments
//! ```
//!
//! x, y and r are random bits that serve here alone, never masks of wires: a passing check may tell some of x. A failing one may
//! tell Δ, so that nothing may have been garbled under it before: the types see to that.

use crate::{
    AuthError, Check,
    bits::Weights,
    room::{HashKeys, Room},
    shares::{Shares, add, blocks, pack},
};
use hushwire_block::{Block, from_bytes, from_bytes_mut};
use std::ops::Range;

/// LOCAL: ANDs that are hashed at a time; it divides 2^20, the span of a hash's key.
const STRIP: usize = 1024;

/// z = x y for shares of random bits: `bits` are x, y and r of `len` ANDs, one list after the other, and r becomes z. `first` is the
/// number of the first AND of this session.
pub(crate) async fn multiply(
    room: &mut Room,
    delta: Block,
    first: u64,
    len: usize,
    bits: &mut Shares,
) -> Result<(), AuthError> {
    let (me, slots) = (room.talk.me(), bits.slots());
    let (x, y, r) = (0..len, len..2 * len, 2 * len..3 * len);
    // C, then S.
    let mut c = blocks(len);
    product(delta, bits, y, &mut c);
    let mut s = blocks(len);
    product(delta, bits, r.clone(), &mut s);
    let mut out = Vec::with_capacity(slots);
    let mut pads = blocks(2 * STRIP);
    for slot in 0..slots {
        let mut message = vec![0; 16 * len];
        let mut keys = keys(room, me, room.talk.peer(slot));
        for (from, to, number) in strips(first, len) {
            let (pads, _) = pads[..2 * (to - from)].as_chunks_mut();
            room.backend().pads_tccr(
                keys.at(number),
                u128::from(number),
                delta,
                &bits.keys[slot][from..to],
                pads,
            );
            let message = from_bytes_mut(&mut message[16 * from..16 * to]);
            let sums = s[from..to].iter_mut().zip(&c[from..to]);
            for ((u, [zero, one]), (s, c)) in message.iter_mut().zip(pads.iter()).zip(sums) {
                *s ^= *zero;
                *u = *zero ^ *one ^ *c;
            }
        }
        out.push(message);
    }
    for (s, (c, x)) in s.iter_mut().zip(c.iter().zip(&bits.macs[0][x])) {
        *s ^= c.and_bit(x.lsb());
    }
    drop(c);
    let heard = room.talk.exchange("leaky ANDs", out, vec![16 * len; slots]).await;
    let mut hashes = blocks(STRIP);
    for (slot, message) in heard.iter().enumerate() {
        let message = from_bytes(message);
        let mut keys = keys(room, room.talk.peer(slot), me);
        for (from, to, number) in strips(first, len) {
            let hashes = &mut hashes[..to - from];
            let macs = &bits.macs[slot][from..to];
            room.backend().tccr::<1>(keys.at(number), u128::from(number), macs, hashes);
            let terms = hashes.iter().zip(&message[from..to]).zip(macs);
            for (s, ((hash, u), mac)) in s[from..to].iter_mut().zip(terms) {
                *s ^= *hash ^ u.and_bit(mac.lsb());
            }
        }
    }
    drop(heard);
    let d = said(room, &s).await?;
    for (s, d) in s.iter_mut().zip(&d) {
        *s ^= delta.and_bit(*d == 1);
    }
    bits.add_public(me, delta, r.start, &d);
    check(room, &s).await
}

/// `out` = b_i Δ_i ⊕ Σ_j (K_i[b_j] ⊕ M_j[b_i]): this party's part of b Δ, for the bits in `range`.
fn product(delta: Block, bits: &Shares, range: Range<usize>, out: &mut [Block]) {
    out.iter_mut().zip(&bits.macs[0][range.clone()]).for_each(|(out, mac)| *out = delta.and_bit(mac.lsb()));
    bits.lists().for_each(|list| add(out, &list[range.clone()]));
}

/// All say bit 1 of S; the sums.
async fn said(room: &mut Room, s: &[Block]) -> Result<Vec<u8>, AuthError> {
    let mut sum: Vec<u8> = s.iter().map(|s| s.0[0] >> 1 & 1).collect();
    let own = pack(&sum);
    let slots = room.talk.slots();
    let into = vec![own.len(); slots];
    let name = "bits of leaky ANDs";
    for (slot, message) in room.talk.exchange(name, vec![own; slots], into).await.iter().enumerate() {
        let bits = room.bits(name, slot, message, s.len())?;
        sum.iter_mut().zip(bits).for_each(|(sum, bit)| *sum ^= bit);
    }
    Ok(sum)
}

async fn check(room: &mut Room, s: &[Block]) -> Result<(), AuthError> {
    let coin = room.coin().await?;
    room.confirm().await?;
    let (sums, _) = Weights::new(room, &coin, "leaky ANDs").fold(&[s], None);
    let names = ["committing to sums of leaky ANDs", "opening sums of leaky ANDs"];
    let all = room.together(names, &sums[0].0.to_le_bytes()).await?;
    let sum = all.iter().fold(Block::ZERO, |sum, own| sum ^ from_bytes(own)[0]);
    if sum != Block::ZERO {
        return Err(AuthError::abort(Check::LeakyAnds));
    }
    room.confirm().await
}

/// The strips of `len` ANDs from number `first` on: where each begins and ends, and its first number.
fn strips(first: u64, len: usize) -> impl Iterator<Item = (usize, usize, u64)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let number = first + from as u64;
        let most = STRIP - (number % STRIP as u64) as usize;
        let to = len.min(from + most);
        let strip = (from, to, number);
        (from < to).then(|| {
            from = to;
            strip
        })
    })
}

/// The keys of the hash of ANDs in which `from` sends to `to`.
fn keys(room: &Room, from: usize, to: usize) -> HashKeys {
    let way = room.context.sid.child("leaky ANDs from", from as u64).child("to", to as u64);
    HashKeys::new(room.backend(), way, "hash")
}
