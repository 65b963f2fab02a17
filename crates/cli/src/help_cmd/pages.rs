//! The pages of the documentation that are built into the program.

/// A page of the documentation.
pub(super) struct Page {
    pub(super) topic: &'static str,
    pub(super) text: &'static str,
}

/// Defines pages by their files in `crates/cli/pages`, which are links to the files of `docs`. So a
/// package of this crate contains them, too.
macro_rules! pages {
    ($($topic:literal),+ $(,)?) => {
        [$(Page { topic: $topic, text: include_str!(concat!("../../pages/", $topic, ".md")) }),+]
    };
}

pub(super) static PAGES: [Page; 35] = pages![
    "start",
    "concepts",
    "choosing",
    "join-csv",
    "match-customers",
    "private-inference",
    "serve-model",
    "encrypt-file",
    "compute-numbers",
    "files",
    "first-circuit",
    "oblivious-transfer",
    "arrays-in-python",
    "three-machines",
    "authorise-jobs",
    "run-unattended",
    "operate-service",
    "shards",
    "shards-on-clusters",
    "jobs",
    "sql",
    "sql-reference",
    "psi",
    "models",
    "python",
    "python-functions",
    "operations",
    "operators",
    "reports",
    "fields",
    "service",
    "operating",
    "security",
    "troubleshooting",
    "gallery",
];

/// Returns the page of a topic, in any form in which people write it: sql, sql.md, docs/sql.md.
pub(super) fn of(name: &str) -> Option<&'static Page> {
    let file = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let topic = file.strip_suffix(".md").unwrap_or(&file);
    PAGES.iter().find(|page| page.topic == topic)
}

/// Returns a heading in the form of links to it.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the level of a heading, and its text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let text = line.get(level..)?.strip_prefix(' ')?;
    (1..=4).contains(&level).then_some((level, text.trim()))
}

impl Page {
    /// Returns the headings outside of code blocks: the place of each in the text, its level and
    /// its words.
    fn marks(&self) -> impl Iterator<Item = (usize, usize, &'static str)> {
        let (mut at, mut is_code) = (0, false);
        self.text.split_inclusive('\n').filter_map(move |line| {
            let begin = at;
            at += line.len();
            is_code ^= line.starts_with("```");
            let (level, words) = heading(line.trim_end()).filter(|_| !is_code)?;
            Some((begin, level, words))
        })
    }

    /// Returns the page's headings, with their levels.
    pub(super) fn headings(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.marks().map(|(_, level, words)| (level, words))
    }

    /// Returns the page's sections, each up to the next heading.
    pub(super) fn sections(&self) -> Vec<(&'static str, &'static str)> {
        let marks: Vec<_> = self.marks().collect();
        let end = |i: usize| marks.get(i + 1).map_or(self.text.len(), |mark| mark.0);
        marks.iter().enumerate().map(|(i, mark)| (mark.2, &self.text[mark.0..end(i)])).collect()
    }

    /// Returns the section with a matching heading, and the sections below it. A heading that
    /// equals the words is preferred, then one that begins with them, then one that contains them.
    pub(super) fn section(&self, words: &str) -> Option<String> {
        let marks: Vec<_> = self.marks().collect();
        let wanted = anchor(words.trim_start_matches('#'));
        let name = |i: &usize| anchor(marks[*i].2);
        let all = || 0..marks.len();
        let found = all()
            .find(|i| name(i) == wanted)
            .or_else(|| all().find(|i| name(i).starts_with(&wanted)))
            .or_else(|| all().find(|i| name(i).contains(&wanted)))?;
        let (begin, level, _) = marks[found];
        let end =
            marks[found + 1..].iter().find(|mark| mark.1 <= level).map_or(self.text.len(), |mark| mark.0);
        Some(self.text[begin..end].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn topics_are_found_as_people_write_them() {
        for name in ["sql", "SQL", "sql.md", "docs/sql.md"] {
            assert_eq!(of(name).map(|page| page.topic), Some("sql"), "{name}");
        }
        assert!(of("sequel").is_none());
        let sql = of("sql").unwrap_or_else(|| panic!("there is a page on SQL"));
        let types = sql.section("types").unwrap_or_default();
        assert!(types.starts_with("## Types\n") && !types.contains("\n## "), "{types}");
        assert_eq!(sql.section("Typ"), Some(types));
        assert_eq!(sql.section("no such heading"), None);
    }

    /// Each page for users is a topic, and each topic is a link to its page.
    #[test]
    fn all_pages_for_users_are_topics() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut wanted = BTreeSet::from(["security".to_owned()]);
        for dir in ["docs", "docs/guide", "docs/reference"] {
            let entries = fs::read_dir(root.join(dir)).unwrap_or_else(|e| panic!("{dir}: {e}"));
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            let topics = names.filter_map(|name| {
                let topic = name.strip_suffix(".md")?;
                // A list that is generated from code may have the name of its page, such as sql and
                // sql-reference.
                let is_second = dir == "docs/reference" && root.join("docs").join(&name).exists();
                Some(if is_second { format!("{topic}-reference") } else { topic.to_owned() })
            });
            wanted.extend(topics);
        }
        // The page README is the list of pages, which `hushwire help` prints.
        wanted.remove("README");
        let found: BTreeSet<String> = PAGES.iter().map(|page| page.topic.to_owned()).collect();
        assert_eq!(found, wanted);
        for page in &PAGES {
            let link = Path::new(env!("CARGO_MANIFEST_DIR")).join("pages").join(format!("{}.md", page.topic));
            assert!(fs::read_link(&link).is_ok(), "{} is no link", link.display());
            assert!(page.headings().next().is_some_and(|(level, _)| level == 1), "{}", page.topic);
        }
    }
}
