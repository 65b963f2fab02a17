//! The bytes of plans on the wire, by the file of digests.

use super::{
    random::{plan_of, text},
    session::{links, own},
};
use crate::Party;
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_compute::test_support::inputs;
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use hushwire_testkit::{Digests, Trace};
use std::thread;

/// Inputs of both parties, and what is computed of them.
const PLANS: [(&str, &str); 9] = [
    ("comparison", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = x < y to m"),
    ("equality", "input x: u20[50] from m\ninput y: u20[50] from m\noutput a = x == y to m"),
    ("relu", "input x: i37[50] from m\ninput y: i37[50] from m\noutput a = max(x + y, 0) to m"),
    ("product", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = wrapping(x * y) to m"),
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
         output a = compact(f, x, rows=40) to m\noutput b = sum(select(f, x, y)) / 3 to m",
    ),
];

/// A set-up and two runs, with all that both parties say on both lanes.
fn trace(backend: Backend, body: &str, ot: Protocol, ahead: bool) -> Trace {
    let c = text(body);
    let (plan, owners) = plan_of(&c, 1).expect("a plan");
    let (given, trace) = (inputs(&c, 3, 0), Trace::new());
    let _watch = registry::watch();
    thread::scope(|scope| {
        for (i, [mut channel, mut ots]) in links().into_iter().enumerate() {
            for channel in [&mut channel, &mut ots] {
                channel.tap(trace.tap(i));
            }
            let (plan, given, owners, c, end) = (&plan, &given, &owners, &c, registry::here().end(i));
            scope.spawn(move || {
                let _end = end.enter();
                let context = Context { sid: Sid([9; 32]), backend };
                let seed = Seed::from_bytes([i as u8 + 1; 16]);
                let mut party = Party::open(ots, i, &context, ot, &seed).expect("a set-up").ahead(ahead);
                for _ in 0..2 {
                    let ran = party.run(&mut channel, plan, own(c, given, owners, i), &mut |_, _| true);
                    ran.expect("an honest run");
                }
            });
        }
    });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("two");
    for (name, body) in PLANS {
        let run = |backend, ahead| trace(backend, body, Protocol::SoftSpoken4, ahead);
        let made = run(Backend::best(), false);
        assert_eq!(run(Backend::all()[0], false), made, "{name}");
        all.ran(&format!("two/{name}"), &made);
    }
    // OTs that are made ahead come in other portions.
    let (name, body) = PLANS[2];
    for ot in [Protocol::SoftSpoken4, Protocol::FerretB10] {
        let made = trace(Backend::best(), body, ot, true);
        all.ran(&format!("two/{name}/{ot}/ahead"), &made);
    }
    all.compare();
}
