//! The cost of a plan, without anybody's data.

use crate::{
    Cut, Plan, ThreeError,
    cut::Extent,
    form::{Form, Held, Ring, Words, in_ring},
    machines::begin,
    plan::{Prim, Slot, Step},
};
use hushwire_aes::Backend;
use hushwire_machine::Cost;
use hushwire_rep3::{
    Party, Rep3, Role,
    ring::{Bits, Column, Permutation, sort_bound, sort_expected},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

/// The cost of a plan for one party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanCost {
    /// Rounds one after the other, and bytes sent.
    pub cost: Cost,
    /// Whether it is exact. That of a sort depends on the random order that it opens, and is bounded.
    pub exact: bool,
}

/// The form and size of a step's value.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    Known(usize, usize),
    Bits(usize, usize),
    Words(Ring, usize),
    Order(usize),
}

impl Size {
    /// Elements.
    pub(crate) fn rows(self) -> usize {
        match self {
            Size::Known(_, rows) | Size::Bits(_, rows) | Size::Words(_, rows) | Size::Order(rows) => rows,
        }
    }

    /// Bits of an element.
    pub(crate) fn width(self) -> u64 {
        match self {
            Size::Known(width, _) | Size::Bits(width, _) => width as u64,
            Size::Words(ring, _) => ring.bits() as u64,
            Size::Order(_) => 64,
        }
    }

    /// Bytes at one party: both shares, or all that it keeps of an order.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Size::Known(width, rows) => 8 * (width.div_ceil(64) * rows) as u64,
            Size::Bits(width, rows) => 2 * (width * rows.div_ceil(8)) as u64,
            Size::Words(ring, rows) => 2 * (ring.bits() / 8 * rows) as u64,
            Size::Order(rows) => 16 * rows as u64,
        }
    }

    pub(crate) fn with_rows(self, rows: usize) -> Size {
        match self {
            Size::Known(width, _) => Size::Known(width, rows),
            Size::Bits(width, _) => Size::Bits(width, rows),
            Size::Words(ring, _) => Size::Words(ring, rows),
            Size::Order(_) => Size::Order(rows),
        }
    }

    /// Shares of zeros.
    fn zeros(self, party: &mut Party) -> Result<Form, ThreeError> {
        fn words<W: Held>(rows: usize) -> Words {
            W::words(Column::zeros(rows))
        }
        Ok(match self {
            Size::Known(..) => unreachable!("known values are brought to another form before anybody talks"),
            Size::Bits(width, rows) => {
                let zeros = || vec![0; width * rows.div_ceil(8)];
                Form::Bits(Arc::new(Bits::new(width, rows, Rep3 { own: zeros(), next: zeros() })?))
            }
            Size::Words(ring, rows) => Form::Words(in_ring!(ring, words(rows))),
            Size::Order(rows) => {
                let mut batch = party.next_batch()?;
                Form::Order(Permutation::random(&mut batch, rows)?, false)
            }
        })
    }
}

/// The size of a step's value. `inputs` has what is left of the inputs' sizes.
fn size(step: &Step, reads: &[Size], inputs: &mut impl Iterator<Item = Size>) -> Size {
    match &step.prim {
        Prim::Input => inputs.next().expect("a size for each input"),
        Prim::Known(tensor) => Size::Known(tensor.scalar().bits(), tensor.len()),
        Prim::Apply { scalar, lengths, .. } | Prim::Open { scalar, lengths } => {
            Size::Known(scalar.bits(), lengths.iter().product())
        }
        Prim::AsBits => match reads[0] {
            Size::Known(width, rows) => Size::Bits(width, rows),
            other => other,
        },
        Prim::AsWords(ring) | Prim::Narrow(ring) | Prim::ToWords(ring) | Prim::Inject(ring) => {
            Size::Words(*ring, reads[0].rows())
        }
        Prim::Pick(picks) => reads[0].with_rows(picks.len()),
        Prim::Gather { inner, .. } => reads[0].with_rows(reads[1].rows() * inner),
        Prim::Fold { axis, prefix: false } => reads[0].with_rows(axis.series()),
        Prim::ToBits { bits, rectified } => Size::Bits(bits.len() - usize::from(*rectified), reads[0].rows()),
        Prim::MatMul([rows, _, columns]) => reads[0].with_rows(rows * columns),
        Prim::Conv2d(geometry) => reads[0].with_rows(geometry.results().unwrap_or(0)),
        Prim::MatMulKnown { shape: [rows, _, columns], left } => {
            reads[usize::from(*left)].with_rows(rows * columns)
        }
        Prim::Conv2dKnown { geometry, left } => {
            reads[usize::from(*left)].with_rows(geometry.results().unwrap_or(0))
        }
        Prim::PoolSum(pooling) => reads[0].with_rows(pooling.windows()),
        Prim::Choose => reads[1],
        Prim::Less { .. } | Prim::LessBounded | Prim::Equal => Size::Bits(1, reads[0].rows()),
        Prim::Sort { rows, .. } | Prim::Meet { rows, .. } => Size::Order(*rows),
        Prim::FromPlaces => Size::Order(reads[0].rows()),
        Prim::Compact { kept } => {
            let inner = reads[1].rows().checked_div(reads[0].rows()).unwrap_or(0);
            reads[1].with_rows(kept * inner)
        }
        Prim::Places { rows } => Size::Words(Ring::U64, *rows),
        Prim::Block(program) => Size::Bits(program.output_bits(), reads[0].rows()),
        Prim::Flat(_, [width, rows]) => Size::Bits(*width, *rows),
        Prim::Sum { .. }
        | Prim::Scale
        | Prim::Product
        | Prim::Truncate { .. }
        | Prim::Fold { .. }
        | Prim::Permute { .. }
        | Prim::Farther { .. }
        | Prim::Targets { .. }
        | Prim::Invert => reads[0],
    }
}

/// A step that talks, as its wave has it.
struct Talk<'p> {
    step: &'p Step,
    reads: Vec<Size>,
    extent: Extent,
}

impl Plan {
    /// The cost of a run that is cut so, for the party of this number, 0 to 2: party 0 deals more than the others. Rounds are those of the
    /// busiest lane. Machines are made on zeros and never run.
    ///
    /// # Errors
    /// More rows than machines take.
    ///
    /// # Panics
    /// If there is no such party (the caller's bug).
    pub fn cost(&self, party: usize, cut: Cut) -> Result<PlanCost, ThreeError> {
        self.cost_by(party, cut, sort_bound)
    }

    /// The cost as it is likely to be: a sort takes far fewer rounds than it may.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    ///
    /// # Panics
    /// As [`Plan::cost`].
    pub fn likely_cost(&self, party: usize, cut: Cut) -> Result<Cost, ThreeError> {
        Ok(self.cost_by(party, cut, sort_expected)?.cost)
    }

    fn cost_by(&self, party: usize, cut: Cut, of_sort: OfSort) -> Result<PlanCost, ThreeError> {
        let [a, b, c] = Party::three(Backend::best());
        let mut party = [Some(a), Some(b), Some(c)][party].take().expect("party 0, 1 or 2");
        let mut sum = PlanCost { exact: true, ..PlanCost::default() };
        for wave in self.waves() {
            let one = wave_cost(&mut party, &wave, cut, of_sort)?;
            sum.cost.rounds += one.rounds;
            sum.cost.bytes_sent += one.bytes_sent;
            let is_known = |talk: &Talk<'_>| !matches!(talk.step.prim, Prim::Sort { rows, .. } if rows > 1);
            sum.exact &= wave.iter().all(is_known);
        }
        Ok(sum)
    }

    /// Of all steps' values.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        let mut inputs = self.inputs.iter().map(|door| match door.ring {
            None => Size::Bits(door.scalar.bits(), door.elements),
            Some(ring) => Size::Words(ring, door.elements),
        });
        let mut sizes: Vec<Size> = vec![];
        for step in &self.steps {
            let reads: Vec<Size> = step.reads.iter().map(|slot| sizes[*slot]).collect();
            sizes.push(size(step, &reads, &mut inputs));
        }
        sizes
    }

    /// The steps of each wave that talk.
    fn waves(&self) -> Vec<Vec<Talk<'_>>> {
        let (sizes, mut waves) = (self.sizes(), Vec::<Vec<Talk<'_>>>::new());
        // Waves that must have run before a step's value is there.
        let mut after: Vec<usize> = vec![];
        for step in &self.steps {
            let reads: Vec<Size> = step.reads.iter().map(|slot| sizes[*slot]).collect();
            let wave = step.reads.iter().map(|slot: &Slot| after[*slot]).max().unwrap_or(0);
            after.push(wave + usize::from(step.talks()));
            if step.talks() {
                if waves.len() <= wave {
                    waves.resize_with(wave + 1, Vec::new);
                }
                let extent = step.extent(reads.iter().map(|size| size.rows()));
                waves[wave].push(Talk { step, reads, extent });
            }
        }
        waves
    }
}

/// The cost of a sort for a party: of so many rows, by keys of so many bits, with levels that are wide from so many pairs on.
type OfSort = fn(Role, usize, usize, usize) -> Cost;

fn wave_cost(party: &mut Party, wave: &[Talk<'_>], cut: Cut, of_sort: OfSort) -> Result<Cost, ThreeError> {
    let extents: Vec<Extent> = wave.iter().map(|talk| talk.extent).collect();
    // Pieces of one length cost the same.
    let mut known: HashMap<(usize, usize), Cost> = HashMap::new();
    let (mut lanes, mut bytes_sent) = (vec![0; cut.lanes()], 0);
    for (i, group) in cut.groups(&extents).into_iter().enumerate() {
        let mut rounds = 0;
        for (at, rows) in group {
            let cost = match known.entry((at, rows.len())) {
                Entry::Occupied(cost) => *cost.get(),
                Entry::Vacant(place) => *place.insert(wave[at].cost(party, rows.len(), cut, of_sort)?),
            };
            rounds = cost.rounds.max(rounds);
            bytes_sent += cost.bytes_sent;
        }
        lanes[cut.lane(i)] += rounds;
    }
    Ok(Cost { rounds: lanes.into_iter().max().unwrap_or(0), bytes_sent })
}

impl Talk<'_> {
    /// The cost of a piece of so many rows.
    fn cost(&self, party: &mut Party, rows: usize, cut: Cut, of_sort: OfSort) -> Result<Cost, ThreeError> {
        if let Prim::Sort { rows, .. } = self.step.prim {
            let keys = self.reads.iter().map(|size| width(*size)).sum();
            return Ok(of_sort(party.role(), rows, keys, cut.few()));
        }
        let size = |size: &Size| if self.extent.cuts { size.with_rows(rows) } else { *size };
        let forms = self.reads.iter().map(|of| size(of).zeros(party)).collect::<Result<Vec<_>, _>>()?;
        let ready = begin(party.next_batch()?, self.step, &forms, self.extent.rows, cut)?;
        Ok(ready.cost().expect("every machine but a sort declares its cost"))
    }
}

fn width(size: Size) -> usize {
    match size {
        Size::Bits(width, _) => width,
        _ => unreachable!("keys are bits"),
    }
}
