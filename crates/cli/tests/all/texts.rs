//! The answers of commands to mistakes, word for word. The texts are in `tests/texts`, one file for
//! each subject, where they are reviewed. With `HUSHWIRE_WRITE_PAGES=1` the files are rewritten.
//!
//! A file has places, each of which is a separate directory:
//!
//! ```text
//! == a title
//! -- file.csv          a file of the place, whose lines are indented by two blanks
//!   id,mail
//! $ psi a.csv          a command, run in the place
//! => 2                 its exit code
//! > text               its standard output
//! ! error: …           its standard error
//! ```
//!
//! A command that fails leaves no file behind. `{here}` is the path of the place.

use crate::common::Place;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    thread,
};

/// The number of commands that run at the same time, each in another place.
const PLACES: usize = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts")
}

/// Runs the commands of one place again, and returns the text that the file should have.
fn played(text: &str) -> String {
    let place = Place::new();
    let here = place.at("").display().to_string();
    let here = here.trim_end_matches('/');
    let mut lines = text.lines().peekable();
    let mut played = String::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("-- ") {
            let mut content = String::new();
            while let Some(row) = lines.next_if(|row| row.starts_with("  ")) {
                content.push_str(&row[2..]);
                content.push('\n');
            }
            let _ = write!(played, "{line}\n{}", indented("  ", &content));
            put(&place, name, content.as_bytes());
        } else if let Some(command) = line.strip_prefix("$ ") {
            while lines.next_if(|row| ["=> ", "> ", "! "].iter().any(|mark| row.starts_with(mark))).is_some()
            {
            }
            let before = place.names();
            let ran = place.ran(command);
            let code = ran.code.map_or("killed".to_owned(), |code| code.to_string());
            let [out, err] = [&ran.out, &ran.err].map(|text| text.replace(here, "{here}"));
            let _ = write!(played, "{line}\n=> {code}\n{}{}", indented("> ", &out), indented("! ", &err));
            if ran.code != Some(0) {
                assert_eq!(place.names(), before, "{command}: it failed and left files");
            }
        } else {
            let _ = writeln!(played, "{line}");
        }
    }
    played
}

/// Makes a file or directory. A name that ends with `/` is a directory, and shares of keys are
/// readable by their owner only.
fn put(place: &Place, name: &str, content: &[u8]) {
    let path = place.at(name);
    let folder = if name.ends_with('/') { Some(path.as_path()) } else { path.parent() };
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.unwrap_or_else(|e| panic!("{name}: {e}"));
    if !name.ends_with('/') {
        place.put(name, content);
    }
}

fn indented(mark: &str, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

fn file_holds(name: &str) {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let starts = text.match_indices("== ").filter(|(at, _)| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    let mut starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let head = text[..starts.first().copied().unwrap_or(text.len())].to_owned();
    starts.push(text.len());
    let places: Vec<&str> = starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
    assert!(!places.is_empty(), "{name} has no places");
    let mut now = head;
    for some in places.chunks(PLACES) {
        let all: Vec<String> = thread::scope(|scope| {
            let running: Vec<_> = some.iter().map(|text| scope.spawn(|| played(text))).collect();
            running.into_iter().map(|one| one.join().unwrap_or_else(|_| panic!("{name}"))).collect()
        });
        now.extend(all);
    }
    if std::env::var_os("HUSHWIRE_WRITE_PAGES").is_some() {
        fs::write(&path, &now).unwrap_or_else(|e| panic!("{name}: {e}"));
        return;
    }
    let differs = now.lines().zip(text.lines()).position(|(now, before)| now != before);
    let line = differs.unwrap_or_else(|| now.lines().count().min(text.lines().count()));
    let [is, was] = [&now, &text].map(|text| text.lines().nth(line).unwrap_or("nothing"));
    assert!(
        now == text,
        "tests/texts/{name}, line {}:\n  was: {was}\n  is:  {is}\nreview it, then rewrite the file with HUSHWIRE_WRITE_PAGES=1",
        line + 1
    );
}

macro_rules! files {
    ($($name:ident $(if $feature:literal)?),*) => {
        $($(#[cfg(feature = $feature)])?
        #[test]
        fn $name() {
            file_holds(concat!(stringify!($name), ".txt"));
        })*

        #[test]
        fn every_file_has_its_test() {
            let mut found: Vec<String> = fs::read_dir(folder())
                .unwrap_or_else(|e| panic!("{e}"))
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            found.sort();
            assert_eq!(found, [$(concat!(stringify!($name), ".txt")),*]);
        }
    };
}

files!(commands, compute, infer if "nn", jobs, psi, query if "sql");
