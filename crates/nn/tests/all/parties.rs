//! Runs a computation among three parties, and between two.

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Output, Tensor};
use hushwire_machine::{Net, PartyId, Tap, inproc};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::{Transport, party, run_three};
use hushwire_three::{
    Cut, Plan, run,
    test_support::{opened, shared},
};
use hushwire_two::ArithmeticParty;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Values by their names.
pub(crate) type Values = BTreeMap<String, Tensor>;

/// The lengths of all messages that a party sends, with the recipient and the lane.
#[derive(Clone, Default)]
struct Lengths(Arc<Mutex<Vec<(u8, u16, usize)>>>);

impl Lengths {
    fn all(&self) -> Vec<(u8, u16, usize)> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap for Lengths {
    fn outgoing(&mut self, to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().push((to.0, lane, msg.len()));
        None
    }
    fn incoming(&mut self, _from: PartyId, _lane: u16, _msg: &mut [u8]) {}
}

/// Lengths of messages in order: a list for each party that sends them.
pub(crate) type Said<const N: usize> = [Vec<usize>; N];

/// Runs a computation among three parties. Returns the outputs, and the lengths of each party's
/// messages.
pub(crate) fn three(c: &Computation, inputs: &Values) -> (Values, Said<3>) {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = doors.map(|((name, _), door)| shared(&mut prg, &inputs[name], *door)).collect();
    let lengths: [Lengths; 3] = Default::default();
    let made = run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut ring = net.channel(0, left, right).unwrap();
        let mut back = net.channel(0, right, left).unwrap();
        for channel in [&mut ring, &mut back] {
            channel.tap(Box::new(lengths[role.index()].clone()));
        }
        let mut party = party(1, role, Backend::best());
        let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
        run(&mut party, vec![[&mut ring, &mut back]], &plan, Cut::whole(), inputs, &mut |_, _| true).unwrap()
    });
    let tensor = |(k, (output, door)): (usize, (&Output, _))| {
        let shares = [0, 1, 2].map(|p| &made[p][k]);
        (output.name.clone(), opened(shares, door, &c.node(output.value).ty))
    };
    let outputs = c.outputs().iter().zip(plan.outputs()).enumerate().map(tensor).collect();
    let to_one = |(to, _, len): (u8, u16, usize)| 4 * len + usize::from(to);
    (outputs, lengths.map(|lengths| lengths.all().into_iter().map(to_one).collect()))
}

/// Runs a computation between two parties; the second learns all outputs. Returns these, and the
/// lengths of each party's messages on each lane. `owners` has the party that brings each input.
pub(crate) fn two(
    c: &Computation,
    plan: &hushwire_two::Plan,
    inputs: &Values,
    owners: &[usize],
    ahead: bool,
) -> (Values, [Said<2>; 2]) {
    const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];
    let own = |i: usize| -> Vec<Tensor> {
        let all = c.inputs().zip(owners).filter(|(_, owner)| **owner == i);
        all.map(|((name, _), _)| inputs[name].clone()).collect()
    };
    let lengths: [Lengths; 2] = Default::default();
    let nets = inproc::mesh_capped(&IDS, 2, Duration::from_secs(600), usize::MAX);
    let (own, taps) = (&own, &lengths);
    let made: Vec<Vec<Tensor>> = thread::scope(|scope| {
        let party = |(i, mut net): (usize, Net)| {
            scope.spawn(move || {
                let peer = Some(IDS[1 - i]);
                let [mut channel, mut ots] = [0, 1].map(|lane| net.channel(lane, peer, peer).unwrap());
                for channel in [&mut channel, &mut ots] {
                    channel.tap(Box::new(taps[i].clone()));
                }
                let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
                let seed = Seed::from_bytes([i as u8 + 1; 16]);
                let party = ArithmeticParty::open(ots, i, &context, Protocol::SoftSpoken2, &seed).unwrap();
                party.threads(2).ahead(ahead).run(&mut channel, plan, own(i), &mut |_, _| true).unwrap()
            })
        };
        let threads: Vec<_> = nets.into_iter().enumerate().map(party).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(made[0].is_empty(), "the first learns nothing");
    let outputs = c.outputs().iter().map(|output| output.name.clone()).zip(made[1].iter().cloned());
    let on = |lengths: &Lengths, lane: u16| {
        lengths.all().into_iter().filter(|(_, l, _)| *l == lane).map(|(.., len)| len).collect::<Vec<_>>()
    };
    (outputs.collect(), lengths.map(|lengths| [0, 1].map(|lane| on(&lengths, lane))))
}
