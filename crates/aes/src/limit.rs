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

/// `G` groups of `4 N` keys side by side that depend on nothing, `H` blocks under each.
struct Keyed<const G: usize, const H: usize>(u64);

impl<const G: usize, const H: usize> Kernel for Keyed<G, H> {
    type Out = Rounds;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Rounds {
        let (mut key, step) = (l.splat(&[0xa5; 16]), l.splat(&[1; 16]));
        let mut sum = l.zero();
        for _ in 0..self.0 {
            let mut keys = [[l.zero(); 4]; G];
            let mut x = [[[l.zero(); H]; 4]; G];
            for g in 0..G {
                for i in 0..4 {
                    key = l.add64(key, step);
                    keys[g][i] = key;
                    for h in 0..H {
                        // Different blocks, or a compiler would encrypt one.
                        x[g][i][h] = l.xor(key, l.splat(&[h as u8; 16]));
                    }
                }
            }
            let masks = x;
            if L::SOFT {
                // Side by side there is nothing to be had in bit slices, but a lot of code.
                for g in 0..G {
                    let mut one = [x[g]];
                    rekey::encrypt(l, &[keys[g]], &[masks[g]], &mut one);
                    [x[g]] = one;
                }
            } else {
                rekey::encrypt(l, &keys, &masks, &mut x);
            }
            for x in x.as_flattened().as_flattened() {
                sum = l.xor(sum, *x);
            }
        }
        let mut bytes = [0; 64];
        l.store(sum, &mut bytes);
        let states = bytes[..L::BYTES].chunks_exact(16).map(|b| Block(std::array::from_fn(|i| b[i])));
        Rounds { blocks: self.0 * (4 * G * H * L::N) as u64, states: states.collect() }
    }
}

impl Backend {
    /// Encrypts `H` blocks under each of some fresh keys `iterations` times over, in registers: key schedules and rounds, no
    /// memory but what registers do not hold. As many keys are side by side as are fastest: `12 N` with a block each, `8 N` with
    /// two. `H` is 1 or 2.
    #[must_use]
    pub fn keyed_rounds_only<const H: usize>(&self, iterations: u64) -> Rounds {
        if H == 1 { self.run(Keyed::<3, H>(iterations)) } else { self.run(Keyed::<2, H>(iterations)) }
    }

    /// Encrypts 12 vectors `iterations` times over, in registers: no memory, no key schedule. The limit of one core.
    #[must_use]
    pub fn rounds_only(&self, iterations: u64) -> Rounds {
        self.run(Limit(iterations))
    }
}
