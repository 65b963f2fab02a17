//! The only place where a kernel is combined with its tier.

use crate::detect::cpu;
use crate::{Kernel, Tier};

/// Runs `kernel` with the operations of `tier`; `gfni` requests GFNI, which is used only if the CPU
/// has it.
///
/// # Panics
/// If the CPU lacks `tier` (check with [`Cpu::has`](crate::Cpu::has) first; `hushwire-aes::Backend`
/// does).
pub fn dispatch<K: Kernel>(tier: Tier, gfni: bool, kernel: K) -> K::Out {
    assert!(cpu().has(tier), "this CPU lacks the AES tier {tier}");
    #[cfg(target_arch = "x86_64")]
    return crate::x86::run(tier, gfni && cpu().features().gfni, kernel);
    #[cfg(target_arch = "aarch64")]
    {
        let _ = gfni;
        match tier {
            Tier::Neon => crate::neon::run(kernel),
            _ if !K::PORTABLE => unreachable!("a kernel of AES instructions on the portable tier"),
            _ => crate::portable::run(kernel),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = gfni;
        crate::portable::run(kernel)
    }
}
