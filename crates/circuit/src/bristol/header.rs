//! Reads the lines before the gates and tells the format.

use super::{
    Format, ReadError,
    read::{FileLine, Lines},
};
use std::io::BufRead;

pub(super) struct Header {
    /// The number of lines of gates.
    pub(super) gates: u32,
    pub(super) wires: u32,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    pub(super) format: Format,
    /// The number of the line that gives the number of wires.
    pub(super) line: u64,
}

const COUNTS: &str = "the number of gates and the number of wires, both below 2^32";
const INPUTS: &str = "the number of inputs and the width of each, as in `2 128 128`";
const OUTPUTS: &str = "the number of outputs and the width of each, as in `1 128`";
const WIDTHS: &str = "the widths of two inputs and of the output, as in `128 128 128`";

impl Header {
    /// Reads the header. Also returns the first gate's line if it had to be read to tell the
    /// format.
    pub(super) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<(Header, Option<FileLine>), ReadError> {
        let first = lines.next()?.ok_or_else(|| lines.ended(COUNTS.into()))?;
        let counts = first.numbers().and_then(|n| <[u32; 2]>::try_from(n).ok());
        let [gates, wires] = counts.ok_or_else(|| first.error(COUNTS))?;
        let second = lines.next()?.ok_or_else(|| lines.ended(INPUTS.into()))?;
        let widths = second.numbers().ok_or_else(|| second.error(INPUTS))?;
        // In Bristol Fashion a second line of numbers follows, in the older format a gate or
        // nothing.
        let third = lines.next()?;
        let outputs = third.as_ref().and_then(FileLine::numbers);
        let (inputs, outputs, rest, format) = match (third, outputs) {
            (Some(third), Some(outputs)) => {
                let inputs = counted(&widths).ok_or_else(|| second.error(INPUTS))?;
                let outputs = counted(&outputs).ok_or_else(|| third.error(OUTPUTS))?;
                fits(&third, "outputs", &outputs, wires)?;
                (inputs, outputs, None, Format::Fashion)
            }
            (third, _) => match widths[..] {
                [a, b, out] => (vec![a as usize, b as usize], vec![out as usize], third, Format::Old),
                // This line fits Bristol Fashion, so the next one is missing.
                _ if counted(&widths).is_some() => {
                    let error = third.map_or_else(|| lines.ended(OUTPUTS.into()), |l| l.error(OUTPUTS));
                    return Err(error.into());
                }
                _ => return Err(second.error(format!("{WIDTHS}, or {INPUTS}")).into()),
            },
        };
        fits(&second, "inputs", &inputs, wires)?;
        if format == Format::Old {
            fits(&second, "outputs", &outputs, wires)?;
        }
        Ok((Header { gates, wires, inputs, outputs, format, line: first.number }, rest))
    }
}

/// Widths, if the first number counts the others.
fn counted(numbers: &[u32]) -> Option<Vec<usize>> {
    let (count, widths) = numbers.split_first()?;
    (*count as usize == widths.len()).then(|| widths.iter().map(|w| *w as usize).collect())
}

/// Checks that the widths fit the wires, so that sums of widths do not overflow.
fn fits(line: &FileLine, what: &str, widths: &[usize], wires: u32) -> Result<(), ReadError> {
    let bits = widths.iter().fold(0u64, |sum, w| sum.saturating_add(*w as u64));
    if bits <= u64::from(wires) {
        return Ok(());
    }
    let found = format!("{what} of {bits} bits");
    Err(line.error_at(found, format!("at most {wires} bits, as there are {wires} wires")).into())
}
