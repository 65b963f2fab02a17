//! Moves bytes between the shards of one party.
//!
//! ```text
//! shard 0   to[0] to[1] to[2] ──┐        ┌── from[0] from[1] from[2]
//! shard 1   to[0] to[1] to[2] ──┼─ move ─┼── from[0] from[1] from[2]        from[t] of shard s
//! shard 2   to[0] to[1] to[2] ──┘        └── from[0] from[1] from[2]        is to[s] of shard t
//! ```
//!
//! A party with several shards consists of that many processes or threads. Each of them has a
//! session of its own with the same shard of the other two parties. Messages between the shards of
//! one party stay within the party: its shares, the stages that it holds anyway, and values that
//! were opened to it.
//!
//! **Security.** The carrier of the bytes sees a party's shares, so it must be one of the party's
//! own processes.

use hushwire_machine::NetError;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Moves bytes between the shards of one party.
pub trait Mover: Send {
    /// The number of this shard.
    fn shard(&self) -> usize;

    /// The number of shards of the party.
    fn shards(&self) -> usize;

    /// Gives `to[t]` to shard `t`, this shard included, and returns the parts that the shards gave
    /// to this one, in order. All shards call it in the same order and equally often.
    ///
    /// # Errors
    /// [`NetError::Shard`] if another shard is gone; that shard reports the cause. The run is lost:
    /// all shards of all parties begin again in new sessions.
    ///
    /// # Panics
    /// Unless there is one part for each shard (the caller's bug).
    fn exchange(&mut self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, NetError>;
}

/// The error of an exchange with a shard that is gone.
#[must_use]
pub fn gone(shard: usize) -> NetError {
    NetError::Shard { shard, step: EXCHANGE.to_owned(), cause: "it ended".into() }
}

/// The step's name in errors.
pub(crate) const EXCHANGE: &str = "an exchange between shards";

/// One shard of a party whose shards are all threads of this process.
pub struct MemoryMover {
    shard: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

/// The shards of a party in one process, for tests and for a single machine. If a shard is dropped,
/// the exchanges of all others end with an error.
///
/// # Panics
/// If there are no shards (the caller's bug).
#[must_use]
pub fn in_memory(shards: usize) -> Vec<MemoryMover> {
    assert!(shards > 0, "a party has one shard at least");
    let mut movers: Vec<_> =
        (0..shards).map(|shard| MemoryMover { shard, to: vec![], from: vec![] }).collect();
    for from in 0..shards {
        for to in 0..shards {
            let (sender, receiver) = channel();
            movers[from].to.push(sender);
            movers[to].from.push(receiver);
        }
    }
    movers
}

impl Mover for MemoryMover {
    fn shard(&self) -> usize {
        self.shard
    }

    fn shards(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, NetError> {
        assert_eq!(to.len(), self.shards(), "a part for each shard");
        for (shard, (sender, part)) in self.to.iter().zip(to).enumerate() {
            sender.send(part).map_err(|_| gone(shard))?;
        }
        let parts = self.from.iter().enumerate();
        parts.map(|(shard, receiver)| receiver.recv().map_err(|_| gone(shard))).collect()
    }
}

/// The first row of each shard's range of `rows` rows, followed by the number of rows: shard s has
/// rows ⌊rows · s / shards⌋ to ⌊rows · (s + 1) / shards⌋. AGREEMENT.
#[must_use]
pub fn ranges(rows: usize, shards: usize) -> Vec<usize> {
    (0..=shards).map(|s| (rows as u128 * s as u128 / shards as u128) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shard_hears_what_each_gave_it_in_order() {
        for shards in 1..5 {
            std::thread::scope(|scope| {
                for mut mover in in_memory(shards) {
                    scope.spawn(move || {
                        let me = mover.shard();
                        for turn in 0..50 {
                            let to = (0..shards).map(|t| vec![turn, me as u8, t as u8]).collect();
                            let from = mover.exchange(to).unwrap_or_else(|e| panic!("{e}"));
                            let expected = (0..shards).map(|t| vec![turn, t as u8, me as u8]);
                            assert!(from.into_iter().eq(expected));
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn an_exchange_with_a_shard_that_is_gone_ends_with_its_number() {
        let mut movers = in_memory(3);
        drop(movers.remove(1));
        for result in movers.iter_mut().map(|mover| mover.exchange(vec![vec![]; 3])) {
            assert!(matches!(result, Err(NetError::Shard { shard: 1, .. })));
        }
        // A shard that ends later also ends the exchange of shards that already wait for it.
        let mut movers = in_memory(2);
        let (last, mut first) = (movers.pop(), movers.remove(0));
        std::thread::scope(|scope| {
            let waits = scope.spawn(move || first.exchange(vec![vec![]; 2]));
            drop(last);
            assert!(matches!(waits.join(), Ok(Err(NetError::Shard { shard: 1, .. }))));
        });
    }

    #[test]
    fn ranges_are_equal_and_cover_all_rows() {
        assert_eq!(ranges(10, 4), [0, 2, 5, 7, 10]);
        assert_eq!(ranges(2, 3), [0, 0, 1, 2]);
        assert_eq!(ranges(0, 2), [0, 0, 0]);
        assert_eq!(ranges(usize::MAX, 2), [0, usize::MAX / 2, usize::MAX]);
    }
}
