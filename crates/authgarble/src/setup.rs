//! The set-up: every party's Δ, OTs with every peer in both directions, and the check that each
//! party uses one Δ towards all peers.
//!
//! ```text
//! WRK17b, Π_aShare, once for ρ authenticated bits x^r of every party, which are dropped:
//!   broadcast   commitments to x_i^r with its MACs, to S_i^r = Σ_j K_i[x_j^r], and to S_i^r ⊕ Δ_i
//!   broadcast   opens x_i^r and its MACs: all check their own MAC
//!   broadcast   opens S_i^r ⊕ b Δ_i, b = ⊕_{j≠i} x_j^r: all compare it with Σ_j M_i[x_j^r]
//! ```
//!
//! If two of a party's keys differ, at least one of the two openings that b may select is wrong.
//! The party is thus caught with probability 1/2 in each trial.

use crate::{
    AuthError, Check, Need, Script, Stock,
    bits::{Ends, authenticated, both_ways},
    cost,
    params::TRIALS,
    preprocess,
    room::{HASH, Room},
    script::script,
    shares::{Shares, same},
};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_machine::Process;
use hushwire_ot::{Context, Malicious, Opening, Protocol};
use hushwire_prg::Seed;
use zeroize::Zeroize;

/// The first number of the commitments in the check of Δ, above all other numbers of a room.
pub(crate) const NUMBER: u64 = 1 << 32;

/// One party after the set-up: its Δ and the OTs with every peer. It serves for one preprocessing.
pub struct Setup {
    pub(crate) context: Context,
    pub(crate) me: usize,
    pub(crate) n: usize,
    pub(crate) threads: usize,
    pub(crate) ot: Protocol,
    pub(crate) delta: Block,
    pub(crate) ends: Vec<Ends>,
    pub(crate) seed: Seed,
    pub(crate) process: Process,
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl Setup {
    /// The set-up of party `me` among `n`. `context` and `ot` are agreed, and no other set-up uses
    /// the context. `seed` is this party's secret randomness for this set-up alone.
    ///
    /// LOCAL: `threads` threads share this party's own work, in the set-up and in the later phases;
    /// no message depends on their number.
    ///
    /// # Panics
    /// If the number of parties is not 2 to 128, or `me` is not one of them (the caller's bug).
    pub fn open(
        context: &Context,
        [me, n]: [usize; 2],
        threads: usize,
        ot: Protocol,
        seed: &Seed,
    ) -> Script<'static, Setup> {
        Self::opening(context, [me, n], threads, ot, seed, Block::ZERO)
    }

    /// The same set-up, in which the party uses Δ ⊕ `twist` towards its last peer. Only tests have
    /// a nonzero twist.
    pub(crate) fn opening(
        context: &Context,
        [me, n]: [usize; 2],
        threads: usize,
        ot: Protocol,
        seed: &Seed,
        twist: Block,
    ) -> Script<'static, Setup> {
        assert!((2..=128).contains(&n) && me < n, "party {me} of {n}");
        let (context, seed) = (*context, seed.derive("authgarble set-up", &context.sid.0));
        let script = script([me, n], threads, move |talk| async move {
            let mut room = Room::new(talk, context.child("authgarble set-up", 0), &seed);
            // Bit 1 of the sum of all Δ is 1, so that bit 1 of the sum in a leaky AND is the bit
            // itself.
            let pinned = Block::from_u128(3);
            let bits = Block::from_u128(if me == 0 { 3 } else { 1 });
            let delta = room.own.next_block();
            let delta = delta ^ (delta & pinned) ^ bits;
            let ends = open_all(&mut room, &context, ot, &seed, [delta, twist]).await?;
            let process = Process::here();
            let mut setup = Setup { context, me, n, threads, ot, delta, ends, seed, process };
            if n > 2 {
                setup.one_delta(&mut room).await?;
            }
            Ok(setup)
        });
        match cost::setup(n, ot) {
            Some(cost) => script.costing(cost),
            None => script,
        }
    }

    /// The function-independent phase. It consumes the set-up: a check that fails may reveal Δ,
    /// which must not have hidden anything by then.
    pub fn preprocess(self, need: Need) -> Script<'static, Stock> {
        let (me, n, threads) = (self.me, self.n, self.threads);
        let cost = cost::preprocess(n, self.ot, need);
        let in_advance = [
            Protocol::FerretB9,
            Protocol::FerretB10,
            Protocol::FerretB11,
            Protocol::FerretB12,
            Protocol::FerretB13,
        ];
        let exact = !in_advance.contains(&self.ot);
        let script = script([me, n], threads, move |talk| preprocess::run(talk, self, need));
        if exact { script.costing(cost) } else { script }
    }

    async fn one_delta(&mut self, room: &mut Room) -> Result<(), AuthError> {
        let bits = authenticated(room, &mut self.ends, TRIALS).await?;
        let (me, n) = (self.me, self.n);
        let xs = room.sealed(&said(&bits));
        let sums: Vec<Block> =
            (0..TRIALS).map(|r| bits.keys.iter().fold(Block::ZERO, |sum, keys| sum ^ keys[r])).collect();
        let sealed = [Block::ZERO, self.delta]
            .map(|delta| sums.iter().map(|sum| room.sealed(&(*sum ^ delta).0)).collect::<Vec<_>>());
        let mut own = room.commitment(NUMBER, me, &xs).to_vec();
        for (b, sealed) in sealed.iter().enumerate() {
            for (r, sealed) in sealed.iter().enumerate() {
                own.extend(room.commitment(number(r, b), me, sealed));
            }
        }
        let commitments = room.broadcast("committing to sums of keys", own).await?;
        let opened = room.broadcast("opening bits and MACs", xs).await?;
        let mut all = Vec::with_capacity(n);
        for (party, (opening, commitments)) in opened.iter().zip(&commitments).enumerate() {
            if !same(&room.commitment(NUMBER, party, opening), &commitments[..HASH]) {
                return Err(AuthError::abort_of(Check::Commitment, party));
            }
            all.push(from_bytes(Room::unsealed(opening)));
        }
        for slot in 0..self.ends.len() {
            let (peer, delta) = (room.talk.peer(slot), self.ends[slot].sender.delta());
            for r in 0..TRIALS {
                let mac = mac(&all, peer, me, r);
                let bit = mac_bit(&all, peer, r);
                if !same(&(bits.keys[slot][r] ^ delta.and_bit(bit)).0, &mac.0) {
                    return Err(AuthError::abort_of(Check::Delta, peer));
                }
            }
        }
        // The next openings depend on every party's bits, so that all parties must have received
        // the same bits.
        room.confirm().await?;
        let asked =
            |party: usize, r| (0..n).filter(|p| *p != party).fold(false, |b, p| b ^ mac_bit(&all, p, r));
        let own = (0..TRIALS).flat_map(|r| sealed[usize::from(asked(me, r))][r].clone()).collect();
        let openings = room.broadcast("opening sums of keys", own).await?;
        for (party, opening) in openings.iter().enumerate() {
            for (r, opening) in opening.chunks_exact(opening.len() / TRIALS).enumerate() {
                let b = usize::from(asked(party, r));
                let at = HASH * (1 + b * TRIALS + r);
                if !same(&room.commitment(number(r, b), party, opening), &commitments[party][at..at + HASH]) {
                    return Err(AuthError::abort_of(Check::Commitment, party));
                }
                let others = (0..n).filter(|p| *p != party);
                let sum = others.fold(Block::ZERO, |sum, p| sum ^ mac(&all, p, party, r));
                if !same(&sum.0, Room::unsealed(opening)) {
                    return Err(AuthError::abort_of(Check::Delta, party));
                }
            }
        }
        room.confirm().await
    }
}

/// Opens OTs with every peer; the party uses its Δ in all those in which it is the sender.
async fn open_all(
    room: &mut Room,
    context: &Context,
    ot: Protocol,
    seed: &Seed,
    [delta, twist]: [Block; 2],
) -> Result<Vec<Ends>, AuthError> {
    let (me, n) = (room.talk.me(), room.talk.n());
    let mut openings = Vec::new();
    for slot in 0..room.talk.slots() {
        let peer = room.talk.peer(slot);
        // Each direction of each pair has its own context, so that no party can forward or reflect
        // messages.
        let of =
            |sender: usize, receiver: usize| context.child("authgarble ot", (sender * n + receiver) as u64);
        let own = |label| seed.derive(label, &[peer as u8]);
        let last = slot + 1 == room.talk.slots();
        let delta = delta ^ twist.and_bit(last);
        let sender = Opening::<Malicious>::sender_with(&of(me, peer), ot, &own("authgarble sender"), delta)?;
        openings.push((sender, Opening::receiver(&of(peer, me), ot, &own("authgarble receiver"))?));
    }
    both_ways(room, &mut openings).await?;
    let ends = |(sender, receiver): (Opening<_>, Opening<_>)| Ends {
        sender: sender.into_sender(),
        receiver: receiver.into_receiver(),
    };
    Ok(openings.into_iter().map(ends).collect())
}

/// The number of the commitment to S ⊕ b Δ in trial `r`.
fn number(r: usize, b: usize) -> u64 {
    NUMBER + 1 + (2 * r + b) as u64
}

/// A party's MACs: peer after peer, trial after trial. Bit 0 of each MAC is the party's bit.
fn said(bits: &Shares) -> Vec<u8> {
    bits.macs.iter().flat_map(|macs| as_bytes(macs).to_vec()).collect()
}

/// The MAC that party `of` claims for its bit `r` towards party `towards`.
fn mac(all: &[&[Block]], of: usize, towards: usize, r: usize) -> Block {
    all[of][(towards - usize::from(towards > of)) * TRIALS + r]
}

/// The bit `r` that party `of` claims.
fn mac_bit(all: &[&[Block]], of: usize, r: usize) -> bool {
    all[of][r].lsb()
}
