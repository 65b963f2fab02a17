//! `hushwire circuit`: Boolean circuits as files, without any parties.

mod info;
mod microcode;

use crate::{
    error::Error,
    files::{Replace, RunFiles, is_stream},
    log, out,
};
use clap::{Args, Subcommand};
use hushwire_circuit::{
    Circuit, Flat, Gates, Layered, Program,
    bristol::{self, Format, ReadError, WriteError},
    eval::eval_bits,
    named::{self, Named},
    text::{self, BitOrder},
};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Look at, make, convert and run Boolean circuits: Bristol Fashion and the older Bristol Format.
#[derive(Args)]
pub(crate) struct CircuitArgs {
    #[command(subcommand)]
    command: CircuitCommand,
}

#[derive(Subcommand)]
enum CircuitCommand {
    /// Show a circuit's layout, its gates by kind and its AND-depth.
    #[command(
        after_help = "Examples:\n  hushwire circuit info aes_128.txt\n  hushwire circuit info aes128 --json -"
    )]
    Info(InfoArgs),
    /// Show the names that `make` knows.
    #[command(after_help = "Example:\n  hushwire circuit list")]
    List,
    /// Write a circuit of our own to a file.
    #[command(
        after_help = "Examples:\n  hushwire circuit make aes128 --out aes.txt\n  hushwire circuit make add:32 --format old --out -\n  hushwire circuit make sort:16x32 --out sort.txt\n\n`hushwire circuit list` shows all names."
    )]
    Make(MakeArgs),
    /// Write a circuit in the other format.
    #[command(
        after_help = "Example:\n  hushwire circuit convert AES-non-expanded.txt --to fashion --out aes.txt"
    )]
    Convert(ConvertArgs),
    /// Compile a circuit for the hardware party of `hdl/`.
    #[command(after_help = microcode::HELP)]
    MakeMicrocode(microcode::MicrocodeArgs),
    /// Run a circuit on numbers, in the open.
    #[command(after_help = EVAL_HELP)]
    Eval(EvalArgs),
}

const EVAL_HELP: &str = "\
Examples:
  hushwire circuit eval aes128 --inputs \\
    0=000102030405060708090a0b0c0d0e0f,1=00112233445566778899aabbccddeeff
  hushwire circuit eval adder_32bit.txt --bit-order lsb --inputs 0=00000005,1=fffffffe

A number of n bits has exactly n/4 hexadecimal digits, rounded up. With lsb, wire 0 of an input or output is its least \
significant bit, with msb its most significant one. auto takes lsb for Bristol Fashion and msb for the older format, \
which fits its ciphers; its arithmetic circuits need lsb.";

#[derive(Args)]
struct InfoArgs {
    /// A circuit's file, or a name that `circuit list` shows
    file: PathBuf,
    /// Write the facts for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct MakeArgs {
    /// Its name, as in aes128, add:32 or sort:16x32
    name: String,
    /// The file to write, which appears when it is whole; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Bristol Fashion, or the older Bristol Format
    #[arg(long, value_name = "FORMAT", default_value = "fashion", value_parser = ["fashion", "old"])]
    format: String,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct ConvertArgs {
    /// A circuit's file, or a name that `circuit list` shows
    file: PathBuf,
    /// Bristol Fashion, or the older Bristol Format
    #[arg(long, value_name = "FORMAT", value_parser = ["fashion", "old"])]
    to: String,
    /// The file to write, which appears when it is whole; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct EvalArgs {
    /// A circuit's file, or a name that `circuit list` shows
    file: PathBuf,
    /// Every input's number; inputs of width 0 may be left out
    #[arg(long, value_name = "0=HEX,1=HEX", value_delimiter = ',')]
    inputs: Vec<String>,
    /// The bit of a number that wire 0 is
    #[arg(long, value_name = "ORDER", default_value = "auto", value_parser = ["auto", "lsb", "msb"])]
    bit_order: String,
}

/// Runs the command.
pub(crate) fn run(args: &CircuitArgs) -> Result<(), Error> {
    match &args.command {
        CircuitCommand::Info(args) => info::run(&args.file, args.json.as_deref(), &args.replace),
        CircuitCommand::List => list(),
        CircuitCommand::Make(args) => {
            let made = named::find(&args.name).map_err(|e| Error::Usage(e.to_string()))?;
            store(&made, &args.name, None, &args.format, &args.out, &args.replace)
        }
        CircuitCommand::Convert(args) => {
            let source = load(&args.file)?;
            let name = args.file.display().to_string();
            store(&source.named, &name, Some(&args.file), &args.to, &args.out, &args.replace)
        }
        CircuitCommand::MakeMicrocode(args) => microcode::run(args),
        CircuitCommand::Eval(args) => eval(args),
    }
}

/// A circuit and its origin.
struct LoadedCircuit {
    named: Named,
    /// The format of a file; `None` for a built-in circuit.
    format: Option<Format>,
}

/// Loads the circuit in `file`. If there is no such file, loads the built-in circuit of that name.
fn load(file: &Path) -> Result<LoadedCircuit, Error> {
    if is_stream(file) {
        return read(io::stdin().lock(), Path::new("standard input"));
    }
    let open = match File::open(file) {
        Ok(open) => open,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let name = file.to_string_lossy();
            return match named::find(&name) {
                Ok(named) => Ok(LoadedCircuit { named, format: None }),
                Err(named::NameError::Unknown { .. }) => {
                    let remedy = "check the spelling, or name one that `hushwire circuit list` shows";
                    Err(Error::file(
                        "read",
                        file,
                        "there is no such file, and no circuit of that name",
                        remedy,
                    ))
                }
                Err(e) => Err(Error::Usage(e.to_string())),
            };
        }
        Err(e) => return Err(Error::io("read", file, &e)),
    };
    read(BufReader::with_capacity(1 << 16, open), file)
}

fn read(from: impl io::BufRead, file: &Path) -> Result<LoadedCircuit, Error> {
    match bristol::read(from) {
        Ok((circuit, format)) => Ok(LoadedCircuit { named: Named::Circuit(circuit), format: Some(format) }),
        Err(ReadError::Io(e)) => Err(Error::io("read", file, &e)),
        Err(ReadError::Malformed(e)) => {
            let remedy = "correct that line, or fetch the file again from where it was published";
            Err(Error::file("read", file, e, remedy))
        }
    }
}

/// Returns the program gate by gate, or a usage error if it has too many gates.
fn flat<'a>(program: &'a Program, name: &str) -> Result<Flat<'a>, Error> {
    Flat::new(program).map_err(|e| Error::Usage(format!("'{name}': {e}")))
}

/// Writes gates to a file, which gets its name only when it is complete.
fn store(
    named: &Named,
    name: &str,
    from: Option<&Path>,
    format: &str,
    out: &Path,
    replace: &Replace,
) -> Result<(), Error> {
    let flat_program;
    let gates: &dyn Gates = match named {
        Named::Circuit(circuit) => circuit,
        Named::Program(program) => {
            flat_program = flat(program, name)?;
            &flat_program
        }
    };
    let format = if format == "old" { Format::Old } else { Format::Fashion };
    let mut misfit = None;
    let mut write = |to: &mut dyn Write| {
        let mut to = BufWriter::with_capacity(1 << 16, to);
        match bristol::write(gates, format, &mut to) {
            Err(WriteError::DoesNotFit(why)) => misfit = Some(why),
            Err(WriteError::Io(e)) => return Err(e),
            Ok(()) => {}
        }
        to.flush()
    };
    if out == Path::new("-") {
        out::with(write)?;
        return fits(misfit, name);
    }
    let mut files = RunFiles::new(replace.force);
    from.into_iter().for_each(|file| files.reads("the circuit", file));
    // Any circuit may replace the file of another one, because circuits can be made again.
    let new = files.create("with --out", out, "a circuit", 0o644)?;
    write(&mut new.writer()?).map_err(|e| new.error(&e))?;
    fits(misfit, name)?;
    Ok(new.commit()?)
}

fn fits(misfit: Option<String>, name: &str) -> Result<(), Error> {
    misfit.map_or(Ok(()), |why| Err(Error::Usage(format!("'{name}': {why}"))))
}

fn list() -> Result<(), Error> {
    let mut text = String::new();
    for family in named::FAMILIES {
        let name = format!("{}{}", family.name, family.numbers);
        text.push_str(&format!("{name:<28}{}\n", family.does));
    }
    out::text(text)
}

fn eval(args: &EvalArgs) -> Result<(), Error> {
    let source = load(&args.file)?;
    let order = match args.bit_order.as_str() {
        "lsb" => BitOrder::Lsb,
        "msb" => BitOrder::Msb,
        _ => {
            let order = source.format.map_or(BitOrder::Lsb, BitOrder::usual);
            log::note!("{}", auto(source.format));
            order
        }
    };
    let program = match source.named {
        Named::Circuit(circuit) => program(&circuit),
        Named::Program(program) => program,
    };
    let inputs = inputs(&args.inputs, program.inputs(), order).map_err(Error::Usage)?;
    let outputs = eval_bits(&program, &inputs).map_err(|e| Error::internal("running a circuit", e))?;
    let lines = outputs.iter().enumerate().map(|(i, bits)| format!("{i}={}\n", text::format(bits, order)));
    out::text(lines.collect::<String>())
}

fn program(circuit: &Circuit) -> Program {
    Program::of_block("file", std::sync::Arc::new(Layered::new(circuit)))
}

/// Describes the choice of `--bit-order auto` in a sentence.
fn auto(format: Option<Format>) -> &'static str {
    match format {
        None => "bit order: lsb, as all built-in circuits have it",
        Some(Format::Fashion) => {
            "bit order: lsb, as Bristol Fashion has it; where that is wrong, say --bit-order msb"
        }
        Some(Format::Old) => {
            "bit order: msb, as ciphers in the older Bristol Format have it; arithmetic needs --bit-order lsb"
        }
    }
}

/// Parses `0=HEX` for every input into bits. An error says what is wrong, and what would be right.
fn inputs(given: &[String], widths: &[usize], order: BitOrder) -> Result<Vec<Vec<bool>>, String> {
    let mut bits: Vec<Option<Vec<bool>>> = vec![None; widths.len()];
    let form = || {
        let all: Vec<String> = (0..widths.len()).map(|i| format!("{i}=HEX")).collect();
        format!("write --inputs {}", all.join(","))
    };
    for part in given {
        let split = part.split_once('=').and_then(|(i, text)| Some((i.parse::<usize>().ok()?, text)));
        let Some((i, number)) = split else {
            return Err(format!("--inputs: found '{part}', which is no INDEX=HEX; {}", form()));
        };
        let Some(width) = widths.get(i) else {
            return Err(format!("--inputs: found input {i}, and there are {}; {}", widths.len(), form()));
        };
        if bits[i].is_some() {
            return Err(format!("--inputs: found input {i} twice; {}", form()));
        }
        let right = || {
            let digits = width.div_ceil(4);
            format!(
                "input {i} has {width} bits, so write {digits} digits, or fewer behind 0x, or a number behind dec:"
            )
        };
        bits[i] =
            Some(text::parse(number, *width, order).map_err(|e| format!("--inputs {i}: {e}; {}", right()))?);
    }
    let filled = bits.into_iter().zip(widths).enumerate().map(|(i, (bits, width))| match bits {
        None if *width == 0 => Ok(vec![]),
        None => Err(format!("--inputs: input {i} of {width} bits is missing; {}", form())),
        Some(bits) => Ok(bits),
    });
    filled.collect()
}
