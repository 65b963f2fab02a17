//! The tables of papers as data, and their lines with our figures added.
//!
//! VASA is J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security
//! Applications", ACSAC 2021.

use std::fmt::Write;

use crate::{Paper, Params, Unit};

/// A table of a paper: its figures, by the parameters of our rows.
pub(crate) struct PaperTable {
    /// The paper and the table.
    source: &'static str,
    /// The measured machine and system.
    machine: &'static str,
    /// The factor that converts the paper's figures to milliseconds.
    ms: f64,
    /// The parameter in which columns differ, and its values.
    columns: (&'static str, &'static [&'static str]),
    /// The parameters of each line, and its figures; [`NONE`] if the paper has no figure.
    lines: &'static [(&'static str, &'static [f64])],
}

/// No figure.
const NONE: f64 = f64::NAN;

const CORE_I7: &str = "Core i7-1068NG7, one thread";
const SCHEMES: (&str, &[&str]) = ("scheme", &["prp", "mi", "circ", "prf"]);

/// Garbling, by circuit. Only the fixed key has a reference.
pub(crate) static VASA_8: PaperTable = PaperTable {
    source: "VASA, Table 8",
    machine: CORE_I7,
    ms: 1.0,
    columns: SCHEMES,
    lines: &[
        ("op=garble circuit=aes impl=ref", &[47.3, NONE, NONE, NONE]),
        ("op=garble circuit=aes impl=aesni", &[20.5, 27.6, 31.3, 98.5]),
        ("op=garble circuit=aes impl=vaes", &[16.6, 19.0, 20.8, 66.2]),
        ("op=garble circuit=sha1 impl=ref", &[236.7, NONE, NONE, NONE]),
        ("op=garble circuit=sha1 impl=aesni", &[95.4, 118.6, 145.7, 576.2]),
        ("op=garble circuit=sha1 impl=vaes", &[69.8, 79.3, 87.9, 378.3]),
        ("op=garble circuit=scs-psi impl=ref", &[153.0, NONE, NONE, NONE]),
        ("op=garble circuit=scs-psi impl=aesni", &[75.3, 98.9, 112.3, 288.1]),
        ("op=garble circuit=scs-psi impl=vaes", &[63.9, 74.2, 79.7, 192.7]),
        ("op=garble circuit=psi-phasing impl=ref", &[87.3, NONE, NONE, NONE]),
        ("op=garble circuit=psi-phasing impl=aesni", &[33.4, 42.6, 52.7, 92.9]),
        ("op=garble circuit=psi-phasing impl=vaes", &[25.3, 26.1, 30.7, 59.6]),
        ("op=evaluate circuit=aes impl=ref", &[23.0, NONE, NONE, NONE]),
        ("op=evaluate circuit=aes impl=aesni", &[12.5, 23.1, 15.6, 47.9]),
        ("op=evaluate circuit=aes impl=vaes", &[8.6, 11.7, 10.2, 25.1]),
        ("op=evaluate circuit=sha1 impl=ref", &[108.8, NONE, NONE, NONE]),
        ("op=evaluate circuit=sha1 impl=aesni", &[56.0, 139.7, 80.9, 261.7]),
        ("op=evaluate circuit=sha1 impl=vaes", &[38.2, 51.5, 52.3, 151.3]),
        ("op=evaluate circuit=scs-psi impl=ref", &[76.2, NONE, NONE, NONE]),
        ("op=evaluate circuit=scs-psi impl=aesni", &[41.9, 92.5, 57.3, 135.7]),
        ("op=evaluate circuit=scs-psi impl=vaes", &[33.1, 43.5, 41.9, 78.0]),
        ("op=evaluate circuit=psi-phasing impl=ref", &[53.2, NONE, NONE, NONE]),
        ("op=evaluate circuit=psi-phasing impl=aesni", &[31.9, 42.7, 40.1, 66.9]),
        ("op=evaluate circuit=psi-phasing impl=vaes", &[25.0, 28.4, 31.1, 41.0]),
    ],
};

/// Geometric means of [`VASA_8`] over the circuits.
pub(crate) static VASA_4: PaperTable = PaperTable {
    source: "VASA, Table 4",
    machine: CORE_I7,
    ms: 1.0,
    columns: SCHEMES,
    lines: &[
        ("op=garble circuit=mean impl=ref", &[110.6, NONE, NONE, NONE]),
        ("op=garble circuit=mean impl=aesni", &[47.1, 61.0, 72.1, 197.4]),
        ("op=garble circuit=mean impl=vaes", &[37.0, 41.3, 46.0, 130.3]),
        ("op=evaluate circuit=mean impl=ref", &[56.5, NONE, NONE, NONE]),
        ("op=evaluate circuit=mean impl=aesni", &[31.1, 59.8, 41.3, 103.3]),
        ("op=evaluate circuit=mean impl=vaes", &[22.9, 29.4, 28.9, 59.0]),
    ],
};

/// SHA-256 with three parties on one host, means of eleven runs.
pub(crate) static VASA_6: PaperTable = PaperTable {
    source: "VASA, Table 6",
    machine: "Core i7-1068NG7, EMP-AGMPC with openings unchecked",
    ms: 1.0,
    columns: ("phase", &["setup", "function-independent", "function-dependent", "online"]),
    lines: &[
        ("implementation=ref", &[45.0, 564.5, 247.0, 7.0]),
        ("implementation=vaes", &[45.9, 580.7, 250.6, 6.7]),
        ("implementation=batched", &[45.4, 453.0, 250.7, 7.0]),
    ],
};

const CRYPTFLOW: &str = "Core i7-1068NG7, several threads a party, CrypTFlow2 with products by OT";
const OPERATIONS: (&str, &[&str]) =
    ("op", &["conv", "trunc", "relu", "matmul", "batchnorm", "maxpool", "total"]);

/// The seconds of networks in a ring of 32 bits, with both parties on one host. The paper prints no
/// figure below a second. The paper's system batches only inside of the OT library.
pub(crate) static VASA_9: PaperTable = PaperTable {
    source: "VASA, Table 9",
    machine: CRYPTFLOW,
    ms: 1e3,
    columns: OPERATIONS,
    lines: &[
        ("network=squeezenet implementation=ref", &[28.1, NONE, 4.0, 27.2, NONE, 4.7, 39.0]),
        ("network=squeezenet implementation=vaes", &[28.0, NONE, 2.9, 26.9, NONE, 3.1, 35.6]),
        ("network=squeezenet-cifar implementation=ref", &[28.0, NONE, 4.0, 27.0, NONE, 4.4, 38.5]),
        ("network=squeezenet-cifar implementation=vaes", &[28.2, NONE, 2.9, 27.2, NONE, 3.2, 35.8]),
        ("network=resnet50 implementation=ref", &[439.7, 30.8, 18.7, 436.1, 12.7, 3.2, 513.3]),
        ("network=resnet50 implementation=vaes", &[448.2, 20.9, 12.7, 444.5, 11.2, 2.1, 503.1]),
        ("network=densenet121 implementation=ref", &[250.1, 30.6, 28.6, 244.3, 19.2, 2.7, 335.6]),
        ("network=densenet121 implementation=vaes", &[250.0, 21.1, 20.5, 243.9, 16.2, 1.9, 313.8]),
    ],
};

/// Geometric means of [`VASA_9`] over the networks.
pub(crate) static VASA_7: PaperTable = PaperTable {
    source: "VASA, Table 7",
    machine: CRYPTFLOW,
    ms: 1e3,
    columns: OPERATIONS,
    lines: &[
        ("implementation=ref", &[96.5, 30.7, 9.6, 94.0, 15.6, 3.7, 126.8]),
        ("implementation=vaes", &[97.0, 21.0, 6.8, 94.5, 13.5, 2.5, 119.1]),
    ],
};

impl PaperTable {
    /// The paper's figure for these parameters.
    pub(crate) fn figure(&self, params: &Params) -> Option<f64> {
        let is = |key: &str, value: &str| params.text(key).as_deref() == Some(value);
        let (key, columns) = self.columns;
        let column = columns.iter().position(|column| is(key, column))?;
        let has = |pair: &str| pair.split_once('=').is_some_and(|(key, value)| is(key, value));
        let (_, figures) = self.lines.iter().find(|(line, _)| line.split(' ').all(has))?;
        Some(figures[column]).filter(|figure| !figure.is_nan())
    }

    /// The paper's figure in the form of a row, with this phase of the paper's system; empty if
    /// there is none.
    pub(crate) fn stated(&self, params: &Params, phase: &str) -> Paper {
        self.figure(params).map_or_else(Paper::default, |figure| {
            let paper = Paper::new(self.ms * figure, &Unit::MS, self.source);
            paper.with("machine", self.machine).with("phase", phase)
        })
    }
}

/// The figures by line and column.
type Cells<'a> = &'a dyn Fn(usize, usize) -> Option<f64>;

/// The lines of a table with this many columns. Each begins with `first` and its name. The cells
/// have our figure, to this many digits, a slash and the paper's figure. Below it is the line's
/// gain over its base. Lines that were not measured are left out.
pub(crate) fn beside(
    out: &mut String,
    (first, names): (&str, &[&str]),
    (columns, digits): (usize, usize),
    base: impl Fn(usize) -> Option<usize>,
    [ours, theirs]: [Cells<'_>; 2],
) {
    let text = |value: Option<f64>, digits| value.map_or("—".to_owned(), |v| format!("{v:.digits$}"));
    let mut line = |name: &str, cell: &dyn Fn(usize) -> [String; 2]| {
        let cells: Vec<String> = (0..columns).map(|column| cell(column).join(" / ")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{first}| {name} | {} |", cells.join(" | "));
    };
    for (k, name) in names.iter().enumerate() {
        if (0..columns).all(|column| ours(k, column).is_none()) {
            continue;
        }
        line(name, &|column| [text(ours(k, column), digits), text(theirs(k, column), 1)]);
        if let Some(base) = base(k) {
            let gain = |cells: Cells<'_>, column| {
                let both = cells(base, column).zip(cells(k, column));
                text(both.map(|(old, new)| 100.0 * (old / new - 1.0)), 1)
            };
            line("Improv%", &|column| [gain(ours, column), gain(theirs, column)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 4 is the mean of Table 8, and Table 7 that of Table 9, except for figures that these
    /// tables lack.
    #[test]
    fn means_are_those_of_the_figures() {
        for (means, whole, within) in [(&VASA_4, &VASA_8, 0.01), (&VASA_7, &VASA_9, 0.02)] {
            for (line, figures) in means.lines {
                let (op, end) = line.split_once("circuit=mean ").unwrap_or(("", line));
                for (k, mean) in figures.iter().enumerate().filter(|(_, mean)| !mean.is_nan()) {
                    let of_op =
                        whole.lines.iter().filter(|(line, _)| line.starts_with(op) && line.ends_with(end));
                    let cells: Vec<f64> =
                        of_op.map(|(_, figures)| figures[k]).filter(|figure| !figure.is_nan()).collect();
                    let geometric = (cells.iter().map(|x| x.ln()).sum::<f64>() / cells.len() as f64).exp();
                    assert!((geometric / mean - 1.0).abs() < within, "{line}: {geometric} for {mean}");
                }
            }
        }
    }

    #[test]
    fn figures_are_found_by_the_parameters_of_rows() {
        let params = Params::new().with("circuit", "sha1").with("impl", "vaes").with("op", "garble");
        let at = |scheme: &str| VASA_8.figure(&params.clone().with("scheme", scheme));
        assert_eq!([at("mi"), at("prf"), at("mi4")], [Some(79.3), Some(378.3), None]);
        let reference = params.with("impl", "ref").with("scheme", "mi");
        assert_eq!(VASA_8.stated(&reference, "garble"), Paper::default(), "fixed key alone has one");
    }

    #[test]
    fn lines_have_both_figures_and_gains() {
        let mut out = String::new();
        let ours = |k: usize, column: usize| (k != 1).then_some([10.0, 0.0, 5.0][k] * (column + 1) as f64);
        let theirs = |k: usize, column: usize| (column == 0).then_some([8.0, 4.0, 2.0][k]);
        beside(&mut out, ("| x ", &["a", "b", "c"]), (2, 2), |k| (k > 0).then_some(0), [&ours, &theirs]);
        let lines = "| x | a | 10.00 / 8.0 | 20.00 / — |\n| x | c | 5.00 / 2.0 | 10.00 / — |\n";
        assert_eq!(out, lines.to_owned() + "| x | Improv% | 100.0 / 300.0 | 100.0 / — |\n");
    }
}
