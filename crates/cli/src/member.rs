//! A member of a local run: a process that hears its part on stdin, and runs it as `party` and `client` do.

use crate::{
    control::{
        DeviceStats, FromParty, Given, JobSetup, Kept, PsiFound, Stats, ToParty, orders, peak_memory, tell,
        text_to_path,
    },
    error::Failure,
    local::plainly,
};
use hushwire_aes::Backend;
use hushwire_job::{
    Common, Event, InputPlace, Intersection, Job, JobError, Member, MemberConfig, Observer, Outcome,
    OutputPlace, Peer, Prepared, PsiTask, RunFiles, Task,
    aes_ctr::{AesCtrPart, AesCtrPlaces},
    open, run_part,
};
use hushwire_wire::{Identity, Listener, SessionId};
use std::{
    process,
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// The hidden subcommand; its argument names the member, for people who look at processes.
pub(crate) const MEMBER_COMMAND: &str = "__member";

/// LOCAL: all processes are on this machine and start together; a loaded one may take a while.
pub(crate) const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: the dead are noticed long before; this is for those who live and never answer.
pub(crate) const STALL: Duration = Duration::from_secs(3600);
/// LOCAL: how often progress is reported.
const REPORT: Duration = Duration::from_millis(100);

/// Runs the member whose number among all is `index` to its end.
pub(crate) fn main(index: usize) -> ! {
    let orders = orders();
    match member(&orders) {
        Ok(stats) => {
            tell(&FromParty::Done(stats));
            // The supervisor closes stdin, or says so.
            drop(orders.recv());
            process::exit(0)
        }
        Err(e) => {
            let failure = Failure::of_job(index, &e);
            let code = failure.code;
            tell(&FromParty::Failed(failure));
            process::exit(code.into())
        }
    }
}

fn unexpected() -> JobError {
    JobError::internal("following the supervisor", "an order was missing or out of turn")
}

fn member(orders: &Receiver<ToParty>) -> Result<Stats, JobError> {
    let Ok(ToParty::Job(setup)) = orders.recv() else { return Err(unexpected()) };
    let me = setup.me.clone();
    let ended = match &setup.job {
        Job::Circuit(job) => Prepared::new(job).and_then(|task| {
            let outcome = joined(orders, &setup, &task, |_| None)?;
            Ok(Stats { outputs: outcome.learnt.digits, ..measured(&outcome.stats) })
        }),
        Job::Psi(job) => PsiTask::new(job).and_then(|task| {
            let outcome = joined(orders, &setup, &task, |_| None)?;
            Ok(Stats { found: Some(found(outcome.learnt)), ..measured(&outcome.stats) })
        }),
        Job::AesCtr(job) => {
            let key_id = |part: &AesCtrPart| part.key_id().map(hex::encode);
            let ended = joined(orders, &setup, job, key_id).map(|outcome| {
                let used = outcome.learnt.device.as_ref();
                let device = used.map(|d| DeviceStats { cycles: d.cycles, ands: d.ands });
                Stats { device, ..measured(&outcome.stats) }
            });
            ended.map_err(plainly)
        }
        _ => Err(unexpected()),
    };
    ended.map_err(|e| e.of(&me))
}

fn measured(stats: &hushwire_job::Stats) -> Stats {
    Stats {
        bytes_sent: stats.bytes_sent,
        bytes_received: stats.bytes_received,
        rounds: stats.rounds,
        peak_memory_bytes: peak_memory(),
        seconds: stats.seconds,
        ..Stats::default()
    }
}

/// An intersection's end, as the supervisor hears it.
fn found(learnt: Intersection) -> PsiFound {
    let mut found = PsiFound {
        text: hex::encode(learnt.text.unwrap_or_default()),
        sizes: learnt.keys,
        circuit: learnt.circuit.to_string(),
        width: learnt.width,
        ands: learnt.ands,
        size: None,
        items: None,
        flags: None,
    };
    match learnt.common {
        Common::Size(size) => found.size = Some(size),
        Common::Items(items) => found.items = Some(items),
        Common::Flags(flags) => found.flags = Some(flags),
        Common::Nothing => {}
    }
    found
}

/// Opens this member's files, meets the others, and runs its side. `key_id` names the key of which it keeps a share.
fn joined<T: Task>(
    orders: &Receiver<ToParty>,
    setup: &JobSetup,
    task: &T,
    key_id: impl Fn(&T::Part) -> Option<String>,
) -> Result<Outcome<T::Learnt>, JobError> {
    let wrong = |e: &dyn std::fmt::Display| JobError::internal("start", e);
    let listener = setup.listen.as_deref().map(Listener::bind).transpose();
    let listener = listener.map_err(|e| JobError::from(e).during("listening"))?;
    let address = listener.as_ref().map(Listener::address).unwrap_or_default();
    let mut session = [0; 16];
    hex::decode_to_slice(&setup.session, &mut session).map_err(|e| wrong(&e))?;
    let inputs = setup.inputs.iter().map(|(name, given)| {
        let place = match given {
            Given::Hex(digits) => InputPlace::Hex(Zeroizing::new(digits.clone())),
            Given::Bytes(digits) => {
                InputPlace::Memory(Arc::new(Zeroizing::new(hex::decode(digits).map_err(|e| wrong(&e))?)))
            }
            Given::File(path) => InputPlace::File(path.clone()),
        };
        Ok((name.clone(), place))
    });
    let outputs = setup.outputs.iter().map(|(name, kept)| {
        let place = match kept {
            Kept::File(path) => OutputPlace::File(path.clone()),
            Kept::Nowhere => OutputPlace::Discard,
        };
        (name.clone(), place)
    });
    let key_share = setup.key_share.as_deref().map(text_to_path).transpose().map_err(|e| wrong(&e))?;
    let mut config = MemberConfig {
        me: setup.me.clone(),
        identity: Identity::from_pem(&setup.pem).map_err(|e| wrong(&e))?,
        listener,
        peers: vec![],
        transport: setup.transport.parse().map_err(|e: hushwire_wire::NetError| wrong(&e))?,
        connect_timeout: CONNECT,
        stall: STALL,
        shape: setup.net.parse().map_err(|e: hushwire_wire::NetError| wrong(&e))?,
        session: SessionId(session),
        backend: Backend::named(&setup.aes_backend).map_err(|e| wrong(&e))?,
        inputs: inputs.collect::<Result<_, JobError>>()?,
        outputs: outputs.collect(),
        aes_ctr: AesCtrPlaces { key_share, ..AesCtrPlaces::default() },
        files: RunFiles::new(setup.force),
    };
    let part = open(task, &mut config)?;
    tell(&FromParty::Ready { address, key_id: key_id(&part) });
    let Ok(ToParty::Meet(others)) = orders.recv() else { return Err(unexpected()) };
    let peers = others.into_iter().filter(|met| met.member != setup.me).map(|met| {
        Ok(Peer { member: met.member, address: met.address, pin: met.pin.parse().map_err(|e| wrong(&e))? })
    });
    config.peers = peers.collect::<Result<_, JobError>>()?;
    run_part(task.agreement(), part, config, &observer(&setup.me))
}

/// Passes on what a person may want to know, now and then.
fn observer(me: &Member) -> Observer {
    let (me, last) = (me.to_string(), Mutex::new(None::<Instant>));
    Arc::new(move |event| match event {
        Event::Progress(done, of) => {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if done == of || last.is_none_or(|at| at.elapsed() >= REPORT) {
                *last = Some(Instant::now());
                tell(&FromParty::Progress(done, of));
            }
        }
        Event::Connected => tell(&FromParty::Joined),
        Event::Note(note) => tell(&FromParty::Note(format!("{me}: {note}"))),
        _ => {}
    })
}

/// So that a member's number is its place among all.
pub(crate) fn arguments(index: usize, member: &Member) -> Vec<String> {
    vec![MEMBER_COMMAND.to_owned(), index.to_string(), member.key()]
}
