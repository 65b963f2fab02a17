//! Checks that shares from an owner outside the parties are shares of one value: both holders of a
//! component must have received the same.
//!
//! **Why.** Products are right only for replicated shares. An owner outside the parties can give
//! party 0 another `x_1` than party 1. Every product with its input is then wrong exactly where the
//! other factor is 1. Outputs would then leak the other owners' inputs, although all parties follow
//! the protocol. So nothing that depends on such shares is opened before [`Comparison::end`] has
//! found all of them consistent.
//!
//! ```text
//! tag of x_c at its holders, parties c-1 and c:  BLAKE3 keyed from k_{c-1}, of session, c, owner,
//!                                                batch, each part's length and bytes
//! hop 1, to the right neighbour:                 the own tags, of x_i and x_{i+1}, for every owner
//! hop 2, to the right neighbour:                 the tags that arrived in hop 1
//! ```
//!
//! After the second hop every party has both tags of all three components, so all parties reach the
//! same verdict. The party that does not hold `x_c` opens nothing either. This matters if the owner
//! also controls another party and sees its view.
//!
//! **Security.** The holders of `x_c` are exactly the parties that have `k_{c-1}`. To the third
//! party a tag is the output of a pseudorandom function under a key that it lacks, at a place that
//! is used once. It learns whether two tags are equal and nothing else. Tags have 256 bits. An
//! owner that knows a key, from a party that it controls, would have to find a collision of BLAKE3.
//! **Rounds and bytes.** Two messages to the right, of 64 bytes per owner each. **Constant time.**
//! Shares and tags are secret; lengths and the verdict are public.

use crate::{Role, session::Session};
use hushwire_machine::{Channel, NetError, SessionId};
use hushwire_prg::Seed;
use std::sync::Arc;
use zeroize::Zeroizing;

/// AGREEMENT: domain separation of these keys from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 rep3 consistency of shares v1";
/// Bytes of a tag.
const TAG: usize = 32;
const STEP: &str = "comparing shares of inputs";

/// The keys of a party's tags: for its own component, and for the next.
#[derive(Clone)]
pub(crate) struct TagKeys(Arc<Zeroizing<[[u8; 32]; 2]>>);

impl TagKeys {
    /// Derives the tag keys; `own` is k_i, `prev` is k_{i-1}.
    pub(crate) fn new(id: SessionId, own: &Seed, prev: &Seed) -> Self {
        let key = |seed: &Seed| {
            let mut hash = Zeroizing::new(blake3::Hasher::new_derive_key(DOMAIN));
            hash.update(seed.expose()).update(&id.0);
            *hash.finalize().as_bytes()
        };
        Self(Arc::new(Zeroizing::new([key(prev), key(own)])))
    }
}

/// One party's tags of the shares that an owner gave it in one batch.
pub struct Tags([blake3::Hash; 2]);

/// Makes [`Tags`] of shares that come in parts.
pub struct Tagging([Zeroizing<blake3::Hasher>; 2]);

impl Session {
    /// Starts the tags of share set `owner` of batch `batch`. This pair of numbers must be used
    /// once.
    pub(crate) fn tagging(&self, owner: u32, batch: u32) -> Tagging {
        let components = [self.role(), self.role().right()].map(|role| role.index() as u32);
        let TagKeys(keys) = self.tag_keys();
        let mut hashes = [0, 1].map(|i: usize| Zeroizing::new(blake3::Hasher::new_keyed(&keys[i])));
        for (hash, component) in hashes.iter_mut().zip(components) {
            for number in [component, owner, batch] {
                hash.update(&number.to_le_bytes());
            }
        }
        Tagging(hashes)
    }
}

impl Tagging {
    /// Adds the next part: this party's own share of it, and its share of the next component.
    pub fn part(&mut self, own: &[u8], next: &[u8]) {
        for (hash, share) in self.0.iter_mut().zip([own, next]) {
            hash.update(&(share.len() as u64).to_le_bytes()).update(share);
        }
    }

    /// The tags of all parts that were added.
    #[must_use]
    pub fn finish(self) -> Tags {
        Tags(self.0.map(|hash| hash.finalize()))
    }
}

/// An owner's shares that are not consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inconsistent {
    /// The owner's place in the list of tags.
    pub owner: usize,
    /// The parties that were given different shares.
    pub holders: [Role; 2],
}

/// A comparison in progress among the three parties.
///
/// Both calls take a channel to the right neighbour and from the left one. Between them the channel
/// may carry no other message.
#[must_use = "shares that were not compared must not be used for anything that is opened"]
pub struct Comparison {
    role: Role,
    own: Vec<Tags>,
    /// The left neighbour's tags, as they arrived.
    left: Vec<u8>,
}

impl Comparison {
    /// Exchanges the tags of all owners, in an order that all parties share, and passes on the tags
    /// that arrive. Waits only for the left neighbour's tags.
    ///
    /// # Errors
    /// As [`Channel::exchange`].
    pub fn begin(role: Role, channel: &mut Channel, own: Vec<Tags>) -> Result<Self, NetError> {
        let mut left = vec![0; 2 * TAG * own.len()];
        channel.exchange(STEP, &encode(&own), &mut left)?;
        channel.start(STEP, &left)?;
        Ok(Self { role, own, left })
    }

    /// The verdict, the same at every party: the first owner whose shares differ at two holders.
    ///
    /// # Errors
    /// As [`Channel::finish`].
    pub fn end(self, channel: &mut Channel) -> Result<Option<Inconsistent>, NetError> {
        let mut right = vec![0; 2 * TAG * self.own.len()];
        channel.finish(STEP, &self.left, &mut right)?;
        let tags = self.own.iter().zip(decode(&self.left)).zip(decode(&right));
        let found = tags.enumerate().find_map(|(owner, ((own, left), right))| {
            let differs = self.differs(own, &left, &right);
            Role::ALL.into_iter().find(|c| differs[c.index()]).map(|c| (owner, c))
        });
        Ok(found.map(|(owner, c)| Inconsistent { owner, holders: [c.left(), c] }))
    }

    /// For each component, whether its holders' tags differ.
    fn differs(&self, Tags(own): &Tags, Tags(left): &Tags, Tags(right): &Tags) -> [bool; 3] {
        let mut differs = [false; 3];
        differs[self.role.index()] = left[1] != own[0];
        differs[self.role.right().index()] = own[1] != right[0];
        differs[self.role.left().index()] = right[1] != left[0];
        differs
    }
}

fn encode(tags: &[Tags]) -> Vec<u8> {
    tags.iter().flat_map(|Tags(pair)| pair).flat_map(|tag| *tag.as_bytes()).collect()
}

fn decode(bytes: &[u8]) -> Vec<Tags> {
    let tags: Vec<blake3::Hash> = bytes.as_chunks::<TAG>().0.iter().map(|tag| (*tag).into()).collect();
    tags.as_chunks::<2>().0.iter().map(|pair| Tags(*pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shares, share};
    use hushwire_aes::Backend;
    use hushwire_machine::inproc;
    use hushwire_prg::{Prg, PrssKeys};
    use std::{thread, time::Duration};

    const SESSION: SessionId = SessionId([3; 16]);

    fn sessions() -> [Session; 3] {
        let seed = |i: usize| Seed::from_bytes([40 + i as u8; 16]);
        Role::ALL.map(|role| {
            let keys = PrssKeys { own: seed(role.index()), prev: seed(role.left().index()) };
            Session::from_keys(role, Backend::best(), SESSION, &keys)
        })
    }

    fn tags(session: &Session, owner: u32, batch: u32, parts: &[&Shares]) -> Tags {
        let mut tagging = session.tagging(owner, batch);
        parts.iter().for_each(|part| tagging.part(&part.own, &part.next));
        tagging.finish()
    }

    /// The verdicts of the three parties on owners that gave these shares.
    fn verdicts(given: &[[Shares; 3]]) -> Vec<Option<Inconsistent>> {
        let nets = inproc::mesh(&Role::ALL.map(Role::id), 1, Duration::from_secs(20));
        thread::scope(|scope| {
            let running: Vec<_> = sessions()
                .into_iter()
                .zip(nets)
                .map(|(session, mut net)| {
                    scope.spawn(move || {
                        let role = session.role();
                        let own =
                            given.iter().zip(0..).map(|(s, o)| tags(&session, o, 7, &[&s[role.index()]]));
                        let (to, from) = (Some(role.right().id()), Some(role.left().id()));
                        let mut channel = net.channel(0, to, from).expect("a channel");
                        let comparison = Comparison::begin(role, &mut channel, own.collect()).expect("hop 1");
                        comparison.end(&mut channel).expect("hop 2")
                    })
                })
                .collect();
            running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }

    fn given(n: u8) -> [Shares; 3] {
        share(&mut Prg::new(Backend::best(), &Seed::from_bytes([n; 16]), "test"), &[n; 21])
    }

    #[test]
    fn every_party_sees_every_difference() {
        assert_eq!(verdicts(&[given(0), given(1)]), [None; 3]);
        for owner in 0..2 {
            for (party, next) in [(0, false), (0, true), (1, false), (1, true), (2, false), (2, true)] {
                for byte in [0, 20] {
                    let mut all = [given(0), given(1)];
                    let copy: &mut Shares = &mut all[owner][party];
                    if next {
                        copy.next[byte] ^= 0x80;
                    } else {
                        copy.own[byte] ^= 0x80;
                    }
                    let component = Role::ALL[(party + usize::from(next)) % 3];
                    let wanted = Inconsistent { owner, holders: [component.left(), component] };
                    assert_eq!(verdicts(&all), [Some(wanted); 3], "{owner} {party} {next} {byte}");
                }
            }
        }
    }

    #[test]
    fn a_tag_says_where_it_belongs() {
        let [zero, one, _] = sessions();
        let (a, empty) = (given(0), Shares { own: vec![], next: vec![] });
        let own = |t: &Tags| t.0[0];
        let tag = own(&tags(&one, 0, 0, &[&a[1]]));
        assert_eq!(tag, tags(&zero, 0, 0, &[&a[0]]).0[1], "the other holder's");
        let others = [(1, 0), (0, 1)].map(|(owner, batch)| own(&tags(&one, owner, batch, &[&a[1]])));
        assert!(others.iter().all(|other| *other != tag));
        // The same bytes, cut at another place.
        assert_ne!(tag, own(&tags(&one, 0, 0, &[&a[1], &empty])));
        assert_ne!(tag, own(&tags(&one, 0, 0, &[&empty, &a[1]])));
        // Two components with the same bytes have different tags, and a tag cannot be computed
        // without the key.
        let same = Shares { own: vec![5; 9], next: vec![5; 9] };
        let Tags([x, y]) = tags(&zero, 0, 0, &[&same]);
        assert_ne!(x, y);
        let keys = PrssKeys { own: Seed::from_bytes([1; 16]), prev: Seed::from_bytes([2; 16]) };
        let other = Session::from_keys(Role::ALL[0], Backend::best(), SESSION, &keys);
        assert!(tags(&other, 0, 0, &[&same]).0.iter().all(|t| *t != x && *t != y));
        let keys = PrssKeys { own: Seed::from_bytes([40; 16]), prev: Seed::from_bytes([42; 16]) };
        let other = Session::from_keys(Role::ALL[0], Backend::best(), SessionId([4; 16]), &keys);
        assert!(tags(&other, 0, 0, &[&same]).0.iter().all(|t| *t != x && *t != y));
    }
}
