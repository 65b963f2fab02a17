//! A layer between two parties: one encrypts a vector, the other multiplies it by weights and keeps a share.

use crate::{
    BfvError, Conv, Layer, Margin, Set,
    cipher::{Client, Ground, Server, Sum, packed},
    conv::Layout,
    ntt::{BITS, Prime},
};
use hushwire_aes::Backend;
use hushwire_prg::Seed;

/// A layer that fits, which both parties agree on.
#[derive(Clone, Debug)]
pub struct Linear {
    set: Set,
    ring: u32,
    weight: u64,
    pub(crate) margin: Margin,
    pub(crate) layout: Layout,
}

impl Linear {
    /// A convolution modulo 2^`ring` by weights that are no greater than `weight`, without their signs, in a run that opens so many
    /// coefficients in all.
    ///
    /// # Errors
    /// No set of parameters has room for its noise, or a window for its rows.
    pub fn new(conv: Conv, ring: u32, weight: u64, coefficients: u64) -> Result<Linear, BfvError> {
        let layer = Layer { ring, weight, terms: conv.terms() };
        let fitting = Set::ALL.into_iter().find_map(|set| {
            let margin = set.margin(&layer, coefficients).ok()?;
            Some((set, margin, Layout::new(conv, set.n())?))
        });
        match fitting {
            Some((set, margin, layout)) => Ok(Linear { set, ring, weight, margin, layout }),
            None => Err(Set::Large.margin(&layer, coefficients).err().unwrap_or_else(|| BfvError::Margin {
                cause: format!(
                    "windows of {:?} in images of {:?} fit no polynomial",
                    conv.kernel, conv.image
                ),
            })),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn set(&self) -> Set {
        self.set
    }

    /// Bits of the ring.
    #[must_use]
    pub fn ring(&self) -> u32 {
        self.ring
    }

    /// The convolution.
    #[must_use]
    pub fn conv(&self) -> Conv {
        self.layout.conv
    }

    /// Bytes of an upload.
    #[must_use]
    pub fn upload_bytes(&self) -> usize {
        self.layout.tiles.len() * self.layout.blocks() * (16 + self.set.primes() * packed(self.set.n(), BITS))
    }

    /// The noise of its answers, and their flooding.
    #[must_use]
    pub fn margin(&self) -> Margin {
        self.margin
    }

    /// Coefficients that it opens.
    #[must_use]
    pub fn coefficients(&self) -> u64 {
        let conv = self.layout.conv;
        (conv.outputs * conv.results().iter().product::<usize>()) as u64
    }

    fn answers(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.layout.groups())
            .flat_map(|group| (0..self.layout.tiles.len()).map(move |tile| (group, tile)))
    }
}

/// The party that has the vector.
pub struct Encryptor(Client);

/// The party that has weights, and the other's public key.
pub struct Evaluator(Server);

impl Encryptor {
    /// Fresh keys. `seed` is secret, and serves nothing else.
    #[must_use]
    pub fn new(backend: Backend, set: Set, ring: u32, seed: &Seed) -> Self {
        Self(Client::new(Ground::new(backend, set, ring), seed))
    }

    /// The public key, for the other party.
    pub fn public_key(&mut self) -> Vec<u8> {
        self.0.public_key()
    }

    /// Encryptions of a vector of numbers modulo 2^ℓ: an image, channel after channel.
    ///
    /// # Panics
    /// If there are not as many, or the layer is of other parameters (the caller's bug).
    pub fn upload(&mut self, linear: &Linear, image: &[u64]) -> Vec<u8> {
        let conv = linear.layout.conv;
        assert_eq!(
            image.len(),
            conv.channels * conv.image[0] * conv.image[1],
            "an image of the layer's shape"
        );
        assert_eq!(
            (self.0.ground.set, self.0.ground.ring),
            (linear.set, linear.ring),
            "parameters of the layer"
        );
        self.0.encrypt(&linear.layout.uploads(image))
    }

    /// This party's share of the products.
    ///
    /// # Errors
    /// The answer is none of such a layer.
    pub fn open(&self, linear: &Linear, answer: &[u8]) -> Result<Vec<u64>, BfvError> {
        let expected = self.answer_bytes(linear);
        if answer.len() != expected {
            return Err(BfvError::Length { what: "an answer", found: answer.len(), expected });
        }
        let (mut out, mut rest) = (vec![0; linear.coefficients() as usize], answer);
        for (group, tile) in linear.answers() {
            let (places, to) = linear.layout.places(&linear.layout.tiles[tile], group);
            let (one, next) = rest.split_at(self.0.ground.answer_bytes(places.len()));
            rest = next;
            self.0.open(one, &places)?.into_iter().zip(to).for_each(|(x, to)| out[to] = x);
        }
        Ok(out)
    }

    /// Bytes of an answer.
    #[must_use]
    pub fn answer_bytes(&self, linear: &Linear) -> usize {
        answer_bytes(&self.0.ground, linear)
    }

    #[cfg(test)]
    pub(crate) fn client(&self) -> &Client {
        &self.0
    }
}

fn answer_bytes(ground: &Ground, linear: &Linear) -> usize {
    let one = |(group, tile): (usize, usize)| {
        ground.answer_bytes(linear.layout.places(&linear.layout.tiles[tile], group).0.len())
    };
    linear.answers().map(one).sum()
}

impl Evaluator {
    /// `key` is the other party's; `seed` is secret, and serves nothing else.
    ///
    /// # Errors
    /// The key is none.
    pub fn new(backend: Backend, set: Set, ring: u32, key: &[u8], seed: &Seed) -> Result<Self, BfvError> {
        Ok(Self(Server::new(Ground::new(backend, set, ring), key, seed)?))
    }

    /// Bytes of a public key.
    #[must_use]
    pub fn key_bytes(set: Set) -> usize {
        // Any ring has the same.
        16 + set.primes() * packed(set.n(), BITS)
    }

    /// The answer, and this party's share of the products.
    ///
    /// # Errors
    /// The upload is none of such a layer, or a weight is greater than agreed.
    ///
    /// # Panics
    /// If there are not as many weights, or the layer is of other parameters (the caller's bug).
    pub fn answer(
        &mut self,
        linear: &Linear,
        upload: &[u8],
        weights: &[i64],
    ) -> Result<(Vec<u8>, Vec<u64>), BfvError> {
        let (layout, ground) = (&linear.layout, self.0.ground.clone());
        assert_eq!(
            weights.len() as u64,
            layout.conv.terms() * layout.conv.outputs as u64,
            "weights of the layer"
        );
        assert_eq!((ground.set, ground.ring), (linear.set, linear.ring), "parameters of the layer");
        let (each, blocks) = (ground.pair_bytes(), layout.blocks());
        let expected = layout.tiles.len() * blocks * each;
        if upload.len() != expected {
            return Err(BfvError::Length { what: "an upload", found: upload.len(), expected });
        }
        // Over all of them, so that time does not tell which is too great.
        let most = weights.iter().fold(0, |most, w| most.max(w.unsigned_abs()));
        if most > linear.weight {
            let cause =
                format!("a weight is greater than {}, which the layer was planned for", linear.weight);
            return Err(BfvError::Margin { cause });
        }
        let pairs = upload.chunks_exact(each).map(|pair| ground.read("an upload", pair));
        let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        let (mut out, mut share) = (vec![], vec![0; linear.coefficients() as usize]);
        for group in 0..layout.groups() {
            let mut sums: Vec<Sum> = layout.tiles.iter().map(|_| self.0.sum()).collect();
            for block in 0..blocks {
                let weights = ground.transformed(&layout.weights(weights, block, group));
                for (tile, sum) in sums.iter_mut().enumerate() {
                    self.0.add(sum, &pairs[tile * blocks + block], &weights);
                }
            }
            for (tile, sum) in layout.tiles.iter().zip(sums) {
                let (places, to) = layout.places(tile, group);
                let masks = self.0.masks(places.len());
                self.0.answer(sum, &places, &masks, linear.margin.flooding, &mut out);
                masks.into_iter().zip(to).for_each(|(mask, to)| share[to] = mask);
            }
        }
        Ok((out, share))
    }
}

#[cfg(test)]
impl Evaluator {
    /// The halves of the first answer, with as much flooding, before they are brought to fewer primes.
    pub(crate) fn halves(
        &mut self,
        linear: &Linear,
        upload: &[u8],
        weights: &[i64],
        flooding: u32,
    ) -> [Vec<Vec<u64>>; 2] {
        let ground = self.0.ground.clone();
        let mut sum = self.0.sum();
        for (block, pair) in upload.chunks_exact(ground.pair_bytes()).take(linear.layout.blocks()).enumerate()
        {
            let weights = ground.transformed(&linear.layout.weights(weights, block, 0));
            self.0.add(&mut sum, &ground.read("an upload", pair).expect("an honest one"), &weights);
        }
        let (places, _) = linear.layout.places(&linear.layout.tiles[0], 0);
        self.0.hidden(sum, &places, &vec![0; places.len()], flooding)
    }
}

/// The transforms of one prime, for measurements.
#[doc(hidden)]
pub fn transform(backend: Backend, set: Set) -> impl FnMut() {
    let prime = Prime::new(0, set.n());
    let mut a: Vec<u64> = (0..set.n() as u64).collect();
    move || prime.forward(backend, &mut a)
}
