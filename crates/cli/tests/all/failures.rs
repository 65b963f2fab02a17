//! Errors name their cause, no partial files remain, and no secret is shown.

use crate::common::{KEY, Place, Ran, children, cmdline, noise, runs};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{
    fs::{self, File},
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// The time for which a test waits on a busy host. Most steps take a fraction of a second.
const LONG: Duration = Duration::from_secs(30);

/// Starts a run that would take long, on a sparse file of 2 GiB.
fn long_run(place: &Place, options: &str) -> (Child, Vec<u32>) {
    let sparse = File::create(place.at("big")).and_then(|file| file.set_len(2 << 30));
    sparse.unwrap_or_else(|e| panic!("{e}"));
    let mut command = place.command(&format!("--in big {options}"));
    command.stderr(Stdio::piped()).env("HUSHWIRE_TEST", "kept");
    let mut run = command.spawn().unwrap_or_else(|e| panic!("{e}"));
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        let mut pids = children(run.id());
        pids.sort_by_key(|pid| cmdline(*pid));
        if pids.len() == 3 && pids.iter().all(|pid| cmdline(*pid).contains("__member")) {
            return (run, pids);
        }
        sleep(Duration::from_millis(5));
    }
    let ended = run.kill().and_then(|()| run.wait());
    panic!("three parties did not start within {LONG:?}: {ended:?}");
}

fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Waits until processes have ended.
fn all_end(pids: &[u32]) {
    let begun = Instant::now();
    while pids.iter().any(|pid| runs(*pid)) {
        assert!(
            begun.elapsed() < LONG,
            "still there: {:?}",
            pids.iter().map(|p| cmdline(*p)).collect::<Vec<_>>()
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_party_that_is_killed_ends_everything() {
    for (after, options) in [(0, ""), (1500, "--transport tcp-insecure --threads 2")] {
        let place = Place::new();
        let (run, pids) = long_run(&place, options);
        sleep(Duration::from_millis(after));
        let begun = Instant::now();
        kill(pids[1], "-KILL");
        let ran = Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert!(begun.elapsed() < LONG, "took {:?}", begun.elapsed());
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("party 1") && ran.err.contains("signal 9"), "{}", ran.err);
        all_end(&pids);
        let names: Vec<_> = place.names().into_iter().filter(|name| name != "big").collect();
        assert!(names.is_empty() || names == ["big.enc.keys"], "{names:?}");
    }
}

#[test]
fn parties_end_with_the_owner() {
    let place = Place::new();
    let (mut run, pids) = long_run(&place, "");
    let begun = Instant::now();
    while !place.at("big.enc.keys").exists() {
        assert!(begun.elapsed() < LONG, "no shares of a key are kept");
        sleep(Duration::from_millis(10));
    }
    kill(run.id(), "-KILL");
    assert!(run.wait().is_ok());
    all_end(&pids);
    assert_eq!(place.names(), ["big", "big.enc.keys"]);
}

#[test]
fn a_key_reaches_no_child_by_argument_or_environment() {
    let place = Place::new();
    place.put("key", KEY.as_bytes());
    let (mut run, pids) = long_run(&place, "--key-file key --iv-hex 00000000000000000000000000000000");
    sleep(Duration::from_millis(200));
    for pid in &pids {
        let environ = match fs::read(format!("/proc/{pid}/environ")) {
            Ok(environ) => String::from_utf8_lossy(&environ).into_owned(),
            // Only root may read the environment of a process without dumps.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => "HUSHWIRE_TEST=kept".to_owned(),
            Err(e) => panic!("{e}"),
        };
        assert!(environ.contains("HUSHWIRE_TEST=kept"), "the environment could not be read");
        for shown in [cmdline(*pid), environ] {
            assert!(!shown.to_lowercase().contains(KEY) && !shown.contains("PRIVATE KEY"), "{shown}");
        }
    }
    assert!(run.kill().and_then(|()| run.wait()).is_ok());
    all_end(&pids);
}

/// Neither the owner's process nor a party's process leaves its memory on disk, however it ends.
#[test]
fn no_process_dumps_its_memory() {
    let most = getrlimit(Resource::Core).maximum;
    let raised = setrlimit(Resource::Core, Rlimit { current: most, maximum: most });
    assert!(raised.is_ok());
    if most == Some(0) {
        eprintln!("NOT CHECKED: no process here may dump its memory");
    }
    let place = Place::new();
    let (mut run, pids) = long_run(&place, "");
    for pid in pids.iter().copied().chain([run.id()]) {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_else(|e| panic!("{e}"));
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap_or_default();
        assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    }
    kill(run.id(), "-ABRT");
    let status = run.wait().unwrap_or_else(|e| panic!("{e}"));
    assert!(status.signal() == Some(6) && !status.core_dumped(), "{status}");
    all_end(&pids);
}

#[test]
fn an_input_that_changes_is_noticed() {
    let place = Place::new();
    let (run, pids) = long_run(&place, "");
    let grow = File::options().write(true).open(place.at("big")).and_then(|file| file.set_len(1 << 20));
    grow.unwrap_or_else(|e| panic!("{e}"));
    let ran = Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("became shorter") && ran.err.contains("big"), "{}", ran.err);
    all_end(&pids);
    assert!(!place.at("big.enc").exists());
}

#[test]
fn a_file_is_the_same_by_another_name() {
    let place = Place::new();
    place.put("a", &noise(1, 20));
    fs::hard_link(place.at("a"), place.at("same")).unwrap_or_else(|e| panic!("{e}"));
    place.bad("--in a --out same", 5, &["overwrite"]);
    assert_eq!(place.get("a"), noise(1, 20));
    fs::create_dir(place.at("mine")).unwrap_or_else(|e| panic!("{e}"));
    place.bad("--in a --out no/such --key-shares mine", 4, &["no/such"]);
    let left = fs::read_dir(place.at("mine")).map(Iterator::count);
    assert_eq!(left.ok(), Some(0), "one that was there stays, and is as it was");
}

#[test]
fn an_unknown_backend_in_the_environment_is_refused() {
    let place = Place::new();
    place.put("a", &noise(1, 20));
    let environment = place.command("--in a").env("HUSHWIRE_AES_BACKEND", "none").output();
    assert_eq!(environment.ok().and_then(|output| output.status.code()), Some(2));
}
