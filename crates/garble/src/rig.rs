//! Both ends in one process, for tests: garble into memory, evaluate from it, decode.

use crate::{Encode, End, Engine, Family, GarbleError, Memory, Observe, Public, Scheme, engine::table_bytes};
use hushwire_aes::Backend;
use hushwire_circuit::{Program, eval, planes};
use hushwire_prg::{Prg, Seed};
use std::marker::PhantomData;

/// What plain evaluation gives.
pub(crate) fn plain(program: &Program, instances: usize, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    eval::eval(program, inputs, instances).expect("inputs fit")
}

/// One garbling.
pub(crate) struct Rig<F> {
    pub(crate) backends: [Backend; 2],
    pub(crate) scheme: Scheme,
    pub(crate) seed: Seed,
    pub(crate) widths: [usize; 2],
    family: PhantomData<F>,
}

/// Everything that one run shows.
pub(crate) struct Run {
    pub(crate) outputs: Vec<Vec<u8>>,
    pub(crate) tables: Vec<u8>,
    /// Signals of truth value 0 of every register, instance by instance.
    pub(crate) permute_bits: Vec<u8>,
}

impl<F: Family> Rig<F> {
    pub(crate) fn new(backend: Backend, scheme: Scheme, seed: u8) -> Self {
        let seed = Seed::from_bytes([seed; 16]);
        Rig { backends: [backend; 2], scheme, seed, widths: [usize::MAX; 2], family: PhantomData }
    }

    fn prg(&self, label: &str) -> Prg {
        Prg::new(self.backends[0], &self.seed, label)
    }

    /// Values of all inputs.
    pub(crate) fn random_inputs(&self, program: &Program, instances: usize) -> Vec<Vec<u8>> {
        let mut prg = self.prg("rig inputs");
        let value = |width: &usize| {
            let mut value = vec![0; planes::value_bytes(*width) * instances];
            prg.fill(&mut value);
            let planes = planes::pack(&value, *width, instances);
            planes::unpack(&planes, *width, instances)
        };
        program.inputs().iter().map(value).collect()
    }

    /// Outputs of a garbled run; odd input bits are the evaluator's.
    pub(crate) fn run(&self, program: &Program, instances: usize, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.run_through(program, instances, inputs, |tables| tables).expect("whole tables").outputs
    }

    /// The same, with tables that `change` has had.
    pub(crate) fn run_through(
        &self,
        program: &Program,
        instances: usize,
        inputs: &[Vec<u8>],
        change: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Result<Run, GarbleError> {
        let mut prg = self.prg("rig");
        let public = Public(prg.next_block());
        let mut garbler = F::Garbler::new(self.backends[0], self.scheme, public, &self.seed, None);
        let evaluator = F::Evaluator::new(self.backends[1], self.scheme, public);
        let room = program.registers() * instances;
        let mut zeros = vec![<F::Garbler as End>::Wire::default(); room];
        let mut held = vec![<F::Evaluator as End>::Wire::default(); room];
        let mut at = 0;
        for (input, width) in inputs.iter().zip(program.inputs()) {
            for j in 0..instances {
                let value = &input[j * planes::value_bytes(*width)..][..planes::value_bytes(*width)];
                for i in 0..*width {
                    let (place, bit) = ((at + i) * instances + j, value[i / 8] >> (i % 8) & 1);
                    let label = prg.next_block();
                    zeros[place] = garbler.own(label, bit);
                    held[place] = evaluator.label(label);
                }
            }
            at += width;
        }
        let mut engine = Engine::new(garbler).with_width(self.widths[0]);
        let mut tables = Memory::new();
        engine.program(program, instances, &mut zeros, &mut tables).expect("memory grows");
        let tables = tables.bytes().to_vec();
        assert_eq!(tables.len() as u64, table_bytes::<F::Garbler>(program, instances));
        let mut engine_e = Engine::new(evaluator).with_width(self.widths[1]);
        let mut memory = Memory::of(change(tables.clone()));
        engine_e.program(program, instances, &mut held, &mut memory)?;
        assert_eq!(engine.end().gates(), engine_e.end().gates(), "both ends number gates alike");
        let mut outputs = vec![];
        let mut registers = program.output_registers().iter();
        for width in program.outputs() {
            let mut value = vec![0; planes::value_bytes(*width) * instances];
            for i in 0..*width {
                let r = *registers.next().expect("a register for every bit") as usize;
                for j in 0..instances {
                    let place = r * instances + j;
                    let bit = engine.end().permute_bit(zeros[place]) ^ engine_e.end().signal(held[place]);
                    value[j * planes::value_bytes(*width) + i / 8] |= bit << (i % 8);
                }
            }
            outputs.push(value);
        }
        let permute_bits = zeros.iter().map(|w| engine.end().permute_bit(*w)).collect();
        Ok(Run { outputs, tables, permute_bits })
    }
}

/// Flips a bit.
pub(crate) fn flipped(mut bytes: Vec<u8>, bit: usize) -> Vec<u8> {
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}
