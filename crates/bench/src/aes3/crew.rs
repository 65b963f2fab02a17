//! The compute threads of all parties, started and timed together.

use std::{sync::Arc, time::Duration};

use hushwire_aes::Backend;
use hushwire_rep3::{ExpandedKeys, KeyExpansion, KeySize, Sbox, Session, Shares, Workspace};
use hushwire_wire::Meter;

use super::{
    deal::Deal,
    grid::{Cut, Point},
    party::parties,
    world::worlds,
};
use crate::{
    BoxError,
    crew::{self, Worker},
    net::Transport,
};

/// Encrypts its part of the batch again and again.
pub(crate) trait Encrypts: Worker {
    /// Copies the last repetition's shares to their place in each party's whole result.
    fn collect(&self, own: &mut [Vec<u8>; 3]);
}

/// The compute threads of all parties.
pub(crate) struct Crew {
    workers: Vec<Box<dyn Encrypts>>,
    blocks: usize,
}

impl Crew {
    /// Connects the parties, draws their keys and hands out the round keys: all that is not timed.
    ///
    /// `meters` count what each party sends for products.
    pub(crate) fn new(
        backend: Backend,
        point: &Point,
        cut: &Cut,
        deal: &Deal,
        meters: Option<&[Meter; 3]>,
    ) -> Result<Self, BoxError> {
        let workers = match point.transport {
            Transport::Inproc => worlds(backend, point.sbox, cut, deal)?,
            _ => parties(backend, point, cut, deal, meters)?,
        };
        Ok(Self { workers, blocks: cut.blocks })
    }

    /// `n` repetitions, from the first thread's start to the last one's end.
    pub(crate) fn time(&mut self, n: u64) -> Result<Duration, BoxError> {
        crew::time(&mut self.workers, n)
    }

    /// Each party's shares of the last repetition's result.
    pub(crate) fn results(&self) -> [Vec<u8>; 3] {
        let mut own = [(); 3].map(|()| vec![0; 16 * self.blocks]);
        self.workers.iter().for_each(|worker| worker.collect(&mut own));
        own
    }
}

/// A fresh place in the zero-shares for every chunk of a thread.
pub(super) struct Serial {
    thread: u32,
    next: u32,
}

impl Serial {
    pub(super) fn new(thread: usize) -> Result<Self, BoxError> {
        Ok(Self { thread: u32::try_from(thread)?, next: 0 })
    }

    pub(super) fn take(&mut self) -> (u32, u32) {
        let address = (self.next, self.thread);
        self.next = self.next.checked_add(1).expect("a benchmark ends before 2^32 chunks");
        address
    }
}

/// The lane of the zero-shares of key expansions; threads count from 0.
const KEY_ADDRESS: u32 = u32::MAX;

/// A run that expands one key.
pub(super) fn expansion(
    session: &Session,
    sbox: Sbox,
    key: &Shares,
    serial: u32,
) -> Result<KeyExpansion, BoxError> {
    let cx = session.context(serial, KEY_ADDRESS);
    Ok(KeyExpansion::new(session.role(), KeySize::Aes128, sbox, cx, key, Workspace::default())?)
}

/// One party's round keys, for all its threads.
pub(super) type Shared = Arc<ExpandedKeys>;

/// Bytes of the chunks of a thread.
pub(super) fn bytes_of(cut: &Cut, thread: usize) -> usize {
    cut.of_thread(thread).map(|c| 16 * cut.range(c).len()).sum()
}

/// A thread's chunks, to their places in the whole.
pub(super) fn scatter(cut: &Cut, thread: usize, mut from: &[u8], whole: &mut [u8]) {
    for c in cut.of_thread(thread) {
        let range = cut.range(c);
        let (chunk, rest) = from.split_at(16 * range.len());
        whole[16 * range.start..16 * range.end].copy_from_slice(chunk);
        from = rest;
    }
}
