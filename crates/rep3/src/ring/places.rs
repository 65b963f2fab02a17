//! Makes a permutation from the shared places of its rows.
//!
//! ```text
//! places q     row i must go to place q(i)
//! shuffled     q(s(0)), q(s(1)), …   s is uniform and known to no party, so the opened value is a
//!                                    uniform permutation for every q
//! the result   shuffles by s, then moves the row that must come i-th to place i
//! ```
//!
//! "Shuffle both, open the shuffled permutation, apply it in the clear" (S. Laur, J. Willemson, B.
//! Zhang, ISC 2011; G. Asharov et al., "Efficient Secure Three-Party Sorting with Applications to
//! Data Analysis and Heavy Hitters", CCS 2022, section 4.2). Here only the two parties of the last
//! stage see it, because only they move rows by it.

use super::{
    column::Column,
    group::Sum,
    permutation::{Fresh, Permutation},
    permute::Permute,
};
use crate::{Batch, Role, ShareError, pool};
use hushwire_machine::{NetError, passed_on};
use std::sync::Arc;

/// One party's endpoint of making a permutation from the shared places of its rows: it moves row
/// `i` to place `places[i]`. Permuting 0, 1, 2, … by its inverse gives the places again.
///
/// **Rounds and bytes.** Two rounds, as for [`Permute`] on one column of 32 bits.
pub struct FromPlaces {
    role: Role,
    fresh: Fresh,
    shuffle: Permute<Sum<u32>>,
}

impl FromPlaces {
    /// `places` holds 0 to rows − 1, each exactly once.
    ///
    /// # Errors
    /// [`ShareError::Length`] if the two shares differ in length, or there are more than 2^32 − 1
    /// rows.
    pub fn new(batch: &mut Batch, places: &Column<u64>) -> Result<FromPlaces, ShareError> {
        // A place is below 2^32, so it is the sum of its shares' lower halves.
        let narrow = |share: &[u64]| pool::collect(share.iter().map(|place| *place as u32));
        let narrow = Column { own: narrow(&places.own), next: narrow(&places.next) };
        Self::of_narrow(batch, Arc::new(narrow))
    }

    /// As [`FromPlaces::new`], with places modulo 2^32.
    ///
    /// # Errors
    /// As [`FromPlaces::new`].
    pub fn of_narrow(batch: &mut Batch, places: Arc<Column<u32>>) -> Result<FromPlaces, ShareError> {
        let fresh = Fresh::draw(batch.context(), places.rows())?;
        let shuffle = fresh.shuffle(batch.context(), vec![places])?.open();
        Ok(FromPlaces { role: batch.session().role(), fresh, shuffle })
    }

    /// As [`Permute::in_pieces`].
    #[must_use]
    pub fn in_pieces(self, rows: usize) -> Self {
        FromPlaces { shuffle: self.shuffle.in_pieces(rows), ..self }
    }

    /// The permutation, after the run.
    ///
    /// # Errors
    /// [`ShareError::Places`] at parties 1 and 2 unless the places were each place exactly once.
    /// Party 0 cannot check this.
    pub fn finish(self) -> Result<Arc<Permutation>, ShareError> {
        let opened = self.shuffle.finish();
        self.fresh.then_to(match self.role.index() {
            1 => &opened[0].next,
            2 => &opened[0].own,
            _ => &[],
        })
    }
}

passed_on!([] FromPlaces, NetError, self => self.shuffle);

#[cfg(test)]
mod tests {
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

    fn shuffled(prg: &mut Prg, rows: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..rows).collect();
        (1..rows).rev().for_each(|i| places.swap(i, prg.next_u64() as usize % (i + 1)));
        places
    }

    /// The machines after their run, and the last round's messages to parties 1 and 2.
    fn run(parties: &mut [Rep3Party; 3], places: [Column<u64>; 3]) -> [FromPlaces; 3] {
        let machines = parties.iter_mut().zip(places);
        let mut machines: Vec<_> = machines
            .map(|(party, places)| {
                let machine = FromPlaces::new(&mut party.next_batch().unwrap(), &places).unwrap();
                machine.in_pieces(1 + places.rows() / 3)
            })
            .collect();
        Lockstep::new().run(&mut machines).unwrap();
        machines.try_into().ok().unwrap()
    }

    fn permute(
        parties: &mut [Rep3Party; 3],
        by: &[Arc<Permutation>; 3],
        columns: [Column<u64>; 3],
        inverse: bool,
    ) -> [Column<u64>; 3] {
        let mut machines: Vec<_> = (0..3)
            .zip(columns)
            .map(|(p, column)| {
                let cx = parties[p].next_batch().unwrap().context();
                let machine = Permute::<Sum<u64>>::new(cx, by[p].clone(), vec![Arc::new(column)]).unwrap();
                if inverse { machine.inverse() } else { machine }
            })
            .collect();
        Lockstep::new().run(&mut machines).unwrap();
        machines.into_iter().map(|m| m.finish().remove(0)).collect::<Vec<_>>().try_into().ok().unwrap()
    }

    #[test]
    fn rows_come_to_their_places_and_places_come_back_and_compose() {
        let (mut parties, prg) = (parties(), &mut prg());
        for rows in [0, 1, 2, 3, 9, 1000, 5000] {
            let places = shuffled(prg, rows);
            let numbers: Vec<u64> = places.iter().map(|place| *place as u64).collect();
            let shared = share_words(prg, &numbers);
            let by = run(&mut parties, shared).map(|m| m.finish().ok().unwrap());
            let rows_in_order = row_order(by.each_ref().map(|p| &**p));
            assert!(rows_in_order.iter().enumerate().all(|(place, row)| places[*row as usize] == place));

            let payload: Vec<u64> = (0..rows).map(|_| prg.next_u64()).collect();
            let mut expected = vec![0; rows];
            (0..rows).for_each(|i| expected[places[i]] = payload[i]);
            let shared = share_words(prg, &payload);
            let there = permute(&mut parties, &by, shared, false);
            assert_eq!(open_words(&there), expected);
            assert_eq!(open_words(&permute(&mut parties, &by, there, true)), payload);

            let naturals: Vec<u64> = (0..rows as u64).collect();
            let naturals = Role::ALL.map(|role| Column::known(role, &naturals));
            let again = permute(&mut parties, &by, naturals, true);
            assert_eq!(open_words(&again), numbers);

            // Moving the places of the permutation by itself gives the places of applying it twice.
            let twice = permute(&mut parties, &by, again, true);
            let by = run(&mut parties, twice).map(|m| m.finish().ok().unwrap());
            let mut expected = vec![0; rows];
            (0..rows).for_each(|i| expected[places[places[i]]] = payload[i]);
            let shared = share_words(prg, &payload);
            assert_eq!(open_words(&permute(&mut parties, &by, shared, false)), expected);
        }
    }

    #[test]
    fn places_that_are_no_permutation_are_refused() {
        let (mut parties, prg) = (parties(), &mut prg());
        for places in [[0, 0, 1], [0, 1, 3], [u64::MAX, 1, 2]] {
            let shared = share_words(prg, &places);
            let [_, y, z] = run(&mut parties, shared).map(FromPlaces::finish);
            assert_eq!([y.err(), z.err()], [0; 2].map(|_| Some(ShareError::Places { rows: 3 })));
        }
    }

    /// A place that two rows have is found wherever they are: next to each other, in two buckets,
    /// and past the last row.
    #[test]
    fn places_of_many_rows_are_refused_too() {
        const ROWS: usize = 9000;
        let (mut parties, prg) = (parties(), &mut prg());
        let there = shuffled(prg, ROWS);
        for (row, place) in [(17, there[18]), (17, there[8999]), (8999, ROWS), (0, u32::MAX as usize)] {
            let mut places: Vec<u64> = there.iter().map(|place| *place as u64).collect();
            assert_ne!(places[row], place as u64);
            places[row] = place as u64;
            let shared = share_words(prg, &places);
            let [_, y, z] = run(&mut parties, shared).map(FromPlaces::finish);
            assert_eq!([y.err(), z.err()], [0; 2].map(|_| Some(ShareError::Places { rows: ROWS })));
        }
    }

    /// Opened places are uniform, whatever the permutation is.
    #[test]
    fn opened_places_are_uniform_whatever_they_were() {
        let (mut parties, prg) = (parties(), &mut prg());
        for places in [[0u64, 1, 2], [2, 1, 0]] {
            let mut counts = [0; 27];
            for _ in 0..3000 {
                let shared = share_words(prg, &places);
                let [_, y, z] = run(&mut parties, shared).map(|m| m.shuffle.finish().remove(0));
                assert_eq!(y.next, z.own, "both open the same");
                counts[y.next.iter().fold(0, |code, place| 3 * code + *place as usize)] += 1;
            }
            let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
            assert_eq!(seen.len(), 6);
            assert_even(&seen);
        }
    }

    /// The attack: one shuffle for two openings. Both opened values together reveal whether the two
    /// are the same permutation, and which one takes one to the other. Therefore an opening
    /// consumes the shuffle under which it opens, and no caller can give it one.
    #[test]
    fn two_openings_under_one_shuffle_tell_how_the_two_go_together() {
        let (mut parties, prg) = (parties(), &mut prg());
        let (first, second) = (shuffled(prg, 50), shuffled(prg, 50));
        let difference = |a: &[usize], b: &[usize]| -> Vec<usize> {
            let mut out = vec![0; a.len()];
            (0..a.len()).for_each(|i| out[a[i]] = b[i]);
            out
        };
        let shared = [&first, &second]
            .map(|places| share_words(prg, &places.iter().map(|place| *place as u32).collect::<Vec<_>>()));
        let mut opened = |same: bool| {
            let mut batches = parties.each_mut().map(|p| p.next_batch().unwrap());
            let fresh = batches.each_mut().map(|b| Fresh::draw(b.context(), 50).ok().unwrap());
            let other = batches.each_mut().map(|b| Fresh::draw(b.context(), 50).ok().unwrap());
            [(&shared[0], &fresh), (&shared[1], if same { &fresh } else { &other })].map(
                |(columns, fresh)| {
                    let mut machines: Vec<_> = (0..3)
                        .map(|p| {
                            let columns = vec![Arc::new(columns[p].clone())];
                            fresh[p].shuffle::<Sum<u32>>(batches[p].context(), columns).unwrap().open()
                        })
                        .collect();
                    Lockstep::new().run(&mut machines).unwrap();
                    let opened = machines.remove(1).finish().remove(0);
                    opened.next.iter().map(|place| *place as usize).collect::<Vec<_>>()
                },
            )
        };
        let [a, b] = opened(true);
        assert_eq!(difference(&a, &b), difference(&first, &second), "the attack");
        let [a, b] = opened(false);
        assert_ne!(difference(&a, &b), difference(&first, &second), "each under its own");
    }
}
