//! Habits of users from other commands: numbers, names, pages, colours, and byte order marks in
//! files.

use crate::common::{Place, Ran, good, prints};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

fn with(place: &Place, args: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command: Command = place.hushwire(args);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
    command.envs(variables.iter().copied());
    Ran::new(command.output().unwrap_or_else(|e| panic!("{args}: {e}")))
}

const JOB: &str = "protocol = \"rep3\"\r\ncircuit = \"add:16\"\r\n\
    [[inputs]]\r\nname = \"left\"\r\nfrom = \"party0\"\r\nsample = \"dec:700\"\r\n\
    [[inputs]]\r\nname = \"right\"\r\nfrom = \"party1\"\r\nsample = \"0x2a\"\r\n\
    [[outputs]]\r\nname = \"total\"\r\nto = \"party2\"\r\n";

#[test]
fn numbers_are_written_in_three_ways() {
    let place = Place::new();
    let run = "local run --circuit add:16 --transport unix --inputs";
    for inputs in ["0=002a,1=0009", "0=0x2a,1=0x9", "0=dec:42,1=dec:9", "0=dec:42,1=0x0000000009"] {
        prints(&place, &format!("{run} {inputs}"), &["0=00033"]);
    }
    prints(&place, "circuit eval add:16 --inputs 0=dec:42,1=0x9", &["0=00033"]);
}

#[test]
fn outputs_have_the_names_that_the_job_gives_them() {
    let place = Place::new();
    place.put("job.toml", JOB.as_bytes());
    prints(&place, "local job.toml --transport unix", &["total=002e6"]);
    let ran = place.ran("local job.toml --transport unix --inputs left=dec:1,right=dec:2 --json -");
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    assert_eq!(report["outputs"]["total"], "00003", "{}", ran.err);
}

#[test]
fn a_mark_begins_no_file() {
    let place = Place::new();
    place.put("job.toml", format!("\u{feff}{JOB}").as_bytes());
    prints(&place, "local job.toml --transport unix", &["total=002e6"]);
    place.put("xor.txt", "\u{feff}1 3\r\n2 1 1\r\n1 1\r\n\r\n2 1 0 1 2 XOR\r\n".as_bytes());
    prints(&place, "circuit eval xor.txt --inputs 0=1,1=0", &["0=1"]);
    place.put("a.csv", "\u{feff}id,x\r\n1,a\r\n2,b\r\n".as_bytes());
    place.put("b.csv", b"id\n2\n3\n");
    prints(
        &place,
        "local psi --a a.csv --b b.csv --column id --reveal items --transport unix",
        &["id,x", "2,b"],
    );
    good(&place, "keys init --name party0 --out key.pem");
    let pin = good(&place, "keys pin key.pem");
    let mut key = "\u{feff}".as_bytes().to_vec();
    key.extend(place.get("key.pem"));
    place.put("key.pem", &key);
    prints(&place, "keys pin key.pem", &[pin.out.trim()]);
}

/// A stray quote once swallowed a thousand rows, and the answer was 5.
#[test]
fn a_stray_quote_is_an_error_with_its_place() {
    let place = Place::new();
    let rows = |from: u32| (from..from + 1000).map(|i| format!("k{i}\n")).collect::<String>();
    place.put("a.csv", format!("id\n{}", rows(0)).as_bytes());
    place.put("b.csv", format!("id\nx\n\"y\n{}", rows(0)).as_bytes());
    let psi = "local psi --a a.csv --b b.csv --column id --reveal size --transport unix";
    let ran = place.ran(psi);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{}", ran.err);
    assert!(
        ran.err.contains("b.csv, line 3, character 1: the quote that opens here is not closed"),
        "{}",
        ran.err
    );
    place.put("b.csv", format!("id\nx\ny\n{}", rows(5)).as_bytes());
    prints(&place, psi, &["995"]);
}

/// A pipe was once read twice, and the messages were about missing content in the second reading.
#[test]
fn what_can_be_read_once_is_told_so() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.at("pipe.csv")).status();
    assert!(made.is_ok_and(|made| made.success()), "no pipe was made");
    place.put("b.csv", b"id,x\n2,3\n");
    let mut commands = vec!["local psi --a pipe.csv --b b.csv --key id --transport unix"];
    if cfg!(feature = "sql") {
        let query = "local query --table t=pipe.csv@alice --sql-file q.sql --transport unix";
        place.put("q.sql", b"SELECT COUNT(*) FROM t");
        commands.push(query);
    }
    #[cfg(feature = "nn")]
    {
        let mut model = hushwire_nn::zoo::Writer::new("one", 3, &[1, 4]);
        let output = model.gemm("input", [4, 1]);
        place.put("m.onnx", &model.finish(&output).to_bytes());
        commands.push("local infer --model m.onnx --input pipe.csv --transport unix");
    }
    for args in commands {
        let ran = place.ran(args);
        let words = ["pipe.csv", "it is no plain file", "copy it into a file"];
        assert!(
            ran.code == Some(4) && words.iter().all(|word| ran.err.contains(word)),
            "{args}: {}",
            ran.err
        );
    }
}

#[test]
fn the_version_names_commit_and_tiers() {
    let place = Place::new();
    let short = place.ran("-V").out;
    let commit = short.trim().strip_prefix(concat!("hushwire ", env!("CARGO_PKG_VERSION"), " (commit "));
    let commit = commit.and_then(|rest| rest.strip_suffix(")")).unwrap_or_else(|| panic!("{short}"));
    assert!(commit == "unknown" || commit.bytes().all(|b| b.is_ascii_alphanumeric()), "{short}");
    if let Some(head) =
        Command::new("git").args(["rev-parse", "HEAD"]).output().ok().filter(|o| o.status.success())
    {
        let head = String::from_utf8_lossy(&head.stdout).into_owned();
        assert!(head.starts_with(commit) && commit.len() == 12, "{short} is not of {head}");
    }
    let long = place.ran("--version").out;
    assert_eq!(long.matches("portable").count(), 1, "{long}");
    assert!(
        long.starts_with(short.trim()) && long.contains("AES tiers") && long.contains("portable"),
        "{long}"
    );
}

#[test]
fn files_that_were_confused_are_told_apart() {
    let place = Place::new();
    place.put("job.toml", JOB.as_bytes());
    place.put("aes.toml", b"kind = \"aes-ctr\"\nowner = \"client:alice\"\n");
    place.put(
        "query.toml",
        b"sql = \"SELECT a FROM t\"\nto = [\"client:x\"]\n[[tables]]\nname = \"t\"\ncolumns = [\"a INTEGER\"]\nparts = [\"client:y 1\"]\n",
    );
    place.put("psi.toml", b"kind = \"psi\"\nkey = \"email\"\n");
    place.put("infer.toml", b"network = \"n.hwc\"\nowner = \"client:x\"\nclient = \"client:y\"\n");
    let made = place.ran("local files job.toml --dir r");
    assert_eq!(made.code, Some(0), "{}", made.err);
    place.put("alice.toml", b"name = \"alice\"\nkey = \"a.pem\"\n[[peers]]\nindex = 0\n");
    for (args, code, words) in [
        (
            "party r/party0.toml --config r/party0.toml",
            4,
            ["r/party0.toml, line 1: this is a member's own file", "--config"],
        ),
        ("party job.toml --config job.toml", 4, ["job.toml, line 1: this is a job file", "--config"]),
        ("client job.toml --config aes.toml", 4, ["aes.toml, line 1: this is a job file", "--config"]),
        ("party job.toml --config alice.toml", 4, ["this is a client's file", "hushwire client"]),
        ("client job.toml --config r/party1.toml", 4, ["this is a party's file", "hushwire party"]),
        ("local run aes.toml", 2, ["an encryption's job", "hushwire local aes-ctr"]),
        ("local run query.toml", 2, ["a query's job", "hushwire local query"]),
        ("local run psi.toml", 2, ["an intersection's job", "hushwire local psi --a"]),
        ("local run infer.toml", 2, ["an inference's job", "hushwire local infer"]),
        ("local compute query.toml", 2, ["a query's job", "hushwire local query"]),
        ("local compute job.toml", 2, ["a circuit's job", "hushwire local run job.toml"]),
        ("keys pin 127.0.0.1", 4, ["no such file", "an address has a port"]),
    ] {
        let ran = place.ran(args);
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.err);
        assert!(words.iter().all(|word| ran.err.contains(word)), "{args}: {}", ran.err);
    }
}

#[test]
fn manual_pages_and_completions_come_from_the_command_line() {
    let place = Place::new();
    let ran = good(&place, "man --dir pages");
    assert!(ran.err.contains("pages are in pages"), "{}", ran.err);
    let page = String::from_utf8_lossy(&place.get("pages/hushwire-local-run.1")).replace("\\-", "-");
    assert!(page.contains("--inputs") && page.contains(".TH"), "{page}");
    assert!(good(&place, "man").out.contains(".SH NAME"));
    let script = good(&place, "completions bash").out;
    for option in ["--inputs", "--dir", "man"] {
        assert!(script.contains(option), "{option}");
    }
}

/// The repository has every file that an example in a help text names.
#[test]
fn files_that_helps_name_are_there() {
    let place = Place::new();
    good(&place, "man --dir pages");
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut named = 0;
    for page in fs::read_dir(place.at("pages")).expect("pages").flatten() {
        let text = fs::read_to_string(page.path()).expect("a page").replace("\\-", "-");
        for word in text.split_whitespace().filter(|word| word.starts_with("examples/")) {
            let file = word.trim_end_matches(['.', ',', ':', ')']);
            assert!(root.join(file).exists(), "{}: {file}", page.path().display());
            named += 1;
        }
    }
    assert!(named > 5, "{named}");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let place = Place::new();
    let wrong = "local run --circuit less:8 --inputs 0=1";
    let colour = "\u{1b}[";
    for (variables, coloured) in [
        (&[][..], false),
        (&[("CLICOLOR_FORCE", "1")], true),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
    ] {
        let ran = with(&place, wrong, variables);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert_eq!(ran.err.contains(colour), coloured, "{variables:?}: {:?}", ran.err);
        assert!(ran.err.contains("error:"), "{}", ran.err);
    }
}

#[test]
fn a_long_run_says_so_before_it_begins() {
    let place = Place::new();
    let args = "local run --circuit less:32 --inputs 0=dec:1,1=dec:2 --transport unix --net 1Mbps,";
    let short = place.ran(&format!("{args}1ms"));
    assert!(short.code == Some(0) && !short.err.contains("about"), "{}", short.err);
    let small = "local aes-ctr --transport unix --in small --key-shares k --aes-backend portable";
    place.put("small", &[7; 1000]);
    let short = place.ran(small);
    assert!(short.code == Some(0) && !short.err.contains(" blocks, "), "{}", short.err);
    place.put("big", &vec![0; 40_000_000]);
    place.put("many", "1 2\n".repeat(4_000_000).as_bytes());
    let portable = "--transport unix --aes-backend portable";
    for (args, words) in [
        // Thirty-two layers, each of which takes a second more.
        (format!("{args}2s"), ["32 rounds", "over 1Mbps,2s"]),
        (format!("local aes-ctr --in big --key-shares k {portable}"), ["2.50 M blocks, ", "on this machine"]),
        (
            format!("ot send --messages many --listen unix:ot.socket {portable}"),
            ["4.00 M OTs, ", "as in one room"],
        ),
    ] {
        let mut long = place.hushwire(&args);
        let mut long =
            long.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"));
        let lines = BufReader::new(long.stderr.take().unwrap_or_else(|| panic!("it is piped"))).lines();
        let said = lines.map_while(Result::ok).find(|line| line.contains("about"));
        let ended = long.try_wait();
        long.kill().and_then(|()| long.wait()).unwrap_or_else(|e| panic!("{e}"));
        let said = said.unwrap_or_else(|| panic!("{args}: nothing is said"));
        assert!(words.iter().all(|word| said.contains(word)), "{args}: {said}");
        assert!(matches!(ended, Ok(None)), "it is said while the run goes on");
    }
}
