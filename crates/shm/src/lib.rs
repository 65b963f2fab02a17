//! A byte ring in memory that two processes of one Linux host share. One writes, the other reads,
//! and neither trusts the other with its own memory.
//!
//! One process makes a [`Ring`] and passes it over a connected Unix socket ([`Ring::give`],
//! [`Ring::take`]). One process then has its [`Producer`] and the other its [`Consumer`]. The
//! socket stays open at both ends and carries no more bytes: when it closes, each process learns
//! that the other died.
//!
//! ```text
//! memory  0      128      256    384      512      640      4096                4096 + capacity
//!         | head | reader | tail | writer | writer | reader | bytes; position p is at
//!         |      | sleeps |      | sleeps | gone   | gone   | p mod capacity
//! head    bytes ever written, stored by the producer
//! tail    bytes ever read, stored by the consumer
//! ```
//!
//! # Memory ordering
//! Bytes are stored before `head` (Release) and loaded after it (Acquire), so that the consumer
//! sees every byte below `head`. Bytes are loaded before `tail` is stored (Release) and overwritten
//! after it is loaded (Acquire), so that the producer never overwrites an unread byte. A word at an
//! edge may hold bytes that belong to either end. Only the producer stores words, and it leaves the
//! other bytes unchanged.
//!
//! Sleeping follows Dekker's algorithm. The sleeper stores its flag, passes a sequentially
//! consistent fence and checks the ring again. The other end moves its index, passes such a fence
//! and checks the flag. One of the fences is first. So either the sleeper sees the index, or the
//! other end sees the flag and signals the eventfd. The eventfd keeps a signal that comes before
//! the sleep.
//!
//! # Security: a hostile process at the other end
//! It can send any bytes, stop, or end, and it can write anything into the memory at any time.
//! Therefore each end checks indices against its own copy, which the other process cannot reach
//! ([`RingError::Position`]). All access is atomic, so that racing bytes are only wrong bytes. The
//! size is sealed before the memory is mapped, so that no access faults. The other process can make
//! this one wait, by missing signals or by making the counters blocking. Any process of the same
//! user can do that in other ways.
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
