//! The bit-sliced evaluator, and with it the layered form, against evaluation gate by gate.

use crate::common::{Rng, random_circuit};
use hushwire_circuit::{Circuit, Gate, Layered, Program, eval};
use proptest::prelude::*;

proptest! {
    #[test]
    fn both_evaluators_agree_on_any_circuit(seed in any::<u64>(), gates in 0usize..80, n in 1usize..5) {
        let circuit = random_circuit(seed, gates, 5);
        let program = Program::flat("random", &circuit);
        let mut rng = Rng(seed ^ 1);
        // Both word sizes, and batches that are not full.
        let instances = [1, 63, 70, 513][n - 1];
        let runs: Vec<Vec<Vec<bool>>> = (0..instances)
            .map(|_| circuit.inputs().iter().map(|w| rng.bits(*w)).collect())
            .collect();
        let packed: Vec<Vec<u8>> = (0..circuit.inputs().len())
            .map(|i| runs.iter().flat_map(|run| eval::to_bytes(&run[i])).collect())
            .collect();
        let outputs = eval::eval_values(&program, &packed, instances).unwrap();
        for (j, run) in runs.iter().enumerate() {
            let expected = eval::eval_gates(&circuit, run).unwrap();
            for (o, bits) in expected.iter().enumerate() {
                let bytes = bits.len().div_ceil(8);
                prop_assert_eq!(&outputs[o][j * bytes..(j + 1) * bytes], &eval::to_bytes(bits)[..]);
            }
        }
    }

    #[test]
    fn layers_are_canonical(seed in any::<u64>(), gates in 0usize..120) {
        let circuit = random_circuit(seed, gates, 5);
        let block = Layered::new(&circuit);
        prop_assert_eq!(block.digest(), Layered::new(&circuit).digest());
        let layers = block.layers();
        for (k, layer) in layers.iter().enumerate() {
            prop_assert_eq!(layer.products.len(), if k == 0 { 0 } else { layers[k - 1].ands.len() });
            prop_assert_eq!(layer.ands.is_empty(), k + 1 == layers.len());
        }
        // A block has no dead gates, so all its ANDs count.
        let ands = circuit.gates().iter().filter(|g| matches!(g, Gate::And { .. })).count();
        prop_assert!(block.ands() <= ands);
        prop_assert!(block.slots() <= 2 + circuit.wires());
    }
}

#[test]
fn inputs_of_the_wrong_size_are_told() {
    let circuit = Circuit::new(vec![3, 0], vec![1], 4, vec![Gate::And { a: 0, b: 1, out: 3 }]).unwrap();
    let program = Program::flat("and", &circuit);
    let error = |inputs: &[Vec<u8>]| eval::eval_values(&program, inputs, 2).unwrap_err().to_string();
    assert_eq!(error(&[vec![3, 3]]), "the inputs: found 1 of them, expected 2");
    assert_eq!(error(&[vec![3], vec![]]), "input 0: found 1 bytes, expected 2");
    assert_eq!(error(&[vec![3, 3], vec![1]]), "input 1: found 1 bytes, expected 0");
    assert_eq!(eval::eval_values(&program, &[vec![3, 1], vec![]], 2).unwrap(), [vec![1, 0]]);
    assert_eq!(eval::eval_values(&program, &[vec![], vec![]], 0).unwrap(), [Vec::<u8>::new()]);
    let bits = eval::eval_bits(&program, &[vec![true], vec![]]).unwrap_err().to_string();
    assert_eq!(bits, "input 0: found 1 bits, expected 3");
    assert_eq!(eval::eval_gates(&circuit, &[vec![true], vec![]]).unwrap_err().to_string(), bits);
}
