//! Plans: every field that members must agree on shows in the digests, and is named where it differs.

use hushwire_circuit::named;
use hushwire_job::{BitOrderChoice, FIELDS, Job, Member, Plan};
use std::path::Path;

const JOB: &str = r#"
protocol = "rep3"
circuit = "less:32"
instances = 100000
[[inputs]]
name = "a"
from = "client:alice"
[[inputs]]
name = "b"
from = "party1"
[[outputs]]
to = ["party0", "client:bob"]
[parameters]
batch = 1024
threads = 2
lanes = 3
"#;

fn plan_of(text: &str) -> Result<Plan, String> {
    let job = Job::parse(text, Path::new("job.toml")).map_err(|e| e.to_string())?;
    let hushwire_job::CircuitSource::Builtin(name) = &job.circuit else { return Err("a built-in".into()) };
    let program = named::program(name).map_err(|e| e.to_string())?;
    Plan::new(&job, &program, BitOrderChoice::Lsb).map_err(|e| e.to_string())
}

fn plan(text: &str) -> Plan {
    plan_of(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_difference_in_any_field_is_named() {
    let ours = plan(JOB);
    assert!(ours.differences(&ours.tags()).is_empty());
    let mut named = vec![];
    for (from, to, field) in [
        ("less:32", "less:31", "circuit"),
        ("less:32", "less-signed:32", "circuit"),
        ("= 100000", "= 100001", "instances"),
        ("name = \"a\"", "name = \"x\"", "inputs"),
        ("client:alice", "client:carol", "inputs"),
        ("\"party1\"", "\"party2\"", "inputs"),
        ("client:bob", "client:rob", "outputs"),
        ("\"party0\", ", "", "outputs"),
        ("batch = 1024", "batch = 1000", "batch"),
        ("threads = 2", "threads = 1", "threads and lanes"),
        ("lanes = 3", "lanes = 2", "threads and lanes"),
    ] {
        let theirs = plan(&JOB.replace(from, to));
        assert_ne!(ours.digest(), theirs.digest(), "{to}");
        let differences = ours.differences(&theirs.tags());
        assert!(differences.iter().any(|d| d.starts_with(field)), "{to}: {differences:?}");
        // The width of a circuit is also in its inputs; nothing else names two fields.
        assert!(differences.len() == 1 || to == "less:31", "{to}: {differences:?}");
        named.push(field);
    }
    let mut msb = ours.clone();
    msb.bit_order = BitOrderChoice::Msb;
    assert!(msb.differences(&ours.tags())[0].starts_with("bit order (ours: msb)"));
    let mut other = ours.clone();
    other.protocol = "other".into();
    assert!(other.differences(&ours.tags())[0].starts_with("protocol (ours: other"));
    named.extend(["bit order", "protocol"]);
    assert!(FIELDS.iter().all(|field| named.contains(field)), "a field is not covered here");
}

#[test]
fn what_is_not_agreed_does_not_show() {
    let ours = plan(JOB);
    for (from, to) in [
        ("name = \"a\"", "name = \"a\"\nsample = \"12\""),
        ("[\"party0\", \"client:bob\"]", "[\"client:bob\", \"party0\"]"),
    ] {
        assert_eq!(ours.digest(), plan(&JOB.replace(from, to)).digest(), "{to}");
    }
}

#[test]
fn the_digest_does_not_move() {
    // AGREEMENT: when this changes, PLAN_VERSION must change with it.
    let text = plan(JOB).fields().join("\n");
    assert!(text.starts_with("rep3, plan version 1\n"), "{text}");
    assert!(text.ends_with(
        "lsb\n100000\na: 32 bits from client:alice, b: 32 bits from party1\n0: 1 bits to party0 and client:bob\n\
         1024\n2 and 3"
    ));
}

#[test]
fn a_job_must_fit_its_circuit() {
    let two = "[[inputs]]\nname = \"b\"\nfrom = \"party1\"\n";
    let error = plan_of(&JOB.replace(two, "")).err().unwrap_or_default();
    assert!(error.contains("1 inputs") && error.contains("32, 32 bits"), "{error}");
    let error =
        plan_of(&JOB.replace("[[outputs]]", "[[outputs]]\nto = []\n[[outputs]]")).err().unwrap_or_default();
    assert!(error.contains("2 outputs"), "{error}");
    let error =
        plan_of(&JOB.replace("100000", "1000000000000").replace("1024", "8")).err().unwrap_or_default();
    assert!(error.contains("batches of 8") && error.contains("`batch`"), "{error}");
}

#[test]
fn batches_cover_all_instances() {
    for instances in [1, 7, 1024, 1025, 4096, 100_000] {
        let plan = plan(&JOB.replace("100000", &instances.to_string()));
        let total: usize = (0..plan.batches()).map(|b| plan.instances_of(b)).sum();
        assert_eq!(total as u64, instances);
        assert!(u32::from(plan.threads) <= plan.batches());
    }
    let single = plan(&JOB.replace("100000", "1"));
    assert_eq!((single.batch, single.threads, single.lanes), (1, 1, 1));
    assert_eq!(single.members().len(), 5);
    assert_eq!(single.inputs_of(&Member::Party(1)).collect::<Vec<_>>(), [1]);
    assert_eq!(single.outputs_of(&Member::Client("bob".into())).collect::<Vec<_>>(), [0]);
}
