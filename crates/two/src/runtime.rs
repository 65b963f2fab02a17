//! The work of two parties: steps without a message, and the machines and costs of all others.
//! Linear steps act on each party's share alone. Constants are added by party 0.

use crate::{
    TwoError,
    form::{StepValue, WordShare, numbers},
    kit::{Cots, Kit},
    ops::local_matmul,
    order::SharedOrder,
    prim::{OwnLocal, OwnTalk, Two},
    talk::{opened_bytes, run},
    tally::{self, Tally},
};
use hushwire_circuit::{Planes, Program, eval};
use hushwire_compute::Tensor;
use hushwire_gmw::Stock;
use hushwire_machine::drive::Line;
use hushwire_ot::Context;
use hushwire_plan::{PlanStep, Runtime, Size, Talk, gathered_bits};
use std::sync::Arc;

/// A party's own inputs. Inputs of the other party are `None`.
pub(crate) type Brought = Vec<Option<Tensor>>;

/// A party's data for steps without messages.
pub(crate) struct Own<'r> {
    /// 0 or 1.
    pub(crate) index: usize,
    pub(crate) brought: &'r Brought,
}

/// The resources of a piece, besides its values.
pub(crate) struct Supplies {
    pub(crate) index: usize,
    /// A context for the pads of this piece. It is used only once.
    pub(crate) context: Context,
    pub(crate) ots: (Cots, Stock),
}

impl Runtime for Two {
    type LocalParty<'r> = Own<'r>;
    type RunFailure = TwoError;
    type Supplies = Supplies;
    type StepMachine<'p> = Line<'p, StepValue, TwoError>;
    type StepPrice = Tally;
    type PriceTerms<'r> = ();

    fn input_value(party: &mut Own<'_>, k: usize, size: Size) -> StepValue {
        let own = party.brought[k].as_ref();
        if let Size::Words(ring, rows) = size {
            let own = own.map_or_else(|| vec![0; rows], |tensor| numbers(tensor, ring));
            return StepValue::Words(WordShare::new(ring, own));
        }
        let zeros = || Planes::zeros(size.width(), size.rows());
        StepValue::of_bits(own.map_or_else(zeros, Tensor::to_planes))
    }

    /// Party 0's share is the value, and party 1's share is 0.
    fn known_bits(party: &mut Own<'_>, known: &Tensor) -> Planes {
        let zeros = || Planes::zeros(known.scalar().bits(), known.len());
        if party.index == 0 { known.to_planes() } else { zeros() }
    }

    fn known_words(party: &mut Own<'_>, known: &Tensor, ring: u32) -> WordShare {
        let zeros = || vec![0; known.len()];
        WordShare::new(ring, if party.index == 0 { numbers(known, ring) } else { zeros() })
    }

    fn matmul_known(
        _: &mut Own<'_>,
        shape: [usize; 3],
        x: &WordShare,
        known: &Tensor,
        left: bool,
    ) -> Result<WordShare, TwoError> {
        let known = numbers(known, x.ring);
        let [a, b] = if left { [&known[..], &x.own] } else { [&x.own[..], &known] };
        Ok(WordShare::new(x.ring, local_matmul(a, b, shape, x.ring)))
    }

    /// The circuit is affine. Party 0 adds the circuit's value for zeros.
    fn affine(party: &mut Own<'_>, program: &Arc<Program>, reads: &[&Planes]) -> Result<Planes, TwoError> {
        let inputs = joined(reads);
        let eval = |inputs: &Planes| eval::eval(program, inputs).map_err(|_| TwoError::Lost);
        let mut made = eval(&inputs)?;
        if party.index != 0 {
            let constants = eval(&Planes::zeros(inputs.width(), inputs.instances()))?;
            made.iter_mut().zip(constants.iter()).for_each(|(x, c)| *x ^= c);
        }
        Ok(made)
    }

    fn own(_: &mut Own<'_>, own: &OwnLocal, reads: &[StepValue]) -> Result<StepValue, TwoError> {
        Ok(match own {
            OwnLocal::AsOrder => {
                let places = numbers(reads[0].known(), 32).into_iter().map(|place| place as u32);
                StepValue::Order(Arc::new(SharedOrder::known(places.collect())))
            }
            OwnLocal::Then => StepValue::Order(Arc::new(reads[0].order().then(reads[1].order()))),
            OwnLocal::Part { from, size } => {
                let size = [size.width(), size.rows()];
                StepValue::of_bits(gathered_bits::<Two>(reads[0].bits(), *from, size))
            }
        })
    }

    fn begin<'p>(
        Supplies { index, context, ots: (cots, stock) }: Supplies,
        step: &'p PlanStep<Two>,
        reads: Vec<StepValue>,
        _: usize,
    ) -> Result<Line<'p, StepValue, TwoError>, TwoError> {
        Ok(Line::new(move |talk| async move {
            run(&mut Kit::new(talk, index, &context, cots), stock, step, &reads).await
        }))
    }

    fn end(machine: Line<'_, StepValue, TwoError>) -> Result<StepValue, TwoError> {
        Ok(machine.finish())
    }

    /// A step that moves rows has lots of its own.
    fn price((): &mut (), talk: &Talk<Two>, reads: &[Size], made: Size, _: usize) -> Tally {
        let (x, ring, rows) = (reads[0].ring(), made.ring(), made.rows());
        match talk {
            Talk::Block(program) | Talk::Own(OwnTalk::ToBits(program)) => tally::circuit(program, rows),
            Talk::Flat(program, _) => tally::circuit(program, 1),
            Talk::ToWords(ring) => tally::to_words(rows, reads[0].width(), *ring),
            Talk::Product(holders) => tally::multiply(rows, 1, *holders, ring),
            Talk::MatMul(shape, holders) => tally::matmul(*shape, *holders, ring),
            Talk::Choose => tally::times_bit(rows, ring),
            Talk::Less { .. } => tally::less(rows, x),
            Talk::LessBounded => tally::signs(rows, x),
            Talk::Equal => tally::equal(rows, x),
            Talk::Truncate { by, sign, .. } => tally::truncate(rows, ring, *by, *sign),
            Talk::Open { scalar, .. } => Tally::message([opened_bytes(*scalar, reads[0]); 2]),
            Talk::Own(OwnTalk::Rows(holders)) => {
                let factors = reads[1].rows();
                tally::multiply(factors, rows / factors, *holders, ring)
            }
            Talk::Own(OwnTalk::Widen) => tally::widen(rows, x),
            Talk::Own(OwnTalk::Rectify { by }) => tally::rectify(rows, x, *by),
            Talk::Own(OwnTalk::Extend(to)) => tally::extend(rows, x, *to),
            Talk::Own(OwnTalk::Encrypted(layer)) => layer.tally(),
            Talk::Reorder(_) => Tally::default(),
        }
    }
}

/// The inputs of a circuit, one after the other.
pub(crate) fn joined(reads: &[&Planes]) -> Planes {
    let rows = reads.first().map_or(1, |bits| bits.instances());
    Planes::join(rows, reads.iter().map(|bits| (*bits).clone()))
}
