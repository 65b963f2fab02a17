//! Computations between two parties on numbers, over real links, judged by arithmetic.

use hushwire_job::{
    ComputationSource, ComputeJob, ComputeTask, InputPlace, Member, MemberConfig, Observer, OutputPlace,
    Peer, Protocol, Task, run,
};
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{collections::BTreeMap, sync::Arc, thread};
use zeroize::Zeroizing;

/// The salaries of three people, of whom two are one party.
const SALARIES: &str = include_str!("../../../../examples/compute/salaries.hwc");

#[test]
fn salaries_between_two() {
    let mut job = ComputeJob::new(Protocol::Two, ComputationSource::Text(SALARIES.to_owned()));
    for (name, party) in [("ada", 0), ("bob", 1), ("cleo", 0)] {
        job.members.insert(name.to_owned(), Member::Party(party));
    }
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    assert!(task.agreement().fields.iter().any(|field| field.text.starts_with("two, ot softspoken4")));
    let (mut configs, mut peers) = (vec![], vec![]);
    for me in task.agreement().members() {
        let identity = Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
        peers.push(Peer { member: me.clone(), address: Some(listener.address()), pin: identity.pin() });
        let config = MemberConfig::new(me, identity, Some(listener));
        configs.push(MemberConfig { transport: TransportKind::TcpTls, ..config });
    }
    let pays = [("ada", 0, 4_100u64), ("bob", 1, 5_300), ("cleo", 0, 4_700)];
    for (i, config) in configs.iter_mut().enumerate() {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        for (name, party, pay) in pays {
            if party == i {
                let place = InputPlace::Values(Zeroizing::new(pay.to_string()));
                config.inputs.insert(format!("{name}_pay"), place);
                config.outputs.insert(format!("{name}_below"), OutputPlace::Memory);
            }
        }
        for all in ["sum", "mean_pay"] {
            config.outputs.insert(all.into(), OutputPlace::Memory);
        }
    }
    let records: Vec<BTreeMap<usize, Vec<u8>>> = thread::scope(|scope| {
        let task = &task;
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                let outcome = run(task, config, &quiet).unwrap_or_else(|e| panic!("{e}"));
                outcome.learnt.records.into_iter().collect()
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|party| party.join().expect("a party ends")).collect()
    });
    for records in &records {
        assert_eq!(records[&0], 14_100u64.to_le_bytes());
        assert_eq!(records[&1], 4_700u64.to_le_bytes());
    }
    assert_eq!([&records[0][&2], &records[1][&3], &records[0][&4]], [&vec![1], &vec![0], &vec![0]]);
}
