//! The engines of protocols between two parties, one interface for all.

use crate::{Chosen, Fault, Kind, Protocol, agreement::Agreement, member_config::explain};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_garble::{GarbleError, Role, yao};
use hushwire_gmw::GmwError;
use hushwire_machine::{Channel, NetError};
use hushwire_ot::{Context, OtError};
use hushwire_prg::Seed;

/// One party's side of a protocol, set up on a channel that serves it alone.
pub(crate) trait TwoPartyEngine: Send {
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

/// Sets up party `index`'s side of a protocol. `seed` is fresh, and `context` of no other set-up.
pub(crate) fn open(
    chosen: Chosen,
    channel: &mut Channel,
    index: usize,
    context: &Context,
    seed: &Seed,
) -> Result<Box<dyn TwoPartyEngine>, Failure> {
    match (chosen.protocol, chosen.scheme, chosen.ot) {
        (Protocol::Yao, Some(scheme), Some(ot)) => {
            let role = if index == 0 { Role::Garbler } else { Role::Evaluator };
            Ok(Box::new(yao::Party::open(channel, role, context, yao::Terms { scheme, ot }, seed)?))
        }
        (Protocol::Gmw, None, Some(ot)) => {
            Ok(Box::new(hushwire_gmw::Party::open(channel, index, context, ot, seed)?))
        }
        _ => {
            let cause = format!("{chosen} is no plan for two parties");
            Err(Failure::Ours(Fault::internal("", cause)))
        }
    }
}

impl TwoPartyEngine for yao::Party {
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

impl TwoPartyEngine for hushwire_gmw::Party {
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

/// The reason why an engine gave up.
pub(crate) enum Failure {
    /// The channel failed.
    Net(NetError),
    /// The peer left the protocol.
    Peer(Fault),
    /// This party cannot go on.
    Ours(Fault),
}

impl Failure {
    /// A failure of a protocol: of the peer, if it is one of the network.
    pub(crate) fn of(fault: Fault) -> Self {
        if fault.kind() == Kind::Network { Self::Peer(fault) } else { Self::Ours(fault) }
    }

    /// In the words of the job.
    pub(crate) fn explain(self, plan: &Agreement) -> Fault {
        match self {
            Self::Net(e) => explain(plan, e),
            Self::Peer(e) | Self::Ours(e) => e,
        }
    }
}

impl From<OtError> for Failure {
    fn from(e: OtError) -> Self {
        match e {
            OtError::Net(e) => Self::Net(e),
            e => Self::of(e.fault()),
        }
    }
}

impl From<GarbleError> for Failure {
    fn from(e: GarbleError) -> Self {
        match e {
            GarbleError::Net(e) | GarbleError::Ot(OtError::Net(e)) => Self::Net(e),
            e => Self::of(e.fault()),
        }
    }
}

impl From<GmwError> for Failure {
    fn from(e: GmwError) -> Self {
        match e {
            GmwError::Net(e) | GmwError::Ot(OtError::Net(e)) => Self::Net(e),
            e => Self::of(e.fault()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_fault::Who;
    use hushwire_machine::PartyId;

    #[test]
    fn who_left_the_protocol_is_named_once() {
        let peer = Some(PartyId(1));
        let malformed = GarbleError::malformed(peer, "tables", "they are not");
        let abort = || OtError::abort(hushwire_ot::Check::Rows).of(peer);
        let mismatch = GmwError::Mismatch { peer };
        for failure in [malformed.into(), GarbleError::Ot(abort()).into(), abort().into(), mismatch.into()] {
            let Failure::Peer(e) = failure else { panic!("the peer is to blame") };
            assert_eq!(e.peer().and_then(Who::id), peer, "{e}");
            assert_eq!(e.cause_text().members().count(), 1, "{e}");
        }
        let failure = Failure::from(OtError::Unverified);
        assert!(matches!(failure, Failure::Ours(e) if e.kind() == Kind::Internal));
    }
}
