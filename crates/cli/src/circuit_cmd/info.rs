//! The size and interface of a circuit, as plain integers.

use super::{LoadedCircuit, flat, load};
use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file},
    out,
};
use hushwire_circuit::{Gates, Program, bristol::Format, named::Named};
use std::path::Path;

/// The facts that `info` prints.
#[derive(serde::Serialize)]
struct CircuitFacts {
    format: &'static str,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    wires: u64,
    gates: u64,
    and: u64,
    xor: u64,
    inv: u64,
    eq: u64,
    eqw: u64,
    and_depth: usize,
    /// The number of blocks that run one after the other; 1 for a file.
    stages: usize,
    /// The digest of the circuit, which parties compare before they run it.
    digest: String,
}

fn facts(source: &LoadedCircuit, name: &str) -> Result<CircuitFacts, Error> {
    let of = |gates: &dyn Gates, program: &Program| {
        let counts = gates.counts();
        CircuitFacts {
            format: match source.format {
                None => "built in",
                Some(Format::Fashion) => "Bristol Fashion",
                Some(Format::Old) => "Bristol Format",
            },
            inputs: gates.inputs().to_vec(),
            outputs: gates.outputs().to_vec(),
            wires: gates.wires(),
            gates: counts.total(),
            and: counts.and,
            xor: counts.xor,
            inv: counts.inv,
            eq: counts.zero + counts.one,
            eqw: counts.copy,
            and_depth: program.depth(),
            stages: program.stages().len(),
            digest: hex::encode(program.digest()),
        }
    };
    Ok(match &source.named {
        Named::Circuit(circuit) => of(circuit, &Program::flat(name, circuit)),
        Named::Program(program) => of(&flat(program, name)?, program),
    })
}

/// Prints the facts, or writes them to `json`.
pub(super) fn run(file: &Path, json: Option<&Path>, replace: &Replace) -> Result<(), Error> {
    let facts = facts(&load(file)?, &file.display().to_string())?;
    if let Some(json) = json {
        let text = out::pretty(&facts)?;
        if json == Path::new("-") {
            return out::text(text);
        }
        let mut files = RunFiles::new(replace.force);
        files.reads("the circuit", file);
        if let Some(new) = json_file(&mut files, Some(json), "circuit info", 0o644)? {
            new.write(text.as_bytes())?;
        }
    }
    let widths = |widths: &[usize]| widths.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let rows = [
        ("format", facts.format.to_owned()),
        ("inputs", widths(&facts.inputs)),
        ("outputs", widths(&facts.outputs)),
        ("wires", facts.wires.to_string()),
        ("gates", facts.gates.to_string()),
        ("AND", facts.and.to_string()),
        ("XOR", facts.xor.to_string()),
        ("INV", facts.inv.to_string()),
        ("EQ", facts.eq.to_string()),
        ("EQW", facts.eqw.to_string()),
        ("AND-depth", facts.and_depth.to_string()),
        ("stages", facts.stages.to_string()),
        ("digest", facts.digest),
    ];
    out::text(rows.iter().map(|(what, value)| format!("{what:<10} {value}\n")).collect::<String>())
}
