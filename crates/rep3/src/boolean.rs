//! `bp32`: the Boyar–Peralta S-box on shared bit planes, one message a layer of ANDs.
//!
//! A batch of `n` bytes (a multiple of 8) is eight segments of `p = n/8` bytes. Bit `j` of byte `i` of plane `b` is bit
//! `b` of byte `j·p + i` of the batch, so that nothing depends on a vector's width. The message of a layer is its
//! ANDs' output planes one after the other, in the circuit's order.

use crate::kernels::{Pair, PairMut, Recorder};
use crate::record::{Place, Unit};
use hushwire_simd::sbox::{self, Gates};
use hushwire_simd::{Kernel, Lanes};
use std::sync::LazyLock;

/// Wires that a kernel holds: as many as a `u8` names, so that indexing needs no check.
const WIRES: usize = 256;

/// The circuit between two exchanges: phase `d` absorbs the ANDs of depth `d` and makes those of depth `d + 1`.
#[derive(Default)]
pub(crate) struct Phase {
    /// Wires made in earlier phases that this one reads: (wire, slot).
    read: Vec<(u8, usize)>,
    /// Outputs of the ANDs that just arrived, in message order.
    arrived: Vec<u8>,
    /// Linear gates in order: (output, a, b).
    xors: Vec<(u8, u8, u8)>,
    /// ANDs to send, in message order: (a, b).
    pub ands: Vec<(u8, u8)>,
    /// Wires that later phases read: (wire, slot).
    kept: Vec<(u8, usize)>,
}

/// The whole S-box, layered.
pub(crate) struct Circuit {
    pub phases: Vec<Phase>,
    /// Wires that live across an exchange.
    pub slots: usize,
    outputs: [u8; 8],
}

/// Turns the straight-line program into wires and gates. NOT is left out: its constant 0x63 is part of the round key.
#[derive(Default)]
struct Recording {
    depth: Vec<usize>,
    xors: Vec<(u8, u8, u8)>,
    ands: Vec<(u8, u8, u8)>,
}

impl Recording {
    fn wire(&mut self, depth: usize) -> u8 {
        self.depth.push(depth);
        u8::try_from(self.depth.len() - 1).expect("the circuit has at most 256 wires")
    }

    fn depth(&self, wire: u8) -> usize {
        self.depth[usize::from(wire)]
    }
}

impl Gates for Recording {
    type W = u8;
    fn xor(&mut self, a: u8, b: u8) -> u8 {
        let out = self.wire(self.depth(a).max(self.depth(b)));
        self.xors.push((out, a, b));
        out
    }
    fn and(&mut self, a: u8, b: u8) -> u8 {
        let out = self.wire(self.depth(a).max(self.depth(b)) + 1);
        self.ands.push((out, a, b));
        out
    }
    fn not(&mut self, a: u8) -> u8 {
        a
    }
}

/// The layered circuit, built once.
pub(crate) static CIRCUIT: LazyLock<Circuit> = LazyLock::new(|| {
    let mut r = Recording::default();
    let inputs = std::array::from_fn(|_| r.wire(0));
    let outputs = sbox::forward(&mut r, inputs);
    let last = r.depth.iter().copied().max().unwrap_or(0);
    let mut phases: Vec<Phase> = (0..=last).map(|_| Phase::default()).collect();
    // The last phase that reads each wire.
    let mut until = r.depth.clone();
    let mut reads = |wire: u8, phase: usize| {
        let until = &mut until[usize::from(wire)];
        *until = phase.max(*until);
    };
    for &(out, a, b) in &r.xors {
        phases[r.depth(out)].xors.push((out, a, b));
        reads(a, r.depth(out));
        reads(b, r.depth(out));
    }
    for &(out, a, b) in &r.ands {
        phases[r.depth(out) - 1].ands.push((a, b));
        phases[r.depth(out)].arrived.push(out);
        reads(a, r.depth(out) - 1);
        reads(b, r.depth(out) - 1);
    }
    for w in outputs {
        reads(w, last);
    }
    let mut slots = 0;
    for (wire, (&from, &until)) in (0..=u8::MAX).zip(r.depth.iter().zip(&until)) {
        if until > from {
            phases[from].kept.push((wire, slots));
            for phase in &mut phases[from + 1..=until] {
                phase.read.push((wire, slots));
            }
            slots += 1;
        }
    }
    Circuit { phases, slots, outputs }
});

/// One phase over a whole batch.
pub(crate) struct Run<'a> {
    pub layer: usize,
    pub phase: usize,
    /// Phase 0: the S-box's input bytes. Later: the messages that arrived.
    pub input: Pair<'a>,
    /// `2 · slots` planes of `p` bytes.
    pub wires: &'a mut [u8],
    /// The layer's message, holding its zero-shares; empty in the last phase.
    pub message: &'a mut [u8],
    /// The last phase's output bytes; empty before.
    pub output: PairMut<'a>,
    /// Bytes in a plane.
    pub plane: usize,
    pub rec: Recorder<'a>,
}

/// 64 bytes, the longest vector.
const LONGEST: usize = 64;

/// As in [`crate::kernels`]: `FULL` means that a whole vector is there.
#[inline(always)]
fn load<L: Lanes, const FULL: bool>(l: L, s: &[u8]) -> L::V {
    if FULL {
        return l.load(&s[..L::BYTES]);
    }
    let mut whole = [0; LONGEST];
    let len = s.len().min(L::BYTES);
    whole[..len].copy_from_slice(&s[..len]);
    l.load(&whole)
}

#[inline(always)]
fn store<L: Lanes, const FULL: bool>(l: L, v: L::V, s: &mut [u8]) {
    if FULL {
        return l.store(v, &mut s[..L::BYTES]);
    }
    let mut whole = [0; LONGEST];
    l.store(v, &mut whole);
    let len = s.len().min(L::BYTES);
    s[..len].copy_from_slice(&whole[..len]);
}

impl Run<'_> {
    /// The vector at `at` of every plane. `w` holds both shares of every wire.
    #[inline(always)]
    fn unit<L: Lanes, const FULL: bool>(&mut self, l: L, w: &mut [[L::V; 2]; WIRES], at: usize) {
        let (circuit, p) = (&*CIRCUIT, self.plane);
        let phase = &circuit.phases[self.phase];
        for s in 0..2 {
            if self.phase == 0 {
                let mut v = [l.zero(); 8];
                for j in 0..8 {
                    v[j] = load::<L, FULL>(l, &self.input[s][j * p + at..(j + 1) * p]);
                }
                l.slice(&mut v);
                for j in 0..8 {
                    w[j][s] = v[j];
                }
            }
            for (g, &out) in phase.arrived.iter().enumerate() {
                w[usize::from(out)][s] = load::<L, FULL>(l, &self.input[s][g * p + at..(g + 1) * p]);
            }
        }
        for &(wire, slot) in &phase.read {
            let planes = &self.wires[2 * slot * p..2 * (slot + 1) * p];
            let v = [load::<L, FULL>(l, &planes[at..p]), load::<L, FULL>(l, &planes[p + at..])];
            w[usize::from(wire)] = v;
        }
        for &(out, a, b) in &phase.xors {
            let (a, b) = (w[usize::from(a)], w[usize::from(b)]);
            w[usize::from(out)] = [l.xor(a[0], b[0]), l.xor(a[1], b[1])];
        }
        for &(wire, slot) in &phase.kept {
            let (v, planes) = (w[usize::from(wire)], &mut self.wires[2 * slot * p..2 * (slot + 1) * p]);
            store::<L, FULL>(l, v[0], &mut planes[at..p]);
            store::<L, FULL>(l, v[1], &mut planes[p + at..]);
        }
        for (g, &(a, b)) in phase.ands.iter().enumerate() {
            let (x, y) = (w[usize::from(a)], w[usize::from(b)]);
            let z = l.xor(l.and(x[0], l.xor(y[0], y[1])), l.and(x[1], y[0]));
            let message = &mut self.message[g * p + at..(g + 1) * p];
            let z = l.xor(load::<L, FULL>(l, message), z);
            store::<L, FULL>(l, z, message);
            if !FULL {
                self.tell(l, g * p + at, p - at, x, y);
            }
        }
        if phase.ands.is_empty() {
            for s in 0..2 {
                let mut v = [l.zero(); 8];
                for j in 0..8 {
                    v[j] = w[usize::from(circuit.outputs[j])][s];
                }
                l.slice(&mut v);
                for j in 0..8 {
                    store::<L, FULL>(l, v[j], &mut self.output[s][j * p + at..(j + 1) * p]);
                }
            }
        }
    }

    /// Tells the verifier the factors of one vector of ANDs.
    #[inline(always)]
    fn tell<L: Lanes>(&mut self, l: L, offset: usize, left: usize, x: [L::V; 2], y: [L::V; 2]) {
        if let Some(rec) = &mut self.rec {
            let mut b = [[0u8; LONGEST]; 4];
            l.store(x[0], &mut b[0]);
            l.store(x[1], &mut b[1]);
            l.store(y[0], &mut b[2]);
            l.store(y[1], &mut b[3]);
            let (len, place) = (L::BYTES.min(left), Place { offset, unit: Unit::Bits });
            rec.product(self.layer, place, [&b[0][..len], &b[1][..len]], [&b[2][..len], &b[3][..len]]);
        }
    }
}

impl Kernel for Run<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let mut w = [[l.zero(); 2]; WIRES];
        let mut at = 0;
        if self.rec.is_none() {
            while self.plane - at >= L::BYTES {
                self.unit::<L, true>(l, &mut w, at);
                at += L::BYTES;
            }
        }
        while at < self.plane {
            self.unit::<L, false>(l, &mut w, at);
            at += L::BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circuit_has_thirty_two_ands_in_six_layers() {
        let ands: Vec<usize> = CIRCUIT.phases.iter().map(|p| p.ands.len()).collect();
        assert_eq!(ands.iter().sum::<usize>(), 32);
        assert_eq!(ands.len(), 7, "six layers of ANDs and the last linear phase");
        assert_eq!(ands[6], 0);
    }
}
