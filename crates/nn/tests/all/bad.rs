//! Models that are refused, each by the name of what is wrong with it.

use super::refused;
use hushwire_nn::{
    Network,
    onnx::{Attribute, Data, Dim, Model, Tensor},
    zoo::Writer,
};

fn conv(size: usize) -> Model {
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let x = w.conv("input", [3, 4], size, 1, 0, true);
    let x = w.relu(&x);
    w.finish(&x)
}

fn says(model: &Model, words: &[&str]) {
    let error = refused(model);
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn graphs_that_make_no_sense() {
    let mut model = conv(3);
    model.graph.nodes[0].inputs[0] = "relu_1".into();
    says(&model, &["conv_0", "depends on its own output"]);
    let mut model = conv(3);
    model.graph.weights.remove(0);
    says(&model, &["conv_0", "weights_0", "neither weights nor made"]);
    let mut model = conv(3);
    let twin = model.graph.weights[0].clone();
    model.graph.weights.push(twin);
    says(&model, &["weights_0", "two of this name"]);
    let mut model = conv(3);
    let twin = model.graph.nodes[1].clone();
    model.graph.nodes.push(twin);
    says(&model, &["relu_1", "two operators make it"]);
    let mut model = conv(3);
    model.graph.outputs[0].name = "nothing".into();
    says(&model, &["output nothing", "no operator makes it"]);
    let mut model = conv(3);
    model.graph.outputs.clear();
    says(&model, &["no output"]);
    let mut model = conv(3);
    model.opset = 3;
    says(&model, &["set 3"]);
}

#[test]
fn shapes_that_do_not_fit() {
    let mut model = conv(3);
    model.graph.inputs[0].lengths.as_mut().unwrap()[1] = Dim::Known(4);
    says(&model, &["conv_0", "4 filters of 3 channels", "4 channels"]);
    says(&conv(9), &["conv_0", "windows of 9 do not fit 8"]);
    let mut model = conv(3);
    model.graph.weights[1].lengths = vec![2];
    says(&model, &["weights_1", "4 elements", "make 2"]);
    let mut model = conv(3);
    model.graph.inputs[0].lengths.as_mut().unwrap()[3] = Dim::Known(1 << 40);
    says(&model, &["input", "at most 2^27"]);
    let mut model = conv(3);
    model.graph.inputs[0].lengths.as_mut().unwrap()[2] = Dim::Named("height".into());
    says(&model, &["its length height is open"]);
    let error = Network::new(conv(3), Some(&[1, 3, 8, 9])).unwrap_err().to_string();
    assert!(error.contains("the shape [1, 3, 8, 9]") && error.contains("images, 3, 8, 8"), "{error}");
}

#[test]
fn operators_that_are_not_there() {
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let x = w.op("LSTM", &["input"], &[]);
    let x = w.op("Einsum", &[&x], &[]);
    let x = w.op("LSTM", &[&x], &[]);
    let mut model = w.finish(&x);
    model.graph.nodes[1].domain = "com.example".into();
    // All of them, once each, before anything else is looked at.
    says(&model, &["not supported: LSTM, com.example.Einsum;", "Conv"]);
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let x = w.op(
        "MaxPool",
        &["input"],
        &[("kernel_shape", Attribute::Ints(vec![2])), ("pads", Attribute::Int(1))],
    );
    says(&w.finish(&x), &["maxpool_0", "kernel_shape", "[2]"]);
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let x = w.op("Pad", &["input"], &[("mode", Attribute::Text("reflect".into()))]);
    says(&w.finish(&x), &["pad_0", "something else than zeros"]);
    let mut w = Writer::new("m", 1, &[1, 3]);
    let spoiled = w.weights(&[3, 2], vec![f32::NAN; 6]);
    let x = w.op("Gemm", &["input", &spoiled], &[]);
    says(&w.finish(&x), &["gemm_0", "not all finite"]);
}

#[test]
fn weights_that_are_elsewhere_or_lie() {
    // By hand: a graph with one tensor whose fields these are.
    let read = |tensor: &[u8]| {
        let graph = [&[0x2a, tensor.len() as u8][..], tensor].concat();
        Model::read(&[&[0x3a, graph.len() as u8][..], &graph].concat()).unwrap_err().to_string()
    };
    let external = read(b"\x08\x04\x10\x01\x42\x01w\x6a\x04\x0a\x02ab\x70\x01");
    assert!(external.contains("weights w") && external.contains("another file"), "{external}");
    // 2^31 - 1 elements are claimed, none come.
    let claimed = read(b"\x08\xff\xff\xff\xff\x07\x10\x01\x42\x01w\x4a\x00");
    assert!(claimed.contains("0 elements") && claimed.contains("2147483647"), "{claimed}");
    // Raw bytes that say that there are 2 GB of them.
    let longer = read(b"\x08\x01\x10\x01\x4a\xff\xff\xff\xff\x07");
    assert!(longer.contains("longer than the file"), "{longer}");
    let product = read(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x04\x10\x01");
    assert!(product.contains("lengths"), "{product}");
    let sparse = Model::read(b"\x3a\x03\x7a\x01\x00").unwrap_err().to_string();
    assert!(sparse.contains("sparse"), "{sparse}");
    let functions = Model::read(b"\xca\x01\x00").unwrap_err().to_string();
    assert!(functions.contains("functions"), "{functions}");
    assert!(Model::read(b"").unwrap_err().to_string().contains("no graph"));
}

#[test]
fn no_cut_file_is_a_model_or_a_panic() {
    let bytes = conv(3).to_bytes();
    for n in 0..bytes.len() {
        // What is left may be a model without its end; it is no network then.
        let left = Model::read(&bytes[..n]).and_then(|model| Network::new(model, None));
        assert!(left.is_err(), "{n} of {}", bytes.len());
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut spoiled = bytes.clone();
            spoiled[at] ^= 1 << bit;
            let _ = Model::read(&spoiled).and_then(|model| Network::new(model, None));
        }
    }
}

#[test]
fn weights_of_integers_are_numbers() {
    let mut model = conv(3);
    model.graph.weights[1] =
        Tensor { name: "weights_1".into(), lengths: vec![4], data: Data::Ints(vec![1, -2, 0, 5]) };
    assert!(Network::new(model, None).is_ok());
}
