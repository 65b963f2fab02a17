//! The owner's part: it shares the file to the parties as it reads it, and adds up the shares that
//! come back, on two threads. Before that it hears which keys the parties keep, reserves counters
//! in its ledger, and sends its terms. Module `wire` has the messages.

use super::{
    Learnt,
    book::Book,
    cut::{AesCtrTerms, KeyMode},
    key::AesKey,
    share_file::KeyId,
    spec::{AesCtrJob, KeySource},
    wire::{self, HELD, HELD_STEP, KEPT_STEP, TERMS_STEP, plain_share},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_machine::{Channel, NetError, PartyId, Reason, Watch};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Shares, share, xor_into};
use hushwire_session::{
    Agreement, Event, Fault, Iv, Kind, NewFile, Observer, draw, explain,
    run::{COMPUTING, Links, MemberSession, first_error},
};
use std::{
    io::{self, Read, Seek, Write},
    path::PathBuf,
    thread,
};

const KEY: &str = "key set-up";
const SEND: &str = "sharing the file";
const RECEIVE: &str = "receiving the result";

/// The owner's choices, made before any member is dialled. The caller has checked that the counters
/// are unused.
pub(super) struct OwnersFiles {
    /// The input file, at its beginning.
    pub(super) input: Box<dyn DataInput>,
    /// Its path, for messages.
    pub(super) from: PathBuf,
    /// Its length.
    pub(super) bytes: u64,
    /// The output file.
    pub(super) output: Output,
    /// Its path, for messages.
    pub(super) to: PathBuf,
    /// The first counter block.
    pub(super) iv: Iv,
    /// The key, if the owner brings it.
    pub(super) key: Option<AesKey>,
    /// The key that the parties must keep.
    pub(super) expects: Expected,
    /// The name of a key that will be new.
    pub(super) new_id: KeyId,
    /// The ledger, if counters are used up.
    pub(super) book: Option<Book>,
}

/// A file, or bytes in memory.
pub(super) trait DataInput: Read + Seek + Send {}

impl<T: Read + Seek + Send> DataInput for T {}

/// The place of the result.
pub(super) enum Output {
    /// A file that gets its name at the end of the run.
    File(NewFile),
    /// A file that is returned without a name.
    Unnamed(NewFile),
    /// Bytes that are returned.
    Memory(Vec<u8>),
}

impl Output {
    /// Reserves disk space, so that a full disk is found before the work.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), Fault> {
        match self {
            Self::File(file) | Self::Unnamed(file) => file.reserve(bytes),
            Self::Memory(_) => Ok(()),
        }
    }

    fn writer(&mut self) -> Result<Box<dyn Write + '_>, Fault> {
        Ok(match self {
            Self::File(file) | Self::Unnamed(file) => Box::new(file.writer()?),
            Self::Memory(bytes) => Box::new(bytes),
        })
    }
}

/// The key that an owner expects the parties to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Any key, or none: the ledger's history is lost, and the user has confirmed this.
    Any,
    /// No key, so that they draw one. Or the key of this name, with which a run was begun that
    /// wrote nothing.
    New(Option<String>),
    /// The key of this name, as hexadecimal digits.
    Key(String),
    /// Any key, but not none: for decryption.
    Some,
}

/// The owner of the file.
pub(super) struct Owner {
    job: AesCtrJob,
    files: OwnersFiles,
    learnt: Learnt,
}

/// Channels to or from the parties, by thread.
type Channels = Vec<[Channel; 3]>;

impl Owner {
    pub(super) fn new(job: &AesCtrJob, files: OwnersFiles) -> Self {
        Self { job: job.clone(), files, learnt: Learnt::default() }
    }

    pub(super) fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        member.enter(KEY);
        let agreement = member.agreement.clone();
        let net = |e: NetError| explain(&agreement, e).during(KEY);
        let mut to = channels(member, self.job.cut.threads, true)?;
        let mut from = channels(member, self.job.cut.threads, false)?;
        let held = hear_keys(&agreement, &mut from[0])?;
        let terms = self.terms(&held)?;
        if let Some(book) = &mut self.files.book {
            book.reserve(&terms)?;
        }
        let backend = member.config.backend;
        let seeds = [0; 3].map(|_: u8| Seed::random());
        let messages = self.secrets(backend, &terms, &seeds)?;
        for (channel, message) in to[0].iter_mut().zip(&messages) {
            channel.send(TERMS_STEP, message).map_err(net)?;
        }
        drop(messages);
        if terms.key.stores() {
            for channel in &mut from[0] {
                channel.recv(KEPT_STEP, &mut [0]).map_err(net)?;
            }
        }
        if let Some(book) = &mut self.files.book {
            book.unlock();
        }
        (member.observer)(Event::Progress(0, terms.bytes));
        self.learnt.terms = Some(terms.clone());

        let input = std::mem::replace(&mut self.files.input, Box::new(io::empty()));
        let sending =
            Sending { terms: &terms, agreement: &agreement, backend, seeds, input, path: &self.files.from };
        let output = self.files.output.writer()?;
        let (watch, me) = (member.net.watch(), member.net.me());
        let (sent, received) = thread::scope(|scope| {
            let sender = scope.spawn(move || {
                let (mut sending, mut to) = (sending, to);
                let sent = sending.run(&mut to);
                end(sent, to, watch.as_ref(), me)
            });
            let hash = self.files.book.is_some().then(blake3::Hasher::new);
            let mut receiving =
                Receiving { terms: &terms, agreement: &agreement, output, path: &self.files.to, hash };
            let received = receiving.run(&mut from, &member.observer);
            let received = end(received, from, member.net.watch().as_ref(), me);
            self.learnt.digest = receiving.hash.map(|hash| hash.finalize().to_hex().to_string());
            (sender.join(), received)
        });
        let sent = sent.unwrap_or_else(|_| Err(Fault::internal(SEND, "a thread panicked")));
        let (mut ends, mut errors) = (vec![], vec![]);
        for result in [sent, received] {
            match result {
                Ok(channels) => ends.extend(channels.into_iter().enumerate()),
                Err(e) => errors.push(e),
            }
        }
        // A disk that fails also closes links, so the error of the disk comes first.
        errors.sort_by_key(|e| e.kind() == Kind::Network);
        first_error(errors)?;
        let mut links = Links { word: vec![], kept: vec![] };
        for (t, channels) in ends {
            let to = if t == 0 { &mut links.word } else { &mut links.kept };
            to.extend(channels);
        }
        Ok(links)
    }

    /// Writes the result to disk, and its digest into the ledger.
    pub(super) fn prepare(&mut self) -> Result<(), Fault> {
        if let Output::File(file) | Output::Unnamed(file) = &self.files.output {
            file.sync()?;
        }
        match (&self.files.book, &self.learnt.terms) {
            (Some(book), Some(terms)) => book.written(terms.iv, self.learnt.digest.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn commit(self) -> Result<Learnt, Fault> {
        Ok(match self.files.output {
            Output::File(file) => file.commit().map(|()| self.learnt)?,
            Output::Unnamed(file) => Learnt { output: Some(file), ..self.learnt },
            Output::Memory(bytes) => Learnt { bytes: Some(bytes), ..self.learnt },
        })
    }

    /// The terms, after the parties have named the keys that they keep. These must be shares of one
    /// key, the expected one.
    fn terms(&self, held: &[Option<KeyId>; 3]) -> Result<AesCtrTerms, Fault> {
        let (key, key_id) = match self.job.key {
            KeySource::Given => (KeyMode::Given, None),
            KeySource::Imported => (KeyMode::Imported, Some(self.files.new_id)),
            KeySource::Kept => match one_key(held)? {
                Some(id) => (KeyMode::Kept, Some(id)),
                None => (KeyMode::Drawn, Some(self.files.new_id)),
            },
        };
        let found = (key == KeyMode::Kept).then(|| key_id.map(hex::encode).unwrap_or_default());
        if self.job.key == KeySource::Kept {
            expected(&self.files.expects, found.as_deref())?;
        }
        let (iv, bytes) = (self.files.iv, self.files.bytes);
        let (cut, key_bits) = (self.job.cut.clone(), self.job.key_bits);
        if !cut.counts(bytes) {
            let cause = "it is longer than can be counted in chunks of the job's `batch`";
            return Err(Fault::file("encrypt", &self.files.from, cause, "raise `batch`, or split the file"));
        }
        Ok(AesCtrTerms { iv, bytes, key, key_bits, key_id: key_id.map(hex::encode), cut })
    }

    /// The first message to each party.
    fn secrets(
        &mut self,
        backend: Backend,
        terms: &AesCtrTerms,
        seeds: &[Seed; 3],
    ) -> Result<[Wiped<Vec<u8>>; 3], Fault> {
        let wrong = || Fault::internal(KEY, "the terms cannot be encoded");
        let shares: Option<[Shares; 3]> = match (self.job.key.is_the_owners(), self.files.key.take()) {
            (true, Some(key)) => {
                let seed = Seed::from_bytes(draw("drawing shares of the key")?);
                Some(share(&mut Prg::new(backend, &seed, "aes-ctr round keys"), &key.expanded(backend)))
            }
            (true, None) => return Err(Fault::internal(KEY, "the owner has no key")),
            (false, _) => None,
        };
        let message = |party: usize| {
            wire::encode_terms(terms, &seeds[party], shares.as_ref().map(|all| &all[party])).ok_or_else(wrong)
        };
        Ok([message(0)?, message(1)?, message(2)?])
    }
}

fn channels(member: &mut MemberSession, threads: u16, to: bool) -> Result<Channels, Fault> {
    let mut one = |t, party| {
        let peer = Some(PartyId(party));
        member.channel(1, t, peer.filter(|_| to), peer.filter(|_| !to))
    };
    (0..threads).map(|t| Ok([one(t, 0)?, one(t, 1)?, one(t, 2)?])).collect()
}

/// The keys of which the parties keep shares.
fn hear_keys(agreement: &Agreement, from: &mut [Channel; 3]) -> Result<[Option<KeyId>; 3], Fault> {
    let mut held = [None; 3];
    for (party, (channel, held)) in from.iter_mut().zip(&mut held).enumerate() {
        let mut message = [0; HELD];
        channel.recv(HELD_STEP, &mut message).map_err(|e| explain(agreement, e).during(KEY))?;
        *held = wire::decode_held(&message).ok_or_else(|| {
            let cause = format!("party {party} sent a malformed message about its key");
            Fault::new(code::DISAGREE, KEY, cause, "run the same release everywhere")
        })?;
    }
    Ok(held)
}

fn refused(cause: impl std::fmt::Display, remedy: &str) -> Fault {
    Fault::new(code::KEY, KEY, cause, remedy)
}

/// The key of which all parties keep shares, or `None` if no party does. An error names a party
/// that differs.
fn one_key(held: &[Option<KeyId>; 3]) -> Result<Option<KeyId>, Fault> {
    let votes = |id: &Option<KeyId>| held.iter().filter(|other| *other == id).count();
    let common = held.iter().max_by_key(|id| votes(id)).copied().flatten();
    let Some(odd) = held.iter().position(|id| *id != common) else { return Ok(common) };
    Err(match (held[odd], common) {
        (None, _) => refused(
            format!("party {odd} keeps no share of a key, and others do"),
            "let it restore its share from its backup, or let all name new places to begin with a new key",
        ),
        (Some(_), None) => refused(
            format!("party {odd} keeps a share of a key, and others do not"),
            "let them restore their shares from backups, or let all name new places to begin with a new key",
        ),
        (Some(_), Some(_)) => refused(
            format!("party {odd}'s share belongs to another key than those of the others"),
            "let it put back the share that was made together with theirs, from a backup",
        ),
    })
}

/// Checks that the parties keep the key to which the owner's ledger belongs.
fn expected(expects: &Expected, found: Option<&str>) -> Result<(), Fault> {
    match (expects, found) {
        (Expected::Any, _) | (Expected::New(_), None) | (Expected::Some, Some(_)) => Ok(()),
        (Expected::Key(id) | Expected::New(Some(id)), Some(found)) if id == found => Ok(()),
        (Expected::Key(_), Some(_)) => Err(refused(
            "the parties keep another key than the one that the ledger is of",
            "name the ledger of their key, or let them put back the shares that belong to it",
        )),
        (Expected::Key(_), None) => Err(refused(
            "the parties keep no key, and the ledger is of one",
            "let them restore their shares from backups, or name another ledger to begin with a new key",
        )),
        (Expected::New(_), Some(_)) => Err(refused(
            "the parties keep a key, and there is no ledger of it: which counters were used is not known",
            "name the directory of its ledger; where that is lost, add history-lost = true, and counters are drawn from \
             then on",
        )),
        (Expected::Some, None) => Err(refused(
            "the parties keep no key, so that nothing was encrypted under it",
            "let them name the places of their shares, or bring the key that the file was encrypted with",
        )),
    }
}

/// The links of a direction that has ended. If the direction failed, all peers first hear that this
/// member failed, which is different from a death, and the links are then closed.
fn end(
    ended: Result<(), Fault>,
    links: Channels,
    watch: Option<&Watch>,
    me: PartyId,
) -> Result<Channels, Fault> {
    if let (Err(e), Some(watch)) = (&ended, watch)
        && e.kind() != Kind::Network
    {
        watch.abort(me, Reason::Local(e.tells()), COMPUTING);
    }
    ended.map(|()| links)
}

struct Sending<'a> {
    terms: &'a AesCtrTerms,
    agreement: &'a Agreement,
    backend: Backend,
    seeds: [Seed; 3],
    input: Box<dyn DataInput>,
    path: &'a PathBuf,
}

impl Sending<'_> {
    /// Sends each chunk's explicit share: the data plus the shares that the other two parties
    /// expand.
    fn run(&mut self, to: &mut Channels) -> Result<(), Fault> {
        let mut data = Wiped::new(vec![]);
        let mut mask = Wiped::new(vec![]);
        for c in 0..self.terms.chunks() {
            let bytes = self.terms.bytes_of(c);
            data.resize(bytes, 0);
            mask.resize(bytes, 0);
            self.input.read_exact(&mut data).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => self.changed("it became shorter while it was read"),
                _ => Fault::io("read", self.path, &e),
            })?;
            let party = AesCtrTerms::explicit(c);
            for other in [(party + 1) % 3, (party + 2) % 3] {
                plain_share(self.backend, &self.seeds[other], c, &mut mask);
                xor_into(&mut data, &mask);
            }
            let channel = &mut to[usize::from(self.terms.thread_of(c))][party];
            channel.send("data", &data).map_err(|e| explain(self.agreement, e).during(SEND))?;
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.changed("it became longer while it was read")),
            Err(e) => Err(Fault::io("read", self.path, &e)),
        }
    }

    fn changed(&self, cause: &str) -> Fault {
        Fault::file("read", self.path, cause, "let its writer finish, or work on a copy of it")
    }
}

struct Receiving<'a> {
    terms: &'a AesCtrTerms,
    agreement: &'a Agreement,
    output: Box<dyn Write + 'a>,
    path: &'a PathBuf,
    /// The hash of the output, if its digest is needed.
    hash: Option<blake3::Hasher>,
}

impl Receiving<'_> {
    /// Adds up the parties' shares of each chunk, and writes the result in order.
    fn run(&mut self, from: &mut Channels, observer: &Observer) -> Result<(), Fault> {
        let (mut sum, mut share, mut done) = (vec![], vec![], 0);
        let net = |e| explain(self.agreement, e).during(RECEIVE);
        for c in 0..self.terms.chunks() {
            let bytes = self.terms.bytes_of(c);
            sum.resize(bytes, 0);
            share.resize(bytes, 0);
            let [first, second, third] = &mut from[usize::from(self.terms.thread_of(c))];
            first.recv("result", &mut sum).map_err(net)?;
            for channel in [second, third] {
                channel.recv("result", &mut share).map_err(net)?;
                xor_into(&mut sum, &share);
            }
            self.output.write_all(&sum).map_err(|e| Fault::io("write", self.path, &e))?;
            if let Some(hash) = &mut self.hash {
                hash.update(&sum);
            }
            done += bytes as u64;
            observer(Event::Progress(done, self.terms.bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_share_is_named() {
        let (a, b) = (Some([1; 16]), Some([2; 16]));
        assert_eq!(one_key(&[a, a, a]).ok(), Some(a));
        assert_eq!(one_key(&[None; 3]).ok(), Some(None));
        for (held, says) in [
            ([a, None, a], "party 1 keeps no share"),
            ([None, None, a], "party 2 keeps a share"),
            ([b, a, a], "party 0's share belongs to another key"),
        ] {
            let error = one_key(&held).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(says), "{held:?}: {error}");
        }
    }

    #[test]
    fn a_key_without_a_ledger_is_refused() {
        let key = || Expected::Key("k".into());
        for (expects, found, good) in [
            (Expected::New(None), None, true),
            (Expected::New(None), Some("k"), false),
            (Expected::New(Some("k".into())), Some("k"), true),
            (Expected::New(Some("k".into())), None, true),
            (Expected::New(Some("k".into())), Some("l"), false),
            (Expected::Any, Some("k"), true),
            (Expected::Any, None, true),
            (key(), Some("k"), true),
            (key(), Some("l"), false),
            (key(), None, false),
            (Expected::Some, Some("l"), true),
            (Expected::Some, None, false),
        ] {
            assert_eq!(expected(&expects, found).is_ok(), good, "{expects:?} {found:?}");
        }
    }
}
