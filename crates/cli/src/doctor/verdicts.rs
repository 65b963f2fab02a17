//! The causes of errors in the check of a peer, and their remedies.

use super::{Patient, report::Check};
use hushwire_machine::{NetError, Presented};
use hushwire_wire::{PeerConfig, resolve};
use std::{io, time::Duration};

/// The checks of a peer that could not be reached or measured: how far the attempt came, and why it
/// ended.
pub(super) fn explain(patient: &Patient, peer: &PeerConfig, address: &str, e: &NetError) -> Vec<Check> {
    let fault = patient.named(e);
    let (cause, remedy) = (fault.cause(), fault.remedy());
    let reached = || Check::ok("reachable", "somebody answers");
    match e {
        NetError::Io { source, step, .. } if step == "connect" => {
            vec![unreachable(address, source, patient.wait)]
        }
        NetError::Connect { cause, .. } => {
            vec![Check::fail(
                "reachable",
                format!("{address}: {}", cause.written()),
                "see that the peer runs and that the address is right",
            )]
        }
        NetError::Io { source, .. } if source.kind() == io::ErrorKind::TimedOut => vec![Check::fail(
            "reachable",
            format!("{address} takes connections and says nothing"),
            "it may be in the middle of a run: look again after it, or see what listens there",
        )],
        NetError::UnknownPeer { presented, .. } => {
            let shown = match presented {
                Presented::Pin(pin) => pin.clone(),
                Presented::Other(text) => text.written(),
            };
            vec![reached(), wrong_pin(patient, peer, &shown)]
        }
        NetError::Expired { .. } => vec![reached(), Check::fail("certificate", cause, remedy)],
        NetError::HandshakeMismatch { field: "wire version", ours, theirs, .. } => vec![
            reached(),
            Check::fail(
                "version",
                format!("it speaks wire version {}, we speak {}", theirs.written(), ours.written()),
                "install the same release on both hosts",
            ),
        ],
        NetError::HandshakeMismatch { .. } => {
            vec![
                reached(),
                Check::fail("version", cause, "give both members the right numbers and one transport"),
            ]
        }
        NetError::Unlisted { .. } => vec![
            reached(),
            Check::fail(
                "pin",
                format!("it refuses our certificate, {}", patient.identity.pin()),
                format!("put pin = \"{}\" for {} into its file", patient.identity.pin(), patient.file.me),
            ),
        ],
        NetError::Closed { .. } => vec![Check::fail(
            "reachable",
            format!("{address} closes connections before a word"),
            "see that a doctor or a party of the same transport listens there",
        )],
        _ => vec![reached(), Check::fail("version", cause, remedy)],
    }
}

/// The address belongs to another host, or to a host with another key.
pub(super) fn wrong_pin(patient: &Patient, peer: &PeerConfig, shown: &str) -> Check {
    let file = patient.config.display();
    Check::fail(
        "pin",
        format!("it shows {shown}, and {file} lists {}", peer.pin),
        format!(
            "ask there for what `hushwire keys pin` prints, over another channel; if it is the first, correct \
             `pin` in {file}, else somebody else answers at this address"
        ),
    )
}

/// The check of an address that waiting does not mend, if it is one. The lookup of its name takes
/// at most the time `wait`.
pub(super) fn unresolved(address: &str, wait: Duration) -> Option<Check> {
    if address.starts_with("unix:") {
        return None;
    }
    let cause = match resolve(address, wait) {
        Ok(found) if !found.is_empty() => return None,
        Ok(_) => "the name has no address".to_owned(),
        Err(e) => e.to_string(),
    };
    let remedy = "correct `address` in this file, or ask your name server's keeper";
    Some(Check::fail("reachable", format!("{address} does not resolve: {cause}"), remedy))
}

fn unreachable(address: &str, source: &io::Error, waited: Duration) -> Check {
    let (found, remedy) = match source.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => (
            "nobody listens there",
            "start `hushwire doctor` there, or the party; if one runs, compare its `listen` with this address",
        ),
        io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            ("nothing comes back", "see that the host is up, its address right, and no firewall between")
        }
        _ => ("it cannot be dialled", "see the network between the hosts"),
    };
    Check::fail("reachable", format!("{address}: {found} within {waited:?} ({source})"), remedy)
}
