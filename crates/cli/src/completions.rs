//! `hushwire completions`: the script with which a shell completes the command line.

use crate::{
    args::Cli,
    error::Error,
    files::{NewFile, RunFiles},
    log, out,
};
use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire completions --install                     for the shell that you use, in your home directory
  hushwire completions zsh --install
  hushwire completions bash > hushwire.bash          the script itself
  hushwire completions powershell >> $PROFILE";

/// The shell to write completions for.
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to complete [default with --install: the one that SHELL names]
    #[arg(value_enum, required_unless_present = "install")]
    shell: Option<Shell>,
    /// Write the script to where the shell looks for it, and say what else is to be done
    #[arg(long)]
    install: bool,
}

/// Prints the script, or installs it.
pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Error> {
    let shell = args.shell.map_or_else(own_shell, Ok)?;
    let mut script = vec![];
    clap_complete::generate(shell, &mut shown(), "hushwire", &mut script);
    if !args.install {
        return out::with(|to| to.write_all(&script));
    }
    let (path, more) = place(shell, |name| env::var_os(name).map(PathBuf::from))?;
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(|e| Error::io("make the directory", dir, &e))?;
    }
    RunFiles::new(true).allows("with --install", &path)?;
    NewFile::create(&path, 0o644)?.write(&script)?;
    log::note!("{} completes hushwire in {shell}; {more}", path.display());
    Ok(())
}

/// Returns the shell that the variable SHELL names.
fn own_shell() -> Result<Shell, Error> {
    let path = env::var_os("SHELL").map(PathBuf::from).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Shell::from_str(name, true).map_err(|_| {
        Error::Usage("the variable SHELL names no shell that is known; name one, as bash".into())
    })
}

/// Returns the file in which a shell looks for the script, and the next step for the user.
/// `variable` reads a variable of the environment.
fn place(shell: Shell, variable: impl Fn(&str) -> Option<PathBuf>) -> Result<(PathBuf, String), Error> {
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    let home =
        set("HOME").ok_or_else(|| Error::Usage("the variable HOME names no directory; set it".into()))?;
    let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let data = set("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let new = "open a new terminal".to_owned();
    Ok(match shell {
        Shell::Bash => {
            let dir = set("BASH_COMPLETION_USER_DIR").unwrap_or_else(|| data.join("bash-completion"));
            (dir.join("completions/hushwire"), format!("{new}; it needs the package bash-completion"))
        }
        Shell::Zsh => {
            let rc = set("ZDOTDIR").unwrap_or_else(|| home.clone()).join(".zshrc");
            (home.join(".zfunc/_hushwire"), after_fpath(&rc))
        }
        Shell::Fish => (config.join("fish/completions/hushwire.fish"), new),
        Shell::Elvish => {
            (config.join("elvish/lib/hushwire.elv"), "write `use hushwire` into rc.elv".to_owned())
        }
        other => {
            let what = format!("{other} has no directory for completions");
            return Err(Error::Usage(format!(
                "{what}; append the script: hushwire completions {other} >> $PROFILE"
            )));
        }
    })
}

/// The remaining step in zsh: its list of directories is set in a file of the user.
fn after_fpath(rc: &Path) -> String {
    match fs::read_to_string(rc) {
        Ok(text) if text.contains(".zfunc") => "open a new terminal".to_owned(),
        _ => format!(
            "write `fpath+=~/.zfunc` before `compinit` into {}, and open a new terminal",
            rc.display()
        ),
    }
}

/// The command line without hidden subcommands.
fn shown() -> Command {
    let full = Cli::command();
    let subcommands = full.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    let shown = Command::new("hushwire").disable_help_subcommand(true);
    shown.args(full.get_arguments().cloned()).subcommands(subcommands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_where_their_shells_look() {
        let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/home/ada"));
        for (shell, wanted) in [
            (Shell::Bash, "/home/ada/.local/share/bash-completion/completions/hushwire"),
            (Shell::Zsh, "/home/ada/.zfunc/_hushwire"),
            (Shell::Fish, "/home/ada/.config/fish/completions/hushwire.fish"),
            (Shell::Elvish, "/home/ada/.config/elvish/lib/hushwire.elv"),
        ] {
            let (path, more) = place(shell, home).unwrap_or_else(|e| panic!("{shell}: {e}"));
            assert_eq!(path, Path::new(wanted), "{shell}");
            assert!(!more.is_empty());
        }
        let other = |name: &str| match name {
            "HOME" => Some(PathBuf::from("/home/ada")),
            "XDG_DATA_HOME" => Some(PathBuf::from("/data")),
            // The XDG Base Directory Specification says that a relative path is to be ignored.
            "XDG_CONFIG_HOME" => Some(PathBuf::from("config")),
            _ => None,
        };
        let path = |shell| place(shell, other).unwrap_or_else(|e| panic!("{e}")).0;
        assert_eq!(path(Shell::Bash), Path::new("/data/bash-completion/completions/hushwire"));
        assert_eq!(path(Shell::Fish), Path::new("/home/ada/.config/fish/completions/hushwire.fish"));
        assert!(place(Shell::PowerShell, home).is_err_and(|e| e.to_string().contains("$PROFILE")));
        assert!(place(Shell::Bash, |_| None).is_err());
    }
}
