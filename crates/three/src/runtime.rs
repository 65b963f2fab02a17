//! The work of three parties: steps without a message, and the machines and costs of all others. It
//! also has the local part of a partition by one bit: the distances and places of rows, from
//! running sums of flags.

use crate::{
    Cut, ThreeError,
    cost::{PriceTerms, zeros},
    form::{Held, RingWords, StepValue, in_ring, known_bits, known_numbers},
    machines::{ReadyMachine, begin},
    prim::{OwnLocal, Three},
    windows::convolved_with_known,
};
use hushwire_aes::Backend;
use hushwire_circuit::Program;
use hushwire_compute::Tensor;
use hushwire_machine::Cost;
use hushwire_plan::{PlanStep, Reorder, Runtime, Size, Talk, misplaced};
use hushwire_rep3::{
    Batch, Rep3, Role, ShareError, pool,
    ring::{Bits, Column, Factors, OnBits, matmul_known},
};
use std::sync::Arc;

/// A party's data for steps without messages.
pub(crate) struct Own<'r> {
    pub(crate) role: Role,
    pub(crate) batch: &'r mut Batch,
    /// The inputs that no step has taken.
    pub(crate) inputs: &'r mut [Option<StepValue>],
}

impl Runtime for Three {
    type LocalParty<'r> = Own<'r>;
    type RunFailure = ThreeError;
    type Supplies = (Batch, Cut);
    type StepMachine<'p> = Box<dyn ReadyMachine + 'p>;
    type StepPrice = Result<Cost, ThreeError>;
    type PriceTerms<'r> = PriceTerms<'r>;

    fn input_value(party: &mut Own<'_>, k: usize, _: Size) -> StepValue {
        party.inputs[k].take().unwrap_or_else(|| misplaced())
    }

    fn known_bits(party: &mut Own<'_>, known: &Tensor) -> Bits {
        known_bits(party.role, known).expect("planes of that size")
    }

    fn known_words(party: &mut Own<'_>, known: &Tensor, ring: u32) -> RingWords {
        fn words<W: Held>(role: Role, known: &Tensor) -> RingWords {
            W::words(Column::known(role, &known_numbers::<W>(known)))
        }
        in_ring!(ring, words(party.role, known))
    }

    fn matmul_known(
        party: &mut Own<'_>,
        shape: [usize; 3],
        words: &RingWords,
        known: &Tensor,
        left: bool,
    ) -> Result<RingWords, ThreeError> {
        Ok(in_ring!(words.ring(), matmul(party.batch.backend(), shape, words, known, left))?)
    }

    /// A circuit without ANDs has run as soon as it is made.
    fn affine(party: &mut Own<'_>, program: &Arc<Program>, reads: &[&Bits]) -> Result<Bits, ThreeError> {
        Ok(OnBits::run(party.batch, program.clone(), reads)?.finish())
    }

    fn own(party: &mut Own<'_>, own: &OwnLocal, reads: &[StepValue]) -> Result<StepValue, ThreeError> {
        Ok(StepValue::Words(match own {
            OwnLocal::Conv2dKnown { geometry, left } => {
                let [x, y] = [&reads[0], &reads[1]];
                let ring = if *left { y } else { x }.words().ring();
                in_ring!(ring, convolved_with_known(party.batch.backend(), geometry, [x, y], *left))?
            }
            OwnLocal::Farther { ones_first } => {
                let x = reads[0].words();
                let counts = in_ring!(x.ring(), all_here(x));
                in_ring!(x.ring(), farther(party.role, x, *ones_first, counts))
            }
            OwnLocal::Targets { ones_first } => {
                let [x, y] = [reads[0].words(), reads[1].words()];
                let counts = in_ring!(x.ring(), all_here(x));
                in_ring!(x.ring(), targets(party.role, [x, y], *ones_first, counts))
            }
        }))
    }

    /// Operands without other references are freed once the machine exists.
    fn begin<'p>(
        (batch, cut): (Batch, Cut),
        step: &'p PlanStep<Three>,
        reads: Vec<StepValue>,
        of: usize,
    ) -> Result<Box<dyn ReadyMachine + 'p>, ThreeError> {
        step.talk().map_or_else(|| misplaced(), |talk| begin(batch, talk, &reads, of, cut))
    }

    fn end(machine: Box<dyn ReadyMachine + '_>) -> Result<StepValue, ThreeError> {
        machine.finish()
    }

    /// Machines are made on zeros and never run.
    fn price(
        terms: &mut PriceTerms<'_>,
        talk: &Talk<Three>,
        reads: &[Size],
        _: Size,
        of: usize,
    ) -> Result<Cost, ThreeError> {
        let PriceTerms { party, cut, of_sort } = terms;
        if let Talk::Reorder(Reorder::Sort { rows, .. }) = talk {
            let keys = reads.iter().map(|size| size.width()).sum();
            return Ok(of_sort(party.role(), *rows, keys, cut.few()));
        }
        let forms = reads.iter().map(|size| zeros(*size, party)).collect::<Result<Vec<_>, _>>()?;
        let ready = begin(party.next_batch()?, talk, &forms, of, *cut)?;
        Ok(ready.cost().expect("every machine but a sort declares its cost"))
    }
}

fn matmul<W: Held>(
    backend: Backend,
    shape: [usize; 3],
    words: &RingWords,
    known: &Tensor,
    left: bool,
) -> Result<RingWords, ShareError> {
    let (words, known) = (W::column(words), known_numbers::<W>(known));
    let factors = if left { Factors::LeftKnown(&known, words) } else { Factors::RightKnown(words, &known) };
    matmul_known(backend, shape, factors).map(W::words)
}

/// The sums of a party's two summands of flags, `own` and `next`: over all rows, and over the rows
/// before the first one here. The numbers of these rows follow.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) all: [u64; 2],
    pub(crate) before: [u64; 2],
    pub(crate) rows: usize,
    pub(crate) rows_before: usize,
}

/// The counts of flags that are all here.
fn all_here<W: Held>(flags: &RingWords) -> Counts {
    let flags = W::column(flags);
    let sum = |share: &[W]| share.iter().fold(W::default(), |sum, flag| sum.plus(*flag)).number();
    Counts { all: [sum(&flags.own), sum(&flags.next)], before: [0; 2], rows: flags.rows(), rows_before: 0 }
}

impl Counts {
    /// The places at which the rows of zeros and of ones begin, as a share. With `T` ones among `n`
    /// rows, one kind begins at 0.
    fn begins<W: Held>(&self, held: usize, ones_first: bool, known: bool) -> [W; 2] {
        let all = W::of(self.all[held]);
        let rows = if known { W::of(self.rows as u64) } else { W::default() };
        if ones_first { [all, W::default()] } else { [W::default(), rows.minus(all)] }
    }
}

/// The distance between a row's place as a one and its place as a zero. Let `S` be the number of
/// ones up to and including row `i`. A zero goes `i − S` places after the start of zeros, and a one
/// `S − 1` places after the start of ones. Public terms are added to x_0 alone.
pub(crate) fn farther<W: Held>(role: Role, flags: &RingWords, ones_first: bool, counts: Counts) -> RingWords {
    let flags = W::column(flags);
    let share = |held: usize, flags: &[W]| {
        let known = role.constant_slot() == Some(held);
        let step = if known { W::of(1) } else { W::default() };
        let [zeros, ones] = counts.begins::<W>(held, ones_first, known);
        let before = W::of(counts.before[held]);
        let rows = step.times(W::of(counts.rows_before as u64));
        // The distance grows by two at each one, and shrinks by one at each row.
        let mut more = ones.minus(zeros).plus(before).plus(before).minus(rows);
        pool::collect(flags.iter().map(|flag| {
            more = more.plus(*flag).plus(*flag).minus(step);
            more
        }))
    };
    W::words(Rep3 { own: share(0, &flags.own), next: share(1, &flags.next) })
}

/// The places of rows: the place as a zero, plus the chosen distance.
pub(crate) fn targets<W: Held>(
    role: Role,
    [flags, farther]: [&RingWords; 2],
    ones_first: bool,
    counts: Counts,
) -> RingWords {
    let (flags, farther) = (W::column(flags), W::column(farther));
    let share = |held: usize, flags: &[W], farther: &[W]| {
        let known = role.constant_slot() == Some(held);
        let step = if known { W::of(1) } else { W::default() };
        let before = step.times(W::of(counts.rows_before as u64)).minus(W::of(counts.before[held]));
        let mut place = counts.begins::<W>(held, ones_first, known)[0].plus(before).minus(step);
        pool::collect(flags.iter().zip(farther).map(|(flag, farther)| {
            place = place.plus(step).minus(*flag);
            place.plus(*farther)
        }))
    };
    W::words(Rep3 { own: share(0, &flags.own, &farther.own), next: share(1, &flags.next, &farther.next) })
}
