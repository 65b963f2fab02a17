//! Keys, encryption, answers and decryption.
//!
//! ```text
//! secret s, ternary      phase of (a, b) = b + a s = (q / t) m + noise    modulo q, t = 2^ℓ
//! upload     (seed, b = −a s + e + ⌊q m / t⌉), a from the seed    b transformed, 50 bits a residue
//! answer     Σ w·upload + encryption of 0 under the public key + flooding − mask, brought to fewer
//!            primes
//! ```
//!
//! **Source.** Z. Brakerski, Crypto 2012; J. Fan, F. Vercauteren, ePrint 2012/144; answers without
//! rotations as in Z. Huang et al., "Cheetah", USENIX Security 2022. **Deviations.** Both halves of
//! an answer hide the weights: the first by a fresh encryption of 0, the second by flooding that
//! exceeds the bound over all coefficients of a run.

use crate::{
    BfvError, Set,
    ntt::{BITS, Prime, inverse_of, times},
    params::{DROPPED_A, DROPPED_B},
    sample::{errors, floods, ternary, uniform, words},
};
use hushwire_aes::Backend;
use hushwire_block::{Wiped, abreast};
use hushwire_prg::{Prg, Seed};
use zeroize::{Zeroize, Zeroizing};

/// A polynomial as its residues modulo each prime.
pub(crate) type Poly = Vec<Vec<u64>>;

/// The bytes of a seed.
const SEED: usize = 16;

/// The tables of a parameter set and a ring, which both parties have.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) set: Set,
    pub(crate) ring: u32,
    pub(crate) backend: Backend,
    pub(crate) primes: Vec<Prime>,
    /// 1 / 2^ℓ modulo each prime, and q modulo 2^ℓ.
    inverses: Vec<u64>,
    q: u64,
    /// For each prime, its inverse modulo each prime before it.
    between: Vec<Vec<u64>>,
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// A signed number as a residue, without a branch.
fn residue(x: i64, p: u64) -> u64 {
    (x + (p.cast_signed() & (x >> 63))).cast_unsigned()
}

/// Packs numbers of `bits` bits, at most 57, without gaps.
pub(crate) fn pack(numbers: impl Iterator<Item = u64>, bits: u32, out: &mut Vec<u8>) {
    let (mut held, mut used) = (0u64, 0);
    for x in numbers {
        held |= x << used;
        used += bits;
        if used >= 64 {
            out.extend_from_slice(&held.to_le_bytes());
            used -= 64;
            // The bits that did not fit; 0 if all did.
            held = x >> (bits - used);
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..used.div_ceil(8) as usize]);
}

pub(crate) fn packed(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

pub(crate) fn unpack(bytes: &[u8], count: usize, bits: u32) -> Vec<u64> {
    let mut out = Vec::with_capacity(count);
    if bits == BITS && count.is_multiple_of(4) {
        // Four residues in 25 bytes.
        for of in bytes.as_chunks::<25>().0 {
            let word = |at: usize| u64::from_le_bytes(*of[at..].first_chunk().expect("eight bytes"));
            out.extend([word(0), word(6) >> 2, word(12) >> 4, word(17) >> 14].map(|x| x & mask(BITS)));
        }
        return out;
    }
    for k in 0..count {
        let (at, shift) = (k * bits as usize / 8, k * bits as usize % 8);
        let rest = &bytes[at..];
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut whole = [0; 8];
            whole[..rest.len()].copy_from_slice(rest);
            whole
        });
        out.push(u64::from_le_bytes(word) >> shift & mask(bits));
    }
    out
}

impl Ground {
    pub(crate) fn new(backend: Backend, set: Set, ring: u32) -> Ground {
        let primes: Vec<Prime> = (0..set.primes()).map(|k| Prime::new(k, set.n())).collect();
        // (p + 1) / 2 is the inverse of 2.
        let inverse = |p: u64| (0..ring).fold(1, |x, _| times(x, p.div_ceil(2), p));
        let inverses = primes.iter().map(|prime| inverse(prime.p)).collect();
        let q = primes.iter().fold(1u64, |q, prime| q.wrapping_mul(prime.p)) & mask(ring);
        let before = |last: usize| {
            let p = primes[last].p;
            primes[..last].iter().map(|prime| inverse_of(p % prime.p, prime.p)).collect()
        };
        let between = (0..primes.len()).map(before).collect();
        Ground { set, ring, backend, primes, inverses, q, between }
    }

    fn kept(&self) -> usize {
        self.set.kept(self.ring)
    }

    /// The multiples of 1 / t that ⌊q m / t⌉ is modulo every prime: q m minus its centred remainder
    /// is divided by t, and q is 0 modulo every prime.
    fn rests(&self, m: impl Iterator<Item = u64>) -> Zeroizing<Vec<i64>> {
        let shift = 64 - self.ring;
        let rest = |m: u64| -((self.q.wrapping_mul(m) << shift).cast_signed() >> shift);
        Zeroizing::new(m.map(rest).collect())
    }

    /// Adds ⌊q m / t⌉ modulo prime `k`, for numbers m with these remainders.
    fn add_encoded(&self, sum: &mut [u64], rests: &[i64], k: usize) {
        let prime = &self.primes[k];
        let rests = Zeroizing::new(rests.iter().map(|x| residue(*x, prime.p)).collect::<Vec<_>>());
        prime.add_products(self.backend, sum, &rests, &vec![self.inverses[k]; sum.len()]);
    }

    /// Small coefficients as transformed residues.
    pub(crate) fn transformed(&self, x: &[i64]) -> Poly {
        let one = |prime: &Prime| {
            let mut of: Vec<u64> = x.iter().map(|x| residue(*x, prime.p)).collect();
            prime.forward(self.backend, &mut of);
            of
        };
        self.primes.iter().map(one).collect()
    }

    fn stretched(&self, seed: &[u8; SEED]) -> Poly {
        let mut prg = Prg::new(self.backend, &Seed::from_bytes(*seed), "bfv public polynomial");
        self.primes.iter().map(|prime| uniform(&mut prg, self.set.n(), prime.p)).collect()
    }

    pub(crate) fn zero(&self) -> Poly {
        vec![vec![0; self.set.n()]; self.primes.len()]
    }

    fn add_products(&self, sum: &mut Poly, a: &Poly, b: &Poly) {
        for (((prime, sum), a), b) in self.primes.iter().zip(sum).zip(a).zip(b) {
            prime.add_products(self.backend, sum, a, b);
        }
    }

    fn written(&self, seed: &[u8; SEED], b: &Poly) -> Vec<u8> {
        let mut out = seed.to_vec();
        b.iter().for_each(|b| pack(b.iter().copied(), BITS, &mut out));
        out
    }

    /// The number of bytes of a seeded pair.
    pub(crate) fn pair_bytes(&self) -> usize {
        SEED + self.primes.len() * packed(self.set.n(), BITS)
    }

    pub(crate) fn read(&self, what: &'static str, bytes: &[u8]) -> Result<[Poly; 2], BfvError> {
        let (n, each) = (self.set.n(), packed(self.set.n(), BITS));
        let (Some(seed), true) = (bytes.first_chunk(), bytes.len() == self.pair_bytes()) else {
            return Err(BfvError::Length { what, found: bytes.len(), expected: self.pair_bytes() });
        };
        let b: Poly = bytes[SEED..].chunks_exact(each).map(|b| unpack(b, n, BITS)).collect();
        if self.primes.iter().zip(&b).any(|(prime, b)| b.iter().any(|x| *x >= prime.p)) {
            return Err(BfvError::Residue { what });
        }
        Ok([self.stretched(seed), b])
    }

    /// Switches coefficients from all primes to those that are kept.
    fn switched(&self, mut poly: Poly) -> Poly {
        for last in (self.kept()..self.primes.len()).rev() {
            let (shift, p) = (poly.pop().expect("residues of each prime"), self.primes[last].p);
            for ((of, prime), inverse) in poly.iter_mut().zip(&self.primes).zip(&self.between[last]) {
                prime.lessen(self.backend, of, &shift, p, *inverse);
            }
        }
        poly
    }
}

/// The party that encrypts and learns the results.
pub(crate) struct Client {
    pub(crate) ground: Ground,
    /// The secret, transformed and untransformed.
    s: Poly,
    small: Vec<i64>,
    prg: Prg,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.s.zeroize();
        self.small.zeroize();
    }
}

impl Client {
    pub(crate) fn new(ground: Ground, seed: &Seed) -> Client {
        let mut prg = Prg::new(ground.backend, seed, "bfv client");
        let small = ternary(&mut prg, ground.set.n());
        let s = ground.transformed(&small);
        Client { ground, s, small, prg }
    }

    /// The public seed of a pair's first half, and the secret seed of its errors.
    fn seeds(&mut self) -> ([u8; SEED], Seed) {
        let mut seeds = Zeroizing::new([0; 2 * SEED]);
        self.prg.fill(&mut seeds[..]);
        let [open, own] = [0, SEED].map(|at| *seeds[at..].first_chunk().expect("two seeds"));
        (open, Seed::from_bytes(own))
    }

    /// A pair with phase e + ⌊q m / t⌉.
    fn pair(&self, (seed, own): ([u8; SEED], Seed), m: Option<&[u64]>) -> Vec<u8> {
        let ground = &self.ground;
        let a = ground.stretched(&seed);
        let mut prg = Prg::new(ground.backend, &own, "bfv errors");
        let e = Zeroizing::new(errors(&mut prg, ground.set.n()));
        let rests = m.map(|m| ground.rests(m.iter().copied()));
        let mut b = vec![];
        for (k, prime) in ground.primes.iter().enumerate() {
            let mut sum: Vec<u64> = e.iter().map(|e| residue(*e, prime.p)).collect();
            if let Some(rests) = &rests {
                ground.add_encoded(&mut sum, rests, k);
            }
            prime.forward(ground.backend, &mut sum);
            let mut product = vec![0; sum.len()];
            prime.add_products(ground.backend, &mut product, &a[k], &self.s[k]);
            b.push(sum.iter().zip(&product).map(|(x, y)| prime.minus(*x, *y)).collect());
            sum.zeroize();
            product.zeroize();
        }
        ground.written(&seed, &b)
    }

    /// An encryption of 0, from which the server makes its own encryptions of 0.
    pub(crate) fn public_key(&mut self) -> Vec<u8> {
        let seeds = self.seeds();
        self.pair(seeds, None)
    }

    /// Encrypts polynomials modulo 2^ℓ on `threads` threads.
    pub(crate) fn encrypt(&mut self, all: Vec<Vec<u64>>, threads: usize) -> Vec<u8> {
        let seeded = all.into_iter().map(|m| (self.seeds(), Wiped::new(m))).collect();
        let own = &*self;
        abreast(threads, seeded, |(seeds, m)| own.pair(seeds, Some(&m))).concat()
    }

    /// The phases of an answer at the places of its results, and the results.
    pub(crate) fn open(&self, answer: &[u8], places: &[usize]) -> Result<Vec<u64>, BfvError> {
        Ok(self.phases(answer, places)?.into_iter().map(|phase| self.decoded(phase)).collect())
    }

    pub(crate) fn phases(&self, answer: &[u8], places: &[usize]) -> Result<Vec<u128>, BfvError> {
        let (ground, what) = (&self.ground, "an answer");
        let expected = ground.set.answer_bytes(ground.ring, places.len());
        if answer.len() != expected {
            return Err(BfvError::Length { what, found: answer.len(), expected });
        }
        let (n, kept) = (ground.set.n(), ground.kept());
        let dropped = if kept == 1 { [DROPPED_A, DROPPED_B] } else { [0; 2] };
        let mut all = vec![];
        let (each, mut rest) = (packed(n, BITS - dropped[0]), answer);
        for (k, prime) in ground.primes[..kept].iter().enumerate() {
            let (a, next) = rest.split_at(each);
            let (b, next) = next.split_at(packed(places.len(), BITS - dropped[1]));
            rest = next;
            let whole = |x: u64, d: u32| ((x << d) % prime.p, (x << d) >= prime.p && d == 0);
            let mut a: Vec<(u64, bool)> =
                unpack(a, n, BITS - dropped[0]).into_iter().map(|x| whole(x, dropped[0])).collect();
            let b: Vec<(u64, bool)> = unpack(b, places.len(), BITS - dropped[1])
                .into_iter()
                .map(|x| whole(x, dropped[1]))
                .collect();
            if a.iter().chain(&b).any(|(_, none)| *none) {
                return Err(BfvError::Residue { what });
            }
            let mut a: Vec<u64> = a.drain(..).map(|(x, _)| x).collect();
            prime.forward(ground.backend, &mut a);
            let mut product = vec![0; n];
            prime.add_products(ground.backend, &mut product, &a, &self.s[k]);
            prime.inverse(ground.backend, &mut product);
            all.push(
                places.iter().zip(b).map(|(i, (b, _))| prime.plus(product[*i], b)).collect::<Vec<u64>>(),
            );
        }
        if kept == 1 {
            return Ok(all.remove(0).into_iter().map(u128::from).collect());
        }
        // x = x_0 + p_0 ((x_1 − x_0) / p_0 mod p_1).
        let [first, second] = [&ground.primes[0], &ground.primes[1]];
        let inverse = inverse_of(first.p % second.p, second.p);
        let joined = |(x, y): (&u64, &u64)| {
            let digit = times(second.minus(*y, *x % second.p), inverse, second.p);
            u128::from(*x) + u128::from(first.p) * u128::from(digit)
        };
        Ok(all[0].iter().zip(&all[1]).map(joined).collect())
    }

    /// The modulus of answers.
    pub(crate) fn modulus(&self) -> u128 {
        self.ground.primes[..self.ground.kept()].iter().map(|prime| u128::from(prime.p)).product()
    }

    /// The centred noise modulo the first prime of halves that are not switched to fewer primes,
    /// given their results.
    #[cfg(test)]
    pub(crate) fn noises(&self, [a, b]: &[Poly; 2], places: &[usize], results: &[u64]) -> Vec<i64> {
        let (ground, prime) = (&self.ground, &self.ground.primes[0]);
        let mut a = a[0].clone();
        prime.forward(ground.backend, &mut a);
        let mut product = vec![0; a.len()];
        prime.add_products(ground.backend, &mut product, &a, &self.s[0]);
        prime.inverse(ground.backend, &mut product);
        let noise = |(place, m): (&usize, &u64)| {
            let phase = prime.plus(product[*place], b[0][*place]);
            let mut encoded = [0];
            ground.add_encoded(&mut encoded, &ground.rests([*m].into_iter()), 0);
            let noise = prime.minus(phase, encoded[0]);
            if noise > prime.p / 2 {
                noise.cast_signed() - prime.p.cast_signed()
            } else {
                noise.cast_signed()
            }
        };
        places.iter().zip(results).map(noise).collect()
    }

    fn decoded(&self, phase: u128) -> u64 {
        let (q, ring) = (self.modulus(), self.ground.ring);
        let m = if self.ground.kept() == 1 {
            ((phase << ring) + q / 2) / q
        } else {
            // m q / t exceeds m ⌊q / t⌋ by less than m, far below half a step.
            let step = q >> ring;
            (phase + step / 2) / step
        };
        m as u64 & mask(ring)
    }
}

/// The party with the weights.
pub(crate) struct Server {
    pub(crate) ground: Ground,
    key: [Poly; 2],
    prg: Prg,
}

impl Server {
    pub(crate) fn new(ground: Ground, key: &[u8], seed: &Seed) -> Result<Server, BfvError> {
        let key = ground.read("a public key", key)?;
        let prg = Prg::new(ground.backend, seed, "bfv server");
        Ok(Server { ground, key, prg })
    }

    /// A secret seed for one answer.
    pub(crate) fn seed(&mut self) -> Seed {
        let mut seed = Zeroizing::new([0; SEED]);
        self.prg.fill(&mut seed[..]);
        Seed::from_bytes(*seed)
    }

    /// The answer for sums of products: the whole first half, and the coefficients of the second
    /// half at `places` minus masks, which are returned.
    pub(crate) fn answer(
        &self,
        seed: &Seed,
        sum: [Poly; 2],
        places: &[usize],
        flooding: u32,
    ) -> (Vec<u8>, Vec<u64>) {
        let mut prg = Prg::new(self.ground.backend, seed, "bfv answer");
        let masks: Vec<u64> =
            words(&mut prg, places.len()).iter().map(|word| word & mask(self.ground.ring)).collect();
        let halves = self.hidden(&mut prg, sum, places, &masks, flooding);
        (self.written(halves, places), masks)
    }

    /// The sum plus a fresh encryption of 0, flooding and masks, as coefficients.
    pub(crate) fn hidden(
        &self,
        prg: &mut Prg,
        mut sum: [Poly; 2],
        places: &[usize],
        masks: &[u64],
        flooding: u32,
    ) -> [Poly; 2] {
        let (n, ground) = (self.ground.set.n(), &self.ground);
        // SECURITY: without this encryption, the first half is the weights times a polynomial that
        // the client knows.
        let u = Zeroizing::new(ternary(prg, n));
        let u = ground.transformed(&u);
        for (half, key) in sum.iter_mut().zip(&self.key) {
            ground.add_products(half, key, &u);
            let e = Zeroizing::new(errors(prg, n));
            for (prime, half) in ground.primes.iter().zip(half) {
                prime.inverse(ground.backend, half);
                half.iter_mut().zip(&e[..]).for_each(|(x, e)| *x = prime.plus(*x, residue(*e, prime.p)));
            }
        }
        let [a, mut b] = sum;
        // SECURITY: without flooding, the noise of a result reveals information about the weights
        // to the client.
        let noises = Wiped::new(floods(prg, flooding, places.len()));
        let rests = ground.rests(masks.iter().map(|mask| mask.wrapping_neg()));
        for (k, (prime, b)) in ground.primes.iter().zip(&mut b).enumerate() {
            let least = prime.residue(1 << flooding);
            let noises = noises.iter().map(|noise| prime.minus(prime.residue(*noise), least));
            let mut added = Zeroizing::new(noises.collect::<Vec<_>>());
            ground.add_encoded(&mut added, &rests, k);
            places.iter().zip(&added[..]).for_each(|(place, x)| b[*place] = prime.plus(b[*place], *x));
        }
        [a, b]
    }

    fn written(&self, [a, b]: [Poly; 2], places: &[usize]) -> Vec<u8> {
        let (ground, kept) = (&self.ground, self.ground.kept());
        let at = |of: &Vec<u64>| places.iter().map(|i| of[*i]).collect();
        let [a, b] = [a, b.iter().map(at).collect()].map(|half| ground.switched(half));
        let dropped = if kept == 1 { [DROPPED_A, DROPPED_B] } else { [0; 2] };
        // Residues are rounded; a result of 2^50 becomes the next number below.
        let cut =
            |x: u64, d: u32| if d == 0 { x } else { ((x + (1 << (d - 1))) >> d).min((1 << (BITS - d)) - 1) };
        let mut out = Vec::with_capacity(ground.set.answer_bytes(ground.ring, places.len()));
        for k in 0..kept {
            for (half, d) in [&a, &b].into_iter().zip(dropped) {
                pack(half[k].iter().map(|x| cut(*x, d)), BITS - d, &mut out);
            }
        }
        out
    }
}
