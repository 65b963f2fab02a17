//! The points of the grid, and the cut of a batch for each.

use std::ops::Range;

use hushwire_rep3::{KeySize, Sbox, cost};
use hushwire_wire::Shape;

use crate::{
    BenchAsked,
    axes::{axis, every},
    net::{NETS, Transport},
};

axis! {
    /// The source of round keys.
    pub(crate) enum KeyMode {
        /// One key, expanded by its owner beforehand.
        PreExpanded = "pre-expanded",
        /// One key, expanded within the timed computation.
        Expand = "expand",
        /// A key for every block, expanded by its owner beforehand.
        PerBlock = "per-block",
    }
}

/// The numbers of blocks.
const BLOCKS: [usize; 10] = [1, 2, 10, 100, 550, 1000, 5000, 10_000, 100_000, 1_000_000];

/// The longest time in seconds for which a batch may occupy a modelled network. Longer batches are
/// not measured.
const SLOWEST_BATCH: u64 = 10;

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) net: Shape,
    pub(crate) sbox: Sbox,
    pub(crate) key: KeyMode,
    pub(crate) blocks: usize,
    pub(crate) transport: Transport,
    pub(crate) threads: usize,
}

impl Point {
    /// The whole grid.
    pub(crate) fn all(asked: &BenchAsked) -> Vec<Self> {
        let (nets, counts) = (asked.nets(&NETS), asked.threads());
        let mut points = every!(
            transport in Transport::ALL,
            sbox in Sbox::ALL,
            key in KeyMode::ALL,
            blocks in BLOCKS,
            &net in &nets,
            &threads in &counts => Self { net, sbox, key, blocks, transport, threads }
        );
        points.retain(Self::is_meaningful);
        points
    }

    /// One block has one key in any case, and a thread without a chunk measures nothing. Lockstep
    /// has no network, and some of its batches would take minutes.
    fn is_meaningful(&self) -> bool {
        let bytes = cost(KeySize::Aes128, self.sbox, self.blocks).bytes_sent;
        let seconds = self.net.bits_per_second.map_or(0, |rate| 8 * bytes / rate);
        if self.net != Shape::NONE && (self.transport == Transport::Inproc || seconds > SLOWEST_BATCH) {
            return false;
        }
        let one_key = self.blocks == 1 && self.key == KeyMode::PerBlock;
        !one_key && (self.threads == 1 || self.blocks >= LEAST_TCP_CHUNK * self.threads)
    }
}

/// The cut of a batch into chunks that are computed at once, and the number of chunks that a thread
/// keeps in flight. It is LOCAL for the cost, and AGREEMENT for the addresses of zero-shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChunkCut {
    /// The number of all blocks.
    pub(crate) blocks: usize,
    /// The blocks of every chunk except the last.
    pub(crate) chunk: usize,
    /// The threads of a party. Chunk `c` belongs to thread `c % threads`.
    pub(crate) threads: usize,
    /// The number of chunks that a thread has in flight.
    pub(crate) lanes: usize,
}

/// The blocks of a chunk in lockstep. The buffers of all three parties then stay in a second-level
/// cache of 1 MiB.
const LOCKSTEP_CHUNK: usize = 512;
/// The blocks of a chunk over TCP. Messages are long enough for TLS and sockets, and buffers stay
/// in the second-level cache.
const TCP_CHUNK: usize = 4096;
/// The shortest chunk over TCP. A shorter one costs more in rounds than it hides.
const LEAST_TCP_CHUNK: usize = 1024;
/// The chunks that a thread has in flight over TCP. With three parties on two cores, more chunks
/// would wait for each other.
const TCP_LANES: usize = 2;
/// The same over a network with a delay.
const FAR_CHUNK: usize = 8192;
const FAR_LANES: usize = 4;
/// The blocks of a chunk of `lut256`, which prepares 10 KiB for each block.
const LUT_CHUNK: usize = 128;
/// Longer chunks are multiples of this, so that kernels have no remainders.
const STEP: usize = 512;

impl ChunkCut {
    pub(crate) fn of(point: &Point) -> Self {
        let Point { blocks, transport, threads, .. } = *point;
        let (wanted, least, lanes) = match (point.sbox, transport) {
            (Sbox::Lut256, Transport::Inproc) => (LUT_CHUNK, 1, 1),
            (Sbox::Lut256, _) => (4 * LUT_CHUNK, LUT_CHUNK, TCP_LANES),
            (_, Transport::Inproc) => (LOCKSTEP_CHUNK, 1, 1),
            // The messages in flight must fill the network for the time that a message takes.
            _ if point.net != Shape::NONE => (FAR_CHUNK, LEAST_TCP_CHUNK, FAR_LANES),
            // Waking is cheap between processes of one host, and the working set of all threads
            // should stay in the caches.
            _ if transport.is_local() => (TCP_CHUNK / threads, LEAST_TCP_CHUNK, TCP_LANES),
            _ => (TCP_CHUNK, LEAST_TCP_CHUNK, TCP_LANES),
        };
        // The number of waves for which chunks of equal length are closest to the wanted length.
        let at_once = lanes * threads;
        let waves = ((blocks + at_once * wanted / 2) / (at_once * wanted)).max(1);
        let chunk = blocks.div_ceil(at_once * waves).max(least);
        let chunk = if chunk > STEP { chunk.next_multiple_of(STEP) } else { chunk.next_multiple_of(2) };
        let chunk = chunk.min(blocks);
        let lanes = lanes.min(blocks.div_ceil(chunk).div_ceil(threads));
        Self { blocks, chunk, threads, lanes }
    }

    pub(crate) fn chunks(&self) -> usize {
        self.blocks.div_ceil(self.chunk)
    }

    /// The blocks of chunk `c`.
    pub(crate) fn range(&self, c: usize) -> Range<usize> {
        self.chunk * c..self.blocks.min(self.chunk * (c + 1))
    }

    /// The chunks of a thread, in order.
    pub(crate) fn of_thread(&self, thread: usize) -> impl Iterator<Item = usize> + use<> {
        (thread..self.chunks()).step_by(self.threads)
    }

    /// The number of consecutive chunks on the busiest lane.
    pub(crate) fn waves(&self) -> usize {
        self.chunks().div_ceil(self.threads).div_ceil(self.lanes)
    }
}
