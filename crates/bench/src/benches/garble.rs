//! `bench garble`: the rates at which one core garbles and evaluates, by scheme, tier, batch width
//! and order of gates.
//!
//! `wide` has independent gates on random wires, for the kernel alone. Other circuits run once,
//! with one instance, including XORs. `order` is `depth`, layer by layer, or `file`: gates are
//! queued in file order, and flushed when one reads another's output. `width` is the most gates of
//! a batch, and the row's `mean_batch` the mean of the actual batches. Tables are written to memory
//! that stays in the second-level cache if it fits. Fresh endpoints garble and evaluate once before
//! they are timed. Every output bit is compared with plain evaluation. A wrong one fails the run.
//!
//! The limit is the tier's rate in registers for the AES calls of an AND. It includes key
//! schedules, and the calls of XORs in the one scheme in which XOR is not free.

pub(crate) mod ends;
pub(crate) mod limits;
mod streamed;
#[cfg(test)]
mod tests;
mod wide;

use std::{collections::BTreeMap, fmt, path::Path, rc::Rc, sync::Arc};

use hushwire_aes::Backend;
use hushwire_circuit::{Circuit, Program, bristol, named};
use hushwire_garble::{Scheme, deferred::Order};

use crate::{
    Bench, BenchAsked, BenchError, BenchRow, BoxError, Case, CaseContext, OwnOption, Result, Takes, Unit,
    axes::{axis, every, params},
    bounds::count,
    sets::RowSet,
};
use ends::Both;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "garble",
    about: "Garbled circuits on one core: schemes, tiers, batch widths, file order against depth order",
    examples: "Examples:\n  hushwire bench garble --only scheme=mi,circuit=aes128,tier=vaes512 --json garble.json\n  hushwire bench garble --circuit adder.txt --only circuit=adder,width=1024",
    takes: Takes::Tier,
    own: &[OwnOption {
        name: "circuit",
        value: Some("FILE"),
        help: "Measure this Bristol file too; rows have its name, without its ending",
        check: None,
    }],
    // Every scheme on the best tier in depth order; for MI also every width on AES-128 in both
    // orders, and every tier.
    core: &[
        "tier=$widest width=1024 order=depth",
        "tier!=$widest width=1024 order=depth scheme=mi circuit=wide",
        "tier=$widest scheme=mi op=garble circuit=aes128",
        "tier=$widest scheme=mi width=1024 circuit!=wide",
    ],
    quick: &[
        "tier=$widest scheme!=mi width=1024 order=depth circuit=wide",
        "tier=$widest scheme=mi width=1024 order=depth",
        "tier=$widest scheme=mi op=garble circuit=aes128 width=8|16|32|64|1024",
        "tier=$widest scheme=mi circuit=aes128 width=1024",
    ],
    cases,
    ..Bench::EMPTY
}];

axis! {
    /// The endpoint whose work is timed.
    pub(crate) enum GarbleOp {
        Garble = "garble",
        Evaluate = "evaluate",
    }
}

/// The measured gates of a batch. The last number is as many as a layer has.
const WIDTHS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, WIDEST];
/// The gates of a batch in most rows.
pub(crate) const WIDEST: usize = 1024;

/// One point of the grid.
#[derive(Clone, Debug)]
struct Point {
    scheme: Scheme,
    op: GarbleOp,
    backend: Backend,
    width: usize,
    order: Order,
    circuit: String,
}

/// Built-in circuits, `wide` first.
const CIRCUITS: [&str; 3] = ["wide", "aes128", "sha256"];

/// A circuit in both orders.
struct Loaded {
    circuit: Arc<Circuit>,
    program: Program,
    ands: u64,
    /// The XORs with tables, if the scheme has tables for XORs.
    xors: u64,
}

type Circuits = Rc<BTreeMap<String, Loaded>>;

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let mut names = CIRCUITS.map(str::to_owned).to_vec();
    let mut circuits = BTreeMap::new();
    for name in &CIRCUITS[1..] {
        let circuit = named::make(name).map_err(|e| failed(name, &e))?;
        circuits.insert((*name).to_owned(), Loaded::new(name, circuit));
    }
    let mut added = None;
    if let Some(path) = asked.own("circuit") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        circuits.insert(name.clone(), Loaded::new(&name, read(path).map_err(|e| failed(&name, &e))?));
        if !names.contains(&name) {
            names.push(name);
        }
        added = names.last().cloned();
    }
    let (circuits, tiers): (Circuits, _) = (Rc::new(circuits), asked.tiers());
    let points = every!(
        scheme in Scheme::ALL,
        circuit in &names,
        op in GarbleOp::ALL,
        &backend in tiers.iter().rev(),
        order in Order::ALL,
        width in WIDTHS => Point { scheme, op, backend, width, order, circuit: circuit.clone() }
    );
    // A requested circuit has its core rows in the quick set.
    let core = RowSet::new(BENCHES[0].core, asked);
    let case = |point: Point| {
        let (circuits, is_added) = (circuits.clone(), added.as_ref() == Some(&point.circuit));
        let params = params!(point; scheme, op, tier = point.backend, width, order, circuit);
        let case = Case::new("garble", params, move |ctx| measure(ctx, &point, &circuits));
        let quick = is_added && core.holds(&case);
        case.quick(quick)
    };
    Ok(points.into_iter().map(case).collect())
}

fn failed(circuit: &str, source: &dyn fmt::Display) -> BenchError {
    BenchError::case("garble", &format!("circuit={circuit}"), source)
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

/// The number of XORs of two wires, without constants.
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

fn measure(ctx: &mut CaseContext<'_>, point: &Point, circuits: &Circuits) -> Result<BenchRow, BoxError> {
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
        GarbleOp::Garble => ends.garble(),
        GarbleOp::Evaluate => ends.evaluate(),
    })?;
    Ok(BenchRow::new("throughput", Unit::AND_PER_S, measured)
        .bytes_per_unit(count(ends.bytes()) / count(ands.max(1)))
        .limit(&limit)
        .with("ands", ands)
        .with("ns_per_and", 1e9 / measured.median)
        .with("aes_calls_per_and", calls.blocks())
        .with("key_schedules_per_and", calls.schedules())
        .with("mean_batch", ends.mean_batch()))
}
