//! LSTM, GRU and RNN, step by step, composed of products, sums and functions of elements.

use super::{pick, prelude::*};
use crate::onnx::Attribute;

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 8,
        outputs: 3,
        attributes: &["activations", "clip", "direction", "hidden_size", "input_forget", "layout"],
        error: BOUND,
        ..Operator::several(
            "LSTM",
            "Long short-term memory, with weights; all steps are made.",
            |op, import| recurrent(op, import, Cell::Lstm),
        )
    },
    Operator {
        inputs: 6,
        outputs: 2,
        attributes: &["activations", "clip", "direction", "hidden_size", "layout", "linear_before_reset"],
        error: BOUND,
        ..Operator::several(
            "GRU",
            "Gated recurrent units, with weights; all steps are made.",
            |op, import| recurrent(op, import, Cell::Gru),
        )
    },
    Operator {
        inputs: 6,
        outputs: 2,
        attributes: &["activations", "clip", "direction", "hidden_size", "layout"],
        error: BOUND,
        ..Operator::several("RNN", "A recurrent network, with weights; all steps are made.", |op, import| {
            recurrent(op, import, Cell::Rnn)
        })
    },
];

/// The products of all steps, where n counts the elements and states of all steps.
const BOUND: Bound =
    Bound { element: 1.0 / 8.0, ..Bound::steps(2.0) }.over("weights up to 1/2, operands up to 3");

/// LOCAL: the largest number of steps.
const STEPS: usize = 1 << 12;

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Lstm,
    Gru,
    Rnn,
}

impl Cell {
    /// The number of gates, each with weights of its own.
    fn gates(self) -> usize {
        match self {
            Cell::Lstm => 4,
            Cell::Gru => 3,
            Cell::Rnn => 1,
        }
    }

    /// The default functions of one direction.
    fn functions(self) -> &'static [&'static str] {
        match self {
            Cell::Lstm => &["Sigmoid", "Tanh", "Tanh"],
            Cell::Gru => &["Sigmoid", "Tanh"],
            Cell::Rnn => &["Tanh"],
        }
    }
}

/// The weights of one direction.
struct Direction {
    cell: Cell,
    hidden: usize,
    /// `[gates × hidden, inputs]`.
    own: Known,
    /// `[gates × hidden, hidden]`.
    state: Array,
    /// The biases of sums of products with inputs, and with states.
    bias: [Vec<f32>; 2],
    functions: Vec<String>,
    /// The factors by which the memory enters the input, output and forget gates, if it does.
    peepholes: Option<[Vec<f32>; 3]>,
    /// Whether the forget gate is 1 minus the input gate.
    coupled: bool,
    /// Whether the state is multiplied before the reset gate.
    linear: bool,
    /// The limit ± on arguments of functions, if there is one.
    clip: Option<f32>,
}

/// Rows of a list.
fn rows(of: &Array, from: usize, to: usize) -> Array {
    let inner = of.lengths[1];
    Array::new(&[to - from, inner], of.data[from * inner..to * inner].to_vec())
}

impl Direction {
    /// Products of rows with weights, plus a bias.
    fn product(
        op: &Reading<'_>,
        import: &mut Import,
        x: &Known,
        weights: &Known,
        bias: Option<&[f32]>,
    ) -> Result<Known, Fault> {
        let bias = bias.map(|bias| Known::floats(&[bias.len()], bias.to_vec()));
        let inputs = [Some(x), Some(weights), bias.as_ref()];
        Ok(op.call_all(import, "Gemm", &inputs, 1, &[("transB", Attribute::Int(1))])?.remove(0))
    }

    /// The sums of all gates' products with inputs: `[steps, rows, gates × hidden]`.
    fn sums(&self, op: &Reading<'_>, import: &mut Import, x: &Known) -> Result<Known, Fault> {
        let lengths = import.lengths_of(x);
        let flat = pick::reshaped(op, import, x.clone(), vec![lengths[0] * lengths[1], lengths[2]])?;
        // Terms that are only added to products with states are added once for all steps.
        let [own, state] = &self.bias;
        let apart = |i: usize| self.cell == Cell::Gru && self.linear && i >= 2 * self.hidden;
        let bias: Vec<f32> =
            own.iter().zip(state).enumerate().map(|(i, (a, b))| if apart(i) { *a } else { a + b }).collect();
        let made = Self::product(op, import, &flat, &self.own, Some(&bias))?;
        pick::reshaped(op, import, made, vec![lengths[0], lengths[1], self.cell.gates() * self.hidden])
    }

    fn gates(
        &self,
        op: &Reading<'_>,
        import: &mut Import,
        of: &Known,
        from: usize,
        to: usize,
    ) -> Result<Known, Fault> {
        pick::pick(op, import, of.clone(), 1, (from * self.hidden..to * self.hidden).collect())
    }

    /// A function of elements, whose arguments are limited if there is a limit.
    fn apply(&self, op: &Reading<'_>, import: &mut Import, k: usize, of: &Known) -> Result<Known, Fault> {
        let Some(clip) = self.clip else { return op.call(import, &self.functions[k], &[of], &[]) };
        let [low, high] = [-clip, clip].map(|x| Known::floats(&[], vec![x]));
        let near = op.call(import, "Clip", &[of, &low, &high], &[])?;
        op.call(import, &self.functions[k], &[&near], &[])
    }

    /// One step, from sums of products with inputs and the previous state, if there is one.
    fn step(
        &self,
        op: &Reading<'_>,
        import: &mut Import,
        sums: &Known,
        before: Option<&Known>,
        memory: Option<&Known>,
    ) -> Result<(Known, Option<Known>), Fault> {
        let n = self.hidden;
        let all = |from: usize, to: usize| Known::Floats(Arc::new(rows(&self.state, from * n, to * n)));
        match self.cell {
            Cell::Rnn => {
                let sums = added(op, import, sums, before, &all(0, 1))?;
                Ok((self.apply(op, import, 0, &sums)?, None))
            }
            Cell::Lstm => {
                let sums = added(op, import, sums, before, &all(0, 4))?;
                if self.peepholes.is_some() || self.coupled {
                    return self.seeing(op, import, &sums, memory);
                }
                // The input, output and forget gates, and the new memory.
                let gates = self.gates(op, import, &sums, 0, 3)?;
                let gates = self.apply(op, import, 0, &gates)?;
                let new = self.gates(op, import, &sums, 3, 4)?;
                let new = self.apply(op, import, 1, &new)?;
                let [input, output, forget] = [0, 1, 2].map(|k| self.gates(op, import, &gates, k, k + 1));
                let mut kept = op.call(import, "Mul", &[&input?, &new], &[])?;
                if let Some(memory) = memory {
                    let old = op.call(import, "Mul", &[&forget?, memory], &[])?;
                    kept = op.call(import, "Add", &[&old, &kept], &[])?;
                }
                let shown = self.apply(op, import, 2, &kept)?;
                Ok((op.call(import, "Mul", &[&output?, &shown], &[])?, Some(kept)))
            }
            Cell::Gru => {
                let own = self.gates(op, import, sums, 0, 2)?;
                let gates = added(op, import, &own, before, &all(0, 2))?;
                let gates = self.apply(op, import, 0, &gates)?;
                let [update, reset] = [0, 1].map(|k| self.gates(op, import, &gates, k, k + 1));
                let (update, reset) = (update?, reset?);
                let mut new = self.gates(op, import, sums, 2, 3)?;
                let bias = &self.bias[1][2 * n..];
                new = match before {
                    Some(before) if self.linear => {
                        let state = Self::product(op, import, before, &all(2, 3), Some(bias))?;
                        let state = op.call(import, "Mul", &[&reset, &state], &[])?;
                        op.call(import, "Add", &[&new, &state], &[])?
                    }
                    Some(before) => {
                        let state = op.call(import, "Mul", &[&reset, before], &[])?;
                        added(op, import, &new, Some(&state), &all(2, 3))?
                    }
                    None if self.linear => {
                        let state =
                            op.call(import, "Mul", &[&reset, &Known::floats(&[n], bias.to_vec())], &[])?;
                        op.call(import, "Add", &[&new, &state], &[])?
                    }
                    None => new,
                };
                let new = self.apply(op, import, 1, &new)?;
                // new + update (before − new), which takes one product.
                let less = match before {
                    Some(before) => op.call(import, "Sub", &[before, &new], &[])?,
                    None => op.call(import, "Neg", &[&new], &[])?,
                };
                let part = op.call(import, "Mul", &[&update, &less], &[])?;
                Ok((op.call(import, "Add", &[&new, &part], &[])?, None))
            }
        }
    }
}

impl Direction {
    /// A step of an LSTM with peepholes or coupled gates. The output gate sees the new memory, the
    /// others see the previous one.
    fn seeing(
        &self,
        op: &Reading<'_>,
        import: &mut Import,
        sums: &Known,
        memory: Option<&Known>,
    ) -> Result<(Known, Option<Known>), Fault> {
        let gate = |import: &mut Import, k: usize, memory: Option<&Known>| {
            let mut sum = self.gates(op, import, sums, k, k + 1)?;
            if let (Some(peepholes), Some(memory)) = (&self.peepholes, memory) {
                let factors = Known::floats(&[self.hidden], peepholes[k].clone());
                let more = op.call(import, "Mul", &[memory, &factors], &[])?;
                sum = op.call(import, "Add", &[&sum, &more], &[])?;
            }
            self.apply(op, import, 0, &sum)
        };
        let input = gate(import, 0, memory)?;
        let new = self.gates(op, import, sums, 3, 4)?;
        let new = self.apply(op, import, 1, &new)?;
        let mut kept = op.call(import, "Mul", &[&input, &new], &[])?;
        if let Some(memory) = memory {
            let forget = if self.coupled {
                op.call(import, "Sub", &[&Known::floats(&[], vec![1.0]), &input], &[])?
            } else {
                gate(import, 2, Some(memory))?
            };
            let old = op.call(import, "Mul", &[&forget, memory], &[])?;
            kept = op.call(import, "Add", &[&old, &kept], &[])?;
        }
        let output = gate(import, 1, Some(&kept))?;
        let shown = self.apply(op, import, 2, &kept)?;
        Ok((op.call(import, "Mul", &[&output, &shown], &[])?, Some(kept)))
    }
}

/// Sums, plus products of a state with weights.
fn added(
    op: &Reading<'_>,
    import: &mut Import,
    sums: &Known,
    state: Option<&Known>,
    weights: &Known,
) -> Result<Known, Fault> {
    let Some(state) = state else { return Ok(sums.clone()) };
    let more = Direction::product(op, import, state, weights, None)?;
    op.call(import, "Add", &[sums, &more], &[])
}

/// The directions' weights.
fn directions(op: &Reading<'_>, import: &Import, cell: Cell, inputs: usize) -> Result<Vec<Direction>, Fault> {
    let (own, state) = (op.weights(import, 1)?, op.weights(import, 2)?);
    let odd = |what: &str, of: &Array| {
        op.error(format!("its {what} have the lengths {:?}", of.lengths), "save the model anew")
    };
    let [count, gates, width] = own.lengths[..] else { return Err(odd("weights", &own)) };
    let hidden = gates / cell.gates();
    let wanted = if op.text("direction", "forward")? == "bidirectional" { 2 } else { 1 };
    if hidden == 0 || gates != cell.gates() * hidden || count != wanted || width != inputs {
        return Err(odd("weights", &own));
    }
    if state.lengths != [count, gates, hidden] || op.int("hidden_size", hidden as i64)? != hidden as i64 {
        return Err(odd("weights of states", &state));
    }
    let bias = op.maybe_weights(import, 3)?;
    if let Some(bias) = bias.as_ref().filter(|bias| bias.lengths != [count, 2 * gates]) {
        return Err(odd("biases", bias));
    }
    let peepholes = if cell == Cell::Lstm { op.maybe_weights(import, 7)? } else { None };
    if let Some(peepholes) = peepholes.as_ref().filter(|of| of.lengths != [count, 3 * hidden]) {
        return Err(odd("peepholes", peepholes));
    }
    let coupled = cell == Cell::Lstm && op.flag("input_forget", false)?;
    let functions = op.texts("activations")?;
    let usual = cell.functions();
    if !functions.is_empty() && functions.len() != count * usual.len() {
        return Err(op.error(format!("it has {} activations", functions.len()), "save the model anew"));
    }
    if let Some(odd) =
        functions.iter().find(|name| !["Sigmoid", "Tanh", "Relu", "Softsign"].contains(&&name[..]))
    {
        return Err(op.error(format!("its activation is {}", shown(odd)), "take Sigmoid, Tanh or Relu"));
    }
    let clip = op.maybe_float("clip")?;
    if let Some(clip) = clip.filter(|clip| !clip.is_finite() || *clip <= 0.0) {
        return Err(op.error(format!("its clip is {clip}"), "give it a finite number above 0, or none"));
    }
    let part = |of: &Array, d: usize| {
        let each = of.data.len() / count;
        Array::new(&of.lengths[1..], of.data[d * each..][..each].to_vec())
    };
    let one = |d: usize| {
        let bias = bias.as_ref().map_or_else(|| vec![0.0; 2 * gates], |bias| part(bias, d).data);
        let functions: Vec<String> = match functions.is_empty() {
            true => usual.iter().map(|name| (*name).to_owned()).collect(),
            false => functions[d * usual.len()..][..usual.len()].to_vec(),
        };
        Ok(Direction {
            cell,
            hidden,
            own: Known::Floats(Arc::new(part(&own, d))),
            state: part(&state, d),
            bias: [bias[..gates].to_vec(), bias[gates..].to_vec()],
            functions,
            peepholes: peepholes
                .as_ref()
                .map(|of| [0, 1, 2].map(|k| of.data[(3 * d + k) * hidden..][..hidden].to_vec())),
            coupled,
            linear: cell == Cell::Gru && op.flag("linear_before_reset", false)?,
            clip,
        })
    };
    (0..count).map(one).collect()
}

/// The states of all steps, and the last states.
fn recurrent(op: &Reading<'_>, import: &mut Import, cell: Cell) -> Result<Vec<Known>, Fault> {
    let mut x = op.input(import, 0)?;
    let [_, _, inputs] = import.lengths_of(&x)[..] else {
        return Err(op.error("its value has not three axes", "give it [steps, rows, elements]"));
    };
    let by_rows = op.flag("layout", false)?;
    if by_rows {
        x = pick::turned(op, import, &x, &[1, 0, 2])?;
    }
    let lengths = import.lengths_of(&x);
    let (steps, batch) = (lengths[0], lengths[1]);
    if steps > STEPS {
        return Err(op.error(format!("it has {steps} steps"), "give it at most 4096"));
    }
    if op.integers(import, 4)?.is_some_and(|all| all.iter().any(|n| *n != steps as i64)) {
        return Err(op.error("its rows have unlike lengths", "give all rows one length"));
    }
    let direction = op.text("direction", "forward")?;
    let all = directions(op, import, cell, inputs)?;
    let (mut made, mut last) = (vec![], [vec![], vec![]]);
    for (d, one) in all.iter().enumerate() {
        let sums = one.sums(op, import, &x)?;
        let place = Known::Ints(vec![], vec![d as i64]);
        let mut first = |k: usize| match op.maybe(import, k)? {
            Some(known) => {
                let axis = [("axis", Attribute::Int(if by_rows { 1 } else { 0 }))];
                op.call(import, "Gather", &[&known, &place], &axis).map(Some)
            }
            None => Ok(None),
        };
        let mut state = first(5)?;
        let mut memory = if cell == Cell::Lstm { first(6)? } else { None };
        let back = direction == "reverse" || d == 1;
        let mut states = vec![];
        for i in 0..steps {
            let t = if back { steps - 1 - i } else { i };
            let own = pick::pick(op, import, sums.clone(), 0, vec![t])?;
            let own = pick::reshaped(op, import, own, vec![batch, one.cell.gates() * one.hidden])?;
            let (next, kept) = one.step(op, import, &own, state.as_ref(), memory.as_ref())?;
            states.push(pick::reshaped(op, import, next.clone(), vec![1, 1, batch, one.hidden])?);
            (state, memory) = (Some(next), kept);
        }
        if back {
            states.reverse();
        }
        let states: Vec<&Known> = states.iter().collect();
        made.push(op.call(import, "Concat", &states, &[("axis", Attribute::Int(0))])?);
        for (known, last) in [state, memory].into_iter().zip(&mut last) {
            if let Some(known) = known {
                last.push(pick::reshaped(op, import, known, vec![1, batch, one.hidden])?);
            }
        }
    }
    let mut join = |all: &[Known], axis: i64, turned: &[usize]| {
        let all: Vec<&Known> = all.iter().collect();
        let joined = op.call(import, "Concat", &all, &[("axis", Attribute::Int(axis))])?;
        if by_rows { pick::turned(op, import, &joined, turned) } else { Ok(joined) }
    };
    let mut outputs = vec![join(&made, 1, &[2, 0, 1, 3])?, join(&last[0], 0, &[1, 0, 2])?];
    if cell == Cell::Lstm {
        outputs.push(join(&last[1], 0, &[1, 0, 2])?);
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    fn sigmoid(x: f32) -> f32 {
        1.0 / (1.0 + (-x).exp())
    }

    /// Three steps of one unit with one input, computed by hand: plain, with peepholes, with
    /// coupled gates, and with limits that most sums exceed.
    #[test]
    fn one_unit_of_memory() {
        for (peepholes, coupled, clip) in [
            (None, false, None),
            (Some([0.5, -0.75, 0.25]), false, None),
            (Some([-0.25, 0.5, 0.0]), true, None),
            (None, true, None),
            (None, false, Some(0.125)),
            (Some([0.5, -0.75, 0.25]), false, Some(0.25)),
        ] {
            unit_of_memory(peepholes, coupled, clip);
        }
    }

    fn unit_of_memory(peepholes: Option<[f32; 3]>, coupled: bool, clip: Option<f32>) {
        let (own, state, bias) = ([0.5, -0.25, 0.75, 1.0], [0.25, 0.5, -0.5, 0.125], [0.1, 0.2, 0.3, 0.4]);
        let mut w = Writer::new("lstm", 1, &[1, 3]);
        let axes = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![3, 1, 1]))]);
        let x = w.op("Reshape", &["input", &axes], &[]);
        let weights = w.weights(&[1, 4, 1], own.to_vec());
        let states = w.weights(&[1, 4, 1], state.to_vec());
        let all = w.weights(&[1, 8], [bias, [0.0; 4]].concat());
        let factors = peepholes.map(|of| w.weights(&[1, 3], of.to_vec()));
        let mut inputs = vec![&x[..], &weights, &states, &all];
        if let Some(factors) = &factors {
            inputs.extend(["", "", "", factors]);
        }
        let mut attributes =
            vec![("hidden_size", Attribute::Int(1)), ("input_forget", Attribute::Int(coupled.into()))];
        attributes.extend(clip.map(|clip| ("clip", Attribute::Float(clip))));
        let y = w.op("LSTM", &inputs, &attributes);
        let [i, o, f] = peepholes.unwrap_or_default();
        let near = |x: f32| clip.map_or(x, |clip| x.clamp(-clip, clip));
        check(&w.finish(&y), 12.0, |x| {
            let (mut h, mut c, mut made) = (0.0, 0.0, vec![]);
            for x in &x.data {
                let g = [0, 1, 2, 3].map(|k| own[k] * x + state[k] * h + bias[k]);
                let input = sigmoid(near(g[0] + i * c));
                let forget = if coupled { 1.0 - input } else { sigmoid(near(g[2] + f * c)) };
                c = forget * c + input * near(g[3]).tanh();
                h = sigmoid(near(g[1] + o * c)) * near(c).tanh();
                made.push(h);
            }
            made
        });
    }
}
