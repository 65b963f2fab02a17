//! Machines side by side: operations that are ready at the same time share their rounds.

use crate::{
    Cost,
    machine::{Exchanged, Machine, Round},
};
use hushwire_block::Buffer;

/// Several machines as one. A round's message is the concatenation of the messages of all machines
/// that still run.
///
/// ```text
/// a:  ──round──►──round──►──round──►          3 messages in place of 5,
/// b:  ──round──►──round──►                    and the same number of bytes
/// ```
///
/// It has as many slots as the machine with the most slots. The other machines send nothing on
/// slots that they lack. Machines must be in the same order at all parties. Each machine gets
/// exactly the lengths that its own round declares, and checks them.
///
/// If every running machine makes its next message while it takes the last one ([`Machine::turn`]),
/// all of them do so here, each into its own part. Otherwise, a next message is made only when it
/// is asked for, since the lengths of the other machines are not known before they have read.
pub struct Abreast<M> {
    sides: Vec<AbreastMachine<M>>,
    slots: usize,
}

/// One of the machines.
struct AbreastMachine<M> {
    machine: M,
    /// The next message to slot 0, of a machine that makes it while it receives the last one.
    ahead: Buffer,
    made: bool,
}

impl<M: Machine> AbreastMachine<M> {
    fn runs(&self) -> bool {
        self.machine.round(0).is_some()
    }

    fn round(&self, slot: usize) -> Round {
        let lacks = slot >= self.machine.slots();
        if lacks { None } else { self.machine.round(slot) }.unwrap_or(Round::even("", 0))
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), M::Error> {
        if slot == 0 && std::mem::take(&mut self.made) {
            out.copy_from_slice(&self.ahead[..out.len()]);
            return Ok(());
        }
        if slot < self.machine.slots() { self.machine.write(slot, out) } else { Ok(()) }
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), M::Error> {
        let Some(next) = self.machine.upcoming() else { return self.machine.read(messages) };
        self.ahead.reserve_len(next.out);
        self.made = true;
        self.machine.turn(messages, &mut self.ahead[..next.out])
    }
}

impl<M: Machine> Abreast<M> {
    /// Joins these machines, none of which has begun.
    #[must_use]
    pub fn new(machines: Vec<M>) -> Self {
        let slots = machines.iter().map(Machine::slots).max().unwrap_or(1);
        let side = |machine| AbreastMachine { machine, ahead: Buffer::new(), made: false };
        Abreast { sides: machines.into_iter().map(side).collect(), slots }
    }

    /// The machines, in order.
    pub fn into_machines(self) -> impl Iterator<Item = M> {
        self.sides.into_iter().map(|side| side.machine)
    }

    /// Gives each running machine its part of the messages.
    fn each(
        &mut self,
        messages: &[Exchanged<'_>],
        mut take: impl FnMut(&mut AbreastMachine<M>, &[Exchanged<'_>]) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        let mut left = messages.to_vec();
        let mut own = Vec::with_capacity(self.slots);
        for side in self.sides.iter_mut().filter(|side| side.runs()) {
            own.clear();
            for (slot, message) in left.iter_mut().enumerate().take(side.machine.slots()) {
                let round = side.round(slot);
                let (sent, behind) = message.own.split_at(round.out.min(message.own.len()));
                let (heard, after) = message.heard.split_at(round.into.min(message.heard.len()));
                own.push(Exchanged { own: sent, heard });
                *message = Exchanged { own: behind, heard: after };
            }
            take(side, &own)?;
        }
        Ok(())
    }
}

/// The round of the concatenated message: the sum of both lengths.
fn sum(sum: Round, r: Round) -> Round {
    Round { out: sum.out + r.out, into: sum.into + r.into, ..sum }
}

impl<M: Machine> Machine for Abreast<M> {
    type Error = M::Error;

    fn slots(&self) -> usize {
        self.slots
    }

    fn round(&self, slot: usize) -> Option<Round> {
        let running = || self.sides.iter().filter(|side| side.runs());
        let name = running().next()?.round(0).name;
        Some(running().map(|side| side.round(slot)).fold(Round::even(name, 0), sum))
    }

    fn write(&mut self, slot: usize, mut out: &mut [u8]) -> Result<(), M::Error> {
        for side in self.sides.iter_mut().filter(|side| side.runs()) {
            let (own, rest) = out.split_at_mut(side.round(slot).out.min(out.len()));
            side.write(slot, own)?;
            out = rest;
        }
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), M::Error> {
        self.each(messages, AbreastMachine::read)
    }

    fn upcoming(&self) -> Option<Round> {
        let mut rounds = self.sides.iter().filter(|side| side.runs()).map(|side| side.machine.upcoming());
        let first = rounds.next()??;
        rounds.try_fold(first, |all, round| Some(sum(all, round?)))
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], mut out: &mut [u8]) -> Result<(), M::Error> {
        self.each(messages, |side, messages| {
            let next = side.machine.upcoming().map_or(0, |next| next.out);
            let next = next.min(out.len());
            let (own, rest) = std::mem::take(&mut out).split_at_mut(next);
            out = rest;
            side.machine.turn(messages, own)
        })
    }

    /// The rounds of the longest machine, and the bytes of all.
    fn cost(&self) -> Option<Cost> {
        self.sides.iter().try_fold(Cost::default(), |sum, side| {
            let cost = side.machine.cost()?;
            Some(Cost { rounds: sum.rounds.max(cost.rounds), bytes_sent: sum.bytes_sent + cost.bytes_sent })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NetError, drive::Lockstep};

    /// A machine that sends its number in each round, on its slots, and keeps what it receives.
    struct Counter {
        name: u8,
        slots: usize,
        bytes: usize,
        left: usize,
        heard: Vec<Vec<u8>>,
        /// Whether it makes the next message while it receives the last one, and in no other way.
        fused: bool,
        turning: bool,
    }

    impl Machine for Counter {
        type Error = NetError;
        fn slots(&self) -> usize {
            self.slots
        }
        fn round(&self, slot: usize) -> Option<Round> {
            (self.left > 0).then_some(Round::even("count", self.bytes + slot))
        }
        fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
            assert_eq!(out.len(), self.bytes + slot);
            out.fill(self.name + slot as u8);
            Ok(())
        }
        fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
            assert_eq!(messages.len(), self.slots);
            assert!(!self.fused || self.left == 1 || self.turning, "the next message would be lost");
            self.heard.extend(messages.iter().map(|m| m.heard.to_vec()));
            self.left -= 1;
            Ok(())
        }
        fn upcoming(&self) -> Option<Round> {
            (self.fused && self.left > 1).then(|| Round::even("count", self.bytes))
        }
        fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
            assert!(self.fused);
            self.turning = true;
            Machine::read(self, messages)?;
            self.turning = false;
            self.write(0, out)
        }
        fn cost(&self) -> Option<Cost> {
            let bytes = (0..self.slots).map(|slot| self.bytes + slot).sum::<usize>();
            Some(Cost { rounds: self.left as u64, bytes_sent: (bytes * self.left) as u64 })
        }
    }

    #[test]
    fn rounds_are_shared_and_each_hears_its_own() {
        let party = |p: u8| {
            let counter = |k: u8, slots, bytes, left| Counter {
                name: 40 * p + 10 * k,
                slots,
                bytes,
                left,
                heard: vec![],
                fused: k == 0,
                turning: false,
            };
            [counter(0, 1, 3, 2), counter(1, 2, 5, 4), counter(2, 1, 0, 1), counter(3, 2, 1, 0)]
        };
        let mut parties = [0, 1, 2].map(party);
        let abreast = parties.each_mut().map(|machines| {
            Abreast::new(machines.iter_mut().map(|m| m as &mut dyn Machine<Error = NetError>).collect())
        });
        assert_eq!(abreast[0].cost(), Some(Cost { rounds: 4, bytes_sent: 2 * 3 + 4 * 11 }));
        let mut abreast = abreast;
        Lockstep::new().run(&mut abreast).unwrap();
        for (p, machines) in parties.iter().enumerate() {
            let [right, left] = [(p + 1) % 3, (p + 2) % 3].map(|q| 40 * q as u8);
            assert_eq!(machines[0].heard, [vec![right; 3], vec![right; 3]]);
            let both = [vec![right + 10; 5], vec![left + 11; 6]];
            assert_eq!(machines[1].heard, [both.clone(), both.clone(), both.clone(), both].concat());
            assert_eq!(machines[2].heard, [vec![]]);
            assert!(machines[3].heard.is_empty());
        }
    }
}
