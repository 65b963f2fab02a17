//! The messages of a command on stderr: notes, warnings, errors, and with `-v` its actions. Results
//! go to standard output.
//!
//! In text, notes and errors are written as they are, for people. In JSON every line is an object,
//! notes and errors included, for programs. Values, keys and shares are never logged by any part of
//! the program.

use crate::error::Error;
use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::{ArgAction, Args, ValueEnum};
use hushwire_fault::{code, printable};
use std::{
    borrow::Cow,
    fmt,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};
use tracing::level_filters::LevelFilter;

/// The options of every command.
#[derive(Args)]
#[command(next_help_heading = "Diagnostics")]
pub(crate) struct LogArgs {
    /// Report each step on stderr; -vv with more detail
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// No notes and no progress; warnings, errors and results stay
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The format of stderr: text for people, json for programs, one object a line
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) log_format: Format,
}

/// The format of stderr.
#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

/// Styles for terminals that have colours. [`anstream`] drops them elsewhere, and if NO_COLOR is
/// set.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

static QUIET: AtomicBool = AtomicBool::new(false);
static JSON: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);

/// Takes the options. It is called once, before anything is logged.
pub(crate) fn start(args: &LogArgs) {
    QUIET.store(args.quiet, Ordering::Relaxed);
    let json = args.log_format == Format::Json;
    JSON.store(json, Ordering::Relaxed);
    if !json && args.verbose == 0 {
        // Notes, warnings and errors are written without a subscriber.
        return;
    }
    let level = match args.verbose {
        0 if args.quiet => LevelFilter::WARN,
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let builder = tracing_subscriber::fmt()
        .with_writer(|| Told)
        .with_max_level(level)
        .with_target(false)
        .with_ansi(false);
    // This fails if a subscriber is set already; no earlier code sets one.
    let _ = if json {
        tracing::subscriber::set_global_default(builder.json().flatten_event(true).finish())
    } else {
        tracing::subscriber::set_global_default(builder.finish())
    };
}

/// Standard error, whose errors are ignored: a command whose messages nobody can read goes on to
/// its result.
struct Told;

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full disk or a closed pipe cannot be reported anywhere else.
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes lines with colours, if they are wanted, in one write, because other processes may write
/// there too.
fn put(text: &str) {
    let mut whole = AutoStream::new(Vec::<u8>::new(), AutoStream::choice(&io::stderr()));
    // Writing to memory does not fail.
    let _ = writeln!(whole, "{text}");
    let _ = Told.write_all(&whole.into_inner());
}

fn json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Returns whether a progress bar is of use to somebody.
pub(crate) fn shows_progress() -> bool {
    !QUIET.load(Ordering::Relaxed) && !json() && io::stderr().is_terminal()
}

/// Prints a note for people, of one line or several; see [`note!`]. Control characters from files,
/// peers and arguments are made harmless before they reach the terminal.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let text = text.split('\n').map(printable).collect::<Vec<Cow<'_, str>>>().join("\n");
    if json() {
        tracing::info!("{text}");
    } else if !QUIET.load(Ordering::Relaxed) {
        put(&text);
    }
}

/// Prints a warning in one line.
pub(crate) fn warn(text: impl fmt::Display) {
    let text = text.to_string();
    let text = printable(&text);
    if json() {
        tracing::warn!("{text}");
    } else {
        put(&format!("{WARNING}warning:{WARNING:#} {text}"));
    }
}

/// Prints why the command failed in one line, and in a second line where to read more. Only the
/// first error is reported: a command may report it before its end.
pub(crate) fn failed(e: &Error) {
    if FAILED.swap(true, Ordering::Relaxed) {
        return;
    }
    let text = e.to_string();
    let text = printable(&text);
    let fault = e.fault();
    if json() {
        let [who, peer] = [fault.who(), fault.peer()].map(|who| who.map(ToString::to_string));
        tracing::error!(
            exit_code = e.code(),
            code = %fault.code(),
            kind = fault.kind().name(),
            who,
            peer,
            step = fault.step(),
            cause = fault.cause(),
            remedy = fault.remedy(),
            "{text}"
        );
        return;
    }
    let more = match fault.code() {
        // The error of a command line already says best what is wrong.
        code::COMMAND_LINE => String::new(),
        _ if QUIET.load(Ordering::Relaxed) => String::new(),
        code => format!("\n  `hushwire explain {code}` says more"),
    };
    put(&format!("{ERROR}error:{ERROR:#} {text}{more}"));
}

/// `eprintln!` for notes that `-q` suppresses.
macro_rules! note {
    ($($arg:tt)*) => { $crate::log::say(format_args!($($arg)*)) };
}
pub(crate) use note;
