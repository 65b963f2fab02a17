//! The time of two parties on numbers: OTs on a lane of their own, in turn with the steps that use
//! them or ahead of them.

use super::time;
use hushwire_machine::Cost;
use hushwire_ot::Protocol;
use hushwire_two::{Distance, Plan, Tally};
use hushwire_wire::Shape;
use std::time::Duration;

/// LOCAL: nanoseconds of a core for a correlated OT that it sends or receives, with AES
/// instructions: put to use, and made by an extension. From runs of SqueezeNet on a machine that
/// others used (docs/measurements). Builds with other numbers may choose another extension, which
/// they agree on by its name.
const USED: f64 = 13.0;

const fn made(ot: Protocol) -> f64 {
    match ot {
        Protocol::SoftSpoken2 => 5.0,
        Protocol::SoftSpoken4 | Protocol::Iknp => 6.0,
        Protocol::SoftSpoken8 => 33.0,
        _ => 40.0,
    }
}

/// LOCAL: products of a second under encryption, by both parties one after the other.
const ENCRYPTED: f64 = 1.5e8;

/// Rounds and bytes of a lane, and the arithmetic for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lane {
    cost: Cost,
    compute: Duration,
}

impl Lane {
    /// Its arithmetic and its bytes, where a message is sent while the next is computed.
    fn overlapping(&self, net: Shape) -> f64 {
        self.compute.as_secs_f64().max(sent(self.cost.bytes_sent, net))
    }

    /// The same of steps, whose next message follows from the peer's.
    fn in_turn(&self, net: Shape) -> f64 {
        self.compute.as_secs_f64() + sent(self.cost.bytes_sent, net)
    }
}

fn sent(bytes: u64, net: Shape) -> f64 {
    net.bits_per_second.map_or(0.0, |rate| 8.0 * bytes as f64 / rate as f64)
}

/// One way a round: who waits for a message has sent its own.
fn waits(rounds: u64, net: Shape) -> f64 {
    rounds as f64 * net.one_way().as_secs_f64()
}

/// Both lanes between parties at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lanes {
    ots: Lane,
    steps: Lane,
    /// The share of all OTs that is made before any step has some.
    first: f64,
}

/// Both lanes between parties that are near and far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairCosts {
    near: Lanes,
    far: Lanes,
    /// What a meter counts at the party that sends most, where parties are near and far.
    all: [Cost; 2],
    /// Products under encryption, while nothing is sent.
    alone: Duration,
    /// Whether OTs are made ahead of their use; none: between parties that are far.
    ahead: Option<bool>,
}

impl PairCosts {
    /// With the party that sends most; and the OTs that a party sends and receives, and what a
    /// meter counts where parties are near.
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
            // Behind the first lot they go beside the steps, but one core and one link serve both:
            // what passes meanwhile are rounds.
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

    /// In turn it is the sum of both lanes; ahead rounds of all but the first lot pass beside the
    /// steps. Parties that are far have them ahead where nobody says otherwise.
    #[test]
    fn rounds_of_ots_ahead_pass_beside_the_steps() {
        // A second for 125 MB, 10 ms for a round.
        let net = "1Gbps,20ms";
        // 3 + 1 and 4 + 2 + 1 + 2, of which 0.75 go.
        near(seconds(lane(100, 125, 3), lane(100, 250, 4), net), [13.0, 12.25, 12.25]);
        // 8 + 1 and 1 + 8 + 1 + 2.
        near(seconds(lane(100, 1000, 1), lane(100, 1000, 1), net), [21.0, 20.25, 20.25]);
        // More rounds than all that is beside them: 1 + 20, and 9.
        near(seconds(lane(2000, 125, 1), lane(100, 250, 4), net), [30.0, 21.0, 21.0]);
        // Parties that are near make them in turn.
        near(seconds(lane(0, 0, 3), lane(100, 250, 4), "1Gbps,0.2ms"), [9.11, 9.035, 9.11]);
    }
}
