//! Formats Markdown for a terminal: the part of Markdown that the pages use.

use anstyle::Style;
use std::fmt::Write;

const STRONG: Style = Style::new().bold();
const TITLE: Style = Style::new().bold().underline();

/// Formats a page for a terminal of `width` columns.
pub(super) fn text(markdown: &str, width: usize) -> String {
    let (mut out, mut paragraph, mut table, mut is_code, mut is_comment) =
        (String::new(), String::new(), vec![], false, false);
    for line in markdown.lines().chain([""]) {
        if line.starts_with("```") {
            end(&mut out, &mut paragraph, width);
            is_code = !is_code;
            continue;
        }
        if is_code {
            put(&mut out, &format!("    {line}"));
            continue;
        }
        is_comment |= line.starts_with("<!--");
        if is_comment {
            is_comment = !line.ends_with("-->");
            continue;
        }
        if line.starts_with('|') {
            end(&mut out, &mut paragraph, width);
            table.push(cells(line));
            continue;
        }
        if !table.is_empty() {
            put_table(&mut out, &std::mem::take(&mut table), width);
        }
        let level = line.bytes().take_while(|b| *b == b'#').count();
        if (1..=4).contains(&level) && line[level..].starts_with(' ') {
            end(&mut out, &mut paragraph, width);
            let style = if level == 1 { TITLE } else { STRONG };
            put(&mut out, &format!("{style}{}{style:#}", inline(line[level..].trim())));
            continue;
        }
        if line.trim().is_empty() {
            end(&mut out, &mut paragraph, width);
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
            continue;
        }
        if item(line).is_some() {
            end(&mut out, &mut paragraph, width);
        }
        if paragraph.is_empty() {
            line.trim_end().clone_into(&mut paragraph);
        } else {
            paragraph.push(' ');
            paragraph.push_str(line.trim());
        }
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    out.push('\n');
    out
}

fn put(out: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Returns the number of columns before the text of a list item; `None` for another line.
fn item(line: &str) -> Option<usize> {
    let blank = line.len() - line.trim_start().len();
    let rest = &line[blank..];
    let mark = match rest.split_once(' ')?.0 {
        "*" | "-" => 1,
        number if number.ends_with('.') && number[..number.len() - 1].parse::<u8>().is_ok() => number.len(),
        _ => return None,
    };
    Some(blank + mark + 1)
}

/// Writes a paragraph or a list item at its end. The lines of an item are indented to the text
/// after its mark.
fn end(out: &mut String, paragraph: &mut String, width: usize) {
    if paragraph.is_empty() {
        return;
    }
    let hang = item(paragraph).unwrap_or(0);
    let (mark, rest) = paragraph.split_at(hang);
    let lines = wrapped(&inline(rest), width.saturating_sub(hang).max(20));
    for (i, line) in lines.iter().enumerate() {
        let before = if i == 0 { mark.to_owned() } else { " ".repeat(hang) };
        put(out, &format!("{before}{line}"));
    }
    paragraph.clear();
}

/// Returns the number of columns that text takes; styles take none.
fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (vec![], String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Splits a table's row into cells. A bar after a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut is_escaped) = (vec![], String::new(), false);
    for c in line.trim().trim_start_matches('|').chars() {
        match c {
            '\\' if !is_escaped => is_escaped = true,
            '|' if !is_escaped => all.push(std::mem::take(&mut cell).trim().to_owned()),
            c => {
                if is_escaped && c != '|' {
                    cell.push('\\');
                }
                cell.push(c);
                is_escaped = false;
            }
        }
    }
    if !cell.trim().is_empty() {
        all.push(cell.trim().to_owned());
    }
    all.iter().map(|cell| inline(cell)).collect()
}

/// Writes a table in columns. A table that is wider than the terminal is written row by row.
fn put_table(out: &mut String, rows: &[Vec<String>], width: usize) {
    let is_rule = |row: &&Vec<String>| row.iter().all(|cell| cell.bytes().all(|b| matches!(b, b'-' | b':')));
    let rows: Vec<&Vec<String>> = rows.iter().filter(|row| !is_rule(row)).collect();
    let count = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let widest =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let pad = |cell: &str, to: usize| format!("{cell}{}", " ".repeat(to.saturating_sub(columns(cell))));
    if widths.iter().sum::<usize>() + 2 * count <= width {
        for (i, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, to)| pad(cell, *to)).collect();
            let line = cells.join("  ");
            let line = line.trim_end();
            put(out, &if i == 0 { format!("{STRONG}{line}{STRONG:#}") } else { line.to_owned() });
        }
        return;
    }
    let Some((head, rows)) = rows.split_first() else { return };
    for row in rows {
        let mut cells = row.iter().zip(head.iter());
        let Some((first, _)) = cells.next() else { continue };
        wrapped(first, width).iter().for_each(|line| put(out, &format!("{STRONG}{line}{STRONG:#}")));
        for (cell, name) in cells.filter(|(cell, _)| !cell.is_empty()) {
            let text = if count == 2 || name.is_empty() { cell.clone() } else { format!("{name}: {cell}") };
            wrapped(&text, width.saturating_sub(4).max(20))
                .iter()
                .for_each(|line| put(out, &format!("    {line}")));
        }
    }
}

/// Formats text within a line: links become their words, and strong words become bold. Code stays
/// as it is.
pub(super) fn inline(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['`', '[', '*']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('`') {
            let end = rest[1..].find('`').map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        if let Some(inner) = rest.strip_prefix("**")
            && let Some(end) = inner.find("**")
        {
            let _ = write!(out, "{STRONG}{}{STRONG:#}", inline(&inner[..end]));
            rest = &inner[end + 2..];
            continue;
        }
        if let Some((words, target, behind)) = link(rest) {
            let words = inline(words);
            if out.ends_with('!') {
                // A terminal shows a picture as its words.
                out.pop();
            }
            let page = target.split('#').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            out.push_str(&words);
            match () {
                () if target.starts_with("http") && words != target => {
                    let _ = write!(out, " ({target})");
                }
                () if page.ends_with(".md") && !words.contains(page) => {
                    let _ = write!(out, " ({page})");
                }
                () => {}
            }
            rest = behind;
            continue;
        }
        let (first, behind) = rest.split_at(1);
        out.push_str(first);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Splits a text that begins with a link into the link's words, its target, and the rest.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (words, behind) = text.strip_prefix('[')?.split_once("](")?;
    let (target, rest) = behind.split_once(')')?;
    (!words.contains('\n') && !target.contains(' ')).then_some((words, target, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help_cmd::pages::PAGES;

    fn plain(markdown: &str, width: usize) -> String {
        console::strip_ansi_codes(&text(markdown, width)).into_owned()
    }

    #[test]
    fn markdown_becomes_plain_text() {
        let page = "# Title\n\nA **strong** word, `a [b](c)`, [psi.md](psi.md#keys) and\n[keys](psi.md#keys).\n\n\
                    <!-- made -->\n* one item that is long enough to go over its line\n* two\n\n\
                    ```sh\nhushwire help   *x*\n```\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n";
        let wanted = "Title\n\nA strong word, `a [b](c)`, psi.md and keys\n(psi.md).\n\n\
                      * one item that is long enough to go over\n  its line\n* two\n\n    hushwire help   *x*\n\n\
                      a  b\n1  x | y\n";
        assert_eq!(plain(page, 43), wanted);
    }

    #[test]
    fn wide_tables_are_shown_row_by_row() {
        let page = "| key | what | default |\n|---|---|---|\n| `a` | some words that are long | 7 |\n";
        assert_eq!(plain(page, 30), "`a`\n    what: some words that are\n    long\n    default: 7\n");
    }

    #[test]
    fn every_page_fits_the_terminal() {
        for page in &PAGES {
            let shown = plain(page.text, 100);
            assert!(shown.len() > 500, "{}", page.topic);
            let prose = shown.lines().filter(|line| !line.starts_with("    ") && line.contains(' '));
            for line in prose {
                // A word may be longer than a line.
                let longest = line.split(' ').map(columns).max().unwrap_or(0);
                assert!(columns(line) <= 100.max(longest + 8), "{}: {line}", page.topic);
            }
        }
    }
}
