//! Finds several files by one name with `*` or `?` in it.

use crate::FileError;
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

/// Returns the files whose names match a pattern, in the order of their names. In the last part of
/// the path, `*` stands for any text and `?` for one character. A path without these, or one that
/// is an existing file, stands for itself.
///
/// # Errors
/// No file matches, or the folder cannot be read.
pub fn matching(pattern: &Path) -> Result<Vec<PathBuf>, FileError> {
    let name = pattern.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if !name.contains(['*', '?']) || pattern.exists() {
        return Ok(vec![pattern.to_owned()]);
    }
    let folder = pattern.parent().filter(|folder| *folder != Path::new(""));
    let listed = folder.unwrap_or(Path::new("."));
    let of = |e| FileError::io(listed, &e);
    let name: Vec<char> = name.chars().collect();
    let mut found: Vec<PathBuf> = vec![];
    for entry in fs::read_dir(listed).map_err(of)? {
        let entry = PathBuf::from(entry.map_err(of)?.file_name());
        let candidate: Vec<char> = entry.to_string_lossy().chars().collect();
        // Names that begin with a point are hidden files.
        if (name[0] == '.' || candidate.first() != Some(&'.')) && matches(&name, &candidate) {
            found.push(folder.map_or_else(|| entry.clone(), |folder| folder.join(&entry)));
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(FileError::new(pattern, None, "no file has such a name", "check the spelling"));
    }
    Ok(found)
}

/// Whether a name matches a pattern. After a mismatch, the last `*` takes one more character.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, of));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[of] => (at, of) = (at + 1, of + 1),
            _ => match star {
                Some((behind, taken)) => {
                    (at, of) = (behind, taken + 1);
                    star = Some((behind, taken + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_any_text() {
        let is = |pattern: &str, name: &str| {
            matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        for (pattern, name, wanted) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("a?.csv", "aé.csv", true),
            ("a?.csv", "a.csv", false),
            ("**", "", true),
            ("?", "", false),
        ] {
            assert_eq!(is(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn files_come_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", ".c.csv", "a.txt"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = matching(&dir.path().join("*.csv")).unwrap();
        assert_eq!(found, [dir.path().join("a.csv"), dir.path().join("b.csv")]);
        assert_eq!(matching(Path::new("x.csv")).unwrap(), [PathBuf::from("x.csv")]);
        assert!(matching(&dir.path().join("*.tsv")).is_err());
    }
}
