//! The build of this program, and the CPU features that it can use on this machine.

use hushwire_aes::Backend;
use std::sync::LazyLock;

/// The release and the commit.
pub(crate) const SHORT: &str = concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("HUSHWIRE_COMMIT"), ")");

/// The release, the commit, and the AES tiers that this CPU has in this build.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let mut tiers: Vec<_> = Backend::all().iter().map(|backend| backend.tier().name()).collect();
        // A tier is listed twice, with GFNI and without.
        tiers.dedup();
        let (target, best) = (std::env::consts::ARCH, Backend::best());
        let gfni = if best.gfni() { ", with GFNI" } else { "" };
        format!("{SHORT}\nAES tiers on this {target} CPU: {}{gfni}", tiers.join(", "))
    });
    &LONG
}
