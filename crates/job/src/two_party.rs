//! Two parties' side of a run: every thread has a channel of its own and an engine of the protocol on it.
//!
//! ```text
//! both      32 fresh bytes each ─► the run's name; every thread has a name under it
//! thread t  set-up, then batches t, t + threads, …: planes of own inputs in, planes of what one learns out
//! ```

use crate::{
    JobError, Member, Plan,
    agreement::Agreement,
    circuit::CircuitPart,
    doors::IN,
    flow::COMPUTE,
    member_config::explain,
    place,
    run::{Links, MemberSession},
    threads::{Progress, on_threads},
    two_party_engine::{self, Failure},
};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;
use hushwire_wire::{Channel, PartyId, Reason, SessionId, Watch};
use std::sync::Arc;

/// AGREEMENT: separates the run's name from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 job of two sid v1";
const NAME: &str = "naming the run";
pub(crate) const SETUP: &str = "oblivious transfer set-up";

/// The state that all threads share.
struct Shared {
    index: usize,
    me: Member,
    plan: Arc<Plan>,
    agreement: Arc<Agreement>,
    program: Arc<Program>,
    who: TwoParty,
    context: Context,
    sources: Arc<Vec<Option<place::Source>>>,
    sinks: Arc<Vec<Option<place::Sink>>>,
    watch: Option<Watch>,
    /// Of all threads, in instances.
    progress: Progress,
}

/// Computes all batches as party `index`, 0 or 1.
pub(crate) fn compute(
    part: &CircuitPart,
    member: &mut MemberSession,
    index: usize,
) -> Result<Links, JobError> {
    let (plan, agreement) = (part.prepared.plan.clone(), member.agreement.clone());
    let peer = Some(peer_of(index));
    let mut control = member.channel(1, agreement.control_lane(), peer, peer)?;
    let context = name(member, index, &mut control)?;
    let channels = (0..plan.threads).map(|t| member.channel(0, t, peer, peer));
    let channels = channels.collect::<Result<Vec<_>, _>>()?;
    let progress = Progress::new(plan.instances, &member.observer);
    let shared = Shared {
        index,
        me: member.config.me.clone(),
        who: plan.between_two(&part.prepared.program),
        plan,
        agreement,
        program: part.prepared.program.clone(),
        context,
        sources: part.sources.clone(),
        sinks: part.sinks.clone(),
        watch: member.net.watch(),
        progress,
    };
    let kept = on_threads(channels.into_iter().zip(0..).collect(), |(channel, t)| shared.run(t, channel))?;
    Ok(Links { word: vec![control], kept })
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

impl Shared {
    /// All of thread `t`'s batches.
    fn run(&self, t: u16, mut channel: Channel) -> Result<Channel, JobError> {
        self.batches(t, &mut channel).inspect_err(|_| self.progress.fail())?;
        Ok(channel)
    }

    fn batches(&self, t: u16, channel: &mut Channel) -> Result<(), JobError> {
        let context = self.context.child("thread", t.into());
        let engine =
            two_party_engine::open(self.plan.chosen(), channel, self.index, &context, &Seed::random());
        let mut engine = engine.map_err(|e| self.failed(SETUP, e))?;
        for b in (u32::from(t)..self.plan.batches()).step_by(self.plan.threads.into()) {
            self.progress.go_on()?;
            let n = self.plan.instances_of(b);
            let first = u64::from(b) * u64::from(self.plan.batch);
            let inputs = self.inputs(first, n)?;
            let learnt = engine.run(channel, &self.program, &self.who, &inputs);
            let learnt = learnt.map_err(|e| self.failed(&self.step(b), e))?;
            place::put(&self.plan, &self.sinks, self.plan.outputs_of(&self.me), first, &learnt)?;
            self.progress.add(n as u64);
        }
        Ok(())
    }

    /// Batch `b`, as errors name it.
    fn step(&self, b: u32) -> String {
        match self.plan.batches() {
            1 => COMPUTE.to_owned(),
            all => format!("{COMPUTE} batch {} of {all}", b + 1),
        }
    }

    /// This party's inputs, in the circuit's order.
    fn inputs(&self, first: u64, n: usize) -> Result<Planes, JobError> {
        let sources = self.plan.inputs_of(&self.me).map(|i| self.sources[i].as_ref());
        let planes = sources.map(|source| {
            source.ok_or_else(|| JobError::internal(IN, "an input was not opened"))?.planes(first, n)
        });
        Ok(Planes::join(n, planes.collect::<Result<Vec<_>, JobError>>()?))
    }

    fn failed(&self, step: &str, failure: Failure) -> JobError {
        if let (Failure::Peer(_), Some(watch)) = (&failure, &self.watch) {
            // It would otherwise learn only that links closed.
            watch.abort(peer_of(self.index), Reason::Cheated, step);
        }
        failure.explain(&self.agreement).during(step)
    }
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
