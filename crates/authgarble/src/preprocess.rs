//! The function-independent phase: makes authenticated triples and masks, before the circuit is
//! known.
//!
//! ```text
//! N triples: 3 B N authenticated bits ─► B N leaky ANDs ─► a coin shifts B lists ─► buckets of B
//! bucket:    x = Σ x_l, y = y_0, z = z_0 ⊕ Σ_l (z_l ⊕ d_l x_l), d_l = y_0 ⊕ y_l opened with MACs
//!            (WRK17b, Π_aAND)
//! ```

use crate::{
    AuthError, Check, Need, Setup, Stock,
    bits::{Ends, authenticated},
    bucket::{self, batches},
    leaky,
    room::Room,
    script::Talk,
    shares::Shares,
    stock::Triples,
};
use hushwire_block::{Block, abreast};
use hushwire_prg::Prg;

pub(crate) async fn run(talk: Talk, mut setup: Setup, need: Need) -> Result<Stock, AuthError> {
    setup.process.check("preprocessing")?;
    let context = setup.context.child("authgarble preprocessing", 0);
    let mut room = Room::new(talk, context, &setup.seed);
    let (slots, delta) = (setup.n - 1, setup.delta);
    let sizes = batches(need.triples as usize);
    let mut triples = Triples::zeros(setup.threads, slots, sizes.iter().sum());
    let (mut made, mut ands) = (0, 0);
    for n in sizes {
        batch(&mut room, &mut setup.ends, delta, ands, n, &mut triples, made).await?;
        made += n;
        ands += (n * bucket::size(n)) as u64;
    }
    let masks = authenticated(&mut room, &mut setup.ends, need.masks as usize).await?;
    room.confirm().await?;
    let seed = setup.seed.derive("authgarble stock", &[]);
    let stock = Stock::with(setup.context, [setup.me, setup.n], delta, seed, 0, triples, masks);
    Ok(stock.on_threads(setup.threads))
}

/// Makes `n` triples, and stores them from place `made` on; the first leaky AND has the number
/// `first`.
async fn batch(
    room: &mut Room,
    ends: &mut [Ends],
    delta: Block,
    first: u64,
    n: usize,
    triples: &mut Triples,
    made: usize,
) -> Result<(), AuthError> {
    let b = bucket::size(n);
    let ands = n * b;
    let mut bits = authenticated(room, ends, 3 * ands).await?;
    leaky::multiply(room, delta, first, ands, &mut bits).await?;
    // The coin is tossed only after every leaky AND is fixed.
    let coin = room.coin().await?;
    room.confirm().await?;
    let shifts = bucket::shifts(&mut Prg::new(room.backend(), &coin, "buckets"), n, b);
    let threads = room.talk.threads();
    let mut d = Shares::zeros(threads, bits.slots(), n * (b - 1));
    abreast(threads, d.lists_mut().zip(bits.lists()).collect(), |(d, list)| {
        let (first, others) = list[ands..2 * ands].split_at(n);
        for ((d, other), shift) in d.chunks_exact_mut(n).zip(others.chunks_exact(n)).zip(&shifts) {
            for (d, (y, other)) in d.iter_mut().zip(first.iter().zip(bucket::shifted(other, *shift))) {
                *d = *y ^ *other;
            }
        }
    });
    let opened = room.open("opening buckets", Check::Buckets, delta, &[&d]).await?;
    Shares::wipe(threads, [d]);
    let to = made..made + n;
    let places = triples.a.lists_mut().zip(triples.b.lists_mut()).zip(triples.c.lists_mut());
    abreast(threads, bits.lists().zip(places).collect(), |(list, ((a, b), c))| {
        combine(&shifts, &opened, list, [&mut a[to.clone()], &mut b[to.clone()], &mut c[to.clone()]]);
    });
    Shares::wipe(threads, [bits]);
    Ok(())
}

/// Combines one list of shares of all buckets; `list` has x, y and z of the leaky ANDs.
fn combine(shifts: &[usize], opened: &[u8], list: &[Block], [a, b, c]: [&mut [Block]; 3]) {
    let n = a.len();
    let ands = (shifts.len() + 1) * n;
    let [x, y, z] = [0, 1, 2].map(|k| &list[k * ands..(k + 1) * ands]);
    a.copy_from_slice(&x[..n]);
    b.copy_from_slice(&y[..n]);
    c.copy_from_slice(&z[..n]);
    for (l, (shift, d)) in shifts.iter().zip(opened.chunks_exact(n)).enumerate() {
        let of = |list| bucket::shifted(list, *shift);
        let from = (l + 1) * n;
        let others = of(&x[from..from + n]).zip(of(&z[from..from + n])).zip(d);
        for ((a, c), ((x, z), d)) in a.iter_mut().zip(c.iter_mut()).zip(others) {
            *a ^= *x;
            *c ^= *z ^ x.and_bit(*d == 1);
        }
    }
}
