//! The source of a compute thread's round keys.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::BoxError;

/// Expands a key inside the computation; `serial` is fresh each time.
pub(crate) trait Expander<K> {
    fn expand(&mut self, serial: u32) -> Result<K, BoxError>;
}

/// The source of a thread's round keys.
pub(crate) enum Source<K, X> {
    /// One key for all.
    One(K),
    /// A set of keys for each chunk.
    PerChunk(Vec<K>),
    /// This thread expands the key, for the others too.
    Expand(X, Vec<Sender<K>>),
    /// Another thread does.
    Await(Receiver<K>),
    /// The run has failed.
    Gone,
}

/// A source and what it gave last.
pub(crate) struct Supply<K, X> {
    source: Source<K, X>,
    now: Option<K>,
    serial: u32,
}

impl<K: Clone, X: Expander<K>> Supply<K, X> {
    pub(crate) fn new(source: Source<K, X>) -> Self {
        Self { source, now: None, serial: 0 }
    }

    /// The supplies of `threads` threads, of which the first expands.
    pub(crate) fn expanding(expander: X, threads: usize) -> Vec<Self> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (1..threads).map(|_| channel()).unzip();
        let others = receivers.into_iter().map(|receiver| Self::new(Source::Await(receiver)));
        std::iter::once(Self::new(Source::Expand(expander, senders))).chain(others).collect()
    }

    /// Begins a repetition: expands the key, or waits for it.
    pub(crate) fn begin(&mut self) -> Result<(), BoxError> {
        match &mut self.source {
            Source::One(key) => self.now = Some(key.clone()),
            Source::PerChunk(_) => {}
            Source::Expand(expander, others) => {
                let key = expander.expand(self.serial)?;
                self.serial = self.serial.checked_add(1).ok_or("more repetitions than addresses")?;
                for other in others {
                    other.send(key.clone()).map_err(|_| "another thread of this party has failed")?;
                }
                self.now = Some(key);
            }
            Source::Await(from) => {
                self.now = Some(from.recv().map_err(|_| "the thread that expands the key has failed")?);
            }
            Source::Gone => return Err("this thread has failed before".into()),
        }
        Ok(())
    }

    /// The keys of chunk `c`.
    pub(crate) fn of(&self, c: usize) -> Option<K> {
        match &self.source {
            Source::PerChunk(keys) => keys.get(c).cloned(),
            _ => self.now.clone(),
        }
    }

    /// Lets go of what other threads wait for.
    pub(crate) fn abandon(&mut self) {
        self.source = Source::Gone;
    }
}
