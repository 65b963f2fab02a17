//! Receivers of the malicious mode that skip their own checks find at most as many items as
//! `docs/internals/security-intersections.md` states.

use super::*;
use crate::Store;
use crate::plain::payload::Key;
use crate::plain::{Digester, Payloads, Sender, tries};
use hushwire_machine::drive::{Lockstep, Machine};
use hushwire_ot::Sid;
use std::sync::{Arc, Mutex};

/// The number of the sender's items.
const THEIRS: u64 = 1000;

/// A cheating receiver's change of its state, and its notes.
#[derive(Default)]
pub(super) struct Cheat {
    /// The items that it evaluates instead of those in its store.
    pub(super) tried: Option<Vec<ItemDigest>>,
    /// The keys of payloads that it gets for them.
    pub(super) keys: Option<Arc<Mutex<Vec<Key>>>>,
}

impl<F: Field> ReceiverState<F>
where
    F::Base: Module<F::Base>,
{
    pub(super) fn try_others(&mut self) {
        if let Some(tried) = self.cheat.tried.take() {
            self.binned = Binned::new(&self.layout, &tried);
            self.digests = self.binned.grouped(tried);
        }
    }

    pub(super) fn note_keys(&mut self) {
        if let (Some(keys), Some(incoming)) = (self.cheat.keys.take(), &self.incoming) {
            keys.lock().unwrap_or_else(|e| panic!("{e}")).extend(incoming.its_keys());
        }
    }
}

impl Receiver {
    /// A receiver of short semi-honest runs that evaluates `tried` instead of its items, and notes
    /// its keys.
    pub(in crate::plain) fn curious(
        context: &Context,
        parameters: &Parameters,
        [digests, tried]: [Vec<ItemDigest>; 2],
        seed: &Seed,
        keys: &Arc<Mutex<Vec<Key>>>,
    ) -> Result<Self, PsiError> {
        let mut state = ReceiverState::<Pair64>::new::<SemiHonest>(context, parameters, digests, seed);
        assert!(parameters.is_short() && parameters.security == Level::SemiHonest);
        state.cheat = Cheat { tried: Some(tried), keys: Some(keys.clone()) };
        state.line::<SemiHonest>(seed).map(Receiver)
    }
}

/// A run in which `agreed` items are agreed on, `stored` are in the store, and `tried` are tried;
/// the sender has them all. Returns the numbers of items that the receiver finds, of payloads that
/// it reads, and of items that the sender takes for common.
fn found(
    store: Store,
    [agreed, stored, tried]: [usize; 3],
    has_payloads: bool,
    both_learn: bool,
) -> Result<[usize; 3], PsiError> {
    let context = Context { sid: Sid([9; 32]), backend: Backend::best() };
    let payload_bytes = if has_payloads { 8 } else { 0 };
    let parameters = Parameters {
        receiver_items: agreed,
        sender_items: THEIRS as usize,
        security: Level::Malicious,
        both_learn,
        payload_bytes,
        store,
    };
    let digester = Digester::new(&context.sid);
    let digests = |count: u64| (0..count).map(|i| digester.digest(&i.to_le_bytes())).collect::<Vec<_>>();
    let payload = |item: u64| (7_000_000 + item).to_le_bytes();
    let mut payloads = Payloads::new(payload_bytes, THEIRS as usize);
    (0..THEIRS).filter(|_| has_payloads).for_each(|item| payloads.push(&payload(item)));
    let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
    let mut s = Sender::with_payloads(&context, &parameters, digests(THEIRS), payloads, &seeds[1])?;
    let mut state =
        ReceiverState::<Full128>::new::<Malicious>(&context, &parameters, digests(stored as u64), &seeds[0]);
    // The receiver puts some items into its store, and then tries more.
    state.cheat.tried = Some(digests(tried as u64));
    let mut r = state.line::<Malicious>(&seeds[0])?;
    let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
    Lockstep::new().run(&mut parties)?;
    let opened = r.finish();
    let read = opened
        .common
        .iter()
        .enumerate()
        .filter(|(i, item)| has_payloads && opened.payloads.get(*i) == payload(u64::from(**item)));
    let read = read.count();
    Ok([opened.common.len(), read, s.finish().map_or(0, |common| common.len())])
}

/// With one item agreed on, a clustered store once held twelve items and a band store forty-five.
/// The receiver found every match, and read all payloads.
#[test]
fn of_few_items_no_more_are_stored_than_were_agreed_on() {
    for (store, agreed, stored) in [
        (Store::Clustered, 1, 12),
        (Store::Band, 1, 45),
        (Store::Clustered, 1, 2),
        (Store::Band, 2, 3),
        (Store::Clustered, 30, 31),
        (Store::Band, 191, 192),
    ] {
        for has_payloads in [true, false] {
            let end = found(store, [agreed, stored, stored], has_payloads, !has_payloads);
            assert!(matches!(end, Err(PsiError::NoStore)), "{store}: {stored} of {agreed}: {end:?}");
        }
    }
}

/// A receiver that stores as many items as agreed, and tries all items of the sender, finds only
/// the stored ones: as matches, payloads, and in the sender's result.
#[test]
fn of_few_items_no_more_are_found_than_were_agreed_on() {
    for (store, agreed) in
        [(Store::Clustered, 1), (Store::Band, 1), (Store::Clustered, 10), (Store::Band, 191)]
    {
        for has_payloads in [true, false] {
            let both_learn = !has_payloads;
            let [found, read, told] =
                found(store, [agreed, agreed, THEIRS as usize], has_payloads, both_learn)
                    .expect("nobody notices");
            let of = |is_there: bool| if is_there { agreed } else { 0 };
            assert_eq!([found, read, told], [agreed, of(has_payloads), of(both_learn)], "{store}");
        }
    }
}

/// A store of more items holds up to 1.3 times as many; the receiver finds no more than this bound.
#[test]
fn of_more_items_no_more_are_found_than_promised() {
    for (store, agreed) in [(Store::Clustered, 192), (Store::Band, 192), (Store::Clustered, 700)] {
        let promised = tries(store, agreed as u64).solved as usize;
        assert!(10 * promised <= 13 * agreed);
        let end = found(store, [agreed, promised + 1, promised + 1], true, false);
        assert!(matches!(end, Err(PsiError::NoStore)), "{store}, {agreed}: {end:?}");
        // A store of random rows that is almost full has a solution most of the time; this one has.
        let most = promised - 6;
        let [found, read, _] =
            found(store, [agreed, most, THEIRS as usize], true, false).expect("nobody notices");
        assert_eq!([found, read], [most; 2], "{store}, {agreed}: the promise is no empty one");
    }
}
