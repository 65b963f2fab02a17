//! Job, party and client files of arbitrary bytes, for tests and the fuzzer.

use hushwire_circuit::{Program, named};
use hushwire_kinds::{BitOrderChoice, CircuitJob, CircuitPlan};
use hushwire_session::{ClientFile, Fault, Kind, PartyFile};
use std::{path::Path, sync::OnceLock};

fn program() -> &'static Program {
    static MADE: OnceLock<Program> = OnceLock::new();
    MADE.get_or_init(|| named::program("less:32").expect("a circuit of ours"))
}

/// Reads the bytes as each kind of file. A mistake must be reported with its line, and a correct
/// job must make a plan or report a reason.
pub(crate) fn fed(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = 1 + text.matches('\n').count();
    match CircuitJob::parse(text, Path::new("some/job.toml")) {
        Err(e) => told(&e, lines),
        Ok(job) => {
            assert!(job.instances >= 1 && !job.members().is_empty());
            match CircuitPlan::new(&job, program(), BitOrderChoice::Lsb) {
                Ok(plan) => fits(&plan),
                Err(e) => {
                    assert!(
                        e.kind() == Kind::Usage && !e.cause().is_empty() && !e.remedy().is_empty(),
                        "{e}"
                    );
                }
            }
        }
    }
    match PartyFile::parse(text, Path::new("some/party.toml")) {
        Err(e) => told(&e, lines),
        Ok(file) => assert!(file.member.peers.iter().all(|peer| peer.member != file.member.me)),
    }
    match ClientFile::parse(text, Path::new("some/client.toml")) {
        Err(e) => told(&e, lines),
        Ok(file) => assert!(file.0.peers.iter().all(|peer| peer.member != file.0.me)),
    }
}

fn told(e: &Fault, lines: usize) {
    let text = e.to_string();
    assert_eq!(e.kind(), Kind::File, "{text}");
    let line = e.step().rsplit_once(", line ").and_then(|(_, line)| line.parse::<usize>().ok());
    assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{text}");
    assert!(!e.cause().is_empty() && !e.remedy().is_empty(), "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

/// Checks that every instance is in a batch, and that no batch is empty.
fn fits(plan: &CircuitPlan) {
    let (batch, batches) = (u64::from(plan.batch), u64::from(plan.batches()));
    assert!(batch >= 1 && batches * batch >= plan.instances && (batches - 1) * batch < plan.instances);
    assert!(plan.threads >= 1 && plan.lanes >= 1 && u64::from(plan.threads) <= batches);
    let agreement = plan.agreement();
    assert!(agreement.differences(&agreement.tags()).is_empty());
}
