//! A computation's job as a task.

use super::{ComputationSource, ComputePart, ComputeTask, bound::RunForm, lengths::Told};
use hushwire_fault::code;
use hushwire_session::{Agreement, Chosen, Fault, Forecast, MemberConfig, Preparable, Protocol, Task, Wants};
use std::path::PathBuf;

impl Task for ComputeTask {
    type Learnt = super::Computed;
    type Part = ComputePart;

    fn notes(&self) -> &[String] {
        self.remarks()
    }

    fn agreement(&self) -> Agreement {
        self.agreed()
    }

    fn shards(&self) -> u16 {
        self.job().shards
    }

    fn tells_of_files(&self) -> bool {
        self.job().public.values().any(|place| place.path().is_some())
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        let text = match &self.job().computation {
            ComputationSource::File(path) => Some(("the computation".to_owned(), path.clone())),
            ComputationSource::Text(_) => None,
        };
        let public = self.job().public.iter();
        let public = public
            .filter_map(|(name, place)| Some((format!("public input {name}"), place.path()?.to_owned())));
        text.into_iter().chain(public).collect()
    }

    fn forecast(&self, aes_instructions: bool, ands: Option<u64>) -> Option<Forecast> {
        let Chosen { protocol, scheme, .. } = self.chosen();
        // Three parties count steps, whose times differ.
        let ands = ands.filter(|_| protocol != Protocol::Rep3);
        ands.map(|ands| Forecast::of_ands(protocol, scheme, ands, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<ComputePart, Fault> {
        ComputePart::open(self, config)
    }
}

impl Preparable for ComputeTask {
    /// The preprocessing that the computation's circuit takes.
    fn wants(&self) -> Result<Wants, Fault> {
        self.complete()?;
        if let Some(symbol) = self.unbound().first() {
            let cause = format!("its size depends on {symbol}, which only a run's inputs say");
            let remedy =
                format!("write {symbol} = … under [symbols] of the job, or say it with --symbol {symbol}=…");
            return Err(Fault::new(code::COMPUTATION, "preprocessing", cause, remedy));
        }
        let bound = self.bound(self.known())?;
        let form = bound.form_within(self.chosen(), self.most_memory(&Told::new()))?;
        let RunForm::Circuit(program) = &*form else {
            return Err(Fault::internal("preprocessing", "its protocol runs no circuits"));
        };
        Ok(Wants::once(self.chosen(), program, &bound.seats, self.threads()))
    }
}
