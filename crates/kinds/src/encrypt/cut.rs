//! The terms of one encryption, on which the three parties and the owner agree, and the cut of the
//! file into chunks.

use super::keystream;
use hushwire_rep3::{KeySize, Sbox};
use hushwire_session::Iv;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// AGREEMENT: the blocks that a lane computes at once, if memory allows: 128 KiB, which stay in the
/// cache.
pub(super) const CHUNK_BLOCKS: u32 = 8192;
/// With fewer blocks a message is shorter than a packet, and more memory does not help.
const LEAST_CHUNK_BLOCKS: u32 = 256;
/// AGREEMENT: lanes in flight on one thread. While one waits for the network, the others compute.
pub(super) const LANES: u16 = 2;
/// AGREEMENT: the instances of a device's batch: five cores on one lane, 128 each. The owner
/// chooses before devices are asked.
pub(super) const DEVICE_INSTANCES: u32 = 640;
/// AGREEMENT: the number of batches under way in a device, each in a context of its own.
pub(super) const DEVICE_CONTEXTS: u16 = 4;
/// The measured memory of a process in a run with devices, rounded up, without that of the
/// simulated devices.
const DEVICES_BYTES: u64 = 48 << 20;
/// The number of a session's batches, without the one of the key.
const MOST_CHUNKS: u32 = u32::MAX;

/// The source of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyMode {
    /// The owner shares its expansion to the parties, which forget it after the run.
    Given,
    /// Like `Given`, but the parties keep their shares of the key.
    Imported,
    /// The parties draw it, and keep their shares.
    Drawn,
    /// The parties have kept shares of it.
    Kept,
}

impl KeyMode {
    /// Tests whether the parties write share files.
    #[must_use]
    pub fn stores(self) -> bool {
        matches!(self, Self::Imported | Self::Drawn)
    }
}

/// One run, on which the owner and the parties agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AesCtrTerms {
    /// The first counter block.
    pub iv: Iv,
    /// The length of the file.
    pub bytes: u64,
    /// The source of the key.
    pub key: KeyMode,
    /// The size of the key in bits: 128, 192 or 256.
    pub key_bits: usize,
    /// The key's name if it is kept, as hexadecimal digits.
    pub key_id: Option<String>,
    /// The cut of the file.
    pub cut: FileCut,
}

/// The cut of a file into chunks, and the S-box that computes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCut {
    /// The S-box circuit on shares.
    #[serde(with = "by_name")]
    pub sbox: Sbox,
    /// The 16-byte blocks that a lane computes at once.
    pub chunk_blocks: u32,
    /// The number of compute threads of each party.
    pub threads: u16,
    /// The number of lanes of each thread.
    pub lanes: u16,
    /// The parties that are hardware. If there are any, all parties run AES as a circuit, in
    /// batches of a device's size. With `None` they use the kernels for AES.
    pub hdl: Option<Vec<u8>>,
}

impl AesCtrTerms {
    /// The size of the key.
    #[must_use]
    pub fn size(&self) -> KeySize {
        KeySize::of_bytes(self.key_bits / 8).unwrap_or_default()
    }

    /// The number of 16-byte blocks, with a partial last one.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.bytes.div_ceil(16)
    }

    fn chunk_bytes(&self) -> u64 {
        16 * u64::from(self.cut.chunk_blocks)
    }

    /// The number of chunks of the file. `FileCut::fit` checked that it can be counted.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        self.bytes.div_ceil(self.chunk_bytes()) as u32
    }

    /// The bytes of chunk `c` in the file.
    #[must_use]
    pub fn place(&self, c: u32) -> Range<u64> {
        let from = u64::from(c) * self.chunk_bytes();
        from..(from + self.chunk_bytes()).min(self.bytes)
    }

    /// The number of bytes in chunk `c`.
    #[must_use]
    pub fn bytes_of(&self, c: u32) -> usize {
        let place = self.place(c);
        (place.end - place.start) as usize
    }

    /// The counter of the first block of chunk `c`.
    #[must_use]
    pub fn first_counter(&self, c: u32) -> u128 {
        self.iv.0.wrapping_add(u128::from(c) * u128::from(self.cut.chunk_blocks))
    }

    /// The thread that computes chunk `c`, and the client lane that carries it.
    #[must_use]
    pub fn thread_of(&self, c: u32) -> u16 {
        (c % u32::from(self.cut.threads)) as u16
    }

    /// The party (0, 1 or 2) to which the owner sends its share of chunk `c`. The other parties
    /// expand theirs.
    #[must_use]
    pub fn explicit(c: u32) -> usize {
        (c % 3) as usize
    }

    /// The ring lane for keys, after those of the threads.
    #[must_use]
    pub fn key_lane(&self) -> u16 {
        self.cut.threads * self.cut.lanes
    }
}

/// The measured memory of a party without its lanes: program, TLS, the first heap. Rounded up.
const BASE_BYTES: u64 = 33 << 19;

/// The measured bytes that a lane keeps for each block of its chunk: shares, S-box values and
/// messages. Rounded up.
fn lane_bytes_per_block(sbox: Sbox) -> u64 {
    match sbox {
        Sbox::Tower => 320,
        Sbox::Gf256 => 400,
        Sbox::Bp32 | Sbox::Depth4 => 640,
        // The characteristic vectors of all S-boxes of a chunk.
        Sbox::Lut256 => 28 << 10,
    }
}

/// The reason why a file cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// A process needs at least this number of bytes.
    Memory(u64),
    /// No circuit has this S-box.
    NoCircuit,
    /// The file is longer than `most` bytes, the most that can be counted in chunks of
    /// `chunk_blocks`.
    TooLong {
        /// The longest file that fits, in bytes.
        most: u64,
        /// 16-byte blocks in a chunk.
        chunk_blocks: u32,
    },
}

impl FileCut {
    /// The memory of one process with this cut.
    fn memory(sbox: Sbox, chunk_blocks: u32, threads: u16, lanes: u16) -> u64 {
        let lanes = u64::from(threads) * u64::from(lanes);
        // Each lane has two links with two TLS buffers; each thread has a client lane.
        let links = (2 * lanes + 2 * u64::from(threads) + 2) * (96 << 10);
        BASE_BYTES + links + lanes * u64::from(chunk_blocks) * lane_bytes_per_block(sbox)
    }

    /// The largest chunks and the most lanes for which every process stays within `memory` bytes.
    ///
    /// # Errors
    /// The memory is too small, or the file too long.
    pub fn fit(sbox: Sbox, bytes: u64, threads: u16, memory: u64) -> Result<Self, Unfit> {
        let cut = |chunk_blocks, lanes| FileCut { sbox, chunk_blocks, threads, lanes, hdl: None };
        let mut choices = vec![];
        let mut chunk = CHUNK_BLOCKS;
        while chunk >= LEAST_CHUNK_BLOCKS {
            choices.push((chunk, LANES));
            chunk /= 2;
        }
        choices.push((LEAST_CHUNK_BLOCKS, 1));
        let fits = |&(chunk, lanes): &(u32, u16)| Self::memory(sbox, chunk, threads, lanes) <= memory;
        let Some((chunk_blocks, lanes)) = choices.into_iter().find(fits) else {
            return Err(Unfit::Memory(Self::memory(sbox, LEAST_CHUNK_BLOCKS, threads, 1)));
        };
        let chunks = count(bytes, chunk_blocks)?;
        // A short file needs fewer connections.
        let threads = u64::from(threads).min(chunks.max(1)) as u16;
        let lanes = u64::from(lanes).min(chunks.div_ceil(u64::from(threads)).max(1)) as u16;
        Ok(FileCut { threads, ..cut(chunk_blocks, lanes) })
    }

    /// The cut for runs with hardware parties: a device's batches on one lane, with a few of them
    /// under way on one thread.
    ///
    /// # Errors
    /// No circuit has this S-box, the memory is too small, or the file too long.
    pub fn for_devices(sbox: Sbox, parties: &[u8], bytes: u64, memory: u64) -> Result<Self, Unfit> {
        if keystream::circuit(sbox).is_none() {
            return Err(Unfit::NoCircuit);
        }
        if memory < DEVICES_BYTES {
            return Err(Unfit::Memory(DEVICES_BYTES));
        }
        let chunks = count(bytes, DEVICE_INSTANCES)?;
        Ok(FileCut {
            sbox,
            chunk_blocks: DEVICE_INSTANCES,
            threads: 1,
            lanes: u64::from(DEVICE_CONTEXTS).min(chunks.max(1)) as u16,
            hdl: Some(parties.to_vec()),
        })
    }

    /// Tests whether the chunks of a file of this length can be counted.
    pub(super) fn counts(&self, bytes: u64) -> bool {
        count(bytes, self.chunk_blocks).is_ok()
    }

    /// The instances that party `index`'s device must run in a batch. `None` if the party is
    /// software.
    #[must_use]
    pub fn device(&self, index: u8) -> Option<usize> {
        self.hdl.as_ref().filter(|parties| parties.contains(&index)).map(|_| self.chunk_blocks as usize)
    }
}

/// The number of chunks of a file, if it can be counted.
fn count(bytes: u64, chunk_blocks: u32) -> Result<u64, Unfit> {
    let chunks = bytes.div_ceil(16 * u64::from(chunk_blocks));
    if chunks > u64::from(MOST_CHUNKS) {
        return Err(Unfit::TooLong {
            most: 16 * u64::from(chunk_blocks) * u64::from(MOST_CHUNKS),
            chunk_blocks,
        });
    }
    Ok(chunks)
}

/// Serializes an S-box by its name.
mod by_name {
    use hushwire_rep3::Sbox;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(sbox: &Sbox, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(sbox.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Sbox, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(bytes: u64, threads: u16, memory: u64) -> AesCtrTerms {
        let cut = FileCut::fit(Sbox::Tower, bytes, threads, memory).unwrap_or_else(|e| panic!("{e:?}"));
        AesCtrTerms { iv: Iv(u128::MAX - 5), bytes, key: KeyMode::Given, key_bits: 128, key_id: None, cut }
    }

    #[test]
    fn ample_memory_gives_the_full_chunk() {
        let cut = terms(1 << 30, 2, 256 << 20).cut;
        assert_eq!((cut.chunk_blocks, cut.threads, cut.lanes), (CHUNK_BLOCKS, 2, LANES));
        let cut = terms(17, 2, 256 << 20).cut;
        assert_eq!((cut.threads, cut.lanes), (1, 1), "a short file needs one lane");
    }

    #[test]
    fn too_little_memory_names_the_minimum() {
        let Err(Unfit::Memory(least)) = FileCut::fit(Sbox::Bp32, 1 << 30, 4, 1 << 20) else {
            panic!("a MiB is enough")
        };
        assert!(FileCut::fit(Sbox::Bp32, 1 << 30, 4, least).is_ok());
        assert!(FileCut::fit(Sbox::Bp32, 1 << 30, 4, least - (2 << 20)).is_err());
    }

    #[test]
    fn a_file_with_too_many_chunks_is_refused() {
        assert!(FileCut::fit(Sbox::Tower, u64::MAX, 1, 1 << 30).is_err());
        assert!(FileCut::fit(Sbox::Tower, 500 << 40, 1, 1 << 30).is_ok());
    }

    proptest! {
        #[test]
        fn chunks_cover_the_file(bytes in 0u64..(64 << 20), threads in 1u16..5, mib in 40u64..300) {
            let terms = terms(bytes, threads, mib << 20);
            let mut at = 0;
            for c in 0..terms.chunks() {
                let place = terms.place(c);
                prop_assert_eq!(place.start, at);
                prop_assert_eq!(terms.first_counter(c), terms.iv.0.wrapping_add(u128::from(at / 16)));
                prop_assert!(terms.bytes_of(c) > 0 && terms.thread_of(c) < terms.cut.threads);
                at = place.end;
            }
            prop_assert_eq!(at, bytes);
        }
    }
}
