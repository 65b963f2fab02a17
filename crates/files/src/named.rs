//! Finds a column by its name.

/// The place of a name among others.
#[derive(Debug, PartialEq)]
pub(crate) enum Named {
    One(usize),
    Several,
    None,
}

/// Looks for a name as it is written, and then in other capital letters, as SQL does. Of several
/// names that differ in capital letters alone, none is meant.
pub(crate) fn named(names: &[impl AsRef<str>], name: &str) -> Named {
    let name = name.trim();
    let mut alike = (0..names.len()).filter(|at| names[*at].as_ref() == name);
    match (alike.next(), alike.next()) {
        (Some(at), None) => return Named::One(at),
        (Some(_), Some(_)) => return Named::Several,
        (None, _) => {}
    }
    let name = name.to_lowercase();
    let mut near = (0..names.len()).filter(|at| names[*at].as_ref().to_lowercase() == name);
    match (near.next(), near.next()) {
        (Some(at), None) => Named::One(at),
        _ => Named::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_count_only_between_names_that_differ_in_them() {
        let names = ["id", "City", "a", "A", "x", "x", "ÜBER"];
        for (name, expected) in [
            ("id", Named::One(0)),
            (" ID ", Named::One(0)),
            ("city", Named::One(1)),
            ("über", Named::One(6)),
            ("a", Named::One(2)),
            ("A", Named::One(3)),
            ("x", Named::Several),
            ("X", Named::None),
            ("y", Named::None),
        ] {
            assert_eq!(named(&names, name), expected, "{name}");
        }
    }
}
