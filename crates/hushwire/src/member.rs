//! One member of a job: from its configuration to its end.
//!
//! A [`Member`] is made from a party file, a client file or a configuration. It opens its files
//! before it connects to the others, so that unusable files are reported first.

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

/// One member of a run. `hushwire party` and `hushwire client` are one such member each, and so is
/// each process of a local run.
pub struct Member {
    config: MemberConfig,
    observer: Observer,
}

impl Member {
    /// Makes the party that a party file describes. It begins to listen. `label` separates runs
    /// that must not be confused.
    ///
    /// # Errors
    /// The file or its key cannot be used, or the address is not available.
    pub fn party(file: &Path, label: &str) -> Result<Self, Fault> {
        let file = PartyFile::read(file)?;
        let me = file.member.me.clone();
        let config = MemberConfig::of_party(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.by(&me))?))
    }

    /// Makes the client that a client file describes.
    ///
    /// # Errors
    /// The file or its key cannot be used.
    pub fn client(file: &Path, label: &str) -> Result<Self, Fault> {
        let file = ClientFile::read(file)?;
        let me = file.0.me.clone();
        let config = MemberConfig::of_client(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.by(&me))?))
    }

    /// Makes a member with a configuration from the program.
    #[must_use]
    pub fn new(config: MemberConfig) -> Self {
        Self { config, observer: Arc::new(|_| {}) }
    }

    /// Sets the place of one of its inputs, instead of the place in the file.
    #[must_use]
    pub fn bring(mut self, name: &str, place: InputPlace) -> Self {
        self.config.inputs.insert(name.to_owned(), place);
        self
    }

    /// Sets the place of one of its outputs, instead of the place in the file.
    #[must_use]
    pub fn keep(mut self, name: &str, place: OutputPlace) -> Self {
        self.config.outputs.insert(name.to_owned(), place);
        self
    }

    /// Sets the files that the run reads besides inputs and the member's own, and whether its
    /// outputs may replace other files.
    #[must_use]
    pub fn files(mut self, files: RunFiles) -> Self {
        let own = std::mem::replace(&mut self.config.files, files);
        self.config.files.protect(own);
        self
    }

    /// Allows the jobs whose terms have this digest. The member then takes part only in jobs that
    /// the file or such a call allows.
    #[must_use]
    pub fn allow(mut self, digest: TermsDigest) -> Self {
        self.config.allow([digest]);
        self
    }

    /// At a party: sets a data set of the job, as the party stores it.
    #[must_use]
    pub fn store(mut self, data: &str, at_rest: StoredData) -> Self {
        self.config.stored.insert(data.to_owned(), at_rest);
        self
    }

    /// At a party: sets the sink for its shares of outputs for recipients that are not connected.
    #[must_use]
    pub fn seal(mut self, sink: Arc<dyn SealedSink>) -> Self {
        self.config.sealed = Some(sink);
        self
    }

    /// Sets the decider for the end of the run, once all parties are done.
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

    /// Sets the handle that ends the run. Other members of the program share it.
    pub(crate) fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.config.cancel = cancel;
        self
    }

    /// Sets an observer for the run's events.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Opens this member's files for a job of any kind. No peer is dialled.
    ///
    /// # Errors
    /// A file cannot be used, a value is missing, or a value belongs to no member.
    pub fn open<T: Task>(mut self, task: &T) -> Result<Opened<T::Part>, Fault> {
        let part = crate::job::open(task, &mut self.config)?;
        Ok(Opened { agreement: task.agreement(), part, member: self })
    }

    /// Connects to the others and runs this member's part of a job of any kind to its end.
    ///
    /// # Errors
    /// This member or another one failed, or the job is not allowed. No output is in place.
    pub fn run<T: Task>(self, task: &T) -> Result<Outcome<T::Learnt>, Fault> {
        crate::job::run(task, self.config, &self.observer)
    }
}

/// A member that has opened its files and listens, but has not connected to the others yet.
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

    /// The member, as a peer of the others.
    #[must_use]
    pub fn peer(&self) -> Peer {
        let MemberConfig { me, listener, identity, .. } = &self.member.config;
        Peer { member: me.clone(), address: listener.as_deref().map(Listener::address), pin: identity.pin() }
    }

    /// Sets the observer for the run's events from now on.
    pub fn listen(&mut self, observer: Observer) {
        self.member.observer = observer;
    }

    /// Connects to these members, which may include this one, and runs to the end.
    ///
    /// # Errors
    /// This member or another one failed. No output is in place.
    pub fn run(self, all: &[Peer]) -> Result<Outcome<P::Learnt>, Fault> {
        let Self { agreement, part, member: Member { mut config, observer } } = self;
        config.peers = all.iter().filter(|peer| peer.member != config.me).cloned().collect();
        crate::job::run_part(agreement, part, config, &observer)
    }
}

/// The addresses at which the shards of a member on this machine find each other; see
/// [`Hosts`](crate::job::Hosts).
#[derive(Clone, Debug)]
pub struct ShardAddresses {
    /// The number of this shard.
    pub shard: usize,
    /// The address at which it listens for the other shards.
    pub bind: String,
    /// The addresses of all shards, in order.
    pub addresses: Vec<String>,
    /// The transport between the shards.
    pub transport: TransportKind,
}

/// A member of a local run that does not listen yet, and can be passed to another process. It has
/// everything that the member needs except the job and the addresses of the others. No `Debug`: it
/// holds a private key and inputs.
#[derive(Serialize, Deserialize)]
pub struct LocalMember {
    pub(crate) me: Name,
    /// The certificate and the private key of this run.
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
    /// Whether outputs may replace other files.
    pub(crate) force: bool,
    /// Its place among the shards of its member, if there are several.
    pub(crate) shard: Option<LocalShard>,
    /// The milliseconds that peers may take to connect, and that may pass without a moving byte.
    /// `None` for the defaults.
    pub(crate) patience: Option<[u64; 2]>,
    /// Files that the member reads besides its inputs, with their roles.
    pub(crate) reads: Vec<(String, PathBuf)>,
}

/// A shard that is a process of its own.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LocalShard {
    pub(crate) shard: usize,
    /// The address at which it listens for the member's other shards, and the addresses of all
    /// shards.
    pub(crate) bind: String,
    pub(crate) addresses: Vec<String>,
    pub(crate) transport: String,
}

impl Drop for LocalMember {
    fn drop(&mut self) {
        self.pem.zeroize();
    }
}

/// The inputs of one of a member's shards on this machine. The first shard has all inputs. The
/// others have only those that each shard reads in part.
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

    /// The number of its shard, if its member has several.
    #[must_use]
    pub fn shard(&self) -> Option<usize> {
        self.shard.as_ref().map(|place| place.shard)
    }

    /// Makes one shard on this machine of a member from its file, and the peers that it connects
    /// to. A party listens at `listen`, and its shards find each other as `place` says.
    ///
    /// # Errors
    /// The key cannot be used, or the file has no address of a party's shard.
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

    /// Starts the member in this process. A party begins to listen.
    ///
    /// # Errors
    /// The address is not available.
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
