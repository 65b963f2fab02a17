//! Sessions that a program holds: members meet once, and then compute one thing after another.

use super::{
    ComputationSource, ComputeJob, ComputeTask, PublicPlace,
    engine::{Engine, Links, cancelled},
    part::Brought,
    run,
    shards::OwnInputs,
    threads as cut,
    values::Values,
};
use hushwire_block::Wiped;
use hushwire_compute::{Computation, Scalar, Tensor, Visibility};
use hushwire_fault::code;
use hushwire_machine::{PartyId, Process, Reason};
use hushwire_session::{
    AgreedField, Agreement, Cancel, Chosen, Event, Fault, Kind, Member, MemberConfig, Observer, Protocol,
    Stats, Task, Terms, explain,
    run::{ADMISSION, COMPUTING, MemberSession},
};
use std::{collections::BTreeMap, sync::Arc};

/// AGREEMENT: the version of the bytes that sessions send in addition to those of computations.
const VERSION: u32 = 4;
const AGREE: &str = "agreeing on the computation";

/// An input that a program holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Elements of the declared type and shape.
    Tensor(Tensor),
    /// Whole numbers: a single one, or a vector. Each must fit the declared type.
    Numbers(Vec<i128>),
    /// Elements of the declared type as records, one after the other ([`Scalar::record`]): a
    /// vector.
    Records(Vec<u8>),
}

/// The agreement that members compare if the computation was made from something else.
pub(crate) struct Instead<'a> {
    /// The terms that an operator allows.
    pub(crate) terms: &'a Terms,
    /// The digest that all members compare.
    pub(crate) digest: [u8; 32],
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Value::Numbers(vec![number.into()])
            }
        }
        impl From<&[$number]> for Value {
            fn from(numbers: &[$number]) -> Self {
                Value::Numbers(numbers.iter().map(|n| (*n).into()).collect())
            }
        }
        impl From<Vec<$number>> for Value {
            fn from(numbers: Vec<$number>) -> Self {
                numbers.as_slice().into()
            }
        }
        impl<const N: usize> From<[$number; N]> for Value {
            fn from(numbers: [$number; N]) -> Self {
                numbers.as_slice().into()
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64, bool);

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Value::Tensor(tensor)
    }
}

impl Value {
    /// The elements as values of the input of this name and type.
    fn values(&self, name: &str, ty: &hushwire_compute::Type) -> Result<Values, Fault> {
        let refuse = |cause: String, remedy: String| {
            Err(Fault::new(code::COMPUTATION, format!("reading input {name}"), cause, remedy))
        };
        match self {
            Value::Tensor(tensor) if tensor.scalar() != ty.scalar => refuse(
                format!("it is {}, and declared {ty}", tensor.scalar()),
                "bring elements of that type".into(),
            ),
            Value::Tensor(tensor) => Ok(Values {
                scalar: ty.scalar,
                lengths: tensor.lengths().to_vec(),
                records: Wiped::new(tensor.records()),
                remark: None,
            }),
            Value::Records(records) => {
                let record = ty.scalar.record();
                // A record of whole bytes has no bits above the width.
                let whole = ty.scalar.bits().is_multiple_of(8);
                let wrong = |record: &[u8]| !whole && !ty.scalar.fits(record);
                if ty.shape.rank() != 1 || records.len() % record != 0 || records.chunks(record).any(wrong) {
                    let cause = format!("its bytes are no records of {ty}");
                    return refuse(cause, "bring a record for each element".into());
                }
                Ok(Values {
                    scalar: ty.scalar,
                    lengths: vec![records.len() / record],
                    records: Wiped::new(records.clone()),
                    remark: None,
                })
            }
            Value::Numbers(numbers) => {
                let mut records = Wiped::new(vec![0; numbers.len() * ty.scalar.record()]);
                for (i, (number, record)) in
                    numbers.iter().zip(records.chunks_exact_mut(ty.scalar.record())).enumerate()
                {
                    let text = match ty.scalar {
                        Scalar::Bits(_) => format!("{number:#x}"),
                        _ => number.to_string(),
                    };
                    if let Err(e) = ty.scalar.read(&text, record) {
                        return refuse(format!("element {}: {}", i + 1, e.cause), e.remedy);
                    }
                }
                let lengths = match (ty.shape.rank(), numbers.len()) {
                    (0, 1) => vec![],
                    (1, n) => vec![n],
                    (rank, n) => {
                        let cause = format!("{n} numbers are given, and {ty} has {rank} axes");
                        return refuse(cause, "bring a Tensor of that shape".into());
                    }
                };
                Ok(Values { scalar: ty.scalar, lengths, records, remark: None })
            }
        }
    }
}

/// One member's session with the others. Handshake, keys and set-ups happen once, and then any
/// number of computations run.
///
/// All members run the same computations in the same order, and compare the digest before each.
/// Clients also run those in which they have no part. A session cannot be used after an error.
pub struct ComputeSession {
    member: MemberSession,
    engine: Box<dyn Engine>,
    chosen: Chosen,
    members: BTreeMap<String, Member>,
    /// The owners of secret inputs.
    owners: BTreeMap<String, Member>,
    /// The bytes that a computation may take, if not the default.
    memory: Option<u64>,
    broken: bool,
    process: Process,
}

/// The agreement of a session between the parties and these clients.
fn agreement(chosen: Chosen, threads: u16, clients: &[String]) -> Agreement {
    Agreement {
        kind: "compute-session",
        title: "a session for computations".to_owned(),
        protocol: chosen.protocol,
        clients: clients.to_vec(),
        fields: vec![
            AgreedField::new("protocol", format!("{}, compute session version {VERSION}", chosen.agreed())),
            AgreedField::new("threads", threads.to_string()),
            AgreedField::new("clients", clients.join(", ")),
        ],
        lanes: cut::lanes(chosen.protocol, threads),
        client_lanes: 1,
    }
}

/// The job as which a session runs a computation. A role that is not in `members` is the party or
/// client of its name, or the parties take the roles in order.
fn job_of(
    chosen: Chosen,
    computation: &Computation,
    members: &BTreeMap<String, Member>,
    clients: &[String],
) -> ComputeJob {
    let mut job = ComputeJob::new(chosen.protocol, ComputationSource::Text(String::new()));
    (job.scheme, job.ot, job.ahead) = (chosen.scheme, chosen.ot, chosen.ahead);
    job.linear = (job.protocol == Protocol::Two).then_some(chosen.linear);
    let known = |name: &String| members.get(name).cloned();
    let turn = |i: usize, name: &String| {
        let client = clients.contains(name).then(|| Member::Client(name.clone()));
        let named = name.parse().ok().filter(is_party).or(client);
        named.or(Some(Member::Party(u8::try_from(i).ok()?)))
    };
    let names = computation.members().iter().enumerate();
    job.members =
        names.filter_map(|(i, name)| Some((name.clone(), known(name).or_else(|| turn(i, name))?))).collect();
    job
}

impl ComputeSession {
    /// The terms on which the parties run a computation in a session, for an operator to allow
    /// their digest before the session exists. A role is the party of its name, or the parties take
    /// the roles in order.
    ///
    /// # Errors
    /// The protocol does not run it, or it has public inputs or secret ones without an owner.
    pub fn terms(chosen: Chosen, computation: &Computation) -> Result<Terms, Fault> {
        let job = job_of(chosen, computation, &BTreeMap::new(), &[]);
        let task = ComputeTask::of(&job, Arc::new(computation.clone()))?;
        task.complete()?;
        Ok(task.terms())
    }

    /// Connects to the other members: parties that compute on `threads` threads each, and these
    /// clients, in an order that is the same at all members. `None` is the default number of
    /// threads, the same everywhere. `observer` hears which members are missing, and the progress
    /// of each run.
    ///
    /// # Errors
    /// A member did not come, does not have the pinned key, or has another protocol, other threads
    /// or other clients.
    pub fn connect(
        config: MemberConfig,
        chosen: Chosen,
        threads: Option<u16>,
        clients: &[String],
        observer: &Observer,
    ) -> Result<Self, Fault> {
        let me = config.me.clone();
        let opened = || {
            let threads = cut::threads(chosen.protocol, threads)
                .map_err(|(cause, remedy)| Fault::new(code::COMPUTATION, "connecting", cause, remedy))?;
            let agreement = agreement(chosen, threads, clients);
            let members = agreement.members();
            members.iter().try_for_each(|member| agreement.admits(member))?;
            if !members.contains(&me) {
                let cause = format!("{me} is none of the session's members");
                return Err(Fault::new(
                    code::COMPUTATION,
                    "joining the session",
                    cause,
                    "name it among the clients",
                ));
            }
            let mut member = MemberSession::new(agreement, config, observer)?;
            let engine = run::open(&mut member, chosen, threads, |member| !is_party(member))?;
            let (members, owners) = (BTreeMap::new(), BTreeMap::new());
            let process = Process::here();
            Ok(Self { member, engine, chosen, members, owners, memory: None, broken: false, process })
        };
        opened().map_err(|e: Fault| e.by(&me))
    }

    /// The member that this program is.
    #[must_use]
    pub fn me(&self) -> &Member {
        &self.member.config.me
    }

    /// Sets the member of the session that takes a role of computations. A role that is not set is
    /// the party or client of its name, or the parties take the roles in order.
    pub fn assign(&mut self, name: &str, member: Member) {
        self.members.insert(name.to_owned(), member);
    }

    /// Sets the owner of a secret input, the same at all members.
    pub fn own(&mut self, input: &str, owner: Member) {
        self.owners.insert(input.to_owned(), owner);
    }

    /// Sets the bytes that values and work on them may take at each party, like
    /// [`ComputeJob::memory`], the same at all members. The default is 2 GiB if members' inputs
    /// give lengths.
    pub fn allow(&mut self, memory: u64) {
        self.memory = Some(memory);
    }

    /// A handle for another thread that ends the current run, and the session with it; the other
    /// members are told. A session that is cancelled between two runs ends at the next one.
    #[must_use]
    pub fn cancel(&self) -> Cancel {
        self.member.config.cancel.clone()
    }

    /// The session's measurements so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.member.stats()
    }

    /// Runs a computation. Takes this member's inputs and public inputs by name, and returns the
    /// outputs that it learns by name.
    ///
    /// # Errors
    /// An input is missing or does not fit, members run different computations or bring different
    /// lengths, the run was cancelled, or a member failed. The session cannot be used after that. A
    /// fork of the process that opened the session is refused.
    pub fn run(
        &mut self,
        computation: &Computation,
        inputs: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        self.run_instead(computation, inputs, None)
    }

    /// Runs a computation that was made from something else. Members compare the digest of that,
    /// too.
    pub(crate) fn run_instead(
        &mut self,
        computation: &Computation,
        inputs: &BTreeMap<String, Value>,
        instead: Option<Instead<'_>>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let me = self.me().clone();
        self.process.check(AGREE).map_err(|e| Fault::from(e).during(AGREE).by(&me))?;
        if self.broken {
            let cause = "the session ended with the error of an earlier run";
            return Err(Fault::new(code::COMPUTATION, AGREE, cause, "connect anew").by(&me));
        }
        let ran = self.computed(computation, inputs, instead);
        ran.map_err(|e| {
            self.broken = true;
            let e = if self.member.config.cancel.asked() { cancelled() } else { e };
            if let (false, Some(watch)) = (e.kind() == Kind::Network, self.member.net.watch()) {
                // Tells the others at once which member failed, before links close.
                let (why, step) = match e.kind() {
                    Kind::Refused => (Reason::Declined, ADMISSION),
                    _ => (Reason::Local(e.tells()), COMPUTING),
                };
                watch.abort(self.member.net.me(), why, step);
            }
            e.by(&me)
        })
    }

    fn computed(
        &mut self,
        computation: &Computation,
        inputs: &BTreeMap<String, Value>,
        instead: Option<Instead<'_>>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let clients = self.member.agreement.clients.clone();
        let mut job = job_of(self.chosen, computation, &self.members, &clients);
        job.memory = self.memory;
        for (name, ty) in computation.inputs() {
            match (ty.visibility, inputs.get(name), self.owners.get(name)) {
                (Visibility::Public, Some(value), _) => {
                    let value = value.values(name, ty)?.tensor();
                    job.public.insert(name.to_owned(), PublicPlace::from(&value));
                }
                (Visibility::Secret, _, Some(owner)) => {
                    job.owners.insert(name.to_owned(), owner.clone());
                }
                _ => {}
            }
        }
        let task = ComputeTask::of(&job, Arc::new(computation.clone()))?;
        match &instead {
            Some(instead) => self.member.config.allows(instead.terms)?,
            None => self.member.config.allows(&task.terms())?,
        }
        task.complete()?;
        if let Some(odd) = task.agreement().clients.iter().find(|client| !clients.contains(client)) {
            let remedy = "connect with it, or say who does its part with `assign` or `own`";
            let cause = format!("client {odd} is no member of this session");
            return Err(Fault::new(code::COMPUTATION, "planning the job", cause, remedy));
        }
        if let Some(absent) = self.members.values().chain(self.owners.values()).find(|m| !m.is_connected()) {
            let remedy = "run it as a job, with the data sets and recipients of which parties keep shares";
            let cause = format!("{absent} is not connected, and sessions have connected members alone");
            return Err(Fault::new(code::COMPUTATION, "planning the job", cause, remedy));
        }
        let me = self.me().clone();
        Brought::check(&task, &me, inputs.keys().filter(|name| !job.public.contains_key(*name)))?;
        let remedy = |_: &str| "bring them".to_owned();
        let value = |name: &str, ty: &_, _: &_| Some(inputs.get(name)?.values(name, ty));
        let brought = Brought::new(&task, &me, remedy, value)?;
        task.own(&brought.symbols, &me)?;
        self.agree(&task, instead.map(|instead| instead.digest))?;
        let (observer, cancel) = (self.member.observer.clone(), self.member.config.cancel.clone());
        let mut hears = |done, whole| {
            observer(Event::Progress(done, whole));
            !cancel.asked()
        };
        let ready = (brought.symbols, None);
        let own = OwnInputs { whole: brought.inputs, ..OwnInputs::default() };
        let ran = run::run(&mut *self.engine, &self.member, &task, ready, own, None, &mut hears)?;
        let learns = task.outputs_of(&me).zip(ran.learnt);
        let tensor = |(j, records): (usize, Wiped<Vec<u8>>)| {
            let extent = &ran.bound.outputs[j];
            let tensor = Tensor::from_records(extent.scalar, &extent.lengths, &records);
            (task.computation().outputs()[j].name.clone(), tensor)
        };
        Ok(learns.map(tensor).collect())
    }

    /// Compares the computation and its members with the other members. A client does not hear
    /// other clients, but hears from every party.
    fn agree(&mut self, task: &ComputeTask, instead: Option<[u8; 32]>) -> Result<(), Fault> {
        let (digest, agreement) = (task.agreement().digest(), self.member.agreement.clone());
        // AGREEMENT: the digest of both, if there are two.
        let own = instead.map_or(digest, |instead| {
            let mut hash =
                blake3::Hasher::new_derive_key("hushwire 2026-11-29 computation of a task in a session");
            *hash.update(&digest).update(&instead).finalize().as_bytes()
        });
        let net = |e| explain(&agreement, e).during(AGREE);
        let same = |who: Option<PartyId>, theirs: [u8; 32]| {
            if theirs == own {
                return Ok(());
            }
            let is = |member: &Member| member.id(&agreement.clients) == who;
            let who = agreement.members().into_iter().find(is);
            let who = who.map_or("a member".to_owned(), |member| member.to_string());
            let digest = hex::encode(task.computation().digest());
            let ours = format!("{}, digest {}", task.computation().name(), &digest[..16]);
            let cause = format!("{who} runs another computation, or its members are others (ours: {ours})");
            Err(Fault::new(
                code::COMPUTATION,
                AGREE,
                cause,
                "run the same computations in the same order everywhere",
            ))
        };
        let mut theirs = [0; 32];
        let Links { both, to, from } = self.engine.links();
        for channel in to {
            channel.send(AGREE, &own).map_err(net)?;
        }
        for channel in both {
            channel.exchange(AGREE, &own, &mut theirs).map_err(net)?;
            same(channel.from(), theirs)?;
        }
        for channel in from {
            channel.recv(AGREE, &mut theirs).map_err(net)?;
            same(channel.from(), theirs)?;
        }
        Ok(())
    }
}

fn is_party(member: &Member) -> bool {
    matches!(member, Member::Party(_))
}
