//! Concat.

use super::prelude::*;

pub(super) const CONCAT: Operator = Operator {
    inputs: usize::MAX,
    attributes: &["axis"],
    error: Bound::EXACT,
    ..Operator::new("Concat", "Values, or known lists, joined along an axis.", read)
};

/// Joins values along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Concat {
    pub(crate) axis: usize,
}

impl Definition for Concat {
    fn name(&self) -> &'static str {
        "Concat"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let outer: usize = to[..self.axis].iter().product();
        let mut data = Vec::with_capacity(to.iter().product());
        for k in 0..outer {
            for part in reads {
                let each: usize = part.lengths[self.axis..].iter().product();
                data.extend_from_slice(&part.data[k * each..][..each]);
            }
        }
        Array { lengths: to.to_vec(), data }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let node = lower.node(site.reads[0]);
        let mut parts = vec![lower.value(site.reads[0])];
        for (k, read) in site.reads[1..].iter().enumerate() {
            parts.push(lower.aligned(*read, node, 1.0, site.at * 1000 + k));
        }
        Ok(Held::cut_already(lower.b.concat(self.axis as u8, &parts), node))
    }
}

/// The axis has no default.
fn axis(op: &Reading<'_>) -> Result<i64, Fault> {
    if op.has("axis") { op.int("axis", 0) } else { Err(op.error("it has no axis", "save the model anew")) }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let all = (0..op.node.inputs.len()).map(|k| op.input(import, k));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    if !all.iter().any(|known| matches!(known, Known::Layer(_))) {
        return joined(op, all);
    }
    let like = all.iter().find_map(|known| if let Known::Layer(at) = known { Some(*at) } else { None });
    let like = like.unwrap_or_default();
    let mut reads = vec![];
    for known in all {
        match known {
            Known::Layer(at) => reads.push(at),
            known if import.lengths_of(&known).contains(&0) => {}
            known => reads.push(op.valued(import, &known, like)?),
        }
    }
    let mut lengths = import.lengths(reads[0]).to_vec();
    let axis = op.axis(axis(op)?, lengths.len())?;
    for at in &reads[1..] {
        let other = import.lengths(*at);
        let same = (0..lengths.len()).all(|k| k == axis || other.get(k) == Some(&lengths[k]));
        if other.len() != lengths.len() || !same {
            let cause = format!("it joins values of the lengths {lengths:?} and {other:?} along axis {axis}");
            return Err(op.error(cause, "give all other axes one length"));
        }
        lengths[axis] += other[axis];
    }
    op.made(import, Kind::Concat(Concat { axis }), reads, lengths)
}

/// Joins lists of integers.
fn joined(op: &Reading<'_>, all: Vec<Known>) -> Result<Known, Fault> {
    op.axis(axis(op)?, 1)?;
    let mut joined = vec![];
    for known in all {
        match known {
            Known::Ints(lengths, some) if lengths.len() == 1 => joined.extend(some),
            _ => return Err(op.error("it joins weights", "join values, or shapes")),
        }
    }
    Ok(Known::Ints(vec![joined.len()], joined))
}
