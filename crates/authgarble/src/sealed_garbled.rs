//! The plaintext format of a file with the garbled circuits of one run: the state that every party
//! keeps between the function-dependent phase and the online phase.
//!
//! ```text
//! n 1 | me 1 | circuits 8, then of each
//! digest 32 of the session and the task | sid 32 | Δ 16 | seed 16
//! λ of own inputs: 8, bits | input bits 8 | output bits 8
//! shares of masks: inputs, outputs, each MACs by peer, then keys by peer
//! side 1:  0  bits of ANDs: 8, bytes | keys of the check: 8, blocks | tables 8, each: 8, bytes
//!          1  labels of inputs, outputs, ANDs, MACs of ANDs' λ_β, λ_α, s: 8, blocks each
//! ```
//!
//! The file has the digest of the circuit, not the circuit itself. The caller that takes the file
//! brings the circuit, and the digests must be equal.

use crate::{
    Garbled, Task,
    garble::RoleState,
    masks::Masks,
    sealed::{self, Reader, SealedKind, Unsealed},
    shares::{Blocks, Shares},
    tables::Tables,
    wrk::Labels,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer, as_bytes};
use hushwire_machine::Process;
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;
use zeroize::Zeroizing;

const KIND: SealedKind = SealedKind {
    magic: b"hushwire authcircuits v2",
    family: b"hushwire authcircuits v",
    keys: ["authgarble circuits mac", "authgarble circuits cipher"],
};

/// The reason why garbled circuits in a file are refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Bytes(Unsealed),
    /// They belong to another party, or to another number of parties. The two pairs are `me` and
    /// `n` of the file, and the requested ones.
    Party([[usize; 2]; 2]),
    /// They are for another circuit, other roles, another form or another number of instances.
    Circuit,
}

impl From<Unsealed> for Refused {
    fn from(e: Unsealed) -> Self {
        Refused::Bytes(e)
    }
}

/// Counts or writes bytes. The same code does both, so that a declared length always equals the
/// written one.
trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn number(&mut self, number: usize) {
        self.put(&(number as u64).to_le_bytes());
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.put(bytes);
    }

    fn blocks(&mut self, list: &[Block]) {
        self.number(list.len());
        self.put(as_bytes(list));
    }
}

struct Count(usize);

impl Sink for Count {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Seals garbled circuits under `key`, with a name that no other file has.
///
/// # Panics
/// If there is no circuit, or the circuits belong to several parties (the caller's bug).
pub(crate) fn seal(circuits: &[Garbled], key: &Seed) -> ([u8; 32], Vec<u8>) {
    let backend = circuits.first().expect("at least one circuit").context.backend;
    let mut len = Count(0);
    write(circuits, &mut len);
    sealed::seal(backend, &KIND, key, len.0, |plain| write(circuits, plain))
}

fn write(circuits: &[Garbled], to: &mut impl Sink) {
    let Garbled { me, n, .. } = circuits[0];
    to.put(&[n as u8, me as u8]);
    to.number(circuits.len());
    for garbled in circuits {
        assert_eq!((garbled.me, garbled.n), (me, n), "circuits of one party");
        to.put(&garbled.task.digest(&garbled.context, n));
        to.put(&garbled.context.sid.0);
        to.put(&garbled.delta.0);
        to.put(garbled.seed.expose());
        to.counted(&garbled.own);
        let Masks { inputs, outputs, .. } = &garbled.masks;
        for list in [inputs, outputs] {
            to.number(list.len());
        }
        for shares in [inputs, outputs] {
            shares.lists().for_each(|list| to.put(as_bytes(list)));
        }
        match &garbled.side {
            RoleState::Evaluator(tables) => {
                to.put(&[0]);
                to.counted(&tables.own);
                to.blocks(&tables.checks);
                to.number(tables.of.len());
                tables.of.iter().for_each(|table| to.counted(table));
            }
            RoleState::Garbler(Labels { inputs, outputs, ands, macs }) => {
                to.put(&[1]);
                [inputs, outputs, ands].into_iter().chain(macs).for_each(|list| to.blocks(list));
            }
        }
    }
}

/// Returns the garbled circuits of these tasks for party `me` among `n`, and their name.
pub(crate) fn unseal(
    backend: Backend,
    key: &Seed,
    sealed: Vec<u8>,
    [me, n]: [usize; 2],
    tasks: &[Task],
) -> Result<([u8; 32], Vec<Garbled>), Refused> {
    let (name, plain) = sealed::unseal(backend, &KIND, key, sealed)?;
    let mut plain = plain.reader();
    let foreign = || Refused::Bytes(Unsealed::Foreign);
    let [theirs, place] = plain.array().ok_or_else(foreign)?.map(usize::from);
    if [place, theirs] != [me, n] {
        return Err(Refused::Party([[place, theirs], [me, n]]));
    }
    if plain.count(1).ok_or_else(foreign)? != tasks.len() {
        return Err(Refused::Circuit);
    }
    let mut circuits = Vec::with_capacity(tasks.len());
    for task in tasks {
        let digest: [u8; 32] = plain.array().ok_or_else(foreign)?;
        let context = Context { sid: Sid(plain.array().ok_or_else(foreign)?), backend };
        if digest != task.digest(&context, n) {
            return Err(Refused::Circuit);
        }
        circuits.push(read(&mut plain, context, [me, n], task).ok_or_else(foreign)?);
    }
    if plain.is_done() { Ok((name, circuits)) } else { Err(foreign()) }
}

fn read(plain: &mut Reader<'_>, context: Context, [me, n]: [usize; 2], task: &Task) -> Option<Garbled> {
    let delta = Block(plain.array()?);
    let seed = Seed::from_bytes(plain.array()?);
    let own = Zeroizing::new(counted(plain)?.to_vec());
    let [inputs, outputs] = [plain.count(16)?, plain.count(16)?];
    let mut shares = |len| Shares::read(plain, n - 1, len);
    let masks = Masks::of_ends(shares(inputs)?, shares(outputs)?);
    let side = match plain.array()? {
        [0] => {
            let own = Zeroizing::new(counted(plain)?.to_vec());
            let checks = list(plain)?;
            let tables = plain.count(8)?;
            let table = |_| {
                let bytes = counted(plain)?;
                let mut table = Buffer::new();
                table.set_len(bytes.len());
                table.copy_from_slice(bytes);
                Some(table)
            };
            let of = (0..tables).map(table).collect::<Option<_>>()?;
            RoleState::Evaluator(Tables { of, own, checks })
        }
        [1] => {
            let mut list = || list(plain);
            let [inputs, outputs, ands] = [list()?, list()?, list()?];
            RoleState::Garbler(Labels { inputs, outputs, ands, macs: [list()?, list()?, list()?] })
        }
        _ => return None,
    };
    let (task, process) = (task.clone(), Process::here());
    Some(Garbled { task, context, me, n, delta, seed, masks, own, side, process })
}

fn counted<'a>(plain: &mut Reader<'a>) -> Option<&'a [u8]> {
    let len = plain.count(1)?;
    plain.bytes(len)
}

fn list(plain: &mut Reader<'_>) -> Option<Blocks> {
    let len = plain.count(16)?;
    Blocks::read(plain, len)
}
