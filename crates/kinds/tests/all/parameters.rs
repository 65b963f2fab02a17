//! Parameters: type and range are terms, and the value belongs to a run.

use hushwire_compute::evaluate;
use hushwire_fault::code;
use hushwire_kinds::{Job, RunValues, Runs};
use hushwire_session::{InputPlace, Member, OutputPlace};
use std::{collections::BTreeMap, path::Path};

use super::stored::{configs, run_all};

fn values(texts: &[&str]) -> RunValues {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    RunValues::of_texts(&texts).unwrap_or_else(|e| panic!("{e}"))
}

fn digest(job: &Job) -> String {
    job.terms().unwrap_or_else(|e| panic!("{e}")).0.digest().to_string()
}

const LIMITED: &str = "computation c\nmembers party0, party1\ninput x: i32[4] from party0\n\
    input limit: i32 public\noutput n = count(x < broadcast(limit, [4])) to party1\n";

fn limited(dir: &Path, range: &str) -> Job {
    std::fs::write(dir.join("c.hwc"), LIMITED).expect("a file");
    let text =
        format!("kind = \"compute\"\ncomputation = \"c.hwc\"\n[parameters]\nthreads = 1\nlimit = {range}\n");
    Job::parse(&text, &dir.join("job.toml")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_computations_parameters_are_public_inputs_of_a_run() {
    let dir = tempfile::tempdir().expect("a directory");
    let job = limited(dir.path(), "{ type = \"i32\", from = -100, to = 100 }");
    let terms = job.terms().unwrap_or_else(|e| panic!("{e}")).0;
    assert!(terms.list().contains(&("parameter", "limit i32 from -100 to 100".to_owned())), "{terms}");
    for (limit, expected) in [("-4", 1), ("7", 3), ("100", 4)] {
        let given = job.clone().with(&values(&[&format!("limit={limit}")])).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(digest(&given), digest(&job), "the value is no term");
        let Job::Compute(compute) = &given else { panic!("a computation") };
        let task = compute.task().unwrap_or_else(|e| panic!("{e}"));
        let mut all = configs(&task);
        let first = all.get_mut(&Member::Party(0)).expect("party 0");
        first.inputs.insert("x".into(), InputPlace::Values("-5, 3, 6, 9".to_owned().into()));
        let second = all.get_mut(&Member::Party(1)).expect("party 1");
        second.outputs.insert("n".into(), OutputPlace::Show);
        let ended = run_all(&task, all);
        let learnt = &ended[&Member::Party(1)].as_ref().unwrap_or_else(|e| panic!("{e}")).learnt;
        assert_eq!(learnt.shown[0].1.elements, [expected.to_string()], "{limit}");
    }
    let other = limited(dir.path(), "{ type = \"i32\", from = -100, to = 99 }");
    assert_ne!(digest(&other), digest(&job), "the range is a term");
    for (given, words) in [
        (&["limit=101"][..], "parameter limit is \"101\": that is out of its range"),
        (&["limit=x"], "parameter limit is \"x\""),
        (&["limt=3"], "the job has no parameter limt; did you mean `limit`?"),
    ] {
        let error = job.clone().with(&values(given)).err().unwrap_or_else(|| panic!("{given:?}"));
        assert!(error.code() == code::PARAMETER && error.to_string().contains(words), "{error}");
    }
    // No member runs the job without a value.
    let Job::Compute(compute) = &job else { panic!("a computation") };
    let task = compute.task().unwrap_or_else(|e| panic!("{e}"));
    let mut config = configs(&task).remove(&Member::Party(1)).expect("party 1");
    let error = hushwire_session::open(&task, &mut config).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("parameter limit has no value, which is a i32 from -100 to 100"), "{error}");
    for (range, words) in [
        ("{ type = \"u32\", from = 1, to = 2 }", "is a u32, and the computation takes a i32"),
        ("{ type = \"i32\", from = 5, to = 2 }", "the range of parameter limit is empty"),
    ] {
        let error = limited(dir.path(), range).terms().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(words), "{error}");
    }
    let text = "kind = \"compute\"\ncomputation = \"c.hwc\"\n[parameters]\nthread = 1\n";
    let error =
        Job::parse(text, &dir.path().join("job.toml")).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("line 4") && error.contains("did you mean `threads`?"), "{error}");
    let text = text.replace("thread = 1", "x = { type = \"i32\" }");
    let error =
        Job::parse(&text, &dir.path().join("job.toml")).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("the parameter has no range"), "{error}");
}

#[cfg(feature = "sql")]
mod queries {
    use super::*;
    use hushwire_tables::{algebra::Value, plain::Row};

    fn job(condition: &str, parameters: &str) -> Job {
        let text = format!(
            "sql = \"SELECT COUNT(*) AS n FROM stays WHERE {condition}\"\nto = [\"party1\"]\n[parameters]\n{parameters}\n\
             [[tables]]\nname = \"stays\"\ncolumns = [\"ward VARCHAR(3) NOT NULL\", \"admitted DATE NOT NULL\"]\nparts = [\"party0 4\"]\n"
        );
        Job::parse(&text, Path::new("job.toml")).unwrap_or_else(|e| panic!("{e}"))
    }

    const PARAMETERS: &str = "since = { type = \"DATE\", from = 2020-01-01, to = \"2026-12-31\" }\nward = { type = \"VARCHAR(3)\", in = [\"A\", \"CCU\"] }";
    const CSV: &str = "ward,admitted\nA,2019-03-01\nA,2021-05-05\nCCU,2022-01-01\nA,2024-12-31\n";

    #[test]
    fn a_querys_parameters_are_literals_of_a_run() {
        for condition in ["admitted >= :since AND ward = :ward", "admitted >= ? AND ward = ?"] {
            let job = job(condition, PARAMETERS);
            let terms = job.terms().unwrap_or_else(|e| panic!("{e}")).0;
            let of = ["since DATE from 2020-01-01 to 2026-12-31", "ward VARCHAR(3) in \"A\", \"CCU\""];
            let found = terms.list().iter().filter(|(name, _)| *name == "parameter");
            assert!(found.map(|(_, text)| text.as_str()).eq(of), "{terms}");
            for (given, expected) in [
                (["since=2021-05-05", "ward=A"], 2),
                (["since=2020-01-01", "ward=CCU"], 1),
                (["since=2026-12-31", "ward=A"], 0),
            ] {
                let given = job.clone().with(&values(&given)).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(digest(&given), digest(&job));
                let Job::Query(query) = &given else { panic!("a query") };
                let task = query.task().unwrap_or_else(|e| panic!("{e}"));
                let query = task.query();
                let row = |line: &str| -> Row {
                    let columns = query.tables()[0].schema.columns().iter().zip(line.split(','));
                    columns
                        .map(|(column, text)| hushwire_sql::cell::read(text, column.ty).expect("a value"))
                        .collect()
                };
                let rows: Vec<Row> = CSV.lines().skip(1).map(row).collect();
                let inputs = query.inputs("stays", 0, &rows).expect("its rows");
                let outputs = evaluate(query.computation(), &inputs).expect("it evaluates");
                assert_eq!(query.rows(&outputs).expect("rows"), [[Value::Number(expected)]]);
                let mut all = configs(&task);
                let first = all.get_mut(&Member::Party(0)).expect("party 0");
                first.inputs.insert("stays".into(), InputPlace::memory(CSV));
                let ended = run_all(&task, all);
                let learnt = &ended[&Member::Party(1)].as_ref().unwrap_or_else(|e| panic!("{e}")).learnt;
                assert_eq!(learnt.rows, [[Some(expected.to_string())]], "{condition}");
            }
        }
    }

    #[test]
    fn members_give_the_same_values_within_the_range() {
        let since = |parameters: &str| job("admitted >= :since", parameters);
        let job = since("since = { type = \"DATE\", from = \"2020-01-01\", to = \"2026-12-31\" }");
        let agreement = |since: &str| {
            let job =
                job.clone().with(&values(&[&format!("since={since}")])).unwrap_or_else(|e| panic!("{e}"));
            job.agreement().unwrap_or_else(|e| panic!("{e}"))
        };
        let (ours, theirs) = (agreement("2021-01-01"), agreement("2021-01-02"));
        assert_ne!(ours.digest(), theirs.digest());
        let differs = ours.differences(&theirs.tags());
        assert!(
            differs.contains(&"values of parameters (ours: since = 2021-01-01)".to_owned()),
            "{differs:?}"
        );
        for (since, words) in [
            (
                "2019-12-31",
                "parameter since is \"2019-12-31\": that is out of its range; give since as DATE from 2020-01-01 to 2026-12-31",
            ),
            ("2027-01-01", "out of its range"),
            ("soon", "parameter since is \"soon\""),
        ] {
            let error = job.clone().with(&values(&[&format!("since={since}")])).err();
            let error = error.unwrap_or_else(|| panic!("{since}"));
            assert!(error.code() == code::PARAMETER && error.to_string().contains(words), "{error}");
        }
        // The version of a data set belongs to a run, too.
        let mut given = values(&["since=2021-01-01"]);
        given.data = BTreeMap::from([("stays".to_owned(), "blake3:00".to_owned())]);
        let error = job.clone().with(&given).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("the job has no data set stays"), "{error}");
        for (parameters, words) in [
            ("since = { type = \"DIGEST\", from = 1, to = 2 }", "of which there are no literals"),
            ("since = { type = \"VARCHAR(3)\", from = \"A\", to = \"B\" }", "is a string between two others"),
            ("since = { type = \"DAY\", from = 1, to = 2 }", "has no type \"DAY\""),
        ] {
            let error = since(parameters).terms().err();
            let error = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(words), "{error}");
        }
    }
}
