//! Jobs of n parties of whom all but one may be corrupt, over real links, each party a thread, judged by the plain evaluator.

use crate::common::{World, check};
use hushwire_job::{
    ComputationSource, ComputeJob, ComputeTask, InputPlace, Member, MemberConfig, Observer, OutputPlace,
    Peer, Protocol, Task, run,
};
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{sync::Arc, thread};
use zeroize::Zeroizing;

fn among(n: usize) -> String {
    format!("protocol = \"authgarble\"\nparties = {n}")
}

#[test]
fn any_party_brings_and_learns() {
    let (all, two) = (["party0", "party1", "party2", "party3", "party4"], ["party0", "party1"]);
    check(&among(2), "add:13", 30, &two, &[&two], "batch = 16\nthreads = 2");
    check(&among(3), "less:32", 9, &["party2", "party1"], &[&["party0", "party2"]], "");
    check(&among(5), "mux:5", 7, &["party4", "party1", "party3"], &[&all], "threads = 1");
    // Nobody learns anything, and one owner of everything.
    check(&among(3), "add:4", 3, &["party1", "party1"], &[&[]], "");
}

/// Three parties are those that there are without a word, and the command line's name is that of a file.
#[test]
fn the_number_of_parties() {
    let all = ["party0", "party1", "party2"];
    check("protocol = \"authgarble\"", "add:4", 1, &["party0", "party2"], &[&all], "");
    check("protocol = \"authgarble:4\"", "add:4", 1, &["party0", "party3"], &[&all], "");
    check("protocol = \"authgarble:4\"\nparties = 2", "add:4", 1, &["party0", "party1"], &[&["party1"]], "");
}

#[test]
fn another_number_of_parties_is_another_job() {
    let two = ["party0", "party1"];
    let world = |protocol: &str| World::under(protocol, "add:4", 1, &two, &[&two], "");
    let (ours, theirs) = (world(&among(2)).plan.agreement(), world(&among(3)).plan.agreement());
    assert!(ours.differences(&theirs.tags())[0].starts_with("protocol (ours: authgarble:2, ot softspoken4"));
    assert_eq!(theirs.members(), [0, 1, 2].map(Member::Party));
    let shown = world(&among(2)).run(|_, member, config| {
        let digits = if member.key() == "party0" { ("0", "e") } else { ("1", "3") };
        config.inputs.insert(digits.0.into(), InputPlace::Hex(digits.1.to_owned().into()));
    });
    for (member, outcome) in &shown {
        let outcome = outcome.as_ref().unwrap_or_else(|e| panic!("{member}: {e}"));
        assert_eq!(outcome.learnt.digits, [(0, "11".to_owned())], "{member}");
    }
}

/// Five people, none of whom trusts another, learn the sum of their salaries, and one whether it earns less than the mean.
#[test]
fn five_salaries() {
    const TEXT: &str = "computation salaries\nmembers a, b, c, d, e\ninput pa: u32 from a\ninput pb: u32 from b\n\
        input pc: u32 from c\ninput pd: u32 from d\ninput pe: u32 from e\ntotal = pa + pb + pc + pd + pe\n\
        output sum = total to a, b, c, d, e\noutput below = pc * 5 < total to c\n";
    let job = ComputeJob::new(Protocol::Authgarble(5), ComputationSource::Text(TEXT.to_owned()));
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let (mut configs, mut peers) = (vec![], vec![]);
    for me in task.agreement().members() {
        let identity = Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
        peers.push(Peer { member: me.clone(), address: Some(listener.address()), pin: identity.pin() });
        let config = MemberConfig::new(me, identity, Some(listener));
        configs.push(MemberConfig { transport: TransportKind::TcpTls, ..config });
    }
    for (i, config) in configs.iter_mut().enumerate() {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        let name = format!("p{}", ["a", "b", "c", "d", "e"][i]);
        let pay = InputPlace::Values(Zeroizing::new((1000 * (i + 1)).to_string()));
        config.inputs.insert(name, pay);
        config.outputs.insert("sum".into(), OutputPlace::Memory);
    }
    configs[2].outputs.insert("below".into(), OutputPlace::Memory);
    let records: Vec<Vec<Vec<u8>>> = thread::scope(|scope| {
        let task = &task;
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                let outcome = run(task, config, &quiet).unwrap_or_else(|e| panic!("{e}"));
                outcome.learnt.records.into_iter().map(|(_, records)| records).collect()
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|party| party.join().expect("a party ends")).collect()
    });
    for (i, records) in records.iter().enumerate() {
        assert_eq!(records[0], 15_000u32.to_le_bytes(), "party {i}");
        assert_eq!(records.len(), if i == 2 { 2 } else { 1 });
    }
    // Exactly the mean.
    assert_eq!(records[2][1], [0]);
}
