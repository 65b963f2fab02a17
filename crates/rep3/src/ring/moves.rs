//! A party's role in permuting columns, and the movements of rows between masks.

use super::{
    masks::PairWords,
    planes::{to_planes, to_words},
    word::Word,
};
use crate::{Role, pool::Scratch, xor_into};
use hushwire_aes::Backend;
use hushwire_circuit::planes::plane_bytes;

/// LOCAL: the number of rows whose bits are transposed at a time, so that they stay in the caches.
/// A multiple of 8.
const TURNED: usize = 4096;

/// The role that a party has in the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PermutePart {
    X,
    Y,
    Z,
}

/// The role of a party in a permutation or its inverse.
pub(super) fn part(role: Role, inverse: bool) -> PermutePart {
    match (role.index(), inverse) {
        (0, false) | (2, true) => PermutePart::X,
        (1, _) => PermutePart::Y,
        _ => PermutePart::Z,
    }
}

pub(super) fn words_in<W: Word>(bytes: &[u8]) -> impl Iterator<Item = W> + '_ {
    bytes.chunks_exact(W::BYTES).map(W::read)
}

/// The first movement of a stage.
pub(super) fn scatter<W: Word>(into: &[u32], rows: impl Iterator<Item = W>, room: &mut [W]) {
    into.iter().zip(rows).for_each(|(place, row)| room[*place as usize] = row);
}

/// As [`scatter`], for rows whose bits lie in planes, of one share or the sum of several.
pub(super) fn scatter_planes<W: Word>(backend: Backend, into: &[u32], shares: &[&[u8]], room: &mut [W]) {
    let height = plane_bytes(into.len()).max(1);
    let width = shares[0].len() / height;
    let (mut planes, mut words) = (Scratch::zeros(width * TURNED / 8), Scratch::zeros(TURNED));
    for (t, into) in into.chunks(TURNED).enumerate() {
        let bytes = plane_bytes(into.len());
        let (planes, words) = (&mut planes[..width * bytes], &mut words[..into.len()]);
        for (b, plane) in planes.chunks_exact_mut(bytes).enumerate() {
            let at = b * height + t * TURNED / 8;
            plane.copy_from_slice(&shares[0][at..at + bytes]);
            shares[1..].iter().for_each(|share| xor_into(plane, &share[at..at + bytes]));
        }
        to_words(backend, planes, words);
        scatter(into, words.iter().copied(), room);
    }
}

/// Transposes rows, from row `first` on (a multiple of 8), to their bits in planes of `height`
/// bytes.
pub(super) fn turn<W: Word>(backend: Backend, words: &[W], first: usize, height: usize, planes: &mut [u8]) {
    let width = planes.len() / height.max(1);
    let mut turned = Scratch::zeros(width * TURNED / 8);
    for (t, words) in words.chunks(TURNED).enumerate() {
        let (bytes, at) = (plane_bytes(words.len()), (first + t * TURNED) / 8);
        let turned = &mut turned[..width * bytes];
        to_planes(backend, words, turned);
        for (plane, turned) in planes.chunks_exact_mut(height).zip(turned.chunks_exact(bytes)) {
            plane[at..at + bytes].copy_from_slice(turned);
        }
    }
}

/// The second movement of a stage, a mask on every word, and the first movement of the next stage.
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

/// The second movement of a stage, with a mask on every word, into a message.
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
