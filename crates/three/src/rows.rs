//! Elements moved from place to place, on shares of bits and of numbers.

use crate::form::{Form, Held, Words, in_ring};
use hushwire_block::bits::{put_range, xor_range};
use hushwire_circuit::planes::plane_bytes;
use hushwire_rep3::{
    Rep3, ShareError,
    ring::{Bits, Column},
};
use std::sync::Arc;

/// Places that follow each other, as runs: where each begins among all elements, and its length.
fn runs(picks: &[usize], ends: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = vec![];
    for place in picks {
        match runs.last_mut() {
            Some((from, len)) if *from + *len == *place && !ends.contains(place) => *len += 1,
            _ => runs.push((*place, 1)),
        }
    }
    runs
}

/// Elements of forms of one kind, counted through all of them, one behind the other.
///
/// # Errors
/// Never: sizes follow from the forms'.
pub(crate) fn pick(forms: &[&Form], picks: &[usize]) -> Result<Form, ShareError> {
    match forms[0] {
        Form::Words(words) => Ok(Form::Words(in_ring!(words.ring(), pick_words(forms, picks)))),
        _ => pick_bits(forms, picks).map(|bits| Form::Bits(Arc::new(bits))),
    }
}

fn pick_words<W: Held>(forms: &[&Form], picks: &[usize]) -> Words {
    let columns: Vec<&Column<W>> = forms.iter().map(|form| &**W::column(form.words())).collect();
    let starts = starts(columns.iter().map(|column| column.rows()));
    let runs = runs(picks, &starts);
    let share = |of: fn(&Column<W>) -> &[W]| {
        let mut out = Vec::with_capacity(picks.len());
        for (place, len) in &runs {
            let (k, at) = find(&starts, *place);
            out.extend_from_slice(&of(columns[k])[at..at + len]);
        }
        out
    };
    W::words(Rep3 { own: share(|column| &column.own), next: share(|column| &column.next) })
}

/// Where each of several lists begins when they stand one behind the other.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sum = 0;
    lengths
        .map(|n| {
            sum += n;
            sum - n
        })
        .collect()
}

/// The list in which a place is, and where in it.
fn find(starts: &[usize], place: usize) -> (usize, usize) {
    let k = starts.partition_point(|start| *start <= place) - 1;
    (k, place - starts[k])
}

fn pick_bits(forms: &[&Form], picks: &[usize]) -> Result<Bits, ShareError> {
    let parts: Vec<&Bits> = forms.iter().map(|form| &**form.bits()).collect();
    let starts = starts(parts.iter().map(|bits| bits.rows()));
    let runs: Vec<(usize, usize, usize)> = runs(picks, &starts)
        .into_iter()
        .map(|(place, len)| {
            let (k, at) = find(&starts, place);
            (k, at, len)
        })
        .collect();
    let (width, height) = (parts[0].width(), plane_bytes(picks.len()));
    let longest = runs.iter().map(|run| run.2).max().unwrap_or(0);
    let mut moved = vec![0; plane_bytes(longest)];
    let mut share = |of: &dyn Fn(usize) -> usize, second: bool| {
        let mut out = vec![0; width * height];
        for plane in 0..width {
            let to = &mut out[plane * height..][..height];
            let mut at = 0;
            for (k, from, len) in &runs {
                let shares = parts[*k].shares();
                let bytes = if second { &shares.next } else { &shares.own };
                let plane = &bytes[plane * of(*k)..][..of(*k)];
                if *len == 1 {
                    to[at / 8] |= (plane[from / 8] >> (from % 8) & 1) << (at % 8);
                } else {
                    let moved = &mut moved[..plane_bytes(*len)];
                    moved.fill(0);
                    xor_range(plane, *from, *len, moved);
                    put_range(moved, *len, to, at);
                }
                at += len;
            }
        }
        out
    };
    let height_of = |k: usize| plane_bytes(parts[k].rows());
    let shares = Rep3 { own: share(&height_of, false), next: share(&height_of, true) };
    Bits::new(width, picks.len(), shares)
}

/// The lower planes alone.
pub(crate) fn narrowed(bits: &Bits, width: usize) -> Result<Bits, ShareError> {
    between(bits, 0, width)
}

/// Planes `from..to`.
pub(crate) fn between(bits: &Bits, from: usize, to: usize) -> Result<Bits, ShareError> {
    let height = plane_bytes(bits.rows());
    let of = |share: &[u8]| share[from * height..to * height].to_vec();
    let shares = bits.shares();
    Bits::new(to - from, bits.rows(), Rep3 { own: of(&shares.own), next: of(&shares.next) })
}

/// Planes of several strings, one above the other, and the first `width` of them.
pub(crate) fn stacked(parts: &[Bits], width: usize) -> Result<Bits, ShareError> {
    let rows = parts[0].rows();
    let bytes = width * plane_bytes(rows);
    let of = |share: fn(&hushwire_rep3::Shares) -> &[u8]| {
        let mut all: Vec<u8> = parts.iter().flat_map(|bits| share(bits.shares()).to_vec()).collect();
        all.truncate(bytes);
        all
    };
    Bits::new(width, rows, Rep3 { own: of(|s| &s.own), next: of(|s| &s.next) })
}

/// Every bit of every element, element after element, as one string.
pub(crate) fn flattened(bits: &Bits) -> Result<Bits, ShareError> {
    let height = plane_bytes(bits.rows());
    let of = |share: &[u8]| {
        let bit = |r: usize, b: usize| share[b * height + r / 8] >> (r % 8) & 1;
        (0..bits.rows()).flat_map(|r| (0..bits.width()).map(move |b| bit(r, b))).collect()
    };
    let shares = Rep3 { own: of(&bits.shares().own), next: of(&bits.shares().next) };
    Bits::new(bits.width() * bits.rows(), 1, shares)
}

/// The reverse of [`flattened`].
pub(crate) fn gathered(string: &Bits, width: usize, rows: usize) -> Result<Bits, ShareError> {
    let height = plane_bytes(rows);
    let of = |share: &[u8]| {
        let mut out = vec![0; width * height];
        for (i, bit) in share.iter().enumerate() {
            let (r, b) = (i / width, i % width);
            out[b * height + r / 8] |= (bit & 1) << (r % 8);
        }
        out
    };
    Bits::new(width, rows, Rep3 { own: of(&string.shares().own), next: of(&string.shares().next) })
}
