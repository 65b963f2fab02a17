//! The ring of a network's numbers, and the members' names: what all members know.

use crate::Fault;
use hushwire_compute::{Computation, Scalar};
use hushwire_fault::code;

/// The name of the client's input.
pub const INPUT: &str = "input";
/// The name of the client's output. Names of further inputs and outputs begin with these.
pub const OUTPUT: &str = "output";

/// The ring and its numbers, which all members know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The width of every value, in bits.
    pub bits: u8,
    /// The number of fractional bits of inputs, outputs, and operands of functions such as the
    /// sigmoid.
    pub frac: u8,
    /// The number of bits that are cut after each layer with weights.
    pub cut: u8,
}

impl Numbers {
    /// The usual numbers in a ring of `bits` bits, 16 to 64.
    #[must_use]
    pub fn of(bits: u8) -> Self {
        let frac = (bits / 3).clamp(4, 20);
        Numbers { bits, frac, cut: (bits.saturating_sub(6) / 2).min(24) }
    }

    /// The usual numbers with this many fractional bits: the same part of the other bits is cut, so
    /// that fewer of them leave fewer to cut.
    #[must_use]
    pub fn with_frac(bits: u8, frac: u8) -> Self {
        let usual = Numbers::of(bits);
        let [others, before, cut] =
            [bits.saturating_sub(frac), bits.saturating_sub(usual.frac), usual.cut].map(u32::from);
        let cut = (others * cut / before.max(1)).clamp(1, 24) as u8;
        Numbers { bits, frac, cut }
    }

    /// The numbers of a network's computation.
    ///
    /// # Errors
    /// It is not the computation of a network.
    pub fn of_computation(computation: &Computation) -> Result<Self, Fault> {
        let (mut input, mut cut, mut wide) = (None, None, None);
        for (name, ty) in computation.inputs() {
            match ty.scalar {
                Scalar::Fixed { bits, frac } if name == INPUT => input = Some((bits, frac)),
                Scalar::Fixed { frac, .. } if name.starts_with("weights") => cut = Some(frac),
                // These have the fractional bits of values before they are cut.
                Scalar::Fixed { frac, .. } if ["leaves", "rows"].iter().any(|of| name.starts_with(of)) => {
                    wide = Some(frac);
                }
                _ => {}
            }
        }
        let remedy = "write it with `hushwire model plan`";
        let (bits, frac) = input
            .ok_or_else(|| Fault::new(code::MODEL, "the network", "it has no fixed-point input", remedy))?;
        if let Some(odd) = computation.outputs().iter().find(|output| !output.name.starts_with(OUTPUT)) {
            let cause = format!("it has an output that is called {}", odd.name);
            return Err(Fault::new(code::MODEL, "the network", cause, remedy));
        }
        let usual = Numbers::with_frac(bits, frac);
        let cut = cut.or_else(|| wide.and_then(|wide: u8| wide.checked_sub(frac)));
        let numbers = Numbers { cut: cut.unwrap_or(usual.cut), ..usual };
        numbers.check().map_err(|e| e.coded(code::MODEL))?;
        Ok(numbers)
    }

    /// Checks that the numbers are valid for networks.
    ///
    /// # Errors
    /// A number is out of its bounds, which the error names.
    pub fn check(self) -> Result<(), Fault> {
        let Numbers { bits, frac, cut } = self;
        let within = |what: &str, option: &str, number: u8, least: u8, most: u8| {
            if (least..=most).contains(&number) {
                return Ok(());
            }
            let remedy = format!("take {least} to {most} ({option})");
            Err(Fault::new(code::MODEL_FILE, "the numbers", format!("{number} {what}"), remedy))
        };
        within("bits", "--bits", bits, 16, 64)?;
        let (of, most) = (format!("fractional bits of {bits}"), (bits - 8).min(32));
        within(&of, "--frac", frac, 4, most)?;
        // The bits that are cut come below the fractional bits, and two bits remain above them.
        let of = format!("bits to cut of {bits} with {frac} fractional ones");
        within(&of, "--cut", cut, 1, bits - frac - 2)
    }
}

impl Default for Numbers {
    /// The numbers of a 32-bit ring.
    fn default() -> Self {
        Numbers::of(32)
    }
}

/// The names of the members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// The model's owner.
    pub owner: String,
    /// The member who brings the input and learns the output.
    pub client: String,
}

impl Default for Members {
    fn default() -> Self {
        Members { owner: "owner".into(), client: "client".into() }
    }
}
