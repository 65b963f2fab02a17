//! A query over tables in memory, with all members in this process.

use crate::job::{
    Answer, Dialect, Fault, InputPlace, Member, Parameter, QueryJob, QueryPartOf, QueryTable, QueryTask,
    RunValues, declaration, infer,
};
use crate::{Local, LocalJob};

/// A query that is being set up: [`Local::query`] begins it, and [`run`](Self::run) runs it.
#[derive(Clone)]
pub struct LocalQuery {
    job: QueryJob,
    rows: Vec<(Member, String, InputPlace)>,
    /// The first error about the arguments.
    wrong: Option<Fault>,
}

impl Local {
    /// Begins a query in SQL over tables that owners bring, among three parties that learn nothing
    /// about the values. Each table is a name and the text of a CSV file, whose first line names
    /// the columns. Each table has its own owner. The types of columns are the narrowest that fit
    /// their fields. They are public, and so are the numbers of rows.
    ///
    /// Security: semi-honest, at most one corrupted party. `docs/sql.md` describes the queries.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), hushwire::Fault> {
    /// let people = "id,city\n1,Zug\n2,Bern\n3,Zug\n";
    /// let query = "SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY city";
    /// let answer = hushwire::Local::query(query, [("people", people)]).run()?;
    /// assert_eq!(answer.rows[1], [Some("Zug".to_owned()), Some("2".to_owned())]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn query<'t>(sql: &str, tables: impl IntoIterator<Item = (&'t str, &'t str)>) -> LocalQuery {
        let job = QueryJob {
            sql: sql.to_owned(),
            to: vec![Member::Client("analyst".to_owned())],
            min_group: 0,
            join_bound: None,
            tag_joins: false,
            now: hushwire_kinds::query_now(sql),
            shards: 1,
            tables: vec![],
            parameters: vec![],
            values: RunValues::default(),
        };
        let mut query = LocalQuery { job, rows: vec![], wrong: None };
        for (name, csv) in tables {
            if let Err(e) = query.table(name, csv) {
                query.wrong = query.wrong.or(Some(e));
            }
        }
        query
    }
}

impl LocalQuery {
    /// Sets the value of a parameter, which the query writes as `:name`, or as `?` in the order of
    /// calls.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        match Parameter::of_values(&[format!("{name}={value}")]) {
            Ok((values, parameters)) => {
                self.job.values.parameters.extend(values.parameters);
                self.job.parameters.extend(parameters);
            }
            Err(e) => self.wrong = self.wrong.or(Some(e)),
        }
        self
    }

    fn table(&mut self, name: &str, csv: &str) -> Result<(), Fault> {
        let place = InputPlace::memory(csv);
        let found = infer(&[&place])?;
        let owner = Member::Client(format!("owner{}", self.rows.len()));
        self.rows.push((owner.clone(), name.to_owned(), place));
        self.job.tables.push(QueryTable {
            name: name.to_owned(),
            columns: found.columns.iter().map(declaration).collect(),
            key: vec![],
            parts: found.rows.into_iter().map(|rows| QueryPartOf { owner: owner.clone(), rows }).collect(),
            padded: false,
            dialect: Dialect::default(),
        });
        Ok(())
    }

    /// Promises that no two rows of `table` have the same value in `column`. A join needs the
    /// promise for one of its sides. The table's owner checks it before the run.
    #[must_use]
    pub fn key(mut self, table: &str, column: &str) -> Self {
        match self.job.tables.iter_mut().find(|known| known.name == table) {
            Some(known) => known.key = vec![column.to_owned()],
            None => {
                let cause = format!("the query has no table called `{table}`");
                let fault = Fault::usage("planning the query", cause, "name one of its tables");
                self.wrong = self.wrong.or(Some(fault));
            }
        }
        self
    }

    /// Omits groups of fewer than `rows` rows from the result.
    #[must_use]
    pub fn min_group(mut self, rows: u64) -> Self {
        self.job.min_group = rows;
        self
    }

    /// Runs the query. Fields of the answer are texts, and NULL is `None`.
    ///
    /// # Errors
    /// A table is not CSV, or has rows that break a promise; or the query is refused.
    pub fn run(self) -> Result<Answer, Fault> {
        if let Some(e) = self.wrong {
            return Err(e);
        }
        let task = QueryTask::new(&self.job)?;
        let read: Vec<&str> = task.query().tables().iter().map(|table| table.name.as_str()).collect();
        let mut local = LocalJob::new(&task);
        for (owner, table, place) in
            self.rows.into_iter().filter(|(_, table, _)| read.contains(&table.as_str()))
        {
            local = local.bring(owner, &table, place);
        }
        let ended = local.run()?;
        let missing = || Fault::internal("reading the answer", "nobody learnt it");
        ended.learnt(&self.job.to[0]).cloned().ok_or_else(missing)
    }
}
