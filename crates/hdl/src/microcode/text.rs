//! Microcode as a text file that `$readmemh` reads: the head in comment lines, then an instruction
//! of 16 hexadecimal digits a line.
//!
//! ```text
//! // hushwire microcode v1
//! // circuit aes128-expanded-key
//! // digest <64 hexadecimal digits>
//! // common 0
//! // inputs 1408 128
//! // outputs 128
//! // rows in 128 out 128
//! // slots 437
//! // scalars 2049
//! // ands 5120
//! // layers 96 64 …                 the ANDs of each layer
//! // instructions 22900
//! // scalar 1 = one                 every scalar but 0: its common bits, and `one`
//! // scalar 2 = 17 one
//! 6000000000000001
//! …
//! ```

use super::eval::Track;
use super::{Instruction, MAX_SCALARS, MAX_SLOTS, Microcode, MicrocodeError, Opcode, Scalar};
use std::io::{self, BufRead, Read};

const VERSION: &str = "hushwire microcode v1";
/// Refuses a longer line before it fills the memory. Such a line would list a million layers, or a
/// million bits of one scalar.
const MAX_LINE: u64 = 8 << 20;

fn list(numbers: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    numbers.into_iter().map(|n| format!(" {n}")).collect()
}

impl Microcode {
    /// Writes the file.
    ///
    /// # Errors
    /// The error of writing to `out`.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let digest: String = self.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(out, "// {VERSION}")?;
        writeln!(out, "// circuit {}", self.name)?;
        writeln!(out, "// digest {digest}")?;
        writeln!(out, "// common{}", list(&self.common))?;
        writeln!(out, "// inputs{}", list(&self.inputs))?;
        writeln!(out, "// outputs{}", list(&self.outputs))?;
        writeln!(out, "// rows in {} out {}", self.rows_in(), self.rows_out())?;
        writeln!(out, "// slots {}", self.slots)?;
        writeln!(out, "// scalars {}", self.scalars.len())?;
        writeln!(out, "// ands {}", self.ands())?;
        writeln!(out, "// layers{}", list(&self.layer_ands))?;
        writeln!(out, "// instructions {}", self.instructions.len())?;
        for (number, scalar) in self.scalars.iter().enumerate().skip(1) {
            let one = if scalar.one { " one" } else { "" };
            writeln!(out, "// scalar {number} ={}{one}", list(&scalar.bits))?;
        }
        self.words().try_for_each(|word| writeln!(out, "{word:016x}"))
    }

    /// Reads a file and checks all of it.
    ///
    /// # Errors
    /// [`MicrocodeError::Malformed`] with the line, or the error of reading `input`.
    pub fn read(input: impl BufRead) -> Result<Microcode, MicrocodeError> {
        let mut lines = Lines { input, number: 0 };
        if lines.next()?.as_deref() != Some(&format!("// {VERSION}")) {
            return Err(lines.error(format!("expected '// {VERSION}'")));
        }
        let name = lines.value("circuit")?;
        if name.split_whitespace().collect::<Vec<_>>().join(" ") != name {
            return Err(lines.error("a name has single spaces, and none at its ends".into()));
        }
        let digest = digest(&lines.value("digest")?)
            .ok_or_else(|| lines.error("expected 64 hexadecimal digits".into()))?;
        let common = lines.numbers("common")?;
        let common_line = lines.number;
        let inputs = lines.numbers("inputs")?;
        let input_bits = lines.total(&inputs)?;
        if !common.is_sorted_by(|a, b| a < b) || common.last().is_some_and(|i| *i >= inputs.len()) {
            let problem = format!("expected inputs below {}, ascending", inputs.len());
            return Err(MicrocodeError::Malformed { line: common_line, problem });
        }
        let outputs = lines.numbers("outputs")?;
        let rows_out = lines.total(&outputs)?;
        let common_bits: usize = common.iter().map(|i| inputs[*i]).sum();
        let rows_in = input_bits - common_bits;
        lines.exactly("rows", &format!("in {rows_in} out {rows_out}"))?;
        let slots = lines.count("slots", MAX_SLOTS)?;
        let scalar_count = lines.count("scalars", MAX_SCALARS)?;
        let ands = lines.count("ands", usize::MAX)?;
        let layer_ands = lines.numbers("layers")?;
        if lines.total(&layer_ands)? != ands || layer_ands.contains(&0) {
            return Err(lines.error(format!("expected the ANDs of every layer, {ands} in all")));
        }
        let count = lines.count("instructions", usize::MAX)?;
        let mut scalars = vec![Scalar::default()];
        for number in 1..scalar_count {
            let text = lines.value("scalar")?;
            let scalar = scalar(&text, number, common_bits).ok_or_else(|| {
                lines
                    .error(format!("expected '// scalar {number} =' and bits below {common_bits}, ascending"))
            })?;
            scalars.push(scalar);
        }
        let mut body = Body {
            track: Track::new(slots, scalars.len()),
            rows: [0; 2],
            layers: vec![0],
            instructions: vec![],
        };
        while let Some(text) = lines.next()? {
            body.line(&text).map_err(|problem| lines.error(problem))?;
        }
        lines.number += 1;
        let found = (body.instructions.len(), body.rows[0], body.rows[1]);
        // A sync follows every layer with ANDs, so the last layer has none.
        let last = body.layers.pop();
        let whole = body.ended() && last == Some(0) && body.layers == layer_ands;
        if !whole || found != (count, rows_in, rows_out) {
            let problem = format!(
                "the file ends here, with {} instructions, {} rows in and {} out; the head says otherwise",
                found.0, found.1, found.2
            );
            return Err(lines.error(problem));
        }
        let instructions = body.instructions;
        Ok(Microcode { name, digest, inputs, outputs, common, slots, scalars, layer_ands, instructions })
    }
}

/// The instructions read so far.
struct Body {
    track: Track,
    /// The numbers of INs and OUTs.
    rows: [usize; 2],
    /// The number of ANDs between syncs.
    layers: Vec<usize>,
    instructions: Vec<Instruction>,
}

impl Body {
    fn ended(&self) -> bool {
        self.instructions.last().is_some_and(|i| i.op() == Opcode::End)
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let word = hex_digits(text, 16).then(|| u64::from_str_radix(text, 16).ok()).flatten();
        let instruction = word.and_then(Instruction::from_word);
        let instruction =
            instruction.ok_or_else(|| "expected an instruction of 16 hexadecimal digits".to_owned())?;
        if self.ended() {
            return Err("expected nothing after the end of the program".into());
        }
        self.track.step(instruction).map_err(|hazard| hazard.to_string())?;
        if instruction.sync() {
            self.layers.push(0);
        }
        match instruction.op() {
            Opcode::In => self.rows[0] += 1,
            Opcode::Out => self.rows[1] += 1,
            Opcode::And => *self.layers.last_mut().expect("there is a layer") += 1,
            Opcode::Lin | Opcode::End => {}
        }
        self.instructions.push(instruction);
        Ok(())
    }
}

fn hex_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|c| c.is_ascii_hexdigit())
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if !hex_digits(text, 64) {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

/// `NUMBER = BITS… one`
fn scalar(text: &str, number: usize, common_bits: usize) -> Option<Scalar> {
    let mut words = text.split(' ');
    if words.next()? != number.to_string() || words.next()? != "=" {
        return None;
    }
    let mut scalar = Scalar::default();
    for word in words {
        if scalar.one {
            return None;
        }
        if word == "one" {
            scalar.one = true;
        } else {
            scalar.bits.push(word.parse().ok().filter(|bit| (*bit as usize) < common_bits)?);
        }
    }
    scalar.bits.is_sorted_by(|a, b| a < b).then_some(scalar)
}

/// Lines with their numbers.
struct Lines<R> {
    input: R,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    fn error(&self, problem: String) -> MicrocodeError {
        MicrocodeError::Malformed { line: self.number, problem }
    }

    fn next(&mut self) -> Result<Option<String>, MicrocodeError> {
        let mut line = vec![];
        self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if line.len() as u64 == MAX_LINE {
            return Err(self.error(format!("expected a line of less than {MAX_LINE} bytes")));
        }
        let text = String::from_utf8(line).map_err(|_| self.error("expected text".into()))?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    /// The text after `// key` on the next line.
    fn value(&mut self, key: &str) -> Result<String, MicrocodeError> {
        let line = self.next()?;
        let Some(line) = line else {
            self.number += 1;
            return Err(self.error(format!("the file ends where '// {key}' is expected")));
        };
        let value = line.strip_prefix("// ").and_then(|line| line.strip_prefix(key));
        match value.map(|value| value.strip_prefix(' ').unwrap_or(value)) {
            Some(rest) if line.len() == 3 + key.len() || value != Some(rest) => Ok(rest.to_owned()),
            _ => Err(self.error(format!("expected '// {key}'"))),
        }
    }

    fn exactly(&mut self, key: &str, expected: &str) -> Result<(), MicrocodeError> {
        match self.value(key)? == expected {
            true => Ok(()),
            false => Err(self.error(format!("expected '// {key} {expected}'"))),
        }
    }

    fn numbers(&mut self, key: &str) -> Result<Vec<usize>, MicrocodeError> {
        let text = self.value(key)?;
        let numbers = text.split(' ').filter(|word| !word.is_empty()).map(|word| word.parse().ok());
        numbers.collect::<Option<Vec<usize>>>().ok_or_else(|| self.error("expected numbers".into()))
    }

    fn count(&mut self, key: &str, most: usize) -> Result<usize, MicrocodeError> {
        let text = self.value(key)?;
        let count = text.parse().ok().filter(|n| *n <= most);
        count.ok_or_else(|| self.error(format!("expected a number up to {most}")))
    }

    fn total(&self, numbers: &[usize]) -> Result<usize, MicrocodeError> {
        let total = numbers.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        total.ok_or_else(|| self.error("the numbers are too large".into()))
    }
}
