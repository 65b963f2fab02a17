//! Operators that ONNX Runtime's optimizer puts in place of others (`com.microsoft`), as the
//! standard operators that they are made of.

use super::operator::{Import, Known, Reading, domain};
use crate::{
    Fault,
    onnx::{Attribute, Node},
};

/// The set of these operators.
const SET: &str = "com.microsoft";

/// The operators, each with its attributes.
const ALL: &[(&str, &[&str])] = &[
    ("Attention", &["num_heads", "scale", "unidirectional"]),
    ("BiasGelu", &[]),
    ("EmbedLayerNormalization", &["epsilon"]),
    ("FastGelu", &[]),
    (
        "FusedConv",
        &[
            "activation",
            "activation_params",
            "auto_pad",
            "dilations",
            "group",
            "kernel_shape",
            "pads",
            "strides",
        ],
    ),
    ("FusedGemm", &["activation", "activation_alpha", "alpha", "beta", "transA", "transB"]),
    ("FusedMatMul", &["alpha", "transA", "transB"]),
    ("Gelu", &[]),
    ("MultiHeadAttention", &["num_heads", "scale", "unidirectional"]),
    ("QuickGelu", &["alpha"]),
    ("SimplifiedLayerNormalization", &["axis", "epsilon", "stash_type"]),
    ("SkipLayerNormalization", &["epsilon"]),
    ("SkipSimplifiedLayerNormalization", &["epsilon"]),
];

/// The attributes of an operator of the set, if it is one.
fn attributes(node: &Node) -> Option<&'static [&'static str]> {
    // The runtime's own file has this one in the standard set.
    let is_of_set =
        domain(node) == SET || (domain(node).is_empty() && node.op == "SimplifiedLayerNormalization");
    ALL.iter().find(|(name, _)| is_of_set && *name == node.op).map(|(_, attributes)| *attributes)
}

/// Whether a node is an operator of the set.
pub(super) fn has(node: &Node) -> bool {
    attributes(node).is_some()
}

impl Reading<'_> {
    /// The values of an operator of the set, if it is one.
    pub(super) fn fused(&self, import: &mut Import) -> Option<Result<Vec<Known>, Fault>> {
        let known = attributes(self.node)?;
        if let Some(odd) = self.node.attributes.keys().find(|name| !known.contains(&&name[..])) {
            return Some(Err(self.error(
                format!("its attribute {odd} is not supported"),
                "export the model without the runtime's optimizations",
            )));
        }
        Some(match &self.node.op[..] {
            "Attention" => self.joined_attention(import).map(|y| vec![y]),
            "EmbedLayerNormalization" => self.embedded(import),
            "SkipLayerNormalization" => self.skipped(import, "LayerNormalization"),
            "SkipSimplifiedLayerNormalization" => self.skipped(import, "RMSNormalization"),
            _ => self.one_fused(import).map(|y| vec![y]),
        })
    }

    /// Refuses inputs from the `most`-th on.
    fn at_most(&self, most: usize) -> Result<(), Fault> {
        match self.node.inputs.iter().skip(most).find(|name| !name.is_empty()) {
            None => Ok(()),
            Some(odd) => Err(self.error(
                format!("its input {} is not supported", crate::error::shown(odd)),
                "export the model without the runtime's optimizations",
            )),
        }
    }

    /// The attributes that a standard operator takes as they are.
    fn kept(&self, but: &[&str]) -> Vec<(&str, Attribute)> {
        let all = self.node.attributes.iter().filter(|(name, _)| !but.contains(&&name[..]));
        all.map(|(name, of)| (&name[..], of.clone())).collect()
    }

    fn one_fused(&self, import: &mut Import) -> Result<Known, Fault> {
        let x = self.input(import, 0)?;
        match &self.node.op[..] {
            "Gelu" => self.call(import, "Gelu", &[&x], &[]),
            "BiasGelu" | "FastGelu" => {
                let x = match self.maybe(import, 1)? {
                    Some(bias) => self.call(import, "Add", &[&x, &bias], &[])?,
                    None => x,
                };
                let tangent = [("approximate", Attribute::Text("tanh".to_owned()))];
                self.call(import, "Gelu", &[&x], if self.node.op == "FastGelu" { &tangent } else { &[] })
            }
            "QuickGelu" => {
                let alpha = Known::floats(&[], vec![self.float("alpha", 1.702)?]);
                let times = self.call(import, "Mul", &[&x, &alpha], &[])?;
                let gate = self.call(import, "Sigmoid", &[&times], &[])?;
                self.call(import, "Mul", &[&x, &gate], &[])
            }
            "FusedMatMul" => {
                let y = self.input(import, 1)?;
                let x = self.flipped(import, x, "transA")?;
                let y = self.flipped(import, y, "transB")?;
                let made = self.call(import, "MatMul", &[&x, &y], &[])?;
                let alpha = self.float("alpha", 1.0)?;
                if alpha == 1.0 {
                    return Ok(made);
                }
                self.call(import, "Mul", &[&made, &Known::floats(&[], vec![alpha])], &[])
            }
            "FusedGemm" | "FusedConv" => {
                let is_gemm = self.node.op == "FusedGemm";
                self.at_most(3)?;
                let inputs = [Some(x), self.maybe(import, 1)?, self.maybe(import, 2)?];
                let inputs: Vec<Option<&Known>> = inputs.iter().map(Option::as_ref).collect();
                let but = ["activation", "activation_alpha", "activation_params"];
                let op = if is_gemm { "Gemm" } else { "Conv" };
                let made = self.call_all(import, op, &inputs, 1, &self.kept(&but))?;
                let made = made
                    .into_iter()
                    .next()
                    .ok_or_else(|| self.error("it makes no value", "save the model anew"))?;
                self.activated(import, &made)
            }
            "SimplifiedLayerNormalization" => {
                let scale = self.input(import, 1)?;
                self.call(import, "RMSNormalization", &[&x, &scale], &self.kept(&[]))
            }
            _ => self.attended(
                import,
                &[0, 1, 2].map(|k| self.input(import, k)).into_iter().collect::<Result<Vec<_>, _>>()?,
            ),
        }
    }

    /// A value with its last two axes in the other order, if an attribute says so.
    fn flipped(&self, import: &mut Import, x: Known, attribute: &str) -> Result<Known, Fault> {
        let rank = import.lengths_of(&x).len();
        if !self.flag(attribute, false)? || rank < 2 {
            return Ok(x);
        }
        let mut axes: Vec<i64> = (0..rank as i64).collect();
        axes.swap(rank - 2, rank - 1);
        self.call(import, "Transpose", &[&x], &[("perm", Attribute::Ints(axes))])
    }

    /// The function behind a product.
    fn activated(&self, import: &mut Import, x: &Known) -> Result<Known, Fault> {
        let name = self.text("activation", "")?;
        let given = match self.maybe_float("activation_alpha")? {
            Some(alpha) => vec![alpha],
            None => self.floats("activation_params")?,
        };
        match (&name[..], &given[..]) {
            ("", _) => Ok(x.clone()),
            ("Relu" | "Sigmoid" | "Tanh", []) => self.call(import, &name, &[x], &[]),
            ("LeakyRelu", [alpha]) => self.call(import, &name, &[x], &[("alpha", Attribute::Float(*alpha))]),
            ("Clip", [low, high]) => {
                let [low, high] = [low, high].map(|bound| Known::floats(&[], vec![*bound]));
                self.call(import, "Clip", &[x, &low, &high], &[])
            }
            _ => Err(self.error(
                format!("its activation is {}", crate::error::shown(&name)),
                "export the model without the runtime's optimizations",
            )),
        }
    }

    fn normalized(
        &self,
        import: &mut Import,
        op: &str,
        x: &Known,
        weights: &[&Known],
    ) -> Result<Known, Fault> {
        let epsilon = self.float("epsilon", 1e-12)?;
        let inputs: Vec<&Known> = std::iter::once(x).chain(weights.iter().copied()).collect();
        self.call(
            import,
            op,
            &inputs,
            &[("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(epsilon))],
        )
    }

    /// A sum of two values and a bias, normalized; the fourth output is the sum.
    fn skipped(&self, import: &mut Import, op: &str) -> Result<Vec<Known>, Fault> {
        let is_whole = op == "LayerNormalization";
        if self.node.outputs.iter().skip(1).take(2).any(|name| !name.is_empty()) {
            let cause = "its outputs of means and deviations are not supported";
            return Err(self.error(cause, "export the model without these outputs"));
        }
        let (x, skip, scale) = (self.input(import, 0)?, self.input(import, 1)?, self.input(import, 2)?);
        let mut sum = self.call(import, "Add", &[&x, &skip], &[])?;
        let (beta, bias) = match is_whole {
            true => (self.maybe(import, 3)?, self.maybe(import, 4)?),
            false => (None, self.maybe(import, 3)?),
        };
        if let Some(bias) = bias {
            sum = self.call(import, "Add", &[&sum, &bias], &[])?;
        }
        let weights: Vec<&Known> = std::iter::once(&scale).chain(&beta).collect();
        let y = self.normalized(import, op, &sum, &weights)?;
        Ok(vec![y.clone(), y.clone(), y, sum])
    }

    /// Rows of tables at secret places and their positions, added and normalized.
    fn embedded(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        self.at_most(7)?;
        let ids = self.input(import, 0)?;
        let rows = import.lengths_of(&ids).last().copied().unwrap_or(1);
        let (words, places) = (self.input(import, 2)?, self.input(import, 3)?);
        let first = Known::Ints(vec![rows], (0..rows as i64).collect());
        let mut sum = self.call(import, "Gather", &[&words, &ids], &[])?;
        let places = self.call(import, "Gather", &[&places, &first], &[])?;
        sum = self.call(import, "Add", &[&sum, &places], &[])?;
        if let (Some(segments), Some(table)) = (self.maybe(import, 1)?, self.maybe(import, 4)?) {
            let of = self.call(import, "Gather", &[&table, &segments], &[])?;
            sum = self.call(import, "Add", &[&sum, &of], &[])?;
        }
        let (gamma, beta) = (self.input(import, 5)?, self.input(import, 6)?);
        let y = self.normalized(import, "LayerNormalization", &sum, &[&gamma, &beta])?;
        // Without a mask its places are 0.
        let n = import.lengths_of(&ids).first().copied().unwrap_or(1);
        Ok(vec![y, Known::Ints(vec![n], vec![0; n])])
    }

    /// Attention whose queries, keys and values are made by one product.
    fn joined_attention(&self, import: &mut Import) -> Result<Known, Fault> {
        self.at_most(3)?;
        let (x, weights) = (self.input(import, 0)?, self.input(import, 1)?);
        let mut all = self.call(import, "MatMul", &[&x, &weights], &[])?;
        if let Some(bias) = self.maybe(import, 2)? {
            all = self.call(import, "Add", &[&all, &bias], &[])?;
        }
        let each = import.lengths_of(&all).last().copied().unwrap_or(0) / 3;
        let split = Known::list(&[each as i64; 3]);
        let parts =
            self.call_all(import, "Split", &[Some(&all), Some(&split)], 3, &[("axis", Attribute::Int(-1))])?;
        self.attended(import, &parts)
    }

    fn attended(&self, import: &mut Import, parts: &[Known]) -> Result<Known, Fault> {
        self.at_most(3)?;
        let heads = Attribute::Int(self.int("num_heads", 0)?);
        let mut attributes = vec![("q_num_heads", heads.clone()), ("kv_num_heads", heads)];
        attributes.extend(
            self.maybe_float("scale")?.filter(|scale| *scale != 0.0).map(|s| ("scale", Attribute::Float(s))),
        );
        attributes.extend(self.flag("unidirectional", false)?.then_some(("is_causal", Attribute::Int(1))));
        self.call(import, "Attention", &parts.iter().collect::<Vec<_>>(), &attributes)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Array, Floats, Network,
        onnx::{Attribute, Model},
        zoo::Writer,
    };

    const X: [f32; 12] = [0.5, -1.0, 2.0, 0.25, -0.75, 1.5, -2.0, 1.25, 0.0, -0.5, 3.0, -1.5];

    fn value(model: Model) -> Vec<f32> {
        let network = Network::new(model, Some(&[1, 3, 4])).unwrap_or_else(|e| panic!("{e}"));
        let floats = Floats::new(&network, &Array::new(&[1, 3, 4], X.to_vec()), true).expect("it fits");
        floats.value(network.outputs[0].1).data.clone()
    }

    /// Builds one model of an operator of the set, and one of standard operators.
    fn same(fused: impl Fn(&mut Writer) -> String, standard: impl Fn(&mut Writer) -> String) {
        let made = |build: &dyn Fn(&mut Writer) -> String, renames: bool| {
            let mut w = Writer::new("fused", 1, &[1, 3, 4]);
            let y = build(&mut w);
            let mut model = w.finish(&y);
            if renames {
                let last =
                    model.graph.nodes.iter_mut().find(|node| node.outputs.contains(&y)).expect("a node");
                last.domain = "com.microsoft".to_owned();
            }
            value(model)
        };
        let (found, expected) = (made(&fused, true), made(&standard, false));
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-5, "{found:?} for {expected:?}");
        }
    }

    fn matrix(w: &mut Writer, lengths: &[usize]) -> String {
        let data = (0..lengths.iter().product()).map(|k| ((k * 7 + 3) % 11) as f32 / 8.0 - 0.5).collect();
        w.weights(lengths, data)
    }

    #[test]
    fn operators_of_the_runtime_are_the_standard_ones_that_they_are_made_of() {
        let int = |name, n| (name, Attribute::Int(n));
        let tanh = [("approximate", Attribute::Text("tanh".to_owned()))];
        same(|w| w.op("Gelu", &["input"], &[]), |w| w.op("Gelu", &["input"], &[]));
        same(
            |w| {
                let b = matrix(w, &[4]);
                w.op("FastGelu", &["input", &b], &[])
            },
            |w| {
                let b = matrix(w, &[4]);
                let x = w.op("Add", &["input", &b], &[]);
                w.op("Gelu", &[&x], &tanh)
            },
        );
        same(
            |w| w.op("QuickGelu", &["input"], &[("alpha", Attribute::Float(1.5))]),
            |w| {
                let alpha = w.weights(&[], vec![1.5]);
                let x = w.op("Mul", &["input", &alpha], &[]);
                let gate = w.op("Sigmoid", &[&x], &[]);
                w.op("Mul", &["input", &gate], &[])
            },
        );
        same(
            |w| {
                let m = matrix(w, &[5, 4]);
                w.op("FusedMatMul", &["input", &m], &[int("transB", 1), ("alpha", Attribute::Float(0.5))])
            },
            |w| {
                let m = matrix(w, &[5, 4]);
                let m = w.op("Transpose", &[&m], &[("perm", Attribute::Ints(vec![1, 0]))]);
                let y = w.op("MatMul", &["input", &m], &[]);
                let half = w.weights(&[], vec![0.5]);
                w.op("Mul", &[&y, &half], &[])
            },
        );
        let epsilon = ("epsilon", Attribute::Float(0.01));
        same(
            |w| {
                let (skip, scale, beta, bias) =
                    (matrix(w, &[1, 3, 4]), matrix(w, &[4]), matrix(w, &[4]), matrix(w, &[4]));
                w.op(
                    "SkipLayerNormalization",
                    &["input", &skip, &scale, &beta, &bias],
                    std::slice::from_ref(&epsilon),
                )
            },
            |w| {
                let (skip, scale, beta, bias) =
                    (matrix(w, &[1, 3, 4]), matrix(w, &[4]), matrix(w, &[4]), matrix(w, &[4]));
                let x = w.op("Add", &["input", &skip], &[]);
                let x = w.op("Add", &[&x, &bias], &[]);
                w.op("LayerNormalization", &[&x, &scale, &beta], &[epsilon.clone(), int("axis", -1)])
            },
        );
        same(
            |w| {
                let (m, b) = (matrix(w, &[4, 12]), matrix(w, &[12]));
                w.op("Attention", &["input", &m, &b], &[int("num_heads", 2), int("unidirectional", 1)])
            },
            |w| {
                let (m, b) = (matrix(w, &[4, 12]), matrix(w, &[12]));
                let all = w.op("MatMul", &["input", &m], &[]);
                let all = w.op("Add", &[&all, &b], &[]);
                let part = |w: &mut Writer, k: i64| {
                    let places = w.integers(7, &[4], (4 * k..4 * k + 4).collect());
                    w.op("Gather", &[&all, &places], &[int("axis", 2)])
                };
                let (q, k, v) = (part(w, 0), part(w, 1), part(w, 2));
                let heads = [int("q_num_heads", 2), int("kv_num_heads", 2), int("is_causal", 1)];
                w.op("Attention", &[&q, &k, &v], &heads)
            },
        );
    }

    #[test]
    fn what_is_not_honoured_is_refused() {
        let refused = |op: &str, attributes: &[(&str, Attribute)]| {
            let mut w = Writer::new("fused", 1, &[1, 3, 4]);
            let (m, b) = (matrix(&mut w, &[4, 12]), matrix(&mut w, &[12]));
            let y = w.op(op, &["input", &m, &b, &b], attributes);
            let mut model = w.finish(&y);
            model.graph.nodes.iter_mut().for_each(|node| node.domain = "com.microsoft".to_owned());
            Network::new(model, Some(&[1, 3, 4])).err().map(|fault| fault.to_string()).unwrap_or_default()
        };
        let heads = ("num_heads", Attribute::Int(2));
        // A mask, an attribute of another kind of attention, and an activation.
        assert!(refused("Attention", std::slice::from_ref(&heads)).contains("is not supported"));
        let rotary = ("do_rotary", Attribute::Int(1));
        assert!(refused("Attention", &[heads, rotary]).contains("its attribute do_rotary is not supported"));
        assert!(refused("FusedGemm", &[]).contains("is not supported"));
        assert!(refused("NGramRepeatBlock", &[]).contains("com.microsoft.NGramRepeatBlock"));
    }
}
