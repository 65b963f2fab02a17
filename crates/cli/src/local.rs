//! `hushwire local aes-ctr`: the owner's process, from the command line to the report.

use crate::{
    args::AesCtrArgs,
    control::{FromParty, JobSetup, Met, ToParty, path_to_text},
    error::Error,
    files::{NewFile, RunFiles, absolute, is_stream, json_file, unnamed},
    job::{self, Files, Job},
    log,
    member::{CONNECT, STALL},
    member_cmd::{announce, has_aes},
    out, progress,
    report::{Report, Run},
    supervisor::{Event, Supervisor},
};
use hushwire::Places;
use hushwire_aes::Backend;
use hushwire_job::{
    self as engine, JobError, Kind, Member, MemberConfig, Observer, Outcome, Peer, Task,
    aes_ctr::{AesCtrPart, AesCtrPlaces, Expected, KeyMode, Learnt, OwnersFiles, share_file},
};
use hushwire_wire::{Identity, SessionId, Shape};
use indicatif::ProgressBar;
use std::{
    collections::BTreeMap,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The owner of the file, as the job names this client.
pub(crate) const OWNER: &str = "owner";
/// LOCAL: how long after a failure the owner's part may take to remove what it has begun.
const END: Duration = Duration::from_secs(2);
/// LOCAL: how often it is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// An error in which the one client is called as a person knows it.
pub(crate) fn plainly(e: JobError) -> JobError {
    let plain = |text: &str| text.replace(&format!("client {OWNER}"), OWNER);
    JobError { cause: plain(&e.cause), remedy: plain(&e.remedy), ..e }
}

/// The owner's own part. Its end is waited for, so that no file under way is left behind.
struct Part(Option<JoinHandle<()>>);

impl Drop for Part {
    fn drop(&mut self) {
        let Some(thread) = self.0.take() else { return };
        let begun = Instant::now();
        while !thread.is_finished() && begun.elapsed() < END {
            thread::sleep(LOOK);
        }
    }
}

/// Runs the job.
pub(crate) fn aes_ctr(args: &AesCtrArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = match &args.aes_backend {
        Some(name) if !name.is_empty() => Backend::named(name).map_err(|e| Error::Usage(e.to_string()))?,
        _ => Backend::best(),
    };
    let files = job::files(args)?;
    let key = job::given_key(args)?;
    if args.transport == "tcp-insecure" {
        log::warn("tcp-insecure hides nothing from other programs on this machine; it is for measuring");
    }
    let mut guard = RunFiles::new(args.replace.force);
    guard.reads("the input", &files.input);
    args.key_file.iter().for_each(|key| guard.reads("the key", key));
    let dir = job::key_dir(args, &files, key.is_some())?;
    dir.iter().for_each(|dir| guard.keys_in(dir));
    let stream = is_stream(&files.out);
    if !stream {
        guard.admits("with --out", &files.out)?;
    }
    let job = Job::choose(args, &files, key, dir.as_deref())?;
    // Both start now, so that a directory that cannot be written shows before the work.
    let output = match stream {
        true => unnamed()?,
        false => guard.create("with --out", &files.out, &job.writer, 0o600)?,
    };
    let report = format!("local aes-ctr of {}", absolute(&files.input));
    let json = json_file(&mut guard, args.json.as_deref(), &report, 0o600)?;
    output.reserve(files.bytes)?;

    let (run, output, bar) = encrypt(args, backend, &files, output, job, begun)?;
    let mut told = Ok(());
    if let Some(output) = output {
        told = out::file(&output);
    }
    bar.finish_and_clear();
    let report = Report::new(args, &files, run);
    log::note!("{}", report.for_people().trim_end());
    match (json, &args.json) {
        (Some(json), _) => json.write(report.for_programs()?.as_bytes())?,
        (None, Some(_)) => out::text(report.for_programs()?)?,
        (None, None) => {}
    }
    told
}

/// Starts the parties, and streams the file through them. An output that is a stream comes back.
fn encrypt(
    args: &AesCtrArgs,
    backend: Backend,
    files: &Files,
    output: NewFile,
    mut job: Job,
    begun: Instant,
) -> Result<(Run, Option<NewFile>, ProgressBar), Error> {
    let places = Places::of(args.transport.parse()?)?;
    // Ends last: when the parties are gone, nothing keeps it.
    let mut part = Part(None);
    let mut supervisor = Supervisor::start()?;
    let session = SessionId::fresh()
        .map_err(|e| Error::Internal { doing: "naming the session", cause: e.to_string() })?;
    let members = job.job.agreement().members();
    let identities = identities(&members)?;
    for (party, (me, identity)) in members.iter().zip(&identities).take(3).enumerate() {
        let share = |dir| path_to_text(&share_file::path(dir, party));
        let setup = JobSetup {
            me: me.clone(),
            job: engine::Job::AesCtr(job.job.clone()),
            pem: identity.to_pem().to_string(),
            listen: Some(places.address(&format!("party{party}"))),
            transport: args.transport.clone(),
            net: Shape::NONE.to_string(),
            session: session.to_string(),
            aes_backend: backend.tier().name().to_owned(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            force: false,
            key_share: job.dir.as_deref().filter(|_| job.mode != KeyMode::Given).map(share),
        };
        supervisor.tell(party, &ToParty::Job(Box::new(setup)));
    }
    let (addresses, key_ids) = ready(&mut supervisor)?;
    check_shares(&job, &key_ids)?;

    let addresses = addresses.into_iter().map(Some).chain([None]);
    let met = members.iter().zip(&identities).zip(addresses);
    let met = met.map(|((member, identity), address)| (member.clone(), address, identity.pin()));
    let peers: Vec<_> = met.map(|(member, address, pin)| Peer { member, address, pin }).collect();
    let told = |peer: &Peer| Met {
        member: peer.member.clone(),
        address: peer.address.clone(),
        pin: peer.pin.to_string(),
    };
    supervisor.enter("key set-up");
    supervisor.tell_all(&ToParty::Meet(peers.iter().map(told).collect()));
    let bar = progress::bar(files.bytes, "bytes");
    let config = MemberConfig {
        me: Member::Client(OWNER.to_owned()),
        identity: identities.into_iter().next_back().ok_or_else(lost)?,
        listener: None,
        peers: peers.into_iter().take(3).collect(),
        transport: args.transport.parse()?,
        connect_timeout: CONNECT,
        stall: STALL,
        shape: Shape::NONE,
        session,
        backend,
        inputs: BTreeMap::new(),
        outputs: BTreeMap::new(),
        aes_ctr: AesCtrPlaces::default(),
        files: RunFiles::default(),
    };
    let key_dir = job.dir.take();
    let owner = OwnersFiles {
        input: files.file.try_clone().map_err(|e| Error::io("read", &files.input, &e))?,
        from: files.input.clone(),
        bytes: files.bytes,
        output,
        to: files.out.clone(),
        named: !is_stream(&files.out),
        iv: job.iv,
        key: job.key.take(),
        // What the parties keep was looked at here.
        expects: Expected::Any,
        new_id: job.new_id,
        book: job.book.take(),
    };
    part.0 = Some(spawn(&mut supervisor, &job, config, owner, &bar));
    let Outcome { learnt, stats } = attend(&mut supervisor)?;
    let seconds = begun.elapsed().as_secs_f64();
    let parties = supervisor.stats().unwrap_or_default();
    supervisor.tell_all(&ToParty::Bye);
    let Learnt { terms, output, .. } = learnt;
    let terms = terms.ok_or_else(lost)?;
    Ok((Run { backend, seconds, streamed: stats, terms, key_dir, parties }, output, bar))
}

fn lost() -> Error {
    Error::Internal { doing: "encrypting the file", cause: "a part of the run is missing".into() }
}

/// Throw-away identities of all members.
fn identities(members: &[Member]) -> Result<Vec<Identity>, Error> {
    let wrong = |e: hushwire_wire::IdentityError| Error::Internal {
        doing: "making certificates",
        cause: e.to_string(),
    };
    members.iter().map(|member| Identity::generate(&member.to_string()).map_err(wrong)).collect()
}

/// Runs the owner's part on a thread of its own; the supervisor hears how it ends.
fn spawn(
    supervisor: &mut Supervisor,
    job: &Job,
    config: MemberConfig,
    files: OwnersFiles,
    bar: &ProgressBar,
) -> JoinHandle<()> {
    let (events, begun, bar) = (supervisor.owner(), supervisor.sender(), bar.clone());
    let (task, aes) = (job.job.clone(), has_aes(config.backend));
    let observer: Observer = Arc::new(move |event| {
        if let engine::Event::Progress(done, of) = event {
            if done == 0 {
                if let Some(forecast) = task.forecast(aes, Some(of)) {
                    bar.suspend(|| announce(&forecast, Shape::NONE, "on this machine"));
                }
                // Nobody listens any more once the run has failed.
                let _ = begun.send(Event::Encrypting);
            }
            bar.set_position(done);
        }
    });
    let (agreement, part) = (Task::agreement(&job.job), AesCtrPart::of_owner(&job.job, files));
    thread::spawn(move || {
        let ended = engine::run_part(agreement, part, config, &observer);
        let ended = ended.map(Box::new).map_err(|e| match plainly(e) {
            e if e.kind == Kind::Network => Error::Peer(e),
            // It is this program that speaks.
            e => Error::Job(JobError { who: String::new(), ..e }),
        });
        let _ = events.send(Event::Owner(ended));
    })
}

/// Waits until all parties listen: where, and for which key.
fn ready(supervisor: &mut Supervisor) -> Result<(Vec<String>, Vec<Option<String>>), Error> {
    let mut found = [const { None }; 3];
    while found.iter().any(Option::is_none) {
        if let Event::Said(party, FromParty::Ready { address, key_id }) = supervisor.next()? {
            found[party] = Some((address, key_id));
        }
    }
    Ok(found.into_iter().flatten().unzip())
}

/// The three share files and the ledger must belong to one key. An odd one is named.
fn check_shares(job: &Job, ids: &[Option<String>]) -> Result<(), Error> {
    let (KeyMode::Kept, Some(dir)) = (job.mode, &job.dir) else { return Ok(()) };
    let votes = |id: &Option<String>| ids.iter().filter(|other| *other == id).count();
    let common = ids.iter().max_by_key(|id| votes(id)).cloned().flatten();
    let ours = job.key_id.clone().or(common);
    let Some(party) = ids.iter().position(|id| *id != ours) else { return Ok(()) };
    let path = share_file::path(dir, party);
    let all = ids.iter().all(|id| *id != ours);
    let cause = if all {
        "the shares belong to another key than the ledger beside them".to_owned()
    } else {
        format!("party {party}'s share belongs to another key than those of the others: files were mixed up")
    };
    let remedy = "put back the files that were made together, from a backup";
    Err(Error::file("use the share", &path, cause, remedy))
}

/// Follows the run to its end.
fn attend(supervisor: &mut Supervisor) -> Result<Outcome<Learnt>, Error> {
    let mut ended = None;
    loop {
        match supervisor.next()? {
            Event::Encrypting => supervisor.enter("encryption"),
            Event::Owner(Ok(outcome)) => ended = Some(outcome),
            _ => {}
        }
        if let Some(outcome) = ended.take_if(|_| supervisor.stats().is_some()) {
            return Ok(*outcome);
        }
    }
}
