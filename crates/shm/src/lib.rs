//! A byte ring in memory that two processes of one Linux host share: one writes, one reads, and neither trusts the
//! other with its own memory.
//!
//! One process makes a [`Ring`] and passes it over a connected Unix socket ([`Ring::give`], [`Ring::take`]); then one
//! has its [`Producer`] and the other its [`Consumer`]. The socket stays open on both sides and carries nothing more:
//! its end is how each learns that the other died.
//!
//! ```text
//! memory  0       128          256     384          512    640    4096                    4096 + capacity
//!         | head  | reader     | tail  | writer     | writer      | bytes; position p is at p mod capacity |
//!         |       | sleeps     |       | sleeps     | gone | reader gone
//! head    bytes ever written, stored by the producer        tail   bytes ever read, stored by the consumer
//! ```
//!
//! # Memory ordering
//! Bytes are stored before `head` is (Release) and loaded after it is (Acquire), so that the consumer sees every byte
//! below `head`. They are loaded before `tail` is stored (Release) and overwritten after it is loaded (Acquire), so
//! that the producer never overwrites a byte that is still to be read. A word at an edge holds bytes of both: only
//! the producer stores words, and it stores the other's bytes as they were.
//!
//! Sleeping is Dekker's: the sleeper stores its flag, passes a sequentially consistent fence and looks at the ring
//! again; the other moves its index, passes such a fence and looks at the flag. One of the fences is first, so either
//! the sleeper sees the index or the other sees the flag and signals the eventfd, which counts a signal that comes
//! before the sleep.
//!
//! # What a hostile process at the other end can do
//! Send any bytes, stop, or end. It can write anything into the memory at any time, so: indices are checked against
//! this side's own, which it cannot reach ([`RingError::Position`]); all access is atomic, so that racing bytes
//! are only wrong bytes; and the size is sealed before it is mapped, so that no access faults. It can make this side
//! wait, by signals too few or counters made blocking, as a process of the same user can with any other.
//!
//! On other systems this crate is empty.

#[cfg(target_os = "linux")]
mod map;
#[cfg(target_os = "linux")]
mod pass;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod side;

#[cfg(target_os = "linux")]
pub use ring::{Consumer, Producer, Ring, RingError};
