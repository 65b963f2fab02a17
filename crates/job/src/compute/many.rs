//! One of n parties, of whom all but one may be corrupt: its links, and a computation on them.

use super::{
    bound::{Bound, Form},
    lengths::{Lengths, Told},
    two,
};
use crate::{
    Chosen, Fault, FromDisk, Member,
    flow::COMPUTE,
    n_party,
    run::{Links, MemberSession},
    shelves::{self, Wants},
};
use hushwire_authgarble::Party;
use hushwire_machine::Channel;
use zeroize::Zeroizing;

/// A party's links and its engine.
pub(super) struct Many {
    me: Member,
    index: usize,
    chosen: Chosen,
    threads: u16,
    /// The phases of the last run that came from this party's shelf, if it has one.
    pub(super) from_disk: Option<FromDisk>,
    pub(super) control: Vec<Channel>,
    channels: Vec<Channel>,
    party: Party,
}

impl Many {
    pub(super) fn open(
        member: &mut MemberSession,
        index: u8,
        chosen: Chosen,
        threads: u16,
    ) -> Result<Self, Fault> {
        let (lane, me, index) = (member.agreement.control_lane(), Member::Party(index), usize::from(index));
        let mut control = n_party::channels(member, 1, lane, index)?;
        let context = n_party::name(member, index, &mut control)?;
        let channels = n_party::channels(member, 0, 0, index)?;
        let party = n_party::party(chosen, &context, index, threads)?;
        Ok(Self { me, index, chosen, threads, from_disk: None, control, channels, party })
    }

    pub(super) fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        let mut control: Vec<_> = self.control.iter_mut().collect();
        lengths.at_party(&member.agreement, &mut control, std::iter::empty())
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
            return Err(Fault::internal(COMPUTE, "n parties have no steps"));
        };
        let inputs = two::inputs(&self.me, bound, own)?;
        let roles = bound.among(program, self.chosen.protocol.parties().into());
        let wants = Wants::once(self.chosen, program, &roles, self.threads);
        let taken = shelves::meet(&wants, member, self.index, &mut self.control)?;
        self.from_disk = member.config.shelf.is_some().then(|| shelves::from_disk(&taken));
        taken.into_iter().for_each(|taken| taken.give(&mut self.party));
        let ahead = n_party::need(program, &roles, 1);
        let learnt = self.party.run(&mut self.channels, program, &roles, &inputs, ahead).map_err(|e| {
            n_party::failed(&member.agreement, member.net.watch().as_ref(), self.index, COMPUTE, e)
        })?;
        Ok(two::outputs(&self.me, bound, &learnt))
    }

    pub(super) fn into_links(self) -> Links {
        Links { word: self.control, kept: self.channels }
    }
}
