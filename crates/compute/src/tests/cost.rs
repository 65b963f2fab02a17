//! The declared costs, compared with the protocols' own numbers.

use crate::{
    Computation, circuits, cost,
    test_support::{computation, inputs},
};
use hushwire_circuit::TwoParty;
use std::collections::BTreeMap;

#[test]
fn costs_are_those_of_the_protocols() {
    let mut seen = 0;
    let wide = "computation wide\nmembers m\nsymbols n\ninput x: u32[n] from m\ninput y: u32[n] from m\n\
                output z = x * y + x / y to m\noutput s = permute(x, order(y)) to m\n";
    let mut all: Vec<(Computation, BTreeMap<String, u64>)> =
        [1, 7, 8, 100].map(|n| (wide.parse().unwrap(), [("n".to_owned(), n)].into())).to_vec();
    all.extend((0..60).map(|seed| {
        let c = computation(seed);
        let symbols = c.symbols_of(&inputs(&c, seed, seed as usize % 12)).unwrap();
        (c, symbols)
    }));
    for (c, symbols) in all {
        let Ok(work) = cost::GateWork::of(&c, &symbols) else { continue };
        let program = circuits::program(&c.bind(&symbols).unwrap()).unwrap();
        assert_eq!((work.ands(), work.depth()), (program.ands(), program.depth() as u64));
        let of = |name: &str| {
            let protocol = cost::PROTOCOLS.iter().find(|p| p.name == name).unwrap();
            (protocol.cost)(&work)
        };
        let three = hushwire_rep3::circuit_cost(&program, 1);
        assert_eq!((of("rep3").rounds, of("rep3").bytes_sent), (three.rounds, three.bytes_sent));
        // No member learns anything, so only the digest and the gates are sent.
        let roles = TwoParty::new(
            &program,
            vec![0; program.inputs().len()],
            vec![[false; 2]; program.outputs().len()],
        );
        let two = hushwire_gmw::circuit_cost(&program, &roles, 0, 1);
        assert_eq!((of("gmw").rounds + 1, of("gmw").bytes_sent + 32), (two.rounds, two.bytes_sent));
        assert_eq!(of("gmw").bytes_sent, hushwire_gmw::triples(&program, 1) / 4, "two bits a triple");
        assert_eq!(
            of("yao").bytes_sent,
            hushwire_garble::Format::HALF_GATES.and_bytes as u64 * program.ands()
        );
        seen += usize::from(work.ands() > 0);
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn the_table_is_open() {
    let c: Computation = "computation c\nmembers m\nsymbols n\ninput x: u8[n] from m\noutput z = x & 1 to m\noutput y = x & x + x to m\n".parse().unwrap();
    let work = cost::GateWork::of(&c, &[("n".to_owned(), 4)].into()).unwrap();
    let free = cost::BooleanProtocol { name: "plain", besides: "trust", cost: |_| cost::Cost::default() };
    let told = cost::table(&work, &[cost::PROTOCOLS[2], free]);
    assert!(
        told.starts_with(&format!(
            "{} ANDs, {} of them one after the other\n  rep3: ",
            work.ands(),
            work.depth()
        )),
        "{told}"
    );
    assert!(told.ends_with("  plain: 0 rounds and 0 bytes a party for gates; besides, trust\n"), "{told}");
    assert!(cost::GateWork::of(&c, &BTreeMap::new()).is_err(), "n has no number");
}
