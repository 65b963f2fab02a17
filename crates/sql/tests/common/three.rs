//! Queries among three parties in one process.

use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};
use hushwire_sql::test_support::World;
use hushwire_tables::{Query, algebra::Relation, plain::Row};
use hushwire_testkit::{Transport, party, run_three};
use hushwire_three::{
    Cut, Plan, run,
    test_support::{opened, shared},
};
use std::time::Duration;

/// The rows of a query whose tables nobody of the three sees.
pub fn rows(world: &World, plan: &Relation) -> Vec<Row> {
    let query = Query::new("query", plan, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
    let computation = query.computation();
    let inputs = world.inputs(&query, plan).unwrap_or_else(|e| panic!("{e}"));
    let plan = Plan::new(computation).unwrap_or_else(|e| panic!("{e}"));
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = computation.inputs().zip(plan.inputs());
    let shares: Vec<_> = doors.map(|((name, _), door)| shared(&mut prg, &inputs[name], *door)).collect();
    let cut = Cut::new(1, Duration::ZERO);
    let made = run_three(Transport::Inproc, cut.lanes() as u16, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let lanes = (0..cut.lanes() as u16).map(|lane| {
            let ring = net.channel(lane, left, right).expect("a ring");
            [ring, net.channel(lane, right, left).expect("the way back")]
        });
        let lanes = lanes.collect();
        let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
        let mut party = party(1, role, Backend::best());
        run(&mut party, lanes, &plan, cut, inputs, &mut |_, _| true).unwrap_or_else(|e| panic!("{e}"))
    });
    let outputs = computation.outputs().iter().zip(plan.outputs()).enumerate().map(|(k, (output, door))| {
        let shares = [0, 1, 2].map(|p| &made[p][k]);
        (output.name.clone(), opened(shares, door, &computation.node(output.value).ty))
    });
    query.rows(&outputs.collect()).unwrap_or_else(|e| panic!("{e}"))
}
