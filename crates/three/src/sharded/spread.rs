//! The exchanges between shards for each primitive. Every match names all primitives, so that a new
//! one without a rule does not compile.

use crate::prim::{OwnLocal, OwnTalk, Three};
use hushwire_plan::{Axis, Local, Picks, Prim, Reorder, Talk};

/// The way in which a step runs on the shards of a party.
#[derive(Clone, Copy)]
pub(crate) enum Spread<'p> {
    /// All parties know the value. Every shard computes all of it.
    Known,
    /// Each shard computes its rows from the same rows of the operands.
    Rows,
    /// As [`Self::Rows`], and the opened values go to all shards.
    Opens,
    /// Elements move between shards, to known places.
    Moves(&'p Picks),
    /// Rows at known places. The places are the second operand.
    Gathers {
        /// The number of rows.
        rows: usize,
        /// The elements of a row.
        inner: usize,
    },
    /// Sums of each shard's elements, then of the shards' sums.
    Sums {
        /// The axis.
        axis: Axis,
        /// Whether the sum up to each element is computed.
        prefix: bool,
    },
    /// Numbers that depend on the flags before a row. The shards exchange totals.
    Counts(&'p OwnLocal),
    /// An order, which every shard inverts for itself.
    Order,
    /// An order of the rows of all shards, or rows that it permutes. All shards run one machine
    /// together.
    Across,
    /// All rows run on shard 0. They are collected there, and then distributed again.
    First,
}

impl<'p> Spread<'p> {
    pub(crate) fn of(prim: &'p Prim<Three>) -> Self {
        match prim {
            Prim::Local(local) => Spread::of_local(local),
            Prim::Talk(talk) => Spread::of_talk(talk),
        }
    }

    /// Whether it runs in a wave on every shard's own rows.
    pub(crate) fn is_by_rows(self) -> bool {
        matches!(self, Spread::Rows | Spread::Opens)
    }

    pub(crate) fn of_local(local: &'p Local<Three>) -> Self {
        match local {
            Local::Known(_) | Local::Apply { .. } => Spread::Known,
            Local::Input(..)
            | Local::AsBits
            | Local::AsWords(_)
            | Local::Narrow(_)
            | Local::Sum { .. }
            | Local::Scale
            | Local::Shift(_)
            | Local::Block(_) => Spread::Rows,
            Local::Pick(picks) => Spread::Moves(picks),
            Local::Gather { rows, inner } => Spread::Gathers { rows: *rows, inner: *inner },
            Local::Fold { axis, prefix } => Spread::Sums { axis: *axis, prefix: *prefix },
            Local::Invert => Spread::Order,
            Local::PoolSum(_) | Local::MatMulKnown { .. } | Local::Flat(..) => Spread::First,
            Local::Own(own) => match own {
                OwnLocal::Farther { .. } | OwnLocal::Targets { .. } => Spread::Counts(own),
                OwnLocal::Conv2dKnown { .. } => Spread::First,
            },
        }
    }

    fn of_talk(talk: &'p Talk<Three>) -> Self {
        match talk {
            Talk::ToWords(_)
            | Talk::Product(())
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Block(_)
            | Talk::Own(
                OwnTalk::ToBits { .. }
                | OwnTalk::Rectify { .. }
                | OwnTalk::Better(_)
                | OwnTalk::Greatest { .. },
            ) => Spread::Rows,
            Talk::Open { .. } => Spread::Opens,
            Talk::Reorder(Reorder::Sort { .. } | Reorder::ToOrder | Reorder::Permute { .. })
            | Talk::Own(OwnTalk::Meet { .. } | OwnTalk::Compact { .. } | OwnTalk::Places { .. }) => {
                Spread::Across
            }
            Talk::MatMul(..) | Talk::Flat(..) | Talk::Own(OwnTalk::Conv2d(_)) => Spread::First,
        }
    }
}
