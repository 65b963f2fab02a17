use super::*;
use crate::{
    GarbleError, Scheme,
    rig::{Rig, flipped, plain},
};
use hushwire_circuit::named;

const SCHEMES: [Scheme; 3] = [Scheme::Prp, Scheme::Mi, Scheme::Circ];

#[test]
fn garbled_circuits_compute_what_plain_ones_do() {
    for scheme in SCHEMES {
        for name in ["aes128", "less:32", "mul:8"] {
            let program = named::program(name).expect("a circuit of ours");
            for backend in hushwire_aes::Backend::all() {
                let rig = Rig::<HalfGates>::new(backend, scheme, 1);
                let inputs = rig.random_inputs(&program, 3);
                assert_eq!(rig.run(&program, 3, &inputs), plain(&program, 3, &inputs), "{scheme} {name}");
            }
        }
    }
}

#[test]
fn width_and_tier_change_no_byte() {
    let program = named::program("less:32").expect("a circuit of ours");
    for scheme in SCHEMES {
        let first = Rig::<HalfGates>::new(hushwire_aes::Backend::best(), scheme, 2);
        let inputs = first.random_inputs(&program, 5);
        let whole = first.run_through(&program, 5, &inputs, |t| t).expect("whole tables");
        for backend in hushwire_aes::Backend::all() {
            for width in [1, 2, 4, 8, 16, 32] {
                let mut rig = Rig::<HalfGates>::new(backend, scheme, 2);
                rig.widths = [width, 33 - width];
                let run = rig.run_through(&program, 5, &inputs, |t| t).expect("whole tables");
                assert!(run.tables == whole.tables && run.permute_bits == whole.permute_bits);
                assert_eq!(run.outputs, whole.outputs);
            }
        }
    }
}

#[test]
fn tables_that_end_early_are_refused() {
    let program = named::program("less:8").expect("a circuit of ours");
    let rig = Rig::<HalfGates>::new(hushwire_aes::Backend::best(), Scheme::Mi, 3);
    let inputs = rig.random_inputs(&program, 1);
    let cut = rig.run_through(&program, 1, &inputs, |t| t[..t.len() - 1].to_vec());
    assert!(matches!(cut, Err(GarbleError::Short { .. })));
    let changed = rig.run_through(&program, 1, &inputs, |t| flipped(t, 5)).expect("whole tables");
    assert_eq!(
        changed.outputs.len(),
        1,
        "a changed table is no error: who garbles is trusted to do it right"
    );
}
