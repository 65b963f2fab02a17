//! Pages and help texts in the terminal; completions in a home directory.

use crate::common::{Place, Ran, good};

#[test]
fn pages_sections_and_commands_are_shown() {
    let place = Place::new();
    for (args, has, lacks) in [
        ("help", &["Topics", "three-machines", "Exit codes"][..], &["__member"][..]),
        ("help start", &["hushwire local query"], &["```", "]("]),
        ("help sql types", &["Types", "DECIMAL"], &["min-group` counts the joins"]),
        ("help local query", &["--schema", "--min-group"], &["```"]),
        ("help psi", &["Publish a list", "`hushwire help psi.md` shows the page"], &[]),
        ("help psi.md", &["intersection"], &["Usage:"]),
        ("help docs/sql.md types", &["Types"], &["Usage:"]),
        ("help --search decimal,comma", &[], &[]),
        ("help --search thousands", &["hushwire help files"], &[]),
    ] {
        let ran = place.ran(args);
        if has.is_empty() && lacks.is_empty() {
            assert_eq!(ran.code, Some(2), "{args}: {}", ran.out);
            continue;
        }
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
        has.iter().for_each(|words| assert!(ran.out.contains(words), "{args}: no {words:?} in {}", ran.out));
        lacks.iter().for_each(|words| assert!(!ran.out.contains(words), "{args}: {words:?} in {}", ran.out));
        assert!(!ran.out.contains('\u{1b}'), "{args}: colours, and nobody sees them");
    }
    for (args, words) in [
        ("help nowhere", "topics are start, concepts"),
        ("help sql nowhere", "its sections are"),
        ("help local nowhere", "no command and no topic \"local nowhere\""),
    ] {
        let ran = place.ran(args);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args}: {}", ran.err);
    }
}

#[test]
fn completions_are_installed_where_the_shell_looks() {
    let place = Place::new();
    let home = place.at("");
    let run = |args: &str, shell: &str| {
        let mut command = place.hushwire(args);
        command.env("HOME", &home).env("SHELL", shell);
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR", "ZDOTDIR"] {
            command.env_remove(name);
        }
        Ran::new(command.output().unwrap_or_else(|e| panic!("{args}: {e}")))
    };
    for (args, shell, file) in [
        ("completions --install", "/usr/bin/bash", ".local/share/bash-completion/completions/hushwire"),
        ("completions zsh --install", "/bin/bash", ".zfunc/_hushwire"),
        ("completions --install", "/usr/bin/fish", ".config/fish/completions/hushwire.fish"),
    ] {
        for _ in 0..2 {
            let ran = run(args, shell);
            assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
            assert!(ran.out.is_empty() && ran.err.contains(file), "{args}: {}{}", ran.out, ran.err);
        }
        let shell = args.split(' ').nth(1).filter(|word| !word.starts_with('-'));
        let shell = shell.unwrap_or(if file.contains("fish") { "fish" } else { "bash" });
        let printed = good(&place, &format!("completions {shell}")).out;
        assert_eq!(String::from_utf8_lossy(&place.get(file)), printed);
    }
    let ran = run("completions zsh --install", "/bin/zsh");
    assert!(ran.err.contains("fpath+=~/.zfunc"), "{}", ran.err);
    place.put(".zshrc", b"fpath+=~/.zfunc\n");
    assert!(!run("completions zsh --install", "/bin/zsh").err.contains("fpath"));
    let ran = run("completions --install", "/bin/tcsh");
    assert!(ran.code == Some(2) && ran.err.contains("names no shell that is known"), "{}", ran.err);
}
