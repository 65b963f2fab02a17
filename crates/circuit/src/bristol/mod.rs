//! Reads and writes Bristol Fashion and the older Bristol Format.
//!
//! ```text
//! Bristol Fashion                       Bristol Format
//! GATES WIRES                           GATES WIRES
//! INPUTS WIDTH …                        WIDTH WIDTH   WIDTH      two inputs, one output
//! OUTPUTS WIDTH …
//!
//! 2 1 A B OUT XOR|AND                   2 1 A B OUT XOR|AND
//! 1 1 A OUT INV|EQW                     1 1 A OUT INV
//! 1 1 0|1 OUT EQ
//! 2K K A… B… OUT… MAND
//! ```
//!
//! The writer uses only these gates. The reader takes all of them in both formats, in letters of
//! either case. It also takes gates that files of other tools have: OR, NAND, NOR, XNOR, NOT for
//! INV and BUF for EQW.
//!
//! Source: "'Bristol Fashion' MPC circuits" and "Circuits of basic functions suitable for MPC and
//! FHE" (S. Tillich, N. Smart), the pages that publish the files. Inputs have the first wires,
//! outputs the last.
//!
//! A reader takes files from strangers: see [`read`] for its limits.

mod gate;
mod header;
mod lower;
mod read;
mod write;

pub use read::{BristolError, MAX_LINE, ReadError, read};
pub use write::{WriteError, write};

/// One of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Any number of inputs and outputs.
    Fashion,
    /// The older format: two inputs, of which the second may have width 0, and one output.
    Old,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Format::Fashion => "Bristol Fashion",
            Format::Old => "Bristol Format",
        })
    }
}
