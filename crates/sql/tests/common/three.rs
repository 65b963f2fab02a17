//! Queries among three parties in one process.

use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::Mover;
use hushwire_sql::test_support::World;
use hushwire_tables::{Query, algebra::Relation, plain::Row};
use hushwire_testkit::{party, run_shards};
use hushwire_three::{
    Cut, Plan, run_sharded,
    test_support::{opened_on_shards, shared_on_shards},
};
use std::time::Duration;

/// The rows of a query among three parties with this many shards each. No party sees the tables.
pub fn rows(world: &World, plan: &Relation, shards: usize) -> Vec<Row> {
    let query = Query::new("query", plan, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
    let computation = query.computation();
    let inputs = world.inputs(&query, plan).unwrap_or_else(|e| panic!("{e}"));
    let plan = Plan::new(computation).unwrap_or_else(|e| panic!("{e}"));
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = computation.inputs().zip(plan.inputs());
    let shares: Vec<_> =
        doors.map(|((name, _), door)| shared_on_shards(&mut prg, &inputs[name], *door, shards)).collect();
    let cut = Cut::new(1, Duration::ZERO);
    let plainly = |_, mover| -> Box<dyn Mover> { Box::new(mover) };
    let made = run_shards(cut.lanes() as u16, shards, plainly, |role, mut net, mut mover| {
        let shard = mover.shard();
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let lanes = (0..cut.lanes() as u16).map(|lane| {
            let ring = net.channel(lane, left, right).expect("a ring");
            [ring, net.channel(lane, right, left).expect("the way back")]
        });
        let lanes = lanes.collect();
        let inputs = shares.iter().map(|all| all[shard][role.index()].clone()).collect();
        let mut party = party(1 + shard as u64, role, Backend::best());
        run_sharded(&mut party, lanes, &plan, cut, &mut *mover, inputs, &mut |_, _| true)
            .unwrap_or_else(|e| panic!("{e}"))
    });
    let outputs = computation.outputs().iter().zip(plan.outputs()).enumerate().map(|(k, (output, door))| {
        let shares: Vec<_> = made.iter().map(|of| of.each_ref().map(|party| &party[k])).collect();
        (output.name.clone(), opened_on_shards(&shares, door, &computation.node(output.value).ty))
    });
    query.rows(&outputs.collect()).unwrap_or_else(|e| panic!("{e}"))
}
