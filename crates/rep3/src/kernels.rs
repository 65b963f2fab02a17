//! The local steps of the byte S-boxes: fused loops over natural bytes, one source for GFNI and for bit slices.
//!
//! A batch of `n` bytes is two halves of `h = n/2`. Nibble messages have `h` bytes: byte `i` carries the product of
//! byte `i` in its low nibble and that of byte `h + i` in its high one. Byte messages have `n` bytes in natural order.

use crate::field::{DOUBLE, HIGH, LOW, Nibble, POW4, POW16, SBOX_LINEAR, SQUARE};
use crate::record::{Place, Record, Unit};
use hushwire_simd::bytes::{ByteField, ByteKernel};
use std::ops::Range;

/// The longest vector of any [`ByteField`]; ranges that a kernel is called with start at multiples of it.
pub(crate) const LONGEST: usize = 512;

/// Both held shares of a byte string.
pub(crate) type Pair<'a> = [&'a [u8]; 2];
/// Both held shares of a byte string, to write.
pub(crate) type PairMut<'a> = [&'a mut [u8]; 2];
/// A verifier, if there is one.
pub(crate) type Recorder<'a> = Option<&'a mut (dyn Record + 'static)>;

/// `FULL`: a whole vector is there. Otherwise what is missing reads as zero.
#[inline(always)]
fn load<F: ByteField, const FULL: bool>(f: F, s: &[u8], at: usize) -> F::B {
    if FULL || s.len() - at >= F::BYTES {
        return f.load(&s[at..at + F::BYTES]);
    }
    let mut whole = [0; LONGEST];
    whole[..s.len() - at].copy_from_slice(&s[at..]);
    f.load(&whole)
}

/// `FULL`: there is room for a whole vector. Otherwise what does not fit is dropped.
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
fn load2<F: ByteField, const FULL: bool>(f: F, s: Pair<'_>, at: usize) -> [F::B; 2] {
    [load::<F, FULL>(f, s[0], at), load::<F, FULL>(f, s[1], at)]
}

/// One vector's worth of a step. Fast units are `FULL` and silent; the last, short one and those that a verifier
/// hears are not, so that their branches stay out of the loop that counts.
trait Step {
    /// The vectors to compute.
    fn range(&self) -> Range<usize>;
    /// Whether a verifier listens.
    fn heard(&self) -> bool;
    /// Computes the vector at `at`. `FULL` implies that nobody listens.
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize);
}

#[inline(always)]
fn every_unit<F: ByteField, S: Step>(f: F, mut step: S) {
    let Range { start: mut at, end } = step.range();
    if !step.heard() {
        while end - at >= F::BYTES {
            step.unit::<F, true>(f, at);
            at += F::BYTES;
        }
    }
    while at < end {
        step.unit::<F, false>(f, at);
        at += F::BYTES;
    }
}

#[inline(always)]
pub(crate) fn linear2<F: ByteField>(f: F, x: [F::B; 2], m: u64) -> [F::B; 2] {
    [f.linear(x[0], m), f.linear(x[1], m)]
}

/// Araki et al.'s local product: `x_l y_l + x_l y_r + x_r y_l`, still without its zero-share.
#[inline(always)]
pub(crate) fn cross<F: ByteField>(f: F, x: [F::B; 2], y: [F::B; 2]) -> F::B {
    f.xor(f.mul(x[0], f.xor(y[0], y[1])), f.mul(x[1], y[0]))
}

/// Tells the verifier the factors of `len` products at `place`.
#[inline(always)]
fn tell<F: ByteField>(
    f: F,
    rec: &mut Recorder<'_>,
    layer: usize,
    place: Place,
    len: usize,
    x: [F::B; 2],
    y: [F::B; 2],
) {
    if let Some(rec) = rec {
        let mut b = [[0u8; LONGEST]; 4];
        f.store(x[0], &mut b[0]);
        f.store(x[1], &mut b[1]);
        f.store(y[0], &mut b[2]);
        f.store(y[1], &mut b[3]);
        let len = len.min(F::BYTES);
        rec.product(layer, place, [&b[0][..len], &b[1][..len]], [&b[2][..len], &b[3][..len]]);
    }
}

/// The shares of a round key, with 0x63 folded in where the S-box left it out.
#[derive(Clone, Copy)]
pub(crate) struct RoundKey<'a> {
    /// One key for every block, repeated to [`LONGEST`] bytes; or one per block, laid out as the state.
    pub bytes: Pair<'a>,
    /// 0 for one key, 1 for one per block: what the place in the state is multiplied by.
    pub stride: usize,
}

impl RoundKey<'_> {
    /// No key: the bytes are S-box inputs already.
    pub(crate) const NONE: RoundKey<'static> = RoundKey { bytes: [&[0; LONGEST]; 2], stride: 0 };
}

/// Where a round's S-box inputs come from. Both shares have `n` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The bytes before the key is added.
    pub bytes: Pair<'a>,
    /// What happens to them.
    pub linear: Linear,
    /// What is added last.
    pub key: RoundKey<'a>,
}

/// What separates the bytes of a [`Source`] from S-box inputs (or, in the last round, from ciphertext).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linear {
    /// Nothing but the key.
    Nothing,
    /// The S-box's linear part, ShiftRows, MixColumns.
    Round {
        /// Whether the S-box's linear part is still to do (it is part of a Boolean S-box).
        affine: bool,
    },
    /// The S-box's linear part, ShiftRows.
    LastRound {
        /// As in `Round`.
        affine: bool,
    },
}

/// Byte `i` of the state comes from byte `SHIFT[i]`: ShiftRows, with column-major bytes as in FIPS-197.
const SHIFT: [u8; 16] = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11];

/// ShiftRows, then every column turned up by `r` rows.
const fn shift_turned(r: usize) -> [u8; 16] {
    let (mut out, mut i) = ([0; 16], 0);
    while i < 16 {
        out[i] = SHIFT[(i & !3) + ((i + r) & 3)];
        i += 1;
    }
    out
}

const TURNED: [[u8; 16]; 4] = [shift_turned(0), shift_turned(1), shift_turned(2), shift_turned(3)];

impl Source<'_> {
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
        Source { bytes: half(self.bytes, start, h), key: RoundKey { bytes: key, ..self.key }, ..*self }
    }
}

#[inline(always)]
fn shift<F: ByteField>(f: F, a: F::B, affine: bool) -> F::B {
    f.permute(if affine { f.linear(a, SBOX_LINEAR) } else { a }, &SHIFT)
}

/// ShiftRows and MixColumns: 2(a0 + a1) + a1 + a2 + a3 for every byte and those below it in its column.
#[inline(always)]
fn mix<F: ByteField>(f: F, a: F::B, affine: bool) -> F::B {
    let a = if affine { f.linear(a, SBOX_LINEAR) } else { a };
    let (a0, a1) = (f.permute(a, &TURNED[0]), f.permute(a, &TURNED[1]));
    let (a2, a3) = (f.permute(a, &TURNED[2]), f.permute(a, &TURNED[3]));
    let double = f.linear(f.xor(a0, a1), DOUBLE);
    f.xor(f.xor(double, a1), f.xor(a2, a3))
}

/// Both halves of a batch: (first byte, place of the nibble).
#[inline(always)]
fn halves(h: usize) -> [(usize, Nibble, Unit); 2] {
    [(0, LOW, Unit::LowNibble), (h, HIGH, Unit::HighNibble)]
}

/// Limits both shares to half `start` of a batch, so that tails end with it.
#[inline(always)]
fn half<'a>(s: Pair<'a>, start: usize, h: usize) -> Pair<'a> {
    [&s[0][start..start + h], &s[1][start..start + h]]
}

/// Tower, layer 1: `x`, `x^16` (kept) and the nibble of the norm `x·x^16`.
pub(crate) struct TowerNorm<'a> {
    pub layer: usize,
    pub source: Source<'a>,
    pub x16: PairMut<'a>,
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

/// [`TowerNorm`] by halves. `ROUND` fixes the source's linear part to a whole round, the common case.
struct NormStep<'a, const ROUND: bool> {
    layer: usize,
    sources: [Source<'a>; 2],
    kept: [PairMut<'a>; 2],
    message: &'a mut [u8],
    range: Range<usize>,
    rec: Recorder<'a>,
}

impl<'a, const ROUND: bool> Step for NormStep<'a, ROUND> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let h = self.message.len();
        let mut packed = load::<F, FULL>(f, self.message, at);
        // All loads come before the stores: buffers lie a multiple of 4 KiB apart, and a load waits for a store with the
        // same low twelve address bits.
        let mut x = [[packed; 2]; 2];
        let mut y = x;
        for i in 0..2 {
            let source =
                if ROUND { Source { linear: ROUND_LINEAR, ..self.sources[i] } } else { self.sources[i] };
            x[i] = source.get::<F, FULL>(f, at);
            y[i] = linear2(f, x[i], POW16);
        }
        for i in 0..2 {
            let (_, nibble, unit) = halves(h)[i];
            store::<F, FULL>(f, y[i][0], self.kept[i][0], at);
            store::<F, FULL>(f, y[i][1], self.kept[i][1], at);
            if !FULL {
                tell(f, &mut self.rec, self.layer, Place { offset: at, unit }, h - at, x[i], y[i]);
            }
            packed = f.xor(packed, f.linear(cross(f, x[i], y[i]), nibble.pack));
        }
        store::<F, FULL>(f, packed, self.message, at);
    }
}

/// A whole round after a byte S-box.
const ROUND_LINEAR: Linear = Linear::Round { affine: true };

impl ByteKernel for TowerNorm<'_> {
    type Out = ();
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) {
        let TowerNorm { layer, source, x16: [own, next], message, range, rec } = self;
        let h = message.len();
        let sources = [source.half(0, h), source.half(h, h)];
        let (ol, oh) = own.split_at_mut(h);
        let (nl, nh) = next.split_at_mut(h);
        let kept = [[ol, nl], [oh, nh]];
        if source.linear == ROUND_LINEAR {
            every_unit(f, NormStep::<true> { layer, sources, kept, message, range, rec });
        } else {
            every_unit(f, NormStep::<false> { layer, sources, kept, message, range, rec });
        }
    }
}

/// Tower, layer 2: `v^6 = v^2·v^4` in GF(2^4), from the norm `v` that just arrived (and is kept).
pub(crate) struct TowerSix<'a> {
    pub layer: usize,
    /// Nibbles of `v`.
    pub arrived: Pair<'a>,
    pub norm: PairMut<'a>,
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for TowerSix<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let v = load2::<F, FULL>(f, self.arrived, at);
        let place = (self.layer, at, self.message.len());
        let packed = load::<F, FULL>(f, self.message, at);
        let packed = nibble_products::<F, FULL>(f, packed, [v, v], [1, 2], &mut self.rec, place);
        store::<F, FULL>(f, v[0], self.norm[0], at);
        store::<F, FULL>(f, v[1], self.norm[1], at);
        store::<F, FULL>(f, packed, self.message, at);
    }
}

/// Tower, layer 3: `v^14 = v^6·v^8`, the inverse of the norm.
pub(crate) struct TowerFourteen<'a> {
    pub layer: usize,
    /// Nibbles of `v^6`, just arrived.
    pub arrived: Pair<'a>,
    /// Nibbles of `v`.
    pub norm: Pair<'a>,
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for TowerFourteen<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let factors = [load2::<F, FULL>(f, self.arrived, at), load2::<F, FULL>(f, self.norm, at)];
        let place = (self.layer, at, self.message.len());
        let packed = load::<F, FULL>(f, self.message, at);
        let packed = nibble_products::<F, FULL>(f, packed, factors, [0, 3], &mut self.rec, place);
        store::<F, FULL>(f, packed, self.message, at);
    }
}

/// Adds to `packed` the products of two nibble vectors' `2^powers[i]`-th powers, both halves.
/// `place`: layer, place and length of the message.
#[inline(always)]
fn nibble_products<F: ByteField, const FULL: bool>(
    f: F,
    mut packed: F::B,
    factors: [[F::B; 2]; 2],
    powers: [usize; 2],
    rec: &mut Recorder<'_>,
    (layer, at, h): (usize, usize, usize),
) -> F::B {
    for i in 0..2 {
        let (_, nibble, unit) = halves(h)[i];
        let x = linear2(f, factors[0], nibble.power[powers[0]]);
        let y = linear2(f, factors[1], nibble.power[powers[1]]);
        if !FULL {
            tell(f, rec, layer, Place { offset: at, unit }, h - at, x, y);
        }
        packed = f.xor(packed, f.linear(cross(f, x, y), nibble.pack));
    }
    packed
}

/// Tower, layer 4: `x^-1 = x^16 · v^-1`, whole bytes.
pub(crate) struct TowerInverse<'a> {
    pub layer: usize,
    /// Nibbles of `v^-1`, just arrived.
    pub arrived: Pair<'a>,
    pub x16: Pair<'a>,
    /// `n` bytes.
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for TowerInverse<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let h = self.arrived[0].len();
        let u = load2::<F, FULL>(f, self.arrived, at);
        for i in 0..2 {
            let (start, nibble, _) = halves(h)[i];
            let x = load2::<F, FULL>(f, half(self.x16, start, h), at);
            let y = linear2(f, u, nibble.power[0]);
            let out = &mut self.message[start..start + h];
            let z = f.xor(load::<F, FULL>(f, out, at), cross(f, x, y));
            store::<F, FULL>(f, z, out, at);
            if !FULL {
                tell(
                    f,
                    &mut self.rec,
                    self.layer,
                    Place { offset: start + at, unit: Unit::Byte },
                    h - at,
                    x,
                    y,
                );
            }
        }
    }
}

/// `gf256`, layer 1: `x` (kept) and `x^3 = x·x^2`.
pub(crate) struct Cube<'a> {
    pub layer: usize,
    pub source: Source<'a>,
    pub x: PairMut<'a>,
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for Cube<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let x = self.source.get::<F, FULL>(f, at);
        store::<F, FULL>(f, x[0], self.x[0], at);
        store::<F, FULL>(f, x[1], self.x[1], at);
        let y = linear2(f, x, SQUARE);
        if !FULL {
            let left = self.message.len() - at;
            tell(f, &mut self.rec, self.layer, Place { offset: at, unit: Unit::Byte }, left, x, y);
        }
        let z = f.xor(load::<F, FULL>(f, self.message, at), cross(f, x, y));
        store::<F, FULL>(f, z, self.message, at);
    }
}

/// `gf256`, layer 2: `x^15 = x^3·x^12` in the first `n` bytes of the message, `x^14 = x^2·x^12` in the next.
pub(crate) struct Fifteen<'a> {
    pub layer: usize,
    /// `x^3`, just arrived.
    pub arrived: Pair<'a>,
    pub x: Pair<'a>,
    /// `2n` bytes.
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for Fifteen<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let n = self.x[0].len();
        let cube = load2::<F, FULL>(f, self.arrived, at);
        let twelve = linear2(f, cube, POW4);
        let square = linear2(f, load2::<F, FULL>(f, self.x, at), SQUARE);
        for i in 0..2 {
            let factor = if i == 0 { cube } else { square };
            let out = &mut self.message[i * n..(i + 1) * n];
            let z = f.xor(load::<F, FULL>(f, out, at), cross(f, factor, twelve));
            store::<F, FULL>(f, z, out, at);
            if !FULL {
                let place = Place { offset: i * n + at, unit: Unit::Byte };
                tell(f, &mut self.rec, self.layer, place, n - at, factor, twelve);
            }
        }
    }
}

/// `gf256`, layer 3: `x^254 = (x^15)^16 · x^14`.
pub(crate) struct Inverse<'a> {
    pub layer: usize,
    /// `x^15 ‖ x^14`, just arrived.
    pub arrived: Pair<'a>,
    pub message: &'a mut [u8],
    pub range: Range<usize>,
    pub rec: Recorder<'a>,
}

impl Step for Inverse<'_> {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn heard(&self) -> bool {
        self.rec.is_some()
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let n = self.message.len();
        let x = linear2(f, load2::<F, FULL>(f, half(self.arrived, 0, n), at), POW16);
        let y = load2::<F, FULL>(f, half(self.arrived, n, n), at);
        if !FULL {
            tell(f, &mut self.rec, self.layer, Place { offset: at, unit: Unit::Byte }, n - at, x, y);
        }
        let z = f.xor(load::<F, FULL>(f, self.message, at), cross(f, x, y));
        store::<F, FULL>(f, z, self.message, at);
    }
}

/// Only a source's linear part: the end of the last round, or what comes before a Boolean S-box.
pub(crate) struct Apply<'a> {
    pub source: Source<'a>,
    pub out: PairMut<'a>,
}

impl Step for Apply<'_> {
    fn range(&self) -> Range<usize> {
        0..self.out[0].len()
    }
    fn heard(&self) -> bool {
        false
    }
    #[inline(always)]
    fn unit<F: ByteField, const FULL: bool>(&mut self, f: F, at: usize) {
        let x = self.source.get::<F, FULL>(f, at);
        store::<F, FULL>(f, x[0], self.out[0], at);
        store::<F, FULL>(f, x[1], self.out[1], at);
    }
}

macro_rules! kernels {
    ($($step:ident)*) => {$(
        impl ByteKernel for $step<'_> {
            type Out = ();
            #[inline(always)]
            fn run<F: ByteField>(self, f: F) {
                every_unit(f, self);
            }
        }
    )*};
}
kernels!(TowerSix TowerFourteen TowerInverse Cube Fifteen Inverse Apply);
