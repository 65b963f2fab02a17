//! Pictures of reports, with one panel for each benchmark, metric and unit.
//!
//! Rows that vary an integer parameter become lines over that parameter. All others become
//! horizontal bars, grouped by case.

mod axis;
mod bars;
mod canvas;
mod lines;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{BenchError, BenchRow, Report, Result, Unit, place};
use canvas::{Canvas, INK, MUTED, text_width, wrap};

/// Space around and between panels.
const MARGIN: f64 = 20.0;
/// The smallest width of a panel.
const LEAST_WIDTH: f64 = 860.0;
/// A panel with more lines than this is split.
const MOST_LINES: usize = 24;

/// A row, and the number of its file.
#[derive(Clone, Copy)]
struct Point<'a> {
    file: usize,
    row: &'a BenchRow,
}

/// Rows with the same benchmark, metric and unit.
struct Panel<'a> {
    title: String,
    unit: &'a Unit,
    points: Vec<Point<'a>>,
    /// The names of the files, if there are several.
    files: &'a [String],
}

/// A property in which the rows of a panel can differ.
#[derive(Clone, PartialEq)]
enum RowKey {
    Case,
    Param(String),
    File,
}

impl RowKey {
    fn text(&self, point: Point<'_>, files: &[String]) -> String {
        match self {
            Self::Case => point.row.case.clone(),
            Self::Param(key) => point.row.params.text(key).unwrap_or_default(),
            Self::File => files.get(point.file).cloned().unwrap_or_default(),
        }
    }

    /// The text in a label.
    fn label(&self, point: Point<'_>, files: &[String]) -> String {
        match self {
            Self::Param(key) => format!("{key}={}", self.text(point, files)),
            Self::Case | Self::File => self.text(point, files),
        }
    }
}

impl Panel<'_> {
    /// The keys in which the rows differ, and `key=value` for those that they share.
    fn keys(&self) -> (Vec<RowKey>, Vec<String>) {
        let mut keys = vec![RowKey::Case];
        for point in &self.points {
            for key in point.row.params.keys() {
                let key = RowKey::Param(key.to_owned());
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys.push(RowKey::File);
        let (mut varying, mut shared) = (Vec::new(), Vec::new());
        for key in keys {
            if self.values(&key).len() > 1 {
                varying.push(key);
            } else if matches!(key, RowKey::Param(_)) {
                shared.push(key.label(self.points[0], self.files));
            }
        }
        (varying, shared)
    }

    /// The distinct values of a key, in order of appearance.
    fn values(&self, key: &RowKey) -> Vec<String> {
        let mut values = Vec::new();
        for point in &self.points {
            let value = key.text(*point, self.files);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    fn label(&self, point: Point<'_>, keys: &[RowKey]) -> String {
        let parts: Vec<_> = keys.iter().map(|key| key.label(point, self.files)).collect();
        parts.join(", ")
    }
}

/// Writes a picture to a file. The file may replace only another picture.
///
/// # Errors
/// Another kind of file exists, or the file cannot be written.
pub fn save(path: &Path, picture: &str) -> Result<()> {
    place::yields(path, "SVG picture", |there| there.starts_with(b"<svg") || there.starts_with(b"<?xml"))?;
    place::put(path, picture)
}

/// Draws the reports in `files` as one SVG picture, and returns it.
pub fn svg(files: &[PathBuf]) -> Result<String> {
    let mut reports = Vec::new();
    for path in files {
        let text = fs::read_to_string(path).map_err(|e| BenchError::file("reading", path, &e))?;
        let report: Report = serde_json::from_str(&text)
            .map_err(|e| BenchError::File(format!("{} is not a bench report: {e}", path.display())))?;
        reports.push(report);
    }
    let names: Vec<String> = if files.len() > 1 { file_names(files) } else { Vec::new() };
    draw(&reports, &names)
}

/// File stems, or numbered paths if two files have the same stem.
fn file_names(files: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stems: Vec<_> = files.iter().map(stem).collect();
    let twice = |stem: &String| stems.iter().filter(|other| *other == stem).count() > 1;
    let name = |(i, (path, stem)): (usize, (&PathBuf, &String))| {
        if twice(stem) { format!("{} ({})", path.display(), i + 1) } else { stem.clone() }
    };
    files.iter().zip(&stems).enumerate().map(name).collect()
}

fn draw(reports: &[Report], names: &[String]) -> Result<String> {
    let panels = panels(reports, names);
    if panels.is_empty() {
        let what = if reports.is_empty() { "no report was given" } else { "the reports hold no row" };
        return Err(BenchError::Asked(format!("nothing to plot: {what}")));
    }
    let drawn: Vec<Canvas> = panels.iter().map(panel).collect();
    let width = drawn.iter().map(|panel| panel.width).fold(LEAST_WIDTH, f64::max);
    let mut page = Canvas::new(width + 2.0 * MARGIN, MARGIN);
    for (i, report) in reports.iter().enumerate() {
        let name = names.get(i).map(|name| format!("{name}: ")).unwrap_or_default();
        for line in wrap(&(name + &report.machine.summary()), 11.0, width) {
            page.height += 15.0;
            page.text(MARGIN, page.height - 4.0, &line, canvas::Text::small());
        }
    }
    for panel in drawn {
        page.height += MARGIN;
        let top = page.height;
        page.place(MARGIN, top, &panel);
        page.height += panel.height;
    }
    page.height += MARGIN;
    Ok(page.finish())
}

/// Groups the rows of all reports, in order of appearance.
fn panels<'a>(reports: &'a [Report], files: &'a [String]) -> Vec<Panel<'a>> {
    let mut panels: Vec<(&str, Panel<'a>)> = Vec::new();
    for (file, report) in reports.iter().enumerate() {
        for row in &report.rows {
            let point = Point { file, row };
            let same = |(bench, panel): &&mut (&str, Panel<'a>)| {
                let first = panel.points[0].row;
                *bench == report.bench && first.metric == row.metric && first.unit == row.unit
            };
            if let Some((_, panel)) = panels.iter_mut().find(same) {
                panel.points.push(point);
            } else {
                let title = format!("{}: {} ({})", report.bench, row.metric, row.unit);
                panels.push((&report.bench, Panel { title, unit: &row.unit, points: vec![point], files }));
            }
        }
    }
    panels.into_iter().flat_map(|(_, panel)| apart(panel)).collect()
}

/// Splits a panel with too many lines by the first key that varies.
fn apart(panel: Panel<'_>) -> Vec<Panel<'_>> {
    let Some(sweep) = lines::sweep(&panel) else { return vec![panel] };
    if sweep.series.len() <= MOST_LINES {
        return vec![panel];
    }
    let (keys, _) = panel.keys();
    let Some(key) = keys.into_iter().find(|key| *key != RowKey::Param(sweep.param.clone())) else {
        return vec![panel];
    };
    let parts = panel.values(&key).into_iter().map(|value| {
        let of_value = |point: &&Point<'_>| key.text(**point, panel.files) == value;
        let points: Vec<_> = panel.points.iter().filter(of_value).copied().collect();
        let title = format!("{}, {}", panel.title, key.label(points[0], panel.files));
        Panel { title, unit: panel.unit, points, files: panel.files }
    });
    parts.flat_map(apart).collect()
}

fn panel(panel: &Panel<'_>) -> Canvas {
    match lines::sweep(panel) {
        Some(sweep) => lines::draw(panel, &sweep),
        None => bars::draw(panel),
    }
}

/// Starts a panel with its title and the values that all its rows share.
fn heading(panel: &Panel<'_>, width: f64, shared: &[String]) -> Canvas {
    let mut canvas = Canvas::new(width.max(text_width(&panel.title, 16.0) + 8.0), 0.0);
    canvas.height = 20.0;
    canvas.text(0.0, 15.0, &panel.title, canvas::Text { size: 16.0, bold: true, ..canvas::Text::plain(INK) });
    let sense = if panel.unit.is_rate() { "more is better" } else { "less is better" };
    let mut line = shared.join(", ");
    line += if shared.is_empty() { sense } else { "; " };
    if !shared.is_empty() {
        line += sense;
    }
    for line in wrap(&line, 12.0, canvas.width) {
        canvas.height += 16.0;
        canvas.text(0.0, canvas.height - 4.0, &line, canvas::Text::plain(MUTED));
    }
    canvas
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
