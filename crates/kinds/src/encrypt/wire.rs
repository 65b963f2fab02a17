//! The messages between a party and the owner of the file. Their lengths follow from the job alone.
//!
//! ```text
//! party → owner   held    1 or 0 │ key id, 16           whether it keeps a share, and of which key
//! owner → party   terms   iv, 16 │ bytes, 8 │ key mode, 1 │ key id, 16
//!                         seed, 16 │ both shares of the round keys, if the owner brings the key
//! party → owner   kept    1                             if the parties store a new key
//! owner → party   data    the explicit share of a chunk; the other two parties expand theirs
//! party → owner   result  this party's share of the result
//! ```

use super::{
    cut::{AesCtrTerms, KeyMode},
    share_file::KeyId,
    spec::{AesCtrJob, KeySource},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::Shares;
use hushwire_session::Iv;

/// The names of steps in errors.
pub(super) const HELD_STEP: &str = "keys that are kept";
pub(super) const TERMS_STEP: &str = "terms and key";
pub(super) const KEPT_STEP: &str = "new key";
/// The bytes of a party's message about the key that it keeps.
pub(super) const HELD: usize = 17;
/// The bytes of the terms.
const TERMS: usize = 41;
const SEED: usize = 16;

/// AGREEMENT: the place of a mode is its code.
const MODES: [KeyMode; 4] = [KeyMode::Given, KeyMode::Imported, KeyMode::Drawn, KeyMode::Kept];

/// A party's message about the key of which it keeps a share.
pub(super) fn encode_held(held: Option<&KeyId>) -> [u8; HELD] {
    let mut message = [0; HELD];
    if let Some(id) = held {
        message[0] = 1;
        message[1..].copy_from_slice(id);
    }
    message
}

/// The key of which a party keeps a share; the outer `None` if the message is malformed.
pub(super) fn decode_held(message: &[u8; HELD]) -> Option<Option<KeyId>> {
    let (flag, id) = message.split_first()?;
    match flag {
        0 if id.iter().all(|byte| *byte == 0) => Some(None),
        1 => Some(Some(id.try_into().ok()?)),
        _ => None,
    }
}

/// The secrets that the owner gives to one party.
pub(super) struct Secrets {
    /// The seed of its shares of the data.
    pub(super) seed: Seed,
    /// Shares of the round keys, if the owner brings the key.
    pub(super) expanded: Option<Shares>,
}

/// The bytes of the owner's first message in such a job.
pub(super) fn terms_len(job: &AesCtrJob) -> usize {
    TERMS + SEED + if job.key.is_the_owners() { 2 * job.size().expanded_bytes() } else { 0 }
}

/// The owner's first message to one party. `expanded` is given if the owner brings the key.
pub(super) fn encode_terms(
    terms: &AesCtrTerms,
    seed: &Seed,
    expanded: Option<&Shares>,
) -> Option<Wiped<Vec<u8>>> {
    let expanded = expanded.map(Shares::to_bytes);
    let len = TERMS + SEED + expanded.as_ref().map_or(0, |bytes| bytes.len());
    // The vector has room for all of it, so that no reallocation leaves a copy behind.
    let mut message = Wiped::new(Vec::with_capacity(len));
    message.extend_from_slice(&public(terms)?);
    message.extend_from_slice(seed.expose());
    if let Some(bytes) = expanded {
        message.extend_from_slice(&bytes);
    }
    Some(message)
}

/// The part of the owner's message that is not secret among the parties.
pub(super) fn public(terms: &AesCtrTerms) -> Option<[u8; TERMS]> {
    let mut message = [0; TERMS];
    message[..16].copy_from_slice(&terms.iv.0.to_le_bytes());
    message[16..24].copy_from_slice(&terms.bytes.to_le_bytes());
    message[24] = MODES.iter().position(|mode| *mode == terms.key)? as u8;
    if let Some(id) = &terms.key_id {
        hex::decode_to_slice(id, &mut message[25..]).ok()?;
    }
    Some(message)
}

/// Reads the owner's first message at a party that keeps a share of key `held`. The error is a
/// cause. The terms must match the job, and the key that this party has.
pub(super) fn decode_terms(
    job: &AesCtrJob,
    held: Option<&KeyId>,
    message: &[u8],
) -> Result<(AesCtrTerms, Secrets), String> {
    let (Some((public, rest)), true) =
        (message.split_first_chunk::<TERMS>(), message.len() == terms_len(job))
    else {
        return Err("its terms have another length".to_owned());
    };
    let number = |range: std::ops::Range<usize>| {
        public[range].iter().rev().fold(0u128, |number, byte| number << 8 | u128::from(*byte))
    };
    let (iv, bytes) = (Iv(number(0..16)), number(16..24) as u64);
    let mode = MODES.get(usize::from(public[24])).copied();
    let wanted = match (job.key, held) {
        (KeySource::Given, _) => KeyMode::Given,
        (KeySource::Imported, _) => KeyMode::Imported,
        (KeySource::Kept, None) => KeyMode::Drawn,
        (KeySource::Kept, Some(_)) => KeyMode::Kept,
    };
    let id: &[u8] = &public[25..];
    let named = match (wanted, held) {
        (KeyMode::Given, _) => id.iter().all(|byte| *byte == 0),
        (KeyMode::Kept, Some(held)) => id == held,
        _ => true,
    };
    if mode != Some(wanted) || !named {
        return Err("its terms are for another key".to_owned());
    }
    if !job.cut.counts(bytes) {
        return Err(format!("it wants {bytes} bytes encrypted, more than can be counted in such chunks"));
    }
    let (seed, expanded) = rest.split_at(SEED);
    let mut own = Wiped::new([0; SEED]);
    own.copy_from_slice(seed);
    let expanded = match job.key.is_the_owners() {
        true => Some(Shares::from_bytes(expanded, job.size().expanded_bytes()).map_err(|e| e.to_string())?),
        false => None,
    };
    let key_id = (wanted != KeyMode::Given).then(|| hex::encode(id));
    let terms = AesCtrTerms { iv, bytes, key: wanted, key_bits: job.key_bits, key_id, cut: job.cut.clone() };
    Ok((terms, Secrets { seed: Seed::from_bytes(*own), expanded }))
}

/// The share of chunk `c` that a party expands from its seed. Chunks may come in any order.
pub(super) fn plain_share(backend: Backend, seed: &Seed, c: u32, out: &mut [u8]) {
    Prg::new(backend, &seed.derive("aes-ctr data", &c.to_le_bytes()), "chunk").fill(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encrypt::FileCut;
    use hushwire_rep3::Sbox;
    use hushwire_testkit::{Digests, Trace};

    fn job(key: KeySource) -> AesCtrJob {
        let cut = FileCut { sbox: Sbox::Tower, chunk_blocks: 256, threads: 1, lanes: 1, hdl: None };
        AesCtrJob { key, key_bits: 192, cut, ..AesCtrJob::new("alice") }
    }

    fn terms(key: KeyMode, key_id: Option<&str>) -> AesCtrTerms {
        let cut = job(KeySource::Kept).cut;
        AesCtrTerms {
            iv: Iv(u128::MAX - 3),
            bytes: 4711,
            key,
            key_bits: 192,
            key_id: key_id.map(str::to_owned),
            cut,
        }
    }

    const ID: &str = "000102030405060708090a0b0c0d0eff";

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

    /// The messages between a party and the owner, without the shares that the protocol makes.
    #[test]
    fn bytes_on_the_wire_are_those_of_the_file() {
        let id: KeyId = hex::decode(ID).ok().and_then(|id| id.try_into().ok()).unwrap_or_default();
        let size = job(KeySource::Given).size();
        let shares = Shares { own: vec![3; size.expanded_bytes()], next: vec![4; size.expanded_bytes()] };
        let seed = Seed::from_bytes([9; 16]);
        let mut all = Digests::section("aes-ctr");
        for (name, mode, key_id, expanded) in [
            ("given", KeyMode::Given, None, Some(&shares)),
            ("imported", KeyMode::Imported, Some(ID), Some(&shares)),
            ("drawn", KeyMode::Drawn, Some(ID), None),
            ("kept", KeyMode::Kept, Some(ID), None),
        ] {
            all.run(&format!("aes-ctr/{name}"), |backend| {
                let trace = Trace::new();
                trace.hear("party", 0, &encode_held((mode == KeyMode::Kept).then_some(&id)));
                let terms = encode_terms(&terms(mode, key_id), &seed, expanded).unwrap_or_default();
                trace.hear("owner", 0, &terms);
                // The data minus the shares that two parties expand from their seeds, which are not
                // sent.
                for chunk in 0..3 {
                    let mut data = vec![0xda; 100];
                    for party in 0..2 {
                        let mut share = vec![0; 100];
                        plain_share(backend, &Seed::from_bytes([party; 16]), chunk, &mut share);
                        data.iter_mut().zip(share).for_each(|(byte, share)| *byte ^= share);
                    }
                    trace.hear("owner", 0, &data);
                }
                trace
            });
        }
        all.compare();
    }

    #[test]
    fn terms_survive() {
        let id: KeyId = hex::decode(ID).ok().and_then(|id| id.try_into().ok()).unwrap_or_default();
        let size = job(KeySource::Given).size();
        let shares = Shares { own: vec![3; size.expanded_bytes()], next: vec![4; size.expanded_bytes()] };
        for (source, mode, key_id, held, expanded) in [
            (KeySource::Given, KeyMode::Given, None, None, Some(&shares)),
            (KeySource::Imported, KeyMode::Imported, Some(ID), None, Some(&shares)),
            (KeySource::Kept, KeyMode::Drawn, Some(ID), None, None),
            (KeySource::Kept, KeyMode::Kept, Some(ID), Some(&id), None),
        ] {
            let said = terms(mode, key_id);
            let message = encode_terms(&said, &Seed::from_bytes([9; 16]), expanded).unwrap_or_default();
            assert_eq!(message.len(), terms_len(&job(source)));
            let (heard, secrets) =
                decode_terms(&job(source), held, &message).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(heard, said);
            assert_eq!(secrets.seed.expose(), &[9; 16]);
            assert_eq!(secrets.expanded.map(|s| s.own.clone()), expanded.map(|s| s.own.clone()));
            assert!(decode_terms(&job(source), held, &message[1..]).is_err());
        }
    }

    #[test]
    fn terms_for_another_key_are_refused() {
        let kept = job(KeySource::Kept);
        let said =
            |terms: &AesCtrTerms| encode_terms(terms, &Seed::from_bytes([9; 16]), None).unwrap_or_default();
        for (mode, id, held) in [
            (KeyMode::Kept, ID, Some([1; 16])),
            (KeyMode::Drawn, ID, Some([1; 16])),
            (KeyMode::Kept, ID, None),
            (KeyMode::Given, ID, None),
        ] {
            let error = decode_terms(&kept, held.as_ref(), &said(&terms(mode, Some(id)))).err();
            assert!(error.is_some_and(|e| e.contains("another key")), "{mode:?}");
        }
        let long = AesCtrTerms { bytes: u64::MAX, ..terms(KeyMode::Drawn, Some(ID)) };
        let error = decode_terms(&kept, None, &said(&long)).err();
        assert!(error.is_some_and(|e| e.contains("more than can be counted")));
    }

    #[test]
    fn a_party_says_which_key_it_keeps() {
        for held in [None, Some([7; 16])] {
            assert_eq!(decode_held(&encode_held(held.as_ref())), Some(held));
        }
        let mut odd = [0; HELD];
        odd[0] = 2;
        assert_eq!(decode_held(&odd), None);
        assert_eq!(decode_held(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), None);
    }
}
