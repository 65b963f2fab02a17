//! Arithmetic circuits against the machine's arithmetic.

use crate::common::{bits, number, run};
use hushwire_circuit::{Layered, named};
use proptest::prelude::*;

/// Runs a circuit by name on numbers.
fn call(name: &str, inputs: &[u128]) -> u128 {
    let circuit = named::make(name).unwrap();
    let inputs: Vec<_> = inputs.iter().zip(circuit.inputs()).map(|(n, w)| bits(*n, *w)).collect();
    number(&run(&circuit, &inputs)[0])
}

fn check(n: usize, x: u128, y: u128) {
    let modulus = 1u128 << n;
    let (x, y) = (x % modulus, y % modulus);
    let signed = |v: u128| (v ^ (modulus / 2)) as i128 - (modulus / 2) as i128;
    let c = |name: &str| call(&format!("{name}:{n}"), &[x, y]);
    assert_eq!(c("add"), x + y);
    assert_eq!(c("add-fast"), x + y);
    assert_eq!(c("add-mod"), (x + y) % modulus);
    assert_eq!(c("sub"), (2 * modulus + x - y) % (2 * modulus));
    assert_eq!(c("mul"), x * y);
    assert_eq!(c("mul-mod"), x * y % modulus);
    assert_eq!(c("less"), u128::from(x < y));
    assert_eq!(c("less-fast"), u128::from(x < y));
    assert_eq!(c("less-signed"), u128::from(signed(x) < signed(y)));
    assert_eq!(c("equal"), u128::from(x == y));
    assert_eq!(call(&format!("mux:{n}"), &[1, x, y]), x);
    assert_eq!(call(&format!("mux:{n}"), &[0, x, y]), y);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn words_compute_as_the_machine_does(n in 1usize..=64, x in any::<u128>(), y in any::<u128>()) {
        check(n, x, y);
        // Neighbours, where carries and comparisons flip.
        check(n, x, x);
        check(n, x, x.wrapping_add(1));
    }
}

#[test]
fn small_words_compute_right_everywhere() {
    for n in 1..=3 {
        for x in 0..1 << n {
            for y in 0..1 << n {
                check(n, x, y);
            }
        }
    }
}

#[test]
fn sizes_are_as_documented() {
    let size = |name: &str| {
        let block = Layered::new(&named::make(name).unwrap());
        (block.ands(), block.depth())
    };
    assert_eq!(size("add:64"), (64, 64));
    assert_eq!(size("add-fast:64"), (64 + 129 + 192, 7));
    assert_eq!(size("add-mod:64"), (63, 63));
    assert_eq!(size("sub:64"), (64, 64));
    assert_eq!(size("mul:64"), (2 * 64 * 64 - 64, 127));
    assert_eq!(size("less:64"), (64, 64));
    assert_eq!(size("less-fast:64"), (3 * 64 - 6 - 2, 7));
    assert_eq!(size("less-signed:64"), (64, 64));
    assert_eq!(size("equal:64"), (63, 6));
    assert_eq!(size("mux:64"), (64, 1));
}

#[test]
fn names_that_are_not_right_are_told_what_is() {
    let error = |name: &str| named::make(name).unwrap_err().to_string();
    assert_eq!(error("lesss:8"), "there is no circuit called 'lesss:8'; did you mean less?");
    assert!(error("nonsense").starts_with("there is no circuit called 'nonsense'; choose one of aes128, "));
    assert_eq!(error("add"), "'add': its numbers are N; write it as in add:16");
    assert_eq!(error("add:4x4"), "'add:4x4': its numbers are N; write it as in add:16");
    assert_eq!(error("mul:0"), "'mul:0': N is 0 and may be 1 to 1024; write it as in mul:16");
}
