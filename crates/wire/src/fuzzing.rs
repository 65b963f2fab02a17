//! Entry points for fuzz targets and for the test below, through which bytes from strangers and
//! peers reach the decoders of this crate.
//!
//! Each function accepts any bytes, and panics only if an invariant fails.

use hushwire_machine::{NetError, PartyId, Reason, SessionId, printable};

use crate::{
    Validity,
    hello::{Flow, GreetingRole, HELLO_BYTES, Hello, WIRE_VERSION},
    lobby::first_bytes,
    notice::{NOTICE_BYTES, Notice},
    roster::Nonce,
    subject::common_name,
};

/// Parses a certificate's dates and name. Everything that is parsed can be printed.
pub fn certificate(bytes: &[u8]) {
    if let Some(validity) = Validity::of(bytes) {
        assert!(printable(&validity.to_string()).len() >= "1970-01-01 to 1970-01-01".len());
    }
    if let Some(name) = common_name(bytes) {
        assert!(!name.chars().any(char::is_control));
    }
}

/// Parses the first bytes on a connection. At most one record is asked for, and encoding a decoded
/// hello gives the same bytes.
pub fn hello(bytes: &[u8]) {
    for tls in [false, true] {
        for have in 0..bytes.len().min(600) {
            assert!(first_bytes(tls, &bytes[..have]) <= (5 + (1 << 14)).max(have));
        }
    }
    let said = padded::<HELLO_BYTES>(bytes);
    let _ = Hello::is_probe(&said);
    let Ok(theirs) = Hello::decode(&said) else { return };
    assert_eq!(theirs.encode(), said);
    let ours = Hello {
        version: WIRE_VERSION,
        from: PartyId(0),
        to: PartyId(1),
        session: SessionId([1; 16]),
        job_digest: [2; 32],
        params: [3; 32],
        lane: 0,
        lanes: 1,
        flow: Flow::FromDialer,
        role: GreetingRole::Listener,
        shm: false,
        full: false,
        ends: None,
        of: None,
        nonce: Nonce([4; 16]),
    };
    if let Err(e) = ours.judge(&theirs, PartyId(1)) {
        shown(&e);
    }
}

/// Parses a peer's notice. Encoding a decoded notice gives the same bytes, and its text cannot
/// disturb a terminal.
pub fn notice(bytes: &[u8]) {
    let said = padded::<NOTICE_BYTES>(bytes);
    let Ok(notice) = Notice::decode(&said) else { return };
    assert_eq!(notice.encode(), said);
    let (peer, why, step) = match notice {
        Notice::Abort { culprit, why, step } => (culprit, why, step),
        Notice::Alive(Some((peer, step))) => (peer, Reason::Stalled, step),
        Notice::Alive(None) | Notice::Goodbye | Notice::Joined(_) | Notice::Comes { .. } => return,
    };
    let step = step.as_str().to_owned();
    shown(&NetError::Aborted { peer: Some(peer), by: PartyId(0), step, why });
}

fn shown(e: &NetError) {
    let text = e.to_string();
    assert!(matches!(printable(&text), std::borrow::Cow::Borrowed(_)), "{text:?}");
}

fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    let taken = bytes.len().min(N);
    padded[..taken].copy_from_slice(&bytes[..taken]);
    padded
}

#[cfg(unix)]
pub use of_records::records;

#[cfg(unix)]
mod of_records {
    use std::{io::Write, os::unix::net::UnixStream};

    use rustls::{
        ConnectionTrafficSecrets, ContentType, Error, ExtractedSecrets,
        crypto::{
            aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher::{AeadKey, Iv},
        },
    };

    use crate::{
        tls_greet::Schedule,
        tls_link::{BUFFER_BYTES, Handover, TlsLink},
        tls_records::{LONGEST_BYTES, RecordKey},
    };
    use hushwire_machine::{Rx, Wait};

    /// The most bytes on the wire at once; a socket's buffer holds them.
    const MOST_BYTES: usize = 60_000;

    /// A key schedule; its keys can be arbitrary here.
    struct AnyKeys {
        tx: u8,
        rx: u8,
    }

    fn key(number: u8) -> (u64, ConnectionTrafficSecrets) {
        let (key, iv) = (AeadKey::from([number; 32]), Iv::from([number; 12]));
        (0, ConnectionTrafficSecrets::Aes256Gcm { key, iv })
    }

    impl Schedule for AnyKeys {
        fn next_tx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error> {
            self.tx = self.tx.wrapping_add(1);
            Ok(key(self.tx))
        }
        fn next_rx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error> {
            self.rx = self.rx.wrapping_add(1);
            Ok(key(self.rx))
        }
    }

    /// Plays a peer that holds the keys and sends records of any kind, between any bytes. The link
    /// must either end with an error or give its caller the sealed data in order. It must never
    /// wait while it can open something.
    ///
    /// `script` holds operations: a byte for the kind, a byte for the length, and that many bytes.
    ///
    /// # Panics
    /// Panics if an invariant fails.
    pub fn records(script: &[u8]) {
        let mut script = script.iter().copied();
        let mut number = 0;
        let sealer = |number| RecordKey::new(key(number)).unwrap_or_else(|e| panic!("{e}"));
        let (mut tx, mut wire, mut data) = (sealer(number), Vec::new(), Vec::new());
        let wanted = 1 + usize::from(script.next().unwrap_or(0)) * 97;
        while wire.len() < MOST_BYTES
            && let Some(what) = script.next()
        {
            let bytes = usize::from(script.next().unwrap_or(0));
            let mut text: Vec<u8> = script.by_ref().take(bytes).collect();
            let content = match what % 8 {
                // Some records are long.
                0 => {
                    text = text.repeat(1 + bytes % 64);
                    ContentType::ApplicationData
                }
                1 | 2 => ContentType::ApplicationData,
                3 => {
                    text = vec![24, 0, 0, 1, bytes as u8 & 1];
                    ContentType::Handshake
                }
                4 => ContentType::Handshake,
                5 => ContentType::Alert,
                6 => ContentType::from(bytes as u8),
                _ => {
                    wire.extend(text);
                    continue;
                }
            };
            if content == ContentType::ApplicationData {
                data.extend_from_slice(&text);
            }
            let mut record = vec![0; LONGEST_BYTES];
            let sealed = tx.seal(content, &text, &mut record).unwrap_or_else(|e| panic!("{e}"));
            wire.extend_from_slice(&record[..sealed]);
            if what % 8 == 3 {
                number = number.wrapping_add(1);
                tx = sealer(number);
            }
        }
        deliver(&wire, &data, wanted);
    }

    fn deliver(wire: &[u8], data: &[u8], wanted: usize) {
        let (mut peer, socket) = UnixStream::pair().unwrap_or_else(|e| panic!("{e}"));
        peer.write_all(wire).unwrap_or_else(|e| panic!("{e}"));
        socket.set_nonblocking(true).unwrap_or_else(|e| panic!("{e}"));
        let link = TlsLink::new(Handover {
            socket,
            secrets: ExtractedSecrets { tx: key(0), rx: key(0) },
            suite: TLS13_AES_256_GCM_SHA384,
            schedule: Box::new(AnyKeys { tx: 0, rx: 0 }),
            out: vec![0; BUFFER_BYTES],
            plain: &[],
            wire: &[],
        });
        let mut link = link.unwrap_or_else(|e| panic!("{e}"));
        let (mut into, mut got) = (vec![0; wanted], Vec::new());
        for calls in 0.. {
            assert!(calls <= wire.len() + 1, "it goes on for ever");
            match link.try_recv(&mut into) {
                Ok(0) if matches!(Rx::wait_on(&link), Wait::Ready) => {}
                Ok(0) => break,
                Ok(n) => got.extend_from_slice(&into[..n]),
                Err(_) => {
                    assert!(link.try_recv(&mut into).is_err(), "an error stays");
                    break;
                }
            }
            assert!(data.starts_with(&got), "what was not sent as data arrived");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, notice::StepName};

    const RUNS: u64 = 4000;

    /// Pseudo-random bytes, the same for each `run`.
    fn noise(run: u64, bytes: usize) -> Vec<u8> {
        let mut noise = vec![0; bytes];
        let mut hasher = blake3::Hasher::new();
        hasher.update(&run.to_le_bytes()).finalize_xof().fill(&mut noise);
        noise
    }

    /// `whole` with a few bytes changed, removed or inserted.
    fn mutated(run: u64, whole: &[u8]) -> Vec<u8> {
        let (mut bytes, dice) = (whole.to_vec(), noise(run, 17));
        for turn in dice[1..].chunks(4).take(1 + usize::from(dice[0] % 4)) {
            let at = usize::from(u16::from_le_bytes([turn[0], turn[1]])) % bytes.len().max(1);
            match turn[2] % 5 {
                0 if at < bytes.len() => _ = bytes.remove(at),
                1 => bytes.insert(at, turn[3]),
                2 => bytes.truncate(at),
                3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0x84, 0xff][usize::from(turn[3] % 6)],
                _ if at < bytes.len() => bytes[at] ^= 1 << (turn[3] % 8),
                _ => {}
            }
        }
        bytes
    }

    fn drive(entry: fn(&[u8]), seeds: &[&[u8]]) {
        for seed in seeds {
            entry(seed);
        }
        for run in 0..RUNS {
            entry(&noise(run, (run % 300) as usize));
            entry(&mutated(run, seeds[run as usize % seeds.len()]));
        }
    }

    #[test]
    fn certificates_of_any_bytes() {
        let [a, b] = ["a", "ein Name mit Größe"]
            .map(|name| Identity::generate(name).unwrap_or_else(|e| panic!("{e}")).certificate().to_vec());
        drive(certificate, &[&a, &b]);
    }

    #[test]
    fn hellos_of_any_bytes() {
        let mut said = [0; HELLO_BYTES];
        said[..12].copy_from_slice(b"hushwire\x09\x00\x01\x00");
        said[94] = 4;
        assert!(Hello::decode(&said).is_ok());
        drive(hello, &[&said, &[22, 3, 1, 2, 0, 1, 0, 1, 252]]);
    }

    #[test]
    fn notices_of_any_bytes() {
        let step = StepName::new("layer 3");
        let said = [
            Notice::Abort { culprit: PartyId(2), why: Reason::Silent, step },
            Notice::Alive(Some((PartyId(1), step))),
            Notice::Joined(SessionId([9; 16])),
        ]
        .map(|notice| notice.encode());
        drive(notice, &[&said[0], &said[1], &said[2]]);
    }

    #[cfg(unix)]
    #[test]
    fn records_of_any_kind() {
        let script = b"\x20\x01\x05hello\x03\x01\x00\x40abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz123456789012\
            \x05\x02\x01\x5a\x01\x00\x02\x00\x01\x03end\x04\x05\x18\x00\x00\x01\x00\x05\x02\x01\x00";
        let idle = [0, 1, 0].repeat(40);
        let updates = [3, 0].repeat(20);
        drive(records, &[script, &idle, &updates, &[9, 7, 5, 23, 3, 3, 0xff, 0xff]]);
    }
}
