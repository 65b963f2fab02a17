//! Derived forms against their definitions, in the clear and as circuits.

use super::circuits::check;
use crate::{Builder, Computation, ComputeError, Scalar, Shape, Tensor, evaluate};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Evaluates `z = …` of x and y with one row a pair; the circuit gives the same.
fn both(types: [&str; 2], expr: &str, rows: &[(i128, i128)]) -> Result<Tensor, TestCaseError> {
    let text = format!(
        "computation c\nmembers m\nsymbols n\ninput x: {}[n] from m\ninput y: {}[n] from m\noutput z = {expr} to m\n",
        types[0], types[1]
    );
    let c: Computation = text.parse().unwrap_or_else(|e| panic!("{expr}: {e}"));
    let [x, y] = types.map(|t| Scalar::parse(t).unwrap());
    let given = BTreeMap::from([
        ("x".to_owned(), Tensor::from_numbers(x, &[rows.len()], rows.iter().map(|r| r.0))),
        ("y".to_owned(), Tensor::from_numbers(y, &[rows.len()], rows.iter().map(|r| r.1))),
    ]);
    prop_assert!(check(&c, &given)?.is_some(), "{} has no circuit", expr);
    Ok(evaluate(&c, &given).unwrap().remove("z").unwrap())
}

fn numbers(t: &Tensor) -> Vec<i128> {
    (0..t.len()).map(|i| t.number(i).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn figures_of_columns(x in prop::collection::vec(any::<i8>(), 1..20)) {
        let rows: Vec<(i128, i128)> = x.iter().map(|x| (i128::from(*x), 0)).collect();
        let got = |expr: &str| both(["i8", "i8"], expr, &rows).map(|t| numbers(&t));
        let mut sorted: Vec<i128> = rows.iter().map(|r| r.0).collect();
        sorted.sort_unstable();
        let n = sorted.len();
        prop_assert_eq!(got("median(x)")?, vec![sorted[(n - 1) / 2]]);
        prop_assert_eq!(got("clamp(x, -20, 30)")?, rows.iter().map(|r| r.0.clamp(-20, 30)).collect::<Vec<_>>());
        prop_assert_eq!(got("top_k(x, rows=1)")?, vec![sorted[n - 1]]);
        let edges = [-100, 0, 5, 120];
        let bins: Vec<i128> =
            edges.windows(2).map(|e| sorted.iter().filter(|x| (e[0]..e[1]).contains(*x)).count() as i128).collect();
        prop_assert_eq!(got("histogram(x, const(i8[4], [-100, 0, 5, 120]))")?, bins);
        let total: i128 = sorted.iter().sum();
        let mean = total / n as i128;
        let variance = sorted.iter().map(|x| (x - mean).pow(2)).sum::<i128>() / n as i128;
        prop_assert_eq!(got("variance(cast(x, i32))")?, vec![variance]);
        prop_assert_eq!(got("variance(cast(x, u32) + 128)")?, vec![{
            let mean = (total + 128 * n as i128) / n as i128;
            sorted.iter().map(|x| (x + 128 - mean).pow(2)).sum::<i128>() / n as i128
        }]);
        // In steps of 1/16: the mean is rounded towards 0, the result towards −∞.
        prop_assert_eq!(got("variance(cast(x, fixed(48, 4)))")?, vec![{
            let mean = 16 * total / n as i128;
            (sorted.iter().map(|x| (16 * x - mean).pow(2)).sum::<i128>() / n as i128) >> 4
        }]);
    }

    #[test]
    fn shifts_by_what_is_not_known(rows in prop::collection::vec((any::<i16>(), any::<u8>(), 0..20u8), 1..10), near: bool) {
        let rows: Vec<(i128, i128)> =
            rows.iter().map(|(x, far, by)| (i128::from(*x), i128::from(if near { *by } else { *far }))).collect();
        let left = both(["i16", "u8"], "shift_left(x, y)", &rows)?;
        let right = both(["i16", "u8"], "shift_right(x, y)", &rows)?;
        let logical = both(["u16", "u8"], "shift_right(x, y)", &rows)?;
        for (i, (x, by)) in rows.iter().enumerate() {
            let shifted = if *by < 16 { x << by } else { 0 };
            prop_assert_eq!(left.get(i), shifted as u128 & 0xffff);
            prop_assert_eq!(right.number(i).unwrap(), x >> by.min(&100));
            prop_assert_eq!(logical.number(i).unwrap(), (x & 0xffff) >> by.min(&100));
        }
    }

    #[test]
    fn groups_are_those_of_a_map(rows in prop::collection::vec((any::<i8>(), -2..3i8), 0..14)) {
        let rows: Vec<(i128, i128)> = rows.iter().map(|(x, y)| (i128::from(*x), i128::from(*y))).collect();
        let mut groups: BTreeMap<i128, Vec<i128>> = BTreeMap::new();
        rows.iter().for_each(|(x, y)| groups.entry(*y).or_default().push(*x));
        let wrapped = |x: i128| i128::from(x as i8);
        type Figure = fn(&[i128]) -> i128;
        let figures: [(&str, Figure); 6] = [
            ("group_sum(x, y)", |g| g.iter().sum()),
            ("group_min(x, y)", |g| *g.iter().min().unwrap()),
            ("group_max(x, y)", |g| *g.iter().max().unwrap()),
            ("group_last(x, y)", |g| g[g.len() - 1]),
            ("group_count(y)", |g| g.len() as i128),
            ("group_mean(x, y)", |g| i128::from(g.iter().sum::<i128>() as i8) / g.len() as i128),
        ];
        for (expr, figure) in figures {
            let got = numbers(&both(["i8", "i8"], expr, &rows)?);
            let mut expected = vec![];
            for group in groups.values() {
                expected.extend(vec![0; group.len() - 1]);
                expected.push(wrapped(figure(group)));
            }
            prop_assert_eq!(got, expected, "{}", expr);
        }
        let ends = both(["i8", "i8"], "group_end(y)", &rows)?;
        prop_assert_eq!((0..ends.len()).filter(|i| ends.truth(*i)).count(), groups.len());
        // Two keys: every pair is its own group.
        let pairs: BTreeSet<_> = rows.iter().collect();
        let ends = both(["i8", "i8"], "group_end(y, x)", &rows)?;
        prop_assert_eq!((0..ends.len()).filter(|i| ends.truth(*i)).count(), pairs.len());
    }
}

#[test]
fn group_figures_share_a_sort() {
    let text = "computation c\nmembers m\nsymbols n\ninput x: i64[n] from m\ninput k: u32[n] from m\n\
                output sums = compact(group_end(k), group_sum(x, k), rows=5) to m\noutput means = group_mean(x, k) to m\n";
    let c: Computation = text.parse().unwrap();
    assert_eq!(c.nodes().iter().filter(|n| matches!(n.op, crate::Op::Order { .. })).count(), 1);
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
}

#[test]
fn builder_and_text_derive_the_same() {
    let b = Builder::new("c");
    let m = b.member("m");
    let n = b.symbol("n");
    let x = b.input("x", Scalar::signed(32), Shape::vector(n.clone()), m);
    let k = b.input("k", Scalar::unsigned(8), Shape::vector(n), m);
    b.output(
        "z",
        b.groups(&[k]).max(x.clamp(b.number(Scalar::signed(32), 0), b.number(Scalar::signed(32), 9))),
        &[m],
    );
    let text = "computation c\nmembers m\nsymbols n\ninput x: i32[n] from m\ninput k: u8[n] from m\noutput z = group_max(clamp(x, 0, 9), k) to m\n";
    assert_eq!(b.finish().unwrap(), text.parse().unwrap());
}

#[test]
fn operands_that_forms_do_not_take_are_named() {
    let refused = |expr: &str| {
        let text = format!(
            "computation c\nmembers m\nsymbols n\ninput x: i8[n] from m\ninput f: bool[n] from m\ninput e: i8[3] from m\noutput z = {expr} to m\n"
        );
        text.parse::<Computation>().unwrap_err().to_string()
    };
    for (expr, message) in [
        ("median(f)", "line 7, column 12: `median` of f: bool[n]; it takes a column of numbers"),
        (
            "histogram(x, e)",
            "`histogram` of x: i8[n] and e: i8[3]; edges are a public column of the same type, of known length, two at least",
        ),
        (
            "shift_left(x, x)",
            "`shift_left` of x: i8[n] and x: i8[n]; it takes numbers, and an unsigned number of bits",
        ),
        ("clamp(x, 0)", "`clamp` has other arguments than it takes; it takes 3"),
        ("top_k(x)", "say how many rows: rows=10"),
        (
            "histogram(x, const(i8[3], [10, 0, 10]))",
            "its edges fall from 10 to 0: write them in ascending order",
        ),
        ("median(slice(e, 0..0))", "a column of no rows has no median: bring a row at least"),
        (
            "top_k(e, rows=4)",
            "`top_k` of e: i8[3]; `top_k` takes 4 rows of a column of 3: bring as many at least, or take fewer",
        ),
        ("group_sum(x)", "it takes at least 2"),
        ("group_sum(f, x)", "`scan_sum` of f: bool[n]; it takes a column of numbers"),
    ] {
        assert!(refused(expr).contains(message), "{}", refused(expr));
    }
}

#[test]
fn what_has_no_value_is_refused_once_lengths_and_public_values_are_known() {
    let c = |inputs: &str, expr: &str| {
        let text = format!(
            "computation c\nmembers m\nsymbols n\ninput x: i8[n] from m\n{inputs}output z = {expr} to m\n"
        );
        text.parse::<Computation>().unwrap()
    };
    let run = |c: &Computation, x: &[i128], edges: &[i128]| {
        let of = |x: &[i128]| Tensor::from_numbers(Scalar::signed(8), &[x.len()], x.iter().copied());
        let given = [("x", x), ("e", edges)].map(|(name, x)| (name.to_owned(), of(x)));
        evaluate(c, &BTreeMap::from(given))
    };
    let message = |c: &Computation, x: &[i128], edges: &[i128]| run(c, x, edges).unwrap_err().to_string();
    let no_median = "input \"x\": a column of no rows has no median; bring a row at least";
    assert_eq!(message(&c("", "median(x)"), &[], &[]), no_median);
    // The same holds for a computation that the builder made, and for one that has lost its
    // symbols.
    let b = Builder::new("c");
    let m = b.member("m");
    let n = b.symbol("n");
    b.output("z", b.input("x", Scalar::signed(8), Shape::vector(n), m).median(), &[m]);
    assert_eq!(message(&b.finish().unwrap(), &[], &[]), no_median);
    let none = c("", "median(x)").bind(&BTreeMap::from([("n".to_owned(), 0)]));
    assert!(matches!(none, Err(ComputeError::Input { .. })), "the values' fault");
    assert_eq!(
        message(&c("", "top_k(x, rows=3)"), &[1], &[]),
        "input \"x\": `top_k` takes 3 rows of a column of 1; bring as many at least, or take fewer"
    );
    let edged = c("input e: i8[3] public\n", "histogram(x, e)");
    let fall =
        "input \"e\": as the edges of a histogram they fall from 10 to 0; bring them in ascending order";
    assert_eq!(message(&edged, &[-10, -11, 0], &[10, 0, 10]), fall);
    let bound = edged.bind(&BTreeMap::from([("n".to_owned(), 3)])).unwrap();
    assert_eq!(message(&bound, &[-10, -11, 0], &[10, 0, 10]), fall);
    let found = run(&edged, &[-10, -11, 0], &[-11, -11, 10]).unwrap();
    assert_eq!(
        [0, 1].map(|i| found["z"].number(i)),
        [Some(0), Some(3)],
        "equal edges have nothing between them"
    );
    // Edges that follow from public values are checked; edges that are opened on the way are not.
    let doubled = c("input e: i8[3] public\n", "histogram(x, -e)");
    assert!(
        message(&doubled, &[0], &[1, 2, 3])
            .contains("(-)\": as the edges of a histogram they fall from -1 to -2")
    );
    let public = |e: &[i128]| {
        BTreeMap::from([("e".to_owned(), Tensor::from_numbers(Scalar::signed(8), &[3], e.iter().copied()))])
    };
    assert!(
        edged.check_promises(&public(&[3, 2, 1])).is_err()
            && edged.check_promises(&public(&[1, 2, 3])).is_ok()
    );
    assert!(edged.has_promise("e") && !c("", "x + x").has_promise("x"));
    let opened = c("input e: i8[3] from m\n", "histogram(x, reveal(e))");
    assert!(opened.check_promises(&BTreeMap::new()).is_ok());
}

/// Checks that the formatter writes these lines back unchanged.
fn kept(lines: &str) {
    let text = format!(
        "computation c\nmembers m\nsymbols n\n\ninput x: i32[n] from m\ninput r: fixed(32, 16)[n] from m\n\n{lines}"
    );
    let c: Computation = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(c.to_string(), text);
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
}

#[test]
fn what_text_calls_by_name_is_shown_by_it() {
    kept("output y = clamp(x, -9, 9) to m\n");
    kept("output y = variance(x) + median(x * 3) to m\n");
    kept("output y = top_k(x, rows=3) to m\n");
    kept("output y = histogram(x, const(i32[3], [0, 5, 9])) to m\n");
    kept("output y = softmax(r) + tanh(r) * const(fixed(32, 0), 2) - sigmoid(-r) to m\n");
    kept("output y = round(divide(r, 2.5)) to m\n");
    kept("t1 = x / 10\ntotal = group_sum(x, t1)\noutput y = total to m\noutput last = group_end(t1) to m\n");
    kept("output y = clamp(clamp(x, 0, 7), 2, 3) to m\n");
    // If a value can be written in two ways, the first is shown. A part of a form that is used
    // elsewhere keeps its place.
    let text = "computation c\nmembers m\nsymbols n\n\ninput x: i32[n] from m\n\noutput y = min(max(x, 0), 9) to m\n\
                output w = clamp(x, 0, 9) to m\noutput z = max(x, 0) to m\n";
    let c: Computation = text.parse().unwrap();
    let again: Computation = c.to_string().parse().unwrap();
    assert_eq!((again == c, again.to_string()), (true, c.to_string()));
    assert!(
        c.to_string().contains("= clamp(x, t1, 9)") && c.to_string().contains("output z = max(x, t1) to m"),
        "{c}"
    );
    // A name that only a form's parts had is free again.
    let text = "computation c\nmembers m\nsymbols n\ninput x: i32[n] from m\nt1 = max(x, 0)\nk = clamp(x, 0, 9)\n\
                output y = k + 1 to m\noutput z = k * (x / 7) + x / 7 to m\n";
    let hidden: Computation = text.parse().unwrap();
    let again: Computation = hidden.to_string().parse().unwrap();
    assert_eq!((again == hidden, again.to_string()), (true, hidden.to_string()));
    // The graph itself has the expansions, and so has its binary form.
    let read = Computation::from_bytes(&c.to_bytes()).unwrap();
    assert!(read == c && read.to_string().contains("min(") && !read.to_string().contains("clamp"), "{read}");
}

#[test]
fn a_variance_that_fits_its_type_is_right() {
    let of = |ty: &str, rows: &[i128]| {
        let text = format!(
            "computation c\nmembers m\nsymbols n\ninput x: {ty}[n] from m\noutput y = variance(x) to m\n"
        );
        let c: Computation = text.parse().unwrap();
        let x = Tensor::from_numbers(c.nodes()[0].ty.scalar, &[rows.len()], rows.iter().copied());
        evaluate(&c, &[("x".to_owned(), x)].into()).unwrap().remove("y").unwrap().number(0).unwrap()
    };
    // The squares and sums of these have more bits than their types.
    assert_eq!(of("fixed(32, 16)", &[4, -1, 1, 3].map(|x| x << 16)), 241_664, "of 3.6875");
    assert_eq!(of("fixed(64, 32)", &[30_000, 30_000, -30_000].map(|x| x << 32)), 800_000_000 << 32);
    assert_eq!(of("u8", &[250, 250, 240, 240]), 25);
    assert_eq!(of("i32", &[2_000_000_000, 2_000_040_000]), 400_000_000);
    assert_eq!(of("i128", &[-3, 3]), 9);
    assert_eq!(of("u128", &[3, 3]), 0);
}
