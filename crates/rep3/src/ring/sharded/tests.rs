//! Three parties of several shards each, with a thread per shard.

mod orders;
mod views;

use super::*;
use crate::{
    Batch, MemoryMover, Rep3, Rep3Party, Role, in_memory,
    pool::Scratch,
    ring::{
        group::{Group, Sum, Xor},
        test_support::{open_words, parties, share_words},
    },
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_machine::{
    Channel, Meter, Net, PartyId,
    drive::{Lane, Line, Lockstep},
    inproc,
};
use hushwire_prg::{Prg, Seed};
use std::{sync::Arc, time::Duration};

/// One shard of one party.
struct Seat {
    role: Role,
    party: Rep3Party,
    /// The channel to the left and from the right neighbour, and the opposite one.
    channels: [Channel; 2],
    mover: MemoryMover,
    meter: Meter,
}

impl Seat {
    fn new(party: Rep3Party, mut net: Net, mover: MemoryMover) -> Seat {
        let (role, meter) = (party.role(), Meter::new());
        let [left, right] = [role.left().id(), role.right().id()];
        let mut channel = |to: PartyId, from: PartyId| {
            let mut channel = net.channel(0, Some(to), Some(from)).unwrap();
            channel.tap(meter.tap());
            channel
        };
        let channels = [channel(left, right), channel(right, left)];
        Seat { role, party, channels, mover, meter }
    }

    fn own(&self, rows: usize) -> Range<usize> {
        own_rows(&self.mover, rows)
    }

    /// Makes a machine and runs it.
    fn run<T>(
        &mut self,
        make: impl for<'m> FnOnce(Batch, &'m mut dyn Mover) -> Result<Line<'m, T, NetError>, ShareError>,
    ) -> Result<T, NetError> {
        let batch = self.party.next_batch().unwrap();
        let machine = make(batch, &mut self.mover).unwrap();
        drive(&mut self.channels, machine)
    }

    fn random(&mut self, rows: usize) -> Arc<Permutation> {
        Permutation::random(&mut self.party.next_batch().unwrap(), &mut self.mover, rows).unwrap()
    }

    fn permute<G: Group>(
        &mut self,
        by: &Arc<Permutation>,
        columns: Vec<Column<G::Word>>,
        inverse: bool,
    ) -> Vec<Column<G::Word>> {
        let columns = columns.into_iter().map(Arc::new).collect();
        let by = by.clone();
        self.run(|mut batch, mover| permute::<G>(batch.context(), mover, by, columns, inverse)).unwrap()
    }

    fn places(&mut self, by: &Arc<Permutation>) -> Column<u64> {
        let by = by.clone();
        self.run(|mut batch, mover| places(batch.context(), mover, by, false)).unwrap()
    }
}

/// Runs a machine.
fn drive<T>(channels: &mut [Channel; 2], machine: Line<'_, T, NetError>) -> Result<T, NetError> {
    let mut lane = Lane::over(channels.iter_mut().collect());
    Ok(lane.run(machine)?.finish())
}

/// Runs `run` on every shard of every party and returns its results by shard, then party. The uses
/// of keys are recorded.
fn on_shards<T: Send>(shards: usize, run: impl Fn(Seat) -> T + Sync) -> Vec<[T; 3]> {
    let mut movers = [0; 3].map(|_: u8| in_memory(shards).into_iter());
    let _watch = registry::watch();
    std::thread::scope(|scope| {
        let run = &run;
        let mut threads = vec![];
        for shard in 0..shards {
            let nets = inproc::mesh(&Role::ALL.map(Role::id), 1, Duration::from_secs(60));
            for (p, (party, net)) in parties().into_iter().zip(nets).enumerate() {
                let seat = Seat::new(party, net, movers[p].next().unwrap());
                let end = registry::here().end(3 * shard + p);
                threads.push(scope.spawn(move || {
                    let _end = end.enter();
                    run(seat)
                }));
            }
        }
        let mut results = threads.into_iter().map(|thread| thread.join().unwrap());
        (0..shards).map(|_| [0; 3].map(|_: u8| results.next().unwrap())).collect()
    })
}

/// As [`on_shards`], for many short runs: the three parties of a shard run in lockstep on its
/// thread, and `make` makes a machine of one shard of one party each time. Every shard must have
/// rows.
fn in_lockstep<T: Send>(
    shards: usize,
    times: usize,
    make: impl for<'m> Fn(&mut Rep3Party, &'m mut dyn Mover) -> Line<'m, T, NetError> + Sync,
) -> Vec<Vec<[T; 3]>> {
    let mut movers = [0; 3].map(|_: u8| in_memory(shards).into_iter());
    let movers = (0..shards).map(|_| movers.each_mut().map(|movers| movers.next().unwrap()));
    let run = |mut movers: [MemoryMover; 3]| {
        let mut parties = parties();
        let once = |_| {
            let mut machines: Vec<_> =
                (parties.iter_mut().zip(&mut movers)).map(|(party, mover)| make(party, mover)).collect();
            Lockstep::new().run(&mut machines).unwrap();
            let mut results = machines.into_iter().map(Line::finish);
            [0; 3].map(|_: u8| results.next().unwrap())
        };
        (0..times).map(once).collect()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = movers.map(|movers| scope.spawn(move || run(movers))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn prg() -> Prg {
    Prg::new(Backend::best(), &Seed::random(), "test")
}

/// A party's shares of a range of rows.
fn part<W: Word>(shared: &[Column<W>; 3], role: Role, rows: Range<usize>) -> Column<W> {
    let Rep3 { own, next } = &shared[role.index()];
    Rep3 { own: own[rows.clone()].to_vec(), next: next[rows].to_vec() }
}

/// The columns of all rows from those of each shard.
fn whole<W: Word>(parts: &[[Column<W>; 3]]) -> [Column<W>; 3] {
    [0, 1, 2].map(|p: usize| {
        let all = |share: fn(&Column<W>) -> &Vec<W>| -> Vec<W> {
            parts.iter().flat_map(|part| share(&part[p])).copied().collect()
        };
        Rep3 { own: all(|c| &c.own), next: all(|c| &c.next) }
    })
}

/// A dealer's XOR shares.
fn share_strings<W: Word>(prg: &mut Prg, words: &[W]) -> [Column<W>; 3] {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.number().to_le_bytes()).collect();
    let words = |bytes: &[u8]| bytes.chunks_exact(8).map(W::read).collect();
    crate::share(prg, &bytes).each_ref().map(|s| Rep3 { own: words(&s.own), next: words(&s.next) })
}

fn open_strings<W: Word>(columns: &[Column<W>; 3]) -> Vec<W> {
    (0..3).for_each(|i| assert_eq!(columns[i].next, columns[(i + 1) % 3].own));
    let xor = |r: usize| columns.iter().fold(0, |sum, c| sum ^ c.own[r].number());
    (0..columns[0].rows()).map(|r| W::of(xor(r))).collect()
}

/// Sizes that are tested for every number of shards; with the small ones some shards have no rows.
const SIZES: [usize; 5] = [0, 1, 2, 7, 1000];
