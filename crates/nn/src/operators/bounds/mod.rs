//! Compares the bounds that operators state with formulas in double precision. Each row of the
//! table is evaluated in fixed point on edges and random elements of a range, in rings of three
//! sizes.

mod elements;
mod learned;
mod moves;
mod nd;
mod rows;
mod windows;

use super::{Bound, OPERATORS, Operator};
use crate::{
    Array, INPUT, Members, Network, Numbers, Secure,
    onnx::{Attribute, Model},
    zoo::{Random, Writer},
};
use hushwire_compute::{Scalar, evaluate};
use nd::Nd;
use std::collections::{BTreeMap, BTreeSet};

type Formula = Box<dyn Fn(&Nd) -> Vec<f64>>;

/// An operator on an input, and the formula of its first output.
struct Case {
    /// The operator's name, after its set and a point if the set is not the standard one.
    op: &'static str,
    model: Model,
    /// The lengths of the input's axes.
    lengths: Vec<usize>,
    /// The least and the greatest element of the input.
    over: [f64; 2],
    /// The number of elements from which a value is computed.
    n: usize,
    formula: Formula,
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    /// Adds an operator on an input with elements of a range, each value of which is computed from
    /// `n` elements. It is tested as the last layer, and before a choice, which cuts it.
    fn add(
        &mut self,
        op: &'static str,
        lengths: &[usize],
        over: [f64; 2],
        n: usize,
        build: impl Fn(&mut Writer) -> String,
        formula: impl Fn(&Nd) -> Vec<f64> + Clone + 'static,
    ) {
        for cuts in [false, true] {
            let mut w = Writer::new("m", 3, lengths);
            let mut y = build(&mut w);
            if cuts {
                let [all, place] = [-1, 0].map(|n| known(&mut w, &[n]));
                let flat = w.op("Reshape", &["input", &all], &[]);
                let first = w.op("Gather", &[&flat, &place], &[]);
                let least = w.weights(&[1], vec![-1000.0]);
                let always = w.op("Greater", &[&first, &least], &[]);
                y = w.op("Where", &[&always, &y, &first], &[]);
            }
            let mut model = w.finish(&y);
            let name = name(op);
            model.opset = match name {
                "RMSNormalization" | "Attention" => 23,
                "Swish" => 24,
                "Scatter" => 10,
                "Upsample" => 9,
                _ => 20,
            };
            // Choices only accept whole numbers from places.
            if cuts && (model.opset < 16 || WHOLE.contains(&name)) {
                continue;
            }
            if op != name {
                model.ml = if name == "TreeEnsemble" { 5 } else { 3 };
                for node in model.graph.nodes.iter_mut().filter(|node| node.op == name) {
                    node.domain = "ai.onnx.ml".into();
                }
            }
            let formula = Box::new(formula.clone());
            self.0.push(Case { op, model, lengths: lengths.to_vec(), over, n, formula });
        }
    }

    /// A function of each element.
    fn each(
        &mut self,
        op: &'static str,
        attributes: &[(&str, Attribute)],
        over: [f64; 2],
        f: impl Fn(f64) -> f64 + Clone + 'static,
    ) {
        self.add(op, &[200], over, 1, |w| w.op(name(op), &["input"], attributes), move |x| x.map(&f).data);
    }
}

/// Operators whose values are places.
const WHOLE: &[&str] = &["ArgMax", "ArgMin"];

/// The name of an operator without its set.
fn name(op: &str) -> &str {
    op.rsplit('.').next().unwrap_or(op)
}

/// Known integers.
fn known(w: &mut Writer, all: &[i64]) -> String {
    w.integers(7, &[all.len()], all.to_vec())
}

fn ints(all: &[i64]) -> Attribute {
    Attribute::Ints(all.to_vec())
}

fn text(of: &str) -> Attribute {
    Attribute::Text(of.into())
}

/// The first `n` parts of the input along its first axis.
fn parts<const N: usize>(w: &mut Writer) -> [String; N] {
    std::array::from_fn(|k| {
        let place = w.integers(7, &[], vec![k as i64]);
        w.op("Gather", &["input", &place], &[])
    })
}

/// Weights, and the same in double precision.
fn weights(seed: u64, lengths: &[usize], by: f32) -> (Vec<f32>, Nd) {
    let mut random = Random::new(seed);
    let all: Vec<f32> = (0..lengths.iter().product()).map(|_| by * (2.0 * random.unit() - 1.0)).collect();
    let exact = Nd::new(lengths, all.iter().map(|x| f64::from(*x)).collect());
    (all, exact)
}

/// The ends of a range, numbers next to 0, and random numbers of the range. They are multiples of
/// 2^-10, which all rings here can represent.
fn input(lengths: &[usize], [low, high]: [f64; 2]) -> Array {
    let step = 1.0 / 1024.0;
    let edges = [low, high, 0.0, step, -step, 0.5, -0.5, 1.0, -1.0];
    let mut edges = edges.into_iter().filter(|x| (low..=high).contains(x));
    let mut random = Random::new(11);
    let mut element = || {
        let drawn = low + (high - low) * f64::from(random.unit());
        (edges.next().unwrap_or(drawn) / step).round() * step
    };
    let data = (0..lengths.iter().product::<usize>()).map(|_| element() as f32).collect();
    Array::new(lengths, data)
}

/// The greatest error of a case in a ring of `bits` bits, divided by its bound, and the element
/// that has it. More than 1 is beyond the bound.
fn excess(case: &Case, bound: Bound, bits: u8) -> Result<(f64, String), String> {
    if bound.steps < 0.0 {
        return Err(format!("{} has no bound", case.op));
    }
    let numbers = Numbers::of(bits);
    let input = input(&case.lengths, case.over);
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", case.op);
    let read = Model::read(&case.model.to_bytes()).map_err(|e| told(&e))?;
    let network = Network::new(read, Some(&case.lengths)).map_err(|e| told(&e))?;
    let greatest = network.calibrated([&input]).map_err(|e| told(&e))?;
    let secure = Secure::new(&network, numbers, &Members::default()).map_err(|e| told(&e))?;
    let mut inputs = secure.weights(&network, &greatest, 1).map_err(|e| told(&e))?;
    inputs.insert(INPUT.to_owned(), secure.input(&input).map_err(|e| told(&e))?);
    let made = evaluate(secure.computation(), &inputs).map_err(|e| told(&e))?;
    let made = &made[crate::OUTPUT];
    let frac = match made.scalar() {
        Scalar::Fixed { frac, .. } => frac,
        _ => 0,
    };
    let exact: Vec<f64> = input.data.iter().map(|x| f64::from(*x)).collect();
    let expected = (case.formula)(&Nd::new(&input.lengths, exact));
    assert_eq!(made.len(), expected.len(), "{} has another number of elements", case.op);
    let (x, n) = (f64::from(input.greatest()), case.n as f64);
    let step = 2f64.powi(-i32::from(numbers.frac));
    let rounding = 2f64.powi(i32::from(numbers.frac) - i32::from(numbers.cut) - 1);
    let [steps, value, operand, element, weights, away] =
        [bound.steps, bound.value, bound.operand, bound.element, bound.weights, bound.off].map(f64::from);
    let mut worst = (0.0, String::new());
    for (i, exact) in expected.iter().enumerate() {
        let found = made.number(i).expect("a number") as f64 / 2f64.powi(frac.into());
        let in_steps = steps + value * exact.abs() + operand * x + element * n + weights * rounding * n * x;
        let root = if exact.abs() < 1.0 { f64::from(bound.root) * (n * step).sqrt() } else { 0.0 };
        let allowed = (in_steps * step + root + away).max(1e-9);
        let off = (found - exact).abs();
        if off / allowed > worst.0 {
            let given = input.data.get(i).copied().unwrap_or_default();
            worst =
                (off / allowed, format!("element {i} ({given}): {found} for {exact}: {} steps", off / step));
        }
    }
    Ok(worst)
}

fn cases() -> Vec<Case> {
    let mut all = Cases::default();
    elements::add(&mut all);
    rows::add(&mut all);
    windows::add(&mut all);
    moves::add(&mut all);
    learned::add(&mut all);
    all.0
}

/// The bounds of all operators by their names.
fn stated() -> BTreeMap<String, Bound> {
    let full = |op: &Operator| {
        if op.set.is_empty() { op.name.into() } else { format!("{}.{}", op.set, op.name) }
    };
    OPERATORS.iter().flat_map(|file| file.iter()).map(|op| (full(op), op.bound())).collect()
}

#[test]
fn every_operator_keeps_its_bound() {
    let (all, stated) = (cases(), stated());
    let tested: BTreeSet<&str> = all.iter().map(|case| case.op).collect();
    let mut wrong: Vec<String> = stated
        .keys()
        .filter(|op| !tested.contains(op.as_str()))
        .map(|op| format!("{op} has no case"))
        .collect();
    for case in &all {
        let bound = *stated.get(case.op).unwrap_or_else(|| panic!("there is no operator {}", case.op));
        // 510 has no room in 32 bits.
        let rings: &[u8] = if case.op == "DynamicQuantizeLinear" { &[64] } else { &[32, 40, 64] };
        for bits in rings.iter().copied() {
            match excess(case, bound, bits) {
                Ok((excess, what)) => {
                    println!("{} in {bits} bits: {excess:.3} of its bound", case.op);
                    if excess > 1.0 + 1e-6 {
                        wrong.push(format!("{} in {bits} bits, {excess:.3} of [{bound}]: {what}", case.op));
                    }
                }
                Err(e) => wrong.push(format!("{bits} bits: {e}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The test finds a row without a bound, and bounds that are too small.
#[test]
fn bounds_that_do_not_hold_are_found() {
    let all = cases();
    let case = |op: &str| all.iter().find(|case| case.op == op).expect("a case");
    assert!(excess(case("Exp"), Bound::UNSTATED, 32).is_err());
    for op in ["Exp", "Softmax", "Conv", "LSTM", "ai.onnx.ml.Normalizer"] {
        let (excess, what) = excess(case(op), Bound::EXACT, 32).expect("it runs");
        assert!(excess > 1.0, "{op} is exact: {what}");
    }
    let mut wrong = all.into_iter().find(|case| case.op == "Neg").expect("a case");
    wrong.formula = Box::new(|x| x.data.clone());
    assert!(excess(&wrong, Bound::EXACT, 32).expect("it runs").0 > 1.0);
}
