//! Devices that die, deviate, fall silent or do not fit: the result is always a typed error.

use crate::common::{Case, HELLO, PATIENCE, modelled};
use hushwire_hdl::{Cause, Device, HdlBatch, HdlError, Hello, model};
use hushwire_machine::{
    Cost, NetError, PartyId,
    drive::{Exchanged, Lane, Machine, Round},
    inproc,
};
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::Duration,
};

/// A device that behaves as `script` does.
fn scripted(
    patience: Duration,
    script: impl FnOnce(&mut UnixStream) + Send + 'static,
) -> Result<Device, HdlError> {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || script(&mut theirs));
    Device::over("the device", ours, patience)
}

fn frame(kind: u8, context: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&[kind, context, 0, 0][..], &length, payload].concat()
}

/// Writes bytes, and ignores an engine that is gone.
fn say(stream: &mut UnixStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Reads frames up to the first one of a kind.
fn hear(stream: &mut UnixStream, kind: u8) {
    loop {
        let mut head = [0; 8];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let mut payload = vec![0; length as usize];
        if stream.read_exact(&mut payload).is_err() || head[0] == kind {
            return;
        }
    }
}

/// Waits until the engine is gone.
fn linger(stream: &mut UnixStream) {
    while stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
}

fn cause<T>(result: Result<T, HdlError>) -> Cause {
    match result {
        Ok(_) => panic!("a device that fails gave a result"),
        Err(e) => e.cause,
    }
}

fn small() -> Case {
    Case::new("less:32", true, HELLO.instances())
}

/// Runs a batch alone, to its end or its error; the bytes from the right neighbour are zeros.
fn run(batch: &mut HdlBatch) -> (Vec<Vec<u8>>, Result<(), HdlError>) {
    let mut sent: Vec<Vec<u8>> = vec![];
    let ran = loop {
        let before = vec![0; sent.last().map_or(0, Vec::len)];
        let arrived = [Exchanged { own: &before, heard: &before }];
        let next = if sent.is_empty() { batch.round(0) } else { batch.upcoming() };
        let mut message = vec![0xaa; next.map_or(0, |round| round.out)];
        let ran = match (next, sent.is_empty()) {
            (Some(_), true) => batch.write(0, &mut message),
            (Some(_), false) => batch.turn(&arrived, &mut message),
            (None, _) => batch.read(&arrived),
        };
        match ran {
            Ok(()) if next.is_some() => sent.push(message),
            ran => break ran,
        }
    };
    (sent, ran)
}

/// The cause with which a batch ends if the device answers with these bytes, sent in small pieces.
fn answered(answer: Vec<u8>) -> Cause {
    let case = small();
    let device = scripted(PATIENCE, move |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        hear(stream, b'J');
        answer.chunks(1000).for_each(|part| say(stream, part));
        linger(stream);
    });
    let device = device.unwrap();
    case.load(0, &device).unwrap();
    let mut batch = case.hard(0, &device, 1, 0).unwrap();
    let (_, ran) = run(&mut batch);
    let first = device.check().err();
    assert!(ran.is_err() && ran.err() == first, "the step that fails says so");
    assert_eq!(batch.output().err(), first, "no output");
    assert_eq!(device.statistics().err(), first, "the first error stays");
    first.map_or_else(|| panic!("the device did not fail"), |e| e.cause)
}

#[test]
fn a_device_that_is_gone_at_once() {
    assert_eq!(cause(scripted(PATIENCE, |_| ())), Cause::Died(None));
    let hello = frame(b'H', 0, &HELLO.to_bytes());
    assert_eq!(cause(scripted(PATIENCE, move |s| say(s, &hello[..20]))), Cause::Died(None));
}

#[test]
fn programs_that_are_no_device() {
    let error = Device::start(Path::new("/nowhere/party-sim")).err().unwrap();
    assert!(matches!(error.cause, Cause::NotStarted(_)), "{error}");
    assert!(error.to_string().contains("/nowhere/party-sim"), "{error}");
    let error = Device::start(Path::new("/bin/false")).err().unwrap();
    assert!(matches!(&error.cause, Cause::Died(Some(how)) if how.contains('1')), "{error}");
}

#[test]
fn another_version_or_size_is_refused() {
    let mut other = HELLO.to_bytes();
    other[0] = 2;
    let found = scripted(PATIENCE, move |s| say(s, &frame(b'H', 0, &other)));
    assert_eq!(cause(found), Cause::Version { found: 2, expected: 1 });
    let device = modelled(HELLO);
    assert_eq!(device.expect_instances(640), Ok(()));
    assert_eq!(cause(device.expect_instances(1280)), Cause::Instances { found: 640, expected: 1280 });
}

#[test]
fn garbage_at_the_start() {
    for bytes in [
        b"hello, world! hello, world!".to_vec(),
        frame(b'T', 0, &[0; 16]),
        frame(b'H', 0, &[1, 0, 0, 0]),
        frame(b'H', 0, &[0; 5000]),
        frame(b'H', 0, &Hello { lanes: 0, ..HELLO }.to_bytes()),
    ] {
        let found = cause(scripted(PATIENCE, move |s| say(s, &bytes)));
        assert!(matches!(found, Cause::Protocol(_) | Cause::Version { .. }), "{found:?}");
    }
}

#[test]
fn a_circuit_that_does_not_fit() {
    // A circuit with several ANDs per layer.
    let case = Case::new("less-fast:32", true, HELLO.instances());
    let widest = case.code.layer_ands().iter().copied().max().unwrap();
    for (hello, what) in [
        (Hello { slots: case.code.slots() - 1, ..HELLO }, "slots"),
        (Hello { instructions: case.code.instructions().len() - 1, ..HELLO }, "instructions"),
        (Hello { scalars: case.code.scalars().len() - 1, ..HELLO }, "scalars"),
        (Hello { flight: widest - 1, ..HELLO }, "ANDs of one layer under way"),
    ] {
        let error = case.load(0, &modelled(hello)).err().unwrap();
        assert!(matches!(error.cause, Cause::Capacity { what: found, .. } if found == what), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let exact = Hello {
        slots: case.code.slots(),
        instructions: case.code.instructions().len(),
        scalars: case.code.scalars().len(),
        flight: widest,
        ..HELLO
    };
    assert_eq!(case.load(0, &modelled(exact)), Ok(()));
}

#[test]
fn misuse_is_named() {
    let case = small();
    let fresh = || modelled(HELLO);
    let device = fresh();
    assert!(matches!(cause(case.hard(0, &device, 0, 0)), Cause::Misuse(_)), "a batch before its circuit");
    let device = fresh();
    assert_eq!(case.load(0, &device), Ok(()));
    assert!(matches!(cause(case.load(0, &device)), Cause::Misuse(_)), "a second circuit");
    for context in [HELLO.contexts, 300] {
        let device = fresh();
        assert_eq!(case.load(0, &device), Ok(()));
        assert!(matches!(cause(case.hard(0, &device, context, 0)), Cause::Misuse(_)), "context {context}");
    }
    let device = fresh();
    assert_eq!(case.load(0, &device), Ok(()));
    let batch = case.hard(0, &device, 0, 0).unwrap();
    assert!(matches!(cause(batch.output()), Cause::Misuse(_)), "output before the end");
    assert!(matches!(cause(case.hard(0, &device, 0, 1)), Cause::Misuse(_)), "a busy context");
    let other = Case::new("less:32", true, 2 * HELLO.instances());
    let device = fresh();
    assert_eq!(other.load(0, &device), Ok(()));
    assert!(matches!(cause(other.hard(0, &device, 0, 0)), Cause::Misuse(_)), "rows of another length");
}

#[test]
fn frames_that_must_not_come() {
    let case = small();
    let ands: usize = case.code.layer_ands().iter().sum();
    let (link, output) = (80 * ands, 160 * case.code.rows_out());
    let all = frame(b'T', 1, &vec![7; link]);
    for (what, answer) in [
        ("too much of the link", frame(b'T', 1, &vec![7; link + 16])),
        ("more after all of it", [all.clone(), frame(b'T', 1, &[7; 16])].concat()),
        ("a broken word", frame(b'T', 1, &[7; 24])),
        ("nothing", frame(b'T', 1, &[])),
        ("an idle context", frame(b'T', 2, &[7; 16])),
        ("no such context", frame(b'T', 200, &[7; 16])),
        ("output before the link", frame(b'O', 1, &vec![7; output])),
        ("short output", [all.clone(), frame(b'O', 1, &vec![7; output - 1])].concat()),
        ("long output", [all, frame(b'O', 1, &vec![7; output + 1])].concat()),
        ("a second hello", frame(b'H', 0, &HELLO.to_bytes())),
        ("statistics unasked", frame(b'Z', 0, &[0; 16])),
        ("an unknown kind", frame(b'Q', 1, &[])),
        ("garbage", vec![0xff; 64]),
        ("a text without end", frame(b'X', 0, &vec![b'a'; 5000])),
    ] {
        let found = answered(answer);
        assert!(matches!(found, Cause::Protocol(_)), "{what}: {found:?}");
    }
    let mut dirty = frame(b'T', 1, &[7; 16]);
    dirty[3] = 1;
    assert!(matches!(answered(dirty), Cause::Protocol(_)), "a header that is not clean");
}

#[test]
fn an_answer_in_pieces_is_whole() {
    let case = small();
    let ands: usize = case.code.layer_ands().iter().sum();
    let answer = [frame(b'T', 1, &vec![7; 80 * ands]), frame(b'O', 1, &vec![9; 160 * case.code.rows_out()])];
    let device = scripted(PATIENCE, move |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        hear(stream, b'J');
        answer.concat().chunks(7).for_each(|part| say(stream, part));
        linger(stream);
    });
    let device = device.unwrap();
    case.load(0, &device).unwrap();
    let mut batch = case.hard(0, &device, 1, 0).unwrap();
    assert!(run(&mut batch).0.concat().iter().all(|b| *b == 7));
    let output = batch.output().unwrap();
    assert!(
        output.own.iter().chain(&output.next).all(|b| *b == 9) && output.len() == 80 * case.code.rows_out()
    );
}

#[test]
fn its_own_words_are_passed_on() {
    let found = answered(frame(b'X', 0, b"slot 9 was read\nbefore it was written"));
    assert_eq!(found, Cause::Reported("slot 9 was read before it was written".into()));
    // The same if the device ends while many bytes are on their way to it.
    let case = Case::new("aes128-expanded-key", true, HELLO.instances());
    let device = scripted(PATIENCE, |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        say(stream, &frame(b'X', 0, b"no memory"));
    });
    let found = device.and_then(|device| {
        case.load(0, &device)?;
        let mut batch = case.hard(0, &device, 0, 0)?;
        run(&mut batch).1?;
        batch.output()
    });
    assert_eq!(cause(found), Cause::Reported("no memory".into()));
}

/// A stream that ends after this many bytes have been written to it.
struct Ending(UnixStream, usize);

impl Read for Ending {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl Write for Ending {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = buf.len().min(self.1);
        if n == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.1 -= n;
        self.0.write(&buf[..n])
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_device_that_dies_in_the_middle_of_a_run() {
    let case = small();
    let whole =
        40 + case.code.layer_ands().len() * 8 + 80 * case.code.ands() + 8 + 160 * case.code.rows_out();
    for bytes in [40, 41, 48, 49, whole / 2, whole - 1] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || model::serve(Ending(theirs, bytes), HELLO));
        let device = Device::over("the device", ours, PATIENCE).unwrap();
        case.load(0, &device).unwrap();
        let mut batch = case.hard(0, &device, 0, 0).unwrap();
        let (sent, ran) = run(&mut batch);
        assert!(sent.iter().flatten().all(|b| *b != 0xaa) || bytes > 48, "old bytes must not go out");
        assert_eq!(cause(ran), Cause::Died(None), "after {bytes} bytes");
        assert_eq!(cause(device.check()), Cause::Died(None), "after {bytes} bytes");
        assert_eq!(cause(batch.output()), Cause::Died(None), "after {bytes} bytes");
    }
    let (ours, theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || model::serve(Ending(theirs, whole), HELLO));
    let device = Device::over("the device", ours, PATIENCE).unwrap();
    case.load(0, &device).unwrap();
    let mut batch = case.hard(0, &device, 0, 0).unwrap();
    assert_eq!(run(&mut batch).1, Ok(()));
    assert!(batch.output().is_ok(), "one byte more and it would have worked");
}

#[test]
fn a_failure_in_one_context_leaves_no_output_in_another() {
    let case = small();
    let ands: usize = case.code.layer_ands().iter().sum();
    let good = [frame(b'T', 0, &vec![7; 80 * ands]), frame(b'O', 0, &vec![9; 160 * case.code.rows_out()])];
    let device = scripted(PATIENCE, move |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        hear(stream, b'J');
        hear(stream, b'J');
        say(stream, &good.concat());
        say(stream, &frame(b'X', 0, b"burnt"));
    });
    let device = device.unwrap();
    case.load(0, &device).unwrap();
    let (mut first, mut second) =
        (case.hard(0, &device, 0, 0).unwrap(), case.hard(0, &device, 1, 1).unwrap());
    let (first_ran, second_ran) = (run(&mut first).1, run(&mut second).1);
    assert!(first_ran.is_ok() || first_ran == second_ran, "{first_ran:?}");
    assert_eq!(cause(first.output()), Cause::Reported("burnt".into()));
    assert_eq!(cause(second.output()), Cause::Reported("burnt".into()));
}

#[test]
fn a_silent_device_is_given_up() {
    // This is long enough for a device on a busy host to greet.
    let patience = Duration::from_secs(3);
    assert_eq!(cause(scripted(patience, linger)), Cause::Silent(patience));
    let case = small();
    let silent = scripted(patience, |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        linger(stream);
    });
    let device = silent.unwrap();
    case.load(0, &device).unwrap();
    let mut batch = case.hard(0, &device, 0, 0).unwrap();
    assert_eq!(cause(run(&mut batch).1), Cause::Silent(patience));
    assert_eq!(cause(batch.output()), Cause::Silent(patience));
    // A device that does not even read.
    let many = Hello { contexts: 64, ..HELLO };
    let deaf = scripted(patience, move |stream| {
        say(stream, &frame(b'H', 0, &many.to_bytes()));
        thread::sleep(3 * PATIENCE);
    });
    let device = deaf.unwrap();
    let big = Case::new("aes128-expanded-key", true, HELLO.instances());
    let found = big.load(0, &device).err();
    let found = found.or_else(|| (0..64).find_map(|k| big.hard(0, &device, k, k as u32).err()));
    assert_eq!(found.map(|e| e.cause), Some(Cause::Silent(patience)));
}

#[test]
fn neither_end_waits_for_the_other_to_read() {
    let case = Case::new("aes128-expanded-key", true, HELLO.instances());
    let many = Hello { contexts: 64, ..HELLO };
    let (link, output) = (80 * case.code.ands(), 160 * case.code.rows_out());
    let device = scripted(PATIENCE, move |stream| {
        say(stream, &frame(b'H', 0, &many.to_bytes()));
        hear(stream, b'J');
        // More bytes than a socket holds, while the engine sends as many.
        say(stream, &frame(b'T', 0, &vec![7; link]));
        say(stream, &frame(b'O', 0, &vec![9; output]));
        linger(stream);
    });
    let device = device.unwrap();
    case.load(0, &device).unwrap();
    let mut batches: Vec<HdlBatch> =
        (0..many.contexts).map(|k| case.hard(0, &device, k, k as u32).unwrap()).collect();
    let mut first = batches.swap_remove(0);
    assert!(run(&mut first).0.concat().iter().all(|b| *b == 7));
    assert!(first.output().is_ok());
}

/// A batch as an engine runs it: either the device or the network ends it.
struct Engine(HdlBatch);

#[derive(Debug)]
enum Ended {
    Device(Cause),
    Net,
}

impl From<NetError> for Ended {
    fn from(_: NetError) -> Self {
        Ended::Net
    }
}

impl Machine for Engine {
    type Error = Ended;

    fn round(&self, slot: usize) -> Option<Round> {
        self.0.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Ended> {
        self.0.write(slot, out).map_err(|e| Ended::Device(e.cause))
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Ended> {
        self.0.read(messages).map_err(|e| Ended::Device(e.cause))
    }
    fn upcoming(&self) -> Option<Round> {
        self.0.upcoming()
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Ended> {
        self.0.turn(messages, out).map_err(|e| Ended::Device(e.cause))
    }
    fn cost(&self) -> Option<Cost> {
        self.0.cost()
    }
}

#[test]
fn nothing_is_sent_after_a_device_has_failed() {
    let case = small();
    let layers: Vec<usize> = case.code.layer_ands().iter().map(|ands| 80 * ands).filter(|n| *n > 0).collect();
    // The device makes the messages of two layers, and fails when it receives the input of the
    // third.
    let made = layers[0] + layers[1];
    let device = scripted(PATIENCE, move |stream| {
        say(stream, &frame(b'H', 0, &HELLO.to_bytes()));
        hear(stream, b'J');
        say(stream, &frame(b'T', 0, &vec![7; made]));
        hear(stream, b'R');
        hear(stream, b'R');
        say(stream, &frame(b'X', 0, b"burnt"));
        linger(stream);
    });
    let device = device.unwrap_or_else(|e| panic!("{e}"));
    case.load(0, &device).unwrap_or_else(|e| panic!("{e}"));
    let batch = case.hard(0, &device, 0, 0).unwrap_or_else(|e| panic!("{e}"));
    let ids = [PartyId(0), PartyId(1)];
    let [mut ours, mut theirs]: [_; 2] =
        inproc::mesh(&ids, 1, PATIENCE).try_into().ok().expect("two parties");
    let mut channel = theirs.channel(0, Some(ids[0]), Some(ids[0])).expect("a free lane");
    let neighbour = thread::spawn(move || {
        let heard = layers.iter().map(|len| {
            let mut message = vec![0; *len];
            channel.exchange("a layer", &vec![0; *len], &mut message).map(|()| message)
        });
        heard.take_while(Result::is_ok).flatten().collect::<Vec<_>>()
    });
    let mut lane = Lane::new(ours.channel(0, Some(ids[1]), Some(ids[1])).expect("a free lane"));
    let ran = lane.run(Engine(batch)).map(|_| ());
    assert!(matches!(&ran, Err(Ended::Device(Cause::Reported(words))) if words == "burnt"), "{ran:?}");
    drop(lane);
    let heard = neighbour.join().expect("the neighbour ends");
    assert_eq!(heard.len(), 2, "two whole messages, and none of zeros");
    assert!(heard.concat().iter().all(|byte| *byte == 7));
}
