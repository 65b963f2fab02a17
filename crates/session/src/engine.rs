//! Engines: one interface for a party's endpoint of each protocol that runs circuits without
//! clients.
//!
//! ```text
//! all     commit to 32 fresh bytes each, then open them ─► the run's name, and one for each engine
//! engine  a channel to each peer: planes of own inputs in, planes of what this party learns out
//! ```
//!
//! A party that sends different commitments to two peers is detected before the run has a name.

use crate::{
    Agreement, Chosen, Fault, Kind, Member, Protocol, member_config::explain, run::MemberSession,
    seats::Seats, shelves::Ahead, threads::COMPUTE,
};
use hushwire_authgarble::{AuthError, Form, Task};
use hushwire_circuit::{Planes, Program};
use hushwire_garble::{GarbleError, Role, yao};
use hushwire_gmw::GmwError;
use hushwire_machine::{Channel, NetError, PartyId, Reason, SessionId, Toss, Watch};
use hushwire_ot::{Context, OtError, Sid};
use hushwire_prg::Seed;
use std::sync::Arc;

/// AGREEMENT: the domain of the toss that names a run of authenticated garbling.
const DOMAIN_OF_N: &str = "hushwire 2026 job of n sid v3";
/// AGREEMENT: the same for all other protocols between two parties.
const DOMAIN_OF_TWO: &str = "hushwire 2026 job of two sid v2";
const NAME: &str = "naming the run";
/// The step of the OT set-up, as errors name it.
pub const SETUP: &str = "oblivious transfer set-up";

/// One party's endpoint of a protocol, set up on channels that it alone uses.
pub trait Engine: Send {
    /// Runs a program. It takes the inputs that this party brings and returns the outputs that it
    /// learns, in the circuit's order. `left` counts the instances of this run and of later runs of
    /// the same program: preprocessing is made for all of them.
    ///
    /// # Errors
    /// A channel failed, a peer deviated, or this party cannot go on.
    fn run(
        &mut self,
        channels: &mut [Channel],
        program: &Program,
        seats: &Seats,
        inputs: &Planes,
        left: u64,
    ) -> Result<Planes, Failure>;

    /// Takes preprocessing that was made earlier, for the next runs. Protocols without
    /// preprocessing ignore it.
    fn take(&mut self, ahead: Ahead) {
        drop(ahead);
    }
}

/// A party's place in a run.
#[derive(Clone)]
pub struct Seat {
    /// The party's number.
    pub index: u8,
    /// The name of this run, which no other run has. Fresh bytes of every party make it unique
    /// whatever the session's id is, and no party can choose it.
    pub context: Context,
    agreement: Arc<Agreement>,
    watch: Option<Watch>,
}

impl Seat {
    /// Names the run. Returns channels to each peer, in the order of parties, for everything but
    /// computing.
    ///
    /// # Errors
    /// A channel failed, or this member is not a party.
    pub fn take(member: &mut MemberSession) -> Result<(Self, Vec<Channel>), Fault> {
        let Member::Party(index) = member.config.me else {
            return Err(Fault::internal(COMPUTE, "a client cannot compute"));
        };
        let authenticated = member.agreement.protocol.authenticated().is_some();
        let domain = if authenticated { DOMAIN_OF_N } else { DOMAIN_OF_TWO };
        let mut control = channels(member, index, 1, member.agreement.control_lane())?;
        let about = about(member.session(), &member.agreement.digest());
        let toss = Toss::new(domain, &about, index).map_err(|e| Fault::internal(NAME, e))?;
        let sid = toss.among(NAME, &mut control).map_err(|e| explain(&member.agreement, e).during(NAME))?;
        let context = Context { sid: Sid(sid), backend: member.config.backend };
        let (agreement, watch) = (member.agreement.clone(), member.net.watch());
        Ok((Self { index, context, agreement, watch }, control))
    }

    /// Opens a channel to each peer for computing, in the order of parties.
    ///
    /// # Errors
    /// A channel is not available.
    pub fn channels(&self, member: &mut MemberSession, lane: u16) -> Result<Vec<Channel>, Fault> {
        channels(member, self.index, 0, lane)
    }

    /// Makes an engine on these channels, under a name that no other engine has. LOCAL: `threads`
    /// threads share its work if the protocol supports that.
    ///
    /// # Errors
    /// The set-up failed.
    pub fn engine(
        &self,
        chosen: Chosen,
        context: &Context,
        channels: &mut [Channel],
        threads: u16,
    ) -> Result<Box<dyn Engine>, Failure> {
        let (seed, index) = (Seed::random(), usize::from(self.index));
        match (chosen.protocol, chosen.scheme, chosen.ot, channels) {
            (Protocol::Yao, Some(scheme), Some(ot), [channel]) => {
                let role = if index == 0 { Role::Garbler } else { Role::Evaluator };
                Ok(Box::new(yao::YaoParty::open(channel, role, context, yao::Terms { scheme, ot }, &seed)?))
            }
            (Protocol::Gmw, None, Some(ot), [channel]) => {
                Ok(Box::new(hushwire_gmw::GmwParty::open(channel, index, context, ot, &seed)?))
            }
            _ => Ok(Box::new(self.authenticated(chosen, context, threads).map_err(Failure::Ours)?)),
        }
    }

    /// Makes a party of authenticated garbling, which needs no set-up before its first run.
    pub(crate) fn authenticated(
        &self,
        chosen: Chosen,
        context: &Context,
        threads: u16,
    ) -> Result<hushwire_authgarble::AuthgarbleParty, Fault> {
        let (Some(ot), Some((n, form))) = (chosen.ot, chosen.protocol.authenticated()) else {
            return Err(Fault::internal(COMPUTE, format!("{chosen} runs no circuits between parties")));
        };
        let place = [self.index.into(), n.into()];
        let party = hushwire_authgarble::AuthgarbleParty::new(context, place, ot, form, &Seed::random());
        Ok(party.threads(threads.into()))
    }
}

fn channels(member: &mut MemberSession, index: u8, meter: usize, lane: u16) -> Result<Vec<Channel>, Fault> {
    let peers = (0..member.agreement.parties()).filter(|p| *p != index).map(|p| Some(PartyId(p)));
    peers.map(|peer| member.channel(meter, lane, peer, peer)).collect()
}

/// AGREEMENT: what the name of a run covers: the session and the plan.
fn about(session: SessionId, plan: &[u8; 32]) -> Vec<u8> {
    [&session.0[..], plan].concat()
}

/// The other one of two parties.
#[must_use]
pub fn peer_of(index: u8) -> PartyId {
    PartyId(1 - index)
}

impl Engine for yao::YaoParty {
    fn run(
        &mut self,
        channels: &mut [Channel],
        program: &Program,
        seats: &Seats,
        inputs: &Planes,
        _: u64,
    ) -> Result<Planes, Failure> {
        Ok(yao::YaoParty::run(self, &mut channels[0], program, &seats.of_two(program), inputs)?)
    }
}

impl Engine for hushwire_gmw::GmwParty {
    fn run(
        &mut self,
        channels: &mut [Channel],
        program: &Program,
        seats: &Seats,
        inputs: &Planes,
        _: u64,
    ) -> Result<Planes, Failure> {
        Ok(hushwire_gmw::GmwParty::run(self, &mut channels[0], program, &seats.of_two(program), inputs)?)
    }
}

impl Engine for hushwire_authgarble::AuthgarbleParty {
    fn run(
        &mut self,
        channels: &mut [Channel],
        program: &Program,
        seats: &Seats,
        inputs: &Planes,
        left: u64,
    ) -> Result<Planes, Failure> {
        let roles = seats.among(program, channels.len() as u8 + 1);
        let need = Task::new(program, roles.clone(), left as usize, Form::Rows).need();
        Ok(hushwire_authgarble::AuthgarbleParty::run(self, channels, program, &roles, inputs, need)?)
    }

    fn take(&mut self, ahead: Ahead) {
        ahead.give(self);
    }
}

/// The reason why an engine gave up.
pub enum Failure {
    /// The channel failed.
    Net(NetError),
    /// The peer deviated, in a protocol of two parties.
    Peer(Fault),
    /// One of several parties deviated. The party is given if it is known, and the check that found
    /// it if it has a name.
    Among(Fault, Option<PartyId>, Option<String>),
    /// This party cannot go on.
    Ours(Fault),
}

impl Failure {
    /// A failure in a protocol of two parties: it is the peer's if its kind is [`Kind::Network`].
    #[must_use]
    pub fn of(fault: Fault) -> Self {
        if fault.kind() == Kind::Network { Self::Peer(fault) } else { Self::Ours(fault) }
    }

    /// The failure as an error of the job.
    #[must_use]
    pub fn explain(self, plan: &Agreement) -> Fault {
        match self {
            Self::Net(e) => explain(plan, e),
            Self::Peer(e) | Self::Among(e, ..) | Self::Ours(e) => e,
        }
    }

    /// The failure as an error of the job in this step. All other parties are told who deviated, as
    /// far as that is known.
    #[must_use]
    pub fn told(self, Seat { index, agreement, watch, .. }: &Seat, step: &str) -> Fault {
        // Without this, the others would learn only that links closed.
        if let Some(watch) = watch {
            match &self {
                Self::Peer(_) => watch.abort(peer_of(*index), Reason::Cheated, step),
                Self::Among(_, peer, check) => {
                    let (who, why) =
                        peer.map_or((PartyId(*index), Reason::Failed), |peer| (peer, Reason::Cheated));
                    let check = check.as_ref().map(|check| format!("{step}: {check} check"));
                    watch.abort(who, why, check.as_deref().unwrap_or(step));
                }
                Self::Net(_) | Self::Ours(_) => {}
            }
        }
        self.explain(agreement).during(step)
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

#[cfg(feature = "two")]
impl From<hushwire_two::TwoError> for Failure {
    fn from(e: hushwire_two::TwoError) -> Self {
        match e {
            hushwire_two::TwoError::Net(e) => Self::Net(e),
            hushwire_two::TwoError::Ot(e) => e.into(),
            e => Self::of(e.fault()),
        }
    }
}

impl From<AuthError> for Failure {
    fn from(e: AuthError) -> Self {
        let (peer, check) = match &e {
            AuthError::Abort { peer, check } => (*peer, Some(check.to_string())),
            AuthError::Ot(OtError::Abort { peer, .. } | OtError::Malformed { peer, .. }) => (*peer, None),
            AuthError::Malformed { peer, .. } | AuthError::Mismatch { peer } => (Some(*peer), None),
            AuthError::Misstep(_) => (None, None),
            AuthError::Net(_) | AuthError::Inputs { .. } | AuthError::Short { .. } | AuthError::Ot(_) => {
                return match e {
                    AuthError::Net(e) | AuthError::Ot(OtError::Net(e)) => Self::Net(e),
                    e => Self::Ours(e.fault()),
                };
            }
        };
        Self::Among(e.fault(), peer, check)
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

    #[test]
    fn a_deviation_among_several_parties_names_the_party_and_the_check_if_they_are_known() {
        let peer = Some(PartyId(2));
        let check = hushwire_authgarble::Check::Ands;
        let ot = OtError::abort(hushwire_ot::Check::Rows).of(peer);
        for (e, party, named) in [
            (AuthError::Malformed { peer: PartyId(2), message: "labels" }, peer, None),
            (AuthError::Mismatch { peer: PartyId(2) }, peer, None),
            (AuthError::Ot(ot), peer, None),
            (AuthError::Abort { peer, check }, peer, Some("AND gate")),
            (AuthError::Abort { peer: None, check }, None, Some("AND gate")),
        ] {
            let Failure::Among(_, found, name) = Failure::from(e) else { panic!("a party deviated") };
            assert_eq!((found, name.as_deref()), (party, named));
        }
        let closed = || NetError::Forked { step: "a run".into(), opened_by: 1 };
        for e in [AuthError::Net(closed()), AuthError::Ot(OtError::Net(closed()))] {
            assert!(matches!(Failure::from(e), Failure::Net(_)), "nobody deviated");
        }
        for e in [AuthError::Inputs { found: 1, expected: 2 }, AuthError::Ot(OtError::Unverified)] {
            assert!(matches!(Failure::from(e), Failure::Ours(_)), "it is this party's own mistake");
        }
    }

    #[test]
    fn a_name_is_about_the_session_and_the_plan() {
        let of = |session, plan| about(SessionId([session; 16]), &[plan; 32]);
        assert!(of(1, 2) != of(0, 2) && of(1, 2) != of(1, 0) && of(1, 2).len() == 48);
    }
}
