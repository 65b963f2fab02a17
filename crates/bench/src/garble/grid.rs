//! The points of the grid, and which sets they belong to.

use hushwire_aes::{Backend, Tier};
use hushwire_garble::{Scheme, deferred::Order};

use crate::Params;

/// The end whose work is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    Garble,
    Evaluate,
}

impl Op {
    pub(crate) const ALL: [Self; 2] = [Self::Garble, Self::Evaluate];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Garble => "garble",
            Self::Evaluate => "evaluate",
        }
    }
}

/// Gates of a batch that are measured: the last is as many as a layer has.
pub(crate) const WIDTHS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 1024];
/// Gates of a batch in most rows.
pub(crate) const WIDEST: usize = 1024;

/// One point of the grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) scheme: Scheme,
    pub(crate) op: Op,
    pub(crate) backend: Backend,
    pub(crate) width: usize,
    pub(crate) order: Order,
    pub(crate) circuit: String,
}

/// The tiers to measure, slowest first.
pub(crate) fn tiers(only: Option<Backend>) -> Vec<Backend> {
    match only {
        Some(backend) => vec![backend],
        None => Tier::ALL.into_iter().filter_map(|tier| Backend::forced(tier).ok()).collect(),
    }
}

impl Point {
    /// The whole grid over these circuits.
    pub(crate) fn all(tiers: &[Backend], circuits: &[String]) -> Vec<Self> {
        let mut points = vec![];
        for scheme in Scheme::ALL {
            for circuit in circuits {
                for op in Op::ALL {
                    for &backend in tiers.iter().rev() {
                        for order in Order::ALL {
                            let point =
                                |width| Self { scheme, op, backend, width, order, circuit: circuit.clone() };
                            points.extend(WIDTHS.map(point));
                        }
                    }
                }
            }
        }
        points
    }

    pub(crate) fn params(&self) -> Params {
        Params::new()
            .with("scheme", self.scheme.name())
            .with("op", self.op.name())
            .with("tier", self.backend.tier().name())
            .with("width", self.width)
            .with("order", self.order.name())
            .with("circuit", self.circuit.as_str())
    }

    /// Whether a run without options measures it: every scheme on the best tier in depth order; for MI also every width on
    /// AES-128 in both orders, and every tier.
    pub(crate) fn is_core(&self, best: Backend) -> bool {
        let (wide, depth) = (self.width == WIDEST, self.order == Order::Depth);
        if self.backend != best {
            return self.scheme == Scheme::Mi && wide && depth && self.circuit == "wide";
        }
        let swept = self.scheme == Scheme::Mi && self.op == Op::Garble && self.circuit == "aes128";
        (wide && depth) || swept || (wide && self.scheme == Scheme::Mi && self.circuit != "wide")
    }

    /// Whether `--quick` measures it.
    pub(crate) fn is_quick(&self, best: Backend) -> bool {
        let usual = self.width == WIDEST && self.order == Order::Depth && self.backend == best;
        match self.scheme {
            Scheme::Mi => usual || (self.is_core(best) && self.circuit == "aes128" && self.width >= 8),
            _ => usual && self.circuit == "wide",
        }
    }
}
