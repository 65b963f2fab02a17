//! Fixed-point functions against f64, within their documented errors, and as circuits.

use super::circuits::check;
use crate::test_support::Dice;
use crate::{Computation, Scalar, Tensor, cost, evaluate};
use std::collections::BTreeMap;

const TYPES: [[u8; 2]; 7] = [[32, 16], [40, 20], [48, 24], [64, 32], [64, 16], [16, 8], [33, 13]];

fn of([bits, frac]: [u8; 2], expr: &str) -> Computation {
    let text = format!(
        "computation c\nmembers m\nsymbols n\ninput x: fixed({bits}, {frac})[n] from m\ninput y: fixed({bits}, {frac})[n] from m\n\
         output z = {expr} to m\n"
    );
    text.parse().unwrap_or_else(|e| panic!("{expr}: {e}"))
}

fn given([bits, frac]: [u8; 2], rows: &[[i128; 2]]) -> BTreeMap<String, Tensor> {
    let scalar = Scalar::Fixed { bits, frac };
    let column = |k: usize| Tensor::from_numbers(scalar, &[rows.len()], rows.iter().map(|r| r[k]));
    BTreeMap::from([("x".to_owned(), column(0)), ("y".to_owned(), column(1))])
}

/// Numbers of every size, and all edge cases.
fn rows([bits, _]: [u8; 2]) -> Vec<[i128; 2]> {
    let mut dice = Dice(u64::from(bits));
    let mut one = || {
        let n = dice.bits().cast_signed() >> (128 - bits);
        n >> dice.below(bits.into())
    };
    let mut rows: Vec<[i128; 2]> = (0..1500).map(|_| [one(), one()]).collect();
    let (least, greatest) = (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits));
    let edges = [0, 1, -1, least, greatest, least + 1, 1 << (bits - 2)];
    rows.extend(edges.iter().flat_map(|x| edges.map(|y| [*x, y])));
    rows.extend((0..bits - 1).flat_map(|k| [[1 << k, (1 << k) - 1], [(1 << k) - 1, -(1 << k)]]));
    rows
}

/// The greatest error beyond the documented share of the result, in steps, over all rows for which
/// `exact` has a value that fits.
fn worst(ty: [u8; 2], expr: &str, share: bool, exact: fn(f64, f64) -> Option<f64>) -> f64 {
    let rows = rows(ty);
    let made = evaluate(&of(ty, expr), &given(ty, &rows)).unwrap().remove("z").unwrap();
    let step = (-f64::from(ty[1])).exp2();
    let most = f64::from(ty[0] - 1 - ty[1]).exp2();
    let (mut worst, mut seen) = (0.0f64, 0);
    for (i, [x, y]) in rows.iter().enumerate() {
        let Some(exact) = exact(*x as f64 * step, *y as f64 * step).filter(|e| e.abs() < most * 0.999) else {
            continue;
        };
        seen += 1;
        let got = made.number(i).unwrap() as f64 * step;
        let allowed = if share { exact.abs() } else { 1.0 } * step / 32.0;
        let error = ((got - exact).abs() - allowed) / step;
        assert!(error <= 1.0, "{expr} of {x} and {y} in {ty:?}: {got}, not {exact}: {error} steps");
        worst = worst.max((got - exact).abs() / step - if share { allowed / step } else { 0.0 });
    }
    assert!(seen > 200, "{seen} of {expr} fit {ty:?}");
    worst
}

#[test]
fn errors_are_as_stated() {
    for ty in TYPES {
        worst(ty, "divide(x, y)", true, |x, y| (y != 0.0).then(|| x / y));
        worst(ty, "reciprocal(x)", true, |x, _| (x != 0.0).then(|| 1.0 / x));
        worst(ty, "sqrt(x)", true, |x, _| (x >= 0.0).then(|| x.sqrt()));
        worst(ty, "exp(x)", true, |x, _| Some(x.exp()));
        worst(ty, "log(x)", false, |x, _| (x > 0.0).then(|| x.ln()));
        worst(ty, "sigmoid(x)", false, |x, _| Some(1.0 / (1.0 + (-x).exp())));
        worst(ty, "tanh(x)", false, |x, _| Some(x.tanh()));
        worst(ty, "erf(x)", false, |x, _| Some(error_function(x)));
        worst(ty, "gelu(x)", false, |x, _| Some(x * (1.0 + error_function(x / 2f64.sqrt())) / 2.0));
        worst(ty, "softplus(x)", false, |x, _| Some(x.max(0.0) + (-x.abs()).exp().ln_1p()));
        // Greater angles are not exact in f64.
        worst(ty, "sin(x)", false, |x, _| (x.abs() < 20f64.exp2()).then(|| x.sin()));
        worst(ty, "cos(x)", false, |x, _| (x.abs() < 20f64.exp2()).then(|| x.cos()));
    }
}

/// The error function, by its series with positive terms alone.
fn error_function(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() {
        term *= 2.0 * x * x / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

#[test]
fn whole_numbers_and_signs_are_exact() {
    let half_even = |x: i128, frac: u8| {
        let (whole, part, half) = (x >> frac, x & ((1 << frac) - 1), (1i128 << frac) >> 1);
        whole + i128::from(part > half || (part == half && frac > 0 && whole & 1 == 1))
    };
    for ty in TYPES.into_iter().chain([[8, 1], [9, 0], [100, 40], [8, 6]]) {
        let rows = rows(ty);
        let wrapped = |whole: i128| (whole << ty[1]) << (128 - ty[0]) >> (128 - ty[0]);
        let exact: [(&str, &dyn Fn(i128) -> i128); 5] = [
            ("floor(x)", &|x| x >> ty[1]),
            ("ceil(x)", &|x| -(-x >> ty[1])),
            ("truncate(x)", &|x| x / (1 << ty[1])),
            ("round_even(x)", &|x| half_even(x, ty[1])),
            ("sign(x)", &i128::signum),
        ];
        for (expr, exact) in exact {
            let made = evaluate(&of(ty, expr), &given(ty, &rows)).unwrap().remove("z").unwrap();
            for (i, [x, _]) in rows.iter().enumerate() {
                assert_eq!(made.number(i).unwrap(), wrapped(exact(*x)), "{expr} of {x} of {ty:?}");
            }
        }
    }
    let refused = "computation c\nmembers m\ninput x: fixed(8, 7) from m\noutput z = sign(x) to m\n";
    let told = refused.parse::<Computation>().unwrap_err().to_string();
    assert!(told.contains("with 2 bits or more before the point"), "{told}");
}

/// Three rows of five elements, as a matrix and one by one.
#[test]
fn rows_of_a_matrix_are_columns() {
    for form in ["softmax", "log_softmax", "log_sum_exp"] {
        let text = |x: &str, y: &str| {
            let shape = if form == "log_sum_exp" { "[3]" } else { "[15]" };
            format!(
                "computation c\nmembers m\ninput x: fixed(32, 12)[15] from m\noutput y = reshape({x}, {shape}) to m\n\
                 output z = {y} to m\n"
            )
        };
        let row = |k: usize| format!("{form}(slice(x, {}..{}))", 5 * k, 5 * k + 5);
        let one = |k: usize| if form == "log_sum_exp" { format!("reshape({}, [1])", row(k)) } else { row(k) };
        let rows = format!("concat({}, {}, {})", one(0), one(1), one(2));
        let c: Computation = text(&format!("{form}(reshape(x, [3, 5]))"), &rows).parse().unwrap();
        let mut dice = Dice(5);
        let x = (0..15).map(|_| dice.below(1 << 15) as i128 - (1 << 14));
        let x = Tensor::from_numbers(Scalar::Fixed { bits: 32, frac: 12 }, &[15], x);
        let given = BTreeMap::from([("x".to_owned(), x)]);
        let made = evaluate(&c, &given).unwrap();
        assert_eq!(made["y"], made["z"], "{form}");
        assert!(check(&c, &given).unwrap().is_some(), "{form}");
    }
}

#[test]
fn softmax_errs_as_stated() {
    for ty in TYPES {
        let step = (-f64::from(ty[1])).exp2();
        let (least, greatest) = (i128::MIN >> (128 - ty[0]), i128::MAX >> (128 - ty[0]));
        let one = 1 << ty[1];
        let mut dice = Dice(7);
        let near = |dice: &mut Dice, n: usize| -> Vec<i128> {
            (0..n).map(|_| (dice.below(12 * one as usize) as i128) - 6 * one).collect()
        };
        let mut columns = vec![
            vec![0],
            vec![least],
            vec![greatest, least, greatest],
            vec![least, least + one],
            vec![one; 300],
            vec![0, one, -one, 5, -5],
        ];
        columns.extend([2, 3, 10, 500].map(|n| near(&mut dice, n)));
        for column in columns {
            let rows: Vec<[i128; 2]> = column.iter().map(|x| [*x, 0]).collect();
            let made = evaluate(&of(ty, "softmax(x)"), &given(ty, &rows)).unwrap().remove("z").unwrap();
            let powers = column.iter().map(|x| ((x - column.iter().max().unwrap()) as f64 * step).exp());
            let powers: Vec<f64> = powers.collect();
            for (i, power) in powers.iter().enumerate() {
                let exact = power / powers.iter().sum::<f64>();
                let share = 1.0 / 32.0 + column.len() as f64 / 256.0;
                let error = (made.number(i).unwrap() as f64 * step - exact).abs() / step;
                assert!(error <= 1.0 + share * exact, "{ty:?} {column:?} {i}: {error} steps of {exact}");
            }
            let most = (greatest >> 1) as f64 * step;
            if column.iter().all(|x| (*x as f64 * step).abs() < most) {
                logarithms_err_as_stated(ty, &column, &rows, powers.iter().sum());
            }
        }
        let empty = evaluate(&of(ty, "softmax(x)"), &given(ty, &[])).unwrap();
        assert!(empty["z"].is_empty());
    }
}

/// Logarithms of a column's sum of powers, less its greatest element.
fn logarithms_err_as_stated(ty: [u8; 2], column: &[i128], rows: &[[i128; 2]], sum: f64) {
    let step = (-f64::from(ty[1])).exp2();
    let exact = *column.iter().max().unwrap() as f64 * step + sum.ln();
    let allowed = 1.0 + column.len() as f64 / 256.0;
    let of = |expr: &str| evaluate(&of(ty, expr), &given(ty, rows)).unwrap().remove("z").unwrap();
    let whole = of("log_sum_exp(x)");
    let error = (whole.number(0).unwrap() as f64 * step - exact).abs() / step;
    assert!(error <= allowed, "{ty:?} {column:?}: {error} steps of {exact}");
    let each = of("log_softmax(x)");
    for (i, x) in column.iter().enumerate() {
        let error = (each.number(i).unwrap() as f64 * step - (*x as f64 * step - exact)).abs() / step;
        assert!(error <= allowed, "{ty:?} {column:?} {i}: {error} steps");
    }
}

#[test]
fn rounding_is_to_the_nearest_of_two_the_greater() {
    for ty in TYPES.into_iter().chain([[8, 8], [8, 1], [128, 128], [9, 0], [100, 40]]) {
        let rows = rows(ty);
        let made = evaluate(&of(ty, "round(x)"), &given(ty, &rows)).unwrap().remove("z").unwrap();
        for (i, [x, _]) in rows.iter().enumerate() {
            // Twice the number, so that a half can be represented.
            let half = if ty[1] == 0 { 0 } else { 1i128 << (ty[1] - 1) };
            let floor = x.wrapping_add(half).checked_shr(ty[1].into()).unwrap_or(0);
            let exact = floor.checked_shl(ty[1].into()).unwrap_or(0);
            let wrapped = exact << (128 - ty[0]) >> (128 - ty[0]);
            assert_eq!(made.number(i).unwrap(), wrapped, "{x} of {ty:?}");
        }
    }
    let one = |x| evaluate(&of([16, 8], "round(x)"), &given([16, 8], &[[x, 0]])).unwrap()["z"].number(0);
    let halves = [128, 127, -128, -129, 384, -384].map(one);
    assert_eq!(halves, [256, 0, 0, -256, 512, -256].map(Some), "0.5, -0.5 and 1.5 go up");
}

#[test]
fn products_keep_their_type_and_are_exact() {
    for ty in TYPES.into_iter().chain([[8, 8], [8, 1], [9, 0], [48, 40]]) {
        let rows = rows(ty);
        let made = evaluate(&of(ty, "multiply(x, y)"), &given(ty, &rows)).unwrap().remove("z").unwrap();
        for (i, [x, y]) in rows.iter().enumerate() {
            let floor = (x * y) >> ty[1];
            assert_eq!(
                made.number(i).unwrap(),
                floor << (128 - ty[0]) >> (128 - ty[0]),
                "{x} by {y} of {ty:?}"
            );
        }
    }
    let refused = |x: &str, y: &str| {
        let text = format!(
            "computation c\nmembers m\ninput x: {x} from m\ninput y: {y} from m\noutput z = multiply(x, y) to m\n"
        );
        text.parse::<Computation>().unwrap_err().to_string()
    };
    assert!(
        refused("fixed(100, 28)", "fixed(100, 28)")
            .contains("whose bits and fractional bits are below 128 together")
    );
    assert!(refused("i8", "i8").contains("`multiply` of"));
    assert!(refused("fixed(8, 4)", "fixed(8, 3)").contains("operands have one type"));
}

#[test]
fn edges_have_results() {
    for ty in TYPES {
        let one = |expr: &str, x: i128, y: i128| {
            evaluate(&of(ty, expr), &given(ty, &[[x, y]])).unwrap()["z"].number(0).unwrap()
        };
        let (least, greatest) = (i128::MIN >> (128 - ty[0]), i128::MAX >> (128 - ty[0]));
        assert_eq!(one("divide(x, y)", 5, 0), -1);
        assert_eq!(one("reciprocal(x)", 0, 0), -1);
        assert_eq!([one("sqrt(x)", 0, 0), one("sqrt(x)", -1, 0), one("sqrt(x)", least, 0)], [0; 3]);
        assert_eq!([one("log(x)", 0, 0), one("log(x)", -7, 0)], [least; 2]);
        assert_eq!(one("exp(x)", least, 0), 0);
        // Within 3 steps of the exponent below the greatest number.
        let top = one("exp(x)", greatest, 0);
        assert!(top > 0 && greatest - top < 8 * (greatest >> ty[1]).max(1), "{ty:?} {top}");
        assert!(one("sigmoid(x)", least, 0) <= 1);
        assert!((1 << ty[1]) - one("sigmoid(x)", greatest, 0) <= 1);
        assert_eq!(one("tanh(x)", 0, 0), 0);
        assert!((1 << ty[1]) - one("tanh(x)", greatest, 0) <= 1);
        assert!((-1 << ty[1]) - one("tanh(x)", least, 0) >= -1);
    }
}

#[test]
fn circuits_give_the_same_bits() {
    let all = "divide(x, y) + reciprocal(y) ^ sqrt(x) ^ exp(x) ^ log(x) ^ sigmoid(x) ^ tanh(x) ^ softmax(x) ^ round(y) ^ multiply(x, y)\
        ^ erf(x) ^ softplus(x) ^ sin(x) ^ cos(y) ^ log_softmax(x) ^ log_sum_exp(y)\
        ^ floor(x) ^ ceil(x) ^ truncate(y) ^ round_even(x) ^ sign(x)";
    for ty in [[32, 16], [16, 8], [33, 13]] {
        let rows: Vec<[i128; 2]> = rows(ty).into_iter().rev().step_by(97).collect();
        assert!(check(&of(ty, all), &given(ty, &rows)).unwrap().is_some());
    }
}

#[test]
fn a_promise_does_not_refuse_functions() {
    let text = "computation c\nmembers m\ninput x: fixed(32, 16) in -4..4 from m\noutput z = exp(x) + log(x) + sqrt(x) + sigmoid(x) + reciprocal(x) to m\n";
    let c: Computation = text.parse().unwrap();
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
    let refused = |ty: &str| {
        let text = format!("computation c\nmembers m\ninput x: {ty} from m\noutput z = exp(x) to m\n");
        text.parse::<Computation>().unwrap_err().to_string()
    };
    for ty in ["i32", "fixed(65, 32)", "fixed(64, 33)", "fixed(32, 3)", "fixed(32, 25)"] {
        let told = refused(ty);
        assert!(
            told.contains(&format!("`exp` of x: {ty}; it takes fixed numbers of at most 64 bits")),
            "{told}"
        );
    }
}

/// The numbers of the module's table.
#[test]
fn functions_cost_what_is_stated() {
    let figures = [
        ("x / y", [3, 11]),
        ("divide(x, y)", [22, 73]),
        ("reciprocal(x)", [19, 62]),
        ("sqrt(x)", [39, 98]),
        ("exp(x)", [19, 77]),
        ("log(x)", [19, 77]),
        ("sigmoid(x)", [4, 25]),
        ("tanh(x)", [3, 25]),
        ("erf(x)", [3, 19]),
        ("gelu(x)", [3, 25]),
        ("softplus(x)", [4, 26]),
        ("sin(x)", [28, 100]),
        ("round(x)", [1, 1]),
        ("multiply(x, y)", [3, 10]),
    ];
    let thousands = |expr: &str, ty| {
        let work = cost::GateWork::of(&of(ty, expr), &[("n".to_owned(), 1)].into()).unwrap();
        work.ands().div_ceil(1000)
    };
    let found = figures.map(|(expr, _)| (expr, [[32, 16], [64, 32]].map(|ty| thousands(expr, ty))));
    assert_eq!(found, figures);
    let depth = |ty, expr| cost::GateWork::of(&of(ty, expr), &[("n".to_owned(), 1)].into()).unwrap().depth();
    assert_eq!([[32, 16], [64, 32]].map(|ty| depth(ty, "x / y")), [1153, 4354]);
    assert_eq!([[32, 16], [64, 32]].map(|ty| depth(ty, "divide(x, y)")), [764, 1548]);
}
