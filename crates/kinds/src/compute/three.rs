//! One of three parties: its links, set up once, and computations on them.
//!
//! ```text
//! open   session keys with the neighbours; delays, which determine the cut; clients' seeds
//! run    inputs shared ─► clients' shares compared ─► steps, or a circuit ─► outputs opened
//! seal   digests of shares for recipients that are not connected ─► both neighbours
//! ```
//!
//! **Security.** Semi-honest, one corrupted party, and any clients with it. The parties compare
//! clients' shares before they open anything that depends on them.

use super::{
    ComputeTask,
    bound::{BoundComputation, Extent, RunForm, places},
    delay,
    engine::{Engine, GoOn, Links, Records, cancelled},
    lengths::{Lengths, Told},
    threads::{within, within_shards},
};
use hushwire_block::Wiped;
use hushwire_circuit::planes::plane_bytes;
use hushwire_fault::code;
use hushwire_machine::{Channel, drive::Driver};
use hushwire_prg::Seed;
use hushwire_rep3::{Addition, CircuitBatch, CircuitWorkspace, Rep3Error, Rep3Party, Role, Shares};
use hushwire_session::{
    Fault, Member, SealedOutput, SealedShare, Shards, StoredInput,
    doors::{Doors, SharedValue, Stored, channels_of_clients, receive_seeds},
    explain,
    run::{self, MemberSession},
    sealed::Unsealed,
    stored::STORED,
    threads::{COMPUTE, Failed},
};
use hushwire_three::{Cut, KeptInputs, ThreeError, run_kept, run_sharded};
use std::sync::Arc;

/// A party's links.
pub(super) struct Three {
    me: Member,
    party: Rep3Party,
    /// To the right neighbour and from the left one, and the other way round: for session keys,
    /// lengths and the confirmation.
    control: [Channel; 2],
    /// To the left neighbour and from the right one: the products of lane 0.
    ring: Channel,
    /// The other direction, and clients.
    doors: Doors,
    /// Both directions of every further lane.
    lanes: Vec<[Channel; 2]>,
    /// The cut that follows from threads and delays, and the cut of the next run.
    usual: Cut,
    cut: Cut,
    ws: CircuitWorkspace,
    /// The number of runs so far.
    turn: u32,
    /// Inputs that were shared to this party before the session.
    kept: Option<Arc<KeptShares>>,
    /// The shares that the last run sealed.
    sealed: Vec<(String, SealedShare)>,
    /// The channel to this party's other shards.
    shards: Option<Shards>,
}

/// Shares of all inputs of one owner, for any number of runs.
pub(crate) struct KeptShares {
    owner: Member,
    inputs: KeptInputs,
}

/// All inputs of a run, in order. An input that is not shared in this run is empty.
fn shared_now(bound: &BoundComputation, is_shared: impl Fn(&Member) -> bool) -> Vec<SharedValue<&Member>> {
    let inputs = bound.seats.owners.iter().zip(&bound.inputs).map(|(who, of)| way(who, of));
    inputs.map(|way| if is_shared(way.who) { way } else { SharedValue { bytes: 0, ..way } }).collect()
}

/// The part of all shares that belongs to each input, in order.
fn parts(inputs: &[SharedValue<&Member>], shares: &Shares) -> Vec<Shares> {
    let mut at = 0;
    let part = |way: &SharedValue<&Member>| {
        let place = at..at + way.bytes;
        at = place.end;
        let [own, next] = [&shares.own, &shares.next].map(|share| share[place.clone()].to_vec());
        Shares { own, next }
    };
    inputs.iter().map(part).collect()
}

impl Three {
    /// Exchanges keys with the neighbours, and receives the clients' seeds. `brings` tells whether
    /// a member owns an input.
    pub(super) fn open(
        member: &mut MemberSession,
        index: u8,
        threads: u16,
        brings: impl Fn(&Member) -> bool,
    ) -> Result<Self, Fault> {
        let agreement = member.agreement.clone();
        let role = Role::new(index).ok_or_else(|| Fault::internal(COMPUTE, "no such party"))?;
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let lane = agreement.control_lane();
        let mut control = [member.channel(1, lane, right, left)?, member.channel(1, lane, left, right)?];
        let (backend, id) = (member.config.backend, member.session());
        let party = Rep3Party::open(role, backend, id, Seed::random(), &mut control[0])
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
            stored: Stored::of(std::mem::take(&mut member.config.stored)),
            watch: member.net.watch(),
        };
        let ring = member.channel(0, 0, left, right)?;
        let mut lanes = vec![];
        for lane in 1..cut.lanes() as u16 {
            lanes.push([member.channel(0, lane, left, right)?, member.channel(1, lane, right, left)?]);
        }
        let (me, ws) = (Member::Party(index), CircuitWorkspace::default());
        let (kept, sealed, shards) = (None, vec![], member.shards.clone());
        Ok(Self {
            me,
            party,
            control,
            ring,
            doors,
            lanes,
            usual: cut,
            cut,
            ws,
            turn: 0,
            kept,
            sealed,
            shards,
        })
    }

    /// Sets the shares of inputs that were shared before the session.
    pub(super) fn with_kept(self, kept: Arc<KeptShares>) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// Receives shares of one owner's inputs, and computes nothing. `own` are the records that this
    /// party brings if it is the owner.
    pub(super) fn keep(
        &mut self,
        (bound, form): (&BoundComputation, &RunForm),
        owner: &Member,
        own: &[u8],
    ) -> Result<KeptShares, Failed> {
        let RunForm::Steps(plan) = form else { return Err(internal(&"a served model has a plan")) };
        let stored = if owner.is_connected() { vec![] } else { self.stored(bound)? };
        let inputs = shared_now(bound, |who| who == owner);
        let mut batch = self.party.next_batch().map_err(|e| internal(&e))?;
        let shares = self.doors.share(&mut batch, self.turn, &inputs, own, &stored)?;
        self.turn += 1;
        self.doors.compared()?;
        let all = parts(&inputs, &shares).into_iter().enumerate();
        let shares = all.filter(|(k, _)| inputs[*k].who == owner).collect();
        let inputs = KeptInputs::new(plan, shares).map_err(of_steps)?;
        Ok(KeptShares { owner: owner.clone(), inputs })
    }

    /// The channel to the client, if the session has one.
    pub(super) fn client(&mut self) -> Option<&mut Channel> {
        self.doors.clients.first_mut().map(|(_, channel)| channel)
    }

    /// The control channels to both neighbours.
    pub(super) fn neighbours(&mut self) -> &mut [Channel; 2] {
        &mut self.control
    }

    /// Shares inputs, computes on the shares, and opens outputs.
    fn shares(
        &mut self,
        bound: &BoundComputation,
        form: &RunForm,
        own: &[u8],
        go_on: GoOn<'_>,
    ) -> Result<Wiped<Vec<u8>>, Failed> {
        let kept = self.kept.clone();
        let is_kept = |who: &Member| kept.as_ref().is_some_and(|kept| kept.owner == *who);
        let stored = if kept.is_some() { vec![] } else { self.stored(bound)? };
        let mut batch = self.party.next_batch().map_err(|e| internal(&e))?;
        let inputs = shared_now(bound, |who| !is_kept(who));
        let turn = self.turn;
        self.turn = turn.checked_add(1).ok_or_else(|| internal(&"a session runs 2^32 computations"))?;
        let shares = self.doors.share(&mut batch, turn, &inputs, own, &stored)?;
        // A sort opens comparisons, so the clients' shares are checked before.
        self.doors.compared()?;
        let shares = match form {
            RunForm::Circuit(program) => {
                let (shares, ws) = (circuit_of(&bound.inputs, &shares), std::mem::take(&mut self.ws));
                let run = CircuitBatch::new(program.clone(), batch.context(), &shares, 1, ws);
                let mut run = run.map_err(|e| internal(&e))?;
                self.doors.driver.run(&mut self.ring, &mut run)?;
                let shares = planes_of(&bound.outputs, &run.output());
                self.ws = run.into_workspace();
                shares
            }
            RunForm::Steps(plan) => {
                let inputs = parts(&inputs, &shares);
                drop(shares);
                let first = [&mut self.ring, &mut self.doors.io];
                let lanes = std::iter::once(first).chain(self.lanes.iter_mut().map(<[Channel; 2]>::each_mut));
                let clients = self.doors.watch.clone().filter(|_| !self.doors.clients.is_empty());
                let mut go_on = |done: usize, whole: usize| {
                    // The plan is public, and so is the time of each step.
                    clients.iter().for_each(|watch| watch.comes(done as u64, whole as u64));
                    go_on(done as u64, whole as u64)
                };
                let (party, lanes, cut) = (&mut self.party, lanes.collect(), self.cut);
                let outputs = match (&kept, &self.shards) {
                    (Some(kept), _) => {
                        let owners = bound.seats.owners.iter().zip(inputs).enumerate();
                        let rest = owners.filter(|(_, (who, _))| !is_kept(who)).map(|(k, (_, x))| (k, x));
                        run_kept(party, lanes, (plan, &kept.inputs), cut, rest.collect(), &mut go_on)
                    }
                    (None, None) => hushwire_three::run(party, lanes, plan, cut, inputs, &mut go_on),
                    (None, Some(shards)) => {
                        let mut mover = shards.mover();
                        run_sharded(party, lanes, plan, cut, &mut **mover, inputs, &mut go_on)
                    }
                };
                all(&outputs.map_err(of_steps)?)
            }
            #[cfg(feature = "two")]
            RunForm::Pair(_) => return Err(internal(&"three parties have no plan of two")),
        };
        let outputs = bound.seats.recipients.iter().zip(&bound.outputs).map(|(to, of)| way(&to[..], of));
        let absent = bound.absent();
        let (learnt, sealed) = self.doors.open(&mut batch, &outputs.collect::<Vec<_>>(), &absent, shares)?;
        self.sealed = self.seal(bound, &absent, &sealed)?;
        Ok(learnt)
    }

    /// The columns of data sets that hold inputs.
    fn stored(&self, bound: &BoundComputation) -> Result<Vec<StoredInput>, Fault> {
        let input = |(input, data, name): (usize, &str, &str)| {
            let extent = &bound.inputs[input];
            let missing = || Fault::internal(STORED, format!("data set {data} was not opened"));
            if extent.addition != Addition::Xor {
                return Err(Fault::internal(STORED, "inputs at rest are bit planes"));
            }
            let kept = self.doors.stored.data.get(data).ok_or_else(missing)?;
            let column = bound.column(name, extent.scalar);
            let column = kept.column(data, &column, extent.scalar.bits(), Some(&extent.lengths))?;
            Ok(StoredInput { data: data.to_owned(), input, column })
        };
        bound.stored().map(input).collect()
    }

    /// Sends both neighbours the digests of this party's shares for recipients that are not
    /// connected.
    fn seal(
        &mut self,
        bound: &BoundComputation,
        absent: &[Member],
        shares: &[Wiped<Vec<u8>>],
    ) -> Result<Vec<(String, SealedShare)>, Failed> {
        let mut sealed = vec![];
        for (member, share) in absent.iter().zip(shares) {
            let outputs = bound.rest().outputs().iter().zip(&bound.outputs).zip(&bound.seats.recipients);
            let outputs = outputs.filter(|(_, to)| to.contains(member)).map(|((output, extent), _)| {
                let word = if let Addition::Words(bytes) = extent.addition { Some(bytes) } else { None };
                SealedOutput {
                    name: output.name.clone(),
                    scalar: extent.scalar.to_string(),
                    lengths: extent.lengths.clone(),
                    word,
                    bytes: extent.bytes(),
                }
            });
            let (party, name) = (self.doors.role.index() as u8, member.name().unwrap_or_default());
            let unsealed = Unsealed::new(party, name, outputs.collect(), share)?;
            let (own, mut previous, mut next) = (unsealed.digest(), [0; 32], [0; 32]);
            self.doors.io.start(SEAL, &own)?;
            self.ring.exchange(SEAL, &own, &mut next)?;
            self.doors.io.finish(SEAL, &own, &mut previous)?;
            sealed.push((name.to_owned(), unsealed.sealed(&previous, next)));
        }
        Ok(sealed)
    }
}

fn internal(e: &dyn std::fmt::Display) -> Failed {
    Failed::Job(Fault::internal(COMPUTE, e))
}

/// The name in errors of the step in which parties vouch for each other's shares.
const SEAL: &str = "sealing outputs";

impl Engine for Three {
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        let [forward, backward] = &mut self.control;
        lengths.at_party(&member.agreement, &mut [forward, backward], self.doors.clients.iter_mut())
    }

    fn fit(&mut self, form: &RunForm, task: &ComputeTask, _: &Told) -> Result<(), Fault> {
        self.cut = match form {
            RunForm::Steps(plan) => match &self.shards {
                None => within(plan, self.usual, task.job().memory)?,
                Some(shards) => {
                    // An operation that does not fit in any pieces was refused earlier, with its
                    // name.
                    let operation = |_| "an operation".to_owned();
                    within_shards(plan, self.usual, shards.shards(), task.job().memory, operation)?
                }
            },
            _ => self.cut,
        };
        Ok(())
    }

    fn run(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        form: &RunForm,
        own: Vec<Records>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        let bytes = bound.inputs_of(&self.me).map(|(_, extent)| extent.bytes()).sum();
        let mut brought = Wiped::new(Vec::with_capacity(bytes));
        let mine = bound.inputs_of(&self.me).zip(&own);
        mine.for_each(|((_, extent), records)| extent.append(records, &mut brought));
        drop(own);
        let learnt = self.shares(bound, form, &brought, go_on);
        let learnt = learnt.map_err(|e| e.explain(&member.agreement).during(COMPUTE))?;
        let mine: Vec<_> = bound.outputs_of(&self.me).collect();
        let places = places(mine.iter().copied());
        Ok(mine.iter().zip(places).map(|(extent, place)| extent.opened(&learnt[place])).collect())
    }

    fn links(&mut self) -> Links<'_> {
        let clients = self.doors.clients.iter_mut().map(|(_, channel)| channel);
        Links { both: self.control.iter_mut().chain(clients).collect(), ..Links::default() }
    }

    fn sealed(&mut self) -> Vec<(String, SealedShare)> {
        std::mem::take(&mut self.sealed)
    }

    fn into_links(self: Box<Self>) -> run::Links {
        let clients = self.doors.clients.into_iter().map(|(_, channel)| channel);
        run::Links {
            word: self.control.into_iter().chain(clients).collect(),
            kept: self.lanes.into_iter().flatten().chain([self.ring, self.doors.io]).collect(),
        }
    }
}

fn way<W>(who: W, extent: &Extent) -> SharedValue<W> {
    SharedValue { who, bytes: extent.bytes(), addition: extent.addition }
}

/// Shares of all values, one after the other.
fn all(values: &[Shares]) -> Shares {
    let each = |of: fn(&Shares) -> &[u8]| values.iter().flat_map(|value| of(value).iter().copied()).collect();
    Shares { own: each(|shares| &shares.own), next: each(|shares| &shares.next) }
}

fn of_steps(e: ThreeError) -> Failed {
    match e {
        ThreeError::Net(e) | ThreeError::Rep3(Rep3Error::Net(e)) => Failed::Net(e),
        ThreeError::Cancelled => Failed::Job(cancelled()),
        ThreeError::Compute(e) => Failed::Job(e.fault().coded(code::COMPUTATION).during(COMPUTE)),
        e => Failed::Job(Fault::internal(COMPUTE, e)),
    }
}

/// Copies both shares, value by value.
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

/// Turns shares of planes into shares of a circuit's registers.
fn circuit_of(extents: &[Extent], planes: &Shares) -> Shares {
    each(extents, planes, Extent::bytes, Extent::spread, Extent::bits)
}

/// Turns shares of a circuit's registers into shares of planes.
fn planes_of(extents: &[Extent], registers: &Shares) -> Shares {
    each(extents, registers, Extent::bits, Extent::gather, Extent::bytes)
}

/// One instance of a circuit has a byte for each bit, element after element. Planes have eight rows
/// in a byte.
impl Extent {
    /// The number of bits of all elements.
    pub(super) fn bits(&self) -> usize {
        self.scalar.bits() * self.rows
    }

    /// Copies planes to registers.
    pub(super) fn spread(&self, planes: &[u8], registers: &mut [u8]) {
        let (bits, height) = (self.scalar.bits(), plane_bytes(self.rows));
        for (r, element) in registers.chunks_exact_mut(bits).enumerate() {
            for (b, register) in element.iter_mut().enumerate() {
                *register = planes[b * height + r / 8] >> (r % 8) & 1;
            }
        }
    }

    /// Copies registers to planes.
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
