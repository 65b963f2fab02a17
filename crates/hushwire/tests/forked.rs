//! A fork of a process refuses every session that the process opened, and leaves the sessions
//! intact.
//!
//! There is one test, so that no other thread of this program holds a lock during the fork.

use hushwire::{
    Local,
    aes::Backend,
    block::Block,
    circuit::{Planes, Program, TwoParty, named},
    compute::Computation,
    garble::{GarbleError, Role as Side, yao},
    gmw::{self, GmwError},
    job::Fault,
    machine::{Channel, Net, NetError, PartyId, SessionId, inproc},
    ot::{
        Context, Driver, Machine, Opening, OtError, Protocol, Receiver, Receiving, SemiHonest, Sender,
        Sending, Sid, open_receiver, open_sender,
    },
    prg::Seed,
    rep3::{self, Rep3Error, ThreeParty},
    wire::{LocalParties, TransportKind},
};
use hushwire_authgarble::{self as authgarble, AuthError};
use hushwire_two::{self as two, TwoError};
use std::{fmt::Display, io::Write, panic, sync::Arc, thread, time::Duration};

fn ok<T>(result: Result<T, impl Display>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

/// Runs `child` in a fork of this process, which must end well.
fn in_child(child: impl FnOnce() -> Result<(), String>) {
    // SAFETY: no other thread of this program runs anything but watchers of the library, for which
    // the child does not wait. glibc's allocator is intact after a fork. The child ends below,
    // whatever it does.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let ended = panic::catch_unwind(panic::AssertUnwindSafe(child));
        let said = match ended {
            Ok(Ok(())) => String::new(),
            Ok(Err(e)) => e,
            Err(_) => "it panicked".to_owned(),
        };
        // This bypasses the test harness, which captures what threads print.
        let _ = writeln!(std::io::stderr().lock(), "child: {said}");
        // SAFETY: it ends this process, and runs no exit handlers that were copied from the parent.
        unsafe { libc::_exit(i32::from(!said.is_empty())) };
    }
    assert!(pid > 0, "fork: {}", std::io::Error::last_os_error());
    let mut status = 0;
    // SAFETY: `pid` is a child of this process for which no other code waits, and `status` is a
    // local variable.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((waited, status), (pid, 0), "the child ends well");
}

/// Forks. In the child, `step` on the held value must be refused with the step `during`. The child
/// also drops the held value.
fn refused<T, U>(held: T, during: &str, step: impl FnOnce(&mut T) -> Result<U, Option<String>>) -> T {
    let mut held = Some(held);
    in_child(|| {
        let inner = held.as_mut().ok_or("it is held")?;
        let answer = step(inner).err().flatten();
        if answer.as_deref() != Some(during) {
            return Err(format!("{during}: {answer:?}"));
        }
        drop(held.take());
        Ok(())
    });
    held.unwrap_or_else(|| panic!("the parent holds it still"))
}

/// The step at which a fork was refused.
fn forked(e: &NetError) -> Option<String> {
    match e {
        NetError::Forked { step, opened_by } => {
            assert_eq!(*opened_by, std::os::unix::process::parent_id());
            assert!(
                e.to_string()
                    .ends_with("open a new session in this process, and go on with the old one in the other")
            );
            Some(step.clone())
        }
        _ => None,
    }
}

const IDS: [PartyId; 3] = [PartyId(0), PartyId(1), PartyId(2)];

fn context(name: u8) -> Context {
    Context { sid: Sid([name; 32]), backend: Backend::best() }
}

/// Runs both parties on threads.
fn both<H: Send, T: Send>(held: [H; 2], party: impl Fn(usize, H) -> T + Sync) -> [T; 2] {
    let [zero, one] = held;
    thread::scope(|scope| {
        let other = scope.spawn(|| party(1, one));
        let own = party(0, zero);
        [own, other.join().unwrap_or_else(|_| panic!("party 1 panicked"))]
    })
}

/// Makes a channel for each of two parties, on each of two lanes.
fn links() -> [[Channel; 2]; 2] {
    let mut nets = inproc::mesh(&IDS[..2], 2, Duration::from_secs(120));
    [0, 1].map(|me| {
        let peer = Some(IDS[1 - me]);
        [0, 1].map(|lane| ok(nets[me].channel(lane, peer, peer)))
    })
}

/// The product 200 · 3, for each of the protocols that run circuits.
fn product() -> (Program, TwoParty) {
    let program = ok(named::program("mul:8"));
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true; 2]]);
    (program, roles)
}

const NUMBERS: [u8; 2] = [200, 3];
const RESULT: u16 = 600;

fn planes(me: usize) -> Planes {
    Planes::pack(&[NUMBERS[me]], 8, 1)
}

fn of_gmw() {
    let (program, roles) = product();
    let opened = both(links(), |me, [mut channel, _]| {
        let party =
            ok(gmw::GmwParty::open(&mut channel, me, &context(1), Protocol::SoftSpoken4, &Seed::random()));
        (party, channel)
    });
    let opened = refused(opened, "a run of GMW", |[(party, channel), _]| {
        party.run(channel, &program, &roles, &planes(0)).map_err(|e| match e {
            GmwError::Net(e) => forked(&e),
            _ => None,
        })
    });
    let learnt = both(opened, |me, (mut party, mut channel)| {
        ok(party.run(&mut channel, &program, &roles, &planes(me))).unpack()
    });
    assert_eq!(learnt, [RESULT.to_le_bytes(); 2]);
}

fn of_yao() {
    let (program, roles) = product();
    let opened = both(links(), |me, [mut channel, _]| {
        let role = [Side::Garbler, Side::Evaluator][me];
        let terms = yao::Terms::default();
        (ok(yao::YaoParty::open(&mut channel, role, &context(2), terms, &Seed::random())), channel)
    });
    let opened = refused(opened, "Yao run", |[(party, channel), _]| {
        party.run(channel, &program, &roles, &planes(0)).map_err(|e| match e {
            GarbleError::Net(e) => forked(&e),
            _ => None,
        })
    });
    let learnt = both(opened, |me, (mut party, mut channel)| {
        ok(party.run(&mut channel, &program, &roles, &planes(me))).unpack()
    });
    assert_eq!(learnt, [RESULT.to_le_bytes(); 2]);
}

fn of_two() {
    let text = "computation c\nmembers a, b\ninput x: u8 from a\ninput y: u8 from b\noutput z = wrapping(x * y) to a, b\n";
    let computation: Computation = ok(text.parse());
    let plan = ok(two::Plan::new(&computation, &[0, 1], &[[true; 2]]));
    let opened = both(links(), |me, [channel, ots]| {
        (
            ok(two::ArithmeticParty::open(ots, me, &context(3), Protocol::SoftSpoken4, &Seed::random())),
            channel,
        )
    });
    let scalar = hushwire::compute::Scalar::unsigned(8);
    let own = |me: usize| {
        vec![hushwire::compute::Tensor::from_numbers(scalar, &[], [i128::from(NUMBERS[me])].into_iter())]
    };
    let opened = refused(opened, "a run of two parties", |[(party, channel), _]| {
        party.run(channel, &plan, own(0), &mut |_, _| true).map_err(|e| match e {
            TwoError::Net(e) => forked(&e),
            _ => None,
        })
    });
    let learnt = both(opened, |me, (mut party, mut channel)| {
        ok(party.run(&mut channel, &plan, own(me), &mut |_, _| true))[0].get(0)
    });
    assert_eq!(learnt, [u128::from(RESULT % 256); 2]);
}

/// Covers whole parties, and a stock and a garbled circuit that a program holds itself.
fn of_authgarble() {
    let program = ok(named::program("mul:8"));
    let roles = authgarble::Roles::new(&program, 2, vec![0, 1], vec![vec![true; 2]]);
    let form = authgarble::Form::HalfGates;
    let task = authgarble::Task::new(&program, roles.clone(), 1, form);
    let step = |e: AuthError| match e {
        AuthError::Net(e) => forked(&e),
        _ => None,
    };
    let opened = both(links(), |me, [channel, _]| {
        let party = |n| {
            authgarble::AuthgarbleParty::new(
                &context(n),
                [me, 2],
                Protocol::SoftSpoken4,
                form,
                &Seed::random(),
            )
        };
        let (mut maker, runner, mut channels) = (party(4), party(5), [channel]);
        let stock = ok(maker.prepare(&mut channels, task.need()));
        (Some(stock), runner, channels)
    });
    let opened = refused(opened, "authenticated garbling", |[(_, party, channels), _]| {
        party.run(channels, &program, &roles, &planes(0), task.need()).map_err(step)
    });
    // On disk, the process that comes first would take it.
    let dir = ok(tempfile::tempdir());
    let opened = refused(opened, "keeping preprocessing", |[(stock, ..), _]| {
        let shelf = authgarble::Shelf::open(dir.path(), Seed::random()).map_err(|_| None)?;
        shelf.put("kept", stock.take().ok_or(None)?).map_err(|e| match e {
            authgarble::ShelfError::Forked(e) => forked(&e),
            _ => None,
        })
    });
    // The first step of a machine reports the failure.
    let opened = refused(opened, "taking triples", |[(stock, ..), _]| {
        let stock = stock.as_mut().ok_or(None)?;
        Machine::write(&mut stock.garble(&task), 0, &mut []).map_err(step)
    });
    let learnt = both(opened, |me, (stock, mut party, mut channels)| {
        party.take_stock(ok(stock.ok_or("it is held")));
        ok(party.run(&mut channels, &program, &roles, &planes(me), task.need())).unpack()
    });
    assert_eq!(learnt, [RESULT.to_le_bytes(); 2]);
}

enum End {
    Sends(Sender<SemiHonest>),
    Receives(Receiver<SemiHonest>),
}

const PAIRS: [[Block; 2]; 1] = [[Block::from_u128(1), Block::from_u128(2)]];

impl End {
    /// Writes the first message of a call. There is no channel, since a channel would refuse as
    /// well.
    fn first_message(&mut self) -> Result<(), Option<String>> {
        fn write(mut call: impl Machine<Error = OtError>) -> Result<(), OtError> {
            let bytes = call.round(0).map_or(0, |round| round.out);
            call.write(0, &mut vec![0; bytes])
        }
        let mut into = [Block::ZERO];
        let written = match self {
            End::Sends(end) => write(end.extend(Sending::Ot(&PAIRS))),
            End::Receives(end) => write(end.extend(Receiving::Ot { choices: &[1], messages: &mut into })),
        };
        written.map_err(|e| match e {
            OtError::Net(e) => forked(&e),
            _ => None,
        })
    }
}

/// The step of an OT extension that a fork is refused.
const CALL: &str = "a call of an OT extension";

/// A set-up that the parent ran gives no usable endpoint in a fork either.
fn of_set_ups() {
    for protocol in [Protocol::SoftSpoken4, Protocol::FerretB9] {
        let opened = both(links(), |me, [mut channel, _]| {
            let (context, seed) = (context(7), Seed::random());
            let opening = match me {
                0 => Opening::<SemiHonest>::sender(&context, protocol, &seed),
                _ => Opening::<SemiHonest>::receiver(&context, protocol, &seed),
            };
            let mut opening = ok(opening);
            ok(Driver::new().run(&mut channel, &mut opening));
            Some(opening)
        });
        let taken = |opening: &mut Option<Opening<SemiHonest>>| opening.take().ok_or(None);
        let opened =
            refused(opened, CALL, |[opening, _]| End::Sends(taken(opening)?.into_sender()).first_message());
        refused(opened, CALL, |[_, opening]| End::Receives(taken(opening)?.into_receiver()).first_message());
    }
}

fn of_ots() {
    let opened = both(links(), |me, [mut channel, _]| {
        let (driver, seed, ot) = (&mut Driver::new(), Seed::random(), Protocol::SoftSpoken4);
        let end = match me {
            0 => End::Sends(ok(open_sender(driver, &mut channel, &context(6), ot, &seed))),
            _ => End::Receives(ok(open_receiver(driver, &mut channel, &context(6), ot, &seed))),
        };
        (end, channel)
    });
    let opened = refused(opened, CALL, |[_, (end, _)]| end.first_message());
    let opened = refused(opened, CALL, |[(end, _), _]| end.first_message());
    let learnt = both(opened, |_, (mut end, mut channel)| {
        let (driver, mut into) = (&mut Driver::new(), [Block::ZERO]);
        match &mut end {
            End::Sends(end) => ok(driver.run(&mut channel, &mut end.extend(Sending::Ot(&PAIRS)))),
            End::Receives(end) => {
                let work = Receiving::Ot { choices: &[1], messages: &mut into };
                ok(driver.run(&mut channel, &mut end.extend(work)));
            }
        }
        into[0].to_u128()
    });
    assert_eq!(learnt, [0, 2]);
}

fn of_rep3() {
    let program = Arc::new(ok(named::program("mul:8")));
    let mut nets = inproc::mesh(&IDS, 1, Duration::from_secs(120));
    let rings: Vec<[Channel; 2]> = rep3::Role::ALL
        .into_iter()
        .zip(&mut nets)
        .map(|(role, net)| {
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            [ok(net.channel(0, left, right)), ok(net.channel(0, right, left))]
        })
        .collect();
    let parties: Vec<_> = rep3::Rep3Party::three(Backend::best()).into_iter().zip(rings).collect();
    let parties = refused(parties, "a new batch", |parties| {
        parties[0].0.next_batch().map(|_| ()).map_err(|e| match e {
            Rep3Error::Net(e) => forked(&e),
            _ => None,
        })
    });
    let who = ThreeParty { owners: rep3::Role::ALL[..2].to_vec(), learns: vec![[true; 3]] };
    let learnt: Vec<Vec<u8>> = thread::scope(|scope| {
        let running = parties.into_iter().enumerate().map(|(me, (mut party, [mut ring, mut back]))| {
            let (program, who) = (&program, &who);
            scope.spawn(move || {
                let inputs = if me < 2 { planes(me) } else { Planes::zeros(0, 1) };
                ok(party.run([&mut ring, &mut back], program, who, &inputs)).unpack()
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a party panicked"))).collect()
    });
    assert_eq!(learnt, [RESULT.to_le_bytes(); 3]);
}

/// Covers a session of the library: three parties that are connected over sockets.
fn of_sessions() {
    let text = "computation c\nmembers a, b\ninput x: u8 from a\ninput y: u8 from b\noutput z = wrapping(x * y) to a\n";
    let computation: Computation = ok(text.parse());
    let run = |three: &mut Local| three.run(&computation, [("x", NUMBERS[0]), ("y", NUMBERS[1])]);
    let three = ok(Local::three());
    let mut three = refused(three, "agreeing on the computation", |three| {
        run(three).map_err(|e: Fault| {
            assert!(
                e.cause().contains("is a fork of process") && e.remedy().contains("open a new session"),
                "{e}"
            );
            Some(e.step())
        })
    });
    assert_eq!(ok(run(&mut three))["z"].get(0), u128::from(RESULT % 256));
    assert_eq!(ok(run(&mut three))["z"].get(0), u128::from(RESULT % 256));
}

/// Covers the links themselves: TLS keys, rings in memory that both processes share, and goodbyes.
fn of_links() {
    for transport in [TransportKind::TcpTls, TransportKind::Unix, TransportKind::Shm] {
        let local = ok(LocalParties::bind(&IDS[..2], transport, ok(SessionId::fresh())));
        let mut nets: Vec<Net> = local.connect().into_iter().map(ok).collect();
        let channels: Vec<Channel> =
            (0..2).map(|me| ok(nets[me].channel(0, Some(IDS[1 - me]), Some(IDS[1 - me])))).collect();
        let held = refused((local, nets, channels), "layer 3", |(_, _, channels)| {
            channels[0].send("layer 3", &[7; 5]).map_err(|e| forked(&e))
        });
        let (_local, _nets, channels) = refused(held, "channel set-up", |(_, nets, _)| {
            nets[0].channel(0, Some(IDS[1]), Some(IDS[1])).map(|_| ()).map_err(|e| forked(&e))
        });
        let channels = <[Channel; 2]>::try_from(channels).unwrap_or_else(|_| panic!("two channels"));
        let heard = both(channels, |me, mut channel| {
            let mut heard = [0; 5];
            ok(channel.exchange("layer 3", &[me as u8; 5], &mut heard));
            (heard, channel)
        });
        assert_eq!(heard.map(|(heard, _)| heard), [[1; 5], [0; 5]], "{transport}");
    }
}

#[test]
fn a_fork_refuses_every_session_of_its_parent() {
    of_gmw();
    of_yao();
    of_two();
    of_authgarble();
    of_ots();
    of_set_ups();
    of_rep3();
    of_links();
    of_sessions();
}
