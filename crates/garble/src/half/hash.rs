//! The three hashes, in batches.

use crate::{Public, Scheme};
use hushwire_aes::{Aes128, Backend};
use hushwire_block::Block;

/// SECURITY: gates that one fixed key serves.
pub(super) const GATES_PER_KEY: u64 = 1 << 20;

/// A hash of labels, numbered by gates.
pub(super) struct Hash {
    pub(super) backend: Backend,
    kind: Kind,
    public: Public,
}

enum Kind {
    /// The key of the gates from `epoch` · 2^20 on.
    Prp {
        key: Aes128,
        epoch: u64,
    },
    Mi,
    Circ,
}

/// The fixed key of an epoch: known to both, different for each session and epoch.
fn fixed_key(backend: Backend, public: Public, epoch: u64) -> Aes128 {
    let mut hasher = blake3::Hasher::new_derive_key("hushwire garble fixed key v1");
    hasher.update(&public.0.0);
    hasher.update(&epoch.to_le_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Aes128::on(backend, &key)
}

impl Hash {
    /// # Panics
    /// If the scheme is not one of half gates (the caller's bug).
    pub(super) fn new(backend: Backend, scheme: Scheme, public: Public) -> Self {
        let kind = match scheme {
            Scheme::Prp => Kind::Prp { key: fixed_key(backend, public, 0), epoch: 0 },
            Scheme::Mi => Kind::Mi,
            Scheme::Circ => Kind::Circ,
            _ => panic!("{scheme} is not half gates"),
        };
        Hash { backend, kind, public }
    }

    /// `out[2 H g + H h + i]` is the hash of `x` at that place with tweak 2 (first + g) + h: `H` labels share a tweak.
    pub(super) fn run<const H: usize>(&mut self, first: u64, x: &[Block], out: &mut [Block]) {
        let (mut at, mut gate) = (0, first);
        while at < x.len() {
            let in_epoch = GATES_PER_KEY - gate % GATES_PER_KEY;
            let n = (x.len() - at).min(2 * H * in_epoch as usize);
            let (x, out) = (&x[at..at + n], &mut out[at..at + n]);
            let tweak = u128::from(gate) * 2;
            match &mut self.kind {
                Kind::Prp { key, epoch } => {
                    if *epoch != gate / GATES_PER_KEY {
                        *epoch = gate / GATES_PER_KEY;
                        *key = fixed_key(self.backend, self.public, *epoch);
                    }
                    self.backend.prp::<H>(key, tweak, x, out);
                }
                Kind::Mi => self.backend.cr_multi_instance::<H>(self.public.0, tweak, x, out),
                Kind::Circ => match H {
                    2 => self.backend.cr_label_key::<2>(tweak, x, out),
                    _ => self.backend.cr_label_key::<1>(tweak, x, out),
                },
            }
            at += n;
            gate += in_epoch;
        }
    }
}
