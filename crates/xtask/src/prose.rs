//! Markdown text, cut into parts that may flow and parts that keep their lines.

use std::ops::Range;

/// Consecutive lines that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) lines: Range<usize>,
    pub(crate) kind: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Words that may flow from line to line.
    Paragraph,
    /// An item of a list, whose words are indented by this many spaces.
    Item(usize),
    /// A heading, a row of a table, a link's target, an empty line.
    Kept,
    /// A line of a drawing or a legend, in a fence of plain text.
    Drawing,
    /// A line of code, or the fence around it.
    Code,
}

/// An open fence: the text that ends it, and the layout of the lines in it.
pub(crate) type Fence = Option<(&'static str, Layout)>;

/// Cuts lines, without their comment markers, into blocks.
pub(crate) fn blocks(lines: &[&str]) -> Vec<Passage> {
    blocks_within(lines, &mut None)
}

/// As [`blocks`], for lines that may begin and end within a fence.
pub(crate) fn blocks_within(lines: &[&str], fence: &mut Fence) -> Vec<Passage> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        let trimmed = lines[at].trim();
        at += 1;
        let kind = if let Some((end, inside)) = *fence {
            if trimmed.starts_with(end) {
                *fence = None;
                Layout::Code
            } else {
                inside
            }
        } else if let Some(begin) = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence)) {
            let inside = if trimmed.ends_with("text") { Layout::Drawing } else { Layout::Code };
            *fence = Some((begin, inside));
            Layout::Code
        } else if let Some(hang) = item(lines[first]).filter(|_| !is_kept(lines[first])) {
            while at < lines.len() && !ends_line(lines[at - 1]) && continues(lines[at], hang) {
                at += 1;
            }
            Layout::Item(hang)
        } else if is_kept(lines[first]) || lines[first].starts_with(' ') {
            Layout::Kept
        } else {
            while at < lines.len() && !ends_line(lines[at - 1]) && continues(lines[at], 0) {
                at += 1;
            }
            Layout::Paragraph
        };
        blocks.push(Passage { lines: first..at, kind });
    }
    blocks
}

/// The column at which the text of a list's item begins, if the line is one.
pub(crate) fn item(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let text = line.trim_start();
    let marker = text.split(' ').next().unwrap_or_default();
    (is_item_marker(marker) && text.len() > marker.len()).then(|| indent + marker.len() + 1)
}

/// Whether a word at the beginning of a line makes it an item of a list.
pub(crate) fn is_item_marker(word: &str) -> bool {
    if matches!(word, "-" | "*" | "+") {
        return true;
    }
    let digits = word.trim_end_matches(['.', ')']);
    word.len() == digits.len() + 1 && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether a line is of a kind that keeps its place.
fn is_kept(line: &str) -> bool {
    let text = line.trim();
    text.is_empty()
        || line.ends_with("  ")
        || text.starts_with(['#', '|', '>', '<', '\t'])
        || is_link_target(text)
        || text.chars().all(|rule| matches!(rule, '-' | '=' | '*' | '_' | ' '))
        // Columns that were aligned by hand.
        || text.contains("  ")
        || text.chars().any(is_drawing)
}

fn is_link_target(text: &str) -> bool {
    text.starts_with('[') && text.split_once("]:").is_some_and(|(name, _)| !name[1..].contains(['[', ']']))
}

/// Boxes, lines and triangles; simple arrows are words of formulas.
pub(crate) fn is_drawing(character: char) -> bool {
    matches!(character, '\u{2500}'..='\u{25ff}')
}

/// Whether a line continues the words of the line before, whose text begins after `hang` spaces.
fn continues(line: &str, hang: usize) -> bool {
    let indent = line.len() - line.trim_start().len();
    let text = line.trim_start();
    (indent == 0 || indent == hang)
        && item(line).is_none()
        && !is_kept(line)
        && !text.starts_with("```")
        && !text.starts_with("~~~")
        && !is_lead(text)
}

/// A bold lead-in or a label, which begins a line of its own.
fn is_lead(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    let label = word.strip_suffix(':').unwrap_or_default();
    text.starts_with("**") || (label.len() > 3 && label.bytes().all(|letter| letter.is_ascii_uppercase()))
}

/// Whether Markdown breaks the line at its end.
fn ends_line(line: &str) -> bool {
    line.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(usize, Layout)> {
        let lines: Vec<&str> = text.lines().collect();
        blocks(&lines).into_iter().map(|block| (block.lines.len(), block.kind)).collect()
    }

    #[test]
    fn paragraphs_end_at_what_is_kept() {
        let text = "one\ntwo\n\n# head\nthree\n| a | b |\n[x]: y\nfour [x]: five\n**Lead.** six\nseven\nSAFETY: eight";
        let expected = [
            (2, Layout::Paragraph),
            (1, Layout::Kept),
            (1, Layout::Kept),
            (1, Layout::Paragraph),
            (1, Layout::Kept),
            (1, Layout::Kept),
            (1, Layout::Paragraph),
            (2, Layout::Paragraph),
            (1, Layout::Paragraph),
        ];
        assert_eq!(kinds(text), expected);
    }

    #[test]
    fn code_drawings_and_aligned_lines_keep_their_lines() {
        let text = "```text\nanything at all\n- not an item\n```\na   aligned\nx ──► y\n    indented";
        let code = (1, Layout::Code);
        let drawing = (1, Layout::Drawing);
        let kept = (1, Layout::Kept);
        assert_eq!(kinds(text), [code, drawing, drawing, code, kept, kept, kept]);
    }

    #[test]
    fn items_have_what_hangs_below_them() {
        let text = "- one\n  two\n- three\nfour\n12. five\n    six\n  * seven";
        let expected =
            [(2, Layout::Item(2)), (2, Layout::Item(2)), (2, Layout::Item(4)), (1, Layout::Item(4))];
        assert_eq!(kinds(text), expected);
    }
}
