//! One party of a session over channels. It runs all phases of one circuit after the other: set-up,
//! preprocessing, garbling, and the online phase. Stocks and garbled circuits from earlier sessions
//! take the place of the phases that made them.

use crate::{AuthError, Form, Garbled, Need, Roles, Script, Setup, Stock, Task};
use hushwire_circuit::{Planes, Program};
use hushwire_machine::{Channel, Process, drive::Driver};
use hushwire_ot::{Context, OtError, Protocol};
use hushwire_prg::Seed;
use std::collections::VecDeque;

const STEP: &str = "authenticated garbling";
/// AGREEMENT: the largest number of triples that are made in advance for a run that takes fewer;
/// they wait in memory.
const AHEAD: u64 = 1 << 18;

/// A party that runs circuits with its peers. It runs the preprocessing when a stock is used up,
/// each time after a new set-up.
///
/// It cannot be used after an error: open another party in a new session.
pub struct AuthgarbleParty {
    context: Context,
    me: usize,
    n: usize,
    ot: Protocol,
    form: Form,
    threads: usize,
    seed: Seed,
    stock: Option<Stock>,
    /// Circuits for the next runs that were garbled in advance.
    garbled: VecDeque<Garbled>,
    /// The number of set-ups so far.
    epochs: u64,
    driver: Driver,
    lost: bool,
    process: Process,
}

impl AuthgarbleParty {
    /// Party `me` among `n`. `context`, `ot` and `form` are agreed, and no other session uses the
    /// context. `seed` is this party's secret randomness for this session alone.
    #[must_use]
    pub fn new(
        context: &Context,
        [me, n]: [usize; 2],
        ot: Protocol,
        form: Form,
        seed: &Seed,
    ) -> AuthgarbleParty {
        let (context, seed, threads) = (*context, seed.clone(), 1);
        let (stock, garbled, driver) = (None, VecDeque::new(), Driver::new());
        let (epochs, lost, process) = (0, false, Process::here());
        AuthgarbleParty {
            context,
            me,
            n,
            ot,
            form,
            threads,
            seed,
            stock,
            garbled,
            epochs,
            driver,
            lost,
            process,
        }
    }

    /// LOCAL: the same party with `threads` threads for its own work, which they share by peer and
    /// by parts of long lists.
    #[must_use]
    pub fn threads(self, threads: usize) -> AuthgarbleParty {
        let stock = self.stock.map(|stock| stock.on_threads(threads));
        AuthgarbleParty { threads, stock, ..self }
    }

    /// Uses a stock that [`AuthgarbleParty::prepare`] made in an earlier session of the same
    /// parties for the next runs.
    ///
    /// # Panics
    /// If the stock belongs to another party or has another number of parties (the caller's bug).
    pub fn take_stock(&mut self, stock: Stock) {
        assert_eq!((stock.me(), stock.parties()), (self.me, self.n), "a stock of this party");
        self.stock = Some(stock.on_threads(self.threads));
    }

    /// Uses circuits that [`AuthgarbleParty::garble`] garbled in an earlier session of the same
    /// parties. The next runs evaluate these circuits, in their order, and consist of the online
    /// phase alone.
    ///
    /// # Panics
    /// If the circuits belong to another party or have another number of parties (the caller's
    /// bug).
    pub fn take_garbled(&mut self, circuits: Vec<Garbled>) {
        assert!(circuits.iter().all(|g| (g.me, g.n) == (self.me, self.n)), "circuits of this party");
        self.garbled = circuits.into();
    }

    /// Runs a set-up and the function-independent phase, for runs of later sessions that take
    /// `need`, which is agreed. `channels` has a channel for each peer, in the order of parties.
    ///
    /// # Errors
    /// A check or a channel failed, or this process is a fork of the one that opened the session;
    /// the last holds for the other methods, too.
    pub fn prepare(&mut self, channels: &mut [Channel], need: Need) -> Result<Stock, AuthError> {
        self.begin()?;
        let stock = self.stock(channels, need, need)?;
        self.lost = false;
        Ok(stock)
    }

    /// Runs all phases before the online phase, for the circuits that one later session runs, in
    /// its order; they are agreed. `channels` has a channel for each peer, in the order of parties.
    /// The circuits share a set-up, which serves nothing else.
    ///
    /// # Errors
    /// A check failed, the parties garble different things, or a channel failed.
    pub fn garble(&mut self, channels: &mut [Channel], tasks: &[Task]) -> Result<Vec<Garbled>, AuthError> {
        let sum = |sum: Need, need: Need| Need {
            triples: sum.triples + need.triples,
            masks: sum.masks + need.masks,
        };
        let need = tasks.iter().map(Task::need).fold(Need::default(), sum);
        let mut stock = self.prepare(channels, need)?;
        self.lost = true;
        let circuits = tasks.iter().map(|task| drive(&mut self.driver, channels, stock.garble(task)));
        let circuits = circuits.collect::<Result<_, _>>()?;
        self.lost = false;
        Ok(circuits)
    }

    /// Runs `program` on all instances of the planes. `inputs` are the inputs of this party in the
    /// circuit's order; the result has the outputs that it learns, in the same order. `ahead` is
    /// the need of this run and of those after it, for one preprocessing up to a limit; it is
    /// agreed. `channels` has a channel for each peer, in the order of parties.
    ///
    /// # Errors
    /// A check failed, the parties run different circuits, or a channel failed.
    ///
    /// # Panics
    /// If the roles belong to another program, the number of channels is not the number of peers,
    /// or another circuit was garbled in advance (the caller's bug).
    pub fn run(
        &mut self,
        channels: &mut [Channel],
        program: &Program,
        roles: &Roles,
        inputs: &Planes,
        ahead: Need,
    ) -> Result<Planes, AuthError> {
        self.begin()?;
        let task = Task::new(program, roles.clone(), inputs.instances(), self.form);
        if let Some(garbled) = self.garbled.pop_front() {
            assert!(garbled.task.name() == task.name(), "the circuit that was garbled for this run");
            let outputs = drive(&mut self.driver, channels, garbled.evaluate(inputs))?;
            self.lost = false;
            return Ok(outputs);
        }
        let mut stock = match self.stock.take().filter(|stock| stock.left().covers(task.need())) {
            Some(stock) => stock,
            None => self.stock(channels, task.need(), ahead)?,
        };
        let garbled = drive(&mut self.driver, channels, stock.garble(&task))?;
        let outputs = drive(&mut self.driver, channels, garbled.evaluate(inputs))?;
        (self.stock, self.lost) = (Some(stock), false);
        Ok(outputs)
    }

    /// Marks the party as lost until the step has succeeded.
    fn begin(&mut self) -> Result<(), AuthError> {
        self.process.check(STEP)?;
        if std::mem::replace(&mut self.lost, true) {
            return Err(OtError::Lost { step: STEP }.into());
        }
        Ok(())
    }

    fn stock(&mut self, channels: &mut [Channel], now: Need, ahead: Need) -> Result<Stock, AuthError> {
        let (context, seed) = (
            self.context.child("authgarble epoch", self.epochs),
            self.seed.derive("authgarble epoch", &self.epochs.to_le_bytes()),
        );
        self.epochs += 1;
        let part = |all: u64| if ahead.triples > AHEAD { all * AHEAD / ahead.triples } else { all };
        let need =
            Need { triples: part(ahead.triples).max(now.triples), masks: part(ahead.masks).max(now.masks) };
        let open = Setup::open(&context, [self.me, self.n], self.threads, self.ot, &seed);
        let setup = drive(&mut self.driver, channels, open)?;
        drive(&mut self.driver, channels, setup.preprocess(need))
    }
}

fn drive<T>(
    driver: &mut Driver,
    channels: &mut [Channel],
    mut script: Script<'_, T>,
) -> Result<T, AuthError> {
    let mut run = driver.begin(&mut script);
    while run.step(channels)? {}
    Ok(script.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{World, context, seed};
    use hushwire_aes::Backend;
    use hushwire_block::registry;
    use hushwire_machine::{PartyId, inproc};
    use hushwire_prg::Prg;
    use hushwire_testkit::random_program;
    use std::{thread, time::Duration};

    /// Runs parties on threads, one circuit after the other, over queues that are smaller than a
    /// message.
    #[test]
    fn parties_over_channels() {
        let mut prg = Prg::new(Backend::best(), &seed(5, 0), "party");
        for (n, form) in [(2, Form::HalfGates), (3, Form::Rows), (3, Form::HalfGates)] {
            let program = random_program(&mut prg);
            let worlds: Vec<_> = (1..4).map(|k| World::new(&mut prg, &program, n, k, form)).collect();
            // The stock is enough for the first two circuits; the third run finds too few triples
            // and preprocesses anew.
            let need = worlds[0].task.need();
            let ahead = Need { triples: 3 * need.triples, masks: 3 * need.masks };
            let ids: Vec<_> = (0..n).map(|p| PartyId(p as u8)).collect();
            let nets = inproc::mesh_capped(&ids, 1, Duration::from_secs(60), 4096);
            let _watch = registry::watch();
            thread::scope(|scope| {
                for (me, mut net) in nets.into_iter().enumerate() {
                    let (worlds, program, ids) = (&worlds, &program, &ids);
                    let end = registry::here().end(me);
                    scope.spawn(move || {
                        let _end = end.enter();
                        let peers = ids.iter().filter(|id| usize::from(id.0) != me);
                        let mut channels: Vec<_> = peers
                            .map(|id| net.channel(0, Some(*id), Some(*id)).expect("the lane is there"))
                            .collect();
                        let ot = Protocol::SoftSpoken4;
                        let party = AuthgarbleParty::new(&context(7), [me, n], ot, form, &seed(7, me));
                        let mut party = party.threads(1 + me);
                        for world in worlds {
                            let ran = party.run(
                                &mut channels,
                                program,
                                &world.task.roles,
                                &world.inputs[me],
                                ahead,
                            );
                            assert!(ran.expect("honest parties") == world.outputs[me]);
                        }
                        assert_eq!(party.epochs, 2);
                    });
                }
            });
        }
    }
}
