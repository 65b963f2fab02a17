//! The link between two parties that a job assumes.

use hushwire_machine::NetError;
use hushwire_wire::Shape;
use std::{fmt, str::FromStr, time::Duration};

/// A link that members agree on. A plan takes what is cheapest over it. The link is a term of the
/// job, and no measurement. A choice that one party bases on measurements would reveal them to the
/// other, and the parties' choices might differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(pub Shape);

/// The name of a link within one host.
const LOOPBACK: &str = "loopback";

/// 1 Gbit/s and a round trip of 1 ms: slower than links within one room, and faster than links
/// between distant hosts.
impl Default for Link {
    fn default() -> Self {
        Self(Shape { bits_per_second: Some(1_000_000_000), rtt: Duration::from_millis(1) })
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Shape::NONE { f.write_str(LOOPBACK) } else { self.0.fmt(f) }
    }
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == LOOPBACK {
            return Ok(Self(Shape::NONE));
        }
        text.parse().map(Self).map_err(|e| match e {
            NetError::Config { what, .. } => what,
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_names() {
        for (text, name) in [
            ("loopback", "loopback"),
            ("none", "loopback"),
            ("lan", "lan"),
            ("wan", "wan"),
            ("50Mbps,20ms", "50Mbps,20ms"),
        ] {
            assert_eq!(text.parse::<Link>().map(|link| link.to_string()), Ok(name.to_owned()));
        }
        assert_eq!(Link::default().to_string(), "1Gbps,1ms");
        assert!("fast".parse::<Link>().is_err_and(|e| e.contains("fast")));
    }
}
