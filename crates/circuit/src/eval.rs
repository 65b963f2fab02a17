//! Evaluation in the clear, the oracle of every protocol: bit-sliced over 512 instances, and gate
//! by gate.

use crate::walk::{Logic, WireValues};
use crate::{Circuit, Gate, Planes, Program, planes};
use std::convert::Infallible;

/// An input of the wrong size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: found {found} {unit}, expected {expected}")]
pub struct EvalError {
    /// The subject: "the inputs", or "input 1".
    pub what: String,
    /// The unit of both counts, such as "bytes".
    pub unit: &'static str,
    /// The count that was given.
    pub found: usize,
    /// The count that is needed.
    pub expected: usize,
}

fn check(
    what: impl FnOnce() -> String,
    unit: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), EvalError> {
    if found == expected { Ok(()) } else { Err(EvalError { what: what(), unit, found, expected }) }
}

/// Runs `program` on the planes of all inputs and returns the planes of all outputs. Bits past the
/// last instance are ignored in inputs and 0 in outputs.
///
/// # Errors
/// `inputs` does not have one plane for every input bit.
pub fn eval(program: &Program, inputs: &Planes) -> Result<Planes, EvalError> {
    check(|| "the inputs".into(), "planes", inputs.width(), program.input_bits())?;
    // A few instances need no wide words, and large programs then take an eighth of the memory.
    Ok(if inputs.instances() <= 64 { batches::<1>(program, inputs) } else { batches::<8>(program, inputs) })
}

/// Runs `program` on values: each input and output holds instance after instance, ⌈width/8⌉ bytes
/// each (see [`planes`]).
///
/// # Errors
/// The number of inputs is wrong, or an input is not `instances` values long.
pub fn eval_values(
    program: &Program,
    inputs: &[Vec<u8>],
    instances: usize,
) -> Result<Vec<Vec<u8>>, EvalError> {
    check(|| "the inputs".into(), "of them", inputs.len(), program.inputs().len())?;
    for (i, (input, width)) in inputs.iter().zip(program.inputs()).enumerate() {
        check(|| format!("input {i}"), "bytes", input.len(), planes::value_bytes(*width) * instances)?;
    }
    let packed = inputs.iter().zip(program.inputs()).map(|(v, width)| Planes::pack(v, *width, instances));
    let outputs = eval(program, &Planes::join(instances, packed))?;
    Ok(outputs.split(program.outputs()).map(|output| output.unpack()).collect())
}

/// Runs `program` once, on bits: wire 0 of every input first.
///
/// # Errors
/// The same as for [`eval`].
pub fn eval_bits(program: &Program, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, EvalError> {
    check(|| "the inputs".into(), "of them", inputs.len(), program.inputs().len())?;
    for (i, (input, width)) in inputs.iter().zip(program.inputs()).enumerate() {
        check(|| format!("input {i}"), "bits", input.len(), *width)?;
    }
    let packed: Vec<Vec<u8>> = inputs.iter().map(|bits| to_bytes(bits)).collect();
    let outputs = eval_values(program, &packed, 1)?;
    Ok(outputs.iter().zip(program.outputs()).map(|(bytes, width)| to_bits(bytes, *width)).collect())
}

/// Packs bits into bytes: bit `i` is bit `i % 8` of byte `i / 8`.
#[must_use]
pub fn to_bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|b| b.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}

/// The first `width` bits of `bytes`.
///
/// # Panics
/// If there are fewer bits.
#[must_use]
pub fn to_bits(bytes: &[u8], width: usize) -> Vec<bool> {
    (0..width).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

/// Runs a circuit once, gate by gate in file order: the oracle of [`eval`], which shares no code
/// with it.
///
/// # Errors
/// The same as for [`eval_bits`].
pub fn eval_gates(circuit: &Circuit, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, EvalError> {
    check(|| "the inputs".into(), "of them", inputs.len(), circuit.inputs().len())?;
    let mut wires: Vec<bool> = Vec::with_capacity(circuit.wires());
    for (i, (input, width)) in inputs.iter().zip(circuit.inputs()).enumerate() {
        check(|| format!("input {i}"), "bits", input.len(), *width)?;
        wires.extend(input);
    }
    wires.resize(circuit.wires(), false);
    for gate in circuit.gates() {
        let w = |wire: u32| wires[wire as usize];
        wires[gate.out() as usize] = match *gate {
            Gate::Xor { a, b, .. } => w(a) ^ w(b),
            Gate::And { a, b, .. } => w(a) & w(b),
            Gate::Inv { a, .. } => !w(a),
            Gate::Const { value, .. } => value,
            Gate::Copy { a, .. } => w(a),
        };
    }
    let mut at = circuit.first_output();
    let outputs = circuit.outputs().iter().map(|width| {
        at += width;
        wires[at - width..at].to_vec()
    });
    Ok(outputs.collect())
}

/// 64 × `N` instances of a bit.
type BitWord<const N: usize> = [u64; N];

fn batches<const N: usize>(program: &Program, inputs: &Planes) -> Planes {
    let mut values = WireValues::new(WordLogic::<N>, program);
    let mut outputs = Planes::zeros(program.output_bits(), inputs.instances());
    let height = planes::plane_bytes(inputs.instances());
    for first in (0..height).step_by(8 * N) {
        let part = first..height.min(first + 8 * N);
        for (register, plane) in values.registers.iter_mut().zip(inputs.chunks_exact(height)) {
            *register = to_word(&plane[part.clone()]);
        }
        let Ok(()) = values.run(program);
        for (plane, register) in outputs.chunks_exact_mut(height).zip(program.output_registers()) {
            let bytes = values.registers[*register as usize].map(u64::to_le_bytes);
            plane[part.clone()].copy_from_slice(&bytes.as_flattened()[..part.len()]);
        }
    }
    outputs.trimmed()
}

fn to_word<const N: usize>(plane: &[u8]) -> BitWord<N> {
    let mut bytes = [[0; 8]; N];
    bytes.as_flattened_mut()[..plane.len()].copy_from_slice(plane);
    bytes.map(u64::from_le_bytes)
}

/// The gates on bits in the clear.
struct WordLogic<const N: usize>;

impl<const N: usize> Logic for WordLogic<N> {
    type LogicValue = BitWord<N>;
    type Error = Infallible;

    fn constant(&self, one: bool) -> BitWord<N> {
        [if one { u64::MAX } else { 0 }; N]
    }

    fn xor(&mut self, a: BitWord<N>, b: BitWord<N>) -> Result<BitWord<N>, Infallible> {
        Ok(std::array::from_fn(|i| a[i] ^ b[i]))
    }

    fn and(&mut self, a: BitWord<N>, b: BitWord<N>) -> Result<BitWord<N>, Infallible> {
        Ok(std::array::from_fn(|i| a[i] & b[i]))
    }
}
