//! `bench tables`: relational operators on shared tables, with three parties in this process on one
//! thread each.
//!
//! | `op` | a run |
//! |---|---|
//! | `sort` | n rows sorted by their first column |
//! | `flags` | flags for those of n rows that a filter keeps |
//! | `filter` | the same, and kept rows moved to the front, followed by zeros |
//! | `compact` | valid rows moved to the front, half of n places kept |
//! | `group-by` | sums of the second column by the first, of which `groups` values occur |
//! | `join` | n rows joined with n others on a unique key, with one more column on each side |
//! | `join-group-order` | the same, sums of the right column by key, in its order, with one sort |
//! | `tag-join` | the same by tags of keys, which show parties 1 and 2 how often keys repeat |
//!
//! Columns have 64 bits. Rows stay in the operator's order, as within a plan, except for `filter`
//! and `compact`, which move them. A repetition goes from shares to shares. Every result is opened
//! and compared with the expected one. A wrong result fails the run. The metric is `time` in ms.
//! Bytes are those of the busiest party for each of n rows.

#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Result,
    axes::{every, params},
    net::Transport,
    plans::{self, Parties},
};
use work::{Operator, OperatorSetup};

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    op: Operator,
    n: usize,
    columns: usize,
    groups: usize,
    transport: Transport,
    net: Shape,
}

/// The sizes of an operator: rows, columns and groups. The first one is that of quick runs; the
/// last one has a required figure.
const fn sizes(op: Operator) -> &'static [(usize, usize, usize)] {
    match op {
        Operator::Sort => &[(1 << 10, 1, 0), (100_000, 1, 0), (1 << 20, 3, 0), (1 << 20, 1, 0)],
        Operator::Flags | Operator::Filter => &[(1 << 12, 2, 0), (1 << 20, 2, 0), (10_000_000, 2, 0)],
        Operator::Compact => &[(1 << 12, 2, 0), (1 << 20, 2, 0)],
        Operator::GroupBy => {
            &[(1 << 10, 2, 16), (1 << 17, 2, 1 << 16), (1 << 20, 2, 16), (1 << 20, 2, 1 << 19)]
        }
        Operator::JoinGroupOrder => &[(1 << 9, 1, 0), (1 << 16, 1, 0), (1 << 18, 1, 0)],
        Operator::Join | Operator::TagJoin => {
            &[(1 << 9, 1, 0), (1 << 16, 1, 0), (1 << 18, 1, 0), (1 << 20, 1, 0)]
        }
    }
}

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "tables",
    about: "Relational operators among three parties on tables that nobody sees: sorts, filters, groups and joins",
    examples: "Example:\n  hushwire bench tables --only op=join,net=none --json tables.json",
    cases,
    ..Bench::EMPTY
}];

impl Point {
    fn place(&self) -> usize {
        let size = (self.n, self.columns, self.groups);
        sizes(self.op).iter().position(|other| *other == size).unwrap_or(0)
    }

    /// Whether a run without options measures it: every size over plain TCP, sizes with required
    /// figures over TLS, and the second size over networks.
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

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let (backend, given, links) = (asked.backend(), asked.net.is_some(), asked.links());
    let points = every!(op in Operator::ALL, &(n, columns, groups) in sizes(op), &(transport, net) in &links =>
        Point { op, n, columns, groups, transport, net });
    let case = |point: Point| {
        let params = params!(point; op, n, columns, groups, protocol = "rep3", transport, net);
        let case = Case::new("operator", params, move |ctx| measure(ctx, &point, backend));
        case.core(point.is_core(given)).quick(point.is_quick())
    };
    Ok(points.into_iter().map(case).collect())
}

fn measure(ctx: &mut CaseContext<'_>, point: &Point, backend: Backend) -> Result<BenchRow, BoxError> {
    let over = (point.transport, point.net);
    let made = OperatorSetup::new(point.op, point.n, point.columns, point.groups)?;
    let mut parties = Parties::new(made.query.computation(), over, backend, 1)?;
    let what = format!("{} of {}", point.op.name(), point.n);
    let spoiled = ctx.spoiled();
    let check = |outputs: &plans::Outputs| made.check(outputs, spoiled);
    let row = plans::measure(ctx, &mut parties, over, (&what, point.n as u64), &made.inputs, &check)?;
    Ok(row.with("sorts", made.query.sorts()))
}
