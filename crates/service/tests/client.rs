//! The commands for people against three parties: from a table's file to a result in a file.

mod rig;

use rig::Rig;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    process::{Command, Output},
};

/// A person at a shell in the directory of `local-up`.
struct Shell<'r>(&'r Rig);

impl Shell<'_> {
    fn output(&self, line: &str) -> Output {
        let mut command = Command::new(rig::program());
        command.args(line.split_whitespace()).current_dir(self.0.dir.path()).env_remove("HUSHWIRE_SERVICE");
        command.output().unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    /// The output of a command that succeeds.
    fn run(&self, line: &str) -> String {
        let output = self.output(line);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {out}{err}{}", rig::logs(self.0.dir.path()));
        out.into_owned()
    }

    fn json(&self, line: &str) -> Value {
        let text = self.run(&format!("{line} --json"));
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"))
    }

    /// The exit code and the error of a command that fails.
    fn fails(&self, line: &str) -> (i32, String) {
        let output = self.output(line);
        assert!(!output.status.success(), "{line}: it had to fail");
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.dir.path().join(name), text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.dir.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// A table that only its owner has, and its sums by team, computed here.
fn table() -> (String, BTreeMap<&'static str, (u64, u64)>) {
    let (mut text, mut sums) = ("id,team,score\n".to_owned(), BTreeMap::new());
    for n in 0..90u64 {
        let (team, score) = (["red", "blue", "green"][(n * n % 7 % 3) as usize], n * 37 % 101);
        let _ = writeln!(text, "{n},{team},{score}");
        let (count, sum) = sums.entry(team).or_insert((0, 0));
        (*count, *sum) = (*count + 1, *sum + score);
    }
    (text, sums)
}

const COLUMNS: &str = "columns = [\"id INTEGER NOT NULL\", \"team VARCHAR(8) NOT NULL\", \"score INTEGER NOT NULL\"]\nkey = [\"id\"]\n";

#[test]
fn a_table_becomes_a_result_by_commands_alone() {
    let rig = Rig::up();
    let shell = Shell(&rig);
    let (csv, sums) = table();
    shell.write("scores.csv", &csv);
    shell.write("schema.toml", &format!("[[tables]]\nname = \"scores\"\n{COLUMNS}"));
    shell.write(
        "job.toml",
        &format!(
            "kind = \"query\"\nsql = \"SELECT team, COUNT(*) AS n, SUM(score) AS total FROM scores GROUP BY team\"\n\
             to = [\"recipient:bob\"]\n\n[[tables]]\nname = \"scores\"\n{COLUMNS}parts = [\"data:scores 90\"]\n"
        ),
    );
    let bob = shell.json("key init --keys bob.keys --name bob");

    // The owner puts the table twice. The second time, the parties get another version of it.
    let put = "data put scores.csv --schema schema.toml --keys owner.keys --to owner.toml";
    let data = shell.json(put);
    let (id, line) = (word(&data["id"]), word(&data["line"]));
    assert_eq!((data["rows"].as_u64(), data["version"].as_u64()), (Some(90), Some(1)));
    let next = shell.json(&format!("{put} --line {line} --version 2"));
    assert_eq!((word(&next["line"]), next["version"].as_u64()), (line, Some(2)));
    assert_ne!(word(&next["id"]), id);
    let list = shell.run("data list --to owner.toml");
    assert!(
        list.lines().filter(|line| line.starts_with("scores") && line.contains("usable")).count() == 2,
        "{list}"
    );
    let described = shell.run(&format!("data describe {id} --to owner.toml"));
    assert!(
        described.contains("usable usable usable") && described.contains("team VARCHAR(8)"),
        "{described}"
    );
    let leftover = rig.dir.path().join("scores.csv.sealed");
    assert!(!leftover.exists(), "sealed parts are removed once the parties have them");

    // The analyst proposes, and the operator approves with the policy of a draft.
    let proposed = shell.json("propose job.toml --to analyst.toml");
    let proposal = word(&proposed[0]["id"]);
    let (code, error) = shell.fails(&format!(
        "submit --proposal {proposal} --data scores={id} --recipient bob=bob.keys --to analyst.toml"
    ));
    assert!(code == 5 || code == 2, "nobody has approved it: {code} {error}");
    let draft = format!(
        "policy draft {proposal} --recipient {} --data scores=line:{line} --runs 1 --expires 2099-01-01 --to operator.toml",
        word(&bob["id"])
    );
    // A name that the proposal does not have would make a policy that allows nothing.
    for (from, to, says) in [
        ("--data scores=", "--data score=", "did you mean `scores`?"),
        (&*format!("--data scores=line:{line}"), "", "--data"),
        ("--runs 1", "--runs 1 --param since=1..2", "no parameter since"),
    ] {
        let (code, error) = shell.fails(&draft.replace(from, to));
        assert!(code == 2 && error.contains(says), "{to}: {code} {error}");
    }
    let policy = shell.run(&draft);
    shell.write("policy.toml", &policy);
    let words = shell.run("policy check policy.toml");
    assert!(words.contains("It may run 1 times in all") && words.contains("2099-01-01"), "{words}");
    let (_, error) =
        shell.fails(&format!("approve {proposal} --policy policy.toml --keys owner.keys --to operator.toml"));
    assert!(error.contains("operators"), "the owner is no operator: {error}");
    shell.run(&format!("approve {proposal} --policy policy.toml --keys operator.keys --to operator.toml"));
    let explained = shell.run(&format!("explain {proposal} --to operator.toml"));
    assert!(explained.matches("approved").count() >= 3, "{explained}");
    assert!(explained.contains("all learn the query"), "the plan in words: {explained}");

    // The analyst submits and waits, and the recipient opens three shares.
    let submit =
        format!("submit --proposal {proposal} --data scores={id} --recipient bob=bob.keys --to analyst.toml");
    let job = shell.run(&format!("{submit} --key one"));
    assert_eq!(shell.run(&format!("{submit} --key one")), job, "the same key is the same job");
    let job = job.trim();
    shell.run(&format!("wait {job} --limit 60 --to analyst.toml"));
    let (code, error) = shell.fails(&format!("fetch {job} --keys owner.keys --output bob --to analyst.toml"));
    assert!(code == 4 && error.contains("sealed to"), "another's keys: {code} {error}");
    shell.run("key rotate --keys bob.keys");
    shell.run(&format!("fetch {job} --keys bob.keys --out result.csv --to analyst.toml"));
    let result = shell.read("result.csv");
    let mut rows: Vec<_> = result.lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    let mut wanted: Vec<_> = sums.iter().map(|(team, (n, total))| format!("{team},{n},{total}")).collect();
    wanted.sort();
    assert_eq!(rows, wanted, "{result}");
    let printed = shell.run(&format!("fetch {job} --keys bob.keys --to analyst.toml"));
    assert!(printed.contains("green"), "{printed}");
    let jobs = shell.run("jobs --to analyst.toml");
    assert!(jobs.contains(job) && jobs.contains("delivered"), "{jobs}");

    // The policy allows one run, and all parties have counted it.
    let second = shell.output(&format!("{submit} --key two"));
    let denied = if second.status.success() {
        let second = String::from_utf8_lossy(&second.stdout).trim().to_owned();
        shell.fails(&format!("wait {second} --limit 60 --to analyst.toml")).1
    } else {
        String::from_utf8_lossy(&second.stderr).into_owned()
    };
    assert!(denied.contains("run 1 times"), "{denied}");

    // Each log holds, and each has the heads of the others.
    let verified = shell.json("audit verify --to auditor.toml");
    assert!(verified["compared"].as_u64() > Some(0), "{verified}");
    let shown = shell.run("audit show --party 1 --most 1000 --to auditor.toml");
    assert!(shown.contains("reserve") && !shown.contains("green"), "{shown}");

    // A token is given, works, and is revoked.
    let given = shell.json("token give --role auditor --days 1 --to operator.toml");
    assert_eq!(given.as_array().map(Vec::len), Some(3));
    let auditor = shell.read("auditor.toml");
    let own: Vec<&str> = auditor.lines().filter_map(|line| line.strip_prefix("token = ")).collect();
    let theirs = auditor.replace(own[0], &format!("{:?}", word(&given[0]["token"])));
    shell.write("heart.toml", &theirs);
    Command::new("chmod")
        .args(["600", "heart.toml"])
        .current_dir(rig.dir.path())
        .status()
        .expect("chmod runs");
    assert!(shell.run("audit show --party 0 --most 1 --to heart.toml").contains("#1"));
    shell.run(&format!("token revoke {} --party 0 --to operator.toml", word(&given[0]["id"])));
    let (_, error) = shell.fails("audit show --party 0 --most 1 --to heart.toml");
    assert!(error.contains("party 0") && error.contains("token"), "{error}");

    // The files that a party keeps of the table reveal nothing.
    for entry in walk(rig.dir.path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("party") || entry.to_string_lossy().contains(".blobs") {
            let bytes = fs::read(&entry).unwrap_or_default();
            assert!(!bytes.windows(8).any(|window| window == b"17,blue,"), "{name} has a row");
        }
    }
    shell.run(&format!("data delete {id} --to owner.toml"));
    let (_, error) = shell.fails("data describe 00 --to owner.toml");
    assert!(error.contains("64"), "{error}");
    // A program that asks for JSON gets the error on standard output, too.
    for line in [
        "data describe 00 --to owner.toml",
        "status --config none.toml",
        "join --config none.toml --party 1 --host h --pin x",
    ] {
        let output = shell.output(&format!("{line} --json"));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{line}: {e}"));
        let error = &told["error"];
        assert_eq!(error["exit_code"].as_i64(), output.status.code().map(i64::from), "{line}: {told}");
        assert!(
            word(&error["code"]).starts_with("HW") && !word(&error["cause"]).is_empty(),
            "{line}: {told}"
        );
    }
    // Another party joins a config.
    shell.run("init alone --party 0 --group g --host one.example");
    let pin = word(&rig.up["parties"][1]["pin"]);
    let join = format!("join --config alone/party0.toml --party 1 --host two.example --pin {pin}");
    assert_eq!(word(&shell.json(&join)["pin"]), pin);
    assert!(shell.read("alone/party0.toml").contains("two.example:7400"));
}

/// All files below a directory.
fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] })
        .collect()
}
