//! `bench table8`: the VASA paper's Table 8, and `bench table4`, its geometric means over the four
//! circuits.
//!
//! | `circuit` | work |
//! |---|---|
//! | `aes` | AES-128 with expanded key, 65 at once |
//! | `sha1` | SHA-1 of a 512-bit block, 63 at once |
//! | `scs-psi` | sort-compare-shuffle of 1024 elements of 32 bits from each party |
//! | `psi-phasing` | Phasing: 1024 elements of 32 bits per party, 3 hashes, ε 1.2, a stash of 1 |
//!
//! `impl` is `ref` (AES-NI, one gate after the other), `aesni` (batches on AES-NI) and `vaes`
//! (batches on the widest VAES). Garbling writes the tables into a loopback TCP connection that
//! another thread reads, because the paper's garbling times include sending. Evaluation reads
//! tables that have arrived. Fresh endpoints first compare all outputs with plain evaluation.
//! `ands` in a row is the number of ANDs of our circuit. The paper's number is in `paper`. If they
//! differ, the table below compares the time per AND.

mod table;
#[cfg(test)]
mod tests;
mod work;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use hushwire_garble::Scheme;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Measurement, Paper, Params, Result, Spread,
    Takes, Timer,
    axes::{axis, every, params},
    benches::garble::GarbleOp,
    bounds::count,
    papers::{VASA_4, VASA_8},
};
use work::{CellFigures, Circuits, UNIT, cell};

const fn bench(name: &'static str, about: &'static str, examples: &'static str) -> Bench {
    let takes = Takes::Options;
    Bench { name, about, examples, takes, below: |_, report| table::print(report), ..Bench::EMPTY }
}

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        core: &["*"],
        quick: &["scheme=mi circuit=aes"],
        cases: |asked| cases(asked, &PaperCircuit::ALL.map(Some)),
        ..bench(
            "table8",
            "Table 8 of the VASA paper: four circuits, four schemes, with batching and wider AES or without",
            "Example:\n  hushwire bench table8 --only circuit=aes --json table8.json",
        )
    },
    // Every cell is the geometric mean over the four circuits.
    Bench {
        core: &["*"],
        quick: &["scheme=mi"],
        cases: |asked| cases(asked, &[None]),
        ..bench(
            "table4",
            "Table 4 of the VASA paper: geometric means of Table 8",
            "Example:\n  hushwire bench table4 --only scheme=mi --json table4.json",
        )
    },
];

axis! {
    /// A circuit of the paper.
    pub(super) enum PaperCircuit {
        Aes = "aes",
        Sha1 = "sha1",
        ScsPsi = "scs-psi",
        Phasing = "psi-phasing",
    }
}

axis! {
    /// The way in which gates are hashed.
    pub(super) enum Impl {
        Ref = "ref",
        AesNi = "aesni",
        Vaes = "vaes",
    }
}

/// The medians by cell, for improvements.
type Medians = Rc<RefCell<BTreeMap<(String, &'static str, &'static str, Impl), f64>>>;

fn cases(asked: &BenchAsked, works: &[Option<PaperCircuit>]) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let (circuits, medians) = (Circuits::default(), Medians::default());
    let implementations = Impl::ALL.into_iter().filter(|imp| imp.backend().is_some());
    Ok(every!(&work in works, scheme in SCHEMES, op in GarbleOp::ALL, imp in implementations.clone() => {
        let circuit = work.map_or("mean", PaperCircuit::name);
        let params = params!(work; circuit = circuit, scheme = scheme, impl = imp, op = op);
        let (circuits, medians) = (circuits.clone(), medians.clone());
        let paper = stated(&params, work, op);
        Case::new("garbling", params, move |ctx| {
            Ok(measure(ctx, &circuits, &medians, work, scheme, imp, op)?.paper(paper.clone()))
        })
    }))
}

/// The paper's schemes, in the order of its columns.
const SCHEMES: [Scheme; 4] = [Scheme::Prp, Scheme::Mi, Scheme::Circ, Scheme::Prf];

/// The phase of our system that a row times.
const fn phase(op: GarbleOp) -> &'static str {
    match op {
        GarbleOp::Garble => "garble: with sending, over loopback TCP",
        GarbleOp::Evaluate => "evaluate: gate work alone, tables in memory",
    }
}

/// The phase of the paper's system that its figure times.
const fn paper_phase(op: GarbleOp) -> &'static str {
    match op {
        GarbleOp::Garble => "garble: with sending",
        GarbleOp::Evaluate => "evaluate: as reported, perhaps with waiting",
    }
}

/// The paper's figure for a row.
fn stated(params: &Params, work: Option<PaperCircuit>, op: GarbleOp) -> Paper {
    let table = if work.is_some() { &VASA_8 } else { &VASA_4 };
    let paper = table.stated(params, paper_phase(op));
    // The paper's own number of ANDs for the circuit, which may differ from ours.
    match work {
        Some(work) if !paper.is_empty() => paper.with("ands", work.paper_ands()),
        _ => paper,
    }
}

fn measure(
    ctx: &mut CaseContext<'_>,
    circuits: &Circuits,
    medians: &Medians,
    work: Option<PaperCircuit>,
    scheme: Scheme,
    imp: Impl,
    op: GarbleOp,
) -> Result<BenchRow, BoxError> {
    let works = work.map_or(PaperCircuit::ALL.to_vec(), |work| vec![work]);
    let timer = ctx.timer();
    let share = Timer { budget: timer.budget / works.len() as u32, ..timer };
    let (mut cells, mut ands) = (vec![], 0);
    for work in works {
        let loaded = circuits.get(work)?;
        ands += loaded.ands;
        cells.push(cell(ctx, share, &loaded, scheme, imp, op)?);
    }
    let mean = |of: &dyn Fn(&CellFigures) -> f64| {
        let logs: f64 = cells.iter().map(|c| of(c).ln()).sum();
        (logs / cells.len() as f64).exp()
    };
    let measured = Measurement {
        median: mean(&|c| c.measured.median),
        min: mean(&|c| c.measured.min),
        max: mean(&|c| c.measured.max),
        runs: cells.iter().map(|c| c.measured.runs).min().unwrap_or(0),
    };
    let circuit = work.map_or("mean", PaperCircuit::name);
    let mut name = format!("{circuit}, {scheme}, {}: {}", op.name(), cells[0].limit.name);
    // If the link bounds any of the circuits, their mean has a spread, and a name that differs from
    // means of AES alone.
    let limit = if cells.iter().any(|c| c.limit.spread.is_some()) {
        if cells[0].limit.spread.is_none() {
            name += ", the link in part";
        }
        let of = |end: &dyn Fn(&Spread) -> f64| mean(&|c| c.limit.spread.as_ref().map_or(c.limit.value, end));
        let spread = Spread { value: mean(&|c| c.limit.value), min: of(&|s| s.min), max: of(&|s| s.max) };
        ctx.taken(&name, &UNIT, spread)?
    } else {
        ctx.bound(&name, UNIT, |_| Ok(mean(&|c| c.limit.value)))?
    };
    let key = |imp| (circuit.to_owned(), scheme.name(), op.name(), imp);
    medians.borrow_mut().insert(key(imp), measured.median);
    let before = match imp {
        Impl::Ref => None,
        Impl::AesNi => medians.borrow().get(&key(Impl::Ref)).copied(),
        Impl::Vaes => medians.borrow().get(&key(Impl::AesNi)).copied(),
    };
    let improvement = before.map(|before| 100.0 * (before / measured.median - 1.0));
    let bytes: u64 = cells.iter().map(|c| c.bytes).sum();
    let mut row = BenchRow::new("time", UNIT, measured)
        .bound(&limit)
        .with("ands", ands)
        .with("phase", phase(op))
        .with("improvement_percent", improvement)
        .with("mean_batch", cells.iter().map(|c| c.mean_batch).sum::<f64>() / cells.len() as f64);
    if work.is_some() {
        row = row.bytes_per_unit(count(bytes));
    }
    Ok(row)
}
