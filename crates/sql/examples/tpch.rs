//! Writes TPC-H for `hushwire local query` to a directory: a CSV file for each table, and
//! `schema.toml`. For each query it writes the text, such as `q01.sql`, and the rows computed in
//! the clear, such as `q01.csv`.
//!
//! `cargo run -p hushwire-sql --features tpch --example tpch -- DIR [SCALE]`

use hushwire_sql::{cell, tpch};
use hushwire_tables::{
    algebra::Schema,
    plain::{Row, evaluate},
};
use std::{error::Error, fmt::Write, fs, path::PathBuf};

fn field(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn csv(schema: &Schema, rows: &[Row]) -> String {
    let columns = schema.columns();
    let names: Vec<String> = columns.iter().map(|column| field(&column.name)).collect();
    let mut all = names.join(",") + "\n";
    for row in rows {
        let fields: Vec<String> =
            row.iter().zip(columns).map(|(value, column)| field(&cell::show(value, column.ty))).collect();
        // An empty line would not count as a row.
        all += &if fields == [""] { "\"\"\n".to_owned() } else { fields.join(",") + "\n" };
    }
    all
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().ok_or("name a directory")?);
    let world = tpch::world(arguments.next().map_or(Ok(0.001), |scale| scale.parse())?)?;
    let mut schema = String::new();
    for table in world.catalog.tables() {
        fs::write(dir.join(format!("{}.csv", table.name)), csv(&table.schema, &world.rows[&table.name]))?;
        let columns: Vec<String> = table.schema.columns().iter().map(|c| format!("\"{c}\"")).collect();
        let key = table.unique.first().into_iter().flatten().map(|at| &table.schema.columns()[*at].name);
        let key: Vec<String> = key.map(|name| format!("\"{name}\"")).collect();
        let [columns, key] = [columns, key].map(|list| list.join(", "));
        writeln!(schema, "[[tables]]\nname = \"{}\"\ncolumns = [{columns}]\nkey = [{key}]\n", table.name)?;
    }
    fs::write(dir.join("schema.toml"), schema)?;
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let relation = world.relation(sql)?;
        let rows = evaluate(&relation, &world.read(&relation))?;
        fs::write(dir.join(format!("q{:02}.sql", i + 1)), sql)?;
        fs::write(dir.join(format!("q{:02}.csv", i + 1)), csv(relation.schema(), &rows))?;
    }
    Ok(())
}
