//! Chooses the forms that are cheap for three parties, and the steps that only they have. Sums and
//! products are on words, and comparisons and logic on bits. A value that all members know enters
//! as shares and is opened.

use crate::{
    Door,
    prim::{Better, OwnLocal, OwnTalk, Three},
};
use hushwire_circuit::{Adder, Bit, Builder, Circuit, Layered, Program};
use hushwire_compute::{ComputeError, Op, Scalar, Steps, Visibility};
use hushwire_plan::{Backend, Forms, Local, Lowered, Pooling, Prim, Reorder, Slot, Talk};
use hushwire_rep3::ring::Geometry;
use std::{ops::Range, sync::Arc};

type PlanLowering<'a> = hushwire_plan::PlanLowering<'a, Three>;

/// The bits of the narrowest ring that holds a number; `None` for other scalars, and for more than
/// 64 bits.
pub(crate) fn ring(scalar: Scalar) -> Option<u32> {
    let holds = |ring: &u32| scalar.is_number() && scalar.bits() as u32 <= *ring;
    [8, 16, 32, 64].into_iter().find(holds)
}

/// The primitive that converts words to some of their bits.
fn to_bits(bits: Range<usize>, rectified: bool) -> Talk<Three> {
    Talk::Own(OwnTalk::ToBits { bits, rectified })
}

/// The words of rectified numbers that exist as bits, also if the numbers were moved.
fn words_of_rectified(lower: &mut PlanLowering<'_>, bits: Slot) -> Option<Slot> {
    let step = lower.made_by(bits);
    let reads = step.reads.clone();
    match &step.prim {
        Prim::Talk(Talk::Own(OwnTalk::ToBits { bits, rectified: true })) => {
            let bits = bits.clone();
            Some(lower.step(Talk::Own(OwnTalk::Rectify { bits }), reads))
        }
        Prim::Local(Local::Pick(picks)) => {
            let picks = picks.clone();
            let words = reads.into_iter().map(|slot| words_of_rectified(lower, slot));
            let words = words.collect::<Option<Vec<Slot>>>()?;
            Some(lower.step(Local::Pick(picks), words))
        }
        _ => None,
    }
}

/// The order of rows in which each word names the row that comes there.
fn order_of(lower: &mut PlanLowering<'_>, places: Slot) -> Slot {
    let goes = lower.step(Reorder::ToOrder, vec![places]);
    lower.step(Local::Invert, vec![goes])
}

/// Whether a value exists only as numbers.
fn is_words(lower: &PlanLowering<'_>, at: usize) -> bool {
    lower.has_words(at) && !lower.has_bits(at)
}

impl Backend for Three {
    type PlanRefusal = ComputeError;
    const PARTIES: &'static str = "three parties";

    fn ring(&self, scalar: Scalar) -> Option<u32> {
        ring(scalar).filter(|_| self.rings)
    }

    /// An input that all members know arrives as shares like the others, and is opened.
    fn input(lower: &mut PlanLowering<'_>, at: usize, k: usize) -> Lowered<Forms> {
        let (scalar, lengths) = (lower.scalar(at), lower.lengths(at)?);
        let is_public = lower.computation.nodes()[at].ty.visibility == Visibility::Public;
        let mut door = Door::bits(scalar, lengths.iter().product());
        if lower.backend.numbers[at] && !is_public {
            door.ring = lower.ring(scalar);
        }
        lower.backend.doors.push(door);
        let slot = lower.come(k, door.size());
        Ok(if is_public { Forms::known(lower.open(slot, scalar, lengths)) } else { lower.forms_of(slot) })
    }

    /// The output is numbers if it exists only as numbers, else bits.
    fn output(lower: &mut PlanLowering<'_>, at: usize) -> Lowered<Slot> {
        let forms = lower.forms(at);
        match (forms.words, lower.ring(lower.scalar(at))) {
            (Some(slot), Some(_)) if forms.bits.is_none() && forms.known.is_none() => Ok(slot),
            _ => lower.bits(at),
        }
    }

    fn added(_: &mut PlanLowering<'_>) {}

    fn lowered(_: &PlanLowering<'_>) -> Result<(), ComputeError> {
        Ok(())
    }

    fn most_bits(_: &PlanLowering<'_>) -> Option<usize> {
        None
    }

    /// Sums and choices keep the form of their operands. Other operations are cheaper on words
    /// under three conditions: some operand has words, no operand has bits already, and the numbers
    /// fill their ring. A minimum or maximum with a known bound is a circuit, which has the bound
    /// built in.
    fn on_words(lower: &PlanLowering<'_>, op: &Op, args: &[usize]) -> bool {
        let any = |args: &[usize]| args.iter().any(|a| lower.has_words(*a));
        let is_full =
            |at: usize| ring(lower.scalar(at)).is_some_and(|r| r as usize == lower.scalar(at).bits());
        let is_cheaper = || any(args) && args.iter().all(|a| !lower.has_bits(*a) && is_full(*a));
        match op {
            Op::Add | Op::Sub | Op::Neg => any(args),
            Op::Select => any(&args[1..]),
            Op::ShiftLeft(_) => is_words(lower, args[0]),
            Op::Min | Op::Max => is_cheaper() && !args.iter().any(|a| lower.is_known(*a)),
            _ => is_cheaper(),
        }
    }

    fn joins_at_once(_: usize) -> bool {
        false
    }

    /// A choice between words takes one round, as does one between bits.
    fn copies_words(_: &PlanLowering<'_>, _: usize, _: usize) -> bool {
        true
    }

    fn to_bits(_: &mut PlanLowering<'_>, bits: Range<usize>, _: usize) -> Talk<Three> {
        to_bits(bits, false)
    }

    /// Rectified numbers become words in one step, even if their bits are needed as well.
    fn of_narrow(lower: &mut PlanLowering<'_>, narrow: Slot, ring: u32) -> Slot {
        words_of_rectified(lower, narrow)
            .filter(|slot| lower.size(*slot).ring() == ring)
            .unwrap_or_else(|| lower.step(Talk::ToWords(ring), vec![narrow]))
    }

    /// Widens a number. A shifted one is not shifted as words first: the bits that stay become
    /// words, with the sign repeated.
    fn widened(lower: &mut PlanLowering<'_>, of: usize, to: Scalar) -> Lowered<Option<Forms>> {
        let from = &lower.computation.nodes()[of];
        let by = match from.op {
            Op::Rescale(by) => usize::from(by),
            Op::ShiftRight(by) => usize::from(by),
            _ => return Ok(None),
        };
        let operand = lower.argument(of);
        let bits = lower.scalar(operand).bits();
        if !is_words(lower, operand) || by + 1 >= bits {
            return Ok(None);
        }
        let slot = lower.own_words(operand)?;
        let slot = lower.step(to_bits(by..bits, false), vec![slot]);
        let [from, to] = [bits - by, to.bits()].map(|bits| Scalar::signed(bits as u8));
        Ok(Some(Forms::bits(lower.on_bits(&Op::Cast(to), &[from], to, vec![slot]))))
    }

    fn factors(_: &PlanLowering<'_>, _: [Slot; 2]) {}

    fn product(lower: &mut PlanLowering<'_>, reads: [Slot; 2]) -> Slot {
        lower.step(Talk::Product(()), reads.to_vec())
    }

    fn matmul(lower: &mut PlanLowering<'_>, reads: [Slot; 2], shape: [usize; 3]) -> Slot {
        lower.step(Talk::MatMul(shape, ()), reads.to_vec())
    }

    fn conv2d(
        lower: &mut PlanLowering<'_>,
        args: &[usize],
        (steps, groups): (Steps, u32),
        _: &[usize],
        ring: u32,
    ) -> Lowered<Forms> {
        let [x, kernels] = [lower.lengths(args[0])?, lower.lengths(args[1])?];
        let (groups, [above, left, below, right]) =
            (groups as usize, steps.padding.map(|padding| padding as usize));
        let geometry = Geometry {
            groups,
            pictures: [x[0], x[2], x[3], x[1] / groups],
            window: [kernels[2], kernels[3]],
            filters: kernels[0] / groups,
            stride: steps.strides.map(|stride| stride as usize),
            before: [above, left],
            after: [below, right],
        };
        let (reads, left) = lower.factors(args, ring)?;
        let prim: Prim<Three> = match left {
            None => Talk::Own(OwnTalk::Conv2d(geometry)).into(),
            Some(left) => Local::Own(OwnLocal::Conv2dKnown { geometry, left }).into(),
        };
        Ok(Forms::words(lower.step(prim, reads.to_vec())))
    }

    /// Values are converted to bits once, and the bits are compared.
    fn comparable(_: &mut PlanLowering<'_>, _: usize) -> Lowered<Option<Slot>> {
        Ok(None)
    }

    fn better(lower: &mut PlanLowering<'_>, op: &Op, scalar: Scalar, pair: [Slot; 2]) -> Slot {
        let key = (*op == Op::Min, scalar.is_signed(), scalar.bits());
        let made = lower.backend.better.entry(key).or_insert_with(|| better(key));
        let made = made.clone();
        lower.step(Talk::Own(OwnTalk::Better(made)), pair.to_vec())
    }

    fn rectifies(lower: &PlanLowering<'_>, of: usize, _: bool) -> bool {
        is_words(lower, of)
    }

    fn rectified(lower: &mut PlanLowering<'_>, of: usize, by: u32) -> Lowered<Option<Forms>> {
        let (slot, bits) = (lower.own_words(of)?, lower.scalar(of).bits());
        Ok(Some(Forms::narrow(lower.step(to_bits(by as usize..bits, true), vec![slot]))))
    }

    /// The greatest rectified numbers, computed in few rounds if rounds are expensive.
    fn greatest_of_windows(
        lower: &mut PlanLowering<'_>,
        of: usize,
        windows: ([u32; 2], Steps),
    ) -> Lowered<Option<Forms>> {
        let forms = lower.forms(of);
        let (Some(narrow), None) = (forms.narrow, forms.words) else { return Ok(None) };
        if lower.is_of_words(narrow) || lower.ring(lower.scalar(of)).is_none() {
            return Ok(None);
        }
        lower.backend.windowed = lower.backend.windowed.max(lower.elements(of)?);
        if !lower.backend.few_rounds {
            return Ok(None);
        }
        let width = lower.size(narrow).width() + 1;
        let Some(words) = words_of_rectified(lower, narrow) else { return Ok(None) };
        Ok(windows_in_few(lower, of, windows, words, width)?.map(Forms::words))
    }

    fn rectified_pool(
        lower: &mut PlanLowering<'_>,
        from: usize,
        [pool, max]: [usize; 2],
        by: u32,
    ) -> Lowered<Forms> {
        let windows = lower.windows_of(pool).expect("a pool");
        lower.backend.windowed = lower.backend.windowed.max(lower.elements(from)?);
        if lower.backend.few_rounds {
            // The elements are rectified before the comparisons.
            lower.count_for(max);
            let (slot, bits) = (lower.own_words(from)?, by as usize..lower.scalar(from).bits());
            let width = bits.len();
            let slot = lower.step(Talk::Own(OwnTalk::Rectify { bits }), vec![slot]);
            lower.count_for(pool);
            let greatest = windows_in_few(lower, from, windows, slot, width)?;
            lower.count_for(max);
            return Ok(Forms::words(greatest.expect("no window is empty")));
        }
        let (size, steps) = windows;
        let pooling = Pooling::new(&lower.lengths(from)?, &lower.lengths(pool)?, size, steps);
        lower.count_for(max);
        let (slot, bits) = (lower.own_words(from)?, lower.scalar(from).bits());
        let width = bits - by as usize;
        let scalar = Scalar::Int { signed: true, bits: width as u8 };
        lower.count_for(pool);
        let some = to_bits(by as usize..bits, false).into();
        let slot = lower.extremes_of_bits(&Op::Max, scalar, slot, Some(some), pooling);
        lower.count_for(max);
        let program = Program::of_block("rectifier", Arc::new(Layered::new(&rectifier(width))));
        Ok(Forms::narrow(lower.step(Talk::Block(Arc::new(program)), vec![slot])))
    }

    /// A partition needs no comparisons. The place of a row follows from the number `P` of ones up
    /// to and including row `i`, and their total `T`. If ones come first, a one goes to `P − 1` and
    /// a zero to `T + i − P`. One product chooses between them. The places are shuffled and then
    /// opened. They are a uniform permutation for any bits. Permuted rows are fewer than 2^32, so
    /// places need no wider words.
    fn partition(lower: &mut PlanLowering<'_>, flags: Slot, ones_first: bool) -> Slot {
        let ones = lower.step(Talk::ToWords(32), vec![flags]);
        let more = lower.step(Local::Own(OwnLocal::Farther { ones_first }), vec![ones]);
        let chosen = lower.step(Talk::Product(()), vec![ones, more]);
        let places = lower.step(Local::Own(OwnLocal::Targets { ones_first }), vec![ones, chosen]);
        lower.step(Reorder::ToOrder, vec![places])
    }

    fn meet(lower: &mut PlanLowering<'_>, args: &[usize], first: usize) -> Lowered<Slot> {
        let rows = lower.lengths(args[0])?[0];
        let reads = args.iter().map(|a| lower.bits(*a)).collect::<Lowered<_>>()?;
        Ok(lower.step(Talk::Own(OwnTalk::Meet { rows, first }), reads))
    }

    fn known_order(lower: &mut PlanLowering<'_>, places: Slot) -> Slot {
        let places = lower.step(Local::AsWords(64), vec![places]);
        order_of(lower, places)
    }

    fn places(lower: &mut PlanLowering<'_>, order: Slot, rows: usize) -> Slot {
        lower.step(Talk::Own(OwnTalk::Places { rows }), vec![order])
    }

    fn composed(lower: &mut PlanLowering<'_>, args: &[usize]) -> Lowered<Slot> {
        let (by, places) = (lower.order(args[1])?, lower.words(args[0], 64)?);
        let places = lower.step(Reorder::Permute { inner: 1 }, vec![places, by]);
        Ok(order_of(lower, places))
    }

    fn compact(lower: &mut PlanLowering<'_>, args: &[usize], kept: usize) -> Lowered<Option<Forms>> {
        let Some(ring) = lower.ring(lower.scalar(args[1])) else { return Ok(None) };
        let reads = vec![lower.words(args[0], 64)?, lower.words(args[1], ring)?];
        Ok(Some(Forms::words(lower.step(Talk::Own(OwnTalk::Compact { kept }), reads))))
    }
}

/// The greatest element of each window of nonnegative numbers, computed in few rounds. The words
/// have `bits` bits including the sign, and so do their differences.
fn windows_in_few(
    lower: &mut PlanLowering<'_>,
    of: usize,
    windows: ([u32; 2], Steps),
    slot: Slot,
    bits: usize,
) -> Lowered<Option<Slot>> {
    lower.windows_by_threes(of, windows, slot, |lower, reads| {
        lower.step(Talk::Own(OwnTalk::Greatest { bits }), reads)
    })
}

/// The circuits for the lesser or the greater of two numbers.
fn better((is_least, signed, width): (bool, bool, usize)) -> Better {
    let of = |adder: Adder| {
        let mut b = Builder::new();
        let (x, y) = (b.input(width), b.input(width));
        let is_less = adder.less(&mut b, signed, &x, &y);
        let choose = |(x, y): (&Bit, &Bit)| {
            let (here, there) = if is_least { (y, x) } else { (x, y) };
            let differ = b.xor(*here, *there);
            let change = b.and(is_less, differ);
            b.xor(*here, change)
        };
        let out = x.iter().zip(&y).map(choose).collect();
        Arc::new(Program::of_block("better", Arc::new(Layered::new(&b.finish(&[out])))))
    };
    Better { ripple: of(Adder::Ripple), prefix: of(Adder::Prefix) }
}

/// The circuit for a number of `width` bits if it is positive, else 0. The result has no sign bit.
fn rectifier(width: usize) -> Circuit {
    let mut b = Builder::new();
    let x = b.input(width);
    let positive = b.not(x[width - 1]);
    let out = x[..width - 1].iter().map(|bit| b.and(*bit, positive)).collect();
    b.finish(&[out])
}
