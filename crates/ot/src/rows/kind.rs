//! The kinds of extensions by rows, and their costs.

use crate::{Level, OtError};

/// AGREEMENT: the number of columns of 128 OTs in a full chunk, whose rows fit into the
/// second-level cache.
pub(super) const FULL: usize = 64;
/// AGREEMENT: the number of columns of a shorter chunk is a multiple of this number, so that
/// vectors are full on every tier.
pub(super) const STEP: usize = 4;
/// SECURITY: the number of partners with which a row of ALSZ15 is compared; `pairs` has the
/// argument.
pub(super) const PARTNERS: usize = 4;

/// An extension whose OTs are rows computed from the leaves of trees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowKind {
    /// IKNP 2003 in the form of ALSZ13: semi-honest.
    Iknp,
    /// ALSZ15: malicious, with 192 rows that are compared in pairs.
    Alsz,
    /// KOS15 with the corrected check: malicious.
    Kos,
    /// SoftSpoken with trees of 4 leaves, at both levels.
    SoftSpoken2,
    /// SoftSpoken with trees of 16 leaves, at both levels.
    SoftSpoken4,
    /// SoftSpoken with trees of 256 leaves, at both levels.
    SoftSpoken8,
}

/// The receiver's proof that its rows are consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Proof {
    None,
    Rows,
    Pairs,
}

/// The cost of a kind on the wire, without base OTs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// The number of base OTs; the extension's receiver is their sender.
    pub base_ots: usize,
    /// The number of exchanges in the set-up after the base OTs.
    pub setup_ticks: usize,
    /// The bytes from the receiver in the set-up after the base OTs.
    pub setup_bytes: usize,
    /// The bits from the receiver for each OT of a full chunk.
    pub bits_per_ot: usize,
    /// The bytes of a segment's check, from the sender and from the receiver.
    pub check_bytes: [usize; 2],
}

impl RowKind {
    /// The six kinds.
    pub const ALL: [RowKind; 6] = [
        RowKind::Iknp,
        RowKind::Alsz,
        RowKind::Kos,
        RowKind::SoftSpoken2,
        RowKind::SoftSpoken4,
        RowKind::SoftSpoken8,
    ];

    /// The name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Iknp => "iknp",
            RowKind::Alsz => "alsz",
            RowKind::Kos => "kos",
            RowKind::SoftSpoken2 => "softspoken2",
            RowKind::SoftSpoken4 => "softspoken4",
            RowKind::SoftSpoken8 => "softspoken8",
        }
    }

    /// Checks that the kind exists at this level.
    ///
    /// # Errors
    /// [`OtError::Unsupported`], with the alternatives, if it does not.
    pub fn supports(self, level: Level) -> Result<(), OtError> {
        let (wanted, instead) = match (self, level) {
            (RowKind::Iknp, Level::Malicious) => {
                ("malicious", "kos, alsz, softspoken2, softspoken4, softspoken8")
            }
            (RowKind::Alsz | RowKind::Kos, Level::SemiHonest) => {
                ("semi-honest", "iknp, softspoken2, softspoken4, softspoken8")
            }
            _ => return Ok(()),
        };
        Err(OtError::Unsupported { protocol: self.name().to_owned(), wanted, instead })
    }

    /// The declared cost at this level.
    #[must_use]
    pub fn cost(self, level: Level) -> Cost {
        Cost {
            base_ots: self.base_ots(),
            setup_ticks: usize::from(self.tree_bytes(level) > 0),
            setup_bytes: self.tree_bytes(level),
            bits_per_ot: self.trees() - 1,
            check_bytes: match self.proof(level) {
                Proof::None => [0, 0],
                Proof::Rows => [0, 16 * (self.trees() - 1) + 16 + 16 * self.rows()],
                Proof::Pairs => [16, 16 * (self.trees() - 1) + 64 * self.pairs()],
            },
        }
    }

    /// k: the number of bits of a leaf's number.
    pub(super) fn bits(self) -> usize {
        match self {
            RowKind::Iknp | RowKind::Alsz | RowKind::Kos => 1,
            RowKind::SoftSpoken2 => 2,
            RowKind::SoftSpoken4 => 4,
            RowKind::SoftSpoken8 => 8,
        }
    }

    /// The number of leaves of a tree.
    pub(super) fn leaves(self) -> usize {
        1 << self.bits()
    }

    /// SECURITY: the number of bits of Δ before any compression.
    pub(super) fn rows(self) -> usize {
        if self == RowKind::Alsz { 192 } else { 128 }
    }

    /// The number of trees, including tree 0, which has no leaves if k = 1.
    pub(super) fn trees(self) -> usize {
        self.rows() / self.bits()
    }

    /// The first tree that has leaves: if k = 1, row 0 is the receiver's own.
    pub(super) fn first_tree(self) -> usize {
        usize::from(self.bits() == 1)
    }

    /// The number of base OTs.
    pub(super) fn base_ots(self) -> usize {
        self.rows() - self.first_tree()
    }

    /// The number of pairs of rows that are compared.
    pub(super) fn pairs(self) -> usize {
        PARTNERS * (self.rows() - 1)
    }

    /// The number of blocks that correct a tree's inner levels.
    pub(super) fn corrections(self) -> usize {
        2 * (self.bits() - 1)
    }

    /// The number of bytes of the message that makes the trees.
    pub(super) fn tree_bytes(self, level: Level) -> usize {
        let checked = 32 * usize::from(level == Level::Malicious);
        if self.bits() == 1 { 0 } else { self.trees() * (16 * self.corrections() + checked) + checked }
    }

    /// The proof at the end of a segment.
    pub(super) fn proof(self, level: Level) -> Proof {
        match (level, self) {
            (Level::SemiHonest, _) => Proof::None,
            (Level::Malicious, RowKind::Alsz) => Proof::Pairs,
            (Level::Malicious, _) => Proof::Rows,
        }
    }

    /// The name of the protocol in hashes.
    pub(super) fn domain(self) -> &'static str {
        match self {
            RowKind::Iknp => "rows iknp v1",
            RowKind::Alsz => "rows alsz v1",
            RowKind::Kos => "rows kos v1",
            RowKind::SoftSpoken2 => "rows softspoken2 v1",
            RowKind::SoftSpoken4 => "rows softspoken4 v1",
            RowKind::SoftSpoken8 => "rows softspoken8 v1",
        }
    }
}

impl core::fmt::Display for RowKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
