//! The four circuits, and one cell's measurement.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use hushwire_aes::{Backend, Tier};
use hushwire_block::Buffer;
use hushwire_circuit::{Program, named};
use hushwire_garble::{GarbleError, Scheme, Tables};
use hushwire_machine::Channel;
use hushwire_wire::Shape;

use super::{Impl, PaperCircuit};
use crate::{
    BoxError, CaseContext, LimitBound, Measurement, Timer, Unit,
    benches::{
        garble::{
            GarbleOp, WIDEST,
            ends::{self, Both},
            limits, xors,
        },
        yao::STREAM,
    },
    bounds::count,
    link::{RowLink, Taken},
    net::{Transport, channels},
    workers::{self, Worker},
};

impl PaperCircuit {
    /// The ANDs of the paper's circuit.
    pub(super) const fn paper_ands(self) -> u64 {
        match self {
            Self::Aes => 332_800,
            Self::Sha1 => 1_672_650,
            Self::ScsPsi => 1_113_088,
            Self::Phasing => 681_885,
        }
    }

    /// The name of the circuit, and the number of copies that run in parallel.
    pub(super) const fn circuit(self) -> (&'static str, usize) {
        match self {
            Self::Aes => ("aes128-expanded-key", 65),
            Self::Sha1 => ("sha1-block", 63),
            Self::ScsPsi => ("psi-scs:1024x32", 1),
            Self::Phasing => ("psi-phasing:1024x1024x32x1", 1),
        }
    }
}

impl Impl {
    /// The backend, if the CPU supports it.
    pub(super) fn backend(self) -> Option<Backend> {
        let aesni = Backend::forced(Tier::AesNi).ok();
        match self {
            Self::Ref => aesni.map(Backend::unbatched),
            Self::AesNi => aesni,
            Self::Vaes => [Tier::Vaes512, Tier::Vaes256].into_iter().find_map(|t| Backend::forced(t).ok()),
        }
    }

    /// The gates of a batch.
    const fn width(self) -> usize {
        match self {
            Self::Ref => 1,
            Self::AesNi | Self::Vaes => WIDEST,
        }
    }
}

/// A circuit in the form in which it is measured.
#[derive(Clone)]
pub(super) struct Loaded {
    program: Program,
    instances: usize,
    pub(super) ands: u64,
    xors: u64,
}

/// The circuits made so far, kept for the next row.
#[derive(Clone, Default)]
pub(super) struct Circuits(Rc<RefCell<BTreeMap<PaperCircuit, Loaded>>>);

impl Circuits {
    pub(super) fn get(&self, work: PaperCircuit) -> Result<Loaded, BoxError> {
        if let Some(loaded) = self.0.borrow().get(&work) {
            return Ok(loaded.clone());
        }
        let (name, instances) = work.circuit();
        let program = named::program(name)?;
        let n = instances as u64;
        let (ands, xors) = (program.ands() * n, xors(&program) * n);
        let loaded = Loaded { program, instances, ands, xors };
        self.0.borrow_mut().insert(work, loaded.clone());
        Ok(loaded)
    }
}

/// The milliseconds of a cell.
pub(super) struct CellFigures {
    pub(super) measured: Measurement,
    pub(super) limit: LimitBound,
    pub(super) bytes: u64,
    pub(super) mean_batch: f64,
}

/// Measures one cell. The endpoints check their outputs first.
pub(super) fn cell(
    ctx: &mut CaseContext<'_>,
    timer: Timer,
    loaded: &Loaded,
    scheme: Scheme,
    imp: Impl,
    op: GarbleOp,
) -> Result<CellFigures, BoxError> {
    let backend = imp.backend().ok_or("this CPU lacks the instructions")?;
    let mut ends = ends::open(scheme, backend, imp.width(), &loaded.program, loaded.instances)?;
    ends.garble()?;
    ends.evaluate()?;
    ends.check()?;
    let bytes = ends.bytes();
    let calls = limits::per_and(scheme, op, loaded.ands, loaded.xors);
    let aes = 1e3 * count(loaded.ands) / limits::ands_per_s(ctx, backend, calls)?.0;
    let limit = LimitBound { name: format!("{} AES", backend.tier()), value: aes, spread: None };
    if op == GarbleOp::Evaluate {
        let measured = timer.try_time_ms(|| ends.evaluate())?;
        return Ok(CellFigures { measured, limit, bytes, mean_batch: ends.mean_batch() });
    }
    let link = RowLink::one_flow(Transport::TcpInsecure, STREAM);
    let ((mean_batch, seconds), Taken { name, spread }) = link.around(ctx, || sent(timer, ends, bytes))?;
    let spread = spread.map(|rate| 1e3 * count(bytes) / rate);
    let limit = limit.tighter(LimitBound { name, value: spread.value, spread: Some(spread) }, &UNIT);
    let figures: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
    let measured = Measurement::of(&figures).ok_or("nothing was timed")?;
    Ok(CellFigures { measured, limit, bytes, mean_batch })
}

/// The time of garbling into a TCP connection that another thread reads.
fn sent(timer: Timer, ends: Box<dyn Both>, bytes: u64) -> Result<(f64, Vec<f64>), BoxError> {
    let [to, from] = channels(Transport::TcpInsecure, Shape::NONE)?;
    let mut workers = [
        StreamEnd::Garbler { ends, buffer: Buffer::new(), channel: Some(to) },
        StreamEnd::Reader { bytes, room: vec![0; 1 << 18], channel: Some(from) },
    ];
    let seconds = timer.durations(|n| -> Result<Duration, BoxError> { workers::time(&mut workers, n) })?;
    let mean = match &workers[0] {
        StreamEnd::Garbler { ends, .. } => ends.mean_batch(),
        StreamEnd::Reader { .. } => 0.0,
    };
    Ok((mean, seconds))
}

/// Tables that are sent when the next ones are requested, in messages of at least [`STREAM`] bytes.
struct SentTables<'c> {
    channel: &'c mut Channel,
    buffer: &'c mut Buffer,
    filled: usize,
}

impl Tables for SentTables<'_> {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        if len == 0 || self.filled as u64 >= STREAM {
            self.channel.send("tables", &self.buffer[..std::mem::take(&mut self.filled)])?;
        }
        self.buffer.reserve_len(self.filled + len);
        self.filled += len;
        Ok(&mut self.buffer[self.filled - len..self.filled])
    }
}

enum StreamEnd {
    Garbler { ends: Box<dyn Both>, buffer: Buffer, channel: Option<Channel> },
    Reader { bytes: u64, room: Vec<u8>, channel: Option<Channel> },
}

impl Worker for StreamEnd {
    fn repeat(&mut self) -> Result<(), BoxError> {
        match self {
            StreamEnd::Garbler { ends, buffer, channel } => {
                let channel = channel.as_mut().ok_or("the channel is closed")?;
                let mut tables = SentTables { channel, buffer, filled: 0 };
                ends.garble_to(&mut tables)?;
                tables.next(0)?;
                Ok(())
            }
            StreamEnd::Reader { bytes, room, channel } => {
                let channel = channel.as_mut().ok_or("the channel is closed")?;
                let mut left = *bytes;
                while left > 0 {
                    let now = left.min(room.len() as u64);
                    channel.recv("tables", &mut room[..usize::try_from(now)?])?;
                    left -= now;
                }
                Ok(())
            }
        }
    }

    fn abandon(&mut self) {
        let (StreamEnd::Garbler { channel, .. } | StreamEnd::Reader { channel, .. }) = self;
        *channel = None;
    }
}

/// The unit of every row here.
pub(super) const UNIT: Unit = Unit::MS;
