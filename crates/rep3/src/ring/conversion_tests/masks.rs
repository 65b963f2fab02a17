//! Masks in few rounds: each message has its own mask, and a party could tell if one was used twice
//! or was missing.

use super::super::{Column, Greatest, NegativeInFew, Rectify, TruncateInFew};
use super::*;
use crate::ShareError;
use hushwire_block::registry;
use hushwire_machine::drive::Place;

/// The rows of one dealer. This many bits of a number are compared, so planes are alike by chance
/// with probability 2^−63.
const ROWS: usize = 64;

/// Whether bits are equal, or opposite: a party that sees both then knows whether their secrets are
/// equal.
fn alike(x: &[u8], y: &[u8]) -> bool {
    let first = x[0] ^ y[0];
    (first == 0 || first == u8::MAX) && x.iter().zip(y).all(|(x, y)| x ^ y == first)
}

/// Whether the differences of words are the same in all rows: a party that sees both then knows the
/// difference of their secrets.
fn differ_evenly(x: &[u8], y: &[u8]) -> bool {
    let word = |of: &[u8]| u32::from_le_bytes(of.try_into().expect("4 bytes"));
    let mut differences = x.chunks(4).zip(y.chunks(4)).map(|(x, y)| word(x).wrapping_sub(word(y)));
    let first = differences.next();
    differences.all(|difference| Some(difference) == first)
}

/// A party's view: bits of 64 rows, and words of 64 rows.
#[derive(Default)]
struct View {
    planes: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl View {
    fn see(&mut self, bits: &[u8], words: &[u8]) {
        self.planes.extend(bits.chunks(ROWS / 8).map(<[u8]>::to_vec));
        self.words.extend(words.chunks(4 * ROWS).map(<[u8]>::to_vec));
    }

    /// The secrets that it reveals: pieces that have one value in all rows, or the mask of another
    /// piece. All rows have the same shares, so they differ in their masks alone.
    fn told(&self) -> Vec<String> {
        let mut told = vec![];
        let none = (vec![0; ROWS / 8], vec![0; 4 * ROWS]);
        for (what, all, none, same) in [
            ("planes", &self.planes, none.0, alike as fn(&[u8], &[u8]) -> bool),
            ("words", &self.words, none.1, differ_evenly),
        ] {
            for (i, piece) in all.iter().enumerate() {
                if same(piece, &none) {
                    told.push(format!("{what} {i} have no masks"));
                }
                let others = all[..i].iter().enumerate().filter(|(_, other)| same(piece, other));
                told.extend(others.map(|(k, _)| format!("{what} {i} have the masks of {k}")));
            }
        }
        told
    }
}

/// Each party's view at the right of its dealer: the dealing, then L's messages together with its
/// own. `words` is the number of words that are dealt per row.
fn views<M: Machine<Error = NetError>>(
    words: usize,
    make: impl Fn(&mut Batch, &Column<u32>) -> Result<M, ShareError>,
) -> [View; 3] {
    let mut prg = random();
    let [a, b, c] = [0; 3].map(|_: u8| prg.next_u64() as u32);
    let column = |own: u32, next: u32| Column { own: vec![own; 3 * ROWS], next: vec![next; 3 * ROWS] };
    let shares = [column(a, b), column(b, c), column(c, a)];
    let mut session = parties();
    // The registry of key uses finds a stream that is used twice, even if no party sees both uses.
    let watch = registry::watch();
    let mut machines = [0, 1, 2].map(|i| {
        let new = || make(&mut session[i].next_batch().unwrap(), &shares[i]);
        registry::as_end(i, new).unwrap()
    });
    assert!(watch.uses() >= 3 * 3 * 2);
    let mut all = vec![];
    Lockstep::new().run_edited(&mut machines, |at, bytes| all.push((at, bytes.clone()))).unwrap();
    let last = all.iter().map(|(at, _)| at.round).max().unwrap();
    [0, 1, 2].map(|party| {
        let sent = |round: usize, party: usize, slot: usize| {
            let found = all.iter().find(|(at, _)| *at == Place { round, party, slot });
            found.map_or(&[][..], |(_, bytes)| bytes)
        };
        let [left, right] = [(party + 2) % 3, (party + 1) % 3];
        let mut view = View::default();
        let dealt = sent(0, left, 1);
        let (bits, dealt) = dealt.split_at(dealt.len() - words * 4 * ROWS);
        view.see(bits, dealt);
        for round in 1..=last {
            let [own, theirs] = [sent(round, party, 1), sent(round, right, 0)];
            assert!(!own.is_empty() && own.len() == theirs.len());
            if round == last && words > 0 {
                let both = own.chunks(4).zip(theirs.chunks(4)).flat_map(|(x, y)| {
                    let [x, y] = [x, y].map(|x| u32::from_le_bytes(x.try_into().unwrap()));
                    x.wrapping_add(y).to_le_bytes()
                });
                view.see(&[], &both.collect::<Vec<u8>>());
            } else {
                let both: Vec<u8> = own.iter().zip(theirs).map(|(x, y)| x ^ y).collect();
                view.see(&both, &[]);
            }
        }
        view
    })
}

/// The machines, with the number of words that they deal per row.
fn all_views() -> Vec<(&'static str, [View; 3])> {
    let times = |x: &Column<u32>, n: u32| {
        let of = |share: &[u32]| share.iter().map(|x| x.wrapping_mul(n)).collect();
        Column { own: of(&x.own), next: of(&x.next) }
    };
    vec![
        ("rectifier", views(7, |batch, x| Rectify::new(batch, x, 13..32))),
        ("rectifier of all bits", views(5, |batch, x| Rectify::new(batch, x, 0..32))),
        ("greatest of two", views(2, |batch, x| Greatest::new(batch, &[x, &times(x, 3)], 19))),
        (
            "greatest of three",
            views(11, |batch, x| Greatest::new(batch, &[x, &times(x, 3), &times(x, 9)], 19)),
        ),
        ("truncation", views(5, |batch, x| TruncateInFew::new(batch, x, 13, true))),
        ("unsigned truncation", views(5, |batch, x| TruncateInFew::new(batch, x, 13, false))),
        ("sign", views(0, |batch, x| NegativeInFew::less_bounded(batch, x, &times(x, 3)))),
    ]
}

/// The planes that R receives from the dealer, and those that R and L make from each other's
/// messages, are neither equal nor opposite to any other plane, nor constant. Words differ from row
/// to row, and so do their differences.
#[test]
fn every_message_in_few_rounds_has_masks_of_its_own() {
    for (name, views) in all_views() {
        for (party, view) in views.iter().enumerate() {
            assert!(view.planes.len() > 50 || name == "sign", "{name}: {} planes", view.planes.len());
            assert_eq!(view.told(), [""; 0], "{name}, party {party}");
        }
    }
}

/// The attacks that masks prevent. Without its mask a piece is its secret. Under the mask of
/// another piece it reveals whether both are equal, or by how much they differ.
#[test]
fn a_missing_mask_and_one_that_serves_twice_are_seen() {
    let [view, ..] = views(11, |batch, x| Greatest::new(batch, &[x, x, x], 19));
    assert_eq!(view.told(), [""; 0]);
    let change = |change: &dyn Fn(&mut View)| {
        let mut view = View { planes: view.planes.clone(), words: view.words.clone() };
        change(&mut view);
        view.told()
    };
    let told = change(&|view| view.planes[3].fill(u8::MAX));
    assert_eq!(told, ["planes 3 have no masks"]);
    let told = change(&|view| view.planes[9] = view.planes[4].iter().map(|byte| !byte).collect());
    assert_eq!(told, ["planes 9 have the masks of 4"]);
    let told = change(&|view| view.words[2] = 7u32.to_le_bytes().repeat(ROWS));
    assert_eq!(told, ["words 2 have no masks"]);
    let more = |word: &[u8]| (u32::from_le_bytes(word.try_into().unwrap()).wrapping_add(5)).to_le_bytes();
    let told = change(&|view| view.words[6] = view.words[1].chunks(4).flat_map(more).collect());
    assert_eq!(told, ["words 6 have the masks of 1"]);
}
