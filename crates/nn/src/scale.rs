//! The scales of values: which ones the network's layers tie together, and which are free.
//!
//! In the ring, a value is the integer next to `scale · value`. Layers with weights convert any
//! scale to any other, since the weights absorb the quotient. Rectifying, selecting or moving
//! elements keeps the scale. Adding or joining values needs one scale for all. Scales therefore
//! fall into classes, each determined up to one factor. The class of the nominal scale 2^frac holds
//! the values that members other than the owner must know: inputs, outputs, and operands of
//! functions that are not homogeneous. The owner chooses the factor of every other class.

use crate::Fault;
use crate::error::of_layer;
use hushwire_fault::code;
use std::fmt::Display;

/// The classes of values' scales: node 0 is the nominal scale.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// The parent of each node, and the factor of its scale to the parent's.
    parents: Vec<(usize, f64)>,
}

impl Classes {
    pub(crate) const NOMINAL: usize = 0;

    pub(crate) fn new() -> Self {
        Classes { parents: vec![(0, 1.0)] }
    }

    /// Adds a value in a class of its own.
    pub(crate) fn fresh(&mut self) -> usize {
        self.parents.push((self.parents.len(), 1.0));
        self.parents.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The first member of a value's class, and the factor of the value's scale to that member's.
    pub(crate) fn find(&self, mut of: usize) -> (usize, f64) {
        let mut times = 1.0;
        while self.parents[of].0 != of {
            times *= self.parents[of].1;
            of = self.parents[of].0;
        }
        (of, times)
    }

    /// Ties the scale of `a` to `times` that of `b`; false if that contradicts earlier ties.
    pub(crate) fn tie(&mut self, a: usize, b: usize, times: f64) -> bool {
        let ((x, of_a), (y, of_b)) = (self.find(a), self.find(b));
        let times = times * of_b / of_a;
        if x == y {
            return (times - 1.0).abs() < 1e-9;
        }
        // The nominal scale stays first.
        if x == Self::NOMINAL {
            self.parents[y] = (x, 1.0 / times);
        } else {
            self.parents[x] = (y, times);
        }
        true
    }
}

/// Every value's scale.
#[derive(Clone, Debug)]
pub(crate) struct Scales(Vec<f64>);

/// A bound on a value in the ring.
pub(crate) struct ValueBound {
    pub(crate) node: usize,
    /// The value's greatest absolute value in the network.
    pub(crate) greatest: f64,
    /// The largest number that scale times greatest value may reach.
    pub(crate) most: f64,
    /// The same limit, without the room that is kept free.
    pub(crate) whole: f64,
    /// Its layer's name.
    pub(crate) name: String,
}

impl Scales {
    /// The greatest scales within all bounds; the nominal one is 2^frac, which must be within its
    /// bounds as well.
    pub(crate) fn new(classes: &Classes, frac: u8, bounds: &[ValueBound]) -> Result<Self, Fault> {
        let nominal = 2f64.powi(frac.into());
        let mut factors = vec![f64::INFINITY; classes.len()];
        factors[Classes::NOMINAL] = nominal;
        for bound in bounds.iter().filter(|bound| bound.greatest > 0.0) {
            let (class, times) = classes.find(bound.node);
            let most = bound.most / (bound.greatest * times);
            if class != Classes::NOMINAL {
                factors[class] = factors[class].min(most);
            } else if bound.whole / (bound.greatest * times) < nominal {
                let greatest = bound.whole / (nominal * times);
                let (reached, room) = (format!("{:.4}", bound.greatest), format!("{greatest:.4}"));
                let fields: [(_, &dyn Display); 3] =
                    [("greatest", &reached), ("frac", &frac), ("room", &room)];
                return Err(of_layer(code::LAYER_TOO_LARGE, &bound.name, &fields));
            }
        }
        let of = |node: usize| {
            let (class, times) = classes.find(node);
            let factor = factors[class];
            if factor.is_finite() { factor * times } else { nominal }
        };
        Ok(Scales((0..classes.len()).map(of).collect()))
    }

    pub(crate) fn of(&self, node: usize) -> f64 {
        self.0[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_follow_ties() {
        let mut classes = Classes::new();
        let [a, b, c] = [(); 3].map(|()| classes.fresh());
        assert!(classes.tie(a, b, 4.0));
        assert!(classes.tie(c, a, 0.5));
        assert!(classes.tie(c, b, 2.0), "it follows");
        assert!(!classes.tie(c, b, 1.0), "it does not");
        let bound =
            |node, greatest| ValueBound { node, greatest, most: 100.0, whole: 100.0, name: String::new() };
        let scales = Scales::new(&classes, 4, &[bound(a, 1.0), bound(b, 5.0)]).unwrap();
        assert_eq!([a, b, c].map(|v| scales.of(v)), [80.0, 20.0, 40.0]);
        assert!(classes.tie(b, Classes::NOMINAL, 1.0));
        assert_eq!(Scales::new(&classes, 4, &[bound(a, 1.0)]).unwrap().of(c), 32.0);
        let refused = Scales::new(&classes, 4, &[bound(a, 2.0)]).unwrap_err().to_string();
        assert!(refused.contains("reach 2.0000") && refused.contains("room for 1.5625"), "{refused}");
    }
}
