//! The bounds of a gate: AES calls and key schedules.
//!
//! | scheme | AND garble | AND evaluate | XOR garble | XOR evaluate |
//! |---|--:|--:|--:|--:|
//! | PRP | 4 | 2 | | |
//! | MI | 2 keys, 2 calls each | 2 keys, 1 each | | |
//! | MI4 | 4, and a key for 4 ANDs | 2, and a key for 4 ANDs | | |
//! | CIRC | 4 keys, 1 each | 2 keys, 1 each | | |
//! | PRF | 4 keys, 2 each | 2 keys, 1 each | 3 keys, 1 each | 2 keys, 1 each |
//! | three halves | 3 keys, 2 each | 3 keys, 1 each | | |
//! | privacy-free | 1 key, 2 calls | 1 key, 1 call | | |
//!
//! The bound is the tier's rate in registers: only rounds under one key, or key schedules and
//! rounds if keys differ. It ignores the cost of labels, tables and XORs.

use hushwire_aes::Backend;
use hushwire_garble::Scheme;

use super::GarbleOp;
use crate::{BoxError, CaseContext, Unit, bounds};

/// The AES calls for a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Calls {
    /// The calls under one key for all.
    fixed: f64,
    /// The keys with one call each.
    ones: f64,
    /// The keys with two calls each.
    twos: f64,
    /// The additional key schedules.
    schedules: f64,
}

impl Calls {
    const fn fixed(calls: f64) -> Self {
        Calls { fixed: calls, ones: 0.0, twos: 0.0, schedules: 0.0 }
    }
    const fn ones(keys: f64) -> Self {
        Calls { fixed: 0.0, ones: keys, twos: 0.0, schedules: 0.0 }
    }
    const fn twos(keys: f64) -> Self {
        Calls { fixed: 0.0, ones: 0.0, twos: keys, schedules: 0.0 }
    }
    /// Calls under one of `schedules` keys for each AND. Each key serves many calls.
    const fn shared(calls: f64, schedules: f64) -> Self {
        Calls { fixed: calls, ones: 0.0, twos: 0.0, schedules }
    }

    /// The number of AES calls.
    pub(crate) fn blocks(self) -> f64 {
        self.fixed + self.ones + 2.0 * self.twos
    }

    /// The number of key schedules.
    pub(crate) fn schedules(self) -> f64 {
        self.ones + self.twos + self.schedules
    }

    fn plus(self, share: f64, other: Self) -> Self {
        Calls {
            fixed: self.fixed + share * other.fixed,
            ones: self.ones + share * other.ones,
            twos: self.twos + share * other.twos,
            schedules: self.schedules + share * other.schedules,
        }
    }
}

/// The calls for an AND, and for an XOR.
fn calls(scheme: Scheme, op: GarbleOp) -> [Calls; 2] {
    let free = Calls::default();
    match (scheme, op) {
        (Scheme::Prp, GarbleOp::Garble) => [Calls::fixed(4.0), free],
        (Scheme::Prp, GarbleOp::Evaluate) => [Calls::fixed(2.0), free],
        (Scheme::Mi, GarbleOp::Garble) => [Calls::twos(2.0), free],
        (Scheme::Mi4, GarbleOp::Garble) => [Calls::shared(4.0, 0.25), free],
        (Scheme::Mi4, GarbleOp::Evaluate) => [Calls::shared(2.0, 0.25), free],
        (Scheme::Circ, GarbleOp::Garble) => [Calls::ones(4.0), free],
        (Scheme::Mi | Scheme::Circ, GarbleOp::Evaluate) => [Calls::ones(2.0), free],
        (Scheme::Prf, GarbleOp::Garble) => [Calls::twos(4.0), Calls::ones(3.0)],
        (Scheme::Prf, GarbleOp::Evaluate) => [Calls::ones(2.0), Calls::ones(2.0)],
        (Scheme::ThreeHalves, GarbleOp::Garble) => [Calls::twos(3.0), free],
        (Scheme::ThreeHalves, GarbleOp::Evaluate) => [Calls::ones(3.0), free],
        (Scheme::PrivacyFree, GarbleOp::Garble) => [Calls::twos(1.0), free],
        (Scheme::PrivacyFree, GarbleOp::Evaluate) => [Calls::ones(1.0), free],
    }
}

/// The calls for an AND of a circuit with this many ANDs, and with XORs that have tables.
pub(crate) fn per_and(scheme: Scheme, op: GarbleOp, ands: u64, xors: u64) -> Calls {
    let [and, xor] = calls(scheme, op);
    and.plus(xors as f64 / ands.max(1) as f64, xor)
}

/// ANDs per second that AES allows, and the limit's name.
pub(crate) fn ands_per_s(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    calls: Calls,
) -> Result<(f64, String), BoxError> {
    let mut seconds = 0.0;
    if calls.fixed > 0.0 {
        seconds += calls.fixed / bounds::rounds(ctx, backend)?;
    }
    if calls.ones > 0.0 {
        seconds += calls.ones / bounds::keyed_rounds::<1>(ctx, backend)?;
    }
    if calls.twos > 0.0 {
        seconds += 2.0 * calls.twos / bounds::keyed_rounds::<2>(ctx, backend)?;
    }
    if calls.schedules > 0.0 {
        // The additional cost of a call with its own key.
        let (with, without) = (bounds::keyed_rounds::<1>(ctx, backend)?, bounds::rounds(ctx, backend)?);
        seconds += calls.schedules * (1.0 / with - 1.0 / without).max(0.0);
    }
    let short = |x: f64| (1e3 * x).round() / 1e3;
    let (blocks, schedules) = (short(calls.blocks()), short(calls.schedules()));
    let name = format!("{} AES, {blocks} calls and {schedules} key schedules an AND", backend.tier());
    let value = ctx.limit(&name, Unit::AND_PER_S, |_| Ok(1.0 / seconds))?;
    Ok((value, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_papers() {
        let of = |scheme, op| {
            let calls = per_and(scheme, op, 1, 0);
            (calls.blocks(), calls.schedules())
        };
        assert_eq!(of(Scheme::Prp, GarbleOp::Garble), (4.0, 0.0));
        assert_eq!(of(Scheme::Mi, GarbleOp::Garble), (4.0, 2.0));
        assert_eq!(of(Scheme::Circ, GarbleOp::Garble), (4.0, 4.0));
        assert_eq!(of(Scheme::Mi4, GarbleOp::Garble), (4.0, 0.25));
        assert_eq!(of(Scheme::Mi4, GarbleOp::Evaluate), (2.0, 0.25));
        assert_eq!(of(Scheme::Prf, GarbleOp::Garble), (8.0, 4.0));
        assert_eq!(of(Scheme::ThreeHalves, GarbleOp::Garble), (6.0, 3.0));
        assert_eq!(of(Scheme::Circ, GarbleOp::Evaluate), (2.0, 2.0));
        let with_xors = per_and(Scheme::Prf, GarbleOp::Garble, 2, 6);
        assert_eq!((with_xors.blocks(), with_xors.schedules()), (17.0, 13.0));
        assert_eq!(per_and(Scheme::Mi, GarbleOp::Garble, 2, 6), per_and(Scheme::Mi, GarbleOp::Garble, 1, 0));
    }
}
