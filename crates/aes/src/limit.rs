//! The register-only limit: AES without memory traffic.

use crate::{Backend, rekey};
use hushwire_block::Block;
use hushwire_simd::{Kernel, Lanes};

/// The work of one call of [`Backend::rounds_only`].
#[derive(Clone, Debug)]
pub struct Rounds {
    /// AES-128 blocks encrypted.
    pub blocks: u64,
    /// The last states, so that the compiler cannot drop the work.
    pub states: Vec<Block>,
}

struct RegisterRounds(u64);

impl Kernel for RegisterRounds {
    type Out = Rounds;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Rounds {
        let keys = [l.splat(&[0xa5; 16]); 11];
        // Sixteen registers hold twelve states and a key.
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

/// `G` interleaved groups of `4 N` independent keys, with `H` blocks under each key.
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
                        // The blocks differ, because a compiler would otherwise encrypt only one.
                        x[g][i][h] = l.xor(key, l.splat(&[h as u8; 16]));
                    }
                }
            }
            let masks = x;
            if L::SOFT {
                // In bit slices, interleaved groups gain nothing and increase the code size.
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
    /// Encrypts `H` blocks under each of several fresh keys, `iterations` times, in registers: key
    /// schedules and rounds, without memory except for spills. The number of interleaved keys is
    /// the fastest one: `12 N` with one block each, `8 N` with two. `H` is 1 or 2.
    #[must_use]
    pub fn keyed_rounds_only<const H: usize>(&self, iterations: u64) -> Rounds {
        if H == 1 { self.run(Keyed::<3, H>(iterations)) } else { self.run(Keyed::<2, H>(iterations)) }
    }

    /// Encrypts 12 vectors `iterations` times in registers, without memory or key schedule: the
    /// limit of one core.
    #[must_use]
    pub fn rounds_only(&self, iterations: u64) -> Rounds {
        self.run(RegisterRounds(iterations))
    }
}
