//! Circuits, compared with the evaluator.

use crate::test_support::{computation, inputs};
use crate::{Computation, ComputeError, Op, Scalar, Tensor, circuits, evaluate};
use hushwire_circuit::eval;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bits(tensor: &Tensor) -> Vec<bool> {
    let width = tensor.scalar().bits();
    (0..tensor.len() * width)
        .map(|k| tensor.element(k / width)[k % width / 64] >> (k % width % 64) & 1 == 1)
        .collect()
}

/// Runs the circuit and compares all outputs; returns the number of ANDs.
pub(super) fn check(c: &Computation, given: &BTreeMap<String, Tensor>) -> Result<Option<u64>, TestCaseError> {
    let expected = match evaluate(c, given) {
        Ok(expected) => expected,
        // A slice of too few rows, or a place that does not exist.
        Err(ComputeError::Type { .. } | ComputeError::Input { .. }) => return Ok(None),
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    };
    let bound = c.bind(&c.symbols_of(given).unwrap()).unwrap();
    let program = match circuits::program(&bound) {
        Ok(program) => program,
        Err(e) if e.to_string().contains("the places of a `gather` are an input") => return Ok(None),
        Err(e) => return Err(TestCaseError::fail(e.to_string())),
    };
    let wires: Vec<Vec<bool>> = bound.inputs().map(|(name, _)| bits(&given[name])).collect();
    let made = eval::eval_bits(&program, &wires).unwrap();
    for (output, made) in bound.outputs().iter().zip(made) {
        prop_assert!(bits(&expected[&output.name]) == made, "{}\n{}", output.name, c);
    }
    Ok(Some(program.ands()))
}

#[test]
fn random_computations() {
    let (mut compared, mut ands) = (0, 0);
    for seed in 0..400 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, seed as usize % 6);
        let made = check(&c, &given).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        compared += u32::from(made.is_some());
        ands += u32::from(made.is_some_and(|ands| ands > 0));
    }
    assert!(compared > 200 && ands > 100, "{compared} compared, {ands} with ANDs");
}

/// `z = …` of inputs x and y of one type.
fn one(scalar: &str, shape: &str, expr: &str) -> Computation {
    let text = format!(
        "computation c\nmembers m\nsymbols n\ninput x: {scalar}{shape} from m\ninput y: {scalar}{shape} from m\noutput z = {expr} to m\n"
    );
    text.parse().unwrap_or_else(|e| panic!("{expr}: {e}"))
}

#[test]
fn each_operation_at_every_edge() {
    let exprs = [
        "x + y",
        "x - y",
        "x * y",
        "x / y",
        "x % y",
        "-x",
        "abs(x)",
        "min(x, y)",
        "max(x, y)",
        "x & y",
        "x | y",
        "x ^ y",
        "!x",
        "x == y",
        "x < y",
        "x >= y",
        "select(x < y, x, y)",
        "x << 2",
        "x >> 3",
        "cast(x, i128)",
        "cast(x, u3)",
        "cast(x, fixed(16, 5))",
        "x * 3",
        "x / 3",
        "3 / x",
    ];
    for scalar in ["u4", "i4", "fixed(8, 3)"] {
        let kind = Scalar::parse(scalar).unwrap();
        for expr in exprs {
            let c = one(scalar, "[n]", expr);
            let all = 1u128 << kind.bits().min(4);
            let spread = |k: u128| k << (kind.bits() - 4) | k >> 2;
            let column = |f: &dyn Fn(u128) -> u128| {
                Tensor::from_words(kind, &[(all * all) as usize], (0..all * all).map(f))
            };
            let given = BTreeMap::from([
                ("x".to_owned(), column(&|k| spread(k / all))),
                ("y".to_owned(), column(&|k| spread(k % all))),
            ]);
            check(&c, &given).unwrap_or_else(|e| panic!("{scalar} {expr}: {e}"));
        }
    }
}

#[test]
fn composed_permutations_are_undone_from_their_end() {
    let c = one("u4", "[n]", "permute(x, invert(permute(order(y), order(x))))");
    let column = |numbers: [i128; 7]| Tensor::from_numbers(Scalar::unsigned(4), &[7], numbers);
    let given = BTreeMap::from([
        ("x".to_owned(), column([3, 9, 1, 7, 7, 0, 4])),
        ("y".to_owned(), column([5, 2, 8, 2, 0, 6, 1])),
    ]);
    assert!(check(&c, &given).unwrap().is_some());
}

#[test]
fn what_is_moved_costs_nothing() {
    for expr in [
        "x << 2",
        "cast(x, u8)",
        "transpose(reshape(x, [2, 3]), [1, 0])",
        "slice(x, 1..3)",
        "concat(x, y)",
        "x ^ y",
    ] {
        let c = one("i64", "[6]", expr);
        assert_eq!(circuits::program(&c).unwrap().ands(), 0, "{expr}");
    }
    let product = |expr: &str| circuits::program(&one("u64", "", expr)).unwrap().ands();
    assert!(product("x * 5") * 20 < product("x * y"), "a known factor is part of the block");
}

/// A comparison with 0 is only the sign, on whichever side the 0 is. A comparison with another
/// known number begins at the first bit that borrows.
#[test]
fn extremes_with_a_known_number_compare_no_more_than_they_must() {
    let i32 = Scalar::signed(32);
    let cost = |op: &Op, known: [Option<u128>; 2]| {
        let program = circuits::element(op, &[i32; 2], &known, i32);
        (program.ands(), program.depth())
    };
    for op in [Op::Max, Op::Min] {
        for known in [[None, Some(0)], [Some(0), None]] {
            let (ands, depth) = cost(&op, known);
            assert!(ands <= 32 && depth == 1, "{op:?} {known:?}: {ands} ANDs, depth {depth}");
        }
        for number in [1 << 16, (1 << 16) - 1, (1 << 32) - (1 << 16)] {
            let (ands, _) = cost(&op, [None, Some(number)]);
            assert!(ands <= 48, "{op:?} {number}: {ands} ANDs");
        }
        assert!(cost(&op, [None, None]).0 == 64);
    }
    for expr in ["max(x, 0)", "min(0, x)", "min(x, 4)", "max(x, 3)", "max(-8, x)", "min(x, -1)", "max(7, y)"]
    {
        for bits in [5, 8] {
            let (scalar, all) = (Scalar::signed(bits), 0..1u128 << bits);
            let column = Tensor::from_words(scalar, &[1 << bits], all);
            let given = BTreeMap::from([("x".to_owned(), column.clone()), ("y".to_owned(), column)]);
            assert!(check(&one(&format!("i{bits}"), "[n]", expr), &given).unwrap().is_some());
        }
    }
}

/// Numbers that all members know take bits as well if they are moved together with secret ones.
#[test]
fn circuits_keep_to_a_number_of_bits() {
    for (expr, bits) in [("x + y", 3 * 64 * 100), ("permute(x, order(y))", 1 << 20)] {
        let c = one("u64", "[100]", expr);
        assert!(circuits::program_within(&c, bits).is_ok(), "{expr}");
        let error = circuits::program_within(&c, 3 * 64 * 100 - 1).err().expect("too many").to_string();
        assert!(
            error.contains("as a circuit the computation has more than 19199 bits; bring fewer rows"),
            "{error}"
        );
    }
}

#[test]
fn a_permutation_runs_again_without_comparing() {
    let rows = |expr: &str| circuits::program(&one("u64", "[64]", expr)).unwrap().ands();
    let sorted = rows("permute(x, order(x))");
    let back = rows("permute(permute(x, order(x)), invert(order(x)))");
    assert!(back > sorted);
    let shared = |more: &str| {
        let text = format!(
            "computation c\nmembers m\ninput x: u64[64] from m\np = order(x)\noutput z = permute(x, p){more} to m\n"
        );
        circuits::program(&text.parse().unwrap()).unwrap().ands()
    };
    assert!(shared(" + permute(x + 1, p)") < 2 * shared(""));
}
