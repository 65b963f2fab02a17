//! Keeps memory with secrets off the disk and away from debuggers.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Forbids core dumps of this process, whatever pattern the system has for them, and debuggers of
/// the same user. Child processes inherit the limit, and set the rest themselves.
pub(crate) fn keep_memory_private() {
    // A process may always lower its own limits.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // The limit does not apply to dumps that go to a program.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{dumpable_behavior, getrlimit};

    #[test]
    fn this_process_is_not_dumped() {
        keep_memory_private();
        assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
        // The program itself reads these files, and writes outputs through them.
        for own in ["/proc/self/status", "/proc/self/exe", "/proc/self/fd"] {
            assert!(std::fs::metadata(own).is_ok(), "{own}");
        }
    }
}
