//! Progress bars for people at a terminal.

use crate::log;
use hushwire::job::size;
use indicatif::{ProgressBar, ProgressState, ProgressStyle, style::ProgressTracker};
use std::{
    collections::VecDeque,
    fmt::{self, Write},
    time::{Duration, Instant},
};

/// LOCAL: the time over which rates are measured. The rate before a run stalled says nothing about
/// its end.
const WINDOW: Duration = Duration::from_secs(5);
/// LOCAL: the time between two draws of the line when nothing moves.
const TICK: Duration = Duration::from_secs(1);
/// LOCAL: terminals with fewer columns show fewer numbers beside the bar.
const LONG: u16 = 90;
/// LOCAL: terminals with fewer columns show no bar.
const SHORT: u16 = 40;

/// Returns a bar of `count` things, called `what` in the plural. It is invisible if standard error
/// is not watched.
pub(crate) fn bar(count: u64, what: &'static str) -> ProgressBar {
    if !log::shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count);
    bar.set_style(style(console::Term::stderr().size().1, what));
    // The bar is redrawn also while nothing moves, so that a stalled run is visible.
    bar.enable_steady_tick(TICK);
    bar
}

/// LOCAL: the most columns of a message in a line.
const MESSAGE: usize = 32;

/// Shortens a message to fit into a line, and removes control characters.
pub(crate) fn cut(message: &str) -> String {
    let shown = message.chars().map(|c| if c.is_control() { '?' } else { c });
    if message.chars().count() <= MESSAGE {
        return shown.collect();
    }
    shown.take(MESSAGE - 1).chain(['…']).collect()
}

/// Returns the step of this course that is under way after `done` units.
pub(crate) fn under_way(course: &[(u64, String)], done: u64) -> Option<&str> {
    let begun = course.partition_point(|(begins, _)| *begins <= done);
    course.get(begun.saturating_sub(1)).map(|(_, what)| what.as_str())
}

/// Returns the style whose fields fit into a terminal of `width` columns.
fn style(width: u16, what: &'static str) -> ProgressStyle {
    let template = match what {
        _ if width < SHORT => "{percent}% {left}",
        _ if width < LONG => "{wide_bar} {percent:>3}% {rate} {left}",
        // The message names the layer or operator that is under way.
        "layers" | "operators" => "{wide_bar} {human_pos}/{human_len} steps, {msg}, {left} left",
        "bytes" => "{wide_bar} {bytes}/{total_bytes}, {rate}, {left} left",
        _ => "{wide_bar} {human_pos}/{human_len} {what}, {rate}, {left} left",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .with_key("what", move |_: &ProgressState, to: &mut dyn Write| {
            // An error is ignored: a line that cannot be written is not shown.
            let _ = to.write_str(what);
        })
        .with_key("rate", Recent { shows: Shows::Rate { bytes: what == "bytes" }, ..Recent::default() })
        .with_key("left", Recent::default())
}

/// Figures of the last seconds that a bar shows.
#[derive(Clone, Copy, Default)]
enum Shows {
    Rate {
        /// Whether they are in kibibytes and so on.
        bytes: bool,
    },
    #[default]
    Left,
}

/// The positions of a bar in the last seconds.
#[derive(Clone, Default)]
struct Recent {
    shows: Shows,
    /// Times and positions; the first is the last one before the window.
    seen: VecDeque<(Instant, u64)>,
}

impl Recent {
    fn saw(&mut self, now: Instant, position: u64) {
        if self.seen.back().is_some_and(|(_, last)| *last > position) {
            self.seen.clear();
        }
        self.seen.push_back((now, position));
        while self.seen.get(1).is_some_and(|(at, _)| now.saturating_duration_since(*at) >= WINDOW) {
            self.seen.pop_front();
        }
    }

    /// Returns the rate in things a second, if any time has passed.
    fn rate(&self) -> Option<f64> {
        let ((first, from), (last, to)) = (self.seen.front()?, self.seen.back()?);
        let seconds = last.saturating_duration_since(*first).as_secs_f64();
        (seconds > 0.0).then(|| (to - from) as f64 / seconds)
    }

    fn text(&self, length: Option<u64>) -> String {
        let rate = self.rate();
        match self.shows {
            Shows::Rate { bytes: true } => {
                format!("{}/s", size::show(rate.unwrap_or_default() as u64))
            }
            Shows::Rate { bytes: false } => format!("{}/s", short(rate.unwrap_or_default())),
            Shows::Left => {
                let to = self.seen.back().map_or(0, |(_, to)| *to);
                let left = length.unwrap_or(to).saturating_sub(to) as f64;
                rate.filter(|rate| *rate > 0.0).map_or("?".to_owned(), |rate| duration(left / rate))
            }
        }
    }
}

impl ProgressTracker for Recent {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        self.saw(now, state.pos());
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {
        self.seen.clear();
    }

    fn write(&self, state: &ProgressState, to: &mut dyn Write) {
        // An error is ignored: a line that cannot be written is not shown.
        let _: fmt::Result = to.write_str(&self.text(state.len()));
    }
}

/// Formats a number with three digits: `812`, `1.53 k`, `24.1 M`.
pub(crate) fn short(n: f64) -> String {
    let units = ["", " k", " M", " G", " T"];
    let mut unit = 0;
    let mut n = n;
    while n >= 999.5 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || n >= 99.95 {
        0
    } else if n >= 9.995 {
        1
    } else {
        2
    };
    format!("{n:.digits$}{}", units[unit])
}

/// Formats a time in the usual way: `3 s`, `4 min 20 s`, `2 h 5 min`, `3 days`.
pub(crate) fn duration(seconds: f64) -> String {
    let s = seconds.ceil() as u64;
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..172_800 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        _ => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::{ProgressDrawTarget, TermLike};
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    /// A terminal that records what was written.
    #[derive(Clone, Debug)]
    struct Screen(u16, Arc<Mutex<Vec<String>>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            self.0
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.1.lock().unwrap_or_else(|e| panic!("{e}")).push(text.to_owned());
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the width of the widest line that a bar draws, and the line.
    fn drawn(width: u16, what: &'static str) -> (usize, String) {
        let lines = Arc::new(Mutex::new(vec![]));
        let target = ProgressDrawTarget::term_like(Box::new(Screen(width, lines.clone())));
        let bar = ProgressBar::with_draw_target(Some(987_654_321_987), target).with_style(style(width, what));
        bar.set_position(876_543_210_987);
        bar.set_message(cut("left join on person = id, salary > 1000"));
        bar.force_draw();
        let lines = lines.lock().unwrap_or_else(|e| panic!("{e}"));
        // Blanks erase the earlier line.
        let lines = lines.iter().map(|line| line.trim_end().to_owned());
        let longest = lines.max_by_key(|line| line.chars().count()).unwrap_or_default();
        (longest.chars().count(), longest)
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal() {
        for width in [12, 20, 39, 40, 60, 80, 89, 90, 120, 200] {
            for what in ["instances", "ANDs", "OTs", "bytes", "operators"] {
                let (longest, line) = drawn(width, what);
                assert!((1..=usize::from(width)).contains(&longest), "{width}: {line:?}");
            }
        }
        assert!(drawn(120, "operators").1.contains("left join on person = id, salar…"));
        assert_eq!(cut("a\x1b[2Jb"), "a?[2Jb");
        assert!(drawn(120, "ANDs").1.contains("876,543,210,987/987,654,321,987 ANDs"));
    }

    #[test]
    fn a_course_says_what_is_under_way() {
        let course = [(0, "scan".to_owned()), (5, "join".to_owned()), (9, "the result".to_owned())];
        let found = [0, 4, 5, 8, 9, 100].map(|done| under_way(&course, done));
        let [scan, join, result] = ["scan", "join", "the result"].map(Some);
        assert_eq!(found, [scan, scan, join, join, result, result]);
        assert_eq!(under_way(&[], 3), None);
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut recent = Recent { shows: Shows::Rate { bytes: false }, ..Recent::default() };
        assert_eq!(recent.text(Some(10)), "0/s");
        // A thousand a second for 60 s, then ten a second for 20 s.
        (0..=600).for_each(|i| recent.saw(at(100 * i), 100 * i));
        assert_eq!(recent.text(None), "1.00 k/s");
        (1..=200).for_each(|i| recent.saw(at(60_000 + 100 * i), 60_000 + i));
        assert_eq!(recent.text(None), "10/s");
        let left = Recent { shows: Shows::Left, ..recent.clone() };
        assert_eq!((left.text(Some(60_500)), left.text(Some(60_200))), ("30 s".to_owned(), "0 s".to_owned()));
        // Nothing moves for longer than the window, so no end can be predicted.
        let mut left = left;
        left.saw(at(90_000), 60_200);
        left.saw(at(96_000), 60_200);
        assert_eq!(left.text(Some(60_500)), "?");
        assert!(left.seen.len() <= 3, "what is long ago is forgotten");
    }

    #[test]
    fn numbers_and_times_are_short() {
        for (n, text) in [
            (0.0, "0"),
            (9.4, "9"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (12_345.0, "12.3 k"),
            (999_950.0, "1.00 M"),
            (2.5e9, "2.50 G"),
            (4e15, "4000 T"),
        ] {
            assert_eq!(short(n), text);
        }
        for (s, text) in [
            (0.2, "1 s"),
            (59.5, "1 min 0 s"),
            (3599.0, "59 min 59 s"),
            (7500.0, "2 h 5 min"),
            (200_000.0, "2 days"),
        ] {
            assert_eq!(duration(s), text);
        }
    }
}
