//! `hushwire init`: a member's key and its card for the others, and then the member's own file,
//! once the cards of the others are there.

use crate::{
    error::Error,
    files::{CARD, NewFile, Replace, RunFiles, is_stream, json_file},
    keys, log,
    run_report::deliver,
};
use clap::Args;
use hushwire::job::{ClientFile, Job, Member, MemberCard, PartyFile, address, file_name, group_code};
use serde::Serialize;
use std::{
    fmt::Write as _,
    fs::{self, DirBuilder},
    io::{self, BufRead, IsTerminal, Write as _},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire init                                      asks who you are and who takes part
  hushwire init --member party0 --address a.example.org:7000
                                                     makes party0.pem, and party0.card for the others
  hushwire init party1.card party2.card alice.card   with the others' cards: writes party0.toml, and shows the code of the group
  hushwire init --member alice --job job.toml        a client's file; the job says who takes part

Cards are public: a member, its address and its pin. Whoever changes one on its way can pose as that member. So all members compare \
the code of the group by voice: it is the same at all of them if they have the same cards.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 4 a file could not be used, 5 refused because it would not be safe.";

/// Make this member's key and card, and its file once the others' cards are there.
#[derive(Args)]
pub(crate) struct InitArgs {
    /// Cards of the others; those in the directory are taken besides
    #[arg(value_name = "CARD")]
    cards: Vec<PathBuf>,
    /// Who this is: party0, party1 …, or a client's name [default: the one whose key and card are
    /// in the directory; at a terminal the command asks]
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,
    /// The address at which the others reach this party, HOST:PORT
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    address: Option<String>,
    /// The address on which this party listens [default: 0.0.0.0 and the port of its address]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<String>,
    /// Who takes part, as in party0,party1,party2,alice: the file is written when all their cards
    /// are there [default: those whose cards are there]
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',', conflicts_with = "job")]
    with: Vec<String>,
    /// The job file: it says who takes part, and which inputs this member's file has
    #[arg(long, value_name = "JOB.toml")]
    job: Option<PathBuf>,
    /// The directory of keys, cards and files
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The days for which the certificate holds
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// Write what was made for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// The files that were made, for programs.
#[derive(Serialize)]
struct InitReport {
    command: &'static str,
    version: &'static str,
    member: String,
    pin: String,
    key: PathBuf,
    card: PathBuf,
    /// The members whose cards are present, this member included.
    cards: Vec<String>,
    /// The members that take part, but whose cards are missing.
    missing: Vec<String>,
    /// The member's own file; null while cards are missing.
    file: Option<PathBuf>,
    /// The code of the group, which people compare by voice; null while cards are missing.
    code: Option<String>,
}

/// Makes the files that are missing.
pub(crate) fn run(args: &InitArgs) -> Result<(), Error> {
    let asks = args.json.is_none() && io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut run = RunFiles::new(args.replace.force);
    make_directory(&args.dir)?;
    let job = args.job.as_ref().map(|path| Job::read(path)).transpose()?;
    args.job.iter().for_each(|path| run.reads("the job file", path));
    let json = json_file(&mut run, args.json.as_deref(), "init", 0o644)?;
    let own = own_card(args, &mut run, asks)?;
    let (key, path) = (beside(args, &own, "pem"), beside(args, &own, CARD));
    let mut cards = vec![own.clone()];
    for path in given_cards(args)? {
        let card = MemberCard::read(&path)?;
        match cards.iter().find(|known| known.member == card.member) {
            Some(known) if *known == card => {}
            Some(known) if known.member == own.member => {
                let cause =
                    format!("{} is a card of this member, with another key or address", path.display());
                let remedy = format!("remove it if it is an old one; else somebody poses as {}", own.member);
                return Err(Error::refused(cause, remedy));
            }
            _ => cards.push(card),
        }
    }
    let group = takes_part(args, job.as_ref(), &own, asks)?;
    if let Some(group) = &group {
        cards.retain(|card| group.contains(&card.member));
    }
    cards.sort_by(|a, b| a.member.cmp(&b.member));
    // Clients do not talk to each other, but they need each other's cards. The code covers the
    // whole group, so that it is the same for all members.
    let is_there = |member: &&Member| cards.iter().any(|card| card.member == **member);
    let missing = group.iter().flatten().filter(|member| !is_there(member));
    let missing: Vec<String> = missing.map(Member::key).collect();
    let is_party = |card: &MemberCard| matches!(card.member, Member::Party(_)) && card.member != own.member;
    let complete = missing.is_empty() && cards.iter().any(is_party);
    let mut report = InitReport {
        command: "init",
        version: env!("CARGO_PKG_VERSION"),
        member: own.member.key(),
        pin: own.pin.to_string(),
        key,
        card: path,
        cards: cards.iter().map(|card| card.member.key()).collect(),
        missing,
        file: None,
        code: None,
    };
    if complete {
        report.code = Some(group_code(&cards)?);
        report.file = Some(write_file(args, &mut run, &own, &cards, job.as_ref())?);
    }
    if !args.json.as_deref().is_some_and(is_stream) {
        log::note!("{}", report.next(args));
    }
    let code = report.code.clone().map(|code| format!("{code}\n").into_bytes());
    deliver(code, &report, json, args.json.as_deref())
}

fn make_directory(dir: &Path) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().mode(0o700).create(dir).map_err(|e| Error::io("make the directory", dir, &e))
}

/// Returns the path of one of this member's files.
fn beside(args: &InitArgs, card: &MemberCard, end: &str) -> PathBuf {
    in_directory(&args.dir, &format!("{}.{end}", card.name()))
}

/// Returns the path of a file in a directory, as people write it.
fn in_directory(dir: &Path, file: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(file) } else { dir.join(file) }
}

/// Asks a question at the terminal, and returns the answer without blanks around it.
fn answer(question: &str) -> Result<String, Error> {
    let told = io::stderr().write_all(format!("{question} ").as_bytes()).and_then(|()| io::stderr().flush());
    let mut line = String::new();
    let read = told.and_then(|()| io::stdin().lock().read_line(&mut line));
    match read {
        Ok(0) => Err(Error::Usage("the answers ended; give --member and --address in place of them".into())),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(e) => Err(Error::io("read", Path::new("standard input"), &e)),
    }
}

/// Repeats the question until the answer is valid.
fn asked<T>(question: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Error> {
    loop {
        match read(&answer(question)?) {
            Ok(value) => return Ok(value),
            Err(e) => log::warn(e),
        }
    }
}

/// Parses a party, or a client by its name alone.
fn member_named(name: &str) -> Result<Member, String> {
    let member = name.parse().or_else(|_| format!("client:{name}").parse::<Member>());
    match member {
        Ok(member @ (Member::Party(_) | Member::Client(_))) => Ok(member),
        Ok(other) => Err(format!("{other} has no file; write party0, party1 … or a client's name")),
        Err(e) => Err(format!("{name:?}: {e}; write party0, party1 … or a client's name")),
    }
}

/// Returns this member's card. If there is no card, it is made together with the key.
fn own_card(args: &InitArgs, run: &mut RunFiles, asks: bool) -> Result<MemberCard, Error> {
    let member = match &args.member {
        Some(name) => Some(member_named(name).map_err(|e| Error::Usage(format!("--member {e}")))?),
        None => only_own(&args.dir)?,
    };
    let member = match member {
        Some(member) => member,
        None if asks => asked("Who are you: party0, party1 …, or a client's name?", member_named)?,
        None => return Err(Error::Usage("write who this is with --member, as party0 or alice".into())),
    };
    let name = file_name(&member);
    let [key, path] = ["pem", CARD].map(|end| in_directory(&args.dir, &format!("{name}.{end}")));
    let known = if path.exists() { Some(MemberCard::read(&path)?) } else { None };
    let address = match (&member, &args.address, &known) {
        (Member::Party(_), Some(address), _) => Some(address.clone()),
        (Member::Party(_), None, Some(card)) => card.address.clone(),
        (Member::Party(_), None, None) if asks => {
            Some(asked("At which address do the others reach you, HOST:PORT?", address_of)?)
        }
        (Member::Party(_), None, None) => {
            let what = format!("write with --address where the others reach {member}, as host:7000");
            return Err(Error::Usage(what));
        }
        (_, Some(_), _) => return Err(Error::Usage(format!("--address: {member} dials, and needs none"))),
        (_, None, _) => None,
    };
    let pin = if key.exists() {
        keys::identity(&key)?.pin()
    } else {
        run.check("with --dir", &key, RunFiles::ONCE)?;
        keys::make(&key, &name, args.days)?
    };
    let card = MemberCard { member, address, pin };
    if known.as_ref() != Some(&card) {
        // The card follows from the key and the address, so a card that differs is out of date.
        RunFiles::new(true).allows("with --dir", &path)?;
        NewFile::create(&path, 0o644)?.write(card.text().as_bytes())?;
    }
    run.reads("this member's private key", &key);
    Ok(card)
}

fn address_of(text: &str) -> Result<String, String> {
    address(text)
}

/// Returns the member whose key and card are in the directory, if there is exactly one.
fn only_own(dir: &Path) -> Result<Option<Member>, Error> {
    let mut own = vec![];
    for path in cards_in(dir)? {
        if path.with_extension("pem").exists() {
            own.push(MemberCard::read(&path)?.member);
        }
    }
    Ok(if own.len() == 1 { own.pop() } else { None })
}

fn cards_in(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(dir).map_err(|e| Error::io("read the directory", dir, &e))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut cards: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == CARD)).collect();
    cards.sort();
    Ok(cards)
}

/// Returns the cards that are named, and those in the directory.
fn given_cards(args: &InitArgs) -> Result<Vec<PathBuf>, Error> {
    let mut all = args.cards.clone();
    all.extend(cards_in(&args.dir)?);
    Ok(all)
}

/// Returns the members that take part, this member included; `None` for the members whose cards are
/// present.
fn takes_part(
    args: &InitArgs,
    job: Option<&Job>,
    own: &MemberCard,
    asks: bool,
) -> Result<Option<Vec<Member>>, Error> {
    let read = |text: &str| {
        let names = text.split([',', ' ']).filter(|name| !name.is_empty());
        names.map(member_named).collect::<Result<Vec<_>, _>>()
    };
    let mut group = match job {
        Some(job) => job.agreement()?.members(),
        None if !args.with.is_empty() => {
            let named = args.with.iter().map(|name| member_named(name.trim()));
            named.collect::<Result<_, _>>().map_err(|e| Error::Usage(format!("--with {e}")))?
        }
        None if asks && args.cards.is_empty() => asked(
            "Who takes part beside you, as party1, party2, alice? (empty: all whose cards are here)",
            read,
        )?,
        None => vec![],
    };
    if group.is_empty() {
        return Ok(None);
    }
    if !group.contains(&own.member) {
        if let Some(path) = &args.job {
            let cause = format!("{} is no member of {}", own.member, path.display());
            return Err(Error::Usage(format!("{cause}; give another --member, or another --job")));
        }
        group.push(own.member.clone());
    }
    Ok(Some(group))
}

/// Writes this member's own file, and reads it as a run will.
fn write_file(
    args: &InitArgs,
    run: &mut RunFiles,
    own: &MemberCard,
    cards: &[MemberCard],
    job: Option<&Job>,
) -> Result<PathBuf, Error> {
    let mut text = String::new();
    let mut line = |s: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{s}");
    };
    match (&own.member, &own.address) {
        (Member::Party(index), Some(address)) => {
            let listen = args.listen.clone().unwrap_or_else(|| everywhere(address));
            line(format!("index = {index}"));
            line(format!("listen = \"{listen}\""));
        }
        (other, _) => line(format!("name = \"{}\"", other.name().unwrap_or_default())),
    }
    line(format!("key = \"{}.pem\"", own.name()));
    line("connect-timeout = \"10m\"".to_owned());
    for card in cards.iter().filter(|card| card.member != own.member) {
        let who = match (&card.member, &card.address) {
            (Member::Party(index), Some(address)) => format!("index = {index}\naddress = \"{address}\""),
            (Member::Client(name), _) if own.address.is_some() => format!("client = \"{name}\""),
            // Clients do not talk to each other.
            _ => continue,
        };
        line(format!("\n[[peers]]\n{who}\npin = \"{}\"", card.pin));
    }
    job.iter().flat_map(|job| job.lines_for(&own.member)).for_each(&mut line);
    let path = beside(args, own, "toml");
    match own.address {
        Some(_) => drop(PartyFile::parse(&text, &path)?),
        None => drop(ClientFile::parse(&text, &path)?),
    }
    // A file that its owner has edited is only replaced with --force.
    if fs::read_to_string(&path).is_ok_and(|known| known == text) {
        return Ok(path);
    }
    run.create("with --dir", &path, RunFiles::ONCE, 0o600)?.write(text.as_bytes())?;
    Ok(path)
}

/// Returns the address for all interfaces of this host, with the port that the other members dial.
fn everywhere(address: &str) -> String {
    match address.rsplit_once(':') {
        Some((_, port)) if !address.starts_with("unix:") => format!("0.0.0.0:{port}"),
        _ => address.to_owned(),
    }
}

impl InitReport {
    /// Returns the next step for the user.
    fn next(&self, args: &InitArgs) -> String {
        let card = self.card.display();
        let Some(file) = &self.file else {
            let wait = match &self.missing[..] {
                [] => "When theirs are in this directory".to_owned(),
                missing => format!("When the cards of {} are in this directory", missing.join(", ")),
            };
            return format!(
                "{} is {}'s card: send it to the other members, and ask for theirs.\n{wait}, run `hushwire init{}` again.",
                card,
                self.member,
                if args.dir == Path::new(".") {
                    String::new()
                } else {
                    format!(" --dir {}", args.dir.display())
                },
            );
        };
        format!(
            "{} is {}'s own file, for {}.\nThe code of the group is below. Compare it with every other member by voice before the first run: \
             if one digit differs,\nsomebody has another card, and nobody should start. Then look at the network: hushwire doctor --config {}",
            file.display(),
            self.member,
            self.cards.join(", "),
            file.display(),
        )
    }
}
