//! The side of one of n parties in a run, of whom all but one may be corrupt: every thread has a channel to each peer.
//!
//! ```text
//! all       commit to 32 fresh bytes each, then open them ─► the run's name; every thread has a name under it
//! all       ids of preprocessing that waits on their shelves: what all have is taken (`shelves`)
//! thread t  batches t, t + threads, …: set-up and preprocessing when there is none left, garbling unless that was done before, evaluation
//! ```
//!
//! A party that sends different commitments to two others is found out before the run has a name.

use crate::{
    Fault, Member,
    agreement::Agreement,
    batches::{Batch, Batches},
    circuit::CircuitPart,
    flow::COMPUTE,
    member_config::explain,
    run::{Links, MemberSession},
    shelves::{self, Ahead, Wants},
    two_party::toss,
};
use hushwire_authgarble::{AuthError, Form, Need, Party, Roles, Task};
use hushwire_circuit::Program;
use hushwire_machine::{Channel, PartyId, Reason, Watch};
use hushwire_ot::{Context, OtError};
use hushwire_prg::Seed;

/// AGREEMENT: separates the run's name from any other toss.
const DOMAIN: &str = "hushwire 2026 job of n sid v3";

/// A channel to each peer, in the order of parties.
pub(crate) fn channels(
    member: &mut MemberSession,
    meter: usize,
    lane: u16,
    index: usize,
) -> Result<Vec<Channel>, Fault> {
    let parties = member.agreement.parties();
    let peers = (0..parties).filter(|p| usize::from(*p) != index).map(|p| Some(PartyId(p)));
    peers.map(|peer| member.channel(meter, lane, peer, peer)).collect()
}

/// The name of this run and no other: every party's fresh bytes make it new, whatever the session's
/// id, and no party can choose it.
pub(crate) fn name(member: &MemberSession, index: usize, control: &mut [Channel]) -> Result<Context, Fault> {
    toss(DOMAIN, member, index, control)
}

/// A party of a protocol among n, which was told its OT extension; LOCAL: `threads` share its work.
pub(crate) fn party(
    chosen: crate::Chosen,
    context: &Context,
    index: usize,
    threads: u16,
) -> Result<Party, Fault> {
    let (Some(ot), Some((n, form))) = (chosen.ot, chosen.protocol.authenticated()) else {
        return Err(Fault::internal(COMPUTE, format!("{chosen} is no plan for n parties")));
    };
    Ok(Party::new(context, [index, n.into()], ot, form, &Seed::random()).threads(threads.into()))
}

/// Owners and recipients among `n` parties. Nobody else is counted.
pub(crate) fn roles<'a>(
    program: &Program,
    n: usize,
    owners: impl Iterator<Item = &'a Member>,
    recipients: impl Iterator<Item = &'a [Member]>,
) -> Roles {
    let owner = |from: &Member| match from {
        Member::Party(index) => usize::from(*index),
        Member::Client(_) => 0,
    };
    let learns = |to: &[Member]| (0..n).map(|p| to.contains(&Member::Party(p as u8))).collect();
    Roles::new(program, n, owners.map(owner).collect(), recipients.map(learns).collect())
}

/// The stock that runs on so many instances take.
pub(crate) fn need(program: &Program, roles: &Roles, instances: usize) -> Need {
    Task::new(program, roles.clone(), instances, Form::Rows).need()
}

/// In the words of the job; all parties are told which check failed, and whom it blames.
pub(crate) fn failed(
    agreement: &Agreement,
    watch: Option<&Watch>,
    index: usize,
    step: &str,
    e: AuthError,
) -> Fault {
    let blamed = match &e {
        AuthError::Abort { peer, .. }
        | AuthError::Ot(OtError::Abort { peer, .. } | OtError::Malformed { peer, .. }) => *peer,
        AuthError::Malformed { peer, .. } | AuthError::Mismatch { peer } => Some(*peer),
        AuthError::Net(_) | AuthError::Ot(OtError::Net(_)) => {
            return match e {
                AuthError::Net(e) | AuthError::Ot(OtError::Net(e)) => explain(agreement, e).during(step),
                e => Fault::internal(step, e),
            };
        }
        AuthError::Misstep(_) => None,
        AuthError::Inputs { .. } | AuthError::Short { .. } | AuthError::Ot(_) => {
            return e.fault().during(step);
        }
    };
    if let Some(watch) = watch {
        let (who, why) = match blamed {
            Some(peer) => (peer, Reason::Cheated),
            None => (PartyId(index as u8), Reason::Failed),
        };
        let what = match &e {
            AuthError::Abort { check, .. } => format!("{step}: {check} check"),
            _ => step.to_owned(),
        };
        watch.abort(who, why, &what);
    }
    e.fault().during(step)
}

/// Computes all batches as party `index`.
pub(crate) fn compute(
    part: &mut CircuitPart,
    member: &mut MemberSession,
    index: usize,
) -> Result<Links, Fault> {
    let plan = part.prepared.plan.clone();
    let mut control = channels(member, 1, member.agreement.control_lane(), index)?;
    let context = name(member, index, &mut control)?;
    let roles = plan.among(&part.prepared.program);
    let taken = shelves::meet(&Wants::of(&part.prepared), member, index, &mut control)?;
    part.from_disk = member.config.shelf.is_some().then(|| shelves::from_disk(&taken));
    let lanes = (0..plan.threads).map(|t| channels(member, 0, t, index));
    let lanes = lanes.zip(taken).map(|(lane, taken)| Ok((lane?, taken)));
    let lanes = lanes.collect::<Result<Vec<_>, Fault>>()?;
    let batches = Batches::new(part, member, index, context);
    let kept = batches.on_threads(lanes, |all, t, (channels, taken)| {
        thread(all, &roles, t, channels, std::mem::replace(taken, Ahead::Nothing))
    })?;
    Ok(Links { word: control, kept: kept.into_iter().flat_map(|(channels, _)| channels).collect() })
}

/// All of thread `t`'s batches.
fn thread(all: &Batches, roles: &Roles, t: u16, channels: &mut [Channel], taken: Ahead) -> Result<(), Fault> {
    let mut party = party(all.plan.chosen(), &all.context(t), all.index, all.plan.beside)?;
    taken.give(&mut party);
    let each = need(&all.program, roles, 1);
    all.each(t, |Batch { inputs, step, left }| {
        let ahead = Need { triples: left * each.triples, masks: left * each.masks };
        let learnt = party.run(channels, &all.program, roles, inputs, ahead);
        learnt.map_err(|e| failed(&all.agreement, all.watch.as_ref(), all.index, step, e))
    })
}
