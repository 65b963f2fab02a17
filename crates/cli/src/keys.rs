//! `hushwire keys`: a party's certificate and private key, and the pin that its peers know it by.

use crate::{
    error::Error,
    files::{CARD, Replace, RunFiles, appended, is_stream, json_file, reads},
    log, out,
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::{Kind, Member, MemberCard, NewFile, open_input, read_private_key};
use hushwire_block::Wiped;
use hushwire_files::mark;
use hushwire_machine::printable;
use hushwire_wire::{Identity, IdentityError, Pin, Validity, presented};
use serde::Serialize;
use std::{
    fs::{self, Permissions},
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// LOCAL: the largest size of a key file.
const LONGEST: u64 = 64 << 10;
/// LOCAL: the time for which `keys pin HOST:PORT` waits.
const ASK: Duration = Duration::from_secs(10);
const DAY: u64 = 86_400;
/// LOCAL: the most old keys that are kept beside one key.
const MOST_OLD: u32 = 1000;

pub(crate) const HELP: &str = "\
Examples:
  hushwire keys init --name party0         a key and its certificate in party0.pem, for a year
  hushwire keys pin party0.pem             what the others write into their party files
  hushwire keys show party0.pem            whose it is and how long it holds
  hushwire keys show --check party0.pem    fails where a run with it would: for scripts
  hushwire keys rotate party0.pem          a new key in its place, before the old one ends";

/// The command on keys.
#[derive(Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Make a private key and its certificate, and print the pin.
    #[command(
        after_help = "Examples:\n  hushwire keys init --name party0\n  hushwire keys init --out /etc/hushwire/party0.pem --name bank --days 90"
    )]
    Init(InitArgs),
    /// Show whose a key is, how long its certificate holds, and who can read it.
    #[command(
        after_help = "Examples:\n  hushwire keys show party0.pem\n  hushwire keys show --check party0.pem"
    )]
    Show(ShowArgs),
    /// Print the pin and nothing else: of a file, or of whoever listens at an address.
    #[command(
        after_help = "Examples:\n  hushwire keys pin party0.pem\n  hushwire keys pin 10.0.0.2:7000           what is presented there; compare it over another channel"
    )]
    Pin(PinArgs),
    /// Put a new key and certificate in a key's place; the old one stays beside it as FILE.old, or
    /// FILE.old.2 and so on.
    #[command(after_help = "Example:\n  hushwire keys rotate party0.pem --days 365")]
    Rotate(RotateArgs),
}

#[derive(Args)]
struct InitArgs {
    /// The directory to write NAME.pem to [default: this one]
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    dir: Option<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A label for people; no check reads it
    #[arg(long, default_value = "party", value_parser = label)]
    name: String,
    /// The days for which the certificate holds
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Args)]
struct ShowArgs {
    /// A file that `keys init` wrote, or the certificate alone
    file: PathBuf,
    /// Fail if the certificate does not hold today (exit code 4), or if others can read the private
    /// key (5)
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    json: JsonArgs,
}

#[derive(Args)]
struct PinArgs {
    /// A file that `keys init` wrote, or the address of a party
    #[arg(value_name = "FILE or HOST:PORT")]
    what: String,
}

#[derive(Args)]
struct RotateArgs {
    /// A file that `keys init` wrote
    file: PathBuf,
    /// The days for which the new certificate holds
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    #[command(flatten)]
    json: JsonArgs,
}

/// The description of a key for programs.
#[derive(Args)]
struct JsonArgs {
    /// Write the description for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

impl JsonArgs {
    /// Creates the file of the description, which never replaces a key.
    fn begin(&self, command: &str, key: &Path) -> Result<Option<NewFile>, Error> {
        let mut files = RunFiles::new(self.replace.force);
        reads(&mut files, "the key", key);
        json_file(&mut files, self.json.as_deref(), &format!("keys {command}, {}", key.display()), 0o644)
    }

    /// Returns whether the description replaces the text for people.
    fn instead(&self) -> bool {
        self.json.as_deref().is_some_and(is_stream)
    }

    /// Prints the text, and writes the description for programs.
    fn deliver(&self, text: String, value: &impl Serialize, file: Option<NewFile>) -> Result<(), Error> {
        deliver(Some(text.into_bytes()), value, file, self.json.as_deref())
    }
}

/// Checks a label: it becomes a part of a file name, and of messages.
fn label(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=64).contains(&text.len()) && text.chars().all(good) && !text.starts_with('.') {
        return Ok(text.to_owned());
    }
    Err("write 1 to 64 letters, digits, '-', '_' and '.', and no '.' first".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &KeysArgs) -> Result<(), Error> {
    match &args.command {
        KeysCommand::Init(args) => init(args),
        KeysCommand::Show(args) => show(args),
        KeysCommand::Pin(args) => pin(&args.what),
        KeysCommand::Rotate(args) => rotate(args),
    }
}

/// The description of a key file, for people and programs.
#[derive(Serialize)]
struct Described {
    file: PathBuf,
    pin: String,
    name: String,
    /// The party's index, if the name contains it, such as `party1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u8>,
    /// Seconds since 1970, like the next field.
    not_before: u64,
    not_after: u64,
    days_left: u64,
    holds: bool,
    /// Whether the private key is in the file.
    private_key: bool,
    warnings: Vec<String>,
}

impl Described {
    fn new(file: &Path, pem: &str) -> Result<(Self, Validity), Error> {
        let wrong = |e: IdentityError| Error::file("use", file, e.cause(), e.remedy());
        let (pin, validity) = Identity::describe(pem).map_err(wrong)?;
        let private_key = pem.contains("PRIVATE KEY-----");
        if private_key {
            Identity::from_pem(pem).map_err(wrong)?;
        }
        let (now, path) = (SystemTime::now(), file.display());
        let mut warnings = vec![];
        if !validity.holds_at(now) {
            let word = if validity.not_before > now {
                "does not hold yet; set the clock right"
            } else {
                "has ended"
            };
            warnings.push(format!("the certificate {word}; run `hushwire keys rotate {path}`"));
        } else if validity.expires_soon(now) {
            warnings.push(format!("the certificate ends soon; run `hushwire keys rotate {path}`"));
        }
        let mode = fs::metadata(file).map_or(0, |meta| meta.permissions().mode());
        if private_key && mode & 0o077 != 0 {
            warnings.push(format!("other users can read the private key; run `chmod 600 {path}`"));
        }
        let name = printable(&Identity::name_in(pem).unwrap_or_default()).into_owned();
        let seconds = |t: SystemTime| t.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let described = Self {
            file: file.to_path_buf(),
            pin: pin.to_string(),
            index: index_of(&name),
            name,
            not_before: seconds(validity.not_before),
            not_after: seconds(validity.not_after),
            days_left: validity.left_at(now).as_secs() / DAY,
            holds: validity.holds_at(now),
            private_key,
            warnings,
        };
        Ok((described, validity))
    }
}

fn read(path: &Path) -> Result<Wiped<String>, Error> {
    let mut text = Wiped::new(String::new());
    let file = open_input(path).map_err(|e| Error::io("read", path, &e))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => {
            Error::file("use", path, "it is not PEM text", "name a file that `hushwire keys init` wrote")
        }
        _ => Error::io("read", path, &e),
    })?;
    Ok(if text.starts_with('\u{feff}') { Wiped::new(mark::strip_str(&text).to_owned()) } else { text })
}

/// Returns the index of the party that a label names, if it names one.
fn index_of(name: &str) -> Option<u8> {
    match name.parse() {
        Ok(Member::Party(index)) => Some(index),
        _ => None,
    }
}

/// Returns the key and certificate in `path`, which other users must not be able to read. It warns
/// of a file that should be changed.
pub(crate) fn identity(path: &Path) -> Result<Identity, Error> {
    let pem = read_private_key(path)?;
    let (described, _) = Described::new(path, &pem)?;
    if !described.private_key {
        let remedy = "name the file that `hushwire keys init` wrote";
        return Err(Error::file("use", path, "it holds a certificate without its key", remedy));
    }
    described.warnings.iter().for_each(log::warn);
    Identity::from_pem(&pem).map_err(|e| Error::internal("reading a key", e))
}

fn made(name: &str, days: u32) -> Result<Identity, Error> {
    let lifetime = Duration::from_secs(u64::from(days) * DAY);
    Identity::generate_for(name, Validity::lasting(lifetime)).map_err(|e| Error::internal("making a key", e))
}

/// Makes a key in a new file, and returns its pin.
pub(crate) fn make(path: &Path, name: &str, days: u32) -> Result<Pin, Error> {
    let identity = made(name, days)?;
    if !keep(path, &identity.to_pem())?.commit_new()? {
        let cause =
            format!("{} is there already, and a key that is lost cannot be made again", path.display());
        return Err(Error::refused(cause, "run the command again, which takes it"));
    }
    Ok(identity.pin())
}

/// Writes a secret for its owner alone. The file appears complete or not at all.
fn keep(path: &Path, pem: &str) -> Result<NewFile, Error> {
    let new = NewFile::create(path, 0o600)?;
    let mut writer = new.writer()?;
    // A file that is replaced would pass on its permissions.
    writer.set_permissions(Permissions::from_mode(0o600)).map_err(|e| new.error(&e))?;
    std::io::Write::write_all(&mut writer, pem.as_bytes()).map_err(|e| new.error(&e))?;
    Ok(new)
}

fn init(args: &InitArgs) -> Result<(), Error> {
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| args.dir.clone().unwrap_or_default().join(format!("{}.pem", args.name)));
    let taken = || {
        let path = path.display();
        let cause = format!("{path} is there already, and a key that is lost cannot be made again");
        let remedy = format!("choose another name, or run `hushwire keys rotate {path}` to replace it");
        Error::refused(cause, remedy)
    };
    if path.symlink_metadata().is_ok() {
        return Err(taken());
    }
    RunFiles::default().allows(if args.out.is_some() { "with --out" } else { "with --dir" }, &path)?;
    let json = args.json.begin("init", &path)?;
    let identity = made(&args.name, args.days)?;
    let pem = identity.to_pem();
    if !keep(&path, &pem)?.commit_new()? {
        return Err(taken());
    }
    let (described, validity) = Described::new(&path, &pem)?;
    args.json.deliver(format!("{}\n", identity.pin()), &described, json)?;
    if args.json.instead() {
        return Ok(());
    }
    // If the name contains no number, the reader fills it in.
    let (whose, index) = described.index.map_or(("number and ", 0), |index| ("", index));
    log::note!(
        "\nThe key and its certificate are in {path}; the certificate holds {validity}.\n\
         The key is secret and stays on this machine; the pin is not secret.\n\n\
         In this member's own file:\n\n  key = {path:?}\n\n\
         In the others' files, with this member's {whose}address; a client has `client = \"name\"` and no address:\n\n\
         \x20 [[peers]]\n\
         \x20 index = {index}\n\
         \x20 address = \"host:7000\"\n\
         \x20 pin = \"{pin}\"\n\n\
         Give them the pin over a channel that nobody can change, as by telephone. Then `hushwire doctor` checks it.",
        path = path.display().to_string(),
        pin = identity.pin(),
    );
    Ok(())
}

fn show(args: &ShowArgs) -> Result<(), Error> {
    let json = args.json.begin("show", &args.file)?;
    let (described, validity) = Described::new(&args.file, &read(&args.file)?)?;
    let fit = if args.check { fit(&args.file, &described, validity) } else { Ok(()) };
    let Described { pin, name, days_left, private_key, warnings, .. } = &described;
    let held = if *private_key { "in this file" } else { "not in this file" };
    let text =
        format!("pin    {pin}\nname   {name}\nholds  {validity}, {days_left} days left\nkey    {held}\n");
    args.json.deliver(text, &described, json)?;
    if !args.json.instead() {
        warnings.iter().for_each(log::warn);
    }
    fit
}

/// Checks that a run would accept the key today.
fn fit(path: &Path, described: &Described, validity: Validity) -> Result<(), Error> {
    if !described.holds {
        let cause = format!("its certificate holds {validity}, and not today");
        let remedy = format!(
            "run `hushwire keys rotate {}` and give the others the new pin, or set the clock right",
            path.display()
        );
        return Err(Error::file("use", path, cause, remedy));
    }
    match read_private_key(path) {
        Err(e) if described.private_key && e.kind() == Kind::Refused => Err(e.into()),
        _ => Ok(()),
    }
}

fn pin(what: &str) -> Result<(), Error> {
    let path = Path::new(what);
    let address =
        what.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if !path.exists() && !address && what != "-" {
        let remedy = "check the spelling; an address has a port, as in 10.0.0.2:7000";
        return Err(Error::file("read", path, "there is no such file", remedy));
    }
    let pin: Pin = if path.exists() || !address {
        let text = read(path)?;
        let (described, _) = Described::new(path, &text)?;
        described.warnings.iter().for_each(log::warn);
        described.pin.parse().map_err(|e: IdentityError| Error::internal("reading a pin", e))?
    } else {
        let pin = presented(what, ASK)?;
        log::warn(format_args!(
            "this is what {what} shows, whoever that is; compare it with what `hushwire keys pin FILE` prints there, \
             over another channel, before it goes into a party file"
        ));
        pin
    };
    out::line(pin)
}

/// Keeps a key that is replaced under the first free name, so that a rotation never overwrites a
/// key that an earlier rotation kept.
fn set_aside(path: &Path, pem: &str) -> Result<PathBuf, Error> {
    for n in 1..=MOST_OLD {
        let name = appended(path, &if n == 1 { ".old".to_owned() } else { format!(".old.{n}") });
        if keep(&name, pem)?.commit_new()? {
            return Ok(name);
        }
    }
    let cause = format!("{MOST_OLD} old keys are beside it");
    Err(Error::file("rotate", path, cause, "remove those whose certificates have ended"))
}

/// Writes the new pin into the card beside a key, if there is a card with the old pin. Returns the
/// card's path.
fn new_card(key: &Path, old: &str, pin: Pin) -> Result<Option<PathBuf>, Error> {
    let path = key.with_extension(CARD);
    // The card of another key, or a file that is not a card, stays as it is.
    let card = MemberCard::read(&path).ok().filter(|card| card.pin.to_string() == old);
    let Some(card) = card else { return Ok(None) };
    NewFile::create(&path, 0o644)?.write(MemberCard { pin, ..card }.text().as_bytes())?;
    Ok(Some(path))
}

/// The result of a rotation.
#[derive(Serialize)]
struct Rotated<'a> {
    old_pin: String,
    old_file: &'a Path,
    /// The card beside the key, which now has the new pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<&'a Path>,
    #[serde(flatten)]
    new: Described,
}

fn rotate(args: &RotateArgs) -> Result<(), Error> {
    let path = &args.file;
    if is_stream(path) {
        return Err(Error::Usage("a key that is rotated stays in its file; name that".into()));
    }
    let old_pem = read(path)?;
    let (old, _) = Described::new(path, &old_pem)?;
    if !old.private_key {
        let remedy = "rotate the file that holds the key, at the party that it belongs to";
        return Err(Error::file("rotate", path, "it holds a certificate without its key", remedy));
    }
    let json = args.json.begin("rotate", path)?;
    let identity = made(&old.name, args.days)?;
    let new_pem = identity.to_pem();
    // The new key is on disk before anything else changes.
    let new = keep(path, &new_pem)?;
    let old_file = set_aside(path, &old_pem)?;
    new.commit()?;
    let (new, validity) = Described::new(path, &new_pem)?;
    let card = new_card(path, &old.pin, identity.pin())?;
    let text = format!("old {}\nnew {}\n", old.pin, new.pin);
    let rotated = Rotated { old_pin: old.pin, old_file: &old_file, card: card.as_deref(), new };
    args.json.deliver(text, &rotated, json)?;
    if args.json.instead() {
        return Ok(());
    }
    let Rotated { old_pin, new, .. } = rotated;
    let told = card.map_or(String::new(), |card| {
        let card = card.display();
        format!(
            "{card} has the new pin: send it to the others. They put it in the place of the old one, and run `hushwire init \
             --force`; then all compare the new code of the group. Without cards:\n\n"
        )
    });
    log::note!(
        "\n{} holds the new key, whose certificate holds {validity}; the old one is in {}.\n\
         {told}In the others' files, in this member's [[peers]] table, change\n\n\
         \x20 pin = \"{}\"\n\nto\n\n\x20 pin = \"{}\"\n\n\
         From now on this member is refused by whoever has the old pin alone: change all files between two runs. To go\n\
         back, rename {} to {}.",
        path.display(),
        old_file.display(),
        old_pin,
        new.pin,
        old_file.display(),
        path.display(),
    );
    Ok(())
}
