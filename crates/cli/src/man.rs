//! `hushwire man`: the manual pages, made from the same description of the command line as `--help`
//! and the completions.

use crate::{
    args::Cli,
    error::Error,
    files::{NewFile, RunFiles},
    log, out,
};
use clap::{Args, Command, CommandFactory};
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Examples:
  hushwire man | man -l -                            read it
  hushwire man --dir ~/.local/share/man/man1         a page for each command: man hushwire-local-run";

/// The directory of the pages.
#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory [default: the first page, to standard
    /// output]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Writes the pages.
pub(crate) fn run(args: &ManArgs) -> Result<(), Error> {
    let pages = pages(command())?;
    let Some(dir) = &args.dir else { return out::text(&pages[0].1) };
    RunFiles::new(true).allows("with --dir", &dir.join("page"))?;
    std::fs::create_dir_all(dir).map_err(|e| Error::io("make the directory", dir, &e))?;
    for (name, page) in &pages {
        let path = dir.join(format!("{name}.1"));
        RunFiles::new(true).allows("with --dir", &path)?;
        NewFile::create(&path, 0o644)?.write(page)?;
    }
    log::note!("{} pages are in {}", pages.len(), dir.display());
    Ok(())
}

/// The command line without hidden parts, and without parts that depend on this machine.
fn command() -> Command {
    let mut command = Cli::command().long_version(None).disable_help_subcommand(true);
    command.build();
    command
}

/// Returns a page for the command and one for each command below it: its name, such as
/// `hushwire-local-run`, and its content.
fn pages(command: Command) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let below: Vec<Command> = command.get_subcommands().filter(|c| !c.is_hide_set()).cloned().collect();
    let mut page = vec![];
    let rendered = clap_mangen::Man::new(command).source("hushwire").manual("Hushwire").render(&mut page);
    rendered.map_err(|e| Error::internal("writing a manual page", e))?;
    let mut all = vec![(name, page)];
    for command in below {
        all.extend(pages(command)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let pages = pages(command()).unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[0], "hushwire");
        for name in
            ["hushwire-local", "hushwire-local-run", "hushwire-party", "hushwire-keys-init", "hushwire-man"]
        {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        // `hushwire help` is a command of this program. The help commands that clap adds have no
        // page.
        let is_added = |name: &str| name.contains("__") || name.ends_with("-help") && name != "hushwire-help";
        assert!(!names.iter().any(|name| is_added(name)), "{names:?}");
        let page = |name: &str| {
            let page = pages.iter().find(|(n, _)| n == name).map(|(_, page)| page.clone());
            String::from_utf8(page.unwrap_or_default()).unwrap_or_default().replace("\\-", "-")
        };
        for (name, words) in [
            ("hushwire", &["local aes-ctr", "Exit codes", "--quiet"][..]),
            ("hushwire-local-run", &["--inputs", "less:32", "JOB.toml"]),
            ("hushwire-man", &["--dir", "man -l"]),
        ] {
            let page = page(name);
            assert!(page.contains(".TH"), "{page}");
            words.iter().for_each(|word| assert!(page.contains(word), "{name} lacks {word}: {page}"));
        }
    }
}
