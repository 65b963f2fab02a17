//! The near one, for a word that is not known.

use strsim::osa_distance;

/// The candidate that may have been meant with `word`, a typing error away, if any is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let limit = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    let near = candidates.into_iter().map(|c| (osa_distance(&word.to_lowercase(), &c.to_lowercase()), c));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// `did you mean X?`, or all that there are.
pub fn remedy(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "leave it out".to_owned(),
        None => format!("there are {}", list(candidates)),
    }
}

/// `a`, `b` and `c`.
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
