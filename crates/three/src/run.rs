//! Runs a plan, wave by wave. Local steps run as soon as their operands are present. Then all ready
//! steps with messages run together, in pieces on the lanes.

use crate::{
    Cut, Door, Plan, ThreeError,
    form::{Held, RingWords, StepValue, in_ring, lowered},
    kept::KeptInputs,
    lanes::{Lanes, Stop},
    prim::Three,
    runtime::Own,
};
use hushwire_machine::Channel;
use hushwire_plan::{LiveValues, local, misplaced};
use hushwire_rep3::{
    Batch, Rep3Party, Role, ShareError, Shares, pool,
    ring::{Bits, Column},
};
use std::{borrow::BorrowMut, sync::Arc};

/// Runs a plan as one of three parties. A lane is a ring, which leads to the left neighbour and
/// from the right one, and a channel in the opposite direction. There must be as many lanes as the
/// cut has. `inputs` are shares of all inputs in bytes, with the forms of [`Plan::inputs`]. The
/// result has shares of all outputs, with the forms of [`Plan::outputs`]. `go_on` is called between
/// rounds, on this thread, with the numbers of completed steps and of all steps.
///
/// # Errors
/// The number or the length of shares is wrong, a known value does not fit, a channel failed, or
/// `go_on` returned false.
///
/// # Panics
/// If there are not as many lanes as the cut has (the caller's bug).
pub fn run<C: BorrowMut<Channel> + Send>(
    party: &mut Rep3Party,
    lanes: Vec<[C; 2]>,
    plan: &Plan,
    cut: Cut,
    inputs: Vec<Shares>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Shares>, ThreeError> {
    let run = PlanRun::new(party.role(), plan.at(cut), cut, inputs)?;
    run_waves(party, lanes, plan, run, go_on)
}

/// The same for a plan with some inputs kept. `inputs` are shares of the others, with their places
/// among the plan's inputs.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`], if the kept inputs are of another plan or party, and if a place is beyond the plan's
/// inputs (the caller's bug).
pub fn run_kept<C: BorrowMut<Channel> + Send>(
    party: &mut Rep3Party,
    lanes: Vec<[C; 2]>,
    (plan, kept): (&Plan, &KeptInputs),
    cut: Cut,
    inputs: Vec<(usize, Shares)>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Shares>, ThreeError> {
    let run = PlanRun::after(kept, party, plan, cut, inputs)?;
    run_waves(party, lanes, plan, run, go_on)
}

/// Runs waves until no step is left, and returns shares of all outputs.
fn run_waves<C: BorrowMut<Channel> + Send>(
    party: &mut Rep3Party,
    lanes: Vec<[C; 2]>,
    plan: &Plan,
    mut run: PlanRun<'_>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Shares>, ThreeError> {
    let cut = run.cut;
    let mut lanes = Lanes::new(cut, lanes);
    loop {
        run.alone(&mut party.next_batch()?)?;
        let (done, whole) = plan.told(cut, run.values.done());
        let mut go_on = || go_on(done, whole);
        if !go_on() {
            return Err(ThreeError::Cancelled);
        }
        let (wave, groups) = run.wave(party)?;
        if wave.is_empty() {
            let outputs = run.outputs();
            pool::trim();
            return Ok(outputs);
        }
        lanes.run(groups, &Stop::default(), &mut go_on)?;
        run.end(wave);
    }
}

type Wave<'p> = hushwire_plan::Wave<'p, Three>;
type Group<'p> = hushwire_plan::Group<'p, Three>;

/// A running plan: its live values, and what it has not read yet.
pub(crate) struct PlanRun<'p> {
    role: Role,
    plan: &'p Plan,
    cut: Cut,
    values: LiveValues<'p, Three>,
    /// The inputs that no step has taken.
    inputs: Vec<Option<StepValue>>,
}

impl<'p> PlanRun<'p> {
    pub(crate) fn new(role: Role, plan: &'p Plan, cut: Cut, inputs: Vec<Shares>) -> Result<Self, ThreeError> {
        let inputs = input_values(inputs, &plan.inputs)?;
        Ok(PlanRun { role, plan, cut, values: LiveValues::new(&plan.steps), inputs })
    }

    /// The same, starting with the values that follow from kept inputs.
    pub(crate) fn after(
        kept: &KeptInputs,
        party: &mut Rep3Party,
        plan: &'p Plan,
        cut: Cut,
        inputs: Vec<(usize, Shares)>,
    ) -> Result<Self, ThreeError> {
        let values = kept.values(party, plan, cut)?;
        let plan = plan.at(cut);
        let values = LiveValues::after(&plan.steps, values);
        let mut all: Vec<Option<StepValue>> = plan.inputs.iter().map(|_| None).collect();
        for (k, shares) in inputs {
            all[k] = Some(input_value(shares, plan.inputs[k])?);
        }
        Ok(PlanRun { role: party.role(), plan, cut, values, inputs: all })
    }

    /// Runs all steps that need no message and whose operands are present.
    pub(crate) fn alone(&mut self, batch: &mut Batch) -> Result<(), ThreeError> {
        let mut own = Own { role: self.role, batch, inputs: &mut self.inputs };
        self.values.alone(|step, prim, reads| local(&mut own, step, prim, reads))
    }

    /// All ready steps, and their pieces, which have not begun. Each piece has randomness of its
    /// own.
    pub(crate) fn wave(&mut self, party: &mut Rep3Party) -> Result<(Wave<'p>, Vec<Group<'p>>), ThreeError> {
        let wave = self.values.wave();
        let mut groups = vec![];
        for pieces in self.cut.groups(&wave.extents()) {
            let mut group = vec![];
            for piece in pieces {
                group.push((piece, (party.next_batch()?, self.cut)));
            }
            groups.push(wave.group(group));
        }
        Ok((wave, groups))
    }

    /// Takes the values of a wave after its pieces have landed.
    pub(crate) fn end(&mut self, wave: Wave<'p>) {
        self.values.end(wave);
    }

    pub(crate) fn outputs(self) -> Vec<Shares> {
        let outputs = self.values.outputs().into_iter().zip(&self.plan.outputs);
        outputs.map(|(value, door)| output_shares(value, *door)).collect()
    }
}

fn wrong_length(expected: usize, found: usize) -> ShareError {
    ShareError::Length { what: "the shares of all inputs", expected, found }
}

/// The values of all inputs from their shares in bytes.
pub(crate) fn input_values(
    inputs: Vec<Shares>,
    doors: &[Door],
) -> Result<Vec<Option<StepValue>>, ThreeError> {
    if inputs.len() != doors.len() {
        return Err(wrong_length(doors.len(), inputs.len()).into());
    }
    inputs.into_iter().zip(doors).map(|(shares, door)| input_value(shares, *door).map(Some)).collect()
}

/// The value of an input from its shares in bytes.
pub(crate) fn input_value(shares: Shares, door: Door) -> Result<StepValue, ThreeError> {
    fn words<W: Held>(shares: &Shares) -> RingWords {
        let all = |share: &[u8]| pool::collect(share.chunks_exact(W::BYTES).map(W::read));
        W::words(Column { own: all(&shares.own), next: all(&shares.next) })
    }
    if let Some(found) = [shares.own.len(), shares.next.len()].into_iter().find(|n| *n != door.bytes()) {
        return Err(wrong_length(door.bytes(), found).into());
    }
    Ok(match door.ring {
        None => StepValue::Bits(Arc::new(Bits::new(door.scalar.bits(), door.elements, shares)?)),
        Some(ring) => StepValue::Words(in_ring!(ring, words(&shares))),
    })
}

/// The shares of an output in bytes.
pub(crate) fn output_shares(value: StepValue, door: Door) -> Shares {
    fn words<W: Held>(words: &RingWords, bits: usize) -> Shares {
        let column = lowered(W::column(words), bits);
        let all = |share: &[W]| {
            let mut bytes = pool::zeros(share.len() * W::BYTES);
            bytes.chunks_exact_mut(W::BYTES).zip(share).for_each(|(to, word)| word.write(to));
            bytes
        };
        Shares { own: all(&column.own), next: all(&column.next) }
    }
    match (door.ring, value) {
        (None, StepValue::Bits(bits)) => Arc::unwrap_or_clone(bits).trimmed().into_shares(),
        (Some(ring), value) => in_ring!(ring, words(value.words(), door.scalar.bits())),
        (None, _) => misplaced(),
    }
}
