//! Steps with messages, or pieces of them, as machines. Each step is an asynchronous function on a
//! [`Kit`], which has the party's OTs and its channel. Pieces that share rounds run as machines
//! side by side.

use crate::{
    TwoError,
    form::{StepValue, WordShare, column, planes_of_bits},
    kit::Kit,
    prim::{OwnTalk, Two},
    ring::{pack, packed, unpack},
    runtime::joined,
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, planes::plane_bytes};
use hushwire_compute::{Scalar, Tensor};
use hushwire_gmw::Stock;
use hushwire_plan::{PlanStep, Size, Talk, flattened, gathered_bits, misplaced};

/// The value of a step with messages, or of some of its rows.
pub(crate) async fn run(
    kit: &mut Kit,
    stock: Stock,
    step: &PlanStep<Two>,
    reads: &[StepValue],
) -> Result<StepValue, TwoError> {
    let numbers = |k: usize| &reads[k].words().own[..];
    let words = |own: Wiped<Vec<u64>>| Ok(StepValue::Words(WordShare::new(step.size.ring(), own)));
    let bits = |bits: Wiped<Vec<u8>>| Ok(StepValue::of_bits(planes_of_bits(&bits)));
    let Some(talk) = step.talk() else { misplaced() };
    match talk {
        Talk::Own(OwnTalk::ToBits(program)) => {
            let x = reads[0].words();
            let made = kit.bits_of(&x.own, x.ring, program.clone(), stock).await?;
            Ok(StepValue::of_bits(made))
        }
        Talk::ToWords(_) => {
            let x = reads[0].bits();
            let columns: Vec<_> = (0..x.width()).map(|plane| column(x, plane)).collect();
            let columns: Vec<&[u8]> = columns.iter().map(|column| &column[..]).collect();
            words(kit.words_of(&columns, step.size.ring()).await?)
        }
        Talk::Product(holders) | Talk::Own(OwnTalk::Rows(holders)) => {
            words(kit.multiply(numbers(0), numbers(1), *holders, step.size.ring()).await?)
        }
        Talk::MatMul(shape, holders) => {
            words(kit.matmul([numbers(0), numbers(1)], *shape, *holders, step.size.ring()).await?)
        }
        Talk::Choose => {
            let b = column(reads[0].bits(), 0);
            words(kit.choose_by(&b, numbers(1), numbers(2), step.size.ring()).await?)
        }
        Talk::Less { signed } => bits(kit.less(numbers(0), numbers(1), reads[0].words().ring, *signed).await),
        Talk::LessBounded => bits(kit.less_bounded(numbers(0), numbers(1), reads[0].words().ring).await),
        Talk::Equal => bits(kit.equal(numbers(0), numbers(1), reads[0].words().ring).await),
        Talk::Own(OwnTalk::Widen) => words(kit.widen(numbers(0), reads[0].words().ring).await),
        Talk::Own(OwnTalk::Rectify { by }) => {
            words(kit.rectify(numbers(0), reads[0].words().ring, *by).await?)
        }
        Talk::Own(OwnTalk::Extend(to)) => words(kit.extend(numbers(0), reads[0].words().ring, *to).await?),
        Talk::Truncate { by, sign, .. } => {
            words(kit.truncate(numbers(0), step.size.ring(), *by, *sign).await?)
        }
        Talk::Block(program) => {
            let inputs = joined(&reads.iter().map(|form| &**form.bits()).collect::<Vec<_>>());
            let made = kit.circuit(program.clone(), &inputs, stock).await?;
            Ok(StepValue::of_bits(made))
        }
        Talk::Flat(program, size) => {
            let rows: Vec<Planes> = reads.iter().map(|form| flattened::<Two>(form.bits())).collect();
            let inputs = Planes::join(1, rows);
            let made = kit.circuit(program.clone(), &inputs, stock).await?;
            Ok(StepValue::of_bits(gathered_bits::<Two>(&made, 0, *size)))
        }
        Talk::Open { scalar, lengths } => {
            let share = share_bytes(&reads[0], scalar.bits());
            let into = share.len();
            let heard = kit.talk.exchange("opening", share.clone(), into).await;
            Ok(StepValue::of_known(opened(&reads[0], *scalar, lengths, [&share, &heard])))
        }
        // These steps have messages of their own.
        Talk::Reorder(_) | Talk::Own(OwnTalk::Encrypted(_)) => misplaced(),
    }
}

/// The bytes of a share that is opened.
pub(crate) fn share_bytes(form: &StepValue, bits: usize) -> Vec<u8> {
    match form {
        StepValue::Words(words) => pack(&words.own, bits as u32),
        StepValue::Bits(planes) => (**planes).clone().trimmed().to_vec(),
        StepValue::Known(_) => vec![],
        StepValue::Order(_) => misplaced(),
    }
}

/// The number of bytes of a share that is opened.
pub(crate) fn opened_bytes(scalar: Scalar, size: Size) -> usize {
    match size {
        Size::Known(..) => 0,
        Size::Words(_, rows) => packed(rows, scalar.bits()),
        Size::Bits(width, rows) => width * plane_bytes(rows),
        Size::Order(rows, _) => packed(rows, size.width()),
    }
}

/// The value from two opened shares, one of which has this form.
pub(crate) fn opened(form: &StepValue, scalar: Scalar, lengths: &[usize], shares: [&[u8]; 2]) -> Tensor {
    let n = lengths.iter().product::<usize>();
    match form {
        StepValue::Known(tensor) => (**tensor).clone().reshaped(lengths),
        StepValue::Words(_) => {
            let bits = scalar.bits() as u32;
            assert_eq!(shares[0].len(), packed(n, bits as usize));
            let [a, b] = shares.map(|share| unpack(share, n, bits));
            let sums = a.iter().zip(b).map(|(a, b)| u128::from(a.wrapping_add(b)));
            Tensor::from_words(scalar, lengths, sums)
        }
        StepValue::Bits(_) => {
            let mut planes = Planes::zeros(scalar.bits(), n);
            assert_eq!(shares[0].len(), scalar.bits() * plane_bytes(n));
            for share in shares {
                planes.iter_mut().zip(share).for_each(|(x, y)| *x ^= y);
            }
            Tensor::from_planes(scalar, lengths, &planes.trimmed())
        }
        StepValue::Order(_) => misplaced(),
    }
}
