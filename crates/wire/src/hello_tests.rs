use proptest::prelude::*;

use super::*;
use hushwire_fault::Excuse;

/// A dialer's greeting.
pub(crate) fn hello() -> Hello {
    Hello {
        version: WIRE_VERSION,
        from: PartyId(1),
        to: PartyId(2),
        session: SessionId([3; 16]),
        job_digest: [4; 32],
        params: [5; 32],
        lane: 1,
        lanes: 4,
        flow: Flow::FromDialer,
        role: GreetingRole::Dialer,
        shm: false,
        full: false,
        ends: None,
        of: None,
        nonce: Nonce([6; 16]),
    }
}

/// The answer of a peer that agrees.
fn answer() -> Hello {
    Hello { from: PartyId(2), to: PartyId(1), role: GreetingRole::Listener, nonce: Nonce([7; 16]), ..hello() }
}

fn field(theirs: &Hello) -> Option<&'static str> {
    match hello().judge(theirs, PartyId(2)) {
        Ok(()) => None,
        Err(NetError::HandshakeMismatch { peer, field, .. }) => {
            assert_eq!(peer, Some(PartyId(2)));
            Some(field)
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn every_field_is_compared() {
    assert_eq!(field(&answer()), None);
    let cases = [
        ("wire version", Hello { version: WIRE_VERSION + 1, ..answer() }),
        ("transport", Hello { shm: true, ..answer() }),
        ("session id", Hello { session: SessionId([9; 16]), ..answer() }),
        ("job digest", Hello { job_digest: [9; 32], ..answer() }),
        ("parameters digest", Hello { params: [9; 32], ..answer() }),
        ("party ids", Hello { from: PartyId(0), ..answer() }),
        ("party ids", Hello { to: PartyId(0), ..answer() }),
        ("number of lanes", Hello { lanes: 2, ..answer() }),
        ("lane", Hello { lane: 0, ..answer() }),
        ("direction", Hello { flow: Flow::FromListener, ..answer() }),
        ("role", Hello { role: GreetingRole::Dialer, ..answer() }),
    ];
    for (name, theirs) in cases {
        assert_eq!(field(&theirs), Some(name));
    }
}

#[test]
fn bytes_are_pinned() {
    let bytes = hello().encode();
    let mut pinned = b"hushwire\x09\x00\x01\x02".to_vec();
    pinned.extend(
        [[3; 16].as_slice(), &[4; 32], &[5; 32], &[1, 0, 4, 0, 0, 0, 0, 0], &[0; 12], &[6; 16]].concat(),
    );
    assert_eq!(bytes[..], pinned);
    assert_eq!(Hello::decode(&bytes), Ok(hello()));
    let full = Hello { full: true, flow: Flow::FromListener, shm: true, ..answer() };
    assert_eq!(full.encode()[96..100], [1, 1, 1, 1]);
    assert_eq!(Hello::decode(&full.encode()), Ok(full));
    let ends = Hello { ends: Some(Reason::Local(Excuse::Reading)), ..hello() };
    assert_eq!(ends.encode()[98..102], [0, 0, 13, 0]);
    let of = Hello { of: Some(PartyId(130)), ..ends.clone() };
    assert_eq!(of.encode()[98..103], [0, 0, 13, 131, 0]);
    for hello in [ends, of] {
        assert_eq!(Hello::decode(&hello.encode()), Ok(hello));
    }
    let control = Hello { lane: CONTROL_LANE, ..hello() };
    assert_eq!(Hello::decode(&control.encode()), Ok(control));
}

#[test]
fn each_bad_field_is_named() {
    let spoilt = |at: usize, value: u8| {
        let mut bytes = hello().encode();
        bytes[at] = value;
        Hello::decode(&bytes)
    };
    assert_eq!(spoilt(0, b'H'), Err(BadHello::Magic));
    assert_eq!(spoilt(9, 1), Err(BadHello::Version { version: 265, from: PartyId(1) }));
    assert_eq!(spoilt(92, 4), Err(BadHello::Field("lane")));
    assert_eq!(spoilt(96, 2), Err(BadHello::Field("direction")));
    assert_eq!(spoilt(97, 2), Err(BadHello::Field("role")));
    assert_eq!(spoilt(98, 2), Err(BadHello::Field("transport")));
    // Only a listener may set it.
    assert_eq!(spoilt(99, 1), Err(BadHello::Field("answer")));
    // A member gives its own reason. Death and cheating are not valid reasons, and other codes do
    // not exist.
    for code in [1, 3, 9, 10, 19, 255] {
        assert_eq!(spoilt(100, code), Err(BadHello::Field("reason to end")), "{code}");
    }
    // The first names a member without a reason; the second names its sender as another member.
    assert_eq!(spoilt(101, 1), Err(BadHello::Field("member that ends")));
    let itself = Hello { ends: Some(Reason::Declined), of: Some(PartyId(1)), ..hello() };
    assert_eq!(Hello::decode(&itself.encode()), Err(BadHello::Field("member that ends")));
    assert_eq!(spoilt(102, 1), Err(BadHello::Field("reserved")));
    assert_eq!(spoilt(111, 1), Err(BadHello::Field("reserved")));
}

#[test]
fn who_only_looks_shows_in_every_version() {
    let mut bytes = Hello { session: SessionId::PROBE, ..hello() }.encode();
    assert!(Hello::is_probe(&bytes) && !Hello::is_probe(&hello().encode()));
    bytes[9] = 1;
    assert!(Hello::is_probe(&bytes) && Hello::decode(&bytes).is_err());
    bytes[0] = b'H';
    assert!(!Hello::is_probe(&bytes));
}

proptest! {
    #[test]
    fn decode_never_panics_and_is_exact(
        head in any::<bool>(),
        tail in proptest::collection::vec(any::<u8>(), HELLO_BYTES),
        small in any::<[u8; 6]>(),
    ) {
        let mut bytes = [0; HELLO_BYTES];
        bytes.copy_from_slice(&tail);
        if head {
            bytes[..10].copy_from_slice(&hello().encode()[..10]);
            for (at, value) in (92..98).zip(small) {
                bytes[at] = value % 3;
            }
            bytes[99] %= 2;
            bytes[100] %= 19;
            bytes[RESERVED].fill(0);
        }
        if let Ok(hello) = Hello::decode(&bytes) {
            prop_assert_eq!(hello.encode(), bytes);
        }
    }
}
