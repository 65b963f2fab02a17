//! Inputs at rest: an owner shares columns once, part by part, and each party keeps its shares
//! until a run uses them.
//!
//! ```text
//! seeds     once: party i keeps those of x_i and x_{i+1}
//! a part    2^18 elements of every column; the last part has the rest
//! a column  bit planes, one behind the other, each a bit of all elements of the part: x_e in full,
//!           e = (part + column) mod 3, kept by its holders, parties e and e-1;
//!           the other two are expanded
//! ```
//!
//! The bytes are those of an [`Owner`] in a session, with the part in place of the batch and the
//! column in place of the input.
//!
//! **Security.** As for an [`Owner`]: shares of two parties are compared in every run, before
//! anything that depends on them is opened ([`Comparison`](crate::Comparison)). So nothing is
//! opened if a part was forged, or was damaged on a disk.

use crate::{
    Addition, Owner, OwnerSeeds, Role, ShareError,
    owner::{explicit, stream},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use std::ops::Range;

/// AGREEMENT: the number of a column's elements in a part.
pub const PART: u64 = 1 << 18;

/// A column at rest. Its position among the columns is part of how it is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredColumn {
    /// The name of the input that the column provides.
    pub name: String,
    /// The bits of an element.
    pub bits: u32,
    /// The lengths of its axes.
    pub lengths: Vec<u64>,
}

impl StoredColumn {
    /// A column of a table, with one axis.
    #[must_use]
    pub fn new(name: &str, bits: u32, rows: u64) -> Self {
        Self { name: name.to_owned(), bits, lengths: vec![rows] }
    }

    /// The number of its elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.lengths.iter().product()
    }

    /// The range of its elements in a part.
    #[must_use]
    pub fn range(&self, part: u32) -> Range<u64> {
        let all = self.elements();
        let at = |part: u64| part.saturating_mul(PART).min(all);
        at(part.into())..at(u64::from(part) + 1)
    }

    /// The bytes of its planes in a part; zero behind the column's end.
    #[must_use]
    pub fn bytes(&self, part: u32) -> usize {
        let range = self.range(part);
        self.bits as usize * ((range.end - range.start) as usize).div_ceil(8)
    }

    /// The bytes of its planes over all elements.
    #[must_use]
    pub fn all_bytes(&self) -> usize {
        self.bits as usize * (self.elements() as usize).div_ceil(8)
    }

    /// Calls `copy` for each plane, with its place among the planes of all elements and among those
    /// of the part.
    fn each_plane(&self, part: u32, mut copy: impl FnMut(Range<usize>, Range<usize>)) {
        let range = self.range(part);
        let (all, height) =
            ((self.elements() as usize).div_ceil(8), ((range.end - range.start) as usize).div_ceil(8));
        // Parts begin at whole bytes of planes.
        let first = (range.start / 8) as usize;
        for plane in 0..self.bits as usize {
            let at = plane * all + first;
            copy(at..at + height, plane * height..(plane + 1) * height);
        }
    }

    /// Cuts the planes of a part from those of all elements.
    ///
    /// # Panics
    /// If `planes` is shorter than [`StoredColumn::all_bytes`] (the caller's bug).
    #[must_use]
    pub fn part_of(&self, planes: &[u8], part: u32) -> Wiped<Vec<u8>> {
        let mut cut = Wiped::new(vec![0; self.bytes(part)]);
        self.each_plane(part, |all, one| cut[one].copy_from_slice(&planes[all]));
        cut
    }
}

/// The number of parts of a data set: those of its longest column, at least one.
#[must_use]
pub fn parts(columns: &[StoredColumn]) -> u32 {
    let most = columns.iter().map(StoredColumn::elements).max().unwrap_or(0);
    u32::try_from(most.div_ceil(PART)).unwrap_or(u32::MAX).max(1)
}

/// The columns whose full share a party keeps for a part, with the place of each in the part's
/// bytes.
#[must_use]
pub fn held(columns: &[StoredColumn], party: Role, part: u32) -> Vec<(usize, Range<usize>)> {
    let (mut at, mut all) = (0, vec![]);
    for (column, of) in columns.iter().enumerate() {
        let e = explicit(part, column);
        if e == party.index() || e == party.right().index() {
            all.push((column, at..at + of.bytes(part)));
            at += of.bytes(part);
        }
    }
    all
}

/// The bytes that a party keeps of a part.
#[must_use]
pub fn part_bytes(columns: &[StoredColumn], party: Role, part: u32) -> usize {
    held(columns, party, part).last().map_or(0, |(_, place)| place.end)
}

/// An owner that shares a data set part by part.
pub struct Dealer(Owner);

impl Dealer {
    /// Draws the seeds for a data set.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        Self(Owner::new(backend))
    }

    /// The two seeds that a party keeps.
    #[must_use]
    pub fn seeds(&self, party: Role) -> Wiped<[u8; 32]> {
        self.0.seeds(party)
    }

    /// Shares a part of the planes of every column, once, and returns the bytes that each party
    /// keeps of it.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless there are planes for each column, with the column's bytes.
    pub fn part(
        &self,
        columns: &[StoredColumn],
        part: u32,
        planes: Vec<Wiped<Vec<u8>>>,
    ) -> Result<[Wiped<Vec<u8>>; 3], ShareError> {
        let wrong = |what, expected, found| ShareError::Length { what, expected, found };
        if planes.len() != columns.len() {
            return Err(wrong("the columns of a part", columns.len(), planes.len()));
        }
        let mut kept = [0; 3].map(|_: u8| Wiped::new(vec![]));
        for (at, (column, planes)) in columns.iter().zip(planes).enumerate() {
            if planes.len() != column.bytes(part) {
                return Err(wrong("the planes of a column", column.bytes(part), planes.len()));
            }
            self.0.share(part, at, planes, Addition::Xor, &mut kept);
        }
        Ok(kept)
    }
}

impl OwnerSeeds {
    /// Both shares of a column's part at a party: one from the bytes that it keeps, if it keeps
    /// any, and the others expanded. They are written to their place among the planes of all
    /// elements.
    ///
    /// # Panics
    /// If `kept` or `shares` have other lengths than the column (the caller's bug).
    pub fn stored(
        &self,
        (backend, party): (Backend, Role),
        part: u32,
        (at, column): (usize, &StoredColumn),
        kept: Option<&[u8]>,
        shares: [&mut [u8]; 2],
    ) {
        let components = [party, party.right()].map(Role::index);
        for ((component, seed), to) in components.into_iter().zip(self.both()).zip(shares) {
            let mut grown = Wiped::new(vec![]);
            let share = match kept.filter(|_| component == explicit(part, at)) {
                Some(kept) => kept,
                None => {
                    grown.resize(column.bytes(part), 0);
                    stream(backend, seed, part, at).fill(&mut grown);
                    &grown
                }
            };
            column.each_plane(part, |place, one| to[place].copy_from_slice(&share[one]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shares;

    #[test]
    fn what_parties_keep_adds_up_part_by_part() {
        let columns = [
            StoredColumn { name: "x".into(), bits: 5, lengths: vec![PART + 13] },
            StoredColumn { name: "null:x".into(), bits: 1, lengths: vec![PART + 13] },
            StoredColumn { name: "w".into(), bits: 8, lengths: vec![3, 7] },
            StoredColumn { name: "none".into(), bits: 8, lengths: vec![0] },
        ];
        assert_eq!(parts(&columns), 2);
        let planes: Vec<Vec<u8>> = columns
            .iter()
            .map(|column| (0..column.all_bytes()).map(|i| ((i * 7) ^ (i >> 5)) as u8).collect())
            .collect();
        let dealer = Dealer::new(Backend::best());
        let mut shares = Role::ALL.map(|_| {
            let zeros = |column: &StoredColumn| vec![0; column.all_bytes()];
            columns.each_ref().map(|column| Shares { own: zeros(column), next: zeros(column) })
        });
        for part in 0..2 {
            let cut: Vec<_> =
                columns.iter().zip(&planes).map(|(column, planes)| column.part_of(planes, part)).collect();
            let kept = dealer.part(&columns, part, cut.clone()).expect("as many planes as columns have");
            assert!(dealer.part(&columns, part, cut[1..].to_vec()).is_err());
            for (role, (kept, shares)) in Role::ALL.into_iter().zip(kept.iter().zip(&mut shares)) {
                assert_eq!(kept.len(), part_bytes(&columns, role, part));
                let seeds = OwnerSeeds::from_bytes(&dealer.seeds(role));
                let held = held(&columns, role, part);
                for (at, (column, shares)) in columns.iter().zip(shares).enumerate() {
                    let place = held.iter().find(|(held, _)| *held == at).map(|(_, place)| place.clone());
                    let kept = place.map(|place| &kept[place]);
                    let shares = [&mut shares.own[..], &mut shares.next];
                    seeds.stored((Backend::best(), role), part, (at, column), kept, shares);
                }
            }
        }
        for (at, planes) in planes.iter().enumerate() {
            let mut sum = shares[0][at].own.clone();
            (1..3).for_each(|p| Addition::Xor.add(&mut sum, &shares[p][at].own));
            assert!(sum == *planes, "column {at}");
            assert!((0..3).all(|p| shares[p][at].next == shares[(p + 1) % 3][at].own), "shares fit");
        }
    }
}
