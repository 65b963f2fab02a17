//! Protocol buffers on the wire: fields borrowed from bytes, and bytes written field by field.

use crate::Fault;
use hushwire_fault::code;

/// One field's value.
pub(super) enum ProtoField<'a> {
    Varint(u64),
    /// Four bytes, little-endian.
    Four([u8; 4]),
    /// Eight bytes, little-endian.
    Eight([u8; 8]),
    Bytes(&'a [u8]),
}

/// The fields of a message, one after the other.
pub(super) struct Fields<'a>(&'a [u8]);

fn broken(cause: &str) -> Fault {
    Fault::filled(code::ONNX, &[("cause", &cause)]).at("the model's file")
}

/// Reads a number of at most ten bytes and 64 bits; returns it with the following bytes.
fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let mut number = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        let part = u64::from(byte & 0x7f);
        if i == 9 && *byte > 1 {
            return Err(broken("a number has more than 64 bits"));
        }
        number |= part << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((number, bytes.get(i + 1..).unwrap_or_default()));
        }
    }
    Err(broken("it ends within a number"))
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Fields(bytes)
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self
            .0
            .split_at_checked(n)
            .ok_or_else(|| broken("a field says that it is longer than the file"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.take(N)?.try_into().map_err(|_| broken("it ends within a number"))
    }

    /// The next field with its number; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, ProtoField<'a>)>, Fault> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (key, rest) = varint(self.0)?;
        self.0 = rest;
        let value = match key & 7 {
            0 => {
                let (number, rest) = varint(self.0)?;
                self.0 = rest;
                ProtoField::Varint(number)
            }
            1 => ProtoField::Eight(self.fixed()?),
            2 => {
                let (n, rest) = varint(self.0)?;
                self.0 = rest;
                let n =
                    usize::try_from(n).map_err(|_| broken("a field says that it is longer than the file"))?;
                ProtoField::Bytes(self.take(n)?)
            }
            5 => ProtoField::Four(self.fixed()?),
            _ => return Err(broken("a field is of no kind that protocol buffers have today")),
        };
        Ok(Some((key >> 3, value)))
    }
}

impl<'a> ProtoField<'a> {
    pub(super) fn bytes(&self) -> Result<&'a [u8], Fault> {
        match self {
            ProtoField::Bytes(bytes) => Ok(bytes),
            _ => Err(broken("a number stands where a message belongs")),
        }
    }

    pub(super) fn text(&self) -> Result<String, Fault> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| broken("a name is not UTF-8"))?;
        Ok(text.to_owned())
    }

    pub(super) fn int(&self) -> Result<i64, Fault> {
        match self {
            ProtoField::Varint(n) => Ok(n.cast_signed()),
            _ => Err(broken("something else stands where an integer belongs")),
        }
    }

    pub(super) fn float(&self) -> Result<f32, Fault> {
        match self {
            ProtoField::Four(bytes) => Ok(f32::from_le_bytes(*bytes)),
            _ => Err(broken("something else stands where a number belongs")),
        }
    }

    /// Integers, packed or a single one.
    pub(super) fn ints(&self, to: &mut Vec<i64>) -> Result<(), Fault> {
        match self {
            ProtoField::Varint(n) => to.push(n.cast_signed()),
            ProtoField::Bytes(bytes) => {
                let mut bytes = *bytes;
                while !bytes.is_empty() {
                    let (n, rest) = varint(bytes)?;
                    to.push(n.cast_signed());
                    bytes = rest;
                }
            }
            _ => return Err(broken("something else stands where integers belong")),
        }
        Ok(())
    }

    /// 32-bit numbers, packed or a single one.
    pub(super) fn floats(&self, to: &mut Vec<f32>) -> Result<(), Fault> {
        match self {
            ProtoField::Four(bytes) => to.push(f32::from_le_bytes(*bytes)),
            ProtoField::Bytes(bytes) => {
                let (whole, rest) = bytes.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(broken("it ends within a number"));
                }
                to.extend(whole.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            _ => return Err(broken("something else stands where numbers belong")),
        }
        Ok(())
    }

    /// 64-bit numbers, packed or a single one.
    pub(super) fn doubles(&self, to: &mut Vec<f32>) -> Result<(), Fault> {
        match self {
            ProtoField::Eight(bytes) => to.push(f64::from_le_bytes(*bytes) as f32),
            ProtoField::Bytes(bytes) => {
                let (whole, rest) = bytes.as_chunks::<8>();
                if !rest.is_empty() {
                    return Err(broken("it ends within a number"));
                }
                to.extend(whole.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32));
            }
            _ => return Err(broken("something else stands where numbers belong")),
        }
        Ok(())
    }
}

/// A message under construction.
#[derive(Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    pub(super) fn int(&mut self, field: u64, n: i64) {
        self.varint(field << 3);
        self.varint(n.cast_unsigned());
    }

    pub(super) fn float(&mut self, field: u64, x: f32) {
        self.varint(field << 3 | 5);
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}
