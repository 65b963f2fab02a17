//! One query over a channel.
//!
//! ```text
//! asker ──► count 8
//! owner ──► 0: it answers; 1: more than it answers at once; 2: more than it answers for now;
//!           then the number that it would answer, 8
//!           the whole query is charged to the owner's budget before it sends 0
//! asker ──► count × 32: blinded items
//!           if they do not arrive, the charge is given back; otherwise it stays,
//!           whatever they are
//! owner ──► count × 32: the same, times its key
//! ```

use super::{
    Item, ListKey, PublicKey,
    suite::{POINT, finalize, hash_to_group, number, point, scalar},
};
use crate::PsiError;
use curve25519_dalek::scalar::Scalar;
use hushwire_machine::Channel;
use zeroize::Zeroizing;

/// AGREEMENT: separates the digest of terms from any other use of BLAKE3.
const DOMAIN: &str = "hushwire psi oprf terms v1";

/// The terms on which asker and owner must agree: the key and the forms of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTerms {
    /// The owner's public key.
    pub public: PublicKey,
    /// The normal forms of keys.
    pub forms: String,
}

impl ListTerms {
    /// The terms' digest, for a handshake.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key(DOMAIN);
        *hash.update(&self.public).update(self.forms.as_bytes()).finalize().as_bytes()
    }
}

/// The owner's refusal of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRefusal {
    /// The query has more items than the owner answers at once, which is this number.
    AtOnce(u64),
    /// The query has more items than the owner still answers for now, which is this number.
    ForNow(u64),
}

/// Asks for the values of items.
///
/// # Errors
/// If the owner sends a malformed point, or the channel failed.
pub fn ask(channel: &mut Channel, items: &[Item]) -> Result<Result<Vec<u128>, ListRefusal>, PsiError> {
    channel.send("items asked", &(items.len() as u64).to_le_bytes())?;
    let mut verdict = [0; 9];
    channel.recv("verdict", &mut verdict)?;
    let most = verdict[1..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    match verdict[0] {
        0 => {}
        1 => return Ok(Err(ListRefusal::AtOnce(most))),
        2 => return Ok(Err(ListRefusal::ForNow(most))),
        _ => return Err(malformed(channel, "verdict", "neither 0, 1 nor 2")),
    }
    let mut blinds: Zeroizing<Vec<Scalar>> = Zeroizing::new(Vec::with_capacity(items.len()));
    let mut message = Vec::with_capacity(POINT * items.len());
    for item in items {
        let blind = scalar()?;
        message.extend((hash_to_group(item) * blind).compress().to_bytes());
        blinds.push(blind);
    }
    channel.send("blinded items", &message)?;
    channel.recv("evaluated items", &mut message)?;
    let mut values = Vec::with_capacity(items.len());
    for ((item, blind), bytes) in items.iter().zip(blinds.iter()).zip(message.as_chunks().0) {
        let Some(point) = point(bytes) else {
            return Err(malformed(channel, "evaluated items", "what is no point of the group"));
        };
        values.push(number(&finalize(item, &(point * blind.invert()).compress())));
    }
    Ok(Ok(values))
}

/// The number of items that an owner will still answer. Queries that are answered at the same time
/// share one budget.
pub trait Budget {
    /// Charges a query of `count` items to the budget.
    ///
    /// # Errors
    /// If fewer items are left; the error is their number.
    fn take(&self, count: u64) -> Result<(), u64>;

    /// Gives back the charge of a query whose items never arrived.
    fn give_back(&self, count: u64);
}

/// Answers one query of up to `at_once` items, if the budget allows as many. Returns the number of
/// items queried, or the refusal.
///
/// The query is charged to the budget before the asker is told that it is answered, so that
/// simultaneous queries never exceed the budget. The charge stays once the blinded items have
/// arrived. So the owner does no work without a charge, even if the items are malformed or the
/// asker leaves with a part of the answer.
///
/// # Errors
/// If the asker sends a malformed point, or the channel failed.
pub fn answer(
    channel: &mut Channel,
    key: &ListKey,
    at_once: u64,
    budget: &impl Budget,
) -> Result<Result<u64, ListRefusal>, PsiError> {
    let mut count = [0; 8];
    channel.recv("items asked", &mut count)?;
    let count = u64::from_le_bytes(count);
    let taken = if count > at_once {
        Err((1, ListRefusal::AtOnce(at_once), at_once))
    } else {
        budget.take(count).map_err(|left| (2, ListRefusal::ForNow(left), left))
    };
    let mut verdict = [0; 9];
    if let Err((code, refusal, most)) = taken {
        verdict[0] = code;
        verdict[1..].copy_from_slice(&most.to_le_bytes());
        channel.send("verdict", &verdict)?;
        return Ok(Err(refusal));
    }
    let mut message = vec![0; POINT * count as usize];
    let came = channel.send("verdict", &verdict).and_then(|()| channel.recv("blinded items", &mut message));
    if let Err(e) = came {
        budget.give_back(count);
        return Err(e.into());
    }
    for bytes in message.as_chunks_mut().0 {
        let Some(point) = point(bytes) else {
            return Err(malformed(channel, "blinded items", "what is no point of the group"));
        };
        *bytes = (point * key.0).compress().to_bytes();
    }
    channel.send("evaluated items", &message)?;
    Ok(Ok(count))
}

fn malformed(channel: &Channel, message: &'static str, what: &'static str) -> PsiError {
    PsiError::Malformed { peer: channel.from(), message, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_machine::{PartyId, inproc};
    use std::{
        sync::{Arc, Mutex},
        thread,
        time::Duration,
    };

    fn channels() -> [Channel; 2] {
        let ids = [PartyId(0), PartyId(1)];
        let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
        [0, 1].map(|me: usize| nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("new"))
    }

    /// The number of remaining items.
    struct Left(Mutex<u64>);

    impl Left {
        fn new(items: u64) -> Arc<Self> {
            Arc::new(Self(Mutex::new(items)))
        }

        fn now(&self) -> u64 {
            *self.0.lock().expect("nobody panics")
        }
    }

    impl Budget for Arc<Left> {
        fn take(&self, count: u64) -> Result<(), u64> {
            let mut left = self.0.lock().expect("nobody panics");
            *left = left.checked_sub(count).ok_or(*left)?;
            Ok(())
        }

        fn give_back(&self, count: u64) {
            *self.0.lock().expect("nobody panics") += count;
        }
    }

    #[test]
    fn what_is_asked_is_what_the_owner_evaluates() {
        let key = ListKey::draw().expect("random bytes");
        let items: Vec<Item> = (0..9u8).map(|i| super::super::digest(&[i])).collect();
        for count in [0, 1, 9] {
            let [mut asker, mut owner] = channels();
            let (theirs, left) = (key.clone(), Left::new(9));
            let budget = left.clone();
            let answered = thread::spawn(move || answer(&mut owner, &theirs, 9, &budget));
            let values = ask(&mut asker, &items[..count]).expect("an honest owner").expect("few items");
            assert_eq!(values, key.values(&items[..count]));
            assert_eq!(answered.join().expect("it ends").expect("an honest asker"), Ok(count as u64));
            assert_eq!(left.now(), 9 - count as u64);
        }
    }

    #[test]
    fn limits_are_told() {
        let items = [[1; 32]; 5];
        for (at_once, for_now, refusal) in [(4, 9, ListRefusal::AtOnce(4)), (5, 2, ListRefusal::ForNow(2))] {
            let [mut asker, mut owner] = channels();
            let left = Left::new(for_now);
            let budget = left.clone();
            let answered = thread::spawn(move || answer(&mut owner, &ListKey::draw()?, at_once, &budget));
            assert_eq!(ask(&mut asker, &items).expect("a verdict"), Err(refusal));
            assert_eq!(answered.join().expect("it ends").expect("a verdict"), Err(refusal));
            assert_eq!(left.now(), for_now, "nothing is answered");
        }
    }

    /// Simultaneous queries: they are charged before their items arrive, and the charge is given
    /// back if the items never arrive.
    #[test]
    fn queries_at_the_same_time_share_the_budget() {
        let left = Left::new(8);
        let open = || {
            let [asker, mut owner] = channels();
            let budget = left.clone();
            (asker, thread::spawn(move || answer(&mut owner, &ListKey::draw()?, 9, &budget)))
        };
        let verdict = |asker: &mut Channel, count: u64| {
            asker.send("items asked", &count.to_le_bytes()).expect("it goes");
            let mut verdict = [0; 9];
            asker.recv("verdict", &mut verdict).expect("it comes");
            (verdict[0], verdict[1])
        };
        let (mut slow, of_slow) = open();
        assert_eq!(verdict(&mut slow, 5), (0, 0));
        let (mut other, of_other) = open();
        assert_eq!(verdict(&mut other, 4), (2, 3), "5 of 8 are taken");
        assert_eq!(of_other.join().expect("it ends").expect("a verdict"), Err(ListRefusal::ForNow(3)));
        drop(slow);
        assert!(of_slow.join().expect("it ends").is_err());
        assert_eq!(left.now(), 8, "nobody asked for them");
        // Many queries at once: only as many are answered as the budget allows.
        let all: Vec<_> = (0..10u8).map(|i| (i, open())).collect();
        let asked: Vec<_> = all
            .into_iter()
            .map(|(i, (mut asker, owner))| {
                (thread::spawn(move || ask(&mut asker, &[[i; 32]; 3]).expect("a verdict").is_ok()), owner)
            })
            .collect();
        let answered = asked.into_iter().map(|(asker, owner)| {
            let is_answered = asker.join().expect("it ends");
            assert_eq!(owner.join().expect("it ends").expect("a verdict").is_ok(), is_answered);
            is_answered
        });
        assert_eq!(answered.filter(|is_answered| *is_answered).count(), 2);
        assert_eq!(left.now(), 2);
    }

    /// Each message of either party is changed, and the other party names it. An element of small
    /// order, or with another encoding, would reveal something about the key.
    #[test]
    fn what_is_no_point_ends_the_query() {
        for bad in [[0; 32], [0xff; 32]] {
            let [mut asker, mut owner] = channels();
            let left = Left::new(9);
            let budget = left.clone();
            let answered = thread::spawn(move || answer(&mut owner, &ListKey::draw()?, 9, &budget).map(drop));
            asker.send("items asked", &4u64.to_le_bytes()).expect("it goes");
            asker.recv("verdict", &mut [0; 9]).expect("it comes");
            // The owner does the work for the first three.
            let good = hash_to_group(&[1; 32]).compress().to_bytes();
            asker.send("blinded items", &[good, good, good, bad].concat()).expect("it goes");
            let error = answered.join().expect("it ends").expect_err("no point");
            assert!(matches!(error, PsiError::Malformed { message: "blinded items", .. }), "{error}");
            assert_eq!(left.now(), 5, "its work is charged");

            let [mut asker, mut owner] = channels();
            let owner = thread::spawn(move || {
                owner.recv("items asked", &mut [0; 8]).expect("it comes");
                owner.send("verdict", &[0; 9]).expect("it goes");
                owner.recv("blinded items", &mut [0; 32]).expect("it comes");
                owner.send("evaluated items", &bad).expect("it goes");
            });
            let error = ask(&mut asker, &[[3; 32]]).expect_err("no point");
            assert!(matches!(error, PsiError::Malformed { message: "evaluated items", .. }), "{error}");
            owner.join().expect("it ends");
        }
        let [mut asker, mut owner] = channels();
        let owner = thread::spawn(move || {
            owner.recv("items asked", &mut [0; 8]).expect("it comes");
            owner.send("verdict", &[3; 9]).expect("it goes");
        });
        let error = ask(&mut asker, &[[3; 32]]).expect_err("no verdict");
        assert!(matches!(error, PsiError::Malformed { message: "verdict", .. }), "{error}");
        owner.join().expect("it ends");
    }

    /// The owner sees a new point each time for the same item, even within a query.
    #[test]
    fn what_is_asked_says_nothing_of_the_item() {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..4 {
            let [mut asker, mut owner] = channels();
            let asking = thread::spawn(move || ask(&mut asker, &[[7; 32]; 3]));
            owner.recv("items asked", &mut [0; 8]).expect("it comes");
            owner.send("verdict", &[0; 9]).expect("it goes");
            let mut blinded = [[0; 32]; 3];
            owner.recv("blinded items", blinded.as_flattened_mut()).expect("it comes");
            for point in blinded {
                assert!(seen.insert(point) && point != hash_to_group(&[7; 32]).compress().to_bytes());
            }
            drop(owner);
            assert!(asking.join().expect("it ends").is_err());
        }
    }
}
