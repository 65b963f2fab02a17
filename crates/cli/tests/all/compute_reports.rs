//! Compares prices of computations with the costs of runs, and checks the fields of reports.

use crate::{
    common::good,
    compute::{IN, bill},
    documented::check,
};

const JOBS: &str = include_str!("../../../../docs/jobs.md");

#[test]
fn members_hear_what_they_bring_and_what_it_costs() {
    let place = bill();
    let ran = good(&place, "compute explain bill.hwc --symbol n=50");
    assert!(ran.out.contains("shop brings price: i32[n] and learns total: i32"), "{}", ran.out);
    assert!(ran.out.contains("with n = 50:"), "{}", ran.out);
    for protocol in ["rep3", "yao", "gmw"] {
        assert!(ran.out.contains(&format!("  {protocol} takes t")), "{}", ran.out);
    }
    let figures = |n: u64| -> serde_json::Value {
        let ran = good(&place, &format!("compute cost bill.hwc --symbol n={n} --json -"));
        serde_json::from_str(&ran.out).unwrap_or_default()
    };
    let (few, many) = (figures(10), figures(1000));
    for i in 0..3 {
        assert_eq!(few["protocols"][i]["ands"].is_null(), i == 0, "{few}");
        for key in ["bytes_sent", "lan_seconds", "wan_seconds"] {
            let value = |of: &serde_json::Value| of["protocols"][i][key].as_f64().unwrap_or_default();
            assert!(value(&few) > 0.0 && value(&few) <= value(&many), "{i} {key}: {few} {many}");
        }
    }
    assert!(good(&place, "compute cost bill.hwc").out.starts_with("bill with n = 1000\n"));
    let ran = good(&place, "compute check bill.hwc");
    assert!(ran.out.starts_with("bill: 2 members, 2 inputs, "), "{}", ran.out);
}

#[test]
fn a_declared_cost_is_what_a_run_says() {
    let place = bill();
    for (i, protocol) in [(0, "rep3"), (1, "yao"), (2, "gmw")] {
        let ran = good(&place, "compute cost bill.hwc --symbol n=3 --json -");
        let declared: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let run = format!("local compute bill.hwc {IN} --transport unix --protocol {protocol} --json -");
        let found: serde_json::Value = serde_json::from_str(&good(&place, &run).out).unwrap_or_default();
        assert_eq!(declared["protocols"][i]["ands"], found["ands"], "{protocol}");
        let sent = |of: &serde_json::Value| of["bytes_sent"].as_u64().unwrap_or_default();
        let most = found["parties"].as_array().into_iter().flatten().map(sent).max().unwrap_or_default();
        // A run also has set-ups, the messages of clients, and a last message.
        let (declared, rounds) = (&declared["protocols"][i], found["rounds"].as_u64().unwrap_or_default());
        assert!(
            sent(declared) <= 2 * most && most < 2 * sent(declared) + 131_072,
            "{protocol}: {declared} {found}"
        );
        assert!(
            declared["rounds"].as_u64().is_some_and(|n| n.abs_diff(rounds) < 16),
            "{protocol}: {declared} {found}"
        );
    }
}

/// Each protocol that can run a computation has a price. A protocol that cannot has a reason,
/// beside the prices of the others.
#[test]
fn a_million_rows_have_a_price() {
    let place = bill();
    let head = "computation c\nmembers a, b\nsymbols n\ninput x: i8[n] from a\ninput y: i8[n] from b\n";
    place.put("plain.hwc", format!("{head}output c = count(x < y) to b\n").as_bytes());
    place.put("sorts.hwc", format!("{head}output s = permute(x, order(y)) to a\n").as_bytes());
    let figures = |file: &str| -> serde_json::Value {
        let cost = format!("compute cost {file} --symbol n=1000000 --protocol rep3 --protocol gmw --json -");
        serde_json::from_str(&good(&place, &cost).out).unwrap_or_else(|e| panic!("{e}"))
    };
    let plain = figures("plain.hwc");
    let rounds: Vec<_> = (0..2).map(|i| plain["protocols"][i]["rounds"].as_u64()).collect();
    assert!(rounds.iter().all(|rounds| *rounds > Some(0)), "{plain}");
    assert_eq!(plain["refused"], serde_json::json!([]));
    let sorts = figures("sorts.hwc");
    assert_eq!(sorts["protocols"][0]["protocol"], "rep3", "{sorts}");
    assert_eq!(sorts["protocols"].as_array().map(Vec::len), Some(1), "{sorts}");
    let refused = &sorts["refused"][0];
    assert_eq!(refused["protocol"], "gmw", "{sorts}");
    assert!(refused["cause"].as_str().is_some_and(|why| why.contains("bits")), "{sorts}");
    // If no protocol can run it, the command fails.
    let ran = place.ran("compute cost sorts.hwc --symbol n=1000000 --protocol gmw");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

/// The cost of additional rows is as declared. Prices do not contain set-ups; the shorter run shows
/// their cost.
#[test]
fn two_parties_on_numbers_and_authenticated_garbling_have_a_price() {
    let place = bill();
    let figures = |args: &str| -> serde_json::Value {
        serde_json::from_str(&good(&place, &format!("{args} --json -")).out).unwrap_or_else(|e| panic!("{e}"))
    };
    let number =
        |of: &serde_json::Value, key: &str| of[key].as_u64().unwrap_or_else(|| panic!("{key}: {of}"));
    let mut protocols = vec!["authgarble:2", "authgarble:3"];
    if cfg!(feature = "two") {
        protocols.push("two");
    }
    for protocol in protocols {
        let of = |n: u64| {
            let cost = figures(&format!("compute cost bill.hwc --symbol n={n} --protocol {protocol}"));
            let declared = cost["protocols"][0].clone();
            assert_eq!(declared["protocol"], protocol);
            assert_eq!(cost["protocols"].as_array().map(Vec::len), Some(1));
            let column = |name: &str| {
                let rows: String = (1..=n).map(|i| format!("{}\n", 37 * i % 101)).collect();
                place.put(&format!("{name}.csv"), format!("{name}\n{rows}").as_bytes());
            };
            ["price", "amount"].into_iter().for_each(column);
            let values = "--in shop/price=price.csv --in client/amount=amount.csv --transport unix";
            let found = figures(&format!("local compute bill.hwc {values} --protocol {protocol}"));
            if protocol != "two" {
                assert_eq!(declared["ands"], found["ands"], "{protocol}");
            }
            let parties = found["parties"].as_array().cloned().unwrap_or_default();
            let sent = parties.iter().map(|party| number(party, "bytes_sent")).max().unwrap_or_default();
            let (rounds, forecast) = (number(&found, "rounds"), number(&declared, "rounds"));
            // The meter counts the rounds of one direction, and the rounds of set-ups. Two parties
            // with a long round trip need fewer rounds.
            let most = if protocol == "two" { 3 * rounds } else { 5 * rounds / 4 };
            let is_near = forecast <= most && rounds <= forecast + 64;
            assert!(is_near, "{protocol}: {rounds}, forecast {forecast}");
            // Products and comparisons of two parties on numbers are OTs, so they have no ANDs.
            assert_eq!(number(&declared, "ands") > 0, protocol != "two", "{declared}");
            (number(&declared, "bytes_sent"), sent)
        };
        let sizes = if protocol == "two" { [1000, 4000] } else { [2, 16] };
        let [(few, few_sent), (many, many_sent)] = sizes.map(of);
        let (declared, found) = (many - few, many_sent - few_sent);
        assert!(declared > 5_000, "{protocol}: {few} and {many}");
        let words = format!("{protocol}: {found} bytes more, declared {declared}");
        assert!(few_sent > few && found.abs_diff(declared) <= declared / 50, "{words}");
        let words = good(&place, &format!("compute explain bill.hwc --symbol n=2 --protocol {protocol}")).out;
        assert!(
            words.contains(&format!("  {protocol} takes t")) && words.contains(" ANDs, and none sends"),
            "{words}"
        );
        assert!(!words.contains("rep3 takes"), "{words}");
    }
    let both = figures("compute cost bill.hwc --protocol yao --protocol authgarble:4");
    assert_eq!(
        (&both["protocols"][0]["protocol"], &both["protocols"][1]["protocol"]),
        (&"yao".into(), &"authgarble:4".into())
    );
}

#[test]
fn every_field_of_a_report_is_documented_and_there() {
    let place = bill();
    let report = |args: &str| -> serde_json::Value {
        serde_json::from_str(&good(&place, &format!("{args} --json -")).out).unwrap_or_else(|e| panic!("{e}"))
    };
    let run = |options: &str| report(&format!("local compute bill.hwc {IN} --transport unix {options}"));
    let (cost, explain) =
        (report("compute cost bill.hwc --symbol n=3"), report("compute explain bill.hwc --symbol n=3"));
    let eval = report(&format!("compute eval bill.hwc {IN}"));
    let (three, two) = (run(""), run("--protocol yao --net lan"));
    for (command, reports) in [
        ("cost", vec![&cost]),
        ("explain", vec![&explain]),
        ("eval", vec![&eval]),
        ("local", vec![&three, &two]),
    ] {
        check(JOBS, "### Reports of computations", command, &["symbols", "outputs"], &reports);
    }
    for (name, report) in [("cost", &cost), ("explain", &explain), ("eval", &eval)] {
        crate::schemas::see_as(&format!("compute-{name}"), report);
    }
    use serde_json::json;
    let digest = explain["digest"].as_str().unwrap_or_default();
    assert!(good(&place, "compute check bill.hwc").out.trim().ends_with(digest) && digest.len() == 64);
    for report in [&cost, &explain, &eval, &three, &two] {
        assert_eq!((&report["computation"], &report["symbols"]), (&json!("bill"), &json!({ "n": 3 })));
    }
    assert_eq!(explain["protocols"], cost["protocols"]);
    assert_eq!(
        explain["members"],
        json!([
            { "name": "shop", "brings": ["price: i32[n]"], "learns": ["total: i32"] },
            { "name": "client", "brings": ["amount: i32[n]"], "learns": ["total: i32", "dear: bool[n]"] }
        ])
    );
    for list in ["public", "secret", "opened", "leaks"] {
        assert_eq!(explain[list], json!([]), "{list}");
    }
    let outputs = json!({ "total": 1047, "dear": [true, false, false] });
    for report in [&eval, &three, &two] {
        assert_eq!(report["outputs"], outputs);
    }
    for (report, protocol, scheme, ot, net, parties, clients) in [
        (&three, "rep3", json!(null), json!(null), "none", 3, 2),
        (&two, "yao", json!("mi"), json!("softspoken4"), "lan", 2, 0),
    ] {
        assert_eq!((&report["command"], &report["protocol"]), (&json!("local compute"), &json!(protocol)));
        assert_eq!((&report["scheme"], &report["ot"]), (&scheme, &ot));
        assert_eq!(
            (&report["version"], &report["transport"]),
            (&json!(env!("CARGO_PKG_VERSION")), &json!("unix"))
        );
        assert_eq!(report["digest"], digest);
        assert!(report["net"].as_str().is_some_and(|text| !text.is_empty()), "{net}: {report}");
        assert!(report["aes_tier"].is_string() && report["ands"].is_null() == (parties == 3), "{report}");
        for (list, n) in [("parties", parties), ("clients", clients)] {
            let list = report[list].as_array().cloned().unwrap_or_default();
            assert_eq!(list.len(), n, "{report}");
            for of in list {
                assert!(
                    of["bytes_sent"].as_u64() > Some(0) && of["bytes_received"].as_u64() > Some(0),
                    "{of}"
                );
                assert!(of["seconds"].as_f64() <= report["seconds"].as_f64(), "{of}");
            }
        }
        let most = report["parties"].as_array().into_iter().flatten().map(|of| of["rounds"].as_u64()).max();
        assert_eq!(Some(report["rounds"].as_u64()), most);
        assert!(report["run_seconds"].as_f64() <= report["seconds"].as_f64(), "{report}");
    }
    for (of, form) in cost["protocols"].as_array().into_iter().flatten().zip(["steps", "circuit", "circuit"])
    {
        assert_eq!((&of["form"], of["ands"].is_null()), (&json!(form), form == "steps"), "{of}");
        assert_eq!(of["memory_bytes"].is_null(), form == "circuit", "{of}");
        let seconds = ["loopback_seconds", "lan_seconds", "wan_seconds"].map(|key| of[key].as_f64());
        assert!(seconds[0] > Some(0.0) && seconds[1] < seconds[2], "{of}");
        assert!(of["rounds"].as_u64() > Some(0) && of["bytes_sent"].as_u64() > Some(0), "{of}");
    }
}
