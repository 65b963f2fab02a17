//! Both endpoints of a garbled circuit in this process, for any scheme.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Circuit, Planes, Program, eval, planes::plane_bytes};
use hushwire_garble::{
    Engine, Evaluate, Family, Garble, GateBackend, Memory, Scheme, SessionNonce, Tables, cursor::table_bytes,
    half::HalfGates, prf::PrfOnly, privacy_free::PrivacyFree, three_halves::ThreeHalves,
};
use hushwire_prg::{Prg, Seed};

use super::{streamed::InFileOrder, wide::Wide};
use crate::BoxError;

/// Both endpoints of a garbled circuit, as benchmarks drive them.
pub(crate) trait Both: Send {
    /// Garbles once into memory, which is overwritten.
    fn garble(&mut self) -> Result<(), BoxError>;
    /// Garbles once to another destination.
    fn garble_to(&mut self, tables: &mut dyn Tables) -> Result<(), BoxError>;
    /// Evaluates the tables in memory once.
    fn evaluate(&mut self) -> Result<(), BoxError>;
    /// Compares the outputs with plain evaluation, after fresh endpoints have garbled and evaluated
    /// once.
    fn check(&mut self) -> Result<(), BoxError>;
    /// The bytes of the tables.
    fn bytes(&self) -> u64;
    /// The mean number of gates in a batch.
    fn mean_batch(&self) -> f64;
}

/// The endpoints of the family to which a scheme belongs.
macro_rules! of_family {
    ($scheme:expr, $ends:ident => $new:expr) => {
        match $scheme {
            Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => {
                type $ends = HalfGates;
                $new
            }
            Scheme::Prf => {
                type $ends = PrfOnly;
                $new
            }
            Scheme::ThreeHalves => {
                type $ends = ThreeHalves;
                $new
            }
            Scheme::PrivacyFree => {
                type $ends = PrivacyFree;
                $new
            }
        }
    };
}

/// Fresh endpoints for `instances` sets of random inputs.
pub(crate) fn open(
    scheme: Scheme,
    backend: Backend,
    width: usize,
    program: &Program,
    instances: usize,
) -> Result<Box<dyn Both>, BoxError> {
    of_family!(scheme, F => Ok(Box::new(Ends::<F>::new(scheme, backend, width, program, instances)?)))
}

/// Fresh endpoints for independent gates.
pub(super) fn open_wide(scheme: Scheme, backend: Backend, width: usize) -> Box<dyn Both> {
    of_family!(scheme, F => Box::new(Wide::<F>::new(scheme, backend, width)))
}

/// Fresh endpoints for a circuit in file order.
pub(super) fn open_streamed(
    scheme: Scheme,
    backend: Backend,
    width: usize,
    circuit: &Arc<Circuit>,
) -> Result<Box<dyn Both>, BoxError> {
    of_family!(scheme, F => Ok(Box::new(InFileOrder::<F>::new(scheme, backend, width, circuit)?)))
}

/// A random input: its value, and the label that the evaluator holds. In privacy-free garbling, bit
/// 0 of the label is the value.
pub(super) fn input(prg: &mut Prg, scheme: Scheme) -> (Block, u8) {
    let (mut active, bit) = (prg.next_block(), prg.next_block().0[0] & 1);
    if scheme == Scheme::PrivacyFree {
        active.0[0] = active.0[0] & !1 | bit;
    }
    (active, bit)
}

type ZeroLabel<F> = <<F as Family>::Garbler as GateBackend>::Wire;
type ActiveLabel<F> = <<F as Family>::Evaluator as GateBackend>::Wire;

struct Ends<F: Family> {
    program: Program,
    instances: usize,
    garbler: Engine<F::Garbler>,
    evaluator: Engine<F::Evaluator>,
    /// The wires of the inputs, register by register, and then those of all registers.
    inputs: (Vec<ZeroLabel<F>>, Vec<ActiveLabel<F>>),
    zeros: Vec<ZeroLabel<F>>,
    held: Vec<ActiveLabel<F>>,
    tables: Memory,
    wanted: Planes,
}

impl<F: Family> Ends<F> {
    fn new(
        scheme: Scheme,
        backend: Backend,
        width: usize,
        program: &Program,
        instances: usize,
    ) -> Result<Self, BoxError> {
        let seed = Seed::random();
        let mut prg = Prg::new(backend, &seed, "bench garble");
        let public = SessionNonce(prg.next_block());
        let mut garbler = F::Garbler::new(backend, scheme, public, &seed, None);
        let evaluator = F::Evaluator::new(backend, scheme, public);
        let (mut zeros, mut held) = (vec![], vec![]);
        let mut values = Planes::zeros(program.input_bits(), instances);
        for plane in values.chunks_exact_mut(plane_bytes(instances)) {
            for j in 0..instances {
                let (active, bit) = input(&mut prg, scheme);
                plane[j / 8] |= bit << (j % 8);
                zeros.push(garbler.own(active, bit));
                held.push(evaluator.label(active));
            }
        }
        let wanted = eval::eval(program, &values)?;
        let room = program.registers() * instances;
        Ok(Ends {
            program: program.clone(),
            instances,
            garbler: Engine::new(garbler).with_width(width),
            evaluator: Engine::new(evaluator).with_width(width),
            inputs: (zeros, held),
            zeros: vec![Default::default(); room],
            held: vec![Default::default(); room],
            tables: Memory::new(),
            wanted,
        })
    }
}

impl<F: Family> Both for Ends<F> {
    fn garble(&mut self) -> Result<(), BoxError> {
        let mut tables = std::mem::take(&mut self.tables);
        tables.rewind(true);
        let garbled = self.garble_to(&mut tables);
        self.tables = tables;
        garbled
    }

    fn garble_to(&mut self, tables: &mut dyn Tables) -> Result<(), BoxError> {
        self.zeros[..self.inputs.0.len()].copy_from_slice(&self.inputs.0);
        Ok(self.garbler.program(&self.program, self.instances, &mut self.zeros, tables)?)
    }

    fn evaluate(&mut self) -> Result<(), BoxError> {
        self.held[..self.inputs.1.len()].copy_from_slice(&self.inputs.1);
        self.tables.rewind(false);
        Ok(self.evaluator.program(&self.program, self.instances, &mut self.held, &mut self.tables)?)
    }

    fn check(&mut self) -> Result<(), BoxError> {
        let planes = self.wanted.chunks_exact(plane_bytes(self.instances));
        for (i, (plane, register)) in planes.zip(self.program.output_registers()).enumerate() {
            for j in 0..self.instances {
                let place = *register as usize * self.instances + j;
                let bit = self.garbler.end().permute_bit(self.zeros[place])
                    ^ self.evaluator.end().signal(self.held[place]);
                if bit != plane[j / 8] >> (j % 8) & 1 {
                    return Err(format!("instance {j} has a wrong output bit {i}").into());
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        table_bytes::<F::Garbler>(&self.program, self.instances)
    }

    fn mean_batch(&self) -> f64 {
        self.garbler.batches().mean()
    }
}
