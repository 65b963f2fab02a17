//! The views of parties are independent of the hidden data.

use super::*;
use crate::{
    Shares,
    ring::{
        masks::{Neighbour, PairWords},
        permutation::tests::assert_even,
        permute_cost,
        sharded::{
            permutation::{Fresh, draw},
            permute::{ResultUse, permuted},
            route::Route,
            sort::{parted, ranked},
        },
        sort::Comparisons,
    },
    test_support,
};
use hushwire_circuit::planes::plane_bytes;

/// The places of the rows of all shards under stages that one party draws repeatedly from one
/// stream.
fn stages(shards: usize, rows: usize, times: usize) -> Vec<Vec<u32>> {
    let parts: Vec<Vec<Scratch<u32>>> = std::thread::scope(|scope| {
        let draws = |mut mover: MemoryMover| {
            let [mut party, ..] = parties();
            let cx = party.next_batch().unwrap().context();
            let mut words = PairWords::new(&cx, Neighbour::Left, 0);
            let own = own_rows(&mover, rows);
            let numbers: Vec<u32> = own.map(|row| row as u32).collect();
            let place = |_| {
                let route = draw(&mut words, &mut mover, rows).unwrap();
                route.back(&mut mover, &[&numbers[..]]).unwrap().remove(0)
            };
            (0..times).map(place).collect()
        };
        let threads: Vec<_> =
            in_memory(shards).into_iter().map(|mover| scope.spawn(move || draws(mover))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (0..times).map(|time| parts.iter().flat_map(|part| part[time].iter().copied()).collect()).collect()
}

#[test]
fn stages_are_uniform_whatever_the_shards() {
    for shards in [1, 2, 3] {
        let mut counts = [0; 256];
        for places in stages(shards, 4, 3000) {
            counts[places.iter().fold(0, |code, place| 4 * code + *place as usize)] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(seen.len(), 24, "all orders of four");
        assert_even(&seen);
    }
}

/// Messages between parties have the lengths of equal ranges, whatever the rows have drawn.
#[test]
fn messages_tell_nothing_of_what_was_drawn() {
    let rows = 1001;
    let words = share_words(&mut prg(), &[7u32; 1001]);
    let results = on_shards(3, |mut seat| {
        let own = seat.own(rows);
        let column = part(&words, seat.role, own.clone());
        for inverse in [false, true].repeat(4) {
            let by = seat.random(rows);
            assert_eq!(seat.meter.take().bytes_sent(), 0, "a permutation is drawn without a message");
            seat.permute::<Sum<u32>>(&by, vec![column.clone(), column.clone()], inverse);
            let spent = seat.meter.take();
            assert_eq!(spent.bytes_sent(), permute_cost(seat.role, inverse, 8 * own.len()).bytes_sent);
            let peers: Vec<u64> = spent.peers.values().map(|peer| peer.bytes_sent).collect();
            assert!(peers.iter().all(|bytes| bytes % (8 * own.len() as u64) == 0));
        }
        own.len()
    });
    assert_eq!(results.concat(), [333, 333, 333, 334, 334, 334, 334, 334, 334]);
}

/// Two stages of one context would be the same stage, and two messages would have one mask. The
/// registry of key uses finds this.
#[test]
fn a_stage_that_is_drawn_twice_is_found() {
    let found = std::panic::catch_unwind(|| {
        on_shards(2, |mut seat| {
            let batch = seat.party.next_batch().unwrap();
            for _ in 0..2 {
                let again = test_support::context(&seat.party, batch.number(), 0);
                Fresh::draw(again, &mut seat.mover, 100).unwrap();
            }
        });
    });
    assert!(found.is_err(), "the second one uses words that have served");
    on_shards(2, |mut seat| {
        let mut batch = seat.party.next_batch().unwrap();
        for _ in 0..2 {
            Fresh::draw(batch.context(), &mut seat.mover, 100).unwrap();
        }
    });
}

/// The number of rows that go to each shard, for keys in the given order, shuffled or not.
fn bucket_sizes(shards: usize, keys: &[u64], shuffles: bool, times: usize) -> Vec<usize> {
    let (prg, rows) = (&mut prg(), keys.len());
    let width = 32 + 10;
    assert!(rows <= 1 << 10);
    // Strings end in the row's number.
    let strings: [Vec<u32>; 2] = [
        keys.iter().zip(0u32..).map(|(key, row)| (*key as u32) << 10 | row).collect(),
        keys.iter().map(|key| (*key >> 22) as u32).collect(),
    ];
    let shared = strings.each_ref().map(|words| share_strings(prg, words));
    let results = in_lockstep(shards, times, |party, mover| {
        let (role, own) = (party.role(), own_rows(mover, rows));
        let columns: Vec<_> = shared.iter().map(|s| part(s, role, own.clone())).collect();
        let mut batch = party.next_batch().unwrap();
        Line::over(2, move |talk| async move {
            let fresh = Fresh::draw(batch.context(), mover, rows)?;
            let (cx, ends) = (batch.context(), (false, ResultUse::Shares));
            let given = columns.iter().cloned().map(Arc::new).collect();
            let shuffled = permuted::<Xor<u32>>(&talk, &cx, mover, fresh.shuffle(), given, ends).await?;
            let lying = if shuffles { shuffled } else { columns };
            let mut comparisons = Comparisons::new(batch, width, 64);
            let to = parted(&talk, &mut comparisons, mover, &lying, rows).await?;
            Ok(to.iter().filter(|bucket| **bucket == 0).count())
        })
    });
    let same = results.iter().flatten().all(|[x, y, z]| x == y && y == z);
    assert!(same, "all parties part rows alike");
    (0..times).map(|time| results.iter().map(|shard| shard[time][0]).sum()).collect()
}

/// The size of the first bucket of rows in a random order, simulated from the protocol's parameters
/// alone.
fn simulated(shards: usize, rows: usize, times: usize) -> Vec<usize> {
    let prg = &mut prg();
    let sampled = (256 * shards).min(rows / shards / 16);
    let size = |_| {
        let mut ranks: Vec<usize> = (0..rows).collect();
        (1..rows).rev().for_each(|i| ranks.swap(i, prg.next_u64() as usize % (i + 1)));
        let mut sample = ranks[..sampled].to_vec();
        sample.sort_unstable();
        sample[sampled / shards]
    };
    (0..times).map(size).collect()
}

/// The greatest distance of two distributions of samples. In its units, a distance of 2.2 or more
/// has probability one in ten thousand if they are the same (Kolmogorov, Smirnov).
fn distance(a: &[usize], b: &[usize]) -> f64 {
    let below =
        |of: &[usize], bound: usize| of.iter().filter(|x| **x <= bound).count() as f64 / of.len() as f64;
    let most = a.iter().chain(b).map(|x| (below(a, *x) - below(b, *x)).abs()).fold(0.0, f64::max);
    let [n, m] = [a.len(), b.len()].map(|n| n as f64);
    most * (n * m / (n + m)).sqrt()
}

#[test]
fn buckets_have_the_sizes_of_random_orders_whatever_the_keys() {
    let (rows, times) = (1000, 60);
    for shards in [2, 3] {
        let expected = simulated(shards, rows, 3000);
        let equal = vec![9; rows];
        let distinct: Vec<u64> = (0..rows as u64).map(|i| i * 1_000_003 % 0xffff_fffb).collect();
        let skewed: Vec<u64> = (0..rows as u64).map(|i| if i < 900 { 5 } else { i }).collect();
        for keys in [equal, distinct, skewed] {
            let sizes = bucket_sizes(shards, &keys, true, times);
            assert!(distance(&sizes, &expected) < 2.2, "{shards} shards: {sizes:?}");
        }
        // The attack: without a shuffle, sizes reveal the order in which rows came.
        let rising: Vec<u64> = (0..rows as u64).collect();
        let sizes = bucket_sizes(shards, &rising, false, times);
        assert!(distance(&sizes, &expected) > 4.0, "rows in order show: {sizes:?}");
    }
}

/// A sort opens the order of the shuffled rows of a shard, which is uniform for all keys.
#[test]
fn opened_orders_are_uniform_whatever_the_keys() {
    let times = 900;
    for words in [[5u32, 5, 5], [1, 2, 3], [3, 2, 1]] {
        let strings: Vec<u32> = words.iter().zip(0..).map(|(word, row)| word << 2 | row).collect();
        let shared = share_strings(&mut prg(), &strings);
        let results = in_lockstep(2, times, |party, mover| {
            let column = Arc::new(part(&shared, party.role(), own_rows(mover, 3)));
            let mut batch = party.next_batch().unwrap();
            Line::over(2, move |talk| async move {
                let fresh = Fresh::draw(batch.context(), mover, 3)?;
                let (cx, ends) = (batch.context(), (false, ResultUse::Shares));
                let shuffled =
                    permuted::<Xor<u32>>(&talk, &cx, mover, fresh.shuffle(), vec![column], ends).await?;
                let mut comparisons = Comparisons::new(batch, 5, 64);
                let to = parted(&talk, &mut comparisons, mover, &shuffled, 3).await?;
                let (bucket, _) = Route::to_shards(mover, to)?;
                let ranking = ranked(&talk, &mut comparisons, mover, shuffled, &bucket).await?;
                Ok(ranking.rows().to_vec())
            })
        });
        assert!(results.iter().flatten().all(|[x, y, z]| x == y && y == z));
        let mut counts = [0; 64];
        for [opened, ..] in &results[0] {
            counts[opened.iter().fold(0, |code, row| 4 * code + *row as usize)] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(seen.len(), 6, "all orders of three: {counts:?}");
        assert_even(&seen);
    }
}

/// Bits past the last row of a shard's planes belong to no row: ranges do not begin at a byte, and
/// strings move as words.
#[test]
fn bits_past_the_last_row_do_not_move() {
    use crate::ring::Bits;
    let results = on_shards(2, |mut seat| {
        let own = seat.own(5).len();
        let full = || vec![255u8; 3 * plane_bytes(own)];
        let bits = Bits::new(3, own, Shares { own: full(), next: full() }).unwrap();
        let by = seat.random(5);
        let moved = seat.run(|mut batch, mover| permute_bits::<u8>(batch.context(), mover, by, &bits, false));
        moved.unwrap().rows() == own
    });
    assert!(results.iter().flatten().all(|well| *well));
}
