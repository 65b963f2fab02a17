//! Triples that wait for their ANDs.

use hushwire_ot::BitTriples;
use zeroize::Zeroize;

/// One party's triples, handed out in whole bytes in the order of their making.
#[derive(Default)]
pub struct Stock {
    made: Option<BitTriples>,
    /// Bytes of each share that are handed out.
    used: usize,
}

/// Shares of a, b and c for the ANDs of one message; as many bytes each.
pub(crate) struct Taken<'a> {
    pub(crate) a: &'a [u8],
    pub(crate) b: &'a [u8],
    pub(crate) c: &'a [u8],
}

impl Stock {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of each share that are left: eight triples each.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.made.as_ref().map_or(0, |made| made.c.len() - self.used)
    }

    /// Adds triples behind those that are left. Bits past the last triple of a call serve as no
    /// triple: ask for whole bytes of them.
    pub fn add(&mut self, new: BitTriples) {
        // Into fresh memory, for what a growing vector leaves behind is not wiped.
        let made = match &self.made {
            Some(old) if self.bytes() > 0 => {
                let join = |old: &[u8], new: &[u8]| [&old[self.used..], new].concat();
                BitTriples { a: join(&old.a, &new.a), b: join(&old.b, &new.b), c: join(&old.c, &new.c) }
            }
            _ => new,
        };
        (self.made, self.used) = (Some(made), 0);
    }

    /// The next `bytes` of each share.
    ///
    /// # Panics
    /// If there are not as many (the caller's bug).
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

/// Makes `bytes` exactly `len` long; what grows out of its memory is wiped first.
pub(crate) fn resize(bytes: &mut Vec<u8>, len: usize) {
    if len > bytes.capacity() {
        bytes.zeroize();
        *bytes = vec![0; len];
    } else {
        bytes.resize(len, 0);
    }
}
