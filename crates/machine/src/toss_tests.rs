use super::*;
use crate::{Meter, PartyId, inproc};
use std::{thread, time::Duration};

const DOMAIN: &str = "hushwire 2026 wire toss test v1";
const STEP: &str = "naming the run";

fn toss(me: u8, own: u8) -> Toss {
    Toss::with(DOMAIN, b"context", me, [own; 32])
}

/// Both messages of a party.
fn said(toss: &Toss) -> [Word; 2] {
    [toss.commitment(), toss.opening()]
}

/// The channels of each of `n` parties to the others.
fn channels(n: u8) -> Vec<Vec<Channel>> {
    let ids: Vec<_> = (0..n).map(PartyId).collect();
    let nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
    let to_others = |(me, mut net): (usize, crate::Net)| {
        let others = ids.iter().filter(move |id| usize::from(id.0) != me);
        let open = |id: &PartyId| net.channel(0, Some(*id), Some(*id)).unwrap_or_else(|e| panic!("{e}"));
        others.map(open).collect()
    };
    nets.into_iter().enumerate().map(to_others).collect()
}

/// Runs party 0 of two with a peer that makes its second message from what it received, and may
/// also change its first one.
fn beside(
    first: impl FnOnce(&Toss, Word) -> Word + Send,
    second: impl FnOnce(&Toss, Word) -> Word + Send,
) -> Result<Word, NetError> {
    let [mut honest, mut other] = <[_; 2]>::try_from(channels(2)).unwrap_or_else(|_| panic!("two"));
    thread::scope(|scope| {
        scope.spawn(move || {
            let (toss, channel) = (toss(1, 9), &mut other[0]);
            let mut heard = [0; 32];
            channel.recv(STEP, &mut heard).unwrap_or_else(|e| panic!("{e}"));
            channel.send(STEP, &first(&toss, heard)).unwrap_or_else(|e| panic!("{e}"));
            channel.recv(STEP, &mut heard).unwrap_or_else(|e| panic!("{e}"));
            channel.send(STEP, &second(&toss, heard)).unwrap_or_else(|e| panic!("{e}"));
        });
        toss(0, 5).among(STEP, &mut honest)
    })
}

#[track_caller]
fn blamed(ended: Result<Word, NetError>, who: Option<PartyId>) {
    match ended {
        Err(NetError::Deviated { peer, step, .. }) => assert_eq!((peer, &step[..]), (who, STEP)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_name_depends_on_everything() {
    let name = |a: Toss, b: &Toss| a.name(&[said(b)]).unwrap_or_else(|e| panic!("{e:?}"));
    let of = |domain, context: &[u8]| {
        let [a, b] = [0u8, 1].map(|me| Toss::with(domain, context, me, [me + 1; 32]));
        name(a, &b)
    };
    let three = toss(0, 1).name(&[said(&toss(1, 2)), said(&toss(2, 3))]).unwrap_or_else(|e| panic!("{e:?}"));
    let names = [
        of(DOMAIN, b"context"),
        of(DOMAIN, b"another"),
        of("hushwire 2026 wire toss test v2", b"context"),
        name(toss(0, 3), &toss(1, 2)),
        name(toss(0, 1), &toss(1, 3)),
        name(toss(0, 2), &toss(1, 1)),
        three,
    ];
    for (i, a) in names.iter().enumerate() {
        assert!(names[..i].iter().all(|b| a != b), "{i}");
    }
    assert_eq!(name(toss(0, 1), &toss(1, 2)), names[0]);
    assert_eq!(name(toss(1, 2), &toss(0, 1)), names[0]);
    let fresh = || Toss::new(DOMAIN, b"context", 0).unwrap_or_else(|e| panic!("{e}")).opening();
    assert_ne!(fresh(), fresh());
}

#[test]
fn two_parties_find_one_name() {
    let name = beside(|toss, _| toss.commitment(), |toss, _| toss.opening());
    let wanted = toss(1, 9).name(&[said(&toss(0, 5))]);
    assert_eq!(name.ok(), wanted.ok());
}

#[test]
fn an_opening_that_fits_no_commitment_is_named() {
    blamed(beside(|toss, _| toss.commitment(), |_, _| [8; 32]), Some(PartyId(1)));
}

/// The peer repeats the commitment and the opening of this party.
#[test]
fn a_reflected_toss_is_named() {
    blamed(beside(|_, heard| heard, |_, heard| heard), Some(PartyId(1)));
}

/// A party that sends last, and knows the other's bytes, quickly finds bytes that give a name of
/// its choice. Here the name begins with a zero. Without commitments this would not be detected.
#[test]
fn bytes_chosen_after_the_others_are_known_are_refused() {
    let grind = |_: &Toss, heard: Word| {
        let honest = Toss { own: heard, ..toss(0, 0) };
        let chosen = (0..=u8::MAX).flat_map(|a| (0..16).map(move |b| [a, b])).find_map(|[a, b]| {
            let mut own = [a; 32];
            own[0] = b;
            let name = Toss { own, ..toss(1, 0) }.name(&[said(&honest)]).ok()?;
            (name[0] == 0).then_some(own)
        });
        chosen.unwrap_or_else(|| panic!("one of 4096 names begins with a zero"))
    };
    blamed(beside(|toss, _| toss.commitment(), grind), Some(PartyId(1)));
}

/// Before all commitments have come, a party sends nothing that depends on its bytes except its
/// commitment.
#[test]
fn nobody_opens_before_all_have_committed() {
    for n in [2, 3] {
        let mut all = channels(n);
        let mut others = all.split_off(1);
        let mut honest = all.remove(0);
        let meter = Meter::new();
        honest.iter_mut().for_each(|channel| channel.tap(meter.tap()));
        thread::scope(|scope| {
            let ended = scope.spawn(move || toss(0, 5).among(STEP, &mut honest));
            let mut last = others.pop().unwrap_or_default();
            for (me, others) in (1..).zip(&mut others) {
                others[0].send(STEP, &toss(me, 9).commitment()).unwrap_or_else(|e| panic!("{e}"));
            }
            let mut first = [0; 32];
            last[0].recv(STEP, &mut first).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(first, toss(0, 5).commitment());
            assert_ne!(first, toss(0, 5).opening());
            // The last party leaves instead of committing.
            drop(last);
            let ended = ended.join().unwrap_or_else(|_| panic!("it ends"));
            assert!(matches!(ended, Err(NetError::Closed { .. })), "{ended:?}");
        });
        assert_eq!(meter.reading().bytes_sent(), 32 * u64::from(n - 1));
    }
}

/// Runs parties 0 and 1 with a party 2 that has a toss and an opening for each of them.
fn among_three(lies: [u8; 2], opens: [u8; 2]) -> [Result<Word, NetError>; 2] {
    let [mut a, mut b, mut c] = <[_; 3]>::try_from(channels(3)).unwrap_or_else(|_| panic!("three"));
    let tosses = [toss(0, 5), toss(1, 6)];
    let honest = tosses.each_ref().map(Toss::commitment);
    thread::scope(|scope| {
        let [first, second] = tosses;
        let one = scope.spawn(move || first.among(STEP, &mut a));
        let two = scope.spawn(move || second.among(STEP, &mut b));
        let mut heard = [[0; 32]; 2];
        for (channel, own) in c.iter_mut().zip(lies) {
            channel.send(STEP, &toss(2, own).commitment()).unwrap_or_else(|e| panic!("{e}"));
            channel.recv(STEP, heard[0].as_mut_slice()).unwrap_or_else(|e| panic!("{e}"));
        }
        for ((channel, own), opening) in c.iter_mut().zip(lies).zip(opens) {
            // Party 2 sends the hash that this party expects.
            let all = toss(2, own).hash(ALL, toss(2, own).commitment(), honest.to_vec());
            let message = [all, [opening; 32]];
            // A party that ended earlier has closed its channel.
            let _ = channel.exchange(STEP, message.as_flattened(), heard.as_flattened_mut());
        }
        [one, two].map(|party| party.join().unwrap_or_else(|_| panic!("it ends")))
    })
}

#[test]
fn three_parties_find_one_name_and_no_party_can_choose_it() {
    let [one, two] = among_three([7, 7], [7, 7]).map(|name| name.unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(one, two);
    for ended in among_three([7, 7], [8, 8]) {
        blamed(ended, Some(PartyId(2)));
    }
    // Each opening of party 2 matches, and each party would get a different name.
    for ended in among_three([7, 8], [7, 8]) {
        blamed(ended, None);
    }
}
