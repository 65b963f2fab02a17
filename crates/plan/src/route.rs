//! The routes of elements between machines that hold parts of values.
//!
//! ```text
//! a value of E elements    bounds 0 = b_0 ≤ b_1 ≤ … ≤ b_S = E: machine s has b_s to b_{s+1}
//! picks                    elements of values, wherever they lie, to the bounds of another value
//! machine u to t           once each element that t takes from u, and one of a run of the same
//! ```
//!
//! The messages follow from places and bounds, which all machines have.

use crate::picks::{PickRun, Picks};
use std::ops::Range;

/// One machine's part in picking elements from values that lie on several machines.
pub struct Route {
    /// For each machine, the elements that it takes from this one, counted through this machine's
    /// parts of all values. This machine takes no element from itself.
    pub sends: Vec<Picks>,
    /// The number of elements that come from each machine.
    pub takes: Vec<usize>,
    /// The elements of this machine's part of the result. They count through its own parts of all
    /// values, then the elements from each machine, in order.
    pub picks: Picks,
    /// Whether any machine sends something to another.
    pub crosses: bool,
}

/// The place of a side of a run at the machine that takes it.
#[derive(Clone, Copy)]
enum Lies {
    /// At this place among its own parts.
    Here(usize),
    /// At this place among the elements from a machine.
    From(usize, usize),
}

impl Route {
    /// Returns the route at machine `here`. The picked elements count through all values, which
    /// have the bounds `from`. The result has the bounds `to`.
    ///
    /// # Panics
    /// If bounds are of different numbers of machines, or `to` does not end with the number of
    /// picks (the caller's bug).
    #[must_use]
    pub fn new(picks: &Picks, from: &[Vec<usize>], to: &[usize], here: usize) -> Route {
        let machines = to.len() - 1;
        assert!(from.iter().all(|bounds| bounds.len() == to.len()), "bounds of as many machines");
        assert_eq!(to.last(), Some(&picks.len()), "bounds of all elements");
        let lengths: Vec<usize> =
            from.iter().flat_map(|bounds| bounds.windows(2).map(|two| two[1] - two[0])).collect();
        // The start of this machine's part of each value among its own elements.
        let (own_starts, own) = starts(0, from.iter().map(|bounds| bounds[here + 1] - bounds[here]));
        let mut sends: Vec<Picks> = (0..machines).map(|_| Picks::default()).collect();
        let (mut takes, mut taken, mut crosses) = (vec![0; machines], vec![], false);
        for (taker, send) in sends.iter_mut().enumerate() {
            // Registers elements of a value's part, a step apart, for the taker.
            let mut side = |of: usize, at: usize, step: isize, len: usize| {
                let (value, holder) = (of / machines, of % machines);
                if holder == taker {
                    return (Lies::Here(own_starts[value] + at), step);
                }
                crosses |= len > 0;
                // A repeated element is sent once.
                let goes = if step == 0 { len.min(1) } else { len };
                if holder == here {
                    send.push(PickRun::Steps {
                        from: own_starts[value] + at,
                        step: if goes == 1 { 1 } else { step },
                        len: goes,
                    });
                }
                if taker == here {
                    takes[holder] += goes;
                }
                let at = if taker == here { takes[holder] - goes } else { 0 };
                (Lies::From(holder, at), isize::from(step != 0))
            };
            for run in picks.part(to[taker]..to[taker + 1]).runs_within(&lengths) {
                let run = match run {
                    ([of, _], PickRun::Steps { from, step, len }) => {
                        let (lies, step) = side(of, from, step, len);
                        ([lies; 2], PickRun::Steps { from: 0, step, len })
                    }
                    ([a, b], PickRun::Turns { first, second, len }) => {
                        let first = side(a, first, 1, len.div_ceil(2)).0;
                        let second = side(b, second, 1, len / 2).0;
                        ([first, second], PickRun::Turns { first: 0, second: 0, len })
                    }
                };
                if taker == here {
                    taken.push(run);
                }
            }
        }
        // The elements of a machine come after those of the machines before it.
        let (first, _) = starts(own, takes.iter().copied());
        let place = |lies: Lies| match lies {
            Lies::Here(at) => at,
            Lies::From(machine, at) => first[machine] + at,
        };
        let placed = taken.into_iter().map(|([a, b], run)| match run {
            PickRun::Steps { step, len, .. } => PickRun::Steps { from: place(a), step, len },
            PickRun::Turns { len, .. } => PickRun::Turns { first: place(a), second: place(b), len },
        });
        Route { sends, takes, picks: Picks::of_runs(placed), crosses }
    }

    /// The route of a whole value from some bounds to others.
    #[must_use]
    pub fn again(from: &[usize], to: &[usize], here: usize) -> Route {
        let len = to.last().copied().unwrap_or(0);
        let all = Picks::of_runs((len > 0).then_some(PickRun::Steps { from: 0, step: 1, len }));
        Route::new(&all, &[from.to_vec()], to, here)
    }

    /// The number of elements that this machine sends to others.
    #[must_use]
    pub fn sent(&self) -> usize {
        self.sends.iter().map(Picks::len).sum()
    }
}

/// The start of each of several consecutive lists from a place on, and the end of the last one.
fn starts(from: usize, lengths: impl Iterator<Item = usize>) -> (Vec<usize>, usize) {
    let mut end = from;
    let start = |len: usize| {
        end += len;
        end - len
    };
    (lengths.map(start).collect(), end)
}

impl Picks {
    /// A part of the places.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Picks {
        let (mut picks, mut at) = (Picks::default(), 0);
        for run in self.runs() {
            let [from, to] = [range.start, range.end].map(|end| end.saturating_sub(at).min(run.len()));
            if from < to {
                picks.push(run.part(from..to));
            }
            at += run.len();
        }
        picks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::test_support::Dice;

    fn bounds(dice: &mut Dice, len: usize, machines: usize) -> Vec<usize> {
        let mut inner: Vec<usize> = (1..machines).map(|_| dice.below(len + 1)).collect();
        inner.sort_unstable();
        [vec![0], inner, vec![len]].concat()
    }

    fn elements(picks: &Picks, of: &[usize]) -> Vec<usize> {
        picks.places().map(|place| of[place]).collect()
    }

    /// Several values with arbitrary bounds, and places in runs of every kind. Every machine gets
    /// its part of the result, and the sent elements match the taken ones.
    #[test]
    fn elements_come_where_they_are_taken() {
        let mut dice = Dice(9);
        for turn in 0..300 {
            let machines = 1 + dice.below(4);
            let lengths: Vec<usize> = (0..1 + dice.below(3)).map(|_| dice.below(90)).collect();
            let all: usize = lengths.iter().sum();
            let mut list = vec![];
            while all > 0 && list.len() < dice.below(200) {
                let (from, len) = (dice.below(all), 1 + dice.below(40));
                let run = (0..len).map(|i| match dice.0 % 5 {
                    0 => from,
                    1 => from + i,
                    2 => from.saturating_sub(2 * i),
                    3 => from / 2 + i / 2 + i % 2 * (all / 2),
                    _ => (from * 7 + i * i) % all,
                });
                list.extend(run.filter(|place| *place < all));
            }
            let picks = Picks::of(&list);
            let from: Vec<Vec<usize>> = lengths.iter().map(|len| bounds(&mut dice, *len, machines)).collect();
            let to = bounds(&mut dice, list.len(), machines);
            let routes: Vec<Route> = (0..machines).map(|s| Route::new(&picks, &from, &to, s)).collect();
            // The numbers of the elements of all values, as each machine has them.
            let parts = |s: usize| -> Vec<usize> {
                let mut start = 0;
                let part = |bounds: &Vec<usize>| {
                    let all = start + bounds[s]..start + bounds[s + 1];
                    start += bounds[machines];
                    all
                };
                from.iter().map(part).collect::<Vec<_>>().into_iter().flatten().collect()
            };
            let mut crossed = 0;
            for (t, route) in routes.iter().enumerate() {
                let mut held = parts(t);
                for (u, other) in routes.iter().enumerate() {
                    let comes = elements(&other.sends[t], &parts(u));
                    assert_eq!(comes.len(), route.takes[u], "turn {turn}");
                    crossed += comes.len();
                    held.extend(comes);
                }
                assert!(route.sends[t].is_empty());
                assert_eq!(elements(&route.picks, &held), list[to[t]..to[t + 1]], "turn {turn}");
            }
            assert!(routes.iter().all(|route| route.crosses == (crossed > 0)));
        }
    }

    #[test]
    fn an_element_that_is_copied_down_goes_once() {
        let picks = Picks::of_runs([PickRun::Steps { from: 3, step: 0, len: 1000 }]);
        let route = |here| Route::new(&picks, &[vec![0, 5, 10]], &[0, 500, 1000], here);
        assert_eq!((route(0).sent(), route(1).sent(), route(1).takes), (1, 0, vec![1, 0]));
        let same = Route::again(&[0, 4, 9], &[0, 4, 9], 1);
        assert!(!same.crosses && same.picks.is_all(5));
        assert_eq!(Route::again(&[0, 4, 9], &[0, 9, 9], 1).sent(), 5);
    }
}
