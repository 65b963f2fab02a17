//! One of two parties on numbers: its links, set up once, and a computation on them.

use super::{
    bound::{Bound, Extent, Form, ROOM},
    delay,
    lengths::{Lengths, Told},
    part::{GoOn, cancelled},
    two::failed,
};
use crate::{
    Chosen, Fault, Member,
    flow::COMPUTE,
    member_config::explain,
    run::{Links, MemberSession},
    two_party::{SETUP, name, peer_of},
    two_party_engine::Failure,
};
use hushwire_compute::Tensor;
use hushwire_machine::Channel;
use hushwire_prg::Seed;
use hushwire_two::{Distance, Party, Plan, TwoError};
use zeroize::Zeroizing;

/// A party's links and its side of the protocol.
pub(super) struct Pair {
    me: Member,
    index: u8,
    pub(super) control: Channel,
    channel: Channel,
    party: Party,
    distance: Distance,
}

impl Pair {
    pub(super) fn open(member: &mut MemberSession, index: u8, chosen: Chosen) -> Result<Self, Fault> {
        let (lane, peer) = (member.agreement.control_lane(), Some(peer_of(index.into())));
        let mut control = member.channel(1, lane, peer, peer)?;
        let context = name(member, index.into(), &mut control)?;
        let (channel, ots) = (member.channel(0, 0, peer, peer)?, member.channel(0, 1, peer, peer)?);
        let ot = chosen.ot.ok_or_else(|| Fault::internal(SETUP, "protocol two has an OT extension"))?;
        let party = Party::open(ots, index.into(), &context, ot, &Seed::random());
        // LOCAL: while one party multiplies under encryption the other waits.
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
        let party = party.map_err(|e| failed(member, index, SETUP, e.into()))?.threads(cores);
        let mut links = [control];
        let delay = delay::announced(&mut links);
        let delay = delay.map_err(|e| explain(&member.agreement, e).during("measuring delays"))?;
        let ([control], distance) = (links, Distance::of(delay));
        let party = party.distance(distance);
        let party = if let Some(ahead) = chosen.ahead { party.ahead(ahead) } else { party };
        Ok(Self { me: Member::Party(index), index, control, channel, party, distance })
    }

    pub(super) fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        lengths.at_party(&member.agreement, &mut [&mut self.control], std::iter::empty())
    }

    /// Keeps the next run to this many bytes. If the pieces for the parties' distance take more, it
    /// uses the short pieces of near parties; it refuses a run that takes more even in these.
    pub(super) fn keep_to(&mut self, plan: &Plan, most: Option<u64>) -> Result<(), Fault> {
        self.party.set_distance(self.distance);
        let Some(most) = most else { return Ok(()) };
        if plan.within(self.distance, most).is_err() {
            let kept = plan.within(Distance::Near, most);
            kept.map_err(|e| e.fault().remedied(ROOM).during("the computation"))?;
            self.party.set_distance(Distance::Near);
        }
        Ok(())
    }

    /// Runs a computation: records of this party's inputs go in, in order, and those of what it learns come out.
    pub(super) fn run(
        &mut self,
        member: &MemberSession,
        bound: &Bound,
        form: &Form,
        own: &[Zeroizing<Vec<u8>>],
        go_on: GoOn<'_>,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, Fault> {
        let Form::Pair(plan) = form else {
            return Err(Fault::internal(COMPUTE, "two parties on numbers have a plan of their own"));
        };
        let mine = bound.owners.iter().zip(&bound.inputs).filter(|(owner, _)| **owner == self.me);
        let value = |((_, extent), records): ((&Member, &Extent), &Zeroizing<Vec<u8>>)| {
            Tensor::from_planes(extent.scalar, &extent.lengths, &extent.planes(records))
        };
        let inputs = mine.zip(own).map(value).collect();
        let mut steps = |done: usize, whole: usize| go_on(done as u64, whole as u64);
        let learnt = self.party.run(&mut self.channel, plan, inputs, &mut steps).map_err(|e| match e {
            TwoError::Cancelled => cancelled(),
            e => failed(member, self.index, COMPUTE, e.into()),
        })?;
        Ok(learnt.iter().map(|tensor| Zeroizing::new(tensor.records())).collect())
    }

    pub(super) fn into_links(self) -> Links {
        let kept = std::iter::once(self.channel).chain(self.party.into_channel()).collect();
        Links { word: vec![self.control], kept }
    }
}

impl From<TwoError> for Failure {
    fn from(e: TwoError) -> Self {
        match e {
            TwoError::Net(e) => Self::Net(e),
            TwoError::Ot(e) => e.into(),
            e => Self::of(e.fault()),
        }
    }
}
