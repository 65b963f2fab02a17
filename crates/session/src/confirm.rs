//! The confirmation: no member names an output before every member has all of its own outputs on
//! disk.
//!
//! ```text
//! clients ─► parties      done          outputs are on the disk, without names
//! parties ─► parties      done
//! a party                 its decider   is asked for the decision, if there is one
//! parties ─► clients      done
//! ```

use crate::{Fault, agreement::Agreement, member_config::explain};
use hushwire_fault::code;
use hushwire_machine::{Channel, NetError, PartyId};

pub(crate) const STEP: &str = "confirmation";

/// The end of a run, once all of its parties are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Outputs get their names.
    Commit,
    /// Outputs are deleted.
    Abort,
}

/// Decides at a party how a run ends, so that all parties end it alike, even if one of them crashes
/// at the last moment.
///
/// Without a decider, each member names its outputs once it has heard that all members are done. A
/// member that crashes between hearing this and naming has no outputs, while other members have
/// theirs.
pub trait Decider: Send + Sync {
    /// Blocks until the decision is known. All parties are done, and this party's outputs are on
    /// disk: sealed shares in their sink, files without names.
    ///
    /// # Errors
    /// The decision cannot be known here; no output gets a name.
    fn prepared(&self) -> Result<Decision, Fault>;
}

/// Tells every peer that this member is done, and waits until all peers have told the same. The
/// links stay open meanwhile, so that no data in flight is lost.
///
/// Clients are not connected to each other. A party therefore hears its clients first, then the
/// other parties, and answers the clients last ([`tell_clients`]). A member that has heard all
/// parties knows that every member is done. If there is a decider, its decision comes before the
/// answers to clients, and is final even if a client does not hear it.
pub(crate) fn all_done(
    plan: &Agreement,
    channels: &mut [Channel],
    decider: Option<&dyn Decider>,
) -> Result<(), Fault> {
    let word = word(plan);
    let (mut clients, mut parties) = sides(channels);
    for channel in clients.iter_mut().filter(|c| c.from().is_some()) {
        hear(plan, channel, &[], &word)?;
    }
    let out = |channel: &Channel| if channel.to().is_some() { &word[..] } else { &[] };
    for channel in &mut parties {
        channel.start(STEP, out(channel)).map_err(|e| failed(plan, e))?;
    }
    for channel in &mut parties {
        hear(plan, channel, out(channel), &word)?;
    }
    if let Some(decider) = decider {
        follow(decider.prepared()?)?;
    }
    Ok(())
}

/// Continues only after a commit.
pub(crate) fn follow(decision: Decision) -> Result<(), Fault> {
    if decision == Decision::Commit {
        return Ok(());
    }
    let cause = "the run was decided against after all parties had computed; no output is in place";
    Err(Fault::new(code::ABORTED, STEP, cause, "see why in the log of who decides, and start again"))
}

/// Tells clients that all members are done. If that was decided, it is final even if a client does
/// not hear it.
pub(crate) fn tell_clients(plan: &Agreement, channels: &mut [Channel], decided: bool) -> Result<(), Fault> {
    let word = word(plan);
    for channel in sides(channels).0.iter_mut().filter(|c| c.to().is_some()) {
        let sent = channel.send(STEP, &word).map_err(|e| failed(plan, e));
        if !decided {
            sent?;
        }
    }
    Ok(())
}

/// Splits channels into those to clients and those to parties.
fn sides(channels: &mut [Channel]) -> (Vec<&mut Channel>, Vec<&mut Channel>) {
    channels.iter_mut().partition(|c| c.to().or(c.from()).is_some_and(PartyId::is_client))
}

/// Finishes sending `out`, and takes the peer's message if this channel receives.
fn hear(plan: &Agreement, channel: &mut Channel, out: &[u8], word: &[u8; 16]) -> Result<(), Fault> {
    let mut theirs = [0; 16];
    let Some(peer) = channel.from() else {
        return channel.finish(STEP, out, &mut []).map_err(|e| failed(plan, e));
    };
    channel.finish(STEP, out, &mut theirs).map_err(|e| failed(plan, e))?;
    if theirs == *word {
        return Ok(());
    }
    let peer = plan.who(peer);
    let cause = format!("{peer} sent another word than that it is done");
    Err(Fault::new(code::DISAGREE, STEP, cause, "run the same release everywhere"))
}

fn failed(plan: &Agreement, e: NetError) -> Fault {
    explain(plan, e).during(STEP)
}

fn word(plan: &Agreement) -> [u8; 16] {
    let mut word = [0; 16];
    word.copy_from_slice(&blake3::derive_key("hushwire job done v1", &plan.digest())[..16]);
    word
}
