//! The cost of a plan, without anybody's data.

use crate::{
    Cut, Plan, ThreeError,
    cut::Extent,
    form::{Form, Held, Words, in_ring},
    lower::Three,
    machines::begin,
};
use hushwire_aes::Backend;
use hushwire_compute::{Scalar, Tensor};
use hushwire_machine::Cost;
use hushwire_plan::{Size, Slot, Talk};
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

/// Shares of zeros.
fn zeros(size: Size, party: &mut Party) -> Result<Form, ThreeError> {
    fn words<W: Held>(rows: usize) -> Words {
        W::words(Column::zeros(rows))
    }
    Ok(match size {
        Size::Known(width, rows) => Form::Known(Arc::new(Tensor::zeros(Scalar::Bits(width as u16), &[rows]))),
        Size::Bits(width, rows) => {
            let zeros = || vec![0; width * rows.div_ceil(8)];
            Form::Bits(Arc::new(Bits::new(width, rows, Rep3 { own: zeros(), next: zeros() })?))
        }
        Size::Words(ring, rows) => Form::Words(in_ring!(ring, words(rows))),
        Size::Order(rows, _) => {
            let mut batch = party.next_batch()?;
            Form::Order(Permutation::random(&mut batch, rows)?, false)
        }
    })
}

/// A step that talks, as its wave has it.
struct Piece<'p> {
    talk: &'p Talk<Three>,
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
        for wave in self.steps.waves() {
            let piece = |at: Slot| {
                let extent = self.extent(at);
                self.steps[at].talk().map(|talk| Piece { talk, reads: self.steps.sizes_read(at), extent })
            };
            let wave: Vec<Piece<'_>> = wave.into_iter().filter_map(piece).collect();
            let one = wave_cost(&mut party, &wave, cut, of_sort)?;
            sum.cost.rounds += one.rounds;
            sum.cost.bytes_sent += one.bytes_sent;
            let is_known = |piece: &Piece<'_>| !matches!(piece.talk, Talk::Sort { rows, .. } if *rows > 1);
            sum.exact &= wave.iter().all(is_known);
        }
        Ok(sum)
    }

    /// The rows of a step, and whether it is cut.
    pub(crate) fn extent(&self, at: Slot) -> Extent {
        let cuts = self.steps[at].talk().is_some_and(Talk::is_row_by_row);
        Extent { rows: self.steps.rows_read(at), cuts }
    }
}

/// The cost of a sort for a party: of so many rows, by keys of so many bits, with levels that are wide from so many pairs on.
type OfSort = fn(Role, usize, usize, usize) -> Cost;

fn wave_cost(party: &mut Party, wave: &[Piece<'_>], cut: Cut, of_sort: OfSort) -> Result<Cost, ThreeError> {
    let extents: Vec<Extent> = wave.iter().map(|piece| piece.extent).collect();
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

impl Piece<'_> {
    /// The cost of a piece of so many rows.
    fn cost(&self, party: &mut Party, rows: usize, cut: Cut, of_sort: OfSort) -> Result<Cost, ThreeError> {
        if let Talk::Sort { rows, .. } = self.talk {
            let keys = self.reads.iter().map(|size| size.width()).sum();
            return Ok(of_sort(party.role(), *rows, keys, cut.few()));
        }
        let size = |size: &Size| if self.extent.cuts { size.with_rows(rows) } else { *size };
        let forms = self.reads.iter().map(|of| zeros(size(of), party)).collect::<Result<Vec<_>, _>>()?;
        let ready = begin(party.next_batch()?, self.talk, &forms, self.extent.rows, cut)?;
        Ok(ready.cost().expect("every machine but a sort declares its cost"))
    }
}
