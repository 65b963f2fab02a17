//! A client's view of the outputs reveals their values and nothing else.

use crate::common::World;
use hushwire_machine::PartyId;
use hushwire_session::{InputPlace, Member, run};
use hushwire_testkit::noise;
use hushwire_wire::{PeerConfig, SessionConfig, connect};
use std::{fs, sync::Arc, thread};

/// Parties 0, 1 and 2 bring v, u and t; the client learns v ⊕ t and u ⊕ t.
const JOB: &str = "protocol = \"rep3\"\ncircuit-file = \"sums.txt\"\ninstances = 512\n\
    [[inputs]]\nfrom = \"party0\"\n[[inputs]]\nfrom = \"party1\"\n[[inputs]]\nfrom = \"party2\"\n\
    [[outputs]]\nto = \"client:c\"\n[[outputs]]\nto = \"client:c\"\n";
const SUMS: &str = "2 5\n3 1 1 1\n2 1 1\n\n2 1 0 2 3 XOR\n2 1 1 2 4 XOR\n";

/// The client keeps the three shares apart. One share of a party's input is zero and one is
/// random. Without a mask, the shares of two linear outputs would therefore reveal t: x_2 of v ⊕ t
/// is a random c, and x_0 of u ⊕ t is t ⊕ c.
#[test]
fn shares_of_linear_outputs_are_masked() {
    let world = World::of(JOB, &[("sums.txt", SUMS)]);
    let bits = |seed| noise(seed, 512).iter().map(|b| b & 1).collect::<Vec<u8>>();
    let values: Vec<_> = (0..3).map(bits).collect();
    for (i, value) in values.iter().enumerate() {
        fs::write(world.at(&i.to_string()), value).expect("a file");
    }
    let configs = world.configs(|world, member, config| {
        for i in world.plan.inputs_of(member) {
            config.inputs.insert(i.to_string(), InputPlace::File(world.at(&i.to_string())));
        }
    });
    let (client, parties): (Vec<_>, Vec<_>) =
        configs.into_iter().partition(|(m, _)| matches!(m, Member::Client(_)));
    let (_, client) = client.into_iter().next().expect("there is one");
    let peer = |i: usize| PeerConfig {
        id: PartyId(i as u8),
        address: client.peers[i].address.clone(),
        pin: client.peers[i].pin,
    };
    let peers = (0..3).map(peer).collect();
    let config = SessionConfig {
        job_digest: world.plan.agreement().tags(),
        params: world.plan.agreement().digest(),
        client_lanes: world.plan.threads,
        ..SessionConfig::new(PartyId(129), client.session, peers, client.transport)
    };
    thread::scope(|scope| {
        for (_, config) in parties {
            let prepared = world.prepared.clone();
            // It fails at the end, because this client never confirms that it is done.
            scope.spawn(move || run(&prepared, config, &(Arc::new(|_| {}) as hushwire_session::Observer)));
        }
        let mut net = connect(&config, &client.identity, None).expect("a session");
        // Two outputs of one plane of 512 bits each.
        let shares = [0, 1, 2].map(|party| {
            let mut share = vec![0; 2 * 64];
            let mut channel = net.channel(0, None, Some(PartyId(party))).expect("a channel");
            channel.recv("test", &mut share).expect("shares");
            share
        });
        let plane = |values: &[u8]| -> Vec<u8> {
            values.chunks(8).map(|c| c.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
        };
        let xor = |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
        let sum = xor(&xor(&shares[0], &shares[1]), &shares[2]);
        let (v, u, t) = (plane(&values[0]), plane(&values[1]), plane(&values[2]));
        assert_eq!(sum[..64], xor(&v, &t));
        assert_eq!(sum[64..], xor(&u, &t));
        for a in &shares {
            for b in &shares {
                let guess = xor(&a[..64], &b[64..]);
                assert!(guess != t && guess != v && guess != u, "shares give an input away");
            }
        }
    });
}
