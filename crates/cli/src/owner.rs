//! The owner's own part: shares the file to the parties as it reads it, and adds up what comes back.

use crate::{control::Start, error::Error, supervisor::Event, wiring};
use hushwire_aes::Backend;
use hushwire_job::aes_ctr::{Key, Terms, draw};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{share, xor_into};
use hushwire_wire::{Channel, Identity, Meter, Net, PartyId, connect};
use indicatif::ProgressBar;
use std::{
    fs::File,
    io::{self, Read, Write},
    path::PathBuf,
    sync::{Arc, mpsc::Sender},
    thread,
    time::Instant,
};
use zeroize::Zeroizing;

/// The first message to each party.
pub(crate) const SECRETS_STEP: &str = "seed and key";

/// Bytes of the first message: a seed, and both shares of the round keys when the owner has the key.
pub(crate) fn secrets_len(terms: &Terms) -> usize {
    16 + if terms.key.owner_has_it() { 2 * terms.size().expanded_bytes() } else { 0 }
}

/// The share of chunk `c` that a party expands from its seed, in whatever order chunks come.
pub(crate) fn plain_share(backend: Backend, seed: &Seed, c: u32, out: &mut [u8]) {
    Prg::new(backend, &seed.derive("aes-ctr data", &c.to_le_bytes()), "chunk").fill(out);
}

/// The owner's side of a run.
pub(crate) struct Owner {
    pub(crate) start: Start,
    pub(crate) identity: Identity,
    pub(crate) backend: Backend,
    pub(crate) key: Option<Key>,
    pub(crate) input: File,
    pub(crate) in_path: PathBuf,
    pub(crate) output: File,
    pub(crate) out_path: PathBuf,
    /// Whether the digest of the output is wanted.
    pub(crate) digests: bool,
    pub(crate) bar: ProgressBar,
}

/// The owner's measurements.
pub(crate) struct Streamed {
    /// From the first connection to the last byte.
    pub(crate) seconds: f64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// BLAKE3 of the output, where it was wanted.
    pub(crate) digest: Option<String>,
}

/// Channels to or from the parties, by thread.
type Channels = Vec<[Channel; 3]>;

impl Owner {
    /// Runs on a thread of its own. It is not joined: after another process failed, nothing waits for it.
    pub(crate) fn spawn(self, events: Sender<Event>) {
        thread::spawn(move || {
            let failed = events.clone();
            // Nobody listens any more once the run has failed.
            let _ = events.send(Event::Owner(self.run(failed)));
        });
    }

    fn run(self, events: Sender<Event>) -> Result<Streamed, Error> {
        let config = wiring::session(&self.start, PartyId::OWNER)?;
        let mut net = connect(&config, &self.identity, None)?;
        let begun = Instant::now();
        let (terms, meter) = (Arc::new(self.start.terms), Meter::new());
        let mut to = channels(&mut net, &terms, &meter, true)?;
        let from = channels(&mut net, &terms, &meter, false)?;
        let seeds = [0; 3].map(|_: u8| Seed::random());
        send_secrets(&mut to[0], self.backend, &seeds, self.key)?;
        let sending = Sending {
            terms: terms.clone(),
            backend: self.backend,
            seeds,
            input: self.input,
            path: self.in_path,
            to,
        };
        let sender = thread::spawn(move || match sending.run() {
            Ok(links) => Some(links),
            Err(e) => {
                let _ = events.send(Event::Owner(Err(e)));
                None
            }
        });
        let mut hash = self.digests.then(blake3::Hasher::new);
        receive(&terms, from, self.output, &self.bar, hash.as_mut()).map_err(|e| match e {
            Lost::Net(e) => e,
            Lost::Disk(e) => Error::io("write", &self.out_path, &e),
        })?;
        let _links = sender.join();
        let reading = meter.reading();
        Ok(Streamed {
            seconds: begun.elapsed().as_secs_f64(),
            bytes_sent: reading.bytes_sent(),
            bytes_received: reading.bytes_received(),
            digest: hash.map(|hash| hash.finalize().to_hex().to_string()),
        })
    }
}

fn channels(net: &mut Net, terms: &Terms, meter: &Meter, to: bool) -> Result<Channels, Error> {
    let one = |net: &mut Net, lane, party| -> Result<Channel, Error> {
        let peer = Some(PartyId(party));
        let mut channel = net.channel(lane, peer.filter(|_| to), peer.filter(|_| !to))?;
        channel.tap(meter.tap());
        Ok(channel)
    };
    (0..terms.cut.threads).map(|t| Ok([one(net, t, 0)?, one(net, t, 1)?, one(net, t, 2)?])).collect()
}

/// A seed for each party, and its share of the round keys.
fn send_secrets(
    to: &mut [Channel; 3],
    backend: Backend,
    seeds: &[Seed; 3],
    key: Option<Key>,
) -> Result<(), Error> {
    let mut messages = [0, 1, 2].map(|i: usize| Zeroizing::new(seeds[i].expose().to_vec()));
    if let Some(key) = key {
        let expanded = key.expanded(backend);
        let seed = Seed::from_bytes(draw("drawing shares of the key")?);
        let shares = share(&mut Prg::new(backend, &seed, "aes-ctr round keys"), &expanded);
        for (message, share) in messages.iter_mut().zip(&shares) {
            // Replaced and not grown, which would leave a copy behind.
            *message = Zeroizing::new([&message[..], &share.to_bytes()].concat());
        }
    }
    for (channel, message) in to.iter_mut().zip(&messages) {
        channel.send(SECRETS_STEP, message)?;
    }
    Ok(())
}

struct Sending {
    terms: Arc<Terms>,
    backend: Backend,
    seeds: [Seed; 3],
    input: File,
    path: PathBuf,
    to: Channels,
}

impl Sending {
    /// Sends each chunk's explicit share: the data plus what the other two parties expand.
    fn run(mut self) -> Result<Channels, Error> {
        let mut data = Zeroizing::new(vec![]);
        let mut mask = Zeroizing::new(vec![]);
        for c in 0..self.terms.chunks() {
            let bytes = self.terms.bytes_of(c);
            data.resize(bytes, 0);
            mask.resize(bytes, 0);
            self.input.read_exact(&mut data).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => self.changed("it became shorter while it was read"),
                _ => Error::io("read", &self.path, &e),
            })?;
            let party = Terms::explicit(c);
            for other in [(party + 1) % 3, (party + 2) % 3] {
                plain_share(self.backend, &self.seeds[other], c, &mut mask);
                xor_into(&mut data, &mask);
            }
            self.to[usize::from(self.terms.thread_of(c))][party].send("data", &data)?;
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(self.to),
            Ok(_) => Err(self.changed("it became longer while it was read")),
            Err(e) => Err(Error::io("read", &self.path, &e)),
        }
    }

    fn changed(&self, cause: &str) -> Error {
        Error::file("read", &self.path, cause, "let its writer finish, or work on a copy of it")
    }
}

/// The error that ended the receiving.
enum Lost {
    Net(Error),
    Disk(io::Error),
}

/// Adds up the parties' shares of each chunk and writes the result in order.
fn receive(
    terms: &Terms,
    mut from: Channels,
    mut output: File,
    bar: &ProgressBar,
    mut hash: Option<&mut blake3::Hasher>,
) -> Result<(), Lost> {
    let (mut sum, mut share) = (vec![], vec![]);
    for c in 0..terms.chunks() {
        let bytes = terms.bytes_of(c);
        sum.resize(bytes, 0);
        share.resize(bytes, 0);
        let [first, second, third] = &mut from[usize::from(terms.thread_of(c))];
        first.recv("result", &mut sum).map_err(|e| Lost::Net(e.into()))?;
        for channel in [second, third] {
            channel.recv("result", &mut share).map_err(|e| Lost::Net(e.into()))?;
            xor_into(&mut sum, &share);
        }
        output.write_all(&sum).map_err(Lost::Disk)?;
        if let Some(hash) = &mut hash {
            hash.update(&sum);
        }
        bar.inc(bytes as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_chunk_do_not_depend_on_the_order() {
        let (backend, seed) = (Backend::best(), Seed::from_bytes([5; 16]));
        let chunk = |c, len: usize| {
            let mut out = vec![0; len];
            plain_share(backend, &seed, c, &mut out);
            out
        };
        let (third, first) = (chunk(2, 100), chunk(0, 100));
        assert_eq!(first, chunk(0, 100));
        assert_eq!(third[..7], chunk(2, 7));
        assert_ne!(first, third);
    }
}
