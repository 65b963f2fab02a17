//! `hushwire completions`: what a shell needs to complete the command line.

use crate::{args::Cli, error::Error};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::io::{self, Write};

pub(crate) const HELP: &str = "\
Examples:
  hushwire completions bash > ~/.local/share/bash-completion/completions/hushwire
  hushwire completions zsh > ~/.zfunc/_hushwire      with `fpath+=~/.zfunc` before compinit in ~/.zshrc
  hushwire completions fish > ~/.config/fish/completions/hushwire.fish
  hushwire completions powershell >> $PROFILE";

/// Which shell.
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to complete
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut shown(), "hushwire", &mut script);
    match io::stdout().write_all(&script) {
        // `| head` has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Error::io("write", "standard output".as_ref(), &e)),
        Ok(()) => Ok(()),
    }
}

/// The command line without the subcommands that nobody types.
fn shown() -> Command {
    let full = Cli::command();
    let subcommands = full.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    Command::new("hushwire").args(full.get_arguments().cloned()).subcommands(subcommands)
}
