//! The workload: products or a circuit, as machines, with a check by plain evaluation.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, eval, named, planes::plane_bytes};
use hushwire_machine::Cost;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    CircuitBatch, CircuitWorkspace, Context, Field, Multiply, Shares, circuit_cost, open, share,
};

use super::Workload;
use crate::{BoxError, three::Either};

/// A running batch.
pub(crate) type BatchRun = Either<CircuitBatch, Multiply>;

/// The program, if there is one.
#[derive(Clone)]
pub(crate) struct WorkloadProgram {
    program: Option<Arc<Program>>,
}

impl WorkloadProgram {
    pub(crate) fn new(workload: Workload) -> Result<Self, BoxError> {
        let program = match workload {
            Workload::And => None,
            named => Some(Arc::new(named::program(named.name())?)),
        };
        Ok(Self { program })
    }

    /// The AND gates of a batch.
    pub(crate) fn ands(&self, instances: usize) -> u64 {
        self.program.as_ref().map_or(1, |p| p.ands()) * instances as u64
    }

    /// The declared cost of a batch for each party.
    pub(crate) fn cost(&self, instances: usize) -> Cost {
        match &self.program {
            Some(program) => circuit_cost(program, instances),
            None => Cost { rounds: 1, bytes_sent: instances as u64 / 8 },
        }
    }

    /// The bit planes of the inputs.
    fn input_bits(&self) -> usize {
        self.program.as_ref().map_or(2, |p| p.input_bits())
    }

    /// Random inputs of a batch, which are equal for equal seeds, and the parties' shares of them.
    pub(crate) fn deal(&self, seed: u8, instances: usize) -> (Vec<u8>, [Shares; 3]) {
        let prg = |label| Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), label);
        let mut inputs = vec![0; self.input_bits() * plane_bytes(instances)];
        prg("bench rep3 inputs").fill(&mut inputs);
        let shares = share(&mut prg("bench rep3 shares"), &inputs);
        (inputs, shares)
    }

    /// The result of `batches` consecutive batches on the inputs, by plain evaluation.
    pub(crate) fn expected(&self, inputs: &[u8], instances: usize) -> Result<Vec<u8>, BoxError> {
        let Some(program) = &self.program else {
            // Each product is the first factor of the next, so the value does not change after the
            // first product.
            let (x, y) = inputs.split_at(inputs.len() / 2);
            return Ok(x.iter().zip(y).map(|(x, y)| x & y).collect());
        };
        let inputs = Planes::new(program.input_bits(), instances, inputs.to_vec())?;
        Ok(eval::eval(program, &inputs)?.to_vec())
    }
}

/// One party's operands for one lane or thread. They are reused.
pub(crate) struct LaneOperands {
    workload: WorkloadProgram,
    instances: usize,
    inputs: Shares,
    /// For products: the factors and the memory of the product.
    vectors: Option<[Shares; 3]>,
    spare: CircuitWorkspace,
    /// The last result.
    output: Option<Shares>,
}

impl LaneOperands {
    pub(crate) fn new(workload: &WorkloadProgram, instances: usize, inputs: Shares) -> Self {
        let half = |part: usize| {
            let n = inputs.len() / 2;
            let of = |s: &[u8]| s[part * n..(part + 1) * n].to_vec();
            Shares { own: of(&inputs.own), next: of(&inputs.next) }
        };
        let empty = Shares { own: vec![], next: vec![] };
        let vectors = workload.program.is_none().then(|| [half(0), half(1), empty]);
        Self {
            workload: workload.clone(),
            instances,
            inputs,
            vectors,
            spare: CircuitWorkspace::default(),
            output: None,
        }
    }

    /// Begins the next batch.
    pub(crate) fn begin(&mut self, cx: Context) -> Result<BatchRun, BoxError> {
        if let Some(program) = &self.workload.program {
            let ws = std::mem::take(&mut self.spare);
            let batch = CircuitBatch::new(program.clone(), cx, &self.inputs, self.instances, ws)?;
            return Ok(Either::A(batch));
        }
        let [x, y, z] = self.vectors.take().ok_or("the vectors are in use")?;
        Ok(Either::B(Multiply::new(Field::Gf2, cx, x, y)?.with_buffer(z)))
    }

    /// Takes back a finished batch. Its result is kept if `keep` is set.
    pub(crate) fn done(&mut self, run: BatchRun, keep: bool) {
        match run {
            Either::A(batch) => {
                if keep {
                    self.output = Some(batch.output());
                }
                self.spare = batch.into_workspace();
            }
            Either::B(product) => {
                let [x, y, z] = product.into_parts();
                self.vectors = Some([z, y, x]);
            }
        }
    }

    /// This party's share of the last result.
    pub(crate) fn result(&self) -> Option<&[u8]> {
        match &self.vectors {
            Some([x, ..]) => Some(&x.own),
            None => self.output.as_ref().map(|output| &output.own[..]),
        }
    }
}

/// Compares the parties' results with plain evaluation.
pub(crate) fn compare(own: [&[u8]; 3], expected: &[u8]) -> Result<(), BoxError> {
    let result = open(own)?;
    let wrong = result.iter().zip(expected).filter(|(a, b)| a != b).count();
    if wrong > 0 || result.len() != expected.len() {
        return Err(format!("{wrong} of {} bytes differ from plain evaluation", expected.len()).into());
    }
    Ok(())
}
