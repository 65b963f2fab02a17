//! The plan of a circuit's job: its values, its members, and how the work is divided.

use super::file::{MOST_BATCH, MOST_INSTANCES, MOST_LANES, MOST_THREADS};
use crate::{BitOrderChoice, CircuitJob, Parameters};
use hushwire_circuit::Program;
use hushwire_fault::code;
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use hushwire_session::{AgreedField, Agreement, Chosen, Fault, Linear, Member, Protocol, Seats};

/// AGREEMENT: the version of the fields' meaning and of the bytes that a run sends.
const PLAN_VERSION: u32 = 2;
/// AGREEMENT: the number of instances in a batch, if memory allows.
const BATCH: u64 = 4096;
/// AGREEMENT: the bytes of one share of all registers of a batch.
const BATCH_BYTES: u64 = 8 << 20;
/// AGREEMENT: the bytes of the labels of all registers of a batch.
const LABEL_BYTES: u64 = 32 << 20;
/// AGREEMENT: the ANDs of a batch of authenticated garbling. Each takes some hundred bytes of
/// triples and tables.
const BATCH_ANDS: u64 = 1 << 17;
/// The bytes of a label.
const LABEL: u64 = 16;
/// AGREEMENT: the default number of compute threads.
const THREADS: u16 = 2;
/// AGREEMENT: the default number of batches in flight on a thread.
const LANES: u16 = 2;
/// The largest number of batches of a job: each has a number of 32 bits as a shard of the session's
/// randomness.
const MOST_BATCHES: u64 = u32::MAX as u64;

/// The plan of a run, on which all members agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitPlan {
    /// The protocol of the parties.
    pub protocol: Protocol,
    /// The scheme of the garbled gates, where the protocol garbles.
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer, where the protocol uses one.
    pub ot: Option<Extension>,
    /// The circuit's name, for people; not a part of the digests.
    pub circuit: String,
    /// The digest of the circuit in the order in which it is computed.
    pub circuit_digest: [u8; 32],
    /// The number of bits of each input.
    pub input_widths: Vec<usize>,
    /// The number of bits of each output.
    pub output_widths: Vec<usize>,
    /// The end of a written value at which wire 0 is: `Lsb` or `Msb`.
    pub bit_order: BitOrderChoice,
    /// The number of instances of the circuit.
    pub instances: u64,
    /// Each input's name and owner.
    pub inputs: Vec<(String, Member)>,
    /// Each output's name and recipients.
    pub outputs: Vec<(String, Vec<Member>)>,
    /// The number of instances in a batch.
    pub batch: u32,
    /// The number of compute threads of each party, each with batches of its own.
    pub threads: u16,
    /// LOCAL: the number of threads that share the work on a batch; more than 1 only for n parties
    /// whose job sets more threads than it has batches.
    pub beside: u16,
    /// The number of batches in flight on each thread; 1 for two parties.
    pub lanes: u16,
    /// Clients in the order of their numbers.
    pub clients: Vec<String>,
}

impl CircuitPlan {
    /// Fits a job to its circuit. `bit_order` is the order that `auto` resolved to.
    ///
    /// # Errors
    /// The job lists other inputs or outputs than the circuit has, names a member or sets an option
    /// that its protocol does not have, has too many instances or clients, or has a number that no
    /// job file may have, such as 0 instances or threads.
    pub fn new(job: &CircuitJob, program: &Program, bit_order: BitOrderChoice) -> Result<Self, Fault> {
        count("inputs", job.inputs.len(), program.inputs())?;
        count("outputs", job.outputs.len(), program.outputs())?;
        let (scheme, ot) = (job.protocol.scheme(job.scheme)?, job.protocol.extension(job.ot)?);
        admitted(job)?;
        in_range(job)?;
        let clients = job.clients();
        if clients.len() > 100 {
            return Err(wrong("it has more than 100 clients", "split the job"));
        }
        let given = &job.parameters;
        let batch = given.batch.unwrap_or_else(|| fitting_batch(job.protocol, program));
        let batch = u64::from(batch).min(job.instances);
        let batches = job.instances.div_ceil(batch);
        if batches > MOST_BATCHES {
            let most = batch * MOST_BATCHES;
            return Err(wrong(
                format!("batches of {batch} allow {most} instances at most"),
                "raise `batch` under [parameters], or split the job",
            ));
        }
        // A short job needs fewer connections.
        let threads = u64::from(given.threads.unwrap_or(THREADS)).min(batches);
        // Only if the job asks for threads: parties without a core for each thread would be slower.
        let shared = job.protocol.authenticated().and(given.threads);
        let beside = shared.map_or(1, |asked| asked / threads as u16);
        let lanes = u64::from(lanes(job)?).min(batches.div_ceil(threads));
        Ok(Self {
            protocol: job.protocol,
            scheme,
            ot,
            circuit: job.circuit.to_string(),
            circuit_digest: program.digest(),
            input_widths: program.inputs().to_vec(),
            output_widths: program.outputs().to_vec(),
            bit_order,
            instances: job.instances,
            inputs: job.inputs.iter().map(|i| (i.name.clone(), i.from.clone())).collect(),
            outputs: job.outputs.iter().map(|o| (o.name.clone(), o.to.clone())).collect(),
            batch: batch as u32,
            threads: threads as u16,
            beside,
            lanes: lanes as u16,
            clients,
        })
    }

    /// The protocol with its options, such as `yao, scheme mi, ot softspoken4`.
    #[must_use]
    pub fn computing(&self) -> String {
        self.chosen().to_string()
    }

    /// The protocol with its options.
    #[must_use]
    pub fn chosen(&self) -> Chosen {
        let Self { protocol, scheme, ot, .. } = *self;
        Chosen { protocol, scheme, ot, linear: Linear::Ot, link: None, ahead: None }
    }

    /// The number of computing parties, 2 to 8.
    #[must_use]
    pub fn parties(&self) -> u8 {
        self.protocol.parties()
    }

    /// The owners of inputs and the recipients of outputs.
    #[must_use]
    pub fn seats(&self) -> Seats {
        let owners = self.inputs.iter().map(|(_, from)| from.clone()).collect();
        Seats { owners, recipients: self.outputs.iter().map(|(_, to)| to.clone()).collect() }
    }

    /// The agreement of the members, with the number of lanes between them.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        let join = |list: Vec<String>| list.join(", ");
        let inputs = self.inputs.iter().zip(&self.input_widths);
        let inputs = inputs.map(|((name, from), width)| format!("{name}: {width} bits from {}", from.key()));
        let outputs = self.outputs.iter().zip(&self.output_widths).map(|((name, to), width)| {
            let to: Vec<_> = to.iter().map(Member::key).collect();
            format!("{name}: {width} bits to {}", to.join(" and "))
        });
        let digest = hex::encode(self.circuit_digest);
        let shown = Some(format!("{}, digest {}", self.circuit, &digest[..16]));
        let protocol = format!("{}, plan version {PLAN_VERSION}", self.chosen().agreed());
        let cut = format!("{} and {}", self.threads, self.lanes);
        let fields = vec![
            AgreedField::new("protocol", protocol).meaning(self.computing()),
            AgreedField { shown, ..AgreedField::new("circuit", digest) },
            AgreedField::new("bit order", self.bit_order.name()),
            AgreedField::size("instances", self.instances.to_string()),
            AgreedField::new("inputs", join(inputs.collect())),
            AgreedField::new("outputs", join(outputs.collect())),
            AgreedField::size("batch", self.batch.to_string()),
            AgreedField::size("threads and lanes", cut),
        ];
        Agreement {
            kind: "circuit",
            title: self.circuit.clone(),
            protocol: self.protocol,
            clients: self.clients.clone(),
            fields,
            lanes: self.threads * self.lanes + 1,
            client_lanes: self.threads,
        }
    }

    /// The number of batches of the whole job.
    #[must_use]
    pub fn batches(&self) -> u32 {
        self.instances.div_ceil(u64::from(self.batch)) as u32
    }

    /// The number of instances in batch `b`, one of [`CircuitPlan::batches`].
    #[must_use]
    pub fn instances_of(&self, b: u32) -> usize {
        let first = u64::from(b) * u64::from(self.batch);
        (self.instances - first).min(u64::from(self.batch)) as usize
    }

    /// Names the runs that may replace each other's file of output `name`, for
    /// [`RunFiles`](hushwire_session::RunFiles). These are the runs of the same circuit, with any
    /// protocol.
    #[must_use]
    pub fn writer(&self, name: &str) -> String {
        format!("output {name} of {} {}", self.circuit, hex::encode(&self.circuit_digest[..8]))
    }

    /// The bytes of an instance's value of `width` bits.
    #[must_use]
    pub fn record(width: usize) -> usize {
        width.div_ceil(8)
    }

    /// The places of the inputs that `member` brings.
    pub fn inputs_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = usize> + 'a {
        (0..self.inputs.len()).filter(move |i| self.inputs[*i].1 == *member)
    }

    /// The places of the outputs that `member` learns.
    pub fn outputs_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = usize> + 'a {
        (0..self.outputs.len()).filter(move |j| self.outputs[*j].1.contains(member))
    }

    /// The parties, then the clients.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        (0..self.parties())
            .map(Member::Party)
            .chain(self.clients.iter().cloned().map(Member::Client))
            .collect()
    }
}

/// The largest power of two up to [`BATCH`] for which a batch fits in memory, but at least 64
/// instances on shared bits. A share of a register is a bit, and a garbled register is a label.
fn fitting_batch(protocol: Protocol, program: &Program) -> u32 {
    let (registers, mut batch) = (program.registers() as u64, BATCH);
    let fits = |batch: u64| match protocol {
        Protocol::Rep3 | Protocol::Gmw | Protocol::Two => {
            batch <= 64 || registers * (batch / 8) <= BATCH_BYTES
        }
        Protocol::Yao => batch <= 1 || registers * LABEL * batch <= LABEL_BYTES,
        Protocol::Authgarble(_) | Protocol::Ywz20(_) => batch <= 1 || program.ands() * batch <= BATCH_ANDS,
    };
    while !fits(batch) {
        batch /= 2;
    }
    batch as u32
}

/// Checks that the job's protocol has a place for every member that the job names.
fn admitted(job: &CircuitJob) -> Result<(), Fault> {
    let named = job.inputs.iter().map(|i| &i.from).chain(job.outputs.iter().flat_map(|o| &o.to));
    for member in named {
        job.protocol.admits(member).map_err(|(cause, remedy)| wrong(cause, &remedy))?;
    }
    Ok(())
}

/// Checks the job's numbers, which a program may have set without a file.
fn in_range(job: &CircuitJob) -> Result<(), Fault> {
    let Parameters { batch, threads, lanes } = job.parameters;
    for (name, given, most) in [
        ("instances", Some(job.instances), MOST_INSTANCES),
        ("batch", batch.map(u64::from), MOST_BATCH),
        ("threads", threads.map(u64::from), MOST_THREADS),
        ("lanes", lanes.map(u64::from), MOST_LANES),
    ] {
        if let Some(given) = given.filter(|given| !(1..=most).contains(given)) {
            let cause = format!("`{name}` is {given}, which is out of range");
            return Err(wrong(cause, &format!("give a whole number from 1 to {most}")));
        }
    }
    Ok(())
}

/// The number of batches in flight on a thread. Two parties have one: garbling streams, and more
/// threads hide the rounds of triples.
fn lanes(job: &CircuitJob) -> Result<u16, Fault> {
    match (job.protocol, job.parameters.lanes) {
        (Protocol::Rep3, given) => Ok(given.unwrap_or(LANES)),
        (Protocol::Two, _) => {
            Err(wrong("protocol two computes on numbers, and runs no circuit file", "take gmw or yao"))
        }
        (Protocol::Yao | Protocol::Gmw | Protocol::Authgarble(_) | Protocol::Ywz20(_), None | Some(1)) => {
            Ok(1)
        }
        (protocol, Some(_)) => Err(wrong(
            format!("protocol {protocol} has one lane on each thread"),
            "leave out `lanes`, and raise `threads` under [parameters]",
        )),
    }
}

fn wrong(cause: impl std::fmt::Display, remedy: &str) -> Fault {
    Fault::new(code::CIRCUIT, "planning the job", cause, remedy)
}

fn count(what: &str, listed: usize, widths: &[usize]) -> Result<(), Fault> {
    if listed == widths.len() {
        return Ok(());
    }
    let widths: Vec<_> = widths.iter().map(ToString::to_string).collect();
    let widths = if widths.is_empty() { "none".to_owned() } else { format!("of {} bits", widths.join(", ")) };
    Err(wrong(
        format!("the job lists {listed} {what}, and the circuit has {widths}"),
        &format!("write one [[{what}]] table for each, in the circuit's order"),
    ))
}
