//! Runs of a plan on several shards of each party.
//!
//! ```text
//!            party 0      party 1      party 2
//! shard 0    ● ────────── ● ────────── ●          a session of its own
//! shard 1    ● ────────── ● ────────── ●          another one
//!            │ mover      │            │          messages between a party's shards
//!
//! a value of E elements    shard s of S has elements ⌊E s/S⌋ to ⌊E (s+1)/S⌋ of it
//! what all parties know    every shard has all of it
//! ```
//!
//! All shards of all parties run the same plan in the same order. Steps with independent rows
//! ([`Spread::Rows`]) run on every shard's own rows, and those of a wave run together. Every other
//! step has its own exchanges between shards. These steps run one after the other in the plan's
//! order, so that all shards of a party are in the same exchange.
//!
//! **Security.** As on one machine. Shares move only between the shards of one party, to places
//! that follow from the plan and from opened values. Sessions share only the plan: no two have a
//! key in common. **Rounds and bytes.** [`Plan::sharded_cost`].

mod cost;
mod moves;
mod orders;
mod spread;
mod sums;
#[cfg(test)]
mod tests;

pub use cost::{ShardCost, ShardMemory};

use crate::{
    Cut, Door, Plan, ThreeError,
    form::{StepValue, in_ring},
    lanes::{Lanes, Stop},
    prim::{OwnLocal, Three},
    run::{input_values, output_shares, run},
    runtime::{Own, farther, targets},
};
use hushwire_compute::Tensor;
use hushwire_machine::{Channel, drive::Lane};
use hushwire_plan::{
    Extent, LiveValues, Local, PlanStep, Route, Size, Slot, Talk, gathered, local_of, misplaced,
};
use hushwire_rep3::{Mover, Rep3Party, Shares, pool, ranges};
use moves::Between;
use orders::Across;
pub(crate) use spread::Spread;
use std::borrow::BorrowMut;
use sums::{counted, folded};

impl Door {
    /// The door for one shard's elements of the value.
    ///
    /// # Panics
    /// If there is no such shard (the caller's bug).
    #[must_use]
    pub fn of_shard(mut self, shard: usize, shards: usize) -> Door {
        let bounds = ranges(self.elements, shards);
        self.elements = bounds[shard + 1] - bounds[shard];
        self
    }
}

/// Runs a plan as one shard of one of three parties. `party` and `lanes` are this shard's session,
/// as for [`run`](crate::run()), and `mover` leads to the other shards of this party. `inputs` are
/// shares of this shard's elements of each input. Their forms are [`Door::of_shard`] of each door
/// in [`Plan::inputs`]. The result has shares of its elements of each output, in the corresponding
/// forms. `go_on` is called between rounds, on this thread, with the numbers of completed steps and
/// of all steps.
///
/// If a shard fails, the run ends for all shards of all parties, each with a cause. A shard that
/// ends also ends the exchanges of its party's other shards, and the sessions of all of them.
///
/// # Errors
/// As [`run`](crate::run()); [`NetError::Shard`](hushwire_machine::NetError::Shard) if another
/// shard is gone.
///
/// # Panics
/// If there are not as many lanes as the cut has (the caller's bug).
pub fn run_sharded<C: BorrowMut<Channel> + Send>(
    party: &mut Rep3Party,
    lanes: Vec<[C; 2]>,
    plan: &Plan,
    cut: Cut,
    mover: &mut dyn Mover,
    inputs: Vec<Shares>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Shares>, ThreeError> {
    let [shard, shards] = [mover.shard(), mover.shards()];
    if shards == 1 {
        return run(party, lanes, plan, cut, inputs, go_on);
    }
    let doors =
        |doors: &[Door]| -> Vec<Door> { doors.iter().map(|door| door.of_shard(shard, shards)).collect() };
    let (whole_plan, plan) = (plan, plan.at(cut));
    let mut inputs = input_values(inputs, &doors(&plan.inputs))?;
    let mut values = LiveValues::new(&plan.steps);
    let mut session = OfShard { party, lanes, cut };
    let mut between = Between::new(mover);
    loop {
        {
            let mut batch = session.party.next_batch()?;
            let mut own = Own { role: batch.role(), batch: &mut batch, inputs: &mut inputs };
            values.alone(|step, prim, reads| local_step(plan, &mut own, &mut between, step, prim, reads))?;
        }
        let (done, whole) = whole_plan.told(cut, values.done());
        let mut go_on = || go_on(done, whole);
        if !go_on() {
            return Err(ThreeError::Cancelled);
        }
        let ready = values.ready();
        if ready.is_empty() {
            let outputs = values.outputs().into_iter().zip(doors(&plan.outputs));
            let outputs = outputs.map(|(value, door)| output_shares(value, door)).collect();
            pool::trim();
            return Ok(outputs);
        }
        let (by_rows, across): (Vec<Slot>, Vec<Slot>) =
            ready.into_iter().partition(|at| Spread::of(&plan.steps[*at].prim).is_by_rows());
        let mut steps = vec![];
        for at in by_rows {
            let extent = plan.steps.extent(at);
            steps.push((Extent { rows: between.own(extent.rows).len(), ..extent }, values.read_by(at)));
        }
        for (at, form) in session.run(&mut values, steps, &mut go_on)? {
            let form = match plan.steps[at].talk() {
                Some(Talk::Open { scalar, lengths }) => {
                    between.known(form.known(), Tensor::zeros(*scalar, lengths))?
                }
                _ => form,
            };
            values.made(at, form);
        }
        for at in across {
            let (step, reads) = (&plan.steps[at], values.read_by(at));
            let form = if let Spread::Across = Spread::of(&step.prim) {
                let across = Across::new(&mut between, step, reads, &plan.steps.sizes_read(at))?;
                let form = session.across(&across, step, between.mover(), &mut go_on)?;
                across.end(&mut between, form)?
            } else {
                let made = match on_first(plan, &mut between, step, &reads)? {
                    Some(reads) => {
                        session.run(&mut values, vec![(plan.steps.extent(at), reads)], &mut go_on)?.pop()
                    }
                    None => None,
                };
                between.handed_out(made.map(|(_, form)| form), step.size)?
            };
            values.made(at, form);
        }
    }
}

/// A shard's running session.
struct OfShard<'r, C> {
    party: &'r mut Rep3Party,
    lanes: Vec<[C; 2]>,
    cut: Cut,
}

impl<C: BorrowMut<Channel> + Send> OfShard<'_, C> {
    /// Runs steps that wait for no other shard, as a wave. Returns the value of each.
    fn run(
        &mut self,
        values: &mut LiveValues<'_, Three>,
        steps: Vec<(Extent, Vec<StepValue>)>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(Slot, StepValue)>, ThreeError> {
        let wave = values.wave_of(steps);
        let mut groups = vec![];
        for pieces in self.cut.groups(&wave.extents()) {
            let mut group = vec![];
            for piece in pieces {
                group.push((piece, (self.party.next_batch()?, self.cut)));
            }
            groups.push(wave.group(group));
        }
        let lanes = self.lanes.iter_mut().map(|lane| lane.each_mut().map(BorrowMut::borrow_mut)).collect();
        Lanes::new(self.cut, lanes).run(groups, &Stop::default(), go_on)?;
        Ok(wave.end().map(|(_, at, form)| (at, form)).collect())
    }

    /// Runs a step across all shards. All shards of the party run it at the same time.
    fn across(
        &mut self,
        across: &Across,
        step: &PlanStep<Three>,
        mover: &mut dyn Mover,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<StepValue, ThreeError> {
        let talk = step.talk().unwrap_or_else(|| misplaced());
        let mut lane = Lane::over(self.lanes[0].each_mut().map(BorrowMut::borrow_mut).into());
        let mut done =
            lane.begin::<ThreeError>(across.begin(self.party.next_batch()?, talk, self.cut, mover)?)?;
        loop {
            if let Some(machine) = done {
                return machine.finish();
            }
            if !go_on() {
                return Err(ThreeError::Cancelled);
            }
            done = lane.advance::<ThreeError>()?;
        }
    }
}

/// The sizes of a step's operands.
fn sizes(plan: &Plan, step: &PlanStep<Three>) -> Vec<Size> {
    step.reads.iter().map(|slot| plan.steps[*slot].size).collect()
}

/// All elements of a step's operands on shard 0; no elements on the others.
fn on_first(
    plan: &Plan,
    between: &mut Between<'_>,
    step: &PlanStep<Three>,
    reads: &[StepValue],
) -> Result<Option<Vec<StepValue>>, ThreeError> {
    let mut whole = vec![];
    for (form, size) in reads.iter().zip(sizes(plan, step)) {
        whole.push(between.collected(form, size)?);
    }
    Ok((between.shard() == 0).then_some(whole))
}

/// The value of a step without a message to other parties, restricted to this shard's elements.
fn local_step(
    plan: &Plan,
    own: &mut Own<'_>,
    between: &mut Between<'_>,
    step: &PlanStep<Three>,
    prim: &Local<Three>,
    reads: &[StepValue],
) -> Result<StepValue, ThreeError> {
    let rows = between.own(step.size.rows()).len();
    Ok(match Spread::of_local(prim) {
        Spread::Known => local_of(own, prim, reads, step.size.rows())?,
        Spread::Rows => {
            // Known values are here whole. One factor serves all rows.
            let is_one = |form: &StepValue| matches!((prim, form), (Local::Scale, StepValue::Known(all)) if all.len() == 1);
            let part = |form: &StepValue| if is_one(form) { form.clone() } else { between.own_of(form) };
            local_of(own, prim, &reads.iter().map(part).collect::<Vec<_>>(), rows)?
        }
        Spread::Moves(picks) => {
            let all: Vec<Vec<usize>> =
                sizes(plan, step).iter().map(|size| between.bounds(size.rows())).collect();
            let route = Route::new(picks, &all, &between.bounds(step.size.rows()), between.shard());
            between.moved(&reads.iter().collect::<Vec<_>>(), &route)?
        }
        Spread::Gathers { rows, inner } => {
            let picks = gathered(rows, inner, reads[1].known())?;
            let all = [between.bounds(sizes(plan, step)[0].rows())];
            let route = Route::new(&picks, &all, &between.bounds(step.size.rows()), between.shard());
            between.moved(&[&reads[0]], &route)?
        }
        Spread::Sums { axis, prefix } => {
            let (words, all) = (reads[0].words(), sizes(plan, step)[0].rows());
            StepValue::Words(in_ring!(words.ring(), folded(between, words, axis, prefix, all))?)
        }
        Spread::Counts(count) => {
            let (flags, all) = (reads[0].words(), step.size.rows());
            let counts = in_ring!(flags.ring(), counted(between, flags, all))?;
            StepValue::Words(match count {
                OwnLocal::Farther { ones_first } => {
                    in_ring!(flags.ring(), farther(own.role, flags, *ones_first, counts))
                }
                OwnLocal::Targets { ones_first } => {
                    in_ring!(flags.ring(), targets(own.role, [flags, reads[1].words()], *ones_first, counts))
                }
                OwnLocal::Conv2dKnown { .. } => misplaced(),
            })
        }
        Spread::Order => local_of(own, prim, reads, rows)?,
        Spread::First => {
            let made = match on_first(plan, between, step, reads)? {
                Some(reads) => Some(local_of(own, prim, &reads, step.size.rows())?),
                None => None,
            };
            between.handed_out(made, step.size)?
        }
        Spread::Opens | Spread::Across => misplaced(),
    })
}
