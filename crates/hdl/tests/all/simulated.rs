//! Simulated hardware, if it has been built, compared with software: both give the same shares.

use crate::common::{Case, Party};
use hushwire_hdl::{Device, ENV, PROGRAM};
use hushwire_rep3::Shares;
use hushwire_testkit::lockstep;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// The path `target/hdl/party-sim`, two directories above this test's program, or `party-sim` in
/// the folder that the environment variable names.
fn program() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.ancestors().nth(3)?.join("hdl")));
    let folder = std::env::var_os(ENV).map(PathBuf::from).or(beside)?;
    let program = folder.join(PROGRAM);
    let there = program.is_file();
    if !there {
        // The message goes around the test harness, which hides the output of a test that passes.
        let _ = writeln!(io::stderr(), "NOT RUN: there is no {}; run hdl/setup", program.display());
    }
    there.then_some(program)
}

/// Runs batch `b` with party 1 on a device, in the context `context`.
fn run(case: &Case, device: Option<&Device>, context: usize, b: u32) -> [Shares; 3] {
    let party = |i: usize| match device.filter(|_| i == 1) {
        Some(device) => Party::Hard(case.hard(i, device, context, b).unwrap_or_else(|e| panic!("{e}"))),
        None => Party::Soft(Box::new(case.soft(i, b))),
    };
    lockstep([party(0), party(1), party(2)]).map(Party::output)
}

#[test]
fn it_holds_the_shares_that_software_holds() {
    let Some(program) = program() else { return };
    for (name, common) in [("less:32", true), ("mul:8", false)] {
        let device = Device::start(&program).unwrap_or_else(|e| panic!("{e}"));
        let case = Case::new(name, common, device.hello().instances());
        case.load(1, &device).unwrap_or_else(|e| panic!("{e}"));
        for (b, context) in [(0, 0), (1, 3), (2, 0)] {
            let (hard, soft) = (run(&case, Some(&device), context, b), run(&case, None, context, b));
            for (i, (found, wanted)) in hard.iter().zip(&soft).enumerate() {
                assert!(found.own == wanted.own && found.next == wanted.next, "{name}: batch {b}, party {i}");
            }
        }
        let statistics = device.statistics().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(statistics.ands, 3 * case.code.ands() as u64, "{name}");
        assert!(statistics.cycles > statistics.ands, "{name}: {statistics:?}");
    }
}
