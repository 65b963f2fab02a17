//! Three daemons as processes, and their clients.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::http::Line;
use crate::BoxError;

/// The longest time for anything that a daemon does by itself.
const LONG: Duration = Duration::from_secs(60);
/// The number of runs that the policy of the comparison allows.
const RUNS: u64 = 10_000_000;
/// The number of attempts that a daemon runs at the same time.
const SLOTS: u32 = 8;
/// The comparison, on one row with 17 and 42.
const SQL: &str = "SELECT COUNT(*) AS richer FROM pairs WHERE alice < bob";
const COLUMNS: &str = "columns = [\"alice INTEGER NOT NULL\", \"bob INTEGER NOT NULL\"]\n";

/// A program in the directory of this one.
pub(super) fn beside(name: &str) -> Result<PathBuf, BoxError> {
    let here = env::current_exe()?;
    // Tests are one directory deeper.
    let found = here.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let package = if name == "hushwire" { "hushwire-cli" } else { name };
        format!("{name} is not beside this program; build it with `cargo build --release -p {package}`")
            .into()
    })
}

/// The group of daemons.
pub(super) struct Daemons {
    service: PathBuf,
    command: PathBuf,
    dir: tempfile::TempDir,
    daemons: Vec<Option<Child>>,
    up: Value,
    body: Value,
    puts: u64,
    history: u64,
}

/// A sealed data set at the client.
pub(super) struct SealedSet {
    dir: String,
    /// The bytes of all parties' parts.
    pub(super) bytes: u64,
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().flatten() {
            // The process may have ended by itself.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn text(value: &Value) -> Result<&str, BoxError> {
    value.as_str().ok_or_else(|| format!("{value} is no text").into())
}

impl Daemons {
    /// Creates a group, and starts its daemons.
    pub(super) fn start() -> Result<Self, BoxError> {
        let (service, command) = (beside("hushwire-service")?, beside("hushwire")?);
        let dir = tempfile::Builder::new().prefix("hushwire-bench").tempdir()?;
        // `local-up` makes keys, tokens and configs, and ends when it is told to.
        let log = File::create(dir.path().join("up.log"))?;
        let mut up = Command::new(&service)
            .args(["local-up", "--json", "--dir"])
            .arg(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let mut line = String::new();
        BufReader::new(up.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let ended = Command::new("kill").args(["-INT", &up.id().to_string()]).status();
        up.wait()?;
        ended?;
        let made =
            serde_json::from_str(&line).map_err(|e| format!("hushwire-service local-up: {e}: {line}"))?;
        let mut group = Self {
            service,
            command,
            dir,
            daemons: vec![None, None, None],
            up: made,
            body: Value::Null,
            puts: 0,
            history: 0,
        };
        for party in 0..3 {
            let config = group.dir.path().join(format!("party{party}.toml"));
            let with = format!("slots = {SLOTS}\n{}", fs::read_to_string(&config)?);
            fs::write(config, with)?;
        }
        group.restart()?;
        group.propose()?;
        Ok(group)
    }

    /// The directory of all its files.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn spawn(&mut self, party: usize) -> Result<(), BoxError> {
        let log =
            File::options().create(true).append(true).open(self.dir().join(format!("party{party}.log")))?;
        let child = Command::new(&self.service)
            .arg("serve")
            .arg("--config")
            .arg(self.dir().join(format!("party{party}.toml")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.daemons[party] = Some(child);
        Ok(())
    }

    /// Ends a daemon as a supervisor would.
    fn end(&mut self, party: usize) -> Result<(), BoxError> {
        if let Some(mut daemon) = self.daemons[party].take() {
            Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status()?;
            daemon.wait()?;
        }
        Ok(())
    }

    /// Ends all daemons and starts them again.
    pub(super) fn restart(&mut self) -> Result<(), BoxError> {
        (0..3).try_for_each(|party| self.end(party))?;
        (0..3).try_for_each(|party| self.spawn(party))?;
        (0..3).try_for_each(|party| self.until(party, "/readyz").map(drop))
    }

    /// Waits until a path of a party returns status 200. Returns the time that this took.
    fn until(&self, party: usize, path: &str) -> Result<Duration, BoxError> {
        let begun = Instant::now();
        loop {
            let asked = self.line(party, "").and_then(|mut line| line.ask("GET", path, "", ""));
            if asked.is_ok_and(|answer| answer.status == 200) {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > LONG {
                let log =
                    fs::read_to_string(self.dir().join(format!("party{party}.log"))).unwrap_or_default();
                return Err(format!(
                    "party {party} is not ready: {}",
                    log.lines().last().unwrap_or_default()
                )
                .into());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Starts party 0 while the others run. Returns the seconds until it is ready.
    pub(super) fn start_of_party_0(&mut self) -> Result<f64, BoxError> {
        self.end(0)?;
        for party in [1, 2] {
            if self.daemons[party].is_none() {
                self.spawn(party)?;
            }
            self.until(party, "/healthz")?;
        }
        let begun = Instant::now();
        self.spawn(0)?;
        self.until(0, "/readyz")?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Runs a command of a person in the group's directory. Returns its output.
    fn run(&self, line: &str) -> Result<String, BoxError> {
        let args = line.split_whitespace();
        let output = Command::new(&self.service).args(args).current_dir(self.dir()).output()?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)?);
        }
        Err(format!("hushwire-service {line}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    fn told(&self, line: &str) -> Result<Value, BoxError> {
        Ok(serde_json::from_str(&self.run(&format!("{line} --json"))?)?)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), BoxError> {
        Ok(fs::write(self.dir().join(name), text)?)
    }

    /// Uploads the row, and gets the comparison approved.
    fn propose(&mut self) -> Result<(), BoxError> {
        self.write("pairs.csv", "alice,bob\n17,42\n")?;
        self.write("pairs.toml", &format!("[[tables]]\nname = \"pairs\"\n{COLUMNS}"))?;
        self.write(
            "pairs-job.toml",
            &format!(
                "kind = \"query\"\nsql = \"{SQL}\"\nto = [\"recipient:anna\"]\n\n[[tables]]\nname = \"pairs\"\n{COLUMNS}\
                 parts = [\"data:pairs 1\"]\n"
            ),
        )?;
        let put = self.told("data put pairs.csv --schema pairs.toml --keys owner.keys --to owner.toml")?;
        let card = self.told("key show --keys anna.keys --name anna")?;
        let proposed = self.told("propose pairs-job.toml --to analyst.toml")?;
        let (data, proposal) = (text(&put["id"])?, text(&proposed[0]["id"])?);
        let policy = self.run(&format!(
            "policy draft {proposal} --recipient {} --data pairs=id:{data} --runs {RUNS} --to operator.toml",
            text(&card["id"])?
        ))?;
        self.write("policy.toml", &policy)?;
        self.run(&format!(
            "approve {proposal} --policy policy.toml --keys operator.keys --to operator.toml"
        ))?;
        let seal_to = &self.up["sample"]["seal_to"];
        self.body =
            json!({ "proposal": proposal, "data": { "pairs": data }, "recipients": { "anna": seal_to } });
        Ok(())
    }

    /// Runs the same query between processes, without a service.
    pub(super) fn bare(&self, spoiled: bool) -> Result<(), BoxError> {
        let output = Command::new(&self.command)
            .args(["local", "query", "--table", "pairs=pairs.csv@owner", "--schema", "pairs.toml"])
            .args(["--sql", SQL, "--out", "-"])
            .current_dir(self.dir())
            .output()?;
        if !output.status.success() {
            return Err(format!("hushwire local query: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        compare(&String::from_utf8(output.stdout)?, spoiled)
    }

    /// Opens a result with the recipient's keys, and compares it.
    pub(super) fn check(&self, job: &str, spoiled: bool) -> Result<(), BoxError> {
        self.run(&format!("fetch {job} --keys anna.keys --out {job}.csv --to analyst.toml"))?;
        compare(&fs::read_to_string(self.dir().join(format!("{job}.csv")))?, spoiled)
    }

    fn line(&self, party: usize, role: &str) -> Result<Line, BoxError> {
        let at = &self.up["parties"][party];
        let token = self.up["tokens"][role].as_str().unwrap_or_default();
        Line::dial(text(&at["url"])?, text(&at["pin"])?, token)
    }

    /// A client with a connection to each party.
    pub(super) fn guest(&self) -> Result<Guest, BoxError> {
        let lines = (0..3).map(|party| self.line(party, "analyst")).collect::<Result<_, _>>()?;
        Ok(Guest { lines, body: self.body.to_string() })
    }

    /// The bytes of a daemon that are resident in memory.
    pub(super) fn resident(&self, party: usize) -> Result<f64, BoxError> {
        let daemon = self.daemons[party].as_ref().ok_or("it does not run")?;
        let status = fs::read_to_string(format!("/proc/{}/status", daemon.id()))?;
        let bytes = crate::machine::kib_field(&status, "VmRSS").ok_or("the system does not say")?;
        Ok(bytes as f64)
    }

    /// The processor time that all daemons have used, and that of their workers; 0 if the operating
    /// system does not report it.
    pub(super) fn processor_seconds(&self) -> [f64; 2] {
        let daemons: Vec<u32> = self.daemons.iter().flatten().map(Child::id).collect();
        let all = fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            used(&stat, daemons.contains(&pid), &daemons)
        });
        all.fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }

    /// Seals a data set of `rows` rows into a directory. No part is sent yet.
    pub(super) fn sealed(&mut self, rows: u64) -> Result<SealedSet, BoxError> {
        self.puts += 1;
        let mut csv = String::from("a,b,c,d\n");
        for n in 0..rows {
            let at = |k: u64| n.wrapping_mul(0x9e37_79b9 + k) % 1_000_000_007;
            csv += &format!("{},{},{},{}\n", at(1), at(2), at(3), at(4));
        }
        self.write("many.csv", &csv)?;
        let columns = ["a", "b", "c", "d"].map(|name| format!("\"{name} BIGINT NOT NULL\"")).join(", ");
        self.write("many.toml", &format!("[[tables]]\nname = \"many\"\ncolumns = [{columns}]\n"))?;
        // A tenant without space makes the upload end before its first part.
        self.room(0)?;
        let dir = format!("sealed-{}", self.puts);
        let put =
            format!("data put many.csv --schema many.toml --keys owner.keys --parts {dir} --to owner.toml");
        if self.run(&put).is_ok() {
            return Err("a put without room for it went through".into());
        }
        self.room(1 << 40)?;
        let mut bytes = 0;
        for entry in fs::read_dir(self.dir().join(&dir)).map_err(|e| format!("{dir}: {e}"))? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().contains("-part") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(SealedSet { dir, bytes })
    }

    fn room(&self, bytes: u64) -> Result<(), BoxError> {
        let quotas = json!({ "jobs": 1_000_000, "bytes": bytes, "parallel": SLOTS }).to_string();
        for party in 0..3 {
            self.line(party, "operator")?.ask("PUT", "/v1/tenants/demo", "", &quotas)?.good()?;
        }
        Ok(())
    }

    /// Uploads a sealed data set. Returns the time until all parties have it. Then the sealed parts
    /// at the client are removed.
    pub(super) fn put(&self, sealed: &SealedSet) -> Result<Duration, BoxError> {
        let begun = Instant::now();
        let mut command = Command::new(&self.service);
        command.args(["data", "put", "--json", "--to", "owner.toml", "--resume", &sealed.dir]);
        let mut child = command.current_dir(self.dir()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("no pipe")?;
        let put = serde_json::Deserializer::from_reader(out).into_iter::<Value>().next();
        let took = begun.elapsed();
        if !child.wait()?.success() {
            return Err("hushwire-service data put has failed".into());
        }
        let put = put.ok_or("no answer")??;
        if put["sent"].as_u64() == Some(sealed.bytes) { Ok(took) } else { Err(format!("{put}").into()) }
    }

    /// The jobs that party 0 has had, without those of other cases.
    pub(super) fn history(&self) -> u64 {
        self.history
    }

    /// Fills party 0's history with `jobs` jobs that were submitted and cancelled.
    pub(super) fn fill(&mut self, jobs: u64, clerks: u64) -> Result<(), BoxError> {
        let more = jobs.saturating_sub(self.history);
        // A party that is alone runs no job.
        (0..3).try_for_each(|party| self.end(party))?;
        self.spawn(0)?;
        self.until(0, "/healthz")?;
        self.alone()?;
        let lines = (0..clerks)
            .map(|_| Ok((self.line(0, "analyst")?, self.line(0, "operator")?)))
            .collect::<Result<Vec<_>, BoxError>>()?;
        let body = self.body.to_string();
        let one = |(mut analyst, mut operator): (Line, Line), jobs: u64| -> Result<(), BoxError> {
            for _ in 0..jobs {
                let view = patient(&mut analyst, "/v1/jobs", &fresh_key(), &body)?;
                patient(&mut operator, &format!("/v1/jobs/{}/cancel", text(&view["id"])?), "", "{}")?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let all = lines.into_iter().enumerate().map(|(n, lines)| {
                let jobs = more / clerks + u64::from((n as u64) < more % clerks);
                let one = &one;
                scope.spawn(move || one(lines, jobs))
            });
            let all: Vec<_> = all.collect();
            all.into_iter().try_for_each(|one| one.join().map_err(|_| "a client panicked")?)
        })?;
        self.history += more;
        Ok(())
    }

    /// Sets the quotas for party 0 alone.
    fn alone(&self) -> Result<(), BoxError> {
        let quotas = json!({ "jobs": 1_000_000, "bytes": 1u64 << 40, "parallel": SLOTS }).to_string();
        self.line(0, "operator")?.ask("PUT", "/v1/tenants/demo", "", &quotas)?.good().map(drop)
    }
}

/// Posts again until the service accepts the request.
fn patient(line: &mut Line, path: &str, key: &str, body: &str) -> Result<Value, BoxError> {
    loop {
        let answer = line.ask("POST", path, key, body)?;
        if answer.status != 429 {
            return Ok(serde_json::from_slice(&answer.good()?)?);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The seconds of a process from its line in proc(5): those of a daemon and its ended workers, or
/// of a running worker.
fn used(stat: &str, is_daemon: bool, daemons: &[u32]) -> Option<[f64; 2]> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // User and system time are in hundredths of a second.
    let seconds = |from: usize| -> Option<f64> {
        let ticks = fields.get(from..from + 2)?.iter().map(|field| field.parse::<f64>().ok());
        Some(ticks.sum::<Option<f64>>()? / 100.0)
    };
    if is_daemon {
        return Some([seconds(11)?, seconds(13)?]);
    }
    let parent: u32 = fields.get(1)?.parse().ok()?;
    if daemons.contains(&parent) { Some([0.0, seconds(11)?]) } else { None }
}

/// A key that no earlier job had.
fn fresh_key() -> String {
    static KEYS: AtomicU64 = AtomicU64::new(0);
    format!("bench-{}-{}", std::process::id(), KEYS.fetch_add(1, Ordering::Relaxed))
}

/// Checks that the comparison's result is one row with 1.
fn compare(csv: &str, spoiled: bool) -> Result<(), BoxError> {
    if csv.lines().eq(["richer", "1"]) && !spoiled {
        return Ok(());
    }
    Err(format!("17 is less than 42, and the result is {csv:?}").into())
}

/// A client.
pub(super) struct Guest {
    lines: Vec<Line>,
    body: String,
}

impl Guest {
    /// Sends the same request to all parties at once.
    fn all(&mut self, method: &str, path: &str, key: &str, body: &str) -> Result<Vec<Vec<u8>>, BoxError> {
        self.lines.iter_mut().try_for_each(|line| line.send(method, path, key, body))?;
        self.lines.iter_mut().map(|line| line.answer()?.good()).collect()
    }

    /// Submits the comparison. Returns the job's name.
    pub(super) fn submit(&mut self) -> Result<String, BoxError> {
        let body = self.body.clone();
        let views = self.all("POST", "/v1/jobs", &fresh_key(), &body)?;
        let view: Value = serde_json::from_slice(&views[0])?;
        Ok(text(&view["id"])?.to_owned())
    }

    /// Waits until a job is committed at all parties.
    pub(super) fn wait(&mut self, job: &str) -> Result<(), BoxError> {
        for events in self.all("GET", &format!("/v1/jobs/{job}/events"), "", "")? {
            let events = String::from_utf8(events)?;
            // Events with other names, or an empty list, have no data of a job.
            let last = events.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or("{}");
            let last: Value = serde_json::from_str(last)?;
            if !matches!(last["state"].as_str(), Some("committed" | "delivered")) {
                return Err(format!("job {job}: {last}").into());
            }
        }
        Ok(())
    }
}
