use super::*;
use crate::{
    Rep3Party,
    ring::{
        group::{Sum, Xor},
        permutation::{Moves, tests::row_order},
        test_support::{open_words, parties, share_words},
    },
    test_support,
};
use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Abreast, Lockstep, Machine},
};
use hushwire_prg::{Prg, Seed};
use std::collections::BTreeMap;

fn prg() -> Prg {
    Prg::new(Backend::best(), &Seed::random(), "test")
}

fn permutations(parties: &mut [Rep3Party; 3], rows: usize) -> [Arc<Permutation>; 3] {
    parties.each_mut().map(|p| Permutation::random(&mut p.next_batch().unwrap(), rows).ok().unwrap())
}

/// A dealer's XOR shares.
fn share_bits<W: Word>(prg: &mut Prg, words: &[W]) -> [Column<W>; 3] {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.number().to_le_bytes()).collect();
    let words = |bytes: &[u8]| bytes.chunks_exact(8).map(W::read).collect();
    crate::share(prg, &bytes).each_ref().map(|s| Rep3 { own: words(&s.own), next: words(&s.next) })
}

fn open_bits<W: Word>(columns: &[Column<W>; 3]) -> Vec<W> {
    (0..3).for_each(|i| assert_eq!(columns[i].next, columns[(i + 1) % 3].own));
    let xor = |r: usize| columns.iter().fold(0, |sum, c| sum ^ c.own[r].number());
    (0..columns[0].rows()).map(|r| W::of(xor(r))).collect()
}

type Shared<W> = [Column<W>; 3];

fn run<G: Group>(
    parties: &mut [Rep3Party; 3],
    permutations: &[Arc<Permutation>; 3],
    columns: Vec<Shared<G::Word>>,
    (inverse, most): (bool, usize),
) -> Vec<Shared<G::Word>> {
    let columns: Vec<_> = columns.into_iter().map(|c| c.map(Arc::new)).collect();
    let mut machines: Vec<_> = (0..3)
        .map(|p| {
            let cx = parties[p].next_batch().unwrap().context();
            let own = columns.iter().map(|c| c[p].clone()).collect();
            let machine = Permute::<G>::new(cx, permutations[p].clone(), own).unwrap().in_pieces(most);
            if inverse { machine.inverse() } else { machine }
        })
        .collect();
    Lockstep::new().run(&mut machines).unwrap();
    let mut outs: Vec<_> = machines.into_iter().map(|m| m.finish().into_iter()).collect();
    (0..columns.len()).map(|_| [0, 1, 2].map(|p| outs[p].next().unwrap())).collect()
}

fn goes_and_comes_back<W: Word>() {
    let mut parties = parties();
    let prg = &mut prg();
    let whole = [0, 1, 2, 3, 9, 511, 1000, 5000].map(|rows| (rows, usize::MAX));
    // Pieces with a shorter last piece, with a full last piece, and with one piece.
    for (rows, most) in whole.into_iter().chain([(1000, 16), (1024, 512), (1000, 300), (9, 1), (0, 1)]) {
        let permutations = permutations(&mut parties, rows);
        let order = row_order(permutations.each_ref().map(|p| &**p));
        let numbers: [Vec<W>; 3] = [0; 3].map(|_| (0..rows).map(|_| W::of(prg.next_u64())).collect());
        let expected = numbers.each_ref().map(|v| order.iter().map(|i| v[*i as usize]).collect::<Vec<_>>());

        let columns = numbers.iter().map(|v| share_words(prg, v)).collect();
        let there = run::<Sum<W>>(&mut parties, &permutations, columns, (false, most));
        assert!(there.iter().map(open_words).eq(expected.iter().cloned()));
        let back = run::<Sum<W>>(&mut parties, &permutations, there, (true, most));
        assert!(back.iter().map(open_words).eq(numbers.iter().cloned()));

        let columns = numbers.iter().map(|v| share_bits(prg, v)).collect();
        let there = run::<Xor<W>>(&mut parties, &permutations, columns, (false, most));
        assert!(there.iter().map(open_bits).eq(expected.iter().cloned()));
        let back = run::<Xor<W>>(&mut parties, &permutations, there, (true, most));
        assert!(back.iter().map(open_bits).eq(numbers.iter().cloned()));
    }
}

#[test]
fn rows_move_together_there_and_back() {
    goes_and_comes_back::<u8>();
    goes_and_comes_back::<u16>();
    goes_and_comes_back::<u32>();
    goes_and_comes_back::<u64>();
}

/// Strings of bits move as their words do, with the same messages, whether their planes can be
/// written over or are also held elsewhere.
fn strings_move<W: Word>(widths: [usize; 3]) {
    use crate::ring::test_support::{open_bits, share_bits};
    let (prg, best) = (&mut prg(), Backend::best());
    for (rows, most) in [(0, 1), (1, 16), (9, 16), (4095, usize::MAX), (9001, 4096), (9001, usize::MAX)] {
        for (width, inverse, kept) in widths.into_iter().flat_map(|w| [(w, false, true), (w, true, false)]) {
            let numbers: Vec<u64> = (0..rows).map(|_| prg.next_u64() & (u64::MAX >> (64 - width))).collect();
            let shared = share_bits(prg, width, &numbers);
            let mut parties = parties();
            let permutations = permutations(&mut parties, rows);
            let order = row_order(permutations.each_ref().map(|p| &**p));
            let said = |machines: &mut [Permute<Xor<W>>]| {
                let mut said = vec![];
                let hear = |at: hushwire_machine::drive::Place, message: &mut Vec<u8>| {
                    said.push((at.party, at.slot, message.clone()));
                };
                Lockstep::new().run_edited(machines, hear).unwrap();
                said
            };
            let batches = parties.each_mut().map(|party| party.next_batch().unwrap().number());
            let cx = |p: usize| test_support::context(&parties[p], batches[p], 0);
            let turned = |machine: Permute<Xor<W>>| if inverse { machine.inverse() } else { machine };
            let as_words = |p: usize| {
                let words = vec![Arc::new(shared[p].to_words::<W>(best).unwrap())];
                turned(Permute::new(cx(p), permutations[p].clone(), words).unwrap().in_pieces(most))
            };
            let others = shared.clone().map(Arc::new);
            let as_bits = |p: usize| {
                let bits = if kept { others[p].clone() } else { Arc::new(shared[p].clone().trimmed()) };
                turned(Permute::of_bits(cx(p), permutations[p].clone(), bits).unwrap().in_pieces(most))
            };
            let (mut words, mut bits) = ([0, 1, 2].map(as_words), [0, 1, 2].map(as_bits));
            assert!(said(&mut words) == said(&mut bits), "the same messages");
            let out = bits.map(Permute::finish_bits);
            let mut expected = vec![0; rows];
            for (place, row) in order.iter().enumerate() {
                let (from, to) = if inverse { (place, *row as usize) } else { (*row as usize, place) };
                expected[to] = numbers[from];
            }
            assert_eq!(open_bits(&out), expected, "{rows} rows of {width} bits");
            assert_eq!(open_bits(&others.map(|bits| (*bits).clone())), numbers, "others have what they had");
        }
    }
}

#[test]
fn strings_of_bits_move_as_their_words_do() {
    strings_move::<u8>([1, 5, 8]);
    strings_move::<u64>([9, 33, 64]);
    let [mut party, ..] = parties();
    let batch = &mut party.next_batch().unwrap();
    let permutation = Permutation::random(batch, 7).ok().unwrap();
    for (width, rows) in [(9, 7), (8, 6usize)] {
        let none = || vec![0; width * rows.div_ceil(8)];
        let bits = Arc::new(Bits::new(width, rows, Rep3 { own: none(), next: none() }).unwrap());
        assert!(Permute::<Xor<u8>>::of_bits(batch.context(), permutation.clone(), bits).is_err());
    }
}

#[test]
fn no_columns_are_no_rounds() {
    let mut parties = parties();
    let permutations = permutations(&mut parties, 7);
    assert!(run::<Sum<u8>>(&mut parties, &permutations, vec![], (false, 3)).is_empty());
}

#[test]
fn other_lengths_are_refused() {
    let [mut party, ..] = parties();
    let batch = &mut party.next_batch().unwrap();
    let permutation = Permutation::random(batch, 7).ok().unwrap();
    let short = Arc::new(Column::<u32>::zeros(6));
    let ragged = Arc::new(Rep3 { own: vec![0; 7], next: vec![0; 8] });
    for (column, found) in [(short, 6), (ragged, 8)] {
        let error = Permute::<Sum<u32>>::new(batch.context(), permutation.clone(), vec![column]).err();
        let [expected, found] = [7, found].map(|rows| 4 * rows);
        assert_eq!(error, Some(ShareError::Length { what: "a column to permute", expected, found }));
    }
    assert!(Permutation::random(batch, 1 << 32).is_err());
}

#[test]
fn columns_of_several_widths_share_two_rounds() {
    let mut parties = parties();
    let prg = &mut prg();
    let permutations = permutations(&mut parties, 100);
    let order = row_order(permutations.each_ref().map(|p| &**p));
    let wide: Vec<u64> = (0..100).collect();
    let narrow: Vec<u8> = (100..200).collect();
    let (wides, narrows) = (share_words(prg, &wide).map(Arc::new), share_bits(prg, &narrow).map(Arc::new));
    let mut machines: Vec<_> = (0..3)
        .map(|p| {
            let mut batch = parties[p].next_batch().unwrap();
            let two = vec![wides[p].clone(), wides[p].clone()];
            let permutation = || permutations[p].clone();
            (
                Permute::<Sum<u64>>::new(batch.context(), permutation(), two).unwrap(),
                Permute::<Xor<u8>>::new(batch.context(), permutation(), vec![narrows[p].clone()]).unwrap(),
            )
        })
        .collect();
    let mut abreast: Vec<_> = machines
        .iter_mut()
        .map(|(a, b)| Abreast::new(vec![a as &mut dyn Machine<Error = NetError>, b]))
        .collect();
    assert_eq!(abreast[1].cost(), Some(Cost { rounds: 2, bytes_sent: 2 * 100 * 17 }));
    Lockstep::new().run(&mut abreast).unwrap();
    let (wides, narrows): (Vec<_>, Vec<_>) =
        machines.into_iter().map(|(a, b)| (a.finish(), b.finish().remove(0))).unzip();
    for i in 0..2 {
        let columns = [0, 1, 2].map(|p: usize| wides[p][i].clone());
        assert!(open_words(&columns).into_iter().eq(order.iter().map(|i| wide[*i as usize])));
    }
    let narrows = narrows.try_into().ok().unwrap();
    assert!(open_bits(&narrows).into_iter().eq(order.iter().map(|i| narrow[*i as usize])));
}

/// Each message is as drawn in the module's figure, masked by words of a key that its receiver
/// lacks.
#[test]
fn messages_are_masked_by_keys_that_their_readers_lack() {
    const ROWS: usize = 300;
    for (inverse, most) in [(false, ROWS), (true, ROWS), (false, 100), (true, 16), (false, 1)] {
        let mut parties = parties();
        let permutations = permutations(&mut parties, ROWS);
        let numbers: Vec<u64> = (0..ROWS as u64).collect();
        let columns = share_words(&mut prg(), &numbers);
        let roles = if inverse { [2, 1, 0] } else { [0, 1, 2] };
        let batches = parties.each_mut().map(|p| p.next_batch().unwrap());
        // Both masks of a pair, from the key of the party whose right neighbour is the other.
        let [m, n]: [Vec<u64>; 2] = [1, 2].map(|other| {
            let (x, y) = (roles[0], roles[other]);
            let holder = if (x + 1) % 3 == y { x } else { y };
            let cx = test_support::context(&parties[holder], batches[0].number(), 0);
            let mut words = PairWords::new(&cx, Neighbour::Right, 0);
            (0..2 * ROWS).map(|_| words.draw()).collect()
        });
        let stage = |p: usize, q: usize, rows: &[u64]| -> Vec<u64> {
            let side = if (roles[p] + 1) % 3 == roles[q] { Neighbour::Right } else { Neighbour::Left };
            let Moves { into, from } = permutations[roles[p]].stage(side, inverse);
            let mut room = vec![0; ROWS];
            into.iter().zip(rows).for_each(|(i, row)| room[*i as usize] = *row);
            from.iter().map(|i| room[*i as usize]).collect()
        };
        let sum =
            |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| a.wrapping_add(*b)).collect() };
        let less =
            |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| a.wrapping_sub(*b)).collect() };
        let x = &columns[roles[0]];
        let alpha = sum(&x.own, &x.next);
        let gamma = less(&numbers, &alpha);
        let s = sum(&stage(0, 2, &sum(&stage(0, 1, &alpha), &m[..ROWS])), &n[..ROWS]);
        let t = less(&stage(1, 0, &gamma), &m[..ROWS]);
        let u = less(&stage(1, 2, &s), &m[ROWS..]);
        let v = less(&stage(2, 1, &less(&stage(2, 0, &t), &n[..ROWS])), &n[ROWS..]);
        let bytes = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let expected = [(0, 0, s), (0, 1, t), (1, 1, u), (1, 2, v)].map(|(r, p, w)| (r, roles[p], bytes(&w)));

        let machines = batches.into_iter().zip(columns).zip(&permutations);
        let mut machines: Vec<_> = machines
            .map(|((mut batch, column), permutation)| {
                let columns = vec![Arc::new(column)];
                let machine =
                    Permute::<Sum<u64>>::new(batch.context(), permutation.clone(), columns).unwrap();
                let machine = machine.in_pieces(most);
                if inverse { machine.inverse() } else { machine }
            })
            .collect();
        // The pieces of a phase, one behind the other, make up the message of all rows.
        let pieces = ROWS.div_ceil(most.next_multiple_of(16));
        let mut seen = BTreeMap::<(usize, usize), Vec<u8>>::new();
        Lockstep::new()
            .run_edited(&mut machines, |place, message| {
                if !message.is_empty() {
                    seen.entry((place.round / pieces, place.party)).or_default().extend(&*message);
                }
            })
            .unwrap();
        let expected = expected.into_iter().map(|(phase, party, words)| ((phase, party), words));
        assert!(seen == expected.collect(), "inverse: {inverse}, {most} rows in a message");
    }
}
