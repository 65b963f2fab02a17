//! Protocols that move rows, over channels.

use hushwire_aes::Backend;
use hushwire_machine::{
    NetError, SessionId,
    drive::{Abreast, Lane, Machine},
};
use hushwire_prg::Seed;
use hushwire_rep3::{
    Rep3, Rep3Party, Role,
    ring::{
        Bits, Column, Permute, Sort, SortKey, Sum,
        test_support::{open_words, share_words},
    },
};
use hushwire_testkit::{Transport, prg, run_three};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// One party's two rings: for products, and against their direction.
fn lane<M: Machine>(role: Role, net: &mut hushwire_machine::Net) -> (Rep3Party, Lane<M>) {
    let [left, right] = [role.left().id(), role.right().id()];
    let mut back = net.channel(0, Some(right), Some(left)).unwrap();
    let ring = net.channel(1, Some(left), Some(right)).unwrap();
    let party =
        Rep3Party::open(role, Backend::best(), SessionId([9; 16]), Seed::random(), &mut back).unwrap();
    (party, Lane::over(vec![ring, back]))
}

/// A dealer's XOR shares of the bits of words.
fn keys(words: &[u64]) -> [Bits; 3] {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    hushwire_rep3::share(&mut prg(5, "rows"), &bytes).map(|shares| {
        let of = |share: &[u8]| {
            share.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect::<Vec<_>>()
        };
        Bits::of_words(Backend::best(), &Rep3 { own: of(&shares.own), next: of(&shares.next) }).unwrap()
    })
}

fn key(bits: &Bits) -> SortKey {
    SortKey { bits: Arc::new(bits.clone()), signed: false, descending: false }
}

/// Sorts payload by keys in a session. Returns the payload, and the durations of the sort and of
/// its application.
fn sorted(transport: Transport, words: &[u64], payload: &[u64]) -> (Vec<u64>, [Duration; 2]) {
    let (keys, payload) = (keys(words), share_words(&mut prg(6, "rows"), payload).map(Arc::new));
    let outcome = run_three(transport, 2, None, |role, mut net| {
        let (mut party, mut lane) = lane(role, &mut net);
        let key = key(&keys[role.index()]);
        let start = Instant::now();
        let sort = Sort::new(party.next_batch().unwrap(), words.len(), &[key]).unwrap();
        let order = lane.run(sort).unwrap().finish();
        let sorted = start.elapsed();
        let mut lane = Lane::over(lane.into_channels());
        let cx = party.next_batch().unwrap().context();
        let permute = Permute::<Sum<u64>>::new(cx, order, vec![payload[role.index()].clone()]).unwrap();
        let out = lane.run(permute).unwrap().finish().remove(0);
        (out, [sorted, start.elapsed() - sorted])
    });
    let times = outcome[0].1;
    (open_words(&outcome.map(|(out, _)| out)), times)
}

#[test]
fn payload_follows_its_keys_over_every_transport() {
    for transport in Transport::ALL {
        let words: Vec<u64> = (0..3000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50).collect();
        let payload: Vec<u64> = (0..3000).collect();
        let mut expected = payload.clone();
        expected.sort_by_key(|i| words[*i as usize]);
        assert!(sorted(transport, &words, &payload).0 == expected, "{transport:?}");
    }
}

/// Operations that are ready together share rounds: a sort, whose rounds are of several kinds, and
/// a shuffle.
#[test]
fn a_sort_shares_rounds_with_others() {
    let words: Vec<u64> = (0..40_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let keys = keys(&words);
    let numbers = share_words(&mut prg(6, "rows"), &words).map(Arc::new);
    let out = run_three(Transport::Inproc, 2, None, |role, mut net| {
        let (mut party, lane) = lane::<Sort>(role, &mut net);
        let mut sort = |rows: usize| {
            let keys = if rows == words.len() { vec![key(&keys[role.index()])] } else { vec![] };
            Sort::new(party.next_batch().unwrap(), rows, &keys).unwrap()
        };
        let (mut first, mut second) = (sort(words.len()), sort(100));
        let mut lane = Lane::over(lane.into_channels());
        let machines: Vec<&mut dyn Machine<Error = NetError>> = vec![&mut first, &mut second];
        lane.run(Abreast::new(machines)).unwrap();
        let mut lane = Lane::over(lane.into_channels());
        let column = numbers[role.index()].clone();
        let known = Arc::new(Column::known(role, &(0..100).collect::<Vec<u64>>()));
        let cx = party.next_batch().unwrap().context();
        let by = Permute::<Sum<u64>>::new(cx, first.finish(), vec![column]).unwrap();
        let first = lane.run(by).unwrap().finish().remove(0);
        let cx = party.next_batch().unwrap().context();
        let by = Permute::<Sum<u64>>::new(cx, second.finish(), vec![known]).unwrap();
        (first, lane.run(by).unwrap().finish().remove(0))
    });
    let mut expected = words;
    expected.sort_unstable();
    let (first, second): (Vec<_>, Vec<_>) = out.into_iter().unzip();
    assert!(open_words(&first.try_into().ok().unwrap()) == expected);
    assert!(open_words(&second.try_into().ok().unwrap()).into_iter().eq(0..100), "nothing to order by");
}
