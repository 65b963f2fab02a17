//! The texts and report fields of a query.

use super::{
    Answer, QueryJob, QueryTask, RESULT,
    plan::of_query,
    rows::{csv, shown},
};
use crate::{
    kind::{Opened, Runs, Words},
    sealed::tensors,
};
use hushwire_machine::Cost;
use hushwire_session::{Fault, Member, sealed::SealedValue};
use hushwire_wire::Shape;
use serde::Serialize;
use std::collections::BTreeMap;

impl Runs for QueryJob {
    type Task = QueryTask;

    fn task(&self) -> Result<QueryTask, Fault> {
        QueryTask::new(self)
    }

    fn absent(task: &QueryTask) -> Vec<Member> {
        task.compute().absent()
    }

    fn opened(task: &QueryTask, outputs: &[SealedValue]) -> Result<Opened<QueryTask>, Fault> {
        let query = task.query();
        let values = query.rows(&tensors(outputs)?).map_err(of_query)?;
        let rows = shown(query.schema(), &values);
        let csv = BTreeMap::from([(RESULT.to_owned(), csv(query.schema(), &rows)?)]);
        Ok((task.answer(Some(rows), true), csv))
    }
}

/// Fields of a query in a member's report.
#[derive(Serialize)]
pub struct QueryReport {
    sql: String,
    protocol: &'static str,
    /// Names and types of the result's columns.
    columns: Vec<(String, String)>,
    /// The number of rows of the result, if this member learns it.
    count: Option<u64>,
    /// The rows' fields as text. Rows that went to a file are not included.
    rows: Vec<Vec<Option<String>>>,
    /// The rounds and payload of the party that sends most, according to the plan. Sorts count with
    /// their likely cost, and set-ups are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<Predicted>,
}

/// The price of a query before it runs.
#[derive(Serialize)]
struct Predicted {
    rounds: u64,
    bytes_sent: u64,
    /// The rounds between parties that are far apart.
    wan_rounds: u64,
    wan_bytes_sent: u64,
}

/// A result for people: columns side by side, numbers aligned to the right.
#[must_use]
pub fn aligned(answer: &Answer) -> String {
    let field = |field: &Option<String>| {
        // Text from owners must not move a terminal's cursor.
        let text = field.as_deref().unwrap_or("NULL");
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>()
    };
    let header = answer.columns.iter().map(|(name, _)| field(&Some(name.clone()))).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header)
        .chain(answer.rows.iter().map(|row| row.iter().map(field).collect()))
        .collect();
    let wide = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..answer.columns.len()).map(wide).collect();
    let right = |at: usize| {
        let ty = &answer.columns[at].1;
        ["SMALLINT", "INTEGER", "BIGINT", "DECIMAL", "DOUBLE"].iter().any(|number| ty.starts_with(number))
    };
    let line = |row: &Vec<String>| {
        let cell = |(at, text): (usize, &String)| {
            let width = widths[at];
            if right(at) { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  ") + "\n";
    let (header, body) = (line(&rows[0]), rows[1..].iter().map(line).collect::<String>());
    header + &rule + &body
}

impl Words for QueryTask {
    type Report = QueryReport;

    fn extent(&self) -> (u64, &'static str) {
        (0, "operators")
    }

    fn course(&self) -> Result<Vec<(u64, String)>, Fault> {
        QueryTask::course(self)
    }

    fn work(&self, learnt: &Answer) -> String {
        learnt.count.map_or("a query".to_owned(), |count| format!("a query with {count} rows"))
    }

    fn printed(&self, learnt: &Answer) -> Vec<u8> {
        if learnt.count.is_some() && !learnt.rows.is_empty() { aligned(learnt).into_bytes() } else { vec![] }
    }

    fn report(&self, learnt: &Answer) -> QueryReport {
        QueryReport {
            sql: self.job().sql.clone(),
            protocol: "rep3",
            columns: learnt.columns.clone(),
            count: learnt.count,
            rows: learnt.rows.clone(),
            predicted: self.price(true).ok().map(|price| {
                let Cost { rounds: wan_rounds, bytes_sent: wan_bytes_sent } = price.over(Shape::wan());
                Predicted { rounds: price.rounds, bytes_sent: price.bytes_sent, wan_rounds, wan_bytes_sent }
            }),
        }
    }
}
