//! A new protocol, step by step: opening a shared value so that a lying party is caught.
//!
//! The companion of `docs/guide/new-protocol.md`. `cargo run -p hushwire --example new_protocol` runs it, and
//! `cargo test -p hushwire --example new_protocol` also lets parties cheat.
//!
//! **Functionality.** Shares of a byte string (`own`, `next`) → the string, to all three parties, or an abort.
//! **Paper.** Folklore: every share is held by two parties, so that one sends it and the other a hash of it.
//! **Security.** One corrupted party that may deviate; BLAKE3 collision resistance (128 bits).
//! **Rounds and bytes.** One round; `n` bytes to the left and 32 to the right. **Constant time.** The value becomes public.

use hushwire::rep3::{Role, Shares, xor_into};
use hushwire::wire::drive::{Exchanged, Executor, Lane};
use hushwire::wire::{Channel, NetError, SessionId};

/// SECURITY: the hash's domain, so that it means nothing anywhere else.
const DOMAIN: &str = "hushwire example checked opening v1";
/// AGREEMENT: its length.
const HASH_BYTES: usize = 32;

/// Errors of this protocol.
#[derive(Debug)]
enum Error {
    /// The share that came is not the one that its other holder has. It never says which bytes differ.
    Abort,
    /// The peer, the step and the remedy.
    Net(NetError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// An opened value that nobody has vouched for yet. Only [`Unverified::check`] gives it out.
#[must_use]
struct Unverified {
    value: Vec<u8>,
    third_share: Vec<u8>,
}

impl Unverified {
    fn check(self, session: SessionId, heard: &[u8; HASH_BYTES]) -> Result<Vec<u8>, Error> {
        if digest(session, &self.third_share) == *heard { Ok(self.value) } else { Err(Error::Abort) }
    }
}

/// The message to the right: a hash of the share that the right neighbour lacks.
fn digest(session: SessionId, share: &[u8]) -> [u8; HASH_BYTES] {
    *blake3::Hasher::new_derive_key(DOMAIN).update(&session.0).update(share).finalize().as_bytes()
}

/// The step to the left, as a pure executor: one layer that sends the share which the left neighbour lacks.
struct Open {
    shares: Shares,
    third_share: Vec<u8>,
}

impl Executor for Open {
    fn layers(&self) -> usize {
        1
    }
    fn message_bytes(&self, _layer: usize) -> usize {
        self.shares.len()
    }
    fn step_name(&self, _layer: usize) -> &'static str {
        "checked opening"
    }
    fn local(&mut self, _layer: usize, _arrived: Exchanged<'_>, message: &mut [u8]) {
        message.copy_from_slice(&self.shares.next);
    }
    fn finish(&mut self, arrived: Exchanged<'_>) {
        self.third_share = arrived.next.to_vec();
    }
}

impl Open {
    fn result(self) -> Unverified {
        let mut value = self.third_share.clone();
        xor_into(&mut value, &self.shares.own);
        xor_into(&mut value, &self.shares.next);
        Unverified { value, third_share: self.third_share }
    }
}

/// The thin driver. `ring` leads to the left neighbour and from the right one, `back` the other way.
fn checked_opening(
    session: SessionId,
    shares: Shares,
    ring: Channel,
    back: &mut Channel,
) -> Result<Vec<u8>, Error> {
    // The right neighbour lacks x_i: this party's `own`.
    let hash = digest(session, &shares.own);
    let opened = Lane::new(ring).run(Open { shares, third_share: vec![] })?.result();
    let mut heard = [0; HASH_BYTES];
    back.exchange("opening hash", &hash, &mut heard)?;
    opened.check(session, &heard)
}

/// Three parties in threads; `wrap` may put taps on a party's channels.
fn run(value: &[u8], wrap: impl Fn(Role, &mut Channel, &mut Channel)) -> Vec<Result<Vec<u8>, Error>> {
    use hushwire::{
        aes::Backend,
        prg::{Prg, Seed},
        rep3::share,
        wire::inproc,
    };
    let shares = share(&mut Prg::new(Backend::best(), &Seed::random(), "example"), value);
    let nets = inproc::mesh(&Role::ALL.map(Role::id), 1, std::time::Duration::from_secs(10));
    std::thread::scope(|scope| {
        let parties: Vec<_> = Role::ALL
            .into_iter()
            .zip(nets)
            .zip(shares)
            .map(|((role, mut net), shares)| {
                let (left, right) = (Some(role.left().id()), Some(role.right().id()));
                let mut ring = net.channel(0, left, right).expect("a free lane");
                let mut back = net.channel(0, right, left).expect("a free lane");
                wrap(role, &mut ring, &mut back);
                scope.spawn(move || checked_opening(SessionId([1; 16]), shares, ring, &mut back))
            })
            .collect();
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    })
}

fn main() {
    for opened in run(b"opened, and checked", |_, _, _| {}) {
        match opened {
            Ok(value) => println!("{}", String::from_utf8_lossy(&value)),
            Err(e) => eprintln!("error: {e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire::wire::{Edit, Tamper};

    #[test]
    fn honest_parties_learn_the_value() {
        for opened in run(b"a value", |_, _, _| {}) {
            assert_eq!(opened.expect("nobody cheats"), b"a value");
        }
    }

    /// A cheat for every message: each party in turn sends another share, or another hash.
    #[test]
    fn whoever_cheats_is_caught_by_the_one_it_cheats() {
        for cheat in Role::ALL {
            for ring_message in [true, false] {
                let tamper = || Tamper::new().outgoing(0, Edit::Xor { offset: 3, mask: vec![1] });
                let hits = std::cell::RefCell::new(None);
                let results = run(b"a value", |role, ring, back| {
                    if role == cheat {
                        let tamper = tamper();
                        *hits.borrow_mut() = Some(tamper.hits());
                        if ring_message { ring.tap(Box::new(tamper)) } else { back.tap(Box::new(tamper)) }
                    }
                });
                assert_eq!(hits.take().map(|h| h.count()), Some(1), "the cheat took place");
                let victim = if ring_message { cheat.left() } else { cheat.right() };
                for (role, result) in Role::ALL.into_iter().zip(results) {
                    match result {
                        Err(Error::Abort) => assert_eq!(role, victim),
                        Ok(value) => assert!(role != victim && value == b"a value"),
                        Err(Error::Net(e)) => panic!("{role}: {e}"),
                    }
                }
            }
        }
    }
}
