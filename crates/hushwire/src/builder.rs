//! Jobs that are built without files.

use crate::job::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitSource, Fault, Parameters, Prepared,
    Protocol,
};
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use std::path::Path;

/// The job of a circuit, built key by key as in a job file (docs/jobs.md).
///
/// Members are named as in files: `party0`, `client:alice`. An invalid name is reported by
/// [`CircuitBuilder::build`].
#[derive(Clone, Debug)]
pub struct CircuitBuilder {
    job: CircuitJob,
    /// The cause of the first invalid name of a member.
    wrong: Option<String>,
}

impl CircuitBuilder {
    /// Begins a job for a built-in circuit with its numbers, such as `less:32`.
    #[must_use]
    pub fn named(protocol: Protocol, circuit: &str) -> Self {
        Self::of(protocol, CircuitSource::Builtin(circuit.to_owned()))
    }

    /// Begins a job for a circuit in a Bristol file.
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

    /// Adds the circuit's next input, and the member that brings it.
    #[must_use]
    pub fn input(mut self, name: &str, from: &str) -> Self {
        match from.parse() {
            Ok(from) => self.job.inputs.push(CircuitInput { name: name.to_owned(), from, sample: None }),
            Err(e) => self.wrong = self.wrong.or(Some(e)),
        }
        self
    }

    /// Adds the circuit's next output, and the members that learn it.
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

    /// Sets the number of instances of the circuit; the default is 1.
    #[must_use]
    pub fn instances(mut self, instances: u64) -> Self {
        self.job.instances = instances;
        self
    }

    /// Sets the garbling scheme of [`Protocol::Yao`].
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.job.scheme = Some(scheme);
        self
    }

    /// Sets the extension of oblivious transfer of two parties.
    #[must_use]
    pub fn ot(mut self, ot: Extension) -> Self {
        self.job.ot = Some(ot);
        self
    }

    /// Sets which end of a written value is wire 0.
    #[must_use]
    pub fn bit_order(mut self, order: BitOrderChoice) -> Self {
        self.job.bit_order = order;
        self
    }

    /// Sets how the work is divided.
    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.job.parameters = parameters;
        self
    }

    /// The job, as a job file would give it.
    ///
    /// # Errors
    /// A member's name is invalid.
    pub fn job(&self) -> Result<CircuitJob, Fault> {
        match &self.wrong {
            Some(cause) => {
                Err(Fault::usage("planning the job", cause, "name members as party0 or client:alice"))
            }
            None => Ok(self.job.clone()),
        }
    }

    /// Makes or reads the circuit, and checks the job against it.
    ///
    /// # Errors
    /// A member's name is invalid, the circuit is not available, or the job does not fit it.
    pub fn build(&self) -> Result<Prepared, Fault> {
        Prepared::new(&self.job()?)
    }
}
