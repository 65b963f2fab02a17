//! Models that are refused, each with the name of its fault.

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
    let x = w.op("Nonsense", &["input"], &[]);
    let x = w.op("Einsum", &[&x], &[]);
    let x = w.op("Nonsense", &[&x], &[]);
    let mut model = w.finish(&x);
    model.graph.nodes[1].domain = "com.example".into();
    // All unknown operators, once each, before any other check.
    says(&model, &["not supported: Nonsense (node ", "1 more), com.example.Einsum (node einsum_1);", "Conv"]);
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let x = w.op(
        "MaxPool",
        &["input"],
        &[("kernel_shape", Attribute::Ints(vec![2])), ("pads", Attribute::Int(1))],
    );
    says(&w.finish(&x), &["maxpool_0", "kernel_shape", "[2]"]);
    let mut w = Writer::new("m", 1, &[1, 3, 8, 8]);
    let pads = Attribute::Ints(vec![0, 0, 1, 1, 0, 0, 1, 1]);
    let x = w.op("Pad", &["input"], &[("mode", Attribute::Text("odd".into())), ("pads", pads)]);
    says(&w.finish(&x), &["pad_0", "its mode is odd"]);
    let mut w = Writer::new("m", 1, &[1, 3]);
    let spoiled = w.weights(&[3, 2], vec![f32::NAN; 6]);
    let x = w.op("Gemm", &["input", &spoiled], &[]);
    says(&w.finish(&x), &["gemm_0", "not all finite"]);
}

#[test]
fn weights_that_are_elsewhere_or_lie() {
    // A graph with one tensor, made by hand from these fields.
    let read = |tensor: &[u8]| {
        let graph = [&[0x2a, tensor.len() as u8][..], tensor].concat();
        Model::read(&[&[0x3a, graph.len() as u8][..], &graph].concat()).unwrap_err().to_string()
    };
    let external = read(b"\x08\x04\x10\x01\x42\x01w\x6a\x04\x0a\x02ab\x70\x01");
    assert!(external.contains("weights w") && external.contains("another file"), "{external}");
    // The header claims 2^31 - 1 elements, and none follow.
    let claimed = read(b"\x08\xff\xff\xff\xff\x07\x10\x01\x42\x01w\x4a\x00");
    assert!(claimed.contains("0 elements") && claimed.contains("2147483647"), "{claimed}");
    // Raw bytes that claim to be 2 GB long.
    let longer = read(b"\x08\x01\x10\x01\x4a\xff\xff\xff\xff\x07");
    assert!(longer.contains("longer than the file"), "{longer}");
    let product = read(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x04\x10\x01");
    assert!(product.contains("lengths"), "{product}");
    let sparse = Model::read(b"\x3a\x03\x7a\x01\x00").unwrap_err().to_string();
    assert!(sparse.contains("sparse"), "{sparse}");
    assert!(Model::read(b"").unwrap_err().to_string().contains("no graph"));
}

#[test]
fn no_cut_file_is_a_model_or_a_panic() {
    let bytes = conv(3).to_bytes();
    for n in 0..bytes.len() {
        // A truncated file may still be a model, but it is not a network.
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
        Tensor { name: "weights_1".into(), lengths: vec![4], data: Data::Ints(vec![1, -2, 0, 5]), kind: 0 };
    assert!(Network::new(model, None).is_ok());
}

/// Checks that an operator on an input of shape `[1, 2, 4, 4]` is refused in these words.
fn refuses(op: &str, inputs: &[&str], attributes: &[(&str, Attribute)], words: &[&str]) {
    let mut w = Writer::new("m", 1, &[1, 2, 4, 4]);
    let x = w.op(op, inputs, attributes);
    says(&w.finish(&x), words);
}

#[test]
fn training_mode_is_refused() {
    let norm = |attributes: &[(&str, Attribute)], outputs: &[&str]| {
        let mut w = Writer::new("m", 1, &[1, 2, 4, 4]);
        let of: Vec<String> = (0..4).map(|_| w.weights(&[2], vec![1.0; 2])).collect();
        let inputs: Vec<&str> = std::iter::once("input").chain(of.iter().map(String::as_str)).collect();
        let x = w.op("BatchNormalization", &inputs, attributes);
        let mut model = w.finish(&x);
        model.graph.nodes[0].outputs.extend(outputs.iter().map(|name| (*name).to_owned()));
        model
    };
    says(&norm(&[("training_mode", Attribute::Int(1))], &[]), &["batchnormalization_0", "training mode"]);
    says(&norm(&[], &["mean", "var"]), &["batchnormalization_0", "3 outputs", "not for training"]);
    assert!(Network::new(norm(&[("training_mode", Attribute::Int(0))], &["", ""]), None).is_ok());
    says(&norm(&[("spatial", Attribute::Int(0))], &[]), &["spatial"]);
    let dropout = |trains: i64| {
        let mut w = Writer::new("m", 1, &[1, 4]);
        let tensor = |data| Attribute::Tensor(Tensor { name: "v".into(), lengths: vec![], data, kind: 0 });
        let ratio = w.op("Constant", &[], &[("value", tensor(Data::Floats(vec![0.5])))]);
        let mode = w.op("Constant", &[], &[("value", tensor(Data::Ints(vec![trains])))]);
        let x = w.op("Dropout", &["input", &ratio, &mode], &[]);
        w.finish(&x)
    };
    says(&dropout(1), &["dropout_2", "training mode"]);
    assert!(Network::new(dropout(0), None).is_ok());
}

/// Implementations disagree on the place of SAME windows that leave out a part of a side.
#[test]
fn windows_that_leave_out_much_of_a_side_are_refused() {
    let ints = |all: &[i64]| Attribute::Ints(all.to_vec());
    for op in ["MaxPool", "AveragePool"] {
        for auto in ["SAME_UPPER", "SAME_LOWER"] {
            let with = |strides: &[i64]| {
                let auto = ("auto_pad", Attribute::Text(auto.into()));
                [("kernel_shape", ints(&[1, 1])), ("strides", ints(strides)), auto]
            };
            refuses(op, &["input"], &with(&[1, 4]), &["leave out", "give pads"]);
            let mut w = Writer::new("m", 1, &[1, 2, 4, 4]);
            let x = w.op(op, &["input"], &with(&[2, 2]));
            assert!(Network::new(w.finish(&x), None).is_ok(), "{op} {auto}");
        }
    }
}

/// An attribute that is silently ignored gives a wrong result.
#[test]
fn attributes_that_are_not_honoured_are_refused() {
    let int = Attribute::Int;
    let ints = |all: &[i64]| Attribute::Ints(all.to_vec());
    refuses("Relu", &["input"], &[("alpha", Attribute::Float(0.1))], &["relu_0", "attribute alpha"]);
    refuses("Softmax", &["input"], &[("axes", ints(&[1]))], &["attribute axes", "axis"]);
    let window = ("kernel_shape", ints(&[2, 2]));
    refuses("MaxPool", &["input"], &[window.clone(), ("p", int(2))], &["attribute p "]);
    refuses("AveragePool", &["input"], &[window, ("auto_pad", Attribute::Text("odd".into()))], &["auto_pad"]);
    refuses("Gelu", &["input"], &[("approximate", Attribute::Text("fast".into()))], &["approximate is fast"]);
    refuses("Concat", &["input", "input"], &[], &["no axis"]);
    refuses("Relu", &["input", "input"], &[], &["2 inputs"]);
    refuses("Cast", &["input"], &[("to", int(8))], &["casts to text"]);
    let mut model = conv(3);
    model.graph.nodes[0].attributes.insert("kernel_shape".into(), ints(&[2, 2]));
    says(&model, &["conv_0", "kernel_shape"]);
    // The weights are along another axis than the normalized one.
    let mut w = Writer::new("m", 1, &[3, 3]);
    let scale = w.random(&[3, 1], 1.0);
    let x = w.op("LayerNormalization", &["input", &scale], &[]);
    says(&w.finish(&x), &["layernormalization_0", "[3, 1]"]);
    let mut w = Writer::new("m", 1, &[1, 3]);
    let low = w.weights(&[], vec![0.0]);
    let x = w.op("Clip", &["input", &low], &[("min", Attribute::Float(-1.0))]);
    says(&w.finish(&x), &["clip_0", "in an attribute and in an input"]);
}

/// Arithmetic of integers of few bits wraps, and functions of such integers round.
#[test]
fn integers_are_refused() {
    for (kind, op) in [2u8, 3, 4, 5, 12, 13].into_iter().flat_map(|kind| [(kind, "Sqrt"), (kind, "Relu")]) {
        let mut w = Writer::new("m", 1, &[1, 2]);
        let y = w.op(op, &["input"], &[]);
        let bytes = w.finish(&y).to_bytes();
        // The input's type: a tensor of elements of the kind, with a shape of two axes.
        let at = bytes.windows(3).position(|b| b == [0x08, 1, 0x12]).expect("an element type before a shape");
        let mut other = bytes.clone();
        other[at + 1] = kind;
        let read = Model::read(&other).and_then(|model| Network::new(model, None));
        // A value that is not a sum or product has the elements of its operand.
        if op == "Relu" {
            assert!(read.is_ok(), "{kind}");
            continue;
        }
        let refused = read.unwrap_err().to_string();
        assert!(
            refused.contains("sqrt_0") && refused.contains("whose arithmetic wraps"),
            "{kind}: {refused}"
        );
    }
    for kind in [6, 7, 9, 10, 11, 16] {
        let mut w = Writer::new("m", 1, &[1, 2]);
        let y = w.relu("input");
        let mut bytes = w.finish(&y).to_bytes();
        let at = bytes.windows(3).position(|b| b == [0x08, 1, 0x12]).expect("an element type before a shape");
        bytes[at + 1] = kind;
        assert!(Model::read(&bytes).and_then(|model| Network::new(model, None)).is_ok(), "{kind}");
    }
    let cast = |x: f32, to: i64| {
        let mut w = Writer::new("m", 1, &[1, 4]);
        let value = Tensor { name: "v".into(), lengths: vec![1], data: Data::Floats(vec![x]), kind: 0 };
        let x = w.op("Constant", &[], &[("value", Attribute::Tensor(value))]);
        let axes = w.op("Cast", &[&x], &[("to", Attribute::Int(to))]);
        let y = w.op("Unsqueeze", &["input", &axes], &[]);
        Network::new(w.finish(&y), None).map_err(|e| e.to_string())
    };
    assert!(cast(1.0, 7).is_ok() && cast(1.5, 2).is_ok());
    for (x, to, words) in [
        (300.0, 2, "300 does not fit uint8"),
        (-1.0, 12, "-1 does not fit uint32"),
        (f32::NAN, 7, "no integer"),
        (1e19, 7, "no integer"),
        (1.0, 14, "casts to complex64"),
        (1.0, 8, "casts to text"),
    ] {
        let error = cast(x, to).expect_err(words);
        assert!(error.contains(words), "{error}");
    }
}
