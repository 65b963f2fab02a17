//! The time of two parties on numbers. OTs have a lane of their own, and are made either in turn
//! with the steps that use them, or ahead.

use super::time;
use hushwire_machine::Cost;
use hushwire_ot::Protocol;
use hushwire_two::{Distance, Plan, Tally};
use hushwire_wire::Shape;
use std::time::Duration;

/// LOCAL: nanoseconds that a core with AES instructions takes to use a correlated OT, and to make
/// it by an extension, as sender or receiver. The numbers come from runs of SqueezeNet on a shared
/// machine (docs/measurements). Builds with other numbers may choose another extension; members
/// agree on the extension by its name.
const USED: f64 = 13.0;

const fn made(ot: Protocol) -> f64 {
    match ot {
        Protocol::SoftSpoken2 => 5.0,
        Protocol::SoftSpoken4 | Protocol::Iknp => 6.0,
        Protocol::SoftSpoken8 => 33.0,
        _ => 40.0,
    }
}

/// LOCAL: products per second under encryption, by both parties one after the other.
const ENCRYPTED: f64 = 1.5e8;

/// The rounds, bytes and computing time of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lane {
    cost: Cost,
    compute: Duration,
}

impl Lane {
    /// The time of a lane that sends a message while it computes the next.
    fn overlapping(&self, net: Shape) -> f64 {
        self.compute.as_secs_f64().max(sent(self.cost.bytes_sent, net))
    }

    /// The time of steps, whose next message depends on the peer's.
    fn in_turn(&self, net: Shape) -> f64 {
        self.compute.as_secs_f64() + sent(self.cost.bytes_sent, net)
    }
}

fn sent(bytes: u64, net: Shape) -> f64 {
    net.bits_per_second.map_or(0.0, |rate| 8.0 * bytes as f64 / rate as f64)
}

/// A round costs one way: a party that waits for a message has already sent its own.
fn waits(rounds: u64, net: Shape) -> f64 {
    rounds as f64 * net.one_way().as_secs_f64()
}

/// Both lanes of parties at one distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lanes {
    ots: Lane,
    steps: Lane,
    /// The fraction of all OTs that must be made before the first step has any.
    first: f64,
}

/// Both lanes for parties that are near, and for parties that are far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairCosts {
    near: Lanes,
    far: Lanes,
    /// The meter's counts at the party that sends most, for parties that are near and far.
    all: [Cost; 2],
    /// The time of products under encryption, during which nothing is sent.
    alone: Duration,
    /// Whether OTs are made ahead of their use. With `None`, only parties that are far do so.
    ahead: Option<bool>,
}

impl PairCosts {
    /// Computes the costs of the party that sends most. Returns them with the number of OTs that a
    /// party sends and receives, and a meter's count for parties that are near.
    pub(super) fn new(plan: &Plan, ot: Protocol, ahead: Option<bool>, aes: bool) -> (Self, u64, Cost) {
        let slower = if aes { 1.0 } else { 16.0 };
        let at = |distance: Distance| {
            let costs = plan.costs(ot, distance);
            let party = usize::from(costs.all.bytes[1] > costs.all.bytes[0]);
            let work = costs.steps.ots() as u64;
            let lane = |tally: &Tally, each: f64| Lane {
                cost: tally.cost(party),
                compute: time(work, 1e9 / (each * slower)),
            };
            let first = costs.first as f64 / work.max(1) as f64;
            let lanes = Lanes { ots: lane(&costs.ots, made(ot)), steps: lane(&costs.steps, USED), first };
            (lanes, work, costs.all.cost(party))
        };
        let ((near, work, cost), (far, _, far_cost)) = (at(Distance::Near), at(Distance::Far));
        let alone = time(plan.encrypted_products(), ENCRYPTED);
        (Self { near, far, all: [cost, far_cost], alone, ahead }, work, cost)
    }

    pub(super) fn over(&self, net: Shape) -> Cost {
        self.all[usize::from(Distance::of(net.rtt) == Distance::Far)]
    }

    pub(super) fn seconds(&self, net: Shape) -> f64 {
        let distance = Distance::of(net.rtt);
        let far = distance == Distance::Far;
        let Lanes { ots, steps, first } = if far { self.far } else { self.near };
        let (busy, waiting) = (ots.overlapping(net), waits(ots.cost.rounds, net));
        let used = steps.in_turn(net) + waits(steps.cost.rounds, net) + self.alone.as_secs_f64();
        if self.ahead.unwrap_or(far) {
            // OTs after the first batch run beside the steps. One core and one link serve both, so
            // only the waits for rounds overlap.
            let rest = 1.0 - first;
            first * (busy + waiting) + (rest * (busy + waiting)).max(rest * busy + used)
        } else {
            busy + waiting + used
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(rounds: u64, megabytes: u64, seconds: u64) -> Lane {
        let cost = Cost { rounds, bytes_sent: megabytes * 1_000_000 };
        Lane { cost, compute: Duration::from_secs(seconds) }
    }

    fn seconds(ots: Lane, steps: Lane, net: &str) -> [f64; 3] {
        let lanes = Lanes { ots, steps, first: 0.25 };
        let near = Lanes { ots: lane(1000, 0, 1), ..lanes };
        let net = net.parse().expect(net);
        [Some(false), Some(true), None].map(|ahead| {
            PairCosts { near, far: lanes, all: [Cost::default(); 2], alone: Duration::from_secs(2), ahead }
                .seconds(net)
        })
    }

    fn near(found: [f64; 3], expected: [f64; 3]) {
        let close = found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-9);
        assert!(close, "{found:?} for {expected:?}");
    }

    /// OTs in turn take the sum of both lanes. With OTs ahead, the rounds of all but the first
    /// batch overlap with the steps. By default, parties that are far make OTs ahead.
    #[test]
    fn rounds_of_ots_ahead_pass_beside_the_steps() {
        // 125 MB take a second, a round 10 ms.
        let net = "1Gbps,20ms";
        // 3 + 1 and 4 + 2 + 1 + 2, of which 0.75 overlap.
        near(seconds(lane(100, 125, 3), lane(100, 250, 4), net), [13.0, 12.25, 12.25]);
        // 8 + 1 and 1 + 8 + 1 + 2.
        near(seconds(lane(100, 1000, 1), lane(100, 1000, 1), net), [21.0, 20.25, 20.25]);
        // The OTs have more rounds than the steps can hide: 1 + 20, and 9.
        near(seconds(lane(2000, 125, 1), lane(100, 250, 4), net), [30.0, 21.0, 21.0]);
        // Parties that are near make OTs in turn.
        near(seconds(lane(0, 0, 3), lane(100, 250, 4), "1Gbps,0.2ms"), [9.11, 9.035, 9.11]);
    }
}
