//! One of two parties: its links, set up once, and a computation on them.

use super::{
    bound::{Bound, Extent, Form},
    lengths::{Lengths, Told},
};
use crate::{
    Chosen, Fault, Member,
    flow::COMPUTE,
    run::{Links, MemberSession},
    two_party::{SETUP, name, peer_of},
    two_party_engine::{self, Failure, TwoPartyEngine},
};
use hushwire_circuit::Planes;
use hushwire_machine::{Channel, Reason};
use hushwire_prg::Seed;
use zeroize::Zeroizing;

/// A party's links and its engine.
pub(super) struct Two {
    me: Member,
    index: u8,
    pub(super) control: Channel,
    channel: Channel,
    engine: Box<dyn TwoPartyEngine>,
}

impl Two {
    pub(super) fn open(member: &mut MemberSession, index: u8, chosen: Chosen) -> Result<Self, Fault> {
        let (lane, peer) = (member.agreement.control_lane(), Some(peer_of(index.into())));
        let mut control = member.channel(1, lane, peer, peer)?;
        let context = name(member, index.into(), &mut control)?;
        let mut channel = member.channel(0, 0, peer, peer)?;
        let engine = two_party_engine::open(chosen, &mut channel, index.into(), &context, &Seed::random());
        let engine = engine.map_err(|e| failed(member, index, SETUP, e))?;
        Ok(Self { me: Member::Party(index), index, control, channel, engine })
    }

    pub(super) fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        lengths.at_party(&member.agreement, &mut [&mut self.control], std::iter::empty())
    }

    /// Runs a computation: records of this party's inputs go in, in order, and those of what it learns come out.
    pub(super) fn run(
        &mut self,
        member: &MemberSession,
        bound: &Bound,
        form: &Form,
        own: &[Zeroizing<Vec<u8>>],
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, Fault> {
        let Form::Circuit(program) = form else {
            return Err(Fault::internal(COMPUTE, "two parties have no steps"));
        };
        let inputs = inputs(&self.me, bound, own)?;
        let who = bound.between_two(program);
        let learnt = self.engine.run(&mut self.channel, program, &who, &inputs);
        let learnt = learnt.map_err(|e| failed(member, self.index, COMPUTE, e))?;
        Ok(outputs(&self.me, bound, &learnt))
    }

    pub(super) fn into_links(self) -> Links {
        Links { word: vec![self.control], kept: vec![self.channel] }
    }
}

/// The planes of a party's inputs, from their records in order: a byte a register.
pub(super) fn inputs(me: &Member, bound: &Bound, own: &[Zeroizing<Vec<u8>>]) -> Result<Planes, Fault> {
    let mine = bound.owners.iter().zip(&bound.inputs).filter(|(owner, _)| *owner == me);
    let mut registers = Zeroizing::new(vec![]);
    for ((_, extent), records) in mine.zip(own) {
        let start = registers.len();
        registers.resize(start + extent.bits(), 0);
        extent.spread(&extent.planes(records), &mut registers[start..]);
    }
    Planes::new(registers.len(), 1, registers).map_err(|e| Fault::internal(COMPUTE, e))
}

/// The records of the outputs that a party learns, from their planes.
pub(super) fn outputs(me: &Member, bound: &Bound, learnt: &Planes) -> Vec<Zeroizing<Vec<u8>>> {
    let mine = bound.recipients.iter().zip(&bound.outputs).filter(|(to, _)| to.contains(me));
    let mut at = 0;
    mine.map(|(_, extent): (_, &Extent)| {
        at += extent.bits();
        let mut planes = Zeroizing::new(vec![0; extent.bytes()]);
        extent.gather(&learnt[at - extent.bits()..at], &mut planes);
        extent.records(&planes)
    })
    .collect()
}

pub(super) fn failed(member: &MemberSession, index: u8, step: &str, failure: Failure) -> Fault {
    if let (Failure::Peer(_), Some(watch)) = (&failure, member.net.watch()) {
        // It would otherwise learn only that links closed.
        watch.abort(peer_of(index.into()), Reason::Cheated, step);
    }
    failure.explain(&member.agreement).during(step)
}
