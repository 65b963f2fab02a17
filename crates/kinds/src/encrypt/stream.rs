//! The chunks of one thread at a party. For each chunk the party computes a share of the keystream,
//! and adds it to its share of the data. One party receives its share of the data from the owner;
//! the other two expand theirs from seeds. The sum goes back to the owner while the next chunk
//! comes in.

use super::{
    cut::AesCtrTerms,
    keystream::{Batch, Engine, Spare},
    wire::plain_share,
};
use hushwire_machine::{Channel, drive::Work};
use hushwire_prg::Seed;
use hushwire_rep3::Rep3Party;
use hushwire_session::{
    Fault,
    threads::{COMPUTE, Failed, Progress},
};
use std::sync::Arc;

/// The state that all threads of a party have in common.
pub(super) struct Shared {
    pub(super) terms: AesCtrTerms,
    pub(super) engine: Engine,
    pub(super) seed: Seed,
    /// The progress of all threads, in bytes.
    pub(super) progress: Progress,
}

/// One thread.
pub(super) struct Stream {
    pub(super) shared: Arc<Shared>,
    /// Batch `i` of this party is the thread's `i`th chunk.
    party: Rep3Party,
    pub(super) client: Channel,
    /// The next chunk to begin, and the next to end.
    begin: u32,
    end: u32,
    spare: Spare,
    /// The result that is being sent to the owner, and the next one.
    out: Vec<u8>,
    next: Vec<u8>,
}

impl Stream {
    pub(super) fn new(shared: Arc<Shared>, party: Rep3Party, client: Channel, thread: u16) -> Self {
        let (begin, end) = (u32::from(thread), u32::from(thread));
        Self { shared, party, client, begin, end, spare: Spare::default(), out: vec![], next: vec![] }
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
        let Shared { terms, engine, progress, .. } = &*self.shared;
        let (c, threads) = (self.begin, u32::from(terms.cut.threads));
        if c >= terms.chunks() {
            return Ok(None);
        }
        progress.go_on()?;
        self.begin += threads;
        let number = (c / threads) as usize;
        let mut batch = self.party.next_batch().map_err(|e| Fault::internal(COMPUTE, e))?;
        Ok(Some(engine.begin(batch.context(), terms, c, number, &mut self.spare)?))
    }

    fn done(&mut self, batch: Batch) -> Result<(), Failed> {
        let Shared { terms, seed, progress, .. } = &*self.shared;
        let c = self.end;
        self.end += u32::from(terms.cut.threads);
        self.next.resize(terms.bytes_of(c), 0);
        let explicit = AesCtrTerms::explicit(c) == self.party.role().index();
        let into = if explicit { &mut self.next[..] } else { &mut [] };
        // The previous result goes out while the data of this chunk come in.
        if explicit || !self.out.is_empty() {
            self.client.finish("data and result", &self.out, into)?;
        }
        if !explicit {
            plain_share(self.party.backend(), seed, c, &mut self.next);
        }
        batch.add_to(&mut self.next, &mut self.spare)?;
        std::mem::swap(&mut self.out, &mut self.next);
        self.client.start("result", &self.out)?;
        progress.add(terms.bytes_of(c) as u64);
        Ok(())
    }
}
