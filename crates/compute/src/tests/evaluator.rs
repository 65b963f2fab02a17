//! The evaluator, compared with Rust's own arithmetic and with formulas from the definitions.
#![allow(clippy::cast_lossless)] // One macro casts integers of every width.

use crate::test_support::{Dice, tensor};
use crate::{Computation, Scalar, Tensor, evaluate};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Runs `z = …` on inputs x and y of these types.
pub(super) fn run(types: [&str; 2], expr: &str, x: Tensor, y: Tensor) -> Tensor {
    let [tx, ty] = types;
    let text = format!(
        "computation c\nmembers m\ninput x: {tx} from m\ninput y: {ty} from m\noutput z = {expr} to m\n"
    );
    let c: Computation = text.parse().unwrap_or_else(|e| panic!("{expr}: {e}"));
    let given = BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]);
    evaluate(&c, &given).unwrap().remove("z").unwrap()
}

fn single(scalar: &str, expr: &str, x: i128, y: i128) -> u128 {
    let of = |n| Tensor::from_numbers(Scalar::parse(scalar).unwrap(), &[], [n]);
    run([scalar; 2], expr, of(x), of(y)).get(0)
}

macro_rules! as_rust {
    ($test:ident $int:ty) => {
        proptest! {
            #[test]
            fn $test(x: $int, y: $int, edge in 0..6usize, by in 0..<$int>::BITS) {
                let y = [y, 0, 1, <$int>::MIN, <$int>::MAX, <$int>::MIN.wrapping_sub(1)][edge];
                let name = stringify!($int);
                let one = |n: $int| Tensor::from_words(Scalar::parse(name).unwrap(), &[], [n as u128]);
                let got = |expr: &str| run([name; 2], expr, one(x), one(y)).get(0);
                let bits = |n: $int| n as u128 & crate::tensor::mask(<$int>::BITS as usize);
                prop_assert_eq!(got("x + y"), bits(x.wrapping_add(y)));
                prop_assert_eq!(got("x - y"), bits(x.wrapping_sub(y)));
                prop_assert_eq!(got("x * y"), bits(x.wrapping_mul(y)));
                prop_assert_eq!(got("x / y"), bits(if y == 0 { !0 } else { x.wrapping_div(y) }));
                prop_assert_eq!(got("x % y"), bits(if y == 0 { x } else { x.wrapping_rem(y) }));
                prop_assert_eq!(got("-x"), bits(x.wrapping_neg()));
                prop_assert_eq!(got("!x"), bits(!x));
                prop_assert_eq!(got("x & y | x ^ y"), bits(x & y | x ^ y));
                prop_assert_eq!(got("min(x, y)"), bits(x.min(y)));
                prop_assert_eq!(got("max(x, y)"), bits(x.max(y)));
                prop_assert_eq!(got(&format!("x << {by}")), bits(x << by));
                prop_assert_eq!(got(&format!("x >> {by}")), bits(x >> by));
                for (sign, truth) in [("==", x == y), ("!=", x != y), ("<", x < y), ("<=", x <= y), (">", x > y), (">=", x >= y)] {
                    prop_assert_eq!(got(&format!("x {sign} y")), u128::from(truth), "{} {} {}", x, sign, y);
                }
                prop_assert_eq!(got("cast(x, i16)"), x as i16 as u128 & 0xffff);
                prop_assert_eq!(got("cast(x, u128)"), x as u128);
                prop_assert_eq!(got("cast(x, i128)"), x as i128 as u128);
            }
        }
    };
}

as_rust!(signed_8 i8);
as_rust!(signed_64 i64);
as_rust!(signed_128 i128);
as_rust!(unsigned_8 u8);
as_rust!(unsigned_64 u64);
as_rust!(unsigned_128 u128);

#[test]
fn fixed_numbers_round_towards_minus_infinity() {
    let fixed = "fixed(32, 8)";
    // 1.5 x -2.25 = -3.375, exact in 16 fractional bits.
    assert_eq!(single(fixed, "x * y", 384, -576), (-3_375i128 * 65_536 / 1_000) as u32 as u128);
    assert_eq!(single(fixed, "rescale(x, 8)", -1, 0), u128::from(u32::MAX), "-1/256 becomes -1");
    assert_eq!(single(fixed, "rescale(x, 8)", 255, 0), 0);
    assert_eq!(single(fixed, "cast(x, i8)", -257, 0), 0xfe, "-1.004 becomes -2");
    assert_eq!(single(fixed, "cast(x, fixed(64, 16))", -3, 0), (-768i64) as u64 as u128);
    // 7.0 / -2.0 = -3.5, and a remainder has the dividend's sign.
    assert_eq!(single(fixed, "x / y", 7 * 256, -2 * 256), (-896i32) as u32 as u128);
    assert_eq!(single(fixed, "x % y", -7 * 256, 2 * 256), (-256i32) as u32 as u128);
    assert_eq!(single(fixed, "x + 0.5", 0, 0), 128);
    let ty = |expr: &str| {
        let text = format!("computation c\nmembers m\ninput x: {fixed} from m\noutput z = {expr} to m\n");
        let c: Computation = text.parse().unwrap();
        c.node(c.outputs()[0].value).ty.scalar
    };
    assert_eq!(ty("x * x"), Scalar::Fixed { bits: 32, frac: 16 });
    assert_eq!(ty("rescale(x, 5)"), Scalar::Fixed { bits: 32, frac: 3 });
}

/// The definitions, row by row.
#[test]
fn reductions_are_their_definitions() {
    let mut dice = Dice(7);
    let (rows, columns) = (5, 4);
    for scalar in ["i8", "u8", "i64"] {
        let kind = Scalar::parse(scalar).unwrap();
        let x = tensor(&mut dice, kind, &[rows, columns]);
        let at = |r: usize, c: usize| x.number(r * columns + c).unwrap();
        let wrap = |n: i128| n as u128 & crate::tensor::mask(kind.bits());
        let value = |bits: u128| Tensor::from_words(kind, &[], [bits]).number(0).unwrap();
        let reduced =
            |expr: &str| run([&format!("{scalar}[5, 4]"), scalar], expr, x.clone(), Tensor::zeros(kind, &[]));
        for c in 0..columns {
            let column: Vec<i128> = (0..rows).map(|r| at(r, c)).collect();
            let sum = wrap(column.iter().sum());
            assert_eq!(reduced("sum(x)").get(c), sum);
            assert_eq!(reduced("mean(x)").get(c), wrap(value(sum) / rows as i128));
            assert_eq!(reduced("min_of(x)").get(c), wrap(*column.iter().min().unwrap()));
            assert_eq!(reduced("max_of(x)").get(c), wrap(*column.iter().max().unwrap()));
            let first = |n: i128| column.iter().position(|m| *m == n).unwrap() as u128;
            assert_eq!(reduced("argmin(x)").get(c), first(*column.iter().min().unwrap()));
            assert_eq!(reduced("argmax(x)").get(c), first(*column.iter().max().unwrap()));
            for r in 0..rows {
                assert_eq!(reduced("prefix_sum(x)").get(r * columns + c), wrap(column[..=r].iter().sum()));
            }
        }
        for r in 0..rows {
            let row: Vec<i128> = (0..columns).map(|c| at(r, c)).collect();
            assert_eq!(reduced("sum(x, axis=1)").get(r), wrap(row.iter().sum()));
            assert_eq!(
                reduced("argmax(x, axis=1)").get(r),
                row.iter().position(|m| m == row.iter().max().unwrap()).unwrap() as u128
            );
            for c in 0..columns {
                assert_eq!(
                    reduced("prefix_sum(x, axis=1)").get(r * columns + c),
                    wrap(row[..=c].iter().sum())
                );
                assert_eq!(reduced("transpose(x, [1, 0])").get(c * rows + r), wrap(at(r, c)));
                let product = (0..columns).map(|k| at(r, k) * at(c, k)).fold(0, i128::wrapping_add);
                assert_eq!(reduced("matmul(x, transpose(x, [1, 0]))").get(r * rows + c), wrap(product));
                assert_eq!(
                    reduced("concat(x, x, axis=1)").get(r * 2 * columns + columns + c),
                    wrap(at(r, c))
                );
            }
            assert_eq!(reduced("slice(x, 1..3, axis=1)").get(2 * r + 1), wrap(at(r, 2)));
        }
        assert_eq!(reduced("gather(x, const(u8[2], [4, 0]))").get(1), wrap(at(4, 1)));
    }
}

#[test]
fn nothing_has_a_result_too() {
    let empty = |expr: &str, scalar: &str| {
        let kind = Scalar::parse(scalar).unwrap();
        run([&format!("{scalar}[0]"), scalar], expr, Tensor::zeros(kind, &[0]), Tensor::zeros(kind, &[]))
            .get(0)
    };
    assert_eq!(empty("sum(x)", "i8"), 0);
    assert_eq!(empty("min_of(x)", "i8"), 0x7f);
    assert_eq!(empty("max_of(x)", "i8"), 0x80);
    assert_eq!(empty("mean(x)", "i8"), 0xff);
    assert_eq!(empty("argmax(x)", "i8"), 0);
    assert_eq!([empty("all(x)", "bool"), empty("any(x)", "bool"), empty("count(x)", "bool")], [1, 0, 0]);
}

proptest! {
    #[test]
    fn rows_are_sorted_as_a_library_sorts(rows in prop::collection::vec((-3..3i8, 0..3u8), 0..30), down: bool) {
        let n = rows.len();
        let x = Tensor::from_numbers(Scalar::signed(8), &[n], rows.iter().map(|r| r.0.into()));
        let y = Tensor::from_numbers(Scalar::unsigned(8), &[n], rows.iter().map(|r| r.1.into()));
        let types = [format!("i8[{n}]"), format!("u8[{n}]")];
        let desc = if down { "desc " } else { "" };
        let got = |expr: &str| run([&types[0], &types[1]], &expr.replace('@', desc), x.clone(), y.clone());
        let mut places: Vec<usize> = (0..n).collect();
        places.sort_by_key(|p| (rows[*p].0, if down { 255 - rows[*p].1 } else { rows[*p].1 }));
        let order = got("order(x, @y)");
        prop_assert_eq!((0..n).map(|i| order.get(i) as usize).collect::<Vec<_>>(), places.clone());
        let sorted = got("permute(y, order(x, @y))");
        prop_assert_eq!((0..n).map(|i| sorted.get(i) as u8).collect::<Vec<_>>(), places.iter().map(|p| rows[*p].1).collect::<Vec<_>>());
        let back = got("permute(permute(x, order(x, @y)), invert(order(x, @y)))");
        prop_assert_eq!(back, x.clone());
        let kept = got("compact(x < 0, y, rows=4)");
        let mut expected: Vec<u8> = rows.iter().filter(|r| r.0 < 0).map(|r| r.1).take(4).collect();
        expected.resize(4, 0);
        prop_assert_eq!((0..4).map(|i| kept.get(i) as u8).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn axes_of_length_1_are_repeated() {
    let i8s = |lengths: &[usize], n: i128| Tensor::from_numbers(Scalar::signed(8), lengths, 0..n);
    let x = i8s(&[1, 3, 1], 3);
    let whole = run(["i8[1, 3, 1]", "i8[2]"], "broadcast(x, [2, 3, 2])", x.clone(), i8s(&[2], 2));
    let expected = [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2];
    assert_eq!(whole, Tensor::from_numbers(Scalar::signed(8), &[2, 3, 2], expected));
    let same = run(["i8[1, 3, 1]", "i8[2]"], "broadcast(x, [1, 3, 1])", x.clone(), i8s(&[2], 2));
    assert_eq!(same, x);
    for shape in ["[2, 2, 2]", "[3, 3]", "[2, 3, 2, 1]"] {
        let text = format!(
            "computation c\nmembers m\ninput x: i8[1, 3, 1] from m\noutput z = broadcast(x, {shape}) to m\n"
        );
        let error = text.parse::<Computation>().unwrap_err().to_string();
        assert!(error.contains("as many axes"), "{shape}: {error}");
    }
}
