//! Leaky ANDs: z = x y of shared bits. The products are right, or an error is caught. A corrupted
//! party may learn an honest party's share of x, and is caught with probability 1/2 for each
//! attempt (WRK17b Π_LaAND, in the form of KRRW18 Figure 5 for n parties).
//!
//! ```text
//! C_i = y_i Δ_i ⊕ Σ_j (K_i[y_j] ⊕ M_j[y_i])      Σ_i C_i = y Δ,  Δ = Σ Δ_i
//! i → j: U_ij = H(K_i[x_j]) ⊕ H(K_i[x_j] ⊕ Δ_i) ⊕ C_i;    E_ji = H(M_i[x_j]) ⊕ x_j U_ij at j
//! S_i = x_i C_i ⊕ Σ_j (H(K_i[x_j]) ⊕ E_ij) ⊕ r_i Δ_i ⊕ Σ_j (K_i[r_j] ⊕ M_j[r_i])
//! Σ_i S_i = (x y ⊕ r) Δ
//! all say bit 1 of S_i: as bit 1 of Δ is 1, the sum d is x y ⊕ r;  z = r ⊕ d
//! check   Σ_i Σ_k χ_k (S_i ⊕ d Δ_i)_k = 0 in GF(2^128), χ from a coin tossed now, the parties'
//!         sums sent under commitments
//! ```
//!
//! x, y and r are random bits that serve here alone, never as masks of wires, because a check that
//! passes may reveal a part of x. A check that fails may reveal Δ, so that nothing may be garbled
//! under this Δ before; the types ensure this.

use crate::{
    AuthError, Check,
    bits::folds,
    room::{HashKeys, Room},
    shares::{Shares, add, blocks, pack},
};
use hushwire_block::{Block, abreast, from_bytes, from_bytes_mut};

/// LOCAL: the number of ANDs that are hashed at a time; it divides 2^20, the span of a hash's key.
const STRIP: usize = 1024;
/// LOCAL: the number of ANDs that a thread takes at a time; their data for one peer stays in the
/// thread's cache.
const PART: usize = 1 << 13;

/// Computes z = x y for shares of random bits. `bits` holds x, y and r of `len` ANDs, one list
/// after the other, and z replaces r. `first` is the number of the first AND in this session.
pub(crate) async fn multiply(
    room: &mut Room,
    delta: Block,
    first: u64,
    len: usize,
    bits: &mut Shares,
) -> Result<(), AuthError> {
    let (me, slots) = (room.talk.me(), bits.slots());
    let (threads, r) = (room.talk.threads(), 2 * len);
    let mut s = blocks(len);
    let mut out = vec![vec![0; 16 * len]; slots];
    let mut messages: Vec<_> =
        out.iter_mut().map(|message| from_bytes_mut(message).chunks_mut(PART)).collect();
    let parts = s.chunks_mut(PART).map(|s| (s, messages.iter_mut().filter_map(Iterator::next).collect()));
    let (shared, here) = (&*bits, &*room);
    let say = |(k, (s, messages)): (usize, (&mut [Block], Vec<&mut [Block]>))| {
        let at = k * PART;
        let mut c = blocks(s.len());
        product(delta, shared, len + at, &mut c);
        product(delta, shared, r + at, s);
        let mut pads = blocks(2 * STRIP);
        for (slot, message) in messages.into_iter().enumerate() {
            let mut keys = keys(here, me, here.talk.peer(slot));
            for (from, to, number) in strips(first + at as u64, s.len()) {
                let (pads, _) = pads[..2 * (to - from)].as_chunks_mut();
                let known = &shared.keys[slot][at + from..at + to];
                here.backend().pads_tccr(keys.at(number), u128::from(number), delta, known, pads);
                let sums = s[from..to].iter_mut().zip(&c[from..to]);
                for ((u, [zero, one]), (s, c)) in message[from..to].iter_mut().zip(pads.iter()).zip(sums) {
                    *s ^= *zero;
                    *u = *zero ^ *one ^ *c;
                }
            }
        }
        for (s, (c, x)) in s.iter_mut().zip(c.iter().zip(&shared.macs[0][at..])) {
            *s ^= c.and_bit(x.lsb());
        }
    };
    abreast(threads, parts.enumerate().collect(), say);
    let heard = room.talk.exchange("leaky ANDs", out, &vec![16 * len; slots]).await;
    abreast(threads, s.chunks_mut(PART).enumerate().collect(), |(k, s)| {
        let at = k * PART;
        let mut hashes = blocks(STRIP);
        for (slot, message) in heard.iter().enumerate() {
            let mut keys = keys(here, here.talk.peer(slot), me);
            for (from, to, number) in strips(first + at as u64, s.len()) {
                let hashes = &mut hashes[..to - from];
                let macs = &shared.macs[slot][at + from..at + to];
                here.backend().tccr::<1>(keys.at(number), u128::from(number), macs, hashes);
                let terms = hashes.iter().zip(&from_bytes(message)[at + from..at + to]).zip(macs);
                for (s, ((hash, u), mac)) in s[from..to].iter_mut().zip(terms) {
                    *s ^= *hash ^ u.and_bit(mac.lsb());
                }
            }
        }
    });
    drop(heard);
    let d = said(room, &s).await?;
    abreast(threads, s.chunks_mut(PART).zip(d.chunks(PART)).collect(), |(s, d)| {
        s.iter_mut().zip(d).for_each(|(s, d)| *s ^= delta.and_bit(*d == 1));
    });
    bits.add_public(threads, me, delta, r, &d);
    check(room, &s).await
}

/// Sets `out` to b_i Δ_i ⊕ Σ_j (K_i[b_j] ⊕ M_j[b_i]), this party's part of b Δ, for the bits from
/// `first` on.
fn product(delta: Block, bits: &Shares, first: usize, out: &mut [Block]) {
    out.iter_mut().zip(&bits.macs[0][first..]).for_each(|(out, mac)| *out = delta.and_bit(mac.lsb()));
    bits.lists().for_each(|list| add(out, &list[first..]));
}

/// All parties send bit 1 of S; returns the sums.
async fn said(room: &mut Room, s: &[Block]) -> Result<Vec<u8>, AuthError> {
    let mut sum: Vec<u8> = s.iter().map(|s| s.0[0] >> 1 & 1).collect();
    let own = pack(&sum);
    let slots = room.talk.slots();
    let into = vec![own.len(); slots];
    let name = "bits of leaky ANDs";
    for (slot, message) in room.talk.exchange(name, vec![own; slots], &into).await.iter().enumerate() {
        let bits = room.bits(name, slot, message, s.len())?;
        sum.iter_mut().zip(bits).for_each(|(sum, bit)| *sum ^= bit);
    }
    Ok(sum)
}

async fn check(room: &mut Room, s: &[Block]) -> Result<(), AuthError> {
    let coin = room.coin().await?;
    room.confirm().await?;
    let (sums, _) = folds(room, &coin, "leaky ANDs", &[s], None);
    let names = ["committing to sums of leaky ANDs", "opening sums of leaky ANDs"];
    let all = room.together(names, &sums[0].0.to_le_bytes()).await?;
    let sum = all.iter().fold(Block::ZERO, |sum, own| sum ^ from_bytes(own)[0]);
    if sum != Block::ZERO {
        return Err(AuthError::abort(Check::LeakyAnds));
    }
    room.confirm().await
}

/// Splits `len` ANDs into strips: where each strip begins and ends, and the number of its first
/// AND. ANDs are numbered from `first` on.
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

/// The hash keys of the ANDs in which `from` sends to `to`.
fn keys(room: &Room, from: usize, to: usize) -> HashKeys {
    let way = room.context.sid.child("leaky ANDs from", from as u64).child("to", to as u64);
    HashKeys::new(room.backend(), way, "hash")
}
