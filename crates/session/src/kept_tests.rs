//! Sessions on kept links: each has its own id, and a member that sends different bytes to
//! different peers is detected before anything runs.

use super::*;
use crate::{AgreedField, Protocol};
use hushwire_wire::{Identity, Listener, Observer, PeerConfig, SessionConfig, TransportKind, connect_kept};
use std::{collections::BTreeSet, thread};

const LABEL: SessionId = SessionId([3; 16]);

fn plan() -> Agreement {
    Agreement {
        kind: "query",
        title: "a test".into(),
        protocol: Protocol::Rep3,
        clients: vec![],
        fields: vec![AgreedField::new("sql", "SELECT 1")],
        lanes: 2,
        client_lanes: 1,
    }
}

/// Connects three parties, each on a thread of its own, and runs `work` on the links of each.
fn with_links<T: Send>(work: impl Fn(LinkStock) -> T + Sync) -> Vec<T> {
    let identities = [0, 1, 2].map(|n| Identity::generate(&format!("{n}")).expect("a key"));
    let listeners = [0, 1, 2].map(|_| Listener::bind("127.0.0.1:0").expect("a port"));
    let peer = |id: usize| PeerConfig {
        id: PartyId(id as u8),
        address: Some(listeners[id].address()),
        pin: identities[id].pin(),
    };
    thread::scope(|scope| {
        let members = [0, 1, 2].map(|me| {
            let peers = (0..3).filter(|id| *id != me).map(peer).collect();
            let mut config = SessionConfig::new(PartyId(me as u8), LABEL, peers, TransportKind::TcpInsecure);
            config.lanes = plan().lanes;
            let (identity, listener, work) = (&identities[me], &listeners[me], &work);
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                let (net, stock) = connect_kept(&config, identity, Some(listener), quiet, None)
                    .map_err(|(e, _)| e)
                    .expect("they meet");
                drop(net);
                work(stock)
            })
        });
        members.map(|member| member.join().expect("no panic")).into()
    })
}

/// The label and the previous session are the same each time; only the fresh bytes differ.
#[test]
fn each_run_has_a_session_of_its_own() {
    let names = with_links(|stock| {
        let name = |_| {
            stock.renew(LABEL);
            renew(&stock, &plan(), LABEL, &|e| e.fault()).expect("all links").session().expect("a name").0
        };
        (0..4).map(name).collect::<Vec<_>>()
    });
    assert!(names[0] == names[1] && names[0] == names[2], "all members have the same");
    let different: BTreeSet<_> = names[0].iter().collect();
    assert_eq!(different.len(), 4, "no session serves twice");
}

/// Party 1 sends parties 0 and 2 different bytes, and then sends each the marks that it expects.
#[test]
fn a_member_that_tells_others_different_bytes_is_found() {
    let errors = with_links(|stock| {
        let before = stock.session();
        let me = stock.lend().expect("all links").me();
        if me != PartyId(1) {
            return renew(&stock, &plan(), LABEL, &|e| e.fault()).err();
        }
        let mut net = stock.lend().expect("all links");
        let word = word(before, LABEL, &plan());
        let others = [PartyId(0), PartyId(2)];
        let mut links = vec![];
        for lane in 0..plan().lanes {
            for peer in others {
                links.push(net.channel(lane, Some(peer), Some(peer)).expect("a link"));
            }
        }
        let own = others.map(|peer| [[peer.0; 32], word].concat());
        let control = links.iter_mut().filter(|channel| channel.lane() == plan().control_lane());
        let fresh: BTreeMap<u8, [u8; 32]> = exchange(control.collect(), &own, &|e| e.fault())
            .expect("their bytes")
            .into_iter()
            .map(|(peer, theirs)| (peer.0, theirs[..32].try_into().expect("32 bytes")))
            .collect();
        let marks = |channel: &Channel| {
            let peer = channel.to().expect("a peer");
            let mut fresh = fresh.clone();
            fresh.insert(1, [peer.0; 32]);
            mark(session(before, &word, &fresh), channel.lane(), me, peer)
        };
        let marks: Vec<_> = links.iter().map(marks).collect();
        exchange(links.iter_mut().collect(), &marks, &|e| e.fault()).err()
    });
    for party in [0, 2] {
        let e = errors[party].as_ref().expect("the other one has another session");
        assert!(e.code() == code::DISAGREE && e.to_string().contains("another run"), "{e}");
    }
}
