//! Garbled tables as one stream of bytes in the order of gates.

use crate::GarbleError;
use hushwire_block::Buffer;
use hushwire_wire::Channel;

/// AGREEMENT: bytes of the next message of tables, when so many were sent. Short ones at first, so that the evaluator is
/// at work early in a small circuit; long ones in a stream, for which they are a tenth faster.
const fn message(sent: u64) -> usize {
    if sent < 1 << 20 { 1 << 16 } else { 1 << 19 }
}

/// A stream of tables, one way: a garbler fills what it is given, an evaluator reads it.
pub trait Tables {
    /// The next `len` bytes; those given before are done with.
    ///
    /// # Errors
    /// The channel failed, or no more bytes are there.
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError>;
}

/// Tables in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    at: usize,
    grows: bool,
}

impl Memory {
    /// Empty, and grows: for a garbler.
    #[must_use]
    pub fn new() -> Self {
        Memory { grows: true, ..Memory::default() }
    }

    /// A garbler's tables, for an evaluator to read from the front.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Memory { bytes, at: 0, grows: false }
    }

    /// Starts again at the first byte, and keeps the room: what is read then is what was written before.
    pub fn rewind(&mut self, grows: bool) {
        self.at = 0;
        self.grows = grows;
    }

    /// The bytes written or read so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.at]
    }
}

impl Tables for Memory {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        let left = self.bytes.len() - self.at;
        if left < len {
            if !self.grows {
                return Err(GarbleError::Short { wanted: len, left });
            }
            self.bytes.resize(self.at + len, 0);
        }
        self.at += len;
        Ok(&mut self.bytes[self.at - len..self.at])
    }
}

/// A garbler's tables, sent as they are made. Memory stays constant.
pub struct Send<'c> {
    channel: &'c mut Channel,
    buffer: &'c mut Buffer,
    filled: usize,
    sent: u64,
}

/// The name of the step in errors.
const STEP: &str = "garbled tables";

impl<'c> Send<'c> {
    /// Over this channel; `buffer` is kept by the caller from run to run.
    pub fn new(channel: &'c mut Channel, buffer: &'c mut Buffer) -> Self {
        Send { channel, buffer, filled: 0, sent: 0 }
    }

    /// Sends whole messages.
    fn send_full(&mut self) -> Result<(), GarbleError> {
        let mut from = 0;
        while self.filled - from >= message(self.sent) {
            let bytes = message(self.sent);
            self.channel.send(STEP, &self.buffer[from..from + bytes])?;
            from += bytes;
            self.sent += bytes as u64;
        }
        if from > 0 {
            self.buffer.copy_within(from..self.filled, 0);
            self.filled -= from;
        }
        Ok(())
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// The channel failed.
    pub fn finish(mut self) -> Result<(), GarbleError> {
        self.send_full()?;
        if self.filled > 0 {
            self.channel.send(STEP, &self.buffer[..self.filled])?;
        }
        Ok(())
    }
}

impl Tables for Send<'_> {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        self.send_full()?;
        self.buffer.reserve_len(self.filled + len);
        self.filled += len;
        Ok(&mut self.buffer[self.filled - len..self.filled])
    }
}

/// An evaluator's tables, received as they are needed, in the messages in which they are sent. Memory stays constant.
pub struct Receive<'c> {
    channel: &'c mut Channel,
    buffer: &'c mut Buffer,
    /// The start and the end of the unused bytes.
    used: usize,
    filled: usize,
    /// Bytes that have come, and that have not.
    came: u64,
    left: u64,
}

impl<'c> Receive<'c> {
    /// `total` bytes over this channel, as the circuit says; `buffer` is kept by the caller from run to run.
    pub fn new(channel: &'c mut Channel, buffer: &'c mut Buffer, total: u64) -> Self {
        Receive { channel, buffer, used: 0, filled: 0, came: 0, left: total }
    }
}

impl Tables for Receive<'_> {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        let have = self.filled - self.used;
        if have < len && self.left < (len - have) as u64 {
            return Err(GarbleError::Short { wanted: len, left: have + self.left as usize });
        }
        while self.filled - self.used < len {
            self.buffer.copy_within(self.used..self.filled, 0);
            (self.used, self.filled) = (0, self.filled - self.used);
            let bytes = self.left.min(message(self.came) as u64) as usize;
            self.buffer.reserve_len(self.filled + bytes);
            self.channel.recv(STEP, &mut self.buffer[self.filled..self.filled + bytes])?;
            self.filled += bytes;
            self.came += bytes as u64;
            self.left -= bytes as u64;
        }
        self.used += len;
        Ok(&mut self.buffer[self.used - len..self.used])
    }
}
