//! The room that values have in the ring.

use super::{Numbers, Secure, functions::Normalization, recipe::Part};
use crate::{Floats, Kind, Layer, Network, NnError, scale::Scales};

impl Secure {
    /// The bits that are left above the greatest number of each layer, where its values are these, and scales come from `greatest`
    /// sizes with `headroom` bits left free. Fewer than 0 say that the number wrapped, and that the output is wrong.
    ///
    /// # Errors
    /// As [`weights`](Self::weights).
    pub fn rooms(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
        floats: &Floats,
    ) -> Result<Vec<f32>, NnError> {
        Ok(self.rooms_at(network, &self.scales(network, greatest, headroom)?, floats))
    }

    pub(crate) fn rooms_at(&self, network: &Network, scales: &Scales, floats: &Floats) -> Vec<f32> {
        let Numbers { bits, frac, cut } = self.numbers;
        let [whole, frac, cut] = [bits - 1, frac, cut].map(f64::from);
        let size = |at: usize| f64::from(floats.greatest()[at]);
        // What is left above a number of this size at the scale of a node, and of so many bits more.
        let left = |size: f64, node: usize, more: f64| whole - more - (size * scales.of(node)).log2();
        let room = |(at, layer): (usize, &Layer)| {
            let placed = self.placed[at];
            let own = |more| left(size(at), placed.node, more);
            match &layer.kind {
                _ if network.places(at).is_some() => whole,
                // As they are before they are cut.
                Kind::MatMul => own(frac),
                // The square of its operand, which is clamped, and the cube times 2 √(2/π), have twice the fractional bits, too.
                Kind::Gelu(_) => {
                    let x = size(layer.reads[0]).min(8.0);
                    let inner = (x * x).max(1.6 * x * (1.0 + 0.044_715 * x * x));
                    own(frac).min(left(inner, placed.node, frac))
                }
                Kind::LayerNorm(axis, ..) => {
                    let n = layer.lengths[*axis..].iter().product();
                    let (sizes, node) =
                        (Normalization::new(self.numbers, n), self.placed[layer.reads[0]].node);
                    let root = f64::from(floats.root(at)) * scales.of(node);
                    own(cut).min(sizes.most.log2() - f64::from(sizes.guard) - root.log2())
                }
                // Sums of windows, at the scale of what is summed.
                Kind::AveragePool(pool, _) => {
                    let count = (pool.size[0] * pool.size[1]) as f64;
                    left(size(at) * count, self.placed[layer.reads[0]].node, 0.0)
                }
                _ => own(if placed.wide { cut } else { 0.0 }),
            }
        };
        let mut rooms: Vec<f64> = network.layers.iter().enumerate().map(room).collect();
        // Values times the factors that align them with others.
        for (_, recipe) in self.recipes.iter().filter(|(_, recipe)| recipe.part == Part::One) {
            let Some(to) = recipe.to else { continue };
            rooms[recipe.layer] = rooms[recipe.layer].min(left(size(recipe.layer), to, cut));
        }
        // Zeros have all of it.
        rooms.into_iter().map(|room| room.min(whole) as f32).collect()
    }
}
