//! The gate queue of one endpoint. It keeps a wire for every wire number, and the ANDs (or XORs
//! with tables) that wait for their batch. A gate that reads a waiting wire runs the batch first.

use crate::{Batches, GarbleError, GateBackend, Role, Stretch, Tables, cursor::has_table, room::resize};
use hushwire_circuit::{Gate, Gates, ONE, Slot, Wire, ZERO, input_slot};
use std::io;
use zeroize::Zeroizing;

/// LOCAL: the default for the largest number of ANDs that wait.
const WIDTH: usize = 32;

/// An endpoint that takes gates one at a time, with a wire for every wire of the circuit.
pub struct DynamicBatcher<E: GateBackend> {
    end: E,
    width: usize,
    batches: Batches,
    /// The constants, then wires by number.
    wires: Zeroizing<Vec<E::Wire>>,
    /// The place of a wire: its own, or the place of the wire that it copies.
    place: Vec<Slot>,
    /// The number of the batch in which a place is computed.
    batch: Vec<u32>,
    /// The number of the current batch; never 0.
    now: u32,
    /// The operands of the ANDs that wait; `outs` has their outputs.
    pairs: Vec<[Slot; 2]>,
    outs: Vec<Slot>,
    made: Zeroizing<Vec<E::Wire>>,
    /// The XORs that wait, in schemes whose XORs have tables. They run together, and no ANDs wait
    /// with them.
    xors: Vec<[Slot; 3]>,
    /// Tables whose bits are stored apart from their bytes.
    bytes: Vec<u8>,
    bits: Vec<u8>,
}

impl<E: GateBackend> DynamicBatcher<E> {
    /// An endpoint for gates on `wires` wires.
    ///
    /// # Panics
    /// If there are more wires than slots can number.
    #[must_use]
    pub fn new(end: E, wires: u64) -> Self {
        let all = u32::try_from(wires).ok().and_then(|n| n.checked_add(input_slot(0)));
        let all = all.expect("slots number all wires") as usize;
        let mut held = Zeroizing::new(vec![E::Wire::default(); all]);
        held[..2].copy_from_slice(&end.constants());
        DynamicBatcher {
            end,
            width: WIDTH,
            batches: Batches::default(),
            wires: held,
            place: (0..wires as usize).map(input_slot).collect(),
            batch: vec![0; all],
            now: 1,
            pairs: vec![],
            outs: vec![],
            made: Zeroizing::new(vec![]),
            xors: vec![],
            bytes: vec![],
            bits: vec![],
        }
    }

    /// The same endpoint, with at most `width` ANDs that wait. LOCAL: no byte depends on the width.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        assert!(width > 0, "a batch holds at least one gate");
        DynamicBatcher { width, ..self }
    }

    /// Sets an input.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn set(&mut self, wire: Wire, value: E::Wire) {
        self.wires[input_slot(wire as usize) as usize] = value;
    }

    /// The value of a wire. Runs the gates on which the wire waits.
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn get(&mut self, wire: Wire, tables: &mut dyn Tables) -> Result<E::Wire, GarbleError> {
        let place = self.place[wire as usize];
        self.await_xors(tables)?;
        if self.waits(place) {
            self.flush(tables)?;
        }
        Ok(self.wires[place as usize])
    }

    /// Runs or queues the next gate. Its tables are read or written when it runs.
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// If the gate names a wire that does not exist.
    pub fn gate(&mut self, gate: Gate, tables: &mut dyn Tables) -> Result<(), GarbleError> {
        match gate {
            Gate::Const { value, out } => self.place[out as usize] = if value { ONE } else { ZERO },
            Gate::Copy { a, out } => self.place[out as usize] = self.place[a as usize],
            Gate::Inv { a, out } => {
                let a = self.place[a as usize];
                self.xor([a, ONE, self.place[out as usize]], tables)?;
            }
            Gate::Xor { a, b, out } => {
                let [a, b, out] = [a, b, out].map(|w| self.place[w as usize]);
                self.xor([a, b, out], tables)?;
            }
            Gate::And { a, b, out } => {
                let [a, b, out] = [a, b, out].map(|w| self.place[w as usize]);
                self.await_xors(tables)?;
                if self.waits(a) || self.waits(b) {
                    self.flush(tables)?;
                }
                self.pairs.push([a, b]);
                self.outs.push(out);
                self.batch[out as usize] = self.now;
                if self.pairs.len() == self.width {
                    self.flush(tables)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn waits(&self, place: Slot) -> bool {
        self.batch[place as usize] == self.now
    }

    fn xor(&mut self, gate: [Slot; 3], tables: &mut dyn Tables) -> Result<(), GarbleError> {
        // An XOR with a table has a number, which must follow the numbers of all earlier ANDs.
        let numbered = E::FORMAT.xor_bytes > 0 && has_table(&gate);
        if numbered || self.waits(gate[0]) || self.waits(gate[1]) {
            self.await_ands(tables)?;
        }
        if !numbered && self.xors.is_empty() {
            self.end.xors(&mut self.wires, 1, &[gate], E::Bytes::default());
            return Ok(());
        }
        self.xors.push(gate);
        if self.xors.len() == self.width { self.await_xors(tables) } else { Ok(()) }
    }

    /// Runs the waiting XORs.
    fn await_xors(&mut self, tables: &mut dyn Tables) -> Result<(), GarbleError> {
        if !self.xors.is_empty() {
            let bytes = E::FORMAT.xor_bytes * self.xors.iter().filter(|gate| has_table(gate)).count();
            let tables = E::Bytes::of(tables.next(bytes)?);
            self.end.xors(&mut self.wires, 1, &self.xors, tables);
            self.xors.clear();
        }
        Ok(())
    }

    /// Runs all waiting gates.
    ///
    /// # Errors
    /// The error of `tables`.
    pub fn flush(&mut self, tables: &mut dyn Tables) -> Result<(), GarbleError> {
        self.await_ands(tables)?;
        self.await_xors(tables)
    }

    fn await_ands(&mut self, tables: &mut dyn Tables) -> Result<(), GarbleError> {
        let n = self.pairs.len();
        if n == 0 {
            return Ok(());
        }
        resize(&mut self.made, n);
        let (whole, piece) = (E::FORMAT.and_bytes, E::FORMAT.piece(1));
        let tables = tables.next(n * piece)?;
        if E::FORMAT.and_bits == 0 {
            let tables = E::Bytes::of(tables);
            self.end.ands(&self.wires, &self.pairs, &mut self.made, tables, E::Bytes::default());
        } else {
            self.bytes.resize(n * whole, 0);
            self.bits.resize(n, 0);
            let mask = (1 << E::FORMAT.and_bits) - 1;
            if E::ROLE == Role::Evaluator {
                for (k, table) in tables.chunks_exact(piece).enumerate() {
                    self.bytes[k * whole..][..whole].copy_from_slice(&table[..whole]);
                    self.bits[k] = table[whole] & mask;
                }
            }
            let (bytes, bits) = (E::Bytes::of(&mut self.bytes), E::Bytes::of(&mut self.bits));
            self.end.ands(&self.wires, &self.pairs, &mut self.made, bytes, bits);
            if E::ROLE == Role::Garbler {
                for (k, table) in tables.chunks_exact_mut(piece).enumerate() {
                    table[..whole].copy_from_slice(&self.bytes[k * whole..][..whole]);
                    table[whole] = self.bits[k] & mask;
                }
            }
        }
        for (out, made) in self.outs.iter().zip(self.made.iter()) {
            self.wires[*out as usize] = *made;
        }
        self.batches.calls += 1;
        self.batches.gates += n as u64;
        self.pairs.clear();
        self.outs.clear();
        self.next_batch();
        Ok(())
    }

    /// Begins a new batch, for which nothing waits.
    fn next_batch(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.batch.fill(0);
            self.now = 1;
        }
    }

    /// Runs all gates. `inputs` has the wires of the inputs, input after input; the result has the
    /// wires of the outputs.
    ///
    /// # Errors
    /// The error of `tables`, or the gates cannot be read.
    ///
    /// # Panics
    /// If `inputs` does not have as many wires as the circuit has input bits, or this endpoint was
    /// made for fewer wires.
    pub fn run(
        &mut self,
        gates: &dyn Gates,
        inputs: &[E::Wire],
        tables: &mut dyn Tables,
    ) -> Result<Zeroizing<Vec<E::Wire>>, GarbleError> {
        assert_eq!(inputs.len(), gates.inputs().iter().sum::<usize>(), "a wire for every input bit");
        self.flush(tables)?;
        // Clears the copies that an earlier circuit left.
        self.place.iter_mut().enumerate().for_each(|(wire, place)| *place = input_slot(wire));
        for (wire, input) in inputs.iter().enumerate() {
            self.set(wire as Wire, *input);
        }
        let mut failed = None;
        let read = gates.each(&mut |gate| {
            self.gate(gate, tables).map_err(|e| {
                failed = Some(e);
                io::ErrorKind::Interrupted.into()
            })
        });
        match (failed, read) {
            (Some(e), _) => return Err(e),
            (None, read) => read?,
        }
        self.flush(tables)?;
        let wires = gates.wires();
        let outputs = gates.outputs().iter().sum::<usize>();
        // The vector is allocated at its full length, because a vector that grows leaves labels
        // behind.
        let mut out = Zeroizing::new(Vec::with_capacity(outputs));
        for wire in wires - outputs as u64..wires {
            out.push(self.get(wire as Wire, tables)?);
        }
        Ok(out)
    }

    /// The batches of ANDs so far.
    #[must_use]
    pub fn batches(&self) -> Batches {
        self.batches
    }

    /// The endpoint.
    pub fn end(&mut self) -> &mut E {
        &mut self.end
    }

    /// The endpoint, without its wires.
    #[must_use]
    pub fn into_end(self) -> E {
        self.end
    }
}
