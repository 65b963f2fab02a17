use super::*;

const ONE: Option<PartyId> = Some(PartyId(1));

fn step() -> String {
    "layer 3".to_owned()
}

fn os(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// An error of a library, by its text.
#[derive(Debug, Error)]
#[error("cannot decrypt peer's message")]
struct Broken;

/// Every message whole: who, step, cause, remedy.
#[test]
fn messages_are_whole() {
    let (ab, second) = ("ab".repeat(32), Duration::from_secs(1));
    let pin = format!("sha256:{ab}");
    let cases: Vec<(NetError, String)> = vec![
        (
            NetError::Closed { peer: ONE, step: step() },
            "party 1: closed the link during layer 3: its process ended or dropped the session; read its own error".into(),
        ),
        (
            NetError::Dead { peer: ONE, step: step(), silent_for: None },
            "party 1: died during layer 3: its links closed and it said no goodbye; see its own log and its host, then start again".into(),
        ),
        (
            NetError::Dead { peer: ONE, step: step(), silent_for: Some(8 * second) },
            "party 1: died during layer 3: nothing was heard of it for 8s; see its own log and its host, then start again".into(),
        ),
        (
            NetError::Aborted { peer: ONE, by: PartyId(2), step: step(), why: Reason::Refused },
            "party 1: was refused during layer 3, as party 2 says; read the error of the first; if its key was rotated, all others must list its new pin".into(),
        ),
        (
            NetError::Blamed { by: PartyId(2), step: step(), why: Reason::Silent },
            "party 2: ended the session during layer 3: it says that this party fell silent; see whether this process was stopped, its host overloaded or the network between them cut".into(),
        ),
        (
            NetError::Blamed { by: PartyId(2), step: "connect".into(), why: Reason::Refused },
            "party 2: ended the session during connect: it says that this party was refused; read its error, and compare pins, keys and jobs of both: after `hushwire keys rotate` all others must list the new pin".into(),
        ),
        (
            NetError::Blamed { by: PartyId(2), step: step(), why: Reason::Cheated },
            "party 2: ended the session during layer 3: it says that this party sent a message that no honest party sends; read its error, and run the same release everywhere".into(),
        ),
        (
            NetError::Blamed { by: PartyId(2), step: step(), why: Reason::Left },
            "party 2: ended the session during layer 3: it says that this party ended too early; read its error".into(),
        ),
        (
            NetError::Blamed { by: PartyId(2), step: step(), why: Reason::Duplicate },
            "party 2: ended the session during layer 3: it says that this party was started twice; end all processes of this party but one and start again".into(),
        ),
        (
            NetError::Stalled { peer: ONE, step: step(), after: 120 * second },
            "party 1: stalled during layer 3: no byte moved for 120s; see whether it still runs, or raise the stall limit".into(),
        ),
        (
            NetError::Slow { peer: ONE, step: step(), moved: 7, bytes: 2048, after: 482 * second },
            "party 1: too slow during layer 3: 7 of 2048 bytes moved in 482s; see the network between the hosts, or raise the stall limit".into(),
        ),
        (
            NetError::Io { peer: ONE, step: step(), source: os(113) },
            "party 1: link failed during layer 3: No route to host (os error 113); see the network between the hosts and start again".into(),
        ),
        (
            NetError::Tls { peer: ONE, step: step(), source: TlsError::new(false, Broken) },
            "party 1: TLS failed during layer 3: cannot decrypt peer's message; see that both sides run the same release and transport".into(),
        ),
        (
            NetError::Unlisted { peer: ONE, own: pin.clone() },
            format!("party 1: refuses our certificate during handshake: it lists another pin for this party; let it list our pin, sha256:{ab}"),
        ),
        (
            NetError::UnknownPeer { peer: ONE, step: "handshake".into(), presented: Presented::Pin(pin.clone()) },
            format!("party 1: presents another key than the pinned one during handshake: its pin is sha256:{ab}; was its key rotated? ask there, over another channel, whether that is what `hushwire keys pin` prints, and correct the pin of party 1 if it is"),
        ),
        (
            NetError::UnknownPeer { peer: None, step: "handshake".into(), presented: Presented::Pin(pin.clone()) },
            format!("unknown peer: unknown during handshake: sha256:{ab} is not listed; if a member's key was rotated and it confirms this pin, list it for that member"),
        ),
        (
            NetError::Duplicate { peer: ONE, what: "another process with its key joined before".into() },
            "party 1: refused during handshake: another process with its key joined before; end all of its processes but one and start again".into(),
        ),
        (
            NetError::Connect { peer: ONE, address: "a:1".into(), cause: "gave up after 4s, at last because Connection refused (os error 111)".into(), seen: false },
            "party 1: unreachable at a:1 during connect: gave up after 4s, at last because Connection refused (os error 111); see that it runs, that the address is right and that no firewall is between".into(),
        ),
        (
            NetError::Absent { peers: vec![PartyId(1), PartyId(2), PartyId::OWNER, PartyId(130)], after: 4 * second, cause: "x".into(), seen: false },
            "party 1, party 2, owner and client 130: did not come within 4s during connect: x; start the members that do not run, and see that addresses are right and no firewall is between".into(),
        ),
        (
            NetError::Descriptors { step: "connect".into(), source: os(24) },
            "this process has too many open files during connect: Too many open files (os error 24); allow it more (`ulimit -n` in the shell that starts it)".into(),
        ),
        (
            NetError::Config { peer: ONE, what: "there are no lanes to it".into() },
            "party 1: bad configuration during connect: there are no lanes to it; correct the configuration".into(),
        ),
        (
            NetError::Malformed { peer: ONE, msg: "notice", what: "its kind does not exist".into() },
            "party 1: sent a malformed message during notice: its kind does not exist; run the same release everywhere".into(),
        ),
        (
            NetError::Deviated { peer: ONE, step: step(), what: "x" },
            "party 1: left the protocol during layer 3: x; nothing of this run may be used; find out why before another".into(),
        ),
        (
            NetError::Deviated { peer: None, step: step(), what: "x" },
            "a party: left the protocol during layer 3: x; nothing of this run may be used; find out why before another".into(),
        ),
        (
            NetError::Forked { step: step(), opened_by: 7 },
            "this process is a fork of process 7, which opened the session, during layer 3: the same masks would hide different values in both; open a new session in this process, and go on with the old one in the other".into(),
        ),
        (
            NetError::Dropped { peer: ONE, step: step() },
            "party 1: channel is closed during layer 3: an earlier step on it failed; read the first error".into(),
        ),
        (
            Misstep::Message { step: "layer 3", found: 3, expected: 4 }.into(),
            "unknown peer: sent a malformed message during layer 3: 3 bytes instead of 4; run the same release everywhere".into(),
        ),
        (
            Misstep::Buffer { step: "layer 3", found: 3, expected: 4 }.into(),
            "a buffer of 3 bytes was brought to layer 3 instead of one of 4; bring a machine the buffers that its round declares".into(),
        ),
        (
            Misstep::Lost { step: "layer 3" }.into(),
            "this run is lost at layer 3: a step of it failed before, or was called out of turn; read the first error".into(),
        ),
    ];
    for (e, text) in cases {
        assert_eq!(e.to_string(), text);
        assert!(!e.cause().is_empty() && !e.remedy().is_empty());
    }
}

#[test]
fn a_lack_of_descriptors_is_told_as_that() {
    for number in [24, 23] {
        let e = NetError::from_link(ONE, "connect", os(number));
        assert!(matches!(&e, NetError::Descriptors { step, .. } if step == "connect"), "{e}");
        let e = NetError::Listen { address: "a:1".into(), source: os(number) };
        assert!(
            e.to_string()
                .ends_with("; allow this process more open files (`ulimit -n` in the shell that starts it)"),
            "{e}"
        );
    }
}

#[test]
fn text_from_files_cannot_disturb_a_terminal() {
    let evil = "a\x1b[2J:1\n".to_owned();
    for e in [
        NetError::Connect { peer: ONE, address: evil.clone(), cause: evil.as_str().into(), seen: false },
        NetError::Listen { address: evil.clone(), source: os(98) },
        NetError::Config { peer: None, what: evil.clone() },
        NetError::Absent {
            peers: vec![PartyId(1)],
            after: Duration::ZERO,
            cause: evil.as_str().into(),
            seen: false,
        },
    ] {
        assert!(!e.to_string().chars().any(char::is_control), "{e:?}");
    }
}

#[test]
fn the_others_hear_of_the_party_that_is_to_blame() {
    let me = PartyId(2);
    let tls = |step: &str, alert| NetError::Tls {
        peer: ONE,
        step: step.to_owned(),
        source: TlsError::new(alert, Broken),
    };
    let cases = [
        // A certificate that a peer refuses is this party's own, or the pin that the peer lists for it.
        (NetError::Unlisted { peer: ONE, own: String::new() }, me, Reason::Refused),
        (
            NetError::UnknownPeer { peer: ONE, step: step(), presented: Presented::Other(Text::new()) },
            PartyId(1),
            Reason::Refused,
        ),
        (tls("handshake", false), PartyId(1), Reason::Refused),
        (tls("layer 3", false), PartyId(1), Reason::Cheated),
        (tls("layer 3", true), PartyId(1), Reason::Failed),
        (NetError::Malformed { peer: ONE, msg: "hello", what: String::new() }, PartyId(1), Reason::Refused),
        (NetError::Malformed { peer: ONE, msg: "shares", what: String::new() }, PartyId(1), Reason::Cheated),
        (NetError::Deviated { peer: ONE, step: step(), what: "x" }, PartyId(1), Reason::Cheated),
        (NetError::Deviated { peer: None, step: step(), what: "x" }, me, Reason::Failed),
        (NetError::Blamed { by: PartyId(1), step: step(), why: Reason::Silent }, me, Reason::Silent),
        (NetError::Descriptors { step: step(), source: os(24) }, me, Reason::Failed),
        (
            NetError::Absent {
                peers: vec![PartyId(1), PartyId(0)],
                after: Duration::ZERO,
                cause: Text::new(),
                seen: false,
            },
            PartyId(1),
            Reason::Absent,
        ),
    ];
    for (e, culprit, why) in cases {
        assert_eq!((e.culprit(me), Reason::of(&e)), (culprit, why), "{e}");
    }
}
