//! The files that a party keeps on a disk, as bytes under a key of its own.
//!
//! ```text
//! magic 24 | nonce 32 | plaintext ⊕ AES-CTR stream | BLAKE3 of all before, keyed
//! ```
//!
//! Both keys are of the nonce, which is random: no two files share a stream. The magic names the
//! kind and its version.

use crate::shares::same;
use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

const MAGIC: usize = 24;
const NONCE: usize = 32;
const MAC: usize = 32;

/// A kind of what is kept.
pub(crate) struct SealedKind {
    pub(crate) magic: &'static [u8; MAGIC],
    /// The part of the magic that all versions begin with.
    pub(crate) family: &'static [u8],
    /// Labels of the keys of the MAC and of the cipher.
    pub(crate) keys: [&'static str; 2],
}

/// The reason why bytes are not what was sealed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// They begin as another version of the kind does.
    Version,
    /// They are none of this key's, or were changed.
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

/// Adds the stream.
fn cover(stream: &mut Prg, bytes: &mut [u8]) {
    let mut pad = Zeroizing::new(vec![0; bytes.len().min(1 << 16)]);
    for piece in bytes.chunks_mut(1 << 16) {
        let pad = &mut pad[..piece.len()];
        stream.fill(pad);
        piece.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= *pad);
    }
}

/// Seals the plaintext of `len` bytes that `write` appends, under `key`, which is its party's
/// alone; with a name that nothing else has.
///
/// # Panics
/// If it has another length: memory that grows leaves a copy of the plaintext behind (a bug of this
/// crate).
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

/// The plaintext and the name.
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

/// A plaintext, wiped in the end.
pub(crate) struct Plain {
    sealed: Zeroizing<Vec<u8>>,
    body: std::ops::Range<usize>,
}

impl Plain {
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader(&self.sealed[self.body.clone()])
    }
}

/// The rest of a plaintext, taken off from the front.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        self.0.split_off(..len)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// A number of things, each of `size` bytes of what is left at least.
    pub(crate) fn count(&mut self, size: usize) -> Option<usize> {
        let count = usize::try_from(u64::from_le_bytes(self.array()?)).ok()?;
        (count.checked_mul(size)? <= self.0.len()).then_some(count)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    /// Whether nothing is left.
    pub(crate) fn is_done(&self) -> bool {
        self.0.is_empty()
    }
}
