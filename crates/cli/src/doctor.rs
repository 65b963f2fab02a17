//! `hushwire doctor`: checks this host and every peer before a run.
//!
//! Each doctor dials every peer that has an address, and answers every peer that dials it, so both
//! directions are tried. Peers are checked independently: a peer that is missing does not affect
//! the checks of the others. A party that already waits for a run is not disturbed by a check.

mod own;
mod peers;
mod report;
mod verdicts;

use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file},
    log, out,
};
use clap::Args;
use hushwire::job::{Fault, Member, MemberFile};
use hushwire_fault::{Who, code};
use hushwire_machine::{NetError, PartyId};
use hushwire_wire::{Identity, Listener, PeerConfig, Pin};
use report::{Check, DoctorReport, Verdict};
use std::{path::PathBuf, time::Duration};

pub(crate) const HELP: &str = "\
Examples:
  hushwire doctor --config party0.toml               on every host at about the same time
  hushwire doctor --config party0.toml --explain     why each check matters
  hushwire doctor --config party0.toml --json -      for programs

It checks this host (key, certificate, port, open files, CPU) and each peer of the file: address, pin, certificate, \
release, clock, round trip, and the rate both ways. Peers that run it as well are measured. Of a peer that waits in \
`hushwire party` it checks what shows from outside; that run is not disturbed.

Exit codes: 0 nothing failed, 2 wrong command line, 3 a check failed, 4 a file could not be used.";

/// Checks this host and its peers before a run.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// The party file, or the client file
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The time to wait for peers that are not there yet, in seconds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=3600))]
    seconds: u16,
    /// Say of every check why it matters, and not only of those that found something
    #[arg(long)]
    explain: bool,
    /// Write a report for programs to FILE; - is standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// The member under test: its file, addresses and deadlines.
pub(crate) struct Patient {
    config: PathBuf,
    file: MemberFile,
    /// The address on which it listens, according to its file.
    listen: Option<String>,
    listener: Option<Listener>,
    identity: Identity,
    wait: Duration,
}

impl Patient {
    fn number(&self, member: &Member) -> PartyId {
        match member {
            Member::Party(index) => PartyId(*index),
            // Only a job numbers its clients. Here the order in the file numbers them; no other
            // member compares these numbers.
            _ => {
                let clients =
                    self.file.peers.iter().map(|p| &p.member).filter(|m| matches!(m, Member::Client(_)));
                let at = clients.take_while(|m| *m != member).count();
                PartyId(
                    PartyId::FIRST_CLIENT.saturating_add(1).saturating_add(u8::try_from(at).unwrap_or(125)),
                )
            }
        }
    }

    /// Names the members of the file in a peer's error.
    fn named(&self, e: &NetError) -> Fault {
        let members = || self.file.peers.iter().map(|peer| &peer.member).chain([&self.file.me]);
        let name = |id| members().find(|member| self.number(member) == id).map(ToString::to_string);
        e.fault().with_names(&name)
    }

    fn peers(&self) -> Vec<(&Member, PeerConfig)> {
        let peers = self.file.peers.iter();
        let config = |member, address: &Option<String>, pin: Pin| PeerConfig {
            id: self.number(member),
            address: address.clone(),
            pin,
        };
        peers.map(|p| (&p.member, config(&p.member, &p.address, p.pin))).collect()
    }
}

/// Runs and prints the checks. The exit code says whether a check failed.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), Error> {
    let (listen, file) = MemberFile::read(&args.config)?;
    let identity = file.identity()?;
    let mut files = RunFiles::new(args.replace.force);
    files.reads("this member's own file", &args.config);
    files.reads("this member's private key", &file.key);
    let json = json_file(&mut files, args.json.as_deref(), &format!("doctor, {}", file.me), 0o666)?;
    let (config, wait) = (args.config.clone(), Duration::from_secs(args.seconds.into()));
    let mut patient = Patient { config, file, listen, listener: None, identity, wait };
    let mut checks = own::checks(&mut patient);
    log::note!("{} looks at its peers; run `hushwire doctor` there as well", patient.file.me);
    checks.extend(peers::checks(&patient)?);
    let report = DoctorReport::new(&patient, checks);
    match (json, &args.json) {
        (Some(json), _) => {
            let told = out::text(report.for_people(args.explain));
            json.write(report.for_programs()?.as_bytes())?;
            told?;
        }
        (None, Some(_)) => out::text(report.for_programs()?)?,
        (None, None) => out::text(report.for_people(args.explain))?,
    }
    match report.checks.iter().find(|check| check.verdict == Verdict::Fail) {
        None => Ok(()),
        Some(Check { subject, check, found, remedy, .. }) => {
            let remedy = remedy.as_deref().unwrap_or("see the table");
            Err(Fault::new(code::CHECK, format!("the check of {check}"), found, remedy)
                .by(Who::named(subject))
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The first client of a file gets the number 129 here, and the second gets 130.
    #[test]
    fn members_are_called_by_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let identity = Identity::generate("a member").expect("a key");
        let (config, pin) = (dir.path().join("0.toml"), identity.pin());
        fs::write(dir.path().join("0.pem"), identity.to_pem().as_bytes()).expect("a file");
        let mut text = "index = 0\nlisten = \"127.0.0.1:7000\"\nkey = \"0.pem\"\n".to_owned();
        for name in ["130", "bob"] {
            text += &format!("[[peers]]\nclient = \"{name}\"\npin = \"{pin}\"\n");
        }
        fs::write(&config, text).expect("a file");
        let (listen, file) = MemberFile::read(&config).expect("a party's file");
        let patient = Patient { config, file, listen, listener: None, identity, wait: Duration::ZERO };
        for (number, name) in [(129, "client 130"), (130, "client bob"), (0, "party 0"), (2, "party 2")] {
            let (peer, step, after) = (Some(PartyId(number)), "x".to_owned(), Duration::ZERO);
            let fault = patient.named(&NetError::Stalled { peer, step, after });
            assert_eq!(fault.peer().map(ToString::to_string).as_deref(), Some(name), "{fault}");
        }
    }
}
