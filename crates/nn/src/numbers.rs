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
    /// The wider ring of some layers, if there is one: `bits` and `cut` are then those of the
    /// others.
    pub wide: Option<WideRing>,
}

/// A wider ring, and the layers that run in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideRing {
    /// The width of these layers' values, in bits.
    pub bits: u8,
    /// The layers.
    pub layers: WideLayers,
}

/// The layers that run in the wider of two rings. Operators and shapes decide which ones these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideLayers {
    /// Those whose values have a scale that all members know: outputs, functions and their
    /// operands.
    Known,
    /// Also layers with weights that read an input, or add up at least 4,096 products.
    Sums,
}

impl WideLayers {
    /// Both choices, the fewer layers first.
    pub(crate) const ALL: [Self; 2] = [Self::Known, Self::Sums];

    /// The name of a computation of two rings.
    const fn name(self) -> &'static str {
        match self {
            WideLayers::Known => "network_known",
            WideLayers::Sums => "network_sums",
        }
    }
}

impl Numbers {
    /// The numbers of two rings. Inputs and outputs have `frac` fractional bits in both.
    #[must_use]
    pub fn mixed(bits: u8, frac: u8, wide: WideRing) -> Self {
        let cut = Numbers::of(bits).cut.min(bits.saturating_sub(frac + 2));
        Numbers { bits, frac, cut, wide: Some(wide) }
    }

    /// The widths, and the bits that are cut, in words.
    #[must_use]
    pub fn told(self) -> [String; 2] {
        let wide = self.widest();
        let both = |own: u8, more: u8| match self.wide {
            None => own.to_string(),
            Some(_) => format!("{own} and {more}"),
        };
        [both(self.bits, wide.bits), both(self.cut, wide.cut)]
    }

    /// The numbers of the layers in the wider ring.
    #[must_use]
    pub fn widest(self) -> Self {
        let Some(WideRing { bits, .. }) = self.wide else { return self };
        let cut = Numbers::of(bits).cut.min(bits.saturating_sub(self.frac + 2));
        Numbers { bits, frac: self.frac, cut, wide: None }
    }

    /// The numbers of the layers in the narrower ring.
    #[must_use]
    pub fn narrowest(self) -> Self {
        Numbers { wide: None, ..self }
    }

    /// The name of the computation, of which the layers in the wider ring are a part.
    pub(crate) fn name(self) -> String {
        match self.wide {
            None => "network".to_owned(),
            Some(WideRing { bits, layers }) => format!("{}_{}_{bits}", layers.name(), self.bits),
        }
    }

    /// The bits and the wider ring in the name of a computation of two rings.
    fn named(name: &str) -> Option<(u8, WideRing)> {
        let of = |layers: WideLayers| {
            let (narrow, wide) = name.strip_prefix(layers.name())?.strip_prefix('_')?.split_once('_')?;
            Some((narrow.parse().ok()?, WideRing { bits: wide.parse().ok()?, layers }))
        };
        WideLayers::ALL.into_iter().find_map(of)
    }

    /// The usual numbers in a ring of `bits` bits, 16 to 64.
    #[must_use]
    pub fn of(bits: u8) -> Self {
        let frac = (bits / 3).clamp(4, 20);
        Numbers { bits, frac, cut: (bits.saturating_sub(6) / 2).min(24), wide: None }
    }

    /// The usual numbers with this many fractional bits: the same part of the other bits is cut, so
    /// that fewer of them leave fewer to cut.
    #[must_use]
    pub fn with_frac(bits: u8, frac: u8) -> Self {
        let usual = Numbers::of(bits);
        let [others, before, cut] =
            [bits.saturating_sub(frac), bits.saturating_sub(usual.frac), usual.cut].map(u32::from);
        let cut = (others * cut / before.max(1)).clamp(1, 24) as u8;
        Numbers { bits, frac, cut, wide: None }
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
        if let Some((bits, wide)) = Numbers::named(computation.name()) {
            let numbers = Numbers::mixed(bits, frac, wide);
            numbers.check().map_err(|e| e.coded(code::MODEL))?;
            return Ok(numbers);
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
        let Numbers { bits, frac, cut, wide } = self;
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
        within(&of, "--cut", cut, 1, bits - frac - 2)?;
        let Some(WideRing { bits: more, .. }) = wide else { return Ok(()) };
        within("bits of the wider ring", "--bits", more, bits + 1, 64)?;
        self.widest().check()
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
