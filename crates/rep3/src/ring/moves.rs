//! A party's work when columns are permuted: its part, and the movements of rows between masks.

use super::{column::Word, masks::PairWords};
use crate::Role;

/// The part of the protocol that a party has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    X,
    Y,
    Z,
}

/// The part of a party in a permutation or its inverse.
pub(super) fn part(role: Role, inverse: bool) -> Part {
    match (role.index(), inverse) {
        (0, false) | (2, true) => Part::X,
        (1, _) => Part::Y,
        _ => Part::Z,
    }
}

pub(super) fn words_in<W: Word>(bytes: &[u8]) -> impl Iterator<Item = W> + '_ {
    bytes.chunks_exact(W::BYTES).map(W::read)
}

/// The first movement of a stage.
pub(super) fn scatter<W: Word>(into: &[u32], rows: impl Iterator<Item = W>, room: &mut [W]) {
    into.iter().zip(rows).for_each(|(place, row)| room[*place as usize] = row);
}

/// The second movement of a stage, a mask on every word, and the first of the next stage.
pub(super) fn through<W: Word>(
    masks: &mut PairWords<'_>,
    from: &[u32],
    room: &[W],
    into: &[u32],
    next: &mut [W],
    mask: impl Fn(W, W) -> W,
) {
    masks.runs::<W>(from.len(), |run, masks| {
        for ((from, into), m) in from[run.clone()].iter().zip(&into[run]).zip(words_in(masks)) {
            next[*into as usize] = mask(room[*from as usize], m);
        }
    });
}

/// The second movement of a stage, and a mask on every word, into a message.
pub(super) fn leave<W: Word>(
    masks: &mut PairWords<'_>,
    from: &[u32],
    room: &[W],
    out: &mut [u8],
    mask: impl Fn(W, W) -> W,
) {
    masks.runs::<W>(from.len(), |run, masks| {
        let out = out[run.start * W::BYTES..run.end * W::BYTES].chunks_exact_mut(W::BYTES);
        for ((from, out), m) in from[run].iter().zip(out).zip(words_in(masks)) {
            mask(room[*from as usize], m).write(out);
        }
    });
}

/// The second movement of a stage, into a message.
pub(super) fn gather<W: Word>(from: &[u32], room: &[W], out: &mut [u8]) {
    from.iter().zip(out.chunks_exact_mut(W::BYTES)).for_each(|(from, out)| room[*from as usize].write(out));
}
