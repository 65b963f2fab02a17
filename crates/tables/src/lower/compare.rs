//! Comparisons of columns.

use super::{
    cell::{Cell, is_number},
    numbers::{resized, width},
    texts,
};
use crate::algebra::{ColumnType, common_type};
use hushwire_compute::{Comparison, Scalar, Val};

/// Whether a comparison holds for values that are not NULL.
pub(crate) fn compared<'b>(comparison: Comparison, a: Cell<'b>, b: Cell<'b>) -> Val<'b> {
    let ty = common_type(a.ty, b.ty).expect("it was checked");
    let [a, b] = [a, b].map(|cell| cell.converted(ty));
    if is_number(ty) {
        let bits = width(a.range).max(width(b.range));
        return resized(a.val, bits).compare(comparison, resized(b.val, bits));
    }
    match (ty, comparison) {
        (_, Comparison::Equal | Comparison::NotEqual) => a.val.compare(comparison, b.val),
        (ColumnType::Boolean, _) => {
            let [x, y] = [a.val, b.val].map(|v| v.cast(Scalar::unsigned(1)));
            x.compare(comparison, y)
        }
        _ => texts::compared(comparison, a.val, b.val),
    }
}
