//! The hashes of half gates, on vectors. PRP, MI, MI4 and CIRC have one interface, so that one
//! source of the kernels serves all of them.

use super::shared::Mi4;
use crate::{Scheme, SessionNonce};
use hushwire_aes::kernel::{encrypt_keyed, sigma};
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, registry};
use hushwire_simd::Lanes;

/// SECURITY: the number of gates that one fixed key serves.
pub(crate) const GATES_PER_KEY: u64 = 1 << 20;

/// A hash of labels with tweaks. `gate` is the number of a group's first gate. Every function must
/// be marked `#[inline(always)]`.
pub(crate) trait Hashes {
    /// Round keys, constants.
    type Ready<L: Lanes>;
    /// Loads keys and counters into registers.
    fn ready<L: Lanes>(&self, l: L) -> Self::Ready<L>;
    /// Δ in the form that [`Hashes::twins`] takes.
    fn delta<L: Lanes>(l: L, delta: L::V) -> L::V;
    /// The hashes of every x and of every x ⊕ Δ, both with the tweak of x.
    fn twins<L: Lanes, const M: usize>(
        &self,
        l: L,
        ready: &Self::Ready<L>,
        delta: L::V,
        gate: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [[L::V; 2]; M];
    /// The hash of every x with its tweak.
    fn singles<L: Lanes, const M: usize>(
        &self,
        l: L,
        ready: &Self::Ready<L>,
        gate: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [L::V; M];
}

/// π(y) ⊕ y, y = σ(x) ⊕ i.
pub(crate) struct Prp(pub(crate) Aes128);

impl Prp {
    #[inline(always)]
    fn rounds<L: Lanes, const M: usize, const H: usize>(l: L, keys: &[L::V; 11], y: &mut [[L::V; H]; M]) {
        let masks = *y;
        for i in 0..M {
            for h in 0..H {
                y[i][h] = l.xor(y[i][h], keys[0]);
            }
        }
        for key in &keys[1..10] {
            for i in 0..M {
                for h in 0..H {
                    y[i][h] = l.enc(y[i][h], *key);
                }
            }
        }
        for i in 0..M {
            for h in 0..H {
                y[i][h] = l.enc_last(y[i][h], l.xor(keys[10], masks[i][h]));
            }
        }
    }
}

impl Hashes for Prp {
    type Ready<L: Lanes> = [L::V; 11];
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::Ready<L> {
        self.0.vectors(l)
    }
    #[inline(always)]
    fn delta<L: Lanes>(l: L, delta: L::V) -> L::V {
        sigma(l, delta)
    }
    #[inline(always)]
    fn twins<L: Lanes, const M: usize>(
        &self,
        l: L,
        keys: &Self::Ready<L>,
        delta: L::V,
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [[L::V; 2]; M] {
        let mut y = [[l.zero(); 2]; M];
        for i in 0..M {
            // σ is linear, so that one application serves both labels.
            y[i][0] = l.xor(sigma(l, x[i]), tweaks[i]);
            y[i][1] = l.xor(y[i][0], delta);
        }
        Prp::rounds(l, keys, &mut y);
        y
    }
    #[inline(always)]
    fn singles<L: Lanes, const M: usize>(
        &self,
        l: L,
        keys: &Self::Ready<L>,
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [L::V; M] {
        let mut y = [[l.zero()]; M];
        for i in 0..M {
            y[i][0] = l.xor(sigma(l, x[i]), tweaks[i]);
        }
        Prp::rounds(l, keys, &mut y);
        first_of(l, &y)
    }
}

#[inline(always)]
pub(super) fn first_of<L: Lanes, const M: usize>(l: L, y: &[[L::V; 1]; M]) -> [L::V; M] {
    let mut out = [l.zero(); M];
    for i in 0..M {
        out[i] = y[i][0];
    }
    out
}

/// AES_{S ⊕ i}(σ(x)) ⊕ σ(x).
pub(crate) struct Mi(pub(crate) Block);

impl Hashes for Mi {
    type Ready<L: Lanes> = L::V;
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> L::V {
        l.splat(&self.0.0)
    }
    #[inline(always)]
    fn delta<L: Lanes>(l: L, delta: L::V) -> L::V {
        sigma(l, delta)
    }
    #[inline(always)]
    fn twins<L: Lanes, const M: usize>(
        &self,
        l: L,
        start: &L::V,
        delta: L::V,
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [[L::V; 2]; M] {
        let (mut keys, mut y) = ([l.zero(); M], [[l.zero(); 2]; M]);
        for i in 0..M {
            keys[i] = l.xor(tweaks[i], *start);
            y[i][0] = sigma(l, x[i]);
            y[i][1] = l.xor(y[i][0], delta);
        }
        let masks = y;
        encrypt_keyed(l, &keys, &masks, &mut y);
        y
    }
    #[inline(always)]
    fn singles<L: Lanes, const M: usize>(
        &self,
        l: L,
        start: &L::V,
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [L::V; M] {
        let (mut keys, mut y) = ([l.zero(); M], [[l.zero()]; M]);
        for i in 0..M {
            keys[i] = l.xor(tweaks[i], *start);
            y[i][0] = sigma(l, x[i]);
        }
        let masks = y;
        encrypt_keyed(l, &keys, &masks, &mut y);
        first_of(l, &y)
    }
}

/// AES_x(i): the label is the key.
pub(crate) struct Circ;

impl Circ {
    /// Hashes `K / 2` labels, from place `at` on, and the same labels with Δ: `K` keys in parallel.
    #[inline(always)]
    fn few<L: Lanes, const M: usize, const K: usize>(
        l: L,
        delta: L::V,
        tweaks: &[L::V; M],
        x: &[L::V; M],
        at: usize,
        out: &mut [[L::V; 2]; M],
    ) {
        let (mut keys, mut y) = ([l.zero(); K], [[l.zero()]; K]);
        for i in 0..K / 2 {
            (keys[2 * i], keys[2 * i + 1]) = (x[at + i], l.xor(x[at + i], delta));
            (y[2 * i], y[2 * i + 1]) = ([tweaks[at + i]], [tweaks[at + i]]);
        }
        encrypt_keyed(l, &keys, &[[l.zero()]; K], &mut y);
        for i in 0..K / 2 {
            out[at + i] = [y[2 * i][0], y[2 * i + 1][0]];
        }
    }
}

impl Hashes for Circ {
    type Ready<L: Lanes> = ();
    #[inline(always)]
    fn ready<L: Lanes>(&self, _: L) {}
    #[inline(always)]
    fn delta<L: Lanes>(_: L, delta: L::V) -> L::V {
        delta
    }
    #[inline(always)]
    fn twins<L: Lanes, const M: usize>(
        &self,
        l: L,
        (): &(),
        delta: L::V,
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [[L::V; 2]; M] {
        let mut out = [[l.zero(); 2]; M];
        if M.is_multiple_of(4) {
            for i in (0..M).step_by(4) {
                Circ::few::<L, M, 8>(l, delta, tweaks, x, i, &mut out);
            }
        } else {
            for i in (0..M).step_by(2) {
                Circ::few::<L, M, 4>(l, delta, tweaks, x, i, &mut out);
            }
        }
        out
    }
    #[inline(always)]
    fn singles<L: Lanes, const M: usize>(
        &self,
        l: L,
        (): &(),
        _: u64,
        tweaks: &[L::V; M],
        x: &[L::V; M],
    ) -> [L::V; M] {
        let mut y = [[l.zero()]; M];
        for i in 0..M {
            y[i][0] = tweaks[i];
        }
        encrypt_keyed(l, x, &[[l.zero()]; M], &mut y);
        first_of(l, &y)
    }
}

/// The hash of a session.
pub(crate) enum Hash {
    /// The key of the gates from `epoch` · 2^20 on.
    Prp { key: Prp, public: SessionNonce, epoch: u64 },
    /// MI, with its start point S.
    Mi(Mi),
    /// MI4, with its start point and the keys of some gates.
    Mi4(Box<Mi4>),
    /// CIRC, which has neither a key nor a start point.
    Circ(Circ),
}

/// The fixed key of an epoch: known to both parties, and different for each session and epoch.
fn fixed_key(backend: Backend, public: SessionNonce, epoch: u64) -> Prp {
    let mut hasher = blake3::Hasher::new_derive_key("hushwire garble fixed key v1");
    hasher.update(&public.0.0);
    hasher.update(&epoch.to_le_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Prp(Aes128::on(backend, &key))
}

impl Hash {
    /// # Panics
    /// If the scheme is not one of half gates (the caller's bug).
    pub(crate) fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        match scheme {
            Scheme::Prp => Hash::Prp { key: fixed_key(backend, public, 0), public, epoch: 0 },
            Scheme::Mi => Hash::Mi(Mi(public.0)),
            Scheme::Mi4 => Hash::Mi4(Box::new(Mi4::new(backend, public.0))),
            Scheme::Circ => Hash::Circ(Circ),
            _ => panic!("{scheme} is not half gates"),
        }
    }

    /// Records `n` gates from number `gate` on. CIRC is not recorded, since its keys are labels.
    pub(super) fn used(&self, what: &'static str, gate: u64, n: usize) {
        let key = match self {
            Hash::Prp { key, .. } => &key.0.round_keys()[0],
            Hash::Mi(start) => &start.0.0,
            Hash::Mi4(keys) => &keys.start().0,
            Hash::Circ(_) => return,
        };
        registry::used(what, key, gate.into(), n);
    }

    /// Prepares for gate `gate`, and returns the number of gates for which this holds.
    pub(crate) fn serve(&mut self, backend: Backend, gate: u64) -> usize {
        match self {
            Hash::Prp { key, public, epoch } => {
                if *epoch != gate / GATES_PER_KEY {
                    *epoch = gate / GATES_PER_KEY;
                    *key = fixed_key(backend, *public, *epoch);
                }
                (GATES_PER_KEY - gate % GATES_PER_KEY) as usize
            }
            Hash::Mi4(keys) => keys.serve(backend, gate),
            Hash::Mi(_) | Hash::Circ(_) => usize::MAX,
        }
    }
}
