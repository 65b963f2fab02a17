//! Power cuts while jobs are submitted.
//!
//! If a process is killed, the system still writes its data to the disk. In these tests the disk
//! has only what was synced; everything else is kept in part, or is zeros or noise. Parties record
//! what was synced (`durable.rs`), and the tests destroy the rest between a kill and a start.
//! ```text
//! store.db-wal   frames up to the last synced commit ‖ sectors at random, to a random length
//! store.db       pages that those frames have: noise, as if their way to the file was cut
//! store.db-shm   gone
//! blobs          those that were synced under their names; the others gone, shorter, or noise
//! ```

use crate::{
    rig::{Rig, logs},
    support::{LONG, Lots, number, run, until},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// The bytes that a disk writes at once or not at all.
const SECTOR: usize = 512;
/// The lengths of the header of SQLite's write-ahead log, and of the header of each frame in it.
const HEAD: usize = 32;
const FRAME_HEAD: usize = 24;

/// Starts a party that records what was synced.
fn start(rig: &mut Rig, party: usize) {
    let record = record(rig, party).to_string_lossy().into_owned();
    // Party 1 keeps all results as blobs. Checkpoints are frequent, so that logs begin anew.
    let small = if party == 1 { "0" } else { "16384" };
    let settings =
        [("HUSHWIRE_SYNCED", &*record), ("HUSHWIRE_CHECKPOINT", "150"), ("HUSHWIRE_SMALL_RESULT", small)];
    rig.start_with(party, "", &settings);
}

fn record(rig: &Rig, party: usize) -> PathBuf {
    rig.dir.path().join(format!("party{party}.synced"))
}

/// The lines of a record that begin with a word. An incomplete last line belongs to a commit that
/// was not told.
fn recorded(rig: &Rig, party: usize, word: &str) -> Vec<String> {
    let text = fs::read_to_string(record(rig, party)).expect("a record");
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
    whole.lines().filter_map(|line| Some(line.strip_prefix(word)?.trim().to_owned())).collect()
}

fn u32_at(bytes: &[u8], at: usize, read: fn([u8; 4]) -> u32) -> Option<u32> {
    Some(read(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Fills each sector with noise or zeros, or keeps it.
fn tear(bytes: &mut [u8], lots: &mut Lots) {
    for sector in bytes.chunks_mut(SECTOR) {
        match lots.below(3) {
            0 => sector.fill(0),
            1 => sector.iter_mut().for_each(|byte| *byte = lots.below(256) as u8),
            _ => {}
        }
    }
}

/// Takes from the store of a killed party what a power cut may take. Returns the numbers of frames
/// that are certainly left, and of the others.
fn cut_store(rig: &Rig, party: usize, lots: &mut Lots) -> (usize, usize) {
    let path = rig.dir.path().join(format!("party{party}.db"));
    let beside = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    let (log, index) = (beside("-wal"), beside("-shm"));
    let (mut wal, shm) = (fs::read(&log).unwrap_or_default(), fs::read(&index).unwrap_or_default());
    let salt = wal.get(16..24).map(hex::encode).unwrap_or_default();
    let last = recorded(rig, party, "log").pop().unwrap_or_default();
    let (synced_salt, frames) = last.split_once(' ').unwrap_or_default();
    let frames = hex::decode(frames).ok().and_then(|frames| u32_at(&frames, 0, u32::from_ne_bytes));
    // If the log has begun anew since, the log before was synced, and so was the file.
    let synced = frames.filter(|_| synced_salt == salt).unwrap_or(0);
    // Frames that a checkpoint is moving to the file were synced in the log before.
    let index_salt = shm.get(32..40).map(hex::encode).unwrap_or_default();
    let on_their_way = u32_at(&shm, 128, u32::from_ne_bytes).filter(|_| index_salt == salt).unwrap_or(0);
    let certain = synced.max(on_their_way) as usize;
    let page = u32_at(&wal, 8, u32::from_be_bytes).unwrap_or(0) as usize;
    let end = (HEAD + certain * (FRAME_HEAD + page)).min(wal.len());
    let uncertain = (wal.len() - end) / (FRAME_HEAD + page).max(1);
    if certain > 0 && page > 0 {
        let mut file = fs::read(&path).expect("a store");
        for frame in wal[HEAD..end].chunks_exact(FRAME_HEAD + page) {
            let number = u32_at(frame, 0, u32::from_be_bytes).unwrap_or(0) as usize;
            if number > 0
                && lots.below(4) == 0
                && let Some(there) = file.get_mut((number - 1) * page..number * page)
            {
                tear(there, lots);
            }
        }
        fs::write(&path, file).expect("room");
    }
    if certain > 0 {
        tear(&mut wal[end..], lots);
        wal.truncate(end + lots.below((wal.len() - end) as u64 + 1) as usize);
    } else {
        // Not even the log's header is certainly there.
        tear(&mut wal, lots);
    }
    fs::write(&log, wal).expect("room");
    let _ = fs::remove_file(&index);
    (certain, uncertain)
}

/// Does the same with the party's blobs. Returns the number of uncertain ones.
fn cut_blobs(rig: &Rig, party: usize, kept: &mut BTreeSet<String>, lots: &mut Lots) -> usize {
    kept.extend(recorded(rig, party, "blob"));
    let mut uncertain = 0;
    for entry in fs::read_dir(rig.blobs(party)).expect("a directory") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if kept.contains(&name) || path.is_dir() {
            continue;
        }
        uncertain += 1;
        let mut bytes = fs::read(&path).expect("ours");
        match lots.below(3) {
            0 => fs::remove_file(&path).expect("ours"),
            1 => {
                bytes.truncate(lots.below(bytes.len() as u64 + 1) as usize);
                fs::write(&path, bytes).expect("room");
            }
            _ => {
                tear(&mut bytes, lots);
                fs::write(&path, bytes).expect("room");
            }
        }
    }
    uncertain
}

/// A job that was sent, and the parties that have answered that they have it.
#[derive(Default)]
struct Told {
    id: String,
    at: BTreeSet<usize>,
    /// Whether party 0 has answered that the job is committed.
    committed: bool,
}

/// Checks that everything that a party has told still holds after a cut.
fn nothing_told_is_lost(rig: &Rig, jobs: &BTreeMap<String, Told>) {
    for told in jobs.values() {
        for party in &told.at {
            let there = rig.look(*party, &told.id);
            let there = there.unwrap_or_else(|| panic!("party {party} lost job {}", told.id));
            if *party == 0 && told.committed {
                let state = there["state"].as_str();
                assert_eq!(state, Some("committed"), "party 0 took a decision back: {}", told.id);
            }
        }
    }
}

/// Sends a job to the parties that have not answered that they have it.
fn send(rig: &Rig, key: &str, told: &mut Told) {
    for party in 0..3 {
        if !told.at.contains(&party)
            && let Some(answer) = rig.submit_to(party, key, &rig.job())
            && answer.status.is_success()
        {
            answer.json()["id"].as_str().expect("a name").clone_into(&mut told.id);
            told.at.insert(party);
        }
    }
    if told.at.contains(&0)
        && !told.committed
        && let Some(view) = rig.look(0, &told.id)
    {
        told.committed = view["state"] == "committed";
    }
}

fn cuts(cuts: u64, seed: u64) {
    eprintln!("{cuts} cuts by the seed {seed}");
    let (mut rig, mut lots) = (Rig::up().apart(), Lots(seed));
    // The sample is certainly on the disk.
    let there = |rig: &Rig, party: usize| -> BTreeSet<String> {
        let entries = fs::read_dir(rig.blobs(party)).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    let mut kept: Vec<BTreeSet<String>> = (0..3).map(|party| there(&rig, party)).collect();
    (0..3).for_each(|party| start(&mut rig, party));
    (0..3).for_each(|party| rig.answers(party));
    let mut jobs: BTreeMap<String, Told> = BTreeMap::new();
    let mut lost = [0; 3];
    for n in 0..cuts {
        // The first cut hits party 0 soon after a decision that it told, while nothing else is
        // running that would sync it.
        let first = n == 0;
        let until = Instant::now() + if first { LONG } else { Duration::from_millis(200 + lots.below(400)) };
        let most = if first { 1 } else { 1 + lots.below(4) as usize };
        let on_commit = first || lots.below(2) == 0;
        while Instant::now() < until {
            let committed =
                |jobs: &BTreeMap<String, Told>| jobs.values().filter(|told| told.committed).count();
            let before = committed(&jobs);
            if jobs.len() - before < most {
                jobs.insert(Rig::fresh_key(), Told::default());
            }
            jobs.iter_mut().filter(|(_, told)| !told.committed).for_each(|(key, told)| send(&rig, key, told));
            if on_commit && committed(&jobs) > before {
                break;
            }
        }
        // A reader may see a commit a moment before it is recorded.
        thread::sleep(Duration::from_millis(20 + lots.below(40)));
        // One host, two, or all of them.
        let hit: Vec<usize> = match lots.below(3) {
            _ if first => vec![0],
            0 => vec![0, 1, 2],
            1 => vec![lots.below(3) as usize],
            _ => vec![0, 1 + lots.below(2) as usize],
        };
        hit.iter().for_each(|party| rig.kill(*party));
        for party in hit {
            let (certain, uncertain) = cut_store(&rig, party, &mut lots);
            let blobs = cut_blobs(&rig, party, &mut kept[party], &mut lots);
            lost = [lost[0] + certain, lost[1] + uncertain, lost[2] + blobs];
            start(&mut rig, party);
            rig.answers(party);
        }
        nothing_told_is_lost(&rig, &jobs);
    }
    let mut ends = BTreeMap::<String, u64>::new();
    until(&rig, "every job has an end", LONG, || {
        jobs.iter_mut().for_each(|(key, told)| send(&rig, key, told));
        jobs.retain(|_, told| {
            let seen: Vec<_> = (0..3).filter_map(|party| rig.look(party, &told.id)).collect();
            let ended =
                |view: &serde_json::Value| matches!(view["state"].as_str(), Some("committed" | "failed"));
            if seen.len() < 3 || !seen.iter().all(ended) {
                return true;
            }
            *ends.entry(rig.one_end(&told.id, &seen)).or_default() += 1;
            false
        });
        jobs.is_empty()
    });
    eprintln!("{lost:?} frames for certain, frames that were not, and blobs that were not: {ends:?}");
    assert!(ends.get("committed") > Some(&0) && lost[0] > 0, "{ends:?} {lost:?}{}", logs(rig.dir.path()));
    rig.restart_and_compare_blobs();
    run(&rig, "audit verify --to auditor.toml");
}

/// A few of the cuts of the test below.
#[test]
fn some_power_cuts_take_nothing_that_was_told() {
    cuts(4, 5);
}

/// `HUSHWIRE_CUTS` is the number of cuts, and `HUSHWIRE_SEED` draws them.
#[test]
#[ignore = "minutes: run by --full"]
fn a_hundred_power_cuts_take_nothing_that_was_told() {
    cuts(number("HUSHWIRE_CUTS", 100), number("HUSHWIRE_SEED", 1));
}
