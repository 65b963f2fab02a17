//! Checks every peer, and answers the peers that check this party.

use super::{
    Patient,
    own::dates,
    report::{Check, Verdict},
    verdicts::{explain, unresolved, wrong_pin},
};
use crate::{error::Error, log};
use hushwire::job::{Fault, Member};
use hushwire_machine::{NetError, PartyId, lock};
use hushwire_wire::{
    Clock, DialledPeer, PeerConfig, Probe, Prober, TransportKind, Validity, Visit, presented,
};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};
use tracing::debug;

/// LOCAL: the number of round trips that are measured.
const PINGS: usize = 9;
/// LOCAL: the time for which a rate is measured, in each direction.
const BURST: Duration = Duration::from_millis(500);
/// LOCAL: a larger difference of clocks is worth a warning, because certificates are valid to the
/// second.
const CLOCK_SECONDS: f64 = 5.0;
/// LOCAL: the time between two attempts to dial.
const AGAIN: Duration = Duration::from_millis(200);
/// LOCAL: the longest time of one look at the port.
const LOOK: Duration = Duration::from_millis(50);
/// LOCAL: the most visitors that are answered at the same time.
const MOST_VISITORS: usize = 32;
/// LOCAL: the time for which a peer under measurement may go on with this party after this party's
/// own time is over.
const GRACE: Duration = Duration::from_secs(10);

/// The connections from peers to this party, by number.
#[derive(Default)]
struct Came {
    by: BTreeMap<PartyId, Arrival>,
    /// The reason why the last stranger was turned away.
    stranger: Option<String>,
}

#[derive(Clone, PartialEq)]
enum Arrival {
    Measured,
    InSession,
    Failed(Box<Fault>),
}

struct Rounds<'a> {
    patient: &'a Patient,
    prober: Prober,
    deadline: Instant,
    came: Mutex<Came>,
    /// Allows one measurement of a rate at a time, since two would share the line.
    line: Mutex<()>,
    over: AtomicBool,
}

/// Makes the checks of every peer, in the file's order.
pub(super) fn checks(patient: &Patient) -> Result<Vec<Check>, Error> {
    let peers = patient.peers();
    let configs = peers.iter().map(|(_, config)| config.clone()).collect();
    let me = patient.number(&patient.file.me);
    let prober = Prober::new(me, configs, patient.file.transport, &patient.identity);
    prober.check(patient.listen.is_some())?;
    let rounds = Rounds {
        patient,
        prober,
        deadline: Instant::now() + patient.wait,
        came: Mutex::default(),
        line: Mutex::default(),
        over: AtomicBool::new(false),
    };
    let looked: Vec<Vec<Check>> = thread::scope(|scope| {
        scope.spawn(|| rounds.answer());
        let dials: Vec<_> = peers.iter().map(|(_, peer)| scope.spawn(|| rounds.look(peer))).collect();
        let looked: Vec<_> = dials.into_iter().map(|dial| dial.join().unwrap_or_default()).collect();
        rounds.wait_for_visits(&peers, &looked);
        rounds.over.store(true, Ordering::SeqCst);
        looked
    });
    let mut all = vec![];
    for ((member, peer), mut checks) in peers.into_iter().zip(looked) {
        checks.extend(rounds.visit_of(member, &peer, &checks));
        let at = peer.address.map_or_else(String::new, |address| format!(" at {address}"));
        all.extend(checks.into_iter().map(|check| check.of(&format!("{member}{at}"))));
    }
    Ok(all)
}

fn measured(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.check == "round trip" && check.verdict != Verdict::Skipped)
}

/// Returns whether the peer answered but the handshake failed. It may check this party while there
/// is time.
fn turned_away(checks: &[Check]) -> bool {
    let ok = |name| checks.iter().any(|check| check.check == name && check.verdict == Verdict::Ok);
    ok("reachable") && !ok("version")
}

impl Rounds<'_> {
    /// Answers peers until all checks are over.
    fn answer(&self) {
        let Some(listener) = &self.patient.listener else { return };
        let visitors = AtomicUsize::new(0);
        thread::scope(|scope| {
            while !self.over.load(Ordering::SeqCst) {
                if visitors.load(Ordering::SeqCst) >= MOST_VISITORS {
                    thread::sleep(LOOK);
                    continue;
                }
                match self.prober.accept(listener, LOOK) {
                    Ok(None) => {}
                    Ok(Some(incoming)) => {
                        visitors.fetch_add(1, Ordering::SeqCst);
                        let visitors = &visitors;
                        scope.spawn(move || {
                            self.remember(self.prober.answer(incoming));
                            visitors.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                    Err(e) => {
                        lock(&self.came).stranger = Some(e.to_string());
                        thread::sleep(AGAIN);
                    }
                }
            }
        });
    }

    fn remember(&self, visit: Visit) {
        debug!(?visit, "answered");
        let mut came = lock(&self.came);
        let (peer, way) = match visit {
            Visit::Measured(peer) => (Some(peer), Arrival::Measured),
            Visit::InSession(peer) => (Some(peer), Arrival::InSession),
            Visit::Failed(e) => (e.peer(), Arrival::Failed(Box::new(self.patient.named(&e)))),
        };
        match (peer, way) {
            (Some(peer), way) if came.by.get(&peer) != Some(&Arrival::Measured) => {
                drop(came.by.insert(peer, way));
            }
            (None, Arrival::Failed(e)) => came.stranger = Some(e.clauses()),
            _ => {}
        }
    }

    /// Waits for visits. A peer that was measured measures this party in turn; clients may come
    /// while there is time.
    fn wait_for_visits(&self, peers: &[(&Member, PeerConfig)], looked: &[Vec<Check>]) {
        if self.patient.listener.is_none() {
            return;
        }
        let awaited: Vec<_> = peers
            .iter()
            .zip(looked)
            .filter(|((_, peer), checks)| peer.address.is_none() || measured(checks) || turned_away(checks))
            .map(|((member, peer), checks)| (member, peer.id, measured(checks)))
            .collect();
        let missing = |id: &_, measured: bool| match lock(&self.came).by.get(id) {
            Some(Arrival::Measured) => false,
            // A peer that cannot be measured has made its visit by now.
            Some(_) => measured,
            None => true,
        };
        let absent: Vec<_> = awaited
            .iter()
            .filter(|(_, id, measured)| !measured && missing(id, *measured))
            .map(|(member, ..)| member.to_string())
            .collect();
        let left = self.deadline.saturating_duration_since(Instant::now()).as_secs();
        if !absent.is_empty() && left > 0 {
            log::note!(
                "waits {left} s more for {}, who may run `hushwire doctor` as well",
                absent.join(", ")
            );
        }
        loop {
            let now = Instant::now();
            let any = |measured_only: bool| {
                let mut left = awaited.iter().filter(|(.., measured)| *measured || !measured_only);
                left.any(|(_, id, measured)| missing(id, *measured))
            };
            if !any(false) || (now >= self.deadline && !any(true)) || now >= self.deadline + GRACE {
                return;
            }
            thread::sleep(LOOK);
        }
    }

    /// Dials until the peer answers, an error comes that waiting does not mend, or time is over.
    fn look(&self, peer: &PeerConfig) -> Vec<Check> {
        let Some(address) = &peer.address else { return vec![] };
        if let Some(check) = unresolved(address, self.patient.wait) {
            return vec![check];
        }
        if !self.may_dial() {
            return self.seen_by_a_stranger(peer, address);
        }
        let begun = Instant::now();
        loop {
            let found = self.prober.dial(peer);
            let e = match found {
                Ok(DialledPeer::Probe(probe)) => return self.measure(peer, *probe, begun.elapsed()),
                Ok(DialledPeer::InSession(validity)) => return self.in_session(peer, validity),
                Err(e) => e,
            };
            if !self.goes_on_after(peer, &e) {
                return explain(self.patient, peer, address, &e);
            }
        }
    }

    /// Returns whether to dial. If this party's own certificate has ended, dialling would end the
    /// run of a party that waits.
    fn may_dial(&self) -> bool {
        let own = self.patient.identity.validity();
        self.patient.file.transport != TransportKind::TcpTls || own.holds_at(SystemTime::now())
    }

    /// The checks of a peer by a party whose own certificate does not hold. It waits for the peer
    /// as `look` does.
    fn seen_by_a_stranger(&self, peer: &PeerConfig, address: &str) -> Vec<Check> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let e = match presented(address, left.clamp(AGAIN, GRACE)) {
                Ok(pin) if pin == peer.pin => {
                    let found = "our own certificate does not hold, so it would refuse us";
                    return vec![
                        Check::ok("reachable", "it answers"),
                        Check::ok("pin", format!("it shows {pin}, as listed")),
                        Check::skipped("round trip", found),
                    ];
                }
                Ok(pin) => {
                    let wrong = wrong_pin(self.patient, peer, &pin.to_string());
                    return vec![Check::ok("reachable", "it answers"), wrong];
                }
                Err(e) => e,
            };
            if !self.goes_on_after(peer, &e) {
                return explain(self.patient, peer, address, &e);
            }
        }
    }

    /// Returns whether to dial again, after a short wait: the peer may not have started yet, and
    /// time must be left.
    fn goes_on_after(&self, peer: &PeerConfig, e: &NetError) -> bool {
        debug!(peer = %peer.id, %e, "not yet");
        let passes = matches!(e, NetError::Connect { .. } | NetError::Io { .. } | NetError::Closed { .. });
        let goes_on = passes && Instant::now() + AGAIN < self.deadline;
        if goes_on {
            thread::sleep(AGAIN);
        }
        goes_on
    }

    /// The checks of a peer after hellos were exchanged.
    fn greeted(&self, peer: &PeerConfig, validity: Option<Validity>) -> Vec<Check> {
        let mut checks = vec![Check::ok("reachable", "it answers")];
        match validity {
            Some(validity) => {
                checks.push(Check::ok("pin", format!("{}, as listed; it accepts ours", peer.pin)));
                checks.push(dates(
                    validity,
                    "run `hushwire keys rotate` there and put the new pin into this file",
                ));
            }
            None => checks.push(Check::skipped("pin", "this transport shows no certificates")),
        }
        checks.push(Check::ok("version", "speaks the same wire version"));
        checks
    }

    fn in_session(&self, peer: &PeerConfig, validity: Option<Validity>) -> Vec<Check> {
        let mut checks = self.greeted(peer, validity);
        let found = "it waits in a run, which was not disturbed";
        checks.push(Check::skipped("round trip", format!("{found}; run `hushwire doctor` there to measure")));
        checks
    }

    fn measure(&self, peer: &PeerConfig, mut probe: Probe, after: Duration) -> Vec<Check> {
        let mut checks = self.greeted(peer, probe.validity());
        debug!(peer = %peer.id, after_seconds = after.as_secs_f64(), "joined");
        if let Err(e) = self.numbers(&mut probe, &mut checks) {
            checks.push(Check::of_fault("round trip", &self.patient.named(&e)));
            return checks;
        }
        // The peer has the numbers that it needs already.
        let _ = probe.bye();
        checks
    }

    fn numbers(&self, probe: &mut Probe, checks: &mut Vec<Check>) -> Result<(), NetError> {
        let mut clocks = (0..PINGS).map(|_| probe.ping()).collect::<Result<Vec<Clock>, _>>()?;
        clocks.sort_by_key(|clock| clock.round_trip);
        let median = clocks[PINGS / 2].round_trip.as_secs_f64() * 1e3;
        let ahead = clocks[0].ahead_seconds;
        let side = if ahead < 0.0 { "behind" } else { "ahead" };
        let found = format!("{:.3} s {side} of ours", ahead.abs());
        checks.push(if ahead.abs() > CLOCK_SECONDS {
            let remedy =
                "set both clocks by NTP (`timedatectl set-ntp true`): certificates hold by the clock";
            Check::warn("clock", found, remedy).value(ahead, "seconds")
        } else {
            Check::ok("clock", found).value(ahead, "seconds")
        });
        let found = format!("{median:.3} ms, the median of {PINGS}");
        checks.push(Check::ok("round trip", found).value(median, "milliseconds"));
        let _one = lock(&self.line);
        for (check, rate) in
            [("rate to it", probe.send_rate(BURST)?), ("rate from it", probe.receive_rate(BURST)?)]
        {
            checks
                .push(Check::ok(check, format!("{:.0} Mbit/s", rate * 8e-6)).value(rate, "bytes per second"));
        }
        Ok(())
    }

    /// The check whether the peer dialled this party, if it should have.
    fn visit_of(&self, member: &Member, peer: &PeerConfig, looked: &[Check]) -> Option<Check> {
        self.patient.listen.as_ref()?;
        let came = lock(&self.came);
        let check = "dials us";
        let Some(listen) = self.patient.listener.as_ref().and(self.patient.listen.as_ref()) else {
            return Some(Check::skipped(check, "our port is not ours to answer"));
        };
        Some(match came.by.get(&peer.id) {
            Some(Arrival::Measured) => Check::ok(check, "it reached us"),
            Some(Arrival::InSession) => Check::ok(check, "its run reached us, and waits for us"),
            Some(Arrival::Failed(e)) => Check::of_fault(check, e),
            None if measured(looked) => {
                let last =
                    came.stranger.as_ref().map_or_else(String::new, |why| format!("; a stranger: {why}"));
                let remedy = format!(
                    "see its own doctor; let firewalls pass {listen} from there, and compare our address in its file{last}"
                );
                Check::fail(check, format!("it looked at nobody here within {:?}", self.patient.wait), remedy)
            }
            None if peer.address.is_none() => {
                Check::skipped(check, format!("{member} did not come; run `hushwire doctor` there, too"))
            }
            None if looked.iter().any(|c| c.verdict == Verdict::Fail) => {
                Check::skipped(check, "nobody of it came")
            }
            None => Check::skipped(check, "its run may dial later; only doctors are waited for"),
        })
    }
}
