//! Triples that wait for their ANDs. Each triple serves one AND of one instance.

use hushwire_ot::BitTriples;
use zeroize::Zeroize;

/// One party's triples, which are taken in whole bytes in the order in which they were made.
#[derive(Default)]
pub struct Stock {
    made: Option<BitTriples>,
    /// The number of bytes of each share that were taken.
    used: usize,
}

/// Shares of a, b and c for the ANDs of one message, with equally many bytes.
pub(crate) struct Taken<'a> {
    pub(crate) a: &'a [u8],
    pub(crate) b: &'a [u8],
    pub(crate) c: &'a [u8],
}

impl Stock {
    /// An empty stock.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of bytes of each share that are left; a byte has eight triples.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.made.as_ref().map_or(0, |made| made.c.len() - self.used)
    }

    /// Adds triples after the remaining ones. Bits past the last triple of a call are not usable
    /// triples, so that calls should make whole bytes.
    pub fn add(&mut self, new: BitTriples) {
        // The triples are copied into fresh memory, because a vector that grows leaves copies
        // behind unwiped.
        let made = match &self.made {
            Some(old) if self.bytes() > 0 => {
                let join = |old: &[u8], new: &[u8]| [&old[self.used..], new].concat();
                BitTriples { a: join(&old.a, &new.a), b: join(&old.b, &new.b), c: join(&old.c, &new.c) }
            }
            _ => new,
        };
        (self.made, self.used) = (Some(made), 0);
    }

    /// Takes the next `bytes` bytes of each share.
    ///
    /// # Panics
    /// If fewer are left (the caller's bug).
    pub(crate) fn take(&mut self, bytes: usize) -> Taken<'_> {
        assert!(bytes <= self.bytes(), "{bytes} bytes of triples are needed, and there are {}", self.bytes());
        let range = self.used..self.used + bytes;
        self.used += bytes;
        match &self.made {
            Some(made) => Taken { a: &made.a[range.clone()], b: &made.b[range.clone()], c: &made.c[range] },
            None => Taken { a: &[], b: &[], c: &[] },
        }
    }
}

/// Makes `bytes` exactly `len` long; memory that it outgrows is wiped first.
pub(crate) fn resize(bytes: &mut Vec<u8>, len: usize) {
    if len > bytes.capacity() {
        bytes.zeroize();
        *bytes = vec![0; len];
    } else {
        bytes.resize(len, 0);
    }
}
