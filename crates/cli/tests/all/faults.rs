//! Faults among real processes: killed, stopped or late members, keys that do not match, ports in
//! use, full disks. No member waits for ever, all members name the one with the fault, and no
//! partial output looks complete.

use crate::common::{Place, Ran, noise};
use crate::rehearsal::{ALL, Ended, Rehearsal, Running, sums, title};
use hushwire_wire::{Identity, Validity};
use std::{
    net::TcpListener,
    process::{Command, Stdio},
    thread::{self, sleep},
    time::{Duration, Instant, SystemTime},
};

/// The longest time from a kill until all members have ended. It includes the wait for missing
/// members, and slack for a busy host.
const LIMIT: Duration = Duration::from_secs(45);
/// A member that dies before all have met only counts as missing. The others wait this long for it.
const JOIN: &str = "connect-timeout = \"12s\"";
const KILLS: u32 = 12;
const INSTANCES: usize = 1_000_000;

/// Returns a number that differs from run to run. It is printed, so that a failure shows it.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = std::env::var("HUSHWIRE_FAULTS_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or(now.as_nanos() as u64 >> 8);
    eprintln!("HUSHWIRE_FAULTS_SEED={seed}");
    seed
}

/// Adds many numbers of alice and party 1. Party 2 and bob learn the sums. Returns the files and
/// the expected sums.
fn many_sums() -> (Rehearsal, Vec<u8>) {
    let world = Rehearsal::new(&sums("add:32", INSTANCES));
    let [a, b] = [1, 2].map(|seed| noise(seed, 4 * INSTANCES));
    let word = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default()));
    let records = a.chunks(4).zip(b.chunks(4)).map(|(a, b)| word(a) + word(b));
    let expected = records.flat_map(|sum| sum.to_le_bytes()[..5].to_vec()).collect();
    world.place.put("r/a.bin", &a);
    world.place.put("r/b.bin", &b);
    ALL.iter().for_each(|name| world.set(name, JOIN));
    ["party2", "bob"].iter().for_each(|name| world.keep(name, "sum"));
    (world, expected)
}

#[test]
fn whoever_is_killed_whenever() {
    let seed = seed();
    let (world, expected) = many_sums();
    // The faster of two runs, because other programs may keep this machine busy.
    let runs = [(); 2].map(|()| {
        let begun = Instant::now();
        world.end(world.start_all(&ALL)).iter().for_each(Ended::good);
        begun.elapsed()
    });
    let mut total = runs[0].min(runs[1]);
    assert!(
        world.kept("party2").as_ref() == Some(&expected) && world.kept("bob").as_ref() == Some(&expected)
    );
    let mut in_time = 0;
    let moments = noise(seed, KILLS as usize);
    for kill in 0..KILLS {
        for name in ["party2", "bob"] {
            let _ = std::fs::remove_file(world.place.at(&format!("r/{name}.out")));
        }
        // The kills are spread over twelve parts of the time. The victims take turns, and each run
        // begins with another one.
        let victim = ALL[(seed as usize % 5 + kill as usize) % 5];
        let within = f64::from(moments[kill as usize]) / 256.0;
        let moment = total.mul_f64((f64::from(kill) + within) / f64::from(KILLS));
        let what = format!("seed {seed}: {victim} killed after {moment:?} of {total:?}");
        let mut running = world.start_all(&ALL);
        sleep(moment);
        let at = ALL.iter().position(|name| *name == victim).unwrap_or(0);
        let killed = running.remove(at);
        let begun = Instant::now();
        let by_itself = killed.kill();
        let ended = world.end_within(running, begun, LIMIT);
        eprintln!(
            "{what}: others ended after {:?}: {}",
            begun.elapsed(),
            ended[0].err.lines().last().unwrap_or("")
        );
        if let Some(status) = by_itself {
            // The victim was done already, and so are the others.
            assert!(status.success(), "{what}: {status}");
            ended.iter().for_each(Ended::good);
            // A run never takes longer than this, whatever delayed the runs that were timed.
            total = total.min(moment);
        }
        in_time += usize::from(ended.iter().any(|member| member.code != Some(0)));
        judge(&world, victim, &ended, &expected, &what);
    }
    assert!(in_time >= 4, "only {in_time} kills came before the end of the job");
}

/// Checks that a member that succeeded has the whole output, and that a failed member has no output
/// and names the victim.
fn judge(world: &Rehearsal, victim: &str, ended: &[Ended], expected: &[u8], what: &str) {
    let good = ended.iter().filter(|member| member.code == Some(0)).count();
    for member in ended {
        let output = world.kept(member.name);
        if member.code == Some(0) {
            let wanted = ["party2", "bob"].contains(&member.name).then_some(expected);
            assert!(output.as_deref() == wanted, "{what}: {} has a wrong output", member.name);
            continue;
        }
        // A member that comes when all others have ended meets nobody.
        if !(member.error().contains("did not come within ") && member.error().contains(&title(victim))) {
            member.blames(victim);
        }
        assert!(output.is_none(), "{what}: {} has an output", member.name);
        // A member can only succeed if the others only lacked the confirmation.
        assert!(good == 0 || member.error().contains("confirmation"), "{what}: {}", member.err);
    }
    // The victim may have sent the last message of all before it was killed. Then its output is
    // complete, too.
    let output = world.kept(victim);
    assert!(
        output.is_none() || good > 0 && output.as_deref() == Some(expected),
        "{what}: its output is there"
    );
    let odd: Vec<_> = world.left().into_iter().filter(|name| !name.ends_with(".out")).collect();
    assert!(odd.is_empty(), "{what}: {odd:?}");
}

#[test]
fn whoever_is_killed_while_others_are_missing() {
    thread::scope(|scope| {
        for victim in ["party1", "party2", "alice"] {
            scope.spawn(move || {
                let world = Rehearsal::new(&sums("add:32", 1));
                // Until then the member may be started again.
                ALL.iter().for_each(|name| world.set(name, JOIN));
                let mut running = world.start_all(&ALL[..4]);
                world.until_said(&ALL[..3], "still waiting for client bob to join");
                let at = ALL.iter().position(|name| *name == victim).unwrap_or(0);
                let begun = Instant::now();
                assert!(running.remove(at).kill().is_none(), "{victim} ended by itself");
                for member in world.end_within(running, begun, LIMIT) {
                    member.blames(victim);
                }
            });
        }
    });
}

/// On the wire, the clients `130` and `bob` have the numbers 129 and 130.
#[test]
fn a_client_called_by_a_number_is_blamed_under_its_own_name() {
    let world = Rehearsal::new(&sums("less:32", 1).replace("alice", "130"));
    let here = ["party0", "party1", "party2", "bob"];
    here.iter().for_each(|name| world.set(name, "connect-timeout = \"8s\""));
    for member in world.end(world.start_all(&here)) {
        member.blames("130");
        assert!(!member.error().contains(": client bob: "), "{}: {}", member.name, member.err);
    }
}

/// A job that takes far longer than its test.
fn endless() -> Rehearsal {
    let world = Rehearsal::new(&sums("mul:32", 4_000_000));
    ["a", "b"].iter().for_each(|input| world.place.put(&format!("r/{input}.bin"), &vec![0; 16_000_000]));
    ["party2", "bob"].iter().for_each(|name| world.keep(name, "sum"));
    world
}

#[test]
fn a_party_that_is_stopped_is_named() {
    let world = endless();
    let mut running = world.start_all(&ALL);
    world.until_said(&ALL, "all members are connected");
    sleep(Duration::from_millis(seed() % 1000));
    let mut stopped = running.remove(1);
    assert!(running.iter_mut().all(Running::lives) && stopped.lives(), "somebody ended too soon");
    let begun = Instant::now();
    stopped.signal("-STOP");
    for member in world.end_within(running, begun, LIMIT) {
        member.blames("party1");
        // Closed links would show a death at once; here the peer was only silent.
        assert!(
            member.err.contains("nothing was heard of it") || member.err.contains("fell silent"),
            "{}",
            member.err
        );
    }
    assert!(stopped.kill().is_none(), "a stopped party ended by itself");
    assert_eq!(world.left(), Vec::<String>::new());
}

#[test]
fn a_party_that_pauses_is_only_slow() {
    let (world, expected) = many_sums();
    let mut running = world.start_all(&ALL);
    world.until_said(&ALL, "all members are connected");
    assert!(running[0].lives(), "it ended too soon");
    running[0].signal("-STOP");
    sleep(Duration::from_secs(3));
    running[0].signal("-CONT");
    world.end(running).iter().for_each(Ended::good);
    assert!(
        world.kept("party2").as_ref() == Some(&expected) && world.kept("bob").as_ref() == Some(&expected)
    );
}

#[test]
fn who_comes_late_is_waited_for() {
    thread::scope(|scope| {
        for late in ["party2", "bob"] {
            scope.spawn(move || {
                let world = Rehearsal::new(&sums("add:32", 1));
                let others: Vec<_> = ALL.iter().copied().filter(|name| *name != late).collect();
                let mut running = world.start_all(&others);
                sleep(Duration::from_secs(20));
                assert!(running.iter_mut().all(Running::lives), "somebody did not wait");
                let waiting = format!("still waiting for {} to join", title(late));
                for name in others {
                    // Clients do not meet each other, so they learn of each other from the parties.
                    assert!(world.said(name).contains(&waiting), "{name}: {}", world.said(name));
                    let connected = world.said(name).contains("all members are connected");
                    assert!(!connected, "{name}: {}", world.said(name));
                }
                running.push(world.start(late));
                for member in world.end(running) {
                    member.good();
                    let learns = ["party2", "bob"].contains(&member.name);
                    assert_eq!(member.out, if learns { "sum=00000000f\n" } else { "" }, "{}", member.name);
                }
            });
        }
    });
}

#[test]
fn a_port_in_use_is_named() {
    let world = Rehearsal::new(&sums("add:32", 1));
    let taken = TcpListener::bind(("127.0.0.1", world.port)).unwrap_or_else(|e| panic!("{e}"));
    let ran = world.place.ran(&Rehearsal::line("party0"));
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    for words in
        ["error: party 0", &format!("127.0.0.1:{}", world.port), "in use", "; ", "choose another port"]
    {
        assert!(ran.err.contains(words), "no {words:?} in: {}", ran.err);
    }
    drop(taken);
    world.end(world.start_all(&ALL)).iter().for_each(Ended::good);
}

#[test]
fn an_expired_certificate_is_named() {
    let world = Rehearsal::new(&sums("add:32", 1));
    let past = |days: u64| SystemTime::now() - Duration::from_secs(days * 86_400);
    let validity = Validity { not_before: past(400), not_after: past(2) };
    let expired = Identity::generate_for("party 1", validity).unwrap_or_else(|e| panic!("{e}"));
    let old = String::from_utf8(world.place.get("r/party1.pem")).unwrap_or_else(|e| panic!("{e}"));
    let (old, _) = Identity::describe(&old).unwrap_or_else(|e| panic!("{e}"));
    world.place.put("r/party1.pem", expired.to_pem().as_bytes());
    for name in ALL {
        world.set(name, JOIN);
        if name != "party1" {
            let pins = [old, expired.pin()].map(|pin| pin.to_string());
            world.edit(&format!("r/{name}.toml"), |text| text.replace(&pins[0], &pins[1]));
        }
    }
    for member in world.end(world.start_all(&ALL)) {
        member.blames("party1");
        // Party 1 keeps itself out, so the others only see that it is missing.
        if member.name == "party1" {
            let dates = validity.to_string();
            for words in ["certificate", &dates, "hushwire keys rotate"] {
                assert!(member.error().contains(words), "no {words:?} in: {}", member.err);
            }
        } else {
            assert!(
                member.err.contains("still waiting for party 1 to join"),
                "{}: {}",
                member.name,
                member.err
            );
        }
    }
}

#[test]
fn swapped_keys_are_named_on_both_sides() {
    let world = Rehearsal::new(&sums("add:32", 1));
    ALL.iter().for_each(|name| world.set(name, JOIN));
    let [one, two] = ["r/party1.pem", "r/party2.pem"].map(|file| world.place.get(file));
    world.place.put("r/party1.pem", &two);
    world.place.put("r/party2.pem", &one);
    let (mut explained, mut relayed) = (vec![], vec![]);
    for member in world.end(world.start_all(&ALL)) {
        assert_eq!(member.code, Some(3), "{}: {}", member.name, member.err);
        assert!(member.out.is_empty());
        let error = member.error().to_owned();
        if error.contains("give every member its own key file") {
            assert!(
                ["party 1", "party 2"].iter().any(|name| error.contains(name)),
                "{}: {error}",
                member.name
            );
            explained.push(member.name);
        } else {
            relayed.push(error);
        }
    }
    // A member that did not meet one of the two itself names one that did, or one of the two.
    for error in relayed {
        let shown = |name: &str| {
            name.strip_prefix("party").map_or(format!("client {name}"), |i| format!("party {i}"))
        };
        let known =
            explained.iter().copied().chain(["party1", "party2"]).any(|name| error.contains(&shown(name)));
        assert!(
            known && (error.contains("was refused during") || error.contains("failed during")),
            "{error}"
        );
    }
    // Both sides of the first meeting; one of the two always takes part.
    let wrong = |name: &&str| ["party1", "party2"].contains(name);
    assert!(explained.len() > 1 && explained.iter().any(wrong), "only {explained:?} say why");
}

/// Runs a command under a limit on the size of files, which has the effect of a full disk.
fn on_a_full_disk(place: &Place, args: &str) -> Command {
    let script = format!("ulimit -f 8; exec {} {args}", env!("CARGO_BIN_EXE_hushwire"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place.at("")).stdin(Stdio::null());
    command
}

#[test]
fn a_full_disk_at_one_member_ends_all() {
    for victim in ["party2", "bob"] {
        let (world, _) = many_sums();
        let mut running = vec![];
        for name in ALL {
            if name == victim {
                running.push(world.spawn(name, on_a_full_disk(&world.place, &Rehearsal::line(name))));
            } else {
                running.push(world.start(name));
            }
        }
        for member in world.end(running) {
            if member.name == victim {
                assert_eq!(member.code, Some(4), "{}", member.err);
                let error = member.error();
                assert!(
                    error.contains(&format!("{victim}.out"))
                        && error.contains("allow larger files (`ulimit -f`)"),
                    "{error}"
                );
            } else {
                member.blames(victim);
            }
        }
        assert_eq!(world.left(), Vec::<String>::new());
    }
}

#[test]
fn a_full_disk_under_a_ciphertext() {
    let place = Place::new();
    place.put("plain", &noise(3, 400_000));
    let command = on_a_full_disk(&place, "local aes-ctr --in plain --out cipher").output();
    let ran = Ran::new(command.unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("cipher") && ran.err.contains("ulimit -f"), "{}", ran.err);
    assert_eq!(place.names(), ["cipher.keys", "plain"]);
}

/// Common rows of both parties that do not fit on the disk, in either format.
#[test]
fn a_full_disk_under_common_rows() {
    let rows: String =
        (0..9000u64).map(|i| format!("{:x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    for name in ["both.csv", "both.parquet"] {
        if name.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let place = Place::new();
        place.put("a.csv", format!("id\n{rows}").as_bytes());
        let args = format!("local psi --a a.csv --b a.csv --key id --to a --transport unix --out {name}");
        let ran = Ran::new(on_a_full_disk(&place, &args).output().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(ran.code, Some(4), "{}", ran.err);
        assert!(ran.err.contains("cannot write") && ran.err.contains("ulimit -f"), "{}", ran.err);
        assert_eq!(place.names(), ["a.csv"]);
    }
}

#[test]
fn fifty_jobs_on_the_same_ports() {
    let job = sums("less:32", 1).replace("client:alice", "party0").replace(", \"client:bob\"", "");
    let world = Rehearsal::new(&job);
    let before = world.place.names();
    for run in 0..50 {
        for member in world.end(world.start_all(&ALL[..3])) {
            assert_eq!(member.code, Some(0), "job {run}, {}: {}", member.name, member.err);
            assert_eq!(member.out, if member.name == "party2" { "sum=1\n" } else { "" }, "job {run}");
        }
    }
    assert_eq!(world.left(), Vec::<String>::new());
    let said = |name: &String| name.ends_with(".stdout") || name.ends_with(".stderr");
    let after: Vec<_> = world.place.names().into_iter().filter(|name| !said(name)).collect();
    assert_eq!(after, before);
}
