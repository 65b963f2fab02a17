//! A circuit's job as a task, and a member's part of its run.

use crate::{
    CircuitSource, Outputs, Prepared,
    circuit::{
        batches, client,
        part::CircuitPart,
        party,
        place::{self, Shown},
    },
};
use hushwire_session::{
    Agreement, Fault, Forecast, Member, MemberConfig, Part, Protocol, Task,
    run::{Links, MemberSession},
};
use std::{path::PathBuf, sync::Arc};

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
            CircuitSource::Builtin(_) | CircuitSource::Text(..) => vec![],
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

impl Part for CircuitPart {
    type Learnt = Outputs;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        match (&member.config.me, self.prepared.plan.protocol) {
            (Member::Client(_), _) => client::stream(self, member),
            (me @ (Member::Data(_) | Member::Recipient(_)), _) => {
                Err(Fault::internal("connecting", format!("{me} takes no part")))
            }
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
