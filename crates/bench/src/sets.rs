//! Sets of rows, described as data.
//!
//! A set is a list of selections, and has every row that at least one of them describes. A
//! selection has conditions on parameters, separated by spaces. All of them must hold:
//!
//! ```text
//! *                      every row
//! net=none               the parameter `net` has this value
//! blocks=1|1000          one of several values
//! transport!=inproc      none of these values
//! threads=$least         the smallest number of threads of this run
//! tier=$widest           the widest AES instructions of this run
//! net=$near              the requested network, or none
//! ```

use crate::{Case, bench::BenchAsked};

/// A set of rows.
pub(crate) struct RowSet(Vec<Vec<Condition>>);

/// A condition on a parameter.
struct Condition {
    key: &'static str,
    /// Whether the parameter must have one of the values, or must have none of them.
    has: bool,
    values: Vec<String>,
}

impl RowSet {
    pub(crate) fn new(selections: &[&'static str], asked: &BenchAsked) -> Self {
        let conditions = |selection: &&'static str| {
            let all = selection.split_whitespace().filter(|condition| *condition != "*");
            all.map(|condition| Condition::new(condition, asked)).collect()
        };
        Self(selections.iter().map(conditions).collect())
    }

    pub(crate) fn holds(&self, case: &Case<'_>) -> bool {
        self.0.iter().any(|conditions| conditions.iter().all(|condition| condition.holds(case)))
    }
}

impl Condition {
    fn new(text: &'static str, asked: &BenchAsked) -> Self {
        let (key, values, has) = match text.split_once("!=") {
            Some((key, values)) => (key, values, false),
            None => text.split_once('=').map_or((text, "", true), |(key, values)| (key, values, true)),
        };
        let value = |value: &str| match value {
            "$least" => asked.threads()[0].to_string(),
            "$widest" => asked.tiers().last().map_or(String::new(), |backend| backend.tier().to_string()),
            "$near" => asked.net.unwrap_or_default().to_string(),
            value => value.to_owned(),
        };
        Self { key, has, values: values.split('|').map(value).collect() }
    }

    fn holds(&self, case: &Case<'_>) -> bool {
        let text = case.params.text(self.key);
        text.is_some_and(|text| self.values.contains(&text) == self.has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BENCHES, Params};
    use hushwire_wire::Shape;

    #[test]
    fn selections_are_alternatives_and_conditions_are_not() {
        let asked = BenchAsked { net: Some(Shape::lan()), ..BenchAsked::default() };
        let set = RowSet::new(&["n=1|2 net=$near", "kind!=a|b threads=$least"], &asked);
        let holds = |n: usize, kind: &str, net: &str, threads: usize| {
            let params =
                Params::new().with("n", n).with("kind", kind).with("net", net).with("threads", threads);
            set.holds(&Case::new("c", params, |_| Ok(vec![])))
        };
        assert!(holds(2, "a", "lan", 9) && holds(7, "c", "wan", 1));
        assert!(!holds(3, "a", "lan", 1) && !holds(2, "b", "wan", 1) && !holds(7, "c", "wan", 2));
        let every = RowSet::new(&["*"], &asked);
        assert!(every.holds(&Case::new("c", Params::new(), |_| Ok(vec![]))));
    }

    /// A set that names a parameter of no row would lose rows.
    #[test]
    fn sets_name_parameters_that_rows_have() {
        let asked = BenchAsked::default();
        for bench in BENCHES.iter().copied().flatten() {
            let Ok(cases) = (bench.cases)(&asked) else {
                assert_eq!(bench.name, "fpga", "it alone needs tools");
                continue;
            };
            for set in [bench.core, bench.quick].map(|set| RowSet::new(set, &asked)) {
                for condition in set.0.iter().flatten() {
                    let text = cases[0].params.text(condition.key);
                    assert!(text.is_some(), "{}: no parameter {}", bench.name, condition.key);
                }
            }
        }
    }
}
