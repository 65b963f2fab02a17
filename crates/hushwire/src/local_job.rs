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

/// A run of all members on this machine, each with its own key, links and values. The protocol,
/// messages and checks are those of a run across machines.
///
/// [`LocalJob::run`] runs the members as threads of this process, which then holds the values of
/// all. It is for trials, for tests, and for programs that need only the result.
/// [`LocalJob::members`] is for a program that starts a process for each, as `hushwire local` does.
/// Members that trust each other less run as [`Member`](crate::Member)s on machines of their own.
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
    /// The error about the first value that belongs to no member.
    wrong: Option<Fault>,
}

impl<'a, T: Task> LocalJob<'a, T> {
    /// Begins a run over Unix sockets, with the best AES implementation of this CPU.
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

    /// Sets the transport between members.
    #[must_use]
    pub fn transport(mut self, transport: TransportKind) -> Self {
        self.transport = transport;
        self
    }

    /// Sets a network to simulate on the links.
    #[must_use]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the number of processes of each member over which rows are distributed. It must be that
    /// of the job.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.shards = shards.into();
        self
    }

    /// Sets the AES implementation of all members.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Sets whether outputs may replace files that this job did not write.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Sets an observer for the events of the first member.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Sets the handle that ends the run from another thread.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the place of one member's input.
    #[must_use]
    pub fn bring(mut self, member: Member, name: &str, place: InputPlace) -> Self {
        self.inputs.entry(member).or_default().insert(name.to_owned(), place);
        self
    }

    /// Sets the place of one member's output.
    #[must_use]
    pub fn keep(mut self, member: Member, name: &str, place: OutputPlace) -> Self {
        self.outputs.entry(member).or_default().insert(name.to_owned(), place);
        self
    }

    /// Runs all members to their ends.
    ///
    /// # Errors
    /// The error that caused the others. No output is then in place.
    pub fn run(self) -> Result<Ended<'a, T>, Fault>
    where
        T::Part: Send,
        T::Learnt: Send,
    {
        let (task, observer, cancel) = (self.task, self.observer.clone(), self.cancel.clone());
        let each = task.agreement().members().len();
        let LocalMembers { members, places } = self.members()?;
        let mut opened = vec![];
        // Owners come first, since they make the directories of their keys.
        for member in members.into_iter().rev() {
            let me = member.name().clone();
            cancel.check()?;
            // The handle ends every member at once, whichever member it waits for.
            opened.insert(0, (me, member.start()?.with_cancel(cancel.clone()).open(task)?));
        }
        opened[0].1.listen(observer);
        let peers: Vec<_> = opened.iter().map(|(_, member)| member.peer()).collect();
        let ended: Vec<_> = thread::scope(|scope| {
            let running = opened.into_iter().enumerate();
            let running = running.map(|(i, (me, member)): (usize, (_, Opened<T::Part>))| {
                // It connects to the members of its own shard.
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
                // The first of a member's shards has the member's result.
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

    /// Makes the members, each ready to become a process of its own.
    ///
    /// # Errors
    /// A value belongs to no member, the system gives no randomness, or there is no space for a
    /// directory.
    pub fn members(mut self) -> Result<LocalMembers, Fault> {
        if let Some(e) = self.wrong.take() {
            return Err(e);
        }
        let wrong = |e: &dyn std::fmt::Display| Fault::internal("starting the run", e);
        // The sessions of all shards share this name, and their processes draw the ids. A member
        // has one key.
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
                // The first shard has all files. The others have only those that each shard reads
                // in part.
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

/// The members of a local run, and the places where they listen, which exist until this is dropped.
pub struct LocalMembers {
    /// The members in the agreement's order: parties, then clients. The members of the first shard
    /// come first, then those of the next shards.
    pub members: Vec<LocalMember>,
    /// Sockets that must outlive the members.
    pub places: LocalPlaces,
}

/// The results of all members.
#[derive(Debug)]
pub struct Ended<'a, T: Task> {
    task: &'a T,
    outcomes: BTreeMap<Member, Outcome<T::Learnt>>,
}

impl<T: Task> Ended<'_, T> {
    /// The outcome of every member, parties first.
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
    /// Sets one instance's value of an input, at its owner: digits, `0x…` or `dec:…`, as
    /// docs/jobs.md describes.
    #[must_use]
    pub fn input(self, name: &str, value: &str) -> Self {
        self.value(name, InputPlace::Hex(Wiped::new(value.to_owned())))
    }

    /// Sets all instances' values of an input, at its owner: concatenated records, as docs/jobs.md
    /// describes.
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

    /// Gives every recipient the records of its outputs in memory, in place of digits. For jobs
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
    /// Sets both parties' rows, as CSV whose first line has the names of columns.
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

    /// Sets the directory of the key, which is made if it does not exist. It holds the parties'
    /// shares of the key, and the owner's ledger of counters.
    #[must_use]
    pub fn keys(mut self, dir: &Path) -> Self {
        self.owner().ledger = Some(dir.to_path_buf());
        for party in 0..3 {
            let places = self.aes_ctr.entry(Member::Party(party)).or_default();
            places.key_share = Some(share_file::path(dir, party.into()));
        }
        self
    }

    /// Sets the file to encrypt or decrypt.
    #[must_use]
    pub fn data(self, place: InputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.bring(owner, AesCtrJob::DATA, place)
    }

    /// Sets the key, for a job whose owner brings it.
    #[must_use]
    pub fn key(self, place: InputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.bring(owner, AesCtrJob::KEY, place)
    }

    /// Sets the place of the result.
    #[must_use]
    pub fn result(self, place: OutputPlace) -> Self {
        let owner = Member::Client(self.task.owner.clone());
        self.keep(owner, AesCtrJob::RESULT, place)
    }

    /// Sets the first counter block. Otherwise the counter is drawn or found in the ledger.
    #[must_use]
    pub fn iv(mut self, iv: Iv) -> Self {
        self.owner().iv = Some(iv);
        self
    }

    /// Allows a key whose ledger is lost. Counters are then drawn, and may not be chosen.
    #[must_use]
    pub fn history_lost(mut self, lost: bool) -> Self {
        self.owner().history_lost = lost;
        self
    }

    /// Sets the form in which the user gave these settings, for remedies.
    #[must_use]
    pub fn said(mut self, said: Said) -> Self {
        self.owner().said = said;
        self
    }
}

impl Ended<'_, AesCtrJob> {
    /// The result, if it was requested in memory.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.learnt(&Member::Client(self.task.owner.clone()))?.bytes.as_deref()
    }
}

impl Ended<'_, Prepared> {
    /// The digits of an output, at its first recipient.
    #[must_use]
    pub fn digits(&self, output: &str) -> Option<&str> {
        self.of(output, |outputs, j| {
            outputs.digits.iter().find(|(at, _)| *at == j).map(|(_, digits)| digits.as_str())
        })
    }

    /// The records of an output, at its first recipient.
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
