//! The likeliest classes of an output, with their labels.

use crate::{Array, Fault, error::shown};
use hushwire_fault::code;

/// The names of classes, one a line in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<String>);

/// A class and its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Likely {
    /// Its index.
    pub class: usize,
    /// Its label, if there is one.
    pub label: Option<String>,
    /// The network's output for it.
    pub output: f32,
}

impl Labels {
    /// Reads labels from a file's text, one a line.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Labels(text.lines().map(|line| line.trim().to_owned()).collect())
    }

    /// Checks that there is a label for each of `classes` classes, or no label at all.
    ///
    /// # Errors
    /// There are labels, but too few or too many.
    pub fn check(&self, classes: usize) -> Result<(), Fault> {
        if self.0.is_empty() || self.0.len() == classes {
            return Ok(());
        }
        Err(Fault::filled(code::LABELS, &[("found", &self.0.len()), ("classes", &classes)]).at("the labels"))
    }

    /// Whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of a class, if there is one.
    #[must_use]
    pub fn of(&self, class: usize) -> Option<String> {
        self.0.get(class).map(|label| shown(label))
    }

    /// The `n` likeliest classes of every sample along the first axis, the likeliest first.
    #[must_use]
    pub fn top(&self, output: &Array, n: usize) -> Vec<Vec<Likely>> {
        let samples = output.lengths.first().copied().unwrap_or(1).max(1);
        let classes = (output.data.len() / samples).max(1);
        let likely = |row: &[f32], class: usize| Likely { class, label: self.of(class), output: row[class] };
        let top = |row: &[f32]| {
            let mut order: Vec<usize> = (0..row.len()).collect();
            order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
            order.into_iter().take(n).map(|class| likely(row, class)).collect()
        };
        output.data.chunks(classes).map(top).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_come_first() {
        let labels = Labels::parse("cat\ndog\nfish\n");
        let output = Array::new(&[2, 3], vec![0.5, 2.0, -1.0, 3.0, 3.5, 4.0]);
        let top = labels.top(&output, 2);
        let names =
            |row: &[Likely]| row.iter().map(|l| (l.class, l.label.clone().unwrap())).collect::<Vec<_>>();
        assert_eq!(names(&top[0]), [(1, "dog".into()), (0, "cat".into())]);
        assert_eq!(names(&top[1]), [(2, "fish".into()), (1, "dog".into())]);
        let odd = Labels::parse("Käfer 🐞\nit's\n\u{1b}[2J\u{202e}").top(&output, 3);
        let names = names(&odd[0]);
        let all = ["Käfer 🐞", "it's", "\\u{1b}[2J\\u{202e}"].map(str::to_owned);
        assert!(names.iter().all(|(class, label)| all[*class] == *label), "{names:?}");
        assert_eq!(Labels::default().top(&output, 1)[1][0].class, 2);
        let refused = Labels::parse("cat").check(3).unwrap_err().to_string();
        assert!(refused.contains("1 for 3 classes"), "{refused}");
    }
}
