//! Links that serve several successive runs of the same members.
//!
//! ```text
//! control lane   each party ─► each other   fresh bytes, and a digest of the run
//! every lane     each party ─► each other   a mark of the session that follows from all of them
//! ```
//!
//! The digest covers the label of the run, its agreement and the previous session. The session's id
//! covers the fresh bytes of all parties. So no two runs have the same id, even if some parties
//! repeat bytes. The marks show that all parties have the same id, and that no lane holds bytes of
//! the previous run.

use crate::{Fault, agreement::Agreement};
use hushwire_fault::code;
use hushwire_machine::{Channel, Net, NetError, PartyId, SessionId};
use hushwire_wire::LinkStock;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const STEP: &str = "beginning another run";
/// AGREEMENT: domains of the hashes.
const WORD: &str = "hushwire 2026-11-29 word of a run on kept links";
const SESSION: &str = "hushwire 2026-11-29 session on kept links";
const MARK: &str = "hushwire 2026-11-29 mark on a kept link";

/// The links of a run that ended well, for the next run of the same members, which needs no
/// handshakes. Clones share the same links.
///
/// Only connections are kept, with their TLS keys. Each run has its own keys and masks.
#[derive(Clone, Default)]
pub struct KeptLinks(Arc<Mutex<Option<LinkStock>>>);

impl KeptLinks {
    /// Makes a store without links.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there are links that are not known to be closed at the other end.
    #[must_use]
    pub fn are_there(&self) -> bool {
        self.lock().as_ref().is_some_and(LinkStock::is_whole)
    }

    /// Closes the links. The next run connects its members again.
    pub fn close(&self) {
        drop(self.take());
    }

    pub(crate) fn take(&self) -> Option<LinkStock> {
        self.lock().take()
    }

    /// Keeps the links of a run that ended well, if all were returned.
    pub(crate) fn keep(&self, stock: LinkStock) {
        *self.lock() = Some(stock).filter(LinkStock::is_whole);
    }

    fn lock(&self) -> MutexGuard<'_, Option<LinkStock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a run with this label on the links of the previous run. `explain` turns an error of the
/// network into one of the job.
pub(crate) fn renew(
    stock: &LinkStock,
    plan: &Agreement,
    label: SessionId,
    explain: &dyn Fn(NetError) -> Fault,
) -> Result<Net, Fault> {
    let failed = |e: NetError| explain(e).during(STEP);
    let lost = || match stock.watch().check(STEP) {
        Err(e) => failed(e),
        Ok(()) => Fault::internal(STEP, "a link was lost"),
    };
    let before = stock.session();
    let mut net = stock.lend().ok_or_else(lost)?;
    if net.lanes() != plan.lanes || !plan.clients.is_empty() {
        return Err(Fault::internal(STEP, "the links are of members with other lanes"));
    }
    let (me, peers, control) = (net.me(), net.peers(), plan.control_lane());
    let mut links = vec![];
    for lane in 0..plan.lanes {
        for peer in &peers {
            links.push(net.channel(lane, Some(*peer), Some(*peer)).map_err(failed)?);
        }
    }
    let word = word(before, label, plan);
    let mut fresh = [0; 32];
    getrandom::fill(&mut fresh).map_err(|e| Fault::internal(STEP, e))?;
    let mut all = BTreeMap::from([(me.0, fresh)]);
    let own = [fresh, word].concat();
    let sent = vec![own; peers.len()];
    let on_control: Vec<&mut Channel> =
        links.iter_mut().filter(|channel| channel.lane() == control).collect();
    for (peer, theirs) in exchange(on_control, &sent, &failed)? {
        let (theirs, their_word) = theirs.split_at(32);
        if their_word != word {
            return Err(another(plan, peer));
        }
        all.insert(peer.0, theirs.try_into().map_err(|e| Fault::internal(STEP, e))?);
    }
    let session = session(before, &word, &all);
    let ends: Vec<(u16, PartyId)> =
        links.iter().filter_map(|channel| Some((channel.lane(), channel.to()?))).collect();
    let own = ends.iter().map(|(lane, peer)| mark(session, *lane, me, *peer)).collect::<Vec<_>>();
    let heard = exchange(links.iter_mut().collect(), &own, &failed)?;
    for ((lane, peer), (_, theirs)) in ends.into_iter().zip(heard) {
        if theirs != mark(session, lane, peer, me) {
            return Err(another(plan, peer));
        }
    }
    // The links are returned to the stock, and lent again.
    drop((links, net));
    stock.renew(session);
    stock.lend().ok_or_else(lost)
}

/// The digest of a run with this label, after session `before`.
fn word(before: SessionId, label: SessionId, plan: &Agreement) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key(WORD);
    hash.update(&before.0).update(&label.0).update(&plan.tags()).update(&plan.digest());
    *hash.finalize().as_bytes()
}

/// Derives the session's id from the fresh bytes of all members.
fn session(before: SessionId, word: &[u8; 32], fresh: &BTreeMap<u8, [u8; 32]>) -> SessionId {
    let mut hash = blake3::Hasher::new_derive_key(SESSION);
    hash.update(&before.0).update(word);
    for (member, fresh) in fresh {
        hash.update(&[*member]).update(fresh);
    }
    let mut session = SessionId([0; 16]);
    session.0.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    session
}

/// The mark of a session on a lane, from one member to another.
fn mark(session: SessionId, lane: u16, from: PartyId, to: PartyId) -> Vec<u8> {
    let mut hash = blake3::Hasher::new_derive_key(MARK);
    hash.update(&session.0).update(&lane.to_le_bytes()).update(&[from.0, to.0]);
    hash.finalize().as_bytes()[..16].to_vec()
}

/// Sends a message on each channel, and receives one of the same length, with its sender.
fn exchange(
    mut channels: Vec<&mut Channel>,
    sent: &[Vec<u8>],
    failed: &dyn Fn(NetError) -> Fault,
) -> Result<Vec<(PartyId, Vec<u8>)>, Fault> {
    for (channel, own) in channels.iter_mut().zip(sent) {
        channel.start(STEP, own).map_err(failed)?;
    }
    let mut heard = vec![];
    for (channel, own) in channels.iter_mut().zip(sent) {
        let mut theirs = vec![0; own.len()];
        channel.finish(STEP, own, &mut theirs).map_err(failed)?;
        let peer = channel.from().ok_or_else(|| Fault::internal(STEP, "a link comes from nobody"))?;
        heard.push((peer, theirs));
    }
    Ok(heard)
}

fn another(plan: &Agreement, peer: PartyId) -> Fault {
    let peer = plan.who(peer);
    let cause = format!("{peer} begins another run on these links, or had not ended the one before");
    Fault::new(code::DISAGREE, STEP, cause, "run the same release everywhere")
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
