//! The points of the grid, which sets they belong to, and how many OTs each makes.

use hushwire_aes::{Backend, Tier};
use hushwire_ot::{Level, Protocol};
use hushwire_wire::Shape;

use super::table;
use crate::{Params, net::Transport};

/// The use that is made of the extension's OTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Correlated OT of choices that the extension draws.
    Rcot,
    /// Correlated OT of the receiver's choices.
    Cot,
    /// Random OT of the receiver's choices.
    Rot,
    /// Chosen OT.
    Ot,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Rcot, Self::Cot, Self::Rot, Self::Ot];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rcot => "rcot",
            Self::Cot => "cot",
            Self::Rot => "rot",
            Self::Ot => "ot",
        }
    }
}

pub(crate) const LEVELS: [Level; 2] = [Level::SemiHonest, Level::Malicious];

pub(crate) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::SemiHonest => "semi-honest",
        Level::Malicious => "malicious",
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) protocol: Protocol,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    pub(crate) backend: Backend,
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    pub(crate) threads: usize,
}

/// The AES instructions to measure, slowest first; the last is the one that most rows have.
pub(crate) fn tiers(only: Option<Backend>) -> Vec<Backend> {
    match only {
        Some(backend) => vec![backend],
        None => Tier::ALL.into_iter().filter_map(|tier| Backend::forced(tier).ok()).collect(),
    }
}

impl Point {
    /// The whole grid.
    pub(crate) fn all(tiers: &[Backend], threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let mut points = Vec::new();
        for level in LEVELS {
            for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.supports(level)) {
                for kind in Kind::ALL {
                    for backend in tiers.iter().flat_map(|tier| forms(*tier)) {
                        for transport in Transport::ALL {
                            for &net in nets {
                                let point = |&threads: &usize| Self {
                                    protocol,
                                    level,
                                    kind,
                                    backend,
                                    transport,
                                    net,
                                    threads,
                                };
                                points.extend(threads.iter().map(point));
                            }
                        }
                    }
                }
            }
        }
        points.retain(|point| point.is_meaningful(tiers.last().copied(), threads[0]));
        points
    }

    /// Other tiers than the widest, and single blocks, are measured over plain TCP alone; networks on the widest tier.
    fn is_meaningful(&self, widest: Option<Backend>, least_threads: usize) -> bool {
        let (first, alone) = (Some(self.backend) == widest, self.threads == least_threads);
        if self.net != Shape::NONE {
            return first && alone && self.transport != Transport::Inproc;
        }
        first || (alone && self.transport == Transport::TcpInsecure)
    }

    pub(crate) fn params(&self) -> Params {
        Params::new()
            .with("protocol", self.protocol.to_string())
            .with("security", level_name(self.level))
            .with("kind", self.kind.name())
            .with("tier", self.backend.tier().name())
            .with("batched", self.backend.is_batched())
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("threads", self.threads)
    }

    /// Whether a run without options measures it: all that somebody else has a figure for, and one protocol's rows on
    /// every transport and tier.
    pub(crate) fn is_core(&self, widest: Option<Backend>, least_threads: usize) -> bool {
        use Protocol::{FerretB11, Iknp, Kos, SoftSpoken2, SoftSpoken4, SoftSpoken8};
        if self.net != Shape::NONE || self.threads != least_threads {
            return false;
        }
        let (plain, rcot) = (self.transport == Transport::TcpInsecure, self.kind == Kind::Rcot);
        if self.is_in_table(widest) {
            return true;
        }
        if Some(self.backend) != widest {
            let passive = self.level == Level::SemiHonest;
            let slowest = self.backend.tier() == Tier::Portable && self.backend.is_batched();
            let single = Some(self.backend) == widest.map(Backend::unbatched);
            return match self.protocol {
                SoftSpoken4 => {
                    passive && ((rcot && slowest) || (single && matches!(self.kind, Kind::Rcot | Kind::Rot)))
                }
                Iknp => rcot && single,
                _ => false,
            };
        }
        match self.protocol {
            SoftSpoken4 => plain || rcot,
            SoftSpoken2 | SoftSpoken8 | FerretB11 => plain && rcot,
            Iknp | Kos => rcot && (plain || self.transport == Transport::Shm),
            _ => false,
        }
    }

    /// Whether it stands in the paper's table: its protocols over plain TCP, on AES-NI and on the widest tier.
    pub(crate) fn is_in_table(&self, widest: Option<Backend>) -> bool {
        let tier =
            Some(self.backend) == widest || (self.backend.tier() == Tier::AesNi && self.backend.is_batched());
        tier && self.net == Shape::NONE
            && self.transport == Transport::TcpInsecure
            && table::line(self.protocol, self.level, self.kind).is_some()
    }

    /// Whether `--quick` measures it.
    pub(crate) fn is_quick(&self, widest: Option<Backend>, least_threads: usize) -> bool {
        use Kind::{Ot, Rcot};
        use Level::{Malicious, SemiHonest};
        use Protocol::{Alsz, FerretB11, Iknp, Kos, SoftSpoken4};
        if self.net != Shape::NONE || self.threads != least_threads {
            return false;
        }
        let plain = self.transport == Transport::TcpInsecure;
        let slowest = self.backend.tier() == Tier::Portable && self.backend.is_batched();
        match (self.protocol, self.level, self.kind) {
            (SoftSpoken4, SemiHonest, Rcot) if Some(self.backend) != widest => slowest,
            _ if Some(self.backend) != widest => false,
            (SoftSpoken4, SemiHonest, Rcot) => {
                plain || matches!(self.transport, Transport::Inproc | Transport::Shm)
            }
            (SoftSpoken4, Malicious, Rcot) => plain || self.transport == Transport::TcpTls,
            (SoftSpoken4, _, Ot) | (Iknp | Kos | Alsz | FerretB11, _, Rcot) => plain,
            _ => false,
        }
    }

    /// The number of OTs of `wanted` that it makes: fewer where all of them would take minutes, and as many on every thread.
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

/// LOCAL: portable rows make this part of the OTs, those of single blocks that, and those over a network below that
/// rate that.
const PORTABLE_PART: usize = 64;
const UNBATCHED_PART: usize = 8;
const SLOW_NET_PART: usize = 64;
const SLOW_NET: u64 = 1_000_000_000;

/// A tier batched and, where that is something else, block by block.
fn forms(tier: Backend) -> impl Iterator<Item = Backend> {
    let single = tier.unbatched();
    std::iter::once(tier).chain((single != tier).then_some(single))
}
