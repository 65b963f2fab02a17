//! A queue of independent XORs: the dynamic batching of the VASA paper, which flushes on reference.
//! XORs of GLNP15 have tables, so that batches speed them up. A gate that reads or writes a slot
//! that a queued gate writes flushes the queue first.

use super::end::Gates;
use crate::{Batches, Format, cursor::has_table, room::Room, tables::Stretch};
use hushwire_aes::Backend;
use hushwire_circuit::{ONE, Slot};
use zeroize::Zeroize;

/// The number of bytes of an XOR's table.
pub(super) const TABLE: usize = Format::PRF.xor_bytes;

/// LOCAL: the number of units in the queue, unless one gate has more copies. A strip of AES's
/// circuit and its neighbours fit in, and the queue fits into half of the first-level cache.
const UNITS: usize = 256;

/// Gates whose operands were read and whose results are not yet computed, copies included.
pub(super) struct Queue<W: Zeroize> {
    /// Unit by unit, in the order of tables.
    left: Room<W>,
    right: Room<W>,
    made: Room<W>,
    units: usize,
    /// The slots of the results, gate by gate.
    outs: Vec<Slot>,
    /// A slot that is marked with this round is written by a gate in the queue.
    round: u64,
    marks: Vec<u64>,
    batches: Batches,
}

impl<W: Copy + Default + Zeroize> Queue<W> {
    /// A queue; without batching, every gate runs on its own.
    pub(super) fn new(backend: Backend) -> Self {
        let room = || {
            let mut room = Room::new();
            room.resize(if backend.is_batched() { UNITS } else { 1 });
            room
        };
        Queue {
            left: room(),
            right: room(),
            made: room(),
            units: 0,
            outs: Vec::with_capacity(UNITS),
            round: 1,
            marks: vec![],
            batches: Batches::default(),
        }
    }

    /// The batches so far. Their gates are units with a table, copy by copy.
    pub(super) fn batches(&self) -> Batches {
        self.batches
    }

    /// [`crate::GateBackend::xors`].
    pub(super) fn run<E: Gates<Wire = W>>(
        &mut self,
        end: &mut E,
        wires: &mut [W],
        strip: usize,
        gates: &[[Slot; 3]],
        mut tables: E::Bytes<'_>,
    ) {
        if strip == 0 {
            return;
        }
        self.marks.resize(self.marks.len().max(wires.len() / strip), 0);
        for gate @ [a, b, out] in gates {
            if has_table(gate) {
                if self.waits_for(*a) || self.waits_for(*b) || self.units + strip > self.left.len() {
                    self.flush(end, wires, strip, &mut tables);
                }
                self.push(wires, strip, *gate);
                continue;
            }
            // A queued result would overwrite the result of this gate.
            let (from, flipped) = if *a <= ONE { (*b, *a == ONE) } else { (*a, *b == ONE) };
            if self.waits_for(from) || self.waits_for(*out) {
                self.flush(end, wires, strip, &mut tables);
            }
            for i in 0..strip {
                let wire = wires[from as usize * strip + i];
                wires[*out as usize * strip + i] = if flipped { E::not(wire) } else { wire };
            }
        }
        self.flush(end, wires, strip, &mut tables);
    }

    fn waits_for(&self, slot: Slot) -> bool {
        self.marks[slot as usize] == self.round
    }

    fn push(&mut self, wires: &[W], strip: usize, [a, b, out]: [Slot; 3]) {
        let until = self.units + strip;
        if until > self.left.len() {
            // The strip is longer than any that the engine makes; the queue is empty.
            for room in [&mut self.left, &mut self.right, &mut self.made] {
                room.resize(until);
            }
        }
        if strip == 1 {
            // A few bytes are copied without a call.
            (self.left[self.units], self.right[self.units]) = (wires[a as usize], wires[b as usize]);
        } else {
            self.left[self.units..until].copy_from_slice(&wires[a as usize * strip..][..strip]);
            self.right[self.units..until].copy_from_slice(&wires[b as usize * strip..][..strip]);
        }
        self.units = until;
        self.outs.push(out);
        self.marks[out as usize] = self.round;
    }

    fn flush<'t, E: Gates<Wire = W>>(
        &mut self,
        end: &mut E,
        wires: &mut [W],
        strip: usize,
        tables: &mut E::Bytes<'t>,
    ) {
        let n = std::mem::take(&mut self.units);
        if n == 0 {
            return;
        }
        self.round += 1;
        self.batches.calls += 1;
        self.batches.gates += n as u64;
        let outs = std::mem::take(&mut self.outs);
        let bytes = tables.take(n * TABLE);
        end.xor(&self.left[..n], &self.right[..n], &mut self.made[..n], bytes);
        // Results are stored in order: of two results for a slot, the later one stays.
        if strip == 1 {
            for (out, made) in outs.iter().zip(self.made.iter()) {
                wires[*out as usize] = *made;
            }
        } else {
            for (out, made) in outs.iter().zip(self.made.chunks_exact(strip)) {
                wires[*out as usize * strip..][..strip].copy_from_slice(made);
            }
        }
        self.outs = outs;
        self.outs.clear();
    }
}
