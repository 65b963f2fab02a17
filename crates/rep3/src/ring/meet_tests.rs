use super::*;
use crate::ring::{
    permutation::tests::row_order,
    test_support::{parties, share_bits},
};
use hushwire_aes::Backend;
use hushwire_machine::drive::{Lockstep, Machine};
use hushwire_prg::{Prg, Seed};
use std::collections::BTreeMap;

/// The resulting order, the opened values, and the bytes and rounds of each party.
fn meet(rows: usize, keys: &[(usize, Vec<u64>)], first: usize) -> (Vec<u32>, Vec<u8>, [Cost; 3]) {
    let prg = &mut Prg::new(Backend::best(), &Seed::random(), "test");
    let mut shared: Vec<_> =
        keys.iter().map(|(width, key)| share_bits(prg, *width, key).into_iter()).collect();
    let machine = |party: &mut crate::Rep3Party| {
        let keys: Vec<_> = shared.iter_mut().map(|key| Arc::new(key.next().unwrap())).collect();
        // Pieces of one row, of some rows with a shorter last piece, and of all rows.
        let piece = [1, 7, 256, usize::MAX][rows % 4];
        Meet::pieces_of(party.next_batch().unwrap(), rows, &keys, first, piece).unwrap()
    };
    let mut machines = parties().iter_mut().map(machine).collect::<Vec<Meet>>();
    let declared: Vec<Cost> = machines.iter().map(|machine| machine.cost().unwrap()).collect();
    let mut spent = [Cost::default(); 3];
    Lockstep::new()
        .run_edited(&mut machines, |place, message| {
            spent[place.party].bytes_sent += message.len() as u64;
            spent[place.party].rounds = place.round as u64 + 1;
            if place.slot == 1 && place.round >= 2 {
                // Messages carry only the shares that parties 1 and 2 lack.
                assert_eq!(
                    message.is_empty(),
                    place.party == 2 || spent[place.party].rounds < declared[0].rounds
                );
            }
        })
        .unwrap();
    assert_eq!(spent.to_vec(), declared, "{rows} rows of {} keys", keys.len());
    let met = machines.into_iter().map(|Meet(line)| line.finish());
    let (orders, heard): (Vec<_>, Vec<_>) = met.map(|met| (met.order, met.opened)).unzip();
    assert!(heard[0].is_empty(), "party 0 learns nothing");
    assert_eq!((&heard[1], heard[1].len()), (&heard[2], if rows > 1 { 20 * rows } else { 0 }));
    (row_order([0, 1, 2].map(|p: usize| &*orders[p])), heard[1].clone(), spent)
}

#[test]
fn equal_keys_come_together_the_first_side_first() {
    let prg = &mut Prg::new(Backend::best(), &Seed::random(), "test");
    for rows in [0, 1, 2, 3, 9, 70, 1002] {
        // Keys of few values: in one word, in two words that end within a block, and in two blocks.
        for widths in [&[3][..], &[40, 1, 24], &[64, 64, 2]] {
            let mut column = |width: &usize| {
                (*width, (0..rows).map(|_| (prg.next_u64() % 3) << (width - 2).min(61)).collect::<Vec<u64>>())
            };
            let keys: Vec<_> =
                widths.iter().map(|w| if *w == 1 { (1, vec![1; rows]) } else { column(w) }).collect();
            let first = rows / 3;
            let (order, ..) = meet(rows, &keys, first);
            let mut each = order.clone();
            each.sort_unstable();
            assert!(each.into_iter().eq(0..rows as u32), "every row once");
            let of = |row: u32| keys.iter().map(|(_, key)| key[row as usize]).collect::<Vec<_>>();
            let mut groups = vec![];
            for row in order {
                match groups.last() {
                    Some((key, side)) if *key == of(row) => {
                        assert!(*side <= (row as usize >= first), "the first side comes first");
                    }
                    _ => assert!(groups.iter().all(|(key, _)| *key != of(row)), "a key's rows stay together"),
                }
                groups.push((of(row), row as usize >= first));
            }
        }
    }
}

/// The opened values reveal only the number of rows of each key and side: there are as many tags as
/// keys, and all are new in every run.
#[test]
fn what_is_opened_tells_how_often_keys_repeat_and_no_more() {
    let key: Vec<u64> = (0..60).map(|i| [7, 7, 9, i][i as usize % 4]).collect();
    let counts = |opened: &[u8]| {
        let (tags, sides) = opened.split_at(16 * 60);
        let mut counts = BTreeMap::<Vec<u8>, [u32; 2]>::new();
        for (tag, side) in tags.chunks(16).zip(sides.chunks(4)) {
            assert!(side[0] < 2 && side[1..] == [0; 3]);
            counts.entry(tag.to_vec()).or_default()[usize::from(side[0])] += 1;
        }
        counts
    };
    let opened = [0; 2].map(|_| counts(&meet(60, &[(64, key.clone())], 20).1));
    let mut expected = BTreeMap::<u64, [u32; 2]>::new();
    key.iter()
        .enumerate()
        .for_each(|(row, key)| expected.entry(*key).or_default()[usize::from(row >= 20)] += 1);
    let sorted = |counts: Vec<&[u32; 2]>| {
        let mut counts = counts.into_iter().copied().collect::<Vec<_>>();
        counts.sort_unstable();
        counts
    };
    for counts in &opened {
        assert_eq!(sorted(counts.values().collect()), sorted(expected.values().collect()));
    }
    assert!(opened[0].keys().all(|tag| !opened[1].contains_key(tag)), "every run has a key of its own");
}

/// Tags with equal upper halves are distinguished by their lower halves, and rows of one tag stay
/// together.
#[test]
fn rows_are_ordered_by_whole_tags_then_sides_then_numbers() {
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    for rows in [0, 1, 2, 65, 5000] {
        let (mut tags, mut sides) = (vec![], vec![]);
        for _ in 0..rows {
            let drawn = prg.next_u64();
            let upper = u128::from(drawn % 3) << 126 | u128::from(drawn >> 8 & 3) << 64;
            tags.push((upper | u128::from(drawn >> 16 & 7)).to_le_bytes());
            sides.push(drawn >> 32 & 1 == 1);
        }
        let mut expected: Vec<u32> = (0..rows).collect();
        let key = |row: &u32| (u128::from_le_bytes(tags[*row as usize]), sides[*row as usize], *row);
        expected.sort_unstable_by_key(key);
        assert_eq!(in_order(&tags, sides.iter().copied()), expected);
    }
}
