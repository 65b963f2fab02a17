//! The declared costs equal the meter's, for whole runs and for every node.

use super::{
    random::{plan_of, text},
    session::{own, sessions},
};
use crate::{Distance, Plan, Products};
use hushwire_compute::{Computation, evaluate, test_support::inputs};
use hushwire_machine::Meter;
use hushwire_ot::Protocol;
use hushwire_plan::Talk;
use std::{collections::HashSet, mem::discriminant};

/// Layers with weights, comparisons, maxima, products and shifts, and operations on bits.
fn network() -> Computation {
    text(
        "input x: i32[1, 3, 13, 11] from m\ninput w: i32[5, 3, 3, 3] from m\ninput u: i32[150, 7] from m\n\
         input v: i32[1, 5, 1, 1] from m\n\
         y = wrapping(conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1]))\nr = max(y, 0)\n\
         n = wrapping(r * broadcast(v, [1, 5, 13, 11]))\np = pool_max(n, [2, 2], stride=[2, 2])\n\
         t = wrapping(matmul(wrapping(reshape(p, [1, 150])), wrapping(u))) >> 3\n\
         q = reshape(n, [715])\ns = wrapping(q * q)\nk = select(q == s, q, s / 3)\nl = q & s\n\
         output best = argmax(reshape(t, [7])) to m\noutput a = select(q < s, k, l) to m\n\
         output b = reveal(sum(q)) + s to m",
    )
}

fn compare(c: &Computation, plan: &Plan, owners: &[usize], ot: Protocol, distance: Distance) {
    let given = inputs(c, 5, 0);
    let expected = evaluate(c, &given).expect("a result");
    let what = format!("{ot} {distance:?}");
    let made = sessions(ot, |i, party, channel| {
        let meter = Meter::new();
        channel.tap(meter.tap());
        let mut party = party.distance(distance).metered(&meter);
        let made = party.run(channel, plan, own(c, &given, owners, i), &mut |_, _| true).expect("honest");
        (made, meter, party.spent().clone())
    });
    let costs = plan.costs(ot, distance);
    for (i, (made, meter, spent)) in made.into_iter().enumerate() {
        let due = c.outputs().iter().zip(&plan.outputs).filter(|(_, of)| of.to[i]);
        due.zip(made).for_each(|((output, _), made)| assert_eq!(made, expected[&output.name], "{what}"));
        assert_eq!(meter.reading().cost(), costs.all.cost(i), "{what}: party {i}");
        assert_eq!(meter.lane(1), costs.ots.cost(i), "{what}: party {i}'s OTs");
        for (node, spent) in spent {
            let declared = costs.nodes.get(&node).map(|tally| tally.cost(i)).unwrap_or_default();
            assert_eq!(spent.cost, declared, "{what}: party {i}, node {node}, {:?}", c.nodes()[node].op);
        }
    }
}

/// Images that share ciphertexts have the declared cost, which is less than that of images alone.
/// The digest of their plan differs.
#[test]
fn a_batch_costs_what_is_declared() {
    let plan = |images: usize| {
        let c = text(&format!(
            "input x: i32[{images}, 3, 13, 11] from m\ninput w: i32[5, 3, 3, 3] from m\n\
             y = wrapping(conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1]))\noutput a = max(y, 0) to m"
        ));
        let plan = Plan::with(&c, &[1, 0], &[[true, true]], Products::He).expect("a plan");
        (c, plan)
    };
    let ((_, alone), (c, batch)) = (plan(1), plan(4));
    compare(&c, &batch, &[1, 0], Protocol::SoftSpoken2, Distance::Near);
    let sent = |plan: &Plan| -> usize {
        plan.layers().map(|(_, layer)| layer.linear.upload_bytes() + layer.linear.answer_bytes()).sum()
    };
    assert!(sent(&batch) < 3 * sent(&alone), "{} of {}", sent(&batch), sent(&alone));
    let shares = |plan: &Plan| plan.layers().any(|(_, layer)| layer.linear.together() > 1);
    assert!(shares(&batch) && !shares(&alone));
    // Earlier versions have another digest for the same batch.
    let as_before = {
        let mut hash = blake3::Hasher::new_derive_key("hushwire two plan v7");
        hash.update(&c.digest()).update(&[Products::He as u8, 1, 0, 1, 1, 0]);
        *hash.finalize().as_bytes()
    };
    assert_ne!(batch.digest, as_before);
}

/// Every operation with messages, both kinds of products, extensions in which either end sends, and
/// both distances.
#[test]
fn nodes_and_runs_cost_what_is_declared() {
    let c = network();
    // A circuit for few rows, and moves for more. The cost of a sort depends on the order that it
    // opens.
    let few = |rows: usize| {
        text(&format!(
            "input x: u8[{rows}] from m\ninput y: u8[{rows}] from m\noutput a = compact(x < y, x, rows=4) to m"
        ))
    };
    let moves = [few(9), few(20)].map(|c| {
        let (plan, owners) = plan_of(&c, 1).expect("a plan");
        compare(&c, &plan, &owners, Protocol::SoftSpoken2, Distance::Near);
        plan
    });
    let owners = [1, 0, 0, 0];
    let learns = [[true, true], [true, false], [false, true]];
    let mut seen = HashSet::new();
    let mut talks = |plan: &Plan| {
        for talk in plan.steps.iter().filter_map(|step| step.talk()) {
            let own = if let Talk::Own(own) = talk { Some(discriminant(own)) } else { None };
            let order = if let Talk::Reorder(reorder) = talk { Some(discriminant(reorder)) } else { None };
            seen.insert((discriminant(talk), own, order));
        }
    };
    moves.iter().for_each(&mut talks);
    for products in [Products::He, Products::Ot] {
        let plan = Plan::with(&c, &owners, &learns, products).expect("a plan");
        talks(&plan);
        for ot in [Protocol::SoftSpoken2, Protocol::SoftSpoken4, Protocol::FerretB10] {
            for distance in [Distance::Near, Distance::Far] {
                compare(&c, &plan, &owners, ot, distance);
            }
        }
    }
    assert_eq!(seen.len(), 17, "each kind of step with messages but a sort");
}
