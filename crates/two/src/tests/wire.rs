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
use hushwire_testkit::{Digests, Trace, suite::PLANS};
use std::thread;

/// A plan that three parties do not have: their product is one message.
const PRODUCT: (&str, &str) =
    ("product", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = wrapping(x * y) to m");

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
    for (name, body) in PLANS.into_iter().chain([PRODUCT]) {
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
