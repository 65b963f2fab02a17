//! Runs the commands of the documentation from the text of the pages, and compares their output
//! with the pages.
//!
//! Bash runs each block of a page whose fence names `sh`, in one directory for all blocks of the
//! page. Further words of the fence give options. `fails 4` expects that exit code, and `terminals`
//! starts all lines at once. `clone` is not run, because it builds the project. A block of `text`
//! directly after it is its standard output, or with `error` its standard error. There, `…` is any
//! text, and a line `…` is any number of lines.

use crate::common::{Place, Ran};
use hushwire_testkit::Port;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The page's first port, which the test replaces by a free one.
const SHOWN_PORT: &str = "127.0.0.1:7000";

/// A block of code: the words of its fence, its text, and whether only empty lines are between it
/// and the block before.
struct Block<'a> {
    words: Vec<&'a str>,
    text: String,
    follows: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut follows) = (Vec::<Block<'_>>::new(), false, false);
    for line in page.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(fence), false) => {
                blocks.push(Block { words: fence.split(' ').collect(), text: String::new(), follows });
                open = true;
            }
            (Some(_), true) => (open, follows) = (false, true),
            (None, true) => blocks.last_mut().expect("a block is open").text += &format!("{line}\n"),
            (None, false) => follows &= line.is_empty(),
        }
    }
    assert!(!open, "a block has no end");
    blocks
}

/// Returns whether a line matches the line on the page, in which `…` is any text.
fn line_fits(shown: &str, found: &str) -> bool {
    match shown.split_once('…') {
        None => shown == found,
        Some((before, after)) => found.strip_prefix(before).is_some_and(|rest| {
            let mut places = (0..=rest.len()).filter(|&at| rest.is_char_boundary(at));
            after.is_empty() || places.any(|at| line_fits(after, &rest[at..]))
        }),
    }
}

/// Returns whether lines match the lines on the page, where a line `…` is any number of lines.
fn lines_fit(shown: &[&str], found: &[&str]) -> bool {
    match shown.split_first() {
        None => found.is_empty(),
        Some((&"…", rest)) => (0..=found.len()).any(|skipped| lines_fit(rest, &found[skipped..])),
        Some((first, rest)) => found
            .split_first()
            .is_some_and(|(line, others)| line_fits(first, line) && lines_fit(rest, others)),
    }
}

fn assert_shown(page: &str, shown: &str, found: &str) {
    let lines = |text: &'_ str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (shown_lines, found_lines) = (lines(shown), lines(found));
    let fit = lines_fit(
        &shown_lines.iter().map(String::as_str).collect::<Vec<_>>(),
        &found_lines.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    assert!(fit, "{page} shows:\n{shown}\nthe command prints:\n{found}");
}

/// Runs the commands of a page. Returns the number of blocks that were run, and of outputs that
/// were compared.
fn run(page: &str) -> (usize, usize) {
    let text = fs::read_to_string(root().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let (place, ports) = (Place::new(), Port::row::<12>());
    let examples = fs::canonicalize(root().join("examples")).unwrap_or_else(|e| panic!("examples: {e}"));
    std::os::unix::fs::symlink(examples, place.at("examples")).unwrap_or_else(|e| panic!("{e}"));
    let port = ports[0].number();
    let bash = |script: &str| {
        let mut command = place.beside_hushwire("bash");
        command.args(["-euo", "pipefail", "-c", script]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let (mut ran, mut compared) = (0, 0);
    let mut last: Option<Ran> = None;
    for block in blocks(&text) {
        let words: Vec<&str> = block.words.clone();
        match words.as_slice() {
            ["sh"] | ["sh", "fails", _] => {
                let code = words.get(2).map_or(0, |code| code.parse().expect("an exit code"));
                let output = bash(&free(&block.text, port)).output();
                let ended = Ran::new(output.unwrap_or_else(|e| panic!("{page}: {e}")));
                assert_eq!(ended.code, Some(code), "{page}:\n{}{}", block.text, ended.err);
                (ran, last) = (ran + 1, Some(ended));
            }
            ["sh", "terminals"] => {
                let lines: Vec<String> = free(&block.text, port).lines().map(str::to_owned).collect();
                last = Some(in_terminals(page, lines.iter().map(|line| bash(line)).collect()));
                ran += 1;
            }
            ["text"] | ["text", "error"] if block.follows => {
                if let Some(ended) = last.take() {
                    let found = if words.len() == 2 { ended.err } else { ended.out };
                    assert_shown(page, &block.text, &found);
                    compared += 1;
                }
            }
            ["sh", "clone"] => {}
            ["sh", ..] => panic!("{page}: how is a block run whose fence has the words {words:?}?"),
            _ => last = None,
        }
    }
    (ran, compared)
}

/// Replaces the first port of a rehearsal on the page by a free one.
fn free(script: &str, port: u16) -> String {
    let mut text = String::new();
    for line in script.lines() {
        text += &line.replace(SHOWN_PORT, &format!("127.0.0.1:{port}"));
        if line.starts_with("hushwire local files ") {
            text += &format!(" --port {port}");
        }
        text.push('\n');
    }
    text
}

/// Starts all commands at once, and returns their outputs one after the other.
fn in_terminals(page: &str, commands: Vec<Command>) -> Ran {
    let start = |mut command: Command| command.spawn().unwrap_or_else(|e| panic!("{page}: {e}"));
    let started: Vec<_> = commands.into_iter().map(start).collect();
    let mut all = Ran { code: Some(0), out: String::new(), err: String::new() };
    for child in started {
        let ended = Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{page}: {e}")));
        assert_eq!(ended.code, Some(0), "{page}: {}", ended.err);
        all.out += &ended.out;
        all.err += &ended.err;
    }
    all
}

#[test]
fn the_readme() {
    assert_eq!(run("README.md"), (1, 1));
}

#[test]
fn the_tutorial() {
    let (ran, compared) = run("docs/start.md");
    assert!(ran >= 8 && compared >= 6, "{ran} blocks, {compared} outputs");
}

#[test]
fn the_pages_of_concepts_and_protocols() {
    assert_eq!(run("docs/concepts.md"), (0, 0));
    assert_eq!(run("docs/choosing.md"), (1, 0));
}

#[test]
fn the_page_of_shards() {
    assert_eq!(run("docs/shards.md"), (5, 3));
}

#[test]
fn the_page_of_files() {
    assert_eq!(run("docs/files.md"), (2, 2));
}

/// The pages of tasks whose commands end within seconds.
const QUICK: [&str; 9] = [
    "authorise-jobs",
    "compute-numbers",
    "encrypt-file",
    "first-circuit",
    "join-csv",
    "match-customers",
    "oblivious-transfer",
    "run-unattended",
    "three-machines",
];

/// The pages of tasks whose commands take longer, with the least numbers of blocks and outputs.
const SLOW: [(&str, usize, usize); 2] = [("private-inference", 5, 2), ("serve-model", 2, 0)];

/// The pages whose commands need clusters. Tests of the Python package check the files that these
/// commands apply.
const OF_CLUSTERS: [&str; 1] = ["shards-on-clusters"];

/// The pages of tasks in Python, which tests of the Python package run.
const PYTHON: [&str; 1] = ["arrays-in-python"];

/// The pages whose commands need parties that stay up, which tests of the service run.
const OF_THE_SERVICE: [&str; 1] = ["operate-service"];

#[test]
fn the_pages_of_tasks() {
    for name in QUICK {
        let (ran, _) = run(&format!("docs/guide/{name}.md"));
        assert!(ran > 0, "{name} has no command");
    }
}

#[test]
#[ignore = "a network of 36 layers, three times"]
fn the_pages_of_long_tasks() {
    for (name, blocks, outputs) in SLOW {
        let (ran, compared) = run(&format!("docs/guide/{name}.md"));
        assert!(ran >= blocks && compared >= outputs, "{name}: {ran} blocks, {compared} outputs");
    }
}

#[test]
fn every_page_of_a_task_is_run() {
    let entries = fs::read_dir(root().join("docs/guide")).unwrap_or_else(|e| panic!("{e}")).flatten();
    let mut found: Vec<String> = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
        .collect();
    found.sort();
    let known = QUICK.into_iter().chain(SLOW.map(|(name, ..)| name)).chain(PYTHON);
    let known = known.chain(OF_THE_SERVICE).chain(OF_CLUSTERS);
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    assert_eq!(found, known);
}

#[test]
fn shown_lines_are_compared_but_for_what_is_left_out() {
    for (shown, found, fit) in [
        ("a b", "a b", true),
        ("a b", "a c", false),
        ("a …", "a ", true),
        ("a …", "a b", true),
        ("a … c", "a b c", true),
        ("a … c", "a b d", false),
        ("… c", "a c", true),
    ] {
        assert_eq!(line_fits(shown, found), fit, "{shown} and {found}");
    }
    assert!(lines_fit(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(!lines_fit(&["a", "…", "d"], &["a", "b", "c"]));
    assert!(!lines_fit(&["a"], &["a", "b"]));
}
