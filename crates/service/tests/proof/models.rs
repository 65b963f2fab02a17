//! Inference in the service: a model that the parties have as shares gets stored inputs, and inputs
//! of clients that take part while a job runs.

use crate::{
    rig::{Rig, logs},
    support::{LONG, command, fails, run, told, until, word, write},
};
use hushwire_nn::{Array, Floats, Members, Network, Numbers, Secure, npy, zoo};
use hushwire_wire::Identity;
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
};

/// A model's file, and its network for comparison.
struct Model {
    onnx: Vec<u8>,
    network: Network,
}

impl Model {
    /// A network of two layers with weights drawn from `seed`.
    fn new(seed: u64) -> Self {
        let mut w = zoo::Writer::new("small", seed, &[1, 4]);
        let x = w.gemm("input", [4, 5]);
        let x = w.relu(&x);
        let x = w.gemm(&x, [5, 3]);
        let model = w.finish(&x);
        let onnx = model.to_bytes();
        let network = Network::new(model, Some(&[1, 4])).expect("a network");
        Self { onnx, network }
    }

    /// The text of the model's computation, which has no weights.
    fn computation(&self) -> String {
        let secure = Secure::new(&self.network, Numbers::default(), &Members::default());
        secure.expect("a computation").computation().to_string()
    }

    /// The plain network's output.
    fn of(&self, input: &Array) -> Vec<f32> {
        let floats = Floats::new(&self.network, input, true).expect("values");
        floats.value(self.network.outputs[0].1).data.clone()
    }
}

fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{what}: {found} and {expected}");
    }
}

fn put_bytes(rig: &Rig, name: &str, bytes: &[u8]) {
    fs::write(rig.dir.path().join(name), bytes).expect("room");
}

/// Puts a file as a data set of the job. Returns the data set's id.
fn put(rig: &Rig, file: &str, data: &str, more: &str) -> String {
    let line =
        format!("data put {file} --job infer.toml --data {data} --keys owner.keys --to owner.toml {more}");
    word(&told(rig, &line)["id"]).to_owned()
}

/// Has a job's file approved, with further rules for the draft. Returns the proposal.
fn approved(rig: &Rig, job: &str, rules: &str) -> String {
    let proposal = word(&told(rig, &format!("propose {job} --to analyst.toml"))[0]["id"]).to_owned();
    let policy = run(rig, &format!("policy draft {proposal} {rules} --runs 20 --to operator.toml"));
    write(rig, "infer-policy.toml", &policy);
    run(
        rig,
        &format!("approve {proposal} --policy infer-policy.toml --keys operator.keys --to operator.toml"),
    );
    proposal
}

const STORED: &str = "kind = \"infer\"\nnetwork = \"small.hwc\"\nowner = \"data:model\"\nclient = \"data:patient\"\n\
    to = \"recipient:anna\"\n";

/// The parties have the model and each input as shares. One policy names the model by its digest,
/// and inputs by their owner. Each answer is sealed to the recipient.
#[test]
fn a_stored_model_answers_stored_inputs_as_the_plain_network_does() {
    let rig = Rig::up();
    let (model, other) = (Model::new(3), Model::new(4));
    write(&rig, "small.hwc", &model.computation());
    write(&rig, "infer.toml", STORED);
    put_bytes(&rig, "small.onnx", &model.onnx);
    put_bytes(&rig, "other.onnx", &other.onnx);
    let stored = put(&rig, "small.onnx", "model", "--value range=-2,2");
    let described = told(&rig, &format!("data describe {stored} --to owner.toml"));
    let shapes: Vec<&str> =
        described[0]["schema"].as_array().expect("columns").iter().map(|c| word(&c["type"])).collect();
    assert!(shapes.iter().any(|ty| ty.ends_with("[5, 3]") || ty.ends_with("[3, 5]")), "{shapes:?}");
    let card = told(&rig, "key show --keys anna.keys --name anna");
    let owner = word(&described[0]["owner"]).trim_start_matches("blake3:").to_owned();
    let rules =
        format!("--recipient {} --data model=id:{stored} --data patient=owner:{owner}", word(&card["id"]));
    let proposal = approved(&rig, "infer.toml", &rules);
    let submit = |model: &str, patient: &str| {
        let line = format!(
            "submit --proposal {proposal} --data model={model} --data patient={patient} --recipient anna=anna.keys \
             --to analyst.toml"
        );
        word(&told(&rig, &line)["id"]).to_owned()
    };
    // Two requests to the same model.
    let mut last = String::new();
    for n in 0..2 {
        let input = zoo::sample(&[1, 4], 5 + n);
        put_bytes(&rig, "input.npy", &npy::write(&input));
        last = put(&rig, "input.npy", "patient", "");
        let job = submit(&stored, &last);
        for view in rig.wait(&job, LONG) {
            assert_eq!(view["state"], "committed", "{view:#} {}", logs(rig.dir.path()));
        }
        let fetched = told(&rig, &format!("fetch {job} --keys anna.keys --to analyst.toml"));
        let found: Vec<f32> = serde_json::from_value(fetched["result"]["output"].clone()).expect("numbers");
        close(&found, &model.of(&input), &format!("request {n}"));
        assert!(model.of(&input) != other.of(&input), "the models differ");
    }
    // Another model of the same architecture is not the one that the operators approved.
    let another = put(&rig, "other.onnx", "model", "--value range=-2,2");
    let job = submit(&another, &last);
    for view in rig.wait(&job, LONG) {
        let cause = view["cause"]["cause"].as_str().unwrap_or_default().to_owned();
        assert!(view["state"] == "failed" && cause.contains("`data`"), "{view:#}");
    }
    // A file that does not fit the job is refused before anything is sealed.
    for (line, says) in [
        ("data put input.npy --job infer.toml --data model", "model"),
        ("data put small.onnx --job infer.toml --data nobody", "no data set nobody"),
        ("data put input.npy --job infer.toml --data patient --input inptu=input.npy", "inptu"),
        ("data put input.npy --job infer.toml --data patient --input input=input.npy", "given twice"),
        ("data put input.npy --job stays.toml --data stays", "input"),
    ] {
        let error = fails(&rig, &format!("{line} --keys owner.keys --to owner.toml"));
        assert!(error.contains(says), "{line}: {error}");
        assert!(!rig.dir.path().join("input.npy.sealed").exists(), "{line}");
    }
}

/// An input in the model's place is not a data set that the job takes. Whatever a policy allows, no
/// worker meets the others.
#[test]
fn an_input_in_the_place_of_a_model_is_refused_before_anybody_computes() {
    let rig = Rig::up();
    let model = Model::new(3);
    write(&rig, "small.hwc", &model.computation());
    write(&rig, "infer.toml", STORED);
    put_bytes(&rig, "input.npy", &npy::write(&zoo::sample(&[1, 4], 5)));
    let input = put(&rig, "input.npy", "patient", "");
    let card = told(&rig, "key show --keys anna.keys --name anna");
    let rules =
        format!("--recipient {} --data model=id:{input} --data patient=id:{input}", word(&card["id"]));
    let proposal = approved(&rig, "infer.toml", &rules);
    let line = format!(
        "submit --proposal {proposal} --data model={input} --data patient={input} --recipient anna=anna.keys \
         --to analyst.toml"
    );
    let job = word(&told(&rig, &line)["id"]).to_owned();
    for view in rig.wait(&job, LONG) {
        let cause = view["cause"]["cause"].as_str().unwrap_or_default().to_owned();
        assert!(view["state"] == "failed" && cause.contains("data set model has no column"), "{view:#}");
    }
}

/// Writes the key and the file of a client. Returns its pin.
fn client(rig: &Rig, name: &str) -> String {
    let identity = Identity::generate(name).unwrap_or_else(|e| panic!("{e}"));
    let pem = rig.dir.path().join(format!("{name}.pem"));
    fs::write(&pem, identity.to_pem()).expect("room");
    fs::set_permissions(&pem, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let places =
        "[inputs]\ninput = { file = \"input.npy\" }\n[outputs]\noutput = { file = \"output.npy\" }\n";
    write(rig, &format!("{name}.toml"), &format!("name = \"{name}\"\nkey = \"{name}.pem\"\n{places}"));
    identity.pin().to_string()
}

fn attends(rig: &Rig, job: &str) -> Child {
    let mut attends = Command::new(crate::rig::program());
    attends.args(["attend", job, "--config", "alice.toml", "--to", "analyst.toml", "--limit", "60"]);
    attends.current_dir(rig.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    attends.spawn().expect("the program starts")
}

/// A client sends one request after another to the stored model, and none of its data is stored.
#[test]
fn a_client_asks_a_stored_model_while_nothing_of_it_rests() {
    let rig = Rig::up();
    let model = Model::new(7);
    write(&rig, "small.hwc", &model.computation());
    let job =
        "kind = \"infer\"\nnetwork = \"small.hwc\"\nowner = \"data:model\"\nclient = \"client:alice\"\n";
    write(&rig, "infer.toml", job);
    put_bytes(&rig, "small.onnx", &model.onnx);
    let stored = put(&rig, "small.onnx", "model", "--value range=-2,2");
    let pin = client(&rig, "alice");
    let proposal = approved(&rig, "infer.toml", &format!("--client alice={pin} --data model=id:{stored}"));
    for n in 0..2 {
        let input = zoo::sample(&[1, 4], 11 + n);
        put_bytes(&rig, "input.npy", &npy::write(&input));
        let line = format!(
            "submit --proposal {proposal} --data model={stored} --client alice={pin} --to analyst.toml"
        );
        let job = word(&told(&rig, &line)["id"]).to_owned();
        let ended = attends(&rig, &job).wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "request {n}: {error}{}", logs(rig.dir.path()));
        let output = fs::read(rig.dir.path().join("output.npy")).expect("the answer");
        let found = npy::read(&output).unwrap_or_else(|e| panic!("{e}"));
        close(&found.data, &model.of(&input), &format!("request {n}"));
        let mut views: Vec<Value> = vec![];
        until(&rig, "all parties know of its end", LONG, || {
            views = (0..3).filter_map(|party| rig.look(party, &job)).collect();
            views.len() == 3 && views.iter().all(|view| view["state"] == "committed")
        });
        assert!(views.iter().all(|view| view["outputs"].as_array().is_some_and(Vec::is_empty)), "{views:?}");
    }
    let data = told(&rig, "data list --to owner.toml");
    let names: Vec<&str> =
        data[0]["datasets"].as_array().expect("data sets").iter().map(|data| word(&data["name"])).collect();
    assert!(names.contains(&"model") && names.len() == 2, "the sample and the model alone: {names:?}");
    assert!(command(&rig, "audit verify --to operator.toml").status.success());
}
