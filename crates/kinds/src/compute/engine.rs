//! A member's links for computations, one interface for parties of all protocols and clients.

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

/// Hears what is done, of how much, and says whether to go on.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// The records of values, one after the other.
pub(super) type Records = Wiped<Vec<u8>>;

/// The end of a run that its program cancelled.
pub(super) fn cancelled() -> Fault {
    Fault::new(code::CANCELLED, COMPUTE, "the program cancelled the run", "connect anew to compute again")
}

/// A member's links, set up once; computations run on them one after the other.
pub(super) trait Engine: Send {
    /// Hears the lengths that others' inputs have.
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault>;

    /// Fits the next run to the memory that it may take.
    fn fit(&mut self, form: &RunForm, task: &ComputeTask, told: &Told) -> Result<(), Fault> {
        let _ = (form, task, told);
        Ok(())
    }

    /// Runs a computation: records of this member's inputs go in, in order, and records of what it
    /// learns come out.
    fn run(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        form: &RunForm,
        own: Vec<Records>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault>;

    /// The links to other members that are not for computing.
    fn links(&mut self) -> Links<'_>;

    /// The phases of the last run that came from this party's shelf, where there is one.
    fn taken(&self) -> Option<FromDisk> {
        None
    }

    /// The shares that the last run sealed for those who are not connected.
    fn sealed(&mut self) -> Vec<(String, SealedShare)> {
        vec![]
    }

    /// All links, once the last run is done.
    fn into_links(self: Box<Self>) -> run::Links;
}

/// Links to other members: at a party each leads to somebody and from somebody, at a client one
/// way.
#[derive(Default)]
pub(super) struct Links<'e> {
    pub(super) both: Vec<&'e mut Channel>,
    pub(super) to: Vec<&'e mut Channel>,
    pub(super) from: Vec<&'e mut Channel>,
}
