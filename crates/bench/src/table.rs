//! Prints the Markdown table, row by row. The widths of columns are fixed before the first row,
//! from the names and parameters of all cases.

use crate::{
    BenchRow, Limits,
    human::{Scale, memory, percent},
};

/// The headings of the columns after the parameters, with the width of their cells.
const FIGURES: [(&str, usize); 8] = [
    ("metric", 10),
    ("median (min–max)", 28),
    ("bytes/unit", 10),
    ("rounds", 6),
    ("peak memory", 11),
    ("of limit", 8),
    ("stolen", 6),
    ("limit", 10),
];

/// A table whose column widths are fixed before the first row.
pub(crate) struct Table {
    keys: Vec<String>,
    widths: Vec<usize>,
}

impl Table {
    /// A table for rows with these names and parameters.
    pub(crate) fn new<'a>(cases: impl Iterator<Item = (&'a str, &'a crate::Params)>) -> Self {
        let mut keys: Vec<String> = Vec::new();
        let mut widths = vec![width("case")];
        for (name, params) in cases {
            if keys.is_empty() {
                keys = params.keys().map(str::to_owned).collect();
                widths.extend(keys.iter().map(|key| width(key)));
            }
            let cells = std::iter::once(name.to_owned())
                .chain(keys.iter().map(|key| params.text(key).unwrap_or_default()));
            for (widest, cell) in widths.iter_mut().zip(cells) {
                *widest = (*widest).max(width(&escape(&cell)));
            }
        }
        widths.extend(FIGURES.map(|(_, width)| width));
        Self { keys, widths }
    }

    /// The headings, and the line below them.
    pub(crate) fn head(&self) -> String {
        let mut cells = vec!["case".to_owned()];
        cells.extend(self.keys.iter().cloned());
        cells.extend(FIGURES.map(|(name, _)| name.to_owned()));
        let rule = self.widths.iter().enumerate().map(|(i, width)| {
            if self.is_number(i) { "-".repeat(width + 1) + ":" } else { "-".repeat(width + 2) }
        });
        format!("{}|{}|\n", self.line(&cells), rule.collect::<Vec<_>>().join("|"))
    }

    /// The line of one row.
    pub(crate) fn row(&self, row: &BenchRow) -> String {
        let scale = Scale::of(row.median, &row.unit);
        let [median, min, max] = [row.median, row.min, row.max].map(|x| scale.number(x));
        let mut cells = vec![row.case.clone()];
        cells.extend(self.keys.iter().map(|key| row.params.text(key).unwrap_or_default()));
        cells.extend([
            row.metric.clone(),
            format!("{median} ({min}–{max}) {}", scale.label),
            row.bytes_per_unit.map(|bytes| format!("{}", (bytes * 1e3).round() / 1e3)).unwrap_or_default(),
            row.rounds.map(|rounds| rounds.to_string()).unwrap_or_default(),
            row.peak_memory_bytes.map(memory).unwrap_or_default(),
            of_limit(row),
            // Stolen time is shown only if it marks a row.
            row.steal_fraction.filter(|_| row.disturbed.is_some()).map(percent).unwrap_or_default(),
            row.limit_name.clone().unwrap_or_default(),
        ]);
        self.line(&cells)
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = String::from("|");
        for (i, (cell, widest)) in cells.iter().zip(&self.widths).enumerate() {
            let cell = escape(cell);
            let pad = " ".repeat(widest.saturating_sub(width(&cell)));
            line += &if self.is_number(i) { format!(" {pad}{cell} |") } else { format!(" {cell}{pad} |") };
        }
        line + "\n"
    }

    /// Whether a column is right-aligned. All figures are, but not the names of the metric and the
    /// limit.
    fn is_number(&self, column: usize) -> bool {
        let first = self.keys.len() + 1;
        (first + 1..first + FIGURES.len() - 1).contains(&column)
    }
}

/// The fraction of its limit that a row reaches, or a word if there is none.
pub(crate) fn of_limit(row: &BenchRow) -> String {
    match row.fraction_of_limit {
        Some(fraction) => percent(fraction),
        None if row.unjudged.is_some() => "unjudged".to_owned(),
        None => String::new(),
    }
}

/// The limits as a list below the table, with their spread if they were measured around rows. The
/// list is empty without limits. Marks of rows are explained below it, if there are any.
pub(crate) fn limits(limits: &Limits, rows: &[BenchRow]) -> String {
    let lines = limits.iter().map(|limit| {
        let scale = Scale::of(limit.value, &limit.unit);
        let range = limit.min.zip(limit.max);
        let range = range.map(|(min, max)| format!(" ({}–{})", scale.number(min), scale.number(max)));
        format!(
            "- {}: {}{} {}\n",
            escape(&limit.name),
            scale.number(limit.value),
            range.unwrap_or_default(),
            scale.label
        )
    });
    let lines: String = lines.collect();
    let mut out = if lines.is_empty() { lines } else { format!("\nLimits measured in this run:\n\n{lines}") };
    let mut note = |rows: usize, text: &str| {
        if rows > 0 {
            out += &format!(
                "\n{} {text}\n",
                if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
            );
        }
    };
    note(
        rows.iter().filter(|row| row.unjudged.is_some()).count(),
        "unjudged: beyond the limit that was taken for it, which therefore says nothing about it.",
    );
    note(
        rows.iter().filter(|row| row.disturbed.is_some()).count(),
        "disturbed: the host took more than 5 % of the processor time that was wanted.",
    );
    out
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measurement, Params, Unit};

    #[test]
    fn columns_line_up_and_bars_are_escaped() {
        let params = Params::new().with("blocks", 1024).with("tier", "a|b");
        let table = Table::new([("encrypt", &params)].into_iter());
        let measured = Measurement { median: 1.5e9, min: 1.4e9, max: 1.6e9, runs: 5 };
        let mut row = BenchRow::new("throughput", Unit::BLOCKS_PER_S, measured).limit("peak");
        (row.case, row.params) = ("encrypt".into(), params);
        (row.fraction_of_limit, row.bytes_per_unit) = (Some(0.5), Some(16.0));
        let text = table.head() + &table.row(&row);
        let widths: Vec<usize> = text.lines().map(width).collect();
        assert_eq!(widths.len(), 3);
        assert!(widths.iter().all(|w| *w == widths[0]), "{text}");
        for part in ["1.50 (1.40–1.60) G blocks/s", "| encrypt | 1024   | a\\|b |", "50 %", " 16 |"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_row_beyond_its_limit_and_stolen_time_are_said() {
        let params = Params::new();
        let table = Table::new([("encrypt", &params)].into_iter());
        let measured = Measurement { median: 2.4e9, min: 2.4e9, max: 2.4e9, runs: 5 };
        let mut row =
            BenchRow::new("throughput", Unit::BYTES_PER_S, measured).limit("link").stolen(Some(0.07));
        let mut all = Limits::default();
        let taken = crate::Spread::of(&Unit::BYTES_PER_S, &[0.4e9, 1e9]).unwrap();
        all.widen("link", taken, &Unit::BYTES_PER_S).unwrap();
        all.apply(&mut row).unwrap();
        let text = table.row(&row);
        assert!(text.contains("| unjudged |  7.0 % | link "), "{text}");
        assert!(!text.contains("240 %"), "{text}");
        let below = limits(&all, std::slice::from_ref(&row));
        for part in ["- link: 1.00 (0.400–1.00) GB/s\n", "\n1 row unjudged: ", "\n1 row disturbed: "] {
            assert!(below.contains(part), "{part} in\n{below}");
        }
        row = row.stolen(Some(0.01));
        assert!(table.row(&row).contains("| unjudged |        | link "), "little of it is no mark");
        (row.unjudged, row.fraction_of_limit) = (None, Some(1.0));
        assert!(!limits(&all, &[row]).contains("row"), "no note without a mark");
    }
}
