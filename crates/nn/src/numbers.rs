//! The ring of a network's numbers, and the names of those who take part: what all members know.

use crate::Fault;
use hushwire_compute::{Computation, Scalar};
use hushwire_fault::code;

/// The name of the client's input.
pub const INPUT: &str = "input";

/// The ring and its numbers: what all members know of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Bits of every value.
    pub bits: u8,
    /// Fractional bits of inputs, outputs, and operands of sigmoids and such.
    pub frac: u8,
    /// Bits that go behind each layer with weights.
    pub cut: u8,
}

impl Numbers {
    /// Numbers of so many bits, 16 to 64, divided as networks want them.
    #[must_use]
    pub fn of(bits: u8) -> Self {
        let frac = (bits / 3).clamp(4, 20);
        Numbers { bits, frac, cut: (bits.saturating_sub(6) / 2).min(24) }
    }

    /// The same with so many fractional bits: of the others as large a part is cut, so that fewer of them leave fewer to cut.
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
    /// The computation is no network's, as one with several outputs.
    pub fn of_computation(computation: &Computation) -> Result<Self, Fault> {
        let (mut input, mut cut) = (None, None);
        for (name, ty) in computation.inputs() {
            match ty.scalar {
                Scalar::Fixed { bits, frac } if name == INPUT => input = Some((bits, frac)),
                Scalar::Fixed { frac, .. } if name.starts_with("weights") => cut = Some(frac),
                _ => {}
            }
        }
        let remedy = "write it with `hushwire model plan`";
        let (bits, frac) = input
            .ok_or_else(|| Fault::new(code::MODEL, "the network", "it has no fixed-point input", remedy))?;
        let names: Vec<&str> = computation.outputs().iter().map(|output| output.name.as_str()).collect();
        if names.len() != 1 {
            let cause = format!("it has {} outputs: {}", names.len(), names.join(", "));
            return Err(Fault::new(code::MODEL, "the network", cause, remedy));
        }
        let usual = Numbers::with_frac(bits, frac);
        let numbers = Numbers { cut: cut.unwrap_or(usual.cut), ..usual };
        numbers.check().map_err(|e| e.coded(code::MODEL))?;
        Ok(numbers)
    }

    /// Looks whether the numbers are ones that networks can have.
    ///
    /// # Errors
    /// One of them is out of its bounds, which the error names.
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
        // The part that is cut stands behind the fractional bits, and two bits stand before them.
        let of = format!("bits to cut of {bits} with {frac} fractional ones");
        within(&of, "--cut", cut, 1, bits - frac - 2)
    }
}

impl Default for Numbers {
    /// In a ring of 32 bits.
    fn default() -> Self {
        Numbers::of(32)
    }
}

/// The names of those who take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// The model's owner.
    pub owner: String,
    /// The one who brings the input and learns the output.
    pub client: String,
}

impl Default for Members {
    fn default() -> Self {
        Members { owner: "owner".into(), client: "client".into() }
    }
}
