//! A party that spoils the payloads of its keys.

use super::{PsiJob, PsiReveal, PsiTask};
use hushwire_psi::plain::Payloads;
use hushwire_session::{
    Fault, InputPlace, Kind, Member, MemberConfig, Outcome, OutputPlace, Peer, Task,
    run::{open, run_part},
};
use hushwire_wire::{Identity, Listener};
use std::{sync::Arc, thread, time::Duration};

type Ended = Result<Outcome<super::Intersection>, Fault>;

/// Runs both parties. Party 1 sends junk in place of its first key's fields. The result of party 0
/// goes to `out`.
fn run(a: &str, out: &std::path::Path) -> [Ended; 2] {
    let names = vec!["plan".to_owned()];
    let task = PsiTask::new(&PsiJob::new(PsiReveal::Columns { names }, "k")).expect("a task");
    let mut configs = [0, 1].map(|index| {
        let identity = Identity::generate("a party").expect("a key");
        let mut config = MemberConfig::new(Member::Party(index), identity, None);
        (config.connect_timeout, config.stall) = (Duration::from_secs(30), Duration::from_secs(30));
        config.listener = Some(Arc::new(Listener::bind("127.0.0.1:0").expect("a port")));
        let csv = if index == 0 { a } else { "k,plan\nann,gold\nbob,tin\n" };
        config.inputs.insert("csv".to_owned(), InputPlace::memory(csv));
        if index == 0 {
            config.outputs.insert("result".to_owned(), OutputPlace::File(out.to_owned()));
        }
        config
    });
    let peers = configs.each_ref().map(|config| Peer {
        member: config.me.clone(),
        address: config.listener.as_ref().map(|listener| listener.address()),
        pin: config.identity.pin(),
    });
    for config in &mut configs {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
    }
    thread::scope(|scope| {
        let running = configs.map(|mut config| {
            let task = &task;
            scope.spawn(move || {
                let mut part = open(task, &mut config)?;
                if config.me == Member::Party(1) {
                    let width = part.payloads.width();
                    let good = part.payloads.get(1).to_vec();
                    part.payloads = Payloads::new(width, 2);
                    part.payloads.push(&vec![0xff; width]);
                    part.payloads.push(&good);
                }
                run_part(task.agreement(), part, config, &(Arc::new(|_| {}) as _))
            })
        });
        running.map(|thread| thread.join().expect("no panic"))
    })
}

/// The cheating party ends well whether or not the other one has the key, and so learns nothing
/// about it. The honest party ends with an error, and without a result.
#[test]
fn a_damaged_payload_is_told_once_the_sender_waits_for_nothing_more() {
    let dir = tempfile::tempdir().expect("a directory");
    for (i, (a, is_common)) in [("k\nann\nbob\n", true), ("k\nzoe\nbob\n", false)].into_iter().enumerate() {
        let out = dir.path().join(format!("{i}.csv"));
        let [ours, theirs] = run(a, &out);
        let theirs = theirs.expect("it sees no error").learnt;
        assert_eq!(theirs.keys, [2, 2]);
        match ours {
            Ok(ended) => {
                assert_eq!((is_common, ended.learnt.found), (false, Some(1)));
                assert_eq!(std::fs::read_to_string(&out).expect("a result"), "k,plan\nbob,tin\n");
            }
            Err(e) => {
                assert!(is_common && !out.exists(), "{e}");
                let told = "party 0 failed during the intersection: party 1: the payload check failed";
                assert!(e.kind() == Kind::Network && e.to_string().starts_with(told), "{e}");
            }
        }
    }
}
