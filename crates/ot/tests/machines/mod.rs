//! Both endpoints of every machine that a caller can hold, ready for their first tick, for tests
//! and the fuzzer.

use std::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_ot::{
    Context, Duplex, Exchanged, Machine, Malicious, OtError, Receiver, Receiving, Round, Security,
    SemiHonest, Sender, Sending, Sid, Triples,
    base::{BaseProtocol, ChouOrlandi, ChouOrlandi16, Csw, NaorPinkas},
    ferret::{self, B10, B11},
    lockstep,
    rows::{RootReceiver, RootSender, RowKind, SetupReceiver, SetupSender},
};
use hushwire_prg::Seed;

/// A test's action on both endpoints.
pub(crate) type Run<'r> = &'r mut dyn FnMut(&mut Ends<'_>);

/// Both endpoints.
pub(crate) type Ends<'e> = [&'e mut dyn Machine<Error = OtError>; 2];

/// The number of OTs of a call, whose choices do not fill whole bytes.
const COUNT: usize = 77;

/// A set-up from which lanes are forked, since it costs a thousand times as much as a lane.
struct Lanes<S: Security> {
    kind: RowKind,
    roots: Option<(RootSender<S>, RootReceiver<S>)>,
    next: u16,
    level: PhantomData<S>,
}

fn context(label: &str, index: u64) -> Context {
    Context { sid: Sid([9; 32]).child(label, index), backend: Backend::best() }
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 16])
}

fn set_up<S: Security>(kind: RowKind) -> (SetupSender<S>, SetupReceiver<S>) {
    let context = context("set-up", 0);
    let s = SetupSender::new::<S::DefaultBase>(&context, kind, &seed(1)).expect("the kind exists");
    (s, SetupReceiver::new::<S::DefaultBase>(&context, kind, &seed(2)).expect("the kind exists"))
}

impl<S: Security> Lanes<S> {
    fn new(kind: RowKind) -> Self {
        Lanes { kind, roots: None, next: 0, level: PhantomData }
    }

    /// The next lane's number. Its contexts are unique until a new set-up restarts the count.
    fn lane(&mut self) -> (u16, &(RootSender<S>, RootReceiver<S>)) {
        if self.next == u16::MAX {
            (self.next, self.roots) = (0, None);
        }
        self.next += 1;
        let roots = self.roots.get_or_insert_with(|| {
            let (mut s, mut r) = set_up::<S>(self.kind);
            lockstep(&mut s, &mut r).expect("an honest set-up");
            (s.finish(), r.finish())
        });
        (self.next, roots)
    }

    fn ends(&mut self) -> (Sender<S>, Receiver<S>) {
        let (lane, (s, r)) = self.lane();
        let context = context("lane", lane.into());
        (Sender::new(&context, s.fork(lane)), Receiver::new(&context, r.fork(lane)))
    }

    /// Runs a call of `count` OTs, or `run` on the endpoints.
    fn extend(&mut self, run: impl FnOnce(&mut Sender<S>, &mut Receiver<S>)) {
        let (mut s, mut r) = self.ends();
        run(&mut s, &mut r);
    }

    fn random_cots(&mut self, run: Run<'_>) {
        let (mut q, mut t) = (vec![Block::ZERO; COUNT], vec![Block::ZERO; COUNT]);
        self.extend(|s, r| {
            run(&mut [&mut s.extend(Sending::Rcot(&mut q)), &mut r.extend(Receiving::Rcot(&mut t))]);
        });
    }

    fn chosen_ots(&mut self, run: Run<'_>) {
        let (messages, choices) = (vec![[Block::ZERO, Block::ONES]; COUNT], vec![0x5a; COUNT.div_ceil(8)]);
        let mut got = vec![Block::ZERO; COUNT];
        self.extend(|s, r| {
            let receive = Receiving::Ot { choices: &choices, messages: &mut got };
            run(&mut [&mut s.extend(Sending::Ot(&messages)), &mut r.extend(receive)]);
        });
    }

    fn bits(&mut self, run: Run<'_>) {
        let bytes = COUNT.div_ceil(8);
        let (zero, one, choices, mut got) =
            (vec![0; bytes], vec![0xff; bytes], vec![0x5a; bytes], vec![0; bytes]);
        self.extend(|s, r| {
            let send = Sending::BitOt { messages: [&zero, &one], count: COUNT };
            let receive = Receiving::BitOt { choices: &choices, messages: &mut got, count: COUNT };
            run(&mut [&mut s.extend(send), &mut r.extend(receive)]);
        });
    }

    fn verify(&mut self, run: Run<'_>) {
        let (mut q, mut t) = (vec![Block::ZERO; COUNT], vec![Block::ZERO; COUNT]);
        self.extend(|s, r| {
            let (mut send, mut receive) =
                (s.extend(Sending::Rcot(&mut q)), r.extend(Receiving::Rcot(&mut t)));
            lockstep(&mut send, &mut receive).expect("an honest run");
            let _ = (send.finish(), receive.finish());
            run(&mut [&mut s.verify(), &mut r.verify()]);
        });
    }

    fn triples(&mut self, run: Run<'_>) {
        let ((mut s0, mut r1), (mut s1, mut r0)) = (self.ends(), self.ends());
        let mut zero = Triples::new(&mut s0, &mut r0, COUNT, true);
        run(&mut [&mut zero, &mut Triples::new(&mut s1, &mut r1, COUNT, false)]);
    }

    fn both_directions(&mut self, run: Run<'_>) {
        let ((mut s0, mut r1), (mut s1, mut r0)) = (self.ends(), self.ends());
        let [mut q, mut t, mut p, mut u] = [(); 4].map(|()| vec![Block::ZERO; COUNT]);
        let (s0, r0) = (s0.extend(Sending::Rcot(&mut q)), r0.extend(Receiving::Rcot(&mut t)));
        let (s1, r1) = (s1.extend(Sending::Rcot(&mut p)), r1.extend(Receiving::Rcot(&mut u)));
        run(&mut [&mut Duplex::new(s0, r0), &mut Duplex::new(r1, s1)]);
    }

    fn boot(&mut self, set: ferret::Set, run: Run<'_>) {
        let (lane, (s, r)) = self.lane();
        let context = context("ferret", lane.into());
        let mut s = ferret::SenderBoot::new(&context, set, s.fork(lane), &seed(3));
        run(&mut [&mut s, &mut ferret::ReceiverBoot::new(&context, set, r.fork(lane))]);
    }
}

/// All set-ups, which are made when needed.
pub(crate) struct World {
    semi_honest: Lanes<SemiHonest>,
    malicious: [Lanes<Malicious>; 3],
}

impl World {
    pub(crate) fn new() -> Self {
        World {
            semi_honest: Lanes::new(RowKind::SoftSpoken2),
            malicious: [RowKind::SoftSpoken2, RowKind::Kos, RowKind::Alsz].map(Lanes::new),
        }
    }
}

fn base<P: BaseProtocol>(run: Run<'_>) {
    let context = context("base", 0);
    let choices = (0..5).map(|i| i % 2 == 0).collect();
    run(&mut [&mut P::sender(&context, 5, &seed(1)), &mut P::receiver(&context, choices, &seed(2))]);
}

fn set_ups<S: Security>(kind: RowKind, run: Run<'_>) {
    let (mut s, mut r) = set_up::<S>(kind);
    run(&mut [&mut s, &mut r]);
}

/// A machine's two endpoints, by name.
pub(crate) type Case = (&'static str, fn(&mut World, Run<'_>));

/// All machines. The last ones take long to finish.
pub(crate) const CASES: [Case; 20] = [
    ("naor-pinkas", |_, run| base::<NaorPinkas>(run)),
    ("chou-orlandi", |_, run| base::<ChouOrlandi>(run)),
    ("chou-orlandi16", |_, run| base::<ChouOrlandi16>(run)),
    ("csw", |_, run| base::<Csw>(run)),
    ("random COTs", |w, run| w.semi_honest.random_cots(run)),
    ("chosen OTs", |w, run| w.semi_honest.chosen_ots(run)),
    ("bit OTs", |w, run| w.semi_honest.bits(run)),
    ("triples", |w, run| w.semi_honest.triples(run)),
    ("both directions", |w, run| w.semi_honest.both_directions(run)),
    ("malicious chosen OTs", |w, run| w.malicious[0].chosen_ots(run)),
    ("malicious bit OTs", |w, run| w.malicious[0].bits(run)),
    ("malicious triples", |w, run| w.malicious[0].triples(run)),
    ("row check of softspoken2", |w, run| w.malicious[0].verify(run)),
    ("row check of kos", |w, run| w.malicious[1].verify(run)),
    ("pair check of alsz", |w, run| w.malicious[2].verify(run)),
    ("semi-honest set-up", |_, run| set_ups::<SemiHonest>(RowKind::SoftSpoken2, run)),
    ("malicious set-up of trees", |_, run| set_ups::<Malicious>(RowKind::SoftSpoken2, run)),
    ("malicious set-up of pairs", |_, run| set_ups::<Malicious>(RowKind::Kos, run)),
    ("semi-honest ferret", |w, run| w.semi_honest.boot(B10, run)),
    ("malicious ferret", |w, run| w.malicious[0].boot(B11, run)),
];

/// Changes received messages; gets the number of the exchange, the receiving endpoint, its tick and
/// the message. The result false ends the run.
pub(crate) type Edit<'e> = &'e mut dyn FnMut(usize, usize, &Round, &mut Vec<u8>) -> bool;

/// The end of a run that stopped: the endpoint, the place and the reason.
pub(crate) struct Stop {
    pub(crate) side: usize,
    #[allow(dead_code, reason = "the fuzzer asks only whether it stopped")]
    pub(crate) tick: Round,
    pub(crate) error: OtError,
}

/// Runs both endpoints to the first error.
pub(crate) fn edited([a, b]: &mut Ends<'_>, edit: Edit<'_>) -> Option<Stop> {
    for at in 0.. {
        let (Some(ta), Some(tb)) = (a.round(0), b.round(0)) else { break };
        let (mut from_a, mut from_b) = (vec![0; ta.out], vec![0; tb.out]);
        for (side, tick, end, out) in [(0, ta, &mut *a, &mut from_a), (1, tb, &mut *b, &mut from_b)] {
            if let Err(error) = end.write(0, out) {
                return Some(Stop { side, tick, error });
            }
        }
        for (side, tick, end, message) in [(0, ta, &mut *a, &mut from_b), (1, tb, &mut *b, &mut from_a)] {
            if !edit(at, side, &tick, message) {
                return None;
            }
            if let Err(error) = end.read(&[Exchanged::heard(message)]) {
                return Some(Stop { side, tick, error });
            }
        }
    }
    None
}

/// Asserts the behaviour of every endpoint after an error: it does nothing, and never looks
/// finished.
pub(crate) fn assert_lost(end: &mut dyn Machine<Error = OtError>) {
    for _ in 0..2 {
        assert_eq!(end.round(0).map(|tick| (tick.out, tick.into)), Some((0, 0)), "it never looks done");
        assert!(matches!(end.read(&[Exchanged::heard(&[])]), Err(OtError::Lost { .. })));
        assert!(matches!(end.read(&[Exchanged::heard(&[1; 16])]), Err(OtError::Lost { .. })));
        assert!(matches!(end.write(0, &mut []), Err(OtError::Lost { .. })));
        assert!(matches!(end.write(0, &mut [0; 16]), Err(OtError::Lost { .. })));
    }
}

/// Feeds a machine with messages made of `bytes`: nothing may panic, and messages of another length
/// must be refused.
///
/// The first bytes select the machine, the first tick, and the kind of change: one message or all,
/// as replacements of the honest ones or XORed with them.
pub(crate) fn fed(world: &mut World, bytes: &[u8]) {
    let [case, from, how, content @ ..] = bytes else { return };
    let (side, always, replaced) = (usize::from(how & 1), how & 2 != 0, how & 4 != 0);
    let (_, case) = CASES[usize::from(*case) % CASES.len()];
    let mut aborted = false;
    case(world, &mut |ends| {
        let mut refused = None;
        let stop = edited(ends, &mut |at, to, tick, message| {
            if at >= 64 {
                return false;
            }
            if (at, to) == (usize::from(*from), side) || always && at >= usize::from(*from) {
                if replaced {
                    *message = content.to_vec();
                } else {
                    message.iter_mut().zip(content.iter().cycle()).for_each(|(byte, with)| *byte ^= with);
                }
            }
            refused = (message.len() != tick.into).then_some(to);
            true
        });
        if let Some(side) = refused {
            let Some(Stop { error: OtError::Malformed { .. }, side: stopped, .. }) = stop else {
                panic!("a message of another length is taken")
            };
            assert_eq!(stopped, side);
        }
        if let Some(Stop { side, error, .. }) = stop {
            aborted = matches!(error, OtError::Abort { .. });
            assert!(aborted || matches!(error, OtError::Malformed { .. }), "{error:?}");
            assert_lost(ends[side]);
        }
    });
    if aborted {
        // A failed check ends all lanes of its set-up.
        world.malicious.iter_mut().for_each(|lanes| lanes.roots = None);
    }
}
