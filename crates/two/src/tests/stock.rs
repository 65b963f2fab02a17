//! OTs made between two runs: the runs that use them, and that no OT is used twice.

use super::{
    random::{plan_of, text},
    session::{own, sessions},
};
use crate::{Distance, Tally};
use hushwire_compute::{evaluate, test_support::inputs};
use hushwire_ot::Protocol;

/// `ALL` is enough for any of these runs, and `SOME` for a part of one.
const ALL: usize = usize::MAX;
const SOME: usize = 1 << 17;

/// Runs with a full stock, with a partial one, and without one, in any order. The session's
/// registry ends a party that uses an OT, or a tweak of its pads, twice.
#[test]
fn runs_with_a_stock_compute_the_same_and_use_no_ot_twice() {
    let c = text(
        "input x: i32[3000] from m\ninput y: i32[3000] from m\nz = max(wrapping(x * y), 0) / 5\n\
         output a = select(x < y, z, x) to m",
    );
    let given = inputs(&c, 3, 0);
    let expected = &evaluate(&c, &given).unwrap()["a"];
    let (plan, owners) = plan_of(&c, 1).unwrap();
    let all: usize = plan.lots(Distance::Near).flatten().map(|tally: Tally| tally.ots()).sum();
    assert!(all > SOME, "{all} OTs are few");
    for (ot, all_ahead) in [(Protocol::SoftSpoken4, &[false, true][..]), (Protocol::FerretB10, &[true])] {
        for ahead in all_ahead.iter().copied() {
            let made = sessions(ot, |i, party, channel| {
                let mut party = party.ahead(ahead);
                let mut learnt = vec![];
                for most in [ALL, SOME, 0] {
                    let stocked = party.stock(&plan, most).expect("an honest peer");
                    assert!(stocked <= most && (most == ALL) == (stocked == all), "{stocked} of {most}");
                    // OTs in stock are not made again.
                    assert_eq!(party.stock(&plan, most).expect("an honest peer"), stocked);
                    let mine = own(&c, &given, &owners, i);
                    learnt.extend(party.run(channel, &plan, mine, &mut |_, _| true).expect("an honest run"));
                }
                learnt
            });
            let learnt: Vec<_> = made.into_iter().flatten().collect();
            assert!(learnt.len() >= 3 && learnt.iter().all(|value| value == expected), "{ot} {ahead}");
        }
    }
}

/// A run of another plan drops the OTs that were made for the first.
#[test]
fn a_stock_is_for_one_plan() {
    let plans = ["max(x, 0)", "max(x, 0) / 3"].map(|of| {
        let c = text(&format!("input x: i32[2000] from m\noutput y = {of} to m"));
        let (plan, owners) = plan_of(&c, 1).unwrap();
        let given = inputs(&c, 3, 0);
        let expected = evaluate(&c, &given).unwrap()["y"].clone();
        (c, plan, owners, given, expected)
    });
    let made = sessions(Protocol::SoftSpoken2, |i, party, channel| {
        let mut party = party.ahead(false);
        let mut learnt = vec![];
        for (stocked, runs) in [(0, 1), (1, 1), (1, 0), (0, 0)] {
            party.stock(&plans[stocked].1, ALL).expect("an honest peer");
            let (c, plan, owners, given, _) = &plans[runs];
            let mine = own(c, given, owners, i);
            learnt.push(party.run(channel, plan, mine, &mut |_, _| true).expect("an honest run"));
        }
        learnt
    });
    for of_party in made {
        for (learnt, k) in of_party.iter().zip([1, 1, 0, 0]) {
            assert!(learnt.iter().all(|value| *value == plans[k].4));
        }
    }
}
