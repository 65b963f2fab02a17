//! BatchNormalization.

use super::prelude::*;

pub(super) const BATCH_NORMALIZATION: Operator = Operator {
    inputs: 5,
    // A second output means training.
    fewer: "export the model for inference, not for training",
    // The momentum is only for training.
    attributes: &["epsilon", "momentum", "spatial", "training_mode"],
    error: Bound { value: 0.25, ..Bound::ROUNDED },
    ..Operator::new(
        "BatchNormalization",
        "Each channel (axis 1) times a factor plus a term; for inference alone.",
        read,
    )
};

/// Multiplies every channel (axis 1) by a number and adds a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    pub(crate) scale: Arc<Vec<f32>>,
    pub(crate) shift: Arc<Vec<f32>>,
}

impl Definition for Affine {
    fn name(&self) -> &'static str {
        "BatchNormalization"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Weights
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Factors, &self.scale), (WeightPart::Terms, &self.shift)])
    }

    fn factors(&self) -> Option<Factors> {
        Some(Factors { rows: self.scale.len(), inner: 1 })
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        made
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let inner: usize = to[2..].iter().product();
        let one = |(i, x): (usize, &f32)| {
            let channel = i / inner % self.scale.len();
            x * self.scale[channel] + self.shift[channel]
        };
        Array { lengths: to.to_vec(), data: reads[0].data.iter().enumerate().map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from, to) = (site.at, site.reads[0], shape(site.lengths));
        let x = lower.value(from);
        let node = lower.classes.fresh();
        let mut along = vec![1; site.lengths.len()];
        along[1] = self.scale.len();
        let w = lower.factors(at, along.clone(), from, node);
        let bias = lower.terms(at, along, node);
        Ok(Held::wide(x * w.broadcast(to.clone()) + bias.broadcast(to), node, lower.halved(at)))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    op.not_training(op.flag("training_mode", false)?)?;
    let at = op.layer(import, 0)?;
    let lengths = import.lengths(at).to_vec();
    if op.int("spatial", 1)? != 1 {
        return Err(op.error("it normalizes element by element (spatial)", "export with opset 9 or later"));
    }
    let channels = lengths.get(1).copied().unwrap_or(0);
    let mut of = vec![];
    for k in 1..5 {
        let weights = op.weights(import, k)?;
        if weights.data.len() != channels {
            let cause = format!("its input {k} has {} elements for {channels} channels", weights.data.len());
            return Err(op.error(cause, "give it one for each channel, which is axis 1"));
        }
        of.push(weights);
    }
    let epsilon = op.float("epsilon", 1e-5)?;
    let scale: Vec<f32> = (0..channels).map(|c| of[0].data[c] / (of[3].data[c] + epsilon).sqrt()).collect();
    let shift: Vec<f32> = (0..channels).map(|c| of[1].data[c] - of[2].data[c] * scale[c]).collect();
    if scale.iter().chain(&shift).any(|x| !x.is_finite()) {
        return Err(op.error("a variance is below 0", "train the model again"));
    }
    let kind = Affine { scale: Arc::new(scale), shift: Arc::new(shift) };
    op.made(import, Kind::Affine(kind), vec![at], lengths)
}
