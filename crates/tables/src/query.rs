//! A relation as a computation; converts its rows to inputs and its outputs to rows.

use crate::incoming::unknown_part;
use crate::{
    Fault,
    algebra::{Column, ColumnType, Relation, Schema, Table, Value},
    functions::Letters,
    incoming::Incoming,
    letters::{Places, cut, refuse_owners},
    lower::{
        Finished, Lower, Made, Note,
        cell::{Cell, scalar, value},
        numbers::zero,
    },
    plain::Row,
    promises::broken,
    result::{ResultColumn, ResultColumns},
    settle::{Order, order, settled},
};
use hushwire_compute::{Builder, Computation, Member, Node, Op, Shape, Tensor};
use hushwire_fault::code;
use std::{collections::BTreeMap, fmt::Write};

/// A relation as a computation. It reveals the valid rows to its recipients, and nothing to anybody
/// else.
///
/// Its outputs are columns of [`Relation::rows`] elements, valid rows first and zeros after them;
/// NULL flags for each column that needs them; the validity flags; and one bit for each promise. If
/// a promise is broken, no row is valid.
///
/// ```
/// use hushwire_tables::{Query, algebra::*};
/// use std::collections::BTreeMap;
/// let table = Table {
///     name: "t".into(),
///     schema: Schema(vec![Column::new("x", ColumnType::Integer)]),
///     parts: vec![TablePart { owner: "alice".into(), rows: 3 }],
///     padded: false,
///     unique: vec![],
/// };
/// let small = Expr::Column(0).compare(
///     hushwire_compute::Comparison::Less,
///     Expr::literal(Value::Number(3), ColumnType::Integer),
/// );
/// let query = Query::new("small", &Relation::scan(table)?.filter(small)?, &["bob"])?;
/// let rows: Vec<_> = [5, 1, 2].map(|n| vec![Value::Number(n)]).into();
/// let outputs = hushwire_compute::evaluate(query.computation(), &query.inputs("t", 0, &rows)?)?;
/// assert_eq!(query.rows(&outputs)?, vec![vec![Value::Number(1)], vec![Value::Number(2)]]);
/// # Ok::<(), hushwire_tables::Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    computation: Computation,
    tables: Vec<Table>,
    /// For each table, the columns that its owners compute.
    made: Vec<Vec<Made>>,
    schema: Schema,
    /// Whether each column has NULL flags.
    nulls: Vec<bool>,
    promises: Vec<String>,
    notes: Vec<Note>,
    /// The number of the operator's line, for each node. Nodes that make the result have the number
    /// after the last line.
    lines: Vec<u32>,
    sorts: usize,
    order: Order,
    tags: bool,
    /// The columns from which the parties compute functions that take only certain letters.
    cut: Places,
}

/// The outputs of a query: flags for the rows of the result, and each column's type, values and
/// NULL flags.
struct QueryOutputs<'o> {
    valid: &'o Tensor,
    columns: Vec<(ColumnType, &'o Tensor, Option<&'o Tensor>)>,
}

/// The options of a lowering.
#[derive(Clone, Copy, Default)]
struct LoweringOptions {
    /// Rows stay where operators leave them.
    in_place: bool,
    /// Joins with a unique side use tags of keys.
    tags: bool,
}

/// The information that the order of rows reveals, beyond values that are shown or requested.
struct Tells {
    /// Whether the order of the result's rows reveals more.
    more: bool,
    /// The error, if the choice of rows reveals more: an operator chose or numbered rows by the
    /// order.
    unfair: Option<Fault>,
}

impl Query {
    /// A query with this name, whose result the members `to` learn.
    ///
    /// # Errors
    /// If there are more operations than a computation can have, or names are invalid. If a limit,
    /// a row number, a neighbour or a running sum would depend on the order of keys that no ORDER
    /// BY names and the result does not show.
    pub fn new(name: &str, relation: &Relation, to: &[&str]) -> Result<Query, Fault> {
        Self::made(name, relation, to, LoweringOptions::default())
    }

    /// A query whose joins use tags if one side's keys are unique. Instead of sorting, three
    /// parties open keyed digests of the rows' keys, shuffled, and match rows of both sides by
    /// them. This takes less time. It reveals to the parties of each such join how many rows of
    /// either side have the same key, under pseudonyms that are new in every run. Padding, rows
    /// that a filter left out, and rows without a key look like keys that occur once. For keys of
    /// more than 128 bits, two digests collide with a probability below 2^-64 for 2^32 rows. Other
    /// numbers of parties sort instead.
    ///
    /// # Errors
    /// As [`Query::new`].
    pub fn by_tags(name: &str, relation: &Relation, to: &[&str]) -> Result<Query, Fault> {
        Self::made(name, relation, to, LoweringOptions { tags: true, in_place: false })
    }

    /// A query that leaves rows where operators put them. Valid rows are not moved to the front,
    /// and the content of invalid rows is shown too. It measures the cost of an operator in the
    /// middle of a plan; its result must never be given to anybody.
    ///
    /// # Errors
    /// As [`Query::new`].
    #[doc(hidden)]
    pub fn in_place(name: &str, relation: &Relation, to: &[&str], tags: bool) -> Result<Query, Fault> {
        Self::made(name, relation, to, LoweringOptions { tags, in_place: true })
    }

    fn made(name: &str, relation: &Relation, to: &[&str], way: LoweringOptions) -> Result<Query, Fault> {
        let (query, tells) = Self::lowered(name, relation, to, way)?;
        if way.in_place || (!tells.more && tells.unfair.is_none()) {
            return Ok(query);
        }
        // Equal rows may still be in that order, which nobody can see. Limits at the top are then
        // fair.
        let (query, tells) = Self::lowered(name, &settled(relation)?, to, way)?;
        tells.unfair.map_or(Ok(query), Err)
    }

    /// The computation of a relation, and the information that its order of rows reveals.
    fn lowered(
        name: &str,
        relation: &Relation,
        to: &[&str],
        way: LoweringOptions,
    ) -> Result<(Query, Tells), Fault> {
        refuse_owners(relation)?;
        let is_result = !way.in_place;
        let b = Builder::new(name);
        let (tables, made, notes, lines, promises, nulls, tells) = {
            let mut lower = Lower::new(&b, relation);
            lower.tags = way.tags;
            let rows = lower.lower(relation, &[]);
            let to: Vec<Member> = to.iter().map(|name| lower.member(name)).collect();
            let Finished { tables, made, promises, notes, lines, ties } = lower.finish()?;
            let tells = Tells { more: rows.tells_more(), unfair: rows.unfair(&ties) };
            let held = promises.iter().map(|(_, holds)| *holds).reduce(|a, c| a & c);
            let rows = match held {
                Some(held) => rows.clone().kept(held.broadcast(Shape::vector(rows.rows))),
                None => rows,
            };
            let rows = if is_result { rows.packed(relation.rows()) } else { rows };
            let mut nulls = vec![];
            for (k, cell) in rows.columns.iter().enumerate() {
                let shown = if is_result { shown(cell, rows.valid) } else { *cell };
                b.output(&format!("column{k}"), shown.val, &to);
                nulls.push(shown.null.is_some());
                if let Some(null) = shown.null {
                    b.output(&format!("null{k}"), null, &to);
                }
            }
            b.output("valid", rows.valid_or_true(), &to);
            for (k, (_, holds)) in promises.iter().enumerate() {
                b.output(&format!("promise{k}"), *holds, &to);
            }
            let promises = promises.into_iter().map(|(promise, _)| promise).collect();
            (tables, made, notes, lines, promises, nulls, tells)
        };
        let computation = b.finish()?;
        let is_sort = |node: &&Node| {
            let bits = |v: &hushwire_compute::Value| computation.node(*v).ty.scalar.bits();
            matches!(node.op, Op::Order { .. }) && node.arguments.iter().map(bits).sum::<usize>() > 1
        };
        let sorts = computation.nodes().iter().filter(is_sort).count();
        let schema = Schema(relation.schema().columns().iter().map(Column::shown).collect());
        let (order, cut) = (order(relation), cut(relation));
        let tags = computation.nodes().iter().any(|node| matches!(node.op, Op::Meet { .. }));
        let query = Query {
            computation,
            tables,
            made,
            schema,
            nulls,
            promises,
            notes,
            lines,
            sorts,
            order,
            tags,
            cut,
        };
        Ok((query, tells))
    }

    /// The computation. It has no symbols: row counts are part of it.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The operator of a node of the computation, as text; `the result` for the nodes that make the
    /// result.
    #[must_use]
    pub fn operator_of(&self, node: hushwire_compute::Value) -> &str {
        let line = self.lines.get(node.0 as usize).and_then(|line| self.notes.get(*line as usize));
        line.map_or("the result", |note| &note.operator)
    }

    /// The tables that the query reads, each once.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The columns of the result. Integers and decimals that may have more digits than their type
    /// have a wider type.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The indices of a table's columns whose strings may only have these letters, since the
    /// parties compute functions of them that take no others.
    #[must_use]
    pub fn letters(&self, table: &str) -> Vec<(usize, Letters)> {
        let mine = self.cut.iter().filter(|((name, _), _)| name == table);
        mine.map(|((_, at), letters)| (*at, *letters)).collect()
    }

    /// The columns that a table's owners compute in the clear from their own rows, as text. No
    /// other member can compute them, not even parties that hold a table's shares.
    #[must_use]
    pub fn computed_by_owners(&self, table: &str) -> Vec<String> {
        let of = |(known, made): (&Table, &Vec<Made>)| {
            let mine = made.iter().filter(|_| known.name == table);
            mine.map(|(column, _)| column.name.clone()).collect::<Vec<_>>()
        };
        self.tables.iter().zip(&self.made).flat_map(of).collect()
    }

    /// The promises that the query relies on; whether each holds is opened to the recipients of the
    /// result.
    #[must_use]
    pub fn promises(&self) -> &[String] {
        &self.promises
    }

    /// The number of sorts that run, which operators share. An order by one bit, for example to
    /// bring valid rows first, is not a sort.
    #[must_use]
    pub fn sorts(&self) -> usize {
        self.sorts
    }

    /// Whether a join uses tags, which reveal to parties 1 and 2 how often keys repeat.
    #[must_use]
    pub fn shows_tags(&self) -> bool {
        self.tags
    }

    /// The inputs of a table's part from its rows, for their owner.
    ///
    /// # Errors
    /// If the table or part does not exist, or the number of rows is wrong (a padded table may have
    /// fewer). If a value has another type, or is outside the range that its column promises.
    pub fn inputs(&self, table: &str, part: usize, rows: &[Row]) -> Result<BTreeMap<String, Tensor>, Fault> {
        let mut incoming = self.incoming(table, part)?;
        incoming.take(rows)?;
        let scalars: BTreeMap<&str, _> =
            self.computation.inputs().map(|(name, ty)| (name, ty.scalar)).collect();
        let tensor = |(name, records): (String, Vec<u8>)| {
            let scalar = scalars[&name[..]];
            let lengths = [records.len() / scalar.record()];
            (name, Tensor::from_records(scalar, &lengths, &records))
        };
        Ok(incoming.finish()?.into_iter().map(tensor).collect())
    }

    /// A converter of a table's part, for an owner that need not hold all rows.
    ///
    /// # Errors
    /// If the table or part does not exist.
    pub fn incoming(&self, table: &str, part: usize) -> Result<Incoming<'_>, Fault> {
        let (at, table) = self.table(table)?;
        Ok(Incoming::new(table, at, part)?.with_made(at, &self.made[at]))
    }

    /// A converter of some rows of a table's part, for an owner whose rows are in several places.
    /// It does not check how many rows the part has; call [`Incoming::counted`] for the whole part.
    /// Missing rows of the range are padding.
    ///
    /// # Errors
    /// If the table or part does not exist.
    pub fn incoming_within(
        &self,
        table: &str,
        part: usize,
        rows: core::ops::Range<usize>,
    ) -> Result<Incoming<'_>, Fault> {
        let (at, table) = self.table(table)?;
        Ok(Incoming::within(table, [at, part], rows)?.with_made(at, &self.made[at]))
    }

    fn table(&self, name: &str) -> Result<(usize, &Table), Fault> {
        let found = self.tables.iter().enumerate().find(|(_, known)| known.name == name);
        found.ok_or_else(|| {
            let (cause, remedy) = ("the query does not read it", "bring the tables that it names");
            unknown_part(name, cause, remedy)
        })
    }

    /// The rows of a result.
    ///
    /// # Errors
    /// If a promise does not hold, or the outputs are not the computation's.
    pub fn rows(&self, outputs: &BTreeMap<String, Tensor>) -> Result<Vec<Row>, Fault> {
        let QueryOutputs { valid, columns } = self.opened(outputs)?;
        let cell = |i: usize, (ty, values, nulls): &(ColumnType, &Tensor, Option<&Tensor>)| {
            if nulls.is_some_and(|nulls| nulls.truth(i)) { Value::Null } else { value(*ty, values, i) }
        };
        let rows = (0..valid.len()).filter(|i| valid.truth(*i));
        Ok(rows.map(|i| columns.iter().map(|column| cell(i, column)).collect()).collect())
    }

    /// The columns of a result, in the order of [`Query::schema`], without a value for each field.
    ///
    /// # Errors
    /// As [`Query::rows`].
    pub fn result_columns(&self, outputs: &BTreeMap<String, Tensor>) -> Result<ResultColumns, Fault> {
        let QueryOutputs { valid, columns } = self.opened(outputs)?;
        let rows: Vec<usize> = (0..valid.len()).filter(|i| valid.truth(*i)).collect();
        let columns =
            columns.into_iter().map(|(ty, values, nulls)| ResultColumn::of(ty, values, nulls, &rows));
        Ok(ResultColumns { rows: rows.len(), columns: columns.collect() })
    }

    /// The outputs from which a result is made, after checking that its promises hold.
    fn opened<'o>(&self, outputs: &'o BTreeMap<String, Tensor>) -> Result<QueryOutputs<'o>, Fault> {
        let output = |name: String| {
            outputs.get(&name).ok_or_else(|| {
                let remedy = "bring all outputs of the computation";
                Fault::new(code::ROWS, "the result", format_args!("output {name} is missing"), remedy)
            })
        };
        for (k, promise) in self.promises.iter().enumerate() {
            if !output(format!("promise{k}"))?.truth(0) {
                return Err(broken(promise));
            }
        }
        let valid = output("valid".into())?;
        let mut columns = vec![];
        for (k, column) in self.schema.columns().iter().enumerate() {
            let nulls = if self.nulls[k] { Some(output(format!("null{k}"))?) } else { None };
            columns.push((column.ty, output(format!("column{k}"))?, nulls));
        }
        Ok(QueryOutputs { valid, columns })
    }

    /// The plan: operators from the result down, with the rows that they process and the sorts that
    /// they need, then the members that learn each value. `cost` is a back end's cost for it.
    #[must_use]
    pub fn explain(&self, cost: Option<hushwire_compute::cost::Cost>) -> String {
        let mut out = String::new();
        for note in &self.notes {
            let remarks = if note.remarks.is_empty() {
                String::new()
            } else {
                format!("; {}", note.remarks.join("; "))
            };
            let indent = 2 * note.depth;
            let _ = writeln!(out, "{:indent$}{}: {} rows{remarks}", "", note.operator, note.rows);
        }
        let _ = write!(out, "sorts: {}", self.sorts);
        if let Some(cost) = cost {
            let _ = write!(
                out,
                ", {} rounds, {} bytes from the party that sends most",
                cost.rounds, cost.bytes_sent
            );
        }
        let _ =
            writeln!(out, "\nall learn the query, its columns' types and ranges, and the row counts above");
        if self.tags {
            let words = "parties 1 and 2 learn of each join by tags how many rows of either side have one key, and which of these numbers go together, but no key";
            let _ = writeln!(out, "{words}");
        }
        for promise in &self.promises {
            let _ = writeln!(out, "who learns the result learns whether it holds {promise}");
        }
        let words = match self.order {
            Order::Shown => "",
            Order::Asked => {
                "the order of the result tells how its rows compare in what ORDER BY names and no column shows; of equal ones it follows that of the tables' rows\n"
            }
            Order::Tables => {
                "the order of the result follows that of the tables' rows, where an ORDER BY does not say: order it by all its columns where that tells too much\n"
            }
        };
        out += words;
        out
    }
}

/// A column of the result: zeros if a row is invalid or NULL.
fn shown<'b>(cell: &Cell<'b>, valid: Option<hushwire_compute::Val<'b>>) -> Cell<'b> {
    let b = cell.builder();
    let null = cell.null.map(|null| valid.map_or(null, |valid| null & valid));
    let val = cell.canonical();
    let val = valid.map_or(val, |valid| b.select(valid, val, zero(b, scalar(cell.ty, cell.range))));
    Cell { val, null, ..*cell }
}
