//! Reads a gate's line.

use super::{
    BristolError,
    lower::{BinaryGate, GateRefusal, Gathered},
    read::{FileLine, number, quote},
};
use crate::{Gate, Wire, check::GateFault};

const KINDS: &str = "XOR, AND, OR, NAND, NOR, XNOR, INV, NOT, BUF, EQ, EQW or MAND";

/// Checks the line and adds its gates. Returns how many gates of the file it stands for: one,
/// except for MAND. Both formats have all kinds of gates, in letters of either case: public files
/// of the older format contain OR.
pub(super) fn read(line: &FileLine, circuit: &mut Gathered) -> Result<u64, BristolError> {
    let kind = line.words().next_back().unwrap_or("").to_ascii_uppercase();
    let binary = match kind.as_str() {
        "XOR" => BinaryGate::Xor,
        "AND" => BinaryGate::And,
        "OR" => BinaryGate::Or,
        "NAND" => BinaryGate::Nand,
        "NOR" => BinaryGate::Nor,
        "XNOR" => BinaryGate::Xnor,
        "INV" | "NOT" => {
            let [a, out] = operands(line, [1, 1], || format!("`1 1 A OUT {kind}`"))?;
            return added(line, circuit, |circuit| circuit.plain(Gate::Inv { a, out }));
        }
        "EQW" | "BUF" => {
            let [a, out] = operands(line, [1, 1], || format!("`1 1 A OUT {kind}`"))?;
            return added(line, circuit, |circuit| circuit.plain(Gate::Copy { a, out }));
        }
        "EQ" => {
            let form = || "`1 1 0 OUT EQ` or `1 1 1 OUT EQ`".to_owned();
            let [value, out] = operands(line, [1, 1], form)?;
            if value > 1 {
                return Err(line.error(form()));
            }
            return added(line, circuit, |circuit| circuit.plain(Gate::Const { value: value == 1, out }));
        }
        "MAND" => return many(line, circuit),
        _ => return Err(line.error(format!("a gate that ends in {KINDS}"))),
    };
    let [a, b, out] = operands(line, [2, 1], || format!("`2 1 A B OUT {kind}`"))?;
    added(line, circuit, |circuit| circuit.binary(binary, a, b, out))
}

/// The operands: the numbers after `counts` and before the gate's name.
fn operands<const K: usize>(
    line: &FileLine,
    counts: [u32; 2],
    form: impl Fn() -> String,
) -> Result<[Wire; K], BristolError> {
    let mut words = line.words();
    let error = || line.error(form());
    for count in counts {
        if words.next().and_then(number) != Some(count) {
            return Err(error());
        }
    }
    let mut operands = [0; K];
    for operand in &mut operands {
        *operand = words.next().and_then(number).ok_or_else(error)?;
    }
    words.next();
    if words.next().is_some() { Err(error()) } else { Ok(operands) }
}

fn added(
    line: &FileLine,
    circuit: &mut Gathered,
    add: impl FnOnce(&mut Gathered) -> Result<(), GateRefusal>,
) -> Result<u64, BristolError> {
    let wires = circuit.wires();
    add(circuit).map(|()| 1).map_err(|refused| match refused {
        GateRefusal::Fault(fault) => explain(line, wires, fault),
        GateRefusal::TooManyWires => too_many(line.number),
    })
}

/// The error of a file whose gates, such as OR, need new wires beyond 32-bit numbers.
pub(super) fn too_many(line: u64) -> BristolError {
    let found = "more than 2^32 wires, with those that OR, NAND, NOR and XNOR take".to_owned();
    BristolError { line, found, expected: "a smaller circuit".to_owned() }
}

/// `2K K A… B… OUT… MAND`: K ANDs, which all read before any of them writes.
fn many(line: &FileLine, circuit: &mut Gathered) -> Result<u64, BristolError> {
    let error = || line.error("`2K K` and 3K wires before MAND");
    let words: Vec<&str> = line.words().collect();
    let numbers: Option<Vec<Wire>> = words[..words.len() - 1].iter().map(|w| number(w)).collect();
    let numbers = numbers.ok_or_else(error)?;
    let [both, k, operands @ ..] = &numbers[..] else { return Err(error()) };
    let k = *k as usize;
    if *both as usize != 2 * k || operands.len() != 3 * k {
        return Err(error());
    }
    let (reads, outs) = operands.split_at(2 * k);
    added(line, circuit, |circuit| circuit.ands(reads, outs))?;
    Ok(k as u64)
}

fn explain(line: &FileLine, wires: u32, fault: GateFault) -> BristolError {
    let gate = quote(&line.text);
    let (found, expected) = match fault {
        GateFault::NoWire(w) => (format!("wire {w} in {gate}"), format!("a wire below {wires}")),
        GateFault::Unwritten(w) => {
            (format!("{gate}, which reads wire {w}"), "an input or a wire that an earlier line writes".into())
        }
        GateFault::Rewritten(w) => (
            format!("{gate}, which writes wire {w}"),
            "a wire that is no input and that no earlier gate writes".into(),
        ),
    };
    line.error_at(found, expected)
}
