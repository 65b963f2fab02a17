//! Checks of this host against the requirements of a run.

use super::{Patient, report::Check};
use hushwire::job::size;
use hushwire_aes::Backend;
use hushwire_machine::NetError;
use hushwire_wire::{Listener, TransportKind, Validity};
use rustix::process::{Resource, getrlimit};
use rustix::system::sysinfo;
use std::{io, time::SystemTime};

/// LOCAL: the number of files that a process has open besides its links.
const OTHER_FILES: u64 = 64;
/// LOCAL: the number of lanes in a run of 16 threads with two batches in flight.
const MANY_LANES: u64 = 33;

/// Checks this host. If the port cannot be used, the other checks are made nevertheless.
pub(super) fn checks(patient: &mut Patient) -> Vec<Check> {
    let mut checks = vec![key(patient), certificate(patient), transport(patient)];
    if let Some(listen) = patient.listen.clone() {
        let bound = Listener::bind(&listen);
        checks.push(port(&listen, bound.as_ref().map(|_| ())));
        patient.listener = bound.ok();
    }
    checks.extend([open_files(patient), machine()]);
    let me = format!("{}, this host", patient.file.me);
    checks.into_iter().map(|check| check.of(&me)).collect()
}

fn key(patient: &Patient) -> Check {
    let path = patient.file.key.display();
    match patient.file.warnings.as_slice() {
        [] => Check::ok("key", format!("{path}, for its owner's eyes only, {}", patient.identity.pin())),
        warnings => {
            let (found, remedies): (Vec<_>, Vec<_>) =
                warnings.iter().map(|w| (w.cause.as_str(), w.remedy.as_str())).unzip();
            Check::warn("key", found.join(", "), remedies.join(", "))
        }
    }
}

/// Checks the dates of a certificate, of this party or of a peer.
pub(super) fn dates(validity: Validity, remedy: &str) -> Check {
    let (now, check) = (SystemTime::now(), "certificate");
    let days = validity.left_at(now).as_secs() / 86_400;
    let found = format!("holds {validity}, {days} days left");
    match () {
        () if !validity.holds_at(now) => Check::fail(
            check,
            format!("holds {validity}, and not today"),
            format!("{remedy}; or set the clock right"),
        ),
        () if validity.expires_soon(now) => Check::warn(check, found, remedy),
        () => Check::ok(check, found).value(days as f64, "days"),
    }
}

fn certificate(patient: &Patient) -> Check {
    let remedy =
        format!("run `hushwire keys rotate {}` and give the others the new pin", patient.file.key.display());
    dates(patient.identity.validity(), &remedy)
}

fn transport(patient: &Patient) -> Check {
    let kind = patient.file.transport;
    match kind {
        TransportKind::TcpTls => Check::ok("transport", "tcp-tls: TLS 1.3, both sides known by their pins"),
        TransportKind::TcpInsecure => Check::warn(
            "transport",
            "tcp-insecure: everybody between the hosts reads and changes everything",
            "use tcp-tls for data that matters; without it a run needs --allow-insecure",
        ),
        TransportKind::Shm => Check::ok(
            "transport",
            "shm: processes of one user on this host; the rates are of the sockets that set it up",
        ),
        local => {
            Check::ok("transport", format!("{local}: processes of one user on this host, who need no pins"))
        }
    }
}

fn port(listen: &str, bound: Result<(), &NetError>) -> Check {
    match bound {
        Ok(()) => Check::ok("port", format!("{listen} can be had")),
        Err(NetError::Listen { source, .. }) if source.kind() == io::ErrorKind::AddrInUse => Check::warn(
            "port",
            format!("{listen} is held by another process, so that peers could not be answered here"),
            "end the run or the doctor that holds it (`ss -ltnp` names it) to be measured by the others",
        ),
        Err(e) => Check::fail("port", e.cause(), e.remedy()),
    }
}

fn open_files(patient: &Patient) -> Check {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let links = 2 * patient.file.peers.len().max(1) as u64;
    // One lane is for the liveness of the session.
    let lanes = (limit.saturating_sub(OTHER_FILES) / links).saturating_sub(1).min(u64::from(u16::MAX) - 1);
    let found = format!("{limit} may be open: room for {lanes} lanes with each peer");
    if lanes < MANY_LANES {
        let remedy = "raise the hard limit (`ulimit -Hn`, LimitNOFILE= of systemd), or run few threads";
        return Check::warn("open files", found, remedy);
    }
    Check::ok("open files", found).value(limit as f64, "files")
}

/// The CPU's name, or its architecture if the kernel gives no name.
fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let model = fields.into_iter().find(|(key, _)| key.trim() == "model name");
    model.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned()
}

fn machine() -> Check {
    let tier = Backend::best().tier().name();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = sysinfo();
    let memory = size::show(memory.totalram.saturating_mul(u64::from(memory.mem_unit)));
    let found = format!("{cores} cores, {memory}, AES with {tier}, {}", cpu_model());
    if tier == "portable" {
        let remedy = "use a CPU with AES instructions, or let the virtual machine see them";
        return Check::warn("machine", found, remedy);
    }
    Check::ok("machine", found).value(cores as f64, "cores")
}
