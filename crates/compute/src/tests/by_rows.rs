//! Tests that values computed on a part of the rows are those of the whole.

use crate::test_support::{computation, inputs};
use crate::{Computation, Op, Scalar, Tensor, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Some elements of a vector; all of a single element.
fn part(tensor: &Tensor, rows: std::ops::Range<usize>) -> Tensor {
    if tensor.lengths().is_empty() {
        return tensor.clone();
    }
    let record = tensor.scalar().record();
    let records = &tensor.records()[rows.start * record..rows.end * record];
    Tensor::from_records(tensor.scalar(), &[rows.len()], records)
}

/// The rows of values that are computed by rows are, range by range, the rows of the whole, and
/// need only the named inputs.
#[test]
fn ranges_of_random_computations_are_those_of_the_whole() {
    let mut compared = 0;
    for seed in 0..600 {
        let (c, n) = (computation(seed), 2 + seed as usize % 6);
        let given = inputs(&c, seed ^ 1, n);
        let Ok(c) = c.bind(&c.symbols_of(&given).unwrap()) else { continue };
        for at in 0..c.nodes().len() {
            let value = Value(at as u32);
            let Some(names) = c.by_rows(value) else { continue };
            let Ok(whole) = c.alone(&[value], |name| given.get(name)) else { continue };
            let rows = whole[0].lengths()[0];
            let middle = rows / 3 + seed as usize % 2;
            let mut records = vec![];
            for range in [0..middle.min(rows), middle.min(rows)..rows] {
                let parts: BTreeMap<&str, Tensor> =
                    names.iter().map(|name| (*name, part(&given[*name], range.clone()))).collect();
                let some = c.some_rows(
                    &[value],
                    |name| parts.get(name),
                    |n| {
                        assert_eq!(n, rows, "only vectors of as many rows");
                        range.len()
                    },
                );
                records.extend(some.unwrap_or_else(|e| panic!("{e}\n{c}"))[0].records());
            }
            assert_eq!(records, *whole[0].records(), "value {at} of\n{c}");
            compared += usize::from(!matches!(c.node(value).op, Op::Input(_)));
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn what_needs_other_rows_is_not_by_rows() {
    let text = "computation c\nmembers m\ninput x: u32[4] from m\ninput y: u32[4] from m\ninput s: u32 from m\ninput z: u32[3] from m\n\
                a = x * y + s\nb = a < x\nc = prefix_sum(x)\nd = x + sum(y)\ne = slice(x, 1..4)\nf = z + e\ng = select(b, x, c)\n\
                output a = a to m\noutput b = b to m\noutput c = c to m\noutput d = d to m\noutput f = f to m\noutput g = g to m\n";
    let c: Computation = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let found = |name: &str| {
        let output = c.outputs().iter().find(|output| output.name == name).unwrap();
        c.by_rows(output.value)
    };
    let all = BTreeSet::from(["s", "x", "y"]);
    assert_eq!([found("a"), found("b")], [Some(all.clone()), Some(all)]);
    for name in ["c", "d", "f", "g"] {
        assert_eq!(found(name), None, "{name}");
    }
    // Rows of another range are refused.
    let output = c.outputs()[0].value;
    let u32 = Scalar::parse("u32").unwrap();
    let [row, single] = [&[1][..], &[]].map(|lengths| Tensor::from_numbers(u32, lengths, [7]));
    let given = |name: &str| if name == "s" { Some(&single) } else { Some(&row) };
    assert!(c.some_rows(&[output], given, |_| 1).is_ok());
    assert!(c.some_rows(&[output], given, |_| 2).is_err());
}
