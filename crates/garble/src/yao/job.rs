//! The computation of one run, and the places of its bits.

use crate::Role;
use hushwire_circuit::{Program, TwoParty, planes::plane_bytes};
use std::ops::Range;

/// A program, the owners of its inputs and outputs, and the number of instances.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) program: &'a Program,
    pub(super) roles: &'a TwoParty,
    pub(super) instances: usize,
}

/// The number of the party with a role.
pub(super) const fn party(role: Role) -> usize {
    match role {
        Role::Garbler => 0,
        Role::Evaluator => 1,
    }
}

impl<'a> Job<'a> {
    /// # Panics
    /// If the roles belong to another program (the caller's bug).
    pub(super) fn new(program: &'a Program, roles: &'a TwoParty, instances: usize) -> Self {
        assert_eq!(roles.owners.len(), program.inputs().len(), "an owner for every input");
        assert_eq!(roles.learns.len(), program.outputs().len(), "recipients for every output");
        Job { program, roles, instances }
    }

    /// The registers of the inputs of a role, input after input.
    pub(super) fn inputs(&self, role: Role) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let mut at = 0;
        let all = self.roles.owners.iter().zip(self.program.inputs()).map(move |(owner, width)| {
            at += width;
            (*owner, at - width..at)
        });
        all.filter(move |(owner, _)| *owner == party(role)).map(|(_, range)| range)
    }

    /// The number of wires of the inputs of a role.
    pub(super) fn input_wires(&self, role: Role) -> usize {
        self.input_bits(role) * self.instances
    }

    pub(super) fn input_bits(&self, role: Role) -> usize {
        self.roles.input_bits(self.program, party(role))
    }

    /// The registers of the outputs that a role learns, bit by bit.
    pub(super) fn outputs(&self, role: Role) -> impl Iterator<Item = u32> + use<'a> {
        let mut at = 0;
        let registers = self.program.output_registers();
        let all = self.roles.learns.iter().zip(self.program.outputs()).map(move |(learns, width)| {
            at += width;
            (learns[party(role)], at - width..at)
        });
        all.filter(|(learns, _)| *learns).flat_map(move |(_, range)| registers[range].iter().copied())
    }

    /// The number of planes of the outputs that a role learns.
    pub(super) fn output_planes(&self, role: Role) -> usize {
        self.roles.output_bits(self.program, party(role))
    }

    /// The number of bytes of those bits, without gaps.
    pub(super) fn output_bytes(&self, role: Role) -> usize {
        (self.output_planes(role) * self.instances).div_ceil(8)
    }

    /// Planes of `bit` of the wires of the outputs that a role learns.
    pub(super) fn planes<W: Copy>(&self, role: Role, wires: &[W], bit: impl Fn(W) -> u8) -> Vec<u8> {
        let (n, height) = (self.instances, plane_bytes(self.instances));
        let mut planes = vec![0; self.output_planes(role) * height];
        if n > 0 {
            for (plane, register) in planes.chunks_exact_mut(height).zip(self.outputs(role)) {
                for (j, wire) in wires[register as usize * n..][..n].iter().enumerate() {
                    plane[j / 8] |= bit(*wire) << (j % 8);
                }
            }
        }
        planes
    }
}
