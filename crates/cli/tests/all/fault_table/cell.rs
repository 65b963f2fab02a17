//! A cell of the table: a protocol, a fault, and the member that has the fault.

use std::{fmt, time::Duration};

/// The protocol that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Rep3,
    Yao,
    Gmw,
    /// Circuits of whole sets. The two variants below are the default methods for items and for
    /// sizes.
    Psi,
    PsiVole,
    PsiBins,
    AesCtr,
    Ot,
    LocalPsi,
    LocalAesCtr,
}

/// The process that starts the parties of `local psi` and `local aes-ctr`.
pub(crate) const SUPERVISOR: &str = "supervisor";

impl Protocol {
    pub(crate) const ALL: [Self; 10] = [
        Self::Rep3,
        Self::Yao,
        Self::Gmw,
        Self::Psi,
        Self::PsiVole,
        Self::PsiBins,
        Self::AesCtr,
        Self::Ot,
        Self::LocalPsi,
        Self::LocalAesCtr,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rep3 => "rep3",
            Self::Yao => "yao",
            Self::Gmw => "gmw",
            Self::Psi => "psi",
            Self::PsiVole => "psi-vole",
            Self::PsiBins => "psi-circuit",
            Self::AesCtr => "aes-ctr",
            Self::Ot => "ot",
            Self::LocalPsi => "local-psi",
            Self::LocalAesCtr => "local-aes-ctr",
        }
    }

    /// Returns the name in the table's rows. All methods of an intersection report the same.
    pub(crate) fn row(self) -> &'static str {
        if self.is_intersection() { Self::Psi.name() } else { self.name() }
    }

    /// Returns whether it is an intersection.
    pub(crate) fn is_intersection(self) -> bool {
        matches!(self, Self::Psi | Self::PsiVole | Self::PsiBins)
    }

    /// Returns all members that have a process.
    pub(crate) fn members(self) -> &'static [&'static str] {
        match self {
            Self::Rep3 => &["party0", "party1", "party2", "alice", "bob"],
            Self::Yao | Self::Gmw | Self::Psi | Self::PsiVole | Self::PsiBins => &["party0", "party1"],
            Self::AesCtr => &["party0", "party1", "party2", "alice"],
            Self::Ot => &["sender", "receiver"],
            Self::LocalPsi => &[SUPERVISOR, "party0", "party1"],
            Self::LocalAesCtr => &[SUPERVISOR, "party0", "party1", "party2"],
        }
    }

    /// Returns whether one process starts all others.
    pub(crate) fn is_supervised(self) -> bool {
        matches!(self, Self::LocalPsi | Self::LocalAesCtr)
    }

    /// Returns the processes that a person starts.
    pub(crate) fn started(self) -> &'static [&'static str] {
        if self.is_supervised() { &[SUPERVISOR] } else { self.members() }
    }

    /// Returns whether it runs from a job file.
    pub(crate) fn is_job(self) -> bool {
        matches!(self, Self::Rep3 | Self::Yao | Self::Gmw | Self::AesCtr) || self.is_intersection()
    }
}

/// A fault of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// SIGKILL during the run.
    Kill,
    /// A stop of 5 s during the run, which only slows it down.
    Pause,
    /// A stop during the run for longer than the liveness limit.
    Freeze(Duration),
    /// The member has another key than the pin that the others list.
    WrongPin,
    /// One other member lists a wrong pin for this member; see [`Cell::lister`].
    MistakenPin,
    /// The member never starts.
    Absent,
    /// The file of its output is on a disk without free space.
    FullDisk,
    /// The place of its output cannot be written.
    Unwritable,
    /// Its standard output is a pipe without a reader.
    ClosedPipe,
    /// Its standard output is on a full disk.
    FullPipe,
}

impl Fault {
    pub(crate) fn all(frozen: Duration) -> [Self; 10] {
        [
            Self::Kill,
            Self::Pause,
            Self::Freeze(frozen),
            Self::WrongPin,
            Self::MistakenPin,
            Self::Absent,
            Self::FullDisk,
            Self::Unwritable,
            Self::ClosedPipe,
            Self::FullPipe,
        ]
    }

    /// Returns the time for which a cell with this fault mostly waits.
    pub(crate) fn waits(self) -> Duration {
        Duration::from_secs(match self {
            Self::Freeze(frozen) => return frozen,
            Self::Pause => 5,
            Self::Absent => 8,
            Self::WrongPin | Self::MistakenPin => 15,
            _ => 0,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Freeze(_) => "freeze",
            Self::WrongPin => "wrong-pin",
            Self::MistakenPin => "mistaken-pin",
            Self::Absent => "absent",
            Self::FullDisk => "full-disk",
            Self::Unwritable => "unwritable",
            Self::ClosedPipe => "closed-pipe",
            Self::FullPipe => "full-pipe",
        }
    }
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) protocol: Protocol,
    pub(crate) member: &'static str,
    pub(crate) fault: Fault,
    /// The time from the connection of all members to the fault, if the fault is during the run.
    pub(crate) after: Duration,
}

impl Cell {
    /// Returns the peer whose file lists a wrong pin for the member: the next peer with links to
    /// it. Clients have no links with each other.
    pub(crate) fn lister(&self) -> &'static str {
        let members = self.protocol.members();
        let at = members.iter().position(|name| *name == self.member).unwrap_or(0);
        let is_client = |name: &str| self.protocol == Protocol::Rep3 && !name.starts_with("party");
        let mut others = members[at + 1..].iter().chain(members);
        let next = others.find(|name| !(is_client(name) && is_client(self.member)));
        next.copied().unwrap_or(self.member)
    }

    /// Returns whether it is a part of the ordinary run. Psi and aes-ctr are jobs like the others,
    /// so each fault is at one of their members only, in turn. The owner of a file sends and learns
    /// other messages than a party, so each member of aes-ctr is killed and absent once. A pause
    /// has the same effect for all members, so it is at one member of each protocol.
    pub(crate) fn is_ordinary(&self) -> bool {
        let members = self.protocol.members();
        let fault = Fault::all(Duration::ZERO).iter().position(|fault| fault.name() == self.fault.name());
        let turn = fault.map(|fault| members[fault % members.len()]);
        let turns = self.protocol.is_intersection()
            || self.protocol == Protocol::AesCtr && !matches!(self.fault, Fault::Kill | Fault::Absent)
            || self.fault == Fault::Pause;
        let middle = matches!(self.fault, Fault::Kill | Fault::Pause | Fault::Freeze(_) | Fault::FullDisk);
        // The methods of an intersection only differ in the protocol itself, not before or after
        // it.
        let same = matches!(self.protocol, Protocol::PsiVole | Protocol::PsiBins) && !middle;
        !same && (!turns || turn == Some(self.member))
    }

    /// Returns the reason why this cell cannot exist, if it cannot.
    pub(crate) fn without(&self) -> Option<&'static str> {
        use Fault as F;
        if !self.protocol.is_supervised() {
            return None;
        }
        match (self.fault, self.member == SUPERVISOR) {
            (F::WrongPin | F::MistakenPin, _) => {
                Some("the supervisor makes keys and pins anew for every run")
            }
            (F::Absent, true) => Some("without the supervisor there is no run"),
            (F::Absent, false) => Some("the supervisor starts every party, or says that it cannot"),
            (F::FullDisk | F::Unwritable | F::ClosedPipe | F::FullPipe, false) => {
                Some("the supervisor writes the result, not a party")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.protocol.name(), self.member, self.fault.name())
    }
}
