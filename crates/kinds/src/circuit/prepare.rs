//! Prepares a job to run: reads its circuit, puts it in order, and makes the plan.

use crate::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitPlan, CircuitSource, Parameters,
};
use hushwire_circuit::{
    Program,
    bristol::{self, Format, ReadError},
    named,
};
use hushwire_fault::code;
use hushwire_machine::printable;
use hushwire_session::{Batching, Fault, Forecast, Member, Preparable, Protocol, Wants};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    sync::Arc,
};

/// A job with its circuit.
#[derive(Clone)]
pub struct Prepared {
    /// The plan that everybody agrees on.
    pub plan: Arc<CircuitPlan>,
    /// The circuit, as protocols run it.
    pub program: Arc<Program>,
    /// Remarks for people on how the job was read.
    pub notes: Vec<String>,
    /// The source of the circuit.
    pub source: CircuitSource,
}

/// A circuit that was loaded.
pub struct Found {
    /// The circuit, as protocols run it.
    pub program: Program,
    /// The bit order that `auto` means with this circuit.
    pub natural_order: BitOrderChoice,
}

impl CircuitSource {
    /// A file if one of that name exists, else a built-in.
    #[must_use]
    pub fn guess(text: &str) -> Self {
        let path = Path::new(text);
        if path.is_file() || text.contains('/') || text.ends_with(".txt") {
            Self::File(path.to_path_buf())
        } else {
            Self::Builtin(text.to_owned())
        }
    }

    /// Reads the file or makes the built-in.
    ///
    /// # Errors
    /// The file does not exist or is not a circuit, or no built-in has that name.
    pub fn load(&self) -> Result<Found, Fault> {
        match self {
            Self::Builtin(name) => {
                let program = named::program(name)
                    .map_err(|e| Fault::new(code::CIRCUIT, "making the circuit", e.cause(), e.remedy()))?;
                Ok(Found { program, natural_order: BitOrderChoice::Lsb })
            }
            Self::File(path) => {
                let file = File::open(path).map_err(|e| Fault::io("read", path, &e))?;
                read(BufReader::new(file), path)
            }
            Self::Text(name, text) => read(text.as_bytes(), Path::new(name)),
        }
    }
}

fn read(text: impl BufRead, path: &Path) -> Result<Found, Fault> {
    let (circuit, format) = bristol::read(text).map_err(|e| match e {
        ReadError::Io(e) => Fault::io("read", path, &e),
        e @ ReadError::Malformed(_) => {
            let remedy = "correct the file, or see `hushwire circuit convert`";
            Fault::file("read the circuit", path, e, remedy)
        }
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let natural_order = match format {
        Format::Fashion => BitOrderChoice::Lsb,
        Format::Old => BitOrderChoice::Msb,
    };
    Ok(Found { program: Program::flat(&name, &circuit), natural_order })
}

impl Prepared {
    /// Reads the circuit of a job and makes the plan.
    ///
    /// # Errors
    /// The circuit cannot be loaded, or the job does not fit it.
    pub fn new(job: &CircuitJob) -> Result<Self, Fault> {
        let Found { program, natural_order } = job.circuit.load()?;
        let mut notes = vec![];
        let order = match job.bit_order {
            BitOrderChoice::Auto => natural_order,
            chosen => chosen,
        };
        if job.bit_order == BitOrderChoice::Auto && natural_order == BitOrderChoice::Msb {
            notes.push(format!(
                "{} is of the old Bristol format: wire 0 is taken as the most significant bit; say bit-order lsb or \
                 msb to choose",
                printable(&job.circuit.to_string())
            ));
        }
        let plan = CircuitPlan::new(job, &program, order)?;
        Ok(Self { plan: Arc::new(plan), program: Arc::new(program), notes, source: job.circuit.clone() })
    }
}

impl Prepared {
    /// The forecast of a run on a CPU with or without AES instructions.
    #[must_use]
    pub fn forecast(&self, aes_instructions: bool) -> Forecast {
        let Self { plan, program, .. } = self;
        let CircuitPlan { instances, batch, threads, lanes, .. } = **plan;
        let cut = Batching { instances, batch, threads, lanes };
        Forecast::of_batches(plan.chosen(), program, &plan.seats(), cut, aes_instructions)
    }
}

impl Preparable for Prepared {
    fn wants(&self) -> Result<Wants, Fault> {
        let Prepared { plan, program, .. } = self;
        let batches = |t: u16| {
            let mine = (u32::from(t)..plan.batches()).step_by(plan.threads.into());
            mine.map(|b| plan.instances_of(b) as u64)
        };
        let threads = (0..plan.threads).map(batches);
        Ok(Wants::new(plan.chosen(), program, &plan.seats(), threads, plan.beside))
    }
}

impl CircuitJob {
    /// A job for a circuit alone, of `n` parties. Party `i mod n` brings input `i`, and party 0
    /// learns every output.
    #[must_use]
    pub fn around(protocol: Protocol, circuit: CircuitSource, program: &Program) -> Self {
        let from = |i: usize| Member::Party((i % usize::from(protocol.parties())) as u8);
        let input = |i: usize| CircuitInput { name: i.to_string(), from: from(i), sample: None };
        let output = |j: usize| CircuitOutput { name: j.to_string(), to: vec![Member::Party(0)] };
        Self {
            protocol,
            scheme: None,
            ot: None,
            circuit,
            bit_order: BitOrderChoice::Auto,
            instances: 1,
            inputs: (0..program.inputs().len()).map(input).collect(),
            outputs: (0..program.outputs().len()).map(output).collect(),
            parameters: Parameters::default(),
        }
    }
}
