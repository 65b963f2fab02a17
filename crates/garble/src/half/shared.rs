//! The hash of `mi4`, with one AES key for four consecutive gates. Keys depend on the numbers of
//! gates alone, and are expanded in advance, many at a time.
//!
//! ```text
//! t = 2g, 2g + 1     tweaks of gate g
//! H_t(x) = AES_{S ⊕ (t − t mod 8)}(y) ⊕ y,    y = σ(x) ⊕ (t mod 8)
//! ```
//!
//! **Security.** AES is an ideal cipher, and S is fresh for each session (ePrint 2019/1168). A pair
//! of key and input tweak serves one half gate. Without the input tweak, two gates with the same
//! key that read the same wire would have equal hashes, and the sum of their tables would reveal Δ.
//!
//! Let a key serve at most μ hashes of unknown labels over all sessions that an adversary sees.
//! Then q such hashes and p AES calls of the adversary distinguish a garbling from random with
//! probability at most 2μp / 2^128 + (μ − 1) q / 2^128. A half gate has one such hash. In one
//! session μ is therefore 1 with `mi` and 8 with `mi4`, and twice that if the keys of two sessions
//! collide. With `mi4`, two inputs under one key are also equal if σ maps the difference of two
//! labels to the difference of two tweaks. Labels differ by 0, by Δ or by an equally random value,
//! and the adversary chooses none of them. The difference 0 does not cause a collision, and the
//! others add at most 2 · 7 q / 2^128.

use super::hash::{Hashes, first_of};
use hushwire_aes::Backend;
use hushwire_aes::kernel::sigma;
use hushwire_block::Block;
use hushwire_simd::Lanes;

/// SECURITY: the number of gates that one key of `mi4` serves.
pub(crate) const GATES_PER_KEY: u64 = 4;
/// The number of tweaks of those gates.
const TWEAKS_PER_KEY: u128 = 2 * GATES_PER_KEY as u128;
/// LOCAL: the number of keys that are expanded together, a multiple of 32.
const KEYS: usize = 32;
/// The number of gates that these keys serve.
pub(crate) const GATES: u64 = KEYS as u64 * GATES_PER_KEY;

/// A start point, and the round keys of [`GATES`] gates.
pub(crate) struct Mi4 {
    /// S.
    start: Block,
    /// The gates of the current keys begin at number `run` · [`GATES`].
    run: u64,
    /// Round keys, round by round.
    keys: [[Block; KEYS]; 11],
}

impl Mi4 {
    /// The hash, prepared for gate 0.
    pub(super) fn new(backend: Backend, start: Block) -> Self {
        let mut hash = Mi4 { start, run: 0, keys: [[Block::ZERO; KEYS]; 11] };
        hash.expand(backend);
        hash
    }

    /// The start point.
    pub(super) fn start(&self) -> &Block {
        &self.start
    }

    /// Expands the keys of the gates from number `run` · [`GATES`] on.
    fn expand(&mut self, backend: Backend) {
        let first = self.run * KEYS as u64;
        let keys = std::array::from_fn(|i| {
            self.start ^ Block::from_u128(u128::from(first + i as u64) * TWEAKS_PER_KEY)
        });
        backend.schedules(&keys, &mut self.keys);
    }

    /// Prepares for gate `gate`, and returns the number of gates for which this holds.
    pub(super) fn serve(&mut self, backend: Backend, gate: u64) -> usize {
        if self.run != gate / GATES {
            self.run = gate / GATES;
            self.expand(backend);
        }
        (GATES - gate % GATES) as usize
    }

    /// Round key `round` for the gates in a vector's lanes, of which the first has the number
    /// `gate`. Lanes beyond the gates that these keys serve get some other key.
    #[inline(always)]
    fn key<L: Lanes>(&self, l: L, round: usize, gate: u64) -> L::V {
        let key_of = |gate: u64| l.splat(&self.keys[round][(gate / GATES_PER_KEY) as usize % KEYS].0);
        if L::N == 1 {
            return key_of(gate);
        }
        let later = l.load(&LATER[(gate % GATES_PER_KEY) as usize]);
        l.or(l.andnot(later, key_of(gate)), l.and(later, key_of(gate + L::N as u64 - 1)))
    }

    /// One AES round of the hashes `y`, H for each of M tweaks, two tweaks a gate. Round 10 also
    /// adds `masks`.
    #[inline(always)]
    fn round<L: Lanes, const M: usize, const H: usize>(
        &self,
        l: L,
        round: usize,
        gate: u64,
        masks: &[[L::V; H]; M],
        y: &mut [[L::V; H]; M],
    ) {
        for g in 0..M / 2 {
            let key = self.key(l, round, gate + (g * L::N) as u64);
            for i in 2 * g..2 * g + 2 {
                for h in 0..H {
                    y[i][h] = match round {
                        0 => l.xor(y[i][h], key),
                        10 => l.enc_last(y[i][h], l.xor(key, masks[i][h])),
                        _ => l.enc(y[i][h], key),
                    };
                }
            }
        }
    }

    /// AES(y) ⊕ y.
    #[inline(always)]
    fn rounds<L: Lanes, const M: usize, const H: usize>(&self, l: L, gate: u64, y: &mut [[L::V; H]; M]) {
        let masks = *y;
        if L::SOFT {
            return (0..=10).for_each(|round| self.round(l, round, gate, &masks, y));
        }
        // The rounds are unrolled by hand, since a loop would keep the state in memory.
        self.round(l, 0, gate, &masks, y);
        self.round(l, 1, gate, &masks, y);
        self.round(l, 2, gate, &masks, y);
        self.round(l, 3, gate, &masks, y);
        self.round(l, 4, gate, &masks, y);
        self.round(l, 5, gate, &masks, y);
        self.round(l, 6, gate, &masks, y);
        self.round(l, 7, gate, &masks, y);
        self.round(l, 8, gate, &masks, y);
        self.round(l, 9, gate, &masks, y);
        self.round(l, 10, gate, &masks, y);
    }

    /// The input of AES.
    #[inline(always)]
    fn input<L: Lanes>(l: L, tweak: L::V, x: L::V) -> L::V {
        let low = l.splat(&(TWEAKS_PER_KEY - 1).to_le_bytes());
        l.xor(sigma(l, x), l.and(tweak, low))
    }
}

/// Masks of the lanes whose gates use the next key, if a vector begins with the first to fourth
/// gate of a key.
const LATER: [[u8; 64]; GATES_PER_KEY as usize] = {
    let mut later = [[0; 64]; GATES_PER_KEY as usize];
    let mut at = 0;
    while at < later.len() {
        let mut byte = 16 * (later.len() - at);
        while byte < 64 {
            later[at][byte] = 0xff;
            byte += 1;
        }
        at += 1;
    }
    later
};

impl Hashes for Mi4 {
    type Ready<L: Lanes> = ();
    #[inline(always)]
    fn ready<L: Lanes>(&self, _: L) {}
    #[inline(always)]
    fn delta<L: Lanes>(l: L, delta: L::V) -> L::V {
        sigma(l, delta)
    }
    #[inline(always)]
    fn twins<L: Lanes, const M: usize>(
        &self,
        l: L,
        (): &(),
        delta: L::V,
        gate: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [[L::V; 2]; M] {
        let mut y = [[l.zero(); 2]; M];
        for i in 0..M {
            y[i][0] = Self::input(l, tweaks[i], x[i]);
            y[i][1] = l.xor(y[i][0], delta);
        }
        self.rounds(l, gate, &mut y);
        y
    }
    #[inline(always)]
    fn singles<L: Lanes, const M: usize>(
        &self,
        l: L,
        (): &(),
        gate: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [L::V; M] {
        let mut y = [[l.zero()]; M];
        for i in 0..M {
            y[i][0] = Self::input(l, tweaks[i], x[i]);
        }
        self.rounds(l, gate, &mut y);
        first_of(l, &y)
    }
}
