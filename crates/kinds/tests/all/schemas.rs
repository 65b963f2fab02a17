//! Job, party and client files: the forms that are read, and the message for every mistake.

use hushwire_kinds::{BitOrderChoice, CircuitJob, CircuitSource, Parameters};
use hushwire_session::{ClientFile, Dialect, InputPlace, Member, OutputPlace, PartyFile};
use std::{path::Path, time::Duration};

const JOB: &str = r#"
protocol = "rep3"
circuit = "less:32"
bit-order = "lsb"
instances = 1000

[[inputs]]
name = "alice"
from = "client:alice"
sample = "2a"

[[inputs]]
from = "party1"

[[outputs]]
name = "less"
to = ["party1", "client:bob", "party0"]

[parameters]
batch = 256
threads = 1
lanes = 4
"#;

const PIN: &str = "sha256:abababababababababababababababababababababababababababababababab";

fn party(change: impl Fn(String) -> String) -> Result<PartyFile, String> {
    let text = format!(
        r#"
index = 0
listen = "127.0.0.1:7000"
key = "keys/party0.pem"
connect-timeout = "500ms"
stall = 30

[[peers]]
index = 1
address = "example.org:7001"
pin = "{PIN}"

[[peers]]
index = 2
address = "[::1]:7002"
pin = "{}"

[[peers]]
client = "alice"
pin = "{}"

[inputs]
a = {{ file = "a.bin" }}
b = {{ hex = "ff" }}
c = {{ hex-file = "/c.hex" }}

[outputs]
sum = {{ file = "sum.bin" }}
"#,
        PIN.replace("ab", "cd"),
        PIN.replace("ab", "ef")
    );
    PartyFile::parse(&change(text), Path::new("dir/party.toml")).map_err(|e| e.to_string())
}

fn job(change: impl Fn(String) -> String) -> Result<CircuitJob, String> {
    CircuitJob::parse(&change(JOB.to_owned()), Path::new("dir/job.toml")).map_err(|e| e.to_string())
}

#[test]
fn a_whole_job_is_read() {
    let job = job(|t| t).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((job.protocol.name(), job.instances, job.bit_order), ("rep3", 1000, BitOrderChoice::Lsb));
    assert_eq!(job.circuit, CircuitSource::Builtin("less:32".into()));
    assert_eq!((job.inputs[0].name.as_str(), job.inputs[0].sample.as_deref()), ("alice", Some("2a")));
    assert_eq!((job.inputs[1].name.as_str(), &job.inputs[1].from), ("1", &Member::Party(1)));
    let recipients = [Member::Party(0), Member::Party(1), Member::Client("bob".into())];
    assert_eq!(job.outputs[0].to, recipients);
    assert_eq!(job.clients(), ["alice", "bob"]);
    assert_eq!(job.parameters, Parameters { batch: Some(256), threads: Some(1), lanes: Some(4) });
}

#[test]
fn files_are_relative_to_the_job() {
    let job = job(|t| t.replace("circuit = \"less:32\"", "circuit-file = \"c/adder.txt\""));
    assert_eq!(job.map(|j| j.circuit), Ok(CircuitSource::File("dir/c/adder.txt".into())));
}

#[test]
fn mistakes_in_a_job_name_their_line_and_the_near_word() {
    for (from, to, words) in [
        ("protocol", "protcol", &["line 2", "`protcol`", "`protocol`"][..]),
        ("\"rep3\"", "\"rep2\"", &["line 2", "rep2", "`rep3`"]),
        ("protocol = \"rep3\"", "", &["`protocol` is missing", "protocol = \"rep3\""]),
        ("circuit =", "circiut =", &["line 3", "`circiut`", "`circuit`"]),
        ("\"less:32\"", "32", &["line 3", "integer", "text in quotes"]),
        ("\"lsb\"", "\"lbs\"", &["line 4", "lbs", "`lsb`"]),
        ("instances", "instance", &["line 5", "`instance`", "`instances`"]),
        ("= 1000", "= 0", &["line 5", "`instances`", "from 1 to"]),
        ("= 1000", "= -4", &["line 5", "`instances`"]),
        ("= 1000", "= 1e3", &["line 5", "float", "whole number"]),
        ("[[inputs]]\nname", "[[input]]\nname", &["line 7", "`input`", "`inputs`"]),
        ("from = \"client:alice\"", "form = \"client:alice\"", &["line 9", "`form`", "`from`"]),
        ("client:alice", "alice", &["line 9", "alice", "client:alice"]),
        ("sample", "smaple", &["line 10", "`smaple`", "`sample`"]),
        ("party1\"\n", "party3\"\n", &["line 13", "party3: protocol rep3"]),
        ("name = \"less\"", "name = \"a b\"", &["line 16", "a b"]),
        ("\"party0\"]", "\"party1\"]", &["line 17", "party 1 twice"]),
        ("threads", "thread", &["line 21", "`thread`", "`threads`"]),
        ("[parameters]", "[parameter]", &["line 19", "`parameter`", "`parameters`"]),
        ("threads = 1", "threads = 1000", &["line 21", "1 to 128"]),
        ("[[outputs]]", "[outputs]", &["line 15", "table", "array"]),
        ("instances = 1000", "instances = = 2", &["line 5"]),
        ("instances = 1000", "circuit-file = \"x\"", &["line 3", "beside"]),
        ("instances = 1000", "colour = \"red\"", &["line 5", "`colour`", "`protocol`", "`parameters`"]),
    ] {
        let error = job(|t| t.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to:?} was accepted"));
        for word in words.iter().chain(&["dir/job.toml", "; "]) {
            assert!(error.contains(word), "{to:?}: no {word:?} in: {error}");
        }
    }
}

#[test]
fn a_whole_party_file_is_read() {
    let file = party(|t| t).unwrap_or_else(|e| panic!("{e}"));
    let member = &file.member;
    assert_eq!((&member.me, file.listen.as_str()), (&Member::Party(0), "127.0.0.1:7000"));
    assert_eq!(member.key, Path::new("dir/keys/party0.pem"));
    assert_eq!((member.connect_timeout, member.stall), (Duration::from_millis(500), Duration::from_secs(30)));
    assert_eq!(member.peers.len(), 3);
    assert_eq!(member.peers[1].address.as_deref(), Some("[::1]:7002"));
    assert_eq!((&member.peers[2].member, &member.peers[2].address), (&Member::Client("alice".into()), &None));
    assert!(matches!(&member.inputs["a"], InputPlace::File(p) if p == Path::new("dir/a.bin")));
    assert!(matches!(&member.inputs["b"], InputPlace::Hex(hex) if **hex == "ff"));
    assert!(matches!(&member.inputs["c"], InputPlace::HexFile(p) if p == Path::new("/c.hex")));
    assert_eq!(member.outputs["sum"], OutputPlace::File("dir/sum.bin".into()));
}

#[test]
fn mistakes_in_a_party_file_name_their_line() {
    for (from, to, words) in [
        ("index = 0", "index = 8", &["line 2", "from 0 to 7"][..]),
        ("index = 0", "idnex = 0", &["line 2", "`idnex`", "`index`"]),
        ("listen", "lisen", &["line 3", "`lisen`", "`listen`"]),
        ("127.0.0.1:7000", "127.0.0.1", &["line 3", "host:port"]),
        ("key =", "keys =", &["line 4", "`keys`", "`key`"]),
        ("\"500ms\"", "\"soon\"", &["line 5", "connect-timeout"]),
        ("stall = 30", "transport = \"pigeon\"", &["line 6", "pigeon", "tcp-tls"]),
        ("stall = 30", "transport = \"unix\"", &["line 10", "address for TCP", "unix:/PATH", "tcp-tls"]),
        ("127.0.0.1:7000", "unix:/tmp/party0", &["line 3", "socket's file", "tcp-tls", "host:port"]),
        ("index = 1", "index = 0", &["line 9", "itself"]),
        ("index = 2", "index = 1", &["line 14", "twice"]),
        ("address = \"example.org:7001\"", "", &["line 8", "`address` is missing"]),
        ("address = \"e", "adress = \"e", &["line 10", "`adress`", "`address`"]),
        (PIN, "sha256:ab", &["line 11", "pin"]),
        ("pin =", "pni =", &["line 11", "`pni`", "`pin`"]),
        ("client = \"alice\"", "client = \"a b\"", &["line 19", "a b"]),
        ("client = \"alice\"", "client = \"alice\"\naddress = \"x:1\"", &["line 20", "dial"]),
        ("client = \"alice\"", "clinet = \"alice\"", &["line 19", "`clinet`", "`client`"]),
        ("file = \"a.bin\"", "fil = \"a.bin\"", &["line 23", "`fil`", "`file`"]),
        ("file = \"a.bin\"", "file = \"\"", &["line 23", "empty"]),
        ("hex = \"ff\"", "hex = \"ff\", file = \"b\"", &["line 24", "several"]),
        ("file = \"sum.bin\"", "hex = \"00\"", &["line 28", "`hex`"]),
    ] {
        let error = party(|t| t.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to:?} was accepted"));
        for word in words.iter().chain(&["dir/party.toml", "; "]) {
            assert!(error.contains(word), "{to:?}: no {word:?} in: {error}");
        }
    }
}

#[test]
fn a_client_file_is_read() {
    let text = format!(
        "name = \"alice\"\nkey = \"alice.pem\"\ntransport = \"tcp-tls\"\n\
         [[peers]]\nindex = 0\naddress = \"h:1\"\npin = \"{PIN}\"\n[inputs]\na = {{ hex = \"01\" }}\n"
    );
    let read = |text: &str| ClientFile::parse(text, Path::new("alice.toml")).map_err(|e| e.to_string());
    let file = read(&text).unwrap_or_else(|e| panic!("{e}")).0;
    assert_eq!((&file.me, file.peers.len()), (&Member::Client("alice".into()), 1));
    let error = read(&text.replace("name", "index")).err().unwrap_or_default();
    assert!(error.contains("this is a party's file"), "{error}");
    let error = read(&text.replace("name =", "nam =")).err().unwrap_or_default();
    assert!(error.contains("`nam`") && error.contains("`name`"), "{error}");
    let error = read(&text.replace("key =", "listen = \"h:1\"\nkey =")).err().unwrap_or_default();
    assert!(error.contains("line 2") && error.contains("`listen`"), "{error}");
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(\\[{0,2}(inputs|peers|parameters)\\]{0,2}|[a-z-]{1,9} ?= ?|\"[a-z0-9:]{0,6}\"|[{}=,\n0-9\\[\\]]){0,24}") {
        let _ = CircuitJob::parse(&text, Path::new("j"));
        let _ = PartyFile::parse(&text, Path::new("p"));
        let _ = ClientFile::parse(&text, Path::new("c"));
    }
}

/// The options of a table's file are keys beside it, and mistakes in them are reported with their
/// line.
#[test]
fn a_file_with_a_table_has_options_beside_it() {
    let with =
        |place: &str| party(|text| text.replace("a = { file = \"a.bin\" }", &format!("a = {{ {place} }}")));
    let Ok(file) =
        with("file = [\"a.csv\", \"b.csv.gz\"], header = false, null = [\"NA\", \"-\"], decimal = \",\"")
    else {
        panic!("it is read");
    };
    let InputPlace::Table(places, dialect) = &file.member.inputs["a"] else { panic!("a table") };
    assert!(matches!(&places[..], [InputPlace::File(a), InputPlace::File(b)]
        if *a == Path::new("dir/a.csv") && *b == Path::new("dir/b.csv.gz")));
    let mut wanted = Dialect::default();
    for (name, value) in [("header", "no"), ("null", "NA,-"), ("decimal", ",")] {
        wanted.set(name, value).unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(*dialect, wanted);
    for (place, words) in [
        ("file = \"a.csv\", decimal = \"x\"", "`decimal` cannot be used: decimal is a point or a comma"),
        ("file = \"a.csv\", header = \"maybe\"", "header is yes, no or auto"),
        ("file = \"a.csv\", trim = 3", "`trim` is integer, where a list is wanted"),
        ("hex = \"ff\", null = \"NA\"", "options of a table's file are set, and no such file is named"),
        ("file = \"a.csv\", seperator = \";\"", "`separator`"),
    ] {
        let error = with(place).err().unwrap_or_else(|| panic!("{place} was taken"));
        assert!(error.contains("dir/party.toml, line") && error.contains(words), "{error}");
    }
}
