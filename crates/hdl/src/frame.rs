//! The frames on the socket between the engine and a device.
//!
//! ```text
//! frame            kind u8 │ context u8 │ 0 u16 │ length u32 │ payload           little-endian
//!
//! engine → device  K  own key 16 │ previous key 16
//!                  M  microcode, u64 each
//!                  S  shares of the scalars, a byte each: bit 0 own, bit 1 next
//!                  P  rows in u32 │ rows out u32: the program is complete
//!                  J  first counter u128 │ rows of input: begins a batch in a context
//!                  R  bytes of the link from the right neighbour
//!                  Z  asks for statistics
//! device → engine  H  version, lanes, cores, contexts, slots, instructions, scalars, flight, u32
//!                     each: the first frame
//!                  T  bytes of the link to the left neighbour
//!                  O  all rows of output: ends a batch
//!                 X  the reason why the device ends, as text
//!                  Z  cycles u64 │ AND instructions u64
//!
//! a row            one bit of all instances as shares: the own plane, then the next one, 16·W
//!                  bytes each
//! W                words of 128 instances: cores · lanes
//! ```

use crate::Cause;

/// The protocol's version.
pub const VERSION: u32 = 1;

/// The number of bytes before the payload.
pub(crate) const HEADER: usize = 8;
/// The length of the longest text of an X, and of the longest H of any version.
pub(crate) const MOST_TEXT: usize = 4096;

/// The first bytes of a frame.
///
/// # Errors
/// [`Cause::Misuse`] if the payload is too long for a frame.
pub(crate) fn header(kind: u8, context: u8, length: usize) -> Result<[u8; HEADER], Cause> {
    let length = u32::try_from(length)
        .map_err(|_| Cause::Misuse(format!("{length} bytes are too many for one frame")))?;
    let mut bytes = [kind, context, 0, 0, 0, 0, 0, 0];
    bytes[4..].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The size of a device, from its greeting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The number of AND lanes; each takes one word a cycle.
    pub lanes: usize,
    /// The number of cores that feed a lane in turn.
    pub cores: usize,
    /// The number of batches that can be in progress at once.
    pub contexts: usize,
    /// The number of wires that a context can hold.
    pub slots: usize,
    /// The number of instructions that the device can hold.
    pub instructions: usize,
    /// The number of scalars that the device can hold.
    pub scalars: usize,
    /// The number of a context's ANDs that can be in progress at once. The engine exchanges whole
    /// layers, so no layer may be wider.
    pub flight: usize,
}

impl Hello {
    /// The number of 128-bit words of a plane.
    #[must_use]
    pub fn words(&self) -> usize {
        self.cores * self.lanes
    }

    /// The number of instances of a batch.
    #[must_use]
    pub fn instances(&self) -> usize {
        128 * self.words()
    }

    /// The number of bytes of a plane.
    #[must_use]
    pub fn plane_bytes(&self) -> usize {
        16 * self.words()
    }

    /// The payload of H.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Hello { lanes, cores, contexts, slots, instructions, scalars, flight } = *self;
        let fields = [lanes, cores, contexts, slots, instructions, scalars, flight];
        let words = std::iter::once(VERSION).chain(fields.iter().map(|n| *n as u32));
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// The inverse of [`Hello::to_bytes`].
    ///
    /// # Errors
    /// [`Cause::Version`]; [`Cause::Protocol`] if the length is not eight words, or for an
    /// impossible size.
    pub fn from_bytes(bytes: &[u8]) -> Result<Hello, Cause> {
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
        if let Some(&found) = words.first().filter(|found| **found != VERSION) {
            return Err(Cause::Version { found, expected: VERSION });
        }
        let (&[_, lanes, cores, contexts, slots, instructions, scalars, flight], []) = (&words[..], rest)
        else {
            return Err(Cause::Protocol(format!(
                "it introduces itself in {} bytes instead of 32",
                bytes.len()
            )));
        };
        let sized = |what: &str, n: u32, most: u32| match n {
            n if (1..=most).contains(&n) => Ok(n as usize),
            n => Err(Cause::Protocol(format!("it says that it has {n} {what}"))),
        };
        Ok(Hello {
            lanes: sized("lanes", lanes, 1 << 10)?,
            cores: sized("cores", cores, 1 << 6)?,
            contexts: sized("contexts", contexts, 1 << 8)?,
            slots: sized("slots", slots, 1 << 24)?,
            instructions: sized("instructions", instructions, 1 << 28)?,
            scalars: sized("scalars", scalars, 1 << 24)?,
            flight: sized("ANDs under way", flight, 1 << 24)?,
        })
    }
}

/// The counters of a device since its program was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of clock cycles.
    pub cycles: u64,
    /// The number of AND instructions issued, one for all words of a plane.
    pub ands: u64,
}

impl Statistics {
    /// Parses the payload of a frame Z; `None` if it is not 16 bytes long.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Statistics> {
        let (&[cycles, ands], []) = bytes.as_chunks::<8>() else { return None };
        Some(Statistics { cycles: u64::from_le_bytes(cycles), ands: u64::from_le_bytes(ands) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: Hello = Hello {
        lanes: 3,
        cores: 5,
        contexts: 16,
        slots: 512,
        instructions: 32768,
        scalars: 4096,
        flight: 512,
    };

    #[test]
    fn a_hello_survives() {
        assert_eq!(Hello::from_bytes(&HELLO.to_bytes()), Ok(HELLO));
        assert_eq!((HELLO.words(), HELLO.instances(), HELLO.plane_bytes()), (15, 1920, 240));
    }

    #[test]
    fn a_hello_of_another_version_says_so_whatever_its_length() {
        let mut bytes = HELLO.to_bytes();
        bytes[0] = 7;
        bytes.extend([0; 5]);
        assert_eq!(Hello::from_bytes(&bytes), Err(Cause::Version { found: 7, expected: VERSION }));
    }

    #[test]
    fn a_hello_must_be_whole_and_sensible() {
        let good = HELLO.to_bytes();
        for len in [0, 4, 31] {
            assert!(matches!(Hello::from_bytes(&good[..len]), Err(Cause::Protocol(_))), "{len}");
        }
        assert!(matches!(Hello::from_bytes(&[&good[..], &[0; 4]].concat()), Err(Cause::Protocol(_))));
        for field in 1..8 {
            for value in [0, u32::MAX] {
                let mut bad = good.clone();
                bad[4 * field..][..4].copy_from_slice(&value.to_le_bytes());
                assert!(matches!(Hello::from_bytes(&bad), Err(Cause::Protocol(_))), "{field} {value}");
            }
        }
    }

    #[test]
    fn headers_have_their_length() {
        assert_eq!(header(b'R', 3, 0x0102_0304), Ok([b'R', 3, 0, 0, 4, 3, 2, 1]));
        assert!(header(b'R', 3, 1 << 32).is_err());
    }
}
