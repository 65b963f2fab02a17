//! A served model: several clients, answers one after the other, limits, and clients that are
//! killed.

use crate::{
    documented::check,
    infer::FIELDS,
    infer_members::{THREE, TWO, near, world, world_of},
    rehearsal::{Ended, Rehearsal, Running},
};
use hushwire_nn::{Array, onnx::Model, zoo};
use std::time::{Duration, Instant};

/// Makes a client that `local files` does not know, and lists it at these parties.
fn client(world: &Rehearsal, name: &str, parties: &[&str]) {
    let ran = |args: &str| {
        let ran = world.place.ran(args);
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
        ran.out.trim().to_owned()
    };
    ran(&format!("keys init --name {name} --out r/{name}.pem"));
    let own = ran(&format!("keys pin r/{name}.pem"));
    let mut file = format!("name = \"{name}\"\nkey = \"{name}.pem\"\n");
    for (index, party) in parties.iter().enumerate() {
        let pin = ran(&format!("keys pin r/{party}.pem"));
        let address = format!("127.0.0.1:{}", usize::from(world.port) + index);
        file += &format!("[[peers]]\nindex = {index}\naddress = \"{address}\"\npin = \"{pin}\"\n");
        let peer = format!("\n[[peers]]\nclient = \"{name}\"\npin = \"{own}\"\n");
        world.edit(&format!("r/{party}.toml"), |text| format!("{text}{peer}"));
    }
    world.place.put(&format!("r/{name}.toml"), file.as_bytes());
}

fn serve(world: &Rehearsal, name: &'static str, options: &str) -> Running {
    let line = format!("serve-model job.toml --config r/{name}.toml {options} --json -");
    world.spawn(name, world.place.hushwire(&line))
}

/// Asks a number of times for the output of the same input.
fn asks(world: &Rehearsal, name: &'static str, times: usize, options: &str) -> Running {
    let pair = |k| format!(" --input r/input.npy --output r/{name}{k}.npy");
    let pairs: String = (0..times).map(pair).collect();
    let line = format!("ask-model job.toml --config r/{name}.toml {options}{pairs} --json -");
    world.spawn(name, world.place.hushwire(&line))
}

/// Checks all answers of a client, which are one after the other.
fn right(world: &Rehearsal, name: &str, times: usize, expected: &Array) -> Vec<u8> {
    let all: Vec<_> = (0..times).map(|k| world.place.get(&format!("r/{name}{k}.npy"))).collect();
    near(&all[0], expected);
    assert!(all.iter().all(|bytes| *bytes == all[0]), "answers to one input differ");
    all[0].clone()
}

fn end(world: &Rehearsal, running: Vec<Running>) -> Vec<Ended> {
    world.end_within(running, Instant::now(), Duration::from_mins(3))
}

/// A network for two parties, to whom each comparison costs more.
fn small() -> Model {
    let mut w = zoo::Writer::new("small", 3, &[1, 3, 32, 32]);
    let x = w.conv("input", [3, 8], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.conv(&x, [8, 8], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 2, 2, 0, false);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [8, 10]);
    w.finish(&x)
}

/// The clients and the limits are the same for three parties and for two.
fn answered(parties: &[&'static str], owner: Option<&'static str>, options: &str) {
    let (world, expected) = if owner.is_some() { world(&THREE, "") } else { world_of(small(), &TWO, "") };
    for name in ["eve", "bob"] {
        client(&world, name, parties);
    }
    let terms = |party: &str| {
        format!("--client client:eve --client client:bob --answers 4 --ledger r/{party}.json {options}")
    };
    let mut serving: Vec<_> = parties.iter().map(|party| serve(&world, party, &terms(party))).collect();
    if let Some(owner) = owner {
        // The owner shares the weights and ends.
        end(&world, vec![serve(&world, owner, "")]).iter().for_each(Ended::good);
    }
    world.until_said(parties, "the model is ready");
    // Two clients at the same time.
    let both = end(&world, vec![asks(&world, "eve", 2, options), asks(&world, "bob", 1, options)]);
    both.iter().for_each(Ended::good);
    let answer = right(&world, "eve", 2, &expected);
    assert!(right(&world, "bob", 1, &expected) == answer, "clients have other answers to one input");
    let report = |of: &Ended| serde_json::from_str::<serde_json::Value>(&of.out).expect("JSON");
    let reports: Vec<_> = both.iter().map(report).collect();
    assert_eq!(reports[0]["answers"].as_array().map(Vec::len), Some(2));
    check(FIELDS[0], FIELDS[1], "ask-model", &[], &reports.iter().collect::<Vec<_>>());
    // A client that is killed during a session does not end any other member.
    let first = asks(&world, "bob", 3, options);
    world.until_said(&["bob"], "an answer");
    assert!(first.kill().is_none(), "it ended before");
    // The fifth answer is refused, and the answers before it are there.
    let spent = end(&world, vec![asks(&world, "eve", 3, options)]);
    assert_eq!(spent[0].code, Some(5), "{}", spent[0].err);
    assert!(spent[0].error().contains("client eve may have fewer than 1 more answers"), "{}", spent[0].err);
    right(&world, "eve", 2, &expected);
    // The counts of answers outlive the serving processes.
    serving.iter().for_each(|party| party.signal("-TERM"));
    let ended = end(&world, std::mem::take(&mut serving));
    ended.iter().for_each(Ended::good);
    let reports: Vec<_> = ended.iter().map(report).collect();
    check(FIELDS[0], FIELDS[1], "serve-model", &[], &reports.iter().collect::<Vec<_>>());
    for party in parties {
        let counts: serde_json::Value =
            serde_json::from_slice(&world.place.get(&format!("r/{party}.json"))).expect("JSON");
        assert_eq!(counts["eve"], 4, "{party}: {counts}");
    }
}

#[test]
fn three_parties_serve_clients_up_to_their_answers() {
    answered(&["party0", "party1", "party2"], Some("lab"), "");
}

#[test]
fn an_owner_serves_clients_up_to_their_answers() {
    answered(&["party0"], None, "--ots-ahead 8MiB");
}

/// A client with another limit of OTs has a different session than the served one.
#[test]
fn who_may_not_ask_is_told() {
    let (world, _) = world_of(small(), &TWO, "");
    client(&world, "eve", &["party0"]);
    let line = |args: &str| world.place.ran(args);
    // The owner does not ask, and a client without a model does not serve.
    let owner = line("ask-model job.toml --config r/party0.toml --input r/input.npy");
    assert!(owner.code == Some(2) && owner.err.contains("party 0 owns the model"), "{}", owner.err);
    let other = line("serve-model job.toml --config r/party1.toml");
    assert!(other.code == Some(2) && other.err.contains("neither owns the model"), "{}", other.err);
    let unknown = line("serve-model job.toml --config r/party0.toml --client client:zoe");
    assert!(unknown.code == Some(2) && unknown.err.contains("client zoe"), "{}", unknown.err);
    let uneven = line("ask-model job.toml --config r/eve.toml --input a.npy --input b.npy --output c.npy");
    assert!(uneven.code == Some(2) && uneven.err.contains("2 inputs have 1 outputs"), "{}", uneven.err);
}
