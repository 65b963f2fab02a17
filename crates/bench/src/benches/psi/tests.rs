//! Every method has the expected result at a small size, and rows have all required keys.

use hushwire_aes::Backend;
use hushwire_ot::Level;
use hushwire_psi::Store;
use hushwire_wire::Shape;

use super::Point;
use super::work::{METHODS, Method, Parties, SIZES};
use crate::{BenchAsked, net::Transport, trial};

#[test]
fn every_method_finds_the_common_half() {
    for (line, &security) in
        METHODS.iter().flat_map(|line| line.levels.iter().map(move |level| (line, level)))
    {
        let (method, n) = (line.method, if line.sizes == [1024] { 6 } else { 50 });
        assert_eq!(method.line().name, line.name, "lines are in the order of methods");
        for &store in line.stores {
            let point = Point { method, security, store, n, transport: Transport::Inproc, net: Shape::NONE };
            let mut parties = Parties::new(&point, Backend::default());
            parties.time(1).expect("the common half");
            let [busier, both] = parties.bytes();
            assert!(busier > 0.0 && both > busier && parties.rounds() > 0);
        }
    }
}

/// Columns add 16 bytes of payload and 8 bytes of a seal for each of the sender's items, and no
/// other bytes.
#[test]
fn columns_add_their_bytes_and_their_seals() {
    let n = 300;
    for security in [Level::SemiHonest, Level::Malicious] {
        let [without, with] = [Method::Vole, Method::VoleColumns].map(|method| {
            let store = Some(Store::Clustered);
            let point = Point { method, security, store, n, transport: Transport::Inproc, net: Shape::NONE };
            let mut parties = Parties::new(&point, Backend::default());
            parties.time(1).expect("the common half");
            parties.bytes()[1]
        });
        assert!((with - without - (24 * n) as f64).abs() < 0.5, "{security:?}: {without}, then {with}");
    }
}

#[test]
fn the_core_set_holds_the_named_sizes_over_plain_tcp() {
    let [core, _] = trial::sets("psi", &BenchAsked::default());
    let has = |case: &str| core.iter().filter(|other| trial::has(other, case)).count();
    assert_eq!(has("transport=tcp-insecure"), core.len());
    for line in &METHODS {
        for level in line.levels {
            let case = format!("method={},reveal={},security={}", line.name, line.reveal, level.name());
            assert!(has(&case) > 0, "{case}");
        }
    }
    assert!(SIZES.iter().all(|n| has(&format!("method=vole,reveal=items,n={n}")) > 0));
    assert!(SIZES[4] > hushwire_psi::circuit::MOST_ITEMS, "circuits take fewer");
}
