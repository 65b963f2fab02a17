//! Steps without a message.

use crate::{
    engine::Engine,
    form::Form,
    prim::{Local, gathered},
    share::{WordMap, flattened, gathered_bits, picked},
    steps::Step,
};
use hushwire_compute::{Tensor, back_end};

/// The value of a step that needs no message.
///
/// # Errors
/// An operation on known values failed, or a circuit did.
pub fn local<E: Engine>(
    party: &mut E::Party<'_>,
    step: &Step<E>,
    prim: &Local<E>,
    reads: &[Form<E>],
) -> Result<Form<E>, E::Failure> {
    let mapped = |map: &WordMap<'_>| {
        let words: Vec<&E::Words> =
            reads.iter().filter(|r| matches!(r, Form::Words(_))).map(Form::words).collect();
        Form::Words(E::mapped(&words, map, step.size.rows()))
    };
    Ok(match prim {
        Local::Input(k, size) => E::input_value(party, *k, *size),
        Local::Known(tensor) => Form::Known(tensor.clone()),
        Local::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(|form| &**form.known()).collect();
            Form::of_known(back_end::apply(op, &operands, *scalar, lengths)?)
        }
        Local::AsBits => Form::of_bits(E::known_bits(party, reads[0].known())),
        Local::AsWords(ring) => Form::Words(E::known_words(party, reads[0].known(), *ring)),
        Local::Narrow(ring) => Form::Words(E::narrowed(reads[0].words(), *ring)),
        Local::Pick(picks) => picked(&reads.iter().collect::<Vec<_>>(), picks),
        Local::Gather { rows, inner } => picked(&[&reads[0]], &gathered(*rows, *inner, reads[1].known())?),
        Local::Sum { minus } => mapped(&WordMap::Sum { minus: *minus }),
        Local::Scale => mapped(&WordMap::Scale(reads[1].known())),
        Local::Shift(by) => mapped(&WordMap::Shift(*by)),
        Local::Fold { axis, prefix } => mapped(&WordMap::Fold(*axis, *prefix)),
        Local::PoolSum(pooling) => mapped(&WordMap::PoolSum(pooling)),
        Local::MatMulKnown { shape, left } => {
            let (words, known) = (reads[usize::from(*left)].words(), reads[usize::from(!left)].known());
            Form::Words(E::matmul_known(party, *shape, words, known, *left)?)
        }
        Local::Block(program) => {
            let reads: Vec<&E::Bits> = reads.iter().map(|form| &**form.bits()).collect();
            Form::of_bits(E::affine(party, program, &reads)?)
        }
        Local::Flat(program, size) => {
            let reads: Vec<E::Bits> = reads.iter().map(|form| flattened::<E>(form.bits())).collect();
            let row = E::affine(party, program, &reads.iter().collect::<Vec<_>>())?;
            Form::of_bits(gathered_bits::<E>(&row, 0, *size))
        }
        Local::Invert => Form::Order(E::inverted(reads[0].order())),
        Local::Own(own) => E::own(party, own, reads)?,
    })
}
