//! Cheating parties: every message of every party is changed in every phase, and every check is seen to fire.
//!
//! A change of a message on its way is a sender that lies to one receiver. No changed run may end with a result at an honest party,
//! but where the change is one that the proof lets pass: a row that is never decrypted, which leaves the outputs right.

use crate::{
    AuthError, Check, Form, Garbled, Need, Roles, Script, Setup, Stock, Task, bucket,
    rig::{World, context, run, seed, setups, stocks},
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Planes, named};
use hushwire_ot::{OtError, Protocol};
use hushwire_prg::Prg;
use hushwire_wire::drive::{Exchanged, Lockstep, Machine, Place, Round, Wiring};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

/// The ways in which a message is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    First,
    Middle,
    Last,
    /// Cut short by a byte.
    Short,
    Long,
    /// All zeros.
    Nothing,
    /// The last message of the same length from this party to this one.
    Replay,
    /// The message that is for the next party.
    Swap,
}

const LIES: [Lie; 8] =
    [Lie::First, Lie::Middle, Lie::Last, Lie::Short, Lie::Long, Lie::Nothing, Lie::Replay, Lie::Swap];

/// A lie at one place. It remembers what passes by, to replay and to swap.
struct Liar {
    at: Place,
    lie: Lie,
    old: BTreeMap<(usize, usize), Vec<u8>>,
    /// Whether anything was changed.
    told: bool,
}

impl Liar {
    fn new(at: Place, lie: Lie) -> Liar {
        Liar { at, lie, old: BTreeMap::new(), told: false }
    }

    fn edit(&mut self, place: Place, message: &mut Vec<u8>) {
        let honest = message.clone();
        if place == self.at && !message.is_empty() {
            let len = message.len();
            match self.lie {
                Lie::First => message[0] ^= 1,
                Lie::Middle => message[len / 2] ^= 1,
                // Not the padding of packed bits alone.
                Lie::Last => message[len - 1] ^= 1,
                Lie::Short => drop(message.pop()),
                Lie::Long => message.push(0),
                Lie::Nothing => message.fill(0),
                Lie::Replay => {
                    if let Some(old) = self.old.get(&(place.slot, len)) {
                        message.clone_from(old);
                    }
                }
                Lie::Swap => {
                    if let Some(old) = self.old.get(&(usize::MAX, len)) {
                        message.clone_from(old);
                    }
                }
            }
            self.told = *message != honest;
        }
        if place.party == self.at.party {
            self.old.insert((place.slot, honest.len()), honest.clone());
            if place.slot + 1 == self.at.slot {
                self.old.insert((usize::MAX, honest.len()), honest);
            }
        }
    }
}

/// The end of a run with a lie.
enum End<T> {
    Done(Vec<T>),
    /// The error, and who was done with the phase by then: only the last one's results are outputs.
    Failed(AuthError, Vec<usize>),
}

fn lied<T>(mut scripts: Vec<Script<'_, T>>, liar: &mut Liar) -> End<T> {
    let ran = Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, |place, m| liar.edit(place, m));
    match ran {
        Ok(()) => End::Done(scripts.into_iter().map(Script::finish).collect()),
        Err(e) => {
            let results = (0..scripts.len()).filter(|i| scripts[*i].result().is_some()).collect();
            End::Failed(e, results)
        }
    }
}

/// The messages of an honest run that are not empty, each with its step's name.
fn messages<T>(scripts: Vec<Script<'_, T>>) -> Vec<(Place, &'static str)> {
    let (mut all, names) = (vec![], RefCell::new(vec![]));
    let mut scripts: Vec<_> = scripts.into_iter().map(|script| Watched { script, names: &names }).collect();
    Lockstep::wired(Wiring::Mesh)
        .run_edited(&mut scripts, |place, message| {
            if !message.is_empty() {
                all.push(place);
            }
        })
        .expect("honest parties");
    let names = names.borrow();
    // Every party names every round once.
    let of = |round| names[round * scripts.len()];
    all.into_iter().map(|place| (place, of(place.round))).collect()
}

/// A script that writes down the names of its rounds.
struct Watched<'a, S> {
    script: S,
    names: &'a RefCell<Vec<&'static str>>,
}

impl<S: Machine> Machine for Watched<'_, S> {
    type Error = S::Error;
    fn slots(&self) -> usize {
        self.script.slots()
    }
    fn round(&self, slot: usize) -> Option<Round> {
        self.script.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), S::Error> {
        if slot == 0 {
            self.names.borrow_mut().extend(self.script.round(0).map(|round| round.name));
        }
        self.script.write(slot, out)
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), S::Error> {
        self.script.read(messages)
    }
}

/// The checks that fired, and lies that passed without a wrong output.
#[derive(Default)]
struct Seen {
    checks: BTreeMap<String, usize>,
    passed: BTreeMap<&'static str, usize>,
    caught: usize,
}

impl Seen {
    fn caught(&mut self, e: &AuthError) {
        self.caught += 1;
        let name = match e {
            AuthError::Abort { check, .. } => format!("{check:?}"),
            AuthError::Ot(OtError::Abort { check, .. }) => format!("ot {check:?}"),
            AuthError::Ot(OtError::Malformed { .. }) => "ot malformed".into(),
            AuthError::Malformed { .. } => "malformed".into(),
            AuthError::Mismatch { .. } => "mismatch".into(),
            AuthError::Misstep(_) => "length".into(),
            e => panic!("an error of no check: {e}"),
        };
        *self.checks.entry(name).or_default() += 1;
    }
}

/// A small computation in which every party brings an input and learns an output: 16 bits summed and multiplied.
struct Scene {
    world: World,
}

impl Scene {
    fn new(n: usize, form: Form) -> Scene {
        let program = named::program("mul:6").expect("it has a name");
        let mut prg = Prg::new(Backend::best(), &seed(9, n), "scene");
        let mut world = World::new(&mut prg, &program, n, 3, form);
        // Everybody learns the product, and two bring the factors.
        world = world.with_roles(&program, vec![n - 1, 0], vec![vec![true; n]]);
        Scene { world }
    }

    fn stocks(&self, setups: Vec<Setup>) -> Vec<Stock> {
        let need = self.world.task.need();
        run(setups.into_iter().map(|s| s.preprocess(need)).collect()).expect("honest parties")
    }

    fn garbled(&self, mut stocks: Vec<Stock>) -> Result<Vec<Garbled>, AuthError> {
        run(stocks.iter_mut().map(|stock| stock.garble(&self.world.task)).collect())
    }

    /// Goes on honestly from stocks: the outputs are right, or there are none.
    fn after_stocks(&self, stocks: Vec<Stock>) -> Result<(), AuthError> {
        self.after_garbling(self.garbled(stocks)?)
    }

    fn after_garbling(&self, garbled: Vec<Garbled>) -> Result<(), AuthError> {
        let outputs = self.world.evaluate(garbled)?;
        assert!(outputs == self.world.outputs, "a lie made outputs wrong");
        Ok(())
    }

    fn check<T>(
        &self,
        step: &'static str,
        liar: &Liar,
        end: End<T>,
        seen: &mut Seen,
        outputs: bool,
        go_on: impl FnOnce(Vec<T>) -> Result<(), AuthError>,
    ) {
        if !liar.told {
            return;
        }
        match end {
            End::Failed(e, results) => {
                seen.caught(&e);
                let none = !outputs || results.is_empty();
                assert!(none, "{step}: {:?} at {:?}: outputs at {results:?}", liar.lie, liar.at);
            }
            End::Done(results) => match go_on(results) {
                Err(e) => seen.caught(&e),
                Ok(()) => *seen.passed.entry(step).or_default() += 1,
            },
        }
    }
}

/// Lies about messages: all of them, or one for a message of every round, which comes from each party in turn.
fn lies(all: &[(Place, &'static str)], whole: bool) -> Vec<(Place, Lie, &'static str)> {
    let mut out = vec![];
    let slots = 1 + all.iter().map(|(place, _)| place.slot).max().unwrap_or(0);
    for (k, (place, name)) in all.iter().enumerate() {
        for (l, lie) in LIES.into_iter().enumerate() {
            let some = (place.party * slots + place.slot + place.round).is_multiple_of(slots * (slots + 1));
            if whole || some && (k + place.round) % LIES.len() == l {
                out.push((*place, lie, *name));
            }
        }
    }
    out
}

fn setup_scripts(n: usize) -> Vec<Script<'static, Setup>> {
    (0..n).map(|me| Setup::open(&context(77), me, n, Protocol::SoftSpoken4, &seed(77, me))).collect()
}

fn suite(n: usize, form: Form, whole: bool, seen: &mut Seen) {
    let scene = Scene::new(n, form);
    let need = scene.world.task.need();
    let begin = |setups: Vec<Setup>| -> Vec<Script<'static, Stock>> {
        setups.into_iter().map(|s| s.preprocess(need)).collect()
    };
    for (at, lie, step) in lies(&messages(setup_scripts(n)), whole) {
        let mut liar = Liar::new(at, lie);
        let end = lied(setup_scripts(n), &mut liar);
        scene.check(step, &liar, end, seen, false, |setups| scene.after_stocks(run(begin(setups))?));
    }
    for (at, lie, step) in lies(&messages(begin(setups(77, n))), whole) {
        let mut liar = Liar::new(at, lie);
        let end = lied(begin(setups(77, n)), &mut liar);
        scene.check(step, &liar, end, seen, false, |stocks| scene.after_stocks(stocks));
    }
    let stocks = scene.stocks(setups(77, n));
    let task = &scene.world.task;
    for (at, lie, step) in lies(&messages(stocks.clone().iter_mut().map(|s| s.garble(task)).collect()), true)
    {
        let (mut liar, mut stocks) = (Liar::new(at, lie), stocks.clone());
        let end = lied(stocks.iter_mut().map(|stock| stock.garble(task)).collect(), &mut liar);
        scene.check(step, &liar, end, seen, false, |garbled| scene.after_garbling(garbled));
    }
    let garbled = scene.garbled(stocks).expect("honest parties");
    let online = |garbled: Vec<Garbled>| -> Vec<Script<'static, Planes>> {
        garbled.into_iter().zip(&scene.world.inputs).map(|(g, inputs)| g.evaluate(inputs)).collect()
    };
    for (at, lie, step) in lies(&messages(online(garbled.clone())), true) {
        let mut liar = Liar::new(at, lie);
        let end = lied(online(garbled.clone()), &mut liar);
        // The last word says nothing but that all is well: who has heard it from all others has its outputs.
        scene.check(step, &liar, end, seen, step != "verdict", |outputs| {
            assert!(outputs == scene.world.outputs, "a lie made outputs wrong");
            Ok(())
        });
    }
}

/// Steps of which some lies change nothing: rows that nobody decrypts, an x that is 0 in a leaky AND, choices of OTs that are made
/// to fill up a call, Λ of an AND that no other AND reads.
const MAY_PASS: [&str; 4] = ["garbled tables", "leaky ANDs", "OT extension", "masked ANDs"];

/// Every lie ends the run at whoever is lied to or at a later check; only what is said about rows that nobody decrypts passes.
fn all_checks(whole: bool) {
    let mut seen = Seen::default();
    suite(2, Form::HalfGates, whole, &mut seen);
    suite(3, Form::Rows, whole, &mut seen);
    two_keys(&mut seen);
    println!("{} lies were caught: {:?}; passed: {:?}", seen.caught, seen.checks, seen.passed);
    let fired: BTreeSet<&str> = seen.checks.keys().map(String::as_str).collect();
    for check in Check::ALL {
        assert!(fired.contains(&*format!("{check:?}")), "{check:?} has not fired: {:?}", seen.checks);
    }
    assert!(seen.passed.keys().all(|step| MAY_PASS.contains(step)), "{:?}", seen.passed);
}

#[test]
fn every_lie_is_caught_and_every_check_fires() {
    all_checks(false);
}

#[test]
#[ignore = "minutes: every lie about every message"]
fn every_lie_about_every_message() {
    all_checks(true);
}

/// A party with another Δ towards one peer.
fn two_keys(seen: &mut Seen) {
    for liar in 0..3 {
        let twist = |me| if me == liar { Block::from_u128(1 << 77) } else { Block::ZERO };
        let open = |me| Setup::opening(&context(78), me, 3, Protocol::SoftSpoken4, &seed(78, me), twist(me));
        let ran = run((0..3).map(open).collect());
        match ran {
            Err(e @ AuthError::Abort { check: Check::Delta, .. }) => seen.caught(&e),
            Err(e) => panic!("another check: {e}"),
            Ok(_) => panic!("two keys passed for one"),
        }
    }
}

/// A garbler that spoils row (0, 0) of an AND ends the run when the evaluator comes to that row: one time in four, whatever the inputs
/// are.
#[test]
fn aborts_tell_nothing_of_inputs() {
    const RUNS: usize = 160;
    let program = named::program("add:2").expect("it has a name");
    let mut aborts = [0usize; 2];
    for (input, aborts) in [0u8, 0xff].into_iter().zip(&mut aborts) {
        let roles =
            Roles::new(&program, 3, vec![0, 0], vec![vec![true, false, false]; program.outputs().len()]);
        let task = Task::new(&program, roles, 1, Form::Rows);
        let need = task.need();
        let all = Need { triples: RUNS as u64 * need.triples, masks: RUNS as u64 * need.masks };
        let mut stocks = stocks(80 + (input & 1), 3, all);
        let mut inputs = [Planes::zeros(4, 1), Planes::zeros(0, 1), Planes::zeros(0, 1)];
        inputs[0].fill(input & 1);
        for _ in 0..RUNS {
            let scripts: Vec<_> = stocks.iter_mut().map(|stock| stock.garble(&task)).collect();
            let mut scripts = scripts;
            // Garbler 1's first row of its first table: the block with the MAC for the evaluator.
            let spoil = |place: Place, message: &mut Vec<u8>| {
                if place.party == 1 && place.slot == 0 && message.len() == task.form.table_bytes(3, 2) {
                    message[5] ^= 0x10;
                }
            };
            assert!(program.ands() == 2, "two bits are added with two ANDs");
            Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, spoil).expect("nothing is read yet");
            let garbled: Vec<_> = scripts.into_iter().map(Script::finish).collect();
            let ran = run(garbled.into_iter().zip(&inputs).map(|(g, i)| g.evaluate(i)).collect());
            match ran {
                Ok(_) => {}
                Err(AuthError::Abort { check: Check::Rows, .. }) => *aborts += 1,
                Err(e) => panic!("another check: {e}"),
            }
        }
    }
    // 40 of each are due, with a deviation of 5.5.
    assert!(aborts.iter().all(|n| (18..=62).contains(n)), "{aborts:?}");
}

/// A party that spoils what it sends for leaky ANDs is caught with probability 1/2 for each.
#[test]
fn each_guess_about_a_leaky_and_is_caught_half_the_time() {
    let need = Need { triples: 1, masks: 0 };
    let guess = |world: u8, guesses: usize| {
        let mut scripts: Vec<_> = setups(world, 2).into_iter().map(|s| s.preprocess(need)).collect();
        let len = 16 * bucket::LEAST * bucket::size(bucket::LEAST);
        Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, |place, message| {
            if place.party == 0 && message.len() == len {
                (0..guesses).for_each(|k| message[16 * k + 9] ^= 4);
            }
        })
    };
    let caught = (100..140).filter(|world| guess(*world, 1).is_err()).count();
    // 20 are due, with a deviation of 3.2.
    assert!((6..=34).contains(&caught), "{caught} of 40");
    assert!(
        (140..146)
            .all(|world| matches!(guess(world, 40), Err(AuthError::Abort { check: Check::LeakyAnds, .. })))
    );
}
