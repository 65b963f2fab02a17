//! The points of the grid, which sets they belong to, and how the work is cut for each.

use hushwire_wire::Shape;

use super::work::WorkloadProgram;
use crate::{Params, net::Transport};

/// The computation of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Products of vectors, each the factor of the next.
    And,
    /// The SHA-256 compression function's circuit.
    Sha256,
    /// The AES-128 circuit, key schedule included.
    Aes128,
}

impl Workload {
    pub(crate) const ALL: [Self; 3] = [Self::And, Self::Sha256, Self::Aes128];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Sha256 => "sha256",
            Self::Aes128 => "aes128",
        }
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) workload: Workload,
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    pub(crate) threads: usize,
}

impl Point {
    /// The whole grid, for these numbers of threads. In lockstep there is no network.
    pub(crate) fn all(threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let mut points = Vec::new();
        for workload in Workload::ALL {
            for transport in Transport::ALL {
                for net in
                    nets.iter().copied().filter(|net| transport != Transport::Inproc || *net == Shape::NONE)
                {
                    points.extend(threads.iter().map(|&threads| Self { workload, transport, net, threads }));
                }
            }
        }
        points
    }

    pub(crate) fn params(&self) -> Params {
        Params::new()
            .with("workload", self.workload.name())
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("threads", self.threads)
    }

    /// Whether a run without options measures it: everything on this host's own links, and bare products over networks.
    pub(crate) fn is_core(&self, least_threads: usize) -> bool {
        if self.net == Shape::NONE {
            return true;
        }
        self.workload == Workload::And
            && self.threads == least_threads
            && matches!(self.transport, Transport::TcpTls | Transport::TcpInsecure)
    }

    /// Whether `--quick` measures it.
    pub(crate) fn is_quick(&self, least_threads: usize) -> bool {
        self.net == Shape::NONE
            && self.threads == least_threads
            && (self.workload == Workload::And || self.transport == Transport::Inproc)
    }
}

/// The amount of work at once. LOCAL in what it costs, AGREEMENT in what it makes of the addresses of zero-shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    /// Instances of a batch; of products, the ANDs of a batch.
    pub(crate) instances: usize,
    /// Batches of each thread in one repetition.
    pub(crate) batches: usize,
    /// Threads of a party.
    pub(crate) threads: usize,
    /// Batches that a thread has in flight.
    pub(crate) lanes: usize,
}

/// ANDs of a repetition, at least; over a modelled network so many that its delay at the end does not count.
const LEAST_ANDS: u64 = 10_000_000;
const FAR_SECONDS: f64 = 0.02;
/// Bits of a message of products: in lockstep all three parties' vectors stay in a second cache of 1 MiB; over a link,
/// long enough for sockets and TLS.
const LOCKSTEP_BITS: usize = 1 << 17;
const LINK_BITS: usize = 1 << 21;
/// Instances of a circuit.
const LOCKSTEP_INSTANCES: usize = 2048;
const LINK_INSTANCES: usize = 8192;
/// Batches in flight over a link, and over one with a delay.
const LINK_LANES: usize = 2;
const FAR_LANES: usize = 4;

impl Cut {
    pub(crate) fn of(point: &Point, workload: &WorkloadProgram) -> Self {
        let lockstep = point.transport == Transport::Inproc;
        let instances = match (point.workload, lockstep) {
            (Workload::And, true) => LOCKSTEP_BITS,
            (Workload::And, false) => LINK_BITS,
            (_, true) => LOCKSTEP_INSTANCES,
            (_, false) => LINK_INSTANCES,
        };
        let lanes = match lockstep {
            true => 1,
            false if point.net != Shape::NONE => FAR_LANES,
            false => LINK_LANES,
        };
        let at_once = workload.ands(instances) * (lanes * point.threads) as u64;
        let far = point.net.bits_per_second.map_or(0.0, |rate| rate as f64 * FAR_SECONDS);
        let batches = LEAST_ANDS.max(far as u64).div_ceil(at_once) as usize * lanes;
        Self { instances, batches, threads: point.threads, lanes }
    }

    /// The number of batches that a lane computes one after the other.
    pub(crate) fn waves(&self) -> usize {
        self.batches / self.lanes
    }
}
