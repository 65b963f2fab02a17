//! Cheating parties: each test changes a message of a party in some phase, and shows that a check
//! catches it. Together the tests change every message of every phase and make every check fire.
//!
//! A message that is changed on its way models a sender that cheats towards one receiver. Such a
//! sender continues with zeros where its own honest code would abort, so that the tampering must be
//! detected by another party. An honest party may obtain a result only if the proof permits the
//! change: a row that is never decrypted can be changed, and the outputs stay right.

mod keys;

use crate::{
    AuthError, Check, Form, Garbled, Need, Roles, Script, Setup, Stock, Task, bucket,
    garble::RoleState,
    rig::{World, context, run, seed, setups, stocks, threads},
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Builder, Planes, Program, named};
use hushwire_machine::drive::{Exchanged, Lockstep, Machine, Place, Round, Wiring};
use hushwire_ot::{OtError, Protocol};
use hushwire_prg::Prg;
use std::collections::{BTreeMap, BTreeSet};

/// The ways in which a message is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    First,
    Middle,
    Last,
    /// Cuts the last byte off.
    Short,
    Long,
    /// Replaces the message by zeros.
    Nothing,
    /// Replaces the message by the previous one of the same length between the same two parties.
    Replay,
    /// Replaces the message by the one for the next party.
    Swap,
}

const LIES: [Lie; 8] =
    [Lie::First, Lie::Middle, Lie::Last, Lie::Short, Lie::Long, Lie::Nothing, Lie::Replay, Lie::Swap];

/// Tampers with one message. It records the messages that pass, so that it can replay or swap them.
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
                // Changes more than the padding of packed bits.
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

/// The end of a run with a tampered message.
enum TamperedEnd<T> {
    /// Every honest party obtained a result; the cheating party may have lost its own.
    Done(Vec<Option<T>>),
    /// The error of an honest party, and the parties that had finished the phase by then. Only the
    /// results of the last phase are outputs.
    Failed(AuthError, Vec<usize>),
}

/// The rounds of each slot of a party, from the first to the last. The agreed parameters determine
/// their sizes.
type Schedule = Vec<Vec<Round>>;

/// A party in a run with a tampered message. The cheating party ignores its own errors, and sends
/// zeros after the first.
struct Actor<'a, S> {
    script: S,
    liar: Option<&'a Schedule>,
    at: usize,
    lost: bool,
}

impl<S> Actor<'_, S> {
    fn goes_on<E>(&mut self, result: Result<(), E>) -> Result<(), E> {
        if result.is_err() && self.liar.is_some() {
            self.lost = true;
            return Ok(());
        }
        result
    }
}

impl<S: Machine> Machine for Actor<'_, S> {
    type Error = S::Error;
    fn slots(&self) -> usize {
        self.script.slots()
    }
    fn round(&self, slot: usize) -> Option<Round> {
        match (self.lost, self.liar) {
            (true, Some(schedule)) => schedule.get(self.at).map(|slots| slots[slot]),
            _ => self.script.round(slot),
        }
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), S::Error> {
        let wrote = if self.lost { Ok(()) } else { self.script.write(slot, out) };
        self.goes_on(wrote)?;
        if self.lost {
            out.fill(0);
        }
        Ok(())
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), S::Error> {
        let read = if self.lost { Ok(()) } else { self.script.read(messages) };
        self.at += 1;
        self.goes_on(read)
    }
}

fn lied<T>(scripts: Vec<Script<'_, T>>, liar: &mut Liar, schedules: &[Schedule]) -> TamperedEnd<T> {
    edited(scripts, liar.at.party, schedules, |place, message| liar.edit(place, message))
}

/// Runs the scripts; `edit` may change the messages of party `who`.
fn edited<T>(
    scripts: Vec<Script<'_, T>>,
    who: usize,
    schedules: &[Schedule],
    edit: impl FnMut(Place, &mut Vec<u8>),
) -> TamperedEnd<T> {
    let actor = |(party, script)| {
        let liar = (party == who).then(|| &schedules[party]);
        Actor { script, liar, at: 0, lost: false }
    };
    let mut actors: Vec<_> = scripts.into_iter().enumerate().map(actor).collect();
    match Lockstep::wired(Wiring::Mesh).run_edited(&mut actors, edit) {
        Ok(()) => {
            TamperedEnd::Done(actors.into_iter().map(|a| (!a.lost).then(|| a.script.finish())).collect())
        }
        Err(e) => {
            let done = |party: &usize| *party != who && actors[*party].script.result().is_some();
            TamperedEnd::Failed(e, (0..actors.len()).filter(done).collect())
        }
    }
}

/// The nonempty messages of an honest run, each with the name of its step, and the rounds of all
/// parties.
fn messages<T>(scripts: Vec<Script<'_, T>>) -> (Vec<(Place, &'static str)>, Vec<Schedule>) {
    let mut all = vec![];
    let mut scripts: Vec<_> = scripts.into_iter().map(|script| Watched { script, rounds: vec![] }).collect();
    Lockstep::wired(Wiring::Mesh)
        .run_edited(&mut scripts, |place, message| {
            if !message.is_empty() {
                all.push(place);
            }
        })
        .expect("honest parties");
    let schedules: Vec<Schedule> = scripts.into_iter().map(|script| script.rounds).collect();
    let named = all.into_iter().map(|place| (place, schedules[0][place.round][0].name));
    (named.collect(), schedules)
}

/// A script that records its rounds.
struct Watched<S> {
    script: S,
    rounds: Schedule,
}

impl<S: Machine> Machine for Watched<S> {
    type Error = S::Error;
    fn slots(&self) -> usize {
        self.script.slots()
    }
    fn round(&self, slot: usize) -> Option<Round> {
        self.script.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), S::Error> {
        if slot == 0 {
            self.rounds.push((0..self.slots()).filter_map(|slot| self.script.round(slot)).collect());
        }
        self.script.write(slot, out)
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), S::Error> {
        self.script.read(messages)
    }
}

/// Counts the checks that fired at honest parties, the changes that passed without a wrong output,
/// and the changes that only the cheating party's own code noticed in a phase whose state it needs
/// later.
#[derive(Default)]
struct Seen {
    checks: BTreeMap<String, usize>,
    passed: BTreeMap<&'static str, usize>,
    alone: BTreeMap<&'static str, usize>,
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

/// An error, and the first party that reports it.
struct Noticed {
    by: Option<usize>,
    error: AuthError,
}

/// Runs the scripts of all parties to their end, all with the honest code.
fn ran<T>(mut scripts: Vec<Script<'_, T>>) -> Result<Vec<T>, Noticed> {
    match Lockstep::wired(Wiring::Mesh).run(&mut scripts) {
        Ok(()) => Ok(scripts.into_iter().map(Script::finish).collect()),
        Err(error) => Err(Noticed { by: scripts.iter().position(Script::is_lost), error }),
    }
}

/// A small computation in which every party learns the output: the product of two 6-bit numbers.
struct Scene {
    world: World,
}

impl Scene {
    fn new(n: usize, form: Form) -> Scene {
        let program = named::program("mul:6").expect("it has a name");
        let mut prg = Prg::new(Backend::best(), &seed(9, n), "scene");
        let mut world = World::new(&mut prg, &program, n, 3, form);
        // Every party learns the product. Two parties bring the factors.
        world = world.with_roles(&program, vec![n - 1, 0], vec![vec![true; n]]);
        Scene { world }
    }

    fn stocks(&self, setups: Vec<Setup>) -> Vec<Stock> {
        let need = self.world.task.need();
        run(setups.into_iter().map(|s| s.preprocess(need)).collect()).expect("honest parties")
    }

    fn garbled(&self, mut stocks: Vec<Stock>) -> Result<Vec<Garbled>, Noticed> {
        ran(stocks.iter_mut().map(|stock| stock.garble(&self.world.task)).collect())
    }

    fn online(&self, garbled: Vec<Garbled>) -> Vec<Script<'static, Planes>> {
        garbled.into_iter().zip(&self.world.inputs).map(|(g, inputs)| g.evaluate(inputs)).collect()
    }

    /// Continues honestly from stocks. The outputs are right, or there are none.
    fn after_stocks(&self, stocks: Vec<Stock>) -> Result<(), Noticed> {
        self.after_garbling(self.garbled(stocks)?)
    }

    fn after_garbling(&self, garbled: Vec<Garbled>) -> Result<(), Noticed> {
        let outputs = ran(self.online(garbled))?;
        assert!(outputs == self.world.outputs, "a lie made outputs wrong");
        Ok(())
    }

    /// Records how tampering in a phase before the online phase ended; `go_on` is the rest of the
    /// run.
    fn before<T>(
        step: &'static str,
        liar: &Liar,
        end: TamperedEnd<T>,
        seen: &mut Seen,
        go_on: impl FnOnce(Vec<T>) -> Result<(), Noticed>,
    ) {
        if !liar.told {
            return;
        }
        let after = match end {
            TamperedEnd::Failed(e, _) => return seen.caught(&e),
            // `None` if the cheating party's own code has no state to continue with.
            TamperedEnd::Done(results) => results.into_iter().collect::<Option<Vec<T>>>().map(go_on),
        };
        match after {
            Some(Ok(())) => *seen.passed.entry(step).or_default() += 1,
            Some(Err(Noticed { by, error })) if by != Some(liar.at.party) => seen.caught(&error),
            _ => *seen.alone.entry(step).or_default() += 1,
        }
    }

    /// Records how tampering in the online phase ended, where the outputs of honest parties are
    /// final.
    fn last(&self, step: &'static str, liar: &Liar, end: TamperedEnd<Planes>, seen: &mut Seen) {
        if !liar.told {
            return;
        }
        match end {
            TamperedEnd::Failed(e, results) => {
                seen.caught(&e);
                // The last message only reports success, so that a party that has received it from
                // all others has its outputs.
                let none = step == "verdict" || results.is_empty();
                assert!(none, "{step}: {:?} at {:?}: outputs at {results:?}", liar.lie, liar.at);
            }
            TamperedEnd::Done(results) => {
                for (party, (found, right)) in results.iter().zip(&self.world.outputs).enumerate() {
                    let well = found.as_ref().is_none_or(|found| found == right);
                    assert!(well, "{step}: {:?} at {:?}: wrong outputs at {party}", liar.lie, liar.at);
                }
                *seen.passed.entry(step).or_default() += 1;
            }
        }
    }
}

/// Selects changes of messages: all of them, or one for a message of every round, with senders in
/// turn.
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
    (0..n)
        .map(|me| Setup::open(&context(77), [me, n], threads(me), Protocol::SoftSpoken4, &seed(77, me)))
        .collect()
}

fn suite(n: usize, form: Form, whole: bool, seen: &mut Seen) {
    let scene = Scene::new(n, form);
    let need = scene.world.task.need();
    let begin = |setups: Vec<Setup>| -> Vec<Script<'static, Stock>> {
        setups.into_iter().map(|s| s.preprocess(need)).collect()
    };
    let (all, schedules) = messages(setup_scripts(n));
    for (at, lie, step) in lies(&all, whole) {
        let mut liar = Liar::new(at, lie);
        let end = lied(setup_scripts(n), &mut liar, &schedules);
        Scene::before(step, &liar, end, seen, |setups| scene.after_stocks(ran(begin(setups))?));
    }
    let (all, schedules) = messages(begin(setups(77, n)));
    for (at, lie, step) in lies(&all, whole) {
        let mut liar = Liar::new(at, lie);
        let end = lied(begin(setups(77, n)), &mut liar, &schedules);
        Scene::before(step, &liar, end, seen, |stocks| scene.after_stocks(stocks));
    }
    let stocks = scene.stocks(setups(77, n));
    let task = &scene.world.task;
    let (all, schedules) = messages(stocks.clone().iter_mut().map(|s| s.garble(task)).collect());
    for (at, lie, step) in lies(&all, true) {
        let (mut liar, mut stocks) = (Liar::new(at, lie), stocks.clone());
        let end = lied(stocks.iter_mut().map(|stock| stock.garble(task)).collect(), &mut liar, &schedules);
        Scene::before(step, &liar, end, seen, |garbled| scene.after_garbling(garbled));
    }
    let garbled = scene.garbled(stocks).map_err(|noticed| noticed.error).expect("honest parties");
    let (all, schedules) = messages(scene.online(garbled.clone()));
    for (at, lie, step) in lies(&all, true) {
        let mut liar = Liar::new(at, lie);
        let end = lied(scene.online(garbled.clone()), &mut liar, &schedules);
        scene.last(step, &liar, end, seen);
    }
}

/// Steps in which some changes have no effect: rows that are never decrypted, coefficients of a Λ
/// that is 0, an x that is 0 in a leaky AND, and choices of OTs that only fill up a call. Bit 0 of
/// garbler 1's labels of inputs is set to Λ, whatever is sent.
const MAY_PASS: [&str; 4] = ["garbled tables", "leaky ANDs", "OT extension", "labels of inputs"];

/// Steps in which some changes are noticed only by the cheating party's own code, which a cheating
/// party would skip: tables that give other labels and the same Λ. The values that the evaluator
/// derives from a garbler's labels are compared with MACs
/// ([`garblers_that_garble_another_function_are_caught`]).
const MAY_BE_ALONE: [&str; 1] = ["garbled tables"];

/// Every changed message causes an abort at its receiver or at a later check. The steps of
/// [`MAY_PASS`] and [`MAY_BE_ALONE`] are the only exceptions.
fn all_checks(whole: bool) {
    let mut seen = Seen::default();
    suite(2, Form::HalfGates, whole, &mut seen);
    suite(3, Form::Rows, whole, &mut seen);
    suite(3, Form::HalfGates, whole, &mut seen);
    two_keys(&mut seen);
    println!(
        "{} lies were caught: {:?}; passed: {:?}; the liar alone noticed: {:?}",
        seen.caught, seen.checks, seen.passed, seen.alone
    );
    let fired: BTreeSet<&str> = seen.checks.keys().map(String::as_str).collect();
    for check in Check::ALL {
        assert!(fired.contains(&*format!("{check:?}")), "{check:?} has not fired: {:?}", seen.checks);
    }
    assert!(seen.passed.keys().all(|step| MAY_PASS.contains(step)), "{:?}", seen.passed);
    assert!(seen.alone.keys().all(|step| MAY_BE_ALONE.contains(step)), "{:?}", seen.alone);
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

/// A party that uses another Δ towards one peer is caught.
fn two_keys(seen: &mut Seen) {
    for liar in 0..3 {
        let twist = |me| if me == liar { Block::from_u128(1 << 77) } else { Block::ZERO };
        let open = |me| {
            Setup::opening(
                &context(78),
                [me, 3],
                threads(me),
                Protocol::SoftSpoken4,
                &seed(78, me),
                twist(me),
            )
        };
        let ran = run((0..3).map(open).collect());
        match ran {
            Err(e @ AuthError::Abort { check: Check::Delta, .. }) => seen.caught(&e),
            Err(e) => panic!("another check: {e}"),
            Ok(_) => panic!("two keys passed for one"),
        }
    }
}

/// Garbles a chain of `ands` ANDs among `n` parties. Each AND combines the last result with y of
/// party 0, and x of party 1 is added to its product. All parties learn the last result.
fn chain(n: usize, ands: usize) -> (World, Vec<Garbled>) {
    let mut builder = Builder::new();
    let (x, y) = (builder.input(1)[0], builder.input(1)[0]);
    let mut last = x;
    for _ in 0..ands {
        let next = builder.and(last, y);
        last = builder.xor(next, x);
    }
    let program = Program::flat("chain", &builder.finish(&[vec![last]]));
    let mut prg = Prg::new(Backend::best(), &seed(10, 2), "chain");
    let world = World::new(&mut prg, &program, n, 1, Form::HalfGates);
    let world = world.with_roles(&program, vec![1, 0], vec![vec![true; n]]);
    let mut stocks = stocks(77 + n as u8, n, world.task.need());
    let garbled = run(stocks.iter_mut().map(|stock| stock.garble(&world.task)).collect());
    (world, garbled.expect("honest parties"))
}

/// The online scripts of parties that hold these circuits.
fn online(world: &World, garbled: Vec<Garbled>) -> Vec<Script<'static, Planes>> {
    garbled.into_iter().zip(&world.inputs).map(|(g, inputs)| g.evaluate(inputs)).collect()
}

/// An evaluator sends a wrong Λ of one AND, which the next AND reads, to one garbler or to all. The
/// MACs of such a garbler would be over λ of that AND's other operand, and the evaluator knows
/// everything else about them. A garbler that receives the wrong Λ must abort before it sends
/// anything.
#[test]
fn a_garbler_answers_no_wrong_masked_and() {
    for (n, told) in [(2, 1..2), (3, 1..2), (3, 2..3), (3, 1..3)] {
        for wrong in 0..4 {
            let (world, garbled) = chain(n, 4);
            let mut scripts = online(&world, garbled);
            let (mut lied, mut answers) = (0, 0);
            let ran = Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, |place, message| {
                // The message holds Λ of four ANDs, the seed and the hash.
                if place.party == 0 && message.len() == 1 + 16 + 32 && told.contains(&(place.slot + 1)) {
                    message[0] ^= 1 << wrong;
                    lied += 1;
                } else if lied > 0 && told.contains(&place.party) {
                    answers += message.len();
                }
            });
            let aborted = matches!(ran, Err(AuthError::Abort { check: Check::AndLabels, .. }));
            assert!(lied == told.len() && aborted, "AND {wrong} to {told:?}: {ran:?}");
            // All parties share one thread, so that the first abort ends the run.
            assert!(scripts[told.start].is_lost());
            assert_eq!(answers, 0, "AND {wrong} to {told:?}: a garbler said something");
        }
    }
}

/// Flips garbler 1's bit of an AND in the evaluator's tables. The evaluator's Λ is then wrong,
/// while all labels belong to the right Λ.
fn flip_bit(evaluator: &mut Garbled, and: usize) {
    let m = evaluator.n - 1;
    let RoleState::Evaluator(tables) = &mut evaluator.side else { panic!("party 0 evaluates") };
    tables.of[0][16 * (3 * m * and + 2)] ^= 1;
}

/// Makes a garbler accept the labels of the wrong Λ of an AND whose bit was flipped.
fn forget_right_label(garbler: &mut Garbled, and: usize) {
    let flipped = Block::from_u128(u128::from(garbler.me == 1));
    let delta = garbler.delta;
    let RoleState::Garbler(labels) = &mut garbler.side else { panic!("it garbles") };
    labels.ands[and] ^= delta ^ flipped;
}

/// Garblers flip the Λ of the AND that is the output, and skip their own checks. The evaluator's
/// check of their MACs catches them, both a single garbler and all of them together.
#[test]
fn garblers_that_garble_another_function_are_caught() {
    for n in [2, 3] {
        let (world, mut garbled) = chain(n, 1);
        assert!(ran(online(&world, garbled.clone())).is_ok_and(|outputs| outputs == world.outputs));
        (1..n).for_each(|garbler| forget_right_label(&mut garbled[garbler], 0));
        flip_bit(&mut garbled[0], 0);
        let mut scripts = online(&world, garbled);
        let ran = Lockstep::wired(Wiring::Mesh).run(&mut scripts);
        assert!(matches!(ran, Err(AuthError::Abort { check: Check::Ands, .. })), "{n} parties: {ran:?}");
        assert!(scripts[0].is_lost() && scripts[0].result().is_none());
    }
}

/// The evaluator's tables give a wrong Λ of one wire. Every garbler that follows the protocol
/// detects it, because its labels are those of the right Λ.
#[test]
fn labels_of_an_honest_garbler_are_those_of_right_ands() {
    for honest in [1, 2] {
        let (world, mut garbled) = chain(3, 4);
        forget_right_label(&mut garbled[3 - honest], 1);
        flip_bit(&mut garbled[0], 1);
        let mut scripts = online(&world, garbled);
        let ran = Lockstep::wired(Wiring::Mesh).run(&mut scripts);
        assert!(matches!(ran, Err(AuthError::Abort { check: Check::AndLabels, .. })), "{honest}: {ran:?}");
        assert!(scripts.iter().all(|script| script.result().is_none()));
    }
}

/// The number of runs of an attack for each of two inputs.
const RUNS: usize = 160;

/// Attacks the two ANDs of an adder, [`RUNS`] times with inputs of all zeros and [`RUNS`] times
/// with all ones. Party 0 brings the inputs and learns the sum. `attack` changes messages of the
/// function-dependent phase. Returns the number of runs for which `seen` holds, for each input.
fn repeated(
    form: Form,
    attack: impl Fn(Place, &mut Vec<u8>),
    seen: impl Fn(Result<(), AuthError>, &[u8]) -> bool,
) -> [usize; 2] {
    let program = named::program("add:2").expect("it has a name");
    assert!(program.ands() == 2, "two bits are added with two ANDs");
    [0u8, 0xff].map(|input| {
        let learns = vec![vec![true, false, false]; program.outputs().len()];
        let task = Task::new(&program, Roles::new(&program, 3, vec![0, 0], learns), 1, form);
        let need = task.need();
        let all = Need { triples: RUNS as u64 * need.triples, masks: RUNS as u64 * need.masks };
        let mut stocks = stocks(80 + 2 * form as u8 + (input & 1), 3, all);
        let mut inputs = [Planes::zeros(4, 1), Planes::zeros(0, 1), Planes::zeros(0, 1)];
        inputs[0].fill(input & 1);
        let run = |_: &usize| {
            let mut scripts: Vec<_> = stocks.iter_mut().map(|stock| stock.garble(&task)).collect();
            Lockstep::wired(Wiring::Mesh)
                .run_edited(&mut scripts, |place, message| attack(place, message))
                .expect("nothing is read yet");
            let garbled: Vec<_> = scripts.into_iter().map(Script::finish).collect();
            let mut scripts: Vec<_> = garbled.into_iter().zip(&inputs).map(|(g, i)| g.evaluate(i)).collect();
            // The masked ANDs that the evaluator sends to garbler 1, if it sends any.
            let mut said = vec![];
            let ran = Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, |place, message| {
                if place.party == 0 && place.slot == 0 && message.len() == 1 + 16 + 32 {
                    said.push(message[0]);
                }
            });
            seen(ran, &said)
        };
        (0..RUNS).filter(run).count()
    })
}

/// Changes a block of a garbler's first table.
fn spoil(form: Form, garbler: usize, block: usize) -> impl Fn(Place, &mut Vec<u8>) {
    move |place, message| {
        if place.party == garbler && place.slot == 0 && message.len() == form.table_bytes([garbler, 3], 2) {
            message[16 * block + 5] ^= 0x10;
        }
    }
}

/// A garbler that spoils row (0, 0) of an AND causes an abort if the evaluator decrypts that row,
/// in one of four runs. A garbler that spoils a coefficient of Λ causes one if that Λ is 1, in one
/// of two runs, for its own label and for another garbler's. Neither rate depends on the inputs.
#[test]
fn aborts_tell_nothing_of_inputs() {
    let rows = repeated(Form::Rows, spoil(Form::Rows, 1, 0), |ran, _| match ran {
        Ok(()) => false,
        Err(AuthError::Abort { check: Check::Rows, .. }) => true,
        Err(e) => panic!("another check: {e}"),
    });
    // The expectation is 40 for each input, with a standard deviation of 5.5.
    assert!(rows.iter().all(|n| (18..=62).contains(n)), "{rows:?}");
    // The coefficients for garbler 1's label precede those for garbler 2's; garbler 1 spoils both.
    for block in [0, 1, 2, 3] {
        let halves = repeated(Form::HalfGates, spoil(Form::HalfGates, 1, block), |ran, _| match ran {
            Ok(()) => false,
            Err(AuthError::Abort { check: Check::AndLabels, .. }) => true,
            Err(e) => panic!("another check: {e}"),
        });
        // The expectation is 80 for each input, with a standard deviation of 6.3.
        assert!(halves.iter().all(|n| (55..=105).contains(n)), "block {block}: {halves:?}");
    }
}

/// A garbler that sends a wrong bit of the first AND makes the evaluator continue with a wrong Λ,
/// on which the Λ that it sends for the second AND depends. That Λ is 1 equally often for both
/// inputs, and no party obtains a result.
#[test]
fn what_is_said_before_the_check_tells_nothing_of_inputs() {
    let form = Form::HalfGates;
    let flip = |place: Place, message: &mut Vec<u8>| {
        if place.party == 1 && place.slot == 0 && message.len() == form.table_bytes([1, 3], 2) {
            *message.last_mut().expect("bits") ^= 1;
        }
    };
    let ones = repeated(form, flip, |ran, said| {
        let aborted = matches!(ran, Err(AuthError::Abort { check: Check::AndLabels, .. }));
        assert!(aborted && said.len() == 1, "{ran:?}");
        said[0] & 2 == 2
    });
    assert!(ones.iter().all(|n| (55..=105).contains(n)), "{ones:?}");
}

/// A party that spoils its messages for leaky ANDs is caught with probability 1/2 for each AND.
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
    // The expectation is 20, with a standard deviation of 3.2.
    assert!((6..=34).contains(&caught), "{caught} of 40");
    assert!(
        (140..146)
            .all(|world| matches!(guess(world, 40), Err(AuthError::Abort { check: Check::LeakyAnds, .. })))
    );
}
