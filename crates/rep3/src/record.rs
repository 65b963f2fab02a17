//! The interface through which a verifier sees the factors and masks of every multiplication.

/// Receives, for each layer, the randomness of its message, the inputs of its local products, and
/// the message sent.
///
/// With `x·y` shared as in the crate's notation, the party's message is `own = x_l·y_l + x_l·y_r +
/// x_r·y_l + α` (projected to a nibble where the scheme packs two). A distributed proof needs
/// exactly this. The + is the addition of the factors' ring, on words that of Z_2^k. Calls come in
/// layer order. Within a layer they are `randomness`, then all `product`s, then `message`; or
/// `opening`, then `message`.
pub trait Record: Send {
    /// The zero-shares α that mask the whole message of `layer`.
    fn randomness(&mut self, layer: usize, mask: &[u8]);
    /// The shares (left, right) of the factors of one batch of local products. Their result lies at
    /// `place`.
    fn product(&mut self, layer: usize, place: Place, x: [&[u8]; 2], y: [&[u8]; 2]);
    /// Called in place of `randomness` and `product`: `layer` opens a value. This party holds these
    /// shares (own, next) of it, and sends the second.
    fn opening(&mut self, layer: usize, shares: [&[u8]; 2]);
    /// The masked message of `layer`, as sent.
    fn message(&mut self, layer: usize, message: &[u8]);
}

/// The place of a batch's products in a layer's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The byte of the message where the first product lies.
    pub offset: usize,
    /// The bytes, or the part of a byte, that one product takes.
    pub unit: Unit,
}

/// The size of one product, and its position in its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole byte: an element of GF(2^8).
    Byte,
    /// Bits 0…3: an element of GF(2^4), embedded in GF(2^8) in `product`'s factors.
    LowNibble,
    /// Bits 4…7, with factors as for `LowNibble`.
    HighNibble,
    /// Words of `bytes` bytes, little-endian: elements of Z_2^(8 · bytes), one product each.
    Words {
        /// Bytes of a word.
        bytes: u8,
    },
    /// One such word, which is the sum of the products of all words of the factors.
    Sum {
        /// Bytes of a word.
        bytes: u8,
    },
    /// Eight elements of GF(2), one bit each.
    Bits,
    /// `bits` elements of GF(2), fewer than eight, the lowest ones of the factors' byte. They lie
    /// without gaps from bit `first` of the byte on, and may continue in the next byte.
    FewBits {
        /// The first bit.
        first: u8,
        /// The number of bits.
        bits: u8,
    },
}
