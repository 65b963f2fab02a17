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
    room::{Room, hash_key},
    shares::{Shares, add, blocks, pack},
};
use hushwire_block::{Block, from_bytes, from_bytes_mut};
use zeroize::Zeroizing;

/// LOCAL: ANDs that are hashed at a time; it divides 2^20, the span of a hash's key.
const STRIP: usize = 1024;

/// z = x y for shares of random bits; `r` becomes z. `first` is the number of the first AND of this session.
pub(crate) async fn multiply(
    room: &mut Room,
    delta: Block,
    first: u64,
    x: &Shares,
    y: &Shares,
    r: &mut Shares,
) -> Result<(), AuthError> {
    let (me, len, slots) = (room.talk.me(), x.len(), x.slots());
    // C, then S.
    let mut c = blocks(len);
    product(delta, y, &mut c);
    let mut s = blocks(len);
    let mut out = Vec::with_capacity(slots);
    let mut pads = Zeroizing::new(vec![[Block::ZERO; 2]; STRIP]);
    for slot in 0..slots {
        let mut message = vec![0; 16 * len];
        for (from, to, number) in strips(first, len) {
            let key = key(room, me, room.talk.peer(slot), number);
            let pads = &mut pads[..to - from];
            room.backend().pads_tccr(&key, u128::from(number), delta, &x.keys[slot][from..to], pads);
            let message = from_bytes_mut(&mut message[16 * from..16 * to]);
            for (k, (u, [zero, one])) in message.iter_mut().zip(pads.iter()).enumerate() {
                s[from + k] ^= *zero;
                *u = *zero ^ *one ^ c[from + k];
            }
        }
        out.push(message);
    }
    let heard = room.talk.exchange("leaky ANDs", out, vec![16 * len; slots]).await;
    let mut hashes = blocks(STRIP);
    for (slot, message) in heard.iter().enumerate() {
        let message = from_bytes(message);
        for (from, to, number) in strips(first, len) {
            let key = key(room, room.talk.peer(slot), me, number);
            let hashes = &mut hashes[..to - from];
            let macs = &x.macs[slot][from..to];
            room.backend().tccr::<1>(&key, u128::from(number), macs, hashes);
            for k in 0..to - from {
                s[from + k] ^= hashes[k] ^ message[from + k].and_bit(macs[k].lsb());
            }
        }
    }
    drop(heard);
    for k in 0..len {
        c[k] = c[k].and_bit(x.bit(k));
    }
    add(&mut s, &c);
    product(delta, r, &mut c);
    add(&mut s, &c);
    drop(c);
    let d = said(room, &s).await?;
    for (s, d) in s.iter_mut().zip(&d) {
        *s ^= delta.and_bit(*d == 1);
    }
    r.add_public(me, delta, &d);
    check(room, &s).await
}

/// `out` = b_i Δ_i ⊕ Σ_j (K_i[b_j] ⊕ M_j[b_i]): this party's part of b Δ.
fn product(delta: Block, b: &Shares, out: &mut [Block]) {
    out.iter_mut().enumerate().for_each(|(k, out)| *out = delta.and_bit(b.bit(k)));
    b.lists().for_each(|list| add(out, list));
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

/// The hash of ANDs in which `from` sends to `to`.
fn key(room: &Room, from: usize, to: usize, number: u64) -> hushwire_aes::Aes128 {
    let way = room.context.sid.child("leaky ANDs from", from as u64).child("to", to as u64);
    hash_key(room.backend(), &way, "hash", number)
}
