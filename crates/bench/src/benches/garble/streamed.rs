//! Both endpoints of a circuit in file order, gate by gate.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_circuit::{Circuit, eval};
use hushwire_garble::{
    Evaluate, Family, Garble, GateBackend, Memory, Scheme, SessionNonce, Tables,
    deferred::{DynamicBatcher, table_bytes},
};
use hushwire_prg::{Prg, Seed};

use super::ends::{Both, input};
use crate::BoxError;

pub(super) struct InFileOrder<F: Family> {
    circuit: Arc<Circuit>,
    garbler: DynamicBatcher<F::Garbler>,
    evaluator: DynamicBatcher<F::Evaluator>,
    zeros: Vec<<F::Garbler as GateBackend>::Wire>,
    held: Vec<<F::Evaluator as GateBackend>::Wire>,
    /// The wires of outputs.
    made: Vec<<F::Garbler as GateBackend>::Wire>,
    got: Vec<<F::Evaluator as GateBackend>::Wire>,
    tables: Memory,
    wanted: Vec<bool>,
    bytes: u64,
}

impl<F: Family> InFileOrder<F> {
    pub(super) fn new(
        scheme: Scheme,
        backend: Backend,
        width: usize,
        circuit: &Arc<Circuit>,
    ) -> Result<Self, BoxError> {
        let seed = Seed::random();
        let mut prg = Prg::new(backend, &seed, "bench streamed");
        let public = SessionNonce(prg.next_block());
        let mut garbler = F::Garbler::new(backend, scheme, public, &seed, None);
        let evaluator = F::Evaluator::new(backend, scheme, public);
        let (mut zeros, mut held, mut inputs) = (vec![], vec![], vec![]);
        for width in circuit.inputs() {
            let mut bits = vec![];
            for _ in 0..*width {
                let (active, bit) = input(&mut prg, scheme);
                zeros.push(garbler.own(active, bit));
                held.push(evaluator.label(active));
                bits.push(bit == 1);
            }
            inputs.push(bits);
        }
        let wanted = eval::eval_gates(circuit, &inputs)?.concat();
        let wires = circuit.wires() as u64;
        Ok(Self {
            circuit: circuit.clone(),
            garbler: DynamicBatcher::new(garbler, wires).with_width(width),
            evaluator: DynamicBatcher::new(evaluator, wires).with_width(width),
            zeros,
            held,
            made: vec![],
            got: vec![],
            tables: Memory::new(),
            wanted,
            bytes: table_bytes::<F::Garbler>(&**circuit)?,
        })
    }
}

impl<F: Family> Both for InFileOrder<F> {
    fn garble(&mut self) -> Result<(), BoxError> {
        let mut tables = std::mem::take(&mut self.tables);
        tables.rewind(true);
        let garbled = self.garble_to(&mut tables);
        self.tables = tables;
        garbled
    }

    fn garble_to(&mut self, tables: &mut dyn Tables) -> Result<(), BoxError> {
        self.made = std::mem::take(&mut *self.garbler.run(&*self.circuit, &self.zeros, tables)?);
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), BoxError> {
        self.tables.rewind(false);
        self.got = std::mem::take(&mut *self.evaluator.run(&*self.circuit, &self.held, &mut self.tables)?);
        Ok(())
    }

    fn check(&mut self) -> Result<(), BoxError> {
        for (i, wanted) in self.wanted.iter().enumerate() {
            let bit = self.garbler.end().permute_bit(self.made[i]) ^ self.evaluator.end().signal(self.got[i]);
            if (bit == 1) != *wanted {
                return Err(format!("output bit {i} is wrong").into());
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn mean_batch(&self) -> f64 {
        self.garbler.batches().mean()
    }
}
