//! Shares of inputs and values of outputs, for tests of crates that run plans.

use crate::Door;
use hushwire_circuit::Planes;
use hushwire_compute::{Dim, Shape, Tensor, Type};
use hushwire_prg::Prg;
use hushwire_rep3::{Addition, Shares, ranges, share};

/// Makes shares of a value in the form of its door.
///
/// # Panics
/// If the value does not fit the door.
#[must_use]
pub fn shared(prg: &mut Prg, value: &Tensor, door: Door) -> [Shares; 3] {
    let Addition::Words(bytes) = door.addition() else { return share(prg, &value.to_planes()) };
    let word = |i: usize| value.get(i).to_le_bytes()[..bytes.into()].to_vec();
    let mut last: Vec<u8> = (0..value.len()).flat_map(word).collect();
    let [a, b] = [(); 2].map(|()| {
        let mut share = vec![0; last.len()];
        prg.fill(&mut share);
        door.addition().take(&mut last, &share);
        share
    });
    let all = [a, b, last];
    [0, 1, 2].map(|p| Shares { own: all[p].clone(), next: all[(p + 1) % 3].clone() })
}

/// Reconstructs the value from its shares.
///
/// # Panics
/// If the shares do not fit the door.
#[must_use]
pub fn opened(shares: [&Shares; 3], door: Door, ty: &Type) -> Tensor {
    let mut sum = shares[0].own.clone();
    assert_eq!(sum.len(), door.bytes());
    shares[1..].iter().for_each(|share| door.addition().add(&mut sum, &share.own));
    let lengths = ty.shape.lengths().expect("values of that door");
    let Addition::Words(bytes) = door.addition() else {
        let planes = Planes::new(ty.scalar.bits(), door.elements, sum).expect("values of that door");
        return Tensor::from_planes(ty.scalar, &lengths, &planes.trimmed());
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u128::from(*byte));
    Tensor::from_words(ty.scalar, &lengths, sum.chunks_exact(bytes.into()).map(word))
}

/// Makes shares of each shard's elements of a value, ordered by shard.
///
/// # Panics
/// As [`shared`].
#[must_use]
pub fn shared_on_shards(prg: &mut Prg, value: &Tensor, door: Door, shards: usize) -> Vec<[Shares; 3]> {
    let bounds = ranges(value.len(), shards);
    let part = |shard: usize| {
        let rows = bounds[shard]..bounds[shard + 1];
        let mut part = Tensor::zeros(value.scalar(), &[rows.len()]);
        rows.enumerate().for_each(|(i, at)| part.element_mut(i).copy_from_slice(value.element(at)));
        shared(prg, &part, door.of_shard(shard, shards))
    };
    (0..shards).map(part).collect()
}

/// Reconstructs a value from the shares of each shard's elements, ordered by shard.
///
/// # Panics
/// As [`opened`], and if the parties' shares do not match.
#[must_use]
pub fn opened_on_shards(shares: &[[&Shares; 3]], door: Door, ty: &Type) -> Tensor {
    let mut all = Tensor::zeros(ty.scalar, &ty.shape.lengths().expect("values of that door"));
    let mut at = 0;
    let shards = shares.len();
    for (shard, shares) in shares.iter().enumerate() {
        (0..3).for_each(|p| assert_eq!(shares[p].next, shares[(p + 1) % 3].own, "shares fit"));
        let door = door.of_shard(shard, shards);
        let ty = Type { shape: Shape(vec![Dim::Known(door.elements as u64)]), ..ty.clone() };
        let part = opened(*shares, door, &ty);
        for i in 0..part.len() {
            all.element_mut(at).copy_from_slice(part.element(i));
            at += 1;
        }
    }
    assert_eq!(at, all.len(), "all elements");
    all
}
