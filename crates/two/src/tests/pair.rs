//! Two parties on one thread, with OTs and triples from a dealer.

use crate::{
    TwoError,
    kit::{Cots, Kit},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_gmw::Stock;
use hushwire_machine::drive::{Line, Lockstep};
use hushwire_ot::{BitTriples, Context, Sid};
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

fn blocks(prg: &mut Prg, count: usize) -> Vec<Block> {
    let mut bytes = vec![0; 16 * count];
    prg.fill(&mut bytes);
    bytes.as_chunks().0.iter().map(|b| Block::from_u128(u128::from_le_bytes(*b))).collect()
}

/// `count[i]` OTs of which party i is the sender.
pub(crate) fn dealt(count: [usize; 2]) -> [Cots; 2] {
    dealt_again(0, count)
}

/// The same from another dealing: no OT is in two of them.
pub(crate) fn dealt_again(number: u64, count: [usize; 2]) -> [Cots; 2] {
    let prg = &mut prg(&format!("ots {number}"));
    let one = Block::from_u128(1);
    let deltas = [0, 1].map(|_| blocks(prg, 1)[0]).map(|d| if d.lsb() { d } else { d ^ one });
    let mut ways = [0, 1].map(|i: usize| {
        let q: Vec<Block> =
            blocks(prg, count[i]).into_iter().map(|q| if q.lsb() { q ^ one } else { q }).collect();
        let r = blocks(prg, count[i]);
        let t = q.iter().zip(r).map(|(q, r)| if r.lsb() { *q ^ deltas[i] } else { *q }).collect::<Vec<_>>();
        [q, t]
    });
    [0, 1].map(|i| Cots {
        delta: deltas[i],
        q: std::mem::take(&mut ways[i][0]).into(),
        t: std::mem::take(&mut ways[1 - i][1]).into(),
    })
}

pub(crate) fn triples(number: u64, count: u64) -> [Stock; 2] {
    let prg = &mut prg(&format!("triples {number}"));
    let mut bytes = || {
        let mut bytes = vec![0; count.div_ceil(8) as usize];
        prg.fill(&mut bytes);
        bytes
    };
    let [a, b, c0] = [[bytes(), bytes()], [bytes(), bytes()], [bytes(), vec![]]];
    let product = |i: usize| (a[0][i] ^ a[1][i]) & (b[0][i] ^ b[1][i]);
    let c1 = c0[0].iter().enumerate().map(|(i, c)| c ^ product(i)).collect();
    let ([a0, a1], [b0, b1], [c0, _]) = (a, b, c0);
    [BitTriples { a: a0, b: b0, c: c0 }, BitTriples { a: a1, b: b1, c: c1 }].map(|made| {
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

/// Bytes and rounds of a run: what each party sent, and rounds.
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
        Line::new(|talk| protocol(Kit::new(talk, i, &context(), cots), i))
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
