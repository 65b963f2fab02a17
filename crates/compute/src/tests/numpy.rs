//! NumPy as an independent oracle: integers, products of matrices, windows and sorts. Without NumPy
//! the test prints a note and is skipped; `HUSHWIRE_PYTHON` names an interpreter other than
//! `python3`.

use super::evaluator::run;
use crate::test_support::{Dice, tensor};
use crate::{Scalar, Tensor};
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Reads lines with a type, the lengths and elements of x and of y, and an expression; writes the
/// elements of each result.
const PROGRAM: &str = r#"
import sys, numpy as np
np.seterr(all="ignore")
def floor_to_zero(x, y):
    # Towards zero, and by zero all bits set.
    with np.errstate(all="ignore"):
        q = x // np.where(y == 0, 1, y)
        r = x - q * np.where(y == 0, 1, y)
        q = np.where((r != 0) & ((r < 0) != (y < 0)) | ((r != 0) & ((x < 0) != (y < 0))), q + 1, q)
        return np.where(y == 0, np.array(-1).astype(x.dtype), q).astype(x.dtype)
def conv2d(x, k, stride, pad, groups=1):
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])))
    w = np.lib.stride_tricks.sliding_window_view(x, k.shape[2:], axis=(2, 3))[:, :, ::stride[0], ::stride[1]]
    c, o = x.shape[1] // groups, k.shape[0] // groups
    parts = [np.einsum("nchwij,ocij->nohw", w[:, g*c:(g+1)*c], k[g*o:(g+1)*o], dtype=x.dtype) for g in range(groups)]
    return np.concatenate(parts, axis=1)
def pool(x, size, stride, of):
    w = np.lib.stride_tricks.sliding_window_view(x, size, axis=(-2, -1))[..., ::stride[0], ::stride[1], :, :]
    return of(w, axis=(-2, -1))
for line in sys.stdin:
    kind, shape_x, x, shape_y, y, expr = line.rstrip("\n").split("|", 5)
    dtype = {"i": "int", "u": "uint"}[kind[0]] + kind[1:]
    def read(shape, text):
        shape = [int(n) for n in shape.split()]
        return np.array([int(n) for n in text.split()], dtype=dtype).reshape(shape)
    x, y = read(shape_x, x), read(shape_y, y)
    print(*[int(n) for n in np.ravel(eval(expr))])
"#;

/// A case: its type, both shapes, and the expression in text and in `NumPy`.
type Case = (&'static str, Vec<usize>, Vec<usize>, &'static str, &'static str);

fn cases() -> Vec<Case> {
    let mut cases = vec![];
    for kind in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] {
        for (here, there) in [
            ("x + y", "x + y"),
            ("x - y", "x - y"),
            ("x * y", "x * y"),
            ("x / y", "floor_to_zero(x, y)"),
            ("x & y | !x ^ y", "x & y | ~x ^ y"),
            ("-x", "-x"),
            ("x >> 3", "x >> 3"),
            ("x << 3", "x << 3"),
            ("min(x, y)", "np.minimum(x, y)"),
            ("max(x, y)", "np.maximum(x, y)"),
            ("select(x < y, x, y * 3)", "np.where(x < y, x, y * 3)"),
            ("prefix_sum(x)", "np.cumsum(x, dtype=x.dtype)"),
            ("sum(x)", "np.sum(x, dtype=x.dtype)"),
            ("min_of(x)", "np.min(x)"),
            ("order(x, y)", "np.lexsort((y, x))"),
            ("median(x)", "np.sort(x)[(len(x) - 1) // 2]"),
            ("top_k(x, rows=5)", "np.sort(x)[::-1][:5]"),
            ("matmul(x, y)", "x @ y"),
        ] {
            cases.push((kind, vec![200], vec![200], here, there));
        }
        cases.push((kind, vec![7, 9], vec![9, 5], "matmul(x, y)", "x @ y"));
        cases.push((kind, vec![7, 9], vec![9], "matmul(x, y)", "x @ y"));
        cases.push((kind, vec![7, 9], vec![9], "sum(x, axis=1)", "np.sum(x, axis=1, dtype=x.dtype)"));
        cases.push((kind, vec![7, 9], vec![9], "argmax(x)", "np.argmax(x, axis=0)"));
        cases.push((kind, vec![7, 9], vec![9], "transpose(x, [1, 0])", "x.T"));
        for (here, there) in [
            ("conv2d(x, y)", "conv2d(x, y, (1, 1), (0, 0, 0, 0))"),
            ("conv2d(x, y, stride=[2, 1], pad=[1, 2, 0, 1])", "conv2d(x, y, (2, 1), (1, 2, 0, 1))"),
        ] {
            cases.push((kind, vec![2, 3, 6, 7], vec![4, 3, 3, 2], here, there));
        }
        cases.push((
            kind,
            vec![2, 4, 6, 7],
            vec![6, 2, 3, 3],
            "conv2d(x, y, groups=2)",
            "conv2d(x, y, (1, 1), (0,) * 4, 2)",
        ));
        cases.push((
            kind,
            vec![2, 4, 6, 7],
            vec![1],
            "pool_max(x, [2, 3], stride=[2, 2])",
            "pool(x, (2, 3), (2, 2), np.max)",
        ));
        cases.push((
            kind,
            vec![2, 4, 6, 7],
            vec![1],
            "pool_sum(x, [3, 2])",
            "pool(x, (3, 2), (1, 1), lambda w, axis: np.sum(w, axis=axis, dtype=x.dtype))",
        ));
    }
    cases
}

/// Elements as `NumPy` prints them, by type and lengths.
fn listed(t: &Tensor) -> String {
    let all: Vec<String> = (0..t.len()).map(|i| t.number(i).expect("64 bits at most").to_string()).collect();
    all.join(" ")
}

fn spaced(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn numpy_computes_the_same() {
    let python = std::env::var_os("HUSHWIRE_PYTHON").unwrap_or_else(|| "python3".into());
    let there = Command::new(&python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!(
            "skipped: {} has no NumPy; install it, or name another in HUSHWIRE_PYTHON",
            python.display()
        );
        return;
    }
    let mut dice = Dice(1);
    let mut asked = String::new();
    let mut expected = vec![];
    for (kind, lx, ly, here, there) in cases() {
        let scalar = Scalar::parse(kind).expect("a type");
        let [x, y] = [&lx, &ly].map(|l| tensor(&mut dice, scalar, l));
        asked += &format!("{kind}|{}|{}|{}|{}|{there}\n", spaced(&lx), listed(&x), spaced(&ly), listed(&y));
        let made = run([&format!("{kind}{lx:?}"), &format!("{kind}{ly:?}")], here, x, y);
        expected.push((format!("{kind} {here}"), listed(&made)));
    }
    let mut child = Command::new(&python)
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let out = child.wait_with_output().unwrap();
    writer.join().expect("the writer ends").expect("NumPy reads all cases");
    let told = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), expected.len(), "an answer to every case");
    for ((case, here), there) in expected.iter().zip(lines) {
        assert_eq!(here, there, "{case}");
    }
}
