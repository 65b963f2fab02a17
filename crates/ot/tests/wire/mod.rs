//! The bytes of every protocol on the wire equal those of the file of digests.

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_machine::drive::Wiring;
use hushwire_ot::{
    Context, Duplex, Machine, Malicious, Opening, OtError, Protocol, Receiver, Receiving, Security,
    SemiHonest, Sender, Sending, Sid, Triples,
    base::{BaseProtocol, ChouOrlandi, ChouOrlandi16, Csw, NaorPinkas},
    vole::{self, Field, Full128, Pair64},
};
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::{Digests, Trace};

fn context(backend: Backend) -> Context {
    Context { sid: Sid([7; 32]), backend }
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 16])
}

fn noise(len: usize, label: &str) -> Vec<u8> {
    let mut out = vec![0; len];
    Prg::new(Backend::best(), &seed(4), label).fill(&mut out);
    out
}

/// Runs both endpoints; party 0 is the sender if there is one.
fn run<'a>(
    trace: &Trace,
    zero: &'a mut dyn Machine<Error = OtError>,
    one: &'a mut dyn Machine<Error = OtError>,
) {
    trace.run(Wiring::Ring, &mut [zero, one]);
}

fn base<P: BaseProtocol>(all: &mut Digests) {
    let choices: Vec<bool> = noise(100, "choices").iter().map(|byte| byte & 1 == 1).collect();
    all.run(&format!("ot/base/{}", P::NAME), |backend| {
        let trace = Trace::new();
        let mut s = P::sender(&context(backend), choices.len(), &seed(1));
        run(&trace, &mut s, &mut P::receiver(&context(backend), choices.clone(), &seed(2)));
        trace
    });
}

/// Both endpoints of OTs after their set-up; `salt` distinguishes the runs of a test.
fn ends<S: Security>(
    trace: &Trace,
    backend: Backend,
    protocol: Protocol,
    salt: u8,
) -> (Sender<S>, Receiver<S>) {
    let context = context(backend).child("test", salt.into());
    let mut s = Opening::<S>::sender(&context, protocol, &seed(1 + salt)).expect("the level exists");
    let mut r = Opening::<S>::receiver(&context, protocol, &seed(2 + salt)).expect("the level exists");
    run(trace, &mut s, &mut r);
    (s.into_sender(), r.into_receiver())
}

/// Runs the set-up, every functionality, the first over more than a chunk, and the check.
fn functionalities<S: Security>(backend: Backend, protocol: Protocol) -> Trace {
    let trace = Trace::new();
    let (mut s, mut r) = ends::<S>(&trace, backend, protocol, 0);
    let mut call = |send: Sending<'_>, receive: Receiving<'_>| {
        let (mut send, mut receive) = (s.extend(send), r.extend(receive));
        run(&trace, &mut send, &mut receive);
        let _ = (send.finish(), receive.finish());
    };
    let (many, few) = (9000, 300);
    let choices = noise(few / 8 + 1, "choices");
    let (mut q, mut t) = (vec![Block::ZERO; many], vec![Block::ZERO; many]);
    let (mut pairs, mut drawn) = (vec![[Block::ZERO; 2]; few], choices.clone());
    call(Sending::Rcot(&mut q), Receiving::Rcot(&mut t));
    let t = &mut t[..few];
    call(Sending::Cot(&mut q[..few]), Receiving::Cot { choices: &choices, t });
    let send = Sending::Rot { pairs: &mut pairs, chosen: false };
    call(send, Receiving::Rot { choices: &mut drawn, messages: t });
    let send = Sending::Rot { pairs: &mut pairs, chosen: true };
    call(send, Receiving::RotChosen { choices: &choices, messages: t });
    call(Sending::Ot(&pairs), Receiving::Ot { choices: &choices, messages: t });
    let (zero, one) = (noise(choices.len(), "zero"), noise(choices.len(), "one"));
    let send = Sending::BitOt { messages: [&zero, &one], count: few };
    call(send, Receiving::BitOt { choices: &choices, messages: &mut drawn, count: few });
    run(&trace, &mut s.verify(), &mut r.verify());
    trace
}

/// Endpoints in both directions: triples, and calls at the same time.
fn both_directions<S: Security>(backend: Backend) -> Trace {
    let trace = Trace::new();
    let [(mut s0, mut r1), (mut s1, mut r0)] =
        [0, 10].map(|salt| ends::<S>(&trace, backend, Protocol::SoftSpoken4, salt));
    let mut zero = Triples::new(&mut s0, &mut r0, 1000, true);
    run(&trace, &mut zero, &mut Triples::new(&mut s1, &mut r1, 1000, false));
    let _ = zero.finish();
    let [mut q, mut t, mut p, mut u] = [(); 4].map(|()| vec![Block::ZERO; 1000]);
    let (a, b) = (s0.extend(Sending::Rcot(&mut q)), r0.extend(Receiving::Rcot(&mut t)));
    let (c, d) = (s1.extend(Sending::Rcot(&mut p)), r1.extend(Receiving::Rcot(&mut u)));
    run(&trace, &mut Duplex::new(a, b), &mut Duplex::new(d, c));
    trace
}

fn entries<S: Security, F: Field>(backend: Backend, count: usize) -> Trace {
    let trace = Trace::new();
    let mut s = vole::Sender::<S, F>::new(&context(backend), count, &seed(1)).expect("the level exists");
    let mut r = vole::Receiver::<S, F>::new(&context(backend), count, &seed(2)).expect("the level exists");
    run(&trace, &mut s, &mut r);
    trace
}

/// Runs slow cases on the fastest backend and the slowest.
fn on_two(all: &mut Digests, name: &str, run: impl Fn(Backend) -> Trace) {
    let trace = run(Backend::best());
    assert_eq!(run(Backend::all()[0]), trace, "{name}");
    all.ran(name, &trace);
}

fn at<S: Security>(all: &mut Digests) {
    let level = S::LEVEL.name();
    for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.supports(S::LEVEL)) {
        let name = format!("ot/{protocol}/{level}");
        if protocol.name().starts_with("ferret") {
            // Ferret takes longest; its own tests compare backends.
            all.ran(&name, &functionalities::<S>(Backend::best(), protocol));
        } else {
            all.run(&name, |backend| functionalities::<S>(backend, protocol));
        }
    }
    on_two(all, &format!("ot/triples/{level}"), both_directions::<S>);
    on_two(all, &format!("ot/vole-pair64/{level}"), |backend| entries::<S, Pair64>(backend, 1000));
    on_two(all, &format!("ot/vole-full128/{level}"), |backend| entries::<S, Full128>(backend, 1000));
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("ot");
    base::<NaorPinkas>(&mut all);
    base::<ChouOrlandi>(&mut all);
    base::<ChouOrlandi16>(&mut all);
    base::<Csw>(&mut all);
    at::<SemiHonest>(&mut all);
    at::<Malicious>(&mut all);
    all.compare();
}
