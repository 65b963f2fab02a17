//! `hushwire local files`: the files of all members, with pins, for a rehearsal on this machine.

use crate::{
    error::Error,
    files::{NewFile, RunFiles},
    out,
};
use clap::Args;
use hushwire::job::{Job, Member};
use hushwire_wire::Identity;
use std::{
    fmt::Write,
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

pub(crate) const HELP: &str = "\
Example:
  hushwire local files examples/jobs/millionaires.toml --dir rehearsal

The files are those that real members write themselves (docs/jobs.md), with loopback addresses. Here one directory holds \
everybody's keys: good for trying, and for nothing else.";

/// Write keys and files of all members of a job, to rehearse it in terminals on this machine.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct FilesArgs {
    /// The job file
    #[arg(value_name = "JOB.toml")]
    job: PathBuf,
    /// The directory to make
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Party 0's port on loopback; the other parties have the next ones
    #[arg(long, value_name = "PORT", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..=65533))]
    port: u16,
}

/// A member and its identity.
struct MemberIdentity {
    member: Member,
    identity: Identity,
}

impl MemberIdentity {
    /// The name of its files, without an extension.
    fn name(&self) -> String {
        match &self.member {
            Member::Party(index) => format!("party{index}"),
            other => other.name().unwrap_or_default().to_owned(),
        }
    }
}

/// Writes the files.
pub(crate) fn run(args: &FilesArgs) -> Result<(), Error> {
    let job = Job::read(&args.job)?;
    // A job that cannot run needs no files.
    let members = job.agreement()?.members();
    RunFiles::default().allows("with --dir", &args.dir)?;
    DirBuilder::new().mode(0o700).create(&args.dir).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Error::refused(
            format!("{} is there already, perhaps with keys in it", args.dir.display()),
            "name another directory with --dir",
        ),
        _ => Error::io("make", &args.dir, &e),
    })?;
    let mut made = vec![];
    for member in members {
        let identity =
            Identity::generate(&member.to_string()).map_err(|e| Error::internal("making a key", e))?;
        made.push(MemberIdentity { member, identity });
    }
    for one in &made {
        let name = one.name();
        let pem = one.identity.to_pem();
        NewFile::create(&args.dir.join(format!("{name}.pem")), 0o600)?.write(pem.as_bytes())?;
        let text = file_of(&job, one, &made, args.port);
        NewFile::create(&args.dir.join(format!("{name}.toml")), 0o600)?.write(text.as_bytes())?;
        if let (Member::Party(index), 2..) = (&one.member, job.shards()) {
            let hosts = Ports::of(&job, args.port).hosts(*index);
            NewFile::create(&args.dir.join(format!("{name}.hosts.toml")), 0o600)?.write(hosts.as_bytes())?;
        }
    }
    let mut lines = "# each line in a terminal of its own\n".to_owned();
    for one in &made {
        let command = if matches!(one.member, Member::Party(_)) { "party" } else { "client" };
        let file = args.dir.join(format!("{}.toml", one.name()));
        let hosts = match (&one.member, job.shards()) {
            (Member::Party(_), 2..) => {
                format!(" --shards {}", shown(&args.dir.join(format!("{}.hosts.toml", one.name()))))
            }
            _ => String::new(),
        };
        lines += &format!("hushwire {command} {} --config {}{hosts}\n", shown(&args.job), shown(&file));
    }
    out::text(lines)
}

/// Quotes a path for a shell.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Ports on loopback.
struct Ports {
    first: u16,
    shards: u16,
}

impl Ports {
    fn of(job: &Job, first: u16) -> Self {
        Self { first, shards: job.shards() }
    }

    /// Returns the address of one shard of a party, as other members dial it, or with `inside` as
    /// the party's other shards do.
    fn address(&self, index: u8, shard: u16, inside: bool) -> String {
        let block = if inside { self.shards + shard } else { shard };
        format!("127.0.0.1:{}", self.first.saturating_add(3 * block + u16::from(index)))
    }

    /// A party's hosts file.
    fn hosts(&self, index: u8) -> String {
        let [listen, address] =
            [false, true].map(|inside| move |shard: u16| self.address(index, shard, inside));
        let one =
            |shard| format!("[[shards]]\nlisten = \"{}\"\naddress = \"{}\"\n", listen(shard), address(shard));
        (0..self.shards).map(one).collect::<Vec<_>>().join("\n")
    }

    /// A party's address in another member's file.
    fn peer(&self, index: u8) -> String {
        let all: Vec<_> = (0..self.shards).map(|shard| self.address(index, shard, false)).collect();
        match &all[..] {
            [one] => format!("address = \"{one}\""),
            all => format!("shards = [\"{}\"]", all.join("\", \"")),
        }
    }
}

/// One member's file.
fn file_of(job: &Job, own: &MemberIdentity, all: &[MemberIdentity], port: u16) -> String {
    let ports = Ports::of(job, port);
    let mut text = String::new();
    let mut line = |s: String| writeln!(text, "{s}").unwrap_or_default();
    match &own.member {
        Member::Party(index) => {
            line(format!("index = {index}"));
            line(format!("listen = \"{}\"", ports.address(*index, 0, false)));
        }
        other => line(format!("name = \"{}\"", other.name().unwrap_or_default())),
    }
    line(format!("key = \"{}.pem\"", own.name()));
    for peer in all.iter().filter(|peer| peer.member != own.member) {
        let who = match (&peer.member, &own.member) {
            (Member::Party(index), _) => format!("index = {index}\n{}", ports.peer(*index)),
            (Member::Client(name), Member::Party(_)) => format!("client = \"{name}\""),
            // Clients do not talk to each other.
            _ => continue,
        };
        line(format!("\n[[peers]]\n{who}\npin = \"{}\"", peer.identity.pin()));
    }
    job.lines_for(&own.member).into_iter().for_each(line);
    text
}
