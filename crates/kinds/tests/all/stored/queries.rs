//! Tables at rest, with the plain evaluator as oracle.

use super::*;
use hushwire_kinds::{QueryTask, StoredTable};
use hushwire_tables::{algebra::Value, plain::Row};

const STAYS: [&str; 4] =
    ["ward VARCHAR(3) NOT NULL", "days SMALLINT NOT NULL", "cost DECIMAL(9, 2)", "admitted DATE NOT NULL"];

fn csv(rows: u64) -> String {
    let row = |i: u64| {
        let cost = if i % 4 == 3 { String::new() } else { format!("{}.{:02}", i * 37 % 1000, i % 100) };
        format!(
            "{},{},{cost},20{:02}-0{}-1{}\n",
            ["A", "B", "CCU"][(i % 3) as usize],
            i % 29,
            20 + i % 6,
            1 + i % 9,
            i % 10
        )
    };
    "ward,days,cost,admitted\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

fn stored(padded: bool, rows: u64, csv: &str) -> Result<AtRest, Fault> {
    let columns = STAYS.map(str::to_owned);
    let table = StoredTable::new("stays", &columns, &[], padded)?;
    let mut at_rest = AtRest::new(table.layout(rows));
    let mut next = 0;
    let place = InputPlace::memory(csv.as_bytes());
    let found = table.read(&place, rows, &mut |part, planes| {
        assert_eq!(part, next);
        next += 1;
        at_rest.put(planes);
        Ok(())
    })?;
    assert!(next == parts(&at_rest.columns) && found <= rows);
    Ok(at_rest)
}

fn job(sql: &str, rows: u64, padded: bool, to: &str) -> Job {
    let padded = if padded { "padded = true\n" } else { "" };
    let text = format!(
        "sql = \"{sql}\"\nto = [\"{to}\"]\n[[tables]]\nname = \"stays\"\ncolumns = {STAYS:?}\nparts = [\"data:stays {rows}\"]\n{padded}"
    );
    Job::parse(&text, Path::new("job.toml")).unwrap_or_else(|e| panic!("{e}"))
}

fn task(job: &Job) -> QueryTask {
    let Job::Query(query) = job else { panic!("a query") };
    query.task().unwrap_or_else(|e| panic!("{e}"))
}

/// The rows that the plain evaluator returns.
fn expected(task: &QueryTask, csv: &str) -> Vec<Row> {
    let query = task.query();
    let row = |line: &str| -> Row {
        let fields: Vec<&str> = line.split(',').collect();
        let columns = query.tables()[0].schema.columns().iter().zip(fields);
        let value = |(column, field): (&hushwire_tables::algebra::Column, &str)| match field {
            "" => Value::Null,
            text => hushwire_sql::cell::read(text, column.ty).unwrap_or_else(|e| panic!("{e}")),
        };
        columns.map(value).collect()
    };
    let rows: Vec<Row> = csv.lines().skip(1).map(row).collect();
    let inputs = query.inputs("stays", 0, &rows).unwrap_or_else(|e| panic!("{e}"));
    let outputs = evaluate(query.computation(), &inputs).unwrap_or_else(|e| panic!("{e}"));
    query.rows(&outputs).unwrap_or_else(|e| panic!("{e}"))
}

/// Results are sealed for a recipient, from a data set with or without padded rows.
#[test]
fn queries_take_tables_at_rest_and_seal_results() {
    let sql = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost, AVG(days) AS mean FROM stays WHERE admitted >= DATE '2022-01-01' GROUP BY ward ORDER BY ward";
    for (padded, rows) in [(false, 61), (true, 70)] {
        let csv = csv(61);
        let at_rest = stored(padded, rows, &csv).unwrap_or_else(|e| panic!("{e}"));
        let job = job(sql, rows, padded, "recipient:anna");
        let task = task(&job);
        let sinks = [0; 3].map(|_| Arc::new(Sink::default()));
        let mut all = configs(&task);
        assert_eq!(all.len(), 3, "parties alone");
        for (me, config) in &mut all {
            if let Member::Party(party) = me {
                config.stored.insert("stays".into(), at_rest.at(*party));
                config.sealed = Some(sinks[usize::from(*party)].clone());
            }
        }
        let heard = Arc::new(Mutex::new(vec![]));
        let hears = heard.clone();
        let ended = run_heard(&task, all, move |event| {
            if let Event::Phase(name) = event {
                hears.lock().expect("nobody panicked").push(name);
            }
        });
        for (me, ended) in ended {
            let outcome = ended.unwrap_or_else(|e| panic!("{me}: {e}"));
            assert!(outcome.learnt.rows.is_empty() && outcome.learnt.count.is_none(), "{me}");
        }
        let phases = heard.lock().expect("nobody panicked").clone();
        assert!(phases.iter().any(|phase| phase.starts_with("groups by")), "{phases:?}");
        let shares = sinks.each_ref().map(|sink| sink.of("anna").unwrap_or_else(|| panic!("a share")));
        let opened = job.open_sealed("anna", &shares).unwrap_or_else(|e| panic!("{e}"));
        let expected = expected(&task, &csv);
        assert_eq!(opened.json["count"], expected.len() as u64);
        let text = String::from_utf8_lossy(&opened.csv["result"]).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0] == "ward,n,cost,mean" && lines.len() == expected.len() + 1, "{text}");
        for (line, row) in lines[1..].iter().zip(&expected) {
            let fields: Vec<&str> = line.split(',').collect();
            let Value::Text(ward) = &row[0] else { panic!("text") };
            assert_eq!(fields[0].as_bytes(), ward);
            assert_eq!(Some(fields[1].parse().expect("a number")), row[1].number());
            let cents: i128 = fields[2].replace('.', "").parse().expect("a decimal");
            assert_eq!(Some(cents), row[2].number(), "{line}");
        }
    }
}

#[test]
fn tables_are_checked_when_they_are_put() {
    let refused = |padded, rows, csv: &str| {
        let error = stored(padded, rows, csv).err().unwrap_or_else(|| panic!("it was taken"));
        error.to_string()
    };
    let all = csv(6);
    assert!(refused(false, 7, &all).contains("has 6 rows, and it has 7 rows"));
    assert!(refused(false, 5, &all).contains("has more, and it has 5 rows"));
    assert!(refused(true, 5, &all).contains("has more"));
    assert!(refused(false, 6, &all.replace("CCU", "CCUU")).contains("column ward"));
    let columns = ["x DIGEST NOT NULL".to_owned()];
    let error = StoredTable::new("t", &columns, &[], false).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("column x is a DIGEST")));
    // A query that declares a column differently refers to another column.
    let at_rest = stored(false, 6, &all).unwrap_or_else(|e| panic!("{e}"));
    let text = "sql = \"SELECT SUM(days) AS d FROM stays\"\nto = [\"party0\"]\n[[tables]]\nname = \"stays\"\n\
        columns = [\"days INTEGER NOT NULL\"]\nparts = [\"data:stays 6\"]\n";
    let task = task(&Job::parse(text, Path::new("job.toml")).unwrap_or_else(|e| panic!("{e}")));
    let mut config = configs(&task).remove(&Member::Party(0)).expect("party 0");
    config.stored.insert("stays".into(), at_rest.at(0));
    let error = hushwire_session::open(&task, &mut config).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("no column days INTEGER NOT NULL"), "{error}");
}
