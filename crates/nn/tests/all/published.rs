//! The numbers of weights and products of published architectures are the published ones.

use super::network;
use hushwire_nn::{
    Members, Numbers, Secure,
    onnx::{Data, Model},
    zoo,
};

/// The number of trained weights, without a normalization's means and variances.
fn trained(model: &Model) -> usize {
    let kept = |name: &String| {
        !model.graph.nodes.iter().any(|n| n.op == "BatchNormalization" && n.inputs[3..].contains(name))
    };
    let weights = model.graph.weights.iter().filter(|w| kept(&w.name));
    weights.map(|w| if let Data::Floats(all) = &w.data { all.len() } else { 0 }).sum()
}

/// The numbers of torchvision's models: parameters from its documentation, and 10^9 products as it
/// counts them. SqueezeNet's products are for 227 pixels and windows that leave the rest out.
#[test]
fn networks_are_as_large_as_published() {
    let published = [
        ("squeezenet", 1_235_496, 0.350..0.355, 1000),
        ("resnet50", 25_557_032, 4.08..4.15, 1000),
        ("densenet121", 7_978_856, 2.80..2.90, 1000),
    ];
    for (name, weights, products, classes) in published {
        let model = zoo::make(name, 1).unwrap();
        assert_eq!(trained(&model), weights, "{name}");
        let network = hushwire_nn::Network::new(model, None).unwrap();
        let found = (0..network.layers.len()).map(|at| network.products(at)).sum::<u64>() as f64 / 1e9;
        assert!(products.contains(&found), "{name}: {found}");
        assert_eq!(network.layers[network.outputs[0].1].lengths, [1, classes], "{name}");
        let secure = Secure::new(&network, Numbers::default(), &Members::default()).unwrap();
        // The text form is the same computation.
        let text = secure.computation().to_string();
        assert!(text.len() < 1 << 20, "{name}: {} bytes of text", text.len());
        assert_eq!(&text.parse::<hushwire_compute::Computation>().unwrap(), secure.computation(), "{name}");
    }
    let small = network(&zoo::make("squeezenet-cifar", 1).unwrap(), Some(&[4, 3, 32, 32]));
    assert_eq!(small.layers[small.outputs[0].1].lengths, [4, 10]);
    assert!(zoo::make("alexnet", 1).unwrap_err().to_string().contains("squeezenet-cifar"));
}
