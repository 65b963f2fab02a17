//! Machines side by side: operations that are ready together share their rounds.

use crate::{
    Cost,
    machine::{Exchanged, Machine, Round},
};
use hushwire_block::Buffer;

/// Several machines as one: a round's message is those of all that still run, one behind the other.
///
/// ```text
/// a:  ──round──►──round──►──round──►          3 messages in place of 5,
/// b:  ──round──►──round──►                    and as many bytes
/// ```
///
/// It has as many slots as the machine with the most; the others say nothing on those they lack. Machines must come in one order at
/// all parties. Lengths are held by the machines: each is handed what its own round declares.
///
/// A machine that makes its next message as it takes the last one ([`Machine::turn`]) does so here too; the message waits until it is
/// asked for, since the others' lengths are not known before they have read.
pub struct Abreast<'m, E> {
    machines: Vec<&'m mut dyn Machine<Error = E>>,
    /// Of each machine, the message to slot 0 that it made ahead, if it did.
    ahead: Vec<(Buffer, bool)>,
    slots: usize,
}

impl<'m, E> Abreast<'m, E> {
    /// These machines, none of which has begun.
    #[must_use]
    pub fn new(machines: Vec<&'m mut dyn Machine<Error = E>>) -> Self {
        let slots = machines.iter().map(Machine::slots).max().unwrap_or(1);
        let ahead = machines.iter().map(|_| (Buffer::new(), false)).collect();
        Abreast { machines, ahead, slots }
    }

    /// The machines that still run.
    fn running(&self) -> impl Iterator<Item = &dyn Machine<Error = E>> {
        self.machines.iter().map(|machine| &**machine as _).filter(|machine| runs(*machine))
    }
}

fn runs<E>(machine: &(impl Machine<Error = E> + ?Sized)) -> bool {
    machine.round(0).is_some()
}

fn round_of<E>(machine: &(impl Machine<Error = E> + ?Sized), slot: usize) -> Round {
    let lacks = slot >= machine.slots();
    if lacks { None } else { machine.round(slot) }.unwrap_or(Round::even("", 0))
}

impl<E> Machine for Abreast<'_, E> {
    type Error = E;

    fn slots(&self) -> usize {
        self.slots
    }

    fn round(&self, slot: usize) -> Option<Round> {
        let name = self.running().next()?.round(0)?.name;
        let sum = self.running().map(|machine| round_of(machine, slot));
        Some(sum.fold(Round::even(name, 0), |sum, r| Round {
            out: sum.out + r.out,
            into: sum.into + r.into,
            ..sum
        }))
    }

    fn write(&mut self, slot: usize, mut out: &mut [u8]) -> Result<(), E> {
        for (machine, (ahead, made)) in self.machines.iter_mut().zip(&mut self.ahead) {
            if !runs(&**machine) || slot >= machine.slots() {
                continue;
            }
            let (own, rest) = out.split_at_mut(round_of(&**machine, slot).out.min(out.len()));
            // Of another length it is the machine's to refuse.
            if slot == 0 && std::mem::take(made) && own.len() == ahead.len() {
                own.copy_from_slice(ahead);
            } else {
                machine.write(slot, own)?;
            }
            out = rest;
        }
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), E> {
        let mut left = messages.to_vec();
        for (machine, (ahead, made)) in self.machines.iter_mut().zip(&mut self.ahead) {
            if !runs(&**machine) {
                continue;
            }
            let mut own = Vec::with_capacity(machine.slots());
            for (slot, message) in left.iter_mut().enumerate().take(machine.slots()) {
                let round = round_of(&**machine, slot);
                let (sent, behind) = message.own.split_at(round.out.min(message.own.len()));
                let (heard, after) = message.heard.split_at(round.into.min(message.heard.len()));
                own.push(Exchanged { own: sent, heard });
                *message = Exchanged { own: behind, heard: after };
            }
            if let Some(next) = machine.upcoming() {
                ahead.set_len(next.out);
                machine.turn(&own, ahead)?;
                *made = true;
            } else {
                machine.read(&own)?;
            }
        }
        Ok(())
    }

    /// The rounds of the longest, and the bytes of all.
    fn cost(&self) -> Option<Cost> {
        self.machines.iter().try_fold(Cost::default(), |sum, machine| {
            let cost = machine.cost()?;
            Some(Cost { rounds: sum.rounds.max(cost.rounds), bytes_sent: sum.bytes_sent + cost.bytes_sent })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NetError, drive::Lockstep};

    /// Says its number in each round, on its slots, and keeps what it heard.
    struct Counter {
        name: u8,
        slots: usize,
        bytes: usize,
        left: usize,
        /// It takes rounds by `turn` alone, but for the last.
        fused: bool,
        heard: Vec<Vec<u8>>,
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
            assert!(!self.fused || self.left == 1, "all rounds but the last are taken by turn");
            self.take(messages);
            Ok(())
        }
        fn upcoming(&self) -> Option<Round> {
            (self.fused && self.left > 1).then_some(Round::even("count", self.bytes))
        }
        fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
            self.take(messages);
            self.write(0, out)
        }
        fn cost(&self) -> Option<Cost> {
            let bytes = (0..self.slots).map(|slot| self.bytes + slot).sum::<usize>();
            Some(Cost { rounds: self.left as u64, bytes_sent: (bytes * self.left) as u64 })
        }
    }

    impl Counter {
        fn take(&mut self, messages: &[Exchanged<'_>]) {
            self.heard.extend(messages.iter().map(|m| m.heard.to_vec()));
            self.left -= 1;
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
                fused: k.is_multiple_of(2),
                heard: vec![],
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
