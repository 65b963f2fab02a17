//! `hushwire local aes-ctr`: the owner's process, from the command line to the report.

use crate::{
    args::AesCtrArgs,
    control::{FromParty, Setup, Start, ToParty, path_to_text},
    error::Error,
    files::{NewFile, RunFiles, absolute, is_stream, json_file, unnamed},
    job::{self, Files, Job},
    log, out,
    owner::{Owner, Streamed},
    places::Places,
    progress,
    report::{Report, Run},
    supervisor::{Event, Supervisor},
};
use hushwire_aes::Backend;
use hushwire_job::aes_ctr::{KeyMode, share_file};
use hushwire_wire::{Identity, SessionId};
use indicatif::ProgressBar;
use std::{
    io::{self, Seek},
    time::Instant,
};

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
    let mut job = Job::choose(args, &files, key, dir.as_deref())?;
    // Both start now, so that a directory that cannot be written shows before the work.
    let output = match stream {
        true => unnamed()?,
        false => guard.create("with --out", &files.out, &job.writer, 0o600)?,
    };
    let report = format!("local aes-ctr of {}", absolute(&files.input));
    let json = json_file(&mut guard, args.json.as_deref(), &report, 0o600)?;
    output.reserve(files.bytes)?;

    let (mut run, bar) = encrypt(args, backend, &files, &output, &mut job, begun)?;
    job.written(run.streamed.digest.take())?;
    let mut told = Ok(());
    if stream {
        let mut whole = output.writer()?;
        whole.rewind().map_err(|e| output.error(&e))?;
        told = out::with(|to| io::copy(&mut whole, to).map(drop));
    } else {
        output.commit()?;
    }
    bar.finish_and_clear();
    let report = Report::new(args, &files, &job, run);
    log::note!("{}", report.for_people().trim_end());
    match (json, &args.json) {
        (Some(json), _) => json.write(report.for_programs()?.as_bytes())?,
        (None, Some(_)) => out::text(report.for_programs()?)?,
        (None, None) => {}
    }
    told
}

/// Starts the parties, and streams the file through them into `output`.
fn encrypt(
    args: &AesCtrArgs,
    backend: Backend,
    files: &Files,
    output: &NewFile,
    job: &mut Job,
    begun: Instant,
) -> Result<(Run, ProgressBar), Error> {
    let places = Places::of(args.transport.parse()?)?;
    let mut supervisor = Supervisor::start()?;
    let identities = identities()?;
    for (party, identity) in identities[..3].iter().enumerate() {
        let setup = Setup {
            pem: identity.to_pem().to_string(),
            key: job.terms.key,
            dir: job.dir.as_ref().map(|dir| path_to_text(dir.path())),
            aes_backend: backend.tier().name().to_owned(),
            listen: places.address(&format!("party{party}")),
            device: job.terms.cut.device(party as u8),
        };
        supervisor.tell(party, &ToParty::Setup(setup));
    }
    let (addresses, key_ids) = ready(&mut supervisor)?;
    check_shares(job, &key_ids)?;
    job.reserve()?;

    let session = SessionId::fresh()
        .map_err(|e| Error::Internal { doing: "naming the session", cause: e.to_string() })?;
    let start = Start {
        terms: job.terms.clone(),
        session: session.to_string(),
        transport: args.transport.clone(),
        addresses,
        pins: identities.iter().map(|identity| identity.pin().to_string()).collect(),
    };
    supervisor.tell_all(&ToParty::Start(start.clone()));
    supervisor.enter("key set-up");
    let bar = progress::bar(files.bytes, "bytes");
    let [.., identity] = identities;
    let owner = Owner {
        start,
        identity,
        backend,
        key: job.key.take(),
        input: files.file.try_clone().map_err(|e| Error::io("read", &files.input, &e))?,
        in_path: files.input.clone(),
        output: output.writer()?,
        out_path: files.out.clone(),
        digests: job.records(),
        bar: bar.clone(),
    };
    owner.spawn(supervisor.events());
    let streamed = attend(&mut supervisor, job)?;
    let seconds = begun.elapsed().as_secs_f64();
    let parties = supervisor.stats().unwrap_or_default();
    supervisor.tell_all(&ToParty::Bye);
    Ok((Run { backend, seconds, streamed, parties }, bar))
}

/// Throw-away identities of the parties, then the owner's.
fn identities() -> Result<[Identity; 4], Error> {
    let wrong = |e: hushwire_wire::IdentityError| Error::Internal {
        doing: "making certificates",
        cause: e.to_string(),
    };
    let new = |name| Identity::generate(name).map_err(wrong);
    Ok([new("party 0")?, new("party 1")?, new("party 2")?, new("owner")?])
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
fn check_shares(job: &mut Job, ids: &[Option<String>]) -> Result<(), Error> {
    let (KeyMode::Kept, Some(dir)) = (job.terms.key, &job.dir) else { return Ok(()) };
    let votes = |id: &Option<String>| ids.iter().filter(|other| *other == id).count();
    let common = ids.iter().max_by_key(|id| votes(id)).cloned().flatten();
    let ours = job.terms.key_id.clone().or(common);
    if let Some(party) = ids.iter().position(|id| *id != ours) {
        let path = share_file::path(dir.path(), party);
        let all = ids.iter().all(|id| *id != ours);
        let cause = if all {
            "the shares belong to another key than the ledger beside them".to_owned()
        } else {
            format!(
                "party {party}'s share belongs to another key than those of the others: files were mixed up"
            )
        };
        let remedy = "put back the files that were made together, from a backup";
        return Err(Error::file("use the share", &path, cause, remedy));
    }
    job.terms.key_id = ours;
    Ok(())
}

/// Follows the run to its end: the shares of a new key appear together, then the result.
fn attend(supervisor: &mut Supervisor, job: &mut Job) -> Result<Streamed, Error> {
    let (mut prepared, mut kept) = (0, 0);
    let mut streamed = None;
    if !job.terms.key.stores() {
        job.unlock();
        supervisor.enter("encryption");
    }
    loop {
        match supervisor.next()? {
            Event::Said(_, FromParty::Prepared) => {
                prepared += 1;
                if prepared == 3 {
                    supervisor.tell_all(&ToParty::Keep);
                }
            }
            Event::Said(_, FromParty::Kept) => {
                kept += 1;
                if kept == 3 {
                    job.unlock();
                    supervisor.enter("encryption");
                }
            }
            Event::Owner(Ok(result)) => streamed = Some(result),
            _ => {}
        }
        if let Some(streamed) = streamed.take_if(|_| supervisor.stats().is_some()) {
            return Ok(streamed);
        }
    }
}
