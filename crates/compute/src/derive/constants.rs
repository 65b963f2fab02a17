//! The constants of the fixed-point functions, computed in integers, so that every machine has the
//! same ones.

/// The number of fractional bits in this module.
const Q: u32 = 60;

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
