//! The process in which secrets were drawn.
//!
//! `fork` copies seeds, counters and TLS keys. If parent and child both continued with them, the
//! same masks would hide different values. Every object that gives out masks or sends messages
//! remembers its process, and refuses to work in any other.

use crate::NetError;

/// A process, by its number. Two processes that live at the same time in one PID namespace have
/// different numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u32);

impl Process {
    /// The current process.
    #[must_use]
    pub fn here() -> Self {
        Self(std::process::id())
    }

    /// Whether this is the current process. It costs a system call, so it is checked once a message
    /// and not once an element.
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
