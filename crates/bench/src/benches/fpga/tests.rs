use std::{cell::Cell, collections::BTreeMap, fs, path::Path};

use super::{
    area::cells,
    grid::{LANES, LINK, LINKS, MOST, THREADS},
    rates::{Enough, aes_per_s, enough, gbps, lanes_for, no_further_gain},
    sim::{Batches, StreamCount, figures},
    store::{Store, checksum},
    *,
};
use crate::{BenchAsked, BenchRow, Measurement, Params, Report, Unit, sets::RowSet};

fn map(cells: &[(&str, u64)]) -> BTreeMap<String, u64> {
    cells.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// The output format of yosys 0.23.
const HIERARCHY: &str = "
10. Printing statistics.

=== $paramod\\small\\N=s32'1 ===

   Number of wires:                  4
   Number of cells:                 12
     FDRE                            8
     LUT2                            4

=== top ===

   Number of cells:                  3
     $paramod\\small\\N=s32'1        2
     LUT6                            1

=== design hierarchy ===

   top                               1
     $paramod\\small\\N=s32'1        2

   Number of wires:                 10
   Number of cells:                 25
     FDRE                           16
     LUT2                            8
     LUT6                            1

";

#[test]
fn cells_of_the_whole_design() {
    assert_eq!(cells(HIERARCHY).unwrap(), map(&[("FDRE", 16), ("LUT2", 8), ("LUT6", 1)]));
    let one = "\n=== only ===\n\n   Number of cells:    3\n     LUT4      1\n     URAM288   2\n\n";
    assert_eq!(cells(one).unwrap(), map(&[("LUT4", 1), ("URAM288", 2)]));
    for (text, problem) in [
        ("", "no whole design"),
        ("\n=== a ===\n\n=== b ===\n\n   Number of cells: 1\n", "no whole design"),
        ("\n=== a ===\n\n   Number of wires: 1\n", "no cells"),
        ("\n=== a ===\n\n   Number of cells: many\n", "no cells"),
        ("\n=== a ===\n\n   Number of cells: 3\n     LUT4 1\n     LUT5 1\n", "do not make up"),
        ("\n=== a ===\n\n   Number of cells: 1\n     LUT4 1 1\n", "a name and a number"),
        ("\n=== a ===\n\n   Number of cells: 1\n     LUT4 one\n", "no number"),
    ] {
        let error = cells(text).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("hdl/setup"), "{text:?}: {error}");
    }
}

#[test]
fn area_of_cells() {
    let area = Area::of(&map(&[
        ("LUT1", 1),
        ("LUT6", 10),
        ("INV", 2),
        ("SRLC32E", 3),
        ("RAM64M8", 2),
        ("FDRE", 5),
        ("FDSE", 1),
        ("RAMB18E2", 3),
        ("RAMB36E2", 1),
        ("URAM288", 4),
        ("MUXF7", 7),
        ("MUXF8", 6),
        ("CARRY4", 9),
        ("DSP48E2", 1),
    ]));
    let expected =
        Area { luts: 32.0, ffs: 6.0, brams: 2.5, urams: 4.0, muxf7: 7.0, muxf8: 6.0, srls: 3.0, dsps: 1.0 };
    assert_eq!(area.unwrap(), expected);
    // Unmapped modules and memories must not count as 0.
    for left in ["$mem_v2", "\\party", "LDCE"] {
        let error = Area::of(&map(&[("LUT6", 1), (left, 1)])).unwrap_err();
        assert!(error.to_string().contains(&format!("not known, {left};")), "{error}");
    }
}

#[test]
fn more_lanes_take_as_much_again() {
    let one = Area { luts: 110.0, brams: 2.5, urams: 90.0, ..Area::default() };
    let two = Area { luts: 210.0, brams: 3.5, urams: 172.0, ..Area::default() };
    assert_eq!(Area::of_lanes(one, two, 1), one);
    assert_eq!(Area::of_lanes(one, two, 2), two);
    let eight = Area::of_lanes(one, two, 8);
    assert_eq!((eight.luts, eight.brams, eight.urams, eight.ffs), (810.0, 9.5, 664.0, 0.0));
}

#[test]
fn the_scarcest_resource_is_the_share() {
    let area = Area { luts: 118_224.0, ffs: 23_645.0, urams: 192.0, brams: 216.0, ..Area::default() };
    assert_eq!(area.share(&VU9P), (0.2, "URAM"));
    let logic = Area { urams: 0.0, luts: 591_120.0, ..area };
    assert_eq!(logic.share(&VU9P), (0.5, "LUT"));
}

#[test]
fn rates_are_the_papers_where_its_interval_is() {
    for (cores, stated, aes, _) in paper::TABLE_2 {
        let rate = gbps(cores, 1.0, paper::MHZ, paper::INTERVAL);
        assert!((rate / stated - 1.0).abs() < 0.002, "{cores}: {rate}");
        assert!((aes_per_s(rate, 5440.0) / 1e6 / aes - 1.0).abs() < 0.003, "{cores}");
    }
    assert!((gbps(1, 1.0, 125, 1.0) - 16.0).abs() < 1e-9);
    assert!((paper::gbps_per_percent(1).unwrap() - 0.834).abs() < 0.001);
    assert_eq!(paper::gbps_per_percent(12), None);
    // At 200 MHz, 7 lanes are 179 Gb/s and 8 are 204.8. They must be 97.6 % busy to fill 200 Gb/s.
    assert_eq!([1.0, 0.98, 0.97].map(|busy| lanes_for(200.0, busy, 200)), [8, 8, 9]);
}

#[test]
fn enough_blocks() {
    let sweep = [(1, 0.2), (2, 0.4), (4, 0.8), (8, 0.92), (12, 0.97), (16, 0.975)];
    let filled = enough(&sweep, 1, 0.9).unwrap();
    assert_eq!(filled, Enough { threads: 8, blocks: 5120, k: 13, busy: 0.92 });
    assert_eq!(enough(&sweep, 3, 0.9).unwrap().k, 14);
    assert_eq!(enough(&sweep, 1, 0.99), None);
    // A later dip counts: the fraction must be reached from there on, not only once.
    assert_eq!(enough(&[(1, 0.95), (2, 0.85), (4, 0.91)], 1, 0.9).unwrap().threads, 4);
    assert_eq!(no_further_gain(&sweep, 1, 0.01).unwrap().threads, 12);
    assert_eq!(no_further_gain(&sweep, 1, 0.001), None);
    assert_eq!((enough(&[], 1, 0.9), no_further_gain(&[], 1, 0.1)), (None, None));
}

#[test]
fn what_simulators_print() {
    let text = "{\"design\":\"party\",\"lanes\":1,\"link\":50,\"depth\":64,\"latency\":75,\"words\":3,\"cycles\":4}\n";
    let stream: StreamCount = figures("lanes-sim", text).unwrap();
    assert_eq!((stream.latency, stream.depth, stream.interval()), (75, 64, 2.0));
    let text = "{\"lanes\":1,\"threads\":2,\"batches\":1,\"link_latency\":50,\"instances\":640,\"ands\":900,\
                \"cycles\":1000,\"total_cycles\":2560}";
    let batches: Batches = figures("sequencer-sim", text).unwrap();
    assert_eq!((batches.busy(), batches.blocks_per_1000()), (0.9, 500.0));
    let error = figures::<Batches>("sequencer-sim", "{\"lanes\":1}").unwrap_err().to_string();
    assert!(error.contains("sequencer-sim") && error.contains("hdl/setup"), "{error}");
}

#[test]
fn results_are_remembered_until_the_sources_change() {
    let dir = tempfile::tempdir().unwrap();
    let (rtl, kept) = (dir.path().join("rtl"), Store::new(dir.path().join("kept")));
    fs::create_dir(&rtl).unwrap();
    fs::write(rtl.join("a.sv"), "module a").unwrap();
    fs::write(rtl.join("notes.md"), "x").unwrap();
    let sum = || checksum(std::slice::from_ref(&rtl), &["sv"], &[b"yosys 0.23"]).unwrap();
    let (before, made) = (sum(), Cell::new(0));
    let get = |sum: &str| {
        let make = || {
            made.set(made.get() + 1);
            Ok(made.get())
        };
        kept.get::<u32>("area-a", sum, make).unwrap()
    };
    assert_eq!(get(&before), (1, Origin::Run));
    assert_eq!(get(&before), (1, Origin::Cache));
    fs::write(rtl.join("notes.md"), "y").unwrap();
    assert_eq!(sum(), before);
    fs::write(rtl.join("a.sv"), "module b").unwrap();
    assert_ne!(sum(), before);
    assert_eq!(get(&sum()), (2, Origin::Run));
    // An unreadable result is made again. A result whose computation fails is not stored.
    fs::write(dir.path().join(format!("kept/area-a-{before}.json")), "{").unwrap();
    assert_eq!(get(&before), (3, Origin::Run));
    assert!(kept.get::<u32>("area-b", &before, || Err("no tool".into())).is_err());
    assert_eq!(kept.look::<u32>("area-b", &before), None);
}

#[test]
fn places() {
    let dir = tempfile::tempdir().unwrap();
    let [repository, elsewhere] = ["repository", "elsewhere"].map(|name| dir.path().join(name));
    for made in ["hdl/rtl", "target/release", "target/hdl"] {
        fs::create_dir_all(repository.join(made)).unwrap();
    }
    fs::create_dir_all(&elsewhere).unwrap();
    let beside = repository.join("target/release");
    let none = HdlPlaces::among(&repository, Some(&beside), None, None).unwrap_err();
    assert!(none.to_string().contains("run it from the repository"), "{none}");
    fs::write(repository.join("hdl/rtl/and_lane.sv"), "").unwrap();
    let at = |current: &Path, named: Option<&str>, target: Option<&str>| {
        let (named, target) = (named.map(Into::into), target.map(Into::into));
        let places = HdlPlaces::among(current, Some(&beside), named, target).unwrap();
        assert!(places.sources.join("rtl/and_lane.sv").is_file());
        places.out
    };
    assert_eq!(at(&repository, None, None), repository.join("target/hdl"));
    assert_eq!(at(&elsewhere, None, None), beside.join("../hdl"));
    assert_eq!(at(&elsewhere, Some("/named"), None), Path::new("/named"));
    fs::create_dir_all(elsewhere.join("built/hdl")).unwrap();
    assert_eq!(at(&elsewhere, None, Some("built")), elsewhere.join("built/hdl"));
    let places = HdlPlaces { sources: "hdl".into(), out: "target/hdl".into() };
    assert_eq!(places.program("lanes-sim", 1), Path::new("target/hdl/lanes-sim"));
    assert_eq!(places.program("lanes-sim", 3), Path::new("target/hdl/lanes-3/lanes-sim"));
}

#[test]
fn an_absent_tool_is_named_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!tools::installed("yosys", Some(dir.path().as_os_str())));
    assert!(!tools::installed("yosys", None));
    fs::write(dir.path().join("yosys"), "").unwrap();
    assert!(tools::installed("yosys", Some(dir.path().as_os_str())));
    let error = tools::missing(&[("no-such-tool", "area is counted by synthesis")]).unwrap();
    assert!(error.to_string().starts_with("no-such-tool is not installed"), "{error}");
    assert!(error.to_string().contains("run hdl/setup"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_failed_program_is_quoted() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "echo fine; echo 'error: a result is wrong' >&2; exit 1"]);
    let error = tools::output(shell).unwrap_err().to_string();
    assert!(error.starts_with("sh failed: error: a result is wrong"), "{error}");
    let absent = std::process::Command::new("/no/such/program");
    assert!(tools::output(absent).unwrap_err().to_string().starts_with("program cannot be started"));
}

#[test]
fn the_grid() {
    let all = Point::all();
    for (i, point) in all.iter().enumerate() {
        assert!(!all[..i].contains(point), "{point:?} stands twice");
    }
    let quick = RowSet::new(BENCHES[0].quick, &BenchAsked::default());
    let is_quick = |p: &&Point| quick.holds(&Case::new("and", p.params(), |_| Ok(vec![])));
    let quick: Vec<_> = all.iter().filter(is_quick).map(|p| p.design).collect();
    assert!(Design::ALL.iter().all(|design| quick.contains(design)) && quick.len() <= 6, "{quick:?}");
    let sequencer =
        |p: &&Point| p.design.is_sequencer() && (p.mhz, p.lanes) == (grid::CLOCK, 1) && p.link == LINK;
    let threads: Vec<_> = all.iter().filter(sequencer).map(|p| p.threads).collect();
    assert_eq!(threads, THREADS);
    assert!(LINKS.contains(&LINK) && LANES.contains(&60) && THREADS.last() == Some(&MOST));
}

/// A row in the report's form, with invented figures.
fn row(design: &str, [lanes, mhz, threads, link]: [u32; 4], busy: f64, total: u64, share: f64) -> BenchRow {
    let rate = gbps(lanes, busy, mhz, 1.0);
    let measured = Measurement { median: rate * 1e9, min: rate * 1e9, max: rate * 1e9, runs: 1 };
    let mut row = BenchRow::new("throughput", Unit::per_second("bits"), measured)
        .with("initiation_interval", 1.0)
        .with("lane_busy", busy)
        .with("gbps", rate)
        .with("aes_per_s", aes_per_s(rate, 5440.0))
        .with("aes_per_s_5120", aes_per_s(rate, 5120.0))
        .with("fabric_share", share)
        .with("gbps_per_percent", rate / (100.0 * share))
        .with("total_cycles", total)
        .with("rate", "simulated")
        .with("area", "synthesised");
    row.params = Params::new()
        .with("design", design)
        .with("lanes", lanes)
        .with("mhz", mhz)
        .with("threads", threads)
        .with("link", link);
    row
}

#[test]
fn tables_and_goals() {
    let mut report = Report::new("fpga");
    assert!(!table::print(&report).contains("Table II"), "nothing was measured");
    let rows = [
        row("and_lane", [1, 125, 0, 0], 1.0, 0, 0.01),
        row("party", [1, 125, 0, 1], 1.0, 0, 0.016),
        row("party", [1, 200, 0, 1], 1.0, 0, 0.016),
        row("sequencer", [1, 200, 8, 50], 0.7, 600, 0.1),
        row("sequencer", [1, 200, 12, 50], 0.95, 900, 0.1),
        row("sequencer", [1, 200, 16, 50], 0.955, 1000, 0.1),
        row("sequencer", [3, 200, 16, 50], 0.955, 1000, 0.3),
    ];
    for row in rows.clone() {
        report.push(row).unwrap();
    }
    let text = table::print(&report);
    assert!(text.contains("| 125 | party | 1 | 128 | 16.0 / 2.67 | 2.94 / 0.49 |"), "{text}");
    // 10 Gb/s per % against 0.834.
    assert!(text.contains("1.60 % / 3.20 % | 10.00 | 12.0 |"), "{text}");
    assert!(text.contains("90 % busy from 7680 blocks (12 threads, busy 0.950): k = 13"), "{text}");
    assert!(text.contains("no further gain from 7680 blocks"), "{text}");
    assert!(text.contains("3 lanes, links of 50: the same cycles as one lane"), "{text}");
    assert!(text.contains("reached: parties of 8 lanes fill 200 Gb/s"), "{text}");
    assert!(text.contains("MISSED: sequencers of 9 lanes fill 200 Gb/s"), "{text}");
    assert!(text.contains("clock rates are assumed"), "{text}");
    let mut other = Report::new("fpga");
    for mut row in rows {
        if row.params.text("lanes").as_deref() == Some("3") {
            row = row.with("total_cycles", 1001);
        }
        other.push(row).unwrap();
    }
    assert!(table::print(&other).contains("OTHER cycles than"));
}
