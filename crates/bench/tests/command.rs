//! Tests of the command line of `hushwire-bench`.

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
    let (code, text) = bench(&["aes", "--only", "foo=1"]);
    assert!(code == Some(2) && text.contains("no row has a key `foo`"), "{text}");
    let (code, text) = bench(&["plot", "Cargo.toml", "--out", "no.svg"]);
    assert!(code == Some(4) && text.contains("is not a bench report"), "{text}");
    let (code, text) = bench(&["aes", "--aes-backend", "abacus"]);
    assert!(code == Some(2) && text.contains("abacus"), "{text}");
}

#[test]
fn nothing_but_a_report_or_a_picture_is_replaced_by_one() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (json, svg, letter) = (at("r.json"), at("r.svg"), at("letter"));
    std::fs::write(&letter, "Dear Bob").unwrap_or_else(|e| panic!("{e}"));
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let case = ["aes", "--quick", "--aes-backend", "portable", "--only", "mode=ctr,resident=l1", "--json"];
    let measure = |path: &str| bench(&[&case[..], &[path]].concat());
    let (code, text) = measure(&letter);
    assert!(code == Some(5) && text.contains("is no bench report"), "{text}");
    for _ in 0..2 {
        let (code, text) = measure(&json);
        assert_eq!(code, Some(0), "{text}");
    }
    let report = read(&json);
    for out in [&letter, &json] {
        let (code, text) = bench(&["plot", &json, "--out", out]);
        assert!(code == Some(5) && text.contains("is no SVG picture"), "{text}");
    }
    for _ in 0..2 {
        let (code, text) = bench(&["plot", &json, "--out", &svg]);
        assert_eq!(code, Some(0), "{text}");
    }
    assert_eq!((read(&letter), read(&json)), ("Dear Bob".to_owned(), report));
}
