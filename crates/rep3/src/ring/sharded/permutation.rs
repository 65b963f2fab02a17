//! Permutations that no party knows, for rows on several shards.
//!
//! ```text
//! a stage    every row draws a shard from its own shard's session
//!            ── rows go there ──►   each shard shuffles the rows that arrive, by a stage of its
//!                                   session
//!            ── places go back ──►  the stage is known places: the rows of shard d follow those
//!                                   of shards 0 … d − 1
//! ```
//!
//! A stage is uniform among all permutations of all rows, by the same theorem as for one machine
//! (module `permutation` of the ring), with shards in place of buckets. Both parties that draw it
//! make the same stage, each with movements among its own shards; the third party sees no message
//! of it. Only these two know how many rows draw each shard, as they know the stage itself.
//! Messages between parties have the lengths of ranges.

use super::{own_rows, route::Route, tell_all, unfit};
use crate::{
    Batch, Context, Mover, Role, ShareError,
    pool::Scratch,
    ring::{
        masks::{Neighbour, PairWords},
        permutation::{Stage, buckets},
        word::Word,
    },
};
use hushwire_machine::NetError;
use std::{ops::Range, sync::Arc};

/// This shard's part of a permutation of the rows of all shards. No party knows it alone; any two
/// parties together do. [`permute`](super::permute) applies it any number of times.
///
/// **Security.** As [`ring::Permutation`](crate::ring::Permutation).
pub struct Permutation {
    role: Role,
    rows: usize,
    own: Range<usize>,
    left: Arc<Route>,
    right: Arc<Route>,
}

impl Permutation {
    /// A uniform permutation of `rows` rows over all shards, without a message between parties.
    ///
    /// # Errors
    /// [`NetError::Malformed`] for more than 2^32 − 1 rows; otherwise as [`Mover::exchange`].
    pub fn random(
        batch: &mut Batch,
        mover: &mut dyn Mover,
        rows: usize,
    ) -> Result<Arc<Permutation>, NetError> {
        Ok(Fresh::draw(batch.context(), mover, rows)?.0)
    }

    /// The number of rows of all shards.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows that this shard has.
    #[must_use]
    pub fn own_rows(&self) -> Range<usize> {
        self.own.clone()
    }

    /// The party that holds these stages.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Moves columns by the stage that was drawn with a neighbour, or by its inverse.
    pub(super) fn moved<W: Word>(
        &self,
        (side, inverse): (Neighbour, bool),
        mover: &mut dyn Mover,
        columns: &[impl AsRef<[W]>],
    ) -> Result<Vec<Scratch<W>>, NetError> {
        let route = match side {
            Neighbour::Left => &self.left,
            Neighbour::Right => &self.right,
        };
        if inverse { route.back(mover, columns) } else { route.there(mover, columns) }
    }
}

/// A permutation under which nothing has been opened yet. It cannot be copied, and opening
/// something under it consumes it.
///
/// SECURITY: two columns must not be opened under the same permutation. Both results would be in
/// the same hidden order of rows, and would reveal which values belong together.
pub(super) struct Fresh(Arc<Permutation>);

impl Fresh {
    /// Draws both of this party's stages, from a context of their own.
    #[allow(clippy::needless_pass_by_value)]
    pub(super) fn draw(cx: Context, mover: &mut dyn Mover, rows: usize) -> Result<Fresh, NetError> {
        if u32::try_from(rows).is_err() {
            let what = "a permutation, which has 2^32 - 1 rows at most,";
            let wrong = ShareError::Length { what, expected: u32::MAX as usize, found: rows };
            return Err(unfit("permutation of rows")(wrong));
        }
        let mut stage = |side| draw(&mut PairWords::new(&cx, side, 0), mover, rows).map(Arc::new);
        let (left, right) = (stage(Neighbour::Left)?, stage(Neighbour::Right)?);
        let own = own_rows(mover, rows);
        Ok(Fresh(Arc::new(Permutation { role: cx.role, rows, own, left, right })))
    }

    /// The shuffle; its result is opened in whole or in part.
    pub(super) fn shuffle(&self) -> &Permutation {
        &self.0
    }

    /// The shuffle alone, if nothing was opened under it.
    pub(super) fn unopened(self) -> Arc<Permutation> {
        self.0
    }

    /// The permutation that shuffles first and then moves this shard's row i to place `places[i]`
    /// of all rows. The places were opened under this shuffle, so the result is as uniform as they
    /// are. Parties 1 and 2 keep it in the last stage; party 0 does not need it.
    ///
    /// # Errors
    /// An error with [`ShareError::Places`] in it, at parties 1 and 2, unless `places` has each
    /// place exactly once. Party 0 cannot check this. Otherwise as [`Mover::exchange`].
    pub(super) fn then_to(self, mover: &mut dyn Mover, places: &[u32]) -> Result<Arc<Permutation>, NetError> {
        let Permutation { role, rows, own, left, right } = &*self.0;
        let last = match role.index() {
            1 => right,
            2 => left,
            _ => return Ok(self.0),
        };
        if places.len() != own.len() {
            return Err(unfit("places of rows")(ShareError::Places { rows: *rows }));
        }
        let goes = last.back(mover, &[places])?;
        let route = Route::to_places(mover, *rows, &goes[0]);
        // A place that two rows have is found by one shard, and ends the run of all.
        let all_well = tell_all(mover, &[u8::from(route.is_ok())])?.iter().all(|told| told == &[1]);
        let last = Arc::new(route?);
        if !all_well {
            return Err(unfit("places of rows")(ShareError::Places { rows: *rows }));
        }
        let (left, right) = if role.index() == 1 { (left.clone(), last) } else { (last, right.clone()) };
        Ok(Arc::new(Permutation { role: *role, rows: *rows, own: own.clone(), left, right }))
    }
}

/// Draws a stage.
pub(super) fn draw(words: &mut PairWords<'_>, mover: &mut dyn Mover, rows: usize) -> Result<Route, NetError> {
    let shards = mover.shards() as u32;
    let mut to = Scratch::room(own_rows(mover, rows).len());
    to.extend(own_rows(mover, rows).map(|_| if shards > 1 { words.below(shards) } else { 0 }));
    let (visit, first) = Route::to_shards(mover, to)?;
    let here = visit.comes();
    let places = Stage::draw(here as u32, buckets(here) as u32, words).places(first);
    let places = visit.back(mover, &[&places[..]])?;
    Route::to_places(mover, rows, &places[0])
}
