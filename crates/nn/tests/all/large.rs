//! Published architectures in fixed point, in the clear. The test takes minutes at this
//! optimization level.

use super::{fixed::report, network, sample};
use hushwire_nn::{Numbers, zoo};

#[test]
#[ignore = "minutes at this level"]
fn published_architectures_stay_near_floating_point() {
    for name in ["squeezenet-cifar", "squeezenet"] {
        let network = network(&zoo::make(name, 3).unwrap(), None);
        let report = report(&network, Numbers::default(), &sample(&network, 4));
        let last = &report.layers[network.outputs[0].1];
        assert!(last.deviation < 0.05 * last.greatest, "{name}: {last:?}");
    }
}
