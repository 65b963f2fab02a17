//! The set-up of Ferret: row-based COTs make one round of the small set, and this round makes the
//! base of the requested set.

use hushwire_machine::{
    drive::{Line, Talk},
    passed_on,
};
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

use super::end::{Ferret, buffer};
use super::params::{SPARE, Set};
use super::tree::{SpcotEnd, SpcotReceiver, SpcotSender};
use crate::pipeline::SEGMENT;
use crate::{Context, Extension, Level, OtError, Role, Security, steps::Steps};

/// The number of trees in one message of the small set. Messages are long enough to cost little,
/// and short enough that both parties work at the same time. AGREEMENT.
const BURST: usize = 64;

/// The set-up of one endpoint; see [`super::SenderBoot`] and [`super::ReceiverBoot`].
pub struct Boot<S: Security, E>(Line<'static, Ferret<S, E>, OtError>);

passed_on!([S: Security, E] Boot<S, E>, OtError, self => self.0);

impl<S: Security> Boot<S, SpcotSender> {
    /// The sender's set-up for `set`, from the sender's endpoint of a row-based extension, whose Δ
    /// it keeps. `seed` is this party's secret randomness.
    ///
    /// # Panics
    /// If `rows` is not a sender.
    #[must_use]
    pub fn new(context: &Context, set: Set, rows: Box<dyn Extension<S>>, seed: &Seed) -> Self {
        let delta = rows.delta().expect("a sender stands on a sender");
        let end = |label| SpcotSender::new(context, delta, &seed.derive(label, &[]));
        let ends = [end("ferret bootstrap"), end("ferret")];
        Boot::begin(context, set, rows, ends)
    }
}

impl<S: Security> Boot<S, SpcotReceiver> {
    /// The receiver's set-up for `set`, from the receiver's endpoint of a row-based extension. It
    /// needs no randomness of its own, since its choices come from the extension.
    ///
    /// # Panics
    /// If `rows` is not a receiver.
    #[must_use]
    pub fn new(context: &Context, set: Set, rows: Box<dyn Extension<S>>) -> Self {
        Boot::begin(context, set, rows, [SpcotReceiver, SpcotReceiver])
    }
}

impl<S: Security, E: SpcotEnd + 'static> Boot<S, E> {
    /// `ends` has the endpoint for the small set, and the one for the requested set.
    fn begin(context: &Context, set: Set, rows: Box<dyn Extension<S>>, ends: [E; 2]) -> Self {
        assert_eq!(rows.role(), E::ROLE, "an end stands on the same end");
        let context = *context;
        Boot(Line::new(move |talk| boot(talk, context, set, rows, ends)))
    }
}

impl<S: Security, E> Boot<S, E> {
    /// The extension, after the last round of messages.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Ferret<S, E> {
        self.0.finish()
    }
}

async fn boot<S: Security, E: SpcotEnd>(
    talk: Talk,
    context: Context,
    set: Set,
    mut rows: Box<dyn Extension<S>>,
    [bootstrap, end]: [E; 2],
) -> Result<Ferret<S, E>, OtError> {
    let mut steps = Steps::new(talk, E::ROLE);
    let process = rows.process();
    let mut base = Zeroizing::new(buffer(set.rows()));
    let mut have = 0;
    while have < set.rows() {
        for _ in 0..SEGMENT {
            let len = rows.chunk_len(set.rows() - have);
            let (from, bytes) = (rows.speaker(), rows.chunk_bytes(len));
            let blocks = &mut base.blocks_mut()[have..have + len];
            let chunk = |heard: &[u8], said: &mut [u8]| rows.chunk(heard, said, blocks);
            steps.take("ferret set-up: rows", from, bytes, chunk).await?;
            have += len;
            if have == set.rows() {
                break;
            }
        }
        rows.close_segment();
        steps.check(&mut *rows).await?;
    }
    drop(rows);
    let Some(small) = set.bootstrap() else {
        return Ok(Ferret::new(&context, set, process, end, std::mem::take(&mut base)));
    };

    let trees = set.bootstrap_trees::<S>(&small);
    let first = std::mem::replace(&mut *base, buffer(trees * small.leaves()));
    let part = context.child("ferret bootstrap", 0);
    let mut ferret = Ferret::<S, E>::new(&part, small, process, bootstrap, first);
    let mut have = 0;
    while have < trees {
        let burst = BURST.min(trees - have);
        let blocks = &mut base.blocks_mut()[have * small.leaves()..][..burst * small.leaves()];
        let grow = |heard: &[u8], said: &mut [u8]| {
            ferret.trees(heard, said, blocks);
            Ok(())
        };
        steps.take("ferret set-up: trees", Role::Sender, burst * small.tree_bytes(), grow).await?;
        have += burst;
    }
    if S::LEVEL == Level::Malicious {
        let blocks = base.blocks();
        ferret.give_spare(&blocks[blocks.len() - SPARE..]);
    }
    ferret.close_segment();
    steps.check(&mut ferret).await?;
    drop(ferret);
    base[16 * set.base()..].zeroize();
    base.set_len(16 * set.base());
    Ok(Ferret::new(&context, set, process, end, std::mem::take(&mut base)))
}
