//! The local step of a circuit's layer on shared bit planes: one source for circuits and for Boolean S-boxes.
//!
//! A batch of `8·p` instances has planes of `p` bytes. Slots are kept strip by strip, so that all of a circuit's wires
//! for a few instances lie together in the cache; a strip's length is LOCAL:
//!
//! ```text
//! strip 0: slot 0 own | next, slot 1 own | next, …    strip 1: slot 0 own | next, …
//! message of a layer: plane of AND 0, plane of AND 1, …   (p bytes each, whatever the strips)
//! ```

use crate::kernels::Pair;
use crate::record::{Place, Record, Unit};
use crate::{Context, Role, Shares};
use hushwire_block::Buffer;
use hushwire_circuit::{Layer, ONE, Slot, ZERO};
use hushwire_simd::{Kernel, Lanes};
use std::sync::Arc;

/// A verifier, and where in the message it hears of this layer's products lie.
pub(crate) struct Told<'a> {
    pub rec: &'a mut (dyn Record + 'static),
    /// The byte of the message at which these products begin.
    pub offset: usize,
    /// The number of bits of a plane's byte in the message: 8 unless a plane has a single byte.
    pub bits: usize,
}

impl<'a> Told<'a> {
    /// All of the message is these products'.
    pub(crate) fn all(rec: &'a mut (dyn Record + 'static)) -> Self {
        Told { rec, offset: 0, bits: 8 }
    }

    /// The place of the products of the planes' byte at `at`.
    fn place(&self, at: usize) -> Place {
        if self.bits == 8 {
            return Place { offset: self.offset + at, unit: Unit::Bits };
        }
        let bit = at * self.bits;
        let unit = Unit::FewBits { first: (bit % 8) as u8, bits: self.bits as u8 };
        Place { offset: self.offset + bit / 8, unit }
    }
}

/// LOCAL: bytes of a strip's planes. Long strips share the work of reading a gate among several vectors; short ones
/// keep large circuits in the cache.
const SHORT: usize = 64;
const LONG: usize = 256;
/// LOCAL: what all slots of a long strip may take.
const LONG_BYTES: usize = 2 << 20;

/// Planes outside of the slots: what a layer brings from there, and takes there.
#[derive(Default)]
pub(crate) struct Outside<'a> {
    /// `[plane, slot]` of `inputs`, before all gates.
    pub loads: &'a [[u32; 2]],
    pub inputs: &'a Inputs,
    /// `[slot, plane]` of `outputs`, after all gates.
    pub stores: &'a [[u32; 2]],
    pub outputs: Option<&'a mut Shares>,
}

/// Shares of planes that lie in several places, counted through all of them.
#[derive(Default)]
pub(crate) struct Inputs {
    parts: Vec<Arc<Shares>>,
    /// Of each plane, the part in which it is, and its first byte there.
    places: Vec<(u32, usize)>,
}

impl Inputs {
    /// All planes of these parts, `height` bytes each.
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

/// Both shares of every live wire of one batch.
#[derive(Default)]
pub(crate) struct Slots {
    bytes: Buffer,
    /// The most that they were.
    most: usize,
    count: usize,
    plane: usize,
    strip: usize,
}

impl Slots {
    /// Makes room for a run of a circuit of so many slots on planes of `plane` bytes, and writes the constants.
    pub(crate) fn begin(&mut self, role: Role, slots: usize, plane: usize) {
        let long = plane >= LONG && slots * 2 * LONG <= LONG_BYTES;
        self.strip = if long { LONG } else { SHORT };
        (self.count, self.plane) = (slots, plane);
        let bytes = plane.div_ceil(self.strip) * self.strip_bytes();
        self.most = self.most.max(bytes);
        self.bytes.set_len(bytes);
        for s in 0..plane.div_ceil(self.strip) {
            for share in 0..2 {
                self.at(s, ZERO, share).fill(0);
                self.at(s, ONE, share).fill(if role.constant_slot() == Some(share) { 0xff } else { 0 });
            }
        }
    }

    /// The most bytes that were in use.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    #[inline(always)]
    fn strip_bytes(&self) -> usize {
        2 * self.strip * self.count
    }

    /// A share (0 own, 1 next) of a slot in strip `s`.
    fn at(&mut self, s: usize, slot: Slot, share: usize) -> &mut [u8] {
        let from = self.place(s, slot, share);
        &mut self.bytes[from..from + self.strip]
    }

    /// The first byte of a share of a slot in strip `s`.
    fn place(&self, s: usize, slot: Slot, share: usize) -> usize {
        s * self.strip_bytes() + (2 * slot as usize + share) * self.strip
    }

    /// Writes a plane of a share (0 own, 1 next).
    pub(crate) fn put(&mut self, slot: Slot, share: usize, plane: &[u8]) {
        for (s, part) in plane.chunks(self.strip).enumerate() {
            self.at(s, slot, share)[..part.len()].copy_from_slice(part);
        }
    }

    /// Reads a plane of a share (0 own, 1 next).
    pub(crate) fn get(&self, slot: Slot, share: usize, plane: &mut [u8]) {
        for (s, part) in plane.chunks_mut(self.strip).enumerate() {
            let from = self.place(s, slot, share);
            part.copy_from_slice(&self.bytes[from..from + part.len()]);
        }
    }

    /// One vector of a share (0 own, 1 next) of a slot, from byte `at` of the plane on, a multiple of the vector.
    #[inline(always)]
    pub(crate) fn vector<L: Lanes>(&self, l: L, slot: Slot, share: usize, at: usize) -> L::V {
        let strip = self.strip;
        let place = at / strip * self.strip_bytes() + (2 * slot as usize + share) * strip + at % strip;
        l.load(&self.bytes[place..])
    }

    /// Runs one layer, of this number: `arrived` are the messages of the layer before, `message` holds zero-shares (both empty where
    /// there is none).
    pub(crate) fn layer(
        &mut self,
        cx: &Context,
        (layer, number): (&Layer, usize),
        arrived: Pair<'_>,
        message: &mut [u8],
        rec: Option<Told<'_>>,
        outside: Outside<'_>,
    ) {
        assert_eq!(arrived[0].len(), layer.products.len() * self.plane);
        assert_eq!(message.len(), layer.ands.len() * self.plane);
        cx.backend.run(Run { layer, number, arrived, message, rec, outside, slots: self });
    }

    /// Bytes to eight planes from `first` on: bit `j` of byte `i` of plane `b` is bit `b` of byte `j·p + i`.
    pub(crate) fn slice(&mut self, cx: &Context, first: Slot, bytes: Pair<'_>) {
        cx.backend.run(Slice { slots: self, first, bytes });
    }

    /// The reverse of [`Slots::slice`], for any eight slots.
    pub(crate) fn unslice(&self, cx: &Context, planes: &[Slot], bytes: [&mut [u8]; 2]) {
        cx.backend.run(Unslice { slots: self, planes, bytes });
    }
}

struct Run<'a> {
    layer: &'a Layer,
    number: usize,
    arrived: Pair<'a>,
    message: &'a mut [u8],
    rec: Option<Told<'a>>,
    outside: Outside<'a>,
    slots: &'a mut Slots,
}

impl Kernel for Run<'_> {
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

impl Run<'_> {
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

    /// One strip. `FULL`: all of its bytes are there and nobody listens.
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

/// 64 bytes, the longest vector.
const LONGEST: usize = 64;

/// Adds the front of a vector to `out`, which is not longer.
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
    bytes: Pair<'a>,
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

/// The front of `s`; what is missing of a vector reads as zero.
#[inline(always)]
pub(crate) fn load_part<L: Lanes>(l: L, s: &[u8]) -> L::V {
    if s.len() >= L::BYTES {
        return l.load(s);
    }
    let mut whole = [0; LONGEST];
    whole[..s.len()].copy_from_slice(s);
    l.load(&whole)
}

/// The front of a vector to `s`, as much as fits.
#[inline(always)]
pub(crate) fn store_part<L: Lanes>(l: L, v: L::V, s: &mut [u8]) {
    if s.len() >= L::BYTES {
        return l.store(v, s);
    }
    let mut whole = [0; LONGEST];
    l.store(v, &mut whole);
    s.copy_from_slice(&whole[..s.len()]);
}
