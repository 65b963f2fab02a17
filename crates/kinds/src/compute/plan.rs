//! The agreement on a computation, and the values that its members bring and learn.

use super::{
    BoundComputation, ComputationSource, ComputeJob, PublicPlace,
    bound::{fits_shards, plannable, within},
    file::{self, refused},
    lengths::{Open, Told, says},
    public::Public,
    shards, stored,
    threads::{lanes, threads},
    values::Values,
};
use hushwire_compute::{Computation, ComputeError, Dim, Scalar, Tensor, Type, Visibility};
use hushwire_fault::code;
use hushwire_session::{
    AgreedField, Agreement, Chosen, Fault, Member, MemberConfig, Protocol, protocol, stored::STORED, suggest,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

/// AGREEMENT: the bytes that a computation may take at each party if members tell lengths and
/// neither a bound on them nor memory was agreed on.
const UNAGREED: u64 = 2 << 30;
/// AGREEMENT: the version of the fields' meaning, the cut, the lowering of computations to
/// circuits, and the bytes that a run sends.
const PLAN_VERSION: u32 = 13;

/// A computation's job, read and planned.
#[derive(Clone)]
pub struct ComputeTask {
    job: ComputeJob,
    chosen: Chosen,
    threads: u16,
    computation: Arc<Computation>,
    /// The owner of each of the computation's inputs; `None` for a public input.
    owners: Vec<Option<Member>>,
    public: Arc<Public>,
    /// The recipients of each of the computation's outputs.
    recipients: Vec<Vec<Member>>,
    /// The member of the job that takes each role of the computation.
    members: Vec<Member>,
    clients: Vec<String>,
    /// The names of the data-set columns that hold inputs, where they differ from the default
    /// names.
    columns: BTreeMap<String, String>,
    /// The bound computation if it has no symbols, after the first request.
    whole: Arc<Mutex<Option<BoundComputation>>>,
}

fn wrong(cause: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Fault {
    Fault::new(code::COMPUTATION, "planning the job", cause, remedy)
}

impl ComputeTask {
    /// Reads the computation and plans its run.
    ///
    /// # Errors
    /// The computation cannot be read, a role of it has no place in the protocol, or an input has
    /// no owner.
    pub fn new(job: &ComputeJob) -> Result<Self, Fault> {
        Self::of(job, Arc::new(job.computation.load()?))
    }

    /// Plans the run of a computation, in place of the one that the job names.
    ///
    /// # Errors
    /// A role of it has no place in the protocol, or an input has no owner.
    pub fn of(job: &ComputeJob, computation: Arc<Computation>) -> Result<Self, Fault> {
        let chosen = Chosen::new(job.protocol, job.scheme, job.ot)?.with_linear(job.linear)?;
        let chosen = chosen.with_ahead(job.ahead)?;
        let names = computation.members();
        if let Some(odd) = job.members.keys().find(|name| !names.contains(name)) {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            return Err(wrong(format!("the computation has no member {odd}"), suggest::remedy(odd, &names)));
        }
        if let Some(odd) =
            job.symbols.keys().chain(job.bounds.keys()).find(|name| !computation.symbols().contains(name))
        {
            let names: Vec<_> = computation.symbols().iter().map(String::as_str).collect();
            return Err(wrong(format!("the computation has no symbol {odd}"), suggest::remedy(odd, &names)));
        }
        let members = (0..names.len()).map(|i| member_of(job, names, i)).collect::<Result<Vec<_>, _>>()?;
        for member in &members {
            job.protocol.keeps(member).map_err(|(cause, remedy)| wrong(cause, remedy))?;
        }
        let owners = owners(job, &computation, &members)?;
        if let Some(odd) = owners.iter().flatten().find(|owner| matches!(owner, Member::Recipient(_))) {
            let remedy = "let a party, a client or a data set bring its inputs, as \"data:stays\"";
            return Err(wrong(format!("{odd} is not connected, and brings inputs"), remedy));
        }
        let public = given(job, &computation)?;
        let public = Arc::new(Public::read(&public, &computation, &job.symbols)?);
        for (symbol, most) in &job.bounds {
            if let Some(n) = public.symbols.get(symbol).filter(|n| *n > most) {
                let cause = format!("{symbol} is {n}, and {most} is the most that was agreed on");
                return Err(wrong(cause, format!("write more for {symbol} under [symbols]")));
            }
        }
        let learn = |to: &[hushwire_compute::Member]| {
            let of = |of: &hushwire_compute::Member| {
                let at = usize::from(of.0);
                job.learns.get(&names[at]).unwrap_or(&members[at]).clone()
            };
            let mut to: Vec<_> = to.iter().map(of).collect();
            to.sort();
            to.dedup();
            to
        };
        let recipients: Vec<_> = computation.outputs().iter().map(|output| learn(&output.to)).collect();
        if let Some(odd) = recipients.iter().flatten().find(|to| matches!(to, Member::Data(_))) {
            let remedy = "let a recipient learn its outputs, as \"recipient:anna\"";
            return Err(wrong(format!("{odd} is no person, and learns outputs"), remedy));
        }
        let all = owners.iter().flatten().chain(recipients.iter().flatten());
        shards::check(job.shards, job.protocol, all)?;
        let learns = recipients.iter().flatten();
        let takes_part =
            |member: &&Member| owners.iter().flatten().chain(learns.clone()).any(|other| other == *member);
        let mut clients: Vec<String> = vec![];
        for to in job.learns.values() {
            job.protocol.keeps(to).map_err(|(cause, remedy)| wrong(cause, remedy))?;
        }
        let named = members.iter().chain(job.owners.values()).chain(job.learns.values());
        for member in named.filter(takes_part) {
            if let Member::Client(name) = member
                && !clients.contains(name)
            {
                clients.push(name.clone());
            }
        }
        if clients.len() > 100 {
            return Err(wrong("it has more than 100 clients", "let parties bring some of the inputs"));
        }
        let threads = threads(job.protocol, job.threads).map_err(|(cause, remedy)| wrong(cause, remedy))?;
        let job = job.clone();
        let (columns, whole) = (BTreeMap::new(), Arc::default());
        Ok(Self {
            job,
            chosen,
            threads,
            computation,
            owners,
            public,
            recipients,
            members,
            clients,
            columns,
            whole,
        })
    }

    /// Sets the names of data-set columns that differ from `NAME: SCALAR`.
    #[cfg(feature = "sql")]
    pub(crate) fn with_columns(self, columns: BTreeMap<String, String>) -> Self {
        Self { columns, whole: Arc::default(), ..self }
    }

    /// The name of the data-set column that holds an input.
    pub(super) fn column(&self, input: &str, scalar: Scalar) -> String {
        self.columns.get(input).cloned().unwrap_or_else(|| stored::column_name(input, scalar))
    }

    /// The members that are not connected.
    pub(crate) fn absent(&self) -> Vec<Member> {
        let all = self.owners.iter().flatten().chain(self.recipients.iter().flatten());
        all.filter(|member| !member.is_connected()).cloned().collect()
    }

    /// The inputs that come from data sets: data set, name and type.
    fn stored(&self) -> impl Iterator<Item = (&str, &str, &Type)> {
        let inputs = self.computation.inputs().zip(&self.owners);
        inputs.filter_map(|((name, ty), owner)| match owner {
            Some(Member::Data(data)) => Some((data.as_str(), name, ty)),
            _ => None,
        })
    }

    /// Checks that a party has the data sets that the job names, and a sink for recipients that are
    /// not connected. Adds the lengths of the data sets to `symbols`.
    pub(super) fn keeps(
        &self,
        config: &MemberConfig,
        mut symbols: BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, Fault> {
        let Member::Party(_) = config.me else { return Ok(symbols) };
        let names: BTreeSet<&str> = self.stored().map(|(data, ..)| data).collect();
        let names: Vec<&str> = names.into_iter().collect();
        if let Some(odd) = config.stored.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("the job has no data set {odd}");
            return Err(Fault::new(code::DATA_SET, STORED, cause, suggest::remedy(odd, &names)));
        }
        let mut lengths = BTreeMap::new();
        for (data, name, ty) in self.stored() {
            let missing = || {
                let cause = format!("{} keeps no shares of data set {data}", config.me);
                Fault::new(code::DATA_SET, STORED, cause, "put the data set at all three parties")
            };
            let kept = config.stored.get(data).ok_or_else(missing)?;
            let (column, known) = (self.column(name, ty.scalar), ty.shape.lengths());
            let at = kept.column(data, &column, ty.scalar.bits(), known.as_deref())?;
            let all = kept.columns[at].lengths.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX));
            lengths.insert(name.to_owned(), all.collect());
            symbols = self.lengths(&symbols, &lengths)?;
        }
        let absent = self.recipients.iter().flatten().find(|to| matches!(to, Member::Recipient(_)));
        if let (Some(absent), None) = (absent, &config.sealed) {
            let cause = format!("{absent} is not connected, and {} keeps no sealed shares", config.me);
            let remedy = "run the job with a service, or name a client, as \"client:anna\"";
            return Err(Fault::new(code::COMPUTATION, "preparing outputs", cause, remedy));
        }
        Ok(symbols)
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &ComputeJob {
        &self.job
    }

    /// Remarks on public values that were rounded.
    pub(super) fn remarks(&self) -> &[String] {
        &self.public.remarks
    }

    /// The computation, whose lengths may be symbols.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The protocol with its options.
    #[must_use]
    pub fn chosen(&self) -> Chosen {
        self.chosen
    }

    /// Sets the extension of oblivious transfer that was chosen for a link.
    #[cfg(feature = "nn")]
    pub(crate) fn over(mut self, link: hushwire_session::Link, ot: hushwire_ot::Protocol) -> Self {
        self.chosen = Chosen { ot: Some(ot), link: Some(link), ..self.chosen };
        self
    }

    /// Compute threads of each party.
    #[must_use]
    pub fn threads(&self) -> u16 {
        self.threads
    }

    /// The members of the job that take the roles of the computation, in order.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The owner of an input, by its place; `None` for a public input.
    #[must_use]
    pub fn owner(&self, input: usize) -> Option<&Member> {
        self.owners[input].as_ref()
    }

    /// The recipients of an output, by its place.
    #[must_use]
    pub fn recipients(&self, output: usize) -> &[Member] {
        &self.recipients[output]
    }

    /// The inputs of `member`: place, name and type.
    pub(crate) fn inputs_of<'a>(
        &'a self,
        member: &'a Member,
    ) -> impl Iterator<Item = (usize, &'a str, &'a Type)> {
        let all = self.computation.inputs().enumerate().map(|(i, (name, ty))| (i, name, ty));
        all.filter(move |(i, ..)| self.owners[*i].as_ref() == Some(member))
    }

    /// The outputs that `member` learns, by place.
    pub(crate) fn outputs_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = usize> + 'a {
        (0..self.recipients.len()).filter(move |j| self.recipients[*j].contains(member))
    }

    /// The numbers of symbols that the job or a public value binds.
    pub(crate) fn known(&self) -> &BTreeMap<String, u64> {
        &self.public.symbols
    }

    /// Checks that all public values are present. A run needs them, a forecast does not.
    pub(crate) fn complete(&self) -> Result<(), Fault> {
        let mut inputs = self.computation.inputs().zip(&self.owners);
        let missing = inputs.find(|((name, _), owner)| owner.is_none() && !self.public.has(name));
        self.job.values.complete(&self.job.parameters)?;
        missing.map_or(Ok(()), |((name, ty), _)| {
            let remedy = format!("write {name} = {{ values = \"…\" }} under [public] of the job");
            Err(Fault::new(
                code::COMPUTATION,
                "reading inputs",
                format!("public input {name}: {ty} has no values"),
                remedy,
            ))
        })
    }

    /// The names of symbols that neither the job nor a public value binds, and that some value has
    /// as a length.
    pub(crate) fn unbound(&self) -> Vec<String> {
        let stands = |name: &String| {
            let is = |dim: &Dim| matches!(dim, Dim::Symbol(symbol) if **symbol == **name);
            self.computation.nodes().iter().any(|node| node.ty.shape.0.iter().any(is))
        };
        let unbound = |name: &&String| !self.known().contains_key(*name) && stands(name);
        self.computation.symbols().iter().filter(unbound).cloned().collect()
    }

    /// The numbers that the job gives to symbols that are no input's length. No member's values
    /// determine them, and a computation may calculate with them. They are therefore terms, like
    /// constants of the computation.
    fn free_symbols(&self) -> Option<String> {
        let fixed = |symbol: &str| self.computation.inputs().any(|(_, ty)| has(ty, symbol));
        let free = self.job.symbols.iter().filter(|(name, _)| !fixed(name));
        let free: Vec<_> = free.map(|(name, n)| format!("{name} = {n}")).collect();
        (!free.is_empty()).then(|| free.join(", "))
    }

    /// The unbound symbols, with the members that may tell them and the agreed bound.
    pub(super) fn open_symbols(&self) -> Vec<Open> {
        let open = |symbol: String| {
            let inputs = self.computation.inputs().zip(&self.owners);
            let owners =
                inputs.filter(|((_, ty), _)| has(ty, &symbol)).filter_map(|(_, owner)| owner.clone());
            Open { owners: owners.collect(), most: self.job.bounds.get(&symbol).copied(), symbol }
        };
        self.unbound().into_iter().map(open).collect()
    }

    /// Turns an error of the computation into a fault that names its file.
    pub(crate) fn refused(&self, e: &ComputeError) -> Fault {
        let path = match &self.job.computation {
            ComputationSource::File(path) => Some(path.as_path()),
            ComputationSource::Text(_) => None,
        };
        refused(path, e)
    }

    /// The numbers of symbols that follow from inputs of these lengths, in addition to `known`.
    pub(crate) fn lengths(
        &self,
        known: &BTreeMap<String, u64>,
        lengths: &BTreeMap<String, Vec<usize>>,
    ) -> Result<BTreeMap<String, u64>, Fault> {
        let found = self.computation.symbols_with(known, lengths);
        found.map_err(|e| file::unfit(&e))
    }

    /// The numbers that follow from this member's inputs. Each must be within the agreed bound.
    pub(super) fn own(&self, symbols: &BTreeMap<String, u64>, me: &Member) -> Result<Told, Fault> {
        let own = |open: Open| {
            let n = *symbols.get(&open.symbol)?;
            Some(open.within(n, me).map(|()| (open.symbol, (n, me.clone()))))
        };
        self.open_symbols().into_iter().filter_map(own).collect()
    }

    /// The bytes that a computation may take at each party, if members told these lengths.
    pub(super) fn most_memory(&self, told: &Told) -> Option<u64> {
        let unagreed = told.keys().any(|symbol| !self.job.bounds.contains_key(symbol));
        self.job.memory.or(unagreed.then_some(UNAGREED))
    }

    /// Checks that an input of this member is in the range that it promises.
    pub(crate) fn promised(&self, name: &str, values: &Values) -> Result<(), Fault> {
        // A tensor of a network's weights would be large.
        if !self.computation.has_promise(name) {
            return Ok(());
        }
        let tensor = Tensor::from_records(values.scalar, &values.lengths, &values.records);
        let kept = self.computation.check_promises(&BTreeMap::from([(name.to_owned(), tensor)]));
        kept.map_err(|e| file::unfit(&e))
    }

    /// Binds the computation to these lengths.
    pub fn bound(&self, symbols: &BTreeMap<String, u64>) -> Result<BoundComputation, Fault> {
        self.bound_within(symbols, &Told::new())
    }

    /// Like [`ComputeTask::bound`], after members told lengths: the computation must not take more
    /// memory than was agreed on.
    pub(super) fn bound_within(
        &self,
        symbols: &BTreeMap<String, u64>,
        told: &Told,
    ) -> Result<BoundComputation, Fault> {
        if !self.computation.symbols().is_empty() || !told.is_empty() {
            return self.newly_bound(symbols, told);
        }
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bound) = whole.as_ref() {
            return Ok(bound.clone());
        }
        let bound = self.newly_bound(symbols, told)?;
        *whole = Some(bound.clone());
        Ok(bound)
    }

    fn newly_bound(&self, symbols: &BTreeMap<String, u64>, told: &Told) -> Result<BoundComputation, Fault> {
        let refused = |e: &ComputeError| says(told, self.refused(e));
        let computation = self.computation.bind(symbols).map_err(|e| refused(&e))?;
        // Values that depend on public ones may have had symbols as lengths before.
        computation.check_promises(&self.public.values).map_err(|e| refused(&e))?;
        fits_shards(&computation, self.job.shards).map_err(|e| says(told, e))?;
        // Three parties' plans know their memory better, and shorten pieces. Without an agreed
        // limit, `within` is the more generous check.
        let planned = self.job.protocol == Protocol::Rep3 && self.job.memory.is_some();
        if let Some(most) = self.most_memory(told) {
            let held = if planned { plannable } else { within };
            held(&computation, most).map_err(|e| says(told, e))?;
        }
        // A forecast may lack public values; it counts them as inputs of party 0.
        let inputs = computation.inputs().zip(&self.owners);
        let first = |(name, _): (&str, &Type)| (!self.public.has(name)).then_some(Member::Party(0));
        let owners: Vec<_> = inputs.map(|(input, owner)| owner.clone().or_else(|| first(input))).collect();
        let numbers = self.job.protocol == Protocol::Rep3;
        let computes = |owner: &Member| !matches!(owner, Member::Data(_));
        let cut = computation.cut_among(&owners, &self.public.values, numbers, computes);
        let cut = cut.map_err(|e| self.refused(&e))?;
        let (recipients, columns) = (self.recipients.clone(), self.columns.clone());
        BoundComputation::new(computation, cut, self.public.clone(), recipients, columns, self.job.shards)
    }

    /// Names the runs that may replace each other's file of output `name`. These are the runs of
    /// the same computation with the same numbers, whatever its inputs' lengths.
    #[must_use]
    pub fn writer(&self, name: &str) -> String {
        let digest = hex::encode(&self.computation.digest()[..8]);
        let numbers = self.free_symbols().map(|numbers| format!(" with {numbers}")).unwrap_or_default();
        format!("output {name} of {} {digest}{numbers}", self.computation.name())
    }

    /// The agreement of the members.
    pub(super) fn agreed(&self) -> Agreement {
        let join = |list: Vec<String>| list.join(", ");
        let digest = hex::encode(self.computation.digest());
        let name = self.computation.name();
        let members = self.computation.members().iter().zip(&self.members);
        let bounds = self.job.bounds.iter().map(|(name, n)| format!("{name} <= {n}"));
        let symbols = self.job.symbols.iter().map(|(name, n)| format!("{name} = {n}")).chain(bounds);
        let owners = self.job.owners.iter().map(|(name, is)| format!("{name}: {}", is.key()));
        let public = self.public.digests();
        // The value of a parameter belongs to a run, and is not a term.
        let is_parameter = |name: &str| self.job.parameters.iter().any(|(of, _)| of == name);
        let lasting = public.iter().filter(|(name, _)| !is_parameter(name));
        let lasting = join(lasting.map(|(name, hex)| format!("{name}: {hex}")).collect());
        let more = self.job.parameters.iter();
        let more = more.map(|(name, is)| AgreedField::new("parameter", format!("{name} {is}")));
        let values = self.job.values.agreed(&self.job.parameters);
        let values = values.map(|values| AgreedField::size("values of parameters", values));
        let data = self.job.values.agreed_data().map(|data| AgreedField::size("data sets", data));
        // A message about a difference names only a few fields, so these come first.
        let first: Vec<AgreedField> = values.into_iter().chain(data).collect();
        let mut agreement = Agreement {
            kind: "compute",
            title: name.to_owned(),
            protocol: self.job.protocol,
            clients: self.clients.clone(),
            fields: vec![
                AgreedField::new(
                    "protocol",
                    format!("{}, compute version {PLAN_VERSION}", self.chosen.agreed()),
                )
                .meaning(self.chosen.to_string()),
                AgreedField {
                    shown: Some(format!("{name}, digest {}", &digest[..16])),
                    ..AgreedField::new("computation", digest.clone())
                },
                AgreedField::new(
                    "members",
                    join(members.map(|(name, is)| format!("{name}: {}", is.key())).collect()),
                ),
                AgreedField {
                    term: self.free_symbols(),
                    ..AgreedField::size("symbols", join(symbols.collect()))
                },
                AgreedField::size("threads", self.threads.to_string()),
                // The cut into pieces depends on it.
                AgreedField::size(
                    "memory",
                    self.job.memory.map_or("any".to_owned(), |bytes| format!("{bytes} bytes")),
                ),
                AgreedField::new("owners", join(owners.collect())),
                AgreedField {
                    shown: Some(join(
                        public.iter().map(|(name, hex)| format!("{name} {}", &hex[..16])).collect(),
                    )),
                    ..AgreedField::new(
                        "public values",
                        join(public.iter().map(|(name, hex)| format!("{name}: {hex}")).collect()),
                    )
                    .meaning(lasting)
                },
            ],
            lanes: lanes(self.job.protocol, self.threads),
            client_lanes: 1,
        };
        agreement.fields.splice(1..1, first);
        agreement.fields.extend(more);
        if self.job.shards > 1 {
            agreement.fields.insert(0, AgreedField::new("shards", self.job.shards.to_string()));
        }
        agreement
    }
}

/// The job's public values, and the values that a run gives to parameters, checked against their
/// ranges.
fn given(job: &ComputeJob, computation: &Computation) -> Result<BTreeMap<String, PublicPlace>, Fault> {
    let mut public = job.public.clone();
    for (name, is) in &job.parameters {
        let refused = |cause: String, remedy: &str| {
            Err(Fault::new(code::PARAMETER, "planning the job", format!("parameter {name} {cause}"), remedy))
        };
        let declared = computation.inputs().find(|(input, _)| input == name);
        let declared = declared.filter(|(_, ty)| ty.visibility == Visibility::Public && ty.shape.rank() == 0);
        let Some((_, ty)) = declared else {
            let cause = "is no public input of the computation that is one number";
            return refused(cause.into(), "declare it there, as in input limit: u32 public");
        };
        if is.ty != ty.scalar.to_string() {
            let cause = format!("is a {}, and the computation takes a {}", is.ty, ty.scalar);
            return refused(cause, "write the computation's type");
        }
        if job.public.contains_key(name) {
            return refused("has a value under [public]".into(), "leave it out there: the value is a run's");
        }
        let read = |text: &str| {
            let tensor = PublicPlace::Values(text.to_owned()).tensor(name, ty).map_err(|e| e.cause())?;
            let number = tensor.number(0).or_else(|| i128::try_from(tensor.get(0)).ok());
            number.ok_or_else(|| "it is no number".to_owned())
        };
        is.checked(name, &job.values, read)?;
        if let Some(value) = job.values.parameters.get(name) {
            public.insert(name.clone(), PublicPlace::Values(value.clone()));
        }
    }
    Ok(public)
}

/// Tests whether a symbol is a length of values of this type.
fn has(ty: &Type, symbol: &str) -> bool {
    ty.shape.0.iter().any(|dim| matches!(dim, Dim::Symbol(name) if **name == *symbol))
}

/// The owner of each input. A type may name the owner, the job names the owners of secret inputs,
/// and a public input has none.
fn owners(
    job: &ComputeJob,
    computation: &Computation,
    members: &[Member],
) -> Result<Vec<Option<Member>>, Fault> {
    let secret = computation.inputs().filter(|(_, ty)| ty.visibility == Visibility::Secret);
    let secret: Vec<&str> = secret.map(|(name, _)| name).collect();
    if let Some(odd) = job.owners.keys().find(|name| !secret.contains(&name.as_str())) {
        let remedy = match computation.inputs().any(|(name, _)| name == odd) {
            true => "leave it out: its declaration says who brings it".to_owned(),
            false => suggest::remedy(odd, &secret),
        };
        return Err(wrong(format!("the computation has no secret input {odd}"), remedy));
    }
    let owner = |(name, ty): (&str, &Type)| match ty.visibility {
        Visibility::Public => Ok(None),
        Visibility::Private(of) => Ok(Some(members[usize::from(of.0)].clone())),
        Visibility::Secret => {
            let owner = job.owners.get(name).ok_or_else(|| {
                let remedy = format!("write {name} = \"party0\", or a client, under [owners] of the job");
                wrong(format!("secret input {name} is brought by no member"), remedy)
            })?;
            job.protocol.keeps(owner).map_err(|(cause, remedy)| wrong(cause, remedy))?;
            Ok(Some(owner.clone()))
        }
    };
    computation.inputs().map(owner).collect()
}

/// The member of the job that takes role `i` of the computation.
fn member_of(job: &ComputeJob, names: &[String], i: usize) -> Result<Member, Fault> {
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
    let cause = format!(
        "protocol {} has {} parties, and the computation {} members",
        job.protocol,
        protocol::words(job.protocol.parties()),
        names.len()
    );
    Err(wrong(
        cause,
        format!("say which party each is under [members], as in {name} = \"party0\", or take protocol rep3"),
    ))
}
