//! Asking the cache for a line before it is read.

/// Asks for the line at `p` to be brought to the first cache. A hint: it never faults, whatever `p` is, and does
/// nothing where the CPU has no such instruction. The address is no secret.
#[inline(always)]
pub fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of x86-64's base; a prefetch of any address neither faults nor reads a value.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: part of ARMv8's base; a prefetch of any address neither faults nor changes a register.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) p, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = p;
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn no_address_faults() {
        let x = [7u64; 8];
        prefetch(&raw const x);
        prefetch(std::ptr::null::<u8>());
        prefetch(std::ptr::without_provenance::<u8>(usize::MAX));
        assert_eq!(x, [7; 8]);
    }
}
