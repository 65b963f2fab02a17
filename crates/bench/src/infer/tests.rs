use hushwire_aes::Backend;
use hushwire_wire::Shape;

use super::{
    grid::{LAYERS, Point},
    work::Parties,
};
use crate::net::Transport;

#[test]
fn quick_points_are_few_and_core_points_plain() {
    let points = Point::all(&[1, 2], &crate::net::NETS);
    let quick = points.iter().filter(|point| point.is_quick(1)).count();
    assert_eq!(quick, 2);
    assert!(points.iter().filter(|p| p.is_core(1, false)).all(|p| p.transport == Transport::TcpInsecure));
}

#[test]
fn layers_are_what_they_are_in_floating_point() {
    for op in LAYERS {
        let point = Point {
            network: "layer",
            op,
            bits: 32,
            transport: Transport::Inproc,
            net: Shape::NONE,
            threads: 1,
        };
        let mut parties = Parties::new(&point, Backend::best()).unwrap();
        parties.time(1).unwrap_or_else(|e| panic!("{op}: {e}"));
        let bytes = parties.bytes();
        assert!(bytes[0] > 0.0 && bytes[1] > bytes[0], "{op}: {bytes:?}");
    }
}
