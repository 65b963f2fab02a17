//! AES and SHA circuits against the vectors of their standards.

use crate::common::{self, run};
use hushwire_circuit::{Circuit, Layered, eval, named};

/// A big-endian number in hexadecimal, as the standards print it.
fn hex(digits: &str) -> Vec<bool> {
    let digits: Vec<u32> = digits.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.iter().rev().flat_map(|d| (0..4).map(move |i| d >> i & 1 == 1)).collect()
}

fn check(circuit: &Circuit, inputs: &[&str], output: &str) {
    let inputs: Vec<_> = inputs.iter().map(|i| hex(i)).collect();
    assert!(run(circuit, &inputs) == [hex(output)], "{output}");
}

fn size(name: &str) -> (usize, usize) {
    let block = Layered::new(&named::make(name).unwrap());
    (block.ands(), block.depth())
}

#[test]
fn aes_gives_the_vectors_of_fips_197() {
    let plaintext = "00112233445566778899aabbccddeeff";
    let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    for (bits, ciphertext) in [
        (128, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (192, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (256, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        for variant in ["", "-depth4"] {
            let circuit = named::make(&format!("aes{bits}{variant}")).unwrap();
            check(&circuit, &[&key[..bits / 4], plaintext], ciphertext);
        }
    }
}

#[test]
fn aes_gives_the_vectors_of_sp_800_38a() {
    // F.1.1, F.1.3 and F.1.5, block 1.
    let plaintext = "6bc1bee22e409f96e93d7e117393172a";
    for (bits, key, ciphertext) in [
        (128, "2b7e151628aed2a6abf7158809cf4f3c", "3ad77bb40d7a3660a89ecaf32466ef97"),
        (192, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "bd334f1d6e45f25ff712a214571fa5cc"),
        (
            256,
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "f3eed1bdb5d2a03c064b5a7e3db181f8",
        ),
    ] {
        check(&named::make(&format!("aes{bits}")).unwrap(), &[key, plaintext], ciphertext);
    }
}

#[test]
fn aes_takes_round_keys() {
    // FIPS 197, App. A.1 (the expanded key of 2b7e…4f3c) and App. B.
    let round_keys = "2b7e151628aed2a6abf7158809cf4f3c a0fafe1788542cb123a339392a6c7605
        f2c295f27a96b9435935807a7359f67f 3d80477d4716fe3e1e237e446d7a883b ef44a541a8525b7fb671253bdb0bad00
        d4d1c6f87c839d87caf2b8bc11f915bc 6d88a37a110b3efddbf98641ca0093fd 4e54f70e5f5fc9f384a64fb24ea6dc4f
        ead27321b58dbad2312bf5607f8d292f ac7766f319fadc2128d12941575c006e d014f9a8c9ee2589e13f0cc8b6630ca6";
    let plaintext = "3243f6a8885a308d313198a2e0370734";
    for name in ["aes128-expanded-key", "aes128-expanded-key-depth4"] {
        let circuit = named::make(name).unwrap();
        check(&circuit, &[round_keys, plaintext], "3925841d02dc09fbdc118597196a0b32");
    }
}

#[test]
fn sha1_gives_the_vectors_of_fips_180() {
    let start = "67452301efcdab8998badcfe10325476c3d2e1f0";
    let circuit = named::make("sha1").unwrap();
    check(&circuit, &[&padded(b"abc")[0], start], "a9993e364706816aba3e25717850c26c9cd0d89d");
    check(
        &named::make("sha1-block").unwrap(),
        &[&padded(b"")[0]],
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    );
    let blocks = padded(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
    let middle = run(&circuit, &[hex(&blocks[0]), hex(start)]).remove(0);
    let last = run(&circuit, &[hex(&blocks[1]), middle]);
    assert_eq!(last, [hex("84983e441c3bd26ebaae4aa1f95129e5e54670f1")]);
}

#[test]
fn sha256_gives_the_vectors_of_fips_180() {
    let start = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let blocks = padded(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
    for name in ["sha256", "sha256-fast"] {
        let circuit = named::make(name).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check(&circuit, &[&padded(b"abc")[0], start], abc);
        let middle = run(&circuit, &[hex(&blocks[0]), hex(start)]).remove(0);
        let last = run(&circuit, &[hex(&blocks[1]), middle]);
        assert_eq!(last, [hex("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")]);
    }
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    check(&named::make("sha256-block").unwrap(), &[&padded(b"")[0]], empty);
}

/// The blocks of a message, padded as in FIPS 180-4, Sec. 5.1.1.
fn padded(message: &[u8]) -> Vec<String> {
    let mut bytes = [message, &[0x80]].concat();
    while bytes.len() % 64 != 56 {
        bytes.push(0);
    }
    bytes.extend((8 * message.len() as u64).to_be_bytes());
    bytes.chunks(64).map(|block| block.iter().map(|b| format!("{b:02x}")).collect()).collect()
}

#[test]
fn sizes_are_as_documented() {
    assert_eq!(size("aes128"), (6400, 60));
    assert_eq!(size("aes128-depth4"), (6800, 40));
    assert_eq!(size("aes192"), (7168, 72));
    assert_eq!(size("aes192-depth4"), (7616, 48));
    assert_eq!(size("aes256"), (8832, 84));
    assert_eq!(size("aes256-depth4"), (9384, 56));
    assert_eq!(size("aes128-expanded-key"), (5120, 60));
    assert_eq!(size("aes256-expanded-key-depth4"), (224 * 34, 56));
    assert_eq!(size("sha1"), (11_215, 2_165));
    assert_eq!(size("sha256"), (22_573, 1_607));
    assert_eq!(size("sha256-fast"), (46_344, 561));
}

/// Peers compare digests before they run a circuit: a change of a named circuit must not go
/// unnoticed.
#[test]
fn the_digest_of_aes128_is_pinned() {
    let program = named::program("aes128").unwrap();
    let digest: String = program.digest().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(digest, "e39decc337a1f16752583a434c9cc3f4af0b7129928a6a98f9a436ee5d79f440");
}

#[test]
fn many_blocks_at_once_are_each_right() {
    let program = named::program("aes128").unwrap();
    let mut rng = common::Rng(7);
    let (keys, texts) = (rng.bytes(16 * 600), rng.bytes(16 * 600));
    let all = eval::eval_values(&program, &[keys.clone(), texts.clone()], 600).unwrap();
    for j in [0, 63, 511, 512, 599] {
        let one = |bytes: &[u8]| bytes[16 * j..16 * j + 16].to_vec();
        let alone = eval::eval_values(&program, &[one(&keys), one(&texts)], 1).unwrap();
        assert_eq!(alone[0], one(&all[0]), "instance {j}");
    }
}
