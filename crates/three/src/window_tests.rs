//! Convolutions and pooling between three parties, compared with the evaluator.

use crate::{
    Cut, Plan,
    prim::{OwnTalk, Three},
    tests::check,
};
use hushwire_compute::{
    Computation,
    test_support::{Dice, inputs},
};
use hushwire_plan::Talk;

/// A computation of `z` from pictures x and, for convolutions, kernels y. With `as_words` both are
/// products before.
fn computation(scalar: &str, x: [usize; 4], y: [usize; 4], as_words: bool, z: &str) -> Computation {
    let factor = if as_words { "x = a * a\ny = b * b" } else { "x = a + 0\ny = b + 0" };
    let text = format!(
        "computation c\nmembers m\ninput a: {scalar}{x:?} from m\ninput b: {scalar}{y:?} from m\n{factor}\noutput z = {z} to m\n\
         output w = sum(y) to m\n"
    );
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn windows_are_the_evaluators() {
    let mut dice = Dice::new(5);
    let mut ran = [0; 5];
    for round in 0..60 {
        let mut below = |n: usize| dice.below(n);
        let scalar = ["u8", "i16", "u32", "i64", "u37", "i20"][round % 6];
        let (groups, inner, outer) = (1 + below(3), 1 + below(3), 1 + below(3));
        let [size, stride, more] = [1, 1, 0].map(|least| [least + below(3), least + below(3)]);
        let x = [below(3), groups * inner, size[0] + more[0], size[1] + more[1]];
        let y = [groups * outer, inner, size[0], size[1]];
        let around = [0, 1, 2, 3].map(|k| below(size[k % 2]));
        let way = format!("stride={stride:?}, pad={around:?}");
        let conv = format!("conv2d(x, y, {way}, groups={groups})");
        let pools = ["sum", "mean", "min", "max"].map(|kind| format!("pool_{kind}(x, {size:?}, {way})"));
        for (k, z) in [conv].iter().chain(&pools).enumerate() {
            let c = computation(scalar, x, y, round % 2 == 0, z);
            let plans = [Plan::new, Plan::on_bits];
            // Bits alone are slow, and have only extremes as their own operations here.
            for plan in &plans[..if k > 2 || round % 20 == 0 { 2 } else { 1 }] {
                ran[k] += u32::from(check(&c, &inputs(&c, round as u64, 0), *plan).is_some());
            }
        }
    }
    assert!(ran.iter().all(|ran| *ran >= 60), "{ran:?}");
}

/// The bytes of party 1, which deals nothing, that `z` adds to the cost of 96 words made of x
/// alone.
fn added(scalar: &str, x: [usize; 4], y: [usize; 4], z: &str) -> u64 {
    let cost = |z: &str| {
        Plan::new(&computation(scalar, x, y, true, z)).unwrap().cost(1, Cut::whole()).unwrap().cost.bytes_sent
    };
    // Both computations end with words, which are converted to bits at the end.
    let [with, without] = [cost(z), cost("reshape(x, [96]) * 1")];
    with - without
}

#[test]
fn a_convolution_is_one_message_of_its_results() {
    let (x, y) = ([2, 3, 4, 4], [6, 3, 3, 3]);
    let z = "conv2d(x, y, pad=[1, 1, 1, 1])";
    let c = computation("u32", x, y, true, z);
    let plan = Plan::new(&c).unwrap();
    assert_eq!(
        plan.steps.iter().filter(|step| matches!(step.talk(), Some(Talk::Own(OwnTalk::Conv2d(_))))).count(),
        1
    );
    assert!(!plan.steps.iter().any(|step| matches!(step.talk(), Some(Talk::Flat(..)))));
    // 192 results, each of which is converted to bits as one of the 96 elements of x is.
    let double = "concat(reshape(x, [96]), reshape(x, [96]))";
    assert_eq!(added("u32", x, y, z), added("u32", x, y, double) + 4 * 192);
}

#[test]
fn sums_of_windows_are_free_and_natural_means_are_truncations() {
    let (x, y) = ([2, 3, 4, 4], [1; 4]);
    assert_eq!(added("u32", x, y, "pool_sum(x, [1, 1])"), 0);
    let blocks = |text: &str| {
        let plan = Plan::new(&text.parse::<Computation>().unwrap()).unwrap();
        let count = |of: fn(&Talk<Three>) -> bool| {
            plan.steps.iter().filter(|step| step.talk().is_some_and(of)).count()
        };
        [count(|p| matches!(p, Talk::Block(_))), count(|p| matches!(p, Talk::Truncate { .. }))]
    };
    let text = |promise: &str, size: &str| {
        format!(
            "computation c\nmembers m\ninput x: i32[1, 1, 6, 6]{promise} from m\noutput z = pool_mean(x, {size}) to m\n"
        )
    };
    assert_eq!(blocks(&text(" in 0..1000", "[2, 2]")), [0, 1]);
    assert_eq!(blocks(&text("", "[2, 2]")), [1, 0], "towards 0, and below it that is no truncation");
    assert_eq!(blocks(&text(" in 0..1000", "[3, 3]")), [1, 0]);
}

#[test]
fn a_factor_that_all_members_know_costs_no_message() {
    let text = |brought: &str, z: &str| {
        let text = format!("computation c\nmembers m\n{brought}\nx = a * a\noutput z = {z} to m\n");
        text.parse::<Computation>().unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    let matrices = "input a: u16[5, 7] from m\ninput k: u16[7, 9] public";
    let turned = "input a: u16[7, 5] from m\ninput k: u16[9, 7] public";
    let filters = "input a: i32[2, 3, 4, 4] from m\ninput k: i32[6, 3, 3, 3] public";
    let pictures = "input a: i32[6, 3, 3, 3] from m\ninput k: i32[2, 3, 4, 4] public";
    for (brought, z) in [
        (matrices, "matmul(x, k)"),
        (turned, "matmul(k, x)"),
        (filters, "conv2d(x, k, stride=[2, 1], pad=[1, 1, 1, 0])"),
        (pictures, "conv2d(k, x, pad=[1, 0, 0, 1])"),
    ] {
        let c = text(brought, z);
        let plan = Plan::new(&c).unwrap();
        let is_shared = |talk: &Talk<Three>| matches!(talk, Talk::MatMul(..) | Talk::Own(OwnTalk::Conv2d(_)));
        assert!(!plan.steps.iter().any(|s| s.talk().is_some_and(is_shared)), "{z}");
        // The cost is that of opening k and x.
        let rounds = plan.cost(1, Cut::whole()).unwrap().cost.rounds;
        assert_eq!(rounds, 1, "{z}: a product and the opening abreast");
        for seed in 0..5 {
            assert!(check(&c, &inputs(&c, seed, 0), Plan::new).is_some());
        }
    }
}
