//! Tools for the tests: connections that are kept, commands, and processes of a party.

use crate::rig::{Answer, Rig, logs, program};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde_json::Value;
use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    process::{Command, Output},
    time::{Duration, Instant},
};
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

/// The longest time for anything that ends by itself.
pub(crate) const LONG: Duration = Duration::from_secs(90);

/// A client's connection that is kept. It is opened again if the party has closed it, as a party
/// does with an idle one.
pub(crate) struct Line {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    tls: TlsConnector,
    from: Ipv4Addr,
}

async fn dial(host: &str, tls: &TlsConnector, from: Ipv4Addr) -> io::Result<SendRequest<Full<Bytes>>> {
    let address: SocketAddr = host.parse().map_err(io::Error::other)?;
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let stream = tls.connect(name, stream).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

impl Line {
    /// Connects to a party from an address of this host.
    pub(crate) async fn to(rig: &Rig, party: usize, from: Ipv4Addr) -> io::Result<Self> {
        let (host, tls) = (host(rig, party), rig.tls[party].clone());
        Ok(Self { sender: dial(&host, &tls, from).await?, host, tls, from })
    }

    /// Sends a request. It may arrive twice.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> io::Result<Answer> {
        let body = Bytes::from(body);
        if let Ok(answer) = self.once(method, path, headers, body.clone()).await {
            return Ok(answer);
        }
        self.sender = dial(&self.host, &self.tls, self.from).await?;
        self.once(method, path, headers, body).await
    }

    async fn once(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> io::Result<Answer> {
        let mut request = Request::builder().method(method).uri(path).header("host", &self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).map_err(io::Error::other)?;
        self.sender.ready().await.map_err(io::Error::other)?;
        let answer = self.sender.send_request(request).await.map_err(io::Error::other)?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await.map_err(io::Error::other)?.to_bytes().to_vec();
        Ok(Answer { status, bytes })
    }
}

/// The host and port at which clients reach a party.
pub(crate) fn host(rig: &Rig, party: usize) -> String {
    let url = rig.up["parties"][party]["url"].as_str().expect("a url");
    url.trim_start_matches("https://").to_owned()
}

/// The value of a key in a party's config.
pub(crate) fn configured(rig: &Rig, party: usize, key: &str) -> String {
    let path = rig.dir.path().join(format!("party{party}.toml"));
    let text = fs::read_to_string(path).expect("a config");
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {key}")).trim().trim_matches('"').to_owned()
}

/// Runs a command of a person in the directory of the group.
pub(crate) fn command(rig: &Rig, line: &str) -> Output {
    let mut command = Command::new(program());
    command.args(line.split_whitespace()).current_dir(rig.dir.path()).env_remove("HUSHWIRE_SERVICE");
    command.output().unwrap_or_else(|e| panic!("{line}: {e}"))
}

/// The output of a command that succeeds.
pub(crate) fn run(rig: &Rig, line: &str) -> String {
    let output = command(rig, line);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{line}: {out}{err}{}", logs(rig.dir.path()));
    out.into_owned()
}

/// The output of a command as JSON.
pub(crate) fn told(rig: &Rig, line: &str) -> Value {
    let text = run(rig, &format!("{line} --json"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"))
}

/// The error of a command that fails.
pub(crate) fn fails(rig: &Rig, line: &str) -> String {
    let output = command(rig, line);
    assert!(!output.status.success(), "{line}: it had to fail");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The text of a JSON value.
pub(crate) fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Writes a file next to the group's files.
pub(crate) fn write(rig: &Rig, name: &str, text: &str) {
    fs::write(rig.dir.path().join(name), text).unwrap_or_else(|e| panic!("{name}: {e}"));
}

/// Waits until something holds.
pub(crate) fn until(rig: &Rig, what: &str, most: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + most;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {most:?}: {}", logs(rig.dir.path()));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process numbers of a daemon's workers.
pub(crate) fn workers(daemon: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of a process is in parentheses, and may contain blanks.
        let parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (parent == daemon).then_some(pid)
    });
    all.collect()
}

/// A process's resident memory in KiB, and the number of its open descriptors.
pub(crate) fn held(pid: u32) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    let kib = line.trim().trim_end_matches(" kB").trim().parse().expect("a number");
    (kib, fs::read_dir(format!("/proc/{pid}/fd")).expect("it is ours").count())
}

/// A number from the environment, for runs of another length.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Random numbers from a seed (splitmix64).
pub(crate) struct Lots(pub(crate) u64);

impl Lots {
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}
