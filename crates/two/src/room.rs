//! Computes the memory of a step from sizes alone: the plan's lists, the value, and the work on its
//! rows. [`crate::memory`] adds the steps of a run.

use crate::prim::{OwnLocal, OwnTalk, Two};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_compute::Scalar;
use hushwire_plan::{Local, PlanStep, Prim, Reorder, Size, Talk, wires};

/// LOCAL: the bytes of a circuit's register in a program: the places where it is written and read.
pub(crate) const REGISTER: u64 = 32;

/// LOCAL: the bytes of the plan's lists for a step of any kind.
const STEP: u64 = 256;

/// Bytes of a tensor's elements.
pub(crate) fn tensor_bytes(scalar: Scalar, elements: usize) -> u64 {
    8 * (scalar.bits().div_ceil(64).max(1) as u64).saturating_mul(elements as u64)
}

/// The bytes of a value that is not a tensor.
pub(crate) fn size_bytes(size: Size) -> u64 {
    match size {
        Size::Known(..) => 0,
        Size::Words(_, rows) => 8 * rows as u64,
        Size::Bits(width, rows) => (width as u64).saturating_mul(plane_bytes(rows) as u64),
        // The places and, for each stage, the bits of a network's columns.
        Size::Order(rows, stages) => {
            let columns = 2 * u64::from(rows.max(2).next_power_of_two().ilog2());
            (stages.max(1) as u64) * rows as u64 * (4 + columns.div_ceil(8))
        }
    }
}

/// The bytes that a step takes.
pub(crate) struct StepRoom {
    /// The plan's lists for the step. Programs have one row of bits, and steps of one kind share
    /// them.
    pub(crate) lists: u64,
    /// The step's value. Known values are in the plan.
    pub(crate) value: u64,
    /// The work on some of its rows, besides its operands, its value, its OTs and its messages.
    pub(crate) work: u64,
}

/// The memory of a step with operands of these sizes, with the work on `rows` of its rows. Every
/// kind of step has its own formula.
pub(crate) fn room(step: &PlanStep<Two>, reads: &[Size], rows: usize) -> StepRoom {
    let (n, made) = (rows as u64, step.size.rows() as u64);
    let part = |size: Size| size_bytes(size.with_rows(rows));
    let work = |work: u64| StepRoom { lists: STEP, value: size_bytes(step.size), work };
    let tensor = |scalar: Scalar, times: u64| {
        let value = tensor_bytes(scalar, step.size.rows());
        StepRoom { value, ..work(times * value) }
    };
    let block = |program: &Program| {
        let read: u64 = reads.iter().map(|size| part(*size)).sum();
        work(read + part(step.size) + wires(program, plane_bytes(rows), 1))
    };
    // One byte for every bit of an element.
    let flat = |program: &Program| {
        let bits = program.input_bits() + program.output_bits();
        let registers = program.registers() as u64;
        StepRoom {
            lists: STEP + REGISTER * registers,
            ..work(4 * bits as u64 + wires(program, 1, 1) + registers)
        }
    };
    match &step.prim {
        Prim::Local(local) => match local {
            // Elements that are being converted to planes.
            Local::Input(_, Size::Bits(..)) | Local::AsBits => work(2 * size_bytes(step.size).max(8 * made)),
            Local::Known(known) => {
                StepRoom { lists: STEP + tensor_bytes(known.scalar(), known.len()), ..work(0) }
            }
            Local::Pick(picks) => StepRoom { lists: STEP + 8 * picks.len() as u64, ..work(0) },
            Local::Input(..)
            | Local::AsWords(_)
            | Local::Narrow(_)
            | Local::Shift(_)
            | Local::Sum { .. }
            | Local::Fold { .. }
            | Local::PoolSum(_)
            | Local::Own(OwnLocal::Part { .. }) => work(0),
            Local::Apply { scalar, .. } => tensor(*scalar, 1),
            // The places as a tensor, as numbers and as a list, and the rows.
            Local::Gather { rows, .. } => work(16 * made + 16 * *rows as u64),
            // The known factor as numbers.
            Local::Scale => work(8 * made),
            Local::MatMulKnown { shape: [r, k, c], .. } => work(8 * (r * k).max(k * c) as u64),
            Local::Block(program) => block(program),
            Local::Flat(program, _) => flat(program),
            Local::Invert | Local::Own(OwnLocal::AsOrder | OwnLocal::Then) => work(16 * made),
        },
        Prim::Talk(talk) => match talk {
            Talk::Block(program) => block(program),
            Talk::Flat(program, _) => flat(program),
            // One byte for every bit, and a number for its product.
            Talk::ToWords(_) => work(24 * reads[0].width() as u64 * n),
            Talk::Product(_) | Talk::Own(OwnTalk::Rows(_)) => work(24 * made),
            Talk::MatMul([r, k, c], _) => work(24 * (r * k + k * c + r * c) as u64),
            Talk::Choose => work(32 * n),
            Talk::Less { .. } => work(96 * n),
            Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Own(OwnTalk::Widen | OwnTalk::Rectify { .. } | OwnTalk::Extend(_)) => work(64 * n),
            // Strings and numbers of 16 bytes, both twice while they move; lists of rows, nodes and
            // pairs; and the network in transit.
            Talk::Reorder(Reorder::Sort { .. }) => work(160 * n),
            Talk::Reorder(Reorder::ToOrder) => work(80 * n),
            // The rows in blocks, twice while they move.
            Talk::Reorder(Reorder::Permute { inner }) => work(match reads[0] {
                Size::Words(_, elements) => 40 * elements as u64,
                x => 40 * (reads[1].rows() * (inner * x.width()).div_ceil(128)) as u64,
            }),
            Talk::Open { scalar, .. } => tensor(*scalar, 3),
            Talk::Own(OwnTalk::ToBits(program)) => {
                work(2 * part(step.size) + wires(program, plane_bytes(rows), 1))
            }
            Talk::Own(OwnTalk::Encrypted(layer)) => work(layer.memory()),
        },
    }
}
