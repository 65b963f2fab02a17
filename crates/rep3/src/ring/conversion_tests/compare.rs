//! Comparisons of numbers and of bits: exact over the full range, and with a declared range.

use super::super::{
    Bits, Column, OnBits, OnNumbers, Word,
    test_support::{open_bits, share_bits, share_words},
};
use super::*;
use crate::{Rep3, ShareError};
use hushwire_circuit::Adder;
use hushwire_machine::drive::Abreast;
use std::sync::Arc;

/// Every comparison of two columns.
fn compared<W: Word>(x: &[W], y: &[W]) {
    let [xs, ys] = [x, y].map(|v| share_words(&mut random(), v));
    let expected = |of: &dyn Fn(W, W) -> bool| -> Vec<u64> {
        x.iter().zip(y).map(|(x, y)| u64::from(of(*x, *y))).collect()
    };
    for adder in Adder::ALL {
        let less = run(|batch, i| OnNumbers::less(batch, &xs[i], &ys[i], false, adder).unwrap());
        assert_eq!(open_bits(&less.map(OnNumbers::finish)), expected(&|x, y| x.number() < y.number()));
        let less = run(|batch, i| OnNumbers::less(batch, &xs[i], &ys[i], true, adder).unwrap());
        assert_eq!(open_bits(&less.map(OnNumbers::finish)), expected(&|x, y| signed(x) < signed(y)));
    }
    let equal = run(|batch, i| OnNumbers::equal(batch, &xs[i], &ys[i]).unwrap());
    assert_eq!(open_bits(&equal.map(OnNumbers::finish)), expected(&|x, y| x == y));
}

fn compared_at_random<W: Word>() {
    for rows in ROWS {
        let mut y = numbers::<W>(&mut random(), rows);
        let x = numbers::<W>(&mut random(), rows);
        // Some numbers are equal, and some differ by one.
        for (i, (y, x)) in y.iter_mut().zip(&x).enumerate() {
            match i % 5 {
                0 => *y = *x,
                1 => *y = x.plus(W::of(1)),
                _ => {}
            }
        }
        compared(&x, &y);
    }
    let edges =
        [0, 1, u64::MAX, u64::MAX >> 1, 1 << (W::BITS - 1), (1 << (W::BITS - 1)) - 1, 2, 77].map(W::of);
    let (x, y): (Vec<W>, Vec<W>) = edges.iter().flat_map(|x| edges.map(|y| (*x, y))).unzip();
    compared(&x, &y);
}

#[test]
fn all_pairs_of_bytes_are_ordered() {
    let (x, y): (Vec<u8>, Vec<u8>) = (0..=255).flat_map(|x| (0..=255).map(move |y| (x, y))).unzip();
    compared(&x, &y);
}

#[test]
fn numbers_of_every_width_are_ordered() {
    compared_at_random::<u8>();
    compared_at_random::<u16>();
    compared_at_random::<u32>();
    compared_at_random::<u64>();
}

fn bounded<W: Word>(x: &[W], y: &[W]) -> Vec<u64> {
    let [xs, ys] = [x, y].map(|v| share_words(&mut random(), v));
    let [ripple, prefix] = Adder::ALL.map(|adder| {
        let less = run(|batch, i| OnNumbers::less_bounded(batch, &xs[i], &ys[i], adder).unwrap());
        open_bits(&less.map(OnNumbers::finish))
    });
    assert_eq!(ripple, prefix);
    ripple
}

#[test]
fn bytes_in_a_declared_range_are_ordered_by_a_sign() {
    let (x, y): (Vec<u8>, Vec<u8>) = (0..128).flat_map(|x| (0..128).map(move |y| (x, y))).unzip();
    let expected: Vec<u64> = x.iter().zip(&y).map(|(x, y)| u64::from(x < y)).collect();
    assert_eq!(bounded(&x, &y), expected);
    let pairs = (-64..64i8).flat_map(|x| (-64..64i8).map(move |y| (x, y)));
    let (x, y): (Vec<u8>, Vec<u8>) = pairs.clone().map(|(x, y)| (x as u8, y as u8)).unzip();
    let expected: Vec<u64> = pairs.map(|(x, y)| u64::from(x < y)).collect();
    assert_eq!(bounded(&x, &y), expected);
}

#[test]
fn a_sign_is_wrong_outside_the_declared_range() {
    // The reason why a range must be declared: outside it the answers are wrong.
    assert_eq!(bounded::<u64>(&[0, u64::MAX], &[u64::MAX, 0]), [0, 1]);
    assert_eq!(bounded::<u16>(&[0x8000], &[0x7fff]), [0], "−32768 < 32767");
    let x: Vec<u32> = numbers(&mut random(), 1000);
    let y: Vec<u32> = numbers(&mut random(), 1000);
    let right: Vec<u64> = x.iter().zip(&y).map(|(x, y)| u64::from(x < y)).collect();
    let wrong = bounded(&x, &y).iter().zip(&right).filter(|(a, b)| a != b).count();
    assert!((100..500).contains(&wrong), "a quarter of random pairs: {wrong}");
    for rows in ROWS {
        let x: Vec<u64> = numbers::<u64>(&mut random(), rows).iter().map(|x| x >> 1).collect();
        let y: Vec<u64> = numbers::<u64>(&mut random(), rows).iter().map(|x| x >> 1).collect();
        let right: Vec<u64> = x.iter().zip(&y).map(|(x, y)| u64::from(x < y)).collect();
        assert_eq!(bounded(&x, &y), right);
    }
}

#[test]
fn strings_of_bits_are_compared_and_chosen() {
    for width in [0, 1, 2, 5, 41, 63, 64] {
        for rows in ROWS {
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let of =
                || -> Vec<u64> { numbers::<u64>(&mut random(), rows).iter().map(|x| x & mask).collect() };
            let (x, mut y) = (of(), of());
            y.iter_mut().zip(&x).step_by(3).for_each(|(y, x)| *y = *x);
            let choose: Vec<u64> = of().iter().map(|x| x & 1).collect();
            let [xs, ys] = [&x, &y].map(|v| share_bits(&mut random(), width, v));
            let cs = share_bits(&mut random(), 1, &choose);
            let shift = |x: u64| if width == 0 { 0 } else { (x << (64 - width)) as i64 };
            for adder in Adder::ALL {
                for signed in [false, true] {
                    let less = run(|batch, i| OnBits::less(batch, &xs[i], &ys[i], signed, adder).unwrap());
                    let order = |x: u64, y: u64| if signed { shift(x) < shift(y) } else { x < y };
                    let expected: Vec<u64> = x.iter().zip(&y).map(|(x, y)| order(*x, *y).into()).collect();
                    assert_eq!(open_bits(&less.map(OnBits::finish)), expected, "{width} bits, {rows} rows");
                }
            }
            let equal = run(|batch, i| OnBits::equal(batch, &xs[i], &ys[i]).unwrap());
            let expected: Vec<u64> = x.iter().zip(&y).map(|(x, y)| u64::from(x == y)).collect();
            assert_eq!(open_bits(&equal.map(OnBits::finish)), expected);
            let chosen = run(|batch, i| OnBits::select(batch, &cs[i], &xs[i], &ys[i]).unwrap());
            let expected: Vec<u64> = (0..rows).map(|r| if choose[r] == 1 { x[r] } else { y[r] }).collect();
            assert_eq!(open_bits(&chosen.map(OnBits::finish)), expected);
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let mut party = parties().into_iter().next().unwrap();
    let mut batch = party.next_batch().unwrap();
    let [two, three] = [2, 3].map(Column::<u8>::zeros);
    let refused =
        Some(ShareError::Operand { what: "a share of an operand", expected: (8, 2), found: (8, 3) });
    assert_eq!(OnNumbers::less(&mut batch, &two, &three, false, Adder::Prefix).err(), refused);
    assert_eq!(OnNumbers::less_bounded(&mut batch, &two, &three, Adder::Prefix).err(), refused);
    assert_eq!(OnNumbers::equal(&mut batch, &two, &three).err(), refused);
    let bits = |width, rows: usize| {
        let share = vec![0; width * rows.div_ceil(8)];
        Bits::new(width, rows, Rep3 { own: share.clone(), next: share }).unwrap()
    };
    for other in [bits(4, 9), bits(3, 10), bits(3, 70)] {
        assert!(OnBits::less(&mut batch, &bits(3, 9), &other, false, Adder::Ripple).is_err());
        assert!(OnBits::equal(&mut batch, &bits(3, 9), &other).is_err());
        assert!(OnBits::select(&mut batch, &bits(1, 9), &bits(3, 9), &other).is_err());
    }
    assert!(OnBits::select(&mut batch, &bits(2, 9), &bits(3, 9), &bits(3, 9)).is_err());
}

#[test]
fn comparisons_abreast_share_their_rounds() {
    let x: Vec<u16> = numbers(&mut random(), 100);
    let y: Vec<u16> = numbers(&mut random(), 100);
    let [xs, ys] = [&x, &y].map(|v| share_words(&mut random(), v));
    let mut machines = parties().map(|mut party| {
        let i = party.role().index();
        let mut batch = party.next_batch().unwrap();
        let less = OnNumbers::less(&mut batch, &xs[i], &ys[i], false, Adder::Ripple).unwrap();
        let equal = OnNumbers::equal(&mut batch, &xs[i], &ys[i]).unwrap();
        (less, equal, OnNumbers::to_bits(&mut batch, &xs[i], Adder::Prefix).unwrap())
    });
    let [less, equal, bits] =
        [&machines[2].0 as &dyn Machine<Error = NetError>, &machines[2].1, &machines[2].2]
            .map(|machine| machine.cost().unwrap());
    assert_eq!([less.rounds, equal.rounds, bits.rounds], [17, 5, 6]);
    let mut abreast = machines
        .each_mut()
        .map(|(a, b, c)| Abreast::new(vec![a as &mut dyn Machine<Error = NetError>, b, c]));
    assert_eq!(abreast[0].cost().unwrap().rounds, 17);
    Lockstep::new().run(&mut abreast).unwrap();
    let [a, b, c] = machines
        .map(|(less, equal, bits)| (less.finish(), (equal.finish(), bits.finish())))
        .into_iter()
        .fold([vec![], vec![], vec![]], |[mut a, mut b, mut c], (less, (equal, bits))| {
            a.push(less);
            b.push(equal);
            c.push(bits);
            [a, b, c]
        })
        .map(|of| <[Bits; 3]>::try_from(of).ok().unwrap());
    let expected =
        |of: &dyn Fn(u16, u16) -> u64| x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect::<Vec<_>>();
    assert_eq!(open_bits(&a), expected(&|x, y| (x < y).into()));
    assert_eq!(open_bits(&b), expected(&|x, y| (x == y).into()));
    assert_eq!(open_bits(&c), expected(&|x, _| x.into()));
}

#[test]
fn circuits_of_several_stages_take_strings_too() {
    let program = Arc::new(hushwire_circuit::named::program("merge:2x8").unwrap());
    assert!(program.stages().len() > 1);
    for rows in [1, 5, 8, 77] {
        // Two bytes per number, ascending.
        let of = || -> Vec<u64> {
            let pairs = numbers::<u64>(&mut random(), rows).into_iter();
            pairs.map(|x| [x & 0xff, x >> 8 & 0xff]).map(|[a, b]| a.min(b) | a.max(b) << 8).collect()
        };
        let (x, y) = (of(), of());
        let [xs, ys] = [&x, &y].map(|v| share_bits(&mut random(), 16, v));
        let merged = run(|batch, i| OnBits::run(batch, program.clone(), &[&xs[i], &ys[i]]).unwrap());
        let expected: Vec<u64> = (x.iter().zip(&y))
            .map(|(x, y)| {
                let mut bytes = [*x as u8, (x >> 8) as u8, *y as u8, (y >> 8) as u8];
                bytes.sort_unstable();
                u32::from_le_bytes(bytes).into()
            })
            .collect();
        assert_eq!(open_bits(&merged.map(OnBits::finish)), expected);
    }
}
