//! An owner of a file that sends different messages to different parties is named, and nothing is
//! computed or stored.

use hushwire_kinds::{
    Job,
    encrypt::{AesCtrJob, AesCtrPlaces},
};
use hushwire_machine::PartyId;
use hushwire_session::{Member, MemberConfig, Observer, Peer, run, session_of};
use hushwire_wire::{Identity, Listener, PeerConfig, SessionConfig, TransportKind, connect};
use std::{path::Path, sync::Arc, thread, time::Duration};

/// The offsets of the terms' parts in the owner's first message, and their length.
const IV: usize = 0;
const BYTES: usize = 16;
const MODE: usize = 24;
const KEY_ID: usize = 25;
const TERMS: usize = 41;
const SEED: usize = 16;

fn job(key: &str) -> AesCtrJob {
    let text = format!("kind = \"aes-ctr\"\nowner = \"client:mallory\"\nkey = \"{key}\"\n");
    match Job::parse(&text, Path::new("job.toml")) {
        Ok(Job::AesCtr(job)) => job,
        other => panic!("{other:?}"),
    }
}

/// The parties' messages from an honest owner of an empty file.
fn honest(job: &AesCtrJob) -> [Vec<u8>; 3] {
    let given = job.key.name() == "given";
    let mut message = [0; TERMS + SEED];
    message[IV..BYTES].fill(7);
    message[MODE] = if given { 0 } else { 2 };
    message[KEY_ID..TERMS].fill(if given { 0 } else { 9 });
    let shares: Vec<_> = (0..3).map(|i| vec![i as u8 + 1; 176]).collect();
    [0, 1, 2].map(|party| {
        let of_key = if given { [&shares[party][..], &shares[(party + 1) % 3]].concat() } else { vec![] };
        [&message[..], &of_key].concat()
    })
}

/// Runs the parties against an owner that sends `messages`. Returns their errors, and which of them
/// keep a share.
fn play(job: &AesCtrJob, messages: &[Vec<u8>; 3]) -> ([String; 3], [bool; 3]) {
    play_with(job, messages, |_| {})
}

/// Like [`play`], with a function that is called with the path of the first party's share after
/// all have met.
fn play_with(
    job: &AesCtrJob,
    messages: &[Vec<u8>; 3],
    meanwhile: impl Fn(&Path),
) -> ([String; 3], [bool; 3]) {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let members = job.agreement().members();
    let identities: Vec<_> =
        members.iter().map(|m| Identity::generate(&m.to_string()).expect("a key")).collect();
    let listeners: Vec<_> = (0..3).map(|_| Listener::bind("127.0.0.1:0").expect("a port")).collect();
    let peers = members.iter().zip(&identities).enumerate().map(|(i, (member, identity))| Peer {
        member: member.clone(),
        address: listeners.get(i).map(Listener::address),
        pin: identity.pin(),
    });
    let peers: Vec<_> = peers.collect();
    let share = |party: usize| dir.path().join(format!("{party}.share"));
    let mut identities = identities.into_iter();
    let configs: Vec<_> = listeners
        .into_iter()
        .zip(identities.by_ref())
        .enumerate()
        .map(|(party, (listener, identity))| MemberConfig {
            peers: peers.iter().filter(|peer| peer.member != members[party]).cloned().collect(),
            connect_timeout: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            session: session_of("test"),
            keys: AesCtrPlaces { key_share: Some(share(party)), ..AesCtrPlaces::default() },
            ..MemberConfig::new(members[party].clone(), identity, Some(Arc::new(listener)))
        })
        .collect();
    let owner = identities.next().expect("the owner's key");
    let agreement = job.agreement();
    let parties = peers.iter().take(3).zip(0..);
    let parties =
        parties.map(|(peer, i)| PeerConfig { id: PartyId(i), address: peer.address.clone(), pin: peer.pin });
    let me = Member::Client("mallory".into()).id(&agreement.clients).expect("an id");
    let config = SessionConfig {
        job_digest: agreement.tags(),
        params: agreement.digest(),
        client_lanes: agreement.client_lanes,
        connect_timeout: Duration::from_secs(30),
        stall: Duration::from_secs(30),
        ..SessionConfig::new(me, session_of("test"), parties.collect(), TransportKind::TcpTls)
    };
    let said = thread::scope(|scope| {
        let running: Vec<_> = configs
            .into_iter()
            .map(|config| {
                scope.spawn(move || {
                    let observer: Observer = Arc::new(|_| {});
                    run(job, config, &observer).err().map(|e| e.to_string()).unwrap_or_default()
                })
            })
            .collect();
        let mut net = connect(&config, &owner, None).expect("a session");
        let mut kept = vec![];
        for party in 0..3 {
            let peer = Some(PartyId(party));
            let mut from = net.channel(0, None, peer).expect("a channel");
            let mut held = [1; 17];
            from.recv("keys that are kept", &mut held).expect("a word on the key");
            assert_eq!(held, [0; 17], "no party has a share yet");
            kept.push((from, net.channel(0, peer, None).expect("a channel")));
        }
        meanwhile(&share(0));
        for ((_, to), message) in kept.iter_mut().zip(messages) {
            // Once the parties know of the deviation, they do not listen any more.
            let _ = to.send("terms and key", message);
        }
        let stored = |(from, _): &mut (hushwire_machine::Channel, _)| from.recv("new key", &mut [0]).is_ok();
        if job.key.name() == "kept" {
            kept.iter_mut().for_each(|links| _ = stored(links));
        }
        drop(kept);
        drop(net);
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    let said = said.try_into().unwrap_or_default();
    (said, [0, 1, 2].map(|party| share(party).exists()))
}

#[test]
fn an_honest_owner_is_believed() {
    for key in ["kept", "given"] {
        let job = job(key);
        let (said, stored) = play(&job, &honest(&job));
        // The owner never confirms that it is done, but no member says that it deviates.
        assert!(said.iter().all(|said| !said.contains("different")), "{said:?}");
        assert_eq!(stored, [key == "kept"; 3], "{said:?}");
    }
}

#[test]
fn the_others_are_not_told_how_the_file_of_a_share_is_called() {
    let job = job("kept");
    let taken = |place: &Path| std::fs::write(place, "of somebody else").expect("a file");
    let (said, _) = play_with(&job, &honest(&job), taken);
    assert!(said[0].contains("cannot write") && said[0].contains("0.share"), "{said:?}");
    for said in &said[1..] {
        assert!(
            said.contains("party 0: failed during ") && said.contains(" says: it cannot write an output"),
            "{said}"
        );
        assert!(!said.contains("0.share"), "{said}");
    }
}

#[test]
fn an_owner_who_says_different_things_is_named_and_nothing_is_stored() {
    for (key, at, what) in [
        ("kept", IV, "terms"),
        ("kept", IV + 15, "terms"),
        ("kept", BYTES, "terms"),
        ("kept", KEY_ID + 3, "terms"),
        ("given", IV, "terms"),
        ("given", TERMS + SEED, "shares of the same key"),
        ("given", TERMS + SEED + 175, "shares of the same key"),
        ("given", TERMS + SEED + 176, "shares of the same key"),
        ("given", TERMS + SEED + 351, "shares of the same key"),
    ] {
        for party in 0..3 {
            let job = job(key);
            let mut messages = honest(&job);
            messages[party][at] ^= 1;
            let (said, stored) = play(&job, &messages);
            assert_eq!(stored, [false; 3], "{key} {at} {party}: {said:?}");
            assert!(said.iter().all(|said| said.contains("client mallory")), "{key} {at} {party}: {said:?}");
            let whole = format!("different {what}");
            assert!(said.iter().any(|said| said.contains(&whole)), "{key} {at} {party}: {said:?}");
        }
    }
}

/// Terms that no owner of this release sends to this party.
#[test]
fn terms_that_make_no_sense_are_refused() {
    let kept = job("kept");
    for (at, byte, cause) in
        [(MODE, 3, "another key"), (MODE, 77, "another key"), (BYTES + 7, 255, "counted")]
    {
        let messages = honest(&kept).map(|mut message| {
            message[at] = byte;
            message
        });
        let (said, stored) = play(&kept, &messages);
        assert_eq!(stored, [false; 3]);
        assert!(said.iter().all(|said| said.contains("client mallory")), "{said:?}");
        assert!(said.iter().any(|said| said.contains(cause)), "{said:?}");
    }
}
