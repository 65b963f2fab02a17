//! The circuit that compares bins; an instance compares a group of them.

use std::sync::Arc;

use hushwire_circuit::{Bit, Builder, Layered, Planes, Program, TwoParty, count, words};

use super::{Parameters, Reveal};

/// AGREEMENT: the number of bins of an instance, which share the cost of an instance.
pub(super) const GROUP: usize = 32;
/// The number of bits of a masked count.
pub(super) const COUNT: usize = 32;

/// The inputs are the receiver's and the sender's words of every bin, and the sender's masks. Only
/// the receiver learns outputs: flags, or masked counts and, for sums, also masked flags.
pub(super) fn program(parameters: &Parameters) -> (Program, TwoParty) {
    let (width, reveal) = (parameters.width(), parameters.reveal);
    let mut b = Builder::new();
    let mut words_of = || -> Vec<Vec<Bit>> { (0..GROUP).map(|_| b.input(width)).collect() };
    let (theirs, ours) = (words_of(), words_of());
    let mut owners = [vec![0; GROUP], vec![1; GROUP]].concat();
    let mut mask_of = |width: usize, is_there: bool| {
        is_there.then(|| {
            owners.push(1);
            b.input(width)
        })
    };
    let count_mask = mask_of(COUNT, reveal != Reveal::Flags);
    let flag_mask = mask_of(GROUP, reveal == Reveal::Sum);
    let flags: Vec<Bit> = theirs.iter().zip(&ours).map(|(x, y)| words::equal(&mut b, x, y)).collect();
    let mut outputs = vec![];
    if let Some(mask) = count_mask {
        let mut total = count(&mut b, &flags);
        total.resize(COUNT, Bit::ZERO);
        outputs.push(words::add_mod(&mut b, &total, &mask));
    } else {
        outputs.push(flags.clone());
    }
    if let Some(mask) = flag_mask {
        outputs.push(words::xor(&mut b, &flags, &mask));
    }
    let learns = vec![[true, false]; outputs.len()];
    let program = Program::of_block("psi-bins", Arc::new(Layered::new(&b.finish(&outputs))));
    let roles = TwoParty::new(&program, owners, learns);
    (program, roles)
}

/// Planes with one word of `width` bits for each bin: the first bins of all groups, then the second
/// ones, and so on.
pub(super) fn planes(words: &[u64], width: usize) -> Planes {
    let instances = words.len() / GROUP;
    let bytes = width.div_ceil(8);
    let mut values = zeroize::Zeroizing::new(Vec::with_capacity(instances * bytes));
    Planes::join(
        instances,
        (0..GROUP).map(|g| {
            values.clear();
            for group in words.chunks_exact(GROUP) {
                values.extend_from_slice(&group[g].to_le_bytes()[..bytes]);
            }
            Planes::pack(&values, width, instances)
        }),
    )
}

/// Planes with one mask of `width` bits for each instance.
pub(super) fn mask_planes(masks: &[u64], width: usize) -> Planes {
    let bytes = width / 8;
    let each = masks.iter().flat_map(|mask| mask.to_le_bytes().into_iter().take(bytes));
    let values: zeroize::Zeroizing<Vec<u8>> = zeroize::Zeroizing::new(each.collect());
    Planes::pack(&values, width, masks.len())
}
