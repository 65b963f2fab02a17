//! The attack that each rule prevents, and messages that are recomputed from the randomness that
//! made them.

use super::pair::{both, context, dealt, prg, random, shared};
use crate::{
    Operation, TwoError,
    digits::{NOBODYS, multiples as multiples_of},
    kit::{Cots, Kit, OtRun, OtSide},
    lanes::LANES,
    long::LONG,
    ring::{mask, pack, pack_bits, unpack, unpack_bits},
};
use hushwire_block::Block;
use hushwire_machine::drive::Line;

fn kit(index: usize, cots: Cots) -> Kit {
    let mut kit = None;
    let begin = |talk| {
        kit = Some(Kit::new(talk, index, &context(), cots));
        async { Ok(()) }
    };
    drop(Line::<(), TwoError>::new(begin));
    kit.expect("a line begins at once")
}

/// The choices and the payload of one vector product, as both parties see them.
fn vectors(width: u32, each: usize, corr: impl Fn(usize) -> u64 + Sync) -> (Vec<u8>, Vec<u64>) {
    let choices = vec![1u8, 0, 1, 1, 0];
    let n = choices.len();
    let runs = [OtRun { count: n, width }];
    let (_, spent) = both([n, 0], |mut kit, i| {
        let (choices, corr) = (choices.clone(), &corr);
        async move {
            let (choices, runs): (&[u8], [&[OtRun]; 2]) =
                if i == 0 { (&[], [&runs, &[]]) } else { (&choices, [&[], &runs]) };
            let corr = |_, vector: &mut [u64]| vector.iter_mut().enumerate().for_each(|(m, v)| *v = corr(m));
            kit.products(choices, runs, each, corr, |_, _, _| {}).await
        }
    });
    let said: Vec<&Vec<u8>> = spent.messages.iter().filter(|m| !m.is_empty()).collect();
    // Long vectors are in lanes. If words have 64 bits, they are at their places.
    let held = if each < LONG { each } else { each.next_multiple_of(LANES) };
    let all = unpack(said[1], n * held, width);
    (said[0].clone(), all.chunks(held).flat_map(|vector| vector[..each].to_vec()).collect())
}

#[test]
fn messages_are_recomputed_from_what_made_them() {
    let (width, each) = (37, 5);
    let (said, payload) = vectors(width, each, |m| 1000 + m as u64);
    let [sender, receiver] = dealt([5, 0]);
    let bits: Vec<u8> =
        [1u8, 0, 1, 1, 0].iter().zip(receiver.t.iter()).map(|(c, t)| c ^ u8::from(t.lsb())).collect();
    assert_eq!(said, pack_bits(&bits), "a choice goes under a random bit");
    let turned: Vec<Block> =
        sender.q.iter().zip(&bits).map(|(q, d)| if *d == 1 { *q ^ sender.delta } else { *q }).collect();
    let ones: Vec<Block> = turned.iter().map(|q| *q ^ sender.delta).collect();
    let kit = kit(0, sender);
    // A block of pads has three numbers of 37 bits, so five numbers take two blocks.
    let pads = |x: &[Block]| {
        let mut out = vec![vec![Block::ZERO; 5]; 2];
        out.iter_mut().enumerate().for_each(|(j, out)| kit.hash(OtSide::Sent, 5 * j as u128, x, out));
        move |g: usize, m: usize| (out[m / 3][g].to_u128() >> (37 * (m % 3))) as u64
    };
    let (zero, one) = (pads(&turned), pads(&ones));
    for g in 0..5 {
        for m in 0..each {
            let expected = zero(g, m).wrapping_sub(one(g, m)).wrapping_add(1000 + m as u64) & mask(width);
            assert_eq!(payload[g * each + m], expected, "a number goes under two pads");
        }
    }
}

/// Without a tweak, all blocks of a vector's pads are equal, and differences of numbers become
/// visible.
#[test]
fn pads_of_a_vector_have_tweaks() {
    let (width, each) = (64, 4);
    let corr = |m: usize| 0x1111 * m as u64;
    let (_, payload) = vectors(width, each, corr);
    let differs = |of: &dyn Fn(usize, usize) -> u64| {
        (0..5).filter(|g| of(*g, 2).wrapping_sub(of(*g, 0)) == corr(2) - corr(0)).count()
    };
    // The attack succeeds on the same messages with pads that repeat after a block.
    let [sender, _] = dealt([5, 0]);
    let q = sender.q.to_vec();
    let kit = kit(0, sender);
    let ones: Vec<Block> = q.iter().map(|q| *q ^ kit.delta()).collect();
    let mut pads = [vec![Block::ZERO; 5], vec![Block::ZERO; 5]];
    kit.hash(OtSide::Sent, 0, &q, &mut pads[0]);
    kit.hash(OtSide::Sent, 0, &ones, &mut pads[1]);
    let bad = |g: usize, m: usize| {
        let pad = |k: usize| (pads[k][g].to_u128() >> (64 * (m % 2))) as u64;
        pad(0).wrapping_sub(pad(1)).wrapping_add(corr(m))
    };
    assert_eq!(differs(&bad), 5, "the attack works where pads repeat");
    assert_eq!(differs(&|g, m| payload[g * each + m]), 0, "and finds nothing where they do not");
}

/// The same for long vectors: no pad repeats within a piece, from piece to piece, or from OT to OT.
#[test]
fn pads_of_a_long_vector_have_tweaks() {
    const EACH: usize = 1200;
    let (width, zeros) = (64, |_: usize| 0);
    let (_, payload) = vectors(width, EACH, zeros);
    let seen: std::collections::HashSet<u64> = payload.iter().copied().collect();
    assert_eq!((payload.len(), seen.len()), (5 * EACH, 5 * EACH), "of 64 bits none comes twice by chance");
    // The same OTs with tweaks that restart at each piece. The pads of a piece are then those of
    // the piece before.
    let [sender, _] = dealt([5, 0]);
    let q = sender.q.to_vec();
    let kit = kit(0, sender);
    let mut pieces = [(); 2].map(|()| vec![Block::ZERO; 256]);
    pieces.iter_mut().for_each(|pads| kit.hash(OtSide::Sent, 0, &[q[0]; 256], pads));
    assert_eq!(pieces[0], pieces[1], "the attack works where tweaks begin again");
}

/// The OTs that a party sends and those that it receives have pads under different keys, because
/// both count their tweaks from 0.
#[test]
fn each_direction_has_a_key_of_its_own() {
    let pads = |index: usize, side: OtSide| {
        let mut pads = [Block::ZERO];
        kit(index, Cots { delta: Block::ZERO, q: vec![].into(), t: vec![].into() }).hash(
            side,
            0,
            &[Block::ONES],
            &mut pads,
        );
        pads
    };
    for index in [0, 1] {
        assert_ne!(pads(index, OtSide::Sent), pads(index, OtSide::Received));
        assert_eq!(
            pads(index, OtSide::Sent),
            pads(1 - index, OtSide::Received),
            "both parties have the same two"
        );
    }
}

/// An OT that is used twice reveals whether two choices are equal.
#[test]
fn an_ot_is_used_once() {
    let choices = random(&mut prg("choices"), 256, 1).iter().map(|b| *b as u8).collect::<Vec<_>>();
    let other = random(&mut prg("others"), 256, 1).iter().map(|b| *b as u8).collect::<Vec<_>>();
    let says = || {
        let (_, spent) = both([512, 0], |mut kit, i| {
            let (a, b) = (choices.clone(), other.clone());
            async move {
                let none: &[u8] = &[];
                let n = if i == 0 { 256 } else { 0 };
                kit.choose(if i == 0 { none } else { &a }, n).await;
                kit.choose(if i == 0 { none } else { &b }, n).await;
                Ok(())
            }
        });
        spent.messages.into_iter().filter(|m| !m.is_empty()).map(|m| unpack_bits(&m, 256)).collect::<Vec<_>>()
    };
    let agree = |x: &[u8], y: &[u8]| (0..256).filter(|i| x[*i] ^ y[*i] == choices[*i] ^ other[*i]).count();
    let said = says();
    // The second choices masked by the first choices' bits, as if an OT were used again.
    let again: Vec<u8> = (0..256).map(|i| said[0][i] ^ choices[i] ^ other[i]).collect();
    assert_eq!(agree(&said[0], &again), 256, "the attack works where an OT is used twice");
    let found = agree(&said[0], &said[1]);
    assert!((80..176).contains(&found), "{found} of 256 by chance");
}

/// A peer whose digit is 0 would know a share under the key of digit 0.
#[test]
fn no_digit_has_the_key_of_a_share() {
    let multiples = multiples_of(Block::from_u128(0x1234_5678_9abc_def1_0fed_cba9_8765_4321));
    for (i, x) in multiples.iter().enumerate() {
        assert!(multiples[..i].iter().all(|y| x != y), "multiples of Δ are distinct");
    }
    // Keys differ by a multiple of Δ given by the halves of digits. No difference equals that of
    // the unused key.
    for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
        assert_eq!(multiples[a] ^ multiples[b], multiples[a ^ b], "keys are linear in halves of digits");
        assert_ne!(multiples[a] ^ multiples[NOBODYS], multiples[b]);
    }
    let n = 64;
    let cots = dealt([4 * n, 0]);
    let t = cots[1].t.to_vec();
    // All digits are 0. For a = 3, (a > 0, a = 0) is (1, 0), and t must not reveal shares of it.
    let (orders, _) = both([4 * n, 4 * n], |mut kit, i| async move {
        let own = vec![if i == 0 { 3u64 } else { 0 }; 2 * n];
        Ok(kit.compare(&own, &[crate::compare::ComparePart::order(4)]).await.remove(0).greater)
    });
    let receiver = kit(1, Cots { delta: Block::ZERO, q: vec![].into(), t: t.clone().into() });
    // Both halves of a digit 0 have the keys that t gives. A block is doubled as the multiples of
    // it require.
    let keys: Vec<Block> = t.chunks_exact(4).map(|four| four[2] ^ multiples_of(four[3])[2]).collect();
    let mut pads = vec![Block::ZERO; keys.len()];
    receiver.hash(OtSide::Received, 0, &keys, &mut pads);
    let guessed =
        pads.iter().zip(&orders[0][..]).filter(|(pad, share)| u8::from(pad.lsb()) == **share).count();
    assert!((n / 4..3 * n / 4).contains(&guessed), "{guessed} of {n} by chance");
    assert!((0..n).all(|i| orders[0][i] ^ orders[1][i] == 1), "3 > 0");
}

/// Over many runs, every bit of every message is 1 in about half of them, for any numbers. The
/// lengths do not depend on the numbers.
#[test]
fn messages_are_masked() {
    let rows = 512;
    let operations =
        [Operation::Relu, Operation::Truncate { by: 5, sign: crate::Sign::Any }, Operation::Multiply];
    for operation in operations {
        let says = |x: u64| {
            let zero = vec![x; rows];
            let shares = [shared(&mut prg("a"), &zero, 16), shared(&mut prg("b"), &zero, 16)];
            let cots = operation.tally(16, rows).cots;
            let (_, spent) = both(cots, |mut kit, i| {
                let columns: Vec<Vec<u64>> = shares.iter().map(|s| s[i].clone()).collect();
                async move { operation.run(&mut kit, 16, &columns).await }
            });
            let tally = operation.tally(16, rows);
            assert_eq!((tally.bytes, tally.rounds), (spent.bytes, spent.rounds), "{operation:?}");
            spent.messages
        };
        let (zeros, ones) = (says(0), says(0xffff));
        let lengths = |m: &[Vec<u8>]| m.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&zeros), lengths(&ones), "lengths depend on sizes alone");
        for message in zeros.iter().chain(&ones) {
            let bits = 8 * message.len() as i64;
            let set: i64 = message.iter().map(|b| i64::from(b.count_ones())).sum();
            // The tolerance is six standard deviations.
            assert!((2 * set - bits).pow(2) <= 36 * bits + 64, "{operation:?}: {set} of {bits} bits are set");
        }
    }
}

#[test]
fn shares_are_packed_without_the_bits_above() {
    let numbers = [0xffff_ffff_u64, 3];
    assert_eq!(pack(&numbers, 4), vec![0x3f]);
}
