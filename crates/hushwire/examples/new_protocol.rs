//! A complete new protocol: opening a shared value so that a deviating party is caught.
//!
//! It accompanies `docs/dev/new-protocol.md`. `cargo run -p hushwire --example new_protocol` runs
//! it, and `cargo test -p hushwire --example new_protocol` also lets parties cheat.
//!
//! **Functionality.** Shares of a byte string (`own`, `next`) → the string, to all three parties,
//! or an abort.
//! **Paper.** Folklore: two parties hold every share, so that one sends it and the other sends a
//! hash of it.
//! **Security.** One corrupted party that may deviate; BLAKE3 collision resistance (128 bits).
//! **Rounds and bytes.** One round; `n` bytes to the left and 32 to the right. **Constant time.**
//! The value becomes public.

use hushwire::{
    aes::Backend,
    machine::drive::{Exchanged, Lane, Machine, Round},
    machine::{Cost, Net, NetError, PartyId, SessionId, inproc},
    prg::{Prg, Seed},
    rep3::{Role, Shares, share, xor_into},
};
use std::{fmt, thread, time::Duration};

/// SECURITY: the hash's domain, so that the hash is valid nowhere else.
const DOMAIN: &str = "hushwire example: checked opening v1";
/// SECURITY: 256 bits, so that collisions take 2^128 work.
const HASH_BYTES: usize = 32;

/// Errors of this protocol.
#[derive(Debug)]
enum Error {
    /// The received share differs from the one that its other holder has. The error does not say
    /// which bytes differ.
    Abort,
    /// The error of the network, with the peer, the step and the remedy.
    Net(NetError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Abort => f.write_str("a party lied about a share; nothing was opened"),
            Error::Net(e) => e.fmt(f),
        }
    }
}

impl From<NetError> for Error {
    fn from(e: NetError) -> Self {
        Error::Net(e)
    }
}

fn digest(session: SessionId, share: &[u8]) -> [u8; HASH_BYTES] {
    *blake3::Hasher::new_derive_key(DOMAIN).update(&session.0).update(share).finalize().as_bytes()
}

/// One party's half. Slot 0 leads to the left and from the right; slot 1 leads the other way.
struct Opening {
    session: SessionId,
    shares: Shares,
    /// The value, which is set only after the check.
    value: Option<Vec<u8>>,
}

impl Machine for Opening {
    type Error = Error;

    fn slots(&self) -> usize {
        2
    }

    fn round(&self, slot: usize) -> Option<Round> {
        let (name, bytes) = [("checked opening", self.shares.len()), ("opening hash", HASH_BYTES)][slot];
        self.value.is_none().then(|| Round::even(name, bytes))
    }

    /// The left neighbour lacks `next`. The right one lacks `own`, and receives it from the other
    /// holder.
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Error> {
        let hash = digest(self.session, &self.shares.own);
        out.copy_from_slice(if slot == 0 { &self.shares.next } else { &hash });
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Error> {
        let (share, hash) = (messages[0].heard, messages[1].heard);
        if digest(self.session, share) != *hash {
            return Err(Error::Abort);
        }
        let mut value = share.to_vec();
        xor_into(&mut value, &self.shares.own);
        xor_into(&mut value, &self.shares.next);
        self.value = Some(value);
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        Some(Cost { rounds: 1, bytes_sent: (self.shares.len() + HASH_BYTES) as u64 })
    }
}

fn openings(value: &[u8]) -> [Opening; 3] {
    let shares = share(&mut Prg::new(Backend::best(), &Seed::random(), "example"), value);
    shares.map(|shares| Opening { session: SessionId([1; 16]), shares, value: None })
}

/// One party over the network: a channel for each slot.
fn party(role: Role, mut net: Net, opening: Opening) -> Result<Option<Vec<u8>>, Error> {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let channels = vec![net.channel(0, left, right)?, net.channel(1, right, left)?];
    Ok(Lane::over(channels).run(opening)?.value)
}

fn main() {
    let nets = inproc::mesh(&[0, 1, 2].map(PartyId), 2, Duration::from_secs(10));
    thread::scope(|scope| {
        for ((role, net), opening) in Role::ALL.into_iter().zip(nets).zip(openings(b"opened, and checked")) {
            scope.spawn(move || match party(role, net, opening) {
                Ok(value) => println!("{role}: {}", String::from_utf8_lossy(&value.unwrap_or_default())),
                Err(e) => eprintln!("error: {e}"),
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire::machine::drive::{Lockstep, Place};

    /// Each party of an honest run has the declared cost, and any change of a message ends the run.
    #[test]
    fn honest_parties_learn_the_value_and_every_lie_is_caught() {
        let mut parties = openings(b"a value");
        Lockstep::new().run(&mut parties).unwrap_or_else(|e| panic!("{e}"));
        assert!(parties.iter().all(|party| party.value.as_deref() == Some(b"a value")));
        for lie in (0..3).flat_map(|party| [0, 1].map(|slot| Place { round: 0, party, slot })) {
            let mut parties = openings(b"a value");
            let edit = |place, message: &mut Vec<u8>| message[3] ^= u8::from(place == lie);
            let ran = Lockstep::new().run_edited(&mut parties, edit);
            assert!(matches!(ran, Err(Error::Abort)), "{lie:?}");
            let victim = (lie.party + [2, 1][lie.slot]) % 3;
            assert_eq!(parties[victim].value, None, "{lie:?}");
        }
    }
}
