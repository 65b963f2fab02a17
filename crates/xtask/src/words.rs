//! The check of house style: columns and words of comments and pages, names of types, and circles
//! of files.

use std::fmt;
use std::path::Path;

use crate::prose::{self, Fence, Layout};
use crate::source::{self, Comment};
use crate::{COLUMNS, circles, floors, links, names, tree};

/// The pseudo-crate of pages in Markdown.
const PAGES: &str = "docs";

/// The pseudo-crate of scripts, manifests and simulators.
const OTHERS: &str = "scripts";

/// The largest number of words of a sentence on the pages for users.
const SENTENCE: usize = 25;

/// The pages for users. A folder stands for all of its pages.
const USER_PAGES: [&str; 15] = [
    "README.md",
    "SECURITY.md",
    "docs/README.md",
    "docs/start.md",
    "docs/concepts.md",
    "docs/choosing.md",
    "docs/guide/",
    "docs/files.md",
    "docs/jobs.md",
    "docs/models.md",
    "docs/operating.md",
    "docs/psi.md",
    "docs/python.md",
    "docs/service.md",
    "docs/sql.md",
];

/// Words that made sentences hard to read, each with its replacement.
const RULES: &[Rule] = &[
    rule("without a word", "\"by default\", or \"silently\""),
    rule("so many", "\"this many\", or the number's name"),
    Rule { unless: &["that"], ..rule("said", "\"set\", \"given\", \"named\" or \"agreed\"") },
    rule("to be had", "\"available\""),
    Rule { unless: &["for", "in"], ..rule("stands", "\"is\", \"lies\" or \"comes\"") },
    Rule { unless: &["for", "in"], ..rule("stand", "\"are\", \"lie\" or \"come\"") },
    Rule { unless: &["course"], ..first("of", "the subject first, \"for each ...\" if need be") },
    first("as many", "the subject first, then the number"),
    first("none of", "the subject first, \"no ...\""),
    first("that of", "the noun"),
    first("those of", "the noun"),
];

struct Rule {
    words: &'static str,
    /// Whether the words are wrong only at the beginning of a sentence.
    first: bool,
    /// The words after which they are good English.
    unless: &'static [&'static str],
    instead: &'static str,
}

const fn rule(words: &'static str, instead: &'static str) -> Rule {
    Rule { words, first: false, unless: &[], instead }
}

const fn first(words: &'static str, instead: &'static str) -> Rule {
    Rule { words, first: true, unless: &[], instead }
}

/// A place that breaks a rule.
struct Finding {
    path: String,
    /// The line, from 1.
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Checks some crates and pages, or everything. Names of types are compared only among all crates.
pub(crate) fn check(given: &[&str]) -> Result<(), String> {
    let places = if given.is_empty() { everything()? } else { named(given)? };
    let mut findings = Vec::new();
    for place in &places {
        findings.extend(styles(place)?.iter().map(Finding::to_string));
        findings.extend(circles_of(place)?);
        if place == PAGES {
            findings.extend(floors::wrong()?);
        }
    }
    if given.is_empty() {
        findings.extend(names::shared()?);
    }
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        println!("{finding}");
    }
    Err(format!(
        "{} places against docs/dev/style.md; `cargo xtask wrap FILE` wraps long lines",
        findings.len()
    ))
}

/// Prints the number of findings of each crate.
pub(crate) fn count() -> Result<(), String> {
    println!("{:<12} columns   words circles", "crate");
    let mut sums = [0; 3];
    for place in everything()? {
        let styles = styles(&place)?;
        let columns = styles.iter().filter(|finding| finding.what.contains("columns")).count();
        let counts = [columns, styles.len() - columns, circles_of(&place)?.len()];
        if counts != [0; 3] {
            println!("{place:<12} {:>7} {:>7} {:>7}", counts[0], counts[1], counts[2]);
        }
        sums = std::array::from_fn(|column| sums[column] + counts[column]);
    }
    println!("{:<12} {:>7} {:>7} {:>7}", "all", sums[0], sums[1], sums[2]);
    println!("names of types in more than {} crates: {}", names::MOST, names::shared()?.len());
    Ok(())
}

fn everything() -> Result<Vec<String>, String> {
    let mut places = tree::crates()?;
    places.extend([PAGES.into(), OTHERS.into()]);
    Ok(places)
}

fn named(given: &[&str]) -> Result<Vec<String>, String> {
    let name = |&place: &&str| if is_crate(place) { tree::directory(place) } else { Ok(place.into()) };
    given.iter().map(name).collect()
}

fn is_crate(place: &str) -> bool {
    place != PAGES && place != OTHERS
}

fn circles_of(place: &str) -> Result<Vec<String>, String> {
    if is_crate(place) { circles::long(place) } else { Ok(Vec::new()) }
}

/// Checks columns and words of the comments of a crate or of scripts, and words and links of pages.
fn styles(place: &str) -> Result<Vec<Finding>, String> {
    let files = match place {
        PAGES => tree::pages()?,
        OTHERS => tree::others()?,
        _ => tree::crate_files(place)?,
    };
    let mut findings = Vec::new();
    for path in files {
        let text = tree::read(&path)?;
        let found = if place == PAGES {
            of_page(&path, &text)
        } else {
            of_comments(&source::comments(&path, &text), is_own(&path))
        };
        let path = tree::short(&path);
        findings.extend(found.into_iter().map(|(line, what)| Finding { path: path.clone(), line, what }));
    }
    Ok(findings)
}

/// Whether a file has to contain the words that it looks for.
fn is_own(path: &Path) -> bool {
    path.ends_with(file!())
}

/// The lines, from 1, and their faults.
fn of_comments(comments: &[Comment], own: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for comment in comments {
        let columns = comment.column + comment.marker.len() + comment.text.chars().count();
        // The marker of a block comment is part of its text. An address cannot be wrapped.
        let columns = if comment.marker == "/*" { columns - 2 } else { columns };
        if columns > COLUMNS && comment.text.split_whitespace().count() > 1 {
            found.push((comment.line + 1, format!("a comment of {columns} columns; {COLUMNS} are allowed")));
        }
    }
    if own {
        return found;
    }
    let (mut fence, mut before) = (None, None);
    for text in source::texts(comments) {
        fence = source::goes_on(before, text, fence);
        before = Some(text);
        let first = text[0].line + 1;
        found.extend(
            words(&source::prose(text), &mut fence).into_iter().map(|(line, what)| (first + line, what)),
        );
    }
    found.sort();
    found
}

fn of_page(path: &Path, text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let dead = links::dead(path, &lines).into_iter();
    let dead = dead.map(|(line, target)| (line, format!("the link to {target} leads nowhere")));
    let short = tree::short(path);
    let is_for_users =
        USER_PAGES.iter().any(|page| short == *page || page.ends_with('/') && short.starts_with(page));
    let long = if is_for_users { long_sentences(&lines) } else { Vec::new() };
    let found = words(&lines, &mut None).into_iter().chain(long).chain(dead);
    found.map(|(line, what)| (line + 1, what)).collect()
}

/// Sentences with too many words, not counting text in backticks: the line, from 0, and the number.
fn long_sentences(lines: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for block in prose::blocks(lines) {
        if matches!(block.kind, Layout::Code | Layout::Drawing) {
            continue;
        }
        let (mut line, mut count) = (block.lines.start, 0);
        let mut end = |line, count| {
            if count > SENTENCE {
                found.push((line, format!("a sentence of {count} words; {SENTENCE} are allowed here")));
            }
        };
        for word in split(lines, block.lines) {
            if word.is_first {
                end(line, count);
                (line, count) = (word.line, 0);
            }
            count += usize::from(!word.text.is_empty());
        }
        end(line, count);
    }
    found
}

/// A word of prose, in lower case and without punctuation, and its place.
struct Token {
    text: String,
    line: usize,
    /// Whether the word before it ends a sentence or a cell.
    is_first: bool,
    begins_a_sentence: bool,
}

/// The words that break the rules: the line, from 0, and the rule.
fn words(lines: &[&str], fence: &mut Fence) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for block in prose::blocks_within(lines, fence) {
        if block.kind == Layout::Code {
            continue;
        }
        let words = split(lines, block.lines);
        for at in 0..words.len() {
            for rule in RULES.iter().filter(|rule| breaks(rule, &words[at..])) {
                found.push((words[at].line, format!("\"{}\": write {}", rule.words, rule.instead)));
            }
        }
    }
    found
}

fn breaks(rule: &Rule, words: &[Token]) -> bool {
    let wanted: Vec<&str> = rule.words.split(' ').collect();
    let same = wanted.len() <= words.len()
        && wanted.iter().zip(words).all(|(&wanted, word)| word.text == wanted)
        && (!rule.first || words[0].begins_a_sentence);
    let next = words.get(wanted.len()).map(|word| word.text.as_str());
    same && !next.is_some_and(|next| rule.unless.contains(&next))
}

/// The words of a block, without text between backticks or double quotes.
fn split(lines: &[&str], range: std::ops::Range<usize>) -> Vec<Token> {
    let mut words = Vec::new();
    let mut quoted = None;
    let mut ended = true;
    for line in range {
        for raw in lines[line].split_whitespace() {
            if prose::is_item_marker(raw) || raw.chars().all(|rule| matches!(rule, '|' | '#')) {
                ended = true;
                continue;
            }
            let mut plain = String::new();
            for character in raw.chars() {
                match quoted {
                    Some(end) if character == end => quoted = None,
                    Some(_) => {}
                    None if matches!(character, '`' | '"') => quoted = Some(character),
                    None => plain.push(character),
                }
            }
            let text: String = plain.trim_matches(|edge: char| !edge.is_alphanumeric()).to_lowercase();
            let capital = plain.chars().find(|letter| letter.is_alphabetic()).is_some_and(char::is_uppercase);
            words.push(Token { text, line, is_first: ended, begins_a_sentence: ended && capital });
            ended = plain.trim_end_matches(['*', ')', '"']).ends_with(['.', ':', '?', '!', ';']);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let rules = of_comments(&source::comments(Path::new("a.rs"), text), false).into_iter();
        rules.map(|(line, what)| (line, what.split('"').nth(1).unwrap_or("columns").into())).collect()
    }

    #[test]
    fn words_are_found_across_lines_and_with_their_line() {
        let text =
            "/// The default is taken without\n/// a word. Of each row, the tag.\nfn f() {} // as said\n";
        let expected = [(1, "without a word"), (2, "of"), (3, "said")];
        assert_eq!(found(text), expected.map(|(line, words)| (line, words.to_owned())));
    }

    #[test]
    fn good_english_passes() {
        for text in [
            "// `said` stands for a number, \"so many\" for another; it understands of each row.",
            "// Of course, as many rows as columns.",
            "// ```\n// stands\n// ```",
            "let a = \"said\";",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn fronted_words_are_wrong_in_lists_and_after_colons() {
        for text in [
            "//! - Of these, one.",
            "// One: Of these.",
            "// | Of these |",
            "// ```text\n// a   Of it\n// ```",
        ] {
            assert_eq!(found(text).len(), usize::from(!text.contains("text")), "{text}");
        }
        assert_eq!(found("// ```text\n// a   it stands there\n// ```"), [(2, "stands".to_owned())]);
    }

    #[test]
    fn sentences_are_counted_across_lines_and_cell_by_cell() {
        let lines = |words: usize| format!("Begin here.\n{}\n{} end.", "a ".repeat(words), "`b` c");
        let long = |text: &str| long_sentences(&text.lines().collect::<Vec<_>>());
        assert_eq!(long(&lines(SENTENCE - 2)), []);
        assert_eq!(
            long(&lines(SENTENCE - 1)),
            [(1, "a sentence of 26 words; 25 are allowed here".to_owned())]
        );
        let row = format!("| {} | {} |", "a ".repeat(SENTENCE), "b ".repeat(SENTENCE));
        assert_eq!(long(&format!("{row}\n```sh\n{}\n```", "c ".repeat(40))), []);
    }

    #[test]
    fn columns_count_characters_and_addresses_pass() {
        let fits = format!("// {}", "→ ".repeat(48));
        assert_eq!(found(&format!("{fits}→")), []);
        assert_eq!(found(&format!("{fits}→→→")).len(), 1);
        assert_eq!(found(&format!("// https://{}", "a".repeat(100))), []);
        assert_eq!(found(&format!("let a = 1; {fits}")).len(), 1);
        assert_eq!(found(&format!("let a = \"{fits}\";")), []);
    }

    #[test]
    fn every_rule_finds_its_own_words() {
        for rule in RULES {
            let mut words = rule.words.to_owned();
            words[..1].make_ascii_uppercase();
            let findings = found(&format!("// {words} it."));
            assert!(findings.iter().any(|(_, found)| found == rule.words), "{}", rule.words);
        }
    }
}
