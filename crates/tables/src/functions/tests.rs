//! Calls by name, evaluated in the clear and lowered.

use super::{Arguments, FUNCTIONS, Leaks, Reader, find};
use crate::{
    Fault, Query,
    algebra::{Column, ColumnType, Expr, Relation, Schema, Table, TablePart, Value},
    plain,
};
use hushwire_compute::{Op, evaluate};
use hushwire_fault::code;
use std::collections::BTreeMap;

/// A literal integer.
pub(crate) fn int(n: i128) -> Expr {
    Expr::literal(Value::Number(n), ColumnType::Integer)
}

/// Numbers and NULLs.
pub(crate) fn numbers<const N: usize>(all: [Option<i128>; N]) -> Vec<Value> {
    all.map(|n| n.map_or(Value::Null, Value::Number)).to_vec()
}

/// A call on a schema's columns. Texts are not read as values of other types.
pub(crate) fn call(name: &str, all: Vec<Expr>, schema: &Schema) -> Result<Expr, Fault> {
    let read = |text: &str, ty| Err(Fault::filled(code::VALUE, &[("value", &text), ("type", &ty)]));
    let function = find(name).unwrap_or_else(|| panic!("{name} is a function"));
    function.bind(&Arguments { name, all, reader: Reader { schema, read } })
}

/// The error of a call on literals.
pub(crate) fn refused(name: &str, all: &[Expr]) -> Option<Fault> {
    let schema = Schema::default();
    let made = call(name, all.to_vec(), &schema).and_then(|e| e.check(&schema));
    made.err()
}

/// The value of a call on literals, in the clear.
pub(crate) fn in_open(name: &str, all: Vec<Expr>) -> Value {
    let one = Relation::values(Schema::default(), vec![vec![]]).unwrap();
    let made = call(name, all, &Schema::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let rows = plain::evaluate(&one.project(vec![(name.into(), made)]).unwrap(), &BTreeMap::new()).unwrap();
    rows.concat().remove(0)
}

/// The values of a call, row by row. Its arguments are the columns, then the literals `more`.
/// Evaluation in the clear and the lowered computation must agree.
pub(crate) fn values(name: &str, columns: &[(Column, Vec<Value>)], more: &[Expr]) -> Vec<Value> {
    let schema = Schema(columns.iter().map(|(column, _)| column.clone()).collect());
    let all = (0..columns.len()).map(Expr::Column).chain(more.iter().cloned()).collect();
    let made = call(name, all, &schema).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (values, opening) = values_of(made, columns);
    match find(name).map(|function| function.leaks) {
        Some(Leaks::Nothing) => assert_eq!(opening, 0, "{name} leaks nothing"),
        None => panic!("{name} is a function"),
    }
    values
}

/// The values of an expression, row by row, and the number of operations that open something.
/// Evaluation in the clear and the lowered computation must agree.
pub(crate) fn values_of(of: Expr, columns: &[(Column, Vec<Value>)]) -> (Vec<Value>, usize) {
    let schema = Schema(columns.iter().map(|(column, _)| column.clone()).collect());
    let name = of.shown(&schema).to_string();
    let count = columns[0].1.len();
    let rows: Vec<_> = (0..count).map(|i| columns.iter().map(|(_, v)| v[i].clone()).collect()).collect();
    let parts = vec![TablePart { owner: "owner".into(), rows: count as u64 }];
    let table = Table { name: "t".into(), schema, parts, padded: false, unique: vec![] };
    let relation = Relation::scan(table).and_then(|t| t.project(vec![("of".into(), of)])).unwrap();
    let query = Query::new("q", &relation, &["analyst"]).unwrap();
    let outputs = evaluate(query.computation(), &query.inputs("t", 0, &rows).unwrap()).unwrap();
    let lowered = query.rows(&outputs).unwrap();
    let open = plain::evaluate(&relation, &BTreeMap::from([("t".to_owned(), rows)])).unwrap();
    assert_eq!(open, lowered, "{name}: in the open and lowered");
    let opens = |op: &Op| matches!(op, Op::Meet { .. } | Op::Order { .. });
    let opening = query.computation().nodes().iter().filter(|node| opens(&node.op)).count();
    (open.into_iter().flatten().collect(), opening)
}

#[test]
fn each_name_is_one_functions() {
    let mut names: Vec<&str> = FUNCTIONS.iter().flat_map(|function| function.names).copied().collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| *name == name.to_lowercase()));
}
