//! Finds a column by its name.

/// The place of a name among others.
#[derive(Debug, PartialEq)]
pub(crate) enum NameMatch {
    One(usize),
    Several,
    None,
}

/// Looks for a name as it is written, and then in other capital letters, as SQL does. If several
/// names differ from it in capital letters alone, none is meant.
pub(crate) fn named(names: &[impl AsRef<str>], name: &str) -> NameMatch {
    let name = name.trim();
    let mut alike = (0..names.len()).filter(|at| names[*at].as_ref() == name);
    match (alike.next(), alike.next()) {
        (Some(at), None) => return NameMatch::One(at),
        (Some(_), Some(_)) => return NameMatch::Several,
        (None, _) => {}
    }
    let name = name.to_lowercase();
    let mut near = (0..names.len()).filter(|at| names[*at].as_ref().to_lowercase() == name);
    match (near.next(), near.next()) {
        (Some(at), None) => NameMatch::One(at),
        _ => NameMatch::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_count_only_between_names_that_differ_in_them() {
        let names = ["id", "City", "a", "A", "x", "x", "ÜBER"];
        for (name, expected) in [
            ("id", NameMatch::One(0)),
            (" ID ", NameMatch::One(0)),
            ("city", NameMatch::One(1)),
            ("über", NameMatch::One(6)),
            ("a", NameMatch::One(2)),
            ("A", NameMatch::One(3)),
            ("x", NameMatch::Several),
            ("X", NameMatch::None),
            ("y", NameMatch::None),
        ] {
            assert_eq!(named(&names, name), expected, "{name}");
        }
    }
}
