//! Compares the tables of every scheme with the file of digests.

use super::suite::tables;
use crate::{
    Family, Scheme, half::HalfGates, prf::PrfOnly, privacy_free::PrivacyFree, three_halves::ThreeHalves,
};
use hushwire_testkit::Digests;

fn scheme<F: Family>(all: &mut Digests, scheme: Scheme) {
    all.run(&format!("tables/{scheme}"), |backend| tables::<F>(scheme, backend));
}

#[test]
fn tables_are_those_of_the_file() {
    let mut all = Digests::section("tables");
    for of in [Scheme::Prp, Scheme::Mi, Scheme::Mi4, Scheme::Circ] {
        scheme::<HalfGates>(&mut all, of);
    }
    scheme::<ThreeHalves>(&mut all, Scheme::ThreeHalves);
    scheme::<PrivacyFree>(&mut all, Scheme::PrivacyFree);
    scheme::<PrfOnly>(&mut all, Scheme::Prf);
    all.compare();
}
