//! Suggests the nearest known word for an unknown one.

use std::fmt;
use strsim::osa_distance;

/// The nearest candidate to `word`, if one is near enough to be a typing error.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let limit = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    let near = candidates.into_iter().map(|c| (osa_distance(&word.to_lowercase(), &c.to_lowercase()), c));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// The text `did you mean X?`, or a list of all candidates.
pub fn remedy(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "leave it out".to_owned(),
        None => format!("there are {}", list(candidates)),
    }
}

/// The error for a name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    cause: String,
    remedy: Option<String>,
    /// Whether the remedy is a name that may have been meant.
    is_near: bool,
}

impl Unknown {
    /// Makes the error for `word`, which is not among `names`.
    #[must_use]
    pub fn among(cause: String, word: &str, names: &[&str]) -> Self {
        let is_near = nearest(word, names.iter().copied()).is_some();
        Self { cause, remedy: Some(remedy(word, names)), is_near }
    }

    /// Makes an error with this cause and this remedy.
    #[must_use]
    pub fn with(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: Some(remedy.into()), is_near: false }
    }
}

impl From<String> for Unknown {
    fn from(cause: String) -> Self {
        Self { cause, remedy: None, is_near: false }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.remedy {
            Some(remedy) => write!(f, "{}; {remedy}", self.cause),
            None => f.write_str(&self.cause),
        }
    }
}

impl std::error::Error for Unknown {}

/// An error in the text of a file.
pub trait Misread: fmt::Display {
    /// The cause and the remedy, if the remedy is a name that may have been meant.
    fn near(&self) -> Option<(&str, &str)> {
        None
    }
}

impl Misread for String {}

impl Misread for &str {}

impl Misread for Unknown {
    fn near(&self) -> Option<(&str, &str)> {
        self.remedy.as_deref().filter(|_| self.is_near).map(|remedy| (self.cause.as_str(), remedy))
    }
}

/// Joins names, as `a`, `b` and `c`.
fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<_> = most.iter().map(|w| format!("`{w}`")).collect();
            format!("{} and `{last}`", most.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["protocol", "circuit", "circuit-file", "instances"];
        for (word, near) in [
            ("protcol", Some("protocol")),
            ("Protocol", Some("protocol")),
            ("circiut", Some("circuit")),
            ("circuit_file", Some("circuit-file")),
            ("instance", Some("instances")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), near, "{word}");
        }
        assert_eq!(remedy("x", &["a", "b", "c"]), "there are `a`, `b` and `c`");
    }
}
