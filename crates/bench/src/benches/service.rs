//! `bench service`: three daemons of the service on this machine, measured by a client.
//!
//! | case | what |
//! |---|---|
//! | `comparison` | the time from submitting a job at all parties until its result is in a file |
//! | `jobs` | jobs per second, with `at_once` of them in progress |
//! | `upload` | `data put` of a sealed data set: bytes per second on the disks of all parties |
//! | `idle` | the resident memory of an idle daemon |
//! | `ready` | the time from starting party 0, with `history` jobs in its store, to its readiness |
//!
//! The job is a query on one row: whether one number is less than another. Every result of a case
//! is opened and compared. `comparison` states the time of the bare run of the same query between
//! processes (`hushwire local query`). The limit of `jobs` is one fsync for each job, at this
//! disk's rate around the row. The limit of `upload` is the lower of two rates for the same bytes.
//! One is the disk's rate for synced files. The other is the link's rate over as many TLS
//! connections, to processes that discard the bytes. The daemons and the bare run are the programs
//! `hushwire-service` and `hushwire` in the directory of this one, which contains no part of them.
//! All parties share this machine's cores and disk.

mod group;
mod http;
mod receivers;
#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    fs::File,
    io::Write,
    path::Path,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Measurement, Params, Report, Result, Spread,
    Takes, Unit,
};
use group::{Daemons, Guest};
use receivers::Receivers;

pub use receivers::{RECEIVES, receive};

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "service",
    about: "The service: a job from submit to result, jobs a second, uploads, and daemons at rest",
    examples: "Example:\n  hushwire bench service --only what=jobs,at_once=64 --json service.json",
    takes: Takes::Options,
    cases,
    below: |_, report| below(report),
    ..Bench::EMPTY
}];

/// The longest time for a comparison, in multiples of the bare run.
const TIMES_BARE: f64 = 10.0;
/// The most memory of an idle daemon.
const IDLE: u64 = 60 << 20;
/// The longest time until a party is ready.
const READY_MS: f64 = 2000.0;
/// The target fractions of their limits for jobs and uploads.
const JOBS: f64 = 0.3;
const UPLOAD: f64 = 0.6;
/// The number of jobs before those that are timed.
const WARM: u64 = 32;
/// The number of uploads that are timed.
const UPLOADS: u32 = 5;
/// The number of threads that submit the jobs of a history.
const CLERKS: u64 = 8;

/// The group of daemons, which the first case starts.
type SharedDaemons = Rc<RefCell<Option<Daemons>>>;

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let group = SharedDaemons::default();
    // A row of the core set, of the quick set, or of both.
    let case = |name: &'static str, at_once: u64, history: u64, core: bool, quick: bool| {
        let group = group.clone();
        let params = Params::new().with("what", name).with("at_once", at_once).with("history", history);
        let work = move |ctx: &mut CaseContext<'_>| {
            let mut group = group.borrow_mut();
            let group = match &mut *group {
                Some(group) => group,
                none => none.insert(Daemons::start()?),
            };
            match name {
                "comparison" => comparison(ctx, group),
                "jobs" => jobs(ctx, group, at_once),
                "upload" => upload(ctx, group),
                "idle" => idle(group),
                _ => ready(ctx, group, history),
            }
        };
        Case::new(name, params, work).core(core).quick(quick)
    };
    Ok(vec![
        case("comparison", 1, 0, true, true),
        case("jobs", 1, 0, true, false),
        case("jobs", 8, 0, false, true),
        case("jobs", 64, 0, true, false),
        case("upload", 0, 0, true, false),
        case("idle", 0, 0, true, true),
        case("ready", 0, 100, false, true),
        case("ready", 0, 10_000, true, false),
    ])
}

/// The time from submission to the result, with that of the bare run.
fn comparison(ctx: &mut CaseContext<'_>, group: &mut Daemons) -> Result<BenchRow, BoxError> {
    let spoiled = ctx.spoiled();
    let bare = ctx.timer().try_time_ms(|| group.bare(spoiled))?.median;
    let mut guest = group.guest()?;
    let seconds = ctx.timer().durations(|n| {
        let begun = Instant::now();
        for _ in 0..n {
            let job = guest.submit()?;
            guest.wait(&job)?;
            group.check(&job, spoiled)?;
        }
        Ok::<_, BoxError>(begun.elapsed())
    })?;
    let row = BenchRow::time("time", &seconds)?;
    let times = row.median / bare;
    Ok(row.with("bare_ms", bare).with("times_bare", times).with("asked_times_bare", TIMES_BARE))
}

/// The jobs per second, with the fsyncs per second.
fn jobs(ctx: &mut CaseContext<'_>, group: &mut Daemons, at_once: u64) -> Result<BenchRow, BoxError> {
    let mut guests = (0..at_once.min(CLERKS)).map(|_| group.guest()).collect::<Result<Vec<_>, _>>()?;
    let each = at_once / guests.len() as u64;
    // These jobs leave workers that wait for another run of the job, as in a service that is in
    // use.
    let mut last = String::new();
    for _ in 0..WARM.div_ceil(at_once) {
        last = batch(&mut guests, each)?;
    }
    let before = fsyncs(group.dir())?;
    let used = group.processor_seconds();
    let mut done = 0;
    let seconds = ctx.timer().durations(|n| {
        let begun = Instant::now();
        for _ in 0..n {
            last = batch(&mut guests, each)?;
            done += at_once;
        }
        Ok::<_, BoxError>(begun.elapsed())
    })?;
    let now = group.processor_seconds();
    let after = fsyncs(group.dir())?;
    group.check(&last, ctx.spoiled())?;
    let unit = Unit::per_second("jobs");
    let spread = Spread::of(&unit, &[before, after]).ok_or("nothing was timed")?;
    let limit = ctx.taken("an fsync of 4 KiB for each job", &unit, spread)?;
    let row = BenchRow::rate("rate", unit, at_once as f64, &seconds)?.bound(&limit);
    let [daemons, workers] = [0, 1].map(|n| (1e4 * (now[n] - used[n]) / done as f64).round() / 10.0);
    Ok(row.with("asked_fraction", JOBS).with("daemon_ms_a_job", daemons).with("worker_ms_a_job", workers))
}

/// Every guest submits some jobs, and waits for all of them. Returns one of them.
fn batch(guests: &mut [Guest], each: u64) -> Result<String, BoxError> {
    let some = |guest: &mut Guest| -> Result<String, BoxError> {
        let jobs = (0..each).map(|_| guest.submit()).collect::<Result<Vec<_>, _>>()?;
        jobs.iter().try_for_each(|job| guest.wait(job))?;
        jobs.into_iter().next().ok_or_else(|| "no job".into())
    };
    thread::scope(|scope| {
        let all: Vec<_> = guests.iter_mut().map(|guest| scope.spawn(|| some(guest))).collect();
        let mut last = Err("no guest".into());
        for one in all {
            last = Ok(one.join().map_err(|_| "a client panicked")??);
        }
        last
    })
}

/// The rate of a disk for small consecutive writes that are each synced.
fn fsyncs(dir: &Path) -> Result<f64, BoxError> {
    let mut file = tempfile::tempfile_in(dir)?;
    let (begun, mut n) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(300) {
        file.write_all(&[0x5a; 4096])?;
        file.sync_all()?;
        n += 1;
    }
    Ok(f64::from(n) / begun.elapsed().as_secs_f64())
}

/// A data set, from sealed parts at the client to sealed parts at all parties.
fn upload(ctx: &mut CaseContext<'_>, group: &mut Daemons) -> Result<BenchRow, BoxError> {
    let rows = if ctx.options().quick { 1 << 15 } else { 1 << 21 };
    let receivers = Receivers::start()?;
    let (mut rates, mut bytes, mut used) = (vec![], 0, 0.0);
    let (mut disk, mut link) = (vec![], vec![]);
    for _ in 0..UPLOADS {
        let sealed = group.sealed(rows)?;
        disk.push(written(group.dir(), sealed.bytes)?);
        link.push(receivers.rate(sealed.bytes)?);
        let before = group.processor_seconds()[0];
        rates.push(sealed.bytes as f64 / group.put(&sealed)?.as_secs_f64());
        used += group.processor_seconds()[0] - before;
        link.push(receivers.rate(sealed.bytes)?);
        disk.push(written(group.dir(), sealed.bytes)?);
        bytes = sealed.bytes;
    }
    let measured = Measurement::of(&rates).ok_or("nothing was timed")?;
    let mut limit = |name, rates: &[f64]| {
        let spread = Spread::of(&Unit::BYTES_PER_S, rates).ok_or("nothing was timed")?;
        ctx.taken(name, &Unit::BYTES_PER_S, spread)
    };
    let disk = limit("three files of these bytes, written and synced at once", &disk)?;
    let link = limit("these bytes by TLS to three processes that discard them", &link)?;
    let lower = if link.value < disk.value { &link } else { &disk };
    let row = BenchRow::new("rate", Unit::BYTES_PER_S, measured).bound(lower);
    let [of_disk, of_link] = [&disk, &link].map(|limit| row.median / limit.value);
    let row = row.with("asked_fraction", UPLOAD).with("bytes", bytes);
    let row = row.with("limit_disk", disk.value).with("fraction_disk", of_disk);
    let row = row.with("limit_link", link.value).with("fraction_link", of_link);
    Ok(row.with("daemon_ms_an_upload", (1e3 * used / f64::from(UPLOADS)).round()))
}

/// The rate of a disk for bytes that are written into three files at once, and synced.
fn written(dir: &Path, bytes: u64) -> Result<f64, BoxError> {
    let one = || -> Result<(), BoxError> {
        let mut file: File = tempfile::tempfile_in(dir)?;
        let piece = vec![0x5a; 1 << 20];
        let mut left = bytes / 3;
        while left > 0 {
            let now = left.min(piece.len() as u64);
            file.write_all(&piece[..now as usize])?;
            left -= now;
        }
        Ok(file.sync_all()?)
    };
    let begun = Instant::now();
    thread::scope(|scope| {
        let all: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        all.into_iter().try_for_each(|one| one.join().map_err(|_| "a writer panicked")?)
    })?;
    Ok(bytes as f64 / begun.elapsed().as_secs_f64())
}

/// The memory of daemons that have been idle since their start.
fn idle(group: &mut Daemons) -> Result<BenchRow, BoxError> {
    group.restart()?;
    thread::sleep(Duration::from_secs(1));
    let all = (0..3).map(|party| group.resident(party)).collect::<Result<Vec<f64>, _>>()?;
    let measured = Measurement::of(&all).ok_or("nothing was measured")?;
    Ok(BenchRow::new("memory", Unit::BYTES, measured).with("asked_bytes", IDLE))
}

/// A start with jobs in the history.
fn ready(ctx: &mut CaseContext<'_>, group: &mut Daemons, history: u64) -> Result<BenchRow, BoxError> {
    group.fill(history, CLERKS)?;
    let runs = if ctx.options().quick { 2 } else { 5 };
    let seconds = (0..runs).map(|_| group.start_of_party_0()).collect::<Result<Vec<f64>, _>>()?;
    Ok(BenchRow::time("time", &seconds)?.with("asked_ms", READY_MS).with("jobs", group.history()))
}

/// The targets of the service, compared with the measurements.
fn below(report: &Report) -> String {
    let mut text = String::new();
    for row in &report.rows {
        let more = |key: &str| row.more.get(key).and_then(serde_json::Value::as_f64);
        let share = row.fraction_of_limit.unwrap_or(f64::NAN);
        let (is, asked, met) = match row.case.as_str() {
            "comparison" => {
                let times = more("times_bare").unwrap_or(f64::NAN);
                (format!("{times:.2} bare runs"), format!("at most {TIMES_BARE}"), times <= TIMES_BARE)
            }
            "jobs" => {
                let [daemons, workers] =
                    ["daemon_ms_a_job", "worker_ms_a_job"].map(|key| more(key).unwrap_or(f64::NAN));
                let is = format!(
                    "{share:.3} of an fsync a job; processors: {daemons:.0} ms of daemons, {workers:.0} ms of workers"
                );
                (is, format!("{JOBS} of it"), share >= JOBS)
            }
            "upload" => {
                let [disk, link, daemons] = ["fraction_disk", "fraction_link", "daemon_ms_an_upload"]
                    .map(|key| more(key).unwrap_or(f64::NAN));
                let is = format!(
                    "{disk:.2} of the disk, {link:.2} of the link; processors: {daemons:.0} ms of daemons"
                );
                (is, format!("{UPLOAD} of the lower one"), share >= UPLOAD)
            }
            "idle" => {
                let mib = row.median / f64::from(1 << 20);
                (format!("{mib:.1} MiB"), "at most 60".to_owned(), row.median <= IDLE as f64)
            }
            _ => (format!("{:.0} ms", row.median), format!("at most {READY_MS}"), row.median <= READY_MS),
        };
        let met = if met { "met" } else { "missed" };
        text += &format!("- {} ({}): {is}; asked: {asked}: {met}\n", row.case, row.params);
    }
    format!("\nAsked of the service:\n\n{text}")
}
