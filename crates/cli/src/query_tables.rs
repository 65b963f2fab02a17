//! The tables of a query on the command line: their files, and the findings in these files.

use crate::{
    error::Error,
    files::{is_stream, stream},
    log,
    read_args::{self, ReadArgs},
    table_cmd::flag,
};
use clap::Args;
use hushwire::job::{
    Column, ColumnSurvey, Dialect, Fault, InputPlace, Member, Pad, Partners, QueryPartOf, QueryTable,
    column_of, column_values, count, declaration, infer, is_plain_name, open_pivots, read_once, refuse_once,
    suggest, with_values,
};
use hushwire_fault::code;
use hushwire_files::matching;
use std::path::{Path, PathBuf};

/// LOCAL: the most columns that a PIVOT makes from a column's values.
const MOST_PIVOTED: usize = 64;

/// Options of a query that bound what it tells and what it may take.
#[derive(Args)]
pub(crate) struct BoundArgs {
    /// The public number of rows of each part: none for its own, 2^k for the next power of two, or
    /// a number
    #[arg(long, value_name = "ROWS", default_value = "none")]
    pub(crate) pad: Pad,
    /// Leave out groups of fewer rows than this
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) min_group: u64,
    /// Most pairs of a join neither of whose sides is unique by its keys
    #[arg(long, value_name = "ROWS")]
    pub(crate) join_bound: Option<u64>,
    /// Join by tags of keys where one side's are unique: faster, and parties 1 and 2 learn how many
    /// rows of either side have one key
    #[arg(long)]
    pub(crate) tag_join: bool,
}

/// A part of a table in the form of the command line.
pub(crate) struct Given {
    pub(crate) table: String,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) place: InputPlace,
    pub(crate) owner: Member,
}

/// Parses a member: `party0` is a party, and every other name is a client.
pub(crate) fn member(option: &str, name: &str) -> Result<Member, Error> {
    let whole = match name.parse::<Member>() {
        Ok(member) => return Ok(member),
        Err(_) => format!("client:{name}"),
    };
    whole.parse().map_err(|e| Error::Usage(format!("{option} {name}: {e}")))
}

/// Splits a part into its table, file and owner.
pub(crate) fn part(text: &str) -> Result<(&str, &Path, Member), Error> {
    let form = || Error::Usage(format!("--table {text:?}: write name=file.csv@owner"));
    let (table, rest) = text.split_once('=').ok_or_else(form)?;
    let (path, owner) = rest.rsplit_once('@').ok_or_else(form)?;
    if table.is_empty() || path.is_empty() {
        return Err(form());
    }
    Ok((table, Path::new(path), member("--table", owner)?))
}

/// Returns the parts of tables that `--table` names. The options and the schema give the dialects
/// of files. Files of one owner are one part.
pub(crate) fn parts(texts: &[String], read: &ReadArgs, schema: &[QueryTable]) -> Result<Vec<Given>, Error> {
    let named = texts.iter().map(|text| part(text)).collect::<Result<Vec<_>, Error>>()?;
    let tables: Vec<&str> = named.iter().map(|(table, ..)| *table).collect();
    let mut all: Vec<Given> = vec![];
    for (table, path, owner) in &named {
        let paths =
            if is_stream(path) { vec![path.to_path_buf()] } else { matching(path).map_err(of_file)? };
        match all.iter_mut().find(|part| part.table == *table && part.owner == *owner) {
            Some(part) => part.paths.extend(paths),
            None => {
                let place = InputPlace::Table(vec![], Dialect::default());
                all.push(Given { table: (*table).to_owned(), paths, place, owner: owner.clone() });
            }
        }
    }
    for part in &mut all {
        let known = schema.iter().find(|table| table.name == part.table);
        let base = known.map(|table| table.dialect.clone()).unwrap_or_default();
        let dialect = read.dialect(&part.table, &tables)?.over(&base);
        if let Some(path) = part.paths.iter().find(|path| !is_stream(path) && read_once(path)) {
            return Err(refuse_once(path).into());
        }
        part.place = match &part.paths[..] {
            [path] if is_stream(path) => match (stream()?, dialect.is_default()) {
                (bytes, true) => bytes,
                (bytes, false) => InputPlace::Table(vec![bytes], dialect),
            },
            paths if paths.iter().any(|path| is_stream(path)) => {
                let what = format!("--table {}: standard input is one of several files", part.table);
                return Err(Error::Usage(format!("{what}; give all as files")));
            }
            paths => read_args::table(paths, dialect)?,
        };
    }
    Ok(all)
}

fn of_file(e: hushwire_files::FileError) -> Error {
    Error::Job(e.into())
}

/// The tables of a query, with the findings in their files where a schema says nothing.
#[derive(Default)]
pub(crate) struct QueryTables {
    pub(crate) tables: Vec<QueryTable>,
    surveys: Vec<(String, ColumnSurvey)>,
    /// The columns without any value and without a declared type: the names of their tables, and
    /// their own.
    guessed: Vec<(String, String)>,
}

/// `--type TABLE.COLUMN=TYPE`.
fn typed(text: &str) -> Result<(&str, &str, &str), Error> {
    let form = || Error::Usage(format!("--type {text:?}: write table.column=TYPE, as people.zip=VARCHAR(5)"));
    let (column, ty) = text.split_once('=').ok_or_else(form)?;
    let (table, column) = column.split_once('.').ok_or_else(form)?;
    Ok((table, column, ty))
}

impl QueryTables {
    /// Reads the files of all parts. The types of the columns `types` are not inferred.
    pub(crate) fn new(
        given: &mut [Given],
        schema: &[QueryTable],
        types: &[String],
        pad: Pad,
    ) -> Result<Self, Error> {
        let types = types.iter().map(|text| typed(text)).collect::<Result<Vec<_>, Error>>()?;
        let mut names: Vec<String> = vec![];
        for part in given.iter() {
            if !names.contains(&part.table) {
                names.push(part.table.clone());
            }
        }
        if let Some((table, ..)) = types.iter().find(|(table, ..)| !names.iter().any(|name| name == table)) {
            return Err(Error::Usage(format!("--type: there is no table {table}")));
        }
        let mut found = QueryTables::default();
        for name in names {
            let mut parts: Vec<&mut Given> = given.iter_mut().filter(|part| part.table == name).collect();
            let known = schema.iter().find(|table| table.name == name);
            let (mut columns, counts, remarks) = match known {
                Some(table) => {
                    let counted =
                        parts.iter().map(|part| count(&part.place)).collect::<Result<Vec<_>, _>>()?;
                    let (counts, remarks): (Vec<u64>, Vec<Vec<String>>) = counted.into_iter().unzip();
                    (table.columns.clone(), counts, remarks.concat())
                }
                None => {
                    let places: Vec<&InputPlace> = parts.iter().map(|part| &part.place).collect();
                    let table = infer(&places)?;
                    found.guessed.extend(table.guessed.into_iter().map(|column| (name.clone(), column)));
                    found.surveys.extend(table.found.into_iter().map(|survey| (name.clone(), survey)));
                    let told = [table.remarks, table.notes].concat();
                    (table.columns.iter().map(declaration).collect(), table.rows, told)
                }
            };
            for (_, column, ty) in types.iter().filter(|(table, ..)| *table == name) {
                retyped(&name, &mut columns, column, ty)?;
                found.surveys.retain(|(table, survey)| *table != name || survey.column.name != *column);
                found.guessed.retain(|(table, guess)| *table != name || guess != column);
            }
            for remark in remarks {
                log::note!("note: {remark}");
            }
            let names = columns.iter().filter_map(|text| column_of(text)).map(|column| column.name);
            let odd: Vec<String> = names.filter(|name| !is_plain_name(name)).collect();
            if known.is_none() && !odd.is_empty() {
                let odd = odd.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
                let odd = odd.collect::<Vec<_>>().join(", ");
                log::note!("note: queries must write these names of table {name} with their quotes: {odd}");
            }
            // The note is printed here, so the owner's process need not print it again.
            for part in &mut parts {
                part.place = told(&part.place);
            }
            let part = |(part, rows): (&&mut Given, &u64)| {
                let padded = pad.rows(*rows).ok_or_else(|| {
                    let paths: Vec<String> =
                        part.paths.iter().map(|path| path.display().to_string()).collect();
                    Error::Usage(format!("--pad: {} has {rows} rows, which are more", paths.join(", ")))
                })?;
                Ok(QueryPartOf { owner: part.owner.clone(), rows: padded })
            };
            let parts = parts.iter().zip(&counts).map(part).collect::<Result<Vec<_>, Error>>()?;
            let (padded, key) = (pad != Pad::None, known.map_or(vec![], |table| table.key.clone()));
            let dialect = Dialect::default();
            found.tables.push(QueryTable { name, columns, key, parts, padded, dialect });
        }
        Ok(found)
    }

    /// Sets the keys that `--key` names.
    pub(crate) fn set_keys(&mut self, keys: &[String]) -> Result<(), Error> {
        let mut keyed: Vec<&str> = vec![];
        for text in keys {
            let form = || Error::Usage(format!("--key {text:?}: write table=column, or table=column,column"));
            let (name, columns) = text.split_once('=').ok_or_else(form)?;
            let table = self.tables.iter_mut().find(|table| table.name == name);
            let table = table.ok_or_else(|| Error::Usage(format!("--key: there is no table {name}")))?;
            if keyed.contains(&name) {
                log::note!("note: table {name} has one key: {text} takes the place of the --key before it");
            }
            keyed.push(name);
            table.key = columns.split(',').map(|column| column.trim().to_owned()).collect();
        }
        Ok(())
    }

    /// Returns the query with the values of columns in place of ANY in its PIVOTs. These values
    /// become public names of the result's columns, so one owner must have the whole column.
    pub(crate) fn listed(&self, sql: &str, given: &[Given]) -> Result<String, Error> {
        let mut filled = vec![];
        for pivot in open_pivots(sql) {
            let name = pivot.column.clone();
            let no = |cause: String| {
                let remedy = format!("list the values, as in FOR {name} IN ('a', 'b')");
                Error::Usage(format!("PIVOT … FOR {name} IN (ANY): {cause}; {remedy}"))
            };
            let has = |table: &QueryTable| {
                let columns = table.columns.iter().filter_map(|text| column_of(text));
                columns.into_iter().find(|column| column.name.eq_ignore_ascii_case(&name))
            };
            let found: Vec<_> = self.tables.iter().filter_map(|table| Some((table, has(table)?))).collect();
            let [(table, column)] = &found[..] else {
                return Err(no(format!("{} tables have a column {name}", found.len())));
            };
            let parts: Vec<&Given> = given.iter().filter(|part| part.table == table.name).collect();
            let ([part], [_]) = (&parts[..], &table.parts[..]) else {
                return Err(no(format!(
                    "the file of table {} is not one owner's, which is here",
                    table.name
                )));
            };
            if !column.ty.is_ordered() {
                return Err(no(format!("column {name} is a DIGEST, which nobody sees")));
            }
            let values = column_values(&table.name, &part.place, column, MOST_PIVOTED)?;
            let values = values.filter(|values| !values.is_empty());
            let values = values.ok_or_else(|| {
                no(format!("column {}.{name} has no value, or more than {MOST_PIVOTED}", table.name))
            })?;
            log::note!(
                "note: PIVOT names columns by the {} values of {}.{name}, which {} tells all members",
                values.len(),
                table.name,
                part.owner
            );
            filled.push((pivot, column.ty, values));
        }
        Ok(with_values(sql, &filled))
    }

    /// Gives columns without any value the types of the columns to which the query compares them.
    pub(crate) fn take_partners(&mut self, sql: &str) {
        let is_guess =
            |table: &str, column: &str| self.guessed.iter().any(|(of, guess)| of == table && guess == column);
        let declared =
            self.tables.iter().flat_map(|table| table.columns.iter().map(|text| (&table.name, text)));
        let columns = declared.filter_map(|(table, text)| Some((table, column_of(text)?)));
        let known: Vec<_> = columns
            .filter(|(table, column)| !is_guess(table, &column.name))
            .map(|(_, column)| column)
            .collect();
        let partners = Partners::new(sql, &known);
        self.guessed.retain(|(of, guess)| {
            let Some(ty) = partners.of(guess) else { return true };
            for table in self.tables.iter_mut().filter(|table| table.name == *of) {
                for text in &mut table.columns {
                    if let Some(column) = column_of(text).filter(|column| column.name == *guess) {
                        *text = declaration(&Column { ty, ..column });
                    }
                }
            }
            log::note!(
                "note: column {of}.{guess} has no values and is taken for {ty}, as its partner in the query"
            );
            false
        });
    }

    /// Prints notes on text columns that the query names, but whose values are mostly of another
    /// type.
    pub(crate) fn tell_doubts(&self, sql: &str) {
        for doubt in self.doubts(sql) {
            log::note!("note: {doubt}");
        }
    }

    fn doubts(&self, sql: &str) -> Vec<String> {
        let named = self.surveys.iter().filter(|(_, survey)| names(sql, &survey.column.name));
        let doubtful = named.filter_map(|(table, survey)| Some((table, survey, survey.doubt()?)));
        let told = doubtful.map(|(table, survey, doubt)| {
            let (name, ty, n) = (&survey.column.name, survey.column.ty, survey.values);
            let others = if doubt.others == 1 { "1 is not".to_owned() } else { format!("{} are not", doubt.others) };
            format!(
                "column {table}.{name} is read as {ty}: most of its {n} values are {}, and {others}: {}; {}, or see `hushwire table describe`",
                doubt.family.words(),
                doubt.misfits(),
                doubt.remedy(),
            )
        });
        told.collect()
    }

    /// Extends the refusal of a query that may be caused by the way in which files were read.
    pub(crate) fn explained(&self, e: Fault, sql: &str) -> Fault {
        let mut more = self.doubts(sql);
        if e.code() == code::JOIN_UNBOUND {
            more.push("options are --key TABLE=COLUMN and --join-bound PAIRS".into());
        }
        let guessed = self.guessed.iter().filter(|(_, column)| names(sql, column));
        let guessed: Vec<String> = guessed.map(|(table, column)| format!("{table}.{column}")).collect();
        if let Some((last, others)) = guessed.split_last() {
            let (of, their) = match others {
                [] => (format!("column {last} has no values and was taken"), "its type"),
                _ => {
                    let others = others.join(", ");
                    (format!("columns {others} and {last} have no values and were taken"), "their types")
                }
            };
            more.push(format!("{of} for VARCHAR(1): give {their} with --type or --schema FILE"));
        }
        let clauses = e.clauses();
        for (table, survey) in self.surveys.iter().filter(|(_, survey)| names(sql, &survey.column.name)) {
            let (column, ty) = (&survey.column.name, survey.column.ty);
            if let Some(long) = survey.long_text() {
                more.push(format!("column {table}.{column} has {long}"));
            }
            if let Some(number) = survey.as_numbers().filter(|_| clauses.contains("VARCHAR")) {
                let flag = flag("type", &format!("{table}.{column}={number}"));
                more.push(format!(
                    "column {table}.{column} was read as {ty}, as some of its numbers begin with 0 or +: if they are no codes, add {flag}"
                ));
            }
        }
        let is_of_text = ["VARCHAR", "text", "string"].iter().any(|word| clauses.contains(word));
        let numbers = self.surveys.iter().filter(|(_, s)| is_of_text && names(&clauses, &s.column.name));
        for (table, survey) in numbers.filter(|(_, survey)| survey.column.ty.is_numeric()) {
            let (column, ty) = (&survey.column.name, survey.column.ty);
            more.push(format!(
                "column {table}.{column} was read as {ty}: where it is meant as text, as postcodes and phone numbers are, add --type \"{table}.{column}=VARCHAR(n)\", or write CAST({column} AS VARCHAR(n))"
            ));
        }
        if more.is_empty() {
            return e;
        }
        let remedy = format!("{}; {}", e.remedy(), more.join("; "));
        e.remedied(remedy)
    }
}

/// Returns whether a query names a column: as a word, in upper or lower case.
fn names(sql: &str, column: &str) -> bool {
    let (sql, column) = (sql.to_lowercase(), column.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_word = |(at, found): (usize, &str)| {
        let before = sql[..at].chars().next_back();
        let behind = sql[at + found.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    };
    !column.is_empty() && sql.match_indices(&column).any(is_word)
}

/// Gives a column another type.
fn retyped(table: &str, columns: &mut [String], column: &str, ty: &str) -> Result<(), Error> {
    let known: Vec<String> =
        columns.iter().filter_map(|text| column_of(text).map(|column| column.name)).collect();
    let at = known.iter().position(|name| name.eq_ignore_ascii_case(column));
    let at = at.ok_or_else(|| {
        let remedy = suggest::remedy(column, &known.iter().map(String::as_str).collect::<Vec<_>>());
        Error::Usage(format!("--type: table {table} has no column {column}; {remedy}"))
    })?;
    let not_null =
        if column_of(&columns[at]).is_some_and(|column| column.nullable) { "" } else { " NOT NULL" };
    let declared = format!("\"{}\" {ty}{not_null}", known[at].replace('"', "\"\""));
    if column_of(&declared).is_none() {
        let what =
            "write it as INTEGER, BIGINT, DECIMAL(12, 2), DOUBLE, VARCHAR(25), DATE, TIMESTAMP or BOOLEAN";
        return Err(Error::Usage(format!("--type: {ty} is no type; {what}")));
    }
    columns[at] = declared;
    Ok(())
}

/// Returns a place with a fixed reading of the first line, about which the owner has been told.
fn told(place: &InputPlace) -> InputPlace {
    let (places, dialect) = place.as_table(&Dialect::default());
    let mut assumed = Dialect::default();
    if assumed.set("header", "yes").is_err() {
        return place.clone();
    }
    InputPlace::Table(places.into_iter().cloned().collect(), dialect.over(&assumed))
}
