//! Jobs of two parties as processes, checked against published vectors.

use crate::common::{Place, Ran, noise, prints};
use hushwire_testkit::Port;
use std::{
    fs::File,
    process::{Child, Stdio},
};

/// FIPS 197, appendix C.1.
const KEY: &str = "000102030405060708090a0b0c0d0e0f";
const PLAIN: &str = "00112233445566778899aabbccddeeff";
const CIPHER: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";
const JOB: &str = r#"
protocol = "yao"
circuit = "aes128"
[[inputs]]
name = "key"
from = "party0"
sample = "000102030405060708090a0b0c0d0e0f"
[[inputs]]
name = "plaintext"
from = "party1"
sample = "00112233445566778899aabbccddeeff"
[[outputs]]
to = ["party1"]
"#;

#[test]
fn aes_over_every_transport() {
    let place = Place::new();
    let cipher = format!("0={CIPHER}");
    for (protocol, options) in [
        ("yao", ""),
        ("yao", "--transport shm"),
        ("gmw", "--transport unix"),
        ("gmw", "--transport tcp-insecure --aes-backend portable"),
    ] {
        let args =
            format!("local run --circuit aes128 --protocol {protocol} --inputs 0={KEY},1={PLAIN} {options}");
        let ran = prints(&place, &args, &[&cipher]);
        assert!(ran.err.contains(&format!("among two parties with {protocol}")), "{}", ran.err);
    }
    assert!(place.names().is_empty());
}

#[test]
fn a_scheme_an_extension_and_a_modelled_network() {
    let place = Place::new();
    let args = "local run --circuit less:8 --inputs 0=01,1=02 --protocol";
    let ran = prints(&place, &format!("{args} yao --scheme three-halves --ot softspoken2"), &["0=1"]);
    assert!(ran.err.contains("yao, scheme three-halves, ot softspoken2"), "{}", ran.err);
    prints(&place, &format!("{args} gmw --ot ferret-b10 --net 1Gbps,1ms"), &["0=1"]);
}

#[test]
fn many_instances_from_files_to_a_file() {
    let place = Place::new();
    let (a, b) = (noise(1, 4 * 3000), noise(2, 4 * 3000));
    place.put("a.bin", &a);
    place.put("b.bin", &b);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let sums = a
        .chunks(4)
        .zip(b.chunks(4))
        .flat_map(|(a, b)| (u64::from(word(a)) + u64::from(word(b))).to_le_bytes()[..5].to_vec());
    let sums: Vec<u8> = sums.collect();
    let args = "local run --circuit add:32 --instances 3000 --input-file 0=a.bin --input-file 1=b.bin --output 0=sum \
                --protocol gmw --threads 3 --batch 100";
    prints(&place, args, &[]);
    assert!(place.get("sum") == sums);
    assert_eq!(place.names(), ["a.bin", "b.bin", "sum"]);
}

#[test]
fn a_report_for_programs() {
    let place = Place::new();
    let args = "local run --circuit less:32 --protocol yao --inputs 0=00000001,1=00000002 --json -";
    let ran = place.ran(args);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    assert_eq!(report["outputs"]["0"], "1", "{} {}", ran.out, ran.err);
    assert_eq!((&report["protocol"], &report["scheme"]), (&"yao".into(), &"mi".into()));
    assert_eq!((&report["ot"], &report["lanes_per_thread"]), (&"softspoken4".into(), &1.into()));
    assert_eq!(report["parties"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["parties"][0]["bytes_sent"], report["parties"][1]["bytes_received"]);
    for party in report["parties"].as_array().into_iter().flatten() {
        for key in ["bytes_sent", "bytes_received", "peak_memory_bytes", "rounds"] {
            assert!(party[key].as_u64().is_some_and(|n| n > 0), "{key}: {party}");
        }
    }
}

/// Batches have a bounded size, so the number of instances need not be bounded.
#[test]
fn memory_does_not_grow_with_instances() {
    let place = Place::new();
    let peak = |protocol: &str, instances: u64| {
        let sparse = File::create(place.at("in")).and_then(|file| file.set_len(instances));
        sparse.unwrap_or_else(|e| panic!("{e}"));
        let args = format!(
            "local run --circuit less:8 --protocol {protocol} --instances {instances} --batch 4096 --input-file 0=in \
             --input-file 1=in --output 0=out --json r.json"
        );
        prints(&place, &args, &[]);
        let report: serde_json::Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_default();
        let peaks =
            report["parties"].as_array().into_iter().flatten().map(|p| p["peak_memory_bytes"].as_u64());
        peaks.flatten().max().unwrap_or_else(|| panic!("{report}"))
    };
    for protocol in ["yao", "gmw"] {
        let (few, many) = (peak(protocol, 30_000), peak(protocol, 300_000));
        assert!(many < few + (4 << 20), "{protocol}: {few} and {many} bytes");
    }
}

#[test]
fn examples_run_as_they_are() {
    let place = Place::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs");
    prints(&place, &format!("local run {examples}/aes-yao.toml"), &[&format!("ciphertext={CIPHER}")]);
    prints(&place, &format!("local run {examples}/millionaires-gmw.toml"), &["bob-is-richer=1"]);
    // A job without clients for three parties that only names two of them can run with two parties.
    let cipher = format!("0={CIPHER}");
    place.put("three.toml", JOB.replace("yao", "rep3").as_bytes());
    prints(&place, "local run three.toml --protocol gmw", &[&cipher]);
    prints(&place, "local run three.toml", &[&cipher]);
}

/// The keys and files of two parties, as `local files` writes them.
struct World(Place, #[expect(dead_code, reason = "they are kept from others")] [Port; 2]);

impl World {
    fn new(job: &str) -> Self {
        let place = Place::new();
        place.put("job.toml", job.as_bytes());
        let ports = Port::row();
        let port = ports[0].number();
        let ran = place.ran(&format!("local files job.toml --dir r --port {port}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let lines: Vec<_> = ran.out.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "hushwire party job.toml --config r/party0.toml",
                "hushwire party job.toml --config r/party1.toml"
            ]
        );
        Self(place, ports)
    }

    fn start(&self, args: &str) -> Child {
        let mut command = self.0.hushwire(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"))
    }

    /// Runs both parties to their ends.
    fn run(&self, args: [&str; 2]) -> [Ran; 2] {
        let running = args.map(|args| self.start(args));
        running.map(|child| Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}"))))
    }
}

const PARTIES: [&str; 2] = ["party job.toml --config r/party0.toml", "party job.toml --config r/party1.toml"];

#[test]
fn two_parties_with_files_of_their_own() {
    let world = World::new(&JOB.replace("[\"party1\"]", "[\"party0\", \"party1\"]"));
    world.0.put(
        "r/party1.toml",
        &[&world.0.get("r/party1.toml")[..], b"[outputs]\n0 = { hex-file = \"c.hex\" }\n"].concat(),
    );
    // Two runs with the same label: every run draws fresh values.
    for _ in 0..2 {
        let ended = world.run(PARTIES);
        for (i, ran) in ended.iter().enumerate() {
            assert_eq!(ran.code, Some(0), "party {i}: {}", ran.err);
            assert!(ran.err.contains(&format!("waits for party {}", 1 - i)), "{}", ran.err);
        }
        assert_eq!(ended.map(|ran| ran.out), [format!("0={CIPHER}\n"), String::new()]);
        assert_eq!(world.0.get("r/c.hex"), format!("{CIPHER}\n").as_bytes());
    }
}

#[test]
fn party_files_that_do_not_fit_are_named() {
    let world = World::new(JOB);
    let file = String::from_utf8(world.0.get("r/party1.toml")).unwrap_or_default();
    for (from, to, code, words) in [
        ("\nindex = 0", "\nindex = 2", 2, ["the job needs party 0", "[[peers]]"]),
        ("index = 1\n", "index = 8\n", 4, ["line 2", "from 0 to 7"]),
    ] {
        // No other member is there to be told.
        let text = format!("connect-timeout = \"200ms\"\n{file}");
        assert!(text.contains(from), "the file has no {from:?}");
        world.0.put("r/party1.toml", text.replace(from, to).as_bytes());
        let ran = world.0.ran(PARTIES[1]);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "no {word:?} in: {}", ran.err));
    }
}

#[test]
fn doctors_look_at_two() {
    let world = World::new(JOB);
    let ended =
        world.run([0, 1].map(|i| ["doctor --config r/party0.toml", "doctor --config r/party1.toml"][i]));
    for (i, ran) in ended.iter().enumerate() {
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        assert!(
            ran.out.contains(&format!("party {}", 1 - i)) && ran.out.contains("round trip"),
            "{}",
            ran.out
        );
    }
}
