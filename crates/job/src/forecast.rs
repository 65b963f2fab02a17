//! A run's rounds, bytes and time, from its plan and its circuit alone: the costs that protocols declare, and the rates at which
//! they were measured to compute.

use crate::{Plan, Prepared, Protocol};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_garble::Scheme;
use hushwire_ot::{Functionality, Level};
use hushwire_wire::{Cost, Shape};
use std::time::Duration;

/// The forecast of a run, for the party that sends most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// AND gates of all instances.
    pub ands: u64,
    /// Exchanges one after the other on the busiest lane, without those of set-ups.
    pub rounds: u64,
    /// Payload, without set-ups and TLS.
    pub bytes_sent: u64,
    /// The time of arithmetic alone.
    compute: Duration,
}

/// Bits that a party sends for a triple with the extension that there is without a word: [`hushwire_gmw::triples_cost`] says more.
const TRIPLE_BITS: usize = 31;

/// LOCAL: ANDs that a thread computes in a second, on a CPU with AES instructions and without. Half of what
/// docs/benchmarks.md has of AES-NI, as parties seldom have their CPU for themselves.
const fn rates(protocol: Protocol, scheme: Option<Scheme>) -> [f64; 2] {
    match (protocol, scheme) {
        (Protocol::Rep3, _) => [5e8, 5e7],
        (Protocol::Yao, Some(Scheme::Prf)) => [8e6, 4e5],
        (Protocol::Yao, _) => [2e7, 7e5],
        (Protocol::Gmw, _) => [3e6, 2e5],
    }
}

impl Prepared {
    /// The forecast of a run on a CPU with AES instructions or without.
    #[must_use]
    pub fn forecast(&self, aes_instructions: bool) -> Forecast {
        let (plan, program) = (&*self.plan, &*self.program);
        let batches = u64::from(plan.batches());
        let one = batch(plan, program);
        let ands = program.ands() * plan.instances;
        let lanes = u64::from(plan.threads) * u64::from(plan.lanes);
        let [with, without] = rates(plan.protocol, plan.scheme);
        let rate = f64::from(plan.threads) * if aes_instructions { with } else { without };
        Forecast {
            ands,
            rounds: one.rounds * batches.div_ceil(lanes),
            // The last batch may be a short one.
            bytes_sent: (one.bytes_sent as f64 * plan.instances as f64 / f64::from(plan.batch)) as u64,
            compute: Duration::try_from_secs_f64(ands as f64 / rate).unwrap_or(Duration::MAX),
        }
    }
}

impl Forecast {
    /// Of so many ANDs of two parties on one thread, under Yao's protocol with a scheme or under GMW: what is known where there is
    /// no plan. Rounds are not counted.
    #[must_use]
    pub fn of_two(scheme: Option<Scheme>, ands: u64, aes_instructions: bool) -> Self {
        let (protocol, bits) = match scheme.map(Scheme::format) {
            Some(format) => (Protocol::Yao, 8 * format.and_bytes + format.and_bits),
            None => (Protocol::Gmw, TRIPLE_BITS + 2),
        };
        let [with, without] = rates(protocol, scheme);
        let rate = if aes_instructions { with } else { without };
        let compute = Duration::try_from_secs_f64(ands as f64 / rate).unwrap_or(Duration::MAX);
        Self { ands, rounds: 0, bytes_sent: ands.saturating_mul(bits as u64) / 8, compute }
    }

    /// The time over such a network in seconds: what is sent and what is computed overlap, round trips come on top.
    #[must_use]
    pub fn seconds(&self, net: Shape) -> f64 {
        let sent = net.bits_per_second.map_or(0.0, |rate| 8.0 * self.bytes_sent as f64 / rate as f64);
        // One way: who waits for a message has sent its own.
        self.compute.as_secs_f64().max(sent) + self.rounds as f64 * net.rtt.as_secs_f64() / 2.0
    }
}

/// The cost of one batch to the party that sends most.
fn batch(plan: &Plan, program: &Program) -> Cost {
    let n = plan.batch as usize;
    let bits = |widths: &[usize]| widths.iter().sum::<usize>();
    // A share for each input and each output, at most.
    let ends = ((bits(&plan.input_widths) + bits(&plan.output_widths)) * plane_bytes(n)) as u64;
    match plan.protocol {
        Protocol::Rep3 => {
            let cost = hushwire_rep3::circuit_cost(program, n);
            Cost { bytes_sent: cost.bytes_sent + ends, ..cost }
        }
        Protocol::Gmw => {
            let who = plan.between_two(program);
            let cost = hushwire_gmw::circuit_cost(program, &who, 0, n);
            let triples = plan.ot.map(|ot| hushwire_gmw::triples_cost(ot, hushwire_gmw::triples(program, n)));
            let triples = triples.unwrap_or_default();
            Cost { rounds: cost.rounds, bytes_sent: cost.bytes_sent + triples.bytes_sent + ends }
        }
        Protocol::Yao => {
            let format = plan.scheme.unwrap_or_default().format();
            let xors = if format.xor_bytes == 0 { 0 } else { xors(program) };
            let and_bits = (8 * format.and_bytes + format.and_bits) as u64;
            let tables = program.ands() * and_bits / 8 + xors * format.xor_bytes as u64;
            // A label for each input; the evaluator's come by oblivious transfer.
            let labels = 16 * bits(&plan.input_widths) as u64;
            let who = plan.between_two(program);
            let choices = who.input_bits(program, 1) * n;
            let ots = plan.ot.map(|ot| ot.cost(Level::SemiHonest, Functionality::Cot, choices.max(1)));
            let ots = ots.map_or(0, |both| both[0].bytes_sent);
            Cost { rounds: 1, bytes_sent: (tables + labels) * n as u64 + ots + ends }
        }
    }
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
