//! Tests for every base OT protocol, in which an adversary can change messages between the
//! endpoints.

use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};

use super::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase};
use crate::{Context, Exchanged, Machine, OtError, Role, Sid};

mod csw;
mod passive;

/// Both endpoints of some OTs.
type Ends<P> = (BaseSender<<P as BaseProtocol>::Level>, BaseReceiver<<P as BaseProtocol>::Level>);

/// A run: the session, the parties' seeds, the receiver's choices.
#[derive(Clone)]
struct Run {
    sid: u8,
    sender: u8,
    receiver: u8,
    choices: Vec<bool>,
}

impl Run {
    fn new(sid: u8, sender: u8, receiver: u8, choices: Vec<bool>) -> Self {
        Self { sid, sender, receiver, choices }
    }

    fn context(&self) -> Context {
        Context { sid: Sid([self.sid; 32]), backend: Backend::best() }
    }

    fn sender<P: BaseProtocol>(&self) -> P::Sender {
        P::sender(&self.context(), self.choices.len(), &Seed::from_bytes([self.sender; 16]))
    }

    fn receiver<P: BaseProtocol>(&self) -> P::Receiver {
        P::receiver(&self.context(), self.choices.clone(), &Seed::from_bytes([self.receiver; 16]))
    }

    /// Runs both parties; `touch` sees, and may change, each party's message in each round.
    fn touched<P: BaseProtocol>(
        &self,
        mut touch: impl FnMut(usize, Role, &mut [u8]),
    ) -> Result<Ends<P>, OtError> {
        let (mut sender, mut receiver) = (self.sender::<P>(), self.receiver::<P>());
        for at in 0.. {
            let (Some(a), Some(b)) = (sender.round(0), receiver.round(0)) else { break };
            assert_eq!((a.name, a.out, a.into), (b.name, b.into, b.out), "ticks mirror each other");
            let (mut from_a, mut from_b) = (vec![0; a.out], vec![0; b.out]);
            sender.write(0, &mut from_a)?;
            receiver.write(0, &mut from_b)?;
            touch(at, Role::Sender, &mut from_a);
            touch(at, Role::Receiver, &mut from_b);
            sender.read(&[Exchanged::heard(&from_b)])?;
            receiver.read(&[Exchanged::heard(&from_a)])?;
        }
        assert!(sender.round(0).is_none() && receiver.round(0).is_none(), "both end together");
        Ok((sender.finish(), receiver.finish()))
    }

    /// The nonempty messages with their senders, in order.
    fn messages<P: BaseProtocol>(&self) -> Vec<(Role, Vec<u8>)> {
        let mut all = Vec::new();
        self.touched::<P>(|_, from, message| {
            if !message.is_empty() {
                all.push((from, message.to_vec()));
            }
        })
        .unwrap();
        all
    }
}

/// Some choices, from a seed.
fn choices(count: usize, seed: u8) -> Vec<bool> {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "choices");
    (0..count).map(|_| prg.next_u64() & 1 == 1).collect()
}

/// Checks that keys agree where chosen and differ elsewhere.
fn assert_ots<P: BaseProtocol>((sender, receiver): &Ends<P>, choices: &[bool]) {
    assert_eq!(sender.keys().len(), choices.len());
    assert_eq!(receiver.choices(), choices);
    for (i, (keys, (key, choice))) in
        sender.keys().iter().zip(receiver.keys().iter().zip(choices)).enumerate()
    {
        assert_eq!(keys[usize::from(*choice)], *key, "{} OT {i}", P::NAME);
        assert_ne!(keys[usize::from(!*choice)], *key, "{} OT {i}", P::NAME);
    }
}

/// Tests counts around a batch's size. All keys are distinct, and other sessions and seeds give
/// other keys.
fn honest<P: BaseProtocol>() {
    let mut seen = std::collections::HashSet::new();
    let mut fresh = |ends: &Ends<P>| {
        for key in ends.0.keys().as_flattened() {
            assert!(seen.insert(*key), "{}: a key came twice", P::NAME);
        }
    };
    for (n, count) in [1, 79, 80, 127, 128].into_iter().enumerate() {
        let run = Run::new(10 + n as u8, 1, 2, choices(count, 3));
        let mut sender = run.sender::<P>();
        let mut receiver = run.receiver::<P>();
        crate::lockstep(&mut sender, &mut receiver).unwrap();
        let ends = (sender.finish(), receiver.finish());
        assert_ots::<P>(&ends, &run.choices);
        fresh(&ends);
    }
    for run in
        [Run::new(1, 1, 2, choices(8, 3)), Run::new(2, 1, 2, choices(8, 3)), Run::new(1, 4, 2, choices(8, 3))]
    {
        let ends = run.touched::<P>(|_, _, _| ()).unwrap();
        assert_ots::<P>(&ends, &run.choices);
        fresh(&ends);
    }
    // A receiver with another seed, or in another session, sends no message that was sent before.
    let said =
        |run: Run| run.messages::<P>().into_iter().find(|(from, _)| *from == Role::Receiver).unwrap().1;
    let first = said(Run::new(1, 1, 2, choices(8, 3)));
    for other in [Run::new(1, 1, 5, choices(8, 3)), Run::new(2, 1, 2, choices(8, 3))] {
        let other = said(other);
        assert!(other.chunks(32).zip(first.chunks(32)).all(|(a, b)| a != b));
    }
    assert!(Run::new(1, 1, 2, Vec::new()).touched::<P>(|_, _, _| ()).unwrap().0.keys().is_empty());
}

/// Encodings that no honest party sends: the identity, p and p + 2 (not reduced), −1 and 1
/// (negative), and a non-square.
fn bad_points() -> [[u8; 32]; 6] {
    let mut p = [0xff; 32];
    (p[0], p[31]) = (0xed, 0x7f);
    let mut above = p;
    above[0] += 2;
    let mut minus_one = p;
    minus_one[0] -= 1;
    let mut one = [0; 32];
    one[0] = 1;
    [[0; 32], p, above, minus_one, one, [0xff; 32]]
}
