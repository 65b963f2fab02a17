//! Rows as strings of bits and as numbers, for sorts and moves, and the costs of both.

use crate::{
    distance::{Distance, PIECE},
    form::{StepValue, WordShare},
    moves::{ShareRows, walk_tallies},
    order::{number_bits, sorts},
    ring::packed,
    tally::Tally,
    wide::{less_tally, words_tally},
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, planes::plane_bytes, ranking};
use hushwire_plan::{KeyOrder, Reorder, Size};
use std::ops::Range;

/// Some bits of the keys of each row, the first key most significant. The lesser string comes
/// first.
pub(crate) fn strings(party: usize, keys: &[KeyOrder], reads: &[StepValue], bits: Range<usize>) -> ShareRows {
    let planes: Vec<(&Planes, usize, bool)> = keys
        .iter()
        .zip(reads)
        .rev()
        .flat_map(|(key, form)| {
            let all = &**form.bits();
            let top = all.width().wrapping_sub(1);
            (0..all.width()).map(move |plane| (all, plane, key.descending ^ (key.signed && plane == top)))
        })
        .collect();
    let rows = planes.first().map_or(0, |(all, ..)| all.instances());
    let mut own = Wiped::new(vec![0u128; rows]);
    for (at, (all, plane, turned)) in planes[bits.clone()].iter().enumerate() {
        let bytes = &all[plane * plane_bytes(rows)..][..plane_bytes(rows)];
        let turned = u128::from(*turned && party == 0);
        for (row, own) in own.iter_mut().enumerate() {
            *own |= (u128::from(bytes[row / 8] >> (row % 8) & 1) ^ turned) << at;
        }
    }
    ShareRows { widths: vec![bits.len() as u32], bits: true, own }
}

/// Rows of a step's value, `inner` elements each.
pub(crate) fn rows_of(form: &StepValue, inner: usize) -> ShareRows {
    match form {
        StepValue::Words(words) => {
            let own = Wiped::new(words.own.iter().map(|x| u128::from(*x)).collect());
            ShareRows { widths: vec![words.ring; inner], bits: false, own }
        }
        form => {
            let planes = form.bits();
            let (width, elements) = (planes.width(), planes.instances());
            let widths = ShareRows::columns_of(width * inner);
            let rows = elements.checked_div(inner).unwrap_or(0);
            let mut own = Wiped::new(vec![0u128; rows * widths.len()]);
            for plane in 0..width {
                let bytes = &planes[plane * plane_bytes(elements)..][..plane_bytes(elements)];
                for element in 0..elements {
                    let at = element % inner * width + plane;
                    let bit = u128::from(bytes[element / 8] >> (element % 8) & 1);
                    own[element / inner * widths.len() + at / 128] |= bit << (at % 128);
                }
            }
            ShareRows { widths, bits: true, own }
        }
    }
}

/// The reverse of [`rows_of`], for a value of this size.
pub(crate) fn form_of(rows: &ShareRows, inner: usize, size: Size) -> StepValue {
    match size {
        Size::Words(ring, _) => {
            let own: Vec<u64> = rows.own.iter().map(|x| *x as u64).collect();
            StepValue::Words(WordShare::new(ring, own))
        }
        _ => {
            let (width, elements) = (size.width(), size.rows());
            let mut planes = Planes::zeros(width, elements);
            for plane in 0..width {
                let bytes = &mut planes[plane * plane_bytes(elements)..][..plane_bytes(elements)];
                for element in 0..elements {
                    let at = element % inner * width + plane;
                    let bit = rows.own[element / inner * rows.widths.len() + at / 128] >> (at % 128) & 1;
                    bytes[element / 8] |= (bit as u8) << (element % 8);
                }
            }
            StepValue::of_bits(planes)
        }
    }
}

/// AGREEMENT: splits rows into pieces with few enough OTs each. The pieces of one list share their
/// rounds.
pub(crate) fn cut(rows: usize, distance: Distance, tally: impl Fn(usize) -> Tally) -> Vec<Vec<Range<usize>>> {
    let mut each = rows;
    while each > 64 && tally(each).cots.iter().any(|n| *n > PIECE) {
        each = (each / 2).next_multiple_of(64);
    }
    let most = tally(each).cots.into_iter().max().unwrap_or(0);
    let abreast = (distance.cots() / most.max(1)).max(1);
    let pieces: Vec<Range<usize>> =
        (0..rows).step_by(each.max(1)).map(|start| start..rows.min(start + each)).collect();
    pieces.chunks(abreast).map(<[_]>::to_vec).collect()
}

/// The cost of comparing pairs and opening the results.
pub(crate) fn pairs_tally(pairs: usize, bits: u32) -> Tally {
    less_tally(pairs, bits).then(Tally::message([packed(pairs, 1); 2]))
}

/// The costs of consecutive groups of pieces. The pieces of a group share their rounds.
type Lots = Vec<Vec<Tally>>;

fn lots_of(rows: usize, distance: Distance, tally: impl Fn(usize) -> Tally) -> Lots {
    let lot = |lot: Vec<Range<usize>>| lot.iter().map(|piece| tally(piece.len())).collect();
    cut(rows, distance, &tally).into_iter().map(lot).collect()
}

fn shuffles(rows: usize, row: usize, stages: usize, distance: Distance) -> Lots {
    let both = || [0, 1].into_iter().flat_map(|chooser| walk_tallies(rows, row, chooser, distance.cots()));
    (0..stages).flat_map(|_| both()).map(|tally| vec![tally]).collect()
}

/// The costs of a step that moves `rows` rows, in the order of a run. The costs of a sort are
/// estimates; all others are exact.
pub(crate) fn lots(reorder: &Reorder, reads: &[Size], rows: usize, distance: Distance) -> Lots {
    let mut all = vec![];
    match reorder {
        Reorder::Sort { .. } => {
            let bits = reads.iter().map(|size| size.width()).sum();
            for (stages, bits) in sorts(rows, bits).enumerate() {
                let width = bits.len() as u32 + number_bits(rows);
                all.extend(shuffles(rows, bits.len(), stages, distance));
                all.extend(shuffles(rows, width as usize, 1, distance));
                all.extend(lots_of(rows, distance, |n| words_tally(n, width)));
                for pairs in ranking::likely_levels(rows) {
                    all.extend(lots_of(pairs, distance, |n| pairs_tally(n, width)));
                }
            }
        }
        Reorder::ToOrder if rows > 1 => {
            let bits = reads[0].width();
            all.extend(shuffles(rows, bits, 1, distance));
            all.push(vec![Tally::message([packed(rows, bits); 2])]);
        }
        Reorder::ToOrder => {}
        Reorder::Permute { inner } => {
            let (row, order) = (inner * reads[0].width(), reads[1]);
            all.extend(shuffles(order.rows(), row, order.stages(), distance));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_rows_once() {
        for (rows, distance) in
            [(0, Distance::Near), (1, Distance::Near), (100_000, Distance::Near), (300_001, Distance::Far)]
        {
            let groups = cut(rows, distance, |n| words_tally(n, 84));
            let flat: Vec<usize> = groups.iter().flatten().flat_map(Clone::clone).collect();
            assert!(flat.into_iter().eq(0..rows));
            for group in groups {
                let sum: usize = group.iter().map(|piece| words_tally(piece.len(), 84).cots[0]).sum();
                assert!(sum <= distance.cots());
            }
        }
    }
}
