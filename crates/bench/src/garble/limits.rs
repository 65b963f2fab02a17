//! What bounds a gate: AES calls and key schedules.
//!
//! | scheme | AND garble | AND evaluate | XOR garble | XOR evaluate |
//! |---|--:|--:|--:|--:|
//! | PRP | 4 | 2 | | |
//! | MI | 4 + 2 S | 2 + 2 S | | |
//! | CIRC | 4 + 4 S | 2 + 2 S | | |
//! | PRF | 8 + 4 S | 2 + 2 S | 3 + 3 S | 2 + 2 S |
//! | three halves | 6 + 3 S | 3 + 3 S | | |
//! | privacy-free | 2 + S | 1 + S | | |
//!
//! A key schedule S takes the AES work of a quarter of a call: ten last rounds make the round keys of four keys. The bound
//! is the tier's rounds in registers over these calls: labels, tables and XORs cost nothing in it.

use hushwire_aes::Backend;
use hushwire_garble::Scheme;

use super::grid::Op;
use crate::{BoxError, Context, Unit, bounds};

/// AES calls and key schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calls {
    pub(crate) blocks: f64,
    pub(crate) schedules: f64,
}

impl Calls {
    /// As calls alone.
    pub(crate) fn weight(self) -> f64 {
        self.blocks + self.schedules / 4.0
    }
}

/// Of an AND, and of an XOR.
pub(crate) fn calls(scheme: Scheme, op: Op) -> [Calls; 2] {
    let calls = |blocks: f64, schedules: f64| Calls { blocks, schedules };
    let free = calls(0.0, 0.0);
    match (scheme, op) {
        (Scheme::Prp, Op::Garble) => [calls(4.0, 0.0), free],
        (Scheme::Prp, Op::Evaluate) => [calls(2.0, 0.0), free],
        (Scheme::Mi, Op::Garble) => [calls(4.0, 2.0), free],
        (Scheme::Circ, Op::Garble) => [calls(4.0, 4.0), free],
        (Scheme::Mi | Scheme::Circ, Op::Evaluate) => [calls(2.0, 2.0), free],
        (Scheme::Prf, Op::Garble) => [calls(8.0, 4.0), calls(3.0, 3.0)],
        (Scheme::Prf, Op::Evaluate) => [calls(2.0, 2.0), calls(2.0, 2.0)],
        (Scheme::ThreeHalves, Op::Garble) => [calls(6.0, 3.0), free],
        (Scheme::ThreeHalves, Op::Evaluate) => [calls(3.0, 3.0), free],
        (Scheme::PrivacyFree, Op::Garble) => [calls(2.0, 1.0), free],
        (Scheme::PrivacyFree, Op::Evaluate) => [calls(1.0, 1.0), free],
    }
}

/// AES calls for an AND of a circuit with so many ANDs and XORs that have tables.
pub(crate) fn per_and(scheme: Scheme, op: Op, ands: u64, xors: u64) -> f64 {
    let [and, xor] = calls(scheme, op);
    and.weight() + xor.weight() * xors as f64 / ands.max(1) as f64
}

/// ANDs per second that AES allows, and the limit's name.
pub(crate) fn ands_per_s(
    ctx: &mut Context<'_>,
    backend: Backend,
    calls: f64,
) -> Result<(f64, String), BoxError> {
    let rounds = bounds::rounds(ctx, backend)?;
    let name = format!("{} AES at {} calls an AND", backend.tier(), (1e3 * calls).round() / 1e3);
    let value = ctx.limit(&name, Unit::AND_PER_S, |_| Ok(rounds / calls))?;
    Ok((value, name))
}
