//! Pipelines of scikit-learn with the command, among three parties, compared with ONNX Runtime.
//! Without the packages the test prints a note and is skipped. `HUSHWIRE_PYTHON` names an
//! interpreter other than `python3`.

use crate::common::Place;
use hushwire_nn::npy;
use std::process::{Command, Stdio};

/// A program that trains the pipelines, and writes them into a folder.
const PROGRAM: &str = include_str!("../../../nn/tests/pipelines.py");
/// The pipelines that run among processes: linear models, trees, vectors and a network.
const SOME: [&str; 7] =
    ["logistic", "linear", "forest", "boosting_regressor", "vectors_probability", "naive_bayes", "network"];

#[test]
#[ignore = "a minute at this level"]
fn pipelines_run_among_three_parties() {
    let python = std::env::var_os("HUSHWIRE_PYTHON").unwrap_or_else(|| "python3".into());
    let needs = "import sklearn, skl2onnx, onnxruntime";
    let there = Command::new(&python).args(["-c", needs]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        let shown = python.display();
        eprintln!(
            "skipped: {shown} lacks one of sklearn, skl2onnx, onnxruntime; name another in HUSHWIRE_PYTHON"
        );
        return;
    }
    let place = Place::new();
    let out = Command::new(&python).args(["-c", PROGRAM]).arg(place.at(".")).output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let told = String::from_utf8(out.stdout).expect("text");
    let mut ran = 0;
    for parts in told.lines().map(|line| line.split('|').collect::<Vec<_>>()) {
        let (name, outputs) = (parts[0], &parts[1..]);
        if !SOME.contains(&name) {
            continue;
        }
        let files: Vec<String> =
            outputs.iter().map(|output| format!("--output {output}={output}.npy")).collect();
        let given = format!("--model {name}.onnx --input {name}.x.npy --calibrate {name}.x.npy");
        let done = place.ran(&format!("local infer {given} {} --transport unix --force", files.join(" ")));
        assert_eq!(done.code, Some(0), "{name}: {}", done.err);
        for (k, output) in outputs.iter().enumerate() {
            let read = |file: String| npy::read(&place.get(&file)).expect("an array").data;
            let (found, expected) = (read(format!("{output}.npy")), read(format!("{name}.{k}.npy")));
            let (low, high) = expected.iter().fold((f32::MAX, f32::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            let part = if output.contains("label") { 1e-4 } else { 1e-2 };
            let most = part * (high - low).max(0.1 * low.abs().max(high.abs()));
            let near = found.iter().zip(&expected).all(|(x, y)| (x - y).abs() <= most);
            assert!(near && found.len() == expected.len(), "{name} {output}: {found:?} for {expected:?}");
        }
        ran += 1;
    }
    assert_eq!(ran, SOME.len());
}
