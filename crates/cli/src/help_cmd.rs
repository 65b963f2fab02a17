//! `hushwire help`: pages of the documentation in the terminal, and the help texts of commands.

mod pages;
mod render;

use crate::{error::Error, out};
use anstream::AutoStream;
use clap::{Args, Command};
use console::Term;
use pages::{PAGES, Page};
use std::{
    io::{self, IsTerminal, Write},
    process::Stdio,
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire help                              all commands and topics
  hushwire help start                        a page: the tutorial
  hushwire help sql types                    a section of a page
  hushwire help local query                  the options of a command
  hushwire help psi.md                       the page, where a command has the same name
  hushwire help --search 'decimal comma'     the sections in which words are";

/// Show a page of the documentation, or the help of a command.
#[derive(Args)]
pub(crate) struct HelpArgs {
    /// A command, or a topic and words of one of its headings; without, all of them are listed
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
    /// List the sections of pages that contain these words
    #[arg(long, value_name = "WORDS", conflicts_with = "words")]
    search: Option<String>,
}

/// LOCAL: the largest number of columns of text, also used if the terminal has no width.
const WIDEST: usize = 100;

/// Shows the requested page or help text; `whole` is the command line.
pub(crate) fn run(args: &HelpArgs, mut whole: Command) -> Result<(), Error> {
    whole.build();
    if let Some(words) = &args.search {
        return search(words);
    }
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let Some((topic, section)) = words.split_first() else {
        let mut text = whole.render_long_help().ansi().to_string();
        text += "\nTopics, for `hushwire help TOPIC`:\n";
        PAGES.iter().for_each(|page| text += &format!("  {:18} {}\n", page.topic, page.title()));
        return show(&text);
    };
    if let Some(mut command) = command_of(whole, &words) {
        let mut text = command.render_long_help().ansi().to_string();
        if let (Some(page), []) = (pages::of(topic), section) {
            text += &format!("\n`hushwire help {0}.md` shows the page on {0}.\n", page.topic);
        }
        return show(&text);
    }
    let Some(page) = pages::of(topic) else { return Err(unknown(&words)) };
    let text = match section {
        [] => page.text.to_owned(),
        words => {
            let words = words.join(" ");
            page.section(&words).ok_or_else(|| {
                let all: Vec<&str> = page.headings().map(|(_, heading)| heading).collect();
                let remedy = format!("its sections are: {}", all.join("; "));
                Error::Usage(format!("the page {} has no section {words:?}; {remedy}", page.topic))
            })?
        }
    };
    show(&render::text(&text, width()))
}

/// Returns the command that the words name, without its hidden parts.
fn command_of(mut command: Command, words: &[&str]) -> Option<Command> {
    for word in words {
        let found = command.get_subcommands().find(|c| c.get_name() == *word && !c.is_hide_set())?.clone();
        command = found;
    }
    Some(command)
}

fn unknown(words: &[&str]) -> Error {
    let topics: Vec<&str> = PAGES.iter().map(|page| page.topic).collect();
    Error::Usage(format!(
        "there is no command and no topic {:?}; topics are {}; `hushwire help --search WORDS` looks for words in all of them",
        words.join(" "),
        topics.join(", ")
    ))
}

/// Lists the sections that contain all given words. Each is listed with the first line that
/// contains one of them.
fn search(words: &str) -> Result<(), Error> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut text = String::new();
    for page in &PAGES {
        for (heading, section) in page.sections() {
            let lower = section.to_lowercase();
            if words.is_empty() || !words.iter().all(|word| lower.contains(word)) {
                continue;
            }
            let has_word = |line: &&str| words.iter().any(|word| line.to_lowercase().contains(word));
            let line = section.lines().skip(1).find(has_word).unwrap_or(heading);
            let line: String = render::inline(line.trim()).chars().take(WIDEST).collect();
            text += &format!("hushwire help {} {}\n    {line}\n", page.topic, pages::anchor(heading));
        }
    }
    if text.is_empty() {
        return Err(Error::Usage(format!(
            "no page has a section with {:?}; try fewer words",
            words.join(" ")
        )));
    }
    show(&text)
}

fn width() -> usize {
    match Term::stdout().size_checked() {
        Some((_, columns)) if io::stdout().is_terminal() => usize::from(columns).clamp(40, WIDEST),
        _ => WIDEST,
    }
}

/// Writes text. It goes to a pager if a person reads it and it is longer than the terminal.
fn show(text: &str) -> Result<(), Error> {
    let rows = Term::stdout().size_checked().map_or(0, |(rows, _)| usize::from(rows));
    let is_long = io::stdout().is_terminal() && text.lines().count() > rows;
    if is_long && paged(text).is_ok() {
        return Ok(());
    }
    let mut plain = AutoStream::new(Vec::<u8>::new(), AutoStream::choice(&io::stdout()));
    // Writing to memory does not fail.
    let _ = plain.write_all(text.as_bytes());
    out::text(plain.into_inner())
}

/// Passes text to the pager that PAGER names, or to `less`.
fn paged(text: &str) -> io::Result<()> {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let pager = pager.unwrap_or_else(|| "less".to_owned());
    let mut child = std::process::Command::new("sh")
        .args(["-c", &pager])
        .env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".to_owned()))
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut to) = child.stdin.take() {
        // A pager closes its input when its user has seen enough.
        let _ = to.write_all(text.as_bytes());
    }
    if child.wait()?.success() { Ok(()) } else { Err(io::Error::other("the pager failed")) }
}

impl Page {
    /// The page's first heading.
    fn title(&self) -> &'static str {
        self.headings().next().map_or(self.topic, |(_, heading)| heading)
    }
}
