//! Operators that compute.

use super::{ELEMENTS, Import, Known, operator::Operator};
use crate::{Array, Conv, Kind, NnError, Pool, array::together, error::shown, windows::Said};
use std::sync::Arc;

impl Operator<'_> {
    /// The layers of an operator, or what is known of its value.
    pub(super) fn layers(&self, import: &mut Import) -> Result<Known, NnError> {
        self.check(import)?;
        self.not_training(import)?;
        match &self.node.op[..] {
            "Constant" => self.constant(),
            "Identity" | "Dropout" => self.input(import, 0),
            "Shape" => self.shape(import),
            "Cast" => self.cast(self.input(import, 0)?),
            "Gather" => self.gather(self.input(import, 0)?, self.input(import, 1)?),
            "Reshape" => self.reshape(import),
            "Flatten" => self.flatten(import),
            "Squeeze" => self.squeeze(import),
            "Unsqueeze" => self.unsqueeze(import),
            "Transpose" => self.transpose(import),
            "Concat" => self.concat(import),
            "Pad" => self.pad(import),
            "Conv" => self.conv(import),
            "Gemm" => self.gemm(import),
            "MatMul" => self.matmul(import),
            "Add" => self.add(import),
            "BatchNormalization" => self.batch_normalization(import),
            "MaxPool" => self.max_pool(import),
            "AveragePool" => self.average_pool(import),
            "GlobalAveragePool" => self.global_average_pool(import),
            "LayerNormalization" => self.layer_normalization(import),
            "Clip" => self.clip(import),
            "Relu" => self.alike(import, Kind::Relu),
            "Sigmoid" => self.alike(import, Kind::Sigmoid),
            "Tanh" => self.alike(import, Kind::Tanh),
            "Gelu" => match &self.text("approximate", "none")?[..] {
                "none" => self.alike(import, Kind::Gelu(false)),
                "tanh" => self.alike(import, Kind::Gelu(true)),
                other => {
                    Err(self.error(format!("its approximate is {}", shown(other)), "it is none or tanh"))
                }
            },
            "Softmax" => {
                let rank = import.lengths(self.layer(import, 0)?).len();
                let before = import.opset < 13;
                let axis = self.axis(self.int("axis", if before { 1 } else { -1 })?, rank)?;
                if before && axis + 1 != rank {
                    return Err(
                        self.error("before set 13 it goes along several axes", "export with opset 13")
                    );
                }
                self.alike(import, Kind::Softmax(axis))
            }
            "ArgMax" => self.arg_max(import),
            _ => Err(self.error("it is not supported", "write the network with other operators")),
        }
    }

    /// A layer of its operand's shape.
    fn alike(&self, import: &mut Import, kind: Kind) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at).to_vec();
        self.made(import, kind, vec![at], lengths)
    }

    /// A layer's value with images, channels, rows and columns.
    fn images(&self, import: &Import) -> Result<(usize, [usize; 4]), NnError> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at);
        let four = <[usize; 4]>::try_from(lengths);
        let four = four.map_err(|_| {
            let remedy = "it takes images: [n, channels, rows, columns]";
            self.error(format!("its value has the lengths {lengths:?}"), remedy)
        })?;
        Ok((at, four))
    }

    fn said(&self, size: [usize; 2]) -> Result<Said, NnError> {
        Ok(Said {
            size,
            strides: self.sizes("strides", [1; 2])?,
            pads: self.sizes("pads", [0; 4])?,
            dilations: self.sizes("dilations", [1; 2])?,
            auto: self.text("auto_pad", "NOTSET")?,
            ceil: self.flag("ceil_mode", false)?,
        })
    }

    fn conv(&self, import: &mut Import) -> Result<Known, NnError> {
        let (at, [n, channels, rows, columns]) = self.images(import)?;
        let weights = self.weights(import, 1)?;
        let groups = usize::try_from(self.int("group", 1)?).unwrap_or(0);
        let [outputs, inner, height, width] = weights.lengths[..] else {
            let cause = format!("its weights have the lengths {:?}", weights.lengths);
            return Err(self.error(cause, "they are [out, in / groups, rows, columns]"));
        };
        if groups == 0 || inner.checked_mul(groups) != Some(channels) || outputs % groups != 0 {
            let cause =
                format!("{outputs} filters of {inner} channels in {groups} groups meet {channels} channels");
            return Err(self.error(cause, "a filter has as many channels as its group"));
        }
        if self.sizes("kernel_shape", [height, width])? != [height, width] {
            let cause =
                format!("its kernel_shape is another than that of its weights, {:?}", weights.lengths);
            return Err(self.error(cause, "save the model anew"));
        }
        let said = self.said([height, width])?;
        let (steps, [down, across]) = said.over(&self.place, [rows, columns])?;
        let dilated = (0..2).map(|k| (said.size[k] - 1) * said.dilations[k] + 1).product::<usize>();
        if (outputs * inner).checked_mul(dilated).is_none_or(|n| n > ELEMENTS) {
            return Err(self.error("its dilated weights are too many", "a tensor has at most 2^27 elements"));
        }
        let weights = spread(weights, said.dilations);
        let bias = match self.maybe_weights(import, 2)? {
            Some(bias) if bias.data.len() == outputs => bias.data.clone(),
            Some(bias) => {
                let cause = format!("its bias has {} elements for {outputs} channels", bias.data.len());
                return Err(self.error(cause, "save the model anew"));
            }
            None => vec![0.0; outputs],
        };
        let conv = Conv { weights, bias: Arc::new(bias), steps, groups };
        self.made(import, Kind::Conv(conv), vec![at], vec![n, outputs, down, across])
    }

    fn gemm(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let weights = self.weights(import, 1)?;
        if self.flag("transA", false)? {
            return Err(self.error("it turns its value", "put a Transpose before it"));
        }
        let weights = if self.flag("transB", false)? && weights.lengths.len() == 2 {
            Arc::new(weights.transposed(&[1, 0]))
        } else {
            weights
        };
        let [_, outputs] = weights.lengths[..] else {
            let cause = format!("its weights have the lengths {:?}", weights.lengths);
            return Err(self.error(cause, "they are a matrix"));
        };
        let (alpha, beta) = (self.float("alpha", 1.0)?, self.float("beta", 1.0)?);
        let weights = if alpha == 1.0 {
            weights
        } else {
            let data = weights.data.iter().map(|w| w * alpha).collect();
            Arc::new(Array { lengths: weights.lengths.clone(), data })
        };
        let bias = match self.maybe_weights(import, 2)? {
            // Along the last axis: of several rows each has its own.
            Some(bias) if bias.data.len() == outputs && bias.lengths.last() == Some(&outputs) => {
                bias.data.iter().map(|b| b * beta).collect()
            }
            Some(bias) if bias.data.len() == 1 => vec![bias.data[0] * beta; outputs],
            Some(bias) => {
                let cause = format!("its bias has the lengths {:?} for {outputs} outputs", bias.lengths);
                return Err(self.error(cause, "it has one number for each output"));
            }
            None => vec![0.0; outputs],
        };
        self.dense(import, at, weights, bias)
    }

    fn dense(
        &self,
        import: &mut Import,
        at: usize,
        weights: Arc<Array>,
        bias: Vec<f32>,
    ) -> Result<Known, NnError> {
        let mut lengths = import.lengths(at).to_vec();
        let (Some(last), [inputs, outputs]) = (lengths.last_mut(), &weights.lengths[..]) else {
            let cause = format!("its weights have the lengths {:?}", weights.lengths);
            return Err(self.error(cause, "they are a matrix, and the value has an axis"));
        };
        if *last != *inputs {
            let cause = format!("its value has {last} columns, and its weights {inputs} rows");
            return Err(self.error(cause, "both are equal"));
        }
        *last = *outputs;
        self.made(import, Kind::Dense(weights, Arc::new(bias)), vec![at], lengths)
    }

    fn matmul(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let Known::Layer(by) = self.input(import, 1)? else {
            let weights = self.weights(import, 1)?;
            let outputs = weights.lengths.last().copied().unwrap_or(1);
            return self.dense(import, at, weights, vec![0.0; outputs]);
        };
        let (a, b) = (import.lengths(at).to_vec(), import.lengths(by).to_vec());
        let rank = a.len();
        if rank < 2 || b.len() != rank || a[..rank - 2] != b[..rank - 2] || a[rank - 1] != b[rank - 2] {
            let cause = format!("its values have the lengths {a:?} and {b:?}");
            return Err(self.error(cause, "they are matrices, as many of both, that fit each other"));
        }
        let lengths = [&a[..rank - 1], &b[rank - 1..]].concat();
        self.made(import, Kind::MatMul, vec![at, by], lengths)
    }

    fn add(&self, import: &mut Import) -> Result<Known, NnError> {
        let (one, other) = (self.input(import, 0)?, self.input(import, 1)?);
        let apart = |a: &[usize], b: &[usize]| {
            self.error(
                format!("its operands have the lengths {a:?} and {b:?}"),
                "axes are as long, or of length 1",
            )
        };
        let (at, weights) = match (one, other) {
            (Known::Layer(a), Known::Layer(b)) => {
                let [x, y] = [a, b].map(|at| import.lengths(at).to_vec());
                let lengths = together(&x, &y).ok_or_else(|| apart(&x, &y))?;
                return self.made(import, Kind::Add, vec![a, b], lengths);
            }
            (Known::Layer(at), _) => (at, self.weights(import, 1)?),
            (_, Known::Layer(at)) => (at, self.weights(import, 0)?),
            _ => return Err(self.error("it adds weights", "fold what is known before the export")),
        };
        let own = import.lengths(at).to_vec();
        let lengths = together(&own, &weights.lengths).ok_or_else(|| apart(&own, &weights.lengths))?;
        self.made(import, Kind::AddWeights(weights), vec![at], lengths)
    }

    fn batch_normalization(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at).to_vec();
        if self.int("spatial", 1)? != 1 {
            return Err(
                self.error("it normalizes element by element (spatial)", "export with opset 9 or later")
            );
        }
        let channels = lengths.get(1).copied().unwrap_or(0);
        let mut of = vec![];
        for k in 1..5 {
            let weights = self.weights(import, k)?;
            if weights.data.len() != channels {
                let cause =
                    format!("its input {k} has {} elements for {channels} channels", weights.data.len());
                return Err(self.error(cause, "it has one for each channel, which is axis 1"));
            }
            of.push(weights);
        }
        let epsilon = self.float("epsilon", 1e-5)?;
        let scale: Vec<f32> =
            (0..channels).map(|c| of[0].data[c] / (of[3].data[c] + epsilon).sqrt()).collect();
        let shift: Vec<f32> = (0..channels).map(|c| of[1].data[c] - of[2].data[c] * scale[c]).collect();
        if scale.iter().chain(&shift).any(|x| !x.is_finite()) {
            return Err(self.error("a variance is below 0", "train the model again"));
        }
        self.made(import, Kind::Affine(Arc::new(scale), Arc::new(shift)), vec![at], lengths)
    }

    fn pool(&self, import: &Import) -> Result<(usize, Pool, Vec<usize>, Said), NnError> {
        let (at, [n, channels, rows, columns]) = self.images(import)?;
        let size = self.sizes("kernel_shape", [0; 2])?;
        let said = self.said(size)?;
        if said.dilations != [1; 2] || self.int("storage_order", 0)? != 0 {
            return Err(self.error("its windows are dilated, or stored by columns", "use plain windows"));
        }
        let (steps, [down, across]) = said.over(&self.place, [rows, columns])?;
        if (0..4).any(|k| steps.padding[k] as usize >= size[k % 2]) {
            let remedy = "there is less around the plane than a window is wide";
            return Err(self.error(format!("its padding is {:?}", steps.padding), remedy));
        }
        Ok((at, Pool { size, steps }, vec![n, channels, down, across], said))
    }

    fn max_pool(&self, import: &mut Import) -> Result<Known, NnError> {
        let (at, pool, lengths, _) = self.pool(import)?;
        self.made(import, Kind::MaxPool(pool), vec![at], lengths)
    }

    fn average_pool(&self, import: &mut Import) -> Result<Known, NnError> {
        let (at, pool, lengths, said) = self.pool(import)?;
        let around = self.flag("count_include_pad", false)?;
        let padded = pool.steps.padding.iter().any(|n| *n > 0);
        if around && said.ceil && padded {
            let remedy = "leave ceil_mode or count_include_pad";
            return Err(self.error("it counts what is around, and rounds up", remedy));
        }
        self.made(import, Kind::AveragePool(pool, around && padded), vec![at], lengths)
    }

    fn global_average_pool(&self, import: &mut Import) -> Result<Known, NnError> {
        let (at, [n, channels, rows, columns]) = self.images(import)?;
        let pool = Pool { size: [rows, columns], steps: hushwire_compute::Steps::default() };
        self.made(import, Kind::AveragePool(pool, false), vec![at], vec![n, channels, 1, 1])
    }

    fn layer_normalization(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at).to_vec();
        let axis = self.axis(self.int("axis", -1)?, lengths.len())?;
        let count: usize = lengths[axis..].iter().product();
        if self.int("stash_type", 1)? != 1 {
            return Err(self.error("its stash_type is another than float32", "export with stash_type 1"));
        }
        let fits = |array: Arc<Array>| {
            // Axes of length 1 before those that it normalizes repeat; any other axis would be one that weights differ along.
            let before = array.lengths.len().saturating_sub(lengths.len() - axis);
            if array.lengths[before..] == lengths[axis..] && array.data.len() == count {
                return Ok(array.data.clone());
            }
            let cause = format!(
                "it has weights of the lengths {:?} for elements of {:?}",
                array.lengths,
                &lengths[axis..]
            );
            Err(self.error(cause, "it has one for each"))
        };
        let scale = fits(self.weights(import, 1)?)?;
        let shift = self.maybe_weights(import, 2)?.map_or(Ok(vec![0.0; count]), fits)?;
        let epsilon = self.float("epsilon", 1e-5)?;
        let kind = Kind::LayerNorm(axis, Arc::new(scale), Arc::new(shift), epsilon);
        self.made(import, kind, vec![at], lengths)
    }

    fn clip(&self, import: &mut Import) -> Result<Known, NnError> {
        let bound = |k: usize, name: &str| match self.maybe_weights(import, k)? {
            Some(array) => match Self::single(&array) {
                Some(x) => Ok(Some(x)),
                None => Err(self.error("a bound is not one number", "give one for all elements")),
            },
            None => self.maybe_float(name),
        };
        let (low, high) = (bound(1, "min")?, bound(2, "max")?);
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err(self.error("its bounds are turned", "the lower comes first"));
        }
        self.alike(import, Kind::Clip(low, high))
    }

    fn arg_max(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let mut lengths = import.lengths(at).to_vec();
        let axis = self.axis(self.int("axis", 0)?, lengths.len())?;
        if self.flag("select_last_index", false)? {
            return Err(self.error("it takes the last of equal elements", "take the first"));
        }
        let keep = self.flag("keepdims", true)?;
        lengths[axis] = 1;
        if !keep {
            lengths.remove(axis);
        }
        self.made(import, Kind::ArgMax(axis), vec![at], lengths)
    }
}

/// Weights with zeros between, as dilated windows have them.
fn spread(weights: Arc<Array>, dilations: [usize; 2]) -> Arc<Array> {
    if dilations == [1; 2] {
        return weights;
    }
    let [outputs, inner, rows, columns] = weights.lengths[..] else { return weights };
    let [height, width] = [(rows - 1) * dilations[0] + 1, (columns - 1) * dilations[1] + 1];
    let mut wide = Array::zeros(&[outputs, inner, height, width]);
    for (i, w) in weights.data.iter().enumerate() {
        let (filter, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
        wide.data[(filter * height + row * dilations[0]) * width + column * dilations[1]] = *w;
    }
    Arc::new(wide)
}
