//! Standard output: a full one is an error in every command, and a closed pipe is not an error.

use crate::common::{Place, Ran, noise};
use std::{
    fs::File,
    io::{self, Read},
    process::Stdio,
};

/// Fast commands that print, one of each kind.
const PRINTING: [&str; 15] = [
    "--help",
    "local run --help",
    "--version",
    "completions bash",
    "circuit list",
    "circuit info less:8",
    "circuit info less:8 --json -",
    "circuit make less:8 --out -",
    "circuit eval less:8 --inputs 0=01,1=02",
    "keys pin k.pem",
    "keys show k.pem",
    "keys show --json - k.pem",
    "local run --circuit less:8 --inputs 0=01,1=02 --transport shm",
    "local run --circuit less:8 --inputs 0=01,1=02 --transport shm --json -",
    "local psi --a a.csv --b a.csv --column k --reveal size --transport unix",
];

fn place() -> Place {
    let place = Place::new();
    place.put("a.csv", b"k\n1\n2\n");
    let made = place.ran("keys init --out k.pem");
    assert_eq!(made.code, Some(0), "{}", made.err);
    place
}

/// Runs a command with this standard output.
fn into(place: &Place, args: &str, stdout: impl Into<Stdio>) -> Ran {
    let ran = place.hushwire(args).stdout(stdout).stderr(Stdio::piped()).output();
    Ran::new(ran.unwrap_or_else(|e| panic!("{args}: {e}")))
}

/// This holds whatever other users of the machine put among temporary files, under the one name
/// that such files once had.
#[test]
fn results_pass_through_files_without_a_name() {
    let place = place();
    for links in [false, true] {
        let temporary = place.at(if links { "links" } else { "blocks" });
        let name = temporary.join("hushwire-stream");
        let other = place.at("other");
        std::fs::create_dir_all(&other).and_then(|()| std::fs::create_dir(&temporary)).expect("directories");
        let put = if links { std::os::unix::fs::symlink(&other, &name) } else { std::fs::create_dir(&name) };
        put.expect("a name");
        let mut publish = place.hushwire("psi publish --in a.csv --key k --secret a.key --out - --force");
        let ran = Ran::new(publish.env("TMPDIR", &temporary).output().expect("it runs"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(std::fs::read_dir(&other).expect("it is there").count(), 0);
    }
}

#[test]
fn a_full_standard_output_is_exit_code_4_everywhere() {
    let place = place();
    for args in PRINTING.into_iter().chain(["keys init --name other", "local files job.toml --dir d"]) {
        if args.starts_with("local files") {
            let job = include_bytes!("../../../../examples/jobs/millionaires.toml");
            place.put("job.toml", job);
        }
        let full = File::options().write(true).open("/dev/full").unwrap_or_else(|e| panic!("{e}"));
        let ran = into(&place, args, full);
        assert_eq!(ran.code, Some(4), "{args}: {}", ran.err);
        assert!(
            ran.err.contains("error: cannot write standard output: No space left"),
            "{args}: {}",
            ran.err
        );
    }
    assert!(place.at("other.pem").exists(), "the key was made before its pin could not be told");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let place = place();
    for args in PRINTING {
        let (reader, writer) = io::pipe().unwrap_or_else(|e| panic!("{e}"));
        drop(reader);
        let ran = into(&place, args, writer);
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
        assert!(!ran.err.contains("error") && !ran.err.contains("panic"), "{args}: {}", ran.err);
    }
    // A reader that leaves after the first bytes of many.
    let (mut reader, writer) = io::pipe().unwrap_or_else(|e| panic!("{e}"));
    let mut command = place.hushwire("circuit make aes128 --out -");
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"));
    drop(command);
    let mut first = [0; 100];
    reader.read_exact(&mut first).unwrap_or_else(|e| panic!("{e}"));
    drop(reader);
    let ran = Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn a_report_is_written_although_standard_output_takes_nothing() {
    let place = place();
    let full = File::options().write(true).open("/dev/full").unwrap_or_else(|e| panic!("{e}"));
    let args = "local psi --a a.csv --b a.csv --column k --reveal size --transport unix --json r.json";
    assert_eq!(into(&place, args, full).code, Some(4));
    let report: serde_json::Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_default();
    assert_eq!(report["found"], 2);
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let place = place();
    for (args, code) in [
        ("local run --circuit less:8 --inputs 0=01 --json -", 2),
        ("local run --circuit less:8 --json=- --unknown", 2),
        ("local psi --a none.csv --b a.csv --column k --reveal size --json -", 4),
        ("local aes-ctr --in none --json -", 4),
        ("party none.toml --config none.toml --json -", 4),
        ("doctor --config none.toml --json -", 4),
        ("keys show --json - none.pem", 4),
    ] {
        let ran = place.ran(args);
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.err);
        let told: serde_json::Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{args}: {e}: {}", ran.out));
        assert_eq!(told["error"]["exit_code"], code, "{args}");
        crate::schemas::see_as("error", &told);
        let code = told["error"]["code"].as_str().unwrap_or_default();
        assert!(code.starts_with("HW0") && told["error"]["kind"].is_string(), "{args}: {told}");
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && ran.err.contains(message), "{args}: {message:?} in {}", ran.err);
    }
    assert_eq!(place.ran("local run --circuit less:8 --inputs 0=01").out, "", "people read standard error");
}

#[test]
fn the_code_behind_an_error_is_explained() {
    let place = place();
    let ran = place.ran("keys show none.pem --json -");
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let error = &told["error"];
    assert_eq!(
        [&error["code"], &error["kind"], &error["who"], &error["peer"]],
        ["HW0301", "file", "", ""]
            .map(|text| if text.is_empty() { serde_json::Value::Null } else { text.into() })
            .each_ref(),
        "{told}"
    );
    let parts = ["step", "cause", "remedy"].map(|part| error[part].as_str().unwrap_or_default());
    assert_eq!(error["message"], format!("{}: {}; {}", parts[0], parts[1], parts[2]), "{told}");
    assert!(ran.err.ends_with("\n  `hushwire explain HW0301` says more\n"), "{}", ran.err);
    let explained = place.ran("explain HW0301 --json -");
    let explained: serde_json::Value = serde_json::from_str(&explained.out).unwrap_or_default();
    let place_of = "docs/troubleshooting.md#hw0301-a-file-cannot-be-read";
    assert_eq!([&explained["code"], &explained["page"]], ["HW0301", place_of], "{explained}");
    assert_eq!(explained["exit_code"], 4);
    crate::schemas::see_as("explain", &explained);
    let all = place.ran("explain");
    assert!(all.out.lines().any(|line| line.starts_with("HW0301  ")), "{}", all.out);
    assert_eq!(place.ran("explain HW9999").code, Some(2));
}

#[test]
fn data_goes_through_pipes() {
    let place = place();
    let text = noise(7, 100_000);
    let through = |args: &str, input: &[u8]| place.through(args, input);
    let (code, sealed, err) = through("local aes-ctr --transport shm --in - --key-shares k", &text);
    assert!(code == Some(0) && sealed.len() == text.len() && sealed != text, "{err}");
    let args = "local aes-ctr --transport shm --decrypt --in - --out - --key-shares k";
    let (code, opened, err) = through(args, &sealed);
    assert!(code == Some(0) && opened == text, "{err}");
    let (code, out, err) = through("local aes-ctr --in -", &text);
    assert!(code == Some(2) && out.is_empty() && err.contains("--key-shares"), "{err}");
    let (_, circuit, _) = through("circuit make less:8 --out -", b"");
    let (code, facts, err) = through("circuit info -", &circuit);
    assert!(code == Some(0) && String::from_utf8_lossy(&facts).contains("inputs     8 8"), "{err}");
    // Ten sums, whose second terms are in a file.
    place.put("b.bin", &[3, 0, 0, 0].repeat(10));
    let run = "local run --transport shm --circuit add:32 --input-file 0=- --input-file 1=b.bin";
    let (code, sums, err) = through(&format!("{run} --instances 10 --output 0=-"), &[4, 0, 0, 0].repeat(10));
    assert!(code == Some(0) && sums == [7, 0, 0, 0, 0].repeat(10), "{sums:?}: {err}");
    assert!(!place.noted("/output"), "nothing is remembered of what went by");
    let (code, sum, err) = through(run, &[4, 0, 0, 0]);
    assert!(code == Some(4) && sum.is_empty(), "b.bin has ten values: {err}");
    let (code, out, err) = through("local run --circuit add:32 --input-file 0=- --input-file 1=-", b"");
    assert!(code == Some(2) && out.is_empty() && err.contains("two inputs are standard input"), "{err}");
    let (code, out, err) = through(&format!("{run} --output 0=- --json -"), &[4, 0, 0, 0]);
    assert!(code == Some(2) && !out.is_empty() && err.contains("both standard output"), "{err}");
    // A job, and a member's own file with its key.
    let job = b"protocol = \"rep3\"\ncircuit = \"less:8\"\n[[inputs]]\nfrom = \"party0\"\nsample = \"02\"\n\
                [[inputs]]\nfrom = \"party1\"\nsample = \"03\"\n[[outputs]]\nto = \"party2\"\n";
    let (code, out, err) = through("local run - --transport shm", job);
    assert!(code == Some(0) && out == b"0=1\n", "{err}");
    let (code, out, err) = through("local run -", b"protocol = \"rep3\"\ncircus = \"less:8\"\n");
    assert!(
        code == Some(4) && out.is_empty() && err.contains("-, line 2: there is no key `circus`"),
        "{err}"
    );
    let (code, pin, err) = through("keys pin -", &place.get("k.pem"));
    assert!(code == Some(0) && pin == through("keys pin k.pem", b"").1, "{err}");
    let (code, _, err) = through("keys rotate -", &place.get("k.pem"));
    assert!(code == Some(2) && err.contains("stays in its file"), "{err}");
    assert_eq!(place.names(), ["a.csv", "b.bin", "k", "k.pem"]);
}

/// A second reader of standard input once found nothing, and the result was that of empty input.
#[test]
fn standard_input_is_for_one_reader() {
    let place = place();
    let text = "computation two\nmembers a, b\nsymbols n, m\ninput x: i32[n] from a\ninput y: i32[m] from b\n\
                output s = sum(x) + sum(y) to a\n";
    place.put("two.hwc", text.as_bytes());
    place.put("y.csv", b"y\n4\n");
    let through = |args: &str, input: &str| place.through(args, input.as_bytes());
    for command in ["local compute", "compute eval"] {
        for (args, names) in [
            ("two.hwc --in a/x=-:x --in b/y=-:y", ["--in a/x", "--in b/y"]),
            ("two.hwc --in x=- --in y=-", ["--in x", "--in y"]),
            ("- --in x=- --in y=y.csv", ["the computation", "--in x"]),
        ] {
            let (code, out, err) = through(&format!("{command} {args}"), "x\n1\n2\n");
            assert!(code == Some(2) && out.is_empty(), "{command} {args}: {code:?} {err}");
            let words = names.into_iter().chain(["both standard input"]);
            words.for_each(|word| assert!(err.contains(word), "{command} {args}: no {word:?} in {err}"));
        }
        let (code, out, err) = through(&format!("{command} two.hwc --in x=-:x --in y=y.csv"), "x\n1\n2\n");
        assert!(code == Some(0) && String::from_utf8_lossy(&out).contains('7'), "{command}: {err}");
    }
}

/// Notes and errors that nobody can read change neither the result nor the exit code.
#[test]
fn a_standard_error_that_takes_nothing_costs_no_result() {
    let place = place();
    let less = "local run --circuit less:8 --inputs 0=01,1=02 --transport shm";
    let psi = "local psi --a a.csv --b a.csv --column k --reveal size --transport unix";
    let full = || File::options().write(true).open("/dev/full").unwrap_or_else(|e| panic!("{e}"));
    let closed = || io::pipe().map_or_else(|e| panic!("{e}"), |(_, writer)| writer);
    for (args, code, out) in [
        (less.to_owned(), 0, "0=1\n"),
        (format!("-vv {less}"), 0, "0=1\n"),
        (format!("--log-format json {less}"), 0, "0=1\n"),
        (psi.to_owned(), 0, "2\n"),
        ("local run --circuit less:8".to_owned(), 2, ""),
        ("--log-format json local run --circuit less:8".to_owned(), 2, ""),
    ] {
        for stderr in [Stdio::from(full()), Stdio::from(closed())] {
            let ran = place.hushwire(&args).stderr(stderr).output().unwrap_or_else(|e| panic!("{args}: {e}"));
            let ran = Ran::new(ran);
            assert_eq!((ran.code, ran.out.as_str()), (Some(code), out), "{args}");
        }
    }
}

/// A result in the clear once stayed among temporary files, if the run ended while its reader was
/// slow.
#[test]
fn what_goes_by_leaves_no_name() {
    let place = place();
    let (bytes, tmp) = (vec![1; 1 << 18], place.at("tmp"));
    place.put("big", &bytes);
    std::fs::create_dir(&tmp).unwrap_or_else(|e| panic!("{e}"));
    let run = "local run --circuit less:8 --instances 262144 --input-file 0=big --input-file 1=big";
    let (mut reader, writer) = io::pipe().unwrap_or_else(|e| panic!("{e}"));
    let mut command = place.hushwire(&format!("{run} --output 0=- --transport unix"));
    let child = command.env("TMPDIR", &tmp).stdout(writer).stderr(Stdio::null()).spawn();
    drop(command);
    let mut child = child.unwrap_or_else(|e| panic!("{e}"));
    reader.read_exact(&mut [0]).unwrap_or_else(|e| panic!("{e}"));
    let left: Vec<_> = std::fs::read_dir(&tmp).map(|all| all.flatten().collect()).unwrap_or_default();
    let ended = child.try_wait();
    child.kill().and_then(|()| child.wait()).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(ended, Ok(None)), "it waits for its reader");
    assert!(left.is_empty(), "{left:?}");
}
