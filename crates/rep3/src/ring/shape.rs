//! Products of lengths.

use crate::ShareError;

/// The number of elements of a shape.
pub(super) fn product_of(lengths: &[usize]) -> Result<usize, ShareError> {
    let product = lengths.iter().try_fold(1usize, |product, length| product.checked_mul(*length));
    // Addresses end at isize::MAX, and no word has more than eight bytes.
    product.filter(|product| *product <= isize::MAX as usize / 8).ok_or(ShareError::Shape {
        cause: "a shape has more elements than there are addresses",
        remedy: "take shorter lengths",
    })
}
