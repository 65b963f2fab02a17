//! Columns of places in a dictionary of values, such as categories. Texts stay in their dictionary
//! until they are read. Other values, and values of a dictionary that contains NULL, are copied to
//! their rows.

use super::{Held, HeldData, Kind, kind, refused};
use crate::arrow::{ArrowField, View};
use hushwire::{Fault, tables::BitSlice};

/// Returns for each row of a view whether it has a value.
fn flags(view: &View) -> Vec<bool> {
    let mut flags = vec![];
    match view.valid().and_then(|(bits, start)| BitSlice::new(bits, start, view.rows())) {
        Some(bits) => bits.append_flags(&mut flags),
        None => flags.resize(view.rows(), true),
    }
    flags
}

/// Returns each row's place in its dictionary.
pub(super) fn places(view: &View, format: &str) -> Option<Vec<Option<usize>>> {
    let Some(Kind::Whole { width, .. }) = kind(format) else { return None };
    let place = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight[..width].copy_from_slice(bytes);
        usize::try_from(u64::from_le_bytes(eight)).ok()
    };
    Some(view.numbers(width).chunks_exact(width).map(place).collect())
}

/// Makes a column with a dictionary.
///
/// # Errors
/// The place in a row is outside the dictionary.
pub(super) fn held(field: ArrowField, views: Vec<View>, format: &str) -> Result<Held, Fault> {
    let name = field.name.clone();
    let broken = || refused(format!("column {name} names values that are none"), "bring another copy");
    let dictionaries: Vec<View> =
        views.iter().map(|view| view.dictionary().ok_or_else(broken)).collect::<Result<_, _>>()?;
    let nested = dictionaries.iter().any(|words| words.dictionary().is_some());
    let kind = if nested { Kind::Other } else { kind(format).unwrap_or(Kind::Other) };
    let all_there = dictionaries.iter().all(|words| !flags(words).contains(&false));
    if kind == Kind::Other || (kind == Kind::Text && all_there) {
        return Ok(Held { name, kind, data: HeldData::Views(views, field) });
    }
    let (mut numbers, mut texts, mut valid) = (vec![], vec![], vec![]);
    for (view, words) in views.iter().zip(&dictionaries) {
        let there = flags(words);
        let records: Vec<Vec<u8>> = match kind {
            Kind::Text => words.texts(format).ok_or_else(broken)?.into_iter().map(<[u8]>::to_vec).collect(),
            Kind::Truth => {
                let (bits, start) = words.truths();
                let mut truths = vec![];
                if let Some(bits) = BitSlice::new(bits, start, words.rows()) {
                    bits.append_flags(&mut truths);
                }
                truths.into_iter().map(|truth| vec![u8::from(truth)]).collect()
            }
            Kind::Nothing => vec![vec![0]; words.rows()],
            _ => words.numbers(kind.width()).chunks_exact(kind.width()).map(<[u8]>::to_vec).collect(),
        };
        let rows = flags(view);
        let places = places(view, &field.format).filter(|places| places.len() == rows.len());
        let none = if kind == Kind::Text { vec![] } else { vec![0; kind.width()] };
        for (place, has) in places.ok_or_else(broken)?.into_iter().zip(rows) {
            // The place in a row without a value may be any number.
            let found = match place.filter(|_| has) {
                Some(at) => Some((records.get(at).ok_or_else(broken)?, there[at])),
                None if has => return Err(broken()),
                None => None,
            };
            let record = found.filter(|(_, there)| *there).map_or(&none, |(record, _)| record);
            valid.push(found.is_some_and(|(_, there)| there) && kind != Kind::Nothing);
            match kind {
                Kind::Text => texts.push(record.clone()),
                _ => numbers.extend(record),
            }
        }
    }
    Ok(Held { name, kind, data: HeldData::Own { numbers, texts, valid } })
}
