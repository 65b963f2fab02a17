//! The agreement on a query, and the computation of three parties that it runs. The members of the
//! computation are the owners of tables and the recipients of the result. The terms have the query,
//! its options, the declared tables, their owners and the recipients, but no row counts.

use super::{QueryJob, QueryPart, QueryTable, parameters::parameters, stored};
use crate::{BoundComputation, ComputationSource, ComputeJob, ComputeTask, ShardPrice};
use hushwire_fault::code;
use hushwire_session::{
    AgreedField, Agreement, Fault, Forecast, Member, MemberConfig, Protocol, Task, Terms, suggest,
};
use hushwire_sql::{Catalog, Options, relation_with, schema};
use hushwire_tables::{
    Query,
    algebra::{ColumnType, Schema, Table, TablePart},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A query's job, planned.
#[derive(Clone)]
pub struct QueryTask {
    job: QueryJob,
    query: Arc<Query>,
    compute: ComputeTask,
}

/// The result of a query at a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The names of the result's columns, and their types.
    pub columns: Vec<(String, String)>,
    /// Fields as text, NULLs as `None`. Empty if the rows went to a file, or this member learns
    /// nothing.
    pub rows: Vec<Vec<Option<String>>>,
    /// The number of rows, if this member learns them.
    pub count: Option<u64>,
}

/// The names of members in the computation are those that users know, without their kind.
fn name_of(member: &Member) -> String {
    member.name().map_or_else(|| member.key(), str::to_owned)
}

pub(super) fn of_query(e: Fault) -> Fault {
    e.during("the query")
}

/// The tables that a job declares.
fn catalog(job: &QueryJob) -> Result<Catalog, Fault> {
    let mut tables = vec![];
    for table in &job.tables {
        let columns = table.columns.iter().map(|text| schema::column(text));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(of_query)?;
        let schema = Schema(columns);
        let place = |name: &String| {
            schema.find(name).ok_or_else(|| {
                let names: Vec<&str> = schema.columns().iter().map(|c| c.name.as_str()).collect();
                let cause = format!("its key names no column of it: {name}");
                Fault::new(code::QUERY, format!("table {}", table.name), cause, suggest::remedy(name, &names))
            })
        };
        let key = table.key.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let mut owners: Vec<&Member> = table.parts.iter().map(|part| &part.owner).collect();
        owners.sort();
        if owners.windows(2).any(|two| two[0] == two[1]) {
            let cause = "one member brings two parts of it";
            return Err(Fault::new(
                code::QUERY,
                format!("table {}", table.name),
                cause,
                "bring them as one file",
            ));
        }
        let parts = table.parts.iter().map(|part| TablePart { owner: name_of(&part.owner), rows: part.rows });
        tables.push(Table {
            name: table.name.clone(),
            schema: schema.clone(),
            parts: parts.collect(),
            padded: table.padded,
            unique: if key.is_empty() { vec![] } else { vec![key] },
        });
    }
    let is_at_rest =
        |table: &&QueryTable| table.parts.iter().any(|part| matches!(part.owner, Member::Data(_)));
    let at_rest: Vec<&str> = job.tables.iter().filter(is_at_rest).map(|table| table.name.as_str()).collect();
    Ok(Catalog::new(tables).map_err(of_query)?.at_rest(&at_rest))
}

impl QueryTask {
    /// Plans the query.
    ///
    /// # Errors
    /// The query is refused, names something that is not declared, or is larger than a computation
    /// may be.
    pub fn new(job: &QueryJob) -> Result<Self, Fault> {
        // The computation distinguishes members by these names.
        let members = job.tables.iter().flat_map(|table| table.parts.iter().map(|part| &part.owner));
        let members: Vec<&Member> = members.chain(&job.to).collect();
        let twice = |of: &&&Member| members.iter().any(|other| other != *of && name_of(other) == name_of(of));
        if let Some(odd) = members.iter().find(twice) {
            let cause = format!("{odd} has the name of another member");
            return Err(Fault::new(code::QUERY, "planning the job", cause, "give one of them another name"));
        }
        if let Some(odd) =
            members.iter().find(|of| of.name().is_some_and(|name| name.parse::<Member>().is_ok()))
        {
            let remedy = "give the client another name, or name the party, as party0";
            return Err(Fault::new(
                code::QUERY,
                "planning the job",
                format!("{odd} is called as a party is"),
                remedy,
            ));
        }
        let catalog = catalog(job)?;
        let now = job.now.as_deref().map(|now| hushwire_sql::cell::read(now, ColumnType::Timestamp));
        let now = now.transpose().map_err(of_query)?;
        let now = now.and_then(|now| now.number()).and_then(|now| i64::try_from(now).ok());
        let options = Options { min_group: job.min_group, join_bound: job.join_bound, now };
        let relation = relation_with(&job.sql, &catalog, options, &parameters(job)?).map_err(of_query)?;
        if let Some(column) =
            relation.schema().columns().iter().find(|c| matches!(c.ty, ColumnType::Digest { .. }))
        {
            let cause = format!(
                "column {} of its result is a digest, whose strings could be found by trying",
                column.name
            );
            let remedy = "compare and count digests; declare VARCHAR(n) for what is shown";
            return Err(Fault::new(code::QUERY, "the query", cause, remedy));
        }
        let to: Vec<String> = job.to.iter().map(name_of).collect();
        if let Some((_, twice)) = to.iter().enumerate().find(|(at, name)| to[..*at].contains(name)) {
            let cause = format!("{twice} is to learn the result twice");
            return Err(Fault::new(code::QUERY, "planning the job", cause, "name each member once"));
        }
        if to.is_empty() {
            let remedy = "name somebody, as in to = [\"client:analyst\"]";
            return Err(Fault::new(code::QUERY, "planning the job", "nobody is to learn the result", remedy));
        }
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        let plan = if job.tag_joins { Query::by_tags } else { Query::new };
        let query = plan("query", &relation, &to).map_err(of_query)?;
        let mut compute = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(String::new()));
        compute.shards = job.shards;
        let owners = job.tables.iter().flat_map(|table| table.parts.iter().map(|part| &part.owner));
        let names = query.computation().members();
        compute.members = owners
            .chain(&job.to)
            .map(|member| (name_of(member), member.clone()))
            .filter(|(name, _)| names.contains(name))
            .collect::<BTreeMap<_, _>>();
        let computation = Arc::new(query.computation().clone());
        let compute = ComputeTask::of(&compute, computation)?.with_columns(stored::columns(job, &query));
        Ok(QueryTask { job: job.clone(), query: Arc::new(query), compute })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &QueryJob {
        &self.job
    }

    /// The key of digests of strings, one for each query. All members know it, so that equal
    /// strings of different owners have equal digests.
    pub(super) fn digest_key(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hushwire 2026-11-23 digests of strings in a query");
        let mut put = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        put(&self.job.sql);
        for table in &self.job.tables {
            put(&table.name);
            table.columns.iter().for_each(|column| put(column));
        }
        *hasher.finalize().as_bytes()
    }

    /// Names the runs that may replace each other's result. These are the runs with the same terms,
    /// whatever their rows.
    #[must_use]
    pub fn writer(&self) -> String {
        format!("the result of query {}", self.terms().digest())
    }

    /// The query as a computation.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The job of the computation.
    pub(super) fn compute(&self) -> &ComputeTask {
        &self.compute
    }

    /// The result as a member gets it: its rows are returned if they are to be shown.
    pub(super) fn answer(&self, rows: Option<Vec<Vec<Option<String>>>>, shows: bool) -> Answer {
        let columns = self.query.schema().columns().iter();
        let columns = columns.map(|column| (column.name.clone(), column.ty.to_string())).collect();
        let count = rows.as_ref().map(|rows| rows.len() as u64);
        Answer { columns, rows: rows.filter(|_| shows).unwrap_or_default(), count }
    }

    /// The parts that `member` brings to the tables that the query reads. Each is the place of the
    /// table among those, and the place of the part.
    pub(super) fn parts_of(&self, member: &Member) -> Vec<(usize, usize)> {
        let name = name_of(member);
        let of = |(at, table): (usize, &Table)| {
            let mine = table.parts.iter().enumerate().filter(|(_, part)| part.owner == name);
            mine.map(move |(part, _)| (at, part)).collect::<Vec<_>>()
        };
        self.query.tables().iter().enumerate().flat_map(of).collect()
    }

    /// The bound computation.
    ///
    /// # Errors
    /// It is too large for this machine.
    pub fn bound(&self) -> Result<BoundComputation, Fault> {
        self.compute.bound(&BTreeMap::new())
    }

    /// The operators of a run in order, as text, each with the number of steps that are done when
    /// it begins.
    ///
    /// # Errors
    /// The computation is too large to run.
    pub fn course(&self) -> Result<Vec<(u64, String)>, Fault> {
        let legs = self.bound()?.course(self.compute.chosen())?;
        let mut course: Vec<(u64, String)> = vec![];
        for (done, node) in legs {
            let operator = self.query.operator_of(node);
            if course.last().is_none_or(|(_, last)| last != operator) {
                course.push((done, operator.to_owned()));
            }
        }
        Ok(course)
    }

    /// The price of a run on the job's shards, with this number of threads each, over links on
    /// which a message takes `delay`.
    ///
    /// # Errors
    /// The computation is too large to plan.
    pub fn price_of_shards(&self, threads: u16, delay: Duration) -> Result<ShardPrice, Fault> {
        let (chosen, shards) = (self.compute.chosen(), self.job.shards.into());
        let operation = |node| self.query.operator_of(node).to_owned();
        let price = self.bound()?.price_of_shards(chosen, (threads, shards), delay, &operation);
        price.map_err(of_query)
    }

    /// The forecast of a run.
    ///
    /// # Errors
    /// The computation is too large to run.
    pub fn price(&self, aes_instructions: bool) -> Result<Forecast, Fault> {
        Ok(self.bound()?.forecast(self.compute.chosen(), aes_instructions)?.0)
    }
}

/// AGREEMENT: the version of what queries mean. An allowed query text must never get another
/// meaning. 2: `/` of integers is the real quotient, and blanks around text are dropped. 3: UPPER
/// and LOWER know all letters, and a difference of timestamps is an INTERVAL.
const MEANING: &str = "3";

/// The beginning of a text, on one line.
fn begin(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

impl Task for QueryTask {
    type Learnt = Answer;
    type Part = QueryPart;

    fn agreement(&self) -> Agreement {
        let inner = self.compute.agreement();
        let digest = blake3::hash(self.job.sql.as_bytes());
        // Shown as it is written: the only digest that operators know is that of all terms.
        let sql = AgreedField {
            shown: Some(begin(&self.job.sql)),
            ..AgreedField::new("sql", digest.to_hex().to_string())
        };
        // Different types may lead to the same computation: the position of a decimal's point is
        // not in its shares.
        let names: Vec<&str> = self.job.tables.iter().map(|table| table.name.as_str()).collect();
        let tables = format!("{:?}", self.job.tables);
        let tables =
            AgreedField { shown: Some(begin(&names.join(", "))), ..AgreedField::new("tables", tables) };
        // The values belong to a run, and are not terms.
        let values = self.job.values.agreed(&self.job.parameters);
        let values = values.map(|values| AgreedField::size("values of parameters", values));
        let data = self.job.values.agreed_data().map(|data| AgreedField::size("data sets", data));
        let fields = [sql, tables].into_iter().chain(values).chain(data).chain(inner.fields).collect();
        Agreement { kind: "query", title: "query".to_owned(), fields, ..inner }
    }

    /// The query and its options, the declared tables, their owners, and the recipients of the
    /// result. Row counts are not terms, nor is the way in which this release plans the query.
    fn terms(&self) -> Terms {
        let QueryJob {
            sql,
            to,
            min_group,
            join_bound,
            tag_joins,
            now,
            shards,
            tables,
            parameters,
            values: _,
        } = &self.job;
        let sorted = |mut keys: Vec<String>| {
            keys.sort();
            keys
        };
        let mut terms = vec![
            ("protocol", Protocol::Rep3.to_string()),
            ("meaning", MEANING.to_owned()),
            ("sql", sql.clone()),
        ];
        terms.extend(sorted(to.iter().map(Member::key).collect()).into_iter().map(|to| ("to", to)));
        // 0 and 1 both leave out no group.
        terms.push(("min-group", (*min_group).max(1).to_string()));
        terms.push(("join-bound", join_bound.map_or("none".to_owned(), |bound| bound.to_string())));
        terms.push(("tag-joins", tag_joins.to_string()));
        terms.extend(now.iter().map(|now| ("now", now.clone())));
        terms.extend((*shards > 1).then(|| ("shards", shards.to_string())));
        let mut tables: Vec<_> = tables.iter().collect();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        for table in tables {
            terms.push(("table", table.name.clone()));
            // Planning has read all columns. One that could not be read would stay as it is
            // written.
            let canonical = |text: &String| {
                schema::column(text).map_or(text.clone(), |column| schema::declaration(&column))
            };
            terms.extend(table.columns.iter().map(|text| ("column", canonical(text))));
            terms.extend(table.key.iter().map(|column| ("key", column.clone())));
            let owners = sorted(table.parts.iter().map(|part| part.owner.key()).collect());
            terms.extend(owners.into_iter().map(|owner| ("owner", owner)));
            terms.push(("padded", table.padded.to_string()));
        }
        terms.extend(parameters.iter().map(|(name, is)| ("parameter", format!("{name} {is}"))));
        Terms::new("query", terms)
    }

    fn shards(&self) -> u16 {
        self.job.shards
    }

    fn open(&self, config: &mut MemberConfig) -> Result<QueryPart, Fault> {
        self.job.values.complete(&self.job.parameters)?;
        QueryPart::open(self, config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{QueryPartOf, QueryTable};
    use hushwire_session::Dialect;

    /// Members whose queries differ see only the digest of all terms, which other commands print,
    /// too.
    #[test]
    fn what_differs_is_shown_as_it_is_written() {
        let task = |sql: &str, column: &str| {
            let parts = vec![QueryPartOf { owner: Member::Client("alice".into()), rows: 3 }];
            let columns = vec![column.to_owned()];
            let (name, dialect) = ("people".into(), Dialect::default());
            let table = QueryTable { name, columns, key: vec![], parts, padded: false, dialect };
            let job = QueryJob {
                sql: sql.into(),
                to: vec![Member::Client("bob".into())],
                min_group: 0,
                join_bound: None,
                tag_joins: false,
                now: None,
                shards: 1,
                tables: vec![table],
                parameters: vec![],
                values: crate::RunValues::default(),
            };
            QueryTask::new(&job).unwrap_or_else(|e| panic!("{e}")).agreement()
        };
        let ours = task("SELECT SUM(n)\n FROM people", "n INTEGER NOT NULL");
        let theirs = task("SELECT SUM(n) + 1 FROM people", "n BIGINT NOT NULL");
        let told = ours.differences(&theirs.tags());
        assert!(told.contains(&"sql (ours: SELECT SUM(n) FROM people)".to_owned()), "{told:?}");
        assert!(told.contains(&"tables (ours: people)".to_owned()), "{told:?}");
        assert_eq!(begin(&"é".repeat(200)), "é".repeat(80) + " …");
    }
}
