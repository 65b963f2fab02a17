//! The grid: circuits, parties, variants, phases, implementations and links.

use hushwire_authgarble::Form;
use hushwire_wire::Shape;

use crate::{Params, implementation::Implementation, link::Link, net::Transport};

/// A circuit, and how many run side by side.
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

/// A phase of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Setup,
    Independent,
    Dependent,
    Online,
}

impl Phase {
    pub(super) const ALL: [Self; 4] = [Self::Setup, Self::Independent, Self::Dependent, Self::Online];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Independent => "function-independent",
            Self::Dependent => "function-dependent",
            Self::Online => "online",
        }
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) circuit: Circuit,
    pub(super) parties: usize,
    pub(super) variant: Form,
    pub(super) phase: Phase,
    pub(super) implementation: Implementation,
    pub(super) transport: Transport,
    pub(super) net: Shape,
    /// Threads of each party.
    pub(super) threads: usize,
}

/// Parties of a job at most.
const MOST: usize = 8;

impl Point {
    pub(super) fn all(threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let mut points = vec![];
        for circuit in Circuit::ALL {
            for parties in 2..=MOST {
                for variant in Form::ALL {
                    for implementation in Implementation::ALL {
                        for transport in Transport::ALL {
                            for &net in nets {
                                // Queues in memory are no link that could be shaped.
                                if net == Shape::NONE || transport != Transport::Inproc {
                                    let of = |phase, threads| Self {
                                        circuit,
                                        parties,
                                        variant,
                                        phase,
                                        implementation,
                                        transport,
                                        net,
                                        threads,
                                    };
                                    let each = threads.iter().map(|n| Phase::ALL.map(|phase| of(phase, *n)));
                                    points.extend(each.flatten());
                                }
                            }
                        }
                    }
                }
            }
        }
        points
    }

    /// SHA-256 among three of so many threads, over all transports and these networks.
    pub(super) fn table6(threads: usize, nets: &[Shape]) -> Vec<Self> {
        let all = Self::all(&[threads], nets).into_iter();
        all.filter(|p| p.circuit == Circuit::one("sha256") && p.parties == 3).collect()
    }

    /// Whether the paper's Table 6 has it: SHA-256 among three over loopback.
    pub(super) fn is_the_papers(&self) -> bool {
        let link = self.transport == Transport::TcpInsecure && self.net == Shape::NONE;
        link && self.circuit == Circuit::one("sha256") && self.parties == 3
    }

    pub(super) fn params(&self) -> Params {
        Params::new()
            .with("circuit", self.circuit.text())
            .with("parties", self.parties)
            .with("variant", self.variant.name(self.parties))
            .with("phase", self.phase.name())
            .with("implementation", self.implementation.name())
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("threads", self.threads)
    }

    /// The run that this phase is of.
    pub(super) fn run_name(&self) -> String {
        Self { phase: Phase::Setup, ..*self }.params().to_string()
    }

    /// Whether a run without options measures it: over plain TCP, batched, one circuit among 2 to 8, both variants among three and more, batches of circuits among three;
    /// all implementations on SHA-256 among three; over modelled networks AES-128 among two and three.
    pub(super) fn is_core(&self, given: bool, least_threads: usize) -> bool {
        let batched = self.implementation == Implementation::Batched;
        let best = self.variant == Form::best(self.parties);
        let other = self.parties > 2 && batched && self.circuit.copies == 1 && self.net == Shape::NONE;
        let least = self.threads == least_threads;
        if self.transport != Transport::TcpInsecure || !(best || other) || !least {
            return false;
        }
        let few = self.parties <= 3;
        if self.net != Shape::NONE && !given {
            return batched && few && self.circuit == Circuit::one("aes128");
        }
        let sha = self.circuit == Circuit::one("sha256") && self.parties == 3;
        sha || batched && (self.circuit.copies == 1 || few)
    }

    pub(super) fn is_quick(&self, least_threads: usize) -> bool {
        let small = self.circuit == Circuit::one("aes128") && self.parties <= 3;
        let best = self.variant == Form::best(self.parties);
        let plain = self.transport == Transport::TcpInsecure && self.net == Shape::NONE;
        small
            && best
            && plain
            && self.threads == least_threads
            && self.implementation == Implementation::Batched
    }

    /// The link that a phase goes over, in messages of about so many bytes.
    pub(super) fn link(&self, message: u64) -> Option<Link> {
        if self.transport == Transport::Inproc {
            return None;
        }
        match self.parties {
            2 => Some(Link::one_flow(self.transport, message)),
            _ => Link::three_flows(self.transport, message),
        }
    }
}
