//! Computes the steps that need no message.
//!
//! These are operations on known values, conversions of known values to shares, moves of elements,
//! linear maps of words, and circuits without ANDs. A back end adds primitives of its own.

use crate::{
    form::StepValue,
    prim::{Local, gathered},
    runtime::Runtime,
    share::{WordMap, flattened, gathered_bits, picked},
    steps::PlanStep,
};
use hushwire_compute::{Tensor, back_end};

/// Computes the value of a step that needs no message.
///
/// # Errors
/// An operation on known values failed, or a circuit failed.
pub fn local<E: Runtime>(
    party: &mut E::LocalParty<'_>,
    step: &PlanStep<E>,
    prim: &Local<E>,
    reads: &[StepValue<E>],
) -> Result<StepValue<E>, E::RunFailure> {
    local_of(party, prim, reads, step.size.rows())
}

/// The same for `rows` rows, if a machine has only some rows of a value.
///
/// # Errors
/// As [`local`].
pub fn local_of<E: Runtime>(
    party: &mut E::LocalParty<'_>,
    prim: &Local<E>,
    reads: &[StepValue<E>],
    rows: usize,
) -> Result<StepValue<E>, E::RunFailure> {
    let mapped = |map: &WordMap<'_>| {
        let words: Vec<&E::WordShares> =
            reads.iter().filter(|r| matches!(r, StepValue::Words(_))).map(StepValue::words).collect();
        StepValue::Words(E::mapped(&words, map, rows))
    };
    Ok(match prim {
        Local::Input(k, size) => E::input_value(party, *k, *size),
        Local::Known(tensor) => StepValue::Known(tensor.clone()),
        Local::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(|form| &**form.known()).collect();
            StepValue::of_known(back_end::apply(op, &operands, *scalar, lengths)?)
        }
        Local::AsBits => StepValue::of_bits(E::known_bits(party, reads[0].known())),
        Local::AsWords(ring) => StepValue::Words(E::known_words(party, reads[0].known(), *ring)),
        Local::Narrow(ring) => StepValue::Words(E::narrowed(reads[0].words(), *ring)),
        Local::Pick(picks) => picked(&reads.iter().collect::<Vec<_>>(), picks),
        Local::Gather { rows, inner } => picked(&[&reads[0]], &gathered(*rows, *inner, reads[1].known())?),
        Local::Sum { minus } => mapped(&WordMap::Sum { minus: *minus }),
        Local::Scale => mapped(&WordMap::Scale(reads[1].known())),
        Local::Shift(by) => mapped(&WordMap::Shift(*by)),
        Local::Fold { axis, prefix } => mapped(&WordMap::Fold(*axis, *prefix)),
        Local::PoolSum(pooling) => mapped(&WordMap::PoolSum(pooling)),
        Local::MatMulKnown { shape, left } => {
            let (words, known) = (reads[usize::from(*left)].words(), reads[usize::from(!left)].known());
            StepValue::Words(E::matmul_known(party, *shape, words, known, *left)?)
        }
        Local::Block(program) => {
            let reads: Vec<&E::BitShares> = reads.iter().map(|form| &**form.bits()).collect();
            StepValue::of_bits(E::affine(party, program, &reads)?)
        }
        Local::Flat(program, size) => {
            let reads: Vec<E::BitShares> = reads.iter().map(|form| flattened::<E>(form.bits())).collect();
            let row = E::affine(party, program, &reads.iter().collect::<Vec<_>>())?;
            StepValue::of_bits(gathered_bits::<E>(&row, 0, *size))
        }
        Local::Invert => StepValue::Order(E::inverted(reads[0].order())),
        Local::Own(own) => E::own(party, own, reads)?,
    })
}
