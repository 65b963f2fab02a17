//! One member of a job: from its configuration to its end.

use crate::job::{
    Agreement, Cancel, ClientFile, Decider, Fault, InputPlace, Member as Name, MemberConfig, MemberFile,
    Observer, Outcome, OutputPlace, Part, PartyFile, Peer, RunFiles, SealedSink, ShardPlace, StoredData,
    Task, TermsDigest, aes_ctr::AesCtrPlaces, session_of,
};
use hushwire_aes::Backend;
use hushwire_machine::SessionId;
use hushwire_wire::{Identity, Listener, Shape, TransportKind};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use zeroize::Zeroize;

/// One member of a run: what `hushwire party` and `hushwire client` are, and each process of a
/// local run.
pub struct Member {
    config: MemberConfig,
    observer: Observer,
}

impl Member {
    /// The party that a party file describes. It listens from now on. `label` keeps apart runs that
    /// must not be mixed up.
    ///
    /// # Errors
    /// The file or its key cannot be used, or the address cannot be had.
    pub fn party(file: &Path, label: &str) -> Result<Self, Fault> {
        let file = PartyFile::read(file)?;
        let me = file.member.me.clone();
        let config = MemberConfig::of_party(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.by(&me))?))
    }

    /// The client that a client file describes.
    ///
    /// # Errors
    /// The file or its key cannot be used.
    pub fn client(file: &Path, label: &str) -> Result<Self, Fault> {
        let file = ClientFile::read(file)?;
        let me = file.0.me.clone();
        let config = MemberConfig::of_client(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.by(&me))?))
    }

    /// A member with a configuration of the program's own.
    #[must_use]
    pub fn new(config: MemberConfig) -> Self {
        Self { config, observer: Arc::new(|_| {}) }
    }

    /// The place of one of its inputs, in place of the file's.
    #[must_use]
    pub fn bring(mut self, name: &str, place: InputPlace) -> Self {
        self.config.inputs.insert(name.to_owned(), place);
        self
    }

    /// The place of one of its outputs, in place of the file's.
    #[must_use]
    pub fn keep(mut self, name: &str, place: OutputPlace) -> Self {
        self.config.outputs.insert(name.to_owned(), place);
        self
    }

    /// The files that the run reads besides inputs and the member's own, and what its outputs may
    /// replace.
    #[must_use]
    pub fn files(mut self, files: RunFiles) -> Self {
        let own = std::mem::replace(&mut self.config.files, files);
        self.config.files.protect(own);
        self
    }

    /// Takes part in the jobs whose terms have this digest, and in others that are allowed by the
    /// file or by another call, and in no more.
    #[must_use]
    pub fn allow(mut self, digest: TermsDigest) -> Self {
        self.config.allow([digest]);
        self
    }

    /// At a party: a data set of the job, as it keeps it.
    #[must_use]
    pub fn store(mut self, data: &str, at_rest: StoredData) -> Self {
        self.config.stored.insert(data.to_owned(), at_rest);
        self
    }

    /// At a party: takes its shares of outputs for recipients who are not connected.
    #[must_use]
    pub fn seal(mut self, sink: Arc<dyn SealedSink>) -> Self {
        self.config.sealed = Some(sink);
        self
    }

    /// Decides the end of the run once all parties are done.
    #[must_use]
    pub fn decide(mut self, decider: Arc<dyn Decider>) -> Self {
        self.config.decider = Some(decider);
        self
    }

    /// A handle that ends the run from another thread.
    #[must_use]
    pub fn cancel(&self) -> Cancel {
        self.config.cancel.clone()
    }

    /// Ends with this handle, as other members of the program do.
    pub(crate) fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.config.cancel = cancel;
        self
    }

    /// A listener to the run's events.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Opens this member's files for a job of any kind. Nobody is dialled.
    ///
    /// # Errors
    /// A file cannot be used, a value is missing, or is nobody's.
    pub fn open<T: Task>(mut self, task: &T) -> Result<Opened<T::Part>, Fault> {
        let part = crate::job::open(task, &mut self.config)?;
        Ok(Opened { agreement: task.agreement(), part, member: self })
    }

    /// Meets the others and runs this member's side of a job of any kind to its end.
    ///
    /// # Errors
    /// Something failed here or elsewhere, or the job is not allowed; no output is in place.
    pub fn run<T: Task>(self, task: &T) -> Result<Outcome<T::Learnt>, Fault> {
        crate::job::run(task, self.config, &self.observer)
    }
}

/// A member whose files are open and that listens, before it meets the others.
pub struct Opened<P> {
    agreement: Agreement,
    part: P,
    member: Member,
}

impl<P: Part> Opened<P> {
    /// Its part of the run.
    pub fn part(&self) -> &P {
        &self.part
    }

    /// The member as the others know it.
    #[must_use]
    pub fn peer(&self) -> Peer {
        let MemberConfig { me, listener, identity, .. } = &self.member.config;
        Peer { member: me.clone(), address: listener.as_deref().map(Listener::address), pin: identity.pin() }
    }

    /// Lets `observer` hear the run's events from now on.
    pub fn listen(&mut self, observer: Observer) {
        self.member.observer = observer;
    }

    /// Meets these, of whom it may be one itself, and runs to the end.
    ///
    /// # Errors
    /// Something failed here or elsewhere; no output is in place.
    pub fn run(self, all: &[Peer]) -> Result<Outcome<P::Learnt>, Fault> {
        let Self { agreement, part, member: Member { mut config, observer } } = self;
        config.peers = all.iter().filter(|peer| peer.member != config.me).cloned().collect();
        crate::job::run_part(agreement, part, config, &observer)
    }
}

/// Where the shards of a member on this machine find each other: see
/// [`Hosts`](crate::job::Hosts).
#[derive(Clone, Debug)]
pub struct ShardAddresses {
    /// The number of this one.
    pub shard: usize,
    /// Where it listens for the others.
    pub bind: String,
    /// Where all are found, in order.
    pub addresses: Vec<String>,
    /// The transport between them.
    pub transport: TransportKind,
}

/// A member of a local run that does not listen yet, and may go to another process as it is:
/// everything it needs but the job and where the others are. No `Debug`: it holds a private key and
/// inputs.
#[derive(Serialize, Deserialize)]
pub struct LocalMember {
    pub(crate) me: Name,
    /// Certificate and private key of this run.
    pub(crate) pem: String,
    /// The address on which it listens, if it is a party.
    pub(crate) listen: Option<String>,
    pub(crate) transport: String,
    pub(crate) shape: String,
    pub(crate) session: [u8; 16],
    pub(crate) backend: String,
    pub(crate) inputs: BTreeMap<String, InputPlace>,
    pub(crate) outputs: BTreeMap<String, OutputPlace>,
    pub(crate) aes_ctr: AesCtrPlaces,
    /// Whether outputs may replace files of others.
    pub(crate) force: bool,
    /// Its place among the shards of its member, where there are several.
    pub(crate) shard: Option<LocalShard>,
    /// Milliseconds that peers may take to come, and that no byte may move; the defaults where they
    /// are missing.
    pub(crate) patience: Option<[u64; 2]>,
    /// Files that the member reads besides its inputs, with their roles.
    pub(crate) reads: Vec<(String, PathBuf)>,
}

/// A shard that is a process of its own.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LocalShard {
    pub(crate) shard: usize,
    /// Where it listens for the member's other shards, and where all of these are found.
    pub(crate) bind: String,
    pub(crate) addresses: Vec<String>,
    pub(crate) transport: String,
}

impl Drop for LocalMember {
    fn drop(&mut self) {
        self.pem.zeroize();
    }
}

/// The inputs of one of a member's shards on this machine: the first has all, and the others those
/// of which each reads a part.
pub(crate) fn inputs_of_shard(
    inputs: &BTreeMap<String, InputPlace>,
    shard: usize,
) -> BTreeMap<String, InputPlace> {
    let own = inputs.iter().filter(|(_, place)| shard == 0 || place.is_read_in_parts());
    own.map(|(name, place)| (name.clone(), place.clone())).collect()
}

impl LocalMember {
    /// The member's name in the job.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.me
    }

    /// The number of its shard, where its member has several.
    #[must_use]
    pub fn shard(&self) -> Option<usize> {
        self.shard.as_ref().map(|place| place.shard)
    }

    /// The member of a member file, as one of its shards on this machine, and those it meets. A
    /// party listens at `listen`, and its shards find each other as `place` says.
    ///
    /// # Errors
    /// The key cannot be used; the file has no address of a party's shard.
    pub fn of_file(
        file: &MemberFile,
        listen: Option<String>,
        place: ShardAddresses,
        (label, backend, force): (&str, Backend, bool),
    ) -> Result<(Self, Vec<Peer>), Fault> {
        let ShardAddresses { shard, bind, addresses, transport } = place;
        let own = file.of_shard(shard, addresses.len())?;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut reads = vec![
            ("this member's own file".to_owned(), own.file.clone()),
            ("this member's private key".to_owned(), own.key.clone()),
        ];
        reads.extend(own.allow_file.iter().map(|path| ("the jobs that it allows".to_owned(), path.clone())));
        let member = Self {
            pem: own.identity()?.to_pem().to_string(),
            listen,
            transport: own.transport.to_string(),
            shape: Shape::NONE.to_string(),
            session: session_of(label).0,
            backend: backend.tier().name().to_owned(),
            inputs: inputs_of_shard(&own.inputs, shard),
            outputs: if shard == 0 { own.outputs.clone() } else { BTreeMap::new() },
            aes_ctr: AesCtrPlaces::default(),
            force,
            shard: Some(LocalShard { shard, bind, addresses, transport: transport.to_string() }),
            patience: Some([own.connect_timeout, own.stall].map(millis)),
            reads,
            me: own.me.clone(),
        };
        Ok((member, own.peers))
    }

    /// Starts it here: a party listens from now on.
    ///
    /// # Errors
    /// Its address cannot be had.
    pub fn start(mut self) -> Result<Member, Fault> {
        self.member().map_err(|e| e.by(&self.me))
    }

    fn member(&mut self) -> Result<Member, Fault> {
        let wrong = |e: &dyn std::fmt::Display| Fault::internal("start", e);
        let shape: Shape = self.shape.parse().map_err(|e| wrong(&e))?;
        let identity = Identity::from_pem(&self.pem).map_err(|e| wrong(&e))?;
        let listener = self.listen.as_deref().map(Listener::bind).transpose();
        let listener = listener.map_err(|e| Fault::from(e).during("listening"))?;
        let place = self.shard.take().map(|place| {
            let LocalShard { shard, bind, addresses, transport } = place;
            ShardPlace::process(shard, &bind, addresses, transport.parse()?)
        });
        let mut files = RunFiles::new(self.force);
        self.reads.iter().for_each(|(role, path)| files.reads(role.clone(), path));
        let known = MemberConfig::new(self.me.clone(), identity, listener.map(Arc::new));
        let waits = [known.connect_timeout, known.stall];
        let [connect_timeout, stall] = self.patience.map_or(waits, |all| all.map(Duration::from_millis));
        Ok(Member::new(MemberConfig {
            shard: place.transpose()?,
            connect_timeout,
            stall,
            transport: self.transport.parse()?,
            shape,
            session: SessionId(self.session),
            backend: Backend::named(&self.backend).map_err(|e| wrong(&e))?,
            inputs: std::mem::take(&mut self.inputs),
            outputs: std::mem::take(&mut self.outputs),
            keys: std::mem::take(&mut self.aes_ctr),
            files,
            ..known
        }))
    }
}
