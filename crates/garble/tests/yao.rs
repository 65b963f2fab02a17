//! Yao's protocol against plain evaluation.

mod common;

use common::{ROLES, due, inproc_nets, open, parties, run, tcp_nets, terms, values};
use hushwire_circuit::{Program, TwoParty, named};
use hushwire_garble::Scheme;

const SCHEMES: [Scheme; 3] = [Scheme::Prp, Scheme::Mi, Scheme::Circ];

/// Every way to share out two inputs and one output.
fn all_roles(program: &Program) -> Vec<TwoParty> {
    let mut all = vec![];
    for owners in [[0, 1], [1, 0], [0, 0], [1, 1]] {
        for learns in [[true, true], [true, false], [false, true], [false, false]] {
            all.push(TwoParty::new(program, owners.to_vec(), vec![learns]));
        }
    }
    all
}

#[test]
fn parties_learn_what_plain_evaluation_gives() {
    let program = named::program("less:32").expect("a circuit of ours");
    let all = all_roles(&program);
    for scheme in SCHEMES {
        let results = parties(inproc_nets(), |role, channel| {
            let mut party = open(role, channel, terms(scheme)).expect("set up");
            let mut outputs = vec![];
            // Twice each: the second run is one that both parties know already.
            for (i, roles) in all.iter().flat_map(|r| [r, r]).enumerate() {
                for n in [1, 3, 8, 21] {
                    let values = values(&program, n, i as u8);
                    outputs.push(run(&mut party, channel, &program, roles, n, &values).expect("a run"));
                }
            }
            outputs
        });
        for (role, results) in ROLES.into_iter().zip(&results) {
            let mut results = results.iter();
            for (i, roles) in all.iter().flat_map(|r| [r, r]).enumerate() {
                for n in [1, 3, 8, 21] {
                    let expected = due(&program, roles, role, n, &values(&program, n, i as u8));
                    assert_eq!(results.next(), Some(&expected), "{scheme} {role:?} {n} {roles:?}");
                }
            }
        }
    }
}

#[test]
fn named_circuits_over_tcp() {
    for name in ["aes128", "mul:16", "sort:8x8"] {
        let program = named::program(name).expect("a circuit of ours");
        let owners = (0..program.inputs().len()).map(|i| i % 2).collect();
        let roles = TwoParty::new(&program, owners, vec![[true; 2]; program.outputs().len()]);
        let values = values(&program, 5, 9);
        let results = parties(tcp_nets(), |role, channel| {
            let mut party = open(role, channel, terms(Scheme::Mi)).expect("set up");
            run(&mut party, channel, &program, &roles, 5, &values).expect("a run")
        });
        for (role, result) in ROLES.into_iter().zip(&results) {
            assert_eq!(*result, due(&program, &roles, role, 5, &values), "{name}");
        }
    }
}
