//! The verifier's interface, the primitive products, and the look of messages to their receiver.

use hushwire_aes::Backend;
use hushwire_circuit::{Builder, Program, planes::plane_bytes};
use hushwire_rep3::{
    AesBlocks, CircuitBatch, CircuitWorkspace, ExpandedKeys, Field, KeySize, Multiply, Place, Record, Role,
    Sbox, Unit, Workspace, open, share, test_support::context,
};
use hushwire_testkit::{backends, lockstep, noise, prg, world};
use std::sync::{Arc, Mutex};

/// A plain GF(2^8) product, by shift and add.
fn gf256(a: u8, b: u8) -> u8 {
    let (mut a, mut r) = (a, 0);
    for i in 0..8 {
        if b >> i & 1 == 1 {
            r ^= a;
        }
        a = if a >> 7 == 1 { a << 1 ^ 0x1b } else { a << 1 };
    }
    r
}

/// The element with these coordinates in 1, γ, γ², γ³, γ = 3^17.
fn embed(n: u8) -> u8 {
    let gamma = (0..17).fold(1, |r, _| gf256(r, 3));
    let mut power = 1;
    (0..4).fold(0, |sum, i| {
        let term = if n >> i & 1 == 1 { power } else { 0 };
        power = gf256(power, gamma);
        sum ^ term
    })
}

fn unembed(x: u8) -> u8 {
    (0..16).find(|&n| embed(n) == x).expect("an element of the subfield")
}

#[test]
fn products_in_every_field() {
    for backend in backends() {
        for field in Field::ALL {
            for len in [1, 16, 100, 512, 1000] {
                let (x, y) = (noise(1, len), noise(2, len));
                let want: Vec<u8> = x
                    .iter()
                    .zip(&y)
                    .map(|(&x, &y)| match field {
                        Field::Gf2 => x & y,
                        Field::Gf256 => gf256(x, y),
                        Field::Gf16 => {
                            let half = |x, y| unembed(gf256(embed(x & 15), embed(y & 15)));
                            half(x, y) | half(x >> 4, y >> 4) << 4
                        }
                    })
                    .collect();
                let (w, xs, ys) =
                    (world(1, backend), share(&mut prg(1, "x"), &x), share(&mut prg(1, "y"), &y));
                let runs = [0, 1, 2].map(|i| {
                    Multiply::new(field, context(&w[i], 0, 0), xs[i].clone(), ys[i].clone()).unwrap()
                });
                let [a, b, c] = lockstep(runs);
                let z = open([&a.product().own, &b.product().own, &c.product().own]).unwrap();
                assert!(z == want, "{field:?}, {len} bytes on {backend:?}");
            }
        }
    }
}

/// One layer as a verifier receives it.
#[derive(Default, Clone)]
struct Layer {
    mask: Vec<u8>,
    products: Vec<(Place, [Vec<u8>; 4])>,
    opened: Option<[Vec<u8>; 2]>,
    message: Vec<u8>,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Layer>>>);

impl Record for Log {
    fn randomness(&mut self, layer: usize, mask: &[u8]) {
        let mut log = self.0.lock().unwrap();
        assert_eq!(log.len(), layer, "layers come in order");
        log.push(Layer { mask: mask.to_vec(), ..Layer::default() });
    }
    fn product(&mut self, layer: usize, place: Place, x: [&[u8]; 2], y: [&[u8]; 2]) {
        self.0.lock().unwrap()[layer].products.push((place, [x[0], x[1], y[0], y[1]].map(<[u8]>::to_vec)));
    }
    fn opening(&mut self, layer: usize, shares: [&[u8]; 2]) {
        let mut log = self.0.lock().unwrap();
        assert_eq!(log.len(), layer, "layers come in order");
        log.push(Layer { opened: Some(shares.map(<[u8]>::to_vec)), ..Layer::default() });
    }
    fn message(&mut self, layer: usize, message: &[u8]) {
        self.0.lock().unwrap()[layer].message = message.to_vec();
    }
}

/// Recomputes each party's message from what was recorded, and the shared products from all
/// parties' records.
#[test]
fn a_verifier_hears_all_that_a_message_was_made_of() {
    for backend in [Backend::best(), Backend::best().without_gfni()] {
        for sbox in Sbox::ALL {
            for blocks in [1, 5, 33] {
                let w = world(3, backend);
                let keys = share(&mut prg(1, "keys"), &noise(1, 176));
                let input = share(&mut prg(2, "input"), &noise(2, 16 * blocks));
                let logs = [Log::default(), Log::default(), Log::default()];
                let runs = [0, 1, 2].map(|i| {
                    let keys = Arc::new(
                        ExpandedKeys::from_shares(Role::ALL[i], KeySize::Aes128, &keys[i], 1).unwrap(),
                    );
                    let mut run =
                        AesBlocks::new(sbox, context(&w[i], 0, 0), keys, &input[i], Workspace::default());
                    run.record(Box::new(logs[i].clone()));
                    run
                });
                lockstep(runs);
                let logs = logs.map(|l| l.0.lock().unwrap().clone());
                assert_eq!(logs[0].len(), sbox.prepared_rounds() + 10 * sbox.rounds());
                for layer in 0..logs[0].len() {
                    check_layer(logs.each_ref().map(|l| &l[layer]));
                }
            }
        }
    }
}

/// A small circuit with layers of different sizes: a chain of ANDs next to a wide layer.
fn circuit() -> Program {
    let mut g = Builder::new();
    let a = g.input(9);
    let mut out: Vec<_> = a.windows(2).map(|w| g.and(w[0], w[1])).collect();
    let chain = out.clone().into_iter().fold(a[8], |x, y| g.and(x, y));
    out.push(chain);
    Program::flat("chain", &g.finish(&[out]))
}

#[test]
fn a_verifier_hears_circuits_of_few_and_many_instances() {
    let program = Arc::new(circuit());
    for instances in [1, 3, 7, 8, 77, 600] {
        let w = world(3, Backend::best());
        let input = share(&mut prg(2, "input"), &noise(2, program.input_bits() * plane_bytes(instances)));
        let logs = [Log::default(), Log::default(), Log::default()];
        let runs = [0, 1, 2].map(|i| {
            let (cx, ws) = (context(&w[i], 0, 0), CircuitWorkspace::default());
            let mut run = CircuitBatch::new(program.clone(), cx, &input[i], instances, ws).unwrap();
            run.record(Box::new(logs[i].clone()));
            run
        });
        lockstep(runs);
        let logs = logs.map(|l| l.0.lock().unwrap().clone());
        assert_eq!(logs[0].len(), program.depth());
        for layer in 0..logs[0].len() {
            check_layer(logs.each_ref().map(|l| &l[layer]));
        }
    }
}

fn check_layer(parties: [&Layer; 3]) {
    if parties[0].opened.is_some() {
        for (i, party) in parties.iter().enumerate() {
            let of = |i: usize| parties[i].opened.as_ref().expect("all parties open");
            assert!(party.message == of(i)[1] && of(i)[1] == of((i + 1) % 3)[0]);
        }
        return;
    }
    for (i, layer) in parties.iter().enumerate() {
        let mut message = layer.mask.clone();
        for (place, [xl, xr, yl, yr]) in &layer.products {
            for j in 0..xl.len() {
                let z = match place.unit {
                    Unit::Bits | Unit::FewBits { .. } => xl[j] & (yl[j] ^ yr[j]) ^ xr[j] & yl[j],
                    _ => gf256(xl[j], yl[j] ^ yr[j]) ^ gf256(xr[j], yl[j]),
                };
                match place.unit {
                    Unit::Bits | Unit::Byte => message[place.offset + j] ^= z,
                    Unit::LowNibble => message[place.offset + j] ^= project(z),
                    Unit::HighNibble => message[place.offset + j] ^= project(z) << 4,
                    Unit::FewBits { first, bits } => {
                        for b in 0..usize::from(bits) {
                            let bit = 8 * place.offset + usize::from(first) + b;
                            message[bit / 8] ^= (z >> b & 1) << (bit % 8);
                        }
                    }
                    Unit::Words { .. } | Unit::Sum { .. } => panic!("no products of numbers here"),
                }
            }
        }
        assert!(message == layer.message, "the record does not explain what was sent");
        // The factors are replicated: this party's right shares are its right neighbour's left
        // shares.
        let next = &parties[(i + 1) % 3].products;
        for ((place, [_, xr, _, yr]), (place2, [xl, _, yl, _])) in layer.products.iter().zip(next) {
            assert_eq!(place, place2);
            assert!(xr == xl && yr == yl);
        }
    }
    // The masks cancel out.
    for j in 0..parties[0].mask.len() {
        assert_eq!(parties[0].mask[j] ^ parties[1].mask[j] ^ parties[2].mask[j], 0);
    }
}

/// π(x) = Tr(δx) in coordinates, with the smallest δ whose trace to GF(2^4) is 1.
fn project(x: u8) -> u8 {
    let trace = |y: u8| y ^ (0..4).fold(y, |y, _| gf256(y, y));
    let delta = (1..=255).find(|&d| trace(d) == 1).unwrap();
    unembed(trace(gf256(delta, x)))
}

/// The same computation under other keys: every message looks random, none repeats, and bits are
/// balanced.
#[test]
fn messages_are_masked() {
    for sbox in Sbox::ALL {
        let logs: Vec<Vec<Layer>> = (0..2)
            .map(|seed| {
                let w = world(100 + seed, Backend::best());
                let keys = share(&mut prg(1, "keys"), &[0; 176]);
                let input = share(&mut prg(2, "input"), &[0; 16 * 64]);
                let log = Log::default();
                let runs = [0, 1, 2].map(|i| {
                    let keys = Arc::new(
                        ExpandedKeys::from_shares(Role::ALL[i], KeySize::Aes128, &keys[i], 1).unwrap(),
                    );
                    let mut run =
                        AesBlocks::new(sbox, context(&w[i], 0, 0), keys, &input[i], Workspace::default());
                    if i == 0 {
                        run.record(Box::new(log.clone()));
                    }
                    run
                });
                lockstep(runs);
                log.0.lock().unwrap().clone()
            })
            .collect();
        for (a, b) in logs[0].iter().zip(&logs[1]) {
            let (bits, n) = (a.message.len() as f64 * 8.0, a.message.len());
            let differ: u32 = a.message.iter().zip(&b.message).map(|(a, b)| (a ^ b).count_ones()).sum();
            let ones: u32 = a.message.iter().map(|a| a.count_ones()).sum();
            // Eight standard deviations of a fair coin.
            let slack = 4.0 * bits.sqrt();
            assert!(
                (f64::from(differ) - bits / 2.0).abs() < slack,
                "{sbox}: {differ} of {n} bytes' bits differ"
            );
            assert!((f64::from(ones) - bits / 2.0).abs() < slack, "{sbox}: {ones} ones in {n} bytes");
        }
    }
}
