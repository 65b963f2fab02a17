//! Jobs of n parties of whom all but one may be corrupt, over real links, each party a thread, judged by the plain evaluator.

use crate::common::{World, check};
use hushwire_job::{InputPlace, Member};

fn among(n: usize) -> String {
    format!("protocol = \"authgarble\"\nparties = {n}")
}

#[test]
fn any_party_brings_and_learns() {
    let (all, two) = (["party0", "party1", "party2", "party3", "party4"], ["party0", "party1"]);
    check(&among(2), "add:13", 30, &two, &[&two], "batch = 16\nthreads = 2");
    check(&among(3), "less:32", 9, &["party2", "party1"], &[&["party0", "party2"]], "");
    check(&among(5), "mux:5", 7, &["party4", "party1", "party3"], &[&all], "threads = 1");
    // Nobody learns anything, and one owner of everything.
    check(&among(3), "add:4", 3, &["party1", "party1"], &[&[]], "");
}

/// Three parties are those that there are without a word, and the command line's name is that of a file.
#[test]
fn the_number_of_parties() {
    let all = ["party0", "party1", "party2"];
    check("protocol = \"authgarble\"", "add:4", 1, &["party0", "party2"], &[&all], "");
    check("protocol = \"authgarble:4\"", "add:4", 1, &["party0", "party3"], &[&all], "");
    check("protocol = \"authgarble:4\"\nparties = 2", "add:4", 1, &["party0", "party1"], &[&["party1"]], "");
}

#[test]
fn another_number_of_parties_is_another_job() {
    let two = ["party0", "party1"];
    let world = |protocol: &str| World::under(protocol, "add:4", 1, &two, &[&two], "");
    let (ours, theirs) = (world(&among(2)).plan.agreement(), world(&among(3)).plan.agreement());
    assert!(ours.differences(&theirs.tags())[0].starts_with("protocol (ours: authgarble:2, ot softspoken4"));
    assert_eq!(theirs.members(), [0, 1, 2].map(Member::Party));
    let shown = world(&among(2)).run(|_, member, config| {
        let digits = if member.key() == "party0" { ("0", "e") } else { ("1", "3") };
        config.inputs.insert(digits.0.into(), InputPlace::Hex(digits.1.to_owned().into()));
    });
    for (member, outcome) in &shown {
        let outcome = outcome.as_ref().unwrap_or_else(|e| panic!("{member}: {e}"));
        assert_eq!(outcome.learnt.digits, [(0, "11".to_owned())], "{member}");
    }
}
