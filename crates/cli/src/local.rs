//! `hushwire local aes-ctr`: the owner's process, from the command line to the report.

use crate::{
    args::AesCtrArgs,
    control::{Ready, ToMember},
    error::Error,
    files::{NewFile, RunFiles, absolute, is_stream},
    job::{self, Choice, Files},
    log,
    member_cmd::{announce, has_aes},
    out, progress,
    report::{EncryptionReport, Measurements},
    supervisor::{Event, OfProcess, Supervisor},
};
use hushwire::job::{
    self as engine, Fault, InputPlace, Kind, Member, Observer, Outcome, OutputPlace, Peer, Runs, Task,
    aes_ctr::{AesCtrJob, AesCtrPart, KeyMode, Learnt, Said, share_file},
};
use hushwire::{LocalJob, LocalMembers, Opened};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_wire::Shape;
use indicatif::ProgressBar;
use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// LOCAL: the time after a failure in which the owner's part may remove its unfinished files.
const END: Duration = Duration::from_secs(2);
/// LOCAL: the time between two looks at the owner's part.
const LOOK: Duration = Duration::from_millis(5);

/// Names the only client in an error as a person knows it.
fn plainly(e: Fault) -> Fault {
    e.with_names(&AesCtrJob::local_name)
}

/// The thread of the owner's part. Its end is awaited, so that no unfinished file is left behind.
struct OwnerThread(Option<JoinHandle<()>>);

impl Drop for OwnerThread {
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
    let backend = args.common.backend()?;
    let files = job::files(args)?;
    let key = job::given_key(args)?;
    let mut guard = RunFiles::new(args.common.replace.force);
    guard.reads("the input", &files.input);
    args.key_file.iter().for_each(|key| guard.reads("the key", key));
    let dir = job::key_dir(args, &files, key.is_some())?;
    dir.iter().for_each(|dir| guard.keys_in(dir));
    if !is_stream(&files.out) {
        guard.admits("with --out", &files.out)?;
    }
    let choice = Choice::new(args, &files, key, dir.as_deref())?;
    let report = format!("local aes-ctr of {}", absolute(&files.input));
    // The file is created now, so that an unusable directory shows before the work.
    let json = args.common.json_file(&mut guard, &report)?;
    let (run, output, bar) = encrypt(args, backend, &files, guard, choice, begun)?;
    let mut told = Ok(());
    if let Some(output) = output {
        told = out::file(&output);
    }
    bar.finish_and_clear();
    let report = EncryptionReport::new(args, &files, run);
    log::note!("{}", report.for_people().trim_end());
    match (json, &args.common.json) {
        (Some(json), _) => json.write(report.for_programs()?.as_bytes())?,
        (None, Some(_)) => out::text(report.for_programs()?)?,
        (None, None) => {}
    }
    told
}

/// Starts the parties, and streams the file through them. Returns the output if it goes to a
/// stream.
fn encrypt(
    args: &AesCtrArgs,
    backend: Backend,
    files: &Files,
    guard: RunFiles,
    mut choice: Choice,
    begun: Instant,
) -> Result<(Measurements, Option<NewFile>, ProgressBar), Error> {
    let task = choice.job.clone();
    let to = if is_stream(&files.out) { OutputPlace::Unnamed } else { OutputPlace::File(files.out.clone()) };
    let mut local = LocalJob::new(&task).transport(args.between.kind()?).backend(backend);
    local = local.data(files.data()).result(to).said(Said::Options);
    local = local.history_lost(choice.history_lost);
    if let Some(iv) = choice.iv {
        local = local.iv(iv);
    }
    if let Some(key) = choice.key.take().filter(|_| task.key.is_the_owners()) {
        local = local.key(InputPlace::Hex(Wiped::new(hex::encode(key.expose()))));
    }
    if let Some(dir) = &choice.dir {
        local = local.keys(dir);
    }
    let LocalMembers { mut members, places: _places } = local.members()?;
    // The owner opens its files first. They create the key's directory, and keep other runs from
    // choosing a key or counters meanwhile.
    let owner = members.pop().ok_or_else(lost)?;
    let owner = owner.start().and_then(|member| member.files(guard).open(&task)).map_err(of_owner)?;

    // The owner's thread is dropped last: it ends once the parties are gone.
    let mut part = OwnerThread(None);
    let who = |member: &Member| member.to_string();
    let (mut supervisor, ready) =
        Supervisor::start(&engine::Job::AesCtr(task.clone()), members, "start", who)?;
    check_shares(&choice, &ready)?;
    let mut peers: Vec<Peer> = ready.into_iter().map(|ready| ready.peer).collect();
    peers.push(owner.peer());
    supervisor.enter("key set-up");
    supervisor.tell_all(&ToMember::Meet(peers.clone()));
    let bar = progress::bar(files.bytes, "bytes");
    part.0 = Some(spawn(&mut supervisor, owner, peers, (task, has_aes(backend)), &bar));
    let Outcome { learnt, stats } = attend(&mut supervisor)?;
    let seconds = begun.elapsed().as_secs_f64();
    let parties = supervisor.ended().unwrap_or_default();
    supervisor.tell_all(&ToMember::Bye);
    let parties = parties.into_iter().map(OfProcess::read).collect::<Result<_, _>>()?;
    let Learnt { terms, output, .. } = learnt;
    let (terms, key_dir) = (terms.ok_or_else(lost)?, choice.dir);
    Ok((Measurements { backend, seconds, streamed: stats, terms, key_dir, parties }, output, bar))
}

fn lost() -> Error {
    Error::internal("encrypting the file", "a part of the run is missing")
}

/// The error of the owner itself, which is this process and so needs no name.
fn of_owner(e: Fault) -> Error {
    Error::Job(plainly(e).anonymous())
}

/// Runs the owner's part on its own thread. The supervisor receives its end as an event.
fn spawn(
    supervisor: &mut Supervisor,
    mut owner: Opened<AesCtrPart>,
    peers: Vec<Peer>,
    (task, aes): (AesCtrJob, bool),
    bar: &ProgressBar,
) -> JoinHandle<()> {
    let (events, begun, bar) = (supervisor.owner(), supervisor.sender(), bar.clone());
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
    owner.listen(observer);
    thread::spawn(move || {
        let ended = owner.run(&peers).map(Box::new).map_err(|e| match e.kind() {
            Kind::Network => Error::Net(plainly(e)),
            _ => of_owner(e),
        });
        let _ = events.send(Event::Owner(ended));
    })
}

/// Checks that the three share files and the ledger belong to one key, and names a file that does
/// not.
fn check_shares(choice: &Choice, ready: &[Ready]) -> Result<(), Error> {
    let (KeyMode::Kept, Some(dir)) = (choice.mode, &choice.dir) else { return Ok(()) };
    let ids: Vec<_> = ready.iter().map(|ready| ready.key_id.clone()).collect();
    let votes = |id: &Option<String>| ids.iter().filter(|other| *other == id).count();
    let common = ids.iter().max_by_key(|id| votes(id)).cloned().flatten();
    let ours = choice.key_id.clone().or(common);
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
        if let Some(outcome) = ended.take_if(|_| supervisor.ended().is_some()) {
            return Ok(*outcome);
        }
    }
}
