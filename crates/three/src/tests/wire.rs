//! The bytes of plans on the wire, by the file of digests.

use super::{given, text};
use crate::{Cut, Plan, run::run, test_support::shared};
use hushwire_aes::Backend;
use hushwire_machine::{Channel, SessionId};
use hushwire_prg::Seed;
use hushwire_rep3::Party;
use hushwire_testkit::{Digests, Trace, Transport, prg, run_three};

/// Inputs of parties, and what is computed of them.
const PLANS: [(&str, &str); 8] = [
    ("comparison", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = x < y to m"),
    ("equality", "input x: u20[50] from m\ninput y: u20[50] from m\noutput a = x == y to m"),
    ("relu", "input x: i37[50] from m\ninput y: i37[50] from m\noutput a = max(x + y, 0) to m"),
    (
        "truncation",
        "input x: fixed(37, 6)[50] from m\ninput y: fixed(37, 6)[50] from m\n\
         output a = rescale(wrapping(x) * wrapping(y), 6) to m",
    ),
    (
        "convolution",
        "input x: fixed(37, 6)[1, 2, 6, 6] from m\ninput w: fixed(37, 6)[3, 2, 3, 3] from m\n\
         y = rescale(conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1]), 6)\nz = max(y, 0)\n\
         p = pool_max(z, [2, 2], stride=[2, 2])\noutput best = argmax(reshape(p, [27])) to m",
    ),
    (
        "matmul",
        "input x: i24[4, 7] from m\ninput y: i24[7, 3] from m\noutput a = wrapping(matmul(x, y)) to m",
    ),
    (
        "sort",
        "input x: i37[90] from m\ninput y: i37[90] from m\np = x + y\no = order(p)\n\
         output a = permute(y, o) to m",
    ),
    (
        "rows",
        "input x: u8[60] from m\ninput y: u8[60] from m\nf = x < y\n\
         output a = compact(f, x, rows=40) to m\noutput b = sum(select(f, x, y)) / 3 to m\n\
         output c = reveal(max_of(x)) + y to m",
    ),
];

/// A set-up and two runs on both rings of a lane.
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
        let mut party = Party::open(role, backend, id, seed, &mut lane[1]).unwrap();
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
