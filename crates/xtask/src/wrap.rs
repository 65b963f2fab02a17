//! Wraps comments of sources, scripts and manifests, and paragraphs of Markdown, at 100 columns.
//!
//! A paragraph or an item of a list is refilled if one of its lines is too long. A legend has names
//! in one column and their meanings in the last one; a long meaning continues in its column.
//! Everything else keeps its lines: code, tables, drawings, headings, aligned lines, and paragraphs
//! that fit.

use std::fs;
use std::path::PathBuf;

use crate::COLUMNS;
use crate::prose::{self, Fence, Layout};
use crate::source::{self, Comment};
use crate::tree;

/// Wraps all comments of the project.
pub(crate) fn all() -> Result<(), String> {
    files(&tree::rust_files()?)?;
    files(&tree::others()?)
}

/// Wraps files in place, and prints those that have changed.
pub(crate) fn files(paths: &[PathBuf]) -> Result<(), String> {
    for path in paths {
        let text = tree::read(path)?;
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        let comments = source::comments(path, &text);
        let wrapped = if is_page { markdown(&text) } else { commented(&text, &comments) };
        if wrapped != text {
            fs::write(path, wrapped).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            println!("{}", tree::short(path));
        }
    }
    Ok(())
}

/// A file with its comments wrapped.
fn commented(text: &str, comments: &[Comment]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = Vec::new();
    let mut done = 0;
    let (mut fence, mut before) = (None, None);
    for text in source::texts(comments) {
        fence = source::goes_on(before, text, fence);
        before = Some(text);
        let first = &text[0];
        if !first.alone || first.marker == "/*" {
            continue;
        }
        out.extend(lines[done..first.line].iter().map(|&line| line.into()));
        done = first.line + text.len();
        let prefix = format!("{}{}", " ".repeat(first.column), first.marker);
        let room = COLUMNS - first.column - first.marker.len() - 1;
        for (kept, wrapped) in wrap(&source::prose(text), room, &mut fence) {
            match kept {
                Some(at) => out.push(format!("{prefix}{}", text[at].text)),
                None => out.push(format!("{prefix} {wrapped}")),
            }
        }
    }
    out.extend(lines[done..].iter().map(|&line| line.into()));
    finish(&out, text)
}

/// A page of Markdown with its paragraphs wrapped.
fn markdown(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wrapped: Vec<String> = wrap(&lines, COLUMNS, &mut None).into_iter().map(|(_, line)| line).collect();
    finish(&wrapped, text)
}

fn finish(lines: &[String], text: &str) -> String {
    let mut whole = lines.join("\n");
    if text.ends_with('\n') {
        whole.push('\n');
    }
    whole
}

/// Wraps lines at `room` columns; each result has its place among the old lines, if it is one of
/// them.
fn wrap(lines: &[&str], room: usize, fence: &mut Fence) -> Vec<(Option<usize>, String)> {
    let mut out = Vec::new();
    for block in prose::blocks_within(lines, fence) {
        let long = block.lines.clone().any(|at| lines[at].chars().count() > room);
        let hang = match block.kind {
            Layout::Paragraph if long => Some(0),
            Layout::Item(hang) if long => Some(hang),
            Layout::Drawing if long => meaning(lines[block.lines.start]),
            _ => None,
        };
        let Some(hang) = hang else {
            out.extend(block.lines.map(|at| (Some(at), lines[at].to_owned())));
            continue;
        };
        if block.kind == Layout::Drawing {
            let (names, meaning) = lines[block.lines.start].split_at(hang);
            let column = names.chars().count();
            let mut filled = Vec::new();
            fill(&[meaning], 0, 0, room - column, &mut filled);
            for (at, (_, line)) in filled.into_iter().enumerate() {
                let names = if at == 0 { names } else { &" ".repeat(column) };
                out.push((None, format!("{names}{line}")));
            }
            continue;
        }
        let mut begin = block.lines.start;
        for at in block.lines.clone() {
            let next = block.lines.end.min(at + 1);
            if next == block.lines.end || is_break(lines[at], lines[next], room) {
                let indent = if begin == block.lines.start { 0 } else { hang };
                fill(&lines[begin..next], indent, hang, room, &mut out);
                begin = next;
            }
        }
    }
    out
}

/// The byte at which the meaning begins in a line of a legend: the words after its last gap.
fn meaning(line: &str) -> Option<usize> {
    let begin = line.rfind("  ")? + 2;
    let (names, meaning) = line.split_at(begin);
    let plain = !line.chars().any(prose::is_drawing) && !meaning.starts_with(['#', '/']);
    let narrow = names.chars().count() <= COLUMNS / 2 && meaning.split(' ').count() > 3;
    (plain && narrow).then_some(begin)
}

/// Whether a line was ended on purpose: it ends a sentence although the next word would fit.
fn is_break(line: &str, next: &str, room: usize) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    line.ends_with(['.', ':', ';']) && line.chars().count() + 1 + word.chars().count() <= room
}

/// Fills lines with words. The first line keeps its own indentation; the others get `hang` spaces.
fn fill(lines: &[&str], indent: usize, hang: usize, room: usize, out: &mut Vec<(Option<usize>, String)>) {
    let first = lines[0];
    let own = first.len() - first.trim_start().len();
    let mut line = " ".repeat(own.max(indent));
    let mut empty = true;
    for word in words(&lines.join(" ")) {
        let fits = line.chars().count() + 1 + word.chars().count() <= room;
        if !empty && !fits {
            out.push((None, line));
            line = " ".repeat(hang);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    out.push((None, line));
}

/// The words of a text. Code between backticks is one word. A word that must not begin a line is
/// joined to the word before it.
fn words(text: &str) -> Vec<String> {
    // A backtick without a partner does not quote.
    let quotes = text.matches('`').count().is_multiple_of(2);
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if open || !may_begin_a_line(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.into()),
        }
        open ^= quotes && !word.matches('`').count().is_multiple_of(2);
    }
    words
}

/// Whether a word has no special meaning to Markdown at the beginning of a line.
fn may_begin_a_line(word: &str) -> bool {
    !(prose::is_item_marker(word)
        || word.starts_with(['#', '>', '|', '<', '~'])
        || word.starts_with("```")
        || word.starts_with("//")
        || word.contains("]:")
        || word.chars().all(|rule| matches!(rule, '-' | '=' | '*' | '_')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn rust(text: &str) -> String {
        commented(text, &source::comments(Path::new("a.rs"), text))
    }

    /// Wraps a text, and checks that wrapping it again changes nothing.
    fn wrapped(text: &str) -> String {
        let once = rust(text);
        assert_eq!(rust(&once), once);
        once
    }

    /// A paragraph of one line, `words` words of nine letters.
    fn long(words: usize) -> String {
        vec!["quotation"; words].join(" ")
    }

    #[test]
    fn a_long_paragraph_is_filled_to_the_last_column() {
        for indent in [0, 4, 11] {
            let space = " ".repeat(indent);
            let text = format!("{space}/// {}\n{space}/// end\nfn f() {{}}\n", long(30));
            let out = wrapped(&text);
            let lines: Vec<&str> = out.lines().collect();
            let per_line = (100 - indent - 4 + 1) / 10;
            assert_eq!(lines[0], format!("{space}/// {}", long(per_line)), "{indent}");
            assert!(lines.iter().all(|line| line.chars().count() <= 100));
            assert_eq!(lines[lines.len() - 2].split(' ').next_back(), Some("end"));
            // No word is lost or added.
            let words = |text: &str| text.split_whitespace().filter(|&word| word != "///").count();
            assert_eq!(words(&out), words(&text));
        }
    }

    #[test]
    fn what_fits_stays() {
        let text = "// one\n// two\nfn f() {\n    g(); // three\n}\n";
        assert_eq!(wrapped(text), text);
    }

    #[test]
    fn code_tables_drawings_headings_and_links_stay() {
        let long = long(12);
        for line in [
            format!("# {long}"),
            format!("| {long} |"),
            format!("[name]: {long}"),
            format!("aligned   {long}"),
            format!("{long} ──► right"),
            format!("    {long}"),
            format!("https://{}", long.replace(' ', "/")),
        ] {
            let text = format!("//! before\n//! {line}\n//! after\n");
            assert_eq!(wrapped(&text), text);
        }
        let text = format!("/// ```\n/// {long}\n/// ```\n");
        assert_eq!(wrapped(&text), text);
        let text = format!("const A: &str = \"\n// {long}\n\";\n");
        assert_eq!(wrapped(&text), text);
    }

    #[test]
    fn items_hang_and_labels_begin_lines() {
        let text = format!("//! - {}\n//! - short\n//! 10. {}\n", long(12), long(12));
        let (head, tail) = (long(9), long(3));
        let number = format!("//! 10. {head}\n//!     {tail}\n");
        assert_eq!(wrapped(&text), format!("//! - {head}\n//!   {tail}\n//! - short\n{number}"));
        let text = format!("// {}\n// SAFETY: {}\n", long(12), long(1));
        assert_eq!(wrapped(&text), format!("// {}\n// {}\n// SAFETY: {}\n", long(9), long(3), long(1)));
    }

    #[test]
    fn no_word_turns_into_a_marker() {
        for marker in ["-", "+", "1.", "#", "|", "=", "//"] {
            // The marker is where a new line would begin.
            let text = format!("/// {} {marker} {}\n", long(9), long(3));
            let out = wrapped(&text);
            assert!(!out.contains(&format!("/// {marker} ")), "{out}");
            assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
        }
    }

    #[test]
    fn code_within_a_line_is_one_word() {
        let text = format!("// {} `a b c d e f g h`, {}\n", long(9), long(1));
        assert_eq!(wrapped(&text), format!("// {}\n// `a b c d e f g h`, {}\n", long(9), long(1)));
    }

    #[test]
    fn a_line_that_ends_a_sentence_early_stays_the_last_of_it() {
        let text = format!("// Short.\n// {}\n", long(12));
        assert_eq!(wrapped(&text), format!("// Short.\n// {}\n// {}\n", long(9), long(3)));
    }

    #[test]
    fn code_from_another_file_ends_behind_it() {
        let text = format!("//! ```\n#![doc = include_str!(\"a.rs\")]\n//! ```\n//!\n//! {}\n", long(12));
        let out = wrapped(&text);
        assert!(out.ends_with(&format!("//!\n//! {}\n//! {}\n", long(9), long(3))), "{out}");
    }

    #[test]
    fn a_legends_meaning_goes_on_in_its_column() {
        let long = long(12);
        let text = format!(
            "//! ```text\n//! name → a  {long}\n//! x ──► y   {long}\n//! a = b     # {long}\n//! ```\n"
        );
        let (head, tail) = (&long[..79], &long[80..]);
        let out = wrapped(&text);
        let first: Vec<&str> = out.lines().skip(1).take(2).collect();
        assert_eq!(first, [format!("//! name → a  {head}"), format!("//!           {tail}")]);
        assert!(out.ends_with(text.split_once("//! x").unwrap().1), "{out}");
    }

    #[test]
    fn scripts_and_manifests_flow_too() {
        let text = format!("a = 1\n# {}\n[b]\n", long(12));
        let wrapped = commented(&text, &source::comments(Path::new("Cargo.toml"), &text));
        assert_eq!(wrapped, format!("a = 1\n# {}\n# {}\n[b]\n", long(9), long(3)));
    }

    #[test]
    fn markdown_flows_too() {
        let text = format!("# head\n\n{}\n\n* {}\n", long(12), long(12));
        let expected = format!("# head\n\n{}\n{}\n\n* {}\n  {}\n", long(10), long(2), long(9), long(3));
        assert_eq!(markdown(&text), expected);
        assert_eq!(markdown(&expected), expected);
    }
}
