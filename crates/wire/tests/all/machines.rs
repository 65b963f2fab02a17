//! One machine under every driver: the result is the same, whatever moves its messages.

use crate::common::{Over, STALL, each, ok};
use hushwire_machine::{
    Channel, Cost, Edit, Meter, Net, NetError, PartyId, Record, Replay, Tamper,
    drive::{Driver, Exchanged, Lane, Lockstep, Machine, Place, Round, Wiring},
};

const ROUNDS: usize = 4;

/// A machine by which parties exchange what they know. The final knowledge depends on every
/// message, its sender and its time.
#[derive(Clone, Debug, PartialEq)]
struct Gossip {
    me: usize,
    peers: usize,
    /// The number of bytes of the longest message.
    long: usize,
    round: usize,
    knows: u64,
    /// Whether one call takes a round's messages and makes those of the next round.
    fused: bool,
}

#[derive(Debug)]
enum Error {
    Length,
    Net,
}

impl From<NetError> for Error {
    fn from(_: NetError) -> Self {
        Error::Net
    }
}

impl Gossip {
    fn new(me: usize, peers: usize, long: usize, fused: bool) -> Self {
        Gossip { me, peers, long, round: 0, knows: me as u64 + 1, fused }
    }

    /// Every pair has its own length in every round. Party 0 sends nothing in round 1.
    fn bytes(&self, from: usize, to: usize, round: usize) -> usize {
        if from == 0 && round == 1 { 0 } else { self.long / (1 + from + 2 * to + 3 * round) }
    }

    fn peer(&self, slot: usize) -> usize {
        slot + usize::from(slot >= self.me)
    }

    fn at(&self, slot: usize, round: usize) -> Option<Round> {
        let (me, peer) = (self.me, self.peer(slot));
        let (out, into) = (self.bytes(me, peer, round), self.bytes(peer, me, round));
        (round < ROUNDS).then_some(Round { name: "gossip", out, into })
    }

    fn say(&self, slot: usize, out: &mut [u8]) {
        let first = self.knows.wrapping_mul(2 * slot as u64 + 1).wrapping_add(self.round as u64);
        out.iter_mut().enumerate().for_each(|(i, byte)| *byte = (first >> (i % 57)) as u8);
    }

    fn take(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Error> {
        assert_eq!(messages.len(), self.peers);
        for (slot, message) in messages.iter().enumerate() {
            if message.heard.len() != self.at(slot, self.round).map_or(0, |round| round.into) {
                return Err(Error::Length);
            }
            for byte in message.heard.iter().chain(message.own).chain(&[slot as u8]) {
                self.knows = self.knows.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*byte);
            }
        }
        self.round += 1;
        Ok(())
    }
}

impl Machine for Gossip {
    type Error = Error;

    fn slots(&self) -> usize {
        self.peers
    }
    fn round(&self, slot: usize) -> Option<Round> {
        self.at(slot, self.round)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Error> {
        self.say(slot, out);
        Ok(())
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Error> {
        assert!(!self.fused || self.round + 1 == ROUNDS, "a driver does not read where it may turn");
        self.take(messages)
    }
    fn upcoming(&self) -> Option<Round> {
        self.at(0, self.round + 1).filter(|_| self.fused)
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Error> {
        self.take(messages)?;
        self.say(0, out);
        Ok(())
    }
    fn cost(&self) -> Option<Cost> {
        let each = (0..ROUNDS).flat_map(|round| (0..self.peers).map(move |slot| (slot, round)));
        let bytes = each.filter_map(|(slot, round)| self.at(slot, round)).map(|round| round.out as u64).sum();
        Some(Cost { rounds: ROUNDS as u64, bytes_sent: bytes })
    }
}

fn all(n: usize, long: usize) -> Vec<Gossip> {
    // Every other party is fused; a peer cannot tell the difference.
    (0..n).map(|me| Gossip::new(me, n - 1, long, me % 2 == 0)).collect()
}

fn lockstep(mut parties: Vec<Gossip>) -> Vec<u64> {
    Lockstep::wired(Wiring::Mesh).run(&mut parties).unwrap_or_else(|e| panic!("{e:?}"));
    parties.iter().map(|party| party.knows).collect()
}

/// Opens a channel to each of `n - 1` peers, each on its own lane.
fn channels(net: &mut Net, n: u8) -> Vec<Channel> {
    let me = net.me().0;
    let to = |peer: u8| Some(PartyId(peer));
    (0..n).filter(|peer| *peer != me).map(|peer| ok(net.channel(0, to(peer), to(peer)))).collect()
}

#[test]
fn any_number_of_peers_in_lockstep_and_over_channels() {
    for n in [2, 3, 5, 11] {
        let alone: Vec<Gossip> = (0..n).map(|me| Gossip::new(me, n - 1, 1000, false)).collect();
        let told = lockstep(all(n, 1000));
        assert_eq!(told, lockstep(alone), "fused or not");
        let over = each(Over::Queues.nets(n as u8, 1, STALL, None), |mut net| {
            let me = usize::from(net.me().0);
            let mut lane = Lane::over(channels(&mut net, n as u8));
            // A lane can be used again.
            [0, 1].map(|_| lane.run(all(n, 1000).swap_remove(me)).map_or(0, |done| done.knows))
        });
        assert_eq!(over, told.iter().map(|knows| [*knows; 2]).collect::<Vec<_>>(), "{n} parties");
    }
}

#[test]
fn messages_longer_than_all_buffers_do_not_hang() {
    let told = lockstep(all(4, 1 << 20));
    for over in [Over::Queues, Over::Tcp] {
        let came = each(over.nets(4, 1, STALL, Some(4096)), |mut net| {
            let me = usize::from(net.me().0);
            let mut lane = Lane::over(channels(&mut net, 4));
            lane.run(all(4, 1 << 20).swap_remove(me)).map_or(0, |done| done.knows)
        });
        assert_eq!(came, told, "{over:?}");
    }
}

#[test]
fn a_caller_works_between_rounds_and_the_meter_counts_as_declared() {
    let told = lockstep(all(2, 100));
    let came = each(Over::Queues.nets(2, 1, STALL, None), |mut net| {
        let me = usize::from(net.me().0);
        let mut channels = channels(&mut net, 2);
        let mut machine = all(2, 100).swap_remove(me);
        let (mut driver, meter, mut between) = (Driver::new(), Meter::new(), 0);
        channels[0].tap(meter.tap());
        let declared = machine.cost();
        let mut run = driver.begin(&mut machine);
        while run.step(&mut channels).unwrap_or_else(|e| panic!("{e:?}")) {
            // The channel is idle.
            let mut theirs = [0];
            ok(channels[0].exchange("between", &[run.machine().round as u8], &mut theirs));
            between += usize::from(usize::from(theirs[0]) == run.machine().round);
        }
        assert_eq!(between, ROUNDS);
        let spent = Cost { rounds: 2 * ROUNDS as u64, bytes_sent: meter.reading().bytes_sent() };
        assert_eq!(meter.reading().cost(), spent);
        assert_eq!(declared.map(|cost| cost.bytes_sent + ROUNDS as u64), Some(spent.bytes_sent));
        // Bytes that remain from a run that was given up are not part of the next run.
        let mut again = all(2, 100).swap_remove(me);
        assert!(driver.begin(&mut all(2, 100).swap_remove(me)).step(&mut channels).is_ok());
        driver.run(&mut channels[0], &mut again).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(again, machine);
        machine.knows
    });
    assert_eq!(came, told);
}

#[test]
fn a_recorded_machine_runs_again_alone() {
    let came = each(Over::Queues.nets(3, 1, STALL, None), |mut net| {
        let (me, record) = (usize::from(net.me().0), Record::new());
        let mut channels = channels(&mut net, 3);
        channels.iter_mut().for_each(|channel| channel.tap(record.tap()));
        let done = Lane::over(channels).run(all(3, 200).swap_remove(me));
        (done.unwrap_or_else(|e| panic!("{e:?}")), record.recording())
    });
    for (me, (done, recording)) in (0..3).zip(came) {
        let peers: Vec<_> = (0..3).filter(|peer| *peer != me).map(PartyId).collect();
        let mut net = Replay::new(recording).net(PartyId(me), &peers, 1);
        let again = Lane::over(channels(&mut net, 3)).run(all(3, 200).swap_remove(me.into()));
        assert_eq!(again.unwrap_or_else(|e| panic!("{e:?}")), done);
    }
}

#[test]
fn a_message_changed_on_its_way_is_heard_changed() {
    let honest = lockstep(all(3, 100));
    for lie in (0..ROUNDS).flat_map(|round| (0..3).map(move |party| Place { round, party, slot: 1 })) {
        let mut seen = vec![];
        let mut run = |edit: &dyn Fn(Place, &mut Vec<u8>)| {
            let mut parties = all(3, 100);
            let ran = Lockstep::wired(Wiring::Mesh).run_edited(&mut parties, |place, message| {
                seen.push(place);
                edit(place, message);
            });
            ran.map(|()| parties.iter().map(|party| party.knows).collect::<Vec<_>>())
        };
        assert_eq!(run(&|_, _| ()).ok().as_ref(), Some(&honest));
        let flipped = run(&|place, message| {
            if place == lie {
                message.iter_mut().for_each(|byte| *byte ^= 1);
            }
        });
        let silent = (lie.party, lie.round) == (0, 1);
        assert_eq!(flipped.ok() == Some(honest.clone()), silent, "{lie:?}");
        let longer = run(&|place, message| message.resize(message.len() + usize::from(place == lie), 0));
        assert!(matches!(longer, Err(Error::Length)), "{lie:?}");
        seen.truncate(ROUNDS * 6);
        seen.dedup();
        assert_eq!(seen.len(), ROUNDS * 6, "every message once");
    }
    // The same outcome over a channel.
    let came = each(Over::Queues.nets(3, 1, STALL, None), |mut net| {
        let me = usize::from(net.me().0);
        let mut channels = channels(&mut net, 3);
        let tamper = Tamper::new().outgoing(1, Edit::Zero);
        let hits = tamper.hits();
        if me == 1 {
            channels[0].tap(Box::new(tamper));
        }
        let done = Lane::over(channels).run(all(3, 100).swap_remove(me));
        (done.map_or(0, |done| done.knows), hits.count())
    });
    assert_eq!(came.iter().map(|(_, hits)| hits).sum::<usize>(), 1);
    assert_ne!(came[0].0, honest[0]);
}

#[test]
#[should_panic(expected = "rounds differ")]
fn rounds_that_do_not_mirror_each_other_are_a_bug() {
    let mut parties = all(2, 100);
    parties[1].long = 200;
    drop(Lockstep::new().run(&mut parties));
}

/// A machine that sends one byte more than it declares.
struct Spender(bool);

impl Machine for Spender {
    type Error = NetError;

    fn round(&self, _: usize) -> Option<Round> {
        (!self.0).then(|| Round::even("spending", 3))
    }
    fn write(&mut self, _: usize, _: &mut [u8]) -> Result<(), NetError> {
        Ok(())
    }
    fn read(&mut self, _: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.0 = true;
        Ok(())
    }
    fn cost(&self) -> Option<Cost> {
        Some(Cost { rounds: 1, bytes_sent: 2 })
    }
}

#[test]
#[should_panic(expected = "party 0")]
fn a_machine_that_costs_more_than_it_declares_is_a_bug() {
    drop(Lockstep::new().run(&mut [Spender(false), Spender(false)]));
}
