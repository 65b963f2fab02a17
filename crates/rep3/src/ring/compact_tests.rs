use super::*;
use crate::{
    Rep3Party,
    ring::{
        permutation::tests::{assert_even, row_order},
        test_support::{open_words, parties, share_words},
    },
};
use hushwire_aes::Backend;
use hushwire_machine::drive::Lockstep;
use hushwire_prg::{Prg, Seed};

fn prg() -> Prg {
    Prg::new(Backend::best(), &Seed::random(), "test")
}

fn machines<W: Word>(
    parties: &mut [Rep3Party; 3],
    prg: &mut Prg,
    flags: &[u64],
    columns: &[Vec<W>],
    rows: usize,
) -> Vec<Compact<W>> {
    let flags = share_words(prg, flags);
    let columns: Vec<_> = columns.iter().map(|column| share_words(prg, column).map(Arc::new)).collect();
    let machine = |(party, flags): (&mut Rep3Party, &Column<u64>)| {
        let own: Vec<_> = columns.iter().map(|column| column[party.role().index()].clone()).collect();
        Compact::new(party.next_batch().unwrap(), flags, &own, rows).unwrap()
    };
    parties.iter_mut().zip(&flags).map(machine).collect()
}

fn compacts<W: Word>() {
    let (mut parties, prg) = (parties(), &mut prg());
    for rows in [0, 1, 2, 3, 9, 1000] {
        for density in [0, 1, 3] {
            let flags: Vec<u64> = (0..rows).map(|_| u64::from(prg.next_u64() % 3 < density)).collect();
            for columns in 0..3 {
                let mut column =
                    || -> Vec<W> { (0..rows).map(|_| W::of(prg.next_u64().max(1 << 60))).collect() };
                let payload: Vec<_> = (0..columns).map(|_| column()).collect();
                for kept in [0, rows / 3, rows, rows + 2] {
                    let mut machines = machines(&mut parties, prg, &flags, &payload, kept);
                    Lockstep::new().run(&mut machines).unwrap();
                    let mut outs: Vec<_> = machines.into_iter().map(|m| m.finish().into_iter()).collect();
                    for column in &payload {
                        let flagged = column.iter().zip(&flags).filter(|(_, f)| **f == 1).map(|(w, _)| *w);
                        let mut expected: Vec<W> = flagged.take(kept).collect();
                        expected.resize(kept, W::default());
                        let out = [0, 1, 2].map(|p: usize| outs[p].next().unwrap());
                        assert_eq!(open_words(&out), expected);
                    }
                }
            }
        }
    }
}

#[test]
fn flagged_rows_come_first_in_order_and_zeros_follow() {
    compacts::<u8>();
    compacts::<u16>();
    compacts::<u32>();
    compacts::<u64>();
}

#[test]
fn the_permutation_moves_what_is_not_flagged_behind_in_order() {
    let (mut parties, prg) = (parties(), &mut prg());
    let mut machines = machines::<u8>(&mut parties, prg, &[0, 1, 0, 1, 1], &[], 5);
    assert!(machines[0].permutation().is_none());
    assert_eq!(machines[1].cost(), Some(Cost { rounds: 3, bytes_sent: 4 * 5 + 2 * 4 * 5 }));
    Lockstep::new().run(&mut machines).unwrap();
    let by: Vec<_> = machines.iter().map(|m| m.permutation().unwrap()).collect();
    assert_eq!(row_order([&by[0], &by[1], &by[2]]), [1, 3, 4, 0, 2]);
}

#[test]
fn other_lengths_and_what_is_no_flag_are_refused() {
    let (mut parties, prg) = (parties(), &mut prg());
    let flags = Column::<u64>::zeros(4);
    let column = Arc::new(Column::<u16>::zeros(5));
    let error = Compact::new(parties[0].next_batch().unwrap(), &flags, &[column], 4).err();
    assert_eq!(error, Some(ShareError::Length { what: "a column to compact", expected: 8, found: 10 }));
    let ragged = Column::<u64> { own: vec![0; 4], next: vec![0; 3] };
    let error = Compact::<u16>::new(parties[0].next_batch().unwrap(), &ragged, &[], 4).err();
    assert_eq!(
        error,
        Some(ShareError::Length { what: "the flags of a compaction", expected: 32, found: 24 })
    );
    let mut parties = self::parties();
    let mut machines = machines::<u8>(&mut parties, prg, &[1, 7, 1], &[vec![1, 2, 3]], 3);
    let error = Lockstep::new().run(&mut machines).unwrap_err();
    assert!(matches!(&error, NetError::Malformed { what, .. } if what.contains("each once")), "{error}");
}

/// The order that parties 1 and 2 open is uniform, whether no flags, some or all are set. So it
/// reveals nothing about them.
#[test]
fn opened_places_tell_nothing_of_flags() {
    let (mut parties, prg) = (parties(), &mut prg());
    for flags in [[0u64, 0, 0], [0, 1, 1], [1, 1, 1]] {
        let mut counts = [0; 64];
        for _ in 0..3000 {
            let mut machines = machines::<u8>(&mut parties, prg, &flags, &[], 3);
            // Rounds 1 and 2 are those of the shuffle; the last one carries both halves of the
            // opened value.
            let mut opened = [0u32; 3];
            Lockstep::new()
                .run_edited(&mut machines, |place, message| {
                    if place.round == 2 {
                        for (sum, half) in opened.iter_mut().zip(message.chunks_exact(4)) {
                            *sum = sum.plus(u32::read(half));
                        }
                    }
                })
                .unwrap();
            counts[opened.iter().fold(0, |code, place| 4 * code + *place as usize)] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(seen.len(), 6);
        assert_even(&seen);
    }
}
