//! Tests of lines as machines, of their buffers, and of errors that end them.

use super::*;
use crate::{
    NetError,
    drive::{Latch, Lockstep, Wiring},
    gated,
};

fn sum(mine: u8, rounds: usize) -> Line<'static, u8, NetError> {
    Line::new(move |talk| async move {
        let mut sum = mine;
        for _ in 0..rounds {
            sum += talk.exchange("sums", vec![sum], 1).await[0];
            talk.exchange("nothing", vec![], 0).await;
        }
        Ok(sum)
    })
}

/// Sends its number `rounds` times on two slots, within another line, after one round of that line.
fn ring(mine: u8) -> Line<'static, Vec<u8>, NetError> {
    Line::over(2, move |talk| async move {
        let first = talk.exchange_all("first", vec![vec![mine], vec![]], &[1, 0]).await;
        let mut within = Line::<_, NetError>::over(2, move |talk| async move {
            let out = vec![vec![mine; 2], vec![mine; 3]];
            Ok(talk.exchange_all("within", out, &[2, 3]).await.concat())
        });
        talk.run(&mut within).await?;
        Ok([first.concat(), within.finish()].concat())
    })
}

#[test]
fn protocols_are_machines() {
    let mut both = [sum(1, 3), sum(2, 3)];
    Lockstep::new().run(&mut both).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(both.map(Line::finish), [12, 12]);
    assert_eq!(sum(7, 0).finish(), 7);
}

#[test]
fn machines_run_within_lines_on_every_slot() {
    let mut all = [0, 1, 2].map(ring);
    Lockstep::wired(Wiring::Ring).run(&mut all).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(all.map(Line::finish), [[1, 1, 1, 2, 2, 2], [2, 2, 2, 0, 0, 0], [0, 0, 0, 1, 1, 1]]);
}

/// Three rounds of a machine that reads its own messages again.
struct Doubles {
    mine: u8,
    rounds: u8,
    latch: Latch,
}

impl Doubles {
    fn new(mine: u8) -> Self {
        Doubles { mine, rounds: 0, latch: Latch::with_own() }
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
    fn exchange(&self) -> Option<Round> {
        (self.rounds < 3).then_some(Round::even("doubles", 5))
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        out.fill(self.mine);
        Ok(())
    }
    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
        (self.mine, self.rounds) = (message.own[4] + message.heard[4], self.rounds + 1);
        Ok(())
    }
}

gated!([] Doubles, NetError;);

/// Sends one message, then runs a machine on slot 1, which is at another place in each run.
fn doubles(mine: u8) -> Line<'static, (u8, Vec<u8>), NetError> {
    Line::over(2, move |talk| async move {
        let mut within = Line::<_, NetError>::new(move |talk| async move {
            let mut out = Buffer::new();
            out.set_len(6);
            out.fill(mine);
            Ok(talk.exchange_in("kept", out, 6).await.to_vec())
        });
        talk.run_on(0, &mut within).await?;
        let mut machine = Doubles::new(mine);
        talk.run_on(1, &mut machine).await?;
        Ok((machine.mine, within.finish()))
    })
}

#[test]
fn machines_run_on_one_slot_and_see_their_own_messages() {
    let mut all = [1, 2, 3].map(doubles);
    Lockstep::new().run(&mut all).unwrap_or_else(|e| panic!("{e}"));
    // Slot 0 receives from the right neighbour, slot 1 from the left one.
    assert_eq!(all.map(Line::finish), [(17, vec![2; 6]), (16, vec![3; 6]), (15, vec![1; 6])]);
}

/// The test passes a round of messages in buffers, as drivers do.
#[test]
fn messages_in_buffers_are_handed_over() {
    let mut both = [1, 2].map(doubles);
    let mut buffers = [0; 2].map(|_| Buffers::default());
    for rounds in 0.. {
        let mut more = [false; 2];
        for (i, (line, buffers)) in both.iter_mut().zip(&mut buffers).enumerate() {
            buffers.fit(line, 2);
            more[i] = buffers.advance(line, rounds > 0).unwrap_or_else(|e| panic!("{e}"));
        }
        if more == [false; 2] {
            break;
        }
        for slot in 0..2 {
            let said = [1, 0].map(|i: usize| buffers[i].said(slot).to_vec());
            buffers.iter_mut().zip(&said).for_each(|(to, said)| to.hear(slot, &Exchanged::heard(said)));
        }
    }
    assert_eq!(both.map(Line::finish), [(12, vec![2; 6]), (12, vec![1; 6])]);

    let mut line = Line::<_, NetError>::new(|talk| async {
        let talk = talk;
        let mut out = Buffer::new();
        out.set_len(4);
        let heard = talk.exchange_in("kept", out, 3).await;
        Ok((heard.as_ptr() as usize, heard.to_vec()))
    });
    let mut buffers = Buffers::default();
    buffers.fit(&line, 1);
    assert!(buffers.advance(&mut line, false).is_ok_and(|more| more));
    buffers.hear(0, &Exchanged::heard(&[1, 2, 3]));
    let place = buffers.heard_at(0);
    assert!(buffers.advance(&mut line, true).is_ok_and(|more| !more));
    assert_eq!(line.finish(), (place, vec![1, 2, 3]));
}

#[test]
fn a_buffer_comes_back_with_what_was_heard() {
    let begin = |mine: u8| {
        Line::<_, NetError>::new(move |talk| async move {
            let out = vec![mine; 1000];
            let place = out.as_ptr() as usize;
            let heard = talk.exchange("one", out, 900 + usize::from(mine)).await;
            Ok((heard.as_ptr() as usize == place, heard.len()))
        })
    };
    let mut line = begin(3);
    let mut out = [0; 1000];
    line.write(0, &mut out).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(out, [3; 1000]);
    line.read(&[Exchanged::heard(&[4; 903])]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(line.finish(), (true, 903));
}

#[test]
fn a_message_may_be_made_when_it_is_asked_for() {
    let made = std::sync::atomic::AtomicBool::new(false);
    let is_made = || made.load(std::sync::atomic::Ordering::Relaxed);
    let mut line = Line::<_, NetError>::new(|talk| async {
        let talk = talk;
        talk.ready("late", 2, 1).await;
        made.store(true, std::sync::atomic::Ordering::Relaxed);
        Ok(talk.exchange("late", vec![8, 9], 1).await)
    });
    assert!(line.round(0) == Some(Round { name: "late", out: 2, into: 1 }) && !is_made());
    let mut out = [0; 2];
    line.write(0, &mut out).unwrap_or_else(|e| panic!("{e}"));
    assert!(is_made() && out == [8, 9]);
    line.read(&[Exchanged::heard(&[7])]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(line.finish(), [7]);
}

#[test]
fn other_lengths_and_calls_out_of_turn_end_a_line() {
    let lost = |line: &mut Line<'static, u8, NetError>| {
        assert!(line.is_lost() && line.round(0).is_some() && line.result().is_none());
        assert!(line.read(&[Exchanged::heard(&[1])]).is_err() && line.write(0, &mut [0]).is_err());
    };
    let mut one = sum(1, 2);
    assert!(one.write(0, &mut [0]).is_ok() && one.read(&[Exchanged::heard(&[1, 2])]).is_err());
    lost(&mut one);
    let mut one = sum(1, 2);
    assert!(one.write(0, &mut [0; 2]).is_err());
    lost(&mut one);
    let mut one = sum(1, 2);
    assert!(one.write(0, &mut [0]).is_ok() && one.write(0, &mut [0]).is_err());
    lost(&mut one);
    let mut one = sum(1, 2);
    assert!(one.read(&[Exchanged::heard(&[1])]).is_err(), "its own message was not said");
    lost(&mut one);
    let mut one = sum(1, 2);
    assert!(one.write(0, &mut [0]).is_ok() && one.read(&[]).is_err());
    lost(&mut one);
    let mut done = sum(1, 0);
    assert!(done.write(0, &mut []).is_ok() && done.read(&[Exchanged::NOTHING]).is_ok());
    assert!(done.read(&[Exchanged::heard(&[1])]).is_err());
    lost(&mut done);
}

#[test]
fn an_error_is_reported_once_and_stays() {
    let mut line = Line::<u8, NetError>::new(|_| async { Err(Misstep::Lost { step: "first" }.into()) });
    assert!(line.round(0).is_some());
    let first = line.write(0, &mut []).map_err(|e| e.to_string());
    assert!(matches!(&first, Err(text) if text.contains("first")), "{first:?}");
    let again = line.read(&[Exchanged::NOTHING]).map_err(|e| e.to_string());
    assert!(matches!(&again, Err(text) if text.contains("the beginning")), "{again:?}");
}
