//! Two parties on one thread, with OTs and triples from a dealer.

use crate::{
    TwoError,
    kit::{Cots, Kit},
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_gmw::Stock;
use hushwire_machine::drive::{Line, Lockstep};
use hushwire_ot::{Context, Sid, ideal};
use hushwire_prg::{Prg, Seed};
use std::future::Future;

pub(crate) fn prg(label: &str) -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([5; 16]), label)
}

pub(crate) fn random(prg: &mut Prg, count: usize, bits: u32) -> Vec<u64> {
    let mut bytes = vec![0; 8 * count];
    prg.fill(&mut bytes);
    bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b) & crate::ring::mask(bits)).collect()
}

/// `count[i]` OTs with party i as the sender.
pub(crate) fn dealt(count: [usize; 2]) -> [Cots; 2] {
    dealt_again(0, count)
}

/// The same from another dealing. No OT is in both.
pub(crate) fn dealt_again(number: u64, count: [usize; 2]) -> [Cots; 2] {
    let prg = &mut prg(&format!("ots {number}"));
    let deltas = [0, 1].map(|_| ideal::delta(prg));
    let mut ways = [0, 1].map(|i: usize| ideal::cots(prg, deltas[i], count[i]));
    [0, 1].map(|i| Cots {
        delta: deltas[i],
        q: std::mem::take(&mut ways[i][0]).into(),
        t: std::mem::take(&mut ways[1 - i][1]).into(),
    })
}

pub(crate) fn triples(number: u64, count: u64) -> [Stock; 2] {
    let prg = &mut prg(&format!("triples {number}"));
    ideal::triples(prg, count).map(|made| {
        let mut stock = Stock::new();
        stock.add(made);
        stock
    })
}

pub(crate) fn context() -> Context {
    Context { sid: Sid([3; 32]), backend: Backend::best() }
}

/// Shares of numbers.
pub(crate) fn shared(prg: &mut Prg, x: &[u64], bits: u32) -> [Vec<u64>; 2] {
    let one = random(prg, x.len(), bits);
    let other = x.iter().zip(&one).map(|(x, r)| x.wrapping_sub(*r) & crate::ring::mask(bits)).collect();
    [one, other]
}

/// The bytes that each party sent in a run, and the rounds.
pub(crate) struct Spent {
    pub(crate) bytes: [u64; 2],
    pub(crate) rounds: u64,
    pub(crate) messages: Vec<Vec<u8>>,
}

/// Runs a protocol as both parties.
pub(crate) fn both<T, F>(cots: [usize; 2], protocol: impl Fn(Kit, usize) -> F) -> ([T; 2], Spent)
where
    F: Future<Output = Result<T, TwoError>> + Send,
{
    let mut dealt = dealt(cots).into_iter();
    let _watch = registry::watch();
    let mut plays = [0, 1].map(|i| {
        let cots = dealt.next().expect("one each");
        registry::as_end(i, || Line::new(|talk| protocol(Kit::new(talk, i, &context(), cots), i)))
    });
    let mut spent = Spent { bytes: [0; 2], rounds: 0, messages: vec![] };
    let ran = Lockstep::new().run_edited(&mut plays, |place, message| {
        spent.bytes[place.party] += message.len() as u64;
        spent.rounds += u64::from(place.party == 0);
        spent.messages.push(message.clone());
    });
    ran.unwrap_or_else(|e| panic!("{e}"));
    (plays.map(Line::finish), spent)
}
