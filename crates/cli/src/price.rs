//! Forecasts in words.

use crate::progress;
use hushwire::job::{Forecast, size};
use hushwire_wire::Shape;
use std::time::Duration;

/// LOCAL: processes on one machine, which wake each other over sockets.
pub(crate) const LOOPBACK: Shape = Shape { bits_per_second: None, rtt: Duration::from_micros(60) };

/// Formats a forecast of time: to the millisecond below a tenth of a second.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        ..0.0995 => format!("{:.0} ms", (1000.0 * s).max(1.0)),
        ..9.95 => format!("{s:.1} s"),
        _ => progress::duration(s),
    }
}

/// Describes the cost of a run over a network; without a network, over sockets on this machine.
pub(crate) fn over(price: &Forecast, net: Shape) -> String {
    let net = if net == Shape::NONE { LOOPBACK } else { net };
    let cost = price.over(net);
    format!(
        "{}, {} rounds, {} from the party that sends most",
        seconds(price.seconds(net)),
        cost.rounds,
        size::show(cost.bytes_sent)
    )
}

/// Returns a line for each of three networks.
pub(crate) fn everywhere(price: &Forecast) -> Vec<String> {
    let nets = [("on this machine", Shape::NONE), ("over a LAN", Shape::lan()), ("over a WAN", Shape::wan())];
    nets.map(|(name, net)| format!("predicted {name}: {}", over(price, net))).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds and bytes are those of the network, and times below a second are printed.
    #[test]
    fn every_network_has_a_price_of_its_own() {
        let price = Forecast::of_steps((1000, 1 << 20), [(400, 2 << 20), (100, 4 << 20)], true);
        assert_eq!(
            everywhere(&price),
            [
                "predicted on this machine: 47 ms, 1000 rounds, 1.0 MiB from the party that sends most",
                "predicted over a LAN: 75 ms, 400 rounds, 2.0 MiB from the party that sends most",
                "predicted over a WAN: 2.6 s, 100 rounds, 4.0 MiB from the party that sends most",
            ]
        );
    }
}
