//! A group of parties in processes, and its clients.
#![allow(dead_code, reason = "each test takes a part of it")]

use http_body_util::{BodyExt, Full};
use hushwire_kinds::Job;
use hushwire_seal::{
    Person, challenge,
    result::{self, ResultPlace},
};
use hushwire_session::SealedShare;
use hushwire_wire::{Https, Identity, Pin};
use hyper::{Request, StatusCode, body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};
use tokio::{net::TcpStream, runtime::Runtime};
use tokio_rustls::TlsConnector;

/// The program: this build's, or another one for long runs, such as an optimised build.
pub(crate) fn program() -> String {
    std::env::var("HUSHWIRE_SERVICE_PROGRAM")
        .unwrap_or_else(|_| env!("CARGO_BIN_EXE_hushwire-service").to_owned())
}

/// An answer of a party.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|e| panic!("{e}: {} {}", self.status, String::from_utf8_lossy(&self.bytes)))
    }
}

/// A process that ends when its value is dropped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.0.id().cast_signed()).expect("a process has a number");
        kill_process(pid, signal).expect("it is ours");
    }

    pub(crate) fn ends_within(&mut self, most: Duration) -> bool {
        let until = Instant::now() + most;
        while Instant::now() < until {
            if self.0.try_wait().expect("it is ours").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The parties of `local-up`, and their clients.
pub(crate) struct Rig {
    pub(crate) dir: tempfile::TempDir,
    /// The answer of `local-up --json`.
    pub(crate) up: Value,
    pub(crate) runtime: Runtime,
    pub(crate) tls: Vec<TlsConnector>,
    /// The daemons, if they run one by one.
    pub(crate) parties: Vec<Option<Process>>,
    /// `local-up`, if it runs.
    pub(crate) together: Option<Process>,
}

static KEYS: AtomicU64 = AtomicU64::new(0);

impl Rig {
    /// Starts `local-up`.
    pub(crate) fn up() -> Self {
        Self::up_of(3)
    }

    /// Starts `local-up` with this number of parties.
    pub(crate) fn up_of(parties: usize) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let begun = Instant::now();
        let mut child = Command::new(program())
            .args(["local-up", "--json", "--parties", &parties.to_string(), "--dir"])
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        let together = Process(child);
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let up: Value =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}{}", logs(dir.path())));
        eprintln!("local-up was ready after {:.1} s", begun.elapsed().as_secs_f64());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads");
        let https = Https::new(&Identity::generate("test").expect("a key"));
        let pin =
            |party: &Value| party["pin"].as_str().and_then(|pin| pin.parse::<Pin>().ok()).expect("a pin");
        let tls = up["parties"].as_array().expect("parties").iter();
        let tls = tls.map(|party| TlsConnector::from(https.client(vec![pin(party)]).expect("TLS"))).collect();
        let parties = (0..parties).map(|_| None).collect();
        Self { dir, up, runtime, tls, parties, together: Some(together) }
    }

    /// The number of parties.
    pub(crate) fn count(&self) -> usize {
        self.parties.len()
    }

    /// Adds `lines` to a party's config, before its peers.
    pub(crate) fn configure(&self, party: usize, lines: &str) {
        let path = self.dir.path().join(format!("party{party}.toml"));
        let text = std::fs::read_to_string(&path).expect("a config");
        let changed = text.replacen("\n[[peers]]", &format!("\n{lines}\n\n[[peers]]"), 1);
        assert_ne!(text, changed);
        std::fs::write(path, changed).expect("room");
    }

    /// Starts each party by itself, and waits until it has met the others.
    pub(crate) fn start_all(&mut self) {
        (0..self.count()).for_each(|party| self.start(party, ""));
        (0..self.count()).for_each(|party| self.answers(party));
        let until = Instant::now() + Duration::from_secs(20);
        for party in 0..self.count() {
            while self
                .try_ask(party, "GET", "/readyz", "", &[], vec![])
                .is_none_or(|a| !a.status.is_success())
            {
                assert!(Instant::now() < until, "party {party} is not ready: {}", logs(self.dir.path()));
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Ends a party that runs by itself.
    pub(crate) fn end(&mut self, party: usize) {
        if let Some(mut running) = self.parties[party].take() {
            running.signal(Signal::TERM);
            assert!(running.ends_within(Duration::from_secs(15)), "{}", logs(self.dir.path()));
        }
    }

    /// Submits a body to all parties. Returns the job's name.
    pub(crate) fn submit_body(&self, key: &str, body: &Value) -> String {
        let mut id = None;
        for party in 0..self.count() {
            let answer = self.submit_to(party, key, body).expect("an answer");
            assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
            id = answer.json()["id"].as_str().map(str::to_owned);
        }
        id.expect("a name")
    }

    /// Ends `local-up` and keeps its files, so that each party can be started by itself.
    pub(crate) fn apart(mut self) -> Self {
        let mut together = self.together.take().expect("it runs");
        together.signal(Signal::INT);
        assert!(together.ends_within(Duration::from_secs(10)), "{}", logs(self.dir.path()));
        self
    }

    /// Starts one party with points of failure.
    pub(crate) fn start(&mut self, party: usize, failpoints: &str) {
        // Without small results, results pass the points of blobs, too.
        let large = [("HUSHWIRE_SMALL_RESULT", "0")];
        self.start_with(party, failpoints, if failpoints.starts_with("blob") { &large } else { &[] });
    }

    /// Starts one party with points of failure and other settings for tests.
    pub(crate) fn start_with(&mut self, party: usize, failpoints: &str, settings: &[(&str, &str)]) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("party{party}.log")));
        let child = Command::new(program())
            .arg("serve")
            .arg("--config")
            .arg(self.dir.path().join(format!("party{party}.toml")))
            .env("HUSHWIRE_FAILPOINTS", failpoints)
            .env("HUSHWIRE_CLOCK", self.clock(party))
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stderr(log.expect("a file"))
            .spawn();
        self.parties[party] = Some(Process(child.expect("the program starts")));
    }

    /// Starts all parties, each by itself.
    pub(crate) fn all_up(&mut self) {
        (0..3).for_each(|party| self.start(party, ""));
        (0..3).for_each(|party| self.answers(party));
    }

    /// Kills a party with SIGKILL.
    pub(crate) fn kill(&mut self, party: usize) {
        if let Some(mut running) = self.parties[party].take() {
            running.signal(Signal::KILL);
            assert!(running.ends_within(Duration::from_secs(5)));
        }
    }

    /// Starts a party again if it has ended by itself, without points of failure.
    pub(crate) fn revive(&mut self, party: usize) {
        if let Some(running) = &mut self.parties[party]
            && running.0.try_wait().expect("it is ours").is_some()
        {
            self.start(party, "");
            self.answers(party);
        }
    }

    fn clock(&self, party: usize) -> PathBuf {
        self.dir.path().join(format!("party{party}.clock"))
    }

    /// Sets the error of a party's clock, in milliseconds.
    pub(crate) fn set_clock(&self, party: usize, wrong: i64) {
        let new = self.dir.path().join(format!("party{party}.clock.new"));
        std::fs::write(&new, wrong.to_string()).expect("room");
        std::fs::rename(new, self.clock(party)).expect("it is ours");
    }

    /// Makes clients expect this pin of a party.
    pub(crate) fn know_pin(&mut self, party: usize, pin: &str) {
        let https = Https::new(&Identity::generate("test").expect("a key"));
        let tls = https.client(vec![pin.parse().expect("a pin")]).expect("TLS");
        self.tls[party] = TlsConnector::from(tls);
    }

    /// Changes a party's config for its next start.
    pub(crate) fn edit_config(&self, party: usize, change: impl FnOnce(String) -> String) {
        let path = self.dir.path().join(format!("party{party}.toml"));
        let text = std::fs::read_to_string(&path).expect("a config");
        std::fs::write(path, change(text)).expect("room");
    }

    /// Checks that party 0 has committed whatever a party hands out.
    pub(crate) fn nothing_is_out_before_the_decision(&self, job: &str) {
        for party in 0..3 {
            // Whoever gets a challenge about a result can fetch the result.
            let path = format!("/v1/jobs/{job}/results/anna/challenge");
            let answer = self.try_ask(party, "POST", &path, &self.token("analyst"), &[], b"{}".to_vec());
            if answer.is_some_and(|answer| answer.status.is_success()) {
                let sql = "SELECT count(*) FROM attempts WHERE job = ?1 AND state = 'committed'";
                let n: i64 = self.store(0).query_row(sql, [job], |row| row.get(0)).expect("a row");
                assert_eq!(n, 1, "party {party} hands out what was not decided");
            }
        }
    }

    /// Checks that a job has ended alike at all parties, and that they count its runs alike.
    /// Returns the state.
    pub(crate) fn one_end(&self, job: &str, seen: &[Value]) -> String {
        let mut states: Vec<_> = seen.iter().filter_map(|view| view["state"].as_str()).collect();
        states.dedup();
        assert_eq!((states.len(), seen.len()), (1, 3), "one end: {seen:#?}");
        let counted = |party: usize| -> i64 {
            let sql = "SELECT count(*) FROM runs WHERE job = ?1 AND refunded = 0";
            self.store(party).query_row(sql, [job], |row| row.get(0)).expect("a row")
        };
        let mut counts: Vec<_> = (0..3).map(counted).collect();
        counts.dedup();
        assert_eq!(counts.len(), 1, "runs are counted alike: {counts:?} {seen:#?}");
        if states[0] == "committed" {
            let attempt = seen[0]["attempt"].as_u64().expect("a number");
            assert!(seen.iter().all(|view| view["attempt"].as_u64() == Some(attempt)), "{seen:#?}");
            self.check_result(job, attempt as u32);
        } else {
            assert!(seen.iter().all(|view| !view["cause"]["cause"].is_null()), "a cause: {seen:#?}");
        }
        states[0].to_owned()
    }

    /// Checks that after the sweep of a restart every blob of every party has a row, and every row
    /// its blob.
    pub(crate) fn restart_and_compare_blobs(&mut self) {
        for party in 0..3 {
            if let Some(mut running) = self.parties[party].take() {
                running.signal(Signal::TERM);
                assert!(running.ends_within(Duration::from_secs(15)), "{}", logs(self.dir.path()));
            }
            self.start(party, "");
            self.answers(party);
            let store = self.store(party);
            let sql = "SELECT blob FROM results EXCEPT SELECT blob FROM small_results
                UNION SELECT blob FROM parts WHERE stored = 1";
            let mut statement = store.prepare(sql).expect("SQL");
            let rows = statement.query_map([], |row| row.get(0)).expect("rows");
            let known: BTreeSet<String> = rows.collect::<Result<_, _>>().expect("text");
            let there: BTreeSet<String> = std::fs::read_dir(self.blobs(party))
                .expect("a directory")
                .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
                .collect();
            assert_eq!(there, known, "party {party}");
        }
    }

    /// Waits until a party answers.
    pub(crate) fn answers(&self, party: usize) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.try_ask(party, "GET", "/healthz", "", &[], vec![]).is_none() {
            assert!(Instant::now() < until, "party {party} does not answer: {}", logs(self.dir.path()));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn token(&self, role: &str) -> String {
        self.up["tokens"][role].as_str().expect("a token").to_owned()
    }

    pub(crate) fn try_ask(
        &self,
        party: usize,
        method: &str,
        path: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Option<Answer> {
        let url = self.up["parties"][party]["url"].as_str().expect("a url");
        let address = url.trim_start_matches("https://").to_owned();
        let mut request = Request::builder().method(method).uri(path).header("host", &address);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let tls = self.tls[party].clone();
        self.runtime.block_on(async move {
            let ask = async {
                let socket = TcpStream::connect(&address).await.ok()?;
                let name = ServerName::try_from("localhost").ok()?;
                let stream = tls.connect(name, socket).await.ok()?;
                let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
                tokio::spawn(connection);
                let answer = sender.send_request(request).await.ok()?;
                let status = answer.status();
                let bytes = answer.into_body().collect().await.ok()?.to_bytes().to_vec();
                Some(Answer { status, bytes })
            };
            tokio::time::timeout(Duration::from_secs(30), ask).await.ok().flatten()
        })
    }

    /// Asks a party.
    pub(crate) fn ask(&self, party: usize, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let body = if body.is_null() { vec![] } else { body.to_string().into_bytes() };
        let answer = self.try_ask(party, method, path, token, &[], body);
        answer.unwrap_or_else(|| {
            panic!("party {party} does not answer {method} {path}: {}", logs(self.dir.path()))
        })
    }

    /// Sends bytes to a party.
    pub(crate) fn send(&self, party: usize, method: &str, path: &str, token: &str, body: Vec<u8>) -> Answer {
        self.try_ask(party, method, path, token, &[], body).expect("an answer")
    }

    /// The body of a job on the sample's data.
    pub(crate) fn job(&self) -> Value {
        let sample = &self.up["sample"];
        json!({ "proposal": sample["proposal"], "data": { "stays": sample["data"] }, "recipients": { "anna": sample["seal_to"] } })
    }

    pub(crate) fn submit_to(&self, party: usize, key: &str, body: &Value) -> Option<Answer> {
        let token = self.token("analyst");
        let body = body.to_string().into_bytes();
        self.try_ask(party, "POST", "/v1/jobs", &token, &[("idempotency-key", key)], body)
    }

    /// A key that was not used before in this run.
    pub(crate) fn fresh_key() -> String {
        format!("key-{}-{}", std::process::id(), KEYS.fetch_add(1, Ordering::Relaxed))
    }

    /// Submits a job to all parties. Returns its name.
    pub(crate) fn submit(&self, key: &str) -> String {
        let mut id = None;
        for party in 0..self.count() {
            let answer = self.submit_to(party, key, &self.job()).expect("an answer");
            assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
            let this = answer.json()["id"].as_str().expect("a name").to_owned();
            assert!(id.as_ref().is_none_or(|id| *id == this), "all parties have the same name");
            id = Some(this);
        }
        id.expect("a party")
    }

    /// A job as a party shows it.
    pub(crate) fn look(&self, party: usize, job: &str) -> Option<Value> {
        let answer =
            self.try_ask(party, "GET", &format!("/v1/jobs/{job}"), &self.token("analyst"), &[], vec![])?;
        answer.status.is_success().then(|| answer.json())
    }

    /// Waits until a job has ended at all parties. Returns its last state at each.
    pub(crate) fn wait(&self, job: &str, most: Duration) -> Vec<Value> {
        let until = Instant::now() + most;
        loop {
            let seen: Vec<_> = (0..self.count()).filter_map(|party| self.look(party, job)).collect();
            let ended = |view: &&Value| {
                matches!(view["state"].as_str(), Some("committed" | "delivered" | "failed" | "cancelled"))
            };
            if seen.iter().filter(ended).count() == self.count() {
                return seen;
            }
            assert!(Instant::now() < until, "job {job} has no end: {seen:#?} {}", logs(self.dir.path()));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The answer to a party's challenge about a job's result, computed with a file of keys.
    pub(crate) fn proof(&self, party: usize, job: &str, keys: &str) -> Result<String, String> {
        let path = format!("/v1/jobs/{job}/results/anna/challenge");
        let asked = self.ask(party, "POST", &path, &self.token("analyst"), &json!({}));
        if !asked.status.is_success() {
            return Err(String::from_utf8_lossy(&asked.bytes).into_owned());
        }
        let asked =
            asked.json()["challenge"].as_str().map(hex::decode).expect("a challenge").expect("digits");
        let attempt = self.look(party, job).expect("a job")["attempt"].as_u64().expect("a number") as u32;
        let person = Person::read(&self.dir.path().join(keys)).map_err(|e| e.to_string())?;
        let place = ResultPlace { job, attempt, output: "anna", party: party as u8 };
        let answer = challenge::answer(&person, &place, &asked).map_err(|e| e.to_string())?;
        Ok(hex::encode(&answer[..]))
    }

    /// The sealed shares of a job's result, from each party.
    pub(crate) fn fetch(&self, job: &str) -> Vec<Vec<u8>> {
        let fetch = |party| {
            let proof = self.proof(party, job, "anna.keys").unwrap_or_else(|e| panic!("{e}"));
            let path = format!("/v1/jobs/{job}/results/anna");
            let headers = [("hushwire-proof", proof.as_str())];
            let answer = self.try_ask(party, "GET", &path, &self.token("analyst"), &headers, vec![]);
            let answer = answer.expect("an answer");
            assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
            answer.bytes
        };
        (0..3).map(fetch).collect()
    }

    /// Opens a result with the recipient's keys.
    pub(crate) fn open(&self, job: &str, attempt: u32, shares: &[Vec<u8>]) -> Result<String, String> {
        let person = Person::read(&self.dir.path().join("anna.keys")).map_err(|e| e.to_string())?;
        let open = |party: usize| {
            let place = ResultPlace { job, attempt, output: "anna", party: party as u8 };
            let opened = result::open(&person, &place, &shares[party]).map_err(|e| e.to_string())?;
            Ok::<_, String>(SealedShare { share: opened.share, next: opened.next.0 })
        };
        let shares = [open(0)?, open(1)?, open(2)?];
        let job = Job::read(&self.dir.path().join("stays.toml")).map_err(|e| e.to_string())?;
        let opened = job.open_sealed("anna", &shares).map_err(|e| e.to_string())?;
        String::from_utf8(opened.csv["result"].clone()).map_err(|e| e.to_string())
    }

    /// The answer to the sample's query, computed from its rows.
    pub(crate) fn plain(&self) -> Vec<(String, u64, f64)> {
        let text = std::fs::read_to_string(self.dir.path().join("stays.csv")).expect("the sample's rows");
        let mut wards: std::collections::BTreeMap<String, (u64, u64)> = std::collections::BTreeMap::new();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let ward = wards.entry(fields[1].to_owned()).or_default();
            ward.0 += 1;
            ward.1 += fields[2].parse::<u64>().expect("a number");
        }
        let wards = wards.into_iter().filter(|(_, (n, _))| *n >= 5);
        wards.map(|(ward, (n, days))| (ward, n, days as f64 / n as f64)).collect()
    }

    /// Checks that the result of a committed job is the plain one.
    pub(crate) fn check_result(&self, job: &str, attempt: u32) {
        let csv = self.open(job, attempt, &self.fetch(job)).unwrap_or_else(|e| panic!("{e}"));
        self.check_csv(&csv);
    }

    /// Checks that the sample's result is the plain one.
    pub(crate) fn check_csv(&self, csv: &str) {
        let mut rows: Vec<(String, u64, f64)> = csv
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<&str> = line.split(',').collect();
                (
                    fields[0].to_owned(),
                    fields[1].parse().expect("a count"),
                    fields[2].parse().expect("a mean"),
                )
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        let plain = self.plain();
        assert_eq!(rows.len(), plain.len(), "{csv}");
        for (row, plain) in rows.iter().zip(&plain) {
            assert!(
                row.0 == plain.0 && row.1 == plain.1 && (row.2 - plain.2).abs() < 0.01,
                "{row:?} {plain:?}"
            );
        }
    }

    pub(crate) fn store(&self, party: usize) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.path().join(format!("party{party}.db"))).expect("a store")
    }

    pub(crate) fn blobs(&self, party: usize) -> PathBuf {
        self.dir.path().join(format!("party{party}.blobs"))
    }
}

/// The last lines of all logs.
pub(crate) fn logs(dir: &Path) -> String {
    let mut text = String::new();
    for party in 0..8 {
        let path = dir.join(format!("party{party}.log"));
        if !path.exists() {
            continue;
        }
        let log = std::fs::read_to_string(dir.join(format!("party{party}.log"))).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        text += &format!("\n--- party {party}\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
    }
    text
}
