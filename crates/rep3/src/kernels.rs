//! The local steps of the byte S-boxes: fused loops over natural bytes, with one source for GFNI
//! and bit slices.
//!
//! A batch of `n` bytes is two halves of `h = n/2`. Nibble messages have `h` bytes: byte `i`
//! carries the product of byte `i` in its low nibble and the product of byte `h + i` in its high
//! one. Byte messages have `n` bytes in natural order.

use crate::field::{DOUBLE, HIGH, LOW, Nibble, POW4, POW16, SBOX_LINEAR, SQUARE};
use crate::record::{Place, Record, Unit};
use hushwire_simd::bytes::{ByteField, ByteKernel};
use std::ops::Range;

/// The longest vector of any [`ByteField`]. Ranges that a kernel is called with start at multiples
/// of it.
pub(crate) const LONGEST: usize = 512;

/// Both held shares of a byte string.
pub(crate) type ByteShares<'a> = [&'a [u8]; 2];
/// Both held shares of a byte string, writable.
pub(crate) type ByteSharesMut<'a> = [&'a mut [u8]; 2];
/// A verifier, if there is one.
pub(crate) type Recorder<'a> = Option<&'a mut (dyn Record + 'static)>;

/// Loads a vector. `FULL`: the whole vector exists. Otherwise missing bytes read as zero.
#[inline(always)]
fn load<F: ByteField, const FULL: bool>(f: F, s: &[u8], at: usize) -> F::B {
    if FULL || s.len() - at >= F::BYTES {
        return f.load(&s[at..at + F::BYTES]);
    }
    let mut whole = [0; LONGEST];
    whole[..s.len() - at].copy_from_slice(&s[at..]);
    f.load(&whole)
}

/// Stores a vector. `FULL`: there is room for the whole vector. Otherwise the excess is dropped.
#[inline(always)]
fn store<F: ByteField, const FULL: bool>(f: F, v: F::B, s: &mut [u8], at: usize) {
    if FULL || s.len() - at >= F::BYTES {
        return f.store(v, &mut s[at..at + F::BYTES]);
    }
    let mut whole = [0; LONGEST];
    f.store(v, &mut whole);
    let left = s.len() - at;
    s[at..].copy_from_slice(&whole[..left]);
}

#[inline(always)]
fn load2<F: ByteField, const FULL: bool>(f: F, s: ByteShares<'_>, at: usize) -> [F::B; 2] {
    [load::<F, FULL>(f, s[0], at), load::<F, FULL>(f, s[1], at)]
}

/// The part of a layer's message that its steps fill, and its recorder.
pub(crate) struct LayerMessage<'a> {
    /// The layer's number, for the verifier.
    pub number: usize,
    /// The whole message, which holds its zero-shares.
    pub message: &'a mut [u8],
    /// The vectors to compute, as places in one part of the message.
    pub range: Range<usize>,
    /// A verifier, if there is one.
    pub rec: Recorder<'a>,
}

/// The local step of a layer, one vector at a time.
pub(crate) trait Step {
    /// Computes the vector at `at`. `FULL`: the whole vector exists and no verifier records. The
    /// last, short vector and the vectors that a verifier records are not `FULL`. Their branches
    /// stay out of the loop that takes most of the time. Bit slices are so slow that a branch does
    /// not matter, and have no `FULL` form.
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize);
}

/// Applies a step to a whole layer.
pub(crate) struct LayerStep<'a, S>(pub LayerMessage<'a>, pub S);

impl<S: Step> ByteKernel for LayerStep<'_, S> {
    type Out = ();
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) {
        let LayerStep(layer, step) = self;
        every_unit(f, layer, step);
    }
}

#[inline(always)]
fn every_unit<F: ByteField, S: Step>(f: F, mut layer: LayerMessage<'_>, mut step: S) {
    let Range { start: mut at, end } = layer.range;
    if !F::SLICED && layer.rec.is_none() {
        while end - at >= F::BYTES {
            step.unit::<F, true>(f, &mut layer, at);
            at += F::BYTES;
        }
    }
    while at < end {
        step.unit::<F, false>(f, &mut layer, at);
        at += F::BYTES;
    }
}

#[inline(always)]
pub(crate) fn linear2<F: ByteField>(f: F, x: [F::B; 2], m: u64) -> [F::B; 2] {
    [f.linear(x[0], m), f.linear(x[1], m)]
}

/// The local product of Araki et al.: `x_l y_l + x_l y_r + x_r y_l`, without its zero-share.
#[inline(always)]
pub(crate) fn cross<F: ByteField>(f: F, x: [F::B; 2], y: [F::B; 2]) -> F::B {
    f.xor(f.mul(x[0], f.xor(y[0], y[1])), f.mul(x[1], y[0]))
}

/// Gives the verifier, if there is one, the factors of the products at `offset`; `left` is the
/// number of bytes that are not padding.
#[inline(always)]
fn tell<F: ByteField, const FULL: bool>(
    f: F,
    layer: &mut LayerMessage<'_>,
    (offset, unit, left): (usize, Unit, usize),
    x: [F::B; 2],
    y: [F::B; 2],
) {
    if FULL {
        return;
    }
    if let Some(rec) = &mut layer.rec {
        let mut b = [[0u8; LONGEST]; 4];
        f.store(x[0], &mut b[0]);
        f.store(x[1], &mut b[1]);
        f.store(y[0], &mut b[2]);
        f.store(y[1], &mut b[3]);
        let len = left.min(F::BYTES);
        let place = Place { offset, unit };
        rec.product(layer.number, place, [&b[0][..len], &b[1][..len]], [&b[2][..len], &b[3][..len]]);
    }
}

/// Adds products, of a byte each, to the vector at `at` of a part of the message.
#[inline(always)]
fn byte_products<F: ByteField, const FULL: bool>(
    f: F,
    layer: &mut LayerMessage<'_>,
    part: Range<usize>,
    at: usize,
    x: [F::B; 2],
    y: [F::B; 2],
) {
    tell::<F, FULL>(f, layer, (part.start + at, Unit::Byte, part.len() - at), x, y);
    let out = &mut layer.message[part];
    let z = f.xor(load::<F, FULL>(f, out, at), cross(f, x, y));
    store::<F, FULL>(f, z, out, at);
}

/// Adds the products of both halves' factors, projected to nibbles, to the message's vector at
/// `at`.
#[inline(always)]
fn nibble_products<F: ByteField, const FULL: bool>(
    f: F,
    layer: &mut LayerMessage<'_>,
    at: usize,
    x: [[F::B; 2]; 2],
    y: [[F::B; 2]; 2],
) {
    let mut packed = load::<F, FULL>(f, layer.message, at);
    for i in 0..2 {
        let left = layer.message.len() - at;
        tell::<F, FULL>(f, layer, (at, HALVES[i].1, left), x[i], y[i]);
        packed = f.xor(packed, f.linear(cross(f, x[i], y[i]), HALVES[i].0.pack));
    }
    store::<F, FULL>(f, packed, layer.message, at);
}

/// The shares of a round key. They include 0x63 where the S-box omits it.
#[derive(Clone, Copy)]
pub(crate) struct RoundKey<'a> {
    /// One key for every block, repeated to [`LONGEST`] bytes; or one per block, laid out as the
    /// state.
    pub bytes: ByteShares<'a>,
    /// 0 for one key, 1 for one per block. The place in the state is multiplied by it.
    pub stride: usize,
}

impl RoundKey<'_> {
    /// No key: the bytes are S-box inputs already.
    pub(crate) const NONE: RoundKey<'static> = RoundKey { bytes: [&[0; LONGEST]; 2], stride: 0 };
}

/// The source of a round's S-box inputs. Both shares have `n` bytes.
#[derive(Clone, Copy)]
pub(crate) struct SboxSource<'a> {
    /// The bytes before the key is added.
    pub bytes: ByteShares<'a>,
    /// The linear step that is applied to them.
    pub linear: Linear,
    /// The round key, added last.
    pub key: RoundKey<'a>,
}

/// The linear step from the bytes of an [`SboxSource`] to S-box inputs (or, in the last round, to
/// ciphertext).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linear {
    /// The key is added, and nothing else is done.
    Nothing,
    /// The S-box's linear part, ShiftRows, MixColumns.
    Round {
        /// Whether the S-box's linear part is still to be applied (it is part of a Boolean S-box).
        affine: bool,
    },
    /// The S-box's linear part, ShiftRows.
    LastRound {
        /// As in `Round`.
        affine: bool,
    },
}

/// Byte `i` of the state comes from byte `SHIFT[i]`: ShiftRows, with column-major bytes as in
/// FIPS-197.
const SHIFT: [u8; 16] = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11];

/// ShiftRows, then every column rotated up by `r` rows.
const fn shift_turned(r: usize) -> [u8; 16] {
    let (mut out, mut i) = ([0; 16], 0);
    while i < 16 {
        out[i] = SHIFT[(i & !3) + ((i + r) & 3)];
        i += 1;
    }
    out
}

const TURNED: [[u8; 16]; 4] = [shift_turned(0), shift_turned(1), shift_turned(2), shift_turned(3)];

impl SboxSource<'_> {
    /// Bytes `at..` of both shares, ready for the S-box.
    #[inline(always)]
    fn get<F: ByteField, const FULL: bool>(&self, f: F, at: usize) -> [F::B; 2] {
        let [a, b] = load2::<F, FULL>(f, self.bytes, at);
        let [a, b] = match self.linear {
            Linear::Nothing => [a, b],
            Linear::Round { affine } => [mix(f, a, affine), mix(f, b, affine)],
            Linear::LastRound { affine } => [shift(f, a, affine), shift(f, b, affine)],
        };
        let key = load2::<F, FULL>(f, self.key.bytes, at * self.key.stride);
        [f.xor(a, key[0]), f.xor(b, key[1])]
    }

    /// The half of a batch that starts at `start`.
    #[inline(always)]
    fn half(&self, start: usize, h: usize) -> Self {
        let key = if self.key.stride == 0 { self.key.bytes } else { half(self.key.bytes, start, h) };
        SboxSource { bytes: half(self.bytes, start, h), key: RoundKey { bytes: key, ..self.key }, ..*self }
    }
}

#[inline(always)]
fn shift<F: ByteField>(f: F, a: F::B, affine: bool) -> F::B {
    f.permute(if affine { f.linear(a, SBOX_LINEAR) } else { a }, &SHIFT)
}

/// ShiftRows and MixColumns: 2(a0 + a1) + a1 + a2 + a3 for every byte a0 and the bytes below it in
/// its column.
#[inline(always)]
fn mix<F: ByteField>(f: F, a: F::B, affine: bool) -> F::B {
    let a = if affine { f.linear(a, SBOX_LINEAR) } else { a };
    let (a0, a1) = (f.permute(a, &TURNED[0]), f.permute(a, &TURNED[1]));
    let (a2, a3) = (f.permute(a, &TURNED[2]), f.permute(a, &TURNED[3]));
    let double = f.linear(f.xor(a0, a1), DOUBLE);
    f.xor(f.xor(double, a1), f.xor(a2, a3))
}

/// The position in a byte of the nibbles of a batch's first and second half.
const HALVES: [(Nibble, Unit); 2] = [(LOW, Unit::LowNibble), (HIGH, Unit::HighNibble)];

/// Limits both shares to the half of a batch that begins at `start`, so that tails end with it.
#[inline(always)]
fn half<'a>(s: ByteShares<'a>, start: usize, h: usize) -> ByteShares<'a> {
    [&s[0][start..start + h], &s[1][start..start + h]]
}

/// Tower, layer 1: `x`, `x^16` (kept) and the nibble of the norm `x·x^16`.
pub(crate) struct TowerNorm<'a> {
    pub layer: LayerMessage<'a>,
    pub source: SboxSource<'a>,
    pub x16: ByteSharesMut<'a>,
}

/// [`TowerNorm`] on both halves. `ROUND` fixes the source's linear part to a whole round, the
/// common case.
struct NormStep<'a, const ROUND: bool> {
    sources: [SboxSource<'a>; 2],
    kept: [ByteSharesMut<'a>; 2],
}

impl<const ROUND: bool> Step for NormStep<'_, ROUND> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        // All loads come before the stores. Buffers lie a multiple of 4 KiB apart, and a load waits
        // for a store with the same low twelve address bits.
        let zero = f.splat(&[0; 16]);
        let mut x = [[zero; 2]; 2];
        let mut y = x;
        for i in 0..2 {
            let source =
                if ROUND { SboxSource { linear: ROUND_LINEAR, ..self.sources[i] } } else { self.sources[i] };
            x[i] = source.get::<F, FULL>(f, at);
            y[i] = linear2(f, x[i], POW16);
        }
        nibble_products::<F, FULL>(f, layer, at, x, y);
        for i in 0..2 {
            store::<F, FULL>(f, y[i][0], self.kept[i][0], at);
            store::<F, FULL>(f, y[i][1], self.kept[i][1], at);
        }
    }
}

/// A whole round after a byte S-box.
const ROUND_LINEAR: Linear = Linear::Round { affine: true };

impl ByteKernel for TowerNorm<'_> {
    type Out = ();
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) {
        let TowerNorm { layer, source, x16: [own, next] } = self;
        let h = layer.message.len();
        let sources = [source.half(0, h), source.half(h, h)];
        let (ol, oh) = own.split_at_mut(h);
        let (nl, nh) = next.split_at_mut(h);
        let kept = [[ol, nl], [oh, nh]];
        if !F::SLICED && source.linear == ROUND_LINEAR {
            every_unit(f, layer, NormStep::<true> { sources, kept });
        } else {
            every_unit(f, layer, NormStep::<false> { sources, kept });
        }
    }
}

/// Tower, layer 2: `v^6 = v^2·v^4` in GF(2^4), from the norm `v`, which has just arrived and is
/// kept.
pub(crate) struct TowerSix<'a> {
    /// Nibbles of `v`.
    pub arrived: ByteShares<'a>,
    pub norm: ByteSharesMut<'a>,
}

impl Step for TowerSix<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let v = load2::<F, FULL>(f, self.arrived, at);
        let x = [linear2(f, v, LOW.power[1]), linear2(f, v, HIGH.power[1])];
        let y = [linear2(f, v, LOW.power[2]), linear2(f, v, HIGH.power[2])];
        nibble_products::<F, FULL>(f, layer, at, x, y);
        store::<F, FULL>(f, v[0], self.norm[0], at);
        store::<F, FULL>(f, v[1], self.norm[1], at);
    }
}

/// Tower, layer 3: `v^14 = v^6·v^8`, the inverse of the norm.
pub(crate) struct TowerFourteen<'a> {
    /// Nibbles of `v^6`, which have just arrived.
    pub arrived: ByteShares<'a>,
    /// Nibbles of `v`.
    pub norm: ByteShares<'a>,
}

impl Step for TowerFourteen<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let (six, v) = (load2::<F, FULL>(f, self.arrived, at), load2::<F, FULL>(f, self.norm, at));
        let x = [linear2(f, six, LOW.power[0]), linear2(f, six, HIGH.power[0])];
        let y = [linear2(f, v, LOW.power[3]), linear2(f, v, HIGH.power[3])];
        nibble_products::<F, FULL>(f, layer, at, x, y);
    }
}

/// Tower, layer 4: `x^-1 = x^16 · v^-1`, whole bytes. The message has `n` bytes, in two parts.
pub(crate) struct TowerInverse<'a> {
    /// Nibbles of `v^-1`, which have just arrived.
    pub arrived: ByteShares<'a>,
    pub x16: ByteShares<'a>,
}

impl Step for TowerInverse<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let h = self.arrived[0].len();
        let u = load2::<F, FULL>(f, self.arrived, at);
        for i in 0..2 {
            let x = load2::<F, FULL>(f, half(self.x16, i * h, h), at);
            let y = linear2(f, u, HALVES[i].0.power[0]);
            byte_products::<F, FULL>(f, layer, i * h..(i + 1) * h, at, x, y);
        }
    }
}

/// `gf256`, layer 1: `x` (kept) and `x^3 = x·x^2`.
pub(crate) struct Cube<'a> {
    pub source: SboxSource<'a>,
    pub x: ByteSharesMut<'a>,
}

impl Step for Cube<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let x = self.source.get::<F, FULL>(f, at);
        store::<F, FULL>(f, x[0], self.x[0], at);
        store::<F, FULL>(f, x[1], self.x[1], at);
        let n = layer.message.len();
        byte_products::<F, FULL>(f, layer, 0..n, at, x, linear2(f, x, SQUARE));
    }
}

/// `gf256`, layer 2: `x^15 = x^3·x^12` in the first `n` bytes of the message, `x^14 = x^2·x^12` in
/// the next.
pub(crate) struct Fifteen<'a> {
    /// The bytes of `x^3`, which have just arrived.
    pub arrived: ByteShares<'a>,
    pub x: ByteShares<'a>,
}

impl Step for Fifteen<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let n = self.x[0].len();
        let cube = load2::<F, FULL>(f, self.arrived, at);
        let twelve = linear2(f, cube, POW4);
        let square = linear2(f, load2::<F, FULL>(f, self.x, at), SQUARE);
        byte_products::<F, FULL>(f, layer, 0..n, at, cube, twelve);
        byte_products::<F, FULL>(f, layer, n..2 * n, at, square, twelve);
    }
}

/// `gf256`, layer 3: `x^254 = (x^15)^16 · x^14`.
pub(crate) struct Inverse<'a> {
    /// The bytes of `x^15 ‖ x^14`, which have just arrived.
    pub arrived: ByteShares<'a>,
}

impl Step for Inverse<'_> {
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, layer: &mut LayerMessage<'_>, at: usize) {
        let n = layer.message.len();
        let x = linear2(f, load2::<F, FULL>(f, half(self.arrived, 0, n), at), POW16);
        let y = load2::<F, FULL>(f, half(self.arrived, n, n), at);
        byte_products::<F, FULL>(f, layer, 0..n, at, x, y);
    }
}

/// Applies only a source's linear part: the end of the last round, or the step before a Boolean
/// S-box.
pub(crate) struct Apply<'a> {
    pub source: SboxSource<'a>,
    pub out: ByteSharesMut<'a>,
}

impl ByteKernel for Apply<'_> {
    type Out = ();
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) {
        let [own, next] = self.out;
        let mut at = 0;
        while !F::SLICED && own.len() - at >= F::BYTES {
            let x = self.source.get::<F, true>(f, at);
            store::<F, true>(f, x[0], own, at);
            store::<F, true>(f, x[1], next, at);
            at += F::BYTES;
        }
        while at < own.len() {
            let x = self.source.get::<F, false>(f, at);
            store::<F, false>(f, x[0], own, at);
            store::<F, false>(f, x[1], next, at);
            at += F::BYTES;
        }
    }
}
