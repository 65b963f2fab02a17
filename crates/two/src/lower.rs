//! Chooses the forms that are cheap for two parties, and the steps that only they have. It also
//! tracks which parties have a share other than 0, because a factor that is private to one party
//! needs fewer OTs.

mod layers;

use crate::{
    TwoError,
    distance::PIECE,
    prim::{OwnLocal, OwnTalk, PlanInput, Products, Two},
    ring::Holders,
    room::{REGISTER, room},
};
use hushwire_circuit::{Builder, Layered, Program, words as gates};
use hushwire_compute::{Computation, Op, Scalar, Tensor, Visibility, circuits};
use hushwire_plan::{Axis, Backend, Forms, Local, Lowered, PickRun, Picks, Prim, Reorder, Size, Slot, Talk};
use std::{collections::HashMap, ops::Range, sync::Arc};

pub(crate) type PlanLowering<'a> = hushwire_plan::PlanLowering<'a, Two>;

/// The rows up to which fewer rounds are worth more ANDs. AGREEMENT.
const FEW: usize = 1 << 12;

/// AGREEMENT: the number of OTs that take about as long as a round.
pub(crate) const ROUND: u64 = 1 << 12;

/// AGREEMENT: the most rows whose compaction is a circuit.
const FEW_ROWS: usize = 16;

/// AGREEMENT: the fewest numbers of a row for which the OTs of one factor pay off.
const ROW: usize = 8;

/// The bits of a place.
const PLACE: u32 = 32;

const BOTH: Holders = [true; 2];

impl Two {
    /// Starts a lowering with lists of at most `most` bytes.
    ///
    /// # Errors
    /// A length has no number yet.
    pub(crate) fn lower<'a>(
        computation: &'a Computation,
        owners: &[usize],
        products: Products,
        most: u64,
    ) -> Lowered<PlanLowering<'a>> {
        let two = Two { inputs: vec![], holders: vec![], adders: HashMap::new(), products, lists: 0, most };
        let mut lower = PlanLowering::new(computation, two);
        let nodes = computation.nodes().iter().enumerate();
        for ((at, node), owner) in nodes.filter(|(_, node)| matches!(node.op, Op::Input(_))).zip(owners) {
            let input = PlanInput { owner: *owner, scalar: node.ty.scalar, lengths: lower.lengths(at)? };
            lower.backend.inputs.push(input);
        }
        Ok(lower)
    }

    /// Lowers everything to one circuit. Returns the values of its outputs.
    pub(crate) fn as_one(lower: &mut PlanLowering<'_>) -> Lowered<Vec<Slot>> {
        let c = lower.computation;
        let program = lower.within(|bits| circuits::program_within(c, bits), || circuits::program(c))?;
        let inputs = lower.backend.inputs.iter();
        let size = |input: &PlanInput| Size::Bits(input.scalar.bits(), input.lengths.iter().product());
        let sizes: Vec<Size> = inputs.map(size).collect();
        let reads = sizes.into_iter().enumerate().map(|(k, size)| lower.come(k, size)).collect();
        let bits = program.output_bits();
        let slot = lower.step(Prim::flat(program, [bits, 1]), reads);
        let mut from = 0;
        let mut outputs = vec![];
        for output in c.outputs() {
            let at = output.value.0 as usize;
            let (width, rows) = (lower.scalar(at).bits(), lower.elements(at)?);
            let part = OwnLocal::Part { from, size: Size::Bits(width, rows) };
            outputs.push(lower.step(Local::Own(part), vec![slot]));
            from += width * rows;
        }
        Ok(outputs)
    }
}

/// The only party that has a value, if there is one.
fn holder(lower: &PlanLowering<'_>, slot: Slot) -> Option<usize> {
    match lower.backend.holders[slot] {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => None,
    }
}

/// A product in which one factor is private to a party and constant along each row of the other.
/// The OTs for the bits of a factor then serve its whole row. `None` if rows are short, or too many
/// for a piece.
fn by_rows(lower: &mut PlanLowering<'_>, [a, b]: [Slot; 2]) -> Option<Slot> {
    let ring = lower.size(a).width();
    let (x, factors) = [(a, b), (b, a)].into_iter().find_map(|(x, of)| {
        let Prim::Local(Local::Pick(picks)) = &lower.steps[of].prim else { return None };
        holder(lower, of)?;
        let places: Vec<usize> = picks.places().collect();
        let first = places.first()?;
        let each = places.iter().take_while(|place| *place == first).count();
        let rows = places.chunks(each);
        let are_alike = rows.clone().all(|row| row.len() == each && row.iter().all(|p| *p == row[0]));
        let fits = each >= ROW && rows.len() * ring <= PIECE;
        (are_alike && fits).then(|| (x, (of, rows.map(|row| row[0]).collect::<Vec<_>>())))
    })?;
    let factors = lower.pick(Picks::of(&factors.1), lower.steps[factors.0].reads.clone());
    let holders = Two::factors(lower, [x, factors]);
    Some(lower.step(Talk::Own(OwnTalk::Rows(holders)), vec![x, factors]))
}

/// A known number, as a place, repeated in each row.
fn repeated(lower: &mut PlanLowering<'_>, number: usize, rows: usize) -> Slot {
    let known = lower.known(Tensor::from_words(Scalar::unsigned(64), &[1], [number as u128]));
    let one = lower.step(Local::AsWords(PLACE), vec![known]);
    lower.pick(same(0, rows), vec![one])
}

/// One element, repeated `len` times.
fn same(from: usize, len: usize) -> Picks {
    Picks::of_runs([PickRun::Steps { from, step: 0, len }])
}

fn sum(lower: &mut PlanLowering<'_>, reads: [Slot; 2], minus: bool) -> Slot {
    lower.step(Local::Sum { minus }, reads.to_vec())
}

impl Backend for Two {
    type PlanRefusal = TwoError;
    const PARTIES: &'static str = "two parties";

    /// The ring has as many bits as the number.
    fn ring(&self, scalar: Scalar) -> Option<u32> {
        (scalar.is_number() && scalar.bits() <= 64).then(|| scalar.bits() as u32)
    }

    /// An input has the form that is needed first. Its owner has both forms.
    fn input(lower: &mut PlanLowering<'_>, at: usize, k: usize) -> Lowered<Forms> {
        let node = &lower.computation.nodes()[at];
        if node.ty.visibility != Visibility::Public {
            return Ok(Forms::input(k));
        }
        let (scalar, lengths) = (node.ty.scalar, lower.lengths(at)?);
        let slot = lower.come(k, Size::Bits(scalar.bits(), lengths.iter().product()));
        Ok(Forms::known(lower.open(slot, scalar, lengths)))
    }

    fn output(lower: &mut PlanLowering<'_>, at: usize) -> Lowered<Slot> {
        let forms = lower.forms(at);
        match (forms.known, forms.words, forms.narrow) {
            (Some(slot), ..) | (_, Some(slot), _) => Ok(slot),
            (_, _, Some(slot)) if lower.is_of_words(slot) => lower.own_words(at),
            _ => lower.bits(at),
        }
    }

    fn added(lower: &mut PlanLowering<'_>) {
        let (Some(step), two) = (lower.steps.last(), &mut lower.backend) else { return };
        let holders = match &step.prim {
            Prim::Talk(_) => BOTH,
            Prim::Local(local) => match local {
                Local::Input(k, _) => [two.inputs[*k].owner == 0, two.inputs[*k].owner == 1],
                Local::AsBits | Local::AsWords(_) => [true, false],
                Local::Known(_) | Local::Apply { .. } => [false; 2],
                // Circuits without ANDs have constants, which are in party 0's share.
                Local::Block(_) | Local::Flat(..) => BOTH,
                Local::Narrow(_)
                | Local::Pick(_)
                | Local::Gather { .. }
                | Local::Sum { .. }
                | Local::Scale
                | Local::Shift(_)
                | Local::Fold { .. }
                | Local::PoolSum(_)
                | Local::MatMulKnown { .. }
                | Local::Invert
                | Local::Own(_) => {
                    let of = |slot: &Slot| two.holders[*slot];
                    step.reads.iter().map(of).fold([false; 2], |a, b| [a[0] | b[0], a[1] | b[1]])
                }
            },
        };
        two.holders.push(holders);
        let reads: Vec<Size> = step.reads.iter().map(|slot| lower.steps[*slot].size).collect();
        two.lists = two.lists.saturating_add(room(step, &reads, 0).lists);
    }

    /// Refuses lists that exceed their limit.
    fn lowered(lower: &PlanLowering<'_>) -> Result<(), TwoError> {
        let (takes, may) = (lower.backend.lists, lower.backend.most);
        if takes <= may { Ok(()) } else { Err(TwoError::Memory { takes, may }) }
    }

    fn most_bits(lower: &PlanLowering<'_>) -> Option<usize> {
        let (lists, most) = (lower.backend.lists, lower.backend.most);
        let left = most.saturating_sub(lists) / REGISTER;
        (most < u64::MAX).then(|| usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// Sums are free. Comparisons and choices by OT cost less than circuits whose operands do not
    /// exist as bits.
    fn on_words(lower: &PlanLowering<'_>, op: &Op, args: &[usize]) -> bool {
        let any = |args: &[usize]| args.iter().any(|a| lower.has_words(*a));
        match op {
            Op::Add | Op::Sub | Op::Neg => true,
            Op::Select => any(&args[1..]),
            Op::Compare(_) | Op::Min | Op::Max => {
                any(args) && args.iter().all(|a| lower.has_words(*a) || lower.is_known(*a))
            }
            _ => any(args),
        }
    }

    /// The levels of a circuit do not wait for other steps.
    fn joins_at_once(elements: usize) -> bool {
        elements <= FEW
    }

    /// A choice between words takes two OTs and two rounds, a choice between bits two OTs for each
    /// bit and one round. There are two choices for each row, and two for each level. The
    /// conversion of words to bits takes an adder.
    fn copies_words(lower: &PlanLowering<'_>, of: usize, elements: usize) -> bool {
        let (bits, levels) = (lower.scalar(of).bits(), 2 * elements.max(1).ilog2() as usize);
        let carries = if lower.forms(of).input.is_some() || lower.has_bits(of) {
            0
        } else {
            1 + bits.max(1).ilog2() as usize
        };
        let ots = elements * (4 * bits.saturating_sub(1) + 2 * bits * carries);
        ots as u64 > ROUND * levels.saturating_sub(carries) as u64
    }

    fn to_bits(lower: &mut PlanLowering<'_>, bits: Range<usize>, rows: usize) -> Talk<Two> {
        let fast = rows <= FEW;
        let make = || {
            let mut b = Builder::new();
            let [x, y] = [(); 2].map(|()| b.input(bits.end));
            let sum = if fast { gates::add_fast(&mut b, &x, &y).0 } else { gates::add_mod(&mut b, &x, &y) };
            Arc::new(Program::of_block("shares to bits", Arc::new(Layered::new(&b.finish(&[sum])))))
        };
        let adder = lower.backend.adders.entry((bits.end as u32, fast)).or_insert_with(make);
        Talk::Own(OwnTalk::ToBits(adder.clone()))
    }

    fn of_narrow(lower: &mut PlanLowering<'_>, narrow: Slot, ring: u32) -> Slot {
        let talk = match lower.size(narrow) {
            Size::Words(..) => Talk::Own(OwnTalk::Extend(ring)),
            Size::Bits(..) | Size::Known(..) | Size::Order(..) => Talk::ToWords(ring),
        };
        lower.step(talk, vec![narrow])
    }

    /// Numbers without a sign take an OT of the bits that are added: with half of their range on
    /// top they have none, and it is taken off again. A number of the whole ring takes a bit more
    /// first, and a comparison.
    fn widened(lower: &mut PlanLowering<'_>, of: usize, to: Scalar) -> Lowered<Option<Forms>> {
        let ring = to.bits() as u32;
        let (mut slot, mut own) = (lower.own_words(of)?, lower.scalar(of).bits() as u32);
        if own < 2 || ring > 64 {
            return Ok(None);
        }
        let within = |low: i128, high: i128| lower.range(of).is_some_and(|r| r.low >= low && r.high < high);
        let (half, quarter) = (1i128 << (own - 1), 1i128 << (own - 2));
        if within(0, half) {
            return Ok(Some(Forms::words(lower.step(Talk::Own(OwnTalk::Extend(ring)), vec![slot]))));
        }
        if !within(-quarter, quarter) {
            slot = lower.step(Talk::Own(OwnTalk::Widen), vec![slot]);
            own += 1;
        }
        let rows = lower.size(slot).rows();
        let offset = |lower: &mut PlanLowering<'_>, ring: u32| {
            let quarter = Tensor::from_words(Scalar::unsigned(64), &[1], [1 << (own - 2)]);
            let known = lower.known(quarter);
            let one = lower.step(Local::AsWords(ring), vec![known]);
            lower.pick(same(0, rows), vec![one])
        };
        let above = offset(lower, own);
        let above = sum(lower, [slot, above], false);
        if ring > own {
            let wide = lower.step(Talk::Own(OwnTalk::Extend(ring)), vec![above]);
            let below = offset(lower, ring);
            return Ok(Some(Forms::words(sum(lower, [wide, below], true))));
        }
        Ok(Some(Forms::words(slot)))
    }

    fn factors(lower: &PlanLowering<'_>, reads: [Slot; 2]) -> [Holders; 2] {
        reads.map(|slot| lower.backend.holders[slot])
    }

    fn product(lower: &mut PlanLowering<'_>, reads: [Slot; 2]) -> Slot {
        if let Some(slot) = by_rows(lower, reads) {
            return slot;
        }
        let holders = Two::factors(lower, reads);
        lower.step(Talk::Product(holders), reads.to_vec())
    }

    fn matmul(lower: &mut PlanLowering<'_>, reads: [Slot; 2], shape: [usize; 3]) -> Slot {
        layers::encrypted_matmul(lower, reads, shape).unwrap_or_else(|| layers::matmul(lower, reads, shape))
    }

    fn conv2d(
        lower: &mut PlanLowering<'_>,
        args: &[usize],
        way: (hushwire_compute::Steps, u32),
        to: &[usize],
        ring: u32,
    ) -> Lowered<Forms> {
        layers::conv2d(lower, args, way, to, ring).map(Forms::words)
    }

    /// Words whose differences are signed numbers of their ring. Narrow words are used if they
    /// exist. Words of the whole ring are widened by one bit. This takes one comparison each, and
    /// saves two of three in each later comparison.
    fn comparable(lower: &mut PlanLowering<'_>, of: usize) -> Lowered<Option<Slot>> {
        if !lower.has_words(of) {
            return Ok(None);
        }
        if let Some(slot) = lower.forms(of).narrow.filter(|slot| lower.is_of_words(*slot)) {
            return Ok(Some(slot));
        }
        let (ring, slot) = (lower.scalar(of).bits() as u32, lower.own_words(of)?);
        if ring >= 64 || !lower.scalar(of).is_signed() || lower.is_bounded(of, of, ring) {
            return Ok(Some(slot));
        }
        Ok(Some(lower.step(Talk::Own(OwnTalk::Widen), vec![slot])))
    }

    fn rectifies(lower: &PlanLowering<'_>, of: usize, windows: bool) -> bool {
        let bits = lower.scalar(of).bits() as u32;
        let is_whole = || lower.forms(of).narrow.is_none() && !lower.is_bounded(of, of, bits);
        lower.has_words(of) && (!windows || is_whole())
    }

    /// One comparison in two parts gives the sign and the carry, and the remaining work is small.
    /// Without dropped bits, a rectifier is a choice.
    fn rectified(lower: &mut PlanLowering<'_>, of: usize, by: u32) -> Lowered<Option<Forms>> {
        if by == 0 {
            return Ok(None);
        }
        let slot = lower.own_words(of)?;
        Ok(Some(Forms::narrow(lower.step(Talk::Own(OwnTalk::Rectify { by }), vec![slot]))))
    }

    fn rectified_pool(
        lower: &mut PlanLowering<'_>,
        from: usize,
        [pool, max]: [usize; 2],
        by: u32,
    ) -> Lowered<Forms> {
        let slot = lower.own_words(from)?;
        lower.count_for(max);
        let slot = lower.step(Talk::Own(OwnTalk::Rectify { by }), vec![slot]);
        lower.count_for(pool);
        lower.greatest_of_windows(from, pool, slot)
    }

    fn partition(lower: &mut PlanLowering<'_>, flags: Slot, ones_first: bool) -> Slot {
        let rows = lower.size(flags).rows();
        let ones = lower.step(Talk::ToWords(PLACE), vec![flags]);
        let axis = Axis::of(&[rows], 0);
        // For each row, the number of ones up to it, and the number of zeros before it if it is a
        // zero.
        let up_to = lower.step(Local::Fold { axis, prefix: true }, vec![ones]);
        let numbers = lower.numbers(rows, PLACE);
        let zeros = sum(lower, [numbers, up_to], true);
        let one = repeated(lower, 1, rows);
        let before = sum(lower, [up_to, one], true);
        let all = lower.pick(same(rows - 1, rows), vec![up_to]);
        let (of_ones, of_zeros) = if ones_first {
            (before, sum(lower, [all, zeros], false))
        } else {
            // All zeros come first: the rows minus the ones.
            let count = repeated(lower, rows, rows);
            let count = sum(lower, [count, all], true);
            (sum(lower, [count, before], false), zeros)
        };
        let places = lower.step(Talk::Choose, vec![flags, of_ones, of_zeros]);
        lower.step(Reorder::ToOrder, vec![places])
    }

    fn meet(lower: &mut PlanLowering<'_>, args: &[usize], _: usize) -> Lowered<Slot> {
        lower.sort(args, &vec![false; args.len()])
    }

    fn known_order(lower: &mut PlanLowering<'_>, places: Slot) -> Slot {
        lower.step(Local::Own(OwnLocal::AsOrder), vec![places])
    }

    fn places(lower: &mut PlanLowering<'_>, order: Slot, rows: usize) -> Slot {
        let all = lower.numbers(rows, 64);
        lower.step(Reorder::Permute { inner: 1 }, vec![all, order])
    }

    fn composed(lower: &mut PlanLowering<'_>, args: &[usize]) -> Lowered<Slot> {
        let reads = vec![lower.order(args[0])?, lower.order(args[1])?];
        Ok(lower.step(Local::Own(OwnLocal::Then), reads))
    }

    /// The flagged rows come first, and zeros after them. A few rows use a circuit.
    fn compact(lower: &mut PlanLowering<'_>, args: &[usize], kept: usize) -> Lowered<Option<Forms>> {
        let of = lower.lengths(args[1])?;
        let (rows, inner) = (of[0], of[1..].iter().product::<usize>());
        if rows <= FEW_ROWS {
            return Ok(None);
        }
        let flags = lower.bits(args[0])?;
        let by = Two::partition(lower, flags, true);
        let each = lower.pick(
            Picks::of_runs((0..rows).map(|from| PickRun::Steps { from, step: 0, len: inner })),
            vec![flags],
        );
        let (scalar, x) = (lower.scalar(args[1]), lower.either(args[1])?);
        let zeros = lower.known(Tensor::zeros(scalar, &[rows * inner]));
        let (masked, zeros) = if let Size::Words(ring, _) = lower.size(x) {
            let zeros = lower.step(Local::AsWords(ring), vec![zeros]);
            (lower.step(Talk::Choose, vec![each, x, zeros]), zeros)
        } else {
            let zeros = lower.step(Local::AsBits, vec![zeros]);
            let scalars = [Scalar::Bool, scalar, scalar];
            (lower.on_bits(&Op::Select, &scalars, scalar, vec![each, x, zeros]), zeros)
        };
        let moved = lower.step(Reorder::Permute { inner }, vec![masked, by]);
        let from = |i: usize| if i < rows * inner { i } else { rows * inner };
        let picks: Vec<usize> = (0..kept * inner).map(from).collect();
        let out = lower.pick(Picks::of(&picks), vec![moved, zeros]);
        Ok(Some(lower.forms_of(out)))
    }
}
