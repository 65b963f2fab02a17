//! Tests of a session's randomness and gate numbers, from inside.

use super::*;
use crate::{
    Evaluate, Family, Format, Garble, GateBackend, SessionNonce, Transfer, half::HalfGates, prf::PrfOnly,
    three_halves::ThreeHalves,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_circuit::{Planes, Slot, named};
use hushwire_machine::{PartyId, Tap, Transcript, inproc};
use hushwire_ot::Sid;
use std::{
    cell::RefCell,
    marker::PhantomData,
    ops::Range,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// The arguments with which endpoints were made, and the numbers of their gates call by call.
#[derive(Clone, Default)]
struct Log {
    made: Vec<(Block, Option<[u8; 16]>, Option<Block>)>,
    calls: Vec<Range<u64>>,
}

thread_local!(static LOG: RefCell<Log> = RefCell::default());

fn log(note: impl FnOnce(&mut Log)) {
    LOG.with_borrow_mut(note);
}

/// A family whose endpoints record their calls, each in its thread's log.
struct Watched<F>(PhantomData<F>);

impl<F: Family> Family for Watched<F> {
    type Garbler = Noted<F::Garbler>;
    type Evaluator = Noted<F::Evaluator>;
}

struct Noted<E>(E);

impl<E: GateBackend> Noted<E> {
    fn noted<T>(&mut self, call: impl FnOnce(&mut E) -> T) -> T {
        let from = self.0.gates();
        let result = call(&mut self.0);
        log(|log| log.calls.push(from..self.0.gates()));
        result
    }
}

impl<E: GateBackend> GateBackend for Noted<E> {
    type Wire = E::Wire;
    type Bytes<'t> = E::Bytes<'t>;
    const ROLE: Role = E::ROLE;
    const FORMAT: Format = E::FORMAT;

    fn constants(&self) -> [E::Wire; 2] {
        self.0.constants()
    }

    fn ands(
        &mut self,
        wires: &[E::Wire],
        pairs: &[[Slot; 2]],
        out: &mut [E::Wire],
        bytes: E::Bytes<'_>,
        bits: E::Bytes<'_>,
    ) {
        self.noted(|end| end.ands(wires, pairs, out, bytes, bits));
    }

    fn xors(&mut self, wires: &mut [E::Wire], strip: usize, gates: &[[Slot; 3]], tables: E::Bytes<'_>) {
        self.noted(|end| end.xors(wires, strip, gates, tables));
    }

    fn gates(&self) -> u64 {
        self.0.gates()
    }
}

impl<E: Garble> Garble for Noted<E> {
    type Transfer = E::Transfer;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        log(|log| log.made.push((public.0, Some(*seed.expose()), delta)));
        Noted(E::new(backend, scheme, public, seed, delta))
    }

    fn theirs(&mut self, sent: <E::Transfer as Transfer>::Sent) -> E::Wire {
        self.0.theirs(sent)
    }

    fn own(&mut self, active: Block, bit: u8) -> E::Wire {
        self.0.own(active, bit)
    }

    fn permute_bit(&self, wire: E::Wire) -> u8 {
        self.0.permute_bit(wire)
    }
}

impl<E: Evaluate> Evaluate for Noted<E> {
    type Transfer = E::Transfer;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        log(|log| log.made.push((public.0, None, None)));
        Noted(E::new(backend, scheme, public))
    }

    fn label(&self, label: Block) -> E::Wire {
        self.0.label(label)
    }

    fn own(&self, received: Block, choice: u8) -> E::Wire {
        self.0.own(received, choice)
    }

    fn signal(&self, wire: E::Wire) -> u8 {
        self.0.signal(wire)
    }
}

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

/// Whether the message was sent, and its bytes.
type Message = (bool, Vec<u8>);

/// The observations at one party.
struct Seen {
    log: Log,
    /// The number of gates in [`Log::calls`] after each run.
    after: Vec<u64>,
    outputs: Vec<Vec<u8>>,
    /// Hashes of both directions.
    links: [Option<[u8; 32]>; 2],
    /// The messages of the set-up.
    opening: Vec<Message>,
}

/// The messages, in their order.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<Message>>>);

impl Messages {
    fn note(&self, sent: bool, message: &[u8]) {
        self.0.lock().expect("one thread").push((sent, message.to_vec()));
    }
}

impl Tap for Messages {
    fn outgoing(&mut self, _: PartyId, _: u16, message: &[u8]) -> Option<Vec<u8>> {
        self.note(true, message);
        None
    }
    fn incoming(&mut self, _: PartyId, _: u16, message: &mut [u8]) {
        self.note(false, message);
    }
}

/// Runs a session of four runs, of which the first three are identical.
fn session<F: Family + 'static>(scheme: Scheme, sid: u8, seeds: [u8; 2]) -> [Seen; 2] {
    let nets = inproc::mesh(&IDS, 1, Duration::from_secs(60)).into_iter().enumerate();
    let party = |i: usize, channel: &mut Channel| {
        let (transcript, messages) = (Transcript::new(IDS[i]), Messages::default());
        channel.tap(transcript.tap());
        channel.tap(Box::new(messages.clone()));
        let context = Context { sid: Sid([sid; 32]), backend: Backend::best() };
        let terms = Terms { scheme, ..Terms::default() };
        let role = [Role::Garbler, Role::Evaluator][i];
        let seed = Seed::from_bytes([seeds[i]; 16]);
        let mut opening = Opening::of::<F>(role, &context, terms, &seed);
        Driver::new().run(channel, &mut opening).expect("set up");
        let mut party = opening.finish();
        let opening = messages.0.lock().expect("one thread").clone();
        let (mut outputs, mut after) = (vec![], vec![]);
        for (name, n) in [("add:9", 3), ("add:9", 3), ("add:9", 3), ("sort:4x3", 9)] {
            let program = named::program(name).expect("a circuit of ours");
            let owners = (0..program.inputs().len()).map(|k| k % 2).collect();
            let roles = TwoParty::new(&program, owners, vec![[true; 2]; program.outputs().len()]);
            let mut inputs = Planes::zeros(roles.input_bits(&program, i), n);
            inputs.fill(0x5a);
            outputs.push(party.run(channel, &program, &roles, &inputs).expect("a run").to_vec());
            after.push(LOG.with_borrow(|log| log.calls.last().map_or(0, |range| range.end)));
        }
        let log = LOG.take();
        let links = [(0, 1), (1, 0)].map(|(from, to)| transcript.link(IDS[from], IDS[to], 0));
        Seen { log, after, outputs, links, opening }
    };
    let _watch = registry::watch();
    let seen: Vec<Seen> = thread::scope(|scope| {
        let threads: Vec<_> = nets
            .map(|(i, mut net)| {
                let (peer, end) = (Some(IDS[1 - i]), registry::here().end(i));
                scope.spawn(move || {
                    let _end = end.enter();
                    party(i, &mut net.channel(0, peer, peer).expect("the lane is there"))
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("the party ends")).collect()
    });
    seen.try_into().ok().expect("two parties")
}

/// Runs a session under any scheme, with endpoints that record their calls.
fn watched(scheme: Scheme, sid: u8, seeds: [u8; 2]) -> [Seen; 2] {
    match scheme {
        Scheme::Prf => session::<Watched<PrfOnly>>(scheme, sid, seeds),
        Scheme::ThreeHalves => session::<Watched<ThreeHalves>>(scheme, sid, seeds),
        _ => session::<Watched<HalfGates>>(scheme, sid, seeds),
    }
}

#[test]
fn gates_are_numbered_through_the_life_of_a_party() {
    for scheme in Scheme::PRIVATE {
        for seen in watched(scheme, 1, [2, 3]) {
            assert_eq!(seen.log.made.len(), 1, "{scheme}: one end for all runs");
            let ends = std::iter::once(0).chain(seen.log.calls.iter().map(|range| range.end));
            assert!(seen.log.calls.iter().map(|range| range.start).eq(ends.take(seen.log.calls.len())));
            let runs: Vec<u64> = std::iter::once(0).chain(seen.after).collect();
            assert!(runs.windows(2).all(|w| w[0] < w[1]), "{scheme}: every run takes numbers: {runs:?}");
            assert_eq!(runs[2] - runs[1], runs[1], "{scheme}: a run again, with the numbers that follow");
        }
    }
}

#[test]
fn tables_of_a_session_are_those_of_the_formulas() {
    use crate::{half, prf, three_halves};
    for scheme in Scheme::PRIVATE {
        let [kernel, _] = watched(scheme, 1, [2, 3]);
        let [formulas, _] = match scheme {
            Scheme::Prf => session::<prf::formulas::Formulas>(scheme, 1, [2, 3]),
            Scheme::ThreeHalves => session::<three_halves::formulas::Formulas>(scheme, 1, [2, 3]),
            _ => session::<half::formulas::Formulas>(scheme, 1, [2, 3]),
        };
        assert_eq!(kernel.outputs, formulas.outputs, "{scheme}");
        assert!(kernel.links.iter().all(Option::is_some) && kernel.links == formulas.links, "{scheme}");
    }
}

#[test]
fn start_points_seeds_and_correlations_are_of_one_session_each() {
    // A different session name or garbler's seed changes them; the evaluator's seed does not.
    let sessions = [(1, [2, 3]), (1, [4, 3]), (5, [2, 3])];
    for scheme in Scheme::PRIVATE {
        let (mut starts, mut seeds, mut deltas) = (vec![], vec![], vec![]);
        for (sid, with) in sessions {
            let [garbler, evaluator] = watched(scheme, sid, with);
            let (start, seed, delta) = garbler.log.made[0];
            assert_eq!(evaluator.log.made[0].0, start, "{scheme}: both have the same");
            assert_eq!(delta.is_some(), scheme.has_free_xor(), "{scheme}");
            assert!(delta.is_none_or(|delta| delta.lsb() && delta != start), "{scheme}");
            // No message of the evaluator in the OT set-up can depend on the start point.
            let (last, before) = garbler.opening.split_last().expect("a set-up has messages");
            assert!(last.0 && last.1 == start.0, "{scheme}: the start point goes last");
            assert!(before.iter().any(|(sent, _)| !sent), "{scheme}: the evaluator has spoken");
            assert!(
                before.iter().all(|(_, m)| !m.windows(16).any(|w| w == start.0)),
                "{scheme}: it was sent"
            );
            starts.push(start);
            seeds.push(Block(seed.expect("a garbler has a seed")));
            deltas.extend(delta);
            assert!(seeds.iter().all(|seed| *seed != start && *seed != Block([with[0]; 16])), "{scheme}");
        }
        for mut all in [starts, seeds, deltas] {
            let n = all.len();
            all.sort_unstable_by_key(|block| block.to_u128());
            all.dedup();
            assert_eq!(all.len(), n, "{scheme}: every session has its own");
        }
        let [same, _] = watched(scheme, 1, [2, 9]);
        let [first, _] = watched(scheme, 1, [2, 3]);
        assert_eq!(same.log.made[0].0, first.log.made[0].0, "{scheme}: the garbler draws it");
    }
}
