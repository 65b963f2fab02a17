//! The engines with which a party computes shares of the keystream: kernels for AES, AES as a
//! circuit in software, or a device.

use super::cut::AesCtrTerms;
use hushwire_block::Wiped;
use hushwire_circuit::{Layered, Planes, Program, named, planes};
use hushwire_hdl::{Device, HdlBatch, Microcode};
use hushwire_machine::Cost;
use hushwire_machine::drive::{Exchanged, Machine, Round};
use hushwire_rep3::{
    AesBlocks, CircuitBatch, CircuitWorkspace, Context, ExpandedKeys, Rep3Party, Role, Sbox, Shares,
    Workspace, xor_into,
};
use hushwire_session::Fault;
use std::sync::Arc;

/// The bits of a block.
const BLOCK: usize = 128;

/// The circuit that all parties run when one of them is hardware: round keys are its first input.
pub(super) fn circuit(sbox: Sbox) -> Option<&'static str> {
    match sbox {
        Sbox::Bp32 => Some("aes128-expanded-key"),
        Sbox::Depth4 => Some("aes128-expanded-key-depth4"),
        _ => None,
    }
}

/// The engine of a party: software or a device. Clones use the same keys and device.
#[derive(Clone)]
pub(super) enum Engine {
    /// The kernels for AES.
    Blocks(Sbox, Arc<ExpandedKeys>),
    /// A circuit, and shares of the planes of the round keys.
    Circuit(Arc<Program>, Arc<Shares>),
    /// The same circuit on a device, in this number of contexts.
    Device(Device, usize),
}

/// Buffers for later batches.
#[derive(Default)]
pub(super) struct Spare {
    blocks: Vec<Workspace>,
    circuits: Vec<CircuitWorkspace>,
}

/// A chunk under way.
pub(super) enum Batch {
    /// On the kernels for AES.
    Blocks(Box<AesBlocks>),
    /// On the AES circuit.
    Circuit(Box<CircuitBatch>),
    /// On a device.
    Device(HdlBatch),
}

fn wrong(e: impl std::fmt::Display) -> Fault {
    Fault::internal("preparing the circuit", e)
}

impl Engine {
    /// Makes the engine that the terms ask for. A device is loaded with the session's keys, the
    /// circuit and the round keys.
    ///
    /// # Errors
    /// The device failed.
    pub(super) fn new(
        party: &Rep3Party,
        terms: &AesCtrTerms,
        keys: ExpandedKeys,
        device: Option<Device>,
    ) -> Result<Self, Fault> {
        let sbox = terms.cut.sbox;
        if terms.cut.hdl.is_none() {
            return Ok(Self::Blocks(sbox, Arc::new(keys)));
        }
        let name = circuit(sbox).ok_or_else(|| wrong(format!("no circuit has S-box {sbox}")))?;
        let block = Arc::new(Layered::new(&named::make(name).map_err(wrong)?));
        let keys = keys.to_shares(party.role());
        // The keys as one big-endian number, and shares of its bits.
        let number = |bytes: &[u8]| bytes.iter().rev().copied().collect();
        let bits = Shares { own: number(&keys.own), next: number(&keys.next) };
        if let Some(device) = device {
            let code = Microcode::compile(name, &block, &[0]).map_err(wrong)?;
            device.load(party, &code, &bits)?;
            return Ok(Self::Device(device, terms.cut.lanes.into()));
        }
        let height = planes::plane_bytes(terms.cut.chunk_blocks as usize);
        let spread = |bytes: &[u8]| -> Vec<u8> {
            let mut planes = Vec::with_capacity(8 * bytes.len() * height);
            for byte in bytes {
                for bit in 0..8 {
                    // All ones or all zeros, without a branch on a secret.
                    planes.resize(planes.len() + height, 0u8.wrapping_sub(byte >> bit & 1));
                }
            }
            planes
        };
        let planes = Shares { own: spread(&bits.own), next: spread(&bits.next) };
        Ok(Self::Circuit(Arc::new(Program::of_block(name, block)), Arc::new(planes)))
    }

    /// Begins chunk `c`, the `number`th of this thread, under the masks of `cx`.
    ///
    /// # Errors
    /// The device failed.
    pub(super) fn begin(
        &self,
        cx: Context,
        terms: &AesCtrTerms,
        c: u32,
        number: usize,
        spare: &mut Spare,
    ) -> Result<Batch, Fault> {
        let (role, first) = (cx.role(), terms.first_counter(c));
        // A circuit runs whole batches; the part behind the end of the file is dropped.
        let whole = terms.cut.chunk_blocks as usize;
        match self {
            Self::Blocks(sbox, keys) => {
                let (blocks, ws) = (terms.bytes_of(c).div_ceil(16), spare.blocks.pop().unwrap_or_default());
                let batch = AesBlocks::counter(*sbox, cx, keys.clone(), first, blocks, ws);
                Ok(Batch::Blocks(Box::new(batch)))
            }
            Self::Circuit(program, keys) => {
                let counters = counters(role, first, whole);
                let inputs = Shares {
                    own: [&keys.own[..], &counters.own].concat(),
                    next: [&keys.next[..], &counters.next].concat(),
                };
                let ws = spare.circuits.pop().unwrap_or_default();
                let batch = CircuitBatch::new(program.clone(), cx, &inputs, whole, ws);
                Ok(Batch::Circuit(Box::new(batch.map_err(wrong)?)))
            }
            Self::Device(device, contexts) => {
                let batch = device.batch(number % contexts, cx, &counters(role, first, whole))?;
                Ok(Batch::Device(batch))
            }
        }
    }
}

impl Batch {
    /// Adds this party's own share of the keystream to `data`, after the run.
    ///
    /// # Errors
    /// The device failed.
    pub(super) fn add_to(self, data: &mut [u8], spare: &mut Spare) -> Result<(), Fault> {
        match self {
            Self::Blocks(batch) => {
                xor_into(data, &batch.own()[..data.len()]);
                spare.blocks.push(batch.into_workspace());
            }
            Self::Circuit(batch) => {
                add_planes(data, &batch.output().own);
                spare.circuits.push(batch.into_workspace());
            }
            Self::Device(batch) => add_planes(data, &batch.output()?.own),
        }
        Ok(())
    }
}

/// Shares of the planes of counter blocks, which are public. In the circuit a block is a big-endian
/// number, so that bit `i` of the counter is wire `i`.
fn counters(role: Role, first: u128, blocks: usize) -> Shares {
    let values = (0..blocks).flat_map(|i| first.wrapping_add(i as u128).to_le_bytes());
    Shares::public(role, &Planes::pack(&values.collect::<Vec<u8>>(), BLOCK, blocks))
}

/// Adds blocks that are given as planes.
fn add_planes(data: &mut [u8], planes: &[u8]) {
    let planes =
        Planes::new(BLOCK, 8 * planes.len() / BLOCK, planes.to_vec()).expect("whole bytes of blocks");
    let mut blocks = Wiped::new(planes.unpack());
    blocks.as_chunks_mut::<16>().0.iter_mut().for_each(|block| block.reverse());
    xor_into(data, &blocks[..data.len()]);
}

/// Calls the same method of every kind of batch.
macro_rules! each {
    ($self:ident, $batch:ident => $of:expr) => {
        match $self {
            Self::Blocks($batch) => $of,
            Self::Circuit($batch) => $of,
            Self::Device($batch) => $of,
        }
    };
}

impl Machine for Batch {
    type Error = Fault;

    fn round(&self, slot: usize) -> Option<Round> {
        each!(self, batch => batch.round(slot))
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Fault> {
        each!(self, batch => Ok(batch.write(slot, out)?))
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Fault> {
        each!(self, batch => Ok(batch.read(messages)?))
    }

    fn upcoming(&self) -> Option<Round> {
        each!(self, batch => batch.upcoming())
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Fault> {
        each!(self, batch => Ok(batch.turn(messages, out)?))
    }

    fn cost(&self) -> Option<Cost> {
        each!(self, batch => batch.cost())
    }
}
