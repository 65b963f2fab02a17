//! The promises on which a plan relies. They follow from its operators alone, and no two have the
//! same name.
//!
//! The plain evaluator and the computation identify a promise by its operator. A computation that
//! does not check a promise is refused, so every promise is checked, even if two look equal.

use crate::{
    Fault,
    algebra::{Expr, JoinKind, Operator, Pairing, Relation, Schema, SetOperation, is_partnership, pairing},
};
use hushwire_fault::code;
use std::collections::{BTreeMap, BTreeSet};

/// The promises of a relation and of all relations below it, in the order in which they are
/// checked. An operator has at most one.
pub(crate) struct Promises(Vec<(usize, String)>);

impl Promises {
    pub(crate) fn of(relation: &Relation) -> Promises {
        let mut found = vec![];
        collect(relation, &mut BTreeSet::new(), &mut found);
        // The keys of a table may be checked in several joins.
        let repeated = repeated(found.iter().map(|promise| &promise.text));
        for Promise { text, place, .. } in found.iter_mut().filter(|of| repeated.contains_key(&of.text)) {
            if !text.contains(&*place) {
                *text = format!("{text} in {place}");
            }
        }
        let mut repeated = repeated_places(&found);
        let named = found.into_iter().map(|Promise { at, text, place: _ }| {
            let name = match repeated.get_mut(&text) {
                Some((seen, all)) => {
                    *seen += 1;
                    format!("{text} (number {seen} of {all} such)")
                }
                None => text,
            };
            (at, name)
        });
        Promises(named.collect())
    }

    /// The promise of an operator.
    pub(crate) fn of_operator(&self, relation: &Relation) -> Option<&str> {
        self.0.iter().find(|(at, _)| *at == relation.address()).map(|(_, name)| name.as_str())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, name)| name.as_str())
    }

    /// The error of an operator's broken promise.
    pub(crate) fn broken(&self, relation: &Relation) -> Fault {
        broken(self.of_operator(relation).unwrap_or("a promise of the plan"))
    }
}

pub(crate) fn broken(promise: &str) -> Fault {
    Fault::filled(code::PROMISE_BROKEN, &[("promise", &promise)]).at("the result")
}

/// A promise before it has a name.
struct Promise {
    at: usize,
    text: String,
    /// Its operator, as text.
    place: String,
}

/// The texts that occur more than once, each with its count.
fn repeated<'a>(texts: impl Iterator<Item = &'a String>) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text.clone()).or_default() += 1);
    counts.retain(|_, count| *count > 1);
    counts
}

/// The texts and places that occur more than once, each with its count so far.
fn repeated_places(found: &[Promise]) -> BTreeMap<String, (usize, usize)> {
    let all = repeated(found.iter().map(|promise| &promise.text));
    all.into_iter().map(|(text, count)| (text, (0, count))).collect()
}

/// Promises below an operator come before the operator's own, since its rows depend on them.
fn collect(relation: &Relation, seen: &mut BTreeSet<usize>, found: &mut Vec<Promise>) {
    if !seen.insert(relation.address()) {
        return;
    }
    relation.inputs().into_iter().for_each(|input| collect(input, seen, found));
    if let Some((text, place)) = promise(relation) {
        found.push(Promise { at: relation.address(), text, place });
    }
}

/// The promise of an operator itself, and the operator as text.
fn promise(relation: &Relation) -> Option<(String, String)> {
    match relation.operator() {
        Operator::Join { left, right, kind, on, residual, bound, one } => {
            let on_keys = list(
                on.iter().map(|(a, b)| format!("{} = {}", a.shown(left.schema()), b.shown(right.schema()))),
            );
            let place = format!("the join of {} with {} on {on_keys}", tables(left), tables(right));
            let found = pairing(left, right, on, *bound, *one)?;
            if found != Pairing::RightUnique && is_partnership(left, right, *kind, residual.as_ref()) {
                return None;
            }
            let text = match found {
                Pairing::Bound(most) => format!("that there are at most {most} pairs in {place}"),
                Pairing::RightUnique => unique(right, on.iter().map(|(_, key)| key))?,
                Pairing::LeftUnique => unique(left, on.iter().map(|(key, _)| key))?,
            };
            Some((text, place))
        }
        Operator::Aggregate { input, keys, bound: Some(most), .. }
            if !keys.is_empty() && *most < input.rows() =>
        {
            let by = list(keys.iter().map(|(_, key)| key.shown(input.schema()).to_string()));
            let place = format!("the groups of {} by {by}", tables(input));
            Some((format!("that there are at most {most} groups of {} by {by}", tables(input)), place))
        }
        _ => None,
    }
}

/// The promise that keys are unique in a relation; `None` if its operators ensure it.
fn unique<'a>(relation: &Relation, keys: impl Iterator<Item = &'a Expr> + Clone) -> Option<String> {
    let columns = columns_of(keys.clone());
    match grounds(relation, &columns) {
        Some(grounds) if grounds.is_empty() => None,
        Some(grounds) => {
            let are = if grounds.len() == 1 { "is" } else { "are" };
            let all = grounds.into_iter().map(|Ground { table, keys }| format!("{keys} of table {table}"));
            Some(format!("that {} {are} unique", joined(all.collect())))
        }
        None if columns.is_empty() => {
            Some(format!("that there is at most one row of {} in place of a value", tables(relation)))
        }
        None => {
            let by = list(keys.map(|key| key.shown(relation.schema()).to_string()));
            Some(format!("that no two rows of {} have the same {by}", tables(relation)))
        }
    }
}

/// A table's promise of unique columns.
#[derive(PartialEq)]
struct Ground {
    table: String,
    keys: String,
}

/// The tables' promises that make these columns unique among valid rows: empty if operators ensure
/// it, `None` if no promise does.
fn grounds(relation: &Relation, columns: &[usize]) -> Option<Vec<Ground>> {
    // Only relations with this property are walked.
    if !relation.is_unique(columns) {
        return None;
    }
    let covers = |set: &[usize]| set.iter().all(|at| columns.contains(at));
    let all: Vec<usize> = (0..relation.schema().columns().len()).collect();
    match relation.operator() {
        Operator::Scan(table) => {
            let set = table.unique.iter().find(|set| covers(set))?;
            Some(vec![Ground { table: table.name.clone(), keys: names(&table.schema, set) }])
        }
        Operator::Values(_) => relation.is_unique(columns).then(Vec::new),
        Operator::Project(input, exprs) => {
            let below: Vec<Expr> = columns.iter().map(|at| exprs[*at].1.clone()).collect();
            grounds(input, &columns_of(below.iter()))
        }
        Operator::Limit { .. } if relation.rows() < 2 => Some(vec![]),
        Operator::Filter(input, _) | Operator::OrderBy(input, _) | Operator::Limit { input, .. } => {
            grounds(input, columns)
        }
        // The operator's own columns come after the input's.
        Operator::Window(input, _) | Operator::ByOwner(input, _) => grounds(input, &split(input, columns).0),
        Operator::Aggregate { keys, .. } => covers(&all[..keys.len()]).then(Vec::new),
        Operator::Distinct(input) => {
            if covers(&all) {
                Some(vec![])
            } else {
                grounds(input, columns)
            }
        }
        Operator::Set { all: false, .. } if covers(&all) => Some(vec![]),
        Operator::Set { operation: SetOperation::Union, .. } => None,
        Operator::Set { left, .. } => grounds(left, columns),
        Operator::Cross(left, right) => {
            let (own, theirs) = split(left, columns);
            Some(both(grounds(left, &own)?, grounds(right, &theirs)?))
        }
        Operator::Join { .. } => of_join(relation, columns),
    }
}

fn of_join(relation: &Relation, columns: &[usize]) -> Option<Vec<Ground>> {
    let Operator::Join { left, right, kind, on, bound, one, .. } = relation.operator() else { return None };
    if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
        return grounds(left, columns);
    }
    let (own, theirs) = split(left, columns);
    let checked = pairing(left, right, on, *bound, *one);
    // The join itself has checked one side's keys before.
    let partner = |side: &Relation, keys: Vec<usize>, here: Pairing| {
        if checked == Some(here) { Some(vec![]) } else { grounds(side, &keys) }
    };
    let by_right = || partner(right, columns_of(on.iter().map(|(_, key)| key)), Pairing::RightUnique);
    let by_left = || partner(left, columns_of(on.iter().map(|(key, _)| key)), Pairing::LeftUnique);
    let (of_left, of_right) = (|| grounds(left, &own), || grounds(right, &theirs));
    // As in `joined_unique`: a row with a unique partner occurs once.
    let left_once = || Some(both(by_right()?, of_left()?));
    let right_once = || Some(both(by_left()?, of_right()?));
    let pairs_once = || Some(both(of_left()?, of_right()?));
    match kind {
        JoinKind::Inner => left_once().or_else(right_once).or_else(pairs_once),
        JoinKind::Left => left_once(),
        JoinKind::Right => right_once(),
        _ => None,
    }
}

fn both(mut some: Vec<Ground>, more: Vec<Ground>) -> Vec<Ground> {
    for ground in more {
        if !some.contains(&ground) {
            some.push(ground);
        }
    }
    some
}

/// Splits columns into those of a relation and those after it, counted from 0.
fn split(left: &Relation, columns: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let count = left.schema().columns().len();
    let own = columns.iter().copied().filter(|at| *at < count).collect();
    (own, columns.iter().filter_map(|at| at.checked_sub(count)).collect())
}

fn columns_of<'a>(keys: impl Iterator<Item = &'a Expr>) -> Vec<usize> {
    let column = |key: &Expr| match key {
        Expr::Column(at) => Some(*at),
        _ => None,
    };
    keys.filter_map(column).collect()
}

fn names(schema: &Schema, set: &[usize]) -> String {
    list(set.iter().map(|at| schema.columns()[*at].name.clone()))
}

/// The tables of a relation, each as often as the relation reads it.
fn tables(relation: &Relation) -> String {
    /// LOCAL: the largest number of tables that a text names.
    const MOST: usize = 8;
    fn walk(relation: &Relation, all: &mut Vec<String>) {
        match relation.operator() {
            _ if all.len() > MOST => {}
            Operator::Scan(table) => all.push(table.name.clone()),
            Operator::Values(_) => all.push("public rows".into()),
            _ => relation.inputs().into_iter().for_each(|input| walk(input, all)),
        }
    }
    let mut all = vec![];
    walk(relation, &mut all);
    if all.len() > MOST {
        all[MOST] = "others".into();
    }
    joined(all)
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// A list as text: `a`, `a and b`, `a, b and c`.
fn joined(mut items: Vec<String>) -> String {
    let last = items.pop().unwrap_or_default();
    if items.is_empty() { last } else { format!("{} and {last}", items.join(", ")) }
}
