//! The cost of a plan, without anybody's data.

use crate::{
    Plan, ThreeError,
    form::{Form, Held, Ring, Words, in_ring},
    machines::begin,
    plan::{Prim, Slot, Step},
};
use hushwire_aes::Backend;
use hushwire_rep3::{
    Party, Rep3,
    ring::{Bits, Column, Permutation, sort_bound},
};
use hushwire_wire::Cost;
use std::sync::Arc;

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
enum Size {
    Known(usize, usize),
    Bits(usize, usize),
    Words(Ring, usize),
    Order(usize),
}

impl Size {
    /// Elements.
    fn rows(self) -> usize {
        match self {
            Size::Known(_, rows) | Size::Bits(_, rows) | Size::Words(_, rows) | Size::Order(rows) => rows,
        }
    }

    fn with_rows(self, rows: usize) -> Size {
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
        Prim::ToBits(width) => Size::Bits(*width, reads[0].rows()),
        Prim::MatMul([rows, _, columns]) => reads[0].with_rows(rows * columns),
        Prim::Conv2d(geometry) => reads[0].with_rows(geometry.results().unwrap_or(0)),
        Prim::PoolSum(pooling) => reads[0].with_rows(pooling.windows()),
        Prim::Choose => reads[1],
        Prim::Less { .. } | Prim::Equal => Size::Bits(1, reads[0].rows()),
        Prim::Sort { rows, .. } => Size::Order(*rows),
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
        | Prim::Invert => reads[0],
    }
}

impl Plan {
    /// The cost for the party of this number, 0 to 2: party 0 deals more than the others. Machines are made on zeros and never run.
    ///
    /// # Errors
    /// More rows than machines take.
    ///
    /// # Panics
    /// If there is no such party (the caller's bug).
    pub fn cost(&self, party: usize) -> Result<PlanCost, ThreeError> {
        let [a, b, c] = Party::three(Backend::best());
        let mut party = [Some(a), Some(b), Some(c)][party].take().expect("party 0, 1 or 2");
        let mut inputs = self.inputs.iter().map(|(scalar, elements)| Size::Bits(scalar.bits(), *elements));
        let mut sizes: Vec<Size> = vec![];
        // Waves that must have run before a step's value is there.
        let mut waves: Vec<usize> = vec![];
        let mut costs: Vec<Cost> = vec![];
        let mut exact = true;
        for step in &self.steps {
            let reads: Vec<Size> = step.reads.iter().map(|slot| sizes[*slot]).collect();
            let wave = step.reads.iter().map(|slot: &Slot| waves[*slot]).max().unwrap_or(0);
            if step.talks() {
                let cost = match &step.prim {
                    Prim::Sort { rows, .. } => {
                        exact &= *rows < 2;
                        sort_bound(party.role(), *rows, reads.iter().map(|size| width(*size)).sum())
                    }
                    _ => step_cost(&mut party, step, &reads)?,
                };
                if costs.len() <= wave {
                    costs.resize(wave + 1, Cost::default());
                }
                costs[wave].rounds = costs[wave].rounds.max(cost.rounds);
                costs[wave].bytes_sent += cost.bytes_sent;
            }
            waves.push(wave + usize::from(step.talks()));
            sizes.push(size(step, &reads, &mut inputs));
        }
        let sum = |sum: Cost, wave: Cost| Cost {
            rounds: sum.rounds + wave.rounds,
            bytes_sent: sum.bytes_sent + wave.bytes_sent,
        };
        Ok(PlanCost { cost: costs.into_iter().fold(Cost::default(), sum), exact })
    }
}

fn width(size: Size) -> usize {
    match size {
        Size::Bits(width, _) => width,
        _ => unreachable!("keys are bits"),
    }
}

fn step_cost(party: &mut Party, step: &Step, reads: &[Size]) -> Result<Cost, ThreeError> {
    let forms = reads.iter().map(|size| size.zeros(party)).collect::<Result<Vec<_>, _>>()?;
    let mut batch = party.next_batch()?;
    let mut ready = begin(party, &mut batch, step, &forms)?;
    Ok(ready.machine().cost().expect("every machine but a sort declares its cost"))
}
