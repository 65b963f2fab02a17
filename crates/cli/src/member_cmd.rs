//! `hushwire party` and `hushwire client`: one member of a job, for real.

use crate::{
    control::peak_memory,
    error::Error,
    files::NewFile,
    log,
    run_args::MemberArgs,
    run_report::{self, OfMember},
};
use hushwire_aes::Backend;
use hushwire_garble::Scheme;
use hushwire_job::{ClientFile, Event, Job, Observer, PartyFile, Prepared, Protocol, Seat, run};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Instant};
use tracing::{debug, trace};

/// The tier that was asked for, or the widest.
pub(crate) fn backend(name: Option<&str>) -> Result<Backend, Error> {
    match name {
        Some(name) if !name.is_empty() => Backend::named(name).map_err(|e| Error::Usage(e.to_string())),
        _ => Ok(Backend::best()),
    }
}

/// `hushwire party`
pub(crate) fn party(args: &MemberArgs) -> Result<(), Error> {
    let (backend, job) = (backend(args.aes_backend.as_deref())?, Job::read(&args.job)?);
    let file = PartyFile::read(&args.config)?;
    file.member.warnings.iter().for_each(log::warn);
    let me = file.member.me.clone();
    let prepared = prepared(&job)?;
    let seat = Seat::of_party(file, &args.run, backend).map_err(|e| e.of(&me))?;
    member(args, &prepared, seat)
}

/// `hushwire client`
pub(crate) fn client(args: &MemberArgs) -> Result<(), Error> {
    let (backend, job) = (backend(args.aes_backend.as_deref())?, Job::read(&args.job)?);
    let file = ClientFile::read(&args.config)?;
    file.0.warnings.iter().for_each(log::warn);
    let me = file.0.me.clone();
    let prepared = prepared(&job)?;
    let seat = Seat::of_client(file, &args.run, backend).map_err(|e| e.of(&me))?;
    member(args, &prepared, seat)
}

fn prepared(job: &Job) -> Result<Prepared, Error> {
    let prepared = Prepared::new(job)?;
    prepared.notes.iter().for_each(|note| log::note!("note: {note}"));
    Ok(prepared)
}

/// What a member's `--json` holds.
#[derive(Serialize)]
struct MemberReport {
    command: &'static str,
    version: &'static str,
    circuit: String,
    protocol: Protocol,
    scheme: Option<&'static str>,
    ot: Option<&'static str>,
    instances: u64,
    outputs: BTreeMap<String, String>,
    ands: u64,
    transport: String,
    aes_tier: &'static str,
    #[serde(flatten)]
    measured: OfMember,
}

fn member(args: &MemberArgs, prepared: &Prepared, seat: Seat) -> Result<(), Error> {
    let json = args.json.as_deref().filter(|path| *path != Path::new("-"));
    let json = json.map(|path| NewFile::create(path, 0o666)).transpose()?;
    let (me, transport, tier) = (seat.me.clone(), seat.transport.to_string(), seat.backend.tier().name());
    if transport == "tcp-insecure" {
        log::warn("tcp-insecure has no secrecy and no authentication; it is for measuring");
    }
    let plan = &prepared.plan;
    let others: Vec<_> = plan.members().into_iter().filter(|m| *m != me).map(|m| m.to_string()).collect();
    if let Some(listener) = &seat.listener {
        log::note!("{me} listens on {}", listener.address());
    }
    log::note!("{me} waits for {}", others.join(", "));
    let bar = progress(plan.instances);
    let begun = Instant::now();
    debug!(member = me.key(), transport, tier, circuit = plan.circuit, "joining");
    let outcome = run(prepared, seat, &observer(&bar, begun))?;
    bar.finish_and_clear();
    let digits: BTreeMap<_, _> = outcome.shown.iter().map(|(j, hex)| (j.to_string(), hex.clone())).collect();
    let stats = &outcome.stats;
    debug!(
        bytes_sent = stats.bytes_sent,
        bytes_received = stats.bytes_received,
        rounds = stats.rounds,
        after_seconds = begun.elapsed().as_secs_f64(),
        "confirmed by all"
    );
    log::note!(
        "{me} is done: {} instances of {} in {:.2} s, {} sent",
        plan.instances,
        plan.circuit,
        stats.seconds,
        crate::size::show(stats.bytes_sent)
    );
    let report = MemberReport {
        command: if matches!(me, hushwire_job::Member::Party(_)) { "party" } else { "client" },
        version: env!("CARGO_PKG_VERSION"),
        circuit: plan.circuit.clone(),
        protocol: plan.protocol,
        scheme: plan.scheme.map(Scheme::name),
        ot: plan.ot.map(hushwire_ot::Protocol::name),
        instances: plan.instances,
        outputs: digits,
        ands: prepared.program.ands(),
        transport,
        aes_tier: tier,
        measured: OfMember {
            member: me.key(),
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            rounds: stats.rounds,
            peak_memory_bytes: peak_memory(),
            seconds: stats.seconds,
        },
    };
    let shown = outcome.shown.iter().map(|(j, hex)| format!("{j}={hex}\n")).collect::<String>();
    run_report::deliver(Some(shown.into_bytes()), &report, json, args.json.as_deref())
}

/// A bar for people at a terminal.
pub(crate) fn progress(instances: u64) -> ProgressBar {
    // One instance is done or not.
    if !log::shows_progress() || instances == 1 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(instances);
    let style = "{bar:40} {human_pos}/{human_len} instances, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Tells a person what happens, and with `-v` when.
fn observer(bar: &ProgressBar, begun: Instant) -> Observer {
    let bar = bar.clone();
    Arc::new(move |event| match event {
        Event::Note(note) => bar.suspend(|| log::note!("{note}")),
        Event::Connected => bar.suspend(|| {
            log::note!("all members are connected");
            debug!(after_seconds = begun.elapsed().as_secs_f64(), "joined");
        }),
        Event::Progress(done, of) => {
            bar.set_position(done);
            trace!(done, of, after_seconds = begun.elapsed().as_secs_f64(), "computing");
            if done == of {
                debug!(instances = of, after_seconds = begun.elapsed().as_secs_f64(), "computed");
            }
        }
        _ => {}
    })
}
