//! A member's links for computations: one interface for clients and for the parties of all
//! protocols.

use super::{
    ComputeTask,
    bound::{BoundComputation, RunForm},
    lengths::{Lengths, Told},
};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_machine::Channel;
use hushwire_session::{
    Fault, FromDisk, SealedShare,
    run::{self, MemberSession},
    threads::COMPUTE,
};

/// Is told the work done and the total, and returns whether to go on.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// The records of a value, one after the other.
pub(super) type Records = Wiped<Vec<u8>>;

/// The error of a run that the calling program cancelled.
pub(super) fn cancelled() -> Fault {
    Fault::new(code::CANCELLED, COMPUTE, "the program cancelled the run", "connect anew to compute again")
}

/// A member's links, set up once. Computations run on them one after the other.
pub(super) trait Engine: Send {
    /// Agrees with the other members on lengths.
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault>;

    /// Makes the next run fit in the memory that it may take.
    fn fit(&mut self, form: &RunForm, task: &ComputeTask, told: &Told) -> Result<(), Fault> {
        let _ = (form, task, told);
        Ok(())
    }

    /// Runs a computation: takes the records of this member's inputs, in order, and returns the
    /// records of the outputs that it learns.
    fn run(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        form: &RunForm,
        own: Vec<Records>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault>;

    /// The control links to other members.
    fn links(&mut self) -> Links<'_>;

    /// The preprocessing that the last run took from disk. `None` if this party has no shelf.
    fn taken(&self) -> Option<FromDisk> {
        None
    }

    /// The shares that the last run sealed for recipients that are not connected.
    fn sealed(&mut self) -> Vec<(String, SealedShare)> {
        vec![]
    }

    /// All links, after the last run.
    fn into_links(self: Box<Self>) -> run::Links;
}

/// Control links to other members. At a party each link goes both ways, at a client one way.
#[derive(Default)]
pub(super) struct Links<'e> {
    pub(super) both: Vec<&'e mut Channel>,
    pub(super) to: Vec<&'e mut Channel>,
    pub(super) from: Vec<&'e mut Channel>,
}
