//! Messages of products of numbers: their masks, their factors, and a test that no mask is used
//! twice.

use crate::masks::WORLD;
use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Lockstep, Machine},
};
use hushwire_rep3::{
    Context, Place, Record, Role,
    ring::{Bilinear, Column, Conv2d, Dot, Geometry, MatMul, Product, Word, test_support::share_words},
    test_support::context,
};
use hushwire_testkit::prg;
use std::sync::{Arc, Mutex};

/// Both shares of a factor.
type Factor = [Vec<u8>; 2];

/// The calls that a recorder received.
#[derive(Default)]
struct Heard {
    mask: Vec<u8>,
    products: Vec<(Place, Factor, Factor)>,
    message: Vec<u8>,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Heard>>);

impl Record for Log {
    fn randomness(&mut self, layer: usize, mask: &[u8]) {
        assert_eq!(layer, 0);
        self.0.lock().unwrap().mask = mask.to_vec();
    }
    fn product(&mut self, _: usize, place: Place, x: [&[u8]; 2], y: [&[u8]; 2]) {
        self.0.lock().unwrap().products.push((place, x.map(<[u8]>::to_vec), y.map(<[u8]>::to_vec)));
    }
    fn opening(&mut self, _: usize, _: [&[u8]; 2]) {
        panic!("nothing is opened");
    }
    fn message(&mut self, _: usize, message: &[u8]) {
        self.0.lock().unwrap().message = message.to_vec();
    }
}

fn words<W: Word>(bytes: &[u8]) -> Vec<W> {
    assert!(bytes.len().is_multiple_of(W::BYTES));
    bytes.chunks_exact(W::BYTES).map(W::read).collect()
}

/// The message that results from a mask and products, with all three products of the paper, one by
/// one.
fn recomputed<W: Word>(heard: &Heard) -> Vec<W> {
    use hushwire_rep3::Unit::{Sum, Words};
    let mut message = words::<W>(&heard.mask);
    for (place, x, y) in &heard.products {
        let ([x, x_next], [y, y_next]) =
            (x.each_ref().map(|s| words::<W>(s)), y.each_ref().map(|s| words::<W>(s)));
        let product = |i: usize| x[i].times(y[i]).plus(x[i].times(y_next[i])).plus(x_next[i].times(y[i]));
        let at = place.offset / W::BYTES;
        for i in 0..x.len() {
            let at = match place.unit {
                Words { bytes } if usize::from(bytes) == W::BYTES => at + i,
                Sum { bytes } if usize::from(bytes) == W::BYTES => at,
                unit => panic!("{unit:?}"),
            };
            message[at] = message[at].plus(product(i));
        }
    }
    message
}

/// Runs a machine with a recorder and without, and recomputes messages from the records, and masks
/// from their formula.
fn check<W: Word, F>(
    address: (u32, u32),
    [x, y]: [usize; 2],
    new: impl Fn(Context, Arc<Column<W>>, Arc<Column<W>>) -> Bilinear<W, F>,
) where
    Bilinear<W, F>: Machine<Error = NetError>,
{
    let parties = WORLD.parties(Backend::best());
    let mut prg = prg(1, "numbers");
    let [xs, ys] = [x, y].map(|len| {
        let numbers: Vec<W> = (0..len).map(|_| W::of(prg.next_u64())).collect();
        share_words(&mut prg, &numbers).map(Arc::new)
    });
    let logs = [Log::default(), Log::default(), Log::default()];
    let mut sent: [Vec<Vec<u8>>; 2] = [vec![], vec![]];
    for (recorded, sent) in sent.iter_mut().enumerate() {
        let mut machines = Role::ALL.map(|role| {
            let i = role.index();
            let cx = context(&parties[i], address.0, address.1);
            let mut machine = new(cx, xs[i].clone(), ys[i].clone());
            if recorded == 1 {
                machine.record(Box::new(logs[i].clone()));
            }
            machine
        });
        let keep = |_, message: &mut Vec<u8>| sent.push(message.clone());
        Lockstep::new().run_edited(&mut machines, keep).unwrap();
    }
    assert!(sent[0] == sent[1], "who listens changes nothing");
    for (i, log) in logs.iter().enumerate() {
        let heard = log.0.lock().unwrap();
        assert_eq!(heard.message, sent[0][2 * i], "slot 0 is recorded as it is sent");
        assert!(sent[0][2 * i + 1].is_empty(), "nothing goes the other way");
        assert!(recomputed::<W>(&heard) == words::<W>(&heard.message), "the message of its parts");
        let keyed = |k: usize| words::<W>(&WORLD.words(k, address, 0, heard.mask.len()));
        let zeros: Vec<W> =
            keyed(i).iter().zip(keyed((i + 2) % 3)).map(|(own, prev)| own.minus(prev)).collect();
        assert!(zeros == words::<W>(&heard.mask), "F_k_i − F_k_(i−1) of AES from elsewhere");
    }
}

fn all_of<W: Word>(shard: u32) {
    check::<W, _>((shard, 1), [3000, 3000], |cx, x, y| Product::new(cx, x, y).unwrap());
    check::<W, _>((shard, 2), [70, 70], |cx, x, y| Dot::new(cx, [10, 7], x, y).unwrap());
    check::<W, _>((shard, 3), [15, 50], |cx, x, y| MatMul::new(cx, [3, 5, 10], x, y).unwrap());
    let geometry = Geometry {
        groups: 1,
        pictures: [2, 4, 5, 3],
        window: [2, 3],
        filters: 4,
        stride: [1, 2],
        before: [1, 0],
        after: [0, 1],
    };
    check::<W, _>((shard, 4), [120, 72], |cx, x, y| Conv2d::new(cx, geometry, x, y).unwrap());
    let geometry = Geometry { groups: 3, pictures: [2, 4, 5, 1], ..geometry };
    check::<W, _>((shard, 5), [120, 72], |cx, x, y| Conv2d::new(cx, geometry, x, y).unwrap());
}

#[test]
fn messages_are_masks_and_the_products_that_were_recorded() {
    all_of::<u8>(1);
    all_of::<u16>(2);
    all_of::<u32>(3);
    all_of::<u64>(4);
}

/// The reason why one machine consumes a context, which cannot be copied (`Batch`, doc tests). Two
/// products under one mask reveal the difference of their local sums, which has no mask, to the
/// left neighbour.
#[test]
fn two_products_of_one_mask_would_tell_their_difference() {
    let parties = WORLD.parties(Backend::best());
    let numbers: [Vec<u64>; 2] = [vec![5, 6, 7], vec![8, 9, 10]];
    let column = |i: usize, v: &[u64]| Arc::new(share_words(&mut prg(7, "dealer"), v)[i].clone());
    let sent = |x: &[u64], lane: u32| {
        let mut sent = vec![];
        let mut machines = [0, 1, 2].map(|i| {
            // Only a test can name an address twice.
            Product::new(context(&parties[i], 9, lane), column(i, x), column(i, &[1, 2, 3])).unwrap()
        });
        let keep = |_, message: &mut Vec<u8>| sent.push(words::<u64>(message));
        Lockstep::new().run_edited(&mut machines, keep).unwrap();
        sent[0].clone()
    };
    let local = |x: &[u64]| -> Vec<u64> {
        let (x, y) = (column(0, x), column(0, &[1, 2, 3]));
        let sum = |i: usize| x.own[i].wrapping_mul(y.own[i].wrapping_add(y.next[i]));
        (0..3).map(|i| sum(i).wrapping_add(x.next[i].wrapping_mul(y.own[i]))).collect()
    };
    let difference =
        |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| a.wrapping_sub(*b)).collect() };
    let [a, b] = numbers.each_ref().map(|v| &v[..]);
    assert_eq!(difference(&sent(a, 1), &sent(b, 1)), difference(&local(a), &local(b)), "the attack");
    assert_ne!(
        difference(&sent(a, 1), &sent(b, 2)),
        difference(&local(a), &local(b)),
        "streams of their own"
    );
}
