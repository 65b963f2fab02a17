//! Faults among real processes that the table of faults does not have: kills at random moments,
//! late members, swapped keys, limits on the size of files. No member waits for ever, all members
//! name the one with the fault, and no partial output looks complete.

use crate::common::{Place, Ran, noise};
use crate::rehearsal::{ALL, Ended, Rehearsal, Running, sums, title};
use std::{
    process::{Command, Stdio},
    thread::{self, sleep},
    time::{Duration, Instant, SystemTime},
};

/// The longest time from a kill until all members have ended. It includes the wait for missing
/// members, and slack for a busy host.
const LIMIT: Duration = Duration::from_secs(45);
/// A member that dies before all have met only counts as missing. The others wait this long for it.
const JOIN: &str = "connect-timeout = \"8s\"";
const KILLS: u32 = 8;
const INSTANCES: usize = 1_000_000;

/// Returns a number that differs from run to run. It is printed, so that a failure shows it.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = std::env::var("HUSHWIRE_FAULTS_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or(now.as_nanos() as u64 >> 8);
    eprintln!("HUSHWIRE_FAULTS_SEED={seed}");
    seed
}

/// Adds numbers of alice and party 1. Party 2 and bob learn the sums. Returns the files and the
/// expected sums.
fn many_sums(instances: usize) -> (Rehearsal, Vec<u8>) {
    let world = Rehearsal::new(&sums("add:32", instances));
    let [a, b] = [1, 2].map(|seed| noise(seed, 4 * instances));
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
    let (world, expected) = many_sums(INSTANCES);
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
        // The kills are spread over parts of the time. The victims take turns, and each run
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
            // The victim had finished already, and so had the others.
            assert!(status.success(), "{what}: {status}");
            ended.iter().for_each(Ended::good);
            // A run never takes longer than this, whatever delayed the runs that were timed.
            total = total.min(moment);
        }
        in_time += usize::from(ended.iter().any(|member| member.code != Some(0)));
        judge(&world, victim, &ended, &expected, &what);
    }
    assert!(in_time >= 3, "only {in_time} kills came before the end of the job");
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

#[test]
fn who_comes_late_is_waited_for() {
    thread::scope(|scope| {
        for late in ["party2", "bob"] {
            scope.spawn(move || {
                let world = Rehearsal::new(&sums("add:32", 1));
                let others: Vec<_> = ALL.iter().copied().filter(|name| *name != late).collect();
                let mut running = world.start_all(&others);
                // Clients do not meet each other, so they learn of each other from the parties.
                world.until_said(&others, &format!("still waiting for {} to join", title(late)));
                assert!(running.iter_mut().all(Running::lives), "somebody did not wait");
                for name in others {
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
        let (world, _) = many_sums(3000);
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

/// A ciphertext, sums of one process's members, and common rows in either format do not fit.
#[test]
fn a_full_disk_under_a_local_run_leaves_nothing() {
    let place = Place::new();
    place.put("plain", &vec![0; 40_000]);
    let rows: String =
        (0..9000u64).map(|i| format!("{:x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    place.put("a.csv", format!("id\n{rows}").as_bytes());
    let less = "local run --circuit less:32 --instances 10000 --input-file 0=plain --input-file 1=plain";
    let psi = "local psi --a a.csv --b a.csv --key id --to a --transport unix";
    let mut runs = vec![
        ("party 0 cannot write ", format!("{less} --output 0=out")),
        ("cannot write ", format!("{psi} --out both.csv")),
        ("cannot write cipher", "local aes-ctr --in plain --out cipher".to_owned()),
    ];
    if cfg!(feature = "parquet") {
        runs.insert(0, ("cannot write ", format!("{psi} --out both.parquet")));
    }
    for (words, args) in runs {
        let ran = Ran::new(on_a_full_disk(&place, &args).output().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(ran.code, Some(4), "{args}: {}", ran.err);
        assert!(ran.err.contains(words) && ran.err.contains("ulimit -f"), "{args}: {}", ran.err);
        let left: &[&str] =
            if args.contains("cipher") { &["a.csv", "cipher.keys", "plain"] } else { &["a.csv", "plain"] };
        assert_eq!(place.names(), left, "{args}");
    }
}

#[test]
fn ten_jobs_on_the_same_ports() {
    let job = sums("less:32", 1).replace("client:alice", "party0").replace(", \"client:bob\"", "");
    let world = Rehearsal::new(&job);
    let before = world.place.names();
    for run in 0..10 {
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
