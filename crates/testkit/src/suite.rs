//! Computations that every back end runs, for tests against the plain evaluator.

use hushwire_compute::{
    Computation, Tensor,
    test_support::{computation, inputs},
};
use std::collections::BTreeMap;

/// Values of inputs by name.
pub type Values = BTreeMap<String, Tensor>;

/// Expressions on columns x and y, their product p, and q, which is p + x.
const EXPRESSIONS: [&str; 66] = [
    "p + x",
    "x - p",
    "p * q",
    "-p",
    "p < q",
    "p <= x",
    "p > q",
    "p >= q",
    "p == q",
    "p != x",
    "x < 3",
    "select(x < y, p, q)",
    "select(x < y, x, y)",
    "select(p == q, p, 7)",
    "p >> 3",
    "x >> 3",
    "p << 2",
    "abs(p)",
    "min(p, x)",
    "max(p, q)",
    "max(p, 0)",
    "p / 3",
    "p % 5",
    "sum(p)",
    "sum(x)",
    "mean(p)",
    "mean(x)",
    "mean(x & y)",
    "min_of(x)",
    "max_of(p)",
    "argmin(x)",
    "argmax(p)",
    "prefix_sum(x)",
    "matmul(p, q)",
    "slice(concat(p, x), 3..9)",
    "p + reveal(sum(q))",
    "permute(p, order(y))",
    "permute(x, order(p, desc q))",
    "permute(x, invert(order(y)))",
    "permute(p, reveal(order(y)))",
    "permute(x, permute(order(y), order(x)))",
    "count(p == q)",
    "all(p == p)",
    "any(x < y)",
    "compact(x < y, p, rows=5)",
    "cast(p, i16)",
    "cast(p, u64)",
    "cast(p, u3)",
    "p * 5",
    "reveal(p) * q",
    "!p",
    "p & x",
    "gather(p, reveal(cast(y & 0, u8)))",
    "scan_sum(x < y, p)",
    "scan_sum(x < y, x)",
    "copy_down(x < y, x)",
    "copy_down(x < y, p)",
    "copy_down(x < y, x & y)",
    "scan_min(x == y, x)",
    "scan_max(x < y, p)",
    "argmin(x & y)",
    "argmax(x & 1)",
    "compact(x < y, p, rows=30)",
    "compact(x < y, x == y, rows=3)",
    "wrapping(p) + x",
    "x & y",
];

/// Plans whose bytes on the wire are pinned. Each has a name, and a text with the parties' inputs
/// and the outputs.
pub const PLANS: [(&str, &str); 8] = [
    ("comparison", "input x: i32[50] from m\ninput y: i32[50] from m\noutput a = x < y to m"),
    ("equality", "input x: u20[50] from m\ninput y: u20[50] from m\noutput a = x == y to m"),
    ("relu", "input x: i37[50] from m\ninput y: i37[50] from m\noutput a = max(x + y, 0) to m"),
    (
        "truncation",
        "input x: fixed(37, 6)[50] from m\ninput y: fixed(37, 6)[50] from m\n\
         output a = rescale(wrapping(x) * wrapping(y), 6) to m",
    ),
    (
        "convolution",
        "input x: fixed(37, 6)[1, 2, 6, 6] from m\ninput w: fixed(37, 6)[3, 2, 3, 3] from m\n\
         y = rescale(conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1]), 6)\nz = max(y, 0)\n\
         p = pool_max(z, [2, 2], stride=[2, 2])\noutput best = argmax(reshape(p, [27])) to m",
    ),
    (
        "matmul",
        "input x: i24[4, 7] from m\ninput y: i24[7, 3] from m\noutput a = wrapping(matmul(x, y)) to m",
    ),
    (
        "sort",
        "input x: i37[90] from m\ninput y: i37[90] from m\np = x + y\no = order(p)\n\
         output a = permute(y, o) to m",
    ),
    (
        "rows",
        "input x: u8[60] from m\ninput y: u8[60] from m\nf = x < y\n\
         output a = compact(f, x, rows=40) to m\noutput b = sum(select(f, x, y)) / 3 to m\n\
         output c = reveal(max_of(x)) + y to m",
    ),
];

/// Makes a computation of one member's numbers.
///
/// # Panics
/// If the text is invalid, which is a bug of the test.
#[must_use]
pub fn computation_of(body: &str) -> Computation {
    let text = format!("computation c\nmembers m\nsymbols n\n{body}\n");
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Runs random computations on columns of several lengths, including empty ones. `check` returns
/// whether a back end ran one, and must compare the result with the evaluator's. More than half of
/// them must run.
///
/// # Panics
/// If fewer run.
pub fn random_computations(count: u64, mut check: impl FnMut(&Computation, &Values) -> bool) {
    let mut compared = 0;
    for seed in 0..count {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, [0, 1, 2, 3, 9, 17][seed as usize % 6]);
        compared += u64::from(check(&c, &given));
    }
    assert!(compared > count / 2, "{compared}");
}

/// Checks each operation on columns of these types and lengths. Each expression must run at least
/// `least` times. An expression that needs a length without a symbol gets one.
///
/// # Panics
/// If an expression runs less often.
pub fn each_operation(
    columns: &[(&str, usize)],
    least: usize,
    mut check: impl FnMut(&Computation, &Values) -> bool,
) {
    let mut ran = BTreeMap::from(EXPRESSIONS.map(|expression| (expression, 0)));
    for (scalar, rows) in columns {
        for (expression, ran) in &mut ran {
            let parsed = |n: &str| {
                let text = format!(
                    "computation c\nmembers m\nsymbols n\ninput x: {scalar}[{n}] from m\n\
                     input y: {scalar}[{n}] from m\np = x * y\nq = p + x\noutput bit = q < y to m\n\
                     output z = {expression} to m\n"
                );
                text.parse::<Computation>()
            };
            let Ok(c) = parsed("n").or_else(|_| parsed("11")) else { continue };
            *ran += usize::from(check(&c, &inputs(&c, 7, *rows)));
        }
    }
    ran.retain(|_, ran| *ran < least);
    assert!(ran.is_empty(), "{ran:?}");
}
