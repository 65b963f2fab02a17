//! Turns fresh bytes of several parties into a name that no party can choose: all commit, then all
//! open.
//!
//! ```text
//! commit  c_i = H(domain, context, i, r_i)  32 bytes   ◄──►   of every party, before any is opened
//! open    [hash of all c] ‖ r_i             [32 +] 32  ◄──►   the hash if there are more than two
//! name    H'(domain, context, r_0, r_1, …)                    once every r_i fits its c_i
//! ```
//!
//! **Security.** BLAKE3 is modelled as a random oracle. r_i is 32 uniform bytes, so c_i hides it
//! without extra blinding, and nobody finds a second opening. Even the party that sends last has
//! fixed its r_i before it learns another one, so the name is uniform. The index i in c_i keeps a
//! party from repeating another's commitment as its own. With more than two parties, the hash
//! reveals a party that sent different commitments to them.
//!
//! **Not prevented.** A party that receives all openings first can end the run and try again. Every
//! other party sees that run fail.

use crate::{Channel, NetError};
use std::io;

/// AGREEMENT: the domain of commitments.
const COMMIT: &str = "hushwire 2026 wire toss commitment v1";
const ALL: &str = "hushwire 2026 wire toss commitments of all v1";
const NAME: &str = "hushwire 2026 wire toss name v1";

/// A hash, or the fresh bytes of one party.
pub type Word = [u8; 32];

/// One party's endpoint of a toss.
///
/// Reading the others' openings consumes it: fresh bytes serve one name.
pub struct Toss {
    /// The hash of the domain and the context, with which all other hashes begin.
    about: Word,
    me: u8,
    own: Word,
}

/// The error that fresh bytes do not match their commitment. The field is the index of the party
/// that sent them, counted without this party.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unfit(pub usize);

impl Toss {
    /// Draws this party's fresh bytes. `domain` names one use in one protocol, and `context` is
    /// what the parties agreed on before. `me` is this party's place, on which all parties agree.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn new(domain: &'static str, context: &[u8], me: u8) -> io::Result<Self> {
        let mut own = [0; 32];
        getrandom::fill(&mut own).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(Self::with(domain, context, me, own))
    }

    /// Makes a toss with fresh bytes that the caller drew. They must be uniform, secret until they
    /// are opened, and used only for this toss.
    #[must_use]
    pub fn with(domain: &'static str, context: &[u8], me: u8, own: Word) -> Self {
        Self { about: *blake3::Hasher::new_derive_key(domain).update(context).finalize().as_bytes(), me, own }
    }

    fn commit(&self, place: u8, fresh: &Word) -> Word {
        let mut hash = blake3::Hasher::new_derive_key(COMMIT);
        *hash.update(&self.about).update(&[place]).update(fresh).finalize().as_bytes()
    }

    /// The first message.
    #[must_use]
    pub fn commitment(&self) -> Word {
        self.commit(self.me, &self.own)
    }

    /// The second message. It must not be sent before all commitments have come.
    #[must_use]
    pub fn opening(&self) -> Word {
        self.own
    }

    /// Computes the name from the others' commitments and openings in the order of places.
    ///
    /// # Errors
    /// An opening does not match its commitment.
    pub fn name(self, others: &[[Word; 2]]) -> Result<Word, Unfit> {
        let places = (0..=u8::MAX).filter(|place| *place != self.me);
        for (other, (place, [commitment, opening])) in places.zip(others).enumerate() {
            if self.commit(place, opening) != *commitment {
                return Err(Unfit(other));
            }
        }
        Ok(self.hash(NAME, self.own, others.iter().map(|[_, opening]| *opening).collect()))
    }

    /// Hashes a word of every party, in the order of places.
    fn hash(&self, domain: &'static str, own: Word, others: Vec<Word>) -> Word {
        let mut words = others;
        words.insert(self.me.into(), own);
        let mut hash = blake3::Hasher::new_derive_key(domain);
        *hash.update(&self.about).update(words.as_flattened()).finalize().as_bytes()
    }

    /// Exchanges both messages over a channel to each other party, in the order of places. Returns
    /// the name.
    ///
    /// # Errors
    /// A channel failed; or [`NetError::Deviated`] if an opening does not match, or parties
    /// received different commitments.
    ///
    /// # Panics
    /// If there are fewer channels than this party's place needs (the caller's bug).
    pub fn among(self, step: &str, channels: &mut [Channel]) -> Result<Word, NetError> {
        let commitments = to_all::<1>(step, channels, [self.commitment()])?;
        let commitments: Vec<_> = commitments.into_iter().flatten().collect();
        // The opening is sent only once all commitments are here.
        let openings = if channels.len() == 1 {
            to_all::<1>(step, channels, [self.opening()])?.into_iter().flatten().collect()
        } else {
            let all = self.hash(ALL, self.commitment(), commitments.clone());
            let heard = to_all(step, channels, [all, self.opening()])?;
            if heard.iter().any(|[theirs, _]| *theirs != all) {
                // A party that sends another hash may be the one that was lied to.
                return Err(channels[0].deviated(None, step, "it told parties different commitments"));
            }
            heard.iter().map(|[_, opening]| *opening).collect::<Vec<_>>()
        };
        let others: Vec<_> = commitments.into_iter().zip(openings).map(|(c, o)| [c, o]).collect();
        self.name(&others).map_err(|Unfit(other)| channels[other].unfit(step))
    }
}

/// Sends a message to every other party, and receives one from each.
fn to_all<const N: usize>(
    step: &str,
    channels: &mut [Channel],
    own: [Word; N],
) -> Result<Vec<[Word; N]>, NetError> {
    let own = own.as_flattened();
    for channel in &mut *channels {
        channel.start(step, own)?;
    }
    let mut heard = vec![[[0; 32]; N]; channels.len()];
    for (channel, words) in channels.iter_mut().zip(&mut heard) {
        channel.finish(step, own, words.as_flattened_mut())?;
    }
    Ok(heard)
}

#[cfg(test)]
#[path = "toss_tests.rs"]
mod tests;
