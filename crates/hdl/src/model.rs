//! A device in software: the other end of the socket, for tests and for comparison with simulated
//! hardware.
//!
//! It runs the microcode as the hardware does: one instruction after the other, on all words of a
//! plane at once. It waits where the hardware waits: at `sync`, until the products of the context
//! have arrived. It does not model cycles: its statistics count instructions.
//!
//! ```text
//! instruction  [63:61] op: 0 END 1 LIN 2 AND 3 IN 4 OUT
//!              [60] sync │ [59] use_a │ [58] use_b │ [57:56] 0
//!              [55:40] scalar │ [39] 0 │ [38:26] a │ [25:13] b │ [12:0] d
//! AND          z = x·y ⊕ x·y' ⊕ x'·y ⊕ F_own(ctr) ⊕ F_prev(ctr) to the left; z' comes from the
//!              right
//! counter      the batch's first one, plus W for every AND before, plus the word
//! ```
//!
//! Indices come from the engine, which is this party's own: a wrong index ends the model with a
//! message.

use crate::Hello;
use crate::frame::header;
use hushwire_aes::{Aes128, Backend};
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
};

/// The planes of both shares of one wire, own and next.
type Wire = [Vec<u8>; 2];

/// The program, keys and shares that the engine has loaded.
struct Loaded {
    backend: Backend,
    keys: [Aes128; 2],
    code: Vec<u64>,
    scalars: Vec<[bool; 2]>,
    rows: [usize; 2],
    plane: usize,
}

/// A batch in progress.
struct ModelBatch {
    counter: u128,
    rows: VecDeque<Wire>,
    output: Vec<u8>,
    slots: Vec<Wire>,
    /// The index of the next instruction.
    at: usize,
    /// The products whose other half has not arrived: their slots and this party's halves.
    flying: VecDeque<(usize, Vec<u8>)>,
    arrived: VecDeque<u8>,
}

/// Serves one engine until it closes the stream.
///
/// # Errors
/// The stream's error, or an error after the engine sent an invalid frame and was told so.
pub fn serve(mut stream: impl Read + Write, hello: Hello) -> io::Result<()> {
    send(&mut stream, b'H', 0, &hello.to_bytes())?;
    let mut model = Model { hello, ..Model::default() };
    loop {
        let mut head = [0; 8];
        match stream.read_exact(&mut head) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let mut payload = vec![0; u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize];
        stream.read_exact(&mut payload)?;
        match model.hear(head[0], usize::from(head[1]), &payload) {
            Some(answers) => {
                for (kind, bytes) in answers {
                    send(&mut stream, kind, head[1], &bytes)?;
                }
            }
            None => {
                let text = format!(
                    "frame '{}' of {} bytes makes no sense now",
                    head[0].escape_ascii(),
                    payload.len()
                );
                send(&mut stream, b'X', 0, text.as_bytes())?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
    }
}

fn send(stream: &mut impl Write, kind: u8, context: u8, payload: &[u8]) -> io::Result<()> {
    let header = header(kind, context, payload.len()).map_err(io::Error::other)?;
    stream.write_all(&header)?;
    stream.write_all(payload)
}

#[derive(Default)]
struct Model {
    hello: Hello,
    keys: Option<[Aes128; 2]>,
    code: Vec<u64>,
    scalars: Vec<[bool; 2]>,
    loaded: Option<Loaded>,
    batches: Vec<Option<ModelBatch>>,
    done: [u64; 2],
}

impl Model {
    /// The answers to a frame; `None` if the frame is invalid.
    fn hear(&mut self, kind: u8, context: usize, payload: &[u8]) -> Option<Vec<(u8, Vec<u8>)>> {
        match kind {
            b'K' => {
                let (&[own, prev], []) = payload.as_chunks::<16>() else { return None };
                self.keys = Some([own, prev].map(|key| Aes128::new(&key)));
            }
            b'M' => {
                let words = payload.as_chunks::<8>().0.iter();
                self.code = words.map(|word| u64::from_le_bytes(*word)).collect();
            }
            b'S' => self.scalars = payload.iter().map(|s| [s & 1 == 1, s >> 1 & 1 == 1]).collect(),
            b'P' => {
                let (&[rows_in, rows_out], []) = payload.as_chunks::<4>() else { return None };
                let rows = [rows_in, rows_out].map(|n| u32::from_le_bytes(n) as usize);
                let (code, scalars) = (std::mem::take(&mut self.code), std::mem::take(&mut self.scalars));
                let (keys, plane) = (self.keys.take()?, self.hello.plane_bytes());
                self.loaded = Some(Loaded { backend: Backend::best(), keys, code, scalars, rows, plane });
                self.batches.resize_with(self.hello.contexts, || None);
            }
            b'J' => {
                let (loaded, batch) = (self.loaded.as_ref()?, self.batches.get_mut(context)?);
                let (counter, rows) = payload.split_first_chunk::<16>()?;
                if batch.is_some() || rows.len() != 2 * loaded.plane * loaded.rows[0] {
                    return None;
                }
                let wire = |row: &[u8]| [row[..loaded.plane].to_vec(), row[loaded.plane..].to_vec()];
                *batch = Some(ModelBatch {
                    counter: u128::from_le_bytes(*counter),
                    rows: rows.chunks_exact(2 * loaded.plane).map(wire).collect(),
                    output: vec![],
                    slots: vec![[vec![0; loaded.plane], vec![0; loaded.plane]]; self.hello.slots],
                    at: 0,
                    flying: VecDeque::new(),
                    arrived: VecDeque::new(),
                });
                return self.go_on(context);
            }
            b'R' => {
                self.batches.get_mut(context)?.as_mut()?.arrived.extend(payload);
                return self.go_on(context);
            }
            b'Z' if payload.is_empty() => {
                return Some(vec![(b'Z', self.done.iter().flat_map(|n| n.to_le_bytes()).collect())]);
            }
            _ => return None,
        }
        Some(vec![])
    }

    fn go_on(&mut self, context: usize) -> Option<Vec<(u8, Vec<u8>)>> {
        let (loaded, batch) = (self.loaded.as_ref()?, self.batches[context].as_mut()?);
        let (sent, ended) = batch.run(loaded, self.hello.words(), &mut self.done)?;
        let mut answers = if sent.is_empty() { vec![] } else { vec![(b'T', sent)] };
        if ended {
            answers.push((b'O', std::mem::take(&mut batch.output)));
            self.batches[context] = None;
        }
        Some(answers)
    }
}

impl ModelBatch {
    /// Runs until products must arrive, or to the end. Returns the bytes for the left neighbour,
    /// and whether the program has ended.
    fn run(&mut self, loaded: &Loaded, words: usize, done: &mut [u64; 2]) -> Option<(Vec<u8>, bool)> {
        let mut sent = vec![];
        loop {
            let word = *loaded.code.get(self.at)?;
            let field = |low: u32, bits: u32| (word >> low) as usize & ((1 << bits) - 1);
            let (op, a, b, d) = (field(61, 3), field(26, 13), field(13, 13), field(0, 13));
            // The end also waits for products, so that no bytes of the right neighbour are left
            // over.
            if field(60, 1) == 1 || op == 0 {
                self.land(loaded.plane)?;
                if !self.flying.is_empty() {
                    return Some((sent, false));
                }
            }
            let scalar = *loaded.scalars.get(field(40, 16))?;
            let value = |slots: &[Wire]| -> Option<Wire> {
                let mut value = scalar.map(|bit| vec![0u8.wrapping_sub(u8::from(bit)); loaded.plane]);
                for (used, slot) in [(field(59, 1), a), (field(58, 1), b)] {
                    if used == 1 {
                        for (sum, share) in value.iter_mut().zip(slots.get(slot)?) {
                            sum.iter_mut().zip(share).for_each(|(x, y)| *x ^= y);
                        }
                    }
                }
                Some(value)
            };
            match op {
                0 => return (self.output.len() == 2 * loaded.plane * loaded.rows[1]).then_some((sent, true)),
                1 => *self.slots.get_mut(d)? = value(&self.slots)?,
                2 => {
                    let ([x, x_next], [y, y_next]) = (self.slots.get(a)?, self.slots.get(b)?);
                    let mut z = vec![0; loaded.plane];
                    loaded.backend.counter_xor2(&loaded.keys[0], &loaded.keys[1], self.counter, &mut z);
                    for (k, z) in z.iter_mut().enumerate() {
                        *z ^= x[k] & y[k] ^ x[k] & y_next[k] ^ x_next[k] & y[k];
                    }
                    self.counter += words as u128;
                    sent.extend_from_slice(&z);
                    self.flying.push_back((d, z));
                    done[1] += 1;
                }
                3 => *self.slots.get_mut(d)? = self.rows.pop_front()?,
                4 => value(&self.slots)?.iter().for_each(|share| self.output.extend_from_slice(share)),
                _ => return None,
            }
            self.at += 1;
            done[0] += 1;
        }
    }

    /// Writes products that have arrived to their slots.
    fn land(&mut self, plane: usize) -> Option<()> {
        while !self.flying.is_empty() && self.arrived.len() >= plane {
            let (slot, own) = self.flying.pop_front()?;
            *self.slots.get_mut(slot)? = [own, self.arrived.drain(..plane).collect()];
        }
        Some(())
    }
}
