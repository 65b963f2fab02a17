//! A hint to the CPU about memory that will be read soon.

/// Prefetches the cache lines of every 64th byte of `bytes`, so that they arrive while something
/// else runs. It changes no value, waits for nothing and requests no other line. On CPUs other than
/// x86-64 it does nothing.
///
/// It is constant time in the same sense as a read: the addresses must not depend on secrets.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has it, and it cannot fault; the address is that of a byte of the
        // slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefetch_changes_no_value() {
        let all: Vec<u8> = (0..1000u32).map(|i| (i * i + 7) as u8).collect();
        let before = all.clone();
        for (start, len) in (0..200).flat_map(|start| [0, 1, 63, 64, 65, 129, 800].map(|len| (start, len))) {
            prefetch(&all[start..start + len]);
            assert!(all == before, "{len} bytes from {start}");
        }
        prefetch(&[]);
    }
}
