//! A client of three parties: it shares its inputs, and adds up the shares of the outputs that it
//! learns. Each party gets seeds once, from which it expands shares in every run. The share of an
//! input that no seed gives is sent explicitly.

use super::{
    bound::{BoundComputation, RunForm, places},
    engine::{Engine, GoOn, Links, Records},
    lengths::{Lengths, Told},
};
use hushwire_block::Wiped;
use hushwire_machine::{Channel, PartyId};
use hushwire_rep3::{Owner, Role};
use hushwire_session::{
    Fault, Member,
    doors::IN,
    explain,
    run::{self, MemberSession},
};
use std::ops::Range;

const OUT: &str = "receiving outputs";

/// A client's links.
pub(super) struct Client {
    me: Member,
    to: [Channel; 3],
    from: [Channel; 3],
    owner: Owner,
    /// The number of runs so far. Shares are fresh in each.
    turn: u32,
}

impl Client {
    /// Sends the parties the seeds of its shares, if it brings anything.
    pub(super) fn open(member: &mut MemberSession, brings: bool) -> Result<Self, Fault> {
        let mut one = |party, to: bool| {
            let peer = Some(PartyId(party));
            member.channel(1, 0, peer.filter(|_| to), peer.filter(|_| !to))
        };
        let mut to = [one(0, true)?, one(1, true)?, one(2, true)?];
        let from = [one(0, false)?, one(1, false)?, one(2, false)?];
        let owner = Owner::new(member.config.backend);
        for (role, channel) in Role::ALL.into_iter().zip(&mut to).filter(|_| brings) {
            let sent = channel.send(IN, &owner.seeds(role)[..]);
            sent.map_err(|e| explain(&member.agreement, e).during(IN))?;
        }
        Ok(Self { me: member.config.me.clone(), to, from, owner, turn: 0 })
    }

    /// Sends the shares of its inputs, in order. Each input is shared and sent before the next is
    /// read. A party receives all of them as one message: the bytes are the same.
    pub(super) fn give(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        own: Vec<Records>,
    ) -> Result<(), Fault> {
        let failed = |e| explain(&member.agreement, e).during(IN);
        for ((i, extent), records) in bound.inputs_of(&self.me).zip(own) {
            let value = extent.whole(records);
            let (full, holders) = self.owner.full(self.turn, i, value, extent.addition);
            for party in holders.into_iter().filter(|_| !full.is_empty()) {
                self.to[party.index()].send(IN, &full).map_err(failed)?;
            }
        }
        let spent = || Fault::internal(IN, "a session runs 2^32 computations");
        self.turn = self.turn.checked_add(1).ok_or_else(spent)?;
        Ok(())
    }
}

impl Engine for Client {
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        lengths.at_client(&member.agreement, &mut self.to, &mut self.from)
    }

    /// Sends the shares of its inputs, in order, and returns the records of the outputs that it
    /// learns.
    fn run(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        _: &RunForm,
        own: Vec<Records>,
        _: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        self.give(member, bound, own)?;
        let mine: Vec<_> = bound.outputs_of(&self.me).collect();
        let places = places(mine.iter().copied());
        let mut sum = Wiped::new(vec![0; places.iter().map(Range::len).sum()]);
        let mut share = sum.clone();
        for channel in &mut self.from {
            if !share.is_empty() {
                channel.recv(OUT, &mut share).map_err(|e| explain(&member.agreement, e).during(OUT))?;
                for (extent, place) in mine.iter().zip(&places) {
                    extent.addition.add(&mut sum[place.clone()], &share[place.clone()]);
                }
            }
        }
        Ok(mine.iter().zip(places).map(|(extent, place)| extent.opened(&sum[place])).collect())
    }

    /// The links to the parties and from them.
    fn links(&mut self) -> Links<'_> {
        let (to, from) = (self.to.iter_mut().collect(), self.from.iter_mut().collect());
        Links { to, from, ..Links::default() }
    }

    fn into_links(self: Box<Self>) -> run::Links {
        run::Links { word: self.to.into_iter().chain(self.from).collect(), kept: vec![] }
    }
}
