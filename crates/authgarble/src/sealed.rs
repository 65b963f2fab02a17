//! The encrypted and authenticated format of the files that a party keeps on disk, under a key of
//! its own.
//!
//! ```text
//! magic 24 | nonce 32 | plaintext ⊕ AES-CTR stream | BLAKE3 of all before, keyed
//! ```
//!
//! Both keys are derived from the nonce, which is random, so that no two files share a stream. The
//! magic names the kind of file and its version.

use crate::shares::same;
use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

const MAGIC: usize = 24;
const NONCE: usize = 32;
const MAC: usize = 32;

/// A kind of sealed file.
pub(crate) struct SealedKind {
    pub(crate) magic: &'static [u8; MAGIC],
    /// The prefix of the magic that all versions of the kind share.
    pub(crate) family: &'static [u8],
    /// The derivation labels of the keys of the MAC and of the cipher.
    pub(crate) keys: [&'static str; 2],
}

/// The reason why bytes cannot be unsealed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// They begin like a file of another version of the kind.
    Version,
    /// They were sealed under another key, or were changed.
    Foreign,
}

/// The cipher's stream and the key of the MAC.
fn keys(backend: Backend, kind: &SealedKind, key: &Seed, nonce: &[u8]) -> (Prg, Zeroizing<[u8; 32]>) {
    let mut mac = Zeroizing::new([0; 32]);
    Prg::new(backend, &key.derive(kind.keys[0], nonce), "mac").fill(&mut mac[..]);
    (Prg::new(backend, &key.derive(kind.keys[1], nonce), "cipher"), mac)
}

fn tag(key: &[u8; 32], sealed: &[u8]) -> [u8; MAC] {
    *blake3::keyed_hash(key, sealed).as_bytes()
}

/// Encrypts or decrypts in place: adds the stream.
fn cover(stream: &mut Prg, bytes: &mut [u8]) {
    let mut pad = Zeroizing::new(vec![0; bytes.len().min(1 << 16)]);
    for piece in bytes.chunks_mut(1 << 16) {
        let pad = &mut pad[..piece.len()];
        stream.fill(pad);
        piece.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= *pad);
    }
}

/// Seals the plaintext of `len` bytes that `write` appends, under `key`, which is the party's
/// alone. Also returns a name that no other file has.
///
/// # Panics
/// If `write` appends another number of bytes (a bug of this crate): memory that grows leaves a
/// copy of the plaintext behind.
pub(crate) fn seal(
    backend: Backend,
    kind: &SealedKind,
    key: &Seed,
    len: usize,
    write: impl FnOnce(&mut Vec<u8>),
) -> ([u8; NONCE], Vec<u8>) {
    let mut nonce = [0; NONCE];
    for half in nonce.chunks_exact_mut(16) {
        half.copy_from_slice(Seed::random().expose());
    }
    let (mut stream, mac) = keys(backend, kind, key, &nonce);
    let head = MAGIC + NONCE;
    let mut sealed = Vec::with_capacity(head + len + MAC);
    sealed.extend_from_slice(kind.magic);
    sealed.extend_from_slice(&nonce);
    write(&mut sealed);
    assert_eq!(sealed.len(), head + len, "a plaintext of the length that was stated");
    cover(&mut stream, &mut sealed[head..]);
    let tag = tag(&mac, &sealed);
    sealed.extend_from_slice(&tag);
    (nonce, sealed)
}

/// Returns the plaintext and the name.
pub(crate) fn unseal(
    backend: Backend,
    kind: &SealedKind,
    key: &Seed,
    mut sealed: Vec<u8>,
) -> Result<([u8; NONCE], Plain), Unsealed> {
    let head = MAGIC + NONCE;
    if !sealed.starts_with(kind.magic) {
        let known = sealed.len() >= MAGIC && sealed.starts_with(kind.family);
        return Err(if known { Unsealed::Version } else { Unsealed::Foreign });
    }
    let body = sealed.len().checked_sub(MAC).filter(|body| *body >= head).ok_or(Unsealed::Foreign)?;
    let nonce: [u8; NONCE] = *sealed[MAGIC..].first_chunk().ok_or(Unsealed::Foreign)?;
    let (mut stream, mac) = keys(backend, kind, key, &nonce);
    if !same(&tag(&mac, &sealed[..body]), &sealed[body..]) {
        return Err(Unsealed::Foreign);
    }
    cover(&mut stream, &mut sealed[head..body]);
    Ok((nonce, Plain { sealed: Zeroizing::new(sealed), body: head..body }))
}

/// A plaintext, which is wiped when it is dropped.
pub(crate) struct Plain {
    sealed: Zeroizing<Vec<u8>>,
    body: std::ops::Range<usize>,
}

impl Plain {
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader(&self.sealed[self.body.clone()])
    }
}

/// The rest of a plaintext, read from the front.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        self.0.split_off(..len)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// A number of items, each of which takes at least `size` bytes of the rest.
    pub(crate) fn count(&mut self, size: usize) -> Option<usize> {
        let count = usize::try_from(u64::from_le_bytes(self.array()?)).ok()?;
        (count.checked_mul(size)? <= self.0.len()).then_some(count)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    /// Whether everything was read.
    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}
