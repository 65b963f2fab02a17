//! Every field of a plan on which members must agree is in the digests, and is named if it
//! differs.

use hushwire_circuit::named;
use hushwire_fault::code;
use hushwire_kinds::{BitOrderChoice, CircuitJob, CircuitPlan, Parameters};
use hushwire_session::{Member, Protocol};
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

fn plan_of(text: &str) -> Result<CircuitPlan, String> {
    let job = CircuitJob::parse(text, Path::new("job.toml")).map_err(|e| e.to_string())?;
    let hushwire_kinds::CircuitSource::Builtin(name) = &job.circuit else { return Err("a built-in".into()) };
    let program = named::program(name).map_err(|e| e.to_string())?;
    CircuitPlan::new(&job, &program, BitOrderChoice::Lsb).map_err(|e| e.to_string())
}

fn plan(text: &str) -> CircuitPlan {
    plan_of(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Every field of the agreement.
fn texts(plan: &CircuitPlan) -> Vec<String> {
    plan.agreement().fields.into_iter().map(|field| field.text).collect()
}

#[test]
fn a_difference_in_any_field_is_named() {
    let ours = plan(JOB);
    assert!(ours.agreement().differences(&ours.agreement().tags()).is_empty());
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
        assert_ne!(ours.agreement().digest(), theirs.agreement().digest(), "{to}");
        let differences = ours.agreement().differences(&theirs.agreement().tags());
        assert!(differences.iter().any(|d| d.starts_with(field)), "{to}: {differences:?}");
        // The width of a circuit is also in its inputs. Every other change shows in one field.
        assert!(differences.len() == 1 || to == "less:31", "{to}: {differences:?}");
        named.push(field);
    }
    let mut msb = ours.clone();
    msb.bit_order = BitOrderChoice::Msb;
    assert!(msb.agreement().differences(&ours.agreement().tags())[0].starts_with("bit order (ours: msb)"));
    let mut other = ours.clone();
    other.protocol = Protocol::Gmw;
    assert!(other.agreement().differences(&ours.agreement().tags())[0].starts_with("protocol (ours: gmw"));
    named.extend(["bit order", "protocol"]);
    let fields = ours.agreement().fields;
    assert!(fields.iter().all(|field| named.contains(&field.name)), "a field is not covered here");
}

#[test]
fn what_is_not_agreed_does_not_show() {
    let ours = plan(JOB);
    for (from, to) in [
        ("name = \"a\"", "name = \"a\"\nsample = \"12\""),
        ("[\"party0\", \"client:bob\"]", "[\"client:bob\", \"party0\"]"),
    ] {
        assert_eq!(ours.agreement().digest(), plan(&JOB.replace(from, to)).agreement().digest(), "{to}");
    }
}

#[test]
fn the_digest_does_not_move() {
    // AGREEMENT: when this changes, PLAN_VERSION must change with it.
    let text = texts(&plan(JOB)).join("\n");
    assert!(text.starts_with("rep3, plan version 2\n"), "{text}");
    assert!(text.ends_with(
        "lsb\n100000\na: 32 bits from client:alice, b: 32 bits from party1\n0: 1 bits to party0 and client:bob\n\
         1024\n2 and 3"
    ));
}

const TWO: &str = r#"
protocol = "yao"
circuit = "less:32"
instances = 100000
[[inputs]]
from = "party0"
[[inputs]]
from = "party1"
[[outputs]]
to = ["party0", "party1"]
"#;

#[test]
fn what_two_parties_compute_with_is_agreed() {
    let ours = plan(TWO);
    assert!(texts(&ours)[0].starts_with("yao, scheme mi, ot softspoken4, plan version"));
    let mut digests = vec![ours.agreement().digest()];
    for (to, shows) in [
        ("\"yao\"\nscheme = \"three-halves\"", "yao, scheme three-halves revision 2, ot softspoken4"),
        ("\"yao\"\not = \"ferret-b11\"", "yao, scheme mi, ot ferret-b11"),
        ("\"gmw\"", "gmw, ot softspoken4"),
        ("\"gmw\"\not = \"iknp\"", "gmw, ot iknp"),
    ] {
        // The batch size is not the difference.
        let theirs = plan(&(TWO.replace("\"yao\"", to) + "[parameters]\nbatch = 4096\n"));
        let differences = theirs.agreement().differences(&ours.agreement().tags());
        assert!(differences.len() == 1 && differences[0].starts_with("protocol (ours: "), "{differences:?}");
        assert!(differences[0].contains(&format!("{shows}, plan")), "{differences:?}");
        digests.push(theirs.agreement().digest());
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 5);
    // A default may be written out.
    let written = TWO.replace("\"yao\"", "\"yao\"\nscheme = \"mi\"\not = \"softspoken4\"");
    assert_eq!(plan(&written).agreement().digest(), ours.agreement().digest());
}

#[test]
fn the_first_three_halves_are_another_plan() {
    let ours = plan(&TWO.replace("\"yao\"", "\"yao\"\nscheme = \"three-halves\""));
    assert_eq!(ours.computing(), "yao, scheme three-halves, ot softspoken4", "people need not know");
    let mut fields = texts(&ours);
    assert_eq!(fields[0], "yao, scheme three-halves revision 2, ot softspoken4, plan version 2");
    // The tags that a member of an earlier release sends in its hello.
    fields[0] = "yao, scheme three-halves, ot softspoken4, plan version 2".to_owned();
    let mut theirs = ours.agreement().tags();
    let mut hash = blake3::Hasher::new_derive_key("hushwire plan field v1");
    hash.update(format!("protocol: {}", fields[0]).as_bytes());
    theirs[..4].copy_from_slice(&hash.finalize().as_bytes()[..4]);
    let named = "protocol (ours: yao, scheme three-halves revision 2, ot softspoken4, plan version 2)";
    assert_eq!(ours.agreement().differences(&theirs), [named]);
}

#[test]
fn two_parties_are_two() {
    let plan = plan(TWO);
    assert_eq!((plan.parties(), plan.threads, plan.lanes), (2, 2, 1));
    assert_eq!(plan.members(), [Member::Party(0), Member::Party(1)]);
    let program = named::program("less:32").unwrap_or_else(|e| panic!("{e}"));
    let two = plan.seats().of_two(&program);
    assert_eq!((two.owners, two.learns), (vec![0, 1], vec![[true, true]]));
}

/// Threads beyond the number of batches share the work on one, among n parties whose job asks for
/// them.
#[test]
fn more_threads_than_batches_stand_beside_them() {
    let of = |protocol: &str, instances: &str, asked: &str| {
        let text = TWO.replace("\"yao\"", protocol).replace("100000", instances);
        let plan = plan(&format!("{text}[parameters]\nbatch = 8\n{asked}"));
        (plan.threads, plan.beside)
    };
    let many = "\"authgarble\"\nparties = 2";
    assert_eq!(of(many, "8", "threads = 5"), (1, 5));
    assert_eq!(of(many, "16", "threads = 5"), (2, 2));
    assert_eq!(of(many, "80", "threads = 5"), (5, 1));
    assert_eq!(of(many, "8", ""), (1, 1));
    assert_eq!(of("\"yao\"", "8", "threads = 5"), (1, 1));
}

#[test]
fn what_a_protocol_does_not_have_is_refused() {
    for (from, to, words) in [
        (
            "from = \"party1\"",
            "from = \"client:alice\"",
            &["client:alice: protocol yao has no clients", "party bring"][..],
        ),
        ("\"party1\"]", "\"client:bob\"]", &["client:bob: protocol yao has no clients", "rep3"]),
        ("from = \"party1\"", "from = \"party2\"", &["line 8", "party2: protocol yao has parties 0 and 1"]),
        ("\"party1\"]", "\"party2\"]", &["line 10", "party2: protocol yao has parties 0 and 1"]),
        (
            "\"yao\"",
            "\"gmw\"\nscheme = \"mi\"",
            &["protocol gmw has no garbling scheme", "leave out `scheme`"],
        ),
        ("\"yao\"", "\"rep3\"\not = \"iknp\"", &["protocol rep3 has no oblivious transfer", "`ot`"]),
        ("\"yao\"", "\"yao\"\nscheme = \"privacy-free\"", &["line 3", "hides nothing", "three-halves"]),
        ("\"yao\"", "\"yao\"\nscheme = \"mu\"", &["line 3", "\"mu\"", "`mi`"]),
        ("\"yao\"", "\"gmw\"\not = \"kos\"", &["line 3", "semi-honest", "kos"]),
    ] {
        let error = plan_of(&TWO.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to} was accepted"));
        words.iter().for_each(|word| assert!(error.contains(word), "{to}: no {word:?} in: {error}"));
    }
    let error = plan_of(&(TWO.to_owned() + "[parameters]\nlanes = 2\n")).err().unwrap_or_default();
    assert!(error.contains("one lane") && error.contains("`threads`"), "{error}");
    assert!(plan_of(&(TWO.to_owned() + "[parameters]\nlanes = 1\n")).is_ok());
    // The command line can override the protocol of a job.
    let job = CircuitJob::parse(&JOB.replace("client:alice", "party2"), Path::new("job.toml"));
    let job = CircuitJob { protocol: Protocol::Gmw, ..job.unwrap_or_else(|e| panic!("{e}")) };
    let program = named::program("less:32").unwrap_or_else(|e| panic!("{e}"));
    let error = CircuitPlan::new(&job, &program, BitOrderChoice::Lsb).err().map(|e| e.to_string());
    assert!(
        error.as_ref().is_some_and(|e| e.contains("party2: protocol gmw has parties 0 and 1")),
        "{error:?}"
    );
}

/// A program sets the numbers of a job without a file.
#[test]
fn numbers_out_of_range_are_refused() {
    let job = CircuitJob::parse(JOB, Path::new("job.toml")).unwrap_or_else(|e| panic!("{e}"));
    let program = named::program("less:32").unwrap_or_else(|e| panic!("{e}"));
    let cause = |job: &CircuitJob| {
        let error = CircuitPlan::new(job, &program, BitOrderChoice::Lsb).err();
        let error = error.unwrap_or_else(|| panic!("{job:?}"));
        (error.code(), error.cause())
    };
    for instances in [0, (1 << 40) + 1] {
        let (code, cause) = cause(&CircuitJob { instances, ..job.clone() });
        assert!(code == code::CIRCUIT && cause.contains("`instances`"), "{cause}");
    }
    let given = job.parameters;
    for (name, parameters) in [
        ("batch", Parameters { batch: Some(0), ..given }),
        ("threads", Parameters { threads: Some(0), ..given }),
        ("threads", Parameters { threads: Some(u16::MAX), ..given }),
        ("lanes", Parameters { lanes: Some(0), ..given }),
    ] {
        let (code, cause) = cause(&CircuitJob { parameters, ..job.clone() });
        assert!(code == code::CIRCUIT && cause.contains(&format!("`{name}`")), "{cause}");
    }
}

#[test]
fn batches_keep_to_the_memory() {
    let batch = |protocol: &str, circuit: &str, most: u64| {
        let text = TWO.replace("yao", protocol).replace("less:32", circuit);
        let plan = plan(&text);
        let program = named::program(circuit).unwrap_or_else(|e| panic!("{e}"));
        let bytes = program.registers() as u64 * 16 * u64::from(plan.batch);
        assert!(protocol != "yao" || bytes <= most, "{circuit}: {bytes} bytes");
        plan.batch
    };
    assert_eq!(batch("yao", "less:32", 32 << 20), 4096);
    assert_eq!(batch("gmw", "less:32", 32 << 20), 4096);
    // 4096 inputs of a label each: at least one instance, and at most 64 instances' labels at a
    // time.
    let wide = batch("yao", "add:8192", 32 << 20);
    assert!((1..4096).contains(&wide) && wide < batch("gmw", "add:8192", 0), "{wide}");
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
