//! The file `wire.digests`: a digest of each protocol's bytes on the wire, so that a reviewer sees
//! every change.

use crate::backends;
use crate::trace::{SentTraffic, Trace};
use hushwire_aes::Backend;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;

/// The file, from the root of the workspace.
const FILE: &str = "crates/testkit/wire.digests";
/// The environment variable that makes tests write their sections instead of comparing them.
const WRITE: &str = "HUSHWIRE_WIRE_DIGESTS";

/// A line's key: the protocol and the party.
type LineKey = (String, String);
/// The rest of each line, by the line's key.
type Lines = BTreeMap<LineKey, String>;

/// The protocols of one section of the file. One test runs all of them.
///
/// ```no_run
/// # use hushwire_testkit::{Digests, Trace};
/// let mut section = Digests::section("toys");
/// section.run("toys/echo", |_backend| {
///     let trace = Trace::new();
///     trace.hear("asker", 0, b"hello");
///     trace
/// });
/// section.compare();
/// ```
pub struct Digests {
    section: &'static str,
    found: BTreeMap<LineKey, SentTraffic>,
}

impl Digests {
    /// Begins the section with this name, without runs.
    #[must_use]
    pub fn section(name: &'static str) -> Self {
        Digests { section: name, found: BTreeMap::new() }
    }

    /// Runs the protocol `name` on every backend of this CPU and checks that all send the same
    /// bytes. The name begins with the section's name and a slash.
    ///
    /// # Panics
    /// If the bytes differ, or the name belongs to another section or is repeated.
    pub fn run(&mut self, name: &str, run: impl Fn(Backend) -> Trace) {
        let trace = run(Backend::best());
        for backend in backends() {
            assert_eq!(run(backend), trace, "{name} sends other bytes on {backend:?}");
        }
        self.ran(name, &trace);
    }

    /// Adds the trace of a run of the protocol `name` that has no backend, or that was already
    /// compared on all backends.
    ///
    /// # Panics
    /// If the name belongs to another section or is repeated.
    pub fn ran(&mut self, name: &str, trace: &Trace) {
        let sent = trace.sent();
        let own = name.strip_prefix(self.section).is_some_and(|rest| rest.starts_with('/'));
        assert!(own && !name.contains(' '), "{name}: a name of section {} has no space", self.section);
        assert!(!sent.is_empty(), "{name}: nothing was sent");
        for (party, sent) in sent {
            assert!(!party.contains(' '), "{name}: party `{party}` has a space");
            let before = self.found.insert((name.to_owned(), party), sent);
            assert!(before.is_none(), "{name} came twice");
        }
    }

    /// Compares the runs with all lines of the section, or writes these lines if the environment
    /// variable is set.
    ///
    /// # Panics
    /// If a line differs, has no run, or is missing.
    pub fn compare(self) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire.digests");
        let found: Lines = self.found.into_iter().map(|(key, sent)| (key, sent.to_string())).collect();
        if std::env::var_os(WRITE).is_some_and(|how| how == "write") {
            return write(&path, self.section, found);
        }
        let (_, lines) = read(&path);
        let lines: Lines = lines.into_iter().filter(|(key, _)| section_of(key) == self.section).collect();
        let differences = differences(&lines, &found);
        assert!(differences.is_empty(), "{}", report(self.section, &differences));
    }
}

fn section_of((name, _): &LineKey) -> &str {
    name.split_once('/').map_or(name, |(section, _)| section)
}

/// Reads the lines of the head, and the other lines.
fn read(path: &Path) -> (String, Lines) {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{FILE}: {e}"));
    let (mut head, mut lines) = (String::new(), Lines::new());
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            head.push_str(line);
            head.push('\n');
            continue;
        }
        let parts: Vec<_> = line.splitn(3, ' ').collect();
        let [name, party, rest] = parts[..] else { panic!("{FILE}, line {}: `{line}`", number + 1) };
        let before = lines.insert((name.to_owned(), party.to_owned()), rest.to_owned());
        assert!(before.is_none(), "{FILE}, line {}: {name} {party} comes twice", number + 1);
    }
    (head, lines)
}

/// Replaces a section's lines by `found`. The file is locked, because the tests of several sections
/// may run at the same time.
fn write(path: &Path, section: &str, found: Lines) {
    let file = File::open(path).unwrap_or_else(|e| panic!("{FILE}: {e}"));
    file.lock().unwrap_or_else(|e| panic!("{FILE}: {e}"));
    let (mut text, mut lines) = read(path);
    lines.retain(|key, _| section_of(key) != section);
    lines.extend(found);
    for ((name, party), rest) in lines {
        text.push_str(&format!("{name} {party} {rest}\n"));
    }
    fs::write(path, text).unwrap_or_else(|e| panic!("{FILE}: {e}"));
}

/// The differences between the file and the runs, for people.
fn differences(lines: &Lines, found: &Lines) -> String {
    let mut text = String::new();
    let mut say = |what: &str, (name, party): &LineKey, old: Option<&String>, new: Option<&String>| {
        let none = "none".to_owned();
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        let _ = write!(text, "\n  {name} {party}: {what}\n    file: {old}\n    run:  {new}");
    };
    for (key, new) in found {
        match lines.get(key) {
            Some(old) if old == new => {}
            Some(old) => say("sends other bytes", key, Some(old), Some(new)),
            None => say("has no line", key, None, Some(new)),
        }
    }
    for (key, old) in lines.iter().filter(|(key, _)| !found.contains_key(*key)) {
        say("has a line and no run", key, Some(old), None);
    }
    text
}

fn report(section: &str, differences: &str) -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "CRATE".to_owned());
    format!(
        "the bytes on the wire of `{section}` are not those of {FILE}:{differences}\n(messages, bytes, digest)\n\
         Parties that run this build no longer understand those that run the one before. If that is meant, raise the \
         protocol's version, say so under **Wire** in CHANGELOG.md, and write the lines anew:\n  \
         {WRITE}=write cargo test -p {package} those_of_the_file"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(all: &[(&str, &str, &str)]) -> Lines {
        let line = |(name, party, rest): &(&str, &str, &str)| {
            ((name.to_string(), party.to_string()), rest.to_string())
        };
        all.iter().map(line).collect()
    }

    #[test]
    fn every_difference_is_named_with_old_and_new() {
        let file = lines(&[("a/x", "0", "1 2 aa"), ("a/x", "1", "1 2 bb"), ("a/old", "0", "1 1 cc")]);
        let runs = lines(&[("a/x", "0", "1 2 aa"), ("a/x", "1", "1 3 dd"), ("a/new", "0", "1 1 ee")]);
        assert_eq!(differences(&file, &file), "");
        let all = differences(&file, &runs);
        for text in [
            "a/x 1: sends other bytes\n    file: 1 2 bb\n    run:  1 3 dd",
            "a/new 0: has no line\n    file: none\n    run:  1 1 ee",
            "a/old 0: has a line and no run\n    file: 1 1 cc\n    run:  none",
        ] {
            assert!(all.contains(text), "{all}");
        }
        assert!(!all.contains("a/x 0"), "{all}");
        let said = report("a", &all);
        assert!(
            said.contains(&all)
                && said.contains("HUSHWIRE_WIRE_DIGESTS=write cargo test -p hushwire-testkit")
        );
    }

    #[test]
    fn a_section_is_written_without_the_others() {
        let path = std::env::temp_dir().join(format!("wire.digests.{}", std::process::id()));
        fs::write(&path, "# head\na/x 0 1 2 aa\na/y 0 1 2 bb\nb/x 0 1 2 cc\n").unwrap();
        write(&path, "a", lines(&[("a/z", "1", "9 9 dd"), ("a/y", "0", "1 2 ee")]));
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(text, "# head\na/y 0 1 2 ee\na/z 1 9 9 dd\nb/x 0 1 2 cc\n");
    }

    #[test]
    fn order_on_a_stream_counts_and_order_of_streams_does_not() {
        let trace_of = |messages: &[(u64, &[u8])]| {
            let trace = Trace::new();
            messages.iter().for_each(|(stream, message)| trace.hear("a", *stream, message));
            trace.sent()["a"].to_string()
        };
        let first = trace_of(&[(0, b"x"), (0, b"y"), (1, b"z")]);
        assert!(first.starts_with("3 3 "));
        assert_eq!(trace_of(&[(1, b"z"), (0, b"x"), (0, b""), (0, b"y")]), first);
        for other in [
            trace_of(&[(0, b"y"), (0, b"x"), (1, b"z")]),
            trace_of(&[(0, b"xy"), (1, b"z")]),
            trace_of(&[(0, b"z"), (1, b"x")]),
        ] {
            assert_ne!(other, first);
        }
    }

    /// Without this test, a section whose test was removed would stay in the file unnoticed.
    #[test]
    fn every_section_has_one_test() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (mut files, mut sources) = (vec![crates], String::new());
        while let Some(path) = files.pop() {
            if path.is_dir() && !path.ends_with("target") {
                files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|end| end == "rs")
                && !path.ends_with("testkit/src/digests.rs")
            {
                sources.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
        let (_, lines) = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wire.digests"));
        let mut sections: Vec<_> = lines.keys().map(section_of).collect();
        sections.dedup();
        assert!(!sections.is_empty());
        for section in &sections {
            let tests = sources.matches(&format!("Digests::section(\"{section}\")")).count();
            assert_eq!(tests, 1, "section `{section}` of {FILE} has {tests} tests");
        }
        assert_eq!(
            sources.matches("Digests::section(").count(),
            sections.len(),
            "a test has no section in {FILE}"
        );
    }
}
