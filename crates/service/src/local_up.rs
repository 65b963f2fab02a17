//! Runs all parties of a group on this machine in the foreground, to try the service: daemons,
//! tokens and an approved job.

use crate::{
    access::{self, CallerRole, OPERATORS},
    config::Config,
    party::Party,
    sample::{self, Sample},
    serve::runtime,
};
use hushwire_fault::{Fault, code};
use hushwire_seal::{MasterKey, Person, SignKey};
use hushwire_wire::{Https, Identity, Pin};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Write as _},
    net::TcpListener,
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::signal::unix::{SignalKind, signal};

/// LOCAL: how long the parties may take until they are ready.
const READY: Duration = Duration::from_secs(20);
/// LOCAL: how long a party may take to end.
const END: Duration = Duration::from_secs(6);
const STEP: &str = "starting a group on this machine";

/// The fields of `--json`.
#[derive(Serialize)]
struct Up {
    url: String,
    token: String,
    parties: Vec<UpParty>,
    tokens: BTreeMap<String, String>,
    dir: PathBuf,
    sample: Sample,
    commands: Vec<String>,
}

#[derive(Serialize)]
struct UpParty {
    url: String,
    pin: String,
}

/// Processes of parties, which end when this value is dropped.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        // Closing stdin ends a party as SIGINT does.
        self.0.iter_mut().for_each(|child| drop(child.stdin.take()));
        let until = Instant::now() + END;
        for child in &mut self.0 {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            // The party may have ended by now.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A port that is free now and not in `taken`. It is below the ports that the system gives to
/// outgoing connections, which could take it before a party listens there.
fn free_port(taken: &[u16]) -> io::Result<u16> {
    const TRIES: usize = 100;
    let drawn = (0..TRIES).filter_map(|_| {
        let mut place = [0; 2];
        getrandom::fill(&mut place).ok()?;
        Some(20_000 + u16::from_le_bytes(place) % 12_000)
    });
    let mut free = drawn.filter(|port| !taken.contains(port));
    let found = free.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    found.ok_or_else(|| io::Error::from(io::ErrorKind::AddrInUse))
}

/// Writes a file that only its owner can read.
fn private(path: &Path, text: &str) -> Result<(), Fault> {
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|e| Fault::io("write", path, &e))
}

/// Starts the parties, prints how to use them, and waits for SIGINT.
pub(crate) fn run(parties: u8, dir: Option<&Path>, json: bool) -> Result<(), Fault> {
    if !(2..=8).contains(&parties) {
        let cause = format!("there is no group of {parties} parties");
        return Err(Fault::usage(STEP, cause, "give 2 to 8"));
    }
    let made = dir.is_none().then(tempfile::tempdir).transpose();
    let made = made.map_err(|e| Fault::io("make a directory in", &std::env::temp_dir(), &e))?;
    let dir = dir.or_else(|| made.as_ref().map(tempfile::TempDir::path)).unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|e| Fault::io("make the directory", dir, &e))?;
    let dir = fs::canonicalize(dir).map_err(|e| Fault::io("use the directory", dir, &e))?;
    let runtime = runtime()?;
    let operator = Person::generate();
    operator.write(&dir.join("operator.keys"), true)?;
    let files = group(&dir, parties, operator.sign())?;
    let up = runtime.block_on(seed(&files, operator.sign(), &dir))?;
    let mut children = Children(vec![]);
    for (n, file) in files.iter().enumerate() {
        children.0.push(start(n, file, &dir)?);
    }
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|e| Fault::internal(STEP, e))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(|e| Fault::internal(STEP, e))?;
        tokio::select! {
            ready = ready(&up.parties, &mut children) => ready?,
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
        }
        say(&up, json)?;
        let mut look = tokio::time::interval(Duration::from_millis(500));
        loop {
            tokio::select! {
                _ = interrupt.recv() => return Ok(()),
                _ = terminate.recv() => return Ok(()),
                _ = look.tick() => watch(&mut children, &up.dir)?,
            }
        }
    })
}

/// Fails, with the end of its log, if a party has ended by itself.
fn watch(children: &mut Children, dir: &Path) -> Result<(), Fault> {
    for (n, child) in children.0.iter_mut().enumerate() {
        if let Ok(Some(status)) = child.try_wait() {
            let log = fs::read_to_string(dir.join(format!("party{n}.log"))).unwrap_or_default();
            let last = log.lines().last().unwrap_or_default();
            let cause = format!("party {n} ended: {status}: {last}");
            return Err(Fault::new(code::PROCESS, STEP, cause, "read its log beside its config"));
        }
    }
    Ok(())
}

/// Writes keys and configs. Returns the configs' paths.
fn group(dir: &Path, parties: u8, operator: &SignKey) -> Result<Vec<PathBuf>, Fault> {
    let mut known: Vec<(u16, u16, Pin)> = vec![];
    for n in 0..parties {
        let identity = Identity::generate(&format!("party{n}"));
        let identity = identity.map_err(|e| Fault::internal(STEP, e.cause()))?;
        private(&dir.join(format!("party{n}.pem")), &identity.to_pem())?;
        let master = dir.join(format!("party{n}.master"));
        if !master.exists() {
            MasterKey::create(&master)?;
        }
        let taken: Vec<u16> = known.iter().flat_map(|(api, party, _)| [*api, *party]).collect();
        let port = |taken: &[u16]| free_port(taken).map_err(|e| Fault::internal(STEP, e));
        let api = port(&taken)?;
        let party = port(&[&taken[..], &[api]].concat())?;
        known.push((api, party, identity.pin()));
    }
    let mut files = vec![];
    for n in 0..parties {
        let (api, party, _) = known[usize::from(n)];
        let mut text = format!(
            "group = \"demo\"\nparty = {n}\nlisten-api = \"127.0.0.1:{api}\"\nlisten-party = \"127.0.0.1:{party}\"\n\
             url = \"https://127.0.0.1:{api}\"\nkey = \"party{n}.pem\"\nmaster-key = \"party{n}.master\"\n\
             store = \"party{n}.db\"\nblobs = \"party{n}.blobs\"\noperators = [\"{}\"]\n",
            operator.public()
        );
        if parties != 3 {
            text += &sample::own_inputs(n, parties);
        }
        for (other, (api, party, pin)) in
            known.iter().enumerate().filter(|(other, _)| *other != usize::from(n))
        {
            let _ = write!(
                text,
                "\n[[peers]]\nparty = {other}\nurl = \"https://127.0.0.1:{api}\"\naddress = \"127.0.0.1:{party}\"\n\
                 pin = \"{pin}\"\n"
            );
        }
        let file = dir.join(format!("party{n}.toml"));
        private(&file, &text)?;
        files.push(file);
    }
    Ok(files)
}

/// Puts tokens and the sample into the stores. Returns what is printed about the group.
async fn seed(files: &[PathBuf], operator: &SignKey, dir: &Path) -> Result<Up, Fault> {
    let mut parties = vec![];
    for file in files {
        // Nobody connects to this port.
        parties.push(Party::open(Config::read(file)?, "127.0.0.1:0").await?);
    }
    let mut tokens = BTreeMap::new();
    for role in CallerRole::ALL {
        let token = access::draw()?;
        let tenant = if matches!(role, CallerRole::Operator | CallerRole::Auditor) {
            OPERATORS
        } else {
            sample::TENANT
        };
        for party in &parties {
            let token = token.clone();
            let given =
                party.store.run("token", move |c| access::grant(c, &token, role, tenant, "local up", None));
            given.await?;
        }
        tokens.insert(role.name().to_owned(), token);
    }
    let sample = match parties.len() {
        3 => sample::put(&parties, operator, dir).await?,
        _ => sample::put_own(&parties, operator, dir).await?,
    };
    for (role, token) in &tokens {
        let mut text = "group = \"demo\"\n".to_owned();
        for party in &parties {
            let (url, pin) = (&party.config.url, party.identity.pin());
            let _ = write!(text, "\n[[parties]]\nurl = \"{url}\"\npin = \"{pin}\"\ntoken = \"{token}\"\n");
        }
        private(&dir.join(format!("{role}.toml")), &text)?;
    }
    let up: Vec<UpParty> = parties
        .iter()
        .map(|party| UpParty { url: party.config.url.clone(), pin: party.identity.pin().to_string() })
        .collect();
    let (url, token) = (up[0].url.clone(), tokens[CallerRole::Analyst.name()].clone());
    let commands = sample.commands(dir);
    Ok(Up { url, token, parties: up, tokens, dir: dir.to_path_buf(), sample, commands })
}

/// Starts a party that ends when its stdin closes.
fn start(n: usize, file: &Path, dir: &Path) -> Result<Child, Fault> {
    let wrong = |e: io::Error| Fault::internal(STEP, e);
    let exe = File::open("/proc/self/exe").map_err(wrong)?;
    let path = dir.join(format!("party{n}.log"));
    let log = File::create(&path).map_err(|e| Fault::io("write", &path, &e))?;
    let mut command = Command::new(format!("/proc/self/fd/{}", exe.as_raw_fd()));
    std::os::unix::process::CommandExt::arg0(&mut command, format!("hushwire-service party {n}"));
    // A terminal's SIGINT goes to the foreground process alone, which then lets the parties end.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.arg("serve").arg("--config").arg(file).arg("--attended");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn().map_err(wrong)
}

/// Waits until all parties are ready.
async fn ready(parties: &[UpParty], children: &mut Children) -> Result<(), Fault> {
    let until = Instant::now() + READY;
    let me = Identity::generate("local up").map_err(|e| Fault::internal(STEP, e.cause()))?;
    let https = Https::new(&me);
    for (n, party) in parties.iter().enumerate() {
        let pin: Pin = party.pin.parse().map_err(|_| Fault::internal(STEP, "a pin is none"))?;
        let tls = https.client(vec![pin]).map_err(|e| Fault::internal(STEP, e))?;
        loop {
            if crate::peers::probe(&party.url, &tls, "/readyz").await {
                break;
            }
            let ended = matches!(children.0[n].try_wait(), Ok(Some(_)));
            if ended || Instant::now() > until {
                let cause = format!("party {n} is not ready within {} s", READY.as_secs());
                return Err(Fault::new(code::PROCESS, STEP, cause, "read its log beside its config"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

fn say(up: &Up, json: bool) -> Result<(), Fault> {
    let text = if json {
        let mut text = serde_json::to_string(up).map_err(|e| Fault::internal(STEP, e))?;
        text.push('\n');
        text
    } else {
        let mut text = format!(
            "{}\ntoken: {}\n\n{} parties are up, with their files in {}. Next:\n\n",
            up.url,
            up.token,
            up.parties.len(),
            up.dir.display()
        );
        for command in &up.commands {
            let _ = writeln!(text, "  {command}");
        }
        text.push_str("\nCtrl-C ends them all.\n");
        text
    };
    let mut out = io::stdout().lock();
    let said = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    said.map_err(|e| Fault::io("write", Path::new("standard output"), &e))
}
