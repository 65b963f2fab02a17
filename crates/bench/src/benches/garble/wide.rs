//! Independent gates on random wires: the kernel alone.

use hushwire_aes::Backend;
use hushwire_garble::{Evaluate, Family, Garble, GateBackend, Scheme, SessionNonce, Stretch, Tables};
use hushwire_prg::{Prg, Seed};

use super::ends::{Both, input};
use crate::BoxError;

/// The number of gates. Their tables, wires and outputs stay in the second-level cache, and mostly
/// in the first.
pub(super) const GATES: usize = 1024;
/// The number of wires that they read.
const WIRES: usize = 512;

pub(super) struct Wide<F: Family> {
    garbler: F::Garbler,
    evaluator: F::Evaluator,
    width: usize,
    pairs: Vec<[u32; 2]>,
    values: Vec<u8>,
    zeros: Vec<<F::Garbler as GateBackend>::Wire>,
    held: Vec<<F::Evaluator as GateBackend>::Wire>,
    made: Vec<<F::Garbler as GateBackend>::Wire>,
    got: Vec<<F::Evaluator as GateBackend>::Wire>,
    bytes: Vec<u8>,
    bits: Vec<u8>,
}

impl<F: Family> Wide<F> {
    pub(super) fn new(scheme: Scheme, backend: Backend, width: usize) -> Self {
        let seed = Seed::random();
        let mut prg = Prg::new(backend, &seed, "bench wide");
        let public = SessionNonce(prg.next_block());
        let mut garbler = F::Garbler::new(backend, scheme, public, &seed, None);
        let evaluator = F::Evaluator::new(backend, scheme, public);
        let (mut values, mut zeros, mut held) = (vec![], vec![], vec![]);
        for _ in 0..WIRES {
            let (active, bit) = input(&mut prg, scheme);
            values.push(bit);
            zeros.push(garbler.own(active, bit));
            held.push(evaluator.label(active));
        }
        let mut wire = || (prg.next_u64() % WIRES as u64) as u32;
        let pairs = (0..GATES).map(|_| [wire(), wire()]).collect();
        let format = F::Garbler::FORMAT;
        Wide {
            garbler,
            evaluator,
            width: width.min(GATES),
            pairs,
            values,
            zeros,
            held,
            made: vec![Default::default(); GATES],
            got: vec![Default::default(); GATES],
            bytes: vec![0; GATES * format.and_bytes],
            bits: vec![0; if format.and_bits > 0 { GATES } else { 0 }],
        }
    }
}

/// Processes the gates of `end`, `width` at a time.
fn run<E: GateBackend>(
    end: &mut E,
    width: usize,
    wires: &[E::Wire],
    pairs: &[[u32; 2]],
    out: &mut [E::Wire],
    (bytes, bits): (&mut [u8], &mut [u8]),
) {
    let each = E::FORMAT.and_bytes;
    for at in (0..pairs.len()).step_by(width) {
        let to = pairs.len().min(at + width);
        let bits = if bits.is_empty() { E::Bytes::default() } else { E::Bytes::of(&mut bits[at..to]) };
        let bytes = E::Bytes::of(&mut bytes[at * each..to * each]);
        end.ands(wires, &pairs[at..to], &mut out[at..to], bytes, bits);
    }
}

impl<F: Family> Both for Wide<F> {
    fn garble(&mut self) -> Result<(), BoxError> {
        let tables = (&mut self.bytes[..], &mut self.bits[..]);
        run(&mut self.garbler, self.width, &self.zeros, &self.pairs, &mut self.made, tables);
        Ok(())
    }

    fn garble_to(&mut self, tables: &mut dyn Tables) -> Result<(), BoxError> {
        self.garble()?;
        let sent = tables.next(self.bytes.len())?;
        sent.copy_from_slice(&self.bytes);
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), BoxError> {
        let tables = (&mut self.bytes[..], &mut self.bits[..]);
        run(&mut self.evaluator, self.width, &self.held, &self.pairs, &mut self.got, tables);
        Ok(())
    }

    fn check(&mut self) -> Result<(), BoxError> {
        for ([a, b], (made, got)) in self.pairs.iter().zip(self.made.iter().zip(&self.got)) {
            let value = self.garbler.permute_bit(*made) ^ self.evaluator.signal(*got);
            if value != self.values[*a as usize] & self.values[*b as usize] {
                return Err(format!("the AND of wires {a} and {b} is wrong").into());
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        F::Garbler::FORMAT.piece(GATES) as u64
    }

    fn mean_batch(&self) -> f64 {
        GATES as f64 / GATES.div_ceil(self.width) as f64
    }
}
