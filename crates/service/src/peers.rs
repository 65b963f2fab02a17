//! Requests to the other parties' daemons, over TLS with pins on both sides.

use crate::{
    config::{Config, PeerParty},
    failpoint,
    http::Problem,
};
use http_body_util::{BodyExt, Full, Limited};
use hushwire_fault::{Fault, PartyId, Text, code};
use hushwire_wire::{Https, Identity};
use hyper::{
    Method, Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

/// LOCAL: how long a connection to a peer may take.
const CONNECT: Duration = Duration::from_secs(5);
/// LOCAL: how long an answer may take. Reserving includes the start of a worker.
const ANSWER: Duration = Duration::from_secs(70);
/// LOCAL: the longest answer, in bytes.
const LONGEST: usize = 1 << 20;
/// LOCAL: the most idle connections to a peer that are kept.
const KEPT: usize = 8;

/// The other parties of the group.
pub(crate) struct Peers {
    group: String,
    peers: BTreeMap<u8, PeerLink>,
}

struct PeerLink {
    party: PeerParty,
    tls: TlsConnector,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    health: Mutex<Health>,
}

/// The last facts about a peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Whether the last request was answered.
    pub(crate) up: bool,
    /// The error of the last request, if it failed.
    pub(crate) error: Option<String>,
    /// The time of the last round trip.
    pub(crate) round_trip: Duration,
}

impl Peers {
    /// The peers of a config, to which `identity` proves this party.
    pub(crate) fn new(config: &Config, identity: &Identity) -> Result<Self, Fault> {
        let https = Https::new(identity);
        let link = |party: &PeerParty| {
            let tls = https.client(party.pins.clone()).map_err(|e| Fault::internal("setting up TLS", e))?;
            let link = PeerLink {
                party: party.clone(),
                tls: TlsConnector::from(tls),
                idle: Mutex::default(),
                health: Mutex::default(),
            };
            Ok((party.party, link))
        };
        let peers = config.peers.iter().map(link).collect::<Result<_, Fault>>()?;
        Ok(Self { group: config.group.clone(), peers })
    }

    /// The numbers of the peers.
    pub(crate) fn numbers(&self) -> Vec<u8> {
        self.peers.keys().copied().collect()
    }

    /// The last facts about each peer.
    pub(crate) fn health(&self) -> Vec<(u8, Health)> {
        let health = |link: &PeerLink| link.health.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.peers.iter().map(|(party, link)| (*party, health(link))).collect()
    }

    /// Sends a GET request to a peer.
    pub(crate) async fn get<T: DeserializeOwned>(&self, party: u8, path: &str) -> Result<T, Fault> {
        self.ask(party, Method::GET, path, Bytes::new()).await
    }

    /// Sends a POST request to a peer.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        party: u8,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let body = serde_json::to_vec(body).map_err(|e| Fault::internal("asking a peer", e))?;
        self.ask(party, Method::POST, path, body.into()).await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        party: u8,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, Fault> {
        let link = self.peers.get(&party).ok_or_else(|| Fault::internal("asking a peer", "it is none"))?;
        let point = path.rsplit('/').next().unwrap_or_default();
        let begun = Instant::now();
        let answer = async {
            failpoint::pass(|| format!("peer.sent.{point}")).map_err(|e| unreachable(party, &e))?;
            let answer = link.exchange(&self.group, method, path, body).await?;
            failpoint::pass(|| format!("peer.heard.{point}")).map_err(|e| unreachable(party, &e))?;
            Ok(answer)
        };
        let answer: Result<(bool, Bytes), Fault> = answer.await;
        let mut health = link.health.lock().unwrap_or_else(PoisonError::into_inner);
        match &answer {
            Ok(_) => *health = Health { up: true, error: None, round_trip: begun.elapsed() },
            Err(e) => *health = Health { up: false, error: Some(e.to_string()), ..health.clone() },
        }
        drop(health);
        let (good, bytes) = answer?;
        if good {
            let odd = |e| unreachable(party, &format_args!("its answer makes no sense: {e}"));
            return serde_json::from_slice(&bytes).map_err(odd);
        }
        Err(refusal(party, &bytes))
    }
}

/// The error that a peer answered, attributed to that peer.
fn refusal(party: u8, bytes: &[u8]) -> Fault {
    match serde_json::from_slice::<Problem>(bytes) {
        Ok(problem) => {
            let code = problem.code.parse().unwrap_or(code::GROUP_PEER);
            Fault::new(code::REQUEST, problem.step, problem.cause, problem.remedy)
                .coded(code)
                .by(PartyId(party))
        }
        Err(e) => unreachable(party, &format_args!("its answer makes no sense: {e}")),
    }
}

fn unreachable(party: u8, cause: &dyn std::fmt::Display) -> Fault {
    let places = [("peer", Text::from(PartyId(party))), ("cause", cause.to_string().into())];
    Fault::of(code::GROUP_PEER, &places).during("asking another party").blaming(Some(PartyId(party)))
}

impl PeerLink {
    async fn exchange(
        &self,
        group: &str,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(bool, Bytes), Fault> {
        let number = self.party.party;
        let wrong = |e: &dyn std::fmt::Display| unreachable(number, e);
        let request = || {
            Request::builder()
                .method(method.clone())
                .uri(path)
                .header(header::HOST, name(group))
                .header(header::CONTENT_TYPE, "application/json")
                .body(Full::new(body.clone()))
                .map_err(|e| wrong(&e))
        };
        // A kept connection may be closed by now; then the request goes over a new one. All
        // requests between peers may arrive twice.
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(mut kept) = kept
            && kept.ready().await.is_ok()
            && let Ok(answer) = timeout(ANSWER, self.over(&mut kept, request()?)).await
            && let Ok(answer) = answer
        {
            self.keep(kept);
            return Ok(answer);
        }
        let mut fresh =
            timeout(CONNECT, self.dial(group)).await.map_err(|_| wrong(&"no answer within 5 s"))??;
        let late = |_| wrong(&format_args!("no answer within {} s", ANSWER.as_secs()));
        let answer = timeout(ANSWER, self.over(&mut fresh, request()?)).await.map_err(late)?;
        let answer = answer.map_err(|e| wrong(&e))?;
        self.keep(fresh);
        Ok(answer)
    }

    fn keep(&self, sender: SendRequest<Full<Bytes>>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(sender);
        }
    }

    async fn over(
        &self,
        sender: &mut SendRequest<Full<Bytes>>,
        request: Request<Full<Bytes>>,
    ) -> Result<(bool, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let answer = sender.send_request(request).await?;
        let good = answer.status().is_success();
        let body = Limited::new(answer.into_body(), LONGEST).collect().await?;
        Ok((good, body.to_bytes()))
    }

    async fn dial(&self, group: &str) -> Result<SendRequest<Full<Bytes>>, Fault> {
        let wrong = |e: &dyn std::fmt::Display| unreachable(self.party.party, e);
        let socket = TcpStream::connect(&self.party.address).await.map_err(|e| wrong(&e))?;
        socket.set_nodelay(true).map_err(|e| wrong(&e))?;
        let name = ServerName::try_from(name(group)).map_err(|e| wrong(&e))?;
        let stream = self.tls.connect(name, socket).await.map_err(|e| wrong(&e))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|e| wrong(&e))?;
        // The task ends when the sender is dropped.
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// Whether a service answers a request for a path with success.
pub(crate) async fn probe(url: &str, tls: &Arc<ClientConfig>, path: &str) -> bool {
    let address = url.trim_start_matches("https://");
    let ask = async {
        let socket = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(tls.clone()).connect(name, socket).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request =
            Request::builder().uri(path).header(header::HOST, address).body(Full::<Bytes>::default())?;
        let answer = sender.send_request(request).await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answer.status().is_success())
    };
    matches!(timeout(CONNECT, ask).await, Ok(Ok(true)))
}

/// Whether a party port can be reached and has the right pin.
pub(crate) async fn reaches(address: &str, tls: &Arc<ClientConfig>, name: &str) -> Result<(), String> {
    let ask = async {
        let socket = TcpStream::connect(address).await.map_err(|e| e.to_string())?;
        let name = ServerName::try_from(name.to_owned()).map_err(|e| e.to_string())?;
        TlsConnector::from(tls.clone()).connect(name, socket).await.map(drop).map_err(|e| e.to_string())
    };
    timeout(CONNECT, ask).await.map_err(|_| format!("no answer within {} s", CONNECT.as_secs()))?
}

/// The name in the greetings of daemons.
pub(crate) fn name(group: &str) -> String {
    format!("peer.{}", label(group))
}

/// The group's name as part of the names in greetings.
pub(crate) fn label(group: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("g{}", group.chars().take(60).map(plain).collect::<String>().trim_end_matches('-'))
}
