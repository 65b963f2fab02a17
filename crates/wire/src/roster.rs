//! The process that represents each member in this session.
//!
//! Every process that joins draws a nonce and sends it in each hello. The first hello of a member
//! that is admitted fixes its nonce. A connection with another nonce comes from another process
//! with the same key. It is refused, unless the first process is gone before the session is agreed
//! on. When all connections are there, the parties' nonces and the agreed name determine the
//! session's id. No two sessions share an id, even if their names repeat. All members compare it
//! before anything else is sent.
//!
//! The party that sends its nonce last can choose among ids. This is harmless, since an id is only
//! a label. Protocol rep3 derives keys from the id with seeds that a party draws later and shows to
//! one neighbour. Every protocol that hashes names with inputs or keys tosses a name of its own
//! ([`Toss`](crate::Toss)), which binds the id.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use hushwire_machine::{PartyId, SessionId, lock};

use crate::slot::Slot;

/// LOCAL: the time that a process waits to replace another process of its member. A closed link is
/// noticed within a second.
const SUCCESSOR: Duration = Duration::from_secs(2);
/// LOCAL: the interval at which it checks whether the other process is gone.
const LOOK: Duration = Duration::from_millis(20);
/// AGREEMENT: the domain of this hash.
const DOMAIN: &str = "hushwire wire 3 session of these processes";

/// The random number of one process for one session. It is not secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nonce(pub(crate) [u8; 16]);

impl Nonce {
    pub(crate) fn fresh() -> io::Result<Self> {
        SessionId::fresh().map(|id| Self(id.0))
    }
}

/// The processes that were met so far, with their connections, whether admitted or in the
/// handshake.
pub(crate) struct Roster {
    me: PartyId,
    own: Nonce,
    met: Mutex<BTreeMap<PartyId, Met>>,
}

struct Met {
    nonce: Nonce,
    slots: BTreeSet<Slot>,
}

/// The reason why a connection is not admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotAdmitted {
    /// Another process of the member was first.
    Duplicate,
    /// This slot already has a connection, or one in the handshake.
    Taken,
}

/// A reserved slot. It becomes free when this is dropped before [`Admission::keep`].
pub(crate) struct Admission<'a> {
    roster: &'a Roster,
    slot: Slot,
    nonce: Nonce,
    kept: bool,
}

impl Admission<'_> {
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut met = lock(&self.roster.met);
        // A successor's slots are its own.
        if let Some(peer) = met.get_mut(&self.slot.peer).filter(|peer| peer.nonce == self.nonce) {
            peer.slots.remove(&self.slot);
            // The process may have died during its handshake; its successor may come then.
            if peer.slots.is_empty() {
                met.remove(&self.slot.peer);
            }
        }
    }
}

impl Roster {
    pub(crate) fn new(me: PartyId, own: Nonce) -> Self {
        Self { me, own, met: Mutex::default() }
    }

    pub(crate) fn own(&self) -> Nonce {
        self.own
    }

    /// Whether a process of `peer` with a different nonce has been admitted.
    pub(crate) fn has_another(&self, peer: PartyId, nonce: Nonce) -> bool {
        lock(&self.met).get(&peer).is_some_and(|met| met.nonce != nonce)
    }

    /// Admits a process of `slot.peer` for this slot.
    pub(crate) fn admit(&self, slot: Slot, nonce: Nonce) -> Result<Admission<'_>, NotAdmitted> {
        let mut met = lock(&self.met);
        let peer = met.entry(slot.peer).or_insert_with(|| Met { nonce, slots: BTreeSet::new() });
        if peer.nonce != nonce {
            return Err(NotAdmitted::Duplicate);
        }
        if !peer.slots.insert(slot) {
            return Err(NotAdmitted::Taken);
        }
        Ok(Admission { roster: self, slot, nonce, kept: false })
    }

    /// As [`Roster::admit`], but if another process was first, waits until that process is known to
    /// be gone. A restarted process may come before its predecessor's links have closed. The wait
    /// ends when `goes_on` returns false.
    pub(crate) fn admit_patiently(
        &self,
        slot: Slot,
        nonce: Nonce,
        goes_on: impl Fn() -> bool,
    ) -> Result<Admission<'_>, NotAdmitted> {
        let deadline = Instant::now() + SUCCESSOR;
        loop {
            match self.admit(slot, nonce) {
                Err(NotAdmitted::Duplicate) if Instant::now() < deadline && goes_on() => thread::sleep(LOOK),
                admitted => return admitted,
            }
        }
    }

    /// Records that the process of `peer` is gone, so that another one may come.
    pub(crate) fn forget(&self, peer: PartyId) {
        lock(&self.met).remove(&peer);
    }

    /// Whether the admitted process of `peer` has this nonce.
    pub(crate) fn is_in(&self, peer: PartyId, nonce: Nonce) -> bool {
        lock(&self.met).get(&peer).is_some_and(|met| met.nonce == nonce)
    }

    /// The id of session `name` between the processes that were met. It does not cover the nonces
    /// of clients, since clients do not meet each other. Every session has parties, and each of
    /// them draws a fresh nonce.
    pub(crate) fn session(&self, name: SessionId) -> SessionId {
        let met = lock(&self.met);
        let mut nonces: BTreeMap<_, _> = met.iter().map(|(&id, peer)| (id, peer.nonce)).collect();
        nonces.insert(self.me, self.own);
        let mut hash = blake3::Hasher::new_derive_key(DOMAIN);
        hash.update(&name.0);
        for (id, nonce) in nonces.iter().filter(|(id, _)| !id.is_client()) {
            hash.update(&[id.0]).update(&nonce.0);
        }
        let mut id = [0; 16];
        hash.finalize_xof().fill(&mut id);
        SessionId(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: SessionId = SessionId([7; 16]);

    fn slot(peer: u8, lane: u16) -> Slot {
        Slot { peer: PartyId(peer), lane, sends: false }
    }

    fn met(me: u8, own: u8, others: &[(u8, u8)]) -> Roster {
        let roster = Roster::new(PartyId(me), Nonce([own; 16]));
        for &(peer, nonce) in others {
            let admitted = roster.admit(slot(peer, 0), Nonce([nonce; 16]));
            admitted.unwrap_or_else(|e| panic!("{e:?}")).keep();
        }
        roster
    }

    #[test]
    fn all_members_make_the_same_id_and_every_nonce_changes_it() {
        let ids = [
            met(0, 10, &[(1, 11), (2, 12), (128, 13), (129, 14)]),
            met(1, 11, &[(2, 12), (0, 10), (128, 13), (129, 14)]),
            met(2, 12, &[(0, 10), (1, 11), (129, 14), (128, 13)]),
            met(128, 13, &[(0, 10), (1, 11), (2, 12)]),
            met(129, 14, &[(2, 12), (1, 11), (0, 10)]),
        ]
        .map(|roster| roster.session(NAME));
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let others = [
            met(0, 9, &[(1, 11), (2, 12)]).session(NAME),
            met(0, 10, &[(1, 9), (2, 12)]).session(NAME),
            met(0, 10, &[(1, 12), (2, 11)]).session(NAME),
            met(0, 10, &[(1, 11)]).session(NAME),
            met(0, 10, &[(1, 11), (3, 12)]).session(NAME),
            met(0, 10, &[(1, 11), (2, 12)]).session(SessionId([8; 16])),
            NAME,
        ];
        for (i, id) in others.iter().enumerate() {
            assert!(*id != ids[0] && others[..i].iter().all(|other| other != id), "{i}");
        }
        // This id is pinned: a change of it is a change on the wire.
        assert_eq!(ids[0].to_string(), "2b2f2f4a3990e2fa9776bff20ebd4f68");
    }

    #[test]
    fn a_second_process_is_refused_until_the_first_is_gone() {
        let roster = met(0, 10, &[]);
        let first = roster.admit(slot(1, 0), Nonce([1; 16])).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(roster.admit(slot(1, 1), Nonce([2; 16])).err(), Some(NotAdmitted::Duplicate));
        assert_eq!(roster.admit(slot(1, 0), Nonce([1; 16])).err(), Some(NotAdmitted::Taken));
        // Another member is independent.
        drop(roster.admit(slot(2, 0), Nonce([2; 16])));
        let more = roster.admit(slot(1, 1), Nonce([1; 16])).unwrap_or_else(|e| panic!("{e:?}"));
        drop(first);
        assert_eq!(roster.admit(slot(1, 0), Nonce([2; 16])).err(), Some(NotAdmitted::Duplicate));
        drop(more);
        roster.admit(slot(1, 0), Nonce([2; 16])).unwrap_or_else(|e| panic!("{e:?}")).keep();
        assert_eq!(roster.admit(slot(1, 0), Nonce([1; 16])).err(), Some(NotAdmitted::Duplicate));
        assert_eq!(roster.admit(slot(1, 0), Nonce([2; 16])).err(), Some(NotAdmitted::Taken));
    }

    #[test]
    fn a_successor_comes_in_when_the_first_is_forgotten() {
        let roster = met(0, 10, &[(1, 1)]);
        // This connection is from the first process, which may still be in the handshake on another
        // connection.
        let late = roster.admit(slot(1, 1), Nonce([1; 16])).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(
            roster.admit_patiently(slot(1, 0), Nonce([2; 16]), || false).err(),
            Some(NotAdmitted::Duplicate)
        );
        let (first, last) = (roster.session(NAME), std::sync::atomic::AtomicBool::new(false));
        let goes_on = || {
            roster.forget(PartyId(1));
            !last.swap(true, std::sync::atomic::Ordering::Relaxed)
        };
        let next = roster.admit_patiently(slot(1, 1), Nonce([2; 16]), goes_on);
        next.unwrap_or_else(|e| panic!("{e:?}")).keep();
        // This frees no slot of the second process.
        drop(late);
        assert_eq!(roster.admit(slot(1, 1), Nonce([2; 16])).err(), Some(NotAdmitted::Taken));
        assert!(roster.is_in(PartyId(1), Nonce([2; 16])) && !roster.is_in(PartyId(1), Nonce([1; 16])));
        assert_ne!(roster.session(NAME), first);
    }
}
