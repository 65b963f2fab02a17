//! The FPGA whose fabric is counted, and the resources that a netlist takes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::BoxError;

/// The Virtex UltraScale+ VU9P of the paper's cloud instances: LUTs, FFs, block RAMs of 36 Kb and
/// UltraRAMs (AMD, DS890).
pub(super) const VU9P: Area = Area {
    luts: 1_182_240.0,
    ffs: 2_364_480.0,
    brams: 2160.0,
    urams: 960.0,
    muxf7: 591_120.0,
    muxf8: 295_560.0,
    srls: 591_840.0,
    dsps: 6840.0,
};

/// Resources. Block RAMs are counted in units of 36 Kb, so that halves occur. LUTs include those
/// used as shift registers and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Area {
    pub luts: f64,
    pub ffs: f64,
    pub brams: f64,
    pub urams: f64,
    pub muxf7: f64,
    pub muxf8: f64,
    pub srls: f64,
    pub dsps: f64,
}

/// The LUTs of a LUT memory, by its cell (UG574; M: slices that can be memory).
const LUT_MEMORIES: [(&str, f64); 12] = [
    ("RAM32M", 4.0),
    ("RAM32M16", 8.0),
    ("RAM64M", 4.0),
    ("RAM64M8", 8.0),
    ("RAM32X1S", 1.0),
    ("RAM64X1S", 1.0),
    ("RAM32X1D", 2.0),
    ("RAM64X1D", 2.0),
    ("RAM128X1S", 2.0),
    ("RAM128X1D", 4.0),
    ("RAM256X1D", 8.0),
    ("RAM256X1S", 4.0),
];

/// Cells that take none of the counted resources. Carries and wide multiplexers are located next to
/// their LUTs.
const BESIDE: [&str; 8] = ["CARRY4", "CARRY8", "MUXF9", "BUFG", "IBUF", "OBUF", "GND", "VCC"];

impl Area {
    /// The area of these cells. An inverter counts as a LUT, although placement may merge it into
    /// another.
    pub(super) fn of(cells: &BTreeMap<String, u64>) -> Result<Self, BoxError> {
        let mut area = Self::default();
        for (cell, &count) in cells {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let count = count as f64;
            match cell.as_str() {
                "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "INV" => area.luts += count,
                "SRL16E" | "SRLC32E" => {
                    area.luts += count;
                    area.srls += count;
                }
                "FDRE" | "FDSE" | "FDCE" | "FDPE" => area.ffs += count,
                "RAMB18E2" => area.brams += count / 2.0,
                "RAMB36E2" => area.brams += count,
                "URAM288" => area.urams += count,
                "MUXF7" => area.muxf7 += count,
                "MUXF8" => area.muxf8 += count,
                "DSP48E2" => area.dsps += count,
                other => match LUT_MEMORIES.iter().find(|(name, _)| *name == other) {
                    Some((_, luts)) => area.luts += luts * count,
                    None if BESIDE.contains(&other) => {}
                    None => {
                        let tried = "hdl/setup names the yosys that was tried (0.23)";
                        return Err(format!(
                            "synthesis left cells of a kind whose size is not known, {other}; {tried}"
                        )
                        .into());
                    }
                },
            }
        }
        Ok(area)
    }

    fn combine(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            luts: of(self.luts, other.luts),
            ffs: of(self.ffs, other.ffs),
            brams: of(self.brams, other.brams),
            urams: of(self.urams, other.urams),
            muxf7: of(self.muxf7, other.muxf7),
            muxf8: of(self.muxf8, other.muxf8),
            srls: of(self.srls, other.srls),
            dsps: of(self.dsps, other.dsps),
        }
    }

    /// The area of `lanes` lanes, if `one` has one lane and `two` has two. Each further lane takes
    /// as much as the second one.
    pub(super) fn of_lanes(one: Self, two: Self, lanes: u32) -> Self {
        let further = f64::from(lanes) - 1.0;
        one.combine(two.combine(one, |two, one| two - one), |one, step| one + further * step)
    }

    /// The fraction of `device` that is used, for the resource with the largest fraction, and its
    /// name.
    pub(super) fn share(&self, device: &Self) -> (f64, &'static str) {
        let kinds = [
            (self.luts / device.luts, "LUT"),
            (self.ffs / device.ffs, "FF"),
            (self.brams / device.brams, "BRAM"),
            (self.urams / device.urams, "URAM"),
        ];
        kinds.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, "LUT"))
    }
}
