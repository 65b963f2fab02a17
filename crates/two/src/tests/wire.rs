//! The bytes of plans on the wire, compared with the file of digests.

use super::{
    random::{plan_of, text},
    session::{links, own, sessions_over},
};
use hushwire_aes::Backend;
use hushwire_compute::test_support::inputs;
use hushwire_ot::Protocol;
use hushwire_testkit::{Digests, Trace, suite::PLANS};

/// A plan that three parties do not have: their product takes one message.
const PRODUCT: (&str, &str) =
    ("product", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = wrapping(x * y) to m");

/// A set-up and two runs, with all messages of both parties on both lanes.
fn trace(backend: Backend, body: &str, ot: Protocol, ahead: bool) -> Trace {
    let c = text(body);
    let (plan, owners) = plan_of(&c, 1).expect("a plan");
    let (given, trace) = (inputs(&c, 3, 0), Trace::new());
    let mut links = links();
    for (i, link) in links.iter_mut().enumerate() {
        link.iter_mut().for_each(|channel| channel.tap(trace.tap(i)));
    }
    sessions_over(links, backend, ot, |i, party, channel| {
        let mut party = party.ahead(ahead);
        for _ in 0..2 {
            let ran = party.run(channel, &plan, own(&c, &given, &owners, i), &mut |_, _| true);
            ran.expect("an honest run");
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
    // OTs that are made ahead arrive in other portions.
    let (name, body) = PLANS[2];
    for ot in [Protocol::SoftSpoken4, Protocol::FerretB10] {
        let made = trace(Backend::best(), body, ot, true);
        all.ran(&format!("two/{name}/{ot}/ahead"), &made);
    }
    all.compare();
}
