use super::*;
use crate::{Unit, trial};

#[test]
fn a_column_has_its_paper_and_improvements() {
    let (report, text) = trial::measured("table8", &["circuit=aes", "scheme=prp"]);
    let implementations = Impl::ALL.iter().filter(|i| i.backend().is_some()).count();
    assert_eq!(report.rows.len(), 2 * implementations);
    for row in &report.rows {
        let keys: Vec<_> = row.params.keys().collect();
        assert_eq!(keys, ["circuit", "scheme", "impl", "op"]);
        assert_eq!((row.more["ands"].as_u64(), &row.unit), (Some(332_800), &Unit::MS));
        let first = row.params.text("impl").unwrap() == "ref";
        assert_eq!(row.more["improvement_percent"].is_null(), first);
        assert!(row.paper.value_in(&Unit::MS).is_some_and(|ms| ms > 8.0));
    }
    assert!(text.contains("| aes | ref |") && text.contains("/ 47.3 |"), "{text}");
}

#[test]
fn a_circuit_of_another_size_is_compared_by_the_and() {
    let ands = Circuits::default().get(PaperCircuit::Sha1).unwrap().ands;
    assert!(ands < PaperCircuit::Sha1.paper_ands() / 2, "{ands}: our SHA-1 has fewer ANDs");
    let (report, text) = trial::measured("table8", &["circuit=sha1", "scheme=mi", "impl=aesni"]);
    if !report.rows.is_empty() {
        assert!(text.contains(&format!("sha1: {ands} ANDs, the paper's 1672650")), "{text}");
        assert!(text.contains("Compare times per AND: garble aesni mi"), "{text}");
    }
}
