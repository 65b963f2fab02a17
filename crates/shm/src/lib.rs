//! A byte ring in memory that two processes of one Linux host share. One writes, one reads, and
//! neither trusts the other with its own memory.
//!
//! One process makes a [`Ring`] and passes it over a connected Unix socket ([`Ring::give`],
//! [`Ring::take`]); then one process has its [`Producer`] and the other its [`Consumer`]. The
//! socket stays open on both sides and carries nothing more: when it ends, each side learns that
//! the other died.
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
//! edge holds bytes of both sides: only the producer stores words, and it leaves the other side's
//! bytes unchanged.
//!
//! Sleeping follows Dekker. The sleeper stores its flag, passes a sequentially consistent fence and
//! looks at the ring again; the other side moves its index, passes such a fence and looks at the
//! flag. One of the fences is first. So either the sleeper sees the index, or the other side sees
//! the flag and signals the eventfd, which keeps a signal that comes before the sleep.
//!
//! # Security: a hostile process at the other end
//! It can send any bytes, stop, or end, and it can write anything into the memory at any time.
//! Therefore indices are checked against this side's own, which it cannot reach
//! ([`RingError::Position`]); all access is atomic, so that racing bytes are only wrong bytes; and
//! the size is sealed before it is mapped, so that no access faults. It can make this side wait, by
//! missing signals or by counters that it makes blocking, as a process of the same user can with
//! any process.
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
