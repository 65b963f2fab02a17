//! Three parties of this process that run a plan of steps on shares, over any transport: what `bench tables` and `bench tpch` time.

use std::{
    collections::BTreeMap,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor};
use hushwire_machine::{Channel, Meter, SessionId};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Party, Role, Shares};
use hushwire_three::{
    Cut, Plan,
    test_support::{opened, shared},
};
use hushwire_wire::Shape;

use crate::{
    Bound, BoxError, Context, Measurement, Row, Unit,
    bounds::{self, count},
    human::memory,
    link::{self, Link},
    net::{Transport, each, nets},
    timing::{peak_memory_bytes, reset_peak_memory},
};

/// Outputs by their names.
pub(crate) type Outputs = BTreeMap<String, Tensor>;

/// A plan, and the parties connected.
pub(crate) struct Parties<'c> {
    computation: &'c Computation,
    plan: Plan,
    cut: Cut,
    seats: Vec<Seat>,
    meters: [Meter; 3],
    runs: u64,
}

struct Seat {
    party: Party,
    lanes: Vec<[Channel; 2]>,
}

/// The bytes and rounds of a run.
pub(crate) struct Moved {
    /// Bytes that the busiest party sends.
    pub(crate) busiest: u64,
    /// Bytes of all.
    pub(crate) all: u64,
    pub(crate) rounds: u64,
}

impl<'c> Parties<'c> {
    /// Parties of one compute thread each.
    pub(crate) fn new(
        computation: &'c Computation,
        (transport, net): (Transport, Shape),
        backend: Backend,
    ) -> Result<Self, BoxError> {
        let (plan, cut) = (Plan::new(computation)?, Cut::new(1, net.one_way()));
        // One lane more, for session keys.
        let key_lane = u16::try_from(cut.lanes())?;
        let id = SessionId::fresh()?;
        let meters: [Meter; 3] = Default::default();
        let ends = nets::<3>(transport, net, id, key_lane + 1)?.into_iter().zip(&meters);
        let seats = each(ends, |i, (mut net, meter)| {
            let role = Role::ALL[i];
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            let party =
                Party::open(role, backend, id, Seed::random(), &mut net.channel(key_lane, right, left)?)?;
            let mut lanes = vec![];
            for lane in 0..key_lane {
                let mut both = [net.channel(lane, left, right)?, net.channel(lane, right, left)?];
                both.iter_mut().for_each(|channel| channel.tap(meter.tap()));
                lanes.push(both);
            }
            Ok(Seat { party, lanes })
        })?;
        Ok(Self { computation, plan, cut, seats, meters, runs: 0 })
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

    /// So many repetitions, each from the first party's start to the last one's end. Inputs are shared before, and outputs
    /// opened and checked afterwards.
    pub(crate) fn time(
        &mut self,
        repetitions: u64,
        inputs: &BTreeMap<String, Tensor>,
        check: &dyn Fn(&Outputs) -> Result<(), BoxError>,
    ) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            let shares = self.shares(inputs)?;
            let (plan, cut, barrier) = (&self.plan, self.cut, Barrier::new(3));
            let ended = each(self.seats.iter_mut().zip(shares), |_, (seat, shares)| {
                let lanes: Vec<[&mut Channel; 2]> =
                    seat.lanes.iter_mut().map(<[Channel; 2]>::each_mut).collect();
                barrier.wait();
                let begin = Instant::now();
                let outputs =
                    hushwire_three::run(&mut seat.party, lanes, plan, cut, shares, &mut |_, _| true);
                let end = Instant::now();
                if outputs.is_err() {
                    // Peers that wait for it end too.
                    seat.lanes.clear();
                }
                Ok((begin, end, outputs))
            })?;
            let mut outputs = vec![];
            let (mut begun, mut end) = (ended[0].0, ended[0].1);
            for (began, ended, made) in ended {
                (begun, end) = (begun.min(began), end.max(ended));
                outputs.push(made?);
            }
            took += end - begun;
            self.runs += 1;
            check(&self.opened(&outputs))?;
        }
        Ok(took)
    }

    fn shares(&self, inputs: &BTreeMap<String, Tensor>) -> Result<[Vec<Shares>; 3], BoxError> {
        let mut prg = Prg::new(Backend::best(), &Seed::random(), "bench tables shares");
        let mut shares: [Vec<Shares>; 3] = Default::default();
        for ((name, _), door) in self.computation.inputs().zip(self.plan.inputs()) {
            let value = inputs.get(name).ok_or("an input is missing")?;
            shares.iter_mut().zip(shared(&mut prg, value, *door)).for_each(|(all, one)| all.push(one));
        }
        Ok(shares)
    }

    fn opened(&self, shares: &[Vec<Shares>]) -> Outputs {
        let outputs = self.computation.outputs().iter().zip(self.plan.outputs()).enumerate();
        let opened = outputs.map(|(k, (output, door))| {
            let parts = [0, 1, 2].map(|p| &shares[p][k]);
            (output.name.clone(), opened(parts, door, &self.computation.node(output.value).ty))
        });
        opened.collect()
    }

    /// Bytes of all inputs and outputs, both shares at all parties: what a run reads and writes at least.
    fn touched(&self) -> usize {
        let doors = self.plan.inputs().iter().copied().chain(self.plan.outputs());
        6 * doors.map(|door| door.bytes()).sum::<usize>()
    }
}

/// A row with the time of a run, `rows` of a table of it, and its limits: copies of what it reads and writes, and its bytes on the link.
pub(crate) fn measure(
    ctx: &mut Context<'_>,
    parties: &mut Parties<'_>,
    (transport, net): (Transport, Shape),
    (what, rows): (&str, u64),
    inputs: &BTreeMap<String, Tensor>,
    check: &dyn Fn(&Outputs) -> Result<(), BoxError>,
) -> Result<Row, BoxError> {
    let timer = ctx.timer();
    reset_peak_memory();
    let link = Link::three_flows(transport, 1 << 16);
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| parties.time(n, inputs, check)))?;
    let (peak, moved, touched) = (peak_memory_bytes(), parties.moved(), parties.touched());
    let cores = count(thread::available_parallelism()?.get().min(3) as u64);
    let copied = bounds::copies(ctx, &format!("copies of {}", memory(touched as u64)), touched)?;
    let name = format!("copies of {}, {what}", memory(touched as u64));
    // A copy reads and writes every byte that it counts.
    let mut limit: Bound =
        ctx.bound(&name, Unit::MS, |_| Ok(1e3 * count(touched as u64) / (2.0 * copied * cores)))?;
    let name = format!("{what} over");
    if let Some(taken) = taken {
        let all = count(moved.all);
        limit = limit.tighter(taken.bound(ctx, &name, &Unit::MS, |rate| 1e3 * all / rate)?, &Unit::MS);
    }
    if let Some(rate) = net.bits_per_second {
        let busiest = count(moved.busiest);
        let line = ctx.bound(&format!("{name} {net}"), Unit::MS, |_| Ok(8e3 * busiest / count(rate)))?;
        limit = limit.tighter(line, &Unit::MS);
    }
    if !net.rtt.is_zero() {
        let rounds = count(moved.rounds);
        let way = ctx.bound(&format!("{} rounds of {net}", moved.rounds), Unit::MS, |_| {
            Ok(1e3 * rounds * net.one_way().as_secs_f64())
        })?;
        limit = limit.tighter(way, &Unit::MS);
    }
    let figures: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
    let time = Measurement::of(&figures).ok_or("nothing was timed")?;
    let row = Row::new("time", Unit::MS, time)
        .bytes_per_unit(count(moved.busiest) / count(rows.max(1)))
        .rounds(moved.rounds)
        .bound(&limit);
    Ok(match peak {
        Some(bytes) => row.peak_memory_bytes(bytes),
        None => row,
    })
}
