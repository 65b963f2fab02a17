//! One line of a gate.

use super::{
    BristolError, Format,
    read::{Line, number, quote},
};
use crate::{
    Gate, Wire,
    check::{Check, Fault},
};

/// Adds the line's gates, once they are checked.
pub(super) fn read(
    line: &Line,
    format: Format,
    wires: u32,
    check: &mut Check,
    gates: &mut Vec<Gate>,
) -> Result<(), BristolError> {
    let kind = line.words().next_back().unwrap_or("");
    let fashion = format == Format::Fashion;
    match kind {
        "XOR" | "AND" => {
            let [a, b, out] = operands(line, [2, 1], || format!("`2 1 A B OUT {kind}`"))?;
            let gate = if kind == "XOR" { Gate::Xor { a, b, out } } else { Gate::And { a, b, out } };
            one(line, wires, check, gates, gate)
        }
        "INV" | "NOT" => {
            let [a, out] = operands(line, [1, 1], || format!("`1 1 A OUT {kind}`"))?;
            one(line, wires, check, gates, Gate::Inv { a, out })
        }
        "EQW" if fashion => {
            let [a, out] = operands(line, [1, 1], || "`1 1 A OUT EQW`".into())?;
            one(line, wires, check, gates, Gate::Copy { a, out })
        }
        "EQ" if fashion => {
            let form = || "`1 1 0 OUT EQ` or `1 1 1 OUT EQ`".to_owned();
            let [value, out] = operands(line, [1, 1], form)?;
            if value > 1 {
                return Err(line.error(form()));
            }
            one(line, wires, check, gates, Gate::Const { value: value == 1, out })
        }
        "MAND" if fashion => many(line, wires, check, gates),
        _ => {
            let kinds = if fashion { "XOR, AND, INV, EQ, EQW or MAND" } else { "XOR, AND or INV" };
            Err(line.error(format!("a gate that ends in {kinds}")))
        }
    }
}

/// The numbers after `counts` and before the name.
fn operands<const K: usize>(
    line: &Line,
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

fn one(
    line: &Line,
    wires: u32,
    check: &mut Check,
    gates: &mut Vec<Gate>,
    gate: Gate,
) -> Result<(), BristolError> {
    check.gate(gate).map_err(|fault| explain(line, wires, fault))?;
    gates.push(gate);
    Ok(())
}

/// `2K K A… B… OUT… MAND`: K ANDs, which all read before any writes.
fn many(line: &Line, wires: u32, check: &mut Check, gates: &mut Vec<Gate>) -> Result<(), BristolError> {
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
    let fault = |fault| explain(line, wires, fault);
    reads.iter().try_for_each(|wire| check.read(*wire)).map_err(fault)?;
    outs.iter().try_for_each(|wire| check.write(*wire)).map_err(fault)?;
    gates.extend((0..k).map(|i| Gate::And { a: reads[i], b: reads[k + i], out: outs[i] }));
    Ok(())
}

fn explain(line: &Line, wires: u32, fault: Fault) -> BristolError {
    let gate = quote(&line.text);
    let (found, expected) = match fault {
        Fault::NoWire(w) => (format!("wire {w} in {gate}"), format!("a wire below {wires}")),
        Fault::Unwritten(w) => {
            (format!("{gate}, which reads wire {w}"), "an input or a wire that an earlier line writes".into())
        }
        Fault::Rewritten(w) => (
            format!("{gate}, which writes wire {w}"),
            "a wire that is no input and that no earlier gate writes".into(),
        ),
    };
    line.error_at(found, expected)
}
