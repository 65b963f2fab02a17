//! Horizontal bars, grouped by case.

use super::{
    Panel, Point, RowKey,
    axis::{Axis, with_room},
    canvas::{Anchor, COLOURS, Canvas, GRID, INK, MUTED, Marker, Text, text_width},
    heading,
};
use crate::human::{percent, quantity, tick};

const BAR: f64 = 14.0;
const GAP: f64 = 7.0;
/// The space between the columns of labels, bars and values.
const ROOM: f64 = 10.0;
const PLOT_WIDTH: f64 = 460.0;

/// The bars of one label: one, or one for each file.
struct Entry<'a> {
    label: String,
    points: Vec<Point<'a>>,
}

/// The entries of each case, in order of appearance.
fn groups<'a>(panel: &Panel<'a>, keys: &[RowKey]) -> Vec<(String, Vec<Entry<'a>>)> {
    let keys: Vec<RowKey> = keys.iter().filter(|key| matches!(key, RowKey::Param(_))).cloned().collect();
    let mut groups: Vec<(String, Vec<Entry<'a>>)> = Vec::new();
    for point in &panel.points {
        let label = panel.label(*point, &keys);
        let at = groups.iter().position(|(case, _)| *case == point.row.case);
        let at = at.unwrap_or_else(|| {
            groups.push((point.row.case.clone(), Vec::new()));
            groups.len() - 1
        });
        let entries = &mut groups[at].1;
        match entries.iter_mut().find(|entry| entry.label == label) {
            Some(entry) => entry.points.push(*point),
            None => entries.push(Entry { label, points: vec![*point] }),
        }
    }
    groups
}

pub(super) fn draw(panel: &Panel<'_>) -> Canvas {
    let (keys, shared) = panel.keys();
    let mut groups = groups(panel, &keys);
    // If each case has one row, there are no headings: the case is the label.
    let flat = groups.iter().all(|(_, entries)| entries.len() == 1);
    if flat {
        for (case, entries) in &mut groups {
            let case = std::mem::take(case);
            let label = &mut entries[0].label;
            *label = if label.is_empty() { case } else { format!("{case}, {label}") };
        }
    }
    let entries = || groups.iter().flat_map(|(_, entries)| entries);
    let headings = groups.iter().map(|(case, _)| text_width(case, 13.0));
    let left = entries().map(|entry| text_width(&entry.label, 12.0)).chain(headings);
    let left = left.fold(0.0, f64::max) + ROOM;
    let values = panel.points.iter().map(|point| text_width(&value(panel, *point), 11.0));
    let right = values.fold(0.0, f64::max) + 2.0 * ROOM;
    let plot = PLOT_WIDTH.max(super::LEAST_WIDTH - left - right);

    let mut canvas = heading(panel, left + plot + right, &shared);
    let axis = value_axis(panel, left, left + plot);
    legend(panel, &mut canvas, axis.is_log());
    let top = canvas.height + 4.0;
    let heading = if flat { 0.0 } else { 24.0 };
    let bars: usize = entries().map(|entry| entry.points.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "counts of bars")]
    let height = bars as f64 * (BAR + 1.0) + entries().count() as f64 * GAP + groups.len() as f64 * heading;
    grid(panel, &mut canvas, &axis, top, top + height);

    let mut y = top + GAP / 2.0;
    for (case, entries) in &groups {
        if !flat {
            let look = Text { size: 13.0, bold: true, ..Text::plain(INK) };
            canvas.text(0.0, y + 15.0, case, look);
            y += heading;
        }
        for entry in entries {
            #[expect(clippy::cast_precision_loss, reason = "counts of bars")]
            let middle = y + entry.points.len() as f64 * (BAR + 1.0) / 2.0;
            let look = Text::plain(INK).anchored(Anchor::End);
            canvas.text(left - ROOM, middle + 4.0, &entry.label, look);
            for point in &entry.points {
                bar(panel, &mut canvas, &axis, *point, y);
                canvas.text(left + plot + ROOM, y + BAR - 3.0, &value(panel, *point), Text::small());
                y += BAR + 1.0;
            }
            y += GAP;
        }
    }
    canvas.height = top + height + 26.0;
    canvas
}

/// The figure next to a bar, with the fraction of its limit.
fn value(panel: &Panel<'_>, point: Point<'_>) -> String {
    let figure = quantity(point.row.median, panel.unit);
    match (point.row.fraction_of_limit, &point.row.limit_name) {
        (Some(fraction), Some(name)) => format!("{figure} · {} of {name}", percent(fraction)),
        (None, Some(name)) if point.row.unjudged.is_some() => format!("{figure} · unjudged by {name}"),
        _ => figure,
    }
}

/// An axis over all figures. It is logarithmic if they span more than two decades.
fn value_axis(panel: &Panel<'_>, from: f64, to: f64) -> Axis {
    let figures = panel.points.iter().flat_map(|point| {
        let row = point.row;
        let paper = row.paper.value_in(panel.unit);
        [Some(row.median), Some(row.min), Some(row.max), row.limit, paper].into_iter().flatten()
    });
    let (low, high) = figures.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    if low > 0.0 && high / low > 100.0 {
        // Even the bar of the least figure needs some length.
        return Axis::log(10f64.powf((low * 0.7).log10().floor()), high * 1.2, from, to);
    }
    Axis::linear(0.0, high * 1.04, from, to)
}

fn grid(panel: &Panel<'_>, canvas: &mut Canvas, axis: &Axis, top: f64, bottom: f64) {
    let mut labels = Vec::new();
    for value in axis.ticks() {
        let x = axis.at(value);
        canvas.line((x, top), (x, bottom), GRID, 1.0, "");
        let text = tick(value, panel.unit);
        let width = text_width(&text, 11.0);
        labels.push((x, text, width));
    }
    for (x, text) in with_room(labels) {
        canvas.text(x, bottom + 16.0, &text, Text::small().anchored(Anchor::Middle));
    }
}

fn bar(panel: &Panel<'_>, canvas: &mut Canvas, axis: &Axis, point: Point<'_>, y: f64) {
    let row = point.row;
    let start = axis.at(0.0);
    let middle = y + BAR / 2.0;
    canvas.bar(start, y, axis.at(row.median) - start, BAR, COLOURS[point.file % COLOURS.len()]);
    let (low, high) = (axis.at(row.min), axis.at(row.max));
    if high - low > 1.0 {
        canvas.line((low, middle), (high, middle), INK, 1.2, "");
        for x in [low, high] {
            canvas.line((x, middle - 3.0), (x, middle + 3.0), INK, 1.2, "");
        }
    }
    if let Some(limit) = row.limit {
        let x = axis.at(limit);
        canvas.line((x, y - 2.5), (x, y + BAR + 2.5), INK, 2.5, "");
    }
    if let Some(paper) = row.paper.value_in(panel.unit) {
        canvas.marker(Marker::Paper, axis.at(paper), middle, INK);
    }
}

/// The legend of the signs, in lines as wide as the panel.
fn legend(panel: &Panel<'_>, canvas: &mut Canvas, log: bool) {
    let rows = || panel.points.iter().map(|point| point.row);
    let mut signs: Vec<(Sign, String)> = Vec::new();
    if panel.files.len() > 1 {
        for (i, file) in panel.files.iter().enumerate() {
            if panel.points.iter().any(|point| point.file == i) {
                signs.push((Sign::Bar(COLOURS[i % COLOURS.len()]), file.clone()));
            }
        }
    } else {
        let ours = rows().filter_map(|row| row.more.get("phase")?.as_str());
        signs.push((Sign::Bar(COLOURS[0]), with_phases("median", ours)));
    }
    signs.push((Sign::Span, "min–max".to_owned()));
    if rows().any(|row| row.limit.is_some()) {
        signs.push((Sign::Limit, "limit measured in the same run".to_owned()));
    }
    if rows().any(|row| row.paper.value_in(panel.unit).is_some()) {
        let theirs = rows().filter_map(|row| row.paper.phase());
        signs.push((Sign::Paper, with_phases("the paper's figure", theirs)));
    }
    if log {
        signs.push((Sign::Nothing, "(logarithmic axis)".to_owned()));
    }
    let (mut x, mut y) = (0.0, canvas.height + 12.0);
    for (sign, text) in signs {
        let width = 24.0 + text_width(&text, 11.0) + 14.0;
        if x > 0.0 && x + width > canvas.width {
            (x, y) = (0.0, y + 18.0);
        }
        match sign {
            Sign::Nothing => {}
            Sign::Bar(colour) => canvas.key(x + 1.0, y - 5.0, 16.0, 10.0, colour),
            Sign::Span => {
                canvas.line((x + 1.0, y), (x + 17.0, y), INK, 1.2, "");
                canvas.line((x + 1.0, y - 3.0), (x + 1.0, y + 3.0), INK, 1.2, "");
                canvas.line((x + 17.0, y - 3.0), (x + 17.0, y + 3.0), INK, 1.2, "");
            }
            Sign::Limit => canvas.line((x + 9.0, y - 7.0), (x + 9.0, y + 7.0), INK, 2.5, ""),
            Sign::Paper => canvas.marker(Marker::Paper, x + 9.0, y, INK),
        }
        canvas.text(x + 24.0, y + 4.0, &text, Text { colour: MUTED, ..Text::small() });
        x += width;
    }
    canvas.height = y + 14.0;
}

/// A text of the legend with the phases of its figures, each listed once.
fn with_phases<'a>(text: &str, phases: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for phase in phases {
        if !known.contains(&phase) {
            known.push(phase);
        }
    }
    if known.is_empty() { text.to_owned() } else { format!("{text} ({})", known.join("; ")) }
}

/// A symbol of the legend.
enum Sign {
    Bar(&'static str),
    Span,
    Limit,
    Paper,
    Nothing,
}
