//! The crates of the workspace and their files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("this crate lies in crates/xtask")
}

/// The directories of crates under `crates/`, by name.
pub(crate) fn crates() -> Result<Vec<String>, String> {
    let mut names: Vec<String> = entries(&root().join("crates"))?
        .iter()
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| name(path))
        .collect();
    names.sort();
    Ok(names)
}

/// The directory of a crate that is named `rep3`, `hushwire-rep3` or `crates/rep3`.
pub(crate) fn directory(given: &str) -> Result<String, String> {
    let short = given.trim_end_matches('/');
    let short = short.strip_prefix("crates/").unwrap_or(short);
    // The crate `hushwire` has no prefix.
    let short = short.strip_prefix("hushwire-").unwrap_or(short);
    let crates = crates()?;
    if crates.iter().any(|name| name == short) {
        return Ok(short.into());
    }
    Err(format!("no crate is called {given}; crates: {}", crates.join(" ")))
}

/// A crate's package: `hushwire-` and its directory's name, with three exceptions.
pub(crate) fn package(directory: &str) -> String {
    match directory {
        "hushwire" | "xtask" | "unify" => directory.into(),
        _ => format!("hushwire-{directory}"),
    }
}

/// The Rust files of a crate: sources, tests, examples.
pub(crate) fn crate_files(directory: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    collect(&root().join("crates").join(directory), "rs", &mut files)?;
    Ok(files)
}

/// The Rust files of all crates.
pub(crate) fn rust_files() -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    collect(&root().join("crates"), "rs", &mut files)?;
    collect(&root().join("fuzz"), "rs", &mut files)?;
    Ok(files)
}

/// The pages with which readers begin. The changelog, the earlier changes and the records of
/// decisions keep the words of their time.
pub(crate) fn pages() -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> =
        entries(root())?.into_iter().filter(|path| is(path, "md") && name(path) != "CHANGELOG.md").collect();
    collect(&root().join("docs"), "md", &mut files)?;
    let old = ["docs/adr", "docs/internals/changes.md"].map(|path| root().join(path));
    files.retain(|path| !old.iter().any(|old| path.starts_with(old)));
    for name in crates()? {
        files.push(root().join("crates").join(name).join("README.md"));
    }
    files.retain(|path| path.exists());
    files.sort();
    Ok(files)
}

/// All other files with comments: manifests, scripts, and the simulators of the hardware.
pub(crate) fn others() -> Result<Vec<PathBuf>, String> {
    let root = root();
    let mut files = Vec::new();
    for extension in ["toml", "py", "cpp", "hpp"] {
        for directory in ["crates", "fuzz", "hdl", "python"] {
            collect(&root.join(directory), extension, &mut files)?;
        }
        files.extend(entries(root)?.into_iter().filter(|path| is(path, extension)));
    }
    files.push(root.join(".cargo/config.toml"));
    for directory in ["scripts", ".ci", "hdl", "hdl/sim", "fuzz"] {
        let scripts = entries(&root.join(directory))?.into_iter();
        files.extend(scripts.filter(|path| path.is_file() && path.extension().is_none()));
    }
    files.sort();
    Ok(files)
}

/// Each crate whose manifest names `directory`'s package, and whether only its tests do.
pub(crate) fn dependents(directory: &str) -> Result<Vec<(String, bool)>, String> {
    let package = package(directory);
    let mut found = Vec::new();
    for other in crates()?.into_iter().filter(|other| other != "unify") {
        let manifest = manifest(&other)?;
        let sections = sections_that_name(&manifest, &package);
        if !sections.is_empty() {
            let tests_alone = sections.iter().all(|section| section.contains("dev-dependencies"));
            found.push((other, tests_alone));
        }
    }
    Ok(found)
}

/// The sections of a manifest that have a line for `package`.
fn sections_that_name(manifest: &str, package: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found: BTreeMap<String, ()> = BTreeMap::new();
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').into();
            if section.ends_with(&format!("dependencies.{package}")) {
                found.insert(section.clone(), ());
            }
        }
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        if key == package && section.ends_with("dependencies") {
            found.insert(section.clone(), ());
        }
    }
    found.into_keys().collect()
}

/// The text of a crate's manifest.
pub(crate) fn manifest(directory: &str) -> Result<String, String> {
    read(&root().join("crates").join(directory).join("Cargo.toml"))
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// A path relative to the root of the workspace.
pub(crate) fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// All files below `directory` with this extension, in order. Build directories and hidden
/// directories are skipped.
fn collect(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in entries(directory)? {
        if path.is_dir() {
            if name(&path) != "target" && !name(&path).starts_with('.') {
                collect(&path, extension, files)?;
            }
        } else if is(&path, extension) {
            files.push(path);
        }
    }
    Ok(())
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error| format!("cannot read {}: {error}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_has_three_spellings_and_others_are_refused() {
        for given in ["rep3", "hushwire-rep3", "crates/rep3/"] {
            assert_eq!(directory(given).unwrap(), "rep3");
        }
        assert_eq!(package(&directory("hushwire").unwrap()), "hushwire");
        assert!(directory("rep4").unwrap_err().contains("rep3"));
    }

    #[test]
    fn dependents_tell_tests_apart() {
        let manifest = "[dependencies]\na.workspace = true\nb = { path = \"x\" }\n[dev-dependencies]\nc.workspace = true\n\
                        [target.'cfg(unix)'.dependencies.d]\nversion = \"1\"\n[features]\ne = []\n";
        let sections = |package| sections_that_name(manifest, package);
        assert_eq!(sections("a"), ["dependencies"]);
        assert_eq!(sections("b"), ["dependencies"]);
        assert_eq!(sections("c"), ["dev-dependencies"]);
        assert_eq!(sections("d"), ["target.'cfg(unix)'.dependencies.d"]);
        assert!(sections("e").is_empty());
        assert!(sections("version").is_empty());
    }

    #[test]
    fn the_kernels_are_below_the_command() {
        let above = dependents("fault").unwrap();
        assert!(above.iter().any(|(name, _)| name == "machine"), "{above:?}");
    }
}
