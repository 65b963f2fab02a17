//! Circuits and their memory that a session keeps from one protocol to the next; vectors are kept
//! by the [`pool`](crate::pool).
//!
//! Fresh pages are the largest cost of a run of a few milliseconds: the system clears each before
//! its first use, and a virtual machine pays for its mapping as well. Circuits are small and made
//! in microseconds to milliseconds, which a piece of a few thousand rows is done in as well.
//!
//! All of it is LOCAL: what is kept changes no message. Bounds hold for each session.

use crate::{CircuitWorkspace, pool::Open};
use hushwire_circuit::{Adder, Circuit, Program};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
};

/// LOCAL: workspaces, one for each circuit under way at a time; bytes of each; and circuits.
const WORKSPACES: usize = 16;
const BYTES: usize = 4 << 20;
const PROGRAMS: usize = 256;

/// The function of a circuit that the protocols of a session make for themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Function {
    /// x < y of strings.
    Less { adder: Adder, signed: bool },
    /// x = y of strings.
    Equal,
    /// One of two strings.
    Select,
    /// u + x_2.
    Sum(Adder),
    /// Bits of u + x_2, of a number below 0 none where it is rectified.
    Part { adder: Adder, from: usize, to: usize, rectified: bool },
    /// Order of two or three numbers that are sums.
    SumsLess { adder: Adder, signed: bool },
    /// The highest bit of u + x_2.
    Sign(Adder),
    /// Whether u + x_2 = 0.
    SumIsZero,
    /// Carries of u + x_2 into this bit and out of the highest.
    Carries(Adder, usize),
    /// A string of this width and a number.
    Onto(Adder, usize),
}

/// The kept things of a session, shared by its batches and threads.
pub(crate) struct Kept {
    workspaces: Mutex<Vec<CircuitWorkspace>>,
    programs: Mutex<HashMap<(Function, usize), Arc<Program>>>,
    /// While it is there, vectors are kept.
    _open: Open,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept is whole after a panic too: every change is one call.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    pub(crate) fn new() -> Arc<Kept> {
        hold_pages();
        Arc::new(Kept { workspaces: Mutex::default(), programs: Mutex::default(), _open: Open::new() })
    }

    /// Buffers that served before, if there are any.
    pub(crate) fn workspace(&self) -> CircuitWorkspace {
        lock(&self.workspaces).pop().unwrap_or_default()
    }

    /// Takes buffers back, unless they or those that are kept are large.
    pub(crate) fn keep(&self, workspace: CircuitWorkspace) {
        let mut kept = lock(&self.workspaces);
        if kept.len() < WORKSPACES && workspace.bytes() <= BYTES {
            kept.push(workspace);
        }
    }

    /// The circuit of a function on words of `width` bits: made once.
    pub(crate) fn program(
        &self,
        function: Function,
        width: usize,
        make: impl FnOnce() -> Circuit,
    ) -> Arc<Program> {
        let mut programs = lock(&self.programs);
        if let Some(program) = programs.get(&(function, width)) {
            return program.clone();
        }
        if programs.len() == PROGRAMS {
            programs.clear();
        }
        let program = Arc::new(Program::flat(&format!("{function:?} of {width} bits"), &make()));
        programs.insert((function, width), program.clone());
        program
    }
}

/// Tells the allocator that blocks of some megabytes come and go.
///
/// glibc maps every block from 128 KiB on afresh and gives it back when it is freed, until a longer
/// one has been freed: it then serves blocks up to that length from memory that it holds, and holds
/// up to twice as much (mallopt(3), `M_MMAP_THRESHOLD`: "dynamic"; 32 MiB are the most that count).
/// The block here is never touched, so that it costs two calls of the system. Other allocators do
/// not mind.
fn hold_pages() {
    const LONGEST: usize = (32 << 20) - (64 << 10);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(vec![0u8; LONGEST])));
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_circuit::Builder;

    fn wire() -> Circuit {
        let mut b = Builder::new();
        let x = b.input(1);
        b.finish(&[x])
    }

    #[test]
    fn a_circuit_is_made_once_for_a_function_and_width() {
        let kept = Kept::new();
        let first = kept.program(Function::Equal, 8, wire);
        let again = kept.program(Function::Equal, 8, || panic!("it is there"));
        assert!(Arc::ptr_eq(&first, &again));
        let others = [
            kept.program(Function::Equal, 9, wire),
            kept.program(Function::Less { adder: Adder::Ripple, signed: false }, 8, wire),
            kept.program(Function::Less { adder: Adder::Ripple, signed: true }, 8, wire),
            kept.program(Function::Less { adder: Adder::Prefix, signed: false }, 8, wire),
            kept.program(Function::Carries(Adder::Ripple, 3), 8, wire),
            kept.program(Function::Carries(Adder::Ripple, 4), 8, wire),
        ];
        assert!(others.iter().all(|other| !Arc::ptr_eq(&first, other)));
        (0..2 * PROGRAMS).for_each(|width| drop(kept.program(Function::Select, width, wire)));
        assert!(lock(&kept.programs).len() <= PROGRAMS);
    }

    #[test]
    fn few_workspaces_are_kept() {
        let kept = Kept::new();
        (0..2 * WORKSPACES).for_each(|_| kept.keep(CircuitWorkspace::default()));
        assert_eq!(lock(&kept.workspaces).len(), WORKSPACES);
    }
}
