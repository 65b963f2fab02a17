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

/// The value of masked products, which stands for −∞. It is less than all others.
const LEAST: f32 = -32_768.0;

/// Input `k` in heads, `[n, heads, rows, columns]`, and whether they were joined in the input. The
/// attribute `name` is the number of joined heads.
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

/// The mask that depends only on the places of queries and keys, which all members know: 1 for an
/// allowed product and 0 for a masked one, `[n or 1, 1, rows, columns]`; and whether any is masked.
/// `past` is the number of keys before the first query.
fn mask_of_places(
    op: &Reading<'_>,
    import: &Import,
    [n, rows, columns]: [usize; 3],
    past: usize,
) -> Result<(Known, bool), Fault> {
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
                let is_allowed = (!causal || ahead <= 0)
                    && (left < 0 || -ahead <= left)
                    && (right < 0 || ahead <= right)
                    && count.is_none_or(|count| column < count);
                i64::from(is_allowed)
            }));
        }
    }
    let any = all.contains(&0);
    Ok((Known::Ints(vec![batches, 1, rows, columns], all), any))
}

/// Extends a mask, of `truths` or of summands, to the number of keys. The added columns are masked.
fn widened(
    op: &Reading<'_>,
    import: &mut Import,
    mask: Known,
    truths: bool,
    columns: usize,
) -> Result<Known, Fault> {
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
        _ => Known::floats(&to, vec![if truths { 0.0 } else { LEAST }; count]),
    };
    op.call(import, "Concat", &[&mask, &rest], &[("axis", Attribute::Int(-1))])
}

/// Products of queries and keys, after all masks.
struct MaskedProducts {
    products: Known,
    /// Whether some products may be [`LEAST`] instead of −∞.
    any: bool,
    /// 0 for each row whose products are all masked, as all members know, and 1 for the others;
    /// `None` if there is no such row.
    rows: Option<Known>,
}

/// Masks the products of `lengths`: n, queries and keys.
fn mask_products(
    op: &Reading<'_>,
    import: &mut Import,
    mut products: Known,
    lengths: [usize; 3],
    past: usize,
) -> Result<MaskedProducts, Fault> {
    let columns = lengths[2];
    let (mut allowed, mut any) = mask_of_places(op, import, lengths, past)?;
    let least = Known::floats(&[], vec![LEAST]);
    if let Some(mask) = op.maybe(import, 3)? {
        let truths = op.reads_whole(import, 3) || matches!(mask, Known::Ints(..));
        any |= truths;
        match widened(op, import, mask, truths, columns)? {
            mask @ Known::Ints(..) => allowed = op.call(import, "And", &[&allowed, &mask], &[])?,
            mask if truths => products = op.call(import, "Where", &[&mask, &products, &least], &[])?,
            mask => products = op.call(import, "Add", &[&products, &mask], &[])?,
        }
    }
    if !any {
        return Ok(MaskedProducts { products, any, rows: None });
    }
    products = op.call(import, "Where", &[&allowed, &products, &least], &[])?;
    let mut rows = None;
    if let Known::Ints(mut lengths, all) = allowed {
        let is_seen = |row: &[i64]| i64::from(row.iter().any(|is| *is != 0));
        let seen: Vec<i64> = all.chunks(columns).map(is_seen).collect();
        lengths.last_mut().into_iter().for_each(|last| *last = 1);
        rows = seen.contains(&0).then_some(Known::Ints(lengths, seen));
    }
    Ok(MaskedProducts { products, any, rows })
}

/// The scaled products of queries and keys, `[n, heads, rows, columns]`, limited by `softcap`.
fn multiply(
    op: &Reading<'_>,
    import: &mut Import,
    q: &Known,
    k: &Known,
    width: usize,
) -> Result<Known, Fault> {
    let number = |x| Known::floats(&[], vec![x]);
    let scale = op.maybe_float("scale")?.unwrap_or(1.0 / (width as f32).sqrt());
    let scaled = op.call(import, "Mul", &[q, &number(scale)], &[])?;
    let turned = pick::turned(op, import, k, &[0, 1, 3, 2])?;
    let products = op.call(import, "MatMul", &[&scaled, &turned], &[])?;
    let cap = op.float("softcap", 0.0)?;
    if cap == 0.0 {
        return Ok(products);
    }
    let part = op.call(import, "Mul", &[&products, &number(1.0 / cap)], &[])?;
    let part = op.call(import, "Tanh", &[&part], &[])?;
    op.call(import, "Mul", &[&part, &number(cap)], &[])
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
    let [lengths_q, lengths_k] = [&q, &k].map(|known| import.lengths_of(known));
    let (heads_q, heads_k) = (lengths_q[1], lengths_k[1]);
    if heads_k == 0 || !heads_q.is_multiple_of(heads_k) {
        let cause = format!("{heads_q} heads of queries meet {heads_k} of keys");
        return Err(op.error(cause, "save the model anew"));
    }
    let repeats = heads_q / heads_k;
    if repeats > 1 {
        let places: Vec<usize> = (0..heads_q).map(|head| head / repeats).collect();
        k = pick::pick(op, import, k, 1, places.clone())?;
        v = pick::pick(op, import, v, 1, places)?;
    }
    let products = multiply(op, import, &q, &k, lengths_q[3])?;
    let lengths = [lengths_q[0], lengths_q[2], lengths_k[2]];
    let masked = mask_products(op, import, products.clone(), lengths, past)?;
    let mode = op.int("qk_matmul_output_mode", 0)?;
    if mode == 2 && masked.any {
        let cause = "its products with −∞ are an output (qk_matmul_output_mode 2)";
        return Err(op.error(cause, "leave the output out"));
    }
    let axis = [("axis", Attribute::Int(3))];
    let mut shares = op.call(import, "Softmax", &[&masked.products], &axis)?;
    if let Some(rows) = masked.rows {
        // A row without allowed products gives zeros.
        shares = op.call(import, "Where", &[&rows, &shares, &Known::floats(&[], vec![0.0])], &[])?;
    }
    let mut made = op.call(import, "MatMul", &[&shares, &v], &[])?;
    if joined {
        let lengths = import.lengths_of(&made);
        made = pick::turned(op, import, &made, &[0, 2, 1, 3])?;
        made = pick::reshaped(op, import, made, vec![lengths[0], lengths[2], lengths[1] * lengths[3]])?;
    }
    let [key, value] = present;
    let products = match mode {
        2 => masked.products,
        3 => shares,
        _ => products,
    };
    Ok(vec![made, key, value, products])
}

#[cfg(test)]
mod tests {
    use super::super::checks::{check, refused};
    use crate::{onnx::Attribute, zoo::Writer};

    /// The softmax of the products of queries and keys where `allowed`, times values. All are rows
    /// of two elements. A query without allowed keys gives zeros.
    fn attended([queries, keys, values]: [&[f32]; 3], allowed: impl Fn(usize, usize) -> bool) -> Vec<f32> {
        let mut out = vec![];
        for (row, q) in queries.chunks(2).enumerate() {
            let (mut sum, mut total) = ([0.0; 2], 0.0);
            for (column, (k, v)) in keys.chunks(2).zip(values.chunks(2)).enumerate() {
                if allowed(row, column) {
                    let share = ((q[0] * k[0] + q[1] * k[1]) / 2f32.sqrt()).exp();
                    total += share;
                    (0..2).for_each(|i| sum[i] += share * v[i]);
                }
            }
            out.extend(sum.map(|sum| if total == 0.0 { 0.0 } else { sum / total }));
        }
        out
    }

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
            let head = |h: usize| {
                let all: Vec<f32> = x.data.chunks(4).flat_map(|row| &row[2 * h..][..2]).copied().collect();
                attended([&all; 3], |row, column| column <= row)
            };
            let (first, second) = (head(0), head(1));
            first.chunks(2).zip(second.chunks(2)).flat_map(|(a, b)| [a, b].concat()).collect()
        });
    }

    /// A mask of truth values that no member knows covers two of three keys; the last key is
    /// masked.
    #[test]
    fn a_private_mask_masks_the_keys_that_it_does_not_cover() {
        let mut w = Writer::new("a", 1, &[1, 1, 2, 2]);
        let past = [0.5, -0.25];
        let earlier = w.weights(&[1, 1, 1, 2], past.to_vec());
        let least = w.weights(&[1], vec![-1000.0]);
        let mask = w.op("Greater", &["input", &least], &[]);
        let y = w.op("Attention", &["input", "input", "input", &mask, &earlier, &earlier], &[]);
        check(&w.finish(&y), 16.0, |x| {
            let keys = [&past[..], &x.data].concat();
            attended([&x.data, &keys, &keys], |_, column| column < 2)
        });
    }

    /// A mask that all members know, of truth values or of summands; a row has no key.
    #[test]
    fn known_masks_leave_keys_out() {
        let allowed = [[true, true], [false, false]];
        let mut w = Writer::new("a", 1, &[1, 1, 2, 2]);
        let mask = w.integers(9, &[2, 2], allowed.as_flattened().iter().map(|is| i64::from(*is)).collect());
        let y = w.op("Attention", &["input", "input", "input", &mask], &[]);
        check(&w.finish(&y), 16.0, |x| attended([&x.data; 3], |row, column| allowed[row][column]));
        let mut w = Writer::new("a", 1, &[1, 1, 2, 2]);
        let mask = w.weights(&[2, 1], vec![0.25, 0.5]);
        let y = w.op("Attention", &["input", "input", "input", &mask], &[]);
        check(&w.finish(&y), 16.0, |x| attended([&x.data; 3], |_, _| true));
    }

    /// Both queries' heads read the keys of one head, of which each sees its own place alone.
    #[test]
    fn heads_share_keys_and_windows_are_as_wide_as_stated() {
        let mut w = Writer::new("a", 1, &[1, 2, 2, 2]);
        let zero = w.integers(7, &[1], vec![0]);
        let keys = w.op("Gather", &["input", &zero], &[("axis", Attribute::Int(1))]);
        let window = ["left_window_size", "right_window_size"].map(|name| (name, Attribute::Int(0)));
        let y = w.op("Attention", &["input", &keys, &keys], &window);
        check(&w.finish(&y), 16.0, |x| {
            let keys = &x.data[..4];
            let head = |queries| attended([queries, keys, keys], |row, column| row == column);
            [head(&x.data[..4]), head(&x.data[4..])].concat()
        });
    }

    #[test]
    fn no_keys_are_refused() {
        let mut w = Writer::new("a", 1, &[1, 1, 2, 2]);
        let keys = w.weights(&[1, 1, 0, 2], vec![]);
        let y = w.op("Attention", &["input", &keys, &keys], &[("left_window_size", Attribute::Int(0))]);
        refused(&w.finish(&y));
    }
}
