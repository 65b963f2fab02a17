//! Writes `docs/reference/sql.md`: the arguments and results of functions, aggregates and clauses.
//! Examples are computed by the plain evaluator, and have the prices of the plans that parties run.

use crate::{
    Catalog, Options, cell,
    clauses::{CLAUSES, Clause, EXAMPLE},
    relation, schema,
};
use hushwire_tables::{
    Query,
    aggregates::{AGGREGATES, AggregateDef},
    algebra::{Column, Operator, Relation, Schema, Table, TablePart, Value},
    functions::{FUNCTIONS, FnDef, Leaks},
    plain::{Row, Tables, evaluate},
};
use hushwire_three::{Cut, Plan};
use std::fmt::Write;

/// The number of rows of a table whose plan is priced.
const ROWS: u64 = 1000;

fn columns() -> Vec<Column> {
    EXAMPLE.0.iter().map(|text| schema::column(text).unwrap_or_else(|e| panic!("{text}: {e}"))).collect()
}

fn rows() -> Vec<Row> {
    let value = |(text, column): (&Option<&str>, &Column)| {
        text.map_or(Value::Null, |text| cell::read(text, column.ty).unwrap_or_else(|e| panic!("{text}: {e}")))
    };
    EXAMPLE.1.iter().map(|row| row.iter().zip(&columns()).map(value).collect()).collect()
}

/// The table of examples. An owner brings it.
fn table(owner: &str, rows: u64) -> Table {
    let parts = vec![TablePart { owner: owner.to_owned(), rows }];
    Table { name: "e".into(), schema: Schema(columns()), parts, padded: false, unique: vec![vec![0]] }
}

/// The rows of tables that a relation reads, with the columns that it reads.
fn read(relation: &Relation, tables: &mut Tables) {
    if let Operator::Scan(table) = relation.operator() {
        let whole = Schema(columns());
        let at: Vec<usize> = table.schema.columns().iter().filter_map(|c| whole.find(&c.name)).collect();
        let of_row = |row: Row| at.iter().map(|at| row[*at].clone()).collect();
        tables.insert(table.name.clone(), rows().into_iter().map(of_row).collect());
    }
    relation.inputs().into_iter().for_each(|input| read(input, tables));
}

/// The fields of a query's rows as text, and the types of its columns.
pub(super) fn answered(sql: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let catalog = Catalog::new(vec![table("owner", rows().len() as u64)]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { join_bound: Some(64), ..Options::default() };
    let relation = relation(sql, &catalog, options).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let mut tables = Tables::new();
    read(&relation, &mut tables);
    let made = evaluate(&relation, &tables).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let columns = relation.schema().columns();
    let field = |(value, column): (&Value, &Column)| {
        if value.is_null() { "NULL".to_owned() } else { cell::show(value, column.ty) }
    };
    let rows = made.iter().map(|row| row.iter().zip(columns).map(field).collect()).collect();
    (rows, columns.iter().map(|column| column.ty.to_string()).collect())
}

/// A query on a table with this number of rows, which parties can compute.
pub(super) fn planned(sql: &str, rows: u64) -> Result<Query, hushwire_tables::Fault> {
    let catalog = Catalog::new(vec![table("owner", rows)])?;
    let options = Options { join_bound: Some(64), ..Options::default() };
    Query::new("query", &relation(sql, &catalog, options)?, &["analyst"])
}

/// The rounds, and the bytes of the party that sends most, if the parties hold shares of the table.
/// `None` if only an owner can compute the query.
fn price(sql: &str) -> Option<(u64, u64)> {
    let catalog = Catalog::new(vec![table("owner", ROWS)]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { join_bound: Some(ROWS), ..Options::default() };
    let relation = match relation(sql, &catalog.at_rest(&["e"]), options) {
        Ok(relation) => relation,
        Err(e) if e.to_string().contains("which owners compute") => return None,
        Err(e) => panic!("{sql}: {e}"),
    };
    let query = Query::new("query", &relation, &["analyst"]).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let plan = Plan::new(query.computation()).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let costs = [0, 1, 2].map(|party| plan.likely_cost(party, Cut::whole()));
    let costs = costs.map(|cost| cost.unwrap_or_else(|e| panic!("{sql}: {e}")));
    let rounds = costs.iter().map(|cost| cost.rounds).max();
    Some((rounds.unwrap_or(0), costs.iter().map(|cost| cost.bytes_sent).max().unwrap_or(0)))
}

/// The price of a query relative to another query's price, in words.
fn beside(sql: &str, other: (u64, u64)) -> String {
    match price(sql) {
        None => "by owner".to_owned(),
        Some((rounds, bytes)) => {
            let rounds = rounds.saturating_sub(other.0);
            match (bytes.saturating_sub(other.1) as f64 / ROWS as f64, rounds) {
                (bytes, 0) if bytes < 8.0 => "local".to_owned(),
                (bytes, rounds) => format!("{rounds} rounds, {bytes:.0} B"),
            }
        }
    }
}

/// A cell of a table in Markdown.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

fn names(usage: &str, all: &[&str]) -> String {
    let upper = |name: &&str| format!(", `{}`", name.to_uppercase());
    all.iter().filter(|name| !usage.to_lowercase().contains(**name)).map(upper).collect()
}

/// The example of a function and its value. For a scalar function, it is the value of the first
/// row.
fn example(call: &str, one: bool) -> String {
    if call.is_empty() {
        return "– | –".to_owned();
    }
    let only = if one { " WHERE id = 1" } else { "" };
    let (rows, types) = answered(&format!("SELECT {call} AS v FROM e{only}"));
    format!("`{}` | {} {}", escaped(call), escaped(&rows[0][0]), types[0])
}

fn functions() -> String {
    let mut out =
        String::from("| call | gives | value | example | its value | price |\n|---|---|---|---|---|---|\n");
    let mut all: Vec<&FnDef> = FUNCTIONS.to_vec();
    all.sort_by_key(|function| function.names[0]);
    let nothing = price("SELECT id AS v FROM e").unwrap_or_default();
    for FnDef { names: all, usage, gives, doc, example: call, leaks: Leaks::Nothing, .. } in all {
        let price = match *call {
            "" => "–".to_owned(),
            call => beside(&format!("SELECT {call} AS v FROM e"), nothing),
        };
        let (usage, more, gives, doc) = (escaped(usage), names(usage, all), escaped(gives), escaped(doc));
        writeln!(out, "| `{usage}`{more} | {gives} | {doc} | {} | {price} |", example(call, true)).unwrap();
    }
    out
}

fn aggregates() -> String {
    let mut out =
        String::from("| call | gives | value | example | its value | price |\n|---|---|---|---|---|---|\n");
    let mut all: Vec<&AggregateDef> = AGGREGATES.to_vec();
    all.sort_by_key(|aggregate| aggregate.names[0]);
    let nothing = price("SELECT id AS v FROM e").unwrap_or_default();
    for AggregateDef { names: all, usage, gives, doc, example: call, .. } in all {
        let price = match *call {
            "" => "–".to_owned(),
            call => beside(&format!("SELECT team, {call} AS v FROM e GROUP BY team"), nothing),
        };
        let more = names(usage, all);
        writeln!(out, "| `{usage}`{more} | {gives} | {doc} | {} | {price} |", example(call, false)).unwrap();
    }
    out
}

fn clauses() -> String {
    let mut out = String::from("| clause | what it does | example | rows | price |\n|---|---|---|---|---|\n");
    for Clause { usage, doc, example, .. } in CLAUSES {
        let (usage, doc) = (escaped(usage), escaped(doc));
        if example.is_empty() {
            writeln!(out, "| `{usage}` | {doc} | – | – | – |").unwrap();
            continue;
        }
        let (rows, _) = answered(example);
        let rows: Vec<String> = rows.iter().map(|row| row.join(", ")).collect();
        let price = match price(example) {
            None => "by owner".to_owned(),
            Some((rounds, bytes)) => format!("{rounds} rounds, {} KB", bytes.div_ceil(1000)),
        };
        writeln!(
            out,
            "| `{usage}` | {doc} | `{}` | {} | {price} |",
            escaped(example),
            escaped(&rows.join("; "))
        )
        .unwrap();
    }
    out
}

fn examples() -> String {
    let mut out = String::new();
    let names: Vec<String> = columns().iter().map(|column| column.name.clone()).collect();
    writeln!(out, "| {} |\n|{}", names.join(" | "), "---|".repeat(names.len())).unwrap();
    let types: Vec<String> = columns().iter().map(|column| column.ty.to_string()).collect();
    writeln!(out, "| {} |", types.join(" | ")).unwrap();
    for row in EXAMPLE.1 {
        let fields: Vec<&str> = row.iter().map(|field| field.unwrap_or("NULL")).collect();
        writeln!(out, "| {} |", fields.join(" | ")).unwrap();
    }
    out
}

#[test]
fn the_reference_is_made_of_the_tables() {
    for (begin, text) in [
        ("<!-- examples: the rows of the table e -->\n", examples()),
        ("<!-- functions: made of their definitions -->\n", functions()),
        ("<!-- aggregates: made of their definitions -->\n", aggregates()),
        ("<!-- clauses: made of their table -->\n", clauses()),
    ] {
        hushwire_testkit::page("reference/sql.md", begin, &text);
    }
}

/// The words of a text that are in upper case.
fn capitals(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.len() > 1 && word.chars().all(|c| !c.is_ascii_lowercase())).collect()
}

/// The random queries that are compared with DuckDB call each function and each aggregate, and use
/// each clause.
#[test]
fn random_queries_have_all_functions_and_clauses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/fuzz-sql");
    let Ok(script) = std::fs::read_to_string(path) else {
        return eprintln!("skipped: there is no scripts/fuzz-sql beside this crate");
    };
    let known: std::collections::BTreeSet<&str> = capitals(&script).into_iter().collect();
    let functions = FUNCTIONS.iter().map(|function| (function.names, function.example));
    let aggregates = AGGREGATES.iter().map(|aggregate| (aggregate.names, aggregate.example));
    for (names, example) in functions.chain(aggregates) {
        let is_called = names.iter().any(|name| known.contains(name.to_uppercase().as_str()));
        assert!(is_called || example.is_empty(), "scripts/fuzz-sql calls none of {names:?}");
    }
    for Clause { usage, .. } in CLAUSES {
        for word in capitals(usage) {
            assert!(known.contains(word), "scripts/fuzz-sql has no {word}: {usage}");
        }
    }
}
