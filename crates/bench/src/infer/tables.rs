//! `bench table9`: whole networks between two parties, operation by operation, and `bench table7`, geometric means over networks.
//!
//! | `op` | what |
//! |---|---|
//! | `conv`, `matmul` | whole linear layers; their products of matrices, as the paper counts |
//! | `trunc`, `relu`, `batchnorm`, `maxpool` | those |
//! | `total` | from the first party's start to the last one's end |
//!
//! Times of operations are the owner's, waiting and the OTs that they use included; so are rounds, and the bytes of both parties. `implementation` is `ref` (AES-NI, block by block), `vaes` (the
//! widest VAES, block by block) and `batched` (the widest, in batches). All columns of a network come from one run of it. `linear` is `ot`, as in
//! the paper, or `he`; `ot`, `ring`, `transport` and `net` are those of `bench infer`, narrower AES on the paper's ring and extension over plain TCP
//! alone. Without options those are the paper's too, without a modelled network unless `--net` names one: `squeezenet-cifar` in all ways and
//! `squeezenet` under encryption; the larger ones send hundreds of gigabytes by OT, and are in `--all`.

use std::{cell::RefCell, collections::BTreeMap, fmt::Write, rc::Rc};

use hushwire_aes::Backend;
use hushwire_machine::Cost;
use hushwire_two::Products;
use hushwire_wire::Shape;

use super::{
    grid::{Point, Way},
    pair::{Pair, Terms},
    paper::{self, NETWORKS},
    work::{SMALL, Work},
};
use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Report, Result, Row, Unit, bounds::count,
    implementation::Implementation, net,
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

/// Milliseconds of each run's columns, the cost of each, and bytes of both parties and rounds of all with the set-up.
struct Ran {
    spent: Vec<BTreeMap<&'static str, f64>>,
    costs: BTreeMap<&'static str, Cost>,
    all: Cost,
}

impl Ran {
    /// Rounds and bytes of a column. All that a linear layer sends is for its products.
    fn cost(&self, column: Column) -> Cost {
        match column {
            Column::Total => self.all,
            Column::MatMul => self.cost(Column::Conv),
            column => self.costs.get(column.name()).copied().unwrap_or_default(),
        }
    }
}

/// Runs so far, so that columns share them.
type Seen = Rc<RefCell<Vec<(Point, Rc<Ran>)>>>;

/// Measures Table 9 and prints it below, ours beside the paper's; given a network, over that one alone.
///
/// # Errors
/// As [`crate::run`]; a case fails when an output is wrong or a connection cannot be had.
pub fn table9(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run_with("table9", cases(options, backend, net, true)?, options, |report| print(report, true))
}

/// Measures Table 7: every cell is the geometric mean over networks.
///
/// # Errors
/// As [`table9`].
pub fn table7(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run_with("table7", cases(options, backend, net, false)?, options, |report| print(report, false))
}

/// The networks of a table's lines: each alone, or means over the smaller two and over all; and one to try the bench with.
fn lines(each: bool) -> Vec<(&'static str, Vec<&'static str>)> {
    let small = (SMALL, vec![SMALL]);
    if each {
        return NETWORKS.iter().map(|network| (*network, vec![*network])).chain([small]).collect();
    }
    vec![("squeezenets", NETWORKS[..2].to_vec()), ("all", NETWORKS.to_vec()), small]
}

pub(super) fn cases(
    options: &BenchOptions,
    backend: Backend,
    net: Option<Shape>,
    each: bool,
) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let nets = net.map_or(net::NETS.to_vec(), |net| vec![net]);
    let seen = Seen::default();
    let mut cases = vec![];
    for (name, networks) in lines(each) {
        for way in [Products::Ot, Products::He].into_iter().flat_map(Way::between_two) {
            let Some(backend) = way.implementation().backend(backend) else { continue };
            for point in Point::of(networks[0], "all", way, &[1], &nets) {
                let plain = point.is_plain() && (net.is_some() || point.net == Shape::NONE);
                let batched = way.implementation() == Implementation::Batched;
                let short = way == Way::best(Products::He) && matches!(name, "squeezenet" | "squeezenets");
                for column in Column::ALL {
                    let key = if each { "network" } else { "networks" };
                    let params = point.params_as(key, name, column.name());
                    let (seen, networks) = (seen.clone(), networks.clone());
                    let work = move |_: &mut Context<'_>| {
                        let of = |network: &&'static str| Point { network, ..point };
                        let points: Vec<Point> = networks.iter().map(of).collect();
                        measure(&seen, &points, column, backend, each)
                    };
                    let case = Case::new("inference", params, work)
                        .core(plain && (name == "squeezenet-cifar" || short))
                        .quick(plain && batched && name == SMALL);
                    cases.push(case);
                }
            }
        }
    }
    Ok(cases)
}

fn run(point: Point, backend: Backend, seen: &Seen) -> Result<Rc<Ran>, BoxError> {
    let known = seen.borrow().iter().find(|(of, _)| *of == point).map(|(_, ran)| ran.clone());
    if let Some(ran) = known {
        return Ok(ran);
    }
    let Point { network, op, bits, .. } = point;
    let mut pair = Pair::new(Work::new(network, op, bits)?, Terms::of(&point)?, backend)?;
    pair.time(1)?;
    let all = Cost { rounds: pair.rounds(), bytes_sent: pair.bytes()[1] as u64 };
    let ran = Rc::new(Ran { spent: pair.spent, costs: pair.costs, all });
    seen.borrow_mut().push((point, ran.clone()));
    Ok(ran)
}

fn measure(
    seen: &Seen,
    points: &[Point],
    column: Column,
    backend: Backend,
    each: bool,
) -> Result<Vec<Row>, BoxError> {
    let ran = points.iter().map(|point| run(*point, backend, seen)).collect::<Result<Vec<_>, _>>()?;
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
    let bytes = ran.iter().map(|ran| ran.cost(column).bytes_sent).sum();
    let network = each.then_some(points[0].network);
    let row = Row::new("time", Unit::MS, time)
        .rounds(ran.iter().map(|ran| ran.cost(column).rounds).sum())
        .bytes_per_unit(count(bytes))
        .paper(paper::stated(network, points[0].way.implementation(), column))
        .with("networks_with_it", times.len());
    Ok(vec![row])
}

/// The first cells of a line of the printed table: products, extension, ring, transport and net.
const WAYS: [&str; 5] = ["linear", "ot", "ring", "transport", "net"];

/// The table, as far as it was measured.
pub(super) fn print(report: &Report, each: bool) -> String {
    let mut out = String::from("\nSeconds, ours / the paper's (Core i7-1068NG7, products by OT).");
    out += " Improv% is over ref.\n\n| | linear | ot | ring | transport | net | |";
    Column::ALL.iter().for_each(|column| out += &format!(" {} |", column.name()));
    out += "\n|---|---|---|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    let key = if each { "network" } else { "networks" };
    for (name, _) in lines(each) {
        let mut ways: Vec<[String; 5]> = vec![];
        for row in report.rows.iter().filter(|row| row.is(&[(key, name)])) {
            let way = WAYS.map(|key| row.params.text(key).unwrap_or_default());
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        for way in ways {
            let ours = |implementation: Implementation, column: Column| {
                let mut wanted =
                    vec![(key, name), ("implementation", implementation.name()), ("op", column.name())];
                wanted.extend(WAYS.into_iter().zip(way.iter().map(String::as_str)));
                report.rows.iter().find(|row| row.is(&wanted)).map(|row| row.median / 1e3)
            };
            print_way(&mut out, &format!("{name} | {}", way.join(" | ")), &ours, |implementation, column| {
                let network = each.then_some(name);
                paper::seconds(network, implementation, column).filter(|_| each || name == "all")
            });
        }
    }
    out
}

/// The lines of one way to compute: those of each implementation, and what they gain on the first.
fn print_way(
    out: &mut String,
    first: &str,
    ours: &dyn Fn(Implementation, Column) -> Option<f64>,
    theirs: impl Fn(Implementation, Column) -> Option<f64>,
) {
    let text =
        |value: Option<f64>, places: usize| value.map_or("—".to_owned(), |v| format!("{v:.places$}"));
    for implementation in Implementation::ALL {
        if Column::ALL.iter().all(|column| ours(implementation, *column).is_none()) {
            continue;
        }
        let both =
            |c| format!("{} / {}", text(ours(implementation, c), 2), text(theirs(implementation, c), 1));
        let cells = Column::ALL.map(both).join(" | ");
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {first} | {} | {cells} |", implementation.name());
        if implementation == Implementation::Ref {
            continue;
        }
        let gain = |of: &dyn Fn(Implementation, Column) -> Option<f64>, column| {
            let gain = of(Implementation::Ref, column).zip(of(implementation, column));
            text(gain.map(|(old, new)| 100.0 * (old / new - 1.0)), 1)
        };
        let cells = Column::ALL.map(|c| format!("{} / {}", gain(ours, c), gain(&theirs, c))).join(" | ");
        let _ = writeln!(out, "| {first} | Improv% | {cells} |");
    }
}
