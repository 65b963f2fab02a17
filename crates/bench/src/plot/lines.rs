//! Lines over an integer parameter, on logarithmic axes.

use super::{
    Panel, Point, RowKey,
    axis::{Axis, with_room},
    canvas::{Anchor, COLOURS, Canvas, DASHES, GRID, INK, MARKERS, MUTED, Marker, Text, text_width},
    heading,
};
use crate::{
    BenchRow,
    human::{count, quantity, tick},
};

const PLOT_HEIGHT: f64 = 340.0;
const LEGEND_LINE: f64 = 19.0;

/// A panel's rows as lines.
pub(super) struct Sweep<'a> {
    /// The parameter along the horizontal axis.
    pub(super) param: String,
    /// The lines, each ordered by the parameter.
    pub(super) series: Vec<Series<'a>>,
    /// The parameters in which the lines differ.
    keys: Vec<RowKey>,
}

/// One line.
pub(super) struct Series<'a> {
    label: String,
    points: Vec<(f64, Point<'a>)>,
}

/// The rows as lines over the integer parameter with the most values, if most of the rows are on
/// lines with at least three points.
pub(super) fn sweep<'a>(panel: &Panel<'a>) -> Option<Sweep<'a>> {
    let (varying, _) = panel.keys();
    let integer = |key: &&RowKey| match key {
        RowKey::Param(name) => panel.points.iter().all(|p| p.row.params.integer(name).is_some()),
        RowKey::Case | RowKey::File => false,
    };
    let mut candidates: Vec<&RowKey> = varying.iter().filter(integer).collect();
    candidates.sort_by_key(|key| std::cmp::Reverse(panel.values(key).len()));
    candidates.into_iter().find_map(|key| over(panel, key, &varying))
}

fn over<'a>(panel: &Panel<'a>, along: &RowKey, varying: &[RowKey]) -> Option<Sweep<'a>> {
    let RowKey::Param(param) = along else { return None };
    let keys: Vec<RowKey> = varying.iter().filter(|key| *key != along).cloned().collect();
    let mut series: Vec<Series<'a>> = Vec::new();
    for point in &panel.points {
        #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
        let x = point.row.params.integer(param)? as f64;
        let label = panel.label(*point, &keys);
        match series.iter_mut().find(|series| series.label == label) {
            Some(line) => line.points.push((x, *point)),
            None => series.push(Series { label, points: vec![(x, *point)] }),
        }
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if line.points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return None;
        }
    }
    let on_lines: usize = series.iter().map(|s| s.points.len()).filter(|n| *n >= 3).sum();
    (on_lines * 2 > panel.points.len()).then(|| Sweep { param: param.clone(), series, keys })
}

/// The look of a line.
#[derive(Clone, Copy)]
struct Style {
    colour: &'static str,
    dash: &'static str,
    marker: Marker,
}

impl Style {
    fn new(colour: usize, pattern: usize) -> Self {
        let pattern = pattern % DASHES.len();
        let colour = COLOURS[colour % COLOURS.len()];
        Self { colour, dash: DASHES[pattern], marker: MARKERS[pattern] }
    }
}

/// If two keys distinguish the lines, one key sets the colour and the other the pattern. Else
/// colours are used first, then patterns.
fn styles(panel: &Panel<'_>, sweep: &Sweep<'_>) -> Vec<Style> {
    if let [first, second] = &sweep.keys[..] {
        let (colours, patterns) = (panel.values(first), panel.values(second));
        if colours.len() <= COLOURS.len() && patterns.len() <= DASHES.len() {
            let index = |key: &RowKey, values: &[String], series: &Series<'_>| {
                let text = key.text(series.points[0].1, panel.files);
                values.iter().position(|value| *value == text).unwrap_or(0)
            };
            let style = |s| Style::new(index(first, &colours, s), index(second, &patterns, s));
            return sweep.series.iter().map(style).collect();
        }
    }
    (0..sweep.series.len()).map(|i| Style::new(i, i / COLOURS.len())).collect()
}

/// The limits that rows of the panel share. A limit that was measured around a row is drawn at that
/// row's point.
fn limits(panel: &Panel<'_>) -> Vec<(String, f64)> {
    let mut limits: Vec<(String, f64)> = Vec::new();
    for point in panel.points.iter().filter(|point| point.row.limit_min.is_none()) {
        let (Some(name), Some(value)) = (&point.row.limit_name, point.row.limit) else { continue };
        let file = panel.files.get(point.file).map(|file| format!(", {file}")).unwrap_or_default();
        let label = format!("limit {name}{file}: {}", quantity(value, panel.unit));
        if !limits.iter().any(|(old, _)| *old == label) {
            limits.push((label, value));
        }
    }
    limits
}

pub(super) fn draw(panel: &Panel<'_>, sweep: &Sweep<'_>) -> Canvas {
    let limits = limits(panel);
    let figures = panel.points.iter().flat_map(|point| {
        let row = point.row;
        let own = own_limit(row);
        [Some(row.min), Some(row.max), Some(row.median), own, row.paper.value_in(panel.unit)]
            .into_iter()
            .flatten()
    });
    let figures = figures.chain(limits.iter().map(|(_, value)| *value));
    let (low, high) = bounds(figures);
    let xs = sweep.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
    let (first, last) = bounds(xs.clone());

    let vertical = |from: f64, to: f64| {
        if low > 0.0 {
            Axis::log(low / 1.15, high * 1.15, from, to)
        } else {
            Axis::linear(0.0, high * 1.05, from, to)
        }
    };
    let ticks: Vec<_> =
        vertical(0.0, 1.0).ticks().into_iter().map(|value| (value, tick(value, panel.unit))).collect();
    let left = ticks.iter().map(|(_, text)| text_width(text, 11.0)).fold(0.0, f64::max) + 10.0;
    let has_paper = panel.points.iter().any(|point| point.row.paper.value_in(panel.unit).is_some());
    let papers = if has_paper { "the paper's figure" } else { "" };
    let has_own = panel.points.iter().any(|point| own_limit(point.row).is_some());
    let own = if has_own { "limit taken around a row" } else { "" };
    let only = if sweep.keys.is_empty() { panel.points[0].row.case.as_str() } else { "" };
    let texts = sweep.series.iter().map(|series| if only.is_empty() { series.label.as_str() } else { only });
    let texts: Vec<&str> = texts.collect();
    let all_texts =
        texts.iter().copied().chain(limits.iter().map(|(text, _)| text.as_str())).chain([papers, own]);
    let legend = all_texts.map(|text| text_width(text, 12.0)).fold(0.0, f64::max) + 44.0;
    let plot = (super::LEAST_WIDTH - left - legend - 30.0).max(520.0);

    let (_, shared) = panel.keys();
    let mut canvas = heading(panel, left + plot + 30.0 + legend, &shared);
    let top = canvas.height + 12.0;
    let bottom = top + PLOT_HEIGHT;
    let y_axis = vertical(bottom, top);
    let inset = 14.0;
    let x_axis = if first > 0.0 {
        Axis::log(first, last, left + inset, left + plot - inset)
    } else {
        Axis::linear(first, last, left + inset, left + plot - inset)
    };

    let mut above = f64::INFINITY;
    for (value, text) in &ticks {
        let y = y_axis.at(*value);
        canvas.line((left, y), (left + plot, y), GRID, 1.0, "");
        if y < above - 14.0 {
            canvas.text(left - 8.0, y + 4.0, text, Text::small().anchored(Anchor::End));
            above = y;
        }
    }
    let mut xs: Vec<f64> = xs.collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let labels = xs.iter().map(|x| (x_axis.at(*x), count(*x), text_width(&count(*x), 11.0)));
    for (x, text) in with_room(labels.collect()) {
        canvas.line((x, top), (x, bottom), GRID, 1.0, "");
        canvas.text(x, bottom + 17.0, &text, Text::small().anchored(Anchor::Middle));
    }
    canvas.line((left, bottom), (left + plot, bottom), MUTED, 1.0, "");
    canvas.line((left, top), (left, bottom), MUTED, 1.0, "");
    let scales = match (x_axis.is_log(), y_axis.is_log()) {
        (true, true) => " (both axes logarithmic)",
        (false, true) => " (vertical axis logarithmic)",
        _ => "",
    };
    let name = format!("{}{scales}", sweep.param);
    canvas.text(left + plot / 2.0, bottom + 35.0, &name, Text::plain(INK).anchored(Anchor::Middle));

    let legend_x = left + plot + 30.0;
    let mut legend_y = top + 10.0;
    for (i, (text, value)) in limits.iter().enumerate() {
        let dash = ["9 5", "3 4", "9 4 2 4", "14 4"][i % 4];
        canvas.line((left, y_axis.at(*value)), (left + plot, y_axis.at(*value)), INK, 1.5, dash);
        canvas.line((legend_x, legend_y), (legend_x + 32.0, legend_y), INK, 1.5, dash);
        canvas.text(legend_x + 40.0, legend_y + 4.0, text, Text::plain(INK));
        legend_y += LEGEND_LINE;
    }
    for ((series, style), text) in sweep.series.iter().zip(styles(panel, sweep)).zip(texts) {
        line(panel, &mut canvas, series, style, (&x_axis, &y_axis));
        canvas.line((legend_x, legend_y), (legend_x + 32.0, legend_y), style.colour, 2.0, style.dash);
        canvas.marker(style.marker, legend_x + 16.0, legend_y, style.colour);
        canvas.text(legend_x + 40.0, legend_y + 4.0, text, Text::plain(INK));
        legend_y += LEGEND_LINE;
    }
    if has_paper {
        canvas.marker(Marker::Paper, legend_x + 16.0, legend_y, INK);
        canvas.text(legend_x + 40.0, legend_y + 4.0, papers, Text::plain(INK));
        legend_y += LEGEND_LINE;
    }
    if has_own {
        limit_mark(&mut canvas, legend_x + 16.0, legend_y, INK);
        canvas.text(legend_x + 40.0, legend_y + 4.0, own, Text::plain(INK));
        legend_y += LEGEND_LINE;
    }
    canvas.height = (bottom + 42.0).max(legend_y);
    canvas
}

fn line(panel: &Panel<'_>, canvas: &mut Canvas, series: &Series<'_>, style: Style, axes: (&Axis, &Axis)) {
    let place = |x: f64, value: f64| (axes.0.at(x), axes.1.at(value));
    let places: Vec<_> = series.points.iter().map(|(x, p)| place(*x, p.row.median)).collect();
    canvas.polyline(&places, style.colour, style.dash);
    for (x, point) in &series.points {
        let row = point.row;
        let (low, high) = (place(*x, row.min), place(*x, row.max));
        if (low.1 - high.1).abs() > 1.0 {
            canvas.line(low, high, style.colour, 1.2, "");
        }
        let (x_at, y_at) = place(*x, row.median);
        canvas.marker(style.marker, x_at, y_at, style.colour);
        if let Some(limit) = own_limit(row) {
            let (x_at, y_at) = place(*x, limit);
            limit_mark(canvas, x_at, y_at, style.colour);
        }
        if let Some(paper) = row.paper.value_in(panel.unit) {
            let (x_at, y_at) = place(*x, paper);
            canvas.marker(Marker::Paper, x_at, y_at, style.colour);
        }
    }
}

/// A row's limit that was measured around this row alone.
fn own_limit(row: &BenchRow) -> Option<f64> {
    row.limit.filter(|_| row.limit_min.is_some())
}

fn limit_mark(canvas: &mut Canvas, x: f64, y: f64, colour: &str) {
    canvas.line((x - 6.0, y), (x + 6.0, y), colour, 2.0, "");
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}
