//! The output is equal to that of openssl, byte for byte.

use crate::common::{KEY, Place, noise};

/// A counter block after which the counter of 128 bits wraps within 16 blocks.
const WRAPS: &str = "fffffffffffffffffffffffffffffff0";
const PLAIN: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/// Encrypts `len` bytes and compares, then decrypts and compares.
fn check(place: &Place, len: usize, iv: &str, options: &str) {
    check_key(place, KEY, len, iv, options);
}

fn check_key(place: &Place, key: &str, len: usize, iv: &str, options: &str) {
    let name = format!("in-{len}");
    let data = noise(len as u64 + 1, len);
    place.put(&name, &data);
    place.put("key", key.as_bytes());
    let common = format!("--key-file key --iv-hex {iv} {options}");
    place.good(&format!("--in {name} {common} --force"));
    let sealed = place.get(&format!("{name}.enc"));
    assert_eq!(sealed.len(), len, "{options}");
    if let Some(theirs) = place.openssl(&name, key, iv) {
        assert!(sealed == theirs, "{len} bytes with {iv} {options}: not what openssl writes");
    }
    assert!(len < 8 || sealed != data);
    place.good(&format!("--decrypt --in {name}.enc {common}"));
    assert!(place.get(&format!("{name}.dec")) == data, "{len} bytes {options}: does not come back");
}

#[test]
fn every_size() {
    let place = Place::new();
    for len in [0, 1, 15, 16, 17, 4096, 131_072 + 5] {
        check(&place, len, PLAIN, "");
    }
    assert!(!place.at("in-1.enc.keys").exists(), "with key and counter given, nothing is kept");
}

#[test]
fn every_s_box_wrapping() {
    let place = Place::new();
    for sbox in ["tower", "gf256", "bp32", "depth4", "lut256"] {
        for len in [1, 131_072 + 5] {
            check(&place, len, WRAPS, &format!("--sbox {sbox}"));
        }
    }
}

#[test]
fn longer_keys() {
    let place = Place::new();
    let digits = [KEY, KEY].concat();
    for len in [48, 64] {
        for sbox in ["tower", "depth4"] {
            check_key(&place, &digits[..len], 40_001, WRAPS, &format!("--sbox {sbox}"));
        }
    }
}

#[test]
fn every_transport_and_thread_count() {
    let place = Place::new();
    for transport in ["tcp-tls", "tcp-insecure", "unix", "shm"] {
        for threads in [1, 2] {
            check(&place, 600_001, WRAPS, &format!("--transport {transport} --threads {threads}"));
        }
    }
}

#[test]
fn a_larger_file_in_little_memory_and_no_aes_instructions() {
    let place = Place::new();
    check(&place, 3_000_003, WRAPS, "--memory 32MiB --threads 2");
    check(&place, 70_001, PLAIN, "--aes-backend portable");
}
