//! Files that commands write: they replace no file of the user, other users cannot read them, and
//! no counter is used twice.

use crate::common::{KEY, Place, children, noise};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    process::Stdio,
    thread::{self, sleep},
    time::{Duration, Instant},
};

const IV: &str = "000102030405060708090a0b0c0d0e0f";
/// A circuit with one input of eight bits from each of two parties, and one output of one bit.
const LESS: &str = "local run --transport shm --circuit less:8";

/// Runs a command and expects this exit code, and these words in the error.
fn ends(place: &Place, args: &str, code: i32, words: &[&str]) {
    let ran = place.ran(args);
    assert_eq!(ran.code, Some(code), "{args}: {}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{args}: no {word:?} in: {}", ran.err);
    }
}

/// Writes inputs of every kind.
fn furnished() -> Place {
    let place = Place::new();
    place.put("a", &noise(1, 100));
    place.put("key", KEY.as_bytes());
    place.put("a.csv", b"k\n1\n2\n");
    place.put("b.csv", b"k\n2\n3\n");
    place.put("0.bin", &[1]);
    place.put("1.bin", &[2]);
    place.put("job.toml", include_bytes!("../../../../examples/jobs/millionaires.toml"));
    place.put("pairs.txt", b"1 2\n");
    place.put("bits.txt", b"1\n");
    ends(&place, "circuit make less:8 --out less.txt", 0, &[]);
    ends(&place, "local files job.toml --dir d", 0, &[]);
    place
}

const PSI: &str = "local psi --a a.csv --b b.csv --column k --reveal items --transport unix";
const FILES: &str = "--input-file 0=0.bin --input-file 1=1.bin";

#[test]
fn the_order_of_the_readme_loses_nothing() {
    let place = Place::new();
    place.put("report.pdf", &noise(1, 5000));
    place.put("my.key", KEY.as_bytes());
    place.good("--in report.pdf --transport shm");
    place.good("--decrypt --in report.pdf.enc --transport shm");
    let (enc, dec) = (place.get("report.pdf.enc"), place.get("report.pdf.dec"));
    assert!(dec == place.get("report.pdf"));

    let given = format!("--in report.pdf --key-file my.key --iv-hex {IV} --transport shm");
    place.bad(&given, 5, &["report.pdf.enc", "not the file that this job wrote last", "--out", "--force"]);
    assert!(place.get("report.pdf.enc") == enc, "the file under the drawn key stays");
    place.good(&format!("{given} --force"));
    assert!(place.get("report.pdf.enc") != enc);

    // The shares beside it belong to the other key, which encrypted that file.
    let old = "--decrypt --in report.pdf.enc --transport shm";
    place.bad(old, 4, &["report.pdf.enc", "changed or replaced since", "restore it"]);
    place.bad(&format!("{old} --force"), 4, &["changed or replaced since"]);
    assert!(place.get("report.pdf.dec") == dec, "the good plaintext stays");
    place.good(&format!("--decrypt --in report.pdf.enc --key-file my.key --iv-hex {IV} --transport shm"));
    assert!(place.get("report.pdf.dec") == dec);

    // The first ciphertext is recognized under any name, and with one changed bit it is not.
    place.put("back", &enc);
    place.good("--decrypt --in back --out again --key-shares report.pdf.enc.keys --transport shm");
    assert!(place.get("again") == dec);
    let mut changed = enc;
    changed[7] ^= 1;
    place.put("back", &changed);
    let words = &["back", "none of the files that were encrypted here", "--iv-hex"];
    place.bad("--decrypt --in back --key-shares report.pdf.enc.keys --transport shm", 4, words);
}

#[test]
fn what_runs_twice_replaces_its_own_outputs() {
    let place = furnished();
    let commands = [
        "local aes-ctr --transport shm --json r1".to_owned(),
        "local aes-ctr --transport shm --decrypt --in hushwire-sample.txt.enc".to_owned(),
        format!("local aes-ctr --transport shm --in a --key-file key --iv-hex {IV} --json r2"),
        format!("{LESS} {FILES} --output 0=less --json r3"),
        format!("{PSI} --out both.csv --json r4"),
        "circuit make less:8 --out made".to_owned(),
        "circuit convert less.txt --to old --out old".to_owned(),
        "circuit info less.txt --json info".to_owned(),
    ];
    for args in &commands {
        ends(&place, args, 0, &[]);
        ends(&place, args, 0, &[]);
    }
    // Files that the user or another job wrote there do not belong to these commands.
    for (args, file) in commands.iter().zip([
        "hushwire-sample.txt.enc",
        "hushwire-sample.txt.dec",
        "a.enc",
        "less",
        "both.csv",
        "made",
        "old",
        "info",
    ]) {
        // The decryption needs the ciphertext.
        let kept = place.get(file);
        place.put(file, b"mine");
        ends(&place, args, 5, &[file, "not the file that this job wrote last", "--force"]);
        assert_eq!(place.get(file), b"mine", "{args}");
        ends(&place, &format!("{args} --force"), 0, &[]);
        assert_ne!(place.get(file), b"mine", "{args}");
        if file == "hushwire-sample.txt.enc" {
            assert_eq!(place.get(file).len(), kept.len());
        }
    }
    place.put("c.csv", b"k\n9\n");
    let other = "local psi --a c.csv --b b.csv --column k --reveal items --transport unix --out both.csv";
    ends(&place, other, 5, &["both.csv", "not the file that this job wrote last"]);
}

/// Runs of one computation or query belong to the same job, whatever rows they read.
#[test]
fn results_of_other_computations_and_queries_are_kept() {
    let place = Place::new();
    place.put("a.csv", b"k\n1\n2\n");
    let text = |op: &str| {
        let inputs = "input x: u16[n] from alice\ninput y: u16[n] from bob";
        format!("computation same\nmembers alice, bob\nsymbols n\n{inputs}\noutput z = {op} to alice\n")
    };
    let compute = "local compute c.hwc --transport shm --in alice/x=a.csv:k --in bob/y=a.csv:k --out z=z.csv";
    let query = "local query --transport shm --table t=a.csv@alice --out rows.csv --sql-file query.sql";
    for (first, other, file) in
        [(text("x + y"), text("x * y"), "z.csv"), (String::new(), String::new(), "rows.csv")]
    {
        let line = |text: &str, sql: &str| {
            place.put("c.hwc", text.as_bytes());
            place.put("query.sql", sql.as_bytes());
            if text.is_empty() { query } else { compute }
        };
        place.put("a.csv", b"k\n1\n2\n");
        ends(&place, line(&first, "SELECT k FROM t"), 0, &[]);
        place.put("a.csv", b"k\n1\n2\n3\n");
        ends(&place, line(&first, "SELECT k FROM t"), 0, &[]);
        let kept = place.get(file);
        let changed = line(&other, "SELECT k + 1 FROM t");
        ends(&place, changed, 5, &[file, "not the file that this job wrote last", "--force"]);
        assert_eq!(place.get(file), kept);
        ends(&place, &format!("{changed} --force"), 0, &[]);
        assert_ne!(place.get(file), kept);
    }
}

#[test]
fn no_output_is_something_that_the_run_reads_or_a_key() {
    let place = furnished();
    ends(&place, "local aes-ctr --transport shm --in a --key-shares k", 0, &[]);
    for (file, link) in [("a.csv", "soft"), ("d/alice.pem", "pem")] {
        symlink(place.at(file), place.at(link)).unwrap_or_else(|e| panic!("{e}"));
    }
    fs::hard_link(place.at("a"), place.at("hard")).unwrap_or_else(|e| panic!("{e}"));
    // No other member is there to be told.
    for name in ["d/alice.toml", "d/party0.toml"] {
        place.put(name, &[b"connect-timeout = \"200ms\"\n", &place.get(name)[..]].concat());
    }
    let own = place.get("d/alice.toml");
    let outputs = |line: &str| [&own[..], b"\n[outputs]\n", line.as_bytes(), b"\n"].concat();
    for (name, line) in [("key", "hex-file = \"alice.pem\""), ("own", "hex-file = \"own.toml\"")] {
        place.put(&format!("d/{name}.toml"), &outputs(&format!("bob-is-richer = {{ {line} }}")));
    }
    let reads = ["a", "key", "a.csv", "b.csv", "0.bin", "job.toml", "less.txt", "pairs.txt", "d/alice.pem"];
    let reads = reads.into_iter().chain(["d/key.toml", "d/own.toml", "k/party-1.share", "k/ledger.json"]);
    let before: Vec<_> = reads.map(|name| (name, place.get(name))).collect();
    let aes = "local aes-ctr --transport shm --in a --key-shares k";
    let cases = [
        (format!("{aes} --out a"), "the input"),
        (format!("{aes} --out hard"), "the input"),
        (format!("{aes} --json ./a"), "the input"),
        (format!("{aes} --out k/party-1.share"), "keys are kept"),
        (format!("{aes} --out k/ledger.json"), "keys are kept"),
        (format!("{aes} --json k/new"), "keys are kept"),
        (format!("{aes} --out d/alice.pem"), "a private key"),
        (format!("local aes-ctr --in a --key-file key --iv-hex {IV} --out key"), "the key"),
        (format!("{PSI} --out a.csv"), "party A's file"),
        (format!("{PSI} --out soft"), "party A's file"),
        (format!("{PSI} --json b.csv"), "party B's file"),
        (format!("{PSI} --out x --json x"), "the output named with --json"),
        (format!("{LESS} {FILES} --output 0=0.bin"), "input 0"),
        (format!("{LESS} {FILES} --json 1.bin"), "input 1"),
        ("local run --circuit less.txt --inputs 0=01,1=02 --json less.txt".into(), "the circuit"),
        ("local run job.toml --json job.toml".into(), "the job file"),
        ("client job.toml --config d/key.toml".into(), "private key"),
        ("client job.toml --config d/own.toml".into(), "this member's own file"),
        ("client job.toml --config d/alice.toml --json pem".into(), "private key"),
        ("party job.toml --config d/party0.toml --json job.toml".into(), "the job file"),
        ("party job.toml --config d/party0.toml --json d/alice.pem".into(), "a private key"),
        ("doctor --config d/alice.toml --json d/alice.toml".into(), "this member's own file"),
        (
            "ot send --messages pairs.txt --listen unix:s --transport unix --json pairs.txt".into(),
            "the messages",
        ),
        ("ot recv --choices bits.txt --connect unix:s --transport unix --out bits.txt".into(), "the choices"),
        ("circuit convert less.txt --to old --out less.txt".into(), "the circuit"),
        ("circuit info less.txt --json less.txt".into(), "the circuit"),
        ("circuit make-microcode less.txt --out less.txt".into(), "the circuit"),
        ("circuit make less:8 --out pem".into(), "a private key"),
    ];
    let refused = |args: &str, word: &str| {
        let words =
            &["cannot write", "that would overwrite", word][if word == "keys are kept" { 2 } else { 0 }..];
        ends(&place, args, 5, words);
        for (name, content) in &before {
            assert!(place.get(name) == *content, "{args}: {name} was changed");
        }
    };
    // Members tell the others for a few seconds why they end. The commands run at the same time, so
    // that these waits overlap.
    let command = |args: &str| args.split(' ').next().map(str::to_owned);
    thread::scope(|scope| {
        for of_command in cases.chunk_by(|(a, _), (b, _)| command(a) == command(b)) {
            let refused = &refused;
            scope.spawn(move || {
                of_command.iter().for_each(|(args, word)| refused(&format!("{args} --force"), word));
            });
        }
    });
}

#[test]
fn two_runs_do_not_write_one_file() {
    let place = Place::new();
    place.put("a", &noise(1, 100));
    let sparse = fs::File::create(place.at("big")).and_then(|file| file.set_len(4 << 30));
    sparse.unwrap_or_else(|e| panic!("{e}"));
    let mut command = place.command("--in big --out x --key-shares k");
    let mut first = command.stderr(Stdio::null()).spawn().unwrap_or_else(|e| panic!("{e}"));
    let begun = Instant::now();
    while children(first.id()).len() < 3 && begun.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(5));
    }
    let other = format!("process {}", first.id());
    place.bad("--in a --out ./x --key-shares l", 5, &["x", &other, "wait until"]);
    place.bad("--in a --out x --key-shares l --force", 5, &[&other]);
    assert!(first.try_wait().is_ok_and(|ended| ended.is_none()), "the first run was to be long");
    assert!(first.kill().and_then(|()| first.wait()).is_ok());
    assert!(!place.at("x").exists());
    place.good("--in a --out x --key-shares l");
    place.good("--decrypt --in x --out y --key-shares l");
    assert!(place.get("y") == place.get("a"));
}

#[test]
fn a_ledger_that_is_lost_is_not_forgotten() {
    let place = Place::new();
    place.put("a", &noise(1, 1000));
    place.put("b", &noise(2, 1000));
    let run = |rest: &str| format!("--transport shm --key-shares k {rest}");
    place.good(&run(&format!("--in a --iv-hex {IV}")));
    fs::remove_file(place.at("k/ledger.json")).unwrap_or_else(|e| panic!("{e}"));
    let words = &["holds a key and no ledger.json", "backup", "--history-lost"];
    for args in ["--in b".to_owned(), format!("--in b --iv-hex {IV}"), "--decrypt --in a.enc".to_owned()] {
        place.bad(&run(&args), 5, words);
    }
    assert!(!place.at("b.enc").exists() && !place.at("k/ledger.json").exists());
    // A decryption with a given counter needs no history, and nothing is recorded.
    place.good(&run(&format!("--decrypt --in a.enc --iv-hex {IV}")));
    assert!(place.get("a.dec") == place.get("a") && !place.at("k/ledger.json").exists());

    let lost = &["lost once", "leave out --iv-hex"];
    place.bad(&run(&format!("--in b --iv-hex {IV} --history-lost")), 5, lost);
    place.good(&run("--in b --history-lost"));
    for iv in [IV, "ffffffffffffffff0000000000000000"] {
        place.bad(&run(&format!("--in b --out c --iv-hex {iv}")), 5, lost);
    }
    place.good(&run("--in b --out c"));
    place.good(&run("--decrypt --in c --out d"));
    assert!(place.get("d") == place.get("b"));
    place.bad(&run("--in b --history-lost"), 2, &["has a ledger", "leave the option out"]);
}

#[test]
fn what_holds_inputs_or_outputs_is_for_its_owner_alone() {
    let place = furnished();
    let files = ["a.enc", "a.dec", "out", "both.csv", "r1", "r2", "r3"];
    for name in files {
        place.put(name, b"old");
        let open = fs::set_permissions(place.at(name), Permissions::from_mode(0o664));
        open.unwrap_or_else(|e| panic!("{e}"));
    }
    for args in [
        "local aes-ctr --transport shm --force --in a --json r1".to_owned(),
        "local aes-ctr --transport shm --force --decrypt --in a.enc".to_owned(),
        format!("{LESS} --force {FILES} --output 0=out --json r2"),
        format!("{PSI} --force --out both.csv --json r3"),
    ] {
        ends(&place, &args, 0, &[]);
    }
    for name in files {
        assert_ne!(place.get(name), b"old", "{name}");
        assert_eq!(place.mode(name), 0o600, "{name} is open to others");
    }
}

/// The ledger of another run's key was once replaced. It records which counters were used.
#[test]
fn nothing_goes_among_shares_of_a_key() {
    let place = furnished();
    ends(&place, "local aes-ctr --transport shm --in a --key-shares k", 0, &[]);
    let kept = ["k/ledger.json", "k/party-0.share"].map(|name| (name, place.get(name)));
    place.put("book", &kept[0].1);
    let less = format!("{LESS} --inputs 0=01,1=02");
    for args in [
        format!("{less} --output 0=k/ledger.json --force"),
        format!("{less} --output 0=k/new --force"),
        format!("{less} --json k/report.json"),
        format!("{PSI} --out k/both.csv"),
        format!("local aes-ctr --transport shm --in a --key-file key --iv-hex {IV} --out k/a.enc"),
        "circuit make less:8 --out k/less.txt".to_owned(),
        "man --dir k".to_owned(),
        "man --dir k/man".to_owned(),
        "keys init --out k/x.pem".to_owned(),
        "local files job.toml --dir k/files".to_owned(),
    ] {
        ends(&place, &args, 5, &["keys are kept in that directory"]);
    }
    ends(&place, &format!("{less} --output 0=book --force"), 5, &["book", "ledger"]);
    assert_eq!(place.get("book"), kept[0].1);
    kept.iter().for_each(|(name, bytes)| assert_eq!(&place.get(name), bytes, "{name}"));
    let mut names: Vec<_> = fs::read_dir(place.at("k"))
        .map(|all| all.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    names.sort();
    assert_eq!(names, ["ledger.json", "lock", "party-0.share", "party-1.share", "party-2.share"]);
}

/// Whole runs once ended with their results lost.
#[test]
fn links_that_lead_nowhere_are_refused_before_the_run() {
    let place = furnished();
    for (link, to) in [("nowhere", "none"), ("round", "round")] {
        symlink(to, place.at(link)).unwrap_or_else(|e| panic!("{e}"));
        for args in [
            format!("{LESS} --inputs 0=01,1=02 --output 0={link}"),
            format!("{LESS} --inputs 0=01,1=02 --json {link} --force"),
            format!("{PSI} --out {link}"),
            format!("local aes-ctr --transport shm --in a --out {link}"),
            format!("circuit make less:8 --out {link}"),
        ] {
            let ran = place.ran(&args);
            let words = [link, "it is a link that leads to no file"];
            assert!(
                ran.code == Some(4) && words.iter().all(|word| ran.err.contains(word)),
                "{args}: {}",
                ran.err
            );
            assert!(!ran.err.contains("time:"), "it ran: {}", ran.err);
        }
    }
}
