use super::*;
use hushwire_fault::Code;

const ONE: Option<PartyId> = Some(PartyId(1));

fn step() -> String {
    "layer 3".to_owned()
}

fn os(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// An error of a library, with its text.
#[derive(Debug, Error)]
#[error("cannot decrypt peer's message")]
struct Broken;

/// The test covers the code of each error, the member to blame, and the fields that fill the texts
/// of the table.
#[test]
fn errors_have_their_code_and_their_fields() {
    let second = Duration::from_secs(1);
    let pin = || format!("sha256:{}", "ab".repeat(32));
    let unknown =
        |peer| NetError::UnknownPeer { peer, step: "handshake".into(), presented: Presented::Pin(pin()) };
    let blamed = |why| NetError::Blamed { by: PartyId(2), step: step(), why };
    let cases: Vec<(NetError, Code, &str)> = vec![
        (NetError::Closed { peer: ONE, step: step() }, code::CLOSED, "peer=party 1|step=layer 3"),
        (
            NetError::Dead { peer: ONE, step: step(), silent_for: None },
            code::DIED,
            "peer=party 1|how=its links closed and it said no goodbye",
        ),
        (
            NetError::Dead { peer: ONE, step: step(), silent_for: Some(8 * second) },
            code::DIED,
            "how=nothing was heard of it for 8s",
        ),
        (
            NetError::Aborted { peer: ONE, by: PartyId(2), step: step(), why: Reason::Refused },
            code::TOLD_REFUSED,
            "peer=party 1|why=was refused|step=layer 3|by=party 2",
        ),
        (blamed(Reason::Silent), code::BLAMED_UNHEARD, "peer=party 2|why=fell silent"),
        (blamed(Reason::Refused), code::BLAMED_REFUSED, "why=was refused"),
        (blamed(Reason::Cheated), code::BLAMED_CHEATED, "why=sent a message that no honest party sends"),
        (blamed(Reason::Left), code::BLAMED_FAILED, "why=ended too early"),
        (blamed(Reason::Duplicate), code::BLAMED_DUPLICATE, "why=was started twice"),
        (
            NetError::Stalled { peer: ONE, step: step(), after: 120 * second },
            code::STALLED,
            "peer=party 1|after=120s",
        ),
        (
            NetError::Slow { peer: ONE, step: step(), moved: 7, bytes: 2048, after: 482 * second },
            code::SLOW,
            "moved=7|bytes=2048|after=482s",
        ),
        (NetError::Io { peer: ONE, step: step(), source: os(113) }, code::LINK, "peer=party 1|step=layer 3"),
        (
            NetError::Tls { peer: ONE, step: step(), source: TlsError::new(false, Broken) },
            code::TLS,
            "peer=party 1|step=layer 3",
        ),
        (NetError::Unlisted { peer: ONE, own: pin() }, code::UNLISTED, "peer=party 1|own=PIN"),
        (unknown(ONE), code::ANOTHER_KEY, "peer=party 1|step=handshake|presented=PIN"),
        (unknown(None), code::UNKNOWN_KEY, "peer=unknown peer|presented=PIN"),
        (NetError::Duplicate { peer: ONE, what: "x".into() }, code::DUPLICATE, "peer=party 1|what=x"),
        (
            NetError::Connect { peer: ONE, address: "a:1".into(), cause: "x".into(), seen: false },
            code::UNREACHABLE,
            "peer=party 1|address=a:1",
        ),
        (
            NetError::Absent {
                peers: vec![PartyId(1), PartyId(2), PartyId::OWNER, PartyId(130)],
                after: 4 * second,
                cause: "x".into(),
                seen: false,
            },
            code::ABSENT,
            "peers=party 1, party 2, owner and client 130|after=4s",
        ),
        (NetError::Descriptors { step: "connect".into(), source: os(24) }, code::DESCRIPTORS, "step=connect"),
        (NetError::Config { peer: ONE, what: "x".into() }, code::SESSION, "peer=party 1|what=x"),
        (
            NetError::Malformed { peer: ONE, msg: "notice", what: "x".into() },
            code::MALFORMED,
            "msg=notice|what=x",
        ),
        (NetError::Deviated { peer: ONE, step: step(), what: "x" }, code::DEVIATED, "peer=party 1|what=x"),
        (NetError::Deviated { peer: None, step: step(), what: "x" }, code::DEVIATED, "peer=a party"),
        (NetError::Forked { step: step(), opened_by: 7 }, code::FORKED, "opened_by=7|step=layer 3"),
        (NetError::Dropped { peer: ONE, step: step() }, code::DROPPED, "peer=party 1|step=layer 3"),
        (
            NetError::Shard { shard: 2, step: step(), cause: "it ended".into() },
            code::SHARD,
            "shard=2|step=layer 3",
        ),
        (
            Misstep::Message { step: "layer 3", found: 3, expected: 4 }.into(),
            code::MALFORMED,
            "peer=unknown peer|msg=layer 3",
        ),
        (Misstep::Buffer { step: "layer 3", found: 3, expected: 4 }.into(), code::MISSTEP, ""),
        (Misstep::Lost { step: "layer 3" }.into(), code::LOST, ""),
    ];
    for (e, code, fields) in cases {
        let fault = e.fault();
        assert_eq!(fault.code(), code, "{e}");
        for (name, value) in fields.split('|').filter_map(|field| field.split_once('=')) {
            let value = if value == "PIN" { pin() } else { value.to_owned() };
            assert_eq!(fault.field(name), Some(value), "{e}");
        }
        assert!(!e.to_string().contains(['{', '}']), "every place is filled: {e}");
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
        // A certificate that a peer refuses is this party's own, or differs from the pin that the
        // peer lists for this party.
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
