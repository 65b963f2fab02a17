//! A stock as bytes under a key of its party: for a disk.
//!
//! ```text
//! magic 24 | nonce 32 | plaintext ⊕ AES-CTR stream | BLAKE3 of all before, keyed
//! plaintext: sid 32 | me 1 | n 1 | Δ 16 | seed 16 | runs 8 | triples 8 | masks 8 | blocks of a, b, c and masks:
//!            MACs by peer, then keys by peer        numbers little-endian; only what is not used
//! ```
//!
//! Both keys are of the nonce, which is random: no two stocks share a stream.

use crate::{
    Stock,
    shares::{Shares, blocks, same},
    stock::Triples,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_ot::{Context, Sid};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

const MAGIC: &[u8; 24] = b"hushwire authgarble v1\0\0";
const NONCE: usize = 32;
const MAC: usize = 32;
/// Plaintext before the blocks.
const HEAD: usize = 32 + 2 + 32 + 24;

/// The cipher's stream and the key of the MAC.
fn keys(backend: Backend, key: &Seed, nonce: &[u8]) -> (Prg, Zeroizing<[u8; 32]>) {
    let mut mac = Zeroizing::new([0; 32]);
    Prg::new(backend, &key.derive("authgarble stock mac", nonce), "mac").fill(&mut mac[..]);
    (Prg::new(backend, &key.derive("authgarble stock cipher", nonce), "cipher"), mac)
}

fn tag(key: &[u8; 32], sealed: &[u8]) -> [u8; MAC] {
    *blake3::keyed_hash(key, sealed).as_bytes()
}

/// Adds the stream.
fn cover(stream: &mut Prg, bytes: &mut [u8]) {
    let mut pad = Zeroizing::new(vec![0; bytes.len().min(1 << 16)]);
    for piece in bytes.chunks_mut(1 << 16) {
        let pad = &mut pad[..piece.len()];
        stream.fill(pad);
        piece.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= *pad);
    }
}

impl Stock {
    /// The stock under `key`, which is its party's alone, with a name that no other sealed stock has.
    pub(crate) fn seal(mut self, key: &Seed) -> ([u8; 32], Vec<u8>) {
        let left = self.left();
        let (triples, masks) = (left.triples as usize, left.masks as usize);
        let (t, m) = self.take(triples, masks).expect("what is left is there");
        let lists = 2 * (self.n - 1);
        let mut plain = Zeroizing::new(Vec::with_capacity(HEAD + 16 * lists * (3 * triples + masks)));
        plain.extend_from_slice(&self.context.sid.0);
        plain.extend_from_slice(&[self.me as u8, self.n as u8]);
        plain.extend_from_slice(&self.delta.0);
        plain.extend_from_slice(self.seed.expose());
        for number in [self.runs, left.triples, left.masks] {
            plain.extend_from_slice(&number.to_le_bytes());
        }
        for shares in [&t.a, &t.b, &t.c, &m] {
            shares.lists().for_each(|list| plain.extend_from_slice(as_bytes(list)));
        }
        let (mut nonce, backend) = ([0; NONCE], self.context.backend);
        for half in nonce.chunks_exact_mut(16) {
            half.copy_from_slice(Seed::random().expose());
        }
        let (mut stream, mac) = keys(backend, key, &nonce);
        let mut sealed = Vec::with_capacity(MAGIC.len() + NONCE + plain.len() + MAC);
        sealed.extend_from_slice(MAGIC);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&plain);
        cover(&mut stream, &mut sealed[MAGIC.len() + NONCE..]);
        let tag = tag(&mac, &sealed);
        sealed.extend_from_slice(&tag);
        (nonce, sealed)
    }

    /// The stock and its name; `None` where the bytes are none of this key's.
    pub(crate) fn unseal(backend: Backend, key: &Seed, mut sealed: Vec<u8>) -> Option<([u8; 32], Stock)> {
        let body = sealed.len().checked_sub(MAC).filter(|body| *body >= MAGIC.len() + NONCE + HEAD)?;
        if !sealed.starts_with(MAGIC) {
            return None;
        }
        let nonce: [u8; NONCE] = *sealed[MAGIC.len()..].first_chunk()?;
        let (mut stream, mac) = keys(backend, key, &nonce);
        if !same(&tag(&mac, &sealed[..body]), &sealed[body..]) {
            return None;
        }
        cover(&mut stream, &mut sealed[MAGIC.len() + NONCE..body]);
        let sealed = Zeroizing::new(sealed);
        let mut rest = &sealed[MAGIC.len() + NONCE..body];
        let sid = Sid(*rest.split_off_first_chunk()?);
        let [me, n] = rest.split_off_first_chunk()?.map(usize::from);
        let delta = Block(*rest.split_off_first_chunk()?);
        let seed = Seed::from_bytes(*rest.split_off_first_chunk()?);
        let mut number = || Some(u64::from_le_bytes(*rest.split_off_first_chunk()?));
        let (runs, triples, masks) = (number()?, number()? as usize, number()? as usize);
        let slots = n.checked_sub(1)?;
        let mut shares = |len: usize| {
            let mut list = || {
                let mut list = blocks(len);
                as_bytes_mut(&mut list).copy_from_slice(rest.split_off(..16 * len)?);
                Some(list)
            };
            let macs = (0..slots).map(|_| list()).collect::<Option<_>>()?;
            let keys = (0..slots).map(|_| list()).collect::<Option<_>>()?;
            Some(Shares { macs, keys })
        };
        let all = Triples { a: shares(triples)?, b: shares(triples)?, c: shares(triples)? };
        let masks = shares(masks)?;
        Some((nonce, Stock::with(Context { sid, backend }, [me, n], delta, seed, runs, all, masks)))
    }
}

/// The front of a slice, taken off.
trait SplitOff {
    fn split_off_first_chunk<const N: usize>(&mut self) -> Option<&[u8; N]>;
}

impl SplitOff for &[u8] {
    fn split_off_first_chunk<const N: usize>(&mut self) -> Option<&[u8; N]> {
        let (first, rest) = self.split_first_chunk()?;
        *self = rest;
        Some(first)
    }
}
