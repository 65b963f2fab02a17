//! One member's place in a run: its identity, its peers, its values, and the session they make.

use crate::{
    Allowed, ClientFile, InputPlace, JobError, Member, MemberFile, OutputPlace, PartyFile, Peer, RunFiles,
    Terms, TermsDigest, aes_ctr::AesCtrPlaces, agreement::Agreement,
};
use hushwire_aes::Backend;
use hushwire_machine::{Net, NetError, PartyId, Reason, SessionId};
use hushwire_wire::{self as wire, Identity, Listener, PeerConfig, SessionConfig, Shape, TransportKind};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

/// LOCAL: how long all peers together may take to come, where nothing else is said.
pub(crate) const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: how long no byte may move while a step waits for a peer that is alive, where nothing else is said. Dead peers
/// are noticed within seconds whatever this is; an owner may have to wait for a long computation to end.
pub(crate) const STALL: Duration = Duration::from_secs(3600);

/// An event of a run under way, for the program that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Something that a person who waits may want to know, as one line.
    Note(String),
    /// All members are connected.
    Connected,
    /// That many instances are done, of that many.
    Progress(u64, u64),
    /// This member cannot take part, or has heard that another cannot, and tells the others before it ends.
    Failed(JobError),
}

/// Hears [`Event`]s, from several threads; it should return soon.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

/// One member, ready to join. No `Debug`: it holds secrets.
pub struct MemberConfig {
    /// The member that this program is.
    pub me: Member,
    /// Certificate and private key.
    pub identity: Identity,
    /// The socket that peers dial, perhaps of many runs; none for a client.
    pub listener: Option<Arc<Listener>>,
    /// Everybody this member has links with; others that are listed do not matter.
    pub peers: Vec<Peer>,
    /// The transport of the links.
    pub transport: TransportKind,
    /// The longest wait for all peers together.
    pub connect_timeout: Duration,
    /// The longest time without a moving byte while a step waits for a peer that is alive.
    pub stall: Duration,
    /// The model of a network on this member's links; [`Shape::NONE`] for none.
    pub shape: Shape,
    /// The session's name, the same at every member.
    pub session: SessionId,
    /// The AES instructions to use.
    pub backend: Backend,
    /// Values of inputs, by name.
    pub inputs: BTreeMap<String, InputPlace>,
    /// Places of outputs, by name; what is not listed goes back to the caller.
    pub outputs: BTreeMap<String, OutputPlace>,
    /// Settings for encryptions.
    pub aes_ctr: AesCtrPlaces,
    /// The directory of preprocessing that is made ahead, where this party keeps any.
    pub shelf: Option<PathBuf>,
    /// The jobs in which this member takes part; any, where nothing is said.
    pub allowed: Option<Allowed>,
    /// The files that this member reads besides its inputs, and whether outputs may replace files of others.
    pub files: RunFiles,
}

/// The session's name from a label that all members give. It may serve again: the session's id, which hashes and
/// pseudo-random sharings rest on, covers what every party draws afresh (see [`wire::Net::session`]). Members of runs
/// with other labels refuse each other.
#[must_use]
pub fn session_of(label: &str) -> SessionId {
    let mut id = [0; 16];
    id.copy_from_slice(&blake3::derive_key("hushwire run label v1", label.as_bytes())[..16]);
    SessionId(id)
}

impl MemberConfig {
    /// A member over TLS that knows no peers and has no values yet, in the session of the empty label.
    #[must_use]
    pub fn new(me: Member, identity: Identity, listener: Option<Arc<Listener>>) -> Self {
        Self {
            me,
            identity,
            listener,
            peers: vec![],
            transport: TransportKind::TcpTls,
            connect_timeout: CONNECT,
            stall: STALL,
            shape: Shape::NONE,
            session: session_of(""),
            backend: Backend::best(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            aes_ctr: AesCtrPlaces::default(),
            shelf: None,
            allowed: None,
            files: RunFiles::default(),
        }
    }

    /// The configuration of a party that listens as its file says.
    ///
    /// # Errors
    /// The key cannot be used, or the address cannot be had.
    pub fn of_party(file: PartyFile, label: &str, backend: Backend) -> Result<Self, JobError> {
        let identity = file.member.identity()?;
        let listener = Listener::bind(&file.listen).map_err(|e| JobError::from(e).during("listening"))?;
        Ok(Self::of_file(file.member, identity, Some(Arc::new(listener)), label, backend))
    }

    /// The configuration of a client.
    ///
    /// # Errors
    /// The key cannot be used.
    pub fn of_client(file: ClientFile, label: &str, backend: Backend) -> Result<Self, JobError> {
        let identity = file.0.identity()?;
        Ok(Self::of_file(file.0, identity, None, label, backend))
    }

    fn of_file(
        file: MemberFile,
        identity: Identity,
        listener: Option<Arc<Listener>>,
        label: &str,
        backend: Backend,
    ) -> Self {
        let mut files = RunFiles::default();
        files.reads("this member's own file", &file.file);
        files.reads("this member's private key", &file.key);
        if let Some(allowed) = &file.allow_file {
            files.reads("the jobs that this member allows", allowed);
        }
        let mut config = Self {
            peers: file.peers,
            transport: file.transport,
            connect_timeout: file.connect_timeout,
            stall: file.stall,
            session: session_of(label),
            backend,
            inputs: file.inputs,
            outputs: file.outputs,
            aes_ctr: file.aes_ctr,
            shelf: file.shelf,
            allowed: file.allowed,
            files,
            ..Self::new(file.me, identity, listener)
        };
        config.protect_inputs();
        config
    }

    /// Allows these jobs besides those that are allowed already; where none were named so far, no others are from now on.
    pub fn allow(&mut self, digests: impl IntoIterator<Item = TermsDigest>) {
        self.allowed.get_or_insert_default().extend(digests);
    }

    /// Whether this member takes part in a job of these terms.
    ///
    /// # Errors
    /// Jobs are named in which it does, and this is none of them.
    pub fn allows(&self, terms: &Terms) -> Result<(), JobError> {
        self.allowed.as_ref().map_or(Ok(()), |allowed| allowed.check(terms))
    }

    /// Keeps outputs away from the files of inputs. [`run()`](crate::run()) does so; earlier, it keeps away what a
    /// program writes beside the outputs.
    pub fn protect_inputs(&mut self) {
        for (name, input) in &self.inputs {
            if let Some(path) = input.path() {
                self.files.reads(format!("input {name}"), path);
            }
        }
    }

    /// Whether this member's own file has everything that the job asks of it.
    pub(crate) fn check(&self, plan: &Agreement) -> Result<(), JobError> {
        self.config(plan).map(drop)
    }

    /// Tells the members that it can reach that this one does not join.
    pub(crate) fn excuse(&self, plan: Option<&Agreement>, why: Reason) -> Result<(), NetError> {
        let config = plan.and_then(|plan| self.config(plan).ok()).unwrap_or_else(|| self.without_plan());
        wire::excuse(&config, &self.identity, self.listener.as_deref(), why)
    }

    /// A session for a member that cannot read its job. It numbers clients itself, since their keys
    /// tell who they are.
    fn without_plan(&self) -> SessionConfig {
        let mut numbers = (PartyId::FIRST_CLIENT..u8::MAX).rev().map(PartyId);
        let mut id = |member: &Member| match member {
            Member::Party(index) => Some(PartyId(*index)),
            Member::Client(_) => numbers.next(),
        };
        let me = id(&self.me).unwrap_or(PartyId::OWNER);
        let reached = self.peers.iter().filter(|peer| peer.address.is_some() || self.listener.is_some());
        let peers = reached.filter_map(|peer| {
            Some(PeerConfig { id: id(&peer.member)?, address: peer.address.clone(), pin: peer.pin })
        });
        let peers = peers.collect();
        SessionConfig {
            connect_timeout: self.connect_timeout,
            ..SessionConfig::new(me, self.session, peers, self.transport)
        }
    }

    /// Finds everybody, and compares plans.
    pub(crate) fn join(&self, plan: &Agreement, observer: &Observer) -> Result<Net, JobError> {
        let config = self.config(plan)?;
        let hears = observer.clone();
        let names = plan.clients.clone();
        let heard: wire::Observer = Arc::new(move |event| match event {
            // All parties say the same, of which one is enough.
            wire::Event::Comes { peer, done, of } => {
                if *peer == PartyId(0) {
                    hears(Event::Progress(*done, *of));
                }
            }
            event => hears(Event::Note(with_names(&event.to_string(), &names))),
        });
        let listener = self.listener.as_deref();
        let net = wire::connect_or_news(&config, &self.identity, listener, heard);
        let mut net = net.map_err(|(e, news)| {
            let e = self.refused(plan, e).during("connect");
            if let Some(news) = news {
                observer(Event::Failed(e.clone().of(&self.me)));
                // Whoever cannot be met cannot be told: the error stays this one.
                drop(wire::retell(&config, &self.identity, listener, &news));
            }
            e
        })?;
        self.shape.apply(&mut net);
        observer(Event::Connected);
        Ok(net)
    }

    /// As [`explain`], and says whose key is where another should be.
    fn refused(&self, plan: &Agreement, e: NetError) -> JobError {
        let (peer, presented) = match &e {
            NetError::UnknownPeer { peer: Some(peer), presented, .. } => (*peer, presented.clone()),
            NetError::HandshakeMismatch { peer: Some(peer), field: "party ids", .. } => {
                (*peer, String::new())
            }
            _ => return explain(plan, e),
        };
        let mut error = explain(plan, e);
        let holder = |pin: &str| self.peers.iter().find(|p| p.pin.to_string() == pin).map(|p| &p.member);
        let own = self.identity.pin().to_string();
        let peer = named(plan, peer);
        let told = if let Some(listed) = holder(&own) {
            Some((format!("our own key is the one that our file lists for {listed}"), SWAPPED.to_owned()))
        } else if presented == own {
            Some((format!("{peer} came with the key of {}", self.me), SWAPPED.to_owned()))
        } else {
            holder(&presented).map(|of| {
                let remedy = format!(
                    "see that neither addresses nor pins of {peer} and {of} are swapped in this member's file; where they are not, \
                     give every member its own key file"
                );
                (format!("{peer} came with the key of {of}"), remedy)
            })
        };
        if let Some((cause, remedy)) = told {
            (error.cause, error.remedy) = (cause, remedy);
        }
        error
    }

    fn config(&self, plan: &Agreement) -> Result<SessionConfig, JobError> {
        let id = |member: &Member| {
            member.id(&plan.clients).ok_or_else(|| {
                JobError::usage(
                    "connect",
                    format!("the job has no {member}"),
                    "give the job and this file the same names",
                )
            })
        };
        let me = id(&self.me)?;
        let mut peers = vec![];
        for member in plan.members().into_iter().filter(|m| *m != self.me) {
            if let (Member::Client(_), Member::Client(_)) = (&self.me, &member) {
                continue;
            }
            let peer = self.peers.iter().find(|p| p.member == member).ok_or_else(|| {
                let cause = format!("the job needs {member}, and no [[peers]] table of this file is for it");
                JobError::usage("connect", cause, "add its pin, and for a party its address")
            })?;
            peers.push(PeerConfig { id: id(&member)?, address: peer.address.clone(), pin: peer.pin });
        }
        Ok(SessionConfig {
            // Tags first: the handshake compares this one first, and can then say what differs.
            job_digest: plan.tags(),
            params: plan.digest(),
            lanes: plan.lanes,
            client_lanes: plan.client_lanes,
            connect_timeout: self.connect_timeout,
            stall: self.stall,
            ..SessionConfig::new(me, self.session, peers, self.transport)
        })
    }
}

const SWAPPED: &str = "give every member its own key file, and see that no pins are swapped";

/// A text of the session, where `client 129` gets its name in the job. Each number is replaced
/// once: a name that looks
/// like a number is not read again.
fn with_names(text: &str, clients: &[String]) -> String {
    const CLIENT: &str = "client ";
    let name = |digits: &str| {
        let number: u8 = digits.parse().ok()?;
        clients.get(usize::from(number.checked_sub(PartyId::FIRST_CLIENT + 1)?))
    };
    let (mut named, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(CLIENT) {
        let (before, after) = rest.split_at(at + CLIENT.len());
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (digits, after) = after.split_at(end);
        named += before;
        named += name(digits).map_or(digits, String::as_str);
        rest = after;
    }
    named + rest
}

/// A member as the job calls it.
pub(crate) fn named(plan: &Agreement, peer: PartyId) -> String {
    with_names(&peer.to_string(), &plan.clients)
}

/// A network error in the words of the job.
pub(crate) fn explain(plan: &Agreement, e: NetError) -> JobError {
    let peer = e.peer().map_or("a peer".to_owned(), |peer| named(plan, peer));
    let with_names = |text: &str| with_names(text, &plan.clients);
    let differs = match &e {
        NetError::HandshakeMismatch { field: "job digest", theirs, .. } => {
            let mut tags = [0; 32];
            hex::decode_to_slice(theirs, &mut tags).ok().map(|()| plan.differences(&tags).join(", "))
        }
        // Tags are alike.
        NetError::HandshakeMismatch { field: "parameters digest", .. } => {
            Some(plan.untagged().join(" or ")).filter(|rest| !rest.is_empty())
        }
        NetError::HandshakeMismatch { field: "session id", .. } => {
            Some("the run's label (--run), or it is of another run".to_owned())
        }
        _ => None,
    };
    let swapped = matches!(e, NetError::HandshakeMismatch { field: "party ids", .. });
    let mut error = JobError::from(e);
    // Before anything of the job is added, which has names already.
    (error.cause, error.remedy) = (with_names(&error.cause), with_names(&error.remedy));
    if swapped {
        error.remedy = SWAPPED.to_owned();
    }
    if let Some(differs) = differs {
        error.cause = format!("{peer} has another plan, which differs in {differs}");
        error.remedy = "give every member the same job file, circuit and release".to_owned();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients called by a number of the wire: the numbers of `130` and `bob` are 129 and 130.
    #[test]
    fn a_name_that_looks_like_a_number_is_not_taken_for_one() {
        let clients = ["130", "bob", "131x"].map(str::to_owned);
        for (text, wanted) in [
            ("client 129: did not come", "client 130: did not come"),
            ("client 130 and client 129, client 131", "client bob and client 130, client 131x"),
            ("client 132: unknown, client 128, client 1290", "client 132: unknown, client 128, client 1290"),
            ("a client of party 129, client ", "a client of party 129, client "),
        ] {
            assert_eq!(with_names(text, &clients), wanted);
        }
    }
}
