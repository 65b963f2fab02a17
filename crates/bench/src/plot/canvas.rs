//! A small SVG writer.

use std::fmt::Write;

/// Text and axes.
pub(super) const INK: &str = "#1f2933";
/// Secondary text.
pub(super) const MUTED: &str = "#5a6672";
/// Grid lines.
pub(super) const GRID: &str = "#dde2e7";
/// Colours that colour-blind people can distinguish, and dark enough for white paper.
pub(super) const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#b5478d", "#3d3d9e", "#b88600", "#2f9fd0", "#7a4a1e"];
/// Line patterns, the first one solid.
pub(super) const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];

/// The side of a text that is at its point.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The look of a text.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: &'static str,
    pub(super) anchor: Anchor,
}

impl Text {
    pub(super) fn plain(colour: &'static str) -> Self {
        Self { size: 12.0, bold: false, colour, anchor: Anchor::Start }
    }

    pub(super) fn small() -> Self {
        Self { size: 11.0, ..Self::plain(MUTED) }
    }

    pub(super) fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}

/// The shape of a point.
#[derive(Clone, Copy)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Cross,
    /// A hollow diamond, kept for papers' figures.
    Paper,
}

/// Shapes of points, to be combined with [`DASHES`].
pub(super) const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Cross];

/// A picture or a part of one.
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, look: Text) {
        let anchor = match look.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\"{weight} fill=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            look.size,
            look.colour,
            escape(text)
        ));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.push(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>",
            from.0, from.1, to.0, to.1
        ));
    }

    pub(super) fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        self.push(format_args!(
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>",
            width.max(0.5)
        ));
    }

    pub(super) fn polyline(&mut self, points: &[(f64, f64)], colour: &str, dash: &str) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.push(format_args!(
            "<polyline class=\"series\" points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}/>",
            points.join(" ")
        ));
    }

    pub(super) fn marker(&mut self, marker: Marker, x: f64, y: f64, colour: &str) {
        match marker {
            Marker::Circle => {
                self.push(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"));
            }
            Marker::Square => self.push(format_args!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6.6\" height=\"6.6\" fill=\"{colour}\"/>",
                x - 3.3,
                y - 3.3
            )),
            Marker::Triangle => self.push(format_args!(
                "<path d=\"M{x:.1} {:.1}l4.4 7.6h-8.8z\" fill=\"{colour}\"/>",
                y - 4.8
            )),
            Marker::Cross => self.push(format_args!(
                "<path d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                x - 3.5,
                y - 3.5
            )),
            Marker::Paper => self.push(format_args!(
                "<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\" fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
                y - 5.0
            )),
        }
    }

    /// A coloured field of a legend.
    pub(super) fn key(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>"
        ));
    }

    /// Puts a part at a position of this picture.
    pub(super) fn place(&mut self, x: f64, y: f64, part: &Self) {
        self.push(format_args!("<g transform=\"translate({x:.1} {y:.1})\">\n{}</g>", part.body));
    }

    /// The whole SVG document.
    pub(super) fn finish(self) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Verdana, DejaVu Sans, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}

/// Text for XML. Characters that XML does not allow become a replacement character.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The width of a text, rather too large than too small. It uses the widths of Verdana, which are
/// larger than those of most other fonts, and assumes bold from the size of headings on.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.42,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.48,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.08,
        '=' | '+' | '<' | '>' | '~' | '_' => 0.84,
        'A'..='Z' => 0.8,
        c if c.is_ascii() => 0.65,
        '–' | '·' | 'µ' => 0.7,
        _ => 1.1,
    };
    let bold = if size >= 13.0 { 1.12 } else { 1.0 };
    text.chars().map(em).sum::<f64>() * size * bold
}

/// Breaks a text at spaces into lines of at most `width`.
pub(super) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
