//! Input and output of values at a party of three: its own values, those of the other parties, and
//! those of clients.
//!
//! [`Doors`] serve one thread of a party. Parties share their inputs over a channel of their own.
//! Clients send seeds once, and their inputs for each batch. The shares of data sets come from
//! parts that the parties store. The parties compare tags of all shares that come from clients and
//! data sets, and open no output before the verdict. A client that gives two parties different
//! shares is blamed. Shares for clients and for recipients that are not connected are masked by a
//! zero-share.

use crate::{
    Agreement, Fault, Member, StoredData, StoredInput, member_config::explain, run::MemberSession,
    threads::Failed,
};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_machine::{Channel, Reason, Watch, drive::Driver};
use hushwire_rep3::{
    Addition, Batch, Comparison, Inconsistent, Input, Output, OwnerInputs, OwnerSeeds, Role, Shares, Tags,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The step in which owners share inputs, as errors name it.
pub const IN: &str = "sharing inputs";
const OUT: &str = "opening outputs";
const COMPARE: &str = "comparing shares of inputs";

/// The inputs and outputs of one thread, batch after batch.
pub struct Doors {
    /// The role of this party.
    pub role: Role,
    /// The driver of machines on the channels.
    pub driver: Driver,
    /// The channel to the right neighbour and from the left one, against the direction of products.
    pub io: Channel,
    /// The clients in the agreement's order, with the channel to each.
    pub clients: Vec<(String, Channel)>,
    /// The seeds of each client; `None` for a client that brings nothing.
    pub seeds: Vec<Option<OwnerSeeds>>,
    /// The comparison of clients' shares of the latest batch. Its verdict is still in flight on
    /// `io`.
    pub comparison: Option<Comparison>,
    /// The data sets of the job.
    pub stored: Stored,
    /// The watch of the session, which is told who deviates.
    pub watch: Option<Watch>,
}

/// The data sets of a party's job.
#[derive(Default)]
pub struct Stored {
    /// The data sets, by name.
    pub data: BTreeMap<String, StoredData>,
    /// The data sets whose shares the comparison in progress covers, after those of clients.
    compared: Vec<String>,
}

/// Shares for members who are not connected: everything that each learns, in the order of the
/// members.
pub type MaskedShares = Vec<Wiped<Vec<u8>>>;

/// A value that is an input or an output.
#[derive(Clone, Copy)]
pub struct SharedValue<W> {
    /// The member that brings it, or all members that learn it.
    pub who: W,
    /// The size of a share in bytes.
    pub bytes: usize,
    /// The group in which shares add.
    pub addition: Addition,
}

impl<W> SharedValue<W> {
    /// A value of bit planes, whose shares add by XOR.
    pub fn of_planes(who: W, bytes: usize) -> Self {
        Self { who, bytes, addition: Addition::Xor }
    }
}

/// The range of each value's planes; the ranges follow each other.
fn ranges(bytes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut at = 0;
    let place = |bytes: usize| {
        at += bytes;
        at - bytes..at
    };
    bytes.map(place).collect()
}

impl Doors {
    /// Shares all inputs of a batch, one after the other. `own` holds the inputs that this party
    /// brings, `turn` is the number that clients give the batch, and `stored` lists the inputs that
    /// data sets bring.
    ///
    /// # Errors
    /// A channel failed, shares of an earlier batch are inconsistent, or a data set cannot be read.
    pub fn share(
        &mut self,
        batch: &mut Batch,
        turn: u32,
        inputs: &[SharedValue<&Member>],
        own: &[u8],
        stored: &[StoredInput],
    ) -> Result<Shares, Failed> {
        self.compared()?;
        let owner = |member: &Member| match member {
            Member::Party(index) => Role::new(*index),
            Member::Client(_) | Member::Data(_) | Member::Recipient(_) => None,
        };
        let places = ranges(inputs.iter().map(|way| way.bytes));
        let input = |way: &SharedValue<&Member>| Input {
            owner: owner(way.who),
            bytes: way.bytes,
            addition: way.addition,
        };
        let all: Vec<_> = inputs.iter().map(input).collect();
        let sharing = batch.share(&all, own);
        let mut sharing = sharing.map_err(|e| Failed::Job(Fault::internal(IN, e)))?;
        self.driver.run(&mut self.io, &mut sharing)?;
        let mut shares = sharing.finish();
        let mut tags = vec![];
        for ((name, channel), seeds) in self.clients.iter_mut().zip(&self.seeds) {
            let Some(seeds) = seeds else { continue };
            let member = Member::Client(name.clone());
            let brings = inputs.iter().zip(&places).enumerate().filter(|(_, (way, _))| *way.who == member);
            let brings = brings.map(|(i, (_, place))| (i, place.clone()));
            let mut given = OwnerInputs::new(batch, seeds, turn, brings, &mut shares);
            self.driver.run(channel, &mut given)?;
            tags.push(given.tags());
        }
        self.stored.compared.clear();
        let sets: BTreeSet<&str> = stored.iter().map(|input| input.data.as_str()).collect();
        for name in sets {
            let brought: Vec<_> = stored.iter().filter(|input| input.data == name).collect();
            tags.push(self.stored.take(self.role, batch, name, &brought, &places, &mut shares)?);
            self.stored.compared.push(name.to_owned());
        }
        if !tags.is_empty() {
            self.comparison = Some(Comparison::begin(self.role, &mut self.io, tags)?);
        }
        Ok(shares)
    }

    /// Takes the verdict on clients' shares of all batches begun so far. Before that, no output is
    /// opened, and `io` is used for nothing else.
    ///
    /// # Errors
    /// A channel failed, or the shares of a client or a data set are inconsistent.
    pub fn compared(&mut self) -> Result<(), Failed> {
        let Some(comparison) = self.comparison.take() else { return Ok(()) };
        comparison.end(&mut self.io)?.map_or(Ok(()), |found| Err(Failed::Job(self.deviates(found))))
    }

    /// Ends the session because a client gave inconsistent shares, or because two parties keep
    /// different shares of a data set.
    fn deviates(&self, Inconsistent { owner, holders: [a, b] }: Inconsistent) -> Fault {
        let names: Vec<String> = self.clients.iter().map(|(name, _)| name.clone()).collect();
        let online = self.seeds.iter().flatten().count();
        if let Some(data) = owner.checked_sub(online).and_then(|at| self.stored.compared.get(at)) {
            let [a, b] = [a.index().min(b.index()), a.index().max(b.index())];
            let cause = format!(
                "party {a} and party {b} keep different shares of data set {data}; no output of it was opened"
            );
            let remedy = "compare the manifest and the parts of the data set at both, and put it again";
            return Fault::new(code::DATA_SET_DIFFERS, COMPARE, cause, remedy);
        }
        let owners = names.iter().zip(&self.seeds).filter(|(_, seeds)| seeds.is_some());
        let client = owners.map(|(name, _)| Member::Client(name.clone())).nth(owner);
        let id = client.as_ref().and_then(|client| client.id(&names));
        let (Some(client), Some(id)) = (client, id) else {
            return Fault::internal(COMPARE, "no client gave these shares");
        };
        if let Some(watch) = &self.watch {
            watch.abort(id, Reason::Cheated, COMPARE);
        }
        let [a, b] = [a.index().min(b.index()), a.index().max(b.index())];
        Fault::new(
            code::DEVIATED_CLIENT,
            COMPARE,
            format!(
                "{client} gave party {a} and party {b} different shares of the same inputs; no output of them was opened"
            ),
            format!("let {client} run this release unchanged, or plan the job without it"),
        )
    }

    /// Gives each recipient the share that it lacks of a batch's outputs, and returns the outputs
    /// that this party learns. Clients hold no shares, so every party sends them its own share,
    /// masked by a zero-share. Shares for each of `sealed`, who are not connected, are returned
    /// under the same mask.
    ///
    /// # Errors
    /// A channel failed, or the shares of a client or a data set are inconsistent.
    pub fn open(
        &mut self,
        batch: &mut Batch,
        outputs: &[SharedValue<&[Member]>],
        sealed: &[Member],
        mut shares: Shares,
    ) -> Result<(Wiped<Vec<u8>>, MaskedShares), Failed> {
        self.compared()?;
        let places = ranges(outputs.iter().map(|way| way.bytes));
        let learns = |to: &[Member], role: Role| to.contains(&Member::Party(role.index() as u8));
        let output = |way: &SharedValue<&[Member]>| Output {
            learns: Role::ALL.map(|role| learns(way.who, role)),
            bytes: way.bytes,
            addition: way.addition,
        };
        let all: Vec<_> = outputs.iter().map(output).collect();
        let mut reveal = batch.reveal(&all, &shares);
        self.driver.run(&mut self.io, &mut reveal)?;
        for (way, place) in outputs.iter().zip(&places) {
            if way.who.iter().any(|m| matches!(m, Member::Client(_) | Member::Recipient(_))) {
                batch.blind(&mut shares.own[place.clone()], way.addition);
            }
        }
        for (name, channel) in &mut self.clients {
            let member = Member::Client(name.clone());
            let message = of_member(outputs, &places, &member, &shares.own);
            if !message.is_empty() {
                channel.send(OUT, &message)?;
            }
        }
        let sealed = sealed.iter().map(|member| of_member(outputs, &places, member, &shares.own));
        Ok((Wiped::new(reveal.finish().into_inner()), sealed.collect()))
    }
}

/// The share of everything that a member learns.
fn of_member(
    outputs: &[SharedValue<&[Member]>],
    places: &[Range<usize>],
    member: &Member,
    own: &[u8],
) -> Wiped<Vec<u8>> {
    let parts = outputs.iter().zip(places).filter(|(way, _)| way.who.contains(member));
    let mut all = Wiped::new(Vec::with_capacity(parts.clone().map(|(_, place)| place.len()).sum()));
    parts.for_each(|(_, place)| all.extend_from_slice(&own[place.clone()]));
    all
}

impl Stored {
    /// Wraps these data sets.
    #[must_use]
    pub fn of(data: BTreeMap<String, StoredData>) -> Self {
        Self { data, compared: vec![] }
    }

    /// Puts the shares of a data set's inputs into their places, and tags them.
    fn take(
        &self,
        role: Role,
        batch: &mut Batch,
        name: &str,
        brought: &[&StoredInput],
        places: &[Range<usize>],
        shares: &mut Shares,
    ) -> Result<Tags, Failed> {
        let missing = || Failed::Job(Fault::internal(IN, format!("data set {name} was not opened")));
        let data = self.data.get(name).ok_or_else(missing)?;
        let seeds = OwnerSeeds::from_bytes(&data.seeds);
        let backend = batch.backend();
        data.each_part(name, role, |part, kept| {
            for input in brought {
                let place = places[input.input].clone();
                let to = [&mut shares.own[place.clone()], &mut shares.next[place]];
                let column = (input.column, &data.columns[input.column]);
                let kept = kept.get(&input.column).copied();
                seeds.stored((backend, role), part, column, kept, to);
            }
        })?;
        let mut tagging = batch.tagging();
        for input in brought {
            let place = places[input.input].clone();
            tagging.part(&shares.own[place.clone()], &shares.next[place]);
        }
        Ok(tagging.finish())
    }
}

/// Opens a channel to each client on lane `t`.
///
/// # Errors
/// A channel is not available.
pub fn channels_of_clients(member: &mut MemberSession, t: u16) -> Result<Vec<Channel>, Fault> {
    let clients = &member.agreement.clients;
    let ids: Vec<_> = clients.iter().map(|c| Member::Client(c.clone()).id(clients)).collect();
    ids.into_iter().map(|id| member.channel(1, t, id, id)).collect()
}

/// Receives two seeds from every client that brings an input: one for this party's share, one for
/// the next party's.
///
/// # Errors
/// A channel failed.
pub fn receive_seeds(
    agreement: &Agreement,
    clients: &mut [Channel],
    brings: impl Fn(&Member) -> bool,
) -> Result<Vec<Option<OwnerSeeds>>, Fault> {
    let mut seeds = vec![];
    for (name, channel) in agreement.clients.iter().zip(clients) {
        if !brings(&Member::Client(name.clone())) {
            seeds.push(None);
            continue;
        }
        let mut bytes = Wiped::new([0; 32]);
        channel.recv(IN, &mut bytes[..]).map_err(|e| explain(agreement, e).during(IN))?;
        seeds.push(Some(OwnerSeeds::from_bytes(&bytes)));
    }
    Ok(seeds)
}
