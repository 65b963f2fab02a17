//! The agreement on a computation, and what its members bring and learn.

use super::{ComputationSource, ComputeJob, ComputePart, file::refused, values::Values};
use crate::{
    Agreement, Chosen, Field, Forecast, JobError, Member, MemberConfig, Protocol, Task, plan::between_two,
};
use hushwire_circuit::{Planes, Program, TwoParty, planes::plane_bytes};
use hushwire_compute::{Computation, Dim, Scalar, Tensor, Type, Visibility, circuits};
use hushwire_three::{Plan, ThreeError};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
use zeroize::Zeroizing;

/// AGREEMENT: the meaning of the fields, the way in which computations become circuits, and the bytes that a run sends.
const PLAN_VERSION: u32 = 1;
/// LOCAL: no value of a computation has more bits.
const MOST_BITS: usize = 1 << 33;

/// A computation's job, read and planned.
#[derive(Clone)]
pub struct ComputeTask {
    job: ComputeJob,
    chosen: Chosen,
    computation: Arc<Computation>,
    /// Of the computation's inputs.
    owners: Vec<Member>,
    /// Of the computation's outputs.
    recipients: Vec<Vec<Member>>,
    /// The member of the job that each of the computation's is.
    members: Vec<Member>,
    clients: Vec<String>,
}

/// A value's elements.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
    pub(crate) rows: usize,
}

/// Whether all values of a computation without symbols, those in between as well, are of a size that a machine takes.
///
/// # Errors
/// The first that is not.
pub fn fits(computation: &Computation) -> Result<(), JobError> {
    computation.nodes().iter().try_for_each(|node| Extent::new(&node.ty).map(drop))
}

impl Extent {
    fn new(ty: &Type) -> Result<Self, JobError> {
        // In the open an element takes a word, however few bits it has.
        let bits = ty.shape.elements().and_then(|n| n.checked_mul(ty.scalar.bits().max(64)));
        let lengths = ty.shape.lengths().filter(|_| bits.is_some_and(|bits| bits <= MOST_BITS));
        let lengths = lengths.ok_or_else(|| {
            let cause = format!("a value is {ty}, more than this machine takes");
            JobError::usage("the computation", cause, "bring fewer rows, or split the job")
        })?;
        let rows = lengths.iter().product();
        Ok(Extent { scalar: ty.scalar, lengths, rows })
    }

    /// Bytes of its bit planes.
    pub(crate) fn bytes(&self) -> usize {
        self.scalar.bits() * plane_bytes(self.rows)
    }

    /// The bit planes of records.
    pub(crate) fn planes(&self, records: &[u8]) -> Planes {
        Planes::pack(records, self.scalar.bits(), self.rows)
    }

    /// The records of bit planes.
    pub(crate) fn records(&self, planes: &[u8]) -> Zeroizing<Vec<u8>> {
        let planes = Planes::new(self.scalar.bits(), self.rows, planes.to_vec());
        let planes = planes.expect("as many bytes as the planes take");
        let mut records = Zeroizing::new(planes.unpack());
        records.chunks_exact_mut(self.scalar.record()).for_each(|record| self.scalar.extend(record));
        records
    }
}

/// A computation whose lengths all have numbers, between members of a job.
#[derive(Clone)]
pub struct Bound {
    /// The computation.
    pub computation: Arc<Computation>,
    pub(crate) owners: Vec<Member>,
    pub(crate) recipients: Vec<Vec<Member>>,
    pub(crate) inputs: Vec<Extent>,
    pub(crate) outputs: Vec<Extent>,
}

fn wrong(cause: impl std::fmt::Display, remedy: impl std::fmt::Display) -> JobError {
    JobError::usage("planning the job", cause, remedy)
}

impl ComputeTask {
    /// Reads the computation and plans its run.
    ///
    /// # Errors
    /// The computation cannot be read, a member of it has no place in the protocol, or an input is brought by nobody.
    pub fn new(job: &ComputeJob) -> Result<Self, JobError> {
        Self::of(job, Arc::new(job.computation.load()?))
    }

    /// Plans the run of a computation, in place of the one that the job names.
    ///
    /// # Errors
    /// A member of it has no place in the protocol, or an input is brought by nobody.
    pub fn of(job: &ComputeJob, computation: Arc<Computation>) -> Result<Self, JobError> {
        let chosen = Chosen::new(job.protocol, job.scheme, job.ot)?;
        let names = computation.members();
        if let Some(odd) = job.members.keys().find(|name| !names.contains(name)) {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            return Err(wrong(
                format!("the computation has no member {odd}"),
                crate::suggest::remedy(odd, &names),
            ));
        }
        if let Some(odd) = job.symbols.keys().find(|name| !computation.symbols().contains(name)) {
            let names: Vec<_> = computation.symbols().iter().map(String::as_str).collect();
            return Err(wrong(
                format!("the computation has no symbol {odd}"),
                crate::suggest::remedy(odd, &names),
            ));
        }
        let members = (0..names.len()).map(|i| member_of(job, names, i)).collect::<Result<Vec<_>, _>>()?;
        for member in &members {
            job.protocol.admits(member).map_err(|(cause, remedy)| wrong(cause, remedy))?;
        }
        let mut owners = vec![];
        for (name, ty) in computation.inputs() {
            let Visibility::Private(of) = ty.visibility else {
                let remedy = "declare it `from` a member, or write a constant";
                return Err(wrong(format!("input {name} is brought by no member"), remedy));
            };
            owners.push(members[usize::from(of.0)].clone());
        }
        let learn = |to: &[hushwire_compute::Member]| {
            let mut to: Vec<_> = to.iter().map(|of| members[usize::from(of.0)].clone()).collect();
            to.sort();
            to.dedup();
            to
        };
        let recipients: Vec<_> = computation.outputs().iter().map(|output| learn(&output.to)).collect();
        let takes_part =
            |member: &&Member| owners.contains(member) || recipients.iter().flatten().any(|m| m == *member);
        let mut clients: Vec<String> = vec![];
        for member in members.iter().filter(takes_part) {
            if let Member::Client(name) = member
                && !clients.contains(name)
            {
                clients.push(name.clone());
            }
        }
        if clients.len() > 100 {
            return Err(wrong("it has more than 100 clients", "let parties bring some of the inputs"));
        }
        Ok(Self { job: job.clone(), chosen, computation, owners, recipients, members, clients })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &ComputeJob {
        &self.job
    }

    /// The computation, whose lengths may be symbols.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The protocol with what it was told.
    #[must_use]
    pub fn chosen(&self) -> Chosen {
        self.chosen
    }

    /// The members of the job that the computation's members are, in order.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The owner of an input, by its place.
    #[must_use]
    pub fn owner(&self, input: usize) -> &Member {
        &self.owners[input]
    }

    /// Those who learn an output, by its place.
    #[must_use]
    pub fn recipients(&self, output: usize) -> &[Member] {
        &self.recipients[output]
    }

    /// Inputs of `member`: place, name and type.
    pub(crate) fn inputs_of<'a>(
        &'a self,
        member: &'a Member,
    ) -> impl Iterator<Item = (usize, &'a str, &'a Type)> {
        let all = self.computation.inputs().enumerate().map(|(i, (name, ty))| (i, name, ty));
        all.filter(move |(i, ..)| self.owners[*i] == *member)
    }

    /// Outputs that `member` learns, by place.
    pub(crate) fn outputs_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = usize> + 'a {
        (0..self.recipients.len()).filter(move |j| self.recipients[*j].contains(member))
    }

    /// The names of symbols that the job does not bind, and that some value has.
    pub(crate) fn unbound(&self) -> Vec<String> {
        let stands = |name: &String| {
            let is = |dim: &Dim| matches!(dim, Dim::Symbol(symbol) if **symbol == **name);
            self.computation.nodes().iter().any(|node| node.ty.shape.0.iter().any(is))
        };
        let unbound = |name: &&String| !self.job.symbols.contains_key(*name) && stands(name);
        self.computation.symbols().iter().filter(unbound).cloned().collect()
    }

    /// An error of the computation, with its file.
    pub(crate) fn refused(&self, e: &hushwire_compute::ComputeError) -> JobError {
        let path = match &self.job.computation {
            ComputationSource::File(path) => Some(path.as_path()),
            ComputationSource::Text(_) => None,
        };
        refused(path, e)
    }

    /// The numbers of symbols that inputs of these lengths have, with those that are known before.
    pub(crate) fn lengths(
        &self,
        known: &BTreeMap<String, u64>,
        lengths: &BTreeMap<String, Vec<usize>>,
    ) -> Result<BTreeMap<String, u64>, JobError> {
        let found = self.computation.symbols_with(known, lengths);
        found.map_err(|e| JobError::usage("reading inputs", e.cause(), e.remedy()))
    }

    /// Holds an input of this member to the range that it promises.
    pub(crate) fn promised(&self, name: &str, values: &Values) -> Result<(), JobError> {
        let tensor = Tensor::from_records(values.scalar, &values.lengths, &values.records);
        let kept = self.computation.check_promises(&BTreeMap::from([(name.to_owned(), tensor)]));
        kept.map_err(|e| JobError::usage("reading inputs", e.cause(), e.remedy()))
    }

    /// The computation with these lengths.
    ///
    /// # Errors
    /// A symbol has no number, an operation does not take these lengths, or a value is too large.
    pub fn bound(&self, symbols: &BTreeMap<String, u64>) -> Result<Bound, JobError> {
        let computation = Arc::new(self.computation.bind(symbols).map_err(|e| self.refused(&e))?);
        fits(&computation)?;
        let inputs = computation.inputs().map(|(_, ty)| Extent::new(ty)).collect::<Result<_, _>>()?;
        let outputs =
            computation.outputs().iter().map(|output| Extent::new(&computation.node(output.value).ty));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let (owners, recipients) = (self.owners.clone(), self.recipients.clone());
        Ok(Bound { computation, owners, recipients, inputs, outputs })
    }

    /// Names the runs that may replace each other's file of output `name`.
    pub(crate) fn writer(&self, name: &str) -> String {
        format!("output {name} of {}", self.computation.name())
    }
}

/// The member of the job that member `i` of the computation is.
fn member_of(job: &ComputeJob, names: &[String], i: usize) -> Result<Member, JobError> {
    let name = &names[i];
    if let Some(member) = job.members.get(name) {
        return Ok(member.clone());
    }
    if let Ok(party @ Member::Party(_)) = name.parse() {
        return Ok(party);
    }
    if job.protocol.has_clients() {
        return Ok(Member::Client(name.clone()));
    }
    if names.len() <= usize::from(job.protocol.parties()) {
        return Ok(Member::Party(i as u8));
    }
    let cause =
        format!("protocol {} has two parties, and the computation {} members", job.protocol, names.len());
    Err(wrong(
        cause,
        format!("say which party each is under [members], as in {name} = \"party0\", or take protocol rep3"),
    ))
}

/// The form in which parties run a computation.
pub(crate) enum Form {
    /// Steps on shares of numbers and of bits.
    Steps(Plan),
    /// A circuit, once.
    Circuit(Arc<Program>),
}

impl Form {
    /// ANDs of a circuit; 0 of steps.
    pub(crate) fn ands(&self) -> u64 {
        match self {
            Form::Steps(_) => 0,
            Form::Circuit(program) => program.ands(),
        }
    }
}

impl Bound {
    /// The form in which the protocol's parties run it, which follows from the computation alone: a circuit where there is
    /// no other.
    pub(crate) fn form(&self, protocol: Protocol) -> Result<Form, JobError> {
        let steps = match protocol {
            Protocol::Rep3 => Plan::new(&self.computation).ok(),
            Protocol::Yao | Protocol::Gmw => None,
        };
        match steps {
            Some(plan) => Ok(Form::Steps(plan)),
            None => Ok(Form::Circuit(Arc::new(self.program()?))),
        }
    }

    /// The computation as a circuit.
    pub(crate) fn program(&self) -> Result<Program, JobError> {
        circuits::program(&self.computation).map_err(|e| refused(None, &e))
    }

    /// Owners and recipients as a protocol of two parties has them.
    pub(crate) fn between_two(&self, program: &Program) -> TwoParty {
        between_two(program, self.owners.iter(), self.recipients.iter().map(|to| &to[..]))
    }

    /// The forecast of a run on a CPU with AES instructions or without, and the ANDs of the circuit that it is, if it is one.
    ///
    /// # Errors
    /// It is too large to be run.
    pub fn forecast(
        &self,
        chosen: Chosen,
        aes_instructions: bool,
    ) -> Result<(Forecast, Option<u64>), JobError> {
        match self.form(chosen.protocol)? {
            Form::Circuit(program) => {
                let who = self.between_two(&program);
                let forecast = Forecast::of_program(chosen, &program, &who, aes_instructions);
                Ok((forecast, Some(program.ands())))
            }
            Form::Steps(plan) => {
                let refused = |e: ThreeError| match e {
                    ThreeError::Compute(e) => refused(None, &e),
                    e => JobError::internal("the computation", e),
                };
                let costs = (0..3).map(|party| plan.cost(party).map(|of| of.cost));
                let costs = costs.collect::<Result<Vec<_>, _>>().map_err(refused)?;
                let rounds = costs.iter().map(|cost| cost.rounds).max().unwrap_or_default();
                let sent = costs.iter().map(|cost| cost.bytes_sent).max().unwrap_or_default();
                // A share of each input and output comes on top, at most.
                let ends: usize = self.inputs.iter().chain(&self.outputs).map(Extent::bytes).sum();
                Ok((Forecast::of_steps(rounds, sent + ends as u64, aes_instructions), None))
            }
        }
    }
}

impl Task for ComputeTask {
    type Learnt = super::Computed;
    type Part = ComputePart;

    fn agreement(&self) -> Agreement {
        let join = |list: Vec<String>| list.join(", ");
        let digest = hex::encode(self.computation.digest());
        let name = self.computation.name();
        let members = self.computation.members().iter().zip(&self.members);
        let symbols = self.job.symbols.iter().map(|(name, n)| format!("{name} = {n}"));
        Agreement {
            kind: "compute",
            title: name.to_owned(),
            protocol: self.job.protocol,
            clients: self.clients.clone(),
            fields: vec![
                Field::new("protocol", format!("{}, compute version {PLAN_VERSION}", self.chosen.agreed())),
                Field {
                    shown: Some(format!("{name}, digest {}", &digest[..16])),
                    ..Field::new("computation", digest.clone())
                },
                Field::new(
                    "members",
                    join(members.map(|(name, is)| format!("{name}: {}", is.key())).collect()),
                ),
                Field::new("symbols", join(symbols.collect())),
            ],
            lanes: 2,
            client_lanes: 1,
        }
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        match &self.job.computation {
            ComputationSource::File(path) => vec![("the computation".to_owned(), path.clone())],
            ComputationSource::Text(_) => vec![],
        }
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        let Chosen { protocol, scheme, .. } = self.chosen;
        // Three parties count steps, each of which takes a time of its own.
        let ands = ands.filter(|_| protocol.parties() == 2);
        ands.map(|ands| Forecast::of_ands(protocol, scheme, ands, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<ComputePart, JobError> {
        ComputePart::open(self, config)
    }
}
