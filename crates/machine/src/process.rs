//! The process in which secrets were drawn.
//!
//! `fork` copies seeds, counters and keys of TLS. If parent and child both went on with them, the
//! same masks would hide different values. Everything that hands out masks or sends messages
//! remembers its process, and refuses in any other.

use crate::NetError;

/// A process, by its number. Two processes that live at the same time in one PID namespace have
/// different numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u32);

impl Process {
    /// The process that asks.
    #[must_use]
    pub fn here() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the process that asks. It costs a system call: once a message, not once an
    /// element.
    #[must_use]
    pub fn is_here(self) -> bool {
        self == Self::here()
    }

    /// Refuses `step` in another process.
    ///
    /// # Errors
    /// [`NetError::Forked`].
    pub fn check(self, step: &str) -> Result<(), NetError> {
        if self.is_here() {
            Ok(())
        } else {
            Err(NetError::Forked { step: step.to_owned(), opened_by: self.0 })
        }
    }
}
