//! Computes the memory of a run from its plan and cut alone. It follows the values through a
//! simulated run, and adds an estimate for the machines of each wave. A run that would take too
//! much is cut into shorter pieces.

use crate::{
    Cut, Plan, ShardMemory,
    machines::MEETING,
    prim::{OwnTalk, Three},
    sharded::Spread,
};
use hushwire_compute::Value;
use hushwire_plan::{Extent, Local, Prim, Reorder, Size, Slot, StepPiece, Talk, Watch, wires};
use hushwire_rep3::ranges;

impl Plan {
    /// Returns the most bytes that a run takes at one party. Every value counts from its step to
    /// its last reader. The work of a step without a message, or of one group on each lane, is
    /// added. Inputs and outputs are among the values. The memory of machines is estimated from
    /// their contents, and rounded up.
    #[must_use]
    pub fn memory(&self, cut: Cut) -> u64 {
        self.memory_at(cut, 0, 1).bytes
    }

    /// The memory of one shard, if each party has `shards` shards.
    pub(crate) fn memory_at(&self, cut: Cut, shard: usize, shards: usize) -> ShardMemory {
        self.at(cut).own_memory(cut, shard, shards)
    }

    fn own_memory(&self, cut: Cut, shard: usize, shards: usize) -> ShardMemory {
        let mut live =
            Live { plan: self, cut, shard, shards, shares: 0, known: 0, kept: 0, most: 0, whole: None };
        // Inputs are present from the beginning, and unread inputs to the end.
        live.shares = self.inputs.iter().map(|door| bytes(live.own(door.size()))).sum();
        live.beside(0);
        self.steps.walk(&mut live);
        ShardMemory { bytes: live.most, whole: live.whole }
    }

    /// Returns a cut with which a run takes at most `bytes` bytes, as [`Plan::memory`] counts. It
    /// is this cut, or one with shorter pieces and so more rounds, but no more than needed. `None`
    /// if even the shortest pieces take more memory. Values, sorts, permutations, compactions,
    /// products of matrices and convolutions are not cut. AGREEMENT: all parties give the same
    /// arguments.
    #[must_use]
    pub fn cut_within(&self, mut cut: Cut, bytes: u64) -> Option<Cut> {
        while self.memory(cut) > bytes {
            cut = cut.shorter()?;
        }
        Some(cut)
    }

    /// The bytes that a wave's machines take: on each lane, those of its largest group.
    fn work(&self, wave: &[Extent], cut: Cut) -> u64 {
        let mut lanes = vec![0; cut.lanes()];
        for (i, group) in cut.groups(wave).into_iter().enumerate() {
            let of = |(at, rows): StepPiece| {
                let (reads, made) = self.steps.piece_sizes(at, rows.len());
                self.steps[at].talk().map_or(0, |talk| work(talk, &reads, made))
            };
            let lane = &mut lanes[cut.lane(i)];
            *lane = group.into_iter().map(of).sum::<u64>().max(*lane);
        }
        lanes.into_iter().sum()
    }
}

/// The bytes of a value at one party: both shares, or all parts of an order.
fn bytes(size: Size) -> u64 {
    match size {
        Size::Known(width, rows) => 8 * (width.div_ceil(64) * rows) as u64,
        Size::Bits(width, rows) => 2 * (width * rows.div_ceil(8)) as u64,
        Size::Words(ring, rows) => 2 * (ring as usize / 8 * rows) as u64,
        Size::Order(rows, _) => 16 * rows as u64,
    }
}

/// The values that are present. Known values lie outside of the memory for shares, which is reused
/// only for later shares (`rep3::pool`).
struct Live<'p> {
    plan: &'p Plan,
    cut: Cut,
    shard: usize,
    shards: usize,
    shares: u64,
    known: u64,
    /// The most bytes that shares and the work on them took so far.
    kept: u64,
    most: u64,
    /// The most bytes of a step that runs on this shard alone, if there are several shards.
    whole: Option<(Value, u64)>,
}

impl Live<'_> {
    fn place(&mut self, size: Size) -> &mut u64 {
        if let Size::Known(..) = size { &mut self.known } else { &mut self.shares }
    }

    /// The part of a value that is on this shard. A known value is here whole.
    fn own(&self, size: Size) -> Size {
        match size {
            Size::Known(..) => size,
            Size::Order(rows, _) | Size::Bits(_, rows) | Size::Words(_, rows) => {
                let bounds = ranges(rows, self.shards);
                size.with_rows(bounds[self.shard + 1] - bounds[self.shard])
            }
        }
    }

    fn comes(&mut self, at: Slot) {
        let size = self.own(self.plan.steps[at].size);
        *self.place(size) += bytes(size);
        self.beside(0);
    }

    /// Counts a step whose operands are whole on shard 0 while it runs, with its work.
    fn alone(&mut self, at: Slot, work: u64) {
        if self.shard > 0 {
            return;
        }
        let (steps, step) = (&self.plan.steps, &self.plan.steps[at]);
        let all = steps.sizes_read(at).into_iter().map(bytes).sum::<u64>() + bytes(step.size) + work;
        if self.whole.is_none_or(|(_, most)| all > most) {
            self.whole = Some((Value(step.node as u32), all));
        }
        self.beside(all);
    }

    fn beside(&mut self, bytes: u64) {
        self.kept = self.kept.max(self.shares + bytes);
        self.most = self.most.max(self.kept + self.known);
    }
}

impl Watch for Live<'_> {
    fn local(&mut self, at: Slot) {
        let prim = &self.plan.steps[at].prim;
        if !matches!(prim, Prim::Local(Local::Input(..))) {
            self.comes(at);
        }
        if self.shards > 1 && matches!(Spread::of(prim), Spread::First) {
            self.alone(at, 0);
        }
    }

    fn wave(&mut self, wave: &[Slot], _: usize) {
        wave.iter().for_each(|at| self.comes(*at));
        let (extents, one) = (self.plan.extents(wave), self.shards == 1);
        let by_rows = |extent: &Extent| one || Spread::of(&self.plan.steps[extent.at].prim).is_by_rows();
        let (by_rows, across): (Vec<Extent>, Vec<Extent>) = extents.into_iter().partition(by_rows);
        let own = |extent: Extent| {
            let bounds = ranges(extent.rows, self.shards);
            Extent { rows: bounds[self.shard + 1] - bounds[self.shard], ..extent }
        };
        let by_rows: Vec<Extent> = by_rows.into_iter().map(own).collect();
        self.beside(self.plan.work(&by_rows, self.cut));
        for extent in across {
            if let Spread::Across = Spread::of(&self.plan.steps[extent.at].prim) {
                // As on one machine with these rows, including messages in flight to the other
                // shards.
                let work = self.plan.work(&[extent], self.cut) / self.shards as u64;
                self.beside(work + work / 2);
            } else {
                self.alone(extent.at, self.plan.work(&[extent], self.cut));
            }
        }
    }

    fn goes(&mut self, at: Slot) {
        let size = self.own(self.plan.steps[at].size);
        *self.place(size) -= bytes(size);
    }
}

/// The bytes that a machine takes, including its messages, a copy of its rows and its result.
fn work(talk: &Talk<Three>, reads: &[Size], made: Size) -> u64 {
    let (read, made) = (reads.iter().map(|size| bytes(*size)).sum::<u64>(), bytes(made));
    match talk {
        Talk::Block(program) => 2 * read + 3 * made + wires(program, reads[0].rows().div_ceil(8), 2),
        Talk::Own(OwnTalk::Better(better)) => {
            2 * read + 3 * made + wires(&better.prefix, reads[0].rows().div_ceil(8), 2)
        }
        // One byte for every bit of an element.
        Talk::Flat(program, _) => 24 * (read + made) + wires(program, 1, 2),
        Talk::Truncate { .. } => 40 * read,
        Talk::Less { .. } | Talk::LessBounded | Talk::Equal | Talk::Own(OwnTalk::ToBits { .. }) => 16 * read,
        // The dealt correlations, their shares, and planes.
        Talk::Own(OwnTalk::Rectify { .. } | OwnTalk::Greatest { .. }) => 24 * (read + made),
        // Each row has two tags and a place. The encryption has up to [`MEETING`] rows at a time.
        Talk::Own(OwnTalk::Meet { rows, .. }) => {
            4 * read + 96 * *rows as u64 + 256 * (*rows).min(MEETING) as u64
        }
        Talk::Reorder(Reorder::Sort { .. } | Reorder::ToOrder) | Talk::Own(OwnTalk::Compact { .. }) => {
            16 * (read + made)
        }
        Talk::ToWords(_)
        | Talk::Choose
        | Talk::Reorder(Reorder::Permute { .. })
        | Talk::Own(OwnTalk::Places { .. }) => 12 * (read + made),
        Talk::Product(()) | Talk::MatMul(..) | Talk::Open { .. } | Talk::Own(OwnTalk::Conv2d(_)) => {
            3 * (read + made)
        }
    }
}
