//! Sessions over channels with OTs of every kind, and the ways in which they end.

use super::{
    pair::{prg, random, shared},
    random::{Values, plan_of, text, two},
};
use crate::{
    ArithmeticParty, COEFFICIENTS, Conv, Distance, Linear, Operation, Plan, Sign, TwoError, ring::mask,
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_compute::{Computation, Tensor, evaluate, test_support::inputs};
use hushwire_machine::{Channel, Meter, MeterReading, PartyId, inproc};
use hushwire_ot::{Context, OtError, Protocol, Sid};
use hushwire_prg::Seed;
use std::{thread, time::Duration};

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

/// Each party's channels for steps and for OTs, over queues in memory.
pub(crate) fn links() -> [[Channel; 2]; 2] {
    let mut nets = inproc::mesh_capped(&IDS, 2, Duration::from_secs(120), usize::MAX).into_iter();
    [1, 0].map(|peer| {
        let (mut net, peer) = (nets.next().expect("two parties"), Some(IDS[peer]));
        [0, 1].map(|lane| net.channel(lane, peer, peer).expect("the lane is there"))
    })
}

/// Runs both parties on threads.
pub(crate) fn sessions<T: Send>(
    ot: Protocol,
    party: impl Fn(usize, ArithmeticParty, &mut Channel) -> T + Sync,
) -> [T; 2] {
    sessions_over(links(), Backend::best(), ot, party)
}

/// The same over these channels for steps and for OTs.
pub(crate) fn sessions_over<T: Send>(
    links: [[Channel; 2]; 2],
    backend: Backend,
    ot: Protocol,
    party: impl Fn(usize, ArithmeticParty, &mut Channel) -> T + Sync,
) -> [T; 2] {
    let party = &party;
    let _watch = registry::watch();
    let results: Vec<T> = thread::scope(|scope| {
        let links = links.into_iter().enumerate();
        let threads: Vec<_> = links
            .map(|(i, [mut channel, ots])| {
                let end = registry::here().end(i);
                scope.spawn(move || {
                    let _end = end.enter();
                    let context = Context { sid: Sid([9; 32]), backend };
                    let seed = Seed::from_bytes([i as u8 + 1; 16]);
                    let open = ArithmeticParty::open(ots, i, &context, ot, &seed).expect("a set-up");
                    party(i, open.ahead(true), &mut channel)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("no party panics")).collect()
    });
    results.try_into().ok().expect("two parties")
}

pub(crate) fn own(c: &Computation, given: &Values, owners: &[usize], party: usize) -> Vec<Tensor> {
    let all = c.inputs().zip(owners).filter(|(_, owner)| **owner == party);
    all.map(|((name, _), _)| given[name].clone()).collect()
}

fn model() -> Computation {
    text(
        "input x: fixed(37, 6)[1, 2, 6, 6] from m\ninput w: fixed(37, 6)[3, 2, 3, 3] from m\n\
         y = rescale(conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1]), 6)\nz = max(y, 0)\n\
         p = pool_max(z, [2, 2], stride=[2, 2])\noutput best = argmax(reshape(p, [27])) to m\noutput all = p to m",
    )
}

#[test]
fn a_session_runs_several_computations() {
    let c = text(
        "input x: i32[500] from m\ninput y: i32[500] from m\nq = x * y\nz = max(q, 0)\n\
         output a = sum(z) to m\noutput b = select(x < y, x, q) / 3 to m\noutput c = reveal(max_of(x)) + y to m",
    );
    let given = inputs(&c, 3, 0);
    let expected = evaluate(&c, &given).unwrap();
    let (plan, owners) = plan_of(&c, 1).unwrap();
    for ot in [Protocol::SoftSpoken2, Protocol::SoftSpoken4, Protocol::FerretB10] {
        let made = sessions(ot, |i, mut party, channel| {
            let mut run = || party.run(channel, &plan, own(&c, &given, &owners, i), &mut |_, _| true);
            let first = run().expect("an honest run");
            assert_eq!(first, run().expect("an honest run"));
            first
        });
        for (i, made) in made.iter().enumerate() {
            let due = c.outputs().iter().zip(&plan.outputs).filter(|(_, of)| of.to[i]);
            assert_eq!(made.len(), due.clone().count());
            due.zip(made).for_each(|((output, _), made)| assert_eq!(*made, expected[&output.name], "{ot}"));
        }
    }
}

/// In a run, both parties send, besides OTs, as much as the plan declares. The meter covers a run
/// whose OTs are known.
#[test]
fn the_meter_reads_what_is_declared() {
    let c = text(
        "input x: u32[64] from m\ninput y: u32[64] from m\noutput a = x + y to m\noutput b = x - y to m",
    );
    let (plan, owners) = plan_of(&c, 1).unwrap();
    let given = inputs(&c, 3, 0);
    let readings: [MeterReading; 2] = sessions(Protocol::SoftSpoken4, |i, mut party, channel| {
        let meter = Meter::new();
        channel.tap(meter.tap());
        party.run(channel, &plan, own(&c, &given, &owners, i), &mut |_, _| true).expect("an honest run");
        meter.reading()
    });
    assert_eq!(plan.tally(Distance::Near).cots, [0; 2]);
    for (i, reading) in readings.iter().enumerate() {
        assert_eq!(plan.tally(Distance::Near).cost(i).bytes_sent, reading.bytes_sent());
    }
}

/// One factor for each channel, private to one party. OTs for the factor's bits serve the whole
/// channel, in either order of the product.
#[test]
fn channels_by_a_factor_each() {
    for product in ["x * broadcast(w, [2, 3, 4, 5])", "broadcast(w, [2, 3, 4, 5]) * x"] {
        let c = text(&format!(
            "input x: i32[2, 3, 4, 5] from m\ninput w: i32[1, 3, 1, 1] from m\noutput y = wrapping({product}) to m"
        ));
        let plan = Plan::new(&c, &[0, 1], &[[false, true]]).unwrap();
        assert_eq!(plan.tally(Distance::Near).cots, [2 * 3 * 32, 0], "{product}");
        let given = inputs(&c, 3, 0);
        let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
            party.run(channel, &plan, own(&c, &given, &[0, 1], i), &mut |_, _| true).expect("an honest run")
        });
        assert_eq!(made[1], [evaluate(&c, &given).unwrap()["y"].clone()]);
    }
}

#[test]
fn what_ends_a_run() {
    let [c, other] = ["x < 5", "x < 6"].map(|e| text(&format!("input x: u8[3] from m\noutput y = {e} to m")));
    let plans = [&c, &other].map(|c| Plan::new(c, &[0], &[[true; 2]]).unwrap());
    let given = inputs(&c, 1, 0);
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        let wrong = party.run(channel, &plans[0], vec![], &mut |_, _| true);
        if i == 0 {
            assert!(matches!(wrong, Err(TwoError::Inputs { found: 0, expected: 1 })));
            let wrong = vec![Tensor::zeros(hushwire_compute::Scalar::Bool, &[3])];
            let wrong = party.run(channel, &plans[0], wrong, &mut |_, _| true);
            assert!(matches!(wrong, Err(TwoError::Input { place: 0 })));
        }
        let mine = own(&c, &given, &[0], i);
        if i == 1 {
            return [wrong, party.run(channel, &plans[0], mine, &mut |_, _| true)];
        }
        let first = party.run(channel, &plans[1], mine.clone(), &mut |_, _| true);
        [first, party.run(channel, &plans[0], mine, &mut |_, _| true)]
    });
    let [[first, second], [_, lost]] = made;
    let named = |e: &TwoError| matches!(e, TwoError::Mismatch { peer: Some(_) } | TwoError::Net(_));
    assert!(first.is_err_and(|e| named(&e)));
    assert!(matches!(second, Err(TwoError::Lost)));
    assert!(lost.is_err());
}

/// Parties that are far from each other take fewer rounds to the same result. A party that assumes
/// another distance gets an error.
#[test]
fn distance_counts_rounds() {
    let c = text("input x: i32[20000] from m\noutput y = max(x, 0) to m");
    let plan = Plan::new(&c, &[0], &[[true; 2]]).unwrap();
    let [near, far] = [Distance::Near, Distance::Far].map(|distance| plan.tally(distance));
    assert!(far.rounds < near.rounds && far.cots == near.cots, "{near:?} {far:?}");
    assert_eq!(Distance::of(Duration::from_millis(1)), Distance::Far);
    let given = inputs(&c, 3, 0);
    let expected = &evaluate(&c, &given).unwrap()["y"];
    let run = |distances: [Distance; 2]| {
        sessions(Protocol::SoftSpoken2, |i, party, channel| {
            let mut party = party.distance(distances[i]);
            party.run(channel, &plan, own(&c, &given, &[0], i), &mut |_, _| true)
        })
    };
    for made in run([Distance::Far; 2]) {
        assert_eq!(made.expect("an honest run")[0], *expected);
    }
    assert!(run([Distance::Far, Distance::Near]).iter().all(Result::is_err));
}

/// If a party leaves in the middle of a layer, with OTs made ahead at both, the other ends with a
/// network error.
#[test]
fn a_party_that_leaves_ends_the_other() {
    let c = text("input x: i32[60000] from m\noutput y = max(x, 0) / 3 to m");
    let plan = Plan::new(&c, &[0], &[[true; 2]]).unwrap();
    let given = inputs(&c, 3, 0);
    for ot in [Protocol::SoftSpoken4, Protocol::FerretB10] {
        for leaves in [0, 1] {
            let made = sessions(ot, |i, mut party, channel| {
                let mut rounds = 0;
                let mut go_on = |_: usize, _: usize| {
                    rounds += 1;
                    i != leaves || rounds < 2
                };
                party.run(channel, &plan, own(&c, &given, &[0], i), &mut go_on).err()
            });
            assert!(matches!(made[leaves], Some(TwoError::Cancelled)), "{ot}: {made:?}");
            let of_net = |e: &TwoError| matches!(e, TwoError::Net(_) | TwoError::Ot(OtError::Net(_)));
            assert!(made[1 - leaves].as_ref().is_some_and(of_net), "{ot}: {made:?}");
        }
    }
}

/// If one party does not want OTs made ahead, both make them in turn. The number and lengths of
/// messages are the same either way.
#[test]
fn ots_are_made_ahead_or_in_turn() {
    let c = text("input x: i32[40000] from m\noutput y = max(x, 0) / 3 to m");
    let plan = Plan::new(&c, &[0], &[[true; 2]]).unwrap();
    let given = inputs(&c, 3, 0);
    let expected = &evaluate(&c, &given).unwrap()["y"];
    let mut readings = vec![];
    for ahead in [[true; 2], [false, true], [false; 2]] {
        let made = sessions(Protocol::FerretB10, |i, party, channel| {
            let meter = Meter::new();
            channel.tap(meter.tap());
            let mut party = party.metered(&meter).ahead(ahead[i]);
            let made = party.run(channel, &plan, own(&c, &given, &[0], i), &mut |_, _| true);
            (
                made.expect("an honest run"),
                meter.reading(),
                party.spent().iter().map(|(k, s)| (*k, s.cost)).collect::<Vec<_>>(),
            )
        });
        assert!(made.iter().all(|(made, ..)| made[0] == *expected), "{ahead:?}");
        readings.push(made.map(|(_, reading, spent)| (reading, spent)));
    }
    assert!(readings.iter().all(|reading| *reading == readings[0]));
}

#[test]
fn a_run_that_is_cancelled_ends_between_rounds() {
    let c = text("input x: u8[3] from m\noutput y = x / 3 to m");
    let (plan, owners) = plan_of(&c, 1).unwrap();
    let given = inputs(&c, 1, 0);
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        party.run(channel, &plan, own(&c, &given, &owners, i), &mut |done, all| done == all)
    });
    assert!(made.into_iter().all(|made| matches!(made, Err(TwoError::Cancelled))));
}

#[test]
fn a_small_network_is_exact() {
    let c = model();
    let given = inputs(&c, 11, 0);
    let expected = evaluate(&c, &given).unwrap();
    let plan = Plan::new(&c, &[0, 1], &[[true; 2]; 2]).unwrap();
    let made = two(&plan, [0, 1].map(|i| own(&c, &given, &[0, 1], i))).unwrap();
    for (output, made) in c.outputs().iter().zip(made) {
        assert_eq!(made, expected[&output.name]);
    }
}

#[test]
fn operations_on_shares() {
    let (ring, rows) = (37, 9000);
    let x = random(&mut prg("x"), rows, ring - 2);
    let y = random(&mut prg("y"), rows, ring - 2);
    let (xs, ys) = (shared(&mut prg("a"), &x, ring), shared(&mut prg("b"), &y, ring));
    let operations = [
        Operation::Relu,
        Operation::Truncate { by: 12, sign: Sign::Short },
        Operation::Max,
        Operation::Multiply,
        Operation::TruncateBelow { by: 12, sign: Sign::Positive },
    ];
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        operations.map(|operation| {
            let columns = [&xs[i][..], &ys[i][..]];
            party.apply(channel, &operation, ring, &columns[..operation.columns()]).expect("honest")
        })
    });
    for (k, operation) in operations.iter().enumerate() {
        for i in 0..rows {
            let made = made[0][k][i].wrapping_add(made[1][k][i]) & mask(ring);
            let expected = match operation {
                Operation::Relu => x[i],
                Operation::Max => x[i].max(y[i]),
                Operation::Multiply => x[i].wrapping_mul(y[i]) & mask(ring),
                _ => x[i] >> 12,
            };
            let error =
                if k == 4 { expected.wrapping_sub(made) & mask(ring) } else { u64::from(expected != made) };
            assert!(error == 0 || k == 4 && error == 1, "{operation:?}: {made} for {expected}");
        }
    }
}

/// Layers under encryption, with either party's weights, have the results of those by OT and of
/// those in the open. Keys are used a second time.
#[test]
fn layers_under_encryption() {
    let conv = Conv { channels: 3, image: [6, 5], outputs: 4, kernel: [3, 2], strides: [1, 1] };
    let linear = Linear::new(conv, 32, 1 << 12, 1000).unwrap();
    let x = random(&mut prg("x"), 3 * 30, 32);
    let weights: Vec<i64> = random(&mut prg("w"), 4 * 18, 13).iter().map(|w| *w as i64 - 4096).collect();
    let words: Vec<u64> = weights.iter().map(|w| *w as u64).collect();
    let xs = shared(&mut prg("a"), &x, 32);
    for evaluator in [0, 1] {
        let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
            let own: &[i64] = if i == evaluator { &weights } else { &[] };
            let meter = Meter::new();
            channel.tap(meter.tap());
            let first = party.convolve(channel, &linear, evaluator, own, &xs[i]).expect("honest");
            let once = meter.reading().bytes_sent();
            let second = party.convolve(channel, &linear, evaluator, own, &xs[i]).expect("honest");
            let again = meter.reading().bytes_sent() - once;
            let key = if i == evaluator { 0 } else { once - again };
            assert!(again > 0 && (key > 0) == (i != evaluator), "the key goes once");
            [first, second]
        });
        let plain = linear.plain(Backend::best(), &x, &words, 1);
        for k in 0..2 {
            for (i, expected) in plain.iter().enumerate() {
                assert_eq!(made[0][k][i].wrapping_add(made[1][k][i]) & mask(32), expected & mask(32));
            }
        }
        assert!(made[0][0] != made[0][1], "masks are fresh");
    }
}

#[test]
fn a_greater_weight_is_refused() {
    let linear = Linear::new(Conv::matrix(1, 2), 16, 5, 1).unwrap();
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        let own: &[i64] = if i == 0 { &[5, -6] } else { &[] };
        let first = party.convolve(channel, &linear, 0, own, &[1, 2]);
        (first.err(), if i == 0 { party.apply(channel, &Operation::Relu, 8, &[&[1]]).err() } else { None })
    });
    assert!(made[0].0.as_ref().is_some_and(|e| e.to_string().contains("greater than 5")));
    assert!(matches!(made[0].1, Some(TwoError::Lost)));
    assert!(made[1].0.is_some());
}

/// The noise of a session is flooded for a fixed number of results. A layer that would open one
/// more is refused before its first message, and the session ends.
#[test]
fn results_beyond_those_that_flooding_hides_are_refused() {
    let linear = Linear::new(Conv::matrix(1, 1), 16, 5, COEFFICIENTS).unwrap();
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        let meter = Meter::new();
        channel.tap(meter.tap());
        let own: &[i64] = if i == 0 { &[5] } else { &[] };
        party.convolve(channel, &linear, 0, own, &[1]).expect("the first result");
        let before = meter.reading().bytes_sent();
        let all = COEFFICIENTS as usize;
        let rest = Linear::batch(Conv::matrix(1, 1), all, 16, 5, COEFFICIENTS).expect("it fits");
        let refused = party.convolve(channel, &rest, 0, own, &[]);
        assert!(
            matches!(refused, Err(TwoError::TooMany { found }) if found == COEFFICIENTS + 1),
            "{refused:?}"
        );
        assert_eq!(meter.reading().bytes_sent(), before, "nothing of it was said");
        party.convolve(channel, &linear, 0, own, &[1])
    });
    assert!(made.into_iter().all(|again| matches!(again, Err(TwoError::Lost))));
}
