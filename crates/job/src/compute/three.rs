//! A party of three: its links, set up once, and a computation on them.

use super::{
    bound::{Bound, Extent, Form},
    delay,
    lengths::Lengths,
    part::{GoOn, cancelled},
};
use crate::{
    JobError, Member,
    doors::Doors,
    flow::{COMPUTE, Failed},
    member_config::explain,
    party::{channels_of_clients, receive_seeds},
    run::{Links, MemberSession},
};
use hushwire_circuit::planes::plane_bytes;
use hushwire_prg::Seed;
use hushwire_rep3::{CircuitBatch, CircuitWorkspace, Party, Rep3Error, Role, ShareError, Shares, ring::Bits};
use hushwire_three::{Cut, ThreeError};
use hushwire_wire::{Channel, drive::Driver};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// A party's links.
pub(super) struct Three {
    me: Member,
    party: Party,
    /// To the right neighbour and from the left one, and the other way round: session keys, lengths, the last word.
    pub(super) control: [Channel; 2],
    /// To the left neighbour and from the right one: products, of lane 0.
    ring: Channel,
    /// The other direction, and clients.
    doors: Doors,
    /// Both of every further lane.
    lanes: Vec<[Channel; 2]>,
    cut: Cut,
    ws: CircuitWorkspace,
}

impl Three {
    /// Meets the neighbours' keys and the clients' seeds. `brings` tells who owns an input.
    pub(super) fn open(
        member: &mut MemberSession,
        index: u8,
        threads: u16,
        brings: impl Fn(&Member) -> bool,
    ) -> Result<Self, JobError> {
        let agreement = member.agreement.clone();
        let role = Role::new(index).ok_or_else(|| JobError::internal(COMPUTE, "no such party"))?;
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let lane = agreement.control_lane();
        let mut control = [member.channel(1, lane, right, left)?, member.channel(1, lane, left, right)?];
        let (backend, id) = (member.config.backend, member.session());
        let party = Party::open(role, backend, id, Seed::random(), &mut control[0])
            .map_err(|e| explain(&agreement, e).during("session keys"))?;
        let delay =
            delay::announced(&mut control).map_err(|e| explain(&agreement, e).during("measuring delays"))?;
        let cut = Cut::new(threads, delay);
        let mut clients = channels_of_clients(member, 0)?;
        let seeds = receive_seeds(&agreement, &mut clients, brings)?;
        let doors = Doors {
            role,
            driver: Driver::new(),
            io: member.channel(1, 0, right, left)?,
            clients: agreement.clients.iter().cloned().zip(clients).collect(),
            seeds,
            comparison: None,
            watch: member.net.watch(),
        };
        let ring = member.channel(0, 0, left, right)?;
        let mut lanes = vec![];
        for lane in 1..cut.lanes() as u16 {
            lanes.push([member.channel(0, lane, left, right)?, member.channel(1, lane, right, left)?]);
        }
        let (me, ws) = (Member::Party(index), CircuitWorkspace::default());
        Ok(Self { me, party, control, ring, doors, lanes, cut, ws })
    }

    /// The way in which runs are cut.
    pub(super) fn pieces(&self) -> Cut {
        self.cut
    }

    pub(super) fn agree(
        &mut self,
        member: &MemberSession,
        lengths: Lengths,
    ) -> Result<BTreeMap<String, u64>, JobError> {
        let [forward, backward] = &mut self.control;
        lengths.at_party(&member.agreement, &mut [forward, backward], self.doors.clients.iter_mut())
    }

    /// Runs a computation: records of this party's inputs go in, in order, and those of what it learns come out.
    pub(super) fn run(
        &mut self,
        member: &MemberSession,
        bound: &Bound,
        form: &Form,
        own: &[Zeroizing<Vec<u8>>],
        go_on: GoOn<'_>,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, JobError> {
        let mine = bound.owners.iter().zip(&bound.inputs).filter(|(owner, _)| **owner == self.me);
        let own = mine.zip(own).flat_map(|((_, extent), records)| extent.planes(records).to_vec());
        let own: Zeroizing<Vec<u8>> = Zeroizing::new(own.collect());
        let planes = self.shares(bound, form, &own, go_on).map_err(|e| {
            let e = match e {
                Failed::Net(e) => explain(&member.agreement, e),
                Failed::Job(e) => e,
            };
            e.during(COMPUTE)
        })?;
        let mine = bound.recipients.iter().zip(&bound.outputs).filter(|(to, _)| to.contains(&self.me));
        let mut at = 0;
        Ok(mine
            .map(|(_, extent)| {
                at += extent.bytes();
                extent.records(&planes[at - extent.bytes()..at])
            })
            .collect())
    }

    /// Planes in, shares between, planes out.
    fn shares(
        &mut self,
        bound: &Bound,
        form: &Form,
        own: &[u8],
        go_on: GoOn<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, Failed> {
        let internal = |e: &dyn std::fmt::Display| Failed::Job(JobError::internal(COMPUTE, e));
        let mut batch = self.party.next_batch().map_err(|e| internal(&e))?;
        let inputs: Vec<_> = bound.owners.iter().zip(bound.inputs.iter().map(Extent::bytes)).collect();
        let shares = self.doors.share(&mut batch, &inputs, own)?;
        // A sort opens comparisons: before, clients' shares are known to be whole.
        self.doors.compared()?;
        let shares = match form {
            Form::Circuit(program) => {
                let (shares, ws) = (circuit_of(&bound.inputs, &shares), std::mem::take(&mut self.ws));
                let run = CircuitBatch::new(program.clone(), batch.context(), &shares, 1, ws);
                let mut run = run.map_err(|e| internal(&e))?;
                self.doors.driver.run(&mut self.ring, &mut run)?;
                let shares = planes_of(&bound.outputs, &run.output());
                self.ws = run.into_workspace();
                shares
            }
            Form::Steps(plan) => {
                let inputs = bits_of(&bound.inputs, &shares).map_err(|e| internal(&e))?;
                let first = [&mut self.ring, &mut self.doors.io];
                let lanes = std::iter::once(first).chain(self.lanes.iter_mut().map(<[Channel; 2]>::each_mut));
                let mut go_on = |done: usize, whole: usize| go_on(done as u64, whole as u64);
                let (party, lanes) = (&mut self.party, lanes.collect());
                let outputs = hushwire_three::run(party, lanes, plan, self.cut, inputs, &mut go_on);
                trimmed(outputs.map_err(of_steps)?)
            }
        };
        let outputs = bound.recipients.iter().map(|to| &to[..]).zip(bound.outputs.iter().map(Extent::bytes));
        self.doors.open(&mut batch, &outputs.collect::<Vec<_>>(), shares)
    }

    pub(super) fn into_links(self) -> Links {
        let clients = self.doors.clients.into_iter().map(|(_, channel)| channel);
        Links {
            word: self.control.into_iter().chain(clients).collect(),
            kept: self.lanes.into_iter().flatten().chain([self.ring, self.doors.io]).collect(),
        }
    }
}

/// Shares of each value for itself.
fn bits_of(extents: &[Extent], shares: &Shares) -> Result<Vec<Bits>, ShareError> {
    let mut at = 0;
    let one = |extent: &Extent| {
        let place = at..at + extent.bytes();
        at = place.end;
        let [own, next] = [&shares.own, &shares.next].map(|share| share[place.clone()].to_vec());
        Bits::new(extent.scalar.bits(), extent.rows, Shares { own, next })
    };
    extents.iter().map(one).collect()
}

/// Shares of all values, one after the other.
fn trimmed(values: Vec<Bits>) -> Shares {
    let mut shares = Shares { own: vec![], next: vec![] };
    for value in values {
        let value = value.trimmed().into_shares();
        shares.own.extend_from_slice(&value.own);
        shares.next.extend_from_slice(&value.next);
    }
    shares
}

fn of_steps(e: ThreeError) -> Failed {
    match e {
        ThreeError::Net(e) | ThreeError::Rep3(Rep3Error::Net(e)) => Failed::Net(e),
        ThreeError::Cancelled => Failed::Job(cancelled()),
        ThreeError::Compute(e) => Failed::Job(JobError::usage(COMPUTE, e.cause(), e.remedy())),
        e => Failed::Job(JobError::internal(COMPUTE, e)),
    }
}

/// Both shares, value after value.
fn each(
    extents: &[Extent],
    shares: &Shares,
    bytes: fn(&Extent) -> usize,
    turn: fn(&Extent, &[u8], &mut [u8]),
    made: fn(&Extent) -> usize,
) -> Shares {
    let one = |share: &[u8]| {
        let (mut out, mut at) = (vec![0; extents.iter().map(made).sum()], [0; 2]);
        for extent in extents {
            let [from, to] = at;
            at = [from + bytes(extent), to + made(extent)];
            turn(extent, &share[from..at[0]], &mut out[to..at[1]]);
        }
        out
    };
    Shares { own: one(&shares.own), next: one(&shares.next) }
}

/// Shares of planes as those of a circuit's registers.
fn circuit_of(extents: &[Extent], planes: &Shares) -> Shares {
    each(extents, planes, Extent::bytes, Extent::spread, Extent::bits)
}

/// Shares of a circuit's registers as those of planes.
fn planes_of(extents: &[Extent], registers: &Shares) -> Shares {
    each(extents, registers, Extent::bits, Extent::gather, Extent::bytes)
}

/// One instance of a circuit has a byte for each bit, element after element; planes have eight rows in one.
impl Extent {
    /// Bits of all elements.
    pub(super) fn bits(&self) -> usize {
        self.scalar.bits() * self.rows
    }

    /// Planes to registers.
    pub(super) fn spread(&self, planes: &[u8], registers: &mut [u8]) {
        let (bits, height) = (self.scalar.bits(), plane_bytes(self.rows));
        for (r, element) in registers.chunks_exact_mut(bits).enumerate() {
            for (b, register) in element.iter_mut().enumerate() {
                *register = planes[b * height + r / 8] >> (r % 8) & 1;
            }
        }
    }

    /// Registers to planes.
    pub(super) fn gather(&self, registers: &[u8], planes: &mut [u8]) {
        let (bits, height) = (self.scalar.bits(), plane_bytes(self.rows));
        planes.fill(0);
        for (r, element) in registers.chunks_exact(bits).enumerate() {
            for (b, register) in element.iter().enumerate() {
                planes[b * height + r / 8] |= (register & 1) << (r % 8);
            }
        }
    }
}
