//! Jobs of two parties as processes, checked against published vectors.

use crate::common::{Place, Ran, children, cmdline, noise, prints, runs};
use hushwire_testkit::Port;
use std::{
    fs::File,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
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
    for protocol in ["yao", "gmw"] {
        for options in
            ["", "--transport unix", "--transport shm", "--transport tcp-insecure", "--aes-backend portable"]
        {
            let args = format!(
                "local run --circuit aes128 --protocol {protocol} --inputs 0={KEY},1={PLAIN} {options}"
            );
            let ran = prints(&place, &args, &[&cipher]);
            assert!(ran.err.contains(&format!("among two parties with {protocol}")), "{}", ran.err);
        }
    }
    assert!(place.names().is_empty());
}

#[test]
fn every_scheme_and_a_modelled_network() {
    let place = Place::new();
    let args = "local run --circuit less:8 --inputs 0=01,1=02 --protocol";
    for scheme in ["prp", "mi", "mi4", "circ", "prf", "three-halves"] {
        let ran = prints(&place, &format!("{args} yao --scheme {scheme} --ot softspoken2"), &["0=1"]);
        assert!(ran.err.contains(&format!("yao, scheme {scheme}, ot softspoken2")), "{}", ran.err);
    }
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
    for options in
        ["--protocol yao", "--protocol gmw --threads 3 --batch 100", "--protocol yao --threads 2 --batch 999"]
    {
        let args = format!(
            "local run --circuit add:32 --instances 3000 --input-file 0=a.bin --input-file 1=b.bin --output 0=sum {options}"
        );
        prints(&place, &args, &[]);
        assert!(place.get("sum") == sums, "{options}");
    }
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

#[test]
fn a_party_that_is_killed_ends_everything() {
    for (protocol, victim, name) in
        [("yao", "party0", "party 0"), ("yao", "party1", "party 1"), ("gmw", "party1", "party 1")]
    {
        let place = Place::new();
        let sparse = File::create(place.at("big")).and_then(|file| file.set_len(80_000_000));
        sparse.unwrap_or_else(|e| panic!("{e}"));
        let mut command = place.hushwire(&format!(
            "local run --circuit mul:32 --instances 20000000 --protocol {protocol} --input-file 0=big --input-file 1=big \
             --output 0=out"
        ));
        let run =
            command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"));
        let pids = members(run.id());
        sleep(Duration::from_millis(900));
        let begun = Instant::now();
        let pid = pids.iter().find(|pid| cmdline(**pid).trim_end().ends_with(victim));
        let pid = pid.unwrap_or_else(|| panic!("no {name}")).to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().is_ok_and(|s| s.success()));
        let ran = Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert!(begun.elapsed() < Duration::from_mins(1), "took {:?}", begun.elapsed());
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains(name) && ran.err.contains("signal 9"), "{}", ran.err);
        assert!(pids.iter().all(|pid| !runs(*pid)), "some still run");
        assert_eq!(place.names(), ["big"]);
    }
}

/// Waits until both parties have started.
fn members(parent: u32) -> Vec<u32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        let pids = children(parent);
        if pids.len() == 2 && pids.iter().all(|pid| cmdline(*pid).contains("__member")) {
            return pids;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("two parties did not start within 30 s");
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

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.0.get(file)).unwrap_or_default();
        assert!(text.contains(from), "{file} has no {from:?}");
        self.0.put(file, text.replace(from, to).as_bytes());
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
    for job in [JOB.to_owned(), JOB.replace("yao", "gmw").replace("[\"party1\"]", "[\"party0\", \"party1\"]")]
    {
        let world = World::new(&job);
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
            let learns = if job.contains("gmw") { format!("0={CIPHER}\n") } else { String::new() };
            assert_eq!((&ended[0].out, ended[1].out.as_str()), (&learns, ""));
            assert_eq!(world.0.get("r/c.hex"), format!("{CIPHER}\n").as_bytes());
        }
    }
}

#[test]
fn another_plan_is_named_and_nothing_is_written() {
    let world = World::new(JOB);
    world.0.put("other.toml", JOB.replace("circuit =", "scheme = \"prf\"\ncircuit =").as_bytes());
    let ended = world.run([PARTIES[0], "party other.toml --config r/party1.toml"]);
    let mut named = 0;
    for (i, ran) in ended.iter().enumerate() {
        assert_eq!(ran.code, Some(3), "party {i}: {}", ran.err);
        assert!(ran.err.contains(&format!("party {}", 1 - i)) && ran.out.is_empty(), "{}", ran.err);
        let ours = ["protocol (ours: yao, scheme mi", "protocol (ours: yao, scheme prf"][i];
        named += usize::from(ran.err.contains(ours));
    }
    assert!(named > 0, "nobody says what differs");
}

#[test]
fn party_files_that_do_not_fit_are_named() {
    let world = World::new(JOB);
    let one = |words: &[&str], code: i32| {
        let child = world.start(PARTIES[1]);
        let ran = Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "no {word:?} in: {}", ran.err));
    };
    world.change("r/party1.toml", "\nindex = 0", "\nindex = 2");
    one(&["the job needs party 0", "[[peers]]"], 2);
    world.change("r/party1.toml", "\nindex = 2", "\nindex = 0");
    world.change("r/party1.toml", "index = 1\n", "index = 2\n");
    one(&["party 2", "party2: protocol yao has parties 0 and 1"], 2);
    world.change("r/party1.toml", "index = 2\n", "index = 3\n");
    one(&["party 3", "party3: protocol yao has parties 0 and 1"], 2);
    world.change("r/party1.toml", "index = 3\n", "index = 8\n");
    one(&["line 1", "from 0 to 7"], 4);
}

#[test]
fn a_dead_peer_is_named() {
    let job = "protocol = \"yao\"\ncircuit = \"mul:32\"\ninstances = 20000000\n[[inputs]]\nname = \"a\"\nfrom = \"party0\"\n\
               [[inputs]]\nname = \"b\"\nfrom = \"party1\"\n[[outputs]]\nto = \"party1\"\n";
    let world = World::new(job);
    for name in ["a", "b"] {
        let sparse =
            File::create(world.0.at(&format!("r/{name}.bin"))).and_then(|file| file.set_len(80_000_000));
        sparse.unwrap_or_else(|e| panic!("{e}"));
    }
    let text = [&world.0.get("r/party1.toml")[..], b"[outputs]\n0 = { file = \"out.bin\" }\n"].concat();
    world.0.put("r/party1.toml", &text);
    let [mut victim, mut other] = PARTIES.map(|args| world.start(args));
    let mut said = BufReader::new(other.stderr.take().unwrap_or_else(|| panic!("it is piped"))).lines();
    let connected = said.by_ref().map_while(Result::ok).any(|line| line == "all members are connected");
    assert!(connected, "it ended before it was connected");
    sleep(Duration::from_millis(500));
    assert!(victim.try_wait().is_ok_and(|ended| ended.is_none()), "it ended too soon to be killed");
    assert!(victim.kill().and_then(|()| victim.wait()).is_ok());
    let begun = Instant::now();
    let error: Vec<_> = said.map_while(Result::ok).collect();
    let status = other.wait().unwrap_or_else(|e| panic!("{e}"));
    assert!(begun.elapsed() < Duration::from_mins(1), "took {:?}", begun.elapsed());
    assert_eq!(status.code(), Some(3), "{error:?}");
    assert!(error.iter().any(|line| line.contains("party 0")), "{error:?}");
    assert!(!world.0.at("r/out.bin").exists());
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
