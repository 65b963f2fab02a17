use super::*;
use crate::{PolicyDraft, PolicyFile, draft, explain, read_moment};
use hushwire_seal::SignKey;
use proptest::prelude::*;
use std::path::Path;

fn key() -> KeyId {
    KeyId([7; 16])
}

fn owner() -> VerifyKey {
    SignKey::from_seed(&[3; 32]).public()
}

/// The text of a file with every rule.
fn whole() -> String {
    format!(
        r#"
[[allow]]
digest = "{}"
name = "mean stay by ward"
tenant = "heart-study"
data = {{ stays = "line:{}", wards = "owner:{}", codes = "id:{}" }}
recipients = ["{}"]
clients = {{ alice = "sha256:{}" }}
min-rows = 500
min-group = 10
parameters = {{ since = "2020-01-01..2026-12-31", ward = ["A", "B"], share = "-0.5..1.25", level = [1, 2] }}
runs = 3
window = "30d"
not-before = 2026-12-01
expires = 2027-12-31T00:00:00Z
epsilon = "unset"
max = {{ memory = "4GiB", seconds = 3600, parallel = 2 }}
"#,
        BlakeName::of(b"terms"),
        BlakeName::of(b"line").digits(),
        owner(),
        BlakeName::of(b"codes").digits(),
        key(),
        "ab".repeat(32),
    )
}

fn parse(text: &str) -> Result<PolicyFile, Fault> {
    PolicyFile::parse(Path::new("policy.toml"), text)
}

fn rules(text: &str) -> Vec<AllowRule> {
    parse(text).unwrap_or_else(|e| panic!("{e}")).allow
}

/// The parts of a request, which a test changes.
struct Asked {
    digest: BlakeName,
    tenant: String,
    data: BTreeMap<String, RunData>,
    recipients: Vec<KeyId>,
    clients: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
    min_group: Option<u64>,
    memory: Option<u64>,
    running: u64,
    history: Vec<PastRun>,
    now: u64,
}

const DAY: u64 = 86_400;

fn asked() -> Asked {
    let stays = RunData {
        id: BlakeName::of(b"stays 2"),
        line: BlakeName::of(b"line"),
        owner: owner(),
        rows: 500,
        expires: None,
    };
    let codes = RunData { id: BlakeName::of(b"codes"), ..stays.clone() };
    let wards = RunData { line: BlakeName::of(b"wards"), ..stays.clone() };
    let parameters = [("since", "2020-01-01"), ("ward", "B"), ("share", "-0.50"), ("level", "2")];
    Asked {
        digest: BlakeName::of(b"terms"),
        tenant: "heart-study".to_owned(),
        data: [("stays", stays), ("wards", wards), ("codes", codes)].map(|(k, v)| (k.to_owned(), v)).into(),
        recipients: vec![key()],
        clients: BTreeMap::from([("alice".to_owned(), format!("sha256:{}", "ab".repeat(32)))]),
        parameters: parameters.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        min_group: Some(10),
        memory: Some(4 << 30),
        running: 1,
        history: vec![],
        now: read_moment("2026-12-02").expect("a date"),
    }
}

fn ask(policies: &[AllowRule], asked: &Asked) -> Verdict {
    let request = RunRequest {
        digest: asked.digest,
        tenant: &asked.tenant,
        data: &asked.data,
        recipients: &asked.recipients,
        clients: &asked.clients,
        parameters: &asked.parameters,
        min_group: asked.min_group,
        memory: asked.memory,
        running: asked.running,
    };
    verdict(policies, &request, &asked.history[..], asked.now)
}

/// The rules that deny a request.
fn denying(policies: &[AllowRule], asked: &Asked) -> Vec<&'static str> {
    match ask(policies, asked) {
        Verdict::Allowed { .. } => vec![],
        Verdict::Denied(denials) => denials.iter().map(|denial| denial.rule).collect(),
    }
}

#[test]
fn a_run_that_every_rule_allows_is_allowed_within_the_limits() {
    let limits = PolicyLimits { memory: Some(4 << 30), seconds: Some(3600), parallel: Some(2) };
    assert_eq!(ask(&rules(&whole()), &asked()), Verdict::Allowed { by: 0, limits });
    assert!(ask(&rules(&whole()), &asked()).fault().is_none());
}

#[test]
fn each_rule_denies_on_its_own() {
    type Change = fn(&mut Asked);
    let changes: [(&str, Change); 33] = [
        ("digest", |a| a.digest = BlakeName::of(b"other terms")),
        ("tenant", |a| a.tenant = "heart".to_owned()),
        ("data", |a| a.data.get_mut("stays").expect("it").line = BlakeName::of(b"other")),
        ("data", |a| a.data.get_mut("wards").expect("it").owner = SignKey::from_seed(&[4; 32]).public()),
        ("data", |a| a.data.get_mut("codes").expect("it").id = BlakeName::of(b"other")),
        ("data", |a| _ = a.data.remove("wards")),
        ("data", |a| {
            let one = a.data["codes"].clone();
            a.data.insert("more".to_owned(), one);
        }),
        ("data", |a| a.data.get_mut("stays").expect("it").expires = Some(a.now)),
        ("recipients", |a| a.recipients.push(KeyId([8; 16]))),
        ("recipients", |a| a.recipients.clear()),
        ("clients", |a| a.clients.clear()),
        ("clients", |a| _ = a.clients.insert("bob".to_owned(), format!("sha256:{}", "ab".repeat(32)))),
        ("clients", |a| _ = a.clients.insert("alice".to_owned(), format!("sha256:{}", "cd".repeat(32)))),
        ("min-rows", |a| a.data.get_mut("wards").expect("it").rows = 499),
        ("min-group", |a| a.min_group = Some(9)),
        ("min-group", |a| a.min_group = None),
        ("parameters", |a| _ = a.parameters.insert("since".to_owned(), "2019-12-31".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("since".to_owned(), "2027-01-01".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("since".to_owned(), "2020-02-30".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("ward".to_owned(), "C".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("share".to_owned(), "1.2500001".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("share".to_owned(), "x".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("level".to_owned(), "3".to_owned())),
        ("parameters", |a| _ = a.parameters.insert("more".to_owned(), "3".to_owned())),
        ("parameters", |a| _ = a.parameters.remove("ward")),
        ("runs", |a| a.history = vec![PastRun { at: a.now }; 3]),
        ("runs", |a| a.history = vec![PastRun { at: a.now + 5 * DAY }; 3]),
        ("runs", |a| a.history = vec![PastRun { at: a.now + 1 - 30 * DAY }; 3]),
        ("not-before", |a| a.now = read_moment("2026-11-30T23:59:59Z").expect("a time")),
        ("expires", |a| a.now = read_moment("2027-12-31").expect("a time")),
        ("expires", |a| a.now = read_moment("2030-01-01").expect("a time")),
        ("max.memory", |a| a.memory = Some((4 << 30) + 1)),
        ("max.parallel", |a| a.running = 2),
    ];
    let policies = rules(&whole());
    for (at, (rule, change)) in changes.into_iter().enumerate() {
        let mut asked = asked();
        change(&mut asked);
        assert_eq!(denying(&policies, &asked), [rule], "change {at}");
        let fault = ask(&policies, &asked).fault().unwrap_or_else(|| panic!("change {at}"));
        assert_eq!(fault.code(), code::POLICY_DENIES);
        assert!(fault.cause().contains(rule), "{fault}");
    }
}

#[test]
fn what_is_at_the_edge_of_a_rule_is_allowed() {
    type Change = fn(&mut Asked);
    let changes: [Change; 8] = [
        |a| a.now = read_moment("2026-12-01").expect("a time"),
        |a| a.now = read_moment("2027-12-30T23:59:59Z").expect("a time"),
        |a| a.history = vec![PastRun { at: a.now }; 2],
        |a| a.history = vec![PastRun { at: a.now - 30 * DAY }; 9],
        |a| _ = a.parameters.insert("since".to_owned(), "2026-12-31".to_owned()),
        |a| _ = a.parameters.insert("share".to_owned(), "1.25".to_owned()),
        |a| a.memory = None,
        |a| a.min_group = Some(11),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut asked = asked();
        change(&mut asked);
        assert_eq!(denying(&rules(&whole()), &asked), [""; 0], "change {at}");
    }
}

#[test]
fn runs_without_a_window_count_in_all() {
    let text = whole().replace("window = \"30d\"\n", "");
    let mut asked = asked();
    asked.history = vec![PastRun { at: 0 }; 3];
    assert_eq!(denying(&rules(&text), &asked), ["runs"]);
    asked.history.pop();
    assert_eq!(denying(&rules(&text), &asked), [""; 0]);
}

#[test]
fn the_first_block_that_allows_counts_and_the_nearest_explains() {
    let far = whole().replace("heart-study", "lung-study").replace("min-rows = 500", "min-rows = 501");
    let near = whole().replace("min-rows = 500", "min-rows = 501");
    let policies = rules(&[far.as_str(), &near].concat());
    assert_eq!(denying(&policies, &asked()), ["min-rows"; 3], "three tables have too few rows");
    let policies = rules(&[far, near, whole()].concat());
    assert!(matches!(ask(&policies, &asked()), Verdict::Allowed { by: 2, .. }));
    assert_eq!(denying(&[], &asked()), ["digest"], "what nothing allows is denied");
}

#[test]
fn denials_say_whether_waiting_helps() {
    let policies = rules(&whole());
    let remedy = |change: fn(&mut Asked)| {
        let mut asked = asked();
        change(&mut asked);
        ask(&policies, &asked).fault().expect("it is denied").remedy()
    };
    assert_eq!(remedy(|a| a.running = 2), "ask again later");
    assert!(remedy(|a| a.tenant.push('x')).starts_with("change the run"));
}

#[test]
fn a_file_is_read_strictly() {
    for (from, to, cause, remedy) in [
        ("min-rows", "min-row", "no key `min-row`", "`min-rows`"),
        ("seconds", "second", "no key `second`", "`seconds`"),
        ("[[allow]]", "[[alow]]", "no key `alow`", "`allow`"),
        ("digest = \"blake3:", "digest = \"blake3:0", "`digest`", "hushwire job digest"),
        ("line:", "lines:", "`stays`", "hushwire data describe"),
        ("key:", "key:x", "`recipients`", "hushwire service key show"),
        ("2026-12-31\"", "2019-12-31\"", "`since`", "range"),
        ("2020-01-01..", "2020-01-01-", "`since`", "range"),
        ("-0.5..", "a..", "`share`", "range"),
        ("30d", "30 weeks", "`window`", "30d"),
        ("not-before = 2026-12-01", "not-before = 2026", "`not-before`", "2026-12-01"),
        ("4GiB", "4 bananas", "`memory`", "4GiB"),
        ("parallel = 2", "parallel = 0", "`parallel`", "1"),
        ("runs = 3\n", "", "`window`", "`runs`"),
        ("tenant = \"heart-study\"\n", "", "`tenant`", "heart-study"),
        ("name = ", "name: ", "", "docs/jobs.md"),
    ] {
        let text = whole();
        assert!(text.contains(from), "{from}");
        let fault = parse(&text.replacen(from, to, 1)).expect_err(from);
        assert_eq!(fault.code(), code::POLICY_FILE, "{from}: {fault}");
        assert!(fault.cause().contains(cause), "{from}: {fault}");
        assert!(fault.remedy().contains(remedy), "{from}: {fault}");
        assert!(fault.to_string().contains("policy.toml, line "), "{fault}");
    }
    let none = whole().replacen("sha256:a", "sha256:x", 1);
    assert!(parse(&none).expect_err("it is no pin").remedy().contains("hushwire keys pin"));
}

#[test]
fn a_signature_is_of_a_text_and_a_key() {
    let file = parse(&whole()).unwrap_or_else(|e| panic!("{e}"));
    let operator = SignKey::generate();
    let signature = file.sign(&operator);
    assert!(file.verify(&operator.public(), &signature).is_ok());
    assert!(file.verify(&SignKey::generate().public(), &signature).is_err());
    let edited = parse(&whole().replace("runs = 3", "runs = 30")).unwrap_or_else(|e| panic!("{e}"));
    assert!(edited.verify(&operator.public(), &signature).is_err());
    assert_ne!(file.id(), edited.id());
}

#[test]
fn words_name_every_rule() {
    let words = explain(&rules(&whole())[0], 1);
    for part in [
        "mean stay by ward",
        "heart-study",
        "line:",
        "owner:",
        "id:",
        "key:",
        "alice",
        "500 rows",
        "fewer than 10",
        "2020-01-01",
        "\"A\", \"B\"",
        "-0.5",
        "3 times within 30d",
        "ran 1 time so far",
        "2026-12-01T00:00:00Z",
        "2027-12-31",
        "4.0 GiB",
        "3600 s",
        "At most 2",
        "not enforced",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
}

/// A computation whose results go only to parties and clients has no key in its rule. Such a rule
/// allows no run that seals results.
#[test]
fn a_rule_without_keys_is_for_runs_that_seal_nothing() {
    let rules = rules(&whole().replace(&format!("[\"{}\"]", key()), "[]"));
    let mut asked = asked();
    assert_eq!(denying(&rules, &asked), ["recipients"]);
    asked.recipients.clear();
    assert_eq!(denying(&rules, &asked), [""; 0]);
    assert!(explain(&rules[0], 0).contains("No result is sealed"));
}

#[test]
fn a_draft_is_a_file_that_allows_its_proposal() {
    let mut asked = asked();
    let parameters = [
        ("since".to_owned(), Ok("2020-01-01..2026-12-31".to_owned())),
        ("ward".to_owned(), Err(vec!["A".to_owned(), "B".to_owned()])),
        ("share".to_owned(), Ok("-1..1".to_owned())),
        ("level".to_owned(), Err(vec!["2".to_owned()])),
    ];
    let data = asked.data.iter().map(|(table, data)| (table.clone(), format!("line:{}", data.line.digits())));
    let of = PolicyDraft {
        digest: asked.digest,
        name: "a \"name\" \\ \u{1}",
        tenant: "heart-study",
        data: &data.collect(),
        recipients: &[key()],
        clients: &asked.clients.clone(),
        parameters: &parameters.into(),
        min_group: Some(10),
        runs: 1,
        expires: Some("2027-01-01"),
    };
    let policies = rules(&draft(&of));
    assert_eq!(policies[0].name, of.name);
    assert_eq!(denying(&policies, &asked), [""; 0]);
    asked.history.push(PastRun { at: 0 });
    assert_eq!(denying(&policies, &asked), ["runs"]);
}

proptest! {
    #[test]
    fn no_text_is_a_panic(text in "\\PC{0,80}", at in 0usize..600) {
        let _ = parse(&text);
        let mut whole = whole();
        let at = (0..=at.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        whole.insert_str(at, &text);
        let _ = parse(&whole);
    }

    #[test]
    fn numbers_are_ordered_as_numbers(a in -10_000i64..10_000, b in -10_000i64..10_000, value in -10_000i64..10_000) {
        let text = |n: i64| format!("{}{}.{:02}", if n < 0 { "-" } else { "" }, n.abs() / 100, n.abs() % 100);
        let rule = crate::ParameterRule::Numbers(text(a.min(b)), text(a.max(b)));
        prop_assert_eq!(rule.allows(&text(value)), (a.min(b)..=a.max(b)).contains(&value));
    }
}
