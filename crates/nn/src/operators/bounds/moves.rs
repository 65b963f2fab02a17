//! Cases: moves of elements, known values, and elements at secret places.

use super::nd::greatest;
use super::{Cases, Nd, ints, known, name, parts, text, weights};
use crate::{
    onnx::{Attribute, Data, Tensor},
    zoo::Writer,
};

const OVER: [f64; 2] = [-20.0, 20.0];

/// An operator that moves elements of an input to other places.
fn moved(
    all: &mut Cases,
    op: &'static str,
    [from, to]: [&[usize]; 2],
    build: impl Fn(&mut Writer) -> String,
    place: impl Fn(&[usize]) -> Vec<usize> + Clone + 'static,
) {
    let to = to.to_vec();
    all.add(op, from, OVER, 1, build, move |x| Nd::made(&to, |at| x.at(&place(at))).data);
}

fn shapes(all: &mut Cases) {
    let same: &[(&'static str, &[usize], &[i64])] = &[
        ("Flatten", &[2, 3, 4], &[]),
        ("Reshape", &[2, 3, 4], &[0, -1]),
        ("Squeeze", &[2, 1, 4], &[1]),
        ("Unsqueeze", &[2, 3, 4], &[1]),
    ];
    for (op, from, list) in same {
        let build = |w: &mut Writer| {
            let list = known(w, list);
            w.op(op, &if *op == "Flatten" { vec!["input"] } else { vec!["input", &list] }, &[])
        };
        all.add(op, from, OVER, 1, build, |x| x.data.clone());
    }
    for op in ["Shape", "Size"] {
        let build = |w: &mut Writer| {
            let size = w.op(op, &["input"], &[]);
            let size = w.op("Cast", &[&size], &[("to", Attribute::Int(1))]);
            w.op("Mul", &["input", &size], &[])
        };
        all.add(op, &[2, 3], [-2.0, 2.0], 1, build, move |x| {
            let by = |i: usize| if op == "Size" { 6.0 } else { [2.0, 3.0][i % 2] };
            (0..6).map(|i| x.data[i] * if op == "Size" { by(i) } else { 0.0 }).collect()
        });
    }
    all.0.retain(|case| case.op != "Shape");
    let build = |w: &mut Writer| {
        let shape = w.op("Shape", &["input"], &[]);
        let shape = w.op("Cast", &[&shape], &[("to", Attribute::Int(1))]);
        w.op("Mul", &["input", &shape], &[])
    };
    all.add("Shape", &[5, 2], [-2.0, 2.0], 1, build, |x| {
        (0..10).map(|i| x.data[i] * [5.0, 2.0][i % 2]).collect()
    });
    let constant = |w: &mut Writer| {
        let data = Data::Floats(vec![0.5, -1.25]);
        let tensor = Tensor { name: "v".into(), lengths: vec![2], data, kind: 0 };
        let value = w.op("Constant", &[], &[("value", Attribute::Tensor(tensor))]);
        w.op("Add", &["input", &value], &[])
    };
    all.add("Constant", &[4, 2], OVER, 1, constant, |x| {
        (0..8).map(|i| x.data[i] + [0.5, -1.25][i % 2]).collect()
    });
}

fn places(all: &mut Cases) {
    moved(
        all,
        "Transpose",
        [&[2, 3, 4], &[4, 2, 3]],
        |w| w.op("Transpose", &["input"], &[("perm", ints(&[2, 0, 1]))]),
        |at| vec![at[1], at[2], at[0]],
    );
    let concat = |w: &mut Writer| w.op("Concat", &["input", "input"], &[("axis", Attribute::Int(1))]);
    moved(all, "Concat", [&[2, 3], &[2, 6]], concat, |at| vec![at[0], at[1] % 3]);
    moved(
        all,
        "Expand",
        [&[2, 1, 4], &[3, 2, 5, 4]],
        |w| {
            let to = known(w, &[3, 1, 5, 1]);
            w.op("Expand", &["input", &to], &[])
        },
        |at| vec![at[1], 0, at[3]],
    );
    moved(
        all,
        "Tile",
        [&[2, 3], &[4, 9]],
        |w| {
            let times = known(w, &[2, 3]);
            w.op("Tile", &["input", &times], &[])
        },
        |at| vec![at[0] % 2, at[1] % 3],
    );
    moved(
        all,
        "Slice",
        [&[3, 5], &[2, 3]],
        |w| {
            let [starts, ends, axes, by] = [[1, -1], [9, -9], [0, 1], [1, -2]].map(|all| known(w, &all));
            w.op("Slice", &["input", &starts, &ends, &axes, &by], &[])
        },
        |at| vec![at[0] + 1, 4 - 2 * at[1]],
    );
    moved(
        all,
        "Split",
        [&[2, 6], &[2, 2]],
        |w| {
            let parts = known(w, &[2, 4]);
            let y = w.op("Split", &["input", &parts], &[("axis", Attribute::Int(1))]);
            w.outputs_of_last(&["rest"]);
            y
        },
        <[usize]>::to_vec,
    );
    moved(
        all,
        "Gather",
        [&[4, 3], &[2, 3]],
        |w| {
            let places = known(w, &[3, 1]);
            w.op("Gather", &["input", &places], &[])
        },
        |at| vec![[3, 1][at[0]], at[1]],
    );
    moved(
        all,
        "GatherElements",
        [&[2, 3], &[2, 2]],
        |w| {
            let places = w.integers(7, &[2, 2], vec![0, 2, -1, 1]);
            w.op("GatherElements", &["input", &places], &[("axis", Attribute::Int(1))])
        },
        |at| vec![at[0], [0, 2, 2, 1][2 * at[0] + at[1]]],
    );
    moved(
        all,
        "Compress",
        [&[2, 4], &[2, 2]],
        |w| {
            let truths = w.integers(9, &[4], vec![0, 1, 0, 1]);
            w.op("Compress", &["input", &truths], &[("axis", Attribute::Int(1))])
        },
        |at| vec![at[0], 2 * at[1] + 1],
    );
    moved(
        all,
        "GatherND",
        [&[2, 3, 4], &[3, 4]],
        |w| {
            let places = w.integers(7, &[3, 2], vec![0, 2, 1, 1, 0, 0]);
            w.op("GatherND", &["input", &places], &[])
        },
        |at| vec![[0, 1, 0][at[0]], [2, 1, 0][at[0]], at[1]],
    );
    moved(
        all,
        "ReverseSequence",
        [&[4, 2, 3], &[4, 2, 3]],
        |w| {
            let counts = known(w, &[3, 4]);
            w.op("ReverseSequence", &["input", &counts], &[])
        },
        |at| {
            let count = [3, 4][at[1]];
            vec![if at[0] < count { count - 1 - at[0] } else { at[0] }, at[1], at[2]]
        },
    );
    moved(
        all,
        "DepthToSpace",
        [&[1, 8, 2, 3], &[1, 2, 4, 6]],
        |w| w.op("DepthToSpace", &["input"], &[("blocksize", Attribute::Int(2))]),
        |at| vec![0, (at[2] % 2 * 2 + at[3] % 2) * 2 + at[1], at[2] / 2, at[3] / 2],
    );
    moved(
        all,
        "SpaceToDepth",
        [&[1, 2, 4, 6], &[1, 8, 2, 3]],
        |w| w.op("SpaceToDepth", &["input"], &[("blocksize", Attribute::Int(2))]),
        |at| vec![0, at[1] % 2, 2 * at[2] + at[1] / 4, 2 * at[3] + at[1] / 2 % 2],
    );
    let pad = |w: &mut Writer| {
        let pads = known(w, &[0, 1, 2, 0]);
        w.op("Pad", &["input", &pads], &[])
    };
    all.add("Pad", &[2, 3], OVER, 1, pad, |x| {
        Nd::made(&[4, 4], |at| x.near(&[at[0] as isize, at[1] as isize - 1]).unwrap_or(0.0)).data
    });
    let trilu = |w: &mut Writer| w.op("Trilu", &["input"], &[("upper", Attribute::Int(0))]);
    all.add("Trilu", &[4, 5], OVER, 1, trilu, |x| {
        Nd::made(&[4, 5], |at| if at[1] <= at[0] { x.at(at) } else { 0.0 }).data
    });
    let op = "ai.onnx.ml.ArrayFeatureExtractor";
    moved(
        all,
        op,
        [&[3, 5], &[3, 2]],
        |w| {
            let places = known(w, &[3, 1]);
            w.op(name(op), &["input", &places], &[])
        },
        |at| vec![at[0], [3, 1][at[1]]],
    );
    let op = "ai.onnx.ml.FeatureVectorizer";
    let joined = |w: &mut Writer| {
        let [a, b] = parts(w);
        w.op(name(op), &[&a, &b], &[("inputdimensions", ints(&[3, 3]))])
    };
    moved(all, op, [&[2, 4, 3], &[4, 6]], joined, |at| vec![at[1] / 3, at[0], at[1] % 3]);
    // An element of weights, and of a value, at a secret place.
    let (table, exact) = weights(51, &[5, 2], 2.0);
    let secret = |w: &mut Writer| {
        w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))])
    };
    all.add(
        "Gather",
        &[8, 5],
        [-6.0, 6.0],
        1,
        |w| {
            let (places, table) = (secret(w), w.weights(&[5, 2], table.clone()));
            w.op("Gather", &[&table, &places], &[])
        },
        move |x| x.data.chunks(5).flat_map(|line| [0, 1].map(|k| exact.at(&[greatest(line), k]))).collect(),
    );
    all.add(
        "GatherElements",
        &[8, 5],
        [-6.0, 6.0],
        1,
        |w| {
            let places = w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1))]);
            w.op("GatherElements", &["input", &places], &[("axis", Attribute::Int(1))])
        },
        |x| x.data.chunks(5).map(|line| line[greatest(line)]).collect(),
    );
}

fn scattered(all: &mut Cases) {
    for op in ["ScatterElements", "Scatter"] {
        let (by, exact) = weights(52, &[2, 2], 2.0);
        all.add(
            op,
            &[3, 4],
            OVER,
            1,
            |w| {
                let (places, by) = (w.integers(7, &[2, 2], vec![0, 2, 1, 3]), w.weights(&[2, 2], by.clone()));
                w.op(op, &["input", &places, &by], &[("axis", Attribute::Int(1))])
            },
            move |x| {
                let mut made = x.clone();
                for (k, place) in [0, 2, 1, 3].into_iter().enumerate() {
                    made.data[k / 2 * 4 + place] = exact.data[k];
                }
                made.data
            },
        );
    }
    type Two = fn(f64, f64) -> f64;
    let rows: [(&str, Two); 5] = [
        ("none", |_, y| y),
        ("add", |x, y| x + y),
        ("mul", |x, y| x * y),
        ("max", f64::max),
        ("min", f64::min),
    ];
    for (reduction, f) in rows {
        let (by, exact) = weights(53, &[2, 4], 2.0);
        let updates = |op: &'static str, all: &mut Cases, exact: Nd| {
            all.add(
                op,
                &[3, 4],
                [-6.0, 6.0],
                1,
                |w| {
                    let (places, lengths): (Vec<i64>, &[usize]) = match op {
                        "ScatterND" => (vec![2, 0], &[2, 1]),
                        _ => (vec![2, 2, 2, 2, 0, 0, 0, 0], &[2, 4]),
                    };
                    let (places, by) = (w.integers(7, lengths, places), w.weights(&[2, 4], by.clone()));
                    w.op(op, &["input", &places, &by], &[("reduction", text(reduction))])
                },
                move |x| {
                    let mut made = x.clone();
                    for (k, y) in exact.data.iter().enumerate() {
                        let at = [2, 0][k / 4] * 4 + k % 4;
                        made.data[at] = f(made.data[at], *y);
                    }
                    made.data
                },
            );
        };
        updates("ScatterND", all, exact.clone());
        updates("ScatterElements", all, exact);
    }
}

pub(super) fn add(all: &mut Cases) {
    shapes(all);
    places(all);
    scattered(all);
}
