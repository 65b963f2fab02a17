//! Links of pages to files of the project, and to headings in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::prose::{self, Layout};

/// The dead links of a page: the line, from 0, and the link.
pub(crate) fn dead(path: &Path, lines: &[&str]) -> Vec<(usize, String)> {
    let mut dead = Vec::new();
    for block in prose::blocks(lines) {
        if matches!(block.kind, Layout::Code | Layout::Drawing) {
            continue;
        }
        for line in block.lines {
            let broken = targets(lines[line]).into_iter().filter(|target| !exists(path, target));
            dead.extend(broken.map(|target| (line, target.to_owned())));
        }
    }
    dead
}

/// The targets of a line's links, except those on other hosts.
fn targets(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

fn exists(page: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        page.to_owned()
    } else {
        page.parent().map_or_else(PathBuf::new, |folder| folder.join(file))
    };
    if heading.is_empty() {
        return path.exists();
    }
    fs::read_to_string(path).is_ok_and(|text| headings(&text).iter().any(|found| found == heading))
}

/// The anchors of a page's headings.
fn headings(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let blocks = prose::blocks(&lines).into_iter().filter(|block| block.kind == Layout::Kept);
    let headings = blocks.filter_map(|block| lines[block.lines.start].strip_prefix('#'));
    headings.map(|heading| anchor(heading.trim_start_matches('#').trim())).collect()
}

/// The anchor of a heading in links: lower case, with hyphens, without other marks.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_headings_without_marks() {
        assert_eq!(anchor("Two parties: `two`, and *more*"), "two-parties-two-and-more");
        assert_eq!(headings("# A b\n```text\n# c\n```\n## D\n"), ["a-b", "d"]);
    }

    #[test]
    fn links_to_files_and_headings_are_tried() {
        let page = crate::tree::root().join("ARCHITECTURE.md");
        let text =
            "[a](CONTRIBUTING.md#errors) [b](CONTRIBUTING.md#no) [c](no.md) [d](https://no) [e](docs/dev)";
        assert_eq!(
            dead(&page, &[text, "```", "[f](no.md)", "```"]),
            [(0, "CONTRIBUTING.md#no".to_owned()), (0, "no.md".to_owned())]
        );
    }
}
