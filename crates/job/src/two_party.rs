//! Two parties' side of a run: every thread has a channel of its own and an engine of the protocol on it.
//!
//! ```text
//! both      32 fresh bytes each ─► the run's name; every thread has a name under it
//! thread t  set-up, then batches t, t + threads, …: planes of own inputs in, planes of what one learns out
//! ```

use crate::{
    JobError,
    batches::{Batch, Batches},
    circuit::CircuitPart,
    member_config::explain,
    run::{Links, MemberSession},
    two_party_engine::{self, Failure},
};
use hushwire_circuit::TwoParty;
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;
use hushwire_wire::{Channel, PartyId, Reason, SessionId};

/// AGREEMENT: separates the run's name from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 job of two sid v1";
const NAME: &str = "naming the run";
pub(crate) const SETUP: &str = "oblivious transfer set-up";

/// Computes all batches as party `index`, 0 or 1.
pub(crate) fn compute(
    part: &CircuitPart,
    member: &mut MemberSession,
    index: usize,
) -> Result<Links, JobError> {
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
fn thread(all: &Batches, who: &TwoParty, t: u16, channel: &mut Channel) -> Result<(), JobError> {
    let engine =
        two_party_engine::open(all.plan.chosen(), channel, all.index, &all.context(t), &Seed::random());
    let mut engine = engine.map_err(|e| failed(all, SETUP, e))?;
    all.each(t, |Batch { inputs, step, .. }| {
        engine.run(channel, &all.program, who, inputs).map_err(|e| failed(all, step, e))
    })
}

fn failed(all: &Batches, step: &str, failure: Failure) -> JobError {
    if let (Failure::Peer(_), Some(watch)) = (&failure, &all.watch) {
        // It would otherwise learn only that links closed.
        watch.abort(peer_of(all.index), Reason::Cheated, step);
    }
    failure.explain(&all.agreement).during(step)
}

pub(crate) fn peer_of(index: usize) -> PartyId {
    PartyId(1 - index as u8)
}

/// The name of this run and no other: either party's fresh part makes it new, whatever the session's id.
pub(crate) fn name(member: &MemberSession, index: usize, control: &mut Channel) -> Result<Context, JobError> {
    let (mut own, mut theirs) = ([0; 32], [0; 32]);
    getrandom::fill(&mut own).map_err(|e| JobError::internal(NAME, e))?;
    control.exchange(NAME, &own, &mut theirs).map_err(|e| explain(&member.agreement, e).during(NAME))?;
    let fresh = if index == 0 { [own, theirs] } else { [theirs, own] };
    let sid = sid(member.session(), &member.agreement.digest(), &fresh);
    Ok(Context { sid, backend: member.config.backend })
}

/// AGREEMENT: `fresh` is party 0's part, then party 1's.
fn sid(session: SessionId, plan: &[u8; 32], fresh: &[[u8; 32]; 2]) -> Sid {
    let mut hash = blake3::Hasher::new_derive_key(DOMAIN);
    hash.update(&session.0).update(plan).update(&fresh[0]).update(&fresh[1]);
    Sid(*hash.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_depends_on_everything() {
        let (session, plan, fresh) = (SessionId([1; 16]), [2; 32], [[3; 32], [4; 32]]);
        let names = [
            sid(session, &plan, &fresh),
            sid(SessionId([0; 16]), &plan, &fresh),
            sid(session, &[0; 32], &fresh),
            sid(session, &plan, &[[0; 32], [4; 32]]),
            sid(session, &plan, &[[3; 32], [0; 32]]),
            sid(session, &plan, &[[4; 32], [3; 32]]),
        ];
        for (i, a) in names.iter().enumerate() {
            assert!(names[..i].iter().all(|b| a != b), "{i}");
        }
    }
}
