//! Circuits and buffers that a session keeps from one protocol to the next. The
//! [`pool`](crate::pool) keeps vectors.
//!
//! Fresh pages are the largest cost of a run of a few milliseconds: the system clears each page
//! before its first use, and a virtual machine must also map it. Making a small circuit takes
//! microseconds to milliseconds, as long as a protocol on a few thousand rows.
//!
//! All of this is LOCAL and changes no message. The bounds apply to each session.

use crate::{CircuitWorkspace, pool::Open};
use hushwire_circuit::{Adder, Circuit, Program};
use hushwire_machine::lock;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Once},
};

/// LOCAL: the largest number of workspaces, which is one for each circuit that runs at a time.
const WORKSPACES: usize = 16;
/// LOCAL: the largest size of a kept workspace in bytes.
const BYTES: usize = 4 << 20;
/// LOCAL: the largest number of circuits.
const PROGRAMS: usize = 256;

/// The function of a circuit that protocols of this crate build themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Function {
    /// x < y of bit strings.
    Less { adder: Adder, signed: bool },
    /// x = y of bit strings.
    Equal,
    /// Selects one of two bit strings.
    Select,
    /// u + x_2.
    Sum(Adder),
    /// Some bits of u + x_2; if `rectified`, they are 0 where the number is negative.
    Part { adder: Adder, from: usize, to: usize, rectified: bool },
    /// The order of two or three numbers that are sums.
    SumsLess { adder: Adder, signed: bool },
    /// The highest bit of u + x_2.
    Sign(Adder),
    /// Whether u + x_2 = 0.
    SumIsZero,
    /// The carries of u + x_2 into this bit and out of the highest.
    Carries(Adder, usize),
    /// The sum of a bit string of this width and a number.
    Onto(Adder, usize),
}

/// The circuits and buffers that a session keeps, shared by its batches and threads.
pub(crate) struct Kept {
    workspaces: Mutex<Vec<CircuitWorkspace>>,
    programs: Mutex<HashMap<(Function, usize), Arc<Program>>>,
    /// Vectors are kept as long as this exists.
    _open: Open,
}

impl Kept {
    pub(crate) fn new() -> Arc<Kept> {
        hold_pages();
        Arc::new(Kept { workspaces: Mutex::default(), programs: Mutex::default(), _open: Open::new() })
    }

    /// Kept buffers, or new ones if there are none.
    pub(crate) fn workspace(&self) -> CircuitWorkspace {
        lock(&self.workspaces).pop().unwrap_or_default()
    }

    /// Keeps buffers, unless there are enough or they are large.
    pub(crate) fn keep(&self, workspace: CircuitWorkspace) {
        let mut kept = lock(&self.workspaces);
        if kept.len() < WORKSPACES && workspace.bytes() <= BYTES {
            kept.push(workspace);
        }
    }

    /// The circuit of a function on words of `width` bits, which is made once.
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

/// Makes the allocator keep blocks of some megabytes for reuse.
///
/// By default, glibc maps every block from 128 KiB on anew and returns it to the system when it is
/// freed. After a longer block has been freed, it serves blocks up to that length from memory that
/// it holds. It then holds up to twice as much (mallopt(3), `M_MMAP_THRESHOLD`: "dynamic"; at most
/// 32 MiB count). The block here is never touched, so it costs two system calls. Other allocators
/// are not affected.
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
