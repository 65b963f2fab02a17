//! Binds window functions.
//!
//! The algebra has running sums, extremes up to a row, neighbours, and held values. All frames and
//! other functions are expressions of these. A sum over a sliding frame is the difference of two
//! running sums. A frame that ends with its partition is a frame of the reverse order.

use super::{
    Binder, Env,
    expr::{Calls, placed},
    frame::{Edge, Spec},
    function::Given,
    instead::known,
    ranged::{Ends, Over, Ranged, RangedFigure},
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::{Id, OrderKey},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::{
    aggregates::{self, AggregateArguments, AggregateMeaning, Figure, Figures, OverFrame},
    algebra::{
        Arithmetic, Column, Expr, Frame, Relation, SortKey, Value, Window, WindowFunction, counted, whole,
    },
    functions::{Reader, coalesce},
};
use sqlparser::ast;

/// LOCAL: the most rows of a sliding frame with a least or greatest value.
const MOST_NEIGHBOURS: i128 = 256;

/// Window functions that are being bound.
pub(super) struct InWindow<'a, 'q> {
    pub(super) binder: &'a mut Binder<'q>,
    all: &'a mut Vec<Over>,
    pub(super) spec: Spec,
    name: &'a str,
    pub(super) at: At,
}

impl Figures for InWindow<'_, '_> {
    fn reader(&self) -> Reader<'_> {
        self.binder.reader()
    }

    fn figure(
        &mut self,
        figure: &'static Figure,
        argument: Option<Expr>,
        distinct: bool,
    ) -> Result<Expr, Fault> {
        let Some(of) = argument else { return self.sum(&whole(1)) };
        let of = figure.taken(&self.reader(), of).map_err(|e| e.placed(self.at.0))?;
        if distinct && figure.repeats() {
            return self.distinct(figure, of);
        }
        figure.over_frame(self, &of)
    }

    fn within(
        &mut self,
        partition: Vec<Expr>,
        order: Vec<(Expr, bool)>,
        call: WindowFunction,
    ) -> Result<Expr, Fault> {
        if !self.spec.is_whole() {
            let clause = format!("{} over a part of a partition", self.name.to_uppercase());
            let remedy = "leave out its ORDER BY and its frame, so that it spans the partition, or group in a derived table and join";
            return Err(unsupported(self.at, &clause, remedy));
        }
        let key = |(expr, descending)| (expr, OrderKey { id: 0, descending, nulls_first: false });
        let spec = Spec {
            partition: [self.spec.partition.clone(), partition].concat(),
            order: order.into_iter().map(key).collect(),
            ..self.spec.clone()
        };
        self.call(&spec, call)
    }
}

impl OverFrame for InWindow<'_, '_> {
    fn rules(&self) -> Reader<'_> {
        self.binder.reader()
    }

    fn sum(&mut self, of: &Expr) -> Result<Expr, Fault> {
        self.frame_sum(of)
    }

    fn extreme(&mut self, of: &Expr, greatest: bool) -> Result<Expr, Fault> {
        self.frame_extreme(of, greatest)
    }
}

impl InWindow<'_, '_> {
    /// The column of a function of the algebra over a window; equal functions share a column. A
    /// window that reads columns of others comes after them.
    pub(super) fn call(&mut self, spec: &Spec, call: WindowFunction) -> Result<Expr, Fault> {
        let Spec { partition, order, .. } = spec;
        let read = call.argument().into_iter().chain(partition).chain(order.iter().map(|(e, _)| e));
        let read: Vec<Id> = read.flat_map(Expr::columns).collect();
        let makes = |over: &Over| over.made().any(|id| read.contains(&id));
        let first = self.all.iter().rposition(makes).map_or(0, |place| place + 1);
        let alike =
            |over: &Over| over.ranged.is_none() && over.partition == *partition && over.order == *order;
        let place = self.all[first..].iter().position(alike).map(|place| first + place);
        let place = place.unwrap_or_else(|| {
            self.all.push(Over::new(partition.clone(), order.clone()));
            self.all.len() - 1
        });
        if let Some((id, _)) = self.all[place].calls.iter().find(|(_, other)| *other == call) {
            return Ok(Expr::Column(*id));
        }
        let name = self.name.to_ascii_uppercase();
        let id = self.binder.window_column(partition, order, (&name, &call), self.at)?;
        self.all[place].calls.push((id, call));
        Ok(Expr::Column(id))
    }

    fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr) -> Result<Expr, Fault> {
        self.reader().arithmetic(op, a, b)
    }

    pub(super) fn compared(&self, op: Comparison, a: Expr, b: Expr) -> Result<Expr, Fault> {
        self.reader().compared(op, a, b)
    }

    /// `yes` if the condition is true, else `no`.
    pub(super) fn choose(&self, condition: Expr, yes: Expr, no: Expr) -> Result<Expr, Fault> {
        let mut both = self.reader().united(vec![no, yes])?;
        let branches = vec![(condition, both.pop().unwrap_or_else(|| whole(1)))];
        Ok(Expr::Case { branches, otherwise: both.pop().map(Box::new) })
    }

    /// The sum from the first row to the one this many rows after the current row. NULLs count as
    /// 0.
    fn sum_to(&mut self, spec: &Spec, of: &Expr, rows: i128) -> Result<Expr, Fault> {
        let running = self.call(spec, WindowFunction::RunningSum(of.clone(), Frame::Rows))?;
        let (moved, beyond) = match rows {
            0 => return Ok(running),
            1.. => {
                let all = Spec { order: vec![], ..spec.clone() };
                let all = self.call(&all, WindowFunction::RunningSum(of.clone(), Frame::Peers))?;
                (WindowFunction::Lead(running, rows as u64), all)
            }
            _ => (WindowFunction::Lag(running, rows.unsigned_abs() as u64), whole(0)),
        };
        let moved = self.call(spec, moved)?;
        Ok(coalesce(self.reader().united(vec![moved, beyond])?))
    }

    fn frame_sum(&mut self, of: &Expr) -> Result<Expr, Fault> {
        let spec = self.spec.begun();
        let peers = match (spec.start, spec.end) {
            (Edge::First, Edge::Last) => Some(Frame::Peers),
            (Edge::First, Edge::Row(0)) => Some(spec.frame),
            _ => None,
        };
        if let Some(frame) = peers {
            return self.call(&spec, WindowFunction::RunningSum(of.clone(), frame));
        }
        let ends = spec.ends.clone();
        if ends.is_none() {
            self.refuse_ranges()?;
        }
        let ty = self.reader().ty(of)?;
        let zero = Expr::Literal(Value::Number(0), ty);
        let there = coalesce(vec![of.clone(), zero]);
        let nullable = self.binder.columns.may_be_null(of)?;
        let mut between = |of: &Expr| -> Result<Expr, Fault> {
            if let Some(ends) = &ends {
                return self.over_distance(&spec, ends, RangedFigure::Sum(of.clone()));
            }
            let upper = match spec.end {
                Edge::Row(n) => self.sum_to(&spec, of, n)?,
                _ => return Err(self.unknown()),
            };
            match spec.start {
                Edge::Row(n) => {
                    let lower = self.sum_to(&spec, of, n - 1)?;
                    self.arithmetic(Arithmetic::Subtract, upper, lower)
                }
                _ => Ok(upper),
            }
        };
        let sum = between(&if nullable { there } else { of.clone() })?;
        // A frame may be empty.
        let count = between(&counted(of))?;
        if *of == counted(of) || *of == whole(1) || is_count(of) {
            return Ok(sum);
        }
        let some = self.compared(Comparison::Greater, count, whole(0))?;
        Ok(Expr::Case { branches: vec![(some, sum)], otherwise: None })
    }

    /// The column of a figure over a frame by a distance.
    pub(super) fn over_distance(
        &mut self,
        spec: &Spec,
        ends: &Ends,
        figure: RangedFigure,
    ) -> Result<Expr, Fault> {
        let Spec { partition, order, .. } = spec;
        // The running figure has the result's type.
        let running = figure.running(Frame::Rows);
        let read: Vec<Id> = figure.argument().columns();
        let makes = |over: &Over| over.made().any(|id| read.contains(&id));
        let first = self.all.iter().rposition(makes).map_or(0, |place| place + 1);
        let alike = |over: &Over| {
            over.partition == *partition
                && over.order == *order
                && over.ranged.as_ref().is_some_and(|ranged| ranged.ends == *ends)
        };
        let place = self.all[first..].iter().position(alike).map(|place| first + place);
        let place = place.unwrap_or_else(|| {
            let ranged = Some(Ranged { ends: ends.clone(), figures: vec![] });
            self.all.push(Over { ranged, ..Over::new(partition.clone(), order.clone()) });
            self.all.len() - 1
        });
        let known = self.all[place].ranged.iter().flat_map(|ranged| &ranged.figures);
        if let Some((id, _)) = known.into_iter().find(|(_, known)| *known == figure) {
            return Ok(Expr::Column(*id));
        }
        let id = self.binder.window_column(partition, order, (self.name, &running), self.at)?;
        if !matches!(figure, RangedFigure::Sum(_)) {
            // A frame may be empty.
            self.binder.may_be_null(&[id]);
        }
        if let Some(ranged) = &mut self.all[place].ranged {
            ranged.figures.push((id, figure));
        }
        Ok(Expr::Column(id))
    }

    pub(super) fn unknown(&self) -> Fault {
        unsupported(
            self.at,
            "a frame that ends before it begins",
            "write the earlier end first: ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
        )
    }

    pub(super) fn refuse_ranges(&self) -> Result<(), Fault> {
        if self.spec.frame == Frame::Rows {
            return Ok(());
        }
        let clause = "RANGE by a distance";
        let remedy = "count rows by ROWS BETWEEN n PRECEDING AND CURRENT ROW, or join the table with itself on the distance and group";
        Err(fault(self.at, code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]))
    }

    fn frame_extreme(&mut self, of: &Expr, greatest: bool) -> Result<Expr, Fault> {
        let spec = self.spec.begun();
        if let Some(ends) = spec.ends.clone() {
            return self.over_distance(&spec, &ends, RangedFigure::Extreme { of: of.clone(), greatest });
        }
        let of_frame = |frame| WindowFunction::Extreme { of: of.clone(), greatest, frame };
        match (spec.start, spec.end) {
            (Edge::First, Edge::Last) => self.call(&spec, of_frame(Frame::Peers)),
            (Edge::First, Edge::Row(0)) => self.call(&spec, of_frame(spec.frame)),
            (Edge::First, Edge::Row(n)) => {
                self.refuse_ranges()?;
                let so_far = self.call(&spec, of_frame(Frame::Rows))?;
                if n < 0 {
                    return self.call(&spec, WindowFunction::Lag(so_far, n.unsigned_abs() as u64));
                }
                let moved = self.call(&spec, WindowFunction::Lead(so_far, n as u64))?;
                let is_there = self.call(&spec, WindowFunction::Lead(whole(1), n as u64))?;
                let all = self.call(&Spec { order: vec![], ..spec.clone() }, of_frame(Frame::Peers))?;
                self.choose(is_there.is_null(), all, moved)
            }
            (Edge::Row(a), Edge::Row(b)) => {
                self.refuse_ranges()?;
                if b < a || b - a >= MOST_NEIGHBOURS {
                    let cause = format!("the least or the greatest of a frame of {} rows", b - a + 1);
                    let remedy = format!("take a frame of 1 to {MOST_NEIGHBOURS} rows");
                    return Err(refused_at(self.at, cause, remedy));
                }
                let neighbours = (a..=b).map(|n| self.neighbour(&spec, of, n));
                let neighbours = neighbours.collect::<Result<Vec<_>, _>>()?;
                let name = if greatest { "greatest" } else { "least" };
                self.binder.call(name, neighbours, self.at)
            }
            _ => Err(self.unknown()),
        }
    }

    /// The value this many rows after the current row.
    pub(super) fn neighbour(&mut self, spec: &Spec, of: &Expr, rows: i128) -> Result<Expr, Fault> {
        match rows {
            0 => Ok(of.clone()),
            1.. => self.call(spec, WindowFunction::Lead(of.clone(), rows as u64)),
            _ => self.call(spec, WindowFunction::Lag(of.clone(), rows.unsigned_abs() as u64)),
        }
    }

    /// A figure over the distinct values of a partition. The count is the greatest rank in their
    /// order.
    fn distinct(&mut self, figure: &Figure, of: Expr) -> Result<Expr, Fault> {
        if !self.spec.is_whole() || !figure.counts() {
            let clause = format!("DISTINCT in {} over a window", self.name.to_uppercase());
            let remedy = "take it of the rows of SELECT DISTINCT in a derived table, by GROUP BY, and join; COUNT(DISTINCT a) OVER (PARTITION BY b) is there";
            return Err(unsupported(self.at, &clause, remedy));
        }
        let place = self.within(vec![], vec![(of.clone(), false)], WindowFunction::DenseRank)?;
        let place = Expr::Case { branches: vec![(of.is_null().not(), place)], otherwise: None };
        let most = WindowFunction::Extreme { of: place, greatest: true, frame: Frame::Peers };
        let most = self.within(vec![], vec![], most)?;
        Ok(coalesce(vec![most, whole(0)]))
    }

    /// A quotient of two counts.
    fn ratio(&self, a: Expr, b: Expr) -> Result<Expr, Fault> {
        self.arithmetic(Arithmetic::Divide, a, b)
    }

    /// The number of rows of the partition.
    fn rows(&mut self) -> Result<Expr, Fault> {
        let spec = Spec { order: vec![], ..self.spec.clone() };
        self.call(&spec, WindowFunction::RunningSum(whole(1), Frame::Peers))
    }

    /// A window function that is not an aggregate.
    fn of_rows(&mut self, args: &[Expr], ignores: bool) -> Result<Expr, Fault> {
        let spec = Spec { frame: Frame::Rows, ..self.spec.clone() };
        let literal = |e: &Expr| match e {
            Expr::Literal(Value::Number(n), ty) if ty.is_integer() && *n >= 0 => Some(*n),
            _ => None,
        };
        let minus_one = |this: &Self, e: Expr| this.arithmetic(Arithmetic::Subtract, e, whole(1));
        match (self.name, args) {
            ("row_number", []) => self.call(&spec, WindowFunction::RowNumber),
            ("rank", []) => self.call(&spec, WindowFunction::Rank),
            ("dense_rank", []) => self.call(&spec, WindowFunction::DenseRank),
            ("percent_rank", []) => {
                let rank = self.call(&spec, WindowFunction::Rank)?;
                let rows = self.rows()?;
                let single = self.compared(Comparison::Equal, rows.clone(), whole(1))?;
                let ratio = self.ratio(minus_one(self, rank)?, minus_one(self, rows)?)?;
                self.choose(single, whole(0), ratio)
            }
            ("cume_dist", []) => {
                let so_far = self.call(&spec, WindowFunction::RunningSum(whole(1), Frame::Peers))?;
                let rows = self.rows()?;
                self.ratio(so_far, rows)
            }
            ("ntile", [parts]) => self.tile(&spec, parts),
            ("lag" | "lead", [of, rest @ ..]) => {
                let by = match rest.first() {
                    None => 1,
                    Some(by) => literal(by).ok_or_else(|| {
                        unsupported(
                            self.at,
                            "LAG or LEAD by what is no literal",
                            "write a whole number, as in LAG(a, 2), or join by ROW_NUMBER",
                        )
                    })? as u64,
                };
                let neighbour = |of: Expr| match self.name {
                    "lag" => WindowFunction::Lag(of, by),
                    _ => WindowFunction::Lead(of, by),
                };
                let (value, there) = (neighbour(of.clone()), neighbour(whole(1)));
                if ignores {
                    if by != 1 || rest.len() > 1 {
                        let clause = "LAG or LEAD with IGNORE NULLS by more than one row, or with a default";
                        let remedy = "write COALESCE(LAG(a IGNORE NULLS) OVER w, default), or number the rows WHERE a IS NOT NULL and join";
                        return Err(unsupported(self.at, clause, remedy));
                    }
                    // The last value so far that is not NULL, as of the row before.
                    let turned = match self.name {
                        "lag" => spec.clone(),
                        _ => Spec { start: Edge::Row(0), end: Edge::Last, ..spec.clone() }.begun(),
                    };
                    let held = WindowFunction::Held {
                        of: of.clone(),
                        first: false,
                        nulls: false,
                        frame: Frame::Rows,
                    };
                    let held = self.call(&turned, held)?;
                    return self.call(&turned, WindowFunction::Lag(held, 1));
                }
                match rest {
                    [] | [_] => self.call(&spec, value),
                    [_, default] => {
                        let (value, there) = (self.call(&spec, value)?, self.call(&spec, there)?);
                        self.choose(there.is_null(), default.clone(), value)
                    }
                    _ => Err(unsupported(
                        self.at,
                        "LAG or LEAD with more than three arguments",
                        "write LAG(value, rows, default)",
                    )),
                }
            }
            ("first_value" | "first", [of]) => self.held(of, true, !ignores),
            ("last_value" | "last", [of]) => self.held(of, false, !ignores),
            ("nth_value", [of, n]) => {
                let n = literal(n).filter(|n| *n > 0);
                let n = n.ok_or_else(|| {
                    unsupported(
                        self.at,
                        "NTH_VALUE of a number that is no literal above 0",
                        "write a whole number from 1 on, as in NTH_VALUE(a, 2)",
                    )
                })?;
                self.nth(of, n, !ignores)
            }
            _ => {
                let function = format!("{} OVER", self.name);
                let remedy = known(self.name).unwrap_or("over a window there are all aggregates, ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE: call others on the columns, without OVER");
                let fields: [(_, &dyn std::fmt::Display); 2] = [("function", &function), ("remedy", &remedy)];
                Err(fault(self.at, code::FUNCTION_UNSUPPORTED, &fields))
            }
        }
    }

    /// NTILE: the first parts have one row more than the others.
    fn tile(&mut self, spec: &Spec, parts: &Expr) -> Result<Expr, Fault> {
        use Arithmetic::{Add, DivideWhole, Multiply, Remainder, Subtract};
        let number = self.call(spec, WindowFunction::RowNumber)?;
        let rows = self.rows()?;
        let before = self.arithmetic(Subtract, number, whole(1))?;
        let size = self.arithmetic(DivideWhole, rows.clone(), parts.clone())?;
        let larger = self.arithmetic(Remainder, rows, parts.clone())?;
        let size_of_larger = self.arithmetic(Add, size.clone(), whole(1))?;
        let in_larger = self.arithmetic(Multiply, larger.clone(), size_of_larger.clone())?;
        let is_in = self.compared(Comparison::Less, before.clone(), in_larger.clone())?;
        let first = self.arithmetic(DivideWhole, before.clone(), size_of_larger)?;
        let behind = self.arithmetic(Subtract, before, in_larger)?;
        let second = self.arithmetic(DivideWhole, behind, size)?;
        let second = self.arithmetic(Add, larger, second)?;
        let place = self.choose(is_in, first, second)?;
        self.arithmetic(Add, place, whole(1))
    }
}

/// Whether values are 0 and 1, so that their sum is a count.
fn is_count(of: &Expr) -> bool {
    match of {
        Expr::Case { branches, otherwise } => {
            otherwise.iter().map(AsRef::as_ref).chain(branches.iter().map(|b| &b.1)).all(is_count)
        }
        other => matches!(other, Expr::Literal(value, _) if !value.is_null()),
    }
}

impl<'q> Binder<'q> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn windowed(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        name: &str,
        given: &Given<'q>,
        filter: Option<&'q ast::Expr>,
        over: &'q ast::WindowType,
        at: At,
    ) -> Result<Expr, Fault> {
        if calls.windows.is_none() || calls.inside {
            let remedy = "write it in the list, in ORDER BY or in QUALIFY, which filters: SELECT id FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1";
            return Err(fault(at, code::WINDOW_MISPLACED, &[]).remedied(remedy));
        }
        // The argument of a window function may contain aggregates, but no window function.
        let windows = calls.windows.take();
        let made = self.spec(env, calls, over, at);
        let made = made.and_then(|spec| Ok((spec, self.given(env, calls, given, filter)?)));
        calls.windows = windows;
        let (spec, (args, order)) = made?;
        let mut all = calls.windows.take().unwrap_or_default();
        let mut within = InWindow { binder: self, all: &mut all, spec, name, at };
        let made = match aggregates::find(name) {
            Some(found) if !matches!(name, "first" | "last") => {
                let count = args.as_ref().map_or(0, Vec::len);
                match (&found.meaning, args) {
                    (AggregateMeaning::Native(figure), None) if figure.counts() => {
                        within.figure(figure, None, given.distinct)
                    }
                    (_, None) => {
                        Err(unsupported(at, &format!("{name}(*)"), "name its argument: only COUNT takes *"))
                    }
                    (_, Some(_))
                        if !found.arity.contains(&count) || count == 0 && found.names[0] == "count" =>
                    {
                        let fields: [(_, &dyn std::fmt::Display); 3] =
                            [("function", &name), ("found", &count), ("expected", &1)];
                        Err(fault(at, code::ARGUMENTS, &fields))
                    }
                    (AggregateMeaning::Native(figure), Some(mut args)) => match args.pop() {
                        Some(of) if args.is_empty() => within.figure(figure, Some(of), given.distinct),
                        _ => Err(unsupported(
                            at,
                            "several arguments in a window function",
                            "give it one argument; count rows in which two are there by COUNT(a + b), or by FILTER (WHERE …)",
                        )),
                    },
                    (AggregateMeaning::Rewritten(meaning), Some(all)) => {
                        let (distinct, room) = (given.distinct, calls.room);
                        let figures = &mut within;
                        meaning(&mut AggregateArguments { name, all, order, distinct, room, figures })
                    }
                }
            }
            _ => {
                let args = args.unwrap_or_default();
                within.of_rows(&args, given.ignores)
            }
        };
        calls.windows = Some(all);
        placed(made, at)
    }

    /// Makes a column for a window function.
    pub(super) fn window_column(
        &mut self,
        partition: &[Expr],
        order: &[(Expr, OrderKey)],
        (name, call): (&str, &WindowFunction),
        at: At,
    ) -> Result<Id, Fault> {
        let key = |(expr, key): &(Expr, OrderKey)| SortKey {
            expr: expr.clone(),
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        let window = Window {
            partition: partition.to_vec(),
            order: order.iter().map(key).collect(),
            functions: vec![(name.to_owned(), call.clone())],
        };
        let none = Relation::values(self.columns.0.clone(), vec![])?;
        let made = none.window(window).map_err(|e| e.placed(at.0))?;
        let Some(column) = made.schema().columns().last() else { unreachable!("a window adds a column") };
        // A sum may be NULL because of its size, except a sum of ones.
        let sums = matches!(call, WindowFunction::RunningSum(of, _) if !is_count(of));
        let column = Column { range: None, nullable: column.nullable || sums, ..column.clone() };
        Ok(self.columns.add(column))
    }
}
