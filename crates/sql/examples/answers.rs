//! Answers queries over tables in memory. It serves tools that compare the answers with another
//! database: `scripts/fuzz-sql`.
//!
//! Each line of standard input is a case. The line of standard output for it has its answers in
//! order. Both are JSON:
//!
//! ```text
//! {"tables": [{"name": "t", "columns": ["k INTEGER NOT NULL"], "key": ["k"],
//!              "parts": [[["1"], ["2"]], []]}],
//!  "queries": [{"sql": "SELECT k FROM t", "join_bound": 4, "min_group": 0, "ordered": false,
//!               "parameters": [["low", 1]]}]}
//! [{"types": ["INTEGER"], "rows": [["1"], ["2"]]}]
//! ```
//!
//! An answer has `refused` if the query is refused, and `broken` if a promise does not hold. Each
//! query is lowered. It is evaluated row by row, and by its computation with joins by sorts and
//! with joins by tags. If the results differ, the answer has `differ`. The computation of a query
//! with `"plain": true` is made, but not evaluated. A case without tables uses the tables of the
//! case before it.

use hushwire_sql::{Catalog, Options, Parameter, cell, relation_with, schema, test_support::World};
use hushwire_tables::{
    Fault, Query,
    algebra::{ColumnType, Relation, Schema, Table, TablePart, Value},
    plain::{Row, evaluate},
};
use serde_json::{Value as Json, json};
use std::{
    error::Error,
    io::{BufRead, Write},
};

type Made<T> = Result<T, Box<dyn Error>>;

fn list(json: &Json) -> Made<&Vec<Json>> {
    json.as_array().ok_or_else(|| format!("{json} is no list").into())
}

fn text(json: &Json) -> Made<&str> {
    json.as_str().ok_or_else(|| format!("{json} is no text").into())
}

fn table(json: &Json) -> Made<(Table, Vec<Row>)> {
    let columns = list(&json["columns"])?.iter().map(|column| Ok(schema::column(text(column)?)?));
    let schema = Schema(columns.collect::<Made<_>>()?);
    let place = |name| Ok(schema.find(text(name)?).ok_or("a key names no column")?);
    let key = list(&json["key"])?.iter().map(place).collect::<Made<Vec<usize>>>()?;
    let row = |fields: &Json| -> Made<Row> {
        let field = |(field, ty): (&Json, ColumnType)| {
            if field.is_null() { Ok(Value::Null) } else { Ok(cell::read(text(field)?, ty)?) }
        };
        list(fields)?.iter().zip(schema.columns().iter().map(|column| column.ty)).map(field).collect()
    };
    let (mut parts, mut rows) = (vec![], vec![]);
    for (k, part) in list(&json["parts"])?.iter().enumerate() {
        let own = list(part)?.iter().map(row).collect::<Made<Vec<Row>>>()?;
        parts.push(TablePart { owner: format!("owner{k}"), rows: own.len() as u64 });
        rows.extend(own);
    }
    let unique = if key.is_empty() { vec![] } else { vec![key] };
    Ok((Table { name: text(&json["name"])?.into(), schema, parts, padded: false, unique }, rows))
}

/// The rows of a plan, computed by the computation to which the plan is lowered.
fn lowered(world: &World, plan: &Relation, tags: bool) -> Result<Vec<Row>, Fault> {
    let make = if tags { Query::by_tags } else { Query::new };
    let query = make("query", plan, &["analyst"])?;
    query.rows(&hushwire_compute::evaluate(query.computation(), &world.inputs(&query, plan)?)?)
}

fn answer(world: &World, catalog: &Catalog, asked: &Json) -> Made<Json> {
    let options = Options {
        join_bound: asked["join_bound"].as_u64(),
        min_group: asked["min_group"].as_u64().unwrap_or_default(),
        now: asked["now"].as_i64(),
    };
    let parameter = |pair: &Json| -> Made<Parameter> {
        let value = Value::Number(pair[1].as_i64().ok_or("a parameter is a whole number")?.into());
        Ok(Parameter { name: text(&pair[0])?.into(), ty: ColumnType::Integer, value })
    };
    let parameters = asked["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let parameters = parameters.iter().map(parameter).collect::<Made<Vec<_>>>()?;
    let plan = match relation_with(text(&asked["sql"])?, catalog, options, &parameters) {
        Ok(plan) => plan,
        Err(e) => return Ok(json!({ "refused": format!("{} ({})", e, e.code()) })),
    };
    let made = Query::new("query", &plan, &["analyst"]);
    if let Err(e) = made.and_then(|query| world.inputs(&query, &plan).map(drop))
        && e.field("promise").is_none()
    {
        return Ok(json!({ "refused": format!("{} ({})", e, e.code()) }));
    }
    let mut ways = vec![evaluate(&plan, &world.read(&plan))];
    if asked["plain"] != json!(true) {
        ways.extend([false, true].map(|tags| lowered(world, &plan, tags)));
    }
    if let Some(Err(e)) = ways.get(1)
        && e.field("promise").is_none()
    {
        return Ok(json!({ "refused": format!("{} ({})", e, e.code()) }));
    }
    if asked["ordered"] != json!(true) {
        ways.iter_mut().flatten().for_each(|rows| rows.sort());
    }
    if ways.iter().any(|rows| *rows != ways[0]) {
        return Ok(json!({ "differ": format!("{ways:?}") }));
    }
    let rows = match ways.swap_remove(0) {
        Ok(rows) => rows,
        Err(e) => match e.field("promise") {
            Some(promise) => return Ok(json!({ "broken": promise })),
            None => return Err(e.into()),
        },
    };
    let types: Vec<ColumnType> = plan.schema().columns().iter().map(|column| column.ty).collect();
    let field = |(value, ty): (&Value, &ColumnType)| (!value.is_null()).then(|| cell::show(value, *ty));
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().zip(&types).map(field).collect()).collect();
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    Ok(json!({ "types": types, "rows": rows }))
}

fn main() -> Made<()> {
    let mut out = std::io::stdout().lock();
    let mut known: Option<(World, Catalog)> = None;
    for line in std::io::stdin().lock().lines() {
        let case: Json = serde_json::from_str(&line?)?;
        if !case["tables"].is_null() {
            let tables = list(&case["tables"])?.iter().map(table).collect::<Made<Vec<_>>>()?;
            let catalog = Catalog::new(tables.iter().map(|(table, _)| table.clone()).collect())?;
            known = Some((World::new(tables)?, catalog));
        }
        let (world, catalog) = known.as_ref().ok_or("the first case has no tables")?;
        let answers = list(&case["queries"])?.iter().map(|asked| answer(world, catalog, asked));
        writeln!(out, "{}", Json::Array(answers.collect::<Made<_>>()?))?;
        out.flush()?;
    }
    Ok(())
}
