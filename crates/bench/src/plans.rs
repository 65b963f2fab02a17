//! Three parties of this process that run a plan of steps on shares, over any transport. `bench
//! tables` and `bench tpch` time them.

use std::{
    collections::BTreeMap,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Output, Tensor, Type};
use hushwire_machine::{Channel, Meter, SessionId};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Rep3Party, Role, Shares};
use hushwire_three::{
    Cut, Plan,
    test_support::{opened, shared},
};
use hushwire_wire::Shape;

use crate::{
    BenchRow, BoxError, CaseContext, Unit,
    bounds::{self, count},
    human::memory,
    link::{self, RowLink},
    net::{Transport, each, nets, span},
    timing::{peak_memory_bytes, reset_peak_memory},
};

/// The outputs, by name.
pub(crate) type Outputs = BTreeMap<String, Tensor>;

/// A plan, and its connected parties.
pub(crate) struct Parties {
    plan: Plan,
    cut: Cut,
    inputs: Vec<String>,
    outputs: Vec<(String, Type)>,
    over: (Transport, Shape),
    backend: Backend,
    seats: Vec<Seat>,
    meters: [Meter; 3],
    runs: u64,
}

struct Seat {
    party: Rep3Party,
    lanes: Vec<[Channel; 2]>,
}

/// The bytes and rounds of a run.
pub(crate) struct Moved {
    /// The bytes that the busiest party sends.
    pub(crate) busiest: u64,
    /// The bytes that all parties send.
    pub(crate) all: u64,
    pub(crate) rounds: u64,
}

impl Parties {
    /// Parties with this many compute threads each. [`connect`](Self::connect) connects them.
    pub(crate) fn new(
        computation: &Computation,
        over: (Transport, Shape),
        backend: Backend,
        threads: usize,
    ) -> Result<Self, BoxError> {
        let (plan, cut) = (Plan::new(computation)?, Cut::new(u16::try_from(threads)?, over.1.one_way()));
        let inputs = computation.inputs().map(|(name, _)| name.to_owned()).collect();
        let output = |output: &Output| (output.name.clone(), computation.node(output.value).ty.clone());
        let outputs = computation.outputs().iter().map(output).collect();
        let (seats, meters) = Default::default();
        Ok(Self { plan, cut, inputs, outputs, over, backend, seats, meters, runs: 0 })
    }

    /// Connects the parties again.
    pub(crate) fn connect(&mut self) -> Result<(), BoxError> {
        // One more lane is for session keys.
        let key_lane = u16::try_from(self.cut.lanes())?;
        let (id, backend) = (SessionId::fresh()?, self.backend);
        self.seats.clear();
        let ends = nets::<3>(self.over.0, self.over.1, id, key_lane + 1)?.into_iter().zip(&self.meters);
        self.seats = each(ends, |i, (mut net, meter)| {
            let role = Role::ALL[i];
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            let party =
                Rep3Party::open(role, backend, id, Seed::random(), &mut net.channel(key_lane, right, left)?)?;
            let mut lanes = vec![];
            for lane in 0..key_lane {
                let mut both = [net.channel(lane, left, right)?, net.channel(lane, right, left)?];
                both.iter_mut().for_each(|channel| channel.tap(meter.tap()));
                lanes.push(both);
            }
            Ok(Seat { party, lanes })
        })?;
        Ok(())
    }

    /// The bytes and rounds of one run.
    pub(crate) fn moved(&self) -> Moved {
        let (runs, readings) = (self.runs.max(1), self.meters.each_ref().map(Meter::reading));
        let bytes = readings.each_ref().map(|reading| reading.bytes_sent() / runs);
        let rounds = readings.each_ref().map(|reading| reading.rounds() / runs);
        Moved {
            busiest: bytes.into_iter().max().unwrap_or(0),
            all: bytes.iter().sum(),
            rounds: rounds.into_iter().max().unwrap_or(0),
        }
    }

    /// Runs this many repetitions. Inputs are shared before, and outputs are opened and checked
    /// afterwards.
    fn time(
        &mut self,
        repetitions: u64,
        inputs: &BTreeMap<String, Tensor>,
        check: &dyn Fn(&Outputs) -> Result<(), BoxError>,
    ) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            let (time, outputs) = self.run(self.shares(inputs)?)?;
            took += time;
            check(&outputs)?;
        }
        Ok(took)
    }

    /// Runs on shares of the inputs. Returns the time from the first party's start to the last
    /// one's end, and the outputs.
    pub(crate) fn run(&mut self, shares: [Vec<Shares>; 3]) -> Result<(Duration, Outputs), BoxError> {
        let (plan, cut, barrier) = (&self.plan, self.cut, Barrier::new(3));
        let ended = each(self.seats.iter_mut().zip(shares), |_, (seat, shares)| {
            let lanes: Vec<_> = seat.lanes.iter_mut().map(<[Channel; 2]>::each_mut).collect();
            barrier.wait();
            let begin = Instant::now();
            let outputs = hushwire_three::run(&mut seat.party, lanes, plan, cut, shares, &mut |_, _| true);
            let end = Instant::now();
            if outputs.is_err() {
                // Peers that wait for this party end too.
                seat.lanes.clear();
            }
            Ok(((begin, end), outputs))
        })?;
        let took = span(ended.iter().map(|(span, _)| *span));
        let outputs = ended.into_iter().map(|(_, made)| made).collect::<Result<Vec<_>, _>>()?;
        self.runs += 1;
        Ok((took, self.opened(&outputs)))
    }

    /// The parties' shares of all inputs.
    pub(crate) fn shares(&self, inputs: &BTreeMap<String, Tensor>) -> Result<[Vec<Shares>; 3], BoxError> {
        let mut prg = Prg::new(Backend::best(), &Seed::random(), "bench tables shares");
        let mut shares: [Vec<Shares>; 3] = Default::default();
        for (name, door) in self.inputs.iter().zip(self.plan.inputs()) {
            let value = inputs.get(name).ok_or("an input is missing")?;
            shares.iter_mut().zip(shared(&mut prg, value, *door)).for_each(|(all, one)| all.push(one));
        }
        Ok(shares)
    }

    fn opened(&self, shares: &[Vec<Shares>]) -> Outputs {
        let outputs = self.outputs.iter().zip(self.plan.outputs()).enumerate();
        let opened = outputs.map(|(k, ((name, ty), door))| {
            let parts = [0, 1, 2].map(|p| &shares[p][k]);
            (name.clone(), opened(parts, door, ty))
        });
        opened.collect()
    }

    /// The bytes of all inputs and outputs, with both shares at all parties. A run reads and writes
    /// at least these.
    fn touched(&self) -> usize {
        let doors = self.plan.inputs().iter().copied().chain(self.plan.outputs());
        6 * doors.map(|door| door.bytes()).sum::<usize>()
    }
}

/// A row with the time of a run, for `rows` rows of its tables, and its limits. These are copies of
/// the bytes that it reads and writes, and its bytes on the link.
pub(crate) fn measure(
    ctx: &mut CaseContext<'_>,
    parties: &mut Parties,
    (transport, net): (Transport, Shape),
    (what, rows): (&str, u64),
    inputs: &BTreeMap<String, Tensor>,
    check: &dyn Fn(&Outputs) -> Result<(), BoxError>,
) -> Result<BenchRow, BoxError> {
    let timer = ctx.timer();
    parties.connect()?;
    reset_peak_memory();
    let link = RowLink::three_flows(transport, 1 << 16);
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| parties.time(n, inputs, check)))?;
    let (peak, moved, touched) = (peak_memory_bytes(), parties.moved(), parties.touched());
    let cores = count(thread::available_parallelism()?.get().min(3) as u64);
    let copied = bounds::copies(ctx, &format!("copies of {}", memory(touched as u64)), touched)?;
    let name = format!("copies of {}, {what}", memory(touched as u64));
    // A copy reads and writes every byte that it counts.
    let limit = ctx.bound(&name, Unit::MS, |_| Ok(1e3 * count(touched as u64) / (2.0 * copied * cores)))?;
    let bytes = [count(moved.all), count(moved.busiest)];
    let mut limit = link::lengthened(ctx, limit, (taken.as_ref(), net), &format!("{what} over"), bytes)?;
    if !net.rtt.is_zero() {
        let rounds = count(moved.rounds);
        let way = ctx.bound(&format!("{} rounds of {net}", moved.rounds), Unit::MS, |_| {
            Ok(1e3 * rounds * net.one_way().as_secs_f64())
        })?;
        limit = limit.tighter(way, &Unit::MS);
    }
    let row = BenchRow::time("time", &seconds)?
        .bytes_per_unit(count(moved.busiest) / count(rows.max(1)))
        .rounds(moved.rounds)
        .bound(&limit);
    Ok(peak.into_iter().fold(row, BenchRow::peak_memory_bytes))
}
