//! The configuration of one member for a run: its identity, its peers, its values, and the session.
//!
//! A [`MemberConfig`] is made from a party file or a client file, or by a program. It gives the
//! session's configuration, connects to the other members, and turns errors of the network into
//! errors of the job.

use crate::{
    Allowed, Cancel, ClientFile, Decider, Fault, InputPlace, KeptLinks, Material, Member, MemberFile,
    OutputPlace, PartyFile, Peer, RunFiles, SealedSink, ShardPlace, ShelfOwner, StoredData, Terms,
    TermsDigest,
    agreement::Agreement,
    keys::KeyPlaces,
    party_file::{CONNECT, STALL},
};
use hushwire_aes::Backend;
use hushwire_fault::{Text, code};
use hushwire_machine::{Net, NetError, PartyId, Presented, Reason, SessionId};
use hushwire_wire::{
    self as wire, Identity, LinkStock, Listener, PeerConfig, SessionConfig, Shape, TransportKind,
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

/// An event of a run in progress, for the program that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A line of information for a person who waits.
    Note(String),
    /// All members are connected.
    Connected,
    /// This many instances are done, of this many.
    Progress(u64, u64),
    /// A phase of the run begins: connecting, sharing inputs, an operation or an operator, writing
    /// outputs, confirmation.
    Phase(String),
    /// The payload bytes so far, of all peers together. The event comes several times a second
    /// while bytes move, and once at the end.
    Traffic {
        /// Bytes to all peers.
        sent: u64,
        /// Bytes from all peers.
        received: u64,
    },
    /// This member cannot take part, or has heard that another member cannot. It tells the others
    /// before it ends.
    Failed(Fault),
}

/// A callback for [`Event`]s. Several threads call it, and it should return soon.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

/// One member, ready to join. No `Debug`: it holds secrets.
pub struct MemberConfig {
    /// The member that this process is.
    pub me: Member,
    /// The certificate and the private key.
    pub identity: Identity,
    /// The socket that peers dial, which several runs may share; `None` for a client.
    pub listener: Option<Arc<Listener>>,
    /// All peers that this member has links with. Other peers may be listed, and are ignored.
    pub peers: Vec<Peer>,
    /// The name in the greetings that this member sends, for peers whose ports serve many sessions
    /// ([`SessionConfig::server_name`]).
    pub server_name: Option<String>,
    /// The transport of the links.
    pub transport: TransportKind,
    /// The longest time to wait for all peers together.
    pub connect_timeout: Duration,
    /// The longest time that a step waits for a peer that is alive while no byte moves.
    pub stall: Duration,
    /// The model of a network on this member's links; [`Shape::NONE`] if there is none.
    pub shape: Shape,
    /// The session's name, which is the same at every member.
    pub session: SessionId,
    /// The AES implementation to use.
    pub backend: Backend,
    /// Values of inputs, by name.
    pub inputs: BTreeMap<String, InputPlace>,
    /// Places of outputs, by name. Outputs that are not listed go back to the caller.
    pub outputs: BTreeMap<String, OutputPlace>,
    /// At a party: the data sets of the job, by name.
    pub stored: BTreeMap<String, StoredData>,
    /// At a party: the sink for its shares of outputs for recipients that are not connected.
    pub sealed: Option<Arc<dyn SealedSink>>,
    /// Decides the end of a run once all its parties are done; with `None`, the run ends well. A
    /// client asks it only if it did not hear from the parties how the run ended.
    pub decider: Option<Arc<dyn Decider>>,
    /// The links of the previous run, which this run takes; links of a run that ends well are kept
    /// there. With `None`, members connect again for each run.
    pub kept: Option<KeptLinks>,
    /// The place of this process among the member's shards, if the job runs on several.
    pub shard: Option<ShardPlace>,
    /// Ends the run from another thread.
    pub cancel: Cancel,
    /// Settings for encryptions.
    pub keys: KeyPlaces,
    /// The directory of preprocessing that is made ahead, if this party keeps any.
    pub shelf: Option<PathBuf>,
    /// The owner of that preprocessing, if this member's key is made for the run alone.
    pub shelf_owner: Option<ShelfOwner>,
    /// An observer that is told of each file of preprocessing before it is used.
    pub material: Option<Arc<dyn Material>>,
    /// The jobs in which this member takes part; with `None`, all jobs.
    pub allowed: Option<Allowed>,
    /// The files that this member reads besides its inputs, and whether outputs may replace other
    /// files.
    pub files: RunFiles,
}

/// Derives the session's name from a label that all members give. A label may be used again: the
/// session's id, on which hashes and pseudo-random sharings depend, also covers fresh bytes of
/// every party (see [`wire::Net::session`]). Members of runs with different labels refuse each
/// other.
#[must_use]
pub fn session_of(label: &str) -> SessionId {
    let mut id = [0; 16];
    id.copy_from_slice(&blake3::derive_key("hushwire run label v1", label.as_bytes())[..16]);
    SessionId(id)
}

impl MemberConfig {
    /// Makes a member over TLS without peers or values, in the session of the empty label.
    #[must_use]
    pub fn new(me: Member, identity: Identity, listener: Option<Arc<Listener>>) -> Self {
        Self {
            me,
            identity,
            listener,
            peers: vec![],
            server_name: None,
            transport: TransportKind::TcpTls,
            connect_timeout: CONNECT,
            stall: STALL,
            shape: Shape::NONE,
            session: session_of(""),
            backend: Backend::best(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            stored: BTreeMap::new(),
            sealed: None,
            decider: None,
            kept: None,
            shard: None,
            cancel: Cancel::new(),
            keys: KeyPlaces::default(),
            shelf: None,
            shelf_owner: None,
            material: None,
            allowed: None,
            files: RunFiles::default(),
        }
    }

    /// The configuration of a party, which listens at the address in its file.
    ///
    /// # Errors
    /// The key cannot be used, or the address is not available.
    pub fn of_party(file: PartyFile, label: &str, backend: Backend) -> Result<Self, Fault> {
        let identity = file.member.identity()?;
        let listener = Listener::bind(&file.listen).map_err(|e| Fault::from(e).during("listening"))?;
        Ok(Self::of_file(file.member, identity, Some(Arc::new(listener)), label, backend))
    }

    /// The configuration of one shard of a party. The shard has this place among the party's
    /// shards, and listens at `listen` for other members.
    ///
    /// # Errors
    /// The errors of [`MemberConfig::of_party`]; or the file has no address of another party's
    /// shard.
    pub fn of_party_shard(
        file: &PartyFile,
        (listen, place): (String, ShardPlace),
        label: &str,
        backend: Backend,
    ) -> Result<Self, Fault> {
        let member = file.member.of_shard(place.shard, place.shards)?;
        let config = Self::of_party(PartyFile { listen, member }, label, backend)?;
        Ok(Self { shard: Some(place), ..config })
    }

    /// The configurations of all shards of a client, which are threads of one process.
    ///
    /// # Errors
    /// The errors of [`MemberConfig::of_client`]; or the file has no address of a party's shard.
    pub fn of_client_shards(
        file: &ClientFile,
        shards: usize,
        label: &str,
        backend: Backend,
    ) -> Result<Vec<Self>, Fault> {
        let places = ShardPlace::threads(shards)?.into_iter();
        let one = |place: ShardPlace| {
            let file = ClientFile(file.0.of_shard(place.shard, shards)?);
            Ok(Self { shard: Some(place), ..Self::of_client(file, label, backend)? })
        };
        places.map(one).collect()
    }

    /// The configuration of a client.
    ///
    /// # Errors
    /// The key cannot be used.
    pub fn of_client(file: ClientFile, label: &str, backend: Backend) -> Result<Self, Fault> {
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
            keys: file.keys,
            shelf: file.shelf,
            shelf_owner: None,
            material: None,
            allowed: file.allowed,
            files,
            ..Self::new(file.me, identity, listener)
        };
        config.protect_inputs();
        config
    }

    /// The same member in another concurrent session, on the same port if the port is shared. It
    /// brings and keeps nothing, and has a cancel handle of its own.
    ///
    /// # Errors
    /// The member's key cannot be read again.
    pub fn again(&self) -> Result<Self, Fault> {
        let identity = Identity::from_pem(&self.identity.to_pem());
        let identity = identity.map_err(|e| Fault::internal("reading the key again", e))?;
        Ok(Self {
            peers: self.peers.clone(),
            server_name: self.server_name.clone(),
            transport: self.transport,
            connect_timeout: self.connect_timeout,
            stall: self.stall,
            shape: self.shape,
            session: self.session,
            backend: self.backend,
            allowed: self.allowed.clone(),
            ..Self::new(self.me.clone(), identity, self.listener.clone())
        })
    }

    /// Allows these jobs in addition. If no jobs were listed so far, only these are allowed from
    /// now on.
    pub fn allow(&mut self, digests: impl IntoIterator<Item = TermsDigest>) {
        self.allowed.get_or_insert_default().extend(digests);
    }

    /// Checks that this member takes part in a job with these terms.
    ///
    /// # Errors
    /// The member lists the jobs in which it takes part, and this job is not among them.
    pub fn allows(&self, terms: &Terms) -> Result<(), Fault> {
        self.allowed.as_ref().map_or(Ok(()), |allowed| allowed.check(terms))
    }

    /// Protects the files of inputs against outputs. [`run()`](crate::run()) calls it. An earlier
    /// call also protects them against files that a program writes in addition to the outputs.
    pub fn protect_inputs(&mut self) {
        for (name, input) in &self.inputs {
            for path in input.paths() {
                self.files.reads(format!("input {name}"), path);
            }
        }
    }

    /// Checks that this member's own file has everything that the job needs from it.
    pub(crate) fn check(&self, plan: &Agreement) -> Result<(), Fault> {
        self.config(plan).map(drop)
    }

    /// Tells all members that can be reached that this one does not join.
    pub(crate) fn excuse(&self, plan: Option<&Agreement>, why: Reason) -> Result<(), NetError> {
        let config = plan.and_then(|plan| self.config(plan).ok()).unwrap_or_else(|| self.without_plan());
        wire::excuse(&config, &self.identity, self.listener.as_deref(), why)
    }

    /// A session for a member that cannot read its job. The member numbers clients itself, since
    /// clients are recognized by their keys.
    fn without_plan(&self) -> SessionConfig {
        let mut numbers = (PartyId::FIRST_CLIENT..u8::MAX).rev().map(PartyId);
        let mut id = |member: &Member| match member {
            Member::Party(index) => Some(PartyId(*index)),
            Member::Client(_) | Member::Data(_) | Member::Recipient(_) => numbers.next(),
        };
        let me = id(&self.me).unwrap_or(PartyId::OWNER);
        let reached = self.peers.iter().filter(|peer| peer.address.is_some() || self.listener.is_some());
        let peers = reached.filter_map(|peer| {
            Some(PeerConfig { id: id(&peer.member)?, address: peer.address.clone(), pin: peer.pin })
        });
        let peers = peers.collect();
        SessionConfig {
            connect_timeout: self.connect_timeout,
            server_name: self.server_name.clone(),
            ..SessionConfig::new(me, self.session, peers, self.transport)
        }
    }

    /// Connects to all members, and compares agreements.
    pub(crate) fn join(
        &self,
        plan: &Agreement,
        observer: &Observer,
    ) -> Result<(Net, Option<LinkStock>), Fault> {
        let config = self.config(plan)?;
        let hears = observer.clone();
        let agreed = plan.clone();
        let heard: wire::Observer = Arc::new(move |event| match event {
            // All parties send the same progress; one of them is enough.
            wire::Event::Comes { peer, done, of } => {
                if *peer == PartyId(0) {
                    hears(Event::Progress(*done, *of));
                }
            }
            event => hears(Event::Note(event.text().with_names(&|id| agreed.name(id)).written())),
        });
        let listener = self.listener.as_deref();
        let stop = Some(self.cancel.flag());
        // A model of a network is applied to the links, and belongs to one run.
        let met = if self.kept.is_some() && self.shape == Shape::NONE {
            wire::connect_kept(&config, &self.identity, listener, heard, stop)
                .map(|(net, stock)| (net, Some(stock)))
        } else {
            wire::connect_or_news(&config, &self.identity, listener, heard, stop).map(|net| (net, None))
        };
        let (mut net, stock) = met.map_err(|(e, news)| {
            if self.cancel.asked() {
                return self.cancel.fault();
            }
            let e = self.refused(plan, e).during("connect");
            if let Some(news) = news {
                observer(Event::Failed(e.clone().by(&self.me)));
                // A member that cannot be reached cannot be told; the error stays the same.
                drop(wire::retell(&config, &self.identity, listener, &news));
            }
            e
        })?;
        self.shape.apply(&mut net);
        observer(Event::Connected);
        Ok((net, stock))
    }

    /// As [`explain`], and names the member whose key came in place of another's.
    fn refused(&self, plan: &Agreement, e: NetError) -> Fault {
        let (peer, presented) = match &e {
            NetError::UnknownPeer { peer: Some(peer), presented: Presented::Pin(pin), .. } => {
                (*peer, Some(pin.clone()))
            }
            NetError::UnknownPeer { peer: Some(peer), .. }
            | NetError::HandshakeMismatch { peer: Some(peer), field: "party ids", .. } => (*peer, None),
            _ => return explain(plan, e),
        };
        let error = explain(plan, e);
        let holder = |pin: &str| self.peers.iter().find(|p| p.pin.to_string() == pin).map(|p| &p.member);
        let own = self.identity.pin().to_string();
        let peer = || Text::from(plan.who(peer));
        let came = |of: &Member| peer().words(" came with the key of ").who(of);
        let told = if let Some(listed) = holder(&own) {
            let cause = Text::from("our own key is the one that our file lists for ").who(listed);
            Some((cause, SWAPPED.into()))
        } else if presented.as_ref() == Some(&own) {
            Some((came(&self.me), SWAPPED.into()))
        } else {
            presented.and_then(|pin| holder(&pin)).map(|of| {
                let remedy = Text::from("see that neither addresses nor pins of ").text(peer()).words(" and ").who(of);
                let remedy = remedy.words(
                    " are swapped in this member's file; where they are not, give every member its own key file",
                );
                (came(of), remedy)
            })
        };
        match told {
            Some((cause, remedy)) => error.coded(code::SWAPPED).because(cause).remedied(remedy),
            None => error,
        }
    }

    fn config(&self, plan: &Agreement) -> Result<SessionConfig, Fault> {
        let id = |member: &Member| {
            member.id(&plan.clients).ok_or_else(|| {
                Fault::new(
                    code::MEMBER,
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
                Fault::new(code::MEMBER, "connect", cause, "add its pin, and for a party its address")
            })?;
            peers.push(PeerConfig { id: id(&member)?, address: peer.address.clone(), pin: peer.pin });
        }
        Ok(SessionConfig {
            // The tags are compared first, so that the handshake can say what differs.
            job_digest: plan.tags(),
            params: plan.digest(),
            lanes: plan.lanes,
            client_lanes: plan.client_lanes,
            connect_timeout: self.connect_timeout,
            stall: self.stall,
            server_name: self.server_name.clone(),
            ..SessionConfig::new(me, self.session, peers, self.transport)
        })
    }
}

const SWAPPED: &str = "give every member its own key file, and see that no pins are swapped";

/// Turns a network error into an error of the job.
pub fn explain(plan: &Agreement, e: NetError) -> Fault {
    let peer = e.peer();
    let another_plan = |fields: String| {
        let places = [("peer", Text::peer(peer, "a peer")), ("fields", fields.into())];
        Fault::of(code::ANOTHER_PLAN, &places).blaming(peer)
    };
    let error = match &e {
        NetError::HandshakeMismatch { field: "job digest", theirs, .. } => {
            let mut tags = [0; 32];
            let known = hex::decode_to_slice(theirs.written(), &mut tags).ok();
            known.map(|()| another_plan(plan.differences(&tags).join(", ")))
        }
        // The tags are equal, so a field without a tag differs.
        NetError::HandshakeMismatch { field: "parameters digest", .. } => {
            Some(plan.untagged().join(" or ")).filter(|rest| !rest.is_empty()).map(another_plan)
        }
        NetError::HandshakeMismatch { field: "session id", .. } => {
            Some(another_plan("the run's label (--run), or it is of another run".to_owned()))
        }
        NetError::HandshakeMismatch { field: "party ids", .. } => {
            Some(e.fault().coded(code::SWAPPED).remedied(SWAPPED))
        }
        _ => None,
    };
    error.unwrap_or_else(|| e.into()).with_names(&|id| plan.name(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clients `130` and `bob` have the numbers 129 and 130 on the wire. The error blames the
    /// missing client, and no other.
    #[test]
    fn a_client_called_by_a_number_of_the_wire_is_blamed_itself() {
        let plan = Agreement {
            kind: "circuit",
            title: String::new(),
            protocol: crate::Protocol::Rep3,
            clients: vec!["130".to_owned(), "bob".to_owned()],
            fields: vec![],
            lanes: 1,
            client_lanes: 1,
        };
        for name in &plan.clients {
            let id = Member::Client(name.clone()).id(&plan.clients).expect("it is a client of the plan");
            let (step, after) = ("x".to_owned(), Duration::from_secs(4));
            let error = explain(&plan, NetError::Stalled { peer: Some(id), step, after });
            let error = error.with_names(&|id| plan.name(id));
            assert_eq!(error.peer(), Some(&plan.who(id)), "{error}");
            assert_eq!(error.peer().map(ToString::to_string), Some(format!("client {name}")), "{error}");
            assert_eq!(error.cause_text().members().collect::<Vec<_>>(), [&plan.who(id)], "{error}");
        }
    }
}
