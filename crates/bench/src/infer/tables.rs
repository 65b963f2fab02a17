//! `bench table9`: whole networks between two parties, operation by operation, and `bench table7`, geometric means over networks.
//!
//! | `op` | what |
//! |---|---|
//! | `conv`, `matmul` | linear layers with all that belongs to them; of that, products of matrices, as the paper counts them |
//! | `trunc`, `relu`, `batchnorm`, `maxpool` | those |
//! | `total` | from the first party's start to the last one's end |
//!
//! Times of operations are the owner's, waiting and the OTs that they use included. `implementation` is `ref` (AES-NI, block by block), `vaes` (the
//! widest VAES, block by block) and `batched` (the widest, in batches). All columns of a network come from one run of it. `linear` is `ot`, as in
//! the paper, or `he`. Without options: `squeezenet-cifar` in all ways and `squeezenet` under encryption; the larger ones send hundreds of
//! gigabytes by OT, and are in `--all`.

use std::{cell::RefCell, collections::BTreeMap, fmt::Write, rc::Rc};

use hushwire_aes::Backend;
use hushwire_ot::Protocol;
use hushwire_two::Products;
use hushwire_wire::Shape;

use super::{
    grid::linear,
    pair::{Pair, Terms},
    paper::{self, NETWORKS},
    work::{SMALL, Work},
};
use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Params, Report, Result, Row, Unit, bounds::count,
    implementation::Implementation, net::Transport,
};

/// A column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Conv,
    Trunc,
    Relu,
    MatMul,
    BatchNorm,
    MaxPool,
    Total,
}

impl Column {
    pub(super) const ALL: [Self; 7] =
        [Self::Conv, Self::Trunc, Self::Relu, Self::MatMul, Self::BatchNorm, Self::MaxPool, Self::Total];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Conv => "conv",
            Self::Trunc => "trunc",
            Self::Relu => "relu",
            Self::MatMul => "matmul",
            Self::BatchNorm => "batchnorm",
            Self::MaxPool => "maxpool",
            Self::Total => "total",
        }
    }
}

/// A network's run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    network: &'static str,
    products: Products,
    implementation: Implementation,
}

/// Milliseconds of each run's columns, its bytes and rounds.
struct Ran {
    spent: Vec<BTreeMap<&'static str, f64>>,
    bytes: f64,
    rounds: u64,
}

/// Runs so far, so that columns share them.
type Seen = Rc<RefCell<Vec<(Cell, Rc<Ran>)>>>;

/// Measures Table 9 and prints it below, ours beside the paper's.
///
/// # Errors
/// As [`crate::run`]; a case fails when an output is wrong or a connection cannot be had.
pub fn table9(options: &BenchOptions) -> Result<Report> {
    crate::run_with("table9", cases(options, true)?, options, |report| print(report, true))
}

/// Measures Table 7: every cell is the geometric mean over networks.
///
/// # Errors
/// As [`table9`].
pub fn table7(options: &BenchOptions) -> Result<Report> {
    crate::run_with("table7", cases(options, false)?, options, |report| print(report, false))
}

/// The networks of a table's lines: each alone, or means over the smaller two and over all; and one to try the bench with.
fn lines(each: bool) -> Vec<(&'static str, Vec<&'static str>)> {
    let small = (SMALL, vec![SMALL]);
    if each {
        return NETWORKS.iter().map(|network| (*network, vec![*network])).chain([small]).collect();
    }
    vec![("squeezenets", NETWORKS[..2].to_vec()), ("all", NETWORKS.to_vec()), small]
}

pub(super) fn cases(options: &BenchOptions, each: bool) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let seen = Seen::default();
    let mut cases = vec![];
    for (name, networks) in lines(each) {
        for products in [Products::Ot, Products::He] {
            for implementation in Implementation::ALL {
                let Some(backend) = implementation.backend(Backend::default()) else { continue };
                let batched = implementation == Implementation::Batched;
                for column in Column::ALL {
                    let params = Params::new()
                        .with(if each { "network" } else { "networks" }, name)
                        .with("op", column.name())
                        .with("protocol", "two")
                        .with("linear", linear(products))
                        .with("implementation", implementation.name());
                    let core = name == "squeezenet-cifar"
                        || batched
                            && products == Products::He
                            && matches!(name, "squeezenet" | "squeezenets");
                    let (seen, networks) = (seen.clone(), networks.clone());
                    let work = move |_: &mut Context<'_>| {
                        let cell = |network: &&'static str| Cell { network, products, implementation };
                        let cells: Vec<Cell> = networks.iter().map(cell).collect();
                        measure(&seen, &cells, column, backend, each)
                    };
                    let quick = batched && name == SMALL;
                    cases.push(Case::new("inference", params, work).core(core).quick(quick));
                }
            }
        }
    }
    Ok(cases)
}

fn run(cell: Cell, backend: Backend, seen: &Seen) -> Result<Rc<Ran>, BoxError> {
    let known = seen.borrow().iter().find(|(of, _)| *of == cell).map(|(_, ran)| ran.clone());
    if let Some(ran) = known {
        return Ok(ran);
    }
    let (products, transport, net) = (cell.products, Transport::TcpInsecure, Shape::NONE);
    let terms = Terms { products, ot: Protocol::SoftSpoken2, transport, net, threads: 1 };
    let mut pair = Pair::new(Work::new(cell.network, "all", 32)?, terms, backend)?;
    pair.time(1)?;
    let (bytes, rounds) = (pair.bytes()[1], pair.rounds());
    let ran = Rc::new(Ran { spent: pair.spent, bytes, rounds });
    seen.borrow_mut().push((cell, ran.clone()));
    Ok(ran)
}

fn measure(
    seen: &Seen,
    cells: &[Cell],
    column: Column,
    backend: Backend,
    each: bool,
) -> Result<Vec<Row>, BoxError> {
    let ran = cells.iter().map(|cell| run(*cell, backend, seen)).collect::<Result<Vec<_>, _>>()?;
    // The networks that have such layers at all.
    let times: Vec<f64> = ran
        .iter()
        .filter_map(|ran| ran.spent.first()?.get(column.name()).copied())
        .filter(|ms| *ms > 0.0)
        .collect();
    if times.is_empty() {
        return Ok(vec![]);
    }
    let mean = (times.iter().map(|ms| ms.ln()).sum::<f64>() / count(times.len() as u64)).exp();
    let time = Measurement::of(&[mean]).ok_or("nothing was timed")?;
    let bytes: f64 = ran.iter().map(|ran| ran.bytes).sum();
    let network = each.then_some(cells[0].network);
    let row = Row::new("time", Unit::MS, time)
        .rounds(ran.iter().map(|ran| ran.rounds).sum())
        .bytes_per_unit(bytes)
        .paper(paper::stated(network, cells[0].implementation, column))
        .with("networks_with_it", times.len());
    Ok(vec![row])
}

/// The table, as far as it was measured.
pub(super) fn print(report: &Report, each: bool) -> String {
    let mut out = String::from("\nSeconds, ours / the paper's (Core i7-1068NG7, products by OT).");
    out += " Improv% is over ref.\n\n| | linear | |";
    Column::ALL.iter().for_each(|column| out += &format!(" {} |", column.name()));
    out += "\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (name, _) in lines(each) {
        for products in [Products::Ot, Products::He] {
            let ours = |implementation: Implementation, column: Column| {
                let key = if each { "network" } else { "networks" };
                let wanted = [
                    (key, name),
                    ("linear", linear(products)),
                    ("implementation", implementation.name()),
                    ("op", column.name()),
                ];
                report.rows.iter().find(|row| row.is(&wanted)).map(|row| row.median / 1e3)
            };
            let theirs = |implementation, column| {
                let network = each.then_some(name);
                paper::seconds(network, implementation, column).filter(|_| each || name == "all")
            };
            let text = |value: Option<f64>, places: usize| {
                value.map_or("—".to_owned(), |v| format!("{v:.places$}"))
            };
            for implementation in Implementation::ALL {
                if Column::ALL.iter().all(|column| ours(implementation, *column).is_none()) {
                    continue;
                }
                let both = |c| {
                    format!("{} / {}", text(ours(implementation, c), 2), text(theirs(implementation, c), 1))
                };
                let cells = Column::ALL.map(both).join(" | ");
                // Writing to a string does not fail.
                let _ =
                    writeln!(out, "| {name} | {} | {} | {cells} |", linear(products), implementation.name());
                if implementation == Implementation::Ref {
                    continue;
                }
                let gain = |of: &dyn Fn(Implementation, Column) -> Option<f64>, column| {
                    let gain = of(Implementation::Ref, column).zip(of(implementation, column));
                    text(gain.map(|(old, new)| 100.0 * (old / new - 1.0)), 1)
                };
                let cells =
                    Column::ALL.map(|c| format!("{} / {}", gain(&ours, c), gain(&theirs, c))).join(" | ");
                let _ = writeln!(out, "| {name} | {} | Improv% | {cells} |", linear(products));
            }
        }
    }
    out
}
