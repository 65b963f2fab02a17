//! Records the compiler's version, which every report states.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    if let Ok(version) = version
        && version.status.success()
    {
        let text = String::from_utf8_lossy(&version.stdout);
        println!("cargo::rustc-env=HUSHWIRE_RUSTC={}", text.trim());
    }
}
