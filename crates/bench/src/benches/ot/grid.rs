//! The points of the grid, and the number of OTs for each.

use hushwire_aes::{Backend, Tier};
use hushwire_ot::{Level, Protocol};
use hushwire_wire::Shape;

use super::table;
use crate::{
    BenchAsked,
    axes::{axis, every},
    net::{NETS, Transport},
};

axis! {
    /// The use of the extension's OTs.
    pub(crate) enum OtKind {
        /// Correlated OT with choices that the extension draws.
        Rcot = "rcot",
        /// Correlated OT with the receiver's choices.
        Cot = "cot",
        /// Random OT with the receiver's choices.
        Rot = "rot",
        /// Chosen OT.
        Ot = "ot",
    }
}

pub(crate) const LEVELS: [Level; 2] = [Level::SemiHonest, Level::Malicious];

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) level: Level,
    pub(crate) protocol: Protocol,
    pub(crate) kind: OtKind,
    pub(crate) backend: Backend,
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    pub(crate) threads: usize,
}

impl Point {
    /// The whole grid. Tiers other than the widest, and single blocks, are only over plain TCP.
    /// Modelled networks are on the widest tier.
    pub(crate) fn all(asked: &BenchAsked) -> Vec<Self> {
        let (tiers, nets, counts) = (asked.tiers(), asked.nets(&NETS), asked.threads());
        let forms: Vec<Backend> = tiers.iter().flat_map(|tier| forms(*tier)).collect();
        let mut points = every!(
            level in LEVELS,
            protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.supports(level)),
            kind in OtKind::ALL,
            &backend in &forms,
            transport in Transport::ALL,
            &net in &nets,
            &threads in &counts => Self { level, protocol, kind, backend, transport, net, threads }
        );
        points.retain(|point| {
            let (first, alone) = (Some(&point.backend) == tiers.last(), point.threads == counts[0]);
            if point.net != Shape::NONE {
                return first && alone && point.transport != Transport::Inproc;
            }
            first || (alone && point.transport == Transport::TcpInsecure)
        });
        points
    }

    /// Whether it is in the paper's table, which has these protocols over plain TCP, on AES-NI and
    /// on the widest tier.
    pub(crate) fn is_in_table(&self, widest: Option<Backend>) -> bool {
        let tier =
            Some(self.backend) == widest || (self.backend.tier() == Tier::AesNi && self.backend.is_batched());
        tier && self.net == Shape::NONE
            && self.transport == Transport::TcpInsecure
            && table::line(self.protocol, self.level, self.kind).is_some()
    }

    /// The number of OTs out of `wanted` that it makes. It is smaller if all of them would take
    /// minutes, and equal for all threads.
    pub(crate) fn count(&self, wanted: usize) -> usize {
        let slow_net = self.net.bits_per_second.is_some_and(|rate| rate < SLOW_NET);
        let part = match self.backend.tier() {
            Tier::Portable => PORTABLE_PART,
            _ if slow_net => SLOW_NET_PART,
            _ if !self.backend.is_batched() => UNBATCHED_PART,
            _ => 1,
        };
        (wanted / part).max(self.threads).next_multiple_of(self.threads)
    }
}

/// LOCAL: the fraction of the OTs for portable rows, for rows of single blocks, and for rows over a
/// network below the given rate.
const PORTABLE_PART: usize = 64;
const UNBATCHED_PART: usize = 8;
const SLOW_NET_PART: usize = 64;
const SLOW_NET: u64 = 1_000_000_000;

/// A tier in batches and, if that differs, block by block.
fn forms(tier: Backend) -> impl Iterator<Item = Backend> {
    let single = tier.unbatched();
    std::iter::once(tier).chain((single != tier).then_some(single))
}
