//! Parameters, and the bound on a layer's noise.
//!
//! ```text
//!        N     primes  log q  security (ternary secret, σ = 3.24)  kept for the answer
//! small  4096  2       100    128 bits up to log q = 109           1
//! large  8192  3       150    128 bits up to log q = 218           1 for rings up to 32 bits, or 2
//! ```
//!
//! **Source.** M. Albrecht et al., "Homomorphic encryption standard", 2018, table 1 (ternary
//! secrets, classical, 128 bits); `scripts/bfv-parameters` estimates them again.

use crate::{
    BfvError,
    cipher::packed,
    ntt::{BITS, MOST},
    sample::SIGMA,
};

/// A set of parameters. SECURITY: fixed, never tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// N = 4096, log q = 100.
    Small,
    /// N = 8192, log q = 150.
    Large,
}

/// SECURITY: the number of bits by which flooding exceeds the bound over all coefficients of a run.
pub const STATISTICAL: u32 = 40;

/// The number of standard deviations that noise exceeds only with probability 2^-64.
const TAIL: f64 = 9.5;

/// The number of low bits that an answer's parts are sent without, if one prime is kept.
pub(crate) const DROPPED_A: u32 = 6;
pub(crate) const DROPPED_B: u32 = 13;

impl Set {
    /// Both sets, the cheaper one first.
    pub const ALL: [Set; 2] = [Set::Small, Set::Large];

    /// The number of coefficients of a polynomial.
    #[must_use]
    pub const fn n(self) -> usize {
        match self {
            Set::Small => 1 << 12,
            Set::Large => 1 << 13,
        }
    }

    /// The number of primes of the modulus.
    #[must_use]
    pub const fn primes(self) -> usize {
        match self {
            Set::Small => 2,
            Set::Large => MOST,
        }
    }

    /// The number of primes of an answer's modulus, for a ring of this width.
    pub(crate) const fn kept(self, ring: u32) -> usize {
        if ring <= 32 { 1 } else { 2 }
    }

    /// The number of bytes of an answer with this number of results.
    pub(crate) fn answer_bytes(self, ring: u32, results: usize) -> usize {
        match self.kept(ring) {
            1 => packed(self.n(), BITS - DROPPED_A) + packed(results, BITS - DROPPED_B),
            kept => kept * (packed(self.n(), BITS) + packed(results, BITS)),
        }
    }

    /// The bits of flooding that hide a layer among `coefficients` coefficients opened in a run.
    ///
    /// # Errors
    /// Decryption might be wrong with this flooding: use another set, or products by OT.
    pub fn margin(self, layer: &LayerSizes, coefficients: u64) -> Result<Margin, BfvError> {
        let refuse = |cause: String| BfvError::Margin { cause };
        if !(1..=48).contains(&layer.ring) {
            return Err(refuse(format!("a ring of {} bits is none of 1 to 48", layer.ring)));
        }
        let kept = self.kept(layer.ring);
        if kept == self.primes() {
            return Err(refuse(format!("a ring of {} bits leaves no prime for the flooding", layer.ring)));
        }
        let (n, w, terms) = (self.n() as f64, layer.weight as f64, layer.terms as f64);
        // Errors of the upload times weights, over all outputs of an answer, since every
        // coefficient has an error; and roundings of q m / t, by at most a half each, for numbers
        // without an error.
        let hidden = SIGMA * TAIL * w * (terms * layer.outputs as f64).sqrt() + terms * w / 2.0 + 1.0;
        // Errors of the fresh encryption do not depend on weights, but its first half only counts
        // as uniform for a party that does not see them.
        let fresh = SIGMA * TAIL * (2.0 * n.sqrt() + 1.0);
        let flooding = ((hidden + fresh) * coefficients.max(1) as f64).log2().ceil() as u32 + STATISTICAL;
        let divided = (f64::from(BITS) - 1e-9) * (self.primes() - kept) as f64;
        let root = TAIL * n.sqrt();
        let switched = (2f64.powi(flooding as i32) + hidden + fresh) / 2f64.powf(divided)
            + (0.5 + 0.5 * root) * (self.primes() - kept) as f64;
        let dropped = if kept == 1 {
            2f64.powi(DROPPED_B as i32 - 1) + 2f64.powi(DROPPED_A as i32 - 1) * root
                // The error if a residue rounds up to 2^50.
                + 2f64.powi(DROPPED_B as i32) + 2f64.powi(DROPPED_A as i32)
        } else {
            0.0
        };
        let room = 2f64.powf(f64::from(BITS) * kept as f64 - 1e-6 - f64::from(layer.ring) - 1.0) - 1.0;
        let noise = switched + dropped;
        if flooding > 120 || noise >= room {
            return Err(refuse(format!(
                "noise of 2^{:.1} where there is room for 2^{:.1}",
                noise.log2(),
                room.log2()
            )));
        }
        Ok(Margin { flooding, hidden, noise, room })
    }

    /// The cheapest set that a layer fits.
    ///
    /// # Errors
    /// The layer fits no set.
    pub fn fitting(layer: &LayerSizes, coefficients: u64) -> Result<Set, BfvError> {
        let fits = |set: &Set| set.margin(layer, coefficients).is_ok();
        Set::ALL
            .into_iter()
            .find(fits)
            .map_or_else(|| Set::Large.margin(layer, coefficients).map(|_| Set::Large), Ok)
    }
}

/// The sizes on which the noise of a layer depends; all of them are agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerSizes {
    /// The ring's width in bits.
    pub ring: u32,
    /// The largest absolute value of a weight.
    pub weight: u64,
    /// The number of products that are summed to one result.
    pub terms: u64,
    /// The number of outputs whose weights are in one answer.
    pub outputs: u64,
}

/// The noise of an answer, and its flooding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The number of bits of flooding.
    pub flooding: u32,
    /// The bound of the noise that depends on weights.
    pub hidden: f64,
    /// The bound of an answer's noise.
    pub noise: f64,
    /// The noise from which on a result is wrong.
    pub room: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors are multiplied by the weights of every output of an answer, so that their bound grows
    /// with the square root of the number of outputs.
    #[test]
    fn flooding_covers_all_outputs_of_an_answer() {
        let of =
            |outputs| crate::Linear::new(crate::Conv::matrix(outputs, 16), 32, 4096, 1).expect("it fits");
        let (one, many) = (of(1), of(64));
        let held = many.layout.outputs.min(64) as f64;
        assert!(held > 1.0, "an answer holds several outputs");
        let grown = many.margin.hidden / one.margin.hidden;
        assert!((0.5 * held.sqrt()..=held.sqrt()).contains(&grown), "{grown} times, of {held} outputs");
        assert!(many.margin.flooding > one.margin.flooding);
    }

    #[test]
    fn sets_hold_what_layers_need() {
        let layer = |ring, weight, terms| LayerSizes { ring, weight, terms, outputs: 1 };
        // A single run of a small layer.
        assert_eq!(Set::fitting(&layer(16, 1 << 7, 9), 1).ok(), Some(Set::Small));
        // A network's layer, flooded for a run of four million coefficients.
        assert_eq!(Set::fitting(&layer(32, 1 << 12, 576), 1 << 22).ok(), Some(Set::Large));
        // The worst weights of a ring.
        assert_eq!(Set::fitting(&layer(32, 1 << 31, 4608), 1 << 22).ok(), Some(Set::Large));
        assert_eq!(Set::fitting(&layer(41, 1 << 30, 4608), 1 << 24).ok(), Some(Set::Large));
        assert!(
            Set::fitting(&layer(41, 1 << 40, 4608), 1 << 24).is_err_and(|e| e.to_string().contains("noise"))
        );
        let refused = Set::fitting(&layer(64, 1 << 12, 9), 1);
        assert!(refused.is_err_and(|e| e.to_string().contains("64 bits")));
        let margin = Set::Large.margin(&layer(32, 1 << 12, 576), 1 << 22).ok();
        assert!(margin.is_some_and(|m| m.flooding > 40 + 22 + 17 && m.noise < m.room / 2.0), "{margin:?}");
    }

    /// Weights of nearly no effect are flooded as widely as the fresh encryption needs.
    #[test]
    fn flooding_covers_the_fresh_encryption() {
        let layer = LayerSizes { ring: 16, weight: 1, terms: 1, outputs: 1 };
        for (set, n) in [(Set::Small, 4096.0f64), (Set::Large, 8192.0)] {
            let margin = set.margin(&layer, 1 << 10).expect("it fits");
            // The product of a ternary secret and an error has a standard deviation of σ √(2n / 3);
            // there are two such products.
            let deviation = SIGMA * (4.0 * n / 3.0).sqrt();
            assert!(margin.hidden < deviation, "weights add less");
            assert!(f64::from(margin.flooding) >= 40.0 + 10.0 + (TAIL * deviation).log2(), "{margin:?}");
        }
    }

    /// Twice the coefficients need at least as many bits, and one more at some point.
    #[test]
    fn flooding_covers_all_coefficients_of_a_run() {
        let layer = LayerSizes { ring: 32, weight: 4096, terms: 576, outputs: 1 };
        let bits = |c| Set::Large.margin(&layer, c).map_or(0, |m| m.flooding);
        assert_eq!(bits(1 << 20) + 1, bits(1 << 21));
        assert!(
            f64::from(bits(1 << 20))
                >= 20.0 + 40.0 + Set::Large.margin(&layer, 1).map_or(0.0, |m| m.hidden.log2())
        );
    }
}
