//! Circuits as microcode for the hardware party.

use super::{flat, load};
use crate::{
    error::Error,
    files::{NewFile, Replace, RunFiles, json_file},
    log, out,
};
use clap::Args;
use hushwire_circuit::{Circuit, Gates, Layered, Program, named::Named};
use hushwire_hdl::{Microcode, MicrocodeError};
use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

pub(super) const HELP: &str = "\
Examples:
  hushwire circuit make-microcode aes128-expanded-key --common 0 --out aes.hwm
  hushwire circuit make-microcode adder.txt --out adder.hwm --json -

The file has a head in comment lines, then a 64-bit instruction a line, as Verilog's $readmemh reads it. A common input \
is the same for all instances of a batch, as the round keys of aes128-expanded-key are: it is loaded once and takes no \
row, and sums with its bits cost no instruction. A circuit in stages, as sort:16x32, is compiled as one block; a \
software party runs the same one from the file that `circuit make` writes.";

#[derive(Args)]
pub(super) struct MicrocodeArgs {
    /// A circuit's file, or a name that `circuit list` shows
    circuit: PathBuf,
    /// The file to write, which appears when it is whole; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Inputs that are the same for all instances, counted from 0
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    common: Vec<usize>,
    /// Write what it takes for programs to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// The facts that the loader of a program and the designer of hardware need.
#[derive(serde::Serialize)]
struct MicrocodeFacts<'a> {
    circuit: &'a str,
    digest: String,
    common: &'a [usize],
    inputs: &'a [usize],
    outputs: &'a [usize],
    rows_in: usize,
    rows_out: usize,
    slots: usize,
    scalars: usize,
    ands: usize,
    layers: usize,
    instructions: usize,
}

/// A hardware party cannot hold a program of more gates, and compiling it takes gigabytes.
const MAX_GATES: u64 = 1 << 24;

/// Compiles the circuit and writes the microcode.
pub(super) fn run(args: &MicrocodeArgs) -> Result<(), Error> {
    let stdout = Path::new("-");
    if args.out == stdout && args.json.as_deref() == Some(stdout) {
        return Err(Error::Usage(
            "--out and --json are both standard output; give one of them a file".into(),
        ));
    }
    let name = args.circuit.display().to_string();
    let block = match &load(&args.circuit)?.named {
        Named::Circuit(circuit) => small(circuit, &name).map(|()| Layered::new(circuit))?,
        Named::Program(program) => Layered::new(&whole(program, &name)?),
    };
    let code = Microcode::compile(&name, &block, &args.common).map_err(|e| match e {
        MicrocodeError::NoInput { .. } => Error::Usage(format!("--common: {e}")),
        e => Error::Usage(format!("'{name}': {e}")),
    })?;
    let write = |to: &mut dyn Write| {
        let mut to = BufWriter::with_capacity(1 << 16, to);
        code.write(&mut to).and_then(|()| to.flush())
    };
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the circuit", &args.circuit);
    let json = json_file(&mut files, args.json.as_deref(), "circuit make-microcode", 0o644)?;
    if args.out == stdout {
        out::with(write)?;
    } else {
        let new = files.create("with --out", &args.out, "microcode", 0o644)?;
        write(&mut new.writer()?).map_err(|e| new.error(&e))?;
        new.commit()?;
    }
    log::note!(
        "{} slots, {} ANDs in {} layers, {} instructions, {} scalars",
        code.slots(),
        code.ands(),
        code.layer_ands().len(),
        code.instructions().len(),
        code.scalars().len()
    );
    if args.json.is_some() { tell(&code, json) } else { Ok(()) }
}

fn small(gates: &dyn Gates, name: &str) -> Result<(), Error> {
    match gates.counts().total() {
        0..=MAX_GATES => Ok(()),
        count => Err(Error::Usage(format!(
            "'{name}' has {count} gates, and microcode is for up to {MAX_GATES}; take a smaller circuit"
        ))),
    }
}

/// Joins the stages of a program into one circuit.
fn whole(program: &Program, name: &str) -> Result<Circuit, Error> {
    small(&flat(program, name)?, name)?;
    program.to_circuit().map_err(|e| Error::Usage(format!("'{name}': {e}")))
}

fn tell(code: &Microcode, json: Option<NewFile>) -> Result<(), Error> {
    let facts = MicrocodeFacts {
        circuit: code.name(),
        digest: hex::encode(code.digest()),
        common: code.common(),
        inputs: code.inputs(),
        outputs: code.outputs(),
        rows_in: code.rows_in(),
        rows_out: code.rows_out(),
        slots: code.slots(),
        scalars: code.scalars().len(),
        ands: code.ands(),
        layers: code.layer_ands().len(),
        instructions: code.instructions().len(),
    };
    let text = out::pretty(&facts)?;
    match json {
        Some(json) => Ok(json.write(text.as_bytes())?),
        None => out::text(text),
    }
}
