//! Pipelines of scikit-learn, as `skl2onnx` writes them, compared with ONNX Runtime: classes must
//! be equal, and numbers within 1 % of their range. Without the packages the test is skipped with a
//! message. `HUSHWIRE_PYTHON` names an interpreter other than `python3`.

use super::{oracle::python_with, parties};
use hushwire_compute::evaluate;
use hushwire_nn::{
    Array, Floats, INPUT, Members, Network, NetworkReport, Samples, Secure, Wanted, npy, onnx::Model,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Trains the pipelines, and writes them into a folder.
const PROGRAM: &str = include_str!("../pipelines.py");
/// The least number of pipelines that must run.
const LEAST: usize = 22;

/// The difference from the values of ONNX Runtime, if there is one.
fn differs(what: &str, found: &Array, expected: &Array, part: f32) -> Option<String> {
    let (low, high) = expected.data.iter().fold((f32::MAX, f32::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    let range = (high - low).max(0.1 * low.abs().max(high.abs())).max(1e-3);
    let off = found.data.iter().zip(&expected.data).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    let same = found.data.len() == expected.data.len() && off <= part * range;
    (!same).then(|| format!("{what}: {:?}\nfor {:?}", found.data, expected.data))
}

/// The faults of a pipeline's results.
///
/// # Errors
/// The pipeline is refused.
fn runs(folder: &Path, name: &str, outputs: &[&str]) -> Result<Vec<String>, String> {
    let array = |file: String| npy::read(&fs::read(folder.join(file)).expect("a file")).expect("an array");
    let input = array(format!("{name}.x.npy"));
    let bytes = fs::read(folder.join(format!("{name}.onnx"))).expect("a file");
    let model = Model::read(&bytes).map_err(|e| e.to_string())?;
    let network = Network::new(model, Some(&input.lengths)).map_err(|e| e.to_string())?;
    let samples = Samples::given(&network, std::slice::from_ref(&input)).map_err(|e| e.to_string())?;
    let choice = Wanted::default().chosen(&network, &samples).map_err(|e| e.to_string())?;
    let floats = Floats::new(&network, &input, true).map_err(|e| e.to_string())?;
    let secure = Secure::new(&network, choice.numbers, &Members::default()).map_err(|e| e.to_string())?;
    let greatest = samples.greatest(&network, &secure);
    let report = NetworkReport::new(&network, choice.numbers, greatest, samples.headroom(), &input)
        .map_err(|e| e.to_string())?;
    let mut wrong = vec![];
    for (k, (output, at)) in network.outputs.iter().enumerate() {
        let number = outputs.iter().position(|name| name == output).expect("an output");
        let expected = array(format!("{name}.{number}.npy"));
        // Classes must be equal. ONNX Runtime couples probabilities in steps that end early.
        let parts = if output.contains("label") { [1e-4; 2] } else { [5e-3, 1e-2] };
        let odd = differs("in floating point", floats.value(*at), &expected, parts[0])
            .or_else(|| differs("in fixed point", &report.outputs[k], &expected, parts[1]));
        wrong.extend(odd.map(|odd| format!("{name}, {output}: {odd}")));
    }
    Ok(wrong)
}

/// The folder of the pipelines, and for each its name and the names of its outputs. `None` without
/// the packages.
fn trained(name: &str) -> Option<(PathBuf, Vec<Vec<String>>)> {
    let python = python_with("sklearn, skl2onnx, onnxruntime")?;
    let folder = std::env::temp_dir().join(format!("hushwire-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let out = Command::new(&python).args(["-c", PROGRAM]).arg(&folder).output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("text");
    let lines = text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect();
    Some((folder, lines))
}

#[test]
#[ignore = "half a minute at this level"]
fn pipelines_of_scikit_learn() {
    let Some((folder, lines)) = trained("pipelines") else { return };
    let (mut all, mut refused, mut wrong) = (0, vec![], vec![]);
    for parts in &lines {
        let outputs: Vec<&str> = parts[1..].iter().map(String::as_str).collect();
        all += 1;
        match runs(&folder, &parts[0], &outputs) {
            Ok(odd) => wrong.extend(odd),
            Err(why) => refused.push(format!("{}: {why}", parts[0])),
        }
    }
    fs::remove_dir_all(&folder).expect("a folder");
    println!("{} of {all} pipelines run\n{}", all - refused.len(), refused.join("\n"));
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
    assert!(all >= 23 && all - refused.len() >= LEAST.max(all - 1), "refused:\n{}", refused.join("\n"));
}

/// Every pipeline among three parties gives the bits of the plain evaluator, which the test above
/// compares with ONNX Runtime. Two rows each are enough: the same operations run.
#[test]
#[ignore = "minutes at this level"]
fn pipelines_among_three_parties() {
    let Some((folder, lines)) = trained("pipelines-of-three") else { return };
    let mut ran = 0;
    for name in lines.iter().map(|parts| &parts[0]) {
        let read = |file: String| fs::read(folder.join(file)).expect("a file");
        let whole = npy::read(&read(format!("{name}.x.npy"))).expect("an array");
        let columns = whole.lengths[1];
        let input = Array::new(&[2, columns], whole.data[..2 * columns].to_vec());
        let model = Model::read(&read(format!("{name}.onnx"))).expect("a model");
        // The test above covers pipelines that are refused.
        let Ok(network) = Network::new(model, Some(&input.lengths)) else { continue };
        let samples = Samples::given(&network, std::slice::from_ref(&whole)).expect("samples");
        let numbers = Wanted::default().chosen(&network, &samples).expect("numbers").numbers;
        let secure = Secure::new(&network, numbers, &Members::default()).expect("a computation");
        let greatest = samples.greatest(&network, &secure);
        let mut inputs = secure.weights(&network, greatest, samples.headroom()).expect("they fit");
        inputs.insert(INPUT.to_owned(), secure.input(&input).expect("it fits"));
        let c = secure.computation();
        let (found, said) = parties::three(c, &inputs);
        assert_eq!(found, evaluate(c, &inputs).expect("it is evaluated"), "{name}");
        assert!(said.iter().all(|all| !all.is_empty()), "{name}: parties spoke");
        ran += 1;
    }
    fs::remove_dir_all(&folder).expect("a folder");
    assert!(ran >= LEAST, "{ran} pipelines ran");
}
