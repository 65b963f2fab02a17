//! A locked store, a full disk, a rotated key, and a store of an older release.

use crate::{
    rig::{Rig, logs},
    support::{LONG, fails, told, until, word},
};
use rustix::process::Signal;
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

fn committed(rig: &Rig) {
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed", "{seen:#?}");
}

/// Another process holds the lock of a party's store for a while.
fn locked_for(seconds: u64) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    let other = rig.store(1);
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let begun = Instant::now();
    let freed = std::thread::scope(|scope| {
        let freed = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(seconds));
            begun.elapsed()
        });
        let (key, body) = (Rig::fresh_key(), rig.job());
        // The answer is late, or tells what is wrong and that the request can be repeated.
        until(&rig, "the job is taken", LONG, || {
            if freed.is_finished() {
                let _ = other.execute_batch("ROLLBACK");
            }
            let taken = (0..3).all(|party| {
                let Some(answer) = rig.submit_to(party, &key, &body) else { return false };
                if !answer.status.is_success() {
                    assert_eq!(answer.status.as_u16(), 503);
                    assert!(word(&answer.json()["cause"]).contains("locked"));
                }
                answer.status.is_success()
            });
            taken && freed.is_finished()
        });
        freed.join().expect("no panic")
    });
    let _ = other.execute_batch("ROLLBACK");
    assert!(freed >= Duration::from_secs(seconds));
    committed(&rig);
    rig.restart_and_compare_blobs();
}

#[test]
#[ignore = "it waits until the store gives up: run by --full"]
fn a_locked_store_says_so_and_goes_on() {
    locked_for(8);
}

#[test]
fn a_disk_that_is_full_fails_jobs_by_name_and_nothing_else() {
    let mut rig = Rig::up().apart();
    rig.all_up();
    rig.kill(1);
    rig.start(1, "blob.fsync=full");
    rig.answers(1);
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "failed");
    for view in &seen {
        let cause = &view["cause"];
        assert_eq!(cause["who"], "party 1", "{view:#}");
        assert!(word(&cause["cause"]).contains("space"), "{view:#}");
    }
    // Once there is room, the party works again.
    rig.kill(1);
    rig.start(1, "");
    rig.answers(1);
    committed(&rig);
    rig.restart_and_compare_blobs();
}

/// A file system of its own is filled to the last byte.
#[test]
#[ignore = "it mounts a file system: run by --full"]
fn a_file_system_that_is_full_loses_nothing() {
    let mut rig = Rig::up().apart();
    let small = rig.dir.path().join("small");
    std::fs::create_dir(&small).expect("room");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(&small).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    struct Mounted<'p>(&'p Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
        }
    }
    let mounted = Mounted(&small);
    let moved = Command::new("sh")
        .arg("-c")
        .arg("mv party1.db* party1.blobs small/")
        .current_dir(rig.dir.path())
        .status();
    assert!(moved.is_ok_and(|status| status.success()));
    rig.edit_config(1, |text| {
        text.replace("\"party1.db\"", "\"small/party1.db\"")
            .replace("\"party1.blobs\"", "\"small/party1.blobs\"")
    });
    rig.all_up();
    let job = rig.submit(&Rig::fresh_key());
    rig.wait(&job, LONG);
    // No byte is free now.
    let mut fill = Command::new("sh");
    fill.arg("-c").arg("cat /dev/zero > small/fill").current_dir(rig.dir.path());
    assert!(!fill.stderr(std::process::Stdio::null()).status().expect("a shell").success());
    let (key, body) = (Rig::fresh_key(), rig.job());
    let refused = rig.submit_to(1, &key, &body).expect("an answer");
    assert_eq!(refused.status.as_u16(), 507, "{}", String::from_utf8_lossy(&refused.bytes));
    std::fs::remove_file(small.join("fill")).expect("it is ours");
    let job = rig.submit(&key);
    let seen = rig.wait(&job, LONG);
    let all: Vec<_> = seen.iter().map(|view| word(&view["state"])).collect();
    assert_eq!(all, ["committed"; 3], "{}", logs(rig.dir.path()));
    let mut party = rig.parties[1].take().expect("it runs");
    party.signal(Signal::TERM);
    assert!(party.ends_within(Duration::from_secs(15)));
    drop(mounted);
}

/// Party 0's key is rotated while jobs run. For a while the others know two of its pins.
#[test]
fn a_key_is_rotated_with_two_pins_known() {
    let mut rig = Rig::up().apart();
    let dir = rig.dir.path().to_path_buf();
    let old = word(&rig.up["parties"][0]["pin"]).to_owned();
    let new = hushwire_wire::Identity::generate("party0").expect("a key");
    let pin = new.pin().to_string();
    let line = format!("pin = \"{old}\"");
    for party in [1, 2] {
        rig.edit_config(party, |text| text.replace(&line, &format!("{line}\nnext-pin = \"{pin}\"")));
    }
    rig.all_up();
    committed(&rig);
    // Party 0 uses the new key, and both pins are known.
    rig.kill(0);
    std::fs::write(dir.join("party0.pem"), new.to_pem().as_bytes()).expect("room");
    rig.start(0, "");
    rig.know_pin(0, &pin);
    rig.answers(0);
    committed(&rig);
    // The old pin is forgotten.
    for party in [1, 2] {
        rig.edit_config(party, |text| {
            text.replace(&format!("{line}\nnext-pin = \"{pin}\""), &format!("pin = \"{pin}\""))
        });
        rig.kill(party);
        rig.start(party, "");
        rig.answers(party);
    }
    committed(&rig);
    // Nobody accepts a key that was not announced.
    let stranger = hushwire_wire::Identity::generate("party0").expect("a key");
    rig.kill(0);
    std::fs::write(dir.join("party0.pem"), stranger.to_pem().as_bytes()).expect("room");
    rig.start(0, "");
    rig.know_pin(0, &stranger.pin().to_string());
    rig.answers(0);
    until(&rig, "no party is up for it", LONG, || {
        let ready = rig.ask(0, "GET", "/readyz", "", &serde_json::Value::Null);
        ready.status.as_u16() == 503
    });
    let job = rig.submit(&Rig::fresh_key());
    until(&rig, "it waits for the others", LONG, || {
        let view = rig.look(0, &job).unwrap_or_default();
        view["waits"].as_str().is_some_and(|waits| waits.contains("waits for party"))
    });
    let runs = "SELECT count(*) FROM runs WHERE job = ?1";
    let n: i64 = rig.store(0).query_row(runs, [&job], |row| row.get(0)).expect("a row");
    assert_eq!(n, 0);
}

/// Kills during the copy or a step of a migration leave the old schema or the new one.
#[test]
fn kills_during_a_migration_leave_one_schema_or_the_other() {
    let mut rig = Rig::up().apart();
    let old = "DROP INDEX runs_counted; DROP INDEX jobs_of_tenant_by_state; \
               CREATE INDEX runs_by_digest ON runs(digest, at); ALTER TABLE peers DROP COLUMN statement; \
               DROP TABLE small_results; CREATE INDEX results_by_blob ON results(blob); DROP INDEX attempts_open; \
               CREATE INDEX attempts_open ON attempts(state) WHERE state IN ('reserved', 'started', 'prepared'); \
               PRAGMA user_version = 1";
    rig.store(1).execute_batch(old).expect("the first schema");
    let schema = |rig: &Rig| -> i64 {
        rig.store(1).query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a number")
    };
    for point in ["migrate.copy=kill", "migrate.step=kill", "migrate.step=enospc"] {
        rig.start(1, point);
        let party = rig.parties[1].as_mut().expect("it was started");
        assert!(party.ends_within(Duration::from_secs(20)), "{point}");
        rig.parties[1] = None;
        assert_eq!(schema(&rig), 1, "{point}: {}", logs(rig.dir.path()));
    }
    rig.all_up();
    assert!(schema(&rig) >= 2);
    let copy = rusqlite::Connection::open(rig.dir.path().join("party1.db.schema1")).expect("a copy");
    let found: String = copy.query_row("PRAGMA quick_check", [], |row| row.get(0)).expect("a row");
    assert_eq!(found, "ok");
    committed(&rig);
    let checks = told(&rig, "doctor --config party1.toml");
    assert!(checks.as_array().is_some_and(|all| all.iter().all(|check| check["ok"] == true)), "{checks}");
    // A release that knows fewer schemas does not touch the store.
    rig.kill(1);
    rig.store(1).execute_batch("PRAGMA user_version = 99").expect("a number");
    let error = fails(&rig, "serve --config party1.toml");
    assert!(error.contains("schema 99"), "{error}");
}
