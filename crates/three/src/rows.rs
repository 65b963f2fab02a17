//! Elements moved from place to place, on shares of bits and of numbers.

use crate::form::{Form, Held, Words, in_ring};
use hushwire_circuit::planes::plane_bytes;
use hushwire_plan::Picks;
use hushwire_rep3::{
    Rep3, ShareError, Shares, pool,
    ring::{Bits, Column},
};
use std::sync::Arc;

/// Elements of forms of one kind, counted through all of them, one behind the other.
///
/// # Errors
/// Never: sizes follow from the forms'.
pub(crate) fn pick(forms: &[&Form], picks: &Picks) -> Result<Form, ShareError> {
    if let [form] = forms
        && picks.is_all(form.rows())
    {
        return Ok((*form).clone());
    }
    match forms[0] {
        Form::Words(words) => Ok(Form::Words(in_ring!(words.ring(), pick_words(forms, picks)))),
        _ => pick_bits(forms, picks).map(|bits| Form::Bits(Arc::new(bits))),
    }
}

fn pick_words<W: Held>(forms: &[&Form], picks: &Picks) -> Words {
    let columns: Vec<&Column<W>> = forms.iter().map(|form| &**W::column(form.words())).collect();
    let moves = picks.within(&columns.iter().map(|column| column.rows()).collect::<Vec<_>>());
    let share = |of: fn(&Column<W>) -> &[W]| {
        let values: Vec<&[W]> = columns.iter().map(|column| of(column)).collect();
        let mut out = pool::room(picks.len());
        moves.copy(&values, &mut out);
        out
    };
    W::words(Rep3 { own: share(|column| &column.own), next: share(|column| &column.next) })
}

fn pick_bits(forms: &[&Form], picks: &Picks) -> Result<Bits, ShareError> {
    let parts: Vec<&Bits> = forms.iter().map(|form| &**form.bits()).collect();
    let lengths: Vec<usize> = parts.iter().map(|bits| bits.rows()).collect();
    let moves = picks.within(&lengths);
    let (width, height) = (parts[0].width(), plane_bytes(picks.len()));
    let share = |of: fn(&Shares) -> &[u8]| {
        let mut out = pool::zeros(width * height);
        for (plane, to) in out.chunks_exact_mut(height.max(1)).enumerate() {
            let plane_of = |bits: &&'_ Bits| {
                let bytes = plane_bytes(bits.rows());
                plane * bytes..(plane + 1) * bytes
            };
            let planes: Vec<&[u8]> = parts.iter().map(|bits| &of(bits.shares())[plane_of(bits)]).collect();
            moves.copy_bits(&planes, to);
        }
        out
    };
    let shares = Rep3 { own: share(|shares| &shares.own), next: share(|shares| &shares.next) };
    Bits::new(width, picks.len(), shares)
}

/// Planes `from..to`.
pub(crate) fn between(bits: &Bits, from: usize, to: usize) -> Result<Bits, ShareError> {
    let height = plane_bytes(bits.rows());
    let of = |share: &[u8]| pool::copy(&share[from * height..to * height]);
    let shares = bits.shares();
    Bits::new(to - from, bits.rows(), Rep3 { own: of(&shares.own), next: of(&shares.next) })
}

/// Planes of several strings, one above the other, and the first `width` of them.
pub(crate) fn stacked(parts: &[Bits], width: usize) -> Result<Bits, ShareError> {
    let rows = parts[0].rows();
    let bytes = width * plane_bytes(rows);
    let of = |share: fn(&Shares) -> &[u8]| {
        let mut all = pool::room(bytes);
        parts.iter().for_each(|bits| {
            let planes = share(bits.shares());
            all.extend_from_slice(&planes[..planes.len().min(bytes - all.len())]);
        });
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
        let mut out = pool::zeros(width * height);
        for (i, bit) in share.iter().enumerate() {
            let (r, b) = (i / width, i % width);
            out[b * height + r / 8] |= (bit & 1) << (r % 8);
        }
        out
    };
    Bits::new(width, rows, Rep3 { own: of(&string.shares().own), next: of(&string.shares().next) })
}
