//! Test tables, and SQLite as an oracle that shares no code with the planner.
#![allow(dead_code, unreachable_pub, reason = "each test has its own use of it")]

pub mod three;
pub mod tpcds;

use hushwire_sql::{cell, test_support::World};
use hushwire_tables::{
    Query,
    algebra::{ColumnType, Relation, Value},
    plain::{Row, evaluate},
};
use serde_json::{Value as Json, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Tables of tests, with their rows.
pub trait Oracle {
    fn plan(&self, sql: &str) -> Relation;
    /// Evaluates a query in the open, on tables with the columns it reads.
    fn run(&self, sql: &str) -> (Relation, Vec<Row>);
    /// The rows of a query, evaluated in the open by the computation that it is lowered to.
    fn lowered(&self, plan: &Relation) -> Vec<Row>;
    /// The rows of queries in SQLite; `None`, with a note, if there is no python3.
    fn sqlite(&self, queries: &[&str]) -> Option<Vec<Result<Vec<Vec<Json>>, String>>>;
}

impl Oracle for World {
    fn plan(&self, sql: &str) -> Relation {
        self.relation(sql).unwrap_or_else(|e| panic!("{sql}\n{e}"))
    }

    fn run(&self, sql: &str) -> (Relation, Vec<Row>) {
        let plan = self.plan(sql);
        let rows = evaluate(&plan, &self.read(&plan)).unwrap_or_else(|e| panic!("{sql}\n{e}"));
        (plan, rows)
    }

    fn lowered(&self, plan: &Relation) -> Vec<Row> {
        let query = Query::new("query", plan, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
        let inputs = self.inputs(&query, plan).unwrap_or_else(|e| panic!("{e}"));
        let outputs = hushwire_compute::evaluate(query.computation(), &inputs);
        query.rows(&outputs.unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
    }

    fn sqlite(&self, queries: &[&str]) -> Option<Vec<Result<Vec<Vec<Json>>, String>>> {
        let mut tables = serde_json::Map::new();
        for table in self.catalog.tables() {
            let kinds = table.schema.columns().iter().map(|c| json!([c.name, kind(c.ty)]));
            let types: Vec<ColumnType> = table.schema.columns().iter().map(|c| c.ty).collect();
            let row = |row: &Row| row.iter().zip(&types).map(|(v, ty)| as_json(v, *ty)).collect::<Vec<_>>();
            let rows: Vec<Vec<Json>> = self.rows[&table.name].iter().map(row).collect();
            tables.insert(table.name.clone(), json!({ "columns": kinds.collect::<Vec<_>>(), "rows": rows }));
        }
        // The quotient of two integers is an integer in SQLite.
        let queries: Vec<String> = queries.iter().map(|sql| sql.replace(" // ", " / ")).collect();
        let job = json!({ "tables": tables, "queries": queries }).to_string();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/oracle.py");
        let python = Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut python) = python else {
            eprintln!("skipped: there is no python3, whose sqlite3 is the oracle");
            return None;
        };
        let mut stdin = python.stdin.take().expect("it is piped");
        let writer = std::thread::spawn(move || stdin.write_all(job.as_bytes()));
        let output = python.wait_with_output().expect("python3 ends");
        writer.join().expect("no panic").expect("python3 reads");
        assert!(output.status.success(), "the oracle failed");
        let answer: Json = serde_json::from_slice(&output.stdout).expect("the oracle writes JSON");
        let rows = |answer: &Json| match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(serde_json::from_value(answer["rows"].clone()).expect("rows")),
        };
        Some(answer["answers"].as_array().expect("answers").iter().map(rows).collect())
    }
}

const fn kind(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Varchar(_) | ColumnType::Date | ColumnType::Timestamp => "TEXT",
        ColumnType::Decimal { .. } | ColumnType::Double { .. } => "REAL",
        _ => "INTEGER",
    }
}

fn as_json(value: &Value, ty: ColumnType) -> Json {
    match (value, kind(ty)) {
        (Value::Null, _) => Json::Null,
        (Value::Boolean(truth), _) => json!(i64::from(*truth)),
        (_, "TEXT") => json!(cell::show(value, ty)),
        (_, "REAL") => json!(cell::show(value, ty).parse::<f64>().expect("a number")),
        (Value::Number(n), _) => json!(i64::try_from(*n).expect("64 bits")),
        (Value::Text(_), _) => unreachable!("strings are TEXT"),
    }
}

/// Whether a value equals the oracle's. Decimals may differ by their last step, and floating-point
/// numbers by rounding errors.
pub fn same(value: &Value, ty: ColumnType, oracle: &Json) -> bool {
    match (value, ty) {
        (Value::Null, _) => oracle.is_null(),
        (Value::Boolean(truth), _) => oracle.as_i64() == Some(i64::from(*truth)),
        (_, ColumnType::Varchar(_) | ColumnType::Date | ColumnType::Timestamp) => {
            oracle.as_str() == Some(&cell::show(value, ty))
        }
        (_, ColumnType::Decimal { scale, .. }) => {
            let (ours, theirs) = (cell::show(value, ty).parse::<f64>().expect("a number"), oracle.as_f64());
            // Whole numbers are rounded at most once: a step more or less would be another CEIL.
            let steps = if scale == 0 { 0.51 } else { 1.01 };
            let most = 10f64.powi(-i32::from(scale)) * steps;
            theirs.is_some_and(|theirs| (ours - theirs).abs() <= most + theirs.abs() * 1e-9)
        }
        (_, ColumnType::Double { .. }) => {
            let (ours, theirs) = (cell::show(value, ty).parse::<f64>().expect("a number"), oracle.as_f64());
            theirs.is_some_and(|theirs| (ours - theirs).abs() <= 1e-8 + theirs.abs() * 1e-9)
        }
        // Beyond 64 bits, SQLite continues in floating point.
        (Value::Number(n), _) if i64::try_from(*n).is_err() => {
            oracle.as_f64().is_some_and(|theirs| (*n as f64 - theirs).abs() <= theirs.abs() * 1e-9)
        }
        (Value::Number(n), _) => oracle.as_i64().map(i128::from) == Some(*n),
        (Value::Text(_), _) => false,
    }
}

/// Compares rows in order, or as bags.
pub fn compare(sql: &str, plan: &Relation, rows: &[Row], oracle: &[Vec<Json>], ordered: bool) {
    let types: Vec<ColumnType> = plan.schema().columns().iter().map(|c| c.ty).collect();
    let row = |row: &Row, other: &Vec<Json>| {
        row.len() == other.len() && row.iter().zip(&types).zip(other).all(|((v, ty), o)| same(v, *ty, o))
    };
    let shown = || -> String {
        let ours = rows.iter().map(|row| {
            row.iter().zip(&types).map(|(v, ty)| cell::show(v, *ty)).collect::<Vec<_>>().join("|")
        });
        let theirs = oracle.iter().map(|row| format!("{row:?}"));
        let ours = ours.take(12).collect::<Vec<_>>().join("\n");
        format!(
            "{sql}\nours ({}):\n{ours}\noracle ({}):\n{}",
            rows.len(),
            oracle.len(),
            theirs.take(12).collect::<Vec<_>>().join("\n")
        )
    };
    assert_eq!(rows.len(), oracle.len(), "{}", shown());
    if ordered {
        for (at, (ours, theirs)) in rows.iter().zip(oracle).enumerate() {
            assert!(row(ours, theirs), "row {at}\n{}", shown());
        }
        return;
    }
    let mut rest: Vec<&Vec<Json>> = oracle.iter().collect();
    for ours in rows {
        match rest.iter().position(|theirs| row(ours, theirs)) {
            Some(at) => drop(rest.swap_remove(at)),
            None => panic!("{ours:?} is none of the oracle's\n{}", shown()),
        }
    }
}
