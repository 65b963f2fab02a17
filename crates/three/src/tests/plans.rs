//! Plans: the steps that are computed once, and the operands that are built in.

use super::{check, given, text};
use crate::{Cut, Door, Plan};
use hushwire_machine::Cost;
use hushwire_plan::Talk;
use hushwire_rep3::Addition;

#[test]
fn inputs_come_as_numbers_where_nobody_asks_for_their_bits() {
    let forms = |lines: &str| {
        let c = text(&format!("input x: i32[4] from m\ninput y: i32[4] from m\n{lines}"));
        let plan = Plan::new(&c).unwrap();
        let number = |door: &Door| matches!(door.addition(), Addition::Words(_));
        let cost = plan.cost(0, Cut::whole()).unwrap().cost;
        check(&c, &given(&c, 5), Plan::new).unwrap();
        let outputs: Vec<bool> = plan.outputs().map(|door| number(&door)).collect();
        ([number(&plan.inputs()[0]), number(&plan.inputs()[1])], outputs, cost)
    };
    let sum = forms("output s = sum(x + y) to m");
    assert_eq!(sum, ([true; 2], vec![true], Cost::default()));
    assert_eq!(forms("output s = transpose(x - y, [0]) to m").2, Cost::default());
    let product = forms("output p = x * y to m");
    assert_eq!((product.0, product.1, product.2.rounds), ([true; 2], vec![true], 1));
    assert_eq!(forms("output s = sum(x) to m\noutput l = x < y to m").0, [false; 2]);
    assert_eq!(forms("output s = x + 1 < y to m").0, [false; 2]);
    assert_eq!(forms("output s = permute(x, order(y)) * x to m").0, [true, false]);
    assert_eq!(forms("output s = x to m\noutput t = y to m").0, [false; 2]);
}

/// Bits of a product become those of a shorter number by leaving some out.
#[test]
fn a_shift_whose_bits_alone_are_read_costs_nothing() {
    let shifts = |lines: &str| {
        let inputs = "input a: fixed(32, 10)[9] from m\ninput b: fixed(32, 10)[9] from m";
        let c = text(&format!("{inputs}\nw = rescale(a * b, 10)\n{lines}"));
        check(&c, &given(&c, 8), Plan::new).unwrap();
        let plan = Plan::new(&c).unwrap();
        plan.steps.iter().filter(|s| matches!(s.talk(), Some(Talk::Truncate { by: 10, .. }))).count()
    };
    assert_eq!(shifts("output z = sigmoid(w) to m"), 0);
    assert_eq!(shifts("output z = tanh(reshape(w, [3, 3])) to m"), 0);
    assert_eq!(shifts("output z = w * w to m"), 1);
    assert_eq!(shifts("output z = sigmoid(w) to m\noutput v = w * w to m"), 1);
}

#[test]
fn the_same_is_computed_once_and_what_nobody_reads_never() {
    let steps = |lines: &str| {
        let inputs = "input f: bool[9] from m\ninput x: u8[9] from m\ninput y: u8[9] from m";
        let c = text(&format!("{inputs}\n{lines}"));
        check(&c, &given(&c, 6), Plan::new).unwrap();
        Plan::new(&c).unwrap().steps.len() - 3
    };
    let alone = steps("output z = x & y to m");
    assert_eq!(steps("w = x * y\nv = w < y\noutput z = x & y to m"), alone);
    // Two columns are copied down by flags that are picked and joined only once.
    let one = steps("output a = copy_down(f, x) to m");
    let both = steps("output a = copy_down(f, x) to m\noutput b = copy_down(f, y) to m");
    assert!(both - one < one, "{both} steps of two, {one} of one");
    let order = "o = order(x)\noutput a = permute(y, o) to m";
    assert_eq!(steps(order), steps(&format!("{order}\noutput b = permute(y, o) to m")));
}

/// A plan of numbers alone keeps numbers if no bound is known.
#[test]
fn minima_maxima_and_shifts_of_numbers_stay_numbers() {
    for scalar in ["i16", "u32", "i64"] {
        for (expr, is_words) in [
            ("min(p, q)", true),
            ("max(p, q)", true),
            ("abs(p)", true),
            ("p << 3", true),
            ("max(p, 7)", false),
            ("min_of(p)", false),
        ] {
            let c = text(&format!(
                "input x: {scalar}[n] from m\ninput y: {scalar}[n] from m\np = wrapping(x * y)\nq = wrapping(x * x)\n\
                 output z = wrapping({expr}) to m"
            ));
            check(&c, &given(&c, 9), Plan::new).expect("it runs on shares");
            let plan = Plan::new(&c.bind(&[("n".to_owned(), 9)].into()).unwrap()).unwrap();
            let is_number = |door: Door| matches!(door.addition(), Addition::Words(_));
            assert_eq!(plan.outputs().all(is_number), is_words, "{scalar} {expr}");
        }
    }
}

/// A circuit has the computation's constants built in, through whichever steps they come, and no
/// AND that follows from them.
#[test]
fn numbers_of_the_computation_are_built_in_however_they_are_made() {
    let bytes = |with: &str| {
        let c = text(&format!("input x: i64[9] from m\ninput y: i64[9] from m\noutput z = x < {with} to m"));
        check(&c, &given(&c, 7), Plan::new).unwrap();
        Plan::new(&c).unwrap().cost(0, Cut::whole()).unwrap().cost.bytes_sent
    };
    assert_eq!(bytes("cast(const(i8, 5), i64)"), bytes("const(i64, 5)"));
    assert!(bytes("cast(const(i8, 0), i64)") < bytes("y"));
}

/// A bias that is added to products arrives as numbers, even if a pool reads the sum. As bits, one
/// conversion would be needed for each element of the sum.
#[test]
fn summands_of_products_come_as_numbers() {
    let c = text(
        "input x: i32[1, 2, 8, 8] from m\ninput w: i32[4, 2, 1, 1] from m\ninput b: i32[1, 4, 1, 1] from m\n\
         y = conv2d(x, w) + broadcast(b, [1, 4, 8, 8])\n\
         output z = max(pool_max(y, [2, 2], stride=[2, 2]), 0) >> 5 to m",
    );
    let plan = Plan::new(&c).unwrap();
    let bytes: Vec<usize> = plan.inputs().iter().map(Door::bytes).collect();
    assert_eq!(bytes, [4 * 128, 4 * 8, 4 * 4]);
    let converts = |step: &hushwire_plan::PlanStep<_>| matches!(step.talk(), Some(Talk::ToWords(_)));
    assert!(!plan.steps.iter().any(converts));
    assert!(check(&c, &given(&c, 0), Plan::new).is_some());
}
