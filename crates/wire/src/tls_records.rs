//! TLS 1.3 records (RFC 8446 §5) under keys that rustls agreed on. The functions are pure, without
//! IO or state machines.
//!
//! ```text
//! record     | 23 | 03 03 | length | sealed bytes ... | tag (16) |   header (5) = additional data
//! sealed      plain bytes (at most 2^14) | content type (1) | zeros (padding, may be none)
//! nonce       iv XOR record number (64 bits, big-endian, counts from 0 under each key)
//! ```
//!
//! Sealing goes from the caller's slice straight into the outgoing buffer. Opening goes from the
//! incoming buffer straight into the caller's slice, if that has space for the whole content of the
//! record.
//!
//! **Secrets.** Keys and IVs are wiped when dropped: the key by rustls and AWS-LC, the IV here.
//! AES-GCM of AWS-LC runs in constant time. Lengths and content types are public.

use std::io;

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use hushwire_machine::TlsError;
use rustls::{
    ConnectionTrafficSecrets, ContentType, Error, InvalidMessage, PeerMisbehaved, crypto::cipher::NONCE_LEN,
};
use zeroize::Zeroizing;

/// The number of plain bytes in a full record.
pub(crate) const RECORD_BYTES: usize = 1 << 14;
/// The bytes of content type (not secret), version and length.
pub(crate) const HEADER_BYTES: usize = 5;
const TAG_BYTES: usize = 16;
/// The number of bytes that a record of this endpoint adds to its plain bytes: header, content type
/// and tag.
pub(crate) const OVERHEAD_BYTES: usize = HEADER_BYTES + 1 + TAG_BYTES;
/// The length of the longest record that a peer may send: §5.2 allows 256 bytes for content type,
/// padding and tag.
pub(crate) const LONGEST_BYTES: usize = HEADER_BYTES + RECORD_BYTES + 256;

/// The key of one direction, and the number of its next record.
pub(crate) struct RecordKey {
    key: LessSafeKey,
    iv: Zeroizing<[u8; NONCE_LEN]>,
    next: u64,
}

/// The content of a record.
pub(crate) struct OpenedRecord {
    pub(crate) content: ContentType,
    /// The number of plain bytes, without content type and padding.
    pub(crate) bytes: usize,
    /// Whether the bytes are at the front of the caller's slice; otherwise they are in place, after
    /// the record's header.
    pub(crate) direct: bool,
}

impl RecordKey {
    /// The key and record number that rustls handed over.
    pub(crate) fn new((next, secrets): (u64, ConnectionTrafficSecrets)) -> Result<Self, Error> {
        let (algorithm, key, iv) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(Error::General("a cipher that this session never offers".to_owned())),
        };
        Self::from_parts(algorithm, key.as_ref(), iv.as_ref(), next)
    }

    fn from_parts(algorithm: &'static Algorithm, key: &[u8], iv: &[u8], next: u64) -> Result<Self, Error> {
        let key = UnboundKey::new(algorithm, key).map_err(|_| Error::EncryptError)?;
        let mut own = Zeroizing::new([0; NONCE_LEN]);
        own.copy_from_slice(iv);
        Ok(Self { key: LessSafeKey::new(key), iv: own, next })
    }

    /// The number of records that this key has served.
    pub(crate) fn served(&self) -> u64 {
        self.next
    }

    fn nonce(&self) -> Nonce {
        let mut nonce = *self.iv;
        for (byte, number) in nonce[NONCE_LEN - 8..].iter_mut().zip(self.next.to_be_bytes()) {
            *byte ^= number;
        }
        Nonce::assume_unique_for_key(nonce)
    }

    /// Advances the record number. No number repeats, and none remains after 2^64 - 1.
    fn count(&mut self) -> Result<(), Error> {
        self.next = self.next.checked_add(1).ok_or(Error::EncryptError)?;
        Ok(())
    }

    /// Writes a record with `plain`, at most [`RECORD_BYTES`], to the front of `out`; returns its
    /// length.
    pub(crate) fn seal(
        &mut self,
        content: ContentType,
        plain: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        assert!(plain.len() <= RECORD_BYTES, "a record holds no more");
        let (header, rest) = out.split_at_mut(HEADER_BYTES);
        let (sealed, tail) = rest[..plain.len() + 1 + TAG_BYTES].split_at_mut(plain.len());
        let nonce = self.nonce();
        self.count()?;
        let [high, low] = u16::try_from(plain.len() + 1 + TAG_BYTES).unwrap_or(u16::MAX).to_be_bytes();
        header.copy_from_slice(&[u8::from(ContentType::ApplicationData), 3, 3, high, low]);
        self.key
            .seal_out_of_place_scatter(nonce, Aad::from(&*header), plain, sealed, &[u8::from(content)], tail)
            .map_err(|_| Error::EncryptError)?;
        Ok(plain.len() + OVERHEAD_BYTES)
    }

    /// Opens the whole record `record` into the front of `into` if that is long enough, otherwise
    /// in place.
    ///
    /// Up to 256 bytes of `into` beyond the plain bytes are overwritten. If a record is refused,
    /// `into` keeps no bytes that the peer could have chosen.
    pub(crate) fn open(&mut self, record: &mut [u8], into: &mut [u8]) -> Result<OpenedRecord, Error> {
        let (header, rest) = record.split_at_mut(HEADER_BYTES);
        let sealed_bytes = rest.len().checked_sub(TAG_BYTES).ok_or(Error::DecryptError)?;
        let (sealed, tag) = rest.split_at_mut(sealed_bytes);
        let nonce = self.nonce();
        self.count()?;
        let aad = Aad::from(&*header);
        let direct = into.len() >= sealed_bytes;
        let inner: &[u8] = if direct {
            let inner = &mut into[..sealed_bytes];
            self.key.open_separate_gather(nonce, aad, sealed, tag, inner).map_err(|_| Error::DecryptError)?;
            inner
        } else {
            self.key.open_in_place_separate_tag(nonce, aad, tag, sealed).map_err(|_| Error::DecryptError)?
        };
        // The content type is the last byte that is not zero.
        let bytes = inner.iter().rposition(|&byte| byte != 0);
        let bytes = bytes.ok_or(Error::PeerMisbehaved(PeerMisbehaved::IllegalTlsInnerPlaintext))?;
        if bytes > RECORD_BYTES {
            return Err(Error::PeerSentOversizedRecord);
        }
        Ok(OpenedRecord { content: ContentType::from(inner[bytes]), bytes, direct })
    }
}

/// The length of the record at the front of `wire`, including its header; `None` if the header is
/// not whole yet.
pub(crate) fn record_bytes(wire: &[u8]) -> Result<Option<usize>, Error> {
    let Some(&[content, _, _, high, low]) = wire.first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let content = ContentType::from(content);
    if content != ContentType::ApplicationData {
        // After the handshake every record is sealed, whatever its content (§5.2).
        let expect_types = vec![ContentType::ApplicationData];
        return Err(Error::InappropriateMessage { expect_types, got_type: content });
    }
    let bytes = HEADER_BYTES + usize::from(u16::from_be_bytes([high, low]));
    if bytes > LONGEST_BYTES {
        return Err(Error::PeerSentOversizedRecord);
    }
    if bytes == HEADER_BYTES {
        return Err(Error::InvalidMessage(InvalidMessage::InvalidEmptyPayload));
    }
    Ok(Some(bytes))
}

/// Converts the error to the form that
/// [`NetError::from_link`](hushwire_machine::NetError::from_link) recognizes.
pub(crate) fn tls_error(e: Error) -> io::Error {
    io::Error::other(TlsError::new(matches!(e, Error::AlertReceived(_)), e))
}

#[cfg(test)]
#[path = "tls_records_tests.rs"]
mod tests;
