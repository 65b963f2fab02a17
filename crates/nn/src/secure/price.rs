//! About what a computation costs, to compare rings.

use hushwire_compute::{Computation, Node, Op, Reduction, Scalar, Visibility};

/// The bits of the words in which three parties keep numbers.
fn word(scalar: Scalar) -> u64 {
    let bits = scalar.bits() as u64;
    [8, 16, 32, 64].into_iter().find(|word| bits <= *word).unwrap_or(bits)
}

/// About the bits that each of three parties sends for a run.
pub(super) fn price(computation: &Computation) -> u64 {
    let nodes = computation.nodes();
    nodes.iter().map(|node| of_node(node, nodes)).sum()
}

fn of_node(node: &Node, nodes: &[Node]) -> u64 {
    let argument = |k: usize| node.arguments.get(k).map(|value| &nodes[value.0 as usize]);
    let is_public = |node: &Node| node.ty.visibility == Visibility::Public;
    let elements = |node: &Node| node.ty.shape.elements().unwrap_or_default() as u64;
    let Some(first) = argument(0).filter(|_| node.ty.visibility == Visibility::Secret) else { return 0 };
    let scalar = first.ty.scalar;
    let (bits, words) = (scalar.bits() as u64, word(node.ty.scalar));
    match &node.op {
        Op::MatMul | Op::Conv2d { .. } | Op::Mul => {
            let public = is_public(first) || argument(1).is_some_and(is_public);
            if public { 0 } else { elements(node) * words }
        }
        Op::Add
        | Op::Sub
        | Op::Neg
        | Op::ShiftLeft(_)
        | Op::PrefixSum(_)
        | Op::Wrapping
        | Op::Broadcast(_)
        | Op::Reshape(_)
        | Op::Transpose(_)
        | Op::Slice { .. }
        | Op::Concat(_)
        | Op::Reduce(Reduction::Sum, _)
        | Op::Pool { reduction: Reduction::Sum, .. } => 0,
        // A narrower ring takes nothing.
        Op::Cast(to) if to.is_number() && to.frac() == scalar.frac() && to.bits() as u64 <= bits => 0,
        // As bits, and as words again.
        Op::Reduce(..) | Op::Pool { .. } => elements(first) * 2 * bits + elements(node) * words,
        _ => elements(node) * (2 * bits + words),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Members, Network, Numbers, Secure, WideLayers, WideRing, onnx::Model, zoo::Writer};
    use hushwire_three::{Cut, Plan};

    fn networks() -> [Network; 3] {
        let mut w = Writer::new("classes", 1, &[1, 3, 12, 12]);
        let x = w.conv("input", [3, 8], 3, 1, 1, true);
        let x = w.relu(&x);
        let x = w.pool("MaxPool", &x, 2, 2, 0, false);
        let x = w.conv(&x, [8, 16], 3, 1, 1, true);
        let x = w.relu(&x);
        let x = w.op("GlobalAveragePool", &[&x], &[]);
        let x = w.op("Flatten", &[&x], &[]);
        let y = w.gemm(&x, [16, 5]);
        let classes = w.finish(&y);
        let mut w = Writer::new("rows", 1, &[32, 20]);
        let x = w.gemm("input", [20, 64]);
        let x = w.relu(&x);
        let x = w.gemm(&x, [64, 32]);
        let x = w.relu(&x);
        let x = w.gemm(&x, [32, 3]);
        let y = w.op("Softmax", &[&x], &[]);
        let rows = w.finish(&y);
        let mut w = Writer::new("functions", 1, &[4, 20]);
        let x = w.gemm("input", [20, 16]);
        let x = w.op("Sigmoid", &[&x], &[]);
        let x = w.gemm(&x, [16, 16]);
        let y = w.op("Tanh", &[&x], &[]);
        let functions = w.finish(&y);
        [(classes, 1), (rows, 32), (functions, 4)].map(|(model, first)| {
            let lengths = if first == 1 { vec![1, 3, 12, 12] } else { vec![first, 20] };
            let read = Model::read(&model.to_bytes()).expect("it was written");
            Network::new(read, Some(&lengths)).expect("it is a network")
        })
    }

    /// Rings of which one sends a third more than the other have prices in the same order.
    #[test]
    fn prices_are_in_the_order_of_plans() {
        for network in networks() {
            let pairs = [(48, 12), (64, 16)].into_iter().flat_map(|(bits, frac)| {
                WideLayers::ALL.map(|layers| Numbers::mixed(32, frac, WideRing { bits, layers }))
            });
            let rings = [32, 40, 48, 56, 64].map(Numbers::of).into_iter().chain(pairs);
            let both = |numbers: Numbers| {
                let secure = Secure::new(&network, numbers, &Members::default()).expect("a computation");
                let plan = Plan::new(secure.computation()).expect("a plan");
                let cost = |party| plan.cost(party, Cut::whole()).expect("a cost").cost.bytes_sent;
                (numbers, secure.price(), (0..3).map(cost).sum::<u64>() / 3)
            };
            let all: Vec<_> = rings.map(both).collect();
            for (a, price, bytes) in &all {
                for (b, other, more) in &all {
                    assert!(
                        3 * more <= 4 * bytes || price < other,
                        "{}: {a:?} has the price {price} for {bytes} bytes, {b:?} {other} for {more}",
                        network.name
                    );
                }
            }
        }
    }
}
