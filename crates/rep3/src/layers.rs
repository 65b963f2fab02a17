//! The local step of a circuit's layer on shared bit planes, with one source for circuits and for
//! Boolean S-boxes.
//!
//! A batch of `8·p` instances has planes of `p` bytes. Slots are kept strip by strip, so that all
//! of a circuit's wires for a few instances are together in the cache. A strip's length is LOCAL:
//!
//! ```text
//! strip 0: slot 0 own | next, slot 1 own | next, …    strip 1: slot 0 own | next, …
//! message of a layer: plane of AND 0, plane of AND 1, …   (p bytes each, whatever the strips)
//! ```

use crate::kernels::ByteShares;
use crate::record::{Place, Record, Unit};
use crate::slots::{LONG, LONGEST, SHORT, Slots, load_part, store_part};
use crate::{Context, Shares};
use hushwire_circuit::{CircuitLayer, Slot};
use hushwire_simd::{Kernel, Lanes};
use std::sync::Arc;

/// A verifier, and the place of this layer's products in the message that it records.
pub(crate) struct Told<'a> {
    pub rec: &'a mut (dyn Record + 'static),
    /// The byte of the message at which these products begin.
    pub offset: usize,
    /// The number of bits of a plane's byte in the message: 8 unless a plane has one byte.
    pub bits: usize,
}

impl<'a> Told<'a> {
    /// For a message that has only these products.
    pub(crate) fn all(rec: &'a mut (dyn Record + 'static)) -> Self {
        Told { rec, offset: 0, bits: 8 }
    }

    /// The place in the message of the products of byte `at` of the planes.
    fn place(&self, at: usize) -> Place {
        if self.bits == 8 {
            return Place { offset: self.offset + at, unit: Unit::Bits };
        }
        let bit = at * self.bits;
        let unit = Unit::FewBits { first: (bit % 8) as u8, bits: self.bits as u8 };
        Place { offset: self.offset + bit / 8, unit }
    }
}

/// Planes outside the slots: those that a layer loads, and those that it stores.
#[derive(Default)]
pub(crate) struct Outside<'a> {
    /// Pairs `[plane, slot]` of `inputs`, loaded before all gates.
    pub loads: &'a [[u32; 2]],
    pub inputs: &'a Inputs,
    /// Pairs `[slot, plane]` of `outputs`, stored after all gates.
    pub stores: &'a [[u32; 2]],
    pub outputs: Option<&'a mut Shares>,
}

/// Shares of planes in several buffers, numbered through all of them.
#[derive(Default)]
pub(crate) struct Inputs {
    parts: Vec<Arc<Shares>>,
    /// The part that holds each plane, and the plane's first byte there.
    places: Vec<(u32, usize)>,
}

impl Inputs {
    /// Takes all planes of these parts, of `height` bytes each.
    pub(crate) fn new(parts: Vec<Arc<Shares>>, height: usize) -> Inputs {
        let of = |(k, part): (usize, &Arc<Shares>)| {
            (0..part.len() / height).map(move |plane| (k as u32, plane * height))
        };
        let places = parts.iter().enumerate().flat_map(of).collect();
        Inputs { parts, places }
    }

    /// Both shares of a plane from byte `at` on.
    #[inline(always)]
    fn plane(&self, plane: u32, at: usize, len: usize) -> [&[u8]; 2] {
        let (part, first) = self.places[plane as usize];
        let part = &self.parts[part as usize];
        [&part.own[first + at..][..len], &part.next[first + at..][..len]]
    }
}

/// No inputs.
static NONE: Inputs = Inputs { parts: vec![], places: vec![] };

impl Default for &Inputs {
    fn default() -> Self {
        &NONE
    }
}

impl Slots {
    /// Runs layer number `layer`. `arrived` holds the messages of the layer before, `message` holds
    /// zero-shares; each is empty if there is no such message.
    pub(crate) fn layer(
        &mut self,
        cx: &Context,
        (layer, number): (&CircuitLayer, usize),
        arrived: ByteShares<'_>,
        message: &mut [u8],
        rec: Option<Told<'_>>,
        outside: Outside<'_>,
    ) {
        assert_eq!(arrived[0].len(), layer.products.len() * self.plane);
        assert_eq!(message.len(), layer.ands.len() * self.plane);
        cx.backend.run(LayerRun { layer, number, arrived, message, rec, outside, slots: self });
    }

    /// Cuts bytes into eight planes from `first` on: bit `j` of byte `i` of plane `b` is bit `b` of
    /// byte `j·p + i`.
    pub(crate) fn slice(&mut self, cx: &Context, first: Slot, bytes: ByteShares<'_>) {
        cx.backend.run(Slice { slots: self, first, bytes });
    }

    /// The reverse of [`Slots::slice`], for any eight slots.
    pub(crate) fn unslice(&self, cx: &Context, planes: &[Slot], bytes: [&mut [u8]; 2]) {
        cx.backend.run(Unslice { slots: self, planes, bytes });
    }
}

struct LayerRun<'a> {
    layer: &'a CircuitLayer,
    number: usize,
    arrived: ByteShares<'a>,
    message: &'a mut [u8],
    rec: Option<Told<'a>>,
    outside: Outside<'a>,
    slots: &'a mut Slots,
}

impl Kernel for LayerRun<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        if self.slots.strip == LONG {
            self.strips::<L, { 2 * LONG }>(l);
        } else {
            self.strips::<L, { 2 * SHORT }>(l);
        }
    }
}

impl LayerRun<'_> {
    #[inline(always)]
    fn strips<L: Lanes, const W: usize>(&mut self, l: L) {
        let (plane, size) = (self.slots.plane, W / 2);
        for s in 0..plane.div_ceil(size) {
            if self.rec.is_none() && (s + 1) * size <= plane {
                self.strip::<L, W, true>(l, s);
            } else {
                self.strip::<L, W, false>(l, s);
            }
        }
    }

    /// Runs one strip. `FULL`: all of its bytes exist and no verifier records.
    #[inline(always)]
    fn strip<L: Lanes, const W: usize, const FULL: bool>(&mut self, l: L, s: usize) {
        let (plane, count, size) = (self.slots.plane, self.slots.count, W / 2);
        let at = s * size;
        let len = if FULL { size } else { size.min(plane - at) };
        let slots = &mut self.slots.bytes.as_chunks_mut::<W>().0[s * count..(s + 1) * count];
        for &[plane, slot] in self.outside.loads {
            let [own, next] = self.outside.inputs.plane(plane, at, len);
            let slot = &mut slots[slot as usize];
            slot[..len].copy_from_slice(own);
            slot[size..size + len].copy_from_slice(next);
        }
        for (j, &slot) in self.layer.products.iter().enumerate() {
            let (slot, from) = (&mut slots[slot as usize], j * plane + at);
            slot[..len].copy_from_slice(&self.arrived[0][from..from + len]);
            slot[size..size + len].copy_from_slice(&self.arrived[1][from..from + len]);
        }
        for &[a, b, out] in &self.layer.xors {
            let (a, b, out) = (a as usize, b as usize, out as usize);
            for v in 0..W / L::BYTES {
                let o = v * L::BYTES;
                let sum = l.xor(l.load(&slots[a][o..]), l.load(&slots[b][o..]));
                l.store(sum, &mut slots[out][o..]);
            }
        }
        for (j, &[a, b]) in self.layer.ands.iter().enumerate() {
            let (a, b) = (&slots[a as usize], &slots[b as usize]);
            let message = &mut self.message[j * plane + at..][..len];
            for v in 0..size / L::BYTES {
                let o = v * L::BYTES;
                if !FULL && o >= len {
                    break;
                }
                let (x, x_next) = (l.load(&a[o..]), l.load(&a[size + o..]));
                let (y, y_next) = (l.load(&b[o..]), l.load(&b[size + o..]));
                let z = l.xor(l.and(x, l.xor(y, y_next)), l.and(x_next, y));
                if FULL {
                    let message = &mut message[o..o + L::BYTES];
                    l.store(l.xor(l.load(message), z), message);
                } else {
                    let end = len.min(o + L::BYTES);
                    xor_part(l, z, &mut message[o..end]);
                }
            }
            if let (false, Some(told)) = (FULL, &mut self.rec) {
                let place = told.place(j * plane + at);
                let of = |s: &[u8; W]| [s[..len].to_vec(), s[size..size + len].to_vec()];
                let (x, y) = (of(a), of(b));
                told.rec.product(self.number, place, [&x[0], &x[1]], [&y[0], &y[1]]);
            }
        }
        let Some(outputs) = &mut self.outside.outputs else { return };
        for &[slot, out] in self.outside.stores {
            let (slot, to) = (&slots[slot as usize], out as usize * plane + at);
            outputs.own[to..to + len].copy_from_slice(&slot[..len]);
            outputs.next[to..to + len].copy_from_slice(&slot[size..size + len]);
        }
    }
}

/// Adds the front of a vector to `out`, which is at most as long.
#[inline(always)]
fn xor_part<L: Lanes>(l: L, v: L::V, out: &mut [u8]) {
    let mut whole = [0; LONGEST];
    l.store(v, &mut whole);
    for i in 0..out.len() {
        out[i] ^= whole[i];
    }
}

struct Slice<'a> {
    slots: &'a mut Slots,
    first: Slot,
    bytes: ByteShares<'a>,
}

impl Kernel for Slice<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (plane, strip, row) = (self.slots.plane, self.slots.strip, self.slots.strip_bytes());
        for at in (0..plane).step_by(L::BYTES) {
            let place = at / strip * row + 2 * strip * self.first as usize + at % strip;
            for h in 0..2 {
                let mut v = [l.zero(); 8];
                for j in 0..8 {
                    v[j] = load_part(l, &self.bytes[h][j * plane + at..(j + 1) * plane]);
                }
                l.slice(&mut v);
                for j in 0..8 {
                    l.store(v[j], &mut self.slots.bytes[place + (2 * j + h) * strip..]);
                }
            }
        }
    }
}

struct Unslice<'a> {
    slots: &'a Slots,
    planes: &'a [Slot],
    bytes: [&'a mut [u8]; 2],
}

impl Kernel for Unslice<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let plane = self.slots.plane;
        for at in (0..plane).step_by(L::BYTES) {
            for h in 0..2 {
                let mut v = [l.zero(); 8];
                for j in 0..8 {
                    v[j] = self.slots.vector(l, self.planes[j], h, at);
                }
                l.slice(&mut v);
                for j in 0..8 {
                    store_part(l, v[j], &mut self.bytes[h][j * plane + at..(j + 1) * plane]);
                }
            }
        }
    }
}
