//! Every method finds what it must at a small size, and rows carry the keys that the issue lists.

use hushwire_aes::Backend;
use hushwire_ot::Level;
use hushwire_psi::Store;
use hushwire_wire::Shape;

use super::work::{Method, Parties};
use super::{Point, SIZES, cases};
use crate::BenchOptions;
use crate::net::Transport;

#[test]
fn every_method_finds_the_common_half() {
    for (method, security) in Method::ALL {
        let n = if method.is_small() { 6 } else { 50 };
        for &store in method.stores() {
            let point = Point { method, security, store, n, transport: Transport::Inproc, net: Shape::NONE };
            let mut parties = Parties::new(&point, Backend::default());
            parties.time(1).expect("the common half");
            let [busier, both] = parties.bytes();
            assert!(busier > 0.0 && both > busier && parties.rounds() > 0);
        }
    }
}

/// 16 bytes of columns and 8 of a seal for each of the sender's items, and nothing else.
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
    let nets = [Shape::NONE, Shape::lan()];
    let core: Vec<_> = Point::all(&nets).into_iter().filter(|point| point.is_core(false)).collect();
    assert!(core.iter().all(|point| point.transport == Transport::TcpInsecure));
    for (method, security) in Method::ALL {
        assert!(core.iter().any(|point| (point.method, point.security) == (method, security)));
    }
    for n in SIZES {
        assert!(core.iter().any(|point| point.n == n && point.method == Method::Vole));
    }
    assert!(cases(&BenchOptions::default(), Backend::default(), None).is_ok());
}
