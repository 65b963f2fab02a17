//! `bench tpch`: the 22 queries of TPC-H on tables that nobody sees, three parties in this process on a thread each.
//!
//! A repetition goes from shares of the columns that a query reads to shares of its result; every result is opened and compared with
//! the query's rows in the open: a wrong one fails the run. Metric `time` in ms; bytes are those of the busiest party for a row of
//! the tables that are read. Comments come from a text pool of a megabyte.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use hushwire_aes::Backend;
use hushwire_sql::{test_support::World, tpch};
use hushwire_tables::{Query, plain};
use hushwire_wire::Shape;

use crate::{
    BenchOptions, BoxError, Case, Context, Params, Report, Result, Row,
    net::{NETS, Transport},
    plans::{self, Parties},
};

/// Scales: line items are 6, 60 and 600 thousand.
const SCALES: [&str; 3] = ["0.001", "0.01", "0.1"];

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    query: usize,
    scale: &'static str,
    transport: Transport,
    net: Shape,
}

impl Point {
    fn all(nets: &[Shape]) -> Vec<Self> {
        let mut points = vec![];
        for scale in SCALES {
            for query in 1..=tpch::QUERIES.len() {
                for transport in Transport::ALL {
                    for &net in nets {
                        if net == Shape::NONE || transport != Transport::Inproc {
                            points.push(Self { query, scale, transport, net });
                        }
                    }
                }
            }
        }
        points
    }

    fn params(&self) -> Params {
        Params::new()
            .with("query", self.query)
            .with("scale", self.scale)
            .with("protocol", "rep3")
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
    }

    /// Whether a run without options measures it: every query at 0.01 over TLS.
    fn is_core(&self, given: bool) -> bool {
        self.scale == SCALES[1] && self.transport == Transport::TcpTls && (given || self.net == Shape::NONE)
    }

    /// Whether `--quick` measures it: a scan, a join and a group.
    fn is_quick(&self) -> bool {
        self.scale == SCALES[0]
            && self.transport == Transport::TcpInsecure
            && self.net == Shape::NONE
            && [4, 6, 14].contains(&self.query)
    }
}

/// Measures what the options ask for.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when a result is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("tpch", cases(options, backend, net, false)?, options)
}

/// The grid. `spoiled` makes every check fail, for a test.
fn cases(
    options: &BenchOptions,
    backend: Backend,
    net: Option<Shape>,
    spoiled: bool,
) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let nets = net.map_or(NETS.to_vec(), |net| vec![net]);
    let given = net.is_some();
    let worlds = Rc::new(Worlds::default());
    let case = |point: Point| {
        let worlds = worlds.clone();
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, &worlds, backend, spoiled);
        Case::new("query", point.params(), work).core(point.is_core(given)).quick(point.is_quick())
    };
    Ok(Point::all(&nets).into_iter().map(case).collect())
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
    ctx: &mut Context<'_>,
    point: &Point,
    worlds: &Worlds,
    backend: Backend,
    spoiled: bool,
) -> std::result::Result<Row, BoxError> {
    let (over, world) = ((point.transport, point.net), worlds.of(point.scale)?);
    let relation = world.relation(tpch::QUERIES[point.query - 1])?;
    let mut expected = plain::evaluate(&relation, &world.read(&relation))?;
    if spoiled {
        expected.push(vec![]);
    }
    let query = Query::new("query", &relation, &["analyst"])?;
    let inputs = world.inputs(&query, &relation)?;
    let mut parties = Parties::new(query.computation(), over, backend)?;
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
