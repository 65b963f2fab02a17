//! `hushwire circuit`: its exact output.

use crate::common::{Place, Ran};
use std::path::{Path, PathBuf};

fn circuit(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.hushwire("circuit");
    Ran::new(command.args(args).output().unwrap_or_else(|e| panic!("{args:?}: {e}")))
}

/// Returns the stdout of a command that succeeds.
fn good(place: &Place, args: &[&str]) -> String {
    let ran = circuit(place, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
    ran.out
}

/// Returns the stderr of a command that fails with `code`.
fn bad(place: &Place, args: &[&str], code: i32) -> String {
    let ran = circuit(place, args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    // With JSON on standard output, the error is there as well.
    assert!(ran.out.is_empty() || (args.contains(&"--json") && ran.out.contains("\"error\"")), "{}", ran.out);
    ran.err
}

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PLAINTEXT: &str = "00112233445566778899aabbccddeeff";
const ABC: &str = "61626380000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000018";
const SHA256_START: &str = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
const SHA256_ABC: &str = "0=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";
const SHA1_START: &str = "67452301efcdab8998badcfe10325476c3d2e1f0";

#[test]
fn made_circuits_give_the_standards_vectors() {
    let place = Place::new();
    for (name, digits, ciphertext) in [
        ("aes128", 32, "0=69c4e0d86a7b0430d8cdb78070b4c55a\n"),
        ("aes192", 48, "0=dda97ca4864cdfe06eaf70a0ec0d7191\n"),
        ("aes256", 64, "0=8ea2b7ca516745bfeafc49904b496089\n"),
    ] {
        let inputs = format!("0={},1={PLAINTEXT}", &KEY[..digits]);
        good(&place, &["make", name, "--out", "file.txt"]);
        let ran = circuit(&place, &["eval", "file.txt", "--inputs", &inputs]);
        assert_eq!((ran.out.as_str(), ran.code), (ciphertext, Some(0)), "{name}");
        assert!(ran.err.starts_with("bit order: lsb, as Bristol Fashion has it"), "{}", ran.err);
        assert_eq!(good(&place, &["eval", name, "--inputs", &inputs]), ciphertext);
    }
    let inputs = format!("0={ABC},1={SHA256_START}");
    good(&place, &["make", "sha256", "--out", "file.txt"]);
    assert_eq!(good(&place, &["eval", "file.txt", "--inputs", &inputs]), SHA256_ABC);
    let inputs = format!("0={ABC},1={SHA1_START}");
    let sha1 = good(&place, &["eval", "sha1", "--inputs", &inputs]);
    assert_eq!(sha1, "0=a9993e364706816aba3e25717850c26c9cd0d89d\n");
    // In the older format, the bits of numbers are reversed by default, and in order with an
    // option.
    good(&place, &["make", "sha1", "--format", "old", "--out", "old.txt"]);
    let args = ["eval", "old.txt", "--bit-order", "lsb", "--inputs", &inputs];
    let ran = circuit(&place, &args);
    assert_eq!((ran.out, ran.err), (sha1, String::new()));
}

#[test]
fn published_files_give_the_standards_vectors() {
    let place = Place::new();
    let at = |name: &str| -> Option<PathBuf> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits").join(name);
        if !path.exists() {
            eprintln!(
                "SKIPPED {name}: the published files are not part of this repository, and not beside it"
            );
        }
        path.exists().then_some(path)
    };
    let key = &KEY[..32];
    let aes = format!("0={key},1={PLAINTEXT}");
    let old_aes = format!("0={PLAINTEXT},1={key}");
    let sha = format!("0={ABC},1={SHA256_START}");
    let sum = "0=00000005,1=fffffffe".to_owned();
    let cases: [(&str, &[&str], String, &str); 4] = [
        ("aes_128.txt", &[], aes, "0=69c4e0d86a7b0430d8cdb78070b4c55a\n"),
        ("AES-non-expanded.txt", &[], old_aes, "0=69c4e0d86a7b0430d8cdb78070b4c55a\n"),
        ("sha256.txt", &[], sha, SHA256_ABC),
        ("adder_32bit.txt", &["--bit-order", "lsb"], sum, "0=100000003\n"),
    ];
    for (name, order, inputs, output) in cases {
        let Some(path) = at(name) else { continue };
        let path = path.to_str().unwrap_or_else(|| panic!("{name}"));
        let args = [&["eval", path, "--inputs", &inputs], order].concat();
        assert_eq!(good(&place, &args), output, "{name}");
        good(&place, &["convert", path, "--to", "fashion", "--out", "f.txt"]);
        good(&place, &["convert", "f.txt", "--to", "old", "--out", "o.txt"]);
        let back = (place.get("o.txt"), std::fs::read(path).unwrap_or_else(|e| panic!("{name}: {e}")));
        assert!(words(&back.0) == words(&back.1) || name == "aes_128.txt" || name == "sha256.txt", "{name}");
    }
    if let Some(path) = at("AES-non-expanded.txt") {
        let ran = circuit(&place, &["eval", path.to_str().unwrap_or(""), "--inputs", "0=00"]);
        assert!(ran.err.starts_with("bit order: msb, as ciphers in the older"), "{}", ran.err);
    }
}

fn words(file: &[u8]) -> Vec<&[u8]> {
    file.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect()
}

#[test]
fn info_prints_plain_integers() {
    let place = Place::new();
    place.put("and.txt", b"2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n1 1 2 3 INV\n");
    let text = good(&place, &["info", "and.txt", "--json", "facts.json"]);
    let (facts, last) = text.rsplit_once("digest").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        facts,
        "format     Bristol Fashion\ninputs     1 1\noutputs    1\nwires      4\ngates      2\nAND        1\n\
         XOR        0\nINV        1\nEQ         0\nEQW        0\nAND-depth  1\nstages     1\n"
    );
    assert_eq!(last.trim().len(), 64);
    let json: serde_json::Value = serde_json::from_slice(&place.get("facts.json")).unwrap_or_default();
    assert_eq!((&json["inputs"], &json["and_depth"]), (&serde_json::json!([1, 1]), &serde_json::json!(1)));
    let json = good(&place, &["info", "aes128", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
    assert_eq!((json["and"].as_u64(), json["and_depth"].as_u64()), (Some(6400), Some(60)));
    assert_eq!(json["format"], "built in");
    let sort = good(&place, &["info", "sort:16x32"]);
    assert!(sort.contains("\nAND        4032\n") && sort.contains("\nstages     10\n"), "{sort}");
    assert!(good(&place, &["list"]).contains("\nsort:NxW "));
}

#[test]
fn numbers_are_padded_and_in_order() {
    let place = Place::new();
    assert_eq!(good(&place, &["eval", "add:9", "--inputs", "0=001,1=1FF"]), "0=200\n");
    assert_eq!(good(&place, &["eval", "add:8", "--inputs", "1=ff", "--inputs", "0=01"]), "0=100\n");
    assert_eq!(good(&place, &["eval", "sort:4x8", "--inputs", "0=01ff0200"]), "0=ff020100\n");
    assert_eq!(good(&place, &["make", "less:1", "--out", "-"]), LESS);
    let old = good(&place, &["make", "less:1", "--format", "old", "--out", "-"]);
    assert_eq!(old.lines().nth(1), Some("1 1   1"));
}

const LESS: &str = "2 4\n2 1 1\n1 1\n\n1 1 0 2 INV\n2 1 2 1 3 AND\n";

#[test]
fn what_is_wrong_is_told_with_a_remedy() {
    let place = Place::new();
    place.put("bad.txt", b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 IMPLY\n");
    assert_eq!(
        bad(&place, &["info", "bad.txt"], 4),
        "error: cannot read bad.txt: line 5: found `2 1 0 1 2 IMPLY`, expected a gate that ends in XOR, AND, OR, NAND, \
         NOR, XNOR, INV, NOT, BUF, EQ, EQW or MAND; correct that line, or fetch the file again from where it was published\n  `hushwire explain HW0301` says more\n"
    );
    assert_eq!(
        bad(&place, &["info", "none.txt"], 4),
        "error: cannot read none.txt: there is no such file, and no circuit of that name; check the spelling, or name \
         one that `hushwire circuit list` shows\n  `hushwire explain HW0301` says more\n"
    );
    assert_eq!(
        bad(&place, &["make", "lesss:3", "--out", "x"], 2),
        "error: there is no circuit called 'lesss:3'; did you mean less?\n"
    );
    for (inputs, words) in [
        ("0=1,1=00", "--inputs 0: found 1 hexadecimal digits, expected 2 for 8 bits; input 0 has 8 bits"),
        ("0=0g,1=00", "found 'g' as digit 2 from the left"),
        ("0=00", "input 1 of 8 bits is missing; write --inputs 0=HEX,1=HEX"),
        ("0=00,0=00", "input 0 twice; write --inputs"),
        ("0=00,2=00", "input 2, and there are 2; write"),
        ("00,1=00", "found '00', which is no INDEX=HEX; write"),
    ] {
        let error = bad(&place, &["eval", "add:8", "--inputs", inputs], 2);
        assert!(error.contains(words), "{error}");
    }
    let error = bad(&place, &["make", "mux:8", "--format", "old", "--out", "x"], 2);
    assert!(error.contains("two inputs only; use Bristol Fashion"), "{error}");
    assert_eq!(place.names(), ["bad.txt"], "nothing half written is left");
}

#[test]
fn microcode_is_written_with_its_head() {
    let place = Place::new();
    let args = ["make-microcode", "less:1", "--common", "1"];
    assert!(good(&place, &[&args[..], &["--out", "-"]].concat()).starts_with(MICROCODE));
    let ran = circuit(&place, &[&args[..], &["--out", "less.hex", "--json", "-"]].concat());
    assert_eq!(ran.err, "2 slots, 1 ANDs in 1 layers, 6 instructions, 3 scalars\n");
    let facts: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let found = (&facts["circuit"], &facts["rows_in"], &facts["slots"], &facts["instructions"]);
    assert_eq!(found, (&"less:1".into(), &1.into(), &2.into(), &6.into()));
    crate::schemas::see_as("circuit-make-microcode", &facts);
    let info = good(&place, &["info", "less:8", "--json", "-"]);
    crate::schemas::see_as("circuit-info", &serde_json::from_str(&info).unwrap_or_default());
    assert!(place.get("less.hex").starts_with(MICROCODE.as_bytes()));
    // A circuit from a file, and a circuit in stages.
    good(&place, &["make", "less:1", "--out", "less.txt"]);
    good(&place, &["make-microcode", "less.txt", "--out", "file.hex", "--json", "facts.json"]);
    assert!(place.get("file.hex").starts_with(b"// hushwire microcode v1\n// circuit less.txt\n"));
    let sort = circuit(&place, &["make-microcode", "sort:4x8", "--out", "sort.hex"]);
    assert!(sort.err.contains(" slots, ") && sort.code == Some(0), "{}", sort.err);
    let names = place.names();
    for (args, words) in [
        (&["less:8", "--common", "2"][..], "--common: common input 2: the circuit has 2 inputs"),
        (&["add:9000"], "slots, and microcode has 8192"),
        (&["sort:4096x64"], "'sort:4096x64' has"),
        (&["less:8", "--json", "-"], "both standard output"),
    ] {
        let out = if args.contains(&"-") { "-" } else { "x.hex" };
        let error = bad(&place, &[&["make-microcode", "--out", out], args].concat(), 2);
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(place.names(), names, "nothing half written is left");
}

const MICROCODE: &str = "// hushwire microcode v1\n// circuit less:1\n// digest ";
