//! `bench garble`: what one core garbles and evaluates, by scheme, tier, batch width and order of gates.
//!
//! `wide` is independent gates on random wires, the kernel alone; other circuits run once, one instance, XORs included.
//! `order` is `depth`, layer by layer, or `file`: gates as they come, queued and flushed when one reads another's output.
//! `width` is the most gates of a batch; the row's `mean_batch` is what batches came to. Tables are written to memory that
//! stays in the second cache where it fits. Fresh ends garble and evaluate once before they are timed, and every output
//! bit is compared with plain evaluation: a wrong one fails the run.
//!
//! The limit is what the tier does in registers for the calls of an AND, key schedules included (and XORs' calls, in the one
//! scheme where XOR is not free).

pub(crate) mod ends;
pub(crate) mod grid;
pub(crate) mod limits;
mod streamed;
#[cfg(test)]
mod tests;
mod wide;

use std::{collections::BTreeMap, path::Path, rc::Rc, sync::Arc};

use hushwire_aes::Backend;
use hushwire_circuit::{Circuit, Program, bristol, named};
use hushwire_garble::deferred::Order;

use crate::{BenchOptions, BoxError, Case, Context, Error, Report, Result, Row, Unit, bounds::count};
use ends::Both;
use grid::{Op, Point, tiers};

/// The choices of this bench beside [`BenchOptions`].
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// This backend alone.
    pub backend: Option<Backend>,
    /// A Bristol file to measure beside the built-in circuits.
    pub circuit: Option<std::path::PathBuf>,
}

/// Built-in circuits, `wide` first.
const CIRCUITS: [&str; 3] = ["wide", "aes128", "sha256"];

/// A circuit in both orders.
struct Loaded {
    circuit: Arc<Circuit>,
    program: Program,
    ands: u64,
    /// XORs that have tables where XORs have any.
    xors: u64,
}

type Circuits = Rc<BTreeMap<String, Loaded>>;

/// Measures what the options ask for.
///
/// # Errors
/// As [`crate::run`]; a case fails when the circuit's file cannot be read, and when an output is wrong.
pub fn run(options: &BenchOptions, wanted: &Wanted) -> Result<Report> {
    crate::run("garble", cases(options, wanted)?, options)
}

fn cases(options: &BenchOptions, wanted: &Wanted) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let mut names = CIRCUITS.map(str::to_owned).to_vec();
    let mut circuits = BTreeMap::new();
    for name in &CIRCUITS[1..] {
        let circuit = named::make(name).map_err(|e| failed(name, e.into()))?;
        circuits.insert((*name).to_owned(), Loaded::new(name, circuit));
    }
    if let Some(path) = &wanted.circuit {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        circuits.insert(name.clone(), Loaded::new(&name, read(path).map_err(|e| failed(&name, e))?));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (circuits, tiers): (Circuits, _) = (Rc::new(circuits), tiers(wanted.backend));
    let best = tiers.last().copied().unwrap_or_default();
    let given = wanted.circuit.is_some();
    let case = |point: Point| {
        let circuits = circuits.clone();
        let added = given && point.circuit == *names.last().unwrap_or(&point.circuit);
        let chosen = added && point.is_core(best);
        let (core, quick) = (point.is_core(best), point.is_quick(best) || chosen);
        let params = point.params();
        Case::new("garble", params, move |ctx| measure(ctx, &point, &circuits)).core(core).quick(quick)
    };
    Ok(Point::all(&tiers, &names).into_iter().map(case).collect())
}

fn failed(circuit: &str, source: BoxError) -> Error {
    Error::Case { case: "garble".into(), params: format!("circuit={circuit}"), source }
}

fn read(path: &Path) -> Result<Circuit, BoxError> {
    let file = std::fs::File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (circuit, _) = bristol::read(std::io::BufReader::new(file))?;
    Ok(circuit)
}

impl Loaded {
    fn new(name: &str, circuit: Circuit) -> Self {
        let program = Program::flat(name, &circuit);
        let (ands, xors) = (program.ands(), xors(&program));
        Loaded { circuit: Arc::new(circuit), program, ands, xors }
    }
}

/// XORs of two wires, constants left out.
pub(crate) fn xors(program: &Program) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        let layer =
            |l: &hushwire_circuit::CircuitLayer| l.xors.iter().filter(|[a, b, _]| *a > 1 && *b > 1).count();
        (copies * block.layers().iter().map(layer).sum::<usize>()) as u64
    };
    (0..stages.len()).map(of).sum()
}

fn measure(ctx: &mut Context<'_>, point: &Point, circuits: &Circuits) -> Result<Row, BoxError> {
    let Point { scheme, op, backend, width, order, .. } = *point;
    let loaded = circuits.get(&point.circuit);
    let (ands, xors) = loaded.map_or((wide::GATES as u64, 0), |c| (c.ands, c.xors));
    let mut ends: Box<dyn Both> = match (loaded, order) {
        (None, _) => ends::open_wide(scheme, backend, width),
        (Some(loaded), Order::Depth) => ends::open(scheme, backend, width, &loaded.program, 1)?,
        (Some(loaded), Order::File) => ends::open_streamed(scheme, backend, width, &loaded.circuit)?,
    };
    ends.garble()?;
    ends.evaluate()?;
    ends.check()?;
    let calls = limits::per_and(scheme, op, ands, xors);
    let (_, limit) = limits::ands_per_s(ctx, backend, calls)?;
    let measured = ctx.timer().try_rate(count(ands), || match op {
        Op::Garble => ends.garble(),
        Op::Evaluate => ends.evaluate(),
    })?;
    Ok(Row::new("throughput", Unit::AND_PER_S, measured)
        .bytes_per_unit(count(ends.bytes()) / count(ands.max(1)))
        .limit(&limit)
        .with("ands", ands)
        .with("ns_per_and", 1e9 / measured.median)
        .with("aes_calls_per_and", calls.blocks())
        .with("key_schedules_per_and", calls.schedules())
        .with("mean_batch", ends.mean_batch()))
}
