//! The ends of protocols between two parties, one interface for all.

use crate::{JobError, Kind, Plan, Protocol, agreement::Agreement, member_config::explain};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_garble::{GarbleError, Role, yao};
use hushwire_gmw::GmwError;
use hushwire_ot::{Context, OtError};
use hushwire_prg::Seed;
use hushwire_wire::{Channel, NetError};

/// One party's end of a protocol, set up on a channel that serves it alone.
pub(crate) trait End {
    /// Computes a program: the inputs that this party brings go in and the outputs that it learns come out, in the circuit's
    /// order.
    fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        who: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, Failure>;
}

/// Sets up party `index`'s end of the plan's protocol. `seed` is fresh, and `context` of no other set-up.
pub(crate) fn open(
    plan: &Plan,
    channel: &mut Channel,
    index: usize,
    context: &Context,
    seed: &Seed,
) -> Result<Box<dyn End>, Failure> {
    match (plan.protocol, plan.scheme, plan.ot) {
        (Protocol::Yao, Some(scheme), Some(ot)) => {
            let role = if index == 0 { Role::Garbler } else { Role::Evaluator };
            Ok(Box::new(yao::Party::open(channel, role, context, yao::Terms { scheme, ot }, seed)?))
        }
        (Protocol::Gmw, None, Some(ot)) => {
            Ok(Box::new(hushwire_gmw::Party::open(channel, index, context, ot, seed)?))
        }
        _ => Err(Failure::Ours(Kind::Internal, format!("{} is no plan for two parties", plan.computing()))),
    }
}

impl End for yao::Party {
    fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        who: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, Failure> {
        Ok(yao::Party::run(self, channel, program, who, inputs)?)
    }
}

impl End for hushwire_gmw::Party {
    fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        who: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, Failure> {
        Ok(hushwire_gmw::Party::run(self, channel, program, who, inputs)?)
    }
}

/// The reason why an end gave up.
pub(crate) enum Failure {
    /// The channel failed.
    Net(NetError),
    /// The peer left the protocol.
    Peer(String),
    /// This party cannot go on.
    Ours(Kind, String),
}

impl Failure {
    /// In the words of the job.
    pub(crate) fn explain(self, plan: &Agreement) -> JobError {
        let (kind, whole) = match self {
            Self::Net(e) => return explain(plan, e),
            Self::Peer(whole) => (Kind::Network, whole),
            Self::Ours(kind, whole) => (kind, whole),
        };
        let (cause, remedy) = whole.rsplit_once("; ").unwrap_or((&whole, "please report this with the job"));
        JobError::new(kind, "", cause, remedy)
    }
}

impl From<OtError> for Failure {
    fn from(e: OtError) -> Self {
        match e {
            OtError::Net(e) => Self::Net(e),
            e @ (OtError::Abort { .. } | OtError::Malformed { .. }) => Self::Peer(e.to_string()),
            e => Self::Ours(Kind::Internal, e.to_string()),
        }
    }
}

impl From<GarbleError> for Failure {
    fn from(e: GarbleError) -> Self {
        match e {
            GarbleError::Net(e) => Self::Net(e),
            GarbleError::Ot(e) => e.into(),
            e @ GarbleError::Unsupported { .. } => Self::Ours(Kind::Usage, e.to_string()),
            e @ (GarbleError::Malformed { .. } | GarbleError::Mismatch { .. }) => Self::Peer(e.to_string()),
            e => Self::Ours(Kind::Internal, e.to_string()),
        }
    }
}

impl From<GmwError> for Failure {
    fn from(e: GmwError) -> Self {
        match e {
            GmwError::Net(e) => Self::Net(e),
            GmwError::Ot(e) => e.into(),
            e @ GmwError::Mismatch { .. } => Self::Peer(e.to_string()),
            e => Self::Ours(Kind::Internal, e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_wire::PartyId;

    #[test]
    fn who_left_the_protocol_is_named_once() {
        let peer = Some(PartyId(1));
        let malformed = GarbleError::malformed(peer, "tables", "they are not");
        let abort = || OtError::abort(hushwire_ot::Check::Rows).of(peer);
        let mismatch = GmwError::Mismatch { peer };
        for failure in [malformed.into(), GarbleError::Ot(abort()).into(), abort().into(), mismatch.into()] {
            let Failure::Peer(text) = failure else { panic!("the peer is to blame") };
            assert!(text.starts_with("party 1: ") && text.contains("; "), "{text}");
        }
        let failure = Failure::from(OtError::Unverified);
        assert!(matches!(failure, Failure::Ours(Kind::Internal, _)));
    }
}
