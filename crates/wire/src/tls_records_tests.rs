use super::*;

fn key() -> RecordKey {
    RecordKey::from_parts(&AES_128_GCM, &[1; 16], &[2; 12], 0).unwrap_or_else(|e| panic!("{e}"))
}

fn sealed(key: &mut RecordKey, content: ContentType, plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0; plain.len() + OVERHEAD_BYTES];
    let bytes = key.seal(content, plain, &mut out).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bytes, out.len());
    assert_eq!(record_bytes(&out), Ok(Some(bytes)));
    out
}

/// Opens `record` into `room` bytes and returns its content.
fn opened(key: &mut RecordKey, record: &[u8], room: usize) -> Result<(ContentType, Vec<u8>), Error> {
    let (mut record, mut into) = (record.to_vec(), vec![0; room]);
    let OpenedRecord { content, bytes, direct } = key.open(&mut record, &mut into)?;
    let plain = if direct { &into[..bytes] } else { &record[HEADER_BYTES..HEADER_BYTES + bytes] };
    Ok((content, plain.to_vec()))
}

fn hex(digits: &str) -> Vec<u8> {
    hex::decode(digits.replace([' ', '\n'], "")).unwrap_or_else(|e| panic!("{e}"))
}

/// RFC 8448 §3: the client's application data and its close_notify, records 0 and 1 under one key.
#[test]
fn published_records() {
    let key = || {
        let (key, iv) = (hex("17422dda596ed5d9acd890e3c63f5051"), hex("5b78923dee08579033e523d9"));
        RecordKey::from_parts(&AES_128_GCM, &key, &iv, 0).unwrap_or_else(|e| panic!("{e}"))
    };
    let data: Vec<u8> = (0..50).collect();
    let records = [
        (
            ContentType::ApplicationData,
            data,
            "17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b 98
             19 a8 a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e 3d ea e6 3a ee bb 21
             69 49 15 e4",
        ),
        (
            ContentType::Alert,
            vec![1, 0],
            "17 03 03 00 13 c9 87 27 60 65 56 66 b7 4d 7f f1 15 3e fd 6d b6 d0 b0 e3",
        ),
    ];
    let (mut seal, mut direct, mut in_place) = (key(), key(), key());
    for (content, plain, wire) in records {
        let wire = hex(wire);
        assert_eq!(sealed(&mut seal, content, &plain), wire);
        assert_eq!(opened(&mut direct, &wire, 100), Ok((content, plain.clone())));
        assert_eq!(opened(&mut in_place, &wire, 0), Ok((content, plain)));
    }
}

#[test]
fn lengths_go_round_with_and_without_room() {
    for bytes in [0, 1, 15, 16, 17, 4095, RECORD_BYTES - 1, RECORD_BYTES] {
        let plain: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
        for room in [0, bytes, bytes + 1, bytes + 300] {
            let record = sealed(&mut key(), ContentType::ApplicationData, &plain);
            assert_eq!(record.len(), bytes + 22);
            assert_eq!(
                opened(&mut key(), &record, room),
                Ok((ContentType::ApplicationData, plain.clone())),
                "{bytes}"
            );
        }
    }
}

#[test]
fn any_changed_bit_is_refused() {
    let record = sealed(&mut key(), ContentType::ApplicationData, b"shares");
    for bit in 0..record.len() * 8 {
        let mut bad = record.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        for room in [0, 100] {
            assert_eq!(opened(&mut key(), &bad, room), Err(Error::DecryptError), "bit {bit}");
        }
    }
}

#[test]
fn a_refused_record_leaves_nothing() {
    let mut bad = sealed(&mut key(), ContentType::ApplicationData, &[7; 40]);
    bad[10] ^= 1;
    let mut into = [9; 64];
    assert!(key().open(&mut bad, &mut into).is_err());
    assert!(into.iter().all(|&byte| byte == 0 || byte == 9));
}

#[test]
fn a_shortened_record_is_refused() {
    let record = sealed(&mut key(), ContentType::ApplicationData, b"shares");
    for bytes in HEADER_BYTES..record.len() {
        let mut bad = record[..bytes].to_vec();
        assert_eq!(opened(&mut key(), &bad, 100), Err(Error::DecryptError));
        // The same with a length that fits.
        bad[3..5].copy_from_slice(&((bytes - HEADER_BYTES) as u16).to_be_bytes());
        assert_eq!(opened(&mut key(), &bad, 100), Err(Error::DecryptError));
    }
}

#[test]
fn order_counts() {
    let mut tx = key();
    let [a, b] = [b"a", b"b"].map(|plain| sealed(&mut tx, ContentType::ApplicationData, plain));
    assert_ne!(a, sealed(&mut tx, ContentType::ApplicationData, b"a"));
    assert_eq!(opened(&mut key(), &b, 9), Err(Error::DecryptError), "reordered");
    let mut rx = key();
    assert!(opened(&mut rx, &a, 9).is_ok());
    assert_eq!(opened(&mut rx, &a, 9), Err(Error::DecryptError), "replayed");
    let mut rx = key();
    assert!(opened(&mut rx, &a, 9).is_ok() && opened(&mut rx, &b, 9).is_ok());
    assert_eq!((tx.served(), rx.served()), (3, 2));
}

#[test]
fn padding_goes() {
    // A record of type 0 over `plain | type | zeros` is a padded record.
    let padded = |inner: &[u8]| sealed(&mut key(), ContentType::from(0), inner);
    for room in [0, 3, 6, 100] {
        let got = opened(&mut key(), &padded(b"abc\x17\0\0"), room);
        assert_eq!(got, Ok((ContentType::ApplicationData, b"abc".to_vec())));
        let empty = Err(Error::PeerMisbehaved(PeerMisbehaved::IllegalTlsInnerPlaintext));
        assert_eq!(opened(&mut key(), &padded(&[0; 5]), room), empty);
    }
}

#[test]
fn headers_are_checked_before_anything_is_read() {
    assert_eq!(record_bytes(&[23, 3, 3, 1]), Ok(None));
    assert_eq!(record_bytes(&[23, 3, 3, 0x41, 0]), Ok(Some(LONGEST_BYTES)));
    assert_eq!(record_bytes(&[23, 3, 3, 0x41, 1]), Err(Error::PeerSentOversizedRecord));
    assert!(matches!(record_bytes(&[23, 3, 3, 0, 0]), Err(Error::InvalidMessage(_))));
    for content in [20, 21, 22, 24, 0, 71] {
        let refused = record_bytes(&[content, 3, 3, 0, 9]);
        assert!(matches!(refused, Err(Error::InappropriateMessage { .. })), "{content}: {refused:?}");
    }
}

#[test]
fn numbers_are_never_used_twice() {
    let mut last =
        RecordKey::from_parts(&AES_128_GCM, &[1; 16], &[2; 12], u64::MAX).unwrap_or_else(|e| panic!("{e}"));
    let mut out = [0; 64];
    assert_eq!(last.seal(ContentType::ApplicationData, b"x", &mut out), Err(Error::EncryptError));
}
