use std::{
    net::TcpListener,
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

use rustls::{SupportedCipherSuite, Tls13CipherSuite, crypto::CipherSuiteCommon};

use super::*;
use hushwire_machine::{Channel, PartyId};

/// AES-128-GCM with a limit of `records` records for each key.
fn short_lived(records: u64) -> CryptoProvider {
    let suite = aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13();
    let suite = suite.unwrap_or_else(|| unreachable!("a suite of TLS 1.3"));
    let common = CipherSuiteCommon {
        suite: suite.common.suite,
        hash_provider: suite.common.hash_provider,
        confidentiality_limit: records,
    };
    let suite = Tls13CipherSuite {
        common,
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: suite.quic,
    };
    CryptoProvider {
        cipher_suites: vec![SupportedCipherSuite::Tls13(Box::leak(Box::new(suite)))],
        ..provider()
    }
}

#[test]
fn keys_change_many_times_in_a_long_session() {
    let make = |name| Identity::generate(name).unwrap_or_else(|e| panic!("{e}"));
    let (a, b) = (make("a"), make("b"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}"));
    let address = listener.local_addr().unwrap_or_else(|e| panic!("{e}"));
    let given_up = AtomicBool::new(false);
    let guard = Guard {
        deadline: Instant::now() + Duration::from_secs(20),
        given_up: &given_up,
        out: None,
        stop: None,
    };
    let stall = Duration::from_secs(20);
    // 40 messages of 21 records, and many short ones: updates fall within messages and between
    // them.
    let lengths = || [333_333, 1, 2, 3, 16_384].into_iter().cycle().take(200);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (socket, _) = listener.accept().unwrap_or_else(|e| panic!("{e}"));
            socket.set_nonblocking(true).unwrap_or_else(|e| panic!("{e}"));
            let side = TlsSide::with_provider(&b, short_lived(5));
            let (link, shown) =
                side.accept(socket, vec![a.pin()], &guard, &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(shown.pin, a.pin());
            let mut channel = Channel::new(0, None, Some((PartyId(0), Box::new(link))), stall);
            for (i, bytes) in lengths().enumerate() {
                let mut into = vec![0; bytes];
                channel.recv("long", &mut into).unwrap_or_else(|e| panic!("message {i}: {e}"));
                assert!(into.iter().all(|&byte| usize::from(byte) == i % 256));
            }
        });
        let socket = TcpStream::connect(address).unwrap_or_else(|e| panic!("{e}"));
        socket.set_nonblocking(true).unwrap_or_else(|e| panic!("{e}"));
        let side = TlsSide::with_provider(&a, short_lived(5));
        let (link, _) = side.dial(socket, b.pin(), &guard).unwrap_or_else(|e| panic!("{e}"));
        let mut channel = Channel::new(0, Some((PartyId(1), Box::new(link))), None, stall);
        for (i, bytes) in lengths().enumerate() {
            let out = vec![u8::try_from(i % 256).unwrap_or(0); bytes];
            channel.send("long", &out).unwrap_or_else(|e| panic!("message {i}: {e}"));
        }
    });
}
