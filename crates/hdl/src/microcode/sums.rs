//! Numbers scalars; equal scalars have one number.

use super::{MicrocodeError, Scalar};
use std::collections::HashMap;

/// A number of [`ScalarTable`]; 0 is the empty sum.
pub(super) type ScalarNumber = u32;

/// A limit on the terms of all sums together: more would take gigabytes.
const MAX_TERMS: usize = 1 << 24;

/// All sums of common bits so far.
pub(super) struct ScalarTable {
    list: Vec<Scalar>,
    index: HashMap<Scalar, ScalarNumber>,
    terms: usize,
}

impl ScalarTable {
    pub(super) fn new() -> ScalarTable {
        let empty = Scalar::default();
        ScalarTable { list: vec![empty.clone()], index: HashMap::from([(empty, 0)]), terms: 0 }
    }

    pub(super) fn get(&self, sum: ScalarNumber) -> &Scalar {
        &self.list[sum as usize]
    }

    pub(super) fn insert(&mut self, scalar: Scalar) -> Result<ScalarNumber, MicrocodeError> {
        if let Some(sum) = self.index.get(&scalar) {
            return Ok(*sum);
        }
        self.terms += 1 + scalar.bits.len();
        if self.terms > MAX_TERMS {
            return Err(MicrocodeError::Terms { terms: MAX_TERMS });
        }
        let sum = self.list.len() as ScalarNumber;
        self.list.push(scalar.clone());
        self.index.insert(scalar, sum);
        Ok(sum)
    }

    /// `x ⊕ y`: common terms cancel.
    pub(super) fn xor(&mut self, x: ScalarNumber, y: ScalarNumber) -> Result<ScalarNumber, MicrocodeError> {
        if x == 0 || y == 0 || x == y {
            return Ok(if x == y { 0 } else { x | y });
        }
        let (x, y) = (self.get(x), self.get(y));
        let mut bits = Vec::with_capacity(x.bits.len() + y.bits.len());
        let (mut i, mut j) = (0, 0);
        while i < x.bits.len() && j < y.bits.len() {
            let (p, q) = (x.bits[i], y.bits[j]);
            if p != q {
                bits.push(p.min(q));
            }
            i += usize::from(p <= q);
            j += usize::from(q <= p);
        }
        bits.extend_from_slice(&x.bits[i..]);
        bits.extend_from_slice(&y.bits[j..]);
        let scalar = Scalar { one: x.one ^ y.one, bits };
        self.insert(scalar)
    }
}
