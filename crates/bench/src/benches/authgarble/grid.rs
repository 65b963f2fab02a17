//! The grid: circuits, parties, variants, phases, implementations and links.

use hushwire_authgarble::Form;
use hushwire_wire::Shape;

use crate::{
    BenchAsked, Params,
    axes::{axis, every, params},
    implementation::Implementation,
    link::RowLink,
    net::Transport,
};

/// A circuit, and the number of copies that run in parallel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Circuit {
    pub(super) name: &'static str,
    pub(super) copies: usize,
}

impl Circuit {
    const ALL: [Self; 4] =
        [Self::one("aes128"), Self::one("sha256"), Self::of("aes128", 32), Self::of("sha256", 8)];

    const fn one(name: &'static str) -> Self {
        Self::of(name, 1)
    }

    const fn of(name: &'static str, copies: usize) -> Self {
        Self { name, copies }
    }

    fn text(self) -> String {
        if self.copies == 1 { self.name.to_owned() } else { format!("{}x{}", self.copies, self.name) }
    }
}

axis! {
    /// A phase of the protocol.
    pub(super) enum AuthPhase {
        Setup = "setup",
        Independent = "function-independent",
        Dependent = "function-dependent",
        Online = "online",
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) circuit: Circuit,
    pub(super) parties: usize,
    pub(super) variant: Form,
    pub(super) phase: AuthPhase,
    pub(super) implementation: Implementation,
    pub(super) transport: Transport,
    pub(super) net: Shape,
    /// The threads of each party.
    pub(super) threads: usize,
}

/// The most parties of a job.
const MOST: usize = 8;

impl Point {
    pub(super) fn all(asked: &BenchAsked) -> Vec<Self> {
        let (links, counts) = (asked.links(), asked.threads());
        every!(
            circuit in Circuit::ALL,
            parties in 2..=MOST,
            variant in Form::ALL,
            implementation in Implementation::ALL,
            &(transport, net) in &links,
            &threads in &counts,
            phase in AuthPhase::ALL =>
                Self { circuit, parties, variant, phase, implementation, transport, net, threads }
        )
    }

    /// SHA-256 with three parties and this many threads, over all transports and these networks.
    pub(super) fn table6(asked: &BenchAsked) -> Vec<Self> {
        let mut points = Self::all(asked);
        let threads = asked.options.threads.unwrap_or(1);
        points.retain(|p| p.circuit == Circuit::one("sha256") && p.parties == 3 && p.threads == threads);
        points
    }

    /// Whether the paper's Table 6 has the point: SHA-256 with three parties over loopback.
    pub(super) fn is_the_papers(&self) -> bool {
        let link = self.transport == Transport::TcpInsecure && self.net == Shape::NONE;
        link && self.circuit == Circuit::one("sha256") && self.parties == 3
    }

    pub(super) fn params(&self) -> Params {
        params!(self; circuit = self.circuit.text(), parties, variant = self.variant.name(self.parties), phase,
            implementation, transport, net, threads)
    }

    /// The name of the run to which this phase belongs.
    pub(super) fn run_name(&self) -> String {
        Self { phase: AuthPhase::Setup, ..*self }.params().to_string()
    }

    /// The link of a phase, with messages of about this many bytes.
    pub(super) fn link(&self, message: u64) -> Option<RowLink> {
        if self.transport == Transport::Inproc {
            return None;
        }
        match self.parties {
            2 => Some(RowLink::one_flow(self.transport, message)),
            _ => RowLink::three_flows(self.transport, message),
        }
    }
}
