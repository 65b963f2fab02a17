use super::*;
use crate::trial;
use hushwire_aes::Backend;

#[test]
fn a_circuit_has_its_figures() {
    let (report, _) =
        trial::measured("yao", &["circuit=aes128", "scheme=mi", "transport=inproc", "instances=1"]);
    let metrics: Vec<&str> = report.rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(metrics, ["throughput", "per_circuit", "first_gate", "setup"]);
    for row in &report.rows {
        let keys: Vec<_> = row.params.keys().collect();
        assert_eq!(keys, ["circuit", "scheme", "transport", "net", "instances"]);
    }
    let row = &report.rows[0];
    // 32 bytes of tables, and a few more for permute bits and digests.
    assert!(row.bytes_per_unit.is_some_and(|bytes| (32.0..33.0).contains(&bytes)), "{row:?}");
    assert_eq!(row.more["ands"], 6400);
    assert!(row.limit.is_some() && row.rounds.is_some_and(|rounds| rounds > 0));
}

#[test]
fn the_chain_computes_and_is_as_long_as_it_says() {
    let program = chain::program(2_000_000).unwrap();
    assert!((2_000_000..4_000_000).contains(&program.ands()), "{}", program.ands());
    let (scheme, backend) = (Scheme::Prp, Backend::best());
    let mut parties = Parties::open(&program, 1, scheme, backend, Transport::Inproc, Shape::NONE).unwrap();
    parties.time(1).unwrap();
    parties.check().unwrap();
}
