//! `bp32`: the Boyar–Peralta S-box on shared bit planes, one message a layer of ANDs.
//!
//! A batch of `n` bytes (a multiple of 8) is eight segments of `p = n/8` bytes. Bit `j` of byte `i` of plane `b` is bit
//! `b` of byte `j·p + i` of the batch, so that nothing depends on a vector's width. The message of a layer is its
//! ANDs' output planes one after the other, in the circuit's order.

use crate::kernels::{Pair, PairMut, Recorder};
use crate::record::{Place, Unit};
use hushwire_simd::bytes::slice8;
use hushwire_simd::sbox::{self, Gates};
use hushwire_simd::{Kernel, Lanes};
use std::sync::LazyLock;

/// Wires of the circuit, an upper bound checked by the recorder.
const WIRES: usize = 160;

/// The circuit between two exchanges: phase `d` absorbs the ANDs of depth `d` and makes those of depth `d + 1`.
#[derive(Default)]
pub(crate) struct Phase {
    /// Wires made in earlier phases that this one reads: (wire, slot).
    read: Vec<(usize, usize)>,
    /// Outputs of the ANDs that just arrived, in message order.
    arrived: Vec<usize>,
    /// Linear gates in order: (output, a, b).
    xors: Vec<(usize, usize, usize)>,
    /// ANDs to send, in message order: (a, b).
    pub ands: Vec<(usize, usize)>,
    /// Wires that later phases read: (wire, slot).
    kept: Vec<(usize, usize)>,
}

/// The whole S-box, layered.
pub(crate) struct Circuit {
    pub phases: Vec<Phase>,
    /// Wires that live across an exchange.
    pub slots: usize,
    outputs: [usize; 8],
}

/// Turns the straight-line program into wires and gates. NOT is left out: its constant 0x63 is part of the round key.
#[derive(Default)]
struct Recording {
    depth: Vec<usize>,
    xors: Vec<(usize, usize, usize)>,
    ands: Vec<(usize, usize, usize)>,
}

impl Recording {
    fn wire(&mut self, depth: usize) -> usize {
        self.depth.push(depth);
        self.depth.len() - 1
    }
}

impl Gates for Recording {
    type W = usize;
    fn xor(&mut self, a: usize, b: usize) -> usize {
        let out = self.wire(self.depth[a].max(self.depth[b]));
        self.xors.push((out, a, b));
        out
    }
    fn and(&mut self, a: usize, b: usize) -> usize {
        let out = self.wire(self.depth[a].max(self.depth[b]) + 1);
        self.ands.push((out, a, b));
        out
    }
    fn not(&mut self, a: usize) -> usize {
        a
    }
}

/// The layered circuit, built once.
pub(crate) static CIRCUIT: LazyLock<Circuit> = LazyLock::new(|| {
    let mut r = Recording::default();
    let inputs = std::array::from_fn(|_| r.wire(0));
    let outputs = sbox::forward(&mut r, inputs);
    assert!(r.depth.len() <= WIRES, "the circuit has more wires than a kernel holds");
    let last = r.depth.iter().copied().max().unwrap_or(0);
    let mut phases: Vec<Phase> = (0..=last).map(|_| Phase::default()).collect();
    // The last phase that reads each wire.
    let mut until = r.depth.clone();
    for &(out, a, b) in &r.xors {
        phases[r.depth[out]].xors.push((out, a, b));
        for w in [a, b] {
            until[w] = until[w].max(r.depth[out]);
        }
    }
    for &(out, a, b) in &r.ands {
        phases[r.depth[out] - 1].ands.push((a, b));
        phases[r.depth[out]].arrived.push(out);
        for w in [a, b] {
            until[w] = until[w].max(r.depth[out] - 1);
        }
    }
    for w in outputs {
        until[w] = last;
    }
    let mut slots = 0;
    for (w, (&from, &until)) in r.depth.iter().zip(&until).enumerate() {
        if until > from {
            phases[from].kept.push((w, slots));
            for phase in &mut phases[from + 1..=until] {
                phase.read.push((w, slots));
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

#[inline(always)]
fn load<L: Lanes>(l: L, s: &[u8]) -> L::V {
    if s.len() >= L::BYTES {
        l.load(s)
    } else {
        let mut whole = [0; LONGEST];
        whole[..s.len()].copy_from_slice(s);
        l.load(&whole)
    }
}

#[inline(always)]
fn store<L: Lanes>(l: L, v: L::V, s: &mut [u8]) {
    if s.len() >= L::BYTES {
        l.store(v, s);
    } else {
        let mut whole = [0; LONGEST];
        l.store(v, &mut whole);
        s.copy_from_slice(&whole[..s.len()]);
    }
}

impl Kernel for Run<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let (circuit, p) = (&*CIRCUIT, self.plane);
        let phase = &circuit.phases[self.phase];
        let mut w = [[l.zero(); WIRES]; 2];
        for at in (0..p).step_by(L::BYTES) {
            let plane = |i: usize| i * p + at..(i + 1) * p;
            for (s, w) in w.iter_mut().enumerate() {
                if self.phase == 0 {
                    let mut bytes = [l.zero(); 8];
                    for j in 0..8 {
                        bytes[j] = load(l, &self.input[s][plane(j)]);
                    }
                    w[..8].copy_from_slice(&slice8(l, bytes));
                }
                for (g, &out) in phase.arrived.iter().enumerate() {
                    w[out] = load(l, &self.input[s][plane(g)]);
                }
                for &(wire, slot) in &phase.read {
                    w[wire] = load(l, &self.wires[plane(2 * slot + s)]);
                }
                for &(out, a, b) in &phase.xors {
                    w[out] = l.xor(w[a], w[b]);
                }
                for &(wire, slot) in &phase.kept {
                    store(l, w[wire], &mut self.wires[plane(2 * slot + s)]);
                }
            }
            for (g, &(a, b)) in phase.ands.iter().enumerate() {
                let (x, y) = ([w[0][a], w[1][a]], [w[0][b], w[1][b]]);
                let z = l.xor(l.and(x[0], l.xor(y[0], y[1])), l.and(x[1], y[0]));
                let message = &mut self.message[plane(g)];
                store(l, l.xor(load(l, message), z), message);
                if let Some(rec) = &mut self.rec {
                    let mut bytes = [[0u8; LONGEST]; 4];
                    l.store(x[0], &mut bytes[0]);
                    l.store(x[1], &mut bytes[1]);
                    l.store(y[0], &mut bytes[2]);
                    l.store(y[1], &mut bytes[3]);
                    let [xl, xr, yl, yr] = bytes.each_ref().map(|b| &b[..L::BYTES.min(p - at)]);
                    rec.product(
                        self.layer,
                        Place { offset: g * p + at, unit: Unit::Bits },
                        [xl, xr],
                        [yl, yr],
                    );
                }
            }
            if phase.ands.is_empty() {
                for (s, out) in self.output.iter_mut().enumerate() {
                    let mut planes = [l.zero(); 8];
                    for j in 0..8 {
                        planes[j] = w[s][circuit.outputs[j]];
                    }
                    let bytes = slice8(l, planes);
                    for j in 0..8 {
                        store(l, bytes[j], &mut out[plane(j)]);
                    }
                }
            }
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
