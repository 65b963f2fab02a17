//! The memory of a run, from its plan and cut alone.

use crate::{
    Cut, Plan,
    cost::Size,
    cut::Extent,
    machines::MEETING,
    plan::{Prim, Slot, Step},
};
use hushwire_circuit::Program;

impl Plan {
    /// Bytes that values and what works on them take at one party, at most: every value from its step to the last that reads it, and beside
    /// them the work of a step without a message, or of one group on each lane. Inputs and outputs are among the values. What machines
    /// take is estimated from what they hold, and rounded up.
    #[must_use]
    pub fn memory(&self, cut: Cut) -> u64 {
        let sizes = self.sizes();
        let mut live = Live::new(self, &sizes);
        let mut ran: Vec<bool> = self.steps.iter().map(|step| matches!(step.prim, Prim::Input)).collect();
        loop {
            let ready = |ran: &[bool], step: &Step| step.reads.iter().all(|slot| ran[*slot]);
            for (at, step) in self.steps.iter().enumerate() {
                if !ran[at] && !step.talks() && ready(&ran, step) {
                    live.comes(at);
                    live.goes(step);
                    ran[at] = true;
                }
            }
            let wave: Vec<Slot> =
                (0..self.steps.len()).filter(|at| !ran[*at] && ready(&ran, &self.steps[*at])).collect();
            if wave.is_empty() {
                return live.most;
            }
            wave.iter().for_each(|at| live.comes(*at));
            live.beside(self.work(&wave, &sizes, cut));
            for at in wave {
                live.goes(&self.steps[at]);
                ran[at] = true;
            }
        }
    }

    /// The cut with which a run takes at most so many bytes, as [`Plan::memory`] counts: this one, or one with shorter pieces and more
    /// rounds, as few as that needs; none where the shortest take more, since values, sorts, permutations, compactions, products of
    /// matrices and convolutions are there whole. AGREEMENT: all parties say the same.
    #[must_use]
    pub fn cut_within(&self, mut cut: Cut, bytes: u64) -> Option<Cut> {
        while self.memory(cut) > bytes {
            cut = cut.shorter()?;
        }
        Some(cut)
    }

    /// Bytes that a wave's machines take: on each lane those of its largest group.
    fn work(&self, wave: &[Slot], sizes: &[Size], cut: Cut) -> u64 {
        let reads = |at: Slot| self.steps[at].reads.iter().map(|slot| sizes[*slot]);
        let extents: Vec<Extent> =
            wave.iter().map(|at| self.steps[*at].extent(reads(*at).map(Size::rows))).collect();
        let mut lanes = vec![0; cut.lanes()];
        for (i, group) in cut.groups(&extents).into_iter().enumerate() {
            let of = |(k, rows): (usize, std::ops::Range<usize>)| {
                let (at, cuts) = (wave[k], extents[k].cuts);
                let part = |size: Size| if cuts { size.with_rows(rows.len()) } else { size };
                let reads: Vec<Size> = reads(at).map(part).collect();
                work(&self.steps[at].prim, &reads, part(sizes[at]))
            };
            let lane = &mut lanes[cut.lane(i)];
            *lane = group.into_iter().map(of).sum::<u64>().max(*lane);
        }
        lanes.into_iter().sum()
    }
}

/// Values that are there. What all know lies beside the memory of shares, which is kept for shares to come (`rep3::pool`) and serves nothing else.
struct Live<'p> {
    sizes: &'p [Size],
    readers: Vec<usize>,
    shares: u64,
    known: u64,
    /// The most that shares and what works on them took so far.
    kept: u64,
    most: u64,
}

impl<'p> Live<'p> {
    fn new(plan: &Plan, sizes: &'p [Size]) -> Self {
        let mut readers = vec![0; sizes.len()];
        plan.steps
            .iter()
            .flat_map(|step| &step.reads)
            .chain(plan.outputs.iter().map(|(slot, _)| slot))
            .for_each(|slot| readers[*slot] += 1);
        let inputs = plan.steps.iter().zip(sizes).filter(|(step, _)| matches!(step.prim, Prim::Input));
        let mut live = Live { sizes, readers, shares: 0, known: 0, kept: 0, most: 0 };
        inputs.for_each(|(_, size)| *live.place(*size) += size.bytes());
        live.beside(0);
        live
    }

    fn place(&mut self, size: Size) -> &mut u64 {
        if let Size::Known(..) = size { &mut self.known } else { &mut self.shares }
    }

    fn comes(&mut self, at: Slot) {
        let size = self.sizes[at];
        *self.place(size) += size.bytes();
        self.beside(0);
    }

    fn beside(&mut self, bytes: u64) {
        self.kept = self.kept.max(self.shares + bytes);
        self.most = self.most.max(self.kept + self.known);
    }

    fn goes(&mut self, step: &Step) {
        for slot in &step.reads {
            self.readers[*slot] -= 1;
            if self.readers[*slot] == 0 {
                let size = self.sizes[*slot];
                *self.place(size) -= size.bytes();
            }
        }
    }
}

/// Bytes that a machine takes, with its messages, a copy of its rows and its result.
fn work(prim: &Prim, reads: &[Size], made: Size) -> u64 {
    let (read, made) = (reads.iter().map(|size| size.bytes()).sum::<u64>(), made.bytes());
    match prim {
        Prim::Block(program) => 2 * read + 3 * made + slots(program, reads[0].rows().div_ceil(8)),
        // A byte for every bit of an element.
        Prim::Flat(program, _) => 24 * (read + made) + slots(program, 1),
        Prim::Truncate { .. } => 40 * read,
        Prim::ToBits { .. } | Prim::Less { .. } | Prim::LessBounded | Prim::Equal => 16 * read,
        // Of a row its tag, twice, beside its place; and the encryption of some rows at a time, of most where parties are far.
        Prim::Meet { rows, .. } => 4 * read + 96 * *rows as u64 + 256 * (*rows).min(MEETING) as u64,
        Prim::Sort { .. } | Prim::Compact { .. } | Prim::FromPlaces => 16 * (read + made),
        Prim::ToWords(_) | Prim::Inject(_) | Prim::Choose | Prim::Permute { .. } | Prim::Places { .. } => {
            12 * (read + made)
        }
        _ => 3 * (read + made),
    }
}

/// Both shares of a circuit's wires, for planes of so many bytes.
fn slots(program: &Program, plane: usize) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        (2 * block.slots() * plane * copies).max(64 * block.slots()) as u64
    };
    (0..stages.len()).map(of).max().unwrap_or(0)
}
