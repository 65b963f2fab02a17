//! All members of a job in this process.

use crate::places::Places;
use hushwire_aes::Backend;
use hushwire_job::{
    InputPlace, JobError, Member, MemberConfig, Observer, Outcome, OutputPlace, Outputs, Peer, Prepared,
    RunFiles, Stats, Task, aes_ctr::AesCtrPlaces, first_error, open, run_part,
};
use hushwire_wire::{Identity, Listener, NetError, SessionId, Shape, TransportKind};
use std::{collections::BTreeMap, sync::Arc, thread, time::Duration};
use zeroize::Zeroizing;

/// LOCAL: all members are threads of this process and start together; a loaded machine may take a while.
const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: the dead are noticed long before; this is for those who live and never answer.
const STALL: Duration = Duration::from_secs(3600);

/// A run of all members as threads of this process, each with its own key, links and values: the same protocol, messages
/// and checks as across machines.
///
/// One process holds everybody's values here. It is for trying, for tests, and for programs that only want the result;
/// members that trust each other less run as [`Member`](crate::Member)s on machines of their own.
pub struct Local<'a, T: Task> {
    task: &'a T,
    inputs: BTreeMap<Member, BTreeMap<String, InputPlace>>,
    outputs: BTreeMap<Member, BTreeMap<String, OutputPlace>>,
    transport: TransportKind,
    shape: Shape,
    backend: Backend,
    observer: Observer,
    /// The first value that is nobody's.
    wrong: Option<JobError>,
}

impl<'a, T: Task> Local<'a, T>
where
    T::Part: Send,
    T::Learnt: Send,
{
    /// A run over Unix sockets, with the widest AES instructions of this CPU.
    #[must_use]
    pub fn new(task: &'a T) -> Self {
        Self {
            task,
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            transport: TransportKind::Unix,
            shape: Shape::NONE,
            backend: Backend::best(),
            observer: Arc::new(|_| {}),
            wrong: None,
        }
    }

    /// The transport between members.
    #[must_use]
    pub fn transport(mut self, transport: TransportKind) -> Self {
        self.transport = transport;
        self
    }

    /// A network that links are made to look like.
    #[must_use]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// The AES instructions of all members.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// A listener to the events of the first member.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The place of one member's input.
    #[must_use]
    pub fn bring(mut self, member: Member, name: &str, place: InputPlace) -> Self {
        self.inputs.entry(member).or_default().insert(name.to_owned(), place);
        self
    }

    /// The place of one member's output.
    #[must_use]
    pub fn keep(mut self, member: Member, name: &str, place: OutputPlace) -> Self {
        self.outputs.entry(member).or_default().insert(name.to_owned(), place);
        self
    }

    /// Runs all members to their ends.
    ///
    /// # Errors
    /// The first cause of a failure. No output is in place then.
    pub fn run(mut self) -> Result<Ended<'a, T>, JobError> {
        if let Some(e) = self.wrong.take() {
            return Err(e);
        }
        let places = Places::of(self.transport)?;
        let configs = self.configs(&places)?;
        let mut parts = vec![];
        for mut config in configs {
            // Before anybody waits for anybody.
            let part = open(self.task, &mut config)?;
            parts.push((config.me.clone(), part, config));
        }
        let agreement = self.task.agreement();
        let quiet: Observer = Arc::new(|_| {});
        let observers = [self.observer.clone()].into_iter().chain(std::iter::repeat(quiet));
        let ended: Vec<_> = thread::scope(|scope| {
            let running = parts.into_iter().zip(observers);
            let running: Vec<_> = running
                .map(|((me, part, config), observer)| {
                    let agreement = agreement.clone();
                    (me, scope.spawn(move || run_part(agreement, part, config, &observer)))
                })
                .collect();
            let ended = running.into_iter().map(|(me, thread)| {
                let panicked = |_| Err(JobError::internal("computing", "a thread panicked"));
                (me, thread.join().unwrap_or_else(panicked))
            });
            ended.collect()
        });
        let (mut outcomes, mut errors) = (BTreeMap::new(), vec![]);
        for (me, ended) in ended {
            match ended {
                Ok(outcome) => drop(outcomes.insert(me, outcome)),
                Err(e) => errors.push(e),
            }
        }
        first_error(errors)?;
        Ok(Ended { task: self.task, outcomes })
    }

    fn configs(&mut self, places: &Places) -> Result<Vec<MemberConfig>, JobError> {
        let wrong = |e: &dyn std::fmt::Display| JobError::internal("starting the run", e);
        let session = SessionId::fresh().map_err(|e| wrong(&e))?;
        let mut configs = vec![];
        for me in self.task.agreement().members() {
            let listen =
                |party: &str| -> Result<Listener, NetError> { Listener::bind(&places.address(party)) };
            let listener = matches!(me, Member::Party(_)).then(|| listen(&me.key())).transpose();
            configs.push(MemberConfig {
                identity: Identity::generate(&me.to_string()).map_err(|e| wrong(&e))?,
                listener: listener.map_err(JobError::from)?,
                peers: vec![],
                transport: self.transport,
                connect_timeout: CONNECT,
                stall: STALL,
                shape: self.shape,
                session,
                backend: self.backend,
                inputs: self.inputs.remove(&me).unwrap_or_default(),
                outputs: self.outputs.remove(&me).unwrap_or_default(),
                files: RunFiles::default(),
                aes_ctr: AesCtrPlaces::default(),
                me,
            });
        }
        if let Some(odd) = self.inputs.keys().chain(self.outputs.keys()).next() {
            let remedy = "give values to members that the job names";
            return Err(JobError::usage("starting the run", format!("the job has no {odd}"), remedy));
        }
        let peer = |config: &MemberConfig| Peer {
            member: config.me.clone(),
            address: config.listener.as_ref().map(Listener::address),
            pin: config.identity.pin(),
        };
        let peers: Vec<_> = configs.iter().map(peer).collect();
        for config in &mut configs {
            config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        }
        Ok(configs)
    }
}

/// The ends of all members.
#[derive(Debug)]
pub struct Ended<'a, T: Task> {
    task: &'a T,
    outcomes: BTreeMap<Member, Outcome<T::Learnt>>,
}

impl<T: Task> Ended<'_, T> {
    /// Everybody's outcome, parties first.
    #[must_use]
    pub fn outcomes(&self) -> &BTreeMap<Member, Outcome<T::Learnt>> {
        &self.outcomes
    }

    /// One member's result.
    #[must_use]
    pub fn learnt(&self, member: &Member) -> Option<&T::Learnt> {
        self.outcomes.get(member).map(|outcome| &outcome.learnt)
    }

    /// One member's measurements.
    #[must_use]
    pub fn stats(&self, member: &Member) -> Option<&Stats> {
        self.outcomes.get(member).map(|outcome| &outcome.stats)
    }
}

impl Local<'_, Prepared> {
    /// One instance's value of an input, at its owner: digits, `0x…` or `dec:…` as docs/jobs.md has them.
    #[must_use]
    pub fn input(self, name: &str, value: &str) -> Self {
        self.value(name, InputPlace::Hex(Zeroizing::new(value.to_owned())))
    }

    /// All instances' values of an input, at its owner: records as docs/jobs.md has them, one after the other.
    #[must_use]
    pub fn records(self, name: &str, records: Vec<u8>) -> Self {
        self.value(name, InputPlace::Memory(Arc::new(Zeroizing::new(records))))
    }

    fn value(mut self, name: &str, place: InputPlace) -> Self {
        let inputs = &self.task.plan.inputs;
        if let Some((_, owner)) = inputs.iter().find(|(input, _)| input == name) {
            return self.bring(owner.clone(), name, place);
        }
        let names: Vec<_> = inputs.iter().map(|(input, _)| input.as_str()).collect();
        let cause = format!("the job has no input called `{name}`");
        let remedy = format!("it has {}", names.join(", "));
        self.wrong = self.wrong.or(Some(JobError::usage("starting the run", cause, remedy)));
        self
    }

    /// Lets every recipient have the records of its outputs in memory, in place of digits: of jobs with many instances.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        for (name, to) in &self.task.plan.outputs {
            for member in to {
                self = self.keep(member.clone(), name, OutputPlace::Memory);
            }
        }
        self
    }
}

impl Ended<'_, Prepared> {
    /// The digits of an output, as its first recipient has them.
    #[must_use]
    pub fn digits(&self, output: &str) -> Option<&str> {
        self.of(output, |outputs, j| {
            outputs.digits.iter().find(|(at, _)| *at == j).map(|(_, digits)| digits.as_str())
        })
    }

    /// The records of an output, as its first recipient has them.
    #[must_use]
    pub fn records(&self, output: &str) -> Option<&[u8]> {
        self.of(output, |outputs, j| {
            outputs.records.iter().find(|(at, _)| *at == j).map(|(_, records)| records.as_slice())
        })
    }

    fn of<'b, V: ?Sized>(
        &'b self,
        output: &str,
        value: impl Fn(&'b Outputs, usize) -> Option<&'b V>,
    ) -> Option<&'b V> {
        let outputs = &self.task.plan.outputs;
        let j = outputs.iter().position(|(name, _)| name == output)?;
        value(self.learnt(outputs[j].1.first()?)?, j)
    }
}
