//! Plain evaluation, the oracle of every protocol: bit-sliced over 512 instances, and gate by gate.

use crate::walk::{Logic, Values};
use crate::{Circuit, Gate, Layered, Program, planes};
use std::convert::Infallible;

/// An input that does not have the size that it needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: found {found} {unit}, expected {expected}")]
pub struct EvalError {
    /// "the inputs", or "input 1".
    pub what: String,
    /// The unit of both counts, such as "bytes".
    pub unit: &'static str,
    /// The number that came.
    pub found: usize,
    /// The number that it takes.
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

/// Runs `program` on `instances` inputs, side by side. Each input and output holds instance after instance,
/// ⌈width/8⌉ bytes each, as [`planes`] describes.
///
/// # Errors
/// An input is missing, too many, or not `instances` values long.
pub fn eval(program: &Program, inputs: &[Vec<u8>], instances: usize) -> Result<Vec<Vec<u8>>, EvalError> {
    check(|| "the inputs".into(), "of them", inputs.len(), program.inputs().len())?;
    for (i, (input, width)) in inputs.iter().zip(program.inputs()).enumerate() {
        check(|| format!("input {i}"), "bytes", input.len(), planes::value_bytes(*width) * instances)?;
    }
    let mut outputs: Vec<Vec<u8>> = program
        .outputs()
        .iter()
        .map(|width| Vec::with_capacity(planes::value_bytes(*width) * instances))
        .collect();
    // A single instance needs no wide words, and large programs then take an eighth of the memory.
    if instances <= 64 {
        batches::<1>(program, inputs, instances, &mut outputs);
    } else {
        batches::<8>(program, inputs, instances, &mut outputs);
    }
    Ok(outputs)
}

/// Runs `program` once, on bits: wire 0 of every input first.
///
/// # Errors
/// As [`eval`].
pub fn eval_bits(program: &Program, inputs: &[Vec<bool>]) -> Result<Vec<Vec<bool>>, EvalError> {
    check(|| "the inputs".into(), "of them", inputs.len(), program.inputs().len())?;
    for (i, (input, width)) in inputs.iter().zip(program.inputs()).enumerate() {
        check(|| format!("input {i}"), "bits", input.len(), *width)?;
    }
    let packed: Vec<Vec<u8>> = inputs.iter().map(|bits| to_bytes(bits)).collect();
    let outputs = eval(program, &packed, 1)?;
    Ok(outputs.iter().zip(program.outputs()).map(|(bytes, width)| to_bits(bytes, *width)).collect())
}

/// Bits as bytes: bit `i` is bit `i % 8` of byte `i / 8`.
#[must_use]
pub fn to_bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|b| b.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}

/// The first `width` bits of bytes.
///
/// # Panics
/// If there are fewer.
#[must_use]
pub fn to_bits(bytes: &[u8], width: usize) -> Vec<bool> {
    (0..width).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

/// Runs a circuit once, gate by gate in file order: the oracle of [`eval`], with nothing shared between the two.
///
/// # Errors
/// As [`eval_bits`].
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
type Word<const N: usize> = [u64; N];

fn batches<const N: usize>(program: &Program, inputs: &[Vec<u8>], instances: usize, outputs: &mut [Vec<u8>]) {
    let mut values = Values::new(Plain::<N>, program);
    for first in (0..instances).step_by(64 * N) {
        let n = (instances - first).min(64 * N);
        let mut at = 0;
        for (input, width) in inputs.iter().zip(program.inputs()) {
            let bytes = planes::value_bytes(*width);
            let packed = planes::pack(&input[first * bytes..(first + n) * bytes], *width, n);
            for plane in packed.chunks_exact(planes::plane_bytes(n)) {
                values.registers[at] = to_word(plane);
                at += 1;
            }
        }
        let Ok(()) = values.run(program);
        let mut registers = program.output_registers().iter();
        for (output, width) in outputs.iter_mut().zip(program.outputs()) {
            let mut packed = Vec::with_capacity(width * planes::plane_bytes(n));
            for register in registers.by_ref().take(*width) {
                let bytes = values.registers[*register as usize].map(u64::to_le_bytes);
                packed.extend_from_slice(&bytes.as_flattened()[..planes::plane_bytes(n)]);
            }
            output.extend(planes::unpack(&packed, *width, n));
        }
    }
}

fn to_word<const N: usize>(plane: &[u8]) -> Word<N> {
    let mut bytes = [[0; 8]; N];
    bytes.as_flattened_mut()[..plane.len()].copy_from_slice(plane);
    bytes.map(u64::from_le_bytes)
}

/// Gates on bits as they are.
struct Plain<const N: usize>;

impl<const N: usize> Logic for Plain<N> {
    type Value = Word<N>;
    type Error = Infallible;

    fn constant(&self, one: bool) -> Word<N> {
        [if one { u64::MAX } else { 0 }; N]
    }

    fn xor(&mut self, a: Word<N>, b: Word<N>) -> Result<Word<N>, Infallible> {
        Ok(std::array::from_fn(|i| a[i] ^ b[i]))
    }

    fn and(&mut self, a: Word<N>, b: Word<N>) -> Result<Word<N>, Infallible> {
        Ok(std::array::from_fn(|i| a[i] & b[i]))
    }
}

/// Runs one block on `instances` inputs, side by side, as [`eval`] runs a program.
///
/// # Errors
/// As [`eval`].
pub fn eval_block(block: &Layered, inputs: &[Vec<u8>], instances: usize) -> Result<Vec<Vec<u8>>, EvalError> {
    eval(&Program::of_block("block", std::sync::Arc::new(block.clone())), inputs, instances)
}
