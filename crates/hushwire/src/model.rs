//! A neural network on one input, with all members in this process.

use crate::job::{
    Cancel, ComputationSource, Fault, InferJob, InferTask, InputPlace, Member, Observer, Protocol, RunValues,
    network_in, samples,
};
use crate::{Local, LocalJob};
use hushwire_nn::{Array, Members, Secure, Wanted, npy};
use std::sync::Arc;

/// An inference that is being set up: [`Local::model`] begins it, and [`run`](Self::run) runs it.
pub struct LocalModel {
    protocol: Protocol,
    model: InputPlace,
    input: Array,
    cancel: Cancel,
    observer: Observer,
}

impl Local {
    /// Begins a run of a neural network on one input. `onnx` has the bytes of an ONNX file, whose
    /// weights only the model's owner knows. `input` is the client's, in the shape that the network
    /// takes. Only the client learns the output. The architecture and all shapes are public.
    ///
    /// Numbers are in fixed point. The ring is the smallest in which results on made-up inputs are
    /// close to those in floating point. Three parties compute, unless [`LocalModel::two`] selects
    /// only the owner and the client. Security: semi-honest. `docs/models.md` lists the operators.
    #[must_use]
    pub fn model(onnx: &[u8], input: &Array) -> LocalModel {
        LocalModel {
            protocol: Protocol::Rep3,
            model: InputPlace::memory(onnx),
            input: input.clone(),
            cancel: Cancel::new(),
            observer: Arc::new(|_| {}),
        }
    }
}

impl LocalModel {
    /// Makes the model's owner and the client compute, without a third party.
    #[cfg(feature = "two")]
    #[must_use]
    pub fn two(mut self) -> Self {
        self.protocol = Protocol::Two;
        self
    }

    /// Sets the handle that ends the run from another thread.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets an observer for the run's events.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Runs the network. Returns its output.
    ///
    /// # Errors
    /// The bytes are not a model of supported operators, or the input does not have the network's
    /// shape.
    pub fn run(self) -> Result<Array, Fault> {
        let network = network_in(&self.model, Some(&self.input.lengths))?;
        let samples = samples(&network, None, None)?;
        let numbers = Wanted::default().chosen(&network, &samples)?.numbers;
        let secure = Secure::new(&network, numbers, &Members::default())?;
        let [owner, client] = match self.protocol {
            Protocol::Two => [Member::Party(0), Member::Party(1)],
            _ => ["owner", "client"].map(|name| Member::Client(name.to_owned())),
        };
        let task = InferTask::new(&InferJob {
            protocol: self.protocol,
            ot: None,
            link: None,
            linear: None,
            ahead: None,
            network: ComputationSource::Text(secure.computation().to_string()),
            bits: None,
            owner: owner.clone(),
            client: client.clone(),
            to: None,
            threads: None,
            values: RunValues::default(),
        })?;
        let input = InputPlace::memory(npy::write(&self.input));
        let ended = LocalJob::new(&task)
            .cancelled_by(self.cancel)
            .observer(self.observer)
            .bring(owner, "model", self.model)
            .bring(client.clone(), "input", input)
            .run()?;
        let missing = || Fault::internal("reading the output", "the client did not learn it");
        let learnt = ended.learnt(&client).ok_or_else(missing)?;
        let lengths = learnt.lengths.clone().ok_or_else(missing)?;
        if lengths.iter().product::<usize>() != learnt.elements.len() {
            let cause = format!("the output has the shape {lengths:?}, which is too large for memory here");
            return Err(Fault::usage(
                "reading the output",
                cause,
                "run the InferTask as a LocalJob that keeps a file",
            ));
        }
        Ok(Array { lengths, data: learnt.elements.clone() })
    }
}
