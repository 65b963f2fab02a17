//! The near one, for a word that is not known.

/// The candidate that may have been meant with `word`, a typing error away, if any is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let limit = if letters < 2 { 0 } else { (letters / 3).clamp(1, 3) };
    let near = candidates.into_iter().map(|c| (distance(&word.to_lowercase(), &c.to_lowercase()), c));
    near.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// `did you mean X?`, or all that there are.
pub(crate) fn remedy(word: &str, candidates: &[&str]) -> String {
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

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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

    proptest::proptest! {
        #[test]
        fn the_distance_is_one(a in "[a-c]{0,6}", b in "[a-c]{0,6}") {
            proptest::prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            proptest::prop_assert_eq!(distance(&a, &b) == 0, a == b);
            proptest::prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }
}
