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
//! If P_i used other bits towards one honest party than towards another, X fits only one of them,
//! except with probability 2^−128. A single fold in GF(2^128) replaces the paper's 2 ρ sums over
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

/// SECURITY: the number of extra bits that hide a fold over GF(2^128).
const EXTRA: usize = 128;
/// LOCAL: the number of weights that are drawn at a time.
const STRIP: usize = 1024;

/// AGREEMENT: every call makes a multiple of this number of OTs, so that extensions by rows leave
/// none over and every call costs exactly what it declares.
const WHOLE: usize = 512;

/// The number of OTs with each peer, in each direction, for `count` bits among `n` parties.
pub(crate) fn ots(n: usize, count: usize) -> usize {
    (count + if n > 2 { EXTRA } else { 0 }).next_multiple_of(WHOLE)
}

/// Both endpoints of the OTs with one peer.
pub(crate) struct Ends {
    pub(crate) sender: Sender<Malicious>,
    pub(crate) receiver: Receiver<Malicious>,
}

/// Runs a sender's and a receiver's machine with every peer. In messages, the OTs in which the
/// party with the lower number is the sender come first.
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

/// Makes `count` random authenticated bits of every party.
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

/// Runs the OTs, and the check that the correlations of each pair are well formed. The bits are
/// used only after this check.
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

/// The sum Σ χ_k x_k for each of the equally long lists, with the same public weights from a coin,
/// and Σ χ_k over the bits that are 1.
pub(crate) fn folds(
    room: &Room,
    coin: &Seed,
    label: &str,
    lists: &[&[Block]],
    bits: Option<&[Block]>,
) -> (Vec<Gf128>, Gf128) {
    let len = lists.first().map_or(0, |list| list.len());
    let (backend, threads) = (room.backend(), worth(room.talk.threads(), len));
    // Every thread draws the weights itself, which costs little compared with the products of a
    // list.
    let groups: Vec<_> =
        lists.chunks(lists.len().div_ceil(threads)).zip(iter::once(bits).chain(iter::repeat(None))).collect();
    registry::note(|| registry::once("coin of a check", &[Block(*coin.derive(label, &[]).expose())]));
    let made = abreast(threads, groups, |(lists, bits)| {
        registry::silent(|| fold(Prg::new(backend, coin, label), len, lists, bits))
    });
    let sum = made.iter().fold(0, |sum, (_, part)| sum ^ part.0);
    (made.into_iter().flat_map(|(folds, _)| folds).collect(), Gf128(sum))
}

/// The folds of one thread's lists.
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

/// Checks that every party's bits are the same towards all peers. (`ends` is not shared: extensions
/// move from thread to thread, one at a time.)
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
