//! The lane of OTs in runs that make them ahead. The tests cover faults of the lane, a peer that
//! sends more or less than agreed, and the order of messages.

use super::{
    random::text,
    session::{links, own, sessions, sessions_over},
};
use crate::{Distance, Plan, TwoError};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor, evaluate, test_support::inputs};
use hushwire_machine::{Channel, Meter, PartyId, Rx, Tap, Tx, Wait};
use hushwire_ot::{OtError, Protocol};
use std::{
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    os::{fd::AsFd, unix::net::UnixStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A fault in the bytes that a party sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// The link is lost.
    Lost,
    /// All bytes from there on are changed, as if no layer below protected them.
    Damaged,
    /// One byte is omitted.
    Shorter,
    /// One byte is sent twice.
    Longer,
}

/// One end of a link.
struct End {
    stream: UnixStream,
    /// The number of good bytes, and the fault that follows.
    fault: Option<(usize, Fault)>,
    /// Bytes are counted after this is set.
    armed: Arc<AtomicBool>,
}

fn or_later(moved: io::Result<usize>) -> io::Result<usize> {
    moved.or_else(|e| if e.kind() == ErrorKind::WouldBlock { Ok(0) } else { Err(e) })
}

impl Tx for End {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        let Some((good, fault)) = self.fault.filter(|_| self.armed.load(Ordering::SeqCst)) else {
            return or_later(self.stream.write(out));
        };
        if good > 0 {
            let sent = or_later(self.stream.write(&out[..out.len().min(good)]))?;
            self.fault = Some((good - sent, fault));
            return Ok(sent);
        }
        let taken = match fault {
            Fault::Lost => {
                self.stream.shutdown(Shutdown::Both)?;
                return Err(ErrorKind::BrokenPipe.into());
            }
            Fault::Damaged => {
                let other: Vec<u8> = out.iter().map(|byte| byte ^ 0xa5).collect();
                return or_later(self.stream.write(&other));
            }
            Fault::Shorter => 1,
            // The byte is repeated, followed by the bytes after it.
            Fault::Longer if or_later(self.stream.write(&out[..1]))? == 1 => {
                self.fault = None;
                return self.try_send(out);
            }
            Fault::Longer => 0,
        };
        self.fault = self.fault.filter(|_| taken == 0);
        Ok(taken)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.stream.as_fd())
    }
}

impl Rx for End {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.stream.read(into) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            moved => or_later(moved),
        }
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.stream.as_fd())
    }
}

/// The lane of OTs of both parties. The second party has the fault. The lane tolerates a missing
/// byte for eight seconds.
fn lanes(fault: Option<(usize, Fault)>, armed: &Arc<AtomicBool>) -> [Channel; 2] {
    let (a, b) = UnixStream::pair().expect("a pair");
    [(a, None), (b, fault)].map(|(stream, fault)| {
        stream.set_nonblocking(true).expect("a socket");
        let peer = PartyId(u8::from(fault.is_none()));
        let other = stream.try_clone().expect("a socket");
        let rx = End { stream: other, fault: None, armed: armed.clone() };
        let tx = End { stream, fault, armed: armed.clone() };
        Channel::new(1, Some((peer, Box::new(tx))), Some((peer, Box::new(rx))), Duration::from_secs(8))
    })
}

/// The results of both parties, with OTs made ahead at both.
fn ended(plan: &Plan, own: &[Vec<Tensor>; 2], ot: Protocol, fault: Option<(usize, Fault)>) -> Ends {
    let armed = Arc::new(AtomicBool::new(false));
    let [[a, _], [b, _]] = links();
    let [of_a, of_b] = lanes(fault, &armed);
    sessions_over([[a, of_a], [b, of_b]], Backend::best(), ot, |i, mut party, channel| {
        if i == 1 {
            armed.store(true, Ordering::SeqCst);
        }
        party.run(channel, plan, own[i].clone(), &mut |_, _| true)
    })
}

type Ends = [Result<Vec<Tensor>, TwoError>; 2];

/// A plan of two comparisons, one after the other.
fn clipped(rows: usize) -> (Computation, Plan) {
    let c = text(&format!("input x: i32[{rows}] from m\noutput y = min(max(x, 0), 1000) to m"));
    let plan = Plan::new(&c, &[0], &[[true; 2]]).unwrap();
    (c, plan)
}

/// If the lane is lost, or carries less than agreed, both parties soon end with network errors.
/// Changed bytes, or more bytes, give other OTs. A peer could do no less to its own OTs (a link
/// with TLS ends there), and no party waits or panics.
#[test]
fn faults_of_the_lane_end_both() {
    let (c, plan) = clipped(40_000);
    let given = inputs(&c, 3, 0);
    let expected = &evaluate(&c, &given).unwrap()["y"];
    let own = || [0, 1].map(|i| own(&c, &given, &[0], i));
    // In the middle of lots that are made while others are used.
    for (ot, good) in [(Protocol::SoftSpoken4, 900_000), (Protocol::FerretB10, 40_000)] {
        for made in ended(&plan, &own(), ot, None) {
            assert_eq!(made.expect("an honest run")[0], *expected, "{ot}");
        }
        let fails = |fault| {
            let begun = Instant::now();
            let ends = ended(&plan, &own(), ot, Some((good, fault)));
            assert!(begun.elapsed() < Duration::from_mins(1), "{ot}: {fault:?} takes long");
            let right = |made: &Vec<Tensor>| made[0] == *expected;
            assert!(!ends.iter().flatten().any(right), "{ot}: {fault:?} came too late");
            let of_net = |e: &TwoError| matches!(e, TwoError::Net(_) | TwoError::Ot(OtError::Net(_)));
            if matches!(fault, Fault::Lost | Fault::Shorter) {
                assert!(ends.iter().all(|end| end.as_ref().is_err_and(of_net)), "{ot}: {fault:?}: {ends:?}");
            }
        };
        // Some of them have to wait.
        thread::scope(|scope| {
            let fails = &fails;
            for fault in [Fault::Lost, Fault::Damaged, Fault::Shorter, Fault::Longer] {
                scope.spawn(move || fails(fault));
            }
        });
    }
}

/// Delays the first step's message until all OTs of the run have been sent, for a limited time.
struct Late {
    meter: Meter,
    all: u64,
    messages: usize,
    patience: Duration,
    /// Whether all OTs had been sent by then.
    were: Arc<AtomicBool>,
}

impl Tap for Late {
    fn outgoing(&mut self, _to: PartyId, _lane: u16, _msg: &[u8]) -> Option<Vec<u8>> {
        self.messages += 1;
        // The first message compares computations.
        if self.messages == 2 {
            let begun = Instant::now();
            while self.meter.lane(1).bytes_sent < self.all && begun.elapsed() < self.patience {
                thread::sleep(Duration::from_millis(1));
            }
            self.were.store(self.meter.lane(1).bytes_sent == self.all, Ordering::SeqCst);
        }
        None
    }

    fn incoming(&mut self, _from: PartyId, _lane: u16, _msg: &mut [u8]) {}
}

/// If both parties want OTs made ahead, those of all steps are made while the first step waits.
/// Else they are made in turn.
#[test]
fn steps_and_their_ots_go_beside_each_other() {
    let (c, plan) = clipped(8000);
    let given = inputs(&c, 3, 0);
    let ot = Protocol::SoftSpoken4;
    assert!(plan.lots(Distance::Near).count() > 2);
    for (ahead, patience) in [([true; 2], 60_000), ([true, false], 200), ([false; 2], 200)] {
        let ran = sessions(ot, |i, party, channel| {
            let (meter, were) = (Meter::new(), Arc::new(AtomicBool::new(false)));
            let mut party = party.metered(&meter).ahead(ahead[i]);
            let all = plan.costs(ot, Distance::Near).ots.bytes[i];
            let patience = Duration::from_millis(patience);
            channel.tap(Box::new(Late { meter, all, messages: 0, patience, were: were.clone() }));
            party.run(channel, &plan, own(&c, &given, &[0], i), &mut |_, _| true).expect("an honest run");
            were.load(Ordering::SeqCst)
        });
        assert!(ran.iter().all(|were| *were == (ahead == [true; 2])), "{ahead:?}: {ran:?}");
    }
}
