//! The role of one of the three parties, and its neighbours on the ring.

use hushwire_machine::PartyId;

/// One of the three parties. Party `i` holds `(x_i, x_{i+1})`, sends to party `i-1` and receives
/// from party `i+1`.
///
/// ```text
///        ┌── z_1 ──┐   ┌── z_2 ──┐
///        ▼         │   ▼         │
///     party 0    party 1      party 2
///        │                       ▲
///        └───────── z_0 ─────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Role(u8);

impl Role {
    /// All three, in order.
    pub const ALL: [Role; 3] = [Role(0), Role(1), Role(2)];

    /// Party `index`, if it is 0, 1 or 2.
    #[must_use]
    pub const fn new(index: u8) -> Option<Role> {
        if index < 3 { Some(Role(index)) } else { None }
    }

    /// The index: 0, 1 or 2.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Party `i-1`, to which multiplication messages go.
    #[must_use]
    pub const fn left(self) -> Role {
        Role((self.0 + 2) % 3)
    }

    /// Party `i+1`, from which multiplication messages come.
    #[must_use]
    pub const fn right(self) -> Role {
        Role((self.0 + 1) % 3)
    }

    /// The party's identifier on the wire.
    #[must_use]
    pub const fn id(self) -> PartyId {
        PartyId(self.0)
    }

    /// The held share to which a public constant is added. Share 0 carries it, so this is `own` of
    /// party 0 and `next` of party 2.
    #[must_use]
    pub const fn constant_slot(self) -> Option<usize> {
        match self.0 {
            0 => Some(0),
            2 => Some(1),
            _ => None,
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "party {}", self.0)
    }
}
