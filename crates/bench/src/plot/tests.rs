use std::path::Path;

use super::*;
use crate::{HostMachine, LimitBound, Limits, Measurement, Paper, Params, Spread};

fn report(bench: &str, rows: impl Iterator<Item = BenchRow>) -> Report {
    let machine = HostMachine { cpu: Some("Test CPU".to_owned()), ..HostMachine::default() };
    let mut report = Report { bench: bench.to_owned(), machine, limits: Limits::default(), rows: vec![] };
    report.limits.add("aes-core", 9.6e9, Unit::BLOCKS_PER_S).unwrap();
    report.limits.add("loopback", 1.3e7, Unit::BLOCKS_PER_S).unwrap();
    for row in rows {
        report.push(row).unwrap();
    }
    report
}

fn empty(bench: &str) -> Report {
    report(bench, std::iter::empty())
}

fn row(case: &str, params: Params, unit: &Unit, median: f64) -> BenchRow {
    let measured = Measurement { median, min: median * 0.93, max: median * 1.05, runs: 5 };
    let mut row =
        BenchRow::new(if unit.is_rate() { "throughput" } else { "latency" }, unit.clone(), measured);
    (row.case, row.params) = (case.to_owned(), params);
    row
}

/// Thirty rows of rates, and latencies for some of them.
fn grid() -> Report {
    let rows = ["aes128-ecb", "aes128-fixed-key-hash", "aes128-rekeyed"].into_iter().enumerate().flat_map(
        |(i, case)| {
            ["vaes512", "vaes256", "aesni", "gfni", "portable"].into_iter().enumerate().flat_map(
                move |(j, tier)| {
                    [1, 8].into_iter().map(move |threads| {
                        let params = Params::new()
                            .with("tier", tier)
                            .with("threads", threads)
                            .with("layout", "slices");
                        let slow = [1.0, 2.1, 4.3, 16.0, 160.0][j] * [1.0, 1.3, 5.2][i];
                        let row =
                            row(case, params, &Unit::BLOCKS_PER_S, 8.4e9 / slow * f64::from(threads).sqrt());
                        let paper = Paper::new(2.1e9 / slow, &Unit::BLOCKS_PER_S, "VASA, Table 3");
                        let row = if threads == 1 { row.paper(paper) } else { row };
                        row.limit("aes-core")
                    })
                },
            )
        },
    );
    let latency = ["open", "keys init"].into_iter().enumerate().map(|(i, case)| {
        let params = Params::new().with("tier", "vaes512").with("threads", 1).with("layout", "slices");
        row(case, params, &Unit::MS, [0.8, 1.9][i])
    });
    report("aes", rows.chain(latency))
}

/// Lines over blocks for three S-boxes and three transports.
fn lines() -> Report {
    let rows = ["tower", "inversion", "table"].into_iter().enumerate().flat_map(|(i, sbox)| {
        ["in-process", "shm", "tcp"].into_iter().enumerate().flat_map(move |(j, transport)| {
            (0..7).map(move |power| {
                let blocks = 10u32.pow(power);
                let params =
                    Params::new().with("blocks", blocks).with("sbox", sbox).with("transport", transport);
                let latency = [4e-5, 1.1e-4, 6e-4][j];
                let per_block = [1.1e-7, 2.0e-7, 9.0e-7][i] + [0.2e-7, 0.5e-7, 1.1e-7][j];
                let rate = f64::from(blocks) / (latency + f64::from(blocks) * per_block);
                let paper = Paper::new(5e6, &Unit::BLOCKS_PER_S, "Araki et al., Table 2");
                let row = row("aes3", params, &Unit::BLOCKS_PER_S, rate).limit("loopback");
                if power == 6 && (i, j) == (0, 2) { row.paper(paper) } else { row }
            })
        })
    });
    report("aes3", rows)
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

#[test]
fn a_bar_for_each_row_and_a_line_for_each_series() {
    let folder = tempfile::tempdir().unwrap();
    let grid_file = write(folder.path(), "grid.json", &grid().to_json().unwrap());
    let lines_file = write(folder.path(), "lines.json", &lines().to_json().unwrap());
    let bars = svg(std::slice::from_ref(&grid_file)).unwrap();
    assert_eq!((count(&bars, "class=\"bar\""), count(&bars, "class=\"series\"")), (32, 0));
    assert!(bars.contains("aes: latency (ms)") && bars.contains("aes: throughput (blocks/s)"));
    let curves = svg(std::slice::from_ref(&lines_file)).unwrap();
    assert_eq!((count(&curves, "class=\"bar\""), count(&curves, "class=\"series\"")), (0, 9));
    assert!(curves.contains("sbox=tower, transport=shm") && curves.contains("limit loopback"));
    let twice = svg(&[lines_file.clone(), lines_file.clone()]).unwrap();
    assert_eq!(count(&twice, "class=\"series\""), 18);
    let both = svg(&[grid_file.clone(), lines_file, grid_file]).unwrap();
    assert_eq!((count(&both, "class=\"bar\""), count(&both, "class=\"series\"")), (64, 9));
    if let Some(keep) = std::env::var_os("HUSHWIRE_PLOTS") {
        for (name, picture) in [("bars.svg", &bars), ("lines.svg", &curves), ("both.svg", &both)] {
            fs::write(Path::new(&keep).join(name), picture).unwrap();
        }
    }
}

#[test]
fn a_limit_of_one_row_stands_at_its_point_and_unjudged_rows_say_so() {
    let taken = Spread { value: 5e6, min: 1e6, max: 5e6 };
    let bound = LimitBound { name: "link".to_owned(), value: taken.value, spread: Some(taken) };
    let mut report = lines();
    report.rows.iter_mut().for_each(|row| *row = row.clone().bound(&bound));
    let picture = draw(std::slice::from_ref(&report), &[]).unwrap();
    assert!(picture.contains("limit taken around a row") && !picture.contains("limit link"));
    let rows = [row("a", Params::new().with("p", 1), &Unit::BLOCKS_PER_S, 6e6).bound(&bound)];
    let mut report = empty("b");
    report.limits.widen("link", taken, &Unit::BLOCKS_PER_S).unwrap();
    rows.into_iter().for_each(|row| drop(report.push(row).unwrap().clone()));
    assert!(draw(&[report], &[]).unwrap().contains("6.00 M blocks/s · unjudged by link"));
}

#[test]
fn the_legend_says_which_phase_of_which_system_stands_there() {
    let paper = Paper::new(2e6, &Unit::BLOCKS_PER_S, "Table 8").with("phase", "online, waits included");
    let rows = ["a", "b"].map(|case| {
        let row = row(case, Params::new(), &Unit::BLOCKS_PER_S, 1e6).paper(paper.clone());
        row.with("phase", if case == "a" { "gate work" } else { "sending" })
    });
    let picture = draw(&[report("b", rows.into_iter())], &[]).unwrap();
    for part in ["median (gate work; sending)", "the paper's figure (online, waits included)"] {
        assert_eq!(count(&picture, part), 1, "{part}");
    }
}

#[test]
fn too_many_lines_are_taken_apart() {
    let rows = (0..30).flat_map(|key| {
        (1..5).map(move |n| {
            let params = Params::new().with("side", key % 2).with("key", format!("k{key}")).with("n", n);
            row("c", params, &Unit::MS, f64::from(n + key))
        })
    });
    let picture = draw(&[report("many", rows)], &[]).unwrap();
    assert_eq!(count(&picture, "class=\"series\""), 30);
    assert_eq!(count(&picture, "many: latency (ms), side="), 2);
}

#[test]
fn text_is_escaped_and_inside_the_picture() {
    let name = format!("a<b & \"c\" {}", "W".repeat(200));
    let rows = [row(&name, Params::new().with("p", "x>\u{1}y"), &Unit::MS, 1.0)];
    let other = row("other", Params::new().with("p", "z"), &Unit::MS, 0.0);
    let picture = draw(&[report("b", rows.into_iter().chain([other]))], &[]).unwrap();
    assert!(picture.contains("a&lt;b &amp; &quot;c&quot; WW"));
    assert!(picture.contains("p=x&gt;\u{fffd}y") && !picture.contains("NaN"));
    let width: f64 = picture.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(width > text_width(&name, 12.0));
}

#[test]
fn files_that_are_no_reports() {
    let folder = tempfile::tempdir().unwrap();
    let good = grid().to_json().unwrap();
    for (text, cause) in [
        ("{\"bench\": ", "EOF while parsing a value at line 1"),
        ("{\"bench\":\"x\",\"machine\":{},\"limits\":[]}", "missing field `rows`"),
        ("[]", "invalid"),
        (good.replacen("8400000000.0", "\"fast\"", 1).as_str(), "expected f64 at line"),
    ] {
        let path = write(folder.path(), "broken.json", text);
        let error = svg(&[path]).unwrap_err().to_string();
        assert!(error.contains("broken.json is not a bench report: "), "{error}");
        assert!(error.contains(cause), "{error}");
    }
    let absent = svg(&[folder.path().join("absent.json")]).unwrap_err().to_string();
    assert!(absent.starts_with("reading ") && absent.contains("absent.json"), "{absent}");
    let empty = draw(&[report("b", std::iter::empty())], &[]).unwrap_err().to_string();
    assert_eq!(empty, "nothing to plot: the reports hold no row");
}
