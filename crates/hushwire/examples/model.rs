//! A neural network: its owner keeps the weights, the client keeps the input and learns the output.

use hushwire::Local;
use hushwire::nn::{Array, zoo::Writer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A real program reads the bytes of an ONNX file. This network has random weights.
    let mut network = Writer::new("classifier", 7, &[1, 4]);
    let hidden = network.gemm("input", [4, 8]);
    let hidden = network.relu(&hidden);
    let scores = network.gemm(&hidden, [8, 3]);
    let onnx = network.finish(&scores).to_bytes();

    let input = Array::new(&[1, 4], vec![0.5, -1.0, 0.25, 2.0]);
    let output = Local::model(&onnx, &input).run()?;
    println!("the scores are {:?}", output.data);
    assert_eq!(output.lengths, [1, 3]);
    Ok(())
}
