//! The table of faults: every protocol × every member × every fault, each in a run of real
//! processes.
//!
//! A cell asserts that each surviving member ends in time, with the right exit code and the whole
//! text of its error (`fault_table/texts.rs`). It also asserts that no partial file remains on
//! disk, and that no process remains.
//!
//! `Cell::without` has the cells that cannot exist, with the reason. For example, a supervisor
//! starts the processes of `local psi` and `local aes-ctr`, and writes the result. So these
//! processes have no keys, addresses or outputs of their own.
//!
//! The ordinary run stops a member for longer than the liveness limit of 8 s. It has each fault
//! once for psi and aes-ctr as jobs, and a pause once for each protocol. With `--ignored` it runs
//! every cell, a pause of a minute, and kills at several moments.
//! `HUSHWIRE_FAULTS=rep3/party1/kill` runs the cells whose name contains this text.
//! `HUSHWIRE_FAULTS_PRINT=1` prints the output of all members.

mod alone;
mod cell;
mod inject;
mod pattern;
mod texts;
mod world;

use crate::rehearsal::{Ended, Rehearsal, sums, title};
use cell::{Cell, Fault, Protocol};
use pattern::matches;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
use world::World;

/// The number of runs at a time. They mostly wait.
const WORKERS: usize = 16;

/// The time of a stop: longer than the liveness limit, and short enough for the ordinary run.
const FROZEN: Duration = Duration::from_secs(12);

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs cells, the longest first, and reports all failures.
fn run(mut cells: Vec<Cell>) {
    if let Ok(wanted) = std::env::var("HUSHWIRE_FAULTS") {
        cells.retain(|cell| cell.to_string().contains(&wanted));
    }
    assert!(!cells.is_empty(), "no cell has such a name");
    if !world::can_fill_a_disk() {
        eprintln!("skipped: full disks, since this host lets nobody mount one (unshare, mount)");
        cells.retain(|cell| cell.fault != Fault::FullDisk);
    }
    cells.sort_by_key(|cell| cell.fault.waits());
    let (queue, failed) = (Mutex::new(cells), Mutex::new(vec![]));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(cell) = lock(&queue).pop() else { return };
                    if catch_unwind(AssertUnwindSafe(|| cell.run())).is_err() {
                        lock(&failed).push(cell.to_string());
                    }
                }
            });
        }
    });
    let failed = lock(&failed);
    assert!(failed.is_empty(), "{} cells failed, as said above: {}", failed.len(), failed.join(", "));
}

/// Returns every cell that can exist, with one moment for each.
fn all(frozen: Duration) -> Vec<Cell> {
    let cells = Protocol::ALL.into_iter().flat_map(|protocol| {
        let faults = |member| Fault::all(frozen).into_iter().map(move |fault| (member, fault));
        protocol.members().iter().flat_map(move |member| faults(*member)).map(move |(member, fault)| Cell {
            protocol,
            member,
            fault,
            after: Duration::ZERO,
        })
    });
    cells.filter(|cell| cell.without().is_none()).collect()
}

#[test]
fn every_protocol_member_and_fault() {
    run(all(FROZEN).into_iter().filter(Cell::is_ordinary).collect());
}

#[test]
#[ignore = "takes minutes: scripts/test --full"]
fn every_cell_for_a_minute_and_at_more_moments() {
    run(all(Duration::from_secs(60)));
    let moments = [50, 300, 1000].map(Duration::from_millis);
    let kills = |cell: &Cell| cell.fault == Fault::Kill;
    let later = |after| all(FROZEN).into_iter().filter(kills).map(move |cell| Cell { after, ..cell });
    run(moments.into_iter().flat_map(later).collect());
}

/// Checks that one whole line of an error matches a pattern.
fn assert_says(member: &Ended, code: i32, patterns: &[&str]) {
    let same = patterns.iter().any(|pattern| matches(pattern, member.error()));
    assert!(same && member.code == Some(code), "{} ends with {:?}: {}", member.name, member.code, member.err);
}

#[test]
fn a_death_deep_in_yao_is_found_where_it_was() {
    let cell = Cell { protocol: Protocol::Yao, member: "party1", fault: Fault::Kill, after: Duration::ZERO };
    for victim in ["party0", "party1"] {
        let world = World::new(cell, 1);
        let start = |name| {
            let command = world.files.place.hushwire(&format!("{} -vv", Rehearsal::line(name)));
            world.files.spawn(name, command)
        };
        let mut running: Vec<_> = cell.protocol.members().iter().map(|name| start(*name)).collect();
        // Both parties have finished a batch, and each thread computes another one.
        world.files.until_said(cell.protocol.members(), "computing done=");
        let at = running.iter().position(|member| member.name == victim).unwrap_or(0);
        let killed = running.remove(at);
        let begun = Instant::now();
        assert!(killed.kill().is_none(), "it was done too soon");
        for member in world.files.end_within(running, begun, Duration::from_mins(1)) {
            let died = |step| {
                format!(
                    "error: {} failed during computing batch {{n}} of {{n}}: {}: died during {step}: its links closed \
                     and it said no goodbye; see its own log and its host, then start again",
                    title(member.name),
                    title(victim)
                )
            };
            // Tables that were sent may still be in the link while the garbler waits for the result
            // of their evaluation.
            let steps = [
                "OT extension",
                "evaluation of garbled tables",
                "garbled tables",
                "Yao outputs of the garbler",
            ];
            let steps = steps.map(died);
            assert_says(&member, 3, &steps.each_ref().map(String::as_str));
        }
    }
}

#[test]
fn all_who_are_missing_are_named() {
    let remedy =
        "start the members that do not run, and see that addresses are right and no firewall is between";
    let all_but = |here: &'static [&'static str]| {
        let world = Rehearsal::new(&sums("add:32", 1));
        here.iter().for_each(|name| world.set(name, "connect-timeout = \"8s\""));
        world.end(world.start_all(here))
    };
    let one = || {
        for member in all_but(&["party0"]) {
            let text = format!(
                "error: party 0 failed during connect: party 1, party 2, client alice and client bob: did not come within 8s \
                 during connect: party 1 at 127.0.0.1:{{port}}: Connection refused (os error 111), party 2 at \
                 127.0.0.1:{{port}}: Connection refused (os error 111), no greeting of client alice came to our own 127.0.0.1:{{port}}, \
                 no greeting of client bob came to our own 127.0.0.1:{{port}}; {remedy}"
            );
            assert_says(&member, 3, &[&text]);
        }
    };
    // If all parties are present, only clients can be missing.
    let three = || {
        for member in all_but(&["party0", "party1", "party2"]) {
            let title = title(member.name);
            let own = format!(
                "error: {title} failed during connect: client alice and client bob: did not come within 8s during connect: \
                 no greeting of client alice came to our own 127.0.0.1:{{port}}, no greeting of client bob came to our own 127.0.0.1:{{port}}; \
                 {remedy}"
            );
            let heard = format!(
                "error: {title} failed during connect: client alice: did not come during connect, as party {{n}} says; start \
                 it, and see that its address is right and no firewall is between"
            );
            assert_says(&member, 3, &[&own, &heard]);
        }
    };
    thread::scope(|scope| {
        scope.spawn(one);
        scope.spawn(three);
    });
}

#[test]
fn too_few_open_files_are_called_so() {
    let world = Rehearsal::new(&sums("add:32", 1));
    let line = Rehearsal::line("party0");
    let mut command = Command::new("sh");
    let limited = format!("ulimit -n 16; exec {} {line}", env!("CARGO_BIN_EXE_hushwire"));
    command.args(["-c", &limited]).current_dir(world.place.at(""));
    let mut running = world.start_all(&["party1", "party2", "alice", "bob"]);
    running.push(world.spawn("party0", command));
    let begun = Instant::now();
    let short = |member: &Ended| member.name == "party0";
    let ended = world.end_within(running, begun, Duration::from_mins(1));
    let member = ended.iter().find(|member| short(member)).unwrap_or_else(|| panic!("it did not end"));
    let text = "error: party 0 failed during connect: this process has too many open files during connect: Too many open files \
                (os error 24); allow it more (`ulimit -n` in the shell that starts it)";
    assert_says(member, 3, &[text]);
}

#[test]
fn cells_that_cannot_exist_say_why() {
    let mut empty = 0;
    for protocol in Protocol::ALL {
        for member in protocol.members() {
            for fault in Fault::all(FROZEN) {
                let cell = Cell { protocol, member, fault, after: Duration::ZERO };
                let Some(why) = cell.without() else { continue };
                eprintln!("{cell}: {why}");
                assert!(protocol.is_supervised(), "{cell}");
                empty += 1;
            }
        }
    }
    // Members with a process of their own have every cell. Supervised members have the faults of
    // work and of outputs.
    let (supervisors, parties) = (2, 5);
    assert_eq!(empty, supervisors * 3 + parties * 7);
}
