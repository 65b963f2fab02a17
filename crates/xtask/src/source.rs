//! Splits a Rust file into lines of comment, and code without comments and strings.

use std::path::Path;

use crate::prose::Fence;

/// The part of a comment on one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// The line in the file, from 0.
    pub(crate) line: usize,
    /// The column of the marker, from 0, in characters.
    pub(crate) column: usize,
    /// `//`, `///`, `//!`, `#`, `##`, or `/*` for each line of a block comment.
    pub(crate) marker: &'static str,
    /// The text after the marker.
    pub(crate) text: String,
    /// Whether nothing but space precedes the marker.
    pub(crate) alone: bool,
}

/// The comments of a file, and the file with spaces in place of comments and of strings' contents.
pub(crate) struct Lexed {
    pub(crate) comments: Vec<Comment>,
    pub(crate) code: String,
}

impl Lexed {
    pub(crate) fn new(text: &str) -> Self {
        Lexer::new(text).run()
    }
}

/// The comments of a script or a manifest that are alone on their lines.
pub(crate) fn hashed(text: &str) -> Vec<Comment> {
    let mut comments = Vec::new();
    for (line, whole) in text.lines().enumerate() {
        let comment = whole.trim_start();
        let marker = if comment.starts_with("## ") { "##" } else { "#" };
        let rest = comment.strip_prefix(marker);
        if let Some(text) = rest.filter(|text| text.is_empty() || text.starts_with(' ')) {
            let column = whole.len() - comment.len();
            comments.push(Comment { line, column, marker, text: text.into(), alone: true });
        }
    }
    comments
}

/// The comments of a file, depending on its extension; a page has none.
pub(crate) fn comments(path: &Path, text: &str) -> Vec<Comment> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs" | "sv" | "cpp" | "hpp") => Lexed::new(text).comments,
        _ => hashed(text),
    }
}

/// Groups comments: those of one kind, alone on successive lines, in one column, are one text.
pub(crate) fn texts(comments: &[Comment]) -> Vec<&[Comment]> {
    let follows = |a: &Comment, b: &Comment| {
        a.alone && b.alone && a.line + 1 == b.line && a.marker == b.marker && a.column == b.column
    };
    comments.chunk_by(follows).collect()
}

/// The fence in which a text begins, given the fence in which the text before it ended. A text may
/// continue after a line or two of `#![doc = …]`.
pub(crate) fn goes_on(before: Option<&[Comment]>, text: &[Comment], fence: Fence) -> Fence {
    let last = before.and_then(<[Comment]>::last)?;
    let near = text[0].line - last.line <= 3 && text[0].marker == last.marker;
    fence.filter(|_| near && last.alone)
}

/// The prose of a text: its lines without the space that belongs to the marker.
pub(crate) fn prose(text: &[Comment]) -> Vec<&str> {
    text.iter().map(|comment| comment.text.strip_prefix(' ').unwrap_or(&comment.text)).collect()
}

struct Lexer {
    text: Vec<char>,
    at: usize,
    line: usize,
    /// The place of the first character of the line.
    start: usize,
    source: Lexed,
}

impl Lexer {
    fn new(text: &str) -> Self {
        let source = Lexed { comments: Vec::new(), code: String::with_capacity(text.len()) };
        Self { text: text.chars().collect(), at: 0, line: 0, start: 0, source }
    }

    fn run(mut self) -> Lexed {
        while self.at < self.text.len() {
            if self.sees("//") {
                self.line_comment();
            } else if self.sees("/*") {
                self.block_comment();
            } else if let Some(hashes) = self.raw_string() {
                self.string(Some(hashes));
            } else if self.text[self.at] == '"' {
                self.keep();
                self.string(None);
            } else if self.text[self.at] == '\'' {
                self.quote();
            } else {
                self.keep();
            }
        }
        self.source
    }

    fn sees(&self, what: &str) -> bool {
        let mut at = self.at;
        what.chars().all(|wanted| {
            at += 1;
            self.text.get(at - 1) == Some(&wanted)
        })
    }

    /// Takes one character as code.
    fn keep(&mut self) {
        let taken = self.text[self.at];
        self.source.code.push(taken);
        self.next(taken);
    }

    /// Takes one character that is not code; line ends are kept.
    fn blank(&mut self) {
        let taken = self.text[self.at];
        self.source.code.push(if taken == '\n' { '\n' } else { ' ' });
        self.next(taken);
    }

    fn next(&mut self, taken: char) {
        self.at += 1;
        if taken == '\n' {
            self.line += 1;
            self.start = self.at;
        }
    }

    fn comment(&mut self, from: usize, marker: &'static str, text: String) {
        let column = from - self.start;
        let alone = self.text[self.start..from].iter().all(|before| before.is_whitespace());
        self.source.comments.push(Comment { line: self.line, column, marker, text, alone });
    }

    fn line_comment(&mut self) {
        // A comment with four slashes is not documentation.
        let marker = if self.sees("//!") {
            "//!"
        } else if self.sees("///") && !self.sees("////") {
            "///"
        } else {
            "//"
        };
        let end = (self.at..self.text.len()).find(|&at| self.text[at] == '\n').unwrap_or(self.text.len());
        let text = self.text[self.at + marker.len()..end].iter().collect();
        self.comment(self.at, marker, text);
        while self.at < end {
            self.blank();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        let mut from = self.at;
        loop {
            if self.sees("/*") {
                depth += 1;
                self.blank();
                self.blank();
            } else if self.sees("*/") {
                depth -= 1;
                self.blank();
                self.blank();
            } else if self.at < self.text.len() && self.text[self.at] != '\n' {
                self.blank();
            }
            let ended = depth == 0 || self.at >= self.text.len();
            if ended || self.text[self.at] == '\n' {
                let text = self.text[from..self.at].iter().collect();
                self.comment(from, "/*", text);
                if ended {
                    return;
                }
                self.blank();
                from = self.at;
            }
        }
    }

    /// The number of hashes, if a raw string begins here. Takes the characters before its text.
    fn raw_string(&mut self) -> Option<usize> {
        let inside_a_name = self.at > 0 && is_word(self.text[self.at - 1]);
        let prefix = ["r", "br", "cr"].into_iter().find(|prefix| self.sees(prefix))?;
        let hashes = self.text[self.at + prefix.len()..].iter().take_while(|&&hash| hash == '#').count();
        let quote = self.at + prefix.len() + hashes;
        if inside_a_name || self.text.get(quote) != Some(&'"') {
            return None;
        }
        while self.at <= quote {
            self.keep();
        }
        Some(hashes)
    }

    /// Takes a string, from the character after its first quote on, up to and including its last
    /// one.
    fn string(&mut self, raw: Option<usize>) {
        let end = format!("\"{}", "#".repeat(raw.unwrap_or(0)));
        while self.at < self.text.len() && !self.sees(&end) {
            if raw.is_none() && self.text[self.at] == '\\' {
                self.blank();
            }
            if self.at < self.text.len() {
                self.blank();
            }
        }
        for _ in end.chars() {
            if self.at < self.text.len() {
                self.keep();
            }
        }
    }

    /// A character or a lifetime.
    fn quote(&mut self) {
        let escaped = self.text.get(self.at + 1) == Some(&'\\');
        if !escaped && self.text.get(self.at + 2) != Some(&'\'') {
            self.keep();
            return;
        }
        self.keep();
        if escaped {
            self.blank();
        }
        self.blank();
        // Escapes such as \u{..} are longer than one character.
        while self.at < self.text.len() && self.text[self.at] != '\'' {
            self.blank();
        }
        if self.at < self.text.len() {
            self.keep();
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<(usize, usize, &'static str, String, bool)> {
        let found = Lexed::new(text).comments.into_iter();
        found.map(|it| (it.line, it.column, it.marker, it.text, it.alone)).collect()
    }

    #[test]
    fn markers_lines_and_columns() {
        let text = "//! a\nfn f() {\n    // b\n    g(); // c\n}\n/// d\n//// e\n";
        let expected = [
            (0, 0, "//!", " a", true),
            (2, 4, "//", " b", true),
            (3, 9, "//", " c", false),
            (5, 0, "///", " d", true),
            (6, 0, "//", "// e", true),
        ];
        let expected = expected
            .map(|(line, column, marker, text, alone)| (line, column, marker, text.to_owned(), alone));
        assert_eq!(comments(text), expected);
    }

    #[test]
    fn strings_and_characters_hold_no_comments() {
        let text = r####"let a = "// no"; let b = r#"/* " no"#; let c = '"'; let d = '\''; let e: &'static str = b"\"//";"####;
        assert!(comments(text).is_empty());
        let code = Lexed::new(text).code;
        assert!(!code.contains("no") && code.contains("&'static str"), "{code}");
        assert_eq!(code.chars().count(), text.chars().count());
        assert_eq!(comments("let a = '\\u{2192}'; // yes").len(), 1);
        assert_eq!(comments("for r in \"r\" { } // yes").len(), 1);
    }

    #[test]
    fn scripts_have_hashes() {
        let found = hashed("#!/bin/sh\n# a\n    ## b\n#[c]\nd # e\n#\n");
        let found: Vec<_> =
            found.iter().map(|it| (it.line, it.column, it.marker, it.text.as_str())).collect();
        assert_eq!(found, [(1, 0, "#", " a"), (2, 4, "##", " b"), (5, 0, "#", "")]);
    }

    #[test]
    fn block_comments_nest_and_have_lines() {
        let found = comments("a /* one /* two */\n three */ b // four");
        let texts: Vec<_> = found.iter().map(|it| (it.0, it.3.as_str())).collect();
        assert_eq!(texts, [(0, "/* one /* two */"), (1, " three */"), (1, " four")]);
    }
}
