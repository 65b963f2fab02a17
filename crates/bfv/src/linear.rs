//! A layer between two parties: one encrypts a vector, the other multiplies it by weights and keeps
//! a share.

use crate::{
    BfvError, Conv, LayerSizes, LayerWeights, Margin, Set,
    cipher::{Client, Ground, Server, packed},
    conv::Layout,
    ntt::{BITS, Prime},
    plain::plain,
    sums::{Factors, Uploads, sums},
};
use hushwire_aes::Backend;
use hushwire_block::abreast;
use hushwire_prg::Seed;

/// A layer that fits the parameters; both parties agree on it.
#[derive(Clone, Debug)]
pub struct Linear {
    set: Set,
    ring: u32,
    weight: u64,
    pub(crate) margin: Margin,
    pub(crate) layout: Layout,
    images: usize,
}

/// LOCAL: the largest number of answers whose weights are transformed at a time.
const BATCH: usize = 16;

impl Linear {
    /// A convolution modulo 2^`ring` by weights whose absolute values are at most `weight`, in a
    /// run that opens `coefficients` coefficients in all.
    ///
    /// # Errors
    /// No set of parameters has space for its noise, or for its windows.
    pub fn new(conv: Conv, ring: u32, weight: u64, coefficients: u64) -> Result<Linear, BfvError> {
        Linear::batch(conv, 1, ring, weight, coefficients)
    }

    /// The same convolution for `images` images, one after the other, with the same weights. Small
    /// images share ciphertexts.
    ///
    /// # Errors
    /// The same as for [`Self::new`].
    pub fn batch(
        conv: Conv,
        images: usize,
        ring: u32,
        weight: u64,
        coefficients: u64,
    ) -> Result<Linear, BfvError> {
        let layer =
            |outputs: usize| LayerSizes { ring, weight, terms: conv.terms(), outputs: outputs as u64 };
        let fitting = Set::ALL.into_iter().find_map(|set| {
            let layout = Layout::new(conv, set.n(), images)?;
            let margin = set.margin(&layer(layout.outputs.min(conv.outputs)), coefficients).ok()?;
            Some((set, margin, layout))
        });
        match fitting {
            Some((set, margin, layout)) => Ok(Linear { set, ring, weight, margin, layout, images }),
            None => Err(Set::Large.margin(&layer(conv.outputs), coefficients).err().unwrap_or_else(|| {
                BfvError::Margin {
                    cause: format!(
                        "windows of {:?} in images of {:?} fit no polynomial",
                        conv.kernel, conv.image
                    ),
                }
            })),
        }
    }

    /// The greatest number of images that share a ciphertext.
    #[must_use]
    pub fn together(&self) -> usize {
        self.layout.images
    }

    /// The parameters.
    #[must_use]
    pub fn set(&self) -> Set {
        self.set
    }

    /// The ring's width in bits.
    #[must_use]
    pub fn ring(&self) -> u32 {
        self.ring
    }

    /// The convolution.
    #[must_use]
    pub fn conv(&self) -> Conv {
        self.layout.conv
    }

    /// The number of bytes of an upload.
    #[must_use]
    pub fn upload_bytes(&self) -> usize {
        self.parts().len() * self.layout.blocks() * (16 + self.set.primes() * packed(self.set.n(), BITS))
    }

    /// The number of bytes of an answer.
    #[must_use]
    pub fn answer_bytes(&self) -> usize {
        let one = |(group, plane, tile): (usize, usize, usize)| {
            let results = self.layout.results(&self.layout.tiles[tile], group, self.images_of(plane));
            self.set.answer_bytes(self.ring, results)
        };
        self.answers().into_iter().map(one).sum()
    }

    /// Computes all results in the clear, modulo 2^ℓ, on `threads` threads.
    ///
    /// # Panics
    /// If the number of weights is wrong (the caller's bug).
    #[must_use]
    pub fn plain(&self, backend: Backend, images: &[u64], weights: &[u64], threads: usize) -> Vec<u64> {
        plain(self.conv(), self.ring, backend, [images, weights], threads)
    }

    /// The noise of this layer's answers, and their flooding.
    #[must_use]
    pub fn margin(&self) -> Margin {
        self.margin
    }

    /// The number of coefficients that this layer opens.
    #[must_use]
    pub fn coefficients(&self) -> u64 {
        (self.images * self.results()) as u64
    }

    /// The number of elements of an image, and of its results.
    fn pixels(&self) -> usize {
        let conv = self.layout.conv;
        conv.channels * conv.image[0] * conv.image[1]
    }

    fn results(&self) -> usize {
        let conv = self.layout.conv;
        conv.outputs * conv.results().iter().product::<usize>()
    }

    /// The largest absolute value of a weight.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The number of images of a plane: the last one may have fewer.
    fn images_of(&self, plane: usize) -> usize {
        self.layout.images.min(self.images - plane * self.layout.images)
    }

    /// All pairs of a plane and a tile.
    fn parts(&self) -> Vec<(usize, usize)> {
        let (planes, tiles) = (self.images.div_ceil(self.layout.images), self.layout.tiles.len());
        (0..planes * tiles).map(|k| (k / tiles, k % tiles)).collect()
    }

    /// All triples of a group, a plane and a tile.
    pub(crate) fn answers(&self) -> Vec<(usize, usize, usize)> {
        let parts = self.parts();
        (0..self.layout.groups()).flat_map(|g| parts.iter().map(move |(i, t)| (g, *i, *t))).collect()
    }

    /// The places of an answer's results in its polynomial, and among the results of all images.
    pub(crate) fn places(&self, (group, plane, tile): (usize, usize, usize)) -> (Vec<usize>, Vec<usize>) {
        let tile = &self.layout.tiles[tile];
        let (places, mut to) = self.layout.places(tile, group, self.images_of(plane));
        to.iter_mut().for_each(|to| *to += plane * self.layout.images * self.results());
        (places, to)
    }
}

/// The party with the vector.
pub struct Encryptor(Client);

/// The party with the weights: its state, and the number of groups of weights that its answers have
/// transformed.
pub struct Evaluator(Server, u64);

impl Encryptor {
    /// Makes fresh keys. `seed` is secret and must not be used for anything else.
    #[must_use]
    pub fn new(backend: Backend, set: Set, ring: u32, seed: &Seed) -> Self {
        Self(Client::new(Ground::new(backend, set, ring), seed))
    }

    /// The public key, for the other party.
    pub fn public_key(&mut self) -> Vec<u8> {
        self.0.public_key()
    }

    /// Encrypts a vector of numbers modulo 2^ℓ: images, channel by channel. `threads` is LOCAL.
    ///
    /// # Panics
    /// If the number of elements is wrong, or the layer has other parameters (the caller's bug).
    pub fn upload(&mut self, linear: &Linear, images: &[u64], threads: usize) -> Vec<u8> {
        assert_eq!(images.len(), linear.images * linear.pixels(), "images of the layer's shape");
        assert_eq!(
            (self.0.ground.set, self.0.ground.ring),
            (linear.set, linear.ring),
            "parameters of the layer"
        );
        let planes = images.chunks(linear.pixels() * linear.layout.images);
        self.0.encrypt(planes.flat_map(|images| linear.layout.uploads(images)).collect(), threads)
    }

    /// This party's share of the products, computed on `threads` threads.
    ///
    /// # Errors
    /// The answer does not fit the layer.
    pub fn open(&self, linear: &Linear, answer: &[u8], threads: usize) -> Result<Vec<u64>, BfvError> {
        let expected = linear.answer_bytes();
        if answer.len() != expected {
            return Err(BfvError::Length { what: "an answer", found: answer.len(), expected });
        }
        let mut rest = answer;
        let one = |at| {
            let (places, to) = linear.places(at);
            let (one, next) = rest.split_at(linear.set.answer_bytes(linear.ring, places.len()));
            rest = next;
            (one, places, to)
        };
        let all = linear.answers().into_iter().map(one).collect();
        let mut out = vec![0; linear.coefficients() as usize];
        for (opened, to) in abreast(threads, all, |(one, places, to)| (self.0.open(one, &places), to)) {
            opened?.into_iter().zip(to).for_each(|(x, to)| out[to] = x);
        }
        Ok(out)
    }

    #[cfg(test)]
    pub(crate) fn client(&self) -> &Client {
        &self.0
    }
}

impl Evaluator {
    /// `key` is the other party's. `seed` is secret and must not be used for anything else.
    ///
    /// # Errors
    /// The key is malformed.
    pub fn new(backend: Backend, set: Set, ring: u32, key: &[u8], seed: &Seed) -> Result<Self, BfvError> {
        Ok(Self(Server::new(Ground::new(backend, set, ring), key, seed)?, 0))
    }

    /// The number of bytes of a public key.
    #[must_use]
    pub fn key_bytes(set: Set) -> usize {
        // It is the same for every ring.
        16 + set.primes() * packed(set.n(), BITS)
    }

    /// The number of groups of outputs whose weights answers have transformed; 0 if all weights
    /// were transformed before.
    #[must_use]
    pub fn transforms(&self) -> u64 {
        self.1
    }

    /// The answer, and this party's share of the products. `threads` is LOCAL.
    ///
    /// # Errors
    /// The upload does not fit the layer, or a weight is larger than agreed.
    ///
    /// # Panics
    /// If the number of weights is wrong, or the layer has other parameters (the caller's bug).
    pub fn answer<'w>(
        &mut self,
        linear: &Linear,
        upload: &[u8],
        weights: impl Into<LayerWeights<'w>>,
        threads: usize,
    ) -> Result<(Vec<u8>, Vec<u64>), BfvError> {
        let (layout, ground, weights) = (&linear.layout, &self.0.ground, weights.into());
        let transforms = match weights {
            LayerWeights::Numbers(numbers) => linear.admits(numbers).map(|()| layout.groups())?,
            LayerWeights::Transformed(made) => {
                assert_eq!(made.groups.len(), layout.groups(), "weights of the layer");
                0
            }
        };
        assert_eq!((ground.set, ground.ring), (linear.set, linear.ring), "parameters of the layer");
        let (each, blocks) = (ground.pair_bytes(), layout.blocks());
        let parts = linear.parts();
        let expected = parts.len() * blocks * each;
        if upload.len() != expected {
            return Err(BfvError::Length { what: "an upload", found: upload.len(), expected });
        }
        let tiles = upload.chunks_exact(each * blocks).collect();
        let uploads = abreast(threads, tiles, |tile| Uploads::read(ground, layout, tile));
        let uploads = uploads.into_iter().collect::<Result<Vec<_>, BfvError>>()?;
        self.1 += transforms as u64;
        let seeds: Vec<Seed> = linear.answers().iter().map(|_| self.0.seed()).collect();
        // This batch size gives every thread some work.
        let batch_of = BATCH.min(layout.groups().div_ceil(threads.max(1)));
        let batches = seeds.chunks(parts.len() * batch_of).enumerate().collect();
        let (server, mut out, mut share) = (&self.0, vec![], vec![0; linear.coefficients() as usize]);
        let made = abreast(threads, batches, |(batch, seeds)| {
            let groups = batch * batch_of..layout.groups().min((batch + 1) * batch_of);
            let own: Vec<Factors>;
            let factors = match weights {
                LayerWeights::Transformed(made) => &made.groups[groups.clone()],
                LayerWeights::Numbers(weights) => {
                    let of = |group| Factors::new(&server.ground, layout, weights, group);
                    own = groups.clone().map(of).collect();
                    &own[..]
                }
            };
            let mut made: Vec<Option<(Vec<u8>, Vec<u64>)>> = seeds.iter().map(|_| None).collect();
            for (part, uploads) in uploads.iter().enumerate() {
                for (k, sum) in sums(&server.ground, layout, uploads, factors).into_iter().enumerate() {
                    let at = k * parts.len() + part;
                    let (plane, tile) = parts[part];
                    let (places, _) = linear.places((groups.start + k, plane, tile));
                    made[at] = Some(server.answer(&seeds[at], sum, &places, linear.margin.flooding));
                }
            }
            made
        });
        for (at, made) in linear.answers().into_iter().zip(made.into_iter().flatten()) {
            let (answer, masks) = made.expect("an answer for each");
            out.extend(answer);
            masks.into_iter().zip(linear.places(at).1).for_each(|(mask, to)| share[to] = mask);
        }
        Ok((out, share))
    }
}

#[cfg(test)]
impl Evaluator {
    /// The halves of the first answer, with this flooding, before they are switched to fewer
    /// primes.
    pub(crate) fn halves(
        &mut self,
        linear: &Linear,
        upload: &[u8],
        weights: &[i64],
        flooding: u32,
    ) -> [Vec<Vec<u64>>; 2] {
        let (ground, layout) = (self.0.ground.clone(), &linear.layout);
        let tile = &upload[..ground.pair_bytes() * layout.blocks()];
        let uploads = Uploads::read(&ground, layout, tile).expect("an honest one");
        let sum = sums(&ground, layout, &uploads, &[Factors::new(&ground, layout, weights, 0)]).remove(0);
        let (places, _) = linear.places((0, 0, 0));
        let mut prg = hushwire_prg::Prg::new(ground.backend, &self.0.seed(), "halves");
        self.0.hidden(&mut prg, sum, &places, &vec![0; places.len()], flooding)
    }
}

/// A function that transforms modulo one prime, for measurements.
#[doc(hidden)]
pub fn transform(backend: Backend, set: Set) -> impl FnMut() {
    let prime = Prime::new(0, set.n());
    let mut a: Vec<u64> = (0..set.n() as u64).collect();
    move || prime.forward(backend, &mut a)
}
