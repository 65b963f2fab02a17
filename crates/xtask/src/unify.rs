//! The manifest of `unify`: every crate and dependency of the workspace, with all features.
//!
//! Cargo builds a dependency with the features that the chosen packages ask for. The tests of one
//! package would build most dependencies once more, with fewer features than the tests of the whole
//! workspace used. Therefore `cargo xtask test` chooses `unify` in addition to the package. It asks
//! for all features, and has no code of its own to build.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::tree;

/// The package's name.
pub(crate) const PACKAGE: &str = "unify";

const HEAD: &str = "\
# Written by `cargo xtask unify`.
[package]
name = \"unify\"
description = \"All features of all dependencies, for `cargo xtask test`\"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
publish = false

[lints]
workspace = true

[features]
# Nobody asks for it, so that nothing below is built for this package.
built = []

[[bin]]
name = \"unify\"
test = false
doc = false
required-features = [\"built\"]

[dependencies]
";

/// Writes the manifest.
pub(crate) fn write() -> Result<(), String> {
    let path = path();
    fs::write(&path, manifest()?).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn path() -> PathBuf {
    tree::root().join("crates").join(PACKAGE).join("Cargo.toml")
}

/// The features of a crate that are not on by default.
pub(crate) fn features(directory: &str) -> Result<Vec<String>, String> {
    let manifest = tree::manifest(directory)?;
    let features = lines(&manifest).filter(|(section, _)| *section == "features");
    Ok(features.map(|(_, line)| key(line).to_owned()).filter(|name| name != "default").collect())
}

/// The directories of the crates on which a manifest's package depends; tests may need others.
pub(crate) fn below(manifest: &str) -> Vec<String> {
    let built =
        lines(manifest).filter(|(section, _)| section.ends_with("dependencies") && !section.contains("dev-"));
    let keys = built.map(|(_, line)| key(line));
    let ours =
        keys.filter_map(|key| if key == "hushwire" { Some(key) } else { key.strip_prefix("hushwire-") });
    ours.map(str::to_owned).collect()
}

fn manifest() -> Result<String, String> {
    let mut ours = String::new();
    let mut others: BTreeMap<String, Asked> = BTreeMap::new();
    for directory in tree::crates()? {
        if matches!(directory.as_str(), "xtask" | PACKAGE) {
            continue;
        }
        let manifest = tree::manifest(&directory)?;
        for (_, line) in lines(&manifest).filter(|(section, _)| is_for_all(section)) {
            if !key(line).starts_with("hushwire") {
                others.entry(key(line).into()).or_default().add(line);
            }
        }
        // No crate links the command line, the service, or the Python module.
        if !matches!(directory.as_str(), "cli" | "py" | "service") {
            let features = list(&features(&directory)?);
            ours += &format!("{} = {{ path = \"../{directory}\"{features} }}\n", tree::package(&directory));
        }
    }
    let others: String = others.iter().map(|(name, asked)| asked.line(name)).collect();
    Ok(format!("{HEAD}{ours}{others}"))
}

/// The requirements of manifests for a dependency.
#[derive(Default)]
struct Asked {
    /// Its version, and whether it has default features, unless the workspace sets them.
    own: Option<String>,
    features: BTreeSet<String>,
}

impl Asked {
    fn add(&mut self, line: &str) {
        let value = line.split_once('=').map_or("", |(_, value)| value.trim());
        if let Some((_, list)) = value.split_once("features = [").filter(|(before, _)| !before.ends_with('-'))
        {
            let list = list.split(']').next().unwrap_or_default();
            self.features.extend(list.split('"').skip(1).step_by(2).map(str::to_owned));
        }
        if !line.contains("workspace = true") {
            let version = value.split('"').nth(1).unwrap_or_default();
            let bare =
                if value.contains("default-features = false") { ", default-features = false" } else { "" };
            self.own = Some(format!("version = \"{version}\"{bare}"));
        }
    }

    fn line(&self, name: &str) -> String {
        let source = self.own.as_deref().unwrap_or("workspace = true");
        let features: Vec<String> = self.features.iter().cloned().collect();
        format!("{name} = {{ {source}{} }}\n", list(&features))
    }
}

fn list(features: &[String]) -> String {
    if features.is_empty() { String::new() } else { format!(", features = {features:?}") }
}

/// Whether a section has dependencies for all processors.
fn is_for_all(section: &str) -> bool {
    section.ends_with("dependencies") && !section.contains("target_arch")
}

/// The lines of a manifest that set a key, with their sections.
fn lines(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    manifest.lines().filter_map(move |line| {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            return None;
        }
        (line.contains('=') && !line.starts_with('#')).then_some((section, line))
    })
}

fn key(line: &str) -> &str {
    line.split(['=', '.', ' ']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_has_what_all_crates_ask_for() {
        assert!(
            tree::read(&path()).unwrap() == manifest().unwrap(),
            "run `cargo xtask unify`, and commit what it writes"
        );
    }

    #[test]
    fn features_of_several_crates_come_together() {
        let mut asked = Asked::default();
        asked.add("a = { workspace = true, features = [\"x\", \"y\"], optional = true }");
        asked.add("a.workspace = true");
        asked.add("a = { workspace = true, features = [\"x\", \"z\"] }");
        assert_eq!(asked.line("a"), "a = { workspace = true, features = [\"x\", \"y\", \"z\"] }\n");
        let mut asked = Asked::default();
        asked.add("b = { version = \"4\", default-features = false, optional = true }");
        assert_eq!(asked.line("b"), "b = { version = \"4\", default-features = false }\n");
        let mut asked = Asked::default();
        asked.add("c = \"0.2\"");
        assert_eq!(asked.line("c"), "c = { version = \"0.2\" }\n");
    }

    #[test]
    fn sections_of_one_processor_are_left_out() {
        let manifest = "[dependencies]\n# a = 1\nb = \"1\"\n[target.'cfg(target_arch = \"x\")'.dependencies]\nc = \"1\"\n";
        let names: Vec<&str> =
            lines(manifest).filter(|(section, _)| is_for_all(section)).map(|(_, line)| key(line)).collect();
        assert_eq!(names, ["b"]);
    }
}
