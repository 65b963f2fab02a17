//! `local infer` and `model`: networks among processes, and what is refused.

use crate::{
    common::{Place, bad, good},
    documented::check,
};
use hushwire_nn::{Array, Floats, Network, npy, onnx::Attribute, zoo};

/// Writes a model of a few layers and three images, and returns the images.
fn place() -> (Place, Array) {
    place_of(|w, x| w.gemm(x, [4, 6]))
}

/// The same with another last layer, of four numbers.
fn place_of(last: fn(&mut zoo::Writer, &str) -> String) -> (Place, Array) {
    let place = Place::new();
    let mut w = zoo::Writer::new("small", 3, &[1, 2, 8, 8]);
    let x = w.conv("input", [2, 4], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 2, 2, 0, false);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = last(&mut w, &x);
    let model = w.finish(&x);
    let input = zoo::sample(&[3, 2, 8, 8], 5);
    place.put("m.onnx", &model.to_bytes());
    place.put("x.npy", &npy::write(&input));
    place.put("labels.txt", b"ant\nbee\ncat\ndog\neel\nfox\n");
    let network = Network::new(model, Some(&input.lengths)).expect("a network");
    let floats = Floats::new(&network, &input, true).expect("values");
    (place, floats.value(network.outputs[0].1).clone())
}

const INFER: &str = "local infer --model m.onnx --input x.npy --transport unix";

/// The page that documents the fields of reports, and its heading.
pub(crate) const FIELDS: [&str; 2] = [include_str!("../../../../docs/models.md"), "## Reports"];

/// A model and an input. One feature is tens of thousands and has a weight of 5e-5, the other is
/// about a half and has a weight of 5.
pub(crate) fn raw_feature() -> (Vec<u8>, Vec<u8>) {
    let mut w = zoo::Writer::new("raw", 3, &[1, 2]);
    let weights = w.weights(&[2, 1], vec![5e-5, 5.0]);
    let y = w.op("Gemm", &["input", &weights], &[]);
    (w.finish(&y).to_bytes(), npy::write(&Array::new(&[3, 2], vec![8e4, 0.5, 2e4, 0.5, 6e4, 0.1])))
}

const INFER_RAW: &str = "local infer --model raw.onnx --input raw.npy --transport unix";

/// The number of bits follows from the network. If there are too few, the error names the layer,
/// the cause and the remedy.
#[test]
fn small_weights_count_or_are_told() {
    let place = Place::new();
    let (model, input) = raw_feature();
    place.put("raw.onnx", &model);
    place.put("raw.npy", &input);
    let right = |args: &str| {
        let ran = good(&place, &format!("{INFER_RAW} --output y.npy --force {args}"));
        let found = npy::read(&place.get("y.npy")).expect("an array");
        let near = found.data.iter().zip([6.5f32, 3.5, 3.5]).all(|(x, y)| (x - y).abs() < 0.03);
        assert!(near, "{args}: {found:?}: {}", ran.err);
        assert!(!ran.err.contains("warning"), "{args}: {}", ran.err);
    };
    right("");
    right("--bits auto --calibrate raw.npy");
    right("--range 0,80000 --protocol two --linear ot");
    let layer = "warning: layer gemm_0: its weights of about 5e-5 are";
    for command in ["model check raw.onnx --input raw.npy", "model plan raw.onnx --out n.hwc --force"] {
        let told = good(&place, &format!("{command} --calibrate raw.npy --bits 32")).err;
        for words in [layer, "steps of numbers of 32 bits", "--bits "] {
            assert!(told.contains(words), "{command}: {told}");
        }
        let told = good(&place, &format!("{command} --calibrate raw.npy")).err;
        assert!(!told.contains("warning"), "{command}: {told}");
    }
    let told = good(&place, &format!("{INFER_RAW} --bits 32")).err;
    assert!(told.contains("warning: layer ") && told.contains("--bits "), "without samples: {told}");
    let report = good(&place, &format!("{INFER_RAW} --bits 32 --calibrate raw.npy --json -")).out;
    let report: serde_json::Value = serde_json::from_str(&report).expect("a report");
    assert_eq!((&report["warnings"][0]["layer"], &report["bits"]), (&"gemm_0".into(), &32.into()));
    bad(&place, &format!("{INFER_RAW} --range 1,0"), 2, &["--range", "lower one first"]);
    bad(&place, &format!("{INFER_RAW} --range 0,1 --calibrate raw.npy"), 2, &["--range", "--calibrate"]);
    bad(&place, &format!("{INFER_RAW} --bits 65"), 2, &["--bits", "16 to 64"]);
}

/// A job's `bits` are those of its network, which the owner's plan has chosen.
#[test]
fn bits_of_a_job_are_those_of_its_network() {
    let (place, _) = place();
    let told = good(&place, "model plan m.onnx --out network.hwc --bits 40").err;
    for words in ["network.hwc is the network of m.onnx", "numbers of 40 bits", "network = \"network.hwc\""] {
        assert!(told.contains(words), "no {words} in {told}");
    }
    let job = |bits: &str| {
        let text = format!(
            "kind = \"infer\"\nnetwork = \"network.hwc\"\nowner = \"client:lab\"\nclient = \"client:ann\"\n{bits}"
        );
        place.put("job.toml", text.as_bytes());
        place.ran("job show job.toml")
    };
    for bits in ["", "bits = \"auto\"\n", "bits = 40\n"] {
        let ran = job(bits);
        assert_eq!(ran.code, Some(0), "{bits}: {}", ran.err);
    }
}

#[test]
fn every_field_of_a_report_is_documented_and_there() {
    let (place, expected) = place();
    let report = |more: &str| -> serde_json::Value {
        serde_json::from_str(&good(&place, &format!("{INFER} --json - {more}")).out).expect("a report")
    };
    let (shown, filed) = (report(""), report("--protocol two --output y.npy"));
    let (model, input) = raw_feature();
    place.put("raw.onnx", &model);
    place.put("raw.npy", &input);
    let warned = good(&place, &format!("{INFER_RAW} --bits 32 --json -")).out;
    let warned: serde_json::Value = serde_json::from_str(&warned).expect("a report");
    check(FIELDS[0], FIELDS[1], "local", &[], &[&shown, &filed, &warned]);
    for (command, name) in
        [("model check raw.onnx --input raw.npy", "check"), ("model plan raw.onnx --out n.hwc", "plan")]
    {
        let report = |bits: &str| -> serde_json::Value {
            let args = format!("{command} --calibrate raw.npy --bits {bits} --json report.json --force");
            good(&place, &args);
            serde_json::from_slice(&place.get("report.json")).expect("a report")
        };
        let mut reports = vec![report("32"), report("auto")];
        if name == "check" {
            let data = good(&place, "model check raw.onnx --data raw.npy --json -").out;
            reports.push(serde_json::from_str(&data).expect("a report"));
        }
        check(FIELDS[0], FIELDS[1], name, &[], &reports.iter().collect::<Vec<_>>());
    }
    assert_eq!(shown["output"].as_array().map(Vec::len), Some(expected.data.len()));
    assert_eq!(
        (filed["output"].as_array().map(Vec::len), &filed["shape"]),
        (Some(expected.data.len()), &shown["shape"])
    );
    assert_eq!((&shown["protocol"], &filed["protocol"]), (&"rep3".into(), &"two".into()));
}

/// A last layer that overflows 32 bits is computed in 64, and the others in 32, among three parties
/// and between two. The rings of each layer are told, with the reason.
#[test]
fn layers_run_in_two_rings() {
    let (place, expected) = place_of(|w, x| {
        let weights = w.random(&[4, 6], 3e5);
        w.op("Gemm", &[x, &weights], &[])
    });
    let told = good(&place, "model info m.onnx").out;
    let words = ["--bits auto may take 32 and 48 bits", "48 bits  gemm_5: all members know its scale"];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
    let told = good(&place, "model check m.onnx --input x.npy").out;
    let words = [
        "numbers of 32 and 64 bits, 16 behind the point, 13 and 24 cut",
        "gemm_5: all members know its scale",
    ];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
    let told = good(&place, "model check m.onnx --data x.npy").out;
    assert!(told.contains("\n32+64 ") && told.contains("bits are enough"), "{told}");
    for protocol in ["rep3", "two"] {
        good(
            &place,
            &format!("{INFER} --protocol {protocol} --output {protocol}.npy --json report.json --force"),
        );
        let report: serde_json::Value = serde_json::from_slice(&place.get("report.json")).expect("a report");
        assert_eq!((&report["bits"], &report["wide_bits"]), (&32.into(), &64.into()), "{protocol}");
        let found = npy::read(&place.get(&format!("{protocol}.npy"))).expect("an array");
        for (x, y) in found.data.iter().zip(&expected.data) {
            assert!((x - y).abs() < 0.01 * expected.greatest(), "{x} for {y}, {protocol}");
        }
    }
    assert_eq!(place.get("rep3.npy"), place.get("two.npy"));
    good(&place, "model plan m.onnx --out network.hwc");
    let job = "kind = \"infer\"\nnetwork = \"network.hwc\"\nowner = \"client:lab\"\nclient = \"client:ann\"\nbits = 32\n";
    place.put("job.toml", job.as_bytes());
    bad(&place, "job show job.toml", 2, &["numbers of 32 and 64 bits", "bits = \"auto\""]);
}

#[test]
fn three_processes_run_an_owners_network_on_a_clients_images() {
    let (place, expected) = place();
    let ran = good(&place, &format!("{INFER} --output y.npy --calibrate x.npy --json report.json"));
    let found = npy::read(&place.get("y.npy")).expect("an array");
    assert_eq!(found.lengths, [3, 6]);
    for (x, y) in found.data.iter().zip(&expected.data) {
        assert!((x - y).abs() < 0.02, "{x} for {y}: {}", ran.err);
    }
    let report: serde_json::Value = serde_json::from_slice(&place.get("report.json")).expect("a report");
    assert_eq!(report["shape"], serde_json::json!([3, 6]));
    assert_eq!(report["parties"].as_array().map(Vec::len), Some(3));
    let ran = good(&place, &format!("{INFER} --labels labels.txt"));
    let best = (0..6).max_by(|a, b| expected.data[*a].total_cmp(&expected.data[*b])).expect("a class");
    let label = ["ant", "bee", "cat", "dog", "eel", "fox"][best];
    assert!(ran.out.lines().nth(1).is_some_and(|line| line.ends_with(label)), "{}", ran.out);
    assert_eq!(ran.out.matches("input ").count(), 3);
}

/// All ways of computing give the same bits. They are linear layers under encryption and by OT, OTs
/// ahead of their use and in turn, and three parties between owner and client.
#[test]
fn owner_and_client_run_a_network_with_each_other() {
    let (place, _) = place();
    good(&place, &format!("{INFER} --output three.npy --calibrate x.npy"));
    for (linear, ahead) in [("he", "yes"), ("ot", "no")] {
        let args = format!("{INFER} --protocol two --linear {linear} --ahead {ahead} --calibrate x.npy");
        good(&place, &format!("{args} --output {linear}.npy --json {linear}.json"));
        assert_eq!(place.get(&format!("{linear}.npy")), place.get("three.npy"), "{linear}");
        let report: serde_json::Value =
            serde_json::from_slice(&place.get(&format!("{linear}.json"))).expect("a report");
        assert_eq!(report["parties"].as_array().map(Vec::len), Some(2));
        assert_eq!(report["protocol"], "two");
    }
    let told = good(&place, &format!("{INFER} --protocol two --explain")).out;
    assert!(told.contains("there is nobody else") && !told.contains("three parties"), "{told}");
    // The link of --net chooses the extension, unless an option names one.
    for (args, expected) in [("--ot auto --net 5Mbps,1ms", "ferret-b11"), ("--ot softspoken8", "softspoken8")]
    {
        let told = good(&place, &format!("{INFER} --protocol two {args} --explain")).out;
        let chosen = told.contains(&format!("by {expected}, the quickest over link 5Mbps,1ms: softspoken4 "));
        assert_eq!(chosen, args.contains("auto"), "{told}");
        let told = good(&place, &format!("{INFER} --protocol two {args} --output - --json r.json"));
        assert!(!told.out.is_empty());
        let report: serde_json::Value = serde_json::from_slice(&place.get("r.json")).expect("a report");
        assert_eq!(report["ot"], expected);
    }
    bad(&place, &format!("{INFER} --linear he"), 2, &["rep3", "linear"]);
    bad(&place, &format!("{INFER} --ahead no"), 2, &["rep3", "ahead"]);
    bad(&place, &format!("{INFER} --protocol two --ahead maybe"), 2, &["maybe", "auto, yes or no"]);
    bad(&place, &format!("{INFER} --protocol two --ot softspoken9"), 2, &["softspoken9"]);
}

#[test]
fn models_are_shown_planned_and_checked() {
    let (place, output) = place();
    // The third label is wrong.
    let best =
        |row: &[f32]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best }) as f32;
    let mut classes: Vec<f32> = output.data.chunks(6).map(best).collect();
    classes[2] += 1.0;
    place.put("classes.npy", &npy::write(&Array::new(&[3], classes)));
    let told = good(&place, "model info m.onnx").out;
    assert!(told.contains("Conv") && told.contains("[1, 4, 8, 8]") && told.contains("106 weights"), "{told}");
    let told = good(&place, "model check m.onnx --input x.npy --calibrate x.npy").out;
    assert!(told.contains("the first class is the same for 3 of 3"), "{told}");
    let told = good(&place, "model check m.onnx").out;
    assert!(told.contains("Conv") && told.contains("the first class is the same for 1 of 1"), "{told}");
    let told = good(&place, "model check m.onnx --data x.npy --labels classes.npy").out;
    let words = [
        "3 samples; numbers of 32 bits",
        "accuracy 66.7 % in floating point (2 of 3), 66.7 % in fixed point (2)",
        "0 of 3 decisions differ",
        "bits are enough: they lose at most 0.1 % of the decisions",
    ];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
    bad(&place, "model check m.onnx --labels classes.npy", 2, &["--data"]);
    bad(&place, "model check m.onnx --data x.npy --labels x.npy", 4, &["one label for each sample"]);
    let told = good(&place, "model explain m.onnx").out;
    assert!(told.contains("client brings input: fixed(32, 10)[1, 2, 8, 8]"), "{told}");
    let told = good(&place, &format!("{INFER} --explain")).out;
    assert!(told.contains("the client learns no weight") && told.contains("over a WAN"), "{told}");
    good(&place, "model plan m.onnx --shape 3,2,8,8 --out network.hwc");
    place.put(
        "job.toml",
        b"kind = \"infer\"\nnetwork = \"network.hwc\"\nowner = \"client:lab\"\nclient = \"client:ann\"\n",
    );
    good(&place, "local files job.toml --dir members");
    let file = |name: &str| String::from_utf8(place.get(name)).expect("text");
    assert!(file("members/lab.toml").contains("model = { file"), "{}", file("members/lab.toml"));
    assert!(file("members/ann.toml").contains("output = { file"), "{}", file("members/ann.toml"));
}

#[test]
fn what_cannot_run_is_named() {
    let (place, _) = place();
    place.put("odd.npy", &npy::write(&zoo::sample(&[3, 2, 8, 7], 5)));
    bad(&place, "local infer --model m.onnx --input odd.npy", 4, &["[3, 2, 8, 7]", "images, 2, 8, 8"]);
    let mut w = zoo::Writer::new("odd", 3, &[1, 4]);
    let x = w.op("Bernoulli", &["input"], &[]);
    let y = w.op("Unique", &["input"], &[]);
    let x = w.op("Add", &[&x, &y], &[]);
    place.put("odd.onnx", &w.finish(&x).to_bytes());
    let both = ["odd.onnx", "not supported: Bernoulli (node bernoulli_0), Unique (node unique_1)"];
    bad(&place, "model info odd.onnx", 4, &both);
    let told = place.ran("model info odd.onnx --explain");
    assert!(
        told.code == Some(4) && told.out.contains(both[1]) && told.err.contains("in its way"),
        "{}",
        told.out
    );
    good(&place, "model info m.onnx --explain");
    place.put("cut.onnx", &place.get("m.onnx")[..100]);
    bad(&place, "model info cut.onnx", 4, &["cut.onnx"]);
    bad(&place, &format!("{INFER} --output x.npy"), 5, &["x.npy"]);
    bad(&place, "model info m.onnx --bits 15", 2, &["--bits", "15"]);
}

/// This holds even with `--force`.
#[test]
fn nothing_that_is_read_is_written() {
    let (place, _) = place();
    place.put("cal.npy", &place.get("x.npy"));
    for (file, args) in [
        ("m.onnx", "model plan m.onnx --out m.onnx".to_owned()),
        ("labels.txt", format!("{INFER} --labels labels.txt --output labels.txt")),
        ("cal.npy", format!("{INFER} --calibrate cal.npy --output ./cal.npy")),
    ] {
        let before = place.get(file);
        bad(&place, &format!("{args} --force"), 5, &[file, "which this run uses"]);
        assert_eq!(place.get(file), before, "{args}");
    }
}

/// A network without weights, and one whose second output follows from no input.
#[test]
fn networks_that_hide_little_run_as_others() {
    let place = Place::new();
    let mut w = zoo::Writer::new("bare", 3, &[1, 2]);
    let y = w.op("Relu", &["input"], &[]);
    place.put("bare.onnx", &w.finish(&y).to_bytes());
    let mut w = zoo::Writer::new("anchors", 3, &[1, 2]);
    let anchors = w.weights(&[2], vec![0.5, -3.0]);
    let known = w.op("Identity", &[&anchors], &[]);
    let y = w.op("Relu", &["input"], &[]);
    let mut model = w.finish(&y);
    let mut second = model.graph.outputs[0].clone();
    second.name.clone_from(&known);
    model.graph.outputs.push(second);
    place.put("anchors.onnx", &model.to_bytes());
    place.put("x.npy", &npy::write(&Array::new(&[1, 2], vec![1.5, -2.0])));
    let run = |name: &str, rest: &str| {
        good(&place, &format!("local infer --model {name} --input x.npy --transport unix --force {rest}"));
    };
    let read = |name: &str| npy::read(&place.get(name)).expect("an array").data;
    for protocol in ["rep3", "two"] {
        run("bare.onnx", &format!("--output y.npy --protocol {protocol}"));
        assert_eq!(read("y.npy"), [1.5, 0.0], "{protocol}");
        run("anchors.onnx", &format!("--output {y}=y.npy --output {known}=k.npy --protocol {protocol}"));
        assert_eq!((read("y.npy"), read("k.npy")), (vec![1.5, 0.0], vec![0.5, -3.0]), "{protocol}");
    }
}

#[test]
fn names_of_files_and_of_inputs_are_checked() {
    let (place, _) = place();
    let infer = "local infer --model m.onnx --transport unix";
    bad(
        &place,
        &format!("{infer} --input image=x.npy"),
        2,
        &["the model has no input image; name one of input"],
    );
    bad(
        &place,
        &format!("{infer} --input x.npy --output logits=y.npy"),
        2,
        &["the model has no output logits"],
    );
    for name in ["y.csv", "y.npz", "y.json"] {
        bad(
            &place,
            &format!("{infer} --input x.npy --output {name}"),
            2,
            &[name, "another format", "call it .npy"],
        );
    }
    place.put("x.csv", b"1,2\n3,4\n");
    bad(&place, &format!("{infer} --input x.csv"), 4, &["x.csv", "it is text", "numpy.loadtxt"]);
    let left = ["y.csv", "y.npz", "y.json", "logits=y.npy"];
    assert!(place.names().iter().all(|name| !left.contains(&&name[..])), "{:?}", place.names());
}

#[test]
fn networks_and_arrays_go_through_pipes() {
    let (place, _) = place();
    good(&place, &format!("{INFER} --output y.npy --calibrate x.npy"));
    let expected = place.get("y.npy");
    let [model, array] = ["m.onnx", "x.npy"].map(|file| place.get(file));
    for (args, input) in [
        ("--model - --input x.npy --calibrate x.npy", &model),
        ("--model m.onnx --input - --calibrate x.npy", &array),
        ("--model m.onnx --input x.npy --calibrate -", &array),
    ] {
        let (code, out, err) =
            place.through(&format!("local infer --transport unix --output - {args}"), input);
        assert!(code == Some(0) && out == expected, "{args}: {err}");
    }
    let (code, out, err) = place.through(&format!("{INFER} --labels -"), b"ant\nbee\ncat\ndog\neel\nfox\n");
    let out = String::from_utf8_lossy(&out);
    // The five most probable of six classes.
    let labels = ["ant", "bee", "cat", "dog", "eel", "fox"].iter().filter(|label| out.contains(**label));
    assert!(code == Some(0) && labels.count() == 5, "{out}: {err}");
    good(&place, "model plan m.onnx --out network.hwc");
    let (code, network, err) = place.through("model plan - --out -", &model);
    assert!(code == Some(0) && network == place.get("network.hwc"), "{err}");
    for args in [&format!("{INFER} --output - --json -"), &format!("{INFER} --output - --labels labels.txt")]
    {
        bad(&place, args, 2, &["both standard", "a file"]);
    }
    assert!(!place.at("-").exists());
}

/// Returns a model whose output is the class of each input, and inputs of classes 2, 0 and 1. The
/// model drops the axis unless `keep` is set.
pub(crate) fn places(keep: bool) -> (Vec<u8>, Vec<u8>) {
    let mut w = zoo::Writer::new("places", 3, &[1, 3]);
    let one = w.weights(&[3, 3], vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let x = w.op("MatMul", &["input", &one], &[]);
    let x =
        w.op("ArgMax", &[&x], &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(i64::from(keep)))]);
    let input = Array::new(&[3, 3], vec![0.5, 0.0, 1.0, 1.0, 0.5, 0.0, 0.0, 1.0, 0.5]);
    (w.finish(&x).to_bytes(), npy::write(&input))
}

#[test]
fn outputs_of_one_axis_are_printed() {
    let place = Place::new();
    place.put("labels.txt", b"ant\nbee\ncat\n");
    place.put("two.txt", b"ant\nbee\n");
    place.put("none.txt", b"");
    for keep in [false, true] {
        let (model, input) = places(keep);
        place.put("m.onnx", &model);
        place.put("x.npy", &input);
        let numbers = "input 0\n      2\ninput 1\n      0\ninput 2\n      1\n";
        assert_eq!(good(&place, &format!("{INFER} --calibrate x.npy")).out, numbers, "{keep}");
    }
    let names = "input 0\n      2  cat\ninput 1\n      0  ant\ninput 2\n      1  bee\n";
    assert_eq!(good(&place, &format!("{INFER} --calibrate x.npy --labels labels.txt")).out, names);
    bad(&place, &format!("{INFER} --labels two.txt"), 4, &["two.txt", "2 for 3 classes"]);
    bad(&place, &format!("{INFER} --labels none.txt"), 4, &["none.txt", "no names"]);
    // A list of numbers has no classes.
    let mut w = zoo::Writer::new("list", 3, &[1, 3]);
    let x = w.gemm("input", [3, 1]);
    let shape = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![-1]))]);
    let x = w.op("Reshape", &[&x, &shape], &[]);
    place.put("m.onnx", &w.finish(&x).to_bytes());
    let told = good(&place, &format!("{INFER} --json report.json")).out;
    let report: serde_json::Value = serde_json::from_slice(&place.get("report.json")).expect("a report");
    assert_eq!(report["shape"], serde_json::json!([3]));
    let line =
        |(i, x): (usize, &serde_json::Value)| format!("  {:>10.4}  {i:>5}\n", x.as_f64().expect("a number"));
    let elements = report["output"].as_array().expect("a list").iter().enumerate().map(line);
    assert_eq!(told, format!("output\n{}", elements.collect::<String>()));
    bad(&place, &format!("{INFER} --labels labels.txt"), 4, &["labels.txt", "one axis"]);
}

/// Returns a model of two layers, and two inputs. The second input is far too large for a hidden
/// layer, whose scale comes from calibration.
pub(crate) fn wrapping() -> (Vec<u8>, [Vec<u8>; 2]) {
    let mut w = zoo::Writer::new("hidden", 3, &[1, 4]);
    let x = w.gemm("input", [4, 8]);
    let x = w.op("Clip", &[&x], &[("min", Attribute::Float(-2.0)), ("max", Attribute::Float(2.0))]);
    let x = w.gemm(&x, [8, 3]);
    let of = |x: f32| npy::write(&Array::new(&[1, 4], vec![x, -x, x, x]));
    (w.finish(&x).to_bytes(), [of(1.0), of(1000.0)])
}

#[test]
fn values_that_wrap_are_told() {
    let place = Place::new();
    let (model, [small, large]) = wrapping();
    place.put("m.onnx", &model);
    place.put("small.npy", &small);
    place.put("large.npy", &large);
    for command in ["model check m.onnx", "local infer --transport unix --model m.onnx"] {
        let run = |args: &str| good(&place, &format!("{command} {args}")).err;
        let told = run("--input large.npy --calibrate small.npy");
        let words = ["warning: layer gemm_0: its values are", "too large and wrap", "--calibrate", "--bits"];
        assert!(words.iter().all(|word| told.contains(word)), "{command}: {told}");
        let quiet = run("--input large.npy --calibrate small.npy --quiet");
        assert!(quiet.starts_with(words[0]), "{command}: {quiet}");
        for args in ["--input large.npy --calibrate large.npy", "--input small.npy --calibrate small.npy"] {
            let told = run(args);
            assert!(!told.contains("wrap"), "{command} {args}: {told}");
        }
    }
}

/// The power of e of a large number has no room, and 1 / (1 + e^x) is 0 all the same.
#[test]
fn values_that_wrap_without_effect_are_no_warning() {
    let place = Place::new();
    let mut w = zoo::Writer::new("logistic", 3, &[1, 4]);
    let (e, one) = (w.op("Exp", &["input"], &[]), w.weights(&[], vec![1.0]));
    let sum = w.op("Add", &[&e, &one], &[]);
    let y = w.op("Reciprocal", &[&sum], &[]);
    place.put("m.onnx", &w.finish(&y).to_bytes());
    let of = |x: f32| npy::write(&Array::new(&[1, 4], vec![x, -x, x, x]));
    place.put("small.npy", &of(1.0));
    place.put("large.npy", &of(60.0));
    for calibration in ["small.npy", "large.npy"] {
        for command in ["model check m.onnx", "local infer --transport unix --model m.onnx"] {
            let told = good(&place, &format!("{command} --input large.npy --calibrate {calibration}"));
            assert!(!told.err.contains("warning"), "{command} {calibration}: {}", told.err);
        }
    }
}

#[test]
fn what_models_and_inputs_lack_is_named() {
    let (place, _) = place();
    for command in ["model check m.onnx", "model plan m.onnx --out n.hwc", INFER] {
        bad(&place, &format!("{command} --frac 2"), 2, &["--frac", "4..=32"]);
        bad(&place, &format!("{command} --cut 0"), 2, &["--cut", "1..=58"]);
        let words = ["13 bits to cut of 32 with 20", "1 to 10 (--cut)"];
        bad(&place, &format!("{command} --bits 32 --frac 20 --cut 13"), 2, &words);
    }
    let mut odd = npy::read(&place.get("x.npy")).expect("an array");
    odd.data[1] = f32::NAN;
    place.put("odd.npy", &npy::write(&odd));
    odd.data[1] = 1e9;
    place.put("far.npy", &npy::write(&odd));
    for command in ["model check m.onnx", "local infer --transport unix --model m.onnx"] {
        let nan = ["odd.npy", "element 1 is not finite; correct it"];
        bad(&place, &format!("{command} --input odd.npy"), 4, &nan);
        bad(&place, &format!("{command} --input x.npy --calibrate odd.npy"), 4, &nan);
        bad(&place, &format!("{command} --input far.npy"), 4, &["far.npy", "element 1 does not fit"]);
    }
    place.put("odd.npy", &npy::write(&zoo::sample(&[3, 2, 8, 7], 5)));
    bad(&place, "model check m.onnx --input odd.npy", 4, &["m.onnx", "[3, 2, 8, 7]"]);
    let mut w = zoo::Writer::new("one", 3, &[1, 4]);
    let x = w.gemm("input", [4, 1]);
    let mut model = w.finish(&x);
    place.put("one.onnx", &model.to_bytes());
    let told = good(&place, "model check one.onnx").out;
    assert!(told.contains("Gemm") && !told.contains("is the same"), "{told}");
    model.graph.outputs.push(model.graph.inputs[0].clone());
    place.put("outputs.onnx", &model.to_bytes());
    // An output may also be an input.
    let told = good(&place, "model explain outputs.onnx").out;
    assert!(told.contains("output_input: fixed("), "{told}");
    let (model, input) = places(false);
    place.put("places.onnx", &model);
    place.put("three.npy", &input);
    let told = good(&place, "model check places.onnx --input three.npy").out;
    assert!(told.contains("the place that the model finds is the same for 3 of 3"), "{told}");
}
