//! The chunks of one thread at a party: a keystream share each, to which this party's share of the data is added.

use super::{
    cut::Terms,
    keystream::{Batch, Engine, Spare},
    wire::plain_share,
};
use crate::{
    JobError,
    flow::{COMPUTE, Failed},
    member_config::{Event, Observer},
};
use hushwire_prg::Seed;
use hushwire_rep3::Session;
use hushwire_wire::{Channel, drive::Work};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Everything that the threads of a party have in common.
pub(super) struct Shared {
    session: Session,
    terms: Terms,
    engine: Engine,
    seed: Seed,
    /// A thread failed.
    stop: AtomicBool,
    /// Bytes that are done, on all threads.
    done: AtomicU64,
    observer: Observer,
}

impl Shared {
    pub(super) fn new(
        session: Session,
        terms: Terms,
        engine: Engine,
        seed: Seed,
        observer: Observer,
    ) -> Self {
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { session, terms, engine, seed, stop, done, observer }
    }

    /// Lets the other threads end at their next chunk.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// One thread.
pub(super) struct Stream {
    pub(super) shared: Arc<Shared>,
    pub(super) client: Channel,
    /// The next chunk to begin, and the next to end.
    begin: u32,
    end: u32,
    spare: Spare,
    /// The result under way to the owner, and the one being made.
    out: Vec<u8>,
    next: Vec<u8>,
}

impl Stream {
    pub(super) fn new(shared: Arc<Shared>, client: Channel, thread: u16) -> Self {
        let (begin, end) = (u32::from(thread), u32::from(thread));
        Self { shared, client, begin, end, spare: Spare::default(), out: vec![], next: vec![] }
    }

    /// Sends the rest of the last result.
    pub(super) fn flush(&mut self) -> Result<(), Failed> {
        let sent = std::mem::take(&mut self.out);
        if !sent.is_empty() {
            self.client.finish("result", &sent, &mut [])?;
        }
        Ok(())
    }
}

impl Work<Batch> for Stream {
    type Error = Failed;

    fn next(&mut self) -> Result<Option<Batch>, Failed> {
        let Shared { session, terms, engine, stop, .. } = &*self.shared;
        let (c, threads) = (self.begin, u32::from(terms.cut.threads));
        if c >= terms.chunks() {
            return Ok(None);
        }
        if stop.load(Ordering::SeqCst) {
            let mut error = JobError::internal(COMPUTE, "another thread failed");
            error.consequence = true;
            return Err(Failed::Job(error));
        }
        self.begin += threads;
        let number = (c / threads) as usize;
        engine.begin(session, terms, c, number, &mut self.spare).map(Some).map_err(Failed::Job)
    }

    fn done(&mut self, batch: Batch) -> Result<(), Failed> {
        let Shared { session, terms, seed, done, observer, .. } = &*self.shared;
        let c = self.end;
        self.end += u32::from(terms.cut.threads);
        self.next.resize(terms.bytes_of(c), 0);
        let explicit = Terms::explicit(c) == session.role().index();
        let into = if explicit { &mut self.next[..] } else { &mut [] };
        // The result before goes out while this one's data comes in.
        if explicit || !self.out.is_empty() {
            self.client.finish("data and result", &self.out, into)?;
        }
        if !explicit {
            plain_share(session.backend(), seed, c, &mut self.next);
        }
        batch.add_to(&mut self.next, &mut self.spare).map_err(Failed::Job)?;
        std::mem::swap(&mut self.out, &mut self.next);
        self.client.start("result", &self.out)?;
        let bytes = terms.bytes_of(c) as u64;
        let done = done.fetch_add(bytes, Ordering::SeqCst) + bytes;
        observer(Event::Progress(done, terms.bytes));
        Ok(())
    }
}
