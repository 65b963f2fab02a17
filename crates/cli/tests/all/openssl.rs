//! The output is equal to that of openssl, byte for byte.

use crate::common::{KEY, Place, noise};

/// A counter block after which the counter of 128 bits wraps within 16 blocks.
const WRAPS: &str = "fffffffffffffffffffffffffffffff0";
const PLAIN: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/// The lengths, S-boxes, keys, transports and numbers of threads that runs have. Each value is in a
/// case; `crates/rep3` tests their combinations in process.
const CASES: [(usize, usize, &str, &str); 14] = [
    (0, 128, PLAIN, ""),
    (1, 128, WRAPS, "--sbox gf256"),
    (15, 128, PLAIN, "--transport unix"),
    (16, 192, WRAPS, "--sbox tower --threads 1"),
    (17, 128, PLAIN, "--transport tcp-insecure"),
    (1, 128, WRAPS, "--sbox lut256 --transport shm"),
    (4096, 256, WRAPS, "--sbox depth4"),
    (131_072 + 5, 128, WRAPS, "--sbox bp32 --threads 2"),
    (40_001, 192, WRAPS, "--sbox depth4 --transport unix --threads 2"),
    (40_001, 256, WRAPS, "--transport shm"),
    (600_001, 128, WRAPS, "--transport tcp-tls --threads 1"),
    (600_001, 128, WRAPS, "--transport shm --threads 2"),
    (70_001, 128, PLAIN, "--aes-backend portable"),
    // A larger file in little memory.
    (3_000_003, 128, WRAPS, "--memory 32MiB --threads 2"),
];

#[test]
fn every_case_is_what_openssl_writes() {
    let place = Place::new();
    for (len, bits, iv, options) in CASES {
        let (key, data) = (&KEY.repeat(2)[..bits / 4], noise(len as u64 + 1, len));
        place.put("in", &data);
        place.put("key", key.as_bytes());
        let common = format!("--key-file key --iv-hex {iv} --force {options}");
        place.good(&format!("--in in {common}"));
        let sealed = place.get("in.enc");
        assert_eq!(sealed.len(), len, "{options}");
        if let Some(theirs) = place.openssl("in", key, iv) {
            assert!(sealed == theirs, "{len} bytes with {iv} {options}: not what openssl writes");
        }
        assert!(len < 8 || sealed != data);
        // Decryption is the same computation, so few cases decrypt.
        if [0, 1, 131_072 + 5].contains(&len) {
            place.good(&format!("--decrypt --in in.enc {common}"));
            assert!(place.get("in.dec") == data, "{len} bytes {options}: does not come back");
        }
    }
    assert!(!place.at("in.enc.keys").exists(), "with key and counter given, nothing is kept");
}
