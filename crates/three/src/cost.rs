//! Computes the cost of a plan without any party's data. It makes the machines of each wave on
//! zeros and adds their declared costs, lane by lane. Only a sort has a bound instead of an exact
//! cost.

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
    /// The number of consecutive rounds, and the bytes sent.
    pub cost: Cost,
    /// Whether the cost is exact. The cost of a sort depends on the random order that it opens, so
    /// it is a bound.
    pub exact: bool,
}

/// Shares of zeros, in a form and size.
pub(crate) fn zeros(size: Size, party: &mut Rep3Party) -> Result<StepValue, ThreeError> {
    Ok(match size {
        Size::Known(width, rows) => StepValue::of_known(Tensor::zeros(Scalar::Bits(width as u16), &[rows])),
        Size::Bits(width, rows) => StepValue::of_bits(Three::zero_bits(width, rows)),
        Size::Words(ring, rows) => StepValue::Words(Three::zero_words(ring, rows)),
        Size::Order(rows, _) => order(Permutation::random(&mut party.next_batch()?, rows)?),
    })
}

/// The facts that prices depend on, in addition to sizes.
pub(crate) struct PriceTerms<'r> {
    pub(crate) party: &'r mut Rep3Party,
    pub(crate) cut: Cut,
    pub(crate) of_sort: OfSort,
}

/// The cost of a sort for a party, given the rows, the bits of keys, and the number of pairs from
/// which on levels are wide.
pub(crate) type OfSort = fn(Role, usize, usize, usize) -> Cost;

impl Plan {
    /// Returns the cost of a run with this cut, for party 0, 1 or 2. Party 0 deals more than the
    /// others. The rounds are those of the busiest lane. Machines are made on zeros and never run.
    ///
    /// # Errors
    /// There are more rows than machines support.
    ///
    /// # Panics
    /// If the party is not 0, 1 or 2 (the caller's bug).
    pub fn cost(&self, party: usize, cut: Cut) -> Result<PlanCost, ThreeError> {
        self.cost_by(party, cut, sort_bound)
    }

    /// Returns the likely cost. A sort usually takes far fewer rounds than its bound.
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

    /// Returns the waves of a run with this cut, in order, each with its cost for this party.
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

    /// The cost of a wave, given the rows of each of its steps.
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

    /// Whether a step compares keys and opens their order.
    fn sorts(&self, at: Slot) -> bool {
        let sort = self.steps[at].talk();
        matches!(sort, Some(Talk::Reorder(Reorder::Sort { rows, .. })) if *rows > 1)
    }

    /// The cost of a piece of `rows` rows. The step has `of` rows here.
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

    /// The rows of a wave's steps, and whether each step may be cut.
    pub(crate) fn extents(&self, wave: &[Slot]) -> Vec<Extent> {
        wave.iter().map(|at| self.steps.extent(*at)).collect()
    }
}
