//! Data sets at rest: shares of three parties, each sealed to its party.
//!
//! ```text
//! envelope_i   HPKE to party i; info: domain, group, uid, i
//!              content key K_i (32) ‖ seed of x_i (16) ‖ seed of x_{i+1} (16)
//! part_{i,p}   AES-256-GCM under K_i; nonce: p; associated data: domain, uid, i, p, layout
//!              for each input c in order whose share (p + c) mod 3 party i holds: that share
//! ```
//!
//! A part has [`PART_ROWS`] rows; the last part may have fewer. The value of an input consists of
//! its bit planes, the lowest first, with ⌈rows/8⌉ bytes each. Arrays, such as a model's weights,
//! are all divided into parts of the same number of elements. A part holds the elements of each
//! array that remain, so it holds nothing of an array that has already ended. Shares are those of
//! [`hushwire_rep3::Owner::full`] with the part as the batch, so a party reads them in the same way
//! as those of a connected owner.

use crate::{
    BlakeName, Manifest, OpenKey, PART_ROWS, SchemaColumn, SealError, SealTo, SignKey, SignedManifest,
    StoredColumn,
    aead::{self, TAG_BYTES},
    envelope::{self, place},
    keys::{drawn, secret},
    manifest::{array_rows, check_inputs, check_name, holds_full, longest},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_rep3::{Addition, Owner, Role};
use zeroize::Zeroizing;

const ENVELOPE: &str = "hushwire data v1";
const PART: &str = "hushwire part v1";

/// An owner's description of a data set, before its rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDescription {
    /// The name for people.
    pub name: String,
    /// The line of versions that it belongs to; `None` for a new line.
    pub line: Option<BlakeName>,
    /// The version in the line, from 1.
    pub version: u64,
    /// The group of parties for which it is made.
    pub group: String,
    /// The columns, as queries see them.
    pub schema: Vec<SchemaColumn>,
    /// Sets of columns that the owner has verified to be keys.
    pub keys: Vec<Vec<String>>,
    /// The columns that are stored, in order.
    pub inputs: Vec<StoredColumn>,
    /// The time of creation, in seconds since 1970.
    pub created: u64,
    /// The time from which it may not be used any more, in seconds since 1970.
    pub expires: Option<u64>,
}

/// An owner's endpoint: it shares a data set, one part after the other. No `Debug`: it holds
/// secrets.
pub struct Dealer {
    description: DataDescription,
    uid: BlakeName,
    /// The seeds of all shares.
    owner: Owner,
    /// The content key of each party.
    keys: [Zeroizing<[u8; 32]>; 3],
    /// The keys to which the envelopes are sealed.
    to: [SealTo; 3],
    /// The number of rows so far.
    rows: u64,
    /// The names of each party's parts so far.
    parts: [Vec<BlakeName>; 3],
}

/// A data set that was dealt, without its parts.
pub struct DealtData {
    /// The manifest.
    pub signed: SignedManifest,
    /// The envelope of each party.
    pub envelopes: [Vec<u8>; 3],
}

impl Dealer {
    /// Draws seeds and content keys for one data set.
    ///
    /// # Errors
    /// The description is invalid.
    ///
    /// # Panics
    /// If the operating system gives no randomness.
    pub fn new(description: DataDescription, to: [SealTo; 3]) -> Result<Self, SealError> {
        check_inputs(&description.inputs)?;
        check_name("the name of a data set", &description.name)?;
        if to.iter().enumerate().any(|(i, key)| to[..i].contains(key)) {
            let cause = "two parties have one key to seal to";
            return Err(SealError::data(cause, "ask each party for its own"));
        }
        Ok(Self {
            description,
            uid: BlakeName::random(),
            owner: Owner::new(Backend::best()),
            keys: [0; 3].map(|_: u8| Zeroizing::new(drawn())),
            to,
            rows: 0,
            parts: [vec![], vec![], vec![]],
        })
    }

    /// Shares the next part, given the planes of each input in order. Every part but the last has
    /// [`PART_ROWS`] rows. For arrays, `rows` is the number of elements of the longest array in
    /// this part. Returns each party's sealed part, whose name goes into the manifest.
    ///
    /// # Errors
    /// The planes do not match the inputs, or a previous part had fewer rows.
    pub fn part(&mut self, rows: u64, values: Vec<Wiped<Vec<u8>>>) -> Result<[Vec<u8>; 3], SealError> {
        const REMEDY: &str = "please report this with the schema";
        let (number, inputs) = (self.parts[0].len() as u64, &self.description.inputs);
        if !(1..=PART_ROWS).contains(&rows) || self.rows != number * PART_ROWS {
            return Err(SealError::data(format_args!("part {number} has {rows} rows"), REMEDY));
        }
        if values.len() != inputs.len() {
            let cause =
                format!("part {number} has {} inputs, and the data set {}", values.len(), inputs.len());
            return Err(SealError::data(cause, REMEDY));
        }
        // A table's columns have at least this part's rows, and `bytes` counts no further.
        let all = self.rows + rows;
        if array_rows(inputs).is_some() && longest(inputs, 0).min((number + 1) * PART_ROWS) != all {
            let cause = format!("part {number} ends after {all} elements of its longest array");
            return Err(SealError::data(cause, REMEDY));
        }
        for (value, column) in values.iter().zip(inputs) {
            let (has, takes) = (value.len() as u64, column.bytes(all, number));
            if has != takes {
                let cause = format!("{:?} has {has} bytes in part {number}, and takes {takes}", column.name);
                return Err(SealError::data(cause, REMEDY));
            }
        }
        let layout = Manifest::layout(inputs)?;
        let mut plain = [0, 1, 2].map(|party| {
            let held = inputs.iter().enumerate().filter(|(input, _)| holds_full(party, number, *input));
            let bytes: u64 = held.map(|(_, column)| column.bytes(all, number)).sum();
            // No secret is moved when the buffer grows, and there is space for the tag.
            Wiped::new(Vec::with_capacity(bytes as usize + TAG_BYTES))
        });
        for (input, value) in values.into_iter().enumerate() {
            let (full, holders) = self.owner.full(number as u32, input, value, Addition::Xor);
            for party in holders {
                plain[party.index()].extend_from_slice(&full);
            }
        }
        let mut party = 0;
        let sealed = plain.map(|plain| {
            let aad = part_place(&self.uid, party, number, &layout);
            let sealed = aead::seal(&self.keys[party], aead::nonce(number), &aad, plain);
            self.parts[party].push(BlakeName::of(&sealed));
            party += 1;
            sealed
        });
        self.rows += rows;
        Ok(sealed)
    }

    /// Ends the data set. The first `rows` of the dealt rows are its own, and the others are
    /// padding. Arrays have no padding, and their number of rows follows from their lengths.
    ///
    /// # Errors
    /// The data set has no part or fewer than `rows` rows, parts of its arrays are missing, or the
    /// description is invalid.
    pub fn finish(self, rows: u64, key: &SignKey) -> Result<DealtData, SealError> {
        if self.rows == 0 {
            return Err(SealError::data("it has no rows", "name a file with rows"));
        }
        let arrays = array_rows(&self.description.inputs);
        if arrays.is_some() && longest(&self.description.inputs, 0) != self.rows {
            return Err(SealError::data("parts of its arrays are missing", "put it anew"));
        }
        let (rows, padded) = arrays.map_or((rows, self.rows), |rows| (rows, rows));
        let mut envelopes = [vec![], vec![], vec![]];
        for (party, envelope) in envelopes.iter_mut().enumerate() {
            let mut secret = Zeroizing::new([0; 64]);
            secret[..32].copy_from_slice(&self.keys[party][..]);
            secret[32..].copy_from_slice(&self.owner.seeds(Role::ALL[party])[..]);
            let info = envelope_place(&self.description.group, &self.uid, party);
            *envelope = envelope::seal(&self.to[party], &info, &secret[..])?;
        }
        let DataDescription { name, line, version, group, schema, keys, inputs, created, expires } =
            self.description;
        let manifest = Manifest {
            format: Manifest::format(),
            uid: self.uid,
            name,
            line: line.unwrap_or_else(BlakeName::random),
            version,
            group,
            owner: key.public(),
            schema,
            keys,
            inputs,
            rows,
            padded,
            envelopes: envelopes.iter().map(|envelope| BlakeName::of(envelope)).collect(),
            parts: self.parts.into(),
            created,
            expires,
        };
        Ok(DealtData { signed: SignedManifest::sign(manifest, key)?, envelopes })
    }
}

fn envelope_place(group: &str, uid: &BlakeName, party: usize) -> Vec<u8> {
    place(ENVELOPE, &[group.as_bytes(), &uid.0, &[party as u8]])
}

fn part_place(uid: &BlakeName, party: usize, part: u64, layout: &BlakeName) -> Vec<u8> {
    place(PART, &[&uid.0, &[party as u8], &part.to_le_bytes(), &layout.0])
}

/// One party's view of a data set whose envelope it has opened. No `Debug`: it holds secrets.
pub struct OpenedData {
    key: Zeroizing<[u8; 32]>,
    seeds: Zeroizing<[u8; 32]>,
    party: usize,
    manifest: Manifest,
    layout: BlakeName,
}

impl OpenedData {
    /// The length of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = 64;

    /// Opens a party's envelope.
    ///
    /// # Errors
    /// The envelope is not the one that the manifest names, or is sealed to another key.
    pub fn new(key: &OpenKey, manifest: &Manifest, party: usize, sealed: &[u8]) -> Result<Self, SealError> {
        let what = "the envelope of the data set";
        if manifest.envelopes.get(party) != Some(&BlakeName::of(sealed)) {
            return Err(SealError::changed(what));
        }
        let info = envelope_place(&manifest.group, &manifest.uid, party);
        let plain = envelope::open(key, &info, sealed, what)?;
        Self::from_bytes(manifest, party, &plain)
    }

    /// The content key and seeds, for the process that computes. They must not be written to disk.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::BYTES]> {
        let mut bytes = Zeroizing::new([0; Self::BYTES]);
        bytes[..32].copy_from_slice(&self.key[..]);
        bytes[32..].copy_from_slice(&self.seeds[..]);
        bytes
    }

    /// Reads the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// The number of bytes is wrong, the manifest is invalid, or it has no such party.
    pub fn from_bytes(manifest: &Manifest, party: usize, bytes: &[u8]) -> Result<Self, SealError> {
        manifest.check()?;
        let secrets = (bytes.len() == Self::BYTES && party < manifest.parts.len())
            .then(|| secret(&bytes[..32]).zip(secret(&bytes[32..])))
            .flatten();
        let (key, seeds) = secrets.ok_or_else(|| {
            SealError::format("the envelope of the data set", "it has not a key and two seeds")
        })?;
        let layout = Manifest::layout(&manifest.inputs)?;
        Ok(Self { key, seeds, party, manifest: manifest.clone(), layout })
    }

    /// The seeds of shares x_i and x_{i+1}, as [`hushwire_rep3::OwnerSeeds`] takes them.
    #[must_use]
    pub fn seeds(&self) -> &[u8; 32] {
        &self.seeds
    }

    /// Opens a part. It has, for each input in order, the share that is stored in full, if this
    /// party holds it.
    ///
    /// # Errors
    /// The part is not the one that the manifest names, or does not open.
    pub fn part(&self, number: u64, sealed: Vec<u8>) -> Result<Wiped<Vec<u8>>, SealError> {
        let what = || format!("part {number} of the data set {:?}", self.manifest.name);
        let named = usize::try_from(number).ok().and_then(|at| self.manifest.parts[self.party].get(at));
        if named != Some(&BlakeName::of(&sealed)) {
            return Err(SealError::changed(what()));
        }
        let aad = part_place(&self.manifest.uid, self.party, number, &self.layout);
        let plain = aead::open(&self.key, aead::nonce(number), &aad, sealed, what())?;
        let takes = self.manifest.plain_bytes(self.party, number);
        if plain.len() as u64 != takes {
            let cause = format!("part {number} has {} bytes, and its columns take {takes}", plain.len());
            return Err(SealError::format("a data set", cause));
        }
        Ok(plain)
    }

    /// The range of each input's full share in an opened part. `None` if this party expands both of
    /// its shares from seeds.
    #[must_use]
    pub fn places(&self, number: u64) -> Vec<Option<std::ops::Range<usize>>> {
        let mut at = 0;
        let inputs = self.manifest.inputs.iter().enumerate();
        let place = inputs.map(|(input, column)| {
            let bytes = column.bytes(self.manifest.padded, number) as usize;
            holds_full(self.party, number, input).then(|| {
                at += bytes;
                at - bytes..at
            })
        });
        place.collect()
    }
}

#[cfg(test)]
#[path = "dataset_tests.rs"]
mod tests;
