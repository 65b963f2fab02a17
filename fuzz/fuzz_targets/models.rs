//! ONNX models and NumPy arrays: what is read becomes a network or a named error, and what is
//! written is read again.
#![no_main]

use hushwire_nn::{Members, Network, Numbers, Secure, npy, onnx::Model};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = npy::read(bytes) {
        let again = npy::read(&npy::write(&array)).unwrap();
        // NaNs differ from themselves.
        assert_eq!((again.lengths, again.data.len()), (array.lengths, array.data.len()));
    }
    let Ok(model) = Model::read(bytes) else { return };
    assert!(Model::read(&model.to_bytes()).is_ok());
    if let Ok(network) = Network::new(model, None) {
        // Whatever a small network is, it is a computation or refused.
        if network.layers.iter().all(|layer| layer.lengths.iter().product::<usize>() < 1 << 12) {
            let _ = Secure::new(&network, Numbers::default(), &Members::default());
        }
    }
});
