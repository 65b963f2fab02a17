//! A client whose shares are inconsistent: the job ends before anything that depends on them is
//! opened.

use crate::common::World;
use hushwire_aes::Backend;
use hushwire_circuit::planes;
use hushwire_machine::{Net, NetError, PartyId};
use hushwire_prg::{Prg, Seed};
use hushwire_session::{InputPlace, Member, MemberConfig, Observer, OutputPlace, run};
use hushwire_testkit::noise;
use hushwire_wire::{PeerConfig, SessionConfig, connect};
use std::{fs, sync::Arc, thread};

/// `o = (x AND y) AND (NOT x AND y)` is 0 for all x and y, but y if the shares of x are
/// inconsistent. Mallory's other two inputs ensure that a batch has an explicit share of every
/// component.
const CIRCUIT: &str = "7 11\n4 1 1 1 1\n1 1\n\n2 1 0 3 4 AND\n1 1 0 5 INV\n2 1 5 3 6 AND\n2 1 4 6 7 AND\n\
                       2 1 1 2 8 AND\n2 1 7 8 9 AND\n2 1 7 9 10 XOR\n";
/// The number of mallory's inputs, of one bit each.
const INPUTS: usize = 3;
const BATCHES: usize = 3;
const INSTANCES: usize = 64;

/// The copy that the client changes. It belongs to party `to`, and is of the party's own component
/// or of the next one.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// The copy in the explicit share of this batch.
    Batch(usize, usize, bool),
    /// The copy in the seed from which the others grow.
    Seed(usize, bool),
}

fn world(threads: usize) -> World {
    let job = format!(
        "protocol = \"rep3\"\ncircuit-file = \"zero.txt\"\ninstances = {}\n\
         [[inputs]]\nfrom = \"client:mallory\"\n[[inputs]]\nfrom = \"client:mallory\"\n\
         [[inputs]]\nfrom = \"client:mallory\"\n[[inputs]]\nfrom = \"client:bob\"\n\
         [[outputs]]\nto = [\"client:mallory\", \"client:bob\", \"party0\", \"party1\", \"party2\"]\n\
         [parameters]\nbatch = {INSTANCES}\nthreads = {threads}\nlanes = 2\n",
        BATCHES * INSTANCES
    );
    World::of(&job, &[("zero.txt", CIRCUIT)])
}

/// The messages to the test's own client: each party's share of each batch, in order, to the end.
struct Heard {
    opened: Vec<[Option<Vec<u8>>; 3]>,
}

fn mallory(world: &World, config: &MemberConfig) -> Result<Net, NetError> {
    let peer = |i: usize| PeerConfig {
        id: PartyId(i as u8),
        address: config
            .peers
            .iter()
            .find(|p| p.member == Member::Party(i as u8))
            .and_then(|p| p.address.clone()),
        pin: config.peers.iter().find(|p| p.member == Member::Party(i as u8)).expect("a pin").pin,
    };
    let me = Member::Client("mallory".into()).id(&world.plan.clients).expect("an id");
    let session = SessionConfig {
        job_digest: world.plan.agreement().tags(),
        params: world.plan.agreement().digest(),
        client_lanes: world.plan.threads,
        ..SessionConfig::new(me, config.session, (0..3).map(peer).collect(), config.transport)
    };
    connect(&session, &config.identity, None)
}

impl Heard {
    /// Shares random inputs with `lie` in them, and listens to every party to the end.
    fn of(world: &World, config: &MemberConfig, lie: Option<Lie>) -> Self {
        let mut net = mallory(world, config).expect("a session");
        let plane = planes::plane_bytes(INSTANCES);
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([9; 16]), "mallory");
        let threads = world.plan.threads;
        let mut to: Vec<[_; 3]> = (0..threads)
            .map(|t| [0, 1, 2].map(|p| net.channel(t, Some(PartyId(p)), None).expect("a channel")))
            .collect();
        let mut from: Vec<[_; 3]> = (0..threads)
            .map(|t| [0, 1, 2].map(|p| net.channel(t, None, Some(PartyId(p))).expect("a channel")))
            .collect();
        let mut seeds = [[0; 16]; 3];
        seeds.iter_mut().for_each(|seed| prg.fill(seed));
        for party in 0..3 {
            let mut pair = [seeds[party], seeds[(party + 1) % 3]];
            if let Some(Lie::Seed(liar, next)) = lie
                && liar == party
            {
                pair[usize::from(next)][15] ^= 1;
            }
            // Once the parties know of the deviation, they do not listen any more.
            let _ = to[0][party].send("sharing inputs", &pair.concat());
        }
        for b in 0..BATCHES {
            let mut messages = [vec![], vec![], vec![]];
            for i in 0..INPUTS {
                let mut share = vec![0; plane];
                prg.fill(&mut share);
                let component = (b + i) % 3;
                for (party, is_next) in [(component, false), ((component + 2) % 3, true)] {
                    let mut copy = share.clone();
                    if let Some(Lie::Batch(batch, liar, next)) = lie
                        && (batch, liar, next) == (b, party, is_next)
                    {
                        copy[plane - 1] ^= 0x80;
                    }
                    messages[party].extend(copy);
                }
            }
            for (party, message) in messages.iter().enumerate() {
                let _ = to[b % usize::from(threads)][party].send("sharing inputs", message);
            }
        }
        let mut hear = |b: usize, party: usize| {
            let mut share = vec![0; plane];
            let channel: &mut hushwire_machine::Channel = &mut from[b % usize::from(threads)][party];
            channel.recv("receiving outputs", &mut share).ok().map(|()| share)
        };
        Self { opened: (0..BATCHES).map(|b| [0, 1, 2].map(|party| hear(b, party))).collect() }
    }
}

/// Runs the job with `lie` in mallory's shares. Returns the errors of all other members, and the
/// messages to mallory.
fn play(threads: usize, lie: Option<Lie>) -> (World, Vec<(Member, String)>, Heard) {
    let world = world(threads);
    fs::write(world.at("bob"), noise(5, BATCHES * INSTANCES).iter().map(|b| b & 1).collect::<Vec<_>>())
        .expect("a file");
    let mut configs = world.configs(|world, member, config| {
        if member.key() == "client:bob" {
            config.inputs.insert("3".into(), InputPlace::File(world.at("bob")));
        }
        let out = world.at(&format!("out-{}", member.key()));
        config.outputs.insert("0".into(), OutputPlace::File(out));
    });
    let at = configs.iter().position(|(m, _)| m.key() == "client:mallory").expect("she takes part");
    let (_, config) = configs.remove(at);
    let (ended, heard) = thread::scope(|scope| {
        let running: Vec<_> = configs
            .into_iter()
            .map(|(member, config)| {
                let prepared = world.prepared.clone();
                let observer: Observer = Arc::new(|_| {});
                (member, scope.spawn(move || run(&prepared, config, &observer)))
            })
            .collect();
        let heard = Heard::of(&world, &config, lie);
        let said = running.into_iter().map(|(member, thread)| {
            let outcome = thread.join().expect("no panic");
            (member, outcome.err().map(|e| e.to_string()).unwrap_or_default())
        });
        (said.collect(), heard)
    });
    (world, ended, heard)
}

#[test]
fn honest_shares_are_opened() {
    for threads in [1, 2] {
        let (_, ended, heard) = play(threads, None);
        for shares in &heard.opened {
            let [Some(a), Some(b), Some(c)] = shares else { panic!("not everything was opened") };
            assert!(a.iter().zip(b).zip(c).all(|((a, b), c)| a ^ b ^ c == 0), "the circuit is 0");
        }
        // Mallory never confirms that she is done, so the others keep nothing; but no member says
        // that she deviates.
        assert!(ended.iter().all(|(_, said)| !said.contains("different shares")), "{ended:?}");
    }
}

/// Every copy of every component in every batch, and every seed.
#[test]
fn a_client_that_gives_two_parties_different_shares_is_named_and_nothing_is_opened() {
    let copies = || (0..3).flat_map(|party| [(party, false), (party, true)]);
    let batches = (0..BATCHES).flat_map(|b| copies().map(move |(party, next)| Lie::Batch(b, party, next)));
    let seeds = copies().map(|(party, next)| Lie::Seed(party, next));
    for (n, lie) in batches.chain(seeds).enumerate() {
        let threads = 1 + n % 2;
        let (world, ended, heard) = play(threads, Some(lie));
        let first = if let Lie::Batch(b, ..) = lie { b } else { 0 };
        for (b, shares) in heard.opened.iter().enumerate() {
            // No party opens anything; a party's errors would otherwise reach a recipient that
            // colludes with it.
            assert!(
                b < first || b % threads != first % threads || shares.iter().all(Option::is_none),
                "{lie:?}: batch {b}"
            );
        }
        let mut whole = 0;
        for (member, said) in &ended {
            assert!(said.contains("client mallory"), "{lie:?}: {member} says {said}");
            assert!(
                said.starts_with(&member.to_string()) && said.contains("comparing shares of inputs"),
                "{said}"
            );
            whole += usize::from(said.contains("different shares of the same inputs"));
            let out = world.at(&format!("out-{}", member.key()));
            assert!(!out.exists(), "{lie:?}: {member} kept an output");
        }
        assert!(whole > 0, "{lie:?}: nobody says what was wrong: {ended:?}");
    }
}
