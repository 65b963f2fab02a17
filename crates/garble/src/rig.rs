//! Both endpoints in one process, for tests: garbles into memory, evaluates from it, and decodes.

pub(crate) mod circuits;
pub(crate) mod formulas;
pub(crate) mod life;
pub(crate) mod oracle;
pub(crate) mod suite;
mod wire;

use crate::{
    Engine, Evaluate, Family, Garble, GarbleError, GateBackend, Memory, Scheme, SessionNonce,
    cursor::table_bytes,
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_circuit::{Planes, Program, eval, planes};
use hushwire_prg::{Prg, Seed};
use std::marker::PhantomData;

/// The outputs of plain evaluation.
pub(crate) fn plain(program: &Program, instances: usize, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    eval::eval_values(program, inputs, instances).expect("inputs fit")
}

/// One garbling.
pub(crate) struct Rig<F> {
    /// The garbler's and the evaluator's backend.
    pub(crate) backends: [Backend; 2],
    pub(crate) scheme: Scheme,
    pub(crate) seed: Seed,
    /// The largest number of gates that each endpoint processes together.
    pub(crate) widths: [usize; 2],
    family: PhantomData<F>,
}

impl<F> std::fmt::Debug for Rig<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {:?} in batches of {:?}", self.scheme, self.backends, self.widths)
    }
}

/// The garbler's results: tables and wires; and the evaluator's inputs. The wire of register `r` in
/// instance `j` of `n` has the place `r n + j`.
pub(crate) struct Garbled<W, V> {
    pub(crate) tables: Vec<u8>,
    /// The garbler's wires of all registers.
    pub(crate) zeros: Vec<W>,
    /// The evaluator's wires of the inputs. All other registers have default wires.
    pub(crate) held: Vec<V>,
}

/// The same for a family.
type GarbledBy<F> =
    Garbled<<<F as Family>::Garbler as GateBackend>::Wire, <<F as Family>::Evaluator as GateBackend>::Wire>;

/// Everything that one run reveals.
pub(crate) struct RigRun {
    pub(crate) outputs: Vec<Vec<u8>>,
    pub(crate) tables: Vec<u8>,
    /// The signal of truth value 0 of every wire, in the order of [`Garbled`].
    pub(crate) permute_bits: Vec<u8>,
    /// The signals of the labels that the evaluator holds.
    pub(crate) signals: Vec<u8>,
}

impl<F: Family> Rig<F> {
    pub(crate) fn new(backend: Backend, scheme: Scheme, seed: u8) -> Self {
        let seed = Seed::from_bytes([seed; 16]);
        Rig { backends: [backend; 2], scheme, seed, widths: [usize::MAX; 2], family: PhantomData }
    }

    fn prg(&self, label: &str) -> Prg {
        Prg::new(self.backends[0], &self.seed, label)
    }

    /// Random values of all inputs.
    pub(crate) fn random_inputs(&self, program: &Program, instances: usize) -> Vec<Vec<u8>> {
        let mut prg = self.prg("rig inputs");
        let value = |width: &usize| {
            let mut value = vec![0; planes::value_bytes(*width) * instances];
            prg.fill(&mut value);
            Planes::pack(&value, *width, instances).unpack()
        };
        program.inputs().iter().map(value).collect()
    }

    /// The outputs of a garbled run.
    pub(crate) fn run(&self, program: &Program, instances: usize, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.run_through(program, instances, inputs, |tables| tables).expect("whole tables").outputs
    }

    /// The public nonce that both endpoints know.
    pub(crate) fn public(&self) -> SessionNonce {
        // Both endpoints draw the nonce here, so that it is not recorded.
        registry::silent(|| SessionNonce(self.prg("rig public").next_block()))
    }

    /// The garbler, before its first gate.
    pub(crate) fn garbler(&self) -> F::Garbler {
        F::Garbler::new(self.backends[0], self.scheme, self.public(), &self.seed, None)
    }

    /// The evaluator, before its first gate.
    pub(crate) fn evaluator(&self) -> F::Evaluator {
        F::Evaluator::new(self.backends[1], self.scheme, self.public())
    }

    /// The garbler's part of a run; also returns the garbler.
    pub(crate) fn garble(
        &self,
        program: &Program,
        instances: usize,
        inputs: &[Vec<u8>],
    ) -> (GarbledBy<F>, F::Garbler) {
        let (mut garbler, evaluator, mut prg) = (self.garbler(), self.evaluator(), self.prg("rig labels"));
        let room = program.registers() * instances;
        let mut zeros = vec![<F::Garbler as GateBackend>::Wire::default(); room];
        let mut held = vec![<F::Evaluator as GateBackend>::Wire::default(); room];
        let mut at = 0;
        for (input, width) in inputs.iter().zip(program.inputs()) {
            let bytes = planes::value_bytes(*width);
            for j in 0..instances {
                let value = &input[j * bytes..][..bytes];
                for i in 0..*width {
                    let (place, bit) = ((at + i) * instances + j, value[i / 8] >> (i % 8) & 1);
                    let mut label = prg.next_block();
                    if self.scheme == Scheme::PrivacyFree {
                        // In this scheme the evaluator reads values off its labels.
                        label.0[0] = label.0[0] & 0xfe | bit;
                    }
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
        (Garbled { tables, zeros, held }, engine.into_end())
    }

    /// The same as [`Rig::run`], with tables that `change` has edited.
    pub(crate) fn run_through(
        &self,
        program: &Program,
        instances: usize,
        inputs: &[Vec<u8>],
        change: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Result<RigRun, GarbleError> {
        let _watch = registry::watch();
        let (Garbled { tables, zeros, mut held }, garbler) = self.garble(program, instances, inputs);
        let mut engine = Engine::new(self.evaluator()).with_width(self.widths[1]);
        let mut memory = Memory::of(change(tables.clone()));
        engine.program(program, instances, &mut held, &mut memory)?;
        let evaluator = engine.into_end();
        assert_eq!(garbler.gates(), evaluator.gates(), "both endpoints number gates alike");
        let mut outputs = vec![];
        let mut registers = program.output_registers().iter();
        for width in program.outputs() {
            let bytes = planes::value_bytes(*width);
            let mut values = vec![0; bytes * instances];
            for i in 0..*width {
                let r = *registers.next().expect("a register for every bit") as usize;
                for j in 0..instances {
                    let place = r * instances + j;
                    let bit = garbler.permute_bit(zeros[place]) ^ evaluator.signal(held[place]);
                    values[j * bytes + i / 8] |= bit << (i % 8);
                }
            }
            outputs.push(values);
        }
        let permute_bits = zeros.iter().map(|w| garbler.permute_bit(*w)).collect();
        let signals = held.iter().map(|w| evaluator.signal(*w)).collect();
        Ok(RigRun { outputs, tables, permute_bits, signals })
    }
}

/// Flips a bit.
pub(crate) fn flipped(mut bytes: Vec<u8>, bit: usize) -> Vec<u8> {
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// The tests of a scheme, in a module `$name`: `suite_of!(mi: HalfGates, Scheme::Mi)`.
macro_rules! suite_of {
    ($name:ident: $family:ty, $scheme:expr) => {
        mod $name {
            use super::*;
            use $crate::rig::suite;

            #[test]
            fn named_circuits() {
                suite::named_circuits::<$family>($scheme);
            }
            #[test]
            fn programs() {
                suite::programs::<$family>($scheme);
            }
            #[test]
            fn width_and_tier_change_no_byte() {
                suite::width_and_tier_change_no_byte::<$family>($scheme);
            }
            #[test]
            fn random_circuits() {
                suite::random_circuits::<$family>($scheme);
            }
            #[test]
            fn vectors_of_standards() {
                suite::vectors_of_standards::<$family>($scheme);
            }
            #[test]
            fn published_files() {
                suite::published_files::<$family>($scheme);
            }
            #[test]
            fn inputs_come_by_ideal_ots() {
                $crate::rig::life::inputs_come_by_ideal_ots::<$family>($scheme);
            }
            #[test]
            fn bits_are_uniform() {
                suite::bits_are_uniform::<$family>($scheme);
            }
            #[test]
            fn tables_are_as_long_as_they_should_be() {
                suite::tables_are_as_long_as_they_should_be::<$family>($scheme);
            }
        }
    };
}
pub(crate) use suite_of;
