//! One party's chunks of a thread, and the source of their round keys.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, channel},
};

use hushwire_rep3::{AesBlocks, ExpandedKeys, KeyExpansion, KeySize, Rep3Party, Sbox, Shares, Workspace};

use super::{
    deal::{RoundKeys, counter},
    grid::ChunkCut,
};
use crate::{
    BoxError,
    three::{self, Either},
};

/// A thread's chunks of one party.
pub(super) struct AesRuns {
    party: Rep3Party,
    sbox: Sbox,
    cut: ChunkCut,
    thread: usize,
    source: KeySource,
    /// The keys of this repetition, unless every chunk has its own.
    keys: Option<Arc<ExpandedKeys>>,
    /// The chunks of this repetition that have begun, and the bytes of the result that are present.
    begun: usize,
    filled: usize,
    own: Vec<u8>,
    spare: Vec<Workspace>,
}

/// The source of a thread's round keys.
enum KeySource {
    /// One key for all.
    One(Arc<ExpandedKeys>),
    /// A set of keys for each chunk.
    PerChunk(Vec<Arc<ExpandedKeys>>),
    /// This thread expands the key, also for the others.
    Expand(Shares, Vec<Sender<Arc<ExpandedKeys>>>),
    /// Another thread expands the key.
    Await(Receiver<Arc<ExpandedKeys>>),
    /// The run has failed.
    Gone,
}

impl AesRuns {
    /// The parts of all threads of a party.
    pub(super) fn all(
        party: Rep3Party,
        sbox: Sbox,
        cut: &ChunkCut,
        keys: &RoundKeys,
    ) -> Result<Vec<Self>, BoxError> {
        let sources: Vec<KeySource> = match keys {
            RoundKeys::One(key) => (0..cut.threads).map(|_| KeySource::One(key.clone())).collect(),
            RoundKeys::PerChunk(keys) => {
                (0..cut.threads).map(|_| KeySource::PerChunk(keys.clone())).collect()
            }
            RoundKeys::Expand(key) => {
                let (senders, receivers): (Vec<_>, Vec<_>) = (1..cut.threads).map(|_| channel()).unzip();
                let first = KeySource::Expand(key.clone(), senders);
                std::iter::once(first).chain(receivers.into_iter().map(KeySource::Await)).collect()
            }
        };
        let part = |(thread, (source, party))| -> Result<Self, BoxError> {
            Ok(Self {
                party,
                sbox,
                cut: *cut,
                thread,
                source,
                keys: None,
                begun: 0,
                filled: 0,
                own: vec![0; cut.of_thread(thread).map(|c| 16 * cut.range(c).len()).sum()],
                spare: Vec::new(),
            })
        };
        let parties = party.split(u32::try_from(cut.threads)?);
        sources.into_iter().zip(parties).enumerate().map(part).collect()
    }

    /// Copies the last repetition's shares to their place in each party's whole result.
    pub(super) fn collect(&self, own: &mut [Vec<u8>; 3]) {
        let (whole, mut from) = (&mut own[self.party.role().index()], &self.own[..]);
        for c in self.cut.of_thread(self.thread) {
            let range = self.cut.range(c);
            let (chunk, rest) = from.split_at(16 * range.len());
            whole[16 * range.start..16 * range.end].copy_from_slice(chunk);
            from = rest;
        }
    }
}

impl three::PartyRuns for AesRuns {
    type PartySteps = Either<KeyExpansion, AesBlocks>;

    /// Expands the key, or waits for it.
    fn begin(&mut self) -> Result<Option<Self::PartySteps>, BoxError> {
        (self.begun, self.filled) = (0, 0);
        match &self.source {
            KeySource::One(key) => self.keys = Some(key.clone()),
            KeySource::PerChunk(_) => {}
            KeySource::Expand(key, _) => {
                let (cx, ws) = (self.party.next_batch()?.context(), Workspace::default());
                let run = KeyExpansion::new(KeySize::Aes128, self.sbox, cx, key, ws)?;
                return Ok(Some(Either::A(run)));
            }
            KeySource::Await(from) => {
                self.keys = Some(from.recv().map_err(|_| "the thread that expands the key has failed")?);
            }
            KeySource::Gone => return Err("this thread has failed before".into()),
        }
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<Self::PartySteps>, BoxError> {
        let c = self.thread + self.begun * self.cut.threads;
        if c >= self.cut.chunks() {
            return Ok(None);
        }
        let keys = match &self.source {
            KeySource::PerChunk(keys) => keys.get(c),
            _ => self.keys.as_ref(),
        };
        let keys = keys.ok_or("a chunk has no keys")?.clone();
        let (cx, range) = (self.party.next_batch()?.context(), self.cut.range(c));
        self.begun += 1;
        let ws = self.spare.pop().unwrap_or_default();
        let (first, blocks) = (counter(range.start), range.len());
        Ok(Some(Either::B(AesBlocks::counter(self.sbox, cx, keys, first, blocks, ws))))
    }

    fn done(&mut self, run: Self::PartySteps) -> Result<(), BoxError> {
        match run {
            Either::A(expansion) => {
                let keys = Arc::new(expansion.into_keys().0);
                if let KeySource::Expand(_, others) = &self.source {
                    for other in others {
                        other.send(keys.clone()).map_err(|_| "another thread of this party has failed")?;
                    }
                }
                self.keys = Some(keys);
            }
            Either::B(run) => {
                let own = run.own();
                self.own[self.filled..][..own.len()].copy_from_slice(own);
                self.filled += own.len();
                self.spare.push(run.into_workspace());
            }
        }
        Ok(())
    }

    fn abandon(&mut self) {
        self.source = KeySource::Gone;
    }
}
