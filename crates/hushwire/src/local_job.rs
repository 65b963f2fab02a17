//! All members of a job in this process.

use crate::job::{
    Cancel, Common, Fault, InputPlace, Member, Observer, Outcome, OutputPlace, Outputs, Prepared, PsiTask,
    Stats, Task,
    aes_ctr::{AesCtrJob, AesCtrPlaces, Iv, Said, share_file},
    first_error,
};
use crate::{
    member::{LocalMember, LocalShard, Opened, inputs_of_shard},
    places::LocalPlaces,
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_machine::SessionId;
use hushwire_wire::{Identity, Shape, TransportKind};
use std::{collections::BTreeMap, path::Path, sync::Arc, thread};

/// A run of all members on this machine, each with its own key, links and values: the same
/// protocol, messages and checks as across machines.
///
/// [`LocalJob::run`] has them as threads of this process, which holds everybody's values then. It
/// is for trying, for tests, and for programs that only want the result. [`LocalJob::members`] is
/// for a program that starts a process for each, as `hushwire local` does; members that trust each
/// other less run as [`Member`](crate::Member)s on machines of their own.
pub struct LocalJob<'a, T: Task> {
    task: &'a T,
    aes_ctr: BTreeMap<Member, AesCtrPlaces>,
    force: bool,
    inputs: BTreeMap<Member, BTreeMap<String, InputPlace>>,
    outputs: BTreeMap<Member, BTreeMap<String, OutputPlace>>,
    transport: TransportKind,
    shape: Shape,
    shards: usize,
    backend: Backend,
    observer: Observer,
    cancel: Cancel,
    /// The first value that is nobody's.
    wrong: Option<Fault>,
}

impl<'a, T: Task> LocalJob<'a, T> {
    /// A run over Unix sockets, with the widest AES instructions of this CPU.
    #[must_use]
    pub fn new(task: &'a T) -> Self {
        Self {
            task,
            aes_ctr: BTreeMap::new(),
            force: false,
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            transport: TransportKind::Unix,
            shape: Shape::NONE,
            shards: 1,
            backend: Backend::best(),
            observer: Arc::new(|_| {}),
            cancel: Cancel::new(),
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

    /// The number of processes of each member among which rows are spread: that of the job.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.shards = shards.into();
        self
    }

    /// The AES instructions of all members.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Whether outputs may replace files that this job did not write.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// A listener to the events of the first member.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The handle that ends the run from another thread.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
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
    pub fn run(self) -> Result<Ended<'a, T>, Fault>
    where
        T::Part: Send,
        T::Learnt: Send,
    {
        let (task, observer, cancel) = (self.task, self.observer.clone(), self.cancel.clone());
        let each = task.agreement().members().len();
        let LocalMembers { members, places } = self.members()?;
        let mut opened = vec![];
        // Owners first: they make the directories of their keys.
        for member in members.into_iter().rev() {
            let me = member.name().clone();
            cancel.check()?;
            // Every member ends at once, whomever it waits for.
            opened.insert(0, (me, member.start()?.with_cancel(cancel.clone()).open(task)?));
        }
        opened[0].1.listen(observer);
        let peers: Vec<_> = opened.iter().map(|(_, member)| member.peer()).collect();
        let ended: Vec<_> = thread::scope(|scope| {
            let running = opened.into_iter().enumerate();
            let running = running.map(|(i, (me, member)): (usize, (_, Opened<T::Part>))| {
                // It meets the members of its own shard.
                let peers = &peers[i / each * each..][..each];
                (me, scope.spawn(move || member.run(peers)))
            });
            let running: Vec<_> = running.collect();
            let ended = running.into_iter().map(|(me, thread)| {
                let panicked = |_| Err(Fault::internal("computing", "a thread panicked"));
                (me, thread.join().unwrap_or_else(panicked))
            });
            ended.collect()
        });
        drop(places);
        let (mut outcomes, mut errors) = (BTreeMap::new(), vec![]);
        for (me, ended) in ended {
            match ended {
                // The first of a member's shards has its result.
                Ok(outcome) => drop(outcomes.entry(me).or_insert(outcome)),
                Err(e) => errors.push(e),
            }
        }
        first_error(errors)?;
        Ok(Ended { task, outcomes })
    }

    /// The number of members of each shard.
    #[must_use]
    pub fn each(&self) -> usize {
        self.task.agreement().members().len()
    }

    /// The members, each ready to become a process of its own.
    ///
    /// # Errors
    /// A value is nobody's; the system has no randomness, or no room for a directory.
    pub fn members(mut self) -> Result<LocalMembers, Fault> {
        if let Some(e) = self.wrong.take() {
            return Err(e);
        }
        let wrong = |e: &dyn std::fmt::Display| Fault::internal("starting the run", e);
        // The name of all shards' sessions, whose ids their processes draw. A member has one key.
        let session = SessionId::fresh().map_err(|e| wrong(&e))?;
        let of = self.shards;
        let places = match of {
            1 => LocalPlaces::of(self.transport)?,
            _ => LocalPlaces::of_shards(self.transport)?,
        };
        let all: Vec<Member> = self.task.agreement().members();
        let identity = |me: &Member| Identity::generate(&me.to_string()).map_err(|e| wrong(&e));
        let identities = all.iter().map(identity).collect::<Result<Vec<_>, _>>()?;
        let mut members = vec![];
        for (shard, at) in (0..of).flat_map(|shard| (0..all.len()).map(move |at| (shard, at))) {
            let (me, identity) = (all[at].clone(), &identities[at]);
            let name = if of == 1 { me.key() } else { format!("m{at}.{shard}") };
            members.push(LocalMember {
                pem: identity.to_pem().to_string(),
                listen: matches!(me, Member::Party(_)).then(|| places.address(&name)),
                transport: self.transport.to_string(),
                shape: self.shape.to_string(),
                session: session.0,
                backend: self.backend.tier().name().to_owned(),
                // The first shard has the files, but for those of which each reads a part.
                inputs: self.inputs.get(&me).map(|inputs| inputs_of_shard(inputs, shard)).unwrap_or_default(),
                outputs: self.outputs.remove(&me).unwrap_or_default(),
                aes_ctr: self.aes_ctr.remove(&me).unwrap_or_default(),
                force: self.force,
                shard: (of > 1).then(|| LocalShard {
                    shard,
                    bind: places.socket(&format!("x{at}.{shard}")),
                    addresses: (0..of).map(|shard| places.socket(&format!("x{at}.{shard}"))).collect(),
                    transport: TransportKind::Unix.to_string(),
                }),
                patience: None,
                reads: vec![],
                me,
            });
        }
        self.inputs.retain(|me, _| !all.contains(me));
        if let Some(odd) = self.inputs.keys().chain(self.outputs.keys()).chain(self.aes_ctr.keys()).next() {
            let remedy = "give values to members that the job names";
            return Err(Fault::usage("starting the run", format!("the job has no {odd}"), remedy));
        }
        Ok(LocalMembers { members, places })
    }
}

/// The members of a local run, and the places where they listen, which are there until this is
/// dropped.
pub struct LocalMembers {
    /// In the agreement's order: parties, then clients; those of the first shard, then those of the
    /// next ones.
    pub members: Vec<LocalMember>,
    /// Sockets that must outlive the members.
    pub places: LocalPlaces,
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

impl LocalJob<'_, Prepared> {
    /// One instance's value of an input, at its owner: digits, `0x…` or `dec:…` as docs/jobs.md has
    /// them.
    #[must_use]
    pub fn input(self, name: &str, value: &str) -> Self {
        self.value(name, InputPlace::Hex(Wiped::new(value.to_owned())))
    }

    /// All instances' values of an input, at its owner: records as docs/jobs.md has them, one after
    /// the other.
    #[must_use]
    pub fn records(self, name: &str, records: Vec<u8>) -> Self {
        self.value(name, InputPlace::Memory(Arc::new(Wiped::new(records))))
    }

    fn value(mut self, name: &str, place: InputPlace) -> Self {
        let inputs = &self.task.plan.inputs;
        if let Some((_, owner)) = inputs.iter().find(|(input, _)| input == name) {
            return self.bring(owner.clone(), name, place);
        }
        let names: Vec<_> = inputs.iter().map(|(input, _)| input.as_str()).collect();
        let cause = format!("the job has no input called `{name}`");
        let remedy = format!("it has {}", names.join(", "));
        self.wrong = self.wrong.or(Some(Fault::usage("starting the run", cause, remedy)));
        self
    }

    /// Lets every recipient have the records of its outputs in memory, in place of digits: of jobs
    /// with many instances.
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

impl LocalJob<'_, PsiTask> {
    /// Both parties' rows, as CSV with the names of columns first.
    #[must_use]
    pub fn rows(self, [zero, one]: [InputPlace; 2]) -> Self {
        self.bring(Member::Party(0), PsiTask::CSV, zero).bring(Member::Party(1), PsiTask::CSV, one)
    }
}

impl Ended<'_, PsiTask> {
    /// The result that party `index` learns.
    #[must_use]
    pub fn common(&self, index: u8) -> Option<&Common> {
        self.learnt(&Member::Party(index)).map(|learnt| &learnt.common)
    }
}

impl LocalJob<'_, AesCtrJob> {
    fn owner(&mut self) -> &mut AesCtrPlaces {
        self.aes_ctr.entry(Member::Client(self.task.owner.clone())).or_default()
    }

    /// The directory of the key, made where it is not there: the parties' shares of it, and the
    /// owner's ledger of counters.
    #[must_use]
    pub fn keys(mut self, dir: &Path) -> Self {
        self.owner().ledger = Some(dir.to_path_buf());
        for party in 0..3 {
            let places = self.aes_ctr.entry(Member::Party(party)).or_default();
            places.key_share = Some(share_file::path(dir, party.into()));
        }
        self
    }

    /// The file that is encrypted or decrypted.
    #[must_use]
    pub fn data(self, place: InputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.bring(owner, AesCtrJob::DATA, place)
    }

    /// The key, in a job whose owner brings it.
    #[must_use]
    pub fn key(self, place: InputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.bring(owner, AesCtrJob::KEY, place)
    }

    /// The place of the result.
    #[must_use]
    pub fn result(self, place: OutputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.keep(owner, AesCtrJob::RESULT, place)
    }

    /// The first counter block, which is drawn or found in the ledger where it is not given.
    #[must_use]
    pub fn iv(mut self, iv: Iv) -> Self {
        self.owner().iv = Some(iv);
        self
    }

    /// Goes on with a key whose ledger is lost: counters are drawn from now on, and may not be
    /// chosen.
    #[must_use]
    pub fn history_lost(mut self, lost: bool) -> Self {
        self.owner().history_lost = lost;
        self
    }

    /// The form in which a person gave all this, for remedies.
    #[must_use]
    pub fn said(mut self, said: Said) -> Self {
        self.owner().said = said;
        self
    }
}

impl Ended<'_, AesCtrJob> {
    /// The result, where it was to be in memory.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.learnt(&Member::Client(self.task.owner.clone()))?.bytes.as_deref()
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
