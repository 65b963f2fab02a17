//! Runs a cell: all members start, the fault comes, and the survivors are judged.

use crate::{
    common::{cmdline, runs},
    fault_table::cell::{Cell, Fault, Protocol, SUPERVISOR},
    fault_table::texts,
    fault_table::world::{JOIN, World},
    rehearsal::{Ended, Running},
};
use std::{
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// The time in which all members must end after a kill, or after the limit that applies. Sixteen
/// runs share the cores of the host, and a member that computes notices a fault only afterwards.
const LIMIT: Duration = Duration::from_secs(45);
/// The time that a run which survives the fault may take.
const LONG: Duration = Duration::from_secs(120);
/// The time without a message after which a member counts as dead.
const LIVENESS: Duration = Duration::from_secs(8);
const PAUSE: Duration = Duration::from_secs(5);
/// The multiples of the usual work that are tried until a pause comes during the run of all
/// members.
const TIMES: [usize; 3] = [1, 4, 16];
/// The time in which members that are all present meet.
const SETTLED: Duration = Duration::from_secs(2);

/// The member with the fault: a process of its own, or one that a supervisor started.
enum Victim {
    Own(Running),
    Of(u32),
}

impl Victim {
    fn signal(&self, signal: &str) {
        assert!(self.hears(signal), "{signal} came too late");
    }

    /// Sends a signal, if the process still runs.
    fn hears(&self, signal: &str) -> bool {
        let pid = match self {
            Self::Own(running) => running.pid(),
            Self::Of(pid) => *pid,
        };
        let status = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Cell {
    /// Runs the cell, and judges it.
    pub(crate) fn run(&self) {
        // On a busy host a run may end before the fault comes.
        let met = TIMES.iter().any(|times| self.met(*times));
        assert!(met, "{self}: somebody ended meanwhile");
    }

    /// Runs the cell with a multiple of the usual work, and judges it. Returns false if the fault
    /// came too late for some member.
    fn met(&self, times: usize) -> bool {
        let world = World::new(*self, times);
        let started = self.protocol.started().iter().copied();
        // A member with a wrong pin comes last, so that it meets all others.
        let late = matches!(self.fault, Fault::WrongPin | Fault::MistakenPin);
        let absent = late || self.fault == Fault::Absent;
        let mut running: Vec<_> =
            started.filter(|name| !absent || *name != self.member).map(|name| world.start(name)).collect();
        if late {
            let others: Vec<_> = running.iter().map(|member| member.name).collect();
            world.files.until_said(&others, if self.protocol.is_job() { " waits for " } else { "ing " });
            sleep(SETTLED);
            running.push(world.start(self.member));
        }
        let mut pids = vec![];
        let ended = match self.fault {
            Fault::Kill | Fault::Pause | Fault::Freeze(_) => {
                let Some(at_work) = world.until_at_work(&running) else {
                    assert!(self.fault == Fault::Pause, "{self}: a member ended before the fault");
                    world.files.end_within(running, Instant::now(), LONG);
                    return false;
                };
                pids = at_work;
                sleep(self.after);
                let at = running.iter().position(|member| member.name == self.member);
                let victim = match at {
                    Some(at) => Victim::Own(running.remove(at)),
                    None => {
                        let place = self.protocol.members().iter().position(|name| *name == self.member);
                        Victim::Of(pids[place.unwrap_or(0) - 1])
                    }
                };
                match self.befall(&world, running, victim) {
                    Some(ended) => ended,
                    None => return false,
                }
            }
            Fault::Absent => world.files.end_within(running, Instant::now(), JOIN + LIMIT),
            _ => world.files.end_within(running, Instant::now(), LONG),
        };
        if std::env::var_os("HUSHWIRE_FAULTS_PRINT").is_some() {
            for member in &ended {
                eprintln!(
                    "{self}: {} ends with {:?}: {}{}",
                    member.name, member.code, member.out, member.err
                );
            }
        }
        self.judge(&world, &ended);
        let begun = Instant::now();
        while pids.iter().any(|pid| runs(*pid)) {
            let left: Vec<_> = pids.iter().map(|pid| cmdline(*pid)).collect();
            assert!(begun.elapsed() < LIMIT, "{self}: processes are left: {left:?}");
            sleep(Duration::from_millis(20));
        }
        true
    }

    /// Causes a fault during the run, and returns the ends of the members that can still report.
    /// Returns `None` if a member had ended before a pause.
    fn befall(&self, world: &World, mut running: Vec<Running>, victim: Victim) -> Option<Vec<Ended>> {
        let begun = Instant::now();
        Some(match self.fault {
            Fault::Kill => {
                victim.signal("-KILL");
                if let Victim::Own(victim) = victim {
                    assert!(victim.kill().is_none(), "{self}: it ended by itself");
                }
                world.files.end_within(running, begun, LIMIT)
            }
            Fault::Pause => {
                let stopped = victim.hears("-STOP");
                sleep(PAUSE);
                // The others need the stopped member, so none can have gone on to the end.
                let met = stopped && running.iter_mut().all(Running::lives);
                victim.hears("-CONT");
                if let Victim::Own(victim) = victim {
                    running.push(victim);
                }
                if !met {
                    world.files.end_within(running, begun, LONG);
                    return None;
                }
                world.files.end_within(running, begun, LONG)
            }
            Fault::Freeze(frozen) => {
                victim.signal("-STOP");
                let mut ended = world.files.end_within(running, begun, LIVENESS + LIMIT);
                sleep(frozen.saturating_sub(begun.elapsed()));
                if let Victim::Own(victim) = victim {
                    victim.signal("-CONT");
                    let limit = if self.survives() { LONG } else { LIMIT };
                    ended.extend(world.files.end_within(vec![victim], Instant::now(), limit));
                }
                ended
            }
            _ => unreachable!("{self} has no middle"),
        })
    }

    /// Returns whether the run survives a long stop of the member. During an intersection, only the
    /// user needs the supervisor.
    fn survives(&self) -> bool {
        self.protocol == Protocol::LocalPsi
            && self.member == SUPERVISOR
            && matches!(self.fault, Fault::Freeze(_))
    }

    fn judge(&self, world: &World, ended: &[Ended]) {
        let mut good = vec![];
        for member in ended {
            if texts::judge(self, member) {
                good.push(member.name);
            }
        }
        let outputs: Vec<_> = good.iter().filter_map(|name| world.output_of(name)).collect();
        assert!(outputs.iter().all(|output| !output.is_empty()), "{self}: an output is empty");
        if let Some(expected) = outputs.first().and_then(|_| world.expected()) {
            assert!(outputs.iter().all(|output| *output == expected), "{self}: an output is wrong");
        }
        // The parties of an encryption keep different shares.
        if self.protocol.is_job() && self.protocol != Protocol::AesCtr {
            assert!(
                outputs.windows(2).all(|pair| pair[0] == pair[1]),
                "{self}: recipients learned different things"
            );
        }
        if self.fault == Fault::FullPipe {
            // Its file is complete; only the report about it could not be printed.
            good.push(self.member);
        }
        let left = world.left(&good);
        assert!(left.is_empty(), "{self}: left behind: {left:?}");
    }
}
