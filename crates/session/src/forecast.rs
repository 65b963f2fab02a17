//! Forecasts a run's rounds, bytes and time from its plan and its circuit alone. It uses the costs
//! that protocols declare, and measured rates of computing.

#[cfg(feature = "two")]
mod pair;

use crate::{Chosen, Protocol, Seats};
use hushwire_authgarble::{Need, Task, garble_cost, online_cost, preprocess_cost};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_garble::Scheme;
use hushwire_machine::Cost;
use hushwire_ot::{Functionality, Level};
use hushwire_rep3::{KeySize, Sbox};
use hushwire_wire::Shape;
use std::time::Duration;

/// The forecast of a run, for the party that sends most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The amount of work.
    pub work: u64,
    /// The unit of `work`: ANDs, blocks or OTs.
    pub unit: &'static str,
    /// Sequential exchanges on the busiest lane, without set-ups.
    pub rounds: u64,
    /// Payload bytes, without set-ups and TLS.
    pub bytes_sent: u64,
    /// Exchanges of set-ups, of shares of inputs and of the confirmation. Only the time includes
    /// them.
    pub set_up: u64,
    /// The time of computing, without messages.
    compute: Duration,
    /// The costs among three parties whose messages take at least this long. Their circuits use
    /// more trees in place of ripples.
    farther: [Option<(Duration, Cost)>; 2],
    /// The costs of two parties on numbers, whose time is that of two lanes.
    #[cfg(feature = "two")]
    pair: Option<pair::PairCosts>,
}

/// Instances, and how they are divided into batches on threads and lanes.
#[derive(Clone, Copy, Debug)]
pub struct Batching {
    /// Instances of all batches.
    pub instances: u64,
    /// Instances of a batch.
    pub batch: u32,
    /// Threads of each party.
    pub threads: u16,
    /// Batches in flight on each thread.
    pub lanes: u16,
}

/// LOCAL: the one-way delays from which a forecast assumes that three parties are in different
/// rooms, or far apart.
pub(crate) const FARTHER: [Duration; 2] = [Duration::from_micros(75), Duration::from_millis(1)];

const ANDS: &str = "ANDs";

fn time(work: u64, rate: f64) -> Duration {
    Duration::try_from_secs_f64(work as f64 / rate).unwrap_or(Duration::MAX)
}

/// LOCAL: sequential messages before and after computing, measured in runs over 200 ms.
const fn set_up(protocol: Protocol) -> u64 {
    match protocol {
        Protocol::Rep3 => 13,
        Protocol::Yao => 11,
        Protocol::Gmw => 12,
        Protocol::Two => 15,
        Protocol::Authgarble(2) | Protocol::Ywz20(2) => 9,
        Protocol::Authgarble(_) | Protocol::Ywz20(_) => 27,
    }
}

/// Bits that a party sends for a triple with the default extension; see
/// [`hushwire_gmw::triples_cost`].
const TRIPLE_BITS: usize = 31;

/// LOCAL: ANDs per second of a thread, on a CPU with AES instructions and on one without. The rates
/// are half of those with AES-NI in docs/measurements, since parties seldom have a CPU to
/// themselves.
const fn rates(protocol: Protocol, scheme: Option<Scheme>) -> [f64; 2] {
    match (protocol, scheme) {
        (Protocol::Rep3, _) => [5e8, 5e7],
        (Protocol::Yao, Some(Scheme::Prf)) => [8e6, 4e5],
        (Protocol::Yao, _) => [2e7, 7e5],
        (Protocol::Gmw | Protocol::Two, _) => [3e6, 2e5],
        (Protocol::Authgarble(_) | Protocol::Ywz20(_), _) => [2e5, 2e4],
    }
}

impl Forecast {
    const NOTHING: Self = Self {
        work: 0,
        unit: ANDS,
        rounds: 0,
        bytes_sent: 0,
        set_up: 0,
        compute: Duration::ZERO,
        farther: [None; 2],
        #[cfg(feature = "two")]
        pair: None,
    };

    /// Only the protocol's set-up.
    const fn of_set_up(protocol: Protocol) -> Self {
        Self { set_up: set_up(protocol), ..Self::NOTHING }
    }

    /// The forecast of a program on many instances, in batches on threads and lanes.
    #[must_use]
    pub fn of_batches(
        chosen: Chosen,
        program: &Program,
        seats: &Seats,
        Batching { instances, batch: each, threads, lanes }: Batching,
        aes_instructions: bool,
    ) -> Self {
        let batches = instances.div_ceil(u64::from(each));
        let one = batch(chosen, program, seats, each as usize);
        let ands = program.ands() * instances;
        let [with, without] = rates(chosen.protocol, chosen.scheme);
        let rate = f64::from(threads) * if aes_instructions { with } else { without };
        Self {
            work: ands,
            rounds: one.rounds * batches.div_ceil(u64::from(threads) * u64::from(lanes)),
            // The last batch may be shorter.
            bytes_sent: (one.bytes_sent as f64 * instances as f64 / f64::from(each)) as u64,
            compute: time(ands, rate),
            ..Self::of_set_up(chosen.protocol)
        }
    }

    /// The forecast of a program that runs once, on one thread. For authenticated garbling, it
    /// covers all phases but the set-up.
    #[must_use]
    pub fn of_program(chosen: Chosen, program: &Program, seats: &Seats, aes_instructions: bool) -> Self {
        let Cost { rounds, bytes_sent } = match chosen.protocol.authenticated() {
            Some((n, form)) => all_phases(chosen, n, &Task::new(program, seats.among(program, n), 1, form)),
            None => batch(chosen, program, seats, 1),
        };
        let ands = program.ands();
        let [with, without] = rates(chosen.protocol, chosen.scheme);
        // Copies of a block are side by side in place of instances. Each copy takes a byte, in
        // which eight instances would fit.
        let compute = time(ands, if aes_instructions { with } else { without });
        Self { work: ands, rounds, bytes_sent, compute, ..Self::of_set_up(chosen.protocol) }
    }

    /// The forecast of steps on shares of numbers and bits, on one thread. `sent` is the number of
    /// bytes of the party that sends most. Three parties compute about as much for each bit that
    /// they send, whatever its type. `farther` has rounds and bytes for messages that take at least
    /// 75 µs, and at least a millisecond.
    #[must_use]
    pub fn of_steps((rounds, sent): (u64, u64), farther: [(u64, u64); 2], aes_instructions: bool) -> Self {
        let [with, without] = rates(Protocol::Rep3, None);
        let compute = time(sent.saturating_mul(8), if aes_instructions { with } else { without });
        let farther = [0, 1].map(|k| {
            let (rounds, bytes_sent) = farther[k];
            Some((FARTHER[k], Cost { rounds, bytes_sent }))
        });
        Self {
            work: sent.saturating_mul(8),
            unit: "bits",
            rounds,
            bytes_sent: sent,
            compute,
            farther,
            ..Self::of_set_up(Protocol::Rep3)
        }
    }

    /// The forecast of steps of two parties on numbers, with OTs by the extension of `chosen`.
    /// Bytes and rounds are exact for the party that sends most.
    #[cfg(feature = "two")]
    pub fn of_pair(chosen: Chosen, plan: &hushwire_two::Plan, aes_instructions: bool) -> Self {
        let ot = chosen_ot(chosen.ot);
        let (pair, work, Cost { rounds, bytes_sent }) =
            pair::PairCosts::new(plan, ot, chosen.ahead, aes_instructions);
        Self { work, unit: "OTs", rounds, bytes_sent, pair: Some(pair), ..Self::of_set_up(Protocol::Two) }
    }

    /// The forecast for a number of ANDs of two parties on one thread, under Yao's protocol with a
    /// scheme or under GMW. It serves where there is no plan; rounds are not counted.
    #[must_use]
    pub fn of_two(scheme: Option<Scheme>, ands: u64, aes_instructions: bool) -> Self {
        let protocol = if scheme.is_some() { Protocol::Yao } else { Protocol::Gmw };
        Self::of_ands(protocol, scheme, ands, aes_instructions)
    }

    /// The same for any protocol. Rounds are counted only for authenticated garbling, whose
    /// preprocessing takes nearly all of them.
    #[must_use]
    pub fn of_ands(protocol: Protocol, scheme: Option<Scheme>, ands: u64, aes_instructions: bool) -> Self {
        let bits = match protocol {
            Protocol::Rep3 => 1,
            Protocol::Yao => {
                let format = scheme.unwrap_or_default().format();
                8 * format.and_bytes + format.and_bits
            }
            Protocol::Gmw | Protocol::Two => TRIPLE_BITS + 2,
            Protocol::Authgarble(_) | Protocol::Ywz20(_) => {
                8 * authenticated(chosen_ot(None), protocol, ands).0
            }
        };
        let rounds = authenticated(chosen_ot(None), protocol, ands).1;
        let [with, without] = rates(protocol, scheme);
        let compute = time(ands, if aes_instructions { with } else { without });
        Self {
            work: ands,
            rounds,
            bytes_sent: ands.saturating_mul(bits as u64) / 8,
            compute,
            ..Self::of_set_up(protocol)
        }
    }

    /// The forecast for the encryption or decryption of `bytes` bytes in batches of blocks.
    #[must_use]
    pub fn of_bytes(size: KeySize, sbox: Sbox, bytes: u64, cut: Batching, aes_instructions: bool) -> Self {
        let Batching { instances: blocks, batch: chunk, threads, lanes } = cut;
        let one = hushwire_rep3::cost(size, sbox, chunk as usize);
        // Half of the rate of a thread of the main job, as above.
        let with = match sbox {
            Sbox::Tower | Sbox::Gf256 => 5e5,
            Sbox::Bp32 | Sbox::Depth4 => 3e5,
            Sbox::Lut256 => 1e4,
        };
        let rate = f64::from(threads) * if aes_instructions { with } else { with / 10.0 };
        let chunks = blocks.div_ceil(chunk.into());
        Self {
            work: blocks,
            unit: "blocks",
            rounds: one.rounds * chunks.div_ceil(u64::from(threads) * u64::from(lanes)),
            // The result goes to the owner.
            bytes_sent: (one.bytes_sent as f64 * blocks as f64 / f64::from(chunk)) as u64 + bytes,
            compute: time(blocks, rate),
            ..Self::NOTHING
        }
    }

    /// The forecast for `count` chosen oblivious transfers. Rounds are not counted.
    #[must_use]
    pub fn of_ots(ot: hushwire_ot::Protocol, level: Level, count: usize, aes_instructions: bool) -> Self {
        let both = ot.cost(level, Functionality::Ot, count.max(1));
        let bytes_sent = both.iter().map(|cost| cost.bytes_sent).max().unwrap_or_default();
        let compute = time(count as u64, if aes_instructions { 5e6 } else { 3e5 });
        Self { work: count as u64, unit: "OTs", bytes_sent, compute, ..Self::NOTHING }
    }

    /// Rounds and bytes over such a network. Parties that are farther apart need fewer rounds and
    /// send more bytes.
    #[must_use]
    pub fn over(&self, net: Shape) -> Cost {
        #[cfg(feature = "two")]
        if let Some(pair) = &self.pair {
            return pair.over(net);
        }
        let near = Cost { rounds: self.rounds, bytes_sent: self.bytes_sent };
        let farther = self.farther.iter().flatten().rev().find(|(from, _)| net.one_way() >= *from);
        farther.map_or(near, |(_, cost)| *cost)
    }

    /// The time over such a network in seconds. Sending and computing overlap; round trips are
    /// added.
    #[must_use]
    pub fn seconds(&self, net: Shape) -> f64 {
        let waits = |rounds: u64| rounds as f64 * net.rtt.as_secs_f64() / 2.0;
        #[cfg(feature = "two")]
        if let Some(pair) = &self.pair {
            return pair.seconds(net) + waits(self.set_up);
        }
        let Cost { rounds, bytes_sent: bytes } = self.over(net);
        let sent = net.bits_per_second.map_or(0.0, |rate| 8.0 * bytes as f64 / rate as f64);
        let computed = self.compute.as_secs_f64() * (bytes as f64 / self.bytes_sent.max(1) as f64).max(1.0);
        // A round costs one way: a party that waits for a message has already sent its own.
        computed.max(sent) + waits(rounds.saturating_add(self.set_up))
    }
}

/// The cost of all phases of authenticated garbling among `n` parties but the set-up. It combines
/// the most rounds and the most bytes of any party.
fn all_phases(chosen: Chosen, n: u8, task: &Task) -> Cost {
    let parties = usize::from(n);
    let made = preprocess_cost(parties, chosen_ot(chosen.ot), task.need());
    let own = |me| {
        let (garbled, run) = (garble_cost(me, parties, task), online_cost(me, parties, task));
        [made.rounds + garbled.rounds + run.rounds, made.bytes_sent + garbled.bytes_sent + run.bytes_sent]
    };
    let each: Vec<[u64; 2]> = (0..parties).map(own).collect();
    let most = |of: usize| each.iter().map(|cost| cost[of]).max().unwrap_or_default();
    Cost { rounds: most(0), bytes_sent: most(1) }
}

/// The cost of one batch of `n` instances to the party that sends most.
fn batch(chosen: Chosen, program: &Program, seats: &Seats, n: usize) -> Cost {
    let bits = |widths: &[usize]| widths.iter().sum::<usize>();
    // At most one share for each input and each output.
    let ends = ((bits(program.inputs()) + bits(program.outputs())) * plane_bytes(n)) as u64;
    match chosen.protocol {
        Protocol::Rep3 => {
            let cost = hushwire_rep3::circuit_cost(program, n);
            Cost { bytes_sent: cost.bytes_sent + ends, ..cost }
        }
        Protocol::Gmw | Protocol::Two => {
            let cost = hushwire_gmw::circuit_cost(program, &seats.of_two(program), 0, n);
            let triples =
                chosen.ot.map(|ot| hushwire_gmw::triples_cost(ot, hushwire_gmw::triples(program, n)));
            let triples = triples.unwrap_or_default();
            Cost { rounds: cost.rounds, bytes_sent: cost.bytes_sent + triples.bytes_sent + ends }
        }
        Protocol::Authgarble(_) | Protocol::Ywz20(_) => {
            let ands = program.ands() * n as u64;
            let (each, made) = authenticated(chosen_ot(chosen.ot), chosen.protocol, ands);
            // Coins, checks and openings of a set-up and a run. Their number hardly depends on the
            // circuit.
            Cost { rounds: made.max(40) + 40, bytes_sent: ands * each as u64 + 16 * ends * 8 }
        }
        Protocol::Yao => {
            let format = chosen.scheme.unwrap_or_default().format();
            let xors = if format.xor_bytes == 0 { 0 } else { xors(program) };
            let and_bits = (8 * format.and_bytes + format.and_bits) as u64;
            let tables = program.ands() * and_bits / 8 + xors * format.xor_bytes as u64;
            // A label for each input; the evaluator's labels come by oblivious transfer.
            let labels = 16 * bits(program.inputs()) as u64;
            let choices = seats.of_two(program).input_bits(program, 1) * n;
            let ots = chosen.ot.map(|ot| ot.cost(Level::SemiHonest, Functionality::Cot, choices.max(1)));
            let ots = ots.map_or(0, |both| both[0].bytes_sent);
            Cost { rounds: 1, bytes_sent: (tables + labels) * n as u64 + ots + ends }
        }
    }
}

/// The default extension.
fn chosen_ot(given: Option<hushwire_ot::Protocol>) -> hushwire_ot::Protocol {
    given.unwrap_or(hushwire_ot::Protocol::SoftSpoken4)
}

/// The bytes that a garbler sends for one of `all` ANDs of authenticated garbling, and the rounds
/// of their preprocessing.
fn authenticated(ot: hushwire_ot::Protocol, protocol: Protocol, all: u64) -> (usize, u64) {
    let Some((n, form)) = protocol.authenticated() else { return (0, 0) };
    let (n, ands) = (usize::from(n), all.clamp(1, 1 << 16));
    let made = preprocess_cost(n, ot, Need { triples: ands, masks: ands });
    let tables = form.table_bytes([1, n], ands as usize) / ands as usize;
    let rounds = u128::from(made.rounds) * u128::from(all) / u128::from(ands);
    ((made.bytes_sent / ands) as usize + tables, u64::try_from(rounds).unwrap_or(u64::MAX))
}

fn xors(program: &Program) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        let xors: usize = block.layers().iter().map(|layer| layer.xors.len()).sum();
        (xors * copies) as u64
    };
    (0..stages.len()).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_parties_that_are_far_apart_have_a_forecast_of_their_own() {
        let forecast = Forecast::of_steps((1000, 1_000_000), [(400, 2_000_000), (100, 3_000_000)], true);
        let rounds = [Shape::NONE, Shape::lan(), Shape::wan()].map(|net| forecast.over(net).rounds);
        assert_eq!((rounds, forecast.over(Shape::wan()).bytes_sent), ([1000, 400, 100], 3_000_000));
        let far = Shape::wan();
        // 100 rounds and 13 of the set-up at 20 ms one way, and three megabytes at 100 Mb/s.
        let expected = 113.0 * 0.02 + 0.24;
        assert!((forecast.seconds(far) - expected).abs() < 0.01, "{}", forecast.seconds(far));
        let near = Shape::lan();
        let expected = 400.0 * 0.0001 + 2.0 * forecast.compute.as_secs_f64();
        assert!((forecast.seconds(near) - expected).abs() < 0.01, "{}", forecast.seconds(near));
    }
}
