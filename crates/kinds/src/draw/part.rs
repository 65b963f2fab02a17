//! One party's part of a draw.

use super::DrawJob;
use hushwire_prg::{Prg, Seed};
use hushwire_session::{
    Fault, NewFile, Part,
    engine::Seat,
    run::{Links, MemberSession},
};
use serde::{Deserialize, Serialize};
use std::{array, collections::HashMap, io::Write};

/// AGREEMENT: separates the numbers of a draw from every other use of a run's name.
const LABEL: &str = "hushwire 2026 draw v1";

/// The numbers, in the order in which they were drawn. `None` if they went to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// The numbers.
    pub numbers: Option<Vec<u64>>,
}

/// A party's result, and where it goes.
pub struct DrawPart {
    job: DrawJob,
    file: Option<NewFile>,
    shows: bool,
    numbers: Vec<u64>,
}

impl DrawPart {
    pub(super) fn new(job: DrawJob, file: Option<NewFile>, shows: bool) -> Self {
        Self { job, file, shows, numbers: vec![] }
    }
}

impl Part for DrawPart {
    type Learnt = Drawn;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let (seat, word) = Seat::take(member)?;
        let key = blake3::derive_key(LABEL, &seat.context.sid.0);
        let seed = Seed::from_bytes(array::from_fn(|i| key[i]));
        let mut prg = Prg::new(seat.context.backend, &seed, LABEL);
        self.numbers = drawn(&self.job, || prg.next_u64());
        Ok(Links { word, kept: vec![] })
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        let Some(file) = &self.file else { return Ok(()) };
        file.writer()?.write_all(&lines(&self.numbers)).map_err(|e| file.error(&e))?;
        file.sync()
    }

    fn commit(self) -> Result<Drawn, Fault> {
        self.file.map_or(Ok(()), NewFile::commit)?;
        Ok(Drawn { numbers: self.shows.then_some(self.numbers) })
    }
}

/// Formats numbers as text, one a line.
pub(super) fn lines(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// Draws different numbers of the job's range. Each set of them is equally likely in each order.
/// These are the first steps of a shuffle of the whole range (R. Durstenfeld, "Algorithm 235",
/// 1964); only the places that have changed are stored.
fn drawn(job: &DrawJob, mut word: impl FnMut() -> u64) -> Vec<u64> {
    let mut moved = HashMap::new();
    (0..job.numbers)
        .map(|place| {
            let left = job.to - job.from - place;
            let chosen = place + below_or_at(left, &mut word);
            let here = moved.remove(&place).unwrap_or(place);
            job.from + if chosen == place { here } else { moved.insert(chosen, here).unwrap_or(chosen) }
        })
        .collect()
}

/// A uniform number from 0 to `most`. Words at or above the largest multiple of the range are drawn
/// again.
fn below_or_at(most: u64, mut word: impl FnMut() -> u64) -> u64 {
    let Some(range) = most.checked_add(1) else { return word() };
    let surplus = (u64::MAX % range + 1) % range;
    loop {
        let drawn = word();
        if drawn <= u64::MAX - surplus {
            return drawn % range;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn job(numbers: u64, from: u64, to: u64) -> DrawJob {
        DrawJob { parties: 3, numbers, from, to }
    }

    /// Words of a generator that the program itself does not use (G. Marsaglia, "Xorshift RNGs",
    /// 2003).
    fn words() -> impl FnMut() -> u64 {
        let mut x = 88_172_645_463_325_252_u64;
        move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        }
    }

    #[test]
    fn numbers_differ_and_lie_in_the_range() {
        for (numbers, from, to) in
            [(1, 0, 0), (5, 1, 5), (1000, 7, 1006), (3, 0, u64::MAX), (9, u64::MAX - 8, u64::MAX)]
        {
            let all = drawn(&job(numbers, from, to), words());
            assert!(all.iter().all(|number| (from..=to).contains(number)), "{all:?}");
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len() as u64, numbers);
        }
    }

    #[test]
    fn every_order_is_equally_likely() {
        let (mut found, mut words) = (BTreeMap::new(), words());
        for _ in 0..12_000 {
            *found.entry(drawn(&job(2, 1, 4), &mut words)).or_insert(0_u32) += 1;
        }
        assert_eq!(found.len(), 12);
        // Each number is expected 1000 times, with a standard deviation of 30.
        assert!(found.values().all(|times| (850..1150).contains(times)), "{found:?}");
    }

    #[test]
    fn words_beyond_a_multiple_of_the_range_are_drawn_again() {
        let mut given = [u64::MAX, u64::MAX - 1, 5].into_iter();
        // 2^64 is one more than a multiple of 3.
        assert_eq!(below_or_at(2, || given.next().unwrap_or_default()), (u64::MAX - 1) % 3);
        assert_eq!(below_or_at(u64::MAX, || u64::MAX), u64::MAX);
    }
}
