//! The cost of a plan, without anybody's data.

use crate::{
    Cut, Leg, Plan, ThreeError,
    form::{StepValue, order},
    prim::Three,
};
use hushwire_aes::Backend;
use hushwire_compute::{Scalar, Tensor};
use hushwire_machine::Cost;
use hushwire_plan::{Extent, Reorder, Runtime, Sharing, Size, Slot, Talk};
use hushwire_rep3::{
    Rep3Party, Role,
    ring::{Permutation, sort_bound, sort_expected},
};
use std::collections::{HashMap, hash_map::Entry};

/// The cost of a plan for one party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanCost {
    /// Rounds one after the other, and bytes sent.
    pub cost: Cost,
    /// Whether it is exact. The cost of a sort depends on the random order that it opens: it is a
    /// bound.
    pub exact: bool,
}

/// Shares of zeros.
pub(crate) fn zeros(size: Size, party: &mut Rep3Party) -> Result<StepValue, ThreeError> {
    Ok(match size {
        Size::Known(width, rows) => StepValue::of_known(Tensor::zeros(Scalar::Bits(width as u16), &[rows])),
        Size::Bits(width, rows) => StepValue::of_bits(Three::zero_bits(width, rows)),
        Size::Words(ring, rows) => StepValue::Words(Three::zero_words(ring, rows)),
        Size::Order(rows, _) => order(Permutation::random(&mut party.next_batch()?, rows)?),
    })
}

/// All that prices depend on beside sizes.
pub(crate) struct PriceTerms<'r> {
    pub(crate) party: &'r mut Rep3Party,
    pub(crate) cut: Cut,
    pub(crate) of_sort: OfSort,
}

/// The cost of a sort for a party, by rows, bits of keys, and the number of pairs from which on
/// levels are wide.
pub(crate) type OfSort = fn(Role, usize, usize, usize) -> Cost;

impl Plan {
    /// The cost of a run that is cut so, for the party of this number, 0 to 2: party 0 deals more
    /// than the others. Rounds are those of the busiest lane. Machines are made on zeros and never
    /// run.
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

    pub(crate) fn cost_by(&self, party: usize, cut: Cut, of_sort: OfSort) -> Result<PlanCost, ThreeError> {
        self.at(cut).own_cost(party, cut, of_sort)
    }

    fn own_cost(&self, party: usize, cut: Cut, of_sort: OfSort) -> Result<PlanCost, ThreeError> {
        let [a, b, c] = Rep3Party::three(Backend::best());
        let mut party = [Some(a), Some(b), Some(c)][party].take().expect("party 0, 1 or 2");
        let mut terms = PriceTerms { party: &mut party, cut, of_sort };
        let mut sum = PlanCost { exact: true, ..PlanCost::default() };
        for wave in self.steps.waves() {
            let one = self.wave_cost(&self.extents(&wave), &mut terms)?;
            sum.cost.rounds += one.rounds;
            sum.cost.bytes_sent += one.bytes_sent;
            sum.exact &= !wave.iter().any(|at| self.sorts(*at));
        }
        Ok(sum)
    }

    /// The waves of a run that is cut so, in turn, and what each costs the party of this number.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    ///
    /// # Panics
    /// As [`Plan::cost`].
    pub fn wave_costs(&self, party: usize, cut: Cut) -> Result<Vec<(Leg, Cost)>, ThreeError> {
        let plan = self.at(cut);
        let [a, b, c] = Rep3Party::three(Backend::best());
        let mut party = [Some(a), Some(b), Some(c)][party].take().expect("party 0, 1 or 2");
        let mut terms = PriceTerms { party: &mut party, cut, of_sort: sort_bound };
        let cost = |wave: Vec<Slot>| plan.wave_cost(&plan.extents(&wave), &mut terms);
        let costs = plan.steps.waves().into_iter().map(cost).collect::<Result<Vec<_>, _>>()?;
        Ok(plan.course().into_iter().zip(costs).collect())
    }

    /// The cost of a wave's steps, each of which has these rows.
    pub(crate) fn wave_cost(
        &self,
        extents: &[Extent],
        terms: &mut PriceTerms<'_>,
    ) -> Result<Cost, ThreeError> {
        let cut = terms.cut;
        let rows_of = |at: Slot| extents.iter().find(|of| of.at == at).map_or(0, |of| of.rows);
        // Pieces of one length cost the same.
        let mut known: HashMap<(Slot, usize), Cost> = HashMap::new();
        let (mut lanes, mut bytes_sent) = (vec![0; cut.lanes()], 0);
        for (i, group) in cut.groups(extents).into_iter().enumerate() {
            let mut rounds = 0;
            for (at, rows) in group {
                let cost = match known.entry((at, rows.len())) {
                    Entry::Occupied(cost) => *cost.get(),
                    Entry::Vacant(place) => {
                        *place.insert(self.piece_cost(at, rows.len(), rows_of(at), terms)?)
                    }
                };
                rounds = cost.rounds.max(rounds);
                bytes_sent += cost.bytes_sent;
            }
            lanes[cut.lane(i)] += rounds;
        }
        Ok(Cost { rounds: lanes.into_iter().max().unwrap_or(0), bytes_sent })
    }

    /// Whether a step compares keys, whose order it opens.
    fn sorts(&self, at: Slot) -> bool {
        let sort = self.steps[at].talk();
        matches!(sort, Some(Talk::Reorder(Reorder::Sort { rows, .. })) if *rows > 1)
    }

    /// The cost of a piece of `rows` rows of a step that has `of` of them here.
    fn piece_cost(
        &self,
        at: Slot,
        rows: usize,
        of: usize,
        terms: &mut PriceTerms<'_>,
    ) -> Result<Cost, ThreeError> {
        let (reads, made) = self.steps.piece_sizes(at, rows);
        let price = |talk: &Talk<Three>| Three::price(terms, talk, &reads, made, of);
        self.steps[at].talk().map_or(Ok(Cost::default()), price)
    }

    /// The rows of a wave's steps, and whether each step is cut.
    pub(crate) fn extents(&self, wave: &[Slot]) -> Vec<Extent> {
        wave.iter().map(|at| self.steps.extent(*at)).collect()
    }
}
