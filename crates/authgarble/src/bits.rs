//! Authenticated bits between all pairs, from correlated OT in both directions (WRK17b, Π_aBit for
//! n parties).
//!
//! ```text
//! P_i draws x; with every P_j an OT: P_i has M_j = K_j ⊕ x Δ_j, P_j has K_j      bit 0 of M_j is x
//! n > 2      128 bits more, X = Σ χ_k x_k ⊕ Σ_t X^t x_{m+t}, Y_j = the same sum of M_j, in
//!            GF(2^128), χ from a coin
//!            P_i broadcasts X, sends Y_j to P_j, who compares it with the sum of K_j ⊕ X Δ_j; the
//!            128 bits are dropped
//! ```
//!
//! Where P_i used other bits towards one honest party than towards another, X fits one of them
//! alone but with probability 2^−128. One fold in GF(2^128) stands for the paper's 2 ρ sums over
//! GF(2).

use crate::{
    AuthError, Check,
    room::{PeerMachine, Room},
    shares::{Blocks, Shares, blocks, pack, same, worth},
};
use hushwire_block::{Block, Gf128, abreast, fold::Fold, registry};
use hushwire_ot::{Machine, Malicious, OtError, Receiver, Receiving, Sender, Sending, Unverified};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;
use std::iter;
use zeroize::Zeroizing;

/// SECURITY: bits that hide a fold over GF(2^128).
const EXTRA: usize = 128;
/// LOCAL: weights that are drawn at a time.
const STRIP: usize = 1024;

/// AGREEMENT: every call makes a multiple of this number of OTs, so that extensions by rows have
/// none left: every call then costs what it declares.
const WHOLE: usize = 512;

/// OTs with each peer, each way, for `count` bits among `n` parties.
pub(crate) fn ots(n: usize, count: usize) -> usize {
    (count + if n > 2 { EXTRA } else { 0 }).next_multiple_of(WHOLE)
}

/// The OTs with one peer, both ways.
pub(crate) struct Ends {
    pub(crate) sender: Sender<Malicious>,
    pub(crate) receiver: Receiver<Malicious>,
}

/// Runs a sender's machine and a receiver's with every peer: the OTs in which the party with the
/// lower number is sender come first in messages.
pub(crate) async fn both_ways<A, B>(room: &Room, machines: &mut [(A, B)]) -> Result<(), AuthError>
where
    A: Machine<Error = OtError> + Send,
    B: Machine<Error = OtError> + Send,
{
    let pairs = machines.iter_mut().enumerate().map(|(slot, (sender, receiver))| -> [PeerMachine<'_>; 2] {
        if room.talk.me() < room.talk.peer(slot) { [sender, receiver] } else { [receiver, sender] }
    });
    room.pairs(pairs.collect()).await
}

/// `count` random authenticated bits of every party.
pub(crate) async fn authenticated(
    room: &mut Room,
    ends: &mut [Ends],
    count: usize,
) -> Result<Shares, AuthError> {
    let checked = room.talk.n() > 2;
    let all = ots(room.talk.n(), count);
    let mut choices = Zeroizing::new(vec![0; all]);
    room.own.fill(&mut choices);
    choices.iter_mut().for_each(|bit| *bit &= 1);
    let choices = Zeroizing::new(pack(&choices));
    let mut shares = Shares::zeros(room.talk.threads(), ends.len(), all);
    extend(room, ends, &choices, &mut shares).await?;
    if checked {
        shares.lists_mut().for_each(|list| list.truncate(count + EXTRA));
        consistent(room, ends, count, &shares).await?;
    }
    shares.lists_mut().for_each(|list| list.truncate(count));
    Ok(shares)
}

/// The OTs, and the check that each pair's are well formed. Nothing is used before.
async fn extend(
    room: &mut Room,
    ends: &mut [Ends],
    choices: &[u8],
    shares: &mut Shares,
) -> Result<(), AuthError> {
    let lists = shares.keys.iter_mut().zip(&mut shares.macs);
    let mut calls: Vec<_> = ends
        .iter_mut()
        .zip(lists)
        .map(|(ends, (keys, macs))| {
            let send = ends.sender.extend(Sending::Cot(keys));
            (send, ends.receiver.extend(Receiving::Cot { choices, t: macs }))
        })
        .collect();
    both_ways(room, &mut calls).await?;
    let made: Vec<(Unverified<_, _>, Unverified<_, _>)> =
        calls.into_iter().map(|(send, receive)| (send.finish(), receive.finish())).collect();
    let mut checks: Vec<_> =
        ends.iter_mut().map(|ends| (ends.sender.verify(), ends.receiver.verify())).collect();
    both_ways(room, &mut checks).await?;
    for ((sent, received), (send, receive)) in made.into_iter().zip(checks) {
        sent.open(&send.finish())?;
        received.open(&receive.finish())?;
    }
    Ok(())
}

/// Σ χ_k x_k for each list of as many blocks, with the same public weights from a coin; and Σ χ_k
/// over the bits that are 1.
pub(crate) fn folds(
    room: &Room,
    coin: &Seed,
    label: &str,
    lists: &[&[Block]],
    bits: Option<&[Block]>,
) -> (Vec<Gf128>, Gf128) {
    let len = lists.first().map_or(0, |list| list.len());
    let (backend, threads) = (room.backend(), worth(room.talk.threads(), len));
    // Every thread draws the weights for itself: that is little beside the products of a list.
    let groups: Vec<_> =
        lists.chunks(lists.len().div_ceil(threads)).zip(iter::once(bits).chain(iter::repeat(None))).collect();
    registry::note(|| registry::once("coin of a check", &[Block(*coin.derive(label, &[]).expose())]));
    let made = abreast(threads, groups, |(lists, bits)| {
        registry::silent(|| fold(Prg::new(backend, coin, label), len, lists, bits))
    });
    let sum = made.iter().fold(0, |sum, (_, part)| sum ^ part.0);
    (made.into_iter().flat_map(|(folds, _)| folds).collect(), Gf128(sum))
}

/// The same of one thread's lists.
fn fold(mut weights: Prg, len: usize, lists: &[&[Block]], bits: Option<&[Block]>) -> (Vec<Gf128>, Gf128) {
    let clmul = Clmul::best();
    let mut folds: Vec<Fold> = lists.iter().map(|_| Fold::new()).collect();
    let mut sum = Gf128::ZERO;
    let mut raw = vec![Block::ZERO; STRIP];
    let mut chi = vec![Gf128::ZERO; STRIP];
    for from in (0..len).step_by(STRIP) {
        let strip = STRIP.min(len - from);
        weights.fill_blocks(&mut raw[..strip]);
        chi.iter_mut().zip(&raw).for_each(|(chi, raw)| *chi = Gf128(raw.to_u128()));
        for (fold, list) in folds.iter_mut().zip(lists) {
            fold.add(clmul, &chi[..strip], &list[from..from + strip]);
        }
        for (raw, mac) in raw[..strip].iter().zip(bits.iter().flat_map(|bits| &bits[from..from + strip])) {
            sum.0 ^= raw.and_bit(mac.lsb()).to_u128();
        }
    }
    (folds.iter().map(Fold::finish).collect(), sum)
}

/// Σ_t X^t x_t.
fn packed(list: &[Block]) -> Gf128 {
    list.iter().rev().fold(Gf128::ZERO, |sum, block| Gf128(sum.mul_x().0 ^ block.to_u128()))
}

/// Every party's bits are the same towards all peers. (`ends` alone, not shared: extensions go from
/// thread to thread, one at a time.)
async fn consistent(
    room: &mut Room,
    ends: &mut [Ends],
    count: usize,
    shares: &Shares,
) -> Result<(), AuthError> {
    let coin = room.coin().await?;
    room.confirm().await?;
    let lists: Vec<&[Block]> = shares.lists().map(|list| &list[..count]).collect();
    let (sums, x) = folds(room, &coin, "authenticated bits", &lists, Some(lists[0]));
    let sums: Vec<Gf128> =
        sums.iter().zip(shares.lists()).map(|(sum, list)| Gf128(sum.0 ^ packed(&list[count..]).0)).collect();
    let lsbs: Blocks = {
        let mut lsbs = blocks(EXTRA);
        let one = Block::from_u128(1);
        lsbs.iter_mut().zip(&shares.macs[0][count..]).for_each(|(bit, mac)| *bit = *mac & one);
        lsbs
    };
    let x = Gf128(x.0 ^ packed(&lsbs).0);
    let all = room.broadcast("folds of authenticated bits", x.0.to_le_bytes().to_vec()).await?;
    let (slots, mut out) = (shares.slots(), Vec::new());
    for sum in &sums[..slots] {
        out.push(sum.0.to_le_bytes().to_vec());
    }
    let heard = room.talk.exchange("MACs of folds", out, &vec![16; slots]).await;
    for (slot, mac) in heard.iter().enumerate() {
        let peer = room.talk.peer(slot);
        let x = Gf128(u128::from_le_bytes(*all[peer].first_chunk().expect("16 bytes came")));
        let delta = Gf128(ends[slot].sender.delta().to_u128());
        let expected = sums[slots + slot].0 ^ x.mul(delta, Clmul::best()).0;
        if !same(&expected.to_le_bytes(), mac) {
            return Err(AuthError::abort_of(Check::Bits, peer));
        }
    }
    room.confirm().await
}
