//! A member's part of a circuit's job.

use crate::{
    CircuitSource, Prepared,
    circuit::{
        batches, client, party,
        place::{self, Shown},
    },
};
use hushwire_session::{
    Agreement, Fault, Forecast, FromDisk, Member, MemberConfig, Part, Protocol, Task,
    run::{Links, MemberSession},
};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc};

/// Outputs of a circuit that went to no file, by place in the circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// Hexadecimal digits of those that were to be shown.
    pub digits: Vec<(usize, String)>,
    /// Records of those that were wanted in memory: one for each instance, one after the other.
    pub records: Vec<(usize, Vec<u8>)>,
    /// The phases of authenticated garbling that came from this party's shelf, if it has one.
    pub from_disk: Option<FromDisk>,
}

impl Task for Prepared {
    type Learnt = Outputs;
    type Part = CircuitPart;

    fn agreement(&self) -> Agreement {
        self.plan.agreement()
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        match &self.source {
            CircuitSource::File(path) => vec![("the circuit".to_owned(), path.clone())],
            CircuitSource::Builtin(_) => vec![],
        }
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        ands.is_none().then(|| Prepared::forecast(self, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<CircuitPart, Fault> {
        let sources = Arc::new(place::sources(&self.plan, &config.me, &config.inputs)?);
        let sinks = Arc::new(place::sinks(&self.plan, &config.me, &config.outputs, &mut config.files)?);
        Ok(CircuitPart { prepared: self.clone(), sources, sinks, from_disk: None })
    }
}

/// The circuit, and the values of one member.
pub struct CircuitPart {
    pub(crate) prepared: Prepared,
    pub(crate) sources: Arc<Vec<Option<place::Source>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    pub(crate) from_disk: Option<FromDisk>,
}

impl Part for CircuitPart {
    type Learnt = Outputs;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        match (&member.config.me, self.prepared.plan.protocol) {
            (Member::Client(_), _) => client::stream(self, member),
            (Member::Party(_), Protocol::Rep3) => party::compute(self, member),
            (Member::Party(_), _) => batches::compute(self, member),
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.sinks.iter().flatten().try_for_each(place::Sink::prepare)
    }

    fn commit(self) -> Result<Self::Learnt, Fault> {
        let Ok(sinks) = Arc::try_unwrap(self.sinks) else {
            return Err(Fault::internal("writing outputs", "a thread still holds them"));
        };
        let mut outputs = Outputs { from_disk: self.from_disk, ..Outputs::default() };
        for (j, sink) in sinks.into_iter().enumerate() {
            match sink.map(place::Sink::commit).transpose()?.flatten() {
                Some(Shown::Digits(digits)) => outputs.digits.push((j, digits)),
                Some(Shown::Records(records)) => outputs.records.push((j, records)),
                None => {}
            }
        }
        Ok(outputs)
    }
}
