//! Compares the bytes of every protocol on the wire with the file of digests.

use crate::{
    CircuitProtocol, Method, PsiSide, PsiTerms, Reveal, Store, circuit, intersect,
    oprf::{Budget, ListKey, answer, ask},
    plain::{Digester, ItemDigest, Parameters, Payloads, Receiver, Sender},
    random::seeded,
};
use hushwire_aes::Backend;
use hushwire_machine::{
    Channel, PartyId,
    drive::{Machine, Wiring},
    inproc,
};
use hushwire_ot::{Context, Level, Sid};
use hushwire_prg::Seed;
use hushwire_testkit::{Digests, Trace};
use std::{thread, time::Duration};

fn seed(party: u8) -> Seed {
    Seed::from_bytes([1 + party; 16])
}

/// Runs both parties over a channel, each on a thread that draws from a seed.
fn both(trace: &Trace, a: impl FnOnce(&mut Channel) + Send, b: impl FnOnce(&mut Channel) + Send) {
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
    let mut channel = |me: usize| {
        let mut channel = nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("a channel");
        channel.tap(trace.tap(me));
        channel
    };
    let [mut to_b, mut to_a] = [channel(0), channel(1)];
    thread::scope(|scope| {
        scope.spawn(move || {
            seeded::begin(&seed(0));
            a(&mut to_b);
        });
        scope.spawn(move || {
            seeded::begin(&seed(1));
            b(&mut to_a);
        });
    });
}

fn context(backend: Backend) -> Context {
    Context { sid: Sid([7; 32]), backend }
}

fn digests(items: std::ops::Range<u64>) -> Vec<ItemDigest> {
    let digester = Digester::new(&Sid([7; 32]));
    items.map(|item| digester.digest(&item.to_le_bytes())).collect()
}

fn plain(backend: Backend, parameters: &Parameters) -> Trace {
    let (context, trace) = (context(backend), Trace::new());
    let mut payloads = Payloads::new(parameters.payload_bytes, parameters.sender_items);
    if parameters.payload_bytes > 0 {
        (0..parameters.sender_items).for_each(|i| payloads.push(&[i as u8; 7]));
    }
    let mut receiver = Receiver::new(&context, parameters, digests(0..300), &seed(0)).expect("so many items");
    let sender = Sender::with_payloads(&context, parameters, digests(250..450), payloads, &seed(1));
    let mut sender = sender.expect("so many items");
    let mut both: [&mut dyn Machine<Error = crate::PsiError>; 2] = [&mut receiver, &mut sender];
    trace.run(Wiring::Ring, &mut both);
    trace
}

fn by_oprf(all: &mut Digests) {
    for (level, security) in [("semi-honest", Level::SemiHonest), ("malicious", Level::Malicious)] {
        for store in Store::ALL {
            for (what, both_learn, payload_bytes) in
                [("receiver", false, 0), ("both", true, 0), ("payloads", false, 7)]
            {
                let (receiver_items, sender_items) = (300, 200);
                let parameters =
                    Parameters { receiver_items, sender_items, security, both_learn, payload_bytes, store };
                let trace = plain(Backend::best(), &parameters);
                assert_eq!(plain(Backend::all()[0], &parameters), trace);
                all.ran(&format!("psi/plain/{level}/{store}/{what}"), &trace);
            }
        }
    }
}

fn by_opprf(all: &mut Digests) {
    for (what, reveal) in
        [("size", circuit::Reveal::Size), ("flags", circuit::Reveal::Flags), ("sum", circuit::Reveal::Sum)]
    {
        let parameters =
            circuit::Parameters { receiver_items: 300, sender_items: 200, reveal, store: Store::Clustered };
        let run = |backend: Backend| {
            let (context, trace) = (context(backend), Trace::new());
            both(
                &trace,
                |channel| {
                    let numbers: Vec<u64> = (0..300).map(|i| i * i).collect();
                    let own = digests(0..300);
                    let heard = circuit::receive(
                        channel,
                        &context,
                        &parameters,
                        &own,
                        &numbers,
                        &seed(0),
                        &mut |_, _| {},
                    );
                    heard.expect("an honest run");
                },
                |channel| {
                    let own = digests(250..450);
                    let sent = circuit::send(channel, &context, &parameters, &own, &seed(1), &mut |_, _| {});
                    sent.expect("an honest run");
                },
            );
            trace
        };
        let trace = run(Backend::best());
        assert_eq!(run(Backend::all()[0]), trace);
        all.ran(&format!("psi/circuit/{what}"), &trace);
    }
}

fn by_circuits(all: &mut Digests) {
    for reveal in [Reveal::Size, Reveal::Items, Reveal::Flags] {
        for method in [Method::Scs, Method::Phasing] {
            for protocol in [CircuitProtocol::Yao, CircuitProtocol::Gmw] {
                let terms = PsiTerms { circuit: Some(method), protocol, ..PsiTerms::new(reveal) };
                let trace = Trace::new();
                let side = |side: PsiSide, keys: std::ops::Range<u32>| {
                    move |channel: &mut Channel| {
                        let keys: Vec<String> = keys.map(|i| format!("customer {i}")).collect();
                        intersect(channel, side, &keys, &terms, Backend::best(), &mut |_, _| {})
                            .expect("an honest run");
                    }
                };
                both(&trace, side(PsiSide::A, 0..20), side(PsiSide::B, 12..40));
                all.ran(&format!("psi/{method}/{protocol}/{reveal}"), &trace);
            }
        }
    }
}

/// A budget that answers everything.
struct Endless;

impl Budget for Endless {
    fn take(&self, _: u64) -> Result<(), u64> {
        Ok(())
    }

    fn give_back(&self, _: u64) {}
}

fn queries(all: &mut Digests) {
    let trace = Trace::new();
    let items = [1u8, 2, 3].map(|i| crate::oprf::digest(&[i]));
    both(
        &trace,
        |channel| drop(ask(channel, &items).expect("an honest owner").expect("few items")),
        |channel| {
            let key = ListKey::draw().expect("it draws from a seed");
            assert_eq!(answer(channel, &key, 9, &Endless).expect("an honest asker"), Ok(3));
        },
    );
    all.ran("psi/oprf/query", &trace);
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("psi");
    by_oprf(&mut all);
    by_opprf(&mut all);
    by_circuits(&mut all);
    queries(&mut all);
    all.compare();
}
