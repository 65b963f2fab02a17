//! Hostile inputs for a decoder: random bytes, and valid inputs with changes.

use crate::prg;
use hushwire_prg::Prg;

/// The length of the longest random input.
const RANDOM: usize = 512;

/// Returns `count` inputs for a decoder, the same at each call. First come all valid inputs
/// unchanged. Then come valid inputs with some bytes changed, cut out, repeated or moved, and
/// sometimes random bytes.
pub fn mutated(seed: u64, good: &[&[u8]], count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut prg = prg(seed, "hushwire testkit mutated");
    let good: Vec<Vec<u8>> = good.iter().map(|bytes| bytes.to_vec()).collect();
    (0..count).map(move |i| match good.get(i) {
        Some(bytes) => bytes.clone(),
        None if good.is_empty() || i % 8 == 0 => {
            let mut bytes = vec![0; below(&mut prg, RANDOM)];
            prg.fill(&mut bytes);
            bytes
        }
        None => {
            let at = below(&mut prg, good.len());
            let mut bytes = good[at].clone();
            (0..=below(&mut prg, 4)).for_each(|_| change(&mut prg, &mut bytes, &good));
            bytes
        }
    })
}

/// A number below `n`; 0 if `n` is 0.
fn below(prg: &mut Prg, n: usize) -> usize {
    let mut bytes = [0; 8];
    prg.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % n.max(1) as u64).unwrap_or(0)
}

fn change(prg: &mut Prg, bytes: &mut Vec<u8>, good: &[Vec<u8>]) {
    let at = below(prg, bytes.len());
    let part = at..(at + 1 + below(prg, 16)).min(bytes.len());
    match below(prg, 8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(part)),
        2 => {
            let copy = bytes[part].to_vec();
            let to = below(prg, bytes.len());
            bytes.splice(to..to, copy);
        }
        3 => {
            let other = &good[below(prg, good.len())];
            let from = below(prg, other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        4 => {
            let mut random = vec![0; part.len()];
            prg.fill(&mut random);
            bytes.splice(part, random);
        }
        // Lengths, versions and signs often depend on few bits.
        5 => bytes.get_mut(part).into_iter().flatten().for_each(|b| *b = [0, 1, 0x7f, 0x80, 0xff][at % 5]),
        _ => bytes.get_mut(at).into_iter().for_each(|b| *b ^= 1 << (at % 8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_many_and_the_same_each_time() {
        let inputs = || mutated(3, &[b"a good one", b"and another"], 200).collect::<Vec<_>>();
        let all = inputs();
        assert_eq!(all, inputs());
        assert_eq!((&all[0][..], &all[1][..]), (&b"a good one"[..], &b"and another"[..]));
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert!(different.len() > 150, "{}", different.len());
    }
}
