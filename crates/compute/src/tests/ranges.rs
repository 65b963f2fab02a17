//! Ranges hold, and promises are kept.

use crate::test_support::{computation, inputs};
use crate::{Computation, ComputeError, Op, Range, Scalar, Tensor, Value, eval::values, evaluate};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn every_element_lies_in_its_range(seed: u64, n in 0..5usize) {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, n);
        c.check_promises(&given).unwrap();
        let Ok(bound) = c.symbols_of(&given).and_then(|symbols| c.bind(&symbols)) else { return Ok(()) };
        let Ok(all) = values(&bound, &given) else { return Ok(()) };
        for (at, value) in all.iter().enumerate() {
            let Some(range) = bound.range(Value(at as u32)) else { continue };
            for i in 0..value.len() {
                let number = value.number(i).expect("a range is of numbers that fit it");
                prop_assert!(
                    range.holds(Range { low: number, high: number }),
                    "{number} is not in {range:?}, value {at}: {:?}\n{bound}", bound.nodes()[at]
                );
            }
        }
    }
}

fn of(head: &str, lines: &str) -> Result<Computation, ComputeError> {
    format!("computation c\nmembers m\nsymbols n\n{head}\n{lines}\n").parse()
}

fn range(head: &str, expr: &str) -> Option<(i128, i128)> {
    let c = of(head, &format!("output z = {expr} to m")).unwrap_or_else(|e| panic!("{expr}: {e}"));
    c.range(c.outputs()[0].value).map(|r| (r.low, r.high))
}

#[test]
fn ranges_follow_from_promises() {
    let head = "input x: i16[4] in -3..6 from m\ninput y: i16[4] in 2..11 from m\ninput f: i16[4] from m\ninput c: bool[4] from m";
    for (expr, expected) in [
        ("x", (-3, 5)),
        ("x + y", (-1, 15)),
        ("x - y", (-13, 3)),
        ("x * y", (-30, 50)),
        ("-x", (-5, 3)),
        ("abs(x)", (0, 5)),
        ("x / y", (-1, 2)),
        ("x % y", (-3, 5)),
        ("y % 4", (0, 3)),
        ("y & 6", (0, 6)),
        ("y ^ 16", (0, 31)),
        ("!x", (-6, 2)),
        ("min(x, 2)", (-3, 2)),
        ("max(x, 2)", (2, 5)),
        ("select(c, x, y)", (-3, 10)),
        ("x << 3", (-24, 40)),
        ("x >> 1", (-2, 2)),
        ("cast(x, fixed(16, 4))", (-48, 80)),
        ("sum(x)", (-12, 20)),
        ("prefix_sum(y)", (2, 40)),
        ("scan_sum(c, x)", (-12, 20)),
        ("copy_down(c, x)", (-3, 5)),
        ("mean(y)", (2, 10)),
        ("min_of(x)", (-3, 5)),
        ("matmul(x, y)", (-120, 200)),
        ("count(c)", (0, 4)),
        ("argmax(x)", (0, 3)),
        ("cast(c, u8)", (0, 1)),
        ("concat(x, y)", (-3, 10)),
        ("f", (-32768, 32767)),
        ("f + x", (-32768, 32767)),
        ("f >> 8", (-128, 127)),
        ("wrapping(x)", (-32768, 32767)),
        ("wrapping(x) * 20000", (-32768, 32767)),
        ("const(i16[2], [4, -7])", (-7, 4)),
    ] {
        assert_eq!(range(head, expr), Some(expected), "{expr}");
    }
    assert_eq!(range("input x: u128 from m", "x"), None, "it has no sign to spare");
    assert_eq!(range("input x: u128 in 0..9 from m", "x * x"), Some((0, 64)));
    assert_eq!(range(head, "x < y"), None);
}

#[test]
fn what_may_wrap_is_refused_where_promises_say_so() {
    let head = "input x: u8[n] in 0..100 from m\ninput y: u8 from m\ninput z: i8 in -128..0 from m\n\
                input f: fixed(16, 8) in -2.5..2.5 from m\ninput m4: u8[4] in 0..65 from m";
    for (expr, message) in [
        (
            "x * x",
            "line 9, column 16: `*` of x: u8[n] and x: u8[n] may reach 0 to 9801; u8 holds 0 to 255: cast to a wider type before, \
             promise less, or write wrapping(…) around an operand",
        ),
        ("x - 1", "`-` of x: u8[n] and (constant): u8 may reach -1 to 98"),
        ("-z", "`-` of z: i8 may reach 1 to 128; i8 holds -128 to 127"),
        ("abs(z)", "may reach 1 to 128"),
        ("sum(m4)", "`sum` of m4: u8[4] may reach 0 to 256"),
        ("cast(x, u6)", "`cast` of x: u8[n] may reach 0 to 99; u6 holds 0 to 63"),
        ("f * f", "may reach -6.240234375 to 6.25; fixed(16, 16) holds -0.5 to 0.4999847412109375"),
        ("f / 0.015625", "may reach -160.0 to 159.75"),
    ] {
        let told = of(head, &format!("output out = {expr} to m")).unwrap_err().to_string();
        assert!(told.contains(message), "{told}");
    }
    // y promises nothing, and `wrapping` allows a result to wrap.
    for expr in ["x * y", "wrapping(x) * x", "x + 156", "f * 0.125", "sum(x)"] {
        of(head, &format!("output out = {expr} to m")).unwrap_or_else(|e| panic!("{expr}: {e}"));
    }
}

#[test]
fn sums_are_looked_at_again_when_lengths_are_known() {
    let c = of("input x: u8[n] in 0..100 from m", "output z = sum(x) to m").unwrap();
    let bound = |n: u64| c.bind(&BTreeMap::from([("n".to_owned(), n)]));
    assert_eq!(c.range(c.outputs()[0].value), Some(Range { low: 0, high: 255 }));
    let two = bound(2).unwrap();
    assert_eq!(two.range(two.outputs()[0].value), Some(Range { low: 0, high: 198 }));
    assert!(bound(3).unwrap_err().to_string().contains("may reach 0 to 297"));
}

#[test]
fn a_broken_promise_is_told_without_its_value() {
    let c = of("input x: fixed(16, 8)[2] in -1..1.5 from m", "output x to m").unwrap();
    let given = |steps: i128| {
        let tensor = Tensor::from_numbers(Scalar::Fixed { bits: 16, frac: 8 }, &[2], [0, steps]);
        evaluate(&c, &BTreeMap::from([("x".to_owned(), tensor)])).map_err(|e| e.to_string())
    };
    assert!(given(383).is_ok() && given(-256).is_ok());
    let told = "input \"x\": element 1 is not within -1.0 to 1.49609375, which it promises; bring what is within, or agree on a wider range";
    assert_eq!(given(384).unwrap_err(), told);
    assert_eq!(given(-257).unwrap_err(), told);
}

#[test]
fn promises_are_part_of_the_identity_and_fit_their_type() {
    let c = |within: &str| of(&format!("input x: i64 {within}from m"), "output x to m");
    let [free, some, more] = ["", "in 0..10 ", "in 0..11 "].map(|within| c(within).unwrap());
    assert_ne!(free, some);
    assert_ne!(some.digest(), more.digest());
    assert_eq!(Computation::from_bytes(&some.to_bytes()).unwrap(), some);
    for whole in ["i8 in -128..128", "u8 in 0..256", "i127 in 0..5", "u1 in 0..2", "fixed(8, 8) in -0.5..0.5"]
    {
        let c = of(&format!("input x: {whole} from m"), "output x to m").unwrap();
        assert_eq!(c.to_string().parse::<Computation>().unwrap(), c, "{whole}");
    }
    for wrong in [
        "i8 in -129..0",
        "u8 in 0..257",
        "u8 in 5..5",
        "u8 in 7..5",
        "bool in 0..1",
        "u8 in -1..2",
        "i8 in 0..0.5",
    ] {
        assert!(of(&format!("input x: {wrong} from m"), "output x to m").is_err(), "{wrong}");
    }
}

#[test]
fn an_operation_twice_is_one_node() {
    let c = of(
        "input x: u8[n] from m",
        "a = order(x)\nb = order(x)\noutput z = permute(x, a) + permute(x, b) to m",
    )
    .unwrap();
    assert_eq!(c.nodes().iter().filter(|n| matches!(n.op, Op::Order { .. })).count(), 1);
    assert_eq!(c.nodes().len(), 4);
    // Two lengths that become equal make one node of two.
    let c = of(
        "symbols k\ninput x: u8 from m",
        "output z = sum(broadcast(x, [n])) + sum(broadcast(x, [k])) to m",
    )
    .unwrap();
    let bound = c.bind(&["n", "k"].map(|s| (s.to_owned(), 3)).into()).unwrap();
    assert_eq!((c.nodes().len(), bound.nodes().len()), (6, 4));
}
