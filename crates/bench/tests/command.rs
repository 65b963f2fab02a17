//! The command line of `hushwire-bench`.

use std::process::Command;

fn bench(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hushwire-bench")).args(args).output();
    let output = output.unwrap_or_else(|e| panic!("{e}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn help_teaches() {
    for (args, words) in [
        (&[][..], &["aes", "plot", "Example", "hushwire bench"][..]),
        (&["aes", "--help"], &["--quick", "--only", "--json", "Example", "hushwire bench aes"]),
        (&["plot", "--help"], &["Example"]),
    ] {
        let (_, text) = bench(args);
        for word in words {
            assert!(text.contains(word), "{args:?}: no {word:?} in {text}");
        }
    }
}

#[test]
fn errors_name_their_cause_in_either_form() {
    let (code, text) = bench(&["plot", "no.json", "--out", "no.svg"]);
    assert!(code == Some(4) && text.starts_with("error: ") && text.contains("no.json"), "{text}");
    let (code, text) = bench(&["plot", "no.json", "--out", "no.svg", "--log-format", "json"]);
    assert!(code == Some(4) && text.starts_with('{') && text.contains("no.json"), "{text}");
    let (code, text) = bench(&["aes", "--aes-backend", "abacus"]);
    assert!(code == Some(2) && text.contains("abacus"), "{text}");
}
