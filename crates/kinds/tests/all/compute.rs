//! A client that tells parties different things. The run ends at all of them, and nothing that
//! depends on it is opened.

use crate::{
    common,
    stored::{configs, run_all},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask, Job};
use hushwire_machine::PartyId;
use hushwire_rep3::{Addition, Owner, Role};
use hushwire_session::{
    Fault, InputPlace, Kind, Member, MemberConfig, Observer, OutputPlace, Peer, Protocol, Task, run,
};
use hushwire_wire::{PeerConfig, SessionConfig, connect};
use std::{collections::BTreeMap, path::Path, sync::Arc, thread};

const TEXT: &str = "computation c\nmembers mallory, party1\nsymbols n\ninput x: u8[n] from mallory\ninput k: u8 from party1\n\
    output z = x * k to party1\n";

/// The deviation of the client mallory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// Tells this party another length.
    Length(usize),
    /// Tells all parties a length for which none has memory.
    Huge,
    /// Sends this party another seed than its neighbour.
    Seed(usize),
    /// Sends this party another explicit share than the other holder.
    Share(usize),
}

/// Runs mallory by hand, with honest shares of 1, 2, 3 except for the lie. Checks whether the
/// parties went on after the lengths.
fn mallory(task: &ComputeTask, config: &MemberConfig, lie: Lie) {
    let agreement = task.agreement();
    let peer = |peer: &Peer| PeerConfig {
        id: peer.member.id(&agreement.clients).unwrap_or(PartyId(0)),
        address: peer.address.clone(),
        pin: peer.pin,
    };
    let me = config.me.id(&agreement.clients).unwrap_or(PartyId(0));
    let session = SessionConfig {
        job_digest: agreement.tags(),
        params: agreement.digest(),
        client_lanes: agreement.client_lanes,
        ..SessionConfig::new(me, config.session, config.peers.iter().map(peer).collect(), config.transport)
    };
    let mut net = connect(&session, &config.identity, None).unwrap_or_else(|e| panic!("{e}"));
    let mut to = [0, 1, 2].map(|p| net.channel(0, Some(PartyId(p)), None).unwrap_or_else(|e| panic!("{e}")));
    let mut from =
        [0, 1, 2].map(|p| net.channel(0, None, Some(PartyId(p))).unwrap_or_else(|e| panic!("{e}")));
    let owner = Owner::new(Backend::best());
    let mut messages = [0; 3].map(|_| Wiped::new(vec![]));
    owner.share(0, 0, vec![1, 2, 3].into(), Addition::Words(1), &mut messages);
    if let Lie::Share(p) = lie {
        // A party that holds an explicit share holds all of it.
        let holds = |message: &Wiped<Vec<u8>>| !message.is_empty();
        let p = (p..p + 3).map(|p| p % 3).find(|p| holds(&messages[*p])).unwrap_or_default();
        messages[p][0] ^= 1;
    }
    // If the lie was found, the session ends during this loop.
    for (p, channel) in to.iter_mut().enumerate() {
        let mut seeds = owner.seeds(Role::ALL[p]).to_vec();
        if lie == Lie::Seed(p) {
            // One of the two seeds belongs to an explicit share, and is not used.
            seeds[0] ^= 1;
            seeds[16] ^= 1;
        }
        let n = match lie {
            Lie::Length(other) if other == p => 4u64,
            Lie::Huge => 1 << 27,
            _ => 3,
        };
        let _ = channel.send("seeds", &seeds).and_then(|()| channel.send("lengths", &n.to_le_bytes()));
    }
    let heard = from.iter_mut().all(|channel| channel.recv("lengths", &mut [0; 8]).is_ok());
    assert!(heard || matches!(lie, Lie::Length(_) | Lie::Huge), "{lie:?}");
    for (channel, message) in to.iter_mut().zip(&messages) {
        let _ = if message.is_empty() { Ok(()) } else { channel.send("shares", message) };
    }
    // Waits until the others end, which send nothing before that.
    for channel in &mut from {
        let _ = channel.recv("the last word", &mut [0; 16]);
    }
}

/// The results of the three parties.
fn ends(lie: Lie) -> Vec<Result<Vec<u8>, Fault>> {
    ends_of(&ComputeJob::new(Protocol::Rep3, ComputationSource::Text(TEXT.to_owned())), lie)
}

fn ends_of(job: &ComputeJob, lie: Lie) -> Vec<Result<Vec<u8>, Fault>> {
    let task = ComputeTask::new(job).unwrap_or_else(|e| panic!("{e}"));
    let mut configs = common::configs(&task.agreement().members());
    for config in configs.iter_mut().filter(|config| !matches!(config.me, Member::Party(_))) {
        config.peers.retain(|peer| peer.address.is_some());
    }
    configs[1].inputs.insert("k".into(), InputPlace::Values(Wiped::new("5".into())));
    configs[1].outputs.insert("z".into(), OutputPlace::Memory);
    let cheat = configs.pop().unwrap_or_else(|| panic!("a client"));
    thread::scope(|scope| {
        let task = &task;
        scope.spawn(move || mallory(task, &cheat, lie));
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                let outcome = run(task, config, &quiet)?;
                Ok(outcome.learnt.records.into_iter().flat_map(|(_, records)| records).collect())
            })
        });
        let running: Vec<_> = running.collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| panic!("a thread panicked")))
            .collect()
    })
}

#[test]
fn a_client_that_tells_parties_different_things_ends_the_run() {
    for p in 0..3 {
        for (lie, words) in [
            (Lie::Length(p), "agreeing on lengths: n is "),
            (Lie::Seed(p), "different shares of the same inputs; no output of them was opened"),
            (Lie::Share(p), "different shares of the same inputs; no output of them was opened"),
        ] {
            let all = ends(lie);
            let errors: Vec<_> = all.iter().map(|end| end.as_ref().err().map(ToString::to_string)).collect();
            assert!(errors.iter().all(Option::is_some), "{lie:?}: {errors:?}");
            assert!(errors.iter().flatten().any(|e| e.contains(words)), "{lie:?}: {errors:?}");
        }
    }
}

/// Whatever a client tells, no party reserves more memory than was agreed on, or than 2 GiB if
/// nothing was.
#[test]
fn a_client_that_says_a_length_beyond_all_bounds_ends_the_run() {
    let mut job = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(TEXT.replace("u8", "u64")));
    for (bound, memory, words) in [
        (
            None,
            None,
            "n is 134217728 at client mallory: values take 4097 MiB of memory at each party at once, and may take 2048 MiB; bring fewer rows, or agree on",
        ),
        (
            None,
            Some(64 << 20),
            "n is 134217728 at client mallory: values take 2049 MiB of memory at each party at once, and may take 512 MiB; bring fewer rows, or agree on",
        ),
        (
            Some(100),
            None,
            "n is 134217728 at client mallory, and 100 is the most that was agreed on; bring fewer rows",
        ),
    ] {
        job.bounds = bound.map(|most| ("n".to_owned(), most)).into_iter().collect();
        job.memory = memory;
        let errors: Vec<_> =
            ends_of(&job, Lie::Huge).into_iter().map(|end| end.expect_err("taken")).collect();
        let found = |e: &&Fault| e.to_string().contains(words);
        assert_eq!(errors.iter().find(found).map(Fault::kind), Some(Kind::File), "{errors:?}");
        // A party that finds the lie a moment later may hear of it before.
        let told = |e: &Fault| e.is_consequence() || e.to_string().contains(words);
        assert!(errors.iter().all(told), "{errors:?}");
    }
}

#[test]
fn an_honest_client_by_hand_is_taken() {
    let all = ends(Lie::None);
    // Mallory sends no confirmation, so party 1 has no result; no member blames its values.
    let errors: Vec<_> = all.iter().filter_map(|end| end.as_ref().err()).collect();
    assert!(
        errors.iter().all(|e| e.kind() == Kind::Network && !e.to_string().contains("shares")),
        "{errors:?}"
    );
    assert!(errors.iter().all(|e| e.step() == "confirmation" || e.is_consequence()), "{errors:?}");
}

#[test]
fn jobs_that_make_no_sense_are_refused_with_a_remedy() {
    let refused = |change: &dyn Fn(&mut ComputeJob)| {
        let mut job = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(TEXT.to_owned()));
        change(&mut job);
        ComputeTask::new(&job).err().unwrap_or_else(|| panic!("taken")).to_string()
    };
    let assign = |name: &'static str, to: Member| {
        move |job: &mut ComputeJob| {
            job.members.insert(name.to_owned(), to.clone());
        }
    };
    let error = refused(&assign("malory", Member::Party(0)));
    assert!(error.contains("no member malory") && error.contains("did you mean `mallory`?"), "{error}");
    let error = refused(&|job| {
        job.protocol = Protocol::Yao;
        job.members.insert("mallory".into(), Member::Client("mallory".into()));
    });
    assert!(error.contains("protocol yao has no clients"), "{error}");
    let error = refused(&|job| job.symbols = BTreeMap::from([("m".to_owned(), 3)]));
    assert!(error.contains("no symbol m"), "{error}");
    let error = refused(&|job| job.bounds = BTreeMap::from([("m".to_owned(), 3)]));
    assert!(error.contains("no symbol m"), "{error}");
    let error = refused(&|job| {
        job.symbols = BTreeMap::from([("n".to_owned(), 4)]);
        job.bounds = BTreeMap::from([("n".to_owned(), 3)]);
    });
    assert!(error.contains("n is 4, and 3 is the most that was agreed on; write more for n"), "{error}");
    let error = refused(&|job| job.computation = ComputationSource::Text("computation".into()));
    assert!(error.contains("the computation, line 1"), "{error}");
}

/// A job's memory is a size with a unit or a number of bytes.
#[test]
fn memory_may_have_a_unit() {
    let memory = |text: &str| {
        let job = format!("computation = \"c.hwc\"\n[parameters]\nmemory = {text}\n");
        match Job::parse(&job, Path::new("job.toml")) {
            Ok(Job::Compute(job)) => Ok(job.memory),
            Ok(_) => panic!("another kind"),
            Err(e) => Err(e.to_string()),
        }
    };
    for (text, bytes) in [("\"4GiB\"", 4 << 30), ("4294967296", 4 << 30), ("\"1 KiB\"", 1024), ("1024", 1024)]
    {
        assert_eq!(memory(text), Ok(Some(bytes)), "{text}");
    }
    let error = memory("\"4 bananas\"").err().unwrap_or_default();
    assert!(error.contains("line 3") && error.contains("\"4GiB\""), "{error}");
}

/// The job's memory holds for lengths that only inputs give.
#[test]
fn a_plan_beyond_its_memory_is_refused() {
    let text = TEXT.replace("x * k", "sum(x) < k");
    let mut job = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(text));
    job.memory = Some(1024);
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let mut all = configs(&task);
    for (me, config) in &mut all {
        let (name, value) = if let Member::Party(_) = me { ("k", "5") } else { ("x", "1,2,3") };
        if !matches!(me, Member::Party(0 | 2)) {
            config.inputs.insert(name.into(), InputPlace::Values(Wiped::new(value.into())));
        }
    }
    let errors: Vec<_> =
        run_all(&task, all).into_values().map(|ended| ended.map(drop).expect_err("it takes more")).collect();
    let found = |e: &&Fault| e.kind() == Kind::Usage && e.to_string().contains("memory");
    assert!(errors.iter().any(|e| found(&e)), "{errors:?}");
    assert!(errors.iter().all(|e| found(&e) || e.is_consequence()), "{errors:?}");
}
