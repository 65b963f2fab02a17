//! The S-boxes: names, layers, message lengths.

use crate::boolean::{ONE_HOT, circuit};

/// The protocol that computes the S-box. Each variant's bits are those that a party sends for one
/// S-box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sbox {
    /// GF(2^4) tower: 20 bits, 4 rounds. Runs with GFNI on natural bytes, and bit-sliced elsewhere.
    Tower,
    /// x^254 in GF(2^8): 32 bits, 3 rounds.
    Gf256,
    /// Boyar–Peralta's 32 ANDs: 32 bits, 6 rounds.
    Bp32,
    /// Boyar–Peralta's 34 ANDs in four layers: 34 bits, 4 rounds.
    Depth4,
    /// The characteristic vector of a random byte is prepared (247 bits). Then the table is looked
    /// up at the opened difference from that byte: 8 bits, 1 round.
    Lut256,
}

impl Sbox {
    /// Every S-box.
    pub const ALL: [Sbox; 5] = [Sbox::Tower, Sbox::Gf256, Sbox::Bp32, Sbox::Depth4, Sbox::Lut256];

    /// The name on the command line, in reports and in session parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Sbox::Tower => "tower",
            Sbox::Gf256 => "gf256",
            Sbox::Bp32 => "bp32",
            Sbox::Depth4 => "depth4",
            Sbox::Lut256 => "lut256",
        }
    }

    /// The rounds of one S-box layer.
    #[must_use]
    pub const fn rounds(self) -> usize {
        match self {
            Sbox::Tower | Sbox::Depth4 => 4,
            Sbox::Gf256 => 3,
            Sbox::Bp32 => 6,
            Sbox::Lut256 => 1,
        }
    }

    /// The rounds of preparing a batch, once for all of its S-box layers, before its inputs are
    /// needed.
    #[must_use]
    pub const fn prepared_rounds(self) -> usize {
        match self {
            Sbox::Lut256 => 3,
            _ => 0,
        }
    }

    /// The bits that each party sends for one S-box, preparation included.
    #[must_use]
    pub const fn bits(self) -> u64 {
        match self {
            Sbox::Tower => 20,
            Sbox::Gf256 | Sbox::Bp32 => 32,
            Sbox::Depth4 => 34,
            Sbox::Lut256 => 247 + 8,
        }
    }

    /// The bytes of round `k`'s message for `n` S-boxes, where `n` is a multiple of 8.
    pub(crate) fn message_bytes(self, k: usize, n: usize) -> usize {
        match (self, k) {
            (Sbox::Tower, 0..=2) => n / 2,
            (Sbox::Gf256, 1) => 2 * n,
            _ => circuit(self).map_or(n, |c| c.layers()[k].ands.len() * (n / 8)),
        }
    }

    /// The bytes of the message of preparation round `k` for `times` S-box layers of `n` S-boxes.
    pub(crate) fn prepared_bytes(self, k: usize, n: usize, times: usize) -> usize {
        assert!(self == Sbox::Lut256, "only lut256 prepares");
        times * ONE_HOT.layers()[k].ands.len() * (n / 8)
    }

    /// The lengths of all messages of `times` S-box layers of `n` S-boxes, in order.
    pub(crate) fn messages(self, n: usize, times: usize) -> impl Iterator<Item = usize> {
        let prepared = (0..self.prepared_rounds()).map(move |k| self.prepared_bytes(k, n, times));
        prepared.chain((0..times * self.rounds()).map(move |k| self.message_bytes(k % self.rounds(), n)))
    }

    pub(crate) fn step_name(self, k: usize) -> &'static str {
        match self {
            Sbox::Tower => ["tower norm", "tower v^6", "tower v^14", "tower inverse"][k],
            Sbox::Gf256 => ["gf256 x^3", "gf256 x^15", "gf256 x^254"][k],
            Sbox::Bp32 | Sbox::Depth4 => [
                "S-box layer 1",
                "S-box layer 2",
                "S-box layer 3",
                "S-box layer 4",
                "S-box layer 5",
                "S-box layer 6",
            ][k],
            Sbox::Lut256 => "lut256 opening",
        }
    }
}

/// The kind of a layer in a batch of S-box layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Round `.0` of the preparation.
    Prepare(usize),
    /// Round `.1` of S-box layer `.0`.
    Sbox(usize, usize),
}

impl Sbox {
    /// The kind of layer `layer` of a batch.
    pub(crate) fn turn(self, layer: usize) -> Turn {
        match layer.checked_sub(self.prepared_rounds()) {
            None => Turn::Prepare(layer),
            Some(k) => Turn::Sbox(k / self.rounds(), k % self.rounds()),
        }
    }

    /// The step's name, for [`hushwire_machine::drive::Round`].
    pub(crate) fn name_of(self, layer: usize) -> &'static str {
        match self.turn(layer) {
            Turn::Prepare(_) => "lut256 characteristic vectors",
            Turn::Sbox(_, k) => self.step_name(k),
        }
    }
}

impl std::fmt::Display for Sbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Sbox {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names: Vec<&str> = Sbox::ALL.iter().map(|b| b.name()).collect();
        Sbox::ALL
            .into_iter()
            .find(|b| b.name() == s)
            .ok_or_else(|| format!("no S-box is called '{s}'; choose one of {}", names.join(", ")))
    }
}
