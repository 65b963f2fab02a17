//! Jobs without files.

use crate::job::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitSource, Fault, Parameters, Prepared,
    Protocol,
};
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use std::path::Path;

/// A circuit's job, put together key by key as a job file has them (docs/jobs.md).
///
/// Members are named as in files: `party0`, `client:alice`. A name that is none is the error of
/// [`CircuitBuilder::build`].
#[derive(Clone, Debug)]
pub struct CircuitBuilder {
    job: CircuitJob,
    wrong: Option<String>,
}

impl CircuitBuilder {
    /// A job for a built-in circuit with its numbers, as `less:32`.
    #[must_use]
    pub fn named(protocol: Protocol, circuit: &str) -> Self {
        Self::of(protocol, CircuitSource::Builtin(circuit.to_owned()))
    }

    /// A job for a circuit in a Bristol file.
    #[must_use]
    pub fn file(protocol: Protocol, circuit: &Path) -> Self {
        Self::of(protocol, CircuitSource::File(circuit.to_owned()))
    }

    fn of(protocol: Protocol, circuit: CircuitSource) -> Self {
        let job = CircuitJob {
            protocol,
            scheme: None,
            ot: None,
            circuit,
            bit_order: BitOrderChoice::Auto,
            instances: 1,
            inputs: vec![],
            outputs: vec![],
            parameters: Parameters::default(),
        };
        Self { job, wrong: None }
    }

    /// The circuit's next input, and who brings it.
    #[must_use]
    pub fn input(mut self, name: &str, from: &str) -> Self {
        match from.parse() {
            Ok(from) => self.job.inputs.push(CircuitInput { name: name.to_owned(), from, sample: None }),
            Err(e) => self.wrong = self.wrong.or(Some(e)),
        }
        self
    }

    /// The circuit's next output, and who learns it.
    #[must_use]
    pub fn output<'a>(mut self, name: &str, to: impl IntoIterator<Item = &'a str>) -> Self {
        match to.into_iter().map(str::parse).collect::<Result<Vec<_>, _>>() {
            Ok(mut to) => {
                to.sort();
                to.dedup();
                self.job.outputs.push(CircuitOutput { name: name.to_owned(), to });
            }
            Err(e) => self.wrong = self.wrong.or(Some(e)),
        }
        self
    }

    /// The number of times that the circuit is computed, on as many values; 1 by default.
    #[must_use]
    pub fn instances(mut self, instances: u64) -> Self {
        self.job.instances = instances;
        self
    }

    /// The garbling scheme of [`Protocol::Yao`].
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.job.scheme = Some(scheme);
        self
    }

    /// The extension of oblivious transfer of two parties.
    #[must_use]
    pub fn ot(mut self, ot: Extension) -> Self {
        self.job.ot = Some(ot);
        self
    }

    /// The end of a written value that is wire 0.
    #[must_use]
    pub fn bit_order(mut self, order: BitOrderChoice) -> Self {
        self.job.bit_order = order;
        self
    }

    /// The cut of the work.
    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.job.parameters = parameters;
        self
    }

    /// The job as its file would have it.
    ///
    /// # Errors
    /// A member's name is none.
    pub fn job(&self) -> Result<CircuitJob, Fault> {
        match &self.wrong {
            Some(cause) => {
                Err(Fault::usage("planning the job", cause, "name members as party0 or client:alice"))
            }
            None => Ok(self.job.clone()),
        }
    }

    /// Makes or reads the circuit, and fits the job to it.
    ///
    /// # Errors
    /// A member's name is none, the circuit cannot be had, or the job does not fit it.
    pub fn build(&self) -> Result<Prepared, Fault> {
        Prepared::new(&self.job()?)
    }
}
