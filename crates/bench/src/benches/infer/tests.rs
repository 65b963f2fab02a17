use hushwire_aes::Backend;
use hushwire_nn::{Floats, Network, NetworkReport, Numbers, zoo};
use hushwire_wire::Shape;

use super::{
    grid::{InferProtocol, LAYERS, Point},
    tables::TableColumn,
    *,
};
use crate::{Report, implementation::Implementation, net::Transport, trial};

#[test]
fn quick_points_are_few_and_core_points_plain() {
    let [core, quick] = trial::sets("infer", &trial::asked(&[]));
    assert_eq!(quick.len(), 3);
    assert!(core.iter().all(|case| trial::has(case, "transport=tcp-insecure,ring=32,threads=1")));
}

#[test]
fn layers_are_what_they_are_in_floating_point() {
    for op in LAYERS {
        for way in [InferProtocol::Three, InferProtocol::between_two(hushwire_two::Products::He)[2]] {
            let point = Point {
                network: "layer",
                op,
                way,
                bits: 32,
                transport: Transport::Inproc,
                net: Shape::NONE,
                threads: 1,
            };
            let mut parties = Parties::new(&point, Backend::best()).unwrap();
            parties.time(1).unwrap_or_else(|e| panic!("{op}: {e}"));
            let ([busier, all], rounds) = parties.sent();
            assert!(busier > 0.0 && all > busier && rounds > 0, "{op}: {busier} of {all}");
            let own = parties.of_operation(op, 1);
            assert_eq!(own.is_some(), way != InferProtocol::Three, "{op}");
            assert!(own.is_none_or(|own| own.len() == 1 && own[0] > 0.0), "{op}");
        }
    }
}

/// Models other than networks for images can be read. The results of trees and of a regression
/// equal those of floating point.
#[test]
fn other_models_are_read_and_computed() {
    // With fewer fractional bits, an element near a bound may take the other branch.
    let numbers = Numbers::with_frac(48, 20);
    for (name, rows) in [("trees", Some(3)), ("logistic", Some(50)), ("bert-tiny", None)] {
        let (model, mut lengths) = models::made(name).expect("it has this name");
        lengths[0] = rows.unwrap_or(lengths[0]);
        let network = Network::new(model, Some(&lengths)).unwrap_or_else(|e| panic!("{name}: {e}"));
        if rows.is_none() {
            continue;
        }
        let input = zoo::sample(&lengths, 7);
        let floats = Floats::new(&network, &input, true).unwrap();
        let report = NetworkReport::new(&network, numbers, floats.greatest(), 2, &input).unwrap();
        let exact = floats.value(network.outputs[0].1);
        assert_eq!(report.output.lengths, exact.lengths, "{name}");
        let off = report.output.data.iter().zip(&exact.data).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
        assert!(off < 0.02 * exact.greatest(), "{name} is off by {off} of {}", exact.greatest());
        assert!(exact.data.iter().any(|x| (x - exact.data[0]).abs() > 1e-3), "{name}: rows differ");
    }
}

/// Rates are in multiplications or elements. Without a link that limits it, a rate has no limit.
#[test]
fn throughput_is_of_the_work() {
    let elements = 56.0 * 56.0 * 64.0;
    for (op, unit, units) in [("conv", "MAC/s", elements * 64.0 * 9.0), ("relu", "element/s", elements)] {
        let op_is = format!("op={op}");
        let row = [
            "network=layer",
            &op_is,
            "protocol=rep3",
            "transport=inproc",
            "net=none",
            "threads=1",
            "ring=32",
        ];
        let (report, _) = trial::measured("infer", &row);
        let row = |metric: &str| report.rows.iter().find(|row| row.metric == metric).unwrap();
        let (rate, time) = (row("throughput"), row("time"));
        assert_eq!(rate.unit.as_str(), unit);
        let share = rate.median * time.median / 1e3 / units;
        assert!((0.5..2.0).contains(&share), "{op}: {} a second in {} ms", rate.median, time.median);
        assert_eq!(rate.limit, None, "{op}");
    }
}

/// The table of the small network, from the cases with these values.
fn table_of(only: &[&str]) -> (Report, String) {
    trial::measured("table9", &[&["network=small"], only].concat())
}

/// Every column of a network that has all columns, by both kinds of products, and its table.
#[test]
fn columns_of_a_small_network() {
    let (report, printed) =
        table_of(&["implementation=batched", "ot=softspoken2", "ring=32", "transport=inproc"]);
    assert_eq!(report.rows.len(), 2 * TableColumn::ALL.len());
    let median = |op: &str, linear: &str| {
        report
            .rows
            .iter()
            .find(|row| row.is(&[("op", op), ("linear", linear)]))
            .map(|row| row.median)
            .unwrap()
    };
    for linear in ["ot", "he"] {
        let [conv, matmul, total] = ["conv", "matmul", "total"].map(|op| median(op, linear));
        assert!(0.0 < matmul && matmul <= conv && conv < total, "{linear}: {matmul} of {conv} of {total}");
        let cost = |op: &str| {
            let row = report.rows.iter().find(|row| row.is(&[("op", op), ("linear", linear)])).unwrap();
            (row.bytes_per_unit.unwrap(), row.rounds.unwrap())
        };
        let parts = ["conv", "trunc", "relu", "batchnorm", "maxpool"].map(cost);
        let sum = parts.iter().fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        assert!(parts.iter().all(|part| part.0 > 0.0 && part.1 > 0), "{linear}: {parts:?}");
        // OTs have their own lane, in parallel to that of steps. Operations have the rounds of both
        // lanes, and the whole run has those of the busier lane.
        let (all, busier) = cost("total");
        assert!(sum.0 < all && busier < sum.1 && sum.1 < 2 * busier, "{linear}: {sum:?} of {all}, {busier}");
    }
    assert!(printed.contains("| small | he | softspoken2 | 32 | inproc | none | batched |"), "{printed}");
}

/// Other rings, extensions and links have rows of their own, which the table shows together.
#[test]
fn tables_have_rings_extensions_and_links() {
    let ways = [("softspoken2", "32"), ("softspoken4", "32"), ("softspoken2", "37"), ("softspoken4", "37")];
    let (report, printed) = table_of(&[
        "linear=he",
        "ring=32",
        "ring=37",
        "ot=softspoken2",
        "ot=softspoken4",
        "transport=unix",
        "net=lan",
        "implementation=batched",
    ]);
    assert_eq!(report.rows.len(), ways.len() * TableColumn::ALL.len());
    for (ot, ring) in ways {
        let of = [("ot", ot), ("ring", ring), ("transport", "unix"), ("net", "lan"), ("op", "total")];
        assert_eq!(report.rows.iter().filter(|row| row.is(&of)).count(), 1, "{ot} {ring}");
        let line = format!("| small | he | {ot} | {ring} | unix | lan | batched |");
        assert!(printed.contains(&line), "{line} in {printed}");
    }
}

/// Without options, the tables have the paper's ring and extension over plain TCP. A requested
/// network takes the place of the network `none`.
#[test]
fn core_rows_of_tables_are_plain() {
    for (each, table) in [(true, "table9"), (false, "table7")] {
        let mut counts = vec![];
        for (net, name) in [(None, "none"), (Some(Shape::lan()), "lan")] {
            let [core, _] = trial::sets(table, &BenchAsked { net, ..BenchAsked::default() });
            let plain = format!("ot=softspoken2,ring=32,transport=tcp-insecure,net={name}");
            assert!(core.iter().all(|case| trial::has(case, &plain)), "{name}");
            counts.push(core.len());
        }
        let implementations = Implementation::ALL.iter().filter(|i| i.backend(Backend::best()).is_some());
        let ways = if each { 2 * implementations.count() + 1 } else { 1 };
        assert_eq!(counts, [ways * TableColumn::ALL.len(); 2], "{each}");
    }
}
