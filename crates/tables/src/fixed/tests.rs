//! Functions of fixed-point numbers, compared with floating point.

use super::{
    FRAC, INSIDE, arc_cosine, arc_sine, arc_tangent, cosine, exponential, logarithm, power, root, sine,
};

fn fixed(x: f64) -> i128 {
    (x * 2f64.powi(FRAC.into())).round() as i128
}

fn float(x: i128) -> f64 {
    x as f64 / 2f64.powi(FRAC.into())
}

/// Compares a function with its floating-point counterpart, at numbers as they are represented.
fn compare(name: &str, at: &[f64], ours: impl Fn(i128) -> i128, theirs: impl Fn(f64) -> f64) {
    for x in at {
        let x = fixed(*x);
        let (found, wanted) = (float(ours(x)), theirs(float(x)));
        let near = 1.5 * 2f64.powi(-i32::from(FRAC)) + wanted.abs() * 1e-13;
        assert!((found - wanted).abs() <= near, "{name}({}) is {wanted}, not {found}", float(x));
    }
}

const ALL: [f64; 14] =
    [0.0, 1.0, -1.0, 0.5, -0.25, 2.0, 3.0, -7.75, 1e-6, 0.999_999, 40.5, -20.0, 41.9, -63.0];

#[test]
fn roots_and_powers() {
    let positive = ALL.map(|x: f64| x.abs() * 1000.0 + 1e-7);
    compare("sqrt", &positive, root, f64::sqrt);
    compare("ln", &positive, |x| logarithm(x, super::ONE), f64::ln);
    compare("exp", &ALL, |x| exponential(x).0, f64::exp);
    assert!(exponential(fixed(60.0)).1 && !exponential(fixed(41.0)).1);
    for y in [0.5, 2.5, -1.25, 0.0, 3.0] {
        let some = [0.1, 0.5, 1.0, 2.0, 10.0, 99.5];
        for x in some {
            let (found, wanted) = (float(power(fixed(x), fixed(y)).0), float(fixed(x)).powf(y));
            assert!(
                (found - wanted).abs() <= 1e-9 + wanted.abs() * 1e-9,
                "{x} ** {y} is {wanted}, not {found}"
            );
        }
    }
}

#[test]
fn angles() {
    let all = [&ALL[..], &[1.57, 3.1, 4.71, 6.3, 100.0, -1000.5, 12_345.678]].concat();
    compare("sin", &all, |x| sine(x, FRAC), f64::sin);
    compare("cos", &all, |x| cosine(x, FRAC), f64::cos);
    compare("atan", &all, arc_tangent, f64::atan);
    let within: Vec<f64> = (-20..=20).map(|n| f64::from(n) / 20.0).collect();
    compare("asin", &within, |x| arc_sine(x, FRAC), f64::asin);
    compare("acos", &within, |x| arc_cosine(x, FRAC), f64::acos);
}

/// With all bits, sines and cosines equal those of floating point, whose own steps below 1 are
/// 2^-53.
#[test]
fn angles_inside() {
    let inside = |x: i128| x as f64 / 2f64.powi(INSIDE.into());
    for n in -4000..4000 {
        let x = fixed(f64::from(n) * 0.001_57);
        let (sin, cos) = float(x).sin_cos();
        assert!((inside(sine(x, INSIDE)) - sin).abs() <= 2f64.powi(-52), "sin({})", float(x));
        assert!((inside(cosine(x, INSIDE)) - cos).abs() <= 2f64.powi(-52), "cos({})", float(x));
        // A number beyond 1 by rounding has the angle of 1.
        let back = arc_cosine(cosine(x, INSIDE), INSIDE);
        let turns = (float(x) / core::f64::consts::TAU).round() * core::f64::consts::TAU;
        assert!((float(back) - (float(x) - turns).abs()).abs() <= 2f64.powi(-31), "acos(cos({}))", float(x));
    }
    let one = 1i128 << INSIDE;
    assert_eq!(arc_cosine(one + (1 << 8), INSIDE), 0);
    assert_eq!(arc_cosine(one, INSIDE), 0);
}
