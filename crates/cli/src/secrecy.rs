//! Memory with secrets stays in memory.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// No core dump of this process, whatever pattern the system has for them, and no debugger of the
/// same user in it. What it starts has the limit too, and sets the rest itself.
pub(crate) fn keep_memory_private() {
    // Lowering a limit of one's own is never refused.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // A limit does not hold for dumps that go to a program.
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
        // What the program itself reads there, and writes outputs through.
        for own in ["/proc/self/status", "/proc/self/exe", "/proc/self/fd"] {
            assert!(std::fs::metadata(own).is_ok(), "{own}");
        }
    }
}
