//! Runs of several shards, compared with the evaluator and with one machine.

use crate::{
    Cut, Door, Plan, ThreeError,
    sharded::run_sharded,
    test_support::{opened_on_shards, shared_on_shards},
};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, ComputeError, Output, Tensor, evaluate, test_support::inputs};
use hushwire_machine::{Channel, Meter, NetError, SessionId};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{MemoryMover, Mover, Rep3Party, Role, ShareError, Shares, gone};
use hushwire_testkit::{
    run_shards,
    suite::{self, Values, computation_of as text},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// The result of one shard of one party, and the bytes that it sent to other parties.
type Gave = (Result<Vec<Shares>, ThreeError>, u64);

/// Runs all shards of three parties, each on a thread. Results are ordered by shard, then by party.
/// `mover` wraps the movers of the shards. `go_on` is called with the party, the shard and the
/// number of completed steps.
fn all_shards(
    plan: &Plan,
    cut: Cut,
    bound: &Computation,
    given: &Values,
    shards: usize,
    mover: impl Fn(Role, MemoryMover) -> Box<dyn Mover>,
    go_on: impl Fn(Role, usize, usize) -> bool + Sync,
) -> Vec<[Gave; 3]> {
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let inputs = bound.inputs().zip(plan.inputs());
    let inputs: Vec<Vec<[Shares; 3]>> =
        inputs.map(|((name, _), door)| shared_on_shards(&mut prg, &given[name], *door, shards)).collect();
    let count = cut.lanes() as u16;
    run_shards(count, shards, mover, |role, mut net, mut mover| {
        let shard = mover.shard();
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut lanes: Vec<[Channel; 2]> = (0..count)
            .map(|l| [net.channel(l, left, right).unwrap(), net.channel(l, right, left).unwrap()])
            .collect();
        let id = SessionId([3 + shard as u8; 16]);
        let mut party = Rep3Party::open(role, Backend::best(), id, Seed::random(), &mut lanes[0][1]).unwrap();
        let meter = Meter::new();
        lanes.iter_mut().flatten().for_each(|channel| channel.tap(meter.tap()));
        let inputs = inputs.iter().map(|all| all[shard][role.index()].clone()).collect();
        let mut go_on = |done, _| go_on(role, shard, done);
        let made = run_sharded(&mut party, lanes, plan, cut, &mut *mover, inputs, &mut go_on);
        (made, meter.reading().bytes_sent())
    })
}

fn plainly(_: Role, mover: MemoryMover) -> Box<dyn Mover> {
    Box::new(mover)
}

/// A mover that counts. It fails after a number of exchanges, or sends a byte too many.
struct Watched {
    mover: MemoryMover,
    /// The bytes sent to other shards, and the number of exchanges.
    count: Arc<Mutex<[u64; 2]>>,
    gone_after: Option<u64>,
    longer_after: Option<u64>,
}

impl Watched {
    fn counting(mover: MemoryMover) -> Watched {
        Watched { mover, count: Arc::default(), gone_after: None, longer_after: None }
    }
}

impl Mover for Watched {
    fn shard(&self) -> usize {
        self.mover.shard()
    }

    fn shards(&self) -> usize {
        self.mover.shards()
    }

    fn exchange(&mut self, mut to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, NetError> {
        let others = to.iter().enumerate().filter(|(t, _)| *t != self.mover.shard());
        let bytes = others.map(|(_, part)| part.len() as u64).sum::<u64>();
        let exchanges = {
            let mut count = self.count.lock().unwrap();
            (count[0], count[1]) = (count[0] + bytes, count[1] + 1);
            count[1]
        };
        if self.gone_after == Some(exchanges - 1) {
            return Err(gone(self.shard()));
        }
        if self.longer_after == Some(exchanges - 1) {
            to.iter_mut().for_each(|part| part.push(0));
        }
        self.mover.exchange(to)
    }
}

/// The results of all shards together.
struct Ran {
    outputs: Vec<Tensor>,
    /// The bytes that each party sent to others.
    sent: [u64; 3],
    /// For each shard of party 0, the bytes that it sent to other shards, and the number of
    /// exchanges.
    moved: Vec<[u64; 2]>,
}

fn sharded(
    plan: &Plan,
    cut: Cut,
    bound: &Computation,
    given: &Values,
    shards: usize,
) -> Result<Ran, ThreeError> {
    let (mut made, mut sent) = (vec![], [0; 3]);
    let counts: Vec<Arc<Mutex<[u64; 2]>>> = (0..shards).map(|_| Arc::default()).collect();
    let mover = |role: Role, mover: MemoryMover| -> Box<dyn Mover> {
        let mut watched = Watched::counting(mover);
        if role.index() == 0 {
            watched.count = counts[watched.shard()].clone();
        }
        Box::new(watched)
    };
    for parties in all_shards(plan, cut, bound, given, shards, mover, |_, _, _| true) {
        let [a, b, c] = parties;
        sent.iter_mut().zip([&a, &b, &c]).for_each(|(sent, gave)| *sent += gave.1);
        made.push([a.0?, b.0?, c.0?]);
    }
    let outputs = plan.outputs().zip(bound.outputs()).enumerate();
    let tensor = |(k, (door, output)): (usize, (Door, &Output))| {
        let shares: Vec<[&Shares; 3]> = made.iter().map(|of| of.each_ref().map(|party| &party[k])).collect();
        opened_on_shards(&shares, door, &bound.node(output.value).ty)
    };
    let outputs = outputs.map(tensor).collect();
    Ok(Ran { outputs, sent, moved: counts.iter().map(|count| *count.lock().unwrap()).collect() })
}

/// Whether the shards and the evaluator have equal results; false if either refuses.
fn check_shards(
    c: &Computation,
    given: &Values,
    plan: fn(&Computation) -> Result<Plan, ComputeError>,
    cut: Cut,
    shards: usize,
) -> bool {
    let Ok(expected) = evaluate(c, given) else { return false };
    let bound = c.bind(&c.symbols_of(given).unwrap()).unwrap();
    let plan = match plan(&bound) {
        Ok(plan) => plan,
        Err(e) if e.to_string().contains("do not run") => return false,
        Err(e) => panic!("{e}\n{c}"),
    };
    let Ran { outputs, sent, moved } =
        sharded(&plan, cut, &bound, given, shards).unwrap_or_else(|e| panic!("{shards} shards: {e}\n{c}"));
    for (output, made) in bound.outputs().iter().zip(outputs) {
        let expected = &expected[&output.name];
        assert!(made == *expected, "{} on {shards} shards: {made:?} for {expected:?}\n{c}", output.name);
    }
    let planned = plan.sharded_cost(0, cut, shards).unwrap();
    let bytes = planned.iter().map(|shard| shard.between_parties.cost.bytes_sent).sum::<u64>();
    if planned.iter().all(|shard| shard.between_parties.exact) {
        assert_eq!(sent[0], bytes, "{shards} shards\n{c}");
    } else {
        assert!(sent[0] <= bytes, "{} of {bytes} on {shards} shards\n{c}", sent[0]);
    }
    if shards > 1 {
        for (shard, ([bytes, exchanges], planned)) in moved.into_iter().zip(planned).enumerate() {
            let most = (planned.to_shards, planned.exchanges);
            assert!(bytes <= most.0 && exchanges <= most.1, "{bytes} {exchanges} of {most:?}: {shard}\n{c}");
        }
    }
    true
}

#[test]
fn random_computations_on_shards_of_numbers() {
    let mut shards = 1;
    suite::random_computations(120, |c, given| {
        shards = shards % 4 + 1;
        check_shards(c, given, Plan::new, Cut::whole(), shards)
    });
}

#[test]
fn random_computations_on_shards_of_bits() {
    let mut shards = 1;
    suite::random_computations(60, |c, given| {
        shards = shards % 4 + 1;
        check_shards(c, given, Plan::on_bits, Cut::whole(), shards)
    });
}

/// Columns without rows, with one row, with fewer rows than shards, and with more.
#[test]
fn each_operation_on_shards() {
    let mut shards = 1;
    suite::each_operation(&[("u8", 11), ("i16", 11), ("i64", 0), ("u32", 1), ("u37", 3)], 1, |c, given| {
        shards = shards % 3 + 1;
        check_shards(c, given, Plan::new, Cut::whole(), shards + 1)
    });
}

/// A computation with every kind of exchange between shards. Its outputs are long and short.
fn everything() -> Computation {
    text(
        "input x: u32[n] from m\ninput y: u32[n] from m\ninput z: u16[n, 3] from m\nf = x < y\np = x * y\n\
         o = order(x)\nw = permute(z, o)\noutput a = permute(p, invert(o)) to m\noutput b = w to m\n\
         output c = compact(f, p, rows=200) to m\noutput d = prefix_sum(p) to m\noutput e = sum(z, axis=0) to m\n\
         output g = scan_sum(f, x) to m\noutput h = reveal(max_of(x)) + p to m\noutput i = permute(x, order(f)) to m\n\
         output j = sum(z, axis=1) to m\noutput k = prefix_sum(z, axis=0) to m\noutput l = transpose(z, [1, 0]) to m",
    )
}

#[test]
fn pieces_and_lanes_on_shards() {
    let c = everything();
    for (n, shards, threads) in [(1000, 2, 1), (517, 3, 2), (0, 2, 1), (1, 4, 1), (3, 4, 2)] {
        let given = inputs(&c, 7, n);
        let cut = Cut::new(threads, Duration::ZERO).with_rows(64);
        assert!(check_shards(&c, &given, Plan::new, cut, shards), "{n} rows on {shards} shards");
    }
}

/// Bits take whole bytes on each shard, and the sorts of a shard compare as many keys as those of
/// one machine.
#[test]
fn parties_send_as_many_bytes_as_one_machine() {
    let (c, n) = (everything(), 3000);
    let given = inputs(&c, 7, n);
    let bound = c.bind(&c.symbols_of(&given).unwrap()).unwrap();
    let plan = Plan::new(&bound).unwrap();
    let sent = |shards| sharded(&plan, Cut::whole(), &bound, &given, shards).unwrap().sent;
    let one = sent(1);
    for shards in [2, 3, 4] {
        for (one, sent) in one.into_iter().zip(sent(shards)) {
            // The number of comparisons in a sort depends on the order that it opens.
            assert!(100 * sent <= 108 * one, "{sent} bytes of {one} on {shards} shards");
        }
    }
}

/// If a shard is lost in any of its exchanges, all shards of all parties end, each with a cause.
#[test]
fn a_lost_shard_ends_all_shards_of_all_parties() {
    let c = text("input x: u32[9] from m\noutput y = permute(x, order(x)) + reveal(sum(x)) to m");
    let (given, plan) = (inputs(&c, 7, 9), Plan::new(&c).unwrap());
    let (lost, mut whole) = ([1, 1], false);
    for after in 0..60 {
        let mover = |role: Role, mover: MemoryMover| -> Box<dyn Mover> {
            let mut watched = Watched::counting(mover);
            watched.gone_after = ([role.index(), watched.shard()] == lost).then_some(after);
            Box::new(watched)
        };
        let gave = all_shards(&plan, Cut::whole(), &c, &given, 3, mover, |_, _, _| true);
        let all: Vec<_> = gave.iter().flatten().map(|(made, _)| made).collect();
        whole = all.iter().all(|made| made.is_ok());
        if whole {
            assert!(after > 5, "{after} exchanges");
            break;
        }
        for (shard, parties) in gave.iter().enumerate() {
            for (party, (made, _)) in parties.iter().enumerate() {
                let Err(e) = made else { panic!("shard {shard} of party {party} ran after {after}") };
                let ThreeError::Net(e) = e else { panic!("{e}") };
                let is_shard = matches!(e, NetError::Shard { shard: 0..3, .. });
                assert!(is_shard || e.peer().is_some(), "{e}");
                assert!(party != 1 || shard != 1 || matches!(e, NetError::Shard { shard: 1, .. }));
            }
        }
    }
    assert!(whole, "it runs where nothing is lost");
}

/// Each round of products reaches one more party, and the prefix sums reach each shard. A party
/// that needs nothing more from the shard that stops may finish: with one round, one party can.
#[test]
fn a_shard_that_stops_ends_the_others() {
    let c = text("input x: u32[40] from m\noutput y = prefix_sum(x * x * x * x * x) to m");
    let (given, plan) = (inputs(&c, 7, 40), Plan::new(&c).unwrap());
    let stops = |role: Role, shard: usize, done: usize| !(role.index() == 2 && shard == 0 && done > 0);
    let gave = all_shards(&plan, Cut::whole(), &c, &given, 2, plainly, stops);
    assert!(gave.iter().flatten().all(|(made, _)| made.is_err()));
    assert!(matches!(gave[0][2].0, Err(ThreeError::Cancelled)));
}

#[test]
fn what_is_no_shards_is_refused() {
    let c = text("input x: u32[40] from m\noutput y = prefix_sum(x * x) to m");
    let (given, plan) = (inputs(&c, 7, 40), Plan::new(&c).unwrap());
    let longer = |role: Role, mover: MemoryMover| -> Box<dyn Mover> {
        let mut watched = Watched::counting(mover);
        watched.longer_after = (role.index() == 0 && watched.shard() == 0).then_some(0);
        Box::new(watched)
    };
    let gave = all_shards(&plan, Cut::whole(), &c, &given, 2, longer, |_, _, _| true);
    let said = gave[1][0].0.as_ref().map(drop).unwrap_err().to_string();
    assert!(said.contains("shard 0") && said.contains("bytes where the plan has"), "{said}");
    // Shares of all rows are not the shares of one shard.
    let wider = text("input x: u32[42] from m\noutput y = prefix_sum(x * x) to m");
    let other = inputs(&wider, 7, 42);
    let gave = all_shards(&plan, Cut::whole(), &wider, &other, 2, plainly, |_, _, _| true);
    let refused = |made: &Result<_, _>| matches!(made, Err(ThreeError::Share(ShareError::Length { .. })));
    assert!(gave.iter().flatten().all(|(made, _)| refused(made)));
}

#[test]
fn a_shard_takes_its_part_of_the_memory() {
    let near = Cut::new(1, Duration::ZERO);
    let plan = |n: &str, body: &str| {
        let c = text(&format!("input x: u64[{n}] from m\ninput y: u64[{n}] from m\n{body}"));
        Plan::new(&c).unwrap()
    };
    let rows = plan("1048576", "p = x * y\noutput z = p < x to m");
    assert_eq!(rows.shard_memory(near, 0, 1).bytes, rows.memory(near));
    for shard in 0..4 {
        let of_shard = rows.shard_memory(near, shard, 4);
        assert!(of_shard.bytes < rows.memory(near) / 2 && of_shard.whole.is_none());
    }
    // A product of matrices is whole on shard 0, and the error names it.
    let whole = plan("1024, 1024", "output z = matmul(x, y) to m");
    let [first, second] = [0, 1].map(|shard| whole.shard_memory(near, shard, 2));
    let (_, bytes) = first.whole.expect("it is named");
    assert!(bytes > 3 << 24 && first.bytes >= bytes && second.bytes < first.bytes && second.whole.is_none());
    let refused = whole.cut_within_shards(near, 2, bytes / 2).unwrap_err();
    assert!(refused.whole.is_some_and(|(_, bytes)| bytes > refused.bytes / 2), "{refused:?}");
    let most = rows.shard_memory(near, 3, 4).bytes.max(rows.shard_memory(near, 0, 4).bytes);
    assert_eq!(rows.cut_within_shards(near, 4, 2 * most), Ok(near));
    let within = rows.cut_within_shards(near, 4, most - 1).unwrap();
    assert!(within != near && (0..4).all(|shard| rows.shard_memory(within, shard, 4).bytes < most));
}
