//! Pins greetings and notices without TLS in the file of digests.

use crate::{
    hello::{Flow, GreetingRole, Hello, tests::hello},
    notice::{Notice, StepName, reason_of},
    roster::Nonce,
};
use hushwire_machine::{Excuse, PartyId, Reason, SessionId};
use hushwire_testkit::{Digests, Trace};

fn hellos() -> Trace {
    let hello = hello();
    let answer = Hello {
        from: PartyId(2),
        to: PartyId(1),
        role: GreetingRole::Listener,
        flow: Flow::FromListener,
        shm: true,
        full: true,
        nonce: Nonce([7; 16]),
        ..hello.clone()
    };
    let excuse =
        Hello { ends: Some(Reason::Local(Excuse::Reading)), of: Some(PartyId(130)), ..hello.clone() };
    let trace = Trace::new();
    for (who, hello) in [("dialer", &hello), ("listener", &answer), ("dialer", &excuse)] {
        trace.hear(who, 0, &hello.encode());
    }
    trace
}

fn notices() -> Trace {
    let trace = Trace::new();
    let say = |notice: Notice| trace.hear("party", 0, &notice.encode());
    for code in 0..=u8::MAX {
        if let Some(why) = reason_of(code) {
            say(Notice::Abort { culprit: PartyId(2), why, step: StepName::new("layer 3") });
        }
    }
    say(Notice::Alive(None));
    say(Notice::Alive(Some((PartyId(1), StepName::new("x")))));
    say(Notice::Goodbye);
    say(Notice::Joined(SessionId([0x9b; 16])));
    say(Notice::Comes { done: 3, of: 0x0102 });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("wire");
    all.ran("wire/hello", &hellos());
    all.ran("wire/notice", &notices());
    all.compare();
}
