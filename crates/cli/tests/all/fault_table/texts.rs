//! The table proper: the whole texts of all members.

use crate::{
    fault_table::cell::{Cell, Fault, Protocol, SUPERVISOR},
    fault_table::pattern::matches,
    rehearsal::{Ended, title},
};

/// The end of some members of some protocols after a fault.
struct Row {
    /// The names of protocols.
    of: &'static str,
    /// The names of faults.
    fault: &'static str,
    /// The members that report: their names, or `itself`, `others`, `party`, `client`.
    says: &'static str,
    code: i32,
    /// The line with the error; empty if there is none.
    ///
    /// `[me]` reports, and `[victim]` has the fault. `[other]` is any other member, and `[peer]` is
    /// any member but me. A supervisor reports for one of its parties, `[speaker]`. `[step]` is a
    /// step of the reporting member, `[there]` is a message's name, and `[phase]` is the reported
    /// phase. `[stranger]` is a refused connection. [`matches`] fills in the places in braces.
    text: &'static str,
}

const fn row(
    of: &'static str,
    fault: &'static str,
    says: &'static str,
    code: i32,
    text: &'static str,
) -> Row {
    Row { of, fault, says, code, text }
}

const JOBS: &str = "rep3 yao gmw psi aes-ctr";
/// The protocols whose members a person starts.
const STARTED: &str = "rep3 yao gmw psi aes-ctr ot";
const ALL: &str = "rep3 yao gmw psi aes-ctr ot local-psi local-aes-ctr";

/// If several rows apply, one of them must match. Timing decides which peer sees a death first, and
/// from which peer a member learns of it. No other choice is free.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(STARTED, "kill", "others", 3, "error: [me] failed during [step]: [victim]: died during [there]: its links closed and it said no goodbye; see its own log and its host, then start again"),
    row("rep3 aes-ctr", "kill", "others", 3, "error: [me] failed during [step]: [victim]: died during [there], as [other] says; see its own log and its host, then start again"),
    row("local-psi local-aes-ctr", "kill", "supervisor", 3, "error: [victim] failed during [step]: its process was killed by signal 9; nothing was written; see the system's log for who killed it (out of memory?) and start again"),

    row(ALL, "pause", "itself others", 0, ""),

    row(ALL, "freeze", "others", 3, "error: [speaker] failed during [step]: [victim]: died during [there]: nothing was heard of it for 8s; see its own log and its host, then start again"),
    row("rep3 aes-ctr local-aes-ctr", "freeze", "others", 3, "error: [speaker] failed during [step]: [victim]: fell silent during [there], as [other] says; see its own log and its host, then start again"),
    row(STARTED, "freeze", "itself", 3, "error: [me] failed during [step]: [peer]: ended the session during [there]: it says that this party fell silent; see whether this process was stopped, its host overloaded or the network between them cut"),
    row("local-psi", "freeze", "itself", 0, ""),
    row("local-aes-ctr", "freeze", "itself", 3, "error: [other] failed during [step]: [me]: died during [there]: nothing was heard of it for 8s; see its own log and its host, then start again"),
    row("local-aes-ctr", "freeze", "itself", 3, "error: [other] failed during [step]: [me]: fell silent during [there], as [other] says; see its own log and its host, then start again"),

    // A member that dials a party with another key knows that the key is wrong.
    row("ot", "wrong-pin mistaken-pin", "receiver", 3, "error: [me] failed during connect: [peer]: presents another key than the pinned one during handshake: its pin is {pin}; compare --pin with what `hushwire keys pin` prints there"),
    row(JOBS, "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: presents another key than the pinned one during handshake: its pin is {pin}; ask there, over another channel, whether `hushwire keys pin` prints that, and correct the pin of [victim] if its key was rotated"),
    row(JOBS, "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: was refused during connect, as [peer] says; read the error of [victim]; if its key was rotated, let all others list its new pin"),
    row(STARTED, "wrong-pin mistaken-pin", "itself", 3, "error: [me] failed during connect: [peer]: refuses our certificate during handshake: it lists another pin for this party; let it list our pin, {pin}"),
    row(JOBS, "wrong-pin mistaken-pin", "itself", 3, "error: [me] failed during connect: [peer]: ended the session during connect: it says that this party was refused; read its error, and compare pins, keys and jobs of both: after `hushwire keys rotate`, let all others list the new pin"),
    // The member dials when all others have seen its key and have ended.
    row("yao gmw psi", "wrong-pin mistaken-pin", "itself", 3, "error: [me] failed during connect: [peer]: unreachable at 127.0.0.1:{port} during connect: gave up after 15s, at last because Connection refused (os error 111); start it, or see its own output for why it ended, and correct the address if it listens elsewhere"),
    // A process that was refused ends at once. A member that dialled it saw its key before. The
    // others only see that it came here, or is gone.
    row(JOBS, "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: did not come within 15s during connect: [victim] at 127.0.0.1:{port}: Connection refused (os error 111)[stranger]; start the members that do not run, or see their own output for why they ended"),
    row(JOBS, "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: unreachable at 127.0.0.1:{port} during connect: gave up after 15s, at last because Connection refused (os error 111); start it, or see its own output for why it ended, and correct the address if it listens elsewhere"),
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: unreachable at 127.0.0.1:{port} during connect: [other] gave up, and at last here Connection refused (os error 111); start it, or see its own output for why it ended, and correct the address if it listens elsewhere"),
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: did not come within 15s during connect: [victim]: had joined, and its links closed {n} s ago; [victim] at 127.0.0.1:{port}: Connection refused (os error 111)[stranger]; start the members that do not run, or see their own output for why they ended"),
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: did not come within 15s during connect: [victim]: had joined, and its links closed {n} s ago[stranger]; start the members that do not run, or see their own output for why they ended"),
    // A client that sees another key waits, and so do all members that it does not tell.
    row("rep3 aes-ctr", "mistaken-pin", "others", 3, "error: [me] failed during connect: [victim] and [other]: did not come within 15s during connect: others, who are connected, still wait; start the members that do not run, and see that addresses are right and no firewall is between"),
    // The two names may be in either order. If only that client has not joined, it is the only
    // missing one.
    row("rep3 aes-ctr", "mistaken-pin", "others", 3, "error: [me] failed during connect: [other] and [victim]: did not come within 15s during connect: others, who are connected, still wait; start the members that do not run, and see that addresses are right and no firewall is between"),
    row("rep3 aes-ctr", "mistaken-pin", "others", 3, "error: [me] failed during connect: [other]: did not come within 15s during connect: others, who are connected, still wait; start the members that do not run, and see that addresses are right and no firewall is between"),
    // That client has not joined, and another member may report this first.
    row("rep3 aes-ctr", "mistaken-pin", "others", 3, "error: [me] failed during connect: [other]: did not come during connect, as [peer] says; start it, and see that its address is right and no firewall is between"),
    row("rep3 aes-ctr", "mistaken-pin", "itself", 3, "error: [me] failed during connect: [other]: did not come during connect, as [peer] says; start it, and see that its address is right and no firewall is between"),
    // The member has met all but the client with the mistaken pin, which reported that the member
    // did not come.
    row("rep3 aes-ctr", "mistaken-pin", "itself", 3, "error: [me] failed during connect: [peer]: ended the session during connect: it says that this party did not come; see whether this process was stopped, its host overloaded or the network between them cut"),
    // A member that is dialled with another key sees a stranger, goes on waiting, and reports the
    // stranger at the end.
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: did not come within 15s during connect: no greeting of [victim] came to our own 127.0.0.1:{port}[stranger]; start the members that do not run, and see that addresses are right and no firewall is between"),
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "client", 3, "error: [me] failed during connect: [victim]: did not come within 15s during connect: others, who are connected, still wait; start the members that do not run, and see that addresses are right and no firewall is between"),
    row("rep3 aes-ctr", "absent", "client", 3, "error: [me] failed during connect: [victim]: did not come within 8s during connect: others, who are connected, still wait; start the members that do not run, and see that addresses are right and no firewall is between"),
    row("rep3 aes-ctr", "wrong-pin mistaken-pin", "others", 3, "error: [me] failed during connect: [victim]: did not come during connect, as [other] says; start it, and see that its address is right and no firewall is between"),
    row("ot", "wrong-pin mistaken-pin", "sender", 3, "error: [me] failed during connect: [peer]: did not come within 15s during connect: no greeting of [peer] came to our own 127.0.0.1:{port}[stranger]; start the members that do not run, and see that addresses are right and no firewall is between"),

    row(STARTED, "absent", "others", 3, "error: [me] failed during connect: [victim]: unreachable at 127.0.0.1:{port} during connect: gave up after 8s, at last because Connection refused (os error 111); start it, or see its own output for why it ended, and correct the address if it listens elsewhere"),
    // Another member gave up first, and reported the same observation.
    row("rep3 aes-ctr", "absent", "others", 3, "error: [me] failed during connect: [victim]: unreachable at 127.0.0.1:{port} during connect: [other] gave up, and at last here Connection refused (os error 111); start it, or see its own output for why it ended, and correct the address if it listens elsewhere"),
    row("rep3 aes-ctr ot", "absent", "others", 3, "error: [me] failed during connect: [victim]: did not come within 8s during connect: no greeting of [victim] came to our own 127.0.0.1:{port}; start the members that do not run, and see that addresses are right and no firewall is between"),
    row("rep3 aes-ctr", "absent", "others", 3, "error: [me] failed during connect: [victim]: did not come during connect, as [other] says; start it, and see that its address is right and no firewall is between"),

    // A member that cannot begin tells the others before it ends.
    row(STARTED, "unwritable", "others", 3, "error: [me] failed during connect: [victim]: failed during start-up, as [peer] says: it cannot write an output; read its own output, which says more, or ask its operator"),
    row(JOBS, "unwritable", "itself", 4, "error: [me] cannot write /sys/hushwire.{port}.out: [denied]; check the permissions of it and of its directory"),
    row("ot local-psi local-aes-ctr", "unwritable", "itself", 4, "error: cannot write /sys/hushwire.{port}.out: [denied]; check the permissions of it and of its directory"),

    row(JOBS, "full-disk", "itself", 4, "error: [me] cannot write r/full/out: No space left on device (os error 28); free space on that disk, or name a file on another one; no part of it was kept"),
    row("ot local-psi local-aes-ctr", "full-disk", "itself", 4, "error: cannot write r/full/out: No space left on device (os error 28); free space on that disk, or name a file on another one; no part of it was kept"),
    row(JOBS, "full-disk", "others", 3, "error: [me] failed during [step]: [victim]: failed during [phase], as [peer] says: it cannot write an output; read its own output, which says more, or ask its operator"),
    row("aes-ctr", "full-disk", "others", 3, "error: [me] failed during connect: [victim]: failed during start-up, as [peer] says: it cannot write an output; read its own output, which says more, or ask its operator"),
    row("ot", "full-disk", "sender", 3, "error: [me] failed during [step]: [victim]: failed during the use of a file, as [victim] says; read the error of [victim]"),
    // The sender only writes its report, after both sides have confirmed.
    row("ot", "full-disk", "receiver", 0, ""),

    row(STARTED, "closed-pipe full-pipe", "others", 0, ""),
    // A reader that closes the pipe early is no fault.
    row(ALL, "closed-pipe", "itself", 0, ""),
    row(ALL, "full-pipe", "itself", 4, "error: cannot write standard output: No space left on device (os error 28); send it to where there is room, or into a file that can be written"),
];

/// Returns the steps of members, and the names of messages, by protocol.
fn steps(cell: &Cell, member: &str) -> (&'static [&'static str], &'static [&'static str]) {
    const SETUP: &[&str] = &[
        "naming the run",
        "oblivious transfer set-up",
        "computing",
        "computing batch {n} of {n}",
        "confirmation",
    ];
    match cell.protocol {
        Protocol::Rep3 => (
            if member.starts_with("party") {
                &["session keys", "sharing inputs", "computing", "confirmation"]
            } else {
                &["sharing inputs", "receiving outputs", "confirmation"]
            },
            &[
                "session keys",
                "sharing inputs",
                "comparing shares of inputs",
                "a circuit layer",
                "opening outputs",
                "receiving outputs",
            ],
        ),
        Protocol::Yao => (
            SETUP,
            &[
                "naming the run",
                "Yao terms",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "Yao start point",
                "Yao circuit digest",
                "OT extension",
                "evaluation of garbled tables",
                "garbled tables",
                "Yao outputs of the garbler",
            ],
        ),
        Protocol::Gmw => (
            SETUP,
            &[
                "naming the run",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "seeds of input shares",
                "comparing circuits",
                "bit triples",
                "a circuit layer",
                "opening outputs",
            ],
        ),
        Protocol::Ot => (
            &["connect", "oblivious transfer", "confirmation"],
            &[
                "names",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "OT extension",
                "OT choices and payload",
                "row check",
            ],
        ),
        Protocol::Psi | Protocol::LocalPsi => (
            &["naming the run", "the intersection", "confirmation"],
            &[
                "naming the run",
                "hello",
                "name",
                "salt",
                "Yao terms",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "Yao start point",
                "Yao circuit digest",
                "OT extension",
                "garbled tables",
            ],
        ),
        Protocol::PsiVole => (
            &["naming the run", "the intersection", "confirmation"],
            &[
                "naming the run",
                "set sizes",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "ferret set-up: rows",
                "ferret set-up: trees",
                "VOLE: correlated OTs",
                "VOLE: trees",
                "store of items",
                "values, high parts",
                "values, low parts",
                "items in common",
                "confirmation",
            ],
        ),
        Protocol::PsiBins => (
            &["naming the run", "the intersection", "confirmation"],
            &[
                "naming the run",
                "set sizes",
                "base OT point",
                "base OT points",
                "base OT keys",
                "base OT answer",
                "GGM trees",
                "ferret set-up: rows",
                "ferret set-up: trees",
                "VOLE: correlated OTs",
                "VOLE: trees",
                "store of items",
                "store of masked values",
                "seeds of input shares",
                "comparing circuits",
                "bit triples",
                "a circuit layer",
                "opening outputs",
                "opening results",
                "confirmation",
            ],
        ),
        Protocol::AesCtr | Protocol::LocalAesCtr => (
            &[
                "key set-up",
                "computing",
                "encryption",
                "sharing the file",
                "receiving the result",
                "confirmation",
            ],
            &[
                "session keys",
                "keys that are kept",
                "terms and key",
                "comparing shares of inputs",
                "new key",
                "data",
                "result",
                "data and result",
                "tower norm",
                "tower v^6",
                "tower v^14",
                "tower inverse",
            ],
        ),
    }
}

/// Returns the texts about connections without a listed key: by a member that knows the key, and by
/// a member that is not known there. The last is about a connection that was refused elsewhere and
/// ended meanwhile.
fn strangers(victim: &str) -> Vec<String> {
    let closed =
        "closed the link during handshake: its process ended or dropped the session; read its own error";
    let because = [
        "unknown peer: unknown during handshake: {pin} is not listed; if a member's key was rotated and it confirms this pin, list it for that member".to_owned(),
        "unknown peer: refuses our certificate during handshake: it lists another pin for this party; let it list our pin, {pin}".to_owned(),
        format!("unknown peer: {closed}"),
        // The peer proves its own key before it refuses ours.
        format!("{victim}: {closed}"),
    ];
    let told = ["connection was", "connections were"].into_iter().flat_map(|were| {
        because.each_ref().map(|why| format!(" ({{n}} {were} refused, the last {{n}} s ago because {why})"))
    });
    told.chain([String::new()]).collect()
}

/// Returns a member's name in messages.
fn named(protocol: Protocol, name: &str) -> String {
    match (protocol, name) {
        (Protocol::Ot, _) => format!("the {name}"),
        (Protocol::LocalPsi, "party0") => "party A".to_owned(),
        (Protocol::LocalPsi, "party1") => "party B".to_owned(),
        (Protocol::LocalAesCtr, SUPERVISOR) => "owner".to_owned(),
        _ => title(name),
    }
}

impl Row {
    fn fits(&self, cell: &Cell, member: &str) -> bool {
        let lists = |list: &str, name: &str| list.split(' ').any(|one| one == name);
        let own = member == cell.member;
        lists(self.of, cell.protocol.row())
            && lists(self.fault, cell.fault.name())
            && (lists(self.says, member)
                || lists(self.says, if own { "itself" } else { "others" })
                || !own && lists(self.says, if member.starts_with("party") { "party" } else { "client" }))
    }

    /// Returns all texts that the row stands for.
    fn texts(&self, cell: &Cell, member: &str) -> Vec<String> {
        let name = |of: &str| named(cell.protocol, of);
        let but = |except: &[&str]| -> Vec<String> {
            let names = cell.protocol.members().iter().filter(|one| !except.contains(one));
            names.map(|one| name(one)).collect()
        };
        let (steps, theirs) = steps(cell, member);
        let own = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
        let denied = ["Permission denied (os error 13)", "Read-only file system (os error 30)"];
        let text = self.text.replace("[me]", &name(member)).replace("[victim]", &name(cell.member));
        let mut texts = vec![text];
        for (place, choices) in [
            ("[step]", own(steps)),
            ("[there]", own(theirs)),
            // A supervisor may report for a party that was told by the owner, which is the
            // supervisor's own process.
            ("[other]", if member == SUPERVISOR { but(&[cell.member]) } else { but(&[member, cell.member]) }),
            ("[peer]", but(&[member])),
            ("[phase]", own(&["computing", "writing outputs"])),
            ("[stranger]", strangers(&name(cell.member))),
            (
                "[speaker]",
                if member == SUPERVISOR { but(&[member, cell.member]) } else { vec![name(member)] },
            ),
            ("[denied]", own(&denied)),
        ] {
            let each = |text: &String| match text.contains(place) {
                true => choices.iter().map(|choice| text.replacen(place, choice, 1)).collect(),
                false => vec![text.clone()],
            };
            // A placeholder may occur more than once.
            for _ in 0..3 {
                texts = texts.iter().flat_map(each).collect();
            }
        }
        texts
    }
}

/// Checks that notes are true when they are written.
fn notes(cell: &Cell, ended: &Ended) {
    let victim = named(cell.protocol, cell.member);
    let lines = |words: &'static str| ended.err.lines().filter(move |line| line.contains(words));
    match cell.fault {
        // A run that was never complete is never reported as complete, and a member that has come
        // is no longer reported as missing.
        Fault::Absent | Fault::Unwritable | Fault::WrongPin | Fault::MistakenPin => {
            let complete = lines("connected").find(|line| line.ends_with("connected"));
            assert!(complete.is_none(), "{cell}: {}: {complete:?}", ended.name);
            if cell.fault == Fault::Absent {
                // The last error of a member that has come is not reported any more.
                let stale = lines("; last: ").find(|line| {
                    line.split_once("; last: ").is_some_and(|(missing, last)| {
                        let who = last.split(" at ").next().unwrap_or(last);
                        !missing.contains(who)
                    })
                });
                assert!(stale.is_none(), "{cell}: {}: {stale:?}", ended.name);
            }
        }
        Fault::Freeze(_) if ended.name != cell.member => {
            let alive = lines("; it is alive").find(|line| line.contains(&format!("waiting for {victim} ")));
            assert!(alive.is_none(), "{cell}: {}: {alive:?}", ended.name);
        }
        _ => {}
    }
}

/// Checks that `ended` matches the table. Returns whether the member succeeded.
pub(crate) fn judge(cell: &Cell, ended: &Ended) -> bool {
    let said: Vec<_> = ended.err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(!ended.err.contains("panicked"), "{cell}: {}: {}", ended.name, ended.err);
    notes(cell, ended);
    let rows: Vec<_> = ROWS.iter().filter(|row| row.fits(cell, ended.name)).collect();
    let same = |row: &&&Row| {
        let code = ended.code == Some(row.code);
        code && match said[..] {
            [] => row.text.is_empty(),
            [line] => row.texts(cell, ended.name).iter().any(|text| matches(text, line)),
            _ => false,
        }
    };
    let wanted: Vec<_> = rows.iter().map(|row| format!("\n  {} {}", row.code, row.text)).collect();
    assert!(
        rows.iter().any(|row| same(&row)),
        "{cell}: {} ends with {:?} and says\n  {}\nwhere the table has{}",
        ended.name,
        ended.code,
        said.join("\n  "),
        wanted.concat()
    );
    ended.code == Some(0)
}
