//! Two parties' side of a run: every thread has a channel of its own and an engine of the protocol on it.
//!
//! ```text
//! both      commit to 32 fresh bytes each, then open them ─► the run's name; every thread has a name under it
//! thread t  set-up, then batches t, t + threads, …: planes of own inputs in, planes of what one learns out
//! ```

use crate::{
    Fault,
    batches::{Batch, Batches},
    circuit::CircuitPart,
    member_config::explain,
    run::{Links, MemberSession},
    two_party_engine::{self, Failure},
};
use hushwire_circuit::TwoParty;
use hushwire_machine::{Channel, PartyId, Reason, SessionId, Toss};
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;

/// AGREEMENT: separates the run's name from any other toss.
const DOMAIN: &str = "hushwire 2026 job of two sid v2";
const NAME: &str = "naming the run";
pub(crate) const SETUP: &str = "oblivious transfer set-up";

/// Computes all batches as party `index`, 0 or 1.
pub(crate) fn compute(part: &CircuitPart, member: &mut MemberSession, index: usize) -> Result<Links, Fault> {
    let plan = part.prepared.plan.clone();
    let peer = Some(peer_of(index));
    let mut control = member.channel(1, member.agreement.control_lane(), peer, peer)?;
    let context = name(member, index, &mut control)?;
    let channels = (0..plan.threads).map(|t| member.channel(0, t, peer, peer));
    let channels = channels.collect::<Result<Vec<_>, _>>()?;
    let who = plan.between_two(&part.prepared.program);
    let batches = Batches::new(part, member, index, context);
    let kept = batches.on_threads(channels, |all, t, channel| thread(all, &who, t, channel))?;
    Ok(Links { word: vec![control], kept })
}

/// All of thread `t`'s batches.
fn thread(all: &Batches, who: &TwoParty, t: u16, channel: &mut Channel) -> Result<(), Fault> {
    let engine =
        two_party_engine::open(all.plan.chosen(), channel, all.index, &all.context(t), &Seed::random());
    let mut engine = engine.map_err(|e| failed(all, SETUP, e))?;
    all.each(t, |Batch { inputs, step, .. }| {
        engine.run(channel, &all.program, who, inputs).map_err(|e| failed(all, step, e))
    })
}

fn failed(all: &Batches, step: &str, failure: Failure) -> Fault {
    if let (Failure::Peer(_), Some(watch)) = (&failure, &all.watch) {
        // It would otherwise learn only that links closed.
        watch.abort(peer_of(all.index), Reason::Cheated, step);
    }
    failure.explain(&all.agreement).during(step)
}

pub(crate) fn peer_of(index: usize) -> PartyId {
    PartyId(1 - index as u8)
}

/// The name of this run and no other: either party's fresh bytes make it new, whatever the
/// session's id, and neither party can choose it.
pub(crate) fn name(member: &MemberSession, index: usize, control: &mut Channel) -> Result<Context, Fault> {
    toss(DOMAIN, member, index, std::slice::from_mut(control))
}

/// A run's name, from fresh bytes of this party and of all at the other ends of `control`.
pub(crate) fn toss(
    domain: &'static str,
    member: &MemberSession,
    index: usize,
    control: &mut [Channel],
) -> Result<Context, Fault> {
    let about = about(member.session(), &member.agreement.digest());
    let toss = Toss::new(domain, &about, index as u8).map_err(|e| Fault::internal(NAME, e))?;
    let sid = toss.among(NAME, control).map_err(|e| explain(&member.agreement, e).during(NAME))?;
    Ok(Context { sid: Sid(sid), backend: member.config.backend })
}

/// AGREEMENT: what a run's name is about: the session and the plan.
fn about(session: SessionId, plan: &[u8; 32]) -> Vec<u8> {
    [&session.0[..], plan].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_about_the_session_and_the_plan() {
        let of = |session, plan| about(SessionId([session; 16]), &[plan; 32]);
        assert!(of(1, 2) != of(0, 2) && of(1, 2) != of(1, 0) && of(1, 2).len() == 48);
    }
}
