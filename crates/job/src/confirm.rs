//! The last word: nobody names an output before everybody has said that all of its own is done.

use crate::{JobError, Plan, seat::explain};
use hushwire_wire::Channel;

const STEP: &str = "confirmation";

/// Says to every peer that this member is done, and waits until all have said so. Links stay open meanwhile, so that
/// nothing still under way is lost.
pub(crate) fn all_done(plan: &Plan, channels: &mut [Channel]) -> Result<(), JobError> {
    let word = word(plan);
    let failed = |e| explain(plan, e).during(STEP);
    for channel in channels.iter_mut().filter(|c| c.to().is_some()) {
        channel.start(STEP, &word).map_err(failed)?;
    }
    for channel in channels {
        let mut theirs = [0; 16];
        let out = if channel.to().is_some() { &word[..] } else { &[] };
        let into = if channel.from().is_some() { &mut theirs[..] } else { &mut [] };
        channel.finish(STEP, out, into).map_err(failed)?;
        if channel.from().is_some() && theirs != word {
            let peer = channel.from().map_or_else(String::new, |p| p.to_string());
            let cause = format!("{peer} said something else than that it is done");
            return Err(JobError::new(crate::Kind::Network, STEP, cause, "run the same release everywhere"));
        }
    }
    Ok(())
}

fn word(plan: &Plan) -> [u8; 16] {
    let mut word = [0; 16];
    word.copy_from_slice(&blake3::derive_key("hushwire job done v1", &plan.digest())[..16]);
    word
}
