//! Distances on a sphere, in the forms in which queries write them.

use super::*;
use crate::{
    algebra::{Column, ColumnType, Value},
    functions::tests::{call, int, values_of},
};
use core::f64::consts::PI;

const REAL: ColumnType = ColumnType::Double { frac: 32 };
const NAMES: [&str; 4] = ["lat", "lon", "to_lat", "to_lon"];

/// A number with an even number of steps, so that halves of differences are exact, too.
fn fixed(x: f64) -> i128 {
    (x * 2f64.powi(31)).round() as i128 * 2
}

/// A value for the columns.
pub(crate) fn value(x: f64) -> Value {
    Value::Number(fixed(x))
}

fn float(x: i128) -> f64 {
    x as f64 / 2f64.powi(32)
}

/// Latitudes and longitudes of pairs of points: equal, near, and opposite ones.
pub(crate) fn points() -> Vec<[f64; 4]> {
    let mut all = vec![];
    for (lat, lon) in [(0.0, 0.0), (0.9, 2.2), (-1.2, -3.0), (PI / 2.0, 1.0), (-0.3, 0.1)] {
        for by in [0.0, 1e-9, 1e-7, 1e-5, 3e-4, 0.01, 0.4, 1.5] {
            all.push([lat, lon, lat - by, lon]);
            all.push([lat, lon, lat, lon + by]);
            all.push([lat, lon, lat - 0.6 * by, lon - 0.8 * by]);
            all.push([lat, lon, -lat + by, lon + PI]);
        }
    }
    all
}

/// The angle between points, by a formula that is precise everywhere.
fn angle([lat, lon, to_lat, to_lon]: [f64; 4]) -> f64 {
    let ((s, c), (to_s, to_c), (ds, dc)) = (lat.sin_cos(), to_lat.sin_cos(), (to_lon - lon).sin_cos());
    (to_c * ds).hypot(c * to_s - s * to_c * dc).atan2(s * to_s + c * to_c * dc)
}

pub(crate) fn schema() -> Schema {
    Schema(NAMES.map(|name| Column::new(name, REAL).within(fixed(-7.0), fixed(7.0))).to_vec())
}

fn of(name: &str, all: Vec<Expr>) -> Expr {
    call(name, all, &schema()).unwrap()
}

fn sin(of_angle: Expr) -> Expr {
    of("sin", vec![of_angle])
}

fn cos(of_angle: Expr) -> Expr {
    of("cos", vec![of_angle])
}

fn times(a: Expr, b: Expr) -> Expr {
    a.arithmetic(Arithmetic::Multiply, b)
}

fn plus(a: Expr, b: Expr) -> Expr {
    a.arithmetic(Arithmetic::Add, b)
}

fn minus(a: Expr, b: Expr) -> Expr {
    a.arithmetic(Arithmetic::Subtract, b)
}

fn half(a: Expr) -> Expr {
    a.arithmetic(Arithmetic::Divide, int(2))
}

/// The cosine of the angle between the points.
fn cosine() -> Expr {
    let [lat, lon, to_lat, to_lon] = [0, 1, 2, 3].map(Expr::Column);
    let ahead = times(cos(minus(to_lon, lon)), times(cos(lat.clone()), cos(to_lat.clone())));
    plus(ahead, times(sin(to_lat), sin(lat)))
}

/// The square of the sine of half the angle.
fn haversine(square_of_half: impl Fn(Expr) -> Expr) -> Expr {
    let [lat, lon, to_lat, to_lon] = [0, 1, 2, 3].map(Expr::Column);
    let beside = times(times(cos(lat.clone()), cos(to_lat.clone())), square_of_half(minus(to_lon, lon)));
    plus(square_of_half(minus(to_lat, lat)), beside)
}

/// The ways to write the angle: by an arc cosine, with and without limits, and by an arc sine.
pub(crate) fn ways() -> Vec<Expr> {
    let by_root = |of_half: Expr| times(int(2), of("asin", vec![of("sqrt", vec![of_half])]));
    let square = |a: Expr| of("power", vec![sin(half(a)), int(2)]);
    let from_cosine = |a: Expr| half(minus(int(1), cos(a)));
    let most = |a: Expr| of("greatest", vec![int(-1), of("least", vec![int(1), a])]);
    let chosen = Expr::Case {
        branches: vec![(cosine().compare(hushwire_compute::Comparison::Greater, int(1)), int(1))],
        otherwise: Some(Box::new(cosine())),
    };
    vec![
        of("acos", vec![cosine()]),
        of("acos", vec![most(cosine())]),
        of("acos", vec![chosen]),
        of("acos", vec![Expr::Negate(Box::new(Expr::Negate(Box::new(cosine()))))]),
        by_root(haversine(square)),
        by_root(haversine(from_cosine)),
    ]
}

#[test]
fn distances_have_the_digits_of_floating_point() {
    let points: Vec<[i128; 4]> = points().into_iter().map(|p| p.map(fixed)).collect();
    let columns = schema().0.into_iter().enumerate();
    let columns: Vec<_> = columns
        .map(|(at, column)| (column, points.iter().map(|p| Value::Number(p[at])).collect::<Vec<_>>()))
        .collect();
    let mut lost = 0;
    for way in ways() {
        let made = precise(&way, &schema());
        let shown = way.shown(&schema()).to_string();
        assert_eq!(made.check(&schema()).unwrap().ty, REAL);
        let (found, opening) = values_of(made, &columns);
        assert_eq!(opening, 0);
        let (before, _) = values_of(way, &columns);
        for ((point, found), before) in points.iter().zip(found).zip(before) {
            let expected = angle(point.map(float));
            let near = expected.min(PI - expected).max(f64::MIN_POSITIVE);
            let bound = 2f64.powi(-30) + (2f64.powi(-52) / near).min(2f64.powi(-26));
            let found = found.number().map(float);
            let fits = found.is_some_and(|found| (found - expected).abs() <= bound);
            assert!(fits, "{shown} of {point:?}: {found:?} in place of {expected}");
            lost += usize::from(before.number().is_none_or(|n| (float(n) - expected).abs() > bound));
        }
    }
    assert!(lost > 100, "without all bits {lost} angles are less exact");
}

/// Expressions that are not sines stay unchanged, and so do functions that take no more bits.
#[test]
fn other_arguments_stay() {
    let large = Column::new("n", ColumnType::BigInt);
    let schema = Schema([schema().0, vec![large]].concat());
    let same = |e: &Expr| assert_eq!(precise(e, &schema), *e);
    let bound = |name: &str, e: Expr| call(name, vec![e], &schema).unwrap();
    same(&bound("acos", Expr::Column(0)));
    same(&sin(Expr::Column(0)));
    same(&bound("sqrt", Expr::Column(4)));
    // 2^64 with 60 fractional bits has no root here.
    same(&bound("sqrt", times(Expr::Column(4), sin(Expr::Column(0)))));
    let made = precise(&bound("sqrt", times(int(9), sin(Expr::Column(0)))), &schema);
    assert_eq!(made.check(&schema).unwrap().ty, REAL);
    assert_ne!(made, bound("sqrt", times(int(9), sin(Expr::Column(0)))));
    assert_eq!(precise(&made, &schema), made);
}
