//! Requests and replies, between hyper and the endpoints.

use crate::access::Caller;
use http_body_util::{BodyExt, Either, Full, channel::Channel};
use hushwire_fault::{Fault, Kind, code};
use hyper::{
    HeaderMap, Method, StatusCode,
    body::{Body, Bytes, Incoming},
    header::{self, HeaderName, HeaderValue},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{convert::Infallible, net::IpAddr, time::Duration};
use tokio::time::Instant;
use utoipa::ToSchema;

/// LOCAL: the longest JSON body, in bytes.
pub(crate) const JSON: u64 = 1 << 20;
/// LOCAL: the longest part of a data set, in bytes.
pub(crate) const PART: u64 = 64 << 20;
/// LOCAL: the slowest rate of a body, in bytes a second, after the first seconds.
const SLOWEST: u64 = 10 << 10;
/// LOCAL: the most bytes that are read of a refused body.
const DISCARDED: usize = 8 << 20;
/// LOCAL: how long a body may take before its rate counts.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request whose head was read.
pub(crate) struct Request {
    /// The method.
    pub(crate) method: Method,
    /// The path, without its query.
    pub(crate) path: String,
    /// The query, undecoded.
    pub(crate) query: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The address that it comes from.
    pub(crate) from: IpAddr,
    /// The variable parts of the path, in order.
    pub(crate) names: Vec<String>,
    /// The caller; `None` where no token is needed.
    pub(crate) caller: Option<Caller>,
    body: Option<Incoming>,
    /// When the body was first asked for.
    begun: Option<Instant>,
    /// The bytes of the body so far.
    got: u64,
}

impl Request {
    /// A request with its head read and its body still to come.
    pub(crate) fn new(request: hyper::Request<Incoming>, from: IpAddr) -> Self {
        let (head, body) = request.into_parts();
        Self {
            method: head.method,
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            from,
            names: vec![],
            caller: None,
            body: Some(body),
            begun: None,
            got: 0,
        }
    }

    /// The variable part of the path with this number.
    pub(crate) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or("", String::as_str)
    }

    /// The caller.
    pub(crate) fn caller(&self) -> Result<&Caller, Fault> {
        self.caller
            .as_ref()
            .ok_or_else(|| Fault::internal("answering", "an endpoint for callers was open to anybody"))
    }

    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A value of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, v)| v)
    }

    /// A number of the query.
    pub(crate) fn number(&self, name: &str, default: i64) -> Result<i64, Fault> {
        let Some(text) = self.query(name) else { return Ok(default) };
        text.parse().ok().filter(|n| *n >= 0).ok_or_else(|| {
            let cause = format!("{name}={text:?} is no whole number");
            Fault::usage("reading the request", cause, "give a number from 0 on")
        })
    }

    /// The bearer token, if the request has one.
    pub(crate) fn token(&self) -> Option<&str> {
        let text = self.header(header::AUTHORIZATION.as_str())?;
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    }

    /// The next piece of the body, which may have at most `most` bytes in all.
    pub(crate) async fn piece(&mut self, most: u64) -> Result<Option<Bytes>, Fault> {
        let Some(body) = &mut self.body else { return Ok(None) };
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if body.size_hint().lower() > most {
            self.discard().await;
            return Err(too_long(most));
        }
        loop {
            let got = self.got;
            let until = begun + PATIENCE + Duration::from_millis(got * 1000 / SLOWEST);
            let slow = |_| {
                let cause = format!("only {got} bytes of it came in {} s", begun.elapsed().as_secs());
                let remedy = "see the network, and send at least 10 KiB a second";
                Fault::new(code::BODY, "reading the request", cause, remedy)
            };
            let frame = tokio::time::timeout_at(until, body.frame()).await.map_err(slow)?;
            let Some(frame) = frame else { return Ok(None) };
            let cut = |e: hyper::Error| {
                let cause = format!("the connection ended in it: {e}");
                Fault::new(code::BODY, "reading the request", cause, "send it again")
            };
            let Ok(piece) = frame.map_err(cut)?.into_data() else { continue };
            self.got += piece.len() as u64;
            if self.got > most {
                self.discard().await;
                return Err(too_long(most));
            }
            return Ok(Some(piece));
        }
    }

    /// Reads the rest of a refused body, within bounds, so that the sender gets the reason and not
    /// a broken connection.
    async fn discard(&mut self) {
        let Some(mut body) = self.body.take() else { return };
        let (until, mut left) = (Instant::now() + PATIENCE / 5, DISCARDED);
        while left > 0
            && let Ok(Some(Ok(frame))) = tokio::time::timeout_at(until, body.frame()).await
        {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    }

    /// The whole body, of at most `most` bytes.
    pub(crate) async fn bytes(&mut self, most: u64) -> Result<Vec<u8>, Fault> {
        let mut all = vec![];
        while let Some(piece) = self.piece(most).await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// The body as JSON. Types that deny unknown fields refuse them.
    pub(crate) async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        self.json_within(JSON).await
    }

    /// As [`Request::json`], for a body of at most `most` bytes.
    pub(crate) async fn json_within<T: DeserializeOwned>(&mut self, most: u64) -> Result<T, Fault> {
        let bytes = self.bytes(most).await?;
        serde_json::from_slice(&bytes).map_err(|e| {
            let cause = format!("the body is not the JSON that is wanted: {e}");
            Fault::usage("reading the request", cause, "see GET /v1/openapi.json")
        })
    }
}

fn too_long(most: u64) -> Fault {
    let cause = format!("it is longer than {}", hushwire_session::size::show(most));
    Fault::new(code::BODY, "reading the request", cause, "cut it, or see the limits of GET /v1/group")
}

/// A reply.
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: StatusCode,
    /// The type of the content.
    kind: &'static str,
    /// Further headers.
    headers: Vec<(HeaderName, String)>,
    /// The content.
    content: Content,
}

/// The content of a reply: whole, or piece by piece until its sender is dropped.
pub(crate) type Content = Either<Full<Bytes>, Channel<Bytes, Infallible>>;

impl Reply {
    /// A reply with JSON.
    pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        Self::whole(status, "application/json", bytes)
    }

    /// A reply with JSON and status 200.
    pub(crate) fn ok(value: &impl Serialize) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// A reply with these bytes.
    pub(crate) fn whole(status: StatusCode, kind: &'static str, bytes: impl Into<Bytes>) -> Self {
        Self { status, kind, headers: vec![], content: Either::Left(Full::new(bytes.into())) }
    }

    /// A reply without content.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, kind: "", headers: vec![], content: Either::Left(Full::default()) }
    }

    /// A reply of server-sent events.
    pub(crate) fn events(pieces: Channel<Bytes, Infallible>) -> Self {
        Self {
            status: StatusCode::OK,
            kind: "text/event-stream",
            headers: vec![],
            content: Either::Right(pieces),
        }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The reply for hyper; without its content for HEAD.
    pub(crate) fn response(self, with_content: bool) -> hyper::Response<Content> {
        let content = if with_content { self.content } else { Either::Left(Full::default()) };
        let mut response = hyper::Response::new(content);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if !self.kind.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// An error, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Problem {
    /// The stable code, as `HW1063`.
    pub(crate) code: String,
    /// The member that failed, if it was a member.
    pub(crate) who: Option<String>,
    /// The step that failed.
    pub(crate) step: String,
    /// The cause.
    pub(crate) cause: String,
    /// The remedy.
    pub(crate) remedy: String,
    /// usage, refused, network, file or internal.
    pub(crate) kind: String,
    /// The request's name in this party's log; absent in the cause of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<String>,
}

impl Problem {
    /// The error for a fault.
    pub(crate) fn of(fault: &Fault) -> Self {
        Self {
            code: fault.code().to_string(),
            who: fault.who().map(ToString::to_string),
            step: fault.step(),
            cause: fault.cause(),
            remedy: fault.remedy(),
            kind: fault.kind().name().to_owned(),
            request: None,
        }
    }
}

/// The HTTP status for an error.
pub(crate) fn status(fault: &Fault) -> StatusCode {
    let full = || fault.cause().contains("full") || fault.cause().contains("No space left");
    match fault.code() {
        code::TOKEN => StatusCode::UNAUTHORIZED,
        code::NOT_FOUND => StatusCode::NOT_FOUND,
        code::CONFLICT => StatusCode::CONFLICT,
        code::QUOTA => StatusCode::TOO_MANY_REQUESTS,
        // The request can be read, but its content is not valid.
        code::SEAL_SIGNATURE | code::PARAMETER => StatusCode::UNPROCESSABLE_ENTITY,
        code::BODY => StatusCode::PAYLOAD_TOO_LARGE,
        code::NOT_KEPT => StatusCode::GONE,
        code::STORE if full() => StatusCode::INSUFFICIENT_STORAGE,
        code::STORE | code::GROUP_PEER | code::DRAINING => StatusCode::SERVICE_UNAVAILABLE,
        _ => match fault.kind() {
            // Files of a request, such as a job. Errors of the party's own files have these three
            // codes.
            Kind::File if !matches!(fault.code(), code::READ | code::WRITE | code::FILE) => {
                StatusCode::BAD_REQUEST
            }
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::Refused => StatusCode::FORBIDDEN,
            Kind::Network => StatusCode::BAD_GATEWAY,
            Kind::File | Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}
