//! Two parties as threads, and their expected outputs.

use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_circuit::{Planes, Program, TwoParty, eval, planes};
use hushwire_gmw::{GmwError, GmwParty};
use hushwire_machine::{Channel, MeterReading, PartyId, inproc};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};
use std::{thread, time::Duration};

pub(crate) const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

pub(crate) fn context(backend: Backend) -> Context {
    Context { sid: Sid([7; 32]), backend }
}

/// Runs `party` for both on threads, over queues in memory.
pub(crate) fn both<T: Send>(party: impl Fn(usize, &mut Channel) -> T + Sync) -> [T; 2] {
    both_capped(usize::MAX, party)
}

/// The same, with at most `capacity` bytes in each queue.
pub(crate) fn both_capped<T: Send>(
    capacity: usize,
    party: impl Fn(usize, &mut Channel) -> T + Sync,
) -> [T; 2] {
    let nets = inproc::mesh_capped(&IDS, 1, Duration::from_secs(60), capacity);
    let party = &party;
    let _watch = registry::watch();
    let results: Vec<T> = thread::scope(|scope| {
        let nets = nets.into_iter().enumerate();
        let threads: Vec<_> = nets
            .map(|(i, mut net)| {
                let end = registry::here().end(i);
                scope.spawn(move || {
                    let _end = end.enter();
                    let peer = Some(IDS[1 - i]);
                    let mut channel = net.channel(0, peer, peer).expect("the lane is there");
                    party(i, &mut channel)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("the party ends")).collect()
    });
    results.try_into().ok().expect("two parties")
}

pub(crate) fn open(channel: &mut Channel, index: usize, backend: Backend) -> Result<GmwParty, GmwError> {
    let seed = Seed::from_bytes([index as u8 + 1; 16]);
    GmwParty::open(channel, index, &context(backend), Protocol::SoftSpoken4, &seed)
}

/// Planes of all inputs.
pub(crate) fn random_inputs(program: &Program, instances: usize, seed: u8) -> Planes {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "inputs");
    let value = |width: &usize| {
        let mut value = vec![0; planes::value_bytes(*width) * instances];
        prg.fill(&mut value);
        Planes::pack(&value, *width, instances)
    };
    Planes::join(instances, program.inputs().iter().map(value))
}

/// A party's own inputs.
pub(crate) fn own(program: &Program, roles: &TwoParty, index: usize, all: &Planes) -> Planes {
    all.select(program.inputs(), |i| roles.owners[i] == index)
}

/// The outputs that a party learns, from plain evaluation.
pub(crate) fn plain(program: &Program, roles: &TwoParty, index: usize, all: &Planes) -> Planes {
    let outputs = eval::eval(program, all).expect("inputs fit");
    outputs.select(program.outputs(), |j| roles.learns[j][index])
}

/// The parties own the inputs in turn, and both learn everything.
pub(crate) fn roles(program: &Program) -> TwoParty {
    let owners = (0..program.inputs().len()).map(|i| i % 2).collect();
    TwoParty::new(program, owners, vec![[true; 2]; program.outputs().len()])
}

/// Runs a program on random inputs, and compares the outputs; returns each party's cost without the
/// set-up.
pub(crate) fn check(
    backend: Backend,
    program: &Program,
    roles: &TwoParty,
    instances: usize,
) -> [MeterReading; 2] {
    let all = random_inputs(program, instances, instances as u8);
    both(|i, channel| {
        let mut party = open(channel, i, backend).expect("a set-up");
        let meter = hushwire_machine::Meter::new();
        channel.tap(meter.tap());
        let inputs = own(program, roles, i, &all);
        let learnt = party.run(channel, program, roles, &inputs).expect("an honest run");
        assert!(learnt == plain(program, roles, i, &all), "{} × {instances}", program.name());
        meter.reading()
    })
}
