//! Buffers that hold secrets, and leave none behind.

use zeroize::Zeroize;

/// Makes `buffer` `len` long. Growing in place may move it and leave a copy of what it held: here that is wiped before
/// the larger buffer is made, which holds zeros.
pub(crate) fn refit<T: Zeroize + Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.capacity() < len {
        buffer.zeroize();
        *buffer = Vec::with_capacity(len);
    }
    buffer.resize(len, T::default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::ZeroizeOnDrop;

    #[test]
    fn a_buffer_that_moves_takes_nothing_along() {
        let mut buffer = vec![7u8; 10];
        refit(&mut buffer, 4);
        assert_eq!(buffer, [7; 4], "it had room");
        refit(&mut buffer, 1 << 20);
        assert!(buffer.len() == 1 << 20 && buffer.iter().all(|byte| *byte == 0));
    }

    /// Every type that holds pads, choices, Δ or correlated blocks is wiped when it is dropped.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<crate::end::Made>();
        wiped::<crate::hasher::OtHasher>();
        wiped::<crate::pipeline::Spare>();
        wiped::<crate::owned::OwnedPairs>();
        wiped::<crate::owned::OwnedKeys>();
        wiped::<crate::one_of_n::Masks>();
        wiped::<crate::BitTriples>();
        wiped::<crate::rows::Stock>();
        wiped::<crate::rows::Delta>();
        wiped::<crate::rows::Closed>();
        wiped::<crate::rows::Path>();
        wiped::<crate::base::BaseSender<crate::Full>>();
        wiped::<crate::base::BaseReceiver<crate::Full>>();
        wiped::<crate::base::CswSender>();
        wiped::<crate::base::CswReceiver>();
        wiped::<crate::base::ChouOrlandiSender>();
        wiped::<crate::base::ChouOrlandiReceiver>();
        wiped::<crate::base::NaorPinkasSender>();
        wiped::<crate::base::NaorPinkasReceiver>();
    }
}
