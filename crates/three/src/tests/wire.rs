//! The bytes of plans on the wire, compared with the file of digests.

use super::{given, text};
use crate::{Cut, Plan, run::run, test_support::shared};
use hushwire_aes::Backend;
use hushwire_machine::{Channel, SessionId};
use hushwire_prg::Seed;
use hushwire_rep3::Rep3Party;
use hushwire_testkit::{Digests, Trace, Transport, prg, run_three, suite::PLANS};

/// A set-up and two runs, on both rings of a lane.
fn trace(backend: Backend, body: &str) -> Trace {
    let c = text(body);
    let (plan, values) = (Plan::new(&c).unwrap(), given(&c, 0));
    let mut prg = prg(3, "inputs");
    let inputs = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = inputs.map(|((name, _), door)| shared(&mut prg, &values[name], *door)).collect();
    let trace = Trace::new();
    run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut lane: [Channel; 2] = [(left, right), (right, left)].map(|(to, from)| {
            let mut channel = net.channel(0, to, from).unwrap();
            channel.tap(trace.tap(role.index()));
            channel
        });
        let (id, seed) = (SessionId([3; 16]), Seed::from_bytes([role.index() as u8; 16]));
        let mut party = Rep3Party::open(role, backend, id, seed, &mut lane[1]).unwrap();
        for _ in 0..2 {
            let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
            let lanes = vec![lane.each_mut()];
            run(&mut party, lanes, &plan, Cut::whole(), inputs, &mut |_, _| true).unwrap();
        }
    });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("three");
    for (name, body) in PLANS {
        all.run(&format!("three/{name}"), |backend| trace(backend, body));
    }
    all.compare();
}
