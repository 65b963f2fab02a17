//! `bench table8`: the VASA paper's Table 8, and `bench table4`, its geometric means over the four circuits.
//!
//! | `circuit` | work |
//! |---|---|
//! | `aes` | AES-128 with expanded key, 65 at once |
//! | `sha1` | SHA-1 of a 512-bit block, 63 at once |
//! | `scs-psi` | sort-compare-shuffle of 1024 elements of 32 bits from each side |
//! | `psi-phasing` | Phasing: 1024 elements of 32 bits a side, 3 hashes, ε 1.2, a stash of 1 |
//!
//! `impl` is `ref` (AES-NI, one gate after the other), `aesni` (batches on AES-NI) and `vaes` (batches on the widest VAES).
//! Garbling writes the tables into a loopback TCP connection that another thread reads, as the paper's garbling times
//! include sending; evaluation reads tables that have arrived. Fresh ends check all outputs against plain evaluation
//! first. `ands` in a row is the circuit's as ours has it; the paper's stands in `paper`, and where they differ the table
//! below compares time per AND.

mod paper;
mod table;
#[cfg(test)]
mod tests;
mod work;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use hushwire_garble::Scheme;

use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Params, Report, Result, Row, Spread, Timer,
    bounds::count, garble::grid::Op,
};
use paper::SCHEMES;
use work::{Cell, Circuits, UNIT, cell};

/// A circuit of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PaperCircuit {
    Aes,
    Sha1,
    ScsPsi,
    Phasing,
}

/// The way in which gates are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Impl {
    Ref,
    AesNi,
    Vaes,
}

/// Medians by cell, for improvements.
type Medians = Rc<RefCell<BTreeMap<(String, &'static str, &'static str, Impl), f64>>>;

/// Measures Table 8 and prints it below, ours beside the paper's.
///
/// # Errors
/// As [`crate::run`]; a case fails when an output is wrong or a connection cannot be had.
pub fn run(options: &BenchOptions) -> Result<Report> {
    let works = PaperCircuit::ALL.map(Some);
    crate::run_with("table8", cases(options, &works)?, options, table::print)
}

/// Measures Table 4: every cell is the geometric mean over the four circuits.
///
/// # Errors
/// As [`run`].
pub fn means(options: &BenchOptions) -> Result<Report> {
    crate::run_with("table4", cases(options, &[None])?, options, table::print)
}

fn cases(options: &BenchOptions, works: &[Option<PaperCircuit>]) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let (circuits, medians) = (Circuits::default(), Medians::default());
    let mut cases = vec![];
    for &work in works {
        for scheme in SCHEMES {
            for op in Op::ALL {
                for imp in Impl::ALL.into_iter().filter(|i| i.backend().is_some()) {
                    let params = Params::new()
                        .with("circuit", work.map_or("mean", PaperCircuit::name))
                        .with("scheme", scheme.name())
                        .with("impl", imp.name())
                        .with("op", op.name());
                    let (circuits, medians) = (circuits.clone(), medians.clone());
                    let quick = scheme == Scheme::Mi && matches!(work, Some(PaperCircuit::Aes) | None);
                    let case = Case::new("garbling", params, move |ctx| {
                        measure(ctx, &circuits, &medians, work, scheme, imp, op)
                    });
                    cases.push(case.core(true).quick(quick));
                }
            }
        }
    }
    Ok(cases)
}

/// The phase of ours that a row times.
const fn phase(op: Op) -> &'static str {
    match op {
        Op::Garble => "garble: with sending, over loopback TCP",
        Op::Evaluate => "evaluate: gate work alone, tables in memory",
    }
}

fn measure(
    ctx: &mut Context<'_>,
    circuits: &Circuits,
    medians: &Medians,
    work: Option<PaperCircuit>,
    scheme: Scheme,
    imp: Impl,
    op: Op,
) -> Result<Row, BoxError> {
    let works = work.map_or(PaperCircuit::ALL.to_vec(), |work| vec![work]);
    let timer = ctx.timer();
    let share = Timer { budget: timer.budget / works.len() as u32, ..timer };
    let (mut cells, mut ands) = (vec![], 0);
    for work in works {
        let loaded = circuits.get(work)?;
        ands += loaded.ands;
        cells.push(cell(ctx, share, &loaded, scheme, imp, op)?);
    }
    let mean = |of: &dyn Fn(&Cell) -> f64| {
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
    // A mean over circuits of which any is bound by the link has a spread, and a name that no mean of AES alone has.
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
    let mut row = Row::new("time", UNIT, measured)
        .bound(&limit)
        .paper(paper::stated(work, scheme, imp, op))
        .with("ands", ands)
        .with("phase", phase(op))
        .with("improvement_percent", improvement)
        .with("mean_batch", cells.iter().map(|c| c.mean_batch).sum::<f64>() / cells.len() as f64);
    if work.is_some() {
        row = row.bytes_per_unit(count(bytes));
    }
    Ok(row)
}
