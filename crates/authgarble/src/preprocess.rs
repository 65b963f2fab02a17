//! The function-independent phase: authenticated triples and masks, before the circuit is known.
//!
//! ```text
//! a batch of N triples: 3 B N authenticated bits ─► B N leaky ANDs ─► a coin permutes them ─► buckets of B
//! bucket: x = Σ x_l, y = y_0, z = z_0 ⊕ Σ_l (z_l ⊕ d_l x_l), d_l = y_0 ⊕ y_l opened with MACs        (WRK17b, Π_aAND)
//! ```

use crate::{
    AuthError, Check, Setup, Stock,
    bits::{Ends, authenticated},
    bucket, leaky,
    room::Room,
    script::Talk,
    shares::Shares,
    stock::Triples,
};
use hushwire_block::Block;
use hushwire_prg::Prg;

/// The use that a stock is made for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Need {
    /// Authenticated triples: one for every AND of every instance.
    pub triples: u64,
    /// Masks: one for every AND and every input bit of every instance.
    pub masks: u64,
}

impl Need {
    /// Whether there is as much of everything as `other` takes.
    #[must_use]
    pub fn covers(self, other: Need) -> bool {
        self.triples >= other.triples && self.masks >= other.masks
    }
}

pub(crate) async fn run(talk: Talk, mut setup: Setup, need: Need) -> Result<Stock, AuthError> {
    let context = setup.context.child("authgarble preprocessing", 0);
    let mut room = Room::new(talk, context, &setup.seed);
    let (slots, delta) = (setup.n - 1, setup.delta);
    let sizes = batches(need.triples as usize);
    let mut triples = Triples::zeros(slots, sizes.iter().sum());
    let (mut made, mut ands) = (0, 0);
    for n in sizes {
        let batch = batch(&mut room, &mut setup.ends, delta, ands, n).await?;
        triples.put(made, &batch);
        made += n;
        ands += (n * bucket::size(n)) as u64;
    }
    let masks = authenticated(&mut room, &mut setup.ends, need.masks as usize).await?;
    room.confirm().await?;
    Ok(Stock::new(&setup, triples, masks))
}

/// Triples of each batch for as many as are wanted.
pub(crate) fn batches(wanted: usize) -> Vec<usize> {
    let mut sizes = vec![];
    let mut left = wanted;
    while left > 0 {
        let size = bucket::batch(left);
        sizes.push(size);
        left = left.saturating_sub(size);
    }
    sizes
}

/// `n` triples; the first leaky AND has the number `first`.
async fn batch(
    room: &mut Room,
    ends: &mut [Ends],
    delta: Block,
    first: u64,
    n: usize,
) -> Result<Triples, AuthError> {
    let b = bucket::size(n);
    let ands = n * b;
    let bits = authenticated(room, ends, 3 * ands).await?;
    let part = |k: usize| bits.pick(|| k * ands..(k + 1) * ands);
    let (x, y, mut z) = (part(0), part(1), part(2));
    drop(bits);
    leaky::multiply(room, delta, first, &x, &y, &mut z).await?;
    // The coin comes when every leaky AND is fixed.
    let coin = room.coin().await?;
    room.confirm().await?;
    let order = bucket::permutation(&mut Prg::new(room.backend(), &coin, "buckets"), ands);
    combine(room, delta, &order, b, [&x, &y, &z]).await
}

/// Buckets of `b`: AND l of bucket k is `order[l n + k]`.
async fn combine(
    room: &mut Room,
    delta: Block,
    order: &[u32],
    b: usize,
    [x, y, z]: [&Shares; 3],
) -> Result<Triples, AuthError> {
    let n = order.len() / b;
    let at = |l: usize| order[l * n..(l + 1) * n].iter().map(|k| *k as usize);
    let mut d = Shares::zeros(x.slots(), n * (b - 1));
    for (d, y) in d.lists_mut().zip(y.lists()) {
        for l in 1..b {
            let d = &mut d[(l - 1) * n..l * n];
            at(0).zip(at(l)).zip(d).for_each(|((first, other), d)| *d = y[first] ^ y[other]);
        }
    }
    let opened = room.open("opening buckets", Check::Buckets, delta, &d).await?;
    drop(d);
    let mut triples = Triples { a: x.pick(|| at(0)), b: y.pick(|| at(0)), c: z.pick(|| at(0)) };
    for l in 1..b {
        let d = &opened[(l - 1) * n..l * n];
        let (x, z) = (x.pick(|| at(l)), z.pick(|| at(l)));
        triples.c.add(&z);
        triples.c.add_where(d, &x);
        triples.a.add(&x);
    }
    Ok(triples)
}
