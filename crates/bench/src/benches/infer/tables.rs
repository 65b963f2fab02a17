//! `bench table9`: whole networks between two parties, operation by operation, and `bench table7`,
//! geometric means over networks.
//!
//! | `op` | what |
//! |---|---|
//! | `conv` | linear layers with all their parts |
//! | `matmul` | the products of matrices in them, as the paper counts them |
//! | `trunc`, `relu`, `batchnorm`, `maxpool` | these layers |
//! | `total` | from the first party's start to the last one's end |
//!
//! The times of operations are the owner's. They include waiting and the OTs that the operations
//! use, as do the rounds and the bytes of both parties. `implementation` is `ref` (AES-NI, block by
//! block), `vaes` (the widest VAES, block by block) and `batched` (the widest, in batches). All
//! columns of a network come from one run of it. `linear` is `ot`, as in the paper, or `he`. `ot`,
//! `ring`, `transport` and `net` are those of `bench infer`. Narrower AES is measured only on the
//! paper's ring and extension, over plain TCP. Without options, only the paper's ring and extension
//! are measured, without a modelled network unless `--net` names one. These runs have
//! `squeezenet-cifar` in all ways, and `squeezenet` under encryption. The larger networks send
//! hundreds of gigabytes by OT, and are in `--all`.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use hushwire_aes::Backend;
use hushwire_machine::Cost;
use hushwire_two::Products;

use super::{
    grid::{InferProtocol, Point},
    pair::{PairTerms, TwoParties},
    work::{NetworkWork, SMALL},
};
use crate::{
    BenchAsked, BenchRow, BoxError, Case, Paper, Report, Result,
    axes::{axis, every, params},
    bounds::count,
    implementation::Implementation,
    papers::{VASA_7, VASA_9, beside},
};

/// The networks of the tables, in their order.
const NETWORKS: [&str; 4] = ["squeezenet", "squeezenet-cifar", "resnet50", "densenet121"];

axis! {
    /// A column of the tables.
    pub(super) enum TableColumn {
        Conv = "conv",
        Trunc = "trunc",
        Relu = "relu",
        MatMul = "matmul",
        BatchNorm = "batchnorm",
        MaxPool = "maxpool",
        Total = "total",
    }
}

/// The milliseconds of each run's columns, the cost of each column, and the bytes of both parties
/// and the rounds of all, including the set-up.
struct Ran {
    spent: Vec<BTreeMap<&'static str, f64>>,
    costs: BTreeMap<&'static str, Cost>,
    all: Cost,
}

impl Ran {
    /// The rounds and bytes of a column. All that a linear layer sends is for its products.
    fn cost(&self, column: TableColumn) -> Cost {
        match column {
            TableColumn::Total => self.all,
            TableColumn::MatMul => self.cost(TableColumn::Conv),
            column => self.costs.get(column.name()).copied().unwrap_or_default(),
        }
    }
}

/// The runs so far, which the columns share.
type Seen = Rc<RefCell<Vec<(Point, Rc<Ran>)>>>;

/// The networks of a table's lines: each alone, or means over the smaller two and over all. There
/// is also one for a trial of the benchmark.
fn lines(each: bool) -> Vec<(&'static str, Vec<&'static str>)> {
    let small = (SMALL, vec![SMALL]);
    if each {
        return NETWORKS.iter().map(|network| (*network, vec![*network])).chain([small]).collect();
    }
    vec![("squeezenets", NETWORKS[..2].to_vec()), ("all", NETWORKS.to_vec()), small]
}

/// The columns of every line, in every way for two parties.
pub(super) fn cases(asked: &BenchAsked, each: bool) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let (seen, links, best) = (Seen::default(), asked.links(), asked.backend());
    let key = if each { "network" } else { "networks" };
    let ways = || [Products::Ot, Products::He].into_iter().flat_map(InferProtocol::between_two);
    let ways = || ways().filter_map(|way| Some((way, way.implementation().backend(best)?)));
    Ok(every!(
        (name, networks) in lines(each),
        (way, backend) in ways(),
        point in Point::of(networks[0], "all", way, &[1], &links),
        column in TableColumn::ALL => {
            let (seen, networks) = (seen.clone(), networks.clone());
            let params = point.params(key, name, column.name());
            let paper = if each { &VASA_9 } else { &VASA_7 }.stated(&params, column.name());
            Case::new("inference", params, move |_| {
                let of = |network: &&'static str| Point { network, ..point };
                let points: Vec<Point> = networks.iter().map(of).collect();
                measure(&seen, &points, column, backend, paper.clone())
            })
        }
    ))
}

fn run(point: Point, backend: Backend, seen: &Seen) -> Result<Rc<Ran>, BoxError> {
    let known = seen.borrow().iter().find(|(of, _)| *of == point).map(|(_, ran)| ran.clone());
    if let Some(ran) = known {
        return Ok(ran);
    }
    let Point { network, op, bits, .. } = point;
    let mut pair = TwoParties::new(NetworkWork::new(network, op, bits)?, PairTerms::of(&point)?, backend)?;
    pair.time(1)?;
    let all = Cost { rounds: pair.rounds(), bytes_sent: pair.bytes()[1] as u64 };
    let ran = Rc::new(Ran { spent: pair.spent, costs: pair.costs, all });
    seen.borrow_mut().push((point, ran.clone()));
    Ok(ran)
}

fn measure(
    seen: &Seen,
    points: &[Point],
    column: TableColumn,
    backend: Backend,
    paper: Paper,
) -> Result<Vec<BenchRow>, BoxError> {
    let ran = points.iter().map(|point| run(*point, backend, seen)).collect::<Result<Vec<_>, _>>()?;
    // Only the networks that have such layers.
    let times: Vec<f64> = ran
        .iter()
        .filter_map(|ran| ran.spent.first()?.get(column.name()).copied())
        .filter(|ms| *ms > 0.0)
        .collect();
    if times.is_empty() {
        return Ok(vec![]);
    }
    let mean = (times.iter().map(|ms| ms.ln()).sum::<f64>() / count(times.len() as u64)).exp();
    let bytes = ran.iter().map(|ran| ran.cost(column).bytes_sent).sum();
    let row = BenchRow::time("time", &[mean / 1e3])?
        .rounds(ran.iter().map(|ran| ran.cost(column).rounds).sum())
        .bytes_per_unit(count(bytes))
        .paper(paper)
        .with("networks_with_it", times.len());
    Ok(vec![row])
}

/// The first cells of a line in the printed table: products, extension, ring, transport and net.
const WAYS: [&str; 5] = ["linear", "ot", "ring", "transport", "net"];

/// The table, with the parts that were measured.
pub(super) fn print(report: &Report, each: bool) -> String {
    let mut out = String::from("\nSeconds, ours / the paper's (Core i7-1068NG7, products by OT).");
    out += " Improv% is over ref.\n\n| | linear | ot | ring | transport | net | |";
    TableColumn::ALL.iter().for_each(|column| out += &format!(" {} |", column.name()));
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
            let params = |k: usize, column: usize| {
                let (implementation, op) = (Implementation::ALL[k], TableColumn::ALL[column]);
                params!(report; op = op, implementation = implementation).with(key, name)
            };
            let ours = |k: usize, column: usize| {
                let ([implementation, op], wanted) = (
                    [Implementation::ALL[k].name(), TableColumn::ALL[column].name()],
                    WAYS.into_iter().zip(way.iter().map(String::as_str)),
                );
                let line = [(key, name), ("implementation", implementation), ("op", op)];
                let wanted: Vec<_> = wanted.chain(line).collect();
                report.rows.iter().find(|row| row.is(&wanted)).map(|row| row.median / 1e3)
            };
            let theirs = |k: usize, column: usize| match (each, name) {
                (true, _) => VASA_9.figure(&params(k, column)),
                (false, "all") => VASA_7.figure(&params(k, column)),
                (false, _) => None,
            };
            let first = format!("| {name} | {} ", way.join(" | "));
            let names = (&*first, &Implementation::ALL.map(Implementation::name)[..]);
            beside(&mut out, names, (TableColumn::ALL.len(), 2), |k| (k > 0).then_some(0), [&ours, &theirs]);
        }
    }
    out
}
