//! `bench tpch`: the 22 queries of TPC-H on shared tables, with three parties in this process on
//! one thread each.
//!
//! A repetition goes from shares of the columns that a query reads to shares of its result. Every
//! result is opened and compared with the query's rows in the open. A wrong result fails the run.
//! The metric is `time` in ms. Bytes are those of the busiest party for each row of the tables that
//! the query reads. Comments come from a text pool of a megabyte.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use hushwire_aes::Backend;
use hushwire_sql::{test_support::World, tpch};
use hushwire_tables::{Query, plain};
use hushwire_wire::Shape;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Result,
    axes::{every, params},
    net::Transport,
    plans::{self, Parties},
};

/// The scales. They have 6, 60 and 600 thousand line items.
const SCALES: [&str; 3] = ["0.001", "0.01", "0.1"];

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    query: usize,
    scale: &'static str,
    transport: Transport,
    net: Shape,
}

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "tpch",
    about: "The 22 queries of TPC-H among three parties on tables that nobody sees",
    examples: "Example:\n  hushwire bench tpch --only query=6,scale=0.01 --json tpch.json",
    core: &["scale=0.01 transport=tcp-tls net=$near"],
    // A scan, a join and a group.
    quick: &["scale=0.001 transport=tcp-insecure net=none query=4|6|14"],
    cases,
    ..Bench::EMPTY
}];

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let (backend, links, worlds) = (asked.backend(), asked.links(), Rc::new(Worlds::default()));
    let points = every!(scale in SCALES, query in 1..=tpch::QUERIES.len(), &(transport, net) in &links =>
        Point { query, scale, transport, net });
    let case = |point: Point| {
        let worlds = worlds.clone();
        let params = params!(point; query, scale, protocol = "rep3", transport, net);
        Case::new("query", params, move |ctx| measure(ctx, &point, &worlds, backend))
    };
    Ok(points.into_iter().map(case).collect())
}

/// The tables of the last scale that was measured.
#[derive(Default)]
struct Worlds(std::cell::RefCell<Option<(&'static str, Rc<World>)>>);

impl Worlds {
    fn of(&self, scale: &'static str) -> std::result::Result<Rc<World>, BoxError> {
        let mut last = self.0.borrow_mut();
        match &*last {
            Some((of, world)) if *of == scale => Ok(world.clone()),
            _ => {
                let world = Rc::new(tpch::world(scale.parse()?)?);
                *last = Some((scale, world.clone()));
                Ok(world)
            }
        }
    }
}

fn measure(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    worlds: &Worlds,
    backend: Backend,
) -> std::result::Result<BenchRow, BoxError> {
    let (over, world) = ((point.transport, point.net), worlds.of(point.scale)?);
    let relation = world.relation(tpch::QUERIES[point.query - 1])?;
    let mut expected = plain::evaluate(&relation, &world.read(&relation))?;
    if ctx.spoiled() {
        expected.push(vec![]);
    }
    let query = Query::new("query", &relation, &["analyst"])?;
    let inputs = world.inputs(&query, &relation)?;
    let mut parties = Parties::new(query.computation(), over, backend, 1)?;
    let check = |outputs: &plans::Outputs| -> std::result::Result<(), BoxError> {
        let found = query.rows(outputs)?;
        if found != expected {
            let (of, came) = (expected.len(), found.len());
            return Err(format!("{came} rows came, which are not the {of} of the query in the open").into());
        }
        Ok(())
    };
    let rows = query.tables().iter().map(hushwire_tables::algebra::Table::rows).sum();
    let what = format!("query {} at {}", point.query, point.scale);
    let row = plans::measure(ctx, &mut parties, over, (&what, rows), &inputs, &check)?;
    Ok(row.with("sorts", query.sorts()).with("rows", rows))
}
