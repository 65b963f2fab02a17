//! Attention of the standard set, composed of products of matrices, a choice and a softmax.

use super::{pick, prelude::*};
use crate::onnx::Attribute;

/// The operator.
pub(super) const ALL: &[Operator] = &[Operator {
    inputs: 7,
    outputs: 4,
    attributes: &[
        "is_causal",
        "kv_num_heads",
        "left_window_size",
        "q_num_heads",
        "qk_matmul_output_mode",
        "right_window_size",
        "scale",
        "softcap",
        "softmax_precision",
    ],
    error: Bound { operand: 4.0, element: 1.0, ..Bound::steps(2.0) }.over("operands up to 2"),
    ..Operator::several(
        "Attention",
        "Products of queries and keys, less what a mask leaves out, through a softmax, times values.",
        read,
    )
}];

/// The value of masked products. It is less than all others.
const LEAST: f32 = -32_768.0;

/// Splits a value into heads, `[n, heads, rows, columns]`. Also tells whether they were joined.
fn heads(op: &Reading<'_>, import: &mut Import, k: usize, name: &str) -> Result<(Known, bool), Fault> {
    let x = op.input(import, k)?;
    let lengths = import.lengths_of(&x);
    match lengths[..] {
        [_, _, _, _] => Ok((x, false)),
        [n, rows, columns] => {
            let count = usize::try_from(op.int(name, 0)?).ok();
            let count = count.filter(|count| *count > 0 && columns.is_multiple_of(*count));
            let count = count.ok_or_else(|| {
                op.error(format!("its {name} does not fit {columns} columns"), "save the model anew")
            })?;
            let x = pick::reshaped(op, import, x, vec![n, rows, count, columns / count])?;
            Ok((pick::turned(op, import, &x, &[0, 2, 1, 3])?, true))
        }
        _ => {
            let cause = format!("its input {k} has the lengths {lengths:?}");
            Err(op.error(cause, "give it [n, rows, columns] or [n, heads, rows, columns]"))
        }
    }
}

/// The products that all members know to be allowed or masked: `[n or 1, 1, rows, columns]`.
struct Allowed {
    lengths: [usize; 4],
    all: Vec<bool>,
    /// Whether any product is masked.
    any: bool,
}

/// Masks that depend only on the places of queries and keys.
fn allowed(
    op: &Reading<'_>,
    import: &Import,
    [n, rows, columns]: [usize; 3],
    past: usize,
) -> Result<Allowed, Fault> {
    let counts = match op.maybe(import, 6)? {
        None => None,
        Some(Known::Ints(_, all)) if all.len() == n => Some(all),
        Some(_) => {
            let cause = "its numbers of keys (nonpad_kv_seqlen) are not known before the run";
            return Err(op.error(cause, "give them as a public input (--public)"));
        }
    };
    let causal = op.flag("is_causal", false)?;
    let [left, right] = [op.int("left_window_size", -1)?, op.int("right_window_size", -1)?];
    let batches = if counts.is_some() { n } else { 1 };
    let mut all = vec![];
    for batch in 0..batches {
        let count = counts.as_ref().map(|counts| counts[batch]);
        // The place of the first query among the keys.
        let first = count.map_or(past as i64, |count| count - rows as i64);
        for row in 0..rows as i64 {
            all.extend((0..columns as i64).map(|column| {
                let ahead = column - (first + row);
                (!causal || ahead <= 0)
                    && (left < 0 || -ahead <= left)
                    && (right < 0 || ahead <= right)
                    && count.is_none_or(|count| column < count)
            }));
        }
    }
    let any = all.iter().any(|is| !is);
    Ok(Allowed { lengths: [batches, 1, rows, columns], all, any })
}

/// Extends a mask to the number of keys. The added columns are masked.
fn widened(op: &Reading<'_>, import: &mut Import, mask: Known, columns: usize) -> Result<Known, Fault> {
    let lengths = import.lengths_of(&mask);
    let own = lengths.last().copied().unwrap_or(1);
    if own == columns || own == 1 {
        return Ok(mask);
    }
    let more = columns.checked_sub(own);
    let more = more.ok_or_else(|| {
        op.error(format!("its mask has {own} columns for {columns} keys"), "save the model anew")
    })?;
    let to = [&lengths[..lengths.len() - 1], &[more]].concat();
    let count = to.iter().product();
    let rest = match mask {
        Known::Ints(..) => Known::Ints(to, vec![0; count]),
        _ => Known::floats(&to, vec![LEAST; count]),
    };
    op.call(import, "Concat", &[&mask, &rest], &[("axis", Attribute::Int(-1))])
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let (q, joined) = heads(op, import, 0, "q_num_heads")?;
    let (mut k, _) = heads(op, import, 1, "kv_num_heads")?;
    let (mut v, _) = heads(op, import, 2, "kv_num_heads")?;
    let mut past = 0;
    if let (Some(key), Some(value)) = (op.maybe(import, 4)?, op.maybe(import, 5)?) {
        past = import.lengths_of(&key).get(2).copied().unwrap_or(0);
        let axis = [("axis", Attribute::Int(2))];
        k = op.call(import, "Concat", &[&key, &k], &axis)?;
        v = op.call(import, "Concat", &[&value, &v], &axis)?;
    }
    let present = [k.clone(), v.clone()];
    let [of_q, of_k] = [&q, &k].map(|of| import.lengths_of(of));
    let repeats = of_q[1] / of_k[1].max(1);
    if repeats * of_k[1] != of_q[1] || of_k[1] == 0 {
        let cause = format!("{} heads of queries meet {} of keys", of_q[1], of_k[1]);
        return Err(op.error(cause, "save the model anew"));
    }
    if repeats > 1 {
        let places: Vec<usize> = (0..of_q[1]).map(|head| head / repeats).collect();
        k = pick::pick(op, import, k, 1, places.clone())?;
        v = pick::pick(op, import, v, 1, places)?;
    }
    let scale = op.maybe_float("scale")?.unwrap_or(1.0 / (of_q[3] as f32).sqrt());
    let scaled = op.call(import, "Mul", &[&q, &Known::floats(&[], vec![scale])], &[])?;
    let turned = pick::turned(op, import, &k, &[0, 1, 3, 2])?;
    let mut products = op.call(import, "MatMul", &[&scaled, &turned], &[])?;
    let cap = op.float("softcap", 0.0)?;
    if cap != 0.0 {
        let part = op.call(import, "Mul", &[&products, &Known::floats(&[], vec![1.0 / cap])], &[])?;
        let part = op.call(import, "Tanh", &[&part], &[])?;
        products = op.call(import, "Mul", &[&part, &Known::floats(&[], vec![cap])], &[])?;
    }
    let mode = op.int("qk_matmul_output_mode", 0)?;
    let told = products.clone();
    let columns = of_k[2];
    let mut allowed = allowed(op, import, [of_q[0], of_q[2], columns], past)?;
    let mut lacks = allowed.any;
    let mut choice = Known::Ints(
        allowed.lengths.to_vec(),
        std::mem::take(&mut allowed.all).into_iter().map(i64::from).collect(),
    );
    if let Some(mask) = op.maybe(import, 3)? {
        let truths = op.reads_whole(import, 3) || matches!(mask, Known::Ints(..));
        let mask = widened(op, import, mask, columns)?;
        match mask {
            Known::Ints(..) => {
                choice = op.call(import, "And", &[&choice, &mask], &[])?;
                lacks = true;
            }
            mask if truths => {
                let least = Known::floats(&[], vec![LEAST]);
                products = op.call(import, "Where", &[&mask, &products, &least], &[])?;
                lacks = true;
            }
            mask => products = op.call(import, "Add", &[&products, &mask], &[])?,
        }
    }
    let mut empty = None;
    if lacks {
        let least = Known::floats(&[], vec![LEAST]);
        products = op.call(import, "Where", &[&choice, &products, &least], &[])?;
        // Rows whose products are all masked give zeros.
        if let Known::Ints(lengths, all) = &choice {
            let rows: Vec<i64> =
                all.chunks(columns).map(|row| i64::from(row.iter().any(|is| *is != 0))).collect();
            let mut lengths = lengths.clone();
            if let Some(last) = lengths.last_mut() {
                *last = 1;
            }
            empty = rows.contains(&0).then_some(Known::Ints(lengths, rows));
        }
    }
    let told = match mode {
        2 if lacks => {
            let cause = "its products with −∞ are an output (qk_matmul_output_mode 2)";
            return Err(op.error(cause, "leave the output out"));
        }
        2 => products.clone(),
        _ => told,
    };
    let axis = [("axis", Attribute::Int(3))];
    let mut shares = op.call(import, "Softmax", &[&products], &axis)?;
    if let Some(rows) = empty {
        shares = op.call(import, "Where", &[&rows, &shares, &Known::floats(&[], vec![0.0])], &[])?;
    }
    let told = if mode == 3 { shares.clone() } else { told };
    let mut made = op.call(import, "MatMul", &[&shares, &v], &[])?;
    if joined {
        let lengths = import.lengths_of(&made);
        made = pick::turned(op, import, &made, &[0, 2, 1, 3])?;
        made = pick::reshaped(op, import, made, vec![lengths[0], lengths[2], lengths[1] * lengths[3]])?;
    }
    let [key, value] = present;
    Ok(vec![made, key, value, told])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    /// Two heads of two queries, each of which sees itself and earlier keys.
    #[test]
    fn what_is_ahead_is_left_out() {
        let mut w = Writer::new("a", 1, &[1, 2, 4]);
        let attributes = [
            ("q_num_heads", Attribute::Int(2)),
            ("kv_num_heads", Attribute::Int(2)),
            ("is_causal", Attribute::Int(1)),
        ];
        let y = w.op("Attention", &["input", "input", "input"], &attributes);
        check(&w.finish(&y), 16.0, |x| {
            let row = |r: usize, h: usize| &x.data[4 * r + 2 * h..][..2];
            let dot = |a: &[f32], b: &[f32]| (a[0] * b[0] + a[1] * b[1]) / 2f32.sqrt();
            let mut out = x.data[..4].to_vec();
            for h in 0..2 {
                let (a, b) = (dot(row(1, h), row(0, h)).exp(), dot(row(1, h), row(1, h)).exp());
                out.extend((0..2).map(|i| (a * row(0, h)[i] + b * row(1, h)[i]) / (a + b)));
            }
            out
        });
    }
}
