//! Room for wires: no label stays behind in memory that a vector grows out of.

use zeroize::{Zeroize, Zeroizing};

/// Makes `wires` exactly `len` long; what they hold then is of no use. Memory that they grow out of is wiped first, which
/// [`Zeroizing`] does for the last one only.
#[inline]
pub(crate) fn resize<W: Copy + Default + Zeroize>(wires: &mut Zeroizing<Vec<W>>, len: usize) {
    if len > wires.capacity() {
        let room = len.max(2 * wires.capacity());
        wires.zeroize();
        **wires = vec![];
        wires.reserve_exact(room);
    }
    wires.resize(len, W::default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static WIPED: Cell<usize> = const { Cell::new(0) });

    #[derive(Clone, Copy, Default)]
    struct Counted {
        _label: u8,
    }

    impl Zeroize for Counted {
        fn zeroize(&mut self) {
            WIPED.set(WIPED.get() + 1);
        }
    }

    #[test]
    fn what_is_grown_out_of_is_wiped() {
        let mut wires = Zeroizing::new(Vec::<Counted>::new());
        let mut wiped = 0;
        for len in [5, 3, 5, 6, 1000] {
            let (held, grows) = (wires.len(), len > wires.capacity());
            resize(&mut wires, len);
            wiped += if grows { held } else { 0 };
            assert_eq!((wires.len(), WIPED.get()), (len, wiped));
        }
        assert_eq!(wiped, 5 + 6, "it grew twice when it held something");
    }
}
