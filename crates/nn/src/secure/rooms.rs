//! The room that a network's values have in the ring.

use super::{
    Secure,
    recipe::WeightPart,
    room::{Read, Room},
};
use crate::{Fault, Floats, Network, scale::Scales};

impl Secure {
    /// The number of bits above the greatest number of each layer, for these values, if scales come
    /// from the sizes `greatest` with `headroom` bits left free. A negative number means that the
    /// number wrapped and the output is wrong.
    ///
    /// # Errors
    /// The same as [`weights`](Self::weights).
    pub fn rooms(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
        floats: &Floats,
    ) -> Result<Vec<f32>, Fault> {
        Ok(self.rooms_at(network, &self.scales(network, greatest, headroom)?, floats))
    }

    pub(crate) fn rooms_at(&self, network: &Network, scales: &Scales, floats: &Floats) -> Vec<f32> {
        let whole = |at: usize| f64::from(self.rings[at].bits - 1);
        let size = |at: usize| f64::from(floats.greatest()[at]);
        let mut rooms = vec![];
        for (at, layer) in network.layers.iter().enumerate() {
            let read = |read: &usize| Read { node: self.placed[*read].node, size: size(*read) };
            let reads: Vec<Read> = layer.reads.iter().map(read).collect();
            let room = Room {
                numbers: self.rings[at],
                scales,
                node: self.placed[at].node,
                wide: self.placed[at].wide,
                own: size(at),
                reads: &reads,
                root: f64::from(floats.root(at)),
            };
            rooms.push(if network.places(at).is_some() { whole(at) } else { layer.kind.def().room(&room) });
        }
        // Values times the factors that align them with others.
        for (_, recipe) in self.recipes.iter().filter(|(_, recipe)| recipe.part == WeightPart::One) {
            let Some(to) = recipe.to else { continue };
            let aligned = (size(recipe.layer) * scales.of(to)).log2();
            rooms[recipe.layer] = rooms[recipe.layer]
                .min(f64::from(recipe.numbers.bits - 1) - f64::from(recipe.numbers.cut) - aligned);
        }
        for (at, less) in &self.narrowed {
            let number = (size(*at) * scales.of(self.placed[*at].node)).log2();
            rooms[*at] = rooms[*at].min(f64::from(less - 1) - number);
        }
        // Zeros leave all bits.
        rooms.into_iter().enumerate().map(|(at, room)| room.min(whole(at)) as f32).collect()
    }
}
