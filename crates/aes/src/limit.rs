//! The register-only limit.

use crate::Backend;
use hushwire_block::Block;
use hushwire_simd::{Kernel, Lanes};

/// What [`Backend::rounds_only`] did.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// AES-128 blocks encrypted.
    pub blocks: u64,
    /// The last states, so that nothing is optimised away.
    pub states: Vec<Block>,
}

struct Limit(u64);

impl Kernel for Limit {
    type Out = Rounds;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Rounds {
        let keys = [l.splat(&[0xa5; 16]); 11];
        // Twelve states and a key are what sixteen registers hold.
        let mut v = [l.zero(); 12];
        for (i, v) in (0u8..).zip(&mut v) {
            *v = l.splat(&[i; 16]);
        }
        for _ in 0..self.0 {
            l.encrypt(&keys, &mut v);
        }
        let mut states = Vec::with_capacity(12 * L::N);
        for v in v {
            let mut bytes = [0; 64];
            l.store(v, &mut bytes);
            let blocks = bytes[..L::BYTES].chunks_exact(16);
            states.extend(blocks.map(|b| Block(std::array::from_fn(|i| b[i]))));
        }
        Rounds { blocks: self.0 * 12 * L::N as u64, states }
    }
}

impl Backend {
    /// Encrypts 12 vectors `iterations` times over, in registers: no memory, no key schedule. The limit of one core.
    #[must_use]
    pub fn rounds_only(&self, iterations: u64) -> Rounds {
        self.run(Limit(iterations))
    }
}
