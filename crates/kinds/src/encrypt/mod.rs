//! Encryption of a file with AES in counter mode, under a key that exists only as shares.
//!
//! ```text
//! owner of the file   shares the file to the parties by addition as it reads it, and adds up what
//!                     comes back
//! parties             keystream on shares, chunk by chunk on threads × lanes; each adds its share
//!                     of the file
//! ```
//!
//! | module | |
//! |---|---|
//! | `spec` | the job file |
//! | `key`, `ledger`, `key_dir`, `book` | the owner's: a given key, used counters, and their home |
//! | `share_file` | a party's: its share of a key that is kept |
//! | `cut` | how a file is cut into chunks, threads and lanes, from agreed numbers alone |
//! | `keystream` | shares of the keystream of a chunk: AES's kernels, its circuit, or a device |
//! | `wire` | the messages between a party and the owner |
//! | `open`, `owner`, `party`, `stream` | the parts of a run |
//!
//! **Agreement.** The job fixes everything that lengths depend on, except the length of the file.
//! That length, the counter and the key's name are the owner's terms, which it sends every party in
//! its first message. Before they compute or store anything, the parties compare tags of the terms
//! and of their shares of the key. They do so as for any client's shares
//! ([`hushwire_rep3::Comparison`]). An owner that gave two of them different counters could
//! otherwise learn about the key from errors in the keystream.
//!
//! **Security.** Semi-honest, one corrupted party, with or without the owner on its side. Each
//! party has one additive share of the file that no other party holds. The parties need not compare
//! these shares: an owner that deviates there only changes its own result.

mod book;
mod cut;
mod key;
mod key_dir;
mod keystream;
mod ledger;
mod open;
mod owner;
mod party;
pub mod share_file;
mod spec;
mod stream;
mod wire;
mod words;

pub use cut::{AesCtrTerms, FileCut, KeyMode, Unfit};
pub use hushwire_session::{Iv, KeyPlaces as AesCtrPlaces, Said, draw};
pub use key::AesKey;
pub use key_dir::{Holds, KeyDir};
pub use ledger::{CounterRange, Ledger};
pub use party::DeviceUse;
pub use share_file::KeyId;
pub use spec::{AesCtrJob, Direction, KeySource};

use hushwire_session::{
    Agreement, Batching, Fault, Forecast, Member, MemberConfig, NewFile, Part, Task,
    run::{Links, MemberSession},
};
use owner::Owner;
use party::AesCtrParty;
use serde::{Deserialize, Serialize};

/// The result of an encryption at one member.
#[derive(Default, Serialize, Deserialize)]
pub struct Learnt {
    /// The terms of the run; present after a run that succeeded.
    pub terms: Option<AesCtrTerms>,
    /// At the owner, if counters were used up: the BLAKE3 digest of the output.
    pub digest: Option<String>,
    /// At the owner, if it asked for this: the output, in a file without a name.
    #[serde(skip)]
    pub output: Option<NewFile>,
    /// At the owner, if it asked for this: the bytes of the output.
    #[serde(skip)]
    pub bytes: Option<Vec<u8>>,
    /// At a party that is hardware: the work that its device did.
    pub device: Option<DeviceUse>,
}

impl Task for AesCtrJob {
    type Learnt = Learnt;
    type Part = AesCtrPart;

    fn agreement(&self) -> Agreement {
        AesCtrJob::agreement(self)
    }

    fn forecast(&self, aes_instructions: bool, bytes: Option<u64>) -> Option<Forecast> {
        // The speed of a device is not known, so there is no forecast with one.
        let FileCut { sbox, chunk_blocks, threads, lanes, hdl: None } = self.cut else { return None };
        let bytes = bytes?;
        let cut = Batching { instances: bytes.div_ceil(16), batch: chunk_blocks, threads, lanes };
        Some(Forecast::of_bytes(self.size(), sbox, bytes, cut, aes_instructions))
    }

    fn open(&self, config: &mut MemberConfig) -> Result<AesCtrPart, Fault> {
        Ok(AesCtrPart(match config.me {
            Member::Party(index) => PartyOrOwner::Party(Box::new(AesCtrParty::open(self, index, config)?)),
            _ => PartyOrOwner::Owner(Box::new(Owner::new(self, open::open(self, config)?))),
        }))
    }
}

/// One member's part of an encryption.
pub struct AesCtrPart(PartyOrOwner);

enum PartyOrOwner {
    Party(Box<AesCtrParty>),
    Owner(Box<Owner>),
}

impl AesCtrPart {
    /// The key of which this member keeps a share.
    #[must_use]
    pub fn key_id(&self) -> Option<&KeyId> {
        match &self.0 {
            PartyOrOwner::Party(party) => party.key_id(),
            PartyOrOwner::Owner(_) => None,
        }
    }
}

impl Part for AesCtrPart {
    type Learnt = Learnt;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        match &mut self.0 {
            PartyOrOwner::Party(party) => party.compute(member),
            PartyOrOwner::Owner(owner) => owner.compute(member),
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        match &mut self.0 {
            PartyOrOwner::Party(_) => Ok(()),
            PartyOrOwner::Owner(owner) => owner.prepare(),
        }
    }

    fn commit(self) -> Result<Learnt, Fault> {
        match self.0 {
            PartyOrOwner::Party(party) => Ok(party.commit()),
            PartyOrOwner::Owner(owner) => owner.commit(),
        }
    }
}
