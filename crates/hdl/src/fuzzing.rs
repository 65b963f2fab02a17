//! Devices with any behaviour, for tests and the fuzzer.

use crate::{
    Cause,
    frame::{HEADER, MOST_TEXT},
    inbox::Inbox,
};

/// The number of bytes before those of the device. They determine how the device's bytes are cut,
/// and which batches are begun.
const HEAD: usize = 4;

/// The fuzz target's input for a device that greets correctly: four bytes that determine how the
/// rest is cut and which batches are begun, then the greeting in one piece.
#[must_use]
pub fn greeting(hello: &crate::Hello) -> Vec<u8> {
    let hello = hello.to_bytes();
    [&[39, 0xff, 2, 3][..], &[b'H', 0, 0, 0, hello.len() as u8, 0, 0, 0], &hello].concat()
}

/// Feeds any bytes as frames to the engine's inbox. It must accept only frames that the engine
/// requested, and keep no more bytes than it requested.
///
/// # Panics
/// If the inbox does otherwise.
pub fn frames(bytes: &[u8]) {
    let Some((&[cut, begins, layers, rows], bytes)) = bytes.split_first_chunk::<HEAD>() else { return };
    let (mut inbox, mut begun) = (Inbox::default(), false);
    for part in bytes.chunks(1 + usize::from(cut)) {
        if let Err(cause) = inbox.feed(part) {
            assert!(
                matches!(cause, Cause::Protocol(_) | Cause::Version { .. } | Cause::Reported(_)),
                "{cause:?}"
            );
            let text = cause.to_string();
            assert!(!text.chars().any(char::is_control), "{text:?}");
            return;
        }
        let Some(hello) = inbox.hello else { continue };
        // A frame can describe devices for which this test would allocate gigabytes of buffers.
        if hello.words() > 64 {
            return;
        }
        let (plane, layers) = (hello.plane_bytes(), 1 + usize::from(layers % 4));
        let whole = 2 * plane * (1 + usize::from(rows % 7));
        let contexts = || (0..hello.contexts.min(8)).filter(|context| begins >> context & 1 == 1);
        if !std::mem::replace(&mut begun, true) {
            inbox.asked = begins & 1 == 1;
            for context in contexts() {
                inbox.begin(context, plane * layers, plane, whole).expect("an idle context");
                assert!(inbox.begin(context, plane, plane, whole).is_err(), "a busy one");
            }
            continue;
        }
        let mut message = vec![0; plane];
        for context in contexts() {
            inbox.take(context, &mut message);
            if let Some(output) = inbox.end(context) {
                assert_eq!(output.len(), whole);
                inbox.begin(context, plane * layers, plane, whole).expect("idle again");
            }
        }
        let kept = inbox.kept();
        let most = contexts().count() * (plane * layers + whole) + HEADER + MOST_TEXT;
        assert!(kept <= most, "{kept} bytes are kept where {most} were asked for");
        if inbox.statistics.take().is_some() {
            assert!(!inbox.asked, "nobody asked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hello;
    use hushwire_testkit::mutated;

    const HELLO: Hello =
        Hello { lanes: 1, cores: 2, contexts: 4, slots: 64, instructions: 64, scalars: 64, flight: 64 };

    fn frame(kind: u8, context: u8, payload: &[u8]) -> Vec<u8> {
        let [a, b, c, d] = (payload.len() as u32).to_le_bytes();
        [&[kind, context, 0, 0, a, b, c, d][..], payload].concat()
    }

    #[test]
    fn a_device_that_says_anything_is_heard_or_refused() {
        let plane = HELLO.plane_bytes();
        let [greeting, link] = [greeting(&HELLO), frame(b'T', 1, &vec![7; plane])];
        let output = frame(b'O', 1, &vec![9; 8 * plane]);
        let links = link.repeat(3);
        let good = [
            greeting.clone(),
            [&greeting[..], &links, &output, &links, &output].concat(),
            [&greeting[..], &link, &frame(b'Z', 0, &[3; 16]), &link].concat(),
            [&greeting[..], &frame(b'X', 0, b"it is too hot\n")].concat(),
            [&greeting[..], &frame(b'T', 0, &vec![1; 3 * plane]), &frame(b'O', 0, &vec![1; 8 * plane])]
                .concat(),
        ];
        let good: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
        mutated(4, &good, 8000).for_each(|bytes| frames(&bytes));
        for cut in [0, 1, 6, 7, 8, 100] {
            good.iter().for_each(|bytes| frames(&[&[cut], &bytes[1..]].concat()));
        }
    }
}
