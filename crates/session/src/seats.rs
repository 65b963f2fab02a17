//! The members who bring a circuit's inputs and learn its outputs, in the form that protocols
//! without clients take.

use crate::Member;
use hushwire_authgarble::Roles;
use hushwire_circuit::{Program, TwoParty};

/// The owners of inputs and the recipients of outputs, in the circuit's order. Members that are not
/// parties do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    /// The owner of each input.
    pub owners: Vec<Member>,
    /// The recipients of each output.
    pub recipients: Vec<Vec<Member>>,
}

impl Seats {
    /// The roles in the form of a protocol of two parties.
    #[must_use]
    pub fn of_two(&self, program: &Program) -> TwoParty {
        TwoParty::new(program, self.owners_of_two(), self.learns_of_two())
    }

    /// The owner of each input: 1 for party 1, and 0 for any other owner.
    #[must_use]
    pub fn owners_of_two(&self) -> Vec<usize> {
        self.owners.iter().map(|from| usize::from(*from == Member::Party(1))).collect()
    }

    /// Whether each of two parties learns each output.
    #[must_use]
    pub fn learns_of_two(&self) -> Vec<[bool; 2]> {
        let learns = |to: &Vec<Member>| [0, 1].map(|index| to.contains(&Member::Party(index)));
        self.recipients.iter().map(learns).collect()
    }

    /// The roles among `n` parties.
    #[must_use]
    pub fn among(&self, program: &Program, n: u8) -> Roles {
        let owner = |from: &Member| match from {
            Member::Party(index) => usize::from(*index),
            Member::Client(_) | Member::Data(_) | Member::Recipient(_) => 0,
        };
        let learns = |to: &Vec<Member>| (0..n).map(|p| to.contains(&Member::Party(p))).collect();
        let (owners, learns) = (self.owners.iter().map(owner), self.recipients.iter().map(learns));
        Roles::new(program, n.into(), owners.collect(), learns.collect())
    }
}
