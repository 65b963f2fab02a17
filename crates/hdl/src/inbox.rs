//! The bytes from a device, checked and sorted by context.

use crate::frame::{HEADER, MOST_TEXT};
use crate::{Cause, Hello, Statistics};
use zeroize::Zeroizing;

/// The bytes of one context.
#[derive(Default)]
struct ContextBytes {
    /// Whether a batch is in progress.
    busy: bool,
    /// The number of link bytes that the batch still has to send.
    due: usize,
    /// The link bytes that have arrived, and the number of them that have been taken.
    link: Zeroizing<Vec<u8>>,
    taken: usize,
    /// The length of the output in bytes, and the part that has arrived.
    whole: usize,
    output: Zeroizing<Vec<u8>>,
}

/// A frame whose payload is arriving.
#[derive(Clone, Copy)]
struct Coming {
    kind: u8,
    context: usize,
    left: usize,
}

/// The bytes that have arrived and have not been taken.
#[derive(Default)]
pub(crate) struct Inbox {
    header: Vec<u8>,
    coming: Option<Coming>,
    /// The payload of an H, X or Z.
    text: Vec<u8>,
    contexts: Vec<ContextBytes>,
    pub(crate) hello: Option<Hello>,
    /// Whether the engine asked for statistics, and the answer.
    pub(crate) asked: bool,
    pub(crate) statistics: Option<Statistics>,
}

fn broke<T>(what: impl Into<String>) -> Result<T, Cause> {
    Err(Cause::Protocol(what.into()))
}

impl Inbox {
    /// Sorts the next bytes.
    ///
    /// # Errors
    /// [`Cause::Protocol`] for a frame that the device must not send now, [`Cause::Version`], or
    /// [`Cause::Reported`].
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Cause> {
        while !bytes.is_empty() {
            let coming = match self.coming.take() {
                Some(coming) => coming,
                None => {
                    let part = bytes.len().min(HEADER - self.header.len());
                    self.header.extend_from_slice(&bytes[..part]);
                    bytes = &bytes[part..];
                    if self.header.len() < HEADER {
                        return Ok(());
                    }
                    let coming = self.begun()?;
                    self.header.clear();
                    coming
                }
            };
            let part = bytes.len().min(coming.left);
            match coming.kind {
                b'T' => self.contexts[coming.context].link.extend_from_slice(&bytes[..part]),
                b'O' => self.contexts[coming.context].output.extend_from_slice(&bytes[..part]),
                _ => self.text.extend_from_slice(&bytes[..part]),
            }
            bytes = &bytes[part..];
            let coming = Coming { left: coming.left - part, ..coming };
            if coming.left > 0 {
                self.coming = Some(coming);
            } else {
                self.whole(coming.kind)?;
            }
        }
        Ok(())
    }

    /// Checks that the frame with the complete header may come now.
    fn begun(&mut self) -> Result<Coming, Cause> {
        let h = &self.header;
        let (kind, context, zero) = (h[0], usize::from(h[1]), [h[2], h[3]]);
        let length = u32::from_le_bytes([h[4], h[5], h[6], h[7]]) as usize;
        let shown = char::from(kind).escape_default();
        if zero != [0, 0] {
            return broke(format!("a header of kind '{shown}' has no zeros where they belong"));
        }
        let word = self.hello.map_or(0, |hello| 16 * hello.lanes);
        match (kind, &self.hello) {
            (b'H', None) | (b'X', _) if length <= MOST_TEXT => {}
            (_, None) => return broke(format!("a frame of kind '{shown}' before it introduced itself")),
            (b'Z', _) if self.asked && length == 16 => {}
            (b'T' | b'O', _) => {
                let Some(lane) = self.contexts.get_mut(context).filter(|lane| lane.busy) else {
                    return broke(format!("a frame of kind '{shown}' for context {context}, which is idle"));
                };
                if kind == b'T' {
                    if length == 0 || length > lane.due || !length.is_multiple_of(word) {
                        let due = lane.due;
                        return broke(format!("{length} bytes of the link where {due} are to come"));
                    }
                    lane.due -= length;
                } else if length != lane.whole || lane.due > 0 || !lane.output.is_empty() {
                    let (whole, due) = (lane.whole, lane.due);
                    return broke(format!(
                        "{length} bytes of output instead of {whole}, with {due} of the link due"
                    ));
                }
            }
            _ => return broke(format!("a frame of kind '{shown}' with {length} bytes")),
        }
        Ok(Coming { kind, context, left: length })
    }

    /// Handles a complete payload.
    fn whole(&mut self, kind: u8) -> Result<(), Cause> {
        let text = std::mem::take(&mut self.text);
        match kind {
            b'H' => {
                let hello = Hello::from_bytes(&text)?;
                self.contexts.resize_with(hello.contexts, ContextBytes::default);
                self.hello = Some(hello);
            }
            b'X' => {
                let text = String::from_utf8_lossy(&text);
                let printed = |c: char| if c.is_control() { ' ' } else { c };
                return Err(Cause::Reported(text.trim().chars().map(printed).collect()));
            }
            b'Z' => {
                self.statistics = Statistics::from_bytes(&text);
                self.asked = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// Expects a batch of `due` link bytes, which are awaited in parts of at most `largest`, then
    /// `whole` bytes of output.
    ///
    /// # Errors
    /// [`Cause::Misuse`] if the context does not exist or is busy.
    pub(crate) fn begin(
        &mut self,
        context: usize,
        due: usize,
        largest: usize,
        whole: usize,
    ) -> Result<(), Cause> {
        let Some(lane) = self.contexts.get_mut(context).filter(|lane| !lane.busy) else {
            return Err(Cause::Misuse(format!("context {context} is busy, or the device has none")));
        };
        *lane = ContextBytes { busy: true, due, whole, ..ContextBytes::default() };
        lane.link.reserve_exact(largest);
        lane.output.reserve_exact(whole);
        Ok(())
    }

    /// The number of bytes held: those of incomplete frames, and those not taken yet.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn kept(&self) -> usize {
        let contexts = self.contexts.iter().map(|context| context.link.len() + context.output.len());
        self.header.len() + self.text.len() + contexts.sum::<usize>()
    }

    /// Fills `message` with link bytes of a context; false while there are too few.
    pub(crate) fn take(&mut self, context: usize, message: &mut [u8]) -> bool {
        let lane = &mut self.contexts[context];
        let Some(bytes) = lane.link.get(lane.taken..lane.taken + message.len()) else { return false };
        message.copy_from_slice(bytes);
        lane.taken += message.len();
        if lane.taken == lane.link.len() {
            lane.link.clear();
            lane.taken = 0;
        }
        true
    }

    /// The complete output of a context, once it has arrived; the context is then idle.
    pub(crate) fn end(&mut self, context: usize) -> Option<Zeroizing<Vec<u8>>> {
        let lane = &mut self.contexts[context];
        if lane.output.len() < lane.whole {
            return None;
        }
        Some(std::mem::take(lane).output)
    }
}
