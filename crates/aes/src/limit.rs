//! The register-only limit.

use crate::{Backend, rekey};
use hushwire_block::Block;
use hushwire_simd::{Kernel, Lanes};

/// The work of one call of [`Backend::rounds_only`].
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

/// Groups of `4 N` keys that depend on nothing, `H` blocks under each.
struct Keyed<const H: usize>(u64);

impl<const H: usize> Kernel for Keyed<H> {
    type Out = Rounds;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Rounds {
        let (mut key, step) = (l.splat(&[0xa5; 16]), l.splat(&[1; 16]));
        let mut sum = l.zero();
        for _ in 0..self.0 {
            let mut keys = [l.zero(); 4];
            let mut x = [[l.zero(); H]; 4];
            for i in 0..4 {
                key = l.add64(key, step);
                keys[i] = key;
                for h in 0..H {
                    // Different blocks, or a compiler would encrypt one.
                    x[i][h] = l.xor(key, l.splat(&[h as u8; 16]));
                }
            }
            let masks = x;
            rekey::encrypt(l, keys, &masks, &mut x);
            for i in 0..4 {
                for h in 0..H {
                    sum = l.xor(sum, x[i][h]);
                }
            }
        }
        let mut bytes = [0; 64];
        l.store(sum, &mut bytes);
        let states = bytes[..L::BYTES].chunks_exact(16).map(|b| Block(std::array::from_fn(|i| b[i])));
        Rounds { blocks: self.0 * (4 * H * L::N) as u64, states: states.collect() }
    }
}

impl Backend {
    /// Encrypts `H` blocks under each of `4 N` fresh keys `iterations` times over, in registers: key schedules and rounds,
    /// no memory. `H` is 1 or 2.
    #[must_use]
    pub fn keyed_rounds_only<const H: usize>(&self, iterations: u64) -> Rounds {
        self.run(Keyed::<H>(iterations))
    }

    /// Encrypts 12 vectors `iterations` times over, in registers: no memory, no key schedule. The limit of one core.
    #[must_use]
    pub fn rounds_only(&self, iterations: u64) -> Rounds {
        self.run(Limit(iterations))
    }
}
