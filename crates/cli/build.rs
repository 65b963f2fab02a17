//! Tells the compiler the commit from which the command is built. It is HUSHWIRE_COMMIT if a
//! packager sets it, else the commit that the repository around the sources has checked out, else
//! "unknown". The script starts no program, and a missing file does not make the build fail.

use std::{env, fs, path::Path};

/// The number of hexadecimal digits that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HUSHWIRE_COMMIT");
    let given = env::var("HUSHWIRE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let found = given.or_else(checked_out).unwrap_or_else(|| "unknown".to_owned());
    let short: String = found.chars().filter(char::is_ascii_alphanumeric).take(DIGITS).collect();
    println!("cargo::rustc-env=HUSHWIRE_COMMIT={short}");
}

/// Returns the commit of the repository that holds this crate. A repository further out does not
/// count.
fn checked_out() -> Option<String> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../..");
    let entry = root.join(".git");
    // In a separate work tree, `.git` is a file with the path of the real directory.
    let own = match fs::read_to_string(&entry) {
        Ok(text) => root.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => entry,
    };
    let common = fs::read_to_string(own.join("commondir"));
    let common = common.map_or_else(|_| own.clone(), |dir| own.join(dir.trim()));
    // The log grows with every commit, wherever git keeps the reference itself.
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

/// Returns a file's text, and makes cargo run this script again when the file changes. A missing
/// file is not watched, because cargo would then run the script in every build.
fn watched(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text)
}
