//! A simulated network: a party's bandwidth and the delay of its bytes.

use core::{fmt, str::FromStr, time::Duration};
use std::time::Instant;

use hushwire_machine::NetError;

/// The bandwidth and delay that [`Shape::apply`] gives to a party's outgoing links, on any
/// transport.
///
/// All links of one party share its bandwidth, as they share its host's network card. Every byte
/// takes half of the round trip to arrive, after the previous bytes have left. A round in which all
/// parties send and receive therefore takes *half* a round trip plus the time to send its message,
/// since the messages cross. A question and its answer take a whole round trip. To shape both ends
/// of a link, shape all parties.
///
/// Its text is `none`, `lan`, `wan`, or two numbers such as `1Gbps,5ms`: a rate in bps, kbps, Mbps
/// or Gbps (powers of 1000) or `max`, then the round trip in us, ms or s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The bits that a party sends in one second, over all its links; `None` for the transport's
    /// own rate.
    pub bits_per_second: Option<u64>,
    /// The time of a question and its answer.
    pub rtt: Duration,
}

impl Shape {
    /// The transport itself, without a simulated network.
    pub const NONE: Self = Self { bits_per_second: None, rtt: Duration::ZERO };

    /// Hosts in one room: 10 Gbit/s, a round trip of 0.2 ms.
    #[must_use]
    pub const fn lan() -> Self {
        Self { bits_per_second: Some(10_000_000_000), rtt: Duration::from_micros(200) }
    }

    /// Hosts a continent apart: 100 Mbit/s, a round trip of 40 ms.
    #[must_use]
    pub const fn wan() -> Self {
        Self { bits_per_second: Some(100_000_000), rtt: Duration::from_millis(40) }
    }

    /// The time that a byte travels: half a round trip.
    #[must_use]
    pub const fn one_way(&self) -> Duration {
        Duration::from_nanos((self.rtt.as_nanos() / 2) as u64)
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::NONE
    }
}

/// The units of a rate, in bits per second.
const RATES: [(&str, u64); 4] = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1000), ("bps", 1)];
/// The units of a time, in nanoseconds.
const TIMES: [(&str, u64); 3] = [("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => return f.write_str("none"),
            shape if shape == Self::lan() => return f.write_str("lan"),
            shape if shape == Self::wan() => return f.write_str("wan"),
            _ => {}
        }
        match self.bits_per_second {
            None => f.write_str("max")?,
            Some(rate) => {
                let (unit, each) =
                    RATES.into_iter().find(|&(_, each)| rate.is_multiple_of(each)).unwrap_or(("bps", 1));
                write!(f, "{}{unit}", rate / each)?;
            }
        }
        let nanos = self.rtt.as_nanos();
        // The largest unit that needs no fraction; below a microsecond, a fraction of one.
        let whole = TIMES.into_iter().rev().find(|&(_, each)| nanos.is_multiple_of(each.into()));
        match whole {
            Some((unit, each)) if nanos > 0 => write!(f, ",{}{unit}", nanos / u128::from(each)),
            Some(_) => f.write_str(",0us"),
            None => write!(f, ",{}.{:03}us", nanos / 1000, nanos % 1000),
        }
    }
}

impl FromStr for Shape {
    type Err = NetError;

    fn from_str(s: &str) -> Result<Self, NetError> {
        match s {
            "none" => return Ok(Self::NONE),
            "lan" => return Ok(Self::lan()),
            "wan" => return Ok(Self::wan()),
            _ => {}
        }
        parse(s).ok_or_else(|| NetError::Config {
            peer: None,
            what: format!(
                "no network is shaped {s:?}: write none, lan, wan, or rate and round trip as in 1Gbps,5ms"
            ),
        })
    }
}

fn parse(s: &str) -> Option<Shape> {
    let (rate, rtt) = s.split_once(',')?;
    let bits_per_second = match rate.trim() {
        "max" => None,
        rate => Some(number(rate, &RATES).filter(|&rate| rate > 0)?),
    };
    Some(Shape { bits_per_second, rtt: Duration::from_nanos(number(rtt.trim(), &TIMES)?) })
}

/// Parses a decimal number with a unit to a number of the smallest unit; `None` if the result is
/// not whole.
fn number(s: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = s.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = s.split_at(digits);
    let &(_, each) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, part) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), "0"));
    if [whole, part].iter().any(|half| half.is_empty() || !half.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let scale = 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part = part.parse::<u64>().ok()?.checked_mul(each)?;
    let fraction = part.is_multiple_of(scale).then_some(part / scale)?;
    whole.parse::<u64>().ok()?.checked_mul(each)?.checked_add(fraction)
}

/// Computes when the bytes that a party sends now arrive. Pure: the clock is an argument.
#[derive(Debug)]
pub(crate) struct Schedule {
    shape: Shape,
    /// The time at which the last byte sent has left.
    left_at: Option<Instant>,
    /// The remainder below a whole nanosecond, in bits times nanoseconds per second, so that the
    /// rate is exact.
    carry: u128,
}

impl Schedule {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, left_at: None, carry: 0 }
    }

    /// The arrival time of `bytes` more bytes: they leave after all bytes before them, then travel.
    pub(crate) fn due(&mut self, bytes: usize, now: Instant) -> Instant {
        let start = match self.left_at {
            Some(left_at) if left_at >= now => left_at,
            _ => {
                self.carry = 0;
                now
            }
        };
        let left_at = match self.shape.bits_per_second {
            None => start,
            Some(rate) => {
                let rate = u128::from(rate.max(1));
                let work = bytes as u128 * 8 * 1_000_000_000 + self.carry;
                self.carry = work % rate;
                start + Duration::from_nanos(u64::try_from(work / rate).unwrap_or(u64::MAX))
            }
        };
        self.left_at = Some(left_at);
        left_at + self.shape.one_way()
    }
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
