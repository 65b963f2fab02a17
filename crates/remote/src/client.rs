//! Requests to one party.
//!
//! A [`PartyClient`] sends HTTPS requests to a party that it knows by its pin, and blocks. It
//! repeats a request that did not reach the party, unless the request issues tokens. An error of
//! the service becomes a [`Fault`] with the service's code, and names the party.

use crate::{
    file::PartyPlace,
    pinned::{Pinned, TOGETHER},
};
use hushwire_fault::{Code, Fault, PartyId, code};
use hushwire_seal::BlakeName;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Seek},
    thread,
    time::Duration,
};
use ureq::{
    Agent, Body, Error, SendBody,
    http::{Method, Request, Response, StatusCode, header},
    unversioned::{resolver::DefaultResolver, transport::Connector},
};
use zeroize::Zeroizing;

/// LOCAL: the longest time for a connection, and for the beginning of an answer.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(120);
/// LOCAL: the waits before a request that did not reach a party is repeated.
const AGAIN: [Duration; 3] = [Duration::from_millis(200), Duration::from_millis(800), Duration::from_secs(3)];
/// LOCAL: the most bytes of an answer: of JSON, and of a share of a result.
const JSON: u64 = 64 << 20;
const SHARE: u64 = 4 << 30;

/// A party of the group, and this person's token for it.
pub struct PartyClient {
    agent: Agent,
    url: String,
    token: Zeroizing<String>,
    party: u8,
}

/// The status of an answer, its body, and the digest of a result that came with it.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
    /// The header `Hushwire-Digest`.
    pub digest: Option<String>,
}

/// An error in the form in which the service writes it.
#[derive(Deserialize)]
struct Problem {
    code: String,
    step: String,
    cause: String,
    remedy: String,
    #[serde(default)]
    request: Option<String>,
}

/// The path at which tokens are issued.
const TOKENS: &str = "/v1/tokens";

/// Whether the other end has a certificate other than the pinned one.
fn is_stranger(e: &Error) -> bool {
    let Error::Io(e) = e else { return false };
    let tls = e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// The body of a request.
enum Sent<'a> {
    Nothing,
    Json(Vec<u8>),
    /// A file with this many bytes, which is read while it is sent.
    File(&'a File, u64),
}

impl PartyClient {
    /// Makes the client of party `party` of a group, with the place from a file.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub fn new(party: u8, place: &PartyPlace) -> Result<Self, Fault> {
        let pins = std::iter::once(place.pin).chain(place.next_pin);
        let tls = hushwire_wire::pinned_client(pins.collect());
        let tls = tls.map_err(|e| Fault::internal("setting up TLS", e))?;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(true)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .output_buffer_size(TOGETHER)
            .user_agent("hushwire")
            .build();
        let connector = <() as Connector>::chain((), ureq::unversioned::transport::TcpConnector::default());
        let agent = Agent::with_parts(config, connector.chain(Pinned(tls)), DefaultResolver::default());
        Ok(Self { agent, url: place.url.clone(), token: place.token.clone(), party })
    }

    /// The number of the party.
    #[must_use]
    pub fn party(&self) -> u8 {
        self.party
    }

    /// Whether this person has a token for the party.
    #[must_use]
    pub fn has_token(&self) -> bool {
        !self.token.is_empty()
    }

    fn blamed(&self, fault: Fault) -> Fault {
        fault.by(PartyId(self.party))
    }

    fn unreached(&self, e: &Error) -> Fault {
        let (cause, remedy) = match e {
            Error::Timeout(_) => {
                ("it did not answer in time".to_owned(), "see whether it runs and is not overloaded")
            }
            Error::HostNotFound => {
                ("its host has no address".to_owned(), "correct its `url` in the file of the service")
            }
            e if is_stranger(e) => (
                "another certificate answers there than the pinned one, or an expired one".to_owned(),
                "if its key was rotated, ask its operator for the new pin; else somebody else answers",
            ),
            e => (e.to_string(), "see that it runs, and that its `url` in the file of the service is right"),
        };
        let cause = format!("{} at {}", cause, self.url);
        self.blamed(Fault::new(code::SERVICE, "asking the service", cause, remedy))
    }

    fn send(
        &self,
        method: &Method,
        path: &str,
        body: &Sent<'_>,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.as_str()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match body {
            Sent::Nothing => self.agent.run(request.body(())?),
            Sent::Json(json) => {
                self.agent.run(request.header(header::CONTENT_TYPE, "application/json").body(&json[..])?)
            }
            Sent::File(file, bytes) => {
                let mut file = *file;
                // The file may be sent again.
                file.rewind()?;
                let request = request
                    .header(header::CONTENT_TYPE, "application/octet-stream")
                    .header(header::CONTENT_LENGTH, *bytes);
                self.agent.run(request.body(SendBody::from_reader(&mut file))?)
            }
        }
    }

    fn ask(
        &self,
        method: &Method,
        path: &str,
        body: &Sent<'_>,
        headers: &[(&str, &str)],
        most: u64,
    ) -> Result<Answer, Fault> {
        // The service recognizes repetitions of other requests, but a token would be issued twice.
        let again = if path == TOKENS { &AGAIN[..0] } else { &AGAIN };
        let mut waits = again.iter();
        loop {
            let asked = self.send(method, path, body, headers).and_then(|mut response| {
                let (status, headers) = (response.status(), response.headers());
                let digest = headers.get("hushwire-digest").and_then(|value| value.to_str().ok());
                let digest = digest.map(str::to_owned);
                let mut body = vec![];
                let mut reader = response.body_mut().with_config().limit(most).reader();
                reader.read_to_end(&mut body)?;
                Ok(Answer { status: status.as_u16(), body, digest })
            });
            match (asked, waits.next()) {
                (Ok(answer), Some(wait)) if answer.status == StatusCode::TOO_MANY_REQUESTS => {
                    thread::sleep(*wait);
                }
                (Ok(answer), _) => return self.judged(answer),
                (Err(e @ (Error::Io(_) | Error::ConnectionFailed)), Some(wait)) if !is_stranger(&e) => {
                    thread::sleep(*wait);
                }
                (Err(e), _) => return Err(self.unreached(&e)),
            }
        }
    }

    /// The answer, or its error if it is one.
    fn judged(&self, answer: Answer) -> Result<Answer, Fault> {
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let Ok(problem) = serde_json::from_slice::<Problem>(&answer.body) else {
            return Err(self.odd(format_args!("the status {} without the cause", answer.status)));
        };
        let code: Code = problem.code.parse().unwrap_or(code::SERVICE);
        let step = match &problem.request {
            Some(request) => format!("{} (request {request})", problem.step),
            None => problem.step,
        };
        // The texts are the party's own; the code determines how to act on them.
        Err(self.blamed(Fault::new(code::REQUEST, step, problem.cause, problem.remedy).coded(code)))
    }

    /// The error for an answer that no service of this release gives.
    pub(crate) fn odd(&self, cause: impl std::fmt::Display) -> Fault {
        let party = format!("party {}", self.party);
        self.blamed(Fault::filled(code::SERVICE_ANSWER, &[("party", &party), ("cause", &cause)]))
            .during("asking the service")
    }

    pub(crate) fn read<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, Fault> {
        serde_json::from_slice(&answer.body).map_err(|e| self.odd(e))
    }

    /// Gets the JSON at a path.
    ///
    /// # Errors
    /// The party refuses, or does not answer.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.read(&self.ask(&Method::GET, path, &Sent::Nothing, &[], JSON)?)
    }

    /// Follows the events at a path. Passes the data of each as text to `take`, until that returns
    /// false or no more come. A sign of life from the party is passed as an empty text.
    ///
    /// # Errors
    /// The party refuses, or the connection ended.
    pub fn events(&self, path: &str, mut take: impl FnMut(&str) -> bool) -> Result<(), Fault> {
        let mut response =
            self.send(&Method::GET, path, &Sent::Nothing, &[]).map_err(|e| self.unreached(&e))?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            let mut body = vec![];
            let read = response.body_mut().with_config().limit(JSON).reader().read_to_end(&mut body);
            read.map_err(|e| self.odd(e))?;
            return self.judged(Answer { status, body, digest: None }).map(drop);
        }
        let reader = response.body_mut().with_config().limit(u64::MAX).reader();
        for line in BufReader::new(reader).lines() {
            let line = line.map_err(|e| self.unreached(&Error::Io(e)))?;
            let data = line.strip_prefix("data:").map(str::trim_start);
            let data = data.or_else(|| line.starts_with(':').then_some(""));
            if data.is_some_and(|data| !take(data)) {
                break;
            }
        }
        Ok(())
    }

    /// The same client, for another thread.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self {
            agent: self.agent.clone(),
            url: self.url.clone(),
            token: self.token.clone(),
            party: self.party,
        }
    }

    /// Gets the bytes at a path, and compares them with the digest that comes with them.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get); or the bytes have another digest.
    pub fn bytes(&self, path: &str, headers: &[(&str, &str)]) -> Result<Vec<u8>, Fault> {
        let answer = self.ask(&Method::GET, path, &Sent::Nothing, headers, SHARE)?;
        if answer.digest != Some(BlakeName::of(&answer.body).digits()) {
            return Err(self.odd("bytes with another digest than they have"));
        }
        Ok(answer.body)
    }

    /// Posts JSON. Requests with the same `key` count as one.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub fn post(&self, path: &str, body: &impl Serialize, key: Option<&str>) -> Result<Answer, Fault> {
        let body = serde_json::to_vec(body).map_err(|e| Fault::internal("writing a request", e))?;
        let key = key.map(|key| ("Idempotency-Key", key));
        self.ask(&Method::POST, path, &Sent::Json(body), key.as_slice(), JSON)
    }

    /// Puts JSON.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub fn put(&self, path: &str, body: &impl Serialize) -> Result<Answer, Fault> {
        let body = serde_json::to_vec(body).map_err(|e| Fault::internal("writing a request", e))?;
        self.ask(&Method::PUT, path, &Sent::Json(body), &[], JSON)
    }

    /// Puts the `bytes` bytes of a file. Only the bytes that are being sent are in memory.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get). A file that cannot be read, or has become shorter, is an
    /// error of the connection.
    pub fn put_file(&self, path: &str, file: &File, bytes: u64) -> Result<Answer, Fault> {
        self.ask(&Method::PUT, path, &Sent::File(file, bytes), &[], JSON)
    }

    /// Deletes the object at a path.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub fn delete(&self, path: &str) -> Result<Answer, Fault> {
        self.ask(&Method::DELETE, path, &Sent::Nothing, &[], JSON)
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
