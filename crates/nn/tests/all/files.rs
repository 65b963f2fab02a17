//! Files of models and of arrays.

use hushwire_nn::{
    Array, npy,
    onnx::{Attribute, Data, Dim, Graph, Model, Node, Tensor, ValueInfo},
    zoo,
};
use proptest::prelude::*;

/// One rectifier, byte by byte, from the format's field numbers. Each line is a field.
#[test]
fn a_file_is_read_field_by_field() {
    let node = [&b"\x0a\x01x"[..], b"\x12\x01y", b"\x1a\x01n", b"\x22\x04Relu"].concat();
    // Type: tensor of floats, with the shape [batch, 3].
    let shape = b"\x0a\x07\x12\x05batch\x0a\x02\x08\x03";
    let tensor = [&[0x08, 1, 0x12, shape.len() as u8][..], shape].concat();
    let ty = [&[0x0a, tensor.len() as u8][..], &tensor].concat();
    let input = [&b"\x0a\x01x\x12"[..], &[ty.len() as u8], &ty].concat();
    let mut graph = vec![0x0a, node.len() as u8];
    graph.extend(&node);
    graph.extend(b"\x12\x01g");
    graph.extend([0x5a, input.len() as u8]);
    graph.extend(&input);
    graph.extend(b"\x62\x03\x0a\x01y");
    let mut file = b"\x08\x08\x12\x02us".to_vec();
    file.extend([0x3a, graph.len() as u8]);
    file.extend(&graph);
    file.extend(b"\x42\x04\x0a\x00\x10\x0d");
    let relu = Node {
        name: "n".into(),
        op: "Relu".into(),
        inputs: vec!["x".into()],
        outputs: vec!["y".into()],
        ..Node::default()
    };
    let lengths = Some(vec![Dim::Named("batch".into()), Dim::Known(3)]);
    let expected = Model {
        opset: 13,
        producer: "us".into(),
        graph: Graph {
            name: "g".into(),
            nodes: vec![relu],
            weights: vec![],
            inputs: vec![ValueInfo { name: "x".into(), lengths }],
            outputs: vec![ValueInfo { name: "y".into(), lengths: None }],
            ..Graph::default()
        },
        ..Model::default()
    };
    assert_eq!(Model::read(&file).unwrap(), expected);
}

#[test]
fn what_is_written_is_read() {
    let model = zoo::make("squeezenet-cifar", 1).unwrap();
    assert_eq!(Model::read(&model.to_bytes()).unwrap(), model);
    let mut odd = model;
    odd.graph.nodes[0].attributes.extend([
        ("f".into(), Attribute::Float(0.5)),
        ("s".into(), Attribute::Text("é".into())),
        ("fs".into(), Attribute::Floats(vec![1.0, -0.25])),
        (
            "t".into(),
            Attribute::Tensor(Tensor {
                name: "t".into(),
                lengths: vec![2],
                data: Data::Ints(vec![-1, 7]),
                kind: 0,
            }),
        ),
    ]);
    assert_eq!(Model::read(&odd.to_bytes()).unwrap(), odd);
}

/// Elements in other formats than raw floats of 32 bits.
#[test]
fn elements_of_other_widths_are_read() {
    // A tensor message by hand: dims = [3] (1), data_type (2), name (8), and elements.
    let read = |kind: u8, elements: &[u8]| {
        let tensor = [&[0x08, 3, 0x10, kind, 0x42, 1, b'w'], elements].concat();
        let graph = [&[0x2a, tensor.len() as u8][..], &tensor].concat();
        Model::read(&[&[0x3a, graph.len() as u8][..], &graph].concat())
            .map(|m| m.graph.weights[0].data.clone())
    };
    let half = read(10, b"\x4a\x06\x00\x3c\x00\xc1\x01\x00").unwrap();
    assert_eq!(half, Data::Floats(vec![1.0, -2.5, 2f32.powi(-24)]));
    let packed = [&b"\x22\x0c"[..], &[1.5f32, -2.0, 0.25].map(f32::to_le_bytes).concat()].concat();
    assert_eq!(read(1, &packed).unwrap(), Data::Floats(vec![1.5, -2.0, 0.25]));
    let doubles = [&b"\x4a\x18"[..], &[1.5f64, -2.0, 0.25].map(f64::to_le_bytes).concat()].concat();
    assert_eq!(read(11, &doubles).unwrap(), Data::Floats(vec![1.5, -2.0, 0.25]));
    assert_eq!(read(7, b"\x38\x01\x38\x02\x38\x03").unwrap(), Data::Ints(vec![1, 2, 3]));
    assert_eq!(read(3, b"\x4a\x03\xff\x01\x02").unwrap(), Data::Ints(vec![-1, 1, 2]));
    let text = read(8, b"\x32\x01a\x32\x01b\x32\x01c").unwrap_err().to_string();
    assert!(text.contains("type 8"), "{text}");
}

proptest! {
    #[test]
    fn arrays_come_back(lengths in prop::collection::vec(1..5usize, 0..5), seed: u64) {
        let array = zoo::sample(&lengths, seed);
        let bytes = npy::write(&array);
        prop_assert_eq!(npy::read(&bytes).unwrap(), array.clone());
        prop_assert_eq!(bytes.len() % 64, array.data.len() * 4 % 64, "elements begin at a multiple of 64");
        for n in 0..bytes.len() {
            prop_assert!(npy::read(&bytes[..n]).is_err());
        }
    }

    #[test]
    fn no_bytes_make_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at: usize, with: u8) {
        let _ = Model::read(&bytes);
        let _ = npy::read(&bytes);
        let mut spoiled = npy::write(&Array::zeros(&[2, 2]));
        let at = at % spoiled.len();
        spoiled[at] = with;
        let _ = npy::read(&spoiled);
    }
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn arrays_of_other_kinds_are_read() {
    let of = |kind: &str, shape: &str, columns: &str, data: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': {columns}, 'shape': {shape}, }}\n");
        npy::read(&file(&header, data)).map(|array| (array.lengths, array.data))
    };
    assert_eq!(of("|u1", "(3,)", "False", &[0, 7, 255]).unwrap(), (vec![3], vec![0.0, 7.0, 255.0]));
    assert_eq!(of(">i2", "()", "False", &[0xff, 0xfe]).unwrap(), (vec![], vec![-2.0]));
    assert_eq!(of("<f8", "(1, 1)", "False", &0.75f64.to_le_bytes()).unwrap(), (vec![1, 1], vec![0.75]));
    // Half-precision floats in both byte orders: 1.5 and −2.
    assert_eq!(of("<f2", "(2,)", "False", &[0x00, 0x3e, 0x00, 0xc0]).unwrap(), (vec![2], vec![1.5, -2.0]));
    assert_eq!(of(">f2", "(1,)", "False", &[0x3e, 0x00]).unwrap(), (vec![1], vec![1.5]));
    // Columns first: rows of the array are (1, 3, 5) and (2, 4, 6).
    let columns = of("|i1", "(2, 3)", "True", &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(columns, (vec![2, 3], vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
    for (kind, shape, data) in [
        ("<U1", "(1,)", &[0; 4][..]),
        ("<c8", "(1,)", &[0; 8]),
        ("<f4", "(2,)", &[0; 4]),
        ("<f4", "(4611686018427387904, 4)", &[]),
        ("<f4", "(-1,)", &[]),
        ("O", "(1,)", &[0; 8]),
    ] {
        assert!(of(kind, shape, "False", data).is_err(), "{kind} {shape}");
    }
}
