//! The job file of a query.

use crate::{
    JobParameters, RunValues,
    compute::file::{one_shard, shards},
    kind::{JobKind, inputs, quoted},
    parameter::read_parameters,
};
use hushwire_fault::code;
use hushwire_session::{
    Dialect, Fault, Member, dialect,
    toml_file::{Section, Source, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The job file of a query.
///
/// ```toml
/// sql = "SELECT city, AVG(salary) AS mean FROM salaries JOIN people ON person = id GROUP BY city"
/// to = ["client:analyst"]
/// min-group = 5
///
/// [[tables]]
/// name = "salaries"
/// columns = ["person INTEGER NOT NULL", "salary DECIMAL(10, 2)"]
/// key = ["person"]
/// parts = ["client:alice 1000"]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryJob {
    /// The query.
    pub sql: String,
    /// The members that learn the result.
    pub to: Vec<Member>,
    /// Groups with fewer rows are left out of the result; 0 or 1 leaves out none.
    pub min_group: u64,
    /// The most pairs of a join of which neither side is unique by its keys.
    pub join_bound: Option<u64>,
    /// Whether joins with a unique side use tags of keys, which reveal to parties 1 and 2 how often
    /// keys repeat.
    pub tag_joins: bool,
    /// The time of NOW and CURRENT_DATE, in UTC, such as `2026-11-28 12:00:00`.
    #[serde(default)]
    pub now: Option<String>,
    /// The number of processes of each party among which rows are spread, each with a session of
    /// its own.
    #[serde(default = "one_shard")]
    pub shards: u16,
    /// The tables that the query may name.
    pub tables: Vec<QueryTable>,
    /// Its parameters, `:name` and `?` in the query, in order.
    #[serde(default)]
    pub parameters: JobParameters,
    /// The values of a run: its parameters' values, and the data sets that it uses.
    #[serde(default)]
    pub values: RunValues,
}

/// A table of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryTable {
    /// Its name.
    pub name: String,
    /// Its columns, such as `person INTEGER NOT NULL`.
    pub columns: Vec<String>,
    /// The columns of which no two rows have the same values; empty if no key is promised.
    pub key: Vec<String>,
    /// The parts that its owners bring.
    pub parts: Vec<QueryPartOf>,
    /// Whether parts may have fewer rows than they declare.
    pub padded: bool,
    /// The default dialect of its owners' files, if their member files set none. It is not a term,
    /// since it changes nothing that others see.
    #[serde(default, skip_serializing_if = "Dialect::is_default")]
    pub dialect: Dialect,
}

/// A member's rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPartOf {
    /// The member that brings them.
    pub owner: Member,
    /// The number of rows, with padding. It is public.
    pub rows: u64,
}

impl QueryPartOf {
    /// Reads a part such as `client:alice 1000`.
    fn parse(text: &str) -> Result<Self, String> {
        let (owner, rows) =
            text.trim().rsplit_once(char::is_whitespace).ok_or("it names no member and rows")?;
        let owner = owner.trim().parse()?;
        let rows = rows.parse().map_err(|_| format!("{rows} is no number of rows"))?;
        Ok(QueryPartOf { owner, rows })
    }
}

/// The texts of a list.
fn texts(value: TomlValue<'_>) -> Result<Vec<String>, Fault> {
    value.list()?.iter().map(|v| Ok(v.text()?.to_owned())).collect()
}

impl QueryTable {
    /// Reads the tables that a schema file declares, without parts: `[[tables]]` with name,
    /// columns, and an optional key.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is wrong.
    pub fn schema(path: &Path) -> Result<Vec<QueryTable>, Fault> {
        let source = Source::read(path)?;
        let mut top = source.sections()?;
        let mut tables: Vec<QueryTable> = vec![];
        for mut table in top.need("tables", "[[tables]] with name and columns")?.sections()? {
            let declared = QueryTable::declared(&mut table)?;
            table.finish()?;
            // With two declarations, only the first one and its key would count.
            if tables.iter().any(|known| known.name == declared.name) {
                let step = format!("reading {}", path.display());
                let cause = format!("it declares table {} twice", declared.name);
                return Err(Fault::new(code::QUERY, step, cause, "declare it once"));
            }
            tables.push(declared);
        }
        top.finish()?;
        Ok(tables)
    }

    fn declared(table: &mut Section<'_>) -> Result<QueryTable, Fault> {
        let name = table.need("name", "name = \"salaries\"")?.text()?.to_owned();
        let columns = texts(table.need("columns", "columns = [\"person INTEGER NOT NULL\"]")?)?;
        let key = table.take("key").map_or(Ok(vec![]), texts)?;
        let dialect = table.take("dialect").map(|value| {
            let mut options = value.section()?;
            let read = dialect(&mut options)?;
            options.finish().map(|()| read)
        });
        let dialect = dialect.transpose()?.unwrap_or_default();
        Ok(QueryTable { name, columns, key, parts: vec![], padded: false, dialect })
    }
}

impl JobKind for QueryJob {
    const NAME: &'static str = "query";
    const KEY: Option<&'static str> = Some("sql");
    const WHOSE: &'static str = "a query's";

    fn command(_: &str) -> String {
        "`hushwire local query --table NAME=FILE@OWNER --sql …`".to_owned()
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        let mine = self.tables.iter().filter(|table| table.parts.iter().any(|part| part.owner == *me));
        let line = |table: &QueryTable| {
            // In a rehearsal, all owners' files are in one directory.
            let file = match (&table.parts[..], me) {
                ([_], _) => table.name.clone(),
                (_, Member::Party(i)) => format!("{}-party{i}", table.name),
                (_, other) => format!("{}-{}", table.name, other.name().unwrap_or_default()),
            };
            format!("{} = {{ file = \"{file}.csv\" }}", quoted(&table.name))
        };
        inputs(mine.map(line).collect())
    }

    fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let sql = top.need("sql", "sql = \"SELECT …\"")?.text()?.to_owned();
        let to = top.need("to", "to = [\"client:analyst\"]")?.list()?;
        let to = to.iter().map(|m| m.parsed(str::parse, "write \"party0\" or \"client:analyst\""));
        let to: Vec<Member> = to.collect::<Result<_, _>>()?;
        let min_group = top.take("min-group").map_or(Ok(0), |v| v.number(0..=1 << 40))?;
        let join_bound = top.number("join-bound", 1..=1 << 40)?;
        let tag_joins = top.flag("tag-joins")?;
        let now = top.take("now").map(|v| v.text().map(str::to_owned)).transpose()?;
        let shards = shards(&mut top)?;
        let mut tables = vec![];
        for mut table in top.need("tables", "[[tables]] with name, columns and parts")?.sections()? {
            let declared = QueryTable::declared(&mut table)?;
            let parts = table.need("parts", "parts = [\"client:alice 1000\"]")?.list()?;
            let remedy = "write who brings it and how many rows, as in \"client:alice 1000\"";
            let parts = parts.iter().map(|v| v.parsed(QueryPartOf::parse, remedy));
            let parts = parts.collect::<Result<_, _>>()?;
            let padded = table.flag("padded")?;
            table.finish()?;
            tables.push(QueryTable { parts, padded, ..declared });
        }
        let parameters = top.take("parameters").map(TomlValue::section).transpose()?;
        let parameters = parameters.map_or(Ok(vec![]), |section| read_parameters(section.in_order(), &[]))?;
        top.finish()?;
        let values = RunValues::default();
        Ok(QueryJob { sql, to, min_group, join_bound, tag_joins, now, shards, tables, parameters, values })
    }

    fn parameters(&self) -> &JobParameters {
        &self.parameters
    }

    fn with(self, values: &RunValues) -> Result<Self, Fault> {
        let parts = self.tables.iter().flat_map(|table| &table.parts);
        let data = parts.filter_map(|part| match &part.owner {
            Member::Data(name) => Some(name.as_str()),
            _ => None,
        });
        values.known(&self.parameters, &data.collect::<Vec<_>>())?;
        let job = Self { values: values.clone(), ..self };
        #[cfg(feature = "sql")]
        super::parameters::parameters(&job)?;
        Ok(job)
    }
}
