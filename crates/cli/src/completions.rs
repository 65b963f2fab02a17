//! `hushwire completions`: what a shell needs to complete the command line.

use crate::{args::Cli, error::Error, out};
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

pub(crate) const HELP: &str = "\
Examples:
  hushwire completions bash > ~/.local/share/bash-completion/completions/hushwire
  hushwire completions zsh > ~/.zfunc/_hushwire      with `fpath+=~/.zfunc` before compinit in ~/.zshrc
  hushwire completions fish > ~/.config/fish/completions/hushwire.fish
  hushwire completions powershell >> $PROFILE";

/// The shell to write completions for.
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
    out::with(|to| to.write_all(&script))
}

/// The command line without the subcommands that nobody types.
fn shown() -> Command {
    let full = Cli::command();
    let subcommands = full.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    Command::new("hushwire").args(full.get_arguments().cloned()).subcommands(subcommands)
}
