//! Machines that share one party's column, and that open columns to parties.
//!
//! ```text
//! from party p    x_p from the key that p shares with its left neighbour, x_{p+2} is zero,
//!                 x_{p+1} = v − x_p goes to the right: slot 1
//! to party r      it lacks x_{r+2}, which its right neighbour has as `next`: slot 0
//! ```
//!
//! Both take one round. Each machine transfers the bytes of the column: the party that brings it
//! sends them once, and each party that learns it receives them once. Other parties send nothing.
//! For [`Bits`], ⊕ takes the place of + and −.

use super::{
    bilinear::{bytes_of, read, write},
    column::{Bits, Column},
    gate::{TwoWayGate, two_way},
    group::{Group, Sum, Xor},
    masks::{Neighbour, PairWords},
    word::Word,
};
use crate::{Context, Record, Rep3, Role, ShareError};
use hushwire_block::Wiped;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};
use std::{borrow::Borrow, sync::Arc};

/// One party's endpoint of the sharing of another party's, or its own, column.
#[must_use = "run it, then finish"]
pub struct Bringing<G: Group> {
    role: Role,
    owner: Role,
    column: Column<G::Word>,
    done: bool,
    gate: TwoWayGate,
}

/// The sharing of a column of numbers.
pub type Sharing<W> = Bringing<Sum<W>>;
/// The sharing of the bytes of bit planes, for [`Bits::new`].
pub type SharingBits = Bringing<Xor<u8>>;

impl<G: Group> Bringing<G> {
    /// Shares `rows` numbers of `owner`; `numbers` holds them at the owner, and is empty elsewhere.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless the owner brings `rows` numbers, and every other party none.
    #[expect(clippy::needless_pass_by_value, reason = "a context serves one machine, which takes it")]
    pub fn new(cx: Context, owner: Role, rows: usize, numbers: &[G::Word]) -> Result<Self, ShareError> {
        let role = cx.role();
        let brought = if role == owner { rows } else { 0 };
        if numbers.len() != brought {
            let [expected, found] = [brought, numbers.len()].map(|n| n.saturating_mul(G::Word::BYTES));
            return Err(ShareError::Length { what: "the column that this party brings", expected, found });
        }
        let mut column = Column::zeros(rows);
        let Rep3 { own, next } = &mut column;
        if role == owner {
            grow(&cx, Neighbour::Left, own);
            next.iter_mut()
                .zip(numbers.iter().zip(&*own))
                .for_each(|(next, (v, own))| *next = G::minus(*v, *own));
        } else if role == owner.left() {
            grow(&cx, Neighbour::Right, next);
        }
        Ok(Bringing { role, owner, column, done: rows == 0, gate: TwoWayGate::default() })
    }

    /// Shares of the column, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<G::Word> {
        assert!(self.done, "finish comes after the last round");
        self.column
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    fn bytes(&self) -> usize {
        self.column.rows() * G::Word::BYTES
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let of = |party: Role| if self.role == party { self.bytes() } else { 0 };
        let back = Round { name: "sharing numbers", out: of(self.owner), into: of(self.owner.right()) };
        (!self.done).then_some([Round::even(back.name, 0), back])
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        if slot == 1 && self.role == self.owner {
            write(&self.column.next, out);
        }
    }

    fn hear(&mut self, [_, back]: [Exchanged<'_>; 2]) {
        if self.role == self.owner.right() {
            let Rep3 { own, .. } = &mut self.column;
            read(back.heard, own);
        }
        self.done = true;
    }
}

/// Words that this party and a neighbour draw alike.
fn grow<W: Word>(cx: &Context, side: Neighbour, words: &mut [W]) {
    PairWords::new(cx, side, 0).runs::<W>(words.len(), |run, bytes| read(bytes, &mut words[run]));
}

two_way!([G: Group] Bringing<G>;
    fn cost(&self) -> Option<Cost> {
        let sent = if self.role == self.owner { self.bytes() } else { 0 };
        Some(Cost { rounds: u64::from(self.bytes() > 0), bytes_sent: sent as u64 })
    }
);

/// One party's endpoint of an opening to parties.
#[must_use = "run it, then finish"]
pub struct Opening<G: Group, S> {
    role: Role,
    shares: Arc<S>,
    learns: [bool; 3],
    value: Option<Wiped<Vec<G::Word>>>,
    done: bool,
    gate: TwoWayGate,
    rec: Option<Box<dyn Record>>,
}

/// Opens numbers to the parties that learn them.
pub type Reveal<W> = Opening<Sum<W>, Column<W>>;
/// Opens bit planes, as bytes, to the parties that learn them.
pub type RevealBits = Opening<Xor<u8>, Bits>;

/// The planes' shares, with bytes as words.
impl Borrow<Column<u8>> for Bits {
    fn borrow(&self) -> &Column<u8> {
        self.shares()
    }
}

impl<G: Group, S: Borrow<Column<G::Word>>> Opening<G, S> {
    /// Opens to those of parties 0, 1 and 2 that `learns` marks, and to no other party. No masks
    /// are drawn: shares are uniform already, and the share that is sent follows from the
    /// receiver's own shares and the value.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have the same length.
    pub fn new(role: Role, shares: Arc<S>, learns: [bool; 3]) -> Result<Self, ShareError> {
        let column = (*shares).borrow();
        column.expect_rows("the share to open", column.rows())?;
        let done = column.rows() == 0 || !learns.contains(&true);
        let value = learns[role.index()].then(|| Wiped::new(vec![]));
        Ok(Opening { role, shares, learns, value, done, gate: TwoWayGate::default(), rec: None })
    }

    /// Opens to all three.
    ///
    /// # Errors
    /// As [`Opening::new`].
    pub fn to_all(role: Role, shares: Arc<S>) -> Result<Self, ShareError> {
        Self::new(role, shares, [true; 3])
    }

    /// Sets the recorder, which gets all that a verifier needs.
    pub fn record(&mut self, rec: Box<dyn Record>) {
        self.rec = Some(rec);
    }

    /// The value that this party learns, after the run; `None` if it learns nothing.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Option<Wiped<Vec<G::Word>>> {
        assert!(self.done, "finish comes after the last round");
        self.value
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    fn column(&self) -> &Column<G::Word> {
        (*self.shares).borrow()
    }

    fn of(&self, party: Role) -> usize {
        if self.learns[party.index()] { self.column().rows() * G::Word::BYTES } else { 0 }
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let ring =
            Round { name: "opening numbers", out: self.of(self.role.left()), into: self.of(self.role) };
        (!self.done).then_some([ring, Round::even(ring.name, 0)])
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        if slot != 0 || out.is_empty() {
            return;
        }
        let column = (*self.shares).borrow();
        write(&column.next, out);
        if let Some(rec) = &mut self.rec {
            rec.opening(0, [&bytes_of(&column.own), &bytes_of(&column.next)]);
            rec.message(0, out);
        }
    }

    fn hear(&mut self, [ring, _]: [Exchanged<'_>; 2]) {
        let column = (*self.shares).borrow();
        if let Some(value) = &mut self.value {
            let held = column.own.iter().zip(&column.next);
            let heard = ring.heard.chunks_exact(G::Word::BYTES).map(G::Word::read);
            value.extend(held.zip(heard).map(|((own, next), heard)| G::plus(G::plus(*own, *next), heard)));
        }
        self.done = true;
    }
}

two_way!([G: Group, S: Borrow<Column<G::Word>>] Opening<G, S>;
    fn cost(&self) -> Option<Cost> {
        let any = self.column().rows() > 0 && self.learns.contains(&true);
        Some(Cost { rounds: any.into(), bytes_sent: self.of(self.role.left()) as u64 })
    }
);
