//! Shards that are lost in the middle of each operator. All shards of all parties end with a cause,
//! and a second try in new sessions gives the rows. No mask is used twice, within a try or across
//! tries.

use super::{three::operators, *};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_compute::Computation;
use hushwire_machine::{NetError, SessionId};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Mover, Rep3Error, Rep3Party, Role, Shares};
use hushwire_testkit::{LostMover, run_shards_again};
use hushwire_three::{
    Cut, Plan, ThreeError, run_sharded,
    test_support::{opened_on_shards, shared_on_shards},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const SHARDS: usize = 3;
/// The party that loses shards.
const LOSER: Role = Role::ALL[1];

/// The part of a run that is lost in the middle of it.
#[derive(Clone, Copy, Debug)]
enum Lost {
    /// One shard, after this many exchanges with the party's other shards.
    Shard(u64),
    /// All shards of the party at once, as when they share a host that fails.
    Host(u64),
    /// One shard's session with the other parties, after this many steps.
    Session(u64),
    Nothing,
}

type Made = Result<Vec<Shares>, ThreeError>;

/// The runs of an operator, which share one registry of key uses.
struct Tries<'c> {
    computation: &'c Computation,
    plan: Plan,
    inputs: &'c BTreeMap<String, Tensor>,
    tries: u8,
}

impl Tries<'_> {
    /// A try in new sessions. Returns the results by shard, then by party, and the numbers of
    /// exchanges and steps of a shard of the party that may lose it.
    fn run(&mut self, lost: Lost) -> (Vec<[Made; 3]>, [u64; 2]) {
        let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
        let doors = self.computation.inputs().zip(self.plan.inputs());
        let shares: Vec<_> = doors
            .map(|((name, _), door)| shared_on_shards(&mut prg, &self.inputs[name], *door, SHARDS))
            .collect();
        let (count, steps) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
        let mover = |role: Role, mover: hushwire_rep3::MemoryMover| -> Box<dyn Mover> {
            let is_one = mover.shard() == 1;
            let left = match lost {
                Lost::Shard(left) if role == LOSER && is_one => left,
                Lost::Host(left) if role == LOSER => left,
                _ => u64::MAX,
            };
            let counted = if role == LOSER && is_one { count.clone() } else { Arc::default() };
            Box::new(LostMover::after(left, mover, counted))
        };
        self.tries += 1;
        let (plan, tried) = (&self.plan, self.tries);
        let made = run_shards_again(1, SHARDS, mover, |role, mut net, mut mover| {
            let shard = mover.shard();
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            let ring = net.channel(0, left, right).unwrap();
            let mut back = net.channel(0, right, left).unwrap();
            // A fresh id and fresh seeds, as in a real session.
            let mut id = [0; 16];
            [id[0], id[1]] = [tried, shard as u8];
            let party = Rep3Party::open(role, Backend::best(), SessionId(id), Seed::random(), &mut back);
            let mut party = party.map_err(ThreeError::Net)?;
            let inputs = shares.iter().map(|all| all[shard][role.index()].clone()).collect();
            let mut go_on = |done: usize, whole: usize| {
                steps.fetch_max(whole as u64, Ordering::Relaxed);
                match lost {
                    Lost::Session(most) => role != LOSER || shard != 1 || (done as u64) < most,
                    _ => true,
                }
            };
            run_sharded(&mut party, vec![[ring, back]], plan, Cut::whole(), &mut *mover, inputs, &mut go_on)
        });
        (made, [count.load(Ordering::Relaxed), steps.load(Ordering::Relaxed)])
    }

    /// The outputs of a try that ended well everywhere.
    fn outputs(&self, made: Vec<[Made; 3]>) -> BTreeMap<String, Tensor> {
        let made: Vec<[Vec<Shares>; 3]> =
            made.into_iter().map(|of| of.map(|made| made.unwrap_or_else(|e| panic!("{e}")))).collect();
        let outputs = self.computation.outputs().iter().zip(self.plan.outputs()).enumerate();
        let tensor = |(k, (output, door)): (usize, (&hushwire_compute::Output, _))| {
            let shares: Vec<_> = made.iter().map(|of| of.each_ref().map(|party| &party[k])).collect();
            let ty = &self.computation.node(output.value).ty;
            (output.name.clone(), opened_on_shards(&shares, door, ty))
        };
        outputs.map(tensor).collect()
    }

    /// A try that loses something must end all shards that still need it, each with a cause. Then a
    /// try that loses nothing must succeed.
    fn lose(&mut self, lost: Lost, expected: &BTreeMap<String, Tensor>, about: &str) {
        let (made, _) = self.run(lost);
        assert!(made.iter().flatten().any(Result::is_err), "{lost:?}: nothing was lost: {about}");
        for (shard, of) in made.iter().enumerate() {
            for (party, made) in of.iter().enumerate() {
                let named = match made {
                    // The shard was done before, and needed nothing more.
                    Ok(_) | Err(ThreeError::Cancelled) => true,
                    Err(ThreeError::Net(e) | ThreeError::Rep3(Rep3Error::Net(e))) => {
                        matches!(e, NetError::Shard { .. }) || e.peer().is_some()
                    }
                    Err(_) => false,
                };
                let error = made.as_ref().err();
                assert!(named, "{lost:?}: shard {shard} of party {party}: {error:?}: {about}");
            }
        }
        let (made, _) = self.run(Lost::Nothing);
        assert_eq!(self.outputs(made), *expected, "after {lost:?}: {about}");
    }
}

/// Rows of the tables of [`operators`].
fn data() -> Data {
    let x = |n: i128| if n % 4 == 3 { Value::Null } else { Value::Number(n % 3 - 1) };
    let row = |n: i128| vec![Value::Number(n), x(n)];
    let rows = |all: &[i128]| vec![all.iter().map(|n| row(*n)).collect::<Vec<_>>()];
    let parts = [("l", rows(&[5, 2, 2, 7, 0, 3, 5, 4, 1])), ("r", rows(&[1, 5, 9, 0, 6]))];
    Data { parts: parts.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect() }
}

/// Loses shards, hosts and sessions in `stages` stages of each operator: filters, groups, distinct
/// rows, limits, sorts, windows, joins of every kind and sets, with the shuffles and compactions in
/// them.
fn lose_in_each_stage(stages: u64) {
    let (data, mut stage) = (data(), 0);
    for relation in operators() {
        let query = Query::new("q", &relation, &["analyst"]).unwrap();
        let (computation, inputs) = (query.computation(), data.inputs(&query));
        let expected = evaluate(computation, &inputs).unwrap();
        let about = query.explain(None);
        let plan = Plan::new(computation).unwrap();
        let _record = registry::watch();
        let mut tries = Tries { computation, plan, inputs: &inputs, tries: 0 };
        let (made, [exchanges, steps]) = tries.run(Lost::Nothing);
        assert_eq!(tries.outputs(made), expected, "{about}");
        assert!(exchanges > 0, "{about}");
        for k in 0..stages.min(exchanges) {
            // Each operator loses another part at each stage.
            stage += 1;
            let at = |of: u64| (k * of + stage % of) / stages.min(exchanges).max(1);
            let lost = match stage % 3 {
                0 => Lost::Session(at(steps)),
                1 => Lost::Shard(at(exchanges).min(exchanges - 1)),
                _ => Lost::Host(at(exchanges).min(exchanges - 1)),
            };
            tries.lose(lost, &expected, &about);
        }
    }
}

#[test]
fn a_loss_in_a_stage_of_an_operator_ends_all_and_a_second_try_is_right() {
    lose_in_each_stage(1);
}

#[test]
#[ignore = "minutes: scripts/test --full"]
fn a_loss_in_each_stage_of_each_operator_ends_all_and_a_second_try_is_right() {
    lose_in_each_stage(60);
}

/// The registry of key uses finds a second try with the seeds of the first.
#[test]
#[should_panic(expected = "the shard ends")]
fn a_try_with_the_seeds_of_another_is_found() {
    let relation = operators().swap_remove(6);
    let query = Query::new("q", &relation, &["analyst"]).unwrap();
    let inputs = data().inputs(&query);
    let plan = Plan::new(query.computation()).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = query.computation().inputs().zip(plan.inputs());
    let shares: Vec<_> =
        doors.map(|((name, _), door)| shared_on_shards(&mut prg, &inputs[name], *door, 2)).collect();
    let _record = registry::watch();
    for _ in 0..2 {
        let plainly = |_, mover| -> Box<dyn Mover> { Box::new(mover) };
        drop(run_shards_again(1, 2, plainly, |role, mut net, mut mover| {
            let shard = mover.shard();
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            let lane = [net.channel(0, left, right).unwrap(), net.channel(0, right, left).unwrap()];
            let mut party = hushwire_testkit::party(1 + shard as u64, role, Backend::best());
            let inputs = shares.iter().map(|all| all[shard][role.index()].clone()).collect();
            run_sharded(&mut party, vec![lane], &plan, Cut::whole(), &mut *mover, inputs, &mut |_, _| true)
        }));
    }
}
