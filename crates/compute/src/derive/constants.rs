//! The constants of the fixed-point functions, computed in integers, so that every machine has the
//! same ones.

/// The number of fractional bits in this module.
pub(super) const Q: u32 = 60;

/// Rounds a constant of [`Q`] fractional bits to `bits` fractional bits.
pub(super) fn rounded(x: i128, bits: u32) -> i128 {
    (x + (1 << (Q - bits - 1))) >> (Q - bits)
}

/// The logarithm of `a / b`, both positive: 2 artanh((a − b) / (a + b)).
pub(super) fn ln(a: i128, b: i128) -> i128 {
    let z = ((a - b) << Q) / (a + b);
    let square = (z * z) >> Q;
    let (mut term, mut sum, mut k) = (z, 0, 1);
    while term != 0 && k < 200 {
        sum += term / k;
        term = (term * square) >> Q;
        // The powers of a negative number converge to −1 step: make it 0.
        term += i128::from(term < 0);
        k += 2;
    }
    2 * sum
}

/// The logarithm of 2.
pub(super) fn ln_2() -> i128 {
    ln(2, 1)
}

/// The reciprocal of the logarithm of 2.
pub(super) fn log_e() -> i128 {
    (1 << (2 * Q)) / ln_2()
}

/// Taylor's coefficients of 2^(h + 1/2), the lowest first: enough for `bits` bits if |h| is at most
/// 1/2.
pub(super) fn powers(bits: u32) -> Vec<i128> {
    let mut coefficient = 2u128.wrapping_shl(2 * Q).isqrt().cast_signed();
    let mut all = vec![];
    while coefficient >> all.len() >= 1 << (Q - bits - 2) {
        all.push(rounded(coefficient, bits));
        coefficient = ((coefficient * ln_2()) >> Q) / all.len() as i128;
    }
    all
}

/// 2 / √π, the slope of the error function at 0.
pub(super) fn erf_slope() -> i128 {
    ((1u128 << (2 * Q + 1)) / pi().isqrt()).cast_signed()
}

/// 1 / √(2π), the density of the normal distribution at 0.
pub(super) fn density() -> i128 {
    let root = (1u128 << (2 * Q + 1)).isqrt().cast_signed();
    (erf_slope() * root) >> (Q + 2)
}

/// π / 4.
pub(super) fn eighth_turn() -> i128 {
    (pi() >> (PI - Q + 2)).cast_signed()
}

/// The number of fractional bits of [`pi`].
const PI: u32 = 120;

/// π, by J. Machin's formula: 16 arctan(1/5) − 4 arctan(1/239).
fn pi() -> u128 {
    let arctan = |n: i128, times: i128| {
        let (mut power, mut sum, mut k) = ((times << PI) / n, 0, 1);
        while power != 0 {
            sum += power / k;
            power /= -n * n;
            k += 2;
        }
        sum
    };
    // 16 << 120 would not fit: a quarter of π, four times.
    4 * (arctan(5, 4) - arctan(239, 1)).cast_unsigned()
}

/// 1 / 2π with this many fractional bits, digit by digit.
pub(super) fn over_two_pi(bits: u32) -> i128 {
    let (pi, mut rest, mut found) = (pi(), 1u128, 0i128);
    for _ in 0..PI + bits - 1 {
        rest *= 2;
        found = found * 2 + i128::from(rest >= pi);
        rest -= if rest >= pi { pi } else { 0 };
    }
    found
}

/// Taylor's coefficients of the sine of π/2 (h + 1/2), the lowest first: enough for `bits` bits if
/// |h| is at most 1/2.
pub(super) fn quarter_turn(bits: u32) -> Vec<i128> {
    let half_pi = (pi() >> (PI + 1 - Q)).cast_signed();
    // The sine and the cosine of half a right angle are √½.
    let mut size = (1u128 << (2 * Q - 1)).isqrt().cast_signed();
    let mut all: Vec<i128> = vec![];
    while size >> all.len() >= 1 << (Q - bits - 2) {
        let sign = if all.len() % 4 < 2 { 1 } else { -1 };
        all.push(sign * rounded(size, bits));
        size = ((size * half_pi) >> Q) / all.len() as i128;
    }
    all
}
