//! `bench tables`: relational operators on tables that nobody sees, three parties in this process on a thread each.
//!
//! | `op` | a run |
//! |---|---|
//! | `sort` | n rows by their first column, the others with it |
//! | `flags` | which of n rows a filter keeps |
//! | `filter` | the same, and kept rows to the front, with zeros behind them |
//! | `compact` | valid rows to the front, half of n places kept |
//! | `group-by` | sums of the second column by the first, of which `groups` values occur |
//! | `join` | n rows with the one of n others whose key they have, a column beside each key |
//! | `join-group-order` | the same, sums by key in the order of keys, by one sort (`sorts`) |
//! | `tag-join` | the same by tags of keys, which show parties 1 and 2 how often keys repeat |
//!
//! Columns have 64 bits. Rows stay where an operator leaves them, as in the midst of a plan, but for `filter` and `compact`, which move
//! them. A repetition goes from shares to shares; every result is opened and compared with what it must be: a wrong one fails the
//! run. Metric `time` in ms; bytes are those of the busiest party for a row of n.

#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    BenchOptions, BoxError, Case, Context, Params, Report, Result, Row,
    net::{NETS, Transport},
    plans::{self, Parties},
};
use work::{Made, Op};

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    op: Op,
    n: usize,
    columns: usize,
    groups: usize,
    transport: Transport,
    net: Shape,
}

/// Sizes of an operator, rows, columns and groups: the first is that of quick runs, of the last a figure is asked.
const fn sizes(op: Op) -> &'static [(usize, usize, usize)] {
    match op {
        Op::Sort => &[(1 << 10, 1, 0), (100_000, 1, 0), (1 << 20, 3, 0), (1 << 20, 1, 0)],
        Op::Flags | Op::Filter => &[(1 << 12, 2, 0), (1 << 20, 2, 0), (10_000_000, 2, 0)],
        Op::Compact => &[(1 << 12, 2, 0), (1 << 20, 2, 0)],
        Op::GroupBy => &[(1 << 10, 2, 16), (1 << 17, 2, 1 << 16), (1 << 20, 2, 16), (1 << 20, 2, 1 << 19)],
        Op::JoinGroupOrder => &[(1 << 9, 1, 0), (1 << 16, 1, 0), (1 << 18, 1, 0)],
        Op::Join | Op::TagJoin => &[(1 << 9, 1, 0), (1 << 16, 1, 0), (1 << 18, 1, 0), (1 << 20, 1, 0)],
    }
}

impl Point {
    fn all(nets: &[Shape]) -> Vec<Self> {
        let mut points = vec![];
        for op in Op::ALL {
            for &(n, columns, groups) in sizes(op) {
                for transport in Transport::ALL {
                    for &net in nets {
                        // Queues in memory are no link that could be shaped.
                        if net == Shape::NONE || transport != Transport::Inproc {
                            points.push(Self { op, n, columns, groups, transport, net });
                        }
                    }
                }
            }
        }
        points
    }

    fn params(&self) -> Params {
        Params::new()
            .with("op", self.op.name())
            .with("n", self.n)
            .with("columns", self.columns)
            .with("groups", self.groups)
            .with("protocol", "rep3")
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
    }

    fn place(&self) -> usize {
        let size = (self.n, self.columns, self.groups);
        sizes(self.op).iter().position(|other| *other == size).unwrap_or(0)
    }

    /// Whether a run without options measures it: every size over plain TCP, sizes of which a figure is asked over TLS, the second
    /// size over networks.
    fn is_core(&self, given: bool) -> bool {
        let near = self.net == Shape::NONE || given;
        let last = self.place() + 1 == sizes(self.op).len();
        match self.transport {
            Transport::TcpInsecure => near && self.place() > 0,
            Transport::TcpTls => {
                if near {
                    last
                } else {
                    self.place() == 1 && self.n <= 1 << 17
                }
            }
            _ => false,
        }
    }

    fn is_quick(&self) -> bool {
        self.transport == Transport::TcpInsecure && self.net == Shape::NONE && self.place() == 0
    }
}

/// Measures what the options ask for.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when a result is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("tables", cases(options, backend, net, false)?, options)
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
    let case = |point: Point| {
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, backend, spoiled);
        Case::new("operator", point.params(), work).core(point.is_core(given)).quick(point.is_quick())
    };
    Ok(Point::all(&nets).into_iter().map(case).collect())
}

fn measure(ctx: &mut Context<'_>, point: &Point, backend: Backend, spoiled: bool) -> Result<Row, BoxError> {
    let over = (point.transport, point.net);
    let made = Made::new(point.op, point.n, point.columns, point.groups)?;
    let mut parties = Parties::new(made.query.computation(), over, backend)?;
    let what = format!("{} of {}", point.op.name(), point.n);
    let check = |outputs: &plans::Outputs| made.check(outputs, spoiled);
    let row = plans::measure(ctx, &mut parties, over, (&what, point.n as u64), &made.inputs, &check)?;
    Ok(row.with("sorts", made.query.sorts()))
}
