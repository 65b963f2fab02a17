//! The results are those of one machine.

use super::*;
use crate::ring::{
    Bits, SortKey, WIDE,
    sort::tests::{Plain, expected},
};

fn columns_move<W: Word>(shards: usize) {
    let prg = &mut prg();
    for rows in SIZES {
        let numbers: [Vec<W>; 2] = [0; 2].map(|_| (0..rows).map(|_| W::of(prg.next_u64())).collect());
        let sums = numbers.each_ref().map(|words| share_words(prg, words));
        let strings = share_strings(prg, &numbers[0]);
        let results = on_shards(shards, |mut seat| {
            let by = seat.random(rows);
            let own = seat.own(rows);
            assert_eq!((by.rows(), by.own_rows()), (rows, own.clone()));
            let columns: Vec<_> = sums.iter().map(|shared| part(shared, seat.role, own.clone())).collect();
            let mut moved = seat.permute::<Sum<W>>(&by, columns, false);
            moved.extend(seat.permute::<Sum<W>>(&by, moved.clone(), true));
            let turned = seat.permute::<Xor<W>>(&by, vec![part(&strings, seat.role, own)], true);
            let again = seat.permute::<Xor<W>>(&by, turned.clone(), false);
            moved.extend(turned.into_iter().chain(again));
            (moved, seat.places(&by))
        });
        let moved = |k: usize| {
            let parts: Vec<_> =
                results.iter().map(|shard| shard.each_ref().map(|r| r.0[k].clone())).collect();
            whole(&parts)
        };
        let order: Vec<_> = results.iter().map(|shard| shard.each_ref().map(|r| r.1.clone())).collect();
        let order = open_words(&whole(&order));
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..rows as u64), "every row once");
        for (i, numbers) in numbers.iter().enumerate() {
            let expected: Vec<W> = order.iter().map(|row| numbers[*row as usize]).collect();
            assert_eq!(open_words(&moved(i)), expected);
            assert_eq!(open_words(&moved(2 + i)), *numbers);
        }
        let mut turned = vec![W::default(); rows];
        order.iter().zip(&numbers[0]).for_each(|(row, word)| turned[*row as usize] = *word);
        assert_eq!(open_strings(&moved(4)), turned);
        assert_eq!(open_strings(&moved(5)), numbers[0]);
        let moved = order.iter().zip(0..).filter(|(row, i)| **row != *i).count();
        assert!(moved + 20 > rows, "a uniform permutation leaves one row where it was, on average");
    }
}

#[test]
fn columns_of_every_width_move_together_there_and_back() {
    for shards in 1..5 {
        columns_move::<u64>(shards);
    }
    columns_move::<u8>(3);
    columns_move::<u16>(3);
    columns_move::<u32>(2);
}

#[test]
fn strings_of_bits_move_as_their_words_do() {
    use crate::ring::test_support::{open_bits, share_bits};
    let prg = &mut prg();
    for (rows, width) in [(7, 1), (1000, 5), (1000, 8)] {
        let numbers: Vec<u64> = (0..rows).map(|_| prg.next_u64() & ((1 << width) - 1)).collect();
        // A shard's planes are dealt separately: ranges do not begin at a byte.
        let bounds = ranges(rows, 3);
        let shared: Vec<[Bits; 3]> =
            bounds.windows(2).map(|range| share_bits(prg, width, &numbers[range[0]..range[1]])).collect();
        let results = on_shards(3, |mut seat| {
            let by = seat.random(rows);
            let bits = shared[seat.mover.shard()][seat.role.index()].clone();
            let other = by.clone();
            let moved =
                seat.run(|mut batch, mover| permute_bits::<u8>(batch.context(), mover, other, &bits, false));
            (moved.unwrap(), seat.places(&by))
        });
        let order: Vec<_> = results.iter().map(|shard| shard.each_ref().map(|r| r.1.clone())).collect();
        let order = open_words(&whole(&order));
        let moved: Vec<u64> =
            results.iter().flat_map(|shard| open_bits(&shard.each_ref().map(|r| r.0.clone()))).collect();
        assert!(moved.iter().copied().eq(order.iter().map(|row| numbers[*row as usize])));
    }
}

/// The order of a sort of shares, and the bytes that every party sent.
fn sorted(shards: usize, rows: usize, keys: &[Plain], wide: usize) -> (Vec<u32>, [u64; 3]) {
    let prg = &mut prg();
    let bounds = ranges(rows, shards);
    let of =
        |key: &Plain, shard: usize, prg: &mut Prg| key.of_rows(bounds[shard]..bounds[shard + 1]).share(prg);
    let mut shared: Vec<Vec<[SortKey; 3]>> = vec![];
    for shard in 0..shards {
        shared.push(keys.iter().map(|key| of(key, shard, prg)).collect());
    }
    let results = on_shards(shards, |mut seat| {
        let shard = seat.mover.shard();
        let keys: Vec<SortKey> = (shared[shard].iter().map(|key| &key[seat.role.index()]))
            .map(|key| SortKey { bits: key.bits.clone(), ..*key })
            .collect();
        let by = seat.run(|batch, mover| sort(batch, mover, rows, &keys, wide)).unwrap();
        let sent = seat.meter.reading().bytes_sent();
        (seat.places(&by), sent)
    });
    let order: Vec<_> = results.iter().map(|shard| shard.each_ref().map(|r| r.0.clone())).collect();
    let sent = [0, 1, 2].map(|p: usize| results.iter().map(|shard| shard[p].1).sum());
    (open_words(&whole(&order)).iter().map(|row| *row as u32).collect(), sent)
}

#[test]
fn rows_come_in_the_order_of_a_stable_sort() {
    let prg = &mut prg();
    for shards in 1..5 {
        for rows in SIZES {
            for (signed, descending) in [(false, false), (true, true)] {
                let few: Vec<u8> = (0..rows).map(|_| prg.next_u64() as u8 % 5 + 125).collect();
                let many: Vec<u32> = (0..rows).map(|_| prg.next_u64() as u32).collect();
                let keys = [Plain::of(&few, signed, descending), Plain::of(&many, signed, !descending)];
                // No keys, equal keys, many keys, and both.
                for keys in [&keys[..0], &keys[..1], &keys[1..], &keys[..]] {
                    let (order, _) = sorted(shards, rows, keys, 100);
                    assert!(
                        order == expected(rows, keys),
                        "{shards} shards, {rows} rows, {} keys",
                        keys.len()
                    );
                }
            }
        }
    }
}

/// The bytes between parties are those of one machine, except for the sample and the pivots.
fn many_rows(shards: &[usize]) {
    let prg = &mut prg();
    let rows = 100_000;
    let words: Vec<u16> = (0..rows).map(|_| prg.next_u64() as u16).collect();
    let keys = [Plain::of(&words, true, false)];
    let (order, one) = sorted(1, rows, &keys, WIDE);
    assert!(order == expected(rows, &keys));
    for shards in shards {
        let (order, sent) = sorted(*shards, rows, &keys, WIDE);
        assert!(order == expected(rows, &keys));
        for (sent, one) in sent.into_iter().zip(one) {
            assert!(100 * sent <= 105 * one, "{shards} shards: {sent} bytes, {one} of one machine");
        }
    }
}

#[test]
fn many_rows_are_sorted_for_the_bytes_of_one_machine() {
    many_rows(&[3]);
}

#[test]
#[ignore = "two minutes: run by scripts/test --full"]
fn many_rows_on_other_numbers_of_shards_are_sorted_for_the_bytes_of_one_machine() {
    many_rows(&[2, 4, 5]);
}

#[test]
fn rows_come_to_their_places() {
    let prg = &mut prg();
    for shards in 1..5 {
        for rows in SIZES {
            let mut goes: Vec<u32> = (0..rows as u32).collect();
            (1..rows).rev().for_each(|i| goes.swap(i, prg.next_u64() as usize % (i + 1)));
            let shared = share_words(prg, &goes);
            let results = on_shards(shards, |mut seat| {
                let own = Arc::new(part(&shared, seat.role, seat.own(rows)));
                let by = seat.run(|batch, mover| from_places(batch, mover, rows, own)).unwrap();
                // Permuting the places gives the places of applying the permutation twice.
                let order = seat.places(&by);
                seat.permute::<Sum<u64>>(&by, vec![order], false).remove(0)
            });
            let twice = open_words(&whole(&results));
            let goes_twice = |row: usize| goes[goes[row] as usize] as usize;
            assert!((0..rows).all(|row| twice[goes_twice(row)] == row as u64));
        }
    }
}

#[test]
fn places_that_are_no_permutation_are_refused_by_all_shards_of_two_parties() {
    for places in [[0, 0, 1, 3], [0, 1, 2, 4], [u32::MAX, 1, 2, 3]] {
        let shared = share_words(&mut prg(), &places);
        let results = on_shards(3, |mut seat| {
            let own = Arc::new(part(&shared, seat.role, seat.own(4)));
            seat.run(|batch, mover| from_places(batch, mover, 4, own)).map(|_| ())
        });
        for [_, y, z] in &results {
            for result in [y, z] {
                let told = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
                assert!(told.contains("the places of 4 rows"), "{told}");
            }
        }
    }
}

#[test]
fn flagged_rows_come_first_in_order_and_zeros_behind_them() {
    let prg = &mut prg();
    for shards in 1..5 {
        for rows in SIZES {
            for kept in [0, 1, rows / 3, rows, rows + 5] {
                let flags: Vec<u64> =
                    (0..rows).map(|_| u64::from(prg.next_u64().is_multiple_of(3))).collect();
                let words: [Vec<u32>; 2] = [0; 2].map(|_| (0..rows).map(|_| prg.next_u64() as u32).collect());
                let flagged = share_words(prg, &flags);
                let shared = words.each_ref().map(|words| share_words(prg, words));
                let results = on_shards(shards, |mut seat| {
                    let own = seat.own(rows);
                    let flags = part(&flagged, seat.role, own.clone());
                    let columns: Vec<_> =
                        shared.iter().map(|s| Arc::new(part(s, seat.role, own.clone()))).collect();
                    let compacted =
                        seat.run(|batch, mover| compact(batch, mover, rows, &flags, &columns, kept));
                    let (columns, permutation) = compacted.unwrap();
                    assert_eq!(permutation.rows(), rows);
                    columns
                });
                for (i, words) in words.iter().enumerate() {
                    let parts: Vec<_> =
                        results.iter().map(|shard| shard.each_ref().map(|c| c[i].clone())).collect();
                    let chosen = words.iter().zip(&flags).filter(|(_, f)| **f == 1).map(|(word, _)| *word);
                    let expected = chosen.chain(std::iter::repeat(0)).take(kept);
                    assert!(open_words(&whole(&parts)).into_iter().eq(expected), "{rows} rows, {kept} kept");
                }
            }
        }
    }
}

#[test]
fn rows_of_a_key_come_together_those_of_the_first_side_before_others() {
    use crate::ring::test_support::share_bits;
    let prg = &mut prg();
    for (shards, rows) in [(1, 7), (2, 0), (2, 1), (3, 2), (4, 7), (2, 300), (3, 1000)] {
        let keys: Vec<u64> = (0..rows).map(|_| prg.next_u64() % (1 + rows as u64 / 4)).collect();
        let first = rows / 3;
        let bounds = ranges(rows, shards);
        let shared: Vec<[Bits; 3]> =
            bounds.windows(2).map(|range| share_bits(prg, 64, &keys[range[0]..range[1]])).collect();
        let results = on_shards(shards, |mut seat| {
            let key = Arc::new(shared[seat.mover.shard()][seat.role.index()].clone());
            let by = seat.run(|batch, mover| meet(batch, mover, rows, &[key], first, 64)).unwrap();
            seat.places(&by)
        });
        let order = open_words(&whole(&results));
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..rows as u64), "every row once");
        let mut seen = std::collections::BTreeSet::new();
        for rows in order.chunk_by(|a, b| keys[*a as usize] == keys[*b as usize]) {
            assert!(seen.insert(keys[rows[0] as usize]), "rows of a key are together");
            assert!(
                rows.is_sorted_by_key(|row| *row as usize >= first),
                "those of the first side come first"
            );
        }
    }
}

#[test]
fn rows_of_one_range_lie_in_the_other_and_zeros_behind_them() {
    for (shards, from, to) in
        [(1, 3, 5), (2, 7, 7), (3, 10, 4), (3, 4, 11), (4, 0, 3), (4, 3, 0), (4, 9, 1000)]
    {
        let words: Vec<u16> = (1..=from as u16).collect();
        let shared = share_words(&mut prg(), &words);
        let results = on_shards(shards, |mut seat| {
            let own = part(&shared, seat.role, seat.own(from));
            realign(&mut seat.mover, &[own], from, to).unwrap().remove(0)
        });
        let expected = words.iter().copied().chain(std::iter::repeat(0)).take(to);
        assert!(open_words(&whole(&results)).into_iter().eq(expected));
    }
}

#[test]
fn columns_of_other_lengths_are_refused() {
    let results = on_shards(2, |mut seat| {
        let by = seat.random(7);
        let column = Arc::new(Column::<u64>::zeros(by.own_rows().len() + 1));
        let mut batch = seat.party.next_batch().unwrap();
        let cx = batch.context();
        let of_columns = permute::<Sum<u64>>(cx, &mut seat.mover, by, vec![column.clone()], false).err();
        let of_flags =
            compact::<u64>(seat.party.next_batch().unwrap(), &mut seat.mover, 7, &column, &[], 7).err();
        [of_columns, of_flags].map(|e| matches!(e, Some(ShareError::Length { .. })))
    });
    assert!(results.iter().flatten().all(|refused| *refused == [true; 2]));
}

/// A shard that ends in the middle ends the run of all others. Shards of its party get an error
/// with the number of a shard that is gone, and the other parties' shards fail on their links. No
/// shard hangs.
#[test]
fn a_shard_that_is_gone_ends_the_run_of_all() {
    let words = share_words(&mut prg(), &(0..3000u32).collect::<Vec<_>>());
    let results = on_shards(3, |mut seat| {
        let by = seat.random(3000);
        let column = part(&words, seat.role, seat.own(3000));
        if (seat.mover.shard(), seat.role.index()) == (1, 2) {
            return Ok(());
        }
        let mut batch = seat.party.next_batch().unwrap();
        let (cx, columns) = (batch.context(), vec![Arc::new(column)]);
        let machine = permute::<Sum<u32>>(cx, &mut seat.mover, by, columns, false).unwrap();
        drive(&mut seat.channels, machine).map(|_| ())
    });
    for (shard, results) in results.iter().enumerate() {
        // A shard that was told of the failure may also be gone by now.
        let lost = matches!(&results[2], Err(NetError::Shard { shard: gone, .. }) if *gone != shard);
        assert!(lost || shard == 1, "party 2 hears that a shard of its own is gone: {:?}", results[2]);
        assert!(results[1].is_err(), "party 1 hears nothing of party 2 any more");
    }
}
