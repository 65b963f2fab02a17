//! Says to the compiler from which commit the command is built: HUSHWIRE_COMMIT where a packager
//! sets it, else what the repository around the sources has checked out, else "unknown". It starts
//! no program and fails for nothing.

use std::{env, fs, path::Path};

/// Hexadecimal digits that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HUSHWIRE_COMMIT");
    let given = env::var("HUSHWIRE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let found = given.or_else(checked_out).unwrap_or_else(|| "unknown".to_owned());
    let short: String = found.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect();
    println!("cargo::rustc-env=HUSHWIRE_COMMIT={short}");
}

/// The commit of the repository that holds this crate, and of no other around it.
fn checked_out() -> Option<String> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../..");
    let entry = root.join(".git");
    // In a work tree beside the repository it is a file that says where.
    let own = match fs::read_to_string(&entry) {
        Ok(text) => root.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => entry,
    };
    let common = fs::read_to_string(own.join("commondir"));
    let common = common.map_or_else(|_| own.clone(), |dir| own.join(dir.trim()));
    // Grows with every commit, wherever the reference itself is kept.
    let _ = watched(&own.join("logs/HEAD"));
    let head = watched(&own.join("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_owned()) };
    if let Some(commit) = watched(&common.join(name)) {
        return Some(commit.trim().to_owned());
    }
    let packed = watched(&common.join("packed-refs"))?;
    let line = packed.lines().find(|line| line.ends_with(name) && line.contains(&format!(" {name}")))?;
    line.split(' ').next().map(str::to_owned)
}

/// A file's text; this runs again when it changes. One that is not there is not watched: cargo
/// would run this every time.
fn watched(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text)
}
