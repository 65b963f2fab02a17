//! Elementwise products of shared vectors in one round: the primitive alone.

use crate::field::{HIGH, LOW, Nibble};
use crate::kernels::{LONGEST, cross, linear2};
use crate::steps::one_round;
use crate::{Context, Rep3, ShareError, Shares};
use hushwire_machine::drive::{Exchanged, Latch, Round};
use hushwire_machine::{Cost, NetError, gated};
use hushwire_simd::bytes::{ByteField, ByteKernel};
use hushwire_simd::{Kernel, Lanes};

/// The field of a shared byte string's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// GF(2), eight elements a byte.
    Gf2,
    /// GF(2^4) in the basis 1, γ, γ², γ³ of the AES field's subfield (γ = 3^17), two elements a
    /// byte.
    Gf16,
    /// GF(2^8) modulo x^8+x^4+x^3+x+1, one element a byte.
    Gf256,
}

impl Field {
    /// The three fields.
    pub const ALL: [Field; 3] = [Field::Gf2, Field::Gf16, Field::Gf256];
}

/// One party's endpoint of `z = x·y`, element by element.
pub struct Multiply {
    field: Field,
    cx: Context,
    x: Shares,
    y: Shares,
    z: Shares,
    done: bool,
    latch: Latch,
}

impl Multiply {
    /// Multiplies two shared vectors.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all four shares have equal lengths.
    pub fn new(field: Field, cx: Context, x: Shares, y: Shares) -> Result<Self, ShareError> {
        let expected = x.own.len();
        for found in [x.next.len(), y.own.len(), y.next.len()] {
            if found != expected {
                return Err(ShareError::Length { what: "a factor's share", expected, found });
            }
        }
        let z = Rep3 { own: Vec::new(), next: Vec::new() };
        Ok(Multiply { field, cx, x, y, z, done: false, latch: Latch::with_own() })
    }

    /// Writes the products over `z`, so that its memory is used again.
    #[must_use]
    pub fn with_buffer(mut self, z: Shares) -> Self {
        self.z = z;
        self
    }

    /// Shares of the products, after the run.
    #[must_use]
    pub fn product(&self) -> &Shares {
        &self.z
    }

    /// The factors and the product, for the next run.
    #[must_use]
    pub fn into_parts(self) -> [Shares; 3] {
        [self.x, self.y, self.z]
    }
}

/// LOCAL: message bytes that are masked and multiplied at a time, so that masks stay in the
/// first-level cache.
const CHUNK: usize = 4096;

/// Computes `message += x_l(y_l + y_r) + x_r y_l` over GF(2), for each bit.
struct Bits<'a> {
    x: [&'a [u8]; 2],
    y: [&'a [u8]; 2],
    message: &'a mut [u8],
}

/// 64 bytes, a multiple of the length of every vector.
const LINE: usize = 64;

impl Kernel for Bits<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (message, tail) = self.message.as_chunks_mut::<LINE>();
        let [x, x_next] = [self.x[0].as_chunks::<LINE>().0, self.x[1].as_chunks::<LINE>().0];
        let [y, y_next] = [self.y[0].as_chunks::<LINE>().0, self.y[1].as_chunks::<LINE>().0];
        let n = message.len();
        let (x, x_next, y, y_next) = (&x[..n], &x_next[..n], &y[..n], &y_next[..n]);
        for i in 0..n {
            for at in (0..LINE).step_by(L::BYTES) {
                let (a, a_next) = (l.load(&x[i][at..]), l.load(&x_next[i][at..]));
                let (b, b_next) = (l.load(&y[i][at..]), l.load(&y_next[i][at..]));
                let z = l.xor(l.and(a, l.xor(b, b_next)), l.and(a_next, b));
                let masked = l.xor(l.load(&message[i][at..]), z);
                l.store(masked, &mut message[i][at..]);
            }
        }
        let from = LINE * n;
        for (i, m) in tail.iter_mut().enumerate() {
            let ([x, x_next], [y, y_next]) = (self.x.map(|s| s[from + i]), self.y.map(|s| s[from + i]));
            *m ^= (x & (y ^ y_next)) ^ (x_next & y);
        }
    }
}

/// Computes `message += x_l(y_l + y_r) + x_r y_l` over 512 bytes, whole or padded.
struct Products<'a> {
    field: Field,
    x: [&'a [u8]; 2],
    y: [&'a [u8]; 2],
    message: &'a mut [u8],
}

const STRIDE: usize = LONGEST;

/// The products of one nibble in every byte.
#[inline(always)]
fn nibbles<F: ByteField>(f: F, x: [F::B; 2], y: [F::B; 2], nibble: &Nibble) -> F::B {
    let (x, y) = (linear2(f, x, nibble.power[0]), linear2(f, y, nibble.power[0]));
    f.linear(cross(f, x, y), nibble.pack)
}

impl ByteKernel for Products<'_> {
    type Out = ();
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) {
        let mut b = [[0u8; STRIDE]; 5];
        for (i, message) in self.message.chunks_mut(STRIDE).enumerate() {
            let (at, len) = (i * STRIDE, message.len());
            for (b, s) in b.iter_mut().zip([self.x[0], self.x[1], self.y[0], self.y[1]]) {
                b[..len].copy_from_slice(&s[at..at + len]);
            }
            b[4][..len].copy_from_slice(message);
            for o in (0..STRIDE).step_by(F::BYTES) {
                let x = [f.load(&b[0][o..]), f.load(&b[1][o..])];
                let y = [f.load(&b[2][o..]), f.load(&b[3][o..])];
                let product = match self.field {
                    Field::Gf16 => f.xor(nibbles(f, x, y, &LOW), nibbles(f, x, y, &HIGH)),
                    _ => cross(f, x, y),
                };
                let z = f.load(&b[4][o..]);
                f.store(f.xor(z, product), &mut b[4][o..]);
            }
            message.copy_from_slice(&b[4][..len]);
        }
    }
}

gated!([] Multiply, NetError;
    fn cost(&self) -> Option<Cost> {
        one_round(self.exchange())
    }
);

impl Multiply {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        (!self.done).then(|| Round::even("product", self.x.len()))
    }

    fn say(&mut self, message: &mut [u8]) -> Result<(), NetError> {
        let (x, y) = (self.x.pair(), self.y.pair());
        for (i, message) in message.chunks_mut(CHUNK).enumerate() {
            let range = i * CHUNK..i * CHUNK + message.len();
            self.cx.prss.zero_words(self.cx.address, (range.start / 16) as u64, message);
            let (x, y) = (x.map(|s| &s[range.clone()]), y.map(|s| &s[range.clone()]));
            match self.field {
                Field::Gf2 => self.cx.backend.run(Bits { x, y, message }),
                field => self.cx.backend.run_bytes(Products { field, x, y, message }),
            }
        }
        Ok(())
    }

    fn hear(&mut self, Exchanged { own, heard }: Exchanged<'_>) -> Result<(), NetError> {
        self.done = true;
        for (z, arrived) in [(&mut self.z.own, own), (&mut self.z.next, heard)] {
            z.clear();
            z.extend_from_slice(arrived);
        }
        Ok(())
    }
}
