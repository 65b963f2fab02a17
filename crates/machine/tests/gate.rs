//! The gate in front of a machine: wrong lengths, calls out of turn, errors and panics end the
//! machine.

use hushwire_machine::{
    NetError,
    drive::{Exchanged, Latch, Machine, Misstep, Round},
    gated,
};

/// Sends one byte and receives two, then receives one, then sends and receives three. 9 is
/// malformed, and 8 is a bug.
struct Three {
    at: usize,
    latch: Latch,
}

const ROUNDS: [Round; 3] = [
    Round { name: "first", out: 1, into: 2 },
    Round { name: "second", out: 0, into: 1 },
    Round::even("third", 3),
];

impl Three {
    fn latch(&self) -> &Latch {
        &self.latch
    }
    fn exchange(&self) -> Option<Round> {
        // It behaves like a machine that has moved on by the time it receives.
        ROUNDS.get(self.at.div_ceil(2)).copied()
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        self.at += 1;
        out.fill(7);
        Ok(())
    }
    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
        assert_ne!(message.heard[0], 8, "a bug");
        self.at += 1;
        let nine = NetError::Malformed { peer: None, msg: "nine", what: String::new() };
        if message.heard[0] == 9 { Err(nine) } else { Ok(()) }
    }
    fn answer(&mut self, message: Exchanged<'_>, out: &mut [u8]) -> Result<(), NetError> {
        self.hear(message)?;
        self.say(out)
    }
}

gated!(fused [] Three, NetError;);

/// A machine that has done `calls` calls.
fn three(latch: Latch, calls: usize) -> Three {
    let mut machine = Three { at: 0, latch };
    for call in 0..calls {
        let round = ROUNDS[call / 2];
        let (own, heard) = (vec![7; round.out], vec![1; round.into]);
        if call % 2 == 0 {
            machine.write(0, &mut vec![0; round.out]).expect("its turn");
        } else {
            machine.read(&[Exchanged { own: &own, heard: &heard }]).expect("its turn");
        }
    }
    machine
}

fn lost(result: &Result<(), NetError>) -> bool {
    matches!(result, Err(NetError::Misstep(Misstep::Lost { .. })))
}

fn is_lost(machine: &mut Three) -> bool {
    let at = machine.at;
    let answers = [
        machine.write(0, &mut [0]),
        machine.read(&[Exchanged::heard(&[1])]),
        machine.read(&[Exchanged::NOTHING]),
        machine.turn(&[Exchanged::heard(&[1, 1])], &mut []),
        machine.turn(&[Exchanged::heard(&[1])], &mut [0; 3]),
        machine.write(0, &mut []),
    ];
    let looks_done = machine.round(0).is_none();
    !looks_done && machine.at == at && answers.iter().all(lost)
}

#[test]
fn steps_in_turn_reach_the_end_and_stay_there() {
    let mut machine = three(Latch::new(), 0);
    let mut out = [0];
    assert_eq!(machine.round(0), Some(ROUNDS[0]));
    machine.write(0, &mut out).expect("its turn");
    assert_eq!((machine.round(0), out), (Some(ROUNDS[0]), [7]), "until the answer is heard");
    machine.read(&[Exchanged::heard(&[1, 1])]).expect("two bytes");
    assert_eq!(machine.round(0), Some(ROUNDS[1]));
    let mut out = [0; 3];
    machine.turn(&[Exchanged::heard(&[1])], &mut out).expect("with nothing to say, speaking may be left out");
    assert_eq!((machine.round(0), out), (Some(ROUNDS[2]), [7; 3]));
    machine.read(&[Exchanged::heard(&[1; 3])]).expect("three bytes");
    assert!(machine.at == 6 && machine.round(0).is_none());
    assert!(machine.write(0, &mut []).is_ok() && machine.read(&[Exchanged::NOTHING]).is_ok());
    assert!(machine.turn(&[Exchanged::NOTHING], &mut []).is_ok() && machine.round(0).is_none());
    let more = machine.read(&[Exchanged::heard(&[1])]);
    assert!(matches!(more, Err(NetError::Malformed { msg: "after the last step", .. })));
    assert!(is_lost(&mut machine));
}

#[test]
fn messages_of_other_lengths_end_a_machine_and_are_not_taken() {
    for (call, step) in [(1, "first"), (3, "second"), (5, "third")] {
        let wanted = ROUNDS[call / 2].into;
        for len in (0..wanted).chain([wanted + 1, wanted + 100]) {
            let wrong = |result| {
                let what = format!("{len} bytes instead of {wanted}");
                matches!(result, Err(NetError::Malformed { msg, what: w, peer: None }) if msg == step && w == what)
            };
            let mut machine = three(Latch::new(), call);
            assert!(wrong(machine.read(&[Exchanged::heard(&vec![1; len])])), "{step}, {len}");
            assert!(machine.at == call && is_lost(&mut machine));
            if let Some(next) = ROUNDS.get(call / 2 + 1) {
                let mut machine = three(Latch::new(), call);
                assert!(wrong(machine.turn(&[Exchanged::heard(&vec![1; len])], &mut vec![0; next.out])));
                assert!(machine.at == call && is_lost(&mut machine));
            }
        }
    }
}

#[test]
fn buffers_of_other_lengths_end_a_machine() {
    let buffer = |result, step, found, expected| matches!(result, Err(NetError::Misstep(wrong)) if wrong == Misstep::Buffer { step, found, expected });
    for len in [0, 2] {
        let mut machine = three(Latch::new(), 0);
        assert!(buffer(machine.write(0, &mut vec![0; len]), "first", len, 1) && is_lost(&mut machine));
    }
    let mut machine = three(Latch::new(), 3);
    let turned = machine.turn(&[Exchanged::heard(&[1])], &mut [0; 2]);
    assert!(buffer(turned, "third", 2, 3) && machine.at == 3 && is_lost(&mut machine));
    for messages in [&[][..], &[Exchanged::heard(&[1, 1]); 2]] {
        let mut machine = three(Latch::new(), 1);
        assert!(buffer(machine.read(messages), "first", messages.len(), 1) && is_lost(&mut machine));
    }
    // A machine that reads its own messages again accepts no others.
    for own in [&[][..], &[7; 2], &[7; 4]] {
        let mut machine = three(Latch::with_own(), 5);
        let read = machine.read(&[Exchanged { own, heard: &[1; 3] }]);
        assert!(buffer(read, "third", own.len(), 3) && machine.at == 5 && is_lost(&mut machine));
    }
    assert!(three(Latch::with_own(), 5).read(&[Exchanged { own: &[7; 3], heard: &[1; 3] }]).is_ok());
}

#[test]
fn calls_out_of_turn_and_errors_end_a_machine() {
    let mut machine = three(Latch::new(), 1);
    let nine = machine.read(&[Exchanged::heard(&[9, 0])]);
    assert!(matches!(nine, Err(NetError::Malformed { msg: "nine", .. })) && is_lost(&mut machine));
    let mut machine = three(Latch::new(), 3);
    let nine = machine.turn(&[Exchanged::heard(&[9])], &mut [0; 3]);
    assert!(matches!(nine, Err(NetError::Malformed { msg: "nine", .. })) && is_lost(&mut machine));
    let mut machine = three(Latch::new(), 1);
    assert!(lost(&machine.write(0, &mut [0])) && is_lost(&mut machine), "a second message of a round");
    for early in [true, false] {
        let mut machine = three(Latch::new(), 0);
        let message = [Exchanged::heard(&[1, 1])];
        let came = if early { machine.read(&message) } else { machine.turn(&message, &mut []) };
        assert!(lost(&came) && machine.at == 0 && is_lost(&mut machine));
    }
    assert!(is_lost(&mut three(Latch::lost("before"), 0)));
}

#[test]
fn a_panic_leaves_a_machine_lost() {
    let mut machine = three(Latch::new(), 1);
    let caught =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| machine.read(&[Exchanged::heard(&[8, 0])])));
    assert!(caught.is_err() && is_lost(&mut machine));
}
