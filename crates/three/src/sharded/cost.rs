//! Computes the cost and the memory of each shard without any party's data. Costs between parties
//! are those of the shard's rows, and exchanges between shards are counted separately.

use super::{moves::packed, spread::Spread, sums};
use crate::{
    Cut, Plan, PlanCost, ThreeError,
    cost::{OfSort, PriceTerms},
    prim::{OwnTalk, Three},
};
use hushwire_aes::Backend;
use hushwire_compute::Value;
use hushwire_machine::Cost;
use hushwire_plan::{Extent, Picks, PlanStep, Reorder, Route, Runtime, Size, Slot, Talk, misplaced};
use hushwire_rep3::{
    Rep3Party, ranges,
    ring::{sort_bound, sort_expected},
};

/// The cost of a plan for one shard of one party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardCost {
    /// Rounds and bytes sent between parties, and whether they are exact.
    pub between_parties: PlanCost,
    /// The most bytes that it sends to the party's other shards.
    pub to_shards: u64,
    /// The number of exchanges between the party's shards.
    pub exchanges: u64,
}

/// The rows of a step that runs across all shards.
pub(super) fn across_rows(step: &PlanStep<Three>, sizes: &[Size]) -> usize {
    match step.talk() {
        Some(Talk::Reorder(Reorder::Permute { .. })) => sizes[1].rows(),
        _ => sizes[0].rows(),
    }
}

/// The memory of one shard of one party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardMemory {
    /// The most bytes that values and the work on them take, as in [`Plan::memory`].
    pub bytes: u64,
    /// The operation and the bytes of the step that takes the most memory among those that run
    /// whole on shard 0. `None` if every step is small, or is spread over all shards.
    pub whole: Option<(Value, u64)>,
}

impl Plan {
    /// Returns the costs of all shards in order, for this party. Each party has `shards` shards.
    /// Every shard has its own lanes, with this cut.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    ///
    /// # Panics
    /// If there is no such party, or there are no shards (the caller's bug).
    pub fn sharded_cost(&self, party: usize, cut: Cut, shards: usize) -> Result<Vec<ShardCost>, ThreeError> {
        self.sharded_cost_by(party, cut, shards, sort_bound)
    }

    /// Returns the likely costs.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    ///
    /// # Panics
    /// As [`Plan::sharded_cost`].
    pub fn likely_sharded_cost(
        &self,
        party: usize,
        cut: Cut,
        shards: usize,
    ) -> Result<Vec<ShardCost>, ThreeError> {
        self.sharded_cost_by(party, cut, shards, sort_expected)
    }

    fn sharded_cost_by(
        &self,
        party: usize,
        cut: Cut,
        shards: usize,
        of_sort: OfSort,
    ) -> Result<Vec<ShardCost>, ThreeError> {
        if shards == 1 {
            let between_parties = self.cost_by(party, cut, of_sort)?;
            return Ok(vec![ShardCost { between_parties, ..ShardCost::default() }]);
        }
        let [a, b, c] = Rep3Party::three(Backend::best());
        let mut party = [Some(a), Some(b), Some(c)][party].take().expect("party 0, 1 or 2");
        let mut terms = PriceTerms { party: &mut party, cut, of_sort };
        let plan = self.at(cut);
        (0..shards).map(|shard| plan.shard_cost(&mut terms, shard, shards)).collect()
    }

    fn shard_cost(
        &self,
        terms: &mut PriceTerms<'_>,
        shard: usize,
        shards: usize,
    ) -> Result<ShardCost, ThreeError> {
        let (mut sum, mut exact) = (ShardCost::default(), true);
        let mut spend = |cost: Cost| {
            let all = &mut sum.between_parties.cost;
            (all.rounds, all.bytes_sent) = (all.rounds + cost.rounds, all.bytes_sent + cost.bytes_sent);
        };
        for wave in self.steps.waves() {
            let (by_rows, across): (Vec<Slot>, Vec<Slot>) =
                wave.iter().partition(|at| Spread::of(&self.steps[**at].prim).is_by_rows());
            let own = |at: &Slot| {
                let extent = self.steps.extent(*at);
                let bounds = ranges(extent.rows, shards);
                Extent { rows: bounds[shard + 1] - bounds[shard], ..extent }
            };
            spend(self.wave_cost(&by_rows.iter().map(own).collect::<Vec<_>>(), terms)?);
            for at in across {
                match Spread::of(&self.steps[at].prim) {
                    Spread::Across => {
                        spend(self.across_cost(at, terms, shard, shards)?);
                        exact = false;
                    }
                    _ if shard == 0 => spend(self.wave_cost(&self.extents(&[at]), terms)?),
                    _ => {}
                }
            }
        }
        for step in self.steps.iter() {
            let (bytes, exchanges) = self.to_shards(step, shard, shards);
            sum.to_shards += bytes;
            sum.exchanges += exchanges;
        }
        sum.between_parties.exact = exact;
        Ok(sum)
    }

    /// The largest cost between parties of a step across all shards, for this shard's part of the
    /// rows. A sort takes the rounds and levels of all rows, and the levels that split the rows
    /// between shards.
    fn across_cost(
        &self,
        at: Slot,
        terms: &mut PriceTerms<'_>,
        shard: usize,
        shards: usize,
    ) -> Result<Cost, ThreeError> {
        let sizes = self.steps.sizes_read(at);
        let talk = self.steps[at].talk().unwrap_or_else(|| misplaced());
        let rows = across_rows(&self.steps[at], &sizes);
        let bounds = ranges(rows, shards);
        let own = match bounds[shard + 1] - bounds[shard] {
            // A machine with one row sends nothing; a shard with one of several rows does.
            1 => rows.min(2),
            own => own,
        };
        if let Talk::Reorder(Reorder::Sort { .. }) = talk {
            let keys = sizes.iter().map(|size| size.width()).sum();
            let all = (terms.of_sort)(terms.party.role(), rows, keys, terms.cut.few());
            // Shard 0 alone ranks a small number of rows.
            let is_few = rows < (256 * shards).max(64 * shards * shards);
            let ranked = match (is_few, shard) {
                (true, 0) => rows,
                (true, _) => 0,
                (false, _) => own,
            };
            let part = (u128::from(all.bytes_sent) * ranked as u128 / rows.max(1) as u128) as u64;
            let parting = 2 * u64::from(shards.ilog2() + 1);
            return Ok(Cost { rounds: all.rounds + parting, bytes_sent: part + part / 16 + 4096 });
        }
        let part = |size: &Size| {
            let inner = size.rows().checked_div(rows).unwrap_or(0);
            size.with_rows(own * inner)
        };
        let reads: Vec<Size> = sizes.iter().map(part).collect();
        let part = match talk {
            Talk::Reorder(Reorder::Permute { inner }) => Talk::Reorder(Reorder::Permute { inner: *inner }),
            Talk::Reorder(_) => Talk::Reorder(Reorder::ToOrder),
            Talk::Own(OwnTalk::Meet { first, .. }) => {
                Talk::Own(OwnTalk::Meet { rows: own, first: (*first).min(own) })
            }
            Talk::Own(OwnTalk::Compact { kept }) => Talk::Own(OwnTalk::Compact { kept: (*kept).min(own) }),
            _ => Talk::Own(OwnTalk::Places { rows: own }),
        };
        Three::price(terms, &part, &reads, self.steps[at].size, own)
    }

    /// The bytes that a step makes this shard send to the others, and the number of exchanges of
    /// all shards.
    fn to_shards(&self, step: &PlanStep<Three>, shard: usize, shards: usize) -> (u64, u64) {
        let sizes: Vec<Size> = step.reads.iter().map(|slot| self.steps[*slot].size).collect();
        let others = shards as u64 - 1;
        let own = |size: Size, shard: usize| {
            let bounds = ranges(size.rows(), shards);
            size.with_rows(bounds[shard + 1] - bounds[shard])
        };
        let shares = |size: &&Size| matches!(size, Size::Bits(..) | Size::Words(..));
        match Spread::of(&step.prim) {
            Spread::Known | Spread::Rows | Spread::Order => (0, 0),
            Spread::Opens => {
                let known = 8 * step.size.width().div_ceil(64) * own(step.size, shard).rows();
                (others * known as u64, 1)
            }
            Spread::Moves(picks) => {
                let from: Vec<Vec<usize>> = sizes.iter().map(|size| ranges(size.rows(), shards)).collect();
                let route = Route::new(picks, &from, &ranges(step.size.rows(), shards), shard);
                let part = |picks: &Picks| packed(sizes[0].with_rows(picks.len())) as u64;
                (route.sends.iter().map(part).sum(), u64::from(route.crosses))
            }
            // The places are known only in the run. All of them may lie here.
            Spread::Gathers { .. } => {
                let to = (0..shards).filter(|to| *to != shard);
                (to.map(|to| packed(own(step.size, to)) as u64).sum(), 1)
            }
            Spread::Sums { axis, prefix } => (
                sums::sent(axis, prefix, sizes[0].rows(), shard, shards) * 2 * u64::from(step.size.ring())
                    / 8,
                1,
            ),
            Spread::Counts(_) => (others * 2 * u64::from(step.size.ring()) / 8, 1),
            Spread::Across => self.across_to_shards(step, &sizes, shard, shards),
            Spread::First => {
                let reads = sizes.iter().filter(shares);
                let exchanges = reads.clone().count() as u64 + u64::from(shares(&&step.size));
                let bytes = if shard > 0 {
                    reads.map(|size| packed(own(*size, shard)) as u64).sum()
                } else {
                    let made = Some(&step.size).into_iter().filter(shares);
                    made.flat_map(|size| (1..shards).map(|to| packed(own(*size, to)) as u64)).sum()
                };
                (bytes, exchanges)
            }
        }
    }

    /// The same upper bound for a step across all shards. It covers the places by which a stage is
    /// drawn, each summand that moves, and the move to whole rows. The number of rows that leave a
    /// shard is random.
    fn across_to_shards(
        &self,
        step: &PlanStep<Three>,
        sizes: &[Size],
        shard: usize,
        shards: usize,
    ) -> (u64, u64) {
        let rows = across_rows(step, sizes);
        let bounds = ranges(rows, shards);
        let own = bounds[shard + 1] - bounds[shard];
        let most = (own + 8 * own.isqrt() + 64) as u64;
        // The bytes of a moved row, as bits or in words of eight bytes.
        let row = |size: &Size| {
            let inner = size.rows().div_ceil(rows.max(1));
            (inner * size.width().div_ceil(8).next_multiple_of(if size.width() > 8 { 8 } else { 1 })) as u64
        };
        let keys: usize = sizes.iter().map(|size| size.width()).sum();
        let strings = 4 * (keys + 64).div_ceil(32) as u64;
        let (drawn, placed) = (16, 16);
        let (each, exchanges) = match step.talk() {
            Some(Talk::Reorder(Reorder::Permute { .. })) => (3 * row(&sizes[0]), 12),
            Some(Talk::Own(OwnTalk::Places { .. })) => (24, 12),
            Some(Talk::Reorder(Reorder::ToOrder)) => (drawn + placed + 12, 24),
            Some(Talk::Own(OwnTalk::Compact { .. })) => (drawn + placed + 12 + 3 * row(&sizes[1]), 32),
            _ => (drawn + placed + 8 * strings + 32, 64),
        };
        // A row on each side of each bound, before and after the step.
        let realigned = 16 * row(&sizes[sizes.len().min(2) - 1]).max(row(&sizes[0]));
        let told = (8 * shards as u64 + 512 * strings) * shards as u64;
        (most * each + realigned + told, exchanges)
    }

    /// Returns the cut with which every shard takes at most `bytes` bytes, as [`Plan::cut_within`]
    /// does. AGREEMENT: all shards of all parties give the same arguments.
    ///
    /// # Errors
    /// The memory of the shard that takes the most, with the shortest pieces. If the step in
    /// [`ShardMemory::whole`] alone takes more than `bytes`, more shards do not help.
    pub fn cut_within_shards(&self, mut cut: Cut, shards: usize, bytes: u64) -> Result<Cut, ShardMemory> {
        loop {
            let all = (0..shards).map(|shard| self.shard_memory(cut, shard, shards));
            match all.max_by_key(|memory| memory.bytes) {
                Some(most) if most.bytes > bytes => cut = cut.shorter().ok_or(most)?,
                _ => return Ok(cut),
            }
        }
    }

    /// Returns the memory of one shard. Each party has `shards` shards.
    ///
    /// # Panics
    /// If there is no such shard (the caller's bug).
    #[must_use]
    pub fn shard_memory(&self, cut: Cut, shard: usize, shards: usize) -> ShardMemory {
        self.memory_at(cut, shard, shards)
    }
}
