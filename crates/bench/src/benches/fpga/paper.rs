//! The paper's figures: "Secret Sharing MPC on FPGAs in the Datacenter", Table II and section IV-A;
//! VU9P at 125 MHz.

use crate::{Paper, Unit};

/// The AND cores, Gb/s, million AES/s, and the fraction of the fabric if the text has it.
pub(super) const TABLE_2: [(u32, f64, f64, Option<f64>); 6] = [
    (1, 2.67, 0.490, Some(0.032)),
    (3, 8.00, 1.47, Some(0.05)),
    (12, 32.0, 5.89, None),
    (24, 64.0, 11.8, None),
    (48, 128.0, 23.5, None),
    (60, 160.0, 29.4, None),
];
/// The cycles from one AND of a core to the next.
pub(super) const INTERVAL: f64 = 6.0;
/// The paper's clock in MHz.
pub(super) const MHZ: u32 = 125;

/// The Gb/s for one percent of the fabric, with `cores` AND cores.
pub(super) fn gbps_per_percent(cores: u32) -> Option<f64> {
    let (_, gbps, _, share) = TABLE_2.into_iter().find(|line| line.0 == cores)?;
    share.map(|share| gbps / (100.0 * share))
}

/// The paper's figures for this many AND cores at its clock.
pub(super) fn stated(cores: u32, mhz: u32) -> Paper {
    let line = TABLE_2.into_iter().find(|line| line.0 == cores && mhz == MHZ);
    line.map_or_else(Paper::default, |(cores, gbps, aes, share)| {
        Paper::new(gbps * 1e9, &Unit::per_second("bits"), "FPGA paper, Table II")
            .with("machine", "VU9P, 125 MHz")
            .with("and_cores", cores)
            .with("initiation_interval", INTERVAL)
            .with("gbps", gbps)
            .with("aes_per_s", aes * 1e6)
            .with("fabric_share", share)
    })
}
