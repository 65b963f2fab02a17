//! Sequences of values: lists that an operator makes and others take apart. Their lengths are known
//! before the run.

use super::operator::{Import, Known, Reading, ValueType, domain};
use crate::{
    Fault,
    onnx::{Attribute, Node},
};

/// The operators that are read here.
const NAMES: &[&str] = &[
    "ConcatFromSequence",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SplitToSequence",
];

/// Whether a node makes or reads a sequence.
pub(super) fn has(node: &Node) -> bool {
    domain(node).is_empty() && NAMES.contains(&&node.op[..])
}

impl Reading<'_> {
    /// Computes the outputs of an operator on sequences; `None` for other operators. A sequence
    /// itself is kept under its name.
    pub(super) fn sequence(&self, import: &mut Import) -> Option<Result<Vec<Known>, Fault>> {
        has(self.node).then(|| self.of_sequence(import))
    }

    fn of_sequence(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        let all = match &self.node.op[..] {
            "SequenceEmpty" => vec![],
            "SequenceConstruct" => {
                let part = |k: usize| Ok::<_, Fault>((self.input(import, k)?, self.type_of_input(import, k)));
                (0..self.node.inputs.len()).map(part).collect::<Result<_, _>>()?
            }
            "SplitToSequence" => self.split(import)?,
            "SequenceInsert" => {
                let mut all = self.parts(import)?;
                let at = self.place(import, 2, all.len(), all.len() + 1)?;
                all.insert(at, (self.input(import, 1)?, self.type_of_input(import, 1)));
                all
            }
            "SequenceErase" => {
                let mut all = self.parts(import)?;
                let last = all
                    .len()
                    .checked_sub(1)
                    .ok_or_else(|| self.error("its sequence is empty", "leave it out"))?;
                all.remove(self.place(import, 1, last, all.len())?);
                all
            }
            "SequenceLength" => return Ok(vec![Known::Ints(vec![], vec![self.parts(import)?.len() as i64])]),
            "SequenceAt" => {
                let mut all = self.parts(import)?;
                let at = self.place(import, 1, 0, all.len())?;
                let (known, of) = all.swap_remove(at);
                import.typed_outputs = Some(vec![of]);
                return Ok(vec![known]);
            }
            _ => return self.in_one(import).map(|known| vec![known]),
        };
        let name = self.node.outputs.first().cloned().unwrap_or_default();
        import.sequences.insert(name, all);
        Ok(vec![])
    }

    fn type_of_input(&self, import: &Import, k: usize) -> ValueType {
        self.node.inputs.get(k).map_or((false, None), |name| import.type_of(name))
    }

    /// The sequence that is the first input.
    fn parts(&self, import: &Import) -> Result<Vec<(Known, ValueType)>, Fault> {
        let name = self.node.inputs.first().map_or("", String::as_str);
        let missing = || {
            self.error(
                "its sequence comes from around a loop or a branch",
                "export the model with its loops unrolled",
            )
        };
        import.sequences.get(name).cloned().ok_or_else(missing)
    }

    /// A known place of a sequence, from the end if it is negative.
    fn place(&self, import: &Import, k: usize, default: usize, count: usize) -> Result<usize, Fault> {
        match self.integers(import, k)?.as_deref() {
            None => Ok(default),
            Some([at]) => self.axis(*at, count),
            Some(_) => Err(self.error("its place is not one integer", "save the model anew")),
        }
    }

    /// Parts along an axis; of length 1, and without the axis unless it is kept, by default.
    fn split(&self, import: &mut Import) -> Result<Vec<(Known, ValueType)>, Fault> {
        let (x, of) = (self.input(import, 0)?, self.type_of_input(import, 0));
        let lengths = import.lengths_of(&x);
        let axis = self.axis(self.int("axis", 0)?, lengths.len())?;
        let whole = lengths[axis];
        let is_one = self.maybe(import, 1)?.is_some_and(|split| import.lengths_of(&split).is_empty());
        let wrong = || self.error("its parts do not fit the axis", "save the model anew");
        let counts: Vec<usize> = match self.integers(import, 1)? {
            None => vec![1; whole],
            Some(all) if is_one => {
                let each = all
                    .first()
                    .and_then(|n| usize::try_from(*n).ok())
                    .filter(|n| *n > 0)
                    .ok_or_else(wrong)?;
                (0..whole).step_by(each).map(|from| each.min(whole - from)).collect()
            }
            Some(all) => {
                all.iter().map(|n| usize::try_from(*n).map_err(|_| wrong())).collect::<Result<_, _>>()?
            }
        };
        if counts.iter().sum::<usize>() != whole {
            return Err(wrong());
        }
        let keeps =
            self.node.inputs.get(1).is_some_and(|name| !name.is_empty()) || self.flag("keepdims", true)?;
        let (mut parts, mut from) = (vec![], 0);
        for count in counts {
            let along = (from..from + count).map(|at| at as i64).collect();
            let places = if keeps { Known::Ints(vec![count], along) } else { Known::Ints(vec![], along) };
            parts.push((
                self.call(import, "Gather", &[&x, &places], &[("axis", Attribute::Int(axis as i64))])?,
                of,
            ));
            from += count;
        }
        Ok(parts)
    }

    /// The values of a sequence along an axis, or along a new one.
    fn in_one(&self, import: &mut Import) -> Result<Known, Fault> {
        let (all, axis) = (self.parts(import)?, self.int("axis", 0)?);
        let types: Vec<ValueType> = all.iter().map(|(_, of)| *of).collect();
        let mut parts = vec![];
        for (known, _) in all {
            let axes = Known::list(&[axis]);
            parts.push(match self.flag("new_axis", false)? {
                true => self.call(import, "Unsqueeze", &[&known, &axes], &[])?,
                false => known,
            });
        }
        if parts.is_empty() {
            return Err(self.error("its sequence is empty", "export the model for longer inputs"));
        }
        let made = self.call(
            import,
            "Concat",
            &parts.iter().collect::<Vec<_>>(),
            &[("axis", Attribute::Int(axis))],
        )?;
        let is_whole = types.iter().all(|of| of.0);
        let kind = types[0].1.filter(|kind| types.iter().all(|of| of.1 == Some(*kind)));
        import.typed_outputs = Some(vec![(is_whole, kind)]);
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Array, Fault, Floats, Network,
        onnx::{Attribute, Model},
        zoo::Writer,
    };

    fn int(name: &'static str, n: i64) -> (&'static str, Attribute) {
        (name, Attribute::Int(n))
    }

    fn read(model: Model) -> Result<Network, Fault> {
        Network::new(model, Some(&[2, 3]))
    }

    fn value(build: impl Fn(&mut Writer) -> String) -> Array {
        let mut w = Writer::new("sequences", 2, &[2, 3]);
        let y = build(&mut w);
        let network = read(w.finish(&y)).unwrap_or_else(|e| panic!("{e}"));
        let x = Array::new(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let floats = Floats::new(&network, &x, true).expect("it fits");
        (*floats.value(network.outputs[0].1)).clone()
    }

    #[test]
    fn values_are_taken_apart_and_joined() {
        // Columns as parts of length 1, the last of which is taken from the end.
        let column = |keeps: i64| {
            value(|w| {
                let all = w.op("SplitToSequence", &["input"], &[int("axis", 1), int("keepdims", keeps)]);
                let last = w.integers(7, &[], vec![-1]);
                w.op("SequenceAt", &[&all, &last], &[])
            })
        };
        assert_eq!(column(1), Array::new(&[2, 1], vec![3.0, 6.0]));
        assert_eq!(column(0), Array::new(&[2], vec![3.0, 6.0]));
        // Parts of two columns, and what is left.
        let joined = value(|w| {
            let two = w.integers(7, &[], vec![2]);
            let all = w.op("SplitToSequence", &["input", &two], &[int("axis", 1)]);
            let first = w.integers(7, &[], vec![0]);
            let all = w.op("SequenceInsert", &[&all, "input", &first], &[]);
            let second = w.integers(7, &[], vec![1]);
            let all = w.op("SequenceErase", &[&all, &second], &[]);
            w.op("ConcatFromSequence", &[&all], &[int("axis", 1)])
        });
        assert_eq!(joined, Array::new(&[2, 4], vec![1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 6.0]));
        let stacked = value(|w| {
            let all = w.op("SequenceConstruct", &["input", "input"], &[]);
            w.op("ConcatFromSequence", &[&all], &[int("axis", 0), int("new_axis", 1)])
        });
        assert_eq!(stacked.lengths, [2, 2, 3]);
    }

    /// Integers stay integers: their quotient has no fraction.
    #[test]
    fn parts_keep_their_types() {
        let halves = value(|w| {
            let whole = w.op("Cast", &["input"], &[int("to", 7)]);
            let all = w.op("SplitToSequence", &[&whole], &[int("axis", 0)]);
            let second = w.integers(7, &[], vec![1]);
            let row = w.op("SequenceAt", &[&all, &second], &[]);
            let two = w.integers(7, &[], vec![2]);
            w.op("Div", &[&row, &two], &[])
        });
        assert_eq!(halves, Array::new(&[1, 3], vec![2.0, 2.0, 3.0]));
    }

    #[test]
    fn a_sequence_is_as_many_outputs() {
        let mut w = Writer::new("sequences", 2, &[2, 3]);
        let y = w.op("Relu", &["input"], &[]);
        let all = w.op("SequenceConstruct", &["input", &y], &[]);
        let network = read(w.finish(&all)).unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<String> = network.outputs.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, [format!("{all}_0"), format!("{all}_1")]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let refused = |build: &dyn Fn(&mut Writer) -> String| {
            let mut w = Writer::new("sequences", 2, &[2, 3]);
            let y = build(&mut w);
            read(w.finish(&y)).err().map(|fault| fault.to_string()).unwrap_or_default()
        };
        let at = |n: i64| {
            refused(&move |w: &mut Writer| {
                let all = w.op("SequenceConstruct", &["input"], &[]);
                let place = w.integers(7, &[], vec![n]);
                w.op("SequenceAt", &[&all, &place], &[])
            })
        };
        assert!(at(1).contains("its axis is 1 of 1") && at(-2).contains("its axis is -2 of 1"), "{}", at(1));
        let empty = refused(&|w: &mut Writer| {
            let all = w.op("SequenceEmpty", &[], &[]);
            w.op("ConcatFromSequence", &[&all], &[int("axis", 0)])
        });
        assert!(empty.contains("its sequence is empty"), "{empty}");
        let parts = refused(&|w: &mut Writer| {
            let split = w.integers(7, &[2], vec![1, 3]);
            let all = w.op("SplitToSequence", &["input", &split], &[int("axis", 1)]);
            w.op("ConcatFromSequence", &[&all], &[int("axis", 1)])
        });
        assert!(parts.contains("its parts do not fit the axis"), "{parts}");
    }
}
