//! A member's part of a circuit's job.
//!
//! ```text
//! owner      value = x_0 ⊕ x_1 ⊕ x_2 as bit planes, batch by batch; shares go to the parties or grow from seeds
//! parties    batch by batch on threads × lanes: circuit on shares, one message a layer
//! recipient  hears the share that it lacks; nobody else hears anything
//! ```
//!
//! Two parties give their values to the engines of their protocol, and learn from them what they may: see `two_party.rs`.
//!
//! **Security.** Semi-honest, one corrupted party, and any clients with it. With three parties, a party's own input costs
//! one message: of its shares one is zero, one is expanded from a key that it shares with its left neighbour, and the rest
//! goes to the right one. A client's input is shared afresh. The outputs that a client hears are masked with a fresh
//! zero-share first, since shares of linear outputs would tell more than their sum.

use crate::{
    Agreement, CircuitSource, Fault, Forecast, Member, MemberConfig, Part, Prepared, Protocol, Task, client,
    n_party, party,
    place::{self, Shown},
    run::{Links, MemberSession},
    two_party,
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

/// Threads of a run that took a phase of authenticated garbling from disk, where it was made before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromDisk {
    /// Triples and masks.
    pub function_independent: u16,
    /// Garbled circuits, and so the phases before as well: only the online phase was left.
    pub function_dependent: u16,
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
            (Member::Party(index), Protocol::Yao | Protocol::Gmw | Protocol::Two) => {
                two_party::compute(self, member, usize::from(*index))
            }
            (Member::Party(index), Protocol::Authgarble(_) | Protocol::Ywz20(_)) => {
                n_party::compute(self, member, usize::from(*index))
            }
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
