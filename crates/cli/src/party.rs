//! One party's process: hears its part on stdin, joins the ring, and computes keystream on shares.

use crate::{
    control::{self, DeviceStats, FromParty, Setup, Start, Stats, ToParty, peak_memory, text_to_path},
    error::{Error, Failure},
    owner::{SECRETS_STEP, plain_share, secrets_len},
    wiring,
};
use hushwire_aes::Backend;
use hushwire_hdl::{Device, HdlError};
use hushwire_job::aes_ctr::{
    Batch, DRAW_SHARD, EXPAND_SHARD, Engine, KeyId, KeyMode, Spare, Terms, draw, share_file,
};
use hushwire_prg::Seed;
use hushwire_rep3::{
    Comparison, ExpandedKeys, Inconsistent, KeyExpansion, Role, Session, ShareError, Shares, Workspace,
};
use hushwire_wire::{
    Channel, Identity, Listener, Meter, Net, NetError, PartyId, connect,
    drive::{Lane, Work, pipeline},
};
use std::{
    io,
    path::PathBuf,
    process,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
};
use zeroize::Zeroizing;

/// Runs party `index` to its end.
pub(crate) fn main(index: u8) -> ! {
    let Some(role) = Role::new(index) else {
        eprintln!("error: parties are 0, 1 and 2");
        process::exit(2);
    };
    let mut party = Party { role, step: "start", orders: orders() };
    match party.run() {
        // The owner closes stdin, or says so, when it has everything.
        Ok(_links) => drop(party.orders.recv()),
        Err(e) => fail(role, party.step, &e),
    }
    process::exit(0)
}

/// Reports and ends the process, whatever other threads do.
fn fail(role: Role, step: &str, error: &Error) -> ! {
    let failure = Failure::new(role.index(), step, error);
    let code = failure.code;
    tell(&FromParty::Failed(failure));
    process::exit(code.into())
}

/// Orders from stdin. The process ends as soon as the owner's is gone.
pub(crate) fn orders() -> Receiver<ToParty> {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let mut line = Zeroizing::new(String::new());
        loop {
            line.clear();
            match io::stdin().read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => process::exit(3),
            }
            match control::hear(&line) {
                Ok(order) => drop(sender.send(order)),
                Err(e) => {
                    eprintln!("error: a party process is started by `hushwire local`, not by hand ({e})");
                    process::exit(2);
                }
            }
        }
    });
    orders
}

struct Party {
    role: Role,
    /// The step under way, for errors.
    step: &'static str,
    orders: Receiver<ToParty>,
}

/// The links of one thread. They stay open until the owner has everything: closing one could overtake data on it.
type Links = (Vec<Lane<Batch>>, Channel);

/// The secrets that the owner gives one party.
struct Secrets {
    seed: Seed,
    /// Shares of the round keys, when the owner has the key.
    expanded: Option<Shares>,
}

impl Party {
    fn run(&mut self) -> Result<Vec<Links>, Error> {
        let ToParty::Setup(setup) = self.order()? else { return Err(unexpected()) };
        let backend = Backend::named(&setup.aes_backend).map_err(|e| Error::Usage(e.to_string()))?;
        let dir = setup.dir.as_deref().map(text_to_path).transpose().map_err(|_| unexpected())?;
        self.step = "reading the share of the key";
        let kept = self.kept(&setup, dir.as_ref())?;
        self.step = "start";
        // First of all, so that a program that is not there is named at once.
        let device = setup.device.map(start_device).transpose()?;
        let identity = Identity::from_pem(&setup.pem)
            .map_err(|e| Error::Internal { doing: "reading the identity", cause: e.to_string() })?;
        let listener = Listener::bind(&setup.listen)?;
        let address = listener.address();
        tell(&FromParty::Ready { address, key_id: kept.as_ref().map(|(id, _)| hex::encode(id)) });

        let ToParty::Start(start) = self.order()? else { return Err(unexpected()) };
        self.step = "connect";
        let config = wiring::session(&start, self.role.id())?;
        let mut net = connect(&config, &identity, Some(&listener))?;
        tell(&FromParty::Joined);
        let meters = [Meter::new(), Meter::new()];
        self.step = "key set-up";
        let (session, mut control) = establish(self.role, backend, &start, &mut net, &meters[0])?;
        let terms = Arc::new(start.terms);
        let mut clients = client_channels(&mut net, &terms, &meters[1])?;
        let secrets = receive_secrets(&mut clients[0], &terms)?;
        let kept = kept.map(|(_, shares)| shares);
        if let Some(shares) = secrets.expanded.as_ref().or(kept.as_ref()) {
            compare_key(&session, terms.key, shares, &mut control)?;
        }
        let keys = self.keys(&session, &terms, secrets.expanded, kept, dir, &mut net, &meters[0])?;
        let engine = Engine::new(&session, &terms, keys, device.clone())?;

        self.step = "computing";
        let mut threads = vec![];
        for (t, client) in (0..terms.cut.threads).zip(clients) {
            let ring =
                (0..terms.cut.lanes).map(|l| ring(self.role, &mut net, t * terms.cut.lanes + l, &meters[0]));
            let lanes = ring.map(|channel| channel.map(Lane::new)).collect::<Result<Vec<_>, _>>()?;
            let job = Stream::new(&session, &terms, engine.clone(), secrets.seed.clone(), client, t);
            threads.push((lanes, job));
        }
        let links = thread::scope(|scope| {
            let role = self.role;
            let compute = move |(mut lanes, mut job): (Vec<Lane<Batch>>, Stream)| -> Links {
                match pipeline(&mut lanes, &mut job).and_then(|()| job.flush()) {
                    Ok(()) => (lanes, job.client),
                    Err(e) => fail(role, "computing", &e),
                }
            };
            let running: Vec<_> = threads.into_iter().map(|job| scope.spawn(move || compute(job))).collect();
            running.into_iter().flat_map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        let device = device.map(|device| device.statistics()).transpose().map_err(device_failed)?;
        let device = device.map(|d| DeviceStats { cycles: d.cycles, ands: d.ands });
        tell(&FromParty::Done(Stats { device, ..stats(&terms, &meters) }));
        Ok(links)
    }

    fn order(&self) -> Result<ToParty, Error> {
        self.orders.recv().map_err(|_| unexpected())
    }

    /// This party's share from its file, when the run uses a kept key.
    fn kept(&self, setup: &Setup, dir: Option<&PathBuf>) -> Result<Option<(KeyId, Shares)>, Error> {
        match (setup.key, dir) {
            (KeyMode::Kept, Some(dir)) => {
                Ok(Some(share_file::read(&share_file::path(dir, self.role.index()), self.role)?))
            }
            _ => Ok(None),
        }
    }

    /// Round keys, and on the way the share file.
    #[expect(clippy::too_many_arguments, reason = "each is used once, here")]
    fn keys(
        &mut self,
        session: &Session,
        terms: &Terms,
        expanded: Option<Shares>,
        kept: Option<Shares>,
        dir: Option<PathBuf>,
        net: &mut Net,
        meter: &Meter,
    ) -> Result<ExpandedKeys, Error> {
        let size = terms.size();
        let key = match (terms.key, kept, &expanded) {
            (KeyMode::Kept, Some(kept), _) => Some(kept),
            (KeyMode::Drawn, ..) => Some(session.random(DRAW_SHARD, 0, size.key_bytes())),
            // Round keys begin with the key.
            (KeyMode::Imported, _, Some(all)) => {
                let of = |share: &[u8]| share[..size.key_bytes()].to_vec();
                Some(Shares { own: of(&all.own), next: of(&all.next) })
            }
            _ => None,
        };
        if let (true, Some(key), Some(dir), Some(id)) = (terms.key.stores(), &key, dir, &terms.key_id) {
            self.step = "storing the share of the key";
            let mut bytes = [0; 16];
            hex::decode_to_slice(id, &mut bytes).map_err(|_| unexpected())?;
            let file =
                share_file::prepare(&share_file::path(&dir, self.role.index()), self.role, &bytes, key)?;
            tell(&FromParty::Prepared);
            let ToParty::Keep = self.order()? else { return Err(unexpected()) };
            file.commit()?;
            tell(&FromParty::Kept);
        }
        self.step = "key set-up";
        let wrong = |e: ShareError| Error::Internal { doing: "expanding the key", cause: e.to_string() };
        let keys = |shares: &Shares| ExpandedKeys::from_shares(self.role, size, shares, 1);
        if let Some(expanded) = expanded {
            return keys(&expanded).map_err(wrong);
        }
        if terms.chunks() == 0 {
            // Nothing is encrypted, so that nothing need be said.
            return keys(&Shares::public(self.role, &vec![0; size.expanded_bytes()])).map_err(wrong);
        }
        let key = key.ok_or_else(unexpected)?;
        let cx = session.context(EXPAND_SHARD, 0);
        let ws = Workspace::default();
        let expansion = KeyExpansion::new(self.role, size, terms.cut.sbox, cx, &key, ws).map_err(wrong)?;
        let mut lane = Lane::new(ring(self.role, net, terms.key_lane(), meter)?);
        Ok(lane.run(expansion)?.into_keys().0)
    }
}

fn device_failed(e: HdlError) -> Error {
    Error::Job(e.into())
}

/// This party's device, which runs so many instances in a batch.
fn start_device(instances: usize) -> Result<Device, Error> {
    let start = || {
        let device = Device::start(&hushwire_hdl::find()?)?;
        device.expect_instances(instances)?;
        Ok(device)
    };
    start().map_err(device_failed)
}

/// The channel for products: to the left neighbour, from the right one.
fn ring(role: Role, net: &mut Net, lane: u16, meter: &Meter) -> Result<Channel, NetError> {
    let mut channel = net.channel(lane, Some(role.left().id()), Some(role.right().id()))?;
    channel.tap(meter.tap());
    Ok(channel)
}

fn establish(
    role: Role,
    backend: Backend,
    start: &Start,
    net: &mut Net,
    meter: &Meter,
) -> Result<(Session, Channel), Error> {
    let lane = start.terms.key_lane();
    let mut channel = net.channel(lane, Some(role.right().id()), Some(role.left().id()))?;
    channel.tap(meter.tap());
    let seed = Seed::from_bytes(draw("drawing a session key")?);
    let id = net.session().map_or_else(|| wiring::session_id(start), Ok)?;
    let session = Session::establish(role, backend, id, seed, &mut channel)?;
    Ok((session, channel))
}

/// Nothing is computed, or stored, with shares of a key that do not fit together.
fn compare_key(session: &Session, key: KeyMode, shares: &Shares, control: &mut Channel) -> Result<(), Error> {
    let mut tagging = session.tagging(0, EXPAND_SHARD);
    tagging.part(&shares.own, &shares.next);
    let comparison = Comparison::begin(session.role(), control, vec![tagging.finish()])?;
    let Some(Inconsistent { holders: [a, b], .. }) = comparison.end(control)? else { return Ok(()) };
    let [a, b] = [a.index().min(b.index()), a.index().max(b.index())];
    let different = format!("party {a} and party {b}");
    Err(if key.owner_has_it() {
        let what = format!("the owner gave {different} different shares of the same key");
        Error::Refused {
            what,
            remedy: "run this release at the owner, unchanged; nothing was computed".into(),
        }
    } else {
        let what = format!("the key shares of {different} do not belong together");
        let remedy = "restore both share files from the same backup; nothing was computed".into();
        Error::Refused { what, remedy }
    })
}

fn client_channels(net: &mut Net, terms: &Terms, meter: &Meter) -> Result<Vec<Channel>, NetError> {
    let owner = Some(PartyId::OWNER);
    let lanes = 0..terms.cut.threads;
    let mut channels = lanes.map(|t| net.channel(t, owner, owner)).collect::<Result<Vec<_>, _>>()?;
    channels.iter_mut().for_each(|channel| channel.tap(meter.tap()));
    Ok(channels)
}

fn receive_secrets(owner: &mut Channel, terms: &Terms) -> Result<Secrets, Error> {
    let mut bytes = Zeroizing::new(vec![0; secrets_len(terms)]);
    owner.recv(SECRETS_STEP, &mut bytes)?;
    let mut seed = [0; 16];
    seed.copy_from_slice(&bytes[..16]);
    let expanded_bytes = terms.size().expanded_bytes();
    let expanded =
        terms.key.owner_has_it().then(|| Shares::from_bytes(&bytes[16..], expanded_bytes)).transpose();
    let expanded =
        expanded.map_err(|e| Error::Internal { doing: "receiving round keys", cause: e.to_string() })?;
    Ok(Secrets { seed: Seed::from_bytes(seed), expanded })
}

fn stats(terms: &Terms, [ring, client]: &[Meter; 2]) -> Stats {
    let (ring, client) = (ring.reading(), client.reading());
    let of_keys = ring.exchanges.get(&terms.key_lane()).copied().unwrap_or(0);
    let lanes = ring.exchanges.iter().filter(|(lane, _)| **lane != terms.key_lane());
    Stats {
        bytes_sent: ring.bytes_sent() + client.bytes_sent(),
        bytes_received: ring.bytes_received() + client.bytes_received(),
        // Keys come first; then the lanes run beside each other.
        rounds: of_keys + lanes.map(|(_, n)| *n).max().unwrap_or(0),
        peak_memory_bytes: peak_memory(),
        ..Stats::default()
    }
}

pub(crate) fn tell(message: &FromParty) {
    // The process ends when stdin closes; a lost line shows there.
    let _ = control::say(io::stdout().lock(), message);
}

fn unexpected() -> Error {
    Error::Internal { doing: "following the owner", cause: "an order was missing or out of turn".into() }
}

/// The chunks of one thread: a keystream share each, to which this party's share of the data is added.
struct Stream {
    session: Session,
    terms: Arc<Terms>,
    engine: Engine,
    seed: Seed,
    client: Channel,
    /// The next chunk to begin, and the next to end.
    begin: u32,
    end: u32,
    spare: Spare,
    /// The result under way to the owner, and the one being made.
    out: Vec<u8>,
    next: Vec<u8>,
}

impl Stream {
    fn new(
        session: &Session,
        terms: &Arc<Terms>,
        engine: Engine,
        seed: Seed,
        client: Channel,
        thread: u16,
    ) -> Self {
        let (begin, end) = (u32::from(thread), u32::from(thread));
        let (session, terms, spare) = (session.clone(), terms.clone(), Spare::default());
        Self { session, terms, engine, seed, client, begin, end, spare, out: vec![], next: vec![] }
    }

    /// Sends the rest of the last result.
    fn flush(&mut self) -> Result<(), Error> {
        let sent = std::mem::take(&mut self.out);
        if !sent.is_empty() {
            self.client.finish("result", &sent, &mut [])?;
        }
        Ok(())
    }
}

impl Work<Batch> for Stream {
    type Error = Error;

    fn next(&mut self) -> Result<Option<Batch>, Error> {
        let (c, threads) = (self.begin, u32::from(self.terms.cut.threads));
        if c >= self.terms.chunks() {
            return Ok(None);
        }
        self.begin += threads;
        let number = (c / threads) as usize;
        Ok(Some(self.engine.begin(&self.session, &self.terms, c, number, &mut self.spare)?))
    }

    fn done(&mut self, batch: Batch) -> Result<(), Error> {
        let c = self.end;
        self.end += u32::from(self.terms.cut.threads);
        self.next.resize(self.terms.bytes_of(c), 0);
        let explicit = Terms::explicit(c) == self.session.role().index();
        let into = if explicit { &mut self.next[..] } else { &mut [] };
        // The result before goes out while this one's data comes in.
        if explicit || !self.out.is_empty() {
            self.client.finish("data and result", &self.out, into)?;
        }
        if !explicit {
            plain_share(self.session.backend(), &self.seed, c, &mut self.next);
        }
        batch.add_to(&mut self.next, &mut self.spare)?;
        std::mem::swap(&mut self.out, &mut self.next);
        self.client.start("result", &self.out)?;
        Ok(())
    }
}
