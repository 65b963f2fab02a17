//! Rates of layers under encryption on one core: `rates`.

use hushwire_aes::Backend;
use hushwire_bfv::{Conv, Encryptor, Evaluator, LayerWeights, Linear, Set, TransformedWeights, transform};
use hushwire_prg::{Prg, Seed};
use std::time::Instant;

fn main() {
    let backend = Backend::best();
    for set in Set::ALL {
        let mut forward = transform(backend, set);
        (0..100).for_each(|_| forward());
        let start = Instant::now();
        (0..1000).for_each(|_| forward());
        println!("{set:?}: a transform in {:.1} µs", start.elapsed().as_secs_f64() * 1e3);
    }
    let mut prg = Prg::new(backend, &Seed::random(), "operands");
    let conv = |channels, image, outputs, kernel| Conv {
        channels,
        image: [image; 2],
        outputs,
        kernel: [kernel; 2],
        strides: [1; 2],
    };
    for (conv, coefficients) in [
        (conv(64, 58, 64, 3), 1 << 22),
        (conv(64, 16, 256, 3), 1 << 22),
        (conv(128, 55, 16, 1), 1 << 22),
        (conv(512, 7, 2048, 1), 1 << 22),
        (Conv::matrix(1000, 512), 1 << 22),
        // With as little flooding as the small parameters allow, to measure the rate that they
        // would have.
        (conv(64, 58, 64, 3), 1),
    ] {
        let Ok(linear) = Linear::new(conv, if coefficients == 1 { 20 } else { 32 }, 1 << 12, coefficients)
        else {
            continue;
        };
        let ring = if coefficients == 1 { 20 } else { 32 };
        let mut encryptor = Encryptor::new(backend, linear.set(), ring, &Seed::random());
        let key = encryptor.public_key();
        let mut evaluator =
            Evaluator::new(backend, linear.set(), ring, &key, &Seed::random()).expect("an honest key");
        let image: Vec<u64> = (0..conv.channels * conv.image[0] * conv.image[1])
            .map(|_| prg.next_u64() >> (64 - ring))
            .collect();
        let weights: Vec<i64> =
            (0..conv.terms() * conv.outputs as u64).map(|_| (prg.next_u64() % 8192) as i64 - 4096).collect();
        let start = Instant::now();
        let made = TransformedWeights::new(backend, &linear, &weights, 1).expect("weights within the bound");
        let transforms = start.elapsed().as_secs_f64();
        println!(
            "transforms of {} weights: {:.2} MB, made in {:.2} ms",
            weights.len(),
            linear.transformed_bytes() as f64 / 1e6,
            transforms * 1e3
        );
        let start = Instant::now();
        let upload = encryptor.upload(&linear, &image, 1);
        let sent = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (answer, _) = evaluator.answer(&linear, &upload, &weights, 1).expect("an honest upload");
        let answered = start.elapsed().as_secs_f64();
        let start = Instant::now();
        evaluator.answer(&linear, &upload, LayerWeights::Transformed(&made), 1).expect("an honest upload");
        println!("with transformed weights {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        encryptor.open(&linear, &answer, 1).expect("an honest answer");
        println!(
            "{:?} {:?} ring {ring} {:?}: {:.3} G MAC/s at the weights' party, {:.1} ms there, {:.1} + {:.1} ms at the vector's, {:.2} + {:.2} MB",
            linear.set(),
            conv.kernel,
            [conv.channels, conv.image[0], conv.outputs],
            conv.products() as f64 / answered / 1e9,
            answered * 1e3,
            sent * 1e3,
            start.elapsed().as_secs_f64() * 1e3,
            upload.len() as f64 / 1e6,
            answer.len() as f64 / 1e6,
        );
    }
}
